"""What the joints that are let go carry, everything else held rigid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import transport
from .parts import Release, Structure

__all__ = ["carrying_nothing", "sprung_modes"]

Array = NDArray[np.float64]
ZERO_INERTIA_RATIO = 1e-13  # beside the inertia that the same masses could have


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
    M, most = _released_mass_matrix(structure, loose)
    own = np.diagonal(M, axis1=1, axis2=2)
    light = own <= ZERO_INERTIA_RATIO * most
    d = np.sqrt(np.where(light, 1.0, own))
    scaled = M / (d[:, :, None] * d[:, None, :])
    try:  # far cheaper than eigenvalues, and nearly always enough
        np.linalg.cholesky(scaled - ZERO_INERTIA_RATIO * np.eye(len(loose)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        rest = ~light.any(axis=1) & (values[:, 0] <= ZERO_INERTIA_RATIO)
        light[rest] = np.abs(vectors[rest, :, 0]) > 0.5
    names = np.array([structure.segments[i].name for i, _ in loose], object)
    return np.where(light.any(axis=1), names[np.argmax(light, axis=1)], "")


def sprung_modes(structure: Structure, closure: Array) -> int:
    """Return how many natural frequencies the releases have, beams rigid, first configuration.

    `closure`: (c, r), what of them is kept at zero. Motions that move no mass have none: springs in
    series with nothing between them, or about a rod that has no inertia.
    """
    first = structure.at(0)
    each = [(i, r) for i, s in enumerate(first.segments) for r in s.releases]
    M, most = (part[0] for part in _released_mass_matrix(first, each))
    d = np.sqrt(np.where(most > 0, most, 1.0))
    rows, free = closure / d, np.eye(len(d))
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    if size.any():
        _, values, Vt = np.linalg.svd(rows / np.where(size > 0, size, 1.0))
        free = Vt[int((values > 1e-10).sum()) :].T
    moving = int(
        (np.linalg.eigvalsh(free.T @ (M / np.outer(d, d)) @ free) > ZERO_INERTIA_RATIO).sum()
    )
    return moving + sum(r.series for _, r in each) - int(first.rigid_modes[0])


def _released_mass_matrix(
    structure: Structure, each: Sequence[tuple[int, Release]]
) -> tuple[Array, Array]:
    """Mass matrix (B, r, r) of releases, and what each could have at most, (B, r).

    Composite bodies from the tips to the base; the forces of unit releases are carried along.
    """
    B, n = structure.size, len(structure.segments)
    rotors = np.array([release.inertia for _, release in each])
    M, most = np.diag(rotors) + np.zeros((B, 1, 1)), np.tile(rotors, (B, 1))
    own: list[list[int]] = [[] for _ in range(n)]
    for k, (owner, _) in enumerate(each):
        own[owner].append(k)
    # of every segment with all beyond it: mass and the most of it (B, 6, 6), forces (B, 6, ..)
    whole, largest = np.zeros((2, n, B, 6, 6))
    beyond: list[list[tuple[list[int], Array]]] = [[] for _ in range(n)]
    for i in reversed(range(n)):
        beam, tip_mass = structure.segments[i].beam, structure.segments[i].tip_mass
        X = transport(structure.L[:, i])
        lengths, which = np.unique(structure.L[:, i], return_inverse=True)
        rods = np.array([beam.outside(float(L)).mass_matrix() for L in lengths])
        C: Array = structure.root_mass[:, i] + rods[which]
        C = C + np.swapaxes(X, 1, 2) @ tip_mass @ X
        heavy = np.repeat([C[:, 0, 0], np.trace(C[:, 3:, 3:], axis1=1, axis2=2)], 3, axis=0)
        whole[i] += C
        largest[i] += heavy.T[:, :, None] * np.eye(6)
        columns = [k for part, _ in beyond[i] for k in part]
        forces = np.concatenate([np.zeros((B, 6, 0)), *(F for _, F in beyond[i])], axis=2)
        if own[i]:
            d = np.zeros((B, 6, len(own[i])))
            for j, k in enumerate(own[i]):
                d[:, :, j] = each[k][1].toward(slice(None))
            columns, forces = columns + own[i], np.concatenate([forces, whole[i] @ d], axis=2)
            felt = np.swapaxes(d, 1, 2) @ forces
            M[:, np.array(own[i])[:, None], columns] += felt
            M[:, np.array(columns[: -len(own[i])], int)[:, None], own[i]] += np.swapaxes(
                felt[:, :, : -len(own[i])], 1, 2
            )
            most[:, own[i]] += np.einsum("bik,bij,bjk->bk", d, largest[i], d)
        if (p := structure.segments[i].parent) >= 0:
            A = structure.T[:, i] @ transport(structure.L[:, p])
            back = np.swapaxes(A, 1, 2)
            whole[p] += back @ whole[i] @ A
            largest[p] += back @ largest[i] @ A
            beyond[p].append((columns, back @ forces))
            beyond[i] = []
    return M, most
