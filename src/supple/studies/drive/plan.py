"""Which move is best: rest to rest in the least time, or the gentlest in a given one.

The equations of motion are met at the collocation points of Gauss and Legendre (two a piece, order
4), efforts are constant on each piece, and IPOPT finds states, efforts and duration together. The
move begins and ends in equilibrium, bending included, so that nothing is left to ring. It is
started from the move that the arm would make if its links were rigid. What follows from loops is
found beside the states: their closures are met at every point, and the forces are those there.

Source: [Biegler2010] for direct collocation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.held import Held, Timed
from ...architectures.kinds import architecture_of
from ...arguments import checked, number, optional, reals, shown, whole
from ...control.shaping import Samples
from ...control.trajectories import LAWS
from ...equations.closed.coupled import ClosedFunctions
from ...equations.equilibrium import static_state
from ...equations.model import Model, a_model
from ...errors import SuppleError
from .plan_trial import PlanTrial, deflection_rows, plan_trial, stress_rows

__all__ = ["Plan", "plan"]

Array = NDArray[np.float64]
NODES = (0.5 - np.sqrt(3) / 6, 0.5 + np.sqrt(3) / 6)
A = ((0.25, 0.25 - np.sqrt(3) / 6), (0.25 + np.sqrt(3) / 6, 0.25))


@dataclass(frozen=True, eq=False)
class Plan(Timed, Held):
    """A planned move from rest to rest.

    Attributes:
        model: what it was planned on.
        t: (N + 1,) s.  q, qd: (N + 1, size) states there.  tau: (N, joints) efforts, constant
        between.
        duration: s.  objective: "time" or "effort".
        iterations: of the solver.
        limits: what was to be kept: effort and speed, (joints,) each, infinite where there is
        none; deflection, m, and stress, Pa, None where there is none.
    """

    model: Model
    t: Array
    q: Array
    qd: Array
    tau: Array
    objective: str
    iterations: int
    limits: Mapping[str, Any]

    @cached_property
    def trajectory(self) -> Samples:
        """The joints' motion as a Trajectory, for a controller."""
        return Samples(self.t, self.q[:, : self.model.joints])

    def tried(self, finer: Model | None = None) -> PlanTrial:
        """Return the move on a finer Model: the efforts planned, and its joints held to the move.

        They are held by a PD loop as fast as the lowest mode. `finer`: the same robot under more
        modes or elements; default: two assumed modes per link more than this Model has.
        """
        return plan_trial(self.model, self.trajectory, self.tau, self.limits, finer)

    def __repr__(self) -> str:
        return (
            f"<Plan of {self.model.robot.name}: {self.duration:.5g} s, least {self.objective}, "
            f"{len(self.tau)} pieces>"
        )


@checked(
    model=a_model,
    start=reals,
    end=reals,
    duration=optional(number(0, 1e6, above=True, give="seconds, or none for the fastest move")),
    effort_limit=optional(reals),
    speed_limit=optional(reals),
    deflection_limit=optional(number(0, above=True, give="metres above zero")),
    stress_limit=optional(number(0, above=True, give="pascals above zero")),
    pieces=whole(4, 1000),
    iterations=whole(1, 100_000),
)
def plan(  # noqa: PLR0913 - every limit of a move
    model: Model,
    start: ArrayLike,
    end: ArrayLike,
    duration: float | None = None,
    *,
    effort_limit: float | Sequence[float] | None = None,
    speed_limit: float | Sequence[float] | None = None,
    deflection_limit: float | None = None,
    stress_limit: float | None = None,
    pieces: int = 60,
    iterations: int = 500,
) -> Plan:
    """Return a move from rest at `start` to rest at `end`, planned on the model.

    Args:
        model: the Model; few modes are enough, check the move on a finer one. Loops may be closed,
        and what swings freely is at rest at the end as well.
        start, end: joint coordinates.
        duration: s; the move with the least effort that takes so long. Without it, the fastest.
        effort_limit: one value or one for each joint; the joints' own unless given. The fastest
        move needs one.
        speed_limit: of the joints, likewise.
        deflection_limit: m, of the tip of every link relative to its root.
        stress_limit: Pa, of bending and stretch at the outer fibres of every link that has a
        material and a section, at its root, middle and end.
        pieces: on which efforts are constant.
        iterations: of IPOPT, at most.
    """
    if not model.joints:
        raise SuppleError(f"no joint of {model.robot.name} moves: plan is for arms whose joints do")
    task = _Task(model, pieces)
    ends = [np.asarray(static_state(model, theta), float) for theta in (start, end)]
    effort = _limit("effort_limit", effort_limit, model, "effort_limit")
    speed = _limit("speed_limit", speed_limit, model, "speed_limit")
    if duration is None and not np.isfinite(effort).all():
        raise SuppleError("the fastest move needs effort_limit: without it there is none")
    rows = [*deflection_rows(model, deflection_limit), *stress_rows(model, stress_limit)]
    bent = np.array(rows).reshape(-1, model.size)
    limits = {"effort": effort, "speed": speed, "deflection": deflection_limit}
    limits["stress"] = stress_limit
    _need_rest(model, ends, effort, bent)
    guess = _rigid_time(model, ends, effort, speed) if duration is None else float(duration)
    return task.solved(ends, duration, guess, limits, bent, iterations)


