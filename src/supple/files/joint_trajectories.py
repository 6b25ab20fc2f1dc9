"""Joint trajectories as robots get them: CSV, ROS JointTrajectory in YAML or JSON, MCAP logs.

CSV: a header, first column `t` in seconds, then one column a joint. A JointTrajectory holds
`joint_names` and `points` with `positions` and `time_from_start` (`sec`, `nanosec`, or `secs`,
`nsecs`, or a number of seconds).
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from .disk import write_text

__all__ = ["WRITABLE", "JointTrajectory", "read_joint_trajectory", "write_joint_trajectory"]

Array = NDArray[np.float64]
WRITABLE = (".csv", ".json", ".yaml", ".yml")
LARGEST = 500_000_000  # bytes
FORM = "a CSV file whose first column is t in seconds, then one column for each joint"


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Positions over time, with the names of the joints.

    Attributes:
        names: of the joints.  t: (N,) s, rising.  positions: (N, joints).
        header: what else a ROS message held, kept for writing.
    """

    names: tuple[str, ...]
    t: Array
    positions: Array
    header: dict[str, Any] = field(default_factory=dict)


def read_joint_trajectory(path: str | PathLike[str]) -> JointTrajectory:
    """Return the joint trajectory of a file, every fault told in one sentence."""
    ending = Path(path).suffix.lower()
    if ending == ".mcap":
        return _checked(path, _from_mcap(path))
    try:
        text = _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SuppleError(f"{path} is not text (UTF-8): give {FORM}") from None
    if ending == ".json":
        try:
            message = json.loads(text)
        except ValueError as problem:
            raise SuppleError(f"{path} is not JSON: {problem}") from None
        return _checked(path, _from_message(path, message))
    if ending in (".yaml", ".yml"):
        import yaml

        try:
            message = yaml.load(text, Loader=yaml.CSafeLoader)
        except yaml.YAMLError as problem:
            why = " ".join(str(problem).split())
            raise SuppleError(f"{path} is not YAML: {why:.200}") from None
        return _checked(path, _from_message(path, message))
    rows = [row for row in csv.reader(io.StringIO(text)) if row and "".join(row).strip()]
    if not rows:
        raise SuppleError(f"{path} is empty: give {FORM}")
    names = [name.strip() for name in rows[0]]
    if names[0].lower() not in ("t", "time") or len(names) < 2:
        raise SuppleError(f"{path}: the first line is '{','.join(names):.60}': give {FORM}")
    values = []
    for number, row in enumerate(rows[1:], start=2):
        try:
            values.append([float(cell) for cell in row])
        except ValueError:
            raise SuppleError(
                f"{path}: row {number} holds '{','.join(row):.60}', which are not all numbers"
            ) from None
        if len(row) != len(names):
            raise SuppleError(
                f"{path}: row {number} has {len(row)} values, the header has {len(names)}"
            )
    table = np.array(values).reshape(len(values), len(names))
    from_csv = JointTrajectory(tuple(names[1:]), table[:, 0], table[:, 1:])
    return _checked(path, from_csv)


def _bytes(path: str | PathLike[str]) -> bytes:
    """Everything in a file, unless it is no regular file or beyond the limit of size."""
    place = Path(path)
    if place.exists() and not place.is_file():
        raise SuppleError(f"{path} is not a file: give {FORM}")
    try:
        if place.stat().st_size > LARGEST:
            raise SuppleError(f"{path} is larger than {LARGEST // 10**6} MB: split it")
        return place.read_bytes()
    except OSError as problem:
        raise SuppleError(f"cannot read {path}: {problem.strerror or problem}") from None


