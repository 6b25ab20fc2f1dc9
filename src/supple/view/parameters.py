"""Parameters of a robot as sliders: any number of its file, by its path."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..arguments import brief, number
from ..editing import as_plain_data
from ..errors import SuppleError
from ..robot import Robot
from ..values import unit_of

__all__ = ["Parameter", "numbers_of", "parameter", "usual_parameters"]

WIDTH = 2.0  # a slider runs from a half of the value to twice the value unless it is told
STEPS = 200  # of a slider at least
MOST_USUAL = 4  # sliders that are there without being asked for
# What a designer changes first, and what is next
USUAL_KEYS = (("wall",), ("stiffness",), ("thickness", "diameter", "depth"))
SHOWN_UNITS = {"m": ("mm", 1e3), "rad": ("°", 180 / math.pi), "Pa": ("GPa", 1e-9)}


@dataclass(frozen=True)
class Parameter:
    """One number of a robot's file: its path, its value in SI, and the ends of its slider in SI."""

    path: str
    value: float
    low: float
    high: float

    @property
    def unit(self) -> tuple[str, float]:
        """Unit in which it is shown, and the factor from SI to it."""
        own = unit_of(self.path.rpartition(".")[2]) or ""
        return SHOWN_UNITS.get(own, (own, 1.0))

    @property
    def label(self) -> str:
        """Path without what all paths begin with, and the unit."""
        unit = self.unit[0]
        return self.path.removeprefix("links.") + (f" ({unit})" if unit else "")

    @property
    def step(self) -> float:
        """Step of its slider in SI, a round number in its unit."""
        factor = self.unit[1]
        width = factor * (self.high - self.low) / STEPS
        return float(10.0 ** math.floor(math.log10(width))) / factor


def numbers_of(robot: Robot) -> dict[str, float]:
    """Return every positive number of a robot's file by its path; lists of numbers are left out.

    A section that links share is there once for itself and once for each of them: a change of the
    latter gives that link a section of its own.
    """
    found: dict[str, float] = {}
    data = dict(as_plain_data(robot))
    data.pop("supple", None)

    def look(part: Any, path: str) -> None:
        if isinstance(part, Mapping):
            for key, value in part.items():
                shared = data.get("sections", {}) if key == "section" else {}
                named = isinstance(value, str) and value in shared
                look(shared[value] if named else value, f"{path}.{key}" if path else str(key))
        elif isinstance(part, list):
            for k, value in enumerate(part):
                if isinstance(value, Mapping):
                    look(value, f"{path}.{value.get('name', k)}")
        elif isinstance(part, int | float) and not isinstance(part, bool) and part > 0:
            found[path] = float(part)

    look(data, "")
    return found


def parameter(robot: Robot, path: str, ends: Any = None) -> Parameter:
    """Return a number of a robot's file as a slider, from a half of it to twice unless told."""
    numbers = numbers_of(robot)
    if path not in numbers:
        from ..faults import nearest

        suggestion = nearest(path, list(numbers))
        hint = (
            f"did you mean '{suggestion}'?"
            if suggestion
            else "give a path such as links.NAME.section.wall"
        )
        raise SuppleError(f"'{path}' is no positive number of {robot.name}: {hint}")
    value = numbers[path]
    if ends is None:
        return Parameter(path, value, value / WIDTH, value * WIDTH)
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise SuppleError(f"{path} is {brief(ends)}: give the ends of its slider, (low, high)")
    low, high = (number(0, above=True)(path, end) for end in ends)
    if not low < high:
        raise SuppleError(f"{path} runs from {low:g} to {high:g}: give the lower end first")
    return Parameter(path, value, min(low, value), max(high, value))


def usual_parameters(robot: Robot) -> tuple[Parameter, ...]:
    """Return the few parameters that a designer changes first: walls, then joint stiffnesses."""
    every = list(numbers_of(robot))
    paths = [path for path in every if not path.startswith("sections.")] or every
    for keys in USUAL_KEYS:
        found = [path for path in paths if path.rpartition(".")[2] in keys]
        if found:
            return tuple(parameter(robot, path) for path in found[:MOST_USUAL])
    return ()
