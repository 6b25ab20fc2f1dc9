"""The families of robots: how each is lowered to a Tree, and how its poses are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..robot import (
    DeltaRobot,
    MechanismRobot,
    Robot,
    SerialRobot,
    cached_for_robot,
    need_robot,
)
from . import assembling, delta, delta_motion, inverses, posing, serial, serial_inverse
from .base import SINGULAR, TURN, Branch, Coordinate, JointSolution, Resolved
from .forms import Lowered, lower_arm, lower_delta, lower_mechanism
from .mobility import mobility, redundancy
from .tree import Kinematics, Tree

__all__ = [
    "FAMILIES",
    "DeltaKinematics",
    "GeneralKinematics",
    "RobotFamily",
    "SerialKinematics",
    "architecture_of",
    "lower",
    "tree_at_assembly",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SerialKinematics(Kinematics):
    """Closed form of one open chain of links."""

    takes_position: ClassVar[bool] = False
    open_chain: ClassVar[bool] = True

    @property
    def robot(self) -> SerialRobot:
        """The arm as it was described."""
        return cast("SerialRobot", self.tree.robot)

    def coordinates(self) -> tuple[Coordinate, ...]:
        """Joints: their limits, else -150 to 150 degrees, a tenth to the whole of a slide."""
        return tuple(
            _joint(link.name, link.joint.type == "prismatic", link.length, self.robot.limits(link))
            for link in self.robot.moving
        )

    def resolve(self, theta: ArrayLike | None, position: ArrayLike | None) -> Resolved:
        """Joint coordinates as given; None means zero."""
        if position is not None:
            name = self.robot.name
            raise SuppleError(f"position is for a Delta: {name} is a serial arm, give theta")
        angles, reason = serial.resolve(self.robot, theta)
        return Resolved(angles, angles, None, reason)

    @property
    def description(self) -> str:
        """Planar arm or serial robot, and its joints."""
        kind = "planar arm" if self.tree.planar else "serial robot"
        return f"a {kind} with {_count_words(len(self.robot.moving), 'joint')}"

    @property
    def reach(self) -> float:
        """All links and mounts end to end."""
        return serial_inverse.reach(self.robot, 0.0)

    def solve(self, P: Array, R: Array | None, start: ArrayLike | None) -> list[JointSolution]:
        """In closed form where there is one, else by search from several starts."""
        return inverses.solve_arm(self.robot, P, R, start)


def _joint(name: str, slides: bool, length: float | None, limits: Any) -> Coordinate:
    total = length or 1.0
    full_range = limits or ((0.1 * total, total) if slides else (-np.pi, np.pi))
    low, high = limits or (full_range if slides else (-TURN, TURN))
    word = f"length of {name}" if slides else f"joint of {name}"
    usual = total / 2 if slides else 0.0
    return Coordinate(word, "m" if slides else "rad", low, high, usual, name, full_range)


def _count_words(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


@dataclass(frozen=True, eq=False, repr=False)
class DeltaKinematics(Kinematics):
    """Closed form of three legs from a base to a platform, asked by its position."""

    asked_by: ClassVar[Literal["theta", "position"]] = "position"

    @property
    def robot(self) -> DeltaRobot:
        """The Delta as it was described."""
        return cast("DeltaRobot", self.tree.robot)

    def coordinates(self) -> tuple[Coordinate, ...]:
        """x, y, z of the platform: what the upper arms span, on the axis where legs reach."""
        reach = self.robot.upper.length or 1.0
        middle = self.robot.lower.length or 1.0
        sides = {"x": (-reach, reach), "y": (-reach, reach), "z": (0.1 * middle, reach + middle)}
        return tuple(
            Coordinate(f"platform {key}", "m", low, high, 0.0, key, (low, high))
            for key, (low, high) in sides.items()
        )

    def usual(self) -> dict[str, Array]:
        """A platform in reach on the robot's axis."""
        span = (self.robot.upper.length or 1.0) + (self.robot.lower.length or 1.0)
        for part in (0.6, 0.5, 0.7, 0.4, 0.8, 0.3):
            place = np.array([0.0, 0.0, part * span])
            if not self.resolve(None, place).reason[0]:
                return {"position": place}
        raise SuppleError(f"{self.robot.name}: no position on its axis is in reach; give one")

    def resolve(self, theta: ArrayLike | None, position: ArrayLike | None) -> Resolved:
        """The platform's position, or motor angles."""
        if (theta is None) == (position is None):
            raise SuppleError(
                f"{self.robot.name} is a Delta: give position=[x, y, z] of its platform, or its "
                "three motor angles theta"
            )
        at, reason = delta.resolve(self.robot, theta, position)
        clear = np.zeros(len(at))
        good = reason == ""
        clear[good] = delta.rods_clearance(self.robot, at[good]) if good.any() else 0.0
        return Resolved(at, at[:, 3:], at[:, :3], reason, clear)

    def reachable(self, poses: Array, word: str) -> NDArray[np.bool_]:
        """In reach, within the motors' limits, and not singular."""
        inside = delta.reachable(self.robot, poses)
        if inside.any():
            leg, platform = delta.singularity(self.robot, poses[inside])
            clear = np.abs(np.column_stack([leg, platform])) > SINGULAR
            inside[inside] = clear.all(axis=1)
        return inside

    @property
    def description(self) -> str:
        """A Delta and its motors."""
        return "a delta robot with 3 joints"

    @property
    def reach(self) -> float:
        """Its lowest place below the middle."""
        legs = (self.robot.upper.length or 0.0) + (self.robot.lower.length or 0.0)
        aside = self.robot.base_radius - self.robot.platform.radius
        return float(np.sqrt(max(legs**2 - aside**2, 0.0)))

    def solve(self, P: Array, R: Array | None, start: ArrayLike | None) -> list[JointSolution]:
        """In closed form; the platform does not turn."""
        if R is not None:
            raise SuppleError(
                "rotation is given: the platform of a Delta does not turn; leave it out"
            )
        return [inverses.solve_delta(self.robot, p, start) for p in P]

    def joint_motion(self, x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Motor angles along a motion of the platform."""
        return delta_motion.motion(self.robot, x, v, a).theta


@dataclass(frozen=True, eq=False, repr=False)
class GeneralKinematics(Kinematics):
    """Any tree of links with closures, shut by Newton's method."""

    def coordinates(self) -> tuple[Coordinate, ...]:
        """Motors: their limits, else 150 degrees to both sides of their start."""
        m = self.tree
        found = []
        usual = dict(zip(self.tree.form.motors, m.start[m.driven], strict=True))
        for link in self.tree.form.links:
            if link.joint.driven:
                slides = link.joint.type == "prismatic"
                start = float(usual[link.name])
                c = _joint(link.name, slides, link.length, link.joint.limits)
                if link.joint.limits is None and not slides:
                    low = start - TURN
                    high = start + TURN
                    c = Coordinate(c.name, c.unit, low, high, start, c.key, c.whole)
                start = c.usual if slides and start <= 0 else start
                found.append(Coordinate(c.name, c.unit, c.low, c.high, start, c.key, c.whole))
        for rod in m.rods:
            start = float(usual[rod.name])
            low = 0.8 * start
            high = 1.2 * start
            word = f"length of {rod.name}"
            found.append(Coordinate(word, "m", low, high, start, rod.name, (low, high)))
        return tuple(found)

    def resolve(self, theta: ArrayLike | None, position: ArrayLike | None) -> Resolved:
        """Motors as given, passive coordinates from the loops; or the tip's place."""
        if theta is not None and position is not None:
            raise SuppleError("theta and position are both given: give one of them")
        if position is None:
            x, reason, clear = assembling.resolve_with_clearance(self.tree, theta)
            return Resolved(x, x[:, self.tree.driven], None, reason, clear)
        x, reason = posing.inverse(self.tree, position)
        good = np.asarray(reason == "")
        clear = np.zeros(len(x))
        if good.any():
            clear[good] = self.tree.clearance(x[good])
        motors = x[:, self.tree.driven]
        motors[~good] = np.nan
        return Resolved(x, motors, None, reason, clear)

    def joint_motion(self, x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Its motors, before what stands beside them."""
        k = len(self.tree.form.motors)
        return x[:, :k], v[:, :k], a[:, :k]

    def branch(self, theta: Array, first: Array | None = None) -> Branch:
        """Whole configurations, of mechanisms with loops."""
        m = self.tree
        if not m.loops or not len(m.joints.passive):
            return super().branch(theta)
        x, reached = assembling.follow_branch(m, theta, first)
        return Branch(x, reached, m.clearance(x[:reached]) if reached else np.zeros(0))

    def reachable(self, poses: Array, word: str) -> NDArray[np.bool_]:
        """Assembled, not singular, and within the limits of all joints, passive ones too."""
        theta, position = (poses, None) if word == "theta" else (None, poses)
        found = self.resolve(theta, position)
        inside = np.asarray(found.reason == "")
        for k, c in enumerate(self.tree.joints.coordinates):
            limits = self.tree.form.links[c.link].joint.limits
            if limits is not None:
                inside &= (found.at[:, k] >= limits[0]) & (found.at[:, k] <= limits[1])
        return inside

    @property
    def description(self) -> str:
        """Its links, loops, motors, and the rows that repeat what others hold."""
        m = self.tree
        kind = "planar mechanism" if self.tree.planar else "mechanism"
        words = f"a {kind} of {_count_words(len(self.tree.form.links), 'link')}"
        words += (
            f" with {_count_words(len(m.loops), 'loop')} and {_count_words(len(m.driven), 'motor')}"
        )
        x, reason = assembling.resolve(self.tree, self.usual()["theta"])
        if reason[0]:
            return f"{words}; at its start {reason[0]}"
        for name, rows, repeated in redundancy(m, x[0]):
            if repeated:
                words += f"; {repeated} of the {_count_words(rows, 'row')} of {name} repeat what "
                words += "joints and other closures hold already, which does no harm"
        motions, loose = mobility(m, x[0])
        if motions != len(m.driven) or loose:
            words += f"; it can move in {_count_words(motions, 'way')}, {loose} of them with its "
            words += "motors held"
        return words

    def solve(self, P: Array, R: Array | None, start: ArrayLike | None) -> list[JointSolution]:
        """By Newton's method from its start."""
        turns = [None] * len(P) if R is None else list(R)
        return [
            inverses.solve_tree(self.tree, p, turn, start) for p, turn in zip(P, turns, strict=True)
        ]


class RobotFamily(NamedTuple):
    """How robots of one description become Trees.

    Attributes
    ----------
    lower : callable
        From a description to its normal form.
    kinematics : type[Kinematics]
        How poses are found; Newton's method unless there is a closed form.
    """

    lower: Callable[[Any], Lowered]
    kinematics: type[Kinematics] = GeneralKinematics


FAMILIES: dict[type[Robot], RobotFamily] = {
    SerialRobot: RobotFamily(lower_arm, SerialKinematics),
    DeltaRobot: RobotFamily(lower_delta, DeltaKinematics),
    MechanismRobot: RobotFamily(lower_mechanism),
}


def lower(robot: Robot) -> Tree:
    """Return the Tree of a robot, made once: what everything behind the description asks."""
    if type(robot) not in FAMILIES:  # asked often: a look at an abstract class costs more
        need_robot(robot)
    return cached_for_robot(robot, "tree", _make_tree, robot)


architecture_of = lower


def _make_tree(robot: Robot) -> Tree:
    family = next((FAMILIES[kind] for kind in type(robot).__mro__ if kind in FAMILIES), None)
    if family is None:
        known = ", ".join(kind.__name__ for kind in FAMILIES)
        raise SuppleError(
            f"{type(robot).__name__} is no family that is known: there are {known}; give it a line "
            "in architectures.kinds.FAMILIES"
        )
    return Tree(robot, family.lower(robot), family.kinematics)


def tree_at_assembly(robot: Robot, position: ArrayLike | None = None) -> Tree:
    """Return a robot as a tree whose joints start where it is assembled.

    A Delta's joints follow from its platform's position, by default a usual one; of other robots it
    is their Tree, whose joints have a start of their own.
    """
    tree = lower(robot)
    if not isinstance(robot, DeltaRobot):
        return tree
    if position is None:
        return cached_for_robot(
            robot, "assembled tree", _assembled_delta, robot, tree.usual()["position"]
        )
    return _assembled_delta(robot, position)


def _assembled_delta(robot: DeltaRobot, position: ArrayLike) -> Tree:
    at, reason = delta.resolve(robot, None, position)
    if len(at) != 1 or reason[0]:
        raise SuppleError(reason[0] or "give one position to assemble a Delta at")
    posed = lower_delta(robot, at[0, :3], delta.inverse(robot, at[0, :3])[0])
    return Tree(robot, posed, GeneralKinematics)
