"""Description: what all parts of a robot share, made in Python as strictly as from a file."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ..answers.registry import duty
from ..errors import RobotError, SuppleError
from ..values import MEASURED, fault, in_si
from .finding import every_fault, robot_error
from .known import plain
from .signatures import describe_class, set_readable_signature

__all__ = ["Description"]

WIDTH = 76  # characters of a repr, of one field
LINES = 20
HOLDS_ITSELF = "a list or mapping in it holds itself, or is nested too deeply: write it out"


class Description(BaseModel, ABC):
    """What all parts share: frozen, strict, with units, and faults are sentences."""

    # A schema is built when its class is first used: a file needs only its own architecture.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Show people the fields, not their validators, in signatures and docstrings."""
        super().__pydantic_init_subclass__(**options)
        describe_class(cls)

    @classmethod
    def __pydantic_on_complete__(cls) -> None:
        """Set the signature again when pydantic has built the class, which sets its own."""
        set_readable_signature(cls)

    @field_validator(*MEASURED, mode="before", check_fields=False)
    @classmethod
    def _units(cls, value: Any, info: ValidationInfo) -> Any:
        return in_si(info.field_name or "", value, info.data.get("type") == "prismatic")

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if (problem := self._problem()) is not None:
            raise fault(problem)
        return self

    def _problem(self) -> str | None:
        """The first contradiction among the fields, as a sentence."""
        return None

    if not TYPE_CHECKING:  # whose signature is that of the fields

        def __init__(self, /, **data: Any) -> None:
            """Make it, or raise a RobotError with every fault, as a robot file would get."""
            kind = type(self)
            try:
                try:
                    super().__init__(**data)
                except ValidationError:
                    found = every_fault(kind, data)
                    raise robot_error(found, plain(data), where=kind.__name__) from None
            except RecursionError:
                raise RobotError([HOLDS_ITSELF], kind.__name__) from None

        __init__.__pydantic_base_init__ = True  # parts inside are made without it, as before

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to change a field: a description is frozen."""
        if name in type(self).model_fields:
            raise SuppleError(
                f"{type(self).__name__} is frozen, {name} cannot be set: make a changed copy, as "
                "robot.with_(path, value) does"
            )
        super().__setattr__(name, value)

    def __repr_args__(self) -> Any:
        """Tell what was given, not the defaults, each thing short."""
        shown = []
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if field.is_required() or value != field.get_default(call_default_factory=True):
                text = repr(value)
                shown.append((name, value if len(text) <= WIDTH else _Short(value)))
        return shown[:LINES]

    def __str__(self) -> str:
        """Return it as an engineer would write it down; else what was given, as `repr` does."""
        write = duty(self, "text")
        return super().__str__() if write is None else str(write(self))

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from ..answers.immutable import as_html  # loads numpy, which reading a file does not need

        rows = [(name, repr(value)) for name, value in self.__repr_args__()]
        return as_html(type(self).__name__, rows)


class _Short:
    """Stands in a repr for what would be too long there."""

    def __init__(self, value: Any) -> None:
        several = isinstance(value, tuple | list | dict) or hasattr(value, "keys")
        named = [str(getattr(part, "name", part)) for part in value] if several else []
        words = ", ".join(name for name in named if len(name) < WIDTH)
        many = f"{len(named)} {'entry' if len(named) == 1 else 'entries'}"
        what = many if several else type(value).__name__
        self.text = f"<{what}{f': {words:.60}' if words else ''}>"

    def __repr__(self) -> str:
        return self.text
