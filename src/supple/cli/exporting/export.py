"""`supple export`: a robot in the format of another tool, with its own error stated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, Position, configuration_arguments
from ..output import digits, plain, print_json, print_table, say
from ..signature_options import options_of

if TYPE_CHECKING:
    from ...exporters.export import Export

__all__ = ["export"]

To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help="c, fmu, mujoco, exudyn, simscape, matlab, urdf or sdf.",
    ),
]
Out = Annotated[
    str,
    typer.Option("--out", metavar="PLACE", help="File (fmu, mujoco, sdf) or folder to write."),
]
Modes = Annotated[
    int | None,
    typer.Option("--modes", help="Assumed modes of every link and plane. Default: 2."),
]
Segments = Annotated[
    int | None,
    typer.Option("--segments", help="Segments of every elastic link (mujoco). Default: 8."),
]


@options_of("exporters.export:export", "count", "name")
def export(
    file: File,
    to: To,
    out: Out,
    at: At = None,
    position: Position = None,
    modes: Modes = None,
    segments: Segments = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Export a robot as C, FMU, MuJoCo, Exudyn, Simscape, MATLAB or URDF, with its error."""
    from ... import files
    from ...beams.basis import AssumedModes
    from ...exporters.export import export as write
    from ...studies.configuration import where

    robot = files.load(file)
    options: dict[str, Any] = {}
    if segments is not None:
        options["segments"] = segments
    if modes is not None:
        if modes < 1:
            raise SuppleError(f"--modes {modes}: give a whole number from 1")
        options["basis"] = AssumedModes(modes)
    if at is not None or position is not None:
        place = configuration_arguments(robot, at, position)
        options["theta0"] = where(robot, place.get("theta"), place.get("position")).theta[0]
    found = write(robot, to, out, **asked, **options)
    if json:
        print_json(_document(robot.name, found))
        return
    rows = []
    for k, (ours, exact) in enumerate(zip(found.frequency_hz, found.exact_hz, strict=False)):
        rows.append((str(k + 1), digits(ours), digits(exact), f"{ours / exact - 1:+.2%}"))
    if rows:
        print_table(("mode>", "export, Hz>", "certified, Hz>", "difference>"), rows)
        say(plain(found.rule))
    for note in found.notes:
        say(plain(f"Note: {note}"))
    for written in found.files:
        say(f"Saved: {plain(str(written))}")


def _document(robot: str, found: Export) -> dict[str, Any]:
    return {
        "robot": robot,
        "to": found.to,
        "files": [str(written) for written in found.files],
        "configuration": found.theta.tolist(),
        "frequency_hz": found.frequency_hz.tolist(),
        "exact_hz": found.exact_hz.tolist(),
        "error": found.error,
        "rule": found.rule,
        "notes": list(found.notes),
    }
