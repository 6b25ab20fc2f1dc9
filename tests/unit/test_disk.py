"""A file is replaced whole or not at all; readers end, and say what is wrong."""

import multiprocessing
import os
import random
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

import supple
from supple.errors import SuppleError
from supple.files import data, disk

POSIX = pytest.mark.skipif(os.name != "posix", reason="pipes, devices and limits of POSIX")


@pytest.fixture(scope="module")
def run() -> supple.Response:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    return supple.simulate(model, tau=supple.BangBang(0.1, 0.01), duration=0.02)


def left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(disk.ASIDE)]


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, OSError])
def test_the_old_file_stays_when_writing_fails(tmp_path: Path, problem: type) -> None:
    place = tmp_path / "page.html"
    place.write_text("old")
    expected = SuppleError if problem is OSError else problem

    def half() -> None:
        with disk.writing(place) as aside:
            aside.write_text("half of the n")
            raise problem

    with pytest.raises(expected):
        half()
    assert place.read_text() == "old"
    assert left_over(tmp_path) == []


def test_links_and_permissions_survive(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    link = tmp_path / "link.yaml"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    disk.write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    fresh = disk.write_text(tmp_path / "fresh.yaml", "x")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o666 & ~umask


def test_unfinished_files_of_killed_processes_go_after_a_day(tmp_path: Path) -> None:
    old = tmp_path / f"{disk.ASIDE}1.nc"
    young = tmp_path / f"{disk.ASIDE}2.nc"
    for path in (old, young):
        path.write_text("x")
    long_ago = time.time() - 2 * disk.STALE_AFTER
    os.utime(old, (long_ago, long_ago))
    disk.check_place(tmp_path / "a.nc")
    assert left_over(tmp_path) == [young.name]


FULL_DISK = """
import resource, sys
import supple
folder = sys.argv[1]
robot = supple.load("industrial-3")
found = supple.modes(robot, count=2)
run = supple.simulate(supple.build(robot, supple.AssumedModes(1)), duration=0.02)
writers = {
    "html": found.save_page,
    "nc": run.save,
    "pdf": found.plot,
    "png": found.plot,
    "svg": found.plot,
    "yaml": lambda place: supple.dump(robot, place),
}
found.plot(folder + "/before.png")  # caches of matplotlib are files too
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
for kind, write in writers.items():
    try:
        write(f"{folder}/kept.{kind}")
    except supple.SuppleError as problem:
        print(problem)
"""


@POSIX
@pytest.mark.slow
def test_a_full_disk_costs_nothing(tmp_path: Path) -> None:
    """RLIMIT_FSIZE: no file may grow beyond 500 bytes, as on a disk that is full."""
    kinds = ["html", "nc", "pdf", "png", "svg", "yaml"]
    for kind in kinds:
        (tmp_path / f"kept.{kind}").write_bytes(b"whole")
    ran = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=True
    )
    told = ran.stdout.splitlines()
    assert [line.split(":")[0] for line in told] == [
        f"cannot write {tmp_path}/kept.{kind}" for kind in kinds
    ]
    assert ran.stderr == ""
    assert {(tmp_path / f"kept.{kind}").read_bytes() for kind in kinds} == {b"whole"}
    assert left_over(tmp_path) == []


@POSIX
def test_devices_and_pipes(tmp_path: Path) -> None:
    disk.write_text("/dev/null", "gone")
    if Path("/dev/full").exists():
        with pytest.raises(SuppleError, match="cannot write /dev/full: No space left"):
            disk.write_text("/dev/full", "x")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(SuppleError, match=r"cannot write .*pipe"):
        disk.write_text(pipe, "nobody reads")
    text = "x" * 300_000
    writer = threading.Thread(target=lambda: (time.sleep(0.2), disk.write_text(pipe, text)))
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer.start()
    got = b""
    while len(got) < len(text):
        time.sleep(0.01)
        try:
            got += os.read(handle, 65536)
        except BlockingIOError:
            continue
    writer.join()
    os.close(handle)
    assert got.decode() == text


