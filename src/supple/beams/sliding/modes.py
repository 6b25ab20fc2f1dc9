"""Assumed modes of a link that slides: clamped-mass shapes that follow the free length.

psi = c [cos y - cosh y + nu (sin y - sinh y)], y = beta eta, with beta(l) and nu(beta, l) of the
clamped-mass conditions, written without differences of large numbers:

    psi = c [cos y + nu sin y - E exp(y - beta) - (1 - nu)/2 exp(-y)],   E = (1 + nu) exp(beta)/2.

Source: [Theodore1997], Eqs. (6)-(13).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import ArrayLike, NDArray

from ..shapes import EndLoad, LinkShapes
from ..theory import Beam
from .clamped_inertia import ClampedInertia
from .clamped_mass import ClampedMass, chebyshev_at, truncate_series
from .rates import Rate, place, variable
from .shapes import ROWS, Beta, Matrix, Pairs, ShapeFamily, Shortening, SlidingShapes, Velocity
from .shortening import (
    ClampedMassShape,
    ShortTable,
    foreshortening,
    running_points,
    short_table,
    shortened_at,
)

__all__ = ["NORMALISATIONS", "Normalisation", "SlidingModes", "sliding_modes"]

Array = NDArray[np.float64]
Scalar = Any
Normalisation = Literal["mass", "one", "integral", "tip", "unit"]
NORMALISATIONS: tuple[Normalisation, ...] = ("mass", "one", "integral", "tip", "unit")


@dataclass(frozen=True)
class _Twist:
    """A twisting shape c sin(kappa eta)."""

    k: Rate
    c: Rate
    tip: Rate
    slope: Rate
    stiffness: Rate
    modal: Rate

    def at(self, eta: Rate) -> Rate:
        """Return the shape at a place."""
        return self.c * (self.k * eta).sin()


def _bend(law: ClampedMass, b: Rate, l: Rate, rule: Normalisation, sign: float) -> ClampedMassShape:
    """One clamped-mass shape at a free length, scaled by the rule.

    With g, g1, g2, g3 the shape and its first three derivatives along y = beta eta at the tip,

        4 int psi^2 = g^2 + g2^2 - 2 g1 g3 + (3 g g3 - g1 g2)/beta.
    """
    # nu of [Theodore1997] (7) for c = 1, written without cancellation
    e = (-b).exp()
    s = b.sin()
    c = b.cos()
    mass_term = (law.mu / l) * b
    numerator = s + c + e + mass_term * (c - s - e)
    denominator = c * e + (1.0 + e * e) * 0.5 - mass_term * (s * e - (1.0 - e * e) * 0.5)
    E = numerator / denominator * 0.5
    nu = E * e * 2.0 - 1.0

    # Coefficients of cos y, sin y, exp(y - beta) and exp(-y)
    cosine = Rate(1.0)
    growing = -E
    falling = (nu - 1.0) * 0.5

    # The shape and its derivatives along y at the tip, and at the root
    falling_at_tip = falling * e
    g = c + nu * s + growing + falling_at_tip
    g1 = nu * c - s + growing - falling_at_tip
    g2 = growing + falling_at_tip - c - nu * s
    g3 = s - nu * c + growing - falling_at_tip
    g2_at_root = growing * e + falling - cosine
    g3_at_root = growing * e - falling - nu

    # Integral of psi^2 over eta, and the modal mass per unit density
    square = (g * g + g2 * g2 - 2.0 * g1 * g3 + (3.0 * g * g3 - g1 * g2) / b) * 0.25
    slope = g1 * b / l
    modal = l * square + law.mu * (g * g) + law.j * (slope * slope)

    # The factor c(l) of a rule; `mass`: modal mass = mass outside, `unit`: the same at every l
    scale: Rate | float
    if rule == "unit":
        scale = (1.0 / modal).sqrt() * sign
    elif rule == "one":
        scale = 1.0
    elif rule == "tip":
        scale = 1.0 / g
    elif rule == "mass":
        scale = (l / modal).sqrt() * sign
    else:
        scale = (1.0 / square).sqrt() * sign

    b4 = b * b * b * b
    modal = modal * scale * scale
    stiffness = b4 * modal / (l * l * l * l)
    mean = (g3 - g3_at_root) / b
    centre = (b * g3 - g2 + g2_at_root) / (b * b)
    return ClampedMassShape(
        b=b,
        a=(cosine * scale, nu * scale, growing * scale, falling * scale),
        tip=g * scale,
        slope=slope * scale,
        stiffness=stiffness,
        modal=modal,
        square=square * scale * scale,
        mean=mean * scale,
        centre=centre * scale,
    )


@dataclass(frozen=True)
class SlidingModes(SlidingShapes):
    """Clamped-mass shapes of a sliding link.

    Attributes
    ----------
    beam, end, kinds, member
        See SlidingShapes.
    laws
        The frequency equations of bending, one for both planes where J_L is the same.
    twist
        That of torsion, or None.
    normalisation
        How shapes are scaled along l: `mass` (modal mass with the end load = mass outside, as for a
        link that does not slide), `one` (C_i = 1 as in the paper), `integral` (unit integral of
        psi^2 over eta), `tip` (unit tip value), `unit` (the modal mass of 1 m of beam, at every
        length).
    signs
        Of each function, so that its integral is positive under `mass`, `integral` and `unit`.
    """

    beam: Beam
    end: EndLoad
    kinds: tuple[str, ...]
    member: tuple[int, ...]
    laws: tuple[ClampedMass, ...]
    twist: ClampedInertia | None
    normalisation: Normalisation
    signs: tuple[float, ...]
    analytic: ClassVar[bool] = True

    @cached_property
    def quadrature(self) -> tuple[list[float], list[float]]:
        """Gauss points and weights on 0..1 that integrate products of the shapes to rounding."""
        top = [max(law.roots(law.length)) for law in self.laws]
        if self.twist is not None:
            top.append(max(self.twist.roots(self.twist.length)))
        # Gauss points on 0..1 that integrate exp(rate x) and its oscillating kin to rounding. Error
        # of n points: (n!)^4 rate^(2n) exp(rate) / ((2n + 1) (2n)!^3)
        rate = 2 * max(top)
        n = 4
        while True:
            log = 4 * math.lgamma(n + 1) - 3 * math.lgamma(2 * n + 1) - math.log(2 * n + 1)
            if log + 2 * n * math.log(rate) < math.log(1e-17):
                break
            n += 1
        t, w = np.polynomial.legendre.leggauss(n)
        return ((t + 1) / 2).tolist(), (w / 2).tolist()

    def bends(self, l: Scalar, beta: Beta = None) -> list[ClampedMassShape]:
        """Return the functions of bending at a free length, with beta given or by Newton."""
        equations: list[ClampedMass] = []
        roots: list[Rate] = []
        for law in self.laws:
            equations += [law] * law.count
            if beta is None:
                roots += law.rates(l)
        if beta is not None:
            roots = [law.rate(b, l) for law, b in zip(equations, beta, strict=True)]

        length = variable(l)
        shapes = []
        for law, root, sign in zip(equations, roots, self.signs, strict=True):
            shapes.append(_bend(law, root, length, self.normalisation, sign))
        return shapes

    def families(
        self,
        l: Scalar,
        velocity: Velocity = "material",
        held: Scalar = None,
        beta: Beta = None,
        start: float | None = None,
    ) -> tuple[ShapeFamily, ShapeFamily | None]:
        """Return the functions of bending and of twist at a free length.

        Under velocity `paper` the shapes' rates are those of [Theodore1997] (24) as printed: at a
        fixed place instead of a material point, and with beta as a constant, that of the length
        `held` where it is given.
        """
        bends: Sequence[ClampedMassShape | _Twist] = self.bends(l, beta)
        if velocity == "paper":
            # Functions whose beta is that of a length held; stiffness and modal mass as they are
            length = l if held is None else held
            bends = []
            for mode in self.bends(length, beta):
                a = [Rate(part.value) for part in mode.a]
                slope = Rate(mode.slope.value * length / l)
                bends.append(
                    replace(
                        mode,
                        b=Rate(mode.b.value),
                        a=(a[0], a[1], a[2], a[3]),
                        tip=Rate(mode.tip.value),
                        slope=slope,
                    )
                )
        if velocity == "material" and beta is None and not start and self.table is not None:
            bending = tabulated_family(self, self.table, l)
        else:
            bending = summed_family(self, bends, l, velocity, self.beam.m, start)
        if self.twist is None:
            return bending, None
        return bending, summed_family(self, self._twists(l), l, velocity, self.beam.rIp, start)

    def _twists(self, l: Scalar) -> list[_Twist]:
        """The functions of twist at a free length."""
        if self.twist is None:
            return []
        ratio = self.beam.m / self.beam.rIp
        # One twisting shape, modal inertia with the end load = mass outside; ratio = m/(rho I_p)
        twists = []
        for k in self.twist.rates(l):
            length = variable(l)
            s = k.sin()
            c = k.cos()
            modal = length * (0.5 - s * c / (2.0 * k)) + self.twist.lam * (s * s)
            scale = (length * ratio / modal).sqrt()
            modal = modal * scale * scale
            twists.append(
                _Twist(
                    k,
                    scale,
                    scale * s,
                    scale * k * c / length,
                    k * k * modal / (length * length),
                    modal,
                )
            )
        return twists

    def shortening(
        self, l: Scalar, pairs: Pairs, beta: Beta = None, start: float | None = None
    ) -> Shortening:
        """Return the foreshortening of pairs of bending functions at a free length."""
        if beta is None and not start and self.table is not None:
            if pairs not in self._short:
                self._short[pairs] = short_table(
                    lambda at: foreshortening(self.bends(at), pairs, at, self._running),
                    self.laws[0].count,
                    self.laws[0].stroke,
                )
            table = self._short[pairs]
            if table is not None:
                return table.at(l, self.laws[0].stroke.at(l))
        return foreshortening(self.bends(l, beta), pairs, l, self._running, start or 0.0)

    @cached_property
    def _short(self) -> dict[Pairs, ShortTable | None]:
        """Tables of foreshortening, made when first asked for."""
        return {}

    @cached_property
    def _running(self) -> tuple[Array, Array, Array]:
        return running_points(2 * max(max(law.roots(law.length)) for law in self.laws))

    @cached_property
    def table(self) -> SlidingModeTable | None:
        """Products that have no closed form, tabulated along l; None where that is not exact."""
        plain = len(self.laws) == 1 and self.normalisation in ("mass", "one", "unit")
        return table_of(self) if plain else None

    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        """Return displacements and rotations (.., 6, k) at fractions of free lengths."""
        l = np.asarray(l, float)
        eta = np.asarray(eta, float)
        out = np.zeros((*np.broadcast_shapes(l.shape, eta.shape), 6, self.count))
        modes = self.bends(l)
        twists = self._twists(l)
        for j, (kind, i) in enumerate(zip(self.kinds, self.member, strict=True)):
            row, turn, sign = ROWS[kind]
            one = twists[i] if kind == "torsion" else modes[i]
            out[..., row, j] = one.at(Rate(eta)).value
            if isinstance(one, ClampedMassShape):
                out[..., turn, j] = sign * one.slopes(Rate(eta))[0].value / l
        return out

    def shapes_at(self, l: float) -> LinkShapes:
        """Return the shapes at a free length: their Legendre series, by Gauss's rule."""
        eta, w = self.quadrature
        P = legendre.legvander(2 * np.array(eta) - 1, len(eta) - 1)
        series = np.einsum("gn,gcj->cjn", P * np.array(w)[:, None], self.fields(l, eta))
        return LinkShapes(
            np.array([0.0, l]), (series * (2 * np.arange(len(eta)) + 1))[None], self.kinds
        )

    def spot(
        self, l: Scalar, eta: Rate, pairs: Pairs, beta: Beta = None
    ) -> tuple[list[tuple[Rate, Rate]], list[Rate]]:
        """Return shapes and their slopes, and the foreshortening of pairs, at one place."""
        bends = self.bends(l, beta)
        twists = self._twists(l)
        length = variable(l)
        out = []
        for kind, i in zip(self.kinds, self.member, strict=True):
            if kind == "torsion":
                out.append((twists[i].at(eta), Rate(0.0)))
            else:
                out.append((bends[i].at(eta), bends[i].slopes(eta)[0] / length))
        short = shortened_at(bends, pairs, length, eta, self._running) if pairs else []
        return out, short

    def curvature(self, l: Scalar, eta: float = 0.0) -> Matrix:
        """Return the rates of stretch, twist, psi_y and psi_z along x, (4, k), at a fraction."""
        out: Matrix = [[0.0] * self.count for _ in range(4)]
        bends = self.bends(l)
        twists = self._twists(l)
        for j, (kind, i) in enumerate(zip(self.kinds, self.member, strict=True)):
            if kind == "torsion":
                one = twists[i]
                out[1][j] = (one.c * one.k * (one.k * eta).cos()).value / l
            else:
                _, turn, sign = ROWS[kind]
                out[turn - 2][j] = sign * bends[i].slopes(eta)[1].value / (l * l)
        return out


