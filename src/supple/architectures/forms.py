"""Normal forms: an arm and a Delta as the links, joints and closures that they are.

Every description is lowered to one list of links, each with its parent and joint, and a list of
closures: the form that a mechanism's file has. Copies of parts that have been checked are not
checked again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import axis_rotation, rpy_of
from ..robot import (
    BASE,
    Closure,
    ClosureEnd,
    DeltaRobot,
    Elastic,
    MechanismJoint,
    MechanismLink,
    MechanismRobot,
    Mount,
    Robot,
    SerialRobot,
)
from ..robot.body import NO_MOUNT
from ..robot.joint import HOLDING_KEYS

__all__ = [
    "Lowered",
    "arm_form",
    "lower_arm",
    "lower_delta",
    "lower_mechanism",
    "rod_sides",
    "wrist_angles",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Lowered:
    """What a description says, in one form for all families.

    Attributes
    ----------
    form : MechanismRobot
        Links with their parents and joints, closures, and bodies.
    parts : mapping
        Elastic parts of the description by their paths in the robot file.
    origins : mapping
        Path of the part that each link of the form was made from; links that are bodies have none.
    plates : tuple
        Rigid bodies to draw, each as the links that meet there and at which of their ends (0 the
        root, -1 the end).
    up : tuple of float
        Which way is up on a page where nothing weighs.
    carried : tuple, optional
        Path and mass of what the tip carries where there is no payload; by default the last body
        on a link's end.
    motor : str
        Path of what drives every motor, where that is not each link's own joint.
    straight : bool
        Whether constant-velocity joints are straight wherever the robot stands.
    """

    form: MechanismRobot
    parts: Mapping[str, Elastic]
    origins: Mapping[str, str]
    plates: tuple[tuple[tuple[str, ...], int], ...] = ()
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    carried: tuple[str, float] | None = None
    motor: str = ""
    straight: bool = False


# Copies of these are changed. They are made without being validated, which would build schemas
# that no answer needs; tests/unit/test_families.py compares them with validated ones.
_joint: Any = MechanismJoint.model_construct
_closure: Any = Closure.model_construct
LINK: MechanismLink = MechanismLink.model_construct(name="link")
ROBOT: MechanismRobot = MechanismRobot.model_construct(name="robot", links=())
MOUNT: Mount = NO_MOUNT
LOWER: ClosureEnd = ClosureEnd.model_construct(link="lower")
END: ClosureEnd = ClosureEnd.model_construct(link="platform")
JOINT: MechanismJoint = _joint()
MOTOR: MechanismJoint = _joint(axis=(0.0, 1.0, 0.0))
ELBOW: MechanismJoint = _joint(type="universal")
FREE: MechanismJoint = _joint(type="free")
UNIVERSAL_AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
WRISTS: dict[str, Closure] = {
    "single": _closure(ends=(LOWER, END), type="universal", axes=UNIVERSAL_AXES),
    "parallelogram": _closure(ends=(LOWER, END), type="spherical"),
    "twist": _closure(ends=(LOWER, END), type="constant-velocity"),
}
# Wrists with springs: a massless body on a joint at the end of the rod, fixed to the platform
SPRUNG_WRISTS: dict[str, MechanismJoint] = {
    "single": _joint(type="universal", axes=UNIVERSAL_AXES),
    "parallelogram": _joint(type="spherical"),
}
HELD_WRIST: Closure = _closure(ends=(LOWER, END), type="fixed")


def lower_mechanism(robot: MechanismRobot) -> Lowered:
    """Return a mechanism, whose description is in this form already."""
    paths = {link.name: f"links.{link.name}" for link in robot.links}
    parts = {paths[link.name]: link for link in robot.links}
    return Lowered(robot, parts, paths)


def lower_arm(robot: SerialRobot) -> Lowered:
    """Return a serial arm: a tree without branches."""
    paths = {link.name: f"links.{link.name}" for link in robot.links}
    parts = {paths[link.name]: link for link in robot.links}
    return Lowered(arm_form(robot), parts, paths)


def arm_form(robot: SerialRobot) -> MechanismRobot:
    """Return an arm as a tree without branches."""
    links = []
    for link in robot.links:
        given = _given_fields(link.joint)
        given |= {key: (given[key],) for key in HOLDING_KEYS if given.get(key) is not None}
        joint = JOINT.model_copy(update=given)
        links.append(LINK.model_copy(update=_given_fields(link) | {"joint": joint}))
    return _mechanism_form(robot, robot.name, links, (), "planar")


def _mechanism_form(
    robot: Robot, name: str, links: Any, closures: Any, *more: str, **other: Any
) -> MechanismRobot:
    """The form of a robot with these links and closures."""
    common_fields = ("gravity", "materials", "sections", "payload", "foundation", "source", *more)
    common = {key: value for key, value in _given_fields(robot).items() if key in common_fields}
    common |= {"name": name, "links": tuple(links), "closures": tuple(closures), **other}
    return ROBOT.model_copy(update=common)


def lower_delta(robot: DeltaRobot, place: Array | None = None, phi: Array | None = None) -> Lowered:
    """Return a Delta: three legs and a free platform, closed at the wrists.

    Wherever it stands unless its platform's place (3,) and the angles phi (3, 3) of its legs are
    given, at which it is assembled. An elbow of constant-velocity joints that is straight is a
    universal joint with both axes fixed in the rod; assembled, it is a joint of its own.
    """
    links, closures, origins = _legs(robot, phi)
    centre = (0.0, 0.0, 0.0) if place is None else tuple(place.tolist())
    free = FREE.model_copy(update={"start": (*centre, 0.0, 0.0, 0.0)})
    own: dict[str, Any] = {"joint": free, "theory": "rigid", "body": robot.platform.body}
    links.append(LINK.model_copy(update={"name": "platform", "parent": BASE, **own}))
    name = f"{robot.name}-as-mechanism"
    arms, rods = (
        tuple(link for link, origin in origins.items() if origin == part)
        for part in ("upper", "lower")
    )
    return Lowered(
        _mechanism_form(robot, name, links, closures, tip="platform"),
        {"upper": robot.upper, "lower": robot.lower},
        origins,
        plates=((arms, 0), (rods, -1)),
        up=(0.0, 0.0, -1.0),  # z points down
        carried=("platform.mass", robot.platform.mass),
        motor="motor",
        straight=robot.lower.rods == "twist" and phi is None,
    )


def rod_sides(robot: DeltaRobot) -> tuple[tuple[str, float], ...]:
    """Return the tags of a leg's rods and where they stand along the leg's y, m."""
    if robot.lower.rods != "parallelogram":
        return (("", 0.0),)
    half = (robot.lower.spacing or 0.0) / 2
    return (("a", -half), ("b", half))


def wrist_angles(robot: DeltaRobot, phi: Sequence[Any]) -> tuple[Any, ...]:
    """Return the coordinates of a leg's sprung wrist at its angles phi1, phi2, phi3.

    From the axes of the rod to those of the platform, R_z(-phi3) R_y(-phi1 - phi2).
    """
    about_rod_z = -phi[2]
    about_leg_y = -phi[0] - phi[1]
    if robot.lower.rods == "parallelogram":
        return (0.0, about_leg_y, about_rod_z)
    return (about_rod_z, about_leg_y)


def _given_fields(part: Any, *less: str) -> dict[str, Any]:
    """What was given of a part of a robot, some keys left out."""
    return {key: getattr(part, key) for key in part.model_fields_set.difference(less)}


def _mount(xyz: tuple[float, ...], rpy: tuple[float, ...] | None = None) -> Mount:
    """A mount, whose turn is given where there is one."""
    return MOUNT.model_copy(update={"xyz": xyz} if rpy is None else {"xyz": xyz, "rpy": rpy})


def _legs(
    robot: DeltaRobot, phi: Array | None
) -> tuple[list[MechanismLink], list[Closure], dict[str, str]]:
    """Links and closures of a Delta, whose legs are copies of one another; what each is a copy of.

    The links' joints start at phi (3, 3), or anywhere.
    """
    rods = robot.lower.rods
    radius = robot.platform.radius
    starts: list[list[float]] = [[0.0] * 3] * 3 if phi is None else phi.tolist()
    driven = _given_fields(robot.motor)
    driven |= {key: (driven[key],) for key in HOLDING_KEYS if driven.get(key) is not None}
    motor = MOTOR.model_copy(update=driven)
    wrist = HELD_WRIST if robot.wrist.acts else WRISTS[rods]
    upper = LINK.model_copy(update=_given_fields(robot.upper))
    lower = LINK.model_copy(update=_given_fields(robot.lower, "rods", "spacing"))
    links: list[MechanismLink] = []
    closures: list[Closure] = []
    origins: dict[str, str] = {}
    elbows: dict[float, MechanismJoint] = {}
    for leg, (angle, start) in enumerate(zip(robot.angles, starts, strict=True)):
        c = math.cos(angle)
        s = math.sin(angle)
        hip = _mount((robot.base_radius * c, robot.base_radius * s, 0.0), (0.0, 0.0, angle))
        turning = motor.model_copy(update={"mount": hip, "start": (start[0],)})
        arm = f"upper{leg + 1}"
        links.append(upper.model_copy(update={"name": arm, "parent": BASE, "joint": turning}))
        origins[arm] = "upper"
        for tag, side in rod_sides(robot):
            rod = f"lower{leg + 1}{tag}"
            on = arm
            if phi is not None or not leg:  # those of the other legs are the same
                bent = {"mount": _mount((0.0, side, 0.0)), "start": tuple(start[1:])}
                elbows[side] = ELBOW.model_copy(update=bent | _given_fields(robot.elbow))
            joint = elbows[side]
            place = (radius * c - side * s, radius * s + side * c, 0.0)
            mount = _mount(place, (0.0, 0.0, angle))
            if rods == "twist" and phi is not None:
                # a third turn, held by the arm as the platform holds the rod
                turned = [
                    axis_rotation((0, 1, 0), a) @ axis_rotation((0, 0, 1), start[2])
                    for a in (start[1], start[0] + start[1])
                ]
                about = rpy_of(axis_rotation((0, 0, 1), angle) @ turned[1])
                mount = _mount(place, tuple(about))
                back = MOUNT.model_copy(update={"rpy": tuple(rpy_of(turned[0]))})
                arm_end = ClosureEnd(link=arm, mount=back)
                pair = (arm_end, ClosureEnd(link=f"spin{leg + 1}"))
                closures.append(wrist.model_copy(update={"name": f"elbow-{rod}", "ends": pair}))
                spin = MechanismJoint(type="revolute", passive=True, axis=(1.0, 0.0, 0.0))
                for name, each in ((f"elbow{leg + 1}", joint), (f"spin{leg + 1}", spin)):
                    links.append(MechanismLink(name=name, parent=on, joint=each, theory="rigid"))
                    on = name
                joint = MechanismJoint(type="fixed")
            origins[rod] = "lower"
            links.append(lower.model_copy(update={"name": rod, "parent": on, "joint": joint}))
            last = rod
            if robot.wrist.acts:
                last = f"wrist{leg + 1}{tag}"
                sprung = SPRUNG_WRISTS[rods].model_copy(
                    update=_given_fields(robot.wrist) | {"start": wrist_angles(robot, start)}
                )
                own = {"name": last, "parent": rod, "joint": sprung, "theory": "rigid"}
                links.append(LINK.model_copy(update=own))
            ends = [END.model_copy(update={"link": last}), END.model_copy(update={"mount": mount})]
            ends = ends[::-1] if rods == "twist" else ends
            closures.append(wrist.model_copy(update={"name": f"wrist-{rod}", "ends": tuple(ends)}))
    return links, closures, origins
