"""Published robots as robot files and common materials, each with its source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..arguments import brief
from ..errors import SuppleError
from ..robot import Material

__all__ = ["material", "materials", "names", "path"]

FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """Names of the robots in the library, in alphabetical order."""
    return tuple(sorted(place.stem for place in FOLDER.glob("*.yaml")))


def path(name: str) -> Path:
    """Place of a library robot's file; it exists only for one of `names()`."""
    return FOLDER / f"{name}.yaml"


def materials() -> dict[str, dict[str, Any]]:
    """The table of materials: fields of each in SI, and its source."""
    table: dict[str, dict[str, Any]] = json.loads((FOLDER / "materials.json").read_text())
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
