"""What a lowered robot is asked and answers: poses, drives, branches of loops."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import PoseWarning, SuppleError
from ..robot import Motor, Robot

__all__ = [
    "NEARLY_SINGULAR",
    "SINGULAR",
    "Branch",
    "Coordinate",
    "JointSolution",
    "MotorDrive",
    "Resolved",
    "SegmentConnections",
    "clearance",
    "rows_of_angles",
    "warn_near",
]

Array = NDArray[np.float64]
TURN = np.radians(150)
# Clearance below which a pose is singular, or near it. A link that lacks the part e of its length
# misses being in line by the angle sqrt(2 e): robots are not made to 1e-6 of their lengths (steel
# warmed by a tenth of a degree), and most to no better than 1e-4.
SINGULAR = float(np.sqrt(2e-6))
NEARLY_SINGULAR = float(np.sqrt(2e-4))


def rows_of_angles(theta: ArrayLike, width: int, wanted: str) -> Array:
    """Return theta as (B, width); a sentence says what is `wanted` where it is none."""
    try:
        given = np.atleast_2d(np.asarray(theta, float))
    except (TypeError, ValueError):
        raise SuppleError(f"theta is not an array of numbers: give {wanted}") from None
    if given.ndim != 2 or given.shape[1] != width:
        raise SuppleError(f"theta has {given.shape[-1]} entries: give {wanted}")
    return given


def clearance(J: Array) -> Array:
    """Return how well closures hold each of z motions, (B, z), descending from 1; 0 is not held.

    The singular values over the largest of their derivative J (B, r, z) over these motions.
    """
    relative = np.zeros((len(J), J.shape[2]))
    values = np.linalg.svd(J, compute_uv=False)
    relative[:, : values.shape[1]] = values / np.maximum(values[:, :1], 1e-300)
    return relative


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of a pose: a motor of an arm or a mechanism, x, y, z of a Delta's platform.

    Attributes
    ----------
    name
        As one reads it.
    unit
        "rad" or "m".
    low, high
        The range shown.
    usual
        A value to begin with.
    key
        The link's or closure's name, or x, y, z.
    whole
        All that it can do.
    """

    name: str
    unit: str
    low: float
    high: float
    usual: float = 0.0
    key: str = ""
    whole: tuple[float, float] = (-np.pi, np.pi)


@dataclass(frozen=True)
class Resolved:
    """Configurations as asked.

    Attributes
    ----------
    at
        (B, ..), what `structure_of` takes.
    theta
        (B, motors).
    position
        (B, 3) of a Delta's platform, else None.
    reason
        (B,), why there is none, empty where there is one.
    clearance
        (B,), how far loops are from singular, 0 to 1; None where there are no loops.
    """

    at: Array
    theta: Array
    position: Array | None
    reason: NDArray[np.object_]
    clearance: Array | None = None


def warn_near(robot: Robot, found: Resolved, stacklevel: int = 5) -> None:
    """Warn once of configurations that are near a singular one."""
    if found.clearance is None or not len(found.clearance):
        return
    is_near = (found.reason == "") & (found.clearance < NEARLY_SINGULAR)
    if not is_near.any():
        return
    b = int(np.argmin(np.where(is_near, found.clearance, np.inf)))
    at = found.theta[b] if found.position is None else found.position[b]
    place = f"{'theta' if found.position is None else 'position'} {np.round(at, 6).tolist()}"
    count = f" ({int(is_near.sum())} of {len(is_near)} poses are)" if len(is_near) > 1 else ""
    warnings.warn(
        f"{robot.name} at {place} is near a singular pose{count}: its loops hold it "
        f"{found.clearance[b]:.1g} times as well as at best, so that errors of 1e-4 of its lengths "
        "decide its frequencies, sag and efforts; ask farther away",
        PoseWarning,
        stacklevel=stacklevel,
    )


class MotorDrive(NamedTuple):
    """What moves one entry of theta.

    Attributes
    ----------
    name
        Of the motor.
    slides
        Whether it is a length.
    made
        Limits, damping, friction, rotor and spring.
    segment
        Whose root it moves, "" for a rod between two.
    axis
        (6,), the force and moment at that root, link axes, that the motor holds.
    also
        The same of joints that follow it, times as much as they move.
    """

    name: str
    slides: bool
    made: Motor
    segment: str = ""
    axis: Array = np.zeros(6)
    also: tuple[tuple[str, Array], ...] = ()

    def effort(self, carried: Mapping[str, Array]) -> float:
        """Return what it holds, given force and moment (6,) that every root carries, by name."""
        each = ((self.segment, self.axis), *self.also)
        return sum(float(axis @ carried[segment]) for segment, axis in each)


class SegmentConnections(NamedTuple):
    """How segments hang together.

    Attributes
    ----------
    parents
        Which one carries each, -1 for the ground.
    tip
        Which one has the tip.
    plates
        Rigid bodies to draw, each by the segments that it holds and at which end, 0 or -1.
    """

    parents: tuple[int, ...]
    tip: int
    plates: tuple[tuple[list[int], int], ...] = ()


class Branch(NamedTuple):
    """Where loops stand along a motion.

    Attributes
    ----------
    x
        (K, w), from which each is found again; w = 0 where theta says all.
    reached
        How many.
    clearance
        (K,), of those that were reached, how far they are from singular, 0 to 1.
    """

    x: Array
    reached: int
    clearance: Array


class JointSolution(NamedTuple):
    """Theta for one pose of the tip, see `JointSolutions`.

    Attributes
    ----------
    theta
        (motors,), the best.
    solutions
        (S, motors), nearest to the start first.
    position_error, rotation_error
        m and rad, at theta.
    reached
        Whether it is met.
    method
        In words.
    tries
        (T, motors).
    try_errors
        (T,).
    """

    theta: Array
    solutions: Array
    position_error: float
    rotation_error: float
    reached: bool
    method: str
    tries: Array
    try_errors: Array
