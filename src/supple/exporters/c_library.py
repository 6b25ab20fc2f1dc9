"""Generated C, compiled and called: what is exported is judged by running it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from ..files.disk import write_text

__all__ = ["CLibrary", "build_library", "c_compiler"]

Array = NDArray[np.float64]


def c_compiler() -> str | None:
    """Return the system's C compiler, None where there is none."""
    for name in ("gcc", "cc", "clang"):
        found = shutil.which(name)
        if found is not None:
            return found
    return None


def build_library(folder: Path, sources: Mapping[str, str], name: str, flags: list[str]) -> Path:
    """Write sources into a folder, compile those that end in .c into a library, return its place.

    Raises a SuppleError with what the compiler said.
    """
    compiler = c_compiler()
    if compiler is None:
        raise SuppleError("there is no C compiler: install gcc, or clang")
    units = []
    for file, text in sources.items():
        write_text(folder / file, text)
        if file.endswith(".c"):
            units.append(str(folder / file))
    library = folder / name
    position_independent = [] if sys.platform == "win32" else ["-fPIC"]
    options = ["-std=c99", *flags, *position_independent, "-shared"]
    command = [compiler, *options, *units, "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = " ".join(done.stderr.split())[:300]
        raise SuppleError(f"the C compiler {compiler} failed: {said}")
    return library


class CLibrary:
    """Exported C as a library that can be called with arrays.

    Parameters
    ----------
    sources : mapping
        Name of a file to its text.
    prefix : str
        How its functions begin.
    optimisation : str
        Flag of the compiler.
    """

    def __init__(self, sources: Mapping[str, str], prefix: str, optimisation: str = "-O0") -> None:
        self.prefix = prefix
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            place = build_library(Path(folder), sources, "exported.so", [optimisation])
            self._library = ctypes.CDLL(str(place))

    def call(self, name: str, *inputs: Array, size: int) -> Array:
        """Return the one output (size,) of a function of arrays."""
        function = getattr(self._library, f"{self.prefix}_{name}")
        out = np.full(size, np.nan)
        pointers = []
        arrays = []  # arrays must outlive the call
        for given in inputs:
            array = np.ascontiguousarray(given, dtype=np.float64)
            arrays.append(array)
            pointers.append(array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        function(*pointers, out.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        return out
