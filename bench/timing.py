"""How everything here is timed: median of 5 rounds, in which the contestants take turns.

Rules: one untimed round first (caches, lazy imports), except where a first call is the question;
the garbage collector rests while the clock runs; what is computed in one process is measured in
processor time, which a busy machine disturbs least, beside wall time; what starts a process is
measured in wall time. Ratios are formed round by round, so that a slow spell of the machine hits
both sides, and their median is taken.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Any

__all__ = ["REPEATS", "Contestant", "Timing", "measure", "stopwatch"]

REPEATS = 5
BUSY = 1.15  # wall over processor time from which a measurement is called disturbed


@dataclass(frozen=True)
class Timing:
    """Seconds a unit of every round, by processor and by the clock on the wall."""

    cpu: tuple[float, ...]
    wall: tuple[float, ...]
    outside: bool = False

    @property
    def rounds(self) -> tuple[float, ...]:
        return self.wall if self.outside else self.cpu

    @property
    def seconds(self) -> float:
        """The number to quote: the median round."""
        return median(self.rounds)

    @property
    def spread(self) -> float:
        """Slowest over fastest round, less one."""
        return max(self.rounds) / min(self.rounds) - 1

    @property
    def disturbed(self) -> bool:
        """Whether other work took the processor away while the clock ran."""
        return not self.outside and median(self.wall) > BUSY * median(self.cpu)

    def over(self, other: Timing) -> float:
        """Return how many times longer this takes: the median of the rounds' ratios."""
        return median(a / b for a, b in zip(self.rounds, other.rounds, strict=True))


@dataclass(frozen=True)
class Contestant:
    """A call to be timed, and how many units (configurations, evaluations, calls) it does."""

    call: Callable[[], Any]
    units: float = 1


def stopwatch(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return processor time, wall time and the answer of one call, garbage collector at rest."""
    gc.collect()
    resting = gc.isenabled()
    gc.disable()
    try:
        wall = perf_counter()
        cpu = process_time()
        answer = call()
        cpu = process_time() - cpu
        wall = perf_counter() - wall
    finally:
        if resting:
            gc.enable()
    return cpu, wall, answer


def measure(
    contestants: Mapping[str, Contestant], repeats: int = REPEATS, outside: bool = False
) -> tuple[dict[str, Timing], dict[str, Any]]:
    """Time all contestants, taking turns; return their timings and their (untimed) first answers.

    `outside`: the calls start processes of their own, so only wall time counts.
    """
    answers = {name: contestant.call() for name, contestant in contestants.items()}
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, contestant in contestants.items():
            cpu, wall, _ = stopwatch(contestant.call)
            rounds[name].append((cpu / contestant.units, wall / contestant.units))
    timings = {}
    for name, pairs in rounds.items():
        cpus, walls = zip(*pairs, strict=True)
        timings[name] = Timing(cpus, walls, outside)
    return timings, answers
