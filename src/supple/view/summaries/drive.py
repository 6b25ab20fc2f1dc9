"""Summaries of answers about moves: shaped, inverted, planned, compensated and compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..wording import motors_of, tidy
from .layout import MILLIMETRES, count_of, effort_list, labelled, number, numbers, table

__all__ = [
    "comparison_text",
    "compensation_text",
    "inversion_text",
    "plan_text",
    "plan_trial_text",
    "shaped_move_text",
    "shaper_text",
]

LEAST_SHARE = 1e-3  # per cent of the unshaped vibration: less is not written out
DETUNING = 0.1  # by which a mode may miss a shaper's design frequency
NOTHING_TO_CALM = 1e-9  # of a joint's travel: smaller vibration is none


def shaper_text(found: Any) -> str:
    """Impulses of a shaper, and what they leave at the design frequency and beside it."""
    milliseconds = 1e3 * found.times
    impulses = zip(milliseconds, found.amplitudes, strict=True)
    rows = [
        (str(row), number(time), number(amplitude))
        for row, (time, amplitude) in enumerate(impulses, 1)
    ]
    design = found.frequency_hz
    left = 100 * found.residual([(1 - DETUNING) * design, design, (1 + DETUNING) * design])
    written = tidy(left.tolist(), 3, beside=100.0)
    return "\n".join(
        [
            f"Shaper {found.kind} for {number(design)} Hz, "
            f"damping {number(100 * found.damping_ratio, 3)} %: "
            f"{count_of(len(rows), 'impulse')} in {number(milliseconds[-1], 4)} ms",
            *table(("impulse", "at (ms)", "amplitude"), rows),
            f"  leaves {written[1]} % of the vibration at {number(design)} Hz, "
            f"{written[0]} % at {100 * DETUNING:.0f} % less, "
            f"{written[2]} % at {100 * DETUNING:.0f} % more",
        ]
    )


def shaped_move_text(found: Any) -> str:
    """What was shaped for which mode, what it costs and what vibration is left."""
    damping = numbers(100 * np.asarray(found.damping_ratio), digits=3)
    slowed = ""
    if found.slowed > 1:
        slowed = f", slowed down by {number(found.slowed, 4)} first to keep the limits"
    lines = [
        f"Shaped move: {found.kind} for {numbers(found.frequency_hz)} Hz, damping {damping} %",
        f"  {number(found.before.duration)} s before, {number(found.after.duration)} s now "
        f"({number(found.time_added, 4)} s more){slowed}; {number(found.rate, 6)} samples/s",
    ]
    rows = []
    for mode, hz in enumerate(found.frequency_hz):
        for joint, name in enumerate(found.joint_names):
            before = float(found.residual_before[mode, joint])
            after = float(found.residual_after[mode, joint])
            path = found.before.positions[:, joint]
            travel = float(np.abs(path - path[0]).max())
            if not travel or before < NOTHING_TO_CALM * travel:
                rows.append((number(hz, 4), "-", "-", name))
                continue
            share = 100 * before / travel
            left = 100 * after / before
            written = f"{left:.3g}" if left >= LEAST_SHARE else f"below {LEAST_SHARE:g}"
            rows.append((number(hz, 4), f"{share:.3g}", written, name))
    header = ("mode (Hz)", "unshaped (% of travel)", "left of it (%)", "joint")
    lines += table(header, rows)
    if found.tip_before is not None and found.tip_after is not None:
        before = MILLIMETRES * float(np.abs(found.tip_before).max())
        after = MILLIMETRES * float(np.abs(found.tip_after).max())
        lines.append(
            f"  tip: {number(before, 3)} mm before, {number(after, 3)} mm now, largest mode"
        )
    return "\n".join(lines)


def inversion_text(found: Any) -> str:
    """How long the efforts act, how large they are and how well the path is followed."""
    robot = found.model.robot
    names = motors_of(robot)[0]
    peaks = dict(zip(names, np.abs(found.tau).max(axis=0).tolist(), strict=True))
    words = {"tip": "its tip", "chord": "its chord angles"}[found.output]
    if found.weight == 0:
        followed = f"exactly, with {words}"
        rest = (
            "effort before the path",
            f"dies out at {number(found.decay, 4)} 1/s (slowest zero)",
        )
    else:
        size = f"{number(np.degrees(found.error), 3)}°"
        if found.output == "tip":
            size = f"{number(MILLIMETRES * found.error, 3)} mm"
        followed = f"within {size}, with {words}: the nearest motion found"
        rest = ("at rest", "at the first and at the last sample")
    return "\n".join(
        [
            f"Inversion of {robot.name}: {len(found.t)} samples from {number(found.t[0])} to "
            f"{number(found.t[-1])} s, the path begins at 0",
            *labelled(
                [
                    ("follows the path", followed),
                    ("largest efforts", effort_list(robot, peaks)),
                    rest,
                ]
            ),
        ]
    )


def compensation_text(found: Any) -> str:
    """How far the tip is off its path before and after the correction, and at its end."""
    rows = []
    for word, error in (("as given", found.before), ("corrected", found.after)):
        sizes = MILLIMETRES * np.linalg.norm(error, axis=1)
        rms = float(np.sqrt(np.mean(sizes**2)))
        rows.append((number(sizes.max(), 4), number(rms, 4), number(sizes[-1], 4), word))
    return "\n".join(
        [
            f"Compensation of {found.robot.name}: path of {number(found.path.duration)} s, errors "
            f"below {number(found.frequency_hz, 4)} Hz corrected in "
            f"{count_of(found.rounds, 'round')}",
            *table(("largest (mm)", "rms (mm)", "at the end (mm)", "tip off its path"), rows),
        ]
    )


def comparison_text(found: Any) -> str:
    """One line per method, the worst payload counting, and what follows from it."""
    latest = found.settling.max(axis=1)
    slides = motors_of(found.robot)[1]
    effort_unit = "N" if all(slides) else "N m"
    rows = []
    for k, name in enumerate(found.methods):
        settled = number(latest[k], 4) if np.isfinite(latest[k]) else "never"
        lengths = (found.residual[k], found.overshoot[k], found.tip_error[k])
        rows.append(
            (
                number(found.duration[k], 4),
                settled,
                *(number(MILLIMETRES * length.max(), 3) for length in lengths),
                number(found.peak_effort[k].max(), 3),
                number(found.energy[k].max(), 3),
                name,
            )
        )
    header = (
        "command (s)",
        "settled (s)",
        "left (mm)",
        "over (mm)",
        "off (mm)",
        f"effort ({effort_unit})",
        "energy (J)",
        "method",
    )
    payloads = ", ".join(f"{factor:g}" for factor in found.payload)
    return "\n".join(
        [
            f"Comparison on {found.robot.name}, which rings at {numbers(found.frequency_hz)} Hz "
            "where the move ends",
            f"  worst of payload times {payloads}; {found.finer}",
            *table(header, rows),
            *(f"  {sentence}" for sentence in found.text),
            *(f"  note: {note}" for note in found.notes),
        ]
    )


def plan_text(found: Any) -> str:
    """Duration, what each joint does and needs of its limits, and how well it replays."""
    robot = found.model.robot
    names, slides = motors_of(robot)
    joints = found.model.joints
    limits = found.limits.get("effort")
    rows = []
    for k in range(joints):
        factor = 1.0 if slides[k] else 180 / np.pi
        unit = "m" if slides[k] else "deg"
        peak = float(np.abs(found.efforts[:, k]).max())
        limit = np.inf if limits is None else float(limits[k])
        used = f"{100 * peak / limit:.0f} %" if np.isfinite(limit) else "no limit"
        rows.append(
            (
                number(factor * found.q[0, k]),
                number(factor * found.q[-1, k]),
                unit,
                f"{number(factor * np.abs(found.qd[:, k]).max(), 4)} {unit}/s",
                f"{number(peak, 4)} {'N' if slides[k] else 'N m'}",
                used,
                names[k],
            )
        )
    header = ("from", "to", "", "peak speed", "peak effort", "of the limit", "joint")
    return "\n".join(
        [
            f"Plan of {robot.name}: {number(found.duration)} s, least {found.objective}, "
            f"{len(found.t) - 1} pieces",
            *table(header, rows),
            f"  a simulation of the efforts meets it within {100 * found.residual:.2g} %",
        ]
    )


def plan_trial_text(found: Any) -> str:
    """What a planned move leaves on a finer model, and how much of each limit it uses."""
    rows = [(f"{100 * used:.0f} %", limit) for limit, used in found.passed.items()]
    verdict = "all limits kept" if found.kept else "a limit is exceeded: plan with a lower one"
    lines = [f"Plan tried: {number(MILLIMETRES * found.residual, 3)} mm left on the finer model"]
    if rows:
        lines += [*table(("used", "limit"), rows), f"  {verdict}"]
    return "\n".join(lines)
