"""Mechanisms with loops: the equations of motion in coordinates that the closures leave free.

The tree's coordinates z are q, independent, and followers w, which satisfy c(q, w) = 0. Newton's
method inside every evaluation finds w, so that nothing drifts. With z' = N q', N = [1; B],
B = -c_w^-1 c_q, and forces f = M z'' + h + g + D z' + K z of the tree,
    N' f(z, N q', N q'' + [0; w'' at q'' = 0]) = tau.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...kernels.scalars import ldl, ldl_solve
from ..chains.forces import dissipation, elastic, held_together, strain
from ..evaluate import casadi, slope
from ..functions import Functions, LoopFunctions
from .followers import Followers
from .loops import Loops

__all__ = ["ClosedFunctions"]

Array = NDArray[np.float64]


class ClosedFunctions(LoopFunctions):
    """The equations of a mechanism with loops as CasADi functions of q.

    Args:
        loops: its tree and closures.
    """

    plain = ("derivatives",)

    def __init__(self, loops: Loops, compile_: bool, near: Any = None, rounds: int = 1) -> None:
        super().__init__(compile_)
        self.loops, self.names, self.near = loops, tuple(_MAKERS), near
        self.solved = Followers(loops, rounds)

    def ends(self) -> Array:
        """Return B (N, N) of `forward_dynamics_ends`: coordinates as they are."""
        return np.eye(len(self.loops.kept))

    def symbol(self, word: str, size: int) -> Any:
        """Return a symbol that the functions can be called with."""
        ca = casadi()
        written = self.loops.small and self.near is not None
        return (ca.SX if written else ca.MX).sym(word, size)

    def beside(self, near: Any, rounds: int = 1) -> ClosedFunctions:
        """Return the functions whose followers are looked for near given ones, expressions."""
        return ClosedFunctions(self.loops, False, near, rounds)

    def alongside(self, other: Functions) -> Functions:
        """Return the functions whose followers are looked for near those of another Model."""
        if not isinstance(other, ClosedFunctions) or other.near is None:
            return self
        named = [other.loops.laws.chain.names[k] for k in other.loops.followers]
        mine = [self.loops.laws.chain.names[k] for k in self.loops.followers]
        return self.beside(other.near[[named.index(name) for name in mine]], 2)

    def make(self, name: str) -> Any:
        """Return one function, its inputs by name; bound to `near` it is no more than a call."""
        ca = casadi()
        core = self.core(name)
        if self.near is not None:
            return lambda *given: core(*given, self.near)
        words = _MAKERS[name][0]
        x = [ca.MX.sym(word, core.size1_in(k)) for k, word in enumerate(words)]
        found = core.call([*x, ca.stop_diff(self.solved.follow(x[0]), 1)])
        outputs = [f"out{i}" for i in range(len(found))]
        return ca.Function(name, x, found, list(words), outputs)

    def core(self, name: str) -> Any:
        """Return one function of its inputs and of a place near the followers."""
        return self.derived(("core", name), lambda: self._core(name))

    def _core(self, name: str) -> Any:
        ca = casadi()
        words, outputs = _MAKERS[name]
        n, joints = len(self.loops.kept), len(self.loops.laws.chain.motors)
        sizes = {"q": n, "qd": n, "qdd": n, "tau": joints, "wrench": 6}
        kind = ca.SX if self.loops.small else ca.MX
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

    def _whole(self, q: Any, w: Any) -> Any:
        """z of q and its followers."""
        ca = casadi()
        return ca.vertcat(q, w)[self.loops.order]

    def spread(self, q: Array) -> tuple[Any, Array]:
        """Return the tree's Chain, and its coordinates z (.., Z) at states (.., N)."""
        flat = q.reshape(-1, q.shape[-1])
        w = self.evaluator("followers")(flat)[0]
        if not np.isfinite(w).all():
            raise SuppleError(self.not_finite.format(name=self.loops.robot.name))
        z = np.concatenate([flat, w], axis=1)[:, self.loops.order]
        return self.loops.laws.chain, z.reshape(*q.shape[:-1], -1)

    # ------------------------------------------------------------------ forces of the tree

    def tree(self, name: str) -> Any:
        """Forces, mass or energies of the tree over z as an SX function."""
        return self.derived(("tree", name), lambda: self._tree(name))

    def _tree(self, name: str) -> Any:
        ca = casadi()
        given, laws, symbols = self.loops.laws, self.loops.symbols.laws, self.loops.symbols
        n, z = laws.chain.size, symbols.z
        zd, zdd, g, wrench = (ca.SX.sym(s, k) for s, k in (("v", n), ("a", n), ("g", 3), ("F", 6)))
        x, v, a, weight = (ca.vertsplit(part) for part in (z, zd, zdd, g))
        inputs = {
            "inverse": [z, zd, zdd, g],
            "loaded": [z, zd, zdd, g, wrench],
            "lost": [z, zd],
            "energies": [z, zd],
        }.get(name, [z])
        if name in ("inverse", "loaded"):
            load = ca.vertsplit(wrench) if name == "loaded" else None
            found = [_column(laws.inverse(x, v, a, weight, load))]
        elif name == "mass":
            found = [ca.densify(ca.vertcat(*(ca.horzcat(*row) for row in laws.mass(x))))]
        elif name == "elastic":
            found = [_column(elastic(given, x))]
        elif name == "lost":
            found = [_column(dissipation(given, x, v))]
        elif name == "energies":
            momentum = _column(laws.inverse(x, [0.0] * n, v, [0.0] * 3))
            found = [_column([ca.dot(momentum, zd) / 2, strain(given, x), laws.height(x)])]
        else:
            p, R = laws.tip(x)
            found = [_column(p), ca.densify(ca.vertcat(*(ca.horzcat(*row) for row in R)))]
        return ca.Function(name, inputs, ca.cse(found))

    def motion(self, q: Any, qd: Any, qdd: Any, near: Any) -> tuple[Any, Any, Any, Any]:
        """z, z', z'' and B = dw/dq."""
        ca = casadi()
        w, U, inverse = self.solved.followed(q, near)
        B = -ca.mtimes(inverse, U)
        wd = ca.mtimes(B, qd)
        bent = ca.mtimes(inverse, self.solved.closures["cdd"](q, w, qd, wd))
        wdd = ca.mtimes(B, qdd) - bent
        return self._whole(q, w), self._whole(qd, wd), self._whole(qdd, wdd), B

    def _down(self, B: Any, force: Any) -> Any:
        """N' f on q of forces f on z."""
        ca = casadi()
        return force[list(self.loops.kept)] + ca.mtimes(B.T, force[list(self.loops.followers)])

    def _onto(self, z: Any, B: Any) -> Any:
        """N' M N at z."""
        ca = casadi()
        M = self.tree("mass")(z)
        a, b = list(self.loops.kept), list(self.loops.followers)
        cross = ca.mtimes(M[a, b], B)
        return M[a, a] + cross + cross.T + ca.mtimes(B.T, ca.mtimes(M[b, b], B))

    @property
    def gravity(self) -> Array:
        """(3,) acceleration of gravity, base axes."""
        return np.asarray(self.loops.laws.chain.gravity, float)


