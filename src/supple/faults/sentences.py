"""One pydantic error as a sentence: what was given, what is allowed, what to try."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from ..values import Place, unit_of
from .known import at, known_keys, known_shapes, size_at
from .meanings import MEANINGS

__all__ = [
    "Fault",
    "literals",
    "meant_key",
    "nearest",
    "place_of",
    "quote",
    "sentences",
    "unknown_key",
    "without_typos",
]


class Fault(NamedTuple):
    """One fault: the place of the part it is in, a sentence, and the key it is about, if any."""

    place: Place
    sentence: str
    key: str | int | None = None


# Words that engineers use for keys and kinds which have another name here.
COMMON_NAMES = {
    "e": "young_modulus",
    "g": "shear_modulus",
    "nu": "poisson_ratio",
    "rho": "density",
    "height": "depth",
    "thickness": "wall",
    "pipe": "tube",
    "rod": "circle",
    "round": "circle",
    "square": "rectangle",
    "hinge": "revolute",
    "rotary": "revolute",
    "rotational": "revolute",
    "linear": "prismatic",
    "slider": "prismatic",
    "ball": "spherical",
    "cardan": "universal",
}
# Keys that belong elsewhere: a key known only where they are missed, and what to do instead.
MISPLACED = {
    "mass": ("mass_per_length", "a mass on the link's end stands in tip, such as tip: {mass: 3}"),
    "inertia": ("mass_per_length", "it belongs to a body, such as tip: {mass: 3, inertia: 0.1}"),
    "parent": ("mass_per_length", "it is for architecture: mechanism"),
    "passive": ("rotor_inertia", "it is for architecture: mechanism"),
    "closures": ("payload", "it is for architecture: mechanism"),
    "radius": ("diameter", "give the diameter, twice the radius"),
}
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?(\s*[A-Za-z].*)?$")


def sentences(error: Any, model: type[BaseModel], data: Any) -> list[Fault]:
    """The faults that one pydantic error of `data` tells of."""
    place = place_of(error, data)
    if error["type"] in ("supple", "supple_faults"):
        # Told by a description itself; the first word may be the key it is about
        context = error["ctx"]
        found = []
        for inner, text in context.get("faults", [((), context["sentence"])]):
            word = text.partition(" ")[0]
            part = at(data, (*place, *inner))
            known = isinstance(part, Mapping) and word in part
            found.append(Fault((*place, *inner), text, word if known else None))
        return found
    if is_element(place):
        # A fault in one element of a list, reported for the list
        key = place[-2]
        if error["type"] == "missing":
            given = len(at(data, place[:-1]))
            size = size_at(model, data, place[:-1])
            of_element = f"{key} has {given} values: it must have {size}{_meaning(key)}"
        else:
            of_element = (
                f"{key} holds {quote(error['input'])}: {_allowed_words(error, key)}{_meaning(key)}"
            )
        return [Fault(place[:-2], of_element, place[-2])]
    if isinstance(place[-1], int):
        what = "closure" if place[0] == "closures" else "link"
        return [Fault(place, f"this {what} is {quote(error['input'])}: {_allowed_words(error)}")]
    return [Fault(place[:-1], _of_key(error, model, data, place), place[-1])]


def without_typos(errors: list[Any], model: type[BaseModel], data: Any) -> list[Any]:
    """The errors without `missing` ones of keys that are there, only misspelt."""
    meant: set[Place] = set()
    for error in errors:
        if error["type"] == "extra_forbidden":
            place = place_of(error, data)
            suggestion = meant_key(str(place[-1]), known_keys(model, data, place[:-1]))
            meant.add((*place[:-1], suggestion or ""))
    return [e for e in errors if e["type"] != "missing" or place_of(e, data) not in meant]


def place_of(error: Any, data: Any) -> Place:
    """Where an error is in the data: pydantic's location without the tags of its unions."""
    place: list[str | int] = []
    for i, key in enumerate(error["loc"]):
        absent = error["type"] == "missing" and i == len(error["loc"]) - 1
        holds = isinstance(data, Mapping) and (key in data or absent)
        tag = place[-1:] in (["material"], ["section"]) and len(place) == i
        if not tag and (holds or (isinstance(data, list | tuple) and isinstance(key, int))):
            place.append(key)
            data = at(data, (key,))
    return tuple(place)


def is_element(place: Place) -> bool:
    """Whether a place is one element of a list of numbers, not a link or a closure."""
    return isinstance(place[-1], int) and place[:-1] not in (("links",), ("closures",))


