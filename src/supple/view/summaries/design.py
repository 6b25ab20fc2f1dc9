"""Summaries of answers about variants: derivatives, tolerances, branches, bands and optima."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...architectures.kinds import architecture_of
from .layout import (
    HERTZ,
    MILLIMETRES,
    configuration,
    count_of,
    labelled,
    number,
    numbers,
    parameter_unit,
    parameter_value,
    place,
    table,
)

__all__ = [
    "band_text",
    "optimum_text",
    "sensitivities_text",
    "static_sensitivities_text",
    "tolerances_text",
    "tracks_text",
]

MOST_MODES = 6  # columns of a table of derivatives
MEGAPASCALS = 1e-6  # MPa per Pa


def _per_unit(robot: Any, path: str, unit: str) -> tuple[float, str]:
    """Factor and unit of a derivative: per degree of an angle, per SI unit of all else."""
    own_unit = parameter_unit(robot, path)
    factor = np.pi / 180 if own_unit == "deg" else 1.0
    return factor, f"{unit}/{own_unit}" if own_unit else f"{unit} per 1"


def sensitivities_text(found: Any) -> str:
    """Change of each frequency per unit of each parameter."""
    count = min(len(found.omega), MOST_MODES)
    rows = []
    for path, slopes in found.derivatives.items():
        factor, unit = _per_unit(found.robot, path, "Hz")
        values = numbers(np.asarray(slopes)[:count], factor * HERTZ).split(", ")
        rows.append((*values, f"{unit}  {path}"))
    header = [f"mode {mode}" for mode in range(1, count + 1)]
    frequencies = numbers(found.frequency_hz[:count], 1.0, 5).split(", ")
    where = configuration(found.robot, found.theta)
    title = f"Sensitivities of {found.robot.name} at {where}: change of frequencies"
    lines = table((*header, "parameter"), [(*frequencies, "Hz  as described"), *rows])
    if np.any(found.coincident):
        lines.append("  coincident frequencies: the derivatives are those of their group")
    return "\n".join([title, *lines])


def static_sensitivities_text(found: Any) -> str:
    """Change of the tip's motion per unit of each parameter."""
    rows = [(*numbers(found.moved[:3], MILLIMETRES).split(", "), "mm  as described")]
    for path, slopes in found.derivatives.items():
        factor, unit = _per_unit(found.robot, path, "mm")
        values = numbers(np.asarray(slopes)[:3], factor * MILLIMETRES).split(", ")
        rows.append((*values, f"{unit}  {path}"))
    where = configuration(found.robot, found.theta)
    title = f"Static sensitivities of {found.robot.name} at {where}: change of the tip's place"
    return "\n".join([title, *table(("x", "y", "z", "parameter"), rows)])


def tolerances_text(found: Any) -> str:
    """Interval of each frequency, and what each tolerance alone contributes."""
    rows = []
    for mode in range(len(found.omega)):
        values = (found.omega[mode], found.low[mode], found.high[mode])
        rows.append((str(mode + 1), *(number(HERTZ * value) for value in values)))
    inside = architecture_of(found.robot).inside
    lines = [
        f"Tolerances of {found.robot.name}: natural frequencies{inside}, {found.points} robots and "
        "poses examined",
        *table(("mode", "nominal Hz", "lowest Hz", "highest Hz"), rows),
    ]

    # What each tolerance alone does to the frequencies, to first order.
    count = min(len(found.omega), MOST_MODES)
    effects = []
    for path, spread in found.spread.items():
        sizes = [number(HERTZ * abs(change), 3) for change in spread[:count]]
        effects.append((*sizes, path))
    header = [f"mode {mode} +- Hz" for mode in range(1, count + 1)]
    lines += table((*header, "by the tolerance of"), effects)
    searched = [str(k + 1) for k, monotonic in enumerate(found.monotonic) if not monotonic]
    if searched:
        modes = ", ".join(searched)
        lines.append(f"  modes {modes} do not simply rise or fall: their ends were searched for")
    return "\n".join(lines)


