"""Answers as an engineer would write them down: what `print(answer)` shows.

One function per kind of answer, named in the column `text` of `answers/registry.py`. Angles are
written in degrees, lengths of deflections in millimetres, and numbers that are nothing but rounding
as zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .wording import motors_of, tidy

__all__ = [
    "assumed_modes_text",
    "check_text",
    "floquet_text",
    "frequency_map_text",
    "frequency_response_text",
    "joint_solutions_text",
    "margins_text",
    "modes_text",
    "path_response_text",
    "pose_text",
    "reproduction_text",
    "response_text",
    "sensitivities_text",
    "state_space_text",
    "static_sensitivities_text",
    "statics_text",
]

MOST_ROWS = 12  # of a table inside a summary
MILLIMETRES = 1e3


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return lines of a table, numbers right-aligned, cut after MOST_ROWS rows."""
    every_row = [list(row) for row in rows]
    shown_rows = every_row[:MOST_ROWS]
    widths = [max(len(row[i]) for row in [list(header), *shown_rows]) for i in range(len(header))]
    last = len(header) - 1

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.ljust(width) if i == last else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return ("  " + "  ".join(aligned)).rstrip()

    lines = [line(header), *map(line, shown_rows)]
    if len(every_row) > MOST_ROWS:
        lines.append(f"  ... {len(every_row) - MOST_ROWS} more")
    return lines


def _number(value: float, digits: int = 5) -> str:
    """Return one number with a few digits; what is exactly or nearly nothing is 0."""
    number = float(value)
    return "0" if abs(number) < 1e-15 else f"{number:.{digits}g}"


def _vector(values: Any, factor: float = 1.0, digits: int = 4) -> str:
    """Return a few numbers, those that are rounding of the largest as zero."""
    scaled = (factor * np.asarray(values, dtype=float)).ravel()
    return ", ".join(tidy(scaled.tolist(), digits))


def _configuration(robot: Any, theta: Any, position: Any = None) -> str:
    """Return where the robot stands: a position, or its joints in degrees and metres."""
    if position is not None and np.ndim(position) == 1:
        return f"position {_vector(position)} m"
    values = np.atleast_1d(np.asarray(theta, dtype=float))
    if values.size == 0:
        return "rest"
    slides = motors_of(robot)[1]
    words = [
        f"{_number(value)} m" if sliding else f"{_number(np.degrees(value))}°"
        for value, sliding in zip(values, slides, strict=True)
    ]
    return "theta " + ", ".join(words)


def _batch_note(valid: Any) -> str:
    """Return how many rows of a batch have an answer."""
    answered = int(np.count_nonzero(valid))
    total = int(np.size(valid))
    missing = total - answered
    return "" if not missing else f", {missing} of them without an answer (see .reason)"


def modes_text(found: Any) -> str:
    """Frequencies in Hz with their kinds; of a batch the range of each mode."""
    name = found.robot.name
    if np.ndim(found.valid):
        rows = []
        frequencies = found.frequency_hz[np.asarray(found.valid, dtype=bool)]
        for number, column in enumerate(frequencies.T, 1):
            finite = column[np.isfinite(column)]
            if finite.size:
                rows.append((str(number), _number(finite.min()), _number(finite.max())))
        poses = f"{np.size(found.valid)} configurations{_batch_note(found.valid)}"
        title = f"Modes of {name} at {poses}: joints {found.joints}, method {found.method}"
        return "\n".join([title, *_table(("mode", "lowest Hz", "highest Hz"), rows)])
    where = _configuration(found.robot, found.theta, found.position)
    title = f"Modes of {name} at {where}: joints {found.joints}, method {found.method}"
    rows = [
        (str(number), _number(hz, 6), kind)
        for number, (hz, kind) in enumerate(zip(found.frequency_hz, found.kind, strict=True), 1)
    ]
    lines = [title, *_table(("mode", "Hz", "kind"), rows)]
    if found.rigid_modes:
        lines.append(f"  and {found.rigid_modes} rigid-body modes at zero")
    lines.append(f"  {found.proof}")
    return "\n".join(lines)


def theories_text(found: Any) -> str:
    """Frequencies in Hz, one column per theory, and the differences from the first one."""
    where = _configuration(found.robot, found.theta, found.position)
    title = f"Theories of {found.robot.name} at {where}: joints {found.joints}"
    others = found.names[1:]
    columns = ("mode", *found.names, *(f"{name} %" for name in others), "same shape, mode")
    rows = []
    for mode in range(found.omega.shape[1]):
        numbers = [str(n) if n else "none" for n in found.partner[1:, mode].tolist()]
        rows.append(
            (
                str(mode + 1),
                *(_number(hz, 6) for hz in found.frequency_hz[:, mode]),
                *(f"{value:.2f}" for value in found.difference[1:, mode]),
                ", ".join(numbers),
            )
        )
    left_out = [f"  without {name}: {why}" for name, why in found.missing.items()]
    return "\n".join([title, *_table(columns, rows), *left_out])


