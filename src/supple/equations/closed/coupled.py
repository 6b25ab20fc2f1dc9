"""Robots with loops: the equations of motion in coordinates that the closures leave free.

The tree's coordinates z are q, independent, and followers w, which satisfy c(q, w) = 0. Newton's
method inside every evaluation finds w, so that nothing drifts. With z' = N q', N = [1; B],
B = -c_w^-1 c_q, and forces f = M z'' + h + g + D z' + K z of the tree,
    N' f(z, N q', N q'' + [0; w'' at q'' = 0]) = tau.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...architectures.coordinate_map import CoordinateMap
from ...kernels.scalars import ldl, ldl_solve
from ..evaluate import AnyEvaluator, casadi, evaluator_on_tape, slope
from ..functions import INPUTS, Functions, LoopFunctions
from .followers import DependentCoordinates, TreeRates
from .loops import Loops
from .slopes import force_slopes, rest_slopes
from .ties import TreeFunction

__all__ = ["ClosedFunctions", "led_from", "near_symbols", "project_to_independent"]

Array = NDArray[np.float64]
NEARER = 6  # steps of Newton's method from a place near the followers, before those of a round
# Functions put together from those of parts, see `slopes`
SLOPES = ("slopes", "hold")
# Functions that are evaluated at many states at a time
ON_TAPE = ("nearer", "followers", "led", "tip", "inverse_dynamics", "dissipation")
# Functions that call others: as one expression they would be far larger
CALLS = (*SLOPES, "derivatives")


class ClosedFunctions(LoopFunctions):
    """The equations of a robot with loops as CasADi functions of q.

    Parameters
    ----------
    loops
        Its tree and closures.
    near
        Expressions that its followers are looked for near.
    rounds
        Of Newton's method, see `Followers`.
    """

    plain = ("derivatives",)

    def __init__(self, loops: Loops, compile_: bool, near: Any = None, rounds: int = 1) -> None:
        super().__init__(compile_)
        self.loops = loops
        self.near = near
        # the slopes of small ones are expressions like all the others
        self.names = tuple(name for name in _INPUTS if not (loops.small and name in SLOPES))
        self.solved = DependentCoordinates(loops, rounds)

    def ends(self) -> Array:
        """Return B (N, N) of `forward_dynamics_ends`: coordinates as they are."""
        return np.eye(len(self.loops.independent))

    def symbol(self, word: str, size: int) -> Any:
        """Return a symbol that the functions can be called with."""
        ca = casadi()
        scalars = self.is_scalar_expression and self.near is not None
        return (ca.SX if scalars else ca.MX).sym(word, size)

    @property
    def is_scalar_expression(self) -> bool:
        """Whether functions are single expressions of scalars: small ones, and near such ones."""
        return self.loops.small or isinstance(self.near, casadi().SX)

    @property
    def guess_symbols(self) -> list[Any]:
        """The symbols near the followers that expressions are bound to."""
        return [] if self.near is None else [self.near]

    def with_guess(self, near: Any, rounds: int = 1) -> ClosedFunctions:
        """Return the functions whose followers are looked for near given ones, expressions."""
        return ClosedFunctions(self.loops, False, near, rounds)

    def alongside(self, other: Functions) -> Functions:
        """Return the functions whose followers are looked for near those of another Model."""
        if not isinstance(other, ClosedFunctions) or other.near is None:
            return self
        names_there = list(other.loops.named)
        places = [names_there.index(name) for name in self.loops.named]
        return self.with_guess(other.near[places], 2)

    def make(self, name: str) -> Any:
        """Return one function, its inputs by name; bound to `near` it is no more than a call."""
        ca = casadi()
        core = self.core(name)
        if self.near is not None:
            return lambda *given: core(*given, self.near)
        words = _INPUTS[name]
        x = [ca.MX.sym(word, core.size1_in(k)) for k, word in enumerate(words)]
        guess = self.cached("start", self.loops.start)(x[0])
        found = core.call([*x, ca.stop_diff(guess, 1)])
        outputs = [f"out{i}" for i in range(len(found))]
        return ca.Function(name, x, found, list(words), outputs)

    def evaluator(self, name: str, near: bool = False) -> AnyEvaluator:
        """Return the function of this name for arrays; near places it is often asked at many."""
        key = f"{name} near"
        if near and name in ON_TAPE and not self._compile and key not in self._made:
            self._made[key] = evaluator_on_tape(self.core(name), (0,) if name == "led" else ())
        return super().evaluator(name, near)

    def core(self, name: str) -> Any:
        """Return one function of its inputs and of a place near the followers."""
        key = ("core", name, self.solved.rounds, self.is_scalar_expression)
        if key not in self.loops.function_cache:
            ca = casadi()
            words = _INPUTS[name]
            n = len(self.loops.independent)
            sizes = {"q": n, "qd": n, "qdd": n, "tau": self.loops.motors, "wrench": 6}
            kind = ca.SX if self.is_scalar_expression and name not in CALLS else ca.MX
            x = {word: kind.sym(word, sizes[word]) for word in words}
            guess = kind.sym("w", len(self.loops.followers))
            dense = [ca.densify(out) for out in _outputs(self, name, x, guess)]
            self.loops.function_cache[key] = ca.Function(
                name,
                [*x.values(), guess],
                ca.cse(dense) if self.loops.small and kind is ca.SX else dense,
                [*words, "w"],
                [f"out{i}" for i in range(len(dense))],
            )
        return self.loops.function_cache[key]

    def tree_coordinates(self, q: Array, near: Array | None = None) -> tuple[Any, Array]:
        """Return the tree's Chain, and its coordinates z (.., Z) at states (.., N)."""
        z = np.concatenate([q, self.followers(q, near)], axis=-1)[..., self.loops.order]
        return self.loops.laws.chain, z

    @property
    def dependent_map(self) -> CoordinateMap:
        """What each coordinate is that loops or other joints determine."""
        return replace(self.loops.laws.chain, followers=self.loops.followers).dependent_map

    def followers(self, q: Array, near: Array | None = None) -> Array:
        """Return w (.., W) at states (.., N), by Newton's method from `near` if that is given."""
        flat = q.reshape(-1, q.shape[-1])
        if near is None:
            w = self.evaluator("followers")(flat)[0]
        else:
            w = near.reshape(len(flat), -1)
            newton_step = self.evaluator("nearer", near=True)
            for _ in range(NEARER):
                w = newton_step(flat, w)[0]
            w = self.evaluator("followers", near=True)(flat, w)[0]
        if not np.isfinite(w).all():
            raise self.open_at(self.loops.robot, q, w)
        return w.reshape(*q.shape[:-1], -1)

    def closing(
        self, motion: tuple[Any, Any, Any], wrench: Any, near: Any
    ) -> tuple[TreeRates, Any]:
        """Return the tree's motion under q, qd, qdd, and how each closure row pulls on it.

        No effort acts on followers: c_w' lambda = f_w, f all other forces.
        """
        q, qd, qdd = motion
        at, force, _ = _all_forces(self, {"q": q, "qd": qd, "wrench": wrench}, qdd, near)
        pulled = force[list(self.loops.followers)]
        return at, self.solved.closures["turned"](at.factors, pulled)

    # ------------------------------------------------------------------ motion and forces

    def tree(self, name: TreeFunction) -> Any:
        """Forces, mass or energies of the tree over z as a CasADi function."""
        if name not in self.loops.function_cache:
            self.loops.function_cache[name] = self.loops.tree(name)
        return self.loops.function_cache[name]

    @property
    def at_rest(self) -> tuple[TreeFunction, ...]:
        """Forces on the tree that depend on where it is alone, besides its weight."""
        return ("elastic", "dead_loads") if self.loops.laws.loads else ("elastic",)

    def _motion(self, q: Any, qd: Any, qdd: Any, near: Any) -> TreeRates:
        """The motion of the tree under one of q; qd or qdd None: zero."""
        ca = casadi()
        closures = self.solved.closures
        w, factors = self.solved.solve_dependent(q, near)
        U = closures["U"](q, w)  # c_q
        qd_or_zero = 0 * q if qd is None else qd
        qdd_or_zero = 0 * q if qdd is None else qdd

        # c_w w' = -U q',  c_w w'' = -(U q'' + c'' at q'' = w'' = 0)
        wd = 0 * w
        load = 0 * w
        if qd is not None:
            wd = -closures["solve"](factors, ca.mtimes(U, qd))
            load = load + closures["cdd"](q, w, qd, wd)
        if qdd is not None:
            load = load + ca.mtimes(U, qdd)
        moves = qd is not None or qdd is not None
        wdd = -closures["solve"](factors, load) if moves else load

        order = self.loops.order
        z = ca.vertcat(q, w)[order]
        zd = ca.vertcat(qd_or_zero, wd)[order]
        zdd = ca.vertcat(qdd_or_zero, wdd)[order]
        return TreeRates(z, zd, zdd, q, w, factors, U)

    def _down(self, at: TreeRates, force: Any) -> Any:
        """N' f on q of forces f on z."""
        part = self.solved.closures
        felt = part["turned"](at.factors, force[list(self.loops.followers)])
        return force[list(self.loops.independent)] - casadi().mtimes(at.U.T, felt)

    def _dependent_slopes(self, at: TreeRates) -> Any:
        """B = dw/dq."""
        ca = casadi()
        U = ca.densify(at.U)
        solve = self.solved.closures["solve"]
        columns = [solve(at.factors, U[:, k]) for k in range(U.size2())]
        return -ca.horzcat(*columns)

    def _onto(self, at: TreeRates, M: Any) -> Any:
        """N' M N of a matrix on z, with N = [1; B], B = dw/dq."""
        ca = casadi()
        B = self._dependent_slopes(at)
        free = list(self.loops.independent)
        dependent = list(self.loops.followers)
        cross = ca.mtimes(M[free, dependent], B)
        inner = ca.mtimes(B.T, ca.mtimes(M[dependent, dependent], B))
        return M[free, free] + cross + cross.T + inner


