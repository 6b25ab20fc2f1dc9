"""What the studio asks: a robot as the reader set it, and its modes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import architecture_of
from ...errors import SuppleError
from ...robot import Robot
from ...studies.vibration.modes import Modes, modes
from ...studies.vibration.neighbourhood import Coordinate, coordinates_of
from ...studies.vibration.shapes import COINCIDENT

__all__ = [
    "AS_GIVEN",
    "MOST_MODES",
    "THEORIES",
    "StudioQuestion",
    "ask",
    "frequencies_along",
    "only",
    "slider_to_si",
    "sliders",
]

Array = NDArray[np.float64]
AS_GIVEN = "as given"
THEORIES = (AS_GIVEN, "timoshenko", "euler-bernoulli", "inextensible")
MOST_MODES = 30


@dataclass(frozen=True)
class StudioQuestion:
    """All the reader can set. `pose`: radians, metres, or the platform's place; payload in kg.

    `changes`: paths of the robot's file and their values, SI.
    """

    robot: Robot
    pose: tuple[float, ...] | Array
    theory: str = AS_GIVEN
    count: int = 6
    payload: float | None = None
    joints: str = "locked"
    changes: tuple[tuple[str, float], ...] = ()


def ask(question: StudioQuestion) -> Modes:
    """Return the modes asked for; bad entries raise a sentence."""
    if not 1 <= question.count <= MOST_MODES:
        raise SuppleError(
            f"number of modes is {question.count}: give a whole number from 1 to {MOST_MODES}"
        )
    choice: dict[str, Any] = {
        architecture_of(question.robot).asked_by: question.pose,
        "joints": question.joints,
    }
    # The robot with theory and payload as set
    robot = question.robot
    changes: dict[str, Any] = dict(question.changes)
    if question.theory != AS_GIVEN:
        # Paths of the links that bend
        parts = architecture_of(robot).parts()
        bending = [path for path, link in parts.items() if not link.rigid]
        changes |= {f"{path}.theory": question.theory for path in bending}
    own = robot.payload.mass if robot.payload is not None else 0.0
    if question.payload is not None and question.payload != own:
        if robot.payload is None:
            changes["payload"] = {"mass": question.payload}
        else:
            changes["payload.mass"] = question.payload
    return modes(robot.with_(changes) if changes else robot, count=question.count, **choice)


def frequencies_along(question: StudioQuestion, k: int, values: Array) -> Array:
    """Return frequencies (F, count), Hz, at values of coordinate k; NaN out of reach."""
    poses = np.repeat(np.asarray(question.pose)[None], len(values), axis=0)
    poses[:, k] = values
    try:
        return ask(replace(question, pose=poses)).frequency_hz
    except SuppleError:
        if len(values) == 1:
            return np.full((1, question.count), np.nan)
    return np.concatenate(
        [frequencies_along(question, k, values[i : i + 1]) for i in range(len(values))]
    )


def only(found: Modes, mode: int) -> tuple[Modes, int]:
    """Return one mode with those that coincide with it, and its place among them.

    Its shape alone costs a fraction of all shapes.
    """
    coincident = np.flatnonzero(np.abs(found.omega / found.omega[mode] - 1) <= 2 * COINCIDENT)
    part = replace(found, omega=found.omega[coincident], width=found.width[coincident])
    return part, int(np.flatnonzero(coincident == mode)[0])


def sliders(robot: Robot) -> tuple[Coordinate, ...]:
    """Return the coordinates to slide, angles in degrees."""
    return tuple(
        replace(c, unit="°", low=math.degrees(c.low), high=math.degrees(c.high))
        if c.unit == "rad"
        else c
        for c in coordinates_of(robot)
    )


def slider_to_si(value: float, unit: str) -> float:
    """Return a slider's value in SI units."""
    return math.radians(value) if unit == "°" else value