def _holding_efforts(found: Any) -> dict[str, float]:
    """Effort of each motor that drives a joint and holds the load, N m or N."""
    from ..architectures.kinds import architecture_of

    root_wrenches = np.concatenate([found.root_force, found.root_moment], axis=-1)
    wrench_of_link = dict(zip(found.names, root_wrenches, strict=True))
    return {
        drive.name: float(drive.effort(wrench_of_link))
        for drive in architecture_of(found.robot).drives
        if drive.segment in wrench_of_link
    }


def statics_text(found: Any) -> str:
    """Displacement of the tip in millimetres, its rotation, and what holds the joints."""
    name = found.robot.name
    if np.ndim(found.valid):
        sizes = MILLIMETRES * np.linalg.norm(found.tip_displacement, axis=-1)
        return (
            f"Statics of {name} at {np.size(found.valid)} configurations"
            f"{_batch_note(found.valid)}: the tip moves by {_number(np.nanmin(sizes), 4)} to "
            f"{_number(np.nanmax(sizes), 4)} mm"
        )
    size = MILLIMETRES * float(np.linalg.norm(found.tip_displacement))
    lines = [
        f"Statics of {name} at {_configuration(found.robot, found.theta)}",
        f"  tip moves     {_vector(found.tip_displacement, MILLIMETRES)} mm (x, y, z), "
        f"{_number(size, 4)} mm in all",
        f"  tip turns     {_vector(np.degrees(found.tip_rotation))} degrees about x, y, z",
    ]
    energies = dict(zip(found.names, found.strain_energy, strict=True))
    total = float(sum(energies.values()))
    if total > 0:
        shares = ", ".join(f"{link} {100 * e / total:.0f} %" for link, e in energies.items())
        lines.append(f"  strain energy {_number(total, 4)} J: {shares}")
    efforts = _holding_efforts(found)
    if any(efforts.values()):
        words = ", ".join(f"{motor} {_number(effort, 4)}" for motor, effort in efforts.items())
        lines.append(f"  held by       {words} (N m, or N of a slide)")
    for output, value in found.outputs.items():
        lines.append(f"  {output}: {_vector(value)}")
    if not found.small:
        lines.append("  Large for a linear answer: the true deflection will differ.")
    return "\n".join(lines)


def frequency_map_text(found: Any) -> str:
    """Lowest and highest value of the lowest frequency over the map, and where."""
    frequencies = np.asarray(found.omega)[..., 0] / (2 * np.pi)
    finite = np.isfinite(frequencies)
    lines = [
        f"{type(found).__name__} of {found.robot.name}: {frequencies.size} poses, "
        f"{int(finite.sum())} reachable"
    ]
    if finite.any():
        coordinates = list(found.axes.items())
        # Joint angles are written in degrees, lengths in metres.
        slides = motors_of(found.robot)[1] if found.asked_by == "theta" else []
        for word, index in (
            ("lowest", int(np.nanargmin(frequencies))),
            ("highest", int(np.nanargmax(frequencies))),
        ):
            place = np.unravel_index(index, frequencies.shape)
            words = []
            for number, ((name, values), i) in enumerate(zip(coordinates, place, strict=True)):
                turns = bool(slides) and not slides[number]
                value = np.degrees(values[i]) if turns else values[i]
                words.append(f"{name} = {_number(value, 4)}{'°' if turns else ' m'}")
            lines.append(f"  {word:<7} {_number(frequencies[place])} Hz at {', '.join(words)}")
    return "\n".join(lines)


def check_text(found: Any) -> str:
    """What an engineer looks at first: reach, mass, lowest frequency, sag, holding efforts."""
    lines = [
        f"Check of {found.robot.name} at {_configuration(found.robot, found.theta)}",
        f"  reach             {_number(found.reach, 4)} m",
        f"  mass that moves   {_number(found.mass, 5)} kg",
        f"  degrees of freedom {found.mobility}",
    ]
    if found.frequency_hz is not None:
        lines.append(f"  lowest frequency  {_number(found.frequency_hz)} Hz")
    if found.sag is not None:
        lines.append(f"  sag of the tip    {_number(MILLIMETRES * found.sag, 4)} mm")
    efforts = ", ".join(f"{name} {_number(effort, 4)}" for name, effort in found.holding.items())
    if efforts:
        lines.append(f"  holding efforts   {efforts} (N m, or N of a slide)")
    lines += [f"  note: {note}" for note in found.notes]
    return "\n".join(lines)


