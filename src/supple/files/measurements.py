"""Tables of measurements: a header line, then rows of numbers and words."""

from __future__ import annotations

import io
from os import PathLike
from typing import Any

import numpy as np

from ..errors import SuppleError
from .data import TABLE_LIMIT, read_bytes
from .disk import as_path

__all__ = ["read_measurements"]


def read_measurements(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the columns of a CSV file by name: numbers as float arrays, words as lists.

    Lines that begin with # are comments; an empty cell is NaN, or an empty word.
    """
    import pandas

    place = as_path(path)
    if not place.exists():
        raise SuppleError(f"cannot read {path}: there is no such file")
    if not place.is_file():
        raise SuppleError(f"cannot read {path}: it is not a file")
    raw = read_bytes(path, TABLE_LIMIT + 1)
    if len(raw) > TABLE_LIMIT:
        raise SuppleError(f"{path} holds more than {TABLE_LIMIT // 10**6} MB: split it")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SuppleError(f"{path} is not text (UTF-8): give a CSV file with a header") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) < 2:
        raise SuppleError(f"{path} has no rows: give a header line and a row per measurement")
    first = lines[0]
    separator = max((",", ";", "\t"), key=first.count)
    try:
        table = pandas.read_csv(
            io.StringIO("\n".join(lines)), sep=separator, skipinitialspace=True, index_col=False
        )
    except (pandas.errors.ParserError, ValueError) as problem:
        raise SuppleError(f"{path} is no table: {problem}") from None
    columns: dict[str, Any] = {}
    for name in table.columns:
        column = table[name]
        word = str(name).strip()
        if column.dtype.kind in "fiub":
            columns[word] = column.to_numpy(float)
        else:
            columns[word] = [_cell(value) for value in column]
    if all(_is_number(name) for name in columns):
        raise SuppleError(f"{path} has no header: its first line must name the columns")
    return columns


def _cell(value: Any) -> str:
    return "" if isinstance(value, float) and np.isnan(value) else str(value).strip()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
