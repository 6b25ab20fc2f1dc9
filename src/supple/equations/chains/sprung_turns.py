"""Springs of a joint's turns and of the bearing under them, in series without a mass between.

A universal or spherical joint turns about three axes one after the other, A = [a1, a2, a3] in
mounted axes at their angles; of a universal one the middle axis is that of its cross, n = a x b,
about which its bearing alone turns. With B = A^-1, u the bearing's displacements, C its compliance,
K0 = C_tt^-1, G = K0 C_tr and S = C_rr - C_rt K0 C_tr, the energy is

    u' K0 u / 2 + e' F^-1 e / 2,    e = x - B G' u,    F = diag(1 / k) + B S B',

over the turns x from rest that have a spring: k is that of the joint, infinite for the cross. The
angles between bearing and joint are those of least energy, to first order of the bearing's turn.
The first part is constant and belongs to the other springs, in K.
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
    """Effect of a bearing on the joint that turns on it: G (t, 3) and S (3, 3), mounted axes."""

    G: list[Vector]
    S: list[Vector]


class SprungTurns(NamedTuple):
    """The springs of one joint on its bearing.

    Attributes
    ----------
    turns
        Places in q of the three turns, outermost first; -1 for one that stays at zero.
    moves
        Places in q of the bearing's displacements u.
    axes
        (3, 3), axes of the turns at zero angles, mounted axes.
    stiffness
        (3,), of the joint; 0 for a turn without spring, inf for one that is fixed.
    rest
        (3,), unloaded angles.
    bearing
        The bearing under the joint.
    """

    turns: tuple[int, int, int]
    moves: tuple[int, ...]
    axes: list[Vector]
    stiffness: tuple[float, float, float]
    rest: tuple[float, float, float]
    bearing: BearingCoupling

    @property
    def places(self) -> tuple[int, ...]:
        """Places in q of all coordinates that it acts on."""
        return (*(k for k in self.turns if k >= 0), *self.moves)

    def _axes_and_rates(self, angles: Vector) -> tuple[Matrix, Matrix]:
        """Rows of A', which are the axes, and rows of B."""
        R = axis_rotation(self.axes[0], angles[0])
        second = matvec(R, self.axes[1])
        third = matvec(matmul(R, axis_rotation(self.axes[1], angles[1])), self.axes[2])
        A = [self.axes[0], second, third]
        cofactors = [cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])]
        inverse_determinant = 1.0 / dot(A[0], cofactors[0])
        return A, [scale(inverse_determinant, row) for row in cofactors]

    def _sprung_axes(self) -> list[int]:
        """Which turns have a spring."""
        return [k for k in range(3) if self.stiffness[k] > 0 and self.turns[k] >= 0]

    def _flexible(self, B: Matrix) -> Matrix:
        """F over the turns that have a spring."""
        SB = [matvec(self.bearing.S, row) for row in B]
        sprung = self._sprung_axes()
        F = [[dot(B[i], SB[j]) for j in sprung] for i in sprung]
        for n, k in enumerate(sprung):
            F[n][n] = add(F[n][n], 1.0 / self.stiffness[k])
        return F

    def _spring_extension(self, q: Vector, B: Matrix) -> Vector:
        """e over the turns that have a spring."""
        turned: Vector = [0.0] * 3
        if self.moves:
            turned = matvec(transpose(self.bearing.G), [q[k] for k in self.moves])
        extension: Vector = []
        for k in self._sprung_axes():
            x = sub(q[self.turns[k]], self.rest[k])
            extension.append(sub(x, dot(B[k], turned)))
        return extension

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
        e = self._spring_extension(q, B)
        M: Vector = [0.0] * 3
        moments = _solve_small(self._flexible(B), e)
        for k, value in zip(self._sprung_axes(), moments, strict=True):
            M[k] = value
        m = vadd(*(scale(x, row) for x, row in zip(M, B, strict=True)))
        b = matvec(self.bearing.S, m)
        if self.moves:
            b = vadd(b, matvec(transpose(self.bearing.G), [q[k] for k in self.moves]))
        along = [scale(dot(row, b), axis) for row, axis in zip(B, A, strict=True)]
        later_turns: list[Vector] = [vadd(along[1], along[2]), along[2], [0.0] * 3]
        forces = []
        for k, place in enumerate(self.turns):
            if place >= 0:
                forces.append((place, add(M[k], dot(m, cross(A[k], later_turns[k])))))
        on_bearing = matvec(self.bearing.G, m) if self.moves else []
        return forces + list(zip(self.moves, scale(-1.0, on_bearing), strict=True))

    def lost(self, q: Vector, qd: Vector, rub: Any) -> list[tuple[int, Scalar]]:
        """Return nothing: damping and friction are those of the coordinates."""
        return []

    def tangent(self) -> list[Vector]:
        """Return the stiffness over its places at the unloaded angles."""
        rest = [angle if k >= 0 else 0.0 for k, angle in zip(self.turns, self.rest, strict=True)]
        _, B = self._axes_and_rates(rest)
        sprung = self._sprung_axes()
        moving = [k for k in range(3) if self.turns[k] >= 0]
        J = np.zeros((len(sprung), len(self.places)))  # de/dq
        for n, k in enumerate(sprung):
            J[n, moving.index(k)] = 1.0
        if self.moves:
            sprung_rows = np.array([B[k] for k in sprung])
            J[:, len(moving) :] = -sprung_rows @ np.array(self.bearing.G).T
        F: Array = np.array(self._flexible(B))
        stiffness: list[Vector] = (J.T @ np.linalg.solve(F, J)).tolist()
        return stiffness


def _solve_small(F: Matrix, e: Vector) -> Vector:
    """F^-1 e of a small positive matrix, by elimination."""
    F = [list(row) for row in F]
    e = list(e)
    n = len(e)
    for k in range(n):
        for i in range(k + 1, n):
            factor = F[i][k] / F[k][k]
            F[i] = [sub(x, mul(factor, y)) for x, y in zip(F[i], F[k], strict=True)]
            e[i] = sub(e[i], mul(factor, e[k]))
    for k in reversed(range(n)):
        e[k] = sub(e[k], dot(F[k][k + 1 :], e[k + 1 :])) / F[k][k]
    return e


def under(columns: Array, K: Array) -> tuple[Array, Array, BearingCoupling]:
    """Return displacements (6, t) of a bearing, K0 (t, t), and its effect on a joint that turns.

    `columns`, `K`: directions (6, springs) and stiffness of the bearing, mounted axes.
    """
    C = columns @ np.linalg.solve(K, columns.T)
    soft = [k for k in range(3) if C[k, k] > 0]  # axes along which it gives way
    K0 = np.linalg.inv(C[np.ix_(soft, soft)])
    G = K0 @ C[soft, 3:]
    S = C[3:, 3:] - C[3:][:, soft] @ G
    return np.eye(6)[:, soft], K0, BearingCoupling(G.tolist(), ((S + S.T) / 2).tolist())
