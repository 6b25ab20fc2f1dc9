"""Closures: rows c = 0 that tie the open ends of a tree into loops, in any scalars.

Which rows a closure has is said in one place, `architectures.closing`; here they are written in
the scalars of the equations, where links bend.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...architectures.closing import Loop, loops_of
from ...kernels.scalars import (
    Matrix,
    Scalar,
    Vector,
    add,
    dot,
    matmul,
    matvec,
    mul,
    negate,
    scale,
    sub,
    transpose,
    vadd,
)
from ...robot import MechanismRobot
from ..chains.chain import mimics
from ..chains.chain_equations import Laws, base_frame, section_frame
from ..chains.tree import sections_of
from ..evaluate import casadi

__all__ = ["closure_ends", "closure_rows", "rows_between"]

Array = NDArray[np.float64]
Frame = tuple[Vector, Matrix]


def closure_rows(robot: MechanismRobot, laws: Laws, z: Vector) -> list[list[Scalar]]:
    """Return the rows of every closure at tree coordinates z; rows out of the plane left out.

    Those of an arm are of joints that follow others.
    """
    if mimics(laws.chain):
        return [[sub(z[k], add(mul(a, z[j]), b))] for k, j, a, b in mimics(laws.chain)]
    return [
        rows_between(loop, a, b, length) for loop, (a, b), length in closure_ends(robot, laws, z)
    ]


def closure_ends(
    robot: MechanismRobot, laws: Laws, z: Vector
) -> list[tuple[Loop, tuple[Frame, Frame], Scalar]]:
    """Return each closure with the two frames that it ties, base axes, and its length."""
    if mimics(laws.chain):  # these tie no frames: their efforts act between links, in the joints
        return []
    frames, sections, base = laws.frames(z), sections_of(robot), base_frame(laws.chain, z)
    out = []
    for loop in loops_of(robot):
        ends = []
        for k, i in enumerate(loop.ends):
            p, R = base if i < 0 else section_frame(laws.chain, frames, i, sections[i, loop.at[k]])
            place = vadd(p, matvec(R, _listed(loop.p[k])))
            ends.append((place, matmul(R, _listed(loop.R[k]))))
        length = z[laws.chain.motors.index(loop.name)] if loop.motor else loop.length
        out.append((loop, (ends[0], ends[1]), length))
    return out


def rows_between(loop: Loop, a: Frame, b: Frame, length: Scalar) -> list[Scalar]:
    """Return the rows of one closure between two frames, as `Loop.opening` has them."""
    back = transpose(a[1])
    place = matvec(back, vadd(b[0], negate(a[0])))
    if loop.rod:
        return [sub(casadi().sqrt(dot(place, place)), length)]
    rows = [dot(e, place) for e in _listed(loop.E.T)]
    if loop.turn == "none":
        return rows
    Q = matmul(back, b[1])
    if loop.turn == "square":
        return [*rows, dot(_listed(loop.a), matvec(Q, _listed(loop.b)))]
    if loop.turn == "axis":
        turned = matvec(Q, _listed(loop.a))
    else:
        pairs = ((2, 1), (0, 2), (1, 0))
        turned = scale(0.5, [sub(Q[i][j], Q[j][i]) for i, j in pairs])
    return [*rows, *(dot(t, turned) for t in _listed(loop.T.T))]


def _listed(A: Array) -> Any:
    """Nested list with rounding noise dropped."""
    return np.where(np.abs(A) < 1e-15, 0.0, A).tolist()
