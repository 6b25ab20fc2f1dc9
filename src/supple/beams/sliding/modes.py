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
from itertools import product
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

    4 int psi^2 = psi^2 + 3 psi psi3 - 2 b psi1 psi3 - psi1 psi2 + psi2^2 at the end, with psi1..3
    the derivatives by y over powers of b as they come (psi1 = g', ..).
    """
    # Coefficients with c = 1, and nu of [Theodore1997] (7), without cancellation
    e, s, c = (-b).exp(), b.sin(), b.cos()
    Mb = (law.mu / l) * b
    above = s + c + e + Mb * (c - s - e)
    below = c * e + (1.0 + e * e) * 0.5 - Mb * (s * e - (1.0 - e * e) * 0.5)
    E = above / below * 0.5
    nu = E * e * 2.0 - 1.0
    a = (Rate(1.0), nu, -E, (nu - 1.0) * 0.5)
    grow, fall = a[2], a[3] * e
    g = c + nu * s + grow + fall
    g1 = nu * c - s + grow - fall
    g2 = grow + fall - c - nu * s
    g3 = s - nu * c + grow - fall
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
    else:
        scale = (l / modal if rule == "mass" else 1.0 / square).sqrt() * sign
    b4 = b * b * b * b
    modal = modal * scale * scale
    stiffness = b4 * modal / (l * l * l * l)
    chosen = (a[0] * scale, a[1] * scale, a[2] * scale, a[3] * scale)
    begin3, begin2 = a[2] * e - a[3] - nu, a[2] * e + a[3] - a[0]
    mean = (g3 - begin3) / b
    centre = (b * g3 - g2 + begin2) / (b * b)
    return ClampedMassShape(
        b,
        chosen,
        g * scale,
        slope * scale,
        stiffness,
        modal,
        square * scale * scale,
        mean * scale,
        centre * scale,
    )


@dataclass(frozen=True)
class SlidingModes(SlidingShapes):
    """Clamped-mass shapes of a sliding link.

    Attributes:
        beam, end, kinds, member: see SlidingShapes.  laws: the frequency equations of bending, one
        for both planes where J_L is the same.  twist: that of torsion, or None.
        normalisation: how shapes are scaled along l: `mass` (modal mass with the end load = mass
        outside, as for a link that does not slide), `one` (C_i = 1 as in the paper), `integral`
        (unit integral of psi^2 over eta), `tip` (unit tip value), `unit` (the modal mass of 1 m of
        beam, at every length).  signs: of each function, so
        that its integral is positive under `mass`, `integral` and `unit`.
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
        owners = [law for law in self.laws for _ in range(law.count)]
        found = (
            [b for law in self.laws for b in law.rates(l)]
            if beta is None
            else [law.rate(b, l) for law, b in zip(owners, beta, strict=True)]
        )
        rule, length = self.normalisation, variable(l)
        return [
            _bend(law, b, length, rule, sign)
            for law, b, sign in zip(owners, found, self.signs, strict=True)
        ]

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
            s, c = k.sin(), k.cos()
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
        l, eta = np.asarray(l, float), np.asarray(eta, float)
        out = np.zeros((*np.broadcast_shapes(l.shape, eta.shape), 6, self.count))
        modes, twists = self.bends(l), self._twists(l)
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
        bends, twists, length = self.bends(l, beta), self._twists(l), variable(l)
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
        bends, twists = self.bends(l), self._twists(l)
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
    points = [start + (1 - start) * x for x in points] if start else points
    weights = [(1 - start) * w for w in weights] if start else weights
    at = [place(x, l) if velocity == "material" else Rate(x, -x / l) for x in points]
    values = [[mode.at(x) for x in at] for mode in modes]
    zero, n = Rate(0.0), range(len(modes))
    stiffness = [[modes[i].stiffness if i == j else zero for j in n] for i in n]
    modal = [mode.modal * density for mode in modes]
    tips, slopes = [mode.tip for mode in modes], [mode.slope for mode in modes]
    parts = [[(v.value, v.first, v.second) for v in row] for row in values]
    # Integrals of products, of the functions, and of eta times them, by derivative along l
    n, three = range(len(parts)), range(3)
    gram: list[list[list[list[Scalar]]]] = [
        [[[0.0 for _ in n] for _ in n] for _ in three] for _ in three
    ]
    weighted = [
        [[w * p[d] for w, p in zip(weights, row, strict=True)] for d in three] for row in parts
    ]
    for i in n:
        for j in n:
            for d in three:
                for e in three:
                    if (j, e) >= (i, d):
                        value = sum(a * p[e] for a, p in zip(weighted[i][d], parts[j], strict=True))
                        gram[d][e][i][j] = gram[e][d][j][i] = value
    mean = [[sum(weighted[i][d]) for i in n] for d in three]
    if start is None and velocity == "material" and any(isinstance(x, _Twist) for x in modes):
        jumps = [mode.at(place(0.0, l)).first for mode in modes]
        mean[2] = [x + g / l for x, g in zip(mean[2], jumps, strict=True)]
        for (i, g), (j, h) in product(enumerate(jumps), enumerate(jumps)):
            gram[1][2][i][j] = gram[1][2][i][j] + g * h / (2 * l)
            gram[2][1][i][j] = gram[2][1][i][j] + g * h / (2 * l)
    centre = [
        [sum(x * a for x, a in zip(points, weighted[i][d], strict=True)) for i in n] for d in three
    ]
    return ShapeFamily(gram, mean, centre, tips, slopes, stiffness, modal)


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
    parts: list[dict[tuple[int, int], Array]] = [{}, {}, {}, {}, {}]
    n = len(gram[0][0])
    for i in range(n):
        for j in range(i, n):
            found = [
                l * (gram[0][1][i][j] - gram[1][0][i][j]),
                l * l * gram[1][1][i][j],
                l * l * (gram[1][2][i][j] - gram[2][1][i][j]) * l,
            ]
            series = [truncate_series(chebyshev.chebfit(t, f, degree)) for f in found]
            if any(one is None for one in series):
                return None
            A, Q, T = (np.asarray(one) for one in series)
            slopes = [chebyshev.chebder(f) if len(f) > 1 else np.zeros(1) for f in (A, Q)]
            for part, value in zip(parts, (A, slopes[0], Q, slopes[1], T), strict=True):
                part[i, j] = value
    return SlidingModeTable(*parts)


def tabulated_family(shapes: SlidingModes, table: SlidingModeTable, l: Scalar) -> ShapeFamily:
    """Return a family from closed forms, orthogonality and the table.

    Integrals over the part outside differentiate along l under the integral, the shapes being zero
    at the hub: (int N)' = int N_l, (int x N)' = int x N_l + int N, (int N N')' likewise.
    """
    modes, length, (law,) = shapes.bends(l), variable(l), shapes.laws
    n, t, slope = len(modes), law.stroke.at(l), law.stroke.slope(l)
    mean: list[list[Scalar]] = [[], [], []]
    centre: list[list[Scalar]] = [[], [], []]
    for mode in modes:
        P, X = length * mode.mean, length * length * mode.centre
        for d, value in enumerate((P.value, P.first, P.second)):
            mean[d].append(value / l)
        for d, value in enumerate((X.value, X.first - P.value, X.second - 2 * P.first)):
            centre[d].append(value / (l * l))
    gram = [[[[0.0] * n for _ in range(n)] for _ in range(3)] for _ in range(3)]
    for i in range(n):
        for j in range(i, n):
            # G, l times the integral of two modes: by the end's values, or by orthogonality with
            # the load; then products of their derivatives along l; 22 is never needed
            a, b = modes[i], modes[j]
            G = (
                length * a.square
                if i == j
                else -1.0 * (law.mu * (a.tip * b.tip) + law.j * (a.slope * b.slope))
            )
            A, A1, Q, Q1, T = (
                chebyshev_at(getattr(table, name)[i, j], t) for name in ("A", "A1", "Q", "Q1", "T")
            )
            Ad, Q, Qd, T = A1 * slope, Q / l, (Q1 * slope - Q / l) / l, T / (l * l)
            one = {
                (0, 0): (G.value, G.value),
                (1, 1): (Q, Q),
                (0, 1): ((G.first + A) / 2, (G.first - A) / 2),
                (0, 2): ((G.second + Ad) / 2 - Q, (G.second - Ad) / 2 - Q),
                (1, 2): ((Qd + T) / 2, (Qd - T) / 2),
            }
            for (d, e), (ij, ji) in one.items():
                gram[d][e][i][j] = gram[e][d][j][i] = ij / l
                gram[d][e][j][i] = gram[e][d][i][j] = ji / l
    zero = Rate(0.0)
    stiffness = [[modes[i].stiffness if i == j else zero for j in range(n)] for i in range(n)]
    modal = [mode.modal * shapes.beam.m for mode in modes]
    return ShapeFamily(
        gram, mean, centre, [m.tip for m in modes], [m.slope for m in modes], stiffness, modal
    )


def sliding_modes(
    beam: Beam, end: EndLoad, count: int, torsion: int = 0, normalisation: Normalisation = "mass"
) -> SlidingModes:
    """Return the clamped-mass shapes of a sliding link, `count` in each plane it bends in."""
    mu, about = end.mass / beam.m, end.about
    planes = [k for k in (0, 1) if math.isfinite(beam.EI[k])]
    shared = sorted({about[2 - k] / beam.m for k in planes})
    laws = tuple(ClampedMass(mu, j, beam.L, count) for j in shared)
    kinds = tuple(("xy", "xz")[k] for k in planes for _ in range(count))
    member = [count * shared.index(about[2 - k] / beam.m) + i for k in planes for i in range(count)]
    twist = None
    if torsion and math.isfinite(beam.GJ) and beam.rIp > 0:
        twist = ClampedInertia(about[0] / beam.rIp, beam.L, torsion)
        kinds, member = kinds + ("torsion",) * torsion, [*member, *range(torsion)]
    draft = SlidingModes(
        beam, end, kinds, tuple(member), laws, twist, normalisation, (1.0,) * (count * len(laws))
    )
    if normalisation in ("one", "tip"):
        return draft
    signs = []  # so that each moves more up than down at half the length
    for mode in draft.bends(beam.L / 2):
        each = zip(*draft.quadrature, strict=True)
        signs.append(math.copysign(1.0, sum(w * mode.at(Rate(x)).value for x, w in each)))
    return replace(draft, signs=tuple(signs))