def led_from(f: ClosedFunctions, x: Array) -> ClosedFunctions:
    """Return the functions whose followers are led from a whole configuration (n + rods,)."""
    return ClosedFunctions(f.loops.led_from(x), f._compile, f.near, f.solved.rounds)


def near_symbols(model: Any, rounds: int = 1) -> tuple[Any, Any]:
    """Return a Model with expressions that look for followers near symbols, and these symbols.

    `rounds` of Newton's method as of `Followers`: none where its caller iterates.
    """
    functions = model.functions
    if not isinstance(functions, ClosedFunctions):
        return model, functions.symbol("near", 0)

    def make() -> tuple[Any, Any]:
        guess = functions.loops.symbol("near", len(functions.loops.followers))
        return replace(model, functions=functions.with_guess(guess, rounds)), guess

    found: tuple[Any, Any] = functions.cached(("bound", rounds), make)
    return found


def project_to_independent(f: ClosedFunctions, tree: Any) -> Any:
    """Return N' y of columns y(z, z', z'') on the tree as a CasADi function of q, qd and qdd."""
    ca = casadi()
    n = len(f.loops.independent)
    motion = [f.loops.symbol(word, n) for word in ("q", "qd", "qdd")]
    guess = f.loops.symbol("near", len(f.loops.followers))
    q, qd, qdd = motion
    at = f._motion(q, qd, qdd, guess)
    projected = [f._down(at, y) for y in ca.horzsplit(tree(at.z, at.zd, at.zdd))]
    core = ca.Function("core", [*motion, guess], [ca.horzcat(*projected)])

    x = [ca.MX.sym(word, n) for word in ("q", "qd", "qdd")]
    start = f.cached("start", f.loops.start)
    return ca.Function("freed", x, [core(*x, ca.stop_diff(start(x[0]), 1))])


