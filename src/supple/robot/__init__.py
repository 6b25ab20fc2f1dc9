"""Robot, Link, Joint, Closure, Material, Body: descriptions only, frozen, SI, validated when made.

A Robot says what is there. It knows no basis, no mesh and no study; `beams.theory` turns one of its
links into numbers and `structure` turns the whole of it, at a configuration, into beams and bodies.
"""

from .body import Body, Material, Mount
from .closure import CLOSURES, Closure, ClosureEnd
from .delta import DeltaRobot, Platform
from .joint import BaseJoint, Joint, MechanismJoint, Mimic, Motor
from .layup import Ply
from .link import Elastic, JointedLink, Link, LowerLink, MechanismLink, Station, Theory, UpperLink
from .mechanism import BASE, MechanismRobot
from .memory import cached_for_robot
from .robot import Robot, a_robot, need_robot
from .serial import SerialRobot
from .springs import Bearing, Foundation, Gear, Springs
from .visual import Visual

__all__ = [
    "BASE",
    "CLOSURES",
    "BaseJoint",
    "Bearing",
    "Body",
    "Closure",
    "ClosureEnd",
    "DeltaRobot",
    "Elastic",
    "Foundation",
    "Gear",
    "Joint",
    "JointedLink",
    "Link",
    "LowerLink",
    "Material",
    "MechanismJoint",
    "MechanismLink",
    "MechanismRobot",
    "Mimic",
    "Motor",
    "Mount",
    "Platform",
    "Ply",
    "Robot",
    "SerialRobot",
    "Springs",
    "Station",
    "Theory",
    "UpperLink",
    "Visual",
    "a_robot",
    "cached_for_robot",
    "need_robot",
]
