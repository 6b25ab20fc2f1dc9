"""The disk itself: what is written, made and read by name, its troubles told in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import W_OK, PathLike, access
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError

if TYPE_CHECKING:
    import xarray

__all__ = ["check_place", "make_folder", "read_dataset", "read_table", "write_text", "writing"]


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[Path]:
    """Give the place to write to; what the disk refuses becomes a sentence."""
    try:
        yield Path(path)
    except OSError as problem:
        raise SuppleError(f"cannot write {path}: {problem.strerror or problem}") from None


def check_place(path: str | PathLike[str]) -> Path:
    """Return the place of a file to write, refused in a sentence before anything is computed."""
    place = Path(path)
    if not place.parent.is_dir():
        raise SuppleError(f"cannot write {path}: there is no folder {place.parent}")
    if place.is_dir():
        raise SuppleError(f"cannot write {path}: it is a folder; give the name of a file in it")
    if not access(place if place.exists() else place.parent, W_OK):
        raise SuppleError(f"cannot write {path}: this place is not yours to write; try another")
    return place


def write_text(path: str | PathLike[str], text: str) -> Path:
    """Write text as UTF-8 and return its place."""
    with writing(path) as place:
        place.write_text(text, encoding="utf-8")
    return place


def make_folder(path: str | Path) -> Path:
    """Make a folder, and those above it, unless it is there."""
    if Path(path).exists() and not Path(path).is_dir():
        raise SuppleError(f"cannot make the folder {path}: it is a file; give another name")
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
