"""Tables along the stroke of a link that slides: Chebyshev series of integrals over its shapes.

Shapes are Legendre series over eta = x/l whose coefficients are smooth functions of l, short series
in `Stroke`; with them every integral is one. Rates follow the material, see `shapes`: of f(eta, l)

    l f_l = D f + (1 - eta) f',    l^2 f_ll = D^2 f - D f + 2 (1 - eta) (D f)' + (1 - eta)^2 f''
                                              - 2 (1 - eta) f',    D = l d/dl at fixed eta.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import NDArray

from .clamped_mass import Stroke
from .rates import Rate
from .recipes import map_leaves, symbolic
from .shapes import Matrix

__all__ = [
    "Nodes",
    "Rule",
    "StrokeSeries",
    "as_rate",
    "at_material_points",
    "legendre_at",
    "means",
    "powers",
    "products",
    "rule_of",
    "series_of",
    "times",
]

Array = NDArray[np.float64]
Scalar = Any
Rule = tuple[Array, Array, bool]
Carried = tuple[list[Array], Array]


@dataclass(frozen=True)
class StrokeSeries:
    """A nested answer along the stroke: Chebyshev series (r, c), their numbers in its places."""

    stroke: Stroke
    rows: Array
    form: Any

    def at(self, l: Scalar) -> Any:
        """Return the answer at a free length, float, array or expression."""
        t = self.stroke.at(l)
        values: Any
        if symbolic(l):
            import casadi as ca

            T: list[Scalar] = [1.0, t]
            for _ in range(self.rows.shape[1] - 2):
                T.append(2 * t * T[-1] - T[-2])
            series = ca.sparsify(ca.DM(self.rows))
            values = ca.vertsplit(ca.mtimes(series, ca.vertcat(*T[: self.rows.shape[1]])))
        else:
            found = np.asarray(chebyshev.chebval(t, self.rows.T))
            values = list(found) if np.ndim(l) else found.tolist()
        return map_leaves(self.form, int, lambda k: values[k])


@dataclass(frozen=True)
class Nodes:
    """Places along the stroke at which integrals are taken, more than the shapes have terms.

    Products of series that fall that far have not twice their length.
    """

    stroke: Stroke
    terms: int

    @cached_property
    def t(self) -> Array:
        """(B,), as Chebyshev's."""
        return np.asarray(chebyshev.chebpts1(self.terms + 24))

    @property
    def lengths(self) -> Array:
        """(B,), the free lengths there."""
        return self.stroke.lengths(self.t)

    def values(self, series: Array) -> Array:
        """Return series (c, ..) at the nodes, (B, ..)."""
        return np.tensordot(chebyshev.chebvander(self.t, len(series) - 1), series, 1)

    def series(self, values: Array) -> Array:
        """Return Chebyshev series (c, ..) of values (B, ..) at the nodes."""
        return series_of(self.t, values)

    def rates(self, series: Array) -> Array:
        """Return series at the nodes, (3, B, ..), with l and l^2 times their slopes along l."""
        t, (low, high) = self.t, self.stroke.edges
        # l dt/dl is linear in t
        tau = ((t + (high + low) / (high - low)) / 4).reshape(-1, *[1] * (series.ndim - 1))
        f = [self.values(np.asarray(chebyshev.chebder(series, d), float)) for d in range(3)]
        first = tau * f[1]
        return np.stack([f[0], first, tau**2 * f[2] + first / 4 - first])

    def ends(self, series: Array) -> list[Rate]:
        """Return values at the end as Rates, still times powers of l."""
        return [Rate(*x) for x in np.moveaxis(self.rates(series.sum(axis=2)), 2, 0)]

    def fit_along_stroke(self, answer: Any) -> StrokeSeries:
        """Return an answer whose numbers are arrays (B,) at the nodes as one along the stroke."""
        rows: list[Array] = []
        known: dict[int, int] = {}

        def kept(x: Array) -> Any:
            if not x.any():
                return 0.0
            if id(x) not in known:
                known[id(x)] = len(rows)
                rows.append(x)
            return known[id(x)]

        form = map_leaves(answer, np.ndarray, kept)
        series = series_of(self.t, np.array(rows).T).T
        size = np.abs(series).max(axis=1, keepdims=True)
        last = [int(np.nonzero(row)[0].max()) for row in np.abs(series) > 1e-14 * size]
        series[np.arange(series.shape[1]) > np.array(last)[:, None]] = 0.0
        return StrokeSeries(
            self.stroke, np.array(series[:, : 1 + np.nonzero(series)[1].max()]), form
        )


