"""Invariants: the integrals of one link under one basis, all that the equations of motion need.

A point of the axis sits at r(x) = x e_x + N(x) z. Here z holds the elastic coordinates eta and,
when geometric stiffening is asked for, the products eta_j eta_l of each bending plane, whose shape
is the foreshortening -1/2 int v'^2. So r is linear in z whatever the choice, a bent beam keeps its
length, the links beyond it move with its shortened end, and energy and forces agree exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .shapes import EndLoad, LinkShapes
from .theory import AnyBeam
from .varying import GAUSS_POINTS, VaryingBeam

__all__ = [
    "Invariants",
    "beam_points",
    "end_mass",
    "fields_at",
    "foreshortening",
    "gauss_points",
    "invariants",
    "rigid_invariants",
    "strains",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Invariants:
    """Integrals of a link, segment axes, root at x = 0; k shapes, kz = k + products.

    Attributes
    ----------
    length, mass
        m, kg.
    first, second
        Integrals of m x and m x^2.
    P
        (3, kz), of m N.
    X
        (3, kz), of m x N.
    G
        (3, 3, kz, kz), of m N_a' N_b.
    J
        (3,), of the section's rotary inertia.
    JPsi
        (3, k) and PsiJPsi: (k, k), of the same with the rotation field Psi.
    K
        (k, k), stiffness.
    modal_mass
        (k, k), the mass of the shapes with their end load (damping refers to it).
    pairs
        The products in z.
    N_end
        (3, kz), Psi_end: (3, k), fields at the end.
    """

    length: float
    mass: float
    first: float
    second: float
    P: Array
    X: Array
    G: Array
    J: Array
    JPsi: Array
    PsiJPsi: Array
    K: Array
    modal_mass: Array
    pairs: tuple[tuple[int, int], ...]
    N_end: Array
    Psi_end: Array

    @property
    def count(self) -> int:
        """Number of elastic coordinates, k."""
        return int(self.K.shape[0])


@lru_cache(maxsize=64)
def _gauss(points: int) -> tuple[Array, Array]:
    """Gauss's places and weights on -1 .. 1, worked out once."""
    t, w = np.polynomial.legendre.leggauss(points)
    return t, w


def gauss_points(breaks: Array, points: int) -> tuple[Array, Array]:
    """Return places and weights of Gauss quadrature on every piece between `breaks`."""
    t, w = _gauss(points)
    a = breaks[:-1, None]
    b = breaks[1:, None]
    return ((a + b) / 2 + (b - a) / 2 * t).ravel(), ((b - a) / 2 * w).ravel()


def beam_points(beam: AnyBeam, points: int, breaks: Array | None = None) -> tuple[Array, Array]:
    """Return places and weights along a beam for polynomials of degree 2 points - 1 between breaks.

    Of a uniform beam they are Gauss's on the pieces; of a varying one as many more on each of its
    panels as its properties ask for.
    """
    at = np.array([0.0, beam.L]) if breaks is None else breaks
    if isinstance(beam, VaryingBeam) and beam.L > 0:
        inside = beam.edges()
        apart = np.abs(inside[:, None] - at).min(axis=1) > 1e-9 * beam.L
        apart &= (inside > at[0]) & (inside < at[-1])
        at = np.sort(np.concatenate([at, inside[apart]]))
        points = points + GAUSS_POINTS // 2
    return gauss_points(at, points)


def invariants(
    beam: AnyBeam, shapes: LinkShapes, end: EndLoad, stiffening: bool = False, start: float = 0.0
) -> Invariants:
    """Return the integrals of a link under these shapes; exact, since shapes are polynomials.

    Integrals of the mass are those of the part from `start` to the end, about the root.
    """
    pieces = np.append(min(start, beam.L), shapes.breaks[shapes.breaks > start])
    points = 2 * shapes.degree + 2 if stiffening else shapes.degree + 2
    x, w = beam_points(beam, points, pieces)
    tip = np.concatenate([x, [beam.L]])
    fields = shapes.at(tip)
    N = fields[:, :3]
    Psi = fields[:, 3:]
    pairs: tuple[tuple[int, int], ...] = ()
    if stiffening:
        pairs, extra = foreshortening(shapes, tip)
        N = np.concatenate([N, extra], axis=2)
    inert = w[:, None] * beam.inertias(x)
    mass = inert[:, 0]
    J = inert[:, 3:]
    G = np.einsum("g,gak,gbl->abkl", mass, N[:-1], N[:-1])
    PsiJPsi = np.einsum("ga,gak,gal->kl", J, Psi[:-1], Psi[:-1])
    k = shapes.count
    own = np.einsum("aakl->kl", G)[:k, :k] + PsiJPsi
    return Invariants(
        length=beam.L,
        mass=float(mass.sum()),
        first=float(mass @ x),
        second=float(mass @ x**2),
        P=np.einsum("g,gak->ak", mass, N[:-1]),
        X=np.einsum("g,gak->ak", mass * x, N[:-1]),
        G=G,
        J=J.sum(axis=0),
        JPsi=np.einsum("ga,gak->ak", J, Psi[:-1]),
        PsiJPsi=PsiJPsi,
        K=stiffness(beam, shapes),
        modal_mass=own + end_mass(end, fields[-1]),
        pairs=pairs,
        N_end=N[-1],
        Psi_end=Psi[-1],
    )


