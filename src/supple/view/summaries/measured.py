"""Summaries of answers about measurements: resonances, calibration, identification."""

from __future__ import annotations

from typing import Any

import numpy as np

from .layout import configuration, count_of, number, parameter_unit, parameter_value, table

__all__ = ["calibration_text", "identification_text", "measurement_plan_text", "resonances_text"]


def resonances_text(found: Any) -> str:
    """Frequencies and damping ratios with their standard deviations."""
    rows = [
        (number(hz, 6), f"{std_hz:.2g}", f"{100 * ratio:.3g}", f"{100 * std_ratio:.2g}")
        for hz, std_hz, ratio, std_ratio in zip(
            found.frequency_hz, found.std_hz, found.damping_ratio, found.std_damping, strict=True
        )
    ]
    recordings = count_of(len(found.files), "recording")
    channels = count_of(len(found.channels), "channel")
    return "\n".join(
        [
            f"Resonances of {recordings} ({found.excitation}, {number(found.duration, 4)} s at "
            f"{number(found.rate, 6)} Hz, {channels})",
            *table(("Hz", "+-", "damping (%)", "+-"), rows),
            *(f"  no mode: {line}" for line in found.harmonics),
            *(f"  note: {note}" for note in found.notes),
        ]
    )


def calibration_text(found: Any) -> str:
    """The measured resonance, every shaper tried on it, and the recommended one."""
    rows = []
    for k, kind in enumerate(found.kinds):
        rows.append(
            (
                number(found.frequency_hz[k], 4),
                f"{100 * found.vibration[k]:.3g}",
                number(1e3 * found.time_added[k], 3),
                number(found.max_acceleration[k], 3),
                kind,
            )
        )
    header = ("design (Hz)", "left (%)", "time added (ms)", "acceleration (m/s2)", "shaper")
    lines = [
        f"Calibration: resonance at {number(found.resonance_hz)} +- {found.std_hz:.2g} Hz, damping "
        f"{100 * found.damping_ratio:.3g} %",
        *table(header, rows),
        f"  recommended: {found.recommended} at {number(found.shaper.frequency_hz, 4)} Hz; "
        f"{found.reason}",
    ]
    if found.robot is not None:
        low = number(min(found.schedule_hz), 4)
        high = number(max(found.schedule_hz), 4)
        lines.append(
            f"  mode {found.mode} of {found.robot.name}, {number(found.ratio, 4)} times the "
            f"computed frequency; {low} to {high} Hz over its poses"
        )
    return "\n".join(lines)


def identification_text(found: Any) -> str:
    """Fitted parameters with their standard deviations, and how well they explain the data."""
    rows = []
    for path, value in found.values.items():
        std = found.std[path]
        spread = "not determined"
        if np.isfinite(std):
            spread = parameter_value(found.robot, path, std, 2)
        rows.append((parameter_value(found.robot, path, value, 6), spread, path))
    lines = [
        f"Identification of {found.nominal.name}: {count_of(len(found.measured), 'value')}, "
        f"{count_of(len(found.names), 'parameter')}, fit {number(found.fit_percent, 4)} %",
        *table(("value", "+-", "parameter"), rows),
    ]
    if found.validation_percent is not None:
        lines.append(f"  values held back are predicted to {number(found.validation_percent, 4)} %")
    lines += [f"  noise of {name}: {number(size, 3)}" for name, size in found.noise.items()]
    lines += [f"  note: {note}" for note in found.notes]
    lines += [f"  warning: {warning}" for warning in found.warnings]
    return "\n".join(lines)


def measurement_plan_text(found: Any) -> str:
    """The poses to measure, and the standard deviations to expect."""
    poses = [
        (str(k + 1), configuration(found.robot, theta).removeprefix("theta "))
        for k, theta in enumerate(np.atleast_2d(found.theta))
    ]
    expected = []
    for k, (path, std) in enumerate(found.std.items()):
        unit = parameter_unit(found.robot, path)
        absolute = parameter_value(found.robot, path, std, 2) if unit else number(std, 2)
        expected.append((absolute, f"{100 * found.relative_std[k]:.2g} %", path))
    return "\n".join(
        [
            f"Measurement plan of {found.robot.name}: "
            f"{count_of(len(found.chosen), 'experiment')}, noise {number(found.noise, 3)}",
            *table(("pose", "joints"), poses),
            *table(("+- to expect", "of the value", "parameter"), expected),
            *(f"  warning: {warning}" for warning in found.warnings),
        ]
    )
