"""`supple track`: modes followed as branches."""

from __future__ import annotations

from typing import Any

from ...errors import SuppleError
from ..arguments import At, File, Json, Plot, Position, angles, numbers
from ..output import check_places, plain, plane_of, print_json, print_table, say
from ..signature_options import options_of
from .sweep import Over, parse_over

__all__ = ["track"]


@options_of("studies.design.track:track", "count")
def track(
    file: File,
    over: Over,
    at: At = None,
    position: Position = None,
    plot: Plot = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Follow modes as branches while one quantity changes, through crossings and veerings."""
    from ... import files
    from ...studies.design.track import track as ask
    from ...view.summaries.layout import parameter_value

    check_places(plot, None)
    if len(over) != 1:
        raise SuppleError(f"--over is given {len(over)} times: give it once")
    found = ask(
        files.load(file),
        dict([parse_over(over[0])]),
        theta=None if at is None else angles(at, "--at"),
        position=None if position is None else numbers(position, "--position", 3),
        **asked,
    )
    if plot is not None:
        found.plot(plot)
    inside, plane = plane_of(found.robot)
    if json:
        keys = ("x", "omega", "frequency_hz", "number", "kinds", "asked", "certified")
        document: dict[str, Any] = {"robot": found.robot.name, **plane, "over": found.key}
        document |= {key: getattr(found, key) for key in keys}
        document["veerings"] = [v._asdict() for v in found.veerings]
        print_json(document, rows=found.to_pandas().reset_index().to_dict("records"))
        return
    first, last = (parameter_value(found.robot, found.key, x) for x in found.x[[0, -1]])
    ends = f"{first} to {last}"
    say(f"{plain(found.robot.name)}: branches over {found.key}, {ends}")
    rows = [
        (str(b + 1), kind, *(f"{x:.5g}" for x in (hz[0], hz.min(), hz.max(), hz[-1])))
        for b, (kind, hz) in enumerate(zip(found.kinds, found.frequency_hz.T, strict=True))
    ]
    print_table(("branch>", "begins as", "first Hz>", "lowest>", "highest>", "last>"), rows)
    for v in found.veerings:
        where = parameter_value(found.robot, found.key, v.at)
        word = "cross" if v.crossing else f"veer, {v.gap_hz:.4g} Hz apart,"
        say(f"Branches {v.branches[0]} and {v.branches[1]} {word} at {where}")
    if plot is not None:
        say(f"Drawn: {plot}")
    if found.certified:
        say(
            f"Certified{inside}: every frequency is counted, at each of the "
            f"{found.asked} configurations computed."
        )
