"""Figures of a motion along a path and of a map over the workspace. Nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...architectures.kinds import architecture_of
from ...arguments import one_of
from ...errors import SuppleError
from ...papers.kuo import CircleFrequencies
from ...studies.motion.path_response import PathResponse
from ...studies.vibration.workspace import JointMap, WorkspaceMap
from ..style import COLOURS, QUIET, finish, house_style, plain_ticks, shades, wrap_text
from ..wording import motors_of
from .quantities import Panel, draw_panels, draw_paths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "plot_circle_frequencies",
    "plot_link_deflections",
    "plot_path_in_space",
    "plot_path_response",
    "plot_workspace",
]


PATH_FIGURES = ("overview", "deflections", "path", "efforts", "variations")


def plot_path_response(
    response: PathResponse,
    path: str | Path | None = None,
    what: str = "overview",
    fraction: float = 0.5,
) -> Figure:
    """Draw the path, the variation of place and attitude along it, and the motor torques.

    As in [Kuo2016], Figs. 12-16.

    what: instead of this overview the `deflections` of the links at a `fraction` of their length
    (Figs. 8-11), the `path` of the tip in space, wanted and reached (Fig. 13), the `efforts` of the
    motors (Figs. 5, 14), or the `variations` of place and attitude, one panel each (Figs. 6, 7).
    """
    import matplotlib.pyplot as plt

    one_of(*PATH_FIGURES)("what", what)
    if what == "deflections":
        return plot_link_deflections(response, path, fraction)
    if what == "path":
        return plot_path_in_space(response, path)
    if what != "overview":
        panels = _effort_panels(response) if what == "efforts" else _variation_panels(response)
        return draw_panels(response.t, panels, f"{response.robot.name}: {what}", path)

    with house_style():
        figure, axes = plt.subplots(2, 2, figsize=(9.5, 6.2), sharex=True, layout="constrained")
        ax = axes[0, 0]
        moved = response.wanted - response.wanted[0]
        if architecture_of(response.robot).asked_by == "position":
            _draw_three(ax, response.t, 1e3 * moved, "xyz")
            ax.set(title="path wanted, from its start", ylabel="mm")
        else:
            names, slides = motors_of(response.robot)
            for name, slide, column in zip(names, slides, moved.T, strict=True):
                shown = 100 * column if slide else np.degrees(column)
                ax.plot(response.t, shown, label=f"{name}, cm" if slide else name)
            unit = "degrees, cm where it slides" if any(slides) else "degrees"
            ax.set(title="joints wanted, from their start", ylabel=unit)
            _legend(ax)
        _draw_three(axes[0, 1], response.t, 1e3 * response.moved[:, :3], "xyz")
        axes[0, 1].set(title="displacement from the rigid motion", ylabel="mm")
        _draw_three(axes[1, 1], response.t, np.degrees(response.moved[:, 3:]), "xyz", "about ")
        axes[1, 1].set(title="rotation from the rigid motion", ylabel="degrees", xlabel="time (s)")
        ax = axes[1, 0]
        names, slides = motors_of(response.robot)
        for j, name in enumerate(names):
            colour = COLOURS[j % len(COLOURS)]
            ax.plot(response.t, response.torque[:, j], color=colour, label=name)
            ax.plot(response.t, response.rigid_torque[:, j], color=colour, lw=0.9, ls="--")
        unit = "N m, N where it slides" if any(slides) else "N m"
        ax.set(title="motor efforts (dashed: rigid links)", ylabel=unit, xlabel="time (s)")
        _legend(ax)
        for ax in axes.flat:
            if not response.path.periodic and response.t[-1] > response.path.duration:
                ax.axvline(response.path.duration, color=QUIET, lw=0.8, ls=":")
        note = "" if response.small else "\nbends more than a linear model can be trusted with"
        figure.suptitle(wrap_text(f"{response.robot.name} along its path{note}", 9.0), fontsize=10)
        return finish(figure, path)


def _effort_panels(response: PathResponse) -> list[Panel]:
    """Effort of every motor, with the links bending and rigid."""
    panels = []
    names, slides = motors_of(response.robot)
    for k, (name, slide) in enumerate(zip(names, slides, strict=True)):
        curves = {"flexible links": response.torque[:, k], "rigid": response.rigid_torque[:, k]}
        panels.append(Panel(f"{name} ({'N' if slide else 'N m'})", curves))
    return panels


def _variation_panels(response: PathResponse) -> list[Panel]:
    """Place and attitude of the tip from the rigid motion, one panel each that is not zero."""
    panels = []
    for k in range(6):
        axis = "xyz"[k % 3]
        scale, label = (1e3, f"{axis} (mm)") if k < 3 else (180 / np.pi, f"about {axis} (deg)")
        values = scale * response.moved[:, k]
        if np.abs(values).max() > 1e-12:
            panels.append(Panel(label, {axis: values}))
    return panels


def _draw_three(ax: Axes, t: np.ndarray, values: np.ndarray, names: str, word: str = "") -> None:
    for name, column, colour in zip(names, values.T, COLOURS, strict=False):
        ax.plot(t, column, color=colour, label=f"{word}{name}")
    _legend(ax)


def _legend(ax: Axes) -> None:
    """Names above the curves, with room for them."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.16 * (high - low))
    ax.legend(loc="upper left", ncols=3, fontsize=8)


