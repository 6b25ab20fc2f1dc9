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
FEW_NODES = 1000  # of an expression in which equal parts are looked for; in more it takes too long


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


class DependentCoordinates:
    """w(q) of ties, with c(q, w) = 0.

    `rounds` of two steps each find it from nearby, the second with the first one's matrix, so that
    derivatives of first and second order pass through them as well. No round: one step; who asks
    comes back with what was found until it no longer moves. Forces are then those at w as found: at
    the place before, what loops do to the forces of links as they move would lag an iteration.
    """

    def __init__(self, ties: ClosureEquations, rounds: int = 1) -> None:
        self.ties = ties
        self.rounds = rounds

    @property
    def closures(self) -> dict[str, Any]:
        """c, U = c_q, W = c_w, c'' at q'' = w'' = 0, and all rows, as SX functions.

        And `factors` of c_w, one vector, with which `solve` and `turned` give c_w^-1 b, c_w'^-1 b.
        """
        ca = casadi()
        ties = self.ties
        if "closures" in ties.function_cache:
            found: dict[str, Any] = ties.function_cache["closures"]
            return found
        n = len(ties.independent)
        m = len(ties.followers)
        q = ca.SX.sym("q", n)
        w = ca.SX.sym("w", m)
        qd = ca.SX.sym("v", n)
        wd = ca.SX.sym("u", m)
        right_side = ca.SX.sym("y", m)

        # c and all rows over (q, w), and their rates along (q', w')
        z = ca.vertcat(q, w)[ties.order]
        c = ca.substitute(ties.symbols.c, ties.symbols.z, z)
        every = ca.substitute(ties.symbols.every, ties.symbols.z, z)
        both = ca.vertcat(q, w)
        rate = ca.vertcat(qd, wd)
        second = ca.jtimes(ca.jtimes(c, both, rate), both, rate)

        # The elimination of c_w, its scalars as one vector that `solve` and `turned` take
        W = ca.jacobian(c, w)
        entries = [[entry(W, i, j) for j in range(m)] for i in range(m)]
        eliminated = factorise(entries, ca.if_else, lambda a, b: ca.fabs(a) > ca.fabs(b))
        scalars: list[Any] = []
        eliminated.map_scalars(scalars.append)
        given = ca.SX.sym("f", len(scalars))
        place = iter(range(len(scalars)))
        factors = eliminated.map_scalars(lambda _: given[next(place)])
        solution = factors.solve(ca.vertsplit(right_side))
        transposed_solution = factors.solve_transposed(ca.vertsplit(right_side))

        expressions = {
            "c": ([q, w], c),
            "U": ([q, w], ca.jacobian(c, q)),
            "W": ([q, w], W),
            "cdd": ([q, w, qd, wd], second),
            "all": ([q, w], every),
            "factors": ([q, w], ca.vertcat(*scalars)),
            "solve": ([given, right_side], ca.vertcat(*solution)),
            "turned": ([given, right_side], ca.vertcat(*transposed_solution)),
        }
        found = {}
        for name, (inputs, out) in expressions.items():
            plain = ca.Function(name, inputs, [out])
            small = plain.n_nodes() < FEW_NODES
            found[name] = ca.Function(name, inputs, ca.cse([out])) if small else plain
        ties.function_cache["closures"] = found
        return found

    def solve_dependent(self, q: Any, near: Any) -> tuple[Any, Any]:
        """w and the factors of c_w there; NaN where the loops stay open after all rounds."""
        ca = casadi()
        closures = self.closures
        factorise_at = closures["factors"]
        solve = closures["solve"]
        error = closures["c"]
        if not self.rounds:
            w = near - solve(factorise_at(q, near), error(q, near))
            return w, factorise_at(q, w)
        w = near
        for _ in range(self.rounds):
            factors = factorise_at(q, w)
            for _ in range(2):
                w = w - solve(factors, error(q, w))
        closed = ca.norm_inf(error(q, w)) < OPEN
        w = ca.if_else(closed, w, w + np.nan)
        return w, factorise_at(q, w)


def entry(A: Any, i: int, j: int) -> Any:
    """Return an entry of a sparse matrix; a structural zero is a float."""
    return A[i, j] if A.sparsity().has_nz(i, j) else 0.0