def rigid_invariants(beam: AnyBeam, start: float = 0.0) -> Invariants:
    """Return the integrals of a link that keeps its shape, from `start` on: nothing elastic."""
    empty = np.zeros((3, 0))
    square = np.zeros((0, 0))
    x, w = beam_points(beam, 3, np.array([start, beam.L]))
    inert = w[:, None] * beam.inertias(x)
    return Invariants(
        length=beam.L,
        mass=float(inert[:, 0].sum()),
        first=float(inert[:, 0] @ x),
        second=float(inert[:, 0] @ x**2),
        P=empty,
        X=empty,
        G=np.zeros((3, 3, 0, 0)),
        J=inert[:, 3:].sum(axis=0),
        JPsi=empty,
        PsiJPsi=square,
        K=square,
        modal_mass=square,
        pairs=(),
        N_end=empty,
        Psi_end=empty,
    )


def stiffness(beam: AnyBeam, shapes: LinkShapes) -> Array:
    """Return the (k, k) integral of EA u'^2 + EI psi'^2 + kGA (v' - psi)^2 + GJ phi'^2.

    An infinite stiffness excludes its deformation: the shapes have none of it, it adds nothing.
    """
    x, w = beam_points(beam, shapes.degree + 2, shapes.breaks)
    K = np.zeros((shapes.count, shapes.count))
    for modulus, strain in strains(beam, shapes, x):
        K += np.einsum("g,gk,gl->kl", w * modulus, strain, strain)
    return (K + K.T) / 2


def strains(beam: AnyBeam, shapes: LinkShapes, x: ArrayLike) -> list[tuple[Array, Array]]:
    """Return each finite stiffness (P,), and its strain at x per unit coordinate, (P, k)."""
    value = shapes.at(x)
    slope = shapes.at(x, 1)
    _, EA, xy, xz, k_xy, k_xz, GJ, *_ = beam.at(x).T
    each = [
        (EA, slope[:, 0]),
        (xy, slope[:, 5]),
        (xz, slope[:, 4]),
        (k_xy, slope[:, 1] - value[:, 5]),
        (k_xz, slope[:, 2] + value[:, 4]),
        (GJ, slope[:, 3]),
    ]
    return [(modulus, strain) for modulus, strain in each if np.isfinite(modulus).all()]


def end_mass(end: EndLoad, fields: Array) -> Array:
    """(k, k) mass of the end load on the shapes; (MD) couples deflection and slope."""
    load = np.diag([end.mass] * 3 + list(end.about))
    load[1, 5] = load[5, 1] = end.moment
    load[2, 4] = load[4, 2] = -end.moment
    mass: Array = fields.T @ load @ fields
    return mass


def fields_at(shapes: LinkShapes | None, x: float, stiffening: bool) -> tuple[Array, Array]:
    """Return N (3, kz) and Psi (3, k) of the section at x; empty for a rigid link."""
    if shapes is None:
        return np.zeros((3, 0)), np.zeros((3, 0))
    place = np.array([x])
    field = shapes.at(place)[0]
    extra = [foreshortening(shapes, place)[1][0]] if stiffening else []
    return np.hstack([field[:3], *extra]), field[3:]


def foreshortening(shapes: LinkShapes, x: Array) -> tuple[tuple[tuple[int, int], ...], Array]:
    """Return pairs (j, l) of one plane, and the displacement (n, 3, pairs) of each product.

    u = -1/2 int (v'^2 + w'^2): -int v_j' v_l' for j < l and half of it for j = l.
    """
    planes = [[j for j, kind in enumerate(shapes.kinds) if kind == plane] for plane in ("xy", "xz")]
    pairs = tuple((j, l) for plane in planes for j in plane for l in plane if j <= l)
    t, w = _gauss(shapes.degree + 1)
    piece = np.clip(np.searchsorted(shapes.breaks, x, "right") - 1, 0, len(shapes.breaks) - 2)
    over_panels = _slope_products(shapes, pairs, shapes.breaks[:-1], shapes.breaks[1:], t, w)
    before = np.concatenate([np.zeros((1, len(pairs))), np.cumsum(over_panels, axis=0)])
    partial = _slope_products(shapes, pairs, shapes.breaks[piece], x, t, w)
    half = np.array([0.5 if j == l else 1.0 for j, l in pairs])
    out = np.zeros((len(x), 3, len(pairs)))
    out[:, 0] = -half * (before[piece] + partial)
    return pairs, out


def _slope_products(
    shapes: LinkShapes,
    pairs: tuple[tuple[int, int], ...],
    start: Array,
    stop: Array,
    t: Array,
    w: Array,
) -> Array:
    """Integrals (n, pairs) of v_j' v_l' from start to stop, each inside one piece."""
    s = (start[:, None] + stop[:, None]) / 2 + (stop - start)[:, None] / 2 * t
    inside = np.clip(s, start[:, None], stop[:, None])
    slope = shapes.at(inside.ravel(), 1)[:, 1:3].reshape(*s.shape, 2, shapes.count)
    j = [p[0] for p in pairs]
    l = [p[1] for p in pairs]
    product = (slope[..., j] * slope[..., l]).sum(axis=2)
    value: Array = np.einsum("nt,ntp->np", w * (stop - start)[:, None] / 2, product)
    return value
