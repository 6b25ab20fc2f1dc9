"""Faults of a description as sentences: the place, what was given, what is allowed, what to try.

`validated` turns plain data into a description or raises one RobotError with every fault. A part
whose fields are faulty is not checked as a whole by pydantic, and neither is what holds it; so
faulty values are replaced by harmless ones (`_SOUND`) and the data is looked at again.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from .errors import RobotError
from .meanings import MEANINGS
from .values import Place

__all__ = ["Fault", "known_keys", "models_at", "nearest", "raise_faults", "shown", "validated"]

AnyModel = TypeVar("AnyModel", bound=BaseModel)

LIMIT = 50  # sentences printed of one file


class Fault(NamedTuple):
    """One fault: the place of the part it is in, a sentence, and the key it is about, if any."""

    place: Place
    sentence: str
    key: str | int | None = None


def validated(
    model: type[AnyModel],
    data: Mapping[str, Any],
    lines: Mapping[Place, int] | None = None,
    where: str = "",
    earlier: Iterable[Fault] = (),
) -> AnyModel:
    """Return the description that `data` holds, or raise RobotError with every fault of it.

    `lines` gives the line of each place in the file, `earlier` the faults found while reading it.
    """
    found = list(earlier)
    try:
        made = model.model_validate(data)
    except ValidationError:
        found += _every_fault(model, data)
    if found:
        raise_faults(found, data, lines or {}, where)
    return made


def raise_faults(
    found: Iterable[Fault], data: Any, lines: Mapping[Place, int] | None = None, where: str = ""
) -> None:
    """Raise RobotError with the faults in the order of the file, each with its place and line."""
    at = lines or {}
    numbered = [(_line(fault, at), fault) for fault in dict.fromkeys(found)]
    if all(line for line, _ in numbered):
        numbered.sort(key=lambda pair: pair[0])
    sentences = [_text(fault, data, line) for line, fault in numbered[:LIMIT]]
    if len(numbered) > LIMIT:
        sentences.append(f"and {len(numbered) - LIMIT} more faults: mend these first")
    raise RobotError(sentences, where)


def _line(fault: Fault, lines: Mapping[Place, int]) -> int:
    """Line of the key a fault is about, else of the part that holds it; 0 when not known."""
    place: Place = fault.place if fault.key is None else (*fault.place, fault.key)
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 0)


def _text(fault: Fault, data: Any, line: int) -> str:
    place = named(fault.place, data)
    prefix = f"{place}: " if place else ""
    return prefix + fault.sentence + (f" (line {line})" if line else "")


def named(place: Place, data: Any) -> str:
    """Return a place as a dotted path, links by their name where they have one."""
    parts: list[str] = []
    for key in place:
        data = _get(data, key)
        name = _get(data, "name") if parts == ["links"] else None
        parts.append(name if isinstance(name, str) and name.strip() else str(key))
    return ".".join(parts)


def _get(data: Any, key: str | int) -> Any:
    if isinstance(data, Mapping):
        return data.get(key)
    inside = isinstance(data, list | tuple) and isinstance(key, int) and 0 <= key < len(data)
    return data[key] if inside else None


# --- every fault of one description ---------------------------------------------------------------


def _every_fault(model: type[BaseModel], data: Mapping[str, Any]) -> list[Fault]:
    """Faults of the data as it is, then of the data with those faults mended, up to the whole."""
    found: dict[Fault, None] = {}
    for _ in range(5):
        try:
            model.model_validate(data)
            break
        except ValidationError as problem:
            errors = problem.errors(include_url=False)
        for error in errors:
            found.update(dict.fromkeys(_faults_of(error, model, data)))
        if len(errors) > LIMIT or any(not error["loc"] for error in errors):
            break
        data = _mended(data, errors, model)
    return list(found)


def _faults_of(error: Any, model: type[BaseModel], data: Mapping[str, Any]) -> list[Fault]:
    """Sentences for one pydantic error."""
    place = _place(error, data)
    if error["type"] == "supple_faults":
        return [Fault((*place, *inner), sentence) for inner, sentence in error["ctx"]["faults"]]
    if error["type"] == "supple":
        return [Fault(place, error["ctx"]["sentence"])]
    if not place:
        return [Fault((), f"the description is {shown(data)}: it must be a mapping of keys")]
    if isinstance(place[-1], int) and place[-2:-1] != ("links",):
        return [_element_fault(error, place, data)]
    holder, key = place[:-1], place[-1]
    return [Fault(holder, _sentence(error, model, data, place), key)]


def _place(error: Any, data: Any) -> Place:
    """Where an error is in the data: pydantic's location without the tags of its unions."""
    loc, place = error["loc"], []
    for i, key in enumerate(loc):
        absent = error["type"] in ("missing", "extra_forbidden") and i == len(loc) - 1
        holds = isinstance(data, Mapping) and (key in data or absent)
        if holds or (isinstance(data, list | tuple) and isinstance(key, int)):
            place.append(key)
            data = _get(data, key)
    return tuple(place)