@POSIX
def test_a_pipe_without_a_writer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "PIPE_TIMEOUT", 0.2)
    pipe = tmp_path / "robot.yaml"
    os.mkfifo(pipe)
    with pytest.raises(SuppleError, match=r"cannot be read: nothing came from it in 0.2 s"):
        supple.load(pipe)
    with pytest.raises(SuppleError, match=r"nothing came from it in 0.2 s; give"):
        supple.Table.from_csv(pipe)
    with pytest.raises(SuppleError, match="it is not a file"):
        supple.load_response(pipe)


@POSIX
def test_a_pipe_with_a_writer_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "robot.yaml"
    os.mkfifo(pipe)
    robot = supple.load("industrial-3")
    threading.Thread(target=lambda: pipe.write_text(supple.dump(robot))).start()
    assert supple.load(pipe) == robot


@POSIX
def test_endless_devices_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "TABLE_LIMIT", 100_000)
    with pytest.raises(SuppleError, match="larger than 1 MB"):
        supple.load("/dev/zero")
    with pytest.raises(SuppleError, match="more than 0 MB"):
        supple.Table.from_csv("/dev/zero")
    with pytest.raises(SuppleError, match="it is not a file"):
        supple.load_response("/dev/zero")


@pytest.mark.parametrize(
    "name", ["upper/arm", "mode", "omega", "a%2Fb", "é", "e\u0301", "-1", "a\x01b", "模"]
)
def test_names_that_netcdf_cannot_hold_are_escaped(tmp_path: Path, name: str) -> None:
    import xarray

    robot = supple.load("di-castri-two-link").with_("links.link1.name", name)
    found = supple.workspace(robot, points=3, joints=[(-1.0, 1.0), 0.5], progress=False)
    found.save(tmp_path / "map.nc")
    with xarray.open_dataset(tmp_path / "map.nc") as read:
        (word,) = [word for word in read.dims if read[word].attrs.get("long_name") == name]
        assert unquote(str(word)).lstrip("_") == name
        assert read["omega"].shape == found.omega.shape


def test_a_response_comes_back(tmp_path: Path, run: supple.Response) -> None:
    import xarray

    run.save(tmp_path / "run.nc")
    back = supple.load_response(tmp_path / "run.nc")
    assert np.array_equal(back.q, run.q)
    with xarray.open_dataset(tmp_path / "run.nc") as read:  # part of it, saved by another program
        read.isel(t=slice(0, 10)).to_netcdf(tmp_path / "part.nc")
    assert np.array_equal(supple.load_response(tmp_path / "part.nc").q, run.q[:10])


def damaged(raw: bytes, chance: random.Random) -> bytes:
    """One of four kinds of damage: cut, bytes changed, a piece replaced by zeros, or by another."""
    out = bytearray(raw)
    k = chance.randrange(len(raw))
    kind = chance.randrange(4)
    if kind == 0:
        return raw[:k]
    if kind == 1:
        for _ in range(chance.randrange(1, 8)):
            out[chance.randrange(len(raw))] ^= chance.randrange(1, 256)
    elif kind == 2:
        out[k : k + chance.randrange(1, 400)] = bytes(chance.randrange(1, 400))
    else:
        other = chance.randrange(len(raw))
        out[k : k + 400] = out[other : other + 400]
    return bytes(out)


def test_damaged_responses_are_refused(tmp_path: Path, run: supple.Response) -> None:
    run.save(tmp_path / "run.nc")
    raw = (tmp_path / "run.nc").read_bytes()
    chance = random.Random(12)
    bad = tmp_path / "bad.nc"
    for _ in range(200):
        broken = damaged(raw, chance)
        if broken == raw or not broken.endswith(raw[-46:]):
            continue  # without the seal: the next test
        bad.write_bytes(broken)
        with pytest.raises(SuppleError, match="the file is damaged"):
            supple.load_response(bad)


