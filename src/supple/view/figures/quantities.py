"""Figures of motions with one panel per quantity, so that small ones are visible beside large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import architecture_of
from ...errors import SuppleError
from ...robot import Robot
from ..style import COLOURS, QUIET, finish, house_style, wrap_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...studies.motion.response import Response

__all__ = ["Panel", "draw_panels", "draw_paths", "response_panels", "response_path"]

Array = NDArray[np.float64]
MAX_PANELS = 24


@dataclass(frozen=True)
class Panel:
    """One quantity over time: its label with the unit, and its curves by name.

    A curve of name `wanted` is drawn dashed and grey behind the others.
    """

    label: str
    curves: dict[str, Array] = field(default_factory=dict)


def draw_panels(t: Array, panels: Sequence[Panel], title: str, path: str | Path | None) -> Figure:
    """Draw one panel per quantity over time."""
    import matplotlib.pyplot as plt

    if not panels:
        raise SuppleError("there is nothing of this kind to draw: try another `what`")
    shown = list(panels)[:MAX_PANELS]
    columns = 1 if len(shown) <= 3 else 2 if len(shown) <= 12 else 3
    rows = -(-len(shown) // columns)
    with house_style():
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(7.0 if columns == 1 else 4.4 * columns, 1.7 * rows + 0.8),
            sharex=True,
            squeeze=False,
            layout="constrained",
        )
        # Panels run down the columns, so that what belongs together stands together.
        places = list(axes.T.flat)
        for ax, panel in zip(places, shown, strict=False):
            drawn = 0
            for name, values in panel.curves.items():
                if name == "wanted":
                    ax.plot(t, values, color=QUIET, lw=1.2, ls="--", label=name, zorder=1)
                    continue
                ax.plot(t, values, color=COLOURS[drawn % len(COLOURS)], lw=1.1, label=name)
                drawn += 1
            ax.set_ylabel(panel.label, fontsize=8)
            ax.ticklabel_format(axis="y", scilimits=(-3, 4))
            if len(panel.curves) > 1:
                ax.legend(  # above the panel, where it covers no curve
                    loc="lower right",
                    bbox_to_anchor=(1.0, 1.0),
                    borderaxespad=0.1,
                    fontsize=7,
                    ncols=4,
                )
        for ax in places[len(shown) :]:
            ax.remove()
        for column in range(columns):
            last = min((column + 1) * rows, len(shown)) - 1
            places[last].set_xlabel("time (s)")
            places[last].tick_params(labelbottom=True)
        more = "" if len(panels) == len(shown) else f" ({len(shown)} of {len(panels)} drawn)"
        figure.suptitle(
            wrap_text(title + more, 6.5 if columns == 1 else 4.2 * columns, 9), fontsize=9
        )
    return finish(figure, path)


def draw_paths(
    robot: Robot, reached: Array, wanted: Array | None, path: str | Path | None
) -> Figure:
    """Draw the path of the tip in space (T, 3): wanted dashed, reached over it."""
    import matplotlib.pyplot as plt

    architecture = architecture_of(robot)
    planar = architecture.planar
    dimensions = slice(0, 2) if planar else slice(0, 3)
    with house_style():
        figure = plt.figure(figsize=(6, 5.2), layout="constrained")
        ax: Any = figure.add_subplot(**({} if planar else {"projection": "3d"}))
        if wanted is not None:
            ax.plot(*wanted[:, dimensions].T, color=QUIET, lw=1.2, ls="--", label="wanted")
        ax.plot(*reached[:, dimensions].T, color=COLOURS[0], lw=1.4, label="reached")
        start = reached[:1, dimensions].T
        ax.plot(*start, "o", color=COLOURS[1], markersize=5, label="start")
        ax.set(xlabel="x (m)", ylabel="y (m)")
        if planar:
            ax.set_aspect("equal", adjustable="datalim")
        else:
            ax.set_zlabel("z (m)")
            ax.locator_params(nbins=5)
            if architecture.up[2] < 0:
                ax.invert_zaxis()
        ax.legend(loc="upper left", fontsize=8)
        figure.suptitle(f"{robot.name}: path of the tip", fontsize=10)
        return finish(figure, path)


def response_panels(found: Response, what: str, fraction: float) -> list[Panel]:
    """Return the panels of a run: coordinates, speeds, joints, tip, deflections or efforts."""
    model = found.model
    names = [slot.name for slot in model.coordinate_map]
    units = [slot.unit for slot in model.coordinate_map]
    panels: list[Panel] = []
    if what in ("coordinates", "speeds"):
        values = found.q if what == "coordinates" else found.qd
        for k, (name, unit) in enumerate(zip(names, units, strict=True)):
            per = unit if what == "coordinates" else f"{unit}/s"
            panels.append(Panel(f"{name} ({per})", {name: values[:, k]}))
    elif what == "joints":
        for k, name in enumerate(model.chain.motors):
            curves = {}
            if found.reference is not None:
                curves["wanted"] = found.reference[:, k]
            curves["reached"] = found.theta[:, k]
            panels.append(Panel(f"{name} ({units[k]})", curves))
    elif what == "tip":
        for k, axis in enumerate("xyz"):
            if np.ptp(found.tip[:, k]) > 1e-12:
                panels.append(Panel(f"tip {axis} (m)", {axis: found.tip[:, k]}))
    elif what == "efforts":
        slides = [slide for _, slide in architecture_of(model.robot).motors]
        for k, name in enumerate(model.chain.motors):
            unit = "N" if slides[k] else "N m"
            panels.append(Panel(f"{name} ({unit})", {name: found.tau[:, k]}))
    elif what == "deflections":
        for link in model.chain.links:
            if not link.inv.count:
                continue
            moved = 1e3 * found.deflection(link.name, fraction)
            for k, axis in enumerate("xyz"):
                if np.abs(moved[:, k]).max() > 1e-12:
                    panels.append(Panel(f"{link.name}, {axis} (mm)", {axis: moved[:, k]}))
    return panels


def response_path(found: Response) -> tuple[Array, Array | None]:
    """Return where the tip of a run was, and where the wanted motion would have put it, (n, 3)."""
    if found.reference is None:
        return found.tip, None
    robot = found.model.robot
    if architecture_of(robot).asked_by == "position":
        return found.tip, np.asarray(found.reference)
    from ...studies.kinematics.forward import forward

    return found.tip, np.asarray(forward(robot, found.reference).position)
