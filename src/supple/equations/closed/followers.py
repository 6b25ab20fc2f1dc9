"""Followers: the coordinates w(q) that loops determine, as expressions.

Newton's method starts from a place near w that is handed in: in a run it is integrated beside the
states; otherwise it comes from the kind of ties. Linear equations in c_w are written out with the
zeros of its structure left out, so that legs which meet in one platform cost what they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.elimination import factorise
from ..evaluate import casadi
from .ties import ClosureEquations

__all__ = ["DependentCoordinates", "TreeRates", "entry"]

OPEN = 1e-9  # closure error at which the loops count as open


@dataclass(frozen=True)
class TreeRates:
    """A motion of the tree: z, z', z'' and what its followers were found with, U = c_q there."""

    z: Any
    zd: Any
    zdd: Any
    q: Any
    w: Any
    factors: Any
    U: Any


FEW_NODES = 1000  # of an expression in which equal parts are looked for; in more it takes too long


class DependentCoordinates:
    """w(q) of ties, with c(q, w) = 0.

    `rounds` of two steps each find it from nearby, the second with the first one's matrix, so that
    derivatives of first and second order pass through them as well. No round: one step; who asks
    comes back with what was found until it no longer moves. Forces are then those at w as found: at
    the place before, what loops do to the forces of links as they move would lag an iteration.
    """

    def __init__(self, ties: ClosureEquations, rounds: int = 1) -> None:
        self.ties, self.rounds = ties, rounds

    @property
    def closures(self) -> dict[str, Any]:
        """c, U = c_q, W = c_w, c'' at q'' = w'' = 0, and all rows, as SX functions.

        And `factors` of c_w, one vector, with which `solve` and `turned` give c_w^-1 b, c_w'^-1 b.
        """
        ca, ties = casadi(), self.ties
        if "closures" in ties.function_cache:
            found: dict[str, Any] = ties.function_cache["closures"]
            return found
        n, m = len(ties.kept), len(ties.followers)
        q, w, v, u, y = (ca.SX.sym(s, k) for s, k in zip("qwvuy", (n, m, n, m, m), strict=True))
        z = ca.vertcat(q, w)[ties.order]
        every, c = (
            ca.substitute(x, ties.symbols.z, z) for x in (ties.symbols.every, ties.symbols.c)
        )
        both, rate = ca.vertcat(q, w), ca.vertcat(v, u)
        second = ca.jtimes(ca.jtimes(c, both, rate), both, rate)
        W = ca.jacobian(c, w)
        entries: list[Any] = []
        there = factorise(
            [[entry(W, i, j) for j in range(m)] for i in range(m)],
            ca.if_else,
            lambda a, b: ca.fabs(a) > ca.fabs(b),
        )
        there.map_scalars(entries.append)
        kept = ca.SX.sym("f", len(entries))
        place = iter(range(len(entries)))
        again = there.map_scalars(lambda _: kept[next(place)])
        made = {
            "c": ([q, w], c),
            "U": ([q, w], ca.jacobian(c, q)),
            "W": ([q, w], W),
            "cdd": ([q, w, v, u], second),
            "all": ([q, w], every),
            "factors": ([q, w], ca.vertcat(*entries)),
            "solve": ([kept, y], ca.vertcat(*again.solve(ca.vertsplit(y)))),
            "turned": ([kept, y], ca.vertcat(*again.solve_transposed(ca.vertsplit(y)))),
        }
        found = {}
        for name, (x, out) in made.items():
            plain = ca.Function(name, x, [out])
            small = plain.n_nodes() < FEW_NODES
            found[name] = ca.Function(name, x, ca.cse([out])) if small else plain
        ties.function_cache["closures"] = found
        return found

    def solve_dependent(self, q: Any, near: Any) -> tuple[Any, Any]:
        """w and the factors of c_w there; NaN where the loops stay open after all rounds."""
        ca, part = casadi(), self.closures
        if not self.rounds:
            w = near - part["solve"](part["factors"](q, near), part["c"](q, near))
            return w, part["factors"](q, w)
        w = near
        for _ in range(self.rounds):
            there = part["factors"](q, w)
            for _ in range(2):
                w = w - part["solve"](there, part["c"](q, w))
        w = ca.if_else(ca.norm_inf(part["c"](q, w)) < OPEN, w, w + np.nan)
        return w, part["factors"](q, w)


def entry(A: Any, i: int, j: int) -> Any:
    """Return an entry of a sparse matrix; a structural zero is a float."""
    return A[i, j] if A.sparsity().has_nz(i, j) else 0.0
