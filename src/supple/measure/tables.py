"""Measured tables: columns by name, their units, and what kind of measurement they are.

    frequencies   theta.LINK, frequency_hz; optional mode, pose, damping_ratio, sigma_hz
    response      frequency_hz, input, output, real, imag; optional coherence, theta.LINK
    motion        t, tau.LINK, theta.LINK and outputs by name
    statics       theta.LINK, force.x .. moment.z, tip.x .. tip.rz; optional sigma

Any other column that is a path of the robot file is a known condition of its row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import brief
from ..errors import SuppleError
from ..files.measurements import read_measurements
from ..robot import Robot
from ..studies.design.varied import Varied, coordinate_names

__all__ = ["KINDS", "MeasuredTable", "Places", "load_tables"]

Array = NDArray[np.float64]
KINDS = ("frequencies", "response", "motion", "statics")
UNITS = {
    "deg": math.pi / 180,
    "rad": 1.0,
    "mm": 1e-3,
    "m": 1.0,
    "s": 1.0,
    "ms": 1e-3,
    "hz": 1.0,
    "khz": 1e3,
    "rad/s": 1 / (2 * math.pi),
    "nm": 1.0,
    "n m": 1.0,
    "n": 1.0,
    "kg": 1.0,
    "g": 9.80665,
    "m/s2": 1.0,
    "m/s^2": 1.0,
}
MOST_TURNS = 4 * math.pi  # rad beyond which an angle of a joint is surely in degrees


@dataclass(frozen=True)
class MeasuredTable:
    """One table: where it came from, its kind, its columns in SI, and what was passed over."""

    name: str
    kind: str
    columns: Mapping[str, Any]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def numbers(self, name: str) -> Array:
        """Return a column of numbers, finite ones."""
        values = self.columns[name]
        if isinstance(values, list):
            raise SuppleError(f"{self.name}: column '{name}' holds words: give numbers")
        bad = ~np.isfinite(values)
        if bad.any():
            row = int(np.flatnonzero(bad)[0]) + 1
            raise SuppleError(f"{self.name}: column '{name}' is not a number in row {row}")
        return np.asarray(values, float)


def load_tables(data: Any, kind: str | None) -> list[MeasuredTable]:
    """Return the tables of files, mappings, or a list of them."""
    if kind is not None and kind not in KINDS:
        raise SuppleError(f"kind is {brief(kind)}: it must be one of {', '.join(KINDS)}")
    if isinstance(data, list | tuple):
        if not data:
            raise SuppleError("data is an empty list: give a file or a mapping of columns")
        return [table for each in data for table in load_tables(each, kind)]
    if isinstance(data, MeasuredTable):
        return [data]
    if isinstance(data, str | PathLike):
        name = str(data)
        raw = read_measurements(data)
    elif isinstance(data, Mapping):
        name = "the data"
        raw = _plain_columns(data)
    elif hasattr(data, "to_dict") and hasattr(data, "columns"):  # a pandas table
        name = "the data"
        raw = _plain_columns({str(c): data[c].tolist() for c in data.columns})
    else:
        raise SuppleError(
            f"data is {brief(data)}: give a CSV file, a mapping of columns, or a list of them"
        )
    columns = _in_si(name, raw)
    sizes = {key: len(values) for key, values in columns.items()}
    if len(set(sizes.values())) != 1:
        sizes_listed = ", ".join(f"{key} {size}" for key, size in sizes.items())
        raise SuppleError(f"{name}: columns differ in length ({sizes_listed:.120})")
    if not next(iter(sizes.values())):
        raise SuppleError(f"{name} has no rows")
    return [MeasuredTable(name, kind or _kind_of(name, columns), columns)]


def _plain_columns(data: Mapping[Any, Any]) -> dict[str, Any]:
    """Columns of a mapping: numbers as arrays, words as lists; one value is repeated."""
    columns: dict[str, Any] = {}
    length = max((len(v) for v in data.values() if np.ndim(v) == 1), default=1)
    for key, values in data.items():
        word = str(key)
        if word == "theta" and np.ndim(values) == 2:
            raise SuppleError("column 'theta' has two axes: give one column for each joint")
        repeated = isinstance(values, str) or np.ndim(values) == 0
        column = [values] * length if repeated else list(values)
        if all(isinstance(value, str) for value in column):
            columns[word] = column
            continue
        try:
            columns[word] = np.array([math.nan if v is None else v for v in column], float)
        except (TypeError, ValueError, OverflowError):
            raise SuppleError(f"column '{word}' holds {brief(values)}: give numbers") from None
    if not columns:
        raise SuppleError("data is an empty mapping: give columns of measurements")
    return columns


def _in_si(name: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Columns without units in their names, values in SI."""
    columns: dict[str, Any] = {}
    for key, values in raw.items():
        found = re.fullmatch(r"(.*?)\s*\[\s*(.*?)\s*\]", key)
        word = key
        factor = 1.0
        if found:
            word = found.group(1)
            unit = found.group(2).lower()
            if unit not in UNITS:
                raise SuppleError(
                    f"{name}: column '{key}' has the unit '{unit}': known are {', '.join(UNITS)}"
                )
            factor = UNITS[unit]
        elif word.startswith("theta.") and word.endswith("_deg"):
            word = word.removesuffix("_deg")
            factor = UNITS["deg"]
        columns[word] = values if isinstance(values, list) else factor * values
    return columns


