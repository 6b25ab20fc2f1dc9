"""Intervals of frequencies: powers in closed form, random samples inside, and turning points."""

import numpy as np
import pytest

import supple
from properties.random_boxes import random_arm

BAR = """
supple: 1
name: bar
architecture: serial
planar: true
links:
  - {name: one, joint: {type: revolute}, length: 0.8, mass_per_length: 2.0, bending_stiffness: 900,
     theory: euler-bernoulli}
"""


def test_a_cantilever_by_its_powers() -> None:
    """Omega goes with sqrt(EI / m) / L^2: the corners are known by hand."""
    within = {
        "links.one.bending_stiffness": 45.0,
        "links.one.length": 0.004,
        "links.one.mass_per_length": 0.1,
    }
    found = supple.tolerances(supple.loads(BAR), within, count=3)
    low = np.sqrt(855 / 900 / (2.1 / 2)) * (0.8 / 0.804) ** 2
    high = np.sqrt(945 / 900 / (1.9 / 2)) * (0.8 / 0.796) ** 2
    np.testing.assert_allclose(found.low, low * found.omega, rtol=1e-9)
    np.testing.assert_allclose(found.high, high * found.omega, rtol=1e-9)
    np.testing.assert_allclose(
        found.spread["links.one.length"], 2 * found.omega * 0.004 / 0.8, rtol=1e-6
    )
    assert found.monotonic.all()


def test_random_robots_within_lie_in_the_intervals() -> None:
    robot = supple.load("industrial-3").with_("payload.mass", 2.0)
    within = {"links.link1.section.wall": 5e-4, "payload.mass": 0.5, "theta.link2": 0.02}
    found = supple.tolerances(robot, within, theta=[0, 0.7, 0.5], count=4)
    rng = np.random.default_rng(3)
    for _ in range(40):
        wall, mass, turn = rng.uniform(-1, 1, 3)
        one = robot.with_(
            {
                "links.link1.section.wall": 0.01 + 5e-4 * wall,
                "payload.mass": 2 + 0.5 * mass,
            }
        )
        value = supple.modes(one, [0, 0.7 + 0.02 * turn, 0.5], count=4).omega
        assert (value >= found.low * (1 - 1e-9)).all()
        assert (value <= found.high * (1 + 1e-9)).all()


