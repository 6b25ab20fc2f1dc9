"""Twist of a beam that slides: kappa(l) from cos kappa - Lambda kappa sin kappa = 0.

Lambda = J_L/(rho I_p l): what the end carries about x against the free part's own polar inertia.
The counterpart in torsion of `clamped_mass`, with the same use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from .clamped_mass import Clamped, chebyshev_at
from .rates import Rate, call

__all__ = ["ClampedInertia"]

Array = NDArray[np.float64]
Scalar = Any


@dataclass(frozen=True)
class ClampedInertia(Clamped):
    """kappa_1..kappa_count of a twisting beam of free length l.

    Attributes
    ----------
    lam
        J_L/(rho I_p), m.
    length
        Of the whole beam, m.
    count
        Number of roots.
    """

    lam: float
    length: float
    count: int

    @cached_property
    def start(self) -> Array:
        """(degree + 1, count) Chebyshev series of kappa: Newton's start."""
        t = chebyshev.chebpts1(25)
        lengths = self.stroke.lengths(t)
        roots = np.empty((len(lengths), self.count))
        for i, free_length in enumerate(lengths):
            for k in range(self.count):
                roots[i, k] = _root_by_bisection(k, self.lam / float(free_length))
        return np.asarray(chebyshev.chebfit(t, roots, 24))

    def roots(self, l: Scalar, steps: int = 2) -> list[Scalar]:
        """Return kappa_1.. at a free length by Newton's method in a fixed number of steps."""
        t = self.stroke.at(l)
        roots = []
        for k in range(self.count):
            x = chebyshev_at(self.start[:, k], t)
            for _ in range(steps):
                f, _, fx, *_ = self._terms(x, l)
                x = x - f / fx
            roots.append(x)
        return roots

    def rates(self, l: Scalar) -> list[Rate]:
        """Return kappa_1.. with their derivatives along l."""
        out = []
        for x in self.roots(l):
            _, fl, fx, ll, lx, xx = self._terms(x, l)
            first = -fl / fx
            out.append(Rate(x, first, -(ll + 2 * lx * first + xx * first * first) / fx))
        return out

    def _terms(self, x: Scalar, l: Scalar) -> tuple[Scalar, ...]:
        """f and its derivatives by l, x, ll, lx, xx."""
        s = call("sin", x)
        c = call("cos", x)
        a = self.lam / l
        slope = s + x * c
        return (
            c - a * x * s,
            a * x * s / l,
            -s - a * slope,
            -2 * a * x * s / (l * l),
            a * slope / l,
            -c - a * (2 * c - x * s),
        )


def _root_by_bisection(k: int, load: float) -> float:
    """The one root of cos x = load x sin x between k pi and (k + 1/2) pi."""
    low = k * math.pi
    high = (k + 0.5) * math.pi
    sign = 1.0 if k % 2 == 0 else -1.0
    for _ in range(60):
        middle = (low + high) / 2
        if sign * (math.cos(middle) - load * middle * math.sin(middle)) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
