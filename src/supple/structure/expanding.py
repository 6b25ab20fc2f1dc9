"""Templates written out: an arm or a Delta as the mechanism that it is.

A Delta's structures are those of its mechanism; what it knows beyond that is where its links stand
and how they move, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import delta
from ..architectures.assembling import Mechanism, mechanism_of
from ..architectures.delta_motion import motion, moving_links
from ..architectures.frames import Frames
from ..architectures.kinds import Delta
from ..architectures.serial import Placement
from ..architectures.tree import TreeMotion
from ..errors import SuppleError
from ..kernels.spatial import axis_rotation, rpy_of
from ..robot import (
    BASE,
    Closure,
    ClosureEnd,
    DeltaRobot,
    MechanismJoint,
    MechanismLink,
    MechanismRobot,
    Mount,
    SerialRobot,
    remembered,
)
from ..robot.joint import HELD
from .mechanism import moving_mechanism, placed_structure
from .moving import MovingStructure
from .parts import Joints, Structure

__all__ = ["delta_structure", "moving_delta", "written_arm", "written_delta"]

Array = NDArray[np.float64]

# What every Delta is made of: copies of these are changed, for its own parts have been checked
MADE: Any = (MechanismLink.model_construct, MechanismRobot.model_construct)
LINK: MechanismLink = MADE[0](name="link", parent=BASE)
ROBOT: MechanismRobot = MADE[1](name="robot", links=())
MOUNT, END = Mount(), ClosureEnd(link="platform")
MOTOR = MechanismJoint(axis=(0.0, 1.0, 0.0))
ELBOW, FREE = MechanismJoint(type="universal"), MechanismJoint(type="free")
ENDS: Any = ("lower", "platform")
WRISTS = {
    "single": Closure(ends=ENDS, type="universal", axes=((0, 0, 1), (0, 1, 0))),
    "parallelogram": Closure(ends=ENDS, type="spherical"),
    "twist": Closure(ends=ENDS, type="constant-velocity"),
}


def written_arm(robot: SerialRobot, position: ArrayLike | None = None) -> MechanismRobot:
    """Return an arm as a tree without branches."""
    data = robot.model_dump(exclude_unset=True)
    return MechanismRobot.model_validate(data | {"architecture": "mechanism"})


def written_delta(robot: DeltaRobot, position: ArrayLike | None = None) -> MechanismRobot:
    """Return a Delta as three legs and a free platform, with closures at all wrists."""
    place = Delta(robot).usual()["position"] if position is None else position
    at, reason = delta.resolve(robot, None, place)
    if len(at) != 1 or reason[0]:
        raise SuppleError(reason[0] or "give one position to assemble a Delta at")
    written = _written(robot, at[0, :3], delta.inverse(robot, at[0, :3])[0])
    return MechanismRobot.model_validate(_given(written))


def delta_structure(robot: DeltaRobot, position: ArrayLike | None, joints: Joints) -> Structure:
    """Return the Delta with its platform at (3,) or (B, 3) positions."""
    if position is None:
        raise SuppleError(f"position is missing: say where the platform of {robot.name} is")
    m, at = _expanded(robot), delta.place(robot, position)
    return placed_structure(m, _placed(robot, m, at), joints)


def moving_delta(
    robot: DeltaRobot,
    position: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    joints: Joints = "locked",
) -> MovingStructure:
    """Return the Delta at the instants of a motion of its platform, (B, 3) each."""
    m, led = _expanded(robot), motion(robot, position, velocity, acceleration)
    (upper, lower), still = moving_links(robot, led), np.zeros(3)
    moved, rods = _placed(robot, m, led.at), len(_sides(robot))
    platform = {"w": still, "dw": still, "v": led.velocity, "a": led.acceleration}
    rates = [
        _listed([getattr(upper, key), *[getattr(lower, key)] * rods], own)
        for key, own in platform.items()
    ]
    return moving_mechanism(m, moved, Frames(moved.at.R, moved.at.p, *rates), joints)


def _expanded(robot: DeltaRobot) -> Mechanism:
    """The mechanism of a Delta wherever it stands, with constant-velocity joints straight there.

    An elbow that is straight is a universal joint with both axes fixed in the rod.
    """
    written = remembered(robot, "expanded", _written, robot, np.zeros(3), None)
    m = mechanism_of(written)
    if robot.lower.rods != "twist":
        return m
    elbows = tuple(c._replace(order=0) for c in m.tree.coordinates)
    straight = tuple(replace(loop, straight=True) for loop in m.loops)
    return replace(m, tree=replace(m.tree, coordinates=elbows), loops=straight)


def _placed(robot: DeltaRobot, m: Mechanism, at: delta.DeltaPlacement) -> TreeMotion:
    """The links of an expanded Delta where its legs and its platform stand."""
    y, sides, L = at.R_leg[:, :, 1], _sides(robot), m.tree.length
    z, tangent = at.R_lower[..., 2], np.broadcast_to(y, at.A.shape)
    R = _listed([at.R_upper, *[at.R_lower] * len(sides)], np.eye(3))
    p = _listed([at.A, *(at.B + side * y for _, side in sides)], at.position)
    turns = _listed([tangent, *[tangent, z] * len(sides)], np.zeros(3))
    free = np.broadcast_to(np.eye(6), (len(p), 6, 6))
    w = np.concatenate([turns[:, :-1], free[..., 3:]], axis=1)
    v = np.concatenate([np.zeros_like(turns[:, :-1]), free[..., :3]], axis=1)
    return TreeMotion(m.tree, Placement(R, p, np.broadcast_to(L, (len(p), len(L)))), w, v)


def _listed(legs: Sequence[Array], platform: Array) -> Array:
    """Arrays (B, 3 legs, ..) of what a leg has one after the other, leg by leg, and the last."""
    each = np.stack(legs, axis=2)
    flat = each.reshape(len(each), 3 * len(legs), *each.shape[3:])
    last = np.broadcast_to(platform, (len(flat), *flat.shape[2:]))[:, None]
    return np.concatenate([flat, last], axis=1)


def _sides(robot: DeltaRobot) -> tuple[tuple[str, float], ...]:
    """Rods of a leg and where they stand along the leg's y."""
    if robot.lower.rods != "parallelogram":
        return (("", 0.0),)
    half = (robot.lower.spacing or 0.0) / 2
    return (("a", -half), ("b", half))


