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
    Signals,
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
MOST_POLES = 12  # poles of a free decay
FEW = 5  # poles that a record which does not decay may have
ALL_EXPLAINED = 0.95  # of the power above the noise that these must explain
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
    if _is_list_of_recordings(data):
        recordings: list[Recording] = []
        for part in data:
            recordings += load_recordings(part, rate)
        return recordings
    if isinstance(data, Recording):
        return [data]
    if isinstance(data, str | PathLike):
        return [read_recording(data, rate)]
    columns = _columns_of_mapping(data) if isinstance(data, Mapping) else _columns_of_array(data)
    return [as_recording("the recording", RawTable(columns), rate)]


def _is_list_of_recordings(data: Any) -> bool:
    """Whether data is a list of files, mappings or recordings, and not a list of samples."""
    if not isinstance(data, list | tuple) or not data:
        return False
    return all(isinstance(part, str | PathLike | Mapping | Recording) for part in data)


def _columns_of_mapping(data: Mapping[Any, Any]) -> dict[str, Array]:
    """Channels of a mapping by name; of one with several columns each is a channel."""
    columns: dict[str, Array] = {}
    for name, values in data.items():
        try:
            samples = np.asarray(values, float)
        except (TypeError, ValueError, OverflowError):
            raise SuppleError(f"channel '{name}' holds {brief(values)}: give numbers") from None
        if samples.ndim == 0:
            raise SuppleError(f"channel '{name}' is one number: give its samples")
        if samples.ndim == 1:
            columns[str(name)] = samples
        else:
            for k in range(samples.shape[-1]):
                columns[f"{name}.{k + 1}"] = samples[..., k]
    lengths = {len(samples) for samples in columns.values()}
    if len(lengths) != 1:
        raise SuppleError("the channels given differ in length: give one sample each per time")
    return columns


def _columns_of_array(data: Any) -> dict[str, Array]:
    """Channels of an array (N,) or (N, channels)."""
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
    return {f"channel {k + 1}": table[:, k] for k in range(table.shape[1])}


def _analyse(
    recording: Recording,
    band: tuple[float, float] | None,
    count: int | None,
    channels: Sequence[str] | None,
    force: str | None,
    excitation: str,
) -> Resonances:
    """The resonances of one recording."""
    recording = _select_channels(recording, channels, force)
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
    driver = _force_channel(signals.names, force, recording.name)
    outputs = [k for k, name in enumerate(signals.names) if name != driver]
    if not outputs:
        raise SuppleError(f"{recording.name} has the force '{driver}' and no channel beside it")
    if excitation in ("hammer", "driven") and driver is None:
        raise SuppleError(
            f"excitation is {excitation}, but no channel of {recording.name} is a force: name it "
            "(force=)"
        )
    limits, notes_on_band = _band_that_can_be_seen(signals, band, recording.name)
    notes = [*signals.notes, *notes_on_band]

    readings = signals.values[:, outputs]
    pushes = None if driver is None else signals.values[:, signals.names.index(driver)]
    kind, found = _find_poles(readings, pushes, signals.rate, limits, excitation)
    found = _sort_out_harmonics(found, free_decay=kind in ("ringdown", "hammer"))
    if count is not None and len(found.frequency_hz) > count:
        strongest = np.sort(np.argsort(-found.strength)[:count])
        found = found.take(strongest)
    if not len(found.frequency_hz):
        notes.append(
            "no resonance stands out of the noise: record longer, excite more, or give another band"
        )
    return _answer(
        found,
        file=recording.name,
        excitation=kind,
        top=limits[1],
        channels=tuple(signals.names[k] for k in outputs),
        rate=signals.rate,
        duration=signals.duration,
        notes=notes,
    )


def _select_channels(
    recording: Recording, channels: Sequence[str] | None, force: str | None
) -> Recording:
    """The recording with the requested channels, and that of the force."""
    if channels is None:
        return recording
    unknown = [name for name in channels if name not in recording.channels]
    if unknown:
        known = ", ".join(recording.channels)
        raise SuppleError(f"channel '{unknown[0]}' is not in {recording.name}: it has {known:.200}")
    selected = list(channels)
    if force is not None and force in recording.channels:
        selected.append(force)
    return replace(recording, channels={name: recording.channels[name] for name in selected})


def _force_channel(names: Sequence[str], force: str | None, recording: str) -> str | None:
    """The channel of the measured force: the one given, or the first named like a force."""
    if force is None:
        return next((name for name in names if FORCE.match(name)), None)
    if force not in names:
        raise SuppleError(f"force is '{force}': {recording} has {', '.join(names)}")
    return force


