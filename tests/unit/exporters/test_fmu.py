"""FMUs: valid, moving as `simulate` says, many at once, their parameters and states."""

import ctypes
import resource
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import supple
from hostile import hostile_robot

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi2 import FMU2Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402


def model_of(robot: supple.Robot | str, basis: supple.Basis | None = None) -> supple.Model:
    robot = supple.load(robot) if isinstance(robot, str) else robot
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return supple.build(robot, basis or supple.AssumedModes(2))


def run_fmu(path: Path, kind: str, tau: list[float], duration: float, **values: float):
    description = fmpy.read_model_description(str(path))
    words = [v.name for v in description.modelVariables if v.name.startswith("tau_")]
    start = dict(zip(words, tau, strict=True)) | values
    return fmpy.simulate_fmu(
        str(path),
        stop_time=duration,
        output_interval=1e-3,
        fmi_type=kind,
        relative_tolerance=1e-9,
        start_values=start,
    )


@pytest.fixture(scope="module")
def deluca(tmp_path_factory: pytest.TempPathFactory) -> tuple[supple.Model, Path]:
    model = model_of("de-luca-two-link", supple.AssumedModes(2, ends="free"))
    path = tmp_path_factory.mktemp("fmu") / "arm.fmu"
    supple.export(model, "fmu", path)
    return model, path


CASES = [
    ("de-luca-two-link", [0.3, -0.4], [0.1, 0.05]),
    pytest.param("theodore-rrp", [0.2, 0.3, 0.6], [1.0, 2.0, -1.0], marks=pytest.mark.slow),
    pytest.param("five-bar", None, [0.2, 0.4], marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "theta0", "tau"), CASES)
def test_valid_and_moving_as_simulate_says(name, theta0, tau, tmp_path: Path) -> None:
    model = model_of(name)
    path = tmp_path / "arm.fmu"
    out = supple.export(model, "fmu", path, theta0=theta0)
    assert validate_fmu(str(path)) == []
    run = supple.simulate(
        model, tau, theta0=out.theta, duration=0.1, method="adams", tolerance=1e-11, dt=0.1
    )
    assert run.t[-1] == pytest.approx(0.1)
    for kind, error in (("CoSimulation", 1e-8), ("ModelExchange", 1e-6)):
        found = run_fmu(path, kind, tau, 0.1)
        tip = [found[f"tip_{axis}"][-1] for axis in "xyz"]
        assert tip == pytest.approx(model.tip(run.q[-1]), abs=error)


def test_start_values_and_wrench(tmp_path: Path, deluca) -> None:
    model, _ = deluca
    q0 = np.array([0.2, 0.1, 0.01, 0, 0.02, 0])
    path = tmp_path / "arm.fmu"
    supple.export(model, "fmu", path, q0=q0)
    found = run_fmu(path, "CoSimulation", [0, 0], 0.05, tip_force_y=0.3, tip_moment_z=0.02)
    run = supple.simulate(
        model, q0=q0, duration=0.05, wrench=[0, 0.3, 0, 0, 0, 0.02], method="adams", tolerance=1e-11
    )
    assert found["theta_link1"][0] == 0.2
    assert found["theta_link2"][-1] == pytest.approx(run.q[-1, 1], abs=1e-9)


def test_payload_and_damping_are_parameters(deluca) -> None:
    """Against Models that were built with them; free shapes do not depend on the payload."""
    model, path = deluca
    basis = supple.AssumedModes(2, ends="free")
    heavier = model_of(model.robot.with_("payload.mass", 0.35), basis)
    found = run_fmu(path, "CoSimulation", [0.1, 0.05], 0.5, payload_mass=0.35)
    run = supple.simulate(heavier, [0.1, 0.05], duration=0.5, method="adams", tolerance=1e-11)
    assert found["theta_link1"][-1] == pytest.approx(run.q[-1, 0], abs=1e-7)
    rest = run_fmu(path, "CoSimulation", [0.1, 0.05], 0.5)
    assert abs(rest["theta_link1"][-1] - run.q[-1, 0]) > 1e-3


