"""Robot, Link, Joint, Closure, Material, Body: descriptions only, frozen, SI, validated when made.

A Robot says what is there. It knows no basis, no mesh and no study; `beams.theory` turns one of its
links into numbers and `structure` turns the whole of it, at a configuration, into beams and bodies.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .body import Body, Material, Mount
    from .closure import CLOSURES, Closure, ClosureEnd
    from .delta import DeltaRobot, Platform
    from .joint import BaseJoint, Joint, MechanismJoint, Mimic, Motor
    from .layup import Ply
    from .link import (
        Elastic,
        JointedLink,
        Link,
        LowerLink,
        MechanismLink,
        Station,
        Theory,
        UpperLink,
    )
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

# The module of each name. It is imported when the name is first used: a file of a serial arm needs
# no class of a mechanism.
_MODULES: dict[str, tuple[str, ...]] = {
    "body": ("Body", "Material", "Mount"),
    "closure": ("CLOSURES", "Closure", "ClosureEnd"),
    "delta": ("DeltaRobot", "Platform"),
    "joint": ("BaseJoint", "Joint", "MechanismJoint", "Mimic", "Motor"),
    "layup": ("Ply",),
    "link": (
        "Elastic",
        "JointedLink",
        "Link",
        "LowerLink",
        "MechanismLink",
        "Station",
        "Theory",
        "UpperLink",
    ),
    "mechanism": ("BASE", "MechanismRobot"),
    "memory": ("cached_for_robot",),
    "robot": ("Robot", "a_robot", "need_robot"),
    "serial": ("SerialRobot",),
    "springs": ("Bearing", "Foundation", "Gear", "Springs"),
    "visual": ("Visual",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value
