"""Which straight move is fastest and still ends calm: a time law made for the lowest modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import Check, checked, instance, number, optional, some, switch, vector, whole
from ...beams.basis import Basis
from ...control.calm import CalmMove, Mode, calmest, left_by
from ...control.controllers import Controller
from ...control.trajectories import Trajectory
from ...equations.model import Model
from ...errors import SuppleError
from ...robot import Robot, a_robot
from .servo import held_modes

__all__ = ["calm_move", "families"]

Array = NDArray[np.float64]
CLOSE = 1.25  # modes up to so many times the lowest ring together with it
LOOKED = 6  # modes looked at
POINTS = 25  # poses along the move
HIGH = 1e9  # moves a second: no limit at all
LEAST = 0.01  # of the bending: less than this is not asked for by another move


def _left(name: str, value: Any) -> float | Trajectory:
    """A part, or a move that leaves as much."""
    if isinstance(value, Trajectory):
        return value
    part: float = number(0, 4, above=True)(name, value)
    return part


ARGUMENTS: dict[str, Check] = {
    "robot": a_robot,
    "start": vector(),
    "end": vector(),
    "speed_limit": some(0),
    "acceleration_limit": some(0),
    "jerk_limit": optional(some(0)),
    "duration": optional(number(0, 1e6, above=True, unit="of seconds")),
    "left": _left,
    "band": number(0, 0.5),
    "groups": whole(1, 3),
    "servo": optional(instance(Controller, "a Controller, such as supple.JointPD(100, 20)")),
    "platform": switch,
}


@checked(**ARGUMENTS)
def calm_move(  # noqa: PLR0913 - every limit of a move
    robot: Robot,
    start: ArrayLike,
    end: ArrayLike,
    speed_limit: float | Sequence[float],
    acceleration_limit: float | Sequence[float],
    jerk_limit: float | Sequence[float] | None = None,
    *,
    duration: float | None = None,
    left: float | Trajectory = 0.02,
    band: float = 0.05,
    groups: int = 1,
    servo: Controller | None = None,
    basis: Basis | Model | None = None,
    platform: bool = False,
) -> CalmMove:
    """Return the fastest move in a straight line that leaves a robot's lowest modes calm.

    Args:
        robot: as planned for; its motors held, by `servo` if one is given.
        start, end: joint coordinates, or with `platform` places of a Delta's platform.
        speed_limit, acceleration_limit, jerk_limit: one value or one for each coordinate; without
        a jerk limit acceleration rises within a period of the first mode that is not looked after.
        duration: s; the calmest move that takes so long, instead of the fastest.
        left: what may be left, a part of the bending under the largest acceleration (a step of
        acceleration leaves 1); or a Trajectory, such as the same move shaped: as much as it leaves.
        band: by which part the frequencies may be off, to both sides.
        groups: how many groups of modes are looked after; modes within 25 % of another are one.
        basis: of the Model on which the poles with a servo are found, or that Model.

    The mode that follows is looked after too. Linear programmes, see `supple.control.calm`.
    """
    a, b = np.asarray(start, float), np.asarray(end, float)
    if a.shape != b.shape:
        raise SuppleError(f"start has {a.size} coordinates and end {b.size}: give equally many")
    move = np.abs(b - a)
    if not move.any():
        raise SuppleError("start and end are the same: there is no move")
    poses = a + np.linspace(0.0, 1.0, POINTS)[:, None] * (b - a)
    omega, ratio = _followed(robot, poses, servo, basis, platform)
    rings = families(omega[-1])
    count = rings[min(groups, len(rings)) - 1].stop + 1
    modes = [Mode(w, float(min(z, 0.6))) for w, z in zip(omega.T[:count], ratio[-1], strict=False)]
    V = _slowest("speed_limit", speed_limit, move)
    A = _slowest("acceleration_limit", acceleration_limit, move)
    rise = 2 * np.pi / float(omega[:, min(count, omega.shape[1] - 1)].min())
    J = A / rise if jerk_limit is None else _slowest("jerk_limit", jerk_limit, move)
    if isinstance(left, Trajectory):
        left = max(left_by(left, a, b, modes[: count - 1], band) / A, LEAST)
    return calmest(a, b, modes, (V, A, J), left=left, band=band, duration=duration)


def _slowest(name: str, limit: Any, move: Array) -> float:
    """The limit of s that keeps those of all coordinates."""
    given = np.asarray(limit, float)
    if given.shape not in ((), move.shape) or not (given > 0).all():
        raise SuppleError(
            f"{name} is {limit!r}: give a positive limit, one or one for each of {move.size}"
        )
    with np.errstate(divide="ignore", over="ignore"):
        least = float(np.min(given / move))
    if least > HIGH:
        raise SuppleError(f"{name} is {limit!r}: that limits nothing; give what the motors can do")
    return least


def _followed(
    robot: Robot, poses: Array, servo: Controller | None, basis: Any, platform: bool
) -> tuple[Array, Array]:
    """As many of the lowest modes as there are at every pose, up to LOOKED."""
    for count in range(LOOKED, 0, -1):
        try:
            omega, ratio = held_modes(robot, poses, count, servo, basis, platform=platform)
        except SuppleError:
            if count == 1:
                raise
            continue
        if np.isfinite(omega).all():
            return omega, ratio
    raise SuppleError("the move leaves what the robot can reach: no frequency there")


def families(omega: Array) -> list[slice]:
    """Return the modes (k,) that ring together: each group within 25 % of its lowest."""
    found, first = [], 0
    for k in range(1, len(omega) + 1):
        if k == len(omega) or omega[k] > CLOSE * omega[first]:
            found.append(slice(first, k))
            first = k
    return found
