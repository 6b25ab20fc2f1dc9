"""Sweeps: the same bits whoever computes them, resumed, refused, sampled."""

import os
import shutil
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
def test_dask_loses_a_worker(robot: supple.Robot, tmp_path: Path) -> None:
    """A real scheduler and two workers in processes of their own; one is killed in mid-run."""
    from distributed import Client, LocalCluster

    over = {"theta.link2": np.linspace(-2, 2, 60), "theta.link3": np.linspace(-2, 2, 60)}
    wanted = supple.sweep(robot, "modes", over, count=6, scheduler="serial", chunk=40)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        address = cluster.scheduler_address
        with Client(address, set_as_default=False) as client:
            pids = [info["pid"] for info in client.run(lambda: {"pid": os.getpid()}).values()]
        there: list[int] = []

        def kill_in_mid_run() -> None:
            wait_for_chunks(tmp_path / "s", 10)
            os.kill(pids[0], signal.SIGKILL)
            there.append(len(list((tmp_path / "s").glob("chunk-*.npz"))))

        killer = threading.Thread(target=kill_in_mid_run)
        killer.start()
        found = supple.sweep(
            robot, "modes", over, count=6, scheduler=address, chunk=40, out=tmp_path / "s"
        )
        killer.join()
    assert 10 <= there[0] < 90  # of 90
    assert wanted.identical(found)


def wait_for_chunks(folder: Path, count: int) -> None:
    """Return when a sweep has written so many chunks, or after a minute."""
    end = time.monotonic() + 60
    while len(list(folder.glob("chunk-*.npz"))) < count and time.monotonic() < end:
        time.sleep(0.002)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_told(robot: supple.Robot) -> None:
    with pytest.raises(supple.SuppleError, match="no Dask scheduler answers"):
        supple.sweep(robot, over={"theta.link2": [0.0]}, scheduler="tcp://127.0.0.1:9")


@pytest.mark.parametrize(
    "kills",
    [pytest.param(2, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.soak)],
)
def test_a_killed_sweep_goes_on(robot: supple.Robot, tmp_path: Path, kills: int) -> None:
    """SIGKILL at random moments, each somewhere among the chunks that were left."""
    code = (
        "import supple, numpy as np;"
        "robot = supple.load('industrial-3');"
        "supple.sweep(robot, 'modes', {'theta.link2': np.linspace(-2, 2, 200),"
        f"'theta.link3': np.linspace(-2, 2, 50)}}, count=6, chunk=50, out={str(tmp_path / 's')!r})"
    )
    moments = np.sort(np.random.default_rng(kills).choice(np.arange(1, 170), kills, replace=False))
    for moment in moments:
        process = subprocess.Popen([sys.executable, "-c", code])
        wait_for_chunks(tmp_path / "s", int(moment))
        assert process.poll() is None  # in mid-run
        process.kill()
        process.wait()
        left = len(list((tmp_path / "s").glob("chunk-*.npz")))
        assert moment <= left < 200
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
    (tmp_path / "s" / "question.json").write_text("[" * 100_000)
    with pytest.raises(supple.SuppleError, match=r"question\.json cannot be read"):
        supple.sweep(robot, "modes", over, count=2, out=tmp_path / "s")


CHANGES = {  # a chunk as it is, and what somebody made of it
    "another dtype": lambda v: {**v, "omega": v["omega"].astype(str)},
    "fewer rows": lambda v: {**v, "omega": v["omega"][:1]},
    "more columns": lambda v: {**v, "omega": np.repeat(v["omega"], 2, axis=1)},
    "complex": lambda v: {**v, "omega": v["omega"] + 1j},
    "other numbers": lambda v: {**v, "omega": v["omega"] * 2},
    "less": lambda v: {k: v[k] for k in v if k != "omega"},
    "more": lambda v: {**v, "another": np.zeros(2)},
}


