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
CHATTER = 0.2  # part of the steps with a jump beyond which they are no longer looked for
PIECES = 1000  # of one step: a jump makes 2 HALVINGS of them, noise jumps in every one


def follow_function(plan: Plan, law: Feedback, x: Array, step: float) -> Iterator[Chunk]:
    """Yield state after state at the samples, with the efforts that were applied."""
    runner = _Runner(plan, law)
    counts = np.maximum(1, np.ceil(np.diff(plan.grid) / step - 1e-9)).astype(int)
    for k, count in enumerate(counts.tolist()):
        a, b = float(plan.grid[k]), float(plan.grid[k + 1])
        times = [*(a + (b - a) * np.arange(count) / count).tolist(), b]
        applied = []
        for pair in pairwise(times):
            x, first, last = runner.step(*pair, x)
            applied.append(first)
        yield Chunk(k + 1, x[None], applied[0][None], last)
    if runner.chatters or runner.lost:
        where = "more than a fifth of the steps" if runner.chatters else "every part of a step"
        warnings.warn(
            f"the effort function jumps in {where}, which has no limit in continuous time: its "
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
        self.lost = False  # whether a step had more jumps than can be looked for

    @property
    def chatters(self) -> bool:
        """Whether jumps are the rule."""
        return self.jumps > 20 and self.jumps > CHATTER * self.steps

    def step(self, t: float, end: float, x: Array, depth: int = 0) -> tuple[Array, Array, Array]:
        """Return the state at the end, and the efforts at both ends."""
        h = end - t
        a, k1 = self._slope(t, x)
        b, k2 = self._slope(t + h / 2, x + h / 2 * k1)
        c, k3 = self._slope(t + h / 2, x + h / 2 * k2)
        d, k4 = self._slope(end, x + h * k3)
        bend = np.abs(a - b - c + d)
        self.largest = np.maximum(self.largest, np.abs([a, b, c, d]).max(axis=0))
        self.steps += not depth
        self.pieces = self.pieces + 1 if depth else 0
        jumps = (bend > JUMP * self.largest) & (bend * h > MATTERS * self.largest * self.duration)
        if not jumps.any() or depth == HALVINGS or self.chatters:
            return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), a, d
        if self.pieces >= PIECES:
            self.lost = True
            return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), a, d
        self.jumps += not depth
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
