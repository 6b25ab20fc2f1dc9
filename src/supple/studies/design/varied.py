"""A robot and its coordinates under changes named by paths.

`theta.NAME` is the coordinate of that link's joint (`theta.upper1` of a Delta), `position.x` one of
a platform's, anything else a path of the robot file: `links.link2.section.wall`, `payload.mass`.
Several paths between commas are tied, they have one value: `links.a.length,links.b.length`. A star
stands for every entry: `links.boom.stations.*.section.wall`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.kinds import architecture_of
from ...arguments import vector
from ...errors import SuppleError
from ...robot import Robot, need_robot

__all__ = ["Varied", "coordinate_names", "tied_paths"]

Array = NDArray[np.float64]
AXES = ("x", "y", "z")


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """Return the names of theta's entries: links whose joints move, or motors."""
    return tuple(name for name, _ in architecture_of(robot).motors)


def _entry(robot: Robot, owner: Any, part: Any, word: str) -> Any:
    """What a word of a path leads to, None where there is nothing; names are followed."""
    if isinstance(part, str) and owner is not None:
        table = robot.materials if owner[1] == "material" else robot.sections
        part = table[part]
    if isinstance(part, Mapping):
        return part.get(word)
    if isinstance(part, tuple):
        named = [x for x in part if getattr(x, "name", None) == word]
        place = int(word) if word.isdecimal() and len(word) < 9 else len(part)
        return named[0] if named else part[place] if place < len(part) else None
    return getattr(part, word, None)


def _number_at(robot: Robot, path: str) -> float:
    """Return the number at a path of the robot; a payload that is absent has no mass."""
    part: Any = robot
    owner: Any = None
    for word in path.split("."):
        if part is None and path == "payload.mass":
            return 0.0
        found = _entry(robot, owner, part, word)
        owner = (part, word)
        part = found
        if part is None and word != "payload":
            raise SuppleError(f"'{path}' has no value in {robot.name}: give one in the robot first")
    if path == "payload.mass" and part is None:
        return 0.0
    if isinstance(part, tuple) and part and all(value == part[0] for value in part):
        part = part[0]  # one value for both planes
    if isinstance(part, bool) or not isinstance(part, int | float):
        raise SuppleError(f"'{path}' is {part!r:.60}: only a number can be varied")
    return float(part)


def tied_paths(robot: Robot, key: str) -> tuple[str, ...]:
    """Return the paths that a key ties together: between commas, and a star for every entry."""
    paths: list[str] = []
    for written in key.split(","):
        beginnings = [""]
        for word in written.strip().split("."):
            longer = []
            for beginning in beginnings:
                words = [word] if word != "*" else _names_below(robot, beginning, written)
                longer += [f"{beginning}.{each}" if beginning else each for each in words]
            beginnings = longer
        paths += beginnings
    return tuple(dict.fromkeys(paths))


def _names_below(robot: Robot, path: str, written: str) -> list[str]:
    """The entries of a list or table of the robot, by which a path goes on."""
    part: Any = robot
    owner: Any = None
    for word in path.split(".") if path else ():
        owner, part = (part, word), _entry(robot, owner, part, word)
    if isinstance(part, tuple) and part:
        return [getattr(each, "name", None) or str(k) for k, each in enumerate(part)]
    if isinstance(part, Mapping) and part:
        return [str(name) for name in part]
    raise SuppleError(
        f"'{written}': {path or 'the robot'} is no list, so that * stands for nothing"
    )


