"""A flexible link carried along a rigid motion: its mass, gyroscopic, stiffness and load terms.

In the axes of the link's moving root frame (origin acceleration a, angular velocity w), a mass
element at r displaced by u = H q, q = (u_root, w), accelerates by
    a + (w' x + w x w x)(r + u) + 2 w x u' + u''.
All terms are linear in w_i, w'_i and w_i w_j with constant matrices, found once:
    M q'' + C(w) q' + (K + A(w') + E(w w) + G) q = P,
G the stiffness of what the link carries, see `second_order`.
Source: [Kuo2016], Eqs. (19)-(41), corrected: (23) B_e = rho A int N' [w x] N; (24), (30), (34)-(41)
as in its errata. Departures: any basis of the mesh, bodies at root and end, and the rotary inertia
of sections and bodies about all axes (the paper keeps spin about x only).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..beams.fixed.elements import Mesh
from ..kernels.spatial import cross, cross_matrix, transport
from .second_order import second_order, turning_form

__all__ = ["CarriedLink", "Rates", "carried_link"]

Array = NDArray[np.float64]
Rates = tuple[Array, Array, Array]  # a less gravity, w, w' of a link's frame, own axes, (B, 3)
RigidBody = tuple[float, Array, Array]  # mass, mass centre from the link's root, inertia there
E_X = np.array([1.0, 0.0, 0.0])
TURN = cross_matrix(np.eye(3))  # (3, 3, 3): TURN[i] = [e_i]


@dataclass(frozen=True)
class CarriedLink:
    """Constant matrices of one link over q = (u_root, w), n = 6 + m of them, link axes.

    Attributes
    ----------
    M, K
        (n, n), mass and elastic stiffness.
    C
        (3, n, n), per w_i.
    A
        (3, n, n), per w'_i.
    E
        (3, 3, n, n), per w_i w_j.
    G
        (30, n, n), per weight of `second_order`.
    of_a
        (n, 3), load per -(a - g).
    of_dw
        (n, 3), per -w'_i.
    of_ww
        (n, 3, 3), per -w_i w_j.
    L
        Length.
    root_body, tip_body
        Mass, mass centre from the root and inertia there.
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
    L: float
    root_body: RigidBody
    tip_body: RigidBody

    def turning(self, w: Array, dw: Array) -> tuple[Array, Array]:
        """Return C(w) and A(w') + E(w w), (.., n, n) each, for w, w' (.., 3)."""
        ww = (w[..., :, None] * w[..., None, :]).reshape(*w.shape[:-1], 9)
        n = len(self.M)
        A = np.concatenate([self.A, self.E.reshape(9, n, n)])
        return _weighted_sum(w, self.C), _weighted_sum(np.concatenate([dw, ww], axis=-1), A)

    def geometric_stiffness(self, end: Array, form: Array, a: Array, w: Array, dw: Array) -> Array:
        """Return G, (.., n, n): end (.., 6) and form (.., 3, 3) are those of `preload.Carried`."""
        slope = cross(dw, E_X) + cross(w, cross(w, E_X))
        each = dw[..., None, :] * np.eye(3) + cross(w[..., None, :], w[..., None, :] * np.eye(3))
        turned, flat = (part.reshape(*part.shape[:-2], 9) for part in (each, form))
        parts = [end, a, slope, turned, flat]
        G = _weighted_sum(np.concatenate(parts, axis=-1), self.G)
        if self.root_body[0]:
            force, own = _carrying(self.root_body, a, w, dw)
            G[..., 3:6, 3:6] += turning_form(force, self.root_body[1], own)
        return G

    def tip_load(self, a: Array, w: Array, dw: Array) -> tuple[Array, Array]:
        """Return what the tip's bodies take of the end, (.., 6), and their form, (.., 3, 3)."""
        if not self.tip_body[0]:
            return np.zeros((*a.shape[:-1], 6)), np.zeros((*a.shape[:-1], 3, 3))
        force, own = _carrying(self.tip_body, a, w, dw)
        arm = self.tip_body[1] - self.L * E_X
        wrench = np.concatenate([force, own + cross(arm, force)], axis=-1)
        return wrench, turning_form(force, arm, own)

    def load(self, a: Array, w: Array, dw: Array) -> Array:
        """Return P (.., n): what inertia of the rigid motion and weight do; a is less gravity."""
        ww = (w[..., :, None] * w[..., None, :]).reshape(*w.shape[:-1], 9)
        return np.asarray(-(a @ self.of_a.T + dw @ self.of_dw.T + ww @ self.of_ww.reshape(-1, 9).T))


def _weighted_sum(weights: Array, forms: Array) -> Array:
    """Sum of (k, n, n) forms with weights (.., k), as (.., n, n).

    Products stay small, instant by instant: one large product would go to BLAS's threads, which
    wait for one another on a busy machine.
    """
    k, n, _ = forms.shape
    return np.asarray((weights @ forms.reshape(k, n * n)).reshape(*weights.shape[:-1], n, n))