def plot_workspace(
    found: WorkspaceMap | JointMap, path: str | Path | None = None, bound: float | None = None
) -> Figure:
    """Draw the lowest frequency over horizontal slices; hatched where below `bound`, rad/s.

    Of a serial arm: over the two joints that matter most, the others where it is lowest.
    """
    import matplotlib.pyplot as plt

    if isinstance(found, JointMap):
        return _plot_joints(found, path, bound)
    heights = np.unique(np.linspace(0, len(found.z) - 1, min(4, len(found.z))).round().astype(int))
    if not found.reachable.any():
        raise SuppleError("no point of this map can be reached: choose another box")
    if len(found.x) < 2 or len(found.y) < 2:
        raise SuppleError("a picture of the workspace needs ranges of x and y, not one value")
    values = found.omega[..., 0] / (2 * np.pi)
    low = np.nanmin(values[:, :, heights])
    high = np.nanmax(values[:, :, heights])
    levels = _levels(low, high)
    rows, columns = (1, len(heights)) if len(heights) < 3 else (2, 2)
    with house_style():
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(4.4 * columns + 0.8, 4 * rows),
            squeeze=False,
            layout="constrained",
        )
        for ax in axes.flat[len(heights) :]:
            ax.remove()
        for ax, k in zip(axes.flat, heights, strict=False):
            filled = ax.contourf(
                found.x,
                found.y,
                values[:, :, k].T,
                levels=levels,
                cmap="viridis",
                norm=shades(levels[0], levels[-1]),
            )
            if bound is not None and np.nanmin(values[:, :, k]) < bound / (2 * np.pi):
                under = (-np.inf, bound / (2 * np.pi))
                ax.contourf(
                    found.x,
                    found.y,
                    values[:, :, k].T,
                    levels=under,
                    colors="none",
                    hatches=["///"],
                )
            ax.set(title=f"z = {found.z[k]:.3g} m", xlabel="x (m)", ylabel="y (m)")
            ax.set_aspect("equal")
            ax.grid(visible=False)
        shown = list(axes.flat)[: len(heights)]
        plain_ticks(figure.colorbar(filled, ax=shown, label="lowest natural frequency (Hz)"))
        title = "" if bound is None else f"; hatched below {bound / (2 * np.pi):.3g} Hz"
        title = architecture_of(found.robot).inside + title
        title = f"{found.robot.name}: lowest natural frequency{title}"
        figure.suptitle(wrap_text(title, 4.4 * columns), fontsize=10)
        return finish(figure, path)


def _levels(low: float, high: float) -> np.ndarray:
    """Steps of colour, in equal ratios where the values differ much; never none."""
    if high - low < 1e-6 * abs(high):
        low = 0.99 * low
        high = 1.01 * high
    spread = np.geomspace if high > 10 * low > 0 else np.linspace
    return spread(low, high + 1e-9 * abs(high), 21)


def _plot_joints(found: JointMap, path: str | Path | None, bound: float | None) -> Figure:
    """Draw the lowest frequency over one joint or two, the others where it is lowest."""
    import matplotlib.pyplot as plt

    if not found.reachable.any():
        raise SuppleError("no point of this map can be reached: choose other ranges")
    values = found.omega[..., 0] / (2 * np.pi)
    others = [tuple(j for j in range(values.ndim) if j != k) for k in range(values.ndim)]
    each = [np.asarray(np.fmin.reduce(values, axis=rest)) for rest in others]
    spread = [float(np.nanmax(low) - np.nanmin(low)) for low in each]
    moving = [k for k in np.argsort(spread)[::-1] if values.shape[k] > 1]
    shown = sorted(moving[:2])
    rest = tuple(k for k in range(values.ndim) if k not in shown)
    lowest = np.fmin.reduce(values, axis=rest)  # NaN only where no pose is reached
    named = []
    for k in shown:
        c = architecture_of(found.robot).coordinates()[k]
        along = found.theta[k]
        unit, along = ("m", along) if c.unit == "m" else ("deg", np.degrees(along))
        named.append((f"{c.name} ({unit})", along))
    with house_style():
        figure, ax = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
        if len(shown) < 2:
            (label, along), *_ = named or [("pose", np.zeros(1))]
            ax.plot(along, np.atleast_1d(lowest), marker=None if len(along) > 1 else "o")
            ax.set(xlabel=label, ylabel="lowest natural frequency (Hz)")
            if bound is not None:
                ax.axhline(bound / (2 * np.pi), color=QUIET, lw=0.8, ls=":")
        else:
            (one, x), (two, y) = named
            levels = _levels(float(np.nanmin(lowest)), float(np.nanmax(lowest)))
            filled = ax.contourf(
                x, y, lowest.T, levels=levels, cmap="viridis", norm=shades(levels[0], levels[-1])
            )
            if bound is not None and np.nanmin(lowest) < bound / (2 * np.pi):
                under = (-np.inf, bound / (2 * np.pi))
                ax.contourf(x, y, lowest.T, levels=under, colors="none", hatches=["///"])
            ax.set(xlabel=one, ylabel=two)
            ax.grid(visible=False)
            plain_ticks(figure.colorbar(filled, label="lowest natural frequency (Hz)"))
        left = [name for k, name in enumerate(found.axes) if k in rest and values.shape[k] > 1]
        title = f"\n{', '.join(left)} where it is lowest" if left else ""
        title += "" if bound is None else f"; hatched below {bound / (2 * np.pi):.3g} Hz"
        title = architecture_of(found.robot).inside + title
        title = f"{found.robot.name}: lowest natural frequency{title}"
        figure.suptitle(wrap_text(title, 5.4), fontsize=10)
        return finish(figure, path)


