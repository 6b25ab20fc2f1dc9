"""Summaries of answers about vibration: modes, maps, theories and frequency responses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..wording import motors_of
from .layout import HERTZ, batch_note, configuration, number, numbers, table

__all__ = [
    "assumed_modes_text",
    "characteristic_text",
    "frequency_map_text",
    "frequency_response_text",
    "modes_text",
    "shapes_text",
    "theories_text",
]

LENGTH_OUTPUTS = ("tip.x", "tip.y", "tip.z")


def modes_text(found: Any) -> str:
    """Frequencies in Hz with their kinds; of a batch the range of each mode and the lowest pose."""
    name = found.robot.name
    if np.ndim(found.valid):
        return _modes_of_batch(found)
    where = configuration(found.robot, found.theta, found.position)
    loaded = ", under its weight" if found.gravity else ""
    title = f"Modes of {name} at {where}: joints {found.joints}{loaded}, method {found.method}"
    rows = [
        (str(mode), number(hz, 6), kind)
        for mode, (hz, kind) in enumerate(zip(found.frequency_hz, found.kind, strict=True), 1)
    ]
    lines = [title, *table(("mode", "Hz", "kind"), rows)]
    if found.rigid_modes:
        lines.append(f"  and {found.at_zero()}")
    lines.append(f"  {found.proof}")
    return "\n".join(lines)


def _modes_of_batch(found: Any) -> str:
    """Range of each mode over many configurations, and where the lowest frequency is lowest."""
    poses = f"{np.size(found.valid)} configurations{batch_note(found.valid)}"
    lines = [
        f"Modes of {found.robot.name} at {poses}: joints {found.joints}, method {found.method}"
    ]
    valid = np.asarray(found.valid, dtype=bool)
    rows = []
    for mode, column in enumerate(found.frequency_hz[valid].T, 1):
        finite = column[np.isfinite(column)]
        if finite.size:
            rows.append((str(mode), number(finite.min()), number(finite.max())))
    lines += table(("mode", "lowest Hz", "highest Hz"), rows)
    lowest = np.where(valid, found.frequency_hz[:, 0], np.nan)
    if np.isfinite(lowest).any():
        row = int(np.nanargmin(lowest))
        platform = None if found.position is None else found.position[row]
        where = configuration(found.robot, found.theta[row], platform)
        lines.append(f"  lowest of all: {number(lowest[row])} Hz at {where}, row {row}")
    return "\n".join(lines)


def shapes_text(found: Any) -> str:
    """Where each mode moves most, and how well the fields meet where beams are joined."""
    stations = found.x.shape[1]
    lines = [
        f"Shapes of {len(found.displacement)} modes on {len(found.names)} links, "
        f"{stations} stations a link, modal mass one"
    ]
    sizes = np.linalg.norm(found.displacement, axis=-1)  # (modes, links, stations)
    rows = []
    for mode, size in enumerate(sizes):
        link, station = np.unravel_index(int(size.argmax()), size.shape)
        where = f"{found.names[link]}, {number(found.x[link, station], 4)} m from its root"
        rows.append((str(mode + 1), where, found.kind(mode)))
    lines += table(("mode", "moves most at", "strain energy"), rows)
    worst = float(np.nanmax(found.residual)) if np.isfinite(found.residual).any() else None
    if worst is not None:
        lines.append(f"  motion and section forces meet at every joint to {number(worst, 1)}")
    return "\n".join(lines)


def theories_text(found: Any) -> str:
    """Frequencies in Hz, one column per theory, each with its difference from the first one."""
    where = configuration(found.robot, found.theta, found.position)
    first, *others = found.names
    title = f"Theories of {found.robot.name} at {where}: joints {found.joints}"
    header = ["mode", f"{first} Hz"]
    for name in others:
        header += [f"{name} Hz", "%"]
    rows = []
    for mode in range(found.omega.shape[1]):
        row = [str(mode + 1), number(found.frequency_hz[0, mode], 6)]
        for theory in range(1, len(found.names)):
            row.append(number(found.frequency_hz[theory, mode], 6))
            row.append(f"{found.difference[theory, mode]:+.2f}")
        partners = [str(n) if n else "none" for n in found.partner[1:, mode].tolist()]
        rows.append([*row, ", ".join(partners)])
    lines = [title, *table([*header, "as mode"], rows)]
    lines.append(f"  %: difference from {first}; as mode: its modes of the same shape")
    lines += [f"  without {name}: {why}" for name, why in found.missing.items()]
    return "\n".join(lines)


def frequency_map_text(found: Any) -> str:
    """Lowest and highest value of the lowest frequency over the map, and where."""
    frequencies = HERTZ * np.asarray(found.omega)[..., 0]
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
            pose = np.unravel_index(index, frequencies.shape)
            words = []
            for axis, ((name, values), i) in enumerate(zip(coordinates, pose, strict=True)):
                turns = bool(slides) and not slides[axis]
                value = np.degrees(values[i]) if turns else values[i]
                words.append(f"{name} = {number(value, 4)}{'°' if turns else ' m'}")
            lines.append(f"  {word:<7} {number(frequencies[pose])} Hz at {', '.join(words)}")
    return "\n".join(lines)


def frequency_response_text(found: Any) -> str:
    """Inputs, outputs, band, poles inside the band and the largest gain."""
    low = number(np.min(found.frequency_hz))
    high = number(np.max(found.frequency_hz))
    lines = [
        f"Frequency response of {found.robot.name} at {configuration(found.robot, found.theta)}",
        f"  from {', '.join(found.inputs)} to {', '.join(found.outputs)}, "
        f"{len(found.frequency_hz)} frequencies from {low} to {high} Hz, joints {found.joints}",
    ]
    poles = HERTZ * np.abs(np.asarray(found.poles))
    if poles.size:
        lines.append(f"  poles at {numbers(np.sort(poles)[:8])} Hz")
    gains = np.abs(found.values)
    if np.isfinite(gains).any():
        largest = np.unravel_index(int(np.nanargmax(gains)), gains.shape)
        source = found.inputs[largest[2]]
        sink = found.outputs[largest[1]]
        lines.append(
            f"  largest gain {number(gains[largest], 4)}{_gain_unit(source, sink)} from {source} "
            f"to {sink}, at {number(found.frequency_hz[largest[0]])} Hz"
        )
    return "\n".join(lines)


def _gain_unit(source: str, sink: str) -> str:
    """Unit of a displacement of the tip per force; other gains are in SI."""
    return " m/N" if source.startswith("force.") and sink in LENGTH_OUTPUTS else " (SI)"


def assumed_modes_text(found: Any) -> str:
    """Frequencies of a Model, and the coordinate that takes the largest part in each mode."""
    rows = []
    for mode, hz in enumerate(HERTZ * np.asarray(found.omega)):
        rows.append((str(mode + 1), number(hz, 6)))
    lines = [f"Modes of the model: {len(rows)}", *table(("mode", "Hz"), rows)]
    if found.rigid_modes:
        lines.append(f"  and {found.rigid_modes} rigid-body modes at zero")
    return "\n".join(lines)


def characteristic_text(found: Any) -> str:
    """Size of the characteristic matrix and the roots of its determinant."""
    size = 6 * len(found.robot.links)
    rows = [
        (str(mode), number(HERTZ * omega, 6), number(omega, 6))
        for mode, omega in enumerate(found.omega, 1)
    ]
    where = configuration(found.robot, found.theta)
    title = f"Characteristic matrix of {found.robot.name} at {where}: {size} x {size}"
    return "\n".join([title, *table(("root", "Hz", "rad/s"), rows)])
