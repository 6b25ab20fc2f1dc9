"""Finite elements on a link that slides: a mesh that stretches with the free length.

Shapes are fixed functions of eta = x/l, so a material point moves through the mesh at
d eta/dl = (1 - eta)/l and every integral is a constant times a power of l. Along l, at a material
point, a function l^-p f(eta) goes as

    l^-(p+1) [(1 - eta) f' - p f],
    l^-(p+2) [(1 - eta)^2 f'' - 2 (p + 1) (1 - eta) f' + p (p + 1) f].

A deflection is F + (L/l)^2 G, the parts of bending and of shear at the whole length L: curvature
F''/l^2 and shear strain (L/l)^2 G'/l then keep, at every length, the ratio that equilibrium gives
them at L, psi = F'/l.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import ArrayLike, NDArray

from ..invariants import foreshortening, gauss_points, invariants
from ..shapes import PLANES, EndLoad, LinkShapes
from ..theory import AnyBeam, Beam
from .clamped_mass import Stroke, chebyshev_at
from .rates import Rate, variable
from .shapes import (
    ROWS,
    Beta,
    Matrix,
    Pairs,
    ShapeFamily,
    Shortening,
    SlideIntegrals,
    SlidingShapes,
    Velocity,
    only_material,
)
from .stretched import layered_shortening, moments_of, short_tables, tables
from .weighted import WeightedMoments, piecewise

__all__ = ["SlidingElements"]

Array = NDArray[np.float64]
Scalar = Any
_STIFF = {0: 1, 1: 2, 2: 3, 3: 6}  # by the component that a shape moves: EA, EI_xy, EI_xz, GJ


@dataclass(frozen=True)
class SlidingElements(SlidingShapes):
    """Elements of a sliding link.

    Attributes
    ----------
    beam, end
        The whole beam, and its end load.
    shapes
        The elements' shapes on the whole length, which stretch to the free one.
    """

    beam: AnyBeam
    end: EndLoad
    shapes: LinkShapes

    @property
    def kinds(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.shapes.kinds

    @cached_property
    def member(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of each shape among those of bending, or of twist."""
        out = []
        seen = {False: 0, True: 0}
        for kind in self.kinds:
            twists = kind == "torsion"
            out.append(seen[twists])
            seen[twists] += 1
        return tuple(out)

    @cached_property
    def layers(self) -> tuple[LinkShapes, ...]:
        """The shapes without shear, F, and where the beam shears what shear adds, G."""
        own = self.shapes
        if not any(self.beam.deforms.kGA):
            return (own,)
        width = np.diff(own.breaks)[:, None]
        bent = np.pad(own.coefficients, [(0, 0)] * 3 + [(0, 1)])
        sheared = np.zeros_like(bent)
        for j, kind in enumerate(own.kinds):
            row, turn, sign = ROWS[kind]
            if kind in PLANES:
                psi = sign * own.coefficients[:, turn, j]
                F = width / 2 * legendre.legint(psi, lbnd=-1, axis=1)
                F[1:, 0] += np.cumsum(F.sum(axis=1))[:-1]
                sheared[:, row, j] = bent[:, row, j] - F
                bent[:, row, j] = F
        return tuple(LinkShapes(own.breaks, part, own.kinds) for part in (bent, sheared))

    @cached_property
    def _table_cache(self) -> dict[Any, Any]:
        """Tables by the fraction they begin at, made when first asked for."""
        return {}

    def families(
        self,
        l: Scalar,
        velocity: Velocity = "material",
        held: Scalar = None,
        beta: Beta = None,
        start: float | None = None,
    ) -> tuple[ShapeFamily, ShapeFamily | None]:
        """Return the functions of bending and of twist at a free length."""
        if velocity != "material":
            raise only_material()
        if ("plain", start) not in self._table_cache:
            self._table_cache["plain", start] = tables(self.beam, self.layers, start)
        bending, torsion = self._table_cache["plain", start]
        twist = _family(self, torsion, l, 9, 1) if len(torsion["slope"]) else None
        return _family(self, bending, l, 0, 3), twist

    def shortening(
        self, l: Scalar, pairs: Pairs, beta: Beta = None, start: float | None = None
    ) -> Shortening:
        """Return F = phi(eta)/l of pairs, with the rates of a material point."""
        if ("short", start) not in self._table_cache:
            self._table_cache["short", start] = short_tables(self.beam, self.layers, start)
        table = self._table_cache["short", start]
        L = self.beam.L
        places = [table["pairs"].index(pair) for pair in pairs]
        evaluate = _evaluation_of(moments_of(l, table, 0))
        length_powers = [[_power(l, L, d, s) for s in range(5)] for d in range(7)]

        def products(name: str, power: int, columns: Any) -> list[list[Matrix]]:
            """Integrals of the pairs' rates times others, which have `power` times 1/l more."""
            return [
                [
                    _evaluate_integrals(
                        evaluate,
                        table[name][d][e][:, places][:, :, columns],
                        length_powers[d + e + power],
                    )
                    for e in range(3)
                ]
                for d in range(3)
            ]

        def integrals(name: str) -> Matrix:
            return [
                _evaluate_integrals(
                    evaluate, table[name][d][:, None, places], length_powers[d + 1]
                )[0]
                for d in range(3)
            ]

        layer_shares = [_power(variable(l), L, 1, s) for s in range(3)]
        tips = [
            Rate(0.0) + _weighted_sum(layers_of_pair, layer_shares)
            for layers_of_pair in table["tip"][:, places].T.tolist()
        ]
        return Shortening(
            pairs=pairs,
            gram=products("gram", 2, places),
            against=products("against", 1, slice(None)),
            mean=integrals("mean"),
            centre=integrals("centre"),
            tip=tips,
        )

    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        """Return displacements and rotations (.., 6, k) at fractions of free lengths."""
        length, at = (np.asarray(x, float) for x in np.broadcast_arrays(l, eta))
        ratio = (self.beam.L / length.ravel())[:, None, None]
        parts = [layer.at(self.beam.L * at.ravel()) for layer in self.layers]
        parts[0][:, 4:] *= ratio
        found = sum(part * ratio ** (2 * s) for s, part in enumerate(parts))
        return np.asarray(found).reshape(*at.shape, 6, self.count)

    def spot(
        self, l: Scalar, eta: Rate, pairs: Pairs, beta: Beta = None
    ) -> tuple[list[tuple[Rate, Rate]], list[Rate]]:
        """Return shapes and their slopes, and the foreshortening of pairs, at one place."""
        length = variable(l)
        unit = self.shapes.breaks / self.beam.L
        rows = [ROWS[kind][0] for kind in self.kinds]
        shares = [_power(length, self.beam.L, 0, s) for s in range(3)]
        moved = []
        slopes = []
        for layer in self.layers:
            series = np.moveaxis(layer.coefficients[:, rows, range(len(rows))], -1, 1)
            f = [piecewise(eta.value, unit, series, d) for d in range(4)]
            moved.append([eta.of(*one[:3]) for one in zip(*f, strict=True)])
            slopes.append([eta.of(*one[1:]) / length for one in zip(*f, strict=True)])
        each = [
            (_weighted_sum(list(parts), shares), slope)
            for *parts, slope in zip(*moved, slopes[0], strict=True)
        ]
        if not pairs:
            return each, []
        # phi = l F on every piece, a polynomial
        terms = 2 * self.layers[0].degree
        t, w = legendre.leggauss(terms)
        x, _ = gauss_points(self.shapes.breaks, terms)
        to = (np.arange(terms) + 0.5)[:, None] * legendre.legvander(t, terms - 1).T
        own, parts = layered_shortening(self.layers, lambda one: foreshortening(one, x))
        named = [(self.member[a], self.member[b]) for a, b in own]
        at = [named.index(pair) for pair in pairs]
        short = []
        for moves in parts:
            phi = (self.beam.L * moves[:, 0]).reshape(len(unit) - 1, terms, -1)
            series = np.einsum("ng,pgm->pnm", to * w, phi)
            f = [piecewise(eta.value, unit, series, d) for d in range(3)]
            short.append([eta.of(*(part[k] for part in f)) / length for k in at])
        return each, [_weighted_sum(list(one), shares) for one in zip(*short, strict=True)]

    def curvature(self, l: Scalar, eta: float = 0.0) -> Matrix:
        """Return the rates of stretch, twist, psi_y and psi_z along x, (4, k), at a fraction."""
        L = self.beam.L
        out = [[0.0] * self.count for _ in range(4)]
        slope = self.shapes.at(eta * L, 1)[0]
        for j, kind in enumerate(self.kinds):
            turn = ROWS[kind][1]
            bends = kind in PLANES
            value = float(slope[turn, j]) * (L * L if bends else L)
            out[max(turn - 2, 0)][j] = value / (l * l) if bends else value / l
        return out

    def shapes_at(self, l: float) -> LinkShapes:
        """Return the shapes at a free length."""
        ratio = self.beam.L / l
        own = self.layers[0].coefficients.copy()
        own[:, 4:] *= ratio
        for layer in self.layers[1:]:
            own[:, :3] += ratio**2 * layer.coefficients[:, :3]
        return LinkShapes(self.shapes.breaks / ratio, own, self.kinds)

    def damping(
        self, found: SlideIntegrals, l: Scalar, ratios: list[float], speed: list[Scalar]
    ) -> list[Scalar]:
        """Return modal damping of the free part with its end load, which is carried along.

        A plain Euler-Bernoulli beam without one has frequencies that go as 1/l^2 and masses as l:
        its matrix is that at the whole length, times L/l.
        """
        zeta = ratios[0] if ratios else 0.0
        factor = self.beam.L / l
        plain = len(self.layers) == 1 and all(kind in PLANES for kind in self.kinds)
        plain = plain and self.end == EndLoad()
        if isinstance(self.beam, Beam) and not plain:
            stroke = Stroke(self.beam.L)
            C = [[chebyshev_at(c, stroke.at(l)) for c in row] for row in self._damping_series]
        else:
            C = self._at_one(self.beam.L).tolist()
        return [
            2 * zeta * factor * sum(c * v for c, v in zip(row, speed, strict=True)) for row in C
        ]

    def _at_one(self, l: float) -> Array:
        """l/L times M (M^-1 K)^(1/2) of the free part and its end load at one length, (k, k)."""
        from scipy.linalg import eigh

        inv = invariants(self.beam.outside(l), self.shapes_at(l), self.end)
        omega2, Phi = eigh(inv.K, inv.modal_mass)
        side = inv.modal_mass @ Phi
        return np.asarray((side * np.sqrt(omega2)) @ side.T) * l / self.beam.L

    @cached_property
    def _damping_series(self) -> list[list[Array]]:
        """The same along the stroke, as Chebyshev series."""
        t = chebyshev.chebpts1(49)
        rows = [self._at_one(l).ravel() for l in Stroke(self.beam.L).lengths(t).tolist()]
        series = chebyshev.chebfit(t, np.array(rows), 48)
        small = 1e-14 * np.abs(series).max()
        cut = [c[: 1 + int(np.nonzero(np.abs(c) > small)[0].max(initial=0))] for c in series.T]
        return [cut[i : i + self.count] for i in range(0, len(cut), self.count)]


