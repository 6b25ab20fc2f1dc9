"""Shapers against their closed forms and against an oscillator integrated on its own."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

import supple
from supple.control.shapers import SHAPERS

KINDS = list(SHAPERS)


@pytest.mark.parametrize(
    ("kind", "periods", "width"),
    [  # durations and widths at 5 %, undamped: [Singhose1997] and the defining equations
        ("zv", 0.5, 0.0637),
        ("zvd", 1.0, 0.2871),
        ("zvdd", 1.5, 0.4804),
        ("ei", 1.0, 0.3995),
        ("2hump-ei", 1.5, 0.7245),
        ("3hump-ei", 2.0, 0.9639),
    ],
)
def test_durations_and_insensitivity(kind: str, periods: float, width: float) -> None:
    found = supple.shaper(kind, frequency_hz=7.2)
    assert found.duration * 7.2 == pytest.approx(periods, abs=1e-12)
    assert found.insensitivity(0.05) == pytest.approx(width, abs=0.6e-4)


def test_zv_widths_in_closed_form() -> None:
    """|cos(pi f / 2)|^n = v gives the width 4/pi asin(v^(1/n))."""
    for n, kind in enumerate(("zv", "zvd", "zvdd"), start=1):
        width = 4 / math.pi * math.asin(0.05 ** (1 / n))
        assert supple.shaper(kind, 3.0).insensitivity(0.05) == pytest.approx(width, rel=1e-9)


@pytest.mark.parametrize(("kind", "n"), [("zv", 1), ("zvd", 2), ("zvdd", 3)])
def test_residual_at_ten_per_cent_error(kind: str, n: int) -> None:
    found = supple.shaper(kind, 1.0)
    exact = math.sin(math.pi * 0.1 / 2) ** n  # 15.64, 2.45, 0.38 %
    assert found.residual(1.1) == pytest.approx(exact, rel=1e-10)
    assert found.residual(0.9) == pytest.approx(exact, rel=1e-10)


def left_by_impulses(times: np.ndarray, amplitudes: np.ndarray, f: float, zeta: float) -> float:
    """Amplitude left by impulses on an oscillator, carried from one to the next by expm."""
    w = 2 * math.pi * f
    A = np.array([[0.0, 1.0], [-(w**2), -2 * zeta * w]])
    x = np.zeros(2)
    then = times[0]
    for t, share in zip(times, amplitudes, strict=True):
        x = expm(A * (t - then)) @ x + [0.0, share]
        then = t
    w_d = w * math.sqrt(1 - zeta**2)
    return float(np.hypot(x[0] * w_d, x[1] + zeta * w * x[0]))


@pytest.mark.parametrize("zeta", [0.0, 0.02, 0.1, 0.2])
@pytest.mark.parametrize("kind", KINDS)
def test_damped_designs_in_an_independent_simulation(kind: str, zeta: float) -> None:
    found = supple.shaper(kind, 7.2, zeta)
    assert (found.amplitudes > 0).all()
    assert found.amplitudes.sum() == pytest.approx(1.0, abs=1e-12)
    expected = 0.05 if kind in ("ei", "3hump-ei") else 0.0
    left = left_by_impulses(found.times, found.amplitudes, 7.2, zeta)
    assert left == pytest.approx(expected, abs=1e-10)
    assert found.residual(7.2) == pytest.approx(expected, abs=1e-10)
    for f in (5.0, 8.3):
        left = left_by_impulses(found.times, found.amplitudes, f, zeta)
        assert found.residual(f) == pytest.approx(left, rel=1e-9)


@pytest.mark.parametrize("kind", ["ei", "2hump-ei", "3hump-ei"])
def test_damped_humps_are_level(kind: str) -> None:
    """Between its outermost zeros the residual nowhere exceeds the tolerance, and reaches it."""
    found = supple.shaper(kind, 1.0, 0.1)
    f = np.linspace(min(z.omega for z in found.zeros), max(z.omega for z in found.zeros), 20001)
    V = found.residual(f / (2 * np.pi))
    assert V.max() == pytest.approx(0.05, rel=1e-6)


def test_a_ratio_beyond_which_humps_vanish_is_told() -> None:
    """Strong damping leaves the lowest hump no maximum: there is no such shaper."""
    with pytest.raises(supple.SuppleError, match="use zvd"):
        supple.shaper("3hump-ei", 1.0, 0.4)


def test_mzv_has_its_three_impulses() -> None:
    found = supple.shaper("mzv", 2.0, 0.1)
    period = 1 / (2.0 * math.sqrt(1 - 0.01))
    assert found.times == pytest.approx([0, 3 / 8 * period, 3 / 4 * period])
    assert left_by_impulses(found.times, found.amplitudes, 2.0, 0.1) < 1e-12
    # undamped, a right-angled triangle of sides 1, sqrt 2, 1; the sum is one
    sides = np.array([1, math.sqrt(2), 1]) / (2 + math.sqrt(2))
    assert supple.shaper("mzv", 2.0).amplitudes == pytest.approx(sides, rel=1e-14)


def test_several_modes() -> None:
    found = supple.shaper("zv", [3.0, 8.0], [0.01, 0.05])
    assert left_by_impulses(found.times, found.amplitudes, 3.0, 0.01) < 1e-12
    assert left_by_impulses(found.times, found.amplitudes, 8.0, 0.05) < 1e-12
    assert found.duration == pytest.approx(
        0.5 / (3 * math.sqrt(1 - 1e-4)) + 0.5 / (8 * math.sqrt(1 - 25e-4))
    )


@pytest.mark.parametrize("rate", [1000.0, 137.0, 29.0])
@pytest.mark.parametrize("kind", KINDS)
def test_samples_keep_the_zeros(kind: str, rate: float) -> None:
    found = supple.shaper(kind, 7.2, 0.05)
    c = found.discrete(rate)
    assert c.sum() == pytest.approx(1.0, abs=1e-12)
    t = np.arange(len(c)) / rate
    for zero in found.zeros:
        f = zero.omega / (2 * math.pi)
        assert left_by_impulses(t, c, f, 0.05) < 1e-9
        if zero.order > 1:  # a double zero: the residual grows with the square of the error
            near, far = (left_by_impulses(t, c, f * (1 + e), 0.05) for e in (1e-3, 2e-3))
            assert far / near == pytest.approx(2**zero.order, rel=0.05)


def test_a_band_beats_the_kind_it_is_named_after() -> None:
    f = np.linspace(6.0, 9.0, 301)
    named = supple.shaper("zvd", 7.5).residual(f).max()
    found = supple.shaper("zvd", band=(6.0, 9.0))
    assert found.residual(f).max() < named
    assert len(found.times) == 3
    # |2 A cos(pi f / f0) + 1 - 2 A|, equally high at the middle and at 0.8 f0: V = (1-c) / (3+c)
    c = math.cos(math.pi * 0.2)
    assert found.residual([6.0, 7.5, 9.0]) == pytest.approx((1 - c) / (3 + c), rel=1e-12)
    assert found.residual(f).max() == pytest.approx((1 - c) / (3 + c), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_band_without_damping_is_chebyshevs(kind: str) -> None:
    """1 / cosh(n arccosh(1 / cos(pi low / (low + high)))), [Dolph1946], n impulses less one."""
    found = supple.shaper(kind, band=(5.0, 11.0))
    least = 1 / math.cosh((len(found.times) - 1) * math.acosh(1 / math.cos(math.pi * 5 / 16)))
    assert found.residual(np.linspace(5, 11, 2001)).max() == pytest.approx(least, rel=1e-12)


def test_a_damped_band_is_no_worse_and_keeps_its_zeros_at_a_rate() -> None:
    """Zeros moved when samples are 10 ms apart: 0.0100 was left of 0.0070."""
    f = np.linspace(6.0, 9.0, 301)
    found = supple.shaper("zvdd", band=(6.0, 9.0), damping_ratio=0.03)
    named = supple.shaper("zvdd", 7.5, 0.03).residual(f).max()
    assert found.residual(f).max() < 0.3 * named
    assert len(found.zeros) == 3
    c = found.discrete(100.0)
    t = np.arange(len(c)) / 100.0
    for zero in found.zeros:
        assert abs(np.exp(zero.exponent * t) @ c) < 1e-9
    assert max(left_by_impulses(t, c, x, 0.03) for x in f) < 0.008


def test_a_second_frequency_above_half_the_rate_is_told() -> None:
    """Its alias was calmed instead, by coefficients whose sizes sum to 278."""
    with pytest.raises(supple.SuppleError, match="600 Hz"):
        supple.shaper("zvd", [7.2, 600.0]).discrete(1000.0)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"kind": "zzz", "frequency_hz": 1}, "zvd"),
        ({"kind": "zv", "frequency_hz": -1}, "frequency_hz"),
        ({"kind": "zv", "frequency_hz": "x"}, "frequency_hz"),
        ({"kind": "zv", "frequency_hz": 1, "damping_ratio": 1.2}, "damping_ratio"),
        ({"kind": "zv", "frequency_hz": [1, 2], "damping_ratio": [0, 0, 0]}, "damping_ratio"),
        ({"kind": "zv"}, "frequency_hz"),
        ({"kind": "zv", "band": (5, 4)}, "band"),
    ],
)
def test_bad_input(given: dict, word: str) -> None:
    with pytest.raises(supple.SuppleError, match=word):
        supple.shaper(**given)
