"""Finite elements on a link that slides: a mesh that stretches with the free length.

Shapes are fixed functions of eta = x/l, so a material point moves through the mesh at
d eta/dl = (1 - eta)/l and every integral is a constant times a power of l:

    N_l = (1 - eta) N' / l,    N_ll = [(1 - eta)^2 N'' - 2 (1 - eta) N'] / l^2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray

from ...errors import SuppleError
from ..invariants import foreshortening, gauss_points, invariants
from ..shapes import EndLoad, Shapes
from ..theory import AnyBeam
from ..varying import VaryingBeam
from .rates import Rate, variable
from .shapes import (
    ROWS,
    Beta,
    Family,
    Matrix,
    Pairs,
    Shortening,
    SlideIntegrals,
    SlidingShapes,
    Velocity,
)
from .weighted import Moments, MovingWeights, piecewise

__all__ = ["SlidingElements"]

Array = NDArray[np.float64]
Scalar = Any
_STIFF = {1: 2, 2: 3, 3: 6}  # by the component that a shape moves: EI_xy, EI_xz, GJ of a beam


@dataclass(frozen=True)
class SlidingElements(SlidingShapes):
    """Elements of a sliding link.

    Attributes:
        beam, end: the whole beam, and its end load.  shapes: the elements' shapes on the whole
        length, which stretch to the free one.
    """

    beam: AnyBeam
    end: EndLoad
    shapes: Shapes

    @property
    def kinds(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.shapes.kinds

    @cached_property
    def member(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of each shape among those of bending, or of twist."""
        out, seen = [], {False: 0, True: 0}
        for kind in self.kinds:
            twists = kind == "torsion"
            out.append(seen[twists])
            seen[twists] += 1
        return tuple(out)

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        """Tables by the fraction they begin at, made when first asked for."""
        return {}

    def families(
        self,
        l: Scalar,
        velocity: Velocity = "material",
        held: Scalar = None,
        beta: Beta = None,
        start: float = 0.0,
    ) -> tuple[Family, Family | None]:
        """Return the functions of bending and of twist at a free length."""
        if velocity != "material":
            raise SuppleError(
                "velocity 'paper' is for AssumedModes of a uniform link: elements, and the shapes "
                "of a link with stations, follow the material"
            )
        bending, torsion = _tables(self, start)
        twist = self._family(torsion, l, 9, 1) if len(torsion["tip"]) else None
        return self._family(bending, l, 0, 3), twist

    def _family(self, table: dict[str, Any], l: Scalar, column: int, power: int) -> Family:
        """A family's integrals at a free length: of constants or moments, times powers of l."""
        length, inside, three = variable(l), _moments(l, table, column), range(3)
        told: Any = np.ndarray.tolist if inside is None else inside.values
        by = [1.0, 1.0 / l, 1.0 / (l * l)]
        square = [1.0, by[1], by[2], by[1] * by[2], by[2] * by[2]]
        gram = [[_times(told(table["gram"][d][e]), square[d + e]) for e in three] for d in three]
        mean, centre = (
            [_times([told(table[name][d])], by[d])[0] for d in three] for name in ("mean", "centre")
        )
        tip = [Rate(value) for value in table["tip"].tolist()]
        slope = [(1.0 / length) * value for value in table["slope"].tolist()]
        stiff = 1.0 / (length * length * length) if power == 3 else 1.0 / length
        own = np.moveaxis(np.diagonal(table["gram"][0][0]), -1, 0)
        if inside is None:
            K = [[Rate(value) for value in row] for row in table["K"].tolist()]
            modal = [Rate(value * (self.unit.rIp if power == 1 else self.unit.m)) for value in own]
        else:
            planes = table["planes"].tolist()
            by_plane: Any = {k: _moments(l, table, _STIFF[k]) for k in set(planes)}
            K = [by_plane[k].rates(row) for row, k in zip(table["K"], planes, strict=True)]
            modal = inside.rates(own)
        K = [[stiff * value for value in row] for row in K]
        return Family(gram, mean, centre, tip, slope, K, [length * each for each in modal])

    def shortening(
        self, l: Scalar, pairs: Pairs, beta: Beta = None, start: float = 0.0
    ) -> Shortening:
        """Return F = phi(eta)/l of pairs, with the rates of a material point."""
        if ("short", start) not in self._kept:
            self._kept["short", start] = _short_tables(self, start)
        table, three = self._kept["short", start], range(3)
        place, inside = [table["pairs"].index(pair) for pair in pairs], _moments(l, table, 0)
        told: Any = np.ndarray.tolist if inside is None else inside.values
        by = [1.0 / l]
        for _ in range(5):
            by.append(by[-1] / l)
        length = variable(l)

        whole: list[tuple[str, int, Any]] = [("gram", 1, place), ("against", 0, slice(None))]
        gram, against = (
            [
                [
                    _times(told(table[name][d][e][place][:, columns]), by[d + e + power])
                    for e in three
                ]
                for d in three
            ]
            for name, power, columns in whole
        )
        mean, centre = (
            [_times([told(table[name][d][place])], by[d])[0] for d in three]
            for name in ("mean", "centre")
        )
        tips = [(1.0 / length) * v for v in table["tip"][place].tolist()]
        return Shortening(pairs, gram, against, mean, centre, tips)

    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        """Return displacements and twist (.., 4, k) at fractions of free lengths."""
        at = np.broadcast_arrays(l, eta)[1]
        found = self.shapes.at(self.beam.L * at.ravel())[:, :4]
        return found.reshape(*at.shape, 4, self.count)

    def spot(
        self, l: Scalar, eta: Rate, pairs: Pairs, beta: Beta = None
    ) -> tuple[list[tuple[Rate, Rate]], list[Rate]]:
        """Return shapes and their slopes, and the foreshortening of pairs, at one place."""
        length, shapes = variable(l), self.shapes
        unit = shapes.breaks / self.beam.L
        rows = [ROWS[kind][0] for kind in self.kinds]
        series = np.moveaxis(shapes.coefficients[:, rows, range(len(rows))], -1, 1)
        f = [piecewise(eta.value, unit, series, d) for d in range(4)]
        each = [(eta.of(*one[:3]), eta.of(*one[1:]) / length) for one in zip(*f, strict=True)]
        if not pairs:
            return each, []
        # phi = l F on every piece, a polynomial
        terms = 2 * shapes.degree
        t, w = legendre.leggauss(terms)
        x, _ = gauss_points(shapes.breaks, terms)
        own, moved = foreshortening(shapes, x)
        phi = (self.beam.L * moved[:, 0]).reshape(len(unit) - 1, terms, -1)
        to = (np.arange(terms) + 0.5)[:, None] * legendre.legvander(t, terms - 1).T
        series = np.einsum("ng,pgm->pnm", to * w, phi)
        f = [piecewise(eta.value, unit, series, d) for d in range(3)]
        named = [(self.member[a], self.member[b]) for a, b in own]
        at = [named.index(pair) for pair in pairs]
        return each, [eta.of(*(part[k] for part in f)) / length for k in at]

    def curvature(self, l: Scalar, eta: float = 0.0) -> Matrix:
        """Return the rates of twist, psi_y and psi_z along x, (3, k), at a fraction of l."""
        L, out = self.beam.L, [[0.0] * self.count for _ in range(3)]
        first, second = (self.shapes.at(eta * L, d)[0] * L**d for d in (1, 2))
        for j, kind in enumerate(self.kinds):
            row, turn, sign = ROWS[kind]
            twists = kind == "torsion"
            value = float(first[3, j] if twists else sign * second[row, j])
            out[turn - 3][j] = value / l if twists else value / (l * l)
        return out

    def damping(
        self, found: SlideIntegrals, l: Scalar, ratios: list[float], speed: list[Scalar]
    ) -> list[Scalar]:
        """Return modal damping of the free part: as at the whole length, times L/l."""
        # (k, k) at the whole length; frequencies go as 1/l^2 and masses as l
        from scipy.linalg import eigh

        inv = invariants(self.beam, self.shapes, EndLoad())
        omega2, Phi = eigh(inv.K, inv.modal_mass)
        side = inv.modal_mass @ Phi
        C: list[list[float]] = (
            (side * (2 * (ratios[0] if ratios else 0.0) * np.sqrt(omega2))) @ side.T
        ).tolist()
        factor = self.beam.L / l
        return [factor * sum(c * v for c, v in zip(row, speed, strict=True)) for row in C]


