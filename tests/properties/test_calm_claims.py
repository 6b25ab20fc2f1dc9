"""What a calm move claims to leave, against brute-force integration of its modes."""

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson, simpson

from supple.control.calm import CalmMove, Mode, calmest


def left_by_brute_force(move: CalmMove, modes: list[Mode], band: float, largest: float) -> float:
    """The largest residual at 37 frequencies of the band, by Simpson's rule on a very fine grid.

    Knots of the move are on it, so that every piece is smooth: a grid beside them is 1e-6 off.
    """
    T = move.duration
    pieces = len(move.t) - 1
    worst = 0.0
    for mode in modes:
        most = 60 * mode.omega.max() * T / (2 * np.pi) + 4000
        count = 2 * pieces * int(np.ceil(most / (2 * pieces)))
        t = np.linspace(0.0, T, count + 1)
        x, _, a = move.at(t)
        s = (x - move.start)[:, 0] / (move.end - move.start)[0]
        second = a[:, 0] / (move.end - move.start)[0]
        omega = np.interp(s, np.linspace(0.0, 1.0, len(mode.omega)), mode.omega)
        phase = cumulative_simpson(omega, x=t, initial=0.0)
        rate = mode.damping_ratio + 1j * np.sqrt(1 - mode.damping_ratio**2)
        for g in np.linspace(1 - band, 1 + band, 37):
            load = np.exp(rate * g * (phase - phase[-1])) * second * omega * g
            worst = max(worst, abs(simpson(load, x=t)))
    return worst / largest


def judge(seed: int) -> None:
    """One random move: its claim is no less than what brute force finds."""
    rng = np.random.default_rng(seed)
    periods = 10 ** rng.uniform(0.3, 2.0)
    omega = 2 * np.pi * periods
    changed = rng.uniform(-0.2, 0.2)
    modes = [Mode(omega * (1 + changed * np.linspace(0, 1, 9)), float(rng.uniform(0, 0.03)))]
    band = float(rng.uniform(0.0, 0.1))
    limits = (1.6, float(rng.uniform(5.0, 9.0)), float(rng.uniform(60, 200)))
    move = calmest(
        np.zeros(2), np.array([1.0, 0.4]), modes, limits, band=band, duration=rng.uniform(1.6, 2.0)
    )
    found = left_by_brute_force(move, modes, band, limits[1])
    assert found <= move.left * (1 + 1e-3) + 1e-6, (seed, found, move.left)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_beyond_the_claim_is_left(seed: int) -> None:
    judge(seed)


@pytest.mark.soak
def test_200_claims() -> None:
    beyond = []
    for seed in range(200):
        try:
            judge(seed)
        except AssertionError as problem:
            beyond.append(str(problem).splitlines()[0])
    assert not beyond, beyond


def test_many_periods_are_integrated() -> None:
    """Of 150 periods a rule with 3 points on 64 pieces sees nothing, and claims nothing is left."""
    modes = [Mode(np.full(5, 2 * np.pi * 75.0), 0.0)]
    limits = (1.6, 6.0, 1e4)
    move = calmest(np.zeros(1), np.ones(1), modes, limits, band=0.05, duration=2.0)
    found = left_by_brute_force(move, modes, 0.05, 6.0)
    assert found <= move.left * 1.001 + 1e-6
