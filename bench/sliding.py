"""A link that slides: the 1 s run of [Theodore1997], and its cost against a fixed link."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import supple

from .report import Check, Goal, Report, format_seconds, rows_of
from .timing import Contestant, measure

__all__ = ["BENCHES"]

STATES = 2000
REFERENCE = Path(__file__).parents[1] / "tests" / "cross" / "data" / "extension.csv"


def fixed_twin(robot: supple.SerialRobot, l: float) -> supple.SerialRobot:
    """Return the arm with link 3 of fixed length l on a turning joint: as many coordinates."""
    joint = {"type": "revolute", "axis": [0, 0, 1], "mount": robot.links[2].joint.mount}
    return robot.with_({"links.link3.joint": joint, "links.link3.length": l})


def bench(quick: bool) -> Report:
    """Time the default run, other methods, and one forward dynamics of sliding and fixed links."""
    robot = supple.load("theodore-rrp")
    assert isinstance(robot, supple.SerialRobot)
    arms = robot, fixed_twin(robot, 0.6)
    slide, fixed = (supple.build(one, supple.AssumedModes(2)) for one in arms)
    path = supple.ParabolicBlends([0, 0, 0.3], [np.pi, -np.pi / 2, 1.0], 1.0, 0.1)
    turn = supple.ParabolicBlends([0, 0, 0], [np.pi, -np.pi / 2, 0.0], 1.0, 0.1)
    law = supple.Decoupling(100, 20)
    rng = np.random.default_rng(1)
    q = np.tile([0.3, -0.4, 0.6, 1e-3, 0, 1e-3, 0], (STATES, 1))
    qd = rng.normal(size=(STATES, 7))
    tau = rng.normal(size=(STATES, 3))

    def run(model: supple.Model = slide, way: supple.Trajectory = path, **options: Any) -> Any:
        return supple.simulate(model, controller=law, trajectory=way, **options)

    begin = time.perf_counter()
    default = run()
    first = time.perf_counter() - begin
    contestants = {
        "1 s, default": Contestant(run, 1),
        "1 s, adams": Contestant(lambda: run(method="adams"), 1),
        "1 s, rk4": Contestant(lambda: run(method="rk4"), 1),
        "1 s, fixed link, adams": Contestant(lambda: run(fixed, turn, method="adams"), 1),
        "forward dynamics, sliding": Contestant(lambda: slide.forward_dynamics(q, qd, tau), STATES),
        "forward dynamics, fixed": Contestant(lambda: fixed.forward_dynamics(q, qd, tau), STATES),
    }
    timings, answers = measure(contestants, 3 if quick else 5)
    stored = np.loadtxt(REFERENCE, delimiter=",")[:, 1:]  # every 5 ms
    peak = np.linalg.norm(stored, axis=1).max()
    checks = []
    for name, bound in (("default", 2e-4), ("adams", 2e-4), ("rk4", 1e-3)):
        tip = answers[f"1 s, {name}"].deflection("link3")[::5, 1:]
        off = float(np.linalg.norm(tip - stored, axis=1).max() / peak)
        checks.append(Check(f"{name}: tip off the elements by {100 * off:.4f} % of the peak",
                            off < bound))  # fmt: skip
    seconds = timings["1 s, default"].seconds
    cost = timings["forward dynamics, sliding"].over(timings["forward dynamics, fixed"])
    whole = timings["1 s, adams"].over(timings["1 s, fixed link, adams"])
    return Report(
        "RRP arm of [Theodore1997], 7 coordinates, without compiling",
        "run or state",
        rows_of(timings),
        [Goal("1 s of the RRP run by the default call", 0.1, seconds)],
        checks,
        [
            f"the default is {default.method}; the first call, functions made, took "
            f"{format_seconds(first)}",
            f"a sliding link costs {cost:.2f} times a fixed one of the same size in the forward "
            f"dynamics, {whole:.2f} times in a run by adams",
        ],
    )


BENCHES = {"sliding": bench}
