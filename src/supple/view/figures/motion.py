"""Figures of motions: deflections of each link, joints, tip, efforts and energy over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...architectures.kinds import architecture_of
from ...equations.model import Model
from ...studies.motion.response import Response
from ..style import COLOURS, QUIET, finish, styled, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_link_shapes", "plot_response"]

MOST = 4  # links drawn; more would not be read


def plot_response(
    found: Response, path: str | Path | None = None, title: str | None = None
) -> Figure:
    """Draw a motion: elastic coordinates of each link, joints, tip, efforts and energy.

    The panels of [DeLuca1991], Figs. 5-10 ((a), (b) deflections, (c) joints, (d) tip), with the
    efforts and the energy beside them.
    """
    import matplotlib.pyplot as plt

    family, alike = architecture_of(found.model.robot), dict[int, list[int]]()
    for i, link in enumerate(found.model.chain.links):
        if link.inv.count:  # links of one part, as in the legs of a Delta, share a panel
            alike.setdefault(id(family.described(link.name)), []).append(i)
    links: list[Any] = [
        (_draw_link, same[0]) if len(same) == 1 else (_draw_ends, same)
        for same in list(alike.values())[:MOST]
    ]
    panels: list[Any] = [
        *links,
        (_draw_joints, None),
        (_draw_tip, None),
        (_draw_efforts, None),
        (_draw_energy, None),
    ]
    if not found.model.joints:
        panels = [*links, (_draw_tip, None), (_draw_energy, None)]
    columns = 2 if len(panels) <= 6 else 3
    rows = -(-len(panels) // columns)
    with styled():
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(4.6 * columns, 2.5 * rows + 0.3),
            sharex=True,
            squeeze=False,
            layout="constrained",
        )
        for ax, (draw, i) in zip(axes.flat, panels, strict=False):
            draw(ax, found, i)
        for ax in list(axes.flat)[len(panels) :]:
            ax.remove()
        for ax in list(axes.flat)[max(0, len(panels) - columns) : len(panels)]:
            ax.set_xlabel("time (s)")
            ax.tick_params(labelbottom=True)
        if not title:
            model = found.model
            read = f"deflection {model.reading.deflection}"
            title = f"{model.robot.name}: {model.size} coordinates, {read}, {found.method}"
            title += "" if found.complete else f"\n{found.message}"
        figure.suptitle(wrapped(title, 4.4 * columns, 9), fontsize=9)
    return finish(figure, path)


def _legend(ax: Axes) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="best", ncols=2, fontsize=8, handlelength=1.2)


def _draw_link(ax: Axes, found: Response, i: int) -> None:
    """Elastic coordinates of a link; small ones beside large ones are still visible as lines."""
    part, link = found.model.chain.eta[i], found.model.chain.links[i]
    names = [name.rsplit(".", 1)[-1] for name in found.model.coordinates[part]]
    for k, name in list(enumerate(names))[:6]:
        ax.plot(found.t, found.q[:, part.start + k], label=name, color=COLOURS[k], lw=1.1)
    ax.set_ylabel(f"{link.name}, elastic coordinates")
    _legend(ax)


def _draw_ends(ax: Axes, found: Response, alike: list[int]) -> None:
    """How far the ends of links that are alike bend."""
    names = [found.model.chain.links[i].name for i in alike]
    for k, name in enumerate(names):
        size = 1e3 * np.linalg.norm(found.deflection(name), axis=1)
        ax.plot(found.t, size, label=name, color=COLOURS[k], lw=1.1)
    ax.set_ylabel("ends bent by (mm)")
    _legend(ax)


def _draw_joints(ax: Axes, found: Response, _: Any) -> None:
    for k, name in enumerate(found.model.chain.motors):
        ax.plot(found.t, found.theta[:, k], label=name)
    slides = bool(found.model.chain.sliding)
    ax.set_ylabel("joints (rad and m)" if slides else "joints (rad)")
    _legend(ax)


def _draw_tip(ax: Axes, found: Response, _: Any) -> None:
    moved = found.tip - found.tip[0]
    for k, axis in enumerate("xyz"):
        if np.abs(moved[:, k]).max() > 1e-12:
            ax.plot(found.t, moved[:, k], label=axis, color=COLOURS[k])
    ax.set_ylabel("tip moved by (m)")
    if ax.get_lines():
        _legend(ax)


def _draw_efforts(ax: Axes, found: Response, _: Any) -> None:
    for k, name in enumerate(found.model.chain.motors):
        style: dict[str, Any] = {"ls": ("-", "--", "-.", ":")[k % 4]}
        ax.step(found.t, found.tau[:, k], where="post", label=name, **style)
    ax.set_ylabel("effort (N m and N)" if found.model.chain.sliding else "effort (N m)")
    _legend(ax)


def _draw_energy(ax: Axes, found: Response, _: Any) -> None:
    start = found.energies["gravity"][0] if "gravity" in found.energies else 0.0
    for k, (name, value) in enumerate(found.energies.items()):
        if np.abs(value).max() > 0:  # of gravity only the change has a meaning
            told = (value - start, "gravity from start") if name == "gravity" else (value, name)
            ax.plot(found.t, told[0], label=told[1], color=COLOURS[k], lw=1.1)
    ax.plot(found.t, found.energy - start, color=QUIET, label="total")
    ax.set_ylabel("energy (J)")
    _legend(ax)


def plot_link_shapes(
    model: Model, path: str | Path | None = None, title: str | None = None
) -> Figure:
    """Draw the shapes of every link over its length, as [DeLuca1991], Figs. 2-4, draws them.

    Deflections in x-y, divided by the link's length.
    """
    import matplotlib.pyplot as plt

    bent = [link for link in model.chain.links if link.shapes is not None]
    with styled():
        figure, axes = plt.subplots(
            1, len(bent), figsize=(3.6 * len(bent), 2.8), squeeze=False, layout="constrained"
        )
        for ax, link in zip(axes.flat, bent, strict=True):
            assert link.shapes is not None
            x = np.linspace(0, 1, 201)
            v = link.shapes.at(x * link.inv.length)[:, 1]
            for j in [k for k, kind in enumerate(link.shapes.kinds) if kind == "xy"]:
                ax.plot(x, v[:, j] / link.inv.length, label=f"mode {j + 1}")
            ax.axhline(0, color=QUIET, lw=0.6)
            ax.set(xlabel=f"{link.name}, x / length", ylabel="shape / length")
            _legend(ax)
        figure.suptitle(title or model.robot.name, fontsize=9)
    return finish(figure, path)
