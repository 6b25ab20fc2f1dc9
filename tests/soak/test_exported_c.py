"""C of every library robot: strict compilers, an ARM, cppcheck, each function and the Model."""

import ctypes
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import supple
from supple import library
from supple.equations.equilibrium import assembled_pose, standing
from supple.exporters.c_functions import random_states
from supple.exporters.c_library import CLibrary

pytestmark = pytest.mark.soak

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
BARE_ARM = ["-mcpu=cortex-a7", "-mfpu=neon-vfpv4", "-mfloat-abi=hard", "--specs=rdimon.specs"]
# program and the flags for a static executable, and the emulator that runs it
BUILDS = {
    "gcc": ([], []),
    "clang": ([], []),
    "arm-linux-gnueabihf-gcc": (["-static"], ["qemu-arm"]),
    "arm-none-eabi-gcc": (BARE_ARM, ["qemu-arm"]),
}
ROBOTS = list(library.names())


@pytest.fixture(scope="module", params=ROBOTS)
def exported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> supple.Export:
    """One library robot with its default options."""
    return supple.export(request.param, "c", tmp_path_factory.mktemp("c"))


@pytest.mark.parametrize("compiler", list(BUILDS))
def test_the_written_program_agrees_under_every_compiler(
    exported: supple.Export, compiler: str, tmp_path: Path
) -> None:
    flags, emulator = BUILDS[compiler]
    for needed in [compiler, *emulator]:
        if shutil.which(needed) is None:
            pytest.skip(f"{needed} is not installed here")
    folder = exported.files[0].parent
    units = [path.name for path in exported.files if path.suffix == ".c"]
    program = tmp_path / "run"
    command = [compiler, *STRICT, "-O1", *flags, *units, "-o", str(program), "-lm"]
    compiled = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr[:2000]
    ran = subprocess.run([*emulator, program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_the_makefile_and_cmake_build_and_run_it(exported: supple.Export, tmp_path: Path) -> None:
    folder = exported.files[0].parent
    subprocess.run(["make", "CFLAGS=-std=c99 -O0"], cwd=folder, check=True, capture_output=True)
    subprocess.run(["make", "clean"], cwd=folder, check=True, capture_output=True)
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed here")
    subprocess.run(["cmake", "-S", folder, "-B", tmp_path], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", tmp_path], check=True, capture_output=True)
    subprocess.run(["ctest"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("cppcheck") is None, reason="cppcheck is not installed here")
def test_cppcheck_finds_nothing(exported: supple.Export) -> None:
    units = [path for path in exported.files if path.suffix == ".c"]
    checks = ["--std=c99", "--enable=warning,performance,portability", "--error-exitcode=1", "-q"]
    for unit in units:
        checked = subprocess.run(
            ["cppcheck", *checks, unit.name],
            cwd=unit.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert checked.returncode == 0, checked.stderr[:2000]


def model_of(name: str) -> supple.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return supple.build(supple.load(name), supple.AssumedModes(2))


def largest_difference(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed here")
@pytest.mark.parametrize("name", ROBOTS)
def test_every_function_beside_the_model(name: str, tmp_path: Path) -> None:
    """Dynamics, Jacobians, outputs, one step of integration, a law and an observer."""
    model = model_of(name)
    theta = supple.export(model, "matlab", tmp_path).theta
    watched = supple.observer(model, theta, period=1e-3)
    law = supple.Sampled(supple.lqg(model, theta, period=1e-3), 1e-3, effort_limit=50.0)
    out = supple.export(
        model,
        "c",
        tmp_path,
        name="arm",
        jacobians=True,
        outputs={"tip": supple.Tip()},
        controller=law,
        observer=watched,
    )
    sources = {}
    for path in out.files:
        if path.suffix in (".c", ".h") and "test" not in path.name:
            sources[path.name] = path.read_text()
    compiled = CLibrary(sources, "arm")
    n = model.size
    joints = model.joints
    start = assembled_pose(standing(model, theta), theta)
    q, qd, qdd, tau = (part[0] for part in random_states(model, start, 1, seed=3))
    wrench = np.zeros(6)

    pointer = np.ctypeslib.ndpointer(float)
    jacobians = compiled._library.arm_jacobians
    jacobians.argtypes = [pointer] * 6
    found = [np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, joints))]
    jacobians(q, qd, tau, *found)
    condition = np.linalg.cond(model.mass_matrix(q))
    for ours, theirs in zip(found, model.derivatives(q, qd, tau), strict=True):
        assert largest_difference(ours, theirs) < 1e-12 * max(1.0, condition / 1e6)

    parts = {
        "gravity": (model.gravity(q), (q,)),
        "bias": (model.bias(q, qd), (q, qd)),
        "inverse_dynamics": (model.inverse_dynamics(q, qd, qdd), (q, qd, qdd)),
        "mass_matrix": (model.mass_matrix(q), (q,)),
        "tip": (model.tip(q), (q,)),
        "outputs": (model.tip(q), (q, qd, qdd, wrench)),
    }
    for word, (wanted, inputs) in parts.items():
        values = compiled.call(word, *inputs, size=wanted.size).reshape(wanted.shape)
        assert largest_difference(values, wanted) < 1e-12, word

    # one classical Runge-Kutta step beside the same step with the Model's accelerations
    dt = 1e-5
    x = q.copy()
    v = qd.copy()
    step = compiled._library.arm_step
    step.argtypes = [*[pointer] * 4, ctypes.c_double]
    step(x, v, tau, wrench, dt)
    wanted_x, wanted_v = runge_kutta_step(model, q, qd, tau, dt)
    assert largest_difference(x, wanted_x) < 1e-12
    assert largest_difference(v - qd, wanted_v - qd) < 1e-9

    # one step of the law and one of the observer, from zero
    y = watched.plant.y + 0.01 * np.arange(1, len(watched.plant.y) + 1)
    q_found = np.zeros(n)
    qd_found = np.zeros(n)
    observe = compiled._library.arm_observer_step
    observe.argtypes = [pointer] * 5
    observe(np.zeros(len(watched.A)), y, watched.plant.tau, q_found, qd_found)
    estimate = watched.estimate(watched.plant.tau[None], y[None])[0]
    assert np.concatenate([q_found, qd_found]) == pytest.approx(estimate, rel=1e-12, abs=1e-13)
    tau_found = np.zeros(joints)
    control = compiled._library.arm_controller_step
    control.argtypes = [pointer] * 4
    measured = law.law.y0 + 1e-3
    control(np.zeros(max(len(law.law.A), 1)), measured, law.law.r0, tau_found)
    u = np.concatenate([measured - law.law.y0, np.zeros(joints)])
    commanded = np.clip(law.law.D @ u + law.law.tau0, -50.0, 50.0)
    assert tau_found == pytest.approx(commanded, rel=1e-12, abs=1e-12)


def runge_kutta_step(
    model: supple.Model, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, dt: float
) -> tuple[np.ndarray, np.ndarray]:
    """One step of the classical Runge-Kutta method."""
    slopes_q = [qd]
    slopes_v = [model.forward_dynamics(q, qd, tau)]
    for part in (0.5, 0.5, 1.0):
        at = q + part * dt * slopes_q[-1]
        rate = qd + part * dt * slopes_v[-1]
        slopes_q.append(rate)
        slopes_v.append(model.forward_dynamics(at, rate, tau))
    weights = np.array([1, 2, 2, 1]) * dt / 6
    return q + weights @ np.array(slopes_q), qd + weights @ np.array(slopes_v)