def _from_message(path: str | PathLike[str], message: Any) -> JointTrajectory:
    if isinstance(message, dict) and isinstance(message.get("trajectory"), dict):
        message = message["trajectory"]  # a FollowJointTrajectory goal
    if isinstance(message, dict) and isinstance(message.get("joint_trajectory"), dict):
        message = message["joint_trajectory"]  # a moveit RobotTrajectory
    try:
        names = tuple(str(name) for name in message["joint_names"])
        points = message["points"]
        # time_from_start as a number of seconds
        seconds = []
        for point in points:
            stamp = point["time_from_start"]
            if isinstance(stamp, dict):
                whole: Any = stamp.get("sec", stamp.get("secs", 0))
                part: Any = stamp.get("nanosec", stamp.get("nsecs", 0))
                second = float(whole) + 1e-9 * float(part)
            else:
                second = float(stamp)
            seconds.append(second)
        t = np.array(seconds, float)
        positions = np.array([list(point["positions"]) for point in points], float)
    except (KeyError, TypeError, ValueError) as problem:
        what = f"key {problem} is missing" if isinstance(problem, KeyError) else str(problem)
        raise SuppleError(
            f"{path} is no JointTrajectory: {what}; it holds joint_names and points "
            "with positions and time_from_start"
        ) from None
    if positions.ndim != 2 or positions.shape[1] != len(names):
        raise SuppleError(
            f"{path}: {len(names)} joints are named, but positions have shape {positions.shape}"
        )
    header = {key: value for key, value in message.items() if key != "points"}
    return JointTrajectory(names, t, positions, header)


def _from_mcap(path: str | PathLike[str]) -> JointTrajectory:
    """The first JSON-encoded JointTrajectory of an MCAP log (needs the extra `mcap`)."""
    try:
        from mcap.reader import make_reader
    except ImportError:
        raise SuppleError("reading .mcap needs the extra: pip install supple[mcap]") from None
    seen = set()
    try:
        reader = make_reader(io.BytesIO(_bytes(path)))
        for schema, channel, record in reader.iter_messages():
            name = schema.name if schema else ""
            seen.add(f"{channel.topic} ({name or channel.message_encoding})")
            if name.endswith("JointTrajectory") and channel.message_encoding == "json":
                return _from_message(path, json.loads(record.data))
    except SuppleError:
        raise
    except Exception as problem:  # noqa: BLE001 - the library raises its own family of errors
        raise SuppleError(f"{path} is not a readable MCAP log: {problem}") from None
    told = ", ".join(sorted(seen)) or "no messages"
    raise SuppleError(f"{path} holds no JointTrajectory encoded as JSON, but {told:.200}")


def _checked(path: str | PathLike[str], found: JointTrajectory) -> JointTrajectory:
    if len(found.t) < 2:
        raise SuppleError(f"{path} has {len(found.t)} rows of numbers: a move needs two or more")
    table = np.column_stack([found.t, found.positions])
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise SuppleError(f"{path}: row {row + 1} of the numbers is not finite")
    back = np.flatnonzero(np.diff(found.t) <= 0)
    if len(back):
        k = int(back[0])
        raise SuppleError(
            f"{path}: time does not rise from {found.t[k]:g} s to {found.t[k + 1]:g} "
            f"s (row {k + 2} of the numbers)"
        )
    return found


def write_joint_trajectory(path: str | PathLike[str], found: JointTrajectory) -> Path:
    """Write a joint trajectory by the ending of its name: .csv, .json, .yaml."""
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["t", *found.names])
        for t, x in zip(found.t, found.positions, strict=True):
            rows.writerow([repr(float(value)) for value in (t, *x)])
        return write_text(path, out.getvalue())
    points = []
    for t, x in zip(found.t, found.positions, strict=True):
        nanoseconds = round(float(t) * 1e9)
        stamp = {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}
        points.append({"positions": x.tolist(), "time_from_start": stamp})
    message = {**found.header, "joint_names": list(found.names), "points": points}
    if ending == ".json":
        return write_text(path, json.dumps(message))
    import yaml

    return write_text(path, yaml.safe_dump(message, sort_keys=False))
