"""Finite elements on one link: n equal elements, clamped at the link's root.

An element kind is declared by the polynomials its strains follow; displacements are their integrals
from the root on. For "cubic" the trial functions are those of the textbook elements (axial and
torsion linear, bending cubic Hermite; Timoshenko: interdependent cubic v and quadratic psi), for
"quintic" those with u', phi', v'' (Timoshenko: psi' and v' - psi) as further nodal values. Only the
coordinates differ: w holds strains, which makes the stiffness well conditioned on any mesh, makes
every field continuous by construction, and leaves shear no way to lock.
See docs/theory/elements.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre, polynomial
from numpy.typing import ArrayLike, NDArray

from ...errors import SuppleError
from ..theory import Beam
from .on_beam import OnBeam

__all__ = ["ELEMENTS", "Element", "Mesh", "mesh"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Element:
    """One kind of element. Duties of a kind, all of them data:

    1. `rod`, `bending`: number of Legendre terms of the stretch u' and twist rate phi', and of the
       curvature psi', in one element.
    2. `shear`: number of terms of the shear strain; 0 ties it to the curvature by equilibrium,
       gamma = -EI psi'' / kGA (Euler-Bernoulli beams have none in any case). Source:
       [Friedman1993], with stiffness and mass integrated in full.
    3. `continuous`: whether strains are continuous from element to element.
    4. `orders`: claims; the relative error of a natural frequency falls as (1/n)^order, by what
       moves: "rod" (stretching and twisting), "euler-bernoulli", "timoshenko" (bending).
    5. `from_above`: claim; no frequency lies below the exact one, and none rises when n doubles.
    """

    rod: int
    bending: int
    shear: int
    continuous: bool
    orders: dict[str, int]
    from_above: bool = True

    @property
    def points(self) -> int:
        """Gauss points in one element that integrate its mass and its energy exactly."""
        return self.bending + 2


ELEMENTS = {
    "cubic": Element(1, 2, 0, False, {"rod": 2, "euler-bernoulli": 4, "timoshenko": 2}),
    "quintic": Element(3, 4, 4, True, {"rod": 6, "euler-bernoulli": 8, "timoshenko": 8}),
}


def mesh(beam: Beam, n: int, order: str = "cubic", L: float | None = None) -> Mesh:
    """Return n elements on a beam; L is the free length of one that slides, else beam.L."""
    if order not in ELEMENTS:
        raise SuppleError(f"order is '{order}': choose one of {', '.join(ELEMENTS)}")
    if n < 1 or n != int(n):
        raise SuppleError(f"{n} elements: give a whole number of 1 or more for each link")
    return Mesh(beam, beam.L if L is None else L, int(n), ELEMENTS[order])


@dataclass(frozen=True)
class Mesh(OnBeam):
    """n equal elements on one beam of length L: shapes, fields and the link's mass and stiffness.

    The m coordinates w are strains: first those of bending in x-y (curvature, then shear where it
    is free), then of bending in x-z, stretch, twist; within each by element, or by node and then
    by element where strains are continuous. A deformation that the beam excludes has none.
    """

    beam: Beam
    L: float
    n: int
    element: Element

    @property
    def size(self) -> int:
        """Number of coordinates, m."""
        return sum(part.size for part in self._parts())

    def quadrature(self) -> tuple[Array, Array]:
        """Return Gauss points x and weights, (P,) each, exact for masses and energies."""
        t, weights = legendre.leggauss(self.element.points)
        l = self.L / self.n
        x = l * (np.arange(self.n)[:, None] + (t + 1) / 2)
        return x.ravel(), np.tile(weights * l / 2, self.n)

    def field(self, x: ArrayLike) -> Array:
        """Return N(x), (P, 6, m): displacement and section rotation relative to the root.

        Rotations follow v' = psi_z + gamma and w' = -psi_y + gamma.
        """
        return self._collect(x, lambda part, s: part.field(s))

    def resultants(self, x: ArrayLike) -> Array:
        """Return (N, Q_y, Q_z, T, M_y, M_z) at x per unit w, (P, 6, m).

        Without shear deformation Q follows from equilibrium, Q_y = -M_z', Q_z = M_y'. Where
        elements meet and strains jump, the element that begins there counts.
        """
        return self._collect(x, lambda part, s: part.resultants(s))

    def _collect(self, x: ArrayLike, rows: Callable[[_Part, Array], dict[int, Array]]) -> Array:
        """Gather the parts' rows, component to (P, m_part), side by side."""
        x = np.atleast_1d(np.asarray(x, float))
        out, at = np.zeros((len(x), 6, self.size)), 0
        for part in self._parts():
            for component, values in rows(part, x).items():
                out[:, component, at : at + part.size] = values
            at += part.size
        return out

    def _parts(self) -> Iterator[_Part]:
        b, e, strains = self.beam, self.element, (self.n, self.L / self.n)
        for plane, (v, psi, sign) in enumerate(((1, 5, 1.0), (2, 4, -1.0))):
            if math.isfinite(b.EI[plane]):
                free = e.shear if math.isfinite(b.kGA[plane]) else 0
                curvature = Strain(*strains, e.bending, e.continuous)
                shear = Strain(*strains, free, e.continuous)
                stiffness = (b.EI[plane], b.kGA[plane])
                yield _Bending(curvature, shear, *stiffness, v, psi, sign)
        for component, value in ((0, b.EA), (3, b.GJ)):
            if math.isfinite(value):
                yield _Rod(Strain(*strains, e.rod, e.continuous), value, component)


