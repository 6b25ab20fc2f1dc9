"""Tables of Denavit-Hartenberg parameters, read as a rigid robot to be made flexible."""

from __future__ import annotations

import csv
import math
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..errors import SuppleError
from ..robot import SerialRobot
from ..values import parse_angle
from .data import checked_lines, read_bytes

__all__ = ["read_dh_table"]

MOST_BYTES = 1_000_000
LENGTHS = ("a", "d")
ANGLES = ("alpha", "theta")
FORM = "a CSV file with the columns a, d, alpha, theta, and optionally name and mass"


def read_dh_table(
    path: str | PathLike[str], convention: str = "standard", gravity: Any = (0.0, 0.0, -9.81)
) -> SerialRobot:
    """Return the rigid robot of a table of Denavit-Hartenberg rows.

    Parameters
    ----------
    path : path
        CSV file: columns `a`, `d` in metres, `alpha`, `theta` in radians (or `alpha [deg]`, or
        cells such as 90deg), in any order; `name` of the link and its `mass` in kg if known.
    convention : {"standard", "modified"}
        Convention of the rows; modified is Craig's.
    """
    if convention not in ("standard", "modified"):
        raise SuppleError(f"convention is {convention!r}: it must be standard or modified")
    place = fspath(path)
    try:
        raw = read_bytes(place, MOST_BYTES + 1)
    except OSError as problem:
        raise SuppleError(f"{place} cannot be read: {problem.strerror or problem}") from None
    if len(raw) > MOST_BYTES:
        raise SuppleError(f"{place} holds more than {MOST_BYTES // 1000} kB: give {FORM}")
    try:
        rows = [row for row in csv.reader(checked_lines(raw)) if any(cell.strip() for cell in row)]
    except (UnicodeDecodeError, csv.Error, ValueError) as problem:
        raise SuppleError(f"{place} is no CSV file: {problem}; give {FORM}") from None
    if len(rows) < 2:
        raise SuppleError(f"{place} has no row below its header: give {FORM}")
    columns = _columns(place, rows[0])
    links: list[Any] = []
    for number, cells in enumerate(rows[1:], 1):
        if len(cells) != len(rows[0]):
            raise SuppleError(
                f"{place}: row {number} has {len(cells)} cells, the header has {len(rows[0])}"
            )
        values = {key: cells[index].strip() for key, (index, _) in columns.items()}
        row: dict[str, Any] = {"convention": convention}
        for key in LENGTHS:
            row[key] = _number(place, number, key, values.get(key, "0"))
        for key in ANGLES:
            degrees = columns[key][1] if key in columns else False
            row[key] = _angle(place, number, key, values.get(key, "0"), degrees)
        mass = _number(place, number, "mass", values.get("mass", "0"))
        links.append(
            {
                "name": values.get("name") or f"link{number}",
                "joint": {"type": "revolute", "dh": row},
                "theory": "rigid",
                "body": {"mass": mass},
            }
        )
    return SerialRobot(name=Path(place).stem or "arm", gravity=gravity, links=tuple(links))


def _columns(place: str, header: list[str]) -> dict[str, tuple[int, bool]]:
    """Where each known column stands, and whether it is in degrees."""
    columns = {}
    for index, cell in enumerate(header):
        word, _, unit = cell.strip().lower().partition("[")
        columns[word.strip()] = (index, unit.strip(" ]") == "deg")
    missing = [key for key in (*LENGTHS, *ANGLES) if key not in columns]
    if len(missing) > 2:
        raise SuppleError(f"{place}: the header is '{','.join(header):.60}': give {FORM}")
    return columns


def _number(place: str, row: int, key: str, cell: str) -> float:
    try:
        value = float(cell or 0)
    except ValueError:
        raise SuppleError(f"{place}: row {row}, {key} is '{cell:.40}': give a number") from None
    if not math.isfinite(value):
        raise SuppleError(f"{place}: row {row}, {key} is '{cell:.40}': give a finite number")
    return value


def _angle(place: str, row: int, key: str, cell: str, degrees: bool) -> float:
    if degrees:
        return math.radians(_number(place, row, key, cell))
    try:
        return float(parse_angle(cell or "0"))
    except ValueError:
        raise SuppleError(
            f"{place}: row {row}, {key} is '{cell:.40}': give radians, or 90deg"
        ) from None
