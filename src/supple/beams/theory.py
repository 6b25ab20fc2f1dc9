"""Beam: the numbers of one uniform link under one theory, ready for any basis.

An infinite stiffness means that the deformation is excluded: the constraint itself, not a large
number. Timoshenko bends and shears with rotary inertia; Euler-Bernoulli drops shear and rotary
inertia in bending; inextensible also keeps its length; rigid keeps its shape. Every theory keeps
the polar inertia in torsion and the mass, whatever moves it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import SuppleError
from ..robot import Elastic, Robot, Theory

__all__ = ["Beam", "beam_of", "theory_of"]

inf = math.inf


@dataclass(frozen=True, slots=True)
class Beam:
    """A uniform beam along x. Pairs hold the x-y plane first, then the x-z plane.

    Attributes:
        L: length, m.  m: mass per length, kg/m.  EA: axial stiffness, N.  EI: bending, N m^2.
        kGA: shear, N.  GJ: torsion, N m^2.  rI: rotary inertia per length of the section in
        each bending plane, kg m.  rIp: polar inertia per length, kg m.
    """

    L: float
    m: float
    EA: float = inf
    EI: tuple[float, float] = (inf, inf)
    kGA: tuple[float, float] = (inf, inf)
    GJ: float = inf
    rI: tuple[float, float] = (0.0, 0.0)
    rIp: float = 0.0

    @property
    def rigid(self) -> bool:
        """Whether no deformation is left."""
        return math.isinf(min(self.EA, *self.EI, self.GJ))

    def active(self) -> np.ndarray:
        """Which of the end deformations (u, v, w, phi_x, psi_y, psi_z) the beam allows, (6,) bool.

        The transverse ones w, psi_y belong to bending in x-z, and v, psi_z to bending in x-y.
        """
        xy, xz = (math.isfinite(value) for value in self.EI)
        return np.array(
            [math.isfinite(self.EA), xy, xz, math.isfinite(self.GJ), xz, xy], dtype=bool
        )

    def mass_matrix(self) -> np.ndarray:
        """(6, 6) rigid-body mass about the root, displacements then rotations, beam axes."""
        return rod_mass(self.m, self.rI, self.rIp, 0.0, self.L)


def rod_mass(
    m: float, rI: tuple[float, float], rIp: float, start: float, stop: float
) -> np.ndarray:
    """Return the (6, 6) rigid mass about x = 0 of a uniform rod from x = start to x = stop."""
    first, second, third = ((stop ** (k + 1) - start ** (k + 1)) / (k + 1) * m for k in range(3))
    length = stop - start
    M = np.diag([first, first, first, rIp * length, third, third])
    M[4, 4] += rI[1] * length
    M[5, 5] += rI[0] * length
    M[1, 5] = M[5, 1] = second
    M[2, 4] = M[4, 2] = -second
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


def beam_of(robot: Robot, link: Elastic) -> Beam:
    """Return the numbers of a link under its theory, length as given, axes before `roll`."""
    if link.stations is not None:
        raise SuppleError("stations are for links of serial arms: give several uniform links here")
    full = _from_section(robot, link) if link.material is not None else _direct(link)
    theory = theory_of(robot, link)
    L, m, rI, rIp = full.L, full.m, full.rI, full.rIp
    if theory == "rigid":
        return Beam(L, m, rI=rI, rIp=rIp)
    if theory == "timoshenko":
        return full
    EA = inf if theory == "inextensible" else full.EA
    return Beam(L, m, EA=EA, EI=full.EI, GJ=full.GJ, rIp=rIp)


def _from_section(robot: Robot, link: Elastic) -> Beam:
    """EA, EI, kappa G A, G J_t and rho A, rho I from material and section."""
    material, section = robot.material(link), robot.section(link)
    if material is None or section is None:
        raise SuppleError("a beam needs material and section, or mass_per_length and stiffnesses")
    A, I_z, I_y, J_t, I_p = section.constants()
    E, rho, G = material.young_modulus, material.density, material.G
    k_xy, k_xz = section.shear(material.nu)
    return Beam(
        L=link.length or 0.0,
        m=rho * A,
        EA=E * A,
        EI=(E * I_z, E * I_y),
        kGA=(k_xy * G * A, k_xz * G * A) if G is not None else (inf, inf),
        GJ=G * J_t if G is not None else inf,
        rI=(rho * I_z, rho * I_y),
        rIp=rho * I_p,
    )


def _direct(link: Elastic) -> Beam:
    """Stiffnesses as given; an absent one excludes its deformation, an absent inertia is zero."""
    r = link.rotary_inertia_per_length or 0.0
    polar = link.polar_inertia_per_length
    return Beam(
        L=link.length or 0.0,
        m=link.mass_per_length or 0.0,
        EA=link.axial_stiffness or inf,
        EI=link.bending_stiffness or (inf, inf),
        kGA=link.shear_stiffness or (inf, inf),
        GJ=link.torsional_stiffness or inf,
        rI=(r, r),
        rIp=2 * r if polar is None else polar,
    )
