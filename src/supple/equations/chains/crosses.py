"""Cross: a bearing that turns under a universal joint, its springs on what the joint lets pass.

The joint carries no moment about its two axes a and b', so that of its bearing's rotations only
that about n' = a x b' is left: a turn c of the cross, between the joint's own two. With the
bearing's compliance C, u its displacements, K0 = C_tt^-1, G = K0 C_tr and
S = C_rr - C_rt K0 C_tr, the energy is

    u' K0 u / 2 + (c - u' G n')^2 / (2 n'S n'),    n' = n cos q1 + (a x n) sin q1,

q1 the joint's first turn. The first part is constant and stands with the other springs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.scalars import Scalar, Vector, cos, dot, matvec, mul, scale, sin, sub, vadd

__all__ = ["Cross", "crossed"]

Array = NDArray[np.float64]


class Cross(NamedTuple):
    """The springs of one bearing.

    Attributes:
        places: in q of q1, u and c, in this order.  n, across: (3,), n and a x n, mounted axes.
        G: (t, 3).  S: (3, 3).  rest: q1 where the robot is assembled.  damping, friction: none.
    """

    places: tuple[int, ...]
    n: Vector
    across: Vector
    G: list[Vector]
    S: list[Vector]
    rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0

    def parts(self, q1: Scalar) -> tuple[Vector, Vector, Scalar, Scalar]:
        """Return -G n' with 1 after it, its slope along q1, n'S n', and half the slope of that."""
        c, s = cos(q1), sin(q1)
        n = vadd(scale(c, self.n), scale(s, self.across))
        turned = vadd(scale(c, self.across), scale(mul(-1.0, s), self.n))
        Sn = matvec(self.S, n)
        row, slope = (scale(-1.0, matvec(self.G, x)) if self.G else [] for x in (n, turned))
        return [*row, 1.0], [*slope, 0.0], dot(n, Sn), dot(turned, Sn)

    def stored(self, q: Vector) -> Scalar:
        """Return the energy of the turn."""
        row, _, s, _ = self.parts(q[self.places[0]])
        r = dot(row, [q[k] for k in self.places[1:]])
        return mul(0.5, mul(r, r) / s)

    def held(self, q: Vector) -> list[tuple[int, Scalar]]:
        """Return place and force on coordinates, dV/dq."""
        x = [q[k] for k in self.places[1:]]
        row, slope, s, half = self.parts(q[self.places[0]])
        M = dot(row, x) / s
        first = sub(mul(M, dot(slope, x)), mul(half, mul(M, M)))
        return list(zip(self.places, [first, *scale(M, row)], strict=True))

    def tangent(self) -> list[Vector]:
        """Return the stiffness over its places where nothing gives way."""
        row, _, s, _ = self.parts(self.rest)
        rows = [[a * b / s for b in row] for a in row]
        return [[0.0] * (1 + len(row)), *([0.0, *each] for each in rows)]


def crossed(columns: Array, K: Array, axes: tuple[Array, Array]) -> tuple[Array, Array, Cross]:
    """Return displacements (6, t) and stiffness of [u, c], and the Cross, its places still open.

    `columns`, `K`: of the bearing, mounted axes; `axes`: of the joint, at zero.
    """
    C = columns @ np.linalg.solve(K, columns.T)
    soft = [k for k in range(3) if C[k, k] > 0]
    K0 = np.linalg.inv(C[np.ix_(soft, soft)])
    G = K0 @ C[soft, 3:]
    S = C[3:, 3:] - C[3:][:, soft] @ G
    a = axes[0]
    n = np.cross(a, axes[1])
    n /= np.linalg.norm(n)
    held = np.pad(K0, (0, 1))
    made = Cross((), n.tolist(), np.cross(a, n).tolist(), G.tolist(), S.tolist())
    return np.eye(6)[:, soft], held, made
