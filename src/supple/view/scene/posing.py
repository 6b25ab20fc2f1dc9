"""Where drawn links and solids are: a pose, a deformation and how much larger it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .drawing import Solid
from .scene import Scene, Track, quaternions

__all__ = [
    "LARGEST",
    "BentLinks",
    "Riders",
    "bend",
    "bend_in_place",
    "ends",
    "exaggeration",
    "rods",
    "strips",
    "towards",
]

Array = NDArray[np.float64]
LARGEST = 0.12  # drawn displacement over the extent at amplitude 1
LARGEST_TURN = 0.7  # rad, drawn rotation at amplitude 1


@dataclass(frozen=True)
class BentLinks:
    """Sections of n bent links: centres (n, P, 3) and axes R (n, P, 3, 3), in base or link axes."""

    centre: Array
    R: Array


def exaggeration(scene: Scene, motion: Array) -> float:
    """Return the factor that draws a motion (n, P, 6) well: the scene's, or by LARGEST."""
    if scene.true_scale or scene.scale is not None:
        return scene.scale or 1.0
    largest_displacement = float(np.linalg.norm(motion[..., :3], axis=-1).max())
    largest_rotation = float(np.linalg.norm(motion[..., 3:], axis=-1).max())
    factors = []
    if largest_displacement:
        factors.append(LARGEST * scene.extent / largest_displacement)
    if largest_rotation:
        factors.append(LARGEST_TURN / largest_rotation)
    smallest = min(factors, default=np.inf)
    return smallest if np.isfinite(smallest) else 0.0


def bend(track: Track, v: int, motion: Array, scale: float) -> BentLinks:
    """Return the sections at pose v of a track, moved by scale times motion (n, P, 6)."""
    R = _rotation_matrices(track.quaternion[v])
    local = bend_in_place(track.L[v], motion, scale)
    centre = track.p[v][:, None] + np.einsum("nij,npj->npi", R, local.centre)
    return BentLinks(centre, R[:, None] @ local.R)


def _rotation_matrices(quaternions: Array) -> Array:
    """Rotations (n, 3, 3) of unit quaternions (n, 4), w first."""
    w, x, y, z = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def ends(track: Track) -> Array:
    """Return the undeformed ends of all links at all poses, (V, n, 3)."""
    w, x, y, z = np.moveaxis(track.quaternion, -1, 0)
    along = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=-1)
    far_ends: Array = track.p + track.L[..., None] * along
    return far_ends


def bend_in_place(L: Array, motion: Array, scale: float) -> BentLinks:
    """Return the sections in the axes of their links, of lengths L (n,)."""
    x = np.linspace(0, 1, motion.shape[1])[None, :, None] * L[:, None, None]
    centre = scale * motion[..., :3] + x * np.array([1.0, 0.0, 0.0])
    # Rotations (..., 3, 3) by rotation vectors (..., 3): 1 + sin a K + (1 - cos a) K^2
    phi = scale * motion[..., 3:]
    angle = np.linalg.norm(phi, axis=-1)[..., None, None]
    K = _cross_matrices(phi) / np.where(angle > 0, angle, 1.0)
    R: Array = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)
    return BentLinks(centre, R)


def _cross_matrices(vectors: Array) -> Array:
    """Matrices (..., 3, 3) whose products are the cross products with vectors (..., 3)."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    rows = [zero, -z, y, z, zero, -x, -y, x, zero]
    return np.stack(rows, axis=-1).reshape(*vectors.shape[:-1], 3, 3)


def strips(bent: BentLinks) -> tuple[Array, Array, Array]:
    """Return the pieces of all links between their stations.

    Centres (n, P - 1, 3), quaternions (n, P - 1, 4) and lengths (n, P - 1).
    """
    a = bent.centre[:, :-1]
    b = bent.centre[:, 1:]
    along = b - a
    length = np.linalg.norm(along, axis=-1, keepdims=True)
    x = np.where(length > 0, along / np.where(length > 0, length, 1.0), bent.R[:, :-1, :, 0])
    y = bent.R[:, :-1, :, 1] + bent.R[:, 1:, :, 1]
    y = y - (y * x).sum(axis=-1, keepdims=True) * x
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    axes = np.stack([x, y, np.cross(x, y)], axis=-1)
    return (a + b) / 2, quaternions(axes), length[..., 0]


class Riders:
    """Solids that ride on links, or stand; what does not change as links bend is computed once."""

    def __init__(self, solids: Sequence[Solid]) -> None:
        self._link = np.array([solid.link for solid in solids], int)
        self._end = np.array([-1 if solid.end else 0 for solid in solids], int)
        self._offset = np.array([solid.offset for solid in solids]).reshape(-1, 3)
        self._turn = np.array([towards(np.asarray(s.axis)) for s in solids]).reshape(-1, 3, 3)
        sizes = []
        for solid in solids:
            length = solid.radius if solid.kind == "ball" else solid.height
            sizes.append([length, solid.radius, solid.radius])
        self.sizes = np.reshape(np.array(sizes, float), (-1, 3))

    def places(self, bent: BentLinks) -> tuple[Array, Array]:
        """Return centres (N, 3) and quaternions (N, 4) of solids whose x is their axis."""
        fixed = (self._link < 0)[:, None]
        R = np.where(fixed[..., None], np.eye(3), bent.R[self._link, self._end])
        origin = np.where(fixed, 0.0, bent.centre[self._link, self._end])
        return origin + np.einsum("nij,nj->ni", R, self._offset), quaternions(R @ self._turn)


def rods(solids: Sequence[Solid], bent: BentLinks) -> tuple[Array, Array, Array]:
    """Return centres (N, 3), quaternions (N, 4) and lengths (N,) of rods, links bent in base axes.

    A rod's x is along it.
    """

    def place(link: int, end: int, offset: tuple[float, float, float]) -> Array:
        """A point at an offset from the root (end 0) or the end (1) of a link, or from the base."""
        if link < 0:
            return np.asarray(offset)
        moved: Array = bent.centre[link, -end] + bent.R[link, -end] @ np.asarray(offset)
        return moved

    near_ends = [place(solid.link, solid.end, solid.offset) for solid in solids]
    far_ends = [place(solid.far, solid.far_end, solid.far_offset) for solid in solids]
    a = np.reshape(near_ends, (-1, 3))
    b = np.reshape(far_ends, (-1, 3))
    R = np.reshape([towards(along) for along in b - a], (-1, 3, 3))
    return (a + b) / 2, quaternions(R), np.linalg.norm(b - a, axis=1)


def towards(axis: Array) -> Array:
    """Return a rotation whose x is along an axis."""
    a = axis / np.linalg.norm(axis)
    y = np.cross(a, [1.0, 0, 0] if abs(a[0]) < 0.9 else [0, 1.0, 0])
    y /= np.linalg.norm(y)
    return np.stack([a, y, np.cross(a, y)], axis=1)
