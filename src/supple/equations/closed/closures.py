"""Closures: rows c = 0 that tie the open ends of a tree into loops, in any scalars.

Which rows a closure has is said in one place, `architectures.closing`; here they are written in
the scalars of the equations, where links bend.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    negate,
    scale,
    sub,
    transpose,
    vadd,
)
from ...robot import MechanismRobot
from ..chains.chain import Chain
from ..chains.chain_equations import base_frame
from ..chains.tree import sections_of
from ..evaluate import casadi
from .unbent import Unbent

__all__ = ["ClosedPair", "closure_ends", "rows_between"]

Array = NDArray[np.float64]
Frame = tuple[Vector, Matrix]


@dataclass(frozen=True)
class ClosedPair:
    """A closure with the two frames that it ties, base axes, and the length of a rod."""

    loop: Loop
    ends: tuple[Frame, Frame]
    length: Scalar


def closure_ends(
    robot: MechanismRobot,
    chain: Chain,
    z: Vector,
    at: Callable[[int, int], Frame],
    unbent: Unbent | None = None,
) -> list[ClosedPair]:
    """Return the closures at tree coordinates z; `at` gives section k of link i.

    Constant-velocity ones are read from the `unbent` robot, where there is a closed form of it:
    their first frame is turned with its link as the second one stands there.
    """
    sections = sections_of(robot)
    base = base_frame(chain, z)
    there = unbent.coordinates(casadi().vertcat(*z[: len(chain.motors)])) if unbent else []
    out = []
    for loop, closure in zip(loops_of(robot), robot.closures, strict=True):
        ends = []
        for k, i in enumerate(loop.ends):
            p, R = base if i < 0 else at(i, sections[i, loop.at[k]])
            place = vadd(p, matvec(R, _clean_list(loop.p[k])))
            turned = _clean_list(loop.R[k])
            if unbent and closure.type == "constant-velocity" and k == 0:
                turned = unbent.relative_rotation(loop, there)
            ends.append((place, matmul(R, turned)))
        length: Any = z[chain.motors.index(loop.name)] if loop.motor else loop.length
        if loop.stiffness is not None:
            length = add(length, z[chain.rod_eps[loop.name]])
        out.append(ClosedPair(loop, (ends[0], ends[1]), length))
    return out


def rows_between(tied: ClosedPair) -> list[Scalar]:
    """Return the rows of one closure, as `Loop.opening` has them; rows out of the plane left out.

    Where it holds the place in all directions they are the base's.
    """
    loop, (a, b) = tied.loop, tied.ends
    back = transpose(a[1])
    gap = vadd(b[0], negate(a[0]))
    if loop.rod:
        return [sub(casadi().sqrt(dot(gap, gap)), tied.length)]
    place = gap if loop.E.shape[1] == 3 else matvec(back, gap)
    rows = [dot(e, place) for e in _clean_list(loop.E.T)]
    if loop.turn == "none":
        return rows
    Q = matmul(back, b[1])
    if loop.turn == "square":
        return [*rows, dot(_clean_list(loop.a), matvec(Q, _clean_list(loop.b)))]
    if loop.turn == "axis":
        turned = matvec(Q, _clean_list(loop.a))
    else:
        pairs = ((2, 1), (0, 2), (1, 0))
        turned = scale(0.5, [sub(Q[i][j], Q[j][i]) for i, j in pairs])
    return [*rows, *(dot(t, turned) for t in _clean_list(loop.T.T))]


def _clean_list(A: Array) -> Any:
    """Nested list with rounding noise dropped."""
    return np.where(np.abs(A) < 1e-15, 0.0, A).tolist()
