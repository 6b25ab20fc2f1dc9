"""Arguments that several commands share, and lists of numbers as one types them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import SuppleError

if TYPE_CHECKING:
    from ..robot import Robot

__all__ = [
    "RATES",
    "At",
    "File",
    "Gravity",
    "Json",
    "Lenient",
    "Plot",
    "Position",
    "Save",
    "angles",
    "configuration_arguments",
    "gains_of",
    "joint_words",
    "limits_of",
    "numbers",
    "one_or_list",
    "refuse",
    "values",
]

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE_OR_NAME", help="A robot file, or a name listed by `supple robots`."
    ),
]
Lenient = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Take inertias that are refused otherwise, with a note each.",
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="0,45deg,...",
        help="Joint coordinates: radians, 45deg, or metres outside for a prismatic joint. "
        "Default: zero, or the start of a mechanism.",
    ),
]
Position = Annotated[
    str | None,
    typer.Option(
        "--position",
        metavar="x,y,z",
        help="Position of a Delta's platform or a mechanism's tip, m.",
    ),
]
Gravity = Annotated[
    str | None,
    typer.Option(
        "--gravity",
        metavar="gx,gy,gz",
        help="Gravity in base axes, m/s2. Default: the robot file's.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


Plot = Annotated[
    str | None,
    typer.Option("--plot", metavar="FILE", help="Draw the answer as well: .png, .svg or .pdf."),
]


Save = Annotated[
    str | None,
    typer.Option(
        "--save", metavar="PAGE.html", help="Write a self-contained page that works offline."
    ),
]


_PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")


def angles(text: str, option: str) -> list[float]:
    """Return the angles in a list such as `0,45deg,-0.3`, in radians."""
    from ..values import parse_angle

    try:
        found = [parse_angle(part) for part in text.split(",")]
    except ValueError as problem:
        raise SuppleError(f"{option} {text}: {problem}") from None
    return _finite(found, text, option)


def numbers(text: str, option: str, count: int | None = None) -> list[float]:
    """Return `count` plain numbers, or as many as there are, from a list such as `0,0,-9.81`."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        such = "plain numbers" if count is None else f"{count} numbers"
        raise SuppleError(f"{option} {text}: give {such}, such as 0,0,-10") from None
    if count is not None and len(found) != count:
        such = ",".join(["0"] * (count - 1) + ["-10"])
        raise SuppleError(
            f"{option} {text}: {len(found)} numbers are given, {count} are needed, such as {such}"
        )
    return _finite(found, text, option)


