"""`supple resonances` and `supple calibrate`: from recordings to frequencies and to a shaper."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import Json, Plot, Save, angles, numbers
from ..output import (
    check_places,
    draw_answer,
    print_json,
    print_table,
    save_answer,
    say,
    tell_places,
)
from ..signature_options import options_of

__all__ = ["calibrate", "resonances"]

Recordings = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Recordings: CSV, MAT, LVM, UFF, TDMS or MCAP."),
]
Rate = Annotated[
    float | None, typer.Option("--rate", help="Samples per second, where there is no time column.")
]
Band = Annotated[
    str | None,
    typer.Option("--band", metavar="LOW,HIGH", help="Range in which modes are searched, Hz."),
]
Channels = Annotated[
    str | None, typer.Option("--channels", metavar="A,B", help="Use these channels only.")
]


def _reading_options(rate: float | None, band: str | None, channels: str | None) -> dict[str, Any]:
    """Options of both commands as the functions take them."""
    given: dict[str, Any] = {"rate": rate}
    if band is not None:
        given["band"] = numbers(band, "--band", 2)
    if channels is not None:
        given["channels"] = [word.strip() for word in channels.split(",")]
    return given


def _pose_columns(robot: str | None, at: str | None, out: str | None) -> dict[str, float]:
    """The pose in which a robot was measured, as columns of a table: theta.LINK to its value."""
    if robot is None and at is None:
        return {}
    if robot is None or at is None or out is None:
        raise SuppleError(
            "--robot and --at say in which pose lines were measured: give both, and --out"
        )
    from ...files import load
    from ...studies.design.varied import coordinate_names

    names = coordinate_names(load(robot))
    values = angles(at, "--at")
    if len(values) != len(names):
        raise SuppleError(
            f"--at gives {len(values)} coordinates: {robot} has {len(names)} ({', '.join(names)})"
        )
    return {f"theta.{name}": float(value) for name, value in zip(names, values, strict=True)}


@options_of("measure.resonances:resonances", "count", "excitation", force="CHANNEL")
def resonances(
    files: Recordings,
    rate: Rate = None,
    band: Band = None,
    channels: Channels = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE.csv", help="Write frequencies as `identify` reads them."
        ),
    ] = None,
    robot: Annotated[
        str | None,
        typer.Option("--robot", metavar="FILE_OR_NAME", help="The robot that was measured."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="0,45deg,...", help="Its pose, for the columns of --out."),
    ] = None,
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Find natural frequencies and damping ratios in recordings."""
    from ...files.disk import check_place, write_text
    from ...measure.resonances import resonances as ask

    check_places(plot, save)
    if out is not None:
        check_place(out, files[0])
    pose = _pose_columns(robot, at, out)
    given = _reading_options(rate, band, channels)
    found = ask(list(files), **given, **asked)
    if out is not None:
        columns = {
            "frequency_hz": found.frequency_hz,
            "sigma_hz": found.std_hz,
            "damping_ratio": found.damping_ratio,
            "std_damping": found.std_damping,
        }
        lines = [",".join([*pose, *columns])]
        for row in zip(*columns.values(), strict=True):
            lines.append(",".join(repr(float(value)) for value in (*pose.values(), *row)))
        write_text(out, "\n".join(lines) + "\n")
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        print_json(
            {
                "files": list(found.files),
                "excitation": found.excitation,
                "frequency_hz": found.frequency_hz,
                "damping_ratio": found.damping_ratio,
                "std_hz": found.std_hz,
                "std_damping": found.std_damping,
                "harmonics": list(found.harmonics),
                "notes": list(found.notes),
            },
            found,
        )
        return
    say(
        f"{len(found.frequency_hz)} resonances ({found.excitation}, {found.duration:.4g} s at "
        f"{found.rate:.6g} Hz, {len(found.channels)} channel(s))"
    )
    rows = [
        (f"{f:.6g}", f"{s:.2g}", f"{100 * z:.3g}", f"{100 * e:.2g}")
        for f, s, z, e in zip(
            found.frequency_hz, found.std_hz, found.damping_ratio, found.std_damping, strict=True
        )
    ]
    print_table(("frequency (Hz)>", "std>", "damping (%)>", "std>"), rows)
    for line in found.harmonics:
        say(f"no mode: {line}")
    for note in found.notes:
        say(f"note: {note}")
    if out is not None:
        say(f"Written: {out}")
    tell_places(plot, save)


