"""`supple stopband`: a proof that a band of frequencies is free, or a pose where it is not."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, angles, values
from ..output import plain, plane_of, print_json, say
from ..signature_options import options_of
from .sweep import Over, parse_over

__all__ = ["stopband"]


@options_of("studies.design.stopband:stopband", "resolution", "cells")
def stopband(
    file: File,
    band: Annotated[str, typer.Option("--band", metavar="9,12", help="Low and high end, Hz.")],
    over: Over,
    at: At = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Prove that no natural frequency lies in a band for any pose and payload in a box."""
    from ... import files
    from ...studies.design.stopband import stopband as ask

    edges = values(band, "--band")
    if len(edges) != 2:
        raise SuppleError(f"--band {band}: give two numbers in Hz, such as 9,12")
    box = {}
    for text in over:
        key, ends = parse_over(text)
        if len(ends) != 2:
            raise SuppleError(f"--over {text}: write KEY=low:high")
        box[key] = (ends[0], ends[1])
    theta = None if at is None else angles(at, "--at")
    robot = files.load(file)
    pair = (edges[0], edges[1])
    found = ask(robot, pair, box, theta=theta, **asked)
    inside, plane = plane_of(robot)
    if json:
        keys = (
            *("free", "at", "frequency_hz", "cells", "undecided", "margin_hz", "rests_on"),
            "unchanged",
        )
        document = {"robot": robot.name, **plane, "band_hz": list(pair), "over": box}
        print_json(document | {key: getattr(found, key) for key in keys})
        return
    band_text = f"{edges[0]:g} to {edges[1]:g} Hz"
    if found.unchanged:
        say(f"{', '.join(found.unchanged)} changes no frequency and was not divided.")
    if found.free is None:
        say(f"Not decided: {found.undecided} of {found.cells} cells stay open at {band_text}.")
        say("Try a narrower band, a smaller --resolution or more --cells.")
    elif found.free:
        name = plain(robot.name)
        say(f"Proven: {name} has no natural frequency{inside} from {band_text} in this box.")
        say(f"{found.cells} cells; the nearest frequency seen is {found.margin_hz:.3g} Hz away.")
        say(f"It rests on {found.rests_on}.")
    else:
        where = ", ".join(f"{key} {value:.6g}" for key, value in (found.at or {}).items())
        say(f"Not free: {found.frequency_hz:.6g} Hz at {where}.")
