"""The closures of the coupled Delta: rods' ends held to the platform by universal joints at D."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import cross_matrix

__all__ = ["DeltaClosure"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DeltaClosure:
    """Equations a rod: its end meets the platform; if `carried`, its z is square to the tangent.

    Attributes:
        axes: (rods, 3, 3), of the rods' legs in base axes.  anchor: (rods, 3), where on the
        platform, leg axes.  own: (rods, k), where the independent coordinates of each chain stand
        in u.  kept: (k,), where in its q.  size: length of u.
    """

    axes: Array
    anchor: Array
    carried: bool
    own: NDArray[np.int64]
    kept: NDArray[np.int64]
    size: int

    @property
    def each(self) -> int:
        """Equations a rod: 4 or 3."""
        return 3 + self.carried

    def rows(self, ends: Sequence[Array], position: Array, R: Array) -> tuple[Array, Array, Array]:
        """c, and its derivatives by (passive, velocity, angular velocity) and by u."""
        p, z, Jp, Jz = ends
        rods, e = len(self.axes), self.each
        n = 2 * rods + 6
        c, W, U = np.zeros(rods * e), np.zeros((rods * e, n)), np.zeros((rods * e, self.size))
        for k, axes in enumerate(self.axes):
            arm, t = R @ axes @ self.anchor[k], R @ axes[:, 1]
            rows, about = slice(e * k, e * k + 3), e * k + 3
            c[rows] = axes @ p[k] - position - arm
            W[rows, -6:-3], W[rows, -3:] = -np.eye(3), cross_matrix(arm)
            J = axes @ Jp[k]
            if self.carried:
                z_base = axes @ z[k]
                c[about] = z_base @ t
                W[about, -3:] = np.cross(t, z_base)
                J = np.concatenate([J, (t @ axes @ Jz[k])[None]])
            U[e * k : e * k + e, self.own[k]] = J[:, self.kept]
            W[e * k : e * k + e, 2 * k : 2 * k + 2] = J[:, 1:3]
        return c, W, U

    def bias(
        self, z: Array, Jz: Array, qd: Array, jp: Array, jz: Array, w: Array, R: Array
    ) -> Array:
        """c'' at u'' = w'' = 0."""
        e = self.each
        out = np.zeros(len(self.axes) * e)
        for k, axes in enumerate(self.axes):
            arm, t = R @ axes @ self.anchor[k], R @ axes[:, 1]
            td = np.cross(w, t)
            out[e * k : e * k + 3] = axes @ jp[k] - np.cross(w, np.cross(w, arm))
            if self.carried:
                out[e * k + 3] = (
                    (axes @ jz[k]) @ t
                    + 2 * (axes @ (Jz[k] @ qd[k])) @ td
                    + (axes @ z[k]) @ np.cross(w, td)
                )
        return out
