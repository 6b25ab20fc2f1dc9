"""`supple shape`: a joint trajectory shaped so that it ends without vibration."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import RATES, Json, Plot, gains_of, limits_of, values
from ..output import check_places, print_json, print_table, say

if TYPE_CHECKING:
    from ...studies.drive.shape import ShapedMove

__all__ = ["Gains", "servo_of", "shape"]

In = Annotated[
    str,
    typer.Argument(
        metavar="IN.csv",
        help="The move: CSV (first column t, then one for each joint), a ROS JointTrajectory as "
        ".yaml or .json, or an .mcap log.",
    ),
]
Frequency = Annotated[
    str | None,
    typer.Option("--frequency", metavar="7.2,19", help="Natural frequencies to shape for, Hz."),
]
Band = Annotated[
    str | None,
    typer.Option("--band", metavar="6,9", help="A band to shape for instead, low and high, Hz."),
]
Damping = Annotated[
    str | None,
    typer.Option("--damping", metavar="0.02", help="Damping ratio, one or one per frequency."),
]
Kind = Annotated[
    str,
    typer.Option("--shaper", metavar="KIND", help="zv, mzv, zvd, zvdd, ei, 2hump-ei or 3hump-ei."),
]
RobotFile = Annotated[
    str | None,
    typer.Option(
        "--robot", metavar="FILE_OR_NAME", help="Take frequencies from this robot along the path."
    ),
]
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="OUT.csv", help="Where to write it: .csv, .json or .yaml."),
]

Modes = Annotated[int, typer.Option("--modes", help="Number of modes of the robot to shape for.")]
Gains = Annotated[
    str | None,
    typer.Option(
        "--gains",
        metavar="Kp,Kv",
        help="PD gains that hold the joints, of all or of each: 60,12,6:6,1.2,0.6. "
        "Default: joints locked.",
    ),
]
Rate = Annotated[
    float | None, typer.Option("--rate", help="Samples per second. Default: those of the file.")
]
SpeedLimit = Annotated[
    str | None,
    typer.Option(
        "--speed-limit",
        metavar="1.5",
        help="Slow the move down to keep this speed, rad/s or m/s; one value, or one per joint. "
        "Default: the robot file's.",
    ),
]
AccelerationLimit = Annotated[
    str | None,
    typer.Option(
        "--acceleration-limit", metavar="4", help="The same for acceleration, rad/s2 or m/s2."
    ),
]


def shape(
    file: In,
    frequency: Frequency = None,
    band: Band = None,
    damping: Damping = None,
    kind: Kind = "zvd",
    robot: RobotFile = None,
    modes: Modes = 1,
    gains: Gains = None,
    rate: Rate = None,
    speed_limit: SpeedLimit = None,
    acceleration_limit: AccelerationLimit = None,
    out: Out = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Shape a joint trajectory so that chosen modes are at rest when it ends."""
    from ... import files
    from ...control.trajectory_files import load_trajectory, save_trajectory
    from ...files import joint_trajectories as moves
    from ...files.disk import check_place
    from ...studies.drive.shape import shape as ask

    check_places(plot, None)
    if out is not None:
        if not out.lower().endswith(moves.WRITABLE):
            raise SuppleError(f"--out {out}: it must end in {', '.join(moves.WRITABLE)}")
        check_place(out, file)
    if sum(word is not None for word in (robot, frequency, band)) != 1:
        raise SuppleError("give --frequency in Hz, --band, or --robot to take frequencies from")
    if robot is None and (gains is not None or modes != 1):
        raise SuppleError("--gains and --modes are about a robot: give --robot as well")
    given: dict[str, Any] = {"rate": rate}
    for name, text, one in (
        ("frequency_hz", frequency, False),
        ("band", band, False),
        ("damping_ratio", damping, True),
        ("speed_limit", speed_limit, True),
        ("acceleration_limit", acceleration_limit, True),
    ):
        if text is not None:
            if name in RATES:
                found = limits_of(text, name)
            else:
                option = name.removesuffix("_hz").removesuffix("_ratio").replace("_", "-")
                found = values(text, f"--{option}")
            given[name] = found[0] if one and len(found) == 1 else found
    if robot is not None:
        given |= {"robot": files.load(robot), "modes": modes, "servo": servo_of(gains)}
    move = load_trajectory(file)
    answer = ask(move, kind, **given)
    if out is not None:
        save_trajectory(answer, out)
    if plot is not None:
        from ...view.figures.shaping import plot_shaped

        os.environ.setdefault("MPLBACKEND", "Agg")  # without a screen
        plot_shaped(answer, plot)
    _tell(answer, json)
    for word, place in (("Drawn", plot), ("Written", out)):
        if place is not None and not json:
            say(f"{word}: {place}")


