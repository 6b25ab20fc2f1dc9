"""`supple simulate --path`: the elastic motion of a robot whose motors follow a path."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import typer

from ..errors import SuppleError
from .output import print_json, print_table, save_plot

if TYPE_CHECKING:
    from ..control.trajectories import Trajectory
    from ..robot import Robot
    from ..studies.follow import PathResponse
    from ..studies.motion import Response

__all__ = ["along_path", "path_of", "print_coupled"]


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
        found = follow(robot, path_of(robot, name), **options)
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


def path_of(robot: Robot, name: str) -> Any:
    """Return the platform's path of this name."""
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


def print_coupled(found: Response, path: Trajectory | None) -> None:
    """Print where platform and motors of a coupled Delta went, how its links bent, and checks."""
    import numpy as np

    model = found.model
    typer.echo(f"{model.robot.name}: rigid and elastic motion together, {model.size} coordinates, "
               f"{found.method}, {len(found.t) - 1} steps to t = {found.t[-1]:g} s\n")  # fmt: skip
    rows = [("at the start", found.tip[0]), ("at the end", found.tip[-1])]
    if path is not None:
        rows.append(("largest distance from its path", np.abs(found.tip - path(found.t)[0]).max(0)))
    print_table(("platform, m", "x>", "y>", "z>"), [(w, *(f"{x:.5g}" for x in v)) for w, v in rows])
    typer.echo("")
    names = [name.removeprefix("theta.") for name in model.coordinates[: model.joints]]
    ends = np.degrees(found.theta[-1])
    peaks = np.abs(found.tau).max(axis=0)
    print_table(
        ("motor", "angle at the end, deg>", "largest torque, N m>"),
        [(n, f"{a:.5g}", f"{p:.5g}") for n, a, p in zip(names, ends, peaks, strict=True)],
    )
    typer.echo("")
    bent = [link.name for link in model.chain.links if link.shapes is not None]
    print_table(
        ("link", "largest deflection of its end, mm>"),
        [(n, f"{1e3 * np.linalg.norm(found.deflection(n), axis=1).max():.4g}") for n in bent],
    )
    told = ", ".join(f"{name} {value[-1]:.6g}" for name, value in found.energies.items())
    typer.echo(f"\nenergy, J: {told}; power balance closes to {abs(found.balance).max():.1e}")
    typer.echo(f"loops are closed to {found.closure.max():.1e} m")
    if not found.complete:
        typer.echo(f"\nended early: {found.message}", err=True)