def _solve_positive_definite(M: Any, b: Any) -> Any:
    """x with M x = b, M symmetric and positive definite."""
    ca = casadi()
    if not b.size2():
        return b
    if isinstance(M, ca.MX):
        return ca.solve(M, b, "qr")
    factors = ldl([list(ca.horzsplit(row)) for row in ca.vertsplit(ca.densify(M))])
    columns = [
        ldl_solve(factors, list(ca.vertsplit(ca.densify(b[:, k])))) for k in range(b.size2())
    ]
    return ca.horzcat(*(ca.vertcat(*column) for column in columns))


Given = dict[str, Any]


def _all_forces(f: ClosedFunctions, x: Given, qdd: Any, near: Any) -> tuple[TreeRates, Any, Any]:
    """The motion, all forces but the efforts on z, and those among them that take energy."""
    at = f._motion(x["q"], x["qd"], qdd, near)
    moved = (at.z, at.zd, at.zdd, f.loops.gravity)
    force = f.tree("loaded")(*moved, x["wrench"]) if "wrench" in x else f.tree("inverse")(*moved)
    lost = f.tree("lost")(at.z, at.zd)
    for name in f.at_rest:
        force = force + f.tree(name)(at.z)
    return at, force + lost, lost


def _outputs(f: ClosedFunctions, name: str, x: Given, near: Any) -> list[Any]:
    """What the function of this name gives, its inputs x by name."""
    if name == "derivatives":
        return _derivatives(f, x, near)
    if name == "slopes":
        at, force, _ = _all_forces(f, x, x["qdd"], near)
        return [*force_slopes(f, at, force), f._down(at, force)]
    if name == "hold":
        return rest_slopes(f, f._motion(x["q"], None, None, near))
    if "tau" in x or "qdd" in x:
        return _accelerations_or_forces(f, name, x, near)
    if name in ("closure", "followers", "nearer"):
        solved = DependentCoordinates(f.loops, 0) if name == "nearer" else f.solved
        w = solved.solve_dependent(x["q"], near)[0]
        return [solved.closures["all"](x["q"], w) if name == "closure" else w]
    at = f._motion(x["q"], x.get("qd"), None, near)
    if name == "led":
        return [f._dependent_slopes(at)]
    if name in ("mass_matrix", "stiffness"):
        return [f._onto(at, f.tree("mass" if name == "mass_matrix" else "stiffness")(at.z))]
    if name in ("bias", "gravity"):
        weight = f.loops.gravity if name == "gravity" else np.zeros(3)
        force = f.tree("inverse")(at.z, at.zd, at.zdd, weight)
        if name == "gravity" and f.loops.laws.loads:
            force = force + f.tree("dead_loads")(at.z)
        return [f._down(at, force)]
    if name == "elastic":
        return [f._down(at, f.tree("elastic")(at.z))]
    if name == "dissipation":
        return [f._down(at, f.tree("lost")(at.z, at.zd))]
    if name == "energies":
        return [f.tree("energies")(at.z, at.zd)]
    if name == "tip":
        return list(f.tree("tip")(at.z))
    return [at.zd[list(f.loops.followers)]]  # drift


