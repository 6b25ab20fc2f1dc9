"""Stress: the highest von Mises stress of a section under its force and moment."""

from __future__ import annotations

from typing import Any

from ..sections import Box, Circle, Rectangle, Shape, Tube

__all__ = ["has_fibre", "von_mises"]


def has_fibre(section: Shape) -> bool:
    """Return whether the outer fibre of a section is known."""
    return isinstance(section, Rectangle | Box | Circle | Tube)


def von_mises(section: Shape, carried: Any) -> Any:
    """Return the highest von Mises stress, Pa, of (force, moment) in section axes.

    sqrt((|N| / A + bending)^2 + 3 torsion^2): bending at the outer fibre, torsion where it is
    largest; shear forces are left out. `carried` holds six arrays or expressions.
    """
    A, I_z, I_y, J_t, _ = section.constants()
    N, T, M_y, M_z = (_size(carried[k]) for k in (0, 3, 4, 5))
    if isinstance(section, Circle | Tube):
        bending = (M_y**2 + M_z**2) ** 0.5 * section.diameter / 2 / I_z
        torsion = T * section.diameter / 2 / J_t
    elif isinstance(section, Rectangle | Box):
        h, b = section.depth, section.width
        bending = M_z * h / 2 / I_z + M_y * b / 2 / I_y
        inside = J_t / min(h, b)
        if isinstance(section, Box):
            inside = 2 * (h - section.wall) * (b - section.wall) * section.wall
        torsion = T / inside
    else:
        raise TypeError(f"a {type(section).__name__} has no outer fibre")
    return ((N / A + bending) ** 2 + 3 * torsion**2) ** 0.5


def _size(value: Any) -> Any:
    """|value| of an array or expression."""
    return value.fabs() if hasattr(value, "fabs") else abs(value)