def _family(
    own: SlidingElements, table: dict[str, Any], l: Scalar, column: int, power: int
) -> ShapeFamily:
    """Integrals of a family of shapes at a free length.

    Parameters
    ----------
    own : SlidingElements
        The link.
    table : dict
        Integrals at unit length, from `stretched.tables`.
    l : scalar
        Free length, m.
    column : int
        Property of the section that weighs the integrals: mass per length (0), or polar inertia
        per length (9).
    power : int
        Power of 1/l in the stiffness: 3 for bending, 1 for twist.
    """
    L = own.beam.L
    length = variable(l)
    moments = moments_of(l, table, column)
    evaluate = _evaluation_of(moments)
    # length_powers[d][s]: factor of a d-th derivative along l, multiplied s times by (L/l)^2
    length_powers = [[_power(l, L, d, s) for s in range(3)] for d in range(5)]

    gram = [
        [_evaluate_integrals(evaluate, table["gram"][d][e], length_powers[d + e]) for e in range(3)]
        for d in range(3)
    ]
    mean = [
        _evaluate_integrals(evaluate, table["mean"][d][:, None], length_powers[d])[0]
        for d in range(3)
    ]
    centre = [
        _evaluate_integrals(evaluate, table["centre"][d][:, None], length_powers[d])[0]
        for d in range(3)
    ]

    layer_shares = [_power(length, L, 0, s) for s in range(3)]
    tip = [
        Rate(0.0) + _weighted_sum(layers_of_shape, layer_shares)
        for layers_of_shape in table["tip"].T.tolist()
    ]
    slope = [(1.0 / length) * value for value in table["slope"].tolist()]

    # Modal masses: the diagonal of the Gram matrix, one row a layer, times the density
    density = own.unit.rIp if power == 1 else own.unit.m
    diagonal = np.moveaxis(np.diagonal(table["gram"][0][0], axis1=1, axis2=2), -1, 1)
    masses = [[square * density for square in _rates(moments, layer)] for layer in diagonal]
    modal = [
        length * _weighted_sum(list(layers_of_shape), layer_shares)
        for layers_of_shape in zip(*masses, strict=True)
    ]

    turning = None
    if "turned" in table:
        turning = _turning(table, l, L)
    return ShapeFamily(
        gram=gram,
        mean=mean,
        centre=centre,
        tip=tip,
        slope=slope,
        stiffness=_stiffness(own, table, l, power),
        modal=modal,
        turning=turning,
    )


