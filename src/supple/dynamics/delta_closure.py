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
    """Four equations a leg: the rod's end meets the platform, its z is square to the tangent.

    Attributes:
        axes: (3, 3, 3), of the legs in base axes.  radius: of the platform.  own: (3, k), where
        the independent coordinates of each leg stand in u.  kept: (k,), where in its q.
        size: length of u.
    """

    axes: Array
    radius: float
    own: NDArray[np.int64]
    kept: NDArray[np.int64]
    size: int

    def rows(self, ends: Sequence[Array], position: Array, R: Array) -> tuple[Array, Array, Array]:
        """c (12,), and its derivatives by (passive, velocity, angular velocity) and by u."""
        p, z, Jp, Jz = ends
        c, W, U = np.zeros(12), np.zeros((12, 12)), np.zeros((12, self.size))
        for k, axes in enumerate(self.axes):
            arm, t = R @ (self.radius * axes[:, 0]), R @ axes[:, 1]
            rows, about = slice(4 * k, 4 * k + 3), 4 * k + 3
            z_base = axes @ z[k]
            c[rows] = axes @ p[k] - position - arm
            c[about] = z_base @ t
            J = np.concatenate([axes @ Jp[k], (t @ axes @ Jz[k])[None]])
            U[4 * k : 4 * k + 4, self.own[k]] = J[:, self.kept]
            W[4 * k : 4 * k + 4, 2 * k : 2 * k + 2] = J[:, 1:3]
            W[rows, 6:9], W[rows, 9:] = -np.eye(3), cross_matrix(arm)
            W[about, 9:] = np.cross(t, z_base)
        return c, W, U

    def bias(
        self, z: Array, Jz: Array, qd: Array, jp: Array, jz: Array, w: Array, R: Array
    ) -> Array:
        """(12,) c'' at u'' = w'' = 0."""
        out = np.zeros(12)
        for k, axes in enumerate(self.axes):
            arm, t = R @ (self.radius * axes[:, 0]), R @ axes[:, 1]
            td = np.cross(w, t)
            out[4 * k : 4 * k + 3] = axes @ jp[k] - np.cross(w, np.cross(w, arm))
            out[4 * k + 3] = (
                (axes @ jz[k]) @ t
                + 2 * (axes @ (Jz[k] @ qd[k])) @ td
                + (axes @ z[k]) @ np.cross(w, td)
            )
        return out