def _column(values: list[Any]) -> Any:
    ca = casadi()
    return ca.densify(ca.vertcat(*[ca.SX(value) for value in values]))


def _solved(M: Any, b: Any) -> Any:
    """x with M x = b, M symmetric and positive definite."""
    ca = casadi()
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
    return [f._onto(z, B)]


def _bias(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, zd, zdd, B = f.motion(x["q"], x["qd"], _still(x), near)
    return [f._down(B, f.tree("inverse")(z, zd, zdd, np.zeros(3)))]


def _gravity(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, zd, zdd, B = f.motion(x["q"], _still(x), _still(x), near)
    return [f._down(B, f.tree("inverse")(z, zd, zdd, f.gravity))]


def _all_forces(f: ClosedFunctions, x: Given, qdd: Any, near: Any) -> tuple[Any, Any, Any]:
    """All forces but the efforts on q, z and B."""
    z, zd, zdd, B = f.motion(x["q"], x["qd"], qdd, near)
    if "wrench" in x:
        force = f.tree("loaded")(z, zd, zdd, f.gravity, x["wrench"])
    else:
        force = f.tree("inverse")(z, zd, zdd, f.gravity)
    return f._down(B, force + f.tree("elastic")(z) + f.tree("lost")(z, zd)), z, B


def _inverse_dynamics(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return [_all_forces(f, x, x["qdd"], near)[0]]


def _forward(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    ca = casadi()
    force, z, B = _all_forces(f, x, _still(x), near)
    push = ca.vertcat(x["tau"], ca.DM.zeros(force.numel() - x["tau"].numel())) - force
    return [_solved(f._onto(z, B), push)]


def _elastic(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, _, _, B = f.motion(x["q"], _still(x), _still(x), near)
    return [f._down(B, f.tree("elastic")(z))]


def _dissipation(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, zd, _, B = f.motion(x["q"], x["qd"], _still(x), near)
    return [f._down(B, f.tree("lost")(z, zd))]


def _stiffness(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    ca = casadi()
    B = f.motion(x["q"], _still(x), _still(x), near)[3]
    K = ca.DM(np.array(held_together(f.loops.laws), float))
    a, b = list(f.loops.kept), list(f.loops.followers)
    mixed = ca.mtimes(K[a, b], B)
    return [K[a, a] + mixed + mixed.T + ca.mtimes(B.T, ca.mtimes(K[b, b], B))]


def _energies(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    z, zd, _, _ = f.motion(x["q"], x["qd"], _still(x), near)
    return [f.tree("energies")(z, zd)]


def _tip(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return list(f.tree("tip")(f._whole(x["q"], f.solved.checked(x["q"], near))))


def _closure(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return [f.solved.closures["all"](x["q"], f.solved.checked(x["q"], near))]


def _followers(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return [f.solved.checked(x["q"], near)]


def _drift(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    ca = casadi()
    _, U, inverse = f.solved.followed(x["q"], near)
    return [-ca.mtimes(inverse, ca.mtimes(U, x["qd"]))]


def _derivatives(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    """By the derivatives of the forces: dq'' = M^-1 (dtau - d(M q'' + ..)), q'' held."""
    ca = casadi()
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
