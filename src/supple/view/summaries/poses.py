"""Summaries of answers about one pose: statics, checks, kinematics and mobility."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..wording import motors_of
from .layout import (
    DEGREES,
    MILLIMETRES,
    batch_note,
    configuration,
    effort_list,
    labelled,
    motions,
    number,
    numbers,
    position,
    table,
)

__all__ = ["check_text", "joint_solutions_text", "mobility_text", "pose_text", "statics_text"]


def statics_text(found: Any) -> str:
    """Displacement of the tip in millimetres, its rotation, and what holds the joints."""
    from ...studies.statics import holding_efforts

    if np.ndim(found.valid):
        return _statics_of_batch(found)
    size = MILLIMETRES * float(np.linalg.norm(found.tip_displacement))
    energies = dict(zip(found.names, found.strain_energy, strict=True))
    total_energy = float(sum(energies.values()))
    shares = ""
    if total_energy > 0:
        parts = [f"{link} {100 * e / total_energy:.0f} %" for link, e in energies.items() if e]
        shares = f"{number(total_energy, 4)} J: {', '.join(parts)}"
    efforts = holding_efforts(found)
    largest_rotation = float(np.abs(found.rotation).max())
    held_by = effort_list(found.robot, efforts) if any(efforts.values()) else ""
    lines = [
        f"Statics of {found.robot.name} at {configuration(found.robot, found.theta)}",
        *labelled(
            [
                (
                    "tip moves",
                    f"{motions(found.tip_displacement, MILLIMETRES)} mm (x, y, z), "
                    f"{number(size, 4)} mm in all",
                ),
                (
                    "tip turns",
                    f"{motions(found.tip_rotation, DEGREES, largest_rotation)} deg about x, y, z",
                ),
                ("strain energy", shares),
                ("held by", held_by),
                *((str(output), numbers(value)) for output, value in found.outputs.items()),
            ]
        ),
    ]
    if not found.small:
        lines.append("  Large for a linear answer: the true deflection will differ.")
    return "\n".join(lines)


def _statics_of_batch(found: Any) -> str:
    """Smallest and largest displacement of the tip over many configurations, and where."""
    sizes = MILLIMETRES * np.linalg.norm(found.tip_displacement, axis=-1)
    lines = [
        f"Statics of {found.robot.name} at {np.size(found.valid)} configurations"
        f"{batch_note(found.valid)}"
    ]
    if np.isfinite(sizes).any():
        for word, row in (("least", np.nanargmin(sizes)), ("most", np.nanargmax(sizes))):
            where = configuration(found.robot, found.theta[row])
            lines.append(f"  tip moves {word:<5}  {number(sizes[row], 4)} mm at {where}")
    return "\n".join(lines)


def check_text(found: Any) -> str:
    """What an engineer looks at first: reach, mass, lowest frequency, sag, holding efforts."""
    frequency = "" if found.frequency_hz is None else f"{number(found.frequency_hz)} Hz"
    sag = "" if found.sag is None else f"{number(MILLIMETRES * found.sag, 4)} mm"
    worst = "the worst pose found, " if found.searched else ""
    reach = "" if found.reach is None else f"{number(found.reach, 4)} m"
    lines = [
        f"Check of {found.robot.name} at {worst}{configuration(found.robot, found.theta)}",
        *labelled(
            [
                ("reach", reach),
                ("mass that moves", f"{number(found.mass, 5)} kg"),
                ("degrees of freedom", str(found.mobility)),
                ("lowest frequency", frequency),
                ("sag of the tip", sag),
                (
                    "holding efforts",
                    effort_list(found.robot, found.holding) if found.holding else "",
                ),
            ]
        ),
    ]
    lines += [f"  note: {note}" for note in found.notes]
    return "\n".join(lines)


def pose_text(found: Any) -> str:
    """Where the tip is."""
    sag = ", with its sag" if found.sag else ""
    if np.ndim(found.valid):
        low = np.nanmin(found.position, axis=0)
        high = np.nanmax(found.position, axis=0)
        rows = [
            (number(least), number(most), axis)
            for least, most, axis in zip(low, high, ("x", "y", "z"), strict=True)
        ]
        count = f"{np.size(found.valid)} configurations{batch_note(found.valid)}{sag}"
        title = f"Pose of the tip of {found.robot.name} at {count}"
        return "\n".join([title, *table(("least (m)", "most (m)", "axis"), rows)])
    rotation = np.where(np.abs(found.rotation) < 1e-12, 0, found.rotation)
    cells = [[f"{value:.5f}".replace("-0.00000", "0.00000") for value in row] for row in rotation]
    where = configuration(found.robot, found.theta)
    return "\n".join(
        [
            f"Pose of the tip of {found.robot.name} at {where}{sag}",
            f"  position  {position(found.position, 6)}",
            "  rotation matrix",
            *("  " + "".join(cell.rjust(10) for cell in row) for row in cells),
        ]
    )


def joint_solutions_text(found: Any) -> str:
    """Joint coordinates that put the tip where it was asked to be."""
    wanted = position(found.position)
    lines = [f"Inverse kinematics of {found.robot.name} for the tip at {wanted}"]
    names, slides = motors_of(found.robot)
    header = [
        f"{name} ({'m' if sliding else 'deg'})" for name, sliding in zip(names, slides, strict=True)
    ]
    factors = np.where(slides, 1.0, 180 / np.pi)
    rows = [
        [str(row), *(number(value) for value in factors * solution)]
        for row, solution in enumerate(found.solutions, 1)
    ]
    if found.reason:
        lines.append(f"  no answer: {found.reason}")
    elif found.reached:
        lines += table(("solution", *header), rows)
        lines.append(f"  found by {found.method}, nearest to the start first")
    else:
        turned = ""
        if found.rotation is not None:
            turned = f" and {number(np.degrees(found.rotation_error), 4)}°"
        away = f"{number(found.position_error, 4)} m{turned}"
        lines.append(
            f"  out of reach: the nearest pose is {away} away, the best of {len(found.tries)} tries"
        )
        lines.append(f"  nearest at {configuration(found.robot, found.theta)}")
    return "\n".join(lines)


def mobility_text(found: Any) -> str:
    """Degrees of freedom by Kutzbach's count and by rank, and what the closures repeat."""
    redundant = [f"{name} {rows}" for name, rows in found.repeated.items() if rows]
    left_over = found.with_motors_held
    verdict = "the pose is decided" if not left_over else f"{left_over} motions are left"
    return "\n".join(
        [
            f"Mobility of {found.robot.name} at {configuration(found.robot, found.theta)}",
            *labelled(
                [
                    ("degrees of freedom", f"{found.freedom} (rank of the closures)"),
                    (
                        "Kutzbach's count",
                        f"{found.kutzbach}: {found.coordinates} joint coordinates less "
                        f"{found.rows} rows of closures",
                    ),
                    ("motors", f"{found.motors}; with all of them held {verdict}"),
                    ("repeated rows", ", ".join(redundant) or "none"),
                ]
            ),
        ]
    )
