"""`supple stability`: what vibration does while a link slides along a trajectory."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..arguments import File, Json, Plot, Save
from ..output import (
    check_places,
    draw_answer,
    plain,
    print_json,
    print_table,
    save_answer,
    say,
    tell_places,
)
from ..signature_options import options_of
from .damping import link_damping_law
from .options import Damping, Modal, Modes, Path
from .simulate import trajectory_of

__all__ = ["stability"]

Velocity = Annotated[
    str,
    typer.Option("--velocity", metavar="material|paper", help="Velocity terms of sliding links."),
]
Scaling = Annotated[
    str,
    typer.Option(
        "--normalisation", metavar="mass|one|integral|tip|unit", help="Scaling of sliding shapes."
    ),
]

REPORTED = (
    *("omega", "energy", "action", "end_deflection", "root_moment", "lyapunov", "lyapunov_rate"),
    *("lyapunov_own", "offsetting_ratio", "speed_ratio", "growth", "stable", "text"),
    *("tip_amplitude", "beta", "beta_integrated"),
)


@options_of("studies.motion.stability:stability", "amplitude", "mode")
def stability(
    file: File,
    trajectory: Path = "extension",
    modes: Modes = 2,
    velocity: Velocity = "material",
    normalisation: Scaling = "one",
    damping: Damping = None,
    modal_damping: Modal = None,
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Print frozen eigenvalues, energy, action, amplitude and root moment along a motion."""
    from ... import files
    from ...beams.basis import AssumedModes
    from ...equations.build import build
    from ...studies.motion.stability import stability as ask

    check_places(plot, save)
    robot = files.load(file)
    model = build(
        robot,
        AssumedModes(modes, normalisation=normalisation),  # type: ignore[arg-type]
        velocity=velocity,  # type: ignore[arg-type]
        damping=link_damping_law(damping),
        modal_damping=modal_damping,
    )
    path = trajectory_of(trajectory or "extension", robot)
    found = ask(model, path, **asked)
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        given = {"trajectory": trajectory, "velocity": velocity, "normalisation": normalisation}
        values = found.eigenvalues
        split = {"eigenvalues_real": values.real, "eigenvalues_imag": values.imag}
        document = {name: getattr(found, name) for name in REPORTED}
        print_json({"robot": robot.name, **given, "t": found.t, **split, **document}, found)
        return
    say(f"{plain(robot.name)}, {trajectory}: {model.size - model.joints} elastic coordinates")
    say(f"{found.verdict}\n")
    rows = []
    for k in range(0, len(found.t), max(1, (len(found.t) - 1) // 10)):
        real = found.eigenvalues[k].real
        rows.append(
            (
                f"{found.t[k]:.2f}",
                f"{found.omega[k, 0]:.4g}",
                f"{real.min():.3f}",
                f"{real.max():.3f}",
                f"{found.energy[k]:.3e}",
                f"{found.action[k]:.3e}",
                f"{1e3 * (found.end_deflection[k] ** 2).sum() ** 0.5:.4f}",
                f"{(found.root_moment[k] ** 2).sum() ** 0.5:.4f}",
            )
        )
    heads = ["t, s>", "omega_1>", "Re min>", "Re max>", "energy, J>", "action, J s>"]
    print_table([*heads, "tip, mm>", "root, N m>"], rows)
    say("\n" + found.text.partition("\n")[2])
    tell_places(plot, save)