@pytest.mark.slow
def test_damage_without_a_seal_is_met_by_a_process_of_its_own(
    tmp_path: Path, run: supple.Response, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.save(tmp_path / "run.nc")
    raw = (tmp_path / "run.nc").read_bytes()[:-46]
    chance = random.Random(5)
    bad = tmp_path / "bad.nc"
    for _ in range(4):
        bad.write_bytes(damaged(raw, chance)[:-9])
        with pytest.raises(SuppleError, match="cannot read"):
            supple.load_response(bad)
    monkeypatch.setattr(data, "_PROBE", "import time; time.sleep(60)")
    monkeypatch.setattr(data, "PROBE_TIME", 0.5)
    with pytest.raises(SuppleError, match=r"did not come to an end in 0.5 s"):
        supple.load_response(bad)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"basis": "{"}, "does not describe a run"),
        ({"basis": '{"kind": "fairy"}'}, "does not describe a run"),
        ({"robot": "name: x"}, "links"),
        ({"damping": "[[1]]"}, "cannot read"),
        ({"damping": "3"}, "does not describe a run"),
        ({"deflection": "up"}, "deflection"),
        ({"stiffening": "maybe"}, "stiffening is 'maybe': it must be 0 or 1"),
        ({"basis": "[" * 100_000}, "does not describe a run"),
    ],
)
def test_attributes_that_describe_no_run(
    tmp_path: Path, run: supple.Response, change: dict[str, str], sentence: str
) -> None:
    changed = run.to_xarray().assign_attrs(change)
    data.write_dataset(changed, tmp_path / "odd.nc")
    with pytest.raises(SuppleError, match=sentence):
        supple.load_response(tmp_path / "odd.nc")


def test_times_and_shapes_are_checked(tmp_path: Path, run: supple.Response) -> None:
    data.write_dataset(run.to_xarray().isel(t=slice(None, None, -1)), tmp_path / "back.nc")
    with pytest.raises(SuppleError, match="times do not increase"):
        supple.load_response(tmp_path / "back.nc")
    data.write_dataset(run.to_xarray().drop_vars("t"), tmp_path / "timeless.nc")
    with pytest.raises(SuppleError, match="does not describe a run"):  # was 0 s, 1 s, 2 s, ..
        supple.load_response(tmp_path / "timeless.nc")
    data.write_dataset(run.to_xarray().isel(coordinate=[0, 1]), tmp_path / "thin.nc")
    with pytest.raises(SuppleError, match=r"q has the shape \(21, 2\), the model needs \(21, 4\)"):
        supple.load_response(tmp_path / "thin.nc")


def _write_often(place: str, letter: str) -> None:
    for _ in range(40):
        disk.write_text(place, letter * 400_000)


@pytest.mark.slow
def test_of_two_processes_the_last_whole_one_wins(tmp_path: Path) -> None:
    place = tmp_path / "both.html"
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_write_often, args=(str(place), c)) for c in "ab"]
    for process in both:
        process.start()
    seen = set()
    while any(process.is_alive() for process in both):
        if place.exists():
            text = place.read_text()
            assert text in ("a" * 400_000, "b" * 400_000)
            seen.add(text[0])
    assert [process.exitcode for process in both] == [0, 0]
    assert left_over(tmp_path) == []


@pytest.mark.parametrize("place", [3, b"bytes.nc", [], {}, 1.5], ids=repr)
def test_what_is_no_name_of_a_file_is_told(place: Any) -> None:
    """A TypeError of pathlib's before."""
    robot = supple.load("di-castri-two-link")
    found = supple.modes(robot, count=1)
    for write in (
        lambda: supple.dump(robot, place),
        lambda: found.plot(place),
        lambda: found.save_page(place),
        lambda: found.save(place),
        lambda: supple.load_response(place),
        lambda: supple.sweep(robot, over={"theta.link2": [0.0]}, count=1, out=place),
    ):
        with pytest.raises(supple.SuppleError, match="give"):
            write()
