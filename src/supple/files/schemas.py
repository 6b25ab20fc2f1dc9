"""The JSON schema of robot files, for editors that check YAML while one types."""

from __future__ import annotations

from typing import Annotated, Any, Union

from pydantic import Field, TypeAdapter

from ..architectures.kinds import FAMILIES
from ..faults import MEANINGS
from ..values import unit_of

__all__ = ["schema"]


def schema() -> dict[str, Any]:
    """JSON schema of robot files of every architecture, with the meaning of each key.

    Returns
    -------
    dict
        A JSON schema, for editors that complete and check YAML.

    Examples
    --------
    >>> import supple
    >>> "oneOf" in supple.schema()
    True
    """
    every: Any = Union[tuple(FAMILIES)]  # noqa: UP007 - of a tuple there is no other way
    kinds = Annotated[every, Field(discriminator="architecture")]
    found = TypeAdapter(kinds).json_schema(mode="validation")
    _write_bounds(found)
    for part in found["$defs"].values():
        for key, value in part.get("properties", {}).items():
            value.pop("title", None)
            value.setdefault("description", MEANINGS.get(key, ""))
            if unit_of(key) is not None:
                part["properties"][key] = _with_units(value)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "supple robot file",
        **found,
    }


_MEASURED = {"type": "string", "pattern": r"^[-+]?[0-9.]+([eE][-+]?[0-9]+)? *[A-Za-zµ°]"}


def _with_units(part: Any) -> Any:
    """The same schema in which every number may also be a text with a unit."""
    if isinstance(part, list):
        return [_with_units(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "number":
        shown = {key: part[key] for key in ("description", "default") if key in part}
        number = {key: value for key, value in part.items() if key not in shown}
        return {"anyOf": [number, _MEASURED], **shown}
    return {key: _with_units(value) for key, value in part.items()}


_BOUNDS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
}


def _write_bounds(part: Any) -> None:
    """Write bounds in the words of JSON schema, in place; pydantic keeps its own on some fields."""
    if isinstance(part, list):
        for entry in part:
            _write_bounds(entry)
    elif isinstance(part, dict):
        for bound in _BOUNDS.keys() & part.keys():
            if isinstance(part[bound], int | float):
                part[_BOUNDS[bound]] = part.pop(bound)
        for entry in part.values():
            _write_bounds(entry)
