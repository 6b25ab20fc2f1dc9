"""Which joints put the tip there: every solution found, every try told, the nearest otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures import assembling, delta_inverse, serial, serial_inverse
from ...architectures.kinds import architecture_of
from ...arguments import checked, optional, reals, rows
from ...errors import SuppleError
from ...kernels.spatial import rpy_rotation
from ...robot import DeltaRobot, MechanismRobot, Robot, SerialRobot, a_robot, need_robot

__all__ = ["JointSolutions", "inverse"]

Array = NDArray[np.float64]
REACHED = 1e-10  # of the arm's reach, and rad: a pose met to rounding
APART = 1e-6  # rad or m: solutions nearer to each other are one
ROUNDS = (15, 48)  # starts drawn at random, more of them while none arrives


@dataclass(frozen=True)
class JointSolutions(Answer):
    """Joint coordinates that put the tip at a pose, or as near to it as the robot comes.

    Attributes:
        robot, position, rotation: as asked.  theta: (joints,), the solution nearest to the start;
        the nearest the robot comes where there is none.  solutions: (S, joints), all that were
        found, nearest to the start first; none where it is out of reach. An arm with more joints
        than are needed has a continuum of them, of which these are some.  error: the larger of
        position_error (m) and rotation_error (rad) at theta.  reached: whether it is met to
        rounding.
        method: "closed form" or "least squares".  tries: (T, joints), where each search ended.
        try_errors: (T,), the error there.
    """

    robot: Robot
    position: Array
    rotation: Array | None
    theta: Array
    solutions: Array
    error: float
    position_error: float
    rotation_error: float
    reached: bool
    method: str
    tries: Array
    try_errors: Array

    dims: ClassVar = {
        "position": ("axis",),
        "rotation": ("axis", "own_axis"),
        "theta": ("joint",),
        "solutions": ("solution", "joint"),
        "tries": ("try", "joint"),
        "try_errors": ("try",),
    }
    table_rows: ClassVar = ("try",)

    def __str__(self) -> str:
        if self.reached:
            count = len(self.solutions)
            return f"{count} solution{'' if count == 1 else 's'} by {self.method}"
        turned = "" if self.rotation is None else f" and {self.rotation_error:.6g} rad"
        return (
            f"{np.round(self.position, 6).tolist()} is out of reach: the nearest pose found is "
            f"{self.position_error:.6g} m{turned} away, the best of {len(self.tries)} tries"
        )


@checked(robot=a_robot, position=rows, rotation=optional(reals), start=optional(reals))
def inverse(
    robot: Robot,
    position: ArrayLike,
    rotation: ArrayLike | None = None,
    start: ArrayLike | None = None,
) -> Any:
    """Return the joint coordinates that put the tip of the undeformed robot at a pose.

    position: (3,), or (2,) in the plane of a planar arm. rotation: (3, 3), axes of the tip in base
    axes; or roll, pitch, yaw; or one angle in the plane; None leaves the attitude open. start:
    joint coordinates to be near to, zero or the middle of the limits without. Many poses, (B, 3)
    with (B, 3, 3), cost little more than one and give a list.

    In closed form for a Delta and for arms of two parallel turning joints (three with `rotation`);
    by Newton's method from its start for a mechanism, which is refused where that fails;
    else Newton's method on the squared distance from several starts, inside the joints' limits. A
    pose out of reach is no error: `reached` is False and `theta` is the nearest pose found, where
    |dp|^2 + (reach angle)^2 is least.
    """
    need_robot(robot)
    single = np.ndim(position) == 1
    P = np.array([_place(robot, each) for each in ([position] if single else position)])  # type: ignore[union-attr]
    if isinstance(robot, DeltaRobot):
        if rotation is not None:
            raise SuppleError(
                "rotation is given: the platform of a Delta does not turn; leave it out"
            )
        found = [_of_delta(robot, p, start) for p in P]
    elif isinstance(robot, SerialRobot):
        R = None if rotation is None else _attitudes(rotation, single, len(P))
        found = _of_arm(robot, P, R, _start(robot, start))
    else:
        assert isinstance(robot, MechanismRobot)
        R = None if rotation is None else _attitudes(rotation, single, len(P))
        found = [
            _of_mechanism(robot, p, None if R is None else R[b], start) for b, p in enumerate(P)
        ]
    return found[0] if single else found


def _of_arm(robot: SerialRobot, P: Array, R: Array | None, first: Array) -> list[JointSolutions]:
    """The answers for poses P (B, 3), R (B, 3, 3) or None: in closed form, else by search."""
    answers: dict[int, JointSolutions] = {}
    for b, p in enumerate(P):
        turn = None if R is None else R[b]
        found = serial_inverse.closed_form(robot, p, turn)
        if found is None:
            break
        tries = serial_inverse.errors(robot, _into_limits(robot, found, first), p, turn)
        if _met(robot, tries).any():
            answers[b] = _answer(robot, p, turn, first, tries, "closed form")
    open_ = [b for b in range(len(P)) if b not in answers]
    rng, (low, high) = np.random.default_rng(20160), _span(robot)
    ended: dict[int, list[Array]] = {b: [] for b in open_}
    starts = first[None]
    for count in ROUNDS:
        starts = np.vstack([starts, rng.uniform(low, high, (count, len(low)))])
        rows, size = np.repeat(open_, len(starts)).astype(int), len(starts)
        turns = None if R is None else R[rows]
        tries = serial_inverse.least_squares(
            robot, P[rows], turns, np.tile(starts, (len(open_), 1))
        )
        met, still = _met(robot, tries), []
        for k, b in enumerate(open_):
            own = slice(k * size, (k + 1) * size)
            ended[b].append(tries.theta[own])
            if not met[own].any():
                still.append(b)
        open_, starts = still, starts[:0]
        if not open_:
            break
    for b, thetas in ended.items():
        turn = None if R is None else R[b]
        near = _into_limits(robot, np.vstack(thetas), first)
        tries = serial_inverse.errors(robot, near, P[b], turn)
        answers[b] = _answer(robot, P[b], turn, first, tries, "least squares")
    return [answers[b] for b in range(len(P))]


def _met(robot: SerialRobot, tries: serial_inverse.Tries) -> NDArray[np.bool_]:
    close = REACHED * max(serial_inverse.reach(robot), 1.0)
    met: NDArray[np.bool_] = (tries.position_error <= close) & (tries.rotation_error <= REACHED)
    return met


def _answer(
    robot: SerialRobot,
    p: Array,
    R: Array | None,
    first: Array,
    tries: serial_inverse.Tries,
    method: str,
) -> JointSolutions:
    """Sort what was found: solutions by their distance from the start, else the nearest pose."""
    met = _met(robot, tries)
    solutions = _distinct(tries.theta[met], first)
    size = serial_inverse.reach(robot)
    k = int(np.argmin((tries.position_error / size) ** 2 + tries.rotation_error**2))
    theta = solutions[0] if len(solutions) else tries.theta[k]
    at = serial_inverse.errors(robot, theta[None], p, R)
    away, turned = float(at.position_error[0]), float(at.rotation_error[0])
    each = np.maximum(tries.position_error, tries.rotation_error)
    return JointSolutions(
        *(robot, p, R, theta, solutions, max(away, turned), away, turned),
        *(bool(met.any()), method, tries.theta, each),
    )


def _of_delta(robot: DeltaRobot, p: Array, start: ArrayLike | None) -> JointSolutions:
    first = None if start is None else _numbers(start, "start", (3,))
    solutions = delta_inverse.motor_angles(robot, p)
    if len(solutions):
        if first is not None:
            solutions = _distinct(solutions, first)
        zero = np.zeros(len(solutions))
        return JointSolutions(
            *(robot, p, None, solutions[0], solutions, 0.0, 0.0, 0.0, True, "closed form"),
            *(solutions, zero),
        )
    near = delta_inverse.nearest(robot, p)
    if not len(near.theta):
        raise SuppleError(
            f"position {p.tolist()} is out of reach of {robot.name}, and no pose was found that "
            "can be assembled: see its lengths and the limits of its motors"
        )
    k = int(np.argmin(near.distance))
    away = float(near.distance[k])
    return JointSolutions(
        *(robot, p, None, near.theta[k], near.theta[:0], away, away, 0.0, False, "least squares"),
        *(near.theta, near.distance),
    )


def _of_mechanism(
    robot: MechanismRobot, p: Array, R: Array | None, start: ArrayLike | None
) -> JointSolutions:
    """Newton's method from the mechanism's start, or from theta; refused where it fails."""
    m = assembling.mechanism_of(robot)
    first, reason = assembling.resolve(robot, start)
    if reason[0]:
        raise SuppleError(f"start: {reason[0]}")
    place = p[None, :2] if robot.planar else p[None]
    x, far = assembling.posed(m, place, None if R is None else R[None], first[0])
    theta = x[0, m.driven]
    reason = assembling.resolve(robot, theta)[1]
    names = ", ".join(f"{value:.6g}" for value in p)
    if far[0] > REACHED * m.size or reason[0]:
        told = reason[0] or f"the nearest pose tried is {far[0]:.3g} m away"
        raise SuppleError(f"position {names} is not reached by {robot.name} from its start: {told}")
    for value, c in zip(theta, architecture_of(robot).coordinates(), strict=True):
        limits = next((x.joint.limits for x in robot.links if x.name == c.key), None)
        if limits is not None and not limits[0] <= value <= limits[1]:
            raise SuppleError(
                f"position {names} needs {c.name} at {value:.6g} {c.unit}, beyond its limits"
            )
    one, zero = theta[None], np.zeros(1)
    return JointSolutions(
        *(robot, p, R, theta, one, 0.0, 0.0, 0.0, True, "Newton's method", one, zero),
    )


def _numbers(value: ArrayLike, name: str, shape: tuple[int, ...]) -> Array:
    try:
        given = np.asarray(value, float)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape != shape or not np.isfinite(given).all():
        raise SuppleError(f"{name} is {value!r:.60}: give {shape[0]} finite numbers")
    return given


def _place(robot: Robot, position: ArrayLike) -> Array:
    flat = architecture_of(robot).planar and np.shape(position) == (2,)
    given = _numbers(position, "position", (2,) if flat else (3,))
    return np.append(given, 0.0) if flat else given


def _attitudes(rotation: ArrayLike, single: bool, count: int) -> Array:
    """Attitudes (B, 3, 3) from matrices, or roll, pitch, yaw, or angles in the plane."""
    try:
        given = np.asarray(rotation, float)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    given = given[None] if single else given
    if given.shape == (count,):
        given = np.stack([0 * given, 0 * given, given], axis=-1)
    if given.shape == (count, 3) and np.isfinite(given).all():
        given = np.array([rpy_rotation(each) for each in given])
    if given.shape == (count, 3, 3) and np.isfinite(given).all():
        square = np.abs(given @ np.swapaxes(given, 1, 2) - np.eye(3)).max()
        if square < 1e-9 and (np.linalg.det(given) > 0).all():
            return given
    raise SuppleError(
        "rotation is not one: give a 3 x 3 rotation matrix, or roll, pitch and yaw in radians, or "
        "for a planar arm one angle, for each position"
    )


def _start(robot: SerialRobot, start: ArrayLike | None) -> Array:
    if start is not None:
        given = _numbers(start, "start", (len(robot.moving),))
        return np.asarray(serial.configuration(robot, given)[0])
    low, high = _span(robot)
    return np.asarray(np.where((low <= 0) & (high >= 0), 0.0, (low + high) / 2))


def _span(robot: SerialRobot) -> tuple[Array, Array]:
    """Where starts are drawn: the limits, or a full turn."""
    low, high = serial_inverse.box(robot)
    return np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)


def _into_limits(robot: SerialRobot, theta: Array, first: Array) -> Array:
    """The same poses with each angle as near to the start as whole turns and the limits allow.

    Those that no whole turn brings inside the limits are left out.
    """
    low, high = serial_inverse.box(robot)
    turning = np.array([link.joint.type == "revolute" for link in robot.moving])
    turn, slack = 2 * np.pi, 1e-12
    near = theta - turn * np.round((theta - first) / turn) * turning
    for limit, side in ((low, 1), (high, -1)):
        over = np.where(turning & np.isfinite(limit), side * (limit - near), 0.0)
        near = near + side * turn * np.ceil(np.maximum(over - slack, 0.0) / turn)
    inside = ((near >= low - slack) & (near <= high + slack)).all(axis=1)
    return np.asarray(np.clip(near[inside], low, high))


def _distinct(theta: Array, first: Array) -> Array:
    """The configurations that differ, nearest to the start first."""
    order = np.argsort(np.linalg.norm(theta - first, axis=1), kind="stable")
    kept: list[Array] = []
    for row in theta[order]:
        if not any(np.abs(row - other).max(initial=0.0) < APART for other in kept):
            kept.append(row)
    return np.array(kept).reshape(-1, theta.shape[1])
