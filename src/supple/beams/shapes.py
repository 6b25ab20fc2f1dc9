"""Shapes: shape functions of one link, and EndLoad: what they carry at their end.

A shape is a displacement field (u, v, w) and a rotation field (phi, psi_y, psi_z) along the beam,
zero at its root. Rotations follow the right-hand rule, so that without shear psi_z = v' and
psi_y = -w'. All fields are piecewise polynomials, hence every integral of them is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import Immutable
from ..arguments import number, some
from ..errors import SuppleError

__all__ = ["FIELDS", "PLANES", "EndLoad", "Kind", "LinkShapes", "join_shapes"]

Array = NDArray[np.float64]
Kind = str
FIELDS = ("u", "v", "w", "phi", "psi_y", "psi_z")
# The planes of bending: places of displacement v and rotation psi among FIELDS, and the sign in
# psi = sign v', which holds without shear.
PLANES = {"xy": (1, 5, 1.0), "xz": (2, 4, -1.0)}


@dataclass(frozen=True)
class EndLoad(Immutable):
    """Load at the end of a link in its clamped-mass shapes: M_L, J_L and (MD).

    Parameters
    ----------
    mass : float
        M_L, kg.
    inertia : float or sequence of float
        J_L about the end, kg m^2: one value for every axis, or three (about x for torsion, y for
        bending in x-z, z for bending in x-y).
    moment : float
        (MD), kg m.

    References
    ----------
    [DeLuca1991], Eq. (16).
    """

    mass: float = 0.0
    inertia: float | Sequence[float] = 0.0
    moment: float = 0.0

    checks: ClassVar = {"mass": number(0), "inertia": some(0), "moment": number(-1e30, 1e30)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.ndim(self.inertia) and len(self.about) != 3:
            raise SuppleError(f"inertia is {self.inertia}: give one value, or three about x, y, z")
        values = [self.mass, self.moment, *self.about]
        if not all(math.isfinite(value) for value in values) or min(self.mass, *self.about) < 0:
            raise SuppleError(
                f"EndLoad({self.mass}, {self.inertia}, {self.moment}): mass and "
                "inertia must be finite and not negative, moment must be finite"
            )
        if any(self.moment**2 > self.mass * J * (1 + 1e-9) for J in self.about[1:]):
            raise SuppleError(
                f"EndLoad moment {self.moment:g} is too large for mass {self.mass:g} and inertia "
                f"{self.inertia}: no body has moment^2 above mass times inertia"
            )

    @property
    def about(self) -> tuple[float, float, float]:
        """Inertia about x, y and z of the link's end."""
        if isinstance(self.inertia, int | float):
            return (float(self.inertia),) * 3
        return tuple(float(value) for value in self.inertia)  # type: ignore[return-value]


@dataclass(frozen=True)
class LinkShapes:
    """k shape functions of one link, polynomials between `breaks`.

    Attributes
    ----------
    breaks
        (e + 1,), from 0 to the length.
    coefficients
        (e, 6, k, p + 1), Legendre series of each field on each piece.
    kinds
        What each shape does: xy, xz, axial or torsion.
    """

    breaks: Array
    coefficients: Array
    kinds: tuple[Kind, ...]

    @property
    def count(self) -> int:
        """Number of shapes, k."""
        return len(self.kinds)

    @property
    def degree(self) -> int:
        """Polynomial degree, p."""
        return int(self.coefficients.shape[-1]) - 1

    def at(self, x: ArrayLike, derivative: int = 0) -> Array:
        """Return the six fields, or their derivatives along x, at places x (n,): (n, 6, k)."""
        x = np.atleast_1d(np.asarray(x, float))
        piece = np.clip(np.searchsorted(self.breaks, x, "right") - 1, 0, len(self.breaks) - 2)
        out = np.zeros((len(x), 6, self.count))
        for k in np.unique(piece):
            a = self.breaks[k]
            b = self.breaks[k + 1]
            series = np.moveaxis(self.coefficients[k], -1, 0)
            if derivative:
                series = legendre.legder(series, derivative) * (2 / (b - a)) ** derivative
            here = piece == k
            polynomials = legendre.legvander((2 * x[here] - a - b) / (b - a), len(series) - 1)
            out[here] = np.tensordot(polynomials, series, axes=1)
        return out

    def combine(self, matrix: Array, kinds: tuple[Kind, ...]) -> LinkShapes:
        """Return new shapes, column j of `matrix` (k, new) being the j-th as a sum of these."""
        return LinkShapes(self.breaks, np.einsum("efkp,kn->efnp", self.coefficients, matrix), kinds)


def join_shapes(parts: Sequence[LinkShapes]) -> LinkShapes:
    """Return the shapes of several sets on one link as one set, in the order given."""
    degree = max(part.degree for part in parts)
    padded = [
        np.pad(part.coefficients, [(0, 0)] * 3 + [(0, degree - part.degree)]) for part in parts
    ]
    kinds = tuple(kind for part in parts for kind in part.kinds)
    return LinkShapes(parts[0].breaks, np.concatenate(padded, axis=2), kinds)
