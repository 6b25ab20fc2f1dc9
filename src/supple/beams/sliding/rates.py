"""Rate: a scalar of a link that slides, with its first two derivatives along the free length.

Derivatives follow the material: a point of the beam keeps its distance from the far end, so its
place eta = x/l changes as l grows. Scalars may be floats, arrays or CasADi expressions; a float
zero is a fact about structure and is never multiplied.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.scalars import apply_operator

__all__ = ["Rate", "place", "variable"]

Scalar = Any


def _zero(a: Scalar) -> bool:
    return isinstance(a, float) and a == 0.0


def _add(a: Scalar, b: Scalar) -> Scalar:
    if _zero(a):
        return b
    return a if _zero(b) else apply_operator(operator.add, a, b)


def _mul(a: Scalar, b: Scalar) -> Scalar:
    return 0.0 if _zero(a) or _zero(b) else apply_operator(operator.mul, a, b)


def call(name: str, a: Scalar) -> Scalar:
    """Return sin, cos, exp, log or sqrt of a float, an array or an expression."""
    if isinstance(a, int | float):
        return getattr(math, name)(a)
    return getattr(np, name)(a) if isinstance(a, np.ndarray) else getattr(a, name)()


@dataclass(frozen=True, slots=True)
class Rate:
    """x, dx/dl and d2x/dl2 of one scalar."""

    value: Scalar
    first: Scalar = 0.0
    second: Scalar = 0.0

    def __add__(self, other: Rate | float) -> Rate:
        o = other if isinstance(other, Rate) else Rate(other)
        return Rate(
            _add(self.value, o.value), _add(self.first, o.first), _add(self.second, o.second)
        )

    __radd__ = __add__

    def __neg__(self) -> Rate:
        return self * -1.0

    def __sub__(self, other: Rate | float) -> Rate:
        return self + (-other)

    def __rsub__(self, other: float) -> Rate:
        return -self + other

    def __mul__(self, other: Rate | float) -> Rate:
        if not isinstance(other, Rate):
            return Rate(_mul(self.value, other), _mul(self.first, other), _mul(self.second, other))
        first = _add(_mul(self.first, other.value), _mul(self.value, other.first))
        cross = _mul(2.0, _mul(self.first, other.first))
        second = _add(_mul(self.second, other.value), _mul(self.value, other.second))
        return Rate(_mul(self.value, other.value), first, _add(second, cross))

    __rmul__ = __mul__

    def __truediv__(self, other: Rate | float) -> Rate:
        if not isinstance(other, Rate):
            return self * (1 / other)
        r = 1.0 / other.value
        return self * other.of(r, -(r * r), 2.0 * r * r * r)

    def __rtruediv__(self, other: float) -> Rate:
        return Rate(other) / self

    def of(self, f: Scalar, slope: Scalar, curvature: Scalar) -> Rate:
        """Return f(x) from f, f' and f'' at x."""
        second = _add(_mul(curvature, _mul(self.first, self.first)), _mul(slope, self.second))
        return Rate(f, _mul(slope, self.first), second)

    def sin(self) -> Rate:
        """sin x."""
        s = call("sin", self.value)
        c = call("cos", self.value)
        return self.of(s, c, -s)

    def cos(self) -> Rate:
        """cos x."""
        s = call("sin", self.value)
        c = call("cos", self.value)
        return self.of(c, -s, -c)

    def exp(self) -> Rate:
        """exp x."""
        e = call("exp", self.value)
        return self.of(e, e, e)

    def sqrt(self) -> Rate:
        """Square root of x."""
        r = call("sqrt", self.value)
        return self.of(r, 0.5 / r, -0.25 / (r * self.value))


def variable(l: Scalar) -> Rate:
    """Return the free length itself."""
    return Rate(l, 1.0)


def place(eta: float, l: Scalar) -> Rate:
    """Return eta = x/l of a material point: d eta/dl = (1 - eta)/l.

    Source: [Theodore1997], Eq. (24), corrected: the printed one has -eta in place of 1 - eta.
    """
    e = (1.0 - eta) / l
    return Rate(eta, e, -2.0 * e / l)
