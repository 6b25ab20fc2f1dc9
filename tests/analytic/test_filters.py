"""Filters of commands and calm durations, against closed forms and an oscillator of their own."""

import numpy as np
import pytest
from scipy.optimize import brentq

import supple
from supple.control.shaping import residual_amplitude


def test_a_cubic_law_leaves_nothing_where_tan_x_is_x() -> None:
    """The cubic's s'' = 6 - 12 tau: its transform vanishes at tan x = x, x = pi f T."""
    roots = [brentq(lambda x: np.sin(x) - x * np.cos(x), (k + 0.3) * np.pi, (k + 0.5) * np.pi)
             for k in (1, 2, 3)]  # fmt: skip
    found = supple.calm_durations("cubic", 4.0)
    np.testing.assert_allclose(
        [one.time for one in found], np.array(roots) / (4 * np.pi), rtol=1e-7
    )
    assert max(one.left for one in found) < 1e-8


@pytest.mark.parametrize("law", ["quintic", "septic"])
def test_what_is_left_is_what_an_oscillator_keeps(law: str) -> None:
    (best, *_) = supple.calm_durations(law, 3.0, 0.02)
    for T, calm in ((best.time, True), (0.8 * best.time, False)):
        path = supple.PointToPoint([0.0], [1.0], time=T, law=law)
        t = np.linspace(0, T, 20001)
        left = float(residual_amplitude(t, path(t)[0], 3.0, 0.02)[0, 0])
        if calm:
            assert left == pytest.approx(best.left, abs=1e-6)
        else:
            assert left > 5 * best.left


def test_of_two_modes_the_worst_counts() -> None:
    found = supple.calm_durations("quintic", [2.0, 5.0], count=2)
    for one in found:
        each = [supple.calm_durations("quintic", f, count=1, shortest=0.3)[0] for f in (2.0, 5.0)]
        assert one.left >= max(pair.left for pair in each) - 1e-9
        path = supple.PointToPoint([0.0], [1.0], time=one.time, law="quintic")
        t = np.linspace(0, one.time, 20001)
        worst = residual_amplitude(t, path(t)[0], [2.0, 5.0], 0.0).max()
        assert worst == pytest.approx(one.left, abs=1e-6)


@pytest.mark.parametrize("ratio", [0.0, 0.03])
def test_a_notch_does_not_excite_its_mode(ratio: float) -> None:
    rate = 2000.0
    t = np.arange(0, 0.31, 1 / rate)
    move = np.stack([np.minimum(t / 0.3, 1.0), -0.5 * np.minimum(t / 0.3, 1.0)], axis=1)
    calm = supple.filtered(move, rate, "notch", 7.0, ratio)
    assert calm.shape[1] == 2
    np.testing.assert_allclose(calm[[0, -1]], move[[0, -1]], atol=1e-12)
    before = residual_amplitude(t, move, 7.0, ratio)
    after = residual_amplitude(np.arange(len(calm)) / rate, calm, 7.0, ratio)
    assert after.max() < 1e-3 * before.max()  # straight lines between samples: (w h)^2 / 12 = 4e-5


def test_a_low_pass_answers_a_step_as_its_closed_form() -> None:
    """A straight rise over one sample is a step for the rest: 1 - (1 + w t) exp(-w t)."""
    rate = 1e4
    f = 3.0
    y = supple.filtered(np.r_[0.0, np.ones(20)], rate, "low-pass", f)
    t = np.arange(len(y)) / rate - 0.5 / rate  # the middle of the rise
    w = 2 * np.pi * f
    np.testing.assert_allclose(y[1:-1], (1 - (1 + w * t) * np.exp(-w * t))[1:-1], atol=1e-6)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: supple.filtered([0.0, 1.0], 10.0, "notch", 6.0), "must be below 5"),
        (lambda: supple.filtered([0.0, np.nan], 10.0), "finite numbers"),
        (lambda: supple.filtered([0.0, 1.0], 100.0, "low-pass", 6.0, 0.0), "never ends"),
        (lambda: supple.filtered([0.0, 1.0], 100.0, "high-pass", 6.0), "low-pass, notch"),
        (lambda: supple.calm_durations("quintic", [0.0]), "above 0"),
        (lambda: supple.calm_durations("quartic", 2.0), "one of"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence: str) -> None:
    with pytest.raises(supple.SuppleError, match=sentence):
        call()
