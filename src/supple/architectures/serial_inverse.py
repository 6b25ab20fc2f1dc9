"""Inverse kinematics of one open chain: joint coordinates that put its tip at a pose.

In closed form for two turning joints with parallel axes (three with the attitude);
else by Newton's method on f = (|p_d - p|^2 / l^2 + |phi|^2) / 2, phi the rotation vector of
R_d R' and l the arm's reach, from many starts at once, inside the joints' limits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import axis_rotation, cross, rotation_vector
from ..robot import SerialRobot
from .serial import place

__all__ = ["Tries", "box", "closed_form", "errors", "least_squares", "reach"]

Array = NDArray[np.float64]
MAX_ITERATIONS = 100
MAX_STEP = 1.0  # rad or m
CONVERGED_ROOT = 1e-13  # of the square root of f: only rounding remains


class Tries(NamedTuple):
    """Where B searches ended: theta (B, joints), position error (B,) m, rotation error (B,) rad."""

    theta: Array
    position_error: Array
    rotation_error: Array


def reach(robot: SerialRobot, least: float = 1.0) -> float:
    """Return the largest possible distance of the tip from the first joint, m.

    All parts end to end; `least` where that is zero, so that one may divide by it.
    """
    lengths = [(link.length or 0.0) for link in robot.links]
    lengths += [float(np.linalg.norm(link.joint.mount.xyz)) for link in robot.links[1:]]
    return sum(lengths) or least


def box(robot: SerialRobot) -> tuple[Array, Array]:
    """Return the lowest and highest joint coordinates, (joints,) each; infinite without limits.

    Of a sliding link at least a thousandth and at most all of its length is outside.
    """
    low = []
    high = []
    for link in robot.moving:
        lowest, highest = robot.limits(link) or (-np.inf, np.inf)
        if link.joint.type == "prismatic":
            length = link.length or 0.0
            lowest = max(lowest, 1e-3 * length)
            highest = min(highest, length)
        low.append(lowest)
        high.append(highest)
    return np.array(low), np.array(high)


def errors(robot: SerialRobot, theta: Array, position: Array, rotation: Array | None) -> Tries:
    """Return the errors of the tip's pose at joint coordinates (B, joints)."""
    placed = place(robot, theta)
    position_error = np.linalg.norm(position - placed.tip, axis=-1)
    rotation_error = np.zeros(len(theta))
    if rotation is not None:
        remaining_turn = rotation @ np.swapaxes(placed.R[:, -1], 1, 2)
        rotation_error = np.linalg.norm(rotation_vector(remaining_turn), axis=-1)
    return Tries(theta, position_error, rotation_error)


class _Model(NamedTuple):
    """f and its exact derivatives at B configurations: (B,), (B, n), (B, n, n)."""

    f: Array
    gradient: Array
    hessian: Array


def _model(
    robot: SerialRobot, theta: Array, position: Array, rotation: Array | None, l: float
) -> _Model:
    """f, its gradient and its Hessian.

    With columns v_j, w_j of the geometric Jacobian, i <= j: d^2 p / dq_i dq_j = w_i x v_j, and
    w' = sum_(i<j) w_i x w_j q_i' q_j'. phi' = -J^-1(phi) w with phi' J^-1 = phi', whose symmetric
    part is a I + (1 - a) u u', a = |phi|/2 cot(|phi|/2), u = phi / |phi|.
    """
    placed = place(robot, theta)
    jointed = [(i, link) for i, link in enumerate(robot.links) if link.joint.type != "fixed"]
    B = len(theta)
    n = len(jointed)

    # Columns of the geometric Jacobian
    V = np.zeros((B, n, 3))
    W = np.zeros((B, n, 3))
    for j, (i, link) in enumerate(jointed):
        if link.joint.type == "prismatic":
            V[:, j] = placed.R[:, i, :, 0]
        else:
            W[:, j] = placed.R[:, i] @ link.joint.direction
            V[:, j] = cross(W[:, j], placed.tip - placed.p[:, i])
    # The part of the position
    gap = (position - placed.tip) / l
    V = V / l
    f = (gap**2).sum(-1) / 2
    gradient = -np.einsum("bjx,bx->bj", V, gap)
    second = np.einsum("bijx,bx->bij", cross(W[:, :, None], V[:, None]), gap)
    H = V @ np.swapaxes(V, 1, 2) - np.triu(second) - np.swapaxes(np.triu(second, 1), 1, 2)

    # The part of the attitude
    if rotation is not None:
        phi = rotation_vector(rotation @ np.swapaxes(placed.R[:, -1], 1, 2))
        half = np.linalg.norm(phi, axis=-1) / 2
        a = np.cos(half) / np.sinc(half / np.pi)
        u = phi / np.where(half > 0, 2 * half, 1.0)[:, None]
        Wu = np.einsum("bjx,bx->bj", W, u)
        H += a[:, None, None] * (W @ np.swapaxes(W, 1, 2))
        H += (1 - a)[:, None, None] * Wu[:, :, None] * Wu[:, None, :]
        products = np.einsum("bijx,bx->bij", cross(W[:, :, None], W[:, None]), phi)
        half_products = np.triu(products, 1) / 2
        H -= half_products + np.swapaxes(half_products, 1, 2)
        f = f + (phi**2).sum(-1) / 2
        gradient = gradient - np.einsum("bjx,bx->bj", W, phi)

    if robot.coupling is not None:  # joints that follow others, linearly
        G = robot.coupling[0]
        gradient = gradient @ G
        H = G.T @ H @ G
    return _Model(f, gradient, H)


