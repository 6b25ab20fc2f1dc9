"""Runge-Kutta steps under a sampled law: efforts are known between two of its switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ..plan import Chunk, RunPlan, StoppedError
from ..sampled import SampledDrive, timetable

__all__ = ["follow_samples"]

Array = NDArray[np.float64]
BATCH = 64  # states of the answer handed over at a time
Steps = Callable[[Array, Array], Array]  # x, rows [u(t), u(t + h/2), u(t + h), h] to states


def follow_samples(
    plan: RunPlan, drive: SampledDrive, x: Array, step: float, carry: tuple[Steps, Array]
) -> Iterator[Chunk]:
    """Yield the states at the answer's times, with the efforts that were applied.

    `carry` are the steps, and the matrix that brings their states to those of the plan.
    """
    times, (steps, back), n = timetable(drive.given, plan.grid), carry, plan.model.size
    step = min(step, drive.longest)
    wanted = times.answer.tolist()
    states: list[Array] = []
    applied: list[Array] = []
    place = 1
    for k, t in enumerate(times.t.tolist()):
        if k:
            # Inputs at the three stages of each step from the stop before, and its length
            a = float(times.t[k - 1])
            count = max(1, int(np.ceil((t - a) / step - 1e-9)))
            h = (t - a) / count
            on = a + h * np.arange(count)
            at = np.stack([on + 1e-9 * h, on + h / 2, on + (1 - 1e-9) * h], axis=1).ravel()
            u = drive.efforts(at)
            if plan.wrench is not None:
                u = np.concatenate([u, plan.wrench.value(at, 6)], axis=1)
            rows = [u.reshape(count, -1), np.full((count, 1), h)]
            x = steps(x, np.concatenate(rows, axis=1))[-1]
        here = x @ back
        if wanted[k] > 0:
            states.append(here)
        try:
            drive.begin(t, *times.due(k), (here[:n], here[n : 2 * n], here[2 * n + 1 :]))
        except (SuppleError, StoppedError):
            if states:  # what was done until then
                yield Chunk(place, np.array(states), np.array(applied[: len(states)]), applied[-1])
            raise
        if wanted[k] >= 0:
            applied.append(drive.now(t))
        if states and (len(states) == BATCH or k == len(times.t) - 1):
            yield Chunk(place, np.array(states), np.array(applied[:-1]), applied[-1])
            place = place + len(states)
            states = []
            applied = applied[-1:]
