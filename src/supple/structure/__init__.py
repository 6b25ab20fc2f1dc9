"""Structure: a Robot at a Configuration as exact beams, rigid bodies, joints and closures.

The joints are locked, sprung or free; nothing moves yet. A Structure holds a batch of
configurations of one robot, so that ten thousand poses cost one set of arrays. The exact solver
(`kernels.roots`) and any basis (`assembly`) read the same Structure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from ..architectures.kinds import architecture_of
from ..arguments import checked, optional, reals
from ..errors import SuppleError
from ..robot import DeltaRobot, MechanismRobot, Robot, SerialRobot, a_robot
from .cutting import cut_structure, short_pieces
from .expanding import delta_structure, moving_delta, written_arm, written_delta
from .free_joints import carrying_nothing, sprung_modes
from .mechanism import leads, led_mechanism, mechanism_structure
from .moving import MovingClosure, MovingStructure
from .parts import Closure, Joints, Release, Segment, Structure
from .rows import alike
from .serial import moving_serial, serial_structure
from .supports import FOUNDATION, founded, founded_in_motion

__all__ = [
    "FOUNDATION",
    "Closure",
    "Joints",
    "MovingClosure",
    "MovingStructure",
    "Release",
    "Segment",
    "Structure",
    "alike",
    "as_mechanism",
    "carrying_nothing",
    "cut_structure",
    "has_motion",
    "moving_structure",
    "short_pieces",
    "sprung_modes",
    "structure_of",
]


class _Family(NamedTuple):
    """How the structures of one family are made: at rest, in motion, written as a mechanism.

    Attributes:
        leads: whether one of its robots can be made in motion; None: all can.
    """

    at: Any
    moving: Any
    written: Any  # None: it is one
    leads: Callable[[Any], bool] | None = None


_FAMILIES: dict[type[Robot], _Family] = {
    SerialRobot: _Family(serial_structure, moving_serial, written_arm),
    DeltaRobot: _Family(delta_structure, moving_delta, written_delta),
    MechanismRobot: _Family(mechanism_structure, led_mechanism, None, leads),
}


def structure_of(robot: Robot, at: ArrayLike | None = None, joints: Joints = "locked") -> Structure:
    """Return a robot at one configuration, or at many with a leading axis, as a Structure.

    `at` holds the joint coordinates of a serial arm, (joints,) or (B, joints), None for zeros; or
    the platform's position of a Delta, (3,) or (B, 3); or theta, or whole configurations, of a
    mechanism.
    """
    family: Any = _FAMILIES[type(robot)].at
    return founded(robot, family(robot, at, joints))


@checked(robot=a_robot, position=optional(reals))
def as_mechanism(robot: Robot, position: ArrayLike | None = None) -> MechanismRobot:
    """Return a robot as links, joints and closures: the same modes, statics and motion.

    Args:
        robot: an arm, a tree without branches; a Delta, whose legs are closed at the wrists of a
        free platform; or a mechanism.
        position: where a Delta is assembled; a usual one on its axis unless given. There alone
        constant-velocity joints (rods: twist), straight there, are the Delta's own.
    """
    writing = _FAMILIES[type(robot)].written
    written: Any = robot if writing is None else writing(robot, position)
    return written  # type: ignore[no-any-return]


def has_motion(robot: Robot) -> bool:
    """Return whether `moving_structure` knows a robot: its family, and no joint follows another."""
    coupled = any(drive.also for drive in architecture_of(robot).drives)
    leads = _FAMILIES[type(robot)].leads
    return not coupled and (leads is None or leads(robot))


def moving_structure(
    robot: Robot, x: ArrayLike, v: ArrayLike, a: ArrayLike, joints: Joints = "locked"
) -> MovingStructure:
    """Return a robot at the instants of a prescribed rigid motion.

    x, v, a (B, ..): joint coordinates of a serial arm with their rates, or position, velocity and
    acceleration of a Delta's platform.
    """
    family: Any = _FAMILIES[type(robot)].moving
    if not has_motion(robot):
        raise SuppleError(
            f"{robot.name} is a mechanism: its equations along a motion are those of a Model; ask "
            "supple.follow(robot, path)"
        )
    return founded_in_motion(robot, family(robot, x, v, a, joints))