def tracks_text(found: Any) -> str:
    """Every branch from its first to its last value, veerings and crossings."""
    first = parameter_value(found.robot, found.key, found.x[0])
    last = parameter_value(found.robot, found.key, found.x[-1])
    rows = []
    for branch, (kind, hz) in enumerate(zip(found.kinds, found.frequency_hz.T, strict=True), 1):
        values = [number(value) for value in (hz[0], hz.min(), hz.max(), hz[-1])]
        rows.append((str(branch), *values, kind))
    header = ("branch", "first Hz", "lowest", "highest", "last", "begins as")
    lines = [
        f"Tracks of {found.robot.name} over {found.key}, {first} to {last}: "
        f"{found.omega.shape[1]} branches at {len(found.x)} values",
        *table(header, rows),
    ]
    for veering in found.veerings[:MOST_MODES]:
        one, other = veering.branches
        where = parameter_value(found.robot, found.key, veering.at)
        what = "cross" if veering.crossing else f"veer, {number(veering.gap_hz, 4)} Hz apart,"
        lines.append(f"  branches {one} and {other} {what} at {where}")
    if len(found.veerings) > MOST_MODES:
        lines.append(f"  and {len(found.veerings) - MOST_MODES} more in .veerings")
    inside = architecture_of(found.robot).inside
    if found.certified:
        lines.append(f"  Certified{inside} at each of the {found.asked} configurations computed.")
    return "\n".join(lines)


def band_text(found: Any) -> str:
    """Whether a band is free of natural frequencies: the proof, or where it is not."""
    inside = architecture_of(found.robot).inside
    band = f"{number(found.low_hz)} to {number(found.high_hz)} Hz"
    cells = count_of(found.cells, "cell")
    lines = [f"Band {band} of {found.robot.name}"]
    if found.free:
        lines.append(
            f"  free, proven: no natural frequency{inside} in this band over the whole box"
        )
        margin = f"{number(found.margin_hz, 3)} Hz"
        lines.append(f"  {cells} examined; the nearest frequency seen is {margin} away")
        lines.append(f"  rests on {found.rests_on}")
    elif found.free is None:
        lines.append(f"  not decided: {found.undecided} of {cells} stay open")
        lines.append("  try a narrower band, a smaller resolution or more cells")
    else:
        where = place(found.robot, found.at or {})
        lines.append(f"  not free: {number(found.frequency_hz, 6)} Hz at {where}")
        lines.append(f"  {cells} examined")
    if found.unchanged:
        lines.append(f"  {', '.join(found.unchanged)} changes no frequency and was not divided")
    return "\n".join(lines)


def optimum_text(found: Any) -> str:
    """Frequency and mass before and after, the dimensions found and what limits them."""
    robot = found.robot
    goals = {
        "lowest": "highest lowest frequency",
        "place": "a frequency placed at its target",
        "mass": "least mass",
    }
    sag = f"{number(MILLIMETRES * found.sag, 4)} mm" if found.sag else ""
    stress = f"{number(MEGAPASCALS * found.stress, 4)} MPa" if found.stress else ""
    mass_change = 100 * (found.mass / found.start_mass - 1)
    dimensions = [(parameter_value(robot, path, x, 6), path) for path, x in found.values.items()]
    lines = [
        f"Optimum of {robot.name}: {goals.get(found.goal, found.goal)} over "
        f"{count_of(len(found.poses), 'pose')}",
        *labelled(
            [
                (
                    "frequency",
                    f"{number(found.start_hz)} Hz before, {number(found.lowest_hz)} Hz now "
                    f"({100 * found.gain:+.3g} %)",
                ),
                (
                    "mass",
                    f"{number(found.start_mass)} kg before, {number(found.mass)} kg now "
                    f"({mass_change:+.3g} %), without payload",
                ),
                ("sag of the tip", sag),
                ("stress", stress),
                ("decisive pose", configuration(robot, found.worst)),
            ]
        ),
        *table(("value", "dimension"), dimensions),
        f"  limited by {', '.join(found.active) or 'nothing'}",
        f"  optimal to {number(found.kkt, 1)} (KKT residual)",
        f"  {number(found.elements_hz)} Hz by finite elements",
    ]
    return "\n".join(lines)
