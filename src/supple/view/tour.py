"""The tour as a page: one chapter a robot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..studies.tour import Stop
from .page import Chapter, Table, save_page
from .reports import panels
from .scene import modes_scene
from .scenes import response_scene

__all__ = ["save_tour"]

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
    chapters = [part for stop in stops for part in _chapters(stop)]
    return save_page(Path(folder) / "index.html", "supple: robots whose links bend", chapters, LEAD)


def _chapters(stop: Stop) -> list[Chapter]:
    if stop.run is None:
        return [_chapter(stop)]
    words = (
        "The same robot while its motors push for half a second, pull back, and let go. The links "
        "are drawn as they bend, not larger. Drag the time, or slow it down.",
    )
    title = f"{stop.title}, moving"
    motion = Chapter(title, title, words, response_scene(stop.run), plots=panels(stop.run))
    return [_chapter(stop), motion]


def _chapter(stop: Stop) -> Chapter:
    rows = [
        (row.quantity, row.printed, f"{row.ours:.7g}", row.unit, row.verdict) for row in stop.rows
    ]
    columns = ("", "paper>", "supple>", "unit", "verdict")
    tables = [Table(stop.table, columns, rows, stop.note)]
    if stop.tally:
        counts = [tuple(entry.split(" ", 1)[::-1]) for entry in stop.tally]
        tables.append(Table("The whole paper recomputed", ("verdict", "numbers>"), counts))
    return Chapter(
        stop.title,
        stop.title.removeprefix("A ").removeprefix("An ").capitalize(),
        stop.text,
        modes_scene(stop.found, stop.nearby),
        tuple(tables),
    )