def summed_family(
    shapes: SlidingModes,
    modes: Sequence[ClampedMassShape | _Twist],
    l: Scalar,
    velocity: Velocity,
    density: float,
    start: float | None = None,
) -> ShapeFamily:
    """Return a family's integrals by quadrature, from the fraction `start` on.

    Twist begins with a slope, so that its rate jumps at the hub, see `shapes`; bending does not.
    """
    points, weights = shapes.quadrature
    if start:
        points = [start + (1 - start) * eta for eta in points]
        weights = [(1 - start) * weight for weight in weights]

    # The places move with the material, or stand still as in the paper
    if velocity == "material":
        places = [place(eta, l) for eta in points]
    else:
        places = [Rate(eta, -eta / l) for eta in points]

    # samples[mode][point]: value and two derivatives along l; weighted[mode][derivative][point]
    orders = range(3)
    samples: list[list[tuple[Scalar, ...]]] = []
    weighted: list[list[list[Scalar]]] = []
    for mode in modes:
        values = [mode.at(eta) for eta in places]
        rates = [(value.value, value.first, value.second) for value in values]
        samples.append(rates)
        weighted.append([_weigh(weights, [rate[d] for rate in rates]) for d in orders])

    # gram[d][e][i][j]: integral of derivative d of mode i times derivative e of mode j
    count = len(modes)
    gram = _empty_gram(count)
    for i in range(count):
        for j in range(count):
            for d in orders:
                for e in orders:
                    if (j, e) < (i, d):
                        continue  # symmetric: already there
                    other = [rate[e] for rate in samples[j]]
                    value = sum(_weigh(weighted[i][d], other))
                    gram[d][e][i][j] = value
                    gram[e][d][j][i] = value

    # Integrals of the functions, and of eta times them
    mean: list[list[Scalar]] = []
    centre: list[list[Scalar]] = []
    for d in orders:
        mean.append([sum(weighted[i][d]) for i in range(count)])
        centre.append([sum(_weigh(points, weighted[i][d])) for i in range(count)])

    # What the jump of the rate of twist at the hub adds
    has_twist = any(isinstance(mode, _Twist) for mode in modes)
    if start is None and velocity == "material" and has_twist:
        jumps = [mode.at(place(0.0, l)).first for mode in modes]
        for i in range(count):
            mean[2][i] = mean[2][i] + jumps[i] / l
            for j in range(count):
                added = jumps[i] * jumps[j] / (2 * l)
                gram[1][2][i][j] = gram[1][2][i][j] + added
                gram[2][1][i][j] = gram[2][1][i][j] + added

    tips = [mode.tip for mode in modes]
    slopes = [mode.slope for mode in modes]
    modal = [mode.modal * density for mode in modes]
    return ShapeFamily(gram, mean, centre, tips, slopes, _diagonal_stiffness(modes), modal)


