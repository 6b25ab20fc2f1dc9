"""A folder of chunks: a long computation kept piece by piece, so that it can be resumed.

`question.json` says what is asked, by a hash of the robot, the question and the version; each chunk
is a file of its own, `chunk-000012.npz`, whole or absent, sealed with the question and its number:
one that was damaged, changed or copied to another number is as good as absent.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from .data import read_bytes
from .disk import is_unfinished, make_folder, remove_abandoned, writing

__all__ = ["Chunks"]


class Chunks(Mapping[int, dict[str, NDArray[Any]]]):
    """The chunks of one question in one folder; a mapping from their numbers to what they hold.

    Attributes
    ----------
    folder
        Where they are.
    key
        The hash of the question.
    """

    def __init__(self, folder: str | Path, key: str, question: Mapping[str, Any]) -> None:
        self.folder = make_folder(folder)
        self.key = key
        page = self.folder / "question.json"
        remove_abandoned(self.folder)
        if not page.exists():
            # Shards that start together all come here: what another one is writing is no stranger,
            # and each writes the same page, of which the last stays.
            strangers = [
                place
                for place in self.folder.iterdir()
                if not is_unfinished(place) and place != page
            ]
            if strangers and not page.exists():
                raise SuppleError(
                    f"{self.folder} is not empty and holds no sweep: give another folder"
                )
            with writing(page) as aside:
                aside.write_bytes(json.dumps({"key": key, **question}, indent=1).encode())
        try:
            known = json.loads(read_bytes(page, 1 << 24))["key"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise SuppleError(
                f"{page} cannot be read: remove the folder, or give another"
            ) from None
        if known != key:
            raise SuppleError(
                f"{self.folder} holds another question (another robot, grid, option or version "
                "of supple): give another folder, or remove it"
            )

    def place(self, index: int) -> Path:
        """Return where a chunk stands."""
        return self.folder / f"chunk-{index:06d}.npz"

    def ready(self) -> frozenset[int]:
        """Return the numbers of the chunks that are there now and whole."""
        stems = [place.stem.partition("-")[2] for place in self.folder.glob("chunk-*.npz")]
        numbers = [int(stem) for stem in stems if re.fullmatch(r"[0-9]{6,18}", stem)]
        return frozenset(index for index in numbers if self.load(index) is not None)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self.ready()))

    def __len__(self) -> int:
        return len(self.ready())

    def __getitem__(self, index: int) -> dict[str, NDArray[Any]]:
        found = self.load(index)
        if found is None:
            raise KeyError(index)
        return found

    def save(self, index: int, values: Mapping[str, NDArray[Any]]) -> None:
        """Write a chunk, whole or not at all."""
        data = io.BytesIO()
        content: dict[str, Any] = {**values, "key": np.array(self.key)}
        np.savez(data, **content)
        raw = data.getvalue()  # archives are read from their end on: what follows it is skipped
        with writing(self.place(index)) as aside:
            aside.write_bytes(raw + self._seal(index, raw))

    def _seal(self, index: int, raw: bytes) -> bytes:
        """SHA-256 of a chunk's bytes, its number and its question."""
        return hashlib.sha256(f"{self.key} {index} ".encode() + raw).digest()

    def load(self, index: int) -> dict[str, NDArray[Any]] | None:
        """Return a chunk, None when it is not there yet or not whole."""
        place = self.place(index)
        if not place.is_file():
            return None
        try:
            file_bytes = place.read_bytes()
        except OSError:
            return None
        raw = file_bytes[:-32]
        sealed = file_bytes[-32:] == self._seal(index, file_bytes[:-32])
        try:
            with zipfile.ZipFile(io.BytesIO(raw)) as archive:
                # we write them unpacked: one that grows when it is read is not ours
                if sum(part.file_size for part in archive.infolist()) > len(raw):
                    return None
            with np.load(io.BytesIO(raw), allow_pickle=False) as found:
                key = str(found["key"])
                values = {name: found[name] for name in found.files if sealed and name != "key"}
        except Exception:  # noqa: BLE001 - whatever a damaged archive raises: it is computed again
            return None
        if key != self.key:
            raise SuppleError(f"{place} belongs to another question: remove it, or the folder")
        return values if sealed else None
