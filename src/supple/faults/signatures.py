"""Signatures and docstrings of description classes that a person can read.

Pydantic shows the validators of every field in a signature. `help(supple.Link)`, an editor and the
reference should show `length: float | None = None` and say what the key means instead.
"""

from __future__ import annotations

import types
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from ..readable_help import UnquotedText
from .meanings import MEANINGS

__all__ = ["describe_class", "set_readable_signature"]

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


class _ReadableDocstring:
    """Docstring of a description class, composed when somebody looks at it."""

    def __init__(self, written: str | None) -> None:
        self.written = written

    def __get__(self, instance: object, owner: type[BaseModel]) -> str | None:
        return readable_docstring(owner, self.written)


class _ReadableSignature:
    """Signature of a description class, composed when somebody looks at it."""

    def __get__(self, instance: object, owner: type[BaseModel]) -> Signature:
        if instance is not None:  # an instance is no function
            raise AttributeError("__signature__")
        return readable_signature(owner)


def describe_class(cls: type[BaseModel]) -> None:
    """Give a description class its readable signature, and its fields as Parameters."""
    set_readable_signature(cls)
    type.__setattr__(cls, "__doc__", _ReadableDocstring(cls.__dict__.get("__doc__")))


def set_readable_signature(cls: type[BaseModel]) -> None:
    """Give a description class its readable signature."""
    type.__setattr__(cls, "__signature__", _ReadableSignature())


def readable_signature(cls: type[BaseModel]) -> Signature:
    """Return the fields of a description class as keywords, required ones first."""
    parameters = []
    for name, field in cls.model_fields.items():
        default: Any = Parameter.empty
        if not field.is_required():
            value = field.get_default(call_default_factory=True, validated_data={})
            default = UnquotedText(repr(value) if len(repr(value)) <= 30 else UNSHOWN)
        kind = UnquotedText(readable_type(field.annotation))
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    return Signature(sorted(parameters, key=lambda one: one.default is not Parameter.empty))


def readable_docstring(cls: type[BaseModel], written: str | None) -> str | None:
    """Return a docstring with the fields as Parameters, between its summary and its examples."""
    lines = []
    for name, field in cls.model_fields.items():
        kind = readable_type(field.annotation)
        optional = "" if field.is_required() else ", optional"
        lines.append(f"{name} : {kind.removesuffix(' | None')}{optional}")
        lines.append(f"    {MEANINGS.get(name, 'see the page on robot files')}")
    if not lines or "Parameters\n" in (written or ""):
        return written
    summary, heading, examples = (written or cls.__name__).partition("\n    Examples\n")
    body = "\n".join(f"    {line}" for line in ["Parameters", "----------", *lines])
    return f"{summary.rstrip()}\n\n{body}\n{heading}{examples.rstrip()}\n    "
