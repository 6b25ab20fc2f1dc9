"""Spectra and peaks against scipy's, which is too slow to import for a first picture."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.signal
import scipy.stats

from supple.measure.power_peaks import (
    fit_peaks,
    local_maxima,
    peak_prominences,
    width_at_half_height,
)
from supple.measure.signals import estimate_responses, rank_correlation, welch


@pytest.mark.parametrize("samples", [300, 1000, 1001])
def test_averaged_spectra(samples):
    values = np.random.default_rng(0).standard_normal((samples, 3)).cumsum(axis=0)
    length = 2 * samples // 9
    options = {"fs": 100.0, "nperseg": length, "axis": 0, "detrend": "constant"}

    f, power = welch(values, 100.0)
    expected_f, expected_power = scipy.signal.welch(values, **options)
    np.testing.assert_array_equal(f, expected_f)
    np.testing.assert_allclose(power, expected_power, rtol=1e-12)

    found = estimate_responses(values[:, 0], values[:, 1:], 100.0)
    _, of_force = scipy.signal.welch(values[:, 0], **options)
    _, cross = scipy.signal.csd(values[:, :1], values[:, 1:], **options)
    np.testing.assert_allclose(found.h1, cross / of_force[:, None], rtol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_peaks_of_random_values(seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(rng.integers(5, 400))
    if seed % 2:
        values = np.round(2 * values) / 2  # flat tops, and peaks of equal height

    peaks, properties = scipy.signal.find_peaks(values, prominence=0)
    np.testing.assert_array_equal(local_maxima(values), peaks)
    np.testing.assert_allclose(peak_prominences(values, peaks), properties["prominences"])
    widths = [width_at_half_height(values, int(peak)) for peak in peaks]
    np.testing.assert_allclose(widths, scipy.signal.peak_widths(values, peaks, rel_height=0.5)[0])


def test_rank_correlation_with_equal_values():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(50)
    y = np.round(x + rng.standard_normal(50))
    assert rank_correlation(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)


def test_damping_of_a_peak_narrower_than_a_line_is_not_determined():
    f = np.arange(2000) * 0.1
    noise = np.random.default_rng(0).exponential(size=len(f))
    power = 1e-3 * noise
    power[660] = 10.0
    found = fit_peaks(f, power, [(66.0, 0.05)], likelihood=False)
    assert found.std_damping[0] > found.damping_ratio[0]


def test_a_recording_is_analysed_without_scipy_signal():
    program = """
import sys
import numpy as np
import supple
rng = np.random.default_rng(0)
supple.resonances(rng.standard_normal((4000, 2)), rate=100.0)
assert "scipy.signal" not in sys.modules
assert "scipy.stats" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
