"""Closures: rows c = 0 that tie the open ends of a tree into loops, in any scalars."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.scalars import (
    Matrix,
    Scalar,
    Vector,
    dot,
    matmul,
    matvec,
    scale,
    sub,
    transpose,
    vadd,
)
from ...kernels.spatial import rpy_rotation
from ...robot import Closure, ClosureEnd, MechanismRobot
from ..chains.chain_equations import Frames, Laws, base_frame, section_frame
from ..chains.tree import Sections, sections_of
from ..evaluate import casadi

__all__ = ["closure_ends", "closure_rows", "rows_between"]

Array = NDArray[np.float64]
Frame = tuple[Vector, Matrix]


def closure_rows(robot: MechanismRobot, laws: Laws, z: Vector) -> list[list[Scalar]]:
    """Return the rows of every closure at tree coordinates z; rows out of the plane left out.

    Place rows are R_a' (p_b - p_a), all or those across `axis`. Turn rows: the skew part of
    R_a' R_b (fixed, prismatic), t . R_a' R_b axis for t across `axis` (revolute, cylindrical),
    R_a a . R_b b (universal). A distance is |p_b - p_a| - length.
    """
    each = zip(robot.closures, closure_ends(robot, laws, z), strict=True)
    return [rows_between(robot, closure, a, b, length) for closure, ((a, b), length) in each]


def closure_ends(
    robot: MechanismRobot, laws: Laws, z: Vector
) -> list[tuple[tuple[Frame, Frame], Scalar]]:
    """Return the two frames that each closure ties, base axes, and its length."""
    frames, sections, base = laws.frames(z), sections_of(robot), base_frame(laws.chain, z)
    names = laws.chain.motors
    out = []
    for i, closure in enumerate(robot.closures):
        a, b = (_end(robot, laws, (frames, base), sections, end) for end in closure.ends)
        length: Scalar = closure.length
        if closure.motor:
            length = z[names.index(robot.closure_name(i))]
        out.append(((a, b), length))
    return out


def rows_between(
    robot: MechanismRobot, closure: Closure, a: Frame, b: Frame, length: Scalar
) -> list[Scalar]:
    """Return the rows of one closure between two frames."""
    return _planar(closure, a, b, length) if robot.planar else _rows(closure, a, b, length)


def _end(
    robot: MechanismRobot,
    laws: Laws,
    frames: tuple[Frames, Frame],
    sections: Sections,
    end: ClosureEnd,
) -> Frame:
    """Place and axes of one end of a closure, seen from the ground."""
    i = robot.end_index(end)
    p, R = frames[1]
    if i >= 0:
        p, R = section_frame(laws.chain, frames[0], i, sections[i, end.at])
    mount = _listed(rpy_rotation(end.mount.rpy))
    return vadd(p, matvec(R, [float(x) for x in end.mount.xyz])), matmul(R, mount)


def _listed(A: Array) -> Any:
    """Nested list with rounding noise dropped."""
    return np.where(np.abs(A) < 1e-15, 0.0, A).tolist()


def _across(axis: Array) -> list[Vector]:
    """Two unit vectors square to an axis and to each other."""
    first = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    first = first / np.linalg.norm(first)
    return [_listed(first), _listed(np.cross(axis, first))]


def _rows(closure: Closure, a: Frame, b: Frame, length: Scalar) -> list[Scalar]:
    """The rows of one closure in space."""
    between = vadd(b[0], scale(-1.0, a[0]))
    back = transpose(a[1])
    place = matvec(back, between)
    if closure.type == "distance":
        return [sub(_root(dot(place, place)), length)]
    if closure.type == "spherical":
        return place
    if closure.type == "universal":
        first, second = closure.directions
        return [*place, dot(matvec(a[1], first.tolist()), matvec(b[1], second.tolist()))]
    E = matmul(back, b[1])
    skew = [
        scale(0.5, [sub(E[2][1], E[1][2])])[0],
        scale(0.5, [sub(E[0][2], E[2][0])])[0],
        scale(0.5, [sub(E[1][0], E[0][1])])[0],
    ]
    if closure.type == "fixed":
        return [*place, *skew]
    across, axis = _across(closure.direction), _listed(closure.direction)
    beside = [dot(t, place) for t in across]
    if closure.type == "slot":
        return beside
    if closure.type == "prismatic":
        return [*beside, *skew]
    tilt = [dot(t, matvec(E, axis)) for t in across]
    return [*place, *tilt] if closure.type == "revolute" else [*beside, *tilt]


def _planar(closure: Closure, a: Frame, b: Frame, length: Scalar) -> list[Scalar]:
    """The rows of one closure in the plane: x, y and the turn about z."""
    between = vadd(b[0], scale(-1.0, a[0]))
    place = matvec(transpose(a[1]), between)[:2]
    if closure.type == "distance":
        return [sub(_root(dot(place, place)), length)]
    if closure.type in ("spherical", "universal"):
        return place
    E = matmul(transpose(a[1]), b[1])
    axis = closure.direction
    inside = float(np.hypot(axis[0], axis[1])) > 0.5  # an axis in the plane, or square to it
    across = [-float(axis[1]), float(axis[0])]
    turn = [E[1][0]]
    if closure.type == "fixed":
        return [*place, *turn]
    if closure.type == "prismatic":
        return [dot(across, place), *turn] if inside else [*place, *turn]
    if closure.type == "slot":
        return [dot(across, place)] if inside else place
    if closure.type == "revolute":
        return [*place, *turn] if inside else place
    return [dot(across, place), *turn] if inside else place


def _root(x: Scalar) -> Scalar:
    ca = casadi()
    return ca.sqrt(x)
