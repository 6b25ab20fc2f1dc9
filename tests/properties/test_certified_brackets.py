"""No certified bracket without its root: random arms and Deltas, arbitrated in many digits.

The kernel's brackets are held against a second count in doubles, of the whole structure assembled
in one matrix over tree coordinates; where the two differ, forty digits decide (`many_digits`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import supple
from analytic.many_digits import count_below
from properties.random_arms import random_arm
from supple.assembly import coordinates, exact_ends
from supple.beams.dynamic_stiffness import exact_form
from supple.robot import SerialRobot
from supple.structure import Structure
from supple.studies.vibration.shapes import cut_beams, dynamic_stiffness

ROOTS = 3
CERTIFIED = 1e-9


def dense_count(structure: Structure, omega: float) -> int:
    """J by the inertia of the whole matrix, beams cut so that none has a frequency of its own."""
    fine, _ = cut_beams(structure, 1.001 * omega)
    z = coordinates(fine, exact_ends(fine))
    forms = [
        exact_form(s.beam, float(L), omega) for s, L in zip(fine.segments, fine.L[0], strict=True)
    ]
    K = dynamic_stiffness(fine, z, omega, forms)
    c = len(z.closure)
    A = np.block([[K, z.closure.T], [z.closure, np.zeros((c, c))]])
    for _ in range(4):  # equilibrate: the inertia stays, the rounding shrinks
        size = np.abs(A).max(axis=1)
        s = 1 / np.sqrt(np.where(size > 0, size, 1.0))
        A = s[:, None] * A * s
    drives = [r for s in fine.segments for r in s.releases if r.series]
    behind = sum(r.stiffness < omega * omega * r.inertia for r in drives)  # rotors behind springs
    return int((np.linalg.eigvalsh(A) < 0).sum()) - c + behind


def judged(found: supple.Modes, tally: dict[str, int]) -> None:
    """Check every certified bracket of one configuration; add up what was done."""
    for k, (w, width) in enumerate(zip(found.omega, found.width, strict=True)):
        tally["roots"] += 1
        if not width <= CERTIFIED:
            tally["not certified"] += 1
            continue
        ends = w * (1 - 1.01 * width), w * (1 + 1.01 * width)
        before = found.rigid_modes + k
        seen = [dense_count(found.structure, x) for x in ends]
        if seen[0] <= before < seen[1]:
            continue
        tally["arbitrated"] += 1
        exact = [count_below(found.structure, x) for x in ends]
        assert exact[0] <= before < exact[1], (found.robot.name, found.theta, k, exact, seen)


def extreme(robot: SerialRobot, theta: np.ndarray, rng: np.random.Generator) -> tuple[Any, Any]:
    """One arm in three is made extreme: masses, lengths, springs, or a degenerate pose."""
    name = robot.links[int(rng.integers(len(robot.links)))].name
    what = int(rng.integers(5))
    if what == 0:
        body = {"mass": 10 ** rng.uniform(-6, 9), "com": [0.1, 0.05, 0], "inertia": [1, 1, 1]}
        robot = robot.with_(f"links.{name}.tip", body)
    elif what == 1:
        robot = robot.with_(f"links.{name}.length", 10 ** rng.uniform(-6, -3))
    elif what == 2:
        theta = np.zeros_like(theta)
    elif what == 3:
        theta = math.pi * rng.integers(-1, 2, len(theta)).astype(float)
    else:
        theta = theta * 10 ** rng.uniform(-12, -3)
    return robot, theta


def arms(first: int, count: int) -> dict[str, int]:
    tally = dict.fromkeys(("arms", "refused", "roots", "not certified", "arbitrated"), 0)
    for seed in range(first, first + count):
        arm = random_arm(seed)
        rng = np.random.default_rng([seed, 11])
        robot = arm.robot
        theta = arm.theta
        if seed % 3 == 0:
            robot, theta = extreme(robot, theta, rng)
        joints = "free" if seed % 4 == 1 else "locked"
        tally["arms"] += 1
        try:
            found = supple.modes(robot, theta, ROOTS, joints=joints)
        except supple.SuppleError:
            tally["refused"] += 1
            continue
        judged(found, tally)
    return tally


def deltas(first: int, count: int) -> dict[str, int]:
    tally = dict.fromkeys(("deltas", "refused", "roots", "not certified", "arbitrated"), 0)
    base = supple.load("kuo-delta")
    for seed in range(first, first + count):
        rng = np.random.default_rng([seed, 12])
        robot = base.with_(
            {
                "upper.length": rng.uniform(0.2, 0.8),
                "lower.length": rng.uniform(0.4, 1.2),
                "platform.mass": 10 ** rng.uniform(-3, 4),
            }
        )
        rods = str(rng.choice(["single", "twist"]))
        robot = robot.with_("lower.rods", rods)
        at = rng.uniform(-0.3, 0.3, 3) * (seed % 5 > 0)
        at[2] = rng.uniform(0.15, 0.9)
        joints = "free" if seed % 4 == 1 else "locked"
        tally["deltas"] += 1
        try:
            found = supple.modes(robot, position=at, count=ROOTS, joints=joints)
        except supple.SuppleError:
            tally["refused"] += 1
            continue
        judged(found, tally)
    return tally


@pytest.mark.slow
def test_a_sample_of_brackets_holds_its_roots() -> None:
    found = arms(0, 30)
    assert found["roots"] > 3 * found["refused"]
    assert found["not certified"] <= 0.05 * found["roots"]
    assert deltas(0, 4)["deltas"] == 4


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_arms(part: int) -> None:
    print(arms(1000 * part, 1000))


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::supple.errors.PoseWarning")  # poses near singular ones too
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_deltas(part: int) -> None:
    print(deltas(100 * part, 100))


def test_the_judge_can_fail() -> None:
    """A bracket moved beside its root is found."""
    found = supple.modes(supple.load("industrial-3"), [0, 0.5, 1.0], ROOTS)
    wrong = replace(found, omega=found.omega * (1 + 1e-8))
    with pytest.raises(AssertionError):
        judged(wrong, dict.fromkeys(("roots", "not certified", "arbitrated"), 0))
