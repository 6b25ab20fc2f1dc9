"""Dask clusters that fail, with a real scheduler: one sentence each, and how to resume."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.studies.design import workers

pytestmark = pytest.mark.slow
OVER = {"theta.link2": np.linspace(-2, 2, 60), "theta.link3": np.linspace(-2, 2, 60)}


@contextmanager
def process_saying(word: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a module of Dask, wait until it says a word, and end it afterwards."""
    command = [sys.executable, "-m", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = ""
    for line in process.stderr:
        if word in line:
            break
    drain = threading.Thread(target=process.stderr.read, daemon=True)  # lest its pipe fills up
    drain.start()
    try:
        yield process, line.split()[-1]
    finally:
        process.kill()
        process.wait()
        drain.join()
        process.stderr.close()


@contextmanager
def scheduler() -> Iterator[tuple[subprocess.Popen[str], str]]:
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    with process_saying("Scheduler at:", "distributed.cli.dask_scheduler", *options) as found:
        yield found


@contextmanager
def worker(address: str) -> Iterator[None]:
    options = (address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
    with process_saying("Registered to", "distributed.cli.dask_worker", *options):
        yield


def ask(address: str, **options: object) -> None:
    supple.sweep(supple.load("industrial-3"), "modes", OVER, scheduler=address, **options)


def test_a_scheduler_that_is_killed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "kept"
    with scheduler() as (process, address), worker(address):

        def kill_in_mid_run() -> None:
            end = time.monotonic() + 60
            while not list(folder.glob("chunk-*")) and time.monotonic() < end:
                time.sleep(0.01)
            process.kill()

        killer = threading.Thread(target=kill_in_mid_run)
        killer.start()
        with pytest.raises(
            supple.SuppleError, match=r"lost before all .* goes on where"
        ) as refusal:
            ask(address, out=folder, chunk=40)
        killer.join()
    assert "\n" not in str(refusal.value)
    assert "Traceback" not in "".join(capfd.readouterr())
    robot = supple.load("industrial-3")
    found = supple.sweep(robot, "modes", OVER, out=folder, chunk=40, scheduler="serial")
    assert found.attrs["computed"] == 3600


def test_encryption_without_certificates() -> None:
    with pytest.raises(supple.SuppleError, match="encrypted, and Dask knows no certificates"):
        ask("tls://127.0.0.1:8786")


def test_a_cluster_without_workers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workers, "WORKER_TIME", 1.0)
    with scheduler() as (_, address), pytest.raises(supple.SuppleError, match="no workers for 1 s"):
        ask(address)
    assert "has no workers yet: waiting 1 s" in capsys.readouterr().err


def test_another_kind_of_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that accepts a connection and never says a word."""
    monkeypatch.setattr(workers, "CONNECT_TIME", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(supple.SuppleError, match=f"no Dask scheduler answers at {address}"):
            ask(address)


@pytest.mark.parametrize(
    "address",
    [
        "tcp://",
        "tcp://127.0.0.1",
        "tcp://127.0.0.1:port",
        "tcp://127.0.0.1:99999",
        "tcp://[::1",
        "inproc://x",
    ],
)
def test_addresses_that_are_none(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused before Dask sees them: it leaves a client whose end is a traceback."""
    monkeypatch.setattr("distributed.Client", None)
    with pytest.raises(supple.SuppleError, match="is no address of a Dask scheduler"):
        ask(address)
