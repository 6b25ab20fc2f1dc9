"""Natural shapes of a uniform link that slides, at every free length, see `tabulated`.

At a free length l a link has the natural shapes of `fixed.assumed`, whether it shears, stretches or
twists; over eta = x/l their coefficients are smooth functions of l.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import ArrayLike, NDArray

from ...kernels.threads import one_thread, single
from ..fixed.assumed import assumed_shapes
from ..shapes import PLANES, EndLoad, LinkShapes
from ..theory import Beam
from .clamped_mass import Stroke, chebyshev_at
from .rates import Rate, variable
from .shapes import (
    ROWS,
    Beta,
    Matrix,
    Pairs,
    ShapeFamily,
    Shortening,
    SlidingShapes,
    Velocity,
    only_material,
)
from .tabulated import (
    Nodes,
    StrokeSeries,
    as_rate,
    at_material_points,
    legendre_at,
    means,
    powers,
    products,
    rule_of,
    series_of,
    times,
)

__all__ = ["FollowingModes", "following_modes"]

Array = NDArray[np.float64]
Scalar = Any
_DEGREE = 96  # of the series along the stroke
SUBSPACE_ITERATIONS = 3  # of subspace iteration of shapes made without rotary inertia
TERMS_OF_A_ROUND = 4  # by which their Legendre series grow in one
ROUNDING_OF_STIFFNESS = 1e-12  # of the diagonal: smaller entries of a stiffness matrix are zero
_STROKE_EXTENSION = 1.1  # so far beyond both ends: slopes of series are worst at theirs


@dataclass(frozen=True)
class FollowingModes(SlidingShapes):
    """Natural shapes of a uniform sliding link: they shear, stretch and twist as the beam does.

    Attributes:
        beam, end, kinds, member: see SlidingShapes.  moved, turned: (c, k, p), Chebyshev series
        along the stroke of the Legendre series over eta of every shape, and of l times its slope
        without shear.  simplified: shapes that are not natural ones, see `following_modes`.
    """

    beam: Beam
    end: EndLoad
    kinds: tuple[str, ...]
    member: tuple[int, ...]
    moved: Array
    turned: Array
    simplified: tuple[int, ...] = ()
    analytic: ClassVar[bool] = True

    @property
    def stroke(self) -> Stroke:
        """The map of free lengths under which all of this is smooth."""
        return Stroke(self.beam.L, _STROKE_EXTENSION)

    @cached_property
    def nodes(self) -> Nodes:
        """Where integrals are taken."""
        return Nodes(self.stroke, len(self.moved))

    @one_thread
    def families(
        self,
        l: Scalar,
        velocity: Velocity = "material",
        held: Scalar = None,
        beta: Beta = None,
        start: float | None = None,
    ) -> tuple[ShapeFamily, ShapeFamily | None]:
        """Return the functions of bending and stretch, and of twist, at a free length."""
        if velocity != "material":
            raise only_material()
        if ("plain", start) not in self._table_cache:
            twists = [kind == "torsion" for kind in self.kinds]
            parts = [[j for j, x in enumerate(twists) if x is each] for each in (False, True)]
            table = [_family(self, part, start) for part in parts if len(part)]
            self._table_cache["plain", start] = self.nodes.fit_along_stroke(table)
        found: list[ShapeFamily] = [
            _restore_length_powers(part, l) for part in self._table_cache["plain", start].at(l)
        ]
        none = ShapeFamily([[]], [], [], [], [], [], [])
        if all(kind == "torsion" for kind in self.kinds):
            found.insert(0, none)
        return found[0], found[1] if len(found) > 1 else None

    @one_thread
    def shortening(
        self, l: Scalar, pairs: Pairs, beta: Beta = None, start: float | None = None
    ) -> Shortening:
        """Return the foreshortening of pairs of bending functions at a free length."""
        key = ("short", pairs, start)
        if key not in self._table_cache:
            at, rule = self._shortening_series(pairs), rule_of(2 * self.terms, start)
            F = at_material_points(self.nodes.rates(at), rule, 1)
            own = [j for j, kind in enumerate(self.kinds) if kind != "torsion"]
            N = at_material_points(self.nodes.rates(self.moved[:, own]), rule, 0)
            mean, centre = means(F, rule)
            table = Shortening(
                pairs, products(F, F, rule), products(F, N, rule), mean, centre, self.nodes.ends(at)
            )
            self._table_cache[key] = self.nodes.fit_along_stroke(replace(table, pairs=()))
        found: Shortening = self._table_cache[key].at(l)
        by, length = powers(l), variable(l)
        mean, centre = (
            [[x * by[d + 1] for x in row] for d, row in enumerate(part)]
            for part in (found.mean, found.centre)
        )
        tips = [as_rate(x, by) / length for x in found.tip]
        gram, against = times(found.gram, by, 2), times(found.against, by, 1)
        return Shortening(pairs, gram, against, mean, centre, tips)

    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        """Return displacements and rotations (.., 6, k) at fractions of free lengths."""
        length, at = (np.asarray(x, float) for x in np.broadcast_arrays(l, eta))
        t, P = (
            self.stroke.at(length.ravel()),
            legendre.legvander(2 * at.ravel() - 1, self.terms - 1),
        )
        v, psi = (
            np.einsum("kpb,bp->bk", chebyshev.chebval(t, part), P)
            for part in (self.moved, self.turned)
        )
        out = np.zeros((*at.shape, 6, self.count))
        for j, kind in enumerate(self.kinds):
            row, turn, sign = ROWS[kind]
            out[..., row, j] = v[:, j].reshape(at.shape)
            if kind in PLANES:
                out[..., turn, j] = sign * psi[:, j].reshape(at.shape) / length
        return out

    def shapes_at(self, l: float) -> LinkShapes:
        """Return the shapes at a free length as those of a link that does not slide."""
        t, series = self.stroke.at(l), np.zeros((1, 6, self.count, self.terms))
        v, psi = (np.asarray(chebyshev.chebval(t, part)) for part in (self.moved, self.turned))
        for j, kind in enumerate(self.kinds):
            row, turn, sign = ROWS[kind]
            series[0, row, j] = v[j]
            if kind in PLANES:
                series[0, turn, j] = sign * psi[j] / l
        return LinkShapes(np.array([0.0, l]), series, self.kinds)

    def spot(
        self, l: Scalar, eta: Rate, pairs: Pairs, beta: Beta = None
    ) -> tuple[list[tuple[Rate, Rate]], list[Rate]]:
        """Return shapes and their slopes, and the foreshortening of pairs, at one place."""
        key = ("spot", pairs)
        if key not in self._table_cache:
            parts = [self.moved, self.turned, *([self._shortening_series(pairs)] if pairs else [])]
            rates = [np.moveaxis(self.nodes.rates(part), (2, 3), (0, 1)) for part in parts]
            self._table_cache[key] = self.nodes.fit_along_stroke(
                [[[Rate(*c) for c in f] for f in V] for V in rates]
            )
        by, length, u = powers(l), variable(l), 2.0 * eta - 1.0
        found = self._table_cache[key].at(l)
        P = [Rate(1.0), u]
        for n in range(1, max(len(row) for part in found for row in part) - 1):
            P.append(((2 * n + 1) * (u * P[n]) - n * P[n - 1]) / float(n + 1))
        moved, turned, *short = (
            [
                sum((as_rate(c, by) * p for c, p in zip(row, P, strict=False)), Rate(0.0))
                for row in part
            ]
            for part in found
        )
        each = [(v, psi / length) for v, psi in zip(moved, turned, strict=True)]
        return each, [phi / length for phi in short[0]] if short else []

    def curvature(self, l: Scalar, eta: float = 0.0) -> Matrix:
        """Return the rates of stretch, twist, psi_y and psi_z along x, (4, k), at a place."""
        t, out = self.stroke.at(l), [[0.0] * self.count for _ in range(4)]
        slopes = legendre_at(np.array([eta]), self.terms)[1][0]
        for j, kind in enumerate(self.kinds):
            row, turn, sign = ROWS[kind]
            bends = kind in PLANES
            value = chebyshev_at((self.turned if bends else self.moved)[:, j] @ slopes, t)
            out[turn - 2 if bends else row // 3][j] = sign * value / (l * l) if bends else value / l
        return out

    @cached_property
    def _table_cache(self) -> dict[Any, StrokeSeries]:
        """Tables, made when first asked for."""
        return {}

    @property
    def terms(self) -> int:
        """Number of terms of the Legendre series."""
        return int(self.moved.shape[2])

    def _shortening_series(self, pairs: Pairs) -> Array:
        """(c, pairs, 2 p): series of l F, F = -int v_i' v_j', half of it for i = j."""
        x, w = legendre.leggauss(2 * self.terms)
        own = [j for j, kind in enumerate(self.kinds) if kind != "torsion"]
        V = self.nodes.values(self.moved[:, own])
        slope = V @ legendre_at((x + 1) / 2, self.terms)[1].T  # (B, m, g)
        f = np.stack([slope[:, i] * slope[:, j] * (-0.5 if i == j else -1) for i, j in pairs], 1)
        to = (legendre.legvander(x, len(x) - 2) * w[:, None]) * (np.arange(len(x) - 1) + 0.5)
        return self.nodes.series(legendre.legint(f @ to, lbnd=-1, axis=2) / 2)


def _family(shapes: FollowingModes, own: list[int], start: float | None) -> ShapeFamily:
    """Integrals of some of the shapes at the nodes of the stroke, rates times powers of l.

    Parameters
    ----------
    shapes : FollowingModes
        All shapes of the link.
    own : list of int
        Shapes of this family: those of bending and stretch, or those of twist.
    start : float, optional
        Fraction of the free length from which on integrals are taken.
    """
    nodes = shapes.nodes
    displacement_series = shapes.moved[:, own]
    rotation_series = shapes.turned[:, own]
    kinds = [shapes.kinds[j] for j in own]

    # Integrals over the material: of displacements, and of rotations where sections have inertia.
    rule = rule_of(shapes.terms, start)
    displacements = at_material_points(nodes.rates(displacement_series), rule, 0)
    rotations = at_material_points(nodes.rates(rotation_series), rule, 1)
    mean, centre = means(displacements, rule)
    turning = None
    if any(shapes.beam.rI) and "torsion" not in kinds:
        turning = products(rotations, rotations, rule), means(rotations, rule)[0]

    # Stiffness and modal mass of the free part, as series along the stroke.
    stiffness, mass = _stiffness_and_mass_at_nodes(shapes, own)
    K = nodes.rates(nodes.series(stiffness))
    M = nodes.rates(nodes.series(mass))
    n = range(len(own))
    return ShapeFamily(
        gram=products(displacements, displacements, rule),
        mean=mean,
        centre=centre,
        tip=nodes.ends(displacement_series),
        slope=nodes.ends(rotation_series),
        stiffness=[[Rate(*K[:, :, i, j]) for j in n] for i in n],
        modal=[Rate(*M[:, :, i, i]) for i in n],
        turning=turning,
    )


def _stiffness_and_mass_at_nodes(shapes: FollowingModes, own: list[int]) -> tuple[Array, Array]:
    """Stiffness times l^3 over EI, and mass with the end load, (nodes, n, n) each.

    Entries between shapes of unlike kinds, and those that are rounding beside the diagonal of the
    stiffness, are zero in both.
    """
    nodes = shapes.nodes
    terms = shapes.terms
    kinds = [shapes.kinds[j] for j in own]
    inertia, rotary_inertia, load, load_moment, load_inertia, shear = _properties_of_kinds(
        shapes.beam, shapes.end, kinds
    )

    # Displacements and rotations along the link at every node of the stroke, (nodes, n, points)
    eta, weights, _ = rule_of(terms, None)
    P, P_slope, _ = legendre_at(eta, terms)
    displacement_terms = nodes.values(shapes.moved[:, own])
    rotation_terms = nodes.values(shapes.turned[:, own])
    displacement = displacement_terms @ P.T
    rotation = rotation_terms @ P.T
    curvature = rotation_terms @ P_slope.T
    shear_angle = displacement_terms @ P_slope.T - rotation

    def integrals_of_products(field: Array) -> Array:
        return (field * weights) @ field.swapaxes(1, 2)

    # At the end every Legendre polynomial is 1
    tip = displacement_terms.sum(axis=2)
    tip_rotation = rotation_terms.sum(axis=2)
    coupled = tip[:, :, None] * tip_rotation[:, None]

    l = nodes.lengths[:, None, None]
    K = integrals_of_products(curvature) + shear * l**2 * integrals_of_products(shear_angle)
    M = inertia * l * integrals_of_products(displacement)
    M = M + rotary_inertia / l * integrals_of_products(rotation)
    M += load * tip[:, :, None] * tip[:, None]
    M += load_moment / l * (coupled + coupled.swapaxes(1, 2))
    M += load_inertia / l**2 * tip_rotation[:, :, None] * tip_rotation[:, None]

    diagonal = np.sqrt(np.diagonal(K, axis1=1, axis2=2))
    rounding = ROUNDING_OF_STIFFNESS * diagonal[:, :, None] * diagonal[:, None]
    coupled_shapes = np.equal.outer(kinds, kinds)
    coupled_shapes &= (np.abs(K) > rounding).any(axis=0)
    return K * coupled_shapes, M * coupled_shapes


def _properties_of_kinds(beam: Beam, end: EndLoad, kinds: list[str]) -> Array:
    """(6, n): what each shape feels of beam and end load, by its kind.

    Inertia and rotary inertia per length; mass of the load, its first moment and its inertia; and
    shear stiffness over bending stiffness, kGA/EI, zero where the beam does not shear.
    """
    about = end.about
    shear = [kGA / EI for kGA, EI in zip(beam.kGA, beam.EI, strict=True)]
    shear = [ratio if np.isfinite(ratio) else 0.0 for ratio in shear]
    properties = {
        "xy": (beam.m, beam.rI[0], end.mass, end.moment, about[2], shear[0]),
        "xz": (beam.m, beam.rI[1], end.mass, end.moment, about[1], shear[1]),
        "axial": (beam.m, 0.0, end.mass, 0.0, 0.0, 1.0),
        "torsion": (beam.rIp, 0.0, about[0], 0.0, 0.0, 1.0),
    }
    return np.array([properties[kind] for kind in kinds]).T


def _restore_length_powers(found: ShapeFamily, l: Scalar) -> ShapeFamily:
    """A family from one at the nodes: its powers of l put back."""
    by, length = powers(l), variable(l)
    cube = length * length * length
    mean, centre = (
        [[x * by[d] for x in row] for d, row in enumerate(part)]
        for part in (found.mean, found.centre)
    )
    turning: Any = found.turning
    if turning is not None:
        means = [[x * by[d + 1] for x in row] for d, row in enumerate(turning[1])]
        turning = times(turning[0], by, 2), means
    return ShapeFamily(
        times(found.gram, by, 0),
        mean,
        centre,
        [as_rate(x, by) for x in found.tip],
        [as_rate(x, by) / length for x in found.slope],
        [[as_rate(x, by) / cube for x in row] for row in found.stiffness],
        [as_rate(x, by) for x in found.modal],
        turning,
    )


@lru_cache(maxsize=32)
def following_modes(
    beam: Beam, end: EndLoad, count: int, axial: int, torsion: int
) -> FollowingModes | None:
    """Return the natural shapes of a uniform sliding link at every free length.

    Where short lengths bring frequencies so near to one another that the series of a shape do not
    settle, it and the higher ones of its kind are made without the rotary inertia of sections, then
    without that of the end load (the equations keep both), and led back towards the natural shapes
    by `_refined`; None where that does not help either.
    """
    plain, bare = replace(beam, rI=(0.0, 0.0)), EndLoad(end.mass, (end.about[0], 0.0, 0.0))
    kinds: tuple[str, ...] = ()
    chosen: dict[int, Array] = {}
    natural: set[int] = set()  # shapes of the beam as it is
    for own, load in ((beam, end), (plain, end), (plain, bare)):
        kinds, series = _series_of(own, load, count, axial, torsion)
        size = np.abs(series).max(axis=(0, 1, 3))
        settled = np.abs(series[-3:]).max(axis=(0, 1, 3)) < 1e-13 * size
        for kind in dict.fromkeys(kinds):
            for j in (j for j, name in enumerate(kinds) if name == kind and j not in chosen):
                if not settled[j]:
                    break
                chosen[j] = series[:, :, j] / size[j]
                chosen[j][np.abs(chosen[j]) < 1e-14] = 0.0  # rounding
                chosen[j] *= size[j]
                if own is beam:
                    natural.add(j)
        if len(chosen) == len(kinds):
            V = np.stack([chosen[j] for j in range(len(kinds))], axis=2)
            V = _iterate_to_natural_shapes(beam, end, kinds, natural, V)
            along, across = (1 + int(np.nonzero(V)[k].max()) for k in (0, 3))
            twists = [kind == "torsion" for kind in kinds]
            member = tuple(twists[:j].count(twist) for j, twist in enumerate(twists))
            V = V[:along, :, :, :across]
            others = tuple(j for j in range(len(kinds)) if j not in natural)
            return FollowingModes(beam, end, kinds, member, V[:, 0], V[:, 1], others)
    return None


def _iterate_to_natural_shapes(
    beam: Beam, end: EndLoad, kinds: tuple[str, ...], natural: set[int], series: Array
) -> Array:
    """Lead shapes made without rotary inertia towards the natural ones, as far as they settle.

    Without rotary inertia the slope of a shape follows from its deflection alone, so that such
    shapes, however many, do not span the motions in which sections turn by themselves. Some rounds
    of subspace iteration, x <- K^-1 M x with all of the inertia, orthogonal in M to the shapes
    before it, give each what it lacks. They stay smooth along the stroke, since no shape is sorted
    by its frequency.

    series : (c, 2, k, p)
        Chebyshev series along the stroke of the Legendre series of deflection and slope.
    """
    simplified = [j for j, kind in enumerate(kinds) if kind in PLANES and j not in natural]
    if not simplified:
        return series
    t = chebyshev.chebpts1(_DEGREE + 1)
    terms = series.shape[3] + SUBSPACE_ITERATIONS * TERMS_OF_A_ROUND
    padded = np.pad(series, [(0, 0)] * 3 + [(0, terms - series.shape[3])])
    nodes: Array = np.moveaxis(chebyshev.chebval(t, padded), -1, 0).astype(float)  # (n, 2, k, p)
    lengths = Stroke(beam.L, _STROKE_EXTENSION).lengths(t)
    for plane in PLANES:
        own = [j for j, kind in enumerate(kinds) if kind == plane]
        if not set(own) & set(simplified):
            continue
        section = _UnitSection.of(beam, end, plane, lengths)
        best: Array | None = None
        shapes: Array = nodes[:, :, own].copy()
        for _ in range(SUBSPACE_ITERATIONS):
            for k, j in enumerate(own):
                if j in simplified:
                    moved = section.statics_under_inertia(shapes[:, :, k])
                    shapes[:, :, k] = section.orthonormal(moved, shapes[:, :, :k])
            found = series_of(t, shapes)
            size = np.abs(found).max(axis=(0, 1, 3))
            tail = np.abs(found[-3:]).max(axis=(0, 1, 3))
            changed = [k for k, j in enumerate(own) if j in simplified]
            if not (tail < 1e-12 * size)[changed].all():
                break
            best = found
        if best is not None:
            for k, j in enumerate(own):
                if j in simplified:
                    padded[:, :, j] = np.where(
                        np.abs(best[:, :, k]) < 1e-14 * np.abs(best[:, :, k]).max(),
                        0.0,
                        best[:, :, k],
                    )
    return padded


@dataclass(frozen=True)
class _UnitSection:
    """A beam of unit length in one plane at n free lengths: (n,) arrays of its properties."""

    mass: Array
    rotary: Array
    bending: Array
    shear: Array
    end_mass: float
    end_moment: Array
    end_inertia: Array

    @classmethod
    def of(cls, beam: Beam, end: EndLoad, plane: str, l: Array) -> _UnitSection:
        """Return that of a beam whose free lengths are l, in coordinates x/l, v and l psi."""
        k = list(PLANES).index(plane)
        about = end.about[2 - k]
        return cls(
            beam.m * l,
            beam.rI[k] / l,
            beam.EI[k] / l**3,
            beam.kGA[k] / l,
            end.mass,
            end.moment / l,
            about / l**2,
        )

    def statics_under_inertia(self, shape: Array) -> Array:
        """Return K^-1 M x of shapes (n, 2, p): a cantilever under the inertia of its own motion.

        Q' = -m v, M' = -Q - rI psi from the free end on, psi' = M/EI, v' = psi + Q/kGA.
        """
        v, psi = shape[:, 0], shape[:, 1]
        tip_v, tip_psi = v.sum(axis=1), psi.sum(axis=1)
        force = self.end_mass * tip_v + self.end_moment * tip_psi
        moment = self.end_moment * tip_v + self.end_inertia * tip_psi
        shear = -_integral(self.mass[:, None] * v)
        shear[:, 0] += force - shear.sum(axis=1)
        bent = -_integral(shear + self.rotary[:, None] * psi)
        bent[:, 0] += moment - bent.sum(axis=1)
        turned = _integral(bent / self.bending[:, None])
        slope = turned + shear / self.shear[:, None]
        return np.stack([_integral(slope), turned], axis=1)

    def product(self, a: Array, b: Array) -> Array:
        """Return a' M b (n,) of shapes (n, 2, p)."""
        weights = 1 / (2 * np.arange(a.shape[2]) + 1)  # of Legendre's polynomials on 0..1
        tip_a, tip_b = a.sum(axis=2), b.sum(axis=2)
        along = self.mass * (a[:, 0] * b[:, 0] * weights).sum(axis=1)
        along = along + self.rotary * (a[:, 1] * b[:, 1] * weights).sum(axis=1)
        at_end = self.end_mass * tip_a[:, 0] * tip_b[:, 0]
        at_end = at_end + self.end_inertia * tip_a[:, 1] * tip_b[:, 1]
        crossed = tip_a[:, 0] * tip_b[:, 1] + tip_a[:, 1] * tip_b[:, 0]
        return np.asarray(along + at_end + self.end_moment * crossed)

    def orthonormal(self, shape: Array, before: Array) -> Array:
        """Return a shape (n, 2, p) orthogonal in M to those before it (n, 2, k, p), of size one."""
        for _ in range(2):
            for k in range(before.shape[2]):
                other = before[:, :, k]
                part = self.product(shape, other) / self.product(other, other)
                shape = shape - part[:, None, None] * other
        return np.asarray(shape / np.sqrt(self.product(shape, shape) / self.mass)[:, None, None])


