"""`supple linearize`: an arm close to a state, its eigenvalues and state-space matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, Position, asked, refuse
from ..output import (
    digits,
    plain,
    print_json,
    print_table,
    say,
)
from .simulate import (
    NOT_ELEMENTS,
    Axial,
    Damping,
    Deflection,
    Elements,
    Modal,
    Modes,
    Stiffening,
    Torsion,
    model_of,
)

if TYPE_CHECKING:
    from ...studies.motion.linearize import StateSpace

__all__ = ["linearize"]

Outputs = Annotated[
    str,
    typer.Option(
        "--outputs", metavar="joints,tip,...", help="joints, rates, tip, state, strain:LINK:0.1"
    ),
]


def linearize(
    context: typer.Context,
    file: File,
    at: At = None,
    position: Position = None,
    modes: Modes = None,
    axial: Axial = 0,
    torsion: Torsion = None,
    elements: Elements = None,
    deflection: Deflection = "rotation",
    stiffening: Stiffening = False,
    damping: Damping = None,
    modal_damping: Modal = None,
    outputs: Outputs = "joints",
    json: Json = False,
) -> None:
    """Print frequencies and damping ratios of an arm at rest, joints free; A, B, C, D as JSON."""
    from ... import files
    from ...integration.plan import start_angles
    from ...studies.motion.linearize import linearize as ask

    robot = files.load(file)
    options = {"deflection": deflection, "stiffening": stiffening or None, "damping": damping}
    options |= {"modal_damping": modal_damping}
    if elements is not None:
        refuse(context, NOT_ELEMENTS, "with --elements")
    model = model_of(robot, (modes, axial, torsion), elements, options)
    where = asked(robot, at, position)
    theta = start_angles(model, where.get("position"), where.get("theta"))
    if theta is None:
        theta = [0.0] * model.joints
    found = ask(model, theta, outputs=[_output(word) for word in outputs.split(",")])
    if json:
        name = robot.name
        values = found.eigenvalues
        document = {
            "robot": name,
            "q": found.q,
            "tau": found.tau,
            "states": found.states,
            "inputs": found.inputs,
            "outputs": found.outputs,
            "A": found.A,
            "B": found.B,
            "C": found.C,
            "D": found.D,
            "eigenvalues": [[value.real, value.imag] for value in values.tolist()],
            "frequencies": found.frequencies,
            "damping_ratios": found.damping_ratios,
        }
        print_json(document, found)
    else:
        _print(plain(robot.name), found)


def _output(word: str) -> Any:
    from ...outputs.kinds import Strain

    if not word.startswith("strain:"):
        return word
    _, link, *place = word.split(":")
    try:
        return Strain(link, float(place[0]) if place else 0.0)
    except ValueError:
        raise SuppleError(f"--outputs {word}: write strain:LINK:0.1") from None


def _print(name: str, found: StateSpace) -> None:
    say(
        f"{name}: {len(found.A)} states, inputs {', '.join(found.inputs)}, "
        f"outputs {', '.join(found.outputs)}\n"
    )
    rows = zip(found.frequencies.tolist(), found.damping_ratios.tolist(), strict=True)
    print_table(
        ("Hz>", "rad/s>", "damping ratio>"),
        [
            (digits(w / (2 * math.pi)), digits(w), f"{z if abs(z) > 1e-9 else 0:.4g}")
            for w, z in rows
        ],
    )
