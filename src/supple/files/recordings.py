"""Recordings of sensors: text tables of any header, MAT, UFF-58, TDMS and MCAP files.

Every reader returns plain columns by name. What they mean (which one is time, which one frequency)
is decided in one place, `as_recording`, so that a file and a mapping of arrays are read alike.
A new format is one function and one line of `READERS`.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from .data import MOST_COLUMNS, TABLE_LIMIT, UNPACKED_LIMIT, UNPACKED_RATIO, read_bytes
from .disk import as_path

__all__ = ["READERS", "RawTable", "Recording", "as_recording", "read_columns", "read_recording"]

Array = NDArray[np.float64]
TIME_WORDS = ("t", "time", "timestamp", "zeit", "x_value", "seconds", "sec")
FREQUENCY_WORDS = ("f", "freq", "frequency", "frequency_hz", "freqs", "frequencies", "hz")
SPECTRUM_WORDS = ("fft", "psd", "spectrum", "spectral")
SECONDS = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "\u00b5s": 1e-6, "ns": 1e-9}
LONGEST_LINE = 1_000_000  # characters of a line at the beginning of a text file
HEADER_LINES = 400  # lines of a text file among which its first row of numbers must stand
RATE = re.compile(r"sampl\w*[ _]*(?:freq\w*|rate)[^0-9]{0,20}([0-9][0-9.eE+]*)", re.IGNORECASE)


@dataclass(frozen=True)
class RawTable:
    """Columns of a file as they stand there.

    Attributes
    ----------
    columns
        (N,) each, by name.
    rate
        Samples per second, where the file says so.
    notes
        What the reader has to say.
    """

    columns: Mapping[str, Array]
    rate: float | None = None
    notes: tuple[str, ...] = ()
    unnamed: bool = False


@dataclass(frozen=True)
class Recording:
    """Channels over time, or over frequency.

    Attributes
    ----------
    name
        Where it came from.
    x
        (N,) s, or Hz where `spectrum` is True.
    channels
        (N,) each, by name.
    notes
        Sentences about what was found in it.
    """

    name: str
    x: Array
    channels: Mapping[str, Array]
    spectrum: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def rate(self) -> float:
        """Samples per second."""
        return float((len(self.x) - 1) / (self.x[-1] - self.x[0]))


def read_columns(path: str | PathLike[str]) -> RawTable:
    """Return the columns of a file, read by the ending of its name; unknown endings are text."""
    place = as_path(path)
    if not place.exists():
        raise SuppleError(f"cannot read {path}: there is no such file")
    if place.is_dir():
        raise SuppleError(f"cannot read {path}: it is a folder; give the name of a file in it")
    reader = READERS.get(place.suffix.lower(), read_text_table)
    return reader(str(path))


def read_recording(path: str | PathLike[str], rate: float | None = None) -> Recording:
    """Return the recording in a file."""
    return as_recording(str(path), read_columns(path), rate)


def as_recording(name: str, table: RawTable, rate: float | None = None) -> Recording:
    """Tell time, or frequency, from channels, and check what must be right before any use."""
    notes = list(table.notes)
    columns = dict(table.columns)
    axis, spectrum, factor = _find_axis(columns, table.unnamed)
    if axis is None and rate is None:
        rate = table.rate
        if rate is not None:
            notes.append(f"the file says {rate:g} samples per second")
    if axis is None and rate is None:
        raise SuppleError(
            f"{name} has no time column (columns: {', '.join(columns):.120}): name one 't' or "
            "'time', or give the sampling rate (rate=, --rate)"
        )
    if axis is not None and (rate is None or spectrum):
        x = factor * columns.pop(axis)
    else:
        if axis is not None:
            columns.pop(axis)
            notes.append(f"column '{axis}' is passed over: the sampling rate was given")
        x = np.arange(len(next(iter(columns.values()), ()))) / float(rate or 1.0)
    if not columns:
        raise SuppleError(f"{name} has a time column and nothing else: give at least one channel")
    if len(x) < 16:
        raise SuppleError(f"{name} has {len(x)} rows: a recording needs 16 or more")
    _check_axis(name, x, "frequency" if spectrum else "time")

    channels: dict[str, Array] = {}
    for channel, values in columns.items():
        bad = ~np.isfinite(values)
        if bad.all():
            notes.append(f"channel '{channel}' holds no numbers and is left out")
            continue
        if bad.any():
            row = int(np.flatnonzero(bad)[0]) + 1
            raise SuppleError(
                f"{name}: channel '{channel}' is not a finite number in {int(bad.sum())} of "
                f"{len(bad)} rows, first in row {row} of the numbers: cut the recording there, "
                "leave the channel out (channels=), or fill the gap"
            )
        channels[channel] = values
    if not channels:
        raise SuppleError(f"{name} holds no channel with numbers")
    first = next(iter(channels))
    if not spectrum:
        interval = float(np.median(np.diff(x[:1001])))
        if interval >= 0.5 and len(x) > 1000:
            notes.append(
                f"time rises by {interval:g} s from row to row: if these are milliseconds, name "
                "the column 'time [ms]'"
            )
    spectrum = spectrum or any(word in first.lower() for word in SPECTRUM_WORDS)
    return Recording(name, x, channels, spectrum, tuple(notes))


def _find_axis(columns: Mapping[str, Array], unnamed: bool) -> tuple[str | None, bool, float]:
    """Return the column of time or frequency, whether it is frequency, and its unit in SI."""
    for name in columns:
        word, unit = _split_unit(name)
        if word in TIME_WORDS or word.startswith("time"):
            spectrum = unit == "hz"
            return name, spectrum, SECONDS.get(unit, 1.0)
        if word in FREQUENCY_WORDS or word.startswith("freq"):
            return name, True, 1e3 if unit == "khz" else 1.0
    # a matrix without names: its first column is time where it rises evenly
    first = next(iter(columns), None)
    if unnamed and first is not None and len(columns) > 1:
        steps = np.diff(columns[first])
        even = len(steps) > 1 and steps.min() > 0 and np.ptp(steps) < 0.1 * abs(steps.mean())
        if even:
            return first, False, 1.0
    return None, False, 1.0


def _split_unit(name: str) -> tuple[str, str]:
    """Return a column's word and unit, lower case: `Time [ms]`, `time(ms)` and `time_ms`."""
    text = name.strip().lstrip("#").strip().lower()
    found = re.fullmatch(r"(.*?)\s*[\[(]\s*(.*?)\s*[\])]", text)
    if found:
        return found.group(1).strip(), found.group(2)
    head, _, tail = text.rpartition("_")
    if head and tail in SECONDS:
        return head, tail
    return text, ""