def _integral(series: Array) -> Array:
    """Return the integral from 0 on of Legendre series (n, p) over 0..1, of as many terms."""
    found = legendre.legint(series, lbnd=-1, axis=1) / 2
    return np.asarray(found[:, : series.shape[1]])


def _series_of(
    beam: Beam, end: EndLoad, count: int, axial: int, torsion: int
) -> tuple[tuple[str, ...], Array]:
    """Kinds of the shapes, and series (c, 2, k, p) of them and of l psi along the stroke.

    At a free length they are those of a beam of unit length with coordinates x/l, u and l psi.
    """
    import scipy.linalg  # noqa: F401  the linear algebra whose threads are meant

    t, parts, (x, y, z) = chebyshev.chebpts1(_DEGREE + 1), [], end.about
    for l in Stroke(beam.L, _STROKE_EXTENSION).lengths(t).tolist():
        unit = Beam(
            1.0,
            beam.m * l,
            EA=beam.EA / l,
            EI=(beam.EI[0] / l**3, beam.EI[1] / l**3),
            kGA=(beam.kGA[0] / l, beam.kGA[1] / l),
            GJ=beam.GJ / l,
            rI=(beam.rI[0] / l, beam.rI[1] / l),
            rIp=beam.rIp * l,
        )
        load = EndLoad(end.mass, (x, y / l**2, z / l**2), end.moment / l)
        parts.append((unit, load))
    with single():
        each = [assumed_shapes(*pair, count, axial, torsion) for pair in parts]
    kinds = each[0].kinds
    V = np.zeros((len(t), 2, len(kinds), each[0].degree + 1))
    for j, kind in enumerate(kinds):
        row, turn, sign = ROWS[kind]
        V[:, 0, j] = [one.coefficients[0, row, j] for one in each]
        if kind in PLANES:
            V[:, 1, j] = [sign * one.coefficients[0, turn, j] for one in each]
    for i in reversed(range(len(t) - 1)):  # signs as at the whole length
        V[i] *= np.where((V[i] * V[i + 1]).sum(axis=(0, 2)) < 0, -1.0, 1.0)[:, None]
    return kinds, series_of(t, V)
