"""Every library robot and every main question: first and second call, and memory.

Each robot is asked in a process of its own, so that a first call is one, memory is its own, and a
question that takes too long ends with its process: what was answered until then is kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np

import supple

from .report import Check, Goal, Report, Row
from .sweep import most_memory
from .timing import Timing

__all__ = ["BENCHES"]

ROBOTS = (
    "de-luca-two-link",
    "di-castri-two-link",
    "industrial-3",
    "theodore-rrp",
    "two-arms",
    "five-bar",
    "four-bar",
    "kuo-delta",
    "scara-parallel",
    "hexapod",
)
QUICK_ROBOTS = ("industrial-3", "five-bar")
LONGEST = 240  # s, of all questions to one robot
BATCH = 500  # poses
MOTION = 0.5  # s
TRAVEL = 0.02  # rad or m, of each motor
PYTHON_LAW = 3.0  # times real time that a law of one's own may take, of every robot but the hexapod


def start_of(robot: supple.Robot, model: supple.Model) -> np.ndarray:
    """Motor coordinates from which a robot can move a little either way."""
    if robot.name == "theodore-rrp":
        return np.array([0.0, 0.0, 0.7 * robot.links[-1].length])  # type: ignore[attr-defined]
    if robot.name == "kuo-delta":
        return np.ravel(supple.inverse(robot, [0.05, 0.0, 0.6]).theta)[: model.joints]
    return np.asarray(model.chain.pose()[: model.joints]) + 0.0


def questions(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The questions to one robot, each as a call; what one finds the next may use."""
    yield "load", lambda: supple.load(name)
    robot = supple.load(name)
    basis = supple.AssumedModes(2)
    yield "build", lambda: supple.build(robot, basis)
    model = supple.build(robot, basis)
    joints = model.joints
    start = start_of(robot, model)
    spread = np.random.default_rng(1).uniform(-TRAVEL, TRAVEL, (BATCH, joints))
    move = supple.PointToPoint(start, start + TRAVEL, MOTION)
    gains = (5e3, 2e2) if name in ("hexapod", "scara-parallel") else (50.0, 5.0)

    def law(t: float, q: np.ndarray, qd: np.ndarray, wanted: Any) -> np.ndarray:
        angle, rate, _ = wanted
        return np.asarray(gains[0] * (angle - q[:joints]) + gains[1] * (rate - qd[:joints]))

    yield "modes", lambda: supple.modes(robot, start)
    yield f"modes of {BATCH} poses", lambda: supple.modes(robot, start + spread)
    yield "modes by elements", lambda: supple.modes(robot, start, method="elements", elements=4)
    yield "statics", lambda: supple.statics(robot, start)
    pd = supple.JointPD(*gains)
    for word, controller in (("pd", pd), ("computed torque", supple.ComputedTorque())):
        yield (
            f"run, {word}",
            lambda c=controller: supple.simulate(model, controller=c, trajectory=move),
        )
    yield "run, python law", lambda: supple.simulate(model, controller=law, trajectory=move)
    path = move  # of a Delta, a path of its platform
    if name == "kuo-delta":
        path = supple.PointToPoint([0.05, 0.0, 0.6], [-0.03, 0.02, 0.61], MOTION)
    yield "follow", lambda: supple.follow(robot, path, elements=1)
    yield "compensate", lambda: supple.compensate(robot, path)
    yield "settled", lambda: supple.settled(robot, path)


def memory() -> float:
    """Largest memory of this process so far, MB."""
    return most_memory() / 1e6


def serve(name: str) -> None:
    """Print one line of JSON for each question: its name, two times and the memory until then."""
    warnings.simplefilter("ignore")
    for question, call in questions(name):
        times: list[float] = []
        fault = ""
        for _ in range(2):
            begin = process_time()
            try:
                call()
            except Exception as problem:  # noqa: BLE001  (a question that fails is a row as well)
                fault = f"{type(problem).__name__}: {problem}"
                break
            times.append(process_time() - begin)
        print(json.dumps([question, times, memory(), fault]), flush=True)


def answers_of_process(name: str) -> tuple[list[tuple[str, list[float], float, str]], bool]:
    """Answers of a process that asks one robot, and whether it ended by itself."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "bench.matrix", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        out, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
    lines = [json.loads(line) for line in out.splitlines() if line.endswith("]")]
    return [tuple(line) for line in lines], process.returncode == 0


def bench(quick: bool) -> Report:
    """Ask all robots everything."""
    rows: list[Row] = []
    notes: list[str] = []
    checks: list[Check] = []
    slowest = 0.0
    largest = 0.0
    for name in QUICK_ROBOTS if quick else ROBOTS:
        answers, ended = answers_of_process(name)
        if not ended:
            notes.append(f"{name} was ended after {LONGEST} s: its last rows are missing")
        for question, times, megabytes, fault in answers:
            label = f"{name}, {question}"
            if fault:
                notes.append(f"{label}: {fault}")
            if len(times) < 2:
                continue
            largest = max(largest, megabytes)
            if question == "run, python law" and name != "hexapod":
                slowest = max(slowest, times[0] / MOTION)
            first, second = times
            more = {"second call": f"{second:.3g} s", "memory": f"{megabytes:.0f} MB"}
            data = {"second_seconds": second, "megabytes": megabytes}
            ratio = first / rows[0].timing.seconds if rows else 1.0
            rows.append(Row(label, Timing((first,), (first,)), ratio, more, data))
        checks.append(Check(f"{name} was asked at least for its modes", len(answers) > 2))
    goals = [
        Goal("slowest run under a Python law, times real time", PYTHON_LAW, slowest, seconds=False),
        Goal("largest memory, MB", 300.0, largest, seconds=False),
    ]
    return Report(
        f"Library robots by main questions, a process each; runs of {MOTION:g} s (first call)",
        "question",
        rows,
        goals,
        checks,
        notes,
    )


BENCHES = {"matrix": bench}

if __name__ == "__main__":
    serve(sys.argv[1])