def _band_that_can_be_seen(
    signals: Signals, band: tuple[float, float] | None, recording: str
) -> tuple[tuple[float, float], list[str]]:
    """The range of frequencies (Hz) that the samples resolve, and what limits it in words."""
    nyquist = 0.5 * signals.rate
    low, high = band or (max(2.0 / signals.duration, 1e-9), 0.96 * nyquist)
    if low >= nyquist:
        raise SuppleError(
            f"{recording} is sampled at {signals.rate:.6g} Hz: nothing can be said above "
            f"{nyquist:.6g} Hz, and band begins at {low:g} Hz; sample faster"
        )
    notes: list[str] = []
    if band is not None and high > nyquist:
        notes.append(
            f"sampled at {signals.rate:.6g} Hz: modes between {nyquist:.6g} and {high:.6g} Hz, "
            "asked for, cannot be seen; they would appear folded to lower frequencies"
        )
    return (low, min(high, 0.98 * nyquist)), notes


def _find_poles(
    readings: Array,
    pushes: Array | None,
    rate: float,
    band: tuple[float, float],
    excitation: str,
) -> tuple[str, _FoundPoles]:
    """Return how the structure was excited, and the resonances by the method for that.

    What dies away may be no free decay, such as a sweep past a resonance; what hardly does may be
    one. So a decay that was not asked for is accepted where its few poles explain the record, and
    the record is taken as ambient otherwise.
    """
    automatic = excitation == "auto"
    kind = _kind_of_excitation(readings, pushes, rate) if automatic else excitation
    if kind == "driven" and pushes is not None:
        return kind, _driven(pushes, readings, rate, band)
    if kind == "hammer" and pushes is not None and not automatic:
        return kind, _ringdown(readings, rate, band, pushes)
    if kind == "ringdown" and not automatic:
        return kind, _ringdown(readings, rate, band, pushes)

    if kind in ("hammer", "ringdown"):
        decays = _decays(readings, rate)
        if decays or len(readings) <= MOST_UNDECAYED:
            most_poles = MOST_POLES if decays else FEW
            found = _ringdown(readings, rate, band, pushes, most_poles)
            enough = EXPLAINED if decays else ALL_EXPLAINED
            if kind == "hammer" or _explained_power(found, band) >= enough:
                return kind, found
    if kind != "sweep":
        kind = "ambient"
    return kind, _ambient(readings, rate, band, sweep=kind == "sweep")


def _kind_of_excitation(readings: Array, pushes: Array | None, rate: float) -> str:
    """How the structure was excited, as far as the channels show it."""
    if pushes is not None:
        return "hammer" if _impulsive(pushes) else "driven"
    return "sweep" if _sweeps(readings, rate) else "ringdown"


