"""How far a run is, on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .plan import Chunk

__all__ = ["with_progress"]

Array = NDArray[np.float64]
SECONDS_BEFORE_BAR = 2.0  # s after which a run shows how far it is


def with_progress(chunks: Iterator[Chunk], grid: Array, progress: bool | None) -> Iterator[Chunk]:
    """Return the same chunks, with a progress bar once they take longer than PATIENCE.

    None: on a terminal alone.
    """
    wanted = sys.stderr.isatty() if progress is None else progress
    if not wanted:
        yield from chunks
        return
    from rich.console import Console
    from rich.progress import Progress

    began = time.monotonic()
    bar = Progress(transient=True, console=Console(stderr=True))
    task = bar.add_task("simulating", total=float(grid[-1]))
    try:
        for chunk in chunks:
            if bar.live.is_started:
                bar.update(task, completed=float(grid[chunk.place - 1 + len(chunk.states)]))
            elif time.monotonic() - began > SECONDS_BEFORE_BAR:
                bar.start()
            yield chunk
    finally:
        bar.stop()