def _written(robot: DeltaRobot, place: Array, phi: Array | None) -> MechanismRobot:
    """A Delta whose legs' joints stand at phi (3, 3), or anywhere, as in `_expanded`.

    Its parts have been checked, with the Delta.
    """
    links, closures = _legs(robot, phi)
    free = FREE.model_copy(update={"start": (*place.tolist(), 0.0, 0.0, 0.0)})
    own: dict[str, Any] = {"joint": free, "theory": "rigid", "body": robot.platform.body}
    links.append(LINK.model_copy(update={"name": "platform", **own}))
    kept = ("gravity", "materials", "sections", "payload", "foundation", "source")
    whole = {key: value for key, value in _given(robot).items() if key in kept}
    whole |= {"name": f"{robot.name}-as-mechanism", "tip": "platform"}
    whole |= {"links": tuple(links), "closures": tuple(closures)}
    return ROBOT.model_copy(update=whole)


def _given(part: Any, *less: str) -> dict[str, Any]:
    """What was given of a part of a robot, some keys left out."""
    return {key: getattr(part, key) for key in part.model_fields_set.difference(less)}


def _mount(xyz: tuple[float, ...], rpy: tuple[float, ...] | None = None) -> Mount:
    """A mount, whose turn is given where there is one."""
    return MOUNT.model_copy(update={"xyz": xyz} if rpy is None else {"xyz": xyz, "rpy": rpy})


def _legs(robot: DeltaRobot, phi: Array | None) -> tuple[list[MechanismLink], list[Closure]]:
    """Links and closures of a Delta, whose legs are copies of one another."""
    rods, radius = robot.lower.rods, robot.platform.radius
    starts: list[list[float]] = [[0.0] * 3] * 3 if phi is None else phi.tolist()
    driven = _given(robot.motor)
    driven |= {key: (driven[key],) for key in HELD if driven.get(key) is not None}
    motor, wrist = MOTOR.model_copy(update=driven), WRISTS[rods]
    upper = LINK.model_copy(update=_given(robot.upper))
    lower = LINK.model_copy(update=_given(robot.lower, "rods", "spacing"))
    links: list[MechanismLink] = []
    closures: list[Closure] = []
    elbows: dict[float, MechanismJoint] = {}
    for leg, (angle, start) in enumerate(zip(robot.angles, starts, strict=True)):
        c, s = math.cos(angle), math.sin(angle)
        hip = _mount((robot.base_radius * c, robot.base_radius * s, 0.0), (0.0, 0.0, angle))
        turning = motor.model_copy(update={"mount": hip, "start": (start[0],)})
        arm = f"upper{leg + 1}"
        links.append(upper.model_copy(update={"name": arm, "joint": turning}))
        for tag, side in _sides(robot):
            rod, on = f"lower{leg + 1}{tag}", arm
            if phi is not None or not leg:  # those of the other legs are the same
                bent = {"mount": _mount((0.0, side, 0.0)), "start": tuple(start[1:])}
                elbows[side] = ELBOW.model_copy(update=bent)
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
                held = ClosureEnd(link=arm, mount=back)
                pair = (held, ClosureEnd(link=f"spin{leg + 1}"))
                closures.append(wrist.model_copy(update={"name": f"elbow-{rod}", "ends": pair}))
                spin = MechanismJoint(type="revolute", passive=True, axis=(1.0, 0.0, 0.0))
                for name, each in ((f"elbow{leg + 1}", joint), (f"spin{leg + 1}", spin)):
                    links.append(MechanismLink(name=name, parent=on, joint=each, theory="rigid"))
                    on = name
                joint = MechanismJoint(type="fixed")
            links.append(lower.model_copy(update={"name": rod, "parent": on, "joint": joint}))
            ends = [END.model_copy(update={"link": rod}), END.model_copy(update={"mount": mount})]
            ends = ends[::-1] if rods == "twist" else ends
            closures.append(wrist.model_copy(update={"name": f"wrist-{rod}", "ends": tuple(ends)}))
    return links, closures