def _evaluation_of(moments: WeightedMoments | None) -> Any:
    """Return what turns arrays of a table into lists: of plain numbers, or of weighted moments."""
    return np.ndarray.tolist if moments is None else moments.values


def _turning(table: dict[str, Any], l: Scalar, L: float) -> tuple[list[list[Matrix]], Matrix]:
    """Gram matrices and means of the slopes, each row weighed by the rotary inertia of its plane.

    Slopes are derivatives of displacements along x = eta l, one power of 1/l more.
    """
    evaluations = [_evaluation_of(moments_of(l, table, 6 + plane)) for plane in table["planes"]]
    products, integrals = table["turned"]
    by_length = _power(l, L, 1, 0)
    grams = []
    for d in range(3):
        row_of_grams = []
        for e in range(3):
            factor = _power(l, L, d + e, 0) * by_length * by_length
            row_of_grams.append(
                [
                    _evaluate_integrals(evaluate, row[None, None], [factor])[0]
                    for evaluate, row in zip(evaluations, products[d][e][0], strict=True)
                ]
            )
        grams.append(row_of_grams)
    means = []
    for d in range(3):
        factor = _power(l, L, d, 0) * by_length
        means.append(
            [
                _evaluate_integrals(evaluate, value[None, None, None], [factor])[0][0]
                for evaluate, value in zip(evaluations, integrals[d][0], strict=True)
            ]
        )
    return grams, means