@dataclass(frozen=True)
class Strain:
    """One strain along n elements of length l as Legendre polynomials, and its integrals.

    In element k, at s = x/l - k, the strain is sum_i c_ki P_i(2 s - 1), i < terms. Continuous
    strains have as coordinates their values at the n + 1 nodes and then, by element, the factors of
    the bubbles P_i - P_(i-2), i >= 2; others the c_ki themselves.
    """

    n: int
    l: float
    terms: int
    continuous: bool

    @property
    def size(self) -> int:
        """Number of coordinates."""
        if self.continuous and self.terms:
            return self.n * (self.terms - 1) + 1
        return self.n * self.terms

    def value(self, x: Array) -> Array:
        """The strain at x per unit coordinate, (P, size)."""
        return self._local(x, _LEGENDRE)

    def slope(self, x: Array) -> Array:
        """Its derivative within the element, (P, size)."""
        return self._local(x, _SLOPE) / self.l

    def rise(self, x: Array) -> Array:
        """The integral of the slope from 0 to x, without the jumps between elements, (P, size)."""
        return self._basis(
            _evaluate(_LEGENDRE, self._clipped(x), self.terms) - _AT_START[: self.terms]
        )

    def first(self, x: Array) -> Array:
        """The integral of the strain from 0 to x, (P, size)."""
        return self.l * self._basis(_evaluate(_ONCE, self._clipped(x), self.terms))

    def second(self, x: Array) -> Array:
        """Its integral again, (P, size): past an element only its mean strain turns the rest."""
        out = _evaluate(_TWICE, self._clipped(x), self.terms)
        out[:, :, 0] += np.maximum(x[:, None] / self.l - np.arange(1, self.n + 1), 0)
        return self.l**2 * self._basis(out)

    def _clipped(self, x: Array) -> Array:
        """s of x in every element, (P, n): 0 before it, 1 after it."""
        return np.clip(x[:, None] / self.l - np.arange(self.n), 0, 1)

    def _local(self, x: Array, coefficients: Array) -> Array:
        """Polynomials of s in the element that holds x, zero in the others."""
        k = np.clip((x / self.l).astype(int), 0, self.n - 1)
        out = np.zeros((len(x), self.n, self.terms))
        out[np.arange(len(x)), k] = _evaluate(coefficients, x / self.l - k, self.terms)
        return self._basis(out)

    def _basis(self, c: Array) -> Array:
        """(P, n, terms) per unit c_ki to (P, size) per unit coordinate."""
        P = len(c)
        if not self.continuous or not self.terms:
            return c.reshape(P, self.size)
        nodes = np.zeros((P, self.n + 1))
        nodes[:, :-1] += (c[:, :, 0] - c[:, :, 1]) / 2
        nodes[:, 1:] += (c[:, :, 0] + c[:, :, 1]) / 2
        bubbles = c[:, :, 2:] - c[:, :, :-2]
        return np.concatenate([nodes, bubbles.reshape(P, -1)], axis=1)


# Columns: P_0 .. P_3 of 2 s - 1 in powers of s; their derivatives, first and second integrals.
_LEGENDRE: Array = np.array([[1.0, -1, 1, -1], [0, 2, -6, 12], [0, 0, 6, -30], [0, 0, 0, 20]])
_SLOPE = np.asarray(polynomial.polyder(_LEGENDRE), np.float64)
_ONCE = np.asarray(polynomial.polyint(_LEGENDRE), np.float64)
_TWICE = np.asarray(polynomial.polyint(_LEGENDRE, 2), np.float64)
_AT_START = _LEGENDRE[0]


def _evaluate(coefficients: Array, s: Array, terms: int) -> Array:
    """The first `terms` polynomials at s, shape (*s.shape, terms)."""
    values = np.asarray(polynomial.polyval(s, coefficients[:, :terms]), np.float64)
    return np.moveaxis(values, 0, -1)


@dataclass(frozen=True)
class _Rod:
    """Stretching (component 0) or twisting (3): u' = strain, N = EA u'."""

    strain: Strain
    stiffness: float
    component: int

    @property
    def size(self) -> int:
        return self.strain.size

    def field(self, x: Array) -> dict[int, Array]:
        """Rows of N(x) by component."""
        return {self.component: self.strain.first(x)}

    def resultants(self, x: Array) -> dict[int, Array]:
        """Rows of the resultants by component."""
        return {self.component: self.stiffness * self.strain.value(x)}


@dataclass(frozen=True)
class _Bending:
    """Bending in one plane: v' = sign psi + gamma, M = EI psi', Q = kGA gamma.

    Equilibrium without inertia, EI psi'' + sign Q = 0, gives gamma where it is tied, and Q where
    there is no shear deformation.
    """

    curvature: Strain
    shear: Strain
    EI: float
    kGA: float
    v: int
    psi: int
    sign: float

    @property
    def size(self) -> int:
        return self.curvature.size + self.shear.size

    def field(self, x: Array) -> dict[int, Array]:
        """Rows of N(x) by component."""
        v = self.sign * self.curvature.second(x)
        if self.shear.terms:
            v = np.hstack([v, self.shear.first(x)])
        else:
            v -= self.sign * self.EI / self.kGA * self.curvature.rise(x)
        return {self.v: v, self.psi: self._padded(self.curvature.first(x))}

    def resultants(self, x: Array) -> dict[int, Array]:
        """Rows of the resultants by component."""
        if self.shear.terms:
            zero = np.zeros((len(x), self.curvature.size))
            Q = np.hstack([zero, self.kGA * self.shear.value(x)])
        else:
            Q = -self.sign * self.EI * self.curvature.slope(x)
        return {self.v: Q, self.psi: self._padded(self.EI * self.curvature.value(x))}

    def _padded(self, rows: Array) -> Array:
        return np.hstack([rows, np.zeros((len(rows), self.shear.size))])


_Part = _Rod | _Bending
