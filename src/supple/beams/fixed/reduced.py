"""Finite elements of one link as Shapes: all of them, or reduced after Craig and Bampton."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from ...errors import SuppleError
from ..shapes import PLANES, LinkShapes
from ..theory import AnyBeam
from .assumed import natural_shapes
from .elements import mesh

__all__ = ["element_shapes"]

Array = NDArray[np.float64]
# The components of the end's motion that each kind of shape moves.
_ENDS = {kind: row[:2] for kind, row in PLANES.items()} | {"axial": (0,), "torsion": (3,)}


def element_shapes(
    beam: AnyBeam,
    n: int,
    order: str,
    modes: int | None = None,
    carries: tuple[float, ...] = (),
) -> LinkShapes:
    """Return the shape functions of n elements on a link, with nodes where it `carries` something.

    With `modes` each deformation is reduced to the static shapes of unit end motions and its
    lowest natural shapes with the end held; the static answer to end loads stays exact. Motions
    that carry no mass and leave the end alone (twist of a link without polar inertia, say) have no
    dynamics: they follow the others at once and are no coordinates of their own.

    Source: [CraigBampton1968].
    """
    net = mesh(beam, n, order, carries=carries)
    # The fields of a mesh as Legendre series on each element; interpolation is exact here
    degree = max(net.element.bending, net.element.rod) + 1
    t, weights = legendre.leggauss(degree + 1)
    breaks = net.nodes
    x = (breaks[:-1, None] + breaks[1:, None]) / 2 + np.diff(breaks)[:, None] / 2 * t
    values = net.field(x.ravel()).reshape(len(breaks) - 1, degree + 1, 6, net.size)
    project = (
        (2 * np.arange(degree + 1) + 1)[:, None] / 2 * legendre.legvander(t, degree).T * weights
    )
    # What each coordinate of a mesh does, from the motion it gives somewhere along the link
    moves = np.abs(net.field(net.quadrature()[0])).max(axis=0)
    which = {"axial": moves[0], "torsion": moves[3], "xy": moves[1] + moves[5]}
    does = []
    for j in range(net.size):
        kind = max(which, key=lambda name: which[name][j])
        does.append(kind if which[kind][j] > 0 else "xz")
    shapes = LinkShapes(breaks, np.einsum("pt,etfk->efkp", project, values), tuple(does))
    inert = beam.at([beam.L / 2])[0, 7:] > 0
    turns = zip(inert, (*beam.deforms.kGA, beam.deforms.GJ), strict=True)
    massless = any(deforms and not has for has, deforms in turns)
    if modes is None and not massless:
        return shapes
    blocks = []
    kinds = []
    for kind, rows in _ENDS.items():
        columns = np.array([j for j, name in enumerate(shapes.kinds) if name == kind], int)
        if len(columns):
            square = np.ix_(columns, columns)
            M = net.mass[6:, 6:][square]
            K = net.stiffness[square]
            end = net.end[list(rows)][:, columns]
            T = _with_mass(M, K, end) if massless else np.eye(len(columns))
            if modes is not None:
                lost = len(columns) - T.shape[1]
                few = min(modes, T.shape[1] - len(rows)) if lost else modes
                T = T @ _craig_bampton_shapes(T.T @ M @ T, T.T @ K @ T, end @ T, few, kind)
            block = np.zeros((shapes.count, T.shape[1]))
            block[columns] = T
            blocks.append(block)
            kinds += [kind] * T.shape[1]
    return shapes.combine(np.hstack(blocks), tuple(kinds))


def _with_mass(M: Array, K: Array, end: Array) -> Array:
    """Coordinates (m, new) without the massless motions that leave the end alone.

    Of those, Z with M Z = 0 and end Z = 0, what is left is orthogonal in K: Z' K T = 0.
    """
    from scipy.linalg import null_space

    d = 1 / np.sqrt(np.diag(K))
    scaled = M * np.outer(d, d)
    free_motions = null_space(
        np.vstack([scaled / np.abs(scaled).max(initial=1e-300), end * d]), 1e-12
    )
    if not free_motions.shape[1]:
        return np.eye(len(d))
    T: Array = d[:, None] * null_space(free_motions.T @ (K * np.outer(d, d)))
    return T


def _craig_bampton_shapes(M: Array, K: Array, end: Array, modes: int, kind: str) -> Array:
    """Static shapes of unit end motions, then natural shapes with the end held, (m, new)."""
    from scipy.linalg import null_space

    clamped = null_space(end)
    if modes > clamped.shape[1]:
        raise SuppleError(
            f"modes is {modes}: these elements have {clamped.shape[1]} coordinates in {kind} "
            "with the end held; ask for fewer modes or give more elements"
        )
    soft = np.linalg.solve(K, end.T)
    static = soft @ np.linalg.inv(end @ soft)
    if not modes:
        return static
    natural = clamped @ natural_shapes(clamped.T @ M @ clamped, clamped.T @ K @ clamped, modes, 1.0)
    return np.hstack([static, natural])
