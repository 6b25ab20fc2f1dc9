"""Robots with loops: the equations of motion in coordinates that the closures leave free.

The tree's coordinates z are q, independent, and followers w, which satisfy c(q, w) = 0. Newton's
method inside every evaluation finds w, so that nothing drifts. With z' = N q', N = [1; B],
B = -c_w^-1 c_q, and forces f = M z'' + h + g + D z' + K z of the tree,
    N' f(z, N q', N q'' + [0; w'' at q'' = 0]) = tau.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...kernels.scalars import ldl, ldl_solve
from ..evaluate import casadi, slope
from ..functions import Functions, LoopFunctions
from .followers import Followers
from .ties import Ties, Tree

__all__ = ["ClosedFunctions"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Moving:
    """A motion of the tree: z, z', z'' and what its followers were found with."""

    z: Any
    zd: Any
    zdd: Any
    q: Any
    w: Any
    factors: Any


class ClosedFunctions(LoopFunctions):
    """The equations of a robot with loops as CasADi functions of q.

    Args:
        loops: its tree and closures.  near: expressions that its followers are looked for near.
        rounds: of Newton's method, see `Followers`.
    """

    plain = ("derivatives",)

    def __init__(self, loops: Ties, compile_: bool, near: Any = None, rounds: int = 1) -> None:
        super().__init__(compile_)
        self.loops, self.names, self.near = loops, tuple(_MAKERS), near
        self.solved = Followers(loops, rounds)

    def ends(self) -> Array:
        """Return B (N, N) of `forward_dynamics_ends`: coordinates as they are."""
        return np.eye(len(self.loops.kept))

    def symbol(self, word: str, size: int) -> Any:
        """Return a symbol that the functions can be called with."""
        ca = casadi()
        return (ca.SX if self.loops.small and self.near is not None else ca.MX).sym(word, size)

    def beside(self, near: Any, rounds: int = 1) -> ClosedFunctions:
        """Return the functions whose followers are looked for near given ones, expressions."""
        return ClosedFunctions(self.loops, False, near, rounds)

    def alongside(self, other: Functions) -> Functions:
        """Return the functions whose followers are looked for near those of another Model."""
        if not isinstance(other, ClosedFunctions) or other.near is None:
            return self
        named, mine = (list(functions.loops.named) for functions in (other, self))
        return self.beside(other.near[[named.index(name) for name in mine]], 2)

    def make(self, name: str) -> Any:
        """Return one function, its inputs by name; bound to `near` it is no more than a call."""
        ca = casadi()
        core = self.core(name)
        if self.near is not None:
            return lambda *given: core(*given, self.near)
        words = _MAKERS[name][0]
        x = [ca.MX.sym(word, core.size1_in(k)) for k, word in enumerate(words)]
        near = self.derived("start", self.loops.start)(x[0])
        found = core.call([*x, ca.stop_diff(near, 1)])
        outputs = [f"out{i}" for i in range(len(found))]
        return ca.Function(name, x, found, list(words), outputs)

    def core(self, name: str) -> Any:
        """Return one function of its inputs and of a place near the followers."""
        return self.derived(("core", name), lambda: self._core(name))

    def _core(self, name: str) -> Any:
        ca = casadi()
        words, outputs = _MAKERS[name]
        n = len(self.loops.kept)
        sizes = {"q": n, "qd": n, "qdd": n, "tau": self.loops.motors, "wrench": 6}
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

    def spread(self, q: Array) -> tuple[Any, Array]:
        """Return the tree's Chain, and its coordinates z (.., Z) at states (.., N)."""
        return self.loops.book(q, self.followers)

    def followers(self, q: Array) -> Array:
        """Return w (.., W) at states (.., N)."""
        flat = q.reshape(-1, q.shape[-1])
        w = self.evaluator("followers")(flat)[0]
        if not np.isfinite(w).all():
            raise SuppleError(self.not_finite.format(name=self.loops.name))
        return w.reshape(*q.shape[:-1], -1)

    def closing(self, motion: tuple[Any, Any, Any], wrench: Any, near: Any) -> tuple[Moving, Any]:
        """Return the tree's motion under q, qd, qdd, and how each closure row pulls on it.

        No effort acts on followers: c_w' lambda = f_w, f all other forces.
        """
        q, qd, qdd = motion
        at, force = _all_forces(self, {"q": q, "qd": qd, "wrench": wrench}, qdd, near)
        pulled = force[list(self.loops.followers)]
        return at, self.solved.closures["turned"](at.factors, pulled)

    # ------------------------------------------------------------------ motion and forces

    def tree(self, name: Tree) -> Any:
        """Forces, mass or energies of the tree over z as an SX function."""
        return self.derived(("tree", name), lambda: self.loops.tree(name))

    def _motion(self, q: Any, qd: Any, qdd: Any, near: Any) -> Moving:
        """The motion of the tree under one of q; qd or qdd None: zero."""
        ca, part = casadi(), self.solved.closures
        w, there = self.solved.followed(q, near)
        still, wd, load = 0 * q, 0 * w, 0 * w
        if qd is not None:
            wd = -part["solve"](there, part["push"](q, w, qd))
            load = load + part["cdd"](q, w, qd, wd)
        if qdd is not None:
            load = load + part["push"](q, w, qdd)
        wdd = load if qd is None and qdd is None else -part["solve"](there, load)
        pairs = ((q, w), (still if qd is None else qd, wd), (still if qdd is None else qdd, wdd))
        z, zd, zdd = (ca.vertcat(*pair)[self.loops.order] for pair in pairs)
        return Moving(z, zd, zdd, q, w, there)

    def _down(self, at: Moving, force: Any) -> Any:
        """N' f on q of forces f on z."""
        part = self.solved.closures
        felt = part["turned"](at.factors, force[list(self.loops.followers)])
        return force[list(self.loops.kept)] - part["pull"](at.q, at.w, felt)

    def _onto(self, at: Moving, M: Any) -> Any:
        """N' M N of a matrix on z, with N = [1; B], B = dw/dq."""
        ca, part = casadi(), self.solved.closures
        U = ca.densify(part["U"](at.q, at.w))
        B = -ca.horzcat(*(part["solve"](at.factors, U[:, k]) for k in range(U.size2())))
        a, b = list(self.loops.kept), list(self.loops.followers)
        cross = ca.mtimes(M[a, b], B)
        return M[a, a] + cross + cross.T + ca.mtimes(B.T, ca.mtimes(M[b, b], B))

    def _accelerated(self, at: Moving, push: Any) -> Any:
        """q'' under forces `push` on z that are all but M z'' at q'' = 0."""
        return _solved(self._onto(at, self.tree("mass")(at.z)), self._down(at, push))


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