def _weigh(weights: Sequence[Scalar], values: Sequence[Scalar]) -> list[Scalar]:
    """Products of weights and values, point by point."""
    return [weight * value for weight, value in zip(weights, values, strict=True)]


def _empty_gram(count: int) -> list[list[Matrix]]:
    """Zeros [derivative][derivative][mode][mode], to be filled."""
    gram: list[list[Matrix]] = []
    for _ in range(3):
        row: list[Matrix] = []
        for _ in range(3):
            row.append([[0.0] * count for _ in range(count)])
        gram.append(row)
    return gram


def _diagonal_stiffness(modes: Sequence[ClampedMassShape | _Twist]) -> list[list[Rate]]:
    """The stiffness matrix of natural shapes: nothing beside its diagonal."""
    count = len(modes)
    stiffness = [[Rate(0.0)] * count for _ in range(count)]
    for i, mode in enumerate(modes):
        stiffness[i][i] = mode.stiffness
    return stiffness


@dataclass(frozen=True)
class SlidingModeTable:
    """Chebyshev series along the stroke, for modes i <= j: what no closed form gives of l gram.

    A = 01 - 10 and T = 12 - 21 (antisymmetric), Q = 11; A1 and Q1 their slopes along t.
    """

    A: dict[tuple[int, int], Array]
    A1: dict[tuple[int, int], Array]
    Q: dict[tuple[int, int], Array]
    Q1: dict[tuple[int, int], Array]
    T: dict[tuple[int, int], Array]


