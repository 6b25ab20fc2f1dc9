"""What the joints that are let go carry, everything else held rigid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import transport
from .parts import Release, Structure

__all__ = ["carrying_nothing", "massless"]

Array = NDArray[np.float64]
NOTHING = 1e-13  # beside the inertia that the same masses could have


def carrying_nothing(structure: Structure) -> NDArray[np.object_] | None:
    """Return the names of segments whose loose release moves no inertia, (B,), "" where all do.

    None where they do in all configurations. With the beams rigid, the mass matrix of the loose
    releases must be positive definite in each: else a motion has neither stiffness nor mass, and no
    frequency means anything. Closures are left open, as the exact solver does when it lets the
    releases go.
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
    M, most = _carried(structure, loose)
    own = np.diagonal(M, axis1=1, axis2=2)
    light = own <= NOTHING * most
    d = np.sqrt(np.where(light, 1.0, own))
    values, vectors = np.linalg.eigh(M / (d[:, :, None] * d[:, None, :]))
    rest = ~light.any(axis=1) & (values[:, 0] <= NOTHING)
    light[rest] = np.abs(vectors[rest, :, 0]) > 0.5
    names = np.array([structure.segments[i].name for i, _ in loose], object)
    return np.where(light.any(axis=1), names[np.argmax(light, axis=1)], "")


def massless(structure: Structure) -> int:
    """Return how many motions of the releases move no mass, beams rigid, first configuration.

    Springs in series with nothing between them, or about a rod that has no inertia: such a motion
    has no natural frequency.
    """
    each = [(i, r) for i, s in enumerate(structure.segments) for r in s.releases if not r.series]
    if not each or not structure.size:
        return 0
    M, most = (part[0] for part in _carried(structure.at(0), each))
    d = np.sqrt(np.where(most > 0, most, 1.0))
    return len(each) - int((np.linalg.eigvalsh(M / np.outer(d, d)) > NOTHING).sum())


def _carried(structure: Structure, each: Sequence[tuple[int, Release]]) -> tuple[Array, Array]:
    """Mass matrix (B, r, r) of releases, and what each could have at most, (B, r)."""
    rotors = np.array([release.inertia for _, release in each])
    M, most = np.diag(rotors) + np.zeros((structure.size, 1, 1)), rotors
    root = np.zeros((len(structure.segments), structure.size, 6, len(each)))
    for i, segment in enumerate(structure.segments):
        if (j := segment.parent) >= 0:
            root[i] = structure.T[:, i] @ transport(structure.L[:, j]) @ root[j]
        for k, (owner, release) in enumerate(each):
            if owner == i:
                root[i, :, :, k] += release.toward(slice(None))
        # (B, 6, 6): segment i as one rigid body about its root, segment axes
        beam, tip_mass = structure.segments[i].beam, structure.segments[i].tip_mass
        X = transport(structure.L[:, i])
        lengths, which = np.unique(structure.L[:, i], return_inverse=True)
        rods = np.array([beam.outside(float(L)).mass_matrix() for L in lengths])
        C: Array = structure.root_mass[:, i] + rods[which]
        C = C + np.swapaxes(X, 1, 2) @ tip_mass @ X
        M = M + np.swapaxes(root[i], 1, 2) @ C @ root[i]
        heavy = np.repeat([C[:, 0, 0], np.trace(C[:, 3:, 3:], axis1=1, axis2=2)], 3, axis=0)
        most = most + np.einsum("jb,bjk->bk", heavy, root[i] ** 2)
    return M, np.broadcast_to(most, M.shape[:2])