def _mass(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    at = f._motion(x["q"], None, None, near)
    return [f._onto(at, f.tree("mass")(at.z))]


def _bias(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    at = f._motion(x["q"], x["qd"], None, near)
    return [f._down(at, f.tree("inverse")(at.z, at.zd, at.zdd, np.zeros(3)))]


def _gravity(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    at = f._motion(x["q"], None, None, near)
    return [f._down(at, f.tree("inverse")(at.z, at.zd, at.zdd, f.loops.gravity))]


def _all_forces(f: ClosedFunctions, x: Given, qdd: Any, near: Any) -> tuple[Moving, Any]:
    """The motion, and all forces but the efforts on z."""
    at = f._motion(x["q"], x["qd"], qdd, near)
    moved = (at.z, at.zd, at.zdd, f.loops.gravity)
    force = f.tree("loaded")(*moved, x["wrench"]) if "wrench" in x else f.tree("inverse")(*moved)
    return at, force + f.tree("elastic")(at.z) + f.tree("lost")(at.z, at.zd)


def _inverse_dynamics(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return [f._down(*_all_forces(f, x, x["qdd"], near))]


def _forward(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    at, force = _all_forces(f, x, None, near)
    return [f._accelerated(at, _pushed(f, x["tau"], force))]


def _pushed(f: ClosedFunctions, tau: Any, force: Any) -> Any:
    """Efforts on z less all other forces."""
    ca, lead = casadi(), np.zeros((force.numel(), f.loops.motors))
    lead[list(f.loops.kept[: f.loops.motors]), range(f.loops.motors)] = 1.0
    return ca.mtimes(ca.sparsify(ca.DM(lead)), tau) - force


def _residual(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    """All forces, the power that is lost, and the followers: what an implicit step asks for."""
    at, force = _all_forces(f, x, x["qdd"], near)
    power = casadi().dot(at.zd, f.tree("lost")(at.z, at.zd))
    return [f._down(at, force), power, at.w]


def _rates(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    """Accelerations, the power that is lost, rates of the followers: for an explicit step."""
    at, force = _all_forces(f, x, None, near)
    power = casadi().dot(at.zd, f.tree("lost")(at.z, at.zd))
    return [f._accelerated(at, _pushed(f, x["tau"], force)), power, at.zd[list(f.loops.followers)]]


def _elastic(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    at = f._motion(x["q"], None, None, near)
    return [f._down(at, f.tree("elastic")(at.z))]


def _dissipation(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    at = f._motion(x["q"], x["qd"], None, near)
    return [f._down(at, f.tree("lost")(at.z, at.zd))]


def _stiffness(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    at = f._motion(x["q"], None, None, near)
    return [f._onto(at, f.tree("stiffness")(at.z))]


def _energies(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    at = f._motion(x["q"], x["qd"], None, near)
    return [f.tree("energies")(at.z, at.zd)]


def _tip(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return list(f.tree("tip")(f._motion(x["q"], None, None, near).z))


def _closure(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return [f.solved.closures["all"](x["q"], f.solved.followed(x["q"], near)[0])]


def _followers(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    return [f.solved.followed(x["q"], near)[0]]


def _drift(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    at = f._motion(x["q"], x["qd"], None, near)
    return [at.zd[list(f.loops.followers)]]


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
    "residual": (("q", "qd", "qdd"), _residual),
    "rates": (("q", "qd", "tau"), _rates),
    "rates_loaded": (("q", "qd", "tau", "wrench"), _rates),
}
