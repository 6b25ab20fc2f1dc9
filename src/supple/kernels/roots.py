"""Certified natural frequencies of a tree of exact beams: interface of the compiled kernel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _exact

__all__ = ["BeamTree", "Roots", "beam_stiffness", "count_below", "natural_frequencies"]

Array = NDArray[np.float64]
TOLERANCE = 1e-11  # half-width of the certified bracket, relative to the root


@dataclass(frozen=True)
class BeamTree:
    """A batch of beam structures of one topology, on R = 3 (u, v, psi_z) or 6 coordinates.

    n segments, B configurations, c closure rows. A segment is a joint (transform and releases)
    followed by a beam; parents come first and -1 is the ground.

    Attributes
    ----------
    parents
        (n,), index of the segment that each one is attached to.
    beams
        (n, 10), columns m, EA, EI_xy, EI_xz, kGA_xy, kGA_xz, GJ, rI_xy, rI_xz, rI_p; inf excludes a
        deformation. Where beams vary (n, 11 + 26 terms), then the highest omega^2 and the stiffness
        in powers of omega^2 over it.
    L
        (B, n), lengths.
    T
        (B, n, R, R), motion of the parent's end to motion of the root.
    root
        (1 or B, n, R, R), masses on the roots.
    tip
        (n, R, R), masses on the ends.
    start
        (n + 1,), slices of releases.
    releases
        (1 or B, r, R + 3), direction, stiffness, rotor inertia, 1 where these two are in series.
    ends
        (2, c), segments closed by a row, -1 for the ground.
    rows
        (2, B, c, R), and ties: (1 or B, r, c), with rows[0] u_a + rows[1] u_b + ties' x = 0, x the
        motions of the releases.
    """

    parents: NDArray[np.int32]
    beams: Array
    L: Array
    T: Array
    root: Array
    tip: Array
    start: NDArray[np.int32]
    releases: Array
    ends: NDArray[np.int32]
    rows: Array
    ties: Array

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit one another: the compiled kernel reads them as they are."""
        n = len(self.parents)
        R = self.T.shape[-1]
        c = self.ends.shape[-1]
        B = len(self.L)
        r = int(self.start[-1]) if len(self.start) else -1
        several = {1, B}
        fits = (
            R in (3, 6)
            and self.L.shape == (B, n)
            and self.T.shape == (B, n, R, R)
            and self.beams.shape[0] == n
            and (self.beams.shape[1] == 10 or (self.beams.shape[1] - 11) % 26 == 0)
            and self.root.shape[1:] == (n, R, R)
            and self.tip.shape == (n, R, R)
            and self.start.shape == (n + 1,)
            and self.releases.shape[1:] == (r, R + 3)
            and {len(self.root), len(self.releases), len(self.ties)} <= several
            and self.ends.shape == (2, c)
            and self.rows.shape == (2, B, c, R)
            and self.ties.shape[1:] == (r, c)
        )
        if not fits:
            raise ValueError("the arrays of a BeamTree do not fit one another")
        if any(not -1 <= parent < i for i, parent in enumerate(self.parents.tolist())):
            raise ValueError("parents of a BeamTree must come before their children, or be -1")
        start = self.start.tolist()
        if start[0] != 0 or any(a > b for a, b in pairwise(start)):
            raise ValueError("start of a BeamTree must rise from 0")
        if self.ends.size and not -1 <= self.ends.min() <= self.ends.max() < n:
            raise ValueError("ends of a BeamTree must be segments, or -1")

    def pack(self, part: slice = slice(None)) -> tuple[Any, ...]:
        """Return the tuple the compiled kernel takes, for a part of the batch."""
        R = self.T.shape[-1]
        n = len(self.parents)
        L = self.L[part]
        T = self.T[part]
        # These may be common to all configurations, with one row
        root = self.root[part] if len(self.root) > 1 else self.root
        releases = self.releases[part] if len(self.releases) > 1 else self.releases
        ties = self.ties[part] if len(self.ties) > 1 else self.ties

        integers = (self.parents, self.start, *self.ends)
        floats = (self.beams, L, T, root, self.tip, releases, *self.rows[:, part], ties)
        arrays = [np.ascontiguousarray(x, np.int32) for x in integers]
        arrays += [np.ascontiguousarray(x, np.float64) for x in floats]
        roots_differ = int(len(root) > 1)
        releases_differ = int(len(releases) > 1)
        return R, n, len(L), self.ends.shape[1], roots_differ, releases_differ, tuple(arrays)


@dataclass(frozen=True)
class Roots:
    """Certified roots: omega (B, count), relative bracket widths, and evaluations spent (B,)."""

    omega: Array
    width: Array
    evaluations: NDArray[np.int64]


def natural_frequencies(
    tree: BeamTree,
    count: int,
    skip: int | NDArray[np.int64],
    guess: float,
    tolerance: float = TOLERANCE,
    lanes: int = 0,
) -> Roots:
    """Return the first `count` natural frequencies after `skip` zero ones, for every configuration.

    J(omega) = sum J_0 + s(K(omega)) - c counts the natural frequencies below omega; a root is
    reported only between a point where J = k - 1 and a point where J >= k. A configuration whose
    roots cannot be counted has a row of NaN. Source: [Wittrick1971]. `skip` is one number or one
    per configuration; the answer of one configuration does not depend on the others, nor on
    `lanes`, the number computed side by side (1, 2, 4, 8, or 0 for the best on this processor).
    """
    B = len(tree.L)
    omega = np.full((B, count), np.nan)
    width = np.full((B, count), np.nan)
    evaluations = np.zeros(B, np.int64)
    skips = np.empty(B, np.int64)
    skips[:] = skip
    _exact.solve(tree.pack(), count, skips, guess, tolerance, omega, width, evaluations, lanes)
    return Roots(omega, width, evaluations)


def count_below(
    tree: BeamTree, omega: Array, guard: float = 0.0
) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
    """Return J at omega[b] of configuration b, and the determinant's mantissa and exponent.

    J is -1 where the determinant is not finite. guard: -1 returns a count that is proven not too
    small whatever was rounded, 1 one that is not too large, 0 the plain one.
    """
    omega = np.ascontiguousarray(np.broadcast_to(omega, (len(tree.L),)), float)
    J = np.empty(len(omega), np.int64)
    mantissa = np.empty(len(omega))
    exponent = np.empty(len(omega), np.int64)
    _exact.count(tree.pack(), omega, J, mantissa, exponent, guard)
    return J, mantissa, exponent


def beam_stiffness(numbers: Array, L: float, omega: float) -> tuple[Array, int]:
    """Return a beam's exact dynamic stiffness (12, 12) over (u0, d), and its clamped count.

    u0 is the motion of the root and d the deformation of the end: u_end = X u0 + d.
    `numbers` is a row of `BeamTree.beams`.
    """
    K = np.empty((12, 12))
    J0: int = _exact.beam(np.ascontiguousarray(numbers, float), L, omega, K)
    return K, J0
