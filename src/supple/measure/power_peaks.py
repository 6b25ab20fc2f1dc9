"""Resonances of power spectra: recordings under forces that nobody measured, and spectra in files.

Around a peak the power is f^n sum_k a_k / ((f_k^2 - f^2)^2 + (2 zeta_k f_k f)^2) + b. The power n,
fitted as well, stands for what was recorded (displacement or acceleration) and for a force that
grows with frequency, as that of a sweep does; without it a damped peak would be found beside its
place. Lines of a periodogram of Gaussian noise are exponentially distributed about it, so that the
likelihood is Whittle's, sum ln S + P / S. A Hann window smears a line over its neighbours with
(1, 4, 1) / 6 of its power, which the model does too, and makes neighbours depend on each other,
which costs a factor 1.94 of information. Spectra of a file, whose making is unknown, are fitted by
least squares of their logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .signals import noise_floor

__all__ = ["PeakFit", "find_peaks", "fit_peaks"]

Array = NDArray[np.float64]
Curve = Callable[[Array], Array]
HANN_CORRELATION = 1.94  # sum of squared correlations of Hann-windowed lines
HALF_WIDTHS = 3.5  # lines taken around a peak, in its half widths
LINES = 12  # and at least
CLOSE = 0.35  # neighbours within this share of their frequency may be one split peak
WIDEST = 0.5  # largest damping ratio of a peak
STEEPEST = 12.0  # largest power of frequency that multiplies a peak
USUAL_POWER = 6.0  # its standard deviation before anything is known


@dataclass(frozen=True)
class PeakFit:
    """Peaks of a power spectrum: (K,) each, and the fit (F,), NaN away from peaks."""

    frequency_hz: Array
    damping_ratio: Array
    std_hz: Array
    std_damping: Array
    model: Array


@dataclass(frozen=True)
class _GroupFit:
    """A few close peaks: frequency, damping ratio and their deviations of each, power, cost."""

    rows: list[tuple[float, float, float, float]]
    model: Array
    cost: float


def find_peaks(
    f: Array, power: Array, band: tuple[float, float], most: int
) -> list[tuple[float, float]]:
    """Return frequency and half width (Hz) of peaks that stand out of their surroundings.

    A peak has at least four times the power of the floor about it (a running median), and a
    prominence of at least three decibels and of five times the scatter of the lines, which is small
    where many spectra were averaged. The most prominent are kept.
    """
    resolution = float(f[1] - f[0])
    inside = (f >= band[0]) & (f <= band[1])
    decibels = 10 * np.log10(np.maximum(power, 1e-300))
    prominence = max(3.0, 5 * _scatter(decibels[inside]))
    decibels = np.where(inside, decibels, decibels[inside].min())
    floor = noise_floor(power, max(51, int(inside.sum()) // 8))
    maxima = local_maxima(decibels)
    prominences = peak_prominences(decibels, maxima)
    clear = (prominences >= prominence) & (power[maxima] > 4 * floor[maxima])
    maxima = maxima[clear]
    strongest_first = np.argsort(-prominences[clear])
    peaks: list[tuple[float, float]] = []
    for line in maxima[strongest_first[:most]]:
        half_width = 0.5 * resolution * width_at_half_height(power, int(line))
        peaks.append((float(f[line]), max(half_width, 0.5 * resolution)))
    return sorted(peaks)


def local_maxima(values: Array) -> NDArray[np.int64]:
    """Return the indices of values higher than their neighbours; of a flat top its middle."""
    step = np.diff(values)
    changes = np.flatnonzero(step)
    rises = step[changes] > 0
    tops = np.flatnonzero(rises[:-1] & ~rises[1:])
    first = changes[tops] + 1
    last = changes[tops + 1]
    return np.asarray((first + last) // 2)


def peak_prominences(values: Array, peaks: NDArray[np.int64]) -> Array:
    """Return how far each peak stands above the higher of the valleys that separate it.

    On either side the valley is the lowest value before a higher peak, or before the end.
    """
    if not len(peaks):
        return np.zeros(0)
    heights = values[peaks]
    valleys = np.minimum.reduceat(values, np.concatenate([[0], peaks]))
    left = _lowest_before_higher(heights, valleys[:-1])
    right = _lowest_before_higher(heights[::-1], valleys[:0:-1])[::-1]
    return np.asarray(heights - np.maximum(left, right))


def _lowest_before_higher(heights: Array, valleys: Array) -> Array:
    """Of each peak the lowest value on its left, up to the next peak that is higher.

    `valleys` holds the lowest value just left of each peak. Peaks that a later one exceeds cannot
    stop any search after it: their valleys are joined to its own.
    """
    lowest = np.empty(len(heights))
    waiting: list[tuple[float, float]] = []  # height and lowest value, heights falling
    for k in range(len(heights)):
        low = float(valleys[k])
        while waiting and waiting[-1][0] <= heights[k]:
            low = min(low, waiting.pop()[1])
        waiting.append((float(heights[k]), low))
        lowest[k] = low
    return lowest


def width_at_half_height(power: Array, peak: int) -> float:
    """Return the width of a peak, in lines, half its prominence below its top."""
    height = power[peak]
    higher_on_left = np.flatnonzero(power[:peak] > height)
    higher_on_right = np.flatnonzero(power[peak + 1 :] > height)
    begin = int(higher_on_left[-1]) + 1 if len(higher_on_left) else 0
    end = peak + int(higher_on_right[0]) if len(higher_on_right) else len(power) - 1
    base = max(power[begin : peak + 1].min(), power[peak : end + 1].min())
    level = 0.5 * (height + base)

    left = peak - int(np.argmax(power[begin : peak + 1][::-1] <= level))
    right = peak + int(np.argmax(power[peak : end + 1] <= level))
    left_crossing = float(left)
    if power[left] < level:
        left_crossing += (level - power[left]) / (power[left + 1] - power[left])
    right_crossing = float(right)
    if power[right] < level:
        right_crossing -= (level - power[right]) / (power[right - 1] - power[right])
    return right_crossing - left_crossing


def _scatter(decibels: Array) -> float:
    """Return the standard deviation of lines about their smooth course, dB.

    It is found from differences of lines two apart, since neighbours depend on each other under a
    window, and by their median, which peaks do not move.
    """
    differences = decibels[2:] - decibels[:-2]
    if not len(differences):
        return 0.0
    return 1.4826 * float(np.median(np.abs(differences))) / math.sqrt(2)


def fit_peaks(
    f: Array,
    power: Array,
    peaks: list[tuple[float, float]],
    *,
    likelihood: bool = True,
    averages: float = 1.0,
) -> PeakFit:
    """Fit the peaks, close ones together.

    Parameters
    ----------
    peaks : list of (frequency, half width)
        Hz, ascending; where to start.
    likelihood : bool
        Whittle's likelihood of a Hann-windowed periodogram, or least squares of the logarithm.
    averages : float
        Independent spectra that were averaged, such as channels.
    """
    resolution = float(f[1] - f[0])
    if likelihood:
        peaks = _without_split_peaks(f, power, peaks)
    fit = _fit_groups(f, power, peaks, likelihood, averages)
    for _ in range(2):  # the widths looked up in a jagged spectrum say little: take the fitted ones
        if len(fit.frequency_hz) != len(peaks):
            break
        half = np.maximum(fit.damping_ratio * fit.frequency_hz, 0.5 * resolution)
        peaks = list(zip(fit.frequency_hz.tolist(), half.tolist(), strict=True))
        fit = _fit_groups(f, power, peaks, likelihood, averages)
    return fit


def _without_split_peaks(
    f: Array, power: Array, peaks: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return the peaks with neighbours joined that are the jagged top of one broad resonance.

    Two peaks stay two where the likelihood gains more by the second than Schwarz's criterion asks
    of its three parameters.
    """
    peaks = sorted(peaks)
    k = 0
    while k + 1 < len(peaks):
        left = peaks[k]
        right = peaks[k + 1]
        gap = right[0] - left[0]
        if gap > CLOSE * right[0]:
            k += 1
            continue
        reach = max(2 * gap, HALF_WIDTHS * max(left[1], right[1]), LINES * float(f[1] - f[0]))
        low = left[0] - reach
        high = right[0] + reach
        if k:
            low = max(low, 0.5 * (peaks[k - 1][0] + left[0]))
        if k + 2 < len(peaks):
            high = min(high, 0.5 * (right[0] + peaks[k + 2][0]))
        window = (f >= max(low, f[1])) & (f <= high)
        joined = (0.5 * (left[0] + right[0]), 0.5 * gap + max(left[1], right[1]))
        one = _fit_group(f[window], power[window], [joined], True, 1.0)
        two = _fit_group(f[window], power[window], [left, right], True, 1.0)
        if one is None or two is None:
            k += 1
            continue
        gain = 2 * (one.cost - two.cost) / HANN_CORRELATION
        if gain > 3 * np.log(window.sum()):
            k += 1
            continue
        peaks[k : k + 2] = [joined]
        k = max(k - 1, 0)
    return peaks


