"""Which straight move is fastest and still ends calm: a time law made for the lowest modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.kinds import architecture_of
from ...arguments import (
    checked,
    number,
    some,
    vector,
    whole_number,
)
from ...beams.basis import AssumedModes, Basis
from ...control.calm import CalmMove, Mode, calmest, left_by
from ...control.controllers import Controller
from ...control.platform import PlatformPath
from ...control.trajectories import Trajectory
from ...equations.build import build
from ...equations.model import Model
from ...errors import SuppleError
from ...robot import Robot
from .servo import held_modes

__all__ = ["calm_move", "families"]

Array = NDArray[np.float64]
CLOSE_MODE_RATIO = 1.25  # modes up to so many times the lowest ring together with it
MAX_MODES = 6  # modes looked at
POSES_ALONG_MOVE = 25  # poses along the move
NO_RATE_LIMIT = 1e9  # moves a second: no limit at all
EFFORT_ROUNDS = 12
EFFORT_USED = 0.95  # of a limit: a move that uses so much of it is not made faster
EFFORT_POINTS = 401  # times along a move at which efforts are looked at
SMALLEST_RESIDUAL = 0.01  # of the bending: less than this is not asked for by another move


def _check_residual(name: str, value: Any) -> float | Trajectory:
    """A part, or a move that leaves as much."""
    if isinstance(value, Trajectory):
        return value
    part: float = number(0, 4, above=True)(name, value)
    return part


@checked
def calm_move(
    robot: Robot,
    start: Annotated[ArrayLike, vector()],
    end: Annotated[ArrayLike, vector()],
    speed_limit: Annotated[float | Sequence[float], some(0)],
    acceleration_limit: Annotated[float | Sequence[float], some(0)],
    jerk_limit: Annotated[float | Sequence[float], some(0)] | None = None,
    *,
    effort_limit: Annotated[float | Sequence[float], some(0)] | None = None,
    duration: Annotated[float, number(0, 1e6, above=True, unit="of seconds")] | None = None,
    left: Annotated[float | Trajectory, _check_residual] = 0.02,
    band: Annotated[float, number(0, 0.5)] = 0.05,
    groups: Annotated[int, whole_number(1, 3)] = 1,
    servo: Controller | None = None,
    basis: Basis | Model | None = None,
    platform: bool = False,
) -> CalmMove:
    """Fastest straight move that leaves a robot's lowest modes at rest.

    Parameters
    ----------
    robot : Robot
        Nominal robot, motors locked or controlled by `servo`.
    start, end : array_like
        Joint coordinates (joints,), rad or m; with `platform` positions (3,) of a Delta's platform.
    speed_limit, acceleration_limit, jerk_limit : float or sequence
        One value or one per coordinate. Without a jerk limit the acceleration rises within one
        period of the first mode that is not controlled.
    effort_limit : float or sequence, optional
        Limits of the motors, N m or N. Speed and acceleration are lowered until the rigid robot
        needs no more.
    duration : float, optional
        Seconds. Find the calmest move of this duration instead of the fastest.
    left : float or Trajectory
        Residual vibration allowed, as a fraction of the bending under the largest acceleration (a
        step of acceleration leaves 1); or a Trajectory, such as the shaped move: as much as it
        leaves.
    band : float
        Relative uncertainty of the frequencies, both ways.
    groups : int
        Number of groups of modes to control; modes within 25 % of each other form one group. The
        next mode is controlled too.
    servo : Controller, optional
        Controller that holds the motors.
    basis : Basis or Model, optional
        Basis of the Model on which the closed-loop poles are computed, or that Model.
    platform : bool
        `start` and `end` are positions of a Delta's platform.

    Returns
    -------
    CalmMove
        A Trajectory.

    Notes
    -----
    The acceleration is piecewise linear in time; its values solve a linear programme for every
    trial duration.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> move = supple.calm_move(robot, [0, 0, 0], [0.5, 0.3, 0], 2.0, 10.0)
    >>> bool(move.left < 0.02)
    True
    """
    a, b = np.asarray(start, float), np.asarray(end, float)
    if a.shape != b.shape:
        raise SuppleError(f"start has {a.size} coordinates and end {b.size}: give equally many")
    move = np.abs(b - a)
    if not move.any():
        raise SuppleError("start and end are the same: there is no move")
    poses = a + np.linspace(0.0, 1.0, POSES_ALONG_MOVE)[:, None] * (b - a)
    omega, ratio = _common_modes(robot, poses, servo, basis, platform)
    rings = families(omega[-1])
    count = rings[min(groups, len(rings)) - 1].stop + 1
    modes = [Mode(w, float(min(z, 0.6))) for w, z in zip(omega.T[:count], ratio[-1], strict=False)]
    V = _slowest("speed_limit", speed_limit, move)
    A = _slowest("acceleration_limit", acceleration_limit, move)
    rise = 2 * np.pi / float(omega[:, min(count, omega.shape[1] - 1)].min())
    J = A / rise if jerk_limit is None else _slowest("jerk_limit", jerk_limit, move)
    if isinstance(left, Trajectory):
        left = max(left_by(left, a, b, modes[: count - 1], band) / A, SMALLEST_RESIDUAL)
    names = (
        ("x", "y", "z") if platform else tuple(name for name, _ in architecture_of(robot).motors)
    )

    def make_move(slower: float) -> CalmMove:
        """The move with every limit lowered as if time ran so much slower."""
        limits = (V / slower, A / slower**2, J / slower**3)
        found = calmest(a, b, modes, limits, left=left, band=band, duration=duration)
        return replace(found, names=names)

    if effort_limit is None:
        return make_move(1.0)
    return _within_efforts(robot, make_move, effort_limit, platform, duration)


def _within_efforts(
    robot: Robot,
    make_move: Callable[[float], CalmMove],
    effort_limit: Any,
    platform: bool,
    duration: float | None,
) -> CalmMove:
    """The fastest of moves made slower whose efforts keep their limits, within a few per cent."""
    model = unbent_model(robot)
    limit = np.broadcast_to(np.asarray(effort_limit, float), (model.joints,))
    if np.shape(effort_limit) not in ((), (model.joints,)) or not (limit > 0).all():
        raise SuppleError(
            f"effort_limit is {effort_limit!r}: give one positive limit for all motors, or one "
            f"for each of the {model.joints}"
        )
    best: CalmMove | None = None
    too_fast = 1.0
    slower = enough = 1.0
    for _ in range(EFFORT_ROUNDS):
        found = make_move(slower)
        needed, static_share = efforts_used(model, found, limit, platform)
        if static_share >= 1:
            raise SuppleError(
                f"effort_limit cannot hold {robot.name} at rest along the move: it needs "
                f"{static_share:.3g} times as much"
            )
        if needed <= 1 + 1e-9:
            best = found
            if slower == 1.0 or needed >= EFFORT_USED or slower < 1.01 * too_fast:
                return found
            enough = slower
            slower = (too_fast + enough) / 2
            continue
        if duration is not None:
            raise SuppleError(
                f"duration is {duration:.4g} s: the move needs {needed:.3g} times effort_limit; "
                "give more time, or none for the fastest"
            )
        too_fast = slower
        if best is not None:
            slower = (too_fast + enough) / 2
        else:  # what is left beside the weight goes with the square of the speed of time
            slower *= max(1.01, float(np.sqrt((needed - static_share) / (1 - static_share))))
    if best is None:
        raise SuppleError("no move was found that keeps effort_limit: give a higher one")
    return best


def unbent_model(robot: Robot) -> Model:
    """Return the Model of a robot whose links do not bend, for efforts."""
    parts = architecture_of(robot).parts()
    return build(robot.with_({f"{part}.theory": "rigid" for part in parts}), AssumedModes(1))


def efforts_used(
    model: Model, move: Trajectory, limit: Array, platform: bool
) -> tuple[float, float]:
    """Return the largest efforts along a move over their limits, and those at rest along it."""
    motors = PlatformPath(model.robot, move) if platform else move
    t = np.linspace(0.0, move.duration, EFFORT_POINTS)
    x, v, a = motors.at(t)
    k = model.joints
    wide = [np.pad(part, ((0, 0), (0, model.size - k))) for part in (x, v, a)]
    moving = np.asarray(model.inverse_dynamics(*wide))[:, :k]
    static_efforts = np.asarray(model.inverse_dynamics(wide[0], 0 * wide[1], 0 * wide[2]))[:, :k]
    return float((np.abs(moving) / limit).max()), float((np.abs(static_efforts) / limit).max())


def _slowest(name: str, limit: Any, move: Array) -> float:
    """The limit of s that keeps those of all coordinates."""
    given = np.asarray(limit, float)
    if given.shape not in ((), move.shape) or not (given > 0).all():
        raise SuppleError(
            f"{name} is {limit!r}: give one positive limit for all coordinates, or one for each "
            f"of the {move.size}"
        )
    with np.errstate(divide="ignore", over="ignore"):
        least = float(np.min(given / move))
    if least > NO_RATE_LIMIT:
        raise SuppleError(f"{name} is {limit!r}: that limits nothing; give what the motors can do")
    return least


def _common_modes(
    robot: Robot, poses: Array, servo: Controller | None, basis: Any, platform: bool
) -> tuple[Array, Array]:
    """As many of the lowest modes as there are at every pose, up to LOOKED."""
    for count in range(MAX_MODES, 0, -1):
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
    found = []
    first = 0
    for k in range(1, len(omega) + 1):
        if k == len(omega) or omega[k] > CLOSE_MODE_RATIO * omega[first]:
            found.append(slice(first, k))
            first = k
    return found
