"""How the cost of a Model grows: its build, its forward dynamics, and a motion of 0.1 s.

Over the number of links of an open arm, in the plane and in space, and over the number of loops of
a tower of parallelograms, each of which stands on the one below. A fitted exponent of 1 is linear
growth. Each size is asked in a process of its own; one that takes longer than `LONGEST` ends with
it, and larger ones are not tried.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

import supple

from .growth import exponent
from .report import Check, Goal, Report, Row
from .timing import Timing

__all__ = ["BENCHES", "spatial_arm", "tower"]

LINKS = (2, 4, 8, 16, 32, 64)
QUICK_LINKS = (2, 4, 8)
LOOPS = (1, 2, 4, 8, 16)
QUICK_LOOPS = (1, 2)
LONGEST = 60  # s that one size may take
SLOPE = 1.3  # what is called linear, in view of fixed costs and caches
MOTION = 0.1  # s
TRAVEL = 0.02  # rad, of each motor
PARTS = ("build", "forward dynamics", "0.1 s of motion")


def _alloy() -> supple.Material:
    return supple.Material(young_modulus=70e9, poisson_ratio=0.34, density=2700)


def planar_arm(n: int) -> supple.Robot:
    """Return a planar arm of n equal links."""
    return _arm(n, planar=True)


def spatial_arm(n: int) -> supple.Robot:
    """Return an arm of n equal links whose joint axes alternate."""
    return _arm(n, planar=False)


def _arm(n: int, planar: bool) -> supple.Robot:
    links = []
    for i in range(n):
        turned = not planar and i % 2 == 1
        links.append(
            supple.Link(
                name=f"link{i + 1}",
                joint=supple.Joint(axis=(0, 1, 0)) if turned else supple.Joint(),
                length=0.5,
                material=_alloy(),
                section=supple.Rectangle(depth=0.05, width=0.06),
                theory="euler-bernoulli",
            )
        )
    return supple.SerialRobot(name=f"chain-{n}", planar=planar, links=tuple(links))


def tower(n: int) -> supple.Robot:
    """Return n parallelograms, each on the coupler of the one below, a motor at each left post."""
    links: list[dict[str, Any]] = []
    closures: list[dict[str, Any]] = []
    bar = {"material": "alloy", "section": "bar", "theory": "euler-bernoulli"}
    for i in range(1, n + 1):
        ground = "base" if i == 1 else f"beam{i - 1}"
        left: dict[str, Any] = {"type": "revolute", "start": math.pi / 2}
        right: dict[str, Any] = {"type": "revolute", "passive": True, "start": math.pi / 2}
        post: dict[str, Any] = {"name": f"post{i}", "parent": ground, "joint": left, "length": 0.2}
        stay: dict[str, Any] = {"name": f"stay{i}", "parent": ground, "joint": right, "length": 0.2}
        if i == 1:
            right["mount"] = {"xyz": [0.3, 0, 0]}
        else:  # both stand within the beam below, away from its ends
            post["at"] = 0.1
            stay["at"] = 0.2
        span = 0.3 if i == 1 else 0.1
        beam = {
            "name": f"beam{i}",
            "parent": f"post{i}",
            "joint": {"type": "revolute", "passive": True, "start": -math.pi / 2},
            "length": 0.3,
        }
        links += [{**post, **bar}, {**beam, **bar}, {**stay, **bar}]
        closures.append(
            {
                "name": f"pin{i}",
                "ends": [
                    {"link": f"beam{i}", "at": span} if span < 0.3 else f"beam{i}",
                    f"stay{i}",
                ],
                "type": "revolute",
            }
        )
    return supple.MechanismRobot.model_validate(
        {
            "name": f"tower-{n}",
            "planar": True,
            "materials": {"alloy": {"young_modulus": 70e9, "poisson_ratio": 0.34, "density": 2700}},
            "sections": {"bar": {"shape": "rectangle", "depth": 0.02, "width": 0.03}},
            "links": links,
            "closures": closures,
            "tip": f"beam{n}",
        }
    )


KINDS: dict[str, Callable[[int], supple.Robot]] = {
    "planar": planar_arm,
    "spatial": spatial_arm,
    "loops": tower,
}


def serve(kind: str, n: int) -> None:
    """Print one line of JSON for each part: its name and its processor time, s; last the check."""
    warnings.simplefilter("ignore")
    supple.build(planar_arm(1), supple.AssumedModes(1))  # what is imported at the first build
    robot = KINDS[kind](n)
    begin = process_time()
    model = supple.build(robot, supple.AssumedModes(1))
    print(json.dumps(["build", process_time() - begin]), flush=True)

    start = np.asarray(model.chain.pose()[: model.joints]) + 0.0
    q = np.zeros(model.size)
    q[: model.joints] = start + 0.01
    rest = np.zeros(model.size)
    efforts = np.linspace(1.0, 2.0, model.joints)
    qdd = model.forward_dynamics(q, rest, efforts)  # the first call prepares
    calls = 0
    begin = process_time()
    while process_time() - begin < 0.3:
        model.forward_dynamics(q, rest, efforts)
        calls += 1
    print(json.dumps(["forward dynamics", (process_time() - begin) / calls]), flush=True)
    back = np.asarray(model.inverse_dynamics(q, rest, qdd))[: model.joints]
    error = float(np.abs(back - efforts).max() / np.abs(efforts).max())
    print(json.dumps(["error", error]), flush=True)

    move = supple.PointToPoint(start, start + TRAVEL, MOTION)
    begin = process_time()
    supple.simulate(model, controller=supple.ComputedTorque(), trajectory=move)
    print(json.dumps(["0.1 s of motion", process_time() - begin]), flush=True)


def answers_of_process(kind: str, n: int) -> dict[str, float]:
    """Answers of the process of one size; what it did not reach in time is missing."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "bench.growth_dynamics", kind, str(n)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        out, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
    return dict(json.loads(line) for line in out.splitlines() if line.endswith("]"))


