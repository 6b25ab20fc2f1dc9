"""`supple modes`: natural frequencies at a configuration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import (
    At,
    File,
    Json,
    Plot,
    Position,
    Save,
    configuration_arguments,
    joint_words,
    refuse,
)
from ..output import (
    check_places,
    configuration_text,
    digits,
    draw_answer,
    plain,
    print_json,
    print_table,
    save_answer,
    say,
    tell_places,
)
from ..signature_options import options_of

if TYPE_CHECKING:
    from ...robot import Robot
    from ...studies.vibration.modes import Modes
    from ...studies.vibration.theories import Theories

__all__ = ["modes"]

THEORIES = ("timoshenko", "euler-bernoulli", "inextensible", "rigid")
ALL = "all"  # instead of one theory: those that vibrate, side by side

Theory = Annotated[
    str | None,
    typer.Option(
        "--theory",
        metavar="NAME",
        help=f"Beam theory of every flexible link: {', '.join(THEORIES)}; or all, side by side.",
    ),
]
Joints = Annotated[
    str,
    typer.Option(
        "--joints",
        metavar="locked|free",
        help="Whether the motors hold the joints; or one by one, link1=free,link2=locked.",
    ),
]

_IDLE = {"exact": ("elements", "order"), "assumed": ("order",)}
UNDER_WEIGHT = "under its weight"


@options_of("studies.vibration.modes:modes", "count", "method", "elements", "order", "gravity")
def modes(
    context: typer.Context,
    file: File,
    at: At = None,
    position: Position = None,
    theory: Theory = None,
    joints: Joints = "locked",
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Print natural frequencies in Hz and rad/s with the kind of each mode."""
    from ... import files
    from ...studies.vibration.modes import modes as ask

    method = asked["method"]
    refuse(context, _IDLE.get(method, ()), f"with --method {method}")
    check_places(plot, save)
    robot = files.load(file)
    if theory == ALL and asked["gravity"]:
        raise SuppleError("--gravity is for one theory: leave --theory all out")
    if theory == ALL and save is not None:
        raise SuppleError("--save is for one theory: leave --theory all out, or take --plot")
    if theory is not None and theory != ALL:
        from ...faults import nearest
        from ...studies.vibration.theories import with_theory

        if theory not in THEORIES:
            allowed = (*THEORIES, ALL)
            suggestion = nearest(theory, allowed)
            hint = f"; did you mean {suggestion}?" if suggestion else ""
            raise SuppleError(f"--theory {theory}: it must be one of {', '.join(allowed)}{hint}")
        robot = with_theory(robot, theory)
    where = configuration_arguments(robot, at, position)
    choice: dict[str, Any] = {"joints": joint_words(joints), **asked, **where}
    if theory == ALL:
        del choice["gravity"]
        from ...studies.vibration.theories import theories as compare

        compared = compare(robot, **choice)
        _print_theories(compared, where, plot, json)
        return
    found = ask(robot, **choice)
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        print_json(_document(found), found)
        return
    theories = _theory(found.robot)
    names = theories if isinstance(theories, str) else ", ".join(dict.fromkeys(theories))
    say(f"{plain(found.robot.name)} at {configuration_text(found, where)}")
    loaded = f", {UNDER_WEIGHT}" if found.gravity else ""
    say(f"joints {found.joints}{loaded}, theory {names}, method {found.method}\n")
    rows = zip(found.frequency_hz, found.omega, found.kind, strict=True)
    print_table(
        ("mode>", "Hz>", "rad/s>", "kind"),
        [(str(i), digits(hz), digits(w), kind) for i, (hz, w, kind) in enumerate(rows, 1)],
    )
    # what is proven about the frequencies printed
    rigid = f" Beside them {found.at_zero('--gravity')}." if found.rigid_modes else ""
    say("\n" + found.proof + rigid)
    tell_places(plot, save)


def _print_theories(
    compared: Theories, where: dict[str, Any], plot: str | None, json: bool
) -> None:
    """One column per theory, and the differences of [DiCastri2011] (46)."""
    if plot is not None:
        draw_answer(compared, plot)
    if json:
        keys = ("frequency_hz", "difference", "partner", "partner_difference")
        rows = {key: getattr(compared, key) for key in keys}
        document: dict[str, Any] = {
            "robot": compared.robot.name,
            "method": compared.method,
            "joints": compared.joints,
            "configuration": compared.theta,
            **({} if compared.position is None else {"position": compared.position}),
            "theories": list(compared.names),
            "reference": compared.reference,
            "missing": dict(compared.missing),
            "certified": compared.certified,
        }
        for key, values in rows.items():
            document[key] = {
                name: [None if math.isnan(value) else value for value in row.tolist()]
                for name, row in zip(compared.names, values, strict=True)
            }
        print_json(document, compared)
        return
    say(f"{plain(compared.robot.name)} at {configuration_text(compared, where)}")
    say(f"joints {compared.joints}, method {compared.method}, frequencies in Hz\n")
    others = compared.names[1:]
    columns = ["mode>", *(f"{name}>" for name in compared.names)]
    for name in others:
        columns += [f"{name} %>", "same shape>", "%>"]
    table = []
    for mode in range(compared.omega.shape[1]):
        row = [str(mode + 1), *(digits(hz) for hz in compared.frequency_hz[:, mode])]
        for k in range(1, len(compared.names)):
            number = int(compared.partner[k, mode])
            change = f"{compared.partner_difference[k, mode]:.2f}" if number else ""
            row += [f"{compared.difference[k, mode]:.2f}", f"mode {number}" if number else "none"]
            row.append(change)
        table.append(row)
    print_table(columns, table)
    say(
        f"\nDifferences are from {compared.reference}, mode by mode ([DiCastri2011] (46)); then "
        "the mode with the same shape, and its difference."
    )
    for name, why in compared.missing.items():
        say(f"Without {name}: {why}")
    tell_places(plot, None)


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
        **({"gravity": True} if found.gravity else {}),
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