def calibrate(
    files: Recordings,
    robot: Annotated[
        str | None,
        typer.Option("--robot", metavar="FILE_OR_NAME", help="The arm that was measured."),
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="0,45deg,...", help="Its pose in the recordings.")
    ] = None,
    rate: Rate = None,
    band: Band = None,
    channels: Channels = None,
    limit: Annotated[
        float, typer.Option("--limit", help="Acceptable residual vibration, per cent.")
    ] = 5.0,
    smoothing: Annotated[
        float, typer.Option("--smoothing", help="Acceptable rounding of a path, mm.")
    ] = 0.1,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE.yaml", help="Robot file to write, for `supple shape --robot`."
        ),
    ] = None,
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
) -> None:
    """Choose a shaper from recordings of a machine's vibration."""
    from ... import files as robot_files
    from ...files.disk import check_place
    from ...measure.calibrate import calibrate as ask

    check_places(plot, save)
    if out is not None:
        if robot is None:
            raise SuppleError("--out writes the calibrated robot: give --robot as well")
        check_place(out, robot)
    given = _reading_options(rate, band, channels)
    if at is not None:
        given["theta"] = angles(at, "--at")
    found = ask(
        list(files), robot=robot, vibration_limit=limit / 100, smoothing=smoothing / 1e3, **given
    )
    if out is not None and found.robot is not None:
        robot_files.dump(found.robot, out)
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        document: dict[str, Any] = {
            "recommended": found.recommended,
            "reason": found.reason,
            "resonance_hz": found.resonance_hz,
            "std_hz": found.std_hz,
            "damping_ratio": found.damping_ratio,
            "shaper": list(found.kinds),
            "frequency_hz": found.frequency_hz,
            "vibration": found.vibration,
            "time_added": found.time_added,
            "max_acceleration": found.max_acceleration,
        }
        if found.robot is not None:
            document |= {"robot": found.robot.name, "mode": found.mode, "ratio": found.ratio}
        print_json(document, found)
        return
    say(
        f"resonance at {found.resonance_hz:.5g} Hz (+- {found.std_hz:.2g}), damping "
        f"{100 * found.damping_ratio:.3g} %"
    )
    rows = [
        (
            kind,
            f"{found.frequency_hz[k]:.4g}",
            f"{100 * found.vibration[k]:.3g}",
            f"{1e3 * found.time_added[k]:.3g}",
            f"{found.max_acceleration[k]:.3g}",
        )
        for k, kind in enumerate(found.kinds)
    ]
    print_table(
        ("shaper", "frequency (Hz)>", "remains (%)>", "time added (ms)>", "acceleration (m/s2)>"),
        rows,
    )
    say(f"Recommended: {found.recommended} at {found.shaper.frequency_hz:.4g} Hz; {found.reason}.")
    if found.robot is not None:
        low = min(found.schedule_hz)
        high = max(found.schedule_hz)
        say(
            f"It is mode {found.mode} of {found.robot.name}, {found.ratio:.4g} times what the file "
            f"says; over its poses {low:.4g} to {high:.4g} Hz."
        )
        if out is not None:
            say(f"Written: {out}")
            say(f"Next: supple shape MOVE.csv --robot {out} --shaper {found.recommended}")
    else:
        f = found.shaper.frequency_hz
        z = found.damping_ratio
        say(
            f"Next: supple shape MOVE.csv --frequency {f:.4g} --damping {z:.3g} --shaper "
            f"{found.recommended}"
        )
    tell_places(plot, save)
