"""A link that slides: the 1 s run of [Theodore1997], and its cost against a fixed link."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import supple

from .report import Check, Goal, Report, rows_of
from .timing import Contestant, measure

__all__ = ["BENCHES"]

STATES = 2000
REFERENCE = Path(__file__).parents[1] / "tests" / "cross" / "data" / "extension.csv"


def fixed_twin(robot: supple.SerialRobot, l: float) -> supple.SerialRobot:
    """Return the arm with link 3 of fixed length l on a turning joint: as many coordinates."""
    joint = {"type": "revolute", "axis": [0, 0, 1], "mount": robot.links[2].joint.mount}
    return robot.with_({"links.link3.joint": joint, "links.link3.length": l})


def bench(quick: bool) -> Report:
    """Time the run by three methods, and one forward dynamics of sliding and fixed links."""
    robot = supple.load("theodore-rrp")
    assert isinstance(robot, supple.SerialRobot)
    arms = robot, fixed_twin(robot, 0.6)
    slide, fixed = (supple.build(one, supple.AssumedModes(2)) for one in arms)
    path = supple.ParabolicBlends([0, 0, 0.3], [np.pi, -np.pi / 2, 1.0], 1.0, 0.1)
    law = supple.Decoupling(100, 20)
    rng = np.random.default_rng(1)
    q = np.tile([0.3, -0.4, 0.6, 1e-3, 0, 1e-3, 0], (STATES, 1))
    qd, tau = rng.normal(size=(STATES, 7)), rng.normal(size=(STATES, 3))

    def run(method: str) -> supple.Response:
        return supple.simulate(slide, controller=law, trajectory=path, method=method, dt=5e-3,
                               tolerance=1e-7)  # fmt: skip

    contestants = {
        "1 s, magnus": Contestant(lambda: run("magnus"), 1),
        "1 s, substeps": Contestant(lambda: run("substeps"), 1),
        "1 s, adams": Contestant(lambda: run("adams"), 1),
        "forward dynamics, sliding": Contestant(lambda: slide.forward_dynamics(q, qd, tau), STATES),
        "forward dynamics, fixed": Contestant(lambda: fixed.forward_dynamics(q, qd, tau), STATES),
    }
    timings, answers = measure(contestants, 3 if quick else 5)
    stored = np.loadtxt(REFERENCE, delimiter=",")[:, 1:]
    peak = np.linalg.norm(stored, axis=1).max()
    checks = []
    for name, bound in (("magnus", 2e-4), ("substeps", 1e-3), ("adams", 2e-4)):
        tip = answers[f"1 s, {name}"].deflection("link3")[:, 1:]
        off = float(np.linalg.norm(tip - stored, axis=1).max() / peak)
        checks.append(Check(f"{name}: tip off the elements by {100 * off:.4f} % of the peak",
                            off < bound))  # fmt: skip
    seconds = timings["1 s, magnus"].seconds
    cost = timings["forward dynamics, sliding"].over(timings["forward dynamics, fixed"])
    return Report(
        "RRP arm of [Theodore1997], 7 coordinates, without compiling",
        "run or state",
        rows_of(timings),
        [Goal("1 s of the RRP run", 0.1, seconds)],
        checks,
        [f"a sliding link costs {cost:.2f} times a fixed one in the forward dynamics"],
    )


BENCHES = {"sliding": bench}
