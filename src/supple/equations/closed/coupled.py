"""Mechanisms with loops: the equations of motion in coordinates that the closures leave free.

The tree's coordinates z are q, independent, and followers w, which satisfy c(q, w) = 0. Newton's
method inside every evaluation finds w, so that nothing drifts. With z' = N q', N = [1; B],
B = -c_w^-1 c_q, and forces f = M z'' + h + g + D z' + K z of the tree,
    N' f(z, N q', N q'' + [0; w'' at q'' = 0]) = tau.

Two steps of Newton's method start from a place near w that is handed in: in a run it is integrated
beside the states; otherwise w is followed in steps from the assembled pose.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.scalars import ldl, ldl_solve
from ..evaluate import slope
from ..forces import dissipation, elastic
from ..functions import Functions
from .closures import closure_rows
from .loops import Loops

__all__ = ["ClosedFunctions"]

Array = NDArray[np.float64]
OPEN = 1e-9  # closure error at which the loops count as open
STEPS = 24  # from the assembled pose to any other
SMALL = 8  # followers up to which the linear equations are written out


class ClosedFunctions(Functions):
    """The equations of a mechanism with loops as CasADi functions of q.

    Args:
        loops: its tree and closures.
    """

    closed = True
    plain = ("derivatives",)

    def __init__(self, loops: Loops, compile_: bool, near: Any = None) -> None:
        super().__init__(compile_)
        self.loops, self.names, self.near = loops, tuple(_MAKERS), near

    @property
    def small(self) -> bool:
        """Whether functions are scalar expressions throughout."""
        return len(self.loops.followers) <= SMALL

    def ends(self) -> Array:
        """Return B (N, N) of `forward_dynamics_ends`: coordinates as they are."""
        return np.eye(len(self.loops.kept))

    def symbol(self, word: str, size: int) -> Any:
        """Return a symbol that the functions can be called with."""
        import casadi as ca

        written = self.small and self.near is not None
        return (ca.SX if written else ca.MX).sym(word, size)

    def beside(self, near: Any) -> ClosedFunctions:
        """Return the functions whose followers are looked for near given ones, expressions."""
        return ClosedFunctions(self.loops, False, near)

    def make(self, name: str) -> Any:
        """Return one function, its inputs by name; bound to `near` it is no more than a call."""
        import casadi as ca

        core = self.core(name)
        if self.near is not None:
            return lambda *given: core(*given, self.near)
        words = _MAKERS[name][0]
        x = [ca.MX.sym(word, core.size1_in(k)) for k, word in enumerate(words)]
        found = core.call([*x, ca.stop_diff(self.follow(x[0]), 1)])
        outputs = [f"out{i}" for i in range(len(found))]
        return ca.Function(name, x, found, list(words), outputs)

    def core(self, name: str) -> Any:
        """Return one function of its inputs and of a place near the followers."""
        return self.derived(("core", name), lambda: self._core(name))

    def _core(self, name: str) -> Any:
        import casadi as ca

        words, outputs = _MAKERS[name]
        n, joints = len(self.loops.kept), len(self.loops.laws.chain.motors)
        sizes = {"q": n, "qd": n, "qdd": n, "tau": joints, "wrench": 6}
        kind = ca.SX if self.small else ca.MX
        x = {word: kind.sym(word, sizes[word]) for word in words}
        near = kind.sym("w", len(self.loops.followers))
        dense = [ca.densify(out) for out in outputs(self, x, near)]
        return ca.Function(
            name,
            [*x.values(), near],
            ca.cse(dense),
            [*words, "w"],
            [f"out{i}" for i in range(len(dense))],
        )

    # ------------------------------------------------------------------ what follows from q

    @cached_property
    def closures(self) -> dict[str, Any]:
        """c(q, w), c_q, c_w, c'' at q'' = w'' = 0, and all rows, as SX functions."""
        import casadi as ca

        loops = self.loops
        n, m = len(loops.kept), len(loops.followers)
        q, w, qd, wd = (
            ca.SX.sym(s, k) for s, k in zip(("q", "w", "qd", "wd"), (n, m, n, m), strict=True)
        )
        z = ca.vertcat(q, w)[loops.order]
        every = closure_rows(loops.robot, loops.laws, ca.vertsplit(z))
        whole = ca.vertcat(*[ca.SX(row) for rows in every for row in rows])
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

    def closed_near(self, q: Any, near: Any) -> Any:
        """w by two steps of Newton's method, the second with the first one's matrix.

        So derivatives of first and second order pass through them as well.
        """
        import casadi as ca

        c = self.closures["c"]
        inverse = _inverse(self.closures["J"](q, near)[1])
        w = near - ca.mtimes(inverse, c(q, near))
        return w - ca.mtimes(inverse, c(q, w))

    def checked(self, q: Any, near: Any) -> Any:
        """The same, NaN where the loops stay open."""
        import casadi as ca

        w = self.closed_near(q, near)
        off = ca.norm_inf(self.closures["c"](q, w))
        return ca.if_else(off < OPEN, w, w + np.nan)

    @cached_property
    def follow(self) -> Any:
        """w(q) in steps from the assembled pose, q's motors taken to their nearest turn."""
        import casadi as ca

        loops, n, m = self.loops, len(self.loops.kept), len(self.loops.followers)
        kind = ca.SX if self.small else ca.MX
        q, dq, w = kind.sym("q", n), kind.sym("dq", n), kind.sym("w", m)
        U, W = self.closures["J"](q, w)
        moved = w - ca.mtimes(_inverse(W), ca.mtimes(U, dq))
        at = q + dq
        w_next = self.closed_near(at, self.closed_near(at, moved))
        step = ca.Function("step", [ca.vertcat(q, w), dq], [ca.vertcat(at, w_next)])
        first, follow = loops.z[list(loops.kept)], loops.z[list(loops.followers)]
        given = ca.MX.sym("q", n)
        gap = given - first
        turns = loops.turning
        for k in np.flatnonzero(turns):
            whole = turns[k] * ca.floor(gap[int(k)] / turns[k] + 0.5)
            gap = gap - ca.DM(np.eye(n)[k]) * whole
        walk = step.mapaccum("walk", STEPS)
        there = walk(np.concatenate([first, follow]), ca.repmat(gap / STEPS, 1, STEPS))[n:, -1]
        return ca.Function("follow", [given], [there])

    def followed(self, q: Any, near: Any) -> tuple[Any, Any, Any]:
        """w, c_q and the inverse of c_w at q."""
        w = self.checked(q, near)
        U, W = self.closures["J"](q, w)
        return w, U, _inverse(W)

    def whole(self, q: Any, w: Any) -> Any:
        """z of q and its followers."""
        import casadi as ca

        return ca.vertcat(q, w)[self.loops.order]

    def spread(self, q: Array) -> tuple[Any, Array]:
        """The tree's Chain, and its coordinates z (.., Z) at states (.., N)."""
        flat = q.reshape(-1, q.shape[-1])
        w = self.evaluator("followers")(flat)[0]
        z = np.concatenate([flat, w], axis=1)[:, self.loops.order]
        return self.loops.laws.chain, z.reshape(*q.shape[:-1], -1)

    # ------------------------------------------------------------------ forces of the tree

    @cached_property
    def tree(self) -> dict[str, Any]:
        """Forces, mass and energies of the tree over z as SX functions."""
        import casadi as ca

        laws, n = self.loops.laws, self.loops.laws.chain.size
        z, zd, zdd = (ca.SX.sym(word, n) for word in ("z", "zd", "zdd"))
        g, wrench = ca.SX.sym("g", 3), ca.SX.sym("wrench", 6)
        x, v, a = (ca.vertsplit(part) for part in (z, zd, zdd))
        column = lambda values: ca.densify(ca.vertcat(*[ca.SX(value) for value in values]))  # noqa: E731
        moved = laws.inverse(x, v, a, ca.vertsplit(g))
        loaded = laws.inverse(x, v, a, ca.vertsplit(g), ca.vertsplit(wrench))
        M = ca.vertcat(*(ca.horzcat(*row) for row in laws.mass(x)))
        momentum = laws.inverse(x, [0.0] * n, v, [0.0] * 3)
        bent = laws.energies(x, v)[1]
        energies = [ca.dot(column(momentum), zd) / 2, bent, laws.height(x)]
        p, R = laws.tip(x)
        axes = ca.vertcat(*(ca.horzcat(*row) for row in R))
        return {
            "inverse": ca.Function("f", [z, zd, zdd, g], ca.cse([column(moved)])),
            "loaded": ca.Function("f", [z, zd, zdd, g, wrench], ca.cse([column(loaded)])),
            "mass": ca.Function("m", [z], ca.cse([ca.densify(M)])),
            "elastic": ca.Function("k", [z], [column(elastic(laws, x))]),
            "lost": ca.Function("d", [z, zd], [column(dissipation(laws, x, v))]),
            "energies": ca.Function("e", [z, zd], ca.cse([column(energies)])),
            "tip": ca.Function("tip", [z], ca.cse([column(p), ca.densify(axes)])),
        }

    def motion(self, q: Any, qd: Any, qdd: Any, near: Any) -> tuple[Any, Any, Any, Any]:
        """z, z', z'' and B = dw/dq."""
        import casadi as ca

        w, U, inverse = self.followed(q, near)
        B = -ca.mtimes(inverse, U)
        wd = ca.mtimes(B, qd)
        bent = ca.mtimes(inverse, self.closures["cdd"](q, w, qd, wd))
        wdd = ca.mtimes(B, qdd) - bent
        return self.whole(q, w), self.whole(qd, wd), self.whole(qdd, wdd), B

    def down(self, B: Any, force: Any) -> Any:
        """N' f on q of forces f on z."""
        import casadi as ca

        return force[list(self.loops.kept)] + ca.mtimes(B.T, force[list(self.loops.followers)])

    def onto(self, z: Any, B: Any) -> Any:
        """N' M N at z."""
        import casadi as ca

        M = self.tree["mass"](z)
        a, b = list(self.loops.kept), list(self.loops.followers)
        cross = ca.mtimes(M[a, b], B)
        return M[a, a] + cross + cross.T + ca.mtimes(B.T, ca.mtimes(M[b, b], B))

    @property
    def gravity(self) -> Array:
        """(3,) acceleration of gravity, base axes."""
        return np.asarray(self.loops.laws.chain.gravity, float)


