"""`supple forward` and `supple inverse`: where the tip is, and which joints put it there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, Position, angles, configuration_arguments, numbers
from ..output import configuration_text, digits, plain, print_json, print_table, say

if TYPE_CHECKING:
    from ...studies.kinematics.inverse import JointSolutions

__all__ = ["forward", "inverse"]

DEGREES_PER_RADIAN = 57.29577951308232

Sag = Annotated[
    bool, typer.Option("--sag", help="Include the sag under gravity. Default: undeformed.")
]
Place = Annotated[
    str, typer.Option("--position", metavar="x,y,z", help="Desired position of the tip, m.")
]
Rotation = Annotated[
    str | None,
    typer.Option(
        "--rotation",
        metavar="r,p,y",
        help="Attitude of the tip: roll, pitch, yaw, or one angle in the plane. "
        "Default: any attitude.",
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="0,45deg,...",
        help="Joint coordinates to search from; the nearest solution comes first.",
    ),
]


def forward(
    file: File, at: At = None, position: Position = None, sag: Sag = False, json: Json = False
) -> None:
    """Print position and axes of the tip, in base axes."""
    from ... import files
    from ...studies.kinematics.forward import forward as ask

    robot = files.load(file)
    where = configuration_arguments(robot, at, position)
    found = ask(robot, sag=sag, **where)
    if json:
        print_json(
            {
                "robot": robot.name,
                "configuration": found.theta,
                "sag": found.sag,
                "position": found.position,
                "rotation": found.rotation,
            }
        )
        return
    say(f"{plain(robot.name)} at {configuration_text(found, where)}")
    say(f"base axes, {'with its sag' if sag else 'undeformed'}\n")
    rows = []
    for k, axis in enumerate("xyz"):
        values = (found.position[k], *found.rotation[k])
        # + 0.0 turns -0 into 0
        rows.append((axis, *(f"{round(float(value), 6) + 0.0:.6f}" for value in values)))
    print_table(("", "tip, m>", "its x>", "its y>", "its z>"), rows)


def inverse(
    file: File,
    position: Place,
    rotation: Rotation = None,
    start: Start = None,
    json: Json = False,
) -> None:
    """Print joint coordinates that reach a position, or the nearest ones with exit code 2."""
    from ... import files
    from ...architectures.kinds import architecture_of
    from ...studies.kinematics.inverse import inverse as ask

    robot = files.load(file)
    flat = architecture_of(robot).planar and position.count(",") == 1
    turn: Any = None if rotation is None else angles(rotation, "--rotation")
    if turn is not None and len(turn) not in (1, 3):
        raise SuppleError(f"--rotation {rotation}: give roll, pitch and yaw, or one angle")
    found: JointSolutions = ask(
        robot,
        numbers(position, "--position", 2 if flat else 3),
        turn if turn is None or len(turn) == 3 else turn[0],
        None if start is None else angles(start, "--start"),
    )
    if json:
        print_json(
            {
                "robot": robot.name,
                "reached": found.reached,
                "theta": found.theta,
                "error": found.error,
                "position_error": found.position_error,
                "rotation_error": found.rotation_error,
                "method": found.method,
                "solutions": found.solutions,
                "tries": found.tries,
                "try_errors": found.try_errors,
            }
        )
    else:
        from ...architectures.kinds import architecture_of

        say(f"{plain(robot.name)}: {found.sentence}\n")
        motors = architecture_of(robot).motors
        heads = [f"{name}, {'m' if slides else 'deg'}>" for name, slides in motors]
        solutions = found.solutions if found.reached else found.theta[None]
        rows = []
        for theta in solutions.tolist():
            row = []
            for coordinate, (_, slides) in zip(theta, motors, strict=True):
                row.append(digits(coordinate if slides else coordinate * DEGREES_PER_RADIAN))
            rows.append(row)
        print_table(heads, rows)
        arrived = int((found.try_errors <= 1.000001 * found.error + 1e-9).sum())
        say(f"\n{arrived} of {len(found.tries)} tries end there or as near, by {found.method}.")
    if not found.reached:
        raise typer.Exit(2)
