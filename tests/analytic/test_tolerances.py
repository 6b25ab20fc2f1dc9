"""Intervals of frequencies: powers in closed form, random samples inside, and turning points."""

import numpy as np
import pytest

import supple

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
    ("within", "told"),
    [
        ({}, "within is empty"),
        ({"payload.mass": -1}, "give a positive number"),
        ({"payload.colour": 1.0}, "payload.colour"),
    ],
)
def test_bad_questions_get_a_sentence(within: dict, told: str) -> None:
    with pytest.raises(supple.SuppleError, match=told):
        supple.tolerances(supple.load("industrial-3"), within)
