"""`supple plan`: a move from rest to rest, planned under limits and written as a trajectory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import File, Json, angles, limits_of
from ..output import plain, print_json, print_table, say
from .shape import Gains, servo_of

if TYPE_CHECKING:
    from ...control.trajectories import Trajectory
    from ...robot import Robot

__all__ = ["plan"]

WAYS = ("effort", "calm", "jerk", "path")
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="0,45deg,..",
        help="Where the move begins. Default: zero, or the start of a mechanism.",
    ),
]
To = Annotated[str | None, typer.Option("--to", metavar="0,90deg,..", help="Where it ends.")]
By = Annotated[
    str,
    typer.Option(
        "--by",
        help="effort: under effort limits, at rest with its bending; calm: the fastest that leaves "
        "the lowest modes calm; jerk: jerk-limited; path: along --path under effort limits.",
    ),
]
Path = Annotated[
    str | None,
    typer.Option("--path", metavar="IN.csv", help="Joints along a path; its times do not matter."),
]
Duration = Annotated[float | None, typer.Option(help="Duration, s. Default: the fastest move.")]
Effort = Annotated[
    str | None,
    typer.Option("--effort-limit", metavar="3,1.5", help="N m or N. Default: the robot file's."),
]
Speed = Annotated[
    str | None,
    typer.Option(
        "--speed-limit", metavar="1,1", help="rad/s, m/s, or 60deg/s; one value, or one per joint."
    ),
]
Acceleration = Annotated[
    str | None,
    typer.Option("--acceleration-limit", metavar="4,4", help="One value, or one per joint."),
]
Jerk = Annotated[
    str | None, typer.Option("--jerk-limit", metavar="40,40", help="One value, or one per joint.")
]
Deflection = Annotated[
    float | None,
    typer.Option(
        "--deflection-limit", help="Largest deflection of any link's end, m (with --by effort)."
    ),
]
Stress = Annotated[
    float | None,
    typer.Option("--stress-limit", help="Largest stress in any link, Pa (with --by effort)."),
]
Modes = Annotated[
    int | None,
    typer.Option(
        "--modes",
        help="Assumed modes of every link and plane (with --by effort or path). Default: 1.",
    ),
]
Pieces = Annotated[
    int | None,
    typer.Option("--pieces", help="Least number of pieces of the move (with --by effort)."),
]
SearchTime = Annotated[
    float | None,
    typer.Option(
        "--search-time", help="Processor time of the search, s (with --by effort). Default: 60."
    ),
]
Rate = Annotated[float, typer.Option("--rate", help="Samples per second of --out.")]
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="OUT.csv", help="Where to write it: .csv, .json or .yaml."),
]


def plan(
    robot: File,
    end: To = None,
    start: From = None,
    by: By = "effort",
    path: Path = None,
    duration: Duration = None,
    effort_limit: Effort = None,
    speed_limit: Speed = None,
    acceleration_limit: Acceleration = None,
    jerk_limit: Jerk = None,
    deflection_limit: Deflection = None,
    stress_limit: Stress = None,
    gains: Gains = None,
    modes: Modes = None,
    pieces: Pieces = None,
    search_time: SearchTime = None,
    rate: Rate = 1000.0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Plan a move from rest to rest: the fastest under limits, or the gentlest in a given time."""
    from ... import files
    from ...files import joint_trajectories as moves
    from ...files.disk import check_place

    if by not in WAYS:
        raise SuppleError(f"--by {by}: choose one of {', '.join(WAYS)}")
    if out is not None:
        if not out.lower().endswith(moves.WRITABLE):
            raise SuppleError(f"--out {out}: it must end in {', '.join(moves.WRITABLE)}")
        check_place(out, robot)
    if not 0 < rate <= 1e6:
        raise SuppleError(f"--rate {rate:g}: give samples per second, above zero and at most 1e6")
    limits = {
        "effort_limit": effort_limit,
        "speed_limit": speed_limit,
        "acceleration_limit": acceleration_limit,
        "jerk_limit": jerk_limit,
    }
    given: dict[str, Any] = {}
    for name, text in limits.items():
        if text is not None:
            each = limits_of(text, name)
            given[name] = each[0] if len(each) == 1 else each
    given |= {"deflection_limit": deflection_limit, "stress_limit": stress_limit}
    given |= {"duration": duration, "servo": servo_of(gains)}
    given |= {"modes": modes, "pieces": pieces, "search_time": search_time}
    arm = files.load(robot)
    if (by == "path") == (path is None):
        raise SuppleError("give --path with --by path, and only with it")
    if path is not None:
        from ...control.matching import trajectory_for

        move: Any = trajectory_for(arm, path, name=path)
        ends: Any = move.positions  # way-points in the order of the robot's motors
    elif end is None:
        raise SuppleError("give --to: where the move ends")
    else:
        goal = angles(end, "--to")
        ends = (_begin(arm, len(goal)) if start is None else angles(start, "--from"), goal)
    found, details = _compute_move(arm, by, ends, {k: v for k, v in given.items() if v is not None})
    _finish(arm, by, found, details, rate, out, json)


