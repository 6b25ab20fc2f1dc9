"""Default runs of library robots: processor seconds for one second of motion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import supple
from supple.control.trajectories import NAMED

from .report import Check, Goal, Report, rows_of
from .timing import Contestant, measure

__all__ = ["BENCHES"]

Run = Callable[[], supple.Response]
ARMS = ("de-luca-two-link", "di-castri-two-link", "industrial-3")


def arm_runs(name: str) -> dict[str, Run]:
    """A step and a bang-bang of the efforts, and a move under two laws; nothing else is said."""
    model = supple.build(supple.load(name), supple.AssumedModes(2))
    rest, there = [0.0] * model.joints, np.linspace(0.5, 0.2, model.joints).tolist()
    path = supple.PointToPoint(rest, there, 1.0)
    laws = {"pd": supple.JointPD(50.0, 5.0), "computed torque": supple.ComputedTorque()}
    return {
        f"{name}, step": lambda: supple.simulate(model, [0.1] * model.joints),
        f"{name}, bang-bang": lambda: supple.simulate(model, supple.BangBang(0.2, 0.5)),
        **{
            f"{name}, {word}": lambda law=law: supple.simulate(  # type: ignore[misc]
                model, controller=law, trajectory=path
            )
            for word, law in laws.items()
        },
    }


def real_time(quick: bool) -> Report:
    """Every default run of an arm stays under three times real time."""
    runs: dict[str, Run] = {}
    for name in ARMS[:1] if quick else ARMS:
        runs |= arm_runs(name)
    if not quick:
        slide = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(2))
        law, path = supple.Decoupling(), NAMED["extension"]
        runs["theodore-rrp, decoupling"] = lambda: supple.simulate(
            slide, controller=law, trajectory=path
        )
    contestants = {name: Contestant(run) for name, run in runs.items()}  # each is 1 s of motion
    timings, found = measure(contestants, 1 if quick else 3)
    worst = max(timing.seconds for timing in timings.values())
    return Report(
        "Default runs of library arms",
        "second of motion",
        rows_of(timings, more={n: {"method": run.method} for n, run in found.items()}),
        [Goal("slowest run, times real time", 3.0, worst, seconds=False)],
        [Check("power balances close to 1e-3", max(r.openness for r in found.values()) < 1e-3)],
    )


BENCHES = {"runs": real_time}
