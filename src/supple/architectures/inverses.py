"""Joint coordinates that put the tip at a pose: inverse kinematics of each family."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import vector
from ..errors import SuppleError
from ..robot import DeltaRobot, SerialRobot
from . import assembling, delta, posing, serial, serial_inverse
from .base import JointSolution
from .delta import direct, leg_axes
from .tree import Tree

__all__ = ["NearestTries", "nearest", "solve_arm", "solve_delta", "solve_tree"]

Array = NDArray[np.float64]
POSE_TOLERANCE = 1e-10  # of the arm's reach, and rad: a pose met to rounding
SAME_SOLUTION = 1e-6  # rad or m: solutions nearer to each other are one
STARTS = (-0.3, -0.8, -1.3, 0.3, 0.8)  # motor angles, rad; those not assembled are left out
RANDOM_STARTS = (15, 48)  # in the first round, and in the second where none reached the pose


def solve_arm(
    robot: SerialRobot, P: Array, R: Array | None, start: ArrayLike | None
) -> list[JointSolution]:
    """Return theta for poses P (B, 3), R (B, 3, 3) or None: in closed form, else by search."""
    if not robot.moving:
        raise SuppleError(f"{robot.name} has no joint that moves: forward says where its tip is")
    if start is not None:
        given = np.array(vector(len(robot.moving))("start", start))
        first = np.asarray(serial.configuration(robot, given)[0])
    else:
        low, high = _span(robot)
        first = np.asarray(np.where((low <= 0) & (high >= 0), 0.0, (low + high) / 2))
    answers: dict[int, JointSolution] = {}
    for b, place in enumerate(P):
        turn = None if R is None else R[b]
        found = serial_inverse.closed_form(robot, place, turn)
        if found is None:
            break
        tries = serial_inverse.errors(robot, _into_limits(robot, found, first), place, turn)
        if _reaches_goal(robot, tries).any():
            answers[b] = _answer(robot, place, turn, first, tries, "closed form")

    unsolved = [b for b in range(len(P)) if b not in answers]
    for b, thetas in _search(robot, P, R, first, unsolved).items():
        turn = None if R is None else R[b]
        starts = _into_limits(robot, thetas, first)
        tries = serial_inverse.errors(robot, starts, P[b], turn)
        answers[b] = _answer(robot, P[b], turn, first, tries, "least squares")
    return [answers[b] for b in range(len(P))]


def _search(
    robot: SerialRobot, P: Array, R: Array | None, first: Array, unsolved: list[int]
) -> dict[int, Array]:
    """Where searches for some poses end, (tries, joints) each, from `first` and random starts."""
    rng = np.random.default_rng(20160)
    low, high = _span(robot)
    ends: dict[int, list[Array]] = {b: [] for b in unsolved}
    open_poses = unsolved
    starts = first[None]
    for count in RANDOM_STARTS:
        starts = np.vstack([starts, rng.uniform(low, high, (count, len(low)))])
        per_pose = len(starts)

        # All open poses from all starts at once, pose by pose
        pose_of_try = np.repeat(open_poses, per_pose).astype(int)
        turns = None if R is None else R[pose_of_try]
        all_starts = np.tile(starts, (len(open_poses), 1))
        tries = serial_inverse.least_squares(robot, P[pose_of_try], turns, all_starts)
        reached = _reaches_goal(robot, tries)
        not_reached = []
        for k, b in enumerate(open_poses):
            own = slice(k * per_pose, (k + 1) * per_pose)
            ends[b].append(tries.theta[own])
            if not reached[own].any():
                not_reached.append(b)

        open_poses = not_reached
        starts = starts[:0]
        if not open_poses:
            break
    return {b: np.vstack(thetas) for b, thetas in ends.items()}


def _reaches_goal(robot: SerialRobot, tries: serial_inverse.Tries) -> NDArray[np.bool_]:
    """Whether each try meets its pose, (B,)."""
    close = POSE_TOLERANCE * max(serial_inverse.reach(robot), 1.0)
    is_near = tries.position_error <= close
    is_aligned = tries.rotation_error <= POSE_TOLERANCE
    reached: NDArray[np.bool_] = is_near & is_aligned
    return reached


def _answer(
    robot: SerialRobot,
    p: Array,
    R: Array | None,
    first: Array,
    tries: serial_inverse.Tries,
    method: str,
) -> JointSolution:
    """Sort what was found: solutions by their distance from the start, else the nearest pose."""
    reached = _reaches_goal(robot, tries)
    solutions = _distinct(tries.theta[reached], first)
    size = serial_inverse.reach(robot)
    nearest_try = int(np.argmin((tries.position_error / size) ** 2 + tries.rotation_error**2))
    theta = solutions[0] if len(solutions) else tries.theta[nearest_try]
    at = serial_inverse.errors(robot, theta[None], p, R)
    return JointSolution(
        theta,
        solutions,
        float(at.position_error[0]),
        float(at.rotation_error[0]),
        bool(reached.any()),
        method,
        tries.theta,
        np.maximum(tries.position_error, tries.rotation_error),
    )


def solve_delta(robot: DeltaRobot, p: Array, start: ArrayLike | None) -> JointSolution:
    """Return motor angles for one position (3,): elbows out and in, else the nearest in reach."""
    first = None if start is None else np.array(vector(3)("start", start))
    if delta.reachable(robot.with_("motor.limits", None), p)[0]:
        # leg by leg; those outside the motors' limits and those that coincide are left out
        angles = delta.inverse(robot, p, "all")[0, :, :, 0]
        low, high = robot.motor.limits or (-np.inf, np.inf)
        inside = angles[((angles >= low) & (angles <= high)).all(axis=1)]
        _, first_places = np.unique(inside.round(12), axis=0, return_index=True)
        solutions = np.asarray(inside[np.sort(first_places)])
    else:
        solutions = np.empty((0, 3))
    if len(solutions):
        if first is not None:
            solutions = _distinct(solutions, first)
        zero = np.zeros(len(solutions))
        return JointSolution(
            solutions[0], solutions, 0.0, 0.0, True, "closed form", solutions, zero
        )
    closest = nearest(robot, p)
    if not len(closest.theta):
        raise SuppleError(
            f"position {p.tolist()} is out of reach of {robot.name}, and no pose was found that "
            "can be assembled: see its lengths and the limits of its motors"
        )
    k = int(np.argmin(closest.distance))
    away = float(closest.distance[k])
    theta = closest.theta
    return JointSolution(
        theta[k], theta[:0], away, 0.0, False, "least squares", theta, closest.distance
    )


class NearestTries(NamedTuple):
    """Tries for the nearest place in reach: theta (B, 3), position (B, 3), distance (B,) m."""

    theta: Array
    position: Array
    distance: Array


def nearest(robot: DeltaRobot, position: Array) -> NearestTries:
    """Return the tries for the place in reach nearest to a position (3,).

    Least |P - P_d|^2 over platform P and motor angles phi, subject to the rods' lengths
    |P - C_i(phi_i)| = L2 and the limits of phi, by sequential quadratic programming.
    """
    from scipy.optimize import minimize

    L1 = robot.upper.length or 0.0
    L2 = robot.lower.length or 0.0
    axes = leg_axes(robot)
    offset = robot.base_radius - robot.platform.radius
    size = L1 + L2  # P is scaled by it: x = [P / size, phi]

    def rods(x: Array) -> tuple[Array, Array]:
        """Scaled |P - C|^2 - L2^2 of the three legs, and its Jacobian."""
        c = np.cos(x[3:])
        s = np.sin(x[3:])
        C = (offset + L1 * c)[:, None] * axes[:, :, 0] - (L1 * s)[:, None] * axes[:, :, 2]
        C_slope = -(L1 * s)[:, None] * axes[:, :, 0] - (L1 * c)[:, None] * axes[:, :, 2]
        rod = size * x[:3] - C
        residual = (rod**2).sum(axis=1) - L2**2
        by_place = 2 * size * rod
        by_angle = np.diag(-2 * (rod * C_slope).sum(axis=1))
        return residual / size**2, np.hstack([by_place, by_angle]) / size**2

    goal = position / size

    def squared_distance(x: Array) -> tuple[float, Array]:
        gap = x[:3] - goal
        return (gap**2).sum(), np.append(2 * gap, np.zeros(3))

    low, high = robot.motor.limits or (-np.pi, np.pi)
    found = []
    for angle in {float(np.clip(a, low, high)) for a in STARTS}:
        start = np.full(3, angle)
        if np.hypot(offset + L1 * np.cos(angle), 0) > L2:
            continue
        solved = minimize(
            squared_distance,
            np.append(direct(robot, start)[0] / size, start),
            jac=True,
            method="SLSQP",
            bounds=[(None, None)] * 3 + [(low, high)] * 3,
            constraints={"type": "eq", "fun": lambda x: rods(x)[0], "jac": lambda x: rods(x)[1]},
            options={"ftol": 1e-15, "maxiter": 300},
        )
        if np.abs(rods(solved.x)[0]).max() < 1e-10:
            found.append(solved.x)
    places = np.array(found).reshape(-1, 6)
    P = size * places[:, :3]
    return NearestTries(places[:, 3:], P, np.linalg.norm(P - position, axis=1))


def solve_tree(m: Tree, p: Array, R: Array | None, start: ArrayLike | None) -> JointSolution:
    """Return theta for one pose by Newton's method from a start; refused where it fails."""
    name = m.robot.name
    motors = m.form.motors
    if not motors:
        raise SuppleError(f"{name} has no motor: forward says where its tip is")
    if start is not None:
        start = np.array(vector(len(motors))("start", start))
    first, reason = assembling.resolve(m, start)
    if reason[0]:
        raise SuppleError(f"start: {reason[0]}")
    place = p[None, :2] if m.planar else p[None]
    x, distance = posing.configurations_of_tip(m, place, None if R is None else R[None], first[0])
    theta = x[0, m.driven]
    reason = assembling.resolve(m, theta)[1]
    position = ", ".join(f"{value:.6g}" for value in p)
    if distance[0] > POSE_TOLERANCE * m.size or reason[0]:
        why = reason[0] or f"the nearest pose tried is {distance[0]:.3g} m away"
        raise SuppleError(f"position {position} is not reached by {name} from its start: {why}")

    joints = {link.name: link.joint for link in m.form.links}
    for value, motor in zip(theta, motors, strict=True):
        joint = joints.get(motor)
        if joint is None or joint.limits is None:
            continue
        if not joint.limits[0] <= value <= joint.limits[1]:
            slides = joint.type == "prismatic"
            coordinate = f"length of {motor}" if slides else f"joint of {motor}"
            unit = "m" if slides else "rad"
            raise SuppleError(
                f"position {position} needs {coordinate} at {value:.6g} {unit}, beyond its limits"
            )
    solutions = theta[None]
    return JointSolution(
        theta, solutions, 0.0, 0.0, True, "Newton's method", solutions, np.zeros(1)
    )