def _element_fault(error: Any, place: Place, data: Any) -> Fault:
    """A fault in one element of a list of numbers, told of the list."""
    holder, key = place[:-2], place[-2]
    given = data
    for part in place[:-1]:
        given = _get(given, part)
    if error["type"] == "missing":
        sentence = f"{key} has {len(given)} values: it must have more of them{_meaning(key)}"
    else:
        sentence = f"{key} holds {shown(error['input'])}: {_allowed(error)}{_meaning(key)}"
    return Fault(holder, sentence, key)


def _sentence(error: Any, model: type[BaseModel], data: Any, place: Place) -> str:
    """What is wrong with the key at the end of `place`."""
    key, kind = place[-1], error["type"]
    if kind == "extra_forbidden":
        return unknown_key(str(key), known_keys(model, data, place[:-1]))
    if kind == "missing":
        return f"{key} is missing: add it{_meaning(key)}"
    what = "a link" if isinstance(key, int) else key
    if kind == "union_tag_not_found":
        return f"{what} has no shape: add shape: with one of {_listed(known_shapes(model, place))}"
    if kind == "union_tag_invalid":
        given, allowed = error["ctx"]["tag"], known_shapes(model, place)
        return f"shape is '{given}': it must be one of {_listed(allowed)}{_perhaps(given, allowed)}"
    if kind == "too_long" and "links" not in place:
        most = error["ctx"]["max_length"]
        return f"{key} has {len(error['input'])} values: it must have {most}{_meaning(key)}"
    return f"{what} is {shown(error['input'])}: {_allowed(error)}{_meaning(key)}"


