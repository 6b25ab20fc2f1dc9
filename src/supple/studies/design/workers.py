"""Who computes: this process, threads, processes, or a Dask cluster; the same bits from all."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from ...budget import LONG
from ...errors import SuppleError

__all__ = ["SCHEDULERS", "Progress", "compute_tasks"]

SCHEDULERS = ("serial", "threads", "processes")
CONNECT_TIME = 15.0  # s in which a Dask scheduler must have answered
WORKER_TIME = 60.0  # s for which a Dask cluster may be without workers
LOOK_EVERY = 2.0  # s without an answer after which the cluster is looked at
FIRST_REPORT = 2.0  # s of work before progress is reported
REPORT_INTERVAL = 0.5  # s
FIRST_STEPS = 5  # before long work is announced: the first one also loads and compiles
RESUME = "the same call with out= (--out FOLDER) goes on where it stopped"


def compute_tasks(
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
    yield from _compute_in_pool(compute, tasks, scheduler, count)


def _compute_in_pool(
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

        pool = ProcessPoolExecutor(count, get_context("spawn"), begin_worker)
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


def begin_worker() -> None:
    """Prepare a worker process: deaf to Ctrl-C, and gone as soon as its parent is gone.

    Ctrl-C is left to the process that asked: workers would each tell of it in a traceback. A
    worker holds both ends of the pipe that it waits at, so it would never learn that nobody is
    left to send work.
    """
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        return

    def leave_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=leave_with_parent, daemon=True).start()


def _by_dask(
    compute: Callable[[int], Any], tasks: Sequence[int], address: str
) -> Iterator[tuple[int, Any]]:
    """Yield (task, answer) from the workers of a Dask cluster; every failure is one sentence."""
    try:
        import distributed
    except ImportError:
        raise SuppleError("a Dask scheduler needs the extra: pip install supple[dask]") from None
    dask: Any = distributed
    with _quiet_dask_logs():
        client = _dask_client(dask, address)
        try:
            _wait_for_dask_workers(client, address)
            run = os.urandom(6).hex()
            names = [f"sweep-{run}-{task}" for task in tasks]
            futures = client.map(compute, tasks, key=names, retries=5)
            owners = dict(zip(names, tasks, strict=True))
            for done in _completed_futures(dask, client, futures, address):
                yield owners[done.key], done.result()
                done.release()
        except dask.KilledWorker:
            raise SuppleError(
                f"the same chunk ended several workers of the Dask cluster at {address}: their "
                f"memory may be short, try a smaller chunk; {RESUME}"
            ) from None
        except ImportError as problem:
            raise SuppleError(
                f"the workers of the Dask cluster at {address} cannot load what they need "
                f"({problem}): install the same supple there; {RESUME}"
            ) from None
        except (CancelledError, OSError, dask.client.FutureCancelledError):
            raise SuppleError(
                f"the connection to the Dask scheduler at {address} was lost before all was "
                f"computed: start it again; {RESUME}"
            ) from None
        finally:
            with suppress(Exception):  # whatever a connection that broke raises when it is closed
                client.close(timeout=2)


@contextmanager
def _quiet_dask_logs() -> Iterator[None]:
    """Silence what Dask writes about lost connections: it is told in one sentence instead."""
    prefixes = ("distributed", "tornado.application", "asyncio")
    loggers = [
        logging.getLogger(name)
        for name in [*logging.Logger.manager.loggerDict, *prefixes]
        if name.startswith(prefixes)
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _dask_client(dask: Any, address: str) -> Any:
    """Return a client of the scheduler at this address, or say why there is none."""
    _check_dask_address(address)
    if address.startswith("tls://"):
        try:
            secured = dask.Security().get_connection_args("client").get("ssl_context")
        except (OSError, ValueError, TypeError) as problem:
            raise SuppleError(f"the certificates for {address} cannot be read: {problem}") from None
        if secured is None:
            raise SuppleError(
                f"{address} is encrypted, and Dask knows no certificates: name them in its "
                "configuration (distributed.comm.tls.ca-file, .client.cert and .client.key)"
            )
    found: list[Any] = []
    failed: list[Exception] = []

    def connect() -> None:
        try:
            found.append(dask.Client(address, timeout="10s", set_as_default=False))
        except Exception as problem:  # noqa: BLE001 - what foreign servers make it raise
            failed.append(problem)

    # another kind of server answers nothing that Dask understands, and Dask waits for ever
    connecting = threading.Thread(target=connect, daemon=True)
    connecting.start()
    connecting.join(CONNECT_TIME)
    if found:
        return found[0]
    why = "what answers there is no Dask scheduler"
    if failed:
        why = " ".join(str(failed[0]).split())[:150] or type(failed[0]).__name__
    raise SuppleError(
        f"no Dask scheduler answers at {address}: {why}; start one by `dask scheduler`, and give "
        "the address that it prints"
    )


def _check_dask_address(address: str) -> None:
    """Refuse what cannot be an address: Dask leaves a broken client behind, with a traceback."""
    if address.startswith("inproc://"):
        if address.count("/") == 4:
            return
        raise SuppleError(
            f"{address} is no address of a Dask scheduler in this process: give the one that the "
            "cluster names (cluster.scheduler_address)"
        )
    try:
        parts = urlsplit(address)
        complete = bool(parts.hostname and parts.port)
    except ValueError:
        complete = False
    if not complete:
        scheme = address.partition("://")[0]
        raise SuppleError(
            f"{address} is no address of a Dask scheduler: write {scheme}://HOST:PORT, such as "
            f"{scheme}://127.0.0.1:8786, as `dask scheduler` prints it"
        )


def _wait_for_dask_workers(client: Any, address: str) -> None:
    """Wait until the cluster has a worker; say so, and give up after a while."""
    end = time.monotonic() + WORKER_TIME
    has_announced = False
    while not client.nthreads():
        if not has_announced:
            has_announced = True
            sys.stderr.write(
                f"the Dask cluster at {address} has no workers yet: waiting {WORKER_TIME:g} s for "
                f"one (`dask worker {address}`)\n"
            )
            sys.stderr.flush()
        if time.monotonic() > end:
            raise SuppleError(
                f"the Dask cluster at {address} has had no workers for {WORKER_TIME:g} s: start "
                f"some by `dask worker {address}`; {RESUME}"
            )
        time.sleep(0.2)


def _completed_futures(
    dask: Any, client: Any, futures: Sequence[Any], address: str
) -> Iterator[Any]:
    """Yield futures as they complete; a cluster that lost all its workers is noticed."""
    waiting = dask.as_completed(futures, loop=client.loop)
    looked = time.monotonic()
    while not waiting.is_empty():
        if waiting.has_ready():
            yield from waiting.next_batch(block=False)
            looked = time.monotonic()
            continue
        time.sleep(0.01)
        if time.monotonic() - looked > LOOK_EVERY:
            looked = time.monotonic()
            if client.status != "running":
                raise ConnectionError("the connection was lost")
            _wait_for_dask_workers(client, address)


class Progress:
    """Progress on the error stream: a line that is renewed, or one sentence about long work.

    A terminal sees a line with what is done, the rate and the time left. Elsewhere one sentence
    announces work that is foreseen to take long, unless progress is switched off.

    Parameters
    ----------
    total : int
        How many units there are.
    unit : str
        What is counted.
    shown : bool, optional
        Show the line. Default: only if stderr is a terminal. With False nothing is written.
    announces : bool
        Whether long work is announced; False where the caller does so.
    """

    def __init__(
        self, total: int, unit: str, shown: bool | None = None, announces: bool = True
    ) -> None:
        self.total = total
        self.unit = unit
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.announces = announces and shown is None and not self.shown
        self.start = time.monotonic()
        self.last = self.start
        self.done = 0
        self.done_before = 0
        self.steps = 0
        self.warm_start = self.start  # after the first steps, by which long work is foreseen
        self.warm_done = 0

    def step(self, count: int, known: bool = False) -> None:
        """Count what was done; `known` means it was there already and says nothing of the rate."""
        self.done += count
        self.done_before += count if known else 0
        self.steps += 1
        now = time.monotonic()
        if self.steps == FIRST_STEPS:
            self.warm_start = now
            self.warm_done = self.done
        if self.shown:
            self._renew_line(now)
        elif self.announces and self.steps > FIRST_STEPS:
            self._announce(now)

    def _renew_line(self, now: float) -> None:
        """Write what is done, the rate and the time left over the line before."""
        elapsed = now - self.start
        if elapsed < FIRST_REPORT or now - self.last < REPORT_INTERVAL:
            return
        self.last = now
        rate = (self.done - self.done_before) / elapsed
        seconds_left = (self.total - self.done) / rate if rate else float("inf")
        sys.stderr.write(
            f"\r{100 * self.done / self.total:5.1f} %  {rate:,.0f} {self.unit}/s  "
            f"{seconds_left:,.0f} s left   "
        )
        sys.stderr.flush()

    def _announce(self, now: float) -> None:
        """Say once how long the rest will take, where that is long."""
        elapsed = now - self.warm_start
        newly_done = self.done - self.warm_done
        if elapsed < FIRST_REPORT or not newly_done:
            return
        seconds_left = (self.total - self.done) * elapsed / newly_done
        if seconds_left < LONG:
            return
        self.announces = False
        foreseen = f"about {seconds_left:.0f} s"
        if seconds_left > 100:
            foreseen = f"about {seconds_left / 60:.2g} minutes"
        sys.stderr.write(
            f"supple: {self.done:,} of {self.total:,} {self.unit} are done; the others will take "
            f"{foreseen}\n"
        )
        sys.stderr.flush()

    def end(self) -> None:
        """Clear the line."""
        if self.shown and self.last > self.start:
            sys.stderr.write("\r" + " " * 60 + "\r")
            sys.stderr.flush()