def _check_axis(name: str, x: Array, what: str) -> None:
    """Raise where time or frequency is no number, or does not rise."""
    if not np.isfinite(x).all():
        row = int(np.flatnonzero(~np.isfinite(x))[0]) + 1
        raise SuppleError(f"{name}: {what} is not a number in row {row} of the numbers")
    back = np.flatnonzero(np.diff(x) <= 0)
    if len(back):
        k = int(back[0])
        raise SuppleError(
            f"{name}: {what} goes from {x[k]:.9g} to {x[k + 1]:.9g} in row {k + 2} of the numbers: "
            "it must rise; sort the rows, or cut the recording there"
        )


def read_text_table(path: str) -> RawTable:
    """Return a table of text: commas, semicolons, tabs or blanks; any header before it."""
    raw = read_bytes(path, TABLE_LIMIT + 1)
    if len(raw) > TABLE_LIMIT:
        raise SuppleError(f"{path} holds more than {TABLE_LIMIT // 10**6} MB: split it")
    encoding = _text_encoding(path, raw)
    lines = _first_lines(path, raw, encoding)
    start, separator = _first_numbers(path, lines)
    width = len(_cells(lines[start], separator))
    if width > MOST_COLUMNS:
        raise SuppleError(f"{path} has {width:,} columns, at most {MOST_COLUMNS:,} are read")

    # The highest of the few lines above the numbers that has a word for every column: units may
    # stand in a line of their own below the names.
    names: list[str] = []
    for line in reversed(lines[max(0, start - 5) : start]):
        words = [word.strip().strip('"').lstrip("#").strip() for word in _cells(line, separator)]
        words = words[:width]
        if len(words) == width and all(words) and not any(map(_is_number, words)):
            names = words
        elif names:
            break
    unnamed = not names
    if unnamed:
        names = [f"column {k + 1}" for k in range(width)]
    for k, name in enumerate(names):
        if name in names[:k]:
            names[k] = f"{name} ({k + 1})"

    decimal_comma = separator == ";" and "," in lines[start]
    columns = None
    if not decimal_comma:
        columns = _plain_columns(_text_lines(raw, encoding, start), separator, names)
    if columns is None:
        numbers = _text_lines(raw, encoding, start)
        columns = _patchy_columns(path, numbers, separator, names, decimal_comma)
    return RawTable(columns, _stated_rate(lines[:start]), unnamed=unnamed)


