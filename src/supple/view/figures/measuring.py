"""Figures of measurements: spectra with peaks, shapers tried, fits and their residuals, plans."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control.shapers import shaper
from ..style import COLOURS, QUIET, finish, house_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...measure.calibrate import Calibration
    from ...measure.identify import Identification
    from ...measure.resonances import Resonances
    from ...measure.where_to_measure import MeasurementPlan

__all__ = ["plot_calibration", "plot_identification", "plot_plan", "plot_resonances"]

LABELLED = 8  # peaks with their frequency written at them


def plot_resonances(found: Resonances, path: str | Path | None = None) -> Figure:
    """Draw the spectrum with the fit and its peaks, and the stabilisation diagram."""
    import matplotlib.pyplot as plt

    with house_style():
        figure, axes = plt.subplots(
            2, 1, figsize=(9, 6.4), sharex=True, layout="constrained", height_ratios=(2.2, 1)
        )
        ax = axes[0]
        power = np.maximum(found.spectrum, 1e-300)
        ax.semilogy(found.spectrum_hz, power, color=QUIET, lw=0.7, label="recorded")
        ax.semilogy(found.spectrum_hz, found.fit, color=COLOURS[0], lw=1.4, label="fit")
        low = np.quantile(power, 0.02)
        high = float(power.max())
        ax.set_ylim(0.3 * low, 30 * high)
        height = np.interp(found.frequency_hz, found.spectrum_hz, power)
        strongest = np.argsort(-height)[:LABELLED]
        for k in np.sort(strongest):
            f = found.frequency_hz[k]
            z = found.damping_ratio[k]
            ax.annotate(
                f"{f:.4g} Hz\n{100 * z:.2g} %",
                (f, height[k]),
                xytext=(0, 8),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=COLOURS[1],
            )
        for k, line in enumerate(found.harmonic_hz):
            label = None if k else "no mode: mains or motor"
            ax.axvline(line, color=COLOURS[3], lw=0.8, ls=":", label=label)
        top = found.spectrum_hz[-1]
        if len(found.frequency_hz):
            top = min(top, 2.5 * max(found.frequency_hz.max(), found.harmonic_hz.max(initial=0.0)))
        ax.set_xlim(0, top)
        ax.set_ylabel("power (units squared per Hz)")
        ax.legend(loc="upper right", fontsize=8)
        below = axes[1]
        rest = ~found.stable
        below.plot(found.pole_hz[rest], found.orders[rest], ".", color=QUIET, ms=3, label="pole")
        below.plot(
            found.pole_hz[found.stable],
            found.orders[found.stable],
            "o",
            color=COLOURS[0],
            ms=3,
            label="stable",
        )
        for f in found.frequency_hz:
            below.axvline(f, color=COLOURS[1], lw=0.7, ls=":")
        below.set_ylabel("order of the fit")
        below.set_xlabel("frequency (Hz)")
        if len(found.orders):
            below.legend(loc="upper right", fontsize=8)
        name = found.files[0] if len(found.files) == 1 else f"{len(found.files)} recordings"
        figure.suptitle(
            f"{Path(name).name}: {found.excitation}, {found.duration:.3g} s", fontsize=10
        )
    return finish(figure, path)


def plot_calibration(found: Calibration, path: str | Path | None = None) -> Figure:
    """Draw the resonances, what each shaper leaves over frequency, and what each costs."""
    import matplotlib.pyplot as plt

    with house_style():
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(11.5, 4.4), layout="constrained", width_ratios=(1.6, 1)
        )
        f = np.linspace(0.4 * found.resonance_hz, 1.8 * found.resonance_hz, 500)
        for kind, at, colour in zip(found.kinds, found.frequency_hz, COLOURS, strict=False):
            candidate = shaper(kind, float(at), found.shaper.damping_ratio)
            wide = 2.2 if kind == found.recommended else 0.9
            left.plot(f, 100 * candidate.residual(f), color=colour, lw=wide, label=kind)
        height = np.interp(f, found.resonances.spectrum_hz, found.resonances.spectrum)
        scaled = 100 * np.sqrt(height / height.max())
        left.fill_between(f, scaled, color=QUIET, alpha=0.25, lw=0, label="recorded (scaled)")
        left.axhline(100 * found.vibration_limit, color=QUIET, lw=0.8, ls=":")
        left.set(xlabel="frequency (Hz)", ylabel="remains (%)", ylim=(0, 105), xlim=(f[0], f[-1]))
        left.legend(loc="upper right", fontsize=8)
        place = np.arange(len(found.kinds))
        colours = [COLOURS[0] if k == found.recommended else QUIET for k in found.kinds]
        right.barh(place, 100 * found.vibration, color=colours)
        for k in place:
            words = f"  {1e3 * found.time_added[k]:.0f} ms, {found.max_acceleration[k]:.3g} m/s2"
            right.text(100 * found.vibration[k], k, words, va="center", fontsize=8)
        right.set_yticks(place, found.kinds)
        right.invert_yaxis()
        right.axvline(100 * found.vibration_limit, color=QUIET, lw=0.8, ls=":")
        right.set_xlabel("remaining vibration (%); time added, highest acceleration")
        right.set_xlim(0, 1.9 * 100 * float(found.vibration.max()) + 1)
        figure.suptitle(
            f"{found.recommended} at {found.shaper.frequency_hz:.4g} Hz "
            f"(resonance {found.resonance_hz:.4g} Hz, damping {100 * found.damping_ratio:.2g} %)",
            fontsize=10,
        )
    return finish(figure, path)


def plot_identification(found: Identification, path: str | Path | None = None) -> Figure:
    """Draw measured over computed values, what is left, and the parameters with their intervals."""
    import matplotlib.pyplot as plt

    kinds = {e.kind for e in found._problem.experiments}
    with house_style():
        figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
        _draw_fit(axes[0], found, kinds)
        left = found.normalised
        axes[1].axhspan(-2, 2, color=QUIET, alpha=0.15, lw=0)
        axes[1].plot(np.arange(len(left)) + 1, left, ".", color=COLOURS[0], ms=4)
        out = ~found._problem.training
        if out.any():
            axes[1].plot(
                np.flatnonzero(out) + 1, left[out], ".", color=COLOURS[1], ms=4, label="held out"
            )
            axes[1].legend(loc="best", fontsize=8)
        axes[1].set(xlabel="value", title="what is left (deviations of the noise)")
        place = np.arange(len(found.names))
        start = found._problem.parameters.start
        for k, name in enumerate(found.names):
            value = found.values[name]
            std = found.std[name]
            unit = start[k] if start[k] else (value or 1.0)
            error = 1.96 * std / abs(unit) if math.isfinite(std) else 0.0
            colour = COLOURS[0] if math.isfinite(std) else QUIET
            axes[2].errorbar(value / unit, k, xerr=error, fmt="o", color=colour, capsize=3)
        axes[2].axvline(1.0, color=QUIET, lw=0.8, ls=":")
        axes[2].set_yticks(place, [_short(name) for name in found.names], fontsize=8)
        axes[2].invert_yaxis()
        axes[2].set_title("value over start, 95 % (grey: not told)")
        figure.suptitle(
            f"{found.nominal.name}: {len(found.names)} parameters, fit {found.fit_percent:.4g} %",
            fontsize=10,
        )
    return finish(figure, path)


def _draw_fit(ax: Any, found: Identification, kinds: set[str]) -> None:
    """Measured and computed: over time where it is a motion, else one over the other."""
    if kinds == {"motion"}:
        experiment = found._problem.experiments[0]
        N = len(experiment.t)
        for k, key in enumerate(experiment.columns[:3]):
            rows = slice(k * N, (k + 1) * N)
            size = max(float(np.abs(found.measured[rows]).max()), 1e-300)
            ax.plot(experiment.t, found.measured[rows] / size + 2.2 * k, color=QUIET, lw=1.0)
            ax.plot(
                experiment.t,
                found.computed[rows] / size + 2.2 * k,
                color=COLOURS[k],
                lw=1.0,
                label=key,
            )
        ax.set(xlabel="time (s)", title="grey: measured; scaled", yticks=[])
        ax.legend(loc="upper right", fontsize=8)
        return
    good = np.isfinite(found.computed)
    ax.plot(found.computed[good], found.measured[good], ".", color=COLOURS[0], ms=5)
    ends = [float(found.computed[good].min()), float(found.computed[good].max())]
    ax.plot(ends, ends, color=QUIET, lw=0.8)
    foreign = found.measured[~good]
    if len(foreign):
        ax.plot([ends[0]] * len(foreign), foreign, "x", color=COLOURS[1], label="no mode")
        ax.legend(loc="best", fontsize=8)
    if kinds == {"frequencies"}:
        ax.set(xscale="log", yscale="log")
    unit = "Hz" if kinds == {"frequencies"} else "SI"
    ax.set(xlabel=f"computed ({unit})", ylabel=f"measured ({unit})")


def _short(name: str) -> str:
    return name.removeprefix("links.")


def plot_plan(found: MeasurementPlan, path: str | Path | None = None) -> Figure:
    """Draw the poses that were chosen, and the deviations to expect."""
    import matplotlib.pyplot as plt

    with house_style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        joints = found.theta.shape[1]
        for k, theta in enumerate(found.theta):
            left.plot(
                np.arange(joints) + 1,
                np.degrees(theta),
                "o-",
                color=COLOURS[k % len(COLOURS)],
                label=f"{k + 1}",
            )
        left.set(
            xlabel="joint",
            ylabel="angle (deg; slides in units of 57 m)",
            xticks=np.arange(joints) + 1,
        )
        left.set_ylabel("joint coordinate (deg)")
        left.legend(loc="best", fontsize=8, title="pose")
        place = np.arange(len(found.names))
        finite = np.where(np.isfinite(found.relative_std), found.relative_std, np.nan)
        right.barh(place, 100 * finite, color=COLOURS[0])
        right.set_yticks(place, [_short(name) for name in found.names], fontsize=8)
        right.invert_yaxis()
        right.set_xlabel("standard deviation to expect (% of the value)")
        figure.suptitle(f"{found.robot.name}: where to measure", fontsize=10)
    return finish(figure, path)
