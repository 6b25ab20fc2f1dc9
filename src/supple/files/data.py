"""Data by name: bytes and tables in, netCDF in and out; bounded in size and in time."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from .disk import check_place, named, writing

if TYPE_CHECKING:
    import xarray

__all__ = ["netcdf_names", "read_bytes", "read_dataset", "read_table", "write_dataset"]

TABLE_LIMIT = 200_000_000  # bytes of a CSV file
PATIENCE = 10.0  # s in which a pipe or a terminal must give something
PROBE_TIME = 60.0  # s in which a file without a seal must be readable
MARK = b"supple-seal-1\n"  # ends a file, followed by the SHA-256 of all before it


def read_bytes(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return what a file, pipe or device holds, never more than `limit` bytes of it.

    A pipe that nobody writes to raises TimeoutError instead of waiting for ever.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags)  # without O_NONBLOCK this line would wait for a pipe's writer
    try:
        regular = stat.S_ISREG(os.fstat(handle).st_mode) or os.name != "posix"
        parts, size = [], 0
        while size < limit:
            if not regular:
                # Wait until there is something to read, or the writer has gone; not longer than
                # PATIENCE
                import select  # pipes with a name exist on POSIX only

                if not select.select([handle], [], [], PATIENCE)[0]:
                    raise TimeoutError(None, f"nothing came from it in {PATIENCE:g} s")
            part = os.read(handle, min(limit - size, 1 << 20))
            if not part:
                break
            parts.append(part)
            size += len(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def read_table(path: str | Path, what: str, form: str) -> NDArray[np.float64]:
    """Return the numbers of a CSV file below its header; `what` and `form` say what it holds."""
    try:
        raw = read_bytes(path, TABLE_LIMIT + 1)
        if len(raw) > TABLE_LIMIT:
            raise ValueError(f"it holds more than {TABLE_LIMIT // 10**6} MB")
        text = io.StringIO(raw.decode("utf-8-sig"))
        rows: NDArray[np.float64] = np.loadtxt(text, delimiter=",", skiprows=1, ndmin=2)
    except (OSError, ValueError) as problem:
        why = str(getattr(problem, "strerror", None) or problem).rstrip(".")
        raise SuppleError(f"cannot read {what} from {path}: {why}; give {form}") from None
    return rows


def write_dataset(data: xarray.Dataset, path: str | Path) -> None:
    """Write a Dataset as netCDF, sealed, whole or not at all."""
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


def seal(path: Path) -> None:
    """Append a mark and the SHA-256 of a file to it, so that damage is found before it is parsed.

    HDF5 takes the length of a file from its head and ignores what follows.
    """
    with open(path, "rb+") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
        file.seek(0, os.SEEK_END)
        file.write(MARK + digest)


def read_dataset(path: str | Path, what: str) -> xarray.Dataset:
    """Return all of a netCDF file.

    HDF5 may loop or fall over damaged bytes, where no Python code can stop it. So a sealed file is
    compared with its seal before HDF5 sees it, and one without (another program's) is first read
    by a process of its own.
    """
    if not named(path).exists():
        raise SuppleError(f"cannot read {path} as {what}: there is no such file")
    if not Path(path).is_file():
        raise SuppleError(f"cannot read {path} as {what}: it is not a file")
    try:
        sealed = _unbroken(Path(path))
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise SuppleError(f"cannot read {path} as {what}: {why}") from None
    if not sealed:
        _probe(path, what)
    import xarray

    try:
        opened: Any = xarray.open_dataset(path, engine="netcdf4")
        with opened:
            data: xarray.Dataset = opened.load()
    except Exception as problem:  # noqa: BLE001 - what foreign bytes raise there is not listed
        raise SuppleError(f"cannot read {path} as {what}: {problem}") from None
    return data


def _unbroken(path: Path) -> bool:
    """Whether the file is sealed; ValueError where its bytes are not those that were sealed."""
    tail = len(MARK) + 32
    with open(path, "rb") as file:
        if not file.read(8):
            raise ValueError("it is empty")
        if os.fstat(file.fileno()).st_size < tail:
            return False
        file.seek(-tail, os.SEEK_END)
        end = file.read(tail)
        if end[: len(MARK)] != MARK:
            return False
        digest, left = hashlib.sha256(), file.seek(-tail, os.SEEK_END)
        file.seek(0)
        while left > 0 and (part := file.read(min(left, 1 << 20))):
            digest.update(part)
            left -= len(part)
    if digest.digest() != end[len(MARK) :]:
        raise ValueError("the file is damaged: its bytes are not those that were written")
    return True


_PROBE = """
import sys, netCDF4
with netCDF4.Dataset(sys.argv[1]) as data:
    for variable in data.variables.values():
        variable[...]
        {name: variable.getncattr(name) for name in variable.ncattrs()}
    {name: data.getncattr(name) for name in data.ncattrs()}
"""


def _probe(path: str | Path, what: str) -> None:
    """Read the file in a process of its own, which may fail or be stopped without harm."""
    if not sys.executable:
        return  # Python inside another program: there is no interpreter to start
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _PROBE, os.path.abspath(path)],
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