def servo_of(gains: str | None) -> Any:
    """Return the PD that `--gains` names, or None."""
    if gains is None:
        return None
    from ...control.controllers import JointPD

    return JointPD(*gains_of(gains))


def _tell(found: ShapedMove, json: bool) -> None:
    if json:
        peaks = {word: found.peaks(word) for word in ("before", "after")}
        impulses = None
        if found.shaper is not None:
            impulses = {"times": found.shaper.times, "amplitudes": found.shaper.amplitudes}
        document = {
            "shaper": found.kind,
            "joints": list(found.joint_names),
            "frequency_hz": found.frequency_hz,
            "damping_ratio": found.damping_ratio,
            "rate": found.rate,
            "slowed": found.slowed,
            "duration_before": found.before.duration,
            "duration_after": found.after.duration,
            "time_added": found.time_added,
            "impulses": impulses,
            "residual_before": found.residual_before,
            "residual_after": found.residual_after,
            "tip_before": found.tip_before,
            "tip_after": found.tip_after,
            "peak_speed": {word: peak[0] for word, peak in peaks.items()},
            "peak_acceleration": {word: peak[1] for word, peak in peaks.items()},
        }
        print_json(document)
        return
    where = "the path's modes, at its end " if found.shaper is None else ""
    f = ", ".join(f"{x:.4g}" for x in found.frequency_hz)
    z = ", ".join(f"{x:.3g}" for x in found.damping_ratio)
    say(f"{found.kind} shaper for {where}{f} Hz, damping {z}, at {found.rate:.6g} samples/s")
    say(
        f"{found.before.duration:.4g} s become {found.after.duration:.4g} s "
        f"({found.time_added:.4g} s more)"
    )
    if found.slowed > 1:
        say(f"slowed down by {found.slowed:.4g} first, to keep the limits")
    if found.shaper is not None:
        place = found.shaper.times * found.rate
        if abs(place - place.round()).max() > 1e-6:
            say("impulses fall between samples: each is shared by its two neighbours, zeros kept")
    say("\nvibration that the command leaves (rad or m), and what remains of it")
    rows: list[tuple[str, ...]] = []
    for k, own in enumerate(found.frequency_hz):
        for j, name in enumerate(found.joint_names):
            before = found.residual_before[k, j]
            after = found.residual_after[k, j]
            share = f"{100 * after / before:.3g} %" if after > 1e-5 * before else "< 0.001 %"
            travel = float(abs(found.before.positions[:, j] - found.before.positions[0, j]).max())
            if before < 1e-9 * travel or not travel:
                share = "-"  # there is nothing to calm
            row: tuple[str, ...] = (name, f"{own:.4g}", f"{before:.3g}", f"{after:.3g}", share)
            if found.tip_before is not None and found.tip_after is not None:
                tip = (f"{1e3 * found.tip_before[k, j]:.3g}", f"{1e3 * found.tip_after[k, j]:.3g}")
                row = (*row, *tip)
            rows.append(row)
    heads: tuple[str, ...] = ("joint", "mode (Hz)>", "as given>", "shaped>", "remains>")
    if found.tip_before is not None:
        heads = (*heads, "tip, as given (mm)>", "shaped (mm)>")
    print_table(heads, rows)
