"""Structure: a Robot at a Configuration as exact beams, rigid bodies, joints and closures.

The joints are locked, sprung or free; nothing moves yet. A Structure holds a batch of
configurations of one robot, so that ten thousand poses cost one set of arrays. The exact solver
(`kernels.roots`) and any basis (`assembly`) read the same Structure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..robot import DeltaRobot, MechanismRobot, Robot, SerialRobot
from .delta import delta_structure, moving_delta
from .loose import carrying_nothing
from .mechanism import mechanism_structure
from .moving import MovingClosure, MovingStructure
from .parts import Closure, Joints, Release, Segment, Structure
from .serial import moving_serial, serial_structure

__all__ = [
    "Closure",
    "Joints",
    "MovingClosure",
    "MovingStructure",
    "Release",
    "Segment",
    "Structure",
    "carrying_nothing",
    "motor_axes",
    "moving_structure",
    "structure_of",
]


def structure_of(robot: Robot, at: ArrayLike | None = None, joints: Joints = "locked") -> Structure:
    """Return a robot at one configuration, or at many with a leading axis, as a Structure.

    `at` holds the joint coordinates of a serial arm, (joints,) or (B, joints), None for zeros; or
    the platform's position of a Delta, (3,) or (B, 3).
    """
    if isinstance(robot, SerialRobot):
        return serial_structure(robot, at, joints)
    if isinstance(robot, DeltaRobot):
        if at is None:
            raise SuppleError(f"position is missing: say where the platform of {robot.name} is")
        return delta_structure(robot, at, joints)
    if isinstance(robot, MechanismRobot):
        return mechanism_structure(robot, at, joints)
    raise SuppleError(f"{type(robot).__name__} is not an architecture known here")


def moving_structure(
    robot: Robot, x: ArrayLike, v: ArrayLike, a: ArrayLike, joints: Joints = "locked"
) -> MovingStructure:
    """Return a robot at the instants of a prescribed rigid motion.

    x, v, a (B, ..): joint coordinates of a serial arm with their rates, or position, velocity and
    acceleration of a Delta's platform.
    """
    if isinstance(robot, SerialRobot):
        return moving_serial(robot, x, v, a, joints)
    if isinstance(robot, DeltaRobot):
        return moving_delta(robot, x, v, a, joints)
    raise SuppleError(f"{type(robot).__name__} is not an architecture known here")


def motor_axes(robot: Robot, structure: Structure) -> tuple[tuple[int, NDArray[np.float64]], ...]:
    """Return (segment, direction (6,), segment axes) of every motor without a spring, in order."""
    if isinstance(robot, SerialRobot):
        joints = [(i, link.joint) for i, link in enumerate(robot.links)]
        each = [
            (i, joint.direction)
            for i, joint in joints
            if joint.type == "revolute" and joint.stiffness is None
        ]
    elif isinstance(robot, DeltaRobot) and robot.motor.stiffness is None:
        arms = [i for i, s in enumerate(structure.segments) if s.name.startswith("upper")]
        each = [(i, np.array([0.0, 1.0, 0.0])) for i in arms]
    else:
        each = []
    turned = [(i, structure.segments[i].R_LS.T @ axis) for i, axis in each]
    return tuple((i, np.concatenate([np.zeros(3), axis])) for i, axis in turned)
