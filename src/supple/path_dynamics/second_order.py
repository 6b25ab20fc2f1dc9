"""How one link moves to second order, as forms that forces of the rigid motion weight in K.

A link's root turns by theta (R = exp(theta)), its axis bends by u(x), its sections turn by psi(x),
R_z(psi_z) R_y(psi_y) R_x(phi). Beyond the linear terms the section at x moves and turns by
    D(x) = x theta x (theta x e_x) / 2 + theta x u + e_x s(x),   s(x) = -1/2 int_0^x (v'^2 + w'^2),
    b(x) = theta x psi / 2 + (-psi_z psi_y, psi_z phi, -psi_y phi) / 2,
so that R = exp(theta + psi + b). What hangs on the end at r, turned by t = theta + psi(L), moves by
t x (t x r) / 2 more. A dead force F adds the second derivative of F.D to K, a moment M that of M.b;
a moment that is no couple of forces adds [M]/2 on (delta t, t), which is not symmetric.
Source: [Argyris1979] for moments and finite rotations; here for rotations in the order of a Model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..beams.fixed.elements import Mesh
from ..kernels.spatial import cross_matrix

__all__ = ["WEIGHTS", "second_order", "turning_form"]

Array = NDArray[np.float64]
EPS = np.zeros((3, 3, 3))
for _a, _b, _c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    EPS[_a, _b, _c] = 1.0
    EPS[_a, _c, _b] = -1.0
WEIGHTS = 30  # force, moment at the end; pull, its slope; turning of sections (3, 3); form (3, 3)


def second_order(mesh: Mesh) -> Array:
    """Return (30, n, n): what each weight adds to K of a link over q = (u_root, w).

    Weights, link axes: force F and moment M on the end (3 each); acceleration a_0 + a_1 x that the
    mass per length takes (3 each); moment of the sections per unit of each of their rotary inertias
    (3, 3), inertia by inertia; X (3, 3), row by row, a form on the end's rotation.
    """
    n = 6 + mesh.size
    T = np.zeros((3, n))
    T[:, 3:6] = np.eye(3)
    end = np.concatenate([np.zeros((6, 6)), mesh.end], axis=1)
    last = T + end[3:]
    G = np.zeros((WEIGHTS, n, n))
    G[0:3] = _displacement_curvature(mesh.L, T, end[:3])
    G[3:6] = _rotation_curvature(T, end[3:])
    G[21:30] = np.einsum("ai,bj->abij", last, last).reshape(9, n, n)
    if not mesh.L:
        return G
    x, weights = mesh.quadrature()
    field = np.concatenate([np.zeros((len(x), 6, 6)), mesh.field(x)], axis=2)
    L = mesh.L
    beam = mesh.beam.outside(mesh.L)
    inert = weights[:, None] * beam.inertias(x)
    # Curvatures of displacements are linear in place and field: sums over the mass come first
    for rows, mass in ((slice(6, 9), inert[:, 0]), (slice(9, 12), x * inert[:, 0])):
        moved = np.tensordot(mass, field[:, :3], axes=1)
        G[rows] = _displacement_curvature(float(mass @ x), T, moved)
    # (P, 3, n, n): curvature of the sections' rotation, with [M] / 2 on (dt, t) by component of M
    t = T + field[:, 3:]
    turned = _rotation_curvature(T, field[:, 3:]) + _pair(EPS.transpose(1, 0, 2) / 2, t, t)
    G[12:21] = np.tensordot(inert[:, 3:], turned, axes=(0, 0)).reshape(9, n, n)
    # (P, 2, n): slopes v' and w' of the axis, shear included; the root's rotation is not
    slopes = np.zeros((len(x), 2, 6 + mesh.size))
    along = mesh.field(x)
    Q = mesh.resultants(x)
    shear = mesh.compliances(x)[:, 1:3, None]
    slopes[:, 0, 6:] = along[:, 5] + shear[:, 0] * Q[:, 1]
    slopes[:, 1, 6:] = -along[:, 4] + shear[:, 1] * Q[:, 2]
    rods = [beam.outside(L - float(at)).rod(float(at), L) for at in x]
    after, lever = (np.array([rod[k] for rod in rods]) for k in ((0, 0), (1, 5)))
    for at, beyond in ((0, np.ones_like(x)), (6, after), (9, lever)):
        G[at] -= np.einsum("p,pci,pcj->ij", weights * beyond, slopes, slopes)
    return G


def turning_form(force: Array, at: Array, moment: Array | None = None) -> Array:
    """Return X (.., 3, 3) with dt' X t: dead forces (.., 3) at `at` (3,) or (.., 3), and a moment.

    (F r' + r F') / 2 - F.r 1 is the second derivative of F.(t x (t x r)) / 2; [M] / 2 the moment's.
    """
    product = force[..., :, None] * at[..., None, :]
    X: Array = (product + product.swapaxes(-1, -2)) / 2
    X -= (force * at).sum(axis=-1)[..., None, None] * np.eye(3)
    return X if moment is None else X + cross_matrix(moment) / 2


def _displacement_curvature(x: float, T: Array, u: Array) -> Array:
    """(3, n, n): second derivatives of D(x) less its shortening, for u (3, n)."""
    out = _both(EPS, T, u)
    out[0] -= x * (np.outer(T[1], T[1]) + np.outer(T[2], T[2]))
    for c in (1, 2):
        out[c] += x / 2 * (np.outer(T[0], T[c]) + np.outer(T[c], T[0]))
    return out


def _rotation_curvature(T: Array, psi: Array) -> Array:
    """(.., 3, n, n): second derivatives of b for psi (.., 3, n)."""
    order = np.zeros((3, 3, 3))
    order[0, 2, 1] = -0.5
    order[1, 2, 0] = 0.5
    order[2, 1, 0] = -0.5
    return _both(EPS / 2, T, psi) + _both(order, psi, psi)


def _both(form: Array, a: Array, b: Array) -> Array:
    """(.., 3, n, n): second derivatives of sum form_cij a_i b_j."""
    product = _pair(form, a, b)
    return product + product.swapaxes(-1, -2)


def _pair(form: Array, a: Array, b: Array) -> Array:
    """(.., 3, k, l): sum form_cij a_ik b_jl, for a (.., 3, k) and b (.., 3, l)."""
    after = form @ b[..., None, :, :]  # (.., c, i, l)
    return np.asarray(a[..., None, :, :].swapaxes(-1, -2) @ after)
