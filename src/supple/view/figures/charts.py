"""Charts for papers and slides: frequency maps, time panels, root locus, Bode.

They take plain arrays, so that any answer, or a reader's own numbers, can be drawn alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import SuppleError
from ...studies.vibration.modes import Modes
from ...studies.vibration.neighbourhood import coordinates_of
from ..style import COLOURS, QUIET, finish, house_style, plain_ticks, shades, wrap_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_bode", "plot_map", "plot_root_locus", "plot_time"]

Array = NDArray[np.float64]


def plot_map(modes: Modes, mode: int = 1, path: str | Path | None = None) -> Figure:
    """Draw one natural frequency over two coordinates: a batch whose poses form a grid.

    mode counts from 1. Contours carry their frequencies in Hz; the lowest point is marked.
    """
    import matplotlib.pyplot as plt

    # The two coordinates that run, the frequency on their grid (y, x), and their names
    poses = modes.theta if modes.position is None else modes.position
    if modes.omega.ndim == 1:
        raise SuppleError("a map needs many configurations: give a grid of poses, (B, joints)")
    if not 1 <= mode <= modes.omega.shape[1]:
        raise SuppleError(f"mode is {mode}: there are {modes.omega.shape[1]}")
    running = np.flatnonzero(np.ptp(poses, axis=0) > 0)
    axes = [np.unique(poses[:, k]) for k in running]
    if len(axes) != 2 or len(axes[0]) * len(axes[1]) != len(poses):
        raise SuppleError("a map needs poses on a full grid of exactly two coordinates")
    order = np.lexsort((poses[:, running[0]], poses[:, running[1]]))
    z = modes.frequency_hz[order, mode - 1].reshape(len(axes[1]), len(axes[0]))
    each = [coordinates_of(modes.robot)[int(k)] for k in running]
    turned = [np.degrees(a) if c.unit == "rad" else a for a, c in zip(axes, each, strict=True)]
    names = [f"{c.name} ({'deg' if c.unit == 'rad' else 'm'})" for c in each]
    x, y = turned
    with house_style():
        figure, ax = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
        drawn = ax.pcolormesh(
            x,
            y,
            z,
            cmap="viridis",
            shading="gouraud",
            rasterized=True,
            norm=shades(float(z.min()), float(z.max())),
        )
        label = f"{z.min():.4g} Hz everywhere"
        if np.ptp(z) > 1e-9 * z.max():
            # eight contours, in equal ratios where the values differ much
            spread = np.geomspace if z.max() > 10 * z.min() > 0 else np.linspace
            levels: Array = spread(z.min(), z.max(), 10)[1:-1]
            lines = ax.contour(x, y, z, levels=levels, colors="white", linewidths=0.8)
            ax.clabel(lines, fmt="%.3g", fontsize=7)
            low = np.unravel_index(int(np.argmin(z)), z.shape)
            ax.plot(
                x[low[1]],
                y[low[0]],
                "o",
                color="white",
                markeredgecolor=COLOURS[1],
                markersize=6,
                clip_on=False,
                zorder=5,
            )
            label = f"lowest {z.min():.4g} Hz at the mark"
        plain_ticks(figure.colorbar(drawn, label=f"natural frequency {mode} (Hz)"))
        ax.set(xlabel=names[0], ylabel=names[1])
        ax.set_title(wrap_text(f"{modes.robot.name}: {label}", 4.6, 9))
        ax.grid(visible=False)
        return finish(figure, path)


def plot_time(
    t: ArrayLike,
    panels: Mapping[str, Mapping[str, ArrayLike]],
    path: str | Path | None = None,
    title: str = "",
) -> Figure:
    """Draw panels over time, one under another; a panel's name is its axis, such as `tip (m)`."""
    import matplotlib.pyplot as plt

    empty = [name for name, curves in panels.items() if not curves]
    if empty:
        raise SuppleError(f"panel '{empty[0]}' has no curve: give it one, such as {{'x': values}}")
    if not panels:
        raise SuppleError("there is no panel to draw: give {'tip (m)': {'x': values}}")
    times = np.asarray(t, float)
    with house_style():
        figure, axes = plt.subplots(
            len(panels),
            1,
            figsize=(6.4, 1.5 * len(panels) + 0.9),
            sharex=True,
            squeeze=False,
            layout="constrained",
        )
        for ax, (name, curves) in zip(axes[:, 0], panels.items(), strict=True):
            for k, (label, values) in enumerate(curves.items()):
                y = np.asarray(values, float)
                if y.shape != times.shape:
                    raise SuppleError(f"{name}, {label}: {y.shape} values for {times.shape} times")
                ax.plot(times, y, label=label, linestyle=STYLES[k % 4])
            ax.set_ylabel(name)
            if len(curves) > 1:
                ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
        axes[-1, 0].set_xlabel("time (s)")
        figure.suptitle(title, fontsize=10)
        return finish(figure, path)


STYLES = ("-", "--", ":", "-.")


