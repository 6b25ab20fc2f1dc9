"""The families of robots: what each answers to the duties of an Architecture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..robot import (
    DeltaRobot,
    Elastic,
    Joint,
    JointedLink,
    MechanismRobot,
    Mimic,
    Motor,
    Robot,
    SerialRobot,
    need_robot,
)
from . import assembling, delta, delta_motion, inverses, posing, serial, serial_inverse
from .base import SINGULAR, TURN, Architecture, Branch, Coordinate, Drive, Hanging, Resolved, Solved
from .mobility import mobility, redundancy

__all__ = ["Delta", "Mechanism", "Serial", "architecture_of", "outstretched"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Serial(Architecture):
    """One open chain of links."""

    robot: SerialRobot
    takes_position: ClassVar[bool] = False
    open_chain: ClassVar[bool] = True

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

    def hangs(self, names: tuple[str, ...]) -> Hanging:
        """Each link hangs on the one before."""
        return Hanging(tuple(range(-1, len(names) - 1)), len(names) - 1)

    @property
    def told(self) -> str:
        """Planar arm or serial robot, and its joints."""
        kind = "planar arm" if self.planar else "serial robot"
        return f"a {kind} with {_counted(len(self.robot.moving), 'joint')}"

    @property
    def reach(self) -> float:
        """All links and mounts end to end."""
        return serial_inverse.reach(self.robot, 0.0)

    @property
    def drives(self) -> tuple[Drive, ...]:
        """Every joint with a coordinate, its limits narrowed by those that follow it."""
        if self.robot.coupling is None:
            return tuple(_drive(link, link.joint) for link in self.robot.moving)
        found = []
        for link in self.robot.moving:
            made = link.joint.model_copy(update={"limits": self.robot.limits(link)})
            found.append(_drive(link, made)._replace(also=_led(link.name, self.robot.jointed)))
        return tuple(found)

    def solve(self, P: Array, R: Array | None, start: ArrayLike | None) -> list[Solved]:
        """In closed form where there is one, else by search from several starts."""
        return inverses.solve_arm(self.robot, P, R, start)

    @property
    def outstretched(self) -> Array:
        """Joints at zero, links that slide out to their ends, or as far as those that follow."""
        out = outstretched(self.robot.links)
        return np.array([out[link.name] for link in self.robot.moving])


def outstretched(links: Sequence[JointedLink]) -> dict[str, float]:
    """Return where joints stand with links that slide out to their ends, others at zero."""
    slides = {link.name: link.joint.type == "prismatic" for link in links}
    out = {link.name: (link.length or 0.0) * slides[link.name] for link in links}
    for link in links:
        mimic: Mimic | None = getattr(link.joint, "mimic", None)
        if mimic is not None and slides[link.name] and mimic.multiplier > 0:
            most = ((link.length or 0.0) - mimic.offset) / mimic.multiplier
            out[mimic.joint] = min(out[mimic.joint], most)
    return out


def _led(name: str, links: Sequence[JointedLink]) -> tuple[tuple[str, Array], ...]:
    """The links whose joints follow that of another one, and their motions beside its own."""
    each = [(link, getattr(link.joint, "mimic", None)) for link in links]
    return tuple(
        (link.name, mimic.multiplier * _drive(link, Motor()).axis)
        for link, mimic in each
        if mimic is not None and mimic.joint == name
    )


def _drive(link: JointedLink, made: Joint | Motor) -> Drive:
    """The joint of a link: it pushes where it slides, and turns elsewhere."""
    slides, zero = link.joint.type == "prismatic", np.zeros(3)
    axis = [link.joint.direction, zero] if slides else [zero, link.joint.direction]
    return Drive(link.name, slides, made, link.name, np.concatenate(axis))


def _joint(name: str, slides: bool, length: float | None, limits: Any) -> Coordinate:
    total = length or 1.0
    whole = limits or ((0.1 * total, total) if slides else (-np.pi, np.pi))
    low, high = limits or (whole if slides else (-TURN, TURN))
    word = f"length of {name}" if slides else f"joint of {name}"
    usual = total / 2 if slides else 0.0
    return Coordinate(word, "m" if slides else "rad", low, high, usual, name, whole)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class Delta(Architecture):
    """Three legs from a base to a platform, asked by its position."""

    robot: DeltaRobot
    asked_by: ClassVar[Literal["theta", "position"]] = "position"

    def coordinates(self) -> tuple[Coordinate, ...]:
        """x, y, z of the platform: what the upper arms span, on the axis where legs reach."""
        reach, middle = self.robot.upper.length or 1.0, self.robot.lower.length or 1.0
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
        clear, good = np.zeros(len(at)), reason == ""
        clear[good] = delta.rods_clearance(self.robot, at[good]) if good.any() else 0.0
        return Resolved(at, at[:, 3:], at[:, :3], reason, clear)

    def parts(self) -> Mapping[str, Elastic]:
        """Upper arms and lower links."""
        return {"upper": self.robot.upper, "lower": self.robot.lower}

    def described(self, name: str) -> Elastic | None:
        """upper1, lower2a, ..; the platform is a body."""
        return self.parts().get(name.rstrip("ab").rstrip("123"))

    def reachable(self, poses: Array, word: str) -> NDArray[np.bool_]:
        """In reach, within the motors' limits, and not singular."""
        inside = delta.reachable(self.robot, poses)
        if inside.any():
            leg, platform = delta.singularity(self.robot, poses[inside])
            clear = np.abs(np.column_stack([leg, platform])) > SINGULAR
            inside[inside] = clear.all(axis=1)
        return inside

    def hangs(self, names: tuple[str, ...]) -> Hanging:
        """Rods hang on the upper arm before them; the platform comes last."""
        uppers = [i for i, name in enumerate(names) if name.startswith("upper")]
        ground = names.index("foundation") if "foundation" in names else -1
        parents = tuple(
            max(k for k in uppers if k < i) if name.startswith("lower") else min(ground, i - 1)
            for i, name in enumerate(names)
        )
        plates = (uppers, 0), ([i for i, name in enumerate(names) if name.startswith("lower")], -1)
        return Hanging(parents, len(names) - 1, plates)

    @property
    def up(self) -> tuple[float, ...]:
        """Against gravity, where there is any; z points down."""
        return super().up if any(self.robot.gravity) else (0.0, 0.0, -1.0)

    @property
    def told(self) -> str:
        """A Delta and its motors."""
        return "a delta robot with 3 joints"

    @property
    def load(self) -> tuple[str, float] | None:
        """The payload, else the platform."""
        payload = self.robot.payload
        if payload is not None and payload.mass:
            return "payload.mass", payload.mass
        return "platform.mass", self.robot.platform.mass

    @property
    def reach(self) -> float:
        """Its lowest place below the middle."""
        legs = (self.robot.upper.length or 0.0) + (self.robot.lower.length or 0.0)
        aside = self.robot.base_radius - self.robot.platform.radius
        return float(np.sqrt(max(legs**2 - aside**2, 0.0)))

    @property
    def drives(self) -> tuple[Drive, ...]:
        """Three alike, each turns its upper arm about y."""
        y = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
        return tuple(
            Drive(f"upper{leg}", False, self.robot.motor, f"upper{leg}", y) for leg in (1, 2, 3)
        )

    def solve(self, P: Array, R: Array | None, start: ArrayLike | None) -> list[Solved]:
        """In closed form; the platform does not turn."""
        if R is not None:
            raise SuppleError(
                "rotation is given: the platform of a Delta does not turn; leave it out"
            )
        return [inverses.solve_delta(self.robot, p, start) for p in P]

    def joint_motion(self, x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Motor angles along a motion of the platform."""
        return delta_motion.motion(self.robot, x, v, a).theta


@dataclass(frozen=True)
class Mechanism(Architecture):
    """A tree of links with closures."""

    robot: MechanismRobot

    @cached_property
    def geometry(self) -> assembling.Mechanism:
        """Its tree and loops."""
        return assembling.mechanism_of(self.robot)

    def coordinates(self) -> tuple[Coordinate, ...]:
        """Motors: their limits, else 150 degrees to both sides of their start."""
        m, found = self.geometry, []
        usual = dict(zip(self.robot.motors, m.start[m.driven], strict=True))
        for link in self.robot.links:
            if link.joint.driven:
                slides, start = link.joint.type == "prismatic", float(usual[link.name])
                c = _joint(link.name, slides, link.length, link.joint.limits)
                if link.joint.limits is None and not slides:
                    low, high = start - TURN, start + TURN
                    c = Coordinate(c.name, c.unit, low, high, start, c.key, c.whole)
                start = c.usual if slides and start <= 0 else start
                found.append(Coordinate(c.name, c.unit, c.low, c.high, start, c.key, c.whole))
        for rod in m.rods:
            start = float(usual[rod.name])
            low, high = 0.8 * start, 1.2 * start
            word = f"length of {rod.name}"
            found.append(Coordinate(word, "m", low, high, start, rod.name, (low, high)))
        return tuple(found)

    def resolve(self, theta: ArrayLike | None, position: ArrayLike | None) -> Resolved:
        """Motors as given, passive coordinates from the loops; or the tip's place."""
        if theta is not None and position is not None:
            raise SuppleError("theta and position are both given: give one of them")
        if position is None:
            x, reason = assembling.resolve(self.robot, theta)
        else:
            x, reason = posing.inverse(self.geometry, position)
        clear, good, motors = np.zeros(len(x)), reason == "", x[:, self.geometry.driven]
        clear[good] = self.geometry.clearance(x[good]) if good.any() else 0.0
        if position is not None:
            motors[~good] = np.nan
        return Resolved(x, motors, None, reason, clear)

    def joint_motion(self, x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Its motors, before what stands beside them."""
        k = len(self.robot.motors)
        return x[:, :k], v[:, :k], a[:, :k]

    def branch(self, theta: Array, first: Array | None = None) -> Branch:
        """Whole configurations, of mechanisms with loops."""
        m = self.geometry
        if not m.loops or not len(m.tree.passive):
            return super().branch(theta)
        x, reached = assembling.along(m, theta, first)
        return Branch(x, reached, m.clearance(x[:reached]) if reached else np.zeros(0))

    @property
    def outstretched(self) -> Array | None:
        """Motors of an open tree at their start, slides that have none out to their ends."""
        if self.robot.closures:
            return None
        theta, whole = (
            self.geometry.start[self.geometry.driven].copy(),
            outstretched(self.robot.links),
        )
        for k, name in enumerate(self.robot.motors):
            joint = next(link.joint for link in self.robot.links if link.name == name)
            if joint.type == "prismatic" and "start" not in joint.model_fields_set:
                theta[k] = whole[name]
        return theta

    def reachable(self, poses: Array, word: str) -> NDArray[np.bool_]:
        """Assembled, not singular, and within the limits of all joints, passive ones too."""
        theta, position = (poses, None) if word == "theta" else (None, poses)
        found = self.resolve(theta, position)
        inside = np.asarray(found.reason == "")
        for k, c in enumerate(self.geometry.tree.coordinates):
            limits = self.robot.links[c.link].joint.limits
            if limits is not None:
                inside &= (found.at[:, k] >= limits[0]) & (found.at[:, k] <= limits[1])
        return inside

    def hangs(self, names: tuple[str, ...]) -> Hanging:
        """As in the tree; parts of a link hang on one another."""
        own = {link.name: i for i, link in enumerate(self.robot.links)}
        last: dict[str, int] = {}
        out = []
        for i, name in enumerate(names):
            link = name if name in own else name.rpartition("@")[0]
            parent = self.robot.parents[own[link]] if link in own else -1
            before = self.robot.links[parent].name if parent >= 0 else "foundation"
            out.append(last.get(link, last.get(before, -1)))
            last[link] = i
        return Hanging(tuple(out), last[self.robot.links[self.robot.tip_index].name])

    @property
    def told(self) -> str:
        """Its links, loops, motors, and the rows that repeat what others hold."""
        m, kind = self.geometry, "planar mechanism" if self.planar else "mechanism"
        words = f"a {kind} of {_counted(len(self.robot.links), 'link')}"
        words += f" with {_counted(len(m.loops), 'loop')} and {_counted(m.motors, 'motor')}"
        x, reason = assembling.resolve(self.robot, self.usual()["theta"])
        if reason[0]:
            return f"{words}; at its start {reason[0]}"
        for name, rows, repeated in redundancy(m, x[0]):
            if repeated:
                words += f"; {repeated} of the {_counted(rows, 'row')} of {name} repeat what "
                words += "joints and other closures hold already, which does no harm"
        motions, loose = mobility(m, x[0])
        if motions != m.motors or loose:
            words += f"; it can move in {_counted(motions, 'way')}, {loose} of them with its "
            words += "motors held"
        return words

    @property
    def drives(self) -> tuple[Drive, ...]:
        """Driven joints, then driven rods, which have nothing of their own."""
        driven = [link for link in self.robot.links if link.joint.driven]
        motors = [
            Motor(
                stiffness=None if link.joint.stiffness is None else link.joint.stiffness[0],
                rotor_inertia=link.joint.rotor_inertia,
                gear=link.joint.gear,
                bearing=link.joint.bearing,
                damping=link.joint.damping[0],
                friction=link.joint.friction[0],
                limits=link.joint.limits,
                effort_limit=link.joint.effort_limit,
                speed_limit=link.joint.speed_limit,
            )
            for link in driven
        ]
        joints = [
            _drive(link, motor)._replace(also=_led(link.name, self.robot.links))
            for link, motor in zip(driven, motors, strict=True)
        ]
        return (*joints, *(Drive(name, True, Motor()) for name in self.robot.motors[len(joints) :]))

    def solve(self, P: Array, R: Array | None, start: ArrayLike | None) -> list[Solved]:
        """By Newton's method from its start."""
        turns = [None] * len(P) if R is None else list(R)
        return [
            inverses.solve_mechanism(self.robot, p, turn, start)
            for p, turn in zip(P, turns, strict=True)
        ]


_KINDS: dict[type[Robot], type[Architecture]] = {
    SerialRobot: Serial,
    DeltaRobot: Delta,
    MechanismRobot: Mechanism,
}


def architecture_of(robot: Robot) -> Architecture:
    """Return a robot's architecture, to be asked instead of the robot's class."""
    need_robot(robot)
    return _KINDS[type(robot)](robot)
