"""MovingStructure: a Structure at the instants of a prescribed rigid motion, with its rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..architectures.frames import Frames
from ..kernels.jets import Jet, concatenate, jet_of, rotation_jet, transpose
from ..kernels.spatial import cross_matrix
from .parts import Structure

__all__ = ["MovingClosure", "MovingStructure"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MovingClosure:
    """A Closure whose rows change in time: rows_a u_a + rows_b u_b = 0, (B, r, 6) each.

    Attributes
    ----------
    offsets
        (2, 3), the joint seen from the ends, their axes.
    pins
        (2, B, 3), base axes: the two axes that the last row keeps square, the first fixed in a, the
        second in b; None if it has no such row.
    """

    a: int
    b: int
    rows_a: Jet
    rows_b: Jet
    offsets: Array
    pins: Array | None = None


@dataclass(frozen=True)
class MovingStructure:
    """A Structure at B instants of one rigid motion.

    Attributes
    ----------
    structure
        Where everything is.
    frames
        Segment axes in motion.
    closures
        Their rows.
    """

    structure: Structure
    frames: Frames
    closures: tuple[MovingClosure, ...] = ()

    def R(self, i: int | NDArray[np.int64]) -> Jet:
        """(B, 3, 3) segment axes in base axes; the ground (-1) stands still; (B, m, 3, 3) of m."""
        if isinstance(i, int) and i < 0:
            return jet_of(np.broadcast_to(np.eye(3), (self.structure.size, 3, 3)))
        f = self.frames
        return rotation_jet(f.R[:, i], f.w[:, i], f.dw[:, i])

    def p(self, i: NDArray[np.int64]) -> Jet:
        """(B, m, 3, 1) roots of m segments, base axes."""
        f = self.frames
        return Jet(*(part[:, i, :, None] for part in (f.p, f.v, f.a)))

    def transforms(self, i: NDArray[np.int64]) -> Jet:
        """T (B, m, 6, 6): motion of the parents' ends to motion of the roots of m segments."""
        j = np.array([self.structure.segments[k].parent for k in i])
        R_A = self.R(j)
        R_B = self.R(i)
        end = self.p(j) + R_A[..., :1] * self.structure.L[:, j, None, None]
        offset = transpose(R_A) @ (self.p(i) - end)
        R_BA = transpose(R_B) @ R_A
        over = R_BA @ -offset[..., 0].map(cross_matrix)
        zero = np.zeros((1, 1, 3, 3))
        top = concatenate([R_BA, over], -1)
        joined: Jet = concatenate([top, concatenate([zero, R_BA], -1)], -2)
        return joined

    def release(self, i: int, k: int) -> Jet:
        """Direction (B, 6) of a release; one that changes with the pose is fixed in the parent."""
        segment = self.structure.segments[i]
        direction = segment.releases[k].toward(slice(None))
        B = self.structure.size
        if direction.ndim == 1:
            return jet_of(np.broadcast_to(direction, (B, 6)))
        R_BA = transpose(self.R(i)) @ self.R(segment.parent)
        halves = direction.reshape(-1, 2, 3, 1)
        fixed = transpose(R_BA.value)[:, None] @ halves
        turned: Jet = R_BA.map(lambda part: (part[:, None] @ fixed).reshape(B, 6))
        return turned