def _integration(
    own: SlidingElements, points: int, degree: int, start: float
) -> tuple[Array, Callable[[Array], Array], MovingWeights | None]:
    """Places (n,) along the whole length, and integrals over eta (..) of values (n, ..) there.

    They begin at the fraction `start`. Where the section varies, series (.., p n) of the
    values, and what stands inside the integrals, which follow with l.
    """
    L, beam = own.beam.L, own.beam
    breaks = own.shapes.breaks
    breaks = np.append(start * L, breaks[breaks > start * L])
    varies = isinstance(beam, VaryingBeam)
    x, w = gauss_points(breaks, degree + 1 if varies else points)
    if not isinstance(beam, VaryingBeam):
        return x, lambda values: np.asarray(np.tensordot(w / L, values, 1)), None
    weights = MovingWeights(beam, breaks / L)
    pieces, project = len(breaks) - 1, weights.projected
    return (
        x,
        lambda values: project(values.reshape(pieces, degree + 1, *values.shape[1:])),
        weights,
    )


def _moments(l: Scalar, table: dict[str, Any], column: int) -> Moments | None:
    """What a table's series are summed with at a free length, a property inside."""
    weights: MovingWeights | None = table["weights"]
    if weights is None:
        return None
    count = table["mean"][0].shape[-1] // (len(weights.pieces) - 1)
    return weights.moments(column, count, l)