def table_of(shapes: SlidingModes, degree: int = 48) -> SlidingModeTable | None:
    """Return the table of one set of shapes, or None when series of this degree do not settle."""
    t = chebyshev.chebpts1(degree + 1)
    l = shapes.laws[0].stroke.lengths(t)
    gram = summed_family(shapes, shapes.bends(l), l, "material", shapes.beam.m).gram

    table = SlidingModeTable({}, {}, {}, {}, {})
    count = len(gram[0][0])
    for i in range(count):
        for j in range(i, count):
            sampled_A = l * (gram[0][1][i][j] - gram[1][0][i][j])
            sampled_Q = l * l * gram[1][1][i][j]
            sampled_T = l * l * (gram[1][2][i][j] - gram[2][1][i][j]) * l
            A = truncate_series(chebyshev.chebfit(t, sampled_A, degree))
            Q = truncate_series(chebyshev.chebfit(t, sampled_Q, degree))
            T = truncate_series(chebyshev.chebfit(t, sampled_T, degree))
            if A is None or Q is None or T is None:
                return None

            table.A[i, j] = A
            table.A1[i, j] = _series_slope(A)
            table.Q[i, j] = Q
            table.Q1[i, j] = _series_slope(Q)
            table.T[i, j] = T
    return table


def _series_slope(series: Array) -> Array:
    """The derivative of a Chebyshev series; zero where it is a constant."""
    if len(series) == 1:
        return np.zeros(1)
    return np.asarray(chebyshev.chebder(series))


