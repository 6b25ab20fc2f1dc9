"""Followers: the coordinates w(q) that loops determine, as expressions.

Two steps of Newton's method start from a place near w that is handed in: in a run it is integrated
beside the states; otherwise w is followed in steps from the assembled pose.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..evaluate import casadi
from .loops import Loops

__all__ = ["Followers", "inverse"]

OPEN = 1e-9  # closure error at which the loops count as open
STEPS = (3, 24)  # from the assembled pose to one nearby, and to any other
NEARBY = 0.25  # rad or m


class Followers:
    """w(q) of loops, with c(q, w) = 0; `rounds` of two steps each find it from nearby."""

    def __init__(self, loops: Loops, rounds: int = 1) -> None:
        self.loops, self.rounds = loops, rounds

    @cached_property
    def closures(self) -> dict[str, Any]:
        """c(q, w), c_q, c_w, c'' at q'' = w'' = 0, and all rows, as SX functions."""
        ca = casadi()
        loops = self.loops
        n, m = len(loops.kept), len(loops.followers)
        q, w, qd, wd = (
            ca.SX.sym(s, k) for s, k in zip(("q", "w", "qd", "wd"), (n, m, n, m), strict=True)
        )
        z = ca.vertcat(q, w)[loops.order]
        whole = ca.substitute(loops.symbols.c, loops.symbols.z, z)
        c = whole[list(loops.rows)]
        both, rate = ca.vertcat(q, w), ca.vertcat(qd, wd)
        second = ca.jtimes(ca.jtimes(c, both, rate), both, rate)
        J = [ca.densify(ca.jacobian(c, q)), ca.densify(ca.jacobian(c, w))]
        return {
            "c": ca.Function("c", [q, w], ca.cse([c])),
            "J": ca.Function("J", [q, w], ca.cse(J)),
            "cdd": ca.Function("cdd", [q, w, qd, wd], ca.cse([second])),
            "all": ca.Function("all", [q, w], ca.cse([ca.densify(whole)])),
        }

    def near(self, q: Any, guess: Any) -> Any:
        """w by two steps of Newton's method, the second with the first one's matrix.

        So derivatives of first and second order pass through them as well.
        """
        ca = casadi()
        c = self.closures["c"]
        back = inverse(self.closures["J"](q, guess)[1])
        w = guess - ca.mtimes(back, c(q, guess))
        return w - ca.mtimes(back, c(q, w))

    def checked(self, q: Any, guess: Any) -> Any:
        """The same, NaN where the loops stay open."""
        ca = casadi()
        w = guess
        for _ in range(self.rounds):
            w = self.near(q, w)
        off = ca.norm_inf(self.closures["c"](q, w))
        return ca.if_else(off < OPEN, w, w + np.nan)

    @cached_property
    def follow(self) -> Any:
        """w(q) in steps from the assembled pose, q's motors taken to their nearest turn."""
        ca = casadi()
        loops, n, m = self.loops, len(self.loops.kept), len(self.loops.followers)
        kind = ca.SX if self.loops.small else ca.MX
        q, dq, w = kind.sym("q", n), kind.sym("dq", n), kind.sym("w", m)
        U, W = self.closures["J"](q, w)
        moved = w - ca.mtimes(inverse(W), ca.mtimes(U, dq))
        at = q + dq
        step = ca.Function("step", [ca.vertcat(q, w), dq], [ca.vertcat(at, self.near(at, moved))])
        first, follow = loops.z[list(loops.kept)], loops.z[list(loops.followers)]
        gap = ca.MX.sym("gap", n)
        walks = []
        for count in STEPS:
            walk = step.mapaccum("walk", count)
            there = walk(np.concatenate([first, follow]), ca.repmat(gap / count, 1, count))
            walks.append(ca.Function("walk", [gap], [there[n:, -1]]))
        short_or_long = ca.Function.if_else("short_or_long", *walks)
        given = ca.MX.sym("q", n)
        off = given - first
        turns = loops.turning
        for k in np.flatnonzero(turns):
            whole = turns[k] * ca.floor(off[int(k)] / turns[k] + 0.5)
            off = off - ca.DM(np.eye(n)[k]) * whole
        found = short_or_long(ca.norm_inf(off) < NEARBY, off)
        return ca.Function("follow", [given], [found])

    def followed(self, q: Any, guess: Any) -> tuple[Any, Any, Any]:
        """w, c_q and the inverse of c_w at q."""
        w = self.checked(q, guess)
        U, W = self.closures["J"](q, w)
        return w, U, inverse(W)


def inverse(A: Any) -> Any:
    """Return A^-1: written out, rows exchanged for the largest pivot, or by QR."""
    ca = casadi()
    n = A.size1()
    if isinstance(A, ca.MX):
        return ca.solve(A, ca.MX(ca.DM.eye(n)), "qr")
    rows = [
        list(ca.horzsplit(ca.densify(ca.horzcat(A[k, :], ca.SX(ca.DM.eye(n)[k, :])))))
        for k in range(n)
    ]
    for k in range(n):
        for i in range(k + 1, n):
            larger = ca.fabs(rows[i][k]) > ca.fabs(rows[k][k])
            pairs = list(zip(rows[k], rows[i], strict=True))
            rows[k] = [ca.if_else(larger, b, a) for a, b in pairs]
            rows[i] = [ca.if_else(larger, a, b) for a, b in pairs]
        pivot = 1 / rows[k][k]
        rows[k] = [x * pivot for x in rows[k]]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return ca.vertcat(*(ca.horzcat(*row[n:]) for row in rows))
