"""Tables of shapes that stretch with the free length: their integrals over eta at unit length.

A table's integrals have as first axis the power of (L/l)^2 that they are multiplied by, see
`elements`; where the section varies, their last one is summed with the moments of `weighted`.
Where the slope of a function jumps, at the hub or from element to element, its second derivative
along l has a peak there, and its first is the mean of both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..invariants import foreshortening, gauss_points
from ..shapes import LinkShapes
from ..theory import AnyBeam
from ..varying import VaryingBeam
from .recipes import symbolic
from .shapes import ROWS
from .weighted import MovingWeights, WeightedMoments, piecewise

__all__ = ["layered_shortening", "moments_of", "short_tables", "tables"]

Array = NDArray[np.float64]
Scalar = Any


@dataclass(frozen=True)
class _Rule:
    """Places along the whole length at which functions are integrated over eta, from `start` on.

    Attributes
    ----------
    x
        (n,), Gauss's.
    weights
        (n,), where the section is uniform.
    moving
        Else.
    edges
        (e,), where slopes may jump, the hub among them where integrals begin there.
    hub
        Whether it is.
    degree
        Of what is integrated, at most.
    """

    x: Array
    weights: Array
    moving: MovingWeights | None
    edges: Array
    hub: bool
    degree: int

    def over(self, values: Array, peaks: Array | None = None) -> Array:
        """Integrals (..) of values (n, ..) and of peaks (e, ..), or series (.., p n + e)."""
        if peaks is None:
            peaks = np.zeros((len(self.edges), *values.shape[1:]))
        if self.moving is None:
            return np.asarray(np.tensordot(self.weights, values, 1) + peaks.sum(axis=0))
        pieces = len(self.moving.pieces) - 1
        shaped = values.reshape(pieces, self.degree + 1, *values.shape[1:])
        return np.concatenate(
            [self.moving.project_to_series(shaped), np.moveaxis(peaks, 0, -1)], axis=-1
        )


def _rule(
    beam: AnyBeam, shapes: LinkShapes, points: int, degree: int, start: float | None
) -> _Rule:
    L = beam.L
    first = (start or 0.0) * beam.L
    inner = shapes.breaks[shapes.breaks > first]
    breaks = np.append(first, inner)
    varies = isinstance(beam, VaryingBeam)
    x, w = gauss_points(breaks, degree + 1 if varies else points)
    moving = MovingWeights(beam, breaks / L) if isinstance(beam, VaryingBeam) else None
    edges = breaks[:-1] if start is None else breaks[1:-1]
    return _Rule(x, w / L, moving, edges, start is None, degree)


@dataclass(frozen=True)
class _Carried:
    """Functions l^-p f(eta) that the material is carried through.

    Attributes
    ----------
    rates
        f and, times powers of l, its two derivatives along l, (n, m) each.
    middle
        The first two of these at the edges, (e, m).
    peaks
        Of the third there, (e, m).
    """

    rates: list[Array]
    middle: list[Array]
    peaks: Array


def _at_material_points(f: Sequence[Array], rule: _Rule, L: float, p: int) -> _Carried:
    """From f, f' and f'' by eta at x, below the edges and above them, one after the other."""
    left = (1 - np.concatenate([rule.x, rule.edges, rule.edges]) / L)[:, None]
    every = [
        f[0],
        left * f[1] - p * f[0],
        left**2 * f[2] - 2 * (p + 1) * left * f[1] + p * (p + 1) * f[0],
    ]
    n = len(rule.x)
    e = len(rule.edges)
    below, above = ([each[a : a + e].copy() for each in every] for a in (n, n + e))
    if rule.hub:
        for each in below:
            each[0] = 0.0
    middle = [(a + b) / 2 for a, b in zip(below[:2], above, strict=False)]
    peaks = left[n : n + e] * (above[1] - below[1])
    return _Carried([each[:n] for each in every], middle, peaks)


def _places(rule: _Rule) -> Array:
    """x, then the edges seen from below, then from above."""
    return np.concatenate([rule.x, np.nextafter(rule.edges, 0.0), rule.edges])


