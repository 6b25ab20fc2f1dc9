"""`supple robots`, `supple check` and `supple schema`: robot files and the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ...errors import SuppleError
from ..arguments import File, Json
from ..output import (
    plain,
    print_json,
    print_table,
    say,
)

if TYPE_CHECKING:
    from ...robot import Robot

__all__ = ["check", "robots", "schema"]


def robots(json: Json = False) -> None:
    """List the robots of the library."""
    from ... import files, library

    texts = [library.path(name).read_text(encoding="utf-8") for name in library.names()]
    rows = [_summary(files.loads(text)) for text in texts]
    if json:
        print_json({"robots": rows}, rows=rows)
        return
    print_table(
        ("name", "architecture", "joints>", "source"),
        [(row["name"], row["architecture"], str(row["joints"]), row["source"]) for row in rows],
    )


def check(file: File, json: Json = False) -> None:
    """Print every fault of a robot file with its place; exit code 2 when there is one."""
    from ... import files
    from ...errors import RobotError

    try:
        robot = files.load(file)
    except SuppleError as problem:
        if not json:
            raise
        faults = problem.faults if isinstance(problem, RobotError) else [str(problem)]
        print_json({"file": file, "valid": False, "faults": list(faults)})
        raise typer.Exit(2) from None
    if json:
        print_json({"file": file, "valid": True, "faults": [], **_summary(robot)})
        return
    found = _summary(robot)
    say(f"{file}: no fault; {plain(found['name'])} is {plain(found['told'])}")


def schema(json: Json = False) -> None:
    """Print the JSON schema of robot files, for editors."""
    import json as text

    from ... import files
    from ...faults import MEANINGS

    if json:
        keys = [{"key": key, "meaning": meaning} for key, meaning in MEANINGS.items()]
        print_json(files.schema(), rows=keys)
        return
    say(text.dumps(files.schema(), indent=2))


def _summary(robot: Robot) -> dict[str, Any]:
    from ...architectures.kinds import architecture_of

    described: Any = robot
    asked = architecture_of(robot)
    return {
        "name": robot.name,
        "architecture": described.architecture,
        "planar": asked.planar,
        "joints": len(asked.motors()),
        "told": asked.told(),
        "source": robot.source,
    }
