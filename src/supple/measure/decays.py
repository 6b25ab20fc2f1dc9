"""Poles of free decays and of frequency responses, by maximum likelihood.

The discrete Fourier transform of a sampled free decay sum_k A_k z_k^n, n = 0 .. N - 1, is exactly

    Y(f_m) = sum_k A_k (1 - z_k^N) / (1 - z_k exp(-i w_m)),   w_m = 2 pi m / N,

whatever the length of the record, so that no window is needed and nothing leaks. White noise is
white in Y, hence least squares over the lines around the poles is maximum likelihood. Amplitudes
enter linearly and are eliminated (variable projection, [Golub1973]). Poles are added one by one
where what is left stands out of the noise, as long as it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .signals import noise_floor

__all__ = ["PoleFit", "fit_poles"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Kernel = Literal["decay", "response"]
FALSE_ALARM = 1e-4  # chance that noise alone makes a pole, over the whole band
HALF_WIDTHS = 15  # lines taken around a pole, in its half widths
LINES = 30  # and at least
WIDTHS = (1, 3, 7, 15, 31)  # lines that are looked at together


@dataclass(frozen=True)
class PoleFit:
    """Poles found in spectra.

    Attributes
    ----------
    decay, omega
        (K,) real and imaginary parts of -s, rad/s.
    covariance
        (2K, 2K) of decay and omega, interleaved.
    model
        (F, channels), the fit on every line.
    excess
        Variance of what is left around the poles, over that of the noise far from them.
    """

    decay: Array
    omega: Array
    covariance: Array
    model: Complex
    excess: float

    @property
    def frequency_hz(self) -> Array:
        """|s| / 2 pi."""
        return np.hypot(self.decay, self.omega) / (2 * np.pi)

    @property
    def damping_ratio(self) -> Array:
        """-Re s / |s|."""
        return self.decay / np.hypot(self.decay, self.omega)

    def standard_deviations(self) -> tuple[Array, Array]:
        """Return those of frequency (Hz) and of damping ratio, by their slopes."""
        size = np.hypot(self.decay, self.omega)
        std_f = np.empty(len(size))
        std_z = np.empty(len(size))
        for k in range(len(size)):
            C = self.covariance[2 * k : 2 * k + 2, 2 * k : 2 * k + 2]
            to_f = np.array([self.decay[k], self.omega[k]]) / (2 * np.pi * size[k])
            to_z = np.array([self.omega[k] ** 2, -self.decay[k] * self.omega[k]]) / size[k] ** 3
            std_f[k] = np.sqrt(max(to_f @ C @ to_f, 0.0))
            std_z[k] = np.sqrt(max(to_z @ C @ to_z, 0.0))
        return std_f, std_z


class _Problem:
    """Spectra on lines, and the functions of a pole there."""

    def __init__(
        self, frequency_hz: Array, spectra: Complex, kernel: Kernel, rate: float, count: int
    ) -> None:
        self.f = frequency_hz
        self.Y = spectra
        self.kernel = kernel
        self.rate = rate
        self.count = count
        self.resolution = float(frequency_hz[1] - frequency_hz[0])

    def shape(self, f: Array, decay: float, omega: float) -> Complex:
        """Two columns: what a unit real and a unit imaginary amplitude of a pole give."""
        s = complex(-decay, omega)
        if self.kernel == "response":
            at = 2j * np.pi * f
            plus = 1 / (at - s)
            minus = 1 / (at - s.conjugate())
        else:
            turn = np.exp(-2j * np.pi * f / self.rate)
            # a trial pole that grows beyond all bounds must not overflow; no decay is near it
            s = complex(min(s.real, 50.0 * self.rate / self.count), s.imag)
            z = np.exp(s / self.rate)
            last = np.exp(s * self.count / self.rate)
            plus = (1 - last) / (1 - z * turn)
            minus = (1 - last.conjugate()) / (1 - z.conjugate() * turn)
        return np.stack([plus + minus, 1j * (plus - minus)], axis=1)

    def background(self, f: Array) -> Complex:
        """What is no pole: a linear trend of a decay; stiffness and mass lines of a response."""
        if self.kernel == "response":
            centre = np.sqrt(f.min() * f.max()) or 1.0
            below = (centre / np.maximum(f, 0.2 * self.resolution)) ** 2
            return np.stack([np.ones(len(f)), below], axis=1).astype(complex)
        turn = np.exp(-2j * np.pi * f / self.rate)
        trend = 1 / np.where(np.abs(1 - turn) > 1e-12, 1 - turn, 1.0)
        return np.asarray((trend / max(np.abs(trend).max(initial=0.0), 1e-300))[:, None])

    def design(self, f: Array, poles: Array) -> Complex:
        """Columns of every pole, then the background."""
        blocks = [self.shape(f, decay, omega) for decay, omega in poles]
        return np.concatenate([*blocks, self.background(f)], axis=1)

    def window(self, poles: Array, band: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Lines around the poles."""
        chosen = np.zeros(len(self.f), bool)
        for decay, omega in poles:
            centre = np.hypot(decay, omega) / (2 * np.pi)
            half = max(HALF_WIDTHS * abs(decay) / (2 * np.pi), LINES * self.resolution)
            chosen |= np.abs(self.f - centre) <= half
        return np.flatnonzero(chosen & band)