def series_of(t: Array, values: Array) -> Array:
    """Return the Chebyshev series (n, ..) of values (n, ..) at Chebyshev's points t (n,)."""
    to = chebyshev.chebvander(t, len(t) - 1).T * (2 / len(t))
    to[0] /= 2
    return np.tensordot(to, values, 1)


def rule_of(terms: int, start: float | None) -> Rule:
    """Return Gauss points for products of two such series, from `start` on; is the hub in?"""
    x, w = legendre.leggauss(terms + 1)
    begin = start or 0.0
    return begin + (1 - begin) * (x + 1) / 2, (1 - begin) * w / 2, start is None


def legendre_at(eta: Array, terms: int) -> list[Array]:
    """Return Legendre's polynomials on 0..1 and two derivatives at places, (n, p) each."""
    series = np.eye(terms)
    return [legendre.legval(2 * eta - 1, legendre.legder(series, d)).T * 2**d for d in range(3)]


def at_material_points(V: Array, rule: Rule, power: int) -> Carried:
    """Return l^-power f at material points: f, l f_l and l^2 f_ll, (B, m, g), times l^power.

    `V` (3, B, m, p): its Legendre series with their rates. Last, what l f_l jumps by at the hub.
    """
    P = legendre_at(rule[0], V.shape[3])
    f, fe, fee, d, de, dd = (
        V[a] @ P[b].T for a, b in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
    )
    left = 1 - rule[0]
    first = d + left * fe
    second = dd + 2 * left * (de - fe) + left**2 * fee
    if power:
        first, second = first - f, second - 2 * first + 2 * f
    return [f, first, second], V[0] @ legendre_at(np.zeros(1), V.shape[3])[1][0]


def products(A: Carried, B: Carried, rule: Rule) -> list[list[Matrix]]:
    """Return [d][e]: integrals of products of two sets and their rates, arrays along the nodes.

    Of one set with itself each stands there once; nobody asks for that of two second rates.
    """
    none: Matrix = [[0.0] * B[1].shape[1] for _ in range(A[1].shape[1])]
    out = [[none] * 3 for _ in range(3)]
    for d, e in product(range(3), repeat=2):
        if (d, e) == (2, 2) or (A is B and d > e):
            continue
        S = (A[0][d] * rule[1]) @ B[0][e].swapaxes(1, 2)
        if rule[2] and {d, e} == {1, 2}:
            S = S + A[1][:, :, None] * B[1][:, None] / 2
        rows: Matrix = [list(row) for row in np.moveaxis(S, 0, -1)]
        if A is B and d == e:
            rows = [
                [rows[min(i, j)][max(i, j)] for j in range(len(rows))] for i in range(len(rows))
            ]
        elif A is B:
            out[e][d] = [list(column) for column in zip(*rows, strict=True)]
        out[d][e] = rows
    return out


def means(A: Carried, rule: Rule) -> tuple[Matrix, Matrix]:
    """Return [d]: integrals of a set and its rates, and of eta times them."""
    mean, centre = ([list((part @ w).T) for part in A[0]] for w in (rule[1], rule[0] * rule[1]))
    if rule[2]:
        mean[2] = [x + jump for x, jump in zip(mean[2], A[1].T, strict=True)]
    return mean, centre


def powers(l: Scalar) -> list[Scalar]:
    """Return 1, 1/l, .., 1/l^6."""
    out: list[Scalar] = [1.0]
    for _ in range(6):
        out.append(out[-1] / l)
    return out


def as_rate(x: Rate, by: list[Scalar]) -> Rate:
    """Return a Rate whose slopes were taken times l and l^2."""
    return Rate(x.value, x.first * by[1], x.second * by[2])


def times(gram: list[list[Matrix]], by: list[Scalar], power: int) -> list[list[Matrix]]:
    """Return products whose rates were taken times powers of l, and `power` more."""
    return [
        [[[x * by[d + e + power] for x in row] for row in part] for e, part in enumerate(each)]
        for d, each in enumerate(gram)
    ]