def plot_circle_frequencies(found: CircleFrequencies, path: str | Path | None = None) -> Figure:
    """Draw eight frequencies against the angle on the circle, reading `paper` and right model.

    As in [Kuo2016], Fig. 4, four modes a panel; departure: the right model beside it.
    """
    import matplotlib.pyplot as plt

    degrees = np.degrees(found.angle)
    titles = ("reading `paper` (the printed model, n = 1)", "right model, exact")
    with house_style():
        figure, axes = plt.subplots(2, 2, figsize=(9.5, 6.4), sharex=True, layout="constrained")
        for column, omega in enumerate((found.paper, found.right)):
            for row in range(2):
                ax = axes[1 - row, column]
                for j in range(4 * row, 4 * row + 4):
                    ax.plot(degrees, omega[:, j], color=COLOURS[j % 4], label=f"mode {j + 1}")
                ax.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
            axes[0, column].set_title(titles[column], pad=24)
            axes[1, column].set(xlabel="angle on the circle (degrees)", xticks=range(0, 361, 60))
        for ax in axes[:, 0]:
            ax.set_ylabel("natural frequency (rad/s)")
        return finish(figure, path)


def plot_path_in_space(response: PathResponse, path: str | Path | None = None) -> Figure:
    """Draw the tip's path in space: wanted, and as the flexible robot goes it.

    As in [Kuo2016], Fig. 13; departure: the flexible one beside it.
    """
    wanted = np.asarray(response.model.place(response.led))
    return draw_paths(response.robot, response.tip, wanted, path)


def plot_link_deflections(
    response: PathResponse, path: str | Path | None = None, fraction: float = 0.5
) -> Figure:
    """Draw stretch, twist and bending of every link at a fraction of its length, from its root.

    As in [Kuo2016], Figs. 8-11.
    """
    import matplotlib.pyplot as plt

    names = [name for name in response.model.names if response.model.length(name)]
    kinds: tuple[tuple[int, float, str], ...] = (
        (0, 1e6, "stretch (µm)"),
        (3, 180 / np.pi, "twist (degrees)"),
        (1, 1e3, "bending along y (mm)"),
        (2, 1e3, "bending along z (mm)"),
    )
    moved = {name: response.deflection(name, fraction) for name in names}
    kinds = tuple(
        kind for kind in kinds if any(np.abs(part[:, kind[0]]).max() > 0 for part in moved.values())
    )
    # Links made to one description, as in the legs of a Delta, share a column.
    groups: dict[int, list[str]] = {}
    for name in names:
        part = architecture_of(response.robot).part_of_segment(name)
        groups.setdefault(id(part), []).append(name)
    columns = list(groups.values()) if len(groups) < len(names) else [names]
    if not kinds:
        raise SuppleError("no link of this robot bends: there is no deflection to draw")
    with house_style():
        figure, axes = plt.subplots(
            len(kinds),
            len(columns),
            figsize=(max(4.7 * len(columns), 6.4), 2.1 * len(kinds) + 0.8),
            sharex=True,
            squeeze=False,
            layout="constrained",
        )
        for side, group in enumerate(columns):
            for name in group:
                for row, (k, scale, label) in enumerate(kinds):
                    axes[row, side].plot(response.t, scale * moved[name][:, k], label=name)
                    axes[row, side].set_ylabel(label)
            axes[0, side].legend(ncols=3, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1))
            axes[-1, side].set_xlabel("time (s)")
        title = f"{response.robot.name}: links at {fraction:g} of their length"
        figure.suptitle(title, fontsize=10)
        return finish(figure, path)
