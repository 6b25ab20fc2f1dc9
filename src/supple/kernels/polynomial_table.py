"""A function of one variable as a table of polynomials, fast for one value at a time.

Each piece is fitted through eight Chebyshev nodes and checked between them. Pieces that miss the
function are halved, so that a piecewise polynomial of degree seven is met to rounding on the edges
that it is given with, and a smooth function on as many pieces as it needs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["PolynomialTable", "tabulate"]

Array = NDArray[np.float64]
DEGREE = 7
NODES = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))  # in -1..1
# values at the nodes to coefficients of Chebyshev polynomials, and these to powers, exactly
TO_CHEBYSHEV = np.polynomial.chebyshev.chebvander(NODES, DEGREE).T * 2 / (DEGREE + 1)
TO_CHEBYSHEV[0] /= 2
TO_POWERS = np.stack(
    [
        np.pad(np.polynomial.chebyshev.cheb2poly(row), (0, DEGREE - k))
        for k, row in enumerate([np.eye(k + 1)[k] for k in range(DEGREE + 1)])
    ],
    axis=1,
)
FIT = TO_POWERS @ TO_CHEBYSHEV
POWERS = np.arange(DEGREE + 1.0)
CHECKED = np.array([-0.97, -0.41, 0.13, 0.79])  # places between the nodes
MAX_PIECES = 20_000
MAX_HALVINGS = 14


class PolynomialTable:
    """Polynomials of degree seven on pieces: `table(t)` is (m,), in a few microseconds.

    Parameters
    ----------
    edges : (K + 1,)
        Ends of the pieces, rising.
    coefficients : (K, 8, m)
        In powers of u = (t - middle) / half of each piece.
    """

    __slots__ = ("coefficients", "edges", "halves", "last", "middles")

    def __init__(self, edges: Array, coefficients: Array) -> None:
        self.edges: list[float] = edges.tolist()
        self.middles: list[float] = ((edges[1:] + edges[:-1]) / 2).tolist()
        self.halves: list[float] = ((edges[1:] - edges[:-1]) / 2).tolist()
        self.coefficients = list(coefficients)
        self.last = len(self.middles) - 1

    def __call__(self, t: float) -> Array:
        """Return the values (m,) at one t within the table."""
        k = min(max(bisect_right(self.edges, t) - 1, 0), self.last)
        u = (t - self.middles[k]) / self.halves[k]
        found: Array = (u**POWERS) @ self.coefficients[k]
        return found


def tabulate(
    function: Callable[[Array], Array],
    edges: Sequence[float],
    scale: Array,
    tolerance: float,
) -> PolynomialTable | None:
    """Return a function as a table, or None where it needs too many pieces.

    Parameters
    ----------
    function : callable
        Values (N, m) at (N,).
    edges : sequence of float
        Where the function begins, ends, and is not smooth, rising.
    scale : (m,)
        What errors are measured by.
    tolerance : float
        Largest error allowed, over `scale`.
    """
    marks = np.asarray(edges, float)
    pieces = np.stack([marks[:-1], marks[1:]], axis=1)
    done_pieces: list[Array] = []
    done_coefficients: list[Array] = []
    for _ in range(MAX_HALVINGS):
        if len(pieces) + sum(map(len, done_pieces)) > MAX_PIECES:
            return None
        middles = pieces.mean(axis=1)
        halves = np.diff(pieces, axis=1)[:, 0] / 2
        count = len(pieces)

        at_nodes = function((middles[:, None] + halves[:, None] * NODES).ravel())
        values = at_nodes.reshape(count, DEGREE + 1, -1)
        # less the first value, so that what stands still stands still exactly
        coefficients = np.einsum("pk,ckm->cpm", FIT, values - values[:, :1])
        coefficients[:, 0] += values[:, 0]

        between = function((middles[:, None] + halves[:, None] * CHECKED).ravel())
        powers = np.vander(CHECKED, DEGREE + 1, increasing=True)
        fitted = np.einsum("kp,cpm->ckm", powers, coefficients)
        miss = np.abs(fitted - between.reshape(fitted.shape)) / scale
        good = (miss <= tolerance).all(axis=(1, 2))

        done_pieces.append(pieces[good])
        done_coefficients.append(coefficients[good])
        bad = pieces[~good]
        if not len(bad):
            break
        centre = bad.mean(axis=1)
        pieces = np.concatenate(
            [np.stack([bad[:, 0], centre], axis=1), np.stack([centre, bad[:, 1]], axis=1)]
        )
    else:
        return None
    every = np.concatenate(done_pieces)
    order = np.argsort(every[:, 0])
    edges_found = np.append(every[order, 0], marks[-1])
    return PolynomialTable(edges_found, np.concatenate(done_coefficients)[order])