def _tables(own: SlidingElements, start: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Integrals over eta of bending and of twist, unit length, and end values."""
    if ("plain", start) in own._kept:
        kept: tuple[dict[str, Any], dict[str, Any]] = own._kept["plain", start]
        return kept
    L, shapes = own.beam.L, own.shapes
    x, over, weights = _integration(own, shapes.degree + 3, 2 * shapes.degree + 1, start)
    eta = (x / L)[:, None]
    end = [shapes.at(L, d)[0] * L**d for d in range(2)]
    out = []
    for twists in (False, True):
        columns = [j for j, kind in enumerate(own.kinds) if (kind == "torsion") is twists]
        rows, order = [ROWS[own.kinds[j]][0] for j in columns], 1 if twists else 2
        N, bent = _material(own, x, columns), shapes.at(x, order)[:, rows, columns] * L**order
        same = np.equal.outer(rows, rows)
        out.append(
            {
                "gram": [[over(a[:, :, None] * b[:, None]) for b in N] for a in N],
                "mean": [over(a) for a in N],
                "centre": [over(eta * a) for a in N],
                "tip": end[0][rows, columns],
                "slope": end[1][rows, columns],
                "K": over(bent[:, :, None] * bent[:, None] * same),
                "planes": np.array(rows),
                "weights": weights,
            }
        )
    own._kept["plain", start] = out[0], out[1]
    return out[0], out[1]


def _short_tables(own: SlidingElements, start: float) -> dict[str, Any]:
    """Integrals over eta of phi and its material rates, phi = l F, for pairs of functions."""
    L, shapes = own.beam.L, own.shapes
    x, over, weights = _integration(own, 2 * shapes.degree + 2, 4 * shapes.degree, start)
    pairs, F, tip = _shortened(shapes, x)
    N = _material(own, x, [j for j, kind in enumerate(own.kinds) if kind != "torsion"])
    eta = (x / L)[:, None]
    return {
        "pairs": [(own.member[a], own.member[b]) for a, b in pairs],
        "gram": [[over(a[:, :, None] * b[:, None]) for b in F] for a in F],
        "against": [[over(a[:, :, None] * b[:, None]) for b in N] for a in F],
        "mean": [over(a) for a in F],
        "centre": [over(eta * a) for a in F],
        "tip": tip,
        "weights": weights,
    }


def _material(own: SlidingElements, x: Array, columns: list[int]) -> list[Array]:
    """N, l N_l and l^2 N_ll (n, columns) of some shapes at places x of the whole length."""
    L, left = own.beam.L, (1 - x / own.beam.L)[:, None]
    rows = [ROWS[own.kinds[j]][0] for j in columns]
    f = [own.shapes.at(x, d)[:, rows, columns] * L**d for d in range(3)]
    return [f[0], left * f[1], left**2 * f[2] - 2 * left * f[1]]


def _times(rows: list[list[Scalar]], factor: Scalar) -> list[list[Scalar]]:
    """Rows times a factor; a float zero stays one."""
    if isinstance(factor, float) and factor == 1.0:
        return rows
    return [
        [0.0 if isinstance(value, float) and value == 0.0 else value * factor for value in row]
        for row in rows
    ]


def _shortened(shapes: Shapes, x: Array) -> tuple[tuple[tuple[int, int], ...], list[Array], Array]:
    """Pairs of shapes; phi = l F, l^2 F_l and l^3 F_ll (n, pairs) at places x; phi at the end.

    F_l = [(1 - eta) phi' - phi]/l^2, F_ll = [(1 - eta)^2 phi'' - 4 (1 - eta) phi' + 2 phi]/l^3.
    """
    L = float(shapes.breaks[-1])
    at = np.concatenate([x, [L]])
    pairs, moved = foreshortening(shapes, at)
    j, n = (np.array([pair[k] for pair in pairs], int) for k in range(2))
    half = np.where(j == n, 0.5, 1.0)
    v1, v2 = (shapes.at(at, d)[:, 1:3] for d in (1, 2))
    products = [
        (v1[..., j] * v1[..., n]).sum(axis=1),
        (v2[..., j] * v1[..., n] + v1[..., j] * v2[..., n]).sum(axis=1),
    ]
    phi = [L * moved[:, 0], *(-half * L ** (2 + d) * f for d, f in enumerate(products))]
    left = (1 - x / L)[:, None]
    p = [f[:-1] for f in phi]
    F = [p[0], left * p[1] - p[0], left**2 * p[2] - 4 * left * p[1] + 2 * p[0]]
    return pairs, F, phi[0][-1]
