"""A changed copy of a description, and a description as minimal plain data.

Nothing here knows a robot by name: descriptions are pydantic models, whatever they describe.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, TypeVar

from pydantic import BaseModel

from .errors import RobotError
from .faults import (
    MEANINGS,
    Fault,
    derived_keys,
    known_keys,
    models_at,
    plain,
    robot_error,
    unknown_key,
    validate_data,
)
from .values import Place

__all__ = ["as_plain_data", "edit_fields"]

AnyModel = TypeVar("AnyModel", bound=BaseModel)

_ORDER = {key: i for i, key in enumerate(MEANINGS)}
_AMOUNTS = ("start", "rest", "stiffness", "damping", "friction")  # one value, or several
_ALWAYS = ("supple", "architecture", "shape")  # kept though they have defaults: they tell the kind


def edit_fields(robot: AnyModel, changes: Mapping[str, Any]) -> AnyModel:
    """Return a copy of the robot with the fields at dotted paths changed, validated as a whole.

    A path runs through keys, names and numbers: `links.link2.section.depth`, `gravity.2`. Absent
    parts are made on the way; a shared material or section becomes the link's own copy.
    """
    data = plain(robot)
    for path, value in changes.items():
        _set(type(robot), data, path, plain(value))
    return validate_data(type(robot), data)


def as_plain_data(part: Any) -> Any:
    """A description as mappings, lists and plain values, without what is the default anyway."""
    if isinstance(part, BaseModel):
        fields = type(part).model_fields
        # One number for an inertia about z, or for a pair of alike values in both bending planes
        shorts = {}
        written = [key for key in fields if key not in derived_keys(part)]
        for key in sorted(written, key=lambda key: _ORDER.get(key, len(_ORDER))):
            if key in _ALWAYS or getattr(part, key) != fields[key].get_default():
                value = as_plain_data(getattr(part, key))
                if isinstance(value, list) and len(value) == 1 and key in _AMOUNTS:
                    short = value[0]
                else:
                    alike = key == "inertia" and len(value) == 1
                    if key in ("shear_coefficient", "bending_stiffness", "shear_stiffness"):
                        alike = value is not None and value[0] == value[1]
                    short = value[0] if alike else value
                shorts[key] = short
        return shorts
    if isinstance(part, Mapping):
        return {key: as_plain_data(value) for key, value in part.items()}
    return [as_plain_data(value) for value in part] if isinstance(part, tuple) else part


def _set(model: type[BaseModel], data: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a path of the data, in place."""
    place: Place = ()
    holder: Any = data
    rest = path.split(".")
    while True:
        key, rest = _step(model, data, holder, place, rest, path)
        if not rest:
            holder[key] = value
            return
        place = (*place, key)
        part = holder.get(key) if isinstance(holder, dict) else holder[key]
        # The part at a place, ready to be changed inside: made if absent, copied if shared
        if isinstance(part, str) and place[-1] in ("material", "section"):
            holder[key] = deepcopy(data[f"{place[-1]}s"][part])
        elif part is None and (options := models_at(model, data, place)):
            fields = options[0].model_fields if len(options) == 1 else {}
            holder[key] = {
                k: plain(f.get_default()) for k, f in fields.items() if not f.is_required()
            }
        elif isinstance(part, dict | list):
            holder[key] = part
        else:
            raise _refusal(data, place, "this is a plain value and has no parts", path)
        holder = holder[key]


def _step(
    model: type[BaseModel], data: Any, holder: Any, place: Place, rest: list[str], path: str
) -> tuple[Any, list[str]]:
    """The key or index that comes next on a path, and what is left of the path after it."""
    if isinstance(holder, list):
        # The index of a list entry by its name or by its number from 0
        part = rest[0]
        names = [entry.get("name") if isinstance(entry, dict) else None for entry in holder]
        if part in names:
            index = names.index(part)
        elif part.isascii() and part.isdigit() and int(part) < len(holder):
            index = int(part)
        else:
            words = [name for name in names if isinstance(name, str)] or [
                str(i) for i in range(len(names))
            ]
            raise _refusal(data, place, unknown_key(part, words), path)
        return index, rest[1:]
    known = known_keys(model, data, place)
    for count in range(len(rest), 0, -1):  # names of materials and sections may have dots
        if (key := ".".join(rest[:count])) in known:
            return key, rest[count:]
    is_table = isinstance(holder, dict) and not models_at(model, data, place)
    if is_table and len(rest) == 1 and place:
        return rest[0], []  # a new material or section
    raise _refusal(data, place, unknown_key(rest[0], known), path)


def _refusal(data: Any, place: Place, sentence: str, path: str) -> RobotError:
    return robot_error([Fault(place, f"{sentence} (in the path '{path}')")], data)
