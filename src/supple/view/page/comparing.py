"""The page of a comparison: what came out, a table, and curves to point at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import architecture_of
from ...control.shapers import SHAPERS
from ...studies.drive.compare import Comparison
from .page import Chapter, Plot, Series, Table
from .reports import Report

__all__ = ["comparison_report"]

Array = NDArray[np.float64]
CURVE = 1200  # points of a curve

WORDS = (
    "Command: how long the motors are told to move. Settled: from the start of the move until the "
    "tip stays within {band:.3g} mm of its rest. Left: half of the tip's peak to peak after the "
    "command. "
    "Overshoot (over): how far it passes its rest. The worst of all payloads stands in each cell."
)
COSTS = (
    "Off the path: the largest distance from where a rigid robot would have its tip. Peak effort: "
    "the largest of any motor. Energy: what the motors give and take. The worst of all payloads."
)
MEANINGS = {
    "unshaped": "the plain move, as an ordinary controller makes it",
    "scheduled": "the same move, each part of it repeated so that the echoes cancel the vibration; "
    "the delays follow the frequency along the path, and the loads of fast motion are taken out",
    "optimised": "the fastest move that leaves no more than the shaped ones, under the plain "
    "move's speed and acceleration",
}
SHAPER = "the plain move added up from delayed copies of itself, so that their vibrations cancel"


def _meaning(name: str) -> str:
    """What a method is, in words; nothing for names of the user's own."""
    kind = name.removeprefix("scheduled-")
    if name in MEANINGS:
        return MEANINGS[name]
    if kind in SHAPERS:
        return f"{SHAPER} (shaper {kind})" if kind == name else MEANINGS["scheduled"]
    return ""


def comparison_report(found: Comparison) -> Report:
    """Return the page of a comparison."""
    joints = architecture_of(found.robot).motors
    unit = "N" if all(slides for _, slides in joints) else "N m"
    late = found.settling.max(axis=1)
    rows = [
        (
            name,
            f"{found.duration[k]:.3g}",
            f"{late[k]:.3g}" if np.isfinite(late[k]) else "never",
            *(f"{1e3 * x[k].max():.3g}" for x in (found.residual, found.overshoot)),
        )
        for k, name in enumerate(found.methods)
    ]
    heads = ("method", "command, s>", "settled, s>", "left, mm>", "over, mm>")
    table = Table("How it comes to rest", heads, rows, WORDS.format(band=1e3 * found.band))
    costs = [
        (
            name,
            f"{1e3 * found.tip_error[k].max():.3g}",
            f"{found.peak_effort[k].max():.3g}",
            f"{found.energy[k].max():.3g}",
        )
        for k, name in enumerate(found.methods)
    ]
    paid = ("method", "off the path (mm)>", f"peak effort ({unit})>", "energy (J)>")
    cost = Table("What it costs", paid, costs, COSTS)
    wrong = [
        (name, *(f"{1e3 * x:.3g}" for x in found.residual[k]))
        for k, name in enumerate(found.methods)
    ]
    columns = ["as told (mm)>" if f == 1 else f"times {f:g} (mm)>" for f in found.payload]
    robust = Table(
        "Vibration left when the payload is wrong",
        ("method", *columns),
        wrong,
        f"Changed: {found.changed}. Every method was made for the payload as told.",
    )
    known = [(name, _meaning(name)) for name in found.methods if _meaning(name)]
    tables = [table, robust, cost]
    if known:
        tables.append(Table("What the methods are", ("method", "what it does"), known))
    chapter = Chapter(text=list(found.text), tables=tables, plots=_plots(found))
    told = ", ".join(f"{x:.3g}" for x in found.frequency_hz)
    turns = [c.unit == "rad" for c in architecture_of(found.robot).coordinates()]
    start, end = (
        ", ".join(
            f"{np.degrees(x):.4g}°" if turn else f"{x:.3g} m"
            for x, turn in zip(place, turns, strict=True)
        )
        for place in (found.start, found.end)
    )
    lead = [
        f"One move of {found.robot.name} from rest to rest, from ({start}) to ({end}), "
        f"made in {len(found.methods)} ways. "
        f"Held by its motors the robot rings at {told} Hz where the move ends. The methods were "
        "made for the robot as it is described and tried on a finer one "
        f"({found.finer}; {found.servo}).",
        *(f"Take these numbers with care: {note}." for note in found.notes),
    ]
    return Report(f"{found.robot.name}: which move ends calm", [chapter], lead)


def _plots(found: Comparison) -> list[Plot]:
    """The tip's distance from its rest, and the speed told to the coordinate that moves most."""
    which = int(np.argmax(np.abs(found.end - found.start)))
    c = architecture_of(found.robot).coordinates()[which]
    turns = c.unit == "rad"
    count = len(found.t)
    keep = np.unique(np.linspace(0, count - 1, min(CURVE, count)).astype(int))
    early = keep[found.t[keep] < 0.9 * found.t[-1]]  # at the very end nothing more is to come
    distances = []
    speeds = []
    for k, name in enumerate(found.methods):
        worst = int(np.argmax(found.residual[k]))  # of its payloads
        away = 1e3 * np.maximum(found.distance[k, worst], 0.02 * found.band)
        y = np.maximum.accumulate(away[::-1])[::-1]
        distances.append(Series(name, found.t[early], y[early], name))
        v = np.gradient(found.command[k, :, which], found.t)
        v = np.degrees(v) if turns else 1e3 * v
        speeds.append(Series(name, found.t[keep], v[keep], name))
    note = (
        "each with its worst payload: the largest distance that is still to come; settled means "
        f"within {1e3 * found.band:.3g} mm; the scale is logarithmic"
    )
    title = "How far the tip will still be from its rest"
    unit = "deg/s" if turns else "mm/s"
    return [
        Plot(title, "time (s)", "distance (mm)", distances, log=True, note=note),
        Plot(f"Commanded speed: {c.name}", "time (s)", f"speed ({unit})", speeds),
    ]
