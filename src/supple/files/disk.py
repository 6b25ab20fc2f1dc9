"""The disk itself: what is written, made and read by name, its troubles told in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError

if TYPE_CHECKING:
    import xarray

__all__ = ["make_folder", "read_dataset", "read_table", "write_text", "writing"]


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[Path]:
    """Give the place to write to; what the disk refuses becomes a sentence."""
    try:
        yield Path(path)
    except OSError as problem:
        raise SuppleError(f"cannot write {path}: {problem.strerror or problem}") from None


def write_text(path: str | PathLike[str], text: str) -> Path:
    """Write text as UTF-8 and return its place."""
    with writing(path) as place:
        place.write_text(text, encoding="utf-8")
    return place


def make_folder(path: str | Path) -> Path:
    """Make a folder, and those above it, unless it is there."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SuppleError(f"cannot make {path}: {problem.strerror or problem}") from None
    return Path(path)


def read_table(path: str | Path, what: str, form: str) -> NDArray[np.float64]:
    """Return the numbers of a CSV file below its header; `what` and `form` say what it holds."""
    try:
        rows: NDArray[np.float64] = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    except (OSError, ValueError) as problem:
        why = str(problem).rstrip(".")
        raise SuppleError(f"cannot read {what} from {path}: {why}; give {form}") from None
    return rows


def read_dataset(path: str | Path, what: str) -> xarray.Dataset:
    """Return all of a netCDF file."""
    import xarray

    try:
        opened: Any = xarray.open_dataset(path)
        with opened:
            data: xarray.Dataset = opened.load()
    except (OSError, ValueError) as problem:
        raise SuppleError(f"cannot read {path} as {what}: {problem}") from None
    return data
