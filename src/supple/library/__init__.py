"""Published robots as robot files, each with its source: `names()` and `path(name)`."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["names", "path"]


def names() -> tuple[str, ...]:
    """Names of the robots in the library, in alphabetical order."""
    entries = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in entries if name.endswith(".yaml")))


def path(name: str) -> Traversable:
    """Place of a library robot's file; it exists only for one of `names()`."""
    return files(__name__) / f"{name}.yaml"
