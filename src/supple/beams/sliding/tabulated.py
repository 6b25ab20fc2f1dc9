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
Rule = tuple[Array, Array, bool]  # Gauss points and weights on 0..1; whether the hub is inside
MaterialRates = tuple[list[Array], Array]  # of `at_material_points`


@dataclass(frozen=True)
class StrokeSeries:
    """A nested answer along the stroke.

    Attributes
    ----------
    stroke : Stroke
        Map from free lengths to the argument of the series.
    rows : (r, c)
        Chebyshev series, one a row.
    form : nested dataclasses and lists
        The answer, with the number of a row where a value belongs.
    """

    stroke: Stroke
    rows: Array
    form: Any

    def at(self, l: Scalar) -> Any:
        """Return the answer at a free length, float, array or expression."""
        t = self.stroke.at(l)
        values: Any
        if symbolic(l):
            import casadi as ca

            terms = self.rows.shape[1]
            T: list[Scalar] = [1.0, t]
            for _ in range(terms - 2):
                T.append(2 * t * T[-1] - T[-2])
            series = ca.sparsify(ca.DM(self.rows))
            values = ca.vertsplit(ca.mtimes(series, ca.vertcat(*T[:terms])))
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
        low, high = self.stroke.edges
        tau = (self.t + (high + low) / (high - low)) / 4  # l dt/dl, which is linear in t
        tau = tau.reshape(-1, *[1] * (series.ndim - 1))
        slopes = [self.values(np.asarray(chebyshev.chebder(series, d), float)) for d in range(3)]
        first = tau * slopes[1]
        second = tau**2 * slopes[2] + first / 4 - first
        return np.stack([slopes[0], first, second])

    def ends(self, series: Array) -> list[Rate]:
        """Return values at the end as Rates, still times powers of l."""
        return [Rate(*x) for x in np.moveaxis(self.rates(series.sum(axis=2)), 2, 0)]

    def fit_along_stroke(self, answer: Any) -> StrokeSeries:
        """Return an answer whose numbers are arrays (B,) at the nodes as one along the stroke."""
        rows: list[Array] = []
        row_of: dict[int, int] = {}  # by the identity of an array: equal places share a row

        def row_number(values: Array) -> Any:
            if not values.any():
                return 0.0
            if id(values) not in row_of:
                row_of[id(values)] = len(rows)
                rows.append(values)
            return row_of[id(values)]

        form = map_leaves(answer, np.ndarray, row_number)
        series = series_of(self.t, np.array(rows).T).T

        # Cut each series after the last term that is more than rounding
        size = np.abs(series).max(axis=1, keepdims=True)
        last = [int(np.nonzero(row)[0].max()) for row in np.abs(series) > 1e-14 * size]
        series[np.arange(series.shape[1]) > np.array(last)[:, None]] = 0.0
        terms = 1 + np.nonzero(series)[1].max()
        return StrokeSeries(self.stroke, np.array(series[:, :terms]), form)


def series_of(t: Array, values: Array) -> Array:
    """Return the Chebyshev series (n, ..) of values (n, ..) at Chebyshev's points t (n,)."""
    to_terms = chebyshev.chebvander(t, len(t) - 1).T * (2 / len(t))
    to_terms[0] /= 2
    return np.tensordot(to_terms, values, 1)


def rule_of(terms: int, start: float | None) -> Rule:
    """Return Gauss's rule for products of two such series, from the fraction `start` on.

    Without `start` the rule begins at the hub, where rates may jump.
    """
    x, weights = legendre.leggauss(terms + 1)
    begin = start or 0.0
    points = begin + (1 - begin) * (x + 1) / 2
    return points, (1 - begin) * weights / 2, start is None


def legendre_at(eta: Array, terms: int) -> list[Array]:
    """Return Legendre's polynomials on 0..1 and two derivatives at places, (n, p) each."""
    series = np.eye(terms)
    return [legendre.legval(2 * eta - 1, legendre.legder(series, d)).T * 2**d for d in range(3)]


