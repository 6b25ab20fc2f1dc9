"""MATLAB's .mat files: numbers, and what they are for in words."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..files.disk import fill, writing
from .names import comment_text

__all__ = ["mat_bytes", "read_mat", "write_mat"]

HEADER_LENGTH = 116  # bytes of text at the head of a .mat file of version 5
HEADER = b"MATLAB 5.0 MAT-file, written by supple: type about to see what it holds"


def mat_bytes(data: Mapping[str, Any]) -> bytes:
    """Return the bytes of a .mat file, the same ones for the same data."""
    from scipy.io import savemat

    memory = io.BytesIO()
    savemat(memory, dict(data))
    content = memory.getvalue()
    # SciPy writes the date into the head
    return HEADER.ljust(HEADER_LENGTH) + content[HEADER_LENGTH:]


def read_mat(content: bytes) -> dict[str, Any]:
    """Return the variables of a .mat file."""
    from scipy.io import loadmat

    return dict(loadmat(io.BytesIO(content)))


def write_mat(place: Path, data: Mapping[str, Any], about: Sequence[str]) -> Path:
    """Write a .mat file whose variable `about` holds these lines; return its place."""
    lines = np.array([comment_text(line) for line in about])
    with writing(place) as aside:
        fill(aside, mat_bytes({"about": lines, **data}))
    return place
