"""Generalised-alpha: implicit steps for a Model under efforts, a function or a Controller.

The equations hold at every step, in the accelerations themselves; Newton's matrix is kept from step
to step as long as it leads there quickly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...kernels.newmark import generalised_alpha as scheme_of
from ..inputs import Feedback
from ..plan import Chunk, RunPlan
from ..sampled import timetable
from ..spectrum import Spectrum
from ..time_functions import written_times
from .functions import MAX_WRITTEN_TIMES, JumpDetector
from .residual import System, inverse
from .stepper import Stepper

__all__ = ["GeneralisedAlpha"]

Array = NDArray[np.float64]
SPECTRAL_RADIUS = 0.8  # left of the fastest modes in a step
MAX_PHASE_PER_STEP = (
    0.035  # rad of the fastest rate excited in a step: 1 % of a rad is lost in 20 periods
)
# rad of the fastest pole in the first step after a switch, and growth
FIRST = 0.05
GROWTH = 1.1
MIN_STEPS_PER_PIECE = 16  # steps between two switches of the input
MAX_ITERATIONS = 30  # iterations of a step
SLOW_ITERATIONS = 6  # iterations after which the matrix is made anew for the next step
# corrections beside the largest entry, at which a step is done
POSITION = 1e-11
VELOCITY = 1e-9


class GeneralisedAlpha(Stepper):
    """Implicit steps that damp modes much faster than the step; RADIUS is left of them in a step.

    Residual r = M qdd + h + D qd + K q + g - tau at t + dt; the accelerations a of the scheme lag
    behind: (1 - am) a1 + am a0 = (1 - af) qdd1 + af qdd0. Under Decoupling started on its path the
    joints are led along it, which is what this law does. At every switch of the input qdd and a are
    made new, since they jump there, and where a pole is faster than a step of its own choice, steps
    begin short.

    Source: [Arnold2007], Eqs. (5)-(7).
    """

    name = "generalised-alpha"
    order = 2
    late = 1 / 12
    takes = frozenset({"data", "function", "controller", "wrench", "loops"})

    def own_step(self, plan: RunPlan, spectrum: Spectrum) -> float:
        """Return PHASE rad of the fastest rate excited."""
        step = plan.piece / MIN_STEPS_PER_PIECE
        return min(step, MAX_PHASE_PER_STEP / spectrum.excited) if spectrum.excited else step

    def run(self, plan: RunPlan, x: Array, step: float) -> Iterator[Chunk]:
        """Yield state after state."""
        n = plan.model.size
        system = _AlphaStepper(plan, x, step)
        state = _State(x[:n].copy(), x[n : 2 * n].copy(), np.zeros(n), np.zeros(n), float(x[2 * n]))
        starts = _jumps(plan)
        times = None
        applied = system.tau
        known = np.zeros(0)  # times that a function knows, at which it may jump
        if system.watch is not None and isinstance(plan.tau, Feedback):
            known = written_times(plan.tau.function, float(plan.grid[-1]), MAX_WRITTEN_TIMES)
        if plan.drive is not None:
            times = timetable(plan.drive.given, plan.grid)
            starts = times.arrivals
            plan = replace(plan, grid=times.t)
        for k in range(len(plan.grid) - 1):
            start, end = plan.grid[k : k + 2].tolist()
            hair = 1e-9 * (end - start)
            if plan.drive is not None and times is not None:
                plan.drive.begin(start, *times.due(k), (state.q, state.qd, system.near))
            if k in starts:
                state = system.first(start + 1e-9 * step, end - start, state)
            inside = known[(known > start - hair) & (known < end - hair)]
            stops = [start, *inside[inside > start + hair].tolist(), end]
            for begin, stop in pairwise(stops):
                t = begin
                if t > start or len(inside) > len(stops) - 2:
                    state = system.anew(t + hair, stop - t, state)
                if t == start and (times is None or times.answer[k] >= 0):
                    applied = system.tau.copy()
                while t < stop:
                    rest = stop - t
                    system.graded = min(step, system.graded * GROWTH)
                    dt = rest / math.ceil(rest / system.graded - 1e-9)
                    state = system.advance(t, dt, stop, state)
                    t = stop if dt == rest else t + dt
            here = np.concatenate([state.q, state.qd, [state.work], system.near])[None]
            given = isinstance(plan.tau, Feedback)
            place = k + 1 if times is None else int(times.answer[k + 1])
            if place > 0:
                yield Chunk(place, here, *((applied[None], system.tau.copy()) if given else ()))
        if system.watch is not None:
            system.watch.report_warnings()


class _State(NamedTuple):
    """q, qd and qdd; the accelerations a of the scheme; work done, and power where it was seen."""

    q: Array
    qd: Array
    qdd: Array
    a: Array
    work: float
    power: float = 0.0


def _jumps(plan: RunPlan) -> set[int]:
    """Places in the grid where an input jumps, the first among them; where it only bends, nothing
    that a step remembers is wrong.
    """
    if isinstance(plan.tau, Feedback):
        return set(plan.starts)
    at = plan.grid[list(plan.starts)]
    hair = 1e-9 * np.diff(plan.grid).min()
    before = plan.inputs(at - hair)
    after = plan.inputs(at + hair)
    scale = np.abs(plan.inputs(plan.grid)).max(axis=0, initial=0.0)
    jumps = (np.abs(after - before) > 1e-6 * scale).any(axis=1)
    return {0, *(place for place, jump in zip(plan.starts, jumps, strict=True) if jump)}


class _AlphaStepper(System):
    """Steps of a plan, and the matrix that solves them."""

    def __init__(self, plan: RunPlan, x: Array, longest: float) -> None:
        super().__init__(plan, x)
        self._inverse: Array | None = None
        self._dt = 0.0
        self.scheme = scheme_of(SPECTRAL_RADIUS)
        self.longest = longest
        self.graded = longest
        self._held: Array | None = None  # efforts that a step takes as they are
        self.watch: JumpDetector | None = None  # of a function, whose jumps nobody tells
        if isinstance(plan.tau, Feedback) and plan.drive is None:
            self.watch = JumpDetector(plan.tau.width, float(plan.grid[-1] - plan.grid[0]))

    def first(self, t: float, most: float, state: _State) -> _State:
        """The state with qdd after a switch, as an implicit step feels it.

        Modes faster than it are left out: efforts that jump there would throw these modes about,
        and the first step with them.
        """
        (q, qd, *_), fastest = state, self.plan.fastest
        self.graded = FIRST / fastest if fastest * self.longest > 1 else self.longest
        h = min(self.graded, most)
        u = self.inputs(t, q, qd)
        qdd = np.zeros_like(q)
        if self.holds_path:
            qdd[: self.k] = u[2 * self.k :]
        exact = not self.model.functions.iterates
        A = self._matrix(t, (q, qd, qdd), u, (h**2, h), exact)
        qdd = qdd - A @ self.residual_at(q, qd, qdd, u)
        self.residual_at(q, qd, qdd, u)  # for the efforts
        return _State(q, qd, np.asarray(qdd), np.asarray(qdd), state.work, self.power)

    def anew(self, t: float, most: float, state: _State) -> _State:
        """The same where a function may jump: made new if it does."""
        after = self.inputs(t, state.q, state.qd)[: self.k]
        largest = np.zeros(self.k) if self.watch is None else self.watch.largest
        if (np.abs(after - self.tau) <= 1e-6 * np.maximum(largest, np.abs(after))).all():
            return state
        return self.first(t, most, state)

    def advance(self, t: float, dt: float, stop: float, state: _State, depth: int = 0) -> _State:
        """The state after a step, which is halved where the efforts of a function jump in it.

        They are looked at amid the step, on the cubic through its ends. What the method remembers
        is made new after a piece with a jump that is too short to matter.
        """
        guess = self.near
        before = self.tau.copy()
        watch = self.watch
        q, qd, qdd, a, work, power = state
        q_0, qd_0, lag = self.scheme.predict(dt, q, qd, qdd, a)
        at = min(t + dt, stop - 1e-9 * dt)  # a hair inside: a switch acts from its own side
        found = self.step(at, dt, (q_0, qd_0, qdd))
        if watch is not None:
            seen = [before]
            bend = np.full(self.k, np.inf)  # where efforts jump from iteration to iteration
            if found is not None:
                q_m = (q + found[0]) / 2 + dt / 8 * (qd - found[1])
                qd_m = 1.5 / dt * (found[0] - q) - (qd + found[1]) / 4
                seen += [self.inputs(t + dt / 2, q_m, qd_m)[: self.k], self.tau]
                bend = np.abs(seen[0] - 2 * seen[1] + seen[2])
            jump = watch.jumps(bend, np.abs(seen).max(axis=0), dt, depth)
            inside = watch.inside and depth > 0
            if watch.doubts(jump, depth):
                points = ((t, q, qd), (at, q_0, qd_0), (t, q, qd))
                first, _, again = (self.inputs(*each) for each in points)
                watch.forgot = None if np.array_equal(first, again) else t
            if watch.cuts(bend, jump, depth):
                self.near = guess
                self.tau = before
                state = self.advance(t, dt / 2, np.inf, state, depth + 1)
                return self.advance(t + dt / 2, dt / 2, stop, state, depth + 1)
            if found is None:  # as it is asked once, which is told
                watch.lost, self._held = True, self.inputs(at, q_0, qd_0)
                found = self.step(at, dt, (q_0, qd_0, qdd))
                self._held = None
        if found is None:
            hint = ", or keep away from singular poses" if self.model.functions.not_finite else ""
            raise SuppleError(f"a step did not converge at t = {at:g} s: try a smaller step{hint}")
        a = lag + self.scheme.weight * found[2]
        work = work + dt * (power + self.power) / 2
        state = _State(*found, a, work, self.power)
        return self.first(at, dt, state) if watch is not None and inside else state

    def inputs(self, t: float, q: Array, qd: Array) -> Array:
        """Inputs at a time and state, or those that are held."""
        return super().inputs(t, q, qd) if self._held is None else self._held

    def step(
        self, t: float, dt: float, start: tuple[Array, Array, Array]
    ) -> tuple[Array, Array, Array] | None:
        """q = q_0 + b qdd, qd = qd_0 + c qdd and qdd that satisfy the equations at one time.

        None where no iteration finds them.
        """
        q_0, qd_0, qdd = start
        b, c = self.scheme.shares(dt)
        if abs(dt - self._dt) > 1e-9 * dt:
            self._inverse = None
        for renewed in (
            0,
            1,
            MAX_ITERATIONS,
        ):  # with the matrix at hand, with a new one, with new ones
            found = self._iterate(t, dt, (q_0, qd_0, qdd.copy()), (b, c), renewed)
            if found is not None:
                return found
        return None

    def _iterate(
        self,
        t: float,
        dt: float,
        start: tuple[Array, Array, Array],
        weights: tuple[float, float],
        renewed: int,
    ) -> tuple[Array, Array, Array] | None:
        (q_0, qd_0, qdd), (b, c), before = start, weights, np.inf
        for count in range(MAX_ITERATIONS):
            q = q_0 + b * qdd
            qd = qd_0 + c * qdd
            u = self.inputs(t, q, qd)
            if self.holds_path:
                k = self.k
                q[:k], qd[:k], qdd[:k] = u[:k], u[k : 2 * k], u[2 * k :]
            r = self.residual_at(q, qd, qdd, u)
            if count < renewed or self._inverse is None:
                exact = not self.model.functions.iterates or renewed == MAX_ITERATIONS
                self._inverse = self._matrix(t, (q, qd, qdd), u, (b, c), exact, renewed > 0)
                self._dt = dt
            step = self._inverse @ -r
            size = float(np.abs(step).max())
            qdd = qdd + step
            small = b * size <= POSITION * (1e-3 + np.abs(q).max())
            if small and c * size <= VELOCITY * (1e-3 + np.abs(qd).max()):
                if count > SLOW_ITERATIONS:
                    self._inverse = None
                return q + b * step, qd + c * step, qdd
            if not np.isfinite(size) or (count > 2 and size > 2 * before):
                return None
            before = size
        return None

    def _matrix(
        self,
        t: float,
        state: tuple[Array, Array, Array],
        u: Array,
        weights: tuple[float, float],
        exact: bool,
        anew: bool = False,
    ) -> Array:
        """Inverse of d r / d qdd + c d r / d qd + b d r / d q."""
        M, C, K = self.slopes(t, state, u, exact, anew)
        return inverse(M + weights[1] * C + weights[0] * K)
