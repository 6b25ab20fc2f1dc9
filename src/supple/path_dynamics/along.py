"""Along: the equations of a small motion over the time of a path, and steps through them.

Between the breaks of a path its equations are smooth, and a Chebyshev series in time stands for
them; it is checked against the equations themselves between its nodes, and the time is halved where
that fails. So steps may be as short as the frequencies need without asking the robot again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray

from ..kernels.collocation import NODES, GaussSteps
from .damping import Law
from .small_motion import Matrices, SmallMotion

__all__ = ["Along", "Path"]

Array = NDArray[np.float64]
CLOSE = 1e-9  # of the largest entry: what a series may be off
FITS = 60  # series tried for one path; beyond them its equations are asked as they come
CHUNK = 1_000_000  # numbers of one matrix in the steps worked out together
SMALL = 32  # unknowns up to which steps are worked out as matrices, many at once


class Path(Protocol):
    """A motion in time, as `control.trajectories` has them."""

    periodic: bool

    @property
    def duration(self) -> float: ...
    @property
    def breaks(self) -> tuple[float, ...]: ...
    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]: ...


@dataclass(frozen=True)
class _Piece:
    """Equations within start..stop as a series, (n, numbers); None: asked as they come."""

    start: float
    stop: float
    series: Array | None

    @property
    def constant(self) -> bool:
        """Whether nothing changes."""
        return self.series is not None and len(self.series) == 1

    def value(self, t: Array, width: int | None = None) -> Array:
        """The first numbers of the series at times (B,)."""
        assert self.series is not None
        s = (2 * t - self.start - self.stop) / (self.stop - self.start)
        powers = chebyshev.chebvander(s, len(self.series) - 1)
        return np.asarray(powers @ self.series[:, :width])


class Along:
    """M, C, K, F of a SmallMotion along a path until `total` seconds, with a law of damping."""

    def __init__(self, model: SmallMotion, path: Path, total: float, law: Law | None) -> None:
        self.model, self.path, self.law = model, path, law
        self._shapes: list[tuple[int, ...]] = []
        self._left = FITS
        end = path.duration
        edges = [0.0, *(t for t in path.breaks if 0 < t < end), end]
        self.pieces: list[_Piece] = []
        for a, b in pairwise(edges):
            if b > a:
                self._fit(a, b)
        if not path.periodic and total > end:
            self.pieces.append(_Piece(end, total, self._asked(np.array([end + total]) / 2)))
        self._edges = np.array([piece.start for piece in self.pieces])

    @property
    def size(self) -> int:
        """Length of y."""
        return self.model.size

    def __call__(self, t: Array) -> Matrices:
        """Return the equations at times (B,); at a break those after it."""
        rows = self._rows(t, None)
        cuts = np.cumsum([int(np.prod(s)) for s in self._shapes])[:-1]
        parts: list[Any] = [
            part.reshape(len(rows), *shape)
            for part, shape in zip(np.split(rows, cuts, axis=1), self._shapes, strict=True)
        ]
        M, C, K, F, tip = parts[:5]
        found = Matrices(M, C, K, F, tip, tuple(parts[5:]))
        return found if self.law is None else replace(found, C=found.C + self.law(found.M))

    def system(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """M, C, K, F at times (B,), as `kernels.newmark` asks for them."""
        N = self.size
        rows = self._rows(t, 3 * N * N + N)
        M, C, K = (rows[:, k * N * N : (k + 1) * N * N].reshape(len(t), N, N) for k in range(3))
        return M, C if self.law is None else C + self.law(M), K, rows[:, 3 * N * N :]

    def _rows(self, t: Array, width: int | None) -> Array:
        """The first numbers of the equations at times (B,)."""
        at = t % self.path.duration if self.path.periodic else t
        which = np.maximum(np.searchsorted(self._edges, at, side="right") - 1, 0)
        out = np.empty((len(t), sum(int(np.prod(s)) for s in self._shapes)))[:, :width]
        for k in np.unique(which):
            piece, rows = self.pieces[k], which == k
            if piece.series is None:
                out[rows] = self._asked(at[rows])[:, :width]
            else:
                out[rows] = piece.value(at[rows], width)
        return out

    def steps(self, t: Array, h: float, x: Array) -> Array:
        """Return x = (y, y') at times t, (T, 2N, ..), by Gauss's steps of at most h.

        x (2N,) or, of which the last column alone is loaded, (2N, m) at t[0]. A step ends at every
        t and at every break.
        """
        # Starts and lengths of steps, and which of t each ends at (-1: none)
        edges = self._edges
        if self.path.periodic:
            turns = np.arange(np.ceil(t[-1] / self.path.duration))
            edges = (edges + self.path.duration * turns[:, None]).ravel()
        near = np.abs(
            edges[:, None] - t[np.clip(np.searchsorted(t, edges)[:, None] + [-1, 0], 0, len(t) - 1)]
        ).min(axis=1) < 1e-9 * (t[-1] - t[0])
        nodes = np.concatenate([t, edges[~near & (edges > t[0]) & (edges < t[-1])]])
        owner = np.concatenate([np.arange(len(t)), np.full(len(nodes) - len(t), -1)])
        order = np.argsort(nodes, kind="stable")
        nodes, owner = nodes[order], owner[order]
        spans = np.diff(nodes)
        counts = np.maximum(1, np.ceil(spans / h * (1 - 1e-9)).astype(int))
        each = np.repeat(spans / counts, counts)
        within = np.arange(len(each)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.full(len(each), -1)
        places[np.cumsum(counts) - 1] = owner[1:]
        starts, lengths, ends = np.repeat(nodes[:-1], counts) + within * each, each, places
        out, N = np.empty((len(t), *x.shape)), self.size
        out[0] = x
        loaded = 1.0 if x.ndim == 1 else np.eye(x.shape[1])[-1]
        chunk = max(4, CHUNK // max(1, 4 * N**2))
        for first in range(0, len(starts), chunk):
            rows = slice(first, first + chunk)
            which, made = self._made(starts[rows], lengths[rows])
            alike = 2 * len(made.h) < len(which)
            for k, place in zip(which, ends[rows], strict=True):
                if N > SMALL and x.ndim == 1 and not alike:
                    x = np.concatenate(made.step(k, x[:N], x[N:]))
                else:
                    Phi, g = made.transfer
                    x = Phi[k] @ x + np.multiply.outer(g[k], loaded)
                if place >= 0:
                    out[place] = x
        return out

    def _made(self, starts: Array, lengths: Array) -> tuple[NDArray[np.intp], GaussSteps]:
        """Steps, and which of them each one is: alike ones at rest share one."""
        at = starts + lengths / 2
        at = at % self.path.duration if self.path.periodic else at
        pieces = np.searchsorted(self._edges, at, side="right") - 1
        still = np.array([piece.constant for piece in self.pieces])[pieces]
        key = np.where(still, pieces + np.round(lengths / lengths.max(), 9) / 2, -1.0 - at)
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        t = starts[first, None] + lengths[first, None] * NODES
        M, C, K, F = (A.reshape(len(first), 2, *A.shape[1:]) for A in self.system(t.ravel()))
        return which, GaussSteps(M, C, K, F, lengths[first])

    def _fit(self, a: float, b: float) -> None:
        """Add pieces for a..b: a series that the equations agree with, or two halves."""
        for n in (1, 22):
            nodes = (a + b) / 2 + (b - a) / 2 * chebyshev.chebpts1(n)
            values = self._asked(nodes)
            fit = chebyshev.chebvander(chebyshev.chebpts1(n), n - 1).T @ values * (2 / n)
            fit[0] /= 2
            piece = _Piece(a, b, fit)
            between = a + (b - a) * np.array([0.003, 0.217, 0.523, 0.871, 0.998])
            # Whether M, C, K, F .. are close, each to its largest entry; M also bounds rounding
            cuts = np.cumsum([int(np.prod(s)) for s in self._shapes])[:-1]
            parts = list(
                zip(
                    np.split(piece.value(between), cuts, axis=1),
                    np.split(self._asked(between), cuts, axis=1),
                    strict=True,
                )
            )
            noise = 1e-3 * np.abs(parts[0][1]).max(initial=0.0)
            agree = all(
                np.abs(x - y).max(initial=0.0) <= CLOSE * max(np.abs(y).max(initial=0.0), noise)
                for x, y in parts
            )
            if agree:
                self.pieces.append(piece)
                return
        self._left -= 1
        if self._left < 0:
            self.pieces.append(_Piece(a, b, None))
            return
        for ends in ((a, (a + b) / 2), ((a + b) / 2, b)):
            self._fit(*ends)

    def _asked(self, t: Array) -> Array:
        """The equations at times (B,) as rows of numbers."""
        found = self.model.matrices(*self.path(t))
        parts = (found.M, found.C, found.K, found.F, found.tip, *found.drive)
        self._shapes = [part.shape[1:] for part in parts]
        full = [np.broadcast_to(part, (len(t), *part.shape[1:])) for part in parts]
        return np.concatenate([part.reshape(len(t), -1) for part in full], axis=1)
