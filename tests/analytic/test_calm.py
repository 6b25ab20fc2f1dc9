"""Calm moves: limits, an oscillator integrated on its own, and the analytic bang-bang move."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import supple
from supple.control.calm import CalmMove, Mode, calmest, left_by

START = np.array([0.2])
END = np.array([1.2])


def oscillator_left(move: supple.Trajectory, omega: float, zeta: float = 0.0) -> float:
    """The amplitude of y'' + 2 zeta w y' + w^2 y = -x'' after a move, over that of x'' = 1."""
    y = np.zeros(2)
    for low, high in pairwise([0.0, *move.breaks, move.duration]):

        def rate(t: float, y: np.ndarray) -> list[float]:
            return [y[1], -(omega**2) * y[0] - 2 * zeta * omega * y[1] - float(move(t)[2][0])]

        y = solve_ivp(rate, (low, high), y, rtol=1e-7, atol=1e-11).y[:, -1]
    fast = omega * np.sqrt(1 - zeta**2)
    return float(np.hypot(y[0], (y[1] + zeta * omega * y[0]) / fast) * omega * fast)


@pytest.mark.parametrize("zeta", [0.0, 0.05])
def test_what_is_left_is_that_of_an_oscillator(zeta: float) -> None:
    """Within the band no frequency leaves more than was allowed; limits are kept."""
    w = 2 * np.pi * 2.0
    V = 2.0
    A = 12.0
    J = 300.0
    move = calmest(START, END, [Mode(np.full(5, w), zeta)], (V, A, J), left=0.03, band=0.1)
    assert move.left <= 0.03
    for part in (0.9, 0.95, 1.0, 1.05, 1.1):
        assert oscillator_left(move, part * w, zeta) <= 0.03 * A * 1.002
    t = np.linspace(0, move.duration, 3000)
    x, v, a = move(t)
    assert np.abs(v).max() <= V * (1 + 1e-9)
    assert np.abs(a).max() <= A * (1 + 1e-9)
    assert np.abs(np.diff(move.acceleration) / np.diff(move.t)).max() <= J * (1 + 1e-9)
    assert x[[0, -1]] == pytest.approx(np.array([START, END]), abs=1e-9)
    assert np.abs(v[[0, -1]]).max() < 1e-9
    assert np.gradient(x[:, 0], t)[5:-5] == pytest.approx(v[5:-5, 0], abs=2e-4)
    own = left_by(move, START, END, [Mode(np.full(5, w), zeta)], 0.1) / A
    assert own <= move.left * (1 + 1e-9)  # at five frequencies of the band
    whole_band = [oscillator_left(move, part * w, zeta) / A for part in np.linspace(0.9, 1.1, 81)]
    assert 0.97 * move.left <= max(whole_band) <= move.left * (1 + 1e-6)  # a bound, not far off


def test_the_fastest_is_the_analytic_bang_bang() -> None:
    """Acceleration alone is bounded, one undamped mode: switches at t1, T/2, T - t1.

    With jumps a_i of s'' at t_i: sum a_i (T - t_i)^2 / 2 = 1, sum a_i cos w(t_i - T/2) = 0.
    """
    w = 2 * np.pi * 1.5
    A = 8.0

    def conditions(z: np.ndarray) -> list[float]:
        t1, T = z
        jumps = [(0.0, 1), (t1, -2), (T / 2, 2), (T - t1, -2), (T, 1)]
        turned = sum(a * (T - t) ** 2 / 2 for t, a in jumps) * A
        return [turned - 1.0, sum(a * np.cos(w * (t - T / 2)) for t, a in jumps)]

    rigid = 2 / np.sqrt(A)
    roots = [
        fsolve(conditions, [f * rigid, g * rigid], full_output=True)
        for f in np.linspace(0.2, 0.55, 15)
        for g in (1.0, 1.1, 1.3)
    ]
    good = [z for z, _, flag, _ in roots if flag == 1 and 0 < z[0] < z[1] / 2]
    T = min(z[1] for z in good)
    found = calmest(START, END, [Mode(np.full(3, w))], (1e3, A, 1e5), left=1e-4, band=0.0)
    # acceleration is piecewise linear on 64 pieces: a switch takes one of them
    assert T - 1e-6 <= found.duration <= T * (1 + 3 / 64)


def test_the_least_time_of_the_limits_alone() -> None:
    """With next to no vibration asked away: a trapezoid of acceleration, 1/V + V/A + A/J."""
    V = 1.0
    A = 5.0
    J = 50.0
    found = calmest(START, END, [Mode(np.full(3, 60.0))], (V, A, J), left=4.0)
    assert found.duration == pytest.approx(1 / V + V / A + A / J, rel=0.02)


def test_no_move_is_told() -> None:
    with pytest.raises(supple.SuppleError, match=r"no move faster than 1\.3"):
        calmest(START, END, [Mode(np.full(3, 60.0))], (1.0, 5.0, 50.0), duration=0.5)
    slow = calmest(START, END, [Mode(np.full(3, 60.0))], (1.0, 5.0, 50.0), duration=2.0)
    assert isinstance(slow, CalmMove)
    assert slow.left < 1e-6  # so much time leaves nothing
    arm = supple.load("de-luca-two-link")
    for words, given in {
        "speed_limit": {"speed_limit": -1.0},
        "no move": {"end": [0.0, 0.0]},
        "equally many": {"end": [0.0]},
        "duration": {"duration": -1.0},
    }.items():
        call = {"start": [0.0, 0.0], "end": [0.5, 0.2], "speed_limit": 1.0, "acceleration_limit": 2}
        with pytest.raises(supple.SuppleError, match=words):
            supple.calm_move(arm, **{**call, **given})


def test_a_stiff_arm_is_moved_calmly() -> None:
    """Seventy periods in a move: a calm move, and no sentence about vibration beyond reason."""
    stiff = supple.load("industrial-3").with_("materials.aluminium.young_modulus", 70e11)
    lowest = float(supple.modes(stiff, [0.6, 0.5, 0.4], count=1).frequency_hz[0])
    move = supple.calm_move(stiff, [0, 0, 0], [0.6, 0.5, 0.4], 1.0, 2.0)
    assert move.duration * lowest > 50
    assert move.left <= 0.02
    assert move.duration < 1.3 * 1.224  # not much slower than the arm of a hundredth its stiffness
