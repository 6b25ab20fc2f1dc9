"""A beam as a chain of short pieces at any squared frequency, real or complex, many at once.

Each piece is so short that all its clamped frequencies lie above the highest requested frequency,
so its stiffness has no pole there and is analytic in omega^2. The unknowns of a link are the
end deformations d of its pieces, w = (d_1, .., d_k), with u_end = X u_root + S w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import transport
from .dynamic_stiffness import cuts
from .series import series_of
from .theory import AnyBeam, Beam
from .varying import VaryingBeam

__all__ = ["Pieces", "cut_into_pieces"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
EXPONENTIAL_TERMS = 30  # of the exponential's series: a piece is at most 0.9 pi of a wave long


@dataclass(frozen=True)
class Pieces:
    """A beam cut at stations x (k + 1,); `active` (6,): which end deformations are allowed."""

    beam: AnyBeam
    x: Array
    active: NDArray[np.bool_]

    @property
    def ends(self) -> Array:
        """S (6, k m): how the deformations of the pieces move the beam's end."""
        moved = transport(self.x[-1] - self.x[1:]) @ np.eye(6)[:, self.active]
        S: Array = np.concatenate(list(moved), axis=1) if len(moved) else np.zeros((6, 0))
        return S

    def roots(self) -> Array:
        """(k, 6, 6 + k m): motion of each piece's root over (u_root, w)."""
        m = int(self.active.sum())
        k = len(self.x) - 1
        rows = np.zeros((k, 6, 6 + k * m))
        for i in range(k):
            rows[i, :, :6] = transport(self.x[i])
            for j in range(i):
                moved = transport(self.x[i] - self.x[j + 1]) @ np.eye(6)[:, self.active]
                rows[i, :, 6 + j * m : 6 + (j + 1) * m] = moved
        return rows

    def form(self, w2: Complex, loss: complex = 1.0) -> Complex:
        """Return the dynamic stiffness over (u_root, w) at squared frequencies w2, (F, n, n).

        loss multiplies every stiffness, 1 + i eta for structural damping. With the piece's transfer
        matrix [[A, B], [C, D]] of (motion, resultants): f_0 = B^-1 (d - (A - X) u_0), and the
        forces on (u_0, d) are X' f_1 - f_0 and f_1.
        """
        m = int(self.active.sum())
        k = len(self.x) - 1
        out = np.zeros((len(w2), 6 + k * m, 6 + k * m), complex)
        rows = self.roots()
        for i in range(k):
            h = float(self.x[i + 1] - self.x[i])

            # (u_0, d) of this piece over (u_root, w)
            pick = np.zeros((6 + m, 6 + k * m))
            pick[:6] = rows[i]
            pick[6:, 6 + i * m : 6 + (i + 1) * m] = np.eye(m)

            T = self.transfer(i, h, w2, loss)
            f0 = self._root_forces(T, h)
            f1 = T[:, 6:, 6:] @ f0
            f1[:, :, :6] += T[:, 6:, :6]
            piece = np.empty((len(w2), 6 + m, 6 + m), complex)
            piece[:, :6] = transport(h).T @ f1 - f0
            piece[:, 6:] = f1[:, self.active]
            symmetric = np.asarray((piece + np.swapaxes(piece, 1, 2)) / 2)
            out += pick.T @ symmetric @ pick
        return out

    def _root_forces(self, T: Complex, h: float) -> Complex:
        """(F, 6, 6 + m): resultants at a piece's root over (u_0, d), zero for rigid motions."""
        active = self.active
        B_inverse = np.linalg.inv(T[:, :6, 6:][:, active][:, :, active])
        f0 = np.zeros((len(T), 6, 6 + int(active.sum())), complex)
        f0[:, active, :6] = -B_inverse @ (T[:, :6, :6] - transport(h))[:, active]
        f0[:, active, 6:] = B_inverse
        return f0

    def forces(self, x: float, w2: Complex, loss: complex = 1.0) -> Complex:
        """Return the resultants (N, Q_y, Q_z, T, M_y, M_z) at x over (u_root, w), (F, 6, n)."""
        i = min(int(np.searchsorted(self.x, x, side="right")) - 1, len(self.x) - 2)
        m = int(self.active.sum())
        h = float(self.x[i + 1] - self.x[i])

        # Resultants at x over (u_0, d) of this piece
        f0 = self._root_forces(self.transfer(i, h, w2, loss), h)
        to_x = self.transfer(i, x - float(self.x[i]), w2, loss)
        at_x = to_x[:, 6:, 6:] @ f0
        at_x[:, :, :6] += to_x[:, 6:, :6]

        out: Complex = at_x[:, :, :6] @ self.roots()[i]
        out[:, :, 6 + i * m : 6 + (i + 1) * m] += at_x[:, :, 6:]
        return out

    def transfer(self, i: int, h: float, w2: Complex, loss: complex = 1.0) -> Complex:
        """Return exp(A h), (F, 12, 12): the state at h from the root of piece i.

        Of a varying beam by its power series, with stiffnesses times `loss` as forces times `loss`
        at omega^2 / loss.
        """
        if isinstance(self.beam, VaryingBeam):
            piece = self.beam.part(float(self.x[i]), float(self.x[i + 1]))
            scale = np.repeat([1.0, loss], 6)
            own = series_of(piece).transfer(w2 / loss, None if h == piece.L else h)
            return np.asarray(own * scale[:, None] / scale)
        assert isinstance(self.beam, Beam)
        # A (F, 12, 12) of `dynamic_stiffness.state_matrix`, at complex squared frequencies
        beam = self.beam
        A = np.zeros((len(w2), 12, 12), complex)
        # compliances
        A[:, 0, 6] = 1 / beam.EA / loss
        A[:, 1, 7] = 1 / beam.kGA[0] / loss
        A[:, 2, 8] = 1 / beam.kGA[1] / loss
        A[:, 3, 9] = 1 / beam.GJ / loss
        A[:, 4, 10] = 1 / beam.EI[1] / loss
        A[:, 5, 11] = 1 / beam.EI[0] / loss
        # rotations move the axis, shear forces bend
        A[:, 1, 5] = 1
        A[:, 2, 4] = -1
        A[:, 10, 8] = 1
        A[:, 11, 7] = -1
        # inertia
        for axis in range(3):
            A[:, 6 + axis, axis] = -w2 * beam.m
        A[:, 9, 3] = -w2 * beam.rIp
        A[:, 10, 4] = -w2 * beam.rI[1]
        A[:, 11, 5] = -w2 * beam.rI[0]

        # The exponential's series
        A *= h
        T = np.broadcast_to(np.eye(12, dtype=complex), A.shape).copy()
        term = T.copy()
        for k in range(1, EXPONENTIAL_TERMS):
            term = A @ term / k
            T += term
        return T


def cut_into_pieces(beam: AnyBeam, L: float, omega: float) -> Pieces:
    """Return the last L metres of a beam in pieces without a clamped frequency up to omega."""
    free = beam.outside(L)
    return Pieces(free, cuts(free, omega), beam.active())
