"""OnBeam: shape functions on one beam, whatever the basis, with the mass and stiffness they give.

The motion along the link is u(x) = X(x) u_root + N(x) w, N(0) = 0, with X(x) the rigid transport of
the root's motion, so that u_end = X(L) u_root + S w (the relative coordinates of `assembly`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...kernels.spatial import transport
from ..invariants import beam_points
from ..shapes import LinkShapes
from ..theory import AnyBeam

__all__ = ["OnBeam", "ShapesOnBeam"]

Array = NDArray[np.float64]


class OnBeam(ABC):
    """m functions on a beam of length L. A kind has these duties:

    1. `beam`, `L`: the beam and its length; `size`: m.
    2. `quadrature()` returns points x and weights, (P,) each, exact for masses and energies.
    3. `field(x)` returns N(x), (P, 6, m): displacement and rotation relative to the root.
    4. `resultants(x)` returns (N, Q_y, Q_z, T, M_y, M_z) per unit w, (P, 6, m).
    """

    beam: AnyBeam
    L: float

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of coordinates, m."""

    @abstractmethod
    def quadrature(self) -> tuple[Array, Array]:
        """Return Gauss points x and weights, (P,) each, exact for masses and energies."""

    @abstractmethod
    def field(self, x: ArrayLike) -> Array:
        """Return N(x), (P, 6, m)."""

    @abstractmethod
    def resultants(self, x: ArrayLike) -> Array:
        """Return the forces and moments at x per unit w, (P, 6, m)."""

    def compliances(self, x: ArrayLike) -> Array:
        """Return (P, 6) at x, in the order of the resultants; see `AnyBeam.compliances`."""
        return self.beam.outside(self.L).compliances(x)

    @cached_property
    def stiffness(self) -> Array:
        """K (m, m): the strain energy is w' K w / 2; it does not depend on the root's motion.

        K = int R' C R dx, R the resultants per unit w and C = diag(1/EA, 1/kGA, .., 1/EI).
        """
        if not self.size:
            return np.zeros((0, 0))
        x, weights = self.quadrature()
        root_weights = np.sqrt(weights)[:, None, None]
        R = root_weights * np.sqrt(self.compliances(x))[:, :, None] * self.resultants(x)
        flat = R.reshape(6 * len(x), self.size)
        K: Array = flat.T @ flat
        return K

    @cached_property
    def mass(self) -> Array:
        """M (6 + m, 6 + m) over (u_root, w), consistent: int H' diag(m, m, m, rIp, rI, rI) H dx.

        H = [X(x), N(x)]; rotary inertia is included where the theory has it.
        """
        M: Array = self.mass_root.T @ self.mass_root
        return M

    @cached_property
    def mass_root(self) -> Array:
        """B (rows, 6 + m) with M = B' B: the rows of H at the Gauss points, times their masses."""
        x, weights = self.quadrature()
        density = self.beam.outside(self.L).inertias(x)
        H = np.concatenate([transport(x), self.field(x)], axis=2)
        B: Array = np.sqrt(weights[:, None] * density)[:, :, None] * H
        return B.reshape(6 * len(x), 6 + self.size)

    @cached_property
    def end(self) -> Array:
        """S (6, m): motion of the end relative to the root per unit w."""
        end: Array = self.field(np.array([self.L]))[0]
        return end


@dataclass(frozen=True)
class ShapesOnBeam(OnBeam):
    """Given shapes on a beam; a deformation that the beam excludes has no resultant.

    The beam may be a part of theirs that begins at `start`, and moves with it there.
    """

    beam: AnyBeam
    L: float
    shapes: LinkShapes
    start: float = 0.0

    @property
    def size(self) -> int:
        """Number of shapes, m."""
        return self.shapes.count

    def quadrature(self) -> tuple[Array, Array]:
        """Return Gauss points x and weights, (P,) each, exact for masses and energies."""
        breaks = np.clip(self.shapes.breaks - self.start, 0.0, self.L)
        return beam_points(self.beam.outside(self.L), self.shapes.degree + 2, np.unique(breaks))

    def field(self, x: ArrayLike) -> Array:
        """Return N(x), (P, 6, m)."""
        x = np.atleast_1d(np.asarray(x, float))
        moved_along = transport(x) @ self.shapes.at(self.start)[0]
        return np.asarray(self.shapes.at(self.start + x) - moved_along)

    def resultants(self, x: ArrayLike) -> Array:
        """Return the forces and moments at x per unit w, (P, 6, m)."""
        at = self.start + np.atleast_1d(np.asarray(x, float))
        value = self.shapes.at(at)
        strain = self.shapes.at(at, 1)
        strain[:, 1] -= value[:, 5]
        strain[:, 2] += value[:, 4]
        yields = self.compliances(x)
        stiff = np.where(yields > 0, 1 / np.where(yields > 0, yields, 1.0), 0.0)
        return stiff[:, :, None] * strain
