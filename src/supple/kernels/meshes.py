"""Triangle meshes: simple solids, and meshes with fewer triangles."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

__all__ = ["Mesh", "box_mesh", "cylinder_mesh", "simplify_mesh", "sphere_mesh"]

Array = NDArray[np.float64]
Mesh = tuple[Array, NDArray[np.int64]]  # vertices (V, 3) and faces (F, 3)


def box_mesh(sizes: tuple[float, float, float]) -> Mesh:
    """Return a box about the origin, its faces outwards."""
    signs = np.array(list(product((-1, 1), repeat=3)), float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = []
    for a, b, c, d in quads:
        faces += [(a, b, c), (a, c, d)]
    return signs * np.asarray(sizes) / 2, np.array(faces)


def cylinder_mesh(radius: float, length: float, sides: int = 24) -> Mesh:
    """Return a cylinder about the origin along z."""
    angles = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.stack([radius * np.cos(angles), radius * np.sin(angles), 0 * angles], axis=1)
    half = np.array([0.0, 0.0, length / 2])
    low = ring - half
    high = ring + half
    centres = np.array([[0, 0, -length / 2], [0, 0, length / 2]])
    k = np.arange(sides)
    n = (k + 1) % sides
    bottom = np.full(sides, 2 * sides)
    faces = [
        np.stack([k, n, n + sides], axis=1),
        np.stack([k, n + sides, k + sides], axis=1),
        np.stack([bottom, n, k], axis=1),
        np.stack([bottom + 1, k + sides, n + sides], axis=1),
    ]
    return np.concatenate([low, high, centres]), np.concatenate(faces)


def sphere_mesh(radius: float, rings: int = 10, sides: int = 16) -> Mesh:
    """Return a sphere about the origin."""
    polar = np.linspace(0, np.pi, rings + 1)[:, None]
    around = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    x = np.sin(polar) * np.cos(around)
    y = np.sin(polar) * np.sin(around)
    z = np.cos(polar) + 0 * around
    i, j = np.meshgrid(np.arange(rings), np.arange(sides), indexing="ij")
    a = (i * sides + j).ravel()
    b = (i * sides + (j + 1) % sides).ravel()
    upper = np.stack([a, a + sides, b], axis=1)
    lower = np.stack([b, a + sides, b + sides], axis=1)
    vertices = radius * np.stack([x, y, z], axis=-1).reshape(-1, 3)
    return vertices, np.concatenate([upper, lower])


def simplify_mesh(vertices: Array, faces: NDArray[np.int64], most: int) -> Mesh:
    """Return a mesh of at most so many triangles, by clustering vertices on a grid.

    Vertices in one cell of the grid become their mean, triangles that lose a corner are left out.
    The cells are as small as the number of triangles allows, found by bisection.
    """
    if len(faces) <= most:
        return vertices, faces
    low = vertices.min(axis=0)
    extent = float((vertices.max(axis=0) - low).max()) or 1.0
    fine = 1.0
    coarse = 500.0  # cells along the longest side
    best: Mesh = _clustered(vertices, faces, low, extent)
    for _ in range(9):
        cells = float(np.sqrt(fine * coarse))
        found = _clustered(vertices, faces, low, extent / cells)
        if len(found[1]) <= most:
            best = found
            fine = cells
        else:
            coarse = cells
    return best


def _clustered(vertices: Array, faces: NDArray[np.int64], low: Array, cell: float) -> Mesh:
    """A mesh with one vertex per occupied cell of a grid: the mean of the vertices inside."""
    cell_index = np.floor((vertices - low) / cell).astype(np.int64)
    side = int(cell_index.max()) + 1
    key = (cell_index[:, 0] * side + cell_index[:, 1]) * side + cell_index[:, 2]
    _, owner, count = np.unique(key, return_inverse=True, return_counts=True)
    means = np.zeros((len(count), 3))
    np.add.at(means, owner, vertices)
    means /= count[:, None]
    # Triangles with three different corners, each set of corners once
    triangles = owner[faces]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (a != c)]
    a, b, c = np.sort(triangles, axis=1).T
    _, first = np.unique((a * len(count) + b) * len(count) + c, return_index=True)
    triangles = triangles[np.sort(first)]

    used, renumbered = np.unique(triangles, return_inverse=True)
    return means[used], renumbered.reshape(-1, 3)
