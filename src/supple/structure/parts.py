"""What a Structure is made of: segments, releases, closures, and where they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import frozen
from ..beams.dynamic_stiffness import numbers, with_curves
from ..beams.theory import AnyBeam
from ..beams.varying import VaryingBeam
from ..errors import SuppleError
from ..kernels.roots import BeamTree
from ..kernels.spatial import motion_transform

__all__ = [
    "FREE_MOTORS",
    "ClosureRows",
    "Joints",
    "Release",
    "Segment",
    "Structure",
    "motor_is_free",
]

Array = NDArray[np.float64]
# "locked", "free", or which motors are free: "free: link1, link3" (`joint_states` makes the words)
Joints = Literal["locked", "free"] | str
FREE_MOTORS = "free: "  # what stands before the names where only some motors are free
PLANAR = (0, 1, 5)
SPATIAL = (0, 1, 2, 3, 4, 5)
IN_PLANE: Any = (..., *np.ix_(PLANAR, PLANAR))


def motor_is_free(joints: Joints, motor: str) -> bool:
    """Whether a motor is free; `motor` is the name of the link or rod that it drives."""
    if joints in ("locked", "free"):
        return joints == "free"
    return motor in joints.removeprefix(FREE_MOTORS).split(", ")


@dataclass(frozen=True)
class Release:
    """A motion let go at a segment's root: k - omega^2 J, or k and J in series.

    Attributes
    ----------
    direction
        (6,) or, where it changes with the pose, (B, 6): unit displacement or rotation, segment
        axes.
    stiffness
        N m/rad or N/m.
    inertia
        Of the rotor.
    series
        Whether rotor and spring are in series (a motor let go).
    follows
        The segment whose first release it follows, and how many times that.
    """

    direction: ArrayLike
    stiffness: float = 0.0
    inertia: float = 0.0
    series: bool = False
    follows: tuple[str, float] | None = None

    @property
    def floating(self) -> bool:
        """Whether nothing holds it at rest, so that it brings a rigid-body mode."""
        return self.stiffness == 0.0 or self.series

    def part(self, rows: NDArray[np.int64]) -> Release:
        """Return the release in some configurations."""
        direction = np.asarray(self.direction, float)
        if direction.ndim == 1:
            return self
        return replace(self, direction=direction[rows] if len(rows) != 1 else direction[rows[0]])

    def toward(self, b: slice | int | NDArray[np.int64]) -> Array:
        """Return the direction at configuration b, (6,), or of a part of the batch, (B, 6)."""
        direction = np.asarray(self.direction, float)
        return direction[b] if direction.ndim == 2 else direction


@dataclass(frozen=True)
class Segment:
    """One link of a Structure: releases at its root, a beam along x, bodies at root and end.

    Attributes
    ----------
    parent
        Index of the segment whose end carries it, -1 for the ground.
    R_LS
        (3, 3), segment axes (section axes, after `roll`) in link axes.
    tip_mass
        (6, 6), segment axes.
    """

    name: str
    parent: int
    beam: AnyBeam
    releases: tuple[Release, ...]
    R_LS: Array
    tip_mass: Array


@dataclass(frozen=True)
class ClosureRows:
    """Rows that tie the ends of two segments: rows_a u_a + rows_b u_b = 0, segment axes.

    Attributes
    ----------
    a, b
        Segments (-1: ground).
    rows_a, rows_b
        (B, r, 6).
    slides
        Segments whose first release x the rows take as well, + taken x with taken (B, r): where a
        place along a link stays, and the link slides through it.
    """

    a: int
    b: int
    rows_a: Array
    rows_b: Array
    slides: tuple[tuple[int, Array], ...] = ()

    def part(self, keep: Any) -> ClosureRows:
        """Return it with some of its rows, or in some configurations: an index of (B, r)."""
        slides = tuple((i, taken[keep]) for i, taken in self.slides)
        return ClosureRows(self.a, self.b, self.rows_a[keep], self.rows_b[keep], slides)

    def renumber(self, ends: dict[int, int], roots: dict[int, int] | None = None) -> ClosureRows:
        """Return it among other segments, given which have the ends and the roots of these."""
        slides = tuple(((roots or ends)[i], taken) for i, taken in self.slides)
        return replace(self, a=ends[self.a], b=ends[self.b], slides=slides)


@dataclass(frozen=True)
class SegmentNumbers:
    """What the compiled kernel reads of segments alone, whatever their poses are.

    Attributes
    ----------
    segments
        Whose they are; the others as in `BeamTree`.
    """

    segments: tuple[Segment, ...]
    parents: NDArray[np.int32]
    beams: Array
    tip: Array
    start: NDArray[np.int32]
    releases: Array

    @cached_property
    def guess(self) -> float:
        """A first frequency to look at, rad/s: the softest beam as a cantilever."""
        guesses = [
            3.5 * math.sqrt(min(row[2:4]) / (row[0] * s.beam.L**4))
            for s in self.segments
            for row in s.beam.at([s.beam.L / 2]).tolist()
            if math.isfinite(min(row[2:4]))
        ]
        return min(guesses, default=100.0)

    @cached_property
    def bends(self) -> bool:
        """Whether a beam deforms."""
        return any(not s.beam.rigid for s in self.segments)

    @cached_property
    def varies(self) -> bool:
        """Whether a beam varies along its length."""
        return any(isinstance(s.beam, VaryingBeam) for s in self.segments)

    @cached_property
    def sprung(self) -> int:
        """How many releases have springs."""
        return sum(r.stiffness > 0 for s in self.segments for r in s.releases)

    @cached_property
    def floating(self) -> tuple[tuple[int, Release], ...]:
        """Releases that nothing holds at rest, each with its segment."""
        return tuple((i, r) for i, s in enumerate(self.segments) for r in s.releases if r.floating)

    @cached_property
    def moves(self) -> list[list[tuple[int, float, Release, Release]]]:
        """By segment: a loose motion's number, how many times it moves which release, its own."""
        out: list[list[tuple[int, float, Release, Release]]] = [[] for _ in self.segments]
        index = {s.name: i for i, s in enumerate(self.segments)}
        firsts: dict[int, tuple[int, Release]] = {}
        for k, (i, release) in enumerate(x for x in self.floating if x[1].follows is None):
            out[i].append((k, 1.0, release, release))
            if release is self.segments[i].releases[0]:
                firsts[i] = k, release
        for i, release in self.floating:
            times = 1.0
            leader = release
            n = i
            while leader.follows is not None:  # one that follows may lead another
                n = index[leader.follows[0]]
                times = times * leader.follows[1]
                leader = self.segments[n].releases[0]
            if leader is not release and n in firsts:
                out[i].append((firsts[n][0], times, leader, release))
        return out

    @cached_property
    def ties(self) -> Array:
        """(r, t): what each row takes of every release, zero in all, where some follow others."""
        each = [(s.name, r) for s in self.segments for r in s.releases]
        names = [name for name, _ in each]
        columns = []
        for k, (_, release) in enumerate(each):
            if release.follows is not None:
                column = np.zeros(len(each))
                column[k], column[names.index(release.follows[0])] = -1.0, release.follows[1]
                columns.append(column)
        return frozen(np.reshape(columns, (len(columns), len(each))).T)

    def release_coefficients(self, closures: tuple[ClosureRows, ...], size: int) -> Array:
        """(1 or B, r, c): what rows take of releases, closures' and then those that follow others.

        B = `size` where closures take some.
        """
        counts = [c.rows_a.shape[1] for c in closures]
        B = size if any(c.slides for c in closures) else 1
        ties = np.zeros((B, len(self.ties), sum(counts) + self.ties.shape[1]))
        ties[..., sum(counts) :] = self.ties
        for c, upto in zip(closures, np.cumsum(counts), strict=True):
            for i, taken in c.slides:
                ties[:, self.start[i], upto - taken.shape[1] : upto] += taken
        return ties

    @classmethod
    def of(cls, segments: tuple[Segment, ...], axes: tuple[int, ...]) -> SegmentNumbers:
        """Return those of segments on some axes."""
        keep = np.asarray(axes)
        counts = [len(s.releases) for s in segments]
        releases = [r for s in segments for r in s.releases]
        # (1 or B, r, R + 3): directions, stiffness, rotor inertia, whether in series
        each = [r.toward(slice(None)) for r in releases]
        B = max((len(d) for d in each if d.ndim == 2), default=1)
        table = np.empty((B, len(releases), len(keep) + 3))
        for k, (release, direction) in enumerate(zip(releases, each, strict=True)):
            table[:, k, :-3] = direction[..., keep]
            table[:, k, -3:] = release.stiffness, release.inertia, release.series
        rows = {key: numbers(beam) for key, beam in {id(s.beam): s.beam for s in segments}.items()}
        return cls(
            segments,
            parents=np.array([s.parent for s in segments], np.int32),
            beams=np.array([rows[id(s.beam)] for s in segments]),
            tip=np.array([s.tip_mass for s in segments])[:, keep[:, None], keep],
            start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            releases=table,
        )


