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
    e = call("exp", -b)
    ch, sh, s, c = (1 + e * e) / 2, (1 - e * e) / 2, call("sin", b), call("cos", b)
    p, r, C, S = ch * s - sh * c, ch * s + sh * c, ch * c, sh * s
    M, J = mu / l, j / (l * l * l)
    MJ, D, b2, b3 = M * J, e - C, b * b, b * b * b
    f = e + C - M * b * p - J * b3 * r + MJ * b2 * b2 * D
    f1 = -(M * b * p + 3 * J * b3 * r - 4 * MJ * b2 * b2 * D) / l
    f2 = -(1 + M) * p - 2 * M * b * S - J * (3 * b2 * r + 2 * b3 * C)
    f2 = f2 + MJ * (4 * b3 * D + b2 * b2 * p)
    ll = (-2 * M * b * p - 12 * J * b3 * r + 20 * MJ * b2 * b2 * D) / (l * l)
    lb = M * (p + 2 * b * S) + 3 * J * (3 * b2 * r + 2 * b3 * C)
    lb = lb - 4 * MJ * (4 * b3 * D + b2 * b2 * p)
    bb = -(2 + 4 * M) * S - 2 * M * b * r - J * (6 * b * r + 12 * b2 * C - 2 * b3 * p)
    bb = bb + MJ * (12 * b2 * D + 8 * b3 * p + 2 * b2 * b2 * S)
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

    Attributes:
        mu, j: M_L/(rho A) in m, J_L/(rho A) in m^3.  length: of the whole beam, m.
        count: roots wanted.
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
        roots = np.empty((len(lengths), self.count))
        # Without J_L by halving: between clamped-pinned (M_L large) and clamped-free
        for k in range(self.count if self.j == 0.0 else 0):
            high = np.full_like(lengths, (1.8752 if k == 0 else (k + 0.5) * math.pi + 1e-3))
            low = np.full_like(lengths, 1e-3 if k == 0 else (k + 0.25) * math.pi - 1e-3)
            sign = np.sign(terms(low, lengths, self.mu, 0.0).f)
            for _ in range(52):
                middle = (low + high) / 2
                below = terms(middle, lengths, self.mu, 0.0).f * sign > 0
                low, high = np.where(below, middle, low), np.where(below, high, middle)
            roots[:, k] = (low + high) / 2
        # Else length by length from the eigenvalues of a clamped beam with this load, polished
        for i, l in enumerate(lengths.tolist() if self.j else []):
            beam = Beam(1.0, 1.0, EI=(1.0, math.inf))
            end = EndLoad(self.mu / l, self.j / l**3)
            inv = invariants(beam, assumed_shapes(beam, end, self.count), end)
            b = (np.diag(inv.K) / np.diag(inv.modal_mass)) ** 0.25
            for k in range(self.count):
                root = float(b[k])
                for _ in range(4):
                    found = terms(root, l, self.mu, self.j)
                    root -= found.f / found.f2
                roots[i, k] = root
        return np.asarray(chebyshev.chebfit(t, roots, degree))

    def roots(self, l: Scalar, steps: int = 2) -> list[Scalar]:
        """Return beta_1.. at a free length, by Newton's method in a fixed number of steps.

        Derivatives of expressions pass through it: after the first step beta is good to rounding,
        and the last one makes its derivative exact.
        """
        t, out = self.stroke.at(l), []
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
    out: Scalar = float(c[0])
    before: Scalar = 1.0
    now, twice = t, apply_operator(operator.mul, 2.0, t)
    for value in c[1:]:
        out = apply_operator(operator.add, out, apply_operator(operator.mul, float(value), now))
        before, now = (
            now,
            apply_operator(operator.sub, apply_operator(operator.mul, twice, now), before),
        )
    return out


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
