"""`supple tolerances`: how sure a frequency is when parameters are known plus or minus."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, Position, angles, measure, numbers
from ..output import plain, plane_of, print_json, print_table, say
from ..signature_options import options_of

__all__ = ["tolerances"]


@options_of("studies.design.tolerances:tolerances", "count")
def tolerances(
    file: File,
    within: Annotated[
        list[str],
        typer.Option(
            "--within",
            metavar="PATH=+-",
            help="Tolerance of a parameter, plus or minus: payload.mass=0.5 (SI), with a unit "
            "(...wall=0.2mm) or in per cent of its value (=20%). May be repeated.",
        ),
    ],
    at: At = None,
    position: Position = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Print the interval of every frequency that follows from tolerances of parameters."""
    from ... import files
    from ...studies.design.tolerances import tolerances as ask
    from ...studies.design.varied import Varied

    robot = files.load(file)
    given = dict(_split_assignment(text) for text in within)
    theta = None if at is None else angles(at, "--at")
    place = None if position is None else numbers(position, "--position", 3)
    varied = Varied.of(robot, tuple(given), theta, place)
    off = {key: measure(text, key, "--within", varied.value(key)) for key, text in given.items()}
    found = ask(
        robot,
        off,
        theta=theta,
        position=place,
        **asked,
    )
    hertz = {key: getattr(found, key) / (2 * math.pi) for key in ("omega", "low", "high")}
    spread = {key: value / (2 * math.pi) for key, value in found.spread.items()}
    inside, plane = plane_of(found.robot)
    if json:
        document = {"robot": found.robot.name, **plane, "within": off, "monotonic": found.monotonic}
        named = {"frequency_hz": hertz["omega"], "low_hz": hertz["low"], "high_hz": hertz["high"]}
        print_json(document | named | {"spread_hz": spread})
        return
    say(f"{plain(found.robot.name)}: natural frequencies{inside} within tolerances, Hz")
    heads = ("mode>", "as described>", "lowest>", "highest>", *(f"{key} +->" for key in spread))
    rows = [
        (
            str(k + 1),
            *(f"{hertz[key][k]:.5g}" for key in ("omega", "low", "high")),
            *(f"{value[k]:.3g}" for value in spread.values()),
        )
        for k in range(len(found.omega))
    ]
    print_table(heads, rows)
    searched = [str(k + 1) for k, plainly in enumerate(found.monotonic) if not plainly]
    if searched:
        say(f"Modes {', '.join(searched)} do not simply rise or fall: their ends were searched.")


def _split_assignment(text: str) -> tuple[str, str]:
    """A path and what stands after the equals sign."""
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise SuppleError(f"--within {text}: write PATH=+-, such as payload.mass=0.5")
    return key, value
