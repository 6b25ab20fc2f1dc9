"""Robot, Link, Joint, Material, Body: descriptions only, frozen, SI, validated when made.

A Robot says what is there. It knows no basis, no mesh and no study; `beams.theory` turns one of its
links into numbers and `structure` turns the whole of it, at a configuration, into beams and bodies.
"""

from .body import Body, Material, Mount
from .delta import DeltaRobot, Platform
from .joint import Joint, Motor
from .link import Elastic, Link, LowerLink, Theory, UpperLink
from .robot import Robot, need_robot
from .serial import SerialRobot

__all__ = [
    "Body",
    "DeltaRobot",
    "Elastic",
    "Joint",
    "Link",
    "LowerLink",
    "Material",
    "Motor",
    "Mount",
    "Platform",
    "Robot",
    "SerialRobot",
    "Theory",
    "UpperLink",
    "need_robot",
]
