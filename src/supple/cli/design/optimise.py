"""`supple optimise`: dimensions that make the lowest frequency as high as limits allow."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import SuppleError
from ..arguments import File, Json, angles
from ..output import plain, print_json, print_table, say
from .sweep import parse_over

__all__ = ["optimise"]


def optimise(
    file: File,
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary", metavar="PATH=low:high", help="A dimension and its bounds; may be repeated."
        ),
    ],
    at: Annotated[
        list[str],
        typer.Option(
            "--at", metavar="0,45deg,...", help="A pose; may be repeated. Default: all zero."
        ),
    ] = [],  # noqa: B006 - typer reads it, nobody changes it
    mass: Annotated[
        float | None, typer.Option("--mass", help="Largest mass of links and bodies together, kg.")
    ] = None,
    sag: Annotated[float | None, typer.Option("--sag", help="Largest sag of the tip, m.")] = None,
    stress: Annotated[
        float | None, typer.Option("--stress", help="Largest von Mises stress in any link, Pa.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE.yaml", help="Robot file to write.")
    ] = None,
    json: Json = False,
) -> None:
    """Find dimensions that make the lowest natural frequency over poses as high as possible."""
    from ... import files
    from ...files.disk import check_place
    from ...studies.design.optimise import optimise as ask

    if out is not None:
        check_place(out, file)
    bounds = {}
    for text in vary:
        key, ends = parse_over(text)
        if len(ends) != 2:
            raise SuppleError(f"--vary {text}: write PATH=low:high")
        bounds[key] = (ends[0], ends[1])
    poses = [angles(text, "--at") for text in at] or None
    found = ask(files.load(file), bounds, at=poses, mass=mass, sag=sag, stress=stress)
    if out is not None:
        files.dump(found.robot, out)
    if json:
        keys = ("values", "lowest_hz", "start_hz", "gain", "mass", "sag", "stress", "active", "kkt")
        document = {"robot": found.robot.name, "elements_hz": found.elements_hz}
        print_json(document | {key: getattr(found, key) for key in keys})
        return
    say(
        f"{plain(found.robot.name)}: {found.start_hz:.5g} Hz become {found.lowest_hz:.5g} Hz "
        f"({100 * found.gain:+.3g} %), {found.mass:.4g} kg without payload"
    )
    print_table(("dimension", "value>"), [(k, f"{v:.6g}") for k, v in found.values.items()])
    say("Held back by: " + (", ".join(found.active) or "nothing") + ".")
    say(f"Optimal to {found.kkt:.1e} (KKT residual); {found.elements_hz:.5g} Hz by elements.")
    if out is not None:
        say(f"Written: {out}")
