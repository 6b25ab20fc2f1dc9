"""Along: the equations of a small motion over the time of a path, and steps through them.

Between the breaks of a path its equations are smooth, and a Chebyshev series in time stands for
them; it is checked against the equations themselves between its nodes, and the time is halved where
that fails. So steps may be as short as the frequencies need without asking the robot again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any, Protocol

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray

from ..kernels.collocation import NODES, GaussSteps, LargeSteps
from ..kernels.exponentials import PLACES, Leaps
from .damping import Law
from .small_motion import Matrices, SmallMotion, State

__all__ = ["MAX_MATRIX_UNKNOWNS", "EquationsAlongPath", "LoadInTime", "Path", "changes"]

Array = NDArray[np.float64]
# among M, C, K, F, tip, and M, C, K, F of the motors' rows
PART_K = 2
PART_MOTOR_K = 7
SERIES_TOLERANCE = 1e-9  # of the largest entry: what a series may be off
MAX_SERIES = 60  # series tried for one path; beyond them its equations are asked as they come
CHUNK = 1_000_000  # numbers of one matrix in the steps worked out together
MAX_SEAMS = 300  # of a path between which series are made; with more, its equations are asked
MAX_CACHED_NUMBERS = 10_000_000  # numbers of the equations asked last that are kept
SHORT_SERIES_TERMS = 8  # terms of a short series; a long one has three times as many
BETWEEN = np.array([-0.994, -0.566, 0.046, 0.742, 0.996])  # of a span: where a series is checked
MAX_MATRIX_UNKNOWNS = 32  # unknowns up to which steps are worked out as matrices, many at once


class Path(Protocol):
    """A motion in time, as `control.trajectories` has them."""

    periodic: bool

    @property
    def duration(self) -> float: ...
    @property
    def breaks(self) -> tuple[float, ...]: ...
    @property
    def seams(self) -> tuple[float, ...]: ...
    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]: ...


class LoadInTime(Protocol):
    """What acts on a robot along a path besides its own weight, as a TipWrench.

    Its m sizes at times (B,) are `value`, (B, m). `unit_changes` are what a unit of each adds to K,
    F and to those rows of the motors, (B, m, ..).
    """

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which it jumps or bends."""

    def value(self, t: Array) -> Array:
        """Return its sizes at times."""

    def unit_changes(self, found: Matrices, motion: State) -> list[Array]:
        """Return what a unit of each size adds to the equations."""


def _under_load(found: Matrices, units: Sequence[Array], size: Array) -> Matrices:
    """Equations with a load of sizes (B, m) in them; `units` as of `LoadInTime.unit_changes`."""
    K = found.K + np.einsum("tm,tmij->tij", size, units[0])
    F = found.F + np.einsum("tm,tmi->ti", size, units[1])
    drive_K = found.drive[2] + np.einsum("tm,tmij->tij", size, units[2])
    drive_F = found.drive[3] + np.einsum("tm,tmi->ti", size, units[3])
    return replace(found, K=K, F=F, drive=(*found.drive[:2], drive_K, drive_F))


@dataclass(frozen=True)
class _Piece:
    """Equations within start..stop as a series, (n, numbers); None: asked as they come."""

    start: float
    stop: float
    series: Array | None


