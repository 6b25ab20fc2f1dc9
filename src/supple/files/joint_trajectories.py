"""Joint trajectories as robots get them: CSV, ROS JointTrajectory in YAML or JSON, MCAP logs.

CSV: first column `t` in seconds, then one column a joint. The header names the joints, each with a
unit where it is another than rad or m (`elbow [deg]`); without a header, or with plain numbers in
it, joints have no names and go by position. A JointTrajectory holds
`joint_names` and `points` with `positions` and `time_from_start` (`sec`, `nanosec`, or `secs`,
`nsecs`, or a number of seconds).
"""

from __future__ import annotations

import csv
import io
import json
from array import array
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RobotError, SuppleError
from .data import checked_lines
from .disk import as_path, write_text
from .reading import read_yaml

__all__ = ["WRITABLE", "JointTrajectory", "read_joint_trajectory", "write_joint_trajectory"]

Array = NDArray[np.float64]
WRITABLE = (".csv", ".json", ".yaml", ".yml")
MAX_BYTES = 200_000_000  # bytes
MAX_VALUES = 2_000_000  # values in YAML and JSON
LARGEST_NUMBER = 1e12  # s, rad or m
UNITS = {"rad": 1.0, "deg": np.pi / 180, "m": 1.0, "cm": 1e-2, "mm": 1e-3}
FORM = "a CSV file whose first column is t in seconds, then one column for each joint"


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Positions over time, with the names of the joints.

    Attributes
    ----------
    names
        Of the joints.
    t
        (N,) s, rising.
    positions
        (N, joints).
    header
        What else a ROS message held, kept for writing.
    velocities, accelerations
        (N, joints) of a ROS message whose points all have them; written where they are given.
    """

    names: tuple[str, ...]
    t: Array
    positions: Array
    header: dict[str, Any] = field(default_factory=dict)
    velocities: Array | None = None
    accelerations: Array | None = None

    @property
    def named(self) -> bool:
        """Whether its joints have names: plain numbers are places."""
        return not all(name.isdecimal() for name in self.names)

    @property
    def duration(self) -> float:
        """From the first time to the last, s."""
        return float(self.t[-1] - self.t[0])


def read_joint_trajectory(path: str | PathLike[str]) -> JointTrajectory:
    """Return the joint trajectory of a file, every fault told in one sentence."""
    ending = as_path(path).suffix.lower()
    if ending == ".mcap":
        return _check_consistency(path, _from_mcap(path))
    raw = _bytes(path)
    if ending not in (".json", ".yaml", ".yml"):
        return _check_consistency(path, _from_csv(path, raw))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SuppleError(f"{path} is not text (UTF-8): give {FORM}") from None
    if ending == ".json":
        return _check_consistency(path, _from_message(path, _json(path, text)))
    try:
        document = read_yaml(text, limit=MAX_VALUES)
    except RobotError as problem:
        raise SuppleError(f"{path} is no JointTrajectory: {problem}") from None
    if document.faults:
        raise SuppleError(f"{path} is no JointTrajectory: {document.faults[0].sentence}")
    return _check_consistency(path, _from_message(path, document.data))


def _from_csv(path: str | PathLike[str], raw: bytes) -> JointTrajectory:
    """A table of numbers under a header, read row by row: cells are never all in memory."""
    names: list[str] = []
    values = array("d")
    scales: Any = 1.0
    number = 0
    try:
        for row in csv.reader(checked_lines(raw)):
            if not row or not "".join(row).strip():
                continue
            number += 1
            if number == 1:
                header, scales = _header(path, [cell.strip() for cell in row])
                if header is not None:
                    names = header
                    continue
                names = [str(column) for column in range(len(row))]
            try:
                numbers = [float(cell) for cell in row]
            except ValueError:
                raise SuppleError(
                    f"{path}: row {number} holds '{','.join(row):.60}', which are not all numbers: "
                    f"give {FORM}"
                ) from None
            if len(row) != len(names):
                raise SuppleError(
                    f"{path}: row {number} has {len(row)} values, the header has {len(names)}"
                )
            values.extend(numbers)
    except UnicodeDecodeError:
        raise SuppleError(f"{path} is not text (UTF-8): give {FORM}") from None
    except SuppleError:  # which is a ValueError too
        raise
    except (csv.Error, ValueError) as problem:
        raise SuppleError(f"{path} is no CSV file: {problem}; give {FORM}") from None
    if not names:
        raise SuppleError(f"{path} is empty: give {FORM}")
    table = np.array(values).reshape(-1, len(names))
    return JointTrajectory(tuple(names[1:]), table[:, 0], table[:, 1:] * scales)


def _header(path: str | PathLike[str], cells: list[str]) -> tuple[list[str] | None, Any]:
    """Names of the columns, None without a header, and by what each joint's values are scaled."""
    try:
        [float(cell) for cell in cells]
    except ValueError:
        pass
    else:
        if len(cells) < 2:
            raise SuppleError(f"{path}: the first line is '{','.join(cells):.60}': give {FORM}")
        return None, 1.0
    if len(cells) == 1 and ";" in cells[0]:
        raise SuppleError(
            f"{path}: the first line is '{cells[0]:.60}', with semicolons: separate columns by "
            "commas, and write a point for the decimal comma"
        )
    if cells[0].lower().removesuffix("[s]").strip() not in ("t", "time") or len(cells) < 2:
        raise SuppleError(f"{path}: the first line is '{','.join(cells):.60}': give {FORM}")
    names = [cells[0]]
    scales = []
    for place, cell in enumerate(cells[1:], start=1):
        name, bracket, unit = cell.partition("[") if cell.endswith("]") else (cell, "", "")
        if bracket and unit.rstrip("] ").strip() not in UNITS:
            raise SuppleError(
                f"{path}: column '{cell:.40}' has a unit that is not known here: give one of "
                f"{', '.join(UNITS)}, as in 'elbow [deg]'"
            )
        names.append(name.strip() or str(place))
        scales.append(UNITS[unit.rstrip("] ").strip()] if bracket else 1.0)
    return names, np.array(scales)


