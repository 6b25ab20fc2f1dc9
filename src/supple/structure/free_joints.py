"""Inertia that the released joints carry, everything else rigid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import transport
from .parts import Release, Structure

__all__ = ["carrying_nothing", "sprung_modes"]

Array = NDArray[np.float64]
ZERO_INERTIA_RATIO = 1e-13  # of the largest inertia that the same masses could have


def carrying_nothing(structure: Structure) -> NDArray[np.object_] | None:
    """Return the segments whose release has neither spring nor inertia, (B,), "" where none has.

    None where there is none in all configurations. With the beams rigid, the mass matrix of the
    releases without a spring must be positive definite: else a motion has neither stiffness nor
    mass, and frequencies are undefined. Closures are left open, as in the exact solver.
    """
    loose = structure.known_numbers.floating
    if not loose or not structure.size:
        return None
    # with closures it is enough that segments have mass toward all their own releases
    heavy = structure.closures and all(
        segment.beam.mass > 0 or np.linalg.eigvalsh(segment.tip_mass)[0] > 0
        for segment in structure.segments
    )
    if heavy:
        return None
    M, largest = _released_mass_matrix(structure, loose)
    inertia = np.diagonal(M, axis1=1, axis2=2)
    without_inertia = inertia <= ZERO_INERTIA_RATIO * largest

    # Several releases together may move nothing: a zero eigenvalue of the scaled mass matrix
    scale = np.sqrt(np.where(without_inertia, 1.0, inertia))
    scaled = M / (scale[:, :, None] * scale[:, None, :])
    try:  # far cheaper than eigenvalues, and nearly always enough
        np.linalg.cholesky(scaled - ZERO_INERTIA_RATIO * np.eye(len(loose)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        singular = ~without_inertia.any(axis=1) & (values[:, 0] <= ZERO_INERTIA_RATIO)
        without_inertia[singular] = np.abs(vectors[singular, :, 0]) > 0.5
    names = np.array([structure.segments[i].name for i, _ in loose], object)
    return np.where(without_inertia.any(axis=1), names[np.argmax(without_inertia, axis=1)], "")


def sprung_modes(structure: Structure, closure: Array) -> int:
    """Return how many natural frequencies the releases have, beams rigid, first configuration.

    `closure`: (c, r), combinations of the releases that are zero. Motions without mass have no
    frequency: springs in series with nothing between them, or a turn about a massless rod.
    """
    first = structure.at(0)
    releases = []
    for i, segment in enumerate(first.segments):
        releases += [(i, release) for release in segment.releases]
    masses, largest = _released_mass_matrix(first, releases)
    scale = np.sqrt(np.where(largest[0] > 0, largest[0], 1.0))
    M = masses[0] / np.outer(scale, scale)

    # Motions that the closures allow: their null space
    rows = closure / scale
    row_sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    allowed = np.eye(len(scale))
    if row_sizes.any():
        _, values, Vt = np.linalg.svd(rows / np.where(row_sizes > 0, row_sizes, 1.0))
        rank = int((values > 1e-10).sum())
        allowed = Vt[rank:].T

    inertias = np.linalg.eigvalsh(allowed.T @ M @ allowed)
    with_inertia = int((inertias > ZERO_INERTIA_RATIO).sum())
    in_series = sum(release.series for _, release in releases)
    return with_inertia + in_series - int(first.rigid_modes[0])


def _released_mass_matrix(
    structure: Structure, releases: Sequence[tuple[int, Release]]
) -> tuple[Array, Array]:
    """Mass matrix (B, r, r) of releases, and the largest inertia each could have, (B, r).

    Composite bodies from the tips to the base; the forces of unit releases are carried along.
    """
    B = structure.size
    n = len(structure.segments)
    rotors = np.array([release.inertia for _, release in releases])
    M = np.diag(rotors) + np.zeros((B, 1, 1))
    largest = np.tile(rotors, (B, 1))
    releases_of: list[list[int]] = [[] for _ in range(n)]
    for k, (segment, _) in enumerate(releases):
        releases_of[segment].append(k)

    # Of every segment with all beyond it: its mass, an upper bound of that (B, 6, 6), and the
    # forces (B, 6, ..) on its root that unit accelerations of releases beyond it need
    composite, bound = np.zeros((2, n, B, 6, 6))
    beyond: list[list[tuple[list[int], Array]]] = [[] for _ in range(n)]
    for i in reversed(range(n)):
        mass = _segment_mass(structure, i)
        total = mass[:, 0, 0]
        inertia = np.trace(mass[:, 3:, 3:], axis1=1, axis2=2)
        diagonal = np.repeat([total, inertia], 3, axis=0).T
        composite[i] += mass
        bound[i] += diagonal[:, :, None] * np.eye(6)

        columns: list[int] = []
        forces = np.zeros((B, 6, 0))
        for child_columns, child_forces in beyond[i]:
            columns = columns + child_columns
            forces = np.concatenate([forces, child_forces], axis=2)

        own = releases_of[i]
        if own:
            directions = np.zeros((B, 6, len(own)))
            for j, k in enumerate(own):
                directions[:, :, j] = releases[k][1].toward(slice(None))
            others = np.array(columns, int)
            columns = columns + own
            forces = np.concatenate([forces, composite[i] @ directions], axis=2)
            coupling = np.swapaxes(directions, 1, 2) @ forces
            M[:, np.array(own)[:, None], columns] += coupling
            M[:, others[:, None], own] += np.swapaxes(coupling[:, :, : len(others)], 1, 2)
            largest[:, own] += np.einsum("bik,bij,bjk->bk", directions, bound[i], directions)

        parent = structure.segments[i].parent
        if parent >= 0:
            to_root = structure.T[:, i] @ transport(structure.L[:, parent])
            back = np.swapaxes(to_root, 1, 2)
            composite[parent] += back @ composite[i] @ to_root
            bound[parent] += back @ bound[i] @ to_root
            beyond[parent].append((columns, back @ forces))
            beyond[i] = []
    return M, largest


def _segment_mass(structure: Structure, i: int) -> Array:
    """(B, 6, 6) mass of a rigid segment about its root: masses on its ends and its beam."""
    segment = structure.segments[i]
    X = transport(structure.L[:, i])
    lengths, which = np.unique(structure.L[:, i], return_inverse=True)
    beams = np.array([segment.beam.outside(float(L)).mass_matrix() for L in lengths])
    mass: Array = structure.root_mass[:, i] + beams[which]
    return mass + np.swapaxes(X, 1, 2) @ segment.tip_mass @ X
