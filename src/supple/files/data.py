"""Data by name: bytes and tables in, netCDF in and out; bounded in size and in time."""

from __future__ import annotations

import io
import json
import math
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SuppleError
from ..on_demand import ModuleOnDemand
from .disk import as_path, check_place, writing

if TYPE_CHECKING:
    import numpy as np
    import xarray
    from numpy.typing import NDArray
else:
    np = ModuleOnDemand("numpy")

__all__ = [
    "checked_lines",
    "netcdf_names",
    "read_bytes",
    "read_dataset",
    "read_table",
    "write_dataset",
]

TABLE_LIMIT = 200_000_000  # bytes of a CSV file
MOST_COLUMNS = 10_000  # of a CSV file
UNPACKED_LIMIT = 100_000_000  # bytes that any netCDF file may unpack to
UNPACKED_RATIO = 50  # times its own size that a larger one may unpack to
RENAMED = "supple_names"  # attribute of files: names as netCDF holds them, and as they are
PIPE_TIMEOUT = 10.0  # s in which a pipe or a terminal must give something
PROBE_TIME = 60.0  # s in which a file without a seal must be readable
SEAL_MARK = b"supple-seal-1\n"  # ends a file, followed by the SHA-256 of all before it


def read_bytes(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return what a file, pipe or device holds, never more than `limit` bytes of it.

    A pipe that nobody writes to raises TimeoutError instead of waiting for ever.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags)  # without O_NONBLOCK this line would wait for a pipe's writer
    try:
        regular = stat.S_ISREG(os.fstat(handle).st_mode) or os.name != "posix"
        parts = []
        size = 0
        while size < limit:
            if not regular:
                # Wait until there is something to read, or the writer has gone; not longer than
                # PATIENCE
                import select  # pipes with a name exist on POSIX only

                if not select.select([handle], [], [], PIPE_TIMEOUT)[0]:
                    raise TimeoutError(None, f"nothing came from it in {PIPE_TIMEOUT:g} s")
            part = os.read(handle, min(limit - size, 1 << 20))
            if not part:
                break
            parts.append(part)
            size += len(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def read_table(
    path: str | os.PathLike[str], what: str, form: str
) -> tuple[list[str], NDArray[np.float64]]:
    """Return the names of the columns of a CSV file and its numbers.

    `what` and `form` say what it holds. A file without a header has no names: its first line is
    numbers too.
    """
    try:
        raw = read_bytes(path, TABLE_LIMIT + 1)
        if len(raw) > TABLE_LIMIT:
            raise ValueError(f"it holds more than {TABLE_LIMIT // 10**6} MB")
        lines = checked_lines(raw)
        first_line = next((line for line in lines if line.strip()), "")
        names = [cell.strip().strip('"') for cell in first_line.split(",")]
        headless = all(map(_is_number, names))
        body = chain([first_line], lines) if headless else lines
        rows: NDArray[np.float64] = np.loadtxt(body, delimiter=",", ndmin=2)
    except (OSError, ValueError) as problem:
        why = str(getattr(problem, "strerror", None) or problem).rstrip(".")
        raise SuppleError(f"cannot read {what} from {path}: {why}; give {form}") from None
    if not headless and rows.size and rows.shape[1] != len(names):
        raise SuppleError(
            f"cannot read {what} from {path}: its header names {len(names)} columns, its rows have "
            f"{rows.shape[1]}; give {form}"
        )
    return ([] if headless else names), rows


def _is_number(text: str) -> bool:
    """Whether a cell holds a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def checked_lines(raw: bytes) -> Iterator[str]:
    """Yield the lines of a table as they are needed; ValueError at one with too many columns.

    A list of all cells would take fifty times the memory of the file.
    """
    for number, line in enumerate(io.TextIOWrapper(io.BytesIO(raw), "utf-8-sig"), start=1):
        if line.count(",") >= MOST_COLUMNS:
            raise ValueError(f"line {number} has more than {MOST_COLUMNS:,} columns")
        yield line


def write_dataset(data: xarray.Dataset, path: str | Path) -> None:
    """Write a Dataset as netCDF, sealed, whole or not at all.

    Names that netCDF cannot hold, such as `theta.arm/link` of a link from ROS, are written with
    percent signs; `read_dataset` gives them back as they were.
    """
    data = _with_netcdf_names(data)
    with writing(check_place(path)) as aside:
        try:
            data.to_netcdf(aside, engine="netcdf4")
        except RuntimeError as problem:  # how netCDF tells of a full disk
            raise SuppleError(f"cannot write {path}: {problem}; is the disk full?") from None
        seal(aside)


def netcdf_names(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Return names that netCDF can hold, none of them twice or among those that are taken.

    Slashes, percent signs, what cannot be printed and what is not the usual form of its letters
    (NFC) are written with percent signs, as in web addresses; a name that then begins strangely,
    or is taken, gets a line before it. Source: netCDF user's guide, "Permitted characters".
    """
    from unicodedata import is_normalized
    from urllib.parse import quote

    out = list(taken)
    for name in names:
        plain = is_normalized("NFC", name) and len(name.encode(errors="replace")) <= 80
        word = "".join(
            c if plain and c.isprintable() and c not in "/%" else quote(c, "", None, "replace")
            for c in name
        )[:240]
        if not (word[:1].isalnum() or word[:1] == "_"):
            word = "_" + word
        while word in out:
            word = "_" + word
        out.append(word)
    return out[len(taken) :]


def _with_netcdf_names(data: xarray.Dataset) -> xarray.Dataset:
    """Return the same Dataset under names that netCDF can hold, and a list of those changed."""
    names = list(dict.fromkeys([*map(str, data.variables), *map(str, data.sizes)]))
    words = netcdf_names(names, ())
    changed = {name: word for name, word in zip(names, words, strict=True) if name != word}
    attributes = list(map(str, data.attrs))
    as_written = dict(zip(attributes, netcdf_names(attributes, ()), strict=True))
    changed_attributes = {name: word for name, word in as_written.items() if name != word}
    if not changed and not changed_attributes:
        return data
    own_names = {
        "variables": {word: name for name, word in changed.items()},
        "attributes": {word: name for name, word in changed_attributes.items()},
    }
    renamed = data.rename(changed)
    renamed.attrs = {as_written[str(name)]: value for name, value in data.attrs.items()}
    renamed.attrs[RENAMED] = json.dumps(own_names)
    return renamed


def _with_own_names(data: xarray.Dataset) -> xarray.Dataset:
    """Return a Dataset that was read under the names that it had before it was written."""
    own_names = json.loads(str(data.attrs.pop(RENAMED, "{}")))
    variables, attributes = (dict(own_names.get(word, {})) for word in ("variables", "attributes"))
    known = {*data.variables, *data.sizes}
    data = data.rename({word: name for word, name in variables.items() if word in known})
    data.attrs = {attributes.get(str(word), word): value for word, value in data.attrs.items()}
    return data


def seal(path: Path) -> None:
    """Append a mark and the SHA-256 of a file to it, so that damage is found before it is parsed.

    HDF5 takes the length of a file from its head and ignores what follows.
    """
    import hashlib

    with open(path, "rb+") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
        file.seek(0, os.SEEK_END)
        file.write(SEAL_MARK + digest)


def read_dataset(path: str | Path, what: str) -> xarray.Dataset:
    """Return all of a netCDF file.

    HDF5 may loop or fall over damaged bytes, where no Python code can stop it. So a sealed file is
    compared with its seal before HDF5 sees it, and one without (another program's) is first read
    by a process of its own.
    """
    place = as_path(path)
    try:
        if not place.exists():
            raise SuppleError(f"cannot read {path} as {what}: there is no such file")
        if not place.is_file():
            raise SuppleError(f"cannot read {path} as {what}: it is not a file")
        sealed = _unbroken(place)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise SuppleError(f"cannot read {path} as {what}: {why}") from None
    if not sealed:
        _probe(path, what)
    import xarray

    try:
        _check_unpacked_size(path)
        opened: Any = xarray.open_dataset(path, engine="netcdf4")
        with opened:
            data: xarray.Dataset = _with_own_names(opened.load())
    except Exception as problem:  # noqa: BLE001 - what foreign bytes raise there is not listed
        raise SuppleError(f"cannot read {path} as {what}: {problem}") from None
    return data


def _unpacked_limit(path: str | Path) -> int:
    """Return how many bytes a netCDF file may unpack to."""
    return max(UNPACKED_LIMIT, UNPACKED_RATIO * os.path.getsize(path))


def _check_unpacked_size(path: str | Path) -> None:
    """Raise ValueError where variables, or their chunks, take far more memory than the file.

    What was never written, and what is compressed, can claim any size in a few bytes.
    """
    import netCDF4

    with netCDF4.Dataset(path) as data:
        size = 0
        for variable in data.variables.values():
            each = np.dtype(variable.dtype).itemsize if variable.dtype is not str else 64
            chunk = variable.chunking()
            shapes = [variable.shape, chunk if isinstance(chunk, list | tuple) else ()]
            size += each * max(math.prod(map(int, shape)) for shape in shapes)
    limit = _unpacked_limit(path)
    if size > limit:
        raise ValueError(
            f"it unpacks to {size / 1e9:.3g} GB, and at most {limit / 1e9:.3g} GB are read from a "
            "file of its size"
        )


def _unbroken(path: Path) -> bool:
    """Whether the file is sealed; ValueError where its bytes are not those that were sealed."""
    tail = len(SEAL_MARK) + 32
    from hashlib import sha256

    with open(path, "rb") as file:
        if not file.read(8):
            raise ValueError("it is empty")
        if os.fstat(file.fileno()).st_size < tail:
            return False
        file.seek(-tail, os.SEEK_END)
        end = file.read(tail)
        if end[: len(SEAL_MARK)] != SEAL_MARK:
            return False
        digest = sha256()
        left = file.seek(-tail, os.SEEK_END)
        file.seek(0)
        while left > 0 and (part := file.read(min(left, 1 << 20))):
            digest.update(part)
            left -= len(part)
    if digest.digest() != end[len(SEAL_MARK) :]:
        raise ValueError("the file is damaged: its bytes are not those that were written")
    return True


_PROBE = """
import math, sys, netCDF4
with netCDF4.Dataset(sys.argv[1]) as data:
    size = 0
    for variable in data.variables.values():
        each = getattr(variable.dtype, "itemsize", 64)
        chunk = variable.chunking()
        chunk = chunk if isinstance(chunk, (list, tuple)) else ()
        size += each * max(math.prod(map(int, shape)) for shape in (variable.shape, chunk))
    if size > int(sys.argv[2]):
        sys.exit(f"it unpacks to {size / 1e9:.3g} GB, far more than a file of its size may hold")
    for variable in data.variables.values():
        variable[...]
        {name: variable.getncattr(name) for name in variable.ncattrs()}
    {name: data.getncattr(name) for name in data.ncattrs()}
"""


def _probe(path: str | Path, what: str) -> None:
    """Read the file in a process of its own, which may fail or be stopped without harm."""
    import subprocess

    if not sys.executable:
        return  # Python inside another program: there is no interpreter to start
    limit = str(_unpacked_limit(path))
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _PROBE, os.path.abspath(path), limit],
            capture_output=True,
            timeout=PROBE_TIME,
            check=False,
        )
    except subprocess.TimeoutExpired:
        why = f"the netCDF library did not come to an end in {PROBE_TIME:g} s"
    else:
        if not done.returncode:
            return
        said = done.stderr.decode(errors="replace").strip().splitlines() or [
            "it crashed the reader"
        ]
        why = said[-1].removeprefix("OSError: ").removeprefix("RuntimeError: ")
    raise SuppleError(f"cannot read {path} as {what}: {why}")