def _of_key(error: Any, model: type[BaseModel], data: Any, place: Place) -> str:
    """What is wrong with the key at the end of `place`."""
    key = place[-1]
    kind = error["type"]
    if kind == "extra_forbidden":
        if str(key).isdigit():  # {length: 1,2} is a length of 1 and a key 2
            question = f"unknown key {quote(key)}: is it the rest of a decimal comma?"
            return f"{question} write a point, 1.{key}"
        return unknown_key(str(key), known_keys(model, data, place[:-1]))
    if kind == "missing":
        return f"{key} is missing: add it{_meaning(key)}"
    if kind == "union_tag_not_found":
        shapes = ", ".join(known_shapes(model, place))
        return f"{key} has no shape: add shape, one of {shapes}"
    if kind == "union_tag_invalid":
        return f"{key} has shape {_one_of(error['ctx']['tag'], known_shapes(model, place))}"
    if kind == "too_long":
        size = error["ctx"]["max_length"]
        return f"{key} has {len(error['input'])} values: it must have {size}{_meaning(key)}"
    hint = "" if kind == "literal_error" else _meaning(key)
    return f"{key} is {quote(error['input'])}: {_allowed_words(error, key)}{hint}"


def _allowed_words(error: Any, key: str | int = "") -> str:
    """What a value must be, from the kind of error."""
    ctx = error.get("ctx", {})
    if isinstance(error["input"], str) and DECIMAL_COMMA.match(error["input"]):
        return f"write a point for the decimal comma, {error['input'].replace(',', '.')}"
    if error["type"] == "float_type" and (unit := unit_of(str(key))) is not None:
        return f"it must be a number, alone or with a unit that converts to {unit}"
    if error["type"] == "literal_error":
        return _one_of(error["input"], literals(error)).partition(": ")[2]
    for bound, words in _BOUNDS.items():
        if bound in ctx:
            return f"it must be {words} {ctx[bound]:g}"
    message: str = error["msg"]
    return _ALLOWED.get(error["type"], message[:1].lower() + message[1:])


_BOUNDS = {"gt": "greater than", "ge": "at least", "lt": "below", "le": "at most"}
_MAPPING = "it must be a mapping of keys to values"
_ALLOWED = {
    "float_type": "it must be a number without a unit",
    "finite_number": "it must be a finite number",
    "string_type": "it must be a text",
    "string_too_short": "it must not be empty",
    "string_pattern_mismatch": "it must have neither dots nor spaces",
    "bool_type": "it must be true or false",
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "tuple_type": "it must be a list of values",
    "too_short": "it must have at least one entry",
}


def literals(error: Any) -> list[str]:
    """The words that a literal error allows."""
    text: str = error["ctx"]["expected"]
    return text.replace("'", "").replace(" or ", ", ").split(", ")


def unknown_key(key: str, known: Iterable[str]) -> str:
    """A sentence for a key that is not known, with the nearest one that is."""
    keys = list(known)
    if advice := _misplaced(key, keys):
        return f"unknown key {quote(key)}: {advice}"
    if suggestion := nearest(key, keys):
        return f"unknown key {quote(key)}: did you mean '{suggestion}'?"
    return f"unknown key {quote(key)}: known here are {', '.join(keys) or 'none'}"


def meant_key(key: str, known: Iterable[str]) -> str | None:
    """The known key that was probably meant; None when none is near, or it belongs elsewhere."""
    keys = list(known)
    return None if _misplaced(key, keys) else nearest(key, keys)


def _misplaced(key: str, known: Iterable[str]) -> str | None:
    """What to do with a key that belongs elsewhere."""
    sibling, advice = MISPLACED.get(key, ("", ""))
    return advice if sibling in known else None


def _one_of(given: Any, allowed: list[str]) -> str:
    suggestion = nearest(quote(given).strip("'"), allowed)
    hint = f"; did you mean '{suggestion}'?" if suggestion else ""
    return f"{quote(given)}: it must be one of {', '.join(allowed)}{hint}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None when none is near."""
    plain = {name.casefold().replace("-", "_"): name for name in known}
    given = word[:80].casefold().replace("-", "_").replace(" ", "_")
    if COMMON_NAMES.get(given) in plain:
        return plain[COMMON_NAMES[given]]
    begun = [name for name in plain if len(given) > 2 and name.startswith(given)]
    found = begun or difflib.get_close_matches(given, plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def quote(value: Any) -> str:
    """A value as a fault shows it: short, texts in quotes, true and false as in YAML."""
    if isinstance(value, Mapping) or value is None:
        return "empty" if value is None else "a mapping"
    if isinstance(value, bool):
        return str(value).lower()
    plain = list(value) if isinstance(value, tuple) else value
    try:
        text = value if isinstance(value, str) else str(plain)
    except ValueError:  # integers of thousands of digits are not written out
        text = f"a {type(value).__name__} of thousands of digits"
    text = "".join(c if c.isprintable() else "?" for c in text[:41])
    text = text if len(text) <= 40 else text[:37] + "..."
    return f"'{text}'" if isinstance(value, str) else text


def _meaning(key: str | int) -> str:
    text = MEANINGS.get(str(key))
    return f" ({text})" if text else ""