def values(text: str, option: str) -> list[float]:
    """Return the numbers of a list such as `7.2,19`, however many."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise SuppleError(
            f"{option} {text}: give numbers with commas between them, such as 7.2 or 7.2,19"
        ) from None
    return _finite(found, text, option)


RATES = {"speed_limit": "/s", "acceleration_limit": "/s^2", "jerk_limit": "/s^3"}
_RATE = re.compile(r"([^a-z/]+?)\s*(deg|rad|mm|cm|m)\s*(/\s*s(?:\^?[23])?)", re.IGNORECASE)
_TO_SI = {"deg": math.pi / 180, "rad": 1.0, "mm": 1e-3, "cm": 1e-2, "m": 1.0}


def limits_of(text: str, name: str) -> list[float]:
    """Return limits such as `120deg/s,0.5` in SI, each a plain number or one with its unit."""
    option = f"--{name.replace('_', '-')}"
    per = RATES.get(name)
    if per is None:
        return values(text, option)
    found = []
    for part in text.split(","):
        written = _RATE.fullmatch(part.strip())
        number = part if written is None else written[1]
        try:
            value = float(number)
        except ValueError:
            raise SuppleError(
                f"{option} {text}: give numbers in rad{per} or m{per} with commas between them, "
                f"or with their unit, such as 2 or 120deg{per},0.5m{per}"
            ) from None
        if written is not None:
            given = written[3].replace(" ", "").replace("^", "")
            if given != per.replace("^", ""):
                raise SuppleError(
                    f"{option} {text}: '{part.strip()}' is not per {per[1:]}: write "
                    f"{number.strip()}{written[2]}{per}"
                )
            value *= _TO_SI[written[2].lower()]
        found.append(value)
    return _finite(found, text, option)


def measure(text: str, key: str, option: str, own: float | None = None) -> float:
    """Return a value of a robot's path or coordinate in SI: `0.002`, `2mm`, `45deg`, `20%`.

    Per cent are of `own`, the value that stands there; without it they are refused.
    """
    from ..faults import MEANINGS, nearest
    from ..values import quantity, unit_of

    written = text.strip()
    try:
        if written.endswith("%"):
            if own is None:
                raise ValueError("per cent are of no value here: give a number, or one with a unit")
            if not own:
                raise ValueError("per cent of zero are nothing: give a number, or one with a unit")
            found = abs(own) * float(written[:-1]) / 100
        elif _PLAIN.fullmatch(written):
            found = float(written)
        else:
            head, _, last = key.partition(",")[0].strip().rpartition(".")
            if head == "theta" and not written.lower().endswith("m"):
                found = quantity(written, "rad")
            elif head in ("theta", "position"):
                found = quantity(written, "m")
            else:
                unit = unit_of(last)
                if unit is None and last not in MEANINGS:
                    suggestion = nearest(last, list(MEANINGS))
                    hint = f": did you mean '{suggestion}'?" if suggestion else ""
                    raise ValueError(f"there is no key '{last}'{hint}")
                if unit is None:
                    raise ValueError("it has no unit: give a plain number")
                found = quantity(written, unit)
    except ValueError as problem:
        sentence = str(problem)
        if "could not convert" in sentence:
            sentence = "give a number, alone or with a unit, such as 0.5, 2mm or 20%"
        raise SuppleError(f"{option} {key}={text}: {sentence}") from None
    return _finite([found], text, option)[0]


def gains_of(text: str, option: str = "--gains") -> tuple[Any, Any]:
    """Return position and velocity gain of `Kp,Kv`, or of a list of each, `60,12,6:6,1.2,0.6`."""
    if ":" not in text:
        found = values(text, option)
        if len(found) != 2:
            raise SuppleError(
                f"{option} {text}: give two numbers, Kp,Kv, or one of each for every joint, such "
                "as 60,12,6:6,1.2,0.6"
            )
        return found[0], found[1]
    parts = text.split(":")
    if len(parts) != 2:
        raise SuppleError(
            f"{option} {text}: give position gains, a colon, and velocity gains, such as "
            "60,12,6:6,1.2,0.6"
        )
    each = [values(part, option) for part in parts]
    one_each = [found[0] if len(found) == 1 else tuple(found) for found in each]
    return one_each[0], one_each[1]


def one_or_list(text: str | None, option: str) -> Any:
    """Return one number, or a list of them, as typed; None where nothing was."""
    if text is None:
        return None
    found = values(text, option)
    return found[0] if len(found) == 1 else tuple(found)


def _finite(found: list[float], text: str, option: str) -> list[float]:
    if not all(map(math.isfinite, found)):
        raise SuppleError(f"{option} {text}: every number must be finite")
    return found


def joint_words(text: str) -> str | dict[str, str]:
    """Return `locked`, `free`, or the words of a list such as link1=free,link2=locked."""
    if "=" not in text:
        return text
    pairs = [part.partition("=") for part in text.split(",")]
    return {name.strip(): word.strip() for name, _, word in pairs}


def refuse(context: typer.Context, names: tuple[str, ...], why: str) -> None:
    """Raise a SuppleError when one of these options was typed: here it would change nothing."""
    options = {p.name: p.opts[0] for p in context.command.params}
    typed = [
        options[name]
        for name in names
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    if typed:
        it = "it" if len(typed) == 1 else "them"
        raise SuppleError(f"{', '.join(typed)} would change nothing {why}: leave {it} out")


def configuration_arguments(robot: Robot, at: str | None, position: str | None) -> dict[str, Any]:
    """Return where a question is asked: theta, or the position of a platform or tip."""
    from ..architectures.kinds import architecture_of

    architecture = architecture_of(robot)
    if architecture.asked_by == "position":
        if at is not None and position is None:
            return {"theta": angles(at, "--at")}
        if at is not None or position is None:
            raise SuppleError(f"{robot.name} is a Delta: give the platform by --position x,y,z")
        return {"position": numbers(position, "--position", 3)}
    if position is not None:
        if not architecture.takes_position:
            sentence = f"--position is for a Delta or a mechanism: {robot.name} is a serial arm"
            raise SuppleError(f"{sentence}, use --at")
        if at is not None:
            raise SuppleError("--at and --position are both given: give one of them")
        return {"position": numbers(position, "--position", 2 if architecture.planar else 3)}
    if at is None:
        return {"theta": None}
    theta = angles(at, "--at")
    motors = architecture.motors
    if len(theta) != len(motors):
        names = ", ".join(name for name, _ in motors)
        wanted = f"{len(motors)} (the joints of {names})" if names else "none, no joint moves"
        given = f"{len(theta)} value{' is' if len(theta) == 1 else 's are'} given"
        raise SuppleError(f"--at {at}: {given}, {robot.name} needs {wanted}")
    return {"theta": theta}
