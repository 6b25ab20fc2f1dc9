"""What a recording must go through before anything is estimated from it, and its spectra."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from ..files.recordings import Recording

__all__ = [
    "FrequencyResponses",
    "Signals",
    "estimate_responses",
    "evenly_sampled",
    "half_spectra",
    "hann_segments",
    "noise_floor",
    "one_sided",
    "rank_correlation",
    "stable_poles",
    "welch",
]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
UNEVEN = 0.01  # relative deviation of sampling intervals beyond which samples are interpolated
CLIPPED_SAMPLES = 4  # equal samples in a row at an extreme value that mean a clipped sensor
CLIPPED_RUNS = 3


@dataclass(frozen=True)
class Signals:
    """Channels on even samples.

    Attributes
    ----------
    names
        Of the channels.
    values
        (N, channels).
    rate
        Hz.
    notes
        What was noticed.
    """

    names: tuple[str, ...]
    values: Array
    rate: float
    notes: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """From the first sample to the last, s."""
        return (len(self.values) - 1) / self.rate


def evenly_sampled(recording: Recording) -> Signals:
    """Return the live channels of a recording on even samples; dead and clipped ones are named.

    Accelerometers that stamp every sample by themselves jitter: their samples are interpolated.
    A gap of many samples is noted, since nothing can be said about it.
    """
    notes = list(recording.notes)
    names: list[str] = []
    columns: list[Array] = []
    for name, values in recording.channels.items():
        if np.ptp(values) <= 1e-12 * max(abs(float(values[0])), 1e-300):
            notes.append(f"channel '{name}' is dead: it reads {values[0]:g} all the time; left out")
            continue
        clipped = _count_clipping(values)
        if clipped:
            notes.append(
                f"channel '{name}' is clipped: {clipped} times it stays at its extreme value for "
                f"{CLIPPED_SAMPLES} samples or more; frequencies hold, damping may not"
            )
        names.append(name)
        columns.append(values)
    if not columns:
        raise SuppleError(f"{recording.name}: every channel is dead (it never changes)")

    interval = np.diff(recording.x)
    mean_interval = float(interval.mean())
    usual = float(np.median(interval))
    gaps = np.flatnonzero(interval > 5 * usual)
    if len(gaps):
        at = recording.x[gaps[0]]
        notes.append(
            f"{len(gaps)} gap(s) in time, the first of {interval[gaps[0]]:.3g} s at {at:.6g} s: "
            "samples there are interpolated"
        )
    table = np.stack(columns, axis=1)
    step = usual if len(gaps) else mean_interval
    if np.abs(interval - step).max() > UNEVEN * step:
        if not len(gaps):
            notes.append(
                f"sampling is uneven by up to {100 * np.abs(interval / step - 1).max():.2g} %: "
                "samples are interpolated"
            )
        count = round((recording.x[-1] - recording.x[0]) / step) + 1
        even = recording.x[0] + step * np.arange(count)
        table = np.stack([np.interp(even, recording.x, column) for column in table.T], axis=1)
    return Signals(tuple(names), table, 1 / step, tuple(notes))


def _count_clipping(values: Array) -> int:
    """How often a channel stays at its largest or smallest value for several samples."""
    count = 0
    for extreme in (values.max(), values.min()):
        at_extreme = np.concatenate([[False], values == extreme, [False]])
        changes = np.flatnonzero(np.diff(at_extreme.astype(int)))
        lengths = changes[1::2] - changes[::2]
        runs = int((lengths >= CLIPPED_SAMPLES).sum())
        count += runs if runs >= CLIPPED_RUNS else 0
    return count


def hann_segments(
    values: Array, rate: float, length: int, overlap: int
) -> tuple[Array, Iterator[Complex], float]:
    """Return frequencies, the spectra of successive Hann-windowed segments, and their scale.

    Each segment (length, channels) has its mean subtracted. Scale times the squared modulus of a
    spectrum is its one-sided power spectral density, except at zero and at the Nyquist frequency,
    where it is twice that (`one_sided` halves it).
    """
    window = np.hanning(length + 1)[:length, None]
    frequency_hz: Array = np.asarray(np.fft.rfftfreq(length, 1 / rate), float)
    scale = 2 / (rate * float((window**2).sum()))

    def spectra() -> Iterator[Complex]:
        for start in range(0, len(values) - length + 1, length - overlap):
            segment = values[start : start + length]
            yield np.fft.rfft((segment - segment.mean(axis=0)) * window, axis=0)

    return frequency_hz, spectra(), scale


def one_sided(density: Any, length: int) -> Any:
    """Return a density with zero frequency, and Nyquist's of an even length, counted once."""
    density[0] /= 2
    if length % 2 == 0:
        density[-1] /= 2
    return density


