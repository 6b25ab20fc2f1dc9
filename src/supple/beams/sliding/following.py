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
SETTLED = 1e-13  # of the largest term: a series whose last three terms are smaller has settled,
SETTLED_AFTER_ITERATION = 1e-12  # and after subspace iteration
ROUNDING_OF_SERIES = 1e-14  # of the largest term: smaller ones are zero


@dataclass(frozen=True)
class FollowingModes(SlidingShapes):
    """Natural shapes of a uniform sliding link: they shear, stretch and twist as the beam does.

    Attributes
    ----------
    beam, end, kinds, member
        See SlidingShapes.
    moved, turned : (c, k, p)
        Chebyshev series along the stroke of the Legendre series over eta of every shape, and of l
        times its slope without shear.
    simplified : tuple of int
        Shapes that are not natural ones, see `following_modes`.
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
        """The map from free lengths to the argument of the Chebyshev series."""
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
        twisting = [j for j, kind in enumerate(self.kinds) if kind == "torsion"]
        bending = [j for j, kind in enumerate(self.kinds) if kind != "torsion"]

        key = ("plain", start)
        if key not in self._table_cache:
            at_nodes = [_family(self, own, start) for own in (bending, twisting) if own]
            self._table_cache[key] = self.nodes.fit_along_stroke(at_nodes)

        families: list[ShapeFamily] = []
        if not bending:
            families.append(ShapeFamily([[]], [], [], [], [], [], []))
        for tabulated in self._table_cache[key].at(l):
            families.append(_restore_length_powers(tabulated, l))
        return families[0], families[1] if twisting else None

    @one_thread
    def shortening(
        self, l: Scalar, pairs: Pairs, beta: Beta = None, start: float | None = None
    ) -> Shortening:
        """Return the foreshortening of pairs of bending functions at a free length."""
        key = ("short", pairs, start)
        if key not in self._table_cache:
            self._table_cache[key] = self._shortening_at_nodes(pairs, start)
        found: Shortening = self._table_cache[key].at(l)

        # The table leaves out powers of the free length: put them back
        inverse_powers = powers(l)
        length = variable(l)
        return Shortening(
            pairs,
            gram=times(found.gram, inverse_powers, 2),
            against=times(found.against, inverse_powers, 1),
            mean=_times_powers(found.mean, inverse_powers, 1),
            centre=_times_powers(found.centre, inverse_powers, 1),
            tip=[as_rate(tip, inverse_powers) / length for tip in found.tip],
        )

    def _shortening_at_nodes(self, pairs: Pairs, start: float | None) -> StrokeSeries:
        """Integrals of the foreshortening, with itself and with the shapes, along the stroke."""
        bending = [j for j, kind in enumerate(self.kinds) if kind != "torsion"]
        series = self._shortening_series(pairs)
        rule = rule_of(2 * self.terms, start)
        shortening = at_material_points(self.nodes.rates(series), rule, 1)
        displacements = at_material_points(self.nodes.rates(self.moved[:, bending]), rule, 0)
        mean, centre = means(shortening, rule)
        integrals = Shortening(
            (),
            gram=products(shortening, shortening, rule),
            against=products(shortening, displacements, rule),
            mean=mean,
            centre=centre,
            tip=self.nodes.ends(series),
        )
        return self.nodes.fit_along_stroke(integrals)

    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        """Return displacements and rotations (.., 6, k) at fractions of free lengths."""
        length, fraction = (np.asarray(x, float) for x in np.broadcast_arrays(l, eta))
        t = self.stroke.at(length.ravel())
        P = legendre.legvander(2 * fraction.ravel() - 1, self.terms - 1)

        # Sums of the Legendre series at every place, (places, k)
        displacement = np.einsum("kpb,bp->bk", chebyshev.chebval(t, self.moved), P)
        rotation = np.einsum("kpb,bp->bk", chebyshev.chebval(t, self.turned), P)  # times l

        out = np.zeros((*fraction.shape, 6, self.count))
        for j, kind in enumerate(self.kinds):
            row, turn, sign = ROWS[kind]
            out[..., row, j] = displacement[:, j].reshape(fraction.shape)
            if kind in PLANES:
                out[..., turn, j] = sign * rotation[:, j].reshape(fraction.shape) / length
        return out

    def shapes_at(self, l: float) -> LinkShapes:
        """Return the shapes at a free length as those of a link that does not slide."""
        t = self.stroke.at(l)
        displacement = np.asarray(chebyshev.chebval(t, self.moved))
        rotation = np.asarray(chebyshev.chebval(t, self.turned))  # times l
        series = np.zeros((1, 6, self.count, self.terms))
        for j, kind in enumerate(self.kinds):
            row, turn, sign = ROWS[kind]
            series[0, row, j] = displacement[j]
            if kind in PLANES:
                series[0, turn, j] = sign * rotation[j] / l
        return LinkShapes(np.array([0.0, l]), series, self.kinds)

    def spot(
        self, l: Scalar, eta: Rate, pairs: Pairs, beta: Beta = None
    ) -> tuple[list[tuple[Rate, Rate]], list[Rate]]:
        """Return shapes and their slopes, and the foreshortening of pairs, at one place."""
        key = ("spot", pairs)
        if key not in self._table_cache:
            parts = [self.moved, self.turned]
            if pairs:
                parts.append(self._shortening_series(pairs))
            self._table_cache[key] = self.nodes.fit_along_stroke(
                [_rates_of_coefficients(self.nodes, part) for part in parts]
            )
        found = self._table_cache[key].at(l)

        # Legendre's polynomials at the place, by (n + 1) P_n+1 = (2 n + 1) u P_n - n P_n-1
        terms = max(len(coefficients) for part in found for coefficients in part)
        u = 2.0 * eta - 1.0
        P = [Rate(1.0), u]
        for n in range(1, terms - 1):
            P.append(((2 * n + 1) * (u * P[n]) - n * P[n - 1]) / float(n + 1))

        inverse_powers = powers(l)
        length = variable(l)

        def sums_of_series(part: list[list[Rate]]) -> list[Rate]:
            sums = []
            for coefficients in part:
                terms = zip(coefficients, P, strict=False)
                sums.append(sum((as_rate(c, inverse_powers) * p for c, p in terms), Rate(0.0)))
            return sums

        displacements = sums_of_series(found[0])
        slopes = [psi / length for psi in sums_of_series(found[1])]
        shortening = []
        if pairs:
            shortening = [phi / length for phi in sums_of_series(found[2])]
        return list(zip(displacements, slopes, strict=True)), shortening

    def curvature(self, l: Scalar, eta: float = 0.0) -> Matrix:
        """Return the rates of stretch, twist, psi_y and psi_z along x, (4, k), at a place."""
        t = self.stroke.at(l)
        P_slope = legendre_at(np.array([eta]), self.terms)[1][0]
        out: Matrix = [[0.0] * self.count for _ in range(4)]
        for j, kind in enumerate(self.kinds):
            row, turn, sign = ROWS[kind]
            if kind in PLANES:
                out[turn - 2][j] = sign * chebyshev_at(self.turned[:, j] @ P_slope, t) / (l * l)
            else:
                out[row // 3][j] = chebyshev_at(self.moved[:, j] @ P_slope, t) / l
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
        x, weights = legendre.leggauss(2 * self.terms)
        bending = [j for j, kind in enumerate(self.kinds) if kind != "torsion"]

        # Slopes along eta at Gauss points and nodes of the stroke, (nodes, m, points)
        displacement_terms = self.nodes.values(self.moved[:, bending])
        slope = displacement_terms @ legendre_at((x + 1) / 2, self.terms)[1].T

        integrands = []
        for i, j in pairs:
            factor = -0.5 if i == j else -1
            integrands.append(slope[:, i] * slope[:, j] * factor)
        integrand = np.stack(integrands, 1)

        # From values at Gauss points to Legendre terms, whose integral from the root is a series
        to_terms = legendre.legvander(x, len(x) - 2) * weights[:, None]
        to_terms = to_terms * (np.arange(len(x) - 1) + 0.5)
        integral = legendre.legint(integrand @ to_terms, lbnd=-1, axis=2) / 2
        return self.nodes.series(integral)


def _rates_of_coefficients(nodes: Nodes, series: Array) -> list[list[Rate]]:
    """Coefficients [shape][term] of Legendre series at the nodes, with their rates."""
    rates = np.moveaxis(nodes.rates(series), (2, 3), (0, 1))  # (shapes, terms, 3, nodes)
    coefficients = []
    for shape in rates:
        coefficients.append([Rate(*term) for term in shape])
    return coefficients


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
    """Return a family from one at the nodes, whose rates were taken times powers of l."""
    inverse_powers = powers(l)
    length = variable(l)
    cube = length * length * length

    turning: Any = found.turning
    if turning is not None:
        gram_of_rotations, mean_of_rotations = turning
        turning = (
            times(gram_of_rotations, inverse_powers, 2),
            _times_powers(mean_of_rotations, inverse_powers, 1),
        )

    stiffness = []
    for row in found.stiffness:
        stiffness.append([as_rate(entry, inverse_powers) / cube for entry in row])
    return ShapeFamily(
        gram=times(found.gram, inverse_powers, 0),
        mean=_times_powers(found.mean, inverse_powers, 0),
        centre=_times_powers(found.centre, inverse_powers, 0),
        tip=[as_rate(tip, inverse_powers) for tip in found.tip],
        slope=[as_rate(slope, inverse_powers) / length for slope in found.slope],
        stiffness=stiffness,
        modal=[as_rate(mass, inverse_powers) for mass in found.modal],
        turning=turning,
    )


def _times_powers(integrals: Matrix, inverse_powers: list[Scalar], more: int) -> Matrix:
    """Integrals [d] of derivative d, times l^-(d + more)."""
    scaled = []
    for d, row in enumerate(integrals):
        scaled.append([entry * inverse_powers[d + more] for entry in row])
    return scaled


@lru_cache(maxsize=32)
def following_modes(
    beam: Beam, end: EndLoad, count: int, axial: int, torsion: int
) -> FollowingModes | None:
    """Return the natural shapes of a uniform sliding link at every free length.

    At short lengths two frequencies may come so near to one another that the series of a shape
    does not settle. Then it and the higher ones of its kind are those of a beam without the rotary
    inertia of sections, then also without that of the end load (the equations keep both), moved
    towards the natural shapes by subspace iteration. None where that does not help either.
    """
    without_rotary = replace(beam, rI=(0.0, 0.0))
    point_load = EndLoad(end.mass, (end.about[0], 0.0, 0.0))
    models = ((beam, end), (without_rotary, end), (without_rotary, point_load))

    kinds: tuple[str, ...] = ()
    chosen: dict[int, Array] = {}  # series of the shapes that have settled
    natural: set[int] = set()  # those of the beam as it is
    for model_beam, model_load in models:
        kinds, series = _series_of(model_beam, model_load, count, axial, torsion)
        size = np.abs(series).max(axis=(0, 1, 3))
        settled = np.abs(series[-3:]).max(axis=(0, 1, 3)) < SETTLED * size
        for kind in dict.fromkeys(kinds):
            # From the lowest shape on, until one has not settled
            for j, name in enumerate(kinds):
                if name != kind or j in chosen:
                    continue
                if not settled[j]:
                    break
                chosen[j] = series[:, :, j] / size[j]
                chosen[j][np.abs(chosen[j]) < ROUNDING_OF_SERIES] = 0.0
                chosen[j] *= size[j]
                if model_beam is beam:
                    natural.add(j)
        if len(chosen) < len(kinds):
            continue

        # (c, 2, k, p), without the last terms that are zero in all shapes
        all_series = np.stack([chosen[j] for j in range(len(kinds))], axis=2)
        all_series = _iterate_to_natural_shapes(beam, end, kinds, natural, all_series)
        nonzero = np.nonzero(all_series)
        stroke_terms = 1 + int(nonzero[0].max())
        length_terms = 1 + int(nonzero[3].max())
        all_series = all_series[:stroke_terms, :, :, :length_terms]

        # The number of each shape within its family: bending and stretch, or twist
        twists = [kind == "torsion" for kind in kinds]
        member = tuple(twists[:j].count(twist) for j, twist in enumerate(twists))
        simplified = tuple(j for j in range(len(kinds)) if j not in natural)
        return FollowingModes(
            beam, end, kinds, member, all_series[:, 0], all_series[:, 1], simplified
        )
    return None


def _iterate_to_natural_shapes(
    beam: Beam, end: EndLoad, kinds: tuple[str, ...], natural: set[int], series: Array
) -> Array:
    """Move shapes made without rotary inertia towards the natural ones, as far as they settle.

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

    # Legendre series at the nodes of the stroke, (nodes, 2, k, p), with room for more terms
    t = chebyshev.chebpts1(_DEGREE + 1)
    more_terms = SUBSPACE_ITERATIONS * TERMS_OF_A_ROUND
    padded = np.pad(series, [(0, 0), (0, 0), (0, 0), (0, more_terms)])
    at_nodes: Array = np.moveaxis(chebyshev.chebval(t, padded), -1, 0).astype(float)
    lengths = Stroke(beam.L, _STROKE_EXTENSION).lengths(t)

    for plane in PLANES:
        own = [j for j, kind in enumerate(kinds) if kind == plane]
        iterated = [k for k, j in enumerate(own) if j in simplified]
        if not iterated:
            continue

        # Iterate until the series no longer settle; the last that did are taken
        section = _UnitSection.of(beam, end, plane, lengths)
        shapes: Array = at_nodes[:, :, own].copy()
        last_settled: Array | None = None
        for _ in range(SUBSPACE_ITERATIONS):
            for k in iterated:
                deflected = section.statics_under_inertia(shapes[:, :, k])
                shapes[:, :, k] = section.orthonormal(deflected, shapes[:, :, :k])
            found = series_of(t, shapes)
            size = np.abs(found).max(axis=(0, 1, 3))
            tail = np.abs(found[-3:]).max(axis=(0, 1, 3))
            if not (tail < SETTLED_AFTER_ITERATION * size)[iterated].all():
                break
            last_settled = found

        if last_settled is None:
            continue
        for k in iterated:
            shape = last_settled[:, :, k]
            rounding = ROUNDING_OF_SERIES * np.abs(shape).max()
            padded[:, :, own[k]] = np.where(np.abs(shape) < rounding, 0.0, shape)
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
        return cls(
            mass=beam.m * l,
            rotary=beam.rI[k] / l,
            bending=beam.EI[k] / l**3,
            shear=beam.kGA[k] / l,
            end_mass=end.mass,
            end_moment=end.moment / l,
            end_inertia=end.about[2 - k] / l**2,
        )

    def statics_under_inertia(self, shape: Array) -> Array:
        """Return K^-1 M x of shapes (n, 2, p): a cantilever under the inertia of its own motion.

        Q' = -m v, M' = -Q - rI psi from the free end on, psi' = M/EI, v' = psi + Q/kGA.
        """
        v = shape[:, 0]
        psi = shape[:, 1]
        tip_v = v.sum(axis=1)
        tip_psi = psi.sum(axis=1)

        # Force and moment at the end set the constants of the two integrals
        force = self.end_mass * tip_v + self.end_moment * tip_psi
        moment = self.end_moment * tip_v + self.end_inertia * tip_psi
        shear_force = -_integral(self.mass[:, None] * v)
        shear_force[:, 0] += force - shear_force.sum(axis=1)
        bending_moment = -_integral(shear_force + self.rotary[:, None] * psi)
        bending_moment[:, 0] += moment - bending_moment.sum(axis=1)

        rotation = _integral(bending_moment / self.bending[:, None])
        slope = rotation + shear_force / self.shear[:, None]
        return np.stack([_integral(slope), rotation], axis=1)

    def product(self, a: Array, b: Array) -> Array:
        """Return a' M b (n,) of shapes (n, 2, p)."""
        weights = 1 / (2 * np.arange(a.shape[2]) + 1)  # of Legendre's polynomials on 0..1
        tip_a = a.sum(axis=2)
        tip_b = b.sum(axis=2)
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

    t = chebyshev.chebpts1(_DEGREE + 1)
    about_x, about_y, about_z = end.about
    shapes = []
    with single():
        for l in Stroke(beam.L, _STROKE_EXTENSION).lengths(t).tolist():
            unit_beam = Beam(
                1.0,
                beam.m * l,
                EA=beam.EA / l,
                EI=(beam.EI[0] / l**3, beam.EI[1] / l**3),
                kGA=(beam.kGA[0] / l, beam.kGA[1] / l),
                GJ=beam.GJ / l,
                rI=(beam.rI[0] / l, beam.rI[1] / l),
                rIp=beam.rIp * l,
            )
            about = (about_x, about_y / l**2, about_z / l**2)
            unit_load = EndLoad(end.mass, about, end.moment / l)
            shapes.append(assumed_shapes(unit_beam, unit_load, count, axial, torsion))

    # Legendre series at every node of the stroke, (nodes, 2, k, p)
    kinds = shapes[0].kinds
    series = np.zeros((len(t), 2, len(kinds), shapes[0].degree + 1))
    for j, kind in enumerate(kinds):
        row, turn, sign = ROWS[kind]
        series[:, 0, j] = [one.coefficients[0, row, j] for one in shapes]
        if kind in PLANES:
            series[:, 1, j] = [sign * one.coefficients[0, turn, j] for one in shapes]

    # Signs as at the whole length, which is the last node
    for i in reversed(range(len(t) - 1)):
        overlap = (series[i] * series[i + 1]).sum(axis=(0, 2))
        series[i] *= np.where(overlap < 0, -1.0, 1.0)[:, None]
    return kinds, series_of(t, series)