def _accelerations_or_forces(f: ClosedFunctions, name: str, x: Given, near: Any) -> list[Any]:
    """Accelerations under efforts, or the forces of accelerations.

    `residual` and `rates`, what an implicit and an explicit step ask for, also give the power that
    is lost, and the followers, or their rates.
    """
    ca = casadi()
    at, force, lost = _all_forces(f, x, x.get("qdd"), near)
    if "tau" in x:
        motors = f.loops.motors
        efforts_on_tree = np.zeros((force.numel(), motors))
        efforts_on_tree[list(f.loops.independent[:motors]), range(motors)] = 1.0
        push = ca.mtimes(ca.sparsify(ca.DM(efforts_on_tree)), x["tau"]) - force
        found = _solve_positive_definite(f._onto(at, f.tree("mass")(at.z)), f._down(at, push))
    else:
        found = f._down(at, force)
    if not name.startswith(("residual", "rates")):
        return [found]
    power = ca.dot(at.zd, lost)
    return [found, power, at.w if name == "residual" else at.zd[list(f.loops.followers)]]


def _derivatives(f: ClosedFunctions, x: Given, near: Any) -> list[Any]:
    """By the derivatives of the forces: dq'' = M^-1 (dtau - d(M q'' + ..)) at constant q''."""
    ca = casadi()
    qdd = f.core("forward_dynamics")(*x.values(), near)
    state = (x["q"], x["qd"], qdd, near)
    if f.loops.small:
        by_q, by_qd = (slope(f.core("inverse_dynamics"), k)(*state) for k in (0, 1))
        M = f.core("mass_matrix")(x["q"], near)
    else:
        by_q, by_qd, M = f.core("slopes")(*state)[:3]
    by_tau = ca.DM(np.eye(qdd.numel())[:, : x["tau"].numel()])
    kind = type(M)
    slopes = [ca.densify(kind(part)) for part in (-by_q, -by_qd, by_tau)]
    return [_solve_positive_definite(M, part) for part in slopes]


_INPUTS: dict[str, tuple[str, ...]] = INPUTS | {
    "closure": ("q",),
    "followers": ("q",),
    "nearer": ("q",),
    "led": ("q",),
    "drift": ("q", "qd"),
    "slopes": ("q", "qd", "qdd"),
    "hold": ("q",),
    "residual": ("q", "qd", "qdd"),
    "rates": ("q", "qd", "tau"),
    "rates_loaded": ("q", "qd", "tau", "wrench"),
}