def _span(robot: SerialRobot) -> tuple[Array, Array]:
    """Interval of each joint from which starts are drawn: its limits, or a full turn."""
    low, high = serial_inverse.box(robot)
    low = np.where(np.isfinite(low), low, -np.pi)
    high = np.where(np.isfinite(high), high, np.pi)
    return low, high


def _into_limits(robot: SerialRobot, theta: Array, first: Array) -> Array:
    """The same poses with each angle as near to the start as whole turns and the limits allow.

    Those that no whole turn brings inside the limits are left out.
    """
    low, high = serial_inverse.box(robot)
    turning = np.array([link.joint.type == "revolute" for link in robot.moving])
    turn = 2 * np.pi
    slack = 1e-12
    turned = theta - turn * np.round((theta - first) / turn) * turning
    for limit, side in ((low, 1), (high, -1)):
        over = np.where(turning & np.isfinite(limit), side * (limit - turned), 0.0)
        turned = turned + side * turn * np.ceil(np.maximum(over - slack, 0.0) / turn)
    inside = ((turned >= low - slack) & (turned <= high + slack)).all(axis=1)
    return np.asarray(np.clip(turned[inside], low, high))


def _distinct(theta: Array, first: Array) -> Array:
    """The configurations that differ, nearest to the start first."""
    order = np.argsort(np.linalg.norm(theta - first, axis=1), kind="stable")
    distinct: list[Array] = []
    for row in theta[order]:
        distances = [np.abs(row - other).max(initial=0.0) for other in distinct]
        if min(distances, default=np.inf) >= SAME_SOLUTION:
            distinct.append(row)
    return np.array(distinct).reshape(-1, theta.shape[1])