def carried_link(mesh: Mesh, root_mass: Array, tip_mass: Array) -> CarriedLink:
    """Return the constant matrices of one meshed link with (6, 6) bodies at its root and end."""
    # Mass, mass centre r, inertia J about it and motion H (6, n) of every piece of the link
    x, weights = mesh.quadrature()
    inertias = weights[:, None] * mesh.beam.outside(mesh.L).inertias(x)
    masses = list(inertias[:, 0])
    centres = [np.array([place, 0.0, 0.0]) for place in x]
    J_each = [np.diag(own) for own in inertias[:, 3:]]
    motions = list(np.concatenate([transport(x), mesh.field(x)], axis=2))
    # The bodies at both ends, with the motion of their mass centres
    root = np.concatenate([np.eye(6), np.zeros((6, mesh.size))], axis=1)
    end = np.concatenate([transport(mesh.L), mesh.end], axis=1)
    for body, place, H in ((root_mass, 0.0, root), (tip_mass, mesh.L, end)):
        if body.any():
            mass, centre, J_body = _rigid(body, place)
            H[:3] -= cross_matrix(centre - np.array([place, 0.0, 0.0])) @ H[3:]
            masses.append(mass)
            centres.append(centre)
            J_each.append(J_body)
            motions.append(H)

    # What each of the 16 constant matrices and 15 load vectors takes of a piece's translation
    # and rotation: (forms, pieces, 6, 6) and (vectors, pieces, 6)
    m = np.array(masses)
    r = np.array(centres)
    J = np.array(J_each)
    pieces = len(m)
    per_mass = m[:, None, None]
    J_columns = J.swapaxes(1, 2)  # J_columns[p, i] = J[p][:, i]
    momentum = J[:, None] @ TURN - cross_matrix(J_columns)  # (pieces, 3, 3, 3), per w_i
    of_M = np.zeros((1, pieces, 6, 6))
    of_C = np.zeros((3, pieces, 6, 6))
    of_A = np.zeros((3, pieces, 6, 6))
    of_E = np.zeros((3, 3, pieces, 6, 6))
    by_a = np.zeros((3, pieces, 6))
    by_dw = np.zeros((3, pieces, 6))
    by_ww = np.zeros((3, 3, pieces, 6))
    of_M[0, :, :3, :3] = per_mass * np.eye(3)
    of_M[0, :, 3:, 3:] = J
    for i in range(3):
        of_A[i, :, :3, :3] = per_mass * TURN[i]
        of_A[i, :, 3:, 3:] = momentum[:, i]
        of_C[i, :, :3, :3] = 2 * per_mass * TURN[i]
        of_C[i, :, 3:, 3:] = momentum[:, i] + TURN[i] @ J
        by_a[i, :, i] = m
        by_dw[i, :, :3] = m[:, None] * (r @ TURN[i].T)
        by_dw[i, :, 3:] = J_columns[:, i]
        for j in range(3):
            twice = TURN[i] @ TURN[j]
            of_E[i, j, :, :3, :3] = per_mass * twice
            of_E[i, j, :, 3:, 3:] = TURN[i] @ momentum[:, j]
            by_ww[i, j, :, :3] = m[:, None] * (r @ twice.T)
            by_ww[i, j, :, 3:] = J_columns[:, j] @ TURN[i].T

    # Sums over the pieces, H' W H and H' v
    H_all = np.array(motions)
    n = H_all.shape[2]
    stacked = H_all.reshape(6 * pieces, n)
    W = np.concatenate([of_M, of_C, of_A, of_E.reshape(9, pieces, 6, 6)])
    forms = stacked.T @ (W @ H_all).reshape(len(W), 6 * pieces, n)
    M = forms[0]
    C = forms[1:4]
    A = forms[4:7]
    E = forms[7:].reshape(3, 3, n, n)
    of_a, of_dw = (stacked.T @ by.reshape(3, 6 * pieces).T for by in (by_a, by_dw))
    of_ww = (stacked.T @ by_ww.reshape(9, 6 * pieces).T).reshape(n, 3, 3)

    K = np.zeros((n, n))
    K[6:, 6:] = mesh.stiffness
    G = second_order(mesh)
    root_body = _rigid(root_mass, 0.0)
    tip_body = _rigid(tip_mass, mesh.L)
    return CarriedLink(M, K, C, A, E, G, of_a, of_dw, of_ww, mesh.L, root_body, tip_body)


def _rigid(body: Array, x: float) -> RigidBody:
    """A (6, 6) mass about the point x of the axis as mass, mass centre and inertia there."""
    mass = float(body[0, 0])
    first = np.array([body[5, 1], body[3, 2], body[4, 0]])
    c = first / mass if mass > 0 else np.zeros(3)
    S = cross_matrix(c)
    return mass, c + np.array([x, 0.0, 0.0]), body[3:, 3:] + mass * S @ S


def _carrying(body: RigidBody, a: Array, w: Array, dw: Array) -> tuple[Array, Array]:
    """Force through a body's mass centre and moment that move it with the frame, (.., 3) each."""
    mass, c, J = body
    force = mass * (a + cross(dw, c) + cross(w, cross(w, c)))
    return force, dw @ J + cross(w, w @ J)
