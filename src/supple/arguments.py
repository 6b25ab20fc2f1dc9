"""Arguments of public functions and classes: what is right, and the sentence where one is not.

A check takes the name of an argument and its value; it returns the value as it is used from there
on, or raises a SuppleError that says what was given and what to give. A function under `checked`
says its checks in its signature, where its readers look: `count: Annotated[int, whole_number(1)]`.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
import sys
from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from types import CodeType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from .errors import SuppleError
from .on_demand import ModuleOnDemand

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
else:
    np = ModuleOnDemand("numpy")

__all__ = [
    "LARGEST_FLOAT",
    "Check",
    "also_called",
    "as_given",
    "as_list",
    "brief",
    "checked",
    "checks_of",
    "counts",
    "instance",
    "number",
    "one_of",
    "optional",
    "reals",
    "rows",
    "some",
    "switch",
    "vector",
    "whole_number",
]

Check = Callable[[str, Any], Any]
LARGEST_FLOAT = sys.float_info.max  # an integer may be larger; NaN and infinity are not below it
MOST_NUMBERS = 100_000_000  # of a range that is written out as an array
P = ParamSpec("P")
T = TypeVar("T")
KINDS: dict[type, Check] = {}  # see `checks_of`
WORD = re.compile(r"[^\W\d]\w*")


def brief(value: Any) -> str:
    """Return a value as a sentence names it: short, printable, in one line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - whatever its repr does, the sentence is about something else
        text = f"a {type(value).__name__}"
    text = text.encode("ascii", "backslashreplace").decode()
    return text if len(text) <= 60 else text[:57] + "..."


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Check the arguments of a function by its signature before it is called.

    What an annotation asks: `Annotated[..., check]` this check, `Literal` one of its words, `bool`
    True or False, `ArrayLike` real numbers, a class with a check of its own (`checks_of`) that one.
    With `| None` the value may be None as well. Any other annotation asks nothing.
    """
    inner = inner_function(function)
    hints = dict(inner.__annotations__)
    inner.__annotations__ = {n: _shown(hint, inner.__globals__) for n, hint in hints.items()}
    each: list[tuple[str, int, Check]] | None = None  # the first call finds them

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        nonlocal each
        if each is None:
            each = _in_places(signature_checks(inner, hints), inner.__code__)
        values: list[Any] = list(args)
        given = len(values)
        for name, place, check in each:
            if place < given:
                values[place] = check(name, values[place])
            elif name in options:
                options[name] = check(name, options[name])
        return function(*values, **options)

    return call


def inner_function(function: Any) -> Any:
    """Return the function that other decorators have wrapped."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _in_places(checks: dict[str, Check], code: CodeType) -> list[tuple[str, int, Check]]:
    """Return checks with the places of their arguments; those by name only have the last of all."""
    places = {name: place for place, name in enumerate(code.co_varnames[: code.co_argcount])}
    return [(name, places.get(name, sys.maxsize), check) for name, check in checks.items()]


class _Unknown:
    """A name that is there for type checkers only: whatever is made of it asks nothing."""

    def __call__(self, *_: Any, **__: Any) -> _Unknown:
        return self

    __getitem__ = __or__ = __ror__ = __call__

    def __getattr__(self, name: str) -> _Unknown:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


UNKNOWN = _Unknown()


