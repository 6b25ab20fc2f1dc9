"""Published robots as robot files and common materials, each with its source."""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from ..arguments import brief
from ..errors import SuppleError
from ..robot import Material

__all__ = ["material", "materials", "names", "path"]


def names() -> tuple[str, ...]:
    """Names of the robots in the library, in alphabetical order."""
    entries = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in entries if name.endswith(".yaml")))


def path(name: str) -> Traversable:
    """Place of a library robot's file; it exists only for one of `names()`."""
    return files(__name__) / f"{name}.yaml"


def materials() -> dict[str, dict[str, Any]]:
    """The table of materials: fields of each in SI, and its source."""
    table: dict[str, dict[str, Any]] = json.loads((files(__name__) / "materials.json").read_text())
    return table


def material(name: str) -> Material:
    """Material from the built-in table.

    Parameters
    ----------
    name : str
        Name as listed by `supple materials`, such as ``"aluminium-6061-t6"``.

    Returns
    -------
    Material

    Examples
    --------
    >>> import supple
    >>> supple.material("aluminium-6061-t6").density
    2700.0
    """
    table = materials()
    if not isinstance(name, str) or name not in table:
        raise SuppleError(f"material is {brief(name)}: the table holds {', '.join(table)}")
    return Material(**{key: value for key, value in table[name].items() if key != "source"})