def test_a_turning_point_is_not_missed() -> None:
    """The first frequency is least inside the interval of theta2, not at an end."""
    robot = supple.load("industrial-3")
    found = supple.tolerances(robot, {"theta.link2": 0.3}, theta=[0, 0, 0.4], count=2)
    ends = [supple.modes(robot, [0, t, 0.4], count=2).omega for t in np.linspace(-0.3, 0.3, 61)]
    assert not found.monotonic[0]
    assert 0 < np.argmin(np.array(ends)[:, 0]) < 60
    np.testing.assert_allclose(found.low, np.min(ends, axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.high, np.max(ends, axis=0), rtol=1e-5)
    assert (found.low <= np.min(ends, axis=0) * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("within", "sentence"),
    [
        ({}, "within is empty"),
        ({"payload.mass": -1}, "give a positive number"),
        ({"payload.colour": 1.0}, "payload.colour"),
    ],
)
def test_bad_questions_get_a_sentence(within: dict, sentence: str) -> None:
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.tolerances(supple.load("industrial-3"), within)


def test_slopes_at_three_points_prove_nothing() -> None:
    """Mode 2 falls at the middle and at both ends, and turns twice between them."""
    robot = supple.load("industrial-3")
    theta = np.array([0.69, -0.7, 2.98])
    off = 2.46
    found = supple.tolerances(robot, {"theta.link3": off}, theta=theta, count=3)
    poses = np.tile(theta, (801, 1))
    poses[:, 2] += np.linspace(-off, off, 801)
    omega = supple.modes(robot, poses, count=3).omega
    assert not found.monotonic[1]
    assert (omega >= found.low * (1 - 1e-9)).all()
    assert (omega <= found.high * (1 + 1e-9)).all()
    np.testing.assert_allclose(found.low, omega.min(axis=0), rtol=1e-4)
    np.testing.assert_allclose(found.high, omega.max(axis=0), rtol=1e-4)


def test_rounding_is_no_turning_point() -> None:
    """The first joint of a planar arm changes nothing: its slopes are rounding."""
    robot = supple.load("industrial-3")
    within = {"theta.link1": 0.1, "links.link1.section.wall": 1e-4}
    found = supple.tolerances(robot, within, theta=[0, 0.7, 0.5], count=3)
    assert found.monotonic.all()
    assert (found.spread["theta.link1"] == 0).all()


def test_seven_parameters_that_turn_are_answered() -> None:
    robot = supple.load("industrial-3").with_("payload.mass", 2.0)
    within = {f"links.link{k}.section.wall": 5e-4 for k in (1, 2, 3)}
    within |= {f"links.link{k}.length": 0.01 for k in (1, 2)}
    within |= {"payload.mass": 0.5, "theta.link2": 0.4}
    found = supple.tolerances(robot, within, theta=[0, 0.0, 0.4], count=1)
    assert not found.monotonic[0]
    rng = np.random.default_rng(5)
    for _ in range(20):
        part = rng.choice([-1.0, 1.0], 6)
        changes = {
            key: {"wall": 0.01, "length": 1.5, "mass": 2.0}[key.rpartition(".")[2]] + x * off
            for (key, off), x in zip(list(within.items())[:6], part, strict=True)
        }
        changes["links.link2.length"] = robot.links[1].length + part[4] * 0.01
        changes["links.link1.length"] = robot.links[0].length + part[3] * 0.01
        poses = np.column_stack([np.zeros(40), np.linspace(-0.4, 0.4, 40), np.full(40, 0.4)])
        omega = supple.modes(robot.with_(changes), poses, count=1).omega
        assert (omega >= found.low * (1 - 1e-9)).all()
        assert (omega <= found.high * (1 + 1e-9)).all()


def claim_of_a_random_box(seed: int) -> None:
    """No robot of the box that brute force computes has a frequency outside its interval."""
    rng = np.random.default_rng(seed)
    robot = random_arm(rng)
    names = [link.name for link in robot.links]
    theta = rng.uniform(-np.pi, np.pi, len(names))
    could: dict[str, float] = {"payload.mass": robot.payload.mass * rng.uniform(0.05, 0.95)}
    for link in robot.links:
        could[f"links.{link.name}.section.wall"] = link.section.wall * rng.uniform(0.05, 0.6)
        could[f"links.{link.name}.length"] = link.length * rng.uniform(0.01, 0.3)
        could[f"links.{link.name}.tip.mass"] = link.tip.mass * rng.uniform(0.1, 0.9)
        could[f"theta.{link.name}"] = rng.uniform(0.02, 2.0)
    keys = rng.permutation(list(could))[: int(rng.integers(1, 5))].tolist()
    if rng.random() < 0.4:
        keys = [key for key in could if key.startswith("theta")][1:]
    within = {key: float(could[key]) for key in keys}
    count = 3
    found = supple.tolerances(robot, within, theta=theta, count=count)
    # poses at random for each of some robots at random, corners and faces among them
    robots = 150 if any(not key.startswith("theta") for key in keys) else 1
    for _ in range(robots):
        part = rng.uniform(-1.2, 1.2, (200 if robots > 1 else 8000, len(keys))).clip(-1, 1)
        part[:, [not key.startswith("theta") for key in keys]] = part[0][
            [not key.startswith("theta") for key in keys]
        ]
        changes = {}
        poses = np.tile(theta, (len(part), 1))
        for k, key in enumerate(keys):
            if key.startswith("theta."):
                poses[:, names.index(key[6:])] += part[:, k] * within[key]
                continue
            parts = key.split(".")
            value = robot.payload.mass
            if parts[0] == "links":
                link = robot.links[names.index(parts[1])]
                value = {
                    "wall": link.section.wall,
                    "length": link.length,
                    "mass": link.tip.mass,
                }[parts[-1]]
            changes[key] = float(value + part[0, k] * within[key])
        one = robot.with_(changes) if changes else robot
        omega = supple.modes(one, poses, count=count).omega
        assert (omega >= found.low * (1 - 1e-7)).all(), "below the interval"
        assert (omega <= found.high * (1 + 1e-7)).all(), "above the interval"
    assert (found.low <= found.omega).all()
    assert (found.omega <= found.high).all()


@pytest.mark.parametrize("seed", range(4))
def test_brute_force_stays_inside_the_intervals(seed: int) -> None:
    claim_of_a_random_box(seed)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(8))
def test_brute_force_stays_inside_200_intervals(part: int) -> None:
    for seed in range(100 + 25 * part, 125 + 25 * part):
        try:
            claim_of_a_random_box(seed)
        except AssertionError as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem
