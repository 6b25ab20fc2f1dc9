"""Joint coordinates that put the tip at a pose: what each family answers to `solve`."""

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
REACHED = 1e-10  # of the arm's reach, and rad: a pose met to rounding
APART = 1e-6  # rad or m: solutions nearer to each other are one
STARTS = (-0.3, -0.8, -1.3, 0.3, 0.8)  # motor angles, rad; those not assembled are left out
ROUNDS = (15, 48)  # starts drawn at random, more of them while none arrives


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
    for b, p in enumerate(P):
        turn = None if R is None else R[b]
        found = serial_inverse.closed_form(robot, p, turn)
        if found is None:
            break
        tries = serial_inverse.errors(robot, _into_limits(robot, found, first), p, turn)
        if _reaches_goal(robot, tries).any():
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
        met, still = _reaches_goal(robot, tries), []
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


def _reaches_goal(robot: SerialRobot, tries: serial_inverse.Tries) -> NDArray[np.bool_]:
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
) -> JointSolution:
    """Sort what was found: solutions by their distance from the start, else the nearest pose."""
    met = _reaches_goal(robot, tries)
    solutions = _distinct(tries.theta[met], first)
    size = serial_inverse.reach(robot)
    k = int(np.argmin((tries.position_error / size) ** 2 + tries.rotation_error**2))
    theta = solutions[0] if len(solutions) else tries.theta[k]
    at = serial_inverse.errors(robot, theta[None], p, R)
    away, turned = float(at.position_error[0]), float(at.rotation_error[0])
    each = np.maximum(tries.position_error, tries.rotation_error)
    return JointSolution(theta, solutions, away, turned, bool(met.any()), method, tries.theta, each)


def solve_delta(robot: DeltaRobot, p: Array, start: ArrayLike | None) -> JointSolution:
    """Return motor angles for one position (3,): elbows out and in, else the nearest in reach."""
    first = None if start is None else np.array(vector(3)("start", start))
    if delta.reachable(robot.with_("motor.limits", None), p)[0]:
        # leg by leg; those outside the motors' limits and those that coincide are left out
        each = delta.inverse(robot, p, "all")[0, :, :, 0]
        low, high = robot.motor.limits or (-np.inf, np.inf)
        inside = each[((each >= low) & (each <= high)).all(axis=1)]
        _, kept = np.unique(inside.round(12), axis=0, return_index=True)
        solutions = np.asarray(inside[np.sort(kept)])
    else:
        solutions = np.empty((0, 3))
    if len(solutions):
        if first is not None:
            solutions = _distinct(solutions, first)
        zero = np.zeros(len(solutions))
        return JointSolution(
            solutions[0], solutions, 0.0, 0.0, True, "closed form", solutions, zero
        )
    near = nearest(robot, p)
    if not len(near.theta):
        raise SuppleError(
            f"position {p.tolist()} is out of reach of {robot.name}, and no pose was found that "
            "can be assembled: see its lengths and the limits of its motors"
        )
    k = int(np.argmin(near.distance))
    away = float(near.distance[k])
    theta = near.theta
    return JointSolution(
        theta[k], theta[:0], away, 0.0, False, "least squares", theta, near.distance
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

    L1, L2 = robot.upper.length or 0.0, robot.lower.length or 0.0
    axes, out = leg_axes(robot), robot.base_radius - robot.platform.radius
    size = L1 + L2

    def rods(x: Array) -> tuple[Array, Array]:
        c, s = np.cos(x[3:]), np.sin(x[3:])
        C = (out + L1 * c)[:, None] * axes[:, :, 0] - (L1 * s)[:, None] * axes[:, :, 2]
        turned = -(L1 * s)[:, None] * axes[:, :, 0] - (L1 * c)[:, None] * axes[:, :, 2]
        away = size * x[:3] - C
        slope = np.hstack([2 * size * away, np.diag(-2 * (away * turned).sum(axis=1))])
        return ((away**2).sum(axis=1) - L2**2) / size**2, slope / size**2

    goal = position / size
    low, high = robot.motor.limits or (-np.pi, np.pi)
    found = []
    for angle in {float(np.clip(a, low, high)) for a in STARTS}:
        start = np.full(3, angle)
        if np.hypot(out + L1 * np.cos(angle), 0) > L2:
            continue
        solved = minimize(
            lambda x: (((x[:3] - goal) ** 2).sum(), np.append(2 * (x[:3] - goal), np.zeros(3))),
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
    name, motors = m.robot.name, m.form.motors
    if not motors:
        raise SuppleError(f"{name} has no motor: forward says where its tip is")
    if start is not None:
        start = np.array(vector(len(motors))("start", start))
    first, reason = assembling.resolve(m, start)
    if reason[0]:
        raise SuppleError(f"start: {reason[0]}")
    place = p[None, :2] if m.planar else p[None]
    x, far = posing.configurations_of_tip(m, place, None if R is None else R[None], first[0])
    theta = x[0, m.driven]
    reason = assembling.resolve(m, theta)[1]
    names = ", ".join(f"{value:.6g}" for value in p)
    if far[0] > REACHED * m.size or reason[0]:
        told = reason[0] or f"the nearest pose tried is {far[0]:.3g} m away"
        raise SuppleError(f"position {names} is not reached by {name} from its start: {told}")
    joints = {link.name: link.joint for link in m.form.links}
    for value, name in zip(theta, motors, strict=True):
        joint = joints.get(name)
        if joint is None or joint.limits is None:
            continue
        if not joint.limits[0] <= value <= joint.limits[1]:
            word = f"length of {name}" if joint.type == "prismatic" else f"joint of {name}"
            unit = "m" if joint.type == "prismatic" else "rad"
            raise SuppleError(
                f"position {names} needs {word} at {value:.6g} {unit}, beyond its limits"
            )
    one, zero = theta[None], np.zeros(1)
    return JointSolution(theta, one, 0.0, 0.0, True, "Newton's method", one, zero)


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
