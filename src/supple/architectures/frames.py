"""Frames: link roots in motion, the same data whatever the architecture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Frames"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Frames:
    """n frames at B instants: (B, n, ..), everything in base axes.

    Attributes:
        R: (B, n, 3, 3), frame axes in base axes.  p: (B, n, 3), origins.  w, dw: (B, n, 3), angular
        velocity and acceleration.  v, a: (B, n, 3), velocity and acceleration of the origins.
    """

    R: Array
    p: Array
    w: Array
    dw: Array
    v: Array
    a: Array

    def local(self) -> tuple[Array, Array, Array, Array]:
        """Return w, dw, v, a in the frames' own axes, (B, n, 3) each."""
        each = (np.einsum("...ji,...j->...i", self.R, x) for x in (self.w, self.dw, self.v, self.a))
        w, dw, v, a = each
        return w, dw, v, a