class _Names(dict[str, Any]):
    """What the names of annotations mean: what a module holds, or UNKNOWN."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, UNKNOWN)


def checks_of(kind: type) -> Callable[[Check], Check]:
    """Return a decorator of a check: it is that of every argument annotated with this class."""

    def keep(check: Check) -> Check:
        KINDS[kind] = check
        return check

    return keep


def signature_checks(function: Any, hints: dict[str, Any]) -> dict[str, Check]:
    """Return the checks that the annotations of a function ask for, by its arguments."""
    names = _Names(function.__globals__)
    # The same, whether the module loads them or not.
    names.update(Annotated=Annotated, Literal=Literal, ArrayLike=Annotated[Any, reals])
    code = function.__code__
    found = {}
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        hint = hints.get(name)
        check = _check_of(eval(hint, {}, names) if isinstance(hint, str) else hint)
        if check is UNKNOWN:
            raise NameError(f"{function.__qualname__}: the check of {name} is not imported: {hint}")
        if check is not None:
            found[name] = check
    return found


def _check_of(hint: Any) -> Check | None:
    """Return the check that an annotation asks for, or None."""
    if hint is bool:
        return switch
    origin = get_origin(hint)
    if origin is Annotated:
        return next((part for part in reversed(hint.__metadata__) if callable(part)), None)
    parts = get_args(hint)
    if origin is Literal:
        return one_of(*parts) if all(isinstance(word, str) for word in parts) else None
    if origin in (Union, UnionType):
        rest = [part for part in parts if part is not NoneType]
        check = _check_of(rest[0]) if len(rest) == 1 else None
        return check if check is None or check is UNKNOWN else optional(check)
    return KINDS.get(hint) if isinstance(hint, type) else None


class _Plain(ast.NodeTransformer):
    """Takes the checks out of an annotation."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Return the type of an Annotated, anything else as it is."""
        if isinstance(node.value, ast.Name) and node.value.id == "Annotated":
            return self.visit(node.slice.elts[0])  # type: ignore[attr-defined, no-any-return]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Return the type of a name for an Annotated, any other name as it is."""
        if not hasattr(self.names.get(node.id), "__metadata__"):
            return node
        kind = self.names[node.id].__origin__
        return ast.Name(getattr(kind, "__forward_arg__", getattr(kind, "__name__", str(kind))))


def _shown(hint: Any, names: dict[str, Any]) -> Any:
    """Return an annotation as `help` shows it: types without their checks."""
    if not isinstance(hint, str):
        return hint
    short = any(hasattr(names.get(word), "__metadata__") for word in WORD.findall(hint))
    if not short and "Annotated[" not in hint:
        return hint
    return ast.unparse(_Plain(names).visit(ast.parse(hint, mode="eval")))


