"""`supple linearize`: an arm close to a state, its eigenvalues and state-space matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..arguments import At, File, Json, Plot, Position, configuration_arguments, refuse
from ..measured import output_of
from ..output import (
    check_places,
    digits,
    draw_answer,
    plain,
    print_json,
    print_table,
    say,
    tell_places,
)
from .damping import link_damping_law
from .options import (
    Axial,
    Damping,
    Deflection,
    Elements,
    Modal,
    Modes,
    Stiffening,
    Torsion,
)
from .simulate import NOT_ELEMENTS, law_of, model_of

if TYPE_CHECKING:
    from ...studies.motion.linearize import StateSpace

__all__ = ["linearize"]

Outputs = Annotated[
    str,
    typer.Option(
        "--outputs",
        metavar="joints,tip,...",
        help="joints, rates, tip, state, or at a place strain:LINK:0.1, moment:LINK:0.5, ..",
    ),
]
Inputs = Annotated[
    str | None,
    typer.Option(
        "--inputs",
        metavar="tau,...",
        help="tau, tip force, tip moment; with --controller also reference, its default.",
    ),
]
Law = Annotated[
    str | None,
    typer.Option("--controller", metavar="NAME", help="Close the loop: pd, gravity-pd, .."),
]
Gains = Annotated[
    str, typer.Option("--gains", metavar="Gp,Gv", help="Position and velocity gain of all joints.")
]
Kind = Annotated[
    str, typer.Option("--kind", metavar="bode|nyquist|step", help="What --plot draws.")
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
    inputs: Inputs = None,
    controller: Law = None,
    gains: Gains = "100,20",
    plot: Plot = None,
    kind: Kind = "bode",
    json: Json = False,
) -> None:
    """Print frequencies and damping ratios of an arm at rest, joints free; A, B, C, D as JSON."""
    from ... import files
    from ...integration.plan import start_angles
    from ...studies.motion.linearize import linearize as ask

    check_places(plot, None)
    robot = files.load(file)
    options: dict[str, Any] = {"deflection": deflection, "stiffening": stiffening or None}
    options |= {"damping": link_damping_law(damping), "modal_damping": modal_damping}
    if elements is not None:
        refuse(context, NOT_ELEMENTS, "with --elements")
    model = model_of(robot, (modes, axial, torsion), elements, options)
    where = configuration_arguments(robot, at, position)
    theta = start_angles(model, where.get("position"), where.get("theta"))
    if theta is None:
        theta = model.chain.pose()[: model.joints]
    if controller is None:
        refuse(context, ("gains",), "without --controller")
    if plot is None:
        refuse(context, ("kind",), "without --plot")
    law = None if controller is None else law_of(controller, gains)
    given = None if inputs is None else [word.strip() for word in inputs.split(",")]
    wanted = [(output_of(word) if ":" in word else word.strip()) for word in outputs.split(",")]
    found = ask(model, theta, outputs=wanted, inputs=given, controller=law)
    if plot is not None:
        draw_answer(found, plot, kind=kind)
    _tell(robot.name, found, json)
    if not json:
        tell_places(plot, None)


def _tell(name: str, found: StateSpace, json: bool) -> None:
    if json:
        roots = [[value.real, value.imag] for value in found.eigenvalues.tolist()]
        keys = ("q", "tau", "states", "inputs", "outputs", "A", "B", "C", "D")
        document = {"robot": name} | {key: getattr(found, key) for key in keys}
        rest = {"frequencies": found.frequencies, "damping_ratios": found.damping_ratios}
        print_json(document | {"eigenvalues": roots} | rest, found)
        return
    say(
        f"{plain(name)}: {len(found.A)} states, inputs {', '.join(found.inputs)}, "
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
