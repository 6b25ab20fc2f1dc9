"""`supple modes`: natural frequencies at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import SuppleError
from .arguments import At, File, Json, Plot, configuration, numbers
from .output import digits, print_json, print_table, save_plot, told_angles

if TYPE_CHECKING:
    from ..robot import Robot
    from ..studies.modes import Modes

__all__ = ["modes"]

THEORIES = ("timoshenko", "euler-bernoulli", "inextensible", "rigid")

Position = Annotated[
    str | None,
    typer.Option("--position", metavar="x,y,z", help="Place of a Delta's platform, metres."),
]
Count = Annotated[int, typer.Option("--count", help="How many elastic modes.")]
Theory = Annotated[
    str | None,
    typer.Option(
        "--theory",
        metavar="NAME",
        help=f"{', '.join(THEORIES)}, for every link that bends.",
    ),
]
Method = Annotated[
    str, typer.Option("--method", metavar="exact|elements|assumed", help="How to compute them.")
]
Joints = Annotated[str, typer.Option("--joints", metavar="locked|free", help="What the motors do.")]


def modes(
    file: File,
    at: At = None,
    position: Position = None,
    count: Count = 10,
    theory: Theory = None,
    method: Method = "exact",
    joints: Joints = "locked",
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Print natural frequencies: mode, Hz, rad/s, what kind of mode."""
    from .. import files
    from ..studies.modes import modes as ask

    robot = files.load(file)
    robot = robot if theory is None else _with_theory(robot, theory)
    _check_position(robot, position)
    theta = configuration(robot, at)
    found = ask(robot, theta, count=count, method=method, joints=joints)  # type: ignore[arg-type]
    if plot is not None:
        from ..view.plots import plot_modes

        save_plot(plot_modes, found, plot)
    if json:
        print_json(_document(found))
    else:
        _print(found, at is None)


def _with_theory(robot: Robot, theory: str) -> Robot:
    """The robot with every link that bends under one theory."""
    from ..faults import nearest

    if theory not in THEORIES:
        near = nearest(theory, THEORIES)
        hint = f"; did you mean {near}?" if near else ""
        raise SuppleError(f"--theory {theory}: it must be one of {', '.join(THEORIES)}{hint}")
    paths = [f"{path}.theory" for path, link in _links(robot).items() if not link.rigid]
    return robot.with_(dict.fromkeys(paths, theory))


def _links(robot: Robot) -> dict[str, Any]:
    """The beams of a robot by their paths."""
    from ..robot import SerialRobot

    if isinstance(robot, SerialRobot):
        return {f"links.{link.name}": link for link in robot.links}
    return {key: getattr(robot, key) for key in ("upper", "lower")}


def _theory(robot: Robot) -> str | list[str]:
    """The theory in use, or one a link when they differ."""
    from ..beams.theory import theory_of

    used = [theory_of(robot, link) for link in _links(robot).values()]
    return used[0] if len(set(used)) == 1 else list(used)


def _document(found: Modes) -> dict[str, Any]:
    """The contract's document, with what else is known."""
    return {
        "robot": found.robot.name,
        "method": found.method,
        "theory": _theory(found.robot),
        "joints": found.joints,
        "configuration": found.theta,
        "frequency_hz": found.frequency_hz,
        "omega": found.omega,
        "kind": found.kind,
        "rigid_modes": found.rigid_modes,
        "certified": found.certified,
    }


def _check_position(robot: Robot, position: str | None) -> None:
    from ..robot import SerialRobot

    if position is None:
        return
    numbers(position, "--position", 3)
    if isinstance(robot, SerialRobot):
        raise SuppleError(f"--position is for a Delta: {robot.name} is a serial arm, use --at")


def _print(found: Modes, at_zero: bool) -> None:
    theory = _theory(found.robot)
    told = theory if isinstance(theory, str) else ", ".join(theory)
    where = f"{told_configuration(found)}{' (--at is not given)' if at_zero else ''}"
    typer.echo(f"{found.robot.name} at {where}")
    typer.echo(f"joints {found.joints}, theory {told}, method {found.method}\n")
    rows = zip(found.frequency_hz, found.omega, found.kind, strict=True)
    print_table(
        ("mode>", "Hz>", "rad/s>", "kind"),
        [(str(i), digits(hz), digits(w), kind) for i, (hz, w, kind) in enumerate(rows, 1)],
    )
    typer.echo("\n" + _verdict(found))


def told_configuration(found: Any) -> str:
    """Joint coordinates of an answer, as one reads them."""
    slides = [link.joint.type == "prismatic" for link in found.robot.moving]
    return told_angles(found.theta, slides) or "its only configuration"


def _verdict(found: Modes) -> str:
    """What is proven about the frequencies printed."""
    zero = found.rigid_modes
    rigid = f" Beside them {zero} rigid-body mode{'s' * (zero > 1)} at zero." if zero else ""
    if found.certified:
        return f"Certified: counted exactly, no natural frequency in this range is missing.{rigid}"
    return f"Not certified: method {found.method} does not count roots.{rigid}"
