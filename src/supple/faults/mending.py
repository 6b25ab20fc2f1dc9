"""Harmless values in place of faulty ones, so that what holds them can be checked as well.

pydantic checks a part as a whole only when its fields are sound, and a robot as a whole only when
its parts are. Mending what was reported and looking again brings every fault to light at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from pydantic import BaseModel

from ..values import Place
from .known import at, get, known_keys, plain
from .meanings import MEANINGS
from .sentences import is_element, literals, meant_key, nearest, place_of

__all__ = ["mend_data"]

_MATERIAL = {"young_modulus": 1.0, "density": 1.0, "poisson_ratio": 0.3}
_SECTION = {"shape": "circle", "diameter": 1.0}
_PARTS: dict[str, Any] = {"material": _MATERIAL, "section": _SECTION}
# Values of required keys, and of keys whose absence would be another fault; others are left out.
_SOUND: dict[str, Any] = {
    **_PARTS,
    "poisson_ratio": 0.3,
    "wall": 1e-9,
    "angle": 0.0,
    "body": {},
    "platform": {"radius": 1.0, "thickness": 1.0, "mass": 1.0},
    "links": [{"name": "_", "theory": "rigid"}],
}
_ONES = {"young_modulus", "density", "shear_modulus", "second_moment_z", "base_radius", "spacing"}
_ONES |= {"depth", "width", "diameter", "area", "radius", "thickness", "mass", "length"}
_ONES |= {"ratio", "motor_inertia"}
_ONES |= {key for key in MEANINGS if key.endswith(("_stiffness", "_per_length"))}


def mend_data(data: Mapping[str, Any], errors: Iterable[Any], model: type[BaseModel]) -> Any:
    """A copy of the data in which faulty values are harmless and near keys are as meant."""
    copy = plain(data)
    for error in errors:
        place = place_of(error, data)
        # Replace the value at a place, or leave it out
        owner = place[:-1] if is_element(place) else place
        holder = at(copy, owner[:-1])
        key = owner[-1]
        if isinstance(holder, list):
            holder[int(key)] = _sound(copy, owner, holder[int(key)])
        elif isinstance(holder, dict) and (key in holder or error["type"] == "missing"):
            given = holder.pop(key, None)
            # The key and value that were probably meant; a value of None leaves the key out
            renamed = key
            sound = None
            if error["type"] == "extra_forbidden":
                suggestion = meant_key(str(key), known_keys(model, copy, owner[:-1]))
                if suggestion:
                    renamed = suggestion
                    sound = given
            elif error["type"] == "literal_error":
                if isinstance(given, str):
                    sound = nearest(given, literals(error))
            else:
                sound = _sound(copy, owner, given)
            if sound is not None and renamed not in holder:
                holder[renamed] = deepcopy(sound)
    return copy


def _sound(data: dict[str, Any], place: Place, given: Any) -> Any:
    """A harmless value for a place."""
    key = place[-1]
    if place in (("materials",), ("sections",)):
        kind = str(key)[:-1]
        links = data.get("links")
        parts = [*(links if isinstance(links, list) else ()), data.get("upper"), data.get("lower")]
        names = [part.get(kind) for part in parts if isinstance(part, dict)]
        references = [name for name in names if isinstance(name, str)]
        return dict.fromkeys(references, _PARTS[kind])
    if place[0] in ("materials", "sections") and len(place) == 2:
        return _PARTS[place[0][:-1]]
    if place in (("upper",), ("lower",)) or (place[0] == "links" and len(place) == 2):
        # A rigid link with the name, the joint and the references of the one given
        given = given if isinstance(given, dict) else {}
        named = {key: given[key] for key in _PARTS if isinstance(given.get(key), str)}
        link = {"theory": "rigid", "length": 1.0, **(_PARTS | named if named else {})}
        if place[0] == "links":
            name = given.get("name")
            link["name"] = name if isinstance(name, str) else f"_{place[-1]}"
            link["joint"] = given.get("joint", {})
        return link
    if key == "name":
        return f"_{''.join(map(str, place))}"
    if place[0] == "closures":
        # Harmless ends, a harmless closure, or none of them; other keys are left out
        links = data.get("links")
        names = [get(link, "name") for link in links] if isinstance(links, list) else []
        words = [name for name in names if isinstance(name, str)]
        last_link = words[-1] if words else "_"
        closure = {"ends": [last_link, "base"], "type": "distance", "length": 1.0}
        if len(place) == 1:
            return []
        if len(place) == 2:
            return closure
        return {"ends": closure["ends"], "length": 1.0}.get(str(place[2]))
    return 1.0 if key in _ONES else _SOUND.get(str(key))
