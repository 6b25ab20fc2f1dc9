"""`supple validate`: the same robot in other engines, and a table of differences."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, Position, configuration_arguments
from ..output import digits, plain, print_json, print_table, say
from ..signature_options import options_of

__all__ = ["validate"]

Engines = Annotated[
    str | None,
    typer.Option(
        "--engines",
        metavar="NAME,...",
        help="mujoco, exudyn, pinocchio, opensees. Default: all that are installed.",
    ),
]
Segments = Annotated[
    str,
    typer.Option("--segments", metavar="8,16", help="Parts of each link in engines with a mesh."),
]


@options_of("exporters.validate:validate", "count")
def validate(
    file: File,
    at: At = None,
    position: Position = None,
    engines: Engines = None,
    segments: Segments = "8,16",
    json: Json = False,
    **asked: Any,
) -> None:
    """Compare masses, kinematics, frequencies, sag and a short motion with other engines."""
    from ... import files
    from ...exporters.validate import validate as compare
    from ...studies.configuration import where

    robot = files.load(file)
    try:
        meshes = [int(word) for word in segments.split(",")]
    except ValueError:
        raise SuppleError(f"--segments {segments}: give whole numbers, such as 8,16") from None
    theta: Any = None
    if at is not None or position is not None:
        place = configuration_arguments(robot, at, position)
        theta = where(robot, place.get("theta"), place.get("position")).theta[0]
    words = None if engines is None else [word.strip() for word in engines.split(",")]
    found = compare(robot, theta, words, segments=meshes, **asked)
    if json:
        rows = [row._asdict() for row in found]
        print_json({"robot": robot.name, "rows": rows, "skipped": list(found.skipped)})
        return
    table = []
    for row in found:
        if row.ours == 0 and row.theirs == 0:
            continue  # out of the plane of a planar robot: nothing to compare
        difference = f"{row.difference:.2e}"
        table.append((row.engine, row.question, digits(row.ours), digits(row.theirs), difference))
    print_table(("engine", "question", "ours>", "theirs>", "difference>"), table)
    if len(found):
        worst = max(found, key=lambda row: row.difference)
        say(f"Largest difference: {worst.difference:.1e}, {worst.question}, {worst.engine}.")
    for reason in found.skipped:
        say(plain(f"Not asked: {reason}"))
