"""A million configurations: exact modes beside SciPy, and how cost grows with what is asked.

`sweep` runs `supple.sweep` over random poses on one thread and on two, and SciPy with one element
of degree 12 a link on a few of the same poses, in one run; memory is the most the process held.
`sweep-spatial` does so for the spatial arm. `growth-modes` and `growth-configurations` ask for more
modes, and for larger batches.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

import supple

from .arms import SPATIAL, plain, poses
from .report import Check, Goal, Report, rows_of
from .scipy_beams import ScipyArm
from .timing import Contestant, Timing, measure

__all__ = ["BENCHES"]

COUNT = 10
DEGREE = 12
PEER = f"scipy, 1 of degree {DEGREE} per link"
FASTER = 50.0  # times the peer's rate
MEMORY = 1e9  # bytes
AIM = 8e-6  # seconds a configuration and core, planar arm


def most_memory() -> float:
    """Return the most memory this process has held, bytes; NaN where the system does not tell."""
    try:
        import resource
    except ImportError:
        return float("nan")
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held * (1.0 if sys.platform == "darwin" else 1024.0)


@dataclass(frozen=True)
class Sweep:
    """One arm over many random poses. many, few: of supple and of the peer."""

    robot: str | Path
    title: str
    many: int
    few: int = 40
    aim: float | None = None

    def __call__(self, quick: bool) -> Report:
        robot = supple.load(self.robot)
        many = min(self.many, 20_000) if quick else self.many
        thetas = poses(len(robot.links), many)
        table = {f"theta.{link.name}": thetas[:, i] for i, link in enumerate(robot.links)}
        timings = {}
        answers = {}
        for name, workers in (("supple, one thread", 1), ("supple, two threads", 2)):
            wall = perf_counter()
            cpu = process_time()
            answers[name] = supple.sweep(
                robot, "modes", sample=table, count=COUNT, workers=workers, progress=False
            )
            wall = perf_counter() - wall
            cpu = process_time() - cpu
            timings[name] = Timing((cpu / many,), (wall / many,), outside=workers > 1)
        # two threads are timed by the clock on the wall, which other work would make untrue
        alone = not timings["supple, one thread"].disturbed
        two_cpu = timings["supple, two threads"].cpu[0]
        if not alone:
            del timings["supple, two threads"]
        held = most_memory()
        few = thetas[: 5 if quick else self.few]
        peer = ScipyArm(plain(robot), degree=DEGREE)
        peers, found = measure({PEER: Contestant(lambda: peer.batch(few), len(few))}, repeats=3)
        timings |= {name: Timing((t.seconds,), (median(t.wall),)) for name, t in peers.items()}
        one, two = (answers[name] for name in list(answers)[:2])
        omega = one["omega"].values
        width = one["width"].values
        off = float(abs(found[PEER] / omega[: len(few)] - 1).max())
        wide = int((width > 1e-9).any(axis=1).sum())
        ours = timings["supple, one thread"].seconds
        goals = [
            Goal(
                f"time over SciPy's, degree {DEGREE}", 1 / FASTER, ours / peers[PEER].seconds, False
            ),
            Goal("memory, GB", MEMORY / 1e9, held / 1e9, False),
        ]
        goals += [Goal("time per configuration and core", self.aim, ours)] if self.aim else []
        return Report(
            f"{self.title}: {COUNT} modes at {many} random poses, certified",
            "configuration",
            rows_of(timings),
            goals,
            [
                Check(
                    "one thread and two give the same bits",
                    omega.tobytes() == two["omega"].values.tobytes(),
                ),
                Check(
                    f"exact and spectral elements agree to {off:.0e} (allowed 1e-08)", off <= 1e-8
                ),
                Check("every pose has an answer", bool(np.isfinite(omega).all())),
            ],
            [
                f"{wide} of {many} poses have a bracket wider than 1e-9 (widest {width.max():.1e})",
                "two threads by the wall clock, with nothing else running"
                if alone
                else "two threads are not timed: other work took the processor away; together they "
                f"took {two_cpu / ours:.2f} times one's processor time",
            ],
        )


def growth_modes(quick: bool) -> Report:
    """Batches of one arm with more and more modes."""
    robot = supple.load("industrial-3")
    counts = (1, 3, 10, 30) if quick else (1, 3, 10, 30, 100)
    many = poses(3, 200 if quick else 1000)
    racers = {
        f"{count} modes": Contestant(
            lambda count=count: supple.modes(robot, many, count=count), len(many)
        )
        for count in counts
    }
    timings, answers = measure(racers, repeats=3)
    first = [a.omega[:, 0] for a in answers.values()]
    same = all(abs(omega / first[0] - 1).max() < 1e-11 for omega in first)
    rows = rows_of(timings, data={k: {"size": n} for k, n in zip(racers, counts, strict=True)})
    title = f"Growth with modes: industrial arm, {len(many)} poses"
    return Report(
        title, "configuration", rows, (), [Check("the first mode is one and the same", same)]
    )


def growth_configurations(quick: bool) -> Report:
    """Larger and larger batches of one arm: a call's own cost is shared."""
    robot = supple.load("industrial-3")
    sizes = (1, 10, 100, 1000) if quick else (1, 10, 100, 1000, 10_000, 100_000)
    many = poses(3, sizes[-1])
    least = 100  # poses in a round: one call alone would be timed with cold caches

    def asked(size: int) -> supple.Modes:
        for first in range(size, max(size, least), size):
            supple.modes(robot, many[first : first + size], count=COUNT)
        return supple.modes(robot, many[:size], count=COUNT)

    racers = {
        f"{size} poses": Contestant(lambda size=size: asked(size), max(size, least))
        for size in sizes
    }
    timings, answers = measure(racers, repeats=3)
    last = list(answers.values())[-1].omega
    same = all((a.omega == last[: len(a.omega)]).all() for a in answers.values())
    rows = rows_of(timings, data={k: {"size": n} for k, n in zip(racers, sizes, strict=True)})
    return Report(
        "Growth with configurations: industrial arm, 10 modes",
        "configuration",
        rows,
        (),
        [Check("a pose has the same bits in every batch", same)],
    )


BENCHES = {
    "sweep": Sweep("industrial-3", "Industrial arm of three links", 1_000_000, aim=AIM),
    "sweep-spatial": Sweep(SPATIAL, "Spatial arm of six joints", 20_000),
    "growth-modes": growth_modes,
    "growth-configurations": growth_configurations,
}
