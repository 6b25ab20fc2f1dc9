"""Beam: the numbers of one uniform link under one theory, ready for any basis.

An infinite stiffness means that the deformation is excluded: the constraint itself, not a large
number. Timoshenko bends and shears with rotary inertia; Euler-Bernoulli drops shear and rotary
inertia in bending; inextensible also keeps its length; rigid keeps its shape. Every theory keeps
the polar inertia in torsion and the mass, whatever moves it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..robot import Elastic, Robot, Theory

__all__ = ["AnyBeam", "Beam", "Deforms", "theory_of", "uniform_of"]

Array = NDArray[np.float64]
inf = math.inf


class Deforms(NamedTuple):
    """Which deformations a beam allows; pairs hold the x-y plane first, then the x-z plane."""

    EA: bool
    EI: tuple[bool, bool]
    kGA: tuple[bool, bool]
    GJ: bool


class AnyBeam(ABC):
    """A beam along x, uniform or not. A kind has these duties:

    1. `L`: its length, m.
    2. `at(x)` returns its properties at places x (P,), (P, 10): m, EA, EI_xy, EI_xz, kGA_xy,
       kGA_xz, GJ, rI_xy, rI_xz, rI_p; an infinite stiffness excludes its deformation.
    3. `breaks`: places inside it where properties jump or change their slope.
    4. `outside(L)` returns its last L metres: what is out of the hub of a link that slides.
    5. `rod(start, stop)` returns the (6, 6) rigid mass about x = 0 of the beam laid along x from
       start, where it begins, as far as stop.
    6. `stiff()` returns the same beam with every deformation excluded.
    """

    L: float

    @property
    def breaks(self) -> tuple[float, ...]:
        """Places inside it where properties jump or change their slope."""
        return ()

    @abstractmethod
    def at(self, x: ArrayLike, derivative: int = 0) -> Array:
        """Return the properties at x, or their derivatives along x, (P, 10)."""

    @abstractmethod
    def outside(self, L: float) -> Self:
        """Return the last L metres."""

    @abstractmethod
    def rod(self, start: float, stop: float) -> Array:
        """Return the (6, 6) rigid mass about x = 0 of what lies between start and stop."""

    @abstractmethod
    def stiff(self) -> Self:
        """Return the beam with every deformation excluded."""

    @property
    def deforms(self) -> Deforms:
        """Which deformations it allows, the same all along."""
        soft = np.isfinite(self.at([0.0])[0]).tolist()
        return Deforms(soft[1], (soft[2], soft[3]), (soft[4], soft[5]), soft[6])

    @property
    def rigid(self) -> bool:
        """Whether no deformation is left."""
        allowed = self.deforms
        return not (allowed.EA or any(allowed.EI) or allowed.GJ)

    def active(self) -> NDArray[np.bool_]:
        """Which of the end deformations (u, v, w, phi_x, psi_y, psi_z) the beam allows, (6,) bool.

        The transverse ones w, psi_y belong to bending in x-z, and v, psi_z to bending in x-y.
        """
        EA, (xy, xz), _, GJ = self.deforms
        return np.array([EA, xy, xz, GJ, xz, xy], dtype=bool)

    def mass_matrix(self) -> Array:
        """(6, 6) rigid-body mass about the root, displacements then rotations, beam axes."""
        return self.rod(0.0, self.L)

    @property
    def mass(self) -> float:
        """Mass, kg."""
        return float(self.rod(0.0, self.L)[0, 0])

    def compliances(self, x: ArrayLike) -> Array:
        """Return (P, 6) in the order of the resultants: 1/EA, 1/kGA, 1/kGA, 1/GJ, 1/EI, 1/EI.

        That is N, Q_y, Q_z, T, M_y, M_z.
        """
        return np.asarray(1 / self.at(x)[:, [1, 4, 5, 6, 3, 2]])

    def inertias(self, x: ArrayLike) -> Array:
        """Return (P, 6) inertia per length of each motion of a section: m, m, m, rIp, rI, rI."""
        return self.at(x)[:, [0, 0, 0, 9, 8, 7]]


@dataclass(frozen=True)
class Beam(AnyBeam):
    """A uniform beam along x. Pairs hold the x-y plane first, then the x-z plane.

    Attributes
    ----------
    L
        Length, m.
    m
        Mass per length, kg/m.
    EA
        Axial stiffness, N.
    EI
        Bending, N m^2.
    kGA
        Shear, N.
    GJ
        Torsion, N m^2.
    rI
        Rotary inertia per length of the section in each bending plane, kg m.
    rIp
        Polar inertia per length, kg m.
    """

    L: float
    m: float
    EA: float = inf
    EI: tuple[float, float] = (inf, inf)
    kGA: tuple[float, float] = (inf, inf)
    GJ: float = inf
    rI: tuple[float, float] = (0.0, 0.0)
    rIp: float = 0.0

    def at(self, x: ArrayLike, derivative: int = 0) -> Array:
        """Return the same properties at every x, (P, 10)."""
        if derivative:
            return np.zeros((np.size(x), 10))
        out = np.empty((np.size(x), 10))
        out[:] = (self.m, self.EA, *self.EI, *self.kGA, self.GJ, *self.rI, self.rIp)
        return out

    @property
    def mass(self) -> float:
        """Mass, kg."""
        return self.m * self.L

    def outside(self, L: float) -> Beam:
        """Return a beam of length L alike."""
        return replace(self, L=L)

    def stiff(self) -> Beam:
        """Return the beam with its shape kept."""
        return replace(self, EA=inf, EI=(inf, inf), GJ=inf)

    @property
    def deforms(self) -> Deforms:
        """Which deformations it allows."""
        xy, xz = map(math.isfinite, self.EI)
        shear = (math.isfinite(self.kGA[0]), math.isfinite(self.kGA[1]))
        return Deforms(math.isfinite(self.EA), (xy, xz), shear, math.isfinite(self.GJ))

    def rod(self, start: float | Array, stop: float | Array) -> Array:
        """Return the (6, 6) rigid mass about x = 0 of a rod from x = start to x = stop.

        Of many rods, (B,) each, (B, 6, 6).
        """
        length = stop - start
        first = length * self.m
        second = (stop * stop - start * start) / 2 * self.m
        third = (stop * stop * stop - start * start * start) / 3 * self.m
        turning = (self.rIp * length, self.rI[1] * length, self.rI[0] * length)
        return rigid_rod(first, second, third, turning)


def rigid_rod(
    first: float | Array,
    second: float | Array,
    third: float | Array,
    turning: tuple[float | Array, float | Array, float | Array],
) -> Array:
    """Return the (6, 6) mass of a rod along x from its moments int m x^k and rotary inertias.

    Of many rods, (B,) each, (B, 6, 6).
    """
    M = np.zeros((*np.shape(first), 6, 6))
    for axis in range(3):
        M[..., axis, axis] = first
    M[..., 3, 3] = turning[0]
    M[..., 4, 4] = third + turning[1]
    M[..., 5, 5] = third + turning[2]
    M[..., 1, 5] = M[..., 5, 1] = second
    M[..., 2, 4] = M[..., 4, 2] = -second
    return M


def theory_of(robot: Robot, link: Elastic) -> Theory:
    """Return the link's theory: the one given, else timoshenko where a shear stiffness is known."""
    if link.theory is not None:
        return link.theory
    material = robot.material(link)
    known = link.shear_stiffness is not None or (material is not None and material.G is not None)
    if link.stations is not None and material is None:
        known = known or all(station.shear_stiffness is not None for station in link.stations)
    return "timoshenko" if known else "euler-bernoulli"


