"""Noise of several sensors, rests beyond buckling, and hub inertias that count for nothing."""

import warnings
from typing import Any

import numpy as np
import pytest

import supple
from supple.equations.equilibrium import UnstableRestWarning, static_state
from supple.robot import SerialRobot

MATERIAL = {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700}


def bar(name: str, joint: dict[str, Any], **more: Any) -> dict[str, Any]:
    section = {"shape": "rectangle", "depth": 0.02, "width": 0.02}
    part = {"name": name, "length": 0.5, "theory": "rigid", "joint": joint}
    return part | {"material": MATERIAL, "section": section} | more


@pytest.fixture(scope="module")
def model() -> Any:
    return supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))


def noise_of(model: Any, **sensors: Any) -> dict[str, np.ndarray]:
    outputs = {"clean": supple.Encoder("link1"), **sensors}
    run = supple.simulate(model, duration=0.05, outputs=outputs)
    return {name: run.outputs[name] - run.outputs["clean"] for name in sensors}


def test_two_sensors_have_noise_of_their_own_and_the_same_again(model: Any) -> None:
    """Both had seed 0: their noise was the same sample by sample."""
    sensor = supple.Sensor(supple.Encoder("link1"), noise=1e-3)
    first, again = (noise_of(model, a=sensor, b=sensor) for _ in range(2))
    together = np.corrcoef(first["a"].ravel(), first["b"].ravel())[0, 1]
    assert abs(together) < 0.3  # 102 values; 1 when they were the same
    assert np.array_equal(first["a"], again["a"])
    assert np.array_equal(first["b"], again["b"])


def test_a_seed_that_is_given_counts(model: Any) -> None:
    sensor = supple.Sensor(supple.Encoder("link1"), noise=1e-3, seed=3)
    found = noise_of(model, a=sensor, b=sensor)
    assert np.array_equal(found["a"], found["b"])


def mast(depth: float) -> Any:
    section = {"shape": "rectangle", "depth": depth, "width": 0.02}
    link = bar("mast", {"type": "revolute"}, length=1.0, theory="euler-bernoulli", section=section)
    given = {"name": "mast", "planar": True, "gravity": [0, -9.81, 0], "links": [link]}
    robot = SerialRobot.model_validate(given | {"payload": {"mass": 1.0}})
    return supple.build(robot, supple.AssumedModes(2), stiffening=True)


def test_a_static_start_beyond_buckling_is_told() -> None:
    """Euler: pi^2 EI / (4 L^2) = 2.3 N at a depth of 2 mm, 62 N at 6 mm; the payload weighs 9.8."""
    with pytest.warns(UnstableRestWarning, match="beyond buckling"):
        static_state(mast(0.002), [np.pi / 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        static_state(mast(0.006), [np.pi / 2])
        static_state(mast(0.002), [-np.pi / 2])  # hanging


@pytest.mark.parametrize(("inertia", "noted"), [([0.5], True), ([0.5, 0.5, 0.5], False)])
def test_a_hub_inertia_that_counts_for_nothing_is_noted(inertia: list[float], noted: bool) -> None:
    hub = {"mass": 1.0, "inertia": inertia}
    links = [bar("arm", {"type": "revolute"}), bar("slide", {"type": "prismatic", "hub": hub})]
    robot = SerialRobot.model_validate({"name": "rp", "planar": True, "links": links})
    notes = [note for note in supple.check(robot).notes if "hub" in note]
    assert bool(notes) is noted
    turning = supple.build(robot).mass_matrix(np.array([0.0, 0.4]))[0, 0]
    bare = SerialRobot.model_validate(
        {"name": "rp", "planar": True, "links": [links[0], bar("slide", {"type": "prismatic"})]}
    )
    without = supple.build(bare).mass_matrix(np.array([0.0, 0.4]))[0, 0] + 0.5**2  # 1 kg at 0.5 m
    assert turning == pytest.approx(without + (0.0 if noted else 0.5))