@pytest.fixture(scope="module")
def kept(robot: supple.Robot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kept") / "s"
    supple.sweep(robot, "modes", {"theta.link2": [0.0, 0.5, 1.0]}, count=2, chunk=1, out=place)
    return place


@pytest.mark.parametrize("change", [*CHANGES, "copied", "beyond"])
def test_chunks_that_somebody_changed_are_computed_again(
    robot: supple.Robot, kept: Path, tmp_path: Path, change: str
) -> None:
    """Wrong numbers, or foreign errors, came of them."""
    folder = shutil.copytree(kept, tmp_path / "s")
    first = folder / "chunk-000000.npz"
    if change in CHANGES:
        with np.load(first) as found:
            np.savez(first, **CHANGES[change](dict(found)))
    else:
        name = "chunk-000001.npz" if change == "copied" else "chunk-000099.npz"
        shutil.copy(first, folder / name)
    over = {"theta.link2": [0.0, 0.5, 1.0]}
    found = supple.sweep(robot, "modes", over, count=2, chunk=1, out=folder)
    assert found.identical(supple.sweep(robot, "modes", over, count=2, chunk=1))


def test_strange_files_in_the_folder_are_not_its_chunks(
    robot: supple.Robot, tmp_path: Path
) -> None:
    over = {"theta.link2": [0.0, 0.5]}
    first = supple.sweep(robot, over=over, out=tmp_path / "kept")
    (tmp_path / "kept" / "chunk-x.npz").write_bytes(b"not mine")
    (tmp_path / "kept" / "chunk-000007.npz").mkdir()
    (tmp_path / "kept" / "chunk-000008.npz").symlink_to("chunk-000008.npz")
    assert supple.sweep(robot, over=over, out=tmp_path / "kept").identical(first)


@pytest.mark.skipif(os.name != "posix", reason="pipes with a name")
def test_a_pipe_in_place_of_the_question_is_not_waited_for(
    robot: supple.Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supple.files.data.PIPE_TIMEOUT", 0.2)
    os.mkfifo(tmp_path / "question.json")
    with pytest.raises(supple.SuppleError, match="cannot be read"):
        supple.sweep(robot, over={"theta.link2": [0.0, 0.5]}, out=tmp_path)


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


def test_a_reduction_is_that_of_the_whole(robot: supple.Robot, tmp_path: Path) -> None:
    """Least and largest with where they are, and a histogram, chunk by chunk, in files or not."""
    whole = supple.sweep(robot, "modes", OVER, count=3, scheduler="serial")
    hertz = whole["omega"].values.reshape(-1, 3)
    edges = np.linspace(0, 1.1 * hertz.max(), 12)
    asked = {"count": 3, "chunk": 17, "reduce": ("minimum", "maximum", "histogram"), "edges": edges}
    kept = supple.sweep(robot, "modes", OVER, out=tmp_path / "kept", **asked)
    for found in (supple.sweep(robot, "modes", OVER, **asked), kept):
        assert (found["omega_minimum"].values == hertz.min(axis=0)).all()
        assert (found["omega_maximum"].values == hertz.max(axis=0)).all()
        assert int(found["configurations"]) == len(hertz)
        for mode in range(3):
            counts = np.histogram(hertz[:, mode], edges)[0]
            assert (found["omega_histogram"].values[mode] == counts).all()
            spot = dict(
                zip(found["key"].values, found["omega_minimum_at"].values[mode], strict=True)
            )
            there = whole["omega"].sel(spot).isel(mode=mode)
            assert float(there) == hertz[:, mode].min()


def test_an_answer_too_large_for_memory_is_a_store(
    robot: supple.Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = supple.sweep(robot, "modes", OVER, count=3, chunk=16)
    monkeypatch.setattr("supple.studies.design.sweep.MAX_VALUES", 100)
    found = supple.sweep(robot, "modes", OVER, count=3, chunk=16, out=tmp_path / "big")
    assert (tmp_path / "big" / "atlas.zarr").is_dir()
    assert found["omega"].dims == wanted["omega"].dims
    assert (found["omega"].values == wanted["omega"].values).all()
    assert (found["valid"].values == wanted["valid"].values).all()
    again = supple.sweep(robot, "modes", OVER, count=3, chunk=16, out=tmp_path / "big")
    assert (again["width"].values == wanted["width"].values).all()
    (tmp_path / "big" / "atlas.zarr" / "omega" / "zarr.json").write_text("{")
    with pytest.raises(supple.SuppleError, match="it is made again from the chunks"):
        supple.sweep(robot, "modes", OVER, count=3, chunk=16, out=tmp_path / "big")
    with pytest.raises(supple.SuppleError, match="give a folder as out="):
        supple.sweep(robot, "modes", OVER, count=3, chunk=16)


def test_ctrl_c_keeps_what_is_done(robot: supple.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    import supple.studies.design.sweep as module

    wanted = supple.sweep(robot, "modes", OVER, count=3, chunk=16)
    real = module.compute_tasks

    def stopped(*given):
        for k, item in enumerate(real(*given)):
            if k == 2:
                raise KeyboardInterrupt
            yield item

    monkeypatch.setattr(module, "compute_tasks", stopped)
    with pytest.warns(module.SweepWarning, match="32 of 135 configurations"):
        part = supple.sweep(robot, "modes", OVER, count=3, chunk=16, scheduler="serial")
    flat = part["omega"].values.reshape(-1, 3)
    assert (flat[:32] == wanted["omega"].values.reshape(-1, 3)[:32]).all()
    assert np.isnan(flat[32:]).all()
    assert "stopped by the user" in part.attrs["message"]


def test_runs_are_swept_too() -> None:
    arm = supple.load("de-luca-two-link")
    over = {"payload.mass": [0.05, 0.1]}
    found = supple.sweep(
        arm, "simulate", over, basis=supple.AssumedModes(1), duration=0.02, tau=[0.5, 0.0]
    )
    for k, mass in enumerate(over["payload.mass"]):
        model = supple.build(arm.with_("payload.mass", mass), supple.AssumedModes(1))
        run = supple.simulate(model, [0.5, 0.0], theta0=[0, 0], duration=0.02)
        np.testing.assert_array_equal(found["tip"].values[k], run.tip[-1])
    assert found["peak_effort"].dims == ("payload.mass", "joint")


def test_what_a_sweep_was_asked_is_known_by_its_contents() -> None:
    """Two objects of one class, or two functions of one name, are two questions."""
    from supple.studies.design.sweep import question

    arm = supple.load("de-luca-two-link")
    over = {"payload.mass": [0.05, 0.1]}

    def key(basis):
        return question(arm, "simulate", over, basis=basis).key()

    assert key(supple.AssumedModes(1)) == key(supple.AssumedModes(1))
    assert key(supple.AssumedModes(1)) != key(supple.AssumedModes(2))
    one = question(arm, lambda robot, theta: 1.0, over).key()
    two = question(arm, lambda robot, theta: 2.0, over).key()
    assert one != two


def test_a_sample_is_any_table_of_columns() -> None:
    """A table of pandas or of xarray is read as a dictionary of columns is."""
    pandas = pytest.importorskip("pandas")
    robot = supple.load("industrial-3")
    columns = {"theta.link2": [0.1, 0.2, 0.3], "payload.mass": [0.0, 1.0, 2.0]}
    plain = supple.sweep(robot, "modes", sample=columns, count=3)
    for table in (pandas.DataFrame(columns), plain[list(columns)]):
        found = supple.sweep(robot, "modes", sample=table, count=3)
        assert found.omega.values.tobytes() == plain.omega.values.tobytes()
    for odd in (3, [1, 2], np.zeros(3)):
        with pytest.raises(
            supple.SuppleError, match="choose random, latin, sobol, or give a table"
        ):
            supple.sweep(robot, "modes", {"theta.link2": [0, 1]}, sample=odd)


def test_a_motor_of_a_delta_has_the_name_of_its_link() -> None:
    robot = supple.load("kuo-delta")
    theta = supple.modes(robot, position=[0, 0, 0.6], count=2).theta
    over = {"theta.upper2": theta[1] + np.array([0.0, 0.01])}
    found = supple.sweep(robot, "modes", over=over, theta=theta, count=2)
    assert found.omega.dims == ("theta.upper2", "mode")
    moved = theta + np.array([0, 0.01, 0])
    assert (found.omega.values[1] == supple.modes(robot, moved, count=2).omega).all()


def test_a_batch_in_which_no_pose_can_be_assembled() -> None:
    robot = supple.load("hexapod")
    found = supple.modes(robot, np.zeros((2, 6)), count=3)
    assert found.omega.shape == (2, 3)
    assert not found.valid.any()
    assert all(found.reason)


def test_long_work_is_announced_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no terminal shows a line, one sentence says how long the rest will take."""
    from supple.studies.design import workers

    monkeypatch.setattr(workers, "FIRST_REPORT", 0.0)
    monkeypatch.setattr(workers, "LONG", 0.0)
    robot = supple.load("industrial-3")
    angles = {"theta.link2": np.linspace(0, 1, 40)}
    supple.sweep(robot, "modes", over=angles, chunk=2, count=1, scheduler="serial")
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "of 40 configurations are done; the others" in said
    supple.sweep(robot, "modes", over=angles, chunk=2, count=1, progress=False)
    assert capsys.readouterr().err == ""


def test_every_dimension_has_its_unit() -> None:
    """What varies carries its unit, at joints that slide that of forces over lengths."""
    turning = supple.load("industrial-3")
    over = {"links.link1.joint.stiffness": [1e6], "payload.mass": [1.0], "theta.link2": [0.1]}
    found = supple.sweep(turning, "modes", over=over, count=1)
    assert [found[key].attrs["units"] for key in over] == ["N m/rad", "kg", "rad"]
    sliding = supple.load("theodore-rrp")
    found = supple.sweep(sliding, "modes", over={"theta.link3": [0.5]}, count=1)
    assert found["theta.link3"].attrs["units"] == "m"
