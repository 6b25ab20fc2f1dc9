"""What the closures of a mechanism leave free at a pose, and which of their rows repeat others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .tree import Tree

__all__ = ["mobility", "redundancy"]

Array = NDArray[np.float64]


def redundancy(m: Tree, x: Array) -> list[tuple[str, int, int]]:
    """Return (closure, its rows, those among them that repeat what others hold) at one pose x."""
    _, J = m.openings(x[None])
    independent_rows = np.zeros((0, x.size))
    out = []
    at = 0
    for loop in m.loops:
        before = len(independent_rows)
        for row in J[0][at : at + loop.rows]:
            left = row - independent_rows.T @ (independent_rows @ row)
            left -= independent_rows.T @ (independent_rows @ left)
            if np.linalg.norm(left) > 1e-8:
                independent_rows = np.vstack([independent_rows, left / np.linalg.norm(left)])
        out.append((loop.name, loop.rows, loop.rows - (len(independent_rows) - before)))
        at += loop.rows
    return out


def mobility(m: Tree, x: Array) -> tuple[int, int]:
    """Return at one pose how many motions the closures leave, in all and with the motors held."""
    _, J = m.openings(x[None])
    passive_columns = J[0][:, m.joints.passive]
    rank = [
        int(np.linalg.matrix_rank(A, tol=1e-8)) if A.size else 0 for A in (J[0], passive_columns)
    ]
    return x.size - rank[0], len(m.joints.passive) - rank[1]
