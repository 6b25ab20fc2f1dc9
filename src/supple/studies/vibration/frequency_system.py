"""A Structure as a matrix K(omega^2) without poles in a band, with inputs and outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...assembly import Coordinates, coordinates
from ...beams.pieces import Pieces, cut_into_pieces
from ...budget import afford
from ...errors import SuppleError
from ...structure import Structure

__all__ = ["FrequencySystem", "system_of"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
CHUNK = 256  # frequencies at once: what memory holds


@dataclass(frozen=True)
class FrequencySystem:
    """One configuration of a robot in tree coordinates, its beams cut for a band of frequencies.

    Attributes
    ----------
    structure, z
        Of the configuration.
    pieces
        Of each segment.
    top
        rad/s, the end of the band: for |omega| up to it K(omega^2) is analytic.
    """

    structure: Structure
    z: Coordinates
    pieces: tuple[Pieces, ...]
    top: float

    def stiffness(self, w2: Complex, loss: complex = 1.0) -> Complex:
        """Return K (F, n, n) at squared frequencies on the motions that keep closures shut."""
        z = self.z
        N = self.z.size
        A = np.zeros((len(w2), N, N), complex)
        minus = -w2[:, None, None]
        for i, (segment, cut_) in enumerate(zip(self.structure.segments, self.pieces, strict=True)):
            form = cut_.form(w2, loss)
            J = z.root[i]
            w = z.inner[i]
            A += J.T @ (form[:, :6, :6] + minus * self.structure.root_mass[0, i]) @ J
            coupling = J.T @ form[:, :6, 6:]
            A[:, :, w] += coupling
            A[:, w, :] += np.swapaxes(coupling, 1, 2)
            A[:, w, w] += form[:, 6:, 6:]
            A += minus * (z.end[i].T @ segment.tip_mass @ z.end[i])
            for k, release in enumerate(segment.releases):
                at = z.releases[i].start + k
                inertia = 0.0 if release.series else release.inertia
                A[:, at, at] += release.stiffness - w2 * inertia
        for i, k, column in z.motors:
            A[:, column, column] -= w2 * self.structure.segments[i].releases[k].inertia
        return np.asarray(z.free.T @ A @ z.free)

    def forces(self, segment: int, x: float, w2: Complex, loss: complex = 1.0) -> Complex:
        """Return the resultants of a section over the unknowns, (F, 6, n), segment axes."""
        z = self.z
        own = self.pieces[segment].forces(x, w2, loss)
        rows = own[:, :, :6] @ z.root[segment]
        rows[:, :, z.inner[segment]] += own[:, :, 6:]
        out: Complex = rows @ z.free
        return out

    def scale(self) -> Array:
        """Return s (n,) by which rows and columns of K are alike in size: from its static part."""
        size = np.abs(np.diagonal(self.stiffness(np.array([-(self.top**2) + 0j]))[0]))
        s: Array = 1 / np.sqrt(np.where(size > 0, size, 1.0))
        return s


def system_of(structure: Structure, top: float) -> FrequencySystem:
    """Return one configuration with its beams cut for frequencies up to `top`, rad/s."""
    if structure.size != 1:
        raise SuppleError("a frequency response is of one configuration: give theta (joints,)")
    pieces = tuple(
        cut_into_pieces(segment.beam, float(L), top)
        for segment, L in zip(structure.segments, structure.L[0], strict=True)
    )
    size = 6 * sum(len(each.x) for each in pieces)
    question = f"a frequency response up to {top / (2 * math.pi):.4g} Hz"
    afford(question, 64e-9 * size**2, 3e-10 * size**3, "ask for lower frequencies")
    z = coordinates(structure, [each.ends for each in pieces], motors=True)
    return FrequencySystem(structure, z, pieces, top)
