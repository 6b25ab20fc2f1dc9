"""Comparisons: what is measured, against closed forms; which method wins, on small robots."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

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
    a = 0.02
    w = 2 * np.pi * 5
    c = 1.5
    t = np.linspace(0.0, 4.0, 40_001)
    x = np.clip(t, 0, 1)
    late = np.maximum(t - 1.0, 0.0)
    ring = np.where(t > 1, a * np.exp(-c * late) * np.sin(w * late), 0.0)
    zero = np.zeros_like(t)
    tip = np.stack([x + ring, zero, zero + 0.3], axis=1)
    wanted = np.stack([x, zero, zero + 0.3], axis=1)
    effort = np.where(t < 1, 2.0, 0.0)[:, None]
    rate = np.where(t < 1, -0.5, 0.0)[:, None]
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


def loaded_beam(count: int) -> np.ndarray:
    """(3, count) rate, participation in a turn of the root and tip of the arm's modes at mass one.

    A clamped beam with a mass r m L at its end: 1 + cos b cosh b + r b (cos b sinh b - sin b cosh
    b) = 0, w = b^2 sqrt(EI / m L^4); m = 0.5, EI = 400, L = r = 1.
    """

    def left(b: np.ndarray) -> np.ndarray:
        c = np.cos(b)
        s = np.sin(b)
        ch = np.cosh(b)
        sh = np.sinh(b)
        return 1 + c * ch + b * (c * sh - s * ch)

    places = np.linspace(0.1, 4 * count, 400 * count)
    changes = np.flatnonzero(np.diff(np.sign(left(places))))[:count]
    x, weight = np.polynomial.legendre.leggauss(60)
    x, weight, out = np.append((x + 1) / 2, 1.0), np.append(weight / 4, 0.5), []  # m dx, payload
    for k in changes:
        b = brentq(left, places[k], places[k + 1], xtol=1e-14)
        ratio = (np.cos(b) + np.cosh(b)) / (np.sin(b) + np.sinh(b))
        phi = np.cosh(b * x) - np.cos(b * x) - ratio * (np.sinh(b * x) - np.sin(b * x))
        phi /= np.sqrt(weight @ phi**2)
        out.append((b**2 * np.sqrt(800.0), weight @ (x * phi), phi[-1]))
    return np.array(out).T


def test_it_agrees_with_the_modes_of_a_loaded_beam() -> None:
    """A joint that does what it is told, by elements and under Decoupling, and a sum of modes.

    The turn is so small that spin counts for nothing (0.1 rad/s beside 44). Modes beyond two
    have what is missing of the inertia about the joint, and may pull twice as hard as it; a peak is
    seen within half a sample of its place.
    """
    turn = 0.01
    T = 0.5
    w, part, tip = loaded_beam(2)
    a = turn / (2 * T**2 / 9)  # thirds: up, even, down
    t = np.linspace(0.0, T + 6 * np.pi / w[0], 40_001)
    late = [np.maximum(t - k * T / 3, 0.0) for k in range(4)]
    each = list(zip((a, -a, -a, a), late, strict=True))
    swing = [sum(j * (1 - np.cos(x * u)) / x**2 for j, u in each) for x in w]
    eta = -part[:, None] * np.array(swing)
    turning = sum(j * u for j, u in each)
    alpha = sum(j * (t >= k * T / 3) for k, (j, _) in enumerate(each))
    whole = 0.5 / 3 + 0.5  # of beam and payload; the hub has 0.1
    effort = (whole + 0.1) * alpha - part @ (part[:, None] * alpha + w[:, None] ** 2 * eta)
    residual = np.ptp((tip @ eta)[t >= T]) / 2
    missing = 2 * a * (whole - part @ part)
    seen = (w[0] * t[-1] / 400) ** 2 / 8  # of a peak, between 400 samples
    given = {"methods": ["unshaped"], "payload_error": 0.0, "duration": T}
    law = {"unshaped": supple.Decoupling(400.0, 40.0)}
    for c in (
        supple.compare(arm(), [0.0], [turn], servo=None, elements=3, **given),
        supple.compare(arm(), [0.0], [turn], **{**given, "methods": law}),
    ):
        assert c.residual.item() == pytest.approx(residual, rel=seen)
        assert c.peak_effort.item() == pytest.approx(np.abs(effort).max(), abs=missing)
        energy = np.trapezoid(np.abs(effort * turning), t)
        assert c.energy.item() == pytest.approx(energy, abs=missing * turn)


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


def test_moves_given_as_they_are_have_short_names_of_their_own() -> None:
    """Two moves of one kind are two methods; neither's whole text is its name."""
    t = np.linspace(0.0, 0.8, 81)
    moves = [supple.Samples(t, supple.PointToPoint([0.0], [1.0], 0.8).at(t)[0]) for _ in range(2)]
    septic = supple.PointToPoint([0.0], [1.0], 0.6, "septic")
    answer = supple.compare(
        arm(), [0.0], [1.0], methods=["unshaped", *moves, septic], duration=0.5, elements=2
    )
    assert answer.methods == ("unshaped", "Samples", "Samples 2", "PointToPoint")


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
        ({"methods": {"a": supple.Hold([0.0, 1.0])}}, "needs 1"),
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
    """Made for the poles of the loop on one mode per link, tried on two, with a wrong payload."""
    c = supple.compare(
        supple.load("de-luca-two-link"),
        [0.0, 0.0],
        [0.5, 0.3],
        servo=supple.JointPD([20.0, 5.0], [4.0, 1.0]),
        methods=["unshaped", "scheduled"],
    )
    assert c.frequency_hz[0] < 0.4  # below the lowest mode with locked joints
    assert c.worst[1] < 0.1 * c.worst[0]
