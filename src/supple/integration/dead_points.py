"""Dead points of loops: poses where the independent coordinates no longer lead the others.

A rocker that is driven at its extreme angle, coupler and follower in line, can neither be turned
further nor does its angle say on which side the linkage goes on. In the equations c_w, the slopes
of the closures by the coordinates that follow, loses its inverse there, and a step in the
independent coordinates is thrown back or fails. The motion itself is smooth: in all coordinates z
of the tree, with a multiplier for each closure row,

    [M  C'] [  z'' ]   [tau - f(z, z')]
    [C  0 ] [lambda] = [   -(C' z')    ],   C = dc/dz,

nothing is singular unless C itself loses rank. So a run leaves its own coordinates near a dead
point, is carried past it in those of the tree, and goes on with its stepper on the other side.
Under a law that leads the joints a dead point is the end: no effort of that joint leads past it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..equations.closed.coupled import ClosedFunctions
from ..equations.evaluate import AnyEvaluator, Evaluator, evaluator_on_tape
from ..errors import SuppleError
from .inputs import Feedback, StoppedError
from .plan import Chunk, RunPlan
from .steppers.stepper import Stepper

__all__ = ["has_dead_points", "run_past_dead_points"]

Array = NDArray[np.float64]
TAKEOVER_STRETCHES = (
    14.0  # stretches of the grid before a dead point at which the tree takes over, or
)
TAKEOVER_PHASE = 1.5  # rad of the fastest rate excited, if that is longer
STOP_STRETCHES = (
    1.5  # stretches before a dead point at which a law that leads its joints is stopped
)
RETURN_FACTOR = 1.2  # times that behind it: the stepper goes on
SEARCH_STRETCHES = 10  # stretches in which the tree looks for a dead point where a stepper gave up
SMALL_DETERMINANT = (
    0.3  # of the largest closure determinant seen: below it a dead point may be near
)
TOLERANCE = 1e-10  # relative, of the motion of the tree
LOST_RANK = 1e-7  # singular value of the closures beside the largest: two ways lead on
PROJECTIONS = 3  # steps of Newton's method that bring a pose back onto the closures


def has_dead_points(plan: RunPlan) -> bool:
    """Whether loops decide coordinates of a plan, so that there may be dead points."""
    return isinstance(plan.model.functions, ClosedFunctions) and plan.drive is None


def run_past_dead_points(
    plan: RunPlan, stepper: Stepper, x: Array, step: float, rate: float, notes: dict[str, Any]
) -> Iterator[Chunk]:
    """Yield the states of a run by a stepper, past the dead points of its loops.

    Parameters
    ----------
    plan : Plan
        The run, its grid so fine that a dead point is seen coming.
    stepper, step
        Method and step away from dead points.
    x : (.) array
        State at the start.
    rate : float
        Fastest rate of the motion, rad/s.
    notes : dict
        `dead points` becomes the list of times at which they were passed.
    """
    tree = DeadPointRun(plan)
    watch = _DeadPointWatch(tree, TAKEOVER_STRETCHES, TAKEOVER_PHASE / rate if rate > 0 else 0.0)
    if plan.controller is not None:
        watch = _DeadPointWatch(tree, STOP_STRETCHES, 0.0)
    passed: list[float] = notes.setdefault("dead points", [])
    place = 0
    watch.saw(float(plan.grid[0]), x)
    while place < len(plan.grid) - 1:
        fault: Exception | None = None
        reached = False
        try:
            for chunk in stepper.run(_from_place(plan, place), x, step):
                good = watch.count_before_dead_point(plan.grid[place + chunk.place :], chunk.states)
                reached = good < len(chunk.states) or watch.comes_near
                if good:
                    x = chunk.states[good - 1]
                    yield _first_states(chunk, place, good)
                if reached:
                    place += chunk.place - 1 + good
                    break
            else:
                return
        except (StoppedError, SuppleError) as problem:
            fault = problem
            place = int(np.argmin(np.abs(plan.grid - watch.time)))
        if plan.controller is not None:
            if fault is not None and abs(watch.value) > SMALL_DETERMINANT * watch.largest:
                raise fault
            raise SuppleError(tree.sentence(watch.time, x)) from fault
        if fault is not None and not watch.comes_near:
            ahead = list(
                islice(tree.carry(place, x, watch, passed, SEARCH_STRETCHES), SEARCH_STRETCHES)
            )
            if not watch.has_been_near:
                raise fault  # for another reason
            yield from ahead
            x = ahead[-1].states[-1]
            place = ahead[-1].place
            continue
        for chunk in tree.carry(place, x, watch, passed):
            yield chunk
            x = chunk.states[-1]
            place = chunk.place


def _from_place(plan: RunPlan, place: int) -> RunPlan:
    """Return the rest of a plan."""
    if not place:
        return plan
    starts = [0, *(k - place for k in plan.starts if k > place)]
    return replace(plan, grid=plan.grid[place:], starts=tuple(starts))


def _first_states(chunk: Chunk, place: int, count: int) -> Chunk:
    """Return the first states of a chunk, as one of the whole run."""
    if chunk.tau is None:
        return Chunk(place + chunk.place, chunk.states[:count])
    last = chunk.last if count == len(chunk.states) else chunk.tau[count]
    return Chunk(place + chunk.place, chunk.states[:count], chunk.tau[:count], last)


class _DeadPointWatch:
    """How near a run is to a dead point, from the determinant of c_w, its columns of length one."""

    def __init__(self, tree: DeadPointRun, stretches: float, least: float) -> None:
        self.tree = tree
        self.stretches = stretches  # of the grid before a dead point at which it is near
        self.least = least  # s before a dead point at which it is near, at least
        self.largest = 0.0
        self.time = 0.0
        self.value = np.nan
        self.rate = 0.0  # of the determinant, 1/s
        self.gap = 0.0
        self.changed = False  # whether its sign did in the last stretch
        self.smallest = np.inf

    def saw(self, t: float, x: Array) -> None:
        """Note one state of the run."""
        value = self.tree.determinant(x)
        if np.isfinite(self.value) and t > self.time:
            self.gap = t - self.time
            self.rate = (value - self.value) / self.gap
            self.changed = value * self.value < 0
            self.smallest = min(self.smallest, abs(value))
        self.time = t
        self.value = value
        self.largest = max(self.largest, abs(value))

    @property
    def _zone(self) -> float:
        """Seconds before a dead point in which the run is near it."""
        return max(self.stretches * self.gap, self.least)

    @property
    def comes_near(self) -> bool:
        """Whether a dead point lies within NEAR stretches ahead."""
        ahead = self.value * self.rate < 0
        is_near = abs(self.value) < self._zone * abs(self.rate)
        return bool(ahead and is_near and abs(self.value) < SMALL_DETERMINANT * self.largest)

    @property
    def has_been_near(self) -> bool:
        """Whether a dead point was passed, or came near."""
        return self.changed or self.smallest < SMALL_DETERMINANT * self.largest

    @property
    def is_away(self) -> bool:
        """Whether the run is so far from a dead point that its stepper may go on."""
        far = abs(self.value) > RETURN_FACTOR * self._zone * abs(self.rate)
        return bool(far or abs(self.value) > 1.1 * SMALL_DETERMINANT * self.largest)

    def count_before_dead_point(self, times: Array, states: Array) -> int:
        """Return how many of the states come before a dead point is near, all if none is."""
        values = self.tree.determinant(states)
        for k, (t, value) in enumerate(zip(times, values, strict=False)):
            if not np.isfinite(value) or value * self.value < 0:  # it was jumped over
                return k
            self.gap = float(t) - self.time
            self.rate = (value - self.value) / self.gap
            self.time, self.value = float(t), float(value)
            self.largest = max(self.largest, abs(self.value))
            if self.comes_near:
                return k + 1
        return len(states)


class _TreeState(NamedTuple):
    """Coordinates and speeds of the tree, and the work done so far."""

    z: Array
    zd: Array
    work: float


class DeadPointRun:
    """The motion of a plan in all coordinates of its tree, with a multiplier per closure row."""

    def __init__(self, plan: RunPlan) -> None:
        functions = plan.model.functions
        assert isinstance(functions, ClosedFunctions)
        self.plan = plan
        self.functions = functions
        self.loops = functions.loops
        self.independent = list(self.loops.independent)
        self.followers = list(self.loops.followers)
        self.size = len(self.independent) + len(self.followers)

    @cached_property
    def _closure_slopes(self) -> AnyEvaluator:
        """c_w over (q, w)."""

        def make() -> AnyEvaluator:
            return evaluator_on_tape(_dense(self.functions.solved.closures["W"]), (0,))

        evaluator: AnyEvaluator = self.functions.cached("closure slopes", make)
        return evaluator

    @cached_property
    def _equations(self) -> Evaluator:
        """M, forces but efforts, the power lost, c, C and (C' z') over (z, zd) and a wrench."""
        evaluator: Evaluator = self.functions.cached(
            ("tree motion", self.plan.wrench is not None), self._write_equations
        )
        return evaluator

    def _write_equations(self) -> Evaluator:
        import casadi as ca

        loops = self.loops
        functions = self.functions
        z, zd, wrench = (ca.MX.sym(w, n) for w, n in (("z", self.size), ("v", self.size), ("F", 6)))
        motion = (z, zd, ca.DM.zeros(self.size), loops.gravity)
        loaded = self.plan.wrench is not None
        moved = functions.tree("loaded")(*motion, wrench) if loaded else None
        force = functions.tree("inverse")(*motion) if moved is None else moved
        for name in functions.at_rest:
            force = force + functions.tree(name)(z)
        lost = functions.tree("lost")(z, zd)
        symbols = loops.symbols
        rate = ca.SX.sym("v", self.size)
        C = ca.jacobian(symbols.c, symbols.z)
        second = ca.jtimes(ca.jtimes(symbols.c, symbols.z, rate), symbols.z, rate)
        closures = ca.Function("closures", [symbols.z, rate], ca.cse([symbols.c, C, second]))
        parts = [
            functions.tree("mass")(z),
            force + lost,
            ca.dot(zd, lost),
            *closures(z, zd),
        ]
        written = ca.Function("tree_motion", [z, zd, wrench], [ca.densify(p) for p in parts])
        return Evaluator(written, (0, 4))

    def determinant(self, x: Array) -> Any:
        """Return det c_w, its columns of length one, at a state or at states (n, .)."""
        n = len(self.independent)
        m = len(self.followers)
        slopes = self._closure_slopes(x[..., :n], x[..., 2 * n + 1 : 2 * n + 1 + m])[0]
        lengths = np.linalg.norm(slopes, axis=-2, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.linalg.det(slopes / lengths)

    def carry(
        self, place: int, x: Array, watch: _DeadPointWatch, passed: list[float], least: int = 1
    ) -> Iterator[Chunk]:
        """Yield `least` states from a place of the grid on, and more until it is away from one."""
        grid = self.plan.grid
        state = self._tree_state(x)
        for k in range(place, len(grid) - 1):
            before = watch.value
            tau = self._efforts(float(grid[k]) + 1e-12, state)
            state = self._advance(float(grid[k]), float(grid[k + 1]), state)
            x = self._gather(state)
            watch.saw(float(grid[k + 1]), x)
            if before * watch.value < 0:
                passed.append(float(grid[k + 1]))
            if isinstance(self.plan.tau, Feedback):
                last = self._efforts(float(grid[k + 1]), state)
                yield Chunk(k + 1, x[None], tau[None], last)
            else:
                yield Chunk(k + 1, x[None])
            if watch.is_away and k + 1 - place >= least:
                return

    def sentence(self, t: float, x: Array) -> str:
        """Say that a dead point was reached, when, and where the joints stood."""
        joints = self.plan.model.joints
        pairs = zip(self.plan.model.coordinates[:joints], x[:joints], strict=False)
        pose = ", ".join(f"{name} = {value:.4g}" for name, value in pairs)
        return (
            f"the loops of {self.loops.name} reach a dead point at t = {t:.4g} s with {pose}: the "
            "driven joints cannot lead them past it; keep the trajectory away from it, or drive "
            "another joint of the loop"
        )

    def _tree_state(self, x: Array) -> _TreeState:
        """Return the state of the tree at a state of the run."""
        n = len(self.independent)
        m = len(self.followers)
        q = x[:n]
        qd = x[n : 2 * n]
        w = x[2 * n + 1 : 2 * n + 1 + m]
        w = self.functions.followers(q, w)
        wd = self.functions.evaluator("drift", near=True)(q, qd, w)[0]
        z = np.zeros(self.size)
        zd = np.zeros(self.size)
        z[self.independent] = q
        z[self.followers] = w
        zd[self.independent] = qd
        zd[self.followers] = wd
        return _TreeState(z, zd, float(x[2 * n]))

    def _gather(self, state: _TreeState) -> Array:
        """Return the state of the run at a state of the tree."""
        z = state.z
        zd = state.zd
        return np.concatenate(
            [z[self.independent], zd[self.independent], [state.work], z[self.followers]]
        )

    def _efforts(self, t: float, state: _TreeState) -> Array:
        """Return the joint efforts at a time and state."""
        plan = self.plan
        if isinstance(plan.tau, Feedback):
            return plan.tau(t, state.z[self.independent], state.zd[self.independent])
        return plan.inputs(np.array([t]))[0, : plan.model.joints]

    def _rates(self, t: float, y: Array) -> Array:
        """Return z', z'' and the power of efforts and wrench less what is lost."""
        n = self.size
        joints = self.plan.model.joints
        state = _TreeState(y[:n], y[n : 2 * n], 0.0)
        wrench = np.zeros(6)
        if self.plan.wrench is not None:
            wrench = self.plan.wrench.value(np.array([t]), 6)[0]
        M, force, lost, _, C, second = self._equations(state.z, state.zd, wrench)
        tau = self._efforts(t, state)
        push = -force
        driven = self.independent[:joints]
        push[driven] += tau
        rows = len(C)
        matrix = np.block([[M, C.T], [C, np.zeros((rows, rows))]])
        try:
            zdd = np.linalg.solve(matrix, np.concatenate([push, -second]))[:n]
        except np.linalg.LinAlgError:
            raise SuppleError(self._two_ways(t, state)) from None
        power = float(tau @ state.zd[driven]) - float(lost[0])
        if self.plan.wrench is not None:
            power += self._wrench_power(state, wrench)
        return np.concatenate([state.zd, zdd, [power]])

    def _wrench_power(self, state: _TreeState, wrench: Array) -> float:
        """Return the power of the tip wrench at a state of the tree."""

        def make() -> Evaluator:
            import casadi as ca

            z, zd, load = (
                ca.MX.sym(w, n) for w, n in (("z", self.size), ("v", self.size), ("F", 6))
            )
            p, R = self.functions.tree("tip")(z)
            Rd = ca.reshape(ca.jtimes(ca.vec(R), z, zd), 3, 3)
            W = ca.mtimes(Rd, R.T)
            spin = ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]) / 2
            power = ca.dot(load[:3], ca.jtimes(p, z, zd)) + ca.dot(load[3:], spin)
            return Evaluator(ca.Function("power", [z, zd, load], [power]))

        evaluator: Evaluator = self.functions.cached("tree wrench power", make)
        return float(evaluator(state.z, state.zd, wrench)[0][0])

    def _advance(self, start: float, end: float, state: _TreeState) -> _TreeState:
        """Return the state of the tree at the end of a stretch, on its closures."""
        from scipy.integrate import solve_ivp

        y = np.concatenate([state.z, state.zd, [state.work]])
        hair = 1e-9 * (end - start)  # inputs act from their own side of a switch
        found = solve_ivp(
            lambda t, y: self._rates(min(max(t, start + hair), end - hair), y),
            (start, end),
            y,
            method="DOP853",
            rtol=TOLERANCE,
            atol=TOLERANCE * 1e-2,
        )
        if not found.success:
            raise StoppedError(found.message)
        n = self.size
        y = found.y[:, -1]
        z = y[:n].copy()
        zd = y[n : 2 * n].copy()
        for _ in range(PROJECTIONS):
            *_, c, C, _ = self._equations(z, zd, np.zeros(6))
            z -= np.linalg.lstsq(C, c, rcond=None)[0]
        *_, c, C, _ = self._equations(z, zd, np.zeros(6))
        sizes = np.linalg.svd(C, compute_uv=False)
        if sizes[-1] < LOST_RANK * sizes[0]:
            raise SuppleError(self._two_ways(end, _TreeState(z, zd, 0.0)))
        zd -= np.linalg.lstsq(C, C @ zd, rcond=None)[0]
        return _TreeState(z, zd, float(y[2 * n]))

    def _two_ways(self, t: float, state: _TreeState) -> str:
        """Say that a change point was reached, from which the loops may go on in two ways."""
        joints = self.plan.model.joints
        pairs = zip(self.plan.model.coordinates[:joints], state.z[self.independent], strict=False)
        pose = ", ".join(f"{name} = {value:.4g}" for name, value in pairs)
        return (
            f"the loops of {self.loops.name} reach a change point at t = {t:.4g} s with {pose}: "
            "all their bars are in line and the motion may go on in two ways; end the run before"
        )


def _dense(function: Any) -> Any:
    """Return the same CasADi function with a dense output."""
    import casadi as ca

    x = [ca.SX.sym(f"x{i}", function.numel_in(i)) for i in range(function.n_in())]
    return ca.Function(function.name(), x, [ca.densify(out) for out in function.call(x)])
