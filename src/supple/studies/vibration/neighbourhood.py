"""How does it vibrate nearby: the modes along each coordinate through a pose, one at a time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...architectures.base import NEARLY_SINGULAR, Coordinate
from ...architectures.kinds import architecture_of
from ...errors import PoseWarning, SuppleError
from ...robot import Robot
from .modes import Modes, modes
from .shapes import Shapes

__all__ = ["Coordinate", "ModesAlongCoordinate", "around", "coordinates_of", "usual_pose"]

Array = NDArray[np.float64]
FREQUENCIES_PER_SHAPE = 4  # frequencies are asked at that many times more values than shapes


@dataclass(frozen=True)
class ModesAlongCoordinate:
    """Modes along one coordinate, the others as they are.

    Attributes
    ----------
    coordinate
        The one that runs.
    index
        Its place in the pose.
    at
        (V,), values with shapes.
    found
        The Modes at `at`.
    shapes
        One for each value.
    values
        (F,), `at` and values between.
    frequency_hz
        (F, modes).
    error
        Largest relative error of a frequency that is interpolated between two of `values`, evenly
        in its logarithm, seen half-way.
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
    """Return the coordinates of a robot's pose and the ranges worth showing."""
    return architecture_of(robot).coordinates()


def usual_pose(robot: Robot) -> dict[str, Array]:
    """Return a pose to begin with, for `modes`."""
    return architecture_of(robot).usual()


def around(here: Modes, count: int = 21, points: int = 13) -> Iterator[ModesAlongCoordinate]:
    """Yield the modes along each coordinate through the pose of `here`, with their shapes.

    `count` values of each coordinate have shapes at `points` stations a link; the pose itself is
    always one of them.
    """
    pose = here.theta if here.position is None else here.position
    if pose.ndim > 1:
        raise SuppleError("the neighbourhood is of one configuration: ask modes.at(b)")
    for index, coordinate in enumerate(coordinates_of(here.robot)):
        # Values that hold the pose's own and stay within reach
        own = pose[index]
        low = min(coordinate.low, own)
        high = max(coordinate.high, own)
        for _ in range(4):  # a reach with holes is cut at the first of them
            low, high = (_reach(here, pose, index, edge) for edge in (low, high))
            at = np.linspace(low, high, count)
            at[np.argmin(np.abs(at - own))] = own
            poses = np.repeat(pose[None], count, axis=0)
            poses[:, index] = at
            out = at[~_stands(here, poses)]
            if not len(out):
                break
            low = max([low, *(value for value in out if value < own)])
            high = min([high, *(value for value in out if value > own)])
        found = _ask(here, pose, index, at)
        shapes = tuple(found.at(b).shape(points) for b in range(len(at)))
        # `at` with each interval cut into equal parts
        steps = np.arange(FREQUENCIES_PER_SHAPE) / FREQUENCIES_PER_SHAPE
        inner = at[:-1, None] + np.diff(at)[:, None] * steps
        values = np.append(inner.ravel(), at[-1])
        hertz = _ask(here, pose, index, values).frequency_hz
        true = _ask(here, pose, index, (values[1:] + values[:-1]) / 2).frequency_hz
        guess = np.sqrt(hertz[1:] * hertz[:-1])
        error = float(np.max(np.abs(guess / true - 1)))
        yield ModesAlongCoordinate(coordinate, index, at, found, shapes, values, hertz, error)


def _ask(here: Modes, pose: Array, index: int, values: Array) -> Modes:
    """The question of `here` at other values of one coordinate.

    Between two poses that stand clear there may be one near a singular pose: nobody asked for it.
    """
    poses = np.repeat(pose[None], len(values), axis=0)
    poses[:, index] = values
    key = "theta" if here.position is None else "position"
    count = here.omega.shape[-1]
    method = here.method
    joints = here.joints
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoseWarning)
        return modes(
            here.robot,
            count=count,
            method=method,  # type: ignore[arg-type]
            joints=joints,
            gravity=here.gravity,
            **{key: poses},  # type: ignore[arg-type]
        )


def _reach(here: Modes, pose: Array, index: int, edge: float) -> float:
    """The farthest value towards `edge` that the robot reaches, 10 % short of the boundary."""
    inside = float(pose[index])
    outside = edge
    if _stands(here, _replace_coordinate(pose, index, edge))[0]:
        return edge
    for _ in range(20):
        middle = (inside + outside) / 2
        if _stands(here, _replace_coordinate(pose, index, middle))[0]:
            inside = middle
        else:
            outside = middle
    return float(pose[index] + 0.9 * (inside - pose[index]))


def _stands(here: Modes, poses: Array) -> NDArray[np.bool_]:
    """Whether the robot can stand at poses (B, k), and as far from singular ones as asked.

    Nobody asked for these poses: those near a singular one, whose frequencies the least error
    decides, are left out, unless the pose asked for is as near.
    """
    key = "theta" if here.position is None else "position"
    own = here.theta if here.position is None else here.position
    given: dict[str, Any] = {"theta": None, "position": None, key: np.vstack([poses, own])}
    found = architecture_of(here.robot).resolve(**given)
    good = np.asarray(found.reason == "")
    if found.clearance is not None:
        good &= found.clearance >= min(NEARLY_SINGULAR, float(found.clearance[-1]))
    return good[:-1]


def _replace_coordinate(pose: Array, index: int, value: float) -> Array:
    moved = pose[None].copy()
    moved[0, index] = value
    return moved
