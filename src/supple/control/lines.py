"""Line: the tip of a serial arm on straight lines between points, corners rounded, in joints.

The tip moves at one speed along each line; where lines meet, at the start and at the end its
velocity changes at a constant acceleration. So a corner is cut by a parabola that passes the point
at the distance a tau^2 / 8, tau = |v_2 - v_1| / a, and the first and last point are met exactly.
The joints follow by Newton's method, their rates by the Jacobian: J theta' = x' and
J theta'' = x'' - J' theta'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..architectures.serial import place
from ..arguments import number, reals, vector
from ..errors import SuppleError
from ..kernels.spatial import rotation_vector
from ..robot import SerialRobot, a_robot
from .trajectories import Trajectory

__all__ = ["Line"]

Array = NDArray[np.float64]
JACOBIAN_STEP = 1e-3  # of differences of the Jacobian along theta', s
KNOTS = 10  # poses solved one after the other between two breaks
POSITION_TOLERANCE = 1e-11  # of the arm's reach: where Newton's method stops


@dataclass(frozen=True)
class Line(Trajectory):
    """Joint motion that moves the tip of a serial arm along straight lines.

    Parameters
    ----------
    robot : SerialRobot
        An arm with as many joints as the tip has coordinates (2 in the plane, 3 in space) follows
        with the position of its tip; one with as many as position and attitude together (3, 6) also
        keeps its attitude.
    start : sequence of float
        Joint coordinates (joints,) of the start, rad or m.
    points : sequence
        Corners of the path of the tip, (3,) or (K, 3), base axes, m; (2,) or (K, 2) for a planar
        arm.
    speed, acceleration : float
        Of the tip along the lines and at the corners, m/s and m/s^2; short lines are slower.
    """

    robot: SerialRobot
    start: Sequence[float]
    points: Sequence[Any]
    speed: float
    acceleration: float
    smooth = True

    checks: ClassVar = {
        "robot": a_robot,
        "start": vector(),
        "speed": number(0, above=True, unit="of metres per second"),
        "acceleration": number(0, above=True, unit="of metres per second squared"),
    }

    def __post_init__(self) -> None:
        """Check the arm and the points, and follow the line once."""
        super().__post_init__()
        if not architecture_of(self.robot).open_chain:
            raise SuppleError(
                f"robot is {self.robot.name}: lines are for serial arms; lead its platform or tip "
                "with supple.PlatformPath"
            )
        flat = self.robot.planar
        words = f"points must be one or more places of the tip, {2 if flat else 3} numbers each"
        given = np.atleast_2d(reals("points", self.points, words))
        if given.ndim != 2 or not len(given) or given.shape[1] not in ((2, 3) if flat else (3,)):
            raise SuppleError(words)
        if given.shape[1] == 2:
            given = np.pad(given, ((0, 0), (0, 1)))
        if not np.isfinite(given).all():
            raise SuppleError(words)
        object.__setattr__(self, "points", tuple(map(tuple, given.tolist())))
        n = len(self.robot.moving)
        place_only = 2 if flat else 3
        if n not in (place_only, 2 * place_only - flat):
            raise SuppleError(
                f"{self.robot.name} has {n} joints: a line needs {place_only}, or "
                f"{2 * place_only - flat} to keep the attitude as well"
            )
        self._knots  # noqa: B018  a line that cannot be followed is refused here

    @cached_property
    def _rows(self) -> list[int]:
        """Which of (place, attitude) are asked for."""
        n = len(self.robot.moving)
        if self.robot.planar:
            return [0, 1, 5][:n]
        return list(range(n))

    @cached_property
    def _course(self) -> tuple[Array, Array, Array]:
        """Times (m,) where the tip's acceleration jumps, with its places and velocities, (m, 3)."""
        first = place(self.robot, self.start).tip
        corners = np.concatenate([first, np.asarray(self.points, float)])
        step = np.diff(corners, axis=0)
        length = np.linalg.norm(step, axis=1)
        if (length == 0).any():
            raise SuppleError("two points of the line are the same: leave one of them out")
        # Directions of the lines, zero before the start and after the end; their change at every
        # corner is that of the velocity per speed
        directions = np.pad(step / length[:, None], ((1, 1), (0, 0)))
        turn = np.linalg.norm(np.diff(directions, axis=0), axis=1)

        # The blends at both ends of a line must fit into it
        squared_speeds = 2 * self.acceleration * length / (turn[:-1] + turn[1:])
        v = min(self.speed, float(np.sqrt(squared_speeds.min())))
        blend = v * turn / self.acceleration

        # Every corner begins and ends a blend
        corner_times = blend[0] / 2 + np.concatenate([[0.0], np.cumsum(length / v)])
        times = np.stack([corner_times - blend / 2, corner_times + blend / 2], axis=1).ravel()
        velocities = v * np.repeat(directions, 2, axis=0)[1:-1]
        steps = (velocities[1:] + velocities[:-1]) / 2 * np.diff(times)[:, None]
        places = first + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
        return times, places, velocities

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of the joints."""
        return tuple(name for name, _ in architecture_of(self.robot).motors)

    @property
    def duration(self) -> float:
        return float(self._course[0][-1])

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(sorted({float(t) for t in self._course[0] if 0 < t < self.duration}))

    def tip(self, t: Array) -> tuple[Array, Array, Array]:
        """Return place, velocity and acceleration of the tip, (N, 3) each."""
        times, places, velocities = self._course
        k = np.clip(np.searchsorted(times, t, "right") - 1, 0, len(times) - 2)
        span = np.diff(times)[k]
        change = velocities[k + 1] - velocities[k]
        acceleration = change / np.where(span > 0, span, 1.0)[:, None]
        elapsed = (t - times[k])[:, None]
        position = places[k] + (velocities[k] + acceleration * elapsed / 2) * elapsed
        return position, velocities[k] + acceleration * elapsed, acceleration

    @cached_property
    def _knots(self) -> tuple[Array, Array]:
        """Times and joint coordinates, each solved from the one before."""
        breaks = np.unique(np.concatenate([[0.0], self._course[0], [self.duration]]))
        t = np.unique(np.concatenate([np.linspace(a, b, KNOTS) for a, b in pairwise(breaks)]))
        tip, _, _ = self.tip(t)
        joints = [np.asarray(self.start, float)]
        for k in range(1, len(t)):
            guess = joints[-1][None]
            joints.append(self._solve_joints(tip[k : k + 1], guess, t[k : k + 1])[0])
        return t, np.array(joints)

    def _solve_joints(self, x: Array, theta: Array, t: Array) -> Array:
        """Joints (N, n) that put the tip at x (N, 3), attitude kept, from a guess."""
        reach = max(float(np.abs(self._course[1]).max()), 1e-9)
        for _ in range(20):
            miss, J = self._miss(x, theta)
            if not np.isfinite(miss).all() or np.linalg.cond(J).max() > 1e8:
                break
            if np.abs(miss).max() <= POSITION_TOLERANCE * reach:
                return theta
            theta = theta + np.linalg.solve(J, miss[..., None])[..., 0]
        worst = int(np.argmax(np.abs(self._miss(x, theta)[0]).max(axis=1)))
        raise SuppleError(
            f"the line leaves what {self.robot.name} can reach, or meets a singular pose, at "
            f"{np.round(x[worst], 6).tolist()} after {t[worst]:.4g} s: begin or end it elsewhere"
        )

    def _miss(self, x: Array, theta: Array) -> tuple[Array, Array]:
        """Error of the tip in place and attitude, and the Jacobian, both on the rows in use."""
        placed = place(self.robot, theta)
        start_attitude = place(self.robot, self.start).R[0, -1]
        turned = rotation_vector(start_attitude @ placed.R[:, -1].swapaxes(1, 2))
        miss = np.concatenate([x - placed.tip, turned], axis=1)
        return miss[:, self._rows], self._jacobian(theta)

    def _jacobian(self, theta: Array) -> Array:
        """J (N, rows, n): motion of the tip and turning of its axes per joint rate, base axes."""
        placed = place(self.robot, theta)
        columns: dict[str, Array] = {}  # one for each coordinate, by the link that has it
        for i, link in enumerate(self.robot.links):
            if link.joint.type == "revolute":
                z = placed.R[:, i] @ link.joint.direction
                moved = np.cross(z, placed.tip - placed.p[:, i])
                motion = np.concatenate([moved, z], axis=1)
            elif link.joint.type == "prismatic":
                motion = np.pad(placed.R[:, i, :, 0], ((0, 0), (0, 3)))
            else:
                continue
            mimic = link.joint.mimic
            if mimic is None:
                columns[link.name] = columns.get(link.name, 0.0) + motion
            else:  # it moves with another joint
                followed = columns.get(mimic.joint, 0.0)
                columns[mimic.joint] = followed + mimic.multiplier * motion
        ordered = [columns[link.name] for link in self.robot.moving]
        return np.stack(ordered, axis=2)[:, self._rows]

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        x, v, a = self.tip(t)
        knot_times, knot_joints = self._knots
        guess = np.stack([np.interp(t, knot_times, column) for column in knot_joints.T], axis=1)
        theta = self._solve_joints(x, guess, t)

        # J theta' = x'; the attitude stays
        J = self._jacobian(theta)
        no_turn = np.zeros((len(t), 3))
        velocity = np.concatenate([v, no_turn], axis=1)[:, self._rows]
        rate = np.asarray(np.linalg.solve(J, velocity[..., None])[..., 0])

        # J theta'' = x'' - J' theta', J' by differences of fourth order
        def difference(step: float) -> Array:
            ahead = self._jacobian(theta + step * rate)
            behind = self._jacobian(theta - step * rate)
            return ahead - behind

        fine = difference(JACOBIAN_STEP)
        far = difference(2 * JACOBIAN_STEP)
        drift = ((8 * fine - far) / (12 * JACOBIAN_STEP)) @ rate[..., None]
        acceleration = np.concatenate([a, no_turn], axis=1)[:, self._rows] - drift[..., 0]
        return theta, rate, np.asarray(np.linalg.solve(J, acceleration[..., None])[..., 0])