def _kind_of(name: str, columns: Mapping[str, Any]) -> str:
    """Which kind of measurement columns are."""
    if "frequency_hz" in columns:
        if {"real", "imag"} <= columns.keys():
            return "response"
        return "frequencies"
    if "t" in columns or "time" in columns:
        return "motion"
    loads = any(key.startswith(("force.", "moment.")) for key in columns)
    if loads or any(key.startswith("tip.") for key in columns):
        return "statics"
    raise SuppleError(
        f"{name} has the columns {', '.join(columns):.160}: a table of frequencies has "
        "frequency_hz, of responses frequency_hz, input, output, real and imag, of motion t, of "
        "statics force.x or moment.z and tip.x; or give kind="
    )


@dataclass(frozen=True)
class Places:
    """Where, and under which known conditions, the rows of a table were measured.

    Attributes
    ----------
    pose
        (rows,) number of each row's place.
    coordinates
        (poses, n) theta or position.
    by_position
        Which of the two.
    conditions
        For each pose the paths that are known there.
    """

    pose: NDArray[np.int64]
    coordinates: Array
    by_position: bool
    conditions: tuple[tuple[tuple[str, float], ...], ...]

    @classmethod
    def of(
        cls,
        table: MeasuredTable,
        robot: Robot,
        theta: Sequence[float] | None,
        known: Sequence[str],
    ) -> tuple[Places, list[str]]:
        """Read coordinates and conditions of a table; return them and the columns passed over.

        `known`: columns that mean something else.
        """
        names = coordinate_names(robot)
        by_position = any(key.startswith("position.") for key in table.columns)
        axes = ("x", "y", "z") if by_position else names
        head = "position" if by_position else "theta"
        start = np.zeros(len(axes))
        if theta is not None:
            start = np.asarray(theta, float)
            if start.shape != (len(axes),):
                raise SuppleError(
                    f"theta is {brief(theta)}: {robot.name} needs {len(axes)} coordinates"
                )
        at = np.tile(start, (len(table), 1))
        passed_over: list[str] = []
        conditions: dict[str, Array] = {}
        for key in table.columns:
            first, _, rest = key.partition(".")
            if first in ("theta", "position"):
                if first != head or rest not in axes:
                    allowed = ", ".join(f"{head}.{axis}" for axis in axes) or "none"
                    raise SuppleError(
                        f"{table.name}: column '{key}' is no coordinate of {robot.name}; it has "
                        f"{allowed}"
                    )
                values = table.numbers(key)
                if head == "theta" and np.abs(values).max(initial=0.0) > MOST_TURNS:
                    raise SuppleError(
                        f"{table.name}: '{key}' goes up to {np.abs(values).max():.4g} rad, more "
                        f"than two turns: if these are degrees, name the column '{key} [deg]'"
                    )
                at[:, axes.index(rest)] = values
            elif key not in known:
                if _is_path(robot, key):
                    conditions[key] = table.numbers(key)
                else:
                    passed_over.append(key)
        rows = [tuple(row) for row in at]
        keys = []
        for k, row in enumerate(rows):
            keys.append((row, tuple((path, float(v[k])) for path, v in conditions.items())))
        distinct = list(dict.fromkeys(keys))
        number = {key: k for k, key in enumerate(distinct)}
        pose = np.array([number[key] for key in keys])
        coordinates = np.array([key[0] for key in distinct]).reshape(len(distinct), len(axes))
        return cls(pose, coordinates, by_position, tuple(key[1] for key in distinct)), passed_over

    def batches(self) -> dict[tuple[tuple[str, float], ...], NDArray[np.int64]]:
        """Return the poses that share conditions, by these."""
        found: dict[tuple[tuple[str, float], ...], list[int]] = {}
        for k, condition in enumerate(self.conditions):
            found.setdefault(condition, []).append(k)
        return {key: np.array(poses) for key, poses in found.items()}

    def where(self, poses: Any) -> dict[str, Array]:
        """Return coordinates as `modes` and others take them."""
        return {"position" if self.by_position else "theta": self.coordinates[poses]}

    def describe(self, pose: int, robot: Robot) -> str:
        """Return a pose in words."""
        names = ("x", "y", "z") if self.by_position else coordinate_names(robot)
        unit = 1.0 if self.by_position else 180 / math.pi
        parts = [
            f"{name} {unit * x:.4g}{' m' if self.by_position else ' deg'}"
            for name, x in zip(names, self.coordinates[pose], strict=True)
        ]
        parts += [f"{path} {value:g}" for path, value in self.conditions[pose]]
        return ", ".join(parts) or "its only pose"


def _is_path(robot: Robot, key: str) -> bool:
    """Whether a column names a number of the robot file."""
    if "." not in key:
        return False
    try:
        Varied.of(robot, [key]).value(key)
    except SuppleError:
        try:
            robot.with_(key, 1.0)
        except SuppleError:
            return False
    return True
