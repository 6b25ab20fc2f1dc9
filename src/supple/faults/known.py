"""What may stand at a place of a description, read from the models themselves."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from ..values import Place
from .meanings import MEANINGS

__all__ = [
    "at",
    "derived_keys",
    "get",
    "known_keys",
    "known_shapes",
    "models_at",
    "plain",
    "size_at",
]


LEAVES = {float, int, str, bool, type(None)}


def get(data: Any, key: str | int) -> Any:
    """The entry of a mapping or list, or None when there is none."""
    if isinstance(data, Mapping):
        return data.get(key)
    inside = isinstance(data, list | tuple) and isinstance(key, int) and 0 <= key < len(data)
    return data[key] if inside else None


def at(data: Any, place: Place) -> Any:
    """The part of the data at a place, or None."""
    for key in place:
        data = get(data, key)
    return data


def plain(part: Any) -> Any:
    """Return data with descriptions among them as mappings, tuples as lists; containers are new."""
    if type(part) in LEAVES:  # most parts are: asking an abstract class about them costs more
        return part
    if isinstance(part, BaseModel):
        derived = derived_keys(part)
        return {
            key: plain(getattr(part, key)) for key in type(part).model_fields if key not in derived
        }
    if isinstance(part, Mapping):
        return {key: plain(value) for key, value in part.items()}
    return [plain(value) for value in part] if isinstance(part, tuple | list) else part


def derived_keys(part: BaseModel) -> tuple[str, ...]:
    """Return the fields of a part that were computed from another one, and are not written."""
    if getattr(part, "dh", None) is not None:
        return ("mount", "axis")
    row = getattr(getattr(part, "joint", None), "dh", None)
    if row is not None and row.convention == "standard" and row.a == getattr(part, "length", None):
        return ("length",)
    return ()


def models_at(model: type[BaseModel], data: Any, place: Place) -> list[type[BaseModel]]:
    """The models that may describe the part at `place`: one, the shapes of a section, or none."""
    annotation = _annotation(model, data, place)
    if get_origin(_bare(annotation)) in (tuple, dict):
        return []
    return _chosen(_models(annotation), at(data, place))


def known_keys(model: type[BaseModel], data: Any, place: Place) -> list[str]:
    """The keys that may stand in the part at `place`; where any name may, those that do."""
    if options := models_at(model, data, place):
        keys = {f.alias or key for option in options for key, f in option.model_fields.items()}
        return [key for key in MEANINGS if key in keys] + sorted(keys - MEANINGS.keys())
    part = at(data, place)
    return [str(key) for key in part] if isinstance(part, Mapping) else []


def known_shapes(model: type[BaseModel], place: Place) -> list[str]:
    """The shapes that a section at `place` may have."""
    shapes = (option.model_fields["shape"] for option in models_at(model, None, place))
    return [str(field.default) for field in shapes]


def size_at(model: type[BaseModel], data: Any, place: Place) -> int:
    """How many values the list at `place` must have; 0 when any number may."""
    parts = get_args(_bare(_annotation(model, data, place)))
    return 0 if Ellipsis in parts else len(parts)


def _annotation(model: type[BaseModel], data: Any, place: Place) -> Any:
    """The type of the part at a place, None when nothing may stand there."""
    annotation: Any = model
    for key in place:
        kind = get_origin(bare := _bare(annotation))
        if kind in (tuple, dict):
            annotation = get_args(bare)[1 if kind is dict else 0]
        else:
            fields = (m.model_fields.get(str(key)) for m in _chosen(_models(annotation), data))
            annotation = next((field.annotation for field in fields if field is not None), None)
        data = get(data, key)
    return annotation


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
    shape = data.get("shape") if isinstance(data, Mapping) else None
    fits = [m for m in options if (f := m.model_fields.get("shape")) and f.default == shape]
    return fits or options
