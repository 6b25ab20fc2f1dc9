"""Who computes: this process, threads, processes, or a Dask cluster; the same bits from all."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import SuppleError

__all__ = ["SCHEDULERS", "Progress", "computed"]

SCHEDULERS = ("serial", "threads", "processes")


def computed(
    compute: Callable[[int], Any], tasks: Sequence[int], scheduler: str, workers: int | None
) -> Iterator[tuple[int, Any]]:
    """Yield (task, answer) as they come; `scheduler` is serial, threads, processes or tcp://..."""
    if workers is not None and (not isinstance(workers, int) or not 1 <= workers <= 1024):
        raise SuppleError(f"workers is {workers!r}: give a number from 1 to 1024")
    if scheduler.startswith(("tcp://", "tls://", "inproc://")):
        yield from _by_dask(compute, tasks, scheduler)
        return
    if scheduler not in SCHEDULERS:
        raise SuppleError(
            f"scheduler is {scheduler!r}: choose {', '.join(SCHEDULERS)}, or a Dask address "
            "such as tcp://127.0.0.1:8786"
        )
    count = workers or os.cpu_count() or 1
    if scheduler == "serial" or (count == 1 and scheduler == "threads"):
        for task in tasks:
            yield task, compute(task)
        return
    yield from _pooled(compute, tasks, scheduler, count)


def _pooled(
    compute: Callable[[int], Any], tasks: Sequence[int], scheduler: str, count: int
) -> Iterator[tuple[int, Any]]:
    """The same by threads or processes."""
    from concurrent.futures import (
        BrokenExecutor,
        Executor,
        ProcessPoolExecutor,
        ThreadPoolExecutor,
        as_completed,
    )

    pool: Executor
    if scheduler == "threads":
        pool = ThreadPoolExecutor(count)
    else:
        from multiprocessing import get_context

        # Ctrl-C is left to the process that asked: workers would each tell of it in a traceback
        deaf = (signal.SIGINT, signal.SIG_IGN)
        pool = ProcessPoolExecutor(count, get_context("spawn"), signal.signal, deaf)
    waiting = iter(tasks)
    running: dict[Any, int] = {}
    try:
        while True:
            for task in waiting:  # a few ahead of the workers, so that memory stays bounded
                running[pool.submit(compute, task)] = task
                if len(running) >= 2 * count:
                    break
            if not running:
                return
            done = next(as_completed(running))
            yield running.pop(done), done.result()
    except BrokenExecutor:
        raise SuppleError(
            "a worker process ended before its work was done: in a script the call must stand "
            'under `if __name__ == "__main__":`; else memory may be short: try fewer workers, or '
            "scheduler threads"
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _by_dask(
    compute: Callable[[int], Any], tasks: Sequence[int], address: str
) -> Iterator[tuple[int, Any]]:
    try:
        import distributed
    except ImportError:
        raise SuppleError("a Dask scheduler needs the extra: pip install supple[dask]") from None
    dask: Any = distributed
    try:
        client = dask.Client(address, timeout="10s", set_as_default=False)
    except (OSError, TimeoutError) as problem:
        raise SuppleError(f"no Dask scheduler answers at {address}: {problem}") from None
    try:
        run = os.urandom(6).hex()
        names = [f"sweep-{run}-{task}" for task in tasks]
        futures = client.map(compute, tasks, key=names, retries=5)
        owners = dict(zip(names, tasks, strict=True))
        for done in dask.as_completed(futures, loop=client.loop):
            yield owners[done.key], done.result()
            done.release()
    finally:
        client.close()


class Progress:
    """A line on the error stream: done, rate and time left; silent where nobody looks."""

    def __init__(self, total: int, unit: str, shown: bool | None = None) -> None:
        self.total, self.unit = total, unit
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.start = self.last = time.monotonic()
        self.done = self.before = 0

    def step(self, count: int, known: bool = False) -> None:
        """Count what was done; `known` means it was there already and tells nothing of the rate."""
        self.done += count
        self.before += count if known else 0
        now = time.monotonic()
        if self.shown and now - self.start > 2 and now - self.last > 0.5:
            self.last = now
            rate = (self.done - self.before) / (now - self.start)
            left = (self.total - self.done) / rate if rate else float("inf")
            sys.stderr.write(
                f"\r{100 * self.done / self.total:5.1f} %  {rate:,.0f} {self.unit}/s  "
                f"{left:,.0f} s left   "
            )
            sys.stderr.flush()

    def end(self) -> None:
        """Clear the line."""
        if self.shown and self.last > self.start:
            sys.stderr.write("\r" + " " * 60 + "\r")
            sys.stderr.flush()