def _limit(name: str, given: Any, model: Model, own: str) -> Array:
    k = model.joints
    if given is None:
        found = [getattr(motor, own, None) for motor in model.motors]
        return np.array([np.inf if value is None else float(value) for value in found])
    limit = np.asarray(given, float)
    if limit.shape not in ((), (k,)) or not (limit > 0).all():
        told = f"{name} is {shown(given)}"
        raise SuppleError(f"{told}: give a positive value, or one for each of {k}")
    return np.broadcast_to(limit, (k,)).astype(float)


def _rigid_time(model: Model, ends: list[Array], effort: Array, speed: Array) -> float:
    """How long the move takes if nothing bends: full effort there and back, joint by joint."""
    k = model.joints
    move = np.abs(ends[1][:k] - ends[0][:k])
    if not move.any():
        raise SuppleError("start and end are the same: there is no move to plan")
    zero = np.zeros(model.size)
    held = max(np.abs(model.inverse_dynamics(q, zero, zero)[:k] / effort).max() for q in ends)
    inertia = np.diag(model.mass_matrix(ends[0]))[:k]
    times = 2 * np.sqrt(inertia * move / (effort * (1 - held)))
    return float(max(times.max(), (move / speed).max()))


def _need_rest(model: Model, ends: list[Array], effort: Array, bent: Array) -> None:
    """Say so where the arm cannot even stand at the ends of the move."""
    zero = np.zeros(model.size)
    for word, q in zip(("start", "end"), ends, strict=True):
        held = np.abs(model.inverse_dynamics(q, zero, zero)[: model.joints]) / effort
        if held.max() >= 1:
            raise SuppleError(
                f"effort_limit cannot hold the arm at rest at the {word} of the move: joint "
                f"{int(np.argmax(held)) + 1} needs {held.max():.3g} times as much"
            )
        if len(bent) and np.abs(bent @ q).max() >= 1:
            raise SuppleError(
                f"the sag at the {word} of the move is {np.abs(bent @ q).max():.3g} times "
                "deflection_limit or stress_limit already: raise it"
            )


