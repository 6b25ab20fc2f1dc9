"""Integrals over the free part of a beam whose section varies, as functions of the free length.

A point at s from the beam's inner end is at eta = (s - L + l)/l of the free part. Between breaks in
eta a shape is a polynomial, between stations in s a property w is one too, to rounding. So any
integral of w times products f of shapes is a sum over the pieces of eta,

    int w(s) f(eta) d eta = sum_pn f_pn mu_pn(l),    mu_pn = int_piece w(L - l + eta l) P_n d eta,

with f_pn the Legendre series of f on piece p. The moments mu hold all that depends on l: they are
taken by Gauss's rule between the stations that lie in the piece, wherever they have slid to, and
stay right as a jump of the section passes the hub or a break.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from ..varying import VaryingBeam, panel_nodes
from .rates import Rate
from .recipes import symbolic

__all__ = ["MovingWeights", "WeightedMoments", "piecewise"]

Array = NDArray[np.float64]
Scalar = Any


@dataclass(frozen=True)
class MovingWeights:
    """The properties of a beam that slides, under pieces of its free part.

    Attributes
    ----------
    beam
        The whole of it.
    pieces
        (p + 1,), breaks in eta, from 0 to 1.
    """

    beam: VaryingBeam
    pieces: Array

    @cached_property
    def _panels(self) -> list[tuple[float, float, Array]]:
        """Start, stop and Legendre series (n, 10) of the properties of every panel; 0: excluded.

        Longer than those of `VaryingBeam`, which resolve the inverses of the stiffnesses as well.
        """
        t, _, series = panel_nodes()
        todo = [(span, span.start, span.stop) for span in reversed(self.beam.spans)]
        out: list[tuple[float, float, Array]] = []
        while todo:
            span, a, b = todo.pop()
            rows = span.exact((a + b) / 2 + (b - a) / 2 * t)
            c = series @ np.where(np.isfinite(rows), rows, 0.0)
            c[np.abs(c) < 4e-15 * np.abs(c).max(axis=0)] = 0.0
            if c[-2:].any() and b - a > (span.stop - span.start) / 4096:
                todo += [(span, (a + b) / 2, b), (span, a, (a + b) / 2)]
                continue
            out.append((a, b, c[: 1 + int(np.nonzero(c.any(axis=1))[0][-1])]))
        return out

    @property
    def series(self) -> tuple[Array, Array]:
        """Edges (p + 1,) of the panels, and the series (p, n, 10) of the properties on them."""
        edges = [start for start, *_ in self._panels] + [self._panels[-1][1]]
        terms = max(len(c) for *_, c in self._panels)
        padded = [np.pad(c, ((0, terms - len(c)), (0, 0))) for *_, c in self._panels]
        return np.array(edges), np.array(padded)

    def project_to_series(self, values: Array) -> Array:
        """Return series (.., p n) of values (p, g, ..) at Gauss points of the pieces, g of each."""
        g = values.shape[1]
        t, w = legendre.leggauss(g)
        to = (2 * np.arange(g) + 1)[:, None] / 2 * legendre.legvander(t, g - 1).T * w
        series = np.einsum("ng,pg...->...pn", to, values)
        flat: Array = series.reshape(*series.shape[:-2], g * len(values))
        return flat

    def moments(self, column: int, count: int, l: Scalar) -> WeightedMoments:
        """Return mu_pn (p n,) of one property, n below count, at a free length or at many (B,)."""
        import casadi as ca

        key = column, count
        if key not in self._functions:
            x = ca.SX.sym("l")
            out = []
            for a, b in zip(self.pieces[:-1].tolist(), self.pieces[1:].tolist(), strict=True):
                mu = ca.SX.zeros(count)
                for start, stop, series in self._panels:
                    if not series[:, column].any():
                        continue
                    own = series[: 1 + int(np.nonzero(series[:, column])[0][-1]), column]
                    # moments (count,) of what of a panel lies in a piece
                    L = self.beam.L
                    begin, end = (ca.fmin(ca.fmax((s - L + x) / x, a), b) for s in (start, stop))
                    points, weights = legendre.leggauss(math.ceil((count + len(own)) / 2))
                    eta = (begin + end) / 2 + (end - begin) / 2 * ca.DM(points)
                    place = (2 * (L - x + eta * x) - start - stop) / (stop - start)
                    at = zip(own.tolist(), _polynomials(place, len(own)), strict=True)
                    value = sum(c * P for c, P in at) * (end - begin) / 2 * ca.DM(weights)
                    local = _polynomials((2 * eta - a - b) / (b - a), count)
                    mu += ca.vertcat(*(ca.dot(P, value) for P in local))
                out.append(mu)
            stacked = ca.vertcat(*out)
            parts = [stacked, ca.densify(ca.jacobian(stacked, x))]
            self._functions[key] = ca.Function("moments", [x], parts)
        found = self._functions[key](l if symbolic(l) else np.atleast_2d(l))
        if symbolic(l):
            return WeightedMoments(*(ca.vertsplit(part) for part in found))
        rows = [part.full() if np.ndim(l) else part.full()[:, 0] for part in found]
        return WeightedMoments(*(list(part) for part in rows))

    @cached_property
    def _functions(self) -> dict[tuple[int, int], Any]:
        """Moments as functions of l, kept for each property and count."""
        return {}


@dataclass(frozen=True)
class WeightedMoments:
    """Moments of one property with their slopes along l: what series are summed with."""

    value: list[Scalar]
    first: list[Scalar]

    def values(self, series: Array) -> Any:
        """Return the integrals (..) of functions with series (.., p n), nested lists."""
        return _reshape_list(_sums(series, self.value), series.shape[:-1])

    def rates(self, series: Array) -> Any:
        """Return the same as Rates, their second derivatives, which nobody asks for, NaN."""
        parts = [_sums(series, part) for part in (self.value, self.first)]
        flat = [Rate(value, first, math.nan) for value, first in zip(*parts, strict=True)]
        return _reshape_list(flat, series.shape[:-1])


def _sums(series: Array, mu: list[Scalar]) -> list[Scalar]:
    """Sums (..) of series (.., p n) with moments, flat; what is zero in every place is a float."""
    rows = series.reshape(-1, series.shape[-1])
    if symbolic(mu[0]):
        import casadi as ca

        found: list[Scalar] = ca.vertsplit(ca.mtimes(ca.sparsify(ca.DM(rows)), ca.vertcat(*mu)))
    else:
        found = [float(x) if np.ndim(x) == 0 else x for x in rows @ np.array(mu)]
    return [x if row.any() else 0.0 for x, row in zip(found, rows, strict=True)]


def _reshape_list(flat: list[Any], shape: tuple[int, ...]) -> Any:
    """A flat list as nested ones of a shape."""
    if len(shape) == 1:
        return flat
    step = len(flat) // shape[0] if shape[0] else 0
    return [_reshape_list(flat[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def piecewise(x: Scalar, breaks: Array, series: Array, order: int = 0) -> list[Scalar]:
    """Return polynomials (m,) of x, numbers or an expression, or a derivative of theirs.

    `series` (p, n, m): Legendre's on the pieces between `breaks`; the outer ones go on beyond them.
    """
    if isinstance(x, np.ndarray) and x.ndim:
        each = [piecewise(one, breaks, series, order) for one in x]
        return list(np.transpose(each))
    width = np.diff(breaks)
    own = legendre.legder(series, order, axis=1) * ((2 / width) ** order)[:, None, None]
    if not symbolic(x):
        k = int(np.clip(np.searchsorted(breaks, x, "right") - 1, 0, len(series) - 1))
        t = (2 * x - breaks[k] - breaks[k + 1]) / width[k]
        return [float(value) for value in legendre.legval(t, own[k])]
    import casadi as ca

    def chosen(values: Array) -> Scalar:
        same = len(values) == 1 or (values == values[0]).all()
        return float(values[0]) if same else ca.pw_const(x, breaks[1:-1], values)

    P = _polynomials((2 * x - chosen(breaks[:-1] + breaks[1:])) / chosen(width), own.shape[1])
    return [
        sum((P[n] * chosen(own[:, n, j]) for n in range(len(P)) if own[:, n, j].any()), 0.0)
        for j in range(own.shape[-1])
    ]


def _polynomials(t: Scalar, count: int) -> list[Scalar]:
    """Legendre's P_0 .. at t (g,)."""
    out = [t * 0 + 1, t]
    for n in range(1, count - 1):
        out.append(((2 * n + 1) * t * out[n] - n * out[n - 1]) / (n + 1))
    return out[:count]
