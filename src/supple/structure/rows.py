"""Closure rows that repeat what others hold: found, and left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import transport
from .parts import Structure

__all__ = ["alike", "independent"]

Array = NDArray[np.float64]
REPEATED = 1e-9  # what is left of a unit row beside the others, of its possible size


def independent(structure: Structure) -> Structure:
    """Return the structure without closure rows that follow from the rows before them.

    Rows act on the releases and on the deformations that the beams allow; a rigid loop may hold
    the same motion twice. Where rows repeat in one configuration of a batch and not in another,
    they stay, and `repeats` says which: see `alike`.
    """
    repeats = np.array([~_kept(structure, b) for b in range(structure.size)])
    if not repeats.any():
        return structure
    if (repeats == repeats[0]).all():
        return structure.without(repeats[0])
    return replace(structure, repeats=repeats)


def alike(structure: Structure) -> list[NDArray[np.int64]]:
    """Return groups of configurations in which the same closure rows repeat others."""
    if structure.repeats is None:
        return [np.arange(structure.size)]
    _, which = np.unique(structure.repeats, axis=0, return_inverse=True)
    return [np.flatnonzero(which.ravel() == k) for k in range(which.max() + 1)]


def _kept(structure: Structure, b: int) -> NDArray[np.bool_]:
    """(r,) which closure rows of configuration b are not combinations of earlier ones."""
    # (r, N) closure rows of one configuration over releases and allowed deformations. Each is
    # divided by the size that its two ends could give it, so that what cancels is zero; but never
    # by less than a millionth of what its entries could give, which are rounding then
    each = [np.reshape([r.toward(b) for r in s.releases], (-1, 6)).T for s in structure.segments]
    inner = [np.eye(6)[:, s.beam.active()] for s in structure.segments]
    N = sum(a.shape[1] + d.shape[1] for a, d in zip(each, inner, strict=True))
    ends, at = np.zeros((len(each), 6, N)), 0
    for i, segment in enumerate(structure.segments):
        root = structure.T[b, i] @ ends[segment.parent] if segment.parent >= 0 else np.zeros((6, N))
        root[:, at : at + each[i].shape[1]] += each[i]
        at += each[i].shape[1]
        ends[i] = transport(structure.L[b, i]) @ root
        ends[i][:, at : at + inner[i].shape[1]] += inner[i]
        at += inner[i].shape[1]
    starts = np.cumsum([0, *(a.shape[1] + d.shape[1] for a, d in zip(each, inner, strict=True))])
    stacked = [np.zeros((0, N))]
    for c in structure.closures:
        row, size = np.zeros((2, c.rows_a.shape[1], N))
        floor = np.zeros((len(row), 1))
        for i, tied in ((c.a, c.rows_a), (c.b, c.rows_b)):
            if i >= 0:
                row += tied[b] @ ends[i]
                size += np.abs(tied[b]) @ np.abs(ends[i])
                far = np.abs(ends[i]).max(initial=0.0)
                floor += 1e-6 * np.linalg.norm(tied[b], axis=1, keepdims=True) * far
        for i, taken in c.slides:
            row[:, starts[i]] += taken[b]
            size[:, starts[i]] += np.abs(taken[b])
        whole = np.maximum(np.linalg.norm(size, axis=1, keepdims=True), floor)
        stacked.append(row / np.maximum(whole, 1e-300))
    rows = np.concatenate(stacked)
    basis, kept = np.zeros((0, rows.shape[1])), []
    for row in rows:
        left = row - basis.T @ (basis @ row)
        left -= basis.T @ (basis @ left)
        size = float(np.linalg.norm(left))
        kept.append(size > REPEATED)
        if kept[-1]:
            basis = np.vstack([basis, left / size])
    return np.array(kept, bool)
