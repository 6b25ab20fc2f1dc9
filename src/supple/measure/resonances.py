"""From recordings to natural frequencies and damping ratios; no robot is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..answers.answer import Answer
from ..arguments import brief, checked, number, vector, whole_number
from ..budget import afford
from ..errors import SuppleError
from ..files.recordings import RawTable, Recording, as_recording, read_recording
from .decays import PoleFit, fit_poles
from .power_peaks import find_peaks, fit_peaks
from .signals import (
    estimate_responses,
    evenly_sampled,
    half_spectra,
    hann_segments,
    noise_floor,
    rank_correlation,
    stable_poles,
    welch,
)

__all__ = ["Resonances", "load_recordings", "resonances"]

Array = NDArray[np.float64]
Excitation = Literal["auto", "ringdown", "hammer", "driven", "sweep", "ambient"]
FORCE = re.compile(
    r"(force|hammer|impact|input|tau|torque|current)([ ._(\[].*|\d*)$", re.IGNORECASE
)
DECAYED = 0.35  # energy of the last third over that of the first of a free decay, at most
SWEEP_PARTS = 40
MEMBERS = 6  # orders at which a pole must be stable to be taken
MOST_UNDECAYED = 100_000  # samples of a record that does not decay and is tried as a decay
FEW = 5  # poles that it may have
ALL_EXPLAINED = 0.95  # of its power that they must explain
EXPLAINED = 0.7  # of the power above the noise that free decays must explain
MAINS = (50.0, 60.0)
MAINS_NUMBERS = 20  # harmonics of the mains that are looked at
GIGABYTES_PER_SAMPLE = 2.2e-7  # measured with five million samples of one channel
SECONDS_PER_SAMPLE = 3.4e-6
PICTURE_LINES = 4000  # lines of the spectrum that is kept for a picture


@dataclass(frozen=True, eq=False)
class Resonances(Answer):
    """Natural frequencies and damping ratios found in recordings.

    From `supple.resonances`.

    Attributes
    ----------
    files : tuple of str
        Sources of the recordings.
    excitation : str
        Type of the recording: ringdown, hammer, driven (with a measured force), ambient (without),
        sweep (without a measured force, of rising frequency), or spectrum (the file is a spectrum).
    frequency_hz, damping_ratio : ndarray
        Undamped natural frequencies abs(s) / 2 pi, (K,), ascending, Hz, and damping ratios.
    std_hz, std_damping : ndarray
        Their standard deviations (K,).
    harmonics : tuple of str
        Lines that belong to no mode, such as mains and harmonics of a motor.
    harmonic_hz : ndarray
        Their frequencies, Hz.
    spectrum_hz, spectrum, fit : ndarray
        Power of all channels together (F,), and the fitted one (NaN where there is none).
    orders, pole_hz, pole_damping, stable : ndarray
        Stabilisation diagram (P,): poles of rational fits of increasing order, and which of them
        are stable.
    channels : tuple of str
        Recorded channels.
    rate, duration : float
        Samples per second, and length of the recording, s.
    notes : tuple of str
        What was noticed: dead and clipped channels, gaps, uneven sampling.
    """

    files: tuple[str, ...]
    excitation: str
    frequency_hz: Array
    damping_ratio: Array
    std_hz: Array
    std_damping: Array
    harmonics: tuple[str, ...]
    harmonic_hz: Array
    spectrum_hz: Array
    spectrum: Array
    fit: Array
    orders: NDArray[np.int64]
    pole_hz: Array
    pole_damping: Array
    stable: NDArray[np.bool_]
    channels: tuple[str, ...]
    rate: float
    duration: float
    notes: tuple[str, ...]

    dims: ClassVar = {
        "frequency_hz": ("mode",),
        "damping_ratio": ("mode",),
        "std_hz": ("mode",),
        "std_damping": ("mode",),
        "harmonic_hz": ("harmonic",),
        "spectrum": ("line",),
        "spectrum_hz": ("line",),
        "fit": ("line",),
        "orders": ("pole",),
        "pole_hz": ("pole",),
        "pole_damping": ("pole",),
        "stable": ("pole",),
    }
    table_rows: ClassVar = ("mode",)
    columns: ClassVar = ("frequency_hz", "damping_ratio", "std_hz", "std_damping")
    units: ClassVar = {"frequency_hz": "Hz", "std_hz": "Hz", "spectrum_hz": "Hz", "pole_hz": "Hz"}


@checked
def resonances(
    data: Any,
    *,
    rate: Annotated[float, number(0, above=True, unit="in Hz")] | None = None,
    band: Annotated[Sequence[float], vector(2)] | None = None,
    count: Annotated[int, whole_number(1, 100)] | None = None,
    channels: Sequence[str] | None = None,
    force: str | None = None,
    excitation: Excitation = "auto",
) -> Resonances:
    """Find natural frequencies and damping ratios in recordings, with standard deviations.

    Parameters
    ----------
    data : str, mapping, array or list of them
        Files (CSV with any header, MAT, LVM, UFF-58, TDMS, MCAP), mappings of channel names to
        samples, or an array (N,) or (N, channels) with `rate`. Several are analysed one by one and
        their answers combined.
    rate : float, optional
        Samples per second, where there is no time column.
    band : (low, high), optional
        Range in Hz in which modes are searched. Default: all that the recording resolves.
    count : int, optional
        Keep this many modes, the strongest. Default: all that stand out of the noise.
    channels : list of str, optional
        Use these channels only.
    force : str, optional
        Channel with the measured force. Default: one named force, hammer, input, torque or current.
    excitation : {"auto", "ringdown", "hammer", "driven", "sweep", "ambient"}
        How the structure was excited. Default: found from the recording.

    Returns
    -------
    Resonances

    Notes
    -----
    A free decay is fitted by maximum likelihood in the frequency domain; so is what follows after
    each hit of a hammer. Responses to a measured force are H1 estimates, weighted by coherence.
    Where no force was measured, peaks of the periodogram are fitted by Whittle's likelihood.
    Standard deviations are those of these likelihoods; of several hits or files they are combined,
    and widened where these differ by more than they should.

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> t = np.arange(0, 5, 0.002)
    >>> decay = np.exp(-0.9 * t) * np.sin(2 * np.pi * 7.2 * t)
    >>> noise = 1e-3 * np.random.default_rng(0).normal(size=t.size)
    >>> found = supple.resonances({"t": t, "tip": decay + noise})
    >>> found.frequency_hz.round(2), found.damping_ratio.round(3)
    (array([7.2]), array([0.02]))
    """
    recordings = load_recordings(data, rate)
    if band is not None and not 0 <= band[0] < band[1]:
        raise SuppleError(f"band is {brief(band)}: give low and high in Hz, such as (1, 100)")
    wanted = None if band is None else (float(band[0]), float(band[1]))
    parts = [_analyse(r, wanted, count, channels, force, excitation) for r in recordings]
    return parts[0] if len(parts) == 1 else _combine_recordings(parts, count)


def load_recordings(data: Any, rate: float | None = None) -> list[Recording]:
    """Return recordings of files, mappings and arrays, one or a list of them."""
    if isinstance(data, list | tuple) and data and not np.isscalar(data[0]):
        if all(isinstance(each, str | PathLike | Mapping | Recording) for each in data):
            return [one for each in data for one in load_recordings(each, rate)]
    elif isinstance(data, list | tuple) and data and all(isinstance(x, str) for x in data):
        return [one for each in data for one in load_recordings(each, rate)]
    if isinstance(data, Recording):
        return [data]
    if isinstance(data, str | PathLike):
        return [read_recording(data, rate)]
    if isinstance(data, Mapping):
        columns = {}
        for name, values in data.items():
            try:
                column = np.asarray(values, float)
            except (TypeError, ValueError, OverflowError):
                raise SuppleError(f"channel '{name}' holds {brief(values)}: give numbers") from None
            if column.ndim == 0:
                raise SuppleError(f"channel '{name}' is one number: give its samples")
            if column.ndim == 1:
                columns[str(name)] = column
            else:
                for k in range(column.shape[-1]):
                    columns[f"{name}.{k + 1}"] = column[..., k]
        sizes = {len(column) for column in columns.values()}
        if len(sizes) != 1:
            raise SuppleError("the channels given differ in length: give one sample each per time")
        return [as_recording("the recording", RawTable(columns), rate)]
    try:
        samples = np.asarray(data, float)
    except (TypeError, ValueError, OverflowError):
        samples = np.empty(0)
    if samples.ndim not in (1, 2) or samples.size < 16:
        raise SuppleError(
            f"data is {brief(data)}: give a file, a mapping of channels, or an array of samples "
            "with rate="
        )
    table = samples.reshape(len(samples), -1)
    columns = {f"channel {k + 1}": table[:, k] for k in range(table.shape[1])}
    return [as_recording("the recording", RawTable(columns), rate)]


def _analyse(
    recording: Recording,
    band: tuple[float, float] | None,
    count: int | None,
    channels: Sequence[str] | None,
    force: str | None,
    excitation: str,
) -> Resonances:
    """The resonances of one recording."""
    recording = _chosen(recording, channels, force)
    if recording.spectrum:
        return _analyse_spectrum(recording, band, count)
    values_count = len(recording.x) * len(recording.channels)
    afford(
        f"the resonances of {values_count:,} samples",
        GIGABYTES_PER_SAMPLE * values_count,
        SECONDS_PER_SAMPLE * values_count,
        "cut the recording, use fewer channels, or filter it and take every n-th sample",
    )
    signals = evenly_sampled(recording)
    names = list(signals.names)
    driver = force if force is not None else next((n for n in names if FORCE.match(n)), None)
    if driver is not None and driver not in names:
        raise SuppleError(f"force is '{driver}': {recording.name} has {', '.join(names)}")
    outputs = [k for k, name in enumerate(names) if name != driver]
    if not outputs:
        raise SuppleError(f"{recording.name} has the force '{driver}' and no channel beside it")
    values = signals.values[:, outputs]
    nyquist = 0.5 * signals.rate
    low, high = band or (max(2.0 / signals.duration, 1e-9), 0.96 * nyquist)
    if low >= nyquist:
        raise SuppleError(
            f"{recording.name} is sampled at {signals.rate:.6g} Hz: nothing can be said above "
            f"{nyquist:.6g} Hz, and band begins at {low:g} Hz; sample faster"
        )
    notes = list(signals.notes)
    if band is not None and high > nyquist:
        notes.append(
            f"sampled at {signals.rate:.6g} Hz: modes between {nyquist:.6g} and {high:.6g} Hz, "
            "asked for, cannot be seen; they would appear folded to lower frequencies"
        )
    limits = (low, min(high, 0.98 * nyquist))

    kind = excitation
    if kind == "auto":
        if driver is not None:
            pushes = signals.values[:, names.index(driver)]
            kind = "hammer" if _impulsive(pushes) else "driven"
        else:
            kind = "sweep" if _sweeps(values, signals.rate) else "ringdown"
    if kind in ("hammer", "driven") and driver is None:
        raise SuppleError(
            f"excitation is {kind}, but no channel of {recording.name} is a force: name it (force=)"
        )
    found: _FoundPoles | None = None
    if kind == "driven":
        given = signals.values[:, names.index(str(driver))]
        found = _driven(given, values, signals.rate, limits)
    elif kind in ("ringdown", "hammer"):
        hits = None if driver is None else signals.values[:, names.index(driver)]
        decays = _decays(values, signals.rate)
        if excitation != "auto" or decays or len(values) <= MOST_UNDECAYED:
            few = 12 if excitation != "auto" or decays else FEW
            found = _ringdown(values, signals.rate, limits, hits, few)
        # something that dies away may be no free decay, such as a sweep past a resonance; and one
        # that hardly does may be one, where a few poles explain all of it
        enough = EXPLAINED if decays else ALL_EXPLAINED
        if excitation == "auto" and kind == "ringdown" and found is not None:
            found = found if _explained_power(found, limits) >= enough else None
    if found is None:
        kind = "sweep" if kind == "sweep" else "ambient"
        found = _ambient(values, signals.rate, limits, sweep=kind == "sweep")
    found = _sort_out_harmonics(found, free_decay=kind in ("ringdown", "hammer"))
    if count is not None and len(found.frequency_hz) > count:
        keep = np.sort(np.argsort(-found.strength)[:count])
        found = found.take(keep)
    if not len(found.frequency_hz):
        notes.append(
            "no resonance stands out of the noise: record longer, excite more, or give another band"
        )
    line = _thin_spectrum(found.spectrum_hz, found.spectrum, found.fit, limits[1])
    return Resonances(
        (recording.name,),
        kind,
        found.frequency_hz,
        found.damping_ratio,
        found.std_hz,
        found.std_damping,
        found.harmonics,
        found.harmonic_hz,
        line[0],
        line[1],
        line[2],
        found.diagram[0],
        found.diagram[1],
        found.diagram[2],
        found.diagram[3],
        tuple(names[k] for k in outputs),
        signals.rate,
        signals.duration,
        tuple(notes),
    )


def _chosen(recording: Recording, channels: Sequence[str] | None, force: str | None) -> Recording:
    """The recording with the channels that were asked for."""
    if channels is None:
        return recording
    unknown = [name for name in channels if name not in recording.channels]
    if unknown:
        known = ", ".join(recording.channels)
        raise SuppleError(f"channel '{unknown[0]}' is not in {recording.name}: it has {known:.200}")
    wanted = list(channels)
    if force is not None and force in recording.channels:
        wanted.append(force)
    return replace(recording, channels={name: recording.channels[name] for name in wanted})


@dataclass(frozen=True)
class _FoundPoles:
    """Resonances of one record on their way to an answer."""

    frequency_hz: Array
    damping_ratio: Array
    std_hz: Array
    std_damping: Array
    strength: Array
    spectrum_hz: Array
    spectrum: Array
    fit: Array
    diagram: Any  # orders, frequencies, damping ratios, and which are stable
    resolution: float
    harmonics: tuple[str, ...] = ()
    harmonic_hz: Array = field(default_factory=lambda: np.zeros(0))

    def take(self, keep: Any) -> _FoundPoles:
        """Return the same with some of the resonances."""
        parts = ("frequency_hz", "damping_ratio", "std_hz", "std_damping", "strength")
        return replace(self, **{name: getattr(self, name)[keep] for name in parts})


def _impulsive(force: Array) -> bool:
    """Whether a force is a few short hits."""
    centred = force - np.median(force)
    power = float((centred**2).mean())
    return bool(power > 0 and float((centred**4).mean()) > 15 * power**2)


def _decays(values: Array, rate: float) -> bool:
    """Whether the record is a free vibration that dies away after its highest point."""
    onset = _onsets(values, rate)[-1]
    rest = values[onset:] - np.median(values[onset:], axis=0)
    if len(rest) < 40 or len(rest) < 0.3 * len(values):
        return False
    third = len(rest) // 3
    energy = (rest / np.maximum(rest.std(axis=0), 1e-300)) ** 2
    total = energy.sum(axis=1)
    return bool(total[-third:].mean() < DECAYED * total[:third].mean())


def _sweeps(values: Array, rate: float) -> bool:
    """Whether the strongest frequency rises, or falls, all along the record: a sweep."""
    length = len(values) // SWEEP_PARTS
    if length < 64:
        return False
    strongest = int(np.argmax(values.var(axis=0)))
    f, spectra, _ = hann_segments(values[:, [strongest]], rate, length, overlap=0)
    power = np.stack([np.abs(spectrum[1:, 0]) ** 2 for spectrum in spectra])
    peak_hz = f[1 + np.argmax(power, axis=1)]
    clear = power.max(axis=1) > 30 * np.median(power, axis=1)
    clear_hz = peak_hz[clear]
    if len(clear_hz) < 6 or float(clear_hz.max()) < 1.5 * float(clear_hz.min()):
        return False
    order = rank_correlation(np.flatnonzero(clear), clear_hz)
    return abs(order) > 0.95


def _explained_power(found: _FoundPoles, band: tuple[float, float]) -> float:
    """The share of the power, on lines of the band that stand out of the noise, that the fit has.

    Poles are looked for inside the band alone, so nothing outside it speaks for or against them.
    """
    floor = noise_floor(found.spectrum, max(201, len(found.spectrum) // 10))
    strong = found.spectrum > 10 * floor
    strong &= (found.spectrum_hz >= band[0]) & (found.spectrum_hz <= band[1])
    strong[0] = False
    power = found.spectrum[strong]
    if not len(power) or not len(found.frequency_hz):
        return 0.0
    return 1 - float(np.abs(found.spectrum[strong] - found.fit[strong]).sum() / power.sum())


def _onsets(values: Array, rate: float) -> list[int]:
    """Where free decays begin: the highest points, each much higher than what came before."""
    centred = values - np.median(values, axis=0)
    size = np.sqrt(((centred / np.maximum(centred.std(axis=0), 1e-300)) ** 2).sum(axis=1))
    block = max(1, len(size) // 400)
    blocks = size[: len(size) // block * block].reshape(-1, block).max(axis=1)
    peak = blocks.max()
    onsets: list[int] = []
    for k in range(len(blocks)):
        before = blocks[max(0, k - 8) : k]
        jump = k == 0 or blocks[k] > 3 * before.max(initial=0.0)
        far = not onsets or k * block - onsets[-1] > 0.05 * len(size)
        if blocks[k] > 0.4 * peak and jump and far:
            start = k * block
            onsets.append(start + int(np.argmax(size[start : start + 2 * block])))
    if not onsets:
        highest = int(np.argmax(size))
        onsets = [highest if highest < 0.5 * len(size) else 0]
    if onsets[0] < 0.01 * len(size):
        onsets[0] = 0  # it rings from the first sample on
    return onsets


def _ringdown(
    values: Array,
    rate: float,
    band: tuple[float, float],
    force: Array | None,
    most: int = 12,
) -> _FoundPoles:
    """Free decays, each of them fitted, their answers combined."""
    if force is None:
        onsets = _onsets(values, rate)
    else:
        # the force is over when it is back at a fiftieth of its largest value
        pushes = np.abs(force - np.median(force))
        hit = np.flatnonzero(pushes > 0.02 * pushes.max())
        ends = hit[np.append(np.diff(hit) > 0.02 * rate + 2, True)]
        onsets = [int(end) + 1 for end in ends if end + 64 < len(values)] or [0]
    ends = [*onsets[1:], len(values)]
    pieces = [values[a : b - 2] for a, b in zip(onsets, ends, strict=True) if b - a > 80]
    fits: list[PoleFit] = []
    for piece in pieces:
        spectrum = np.fft.rfft(piece, axis=0)
        f_piece: Any = np.fft.rfftfreq(len(piece), 1 / rate)
        fits.append(fit_poles(f_piece, spectrum, band, rate=rate, count=len(piece), most=most))
    longest = int(np.argmax([len(piece) for piece in pieces]))
    spectrum = np.fft.rfft(pieces[longest], axis=0)
    f: Any = np.fft.rfftfreq(len(pieces[longest]), 1 / rate)
    unit = 2.0 / (rate * len(pieces[longest]))
    power = unit * (np.abs(spectrum) ** 2).sum(axis=1)
    fitted = unit * (np.abs(fits[longest].model) ** 2).sum(axis=1)
    tables = []
    for fit in fits:
        std_f, std_z = fit.standard_deviations()
        tables.append(np.stack([fit.frequency_hz, fit.damping_ratio, std_f, std_z], axis=1))
    table = tables[0] if len(tables) == 1 else _merge_tables(tables)
    diagram = stable_poles(f, spectrum, _busy_band(table[:, 0], band))
    return _FoundPoles(
        table[:, 0],
        table[:, 1],
        table[:, 2],
        table[:, 3],
        np.interp(table[:, 0], f, power),
        f,
        power,
        fitted,
        diagram,
        rate / max(len(piece) for piece in pieces),
    )


def _busy_band(frequency_hz: Array, band: tuple[float, float]) -> tuple[float, float]:
    """The part of a band in which there is something."""
    if not len(frequency_hz):
        return band
    return max(band[0], 0.5 * frequency_hz.min()), min(band[1], 1.3 * frequency_hz.max())


def _driven(force: Array, values: Array, rate: float, band: tuple[float, float]) -> _FoundPoles:
    """Responses to a measured force, weighted by their coherence."""
    segments = 8
    found = estimate_responses(force, values, rate, segments)
    seen = found.coherence.mean(axis=1) > 0.05
    variance = (1 - found.coherence) / (2 * np.maximum(found.coherence, 1e-3) * found.averages)
    noise = np.maximum(variance, 1e-8) * np.abs(found.h1) ** 2 + 1e-300
    noise[~seen] *= 1e3
    noise = np.maximum(noise, 1e-12 * (np.abs(found.h1) ** 2).max(axis=0))
    diagram = stable_poles(found.frequency_hz, found.h1, band)
    start = _stable_clusters(*diagram)
    fit = fit_poles(found.frequency_hz, found.h1, band, kernel="response", noise=noise, start=start)
    keep = np.flatnonzero((fit.damping_ratio > 0) & (fit.damping_ratio < 0.5))
    std_f, std_z = fit.standard_deviations()
    power = (np.abs(found.h1) ** 2).sum(axis=1)
    resolution = float(found.frequency_hz[1])
    both = _FoundPoles(
        fit.frequency_hz,
        fit.damping_ratio,
        std_f,
        std_z,
        np.interp(fit.frequency_hz, found.frequency_hz, power),
        found.frequency_hz,
        power,
        (np.abs(fit.model) ** 2).sum(axis=1),
        diagram,
        resolution,
    )
    return both.take(keep)


def _stable_clusters(
    orders: NDArray[np.int64], frequency_hz: Array, damping: Array, stable: NDArray[np.bool_]
) -> Array:
    """Decay and omega of poles that stay over several orders, (K, 2)."""
    f, z = frequency_hz[stable], damping[stable]
    order = np.argsort(f)
    f, z = f[order], z[order]
    poles = []
    first = 0
    for k in range(1, len(f) + 1):
        if k == len(f) or f[k] > 1.01 * f[k - 1]:
            if k - first >= MEMBERS:
                omega = 2 * np.pi * float(np.median(f[first:k]))
                ratio = float(np.median(z[first:k]))
                poles.append((ratio * omega, omega * np.sqrt(1 - ratio**2)))
            first = k
    return np.array(poles).reshape(-1, 2)


def _ambient(
    values: Array, rate: float, band: tuple[float, float], sweep: bool = False
) -> _FoundPoles:
    """Peaks of the power where the force was not measured.

    A sweep is not tapered: each of its frequencies has its own time, which a window would weigh.
    """
    N = len(values)
    window = np.ones(N) if sweep else np.hanning(N + 1)[:N]
    centred = (values - values.mean(axis=0)) * window[:, None]
    spectrum = np.fft.rfft(centred, axis=0)
    f: Any = np.fft.rfftfreq(N, 1 / rate)
    density = 2 * np.abs(spectrum) ** 2 / (rate * (window**2).sum())
    each = density.mean(axis=0)
    power = density.sum(axis=1) if sweep else (density / np.maximum(each, 1e-300)).sum(axis=1)
    power = power if sweep else power * each.mean()
    rough_f: Array
    rough_f, rough = welch(values, rate, segments=max(8, min(64, N // 4096)))
    rough_power = (rough / np.maximum(each, 1e-300)).sum(axis=1) * each.mean()
    if sweep:
        rough_power = rough.sum(axis=1)
    peaks = find_peaks(rough_f, rough_power, band, 20)
    fit = fit_peaks(f, power, sorted(peaks), likelihood=not sweep)
    seconds = min(0.25 * N / rate, 400 / max(band[0], 1 / (N / rate)))
    lag_f, half = half_spectra(values, rate, seconds)
    diagram = stable_poles(lag_f, half, _busy_band(fit.frequency_hz, band))
    return _FoundPoles(
        fit.frequency_hz,
        fit.damping_ratio,
        fit.std_hz,
        fit.std_damping,
        np.interp(fit.frequency_hz, rough_f, rough_power),
        f,
        power,
        fit.model,
        diagram,
        rate / N,
    )


def _analyse_spectrum(
    recording: Recording, band: tuple[float, float] | None, count: int | None
) -> Resonances:
    """A file that holds a spectrum: power, amplitude, or decibels."""
    notes = list(recording.notes)
    f = recording.x
    columns = []
    for name, values in recording.channels.items():
        if (values < 0).any():
            notes.append(f"'{name}' has negative values and is read as decibels")
            columns.append(10 ** (values / 10))
        elif "psd" in name.lower() or "power" in name.lower():
            columns.append(values)
        else:
            columns.append(values**2)
    unit = [max(float(column.max()), 1e-300) for column in columns]
    power = np.sum([column / size for column, size in zip(columns, unit, strict=True)], axis=0)
    power = power * float(np.mean(unit))
    limits = band or (float(f[1] + 4 * (f[1] - f[0])), float(f[-1]))
    peaks = find_peaks(f, power, limits, count or 20)
    fit = fit_peaks(f, power, peaks, likelihood=False)
    notes.append("damping ratios include the width of the window that the spectrum was made with")
    none = np.zeros(0)
    resolution = float(f[1] - f[0])
    found = _FoundPoles(
        fit.frequency_hz,
        fit.damping_ratio,
        fit.std_hz,
        fit.std_damping,
        np.interp(fit.frequency_hz, f, power),
        f,
        power,
        fit.model,
        (np.zeros(0, int), none, none, np.zeros(0, bool)),
        resolution,
    )
    found = _sort_out_harmonics(found, free_decay=False)
    thinned = _thin_spectrum(f, power, fit.model, limits[1])
    return Resonances(
        (recording.name,),
        "spectrum",
        found.frequency_hz,
        found.damping_ratio,
        found.std_hz,
        found.std_damping,
        found.harmonics,
        found.harmonic_hz,
        thinned[0],
        thinned[1],
        thinned[2],
        found.diagram[0],
        found.diagram[1],
        found.diagram[2],
        found.diagram[3],
        tuple(recording.channels),
        2 * float(f[-1]),
        1 / resolution,
        tuple(notes),
    )


def _sort_out_harmonics(found: _FoundPoles, free_decay: bool) -> _FoundPoles:
    """Take lines out that nothing damps and that stand where mains or a motor put them."""
    if not len(found.frequency_hz):
        return found
    f, z = found.frequency_hz, found.damping_ratio
    # a line narrower than the record resolves, or whose damping is none within its error
    narrow = z * f < 0.6 * found.resolution
    if free_decay:
        # fitted in time: seen to die away within the record, however narrow. A large free vibration
        # has overtones of its own, which no motor makes
        nepers = 2 * np.pi * z * f / found.resolution
        narrow &= (nepers < 0.5) | (z < 10 * found.std_damping)
    undamped = narrow | (z < 2 * found.std_damping) | (z < 1e-4)
    words: dict[int, str] = {}
    tolerance = np.maximum(1e-3 * f, 2 * found.resolution)
    for k in np.flatnonzero(undamped):
        for mains in MAINS:
            times = round(float(f[k]) / mains)
            if 1 <= times <= MAINS_NUMBERS and abs(f[k] - times * mains) < tolerance[k]:
                which = "mains" if times == 1 else f"harmonic {times} of the mains"
                words[int(k)] = f"{f[k]:.5g} Hz: {which} ({mains:g} Hz)"
                break
    # three or more undamped lines that are multiples of one: a motor, a fan, a pump
    rest = [int(k) for k in np.flatnonzero(undamped) if int(k) not in words]
    for first in rest:
        family = []
        for other in rest:
            ratio = float(f[other] / f[first])
            if round(ratio) >= 1 and abs(ratio - round(ratio)) < 2e-3 * round(ratio):
                family.append((other, round(ratio)))
        if len(family) >= 3:
            for other, multiple in family:
                sentence = f"{f[other]:.5g} Hz: {multiple} times {f[first]:.5g} Hz, a running motor"
                words.setdefault(other, sentence)
    keep = np.array([k not in words for k in range(len(f))], bool)
    kept = found.take(keep)
    ordered = sorted(words)
    return replace(
        kept,
        harmonics=tuple(words[k] for k in ordered),
        harmonic_hz=f[np.array(ordered, int)],
    )


def _thin_spectrum(f: Array, power: Array, fit: Array, top: float) -> tuple[Array, Array, Array]:
    """The spectrum for a picture: the highest line of each of a few thousand stretches."""
    inside = (f > 0) & (f <= top)
    f, power, fit = f[inside], power[inside], fit[inside]
    block = max(1, len(f) // PICTURE_LINES)
    if block == 1:
        return f, power, fit
    size = len(f) // block * block
    rows = power[:size].reshape(-1, block)
    highest = rows.argmax(axis=1) + block * np.arange(len(rows))
    return f[highest], power[highest], fit[highest]


def _merge_tables(tables: Sequence[Array]) -> Array:
    """Combine tables of (frequency, damping, std, std): means of what agrees, weighted.

    Where repeated values scatter by more than their deviations say, the combined deviation is
    widened by the square root of chi squared over its degrees of freedom (Birge's ratio).
    """
    rows = np.concatenate(tables)
    owner = np.concatenate([np.full(len(table), k) for k, table in enumerate(tables)])
    order = np.argsort(rows[:, 0])
    groups: list[list[int]] = []
    for index in order:
        f, _, std, _ = rows[index]
        if groups:
            last = rows[groups[-1]]
            centre = float(np.average(last[:, 0], weights=1 / np.maximum(last[:, 2], 1e-12) ** 2))
            reach = max(0.01 * f, 4 * float(np.hypot(std, last[:, 2].min())))
            fresh = owner[index] not in owner[groups[-1]]
            if fresh and abs(f - centre) < reach:
                groups[-1].append(int(index))
                continue
        groups.append([int(index)])
    out = []
    for group in groups:
        part = rows[group]
        combined = []
        for value, deviation in ((0, 2), (1, 3)):
            weight = 1 / np.maximum(part[:, deviation], 1e-15) ** 2
            mean = float(np.average(part[:, value], weights=weight))
            std = float(1 / np.sqrt(weight.sum()))
            if len(group) > 1:
                chi2 = float((weight * (part[:, value] - mean) ** 2).sum()) / (len(group) - 1)
                std *= max(1.0, np.sqrt(chi2))
            combined += [mean, std]
        out.append([combined[0], combined[2], combined[1], combined[3]])
    return np.array(out).reshape(-1, 4)


def _combine_recordings(parts: Sequence[Resonances], count: int | None) -> Resonances:
    """One answer of several recordings."""
    tables = [
        np.stack([p.frequency_hz, p.damping_ratio, p.std_hz, p.std_damping], axis=1) for p in parts
    ]
    table = _merge_tables(tables)
    first = parts[0]
    if count is not None and len(table) > count:
        strength = np.interp(table[:, 0], first.spectrum_hz, first.spectrum)
        table = table[np.sort(np.argsort(-strength)[:count])]
    harmonics = dict.fromkeys(word for p in parts for word in p.harmonics)
    notes = tuple(f"{p.files[0]}: {note}" for p in parts for note in p.notes)
    return replace(
        first,
        files=tuple(name for p in parts for name in p.files),
        excitation=", ".join(dict.fromkeys(p.excitation for p in parts)),
        frequency_hz=table[:, 0],
        damping_ratio=table[:, 1],
        std_hz=table[:, 2],
        std_damping=table[:, 3],
        harmonics=tuple(harmonics),
        harmonic_hz=np.unique(np.concatenate([p.harmonic_hz for p in parts])),
        duration=sum(p.duration for p in parts),
        notes=notes,
    )
