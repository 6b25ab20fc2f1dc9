"""The page of a comparison: what came out, a table, and curves to point at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import architecture_of
from ...studies.drive.compare import Comparison
from .page import Chapter, Plot, Series, Table
from .reports import Report

__all__ = ["comparison_report"]

Array = NDArray[np.float64]
CURVE = 1200  # points of a curve

WORDS = (
    "Command: how long the motors are told to move. Settled: when the tip stays within the band of "
    "its rest, counted from the start. Left: half of the tip's peak to peak after the command. "
    "Overshoot: how far it passes its rest. Off the path: the largest distance from where a rigid "
    "robot would have its tip. Peak effort: the largest of any motor. Energy: what the motors give "
    "and take. The worst of all payloads stands in each cell."
)


def comparison_report(found: Comparison) -> Report:
    """Return the page of a comparison."""
    joints = architecture_of(found.robot).motors()
    unit = "N" if all(slides for _, slides in joints) else "N m"
    late = found.settling.max(axis=1)
    rows = [
        (
            name,
            f"{found.duration[k]:.3g}",
            f"{late[k]:.3g}" if np.isfinite(late[k]) else "not",
            *(
                f"{1e3 * x[k].max():.3g}"
                for x in (found.residual, found.overshoot, found.tip_error)
            ),
            f"{found.peak_effort[k].max():.3g}",
            f"{found.energy[k].max():.3g}",
        )
        for k, name in enumerate(found.methods)
    ]
    columns = (
        *("method", "command (s)>", "settled (s)>", "left (mm)>", "overshoot (mm)>"),
        *("off the path (mm)>", f"peak effort ({unit})>", "energy (J)>"),
    )
    table = Table("The methods side by side", columns, rows, WORDS)
    wrong = [
        (name, *(f"{1e3 * x:.3g}" for x in found.residual[k]))
        for k, name in enumerate(found.methods)
    ]
    heads = [f"payload {factor:g} of what was told (mm)>" for factor in found.payload]
    robust = Table(
        "Vibration left when the payload is not what was told",
        ("method", *heads),
        wrong,
        f"Changed: {found.changed}. Every method was made for the payload as told.",
    )
    chapter = Chapter(
        text=list(found.text), tables=[table, robust], plots=[_tip(found), *_commands(found)]
    )
    told = ", ".join(f"{x:.3g}" for x in found.frequency_hz)
    lead = [
        f"One move of {found.robot.name} from rest to rest, driven in {len(found.methods)} ways. "
        f"Held by its motors the robot rings at {told} Hz where the move ends. The methods were "
        "made for the robot as it is described and tried on a finer one "
        f"({found.finer}; {found.servo}).",
        *(f"Take these numbers with care: {note}." for note in found.notes),
    ]
    return Report(f"{found.robot.name}: which move ends calm", [chapter], lead)


def _kept(t: Array) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, len(t) - 1, min(CURVE, len(t))).astype(int))


def _tip(found: Comparison) -> Plot:
    """The tip's distance from its rest, each method with its worst payload."""
    keep = _kept(found.t)
    series = []
    for k, name in enumerate(found.methods):
        worst = int(np.argmax(found.residual[k]))
        away = 1e3 * np.maximum(found.distance[k, worst], 0.02 * found.band)
        y = np.maximum.accumulate(away[::-1])[::-1]
        series.append(Series(name, found.t[keep], y[keep], name))
    note = (
        "each with its worst payload: the largest distance that is still to come; settled means "
        f"within {1e3 * found.band:.3g} mm; the scale is logarithmic"
    )
    title = "How far the tip will still be from its rest"
    return Plot(title, "time (s)", "distance (mm)", series, log=True, note=note)


def _commands(found: Comparison) -> list[Plot]:
    """What the coordinate that moves most was told: its speed."""
    which = int(np.argmax(np.abs(found.end - found.start)))
    c = architecture_of(found.robot).coordinates()[which]
    turns = c.unit == "rad"
    keep = _kept(found.t)
    series = []
    for k, name in enumerate(found.methods):
        v = np.gradient(found.command[k, :, which], found.t)
        series.append(
            Series(name, found.t[keep], (np.degrees(v) if turns else 1e3 * v)[keep], name)
        )
    unit = "deg/s" if turns else "mm/s"
    return [Plot(f"Speed that {c.name} is told", "time (s)", f"speed ({unit})", series)]
