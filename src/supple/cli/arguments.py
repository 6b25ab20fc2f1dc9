"""Arguments that several commands share, and lists of numbers as one types them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import SuppleError

if TYPE_CHECKING:
    from ..robot import Robot

__all__ = [
    "At",
    "File",
    "Gravity",
    "Json",
    "Plot",
    "Position",
    "Save",
    "angles",
    "asked",
    "numbers",
    "refuse",
    "values",
]

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE_OR_NAME", help="A robot file, or a name listed by `supple robots`."
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
        raise SuppleError(f"{option} {text}: {len(found)} numbers are given, {count} are needed")
    return _finite(found, text, option)


def values(text: str, option: str) -> list[float]:
    """Return the numbers of a list such as `7.2,19`, however many."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise SuppleError(f"{option} {text}: give numbers, such as 7.2 or 7.2,19") from None
    return _finite(found, text, option)


def _finite(found: list[float], text: str, option: str) -> list[float]:
    if not all(map(math.isfinite, found)):
        raise SuppleError(f"{option} {text}: every number must be finite")
    return found


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


def asked(robot: Robot, at: str | None, position: str | None) -> dict[str, Any]:
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
            told = f"--position is for a Delta or a mechanism: {robot.name} is a serial arm"
            raise SuppleError(f"{told}, use --at")
        if at is not None:
            raise SuppleError("--at and --position are both given: give one of them")
        return {"position": numbers(position, "--position", 2 if architecture.planar else 3)}
    if at is None:
        return {"theta": None}
    theta, motors = angles(at, "--at"), architecture.motors
    if len(theta) != len(motors):
        names = ", ".join(name for name, _ in motors)
        wanted = f"{len(motors)} (the joints of {names})" if names else "none, no joint moves"
        raise SuppleError(f"--at {at}: {len(theta)} values are given, {robot.name} needs {wanted}")
    return {"theta": theta}
