"""A trajectory for one robot: its coordinates matched with the robot's, by name in any order.

A motor is known by the name of its link, by the name of its joint where the file gives one (as a
URDF does), and by either with `theta.` before it. x, y, z are the platform of a Delta, or the tip
of another robot. Coordinates without names, or named by plain numbers, go by position.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..errors import SuppleError
from ..faults import nearest
from ..robot import Robot
from .platform import PlatformPath, leads_platform
from .shaping import Samples
from .trajectories import Reordered, Trajectory, with_names
from .trajectory_files import given_trajectory

__all__ = [
    "Leads",
    "TrajectoryWarning",
    "coordinate_names",
    "match_names",
    "motor_names",
    "names_place",
    "place_path",
    "trajectory_for",
]

Array = NDArray[np.float64]
PLATFORM_RATE = 1000.0  # samples per second of a platform's path that is found from its motors
PLATFORM_STEP = 1e-6  # of the duration, for the slope of the platform's place
FULL_TURN = 2 * np.pi
MORE_THAN_A_TURN = 1.01 * FULL_TURN  # rad: beyond it a column may be in degrees
Leads = Literal["motors", "coordinates"]


class TrajectoryWarning(UserWarning):
    """A trajectory is used as it is, but may not be what was intended."""


def motor_names(robot: Robot) -> list[tuple[str, ...]]:
    """Return the names by which trajectories may call each motor; the first is the usual one."""
    links: Any = getattr(robot, "links", ())
    joints = {link.name: getattr(link.joint, "name", None) for link in links}
    found = []
    for drive in architecture_of(robot).drives:
        known = [drive.name]
        if (joint := joints.get(drive.name)) is not None and joint not in known:
            known.append(joint)
        found.append((*known, *(f"theta.{name}" for name in known)))
    return found


def coordinate_names(robot: Robot) -> tuple[str, ...]:
    """Return the names of the coordinates of a pose: motors, or x, y, z of a Delta's platform."""
    family = architecture_of(robot)
    if family.asked_by == "position":
        return ("x", "y", "z")
    return tuple(name for name, _ in family.motors)


def names_place(trajectory: Trajectory) -> bool:
    """Whether a trajectory says by its names that it leads a platform or a tip."""
    return bool(trajectory.names) and set(_places(trajectory.names)) in ({*"xy"}, {*"xyz"})


def _places(names: Sequence[str]) -> list[str]:
    """Names of coordinates of a place without what may stand before them."""
    return [name.removeprefix("position.").removeprefix("platform.") for name in names]


def trajectory_for(
    robot: Robot,
    given: Any,
    *,
    name: str = "trajectory",
    rate: float | None = None,
    leads: Leads = "motors",
) -> Trajectory:
    """Return a move in any of its forms as a Trajectory of a robot's coordinates, in its order.

    Parameters
    ----------
    robot : Robot
        Whose coordinates they are.
    given : Trajectory, str or array_like
        As `given_trajectory` takes it.
    name : str
        Of the argument, for sentences.
    rate : float, optional
        Samples per second of an array.
    leads : "motors" or "coordinates"
        What is wanted: the motors; or the coordinates of a pose, which are x, y, z of a Delta's
        platform and the motors of any other robot. A trajectory of x, y, z leads the motors by
        `PlatformPath`.
    """
    trajectory = given_trajectory(name, given, rate)
    of_platform = architecture_of(robot).asked_by == "position" and leads == "coordinates"
    if names_place(trajectory):
        path = place_path(robot, trajectory, name)
        return path if of_platform else PlatformPath(robot, path)
    if leads_platform(trajectory) and not of_platform:
        return PlatformPath(robot, trajectory)
    if of_platform and names_motors(robot, trajectory):
        motors = _reorder_coordinates(
            trajectory, motor_names(robot), list(trajectory.names), robot, name
        )
        return platform_motion(robot, motors)
    wanted = [(axis,) for axis in "xyz"] if of_platform else motor_names(robot)
    found = _reorder_coordinates(trajectory, wanted, list(trajectory.names), robot, name)
    if isinstance(trajectory, Samples) and not of_platform:
        _check_range(robot, found, name)
    return found


def names_motors(robot: Robot, trajectory: Trajectory) -> bool:
    """Whether a trajectory says by its names that it leads a robot's motors."""
    known = {word for words in motor_names(robot) for word in words}
    return bool(trajectory.names) and set(trajectory.names) <= known


