"""Ply and the membrane moduli of a laminate: classical laminate theory of a thin wall."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from ..faults import Description
from ..values import After, Angle, Before, Number, Positive, as_tuple, fault

__all__ = ["Layup", "Membrane", "Ply", "Stiff", "membrane"]


def _within_a_turn(value: float) -> float:
    if abs(value) > 2 * math.pi:
        raise fault(f"{value:g} rad is more than a turn: write degrees as {value:g}deg")
    return value


class Ply(Description):
    """One ply of a laminate: fibre angle, thickness, and optionally a material of its own.

    Omitted values are those of the laminate; without thicknesses all plies are equally thick.
    """

    angle: Annotated[Angle, After(_within_a_turn)]
    thickness: Positive | None = None
    young_modulus: Positive | None = None
    transverse_modulus: Positive | None = None
    shear_modulus: Positive | None = None
    poisson_ratio: Number | None = None
    density: Positive | None = None


def _plies(value: Any) -> Any:
    """Read an angle alone as a ply of that angle."""
    value = as_tuple(value)
    if not isinstance(value, tuple):
        return value
    return tuple({"angle": ply} if isinstance(ply, int | float | str) else ply for ply in value)


Layup = Annotated[tuple[Ply, ...], Field(min_length=1, max_length=1000), Before(_plies)]


class Stiff(NamedTuple):
    """A ply's elasticity: along and across its fibres, in-plane shear, Poisson's ratio, density."""

    E1: float
    E2: float
    G12: float
    nu12: float
    rho: float


class Membrane(NamedTuple):
    """Moduli of a laminate in its plane, Pa, Poisson's ratio, density, and A16 beside A66 A11."""

    E: float
    G: float
    nu: float
    density: float
    coupling: float


def membrane(plies: list[tuple[float, float, Stiff]]) -> Membrane:
    """Return the moduli of plies (angle, thickness, elasticity) along x, free across it.

    A = sum of t Q(angle); E = (A11 - A12^2 / A22) / t, G = A66 / t, nu = A12 / A22: the wall of a
    closed tube has no stress around it, and keeps its section in shear. `coupling` is the larger
    of |A16| and |A26| over sqrt(A11 A66), zero for a balanced laminate.
    Source: [Jones1999], 2.6 and 4.3.
    """
    A11 = A22 = A12 = A66 = A16 = A26 = 0.0
    total_thickness = 0.0  # m
    mass_per_area = 0.0  # kg/m^2
    for angle, t, (E1, E2, G12, nu12, rho) in plies:
        # Reduced stiffness of the ply along its fibres
        rest = 1 - nu12**2 * E2 / E1
        Q11 = E1 / rest
        Q22 = E2 / rest
        Q12 = nu12 * E2 / rest

        # Turned into the laminate's axes
        c = math.cos(angle)
        s = math.sin(angle)
        mixed = (s * c) ** 2
        fourth = s**4 + c**4
        cross = 2 * (Q12 + 2 * G12) * mixed
        along_fibres = Q11 - Q12 - 2 * G12
        across_fibres = Q12 - Q22 + 2 * G12
        A11 += t * (Q11 * c**4 + cross + Q22 * s**4)
        A22 += t * (Q11 * s**4 + cross + Q22 * c**4)
        A12 += t * ((Q11 + Q22 - 4 * G12) * mixed + Q12 * fourth)
        A66 += t * ((Q11 + Q22 - 2 * Q12 - 2 * G12) * mixed + G12 * fourth)
        A16 += t * (along_fibres * s * c**3 + across_fibres * s**3 * c)
        A26 += t * (along_fibres * s**3 * c + across_fibres * s * c**3)

        total_thickness += t
        mass_per_area += t * rho

    return Membrane(
        E=(A11 - A12**2 / A22) / total_thickness,
        G=A66 / total_thickness,
        nu=A12 / A22,
        density=mass_per_area / total_thickness,
        coupling=max(abs(A16), abs(A26)) / math.sqrt(A11 * A66),
    )