def also_called(**new_names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that takes keywords by the names they had before, old="new"."""

    def around(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> T:
            for old, new in new_names.items():
                if old in options:
                    if new in options:
                        raise SuppleError(f"{new} and {old} are both given: they are the same")
                    options[new] = options.pop(old)
            return function(*args, **options)

        return call

    return around


def reals(name: str, value: Any, give: str = "give plain numbers") -> Array:
    """Return real numbers as a new array of any shape; NaN may be among them."""
    # numpy.ma is asked only when somebody has loaded it: its import takes longer than the answer.
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(value, masked.MaskedArray) and masked.is_masked(value):
        raise SuppleError(f"{name} holds masked entries: fill them, or leave them out")
    if isinstance(value, str | bytes | dict | set):
        raise SuppleError(f"{name} is not an array of numbers but {brief(value)}: {give}")
    if isinstance(value, range) and (value.stop - value.start) // value.step > MOST_NUMBERS:
        raise SuppleError(f"{name} holds more than {MOST_NUMBERS:,} numbers: {give}")
    try:
        raw = np.asarray(value)
    except (TypeError, ValueError, RecursionError):
        raise SuppleError(
            f"{name} is not an array of numbers (rows of unlike length?): {give}"
        ) from None
    if raw.dtype.kind == "c":
        raise SuppleError(f"{name} holds complex numbers: {give}")
    if raw.dtype.kind == "O" and not all(isinstance(x, Real) for x in raw.ravel()):
        raise SuppleError(f"{name} is not an array of numbers but {brief(value)}: {give}")
    if raw.dtype.kind not in "fiubO":
        raise SuppleError(f"{name} is not an array of numbers but {brief(value)}: {give}")
    try:
        return np.array(raw, float)
    except (OverflowError, TypeError, ValueError):  # an integer of hundreds of digits
        raise SuppleError(f"{name} holds numbers that are too large: {give}") from None


def rows(name: str, value: Any) -> Array:
    """Return one list of real numbers, or a row for each of many."""
    array = reals(name, value)
    if array.ndim not in (1, 2):
        raise SuppleError(f"{name} is {brief(value)}: give a list of numbers, or rows of them")
    return array


def vector(size: int | None = None) -> Check:
    """Return a check for a list of finite numbers, kept as a tuple."""

    def check(name: str, value: Any) -> tuple[float, ...]:
        array = reals(name, value, "give a list of finite numbers")
        if array.ndim != 1 or not np.isfinite(array).all() or size not in (None, len(array)):
            wanted = f"{size} finite numbers" if size else "a list of finite numbers"
            raise SuppleError(f"{name} is {brief(value)}: give {wanted}")
        return tuple(array.tolist())

    return check


def number(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: bool = False,
    unit: str = "",
    give: str = "",
) -> Check:
    """Return a check for one finite number from `low` to `high`; `above`: low itself is not one."""
    kind = {(0.0, True): "a positive number", (0.0, False): "a number that is not negative"}
    words = kind.get((low, above), "a finite number")
    words += f" from {low:g} to {high:g}" if math.isfinite(low) and math.isfinite(high) else ""
    words = give or words + (f" {unit}" if unit else "")

    def check(name: str, value: Any) -> float:
        good = isinstance(value, Real | np.number) and not isinstance(
            value, bool | np.complexfloating
        )
        if isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "fiu":
            good = True
            value = value.item()
        good = good and abs(value) <= LARGEST_FLOAT and low <= value <= high
        if not good or (above and value <= low):
            raise SuppleError(f"{name} is {brief(value)}: give {words}")
        return value if isinstance(value, int) else float(value)

    return check


def whole_number(low: int = 0, high: int = 10**9) -> Check:
    """Return a check for a whole number from `low` to `high`."""

    def check(name: str, value: Any) -> int:
        good = isinstance(value, Integral) and not isinstance(value, bool)
        if not good or not low <= value <= high:
            raise SuppleError(f"{name} is {brief(value)}: give a whole number from {low} to {high}")
        return int(value)

    return check


def counts(low: int = 1, high: int = 10_000) -> Check:
    """Return a check for a whole number, or a list of them, kept as a tuple."""
    one = whole_number(low, high)

    def check(name: str, value: Any) -> int | tuple[int, ...]:
        if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1):
            return tuple(one(f"{name}[{k}]", part) for k, part in enumerate(value))
        return int(one(name, value))

    return check


def as_given(name: str, value: Any) -> Any:
    """Return the value as it is: the function itself says what it may be."""
    return value


def as_list(name: str, value: Any) -> list[Any]:
    """Return a list or tuple as a list; words and mappings are none."""
    if not isinstance(value, list | tuple | np.ndarray) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    ):
        raise SuppleError(f"{name} is {brief(value)}: give a list")
    return list(value)


def some(low: float = -math.inf) -> Check:
    """Return a check for one finite number or a list of them, none below `low`, as a tuple."""

    def check(name: str, value: Any) -> float | tuple[float, ...]:
        array = reals(name, value)
        if array.ndim > 1 or not np.isfinite(array).all() or (array < low).any():
            few = "positive values" if low > 0 else "finite values"
            few = "values that are not negative" if low == 0 else few
            raise SuppleError(f"{name} is {brief(value)}: give {few}, one or a list of them")
        return (
            tuple(array.tolist())
            if array.ndim
            else value
            if isinstance(value, int)
            else float(array)
        )

    return check


def one_of(*words: str) -> Check:
    """Return a check for one of these words."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            shown = f"'{value}'" if isinstance(value, str) and value.isprintable() else brief(value)
            raise SuppleError(f"{name} is {shown}: it must be one of {', '.join(words)}")
        return value

    return check


def switch(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise SuppleError(f"{name} is {brief(value)}: give True or False")
    return bool(value)


def instance(kinds: type | tuple[type, ...], give: str) -> Check:
    """Return a check for an object of a class; `give` says what to give instead of another."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, kinds):
            raise SuppleError(f"{name} is {brief(value)}: give {give}")
        return value

    return check


def optional(check: Check) -> Check:
    """Return the same check, for a value that may be None."""
    return lambda name, value: None if value is None else check(name, value)