def bench(quick: bool, kind: str) -> Report:
    """Ask all sizes of one kind, from the smallest on."""
    word = "loops" if kind == "loops" else "links"
    if kind == "loops":
        sizes = QUICK_LOOPS if quick else LOOPS
    else:
        sizes = QUICK_LINKS if quick else LINKS
    found: dict[int, dict[str, float]] = {}
    for n in sizes:
        found[n] = answers_of_process(kind, n)
        if PARTS[-1] not in found[n]:
            break
    rows: list[Row] = []
    goals: list[Goal] = []
    for part in PARTS:
        known = [n for n in found if part in found[n]]
        seconds = [found[n][part] for n in known]
        for n, each in zip(known, seconds, strict=True):
            label = f"{part}, {n} {word}"
            rows.append(Row(label, Timing((each,), (each,)), each / seconds[0], {}, {"size": n}))
        if len(known) > 1:
            text = f"exponent of {part}, {known[0]} to {known[-1]} {word}"
            goals.append(Goal(text, SLOPE, exponent(known, seconds), seconds=False))
    errors = [answers["error"] for answers in found.values() if "error" in answers]
    worst = max(errors, default=math.inf)
    notes = ["ratio to the smallest; a motion is under computed torque; AssumedModes(1)"]
    last = max(found)
    if PARTS[-1] not in found[last]:
        notes.append(f"{last} {word} were ended after {LONGEST} s: larger sizes were not tried")
    return Report(
        f"Growth of a Model with the number of {word}, {kind}",
        "part",
        rows,
        goals,
        [Check(f"inverse dynamics returns the efforts to {worst:.0e}", worst <= 1e-6)],
        notes,
    )


BENCHES = {
    "growth-model-planar": lambda quick: bench(quick, "planar"),
    "growth-model-spatial": lambda quick: bench(quick, "spatial"),
    "growth-model-loops": lambda quick: bench(quick, "loops"),
}

if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
