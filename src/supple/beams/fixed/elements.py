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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import ArrayLike, NDArray

from ...errors import SuppleError
from ..invariants import beam_points
from ..shapes import PLANES
from ..theory import AnyBeam
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


def mesh(
    beam: AnyBeam,
    n: int,
    order: str = "cubic",
    L: float | None = None,
    carries: tuple[float, ...] = (),
) -> Mesh:
    """Return n elements on a beam; L is the free length of one that slides, else beam.L.

    carries: places inside, m from the root, that carry something: nodes, where strains may jump.
    """
    if order not in ELEMENTS:
        raise SuppleError(f"order is '{order}': choose one of {', '.join(ELEMENTS)}")
    if n < 1 or n != int(n):
        raise SuppleError(f"{n} elements: give a whole number of 1 or more for each link")
    return Mesh(beam, beam.L if L is None else L, int(n), ELEMENTS[order], carries)


@dataclass(frozen=True)
class Mesh(OnBeam):
    """n equal elements on one beam of length L: shapes, fields and the link's mass and stiffness.

    The m coordinates w are strains: first those of bending in x-y (curvature, then shear where it
    is free), then of bending in x-z, stretch, twist; within each by element, or by node and then
    by element where strains are continuous. A deformation that the beam excludes has none.
    """

    beam: AnyBeam
    L: float
    n: int
    element: Element
    carries: tuple[float, ...] = ()

    @cached_property
    def size(self) -> int:
        """Number of coordinates, m."""
        return sum(part.size for part in self._parts)

    @cached_property
    def spans(self) -> tuple[tuple[float, int, float], ...]:
        """Where each span of the beam begins, its elements, at least one, and their length."""
        breaks = self.beam.outside(self.L).breaks
        edges = np.array([0.0, *sorted({*map(float, breaks), *self.carries}), self.L])
        lengths = np.diff(edges)
        share = lengths / self.L * self.n if self.L else np.full(1, float(self.n))
        each = np.maximum(np.rint(share).astype(int), 1)
        begins = edges[:-1].tolist()
        size = (lengths / each).tolist()
        return tuple(zip(begins, each.tolist(), size, strict=True))

    @cached_property
    def nodes(self) -> Array:
        """Where elements meet, from 0 to L; stations of a varying beam are among them."""
        every = [x + l * np.arange(n) for x, n, l in self.spans]
        return np.concatenate([*every, [self.L]])

    def quadrature(self) -> tuple[Array, Array]:
        """Return Gauss points x and weights, (P,) each, exact for masses and energies."""
        return beam_points(self.beam.outside(self.L), self.element.points, self.nodes)

    def field(self, x: ArrayLike) -> Array:
        """Return N(x), (P, 6, m): displacement and section rotation relative to the root.

        Rotations follow v' = psi_z + gamma and w' = -psi_y + gamma.
        """
        return self._collect(x, "field")

    def resultants(self, x: ArrayLike) -> Array:
        """Return (N, Q_y, Q_z, T, M_y, M_z) at x per unit w, (P, 6, m).

        Without shear deformation Q follows from equilibrium, Q_y = -M_z', Q_z = M_y'. Where
        elements meet and strains jump, the element that begins there counts.
        """
        return self._collect(x, "resultants")

    def _collect(self, x: ArrayLike, rows: Literal["field", "resultants"]) -> Array:
        """Gather the parts' rows, component to (P, m_part), side by side."""
        x = np.atleast_1d(np.asarray(x, float))
        out = np.zeros((len(x), 6, self.size))
        at = 0
        for part in self._parts:
            found = part.field(x) if rows == "field" else part.resultants(x)
            for component, values in found.items():
                out[:, component, at : at + part.size] = values
            at += part.size
        return out

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        """Deformations of each span, in the order of the coordinates."""
        return tuple(self._make_parts())

    def _make_parts(self) -> Iterator[_Part]:
        b = self.beam.outside(self.L)
        e = self.element
        spans = [(x, n, l, k == len(self.spans)) for k, (x, n, l) in enumerate(self.spans, 1)]
        for plane, (v, psi, sign) in enumerate(PLANES.values()):
            for span in spans if b.deforms.EI[plane] else ():
                free = e.shear if b.deforms.kGA[plane] else 0
                curvature = ElementStrain(*span, e.bending, e.continuous)
                shear = ElementStrain(*span, free, e.continuous)
                yield _Bending(curvature, shear, b, v, psi, sign)
        for component, deforms in ((0, b.deforms.EA), (3, b.deforms.GJ)):
            for span in spans if deforms else ():
                yield _Rod(ElementStrain(*span, e.rod, e.continuous), b, component)