def _fit_groups(
    f: Array,
    power: Array,
    peaks: list[tuple[float, float]],
    likelihood: bool,
    averages: float,
) -> PeakFit:
    """Fit the peaks on the lines within a few half widths of them, close ones together."""
    resolution = float(f[1] - f[0])
    groups: list[list[tuple[float, float]]] = []
    for peak in peaks:
        reach = max(3 * peak[1], 6 * resolution)
        if groups and peak[0] - groups[-1][-1][0] < reach + max(
            3 * groups[-1][-1][1], 6 * resolution
        ):
            groups[-1].append(peak)
        else:
            groups.append([peak])
    rows: list[tuple[float, float, float, float]] = []
    model = np.full(len(f), np.nan)
    for group in groups:
        low = min(c - max(HALF_WIDTHS * w, LINES * resolution) for c, w in group)
        high = max(c + max(HALF_WIDTHS * w, LINES * resolution) for c, w in group)
        for other in peaks:  # not beyond the middle to a neighbour
            if other[0] < group[0][0]:
                low = max(low, 0.5 * (other[0] + group[0][0]))
            if other[0] > group[-1][0]:
                high = min(high, 0.5 * (other[0] + group[-1][0]))
        window = np.flatnonzero((f >= max(low, resolution)) & (f <= high))
        if len(window) <= 3 * len(group) + 2:
            continue
        fitted = _fit_group(f[window], power[window], group, likelihood, averages)
        if fitted is not None:
            rows += fitted.rows
            model[window] = fitted.model
    rows.sort()
    table = np.array(rows).reshape(-1, 4)
    return PeakFit(table[:, 0], table[:, 1], table[:, 2], table[:, 3], model)


