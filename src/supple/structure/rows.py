"""Closure rows that repeat what others hold: found, and left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from ..kernels.spatial import transport
from .parts import Structure

__all__ = ["independent"]

Array = NDArray[np.float64]
REPEATED = 1e-9  # what is left of a unit row beside the others, of its possible size


def independent(structure: Structure) -> Structure:
    """Return the structure without closure rows that follow from the rows before them.

    Rows act on the releases and on the deformations that the beams allow; a rigid loop may hold
    the same motion twice. Rows that repeat in one configuration of a batch and not in another
    cannot be left out of both: such a batch is refused.
    """
    kept = _kept(structure, 0)
    if structure.size > 1 and not kept.all():
        for b in range(1, structure.size):
            if not np.array_equal(_kept(structure, b), kept):
                raise SuppleError(
                    "closures repeat one another at some of these configurations and not at "
                    "others: ask for them one by one"
                )
    if kept.all():
        return structure
    at, closures = 0, []
    for c in structure.closures:
        keep = kept[at : at + c.rows_a.shape[1]]
        at += len(keep)
        closures.append(replace(c, rows_a=c.rows_a[:, keep], rows_b=c.rows_b[:, keep]))
    return replace(structure, closures=tuple(c for c in closures if c.rows_a.shape[1]))


def _kept(structure: Structure, b: int) -> NDArray[np.bool_]:
    """(r,) which closure rows of configuration b are not combinations of earlier ones."""
    # (r, N) closure rows of one configuration over releases and allowed deformations. Each is
    # divided by the size that its two ends could give it, so that what cancels is zero
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
    stacked = [np.zeros((0, N))]
    for c in structure.closures:
        row, size = np.zeros((2, c.rows_a.shape[1], N))
        for i, tied in ((c.a, c.rows_a), (c.b, c.rows_b)):
            if i >= 0:
                row += tied[b] @ ends[i]
                size += np.abs(tied[b]) @ np.abs(ends[i])
        stacked.append(row / np.maximum(np.linalg.norm(size, axis=1, keepdims=True), 1e-300))
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