def uniform_of(robot: Robot, link: Elastic) -> Beam:
    """Return the numbers of a uniform link under its theory, length as given, before `roll`."""
    length = link.length or 0.0
    if link.material is not None:
        # EA, EI, kappa G A, G J_t and rho A, rho I from material and section
        material = robot.material(link)
        section = robot.section(link)
        if material is None or section is None:
            raise SuppleError(
                "a beam needs material and section, or mass_per_length and stiffnesses"
            )
        A, I_z, I_y, J_t, I_p = section.constants()
        E = material.E
        rho = material.rho
        G = material.G
        k_xy, k_xz = section.shear(material.nu)
        full = Beam(
            L=length,
            m=rho * A,
            EA=E * A,
            EI=(E * I_z, E * I_y),
            kGA=(k_xy * G * A, k_xz * G * A) if G is not None else (inf, inf),
            GJ=G * J_t if G is not None else inf,
            rI=(rho * I_z, rho * I_y),
            rIp=rho * I_p,
        )
    else:  # as given; an absent stiffness excludes its deformation, an absent inertia is zero
        r = link.rotary_inertia_per_length or 0.0
        polar = link.polar_inertia_per_length
        full = Beam(
            L=length,
            m=link.mass_per_length or 0.0,
            EA=link.axial_stiffness or inf,
            EI=link.bending_stiffness or (inf, inf),
            kGA=link.shear_stiffness or (inf, inf),
            GJ=link.torsional_stiffness or inf,
            rI=(r, r),
            rIp=2 * r if polar is None else polar,
        )
    theory = theory_of(robot, link)
    L = full.L
    m = full.m
    rI = full.rI
    rIp = full.rIp
    if theory == "rigid":
        return Beam(L, m, rI=rI, rIp=rIp)
    if theory == "timoshenko":
        return full
    EA = inf if theory == "inextensible" else full.EA
    return Beam(L, m, EA=EA, EI=full.EI, GJ=full.GJ, rIp=rIp)