def _curve(x: Array, f: Array, count: int, scale: float) -> Array:
    """The power on lines; x is f_k / scale, log zeta_k, log a_k for each, then log b and n.

    A peak narrower than a line is seen as wide as a third of one.
    """
    narrowest = 0.3 * (f[1] - f[0])
    total: Array = np.zeros(len(f))
    for k in range(count):
        centre = x[3 * k] * scale
        ratio = np.exp(np.clip(x[3 * k + 1], -14, 0))
        ratio = np.hypot(ratio, narrowest / centre)
        height = np.exp(np.clip(x[3 * k + 2], -200, 200))
        width = (2 * ratio * centre * f) ** 2
        total = total + height * (2 * ratio * centre**2) ** 2 / (
            (centre**2 - f**2) ** 2 + np.maximum(width, 1e-300)
        )
    grown = (f / scale) ** np.clip(x[-1], -STEEPEST, STEEPEST)
    return np.asarray(grown * total + np.exp(np.clip(x[-2], -200, 200)))


def _fit_group(
    f: Array, power: Array, group: list[tuple[float, float]], likelihood: bool, averages: float
) -> _GroupFit | None:
    """Fit a few close peaks on the lines around them."""
    from scipy.optimize import least_squares

    unit = float(np.median(power))
    P = power / unit
    scale = group[0][0]
    start: list[float] = []
    step_size: list[float] = []
    lowest: list[float] = []
    highest: list[float] = []
    for centre, half in group:
        reach = max(0.5 * half, 2.5 * float(f[1] - f[0]))
        top = P[np.abs(f - centre) <= reach].mean()  # one line alone may be nearly nothing
        start += [centre / scale, np.log(min(half / centre, 0.4)), np.log(max(top, 1e-12))]
        step_size += [half / scale, 1.0, 1.0]
        lowest += [f[0] / scale, -14.0, -np.inf]
        highest += [f[-1] / scale, np.log(WIDEST), np.inf]
    start += [float(np.log(max(np.quantile(P, 0.1), 1e-12))), 0.0]
    step_size += [1.0, 1.0]
    lowest += [-np.inf, -STEEPEST]
    highest += [np.inf, STEEPEST]
    bounds = np.array(lowest), np.array(highest)

    smear = np.array([1.0, 4.0, 1.0]) / 6 if likelihood else np.array([1.0])

    def curve(x: Array) -> Array:
        plain = _curve(x, f, len(group), scale)
        if len(smear) == 1:
            return plain
        return np.convolve(np.pad(plain, 1, mode="edge"), smear, mode="valid")

    # Least squares of the logarithm first: its mean of an exponential variable lies 0.577 lower
    shift = 0.5772 if likelihood and averages < 2 else 0.0
    logarithm = np.log(np.maximum(P, 1e-300))

    def residual(x: Array) -> Array:
        left = logarithm - np.log(curve(x)) + shift
        return np.append(left, x[-1] / USUAL_POWER)

    try:
        rough = least_squares(
            residual, start, bounds=bounds, loss="soft_l1", x_scale=step_size, max_nfev=200
        )
    except ValueError:
        return None
    x = rough.x
    cost = float(rough.cost)
    if likelihood:
        # least squares may take a narrow peak for an outlier: start as it was found, too
        narrow = np.array(start)
        narrow[1 : 3 * len(group) : 3] = np.maximum(narrow[1 : 3 * len(group) : 3] - 1, -13.0)
        starts = (x, np.array(start), narrow)
        x, cost = min((_whittle(curve, P, y, bounds) for y in starts), key=lambda each: each[1])
    slopes = _slopes(lambda y: np.log(curve(y)), x)
    information = slopes.T @ slopes
    information[-1, -1] += 1 / USUAL_POWER**2
    if likelihood:
        variance = HANN_CORRELATION / averages
    else:
        left = residual(x)[:-1]
        variance = float(left @ left) / max(len(f) - len(x), 1)
    covariance = np.linalg.pinv(information) * variance
    # a pseudo-inverse has zero where nothing is known: a peak narrower than a line has no damping
    undetermined = np.diag(information) < 1e-12 * np.diag(information).max()
    variances = np.where(undetermined, np.inf, np.maximum(np.diag(covariance), 0.0))
    found = []
    for k, _ in enumerate(group):
        centre = float(x[3 * k] * scale)
        ratio = float(np.exp(x[3 * k + 1]))
        if not f[1] <= centre <= f[-2] or ratio > 0.99 * WIDEST:
            continue  # it ran to a bound: no peak of its own
        std_f = float(np.sqrt(variances[3 * k])) * scale
        # the deviation of a logarithm that is not determined says no more than "of its size"
        std_z = ratio * min(float(np.sqrt(variances[3 * k + 1])), 10.0)
        found.append((centre, ratio, std_f, std_z))
    return _GroupFit(found, curve(x) * unit, cost)


