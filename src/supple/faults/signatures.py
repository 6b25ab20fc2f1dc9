"""Signatures and docstrings of description classes that a person can read.

Pydantic shows the validators of every field in a signature. `help(supple.Link)`, an editor and the
reference should show `length: float | None = None` and say what the key means instead.
"""

from __future__ import annotations

import types
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from .meanings import MEANINGS

__all__ = ["describe_class"]

UNSHOWN = "..."


def readable_type(annotation: Any) -> str:
    """Return a type as one would write it, without validators: `float | None`."""
    origin = get_origin(annotation)
    if annotation is None or annotation is type(None):
        return "None"
    if origin is Annotated:
        return readable_type(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        parts = [readable_type(part) for part in get_args(annotation)]
        return " | ".join(dict.fromkeys(parts))
    if origin is Literal:
        return " | ".join(repr(choice) for choice in get_args(annotation))
    if origin is not None:
        parts = [
            UNSHOWN if part is Ellipsis else readable_type(part) for part in get_args(annotation)
        ]
        return f"{origin.__name__}[{', '.join(parts)}]"
    return str(getattr(annotation, "__name__", annotation))


class _Written(str):
    """Text that stands in a signature as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def describe_class(cls: type[BaseModel]) -> None:
    """Give a description class its readable signature, and its fields as Parameters."""
    parameters = []
    lines = []
    for name, field in cls.model_fields.items():
        kind = readable_type(field.annotation)
        default: Any = Parameter.empty
        if not field.is_required():
            value = field.get_default(call_default_factory=True, validated_data={})
            default = _Written(repr(value) if len(repr(value)) <= 30 else UNSHOWN)
        parameters.append(
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=_Written(kind))
        )
        optional = "" if field.is_required() else ", optional"
        lines.append(f"{name} : {kind.removesuffix(' | None')}{optional}")
        lines.append(f"    {MEANINGS.get(name, 'see the page on robot files')}")
    required_first = sorted(parameters, key=lambda one: one.default is not Parameter.empty)
    cls.__signature__ = Signature(required_first)
    if lines and "Parameters\n" not in (cls.__doc__ or ""):
        # Parameters stand between the summary and the examples
        written = cls.__doc__ or cls.__name__
        summary, heading, examples = written.partition("\n    Examples\n")
        body = "\n".join(f"    {line}" for line in ["Parameters", "----------", *lines])
        cls.__doc__ = f"{summary.rstrip()}\n\n{body}\n{heading}{examples.rstrip()}\n    "