@dataclass(frozen=True)
class Varied:
    """A robot, where it stands, and what of both changes.

    Attributes
    ----------
    robot
        As described.
    theta, position
        Where coordinates that do not change stand; the one that is None is not asked for.
    keys
        The paths that change.
    """

    robot: Robot
    theta: tuple[float, ...] | None
    position: tuple[float, ...] | None
    keys: tuple[str, ...]

    @classmethod
    def of(
        cls,
        robot: Robot,
        keys: Sequence[str],
        theta: ArrayLike | None = None,
        position: ArrayLike | None = None,
    ) -> Varied:
        """Check the keys, and complete where the robot stands: zero or its start, or as given."""
        need_robot(robot)
        names = coordinate_names(robot)
        for key in keys:
            if "," in key and ("theta." in key or "position." in key):
                raise SuppleError(f"'{key}' ties coordinates: only paths of the file can be tied")
            head, _, rest = key.partition(".")
            if head == "theta" and rest not in names:
                known = ", ".join(f"theta.{name}" for name in names) or "none, no joint moves"
                raise SuppleError(f"'{key}' is no coordinate of {robot.name}: it has {known}")
            if head == "position" and rest not in AXES:
                raise SuppleError(f"'{key}' is no coordinate: give position.x, .y or .z")
        placed = any(key.startswith("position.") for key in keys) or position is not None
        if placed and any(key.startswith("theta.") for key in keys):
            raise SuppleError("theta and position cannot both change: give one of them")
        if placed:
            start = np.zeros(3) if position is None else np.array(vector()("position", position))
            return cls(robot, None, tuple(start), tuple(keys))
        kind = architecture_of(robot)
        start = np.zeros(len(names))
        if theta is not None:
            start = np.array(vector()("theta", theta))
        elif kind.asked_by == "theta" and not kind.open_chain:  # where `modes` has a mechanism
            start = kind.resolve(None, None).theta[0]
        if len(start) != len(names):
            raise SuppleError(f"theta has {len(start)} values, {robot.name} needs {len(names)}")
        return cls(robot, tuple(start), None, tuple(keys))

    @property
    def coordinate_keys(self) -> tuple[str, ...]:
        """The keys that move the robot, in order."""
        return tuple(k for k in self.keys if k.partition(".")[0] in ("theta", "position"))

    @property
    def parameter_keys(self) -> tuple[str, ...]:
        """The keys that change the robot itself, in order."""
        return tuple(k for k in self.keys if k not in self.coordinate_keys)

    def value(self, key: str, mean: bool = False) -> float:
        """Return what stands at a key now; a payload that is absent has no mass.

        Paths that are tied must have one value, unless their `mean` is asked for.
        """
        head, _, rest = key.partition(".")
        if head == "theta" and self.theta is not None:
            return self.theta[coordinate_names(self.robot).index(rest)]
        if head == "position" and self.position is not None:
            return self.position[AXES.index(rest)]
        values = [_number_at(self.robot, path) for path in tied_paths(self.robot, key)]
        if not mean and max(values) - min(values) > 1e-12 * max(map(abs, values)):
            shown = ", ".join(f"{value:g}" for value in values)
            raise SuppleError(
                f"'{key}' ties values that differ ({shown}): give them one value first, by with_"
            )
        return values[0] if len(values) == 1 else sum(values) / len(values)

    def robot_at(self, values: Mapping[str, Any]) -> Robot:
        """Return the robot with parameters changed."""
        changes: dict[str, Any] = {}
        for key in self.parameter_keys:
            if key in values:
                value = values[key]
                plain_value = value.item() if hasattr(value, "item") else value
                changes |= dict.fromkeys(tied_paths(self.robot, key), plain_value)
        return self.robot.with_(changes) if changes else self.robot

    def columns(self, keys: Sequence[str]) -> list[int]:
        """Return which entries of theta or position some coordinates are."""
        names = coordinate_names(self.robot) if self.theta is not None else AXES
        return [names.index(key.partition(".")[2]) for key in keys]

    def configurations_at(self, columns: Mapping[str, Array], count: int) -> dict[str, Array]:
        """Return theta or position (count, n) with coordinates changed, as `modes` takes them."""
        start = self.theta if self.theta is not None else self.position
        at = np.tile(np.asarray(start, float), (count, 1))
        names = coordinate_names(self.robot) if self.theta is not None else AXES
        for key in self.coordinate_keys:
            if key in columns:
                at[:, names.index(key.partition(".")[2])] = columns[key]
        return {"theta" if self.theta is not None else "position": at}
