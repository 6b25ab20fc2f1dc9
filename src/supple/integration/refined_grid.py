"""Times at which a run is looked at between its samples.

Samples say where the answer is wanted, not how the motion goes: a run of three samples may turn
over ten times between two of them. So a run is watched on a finer grid, about once in each step,
and thinned to its samples afterwards.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .inputs import Feedback
from .plan import RunPlan

__all__ = ["fastest_turning", "refine_grid"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
FEW_LOOKS = 400  # of a run in which vibration decides the steps
MOST_VALUES = 400_000  # numbers in the states that are kept of one run for this alone


@lru_cache(maxsize=256)
def _largest_divisor(number: int, bound: int) -> int:
    """Return the largest divisor of a number that is at most `bound`."""
    return next(divisor for divisor in range(min(number, bound), 0, -1) if number % divisor == 0)


def refine_grid(plan: RunPlan, spacing: float, every_step: bool) -> tuple[RunPlan, Places]:
    """Cut the stretches between samples so that none is longer than `spacing`.

    Parameters
    ----------
    plan : Plan
        The run, with the samples that were requested.
    spacing : float
        Longest stretch in seconds, usually the step of the method. It is longer where the states
        of so many times would not fit into MOST_VALUES numbers.
    every_step : bool
        Whether each step matters. Otherwise, and under a Python function, whose steps end at every
        such time, FEW_LOOKS in the run are enough.

    Returns
    -------
    Plan
        The same run on the finer grid.
    places : (n,) array of int
        Places of the requested samples in the finer grid.
    """
    grid = plan.grid
    same = np.arange(len(grid), dtype=np.int64)
    if plan.drive is not None or not np.isfinite(spacing):
        return plan, same
    most_times = FEW_LOOKS
    if every_step and not isinstance(plan.tau, Feedback):
        most_times = max(FEW_LOOKS, MOST_VALUES // (2 * plan.model.size + 1))
    coarse = max(spacing, float(grid[-1] - grid[0]) / most_times)
    counts = np.maximum(1, np.ceil(np.diff(grid) / coarse - 1e-9)).astype(np.int64)
    if coarse > spacing:
        # Looks are fewer than steps: they fall on the ends of steps, so that no step is cut.
        steps_between = np.maximum(1, np.ceil(np.diff(grid) / spacing - 1e-9)).astype(np.int64)
        pairs = zip(steps_between.tolist(), counts.tolist(), strict=True)
        counts = np.array([_largest_divisor(steps, looks) for steps, looks in pairs], np.int64)
    if counts.max() == 1:
        return plan, same
    places = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    steps = np.repeat(np.diff(grid) / counts, counts)
    within = np.arange(places[-1]) - np.repeat(places[:-1], counts)
    fine = np.append(np.repeat(grid[:-1], counts) + within * steps, grid[-1])
    starts = tuple(int(places[k]) for k in plan.starts)
    return replace(plan, grid=fine, starts=starts), places


def fastest_turning(plan: RunPlan, states: Array) -> float:
    """Return the fastest rate of the joints' own motion in the states (n, .) of a run, rad/s.

    A joint that turns with a speed w makes forces that change with 2 w, and one that gains its
    speed with an acceleration a changes within 1 / sqrt(a): the larger of both counts.
    """
    size = plan.model.size
    joints = plan.model.joints
    speeds = states[:, size : size + joints]
    if len(states) < 2 or not joints:
        return 0.0
    gaps = np.diff(plan.grid[: len(states)])[:, None]
    accelerations = np.abs(np.diff(speeds, axis=0)) / gaps
    return float(max(2 * np.abs(speeds).max(), np.sqrt(accelerations.max())))
