"""This tree beside another checkout, in turns: `python -m bench.beside ../other [--rounds 7]`.

Each checkout runs in a process of its own, which imports `supple` from its `src` and waits; the two
are asked in turns, so that a slow spell of the machine hits both. What is told is processor time:
the median of the rounds, and the median of the rounds' ratios, here over there.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

__all__ = ["main", "tasks"]

ROUNDS = 7
SHORTEST = 0.15  # s, of one round of a task: it is repeated until it lasts as long


def tasks() -> dict[str, Callable[[], Any]]:
    """Return what is timed by name; robots and Models are made before, unless they are asked."""
    import numpy as np

    import supple

    rng = np.random.default_rng(1)
    names = ("industrial-3", "theodore-rrp", "kuo-delta", "five-bar", "de-luca-two-link")
    arm, slid, delta, five, two = (supple.load(name) for name in names)
    spatial = supple.load("two-arms")
    free = arm.with_("planar", False)
    theta = rng.uniform(-1, 1, (1000, 3))
    turned = rng.uniform(-0.5, 0.5, (200, len(supple.modes(spatial, count=1).theta)))
    lengths = rng.uniform(-0.3, 0.3, (200, 3))
    places = rng.uniform(-0.05, 0.05, (200, 3))
    lengths[:, 2] += 0.9 * slid.links[-1].length - 0.3
    places[:, 2] += 0.6
    built = {robot.name: supple.build(robot, supple.AssumedModes(2)) for robot in (arm, two, slid)}
    loops = {robot.name: supple.build(robot, supple.AssumedModes(1)) for robot in (delta, five)}
    q = {name: model.chain.pose() for name, model in (built | loops).items()}
    q["theodore-rrp"][2] = 0.7 * slid.links[-1].length
    q["kuo-delta"][:3] = -0.4

    def forward(name: str, batch: int = 0) -> Callable[[], Any]:
        model = (built | loops)[name]
        at = q[name]
        many = np.tile(at, (batch, 1)) if batch else at
        efforts = np.zeros((*many.shape[:-1], model.joints))
        return lambda: model.forward_dynamics(many, 0 * many, efforts)

    stroke = supple.ParabolicBlends([0.05, 0, 0.6], [-0.05, 0.02, 0.62], duration=0.3, blend=0.1)
    swing = supple.ParabolicBlends([0.0, 0.0], [0.3, 0.2], duration=0.3, blend=0.1)
    crank = np.asarray(supple.modes(five, count=1).theta)
    turn = supple.ParabolicBlends(crank, crank + 0.1, duration=0.3, blend=0.1)
    heavier = {robot.name: [0.0] for robot in (arm, two, delta, five)}

    def afresh(robot: Any) -> Any:  # a robot that nothing was asked of before
        heavier[robot.name][0] += 1e-9
        return robot.with_("payload", {"mass": 1.0 + heavier[robot.name][0]})

    basis = supple.AssumedModes(2)
    return {
        "exact batch, 3 links (1000)": lambda: supple.modes(arm, theta, count=5),
        "exact batch, spatial arm (1000)": lambda: supple.modes(free, theta, count=5),
        "exact batch, spatial tree (200)": lambda: supple.modes(spatial, turned, count=5),
        "exact batch, sliding arm (200)": lambda: supple.modes(slid, lengths, count=3),
        "exact batch, Delta (200)": lambda: supple.modes(delta, position=places, count=5),
        "exact single, 3 links": lambda: supple.modes(arm, [0.1, 0.2, 0.3], count=5),
        "exact single, new robot": lambda: supple.modes(afresh(arm), [0.1, 0.2, 0.3], count=5),
        "exact single, Delta": lambda: supple.modes(delta, position=[0.05, 0, 0.6], count=5),
        "exact single, new Delta": lambda: supple.modes(
            afresh(delta), position=[0.05, 0, 0.6], count=5
        ),
        "exact single, five-bar": lambda: supple.modes(five, count=5),
        "statics, 3 links": lambda: supple.statics(arm, [0.1, 0.2, 0.3]),
        "build, 3 links": lambda: supple.build(afresh(arm), basis),
        "build, Delta": lambda: supple.build(afresh(delta), basis),
        "build, five-bar": lambda: supple.build(afresh(five), basis),
        "forward dynamics, 3 links": forward("industrial-3"),
        "forward dynamics, 3 links (1000)": forward("industrial-3", 1000),
        "forward dynamics, sliding arm": forward("theodore-rrp"),
        "forward dynamics, Delta": forward("kuo-delta"),
        "forward dynamics, five-bar": forward("five-bar"),
        "run, two links": lambda: supple.simulate(
            built["de-luca-two-link"], [0.1, 0.0], duration=0.05, limits=False
        ),
        "Delta stroke": lambda: supple.follow(delta, stroke, elements=1),
        "two-link stroke": lambda: supple.follow(two, swing, elements=1),
        "five-bar stroke": lambda: supple.follow(five, turn, elements=1),
    }


def serve() -> None:
    """Answer names of tasks on the input with seconds a call on the output, until it ends."""
    warnings.simplefilter("ignore")
    known = tasks()
    counts: dict[str, int] = {}
    import supple

    sys.stdout.write(json.dumps([str(Path(supple.__file__).parents[2]), *known]) + "\n")
    sys.stdout.flush()
    for line in sys.stdin:
        name = line.strip()
        call = known[name]
        if name not in counts:  # caches are filled, and how often to repeat is found
            call()
            start = process_time()
            call()
            counts[name] = max(1, int(SHORTEST / max(process_time() - start, 1e-6)))
        gc.collect()
        gc.disable()
        start = process_time()
        for _ in range(counts[name]):
            call()
        seconds = (process_time() - start) / counts[name]
        gc.enable()
        sys.stdout.write(json.dumps(seconds) + "\n")
        sys.stdout.flush()


def started(source: Path) -> subprocess.Popen[str]:
    """Return a process that serves the tasks with the supple of one checkout."""
    environment = os.environ | {"PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1"}
    environment |= {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, __file__, "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def ask(process: subprocess.Popen[str], name: str) -> float:
    """Return the seconds of one round of a task."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(name + "\n")
    process.stdin.flush()
    return float(json.loads(process.stdout.readline()))


def main() -> None:
    """Time this tree beside another checkout and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("other", type=Path, help="another checkout, with its kernels compiled")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="tasks whose names hold this")
    asked = parser.parse_args()
    here, there = (started(root) for root in (Path(__file__).parents[1], asked.other))
    (ours_at, *names), (theirs_at, *_) = (
        json.loads(process.stdout.readline()) for process in (here, there) if process.stdout
    )
    if ours_at == theirs_at:
        sys.exit(f"both import supple from {ours_at}: give another checkout")
    sys.stdout.write(f"{'task':36s} {'here':>12s} {'there':>12s} {'ratio':>7s}\n")
    for name in (name for name in names if asked.only in name):
        ask(here, name)
        ask(there, name)
        rounds = [(ask(here, name), ask(there, name)) for _ in range(asked.rounds)]
        ours, theirs = (median(column) for column in zip(*rounds, strict=True))
        ratio = median(a / b for a, b in rounds)
        sys.stdout.write(f"{name:36s} {1e3 * ours:9.4f} ms {1e3 * theirs:9.4f} ms {ratio:7.3f}\n")
        sys.stdout.flush()
    for process in (here, there):
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        main()