def pose_text(found: Any) -> str:
    """Where the tip is."""
    if np.ndim(found.valid):
        return (
            f"Pose of {found.robot.name} at {np.size(found.valid)} configurations"
            f"{_batch_note(found.valid)}"
        )
    rows = [
        f"    {_vector(row)}" for row in np.where(np.abs(found.rotation) < 1e-12, 0, found.rotation)
    ]
    sag = ", with its sag" if found.sag else ""
    where = _configuration(found.robot, found.theta)
    return "\n".join(
        [
            f"Pose of the tip of {found.robot.name} at {where}{sag}",
            f"  position  {_vector(found.position, 1.0, 6)} m",
            "  rotation matrix",
            *rows,
        ]
    )


def joint_solutions_text(found: Any) -> str:
    """Joint coordinates that put the tip where it was asked to be."""
    lines = [f"Inverse kinematics of {found.robot.name} for position {_vector(found.position)} m"]
    if found.reached:
        lines.append(f"  {_configuration(found.robot, found.theta)}")
        lines.append(
            f"  {len(found.solutions)} solutions in .solutions, error {_number(found.error, 2)}"
        )
    else:
        lines.append(f"  not reached: {found.reason}")
        lines.append(
            f"  nearest: {_configuration(found.robot, found.theta)}, "
            f"{_number(MILLIMETRES * found.position_error, 4)} mm away"
        )
    return "\n".join(lines)


def frequency_response_text(found: Any) -> str:
    """Inputs, outputs, band, poles inside the band and the largest gain."""
    low = _number(np.min(found.frequency_hz))
    high = _number(np.max(found.frequency_hz))
    lines = [
        f"Frequency response of {found.robot.name} at {_configuration(found.robot, found.theta)}",
        f"  from {', '.join(found.inputs)} to {', '.join(found.outputs)}, "
        f"{len(found.frequency_hz)} frequencies from {low} to {high} Hz, joints {found.joints}",
    ]
    poles = np.abs(np.asarray(found.poles)) / (2 * np.pi)
    if poles.size:
        lines.append(f"  poles at {_vector(np.sort(poles)[:8])} Hz")
    gains = np.abs(found.values)
    if np.isfinite(gains).any():
        where = np.unravel_index(int(np.nanargmax(gains)), gains.shape)
        lines.append(
            f"  largest gain {_number(gains[where], 4)} at "
            f"{_number(found.frequency_hz[where[0]])} Hz "
            f"({found.inputs[where[2]]} to {found.outputs[where[1]]}, SI)"
        )
    return "\n".join(lines)


def sensitivities_text(found: Any) -> str:
    """Change of each frequency per unit of each parameter."""
    from math import pi

    rows = []
    for path, slopes in found.derivatives.items():
        in_hz = np.asarray(slopes) / (2 * pi)
        rows.append((_vector(in_hz[:6]), path))
    title = (
        f"Sensitivities of {found.robot.name}: {_vector(found.frequency_hz[:6])} Hz; "
        "change in Hz per unit (SI) of"
    )
    return "\n".join([title, *_table(("modes 1, 2, ..", "parameter"), rows)])


def static_sensitivities_text(found: Any) -> str:
    """Change of the tip's motion per unit of each parameter."""
    rows = [
        (_vector(np.asarray(slopes)[:3], MILLIMETRES), path)
        for path, slopes in found.derivatives.items()
    ]
    title = f"Static sensitivities of {found.robot.name}: the tip moves, mm per unit (SI) of"
    return "\n".join([title, *_table(("x, y, z", "parameter"), rows)])


def assumed_modes_text(found: Any) -> str:
    """Frequencies of a Model."""
    frequencies = np.asarray(found.omega) / (2 * np.pi)
    rigid = f" and {found.rigid_modes} rigid-body modes at zero" if found.rigid_modes else ""
    return f"Frequencies of the model: {_vector(frequencies[:10], 1.0, 5)} Hz{rigid}"


def _joint_rows(robot: Any, start: Any, end: Any) -> list[tuple[str, str, str]]:
    """Name, first and last value of every motor, in degrees or metres."""
    names, slides = motors_of(robot)
    rows = []
    for name, sliding, first, last in zip(names, slides, start, end, strict=True):
        factor, unit = (1.0, "m") if sliding else (180 / np.pi, "deg")
        rows.append((_number(factor * first), _number(factor * last), f"{unit}  {name}"))
    return rows


