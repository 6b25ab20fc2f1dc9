"""Is this band free: a proof that no pose and payload of a box rings in it, or one that does.

Every link keeps its root and its end as unknowns in its own axes; joint j ties them by rows that
hold cos(theta_j) and sin(theta_j) and nothing else of the pose,

    A(theta) = [[K(omega), C(theta)'], [C(theta), 0]].

A has as many negative eigenvalues, less its ties, as there are natural frequencies below omega
(Sylvester; Wittrick and Williams, with pieces too short for clamped frequencies below omega). Let
W' A W be a matrix of signs at the middle of a cell. The number cannot change in the cell while
|W' (A(theta) - A(middle)) W| < 1, and with d_j the half widths

    A(theta) - A(middle) = sum_j sin(d_j) Q_j + (cos(d_j) - 1) P_j,

so that sum_j sin|d_j| |W' Q_j W| + (1 - cos d_j) |W' P_j W| < 1 proves a cell (Weyl). More payload
lowers every frequency: the band is free for all payloads if as many frequencies lie below its lower
edge with the lightest as below its upper edge with the heaviest. Cells that are not proven are
halved.

A joint changes nothing where what lies before it looks the same from its far side at every angle:
the first joint of an arm that stands on the ground, or on a foundation or column that is alike all
around. Such joints are found beforehand and cost nothing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import (
    checked,
    instance,
    number,
    vector,
    whole_number,
)
from ...assembly import exact_ends
from ...budget import LONG, SizeWarning
from ...errors import SuppleError
from ...kernels.spatial import transport
from ...kernels.threads import one_thread
from ...robot import Robot
from ...structure import Structure, structure_of
from ..vibration.modes import modes
from ..vibration.shapes import cut_beams, dynamic_spring, exact_forms
from .varied import Varied, coordinate_names
from .workers import Progress

__all__ = ["Band", "stopband"]

Array = NDArray[np.float64]
CELLS_PER_BATCH = 256
EDGE_TOLERANCE = (
    1e-10  # relative: how far beyond its ends a band is looked at; frequencies are told to 1e-11
)
ROUNDING_MARGIN = 1 - 1e-6  # the rounding of eigenvalues and norms, far below it, stays inside
HIGHEST_FREQUENCY = 1e12  # Hz that a band may reach
LARGEST_ANGLE = 1e6  # rad from zero that a box may begin
SAME_STRUCTURE_TOLERANCE = (
    1e-9  # relative: by less what lies before a joint may differ from angle to angle
)
LEAST_SHARE_FORESEEN = 0.01  # part of the box that must be decided before a time is foreseen
FORESEEN_AFTER = 3.0  # s after which the time that a proof will take is foreseen


@dataclass(frozen=True, eq=False)
class Band(Answer):
    """Whether a band of frequencies is free over a box of poses and payloads.

    From `supple.stopband`.

    Attributes
    ----------
    robot : Robot
        The arm.
    low_hz, high_hz : float
        The band, Hz.
    free : bool or None
        True (proven), False (a violation is in `at`), None (not decided at this resolution).
    at : dict or None
        A pose with a frequency in the band, by the keys of the box.
    frequency_hz : float or None
        That frequency, Hz.
    cells, undecided : int
        Number of cells examined, and left undecided.
    margin_hz : float
        Smallest distance from the band to a frequency at the middle of any cell, Hz; over the whole
        box it may be smaller.
    rests_on : str
        Assumptions of the proof.
    unchanged : tuple of str
        Coordinates of the box that change no frequency.
    """

    robot: Robot
    low_hz: float
    high_hz: float
    free: bool | None
    at: dict[str, float] | None
    frequency_hz: float | None
    cells: int
    undecided: int
    margin_hz: float
    rests_on: str = (
        "counts of eigenvalues in floating-point numbers and a bound on how far they move within a "
        "cell (Weyl); frequencies fall as payload grows; joints locked, links as described"
    )
    unchanged: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.free is True


Box = Annotated[
    Mapping[str, tuple[float, float]],
    instance(Mapping, "a box such as {'theta.link2': (-2, 2)}"),
]


@checked
@one_thread
def stopband(
    robot: Robot,
    band: Annotated[tuple[float, float], vector(2)],
    over: Box,
    *,
    theta: ArrayLike | None = None,
    resolution: Annotated[float, number(0, 1, above=True)] = 1e-4,
    cells: Annotated[int, whole_number(1)] = 2_000_000,
    progress: bool | None = None,
) -> Band:
    """Prove that no natural frequency lies in a band, for any pose and payload in a box.

    Parameters
    ----------
    robot : Robot
        A serial arm, joints locked.
    band : (low, high)
        Frequencies in Hz, both ends included.
    over : mapping
        The box, ``{"theta.link2": (low, high), "payload.mass": (low, high)}``: coordinates of
        revolute joints and the payload's mass.
    theta : array_like, optional
        Joint coordinates (joints,) of the joints that do not vary. Default: zero.
    resolution : float
        Smallest cell in rad; smaller ones are given up and count as not decided.
    cells : int
        Largest number of cells to examine.
    progress : bool, optional
        Show a progress line. Default: only if stderr is a terminal.

    Returns
    -------
    Band
        `free` is True (proven), False (a violation is in `at`) or None (not decided).

    Notes
    -----
    The box is divided into cells. In each, the natural frequencies below the band's ends are
    counted at the middle, and Weyl's inequality bounds how far the eigenvalues of the dynamic
    stiffness can move within the cell.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("de-luca-two-link")
    >>> supple.stopband(robot, (2.0, 3.0), over={"theta.link2": (0.0, 0.5)}).free
    False
    >>> supple.stopband(robot, (0.8, 1.5), over={"theta.link2": (0.0, 0.5)}).free
    True
    """
    low, high = _interval("band", band)
    if low <= 0 or high > HIGHEST_FREQUENCY:
        raise SuppleError(
            f"band is {band!r}: it begins above 0 Hz and ends below {HIGHEST_FREQUENCY:.0e} Hz"
        )
    asked = _parse_box(robot, over, theta)
    box = {key: _interval(key, edges, single=True) for key, edges in over.items()}
    mass = box.pop("payload.mass", None)
    robots = [asked.robot_at({"payload.mass": m} if mass else {}) for m in mass or (0.0, 0.0)]
    ends = 2 * np.pi * np.array([low * (1 - EDGE_TOLERANCE), high * (1 + EDGE_TOLERANCE)])
    edges = [_Edge(one, asked, float(end)) for one, end in zip(robots, ends, strict=True)]
    keys = list(box)
    live = np.array([not all(edge.alike[key] for edge in edges) for key in keys], bool)
    unchanged = tuple(key for key, changes in zip(keys, live, strict=True) if not changes)
    watch = _ProofProgress(Progress(1, "cells", progress))
    looked, given_up, margin = 0, 0, np.inf
    middle = np.array([[(a + b) / 2 for a, b in box.values()]])
    half = np.array([[(b - a) / 2 for a, b in box.values()]])
    try:
        while len(middle):
            some, middle = middle[-CELLS_PER_BATCH:], middle[:-CELLS_PER_BATCH]
            width, half = half[-CELLS_PER_BATCH:], half[:-CELLS_PER_BATCH]
            looked += len(some)
            counts, shares = zip(*(edge.looked_at(some, width) for edge in edges), strict=True)
            share = np.where(live, np.maximum(*shares), 0.0)
            different = np.flatnonzero(counts[0] != counts[1])
            if len(different):
                place = dict(zip(keys, some[different[0]].tolist(), strict=True))
                found = _violation(robot, asked, place, mass, (low, high))
                on_edge = int(found[0] is None)  # as far as rounding can tell
                free = None if on_edge else False
                return Band(
                    robot, low, high, free, *found, looked, on_edge, 0.0, unchanged=unchanged
                )
            margin = min(margin, _margin(robots, asked, keys, some[:1], (low, high)))
            bound = np.maximum(*(np.where(live, one, 0.0).sum(axis=1) for one in shares))
            is_proven = bound < ROUNDING_MARGIN
            still_wide = np.where(live, width, 0.0).max(axis=1, initial=0.0) >= resolution
            given_up += int((~is_proven & ~still_wide).sum())
            left = np.flatnonzero(~is_proven & still_wide)
            decided = is_proven | ~still_wide
            watch.step(len(some), 0.5 ** watch.halvings(width[decided], box, live))
            if looked + len(middle) > cells:
                given_up += len(middle) + len(left)
                break
            parts = _halve_cells(some[left], width[left], share[left])
            middle, half = np.vstack([middle, parts[0]]), np.vstack([half, parts[1]])
    finally:
        watch.telling.end()
    free = None if given_up else True
    return Band(
        robot, low, high, free, None, None, looked, given_up, float(margin), unchanged=unchanged
    )


class _ProofProgress:
    """How far a proof is, by the part of the box that is decided; tells when it will take long."""

    def __init__(self, telling: Progress) -> None:
        self.telling = telling
        self.began = time.monotonic()
        self.looked = 0
        self.decided = 0.0  # part of the box
        self.has_warned = False

    @staticmethod
    def halvings(
        width: Array, box: Mapping[str, tuple[float, float]], live: NDArray[np.bool_]
    ) -> Array:
        """How often the box was halved to make cells of these half widths, (n,)."""
        whole = np.array([(b - a) / 2 for a, b in box.values()])
        times = np.log2(np.where(live & (whole > 0), whole, 1.0))
        own = np.log2(np.where(live & (whole > 0), width, 1.0))
        return np.asarray((times - own).sum(axis=1))

    def step(self, cells: int, parts: Array) -> None:
        """Count cells that were looked at, and which parts of the box they decided."""
        self.looked += cells
        self.decided += float(parts.sum())
        fraction = min(max(self.decided, 1e-12), 1.0)
        self.telling.total = max(self.looked, int(min(self.looked / fraction, 1e15)))
        self.telling.step(cells)
        elapsed = time.monotonic() - self.began
        foreseen = elapsed / fraction
        if not self.has_warned and elapsed > FORESEEN_AFTER and foreseen - elapsed > LONG:
            self.has_warned = True
            long = f"about {foreseen:.0f} s"
            if foreseen > 100:
                long = f"about {foreseen / 60:.2g} minutes"
            if foreseen > 3600 * 24:
                long = "more than a day"
            if fraction < LEAST_SHARE_FORESEEN:
                # Cells are halved level by level; before some are decided nothing can be said.
                long = "long; how long cannot be said yet"
            warnings.warn(
                f"this proof will take {long} ({100 * self.decided:.2g} % of the box is decided "
                f"after {elapsed:.0f} s): a narrower band, a smaller box or fewer cells take less",
                SizeWarning,
                stacklevel=5,
            )


def _interval(key: str, edges: Any, single: bool = False) -> tuple[float, float]:
    try:
        low, high = (float(edge) for edge in edges)
    except (TypeError, ValueError):
        raise SuppleError(f"{key} is {edges!r:.60}: give (low, high)") from None
    if not np.isfinite([low, high]).all() or low > high or (low == high and not single):
        raise SuppleError(f"{key} is {edges!r:.60}: give (low, high), the lower one first")
    if key.startswith("theta."):
        if abs(low) > LARGEST_ANGLE:
            told = f"{key} begins at {low:g}, which is no pose"
            raise SuppleError(f"{told}: give angles within {LARGEST_ANGLE:.0e} rad")
        high = min(high, low + 2 * np.pi)  # more turns are the same poses again
    return low, high


def _parse_box(robot: Robot, over: Any, theta: ArrayLike | None) -> Varied:
    if not isinstance(over, Mapping) or not over:
        raise SuppleError("over is empty: give a box such as {'theta.link2': (-2, 2)}")
    asked = Varied.of(robot, tuple(over), theta)
    if not architecture_of(robot).open_chain:
        raise SuppleError(
            f"stopband proves bands of serial arms, and {robot.name} is none: look through a grid "
            "instead, supple.sweep or supple.workspace (which proves nothing between its points)"
        )
    other = [key for key in asked.parameter_keys if key != "payload.mass"]
    if other or any(key.startswith("position.") for key in over):
        raise SuppleError(
            f"'{(other or ['position'])[0]}' cannot be proven over: give joints and payload.mass"
        )
    slides = {f"theta.{name}" for name, slides in architecture_of(robot).motors if slides}
    if slides & set(over):
        raise SuppleError(
            f"{min(slides & set(over))} slides: only turning joints can be proven; hold it at a "
            "length by theta=, or look along it with track"
        )
    for drive in architecture_of(robot).drives:
        if drive.also and f"theta.{drive.name}" in over:
            raise SuppleError(
                f"theta.{drive.name} moves {drive.also[0][0]} as well, a mimic joint: only joints "
                "that turn alone can be proven over"
            )
    return asked


def _halve_cells(middle: Array, half: Array, share: Array) -> tuple[Array, Array]:
    """Cells cut in two along the joint that contributes most."""
    if not len(middle):
        return middle, half
    rows = np.arange(len(middle))
    axis = np.argmax(share, axis=1)
    half = half.copy()
    half[rows, axis] /= 2
    shift = np.zeros_like(middle)
    shift[rows, axis] = half[rows, axis]
    return np.vstack([middle - shift, middle + shift]), np.vstack([half, half])


def _margin(
    robots: Sequence[Robot], asked: Varied, keys: list[str], some: Array, band: tuple[float, float]
) -> float:
    """Distance of the band to the nearest frequency at the first of some cells, Hz."""
    place = asked.configurations_at(dict(zip(keys, some.T, strict=True)), len(some))
    least = np.inf
    for robot in robots:
        found = _enough(robot, {k: v[0] for k, v in place.items()}, band[1])
        least = min(least, float(np.maximum(band[0] - found, found - band[1]).min()))
    return max(least, 0.0)


def _enough(robot: Robot, place: Mapping[str, Any], high: float) -> Array:
    """Frequencies in Hz of one configuration, until one lies above `high`."""
    count = 4
    while True:
        found: Array = modes(robot, **place, count=count).frequency_hz
        if found[-1] > high or len(found) < count or count > 4000:
            return found
        count *= 2


def _violation(
    robot: Robot,
    asked: Varied,
    place: dict[str, float],
    mass: tuple[float, float] | None,
    band: tuple[float, float],
) -> tuple[dict[str, float] | None, float | None]:
    """A payload with which a frequency lies in the band there, and that frequency in Hz.

    None where it lies beside the band by less than frequencies are told to.
    """
    spot = asked.configurations_at({key: np.array([value]) for key, value in place.items()}, 1)
    at = {k: v[0] for k, v in spot.items()}

    def frequencies(m: float | None) -> Array:
        one = robot if m is None else asked.robot_at({"payload.mass": m})
        return _enough(one, at, band[1])

    def told(m: float | None, f: float) -> tuple[dict[str, float], float]:
        return place | ({} if m is None else {"payload.mass": m}), f

    low, high = mass or (None, None)
    for m in (low, high):
        inside = [f for f in frequencies(m) if band[0] <= f <= band[1]]
        if inside:
            return told(m, float(inside[0]))
    if low is None or high is None:
        return None, None
    k = int((frequencies(low) < band[0]).sum())  # this one passes through the band as mass grows
    for _ in range(200):
        m = (low + high) / 2
        f = float(frequencies(m)[k])
        if band[0] <= f <= band[1]:
            return told(m, f)
        low, high = (m, high) if f > band[1] else (low, m)
    return None, None


class _Edge:
    """The matrix A at one edge of the band, as a function of the pose."""

    def __init__(self, robot: Robot, asked: Varied, omega: float) -> None:
        names = coordinate_names(robot)
        start = np.asarray(asked.theta, float)
        turns = np.array([0.0, np.pi / 2, np.pi, 3 * np.pi / 2])
        moved = [names.index(k.partition(".")[2]) for k in asked.coordinate_keys]
        poses = np.tile(start, (4, 1))
        for column in moved:
            poses[:, column] = turns
        whole = structure_of(robot, poses)
        fine, owners = cut_beams(whole.at(0), 1.1 * omega)
        self._lay_out(fine, omega)
        self.ties: list[tuple[int, NDArray[np.int64], Array, Array]] = []
        self.alike: dict[str, bool] = {}
        changing: set[int] = set()  # pieces whose joints change what is seen after them
        links = [segment.name for segment in whole.segments]
        for key in asked.coordinate_keys:
            i = links.index(key.partition(".")[2])
            T = whole.T[:, i][:, self.axes][:, :, self.axes]
            own = [r.toward(slice(None)) for r in whole.segments[i].releases]
            turned = [np.broadcast_to(d, (4, 6))[:, self.axes, None] for d in own]
            D = np.concatenate([np.zeros((4, len(self.axes), 0)), *turned], axis=2)
            # The rows of one root depend on its joint as a + b cos + c sin; T (4, R, R) and
            # D (4, R, r), its releases, at four quarter turns: a bearing's springs stay in the
            # axes before the joint.
            piece = owners[i][0]
            parent = fine.segments[piece].parent
            among, parts = [self.released[piece]], [D]
            if parent >= 0:  # on the ground the pose does not turn what is before
                among, parts = [self.end[parent][0], *among], [T @ self.end[parent][1], *parts]
            rows = -np.concatenate(parts, axis=2)
            across, tie = np.concatenate(among), self.rows[piece]
            a, b, c = (rows[0] + rows[2]) / 2, (rows[0] - rows[2]) / 2, (rows[1] - rows[3]) / 2
            self.A[np.ix_(tie, across)], self.A[np.ix_(across, tie)] = a, a.T
            keep = (np.abs(b) + np.abs(c)).any(axis=0)
            self.ties.append((piece, across[keep], b[:, keep], c[:, keep]))
            self.alike[key] = not keep.any() or self._is_alike(fine, piece, changing, T, D)
            if not self.alike[key]:
                changing.add(piece)
        # Scale unknowns so that rows are alike in size (the count does not change)
        size = np.abs(self.A)
        for piece, columns, b, c in self.ties:
            tie = self.rows[piece]
            if len(columns):
                size[np.ix_(tie, columns)] += np.abs(b) + np.abs(c)
                size[np.ix_(columns, tie)] += (np.abs(b) + np.abs(c)).T
        d = np.ones(len(size))
        for _ in range(20):
            d /= np.sqrt((size * d * d[:, None]).max(axis=1))
        self.d = d

    def _is_alike(
        self, fine: Structure, piece: int, changing: set[int], T: Array, D: Array
    ) -> bool:
        """Whether what lies before a joint looks the same from its far side at every angle.

        All before it is condensed to its compliance Y where the joint sits; behind the joint it is

            T(theta) Y T(theta)' + D(theta) Z D(theta)',

        Z of the joint's own springs. T and D hold cos(theta) and sin(theta), so that what is equal
        at five angles or more is equal at all; then the count does not depend on theta
        (Haynsworth). T (4, R, R) and D (4, R, r) are given at quarter turns.
        """
        before: list[int] = []
        above = fine.segments[piece].parent
        while above >= 0:
            if above in changing:
                return False
            before.append(above)
            above = fine.segments[above].parent
        R = len(self.axes)
        Y = np.zeros((R, R))
        if before:
            own: list[int] = []
            for i in before:
                own += [*range(self.first[i], self.first[i + 1]), *self.rows[i].tolist()]
            columns, reach = self.end[fine.segments[piece].parent]
            sub = self.A[np.ix_(own, own)]
            load = np.zeros((len(own), R))
            load[[own.index(column) for column in columns.tolist()]] = reach.T
            size = np.sqrt(np.maximum(np.abs(sub).max(axis=1), 1e-300))
            scaled = sub / np.outer(size, size)
            if np.linalg.cond(scaled) > 1e10:
                return False  # it rings by itself here: no compliance to compare
            Y = load.T @ (np.linalg.solve(scaled, load / size[:, None]) / size[:, None])
        springs = np.diag([self.A[column, column] for column in self.released[piece].tolist()])
        if (np.diag(springs) == 0).any():
            return False
        Z = np.linalg.inv(springs) if len(springs) else springs

        def at_angle(quarters: Array, angle: float) -> Array:
            constant = (quarters[0] + quarters[2]) / 2
            cosine = (quarters[0] - quarters[2]) / 2
            sine = (quarters[1] - quarters[3]) / 2
            return np.asarray(constant + cosine * np.cos(angle) + sine * np.sin(angle))

        seen = []
        for angle in 0.3 + 2 * np.pi * np.arange(7) / 7:
            turned, released = at_angle(T, angle), at_angle(D, angle)
            seen.append(turned @ Y @ turned.T + released @ Z @ released.T)
        # lengths and angles are of different units: each entry against those of its kind
        scale = np.sqrt(np.abs(np.diagonal(seen, axis1=1, axis2=2)).max(axis=0))
        kinds = np.where(self.axes < 3, 0, 1)
        for kind in (0, 1):
            scale[kinds == kind] = scale[kinds == kind].max(initial=0.0)
        weight = np.outer(scale, scale)
        return bool((np.abs(np.array(seen) - seen[0]) <= SAME_STRUCTURE_TOLERANCE * weight).all())

    def _lay_out(self, fine: Structure, omega: float) -> None:
        """Unknowns: root and inner coordinates of every piece, releases, then one tie a root."""
        self.axes = np.asarray(fine.axes)
        R = len(self.axes)
        forms, ends = exact_forms(fine, omega), exact_ends(fine)
        kept = [np.flatnonzero(np.abs(S[self.axes]).any(axis=0)) for S in ends]
        sizes = [R + len(w) + len(s.releases) for w, s in zip(kept, fine.segments, strict=True)]
        first = np.concatenate([[0], np.cumsum(sizes)])
        self.first = first.tolist()
        n = len(fine.segments)
        N = int(first[-1]) + n * R
        A = np.zeros((N, N))
        self.end: list[tuple[NDArray[np.int64], Array]] = []
        self.rows: list[NDArray[np.int64]] = []
        self.released: list[NDArray[np.int64]] = []
        for i, segment in enumerate(fine.segments):
            w, at = kept[i], int(first[i])
            root = np.arange(at, at + R)
            inner = np.arange(at + R, at + R + len(w))
            own = np.concatenate([root, inner])
            pick = np.concatenate([self.axes, 6 + w])
            A[np.ix_(own, own)] += forms[i][np.ix_(pick, pick)]
            square = np.ix_(self.axes, self.axes)
            A[np.ix_(root, root)] -= omega**2 * fine.root_mass[0, i][square]
            X = transport(fine.L[0, i])[square]
            reach = np.hstack([X, ends[i][np.ix_(self.axes, w)]])
            A[np.ix_(own, own)] -= omega**2 * reach.T @ segment.tip_mass[square] @ reach
            self.end.append((own, reach))
            tie = int(first[-1]) + R * i + np.arange(R)
            self.rows.append(tie)
            A[tie, root] = A[root, tie] = 1.0
            self.released.append(at + R + len(w) + np.arange(len(segment.releases)))
            for k, release in enumerate(segment.releases):
                column = at + R + len(w) + k
                A[column, column] = dynamic_spring(release, omega)
                A[tie, column] = A[column, tie] = -release.toward(0)[self.axes]
            if segment.parent >= 0:
                T = fine.T[0, i][square]
                columns, onward = self.end[segment.parent]
                A[np.ix_(tie, columns)] = -T @ onward
                A[np.ix_(columns, tie)] = (-T @ onward).T
        self.A = A

    def looked_at(self, middle: Array, half: Array) -> tuple[NDArray[np.int64], Array]:
        """Return counts (B,) at the middle of cells, and the joints' shares (B, k) of the bound."""
        B, N = len(middle), len(self.A)
        A = np.broadcast_to(self.A, (B, N, N)).copy()
        for j, (piece, columns, b, c) in enumerate(self.ties):
            if len(columns):
                turn = middle[:, j, None, None]
                block = np.cos(turn) * b + np.sin(turn) * c
                tie = self.rows[piece]
                A[:, tie[:, None], columns] += block
                A[:, columns[:, None], tie] += block.transpose(0, 2, 1)
        values, V = np.linalg.eigh(A * self.d * self.d[:, None])
        count = (values < 0).sum(axis=1)
        with np.errstate(divide="ignore"):
            W = self.d[:, None] * V / np.sqrt(np.abs(values))[:, None, :]
        share = np.zeros((B, len(self.ties)))
        for j, (piece, columns, b, c) in enumerate(self.ties):
            if not len(columns):
                continue
            turn = middle[:, j, None, None]
            along = -np.sin(turn) * b + np.cos(turn) * c
            bent = np.cos(turn) * b + np.sin(turn) * c
            left, right = W[:, self.rows[piece]].transpose(0, 2, 1), W[:, columns]
            reach = np.minimum(half[:, j], np.pi)
            sine = np.where(reach < np.pi / 2, np.sin(reach), 1.0)
            for block, size in ((along, sine), (bent, 1 - np.cos(reach))):
                E = left @ block @ right
                E = E + E.transpose(0, 2, 1)
                bad = ~np.isfinite(E).all(axis=(1, 2))
                E[bad] = 0.0
                norm = np.abs(np.linalg.eigvalsh(E)).max(axis=1)
                share[:, j] += np.where(bad, np.inf, norm * size)
        return count - sum(map(len, self.rows)), share