def _begin(robot: Robot, count: int) -> list[float]:
    """Where a move begins unless it is told: where a mechanism stands, else zero."""
    from ...architectures.kinds import architecture_of

    kind = architecture_of(robot)
    if kind.asked_by != "theta":
        return [0.0] * count
    stands: list[float] = kind.resolve(theta=None, position=None).theta[0].tolist()
    return stands if len(stands) == count else [0.0] * count


# What each way needs, and what it may have.
NEEDS = {"effort": (), "calm": ("speed_limit", "acceleration_limit"), "path": ()}
NEEDS["jerk"] = ("speed_limit", "acceleration_limit", "jerk_limit")
MAY = {
    "effort": (
        "effort_limit",
        "speed_limit",
        "deflection_limit",
        "stress_limit",
        "duration",
        "modes",
        "pieces",
        "search_time",
    ),
    "calm": (*NEEDS["calm"], "jerk_limit", "effort_limit", "duration", "servo"),
    "jerk": (*NEEDS["jerk"], "duration"),
    "path": ("effort_limit", "speed_limit", "acceleration_limit", "modes"),
}


def _compute_move(
    robot: Robot, by: str, ends: Any, given: dict[str, Any]
) -> tuple[Trajectory, Any]:
    """The move, and what else is known of it."""
    from ...architectures.kinds import architecture_of
    from ...beams.basis import AssumedModes
    from ...equations.build import build
    from ...studies.drive import calm, limited
    from ...studies.drive import plan as planning

    for name in (*NEEDS[by], *given):
        option = "--gains" if name == "servo" else f"--{name.replace('_', '-')}"
        if name not in given:
            raise SuppleError(f"--by {by} needs {option}")
        if name not in MAY[by]:
            raise SuppleError(f"{option} is not for --by {by}: leave it out")
    if by == "calm":
        platform = architecture_of(robot).asked_by == "position"
        return calm.calm_move(robot, *ends, **given, platform=platform), None
    if by == "jerk":
        return limited.jerk_limited(*ends, **given), None
    model = build(robot, AssumedModes(given.pop("modes", 1)))
    if by == "path":
        return limited.effort_limited(model, ends, **given), None
    found = planning.plan(model, *ends, **given)
    return found.trajectory, found.tried()


def _finish(
    robot: Robot, by: str, move: Trajectory, told: Any, rate: float, out: str | None, json: bool
) -> None:
    """Write it and tell of it."""
    import numpy as np

    from ...architectures.kinds import architecture_of
    from ...files import joint_trajectories as moves

    t = np.arange(int(np.ceil(move.duration * rate - 1e-9)) + 1) / rate
    x, v, a = move(t)
    names = tuple(c.key.removeprefix("theta.") for c in architecture_of(robot).coordinates())
    if len(names) != x.shape[1]:
        raise SuppleError(f"the move has {x.shape[1]} coordinates: {robot.name} needs {len(names)}")
    if out is not None:
        moves.write_joint_trajectory(out, moves.JointTrajectory(names, t, x))
    peaks = [np.abs(values).max(axis=0) for values in (v, a)]
    if json:
        print_json(
            {
                "robot": robot.name,
                "by": by,
                "duration": move.duration,
                "coordinates": list(names),
                "peak_speed": peaks[0],
                "peak_acceleration": peaks[1],
                "residual_on_finer_model": None if told is None else told.residual,
                "used_of_limits": None if told is None else told.passed,
            }
        )
        _leave_if_passed(told)
        return
    say(f"{plain(robot.name)}: {move.duration:.5g} s by {by}\n")
    turning = [c.unit == "rad" for c in architecture_of(robot).coordinates()]
    rows = []
    for k, (name, turns) in enumerate(zip(names, turning, strict=True)):
        shown = math.degrees(1.0) if turns else 1.0
        ends = (f"{shown * x[0, k]:.5g}", f"{shown * x[-1, k]:.5g}")
        most = (f"{shown * peaks[0][k]:.4g}", f"{shown * peaks[1][k]:.4g}")
        unit = "deg" if turns else "m"
        rows.append((name, *ends, *most, f"{unit}, {unit}/s, {unit}/s^2"))
    print_table(("", "from>", "to>", "peak speed>", "peak acceleration>", "units"), rows)
    if told is not None:
        say(f"\non a finer model {1e3 * told.residual:.3g} mm are left after it")
        for word, used in told.passed.items():
            over = "" if used <= 1.02 else ": passed, plan with a lower limit"
            say(f"{word}: at most {used:.3g} of the limit there{over}")
    if out is not None:
        say(f"Written: {out}")
    _leave_if_passed(told)


def _leave_if_passed(trial: Any) -> None:
    """End with exit code 1 where a limit is passed on the finer model."""
    if trial is not None and not trial.kept:
        raise typer.Exit(1)