def _answer(
    found: _FoundPoles,
    *,
    file: str,
    excitation: str,
    top: float,
    channels: tuple[str, ...],
    rate: float,
    duration: float,
    notes: Sequence[str],
) -> Resonances:
    """The resonances of one recording with the spectrum, up to `top` in Hz, for a picture."""
    spectrum_hz, spectrum, fit = _thin_spectrum(found.spectrum_hz, found.spectrum, found.fit, top)
    orders, pole_hz, pole_damping, stable = found.diagram
    return Resonances(
        files=(file,),
        excitation=excitation,
        frequency_hz=found.frequency_hz,
        damping_ratio=found.damping_ratio,
        std_hz=found.std_hz,
        std_damping=found.std_damping,
        harmonics=found.harmonics,
        harmonic_hz=found.harmonic_hz,
        spectrum_hz=spectrum_hz,
        spectrum=spectrum,
        fit=fit,
        orders=orders,
        pole_hz=pole_hz,
        pole_damping=pole_damping,
        stable=stable,
        channels=channels,
        rate=rate,
        duration=duration,
        notes=tuple(notes),
    )


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
    scaled = rest / np.maximum(rest.std(axis=0), 1e-300)
    energy = (scaled**2).sum(axis=1)
    return bool(energy[-third:].mean() < DECAYED * energy[:third].mean())


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
    scaled = centred / np.maximum(centred.std(axis=0), 1e-300)
    size = np.sqrt((scaled**2).sum(axis=1))

    # the highest sample of each of four hundred blocks is enough to see where a decay begins
    block = max(1, len(size) // 400)
    highest = size[: len(size) // block * block].reshape(-1, block).max(axis=1)
    onsets: list[int] = []
    for k in range(len(highest)):
        before = highest[max(0, k - 8) : k]
        jumps = k == 0 or highest[k] > 3 * before.max(initial=0.0)
        apart = not onsets or k * block - onsets[-1] > 0.05 * len(size)
        if highest[k] > 0.4 * highest.max() and jumps and apart:
            start = k * block
            onsets.append(start + int(np.argmax(size[start : start + 2 * block])))
    if not onsets:
        top = int(np.argmax(size))
        onsets = [top if top < 0.5 * len(size) else 0]
    if onsets[0] < 0.01 * len(size):
        onsets[0] = 0  # it rings from the first sample on
    return onsets


def _ringdown(
    values: Array,
    rate: float,
    band: tuple[float, float],
    force: Array | None,
    most: int = MOST_POLES,
) -> _FoundPoles:
    """Free decays, each of them fitted, their answers combined."""
    onsets = _onsets(values, rate) if force is None else _ends_of_hits(force, len(values), rate)
    ends = [*onsets[1:], len(values)]
    decays: list[Array] = []
    for start, end in zip(onsets, ends, strict=True):
        if end - start > 80:
            decays.append(values[start : end - 2])

    fits: list[PoleFit] = []
    tables: list[Array] = []
    for decay in decays:
        spectrum = np.fft.rfft(decay, axis=0)
        lines_hz: Array = np.asarray(np.fft.rfftfreq(len(decay), 1 / rate), float)
        fit = fit_poles(lines_hz, spectrum, band, rate=rate, count=len(decay), most=most)
        fits.append(fit)
        std_f, std_z = fit.standard_deviations()
        tables.append(np.stack([fit.frequency_hz, fit.damping_ratio, std_f, std_z], axis=1))
    table = tables[0] if len(tables) == 1 else _merge_tables(tables)

    # the longest decay is the one of the picture and of the stabilisation diagram
    longest = int(np.argmax([len(decay) for decay in decays]))
    count = len(decays[longest])
    f: Array = np.asarray(np.fft.rfftfreq(count, 1 / rate), float)
    spectrum = np.fft.rfft(decays[longest], axis=0)
    unit = 2.0 / (rate * count)
    power = unit * (np.abs(spectrum) ** 2).sum(axis=1)
    fitted_power = unit * (np.abs(fits[longest].model) ** 2).sum(axis=1)
    return _FoundPoles(
        frequency_hz=table[:, 0],
        damping_ratio=table[:, 1],
        std_hz=table[:, 2],
        std_damping=table[:, 3],
        strength=np.interp(table[:, 0], f, power),
        spectrum_hz=f,
        spectrum=power,
        fit=fitted_power,
        diagram=stable_poles(f, spectrum, _busy_band(table[:, 0], band)),
        resolution=rate / count,
    )


def _ends_of_hits(force: Array, samples: int, rate: float) -> list[int]:
    """The first samples after hits: the force is back at a fiftieth of its largest value."""
    size = np.abs(force - np.median(force))
    pushed = np.flatnonzero(size > 0.02 * size.max())
    last_of_hit = np.append(np.diff(pushed) > 0.02 * rate + 2, True)
    onsets: list[int] = []
    for end in pushed[last_of_hit]:
        if end + 64 < samples:
            onsets.append(int(end) + 1)
    return onsets or [0]


def _busy_band(frequency_hz: Array, band: tuple[float, float]) -> tuple[float, float]:
    """The part of a band in which there is something."""
    if not len(frequency_hz):
        return band
    return max(band[0], 0.5 * frequency_hz.min()), min(band[1], 1.3 * frequency_hz.max())


def _driven(force: Array, values: Array, rate: float, band: tuple[float, float]) -> _FoundPoles:
    """Poles of the responses to a measured force, weighted by their coherence."""
    responses = estimate_responses(force, values, rate)
    f = responses.frequency_hz
    size = np.abs(responses.h1)

    # variance of H1 by its coherence; lines without any hardly count
    coherence = np.maximum(responses.coherence, 1e-3)
    relative_variance = (1 - responses.coherence) / (2 * coherence * responses.averages)
    variance = np.maximum(relative_variance, 1e-8) * size**2 + 1e-300
    incoherent = responses.coherence.mean(axis=1) <= 0.05
    variance[incoherent] *= 1e3
    variance = np.maximum(variance, 1e-12 * (size**2).max(axis=0))

    diagram = stable_poles(f, responses.h1, band)
    start = _stable_clusters(*diagram)
    fit = fit_poles(f, responses.h1, band, kernel="response", noise=variance, start=start)
    std_f, std_z = fit.standard_deviations()
    power = (size**2).sum(axis=1)
    found = _FoundPoles(
        frequency_hz=fit.frequency_hz,
        damping_ratio=fit.damping_ratio,
        std_hz=std_f,
        std_damping=std_z,
        strength=np.interp(fit.frequency_hz, f, power),
        spectrum_hz=f,
        spectrum=power,
        fit=(np.abs(fit.model) ** 2).sum(axis=1),
        diagram=diagram,
        resolution=float(f[1]),
    )
    return found.take(np.flatnonzero((fit.damping_ratio > 0) & (fit.damping_ratio < 0.5)))


def _stable_clusters(
    orders: NDArray[np.int64], frequency_hz: Array, damping: Array, stable: NDArray[np.bool_]
) -> Array:
    """Decay and omega of poles that stay over several orders, (K, 2)."""
    f = frequency_hz[stable]
    z = damping[stable]
    order = np.argsort(f)
    f = f[order]
    z = z[order]
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
    f: Array = np.asarray(np.fft.rfftfreq(N, 1 / rate), float)
    spectrum = np.fft.rfft(centred, axis=0)
    density = 2 * np.abs(spectrum) ** 2 / (rate * (window**2).sum())
    averaged_hz, averaged = welch(values, rate, segments=max(8, min(64, N // 4096)))

    # channels of different size count alike, but for a sweep, whose noise is the same in all
    if sweep:
        power = density.sum(axis=1)
        averaged_power = averaged.sum(axis=1)
    else:
        mean = density.mean(axis=0)
        power = (density / np.maximum(mean, 1e-300)).sum(axis=1) * mean.mean()
        averaged_power = (averaged / np.maximum(mean, 1e-300)).sum(axis=1) * mean.mean()

    # peaks are looked for where the noise is averaged out, and fitted to every line
    peaks = find_peaks(averaged_hz, averaged_power, band, 20)
    fit = fit_peaks(f, power, sorted(peaks), likelihood=not sweep)
    seconds = min(0.25 * N / rate, 400 / max(band[0], 1 / (N / rate)))
    correlation_hz, correlation_spectra = half_spectra(values, rate, seconds)
    busy = _busy_band(fit.frequency_hz, band)
    return _FoundPoles(
        frequency_hz=fit.frequency_hz,
        damping_ratio=fit.damping_ratio,
        std_hz=fit.std_hz,
        std_damping=fit.std_damping,
        strength=np.interp(fit.frequency_hz, averaged_hz, averaged_power),
        spectrum_hz=f,
        spectrum=power,
        fit=fit.model,
        diagram=stable_poles(correlation_hz, correlation_spectra, busy),
        resolution=rate / N,
    )


def _analyse_spectrum(
    recording: Recording, band: tuple[float, float] | None, count: int | None
) -> Resonances:
    """A file that holds a spectrum: power, amplitude, or decibels."""
    notes = list(recording.notes)
    f = recording.x
    powers: list[Array] = []
    for name, values in recording.channels.items():
        if (values < 0).any():
            notes.append(f"'{name}' has negative values and is read as decibels")
            powers.append(10 ** (values / 10))
        elif "psd" in name.lower() or "power" in name.lower():
            powers.append(values)
        else:
            powers.append(values**2)

    # channels of different size count alike
    highest = [max(float(power.max()), 1e-300) for power in powers]
    scaled = [power / top for power, top in zip(powers, highest, strict=True)]
    power = np.sum(scaled, axis=0) * float(np.mean(highest))

    resolution = float(f[1] - f[0])
    limits = band or (float(f[1] + 4 * resolution), float(f[-1]))
    peaks = find_peaks(f, power, limits, count or 20)
    fit = fit_peaks(f, power, peaks, likelihood=False)
    notes.append("damping ratios include the width of the window that the spectrum was made with")
    none = np.zeros(0)
    no_diagram = (np.zeros(0, int), none, none, np.zeros(0, bool))
    found = _FoundPoles(
        frequency_hz=fit.frequency_hz,
        damping_ratio=fit.damping_ratio,
        std_hz=fit.std_hz,
        std_damping=fit.std_damping,
        strength=np.interp(fit.frequency_hz, f, power),
        spectrum_hz=f,
        spectrum=power,
        fit=fit.model,
        diagram=no_diagram,
        resolution=resolution,
    )
    return _answer(
        _sort_out_harmonics(found, free_decay=False),
        file=recording.name,
        excitation="spectrum",
        top=limits[1],
        channels=tuple(recording.channels),
        rate=2 * float(f[-1]),
        duration=1 / resolution,
        notes=notes,
    )


def _sort_out_harmonics(found: _FoundPoles, free_decay: bool) -> _FoundPoles:
    """Take lines out that nothing damps and that stand where mains or a motor put them."""
    if not len(found.frequency_hz):
        return found
    f = found.frequency_hz
    undamped = _undamped_lines(found, free_decay)
    sentences = _mains_harmonics(f, undamped, found.resolution)

    # three or more undamped lines that are multiples of one: a motor, a fan, a pump
    rest = [int(k) for k in np.flatnonzero(undamped) if int(k) not in sentences]
    for first in rest:
        family: list[tuple[int, int]] = []
        for other in rest:
            ratio = float(f[other] / f[first])
            multiple = round(ratio)
            if multiple >= 1 and abs(ratio - multiple) < 2e-3 * multiple:
                family.append((other, multiple))
        if len(family) >= 3:
            for other, multiple in family:
                sentence = f"{f[other]:.5g} Hz: {multiple} times {f[first]:.5g} Hz, a running motor"
                sentences.setdefault(other, sentence)

    lines = sorted(sentences)
    modes = np.array([k not in sentences for k in range(len(f))], bool)
    return replace(
        found.take(modes),
        harmonics=tuple(sentences[k] for k in lines),
        harmonic_hz=f[np.array(lines, int)],
    )


def _undamped_lines(found: _FoundPoles, free_decay: bool) -> NDArray[np.bool_]:
    """Which lines are narrower than the record resolves, or have no damping within its error."""
    f = found.frequency_hz
    z = found.damping_ratio
    narrow = z * f < 0.6 * found.resolution
    if free_decay:
        # fitted in time: seen to die away within the record, however narrow. A large free vibration
        # has overtones of its own, which no motor makes
        decay_over_record = 2 * np.pi * z * f / found.resolution  # nepers
        narrow &= (decay_over_record < 0.5) | (z < 10 * found.std_damping)
    return np.asarray(narrow | (z < 2 * found.std_damping) | (z < 1e-4))


def _mains_harmonics(f: Array, undamped: NDArray[np.bool_], resolution: float) -> dict[int, str]:
    """Sentences for undamped lines at multiples of the mains' frequency, by index of the line."""
    tolerance = np.maximum(1e-3 * f, 2 * resolution)
    sentences: dict[int, str] = {}
    for k in np.flatnonzero(undamped):
        for mains in MAINS:
            multiple = round(float(f[k]) / mains)
            is_harmonic = abs(f[k] - multiple * mains) < tolerance[k]
            if 1 <= multiple <= MAINS_NUMBERS and is_harmonic:
                name = "mains" if multiple == 1 else f"harmonic {multiple} of the mains"
                sentences[int(k)] = f"{f[k]:.5g} Hz: {name} ({mains:g} Hz)"
                break
    return sentences


def _thin_spectrum(f: Array, power: Array, fit: Array, top: float) -> tuple[Array, Array, Array]:
    """The spectrum for a picture: the highest line of each of a few thousand stretches."""
    inside = (f > 0) & (f <= top)
    f = f[inside]
    power = power[inside]
    fit = fit[inside]
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
    table_of_row = np.repeat(np.arange(len(tables)), [len(table) for table in tables])

    # rows of different tables whose frequencies agree are the same mode
    groups: list[list[int]] = []
    for index in np.argsort(rows[:, 0]):
        frequency = rows[index, 0]
        std = rows[index, 2]
        if groups:
            group = rows[groups[-1]]
            weights = 1 / np.maximum(group[:, 2], 1e-12) ** 2
            centre = float(np.average(group[:, 0], weights=weights))
            reach = max(0.01 * frequency, 4 * float(np.hypot(std, group[:, 2].min())))
            from_another_table = table_of_row[index] not in table_of_row[groups[-1]]
            if from_another_table and abs(frequency - centre) < reach:
                groups[-1].append(int(index))
                continue
        groups.append([int(index)])

    merged: list[list[float]] = []
    for members in groups:
        group = rows[members]
        frequency, std_hz = _weighted_mean(group[:, 0], group[:, 2])
        damping, std_damping = _weighted_mean(group[:, 1], group[:, 3])
        merged.append([frequency, damping, std_hz, std_damping])
    return np.array(merged).reshape(-1, 4)


def _weighted_mean(values: Array, deviations: Array) -> tuple[float, float]:
    """The mean of repeated estimates, and its deviation, widened by Birge's ratio."""
    weight = 1 / np.maximum(deviations, 1e-15) ** 2
    mean = float(np.average(values, weights=weight))
    std = float(1 / np.sqrt(weight.sum()))
    if len(values) > 1:
        chi_squared = float((weight * (values - mean) ** 2).sum())
        std *= max(1.0, np.sqrt(chi_squared / (len(values) - 1)))
    return mean, std


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
