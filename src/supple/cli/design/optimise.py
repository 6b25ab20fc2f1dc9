"""`supple optimise`: dimensions that make the lowest frequency as high as limits allow."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import File, Json, angles, numbers
from ..output import plain, plane_of, print_json, print_table, say
from ..signature_options import options_of
from .sweep import parse_over

__all__ = ["optimise"]


Vary = Annotated[
    list[str],
    typer.Option(
        "--vary",
        metavar="PATH=low:high",
        help="A dimension and its bounds, 4mm:20mm; paths between commas get one value, a star "
        "stands for every entry (links.boom.stations.*.section.wall). May be repeated.",
    ),
]
Poses = Annotated[
    list[str],
    typer.Option("--at", metavar="0,45deg,...", help="A pose; may be repeated. Default: all zero."),
]
Box = Annotated[
    list[str],
    typer.Option(
        "--over",
        metavar="KEY=low:high",
        help="A box of poses: theta.link2=-2:2. May be repeated.",
    ),
]
Place = Annotated[
    str | None,
    typer.Option(
        "--place", metavar="MODE,HZ", help="Bring this mode to a frequency: 1,12 (mode 1, 12 Hz)."
    ),
]


@options_of("studies.design.optimise:optimise", "minimise", "lowest", "mass", "sag", "stress")
def optimise(
    file: File,
    vary: Vary,
    at: Poses = [],  # noqa: B006 - typer reads it, nobody changes it
    over: Box = [],  # noqa: B006 - as above
    place: Place = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE.yaml", help="Robot file to write.")
    ] = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Find dimensions with the highest lowest frequency, or the lightest stiff-enough ones."""
    from ... import files
    from ...files.disk import check_place
    from ...studies.design.optimise import optimise as ask

    if out is not None:
        check_place(out, file)
    ranges: dict[str, dict[str, tuple[float, float]]] = {"--vary": {}, "--over": {}}
    for option, text in [("--vary", each) for each in vary] + [("--over", each) for each in over]:
        key, ends = parse_over(text, option)
        if len(ends) != 2:
            raise SuppleError(f"{option} {text}: write it as KEY=low:high")
        ranges[option][key] = (ends[0], ends[1])
    poses = [angles(text, "--at") for text in at] or None
    wanted: Any = None if place is None else numbers(place, "--place", 2)
    box = ranges["--over"] or None
    found = ask(files.load(file), ranges["--vary"], at=poses, over=box, place=wanted, **asked)
    if out is not None:
        files.dump(found.robot, out)
    inside, plane = plane_of(found.robot)
    if json:
        keys = (
            *("values", "lowest_hz", "start_hz", "gain", "mass", "sag", "stress", "active", "kkt"),
            *("start_mass", "poses", "worst"),
        )
        document = {"robot": found.robot.name, **plane, "elements_hz": found.elements_hz}
        print_json(document | {key: getattr(found, key) for key in keys})
        return
    name = plain(found.robot.name)
    if found.goal == "mass":
        say(
            f"{name}: {found.start_mass:.5g} kg become {found.mass:.5g} kg without payload, "
            f"{found.lowest_hz:.5g} Hz{inside} (it began with {found.start_hz:.5g} Hz)"
        )
    else:
        say(
            f"{name}: {found.start_hz:.5g} Hz become {found.lowest_hz:.5g} Hz{inside} "
            f"({100 * found.gain:+.3g} %), {found.mass:.4g} kg without payload"
        )
    from ...view.summaries.layout import parameter_value

    print_table(
        ("dimension", "value>"),
        [(k, parameter_value(found.robot, k, v, 6)) for k, v in found.values.items()],
    )
    say("Held back by: " + (", ".join(found.active) or "nothing") + ".")
    say(f"Optimal to {found.kkt:.1e} (KKT residual); {found.elements_hz:.5g} Hz by elements.")
    if out is not None:
        say(f"Written: {out}")
