"""What a new process waits for: `import supple`, the first call, the cold command line.

Every round starts a process of its own; the first one, which may fill the disk's cache, is not
counted. Wall time, since that is what one waits for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import supple

from .report import Check, Goal, Report, rows_of
from .timing import Contestant, Timing, measure

__all__ = ["BENCHES"]

HEAVY = ("scipy", "casadi", "matplotlib", "xarray")
THETA = (0.0, 0.7853981633974483, 0.7853981633974483)
AT = ("industrial-3", "--at", "0,45deg,45deg")

FIRST_CALL = f"""
import json, sys, time
t0 = time.perf_counter()
import supple
t1 = time.perf_counter()
heavy = [name for name in {HEAVY} if name in sys.modules]
robot = supple.load("industrial-3")
t2 = time.perf_counter()
found = supple.modes(robot, {list(THETA)})
t3 = time.perf_counter()
supple.modes(robot, {list(THETA)})
t4 = time.perf_counter()
print(json.dumps([[t1 - t0, t2 - t1, t3 - t2, t4 - t3], heavy, found.omega.tolist()]))
"""
STEPS = ("import supple, inside", "first supple.load", "first supple.modes", "second supple.modes")

HELP = f"""
import sys
sys.argv = ["supple", "--help"]
from supple.cli import main
try:
    main()
finally:
    print()
    print(" ".join(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)
"""


def command() -> list[str]:
    """The installed `supple`, or the module where it is not installed beside this Python."""
    script = Path(sys.executable).with_name("supple")
    return [str(script)] if script.exists() else [sys.executable, "-m", "supple"]


def run(*words: str) -> str:
    """Run a command; its output, or an error that shows what it said."""
    return done(*words).stdout


def done(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command that must end well."""
    ended = subprocess.run(words, capture_output=True, text=True, check=False, env=dict(os.environ))
    if ended.returncode != 0:
        raise RuntimeError(f"{' '.join(words[:3])} ..: exit {ended.returncode}\n{ended.stderr}")
    return ended


def first_calls(repeats: int) -> tuple[dict[str, Timing], list[str], np.ndarray]:
    """Time the steps of a fresh process from inside it; also what it loaded and found."""
    answers = [json.loads(run(sys.executable, "-c", FIRST_CALL)) for _ in range(repeats + 1)][1:]
    times = np.array([answer[0] for answer in answers])
    timings = {
        name: Timing(tuple(column), tuple(column), outside=True)
        for name, column in zip(STEPS, times.T.tolist(), strict=True)
    }
    return timings, answers[0][1], np.array(answers[0][2])


def bench(quick: bool) -> Report:
    """Run everything of this topic."""
    repeats = 3 if quick else 5
    supple_ = command()
    calls = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import supple'": [sys.executable, "-c", "import supple"],
        "supple --help": [*supple_, "--help"],
        "supple modes industrial-3 ..": [*supple_, "modes", *AT],
        "the same with --json": [*supple_, "modes", *AT, "--json"],
    }
    timings, answers = measure(
        {name: Contestant(lambda words=words: run(*words)) for name, words in calls.items()},
        repeats,
        outside=True,
    )
    inside, heavy, omega = first_calls(repeats)
    helped = done(sys.executable, "-c", HELP).stderr.split()
    wanted = supple.modes(supple.load("industrial-3"), THETA).omega
    printed = json.loads(answers["the same with --json"])["omega"]
    return Report(
        "Start of a process (wall time; a first run, which may fill caches, is not counted)",
        "run",
        rows_of(timings | inside),
        [
            Goal(
                "import supple, interpreter included",
                0.3,
                timings["python -c 'import supple'"].seconds,
            ),
            Goal("supple --help", 0.3, timings["supple --help"].seconds),
            Goal(
                "supple modes from a cold start",
                1.0,
                timings["supple modes industrial-3 .."].seconds,
            ),
            Goal(
                "first supple.modes after import and load",
                5e-3,
                inside["first supple.modes"].seconds,
            ),
        ],
        [
            Check(f"import supple loads none of {', '.join(HEAVY)} {heavy or ''}", not heavy),
            Check(f"supple --help loads none of them {helped or ''}", not helped),
            Check("fresh processes find this process's frequencies", np.array_equal(omega, wanted)),
            Check("--json prints them", np.allclose(printed, wanted, rtol=1e-12, atol=0)),
            Check(
                "the table says that it is certified",
                "ertified" in answers["supple modes industrial-3 .."],
            ),
        ],
        ["ratio to the bare interpreter"],
    )


BENCHES = {"startup": bench}
