"""A robot as a function of its dimensions: frequencies, mass, sag and stress, with derivatives.

The dimensions x are scaled to 0..1 between their bounds; z = [x, t] adds the bound of `goals`. The
constraints of the problem are rows >= 0: those of the frequencies at every pose, what is left of
each limit, and for the least mass the mass itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.kinds import architecture_of
from ...errors import SuppleError
from ...robot import Robot
from ...structure import structure_of
from ..check import stresses
from ..configuration import where
from ..moving_mass import moving_mass
from ..statics import statics
from ..vibration.modes import modes
from .goals import Goal
from .pose_box import PoseBox, read_box
from .sensitivities import sensitivities
from .varied import Varied, tied_paths
from .workers import Progress

__all__ = ["LARGEST_NUMBER", "DesignProblem", "mass_of"]

Array = NDArray[np.float64]
LARGEST_NUMBER = 1e30  # in a robot file
DIFFERENCE_STEP = 1e-4  # of a scaled dimension
CLOSE_MODES = 0.01  # relative distance below which differences may mix two modes
SAME_FREQUENCY = 1e-6  # relative: a pose that is worse by less does not join
SAME_POSE = 1e-6  # rad or m
JOINING_POSES = 3  # of the worst poses of a box that may join at a time
POINTS_FOR_SAG = 7  # powers of two of points of a box at which a limit is looked at first
POINTS_FOR_STRESS = 4


def mass_of(robot: Robot, theta: ArrayLike, also: Sequence[str] = ()) -> float:
    """Return the mass of what joints move, without the payload, kg; `also` names further links."""
    without_payload = robot if robot.payload is None else robot.with_("payload", None)
    structure = structure_of(without_payload, np.atleast_2d(np.asarray(theta, float)))
    return moving_mass(without_payload, structure, also)


@dataclass(frozen=True)
class DesignValues:
    """What is known of one design.

    Attributes
    ----------
    omega
        (P, modes), natural frequencies of every pose, rad/s.
    room
        What is left of every limit, as a fraction of it; negative where it is passed.
    mass
        kg; zero where neither goal nor limits need it.
    """

    omega: Array
    room: Array
    mass: float

    def as_row(self) -> Array:
        """All of it in one row, for differences."""
        return np.concatenate([self.omega.ravel(), self.room, [self.mass]])


@dataclass(frozen=True)
class DesignSlopes:
    """Derivatives by the n scaled dimensions: omega (n, P, modes), room (n, l), mass (n,)."""

    omega: Array
    room: Array
    mass: Array


class DesignProblem:
    """The design problem over z = [dimensions scaled to 0..1, t], at poses that may grow.

    Attributes
    ----------
    keys, low, high
        The dimensions and their bounds.
    poses
        (P, joints), where the design is judged.
    box
        Of poses, from which worse ones join; None where the poses are given.
    limits
        On mass, sag and stress, by name.
    evaluations
        Number of designs computed.
    mass_scale
        kg, by which the bound of the least mass is scaled.
    """

    def __init__(
        self,
        robot: Robot,
        vary: Mapping[Any, Any],
        at: Any,
        over: Mapping[str, Any],
        limits: Mapping[str, float | None],
        goal: Goal,
    ) -> None:
        if not vary:
            raise SuppleError("vary is empty: give paths and bounds, {'links.a.length': (1, 2)}")
        self.goal = goal
        self.evaluations = 0
        self.progress = Progress(1, "designs", False)
        self.limits = {name: limit for name, limit in limits.items() if limit is not None}
        bounds_by_key = {key if isinstance(key, str) else ",".join(key): vary[key] for key in vary}
        self.keys = tuple(bounds_by_key)
        self.low, self.high = _bounds(bounds_by_key)

        # Poses: those given, or zero; with a box its middle until the search finds its worst one
        self.coordinate = architecture_of(robot).asked_by
        poses = None if at is None else np.atleast_2d(np.asarray(at, float))
        first_pose: dict[str, Any] = {} if poses is None else {self.coordinate: poses[0]}
        self.varied = Varied.of(robot, self.keys, **first_pose)
        if self.varied.coordinate_keys:
            raise SuppleError(f"'{self.varied.coordinate_keys[0]}' is a pose: vary dimensions")
        if poses is None:
            start = self.varied.theta if self.coordinate == "theta" else self.varied.position
            poses = np.array([start])
        self.box: PoseBox | None = None
        if over:
            edges = read_box("over", over)
            around = Varied.of(robot, tuple(over), **{self.coordinate: poses[0]})
            self.box = PoseBox.of(around, poses, edges)
            middle = np.full((1, len(edges)), 0.5)
            poses = np.vstack([self.box.poses(middle, pose) for pose in poses])
        self.poses: Array = poses

        # Links bolted to the base count among the mass where they are themselves designed
        paths = [path.split(".") for key in self.keys for path in tied_paths(robot, key)]
        self.designed_links = [words[1] for words in paths if len(words) > 1]
        if "stress" in self.limits and not self.stress_at(robot, self.poses).any():
            raise SuppleError(
                f"stress is limited, but {robot.name} has no stress: it needs gravity, and links "
                "with a section"
            )
        self.mass_scale = 1.0
        self._last_design: tuple[bytes, DesignValues] | None = None

    # The robot of a design ------------------------------------------------------------------

    def values(self, x: Array) -> dict[str, float]:
        """The dimensions behind scaled ones."""
        dimensions = self.low + np.clip(x, 0.0, 1.0) * (self.high - self.low)
        return dict(zip(self.keys, dimensions.tolist(), strict=True))

    def start(self) -> Array:
        """The scaled dimensions of the robot as it is, clipped to the bounds."""
        given = np.array([self.varied.value(key, mean=True) for key in self.keys])
        return np.clip((given - self.low) / (self.high - self.low), 0.0, 1.0)

    def robot(self, x: Array) -> Robot:
        """The robot with scaled dimensions x."""
        return self.varied.robot_at(self.values(x))

    def omega_at(self, robot: Robot, poses: Array, **method: Any) -> Array:
        """Natural frequencies of poses, (P, modes) rad/s."""
        place: dict[str, Any] = {self.coordinate: poses}
        return np.atleast_2d(modes(robot, **place, count=self.goal.modes, **method).omega)

    def sag_at(self, robot: Robot, poses: Array) -> Array:
        """How far the tip sags at poses, (P,) m."""
        place: dict[str, Any] = {self.coordinate: poses}
        displacement = np.atleast_2d(statics(robot, **place).tip_displacement)
        return np.asarray(np.linalg.norm(displacement, axis=-1))

    def stress_at(self, robot: Robot, poses: Array) -> Array:
        """Highest von Mises stress at poses, (P,) Pa."""
        highest = []
        for pose in poses:
            place: dict[str, Any] = {self.coordinate: pose}
            configuration = where(robot, place.get("theta"), place.get("position")).at
            structure = structure_of(robot, configuration)
            stress_by_link = stresses(robot, structure, statics(robot, **place))
            highest.append(max((stress for stress, _ in stress_by_link.values()), default=0.0))
        return np.array(highest)

    def mass_at(self, robot: Robot) -> float:
        """Mass of what joints move and of what is designed, without payload, kg."""
        return mass_of(robot, self.poses[0], self.designed_links)

    # Values and derivatives of a design -----------------------------------------------------

    def evaluate(self, x: Array) -> DesignValues:
        """Compute everything about one design that the goal and the limits need."""
        key = x.tobytes() + self.poses.tobytes()
        if self._last_design is not None and self._last_design[0] == key:
            return self._last_design[1]
        self.evaluations += 1
        self.progress.step(1)
        robot = self.robot(x)

        mass = 0.0
        if "mass" in self.limits or self.goal.name == "mass":
            mass = self.mass_at(robot)
        room = [np.zeros(0)]
        if "mass" in self.limits:
            room.append(np.array([1 - mass / self.limits["mass"]]))
        if "sag" in self.limits:
            room.append(1 - self.sag_at(robot, self.poses) / self.limits["sag"])
        if "stress" in self.limits:
            room.append(1 - self.stress_at(robot, self.poses) / self.limits["stress"])

        found = DesignValues(self.omega_at(robot, self.poses), np.concatenate(room), mass)
        self._last_design = (key, found)
        return found

    def slopes(self, x: Array) -> DesignSlopes:
        """Derivatives of `evaluate` by x: differences of second order, within the bounds."""
        here = self.evaluate(x)
        here_row = here.as_row()
        h = DIFFERENCE_STEP
        columns = []
        for k in range(len(x)):
            step = np.zeros(len(x))
            step[k] = h
            if h <= x[k] <= 1 - h:
                difference = self.evaluate(x + step).as_row() - self.evaluate(x - step).as_row()
                columns.append(difference / (2 * h))
                continue
            inwards = step if x[k] < 0.5 else -step
            once = self.evaluate(x + inwards).as_row()
            twice = self.evaluate(x + 2 * inwards).as_row()
            columns.append((4 * once - twice - 3 * here_row) / (2 * inwards[k]))
        self._last_design = (x.tobytes() + self.poses.tobytes(), here)

        table = np.array(columns)  # (n, frequencies, limits and mass)
        size = here.omega.size
        omega = table[:, :size].reshape(len(x), *here.omega.shape)
        return DesignSlopes(omega, table[:, size:-1], table[:, -1])

    def exact_omega_slopes(self, x: Array, pose: Array) -> Array:
        """Derivatives of the frequencies of one pose by x, (modes, n), at coincident ones too."""
        place: dict[str, Any] = {self.coordinate: pose}
        found = sensitivities(self.robot(x), parameters=self.keys, count=self.goal.modes, **place)
        by_dimension = np.array([found.derivatives[key] for key in self.keys])
        return (by_dimension * (self.high - self.low)[:, None]).T

    def best_bound(self, x: Array) -> float:
        """The best t of a design at the poses so far."""
        found = self.evaluate(x)
        return self.goal.best_bound(found.omega, found.mass / self.mass_scale)

    def limit_violation(self, x: Array) -> float:
        """By which part a limit, or the frequency that is required, is missed at most."""
        found = self.evaluate(x)
        rows = found.room
        if self.goal.name == "mass":
            rows = np.append(rows, self.goal.constraints(found.omega, 0.0))
        return float(-rows.min(initial=0.0))

    # Constraints ----------------------------------------------------------------------------

    def constraints(self, z: Array) -> Array:
        """All constraints >= 0: frequencies of every pose, limits, and the mass that t bounds."""
        found = self.evaluate(z[:-1])
        parts = [self.goal.constraints(found.omega, float(z[-1])), found.room]
        if self.goal.name == "mass":
            parts.append(np.array([z[-1] - found.mass / self.mass_scale]))
        return np.concatenate(parts)

    def constraint_slopes(self, z: Array, exact: bool = False) -> Array:
        """Their derivatives (constraints, dimensions + 1).

        Differences of frequencies mix modes that nearly meet; there, and where `exact` ones are
        requested, the derivatives come from the dynamic stiffness.
        """
        x = z[:-1]
        omega = self.evaluate(x).omega
        slopes = self.slopes(x)
        gaps = np.diff(omega, axis=1) / omega[:, 1:]
        rows = []
        for p in range(len(self.poses)):
            omega_slopes = slopes.omega[:, p].T  # (modes, n)
            modes_nearly_meet = gaps[p].min(initial=1.0) < CLOSE_MODES
            if exact or self.goal.name == "place" or modes_nearly_meet:
                omega_slopes = self.exact_omega_slopes(x, self.poses[p])
            rows.append(self.goal.constraint_slopes(omega_slopes))
        limit_rows = slopes.room.T
        rows.append(np.column_stack([limit_rows, np.zeros(len(limit_rows))]))
        if self.goal.name == "mass":
            rows.append(np.append(-slopes.mass / self.mass_scale, 1.0)[None])
        return np.vstack(rows)

    def constraint_names(self) -> list[str]:
        """What each row of the constraints is, in words."""
        names = []
        for p, pose in enumerate(self.poses):
            place = self.pose_in_words(pose)
            for k in self.goal.mode_numbers:
                names.append(f"mode {k} at pose {p + 1} ({place})")
        for name in self.limits:
            names += [name] if name == "mass" else [name] * len(self.poses)
        return names

    def pose_in_words(self, pose: Array) -> str:
        """A pose in words: degrees of joints that turn, metres of those that slide."""
        words = []
        if self.coordinate == "position":
            for axis, value in zip("xyz", pose, strict=False):
                words.append(f"{axis} {value:.4g} m")
            return ", ".join(words)
        motors = architecture_of(self.varied.robot).motors
        for (name, slides), value in zip(motors, pose.tolist(), strict=True):
            angle_or_length = f"{value:.4g} m" if slides else f"{np.degrees(value):.4g} deg"
            words.append(f"{name} {angle_or_length}")
        return ", ".join(words) or "no joint moves"

    # The box of poses -----------------------------------------------------------------------

    def worst_poses(self, robot: Robot) -> Array:
        """Poses of the box where the goal is missed most, the worst first."""
        assert self.box is not None

        def margin(poses: Array) -> Array:
            place: dict[str, Any] = {self.coordinate: poses}
            found = modes(robot, count=self.goal.modes, **place)
            return np.where(found.valid, self.goal.margin(np.atleast_2d(found.omega)), np.inf)

        return self.box.worst(margin)

    def add_worse_poses(self, x: Array) -> bool:
        """Add poses of the box that are worse than those known; return whether there were any."""
        if self.box is None:
            return False
        robot = self.robot(x)
        joining: list[Array] = []

        # Where the frequencies are farther from the goal than at every pose so far
        known_margin = float(self.goal.margin(self.omega_at(robot, self.poses)).min())
        for pose in self.worst_poses(robot)[:JOINING_POSES]:
            margin = float(self.goal.margin(self.omega_at(robot, pose[None]))[0])
            known_poses = [*self.poses, *joining]
            is_new = all(np.abs(pose - other).max() > SAME_POSE for other in known_poses)
            if margin < known_margin - SAME_FREQUENCY and is_new:
                joining.append(pose)

        # Where a limit is passed, and by more than at every pose so far
        for name, quantity_at, count_base2 in (
            ("sag", self.sag_at, POINTS_FOR_SAG),
            ("stress", self.stress_at, POINTS_FOR_STRESS),
        ):
            if name not in self.limits:
                continue
            limit = self.limits[name]

            def room(poses: Array, quantity: Any = quantity_at, most: float = limit) -> Array:
                return np.asarray(1 - quantity(robot, poses) / most)

            pose = self.box.worst(room, count_base2)[0]
            known_room = min(0.0, float(room(self.poses).min()))
            if room(pose[None])[0] < known_room - SAME_FREQUENCY:
                joining.append(pose)

        if joining:
            self.poses = np.vstack([self.poses, *joining])
        return bool(joining)

    def add_worst_pose(self, robot: Robot) -> None:
        """Add the worst pose of the box where it is worse than every pose so far."""
        known_poses = self.poses
        self.poses = np.vstack([known_poses, self.worst_poses(robot)[:1]])
        margins = self.goal.margin(self.omega_at(robot, self.poses))
        if margins[-1] >= margins[:-1].min() - 1e-12:
            self.poses = known_poses


def _bounds(bounds_by_key: Mapping[str, Any]) -> tuple[Array, Array]:
    """Return the lower and upper bounds of the dimensions, checked."""
    low = np.empty(len(bounds_by_key))
    high = np.empty(len(bounds_by_key))
    for k, (name, edges) in enumerate(bounds_by_key.items()):
        try:
            low[k], high[k] = (float(edge) for edge in edges)
        except (TypeError, ValueError):
            raise SuppleError(f"vary '{name}' is {edges!r:.60}: give (low, high)") from None
        if not (np.isfinite([low[k], high[k]]).all() and low[k] < high[k]):
            raise SuppleError(f"vary '{name}' is {edges!r:.60}: give (low, high)")
        if max(abs(low[k]), abs(high[k])) > LARGEST_NUMBER:
            raise SuppleError(f"vary '{name}' goes beyond {LARGEST_NUMBER:g}, where no robot is")
    return low, high