def tabulated_family(shapes: SlidingModes, table: SlidingModeTable, l: Scalar) -> ShapeFamily:
    """Return a family from closed forms, orthogonality and the table.

    Integrals over the part outside differentiate along l under the integral, the shapes being zero
    at the hub: (int N)' = int N_l, (int x N)' = int x N_l + int N, (int N N')' likewise.
    """
    modes = shapes.bends(l)
    count = len(modes)
    length = variable(l)
    (law,) = shapes.laws
    t = law.stroke.at(l)
    dt_dl = law.stroke.slope(l)

    # Integrals of N and of x N in closed form
    mean: list[list[Scalar]] = [[], [], []]
    centre: list[list[Scalar]] = [[], [], []]
    for mode in modes:
        P = length * mode.mean
        mean[0].append(P.value / l)
        mean[1].append(P.first / l)
        mean[2].append(P.second / l)

        X = length * length * mode.centre
        centre[0].append(X.value / (l * l))
        centre[1].append((X.first - P.value) / (l * l))
        centre[2].append((X.second - 2 * P.first) / (l * l))

    gram = _empty_gram(count)
    for i in range(count):
        for j in range(i, count):
            # G, l times the integral of two modes: by the end's values, or by orthogonality with
            # the load
            if i == j:
                G = length * modes[i].square
            else:
                translation = law.mu * (modes[i].tip * modes[j].tip)
                rotation = law.j * (modes[i].slope * modes[j].slope)
                G = -1.0 * (translation + rotation)

            # Products of derivatives along l, from the table; A and T change sign with i and j
            A = chebyshev_at(table.A[i, j], t)
            A_first = chebyshev_at(table.A1[i, j], t) * dt_dl
            tabulated_Q = chebyshev_at(table.Q[i, j], t)
            tabulated_Q1 = chebyshev_at(table.Q1[i, j], t)
            Q = tabulated_Q / l
            Q_first = (tabulated_Q1 * dt_dl - tabulated_Q / l) / l
            T = chebyshev_at(table.T[i, j], t) / (l * l)

            # By orders of the derivatives: the entry (i, j), and (j, i); 22 is never needed
            entries = {
                (0, 0): (G.value, G.value),
                (1, 1): (Q, Q),
                (0, 1): ((G.first + A) / 2, (G.first - A) / 2),
                (0, 2): ((G.second + A_first) / 2 - Q, (G.second - A_first) / 2 - Q),
                (1, 2): ((Q_first + T) / 2, (Q_first - T) / 2),
            }
            for (d, e), (ij, ji) in entries.items():
                mean_ij = ij / l
                mean_ji = ji / l
                gram[d][e][i][j] = mean_ij
                gram[e][d][j][i] = mean_ij
                gram[d][e][j][i] = mean_ji
                gram[e][d][i][j] = mean_ji

    tips = [mode.tip for mode in modes]
    slopes = [mode.slope for mode in modes]
    modal = [mode.modal * shapes.beam.m for mode in modes]
    return ShapeFamily(gram, mean, centre, tips, slopes, _diagonal_stiffness(modes), modal)


