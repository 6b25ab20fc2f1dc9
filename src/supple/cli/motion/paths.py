"""`supple simulate --path`: the elastic motion of a robot whose motors follow a path."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import SuppleError
from ...view.wording import motors_of, tidy
from ..arguments import angles, numbers
from ..measured import as_lists, print_outputs
from ..output import (
    draw_answer,
    plain,
    print_json,
    print_table,
    save_answer,
    say,
    tell_places,
)

if TYPE_CHECKING:
    from ...control.trajectories import Trajectory
    from ...robot import Robot
    from ...studies.motion.path_response import PathResponse
    from ...studies.motion.response import Response

__all__ = ["along_path", "path_of", "print_coupled"]


def along_path(
    robot: Robot,
    name: str,
    path: Trajectory,
    options: dict[str, Any],
    plot: str | None,
    json: bool,
    save: str | None = None,
) -> None:
    """Follow a path and print variations, residual vibration and torques."""
    from ...studies.motion.follow import SmallRangeWarning, StepWarning, follow

    with warnings.catch_warnings(record=True) as seen:
        for kind in (SmallRangeWarning, StepWarning):
            warnings.simplefilter("always", kind)
        found = follow(robot, path, **options)
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        out = {
            "robot": found.robot.name,
            "path": name,
            "unknowns": found.model.size,
            "t": found.t,
            "wanted": found.wanted,
            "displacement": found.moved[:, :3],
            "rotation": found.moved[:, 3:],
            "torque": found.torque,
            "rigid_torque": found.rigid_torque,
            "largest_deflection": found.largest,
            "small": found.small,
            "step": found.step,
        }
        out |= as_lists(found.outputs)
        if found.stopped:
            out["residual"] = found.residual()
        document = out
        print_json(document, found)
        return
    _print(found, name)
    print_outputs(found.outputs)
    for warning in seen:
        say(f"Warning: {warning.message}.")
    tell_places(plot, save)


def path_of(robot: Robot, name: str, limits: str) -> Trajectory:
    """Return a path by name, or through points within limits of velocity and acceleration.

    A named path may have sizes of its own: `circle:centre=0,0,0.6:radius=0.05:period=0.8`, and
    `blends:start=0,0:end=1,0.5:duration=1:blend=0.1` leads the joints of any robot.
    """
    if "=" in name:
        return _path_with_sizes(robot, name)
    if ":" in name:
        from ...control.trajectories import WayPoints

        points = [angles(part, "--path") for part in name.split(":")]
        if len({len(point) for point in points}) > 1:
            raise SuppleError(f"--path {name}: every point needs equally many numbers")
        v, a = numbers(limits, "--limits", 2)
        return WayPoints(points, v, a)
    from ...architectures.kinds import architecture_of
    from ...control.trajectories import PATHS
    from ...faults import nearest

    if name not in PATHS:
        suggestion = nearest(name, tuple(PATHS))
        hint = f"; did you mean {suggestion}?" if suggestion else ""
        raise SuppleError(
            f"--path {name}: it must be one of {', '.join(PATHS)}, or points p:p:..{hint}"
        )
    if architecture_of(robot).asked_by != "position":
        raise SuppleError(f"--path {name} leads a Delta's platform: {robot.name} is no Delta")
    return PATHS[name]()


def _path_with_sizes(robot: Robot, text: str) -> Trajectory:
    """Return a path from its name and its sizes, NAME:size=value:size=value."""
    from dataclasses import fields

    from ...architectures.kinds import architecture_of
    from ...control.trajectories import PATHS, ParabolicBlends

    name, *sizes = text.split(":")
    kinds: dict[str, Any] = {**PATHS, "blends": ParabolicBlends}
    if name not in kinds:
        raise SuppleError(f"--path {text}: it must begin with one of {', '.join(kinds)}")
    kind = kinds[name]
    known = [part.name for part in fields(kind)]
    given: dict[str, Any] = {}
    for size in sizes:
        word, equals, value = size.partition("=")
        if not equals or word not in known:
            raise SuppleError(
                f"--path {text}: '{size}' is not known; {name} has {', '.join(known)}"
            )
        if word == "law":
            given[word] = value
            continue
        values = angles(value, "--path") if name == "blends" else numbers(value, "--path")
        several = word in ("centre", "start", "end", "move", "times")
        if not several and len(values) != 1:
            raise SuppleError(f"--path {text}: {word} is one number, {len(values)} are given")
        given[word] = tuple(values) if several else values[0]
    if name == "blends":
        missing = [word for word in ("start", "end") if word not in given]
        if missing:
            raise SuppleError(f"--path {text}: give {missing[0]}= too, one value for each joint")
    elif architecture_of(robot).asked_by != "position":
        raise SuppleError(f"--path {name} leads a Delta's platform: {robot.name} is no Delta")
    found: Trajectory = kind(**given)
    return found


def _print(found: PathResponse, name: str) -> None:
    import numpy as np

    say(
        f"{plain(found.robot.name)} along {name}, {found.t[-1]:g} s, {found.model.size} unknowns, "
        f"steps of {1e3 * found.step:.3g} ms;"
    )
    if found.damping_ratios.any():
        ratios = ", ".join(f"{x:.3g}" for x in found.damping_ratios[:5])
        say(f"damping ratios of its lowest modes {ratios};")
    say("variation of place and attitude from the rigid motion\n")
    scale = np.array([1e3] * 3 + [180 / np.pi] * 3)
    columns = {"largest": found.peak, "at the end": found.moved[-1]}
    if found.stopped:
        columns["after the stop, +-"] = found.residual()
    names = [f"{axis}, mm" for axis in "xyz"] + [f"about {axis}, deg" for axis in "xyz"]
    _print_columns("", names, {word: scale * values for word, values in columns.items()})
    say("")
    # Names of the motors with the unit of their efforts
    each = zip(*motors_of(found.robot), strict=True)
    _print_columns(
        "largest effort",
        [f"{name}, {'N' if slides else 'N m'}" for name, slides in each],
        {
            "flexible links": np.abs(found.torque).max(axis=0),
            "rigid links": np.abs(found.rigid_torque).max(axis=0),
        },
    )


def print_coupled(found: Response, path: Trajectory | None) -> None:
    """Print where platform and motors of a coupled Delta went, how its links bent, and checks."""
    import numpy as np

    model = found.model
    say(
        f"{plain(model.robot.name)}: rigid and elastic motion together, {model.size} coordinates, "
        f"{found.method}, {len(found.t)} samples to t = {found.t[-1]:g} s\n"
    )
    rows = [("at the start", found.tip[0]), ("at the end", found.tip[-1])]
    if path is not None:
        rows.append(("largest distance from its path", np.abs(found.tip - path(found.t)[0]).max(0)))
    print_table(("platform, m", "x>", "y>", "z>"), [(w, *tidy(v, 5)) for w, v in rows])
    say("")
    names = [name.removeprefix("theta.") for name in model.coordinates[: model.joints]]
    ends = np.degrees(found.theta[-1])
    peaks = np.abs(found.tau).max(axis=0)
    print_table(
        ("motor", "angle at the end, deg>", "largest torque, N m>"),
        [(n, f"{a:.5g}", f"{p:.5g}") for n, a, p in zip(names, ends, peaks, strict=True)],
    )
    say("")
    bent = [link.name for link in model.chain.links if link.shapes is not None]
    print_table(
        ("link", "largest deflection of its end, mm>"),
        [(n, f"{1e3 * np.linalg.norm(found.deflection(n), axis=1).max():.4g}") for n in bent],
    )
    energies = ", ".join(f"{name} {value[-1]:.6g}" for name, value in found.energies.items())
    say(
        f"\nenergy, J: {energies}; power balance closes to {found.openness:.1e} of "
        f"{found.exchanged:.3g} J exchanged"
    )
    say(f"loops are closed to {found.closure.max():.1e} m")
    if not found.complete:
        say(f"\nended early: {found.message}", err=True)


def _print_columns(title: str, names: Sequence[str], columns: Mapping[str, Any]) -> None:
    """Print columns of numbers, a name a row; rounding of the largest is told as zero."""
    tidied = [tidy(values, 4) for values in columns.values()]
    rows = zip(names, *tidied, strict=True)
    print_table((title, *(f"{word}>" for word in columns)), list(rows))
