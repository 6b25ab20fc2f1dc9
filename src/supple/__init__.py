"""supple: robots whose links bend. How do they vibrate, sag and move?

Public names are found when first used: `import supple` alone loads nothing, and the first name of a
group brings its whole group, so that no later call pays for an import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .control.trajectories import CirclePath, Hold, InvertedU, PointToPoint, WayPoints
    from .dynamics.ked import Ked, Loads, ked
    from .dynamics.ked_damping import Proportional, Ratio, Rayleigh
    from .dynamics.rigid_delta import RigidDelta
    from .errors import RobotError, SuppleError
    from .files import dump, load, loads, schema
    from .robot import (
        Body,
        DeltaRobot,
        Joint,
        Link,
        LowerLink,
        Material,
        Motor,
        Mount,
        Platform,
        Robot,
        SerialRobot,
        UpperLink,
    )
    from .sections import Box, Circle, General, Rectangle, Tube
    from .studies.follow import PathResponse, SmallRangeWarning, follow
    from .studies.modes import Modes, modes
    from .studies.reproduce import Reproduction, reproduce
    from .studies.statics import Statics, statics
    from .studies.workspace import WorkspaceMap, workspace

    __version__: str

__all__ = [
    "Body",
    "Box",
    "Circle",
    "CirclePath",
    "DeltaRobot",
    "General",
    "Hold",
    "InvertedU",
    "Joint",
    "Ked",
    "Link",
    "Loads",
    "LowerLink",
    "Material",
    "Modes",
    "Motor",
    "Mount",
    "PathResponse",
    "Platform",
    "PointToPoint",
    "Proportional",
    "Ratio",
    "Rayleigh",
    "Rectangle",
    "Reproduction",
    "RigidDelta",
    "Robot",
    "RobotError",
    "SerialRobot",
    "SmallRangeWarning",
    "Statics",
    "SuppleError",
    "Tube",
    "UpperLink",
    "WayPoints",
    "WorkspaceMap",
    "__version__",
    "dump",
    "follow",
    "ked",
    "load",
    "loads",
    "modes",
    "reproduce",
    "schema",
    "statics",
    "workspace",
]

# Each group is loaded as one: its modules, and the public names each of them holds.
_CORE = {
    "errors": ("RobotError", "SuppleError"),
    "robot": (
        *("Body", "DeltaRobot", "Joint", "Link", "LowerLink", "Material", "Motor", "Mount"),
        *("Platform", "Robot", "SerialRobot", "UpperLink"),
    ),
    "sections": ("Box", "Circle", "General", "Rectangle", "Tube"),
    "files": ("dump", "load", "loads", "schema"),
    "studies.modes": ("Modes", "modes"),
    "studies.statics": ("Statics", "statics"),
    "studies.reproduce": ("Reproduction", "reproduce"),
}
_PATHS = {
    "control.trajectories": ("CirclePath", "Hold", "InvertedU", "PointToPoint", "WayPoints"),
    "dynamics.ked": ("Ked", "Loads", "ked"),
    "dynamics.ked_damping": ("Proportional", "Ratio", "Rayleigh"),
    "dynamics.rigid_delta": ("RigidDelta",),
    "studies.follow": ("PathResponse", "SmallRangeWarning", "follow"),
    "studies.workspace": ("WorkspaceMap", "workspace"),
}
_GROUPS = (_CORE, _PATHS)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("supple")
    for group in _GROUPS:
        if any(name in names for names in group.values()):
            _load(group)
            return globals()[name]
    raise AttributeError(f"module 'supple' has no attribute '{name}'")


def _load(group: dict[str, tuple[str, ...]]) -> None:
    """Import the modules of a group, make their public names those of this one, bind answers."""
    for module, names in group.items():
        found = import_module(f".{module}", __name__)
        globals().update({name: getattr(found, name) for name in names})
    import_module(".answers", __name__).bind()


def __dir__() -> list[str]:
    return list(__all__)