def _whittle(curve: Curve, P: Array, x: Array, bounds: tuple[Array, Array]) -> tuple[Array, float]:
    """Fisher scoring on sum ln S + P / S, halved until it falls and stays within the bounds."""

    def cost(y: Array) -> float:
        if (y < bounds[0]).any() or (y > bounds[1]).any():
            return np.inf
        S = curve(y)
        return float((np.log(S) + P / S).sum()) + 0.5 * float(y[-1] / USUAL_POWER) ** 2

    value = cost(x)
    for _ in range(50):
        S = curve(x)
        slopes = _slopes(lambda y: np.log(curve(y)), x)
        gradient = slopes.T @ (P / S - 1)
        gradient[-1] -= x[-1] / USUAL_POWER**2
        information = slopes.T @ slopes
        information[-1, -1] += 1 / USUAL_POWER**2
        damping = 1e-9 * np.diag(np.maximum(np.diag(information), 1e-12))
        step = np.linalg.lstsq(information + damping, gradient, rcond=None)[0]
        for _ in range(12):
            new = cost(x + step)
            if new <= value + 1e-12 * abs(value):
                break
            step = step / 2
        else:
            break
        x = x + step
        done = abs(value - new) < 1e-10 * max(abs(value), 1.0)
        value = new
        if done:
            break
    return x, value


def _slopes(function: Curve, x: Array) -> Array:
    """Central differences, (values, parameters)."""
    columns = []
    for k in range(len(x)):
        h = 1e-6 * max(abs(x[k]), 1e-2)
        up = x.copy()
        down = x.copy()
        up[k] += h
        down[k] -= h
        columns.append((function(up) - function(down)) / (2 * h))
    return np.stack(columns, axis=1)
