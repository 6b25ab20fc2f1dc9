"""Numbers as robot files and command lines write them: finite, SI, or with a unit (`120 mm`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, TypeVar

from pydantic import Field, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import PydanticCustomError, core_schema

from .answers.immutable import FrozenTable

__all__ = [
    "MEASURED",
    "After",
    "Angle",
    "Before",
    "Coordinate",
    "NonNegative",
    "Number",
    "Pair",
    "Point",
    "Positive",
    "Size",
    "SizeOrZero",
    "Table",
    "Triple",
    "Vector",
    "as_pair",
    "as_tuple",
    "fault",
    "faults",
    "in_si",
    "parse_angle",
    "quantity",
    "unit_of",
]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?"
_ANGLE = re.compile(rf"({_NUMBER})\s*(deg|rad)?")
_QUANTITY = re.compile(rf"({_NUMBER})\s*([A-Za-zµ°].*)")
_JOINED = re.compile(r"(/?)\s*([numcµkMG]?N|k?g)(mm|cm|m)(s?)(?![A-Za-z])")  # Nm, kNm^2, Nms
_RAISED = str.maketrans({"²": "^2", "³": "^3", "⁴": "^4"})
_FACTOR = re.compile(r"\s*([*·/]?)\s*([A-Za-zµ°]+)(?:\^?(-?[1-9]))?\s*")


Place = tuple[str | int, ...]


def fault(sentence: str) -> PydanticCustomError:
    """Return a validation error whose whole text is one sentence for the user."""
    text = sentence.encode("utf-8", "backslashreplace").decode("utf-8")  # no halves of characters
    return PydanticCustomError("supple", "{sentence}", {"sentence": text})


def faults(found: Sequence[tuple[Place, str]]) -> PydanticCustomError:
    """Return several faults of one description, each with its place, as one validation error."""
    text = "; ".join(f"{'.'.join(map(str, place))}: {sentence}" for place, sentence in found)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    context = {"sentence": text, "faults": found}
    return PydanticCustomError("supple_faults", "{sentence}", context)


# beyond them products of a few numbers overflow or vanish
LARGEST = 1e30
SMALLEST = 1e-30
# m
LONGEST = 1e9
SHORTEST = 1e-9
# A unit: its factor, the power of pi that goes with it, and its powers of m, kg, s and rad.
_Unit = tuple[Fraction, int, tuple[int, int, int, int]]
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640629")
_POUND, _INCH, _FALL = Fraction("0.45359237"), Fraction("0.0254"), Fraction("9.80665")
_UNITS: dict[str, _Unit] = {
    "m": (Fraction(1), 0, (1, 0, 0, 0)),
    "g": (Fraction(1, 1000), 0, (0, 1, 0, 0)),
    "s": (Fraction(1), 0, (0, 0, 1, 0)),
    "N": (Fraction(1), 0, (1, 1, -2, 0)),
    "Pa": (Fraction(1), 0, (-1, 1, -2, 0)),
    "rad": (Fraction(1), 0, (0, 0, 0, 1)),
    "deg": (Fraction(1, 180), 1, (0, 0, 0, 1)),
    "°": (Fraction(1, 180), 1, (0, 0, 0, 1)),
    "rev": (Fraction(2), 1, (0, 0, 0, 1)),
    "rpm": (Fraction(2, 60), 1, (0, 0, -1, 1)),
    "min": (Fraction(60), 0, (0, 0, 1, 0)),
    "t": (Fraction(1000), 0, (0, 1, 0, 0)),
    "bar": (Fraction(100_000), 0, (-1, 1, -2, 0)),
    "in": (_INCH, 0, (1, 0, 0, 0)),
    "ft": (12 * _INCH, 0, (1, 0, 0, 0)),
    "lb": (_POUND, 0, (0, 1, 0, 0)),
    "oz": (_POUND / 16, 0, (0, 1, 0, 0)),
    "lbf": (_POUND * _FALL, 0, (1, 1, -2, 0)),
    "psi": (_POUND * _FALL / _INCH**2, 0, (-1, 1, -2, 0)),
    "ksi": (1000 * _POUND * _FALL / _INCH**2, 0, (-1, 1, -2, 0)),
}
_PREFIXED = ("m", "g", "s", "N", "Pa", "rad")
_PREFIXES = {"n": -9, "u": -6, "µ": -6, "m": -3, "c": -2, "k": 3, "M": 6, "G": 9}
# What each key of a robot file is measured in, and a sliding joint's where it differs.
_KEYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("young_modulus", "shear_modulus", "yield_strength"), ("Pa",)),
    **dict.fromkeys(("transverse_modulus",), ("Pa",)),
    **dict.fromkeys(("depth", "width", "diameter", "wall", "length", "at", "spacing"), ("m",)),
    **dict.fromkeys(("base_radius", "radius", "thickness", "xyz", "com", "a", "d"), ("m",)),
    **dict.fromkeys(("outline", "holes"), ("m",)),
    **dict.fromkeys(("second_moment_z", "second_moment_y"), ("m^4",)),
    **dict.fromkeys(("torsion_constant", "polar_moment"), ("m^4",)),
    **dict.fromkeys(("bending_stiffness", "torsional_stiffness"), ("N m^2",)),
    **dict.fromkeys(("axial_stiffness", "shear_stiffness"), ("N",)),
    **dict.fromkeys(("rotary_inertia_per_length", "polar_inertia_per_length"), ("kg m",)),
    **dict.fromkeys(("rotor_inertia", "motor_inertia", "inertia"), ("kg m^2",)),
    **dict.fromkeys(("limits", "start", "rest"), ("rad", "m")),
    **dict.fromkeys(("rpy", "roll", "angles"), ("rad",)),
    **dict.fromkeys(("friction", "effort_limit"), ("N m", "N")),
    "density": ("kg/m^3",),
    "area": ("m^2",),
    "mass_per_length": ("kg/m",),
    "mass": ("kg",),
    "stiffness": ("N m/rad", "N/m"),
    "damping": ("N m s/rad", "N s/m"),
    "speed_limit": ("rad/s", "m/s"),
    "gravity": ("m/s^2",),
    "translation": ("N/m",),
    "rotation": ("N m/rad",),
}
MEASURED = tuple(_KEYS)
_EXAMPLES = {"m": "120 mm", "Pa": "70 GPa", "kg": "5 lb", "N m/rad": "35 Nm/deg", "rad": "45 deg"}


def _unit(text: str) -> _Unit:
    """A product of units such as `kg m^2`, `Nm/deg`, `g/cm^3`; ValueError names what is not one."""
    text = text.translate(_RAISED)
    text = _JOINED.sub(
        lambda m: " " + m[1] + (m[1] or " ").join(filter(None, m.groups()[1:])), text
    )
    factor = Fraction(1)
    turns = 0
    powers = [0, 0, 0, 0]
    at = 0
    while at < len(text):
        match = _FACTOR.match(text, at)
        if match is None:
            raise ValueError(text[at:])
        name = match[2]
        scale = Fraction(1)
        if name not in _UNITS and name[1:] in _PREFIXED and name[0] in _PREFIXES:
            scale = Fraction(10) ** _PREFIXES[name[0]]
            name = name[1:]
        if name not in _UNITS:
            raise ValueError(match[2])
        power = int(match[3] or 1) * (-1 if match[1] == "/" else 1)
        own, pi, dimensions = _UNITS[name]
        factor *= (scale * own) ** power
        turns += pi * power
        powers = [a + power * b for a, b in zip(powers, dimensions, strict=True)]
        at = match.end()
    return factor, turns, (powers[0], powers[1], powers[2], powers[3])


def quantity(text: str, unit: str) -> float:
    """Return a number with a unit as SI, rounded once; ValueError says what is wrong with it.

    Angles count: `35 Nm/deg` is 35 * 180 / pi N m/rad; where an angle is left out (`35 Nm` for
    N m/rad) it is in radians.
    """
    match = _QUANTITY.fullmatch(text.strip())
    example = _EXAMPLES.get(unit, f"1.5 {unit}")
    if match is None or len(text) > 60:
        raise ValueError(f"it must be a number, alone or with a unit, such as {example}")
    try:
        factor, turns, powers = _unit(match[2])
    except ValueError as problem:
        raise ValueError(f"'{problem}' is no unit known here; write it in {unit}") from None
    wanted = _unit(unit)[2]
    if powers[:3] != wanted[:3] or powers[3] not in (
        wanted[3],
        0 if any(wanted[:3]) else wanted[3],
    ):
        raise ValueError(f"it must be in {unit}, or in what converts to it, such as {example}")
    try:
        return float(Fraction(match[1]) * factor * PI**turns)
    except OverflowError:
        raise ValueError(f"it is too large to compute with: at most {LARGEST:g} {unit}") from None


def unit_of(key: str, sliding: bool = False) -> str | None:
    """Return the SI unit of a key of robot files, None where it has none."""
    units = _KEYS.get(key)
    return None if units is None else units[-1 if sliding else 0]


def in_si(key: str, value: Any, sliding: bool = False) -> Any:
    """Return the value of a key with its numbers in SI: `120 mm` as 0.12, also inside lists."""
    if value is None or isinstance(value, (float, int)):
        return value
    unit = unit_of(key, sliding)
    if unit is None:
        return value
    if isinstance(value, (list, tuple)):
        for part in value:
            if type(part) is not float:  # a unit may stand here, or a list of its own
                return type(value)([in_si(key, part, sliding) for part in value])
        return value
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value.strip()[:60]):
        return value  # its type reads it, or tells that it is no number
    try:
        return quantity(value, unit)
    except ValueError as problem:
        raise fault(f"'{value[:40]}' is given: {problem}") from None


def parse_angle(text: str) -> float:
    """Return an angle in radians from `0.785`, `45deg` or `0.785rad`."""
    match = _ANGLE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text}' is not an angle: write radians as 0.785 or degrees as 45deg")
    return quantity(text, "rad") if match[2] else float(match[1])


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


def as_pair(value: Any) -> Any:
    """Read one value as the same in both bending planes."""
    value = as_tuple(value)
    return (value, value) if isinstance(value, int | float) else value


def _not_too_large(value: float) -> float:
    if abs(value) > LARGEST:
        raise fault(f"{value:g} is too large to compute with: at most {LARGEST:g} in SI units")
    return value


def _not_too_small(value: float) -> float:
    if 0 < value < SMALLEST:
        raise fault(f"{value:g} is too small to compute with: at least {SMALLEST:g} in SI units")
    return value


def _of_robots(value: float) -> float:
    """Sizes of robots: beyond them counts and pictures run out of digits before physics ends."""
    if value and not SHORTEST <= value <= LONGEST:
        raise fault(
            f"{value:g} m is no size of a robot: from {SHORTEST:g} m to {LONGEST:g} m; "
            "give it in metres, or with its unit, such as 3 mm"
        )
    return value


def _within_reach(value: float) -> float:
    if abs(value) > LONGEST:
        raise fault(f"{value:g} m is too far away: at most {LONGEST:g} m")
    return value


@dataclass(frozen=True, slots=True)
class Before:
    """Annotation of a field: a function of its value, before its type is checked.

    As pydantic's BeforeValidator, which inspects the signature of the function in every field: a
    third of the time that the schema of a robot takes.
    """

    function: Callable[[Any], Any]
    json_schema_input_type: Any = None

    def __get_pydantic_core_schema__(
        self, source_type: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        schema = handler(source_type)
        shown = self.json_schema_input_type
        return core_schema.no_info_before_validator_function(
            self.function,
            schema,
            json_schema_input_schema=None if shown is None else handler.generate_schema(shown),
        )


@dataclass(frozen=True, slots=True)
class After:
    """Annotation of a field: a function of its value, after its type is checked; see `Before`."""

    function: Callable[[Any], Any]

    def __get_pydantic_core_schema__(
        self, source_type: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self.function, handler(source_type))


Number = Annotated[
    float,
    Before(_plain),
    Field(strict=True, allow_inf_nan=False),
    After(_not_too_large),
]
Positive = Annotated[Number, Field(gt=0), After(_not_too_small)]
NonNegative = Annotated[Number, Field(ge=0), After(_not_too_small)]
Size = Annotated[Positive, After(_of_robots)]
SizeOrZero = Annotated[NonNegative, After(_of_robots)]
Angle = Annotated[
    Number,
    Before(_angle),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^[-+0-9.eE]+ *(deg|rad)$"}]}
    ),
]
Pair = Annotated[tuple[Number, Number], Before(as_tuple)]
Triple = Annotated[tuple[Number, Number, Number], Before(as_tuple)]
Coordinate = Annotated[Number, After(_within_reach)]
Point = Annotated[tuple[Coordinate, Coordinate, Coordinate], Before(as_tuple)]
Vector = Annotated[tuple[Number, ...], Before(as_tuple)]

Part = TypeVar("Part")


Table = Annotated[dict[str, Part], After(FrozenTable)]
