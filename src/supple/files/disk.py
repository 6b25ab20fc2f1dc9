"""Writing: one door, through which a file is replaced whole or not at all.

What is written goes to a new file in the same folder, is synced to the disk and then renamed onto
its name, which POSIX and Windows do in one step. A full disk, an error, Ctrl-C or SIGKILL leave the
old file as it was; of two processes that write one name, the last whole file stays.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ENAMETOOLONG
from functools import cache
from os import W_OK, PathLike, access
from pathlib import Path

from ..arguments import brief
from ..errors import SuppleError

__all__ = [
    "as_path",
    "check_place",
    "fill",
    "is_unfinished",
    "make_folder",
    "partial_place",
    "remove_abandoned",
    "write_text",
    "writing",
]

ASIDE = ".supple-"  # how names of unfinished files begin
STALE_AFTER = 86400.0  # s after which an unfinished file belongs to nobody: its process was killed
PIPE_TIMEOUT = 10.0  # s in which the reader of a pipe must take something


def as_path(path: str | PathLike[str]) -> Path:
    """Return a place by its name; what cannot be one is told."""
    try:
        place = Path(path)
    except TypeError:
        raise SuppleError(f"a place is {brief(path)}: give the path of a file") from None
    try:
        place.lstat()
    except OSError as problem:
        if problem.errno == ENAMETOOLONG:
            raise SuppleError(f"{brief(path)} is too long for the name of a file") from None
    except ValueError as problem:  # a zero byte, or half of a surrogate pair
        raise SuppleError(f"{brief(path)} cannot name a file: {problem}") from None
    return place


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a place beside `path` to write to; when all went well it becomes `path` in one step.

    What the disk refuses becomes a sentence. A device or a pipe is given the finished bytes.
    """
    from tempfile import gettempdir

    special = _special(as_path(path))
    # a link stays, its file is replaced; one that leads nowhere is replaced itself
    target = Path(path) if special else Path(os.path.realpath(path))
    folder = Path(gettempdir()) if special else target.parent
    aside = folder / f"{ASIDE}{_this_machine()}-{os.getpid()}-{os.urandom(8).hex()}{target.suffix}"
    try:
        yield aside
        with open(aside, "rb+") as file:
            os.fsync(file.fileno())
        if special:
            _pour(aside, target)
        else:
            with suppress(FileNotFoundError):
                aside.chmod(stat.S_IMODE(target.stat().st_mode))
            os.replace(aside, target)
            # Make a rename last; Windows does so by itself and opens no folders
            if os.name == "posix":
                handle = os.open(target.parent, os.O_RDONLY)
                try:
                    os.fsync(handle)
                except OSError:
                    pass  # some network file systems sync no folders: the file itself is whole
                finally:
                    os.close(handle)
    except OSError as problem:
        raise SuppleError(f"cannot write {path}: {problem.strerror or problem}") from None
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def _special(place: Path) -> bool:
    """Whether this is a device, a pipe or an open file by its number, which nothing can replace."""
    return place.as_posix().startswith("/dev/") or (place.exists() and not place.is_file())


def _pour(source: Path, target: Path) -> None:
    """Copy bytes into a device or a pipe; a pipe that nobody reads is refused, not waited for."""
    data = memoryview(source.read_bytes())
    written = 0
    if not stat.S_ISFIFO(target.stat().st_mode):
        with open(target, "wb", buffering=0) as device:
            while written < len(data):
                written += device.write(data[written:])
        return
    import select  # pipes with a name exist on POSIX only

    pipe = os.open(target, os.O_WRONLY | os.O_NONBLOCK)
    try:
        while written < len(data):
            if not select.select([], [pipe], [], PIPE_TIMEOUT)[1]:
                raise TimeoutError(None, f"nobody reads this pipe ({PIPE_TIMEOUT:g} s waited)")
            written += os.write(pipe, data[written : written + 65536])
    finally:
        os.close(pipe)


def check_place(path: str | PathLike[str], source: str | None = None) -> Path:
    """Return the place of a file to write, refused in a sentence before anything is computed.

    `source`: the file that is read, which is not to be written over. What killed processes left
    unfinished there is removed.
    """
    place = as_path(path)
    try:
        if not place.parent.is_dir():
            raise SuppleError(f"cannot write {path}: there is no folder {place.parent}")
        if place.is_dir():
            raise SuppleError(f"cannot write {path}: it is a folder; give the name of a file in it")
        both = source is not None and place.exists() and Path(source).exists()
        if source is not None and both and place.samefile(source):
            raise SuppleError(f"cannot write {path}: it is the file that is read; give another")
        special = _special(place)
        folder = Path(os.path.realpath(place)).parent
    except SuppleError:
        raise
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise SuppleError(f"cannot write {path}: {why}") from None
    if place.exists() and not access(place, W_OK):
        raise SuppleError(f"cannot write {path}: permission denied")
    if not special and not access(folder, W_OK):
        raise SuppleError(f"cannot write {path}: permission denied in the folder {folder}")
    remove_abandoned(place.parent)
    return place


def is_unfinished(place: Path) -> bool:
    """Whether this is a file that somebody is writing, or was killed while writing."""
    return place.name.startswith(ASIDE)


def remove_abandoned(folder: Path) -> None:
    """Remove unfinished files whose writer was killed.

    Their names say who writes them: of a process of this machine it is known whether it still
    runs; what comes from elsewhere is abandoned when it is a day old.
    """
    for left in folder.glob(f"{ASIDE}*"):
        with suppress(OSError):  # another process may have removed it
            old = time.time() - left.stat().st_mtime > STALE_AFTER
            if old or _writer_has_ended(left.name):
                left.unlink()


def _writer_has_ended(name: str) -> bool:
    """Whether the process that a file is named after ran on this machine and has ended."""
    machine, _, rest = name.removeprefix(ASIDE).partition("-")
    number = rest.partition("-")[0]
    if os.name != "posix" or machine != _this_machine() or not re.fullmatch("[0-9]{1,9}", number):
        return False
    try:
        os.kill(int(number), 0)  # asks whether it is there, and sends nothing
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@cache
def _this_machine() -> str:
    """Return a short name of this machine, or of the container that numbers our processes."""
    import hashlib
    import socket

    try:
        numbering = os.readlink("/proc/self/ns/pid")
    except OSError:
        numbering = ""
    return hashlib.sha256(f"{socket.gethostname()} {numbering}".encode()).hexdigest()[:8]


def partial_place(path: str | PathLike[str]) -> Path:
    """Return where an unfinished answer is written: not over a whole one that is there."""
    place = Path(path)
    return place.with_name(f"{place.stem}.partial{place.suffix}") if place.is_file() else place


def write_text(path: str | PathLike[str], text: str) -> Path:
    """Write text as UTF-8 and return its place."""
    with writing(path) as aside:
        fill(aside, text.encode())
    return Path(path)


def fill(aside: Path, data: bytes | memoryview) -> None:
    """Put bytes into the place that `writing` gives."""
    aside.write_bytes(data)


def make_folder(path: str | Path) -> Path:
    """Make a folder, and those above it, unless it is there."""
    place = as_path(path)
    try:
        if place.exists() and not place.is_dir():
            raise SuppleError(f"cannot make the folder {path}: it is a file; give another name")
        place.mkdir(parents=True, exist_ok=True)
    except SuppleError:
        raise
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise SuppleError(f"cannot make {path}: {why}") from None
    return place
