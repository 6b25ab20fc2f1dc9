"""How does it vibrate nearby: the modes along each coordinate through a pose, one at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...architectures.delta import inverse
from ...errors import SuppleError
from ...robot import DeltaRobot, Robot, SerialRobot
from .modes import Modes, modes
from .shapes import Shapes

__all__ = ["Around", "Coordinate", "around", "coordinates_of", "usual_pose"]

Array = NDArray[np.float64]
TURN = math.radians(150)
FINE = 4  # frequencies are asked at that many times more values than shapes


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of a pose: a joint of a serial arm or x, y, z of a Delta's platform.

    Attributes:
        name: as one reads it.  unit: "rad" or "m".  low, high: the range shown.
    """

    name: str
    unit: str
    low: float
    high: float


@dataclass(frozen=True)
class Around:
    """Modes along one coordinate, the others as they are.

    Attributes:
        coordinate: the one that runs.  index: its place in the pose.  at: (V,), values with shapes.
        found: the Modes at `at`.  shapes: one for each value.  values: (F,), `at` and values
        between.  frequency_hz: (F, modes).  error: largest relative error of a frequency that is
        interpolated between two of `values`, evenly in its logarithm, seen half-way.
    """

    coordinate: Coordinate
    index: int
    at: Array
    found: Modes
    shapes: tuple[Shapes, ...]
    values: Array
    frequency_hz: Array
    error: float


def coordinates_of(robot: Robot) -> tuple[Coordinate, ...]:
    """Return the coordinates of a robot's pose and the ranges worth showing.

    The range is the joint's limits where they are given, else -150 to 150 degrees, a tenth to the
    whole of a sliding link, and what the upper arms of a Delta span.
    """
    if isinstance(robot, DeltaRobot):
        reach = robot.upper.length or 1.0
        middle = robot.lower.length or 1.0
        wide = [Coordinate(name, "m", -reach, reach) for name in ("platform x", "platform y")]
        return (*wide, Coordinate("platform z", "m", 0.1 * middle, reach + middle))
    if not isinstance(robot, SerialRobot):
        raise SuppleError(f"{type(robot).__name__} is not an architecture known here")
    found = []
    for link in robot.moving:
        slides, total = link.joint.type == "prismatic", link.length or 1.0
        low, high = (0.1 * total, total) if slides else (-TURN, TURN)
        low, high = link.joint.limits or (low, high)
        name = f"length of {link.name}" if slides else f"joint of {link.name}"
        found.append(Coordinate(name, "m" if slides else "rad", low, high))
    return tuple(found)


def usual_pose(robot: Robot) -> dict[str, Array]:
    """Return a pose to begin with, for `modes`: zeros, slides at half, a platform in reach."""
    if isinstance(robot, SerialRobot):
        slides = [link.joint.type == "prismatic" for link in robot.moving]
        half = [(link.length or 1.0) / 2 for link in robot.moving]
        return {"theta": np.where(slides, half, 0.0)}
    assert isinstance(robot, DeltaRobot)
    span = (robot.upper.length or 1.0) + (robot.lower.length or 1.0)
    for part in (0.6, 0.5, 0.7, 0.4, 0.8, 0.3):
        if _reachable(robot, place := np.array([0.0, 0.0, part * span])):
            return {"position": place}
    raise SuppleError(f"{robot.name}: no position on its axis is in reach; give one")


def around(here: Modes, count: int = 21, points: int = 13) -> Iterator[Around]:
    """Yield the modes along each coordinate through the pose of `here`, with their shapes.

    `count` values of each coordinate have shapes at `points` stations a link; the pose itself is
    always one of them.
    """
    pose = here.theta if here.position is None else here.position
    if pose.ndim > 1:
        raise SuppleError("the neighbourhood is of one configuration: ask modes.at(b)")
    for index, coordinate in enumerate(coordinates_of(here.robot)):
        at = _values(here, pose, index, coordinate, count)
        found = _ask(here, pose, index, at)
        shapes = tuple(found.at(b).shape(points) for b in range(len(at)))
        values = _between(at, FINE)
        hertz = _ask(here, pose, index, values).frequency_hz
        error = _error(here, pose, index, values, hertz)
        yield Around(coordinate, index, at, found, shapes, values, hertz, error)


def _ask(here: Modes, pose: Array, index: int, values: Array) -> Modes:
    """The question of `here` at other values of one coordinate."""
    poses = np.repeat(pose[None], len(values), axis=0)
    poses[:, index] = values
    key = "theta" if here.position is None else "position"
    count, method, joints = here.omega.shape[-1], here.method, here.joints
    return modes(here.robot, count=count, method=method, joints=joints, **{key: poses})  # type: ignore[arg-type]


def _values(here: Modes, pose: Array, index: int, along: Coordinate, count: int) -> Array:
    """Values that hold the pose's own and stay within reach."""
    low, high, own = min(along.low, pose[index]), max(along.high, pose[index]), pose[index]
    if here.position is not None:
        low, high = (_reach(here, pose, index, edge) for edge in (low, high))
    spread = np.linspace(low, high, count)
    spread[np.argmin(np.abs(spread - own))] = own
    return spread


def _reach(here: Modes, pose: Array, index: int, edge: float) -> float:
    """The farthest value towards `edge` that the legs reach, 10 % short of the boundary."""
    inside, outside = float(pose[index]), edge
    if _reachable(here.robot, _moved(pose, index, edge)):
        return edge
    for _ in range(20):
        middle = (inside + outside) / 2
        if _reachable(here.robot, _moved(pose, index, middle)):
            inside = middle
        else:
            outside = middle
    return float(pose[index] + 0.9 * (inside - pose[index]))


def _moved(pose: Array, index: int, value: float) -> Array:
    moved = pose.copy()
    moved[index] = value
    return moved


def _reachable(robot: Robot, position: Array) -> bool:
    assert isinstance(robot, DeltaRobot)
    try:
        inverse(robot, position)
    except SuppleError:
        return False
    return True


def _between(at: Array, parts: int) -> Array:
    """`at` with each interval cut into equal parts."""
    steps = np.arange(parts) / parts
    inner = at[:-1, None] + np.diff(at)[:, None] * steps
    return np.append(inner.ravel(), at[-1])


def _error(here: Modes, pose: Array, index: int, values: Array, hertz: Array) -> float:
    true = _ask(here, pose, index, (values[1:] + values[:-1]) / 2).frequency_hz
    guess = np.sqrt(hertz[1:] * hertz[:-1])
    return float(np.max(np.abs(guess / true - 1)))
