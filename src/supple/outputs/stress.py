"""Stress: the highest von Mises stress of a section under its force and moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.torsion import edge_shear
from ..sections import Box, Circle, Rectangle, Shape, Tube

__all__ = ["has_fibre", "von_mises"]

EDGE = 17  # places from the middle of an edge to its corner


def has_fibre(section: Shape) -> bool:
    """Return whether the outer fibre of a section is known."""
    return isinstance(section, Rectangle | Box | Circle | Tube)


def von_mises(section: Shape, carried: Any) -> Any:
    """Return the highest von Mises stress, Pa, of (force, moment) in section axes.

    sqrt(sigma^2 + 3 tau^2) of axial force, bending and torsion, where it is largest: on the rim of
    a tube, at the corner of a box (tau by Bredt), along the edges of a rectangle (tau by
    Saint-Venant). Shear forces are left out. `carried` holds six numbers or expressions.
    """
    A, I_z, I_y, J_t, _ = section.constants()
    each = [carried[k] for k in (0, 3, 4, 5)]  # sizes of numbers or expressions
    N, T, M_y, M_z = (x.fabs() if hasattr(x, "fabs") else abs(x) for x in each)
    if isinstance(section, Circle | Tube):
        bending = (M_y**2 + M_z**2) ** 0.5 * section.diameter / 2 / I_z
        return _both(N / A + bending, T * section.diameter / 2 / J_t)
    if not isinstance(section, Rectangle | Box):
        raise TypeError(f"a {type(section).__name__} has no outer fibre")
    h, b = section.depth, section.width
    high, wide = M_z * h / 2 / I_z, M_y * b / 2 / I_y
    if isinstance(section, Box):
        t = section.wall
        return _both(N / A + high + wide, T / (2 * (h - t) * (b - t) * t))
    s = np.linspace(0.0, 1.0, EDGE)
    side, top = edge_shear(h, b, s)
    worst: Any = 0.0
    for k in range(EDGE):
        for sigma, tau in ((s[k] * high + wide, side[k]), (high + s[k] * wide, top[k])):
            worst = _larger(worst, _both(N / A + sigma, T * float(tau) / J_t))
    return worst


def _both(sigma: Any, tau: Any) -> Any:
    return (sigma**2 + 3 * tau**2) ** 0.5


def _larger(a: Any, b: Any) -> Any:
    if hasattr(b, "fabs"):
        import casadi as ca

        return ca.fmax(a, b)
    return max(a, b)