class EquationsAlongPath:
    """M, C, K, F of a SmallMotion along a path until `total` seconds, with a law of damping."""

    def __init__(
        self,
        model: SmallMotion,
        path: Path,
        total: float,
        law: Law | None,
        load: LoadInTime | None = None,
    ) -> None:
        self.model = model
        self.path = path
        self.law = law
        self.load = load
        self._shapes: list[tuple[int, ...]] = []
        self._left = MAX_SERIES
        end = path.duration
        many_seams = len(path.seams) > max(MAX_SEAMS, len(path.breaks))
        marks = path.breaks if many_seams else path.seams
        edges = [0.0, *(t for t in marks if 0 < t < end), end]
        self._known = (np.empty(0), np.empty((0, 0)))
        self.pieces: list[_Piece] = []
        # A piece for each span: a series that the equations agree with, or two halves. Many spans
        # are asked together; the nodes of a short series are among those of a long one
        spans = [(a, b) for a, b in pairwise(edges) if b > a]
        if many_seams:
            self._equations_at(np.zeros(1))
            self.pieces = [_Piece(a, b, None) for a, b in spans]
            spans = []
        many = max(1, CHUNK // (SHORT_SERIES_TERMS * (3 * self.size**2 + 1)))
        while spans:
            failed = []
            for first in range(0, len(spans), many):
                failed += self._fit_pieces(spans[first : first + many])
            spans = []
            for a, b in failed:
                self._left -= 1
                if self._left < 0:
                    self.pieces.append(_Piece(a, b, None))
                else:
                    spans += [(a, (a + b) / 2), ((a + b) / 2, b)]
        self.pieces.sort(key=attrgetter("start"))
        if not path.periodic and total > end:
            self.pieces.append(_Piece(end, total, self._equations_at(np.array([end + total]) / 2)))
        self._edges = np.array([piece.start for piece in self.pieces])

    @property
    def size(self) -> int:
        """Length of y."""
        return self.model.size

    def at_rest(self) -> Matrices:
        """Return the equations in the first pose, as if it stood still there."""
        first = np.zeros(1)
        x, v, a = self.path(first)
        motion = (x, 0 * v, 0 * a)
        found = self.model.matrices(*motion)
        if self.load is None:
            return found
        return _under_load(found, self.load.unit_changes(found, motion), self.load.value(first))

    def __call__(self, t: Array) -> Matrices:
        """Return the equations at times (B,); at a break those after it."""
        rows = self._rows(t, slice(None))
        cuts = np.cumsum([int(np.prod(s)) for s in self._shapes])[:-1]
        parts: list[Any] = [
            part.reshape(len(rows), *shape)
            for part, shape in zip(np.split(rows, cuts, axis=1), self._shapes, strict=True)
        ]
        M, C, K, F, tip = parts[:5]
        found = Matrices(M, C, K, F, tip, tuple(parts[5:9]))
        if self.load is not None:
            found = _under_load(found, parts[9:], self.load.value(t))
        return found if self.law is None else replace(found, C=found.C + self.law(found.M))

    def system(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """M, C, K, F at times (B,), as `kernels.newmark` asks for them."""
        N = self.size
        rows = self._rows(t, slice(3 * N * N + N))
        M, C, K = (rows[:, k * N * N : (k + 1) * N * N].reshape(len(t), N, N) for k in range(3))
        F = rows[:, 3 * N * N :]
        if self.load is not None:
            size = self.load.value(t)
            m = size.shape[1]
            begin = sum(int(np.prod(shape)) for shape in self._shapes[:9])
            units = self._rows(t, slice(begin, begin + m * (N * N + N)))
            by_K = units[:, : m * N * N].reshape(len(t), m, N, N)
            by_F = units[:, m * N * N :].reshape(len(t), m, N)
            K = K + np.einsum("tm,tmij->tij", size, by_K)
            F = F + np.einsum("tm,tmi->ti", size, by_F)
        return M, C if self.law is None else C + self.law(M), K, F

    def tips(self, t: Array) -> Array:
        """The tip's motion per unit y at times (B,), (B, 6, N)."""
        first, last = np.cumsum([int(np.prod(s)) for s in self._shapes])[3:5]
        return self._rows(t, slice(first, last)).reshape(len(t), *self._shapes[4])

    def _rows(self, t: Array, which: slice) -> Array:
        """Some numbers of the equations at times (B,)."""
        at = t % self.path.duration if self.path.periodic else t
        places = np.maximum(np.searchsorted(self._edges, at, side="right") - 1, 0)
        cuts = np.flatnonzero(np.diff(places, prepend=-1, append=-1))
        width = len(range(*which.indices(sum(int(np.prod(s)) for s in self._shapes))))
        out = np.empty((len(t), width))
        is_direct = np.array([piece.series is None for piece in self.pieces])[places]
        if is_direct.any():  # all in one go
            out[is_direct] = self._equations_at(at[is_direct])[:, which]
        for a, b in pairwise(cuts):
            piece = self.pieces[places[a]]
            if piece.series is not None:
                span = piece.stop - piece.start
                s = (2 * at[a:b] - piece.start - piece.stop) / span
                powers = chebyshev.chebvander(s, len(piece.series) - 1)
                np.matmul(powers, piece.series[:, which], out=out[a:b])
        return out

    def steps(self, t: Array, h: float, x: Array, leaps: bool = False) -> Array:
        """Return x = (y, y') at times t, (T, 2N, ..), by Gauss's steps of at most h, or by leaps.

        x (2N,) or, of which the last column alone is loaded, (2N, m) at t[0]. A step ends at every
        t and at every break.
        """
        # Starts and lengths of steps, and which of t each ends at (-1: none)
        edges = self._edges
        if self.load is not None:
            edges = np.unique(np.concatenate([edges, self.load.breaks]))
        if self.path.periodic:
            turns = np.arange(np.ceil(t[-1] / self.path.duration))
            edges = (edges + self.path.duration * turns[:, None]).ravel()
        is_close = np.abs(
            edges[:, None] - t[np.clip(np.searchsorted(t, edges)[:, None] + [-1, 0], 0, len(t) - 1)]
        ).min(axis=1) < 1e-9 * (t[-1] - t[0])
        nodes = np.concatenate([t, edges[~is_close & (edges > t[0]) & (edges < t[-1])]])
        owner = np.concatenate([np.arange(len(t)), np.full(len(nodes) - len(t), -1)])
        order = np.argsort(nodes, kind="stable")
        nodes = nodes[order]
        owner = owner[order]
        spans = np.diff(nodes)
        counts = np.maximum(1, np.ceil(spans / h * (1 - 1e-9)).astype(int))
        each = np.repeat(spans / counts, counts)
        within = np.arange(len(each)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.full(len(each), -1)
        places[np.cumsum(counts) - 1] = owner[1:]
        starts = np.repeat(nodes[:-1], counts) + within * each
        lengths = each
        ends = places
        out = np.empty((len(t), *x.shape))
        N = self.size
        out[0] = x
        loaded = 1.0 if x.ndim == 1 else np.eye(x.shape[1])[-1]
        chunk = max(4, CHUNK // max(1, 4 * N**2))
        large = LargeSteps()
        for first in range(0, len(starts), chunk):
            rows = slice(first, first + chunk)
            which, new_steps = self._make_steps(starts[rows], lengths[rows], leaps)
            alike = 2 * len(new_steps.h) < len(which)
            for k, place in zip(which, ends[rows], strict=True):
                if (
                    N > MAX_MATRIX_UNKNOWNS
                    and x.ndim == 1
                    and not alike
                    and isinstance(new_steps, GaussSteps)
                ):
                    x = np.concatenate(large.step(new_steps, k, x[:N], x[N:]))
                else:
                    Phi, g = new_steps.transfer
                    x = Phi[k] @ x + np.multiply.outer(g[k], loaded)
                if place >= 0:
                    out[place] = x
        return out

    def _make_steps(
        self, starts: Array, lengths: Array, leaps: bool
    ) -> tuple[NDArray[np.intp], GaussSteps | Leaps]:
        """Steps, and which of them each one is: alike ones at rest share one."""
        at = starts + lengths / 2
        at = at % self.path.duration if self.path.periodic else at
        pieces = np.searchsorted(self._edges, at, side="right") - 1
        lasting = [p.series is not None and len(p.series) == 1 for p in self.pieces]
        is_constant = np.array(lasting)[pieces] & (self.load is None)
        key = np.where(is_constant, pieces + np.round(lengths / lengths.max(), 9) / 2, -1.0 - at)
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        places = PLACES if leaps else NODES
        t = starts[first, None] + lengths[first, None] * places
        equations = self.system(t.ravel())
        M, C, K, F = (A.reshape(len(first), len(places), *A.shape[1:]) for A in equations)
        if leaps:
            is_sprung = np.abs(self.model.elastic(self.path(0.0)[0])).max(axis=0) > 0
            return which, Leaps(M, C, K, F, lengths[first], is_sprung)
        return which, GaussSteps(M, C, K, F, lengths[first])

    def _fit_pieces(self, spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
        """Add the pieces of the spans that a series fits, and return the others."""
        places = np.concatenate([chebyshev.chebpts1(SHORT_SERIES_TERMS), BETWEEN])
        values = self._over(spans, places)
        left = [k for k, span in enumerate(spans) if not self._add_piece(span, values[k])]
        if not left:
            return []
        rest = np.setdiff1d(
            np.arange(3 * SHORT_SERIES_TERMS), 3 * np.arange(SHORT_SERIES_TERMS) + 1
        )
        more = self._over(
            [spans[k] for k in left], chebyshev.chebpts1(3 * SHORT_SERIES_TERMS)[rest]
        )
        failed = []
        for k, extra in zip(left, more, strict=True):
            nodes = np.empty((3 * SHORT_SERIES_TERMS, extra.shape[1]))
            nodes[rest], nodes[1::3] = extra, values[k][:SHORT_SERIES_TERMS]
            if not self._add_piece(
                spans[k], np.concatenate([nodes, values[k][SHORT_SERIES_TERMS:]])
            ):
                failed.append(spans[k])
        return failed

    def _add_piece(self, span: tuple[float, float], values: Array) -> bool:
        """Add a piece of a series through values, and say whether there is one."""
        fit = _series(values, self._shapes)
        self.pieces += [] if fit is None else [_Piece(*span, fit)]
        return fit is not None

    def _over(self, spans: list[tuple[float, float]], places: Array) -> Array:
        """(spans, places, numbers) the equations at places -1..1 of each span."""
        a, b = np.array(spans).T[:, :, None]
        t = (a + b) / 2 + (b - a) / 2 * places
        return self._equations_at(t.ravel()).reshape(len(spans), len(places), -1)

    def _equations_at(self, t: Array) -> Array:
        """The equations at times (B,) as rows of numbers; of the most asked together, as known."""
        known, rows = self._known
        at = np.searchsorted(known, t)
        if len(known) and at.max() < len(known) and np.array_equal(known[at], t):
            return np.asarray(rows[at])
        motion = self.path(t)
        found = self.model.matrices(*motion)
        parts = [found.M, found.C, found.K, found.F, found.tip, *found.drive]
        if self.load is not None:
            parts += self.load.unit_changes(found, motion)
        self._shapes = [part.shape[1:] for part in parts]
        full = [np.broadcast_to(part, (len(t), *part.shape[1:])) for part in parts]
        rows = np.concatenate([part.reshape(len(t), -1) for part in full], axis=1)
        if len(t) > len(known) and rows.size <= MAX_CACHED_NUMBERS and (np.diff(t) > 0).all():
            self._known = (t, rows)
        return rows


def changes(along: EquationsAlongPath, t: Array, x: Array, other: Array, stop: float) -> float:
    """Return how far another way to step is off in the tip's motion, states (T, 2N) both.

    Over half of peak to peak of the motion, or of what is left after `stop`, displacements and
    rotations each; what is left counts where it is more than 1e-4 of the motion.
    """
    tips = along.tips(t)
    N = along.size
    one, two = ((tips @ y[:, :N, None])[..., 0] for y in (x, other))
    rows = [slice(None)]
    if t[-1] > stop:
        rows.append(slice(int(np.searchsorted(t, stop)), None))
    off = 0.0
    for part in (slice(0, 3), slice(3, 6)):
        least = 1e-4 * np.ptp(one[:, part], axis=0).max(initial=0.0) / 2
        # rounding, of the other part too
        least += 1e-9 * np.abs(one).max(initial=0.0) + 1e-30
        for row in rows:
            size = np.ptp(one[row, part], axis=0).max(initial=0.0) / 2
            change = np.abs(one[row, part] - two[row, part]).max(initial=0.0)
            off = max(off, float(change / max(size, least)))
    return off


def _series(values: Array, shapes: list[tuple[int, ...]]) -> Array | None:
    """The series through values at nodes if it has those in between, the last ones.

    Each of M, C, K, F .. to its largest entry; M also bounds rounding. The motors' rows of K are
    what is left when springs are taken off, so that they are known to the rounding of K only.
    """
    nodes = values[: -len(BETWEEN)]
    between = values[-len(BETWEEN) :]
    n = len(nodes)
    cuts = np.cumsum([0, *(int(np.prod(s)) for s in shapes)])
    parts = [slice(a, b) for a, b in pairwise(cuts)]
    sizes = [np.abs(between[:, part]).max(initial=0.0) for part in parts]
    rounding_of_K = 4 * np.finfo(float).eps * sizes[PART_K]
    sizes = [SERIES_TOLERANCE * max(size, 1e-3 * sizes[0]) for size in sizes]
    sizes[PART_MOTOR_K] = max(sizes[PART_MOTOR_K], rounding_of_K)

    def close(x: Array) -> bool:
        pairs = zip(parts, sizes, strict=True)
        return all(np.abs(x[:, part]).max(initial=0.0) <= size for part, size in pairs)

    fit = nodes[:1]
    if not close(values - fit):
        fit = chebyshev.chebvander(chebyshev.chebpts1(n), n - 1).T @ nodes * (2 / n)
        fit[0] /= 2
        if not close(chebyshev.chebvander(BETWEEN, n - 1) @ fit - between):
            return None
    return fit
