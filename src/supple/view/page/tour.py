"""The tour as a page: one chapter a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...papers.cells import MEANING
from ...papers.tour import Stop
from ..scene.scene import modes_scene
from .page import Chapter, Table, save_page
from .reports import report

__all__ = ["save_tour", "stop_table"]

PER_LINK = 1000  # instants of a motion over its links, so that the page stays small
TELLING = ("Tip", "Deflection of the ends", "Position error", "Torques")  # plots of a motion

LEAD = (
    "Robots are usually computed as if their links were rigid. Real links bend, so a light or fast "
    "arm shakes after every move. supple computes how: at which frequencies, in which shapes, and "
    "how both change with the posture.",
    "Below are four robots from published papers. Drag a picture to turn it; click it and scroll, "
    "or pinch, to zoom. Pick a mode to see how the robot shakes (drawn much larger than it is); "
    "drag a slider to move the robot. Under each robot, our numbers stand beside those the paper "
    "printed.",
)


def save_tour(stops: Sequence[Stop], folder: str | Path) -> Path:
    """Write index.html into a folder and return its path."""
    chapters = []
    for stop in stops:
        columns, rows = stop_table(stop)
        tables = [Table(stop.table, columns, rows, stop.note)]
        if stop.tally:
            counts = [(verdict, count, MEANING[verdict]) for verdict, count in stop.tally.items()]
            heads = ("verdict", "numbers>", "meaning")
            tables.append(Table("All that was recomputed", heads, counts))
        short = stop.title.removeprefix("A ").removeprefix("An ").capitalize()
        scene = modes_scene(stop.found, stop.nearby)
        chapters.append(Chapter(stop.title, short, stop.text, scene, tuple(tables)))
        if stop.motion is not None:
            words, run = stop.motion
            (drawn,) = report(run, samples=PER_LINK // len(scene.links)).chapters
            title = f"{stop.title}, moving"
            short = f"{short}, moving"
            plots = [plot for plot in drawn.plots if plot.title in TELLING]
            moving = replace(drawn, title=title, short=short, text=(words,), plots=plots)
            chapters.append(moving)
    return save_page(Path(folder) / "index.html", "supple: robots whose links bend", chapters, LEAD)


def stop_table(stop: Stop) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return columns and rows of our numbers beside the paper's."""
    columns: tuple[str, ...] = ("", "paper>", "supple>", "unit", "verdict")
    rows = [
        (row.quantity, row.printed, f"{row.ours:.7g}", row.unit, row.verdict) for row in stop.rows
    ]
    if not any(row.right for row in stop.rows):
        return columns, list(rows)
    right = [f"{row.right:.7g}" if row.right else "" for row in stop.rows]
    columns = ("", "paper>", "its model, by supple>", "unit", "verdict", "right model>")
    return columns, [(*row, value) for row, value in zip(rows, right, strict=True)]
