"""`supple statics`: sag under gravity and tip loads, and the compliance of the tip."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...view.wording import NO_MOTION_SHARE, tidy
from ..arguments import (
    At,
    File,
    Gravity,
    Json,
    Plot,
    Position,
    Save,
    configuration_arguments,
    numbers,
)
from ..measured import Measured, as_lists, parse_outputs, print_outputs
from ..output import (
    check_places,
    configuration_text,
    draw_answer,
    plain,
    print_json,
    print_table,
    save_answer,
    say,
    tell_places,
)

if TYPE_CHECKING:
    from ...studies.statics import Statics

__all__ = ["statics"]

AXES = ("x", "y", "z", "about x", "about y", "about z")

Force = Annotated[
    str, typer.Option("--force", metavar="fx,fy,fz", help="Force on the tip, N, base axes.")
]
Moment = Annotated[
    str, typer.Option("--moment", metavar="mx,my,mz", help="Moment on the tip, N m, base axes.")
]


def statics(
    file: File,
    at: At = None,
    position: Position = None,
    force: Force = "0,0,0",
    moment: Moment = "0,0,0",
    gravity: Gravity = None,
    outputs: Measured = None,
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
) -> None:
    """Print the deflection of the tip under gravity and a load, and its 6 x 6 compliance."""
    from ... import files
    from ...architectures.kinds import architecture_of
    from ...studies.small_range import too_large
    from ...studies.statics import statics as ask

    check_places(plot, save)
    robot = files.load(file)
    if gravity is not None:
        robot = robot.with_("gravity", numbers(gravity, "--gravity", 3))
    where = configuration_arguments(robot, at, position)
    by = architecture_of(robot).asked_by
    load = numbers(force, "--force", 3), numbers(moment, "--moment", 3)
    found = ask(robot, force=load[0], moment=load[1], outputs=parse_outputs(outputs), **where)
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        print_json(
            {
                "robot": found.robot.name,
                "configuration": found.theta,
                **({"position": found.position[-1, 0]} if by == "position" else {}),
                "gravity": found.robot.gravity,
                "tip_displacement": found.tip_displacement,
                "tip_rotation": found.tip_rotation,
                "compliance": found.compliance,
                "strain_energy": dict(zip(found.names, found.strain_energy.tolist(), strict=True)),
                **as_lists(found.outputs),
            },
            found,
        )
        return
    _print(found, where)
    print_outputs(found.outputs, still=True)
    if not found.small:
        instead = "give a smaller load, or stiffer links"
        say(f"\nWarning: {too_large(plain(robot.name), float(found.largest), instead)}.")
    tell_places(plot, save)


def _print(found: Statics, where: dict[str, Any]) -> None:
    gravity = ", ".join(f"{g:g}" for g in found.robot.gravity)
    say(f"{plain(found.robot.name)} at {configuration_text(found, where)}")
    say(f"base axes, gravity {gravity} m/s^2\n")
    displacements = tidy([1e3 * x for x in found.tip_displacement], 6, share=NO_MOTION_SHARE)  # mm
    rotations = tidy(
        [math.degrees(x) for x in found.tip_rotation],
        6,
        beside=math.degrees(abs(found.rotation).max()),
        share=NO_MOTION_SHARE,
    )
    rows = [(axis, moved, "mm") for axis, moved in zip(AXES[:3], displacements, strict=True)]
    rows += [(axis, turned, "deg") for axis, turned in zip(AXES[3:], rotations, strict=True)]
    print_table(("tip", "moves>", "unit"), rows)
    if not found.tip_displacement.any() and not found.tip_rotation.any():
        say("Nothing loads it: give --force, --moment or --gravity.")
    say("\nCompliance: motion (m, rad) per unit force (N) and moment (N m) on the tip")
    cells = tidy(found.compliance.ravel(), 4)
    print_table(
        ("", *(f"{axis}>" for axis in AXES)),
        [(axis, *cells[6 * i : 6 * i + 6]) for i, axis in enumerate(AXES)],
    )
