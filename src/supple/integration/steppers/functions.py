"""Runge-Kutta steps under efforts that a Python function of time and state gives.

The function is asked at every stage. Where its efforts jump, the step is halved until the jump
sits in a piece too short to matter, so that a switch costs no accuracy wherever it comes from.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...equations.evaluate import Evaluator
from ..inputs import Feedback
from ..plan import Chunk, Plan, SimulationWarning, rate

__all__ = ["follow_function"]

Array = NDArray[np.float64]
JUMP = 0.05  # of the largest effort: what bends more within one step is a jump
MATTERS = 1e-10  # of the largest effort, over the whole run: a jump shorter than this is left
HALVINGS = 24
CHATTER = 0.2  # jumps a step beyond which they are no longer looked for
SMOOTH = 9  # halvings that a fast but smooth function may need: no jump
DEEP = 200  # pieces of one step beyond these: a jump needs 30 of them, noise jumps in every one
GOLDEN = 0.6180339887498949  # where a single step is cut: equal ones miss what repeats with them


def follow_function(plan: Plan, law: Feedback, x: Array, step: float) -> Iterator[Chunk]:
    """Yield state after state at the samples, with the efforts that were applied."""
    runner = _Runner(plan, law)
    counts = np.maximum(1, np.ceil(np.diff(plan.grid) / step - 1e-9)).astype(int)
    for k, count in enumerate(counts.tolist()):
        a, b = float(plan.grid[k]), float(plan.grid[k + 1])
        times = [*(a + (b - a) * np.arange(count) / count).tolist(), b]
        times[1:1] = [a + GOLDEN * (times[1] - a)]
        applied = []
        for pair in pairwise(times):
            x, first, last = runner.step(*pair, x)
            applied.append(first)
        yield Chunk(k + 1, x[None], applied[0][None], last)
    if runner.lost:
        warnings.warn(
            "the effort function jumps again and again, which has no limit in continuous time: its "
            "switches were not resolved (supple.Sampled holds what a law with noise or a switch "
            "gives over a period)",
            SimulationWarning,
            stacklevel=2,
        )


class _Runner:
    """Steps of one plan, and what its function has given so far."""

    def __init__(self, plan: Plan, law: Feedback) -> None:
        self.plan, self.law = plan, law
        self.f: Evaluator = plan.model.functions.derived(
            ("rate", plan.width), lambda: Evaluator(rate(plan.model, plan.width))
        )
        self.largest = np.zeros(law.width)
        self.duration = float(plan.grid[-1] - plan.grid[0])
        self.steps = self.jumps = self.pieces = 0
        self.level, self.deepest = 6, 0  # halvings that a fast but smooth function needed last
        self.chatters = self.lost = False  # jumps are the rule; some were no longer looked for

    def step(self, t: float, end: float, x: Array, depth: int = 0) -> tuple[Array, Array, Array]:
        """Return the state at the end, and the efforts at both ends."""
        h = end - t
        a, k1 = self._slope(t, x)
        b, k2 = self._slope(t + h / 2, x + h / 2 * k1)
        c, k3 = self._slope(t + h / 2, x + h / 2 * k2)
        d, k4 = self._slope(end, x + h * k3)
        bend = np.abs(a - b - c + d) + np.abs(b - c)
        self.largest = np.maximum(self.largest, np.abs([a, b, c, d]).max(axis=0))
        if not depth:
            smooth = self.deepest <= SMOOTH
            self.level = max(self.level - 1, self.deepest if smooth else 0)
            self.pieces = self.deepest = 0
            self.steps += 1
        self.pieces += depth > SMOOTH
        jumps = (bend > JUMP * self.largest) & (bend * h > MATTERS * self.largest * self.duration)
        jump = bool(jumps.any())
        if not (jump or depth < self.level) or depth == HALVINGS or self.chatters:
            self.lost = self.lost or (self.chatters and jump)
            return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), a, d
        self.deepest = max(self.deepest, depth + 1 if jump else 0)
        self.jumps += jump and depth == SMOOTH
        self.chatters = self.pieces > DEEP or self.jumps > max(20, CHATTER * self.steps)
        middle, _, _ = self.step(t, t + h / 2, x, depth + 1)
        x, _, d = self.step(t + h / 2, end, middle, depth + 1)
        return x, a, d

    def _slope(self, t: float, x: Array) -> tuple[Array, Array]:
        """Efforts and dx/dt at a time and state."""
        n, wrench = self.plan.model.size, self.plan.wrench
        efforts = u = self.law(t, x[:n], x[n : 2 * n])
        if wrench is not None:
            u = np.concatenate([efforts, wrench.value(np.array([t]), 6)[0]])
        return efforts, self.f(x, u)[0]