def _allowed(error: Any) -> str:
    """What a value must be, from the kind of error."""
    kind, ctx = error["type"], error.get("ctx", {})
    if kind == "literal_error":
        allowed = ctx["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        given = error["input"]
        return f"it must be one of {_listed(allowed)}{_perhaps(str(given), allowed)}"
    bounds = {"gt": "greater than", "ge": "at least", "lt": "below", "le": "at most"}
    for bound, words in bounds.items():
        if bound in ctx:
            return f"it must be {words} {ctx[bound]:g}"
    return _ALLOWED.get(kind, f"{error['msg'][:1].lower()}{error['msg'][1:]}")


_MAPPING = "it must be a mapping of keys, such as {key: value}"
_ALLOWED = {
    "float_type": "it must be a number, without a unit",
    "finite_number": "it must be a finite number",
    "string_type": "it must be a text",
    "string_too_short": "it must not be empty",
    "string_pattern_mismatch": "it must be one word without dots, such as link1",
    "bool_type": "it must be true or false",
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "tuple_type": "it must be a list in brackets, such as [0, 0, 1]",
    "too_short": "it must have at least one entry",
    "invalid_key": "keys must be texts",
}


def unknown_key(key: str, known: Iterable[str]) -> str:
    """A sentence for a key that is not known, with the nearest one that is."""
    keys = list(known)
    if near := nearest(key, keys):
        return f"unknown key {shown(key)}: did you mean '{near}'?"
    return f"unknown key {shown(key)}: known here are {', '.join(keys)}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None when none is near."""
    plain = {name.casefold().replace("-", "_"): name for name in known}
    given = word[:80].casefold().replace("-", "_").replace(" ", "_")
    found = difflib.get_close_matches(given, plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def shown(value: Any) -> str:
    """A value as a fault shows it: short, texts in quotes, YAML's words for true, false and null."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, str):
        text = value if len(value) <= 40 else value[:37] + "..."
        return "'" + "".join(c if c.isprintable() else "?" for c in text) + "'"
    text = str(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 40 else text[:37] + "..."


def _perhaps(word: str, known: Iterable[str]) -> str:
    near = nearest(word, known)
    return f"; did you mean '{near}'?" if near else ""


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def _meaning(key: str | int) -> str:
    text = MEANINGS.get(str(key))
    return f" ({text})" if text else ""


# --- what is known at a place ---------------------------------------------------------------------


def models_at(model: type[BaseModel], data: Any, place: Place) -> list[type[BaseModel]]:
    """The models that may describe the part at `place`: one, or the shapes of a section."""
    annotation: Any = model
    for key in place:
        if get_origin(_bare(annotation)) in (tuple, dict):
            annotation = get_args(_bare(annotation))[-1 if isinstance(key, str) else 0]
        else:
            fields = [m.model_fields.get(str(key)) for m in _chosen(_models(annotation), data)]
            annotation = next((field.annotation for field in fields if field is not None), None)
        data = _get(data, key)
    collection = get_origin(_bare(annotation)) in (tuple, dict)
    return [] if collection else _chosen(_models(annotation), data)


def known_keys(model: type[BaseModel], data: Any, place: Place) -> list[str]:
    """The keys that may stand in the part at `place`."""
    part = data
    for key in place:
        part = _get(part, key)
    if not (options := models_at(model, data, place)):
        return [str(key) for key in part] if isinstance(part, Mapping) else []
    return list(dict.fromkeys(key for option in options for key in option.model_fields))


def known_shapes(model: type[BaseModel], place: Place) -> list[str]:
    """The shapes of a section at `place`."""
    options = models_at(model, None, place)
    return [str(option.model_fields["shape"].default) for option in options]


def _bare(annotation: Any) -> Any:
    """An annotation without Annotated and without None."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [part for part in get_args(annotation) if part is not type(None)]
        return _bare(rest[0]) if len(rest) == 1 else annotation
    return annotation


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Every model named in an annotation, in order."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def _chosen(options: list[type[BaseModel]], data: Any) -> list[type[BaseModel]]:
    """The option whose shape the data names, else all of them."""
    shape = _get(data, "shape") if isinstance(data, Mapping) else None
    fits = [m for m in options if (f := m.model_fields.get("shape")) and f.default == shape]
    return fits or options


# --- mending --------------------------------------------------------------------------------------

_STEEL = {"young_modulus": 1.0, "density": 1.0, "poisson_ratio": 0.3}
_ROUND = {"shape": "circle", "diameter": 1.0}
_BEAM = {"length": 1.0, "material": _STEEL, "section": _ROUND}
# Harmless values by key, for what must be present or whose presence matters; the rest is dropped.
_SOUND: dict[str, Any] = {
    "materials": {},
    "sections": {},
    "material": _STEEL,
    "section": _ROUND,
    "name": "_",
    "links": [{"name": "_", "theory": "rigid"}],
    "platform": {"radius": 1.0, "thickness": 1.0, "mass": 1.0},
    "upper": _BEAM,
    "lower": _BEAM,
    "wall": 1e-300,
    "body": {},
    "spacing": 1.0,
    "poisson_ratio": 0.3,
}
_ONES = (
    "young_modulus density depth width diameter area second_moment_z radius thickness mass "
    "base_radius length mass_per_length bending_stiffness axial_stiffness shear_stiffness "
    "torsional_stiffness rotary_inertia_per_length polar_inertia_per_length shear_modulus"
).split()
_SOUND.update(dict.fromkeys(_ONES, 1.0))


def _mended(data: Mapping[str, Any], errors: Iterable[Any], model: type[BaseModel]) -> Any:
    """A copy of the data in which every faulty value is harmless and near keys are as meant."""
    copy = deepcopy(data)
    for error in errors:
        place = _place(error, copy)
        if isinstance(place[-1], int) and place[-2:-1] != ("links",):
            place = place[:-1]
        _mend(copy, place, error, model)
    return copy


def _mend(data: Any, place: Place, error: Any, model: type[BaseModel]) -> None:
    holder, key = data, place[-1]
    for part in place[:-1]:
        holder = _get(holder, part)
    if not isinstance(holder, dict | list) or (isinstance(holder, dict) and key not in holder):
        if isinstance(holder, dict) and error["type"] == "missing":
            holder[key] = deepcopy(_SOUND.get(str(key), 1.0))
        return
    if isinstance(key, int) or place[0] in ("upper", "lower") and len(place) == 1:
        holder[key] = _sound_link(holder[key], place)  # type: ignore[index]
        return
    given = holder.pop(key)
    if error["type"] == "extra_forbidden":
        near = nearest(str(key), known_keys(model, data, place[:-1]))
        if near and near not in holder:
            holder[near] = given
    elif error["type"] == "literal_error":
        if near := nearest(str(given), _literals(error)):
            holder[key] = near
    elif (sound := _sound(place)) is not None:
        holder[key] = deepcopy(sound)
