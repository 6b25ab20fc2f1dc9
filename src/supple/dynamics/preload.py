"""Forces of a rigid motion inside a Structure: what every root carries, and the axial forces.

Newton-Euler from the ends to the roots; the forces in the closures are those that leave the loose
motions f without load: Q_f + A_f' lambda = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..assembly import transport
from ..kernels.jets import Jet, transposed
from ..structure import MovingStructure
from .moving_beams import CarriedLink, Rates

__all__ = ["Motions", "axial_forces", "carried"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Motions:
    """How the links move with y at B instants: u_root and u_end of each segment, (B, 6, N) Jets.

    Attributes:
        loose: motion of each root per unit of the loose coordinates f, (B, 6, Nf), own axes.
        closing: A_f (B, c, Nf) of A_f f + A_y y = 0, or None without closures.
    """

    root: tuple[Jet, ...]
    end: tuple[Jet, ...]
    loose: tuple[Jet, ...]
    closing: Jet | None


def carried(
    links: Sequence[CarriedLink], moving: MovingStructure, motions: Motions, rates: Sequence[Rates]
) -> list[Array]:
    """Return force and moment that each segment's root carries, (B, 6), segment axes."""
    own = [-link.load(*rate)[:, :6] for link, rate in zip(links, rates, strict=True)]
    total = [w.copy() for w in own]
    if motions.closing is not None:
        pairs = zip(motions.loose, own, strict=True)
        Q = np.sum([np.einsum("bif,bi->bf", f.value, -w) for f, w in pairs], axis=0)
        force = np.linalg.solve(transposed(motions.closing.value), -Q[..., None])
        _take_off(moving, force, total)
    for i in reversed(range(len(total))):
        if (j := moving.structure.segments[i].parent) >= 0:
            T, X = moving.structure.T[:, i], transport(float(moving.structure.L[0, j]))
            total[j] += np.einsum("bij,bi->bj", T @ X, total[i])
    return total


def _take_off(moving: MovingStructure, force: Array, total: list[Array]) -> None:
    """Take what the closures give to the ends off what the roots must carry."""
    at = 0
    for closure in moving.closures:
        part = force[:, at : at + closure.rows_a.shape[1]]
        for i, rows in ((closure.a, closure.rows_a), (closure.b, closure.rows_b)):
            X = transport(float(moving.structure.L[0, i]))
            total[i] -= (transposed(rows.value @ X) @ part)[..., 0]
        at += part.shape[1]


def axial_forces(
    links: Sequence[CarriedLink], rates: Sequence[Rates], roots: Sequence[Array]
) -> list[Array]:
    """Return N_0, N_1, N_2 of N(x) = N_0 + N_1 x + N_2 x^2 in every segment, (B, 3), tension > 0.

    N_0 = -(what the root carries beyond its own bodies) and N' = m (a_x - g_x - (w_y^2 + w_z^2) x).
    """
    out = []
    for link, (a, w, _), root in zip(links, rates, roots, strict=True):
        spin = -(w[:, 1] ** 2 + w[:, 2] ** 2)
        start = -(root[:, 0] - link.root_body * a[:, 0])
        out.append(np.stack([start, link.density * a[:, 0], link.density * spin / 2], axis=1))
    return out
