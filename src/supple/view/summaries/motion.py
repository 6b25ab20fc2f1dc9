"""Summaries of answers about motion: runs, paths, linear models, margins and stability."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..wording import motors_of
from .layout import (
    HERTZ,
    MILLIMETRES,
    effort_list,
    labelled,
    number,
    numbers,
    position,
    table,
)

__all__ = [
    "accuracy_text",
    "floquet_text",
    "margins_text",
    "path_response_text",
    "regressor_text",
    "response_text",
    "stability_text",
    "state_space_text",
]

ZERO_POLE = 1e-6  # of the fastest pole: slower ones are poles at zero, of joints that are free
MOST_MODES = 8  # modes of a linear model that are listed


def _joint_rows(robot: Any, start: Any, end: Any) -> list[tuple[str, ...]]:
    """First and last value of every motor, in degrees or metres, and its name."""
    names, slides = motors_of(robot)
    rows: list[tuple[str, ...]] = []
    for name, sliding, first, last in zip(names, slides, start, end, strict=True):
        factor = 1.0 if sliding else 180 / np.pi
        unit = "m" if sliding else "deg"
        rows.append((number(factor * first), number(factor * last), unit, name))
    return rows


def response_text(found: Any) -> str:
    """Duration, where the joints and the tip went, energy balance, how it was integrated."""
    robot = found.model.robot
    ended = "" if found.complete else f"; ended early: {found.message}"
    lines = [
        f"Response of {robot.name}: {number(found.t[-1])} s in {len(found.t)} samples, "
        f"method {found.method}{ended}"
    ]
    theta = np.asarray(found.theta)
    if theta.size and theta.shape[1] == len(motors_of(robot)[0]):
        rows = _joint_rows(robot, theta[0], theta[-1])
        lines += table(("start", "end", "unit", "joint"), rows)
    lines.append(f"  tip ends at {position(found.tip[-1])}")
    lines.append(f"  energy balance closed to {number(np.max(np.abs(found.balance)), 2)} J")
    if found.outputs:
        lines.append(f"  outputs: {', '.join(found.outputs)}")
    return "\n".join(lines)


def path_response_text(found: Any) -> str:
    """How far the tip leaves its path, and the largest efforts."""
    robot = found.robot
    deviation = MILLIMETRES * np.linalg.norm(np.asarray(found.moved)[:, :3], axis=1)
    lines = [
        f"Small motion of {robot.name} about a path of {number(found.t[-1])} s, "
        f"{len(found.t)} samples",
        f"  deviation of the tip: at most {number(deviation.max(), 4)} mm, "
        f"{number(deviation[-1], 4)} mm at the end",
    ]
    names = motors_of(robot)[0]
    torque = np.asarray(found.torque)
    if torque.ndim == 2 and torque.shape[1] == len(names):
        peaks = dict(zip(names, np.abs(torque).max(axis=0).tolist(), strict=True))
        lines.append(f"  largest efforts by bending: {effort_list(robot, peaks)}")
    if not found.small:
        lines.append("  Large for small motion: take simulate for a true answer.")
    return "\n".join(lines)


def state_space_text(found: Any) -> str:
    """Sizes, inputs, outputs, stability, and the modes with their damping."""
    sampled = "" if found.period is None else f", sampled every {number(found.period)} s"
    sizes = np.abs(found.poles)
    finite_sizes = sizes[np.isfinite(sizes)]
    at_zero = int((finite_sizes <= ZERO_POLE * finite_sizes.max(initial=0.0)).sum())
    verdict = "stable" if found.stable else "not stable"
    if at_zero and not found.stable:
        verdict += f", {at_zero} poles at zero"
    lines = [
        f"Linear model: {found.A.shape[0]} states, {len(found.inputs)} inputs, "
        f"{len(found.outputs)} outputs{sampled}; {verdict}",
        *labelled([("inputs", ", ".join(found.inputs)), ("outputs", ", ".join(found.outputs))]),
    ]
    rows = []
    for omega, ratio in zip(found.frequencies, found.damping_ratios, strict=True):
        if omega > ZERO_POLE * finite_sizes.max(initial=0.0):
            percent = 100 * ratio if abs(ratio) > 1e-9 else 0.0
            rows.append((number(HERTZ * omega), number(percent, 3)))
    if rows:
        lines += table(("mode (Hz)", "damping (%)"), rows[:MOST_MODES])
    return "\n".join(lines)


def margins_text(found: Any) -> str:
    """How far each loop is from instability, one motor a line."""
    if not found.stable:
        return "Closed loop: not stable, so that it has no margins"
    rows = []
    for i, joint in enumerate(found.joints):
        largest_gain = "any" if np.isinf(found.gain_up[i]) else number(found.gain_up[i], 4)
        delay = found.delay_margin[i]
        rows.append(
            (
                f"{number(found.gain_down[i], 3)} to {largest_gain}",
                f"{found.phase_margin_deg[i]:.1f}",
                "any" if np.isinf(delay) else number(1e3 * delay, 4),
                number(HERTZ * found.crossover[i], 4),
                number(found.sensitivity_peak[i], 4),
                joint,
            )
        )
    header = ("gain", "phase (deg)", "delay (ms)", "at (Hz)", "peak of S", "motor")
    peak = number(found.peak_of_all, 4)
    first = f"Closed loop: stable; peak of the sensitivity of all motors {peak}"
    return "\n".join([first, *table(header, rows)])


def _range(values: Any, unit: str, factor: float = 1.0) -> str:
    """Smallest and largest of values along a motion, those that are rounding as zero."""
    ends = factor * np.array([np.min(values), np.max(values)])
    return f"{' to '.join(numbers(ends).split(', '))} {unit}".rstrip()


def stability_text(found: Any) -> str:
    """The verdict, then how frequency, energy, amplitude and root moment change on the way."""
    robot = found.response.model.robot
    sizes = np.linalg.norm(found.end_deflection, axis=1)
    moments = np.linalg.norm(found.root_moment, axis=1)
    slides = bool(found.response.model.chain.sliding)
    lines = [
        f"Stability of {robot.name} along {number(found.t[-1] - found.t[0])} s, "
        f"{len(found.t)} times",
        f"  {found.verdict}",
        *labelled(
            [
                ("lowest frequency", _range(found.omega[:, 0], "Hz, joints locked", HERTZ)),
                ("energy", _range(found.energy, "J")),
                ("action E/omega", _range(found.action, "J s")),
                ("deflection of the end", _range(sizes, "mm", MILLIMETRES)),
                (
                    "vibration of the end",
                    _range(found.tip_amplitude, "mm", MILLIMETRES)
                    if len(found.tip_amplitude)
                    else "",
                ),
                ("moment at the hub", _range(moments, "N m")),
                ("frozen eigenvalues", _range(found.eigenvalues.real, "1/s, their real parts")),
                (
                    "damping that offsets",
                    f"{number(100 * found.offsetting_ratio.max(), 2)} % at most" if slides else "",
                ),
            ]
        ),
        "  Frozen eigenvalues decide nothing where coefficients change; .text says more.",
    ]
    return "\n".join(lines)


def floquet_text(found: Any) -> str:
    """Whether a periodic motion is stable, and every multiplier."""
    verdict = "stable" if found.stable else "not stable"
    sizes = np.abs(found.multipliers)
    rows = [
        (number(size, 7), number(np.degrees(np.angle(multiplier)), 4))
        for size, multiplier in zip(sizes, found.multipliers, strict=True)
    ]
    lines = [f"Periodic motion of {number(found.period)} s: {verdict}"]
    if rows:
        lines += table(("Floquet multiplier, size", "angle (deg)"), rows)
    return "\n".join(lines)


def regressor_text(found: Any) -> str:
    """The constants in which the inverse dynamics are linear, with their values."""
    rows = [(number(value), name) for name, value in zip(found.names, found.pi, strict=True)]
    title = (
        f"Regressor of {found.model.robot.name}: M qdd + h = Y(q, qd, qdd) pi, "
        f"{found.model.size} equations, {len(found.names)} constants (SI)"
    )
    return "\n".join([title, *table(("pi", "constant"), rows)])


def accuracy_text(found: Any) -> str:
    """A Model beside the exact beams: errors of statics and frequencies, and what helps."""
    rows = []
    for mode, (ours, exact) in enumerate(
        zip(found.frequency_hz, found.exact_hz, strict=False), start=1
    ):
        rows.append((str(mode), number(ours), number(exact), f"{100 * (ours / exact - 1):+.2f}"))
    lines = [
        f"Accuracy of the model of {found.robot}, joints locked",
        f"  statics miss the exact beams by {found.static:.1%}, the lowest frequency by "
        f"{found.modal:.1%}",
        *table(("mode", "model Hz", "exact Hz", "%"), rows),
    ]
    if any(found.damping_ratios):
        lines.append(f"  damping of these modes: {numbers(found.damping_ratios, 100, 3)} %")
    if found.remedy:
        lines.append(f"  try {found.remedy}")
    return "\n".join(lines)
