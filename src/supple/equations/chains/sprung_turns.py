"""Springs of a joint's turns and of the bearing under them, with nothing between: in series.

A universal or spherical joint turns about three axes one after the other, A = [a1, a2, a3] in
mounted axes at their angles; of a universal one the middle axis is that of its cross, n = a x b,
about which its bearing alone turns. With B = A^-1, u the bearing's displacements, C its compliance,
K0 = C_tt^-1, G = K0 C_tr and S = C_rr - C_rt K0 C_tr, the energy is

    u' K0 u / 2 + e' F^-1 e / 2,    e = x - B G' u,    F = diag(1 / k) + B S B',

over the turns x from rest that something holds: k is the joint's spring, without end for the cross.
That is where the angles between bearing and joint settle, to the first order of the bearing's turn.
The first part is constant and stands with the other springs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.scalars import (
    Matrix,
    Scalar,
    Vector,
    add,
    axis_rotation,
    cross,
    dot,
    matmul,
    matvec,
    mul,
    scale,
    sub,
    transpose,
    vadd,
)

__all__ = ["BearingCoupling", "SprungTurns", "under"]

Array = NDArray[np.float64]


class BearingCoupling(NamedTuple):
    """What a joint that turns feels of its bearing: G (t, 3) and S (3, 3), mounted axes."""

    G: list[Vector]
    S: list[Vector]


class SprungTurns(NamedTuple):
    """The springs of one joint on its bearing.

    Attributes:
        turns: places in q of the three turns, outermost first; -1: one that stays at zero.
        moves: places of u.  axes: (3, 3), those of the turns before they turn, mounted axes.
        stiffness: (3,), the joint's; 0: it holds nothing there, inf: it does not turn.
        rest: (3,), where it is unloaded.  bearing: what is under it.
    """

    turns: tuple[int, int, int]
    moves: tuple[int, ...]
    axes: list[Vector]
    stiffness: tuple[float, float, float]
    rest: tuple[float, float, float]
    bearing: BearingCoupling

    @property
    def places(self) -> tuple[int, ...]:
        """Places in q of all that it holds."""
        return (*(k for k in self.turns if k >= 0), *self.moves)

    def _axes_and_rates(self, angles: Vector) -> tuple[Matrix, Matrix]:
        """A, its axes one below the other, and the rows of B."""
        R = axis_rotation(self.axes[0], angles[0])
        second = matvec(R, self.axes[1])
        third = matvec(matmul(R, axis_rotation(self.axes[1], angles[1])), self.axes[2])
        A = [self.axes[0], second, third]
        each = [cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])]
        size = 1.0 / dot(A[0], each[0])
        return A, [scale(size, row) for row in each]

    def _sprung_axes(self) -> list[int]:
        """Which turns something holds."""
        return [k for k in range(3) if self.stiffness[k] > 0 and self.turns[k] >= 0]

    def _flexible(self, B: Matrix) -> Matrix:
        """F over the turns that are held."""
        SB = [matvec(self.bearing.S, row) for row in B]
        held = self._sprung_axes()
        F = [[dot(B[i], SB[j]) for j in held] for i in held]
        for n, k in enumerate(held):
            F[n][n] = add(F[n][n], 1.0 / self.stiffness[k])
        return F

    def _spring_extension(self, q: Vector, B: Matrix) -> Vector:
        """e over the turns that are held."""
        turned: Vector = [0.0] * 3
        if self.moves:
            turned = matvec(transpose(self.bearing.G), [q[k] for k in self.moves])
        at = [(k, sub(q[self.turns[k]], self.rest[k])) for k in self._sprung_axes()]
        return [sub(x, dot(B[k], turned)) for k, x in at]

    def spring_energy(self, q: Vector) -> Scalar:
        """Return the energy of the turns."""
        _, B = self._axes_and_rates([q[k] if k >= 0 else 0.0 for k in self.turns])
        e = self._spring_extension(q, B)
        return mul(0.5, dot(e, _solve_small(self._flexible(B), e)))

    def spring_forces(self, q: Vector) -> list[tuple[int, Scalar]]:
        """Return place and force on coordinates, dV/dq.

        With M = F^-1 e, the moment m = B' M and the bearing's turn b = G' u + S m it is, along each
        turn, M + m' (dA/dq) B b: a turn carries the axes after it.
        """
        A, B = self._axes_and_rates([q[k] if k >= 0 else 0.0 for k in self.turns])
        e, held = self._spring_extension(q, B), self._sprung_axes()
        M: Vector = [0.0] * 3
        for k, value in zip(held, _solve_small(self._flexible(B), e), strict=True):
            M[k] = value
        m = vadd(*(scale(x, row) for x, row in zip(M, B, strict=True)))
        b = matvec(self.bearing.S, m)
        if self.moves:
            b = vadd(b, matvec(transpose(self.bearing.G), [q[k] for k in self.moves]))
        along = [scale(dot(row, b), axis) for row, axis in zip(B, A, strict=True)]
        after: list[Vector] = [vadd(along[1], along[2]), along[2], [0.0] * 3]
        out = []
        for k, place in enumerate(self.turns):
            if place >= 0:
                out.append((place, add(M[k], dot(m, cross(A[k], after[k])))))
        pulls = matvec(self.bearing.G, m) if self.moves else []
        return out + list(zip(self.moves, scale(-1.0, pulls), strict=True))

    def lost(self, q: Vector, qd: Vector, rub: Any) -> list[tuple[int, Scalar]]:
        """Return nothing: damping and friction stand with the coordinates."""
        return []

    def tangent(self) -> list[Vector]:
        """Return the stiffness over its places where it is unloaded."""
        _, B = self._axes_and_rates(
            [r if k >= 0 else 0.0 for k, r in zip(self.turns, self.rest, strict=True)]
        )
        held, own = self._sprung_axes(), [k for k in range(3) if self.turns[k] >= 0]
        J = np.zeros((len(held), len(self.places)))
        for n, k in enumerate(held):
            J[n, own.index(k)] = 1.0
        if self.moves:
            J[:, len(own) :] = -np.array([B[k] for k in held]) @ np.array(self.bearing.G).T
        stiff: list[Vector] = (J.T @ np.linalg.solve(np.array(self._flexible(B)), J)).tolist()
        return stiff


def _solve_small(F: Matrix, e: Vector) -> Vector:
    """F^-1 e of a small positive matrix, by elimination."""
    F, e, n = [list(row) for row in F], list(e), len(e)
    for k in range(n):
        for i in range(k + 1, n):
            times = F[i][k] / F[k][k]
            F[i] = [sub(x, mul(times, y)) for x, y in zip(F[i], F[k], strict=True)]
            e[i] = sub(e[i], mul(times, e[k]))
    for k in reversed(range(n)):
        e[k] = sub(e[k], dot(F[k][k + 1 :], e[k + 1 :])) / F[k][k]
    return e


def under(columns: Array, K: Array) -> tuple[Array, Array, BearingCoupling]:
    """Return displacements (6, t) of a bearing, K0 (t, t), and what a joint that turns feels of it.

    `columns`, `K`: of the bearing, mounted axes.
    """
    C = columns @ np.linalg.solve(K, columns.T)
    soft = [k for k in range(3) if C[k, k] > 0]
    K0 = np.linalg.inv(C[np.ix_(soft, soft)])
    G = K0 @ C[soft, 3:]
    S = C[3:, 3:] - C[3:][:, soft] @ G
    return np.eye(6)[:, soft], K0, BearingCoupling(G.tolist(), ((S + S.T) / 2).tolist())
