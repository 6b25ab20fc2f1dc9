"""`supple workspace`: natural frequencies over all places a robot can be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import File, Json, Plot
from ..output import (
    check_places,
    digits,
    draw_answer,
    plain,
    plane_of,
    print_json,
    print_table,
    save_answer,
    say,
    tell_places,
)
from ..signature_options import options_of

if TYPE_CHECKING:
    from ...robot import Robot
    from ...studies.vibration.workspace import JointMap, WorkspaceMap

__all__ = ["workspace"]

Below = Annotated[
    str | None,
    typer.Option(
        "--below",
        metavar="HZ",
        help="Find poses whose lowest frequency is below this: 3.2 (Hz), or 20rad/s.",
    ),
]
X = Annotated[
    str | None,
    typer.Option(
        "--x",
        metavar="from:to",
        help="Range of a platform or of a mechanism's tip along x, m. Default of a Delta: "
        "-0.3:0.3, z 0.5.",
    ),
]
Y = Annotated[
    str | None,
    typer.Option("--y", metavar="from:to", help="The same along y; one value makes a slice."),
]
Z = Annotated[str | None, typer.Option("--z", metavar="from:to", help="The same along z.")]
Joints = Annotated[
    str | None,
    typer.Option(
        "--joints",
        metavar="from:to,...",
        help="A range or value for each joint of an arm: 0:90deg,-45deg:45deg,0. "
        "Default: its limits, or a whole turn.",
    ),
]
Save = Annotated[
    str | None,
    typer.Option(
        "--save", metavar="FILE", help="Write netCDF (.nc) or an interactive page (.html)."
    ),
]


@options_of("studies.vibration.workspace:workspace", "points", "method")
def workspace(
    context: typer.Context,
    file: File,
    below: Below = None,
    x: X = None,
    y: Y = None,
    z: Z = None,
    joints: Joints = None,
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Map the lowest natural frequency over joints, or over positions of a platform or tip."""
    from ... import files
    from ...studies.vibration.workspace import workspace as ask

    check_places(plot, save, stored=True)
    robot = files.load(file)
    bound = None if below is None else _parse_frequency(below)
    options: dict[str, Any] = dict(asked)
    sides = {"x": x, "y": y, "z": z}
    options |= {w: _range(text, f"--{w}") for w, text in sides.items() if text is not None}
    if joints is not None:
        options["joints"] = [_range(part, "--joints") for part in joints.split(",")]
    found = ask(robot, progress=False if json else None, **options)
    if plot is not None:
        draw_answer(found, plot, bound=bound)
    if save is not None:
        save_answer(found, save)
    if json:
        lowest = found.omega[..., 0].astype(object)
        lowest[~found.reachable] = None
        (low, omega), (_, top) = found.lowest, found.highest
        out: dict[str, Any] = {
            "robot": found.robot.name,
            **plane_of(robot)[1],
            "axes": found.axes,
            "omega": lowest,
            "reachable": int(found.reachable.sum()),
            "lowest": {"at": low, "omega": omega, "frequency_hz": omega / (2 * math.pi)},
            "highest_omega": top,
        }
        if bound is not None:
            out |= {
                "below": bound,
                "share_below": found.share_below(bound),
                "points_below": found.below(bound),
            }
        print_json(out, found)
        return
    _print(robot, found, bound)
    tell_places(plot, save)


def _parse_frequency(text: str) -> float:
    """A frequency in rad/s, from hertz or with its unit."""
    word = text.strip().lower().replace(" ", "")
    factor = 2 * math.pi
    for unit, value in (("rad/s", 1.0), ("hz", 2 * math.pi)):
        if word.endswith(unit):
            word = word.removesuffix(unit)
            factor = value
            break
    try:
        found = float(word) * factor
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or found <= 0:
        raise SuppleError(f"--below {text}: give a positive frequency, such as 3.2 (Hz) or 20rad/s")
    return found


def _range(text: str, option: str) -> Any:
    """`from:to`, or one value; angles may be written 45deg."""
    from ..arguments import angles

    found = [angles(part, option) for part in text.split(":")]
    if len(found) > 2 or any(len(part) != 1 for part in found):
        raise SuppleError(f"{option} {text}: give a range from:to, or one value")
    ends = [part[0] for part in found]
    return ends[0] if len(ends) == 1 else (ends[0], ends[1])


def _readable_coordinates(found: WorkspaceMap | JointMap, values: Any) -> tuple[str, ...]:
    """Coordinates as one reads them: metres, or degrees of a joint that turns."""
    from ...architectures.kinds import architecture_of

    each = architecture_of(found.robot).coordinates()
    turning = {c.key for c in each if c.unit == "rad"}
    return tuple(
        f"{math.degrees(value):.4g} deg" if name in turning else f"{value:.4g} m"
        for name, value in zip(found.axes, values, strict=True)
    )


def _print(robot: Robot, found: WorkspaceMap | JointMap, bound: float | None) -> None:
    (low, least), (high, most) = found.lowest, found.highest
    inside = int(found.reachable.sum())
    total = found.reachable.size
    grid = " x ".join(str(len(axis)) for axis in found.axes.values())
    plane, _ = plane_of(robot)
    say(f"{plain(robot.name)}: lowest natural frequency{plane} on a grid of {grid} poses,")
    say(f"{inside} of {total} can be reached\n")
    rows = [("lowest", least, low), ("highest", most, high)]
    print_table(
        ("", "Hz>", "rad/s>", *(f"{name}>" for name in found.axes)),
        [
            (word, digits(w / (2 * math.pi)), digits(w), *_readable_coordinates(found, at))
            for word, w, at in rows
        ],
    )
    if bound is None:
        return
    points = found.below(bound)
    threshold = f"below {bound / (2 * math.pi):.4g} Hz ({bound:.4g} rad/s)"
    if not len(points):
        say(f"\nNowhere {threshold}.")
        return
    say(f"\n{threshold}: {len(points)} of {inside} poses, {100 * found.share_below(bound):.3g} %")
    ends = (("from", points.min(axis=0)), ("to", points.max(axis=0)))
    print_table(
        ("they lie", *(f"{name}>" for name in found.axes)),
        [(word, *_readable_coordinates(found, at)) for word, at in ends],
    )
