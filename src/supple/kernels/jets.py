"""Jets: arrays with their first and second derivative by time, by the product rule.

A Jet behaves as its value in sums, products, matrix products and slices, so that one text serves
places alone (plain arrays) and places in motion (Jets).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import spatial

__all__ = [
    "Either",
    "Jet",
    "concatenate",
    "cross",
    "crossing",
    "jet_of",
    "rotation_jet",
    "solve",
    "transpose",
]

Array = NDArray[np.float64]
Either = Any  # an array, or a Jet; what comes out is what went in


@dataclass(frozen=True, eq=False)
class Jet:
    """x, x' and x'' of one array that changes in time; the three have one shape."""

    value: Array
    first: Array
    second: Array

    __array_ufunc__ = None  # so that ndarray @ Jet asks the Jet

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """Value, first and second derivative."""
        return self.value, self.first, self.second

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return self.value.shape

    def map(self, linear: Callable[[Array], Array]) -> Jet:
        """Return a linear function of it."""
        return Jet(*(linear(part) for part in self.parts))

    def __getitem__(self, index: Any) -> Jet:
        return Jet(self.value[index], self.first[index], self.second[index])

    def __neg__(self) -> Jet:
        return self.map(np.negative)

    def __add__(self, other: Jet | Array) -> Jet:
        if isinstance(other, Jet):
            return Jet(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))
        return Jet(self.value + other, self.first, self.second)

    __radd__ = __add__

    def __sub__(self, other: Jet | Array) -> Jet:
        return self + (-other)

    def __mul__(self, other: Jet | Array | float) -> Jet:
        return _product(self, other, np.multiply)

    def __rmul__(self, other: Array | float) -> Jet:
        return Jet(*(np.asarray(other * part) for part in self.parts))

    def __matmul__(self, other: Jet | Array) -> Jet:
        return _product(self, other, np.matmul)

    def __rmatmul__(self, other: Array) -> Jet:
        return Jet(*(np.asarray(other @ part) for part in self.parts))


def _product(a: Jet, b: Jet | Array | float, times: Callable[[Any, Any], Array]) -> Jet:
    if not isinstance(b, Jet):
        return Jet(*(times(part, b) for part in a.parts))
    return Jet(
        times(a.value, b.value),
        times(a.first, b.value) + times(a.value, b.first),
        times(a.second, b.value) + 2 * times(a.first, b.first) + times(a.value, b.second),
    )


def jet_of(x: Array | Jet) -> Jet:
    """Return x as a Jet: a plain array stands still."""
    return x if isinstance(x, Jet) else Jet(x, np.zeros_like(x), np.zeros_like(x))


def rotation_jet(R: Array, w: Array, dw: Array) -> Jet:
    """Return R (.., 3, 3) with R' = [w] R and R'' = ([w'] + [w]^2) R; w, w' in R's outer axes."""
    W = spatial.cross_matrix(w)
    return Jet(R, W @ R, (spatial.cross_matrix(dw) + W @ W) @ R)


def transpose(x: Either) -> Either:
    """Return x with its last two axes swapped."""
    if isinstance(x, Jet):
        return Jet(*(part.swapaxes(-1, -2) for part in x.parts))
    return x.swapaxes(-1, -2)


def cross(a: Either, b: Either) -> Either:
    """Return a x b along the last axis."""
    if isinstance(a, Jet) or isinstance(b, Jet):
        return _product(jet_of(a), b, spatial.cross)
    return spatial.cross(a, b)


def crossing(p: Either) -> Either:
    """Return [p] (.., 3, 3) with [p] w = p x w."""
    return p.map(spatial.cross_matrix) if isinstance(p, Jet) else spatial.cross_matrix(p)


def concatenate(parts: Sequence[Array | Jet], axis: int) -> Any:
    """Join arrays and Jets, other axes broadcast: a Jet if one of them is, else an array."""
    if not any(isinstance(part, Jet) for part in parts):
        return _concatenate([np.asarray(part) for part in parts], axis)
    each = [jet_of(part).parts for part in parts]
    return Jet(*(_concatenate([part[k] for part in each], axis) for k in range(3)))


def _concatenate(parts: list[Array], axis: int) -> Array:
    if len({part.shape[:-2] for part in parts}) == 1:
        return np.concatenate(parts, axis=axis)
    batch = np.broadcast_shapes(*(part.shape[:-2] for part in parts))
    full = [np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in parts]
    return np.concatenate(full, axis=axis)


def solve(A: Jet, B: Jet) -> Jet:
    """Return X with A X = B: A X' = B' - A' X and A X'' = B'' - 2 A' X' - A'' X."""
    inverse = np.linalg.inv(A.value)
    X = inverse @ B.value
    X1 = inverse @ (B.first - A.first @ X)
    X2 = inverse @ (B.second - 2 * A.first @ X1 - A.second @ X)
    return Jet(X, X1, X2)