def sliding_modes(
    beam: Beam, end: EndLoad, count: int, torsion: int = 0, normalisation: Normalisation = "mass"
) -> SlidingModes:
    """Return the clamped-mass shapes of a sliding link, `count` in each plane it bends in."""
    # One frequency equation for every different J_L/(rho A) of the planes
    planes = [k for k in (0, 1) if math.isfinite(beam.EI[k])]
    inertia_of_plane = {k: end.about[2 - k] / beam.m for k in planes}
    inertias = sorted(set(inertia_of_plane.values()))
    mass_length = end.mass / beam.m
    laws = tuple(ClampedMass(mass_length, inertia, beam.L, count) for inertia in inertias)

    kinds: list[str] = []
    member: list[int] = []
    for k in planes:
        first = count * inertias.index(inertia_of_plane[k])
        kinds += [("xy", "xz")[k]] * count
        member += range(first, first + count)

    twist = None
    if torsion and math.isfinite(beam.GJ) and beam.rIp > 0:
        twist = ClampedInertia(end.about[0] / beam.rIp, beam.L, torsion)
        kinds += ["torsion"] * torsion
        member += range(torsion)

    unsigned = SlidingModes(
        beam,
        end,
        tuple(kinds),
        tuple(member),
        laws,
        twist,
        normalisation,
        signs=(1.0,) * (count * len(laws)),
    )
    if normalisation in ("one", "tip"):
        return unsigned

    # Signs by which each shape moves more up than down at half the length
    points, weights = unsigned.quadrature
    signs = []
    for mode in unsigned.bends(beam.L / 2):
        values = [mode.at(Rate(eta)).value for eta in points]
        signs.append(math.copysign(1.0, sum(_weigh(weights, values))))
    return replace(unsigned, signs=tuple(signs))