def _text_encoding(path: str, raw: bytes) -> str:
    """Return the encoding of a text file: UTF-8, or Latin-1 where it is not; refuse other files."""
    if b"\0" in raw[:4096]:
        raise SuppleError(
            f"{path} is neither text nor a known format ({', '.join(READERS)}): export it as CSV"
        )
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _first_lines(path: str, raw: bytes, encoding: str) -> list[str]:
    """Return the lines among which the first row of numbers must stand."""
    text = _text_lines(raw, encoding)
    lines: list[str] = []
    while len(lines) < HEADER_LINES:
        line = text.readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise SuppleError(
                f"{path}: line {len(lines) + 1} is longer than {LONGEST_LINE:,} characters: give a "
                "table with one row per sample"
            )
        if not line:
            break
        lines.append(line)
    return lines


def _stated_rate(header: list[str]) -> float | None:
    """Return the sampling rate that a header states in words, None where it states none."""
    found = RATE.search("".join(header))
    if found is None:
        return None
    try:
        return float(found.group(1)) or None
    except ValueError:
        return None


def _text_lines(raw: bytes, encoding: str, skipped: int = 0) -> io.TextIOWrapper:
    """Return the lines of a text from one on, decoded as they are read.

    A string of the whole text in memory would take up to four times the size of the file.
    """
    lines = io.TextIOWrapper(io.BytesIO(raw), encoding=encoding, newline="\n")
    for _ in range(skipped):
        next(lines)
    return lines


def _plain_columns(
    lines: io.TextIOWrapper, separator: str, names: list[str]
) -> dict[str, Array] | None:
    """Return the columns of a table that is numbers throughout, None where it is not."""
    delimiter = None if separator == " " else separator
    try:
        table = np.loadtxt(
            lines,
            delimiter=delimiter,
            comments=None,
            usecols=range(len(names)),
            ndmin=2,
        )
    except (ValueError, OverflowError):
        return None
    if len(names) == 1:
        return {names[0]: table[:, 0]}  # no copy: a long recording takes much memory already
    return {name: table[:, k].copy() for k, name in enumerate(names)}


def _patchy_columns(
    path: str, lines: io.TextIOWrapper, separator: str, names: list[str], decimal_comma: bool
) -> dict[str, Array]:
    """Return the columns of a table with gaps, quotes or decimal commas; a gap is NaN."""
    import pandas

    try:
        table = pandas.read_csv(
            lines,
            sep=r"\s+" if separator == " " else separator,
            header=None,
            names=range(len(names)),
            index_col=False,
            usecols=range(len(names)),
            skipinitialspace=True,
            decimal="," if decimal_comma else ".",
            low_memory=False,
        )
    except (pandas.errors.ParserError, ValueError) as problem:
        raise SuppleError(f"{path} is no table of numbers: {problem}") from None
    columns: dict[str, Array] = {}
    for k, name in enumerate(names):
        column = table[k]
        if column.dtype.kind not in "fiu":
            numbers = pandas.to_numeric(column, errors="coerce")
            wrong = np.flatnonzero(numbers.isna() & column.notna())
            if len(wrong):
                row = int(wrong[0])
                raise SuppleError(
                    f"{path}: row {row + 1} of the numbers holds '{column[row]!s:.40}' in column "
                    f"'{name}': give numbers"
                )
            column = numbers
        columns[name] = column.to_numpy(float)
    return columns


