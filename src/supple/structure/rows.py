"""Redundant closure rows: found, and left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .parts import Structure

__all__ = ["alike", "independent"]

Array = NDArray[np.float64]
BLOCK = 256  # configurations whose rows are computed together: they fit a processor's cache
# A row is redundant if its part orthogonal to the earlier rows is smaller, relative to its size
REDUNDANT_ROW_TOLERANCE = 1e-9


def independent(structure: Structure) -> Structure:
    """Return the structure without closure rows that follow from the rows before them.

    Rows act on the releases and on the deformations that the beams allow; a rigid loop may
    constrain the same motion twice. Where a row is redundant in one configuration of a batch and
    not in another, it stays, and `repeats` says where: see `alike`.
    """
    row_count = sum(closure.rows_a.shape[1] for closure in structure.closures)
    parts = [np.zeros((0, row_count), bool)]
    for first in range(0, structure.size, BLOCK):
        parts.append(_independent_rows(structure, slice(first, first + BLOCK)))
    repeats = ~np.concatenate(parts)
    if not repeats.any():
        return structure
    if (repeats == repeats[0]).all():
        return structure.without(repeats[0])
    return replace(structure, repeats=repeats)


def alike(structure: Structure) -> list[NDArray[np.int64]]:
    """Return groups of configurations in which the same closure rows are redundant."""
    if structure.repeats is None:
        return [np.arange(structure.size)]
    _, which = np.unique(structure.repeats, axis=0, return_inverse=True)
    return [np.flatnonzero(which.ravel() == k) for k in range(which.max() + 1)]


def _independent_rows(structure: Structure, some: slice) -> NDArray[np.bool_]:
    """(B, r) which closure rows of some configurations are not combinations of earlier ones.

    Gram-Schmidt orthogonalisation of the rows over releases and allowed deformations, all
    configurations at once, each on its own.
    """
    rows = _scaled_closure_rows(structure, some)
    is_independent = np.ones(rows.shape[:2], bool)
    basis = np.zeros_like(rows)  # orthonormal; a row that repeats others stays zero
    for k in range(rows.shape[1]):
        remainder = rows[:, k]
        for _ in range(2):  # the second time removes the rounding of the first
            along = (basis[:, :k] * remainder[:, None]).sum(axis=2)
            remainder = remainder - (basis[:, :k] * along[..., None]).sum(axis=1)
        size = np.sqrt((remainder * remainder).sum(axis=1))
        is_independent[:, k] = size > REDUNDANT_ROW_TOLERANCE
        unit = remainder / np.maximum(size, 1e-300)[:, None]
        basis[:, k] = np.where(is_independent[:, k, None], unit, 0.0)
    return is_independent


def _scaled_closure_rows(structure: Structure, some: slice) -> Array:
    """(B, r, N) closure rows of some configurations over releases and allowed deformations.

    Each row is divided by the size that its two ends could give it, so that rows which cancel
    become zero; but by no less than a millionth of what its entries could give: smaller sizes are
    rounding.
    """
    transforms = structure.T[some]
    lengths = structure.L[some]
    B = len(lengths)

    # Columns: releases, then allowed deformations of every segment in turn
    deformations = [np.eye(6)[:, segment.beam.active()] for segment in structure.segments]
    release_counts = [len(segment.releases) for segment in structure.segments]
    starts = [0]
    for count, own_deformations in zip(release_counts, deformations, strict=True):
        starts.append(starts[-1] + count + own_deformations.shape[1])
    N = starts[-1]

    # Motion of every segment's end for a unit of each release and deformation
    ends = np.zeros((len(structure.segments), B, 6, N))
    for i, segment in enumerate(structure.segments):
        if segment.parent >= 0:
            ends[i] = transforms[:, i] @ ends[segment.parent]
        for k, release in enumerate(segment.releases):
            ends[i][:, :, starts[i] + k] += release.toward(some)
        ends[i][:, 1] += lengths[:, i, None] * ends[i][:, 5]
        ends[i][:, 2] -= lengths[:, i, None] * ends[i][:, 4]
        ends[i][:, :, starts[i] + release_counts[i] : starts[i + 1]] += deformations[i]

    stacked = [np.zeros((B, 0, N))]
    for c in structure.closures:
        row = np.zeros((B, c.rows_a.shape[1], N))
        size = np.zeros_like(row)
        floor = np.zeros((*row.shape[:2], 1))
        for i, tied in ((c.a, c.rows_a[some]), (c.b, c.rows_b[some])):
            if i >= 0:
                row += tied @ ends[i]
                size += np.abs(tied) @ np.abs(ends[i])
                far = np.abs(ends[i]).max(axis=(1, 2), initial=0.0)[:, None, None]
                floor += 1e-6 * np.linalg.norm(tied, axis=2, keepdims=True) * far
        for i, taken in c.slides:
            row[:, :, starts[i]] += taken[some]
            size[:, :, starts[i]] += np.abs(taken[some])
        scale = np.maximum(np.linalg.norm(size, axis=2, keepdims=True), floor)
        stacked.append(row / np.maximum(scale, 1e-300))
    return np.concatenate(stacked, axis=1)