def fit_poles(
    frequency_hz: Array,
    spectra: Complex,
    band: tuple[float, float],
    *,
    kernel: Kernel = "decay",
    rate: float = 1.0,
    count: int = 0,
    most: int = 12,
    noise: Array | None = None,
    start: Array | None = None,
) -> PoleFit:
    """Find poles in the spectra (F, channels) of decays, or in frequency responses.

    Parameters
    ----------
    band : (low, high)
        Hz, where poles are looked for.
    rate, count : float, int
        Sampling rate and number of samples of decays.
    most : int
        Largest number of poles.
    noise : array (F, channels), optional
        Variances of the lines; from what the poles leave over unless given.
    start : array (K, 2), optional
        Decay and omega (rad/s) of poles that are there already; more are looked for.
    """
    problem = _Problem(frequency_hz, spectra, kernel, rate, count)
    inside = (frequency_hz >= band[0]) & (frequency_hz <= band[1]) & (frequency_hz > 0)
    searched = inside.copy()
    poles: Array = np.zeros((0, 2))
    covariance: Array = np.zeros((0, 0))
    model = np.zeros_like(spectra)
    excess = 1.0
    channels = spectra.shape[1]
    lines = max(int(inside.sum()), 2)

    def floor_of(left: Complex) -> Array:
        """Variances of the lines: as given, or of what is left, as its running median says."""
        if noise is not None:
            return noise
        width = max(201, lines // 10)
        return np.stack([noise_floor(np.abs(r) ** 2, width) for r in left.T], axis=1)

    if start is not None and len(start):
        known = np.ones(spectra.shape) * np.inf if noise is None else noise
        if noise is None:
            known[inside] = floor_of(spectra[inside])
        fitted = _refine(problem, start, inside, known)
        if fitted is not None:
            poles, covariance, model, excess = fitted

    # responses come with the poles of their rational fits: few are missing
    for _ in range(most if kernel == "decay" else 3):
        left = spectra - model
        floor = floor_of(left[inside])
        noise_power = np.full(spectra.shape, np.inf) if noise is None else noise.copy()
        if noise is None:
            noise_power[inside] = floor
        strength = (np.abs(left) ** 2 / noise_power).sum(axis=1)
        strength[~searched] = 0.0
        # what a fitted pole leaves over because the model is not perfect is no new pole
        for decay, omega in poles:
            centre = np.hypot(decay, omega) / (2 * np.pi)
            half = max(2 * abs(decay) / (2 * np.pi), 2.5 * problem.resolution)
            in_window = np.abs(frequency_hz - centre) <= half
            leftover = np.abs(left[in_window]).max(initial=0.0)
            if leftover < 0.05 * np.abs(spectra[in_window]).max(initial=1e-300):
                strength[in_window] = 0.0
        peak = _standing_out(strength, channels, lines)
        if peak is None or np.abs(left[peak]).max() < 1e-7 * np.abs(spectra).max():
            break
        start = _start_at(problem, left, noise_power, peak, inside)
        fitted = _refine(problem, np.vstack([poles, start]), inside, noise_power)
        if fitted is not None and noise is None:
            # once more, with the noise that the new pole leaves over
            noise_power[inside] = floor_of((spectra - fitted[2])[inside])
            fitted = _refine(problem, fitted[0], inside, noise_power)
        if fitted is not None:
            size = np.hypot(*fitted[0].T)
            centre = size / (2 * np.pi)
            good = (centre >= band[0]) & (centre <= band[1]) & (fitted[0][:, 0] < 0.5 * size)
            if kernel == "response":
                good &= fitted[0][:, 0] > 0  # a growing response would be of no structure
            if good.all():
                poles, covariance, model, excess = fitted
                continue
        searched &= np.abs(frequency_hz - frequency_hz[peak]) > 3 * problem.resolution
    order = np.argsort(np.hypot(*poles.T)) if len(poles) else np.zeros(0, int)
    both = np.stack([2 * order, 2 * order + 1], axis=1).ravel()
    return PoleFit(poles[order, 0], poles[order, 1], covariance[np.ix_(both, both)], model, excess)


def _standing_out(strength: Array, channels: int, lines: int) -> int | None:
    """The line where what is left stands out most, alone or with its neighbours; None: nowhere.

    Over m lines of noise alone the sum of |Y|^2 / variance is gamma distributed with m times the
    number of channels. A damped peak is seen in many lines that none of them shows alone.
    """
    from scipy.ndimage import uniform_filter1d
    from scipy.special import gammaincc

    best = 0.0
    place = None
    for width in WIDTHS:
        if width > len(strength) // 4:
            break
        total = width * uniform_filter1d(strength, width, mode="constant")
        centre = int(np.argmax(total))
        chance = float(gammaincc(width * channels, total[centre]))
        significance = -np.log(chance) if chance > 1e-290 else float(total[centre])
        enough = -np.log(FALSE_ALARM / (lines * len(WIDTHS)))
        if significance > max(best, enough) and total[centre] > 2 * width * channels:
            half = width // 2
            around = slice(max(0, centre - half), centre + half + 1)
            place = int(around.start + np.argmax(strength[around]))
            best = significance
    return place


def _start_at(
    problem: _Problem, left: Complex, floor: Array, peak: int, inside: NDArray[np.bool_]
) -> Array:
    """The pole near a line that takes most of what is left there, of a few dampings and places."""
    f0 = problem.f[peak]
    nearby = np.flatnonzero(
        inside & (np.abs(problem.f - f0) <= max(0.15 * f0, 40 * problem.resolution))
    )
    weight = 1 / np.sqrt(floor[nearby].mean(axis=1))
    best = -np.inf
    start = np.array([2 * np.pi * 0.01 * f0, 2 * np.pi * f0])
    for ratio in (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1):
        for shift in (-0.4, 0.0, 0.4):
            place = f0 + shift * problem.resolution
            decay = 2 * np.pi * ratio * place
            A = problem.shape(problem.f[nearby], decay, 2 * np.pi * place) * weight[:, None]
            stacked = np.vstack([A.real, A.imag])
            B = left[nearby] * weight[:, None]
            rows = np.vstack([B.real, B.imag])
            q, _ = np.linalg.qr(stacked)
            gain = float(((q.T @ rows) ** 2).sum())
            if gain > best:
                best = gain
                start = np.array([decay, 2 * np.pi * place])
    return start


def _refine(
    problem: _Problem, poles: Array, inside: NDArray[np.bool_], floor: Array
) -> tuple[Array, Array, Complex, float] | None:
    """Fit all poles together; return them, their covariance, the model and the excess noise."""
    from scipy.optimize import least_squares

    scale = np.maximum(np.abs(poles[:, [0]]), 2 * np.pi * 0.3 * problem.resolution)
    scale = np.repeat(scale, 2, axis=1).ravel()
    start = poles.ravel() / scale
    fitted = None
    weights: Array = np.empty(0)
    window: NDArray[np.int64] = np.empty(0, int)
    shape = floor.mean(axis=1)
    for _ in range(2):  # the second time on the lines around the poles as found
        current = (start * scale).reshape(-1, 2)
        window = problem.window(current, inside)
        if 2 * len(window) <= 2 * len(poles) + 4:
            return None
        level = (floor[window] / shape[window, None]).mean(axis=0)
        weights = 1 / np.sqrt(shape[window])
        data = problem.Y[window] * weights[:, None] / np.sqrt(level)
        rows = np.vstack([data.real, data.imag])
        f = problem.f[window]

        def residual(x: Array, f: Array = f, rows: Array = rows, w: Array = weights) -> Array:
            A = problem.design(f, (x * scale).reshape(-1, 2)) * w[:, None]
            stacked = np.vstack([A.real, A.imag])
            size = np.linalg.norm(stacked, axis=0)
            q, _ = np.linalg.qr(stacked / np.where(size > 0, size, 1.0))
            return np.asarray((rows - q @ (q.T @ rows)).ravel())

        try:
            fitted = least_squares(
                residual,
                start,
                method="trf",
                x_scale=1.0,
                max_nfev=60 if problem.kernel == "decay" else 15,
            )
        except (np.linalg.LinAlgError, ValueError):
            return None
        start = fitted.x
    if fitted is None:
        return None
    found = (fitted.x * scale).reshape(-1, 2)
    found[:, 1] = np.abs(found[:, 1])
    columns = problem.design(problem.f[window], found)
    stacked = np.vstack([(columns * weights[:, None]).real, (columns * weights[:, None]).imag])
    channels = problem.Y.shape[1]
    data = problem.Y[window] * weights[:, None]
    amplitudes = np.linalg.lstsq(stacked, np.vstack([data.real, data.imag]), rcond=None)[0]
    model = problem.design(problem.f, found) @ amplitudes
    freedom = len(fitted.fun) - 2 * len(found) - channels * stacked.shape[1]
    variance = float(fitted.fun @ fitted.fun) / max(freedom, 1)
    information = fitted.jac.T @ fitted.jac
    covariance = variance * np.linalg.pinv(information) * np.outer(scale, scale)
    return found, covariance, model, 2 * variance
