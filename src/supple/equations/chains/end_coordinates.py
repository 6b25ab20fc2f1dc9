"""End coordinates: a link's elastic coordinates turned so that the end's motion is among them.

The forward dynamics of a chain is cheapest when the slope and the deflection of a link's end are
coordinates of their own: what the next link does then meets unit columns, and the slope's pivot is
a constant. The change is linear and constant, zeta = B eta, and only `ChainEquations` knows of it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...beams.shapes import PLANES
from .chain import ChainLink

__all__ = ["end_coordinates"]

Array = NDArray[np.float64]
MAX_CONDITION = 1e6  # of the change of coordinates; beyond it the given ones stay
# Rows of the end's displacement and rotation that each kind of shape moves; rotations first.
_ROWS: dict[str, tuple[tuple[str, int], ...]] = {
    **{kind: (("Psi", psi - 3), ("N", v)) for kind, (v, psi, _) in PLANES.items()},
    "axial": (("N", 0),),
    "torsion": (("Psi", 0),),
}


def end_coordinates(link: ChainLink) -> tuple[ChainLink, Array, Array]:
    """Return the link in coordinates zeta = B eta, with B and its inverse A."""
    k = link.inv.count + (link.slide is not None)
    B = np.eye(k)
    if link.shapes is None or link.slide is not None:
        return link, B, B

    # In place of the shapes that tell the end's motions apart best, these motions themselves
    for kind, rows in _ROWS.items():
        members = [j for j, name in enumerate(link.shapes.kinds) if name == kind]
        ends = {"N": link.inv.N_end[:, : len(B)], "Psi": link.inv.Psi_end}
        wanted = np.array([ends[name][row] for name, row in rows])[: len(members)]
        if members:
            choices = list(combinations(members, len(wanted)))
            determinants = [abs(np.linalg.det(wanted[:, choice])) for choice in choices]
            replaced = list(choices[int(np.argmax(determinants))])
            B[replaced] = wanted
    if np.linalg.cond(B) > MAX_CONDITION:
        B = np.eye(k)
    A: Array = np.linalg.inv(B).astype(float)

    # z(eta) = wide z(zeta): A on the coordinates, its products on theirs
    inv = link.inv
    pairs = inv.pairs
    n = k + len(pairs)
    wide = np.zeros((n, n))
    wide[:k, :k] = A
    for row, (j, l) in enumerate(pairs):
        for column, (a, b) in enumerate(pairs):
            value = A[j, a] * A[l, b]
            wide[k + row, k + column] = value if a == b else value + A[j, b] * A[l, a]

    # The link's integrals with eta = A zeta; zeros and ones of the end's motions as they are meant
    N_end = inv.N_end @ wide
    Psi_end = inv.Psi_end @ A
    for matrix in (N_end[:, : len(A)], Psi_end):
        matrix[np.abs(matrix) < 1e-9] = 0.0
        matrix[np.abs(matrix - 1) < 1e-9] = 1.0
    turned = replace(
        inv,
        P=inv.P @ wide,
        X=inv.X @ wide,
        G=np.einsum("ki,abkl,lj->abij", wide, inv.G, wide),
        JPsi=inv.JPsi @ A,
        PsiJPsi=A.T @ inv.PsiJPsi @ A,
        N_end=N_end,
        Psi_end=Psi_end,
    )
    stations = tuple((x, N @ wide, Psi @ A) for x, N, Psi in link.stations)
    return replace(link, inv=turned, stations=stations), B, A