def platform_motion(robot: Robot, trajectory: Trajectory) -> Trajectory:
    """Return where a motion of a Delta's motors takes its platform: x, y, z, as samples."""
    if isinstance(trajectory, PlatformPath):
        return with_names(trajectory.path, ("x", "y", "z"))
    if trajectory.periodic:
        raise SuppleError("a motion of motors that repeats has no path of a platform: give x, y, z")
    count = max(20, int(np.ceil(trajectory.duration * PLATFORM_RATE)))
    t = np.linspace(0.0, trajectory.duration, count + 1)
    theta, rates, _ = trajectory.at(t)
    places = _platform(robot, theta)
    step = PLATFORM_STEP * trajectory.duration
    ahead = _platform(robot, theta + step * rates)
    behind = _platform(robot, theta - step * rates)
    return Samples(t, places, (ahead - behind) / (2 * step), ("x", "y", "z"))


def _platform(robot: Robot, theta: Array) -> Array:
    """Places (N, 3) of a Delta's platform at motor angles (N, 3)."""
    found = architecture_of(robot).resolve(theta=theta, position=None)
    if found.position is None or (found.reason != "").any():
        reasons = [word for word in found.reason if word]
        raise SuppleError(f"the motors leave what {robot.name} can reach: {reasons[0]}")
    return found.position


def place_path(robot: Robot, trajectory: Trajectory, name: str = "trajectory") -> Trajectory:
    """Return a path of a robot's platform or tip with its coordinates in order x, y, (z)."""
    wanted = [(axis,) for axis in ("xy" if architecture_of(robot).planar else "xyz")]
    return _reorder_coordinates(trajectory, wanted, _places(trajectory.names), robot, name)


def _reorder_coordinates(
    trajectory: Trajectory,
    wanted: Sequence[tuple[str, ...]],
    names: list[str],
    robot: Robot,
    what: str,
) -> Trajectory:
    """The trajectory with its coordinates in the robot's order, or a sentence what is wrong."""
    own = tuple(known[0] for known in wanted)
    if trajectory.size != len(own):
        listed = f" ({', '.join(names):.60})" if names else ""
        raise SuppleError(
            f"{what} has {trajectory.size} coordinates{listed}: {robot.name} needs {len(own)} "
            f"({', '.join(own):.100})"
        )
    if not names or all(word.isdecimal() for word in names):
        return trajectory
    order = match_names(robot, wanted, names, what)
    if order == list(range(len(order))):
        return trajectory
    kept_names = tuple(trajectory.names[k] for k in order)  # a file is written as it was read
    if isinstance(trajectory, Samples):
        v = trajectory.velocities
        return Samples(
            trajectory.t,
            trajectory.positions[:, order],
            None if v is None else v[:, order],
            kept_names,
            trajectory.begin,
            trajectory.header,
        )
    return Reordered(trajectory, tuple(order), kept_names)


def match_names(
    robot: Robot, wanted: Sequence[tuple[str, ...]], names: Sequence[str], what: str
) -> list[int]:
    """Return which of the given names is each of those wanted, or raise what does not match."""
    order = []
    for known in wanted:
        places = [k for k, word in enumerate(names) if word in known]
        order.append(places[0] if len(places) == 1 else -1)
    if -1 not in order and len(order) == len(names):
        return order
    own = ", ".join(known[0] for known in wanted)
    strange = [word for word in names if not any(word in known for known in wanted)]
    every = [word for known in wanted for word in known]
    suggestion = nearest(strange[0], every) if strange else None
    hint = f"; did you mean {suggestion}?" if suggestion else ""
    also = [known[1] for known in wanted if len(known) > 2]
    others = f", or {', '.join(also):.100}" if also else ""
    raise SuppleError(
        f"{what} names {', '.join(strange or names):.100}: {robot.name} has {own:.100}{others}"
        f"{hint}; rename them, or leave the names out to go by position"
    )


def _check_range(robot: Robot, found: Trajectory, what: str) -> None:
    """Refuse samples beyond a joint's limits, and warn where angles may be degrees."""
    positions = found.positions if isinstance(found, Samples) else found.at(np.zeros(1))[0]
    for drive, column in zip(architecture_of(robot).drives, positions.T, strict=True):
        low = float(column.min())
        high = float(column.max())
        limits = drive.made.limits
        unit = "m" if drive.slides else "rad"
        degrees = (
            f": angles are in radians; if these are degrees, write '{drive.name} [deg]' in the "
            "header of the file"
        )
        if limits is not None and (low < limits[0] - 1e-9 or high > limits[1] + 1e-9):
            turned = not drive.slides and max(abs(low), abs(high)) > max(map(abs, limits))
            raise SuppleError(
                f"{what} takes joint {drive.name} from {low:.6g} to {high:.6g} {unit}, its limits "
                f"are {limits[0]:.6g} to {limits[1]:.6g}{degrees if turned else ''}"
            )
        farthest = max(abs(low), abs(high))
        if limits is None and not drive.slides and farthest > MORE_THAN_A_TURN:
            warnings.warn(
                f"{what} takes joint {drive.name} to {farthest:.4g} rad, "
                f"{farthest / FULL_TURN:.3g} turns{degrees}",
                TrajectoryWarning,
                stacklevel=4,
            )
            return
