"""Figures of sweeps: frequencies over one coordinate, or the lowest over two."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...architectures.kinds import architecture_of
from ...errors import SuppleError
from ...studies.design.track import Tracks
from ..style import COLOURS, QUIET, finish, house_style, plain_ticks, shades
from ..wording import angles_in_degrees, key_label

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

__all__ = ["plot_sweep", "plot_tracks"]

FEW = 40  # points of a curve that are marked
DECADES = 100.0  # largest over smallest value from which an axis is logarithmic


def _spans_decades(values: Any) -> bool:
    """Whether values lie above zero and span decades, so that a logarithmic axis shows them."""
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    return bool(known.size and known.min() > 0 and known.max() >= DECADES * known.min())


def plot_sweep(found: xarray.Dataset, path: str | Path | None = None) -> Figure:
    """Draw frequencies along the one key that varies, or the lowest frequency over two.

    With more than two keys the map shows the lowest value over the others.
    """
    import matplotlib.pyplot as plt

    if "omega" not in found or "sample" in found.dims:
        raise SuppleError("only modes over a grid are drawn: use to_dataframe() for the rest")
    found = angles_in_degrees(found)
    hertz: Any = found["omega"] / (2 * np.pi)
    keys = [str(k) for k in hertz.dims if k != "mode" and found.sizes[k] > 1]
    with house_style():
        if len(keys) < 2:
            figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
            key = keys[0] if keys else str(hertz.dims[0])
            values = hertz.transpose(key, "mode", ...).values.reshape(found.sizes[key], -1)
            for k in range(found.sizes["mode"]):
                colour = COLOURS[k % len(COLOURS)]
                dot = "." if found.sizes[key] <= FEW else ""
                ax.plot(found[key], values[:, k], color=colour, label=f"mode {k + 1}", marker=dot)
            ax.set(xlabel=key_label(found, key), ylabel="natural frequency (Hz)")
            if _spans_decades(found[key].values):
                ax.set_xscale("log")
            if _spans_decades(values):
                ax.set_yscale("log")
            else:
                ax.set_ylim(bottom=0)
            ax.margins(x=0.02)
            figure.legend(loc="outside right upper", fontsize=8, reverse=True)
        else:
            figure, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
            ax.grid(visible=False)  # it would lie over the map
            first, second = keys[:2]
            lowest = hertz.isel(mode=0)
            rest = [k for k in lowest.dims if k not in (first, second)]
            table = lowest.min(dim=rest).transpose(second, first).values
            low = float(np.nanmin(table))
            high = float(np.nanmax(table))
            drawn = ax.pcolormesh(
                found[first], found[second], table, norm=shades(low, high), shading="nearest"
            )
            if _spans_decades(found[first].values):
                ax.set_xscale("log")
            if _spans_decades(found[second].values):
                ax.set_yscale("log")
            ax.set(xlabel=key_label(found, first), ylabel=key_label(found, second))
            bar = figure.colorbar(drawn, ax=ax, label="lowest natural frequency (Hz)")
            plain_ticks(bar)
            if rest:
                ends = {str(k): np.sort(found[k].values)[[0, -1]] for k in rest}
                spans = [f"{key_label(found, k)} {a:g} to {b:g}" for k, (a, b) in ends.items()]
                ax.set_title(f"lowest over {', '.join(spans)}")
    return finish(figure, path)


def plot_tracks(found: Tracks, path: str | Path | None = None) -> Figure:
    """Draw every branch in its own colour; rings mark veerings, crosses crossings."""
    import matplotlib.pyplot as plt

    with house_style():
        figure, ax = plt.subplots(figsize=(8.2, 4.6), layout="constrained")
        hertz = found.frequency_hz
        head, _, name = found.key.partition(".")
        slides = dict(architecture_of(found.robot).motors).get(name, head == "position")
        turns = head == "theta" and not slides
        shown = np.degrees(1.0) if turns else 1.0
        for b, kind in enumerate(found.kinds):
            ax.plot(
                shown * found.x,
                hertz[:, b],
                color=COLOURS[b % len(COLOURS)],
                label=f"{b + 1}  {kind}",
            )
        for crossing, mark, word in ((False, "o", "veering"), (True, "x", "crossing")):
            spots = [v for v in found.veerings if v.crossing is crossing]
            order = np.argsort(found.x)
            height = [
                np.mean([np.interp(v.at, found.x[order], hertz[order, b - 1]) for b in v.branches])
                for v in spots
            ]
            if spots:
                ring = "none" if mark == "o" else QUIET
                ax.scatter(
                    [shown * v.at for v in spots],
                    height,
                    s=90,
                    marker=mark,
                    facecolors=ring,
                    edgecolors=None if mark == "x" else QUIET,
                    linewidths=1.2,
                    label=word,
                    zorder=3,
                )
        unit = " (deg)" if turns else " (m)" if head in ("theta", "position") else ""
        ax.set(xlabel=found.key + unit, ylabel="natural frequency (Hz)")
        ax.set_xlim(shown * found.x.min(), shown * found.x.max())
        ax.set_ylim(bottom=0)
        figure.legend(loc="outside right upper", fontsize=8)
    return finish(figure, path)
