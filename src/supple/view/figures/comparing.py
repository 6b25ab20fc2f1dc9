"""Figures of comparisons: how the tip comes to rest, what is left, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...studies.drive.compare import Comparison
from ..style import COLOURS, QUIET, finish, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_comparison"]


def plot_comparison(found: Comparison, path: str | Path | None = None) -> Figure:
    """Draw the tip's distance from its rest over time, and residuals and times by method."""
    import matplotlib.pyplot as plt

    with house_style():
        figure, axes = plt.subplot_mosaic(
            [["tip", "tip"], ["left", "time"]],
            figsize=(10.4, 7.0),
            layout="constrained",
            height_ratios=(1.25, 1),
        )
        _tip(axes["tip"], found)
        # Residual by method, right payload and wrong ones
        ax = axes["left"]
        count = len(found.payload)
        for p, factor in enumerate(found.payload):
            y = np.arange(len(found.methods)) + (p - (count - 1) / 2) * 0.8 / count
            label = "nominal payload" if factor == 1 else f"{factor:g} of it"
            shade = (1.0, 0.6, 0.35)[p % 3]
            colours = [COLOURS[k % len(COLOURS)] for k in range(len(found.methods))]
            ax.barh(y, 1e3 * found.residual[:, p], 0.7 / count, color=colours, alpha=shade)
            for at, value in zip(y, found.residual[:, p], strict=True):
                text = f" {1e3 * value:.2g} mm"
                if at < 0.5:  # the payload is named at the first method only
                    text += f", {label}"
                ax.text(1e3 * value, at, text, va="center", fontsize=7.5)
        ax.set(xscale="log", yticks=range(len(found.methods)), yticklabels=found.methods)
        known = 1e3 * found.residual[np.isfinite(found.residual) & (found.residual > 0)]
        if len(known):
            ax.set_xlim(0.4 * known.min(), 12 * known.max())
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_title("vibration left after the command, half of peak to peak (mm)")
        # Length of the command and time until the tip stays within the band, worst payload
        ax = axes["time"]
        settling = found.settling.max(axis=1)
        duration = float(found.t[-1])
        for k in range(len(found.methods)):
            colour = COLOURS[k % len(COLOURS)]
            settles = np.isfinite(settling[k])
            ends = settling[k] if settles else duration
            ax.barh(k - 0.17, found.duration[k], 0.3, color=colour)
            command_text = f" command {found.duration[k]:.3g} s"
            ax.text(found.duration[k], k - 0.17, command_text, va="center", fontsize=8)
            ax.barh(k + 0.17, ends, 0.3, color=colour, alpha=0.4)
            settling_text = f" settled {settling[k]:.3g} s" if settles else " does not settle"
            ax.text(ends, k + 0.17, settling_text, va="center", fontsize=8)
        ax.set(yticks=range(len(found.methods)), yticklabels=found.methods)
        ax.set(xlabel="time (s)", xlim=(0, 1.3 * duration))
        ax.set_title("how long it takes, worst payload")
        for ax in (axes["left"], axes["time"]):
            ax.invert_yaxis()
            ax.grid(axis="y", visible=False)
            ax.set_axisbelow(True)
        f = ", ".join(f"{x:.3g}" for x in found.frequency_hz)
        figure.suptitle(
            f"{found.robot.name}: {len(found.methods)} ways to make one move; it rings at {f} Hz",
            fontsize=11,
        )
    return finish(figure, path)


def _tip(ax: Axes, found: Comparison) -> None:
    """Distance of the tip from its rest, thin, and how far it will still be, thick."""
    floor = 0.02 * found.band
    for k, name in enumerate(found.methods):
        colour = COLOURS[k % len(COLOURS)]
        worst = int(np.argmax(found.residual[k]))
        distance_mm = 1e3 * np.maximum(found.distance[k, worst], floor)
        largest_ahead = np.maximum.accumulate(distance_mm[::-1])[::-1]
        ax.plot(found.t, distance_mm, color=colour, lw=0.7, alpha=0.6)
        ax.plot(found.t, largest_ahead, color=colour, lw=2.0, label=name)
        ax.axvline(found.duration[k], color=colour, lw=1.2, ls=":")
    ax.axhline(1e3 * found.band, color=QUIET, lw=1.0, ls="--")
    ax.text(
        0.0,
        1.1e3 * found.band,
        f"settled: within {1e3 * found.band:.3g} mm",
        fontsize=8,
        color="#3c4043",
        va="bottom",
    )
    ax.set(yscale="log", xlabel="time (s)", xlim=(0, found.t[-1]))
    ax.set_ylim(1e3 * floor, None)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_title(
        "distance of the tip from where it comes to rest (mm), worst payload; thick: the largest "
        "that is still to come; dotted: the command ends"
    )
    ax.legend(loc="upper right", ncols=len(found.methods), fontsize=8)