def response_text(found: Any) -> str:
    """Duration, where the joints and the tip went, energy balance, how it was integrated."""
    robot = found.model.robot
    ended = "" if found.complete else f"; ended early: {found.message}"
    lines = [
        f"Response of {robot.name}: {_number(found.t[-1])} s in {len(found.t)} samples, "
        f"method {found.method}{ended}"
    ]
    theta = np.asarray(found.theta)
    if theta.size and theta.shape[1] == len(motors_of(robot)[0]):
        rows = _joint_rows(robot, theta[0], theta[-1])
        lines += _table(("start", "end", "joint"), rows)
    lines.append(f"  tip ends at {_vector(found.tip[-1], 1.0, 5)} m")
    lines.append(f"  energy balance closed to {_number(np.max(np.abs(found.balance)), 2)} J")
    if found.outputs:
        lines.append(f"  outputs: {', '.join(found.outputs)}")
    return "\n".join(lines)


def path_response_text(found: Any) -> str:
    """How far the tip leaves its path, and the largest efforts."""
    robot = found.robot
    deviation = MILLIMETRES * np.linalg.norm(np.asarray(found.moved)[:, :3], axis=1)
    lines = [
        f"Small motion of {robot.name} about a path of {_number(found.t[-1])} s, "
        f"{len(found.t)} samples",
        f"  deviation of the tip: at most {_number(deviation.max(), 4)} mm, "
        f"{_number(deviation[-1], 4)} mm at the end",
    ]
    names = motors_of(robot)[0]
    torque = np.asarray(found.torque)
    if torque.ndim == 2 and torque.shape[1] == len(names):
        peaks = ", ".join(
            f"{name} {_number(peak, 4)}"
            for name, peak in zip(names, np.abs(torque).max(axis=0), strict=True)
        )
        lines.append(f"  largest efforts by bending: {peaks} (N m, or N of a slide)")
    if not found.small:
        lines.append("  Large for small motion: take simulate for a true answer.")
    return "\n".join(lines)


def state_space_text(found: Any) -> str:
    """Sizes, inputs, outputs, stability and the slow poles with their damping."""
    sampled = "" if found.period is None else f", sampled every {_number(found.period)} s"
    verdict = "stable" if found.stable else "not stable"
    lines = [
        f"Linear model: {found.A.shape[0]} states, {len(found.inputs)} inputs, "
        f"{len(found.outputs)} outputs{sampled}; {verdict}",
        f"  inputs   {', '.join(found.inputs)}",
        f"  outputs  {', '.join(found.outputs)}",
    ]
    frequencies = np.asarray(found.frequencies, dtype=float) / (2 * np.pi)
    shown = np.unique(np.round(frequencies[frequencies > 0], 9))[:8]
    if shown.size:
        lines.append(f"  modes at {_vector(shown)} Hz")
    return "\n".join(lines)


def margins_text(found: Any) -> str:
    """How far each loop is from instability, one motor a line."""
    if not found.stable:
        return "Closed loop: not stable, so that it has no margins"
    rows = []
    for i, joint in enumerate(found.joints):
        down = found.gain_down[i]
        up = found.gain_up[i]
        rows.append(
            (
                f"{_number(down, 3)} to {'any' if np.isinf(up) else _number(up, 4)}",
                f"{found.phase_margin_deg[i]:.1f}",
                "any"
                if np.isinf(found.delay_margin[i])
                else _number(1e3 * found.delay_margin[i], 4),
                _number(found.crossover[i] / (2 * np.pi), 4),
                _number(found.sensitivity_peak[i], 4),
                joint,
            )
        )
    header = ("gain", "phase (deg)", "delay (ms)", "at (Hz)", "peak of S", "motor")
    peak = _number(found.peak_of_all, 4)
    first = f"Closed loop: stable; peak of the sensitivity of all motors {peak}"
    return "\n".join([first, *_table(header, rows)])


def floquet_text(found: Any) -> str:
    """Whether a periodic motion is stable."""
    largest = float(np.max(np.abs(found.multipliers))) if len(found.multipliers) else 0.0
    verdict = "stable" if found.stable else "not stable"
    return (
        f"Periodic motion of {_number(found.period)} s: {verdict}, "
        f"largest Floquet multiplier {_number(largest, 6)} in size"
    )


def reproduction_text(found: Any) -> str:
    """How many printed numbers and claims were met."""
    verdict = "as expected" if found.ok else "not all as expected"
    return (
        f"Reproduction of {found.source} ({found.paper}): {len(found.cells)} printed numbers, "
        f"{len(found.claims)} claims; {verdict}"
    )
