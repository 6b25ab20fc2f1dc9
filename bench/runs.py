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
    rest = [0.0] * model.joints
    there = np.linspace(0.5, 0.2, model.joints).tolist()
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


def sliding_runs() -> dict[str, Run]:
    """The arm with a link that slides out, under three laws and none."""
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(2))
    path = NAMED["extension"]
    laws = {"decoupling": supple.Decoupling(), "computed torque": supple.ComputedTorque(),
            "pd": supple.JointPD(50.0, 5.0)}  # fmt: skip
    runs: dict[str, Run] = {
        f"theodore-rrp, {word}": lambda law=law: supple.simulate(  # type: ignore[misc]
            model, controller=law, trajectory=path
        )
        for word, law in laws.items()
    }
    runs["theodore-rrp, step"] = lambda: supple.simulate(model, [0.1] * 3, theta0=[0.0, 0.0, 0.5])
    return runs


def stiff_laws() -> dict[str, Run]:
    """Gains far above what the arm itself has, and a table of 500 rows."""
    two = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    move = supple.PointToPoint([0.0, 0.0], [0.3, 0.2], 0.3)
    slide = {"name": "slide", "theory": "rigid", "mass_per_length": 4.0, "length": 2.0,
             "joint": {"type": "prismatic"}}  # fmt: skip
    boom = {"name": "boom", "length": 0.8, "material": "aluminium", "joint": {"type": "fixed"},
            "section": {"shape": "tube", "diameter": 0.05, "wall": 0.002}}  # fmt: skip
    robot = supple.SerialRobot.model_validate(
        {"name": "gantry", "gravity": [0, 0, -9.81], "links": [slide, boom],
         "materials": {"aluminium": {"young_modulus": 70e9, "poisson_ratio": 0.33,
                                     "density": 2700}}}
    )  # fmt: skip
    gantry = supple.build(robot, supple.AssumedModes(2))
    along = supple.PointToPoint([0.2], [1.2], 1.65)
    rows = np.linspace(0.0, 1.0, 500)
    table = (rows, np.stack([np.sin(7 * rows), np.cos(5 * rows)], axis=1) * 0.1)
    return {
        "two links, JointPD(3000, 300)": lambda: supple.simulate(
            two, controller=supple.JointPD(3000.0, 300.0), trajectory=move
        ),
        "gantry, GravityPD(4e4, 2e3)": lambda: supple.simulate(
            gantry, controller=supple.GravityPD(4e4, 2e3), trajectory=along
        ),
        "two links, table of 500 rows": lambda: supple.simulate(two, table),
    }


def real_time(quick: bool) -> Report:
    """Every default run of an arm stays under three times real time."""
    runs: dict[str, Run] = {}
    for name in ARMS[:1] if quick else ARMS:
        runs |= arm_runs(name)
    if not quick:
        runs |= sliding_runs() | stiff_laws()
    contestants = {name: Contestant(run) for name, run in runs.items()}
    timings, found = measure(contestants, 1 if quick else 3)
    worst = max(timings[name].seconds / float(run.t[-1]) for name, run in found.items())
    return Report(
        "Default runs of library arms",
        "run",
        rows_of(
            timings,
            more={
                n: {"method": run.method, "seconds of motion": f"{run.t[-1]:g}"}
                for n, run in found.items()
            },
        ),
        [Goal("slowest run, times real time", 3.0, worst, seconds=False)],
        [Check("power balances close to 1e-3", max(r.openness for r in found.values()) < 1e-3)],
    )


BENCHES = {"runs": real_time}
