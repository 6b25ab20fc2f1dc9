"""Arguments that several commands share, and lists of numbers as one types them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import SuppleError

if TYPE_CHECKING:
    from ..robot import Robot

__all__ = ["At", "File", "Json", "Plot", "angles", "configuration", "numbers"]

File = Annotated[
    str,
    typer.Argument(metavar="FILE_OR_NAME", help="A robot file, or a name of `supple robots`."),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="0,45deg,...",
        help="Joint coordinates: radians, 45deg, or metres outside for a prismatic joint. "
        "All zero without.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


Plot = Annotated[
    str | None, typer.Option("--plot", metavar="FILE", help="Draw it too: .png, .svg or .pdf.")
]


def angles(text: str, option: str) -> list[float]:
    """Return the angles in a list such as `0,45deg,-0.3`, in radians."""
    from ..values import parse_angle

    try:
        found = [parse_angle(part) for part in text.split(",")]
    except ValueError as problem:
        raise SuppleError(f"{option} {text}: {problem}") from None
    return _finite(found, text, option)


def numbers(text: str, option: str, count: int) -> list[float]:
    """Return `count` numbers from a list such as `0,0,-9.81`."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise SuppleError(f"{option} {text}: give {count} numbers, such as 0,0,-10") from None
    if len(found) != count:
        raise SuppleError(f"{option} {text}: {len(found)} numbers are given, {count} are needed")
    return _finite(found, text, option)


def _finite(found: list[float], text: str, option: str) -> list[float]:
    if not all(map(math.isfinite, found)):
        raise SuppleError(f"{option} {text}: every number must be finite")
    return found


def configuration(robot: Robot, at: str | None) -> list[float] | None:
    """Return the joint coordinates asked for, one for each moving joint; None when none are."""
    from ..robot import SerialRobot

    if at is None:
        return None
    theta = angles(at, "--at")
    if isinstance(robot, SerialRobot) and len(theta) != len(robot.moving):
        names = ", ".join(link.name for link in robot.moving)
        wanted = f"{len(robot.moving)} (the joints of {names})" if names else "none, no joint moves"
        raise SuppleError(f"--at {at}: {len(theta)} values are given, {robot.name} needs {wanted}")
    return theta
