"""`supple modes`: natural frequencies at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, Plot, Position, Save, asked, joint_words, refuse
from ..output import (
    check_places,
    digits,
    draw_answer,
    plain,
    print_json,
    print_table,
    save_answer,
    say,
    tell_places,
    told_configuration,
)

if TYPE_CHECKING:
    from ...robot import Robot
    from ...studies.vibration.modes import Modes

__all__ = ["modes"]

THEORIES = ("timoshenko", "euler-bernoulli", "inextensible", "rigid")

Count = Annotated[int, typer.Option("--count", help="Number of elastic modes.")]
Theory = Annotated[
    str | None,
    typer.Option(
        "--theory",
        metavar="NAME",
        help=f"Beam theory of every flexible link: {', '.join(THEORIES)}.",
    ),
]
Method = Annotated[
    str, typer.Option("--method", metavar="exact|elements|assumed", help="How to compute them.")
]
Joints = Annotated[
    str,
    typer.Option(
        "--joints",
        metavar="locked|free",
        help="Whether the motors hold the joints; or one by one, link1=free,link2=locked.",
    ),
]


Elements = Annotated[
    int,
    typer.Option("--elements", help="Elements per link; with --method assumed, modes per link."),
]
Order = Annotated[
    str, typer.Option("--order", metavar="cubic|quintic", help="Order of the elements in bending.")
]


_IDLE = {"exact": ("elements", "order"), "assumed": ("order",)}


def modes(
    context: typer.Context,
    file: File,
    at: At = None,
    position: Position = None,
    count: Count = 10,
    theory: Theory = None,
    method: Method = "exact",
    joints: Joints = "locked",
    elements: Elements = 8,
    order: Order = "cubic",
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
) -> None:
    """Print natural frequencies in Hz and rad/s with the kind of each mode."""
    from ... import files
    from ...studies.vibration.modes import modes as ask

    refuse(context, _IDLE.get(method, ()), f"with --method {method}")
    check_places(plot, save)
    robot = files.load(file)
    if theory is not None:  # every link that bends under one theory
        from ...architectures.kinds import architecture_of
        from ...faults import nearest

        if theory not in THEORIES:
            near = nearest(theory, THEORIES)
            hint = f"; did you mean {near}?" if near else ""
            raise SuppleError(f"--theory {theory}: it must be one of {', '.join(THEORIES)}{hint}")
        parts = architecture_of(robot).parts()
        paths = [f"{path}.theory" for path, link in parts.items() if not link.rigid]
        robot = robot.with_(dict.fromkeys(paths, theory))
    where = asked(robot, at, position)
    choice: dict[str, Any] = {"method": method, "joints": joint_words(joints), **where}
    found = ask(robot, count=count, elements=elements, order=order, **choice)
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        print_json(_document(found), found)
        return
    theories = _theory(found.robot)
    told = theories if isinstance(theories, str) else ", ".join(dict.fromkeys(theories))
    say(f"{plain(found.robot.name)} at {told_configuration(found, where)}")
    say(f"joints {found.joints}, theory {told}, method {found.method}\n")
    rows = zip(found.frequency_hz, found.omega, found.kind, strict=True)
    print_table(
        ("mode>", "Hz>", "rad/s>", "kind"),
        [(str(i), digits(hz), digits(w), kind) for i, (hz, w, kind) in enumerate(rows, 1)],
    )
    # what is proven about the frequencies printed
    zero = found.rigid_modes
    rigid = f" Beside them {zero} rigid-body mode{'s' * (zero > 1)} at zero." if zero else ""
    say("\n" + found.proof + rigid)
    tell_places(plot, save)


def _theory(robot: Robot) -> str | list[str]:
    """The theory in use, or one per link when they differ."""
    from ...architectures.kinds import architecture_of
    from ...beams.theory import theory_of

    used = [theory_of(robot, link) for link in architecture_of(robot).parts().values()]
    return used[0] if len(set(used)) == 1 else list(used)


def _document(found: Modes) -> dict[str, Any]:
    """The contract's document, with what else is known."""
    return {
        "robot": found.robot.name,
        "method": found.method,
        "theory": _theory(found.robot),
        "joints": found.joints,
        "configuration": found.theta,
        **({} if found.position is None else {"position": found.position}),
        "frequency_hz": found.frequency_hz,
        "omega": found.omega,
        "kind": found.kind,
        "rigid_modes": found.rigid_modes,
        "certified": found.certified,
        **({} if found.plane is None else {"plane": found.plane}),
        **({} if found.plane is None else {"out_of_plane_hz": found.out_of_plane_hz}),
    }
