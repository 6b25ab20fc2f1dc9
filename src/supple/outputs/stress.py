"""Stress: the highest von Mises stress of a section under its force and moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..architectures.kinds import architecture_of
from ..beams.sliding.weighted import piecewise
from ..beams.varying import VaryingBeam, panel_nodes
from ..kernels.torsion import edge_shear
from ..sections import Box, Circle, Rectangle, Shape, Tube

__all__ = ["has_fibre", "on_edge", "stress_along", "von_mises"]

POINTS_PER_EDGE = 17  # places from the middle of an edge to its corner


def has_fibre(section: Shape) -> bool:
    """Return whether the outer fibre of a section is known."""
    return isinstance(section, Rectangle | Box | Circle | Tube)


def on_edge(robot: Any, link: Any) -> bool:
    """Return whether a planar robot's section stands a quarter turned: its z about the link's y."""
    return bool(architecture_of(robot).planar and round(link.roll / (np.pi / 2)) % 2)


def von_mises(section: Shape, carried: Any, constants: Any = None, edge: bool = False) -> Any:
    """Return the highest von Mises stress, Pa, of (force, moment) in section axes.

    sqrt(sigma^2 + 3 tau^2) of axial force, bending and torsion, where it is largest: on the rim of
    a tube, at the corner of a box (tau by Bredt), along the edges of a rectangle (tau by
    Saint-Venant). Shear forces are left out. `carried` holds six numbers or expressions;
    `constants` are those of another section of this shape. `edge`: the section stands on edge.
    """
    a, b, c, *tau = _constants(section) if constants is None else constants
    each = [carried[k] for k in (0, 3, 4, 5)]  # sizes of numbers or expressions
    N, T, M_y, M_z = (x.fabs() if hasattr(x, "fabs") else abs(x) for x in each)
    M_y, M_z = (M_z, M_y) if edge else (M_y, M_z)
    if isinstance(section, Circle | Tube):
        return _both(a * N + b * (M_y**2 + M_z**2) ** 0.5, tau[0] * T)
    if isinstance(section, Box):
        return _both(a * N + b * M_z + c * M_y, tau[0] * T)
    s = np.linspace(0.0, 1.0, POINTS_PER_EDGE)
    worst: Any = 0.0
    for k in range(POINTS_PER_EDGE):
        pairs = (
            (s[k] * b * M_z + c * M_y, tau[k]),
            (b * M_z + s[k] * c * M_y, tau[POINTS_PER_EDGE + k]),
        )
        for sigma, shear in pairs:
            found = _both(a * N + sigma, shear * T)
            if hasattr(found, "fabs"):
                import casadi as ca

                worst = ca.fmax(worst, found)
            else:
                worst = max(worst, found)
    return worst


def _constants(section: Shape) -> list[float]:
    """Stress at the outer fibre per unit N, M_z, M_y and, at one place or many, T."""
    A, I_z, I_y, J_t, _ = section.constants()
    if isinstance(section, Circle | Tube):
        r = section.diameter / 2
        return [1 / A, r / I_z, r / I_y, r / J_t]
    if not isinstance(section, Rectangle | Box):
        raise TypeError(f"a {type(section).__name__} has no outer fibre")
    h = section.depth
    b = section.width
    out = [1 / A, h / 2 / I_z, b / 2 / I_y]
    if isinstance(section, Box):
        t = section.wall
        return [*out, 1 / (2 * (h - t) * (b - t) * t)]
    side, top = edge_shear(h, b, np.linspace(0.0, 1.0, POINTS_PER_EDGE))
    return [*out, *(side / J_t).tolist(), *(top / J_t).tolist()]


def stress_along(beam: VaryingBeam, x: Any, carried: Any, edge: bool) -> Any:
    """Return the same at an expression x along a beam whose section varies.

    The constants are series of Legendre's on pieces so short that these end at rounding.
    """
    import casadi as ca

    t, _, to = panel_nodes()
    place = beam.start + x
    out = None
    for span in reversed(beam.spans):
        edges = [span.start]
        todo = [(span.start, span.stop)]
        stresses = []
        while todo:
            a, b = todo.pop()
            rows = [_constants(span.section(s)) for s in ((a + b) / 2 + (b - a) / 2 * t).tolist()]
            c = to @ np.array(rows)
            rough = np.abs(c[-2:]) > 1e-13 * np.abs(c).max(axis=0)
            if rough.any() and b - a > (span.stop - span.start) / 256:
                todo += [((a + b) / 2, b), (a, (a + b) / 2)]
                continue
            edges.append(b)
            stresses.append(c)
        constants = piecewise(place, np.array(edges), np.array(stresses))
        found = von_mises(span.section(span.start), carried, constants, edge)
        out = found if out is None else ca.if_else(place < span.stop, found, out)
    return out


def _both(sigma: Any, tau: Any) -> Any:
    return (sigma**2 + 3 * tau**2) ** 0.5
