"""Frames: link roots in motion, the same data whatever the architecture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import cross
from .joint_tree import TreeMotion

__all__ = ["Frames", "tree_frames"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Frames:
    """n frames at B instants: (B, n, ..), everything in base axes.

    Attributes
    ----------
    R
        (B, n, 3, 3), frame axes in base axes.
    p
        (B, n, 3), origins.
    w, dw
        (B, n, 3), angular velocity and acceleration.
    v, a
        (B, n, 3), velocity and acceleration of the origins.
    """

    R: Array
    p: Array
    w: Array
    dw: Array
    v: Array
    a: Array

    def local(self) -> tuple[Array, Array, Array, Array]:
        """Return w, dw, v, a in the frames' own axes, (B, n, 3) each."""

        def local(vectors: Array) -> Array:
            turned: Array = np.einsum("...ji,...j->...i", self.R, vectors)
            return turned

        return local(self.w), local(self.dw), local(self.v), local(self.a)


def tree_frames(moved: TreeMotion, qd: Array, qdd: Array) -> Frames:
    """Return the link roots of a tree in motion, none of whose links slides; qd, qdd (B, n).

    Turn after turn, w += q' z and dw += q'' z + w x q' z, z the axis of the turn, base axes.
    """
    tree = moved.tree
    R = moved.at.R
    p = moved.at.p
    w = np.zeros_like(p)
    dw = np.zeros_like(p)
    v = np.zeros_like(p)
    a = np.zeros_like(p)
    for i, j in enumerate(tree.parents):
        if j >= 0:
            arm = p[:, i] - p[:, j]
            w[:, i] = w[:, j]
            dw[:, i] = dw[:, j]
            v[:, i] = v[:, j] + cross(w[:, j], arm)
            a[:, i] = a[:, j] + cross(dw[:, j], arm) + cross(w[:, j], cross(w[:, j], arm))
        for _, k in sorted((c.order, k) for k, c in enumerate(tree.coordinates) if c.link == i):
            rate = qd[:, k, None]
            second = qdd[:, k, None]
            if tree.coordinates[k].kind == "shift":  # along the axes of what carries it
                x = moved.v[:, k]
                v[:, i] += rate * x
                a[:, i] += second * x + 2 * cross(w[:, i], rate * x)
            else:
                z = moved.w[:, k]
                dw[:, i] += second * z + cross(w[:, i], rate * z)
                w[:, i] += rate * z
    return Frames(R, p, w, dw, v, a)
