"""Foreshortening of assumed modes on a link that slides: F = -int v_i' v_j' along the bent beam.

With v' = psi'/l and ds = l d eta, F = -(1/l) int_0^eta psi_i' psi_j'. At fixed eta the integral is
differentiated along l under its sign; a material point then moves through it at (1 - eta)/l.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import NDArray

from .clamped_mass import Stroke, chebyshev_at, truncate_series
from .rates import Rate, place, variable
from .shapes import Matrix, Shortening

__all__ = [
    "ClampedMassShape",
    "ShortTable",
    "foreshortening",
    "running_points",
    "short_table",
    "shortened_at",
]

Array = NDArray[np.float64]
Scalar = Any


@dataclass(frozen=True)
class ClampedMassShape:
    """A clamped-mass shape: its coefficients of cos y, sin y, exp(y - beta), exp(-y)."""

    b: Rate
    a: tuple[Rate, Rate, Rate, Rate]
    tip: Rate
    slope: Rate
    stiffness: Rate
    modal: Rate
    square: Rate
    mean: Rate
    centre: Rate

    def at(self, eta: Rate) -> Rate:
        """Return the shape at a place."""
        y = self.b * eta
        a = self.a
        ends = a[2] * (y - self.b).exp() + a[3] * (-y).exp()
        return a[0] * y.cos() + a[1] * y.sin() + ends

    def slopes(self, eta: Rate | float) -> tuple[Rate, Rate]:
        """Return the first and second derivative along eta, at fixed eta or one that moves."""
        y = self.b * eta
        a = self.a
        s = y.sin()
        c = y.cos()
        up = a[2] * (y - self.b).exp()
        down = a[3] * (-y).exp()
        first = a[1] * c - a[0] * s + up - down
        return self.b * first, self.b * self.b * (up + down - a[0] * c - a[1] * s)


def running_points(rate: float) -> tuple[Array, Array, Array]:
    """Return Gauss points and weights on 0..1, and S: S f are the integrals of f up to each point.

    So many that exp(rate x) and its oscillating kin are interpolated to rounding; error of n
    points: 2 (rate/4)^n / n!.
    """
    n = 6
    while n * math.log(rate / 4) - math.lgamma(n + 1) > math.log(1e-16):
        n += 1
    t, w = legendre.leggauss(n)
    unit = np.eye(n)
    running = [legendre.legint(row, lbnd=-1) for row in unit]
    V = legendre.legvander(t, n - 1)
    below = np.stack([legendre.legval(t, c) for c in running], 1)
    return (t + 1) / 2, w / 2, below @ np.linalg.inv(V) / 2


def foreshortening(
    modes: Sequence[ClampedMassShape],
    pairs: tuple[tuple[int, int], ...],
    l: Scalar,
    points: tuple[Array, Array, Array],
    start: float = 0.0,
) -> Shortening:
    """Return the foreshortening of pairs of modes at a free length, integrated from `start` on."""
    # Quadrature of the part from `start` on: S integrates up to each of its points
    eta, weights, S = points
    before = shortened_at(modes, pairs, variable(l), Rate(start), points) if start else []
    eta = start + (1 - start) * eta
    weights = (1 - start) * weights
    S = (1 - start) * S

    slopes = [[mode.slopes(x) for x in eta.tolist()] for mode in modes]
    material_points = [place(x, l) for x in eta.tolist()]
    F = []
    tips = []
    for k, (i, j) in enumerate(pairs):
        half = 0.5 if i == j else 1.0
        # F_eta = -psi_i' psi_j' / l with its rates at fixed eta, and the value of F_eta_eta
        F_eta = []
        F_eta_eta = []
        for (slope_i, bend_i), (slope_j, bend_j) in zip(slopes[i], slopes[j], strict=True):
            F_eta.append(slope_i * slope_j * -half / variable(l))
            product_rate = bend_i.value * slope_j.value + slope_i.value * bend_j.value
            F_eta_eta.append(product_rate * -half / l)

        at_start = before[k] if start else Rate(0.0)
        at_points = [at_start + _weighted_sum(row, F_eta) for row in S.tolist()]
        F.append(
            [
                _rates_of_material_point(*values)
                for values in zip(at_points, F_eta, F_eta_eta, material_points, strict=True)
            ]
        )
        tips.append(at_start + _weighted_sum(weights.tolist(), F_eta))

    w = weights.tolist()
    ones = [1.0] * len(w)
    shapes = [[mode.at(x) for x in material_points] for mode in modes]
    weighted = _parts(F, w)
    mean = [[sum(pair[d]) for pair in weighted] for d in range(3)]
    centre = [
        [sum(x * v for x, v in zip(eta.tolist(), pair[d], strict=True)) for pair in weighted]
        for d in range(3)
    ]
    return Shortening(
        pairs=pairs,
        gram=_products(weighted, _parts(F, ones)),
        against=_products(weighted, _parts(shapes, ones)),
        mean=mean,
        centre=centre,
        tip=tips,
    )


def _rates_of_material_point(F: Rate, F_eta: Rate, F_eta_eta: Scalar, eta: Rate) -> Rate:
    """F(eta, l) with its rates along l by the chain rule, eta moving with the material.

    F and F_eta come with their rates at fixed eta; of F_eta_eta the value is enough.
    """
    speed = eta.first
    first = F.first + F_eta.value * speed
    second = (
        F.second + 2 * F_eta.first * speed + F_eta_eta * speed * speed + F_eta.value * eta.second
    )
    return Rate(F.value, first, second)


def shortened_at(
    modes: Sequence[ClampedMassShape],
    pairs: tuple[tuple[int, int], ...],
    l: Rate,
    eta: Rate,
    points: tuple[Array, Array, Array],
) -> list[Rate]:
    """Return F of pairs of modes at one place: -(eta/l) int_0^1 psi_i' psi_j' at eta t."""
    at, weights, _ = points
    slopes = [[mode.slopes(eta * t)[0] for t in at.tolist()] for mode in modes]
    out = []
    for i, j in pairs:
        products = [a * b for a, b in zip(slopes[i], slopes[j], strict=True)]
        half = 0.5 if i == j else 1.0
        out.append(eta * _weighted_sum((-half * weights).tolist(), products) / l)
    return out


def _weighted_sum(weights: list[float], values: list[Rate]) -> Rate:
    out = Rate(0.0)
    for w, value in zip(weights, values, strict=True):
        out = out + value * w
    return out


def _parts(rows: list[list[Rate]], weights: list[float]) -> list[list[list[Scalar]]]:
    """[function][derivative][point], weighted."""
    return [
        [
            [getattr(v, name) * w for v, w in zip(row, weights, strict=True)]
            for name in ("value", "first", "second")
        ]
        for row in rows
    ]


def _products(one: list[list[list[Scalar]]], other: list[list[list[Scalar]]]) -> list[list[Matrix]]:
    """[d][e][p][r]: sums over points; 22 is never needed."""
    return [
        [
            [
                [
                    sum(a * b for a, b in zip(p[d], r[e], strict=True)) if d + e < 4 else 0.0
                    for r in other
                ]
                for p in one
            ]
            for e in range(3)
        ]
        for d in range(3)
    ]


@dataclass(frozen=True)
class ShortTable:
    """Foreshortening along the stroke: a Chebyshev series of each entry times its power of l."""

    pairs: tuple[tuple[int, int], ...]
    functions: int
    series: tuple[Array, ...]

    def at(self, l: Scalar, t: Scalar) -> Shortening:
        """Return it at a free length, t being its place on the stroke."""
        entries = _entries(len(self.pairs), self.functions)
        by = [1.0 / l]
        for _ in range(5):
            by.append(by[-1] / l)
        found: dict[Key, Scalar] = {}
        for key, series in zip(entries, self.series, strict=True):
            power = key[1] + key[2] + (2 if key[0] == "gram" else 1)
            found[key] = chebyshev_at(series, t) * by[power - 1] if series.any() else 0.0
        n = range(len(self.pairs))
        gram, against = (
            [
                [
                    [[found.get((name, d, e, p, r), 0.0) for r in range(width)] for p in n]
                    for e in range(3)
                ]
                for d in range(3)
            ]
            for name, width in (("gram", len(n)), ("against", self.functions))
        )
        mean, centre = (
            [[found[name, d, 0, p, 0] for p in n] for d in range(3)] for name in ("mean", "centre")
        )
        tips = [Rate(*(found["tip", d, 0, p, 0] for d in range(3))) for p in n]
        return Shortening(self.pairs, gram, against, mean, centre, tips)


def short_table(
    at: Callable[[Array], Shortening], functions: int, stroke: Stroke, degree: int = 48
) -> ShortTable | None:
    """Return the table of a foreshortening, or None when series of this degree do not settle."""
    t = chebyshev.chebpts1(degree + 1)
    l = stroke.lengths(t)
    found = at(l)
    out = []
    for name, d, e, p, r in _entries(len(found.pairs), functions):
        if name == "tip":
            entry = getattr(found.tip[p], ("value", "first", "second")[d])
        else:
            table = getattr(found, name)
            entry = table[d][e][p][r] if name in ("gram", "against") else table[d][p]
        values = entry * l ** (d + e + (2 if name == "gram" else 1))
        series = truncate_series(chebyshev.chebfit(t, values, degree))
        if series is None:
            return None
        out.append(series)
    return ShortTable(found.pairs, functions, tuple(out))


Key = tuple[str, int, int, int, int]


def _entries(pairs: int, functions: int) -> list[Key]:
    """Names (table, d, e, p, r) of all entries of a Shortening."""
    orders = [(d, e) for d in range(3) for e in range(3) if d + e < 4]
    out = [("gram", d, e, p, r) for d, e in orders for p in range(pairs) for r in range(pairs)]
    out += [
        ("against", d, e, p, r) for d, e in orders for p in range(pairs) for r in range(functions)
    ]
    return out + [
        (name, d, 0, p, 0)
        for name in ("mean", "centre", "tip")
        for d in range(3)
        for p in range(pairs)
    ]
