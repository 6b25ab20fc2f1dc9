"""Shapers recommended from recordings, against a search over all of them."""

import numpy as np
import pytest
from scipy.signal import cont2discrete, lfilter, ss2tf

import supple


def printer_sweep(f0, zeta, seed=0):
    """Acceleration of a tool head on a spring, under a sweep that grows with frequency."""
    rate = 3200.0
    seconds = 20.0
    t = np.arange(0, seconds, 1 / rate)
    f = 5 + 128 * t / seconds
    base = f * np.sin(2 * np.pi * (5 * t + 64 * t**2 / seconds))
    w = 2 * np.pi * f0
    system = ([[0, 1], [-w * w, -2 * zeta * w]], [[0], [1]], [[-w * w, -2 * zeta * w]], [[0]])
    A, B, C, D, _ = cont2discrete(tuple(np.array(part, float) for part in system), 1 / rate, "foh")
    b, a = ss2tf(A, B, C, D)
    noise = np.random.default_rng(seed).standard_normal(len(t))
    return {"#time": t, "accel_x": lfilter(b[0], a, base) + 20 * noise, "accel_y": 20 * noise[::-1]}


@pytest.mark.parametrize(("f0", "zeta"), [(47.3, 0.05), (33.7, 0.03), (61.0, 0.1)])
def test_printer_like_sweep(f0, zeta):
    found = supple.calibrate(printer_sweep(f0, zeta))
    assert found.resonance_hz == pytest.approx(f0, rel=5e-3)
    assert found.damping_ratio == pytest.approx(zeta, rel=0.1)

    # the same question by brute force: every shaper at every frequency, residuals written out
    S = found.spectrum
    f = found.spectrum_hz
    best = {}
    for kind in found.kinds:
        unit = supple.shaper(kind, 1.0, found.damping_ratio)
        mean = unit.amplitudes @ unit.times
        spread = unit.amplitudes @ (unit.times - mean) ** 2
        for design in np.geomspace(0.5 * f0, 2 * f0, 600):
            w = 2 * np.pi * f / design
            z = found.damping_ratio
            exponent = (z + 1j * np.sqrt(1 - z * z)) * np.outer(w, unit.times)
            V = np.exp(-z * w * unit.duration) * np.abs(np.exp(exponent) @ unit.amplitudes)
            left = np.sqrt((S * V**2).sum() / S.sum())
            if kind not in best or left < best[kind][0]:
                best[kind] = (left, 2 * found.smoothing * design**2 / spread)
    good = {kind: pair for kind, pair in best.items() if pair[0] <= found.vibration_limit}
    by_force = max(good, key=lambda k: good[k][1]) if good else min(best, key=lambda k: best[k][0])
    assert found.recommended == by_force
    for k, kind in enumerate(found.kinds):
        assert found.vibration[k] <= best[kind][0] * 1.001


def test_calibrated_robot_has_the_measured_frequency():
    robot = supple.load("industrial-3")
    pose = [0.0, 0.5, 0.3]
    wanted = 1.1 * supple.modes(robot, pose, count=1).frequency_hz[0]
    t = np.arange(0, 20, 1 / 200)
    ringing = np.exp(-0.02 * 2 * np.pi * wanted * t) * np.cos(2 * np.pi * wanted * t)
    noise = 0.01 * np.random.default_rng(0).standard_normal(len(t))
    found = supple.calibrate({"t": t, "a": ringing + noise}, robot=robot, theta=pose)
    assert found.mode == 1
    exact = supple.modes(found.robot, pose, count=1).frequency_hz[0]
    assert exact == pytest.approx(found.resonance_hz, rel=1e-6)
    assert found.resonance_hz == pytest.approx(wanted, rel=1e-3)
    assert found.schedule_hz.max() > 1.05 * found.schedule_hz.min()
