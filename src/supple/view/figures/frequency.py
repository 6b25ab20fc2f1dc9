"""Bode and Nyquist plots of exact frequency responses and of linearised models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import SuppleError
from ...studies.motion.state_space import StateSpace
from ...studies.vibration.characteristic import Characteristic
from ...studies.vibration.response import FrequencyResponse
from ..style import COLOURS, QUIET, finish, house_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_characteristic", "plot_frequency_response", "plot_state_space"]

PATHS = 7  # lines that can be told apart


def plot_frequency_response(
    found: FrequencyResponse,
    path: str | Path | None = None,
    kind: Literal["bode", "nyquist"] = "bode",
) -> Figure:
    """Draw size and phase over frequency with the poles marked, or the curve in the plane."""
    if kind not in ("bode", "nyquist"):
        raise SuppleError(f"kind is {kind!r}: it must be bode or nyquist")
    curves = []
    for o, output in enumerate(found.outputs):
        for i, name in enumerate(found.inputs):
            curves.append((f"{output} / {name}", found.values[:, o, i]))
    more = _left_out(len(curves))
    curves = curves[:PATHS]
    with house_style():
        poles_hz = found.poles.imag / (2 * np.pi)
        is_bode = kind == "bode"
        figure = _bode(found.frequency_hz, curves, poles_hz) if is_bode else _nyquist(curves)
        title = f"{found.robot.name}, joints {found.joints}{more}"
        figure.suptitle(title, fontsize=10)
    return finish(figure, path)


def plot_characteristic(
    found: Characteristic, path: str | Path | None = None, points: int = 600
) -> Figure:
    """Draw the determinant of the characteristic matrix over frequency, certified roots marked.

    The determinant spans many decades, so that its sign times the logarithm of its size is drawn:
    asinh of the scaled determinant over a small one.
    """
    from matplotlib.figure import Figure

    last = 1.05 * float(found.omega[-1])
    grid = np.linspace(0.02 * float(found.omega[0]), last, points)
    omega = np.sort(np.concatenate([grid, found.omega * (1 - 1e-6), found.omega * (1 + 1e-6)]))
    values = found.scaled_determinant(omega)
    drawn = np.arcsinh(values / np.quantile(np.abs(values), 0.1))
    with house_style():
        figure = Figure(figsize=(7.0, 3.4))
        axes = figure.add_subplot()
        axes.axhline(0.0, color=QUIET, linewidth=0.8)
        axes.plot(omega / (2 * np.pi), drawn, color=COLOURS[0])
        roots = found.omega / (2 * np.pi)
        axes.plot(roots, np.zeros_like(roots), "o", color=COLOURS[1], label="certified frequencies")
        axes.set_xlabel("frequency (Hz)")
        axes.set_ylabel("asinh(det M), scaled")
        axes.set_title(f"{found.robot.name}: determinant of the characteristic matrix", fontsize=10)
        axes.legend(loc="best")
        figure.tight_layout()
    return finish(figure, path)


def plot_state_space(
    found: StateSpace,
    path: str | Path | None = None,
    kind: Literal["bode", "nyquist", "step"] = "bode",
    frequency_hz: ArrayLike | None = None,
) -> Figure:
    """Draw a linearised model from each input to each output, open loop or closed.

    Size and phase over frequency with the poles' frequencies marked, the curve in the plane, or
    the answers to unit steps. Frequencies are by default those around its poles; of a sampled
    system up to half the sampling rate.
    """
    if kind not in ("bode", "nyquist", "step"):
        raise SuppleError(f"kind is {kind!r}: it must be bode, nyquist or step")
    if frequency_hz is None:
        f = _frequencies_around_poles(found)
    else:
        f = np.atleast_1d(np.asarray(frequency_hz, float))
    G = found.transfer(2j * np.pi * f)

    # Paths from an input to an output; those that transfer nothing only if there is no other
    every_path = []
    for o, output in enumerate(found.outputs):
        for i, name in enumerate(found.inputs):
            every_path.append((f"{output} / {name}", o, i))
    paths = [path for path in every_path if np.abs(G[:, path[1], path[2]]).max() > 0]
    paths = paths or every_path
    more = _left_out(len(paths))
    paths = paths[:PATHS]

    with house_style():
        curves = [(name, G[:, o, i]) for name, o, i in paths]
        if kind == "step":
            figure = _steps(found, paths)
        elif kind == "bode":
            poles_hz = found.frequencies / (2 * np.pi)
            in_range = (poles_hz >= f.min()) & (poles_hz <= f.max())
            figure = _bode(f, curves, poles_hz[in_range])
        else:
            figure = _nyquist(curves)
        closed = any(name.startswith("reference.") for name in found.inputs)
        stable = "" if found.stable or not closed else ", unstable"
        title = f"linearised, {'under its controller' if closed else 'no controller'}{stable}{more}"
        figure.suptitle(title, fontsize=10)
    return finish(figure, path)


def _left_out(count: int) -> str:
    """Words for the title where there are more paths than can be told apart."""
    return f" (the first {PATHS} of {count} paths)" if count > PATHS else ""


def _frequencies_around_poles(found: StateSpace) -> NDArray[np.float64]:
    """Frequencies (Hz) from below the lowest pole to above the highest, dense at narrow peaks."""
    poles: Any = found.poles[np.isfinite(found.poles)]
    sizes = found.frequencies if len(found.frequencies) else np.abs(poles)
    sizes = sizes[sizes > 1e-6 * sizes.max(initial=0.0)] / (2 * np.pi)
    low = sizes.min() / 10 if len(sizes) else 0.1
    high = sizes.max() * 3 if len(sizes) else 10.0
    if found.period is not None:
        high = 0.5 / found.period

    grids = [np.geomspace(max(low, high / 1e5), high, 1200)]
    distances = np.append(1e-9, np.geomspace(1e-4, 0.3, 60))  # from a pole, relative
    for peak in np.abs(poles.imag[poles.imag > 0]) / (2 * np.pi):
        grids += [peak * (1 + distances), peak * (1 - distances)]
    f = np.concatenate(grids)
    return np.unique(f[(f >= low) & (f <= high)])


def _steps(found: StateSpace, paths: list[tuple[str, int, int]]) -> Figure:
    """Answers to a unit step of each input, until it has died away, or over twenty swings."""
    import matplotlib.pyplot as plt

    poles = found.poles[np.isfinite(found.poles)]
    rates = -poles.real[poles.real < -1e-9 * np.abs(poles).max(initial=1.0)]
    slow = float(rates.min(initial=np.inf))
    swing = 2 * np.pi / found.frequencies.min(initial=np.inf)
    end = min(5 / slow, 20 * swing if swing else np.inf)
    end = end if 0 < end < np.inf else 1.0
    t = np.linspace(0.0, end, 1000)
    answers = found.step(t)
    figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for (name, o, i), colour in zip(paths, COLOURS, strict=False):
        ax.plot(t, answers[:, o, i], color=colour, label=name, lw=1.2)
    ax.set_xlabel("time after the step (s)")
    ax.set_ylabel("output per unit step, SI")
    ax.legend(loc="best", fontsize=8)
    return figure


def _bode(f: Any, curves: list[tuple[str, Any]], poles: Any) -> Figure:
    import matplotlib.pyplot as plt

    figure, (size, phase) = plt.subplots(
        2, 1, figsize=(8, 6), sharex=True, layout="constrained", height_ratios=(2, 1)
    )
    wide = f.max() > 20 * f[f > 0].min()
    for (name, values), colour in zip(curves, COLOURS, strict=False):
        good = np.isfinite(values) & (np.abs(values) > 0) & ((f > 0) | (not wide))
        size.plot(f[good], np.abs(values[good]), color=colour, label=name, lw=1.2)
        angle = np.degrees(np.angle(values[good]))
        jump = np.abs(np.diff(angle, prepend=angle[:1])) > 180
        phase.plot(f[good], np.where(jump, np.nan, angle), color=colour, lw=1.2)
    for pole in poles:
        for ax in (size, phase):
            ax.axvline(pole, color=QUIET, lw=0.6, ls=":", zorder=0)
    size.set_yscale("log")
    sizes = np.abs(np.concatenate([values for _, values in curves]))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    if len(sizes):  # an undamped peak is as high as rounding lets it be: the rest would lie flat
        low, middle, high = np.quantile(sizes, (0.02, 0.5, 0.98))
        bottom = max(sizes.min(), 1e-2 * low)
        top = min(sizes.max(), 1e2 * high)
        size.set_ylim(0.5 * min(bottom, middle), 2 * max(top, middle))
    if wide:
        size.set_xscale("log")
    size.set_ylabel("size (output / input, SI)")
    phase.set_ylabel("phase (deg)")
    phase.set_yticks([-180, -90, 0, 90, 180])
    phase.set_ylim(-190, 190)
    phase.set_xlabel("frequency (Hz); dotted: natural frequencies")
    size.legend(loc="best", fontsize=8)
    return figure


def _nyquist(curves: list[tuple[str, Any]]) -> Figure:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 6), layout="constrained")
    for (name, values), colour in zip(curves, COLOURS, strict=False):
        good = values[np.isfinite(values)]
        ax.plot(good.real, good.imag, color=colour, label=name, lw=1.2)
        ax.plot(good.real[:1], good.imag[:1], "o", color=colour, ms=4)
    ax.axhline(0, color=QUIET, lw=0.6)
    ax.axvline(0, color=QUIET, lw=0.6)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("real part (output / input, SI); the dot is the lowest frequency")
    ax.set_ylabel("imaginary part")
    ax.legend(loc="best", fontsize=8)
    return figure
