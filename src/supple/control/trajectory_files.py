"""Trajectories from files and arrays, and as files: CSV, ROS JointTrajectory, MCAP logs."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..answers.answer import Answer
from ..arguments import brief, number, reals
from ..errors import SuppleError
from ..files.disk import as_path
from ..files.joint_trajectories import (
    WRITABLE,
    JointTrajectory,
    read_joint_trajectory,
    write_joint_trajectory,
)
from .shaping import Samples
from .trajectories import Trajectory, TrajectoryWithDetails

__all__ = [
    "READABLE",
    "given_trajectory",
    "is_file_name",
    "load_trajectory",
    "sample_times",
    "save_trajectory",
]

Array = NDArray[np.float64]
READABLE = (*WRITABLE, ".mcap")
MAX_SAMPLES = 20_000_000
GIVE = (
    "give a Trajectory, such as supple.PointToPoint(start, end, time=1.0), the name of a file with "
    "one, or samples (N, joints) with their rate in Hz"
)


def load_trajectory(path: str | PathLike[str]) -> Samples:
    """Read a trajectory from a file.

    Parameters
    ----------
    path : str or path
        CSV (first column t in seconds, then one column per joint with its name in the header,
        ``elbow [deg]`` for degrees), a ROS JointTrajectory as .yaml or .json, or an .mcap log that
        holds one as JSON.

    Returns
    -------
    Samples
        A Trajectory: cubic splines through the points, and through their velocities where the file
        has them. Its `names` are those of the file, empty where it has none; functions that use it
        with a robot match them with its links and joints, in any order.

    Examples
    --------
    >>> import tempfile
    >>> import supple
    >>> name = tempfile.mkdtemp() + "/move.csv"
    >>> _ = supple.PointToPoint([0, 0], [0.9, 0.7], 1.0).save(name)
    >>> supple.load_trajectory(name).duration
    1.0
    """
    return _samples(read_joint_trajectory(path))


def _samples(found: JointTrajectory) -> Samples:
    """What a file holds, as a Trajectory."""
    return Samples(
        found.t,
        found.positions,
        found.velocities,
        found.names if found.named else (),
        header=dict(found.header),
    )


def is_file_name(value: Any) -> bool:
    """Whether this is the name of a file with a trajectory, by its ending."""
    if isinstance(value, PathLike):
        return True
    return isinstance(value, str) and value.lower().endswith(READABLE)


def given_trajectory(name: str, value: Any, rate: float | None = None) -> Trajectory:
    """Return a move in any of its forms as a Trajectory.

    Parameters
    ----------
    name : str
        Of the argument, for sentences.
    value : Trajectory, str or array_like
        A Trajectory; the name of a file; samples (N, joints), or (N,) of one joint, with `rate`; or
        (times, positions).
    rate : float, optional
        Samples per second of an array.
    """
    if isinstance(value, Trajectory | str | PathLike | JointTrajectory):
        if rate is not None:
            raise SuppleError(f"rate is for samples: {name} has times of its own, leave rate out")
        if isinstance(value, Trajectory):
            return value
        return _samples(value) if isinstance(value, JointTrajectory) else load_trajectory(value)
    if isinstance(value, tuple) and len(value) == 2 and np.ndim(value[1]) == 2:
        return Samples(*value)
    if value is None or isinstance(value, Mapping | set) or callable(value):
        raise SuppleError(f"{name} is {brief(value)}: {GIVE}")
    positions = reals(name, value, GIVE)
    if positions.ndim not in (1, 2) or len(positions) < 2:
        raise SuppleError(f"{name} has shape {positions.shape}: {GIVE}")
    if rate is None:
        raise SuppleError(
            f"{name} is an array: samples need their rate in Hz, rate=1000; or {GIVE}"
        )
    each: float = number(1e-3, 1e7, unit="in Hz")("rate", rate)
    return Samples(np.arange(len(positions)) / each, positions)


def sample_times(trajectory: Trajectory, rate: float) -> Array:
    """Return even times (N,) from 0 until the trajectory has ended."""
    per_second: float = number(1e-3, 1e7, unit="in Hz")("rate", rate)
    count = trajectory.duration * per_second
    if count > MAX_SAMPLES:
        raise SuppleError(
            f"{trajectory.duration:g} s at {per_second:g} Hz are {count:.1e} samples: at most "
            f"{MAX_SAMPLES:.0e}, give a lower rate"
        )
    return np.arange(int(np.ceil(count - 1e-9)) + 1) / per_second


def save_trajectory(trajectory: Trajectory, path: str | Path, rate: float = 1000.0) -> Path:
    """Write a trajectory, see `Trajectory.save`."""
    ending = as_path(path).suffix.lower()
    if ending == ".nc" and isinstance(trajectory, Answer):
        Answer.save(trajectory, path)
        return Path(path)
    if ending not in WRITABLE:
        raise SuppleError(f"cannot write {path}: a trajectory ends in {', '.join(WRITABLE)}")
    plain = trajectory
    while isinstance(plain, TrajectoryWithDetails):
        plain = plain.trajectory
    if isinstance(plain, Samples):
        t = plain.t
        header = _plain(plain.header)
        begin = plain.begin
    else:
        t = sample_times(trajectory, rate)
        header = {}
        begin = 0.0
    x, v, a = plain.at(t)
    if isinstance(plain, Samples):
        x = plain.positions  # as they are, not as the spline rounds them
    v = np.array(v)
    v[np.abs(v) < 1e-12 * np.abs(v).max(initial=0.0)] = 0.0  # at rest, not nearly so
    names = trajectory.names or tuple(str(j + 1) for j in range(x.shape[1]))
    return write_joint_trajectory(path, JointTrajectory(names, t + begin, x, header, v, a))


def _plain(value: Any) -> Any:
    """A frozen header as plain mappings and lists, which every writer takes."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value
