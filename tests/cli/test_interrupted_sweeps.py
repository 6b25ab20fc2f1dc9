"""Sweeps that are interrupted, killed or started several times at once: nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import xarray

import supple
from cli.console import Console
from supple.files import disk
from supple.files.chunks import Chunks

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="signals of POSIX"),
    pytest.mark.filterwarnings("always::supple.SweepWarning"),
]
GRID = ["sweep", "industrial-3", "--over", "theta.link2=0:1:10"]


def stop_after(monkeypatch: pytest.MonkeyPatch, chunks: int) -> None:
    """Let sweeps be interrupted after so many chunks."""
    from supple.studies.design import sweep as module

    real = module.compute_tasks

    def interrupted(compute: Any, tasks: Any, *rest: Any) -> Any:
        yield from real(compute, tasks[:chunks], *rest)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "compute_tasks", interrupted)
    monkeypatch.setattr(module, "POSES_PER_CHUNK", 4)
    monkeypatch.setitem(module.question.__kwdefaults__, "chunk", 4)


@pytest.mark.parametrize("done", [0, 1])
def test_ctrl_c_keeps_a_whole_file_and_certifies_only_what_was_computed(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    place = tmp_path / "o.nc"
    console(*GRID, "--save", str(place))
    whole = place.read_bytes()
    stop_after(monkeypatch, done)
    answer = console(*GRID, "--save", str(place))
    assert answer.code == 130
    assert place.read_bytes() == whole
    assert "stopped by the user" in answer.err
    part = tmp_path / "o.partial.nc"
    assert part.exists() == bool(done)
    if not done:
        assert "Certified" not in answer.out
        return
    assert "6 of 10 configurations were not computed" in answer.out
    assert "every root of the 4 that were computed" in answer.out
    assert "out of reach" not in answer.out
    with xarray.open_dataset(part) as found:
        assert (found.attrs["computed"], found.attrs["configurations"]) == (4, 10)


def test_ctrl_c_of_a_reduction_without_answers(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(monkeypatch, 0)
    answer = console(*GRID, "--reduce", "minimum")
    assert answer.code == 130
    assert "Nothing was computed" in answer.out


def test_shards_that_begin_at_the_same_moment(tmp_path: Path) -> None:
    """Each sees what the others are writing; 9 of 48 said that the folder is not empty."""
    failures = []
    for attempt in range(40):
        folder = tmp_path / str(attempt)
        ready = threading.Barrier(4)

        def begin(folder: Path = folder, ready: threading.Barrier = ready) -> None:
            ready.wait()
            try:
                Chunks(folder, "key", {"robot": "x" * 20_000})
            except supple.SuppleError as problem:
                failures.append(str(problem))

        shards = [threading.Thread(target=begin) for _ in range(4)]
        for shard in shards:
            shard.start()
        for shard in shards:
            shard.join()
    assert failures == []


def ended_process() -> int:
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_folder_whose_page_was_being_written_when_its_process_was_killed(tmp_path: Path) -> None:
    """Its unfinished file is no stranger, and is removed; that of a living process stays."""
    machine = disk._this_machine()
    dead = tmp_path / f"{disk.ASIDE}{machine}-{ended_process()}-0011.json"
    alive = tmp_path / f"{disk.ASIDE}{machine}-{os.getpid()}-0022.json"
    elsewhere = tmp_path / f"{disk.ASIDE}00000000-{ended_process()}-0033.json"
    for place in (dead, alive, elsewhere):
        place.write_text('{"key": "ab')
    Chunks(tmp_path, "key", {})
    assert sorted(tmp_path.iterdir()) == sorted([alive, elsewhere, tmp_path / "question.json"])
    assert json.loads((tmp_path / "question.json").read_text())["key"] == "key"


KILLED_PARENT = """
import os, time
from supple.studies.design.workers import compute_tasks

def slow(task):
    open(f"{os.environ['PIDS']}/{os.getpid()}", "w").close()
    time.sleep(0.2)
    return task

if __name__ == "__main__":
    for _ in compute_tasks(slow, range(10_000), "processes", 2):
        pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_a_killed_parent(tmp_path: Path, by: signal.Signals) -> None:
    script = tmp_path / "script.py"
    pids = tmp_path / "pids"
    script.write_text(KILLED_PARENT)
    pids.mkdir()
    environment = {**os.environ, "PIDS": str(pids)}
    process = subprocess.Popen([sys.executable, str(script)], env=environment)
    end = time.monotonic() + 60
    while len(list(pids.iterdir())) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    workers = [int(place.name) for place in pids.iterdir()]
    assert len(workers) == 2
    process.send_signal(by)
    process.wait()
    end = time.monotonic() + 10
    while any(running(pid) for pid in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(running(pid) for pid in workers)


def running(pid: int) -> bool:
    """Whether a process still runs, and does not only wait for somebody to ask how it ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