def _stiffness(
    own: SlidingElements, table: dict[str, Any], l: Scalar, power: int
) -> list[list[Rate]]:
    """Integrals of EI F''^2/l^3, with kGA (L/l)^4 G'^2/l, of EA or GJ F'^2/l; over EI, EA or GJ."""
    length = variable(l)
    out = []
    sheared = _power(length, own.beam.L, 1, 2)
    for i, k in enumerate(table["planes"].tolist()):
        by = 1.0 / (length * length * length) if power == 3 and k else 1.0 / length
        row = [by * x for x in _rates(moments_of(l, table, _STIFF[k]), table["K"][i])]
        if "sheared" in table and k and own.beam.deforms.kGA[k - 1]:
            unit = own.beam if isinstance(own.beam, Beam) else None
            factor = sheared * (unit.kGA[k - 1] / unit.EI[k - 1] if unit else 1.0)
            more = _rates(moments_of(l, table, 3 + k), table["sheared"][i])
            row = [a + factor * b for a, b in zip(row, more, strict=True)]
        out.append(row)
    return out


def _power(l: Any, L: float, p: int, s: int) -> Any:
    """l^-p (L/l)^(2 s), of a number, an expression or a Rate."""
    out: Any = L ** (2 * s)
    for _ in range(p + 2 * s):
        out = out / l
    return out


def _weighted_sum(values: list[Any], shares: list[Any]) -> Any:
    """A sum of values, as many as there are, times their shares; a float zero adds nothing."""
    out: Any = 0.0
    for value, share in zip(values, shares, strict=False):
        if not (isinstance(value, float) and value == 0.0):
            term = value if isinstance(share, float) and share == 1.0 else value * share
            out = term if isinstance(out, float) and out == 0.0 else out + term
    return out


def _evaluate_integrals(evaluate: Any, layers: Array, factors: list[Scalar]) -> list[list[Scalar]]:
    """Rows of integrals from those of their layers (s, rows, columns, ..), times their factors."""
    matrices = [evaluate(layer) for layer in layers]
    out = []
    for rows_of_layers in zip(*matrices, strict=True):
        entries = zip(*rows_of_layers, strict=True)
        out.append([_weighted_sum(list(entry), factors) for entry in entries])
    return out


def _rates(inside: WeightedMoments | None, series: Array) -> list[Rate]:
    """Integrals (n,) as Rates: constants, or moments."""
    if inside is None:
        return [Rate(value) for value in series.tolist()]
    found: list[Rate] = inside.rates(series)
    return found