def _bytes(path: str | PathLike[str]) -> bytes:
    """Everything in a file, unless it is no regular file or beyond the limit of size."""
    place = as_path(path)
    if place.exists() and not place.is_file():
        raise SuppleError(f"{path} is not a file: give {FORM}")
    try:
        if place.stat().st_size > MAX_BYTES:
            raise SuppleError(f"{path} is larger than {MAX_BYTES // 10**6} MB: split it")
        return place.read_bytes()
    except (OSError, ValueError) as problem:  # ValueError: a name that no file can have
        why = getattr(problem, "strerror", None) or problem
        raise SuppleError(f"cannot read {path}: {why}") from None


def _json(path: str | PathLike[str], text: str | bytes) -> Any:
    raw = text if isinstance(text, bytes) else text.encode(errors="replace")
    if raw.count(b",") + raw.count(b"[") + raw.count(b"{") > MAX_VALUES:
        # as Python objects they take fifty times the memory of the text
        raise SuppleError(
            f"{path} holds more than {MAX_VALUES:,} values: split it, or write it as CSV"
        )
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
    names = message.get("joint_names")
    points = message.get("points")
    are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
    need(are_names and len(names) > 0, "key joint_names is missing, or holds no names")
    need(isinstance(points, list), "key points is missing, or no list")
    t = []
    positions = []
    columns: dict[str, list[Any]] = {"velocities": [], "accelerations": []}
    for k, point in enumerate(points):
        need(isinstance(point, dict), f"point {k + 1} is no mapping")
        stamp = point.get("time_from_start")
        place = point.get("positions")
        if isinstance(stamp, dict):
            seconds: Any = stamp.get("sec", stamp.get("secs", 0))
            part: Any = stamp.get("nanosec", stamp.get("nsecs", 0))
            stamp = seconds + 1e-9 * part if _number(seconds) and _number(part) else None
        need(_number(stamp), f"time_from_start of point {k + 1} is missing, or no number")
        need(
            isinstance(place, list) and all(map(_number, place)),
            f"positions of point {k + 1} are missing, or not all numbers",
        )
        need(len(place) == len(names), f"{len(names)} joints, but point {k + 1} has {len(place)}")
        t.append(float(stamp))
        positions.append([float(value) for value in place])
        for key, each in columns.items():
            given = point.get(key)
            if isinstance(given, list) and len(given) == len(names) and all(map(_number, given)):
                each.append(given)
    rates = [bool(t) and len(each) == len(t) for each in columns.values()]
    velocities = np.array(columns["velocities"], float) if rates[0] else None
    accelerations = np.array(columns["accelerations"], float) if all(rates) else None
    header = {key: value for key, value in message.items() if key != "points"}
    table = np.array(positions, float).reshape(len(t), len(names))
    return JointTrajectory(tuple(names), np.array(t), table, header, velocities, accelerations)


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
    seen = set()
    raw = _bytes(path)
    try:
        total = 0
        for part in StreamReader(io.BytesIO(raw), emit_chunks=True).records:
            if isinstance(part, Chunk):
                total += max(
                    part.uncompressed_size, _uncompressed_size(part.compression, part.data)
                )
                if total > MAX_BYTES:
                    description = f"unpacks to more than {MAX_BYTES // 10**6} MB"
                    raise SuppleError(f"{path} {description}: split it")
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
    description = ", ".join(sorted(seen)) or "no messages"
    raise SuppleError(f"{path} holds no JointTrajectory encoded as JSON, but {description:.200}")


