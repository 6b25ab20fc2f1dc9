"""`supple simulate --path`: the elastic motion of a robot whose motors follow a path."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import typer

from ..errors import SuppleError
from .output import print_json, print_table, save_plot

if TYPE_CHECKING:
    from ..robot import Robot
    from ..studies.follow import PathResponse

__all__ = ["along_path"]


def along_path(
    robot: Robot,
    name: str,
    options: dict[str, Any],
    plot: str | None,
    json: bool,
    save: str | None = None,
) -> None:
    """Follow a named path and print variations, residual vibration and torques."""
    if save is not None:
        from ..view.page import check_page

        check_page(save)
    from ..studies.follow import SmallRangeWarning, follow

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", SmallRangeWarning)
        found = follow(robot, _path(robot, name), **options)
    if plot is not None:
        from ..view.paths import plot_path_response

        save_plot(plot_path_response, found, plot)
    if save is not None:
        from ..view.reports import save_report

        save_report(found, save)
    if json:
        print_json(_document(found, name))
        return
    _print(found, name)
    for warning in seen:
        typer.echo(f"Warning: {warning.message}.")
    if plot is not None:
        typer.echo(f"Drawn: {plot}")


def _path(robot: Robot, name: str) -> Any:
    from ..control.trajectories import PATHS
    from ..faults import nearest
    from ..robot import DeltaRobot

    if name not in PATHS:
        near = nearest(name, tuple(PATHS))
        hint = f"; did you mean {near}?" if near else ""
        raise SuppleError(f"--path {name}: it must be one of {', '.join(PATHS)}{hint}")
    if not isinstance(robot, DeltaRobot):
        raise SuppleError(f"--path {name} leads a Delta's platform: {robot.name} is no Delta")
    return PATHS[name]()


def _document(found: PathResponse, name: str) -> dict[str, Any]:
    out = {
        "robot": found.robot.name,
        "path": name,
        "unknowns": found.model.size,
        "t": found.t,
        "position": found.position,
        "displacement": found.tip[:, :3],
        "rotation": found.tip[:, 3:],
        "torque": found.torque,
        "rigid_torque": found.rigid_torque,
        "largest_deflection": found.largest,
        "small": found.small,
    }
    if not found.path.periodic and found.t[-1] > found.path.duration:
        out["residual"] = found.residual()
    return out


def _print(found: PathResponse, name: str) -> None:
    import numpy as np

    typer.echo(f"{found.robot.name} along {name}, {found.t[-1]:g} s, {found.model.size} unknowns;")
    typer.echo("variation of place and attitude from the rigid motion\n")
    scale = np.array([1e3] * 3 + [180 / np.pi] * 3)
    rows = [("largest", found.peak * scale), ("at the end", found.tip[-1] * scale)]
    if not found.path.periodic and found.t[-1] > found.path.duration:
        rows.append(("after the stop", found.residual() * scale))
    columns = ("variation", *(f"{axis}, mm>" for axis in "xyz"))
    columns += tuple(f"about {axis}, deg>" for axis in "xyz")
    print_table(columns, [(word, *(f"{x:.4g}" for x in values)) for word, values in rows])
    typer.echo("")
    motors = [f"motor {j + 1}>" for j in range(found.torque.shape[1])]
    peaks = [np.abs(x).max(axis=0) for x in (found.torque, found.rigid_torque)]
    told = zip(("flexible links", "rigid links"), peaks, strict=True)
    print_table(
        ("largest torque, N m", *motors),
        [(word, *(f"{x:.4g}" for x in values)) for word, values in told],
    )
