"""Architecture: what studies, views and commands may ask of a family of robots."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import PoseWarning
from ..robot import Elastic, Joint, Motor, Robot

__all__ = [
    "NEAR",
    "SINGULAR",
    "Architecture",
    "Branch",
    "Coordinate",
    "Drive",
    "Hanging",
    "Resolved",
    "Solved",
    "clearance",
    "warn_near",
]

Array = NDArray[np.float64]
TURN = np.radians(150)
# Clearance below which a pose is singular, or near it. A link that lacks the part e of its length
# misses being in line by the angle sqrt(2 e): robots are not made to 1e-6 of their lengths (steel
# warmed by a tenth of a degree), and most to no better than 1e-4.
SINGULAR, NEAR = float(np.sqrt(2e-6)), float(np.sqrt(2e-4))


def clearance(J: Array) -> Array:
    """Return how well closures hold each of z motions, (B, z), descending from 1; 0 is not held.

    The singular values over the largest of their derivative J (B, r, z) over these motions.
    """
    held = np.zeros((len(J), J.shape[2]))
    values = np.linalg.svd(J, compute_uv=False)
    held[:, : values.shape[1]] = values / np.maximum(values[:, :1], 1e-300)
    return held


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of a pose: a motor of an arm or a mechanism, x, y, z of a Delta's platform.

    Attributes:
        name: as one reads it.  unit: "rad" or "m".  low, high: the range shown.  usual: a value to
        begin with.  key: the link's or closure's name, or x, y, z.  whole: all that it can do.
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

    Attributes:
        at: (B, ..), what `structure_of` takes.  theta: (B, motors).  position: (B, 3) of a Delta's
        platform, else None.  reason: (B,), why there is none, empty where there is one.
        clearance: (B,), how far loops are from singular, 0 to 1; None where there are no loops.
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
    near = (found.reason == "") & (found.clearance < NEAR)
    if not near.any():
        return
    b = int(np.argmin(np.where(near, found.clearance, np.inf)))
    at = found.theta[b] if found.position is None else found.position[b]
    place = f"{'theta' if found.position is None else 'position'} {np.round(at, 6).tolist()}"
    count = f" ({int(near.sum())} of {len(near)} poses are)" if len(near) > 1 else ""
    warnings.warn(
        f"{robot.name} at {place} is near a singular pose{count}: its loops hold it "
        f"{found.clearance[b]:.1g} times as well as at best, so that errors of 1e-4 of its lengths "
        "decide its frequencies, sag and efforts; ask farther away",
        PoseWarning,
        stacklevel=stacklevel,
    )


class Drive(NamedTuple):
    """What moves one entry of theta.

    Attributes:
        name: of the motor.  slides: whether it is a length.  made: limits, damping, friction, rotor
        and spring.  segment: whose root it moves, "" for a rod between two.  axis: (6,), the force
        and moment at that root, link axes, that the motor holds.  also: the same of joints that
        follow it, times as much as they move.
    """

    name: str
    slides: bool
    made: Joint | Motor
    segment: str = ""
    axis: Array = np.zeros(6)
    also: tuple[tuple[str, Array], ...] = ()

    def effort(self, carried: Mapping[str, Array]) -> float:
        """Return what it holds, given force and moment (6,) that every root carries, by name."""
        each = ((self.segment, self.axis), *self.also)
        return sum(float(axis @ carried[segment]) for segment, axis in each)


class Hanging(NamedTuple):
    """How segments hang together.

    Attributes:
        parents: which one carries each, -1 for the ground.  tip: which one has the tip.  plates:
        rigid bodies to draw, each by the segments that it holds and at which end, 0 or -1.
    """

    parents: tuple[int, ...]
    tip: int
    plates: tuple[tuple[list[int], int], ...] = ()


class Branch(NamedTuple):
    """Where loops stand along a motion.

    Attributes:
        x: (K, w), from which each is found again; w = 0 where theta says all.  reached: how many.
        clearance: (K,), of those that were reached, how far they are from singular, 0 to 1.
    """

    x: Array
    reached: int
    clearance: Array


class Solved(NamedTuple):
    """Theta for one pose of the tip, see `JointSolutions`.

    Attributes:
        theta: (motors,), the best.  solutions: (S, motors), nearest to the start first.
        position_error, rotation_error: m and rad, at theta.  reached: whether it is met.
        method: in words.  tries: (T, motors).  try_errors: (T,).
    """

    theta: Array
    solutions: Array
    position_error: float
    rotation_error: float
    reached: bool
    method: str
    tries: Array
    try_errors: Array


@dataclass(frozen=True)
class Architecture(ABC):
    """A family of robots, asked about one of them. Every kind has these duties:

    1. `asked_by`: the word, theta or position, by which a pose is usually given;
       `takes_position`: whether a position may be given at all
    2. `planar`: whether it moves in x-y only; `open_chain`: whether it is one, link after link
    3. `coordinates()`: name, unit, range and usual value of each coordinate of a pose
    4. `resolve(theta, position)`: whole configurations, and why there is none
    5. `parts()`: its elastic parts by their paths in the file
    6. `described(name)`: the part behind a segment of its Structure
    7. `usual()`: a pose to begin with
    8. `reachable(poses, word)`: which poses of a grid it may stand at
    9. `hangs(names)`, `up`: how it hangs together, where its tip is, how it stands on a page
    10. `told`, `reach`, `load`: what `supple check` says of it, how far its tip comes, what it
        carries
    11. `drives`: what moves each entry of theta; `motors`: their names and whether they slide
    12. `outstretched`: theta at which links that slide are all the way out
    13. `joint_motion(x, v, a)`: theta and its rates along a motion
    14. `solve(P, R, start)`: theta that puts the tip at poses, for `inverse`
    15. `branch(theta)`: where loops stand along a motion of the motors, on one branch
    """

    robot: Any
    asked_by: ClassVar[Literal["theta", "position"]] = "theta"
    takes_position: ClassVar[bool] = True
    open_chain: ClassVar[bool] = False

    @property
    def planar(self) -> bool:
        """Whether it moves in x-y only: as the file says; a Delta never does."""
        return bool(getattr(self.robot, "planar", False))

    @property
    def inside(self) -> str:
        """What frequencies of a planar robot are about, in words; of one in space nothing."""
        return " in the x-y plane" if self.planar else ""

    @abstractmethod
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Return the coordinates of a pose and the ranges worth showing."""

    @abstractmethod
    def resolve(self, theta: ArrayLike | None, position: ArrayLike | None) -> Resolved:
        """Return the configurations at theta or position, (k,) or (B, k)."""

    def parts(self) -> Mapping[str, Elastic]:
        """Return the beams by their paths in the robot file."""
        return {f"links.{link.name}": link for link in self.robot.links}

    def described(self, name: str) -> Elastic | None:
        """Return the part behind a segment of the Structure, None for a body.

        A link may be cut into link@place.
        """
        parts = self.parts()
        return parts.get(f"links.{name}", parts.get(f"links.{name.rpartition('@')[0]}"))

    @abstractmethod
    def hangs(self, names: tuple[str, ...]) -> Hanging:
        """Return how segments of these names hang together."""

    @property
    @abstractmethod
    def told(self) -> str:
        """What it is, in words, for `supple check`."""

    @property
    @abstractmethod
    def drives(self) -> tuple[Drive, ...]:
        """What moves each entry of theta."""

    @property
    def reach(self) -> float | None:
        """How far the tip may come from the base, m; None where it is not known."""
        return None

    @property
    def load(self) -> tuple[str, float] | None:
        """Path and mass, kg, of what the tip carries: the payload, else the last link's body."""
        robot: Any = self.robot
        if robot.payload is not None and robot.payload.mass:
            return "payload.mass", robot.payload.mass
        for link in reversed(robot.links):
            if link.tip is not None and link.tip.mass:
                return f"links.{link.name}.tip.mass", link.tip.mass
        return None

    @property
    def outstretched(self) -> Array | None:
        """Theta (motors,) with links that slide at their ends; None where loops decide."""
        return None

    @property
    def up(self) -> tuple[float, ...]:
        """Which way is up on a page: against gravity, where there is any."""
        robot: Robot = self.robot
        g = np.asarray(robot.gravity)
        if self.planar:
            return (0.0, 1.0, 0.0)
        size = float(np.linalg.norm(g))
        return tuple((-g / size).tolist()) if size else (0.0, 0.0, 1.0)

    @property
    def motors(self) -> tuple[tuple[str, bool], ...]:
        """Name and whether it slides of each entry of theta."""
        return tuple((drive.name, drive.slides) for drive in self.drives)

    @abstractmethod
    def solve(self, P: Array, R: Array | None, start: ArrayLike | None) -> list[Solved]:
        """Return theta that puts the tip at places P (B, 3), with axes R (B, 3, 3) if given."""

    def joint_motion(self, x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Return theta (B, motors) and its rates along a motion as `moving_structure` takes it."""
        return x, v, a

    def branch(self, theta: Array, first: Array | None = None) -> Branch:
        """Return where loops stand as the motors go through theta (K, motors), kept on one branch.

        That of `first` (w,), or where `resolve` finds the robot at the first of them.
        """
        return Branch(np.zeros((len(theta), 0)), len(theta), np.ones(len(theta)))

    def usual(self) -> dict[str, Array]:
        """Return a pose to begin with, for `modes`."""
        return {self.asked_by: np.array([c.usual for c in self.coordinates()])}

    def reachable(self, poses: Array, word: str) -> NDArray[np.bool_]:
        """Return which poses (B, k) of a grid, given as theta or position, it may stand at."""
        return np.ones(len(poses), bool)
