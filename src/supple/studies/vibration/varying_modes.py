"""Certified natural frequencies of structures with varying beams: cut, tabulated, counted.

Varying links are cut into pieces proven to have no clamped frequency up to twice a highest
frequency; the stiffness of a piece is then a power series in omega^2, the same in every pose, and
the compiled kernel counts with it as with any beam. The highest frequency is taken from a ladder
that depends on the robot alone, so that no pose depends on the others in its batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...beams.varying import VaryingBeam
from ...kernels.roots import natural_frequencies
from ...structure import Structure, cut_structure, short_pieces

__all__ = ["varying_frequencies"]

Array = NDArray[np.float64]
RUNGS = 24  # of the ladder, each half as many waves higher


def varying_frequencies(structure: Structure, count: int, guess: float) -> tuple[Array, Array]:
    """Return omega and relative bracket widths, (B, count) each, NaN where none can be counted."""
    omega, width = np.full((2, structure.size, count), np.nan)
    varying = [i for i, s in enumerate(structure.segments) if isinstance(s.beam, VaryingBeam)]
    kinds = np.column_stack([structure.L[:, varying], structure.rigid_modes])
    each = kinds if (kinds != kinds[:1]).any() else kinds[:1]
    for kind in sorted(set(map(tuple, each.tolist()))):  # np.unique imports numpy.ma: 70 ms
        rows = np.flatnonzero((kinds == kind).all(axis=1))
        for rung in range(RUNGS):
            part = structure if len(rows) == structure.size else structure.part(rows)
            # The frequency at which so many half waves stand along all beams, from their middles.
            # N(omega) = along sqrt(omega) + across omega, see `kernels/_roots.h`
            waves = (count + int(kind[-1]) + 2) * 1.5**rung
            along = across = 0.0
            with np.errstate(divide="ignore"):
                for segment, L in zip(part.segments, part.L[0], strict=True):
                    middle = np.array([segment.beam.L / 2])
                    m, EA, *EI, _, _, GJ, _, _, r = segment.beam.at(middle)[0]
                    along += sum(L * (m / each) ** 0.25 / np.pi for each in EI)
                    across += L * (np.sqrt(m / EA) + np.sqrt(r / GJ)) / np.pi
            root = np.sqrt(along**2 + 4 * across * waves)
            top = float((2 * waves / (along + root)) ** 2)
            fine = cut_structure(part, short_pieces(part, top, varying=True))[0]
            found = natural_frequencies(fine.tree(top), count, int(kind[-1]), guess)
            omega[rows], width[rows] = found.omega, found.width
            rows = rows[~np.isfinite(found.omega).all(axis=1)]
            if not len(rows):
                break
    return omega, width