@dataclass(frozen=True)
class Structure:
    """Segments, and where they are in each of B configurations.

    Attributes
    ----------
    R
        (B, n, 3, 3), segment axes in base axes.
    p
        (B, n, 3), segment roots; both may be given as functions that make them.
    L
        (B, n), lengths.
    root_mass
        (1 or B, n, 6, 6), segment axes.
    planar
        Motion in x-y only.
    gravity
        (3,), base axes.
    tip
        Index of the segment whose end is the tip.
    numbers
        Of its segments, where they are known.
    hinges
        (B, n, a, a), T on its axes, where that is known from the joints' coordinates alone:
        positions in base axes carry the rounding of the whole reach.
    repeats
        (B, r), which closure rows repeat others, where that is not the same in all; `part` leaves
        them out.
    rods
        Name of every driven rod that is let go, and how its length grows.
    """

    segments: tuple[Segment, ...]
    R: Array
    p: Array
    L: Array
    root_mass: Array
    planar: bool = False
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    closures: tuple[ClosureRows, ...] = ()
    tip: int = -1
    numbers: SegmentNumbers | None = field(default=None, repr=False, compare=False)
    hinges: Array | None = field(default=None, repr=False, compare=False)
    repeats: NDArray[np.bool_] | None = field(default=None, repr=False, compare=False)
    rods: tuple[tuple[str, ClosureRows], ...] = field(default=(), repr=False, compare=False)

    @property
    def size(self) -> int:
        """Number of configurations, B."""
        return len(self.L)

    @cached_property
    def links(self) -> list[str]:
        """Of which link each segment is: its own, or that which was cut into link@place."""
        found: list[str] = []
        for segment in self.segments:
            cut = found and segment.name.startswith(f"{found[-1]}@")
            found.append(found[-1] if cut else segment.name)
        return found

    def pieces(self, link: str) -> list[int]:
        """Return the segments of a link, from its root."""
        if link not in self.links:
            known = ", ".join(dict.fromkeys(self.links))
            raise SuppleError(f"there is no link '{link}': the links are {known}")
        return [i for i, name in enumerate(self.links) if name == link]

    def section(self, link: str, fraction: float) -> tuple[int, float]:
        """Return the segment and the place on it, m, of a fraction of a link's length.

        Where something hangs on the link it is the inner side: what hangs there is outside.
        """
        own = self.pieces(link)
        ends = np.cumsum(self.L[0, own])
        x = fraction * float(ends[-1])
        k = min(int(np.searchsorted(ends, x * (1 - 1e-12))), len(own) - 1)
        return own[k], min(x - float(ends[k] - self.L[0, own[k]]), float(self.L[0, own[k]]))

    @property
    def axes(self) -> tuple[int, ...]:
        """The coordinates of a motion that the structure uses: all six, or u, v, psi_z."""
        return PLANAR if self.planar else SPATIAL

    @cached_property
    def rigid_modes(self) -> NDArray[np.int64]:
        """(B,) zero natural frequencies: motions of loose releases that keep closures shut.

        What closures hold by beams alone takes none away: their rank on the loose motions counts.
        """
        own = self.known_numbers
        loose = sum(r.follows is None for _, r in own.floating)
        B = self.size
        if not self.closures or not loose or not B:
            return np.full(B, loose, np.int64)
        ends = np.zeros((len(self.segments), B, 6, loose))
        first = ends[:, :, 0].copy()  # motion of every first release
        unit = np.abs(self.L).max(axis=1)
        for i, segment in enumerate(self.segments):
            if segment.parent >= 0:
                ends[i] = self.T[:, i] @ ends[segment.parent]
            for k, times, leader, release in own.moves[i]:
                along = leader.toward(slice(None))[..., :3].any(axis=-1)
                moved = times * np.where(along, unit, 1.0)
                ends[i, :, :, k] += moved[:, None] * release.toward(slice(None))
                if release is segment.releases[0]:
                    first[i, :, k] = moved
            ends[i, :, 1] += self.L[:, i, None] * ends[i, :, 5]
            ends[i, :, 2] -= self.L[:, i, None] * ends[i, :, 4]
        rows: list[Array] = []
        size: list[Array] = []
        for c in self.closures:
            tied = [(rows_k, ends[k]) for k, rows_k in ((c.a, c.rows_a), (c.b, c.rows_b)) if k >= 0]
            tied += [(taken[..., None], first[k][:, None]) for k, taken in c.slides]
            for f, each in ((np.asarray, rows), (np.abs, size)):
                none = np.zeros((B, c.rows_a.shape[1], loose))
                each.append(sum((f(p) @ f(x) for p, x in tied), none))
        scale = np.linalg.norm(np.concatenate(size, axis=1), axis=2, keepdims=True)
        # a closure back at the hinge that carries it: what is left there is rounding
        most = np.abs(ends).max(axis=(0, 2, 3))[:, None, None]
        scale = np.maximum(scale, 1e-3 * most)
        scaled = np.concatenate(rows, axis=1) / np.where(scale > 0, scale, 1.0)
        rank = np.linalg.matrix_rank(scaled, tol=1e-10)
        return np.asarray(loose - rank, np.int64)

    @cached_property
    def T(self) -> Array:
        """(B, n, 6, 6): motion of the parent's end (ground: base) to motion of the root."""
        B, n = self.L.shape
        # the ground comes first: its axes are the base's and its end is their origin
        axes = np.empty((B, n + 1, 3, 3))
        ends = np.zeros((B, n + 1, 3))
        axes[:, 0] = np.eye(3)
        axes[:, 1:] = self.R
        ends[:, 1:] = self.p + self.L[..., None] * self.R[..., 0]
        parents = [segment.parent + 1 for segment in self.segments]
        R_A = axes[:, parents]
        offset = np.einsum("bnji,bnj->bni", R_A, self.p - ends[:, parents])
        return frozen(motion_transform(self.R.swapaxes(2, 3) @ R_A, offset))

    @cached_property
    def known_numbers(self) -> SegmentNumbers:
        """What the kernel reads of its segments."""
        own = self.numbers
        if own is None or own.segments is not self.segments:
            own = SegmentNumbers.of(self.segments, self.axes)
        return own

    def tree(self, top: float | None = None) -> BeamTree:
        """Return the arrays of the compiled kernel, restricted to the structure's axes.

        top: the highest omega asked for, rad/s, of a structure with pieces of varying beams.
        """
        own = self.known_numbers
        keep = list(self.axes)
        square = IN_PLANE if self.planar else ...
        ends = np.empty((2, 0), np.int32)
        rows = np.empty((2, self.size, 0, len(keep)))
        if self.closures:
            each = [[getattr(c, k) for c in self.closures for _ in c.rows_a[0]] for k in "ab"]
            ends = np.array(each, np.int32)
            rows_of = [[getattr(c, f"rows_{k}") for c in self.closures] for k in "ab"]
            rows = np.take([np.concatenate(part, 1) for part in rows_of], keep, axis=-1)
        if tied := own.ties.shape[1]:  # rows of releases alone come last
            ends = np.pad(ends, ((0, 0), (0, tied)), constant_values=-1)
            rows = np.pad(rows, ((0, 0), (0, 0), (0, tied), (0, 0)))
        return BeamTree(
            parents=own.parents,
            beams=with_curves(own.beams, [s.beam for s in self.segments], top)
            if own.varies
            else own.beams,
            L=self.L,
            T=self.T[square] if self.hinges is None else self.hinges,
            root=self.root_mass[square],
            tip=own.tip,
            start=own.start,
            releases=own.releases,
            ends=ends,
            rows=rows,
            ties=own.release_coefficients(self.closures, self.size),
        )

    def at(self, b: int) -> Structure:
        """Return the structure of one configuration."""
        return self.part(range(self.size)[b : b + 1 or None])

    def part(self, rows: Sequence[int] | NDArray[np.int64]) -> Structure:
        """Return the structure of some configurations."""
        keep = np.asarray(rows, int)
        segments = tuple(
            replace(s, releases=tuple(r.part(keep) for r in s.releases)) for s in self.segments
        )
        mass = self.root_mass[keep] if len(self.root_mass) > 1 else self.root_mass
        closures = tuple(c.part(keep) for c in self.closures)
        some = replace(
            self,
            segments=segments,
            R=self.R[keep],
            p=self.p[keep],
            L=self.L[keep],
            root_mass=mass,
            closures=closures,
            hinges=None if self.hinges is None else self.hinges[keep],
            repeats=None if self.repeats is None else self.repeats[keep],
        )
        if some.repeats is None or (some.repeats != some.repeats[:1]).any():
            return some
        return some.without(some.repeats[0])

    def without(self, repeats: NDArray[np.bool_]) -> Structure:
        """Return the structure without some closure rows, (r,)."""
        at = 0
        closures = []
        for c in self.closures:
            keep = ~repeats[at : at + c.rows_a.shape[1]]
            at += len(keep)
            closures.append(c.part((slice(None), keep)))
        closures_left = tuple(c for c in closures if c.rows_a.shape[1])
        return replace(self, closures=closures_left, repeats=None)


class _LazyField:
    """A field that is given as an array, or as a function that makes it when it is first read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, structure: Any, owner: type | None = None) -> Any:
        value = structure.__dict__[self.name]
        if callable(value):
            value = structure.__dict__[self.name] = value()
        return value

    def __set__(self, structure: Any, value: Any) -> None:
        structure.__dict__[self.name] = value


for _name in ("R", "p"):
    setattr(Structure, _name, _LazyField(_name))
