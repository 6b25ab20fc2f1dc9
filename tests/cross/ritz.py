"""Beams on springs by polynomials and energy alone: a second way to modes and sags of robots.

Each link has its displacements and its twist as Legendre polynomials along its length, base axes
never meet: joints are constraints between the motions of two frames, bearings and foundations the
energy x' K x / 2 of what those frames move against one another. Euler-Bernoulli, twist by its
polar inertia. Nothing here is shared with the package.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import eigh, null_space


def skew(p):
    x, y, z = p
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@dataclass
class Beam:
    """A beam from p along R[:, 0]; unknowns are coefficients of u, v, w, phi."""

    R: np.ndarray
    p: np.ndarray
    L: float
    EA: float
    EI: tuple[float, float]
    GJ: float
    m: float
    rIp: float
    degree: int = 13
    at: slice | None = None

    def basis(self, x, d=0):
        out = [
            legendre.legval(2 * x / self.L - 1, legendre.legder(np.eye(self.degree + 1)[k], d))
            for k in range(self.degree + 1)
        ]
        return np.array(out) * (2 / self.L) ** d

    def motion(self, x, N):
        """(6, N) displacement and rotation of the section at x, base axes."""
        n = self.degree + 1
        P = self.basis(x)
        D = self.basis(x, 1)
        local = np.zeros((6, 4 * n))
        for k in range(3):
            local[k, k * n : (k + 1) * n] = P
        local[3, 3 * n :] = P
        local[4, 2 * n : 3 * n] = -D
        local[5, n : 2 * n] = D
        out = np.zeros((6, N))
        out[:, self.at] = np.kron(np.eye(2), self.R) @ local
        return out

    def energies(self):
        """Stiffness, mass, and the work of a unit acceleration (base axes), (4n, 4n), (4n, 3)."""
        n = self.degree + 1
        K = np.zeros((4 * n, 4 * n))
        M = np.zeros((4 * n, 4 * n))
        W = np.zeros((4 * n, 3))
        nodes, weights = legendre.leggauss(self.degree + 2)
        parts = [
            (self.EA, self.m, 1),
            (self.EI[0], self.m, 2),
            (self.EI[1], self.m, 2),
            (self.GJ, self.rIp, 1),
        ]
        for t, w in zip((nodes + 1) / 2 * self.L, weights * self.L / 2, strict=True):
            for k, (stiff, mass, d) in enumerate(parts):
                own = slice(k * n, (k + 1) * n)
                P = self.basis(t)
                D = self.basis(t, d)
                K[own, own] += w * stiff * np.outer(D, D)
                M[own, own] += w * mass * np.outer(P, P)
                if k < 3:
                    W[own] += w * mass * np.outer(P, self.R[:, k])
        return K, M, W


class Ritz:
    """Beams, rigid frames, springs and ties on one vector of unknowns."""

    def __init__(self, beams, frames=0):
        """`frames` rigid frames with six unknowns each come after the beams."""
        at = 0
        for beam in beams:
            beam.at = slice(at, at + 4 * (beam.degree + 1))
            at = beam.at.stop
        self.beams = beams
        self.first = at
        self.N = at + 6 * frames
        self.K, self.M = np.zeros((self.N, self.N)), np.zeros((self.N, self.N))
        self.W = np.zeros((self.N, 3))
        self.rows = []
        for beam in beams:
            K, M, W = beam.energies()
            self.K[beam.at, beam.at] += K
            self.M[beam.at, beam.at] += M
            self.W[beam.at] += W

    def frame(self, k):
        """(6, N) motion of rigid frame k."""
        out = np.zeros((6, self.N))
        out[:, self.first + 6 * k : self.first + 6 * k + 6] = np.eye(6)
        return out

    def ground(self):
        return np.zeros((6, self.N))

    def join(self, a, b, R, K=None, released=()):
        """Tie motion b to motion a in axes R, except where springs K (6 x 6, nan rigid) give."""
        x = np.kron(np.eye(2), R.T) @ (b - a)
        soft = [] if K is None else [k for k in range(6) if np.isfinite(K[k, k])]
        if soft:
            self.K += x[soft].T @ K[np.ix_(soft, soft)] @ x[soft]
        self.rows += [x[k] for k in range(6) if k not in soft and k not in released]

    def spring(self, row, k):
        self.K += k * np.outer(row, row)

    def body(self, motion, R, mass, com=(0, 0, 0), inertia=None):
        """A rigid body on a frame with axes R."""
        C = skew(R @ np.asarray(com, float))
        T = np.eye(6)
        T[:3, 3:] = -C
        u = T @ motion
        J = np.zeros((3, 3)) if inertia is None else R @ inertia @ R.T
        self.M += mass * u[:3].T @ u[:3] + u[3:].T @ J @ u[3:]
        self.W += mass * u[:3].T

    def _free(self):
        return null_space(np.array(self.rows), rcond=1e-13) if self.rows else np.eye(self.N)

    def modes(self, count):
        Z = self._free()
        M = Z.T @ self.M @ Z
        K = Z.T @ self.K @ Z
        values = eigh(M, K, eigvals_only=True)[::-1]
        return 1 / np.sqrt(values[:count])

    def sag(self, gravity, load=None, at=None):
        """All unknowns under gravity and a load (6,) on a motion."""
        Z = self._free()
        f = self.W @ np.asarray(gravity, float)
        if load is not None:
            f = f + at.T @ load
        return Z @ np.linalg.solve(Z.T @ self.K @ Z, Z.T @ f)
