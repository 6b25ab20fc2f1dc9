"""Runge-Kutta steps under efforts that a Python function of time and state gives.

The function is asked at every stage. Where its efforts jump, the step is halved until the jump
sits in a piece too short to matter, so that a switch costs no accuracy wherever it comes from.
Steps end at the times that are written in the function, where a pulse may begin that is shorter.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...equations.chain_functions import ChainFunctions
from ...equations.evaluate import Evaluator
from ...kernels.tape import tape_of_function
from ..inputs import Feedback, MemoryWarning
from ..plan import Chunk, RunPlan, SimulationWarning, rate
from ..time_functions import written_times

__all__ = ["JumpDetector", "follow_function"]

Array = NDArray[np.float64]
JUMP_FRACTION = 0.05  # of the largest effort of late: what bends more within one step is a jump
SUDDEN_JUMP_FRACTION = 3e-3  # the same, where it bends ten times as much as the step before
EFFORT_MEMORY = 0.995  # of the largest effort is left after a step
NEGLIGIBLE_JUMP = (
    1e-10  # of the largest effort, over the whole run: a jump shorter than this is left
)
HALVINGS = 24
MAX_JUMPS_PER_STEP = 0.2  # jumps a step beyond which they are no longer looked for
SMOOTH_HALVINGS = 9  # halvings that a fast but smooth function may need: no jump
MAX_PIECES_OF_STEP = (
    200  # pieces of one step beyond these: a jump needs 30 of them, noise jumps in every one
)
GOLDEN_RATIO = (
    0.6180339887498949  # where a single step is cut: equal ones miss what repeats with them
)
MAX_WRITTEN_TIMES = 400  # times written in a function that are heeded
STEPS_CHECKED_TWICE = 16  # steps, the first ones, after which the function is asked once more


def follow_function(plan: RunPlan, law: Feedback, x: Array, step: float) -> Iterator[Chunk]:
    """Yield state after state at the samples, with the efforts that were applied."""
    runner = _Runner(plan, law)
    x = _transform_state(runner.T, x)
    known = written_times(law.function, float(plan.grid[-1]), MAX_WRITTEN_TIMES)
    counts = np.maximum(1, np.ceil(np.diff(plan.grid) / step - 1e-9)).astype(int)
    for k, count in enumerate(counts.tolist()):
        a = float(plan.grid[k])
        b = float(plan.grid[k + 1])
        hair = 1e-9 * (b - a)
        times = [*(a + (b - a) * np.arange(count) / count).tolist(), b]
        times[1:1] = [a + GOLDEN_RATIO * (times[1] - a)]
        here = known[(known > a - hair) & (known < b + hair)]
        times += here[(here > a + hair) & (here < b - hair)].tolist()
        applied = []
        for t, end in pairwise(sorted(times)):
            # a hair before where a time is written: a switch acts from its own side
            is_near = np.abs(here - end).min(initial=1.0) <= hair
            runner.latest = end - 1e-9 * (end - t) * is_near
            x, first, last = runner.step(t, end, x)
            applied.append(first)
        state = _transform_state(runner.A, x)
        if is_near:  # what it gives at the time itself
            last = law(b, *np.split(state[: 2 * plan.model.size], 2))
        yield Chunk(k + 1, state[None], applied[0][None], last)
    runner.watch.report_warnings()


class JumpDetector:
    """What the efforts of a function were so far, and which steps are cut because they jump there.

    Parameters
    ----------
    width, duration
        Of the efforts, and of the run, s.
    level
        Halvings to begin with.
    """

    def __init__(self, width: int, duration: float, level: int = 0) -> None:
        self.largest = self.late = np.zeros(width)  # effort so far, and of late
        self.bend: Array = np.full(width, np.inf)  # of the step before
        self.duration = duration
        self.steps = self.found = self.pieces = 0
        # halvings that a fast but smooth function needed last
        self.level = level
        self.deepest = 0
        self.chatters = self.lost = False  # jumps are the rule; some were no longer looked for
        self.inside = False  # whether the last piece holds a jump, however short it is
        self.forgot: float | None = None  # when it first gave something else when asked again

    def jumps(self, bend: Array, most: Array, h: float, depth: int) -> bool:
        """Whether efforts that bend so much, and are `most` at most, jump in a piece of h s."""
        self.largest, self.late = np.maximum(self.largest, most), np.maximum(self.late, most)
        jumps = (bend > JUMP_FRACTION * self.late) | (
            (bend > SUDDEN_JUMP_FRACTION * self.late) & (bend > 10 * self.bend)
        )
        self.inside = bool(jumps.any())
        jumps &= bend * h > NEGLIGIBLE_JUMP * self.largest * self.duration
        if not depth:
            smooth = self.deepest <= SMOOTH_HALVINGS
            self.level = max(self.level - 1, self.deepest if smooth else 0)
            self.pieces = self.deepest = 0
            self.steps += 1
            self.late = EFFORT_MEMORY * self.late
        return bool(jumps.any())

    def cuts(self, bend: Array, jump: bool, depth: int) -> bool:
        """Whether a piece of so many halvings is cut in two; what `jumps` said goes before."""
        self.pieces += depth > SMOOTH_HALVINGS
        if not (jump or depth < self.level) or depth == HALVINGS or self.chatters:
            self.lost = self.lost or (self.chatters and jump)
            self.bend = np.maximum(bend, SUDDEN_JUMP_FRACTION / 10 * self.late)
            return False
        self.deepest = max(self.deepest, depth + 1 if jump else 0)
        self.found += jump and depth == SMOOTH_HALVINGS
        self.chatters = self.pieces > MAX_PIECES_OF_STEP or self.found > max(
            20, MAX_JUMPS_PER_STEP * self.steps
        )
        return True

    def doubts(self, jump: bool, depth: int) -> bool:
        """Whether the function is asked once more what it gave, to learn if it remembers."""
        return not depth and self.forgot is None and (jump or self.steps <= STEPS_CHECKED_TWICE)

    def report_warnings(self) -> None:
        """Warn where jumps were no longer looked for, and of a function that remembers."""
        if self.lost:
            warnings.warn(
                "the effort function jumps again and again, which has no limit in continuous time: "
                "its switches were not resolved (supple.Sampled holds what a law with noise or a "
                "switch gives over a period)",
                SimulationWarning,
                stacklevel=3,
            )
        if self.forgot is not None:
            warnings.warn(
                "the effort function does not give the same again when it is asked twice at one "
                f"time and state (first at t = {self.forgot:g} s): it remembers, or is random, and "
                "a step asks it several times, so that what it remembers depends on the method; "
                "give it as supple.Sampled(law, period), which asks once a period",
                MemoryWarning,
                stacklevel=3,
            )


class _Runner:
    """Steps of one plan, and what its function has given so far."""

    def __init__(self, plan: RunPlan, law: Feedback) -> None:
        self.plan = plan
        self.law = law
        self.f: Callable[[Array, Array], Array]
        self.f, self.T = plan.model.functions.cached(("rate", plan.width), _rate, plan)
        self.A = None if self.T is None else np.linalg.inv(self.T)
        self.watch = JumpDetector(law.width, float(plan.grid[-1] - plan.grid[0]), 6)
        self.latest = np.inf  # time at which this step may ask

    def step(self, t: float, end: float, x: Array, depth: int = 0) -> tuple[Array, Array, Array]:
        """Return the state at the end, and the efforts at both ends."""
        h = end - t
        a, k1 = self._slope(t, x)
        b, k2 = self._slope(t + h / 2, x + h / 2 * k1)
        c, k3 = self._slope(t + h / 2, x + h / 2 * k2)
        d, k4 = self._slope(end, x + h * k3)
        bend = np.abs(a - b - c + d) + np.abs(b - c)
        jump = self.watch.jumps(bend, np.abs([a, b, c, d]).max(axis=0), h, depth)
        if self.watch.doubts(jump, depth):
            self.watch.forgot = None if np.array_equal(a, self._slope(t, x)[0]) else t
        if not self.watch.cuts(bend, jump, depth):
            return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), a, d
        middle, _, _ = self.step(t, t + h / 2, x, depth + 1)
        x, _, d = self.step(t + h / 2, end, middle, depth + 1)
        return x, a, d

    def _slope(self, t: float, x: Array) -> tuple[Array, Array]:
        """Efforts and dx/dt at a time and state."""
        n = self.plan.model.size
        wrench = self.plan.wrench
        t = min(t, self.latest)
        q, qd = x[: 2 * n].reshape(2, n) if self.A is None else x[: 2 * n].reshape(2, n) @ self.A.T
        efforts = u = self.law(t, q, qd)
        if wrench is not None:
            u = np.concatenate([efforts, wrench.value(np.array([t]), 6)[0]])
        return efforts, self.f(x, u)


def _transform_state(T: Array | None, x: Array) -> Array:
    """x with T q and T qd, unless there is no T."""
    if T is None:
        return x
    return np.concatenate([T @ x[: len(T)], T @ x[len(T) : 2 * len(T)], x[2 * len(T) :]])


def _rate(plan: RunPlan) -> tuple[Callable[[Array, Array], Array], Array | None]:
    """dx/dt = f(x, u) on a tape where that is possible, and T: x holds T q and T qd, if any."""
    functions = plan.model.functions
    wide = plan.wrench is not None or plan.model.reading.carries_roots
    chain = isinstance(functions, ChainFunctions) and functions.uses_tapes and not wide
    if chain and isinstance(functions, ChainFunctions):
        tape = functions.rate_in_ends()
    else:
        tape = tape_of_function(rate(plan.model, plan.width, written=functions.iterates))
    if tape is None:
        plain = Evaluator(rate(plan.model, plan.width))
        return lambda x, u: plain(x, u)[0], None
    return lambda x, u: tape(np.concatenate([x, u])), functions.ends() if chain else None
