"""`supple robots`, `supple check` and `supple schema`: robot files and the library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, Lenient, Position, configuration_arguments
from ..output import (
    plain,
    print_json,
    print_table,
    say,
)

if TYPE_CHECKING:
    from ...robot import Robot

__all__ = ["check", "robots", "schema"]

Worst = Annotated[
    bool | None,
    typer.Option(
        "--worst/--zero",
        help="At the pose of largest sag within the joint limits, or at zero. Without --at the "
        "worst; a robot with loops at its usual pose.",
    ),
]


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


def check(
    file: File,
    at: At = None,
    position: Position = None,
    worst: Worst = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Print every fault of a robot file with its place, exit code 2 when there is one.

    Without a fault: reach, mass, first frequency, sag, holding torques, stresses, and notes.
    """
    from ... import files
    from ...architectures.kinds import architecture_of
    from ...errors import RobotError
    from ...studies.check import check as ask

    try:
        robot = files.load(file, lenient=lenient)
    except SuppleError as problem:
        if not json:
            raise
        faults = problem.faults if isinstance(problem, RobotError) else [str(problem)]
        print_json({"file": file, "valid": False, "faults": list(faults)})
        raise typer.Exit(2) from None
    place = configuration_arguments(robot, at, position) if (at, position) != (None, None) else {}
    seen = ask(robot, worst=worst, **place)
    found = _summary(robot)
    if json:
        engineer = {
            "configuration": seen.theta,
            "worst_pose": seen.searched,
            "reach": seen.reach,
            "mass": seen.mass,
            "first_frequency_hz": seen.frequency_hz,
            "sag": seen.sag,
            "holding": dict(seen.holding),
            "stress": {name: {"stress": s, "of_yield": r} for name, (s, r) in seen.stress.items()},
            "notes": list(seen.notes),
            "mobility": seen.mobility,
        }
        print_json({"file": file, "valid": True, "faults": [], **found, **engineer})
        return
    say(f"{file}: no fault; {plain(found['name'])} is {plain(found['told'].split('; ')[0])}")
    sliding = [slide for _, slide in architecture_of(seen.robot).motors]
    theta = [
        f"{value:.5g} m" if slide else f"{math.degrees(value):.5g} deg"
        for value, slide in zip(seen.theta.ravel().tolist(), sliding, strict=True)
    ]
    shown = ", ".join(theta[:12] + [f"and {len(theta) - 12} more"] * (len(theta) > 12))
    pose = "worst pose found" if seen.searched and shown else "pose"
    rows = [(pose, f"joints at {shown}" if shown else "its only one")]
    rows += [("reach at most", f"{seen.reach:.4g} m")] if seen.reach is not None else []
    rows.append(("degrees of freedom", seen.mobility))
    rows.append(("mass that moves", f"{seen.mass:.4g} kg"))
    if seen.frequency_hz is not None:
        rows.append(("first frequency", f"{seen.frequency_hz:.4g} Hz, joints locked"))
    if seen.sag is not None:
        rows.append(("sag of the tip", f"{1e3 * seen.sag:.4g} mm"))
    slides = dict(architecture_of(seen.robot).motors)
    for name, value in seen.holding.items():
        unit = "N" if slides[name] else "N m"
        rows.append((f"to hold {plain(name)}", f"{round(value, 9) + 0.0:.4g} {unit}"))
    for name, (value, ratio) in seen.stress.items():
        part = "no yield_strength given" if ratio is None else f"{100 * ratio:.3g} % of yield"
        rows.append((f"stress in {plain(name)}", f"{value / 1e6:.4g} MPa, {part}"))
    print_table(("", ""), rows)
    for note in seen.notes:
        say(f"note: {plain(note)}")


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
    architecture = architecture_of(robot)
    return {
        "name": robot.name,
        "architecture": described.architecture,
        "planar": architecture.planar,
        "joints": len(architecture.motors),
        "told": architecture.description,
        "source": robot.source,
    }
