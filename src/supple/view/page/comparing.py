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
    rest_rows = []
    cost_rows = []
    payload_rows = []
    for k, name in enumerate(found.methods):
        settling = found.settling[k].max()
        rest_rows.append(
            (
                name,
                f"{found.duration[k]:.3g}",
                f"{settling:.3g}" if np.isfinite(settling) else "never",
                f"{1e3 * found.residual[k].max():.3g}",
                f"{1e3 * found.overshoot[k].max():.3g}",
            )
        )
        cost_rows.append(
            (
                name,
                f"{1e3 * found.tip_error[k].max():.3g}",
                f"{found.peak_effort[k].max():.3g}",
                f"{found.energy[k].max():.3g}",
            )
        )
        payload_rows.append((name, *(f"{1e3 * residual:.3g}" for residual in found.residual[k])))

    payload_columns = []
    for factor in found.payload:
        word = "as told" if factor == 1 else f"times {factor:g}"
        payload_columns.append(f"{word} (mm)>")
    tables = [
        Table(
            "How it comes to rest",
            ("method", "command, s>", "settled, s>", "left, mm>", "over, mm>"),
            rest_rows,
            WORDS.format(band=1e3 * found.band),
        ),
        Table(
            "Vibration left when the payload is wrong",
            ("method", *payload_columns),
            payload_rows,
            f"Changed: {found.changed}. Every method was made for the payload as told.",
        ),
        Table(
            "What it costs",
            ("method", "off the path (mm)>", f"peak effort ({unit})>", "energy (J)>"),
            cost_rows,
            COSTS,
        ),
    ]
    known = [(name, _meaning(name)) for name in found.methods if _meaning(name)]
    if known:
        tables.append(Table("What the methods are", ("method", "what it does"), known))
    chapter = Chapter(text=list(found.text), tables=tables, plots=_plots(found))

    start = _coordinates_in_words(found, found.start)
    end = _coordinates_in_words(found, found.end)
    hertz = ", ".join(f"{frequency:.3g}" for frequency in found.frequency_hz)
    lead = [
        f"One move of {found.robot.name} from rest to rest, from ({start}) to ({end}), "
        f"made in {len(found.methods)} ways. "
        f"Held by its motors the robot rings at {hertz} Hz where the move ends. The methods were "
        "made for the robot as it is described and tried on a finer one "
        f"({found.finer}; {found.servo}).",
        *(f"Take these numbers with care: {note}." for note in found.notes),
    ]
    return Report(f"{found.robot.name}: which move ends calm", [chapter], lead)


def _coordinates_in_words(found: Comparison, values: Array) -> str:
    """Coordinates in degrees or metres."""
    words = []
    for value, c in zip(values, architecture_of(found.robot).coordinates(), strict=True):
        words.append(f"{np.degrees(value):.4g}°" if c.unit == "rad" else f"{value:.3g} m")
    return ", ".join(words)


def _plots(found: Comparison) -> list[Plot]:
    """The tip's distance from its rest, and the commanded speed of what moves most."""
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
        distance_mm = 1e3 * np.maximum(found.distance[k, worst], 0.02 * found.band)
        still_to_come = np.maximum.accumulate(distance_mm[::-1])[::-1]
        distances.append(Series(name, found.t[early], still_to_come[early], name))
        speed = np.gradient(found.command[k, :, which], found.t)
        speed = np.degrees(speed) if turns else 1e3 * speed
        speeds.append(Series(name, found.t[keep], speed[keep], name))
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
