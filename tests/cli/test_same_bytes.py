"""The same question in another process, with other orders and addresses: the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MAGNUS = [
    *("simulate", "theodore-rrp", "--controller", "decoupling", "--trajectory", "extension"),
    *("--method", "magnus", "--dt", "0.01", "--json"),
]
SCRIPT = """
import hashlib, pathlib, supple
robot = supple.load("industrial-3")
f = supple.build(robot, supple.AssumedModes(2)).functions.expression("forward_dynamics")
print([(f.instruction_id(k), *f.instruction_input(k)) for k in range(f.n_instructions())])
found = supple.modes(robot, [0, 0.5, 0.5], count=4)
for ending in ("svg", "pdf", "png"):
    found.plot("modes." + ending)
found.save_page("modes.html")
for ending in ("svg", "pdf", "png", "html"):
    print(ending, hashlib.sha256(pathlib.Path("modes." + ending).read_bytes()).hexdigest())
"""


def run(seed: int, folder: Path, *words: str) -> list[str]:
    """The lines it prints; `seed` orders the sets of Python and moves what lies in memory."""
    surroundings = {**os.environ, "PYTHONHASHSEED": str(seed), "SOME_ROOM": "x" * 1000 * seed}
    ran = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=surroundings,
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout.splitlines()


@pytest.mark.slow
def test_a_magnus_run_as_json(tmp_path: Path) -> None:
    """It differentiates backwards: operands ordered by address made other sums each time."""
    told = [run(seed, tmp_path, "-m", "supple", *MAGNUS) for seed in (1, 2)]
    assert len(told[0][0]) > 1000
    assert told[0] == told[1]


@pytest.mark.slow
def test_equations_pictures_and_pages(tmp_path: Path) -> None:
    told = [run(seed, tmp_path, "-c", SCRIPT) for seed in (1, 2)]
    assert len(told[0]) == 5
    assert told[0] == told[1]
