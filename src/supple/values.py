"""Numbers as robot files and command lines write them: finite, SI, angles in radians or `45deg`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from .errors import SuppleError

__all__ = [
    "Angle",
    "FrozenTable",
    "NonNegative",
    "Number",
    "Pair",
    "Positive",
    "Table",
    "Triple",
    "Vector",
    "as_tuple",
    "fault",
    "faults",
    "parse_angle",
]

_ANGLE = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(deg|rad)?")


Place = tuple[str | int, ...]


def fault(sentence: str) -> PydanticCustomError:
    """Return a validation error whose whole text is one sentence for the user."""
    return PydanticCustomError("supple", "{sentence}", {"sentence": _printable(sentence)})


def faults(found: Sequence[tuple[Place, str]]) -> PydanticCustomError:
    """Return several faults of one description, each with its place, as one validation error."""
    text = "; ".join(f"{'.'.join(map(str, place))}: {sentence}" for place, sentence in found)
    told = {"sentence": _printable(text), "faults": found}
    return PydanticCustomError("supple_faults", "{sentence}", told)


def _printable(sentence: str) -> str:
    """The sentence with halves of characters spelled out: pydantic cannot hold them."""
    return sentence.encode("utf-8", "backslashreplace").decode("utf-8")


def parse_angle(text: str) -> float:
    """Return an angle in radians from `0.785`, `45deg` or `0.785rad`."""
    match = _ANGLE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text}' is not an angle: write radians as 0.785 or degrees as 45deg")
    value = float(match[1])
    return math.radians(value) if match[2] == "deg" else value


def _plain(value: Any) -> Any:
    """Turn NumPy scalars and arrays into plain numbers and lists; leave the rest alone."""
    return value.tolist() if hasattr(value, "tolist") else value


def _angle(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return parse_angle(value)
        except ValueError as problem:
            raise fault(str(problem)) from None
    return _plain(value)


def as_tuple(value: Any) -> Any:
    """Turn lists and arrays into tuples, so that frozen descriptions compare and hash."""
    value = _plain(value)
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


LARGEST, SMALLEST = 1e30, 1e-30  # beyond them products of a few numbers overflow or vanish


def _not_too_large(value: float) -> float:
    if abs(value) > LARGEST:
        raise fault(f"{value:g} is too large to compute with: at most {LARGEST:g} in SI units")
    return value


def _not_too_small(value: float) -> float:
    if 0 < value < SMALLEST:
        raise fault(f"{value:g} is too small to compute with: at least {SMALLEST:g} in SI units")
    return value


Number = Annotated[
    float,
    BeforeValidator(_plain),
    Field(strict=True, allow_inf_nan=False),
    AfterValidator(_not_too_large),
]
Positive = Annotated[Number, Field(gt=0), AfterValidator(_not_too_small)]
NonNegative = Annotated[Number, Field(ge=0), AfterValidator(_not_too_small)]
Angle = Annotated[
    Number,
    BeforeValidator(_angle),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^[-+0-9.eE]+ *(deg|rad)$"}]}
    ),
]
Pair = Annotated[tuple[Number, Number], BeforeValidator(as_tuple)]
Triple = Annotated[tuple[Number, Number, Number], BeforeValidator(as_tuple)]
Vector = Annotated[tuple[Number, ...], BeforeValidator(as_tuple)]

Part = TypeVar("Part")


class FrozenTable(dict[str, Part]):
    """Parts by name that cannot be changed: a dict that reads, compares, pickles and hashes."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse any change: a robot is what it was made."""
        raise SuppleError(
            "the tables of a robot cannot be changed: make a changed copy, such as "
            "robot.with_('materials.steel.density', 7850)"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def __copy__(self) -> FrozenTable[Part]:
        return self

    def __deepcopy__(self, memo: Any) -> FrozenTable[Part]:
        return self  # parts are frozen too


Table = Annotated[dict[str, Part], AfterValidator(FrozenTable)]