def welch(values: Array, rate: float, segments: int = 8) -> tuple[Array, Array]:
    """Return frequencies and averaged power spectral densities (F, channels), Hann windows."""
    length = min(max(64, 2 * len(values) // (segments + 1)), len(values))
    frequency_hz, spectra, scale = hann_segments(values, rate, length, length // 2)
    total = np.zeros((len(frequency_hz), values.shape[1]))
    count = 0
    for spectrum in spectra:
        total += np.abs(spectrum) ** 2
        count += 1
    return frequency_hz, one_sided(scale * total / count, length)


@dataclass(frozen=True)
class FrequencyResponses:
    """Measured responses of outputs to one input.

    Attributes
    ----------
    frequency_hz
        (F,).
    h1, h2
        (F, outputs), the estimates with noise in the outputs and in the input.
    coherence
        (F, outputs).
    averages
        Independent segments behind them.
    """

    frequency_hz: Array
    h1: Complex
    h2: Complex
    coherence: Array
    averages: float


def estimate_responses(
    force: Array, values: Array, rate: float, segments: int = 8
) -> FrequencyResponses:
    """Return H1 = S_yx / S_xx and H2 = S_yy / S_xy with their coherence, by Welch's averages."""
    length = min(max(64, 2 * len(force) // (segments + 1)), len(force))
    channels = np.column_stack([force, values])
    f, spectra, scale = hann_segments(channels, rate, length, length // 2)
    s_xx: Array = np.zeros(len(f))
    s_yy: Array = np.zeros((len(f), values.shape[1]))
    s_xy: Complex = np.zeros((len(f), values.shape[1]), complex)
    count = 0
    for spectrum in spectra:
        of_force = spectrum[:, 0]
        of_outputs = spectrum[:, 1:]
        s_xx += np.abs(of_force) ** 2
        s_yy += np.abs(of_outputs) ** 2
        s_xy += np.conj(of_force)[:, None] * of_outputs
        count += 1
    s_xx = one_sided(scale * s_xx / count, length)
    s_yy = one_sided(scale * s_yy / count, length)
    s_xy = one_sided(scale * s_xy / count, length)

    s_xx = np.maximum(s_xx, 1e-300)[:, None]
    smallest = 1e-300
    coherence = np.clip(np.abs(s_xy) ** 2 / np.maximum(s_xx * s_yy, smallest), 0.0, 1.0)
    s_yx: Complex = s_xy.conj()
    s_yx[s_yx == 0] = smallest
    h1: Complex = s_xy / s_xx
    h2: Complex = s_yy / s_yx
    return FrequencyResponses(f, h1, h2, coherence, 0.5 * (2 * len(force) / length))


def noise_floor(power: Array, width: int) -> Array:
    """Return the running median of a power spectrum (F,), as the mean of the noise around it.

    The median of an exponential variable is ln 2 times its mean, and a few narrow peaks do not
    move it.
    """
    from scipy.ndimage import median_filter

    size = min(2 * (width // 2) + 1, 2 * ((len(power) - 1) // 2) + 1)
    floor = median_filter(power, size=max(size, 3), mode="reflect") / np.log(2.0)
    return np.asarray(np.maximum(floor, 1e-300 + 1e-16 * power.max(initial=0.0)))


def rank_correlation(x: Any, y: Any) -> float:
    """Return Spearman's correlation: that of the ranks, equal values sharing their mean rank."""
    ranks = []
    for values in (x, y):
        _, place, count = np.unique(values, return_inverse=True, return_counts=True)
        mean_rank = np.cumsum(count) - 0.5 * (count - 1)
        ranks.append(mean_rank[place])
    return float(np.corrcoef(ranks)[0, 1])


def half_spectra(values: Array, rate: float, seconds: float) -> tuple[Array, Complex]:
    """Return spectra of the correlations at positive lags, (F, channels).

    Correlations of a structure under ambient forces decay as free vibrations do, so that their
    spectra are rational functions with its poles [James1995].
    """
    N = len(values)
    centred = values - values.mean(axis=0)
    size = 1 << int(np.ceil(np.log2(2 * N)))
    reference = int(np.argmax(centred.var(axis=0)))
    reference_spectrum = np.conj(np.fft.rfft(centred[:, reference], size))

    # channel by channel: padded spectra of all at once are many times the recording
    lags = min(int(seconds * rate), N // 2)
    frequency_hz = np.asarray(np.fft.rfftfreq(lags, 1 / rate), float)
    spectra = np.empty((len(frequency_hz), values.shape[1]), complex)
    for channel in range(values.shape[1]):
        cross_spectrum = np.fft.rfft(centred[:, channel], size) * reference_spectrum
        correlation = np.fft.irfft(cross_spectrum, size)[:lags]
        spectra[:, channel] = np.fft.rfft(correlation)
    return frequency_hz, spectra


def stable_poles(
    frequency_hz: Array, spectra: Complex, band: tuple[float, float], highest_order: int = 24
) -> tuple[NDArray[np.int64], Array, Array, NDArray[np.bool_]]:
    """Return the poles of rational functions fitted to spectra, over the order of the fit.

    Least squares in the frequency domain with one denominator common to all channels, in powers of
    z = exp(-i pi (f - low) / (high - low)), its highest coefficient one [Guillaume2003]. A pole is
    stable when the order below has one within 1 % of its frequency and 10 % of its damping.

    Returns
    -------
    order, frequency_hz, damping_ratio, stable : arrays (poles,)
    """
    low, high = band
    inside = (frequency_hz >= low) & (frequency_hz <= high)
    f = frequency_hz[inside]
    data = spectra[inside] / np.maximum(np.abs(spectra[inside]).max(axis=0), 1e-300)
    orders: list[int] = []
    frequencies: list[float] = []
    dampings: list[float] = []
    stable: list[bool] = []
    if len(f) < 3 * highest_order:
        highest_order = max(2, len(f) // 3)
    # s = i omega is mapped so that the band fills the unit half circle
    angle = np.pi * (f - low) / (high - low)
    powers = np.exp(-1j * np.outer(angle, np.arange(highest_order + 1)))
    previous: list[tuple[float, float]] = []
    for order in range(2, highest_order + 1):
        X = powers[:, : order + 1]
        R = (X.conj().T @ X).real
        inverse = np.linalg.pinv(R)
        M = np.zeros((order + 1, order + 1))
        for column in data.T:
            Y = -column[:, None] * X
            S = (X.conj().T @ Y).real
            T = (Y.conj().T @ Y).real
            M += T - S.T @ inverse @ S
        # the coefficient of the highest power is one: poles of noise then lie outside
        free = np.linalg.lstsq(M[:-1, :-1], -M[:-1, -1], rcond=None)[0]
        coefficients = np.append(free, 1.0)
        roots = np.roots(coefficients[::-1]).astype(complex)  # in z = exp(-i angle)
        roots = roots[np.isfinite(roots) & (np.abs(roots) > 1e-12)]
        # z = exp(-s T): s = -log(z) / T with s = i omega on the band
        exponent = -np.log(roots) * (high - low) / np.pi  # in Hz, real part is decay
        found: list[tuple[float, float]] = []
        for value in exponent:
            centre = low + value.imag
            size = float(np.hypot(centre, value.real))
            ratio = float(-value.real / size) if size > 0 else -1.0
            if low < centre < high and 0 < ratio < 0.3:
                found.append((size, ratio))
        for size, ratio in found:
            is_stable = any(
                abs(other / size - 1) < 0.01 and abs(damping / ratio - 1) < 0.1
                for other, damping in previous
            )
            orders.append(order)
            frequencies.append(size)
            dampings.append(ratio)
            stable.append(is_stable)
        previous = found
    return (
        np.array(orders, int),
        np.array(frequencies),
        np.array(dampings),
        np.array(stable, bool),
    )
