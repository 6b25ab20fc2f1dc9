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
RUNGS = 24  # of the ladder of highest frequencies, each with 1.5 times as many waves


def varying_frequencies(structure: Structure, count: int, guess: float) -> tuple[Array, Array]:
    """Return omega and relative bracket widths, (B, count) each, NaN where none can be counted."""
    omega, width = np.full((2, structure.size, count), np.nan)

    # Configurations with the same lengths and rigid modes are computed together
    varying = [i for i, s in enumerate(structure.segments) if isinstance(s.beam, VaryingBeam)]
    kinds = np.column_stack([structure.L[:, varying], structure.rigid_modes])
    all_alike = not (kinds != kinds[:1]).any()
    distinct = kinds[:1] if all_alike else kinds
    for kind in sorted(set(map(tuple, distinct.tolist()))):  # np.unique imports numpy.ma: 70 ms
        rigid_modes = int(kind[-1])
        rows = np.flatnonzero((kinds == kind).all(axis=1))
        for rung in range(RUNGS):
            part = structure if len(rows) == structure.size else structure.part(rows)
            half_waves = (count + rigid_modes + 2) * 1.5**rung
            top = _frequency_of_half_waves(part, half_waves)
            fine = cut_structure(part, short_pieces(part, top, varying=True))[0]
            found = natural_frequencies(fine.tree(top), count, rigid_modes, guess)
            omega[rows] = found.omega
            width[rows] = found.width
            rows = rows[~np.isfinite(found.omega).all(axis=1)]
            if not len(rows):
                break
    return omega, width


def _frequency_of_half_waves(structure: Structure, half_waves: float) -> float:
    """The frequency with so many half waves on all beams together, from their middle sections.

    N(omega) = bending sqrt(omega) + stretching omega, see `kernels/_roots.h`.
    """
    bending = 0.0
    stretching = 0.0
    with np.errstate(divide="ignore"):
        for segment, L in zip(structure.segments, structure.L[0], strict=True):
            middle = np.array([segment.beam.L / 2])
            m, EA, EI_xy, EI_xz, _, _, GJ, _, _, rIp = segment.beam.at(middle)[0]
            for EI in (EI_xy, EI_xz):
                bending += L * (m / EI) ** 0.25 / np.pi
            stretching += L * (np.sqrt(m / EA) + np.sqrt(rIp / GJ)) / np.pi
    root = np.sqrt(bending**2 + 4 * stretching * half_waves)
    return float((2 * half_waves / (bending + root)) ** 2)
