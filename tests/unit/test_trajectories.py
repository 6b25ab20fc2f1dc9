"""Trajectories: rates are derivatives, ends at rest, limits met and reached, the paper's paths."""

import numpy as np
import pytest

import supple
from supple.control.trajectories import (
    LAWS,
    CirclePath,
    Hold,
    InvertedU,
    PointToPoint,
    Trajectory,
    WayPoints,
    peaks,
)

POINTS = ((0.0, 0.0, 0.5), (0.1, -0.05, 0.6), (0.1, 0.1, 0.45))
EVERY = (
    Hold((0.1, 0.2), 0.5),
    PointToPoint((0.0, 1.0), (1.0, -1.0), 0.7),
    PointToPoint((0.0,), (1.0,), 0.7, "quintic"),
    CirclePath(),
    InvertedU(),
    WayPoints(POINTS, 0.5, 4.0),
    WayPoints(POINTS, 0.5, (4.0, 2.0, 1.0), "quintic", 0.1),
)


@pytest.mark.parametrize("wanted", EVERY, ids=lambda w: type(w).__name__)
def test_rates_are_derivatives(wanted: Trajectory) -> None:
    h = 1e-4
    t = np.linspace(0.05, wanted.duration - 0.05, 101)
    x = [wanted(t + k * h) for k in (-1, 0, 1)]
    for k in (0, 1):
        slope = (x[2][k] - x[0][k]) / (2 * h)
        # central difference: h^2/6 of a derivative below 1e5 (septic over 0.2 s), 1.7e-4
        assert np.abs(slope - x[1][k + 1]).max() < 2e-4


@pytest.mark.parametrize("law", ["quintic", "septic"])
def test_ends_at_rest(law: str) -> None:
    s = LAWS[law]
    for order in range(1, 4 if law == "septic" else 3):
        assert abs(s.deriv(order)(0.0)) == 0
        assert abs(s.deriv(order)(1.0)) < 1e-11  # sums of whole numbers below 1e4
    assert (s(0.0), s(1.0)) == (0, 1)


def test_peaks_of_the_laws() -> None:
    """Closed forms: s' peaks at 1/2; s'' of the quintic 10/sqrt(3), septic 84/(5 sqrt(5))."""
    assert peaks("cubic") == pytest.approx((1.5, 6.0), rel=1e-12)
    assert peaks("quintic") == pytest.approx((1.875, 10 / np.sqrt(3)), rel=1e-12)
    assert peaks("septic") == pytest.approx((2.1875, 84 / (5 * np.sqrt(5))), rel=1e-12)


def test_way_points_meet_their_limits_and_reach_one() -> None:
    wanted = WayPoints(POINTS, 0.5, (4.0, 2.0, 1.0))
    _, v, a = wanted(np.linspace(0, wanted.duration, 20_001))
    use = [np.abs(v).max(axis=0) / 0.5, np.abs(a).max(axis=0) / (4.0, 2.0, 1.0)]
    assert np.max(use) <= 1 + 1e-12
    assert np.max(use) == pytest.approx(1, abs=1e-6)
    assert wanted(wanted.duration)[0] == pytest.approx(POINTS[-1], abs=1e-14)


def test_inverted_u_of_the_paper() -> None:
    x, v, a = InvertedU()(np.array([0.0, 0.2, 0.4, 0.6, 0.8, 2.0]))
    assert x[0] == pytest.approx([-0.08, -0.02, 0.5], abs=1e-15)
    assert x[2] == pytest.approx([0.0, 0.0, 0.7], abs=1e-15)
    assert x[4] == pytest.approx([0.08, 0.02, 0.5], abs=1e-15)
    assert x[5] == pytest.approx(x[4], abs=0)
    assert v[[0, 4, 5]] == pytest.approx(np.zeros((3, 3)), abs=1e-12)
    assert a[[0, 2, 4, 5]] == pytest.approx(np.zeros((4, 3)), abs=1e-10)


def test_circle_repeats() -> None:
    one = CirclePath()(0.3)
    later = CirclePath()(4.3)
    assert np.allclose(one, later, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: WayPoints(((0, 0),), 1, 1),
        lambda: WayPoints(POINTS, -1, 1),
        lambda: WayPoints(POINTS, 1, 1, "octic"),
        lambda: InvertedU(times=(0.4, 0.2, 0.6, 0.8)),
        lambda: PointToPoint((0, 0), (1,), 1.0)(0.5),
        lambda: CirclePath()(np.nan),
    ],
)
def test_bad_input_is_a_sentence(make: object) -> None:
    with pytest.raises(supple.SuppleError):
        make()
