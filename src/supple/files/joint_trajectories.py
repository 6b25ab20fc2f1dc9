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

from ..errors import RobotError, SuppleError
from .disk import named, write_text
from .reading import read

__all__ = ["WRITABLE", "JointTrajectory", "read_joint_trajectory", "write_joint_trajectory"]

Array = NDArray[np.float64]
WRITABLE = (".csv", ".json", ".yaml", ".yml")
LONGEST = 200_000_000  # bytes
MOST = 2_000_000  # values in YAML
LARGEST = 1e12  # s, rad or m
FORM = "a CSV file whose first column is t in seconds, then one column for each joint"


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Positions over time, with the names of the joints.

    Attributes:
        names: of the joints.  t: (N,) s, rising.  positions: (N, joints).
        header: what else a ROS message held, kept for writing.  velocities: (N, joints) of a ROS
        message whose points all have them.  rates: how many of velocities and accelerations they
        have, and are written with.
    """

    names: tuple[str, ...]
    t: Array
    positions: Array
    header: dict[str, Any] = field(default_factory=dict)
    velocities: Array | None = None
    rates: int = 0

    @property
    def duration(self) -> float:
        """From the first time to the last, s."""
        return float(self.t[-1] - self.t[0])


def read_joint_trajectory(path: str | PathLike[str]) -> JointTrajectory:
    """Return the joint trajectory of a file, every fault told in one sentence."""
    ending = named(path).suffix.lower()
    if ending == ".mcap":
        return _checked(path, _from_mcap(path))
    try:
        text = _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SuppleError(f"{path} is not text (UTF-8): give {FORM}") from None
    if ending == ".json":
        return _checked(path, _from_message(path, _json(path, text)))
    if ending in (".yaml", ".yml"):
        try:
            document = read(text, limit=MOST)
        except RobotError as problem:
            raise SuppleError(f"{path} is no JointTrajectory: {problem}") from None
        if document.faults:
            raise SuppleError(f"{path} is no JointTrajectory: {document.faults[0].sentence}")
        return _checked(path, _from_message(path, document.data))
    try:
        rows = [row for row in csv.reader(io.StringIO(text)) if row and "".join(row).strip()]
    except csv.Error as problem:
        raise SuppleError(f"{path} is no CSV file: {problem}; give {FORM}") from None
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
    place = named(path)
    if place.exists() and not place.is_file():
        raise SuppleError(f"{path} is not a file: give {FORM}")
    try:
        if place.stat().st_size > LONGEST:
            raise SuppleError(f"{path} is larger than {LONGEST // 10**6} MB: split it")
        return place.read_bytes()
    except (OSError, ValueError) as problem:  # ValueError: a name that no file can have
        why = getattr(problem, "strerror", None) or problem
        raise SuppleError(f"cannot read {path}: {why}") from None


def _json(path: str | PathLike[str], text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise SuppleError(f"{path} is not JSON: {problem}") from None


def _from_message(path: str | PathLike[str], message: Any) -> JointTrajectory:
    for outer in ("trajectory", "joint_trajectory"):  # of a FollowJointTrajectory goal, of moveit
        if isinstance(message, dict) and isinstance(message.get(outer), dict):
            message = message[outer]

    def need(right: bool, what: str) -> None:
        if not right:
            raise SuppleError(
                f"{path} is no JointTrajectory: {what}; it holds joint_names and points "
                "with positions and time_from_start"
            )

    need(isinstance(message, dict), "it is no mapping")
    names, points = message.get("joint_names"), message.get("points")
    told = isinstance(names, list) and all(isinstance(name, str) for name in names)
    need(told, "key joint_names is missing, or holds no names")
    need(isinstance(points, list), "key points is missing, or no list")
    t, positions = [], []
    carried: dict[str, list[Any]] = {"velocities": [], "accelerations": []}
    for k, point in enumerate(points):
        need(isinstance(point, dict), f"point {k + 1} is no mapping")
        stamp, place = point.get("time_from_start"), point.get("positions")
        if isinstance(stamp, dict):
            whole: Any = stamp.get("sec", stamp.get("secs", 0))
            part: Any = stamp.get("nanosec", stamp.get("nsecs", 0))
            stamp = whole + 1e-9 * part if _number(whole) and _number(part) else None
        need(_number(stamp), f"time_from_start of point {k + 1} is missing, or no number")
        need(
            isinstance(place, list) and all(map(_number, place)),
            f"positions of point {k + 1} are missing, or not all numbers",
        )
        need(len(place) == len(names), f"{len(names)} joints, but point {k + 1} has {len(place)}")
        t.append(float(stamp))
        positions.append([float(value) for value in place])
        for key, each in carried.items():
            given = point.get(key)
            if isinstance(given, list) and len(given) == len(names) and all(map(_number, given)):
                each.append(given)
    rates = [bool(t) and len(each) == len(t) for each in carried.values()]
    velocities = np.array(carried["velocities"], float) if rates[0] else None
    header = {key: value for key, value in message.items() if key != "points"}
    table = np.array(positions, float).reshape(len(t), len(names))
    count = sum(rates) if rates[0] else 0
    return JointTrajectory(tuple(names), np.array(t), table, header, velocities, count)


def _number(value: Any) -> bool:
    """Whether this is a number that a float can hold."""
    return type(value) is float or (type(value) is int and abs(value) < 1 << 1000)


def _from_mcap(path: str | PathLike[str]) -> JointTrajectory:
    """The first JSON-encoded JointTrajectory of an MCAP log (needs the extra `mcap`)."""
    try:
        from mcap.reader import make_reader
        from mcap.records import Chunk
        from mcap.stream_reader import StreamReader
    except ImportError:
        raise SuppleError("reading .mcap needs the extra: pip install supple[mcap]") from None
    seen, raw = set(), _bytes(path)
    try:
        for part in StreamReader(io.BytesIO(raw), emit_chunks=True).records:
            if isinstance(part, Chunk) and _unpacked(part.compression, part.data) > LONGEST:
                raise SuppleError(f"{path} unpacks to more than {LONGEST // 10**6} MB: split it")
        reader = make_reader(io.BytesIO(raw))
        for schema, channel, record in reader.iter_messages():
            name = schema.name if schema else ""
            seen.add(f"{channel.topic} ({name or channel.message_encoding})")
            if name.endswith("JointTrajectory") and channel.message_encoding == "json":
                return _from_message(path, _json(path, record.data))
    except SuppleError:
        raise
    except Exception as problem:  # noqa: BLE001 - the library raises its own family of errors
        raise SuppleError(f"{path} is not a readable MCAP log: {problem}") from None
    told = ", ".join(sorted(seen)) or "no messages"
    raise SuppleError(f"{path} holds no JointTrajectory encoded as JSON, but {told:.200}")


def _unpacked(compression: str, data: bytes) -> int:
    """Bytes that a compressed chunk will take; a few bytes can claim any memory."""
    if compression == "zstd":
        import zstandard

        return len(zstandard.ZstdDecompressor().stream_reader(data).read(LONGEST + 1))
    if compression == "lz4":
        import lz4.frame

        opened: Any = lz4.frame.LZ4FrameDecompressor()
        return len(opened.decompress(data, max_length=LONGEST + 1))
    return len(data)


def _checked(path: str | PathLike[str], found: JointTrajectory) -> JointTrajectory:
    if len(found.t) < 2:
        raise SuppleError(f"{path} has {len(found.t)} rows of numbers: a move needs two or more")
    more = [] if found.velocities is None else [found.velocities]
    table = np.column_stack([found.t, found.positions, *more])
    large = ~(np.abs(table) <= LARGEST)
    if large.any():
        row = int(np.flatnonzero(large.any(axis=1))[0])
        raise SuppleError(
            f"{path}: row {row + 1} of the numbers is not finite, or beyond {LARGEST:g}"
        )
    for name in found.names:
        if not name.isascii() and any(0xD800 <= ord(letter) <= 0xDFFF for letter in name):
            raise SuppleError(f"{path}: the name {name!r:.40} holds a lone surrogate")
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
    ending = named(path).suffix.lower()
    if ending == ".csv":
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["t", *found.names])
        for t, x in zip(found.t, found.positions, strict=True):
            rows.writerow([repr(float(value)) for value in (t, *x)])
        return write_text(path, out.getvalue())
    columns = {"positions": found.positions}
    for key in ("velocities", "accelerations")[: found.rates]:
        slopes = np.gradient(columns[[*columns][-1]], found.t, axis=0)
        slopes[[0, -1]] = 0.0  # at rest
        columns[key] = slopes
    points: list[dict[str, Any]] = []
    for k, t in enumerate(found.t):
        nanoseconds = round(float(t) * 1e9)
        stamp = {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}
        each = {key: column[k].tolist() for key, column in columns.items()}
        points.append({**each, "time_from_start": stamp})
    message = {**found.header, "joint_names": list(found.names), "points": points}
    if ending == ".json":
        return write_text(path, json.dumps(message))
    import yaml

    return write_text(path, yaml.safe_dump(message, sort_keys=False))