def _inverse(A: Any) -> Any:
    """A^-1: written out with rows exchanged for the largest pivot, or by a QR factorisation."""
    import casadi as ca

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


def _solved(M: Any, b: Any) -> Any:
    """x with M x = b, M symmetric and positive definite."""
    import casadi as ca

    if isinstance(M, ca.MX):
        return ca.solve(M, b, "qr")
    factors = ldl([list(ca.horzsplit(row)) for row in ca.vertsplit(ca.densify(M))])
    columns = [
        ldl_solve(factors, list(ca.vertsplit(ca.densify(b[:, k])))) for k in range(b.size2())
    ]
    return ca.horzcat(*(ca.vertcat(*column) for column in columns))


Given = dict[str, Any]


def _still(x: Given) -> Any:
    return 0 * x["q"]


def _mass(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, _, _, B = f.motion(x["q"], _still(x), _still(x), near)
    return [f.onto(z, B)]


def _bias(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, zd, zdd, B = f.motion(x["q"], x["qd"], _still(x), near)
    return [f.down(B, f.tree["inverse"](z, zd, zdd, np.zeros(3)))]


def _gravity(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, zd, zdd, B = f.motion(x["q"], _still(x), _still(x), near)
    return [f.down(B, f.tree["inverse"](z, zd, zdd, f.gravity))]


def _all_forces(f: ClosedFunctions, x: Given, qdd: Any, near: Any) -> tuple[Any, Any, Any]:
    """All forces but the efforts on q, z and B."""
    z, zd, zdd, B = f.motion(x["q"], x["qd"], qdd, near)
    if "wrench" in x:
        force = f.tree["loaded"](z, zd, zdd, f.gravity, x["wrench"])
    else:
        force = f.tree["inverse"](z, zd, zdd, f.gravity)
    return f.down(B, force + f.tree["elastic"](z) + f.tree["lost"](z, zd)), z, B


def _inverse_dynamics(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return [_all_forces(f, x, x["qdd"], near)[0]]


def _forward(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    import casadi as ca

    force, z, B = _all_forces(f, x, _still(x), near)
    push = ca.vertcat(x["tau"], ca.DM.zeros(force.numel() - x["tau"].numel())) - force
    return [_solved(f.onto(z, B), push)]


def _elastic(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, _, _, B = f.motion(x["q"], _still(x), _still(x), near)
    return [f.down(B, f.tree["elastic"](z))]


def _dissipation(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, zd, _, B = f.motion(x["q"], x["qd"], _still(x), near)
    return [f.down(B, f.tree["lost"](z, zd))]


def _stiffness(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    import casadi as ca

    B = f.motion(x["q"], _still(x), _still(x), near)[3]
    K = ca.DM(np.array(f.loops.laws.K, float))
    a, b = list(f.loops.kept), list(f.loops.followers)
    mixed = ca.mtimes(K[a, b], B)
    return [K[a, a] + mixed + mixed.T + ca.mtimes(B.T, ca.mtimes(K[b, b], B))]


def _energies(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, zd, _, _ = f.motion(x["q"], x["qd"], _still(x), near)
    return [f.tree["energies"](z, zd)]


def _tip(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return list(f.tree["tip"](f.whole(x["q"], f.checked(x["q"], near))))


def _closure(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return [f.closures["all"](x["q"], f.checked(x["q"], near))]


def _followers(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return [f.checked(x["q"], near)]


def _drift(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    import casadi as ca

    _, U, inverse = f.followed(x["q"], near)
    return [-ca.mtimes(inverse, ca.mtimes(U, x["qd"]))]


def _derivatives(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    """By the derivatives of the forces: dq'' = M^-1 (dtau - d(M q'' + ..)), q'' held."""
    import casadi as ca

    qdd = f.core("forward_dynamics")(*x.values(), near)
    state = (x["q"], x["qd"], qdd, near)
    by_q, by_qd = (slope(f.core("inverse_dynamics"), k)(*state) for k in (0, 1))
    lead = np.eye(qdd.numel())[:, : x["tau"].numel()]
    M = f.core("mass_matrix")(x["q"], near)
    kind = type(M)
    return [_solved(M, ca.densify(kind(part))) for part in (-by_q, -by_qd, ca.DM(lead))]


_MAKERS: dict[str, tuple[tuple[str, ...], Callable[[ClosedFunctions, Given, Any], list[Any]]]] = {
    "mass_matrix": (("q",), _mass),
    "bias": (("q", "qd"), _bias),
    "gravity": (("q",), _gravity),
    "forward_dynamics": (("q", "qd", "tau"), _forward),
    "forward_dynamics_loaded": (("q", "qd", "tau", "wrench"), _forward),
    "forward_dynamics_ends": (("q", "qd", "tau"), _forward),
    "inverse_dynamics": (("q", "qd", "qdd"), _inverse_dynamics),
    "elastic": (("q",), _elastic),
    "dissipation": (("q", "qd"), _dissipation),
    "stiffness": (("q",), _stiffness),
    "energies": (("q", "qd"), _energies),
    "tip": (("q",), _tip),
    "closure": (("q",), _closure),
    "followers": (("q",), _followers),
    "drift": (("q", "qd"), _drift),
    "derivatives": (("q", "qd", "tau"), _derivatives),
}
