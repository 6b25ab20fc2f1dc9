"""Figures of motions: deflections of each link, joints, tip, efforts and energy over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...architectures.kinds import architecture_of
from ...arguments import one_of
from ...equations.model import Model
from ...errors import SuppleError
from ...studies.motion.response import Response
from ..style import COLOURS, QUIET, finish, house_style, wrap_text
from .quantities import draw_panels, draw_paths, response_panels, response_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_link_shapes", "plot_response"]

MAX_SHAPES = 6  # links whose shapes are drawn
MOST = 4  # links drawn; more would not be read
LEGEND: dict[str, Any] = {  # above the panel, where it covers no curve
    "loc": "lower left",
    "bbox_to_anchor": (0.0, 1.0),
    "ncols": 5,
    "fontsize": 8,
    "handlelength": 1.2,
    "borderaxespad": 0.1,
}
Line = tuple[str, Any, dict[str, Any]]  # its name, values over time and look


RUN_FIGURES = (
    *("overview", "coordinates", "speeds", "joints", "tip", "deflections", "path", "efforts"),
)


def plot_response(
    found: Response,
    path: str | Path | None = None,
    title: str | None = None,
    what: str = "overview",
    fraction: float = 1.0,
) -> Figure:
    """Draw a motion: elastic coordinates of each link, joints, tip, efforts and energy.

    The panels of [DeLuca1991], Figs. 5-10 ((a), (b) deflections, (c) joints, (d) tip), with the
    efforts and the energy beside them.

    what: instead of this overview one panel per quantity, so that small second modes are visible:
    `coordinates`, `speeds`, `joints` (wanted and reached), `tip`, `deflections` of the links at a
    `fraction` of their length, `efforts`; or `path`, that of the tip in space, wanted and reached.
    """
    import matplotlib.pyplot as plt

    one_of(*RUN_FIGURES)("what", what)
    if what == "path":
        return draw_paths(found.model.robot, *response_path(found), path)
    if what != "overview":
        heading = title or f"{found.model.robot.name}: {what}"
        return draw_panels(found.t, response_panels(found, what, fraction), heading, path)

    family = architecture_of(found.model.robot)
    alike = dict[int, list[int]]()
    for i, link in enumerate(found.model.chain.links):
        if link.inv.count:  # links of one part, as in the legs of a Delta, share a panel
            alike.setdefault(id(family.part_of_segment(link.name)), []).append(i)
    panels = _panels(found, list(alike.values())[:MOST])
    columns = 2 if len(panels) <= 6 else 3
    rows = -(-len(panels) // columns)
    with house_style():
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(4.6 * columns, 2.5 * rows + 0.3),
            sharex=True,
            squeeze=False,
            layout="constrained",
        )
        for ax, (label, lines) in zip(axes.flat, panels, strict=False):
            for name, values, look in lines:
                ax.plot(found.t, values, label=name, **look)
            ax.set_ylabel(label)
            if lines:
                ax.legend(**LEGEND)
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
        figure.suptitle(wrap_text(title, 4.4 * columns, 9), fontsize=9)
    return finish(figure, path)


def _panels(found: Response, alike: list[list[int]]) -> list[tuple[str, list[Line]]]:
    """Label and lines of every panel: elastic coordinates of each link, joints, tip, ..."""
    model = found.model
    panels = list[tuple[str, list[Line]]]()
    chain = model.chain
    looks = [{"color": colour, "lw": 1.1} for colour in COLOURS]
    for same in alike:
        names = [chain.links[i].name for i in same]
        if len(names) == 1:  # small coordinates beside large ones are still visible as lines
            part = chain.eta[same[0]]
            words = [name.rsplit(".", 1)[-1] for name in model.coordinates[part]][:6]
            lines = [(w, found.q[:, part.start + k], looks[k]) for k, w in enumerate(words)]
            panels.append((f"{names[0]}, elastic coordinates", lines))
        else:  # how far the ends of links that are alike bend
            ends = [1e3 * np.linalg.norm(found.deflection(name), axis=1) for name in names]
            panels.append(("ends bent by (mm)", list(zip(names, ends, looks, strict=False))))
    moved = found.tip - found.tip[0]
    seen = [k for k in range(3) if np.abs(moved[:, k]).max() > 1e-12]
    tip = [("xyz"[k], moved[:, k], {"color": COLOURS[k]}) for k in seen]
    start = found.energies["gravity"][0] if "gravity" in found.energies else 0.0
    energy: list[Line] = []
    for k, (name, value) in enumerate(found.energies.items()):
        if np.abs(value).max() > 0:  # of gravity only the change has a meaning
            entry = ("gravity from start", value - start) if name == "gravity" else (name, value)
            energy.append((*entry, looks[k]))
    energy.append(("total", found.energy - start, {"color": QUIET}))
    slides = [slide for _, slide in architecture_of(model.robot).motors]
    joints: list[Line] = []
    for k, name in enumerate(chain.motors):
        colour = COLOURS[k % len(COLOURS)]
        shown = 1.0 if slides[k] else np.degrees(1.0)
        joints.append((name, shown * found.theta[:, k], {"color": colour}))
        if found.reference is not None:
            look = {"color": colour, "ls": "--", "lw": 1.0, "alpha": 0.7}
            joints.append((f"{name} wanted", shown * found.reference[:, k], look))
    efforts: list[Line] = [
        (name, found.tau[:, k], {"ls": ("-", "--", "-.", ":")[k % 4], "drawstyle": "steps-post"})
        for k, name in enumerate(chain.motors)
    ]
    units = ("deg", "N m") if not any(slides) else ("deg and m", "N m and N")
    units = ("m", "N") if all(slides) else units
    rest = [
        (f"joints ({units[0]})", joints),
        ("tip moved by (m)", tip),
        (f"effort ({units[1]})", efforts),
        ("energy (J)", energy),
    ]
    rest = rest if model.joints else rest[1::2]
    return panels + rest + _measured_panels(found)


def _measured_panels(found: Response) -> list[tuple[str, list[Line]]]:
    """A panel for each of the first measured outputs, one line for each of its entries."""
    panels: list[tuple[str, list[Line]]] = []
    for name, values in list(found.outputs.items())[:MOST]:
        columns = values.reshape(len(found.t), -1)
        lines: list[Line] = []
        for k, column in enumerate(columns.T[: len(COLOURS)]):
            label = f"{k + 1}"
            if columns.shape[1] in (1, 3):  # one value, or a vector
                label = name if columns.shape[1] == 1 else "xyz"[k]
            lines.append((label, column, {"color": COLOURS[k], "lw": 1.1}))
        panels.append((f"{name}, measured", lines))
    return panels


def plot_link_shapes(
    model: Model, path: str | Path | None = None, title: str | None = None
) -> Figure:
    """Draw the shapes of every link over its length, as [DeLuca1991], Figs. 2-4, draws them.

    Deflections in x-y, or where a link bends in x-z alone in that plane, divided by its length.
    """
    import matplotlib.pyplot as plt

    bent = [link for link in model.chain.links if link.shapes is not None and link.inv.count]
    if not bent:
        raise SuppleError(
            "no link of this model has shapes of its own to draw: build it with AssumedModes or "
            "FiniteElements, and links that do not slide"
        )
    # Links made to one description, as in the legs of a Delta, have the same shapes.
    family = architecture_of(model.robot)
    bent = list({id(family.part_of_segment(link.name)): link for link in reversed(bent)}.values())[
        ::-1
    ]
    bent = bent[:MAX_SHAPES]
    with house_style():
        figure, axes = plt.subplots(
            1, len(bent), figsize=(3.6 * len(bent), 2.8), squeeze=False, layout="constrained"
        )
        for ax, link in zip(axes.flat, bent, strict=True):
            assert link.shapes is not None
            x = np.linspace(0, 1, 201)
            plane = "xy" if "xy" in link.shapes.kinds else "xz"
            v = link.shapes.at(x * link.inv.length)[:, 1 if plane == "xy" else 2]
            own = [k for k, kind in enumerate(link.shapes.kinds) if kind == plane]
            for number, j in enumerate(own, 1):
                ax.plot(x, v[:, j] / link.inv.length, label=f"mode {number}")
            ax.axhline(0, color=QUIET, lw=0.6)
            ax.set(xlabel=f"{link.name}, x / length", ylabel="shape / length")
            if ax.get_lines()[1:]:
                ax.legend(**LEGEND)
        figure.suptitle(title or model.robot.name, fontsize=9)
    return finish(figure, path)
