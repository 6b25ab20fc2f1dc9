"""Numbers, places and tables as the summaries of answers write them.

Angles are written in degrees, displacements in millimetres, and what is nothing but rounding as
zero. A quantity that a user varies is written in the unit of its key: `links.link1.section.wall`
in metres, `theta.link2` in degrees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...values import unit_of
from ..wording import NO_MOTION_SHARE, motors_of, tidy

__all__ = [
    "DEGREES",
    "HERTZ",
    "MILLIMETRES",
    "batch_note",
    "configuration",
    "count_of",
    "effort_list",
    "labelled",
    "motions",
    "number",
    "numbers",
    "parameter_unit",
    "parameter_value",
    "place",
    "position",
    "table",
]

MOST_ROWS = 12  # of a table inside a summary
HERTZ = 1 / (2 * np.pi)  # Hz per rad/s
MILLIMETRES = 1e3  # mm per m
DEGREES = 180 / np.pi  # deg per rad
LARGEST_PLAIN = 1e7  # larger numbers are written with an exponent
NEGLIGIBLE = 1e-15  # smaller numbers are rounding whatever they measure
SHORT_LENGTH = 0.1  # m; shorter dimensions are written in millimetres
SHORTEST_SHARE = 1e-6  # of the longest coordinate of a position: smaller ones are written as 0


def number(value: float, digits: int = 5) -> str:
    """Return one number with a few digits; what is exactly or nearly nothing is 0."""
    plain = float(value)
    if abs(plain) < NEGLIGIBLE:
        return "0"
    rounded = f"{plain:.{digits}g}"
    if "e+" in rounded and abs(plain) < LARGEST_PLAIN:
        return f"{float(rounded):.0f}"
    return rounded


def numbers(values: Any, factor: float = 1.0, digits: int = 4) -> str:
    """Return a few numbers, those that are rounding of the largest as zero."""
    scaled = (factor * np.asarray(values, dtype=float)).ravel()
    return ", ".join(tidy(scaled.tolist(), digits))


def motions(values: Any, factor: float, beside: float = 0.0) -> str:
    """Return displacements or rotations, those of no account beside the largest as zero."""
    scaled = (factor * np.asarray(values, dtype=float)).ravel()
    return ", ".join(tidy(scaled.tolist(), 4, beside=factor * beside, share=NO_MOTION_SHARE))


def count_of(count: int, word: str) -> str:
    """Return `1 link`, `3 links`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def position(values: Any, digits: int = 5) -> str:
    """Return a position in metres; coordinates below a millionth of the longest are zero."""
    coordinates = np.asarray(values, dtype=float).ravel()
    longest = np.abs(coordinates).max(initial=0.0)
    rounded = np.where(np.abs(coordinates) < SHORTEST_SHARE * longest, 0.0, coordinates)
    return f"{numbers(rounded, digits=digits)} m"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, cut after MOST_ROWS rows.

    Columns are right-aligned, the last one to the left where it holds words.
    """
    every_row = [list(row) for row in rows]
    shown_rows = every_row[:MOST_ROWS]
    widths = [max(len(row[i]) for row in [list(header), *shown_rows]) for i in range(len(header))]
    last = len(header) - 1
    words_last = not all(_is_number(row[last]) for row in shown_rows)

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.ljust(width) if i == last and words_last else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return ("  " + "  ".join(aligned)).rstrip()

    lines = [line(header), *map(line, shown_rows)]
    if len(every_row) > MOST_ROWS:
        lines.append(f"  ... {len(every_row) - MOST_ROWS} more")
    return lines


def _is_number(cell: str) -> bool:
    """Whether a cell is one plain number, or a dash in its place."""
    return (cell.lstrip("+-")[:1].isdigit() and " " not in cell) or cell == "-"


def labelled(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return lines of labels and values, the values aligned."""
    present = [(label, value) for label, value in pairs if value]
    width = max((len(label) for label, _ in present), default=0)
    return [f"  {label:<{width}}  {value}" for label, value in present]


def configuration(robot: Any, theta: Any, platform: Any = None) -> str:
    """Return where the robot stands: platform in metres, or joints in degrees and metres."""
    if platform is not None and np.ndim(platform) == 1:
        return f"position {numbers(platform)} m"
    values = np.atleast_1d(np.asarray(theta, dtype=float))
    if values.size == 0:
        return "rest"
    slides = motors_of(robot)[1]
    words = [
        f"{number(value)} m" if sliding else f"{number(np.degrees(value))}°"
        for value, sliding in zip(values, slides, strict=True)
    ]
    return "theta " + ", ".join(words)


def batch_note(valid: Any) -> str:
    """Return how many rows of a batch have no answer, empty where all have one."""
    missing = int(np.size(valid)) - int(np.count_nonzero(valid))
    return f", {missing} of them without an answer (see .reason)" if missing else ""


def effort_list(robot: Any, efforts: Mapping[str, float]) -> str:
    """Return efforts of motors by name, each in its own unit: N m of a turn, N of a slide."""
    names, slides = motors_of(robot)
    units = {name: "N" if sliding else "N m" for name, sliding in zip(names, slides, strict=True)}
    used_units = {units.get(name, "N m") for name in efforts}
    if len(used_units) == 1:
        words = [f"{name} {number(effort, 4)}" for name, effort in efforts.items()]
        return f"{', '.join(words)} {used_units.pop()}"
    return ", ".join(
        f"{name} {number(effort, 4)} {units.get(name, 'N m')}" for name, effort in efforts.items()
    )


def parameter_unit(robot: Any, path: str) -> str:
    """Return the unit in which a varied quantity is written, empty where it has none."""
    room, _, last = path.rpartition(".")
    if room == "theta":
        names, slides = motors_of(robot)
        sliding = dict(zip(names, slides, strict=True)).get(last, False)
        return "m" if sliding else "deg"
    if room in ("", "position") and last in ("x", "y", "z"):
        return "m"
    unit = unit_of(last) or ""
    return "deg" if unit == "rad" else unit


def parameter_value(robot: Any, path: str, value: float, digits: int = 5) -> str:
    """Return the value of a varied quantity with its unit."""
    unit = parameter_unit(robot, path)
    if unit == "deg":
        return f"{number(np.degrees(value), digits)}°"
    if unit == "m" and 0 < abs(value) < SHORT_LENGTH:
        return f"{number(MILLIMETRES * value, digits)} mm"
    return f"{number(value, digits)} {unit}".rstrip()


def place(robot: Any, values: Mapping[str, float]) -> str:
    """Return a point among varied quantities: `theta.link2 = 30°, payload.mass = 2 kg`."""
    return ", ".join(
        f"{path} = {parameter_value(robot, path, value)}" for path, value in values.items()
    )
