"""The clamped-mass frequency equation of a beam that slides, and beta(l), its roots.

With M = M_L/(rho A l) and J = J_L/(rho A l^3), in p = ch sin - sh cos, r = ch sin + sh cos,
C = ch cos, S = sh sin of beta:

    f = 1 + C - M beta p - J beta^3 r + M J beta^4 (1 - C) = 0.

Every value here is f or a derivative of it times exp(-beta), so that no mode overflows; the factor
cancels in every quotient that is formed.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray

from ...errors import SuppleError
from ...kernels.scalars import apply_operator
from ..fixed.assumed import assumed_shapes
from ..invariants import invariants
from ..shapes import EndLoad
from ..theory import Beam
from .rates import Rate, call

__all__ = [
    "SHORTEST_FREE_FRACTION",
    "ClampedMass",
    "Stroke",
    "Terms",
    "chebyshev_at",
    "integrate_roots",
    "terms",
    "truncate_series",
]

Array = NDArray[np.float64]
Scalar = Any
SHORTEST_FREE_FRACTION = 0.01  # of the beam: below this free length no shapes are offered


@dataclass(frozen=True)
class Terms:
    """f and its derivatives at (beta, l), all times exp(-beta).

    f1 = -df/dl and f2 = df/dbeta are [Theodore1997] (12) and (13).
    """

    f: Scalar
    f1: Scalar
    f2: Scalar
    ll: Scalar
    lb: Scalar
    bb: Scalar


def terms(b: Scalar, l: Scalar, mu: float, j: float) -> Terms:
    """Return f and its derivatives; mu = M_L/(rho A), m, and j = J_L/(rho A), m^3.

    Source: [Theodore1997], Eqs. (9), (12), (13); second derivatives are ours.
    """
    # Hyperbolic functions of beta times exp(-beta)
    e = call("exp", -b)
    ch = (1 + e * e) / 2
    sh = (1 - e * e) / 2

    # Products of the equation, named as in the head of this module
    s = call("sin", b)
    c = call("cos", b)
    p = ch * s - sh * c
    r = ch * s + sh * c
    C = ch * c
    S = sh * s
    D = e - C

    # Ratios of the load to the part outside
    M = mu / l
    J = j / (l * l * l)
    MJ = M * J
    b2 = b * b
    b3 = b * b * b

    f = e + C - M * b * p - J * b3 * r + MJ * b2 * b2 * D
    f1 = -(M * b * p + 3 * J * b3 * r - 4 * MJ * b2 * b2 * D) / l
    ll = (-2 * M * b * p - 12 * J * b3 * r + 20 * MJ * b2 * b2 * D) / (l * l)

    # Derivatives by beta of the terms with J and with M J
    J_by_beta = 3 * b2 * r + 2 * b3 * C
    MJ_by_beta = 4 * b3 * D + b2 * b2 * p
    f2 = -(1 + M) * p - 2 * M * b * S - J * J_by_beta
    f2 = f2 + MJ * MJ_by_beta
    lb = M * (p + 2 * b * S) + 3 * J * J_by_beta
    lb = lb - 4 * MJ * MJ_by_beta

    J_by_beta_twice = 6 * b * r + 12 * b2 * C - 2 * b3 * p
    MJ_by_beta_twice = 12 * b2 * D + 8 * b3 * p + 2 * b2 * b2 * S
    bb = -(2 + 4 * M) * S - 2 * M * b * r - J * J_by_beta_twice
    bb = bb + MJ * MJ_by_beta_twice
    return Terms(f, f1, f2, ll, lb / l, bb)


class Clamped:
    """Roots of a frequency equation along the stroke of a beam of this whole length."""

    length: float
    count: int

    @property
    def stroke(self) -> Stroke:
        """The map of free lengths under which roots and shapes are smooth."""
        return Stroke(self.length)


@dataclass(frozen=True)
class ClampedMass(Clamped):
    """beta_1..beta_count of a beam of free length l, clamped at the hub, loaded at its end.

    Attributes
    ----------
    mu, j
        M_L/(rho A) in m, J_L/(rho A) in m^3.
    length
        Of the whole beam, m.
    count
        Roots wanted.
    """

    mu: float
    j: float
    length: float
    count: int

    @cached_property
    def start(self) -> Array:
        """(degree + 1, count) Chebyshev series of beta over the stroke: Newton's start.

        The roots at its nodes come from halving between their bounds, or with J_L from the link's
        natural shapes, so that none is missed.
        """
        degree = 16 if self.j == 0.0 else 32
        t = chebyshev.chebpts1(degree + 1)
        lengths = self.stroke.lengths(t)
        if self.j == 0.0:
            columns = [self._root_by_halving(k, lengths) for k in range(self.count)]
            roots = np.stack(columns, axis=1)
        else:
            roots = np.array([self._roots_from_shapes(l) for l in lengths.tolist()])
        return np.asarray(chebyshev.chebfit(t, roots, degree))

    def _root_by_halving(self, k: int, lengths: Array) -> Array:
        """Root k at free lengths without J_L: between clamped-pinned (M_L large) and -free."""
        if k == 0:
            lowest = 1e-3
            highest = 1.8752
        else:
            lowest = (k + 0.25) * math.pi - 1e-3
            highest = (k + 0.5) * math.pi + 1e-3
        low = np.full_like(lengths, lowest)
        high = np.full_like(lengths, highest)
        sign = np.sign(terms(low, lengths, self.mu, 0.0).f)
        for _ in range(52):
            middle = (low + high) / 2
            root_is_above = terms(middle, lengths, self.mu, 0.0).f * sign > 0
            low = np.where(root_is_above, middle, low)
            high = np.where(root_is_above, high, middle)
        return np.asarray((low + high) / 2)

    def _roots_from_shapes(self, l: float) -> list[float]:
        """The roots at one free length, from eigenvalues of the loaded beam and polished."""
        beam = Beam(1.0, 1.0, EI=(1.0, math.inf))
        end = EndLoad(self.mu / l, self.j / l**3)
        inv = invariants(beam, assumed_shapes(beam, end, self.count), end)
        estimates = (np.diag(inv.K) / np.diag(inv.modal_mass)) ** 0.25
        roots = []
        for k in range(self.count):
            root = float(estimates[k])
            for _ in range(4):
                found = terms(root, l, self.mu, self.j)
                root -= found.f / found.f2
            roots.append(root)
        return roots

    def roots(self, l: Scalar, steps: int = 2) -> list[Scalar]:
        """Return beta_1.. at a free length, by Newton's method in a fixed number of steps.

        Derivatives of expressions pass through it: after the first step beta is good to rounding,
        and the last one makes its derivative exact.
        """
        t = self.stroke.at(l)
        out = []
        for k in range(self.count):
            b = chebyshev_at(self.start[:, k], t)
            for _ in range(steps):
                found = terms(b, l, self.mu, self.j)
                b = b - found.f / found.f2
            out.append(b)
        return out

    def rates(self, l: Scalar) -> list[Rate]:
        """Return beta_1.. with their derivatives along l at a free length."""
        return [self.rate(b, l) for b in self.roots(l)]

    def rate(self, b: Scalar, l: Scalar) -> Rate:
        """Return beta with d beta/dl = f1/f2 and the second derivative, given beta.

        Source: [Theodore1997], Eqs. (11)-(13).
        """
        t = terms(b, l, self.mu, self.j)
        first = t.f1 / t.f2
        return Rate(b, first, -(t.ll + 2 * t.lb * first + t.bb * first * first) / t.f2)


@dataclass(frozen=True)
class Stroke:
    """The free lengths of a beam mapped to -1..1 by their fourth root: t = a + b l^(1/4).

    Towards l = 0 the end load takes over, beta_1 ~ l^(1/4), and everything here is a smooth
    function of that root: short series serve the whole stroke. `beyond`: a factor by which the
    lengths go on at both ends.
    """

    length: float
    beyond: float = 1.0

    @property
    def edges(self) -> tuple[float, float]:
        """Fourth roots of the shortest and of the largest length."""
        return (SHORTEST_FREE_FRACTION * self.length / self.beyond) ** 0.25, (
            self.length * self.beyond
        ) ** 0.25

    def at(self, l: Scalar) -> Scalar:
        """Return t of a free length."""
        low, high = self.edges
        return (call("sqrt", call("sqrt", l)) - (low + high) / 2) * (2 / (high - low))

    def slope(self, l: Scalar) -> Scalar:
        """Return dt/dl."""
        low, high = self.edges
        return call("sqrt", call("sqrt", l)) / l * (0.5 / (high - low))

    def lengths(self, t: Array) -> Array:
        """Return the free lengths at which t is this."""
        low, high = self.edges
        return np.asarray(((low + high) / 2 + (high - low) / 2 * t) ** 4)


def chebyshev_at(c: Array, t: Scalar) -> Scalar:
    """Return a Chebyshev series at t, a float, an array or an expression.

    Summed from T_0 up, so that several series at one t share their polynomials.
    """
    total: Scalar = float(c[0])
    previous: Scalar = 1.0  # T_0
    current = t  # T_1
    twice = apply_operator(operator.mul, 2.0, t)
    for coefficient in c[1:]:
        term = apply_operator(operator.mul, float(coefficient), current)
        total = apply_operator(operator.add, total, term)
        # T_(n+1) = 2 t T_n - T_(n-1)
        raised = apply_operator(operator.mul, twice, current)
        following = apply_operator(operator.sub, raised, previous)
        previous = current
        current = following
    return total


def truncate_series(c: Array) -> Array | None:
    """Return a series cut where it falls below rounding, or None if it does not fall that far."""
    size = np.abs(c).max()
    if size < 1e-13:
        return np.zeros(1)
    if np.abs(c[-3:]).max() > 1e-13 * size:
        return None
    return c[: int(np.nonzero(np.abs(c) > 1e-15 * size)[0][-1]) + 1]


def integrate_roots(law: ClampedMass, lengths: ArrayLike, tolerance: float = 1e-12) -> Array:
    """Return beta (n, count) at given lengths by integrating (11) from the first one on.

    The first row is Newton's; the rest drifts as the integrator lets it, see `roots` for the
    comparison. Source: [Theodore1997], Eq. (11).
    """
    from scipy.integrate import solve_ivp

    at = np.asarray(lengths, float)
    if at.ndim != 1 or len(at) < 2 or not (at > 0).all():
        raise SuppleError("lengths must be two or more positive numbers along the stroke")
    ends = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(at)))])

    def slope(s: float, b: Array) -> list[float]:
        l = float(np.interp(s, ends, at))
        k = int(np.clip(np.searchsorted(ends, s, "right") - 1, 0, len(at) - 2))
        sign = math.copysign(1.0, at[k + 1] - at[k])
        return [sign * law.rate(float(x), l).first for x in b]

    begin = law.roots(float(at[0]))
    found = solve_ivp(
        slope, (0.0, ends[-1]), begin, "DOP853", t_eval=ends, rtol=tolerance, atol=tolerance
    )
    return np.asarray(found.y.T)