def _cells(line: str, separator: str) -> list[str]:
    cells = line.split() if separator == " " else line.rstrip("\r\n").split(separator)
    while cells and not cells[-1].strip():
        cells.pop()  # an empty cell at the end, as LabVIEW writes it
    return cells


def _first_numbers(path: str, lines: list[str]) -> tuple[int, str]:
    """Return where the numbers begin, and what separates them."""
    for k, line in enumerate(lines):
        if not line.strip():
            continue
        for separator in (",", ";", "\t", " "):
            cells = _cells(line, separator)
            decimal_comma = separator == ";"
            if cells and all(_is_number(cell, decimal_comma) for cell in cells):
                following = _cells(lines[k + 1] if k + 1 < len(lines) else line, separator)
                alike = len(following) == len(cells)
                if alike and all(_is_number(cell, decimal_comma) for cell in following):
                    return k, separator
    raise SuppleError(
        f"{path} holds no rows of numbers: give a table with one row per sample, columns "
        "separated by commas"
    )


def _is_number(cell: str, decimal_comma: bool = False) -> bool:
    text = cell.strip()
    if not text:
        return True
    try:
        float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return False
    return True


def read_mat(path: str) -> RawTable:
    """Return the arrays of a MATLAB file (version 7 and older) as columns."""
    from scipy.io import loadmat, whosmat

    raw = read_bytes(path, TABLE_LIMIT + 1)
    if raw[:64].startswith(b"MATLAB 7.3") or raw[1:4] == b"HDF":
        raise SuppleError(f"{path} is a MAT file of version 7.3: save it with -v7")
    try:
        sizes = [math.prod(shape) for _, shape, _ in whosmat(io.BytesIO(raw))]
        if 8 * sum(sizes) > max(UNPACKED_LIMIT, UNPACKED_RATIO * len(raw)):
            raise SuppleError(
                f"{path} holds {sum(sizes):,} numbers in {len(raw):,} bytes: that is no recording; "
                "save it without compression (-v6) if it is"
            )
        content = loadmat(io.BytesIO(raw))
    except SuppleError:
        raise
    except Exception as problem:  # noqa: BLE001 - what foreign bytes raise there is not listed
        raise SuppleError(f"{path} is not a readable MAT file: {problem}") from None
    arrays: dict[str, Array] = {}
    rate = None
    for name, value in content.items():
        if name.startswith("__") or not isinstance(value, np.ndarray):
            continue
        if value.dtype.kind not in "fiub" or value.ndim != 2:
            continue
        if value.size == 1:
            if RATE.match(name.replace("_", " ") + " 1") or name.lower() in ("fs", "rate"):
                rate = float(value.item())
            continue
        arrays[name] = np.asarray(value if value.shape[0] >= value.shape[1] else value.T, float)
    if not arrays:
        raise SuppleError(f"{path} holds no arrays of numbers")
    length = max(len(value) for value in arrays.values())
    columns: dict[str, Array] = {}
    for name, value in arrays.items():
        if len(value) != length:
            continue
        for k in range(value.shape[1]):
            columns[name if value.shape[1] == 1 else f"{name}.{k + 1}"] = value[:, k]
    return RawTable(columns, rate, unnamed=True)


def read_uff(path: str) -> RawTable:
    """Return the data sets 58 of a universal file (needs the extra `recordings`)."""
    try:
        import pyuff
    except ImportError:
        raise SuppleError("reading UFF needs the extra: pip install supple[recordings]") from None
    try:
        file = pyuff.UFF(path)
        sets = [file.read_sets(k) for k, kind in enumerate(file.get_set_types()) if int(kind) == 58]
    except Exception as problem:  # noqa: BLE001 - the library raises what it meets
        raise SuppleError(f"{path} is not a readable universal file: {problem}") from None
    if not sets:
        raise SuppleError(f"{path} holds no data set 58 (functions at nodal points)")
    axis = np.asarray(sets[0]["x"], float)
    over_frequency = int(sets[0].get("abscissa_spec_data_type", 17)) == 18
    columns: dict[str, Array] = {"frequency" if over_frequency else "time": axis}
    for one in sets:
        values = np.asarray(one["data"])
        if len(values) != len(axis):
            continue
        word = f"node{one.get('rsp_node', 0)}.{one.get('rsp_dir', 0)}"
        name = word if word not in columns else f"{word} ({len(columns)})"
        columns[name] = np.abs(values) if np.iscomplexobj(values) else values.astype(float)
    return RawTable(columns)


