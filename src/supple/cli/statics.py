"""`supple statics`: sag under gravity and tip loads, and the compliance of the tip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import At, File, Json, Plot, configuration, numbers
from .modes import told_configuration
from .output import print_json, print_table, save_plot

if TYPE_CHECKING:
    from ..studies.statics import Statics

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
    force: Force = "0,0,0",
    moment: Moment = "0,0,0",
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Print how the tip moves under gravity and a load, and its 6 x 6 compliance."""
    from .. import files
    from ..studies.statics import statics as ask

    robot = files.load(file)
    theta = configuration(robot, at)
    load = numbers(force, "--force", 3), numbers(moment, "--moment", 3)
    found = ask(robot, theta, force=load[0], moment=load[1])
    if plot is not None:
        from ..view.plots import plot_statics

        save_plot(plot_statics, found, plot)
    if json:
        print_json(_document(found))
    else:
        _print(found, at is None)


def _document(found: Statics) -> dict[str, object]:
    return {
        "robot": found.robot.name,
        "configuration": found.theta,
        "gravity": found.robot.gravity,
        "tip_displacement": found.tip_displacement,
        "tip_rotation": found.tip_rotation,
        "compliance": found.compliance,
    }


def _print(found: Statics, at_zero: bool) -> None:
    where = f"{told_configuration(found)}{' (--at is not given)' if at_zero else ''}"
    typer.echo(f"{found.robot.name} at {where}; base axes, gravity {list(found.robot.gravity)}\n")
    moved = [*found.tip_displacement, *found.tip_rotation]
    units = ["m"] * 3 + ["rad"] * 3
    print_table(
        ("tip", "moves>", "unit"),
        [(axis, f"{u:.6g}", unit) for axis, u, unit in zip(AXES, moved, units, strict=True)],
    )
    typer.echo("\nCompliance: motion (m, rad) per unit force (N) and moment (N m) on the tip")
    rows = zip(AXES, found.compliance, strict=True)
    print_table(
        ("", *(f"{axis}>" for axis in AXES)),
        [(axis, *(f"{c:.4g}" for c in row)) for axis, row in rows],
    )
