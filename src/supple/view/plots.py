"""Figures of answers: mode-shape grids, frequencies along a path, sag. Nothing is computed here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..studies.modes import Modes
from ..studies.shapes import Shapes
from ..studies.statics import Statics
from .style import COLOURS, QUIET, finish, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_frequencies", "plot_modes", "plot_statics"]

Array = NDArray[np.float64]


def plot_modes(modes: Modes, path: str | Path | None = None, points: int = 41) -> Figure:
    """Draw every mode of one configuration: undeformed arm, deformed arm, Hz and kind.

    As in [DiCastri2011], Figure 5. The deformation is scaled so that the largest displacement is
    12 % of the arm's extent; only its form has a meaning.
    """
    import matplotlib.pyplot as plt

    if modes.omega.ndim > 1:
        return plot_frequencies(modes, path=path)
    shapes, count = modes.shape(points), len(modes.omega)
    columns = min(count, 4 if count > 6 else 3)
    rows = math.ceil(count / columns)
    spatial = not shapes.planar
    with styled():
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(3.1 * columns, (3.0 if spatial else 2.7) * rows + 0.5),
            squeeze=False,
            subplot_kw={"projection": "3d"} if spatial else {},
            layout="constrained",
        )
        for mode, ax in enumerate(axes.flat):
            if mode >= count:
                ax.remove()
                continue
            _draw_shape(ax, shapes, mode)
            _frame(ax, shapes, first=mode % columns == 0, last=mode >= count - columns)
            ax.set_title(f"mode {mode + 1}: {_hertz(modes.frequency_hz[mode])} Hz\n{shapes.kind(mode)}")
        figure.suptitle(_heading(modes), fontsize=10)
        return finish(figure, path)


def _hertz(value: float) -> str:
    return f"{value:.4g}" if value < 1e4 else f"{value:.5g}"


def _heading(modes: Modes) -> str:
    angles = ", ".join(f"{math.degrees(a):.4g}°" for a in np.atleast_1d(modes.theta))
    certified = "certified" if modes.certified else f"by {modes.method}, not certified"
    return f"{modes.robot.name} at ({angles}), joints {modes.joints}, {certified}"


def _extent(shapes: Shapes) -> float:
    points = np.concatenate([shapes.position.reshape(-1, 3), np.zeros((1, 3))])
    return float(np.ptp(points, axis=0).max()) or 1.0


def _draw_shape(ax: Axes, shapes: Shapes, mode: int) -> None:
    moved = shapes.global_displacement[mode]
    scale = 0.12 * _extent(shapes) / (np.abs(moved).max() or 1.0)
    axes = slice(0, 2) if shapes.planar else slice(0, 3)
    for i in range(len(shapes.names)):
        rest = shapes.position[i][:, axes].T
        bent = (shapes.position[i] + scale * moved[i])[:, axes].T
        ax.plot(*rest, color=QUIET, linewidth=1.0, linestyle=(0, (4, 3)))
        ax.plot(*bent, color=COLOURS[0], linewidth=2.0)
        ax.plot(*bent[:, :1], "o", color="white", markeredgecolor=COLOURS[0], markersize=4)
        ax.plot(*bent[:, -1:], "o", color=COLOURS[1], markersize=3.5)


def _frame(ax: Axes, shapes: Shapes, first: bool, last: bool) -> None:
    if shapes.planar:
        ax.set_aspect("equal", adjustable="datalim")
        ax.margins(0.12)
        ax.set_xlabel("x (m)" if last else "")
        ax.set_ylabel("y (m)" if first else "")
        return
    every: Any = ax
    every.set_box_aspect(None, zoom=0.9)
    every.set_aspect("equal")
    for name in "xyz":
        getattr(every, f"set_{name}label")(f"{name} (m)", labelpad=-6)
        every.tick_params(axis=name, pad=-3, labelsize=7)
        getattr(every, f"{name}axis").set_major_locator(_few())


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3)


def plot_frequencies(
    modes: Modes,
    x: ArrayLike | None = None,
    label: str | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Draw the frequencies of a batch of configurations, Hz, along x.

    x defaults to the one joint that changes; with several, to the number of the configuration.
    """
    import matplotlib.pyplot as plt

    if modes.omega.ndim == 1:
        raise SuppleError("frequencies are drawn along many configurations: give theta as (B, joints)")
    along, name = (np.asarray(x, float), label or "x") if x is not None else _running(modes)
    with styled():
        figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        for mode, values in enumerate(modes.frequency_hz.T):
            ax.plot(along, values, color=COLOURS[mode % len(COLOURS)])
            ax.annotate(
                f"{mode + 1}",
                (along[-1], values[-1]),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=COLOURS[mode % len(COLOURS)],
            )
        ax.set_yscale("log")
        ax.set_xlabel(name)
        ax.set_ylabel("natural frequency (Hz)")
        ax.set_title(f"{modes.robot.name}, joints {modes.joints}, {modes.omega.shape[1]} modes")
        _plain_log(ax)
        return finish(figure, path)


def _plain_log(ax: Axes) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _running(modes: Modes) -> tuple[Array, str]:
    changing = np.flatnonzero(np.ptp(modes.theta, axis=0) > 0)
    if len(changing) != 1:
        return np.arange(len(modes.theta), dtype=float), "configuration"
    joint = int(changing[0])
    moving = [link for link in getattr(modes.robot, "moving", ()) if link.joint.type != "fixed"]
    if moving[joint].joint.type == "prismatic":
        return modes.theta[:, joint], f"free length of {moving[joint].name} (m)"
    return np.degrees(modes.theta[:, joint]), f"angle of {moving[joint].name} (deg)"


def plot_statics(sag: Statics, path: str | Path | None = None) -> Figure:
    """Draw the arm at rest and sagged, exaggerated so that the sag is 12 % of its extent."""
    import matplotlib.pyplot as plt

    if sag.tip_displacement.ndim > 1:
        raise SuppleError("sag is drawn for one configuration: give theta as (joints,)")
    points = np.concatenate([sag.position.reshape(-1, 3), np.zeros((1, 3))])
    extent, largest = float(np.ptp(points, axis=0).max()), float(np.abs(sag.displacement).max())
    scale = 0.12 * extent / largest if largest else 1.0
    with styled():
        figure = plt.figure(figsize=(5.4, 4.6), layout="constrained")
        ax: Any = figure.add_subplot(projection="3d")
        for rest, moved in zip(sag.position, sag.displacement, strict=True):
            ax.plot(*rest.T, color=QUIET, linewidth=1.0, linestyle=(0, (4, 3)))
            ax.plot(*(rest + scale * moved).T, color=COLOURS[0], linewidth=2.2)
        ax.set_aspect("equal")
        for name in "xyz":
            getattr(ax, f"set_{name}label")(f"{name} (m)")
            getattr(ax, f"{name}axis").set_major_locator(_few())
        u = 1e3 * sag.tip_displacement
        ax.set_title(
            f"{sag.robot.name}: tip moves ({u[0]:.3g}, {u[1]:.3g}, {u[2]:.3g}) mm, drawn {scale:.3g} x"
        )
        return finish(figure, path)
