"""Values that hold still: arrays copied and read-only, compared by content, shown on one screen."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cached_property, wraps
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from ..arguments import Check
from ..errors import SuppleError
from ..on_demand import ModuleOnDemand
from .registry import duty

if TYPE_CHECKING:
    import numpy as np
else:
    np = ModuleOnDemand("numpy")

__all__ = [
    "FrozenTable",
    "Immutable",
    "Timed",
    "as_html",
    "as_html_text",
    "freeze_arrays",
    "frozen",
    "frozen_property",
    "same",
    "short",
]

T = TypeVar("T")
SCREEN_WIDTH = 98  # characters of a printed line
VALUE_WIDTH = 72  # characters of one value
MAX_LINES = 20  # of one object


MAX_NESTING = 100  # levels of tables in tables


def freeze_arrays(value: Any, depth: int = 0) -> Any:
    """Return a value whose arrays nobody can change: copies, unless they are read-only already."""
    if depth > MAX_NESTING:
        raise SuppleError("a value holds itself, or is nested too deeply: give plain numbers")
    if isinstance(value, np.ndarray):
        owner: Any = value
        while isinstance(owner, np.ndarray) and not owner.flags.writeable:
            owner = owner.base
        if owner is not None:
            value = np.array(value)
            value.setflags(write=False)
        return value
    if type(value) is tuple:
        return tuple(freeze_arrays(part, depth + 1) for part in value)
    if isinstance(value, dict):
        return FrozenTable({key: freeze_arrays(part, depth + 1) for key, part in value.items()})
    return value


class FrozenTable(dict[str, T]):
    """Parts by name that cannot be changed: a dict that reads, compares, pickles and hashes."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse any change: what holds it is what it was made."""
        raise SuppleError(
            "the tables of robots and answers cannot be changed: make a changed copy, such as "
            "robot.with_('materials.steel.density', 7850), or dict(table)"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def __copy__(self) -> FrozenTable[T]:
        return self

    def __deepcopy__(self, memo: Any) -> FrozenTable[T]:
        return self  # parts are frozen too


PLAIN = {float, int, str, bool, type(None)}  # most parts are, and hold no array
LISTS = (tuple, list)


def frozen(value: T) -> T:
    """Return the value itself, its arrays and those of its parts made read-only where they are.

    Of mappings dicts alone: others, such as a Model's functions, make their parts when asked.
    """
    if "numpy" not in sys.modules:
        return value  # nobody has made an array yet
    array = np.ndarray
    walked: set[int] = set()  # parts that stand at several places are looked at once
    left: list[Any] = [value]
    while left:
        one = left.pop()
        kind = type(one)
        if kind is array or isinstance(one, array):
            one.setflags(write=False)
            continue
        if id(one) in walked:
            continue
        walked.add(id(one))
        if isinstance(one, LISTS):
            parts: Any = one
        elif isinstance(one, dict):
            parts = one.values()
        elif hasattr(kind, "__dataclass_fields__"):
            parts = getattr(one, "__dict__", {}).values()
        else:
            continue
        left += [part for part in parts if type(part) not in PLAIN]
    return value


if TYPE_CHECKING:
    frozen_property = cached_property
else:

    class frozen_property(cached_property):  # noqa: N801 - it is used as cached_property is
        """A cached property whose arrays nobody can change."""

        def __init__(self, function: Any) -> None:
            super().__init__(wraps(function)(lambda self: freeze_arrays(function(self))))


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays by shape and content; NaN equals NaN."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        alike = isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape
        if not alike:
            return False
        numbers = a.dtype.kind in "fc" and b.dtype.kind in "fc"
        return bool(np.array_equal(a, b, equal_nan=numbers))
    if isinstance(a, tuple | list) and type(a) is type(b):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if is_dataclass(a) and type(a) is type(b) and not isinstance(a, type):
        return a is b or all(
            same(getattr(a, f.name), getattr(b, f.name)) for f in compared_fields(a)
        )
    if isinstance(a, float) and isinstance(b, float) and a != a and b != b:  # noqa: PLR0124 - NaN
        return True
    return bool(a == b)


def compared_fields(value: Any) -> list[Field[Any]]:
    """Return the fields of a dataclass that count when it is compared."""
    return [f for f in fields(value) if f.compare]


def short(value: Any) -> str:
    """Return a value in at most one short line: arrays by their shape and range."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.ndarray):
        if value.size <= 6 and value.ndim == 1 and value.dtype.kind in "fiub":
            return "[" + ", ".join(f"{x:.6g}" for x in value) + "]"
        if value.dtype.kind not in "fiu" or not np.isfinite(value).any():
            return f"array {value.shape}"
        return f"array {value.shape}, {np.nanmin(value):.6g} to {np.nanmax(value):.6g}"
    if isinstance(value, str):
        text = value if value.isprintable() else repr(value)
    elif isinstance(value, float):
        text = f"{value:.6g}"
    elif isinstance(value, tuple | list) and all(isinstance(part, str) for part in value):
        text = ", ".join(value)
    elif isinstance(value, tuple | list | Mapping) and len(repr(value)) > VALUE_WIDTH:
        text = f"{len(value)} entries"
    elif hasattr(value, "name") and hasattr(value, "gravity"):
        text = str(value.name)
    elif isinstance(value, Immutable):
        text = value._title
    else:
        text = " ".join(repr(value).split())
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 3] + "..."


def as_html(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return names and short values as a table with a title."""
    from html import escape

    html_rows = ""
    for name, text in rows:
        html_rows += (
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
        )
    return f"<b>{escape(title)}</b><table>{html_rows}</table>"


def as_html_text(title: str, text: str) -> str:
    """Return a title and a text whose columns stay aligned."""
    from html import escape

    return f"<b>{escape(title)}</b><pre>{escape(text)}</pre>"


class Timed:
    """What runs over times `t`, s, of its own."""

    t: Any

    @property
    def duration(self) -> float:
        """When it ends, s."""
        return float(self.t[-1])


class Immutable:
    """A dataclass that holds still. What it was given is copied, and its arrays are read-only.

    Two are equal when all their compared fields are, arrays by content. `repr` fits on a screen.
    `checks` says what its fields may be; what a check returns is kept.
    """

    checks: ClassVar[Mapping[str, Check]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Put the methods into the class itself, where @dataclass leaves them as they are."""
        super().__init_subclass__(**options)
        for name in ("__eq__", "__repr__"):
            if name not in cls.__dict__:
                setattr(cls, name, getattr(cls, name))

    def __post_init__(self) -> None:
        """Check the fields; copy the arrays that came from outside, and make them read-only."""
        for name, check in self.checks.items():
            object.__setattr__(self, name, check(name, getattr(self, name)))
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray | tuple | dict):
                object.__setattr__(self, name, freeze_arrays(value))

    def __eq__(self, other: object) -> bool:
        """Whether the other is of the same class with the same content."""
        if type(self) is not type(other) or not is_dataclass(type(self)):
            return self is other
        return same(self, other)

    def __hash__(self) -> int:
        """Return a number that equal ones share; of a dataclass with `eq` that of its fields."""
        own = compared_fields(self) if is_dataclass(type(self)) else []
        shapes = (getattr(getattr(self, f.name), "shape", None) for f in own)
        return hash((type(self), *shapes))

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled, or say which part of it cannot be."""
        for name, value in vars(self).items():
            if inspect.isfunction(value) and "<" in value.__qualname__:
                raise SuppleError(
                    f"{type(self).__name__}.{name} is a function made on the fly "
                    f"({value.__qualname__}), which cannot be pickled or copied: define it by its "
                    "name at the top of a module"
                )
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was pickled; arrays come back writable, and are made read-only again."""
        for name, value in state.items():
            object.__setattr__(self, name, frozen(freeze_arrays(value)))

    @property
    def _title(self) -> str:
        """What it is, in a few words."""
        named = getattr(self, "robot", None) or getattr(self, "model", None)
        named = getattr(named, "robot", named)
        of = getattr(named, "name", "")
        return f"{type(self).__name__} of {of}" if of else type(self).__name__

    def _summary_rows(self) -> list[tuple[str, str]]:
        """Return names and short values of what it holds."""
        shown = [f.name for f in fields(self) if f.repr and f.name not in ("robot", "model")]  # type: ignore[arg-type]
        rows = [(name, short(getattr(self, name))) for name in shown if not name.startswith("_")]
        return rows if len(rows) <= MAX_LINES else [*rows[: MAX_LINES - 1], ("...", "")]

    def __repr__(self) -> str:
        """Return it as an engineer would write it down; else names and values of its fields."""
        write = duty(self, "text")
        if write is not None:
            lines = str(write(self)).splitlines()
            return "\n".join(fill(line, SCREEN_WIDTH, subsequent_indent="    ") for line in lines)
        rows = self._summary_rows()
        wide = max((len(name) for name, _ in rows), default=0)
        return "\n".join(
            [self._title, *(f"  {name:<{wide}}  {text}".rstrip() for name, text in rows)]
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        if duty(self, "text") is not None:
            return as_html_text(self._title, repr(self))
        return as_html(self._title, self._summary_rows())