def read_tdms(path: str) -> RawTable:
    """Return the channels of a TDMS file (needs the extra `recordings`)."""
    try:
        from nptdms import TdmsFile
    except ImportError:
        raise SuppleError("reading TDMS needs the extra: pip install supple[recordings]") from None
    try:
        file = TdmsFile.read(path)
        found = [
            (channel, np.asarray(channel[:])) for g in file.groups() for channel in g.channels()
        ]
    except Exception as problem:  # noqa: BLE001 - the library raises what it meets
        raise SuppleError(f"{path} is not a readable TDMS file: {problem}") from None
    numbers = [(c, v) for c, v in found if v.dtype.kind in "fiu" and v.ndim == 1 and len(v)]
    if not numbers:
        raise SuppleError(f"{path} holds no channel of numbers")
    length = max(len(values) for _, values in numbers)
    rate = None
    columns: dict[str, Array] = {}
    for channel, values in numbers:
        if len(values) == length:
            columns[channel.name] = values.astype(float)
            increment = channel.properties.get("wf_increment")
            rate = 1 / float(increment) if increment else rate
    return RawTable(columns, rate)


def read_mcap(path: str) -> RawTable:
    """Return the numbers of JSON messages in an MCAP log (needs the extra `mcap`).

    The topic with the most messages is taken; nested fields are named by their path.
    """
    try:
        from mcap.reader import make_reader
    except ImportError:
        raise SuppleError("reading .mcap needs the extra: pip install supple[mcap]") from None
    raw = read_bytes(path, TABLE_LIMIT + 1)
    topics: dict[str, list[tuple[float, dict[str, float]]]] = {}
    try:
        for _, channel, record in make_reader(io.BytesIO(raw)).iter_messages():
            if channel.message_encoding == "json":
                numbers = dict(_numbers_in(json.loads(record.data)))
                topics.setdefault(channel.topic, []).append((1e-9 * record.log_time, numbers))
    except Exception as problem:  # noqa: BLE001 - the library raises its own family of errors
        raise SuppleError(f"{path} is not a readable MCAP log: {problem}") from None
    if not topics:
        raise SuppleError(f"{path} holds no messages encoded as JSON: export the topic as CSV")
    topic = max(topics, key=lambda name: len(topics[name]))
    rows = topics[topic]
    names = [name for name in rows[0][1] if all(name in row for _, row in rows)]
    times = np.array([t for t, _ in rows])
    columns = {"time": times - times[0]}
    for name in names:
        if not name.startswith("header."):
            columns[name] = np.array([row[name] for _, row in rows])
    others = len(topics) - 1
    notes = (f"topic {topic} is read, {others} others are not",) if others else ()
    return RawTable(columns, None, notes)


def _numbers_in(message: Any, path: str = "") -> list[tuple[str, float]]:
    """Every number of a message, with its path."""
    if isinstance(message, bool):
        return []
    if isinstance(message, int | float):
        return [(path, float(message))]
    inside: list[tuple[str, float]] = []
    if isinstance(message, dict):
        for key, part in message.items():
            inside += _numbers_in(part, f"{path}.{key}" if path else str(key))
    return inside


READERS: dict[str, Callable[[str], RawTable]] = {
    ".csv": read_text_table,
    ".txt": read_text_table,
    ".dat": read_text_table,
    ".lvm": read_text_table,
    ".mat": read_mat,
    ".uff": read_uff,
    ".unv": read_uff,
    ".tdms": read_tdms,
    ".mcap": read_mcap,
}
