"""Sweeps: the same bits whoever computes them, resumed, refused, sampled."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import supple

OVER = {
    "theta.link2": np.linspace(-2, 2, 9),
    "theta.link3": np.linspace(-1, 1, 5),
    "payload.mass": [0.0, 5.0, 10.0],
}


@pytest.fixture(scope="module")
def robot() -> supple.Robot:
    return supple.load("industrial-3")


def test_a_grid_is_what_modes_says(robot: supple.Robot) -> None:
    found = supple.sweep(robot, "modes", OVER, count=4, scheduler="serial")
    assert found["omega"].dims == ("theta.link2", "theta.link3", "payload.mass", "mode")
    assert found["omega"].attrs["units"] == "rad/s"
    for i, j, k in ((0, 0, 0), (7, 3, 2), (4, 2, 1)):
        one = robot.with_("payload.mass", OVER["payload.mass"][k])
        theta = [0.0, OVER["theta.link2"][i], OVER["theta.link3"][j]]
        assert (found["omega"].values[i, j, k] == supple.modes(one, theta, count=4).omega).all()
    assert found["valid"].values.all()
    assert "industrial-3" in found.attrs["robot"]


def test_the_same_bits_whoever_computes(robot: supple.Robot, tmp_path: Path) -> None:
    wanted = supple.sweep(robot, "modes", OVER, count=4, scheduler="serial", chunk=31)
    threads = supple.sweep(robot, "modes", OVER, count=4, workers=3, chunk=31)
    assert wanted.identical(threads)
    for shard in range(3):
        part = supple.sweep(
            robot, "modes", OVER, count=4, chunk=31, out=tmp_path / "s", shard=(shard, 3)
        )
    assert wanted.identical(part)  # the last shard found what the others left
    other = supple.sweep(robot, "modes", OVER, count=4, scheduler="serial", chunk=7)
    assert (other["omega"].values == wanted["omega"].values).all()


def square(robot: supple.Robot, theta: np.ndarray) -> dict:
    return {"sum": float(np.sum(theta)), "mass": robot.payload.mass if robot.payload else 0.0}


@pytest.mark.slow
def test_processes_and_functions(robot: supple.Robot) -> None:
    wanted = supple.sweep(robot, "modes", OVER, count=4, scheduler="serial", chunk=50)
    found = supple.sweep(robot, "modes", OVER, count=4, scheduler="processes", workers=2, chunk=50)
    assert wanted.identical(found)
    own = supple.sweep(robot, square, {"theta.link2": [0.0, 1.0], "payload.mass": [1.0, 2.0]})
    assert own["sum"].values.tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert own["mass"].values.tolist() == [[1.0, 2.0], [1.0, 2.0]]


@pytest.mark.slow
def test_dask_loses_a_worker(robot: supple.Robot) -> None:
    """A real scheduler and two workers in processes of their own; one is killed in mid-run."""
    from distributed import Client, LocalCluster

    over = {"theta.link2": np.linspace(-2, 2, 60), "theta.link3": np.linspace(-2, 2, 60)}
    wanted = supple.sweep(robot, "modes", over, count=6, scheduler="serial", chunk=20)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        address = cluster.scheduler_address
        with Client(address, set_as_default=False) as client:
            pids = [info["pid"] for info in client.run(lambda: {"pid": os.getpid()}).values()]
        threading.Timer(0.6, os.kill, (pids[0], signal.SIGKILL)).start()
        found = supple.sweep(robot, "modes", over, count=6, scheduler=address, chunk=20)
    assert wanted.identical(found)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_told(robot: supple.Robot) -> None:
    with pytest.raises(supple.SuppleError, match="no Dask scheduler answers"):
        supple.sweep(robot, over={"theta.link2": [0.0]}, scheduler="tcp://127.0.0.1:9")


@pytest.mark.slow
def test_a_killed_sweep_goes_on(robot: supple.Robot, tmp_path: Path) -> None:
    code = (
        "import supple, numpy as np;"
        "robot = supple.load('industrial-3');"
        "supple.sweep(robot, 'modes', {'theta.link2': np.linspace(-2, 2, 200),"
        f"'theta.link3': np.linspace(-2, 2, 50)}}, count=6, chunk=50, out={str(tmp_path / 's')!r})"
    )
    for delay in (1.5, 2.5):
        process = subprocess.Popen([sys.executable, "-c", code])
        time.sleep(delay)
        process.kill()
        process.wait()
    over = {"theta.link2": np.linspace(-2, 2, 200), "theta.link3": np.linspace(-2, 2, 50)}
    found = supple.sweep(robot, "modes", over, count=6, chunk=50, out=tmp_path / "s")
    again = supple.sweep(robot, "modes", over, count=6, chunk=50, out=tmp_path / "s")
    wanted = supple.sweep(robot, "modes", over, count=6, chunk=50, scheduler="serial")
    assert found.identical(wanted)
    assert again.identical(wanted)


def test_a_folder_of_another_question_is_refused(robot: supple.Robot, tmp_path: Path) -> None:
    over = {"theta.link2": [0.0, 1.0]}
    supple.sweep(robot, "modes", over, count=2, out=tmp_path / "s")
    for other in ({"count": 3}, {"count": 2, "theta": [0, 0, 1.0]}):
        with pytest.raises(supple.SuppleError, match="another question"):
            supple.sweep(robot, "modes", over, out=tmp_path / "s", **other)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "mine.txt").write_text("precious")
    with pytest.raises(supple.SuppleError, match="not empty"):
        supple.sweep(robot, "modes", over, out=tmp_path / "x")
    damaged = tmp_path / "s" / "chunk-000000.npz"
    wanted = supple.sweep(robot, "modes", over, count=2)
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert supple.sweep(robot, "modes", over, count=2, out=tmp_path / "s").identical(wanted)


@pytest.mark.parametrize("how", ["random", "latin", "sobol"])
def test_samples(robot: supple.Robot, how: str) -> None:
    over = {"theta.link2": (-2.0, 2.0), "payload.mass": (0.0, 10.0)}
    found = supple.sweep(robot, "modes", over, sample=how, samples=16, seed=3, count=2)
    assert found["omega"].dims == ("sample", "mode")
    assert found["payload.mass"].values.min() >= 0
    assert found.identical(
        supple.sweep(robot, "modes", over, sample=how, samples=16, seed=3, count=2)
    )
    k = 5
    one = robot.with_("payload.mass", float(found["payload.mass"][k]))
    alone = supple.modes(one, [0.0, float(found["theta.link2"][k]), 0.0], count=2)
    assert (found["omega"].values[k] == alone.omega).all()


def test_a_table(robot: supple.Robot) -> None:
    table = {"theta.link2": [0.0, 0.5, 1.0], "links.link1.section.wall": [0.01, 0.012, 0.008]}
    found = supple.sweep(robot, "statics", {}, sample=table)
    assert found["compliance"].shape == (3, 6, 6)


def test_a_delta_out_of_reach_is_a_gap() -> None:
    robot = supple.load("kuo-delta")
    found = supple.sweep(robot, "modes", {"position.x": [0.0, 5.0]}, position=[0, 0, 0.5], count=2)
    assert found["valid"].values.tolist() == [True, False]
    assert np.isnan(found["omega"].values[1]).all()


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"over": {}}, "empty"),
        ({"over": {"theta.x": [0]}}, "theta.link1"),
        ({"over": {"links.link1.nothing": [1.0]}}, "nothing"),
        ({"over": {"theta.link2": ["a"]}}, "finite"),
        ({"over": {"theta.link2": [0]}, "study": "nonsense"}, "modes"),
        ({"over": {"theta.link2": [0]}, "scheduler": "pigeons"}, "serial"),
        ({"over": {"theta.link2": [0]}, "shard": (3, 2), "out": "x"}, "shard"),
        ({"over": {"theta.link2": [0]}, "shard": (0, 2)}, "out="),
        ({"over": {"theta.link2": [0]}, "workers": 0}, "workers"),
        ({"over": {"theta.link2": [0, 1]}, "sample": "dice"}, "sobol"),
    ],
)
def test_bad_input(
    robot: supple.Robot, given: dict, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(supple.SuppleError, match=word):
        supple.sweep(robot, **given)
