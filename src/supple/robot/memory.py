"""What is computed from a robot alone, kept with that robot: it is frozen, so it stays right."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar
from weakref import ref

from ..answers.immutable import frozen
from .robot import Robot

__all__ = ["cached_for_robot"]

T = TypeVar("T")
P = ParamSpec("P")


class _Memory:
    """Values by key. It belongs to one living object: copies of that begin anew, on disk too."""

    def __init__(self, owner: Robot | None = None) -> None:
        self.owner = None if owner is None else ref(owner)
        self.values: dict[Hashable, Any] = {}

    def __reduce__(self) -> tuple[type[_Memory], tuple[()]]:
        return _Memory, ()


def cached_for_robot(
    robot: Robot, key: Hashable, make: Callable[P, T], *given: P.args, **options: P.kwargs
) -> T:
    """Return make(..), asked once for a robot and a key; its arrays are read-only."""
    memory = robot.__dict__.get("_memory")
    if memory is None or memory.owner is None or memory.owner() is not robot:
        memory = robot.__dict__["_memory"] = _Memory(robot)
    if key not in memory.values:
        memory.values[key] = frozen(make(*given, **options))
    found: T = memory.values[key]
    return found
