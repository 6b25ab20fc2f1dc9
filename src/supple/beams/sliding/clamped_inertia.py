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

    Attributes:
        lam: J_L/(rho I_p), m.  length: of the whole beam, m.  count: roots wanted.
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
        for (i, k), _ in np.ndenumerate(roots):
            # the one root between k pi and (k + 1/2) pi, by halving
            low, high = k * math.pi, (k + 0.5) * math.pi
            sign = 1.0 if k % 2 == 0 else -1.0
            load = self.lam / float(lengths[i])
            for _ in range(60):
                middle = (low + high) / 2
                above = sign * (math.cos(middle) - load * middle * math.sin(middle)) > 0
                low, high = (middle, high) if above else (low, middle)
            roots[i, k] = (low + high) / 2
        return np.asarray(chebyshev.chebfit(t, roots, 24))

    def roots(self, l: Scalar, steps: int = 2) -> list[Scalar]:
        """Return kappa_1.. at a free length by Newton's method in a fixed number of steps."""
        t, out = self.stroke.at(l), []
        for k in range(self.count):
            x = chebyshev_at(self.start[:, k], t)
            for _ in range(steps):
                f, _, f2, *_ = self._terms(x, l)
                x = x - f / f2
            out.append(x)
        return out

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
        s, c, a = call("sin", x), call("cos", x), self.lam / l
        slope = s + x * c
        return (
            c - a * x * s,
            a * x * s / l,
            -s - a * slope,
            -2 * a * x * s / (l * l),
            a * slope / l,
            -c - a * (2 * c - x * s),
        )