def at_material_points(series: Array, rule: Rule, power: int) -> MaterialRates:
    """Return l^-power f and its rates at the material points of a rule.

    Parameters
    ----------
    series : (3, B, m, p)
        Legendre series of m functions at B nodes, with their rates D f and D^2 f - D f.
    rule : Rule
        Points at which the functions are taken.
    power : int
        0 or 1.

    Returns
    -------
    rates : list of three (B, m, g)
        Of l^-power f: the value, l times the first rate and l^2 times the second, times l^power.
    jump : (B, m)
        By how much l times the first rate jumps at the hub.
    """
    points = rule[0]
    terms = series.shape[3]
    P, P_slope, P_curvature = (table.T for table in legendre_at(points, terms))

    f = series[0] @ P
    f_eta = series[0] @ P_slope
    f_eta_eta = series[0] @ P_curvature
    Df = series[1] @ P
    Df_eta = series[1] @ P_slope
    DDf = series[2] @ P

    # The equations of the module's docstring
    rest = 1 - points
    first = Df + rest * f_eta
    second = DDf + 2 * rest * (Df_eta - f_eta) + rest**2 * f_eta_eta
    if power:
        second = second - 2 * first + 2 * f
        first = first - f
    slope_at_hub = legendre_at(np.zeros(1), terms)[1][0]
    return [f, first, second], series[0] @ slope_at_hub


def products(A: MaterialRates, B: MaterialRates, rule: Rule) -> list[list[Matrix]]:
    """Return [d][e]: integrals of products of two sets and their rates, arrays along the nodes.

    Of one set with itself each product is computed once; that of two second rates is never needed.
    """
    rates_A, jump_A = A
    rates_B, jump_B = B
    _, weights, has_hub = rule
    same = A is B

    zeros: Matrix = [[0.0] * jump_B.shape[1] for _ in range(jump_A.shape[1])]
    out = [[zeros] * 3 for _ in range(3)]
    for d, e in product(range(3), repeat=2):
        if (d, e) == (2, 2) or (same and d > e):
            continue
        integral = (rates_A[d] * weights) @ rates_B[e].swapaxes(1, 2)
        if has_hub and {d, e} == {1, 2}:
            # Half of the jump lies inside: the second rate is an impulse at the hub
            integral = integral + jump_A[:, :, None] * jump_B[:, None] / 2
        rows: Matrix = [list(row) for row in np.moveaxis(integral, 0, -1)]
        if same and d == e:
            rows = _with_shared_entries(rows)
        elif same:
            out[e][d] = [list(column) for column in zip(*rows, strict=True)]
        out[d][e] = rows
    return out


def _with_shared_entries(rows: Matrix) -> Matrix:
    """A symmetric matrix whose entries below the diagonal are the very arrays above it."""
    n = len(rows)
    shared: Matrix = []
    for i in range(n):
        shared.append([rows[min(i, j)][max(i, j)] for j in range(n)])
    return shared


def means(A: MaterialRates, rule: Rule) -> tuple[Matrix, Matrix]:
    """Return [d]: integrals of a set and its rates, and of eta times them."""
    rates, jump = A
    points, weights, has_hub = rule
    mean = [list((rate @ weights).T) for rate in rates]
    centre = [list((rate @ (points * weights)).T) for rate in rates]
    if has_hub:
        mean[2] = [integral + at_hub for integral, at_hub in zip(mean[2], jump.T, strict=True)]
    return mean, centre


def powers(l: Scalar) -> list[Scalar]:
    """Return 1, 1/l, .., 1/l^6."""
    inverse_powers: list[Scalar] = [1.0]
    for _ in range(6):
        inverse_powers.append(inverse_powers[-1] / l)
    return inverse_powers


def as_rate(x: Rate, inverse_powers: list[Scalar]) -> Rate:
    """Return a Rate whose slopes were taken times l and l^2."""
    return Rate(x.value, x.first * inverse_powers[1], x.second * inverse_powers[2])


def times(gram: list[list[Matrix]], inverse_powers: list[Scalar], more: int) -> list[list[Matrix]]:
    """Return products [d][e] of derivatives d and e, times l^-(d + e + more)."""
    scaled = []
    for d, of_first in enumerate(gram):
        row_of_matrices = []
        for e, matrix in enumerate(of_first):
            factor = inverse_powers[d + e + more]
            rows = []
            for row in matrix:
                rows.append([entry * factor for entry in row])
            row_of_matrices.append(rows)
        scaled.append(row_of_matrices)
    return scaled