def least_squares(
    robot: SerialRobot, position: Array, rotation: Array | None, starts: Array
) -> Tries:
    """Return where Newton's method ends from each of the starts (B, joints), inside the limits.

    position (B, 3), rotation (B, 3, 3) or None: row by row, none depends on another. Negative
    curvature is turned round (|eigenvalues|), a shift grows where a step does not pay, and a
    coordinate at its limit is fixed while f would push it out.
    """
    low, high = box(robot)
    length = reach(robot)
    theta = np.clip(starts, low, high)
    model = _model(robot, theta, position, rotation, length)
    f = model.f.copy()
    gradient = model.gradient.copy()
    hessian = model.hessian.copy()
    shift = np.full(len(theta), 1e-3)

    active = np.arange(len(theta))  # the searches that go on
    for _ in range(MAX_ITERATIONS):
        # Coordinates at a limit that f would push out are fixed
        q = theta[active]
        at_low = (q <= low) & (gradient[active] > 0)
        at_high = (q >= high) & (gradient[active] < 0)
        fixed = at_low | at_high
        pull = np.where(fixed, 0.0, gradient[active])

        # A search ends at the target, at a stationary point, or where no step pays
        distance = np.sqrt(f[active])
        largest_pull = np.abs(pull).max(axis=1, initial=0.0)
        going = (distance > CONVERGED_ROOT) & (shift[active] < 1e9)
        going &= largest_pull > CONVERGED_ROOT * np.maximum(distance, CONVERGED_ROOT)
        active = active[going]
        fixed = fixed[going]
        pull = pull[going]
        q = q[going]
        if not len(active):
            break

        # The step of each search, (B, n): -|H + shift|^-1 pull on the coordinates not fixed
        free = (~fixed).astype(float)
        inner = hessian[active] * free[:, :, None] * free[:, None, :]
        values, vectors = np.linalg.eigh(inner)
        curvature = np.abs(values)
        floor = 1e-12 * curvature.max(axis=1, keepdims=True)
        curvature = np.maximum(curvature, floor) + shift[active][:, None] + 1e-300
        along_vectors = np.einsum("bij,bi->bj", vectors, pull) / curvature
        step = -np.einsum("bij,bj->bi", vectors, along_vectors)
        longest = np.abs(step).max(axis=1, keepdims=True)
        step = step * free * np.minimum(1.0, MAX_STEP / np.maximum(longest, 1e-300))

        # Try it where it promises to lower f
        pays = -np.einsum("bj,bj->b", pull, step) > 1e-16 * f[active]
        active = active[pays]
        tried = np.clip(q[pays] + step[pays], low, high)
        wanted_rotation = None if rotation is None else rotation[active]
        new = _model(robot, tried, position[active], wanted_rotation, length)

        # Keep what is better; the shift falls after a success and grows after a failure
        better = new.f < f[active]
        won = active[better]
        lost = active[~better]
        theta[won] = tried[better]
        f[won] = new.f[better]
        gradient[won] = new.gradient[better]
        hessian[won] = new.hessian[better]
        shift[won] = np.where(shift[won] < 1e-9, 0.0, shift[won] / 10)
        shift[lost] = np.maximum(10 * shift[lost], 1e-4)
    return errors(robot, theta, position, rotation)


def closed_form(robot: SerialRobot, position: Array, rotation: Array | None) -> Array | None:
    """Return every solution (S, joints) of an arm whose turning axes are parallel, or None.

    Two joints reach a place, three a place and an attitude. In the plane across the axes, with a
    from the first joint to the second, b from there to the goal w (the tip, or the third joint):
    |w|^2 = a^2 + b^2 + 2 a b cos(q2 + angle(b) - angle(a)). None: another kind of arm.
    """
    moving = robot.moving
    joints_needed = 2 if rotation is None else 3
    turning = all(link.joint.type == "revolute" for link in moving)
    if robot.coupling is not None or len(moving) != joints_needed or not turning:
        return None
    placed = place(robot, np.zeros(len(moving)))
    at = [i for i, link in enumerate(robot.links) if link.joint.type != "fixed"]
    axes = np.array([placed.R[0, i] @ robot.links[i].joint.direction for i in at])
    signs = axes @ axes[0]
    if np.abs(np.abs(signs) - 1).max() > 1e-14:
        return None
    # Unit vectors x and y across the axis, right-handed; points become complex numbers
    axis = axes[0]
    x = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = x - (x @ axis) * axis
    x = x / np.linalg.norm(x)
    y = axis_rotation(axis, np.pi / 2) @ x
    joints_and_tip = [complex(p @ x, p @ y) for p in (*placed.p[0, at], placed.tip[0])]
    w = complex(position @ x, position @ y)
    total_turn = 0.0
    if rotation is not None:
        turn = rotation @ placed.R[0, -1].T
        total_turn = float(np.arctan2(y @ turn @ x, x @ turn @ x))
        w -= (joints_and_tip[3] - joints_and_tip[2]) * np.exp(1j * total_turn)
    a = joints_and_tip[1] - joints_and_tip[0]
    b = joints_and_tip[2] - joints_and_tip[1]
    w = w - joints_and_tip[0]
    if not abs(a) or not abs(b):
        return None
    cosine = (abs(w) ** 2 - abs(a) ** 2 - abs(b) ** 2) / (2 * abs(a) * abs(b))
    if abs(cosine) > 1 + 1e-12:
        return np.empty((0, len(moving)))
    bend = np.arccos(np.clip(cosine, -1, 1))
    solutions = []
    for signed_bend in {bend, -bend}:
        second = signed_bend - np.angle(b) + np.angle(a)
        first = np.angle(w) - np.angle(a + b * np.exp(1j * second))
        angles = [first, second]
        if rotation is not None:
            angles.append(total_turn - first - second)
        solutions.append(np.array(angles) * signs)
    return np.array(solutions)