def plot_root_locus(
    eigenvalues: ArrayLike,
    values: ArrayLike | None = None,
    label: str = "parameter",
    path: str | Path | None = None,
) -> Figure:
    """Draw eigenvalues (k,), or (V, k) along a parameter, in the complex plane, 1/s and rad/s.

    Along a parameter a cross is its first value and a dot its last; rays are damping ratios.
    """
    import matplotlib.pyplot as plt

    roots = np.atleast_2d(np.asarray(eigenvalues, complex))
    x = np.arange(len(roots), dtype=float) if values is None else np.asarray(values, float)
    if x.shape != (len(roots),):
        raise SuppleError(f"values has shape {x.shape}: give one for each of {len(roots)} rows")
    with house_style():
        figure, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
        # Each row in the order nearest to the row before it, so that lines follow roots
        from scipy.optimize import linear_sum_assignment

        out = roots.copy()
        for k in range(1, len(out)):
            cost = np.abs(out[k - 1][:, None] - out[k][None])
            out[k] = out[k][linear_sum_assignment(cost)[1]]
        for column in out.T:
            ax.plot(column.real, column.imag, color=QUIET, linewidth=0.8)
        shade = np.repeat(x, roots.shape[1])
        all_roots = roots.ravel()
        dots = ax.scatter(all_roots.real, all_roots.imag, c=shade, s=10, cmap="viridis", zorder=3)
        ax.scatter(roots[0].real, roots[0].imag, marker="x", s=34, color=COLOURS[1], zorder=4)
        if len(roots) > 1:
            figure.colorbar(dots, label=label)
        # lines of equal damping ratio that fall into the picture
        height = float(np.abs(roots.imag).max()) or 1.0
        left = float(roots.real.min())
        ax.margins(0.08)
        limits = ax.get_xlim(), ax.get_ylim()
        for ratio in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5):
            end = -height * ratio / math.sqrt(1 - ratio**2)
            if end < left * 1.02 or end > 0.04 * left:
                continue
            for side in (1, -1) if roots.imag.min() < 0 else (1,):
                ax.plot([0, end], [0, side * height], color=QUIET, linewidth=0.6, linestyle=":")
            place: dict[str, Any] = {
                "xytext": (0, 7),
                "textcoords": "offset points",
                "ha": "center",
            }
            ax.annotate(f"{ratio:g}", (end, height), fontsize=7, color="#5f6368", **place)
        left, right = limits[0]
        ax.set(xlim=(left, max(right, 0.04 * (right - left))), ylim=limits[1])
        ax.axvline(0, color="#5f6368", linewidth=0.9)
        ax.set(xlabel="real part (1/s)", ylabel="imaginary part (rad/s)")
        return finish(figure, path)


def plot_bode(
    omega: ArrayLike,
    responses: Mapping[str, ArrayLike],
    path: str | Path | None = None,
    unit: str = "",
    title: str = "",
) -> Figure:
    """Draw frequency responses: magnitude (logarithmic) and phase over frequency in Hz.

    omega: (W,), rad/s.  responses: name to (W,) complex values.  unit: of the magnitude.
    """
    import matplotlib.pyplot as plt

    hertz = np.asarray(omega, float) / (2 * math.pi)
    if not any(np.any(np.abs(np.asarray(values))) for values in responses.values()):
        raise SuppleError("every response is zero: a logarithmic magnitude needs one that is not")
    with house_style():
        figure, axes = plt.subplots(
            2, 1, figsize=(6.4, 4.8), sharex=True, height_ratios=[2, 1], layout="constrained"
        )
        for k, (name, values) in enumerate(responses.items()):
            response = np.asarray(values, complex)
            style = STYLES[k % 4]
            if response.shape != hertz.shape:
                raise SuppleError(f"{name}: {response.shape} values for {hertz.shape} frequencies")
            axes[0].plot(hertz, np.abs(response), label=name, linestyle=style)
            axes[1].plot(hertz, np.degrees(np.unwrap(np.angle(response))), linestyle=style)
        axes[0].set(
            xscale="log", yscale="log", ylabel=f"magnitude ({unit})" if unit else "magnitude"
        )
        # Ticks at quarter, half or whole turns, or round numbers of them, at most eight
        low, high = axes[1].get_ylim()
        power = 10.0 ** math.floor(math.log10(max((high - low) / 6 / 360, 1.0)))
        steps = (90.0, 180.0, *(360 * k * power for k in (1, 2, 5, 10)))
        step = next(s for s in steps if s >= (high - low) / 6 * 0.999)
        first = math.floor(low / step)
        last = math.ceil(high / step)
        quarter_turns = [float(step * k) for k in range(first, last + 1)]
        axes[1].set(xlabel="frequency (Hz)", ylabel="phase (deg)", yticks=quarter_turns)
        if len(responses) > 1:
            axes[0].legend(fontsize=8)
        axes[0].set_title(wrap_text(title, 5.8, 9))
        return finish(figure, path)
