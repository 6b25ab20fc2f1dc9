"""Comparisons: what is measured, against closed forms; which method wins, on small robots."""

from functools import cache

import numpy as np
import pytest

import supple
from supple.studies.drive.trials import Trial

LINK = {
    "name": "arm",
    "length": 1.0,
    "mass_per_length": 0.5,
    "bending_stiffness": 400.0,
    "theory": "euler-bernoulli",
    "joint": {"type": "revolute", "hub": {"inertia": 0.1}},
}


def arm(**more: object) -> supple.SerialRobot:
    given = {"payload": {"mass": 0.5}, **more}
    return supple.SerialRobot(name="one-link", planar=True, links=[LINK], **given)


@cache
def found() -> supple.Comparison:
    return supple.compare(arm(), [0.0], [1.0], duration=0.5, elements=2)


def test_a_trial_is_measured_as_in_closed_form() -> None:
    """A tip that rings about its rest with an amplitude that decays: every figure is known."""
    a, w, c = 0.02, 2 * np.pi * 5, 1.5
    t = np.linspace(0.0, 4.0, 40_001)
    x = np.clip(t, 0, 1)
    late = np.maximum(t - 1.0, 0.0)
    ring = np.where(t > 1, a * np.exp(-c * late) * np.sin(w * late), 0.0)
    zero = np.zeros_like(t)
    tip = np.stack([x + ring, zero, zero + 0.3], axis=1)
    wanted = np.stack([x, zero, zero + 0.3], axis=1)
    effort, rate = np.where(t < 1, 2.0, 0.0)[:, None], np.where(t < 1, -0.5, 0.0)[:, None]
    trial = Trial(t, tip, wanted, effort, rate, 1.0)
    assert trial.goal == pytest.approx([1, 0, 0.3], abs=2e-3)
    phase = np.arctan2(w, c)
    first = a * np.exp(-c * phase / w) * np.sin(phase)  # the first and largest swing
    second = first * np.exp(-c * np.pi / w)
    assert trial.residual == pytest.approx((first + second) / 2, rel=1e-4)
    assert trial.overshoot == pytest.approx(first, abs=1e-3)
    assert trial.tip_error == pytest.approx(first, abs=1e-3)
    assert trial.energy == pytest.approx(1.0, rel=1e-3)
    swing = np.log(first / 0.005) / c  # peaks fall below the band about here, half a swing early
    assert trial.settling(0.005) == pytest.approx(1 + phase / w + swing, abs=0.11)
    assert trial.settling(1e-9) == np.inf


@pytest.mark.slow
def test_the_four_methods_on_one_link() -> None:
    """Numbers of one task; one link has the same modes everywhere."""
    c = found()
    assert c.methods == ("unshaped", "zvd", "scheduled", "optimised")
    assert c.residual.shape == (4, 3)
    assert c.payload == pytest.approx([1.0, 0.8, 1.2])
    unshaped, zvd, scheduled, optimised = c.worst
    assert scheduled < 0.1 * unshaped
    assert c.duration[2] == pytest.approx(c.duration[1], rel=1e-3)
    assert c.duration[3] < c.duration[1]
    assert optimised <= 1.5 * zvd
    assert np.isinf(c.settling[0]).all()
    assert np.isfinite(c.settling[1:]).all()
    assert "unshaped move leaves" in c.text[-1]
    assert "one-link" in repr(c)


def test_it_agrees_with_the_coupled_model() -> None:
    """Decoupling makes the joint follow exactly: simulate must see what follow sees."""
    law = supple.Decoupling(400.0, 40.0)
    given = {"methods": ["unshaped"], "payload_error": 0.0, "duration": 0.5}
    other = supple.compare(arm(), [0.0], [1.0], servo=None, elements=3, **given)
    law_run = supple.compare(arm(), [0.0], [1.0], **{**given, "methods": {"unshaped": law}})
    assert law_run.residual == pytest.approx(other.residual, rel=0.03)
    assert law_run.peak_effort == pytest.approx(other.peak_effort, rel=0.05)
    assert law_run.energy == pytest.approx(other.energy, rel=0.05)


def test_anything_that_drives_can_be_compared() -> None:
    move = supple.PointToPoint([0.0], [1.0], 0.6, "septic")
    methods = {
        "mine": move,
        "wide": supple.shaper("ei", 4.0),
        "pd": supple.JointPD(400.0, 40.0),
        "pair": (supple.JointPD(400.0, 40.0), "zv"),
    }
    c = supple.compare(arm(), [0.0], [1.0], 0.5, methods, payload_error=0.0, elements=1)
    assert c.methods == tuple(methods)
    assert c.duration[0] == pytest.approx(0.6)
    assert c.duration[1] == pytest.approx(0.75)
    assert np.isfinite(c.residual).all()


def test_a_robot_without_payload_is_told() -> None:
    bare = supple.SerialRobot(name="bare", planar=True, links=[LINK])
    c = supple.compare(bare, [0.0], [0.5], methods=["unshaped"], elements=1)
    assert c.payload == pytest.approx([1.0])
    assert "no payload" in c.changed


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"end": [0.0]}, "no move"),
        ({"end": [0.0, 1.0]}, "end has 2 values: one-link needs 1"),
        ({"methods": ["zvx"]}, "method 'zvx'"),
        ({"methods": []}, r"methods is \[\]"),
        ({"methods": {"a": supple.Hold([0.0, 1.0])}}, "1 coordinates"),
        ({"duration": -1.0}, "duration"),
        ({"payload_error": 2.0}, "payload_error"),
        ({"law": "trapeze"}, "trapezoid"),
    ],
)
def test_bad_input(given: dict, word: str) -> None:
    with pytest.raises(supple.SuppleError, match=word):
        supple.compare(arm(), **{"start": [0.0], "end": [1.0], **given})


@pytest.mark.slow
def test_a_schedule_for_a_servo_that_gives_way() -> None:
    """Made for the poles of the loop on one mode a link, tried on two, with a wrong payload."""
    c = supple.compare(
        supple.load("de-luca-two-link"),
        [0.0, 0.0],
        [0.5, 0.3],
        servo=supple.JointPD([20.0, 5.0], [4.0, 1.0]),
        methods=["unshaped", "scheduled"],
    )
    assert c.frequency_hz[0] < 0.4  # below the lowest mode with locked joints
    assert c.worst[1] < 0.1 * c.worst[0]