def test_damping_factor(tmp_path: Path) -> None:
    robot = supple.load("de-luca-two-link")
    models = [supple.build(robot, supple.AssumedModes(2), damping=z) for z in (0.02, 0.05)]
    path = tmp_path / "arm.fmu"
    supple.export(models[0], "fmu", path)
    found = run_fmu(path, "CoSimulation", [0.1, 0.05], 0.1, damping_factor=2.5)
    run = supple.simulate(models[1], [0.1, 0.05], duration=0.1, method="adams", tolerance=1e-11)
    assert found["theta_link1"][-1] == pytest.approx(run.q[-1, 0], abs=1e-9)


def instance(path: Path, folder: Path) -> FMU2Slave:
    description = fmpy.read_model_description(str(path))
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=str(folder),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="one",
    )
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    return slave


def test_states_are_saved_and_restored(deluca, tmp_path: Path) -> None:
    _, path = deluca
    fmpy.extract(str(path), str(tmp_path))
    one = instance(path, tmp_path)
    one.setReal([0], [0.1])
    one.doStep(0.0, 0.01)
    saved = one.getFMUState()
    data = one.serializeFMUState(saved)
    one.doStep(0.01, 0.02)
    last = one.getReal(list(range(10, 22)))
    one.setFMUState(saved)
    one.doStep(0.01, 0.02)
    assert one.getReal(list(range(10, 22))) == last
    again = one.deserializeFMUState(data)
    one.setFMUState(again)
    one.doStep(0.01, 0.02)
    assert one.getReal(list(range(10, 22))) == last
    one.freeFMUState(saved)
    one.freeFMUState(again)
    one.terminate()
    one.freeInstance()


def test_many_instances_do_not_grow(deluca, tmp_path: Path) -> None:
    _, path = deluca
    fmpy.extract(str(path), str(tmp_path))
    library = ctypes.CDLL(str(next((tmp_path / "binaries").rglob("*.so"))))
    library.fmi2Instantiate.restype = ctypes.c_void_p
    library.fmi2FreeInstance.argtypes = [ctypes.c_void_p]
    guid = fmpy.read_model_description(str(path)).guid.encode()
    before = 0
    for k in range(20_000):
        one = library.fmi2Instantiate(b"one", 1, guid, b"", None, 0, 0)
        assert one
        library.fmi2FreeInstance(one)
        if k == 2000:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1024  # kB
    assert library.fmi2Instantiate(b"one", 1, b"another", b"", None, 0, 0) is None


def test_two_instances_in_two_threads(deluca, tmp_path: Path) -> None:
    _, path = deluca
    fmpy.extract(str(path), str(tmp_path))
    found: dict[int, list[float]] = {}

    def run(k: int, push: float) -> None:
        one = instance(path, tmp_path)
        one.setReal([0], [push])
        for step in range(100):
            one.doStep(step * 1e-3, 1e-3)
        found[k] = one.getReal(list(range(10, 22)))
        one.freeInstance()

    pushes = {0: 0.1, 1: -0.2}
    for k, push in pushes.items():
        run(k, push)
    alone = dict(found)
    workers = [threading.Thread(target=run, args=item) for item in pushes.items()]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == alone


def test_hostile_names(tmp_path: Path) -> None:
    path = tmp_path / "arm.fmu"
    supple.export(hostile_robot(), "fmu", path)
    assert validate_fmu(str(path)) == []
    found = run_fmu(path, "CoSimulation", [0.1, 0.0], 0.01)
    assert np.isfinite(found["tip_x"][-1])


def test_the_same_robot_gives_the_same_bytes(deluca, tmp_path: Path) -> None:
    model, path = deluca
    again = tmp_path / "again.fmu"
    supple.export(model, "fmu", again)
    import zipfile

    with zipfile.ZipFile(path) as a, zipfile.ZipFile(again) as b:
        for name in a.namelist():
            assert a.read(name) == b.read(name)


def test_the_name_ends_in_fmu(tmp_path: Path) -> None:
    with pytest.raises(supple.SuppleError, match=r"ends in \.fmu"):
        supple.export("de-luca-two-link", "fmu", tmp_path / "arm.zip")