def _gathered(shape: tuple[int, int], rows: Any, columns: Any, values: Any) -> Any:
    """A sparse matrix of entries at rows and columns; those at one place add up."""
    import casadi as ca

    at = np.concatenate(
        [c.ravel() * shape[0] + r.ravel() for r, c in zip(rows, columns, strict=True)]
    )
    place, which = np.unique(at, return_inverse=True)
    found = ca.Sparsity.triplet(*shape, (place % shape[0]).tolist(), (place // shape[0]).tolist())
    add = ca.Sparsity.triplet(len(place), len(at), which.tolist(), list(range(len(at))))
    return ca.MX(found, ca.densify(ca.mtimes(ca.DM(add, 1.0), values)))


def _tied(f: ClosedFunctions, motion: Any, u: Any, beside: Any, inertia: Array) -> Any:
    """What is left of closures, their rates, and forces, over the inertia of q.

    Beside q are its followers w, w', w'' and the pulls l of the closures' rows:
    c = c' = c'' = 0, f_q - c_q' l = tau, f_w - c_w' l = 0.
    """
    import casadi as ca

    (q, qd, qdd), loops, part = motion, f.loops, f.solved.closures
    w, wd, wdd, pull = ca.vertsplit(beside, len(loops.followers))
    pairs = ((q, w), (qd, wd), (qdd, wdd))
    z, zd, zdd = (ca.vertcat(*pair)[loops.order] for pair in pairs)
    force = f.tree("inverse")(z, zd, zdd, loops.gravity)
    force = force + f.tree("elastic")(z) + f.tree("lost")(z, zd)
    U, W = part["U"](q, w), part["W"](q, w)
    held = force[list(loops.kept)] - ca.mtimes(U.T, pull)
    effort = ca.vertcat(u, ca.DM.zeros(len(loops.kept) - loops.motors))
    return ca.vertcat(
        part["c"](q, w),
        ca.mtimes(U, qd) + ca.mtimes(W, wd),
        ca.mtimes(U, qdd) + ca.mtimes(W, wdd) + part["cdd"](q, w, qd, wd),
        (held - effort) / inertia,
        force[list(loops.followers)] - ca.mtimes(W.T, pull),
    )


def _check(stats: dict[str, Any], duration: float | None, limits: dict[str, Any]) -> None:
    if stats["success"] or stats["return_status"] == "Solved_To_Acceptable_Level":
        return
    kept = [
        word
        for word, limit in limits.items()
        if limit is not None and np.isfinite(np.asarray(limit, float)).any()
    ]
    told = f" ({', '.join(kept)})" if kept else ""
    if stats["return_status"] == "Infeasible_Problem_Detected":
        hint = (
            f"{duration:g} s are too short for the limits{told}"
            if duration is not None
            else f"the limits{told} allow no move"
        )
        raise SuppleError(f"no such move exists: {hint}; give more time, effort or deflection")
    raise SuppleError(
        f"no move was found ({stats['return_status'].replace('_', ' ').lower()} after "
        f"{stats['iter_count']} steps) under the limits{told}: give other limits, pieces, or "
        "iterations"
    )


class _Task:
    """The collocation problem of one Model."""

    def __init__(self, model: Model, pieces: int) -> None:
        import casadi as ca

        self.model, self.N = model, pieces
        n, k = model.size, model.joints
        self.loops = model.functions if isinstance(model.functions, ClosedFunctions) else None
        self.beside = 0 if self.loops is None else 4 * len(self.loops.loops.followers)
        kind: Any = ca.SX if self.loops is None or self.loops.loops.small else ca.MX
        x, u, T = kind.sym("x", 2 * n), kind.sym("u", k), kind.sym("T")
        h = T / pieces
        stages = [kind.sym(f"k{i}", 2 * n) for i in range(2)]
        follow = [kind.sym(f"w{i}", self.beside) for i in range(2)]
        rows, inertia = [], np.diag(model.mass_matrix(model.chain.pose()))
        for i, (stage, w) in enumerate(zip(stages, follow, strict=True)):
            inside = x + h * sum(A[i][j] * stages[j] for j in range(2))
            q, qd = inside[:n], inside[n:]
            if self.loops is None:
                qdd = model.functions.expression("forward_dynamics")(q, qd, u)
                rows.append(stage - ca.vertcat(qd, qdd))
            else:
                motion = (q, qd, stage[n:])
                rows += [stage[:n] - qd, _tied(self.loops, motion, u, w, inertia)]
        self.count = sum(row.numel() for row in rows)
        y = ca.vertcat(x, *stages, *follow, u, T)
        g = ca.vertcat(*rows, -x - h / 2 * (stages[0] + stages[1]))
        self.value = ca.Function("value", [y], [g])
        by_y = [ca.jacobian(g, y)]
        # of scalars a search for equal parts takes longer than hundreds of evaluations gain by it
        self.slope = ca.Function("slope", [y], by_y if kind is ca.SX else ca.cse(by_y))
        self.curve: Any = None
        if kind is ca.SX:  # else IPOPT gathers it from the slopes it has seen
            pull = kind.sym("l", g.numel())
            curve = ca.triu(ca.hessian(ca.dot(pull, g), y)[0])
            self.curve = ca.Function("curve", [y, pull], [curve])
        # Places of each piece's numbers among all: states, stages, what is beside them, efforts, T
        sizes = (2 * n, 2 * n, self.beside, self.beside, k)
        starts = np.cumsum([0, 2 * n * (pieces + 1), *(size * pieces for size in sizes)]).tolist()
        self.size = starts[-1] + 1
        each = [2 * n, *sizes]
        at = [
            a + size * i + np.arange(size)
            for i in range(pieces)
            for a, size in zip(starts[:-1], each, strict=True)
        ]
        last = np.full((pieces, 1), self.size - 1)
        self.places = np.hstack([np.concatenate(at).reshape(pieces, -1), last])

    def _beside(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, beside): followers, their rates and the pulls of closures along a motion."""
        import casadi as ca

        f = self.loops
        if f is None:
            return np.zeros((len(q), 0))
        n, m = self.model.size, self.beside // 4
        x = [f.loops.symbol(word, size) for word, size in zip("qvaw", (n, n, n, m), strict=True)]
        at, pull = f.closing((x[0], x[1], x[2]), np.zeros(6), x[3])
        places = list(f.loops.followers)
        found = ca.vertcat(at.w, at.zd[places], at.zdd[places], pull)
        branch = architecture_of(self.model.robot).branch(q[:, : self.model.joints])
        kept = branch.x.shape[1] > 0 and branch.reached == len(q)
        w = f.followers(q, f.loops.near(branch.x) if kept else None)
        return np.array(ca.Function("beside", x, [found]).map(len(q))(q.T, qd.T, qdd.T, w.T)).T

    def solved(
        self,
        ends: list[Array],
        duration: float | None,
        guess: float,
        limits: dict[str, Any],
        bent: Array,
        iterations: int,
    ) -> Plan:
        """Set the problem up, solve it, and say why if there is no solution."""
        import casadi as ca

        effort, speed = limits["effort"], limits["speed"]

        n, k, N = self.model.size, self.model.joints, self.N
        z, u = ca.MX.sym("z", self.size), slice(self.size - 1 - k * N, self.size - 1)
        scale = np.tile(np.where(np.isfinite(effort), effort, 1.0), N)
        cost = z[-1] if duration is None else ca.sumsqr(z[u] / scale) / N
        problem: Any = {"x": z, "f": cost, "g": self._rows(z, bent)}
        size = N * self.value.numel_out(0)
        bounds = np.append(np.zeros(size), np.ones(problem["g"].numel() - size))
        options: Any = {
            "ipopt": {"print_level": 0, "max_iter": iterations, "tol": 1e-9, "sb": "yes"},
            "print_time": False,
            **self._slopes(bent, 0 * scale if duration is None else 2 / (N * scale**2)),
        }
        if self.curve is None:
            options["ipopt"]["hessian_approximation"] = "limited-memory"
        solver = ca.nlpsol("plan", "ipopt", problem, options)
        low, high = self._bounds(ends, duration, guess, effort, speed)
        found = solver(x0=self._start(ends, guess), lbx=low, ubx=high, lbg=-bounds, ubg=bounds)
        _check(solver.stats(), duration, limits)
        values = np.array(found["x"]).ravel()
        count = 2 * n * (N + 1)
        states = values[:count].reshape(N + 1, 2 * n)
        tau = values[-1 - N * k : -1].reshape(N, k)
        t = np.linspace(0.0, values[-1], N + 1)
        word = "time" if duration is None else "effort"
        steps = int(solver.stats()["iter_count"])
        return Plan(self.model, t, states[:, :n], states[:, n:], tau, word, steps, limits)

    def _rows(self, z: Any, bent: Array) -> Any:
        """What must vanish: piece by piece equations, then the next state; then what bends."""
        import casadi as ca

        n, N = self.model.size, self.N
        y = ca.reshape(z[self.places.ravel().tolist()], self.places.shape[1], N)
        after = ca.reshape(z[2 * n : 2 * n * (N + 1)], 2 * n, N)
        rows = self.value.map(N)(y) + ca.vertcat(ca.DM.zeros(self.count, N), after)
        states = ca.reshape(z[: 2 * n * (N + 1)], 2 * n, N + 1)
        bends = ca.mtimes(ca.DM(bent), states[:n, :]) if len(bent) else ca.MX(0, 1)
        return ca.vertcat(ca.vec(rows), ca.vec(bends))

    def _slopes(self, bent: Array, weight: Array) -> dict[str, Any]:
        """Jacobian and Hessian as IPOPT takes them, put together of those of one piece.

        A piece at a time is far cheaper than one expression of all. `weight`: of the cost, by u^2.
        """
        import casadi as ca

        n, N, size = self.model.size, self.N, self.size
        z, p, cost = ca.MX.sym("z", size), ca.MX.sym("p", 0), ca.MX.sym("f")
        g = self._rows(z, bent)
        count, pull = self.value.numel_out(0), ca.MX.sym("g", g.numel())
        y = ca.reshape(z[self.places.ravel().tolist()], self.places.shape[1], N)
        r, c = (np.array(part, int) for part in self.slope.sparsity_out(0).get_triplet())
        down, steps = count * np.arange(N)[:, None], np.arange(2 * n)
        next_row, next_column = down + self.count + steps, 2 * n * (1 + np.arange(N))[:, None]
        br, bc = np.nonzero(bent)
        each = np.arange(N + 1)[:, None]
        rows = [down + r, next_row, N * count + each * len(bent) + br]
        columns = [self.places[:, c], next_column + steps, each * 2 * n + bc]
        moved = self.slope.map(N)(y)
        fixed = [np.ones(2 * n * N), np.tile(bent[br, bc], N + 1)]
        J = _gathered((g.numel(), size), rows, columns, ca.vertcat(moved.nz[:], *fixed))
        found = {"jac_g": ca.Function("jac_g", [z, p], [g, J])}
        if self.curve is None:
            return found
        r, c = (np.array(part, int) for part in self.curve.sparsity_out(0).get_triplet())
        bow = self.curve.map(N)(y, ca.reshape(pull[: count * N], count, N))
        u = np.arange(size - 1 - len(weight), size - 1)
        values = ca.vertcat(bow.nz[:], cost * weight)
        H = _gathered((size, size), [self.places[:, r], u], [self.places[:, c], u], values)
        return found | {"hess_lag": ca.Function("hess_lag", [z, p, cost, pull], [H])}

    def _bounds(
        self,
        ends: list[Array],
        duration: float | None,
        guess: float,
        effort: Array,
        speed: Array,
    ) -> tuple[Array, Array]:
        n, k, N = self.model.size, self.model.joints, self.N
        state = np.concatenate([np.full(n, np.inf), speed, np.full(n - k, np.inf)])
        high = np.tile(state, (N + 1, 1))
        low = -high
        for row, q in ((0, ends[0]), (N, ends[1])):
            low[row] = high[row] = np.concatenate([q, np.zeros(n)])
        free = np.full((4 * n + 2 * self.beside) * N, np.inf)
        u = np.tile(effort, N)
        last = (guess / 10, guess * 10) if duration is None else (duration, duration)
        return (
            np.concatenate([low.ravel(), -free, -u, [last[0]]]),
            np.concatenate([high.ravel(), free, u, [last[1]]]),
        )

    def _start(self, ends: list[Array], guess: float) -> Array:
        """The quintic of the rigid arm, unbent but for its sag."""
        N = self.N
        law, tau = LAWS["quintic"], np.linspace(0, 1, N + 1)
        move = ends[1] - ends[0]
        q = ends[0] + np.outer(law(tau), move)
        qd = np.outer(law.deriv(1)(tau), move) / guess
        stages, follow = [], []
        for node in NODES:
            at = (np.arange(N) + node) / N
            v, a = (np.outer(law.deriv(d)(at), move) / guess**d for d in (1, 2))
            stages.append(np.hstack([v, a]))
            follow.append(self._beside(ends[0] + np.outer(law(at), move), v, a))
        k = self.model.joints
        at = (np.arange(N) + 0.5) / N
        q1 = ends[0] + np.outer(law(at), move)
        v, a = (np.outer(law.deriv(d)(at), move) / guess**d for d in (1, 2))
        u = self.model.inverse_dynamics(q1, v, a)[:, :k]
        each = (np.hstack([q, qd]), *stages, *follow, u, np.array([guess]))
        return np.concatenate([part.ravel() for part in each])