def _uncompressed_size(compression: str, data: bytes) -> int:
    """Bytes that a compressed chunk will take; a few bytes can claim any memory."""
    if compression == "zstd":
        import zstandard

        if zstandard.frame_content_size(data) > MAX_BYTES:  # so much would be allocated
            return MAX_BYTES + 1
        stream = zstandard.ZstdDecompressor().stream_reader(data)
        size = 0
        while size <= MAX_BYTES and (part := stream.read(1 << 20)):  # counted, and not kept
            size += len(part)
        return size
    if compression == "lz4":
        import lz4.frame

        opened: Any = lz4.frame.LZ4FrameDecompressor()
        size = len(opened.decompress(data, max_length=1 << 20))
        while size <= MAX_BYTES and not opened.needs_input and not opened.eof:
            size += len(opened.decompress(b"", max_length=1 << 20))
        return size
    return len(data)


def _check_consistency(path: str | PathLike[str], found: JointTrajectory) -> JointTrajectory:
    if len(found.t) < 2:
        raise SuppleError(f"{path} has {len(found.t)} rows of numbers: a move needs two or more")
    if not found.names:
        raise SuppleError(f"{path} names no joint: a move needs one or more")
    more = [] if found.velocities is None else [found.velocities]
    table = np.column_stack([found.t, found.positions, *more])
    large = ~(np.abs(table) <= LARGEST_NUMBER)
    if large.any():
        row = int(np.flatnonzero(large.any(axis=1))[0])
        raise SuppleError(
            f"{path}: row {row + 1} of the numbers is not finite, or beyond {LARGEST_NUMBER:g}"
        )
    for name in found.names:
        if not name.isascii() and any(0xD800 <= ord(letter) <= 0xDFFF for letter in name):
            raise SuppleError(f"{path}: the name {name!r:.40} holds a lone surrogate")
    back = np.flatnonzero(np.diff(found.t) <= 0)
    if len(back):
        k = int(back[0])
        raise SuppleError(
            f"{path}: time does not rise from {found.t[k]:g} s to {found.t[k + 1]:g} "
            f"s (row {k + 2} of the numbers): sort the rows, or mend the column t"
        )
    return found


def write_joint_trajectory(path: str | PathLike[str], found: JointTrajectory) -> Path:
    """Write a joint trajectory by the ending of its name: .csv, .json, .yaml."""
    ending = as_path(path).suffix.lower()
    if ending == ".csv":
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["t", *found.names])
        for t, x in zip(found.t, found.positions, strict=True):
            rows.writerow([repr(float(value)) for value in (t, *x)])
        return write_text(path, out.getvalue())
    columns = {"positions": found.positions}
    if found.velocities is not None:
        columns["velocities"] = found.velocities
        if found.accelerations is not None:
            columns["accelerations"] = found.accelerations
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