@dataclass(frozen=True)
class ElementStrain:
    """One strain along n elements of length l as Legendre polynomials, and its integrals.

    The elements begin at x = start; before and beyond them there is no strain, and what lies beyond
    moves with their end. In element k, at s = (x - start)/l - k, the strain is
    sum_i c_ki P_i(2 s - 1), i < terms. Continuous strains have as coordinates their values at the
    n + 1 nodes and then, by element, the factors of the bubbles P_i - P_(i-2), i >= 2; others the
    c_ki themselves.
    """

    start: float
    n: int
    l: float
    last: bool
    terms: int
    continuous: bool

    @property
    def size(self) -> int:
        """Number of coordinates."""
        if self.continuous and self.terms:
            return self.n * (self.terms - 1) + 1
        return self.n * self.terms

    def value(self, x: Array, derivative: int = 0) -> Array:
        """The strain at x, or its slope within the element, per unit coordinate, (P, size)."""
        inside, k = self._locate(x)
        out = np.zeros((len(x), self.n, self.terms))
        s = (x[inside] - self.start) / self.l - k
        out[inside, k] = _evaluate(_SLOPE if derivative else _LEGENDRE, s, self.terms)
        return self._basis(out) / self.l**derivative

    def integrate_piecewise(self, x: Array, each: Array) -> Array:
        """The integral from 0 to x of what is constant in each element, (P, size).

        each: (n, terms), per unit c_ki.
        """
        return self.l * self._basis(self._local_coordinate(x)[:, :, None] * each)

    def constant(self, x: Array, each: Array) -> Array:
        """What is constant in each element, (n, terms) per unit c_ki, at x, (P, size)."""
        out = np.zeros((len(x), self.n, self.terms))
        inside, k = self._locate(x)
        out[inside, k] = each[k]
        return self._basis(out)

    def first(self, x: Array) -> Array:
        """The integral of the strain from 0 to x, (P, size)."""
        return self.l * self._basis(_evaluate(_ONCE, self._local_coordinate(x), self.terms))

    def second(self, x: Array) -> Array:
        """Its integral again, (P, size): past an element only its mean strain turns the rest."""
        out = _evaluate(_TWICE, self._local_coordinate(x), self.terms)
        out[:, :, 0] += np.maximum((x[:, None] - self.start) / self.l - np.arange(1, self.n + 1), 0)
        return self.l**2 * self._basis(out)

    def _local_coordinate(self, x: Array) -> Array:
        """s of x in every element, (P, n): 0 before it, 1 after it."""
        return np.clip((x[:, None] - self.start) / self.l - np.arange(self.n), 0, 1)

    def _locate(self, x: Array) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
        """Which x are in these elements, and in which; where spans meet, the one that begins."""
        within = x >= self.start
        if not self.last:
            within &= x < self.start + self.n * self.l
        inside = np.flatnonzero(within)
        k = ((x[inside] - self.start) / self.l).astype(int)
        return inside, np.clip(k, 0, self.n - 1)

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


def _evaluate(coefficients: Array, s: Array, terms: int) -> Array:
    """The first `terms` polynomials at s, shape (*s.shape, terms)."""
    values = np.asarray(polynomial.polyval(s, coefficients[:, :terms]), np.float64)
    return np.moveaxis(values, 0, -1)


@dataclass(frozen=True)
class _Rod:
    """Stretching (component 0) or twisting (3): u' = strain, N = EA u'."""

    strain: ElementStrain
    beam: AnyBeam
    component: int

    @property
    def size(self) -> int:
        return self.strain.size

    def field(self, x: Array) -> dict[int, Array]:
        """Rows of N(x) by component."""
        return {self.component: self.strain.first(x)}

    def resultants(self, x: Array) -> dict[int, Array]:
        """Rows of the resultants by component."""
        stiffness = self.beam.at(x)[:, 1 if self.component == 0 else 6]
        return {self.component: stiffness[:, None] * self.strain.value(x)}


@dataclass(frozen=True)
class _Bending:
    """Bending in one plane: v' = sign psi + gamma, M = EI psi', Q = kGA gamma.

    Equilibrium without inertia, (EI psi')' + sign Q = 0, gives gamma where it is tied, constant in
    each element, and Q where there is no shear deformation.
    """

    curvature: ElementStrain
    shear: ElementStrain
    beam: AnyBeam
    v: int
    psi: int
    sign: float

    @property
    def size(self) -> int:
        return self.curvature.size + self.shear.size

    @property
    def _columns(self) -> tuple[int, int]:
        """Where EI and kGA of this plane stand among the beam's properties."""
        return (2, 4) if self.sign > 0 else (3, 5)

    @property
    def _shear_per_curvature(self) -> Array:
        """gamma in each element per unit coefficient of its curvature, (n, terms)."""
        c = self.curvature
        start, middle, far = (
            self.beam.at(c.start + c.l * (np.arange(c.n) + s)) for s in (1e-9, 0.5, 1 - 1e-9)
        )
        EI, kGA = self._columns
        # (EI psi')' / kGA, at most linear, from EI at both ends of each element
        scale = 1 / middle[:, kGA]
        out = np.zeros((c.n, c.terms))
        out[:, 0] = (far[:, EI] - start[:, EI]) / c.l * scale
        out[:, 1] = (far[:, EI] + start[:, EI]) / c.l * scale
        return -self.sign * out

    def field(self, x: Array) -> dict[int, Array]:
        """Rows of N(x) by component."""
        v = self.sign * self.curvature.second(x)
        if self.shear.terms:
            v = np.hstack([v, self.shear.first(x)])
        elif self.beam.deforms.kGA[self._columns[0] - 2]:
            v += self.curvature.integrate_piecewise(x, self._shear_per_curvature)
        turned = np.hstack([self.curvature.first(x), np.zeros((len(x), self.shear.size))])
        return {self.v: v, self.psi: turned}

    def resultants(self, x: Array) -> dict[int, Array]:
        """Rows of the resultants by component."""
        EI, kGA = (self.beam.at(x)[:, [k]] for k in self._columns)
        bent = self.curvature.value(x)
        if self.shear.terms:
            zero = np.zeros((len(x), self.curvature.size))
            Q = np.hstack([zero, kGA * self.shear.value(x)])
        elif self.beam.deforms.kGA[self._columns[0] - 2]:
            Q = kGA * self.curvature.constant(x, self._shear_per_curvature)
        else:
            steeper = self.beam.at(x, 1)[:, [self._columns[0]]]
            Q = -self.sign * (EI * self.curvature.value(x, 1) + steeper * bent)
        return {self.v: Q, self.psi: np.hstack([EI * bent, np.zeros((len(x), self.shear.size))])}


_Part = _Rod | _Bending
