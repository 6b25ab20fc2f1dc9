"""A flexible link carried along a rigid motion: its mass, gyroscopic, stiffness and load terms.

In the axes of the link's moving root frame (origin acceleration a, angular velocity w), a mass
element at r displaced by u = H q, q = (u_root, w), accelerates by
    a + (w' x + w x w x)(r + u) + 2 w x u' + u''.
All terms are linear in w_i, w'_i and w_i w_j with constant matrices, found once:
    M q'' + C(w) q' + (K + A(w') + E(w w) + G(N)) q = P.
Source: [Kuo2016], Eqs. (19)-(41), corrected: (23) B_e = rho A int N' [w x] N; (24), (30), (34)-(41)
as in its errata. Departures: any basis of the mesh, bodies at root and end, and the rotary inertia
of sections and bodies about all axes (the paper keeps spin about x only).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..assembly import transport
from ..beams.elements import Mesh
from ..kernels.spatial import cross_matrix

__all__ = ["CarriedLink", "Rates", "carried_link"]

Array = NDArray[np.float64]
Rates = tuple[Array, Array, Array]  # a less gravity, w, w' of a link's frame, own axes, (B, 3)
TURN = cross_matrix(np.eye(3))  # (3, 3, 3): TURN[i] = [e_i]


@dataclass(frozen=True)
class CarriedLink:
    """Constant matrices of one link over q = (u_root, w), n = 6 + m of them, link axes.

    Attributes:
        M, K: (n, n), mass and elastic stiffness.  C: (3, n, n), per w_i.  A: (3, n, n), per w'_i.
        E: (3, 3, n, n), per w_i w_j.  G: (3, n, n), geometric stiffness per axial force 1, x, x^2.
        of_a: (n, 3), load per -(a - g).  of_dw: (n, 3), per -w'_i.  of_ww: (n, 3, 3), per -w_i w_j.
        density: mass per length.  root_body: mass of the bodies at the root.
    """

    M: Array
    K: Array
    C: Array
    A: Array
    E: Array
    G: Array
    of_a: Array
    of_dw: Array
    of_ww: Array
    density: float
    root_body: float

    def turning(self, w: Array, dw: Array) -> tuple[Array, Array]:
        """Return C(w) and A(w') + E(w w), (B, n, n) each, for w, w' (B, 3)."""
        C = np.tensordot(w, self.C, 1)
        stiff = np.tensordot(dw, self.A, 1)
        stiff += np.tensordot(w[:, :, None] * w[:, None, :], self.E, 2)
        return C, stiff

    def stretched(self, force: Array) -> Array:
        """Return G(N), (B, n, n), for N(x) = N_0 + N_1 x + N_2 x^2 given as (B, 3)."""
        return np.tensordot(force, self.G, 1)

    def load(self, a: Array, w: Array, dw: Array) -> Array:
        """Return P (B, n): what inertia of the rigid motion and weight do; a is less gravity."""
        ww = w[:, :, None] * w[:, None, :]
        return -(
            a @ self.of_a.T + dw @ self.of_dw.T + np.tensordot(ww, self.of_ww, ((1, 2), (1, 2)))
        )


def carried_link(mesh: Mesh, root_mass: Array, tip_mass: Array) -> CarriedLink:
    """Return the constant matrices of one meshed link with (6, 6) bodies at its root and end."""
    n = 6 + mesh.size
    M, C, A = np.zeros((n, n)), np.zeros((3, n, n)), np.zeros((3, n, n))
    E = np.zeros((3, 3, n, n))
    of_a, of_dw, of_ww = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3, 3))
    for mass, r, J, H in _matter(mesh, root_mass, tip_mass):
        t, s = H[:3], H[3:]
        M += mass * t.T @ t + s.T @ J @ s
        of_a += mass * t.T
        for i in range(3):
            Je = cross_matrix(J[:, i])
            A[i] += mass * t.T @ TURN[i] @ t + s.T @ (J @ TURN[i] - Je) @ s
            C[i] += 2 * mass * t.T @ TURN[i] @ t
            C[i] += s.T @ (J @ TURN[i] + TURN[i] @ J - Je) @ s
            of_dw[:, i] += mass * t.T @ TURN[i] @ r + s.T @ J[:, i]
            for j in range(3):
                momentum = J @ TURN[j] - cross_matrix(J[:, j])
                E[i, j] += mass * t.T @ TURN[i] @ TURN[j] @ t + s.T @ TURN[i] @ momentum @ s
                of_ww[:, i, j] += mass * t.T @ TURN[i] @ TURN[j] @ r + s.T @ TURN[i] @ J[:, j]
    K = np.zeros((n, n))
    K[6:, 6:] = mesh.stiffness
    G = _geometric(mesh)
    return CarriedLink(M, K, C, A, E, G, of_a, of_dw, of_ww, mesh.beam.m, float(root_mass[0, 0]))


def _matter(
    mesh: Mesh, root_mass: Array, tip_mass: Array
) -> Iterator[tuple[float, Array, Array, Array]]:
    """Mass, place, inertia about its centre and motion H (6, n) of every piece of the link."""
    b = mesh.beam
    x, weights = mesh.quadrature()
    section = np.diag([b.rIp, b.rI[1], b.rI[0]])
    for value, weight, N in zip(x, weights, mesh.field(x), strict=True):
        if weight > 0 and b.m > 0:
            H = np.concatenate([transport(value), N], axis=1)
            yield weight * b.m, np.array([value, 0.0, 0.0]), weight * section, H
    root = np.concatenate([np.eye(6), np.zeros((6, mesh.size))], axis=1)
    end = np.concatenate([transport(mesh.L), mesh.end], axis=1)
    for body, place, H in ((root_mass, 0.0, root), (tip_mass, mesh.L, end)):
        if body.any():
            yield _body(body, np.array([place, 0.0, 0.0]), H)


def _body(body: Array, place: Array, H: Array) -> tuple[float, Array, Array, Array]:
    """A (6, 6) mass about a point as mass, mass centre, inertia and motion there."""
    mass = float(body[0, 0])
    first = np.array([body[5, 1], body[3, 2], body[4, 0]])
    c = first / mass if mass > 0 else np.zeros(3)
    S = cross_matrix(c)
    moved = H.copy()
    moved[:3] -= S @ H[3:]
    return mass, place + c, body[3:, 3:] + mass * S @ S, moved


def _geometric(mesh: Mesh) -> Array:
    """(3, n, n): int x^k (v' v' + w' w') dx, slopes of the whole motion, root's rotation included.

    Source: [Kuo2016], Eqs. (34)-(37), with B_s without its factor l and P_r / l in (40).
    """
    n = 6 + mesh.size
    x, weights = mesh.quadrature()
    if not mesh.L:
        return np.zeros((3, n, n))
    slopes = np.zeros((len(x), 2, n))
    slopes[:, 0, 5], slopes[:, 1, 4] = 1.0, -1.0
    N, Q = mesh.field(x), mesh.resultants(x)
    shear = mesh.compliances[1:3]
    slopes[:, 0, 6:] = N[:, 5] + shear[0] * Q[:, 1]
    slopes[:, 1, 6:] = -N[:, 4] + shear[1] * Q[:, 2]
    return np.array([np.einsum("p,pci,pcj->ij", weights * x**k, slopes, slopes) for k in range(3)])
