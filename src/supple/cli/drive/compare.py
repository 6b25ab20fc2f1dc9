"""`supple compare`: several ways to make one move, tried on a finer robot with a wrong payload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import File, Json, Plot, angles, one_or_list
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
from .shape import Gains, servo_of

if TYPE_CHECKING:
    from ...studies.drive.compare import Comparison

__all__ = ["compare"]

From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="0,45deg,..",
        help="Where the move begins: joint coordinates (of a mechanism, its motors'), or x,y,z "
        "of a Delta's platform.",
    ),
]
To = Annotated[str, typer.Option("--to", metavar="0,90deg,..", help="Where it ends.")]
Methods = Annotated[
    str,
    typer.Option(
        "--methods",
        metavar="a,b,..",
        help="unshaped, a shaper (zv, zvd, ei, ..), scheduled, scheduled-ei, .., optimised, or a "
        "file with the same move (shaped.csv).",
    ),
]
EffortLimit = Annotated[
    str | None,
    typer.Option(
        "--effort-limit",
        metavar="20,8",
        help="Effort limits of the motors, N m or N; one value, or one per joint. "
        "Default: the robot file's.",
    ),
]
Save = Annotated[
    str | None,
    typer.Option("--save", metavar="FILE", help="Write a page (.html), or the data (.nc)."),
]


@options_of(
    "studies.drive.compare:compare",
    "duration",
    "groups",
    "payload_error",
    "law",
    "band",
    "damping",
    "elements",
)
def compare(
    robot: File,
    start: From,
    end: To,
    methods: Methods = "unshaped,zvd,scheduled,optimised",
    gains: Gains = None,
    effort_limit: EffortLimit = None,
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Compare ways to make one move: settling, residual, overshoot, effort, energy, tip error."""
    from ... import files
    from ...studies.drive.compare import compare as ask

    check_places(plot, save, stored=True)
    words = [word.strip() for word in methods.split(",") if word.strip()]
    if len(set(words)) < len(words):
        raise SuppleError(f"--methods {methods}: a method is named twice")
    found = ask(
        files.load(robot),
        angles(start, "--from"),
        angles(end, "--to"),
        methods=words,
        servo=servo_of(gains),
        effort_limit=one_or_list(effort_limit, "--effort-limit"),
        **asked,
    )
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        print_json(_document(found), found)
        return
    _print(found)
    tell_places(plot, save)


def _document(found: Comparison) -> dict[str, Any]:
    late = found.settling
    return {
        "robot": found.robot.name,
        "start": found.start,
        "end": found.end,
        "frequency_hz": found.frequency_hz,
        "band": found.band,
        "payload": found.payload,
        "changed": found.changed,
        "methods": {
            name: {
                "duration": found.duration[k],
                "settling": [float(x) if x < float("inf") else None for x in late[k]],
                "residual": found.residual[k],
                "overshoot": found.overshoot[k],
                "tip_error": found.tip_error[k],
                "peak_effort": found.peak_effort[k],
                "energy": found.energy[k],
            }
            for k, name in enumerate(found.methods)
        },
        "notes": list(found.notes),
    }


def _print(found: Comparison) -> None:
    frequencies = ", ".join(f"{x:.4g}" for x in found.frequency_hz)
    say(f"{plain(found.robot.name)} rings at {frequencies} Hz where the move ends ({found.servo})")
    say(
        f"tried with {found.finer}, payload times {', '.join(f'{x:g}' for x in found.payload)} "
        f"({found.changed}); worst of them:\n"
    )
    late = found.settling.max(axis=1)
    rows = [
        (
            name,
            f"{found.duration[k]:.4g}",
            f"{late[k]:.4g}" if late[k] < float("inf") else "never",
            *(
                f"{1e3 * x[k].max():.3g}"
                for x in (found.residual, found.overshoot, found.tip_error)
            ),
            f"{found.peak_effort[k].max():.3g}",
            f"{found.energy[k].max():.3g}",
        )
        for k, name in enumerate(found.methods)
    ]
    from ...architectures.kinds import architecture_of

    slides = {slides for _, slides in architecture_of(found.robot).motors}
    unit = "N m" if False in slides else "N"
    heads = (
        "method",
        "command (s)>",
        "settled (s)>",
        "left (mm)>",
        "overshoot (mm)>",
        "off the path (mm)>",
        f"effort ({unit})>",
        "energy (J)>",
    )
    print_table(heads, rows)
    say(f"\nsettled: the tip stays within {1e3 * found.band:.3g} mm of its rest")
    for line in found.text:
        say(line)
    for note in found.notes:
        say(f"Note: {note}.")
