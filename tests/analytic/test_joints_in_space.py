"""Constant-velocity closures and free joints against what is known of them in closed form."""

from typing import Any

import numpy as np
import pytest

import supple
from supple.architectures.assembling import resolve
from supple.architectures.kinds import lower

BAR = {
    "material": {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700},
    "section": {"shape": "rectangle", "depth": 0.006, "width": 0.009},
}


def shafts(kind: str, bend: float, **more: Any) -> supple.MechanismRobot:
    """Two shafts in bearings that meet at an angle, tied there."""
    turn = {"type": "revolute", "axis": [1, 0, 0], "start": 0.1}
    there = {"mount": {"xyz": [0.4, 0, 0], "rpy": [0, 0, bend]}, "passive": True}
    links = [
        {"name": "a", "parent": "base", "joint": turn, "length": 0.4, **BAR},
        {"name": "b", "parent": "base", "joint": turn | there, "length": 0.3, **BAR},
    ]
    tied = {"type": kind, "ends": ["a", {"link": "b", "at": 0}], **more}
    data = {"name": "shafts", "links": links, "closures": [tied], "tip": "b"}
    return supple.MechanismRobot.model_validate(data)


@pytest.mark.parametrize("bend", [0.0, 0.6, 1.2])
def test_shafts_turn_alike(bend: float) -> None:
    """At any bend, whereas behind a universal joint tan b = cos(bend) tan a, from the pin up."""
    theta = np.linspace(-1.4, 1.4, 9)
    x, reason = resolve(lower(shafts("constant-velocity", bend)), theta[:, None])
    assert not any(reason)
    np.testing.assert_allclose(x[:, 1], theta, atol=1e-9)
    x, reason = resolve(
        lower(shafts("universal", bend, axes=[[0, 0, 1], [0, 1, 0]])), theta[:, None]
    )
    assert not any(reason)
    np.testing.assert_allclose(np.tan(x[:, 1]), np.tan(theta) * np.cos(bend), atol=1e-8)


def test_shafts_turn_alike_in_motion() -> None:
    """Rigid, at constant speed: equal rates, and the inertia of both on the motor."""
    robot = shafts("constant-velocity", 0.7)
    robot = robot.with_({f"links.{name}.theory": "rigid" for name in "ab"})
    model = supple.build(robot)
    q = np.array([0.4])
    qd = np.array([2.0])
    assert model.functions.evaluator("drift")(q, qd)[0].ravel() == pytest.approx([2.0], abs=1e-12)
    polar = 2700 * 0.006 * 0.009 * (0.006**2 + 0.009**2) / 12 * 0.7
    assert model.mass_matrix(q)[0, 0] == pytest.approx(polar, rel=1e-12)


def floating(**more: Any) -> supple.MechanismRobot:
    joint = {"type": "free", "start": [0.1, 0.2, 1.0, 0.3, 0.2, 0.5]}
    bar = {"name": "bar", "joint": joint, "length": 0.5, **BAR, **more}
    data = {"name": "afloat", "gravity": [0, 0, -9.8], "links": [bar]}
    return supple.MechanismRobot.model_validate(data)


def test_a_free_bar_has_the_frequencies_of_a_free_bar() -> None:
    """cosh k cos k = 1, Euler and Bernoulli, both planes."""
    found = supple.modes(floating(theory="euler-bernoulli"), count=4)
    assert found.rigid_modes == 6
    k = np.array([4.730040744862704, 7.853204624095838])
    radius = np.array([0.006, 0.009]) / np.sqrt(12)
    thin = np.sqrt(70e9 / 2700) * np.outer(k**2, radius) / 0.25
    np.testing.assert_allclose(found.omega, np.sort(thin.ravel())[:4], rtol=2e-3)  # rotary inertia


def test_a_free_bar_falls_as_a_body_does() -> None:
    """Thrown and spinning: its centre on a parabola, angular momentum and energy kept."""
    model = supple.build(floating(theory="rigid"))
    q = model.chain.pose()
    qd = np.array([0.4, -0.2, 1.0, 0.5, 0.7, -0.6])
    run = supple.simulate(model, [], q0=q, qd0=qd, duration=0.3, tolerance=1e-12)
    axes = run.tip_rotation[:, :, 0]
    centre = run.tip - 0.25 * axes
    start = centre[0]
    rate = (centre[1] - centre[0]) / run.t[1] + [0, 0, 4.9 * run.t[1]]
    fall = np.array([0, 0, -4.9]) * run.t[:, None] ** 2
    np.testing.assert_allclose(centre, start + rate * run.t[:, None] + fall, atol=1e-9)
    assert np.ptp(run.energy) < 1e-9 * np.abs(run.energy).max()


@pytest.mark.parametrize("key", ["stiffness", "damping", "friction"])
def test_a_free_joint_holds_nothing(key: str) -> None:
    joint = {"type": "free", key: 2.0}
    with pytest.raises(ValueError, match=f"{key} is not for a free joint"):
        floating(joint=joint)
