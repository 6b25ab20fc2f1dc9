"""What kind of mode is it: where its strain energy sits, from frequencies alone.

A stiffness k holds the part d ln(omega^2) / d ln(k) of a mode's strain energy, because
omega^2 = 2 U / M at a stationary value of the quotient. The certified frequencies give that
derivative to four digits at a cost that grows with the number of modes only, where shapes of high
modes need ever finer pieces.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...kernels.roots import BeamTree, natural_frequencies
from ...structure import Structure

__all__ = ["ENERGIES", "describe_kind", "energy_shares"]

Array = NDArray[np.float64]
ENERGIES = ("axial", "bending x-y", "bending x-z", "shear x-y", "shear x-z", "torsion", "joint")
COLUMNS = dict(zip(ENERGIES[:-1], range(1, 7), strict=True))  # of BeamTree.beams
# Coincident modes are separated by making bending in x-y softer by this part, and every link a
# little different
SOFTENING = 1e-5
STIFFNESS_STEP = 1e-7  # of differences, relative


def energy_shares(structure: Structure, count: int, guess: float) -> Array:
    """Return the parts of the strain energy of one configuration, (modes, n, 7), as ENERGIES.

    By differences: the change of omega^2 when one stiffness grows. Where frequencies coincide, the
    modes are those that differ most in bending in x-y.
    """
    tree = structure.tree()
    skip = structure.rigid_modes
    n = len(structure.segments)

    def squares(beams: Array, releases: Array) -> Array:
        changed: BeamTree = replace(tree, beams=beams, releases=releases)
        found = natural_frequencies(changed, count, skip, guess).omega[0]
        return np.asarray(found**2)

    releases = tree.releases
    beams = tree.beams.copy()
    scatter = np.add.outer(np.arange(n), np.arange(10) / 10) * 0.618 % 1  # golden ratio
    beams *= 1 + 0.1 * SOFTENING * scatter  # separates the modes of equal legs
    beams[:, COLUMNS["bending x-y"]] *= 1 - SOFTENING  # so that it comes first, as among shapes
    base = squares(beams, releases)
    share = np.zeros((count, n, len(ENERGIES)))
    for kind, column in COLUMNS.items():
        for i in np.flatnonzero(np.isfinite(beams[:, column])).tolist():
            stiffer = beams.copy()
            stiffer[i, column] *= 1 + STIFFNESS_STEP
            share[:, i, ENERGIES.index(kind)] = squares(stiffer, releases) - base
    for i in range(n):
        own = slice(tree.start[i], tree.start[i + 1])
        if releases[:, own, -3].any():
            stiffer = releases.copy()
            stiffer[:, own, -3] *= 1 + STIFFNESS_STEP
            share[:, i, -1] = squares(beams, stiffer) - base
    share = np.maximum(share, 0.0)
    return np.asarray(share / share.sum(axis=(1, 2), keepdims=True))


def describe_kind(share: Array, names: tuple[str, ...], planar: bool) -> str:
    """Say what kind of mode it is: the largest share (n, 7) of strain energy and where it sits.

    The pieces of a link that carries others midway, boom, boom@0.9, .., count as one.
    """
    # Pieces are added to the link that they are of
    owners = []
    for name in names:
        carrier = name.rpartition("@")[0]
        owners.append(carrier if carrier in names else name)
    names = tuple(dict.fromkeys(owners))
    rows = [share[[owner == name for owner in owners]].sum(axis=0) for name in names]
    share = np.array(rows)
    merged = {
        "bending x-y": share[:, 1] + share[:, 3],
        "bending x-z": share[:, 2] + share[:, 4],
        "axial": share[:, 0],
        "torsion": share[:, 5],
        "joint spring": share[:, 6],
    }
    name = max(merged, key=lambda key: merged[key].sum())
    link = int(np.argmax(merged[name] >= 0.999 * merged[name].max()))
    word = name.replace(" x-y", "") if planar else name
    if names[link] == "foundation":
        word = "spring"
    part = round(100 * merged[name].sum())
    if len(names) == 1:
        return f"{word} {part} %"
    return f"{word} {part} %, most in {names[link]}"