def _products(A: list[_Carried], B: list[_Carried], rule: _Rule) -> list[list[Array]]:
    """[d][e]: integrals of products of two layered sets and their rates."""
    out = []
    for d, e in product(range(3), repeat=2):
        parts: list[Any] = [0.0] * (len(A) + len(B) - 1)
        for (s, a), (t, b) in product(enumerate(A), enumerate(B)):
            peaks = None
            if (d == 2) != (e == 2):
                one, other = (a.peaks, b.middle[e]) if d == 2 else (a.middle[d], b.peaks)
                peaks = one[:, :, None] * other[:, None]
            parts[s + t] += rule.over(a.rates[d][:, :, None] * b.rates[e][:, None], peaks)
        out.append(np.stack(parts))
    return [out[3 * d : 3 * d + 3] for d in range(3)]


def _means(A: list[_Carried], rule: _Rule, eta: Array, at: Array) -> list[Array]:
    """[d]: integrals of a layered set and its rates, times eta, given at x and at the edges."""
    return [
        np.stack([rule.over(eta * a.rates[d], at * a.peaks if d == 2 else None) for a in A])
        for d in range(3)
    ]


def tables(
    beam: AnyBeam, layers: tuple[LinkShapes, ...], start: float | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the integrals of bending and of twist, and end values."""
    return _table(beam, layers, start, twists=False), _table(beam, layers, start, twists=True)


def _table(
    beam: AnyBeam, layers: tuple[LinkShapes, ...], start: float | None, twists: bool
) -> dict[str, Any]:
    """Integrals over eta of the shapes of twist, or of all others, at unit length.

    Keys: `gram`, `mean`, `centre`, `tip`, `slope` as in `ShapeFamily`; `K` and `sheared`, squares
    of the strains of bending (stretch, twist) and of shear; `planes`, the component that each shape
    moves; `turned`, gram and mean of the slopes where sections have rotary inertia; `rule`, the
    quadrature by which the series of a section that varies are summed.
    """
    L = beam.L
    degree = layers[0].degree
    kinds = layers[0].kinds
    rule = _rule(beam, layers[0], degree + 3, 2 * degree + 1, start)
    eta = (rule.x / L)[:, None]
    eta_at_edges = (rule.edges / L)[:, None]
    ones = np.ones_like(eta)
    ones_at_edges = np.ones_like(eta_at_edges)

    # derivatives[s][d]: d-th derivative along eta of the shapes of layer s, (places, shapes)
    columns = [j for j, kind in enumerate(kinds) if (kind == "torsion") is twists]
    rows = [ROWS[kinds[j]][0] for j in columns]
    own_layers = layers[:1] if twists else layers  # twist has no shear
    places = _places(rule)
    derivatives = [
        [layer.at(places, d)[:, rows, columns] * L**d for d in range(4)] for layer in own_layers
    ]
    shapes = [_at_material_points(layer, rule, L, 2 * s) for s, layer in enumerate(derivatives)]
    end_values = [layer.at(L, 0)[0][rows, columns] for layer in own_layers]
    end_slope = layers[0].at(L, 1)[0][rows, columns] * L

    # Strains: second derivatives of bending, first ones of stretch and twist
    inside = slice(len(rule.x))
    first = derivatives[0][1][inside]
    strain = first if twists else np.where(np.equal(rows, 0), first, derivatives[0][2][inside])
    same_plane = np.equal.outer(rows, rows)
    table = {
        "gram": _products(shapes, shapes, rule),
        "mean": _means(shapes, rule, ones, ones_at_edges),
        "centre": _means(shapes, rule, eta, eta_at_edges),
        "tip": np.stack(end_values),
        "slope": end_slope,
        "K": rule.over(strain[:, :, None] * strain[:, None] * same_plane),
        "planes": np.array(rows),
        "rule": rule,
    }
    if len(own_layers) > 1:
        shear = derivatives[-1][1][inside]
        table["sheared"] = rule.over(shear[:, :, None] * shear[:, None] * same_plane)
    has_rotary_inertia = beam.at([L / 2])[0, 7:9].any()
    if not twists and has_rotary_inertia:
        slopes = [_at_material_points(derivatives[0][1:], rule, L, 1)]
        table["turned"] = (
            _products(slopes, slopes, rule),
            _means(slopes, rule, ones, ones_at_edges),
        )
    return table


def short_tables(
    beam: AnyBeam, layers: tuple[LinkShapes, ...], start: float | None
) -> dict[str, Any]:
    """Return the integrals of phi = l F, the foreshortening of pairs of shapes of bending."""
    L = beam.L
    degree = layers[0].degree
    kinds = layers[0].kinds
    rule = _rule(beam, layers[0], 2 * degree + 2, 4 * degree, start)
    columns = [j for j, kind in enumerate(kinds) if kind != "torsion"]
    rows = [ROWS[kinds[j]][0] for j in columns]
    x = _places(rule)
    each = [[one.at(x, d)[:, rows, columns] * L**d for d in range(3)] for one in layers]
    N = [_at_material_points(part, rule, L, 2 * s) for s, part in enumerate(each)]
    pairs, phi = layered_shortening(layers, lambda one: _foreshortening_pairs(one, np.append(x, L)))
    F = [
        _at_material_points([f[:-1] for f in part], rule, L, 1 + 2 * s)
        for s, part in enumerate(phi)
    ]
    eta = (rule.x / L)[:, None]
    at = (rule.edges / L)[:, None]
    return {
        "pairs": [(columns.index(a), columns.index(b)) for a, b in pairs],
        "gram": _products(F, F, rule),
        "against": _products(F, N, rule),
        "mean": _means(F, rule, np.ones_like(eta), np.ones_like(at)),
        "centre": _means(F, rule, eta, at),
        "tip": np.stack([part[0][-1] for part in phi]),
        "rule": rule,
    }


def layered_shortening(
    layers: tuple[LinkShapes, ...], of: Callable[[LinkShapes], tuple[Any, Any]]
) -> tuple[Any, list[Any]]:
    """Return pairs, and what is quadratic in F + s G by powers of s."""
    bent = layers[0]
    pairs, plain = of(bent)
    if len(layers) == 1:
        return pairs, [plain]
    more, less = (
        of(LinkShapes(bent.breaks, bent.coefficients + s * layers[1].coefficients, bent.kinds))[1]
        for s in (1, -1)
    )
    return pairs, [plain, (more - less) / 2, (more + less) / 2 - plain]


def _foreshortening_pairs(
    shapes: LinkShapes, at: Array
) -> tuple[tuple[tuple[int, int], ...], Array]:
    """Pairs of shapes; phi = l F and its first two derivatives by eta (3, n, pairs) at places."""
    L = float(shapes.breaks[-1])
    pairs, moved = foreshortening(shapes, at)
    j, n = (np.array([pair[k] for pair in pairs], int) for k in range(2))
    half = np.where(j == n, 0.5, 1.0)
    v1, v2 = (shapes.at(at, d)[:, 1:3] for d in (1, 2))
    products = [
        (v1[..., j] * v1[..., n]).sum(axis=1),
        (v2[..., j] * v1[..., n] + v1[..., j] * v2[..., n]).sum(axis=1),
    ]
    return pairs, np.stack(
        [L * moved[:, 0], *(-half * L ** (2 + d) * f for d, f in enumerate(products))]
    )


def moments_of(l: Scalar, table: dict[str, Any], column: int) -> WeightedMoments | None:
    """Return what a table's series are summed with at a free length, a property inside."""
    rule: _Rule = table["rule"]
    if rule.moving is None:
        return None
    found = rule.moving.moments(column, rule.degree + 1, l)
    beam = rule.moving.beam
    places = [beam.L - l + x / beam.L * l for x in rule.edges.tolist()]
    if symbolic(l):
        breaks, series = rule.moving.series
        peaks = [piecewise(x, breaks, series[..., [column]])[0] for x in places]
    else:
        at = [np.where(np.isfinite(here := beam.at(x)[:, column]), here, 0.0) for x in places]
        peaks = [each if np.ndim(l) else float(each[0]) for each in at]
    return WeightedMoments([*found.value, *peaks], [*found.first, *(0.0 * x for x in peaks)])
