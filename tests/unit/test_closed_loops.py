"""Closed loops as linear models, their margins, and the same laws as C: each by a second route."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import control
import numpy as np
import pytest
from scipy.signal import cont2discrete

import supple
from supple import Encoder, JointPD, Sampled, Sensor, Strain, SuppleError, linearize, margins
from supple.control.plant import plant

THETA = [0.0, 0.5]
PERIOD = 1e-3
MEASURES = [Encoder("link1"), Encoder("link2"), Strain("link1"), Strain("link2")]
WEIGHTS = {"state_weight": [10.0] * 6 + [1.0] * 6, "effort_weight": 10.0}
NOISES = {"effort_noise": 0.3, "measurement_noise": [0.01, 0.01, 0.1, 0.1]}
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")


@pytest.fixture(scope="module")
def model() -> supple.Model:
    return supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2), damping=0.01)


@pytest.fixture(scope="module")
def law(model: supple.Model) -> supple.LinearController:
    """Sampled LQG with integral action, for efforts that come half a period late."""
    return supple.lqg(
        model, THETA, MEASURES, **WEIGHTS, **NOISES, integral=1.0, period=PERIOD, delay=0.5e-3
    )


def eigenvalues(matrix: np.ndarray) -> np.ndarray:
    values = np.linalg.eigvals(matrix)
    return values[np.lexsort((values.imag.round(9), values.real.round(9)))]


@pytest.mark.parametrize(
    ("delay", "lag"), [(0.5e-3, 0.0), (2.3e-3, 0.0), (0.0, [3e-3, 0.0]), (1e-3, 1e-3)]
)
def test_a_sampled_loop_steps_as_the_simulated_one(model, law, delay, lag):
    computer = Sampled(law, PERIOD, delay=delay, lag=lag)
    loop = linearize(model, THETA, outputs=["joints", MEASURES[2]], controller=computer)
    assert loop.period == PERIOD
    t = PERIOD * np.arange(101)
    start = np.concatenate([THETA, np.zeros(4)])
    height = 1e-6  # rad: the robot is linear there
    with pytest.warns(supple.SimulationWarning) if delay != 0.5e-3 else _no_warning():
        run = supple.simulate(
            model,
            controller=computer,
            trajectory=[THETA[0] + height, THETA[1]],
            q0=start,
            duration=0.1,
            dt=PERIOD,
            outputs={"root": MEASURES[2]},
        )
    expected = loop.step(t)[:, :, 0]
    moved = np.column_stack([run.theta - THETA, run.outputs["root"]]) / height
    for column, linear in zip(moved.T, expected.T, strict=True):
        np.testing.assert_allclose(column, linear, atol=2e-6 * np.abs(linear).max())


def _no_warning():
    from contextlib import nullcontext

    return nullcontext()


def test_a_low_passed_sensor_in_a_sampled_loop_steps_as_the_simulated_one(model):
    slow = [Encoder("link1"), Encoder("link2"), Sensor(Strain("link1"), bandwidth=40.0)]
    law = supple.lqg(model, THETA, slow, period=PERIOD, measurement_noise=0.01)
    computer = Sampled(law, PERIOD)
    loop = linearize(model, THETA, controller=computer)
    assert loop.states[-1] == "filter.3"
    height = 1e-6
    run = supple.simulate(
        model,
        controller=computer,
        trajectory=[THETA[0], THETA[1] + height],
        q0=np.concatenate([THETA, np.zeros(4)]),
        duration=0.1,
        dt=PERIOD,
    )
    expected = loop.step(PERIOD * np.arange(101))[:, :, 1]
    np.testing.assert_allclose((run.theta - THETA) / height, expected, atol=2e-6)


def test_a_sampled_loop_is_that_assembled_by_hand(model, law):
    """SciPy's zero-order hold, a delay of one whole period as a shift register."""
    at = plant(model, THETA, MEASURES)
    Phi, Gamma = cont2discrete((at.A, at.B, at.C, at.D), PERIOD)[:2]
    n, k = at.B.shape
    s = len(law.A)
    m = len(at.C)
    by_hand = np.zeros((n + k + s, n + k + s))
    by_hand[:n, :n] = Phi
    by_hand[:n, n : n + k] = Gamma
    by_hand[n : n + k, :n] = law.D[:, :m] @ at.C
    by_hand[n : n + k, n + k :] = law.C
    by_hand[n + k :, :n] = law.B[:, :m] @ at.C
    by_hand[n + k :, n + k :] = law.A
    loop = linearize(model, THETA, controller=Sampled(law, PERIOD, delay=PERIOD))
    ours = np.sort_complex(loop.eigenvalues[np.abs(loop.eigenvalues) > 1e-4])
    theirs = eigenvalues(by_hand)
    theirs = np.sort_complex(theirs[np.abs(theirs) > 1e-4])
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_a_law_in_python_control_closes_the_same_loop(model, law):
    at = plant(model, THETA, MEASURES)
    robot = control.c2d(control.ss(at.A, at.B, at.C, at.D), PERIOD)
    system = law.to_control(model)
    assert system.input_labels[:2] == ["encoder_link1", "encoder_link2"]
    assert system.dt == PERIOD
    outputs = len(at.C)
    joined = control.feedback(robot, system[:, :outputs], sign=+1)
    ours = linearize(model, THETA, controller=Sampled(law, PERIOD)).eigenvalues
    theirs = control.poles(joined)
    for pole in ours[np.abs(ours) > 1e-3]:
        assert np.abs(theirs - pole).min() < 1e-9
    assert law.to_control().input_labels[0] == "y_0"


def test_a_continuous_regulator_has_the_poles_of_filter_and_feedback(model):
    law = supple.lqg(model, THETA, MEASURES, **WEIGHTS, **NOISES)
    loop = linearize(model, THETA, outputs=["joints", "efforts"], controller=law)
    assert loop.states[12:] == tuple(f"law.{i + 1}" for i in range(12))
    at = plant(model, THETA, MEASURES)
    seen = supple.observer(model, THETA, MEASURES, **NOISES)
    regulator = supple.lqr(model, THETA, **WEIGHTS)
    separate = [at.A - seen.gain @ at.C, at.A - at.B @ regulator.gain]
    expected = np.concatenate([np.linalg.eigvals(part) for part in separate])
    for pole in loop.poles:
        assert np.abs(expected - pole).min() < 1e-6 * abs(pole)
    # At rest the joints are where the reference is, and the efforts hold them
    gain = loop.transfer(0.0).real
    np.testing.assert_allclose(gain[:2], np.eye(2), atol=1e-9)
    np.testing.assert_allclose(gain[2:], at.U, atol=1e-9)


def test_loops_of_an_unsampled_law_are_as_before(model):
    loop = linearize(model, THETA, controller=JointPD(10, 2), inputs=["reference", "tip force"])
    G = linearize(model, THETA, outputs=["joints", "rates"], inputs=["tau", "tip force"])
    s = 2j * np.pi * 3.0
    plain = G.transfer(s)
    K = np.hstack([10 * np.eye(2), 2 * np.eye(2)])  # tau = -K [theta, thetad] + 10 r
    closed = np.linalg.solve(np.eye(4) + plain[:, :2] @ K, plain)
    expected = np.hstack([10 * closed[:2, :2], closed[:2, 2:]])
    np.testing.assert_allclose(loop.transfer(s), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["sampled LQG", "PD", "sampled PD", "another payload"])
def test_the_gain_margin_puts_a_pole_on_the_boundary(model, law, kind):
    laws = {"PD": JointPD(10, 2), "sampled PD": Sampled(JointPD(5, 0.3), 1e-4, 5e-5)}
    controller = laws.get(kind, law)
    robot = model
    if kind == "another payload":
        heavy = model.robot.with_("payload", {"mass": 0.05})
        robot = supple.build(heavy, supple.AssumedModes(3), damping=0.01)
    found = margins(robot, controller, THETA)
    assert found.stable
    loop = linearize(robot, THETA, outputs=["efforts"], inputs=["tau"], controller=controller)
    for i in range(2):
        for factor in (found.gain_up[i], found.gain_down[i]):
            if not np.isfinite(factor) or factor == 0:
                continue
            A = loop.A + (factor - 1) * np.outer(loop.B[:, i], loop.C[i])
            values = np.linalg.eigvals(A)
            edge = values.real.max() if loop.period is None else np.abs(values).max() - 1
            assert abs(edge) < 1e-9
        # the phase margin: |L| = 1 and its angle from -1
        T = loop.transfer(1j * found.crossover[i])[i, i]
        L = -T / (1 + T)
        assert abs(L) == pytest.approx(1, abs=1e-9)
        assert abs(np.angle(-L)) == pytest.approx(found.phase_margin[i], abs=1e-9)


def test_margins_of_a_rigid_link_in_closed_form():
    """L = (Kp + Kv s) / (J s^2): |L| = 1 where (J w^2)^2 = Kp^2 + (Kv w)^2."""
    text = {
        "name": "rod",
        "planar": True,
        "links": [{"name": "rod", "length": 1.0, "theory": "rigid"}],
    }
    text["links"][0] |= {"mass_per_length": 3.0}
    model = supple.build(supple.SerialRobot.model_validate(text))
    J = 1.0
    Kp = 40.0
    Kv = 6.0
    found = margins(model, JointPD(Kp, Kv))
    square = (Kv**2 + np.sqrt(Kv**4 + 4 * J**2 * Kp**2)) / (2 * J**2)
    crossover = np.sqrt(square)
    phase = np.arctan2(Kv * crossover, Kp)
    assert found.crossover[0] == pytest.approx(crossover, rel=1e-9)
    assert found.phase_margin[0] == pytest.approx(phase, rel=1e-9)
    assert found.delay_margin[0] == pytest.approx(phase / crossover, rel=1e-9)
    assert found.gain_up[0] == np.inf
    assert found.gain_down[0] == 0
    assert "stable" in repr(found)


def test_a_linear_quadratic_regulator_has_the_margins_that_it_must_have(model):
    """Kalman's inequality: |1 + L| >= 1, hence 60 degrees, and any gain above one half."""
    found = margins(model, supple.lqr(model, THETA), THETA)
    assert (found.sensitivity_peak <= 1 + 1e-6).all()
    assert (found.phase_margin_deg >= 60).all()
    assert (found.gain_down <= 0.5).all()
    assert (found.gain_up == np.inf).all()


def test_an_unstable_loop_has_no_margins(model):
    found = margins(model, Sampled(JointPD(100, 2), 0.02, 0.02), THETA)
    assert not found.stable
    assert np.isnan(found.gain_up).all()
    assert "not stable" in repr(found)


def test_what_cannot_be_linearised_is_said(model, law):
    cases = [
        (lambda: linearize(model, controller=Sampled(lambda t, q, qd: -q[:2], 1e-3)), "a function"),
        (lambda: linearize(model, controller="pd"), "give a Controller"),
        (lambda: linearize(model, outputs=["efforts"]), "give controller="),
        (lambda: margins(model, None), "give a Controller"),
        (lambda: linearize(model, controller=Sampled(law, 2e-3)), "designed for a period"),
    ]
    for call, sentence in cases:
        with pytest.raises(SuppleError, match=sentence):
            call()


# ---------------------------------------------------------------------- the same laws as C


def compiled(text: str, folder: Path) -> ctypes.CDLL:
    source = folder / "law.c"
    library = folder / "law.so"
    source.write_text(text)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wmissing-prototypes"]
    command = ["gcc", *flags, "-O1", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def step(library: ctypes.CDLL, y: np.ndarray, r: np.ndarray, joints: int) -> np.ndarray:
    tau = np.full(joints, np.nan)
    given = [np.ascontiguousarray(x, float) for x in (y, r)]
    pointers = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (*given, tau)]
    library.law_step(*pointers)
    return tau


@needs_gcc
def test_a_sampled_regulator_as_c_repeats_a_simulated_run(model, law, tmp_path):
    """Noisy gauges and limits that cut off: what C answers to the readings is what was applied."""
    computer = Sampled(law, PERIOD, delay=0.0, effort_limit=0.2)
    with pytest.warns(supple.SimulationWarning, match="another|designed"):
        run = supple.simulate(
            model,
            controller=computer,
            trajectory=[0.2, 0.3],
            q0=np.concatenate([THETA, np.zeros(4)]),
            duration=0.1,
            dt=PERIOD,
            outputs={f"y{i}": output for i, output in enumerate(MEASURES)},
        )
    assert (np.abs(run.tau) >= 0.2 - 1e-12).any()
    library = compiled(supple.c_code(computer, model), tmp_path)
    library.law_reset()
    readings = np.column_stack([run.outputs[f"y{i}"] for i in range(4)])
    answers = [step(library, y, np.array([0.2, 0.3]), 2) for y in readings]
    np.testing.assert_allclose(answers, run.tau, rtol=1e-9, atol=1e-11)


@needs_gcc
@pytest.mark.parametrize(
    "kind", ["pd", "gravity-pd", "decoupling", "computed-torque", "lqr", "strain", "clipped"]
)
def test_every_law_as_c_has_one_interface_and_gives_the_same_efforts(model, kind, tmp_path):
    laws = {
        "pd": lambda: JointPD([10.0, 4.0], 2.0),
        "gravity-pd": lambda: supple.GravityPD(10.0, 2.0),
        "decoupling": lambda: supple.Decoupling(100.0, 20.0),
        "computed-torque": lambda: supple.ComputedTorque(100.0, 20.0),
        "lqr": lambda: supple.lqr(model, THETA),
        "strain": lambda: supple.strain_feedback(model, THETA, 10.0, 2.0),
        "clipped": lambda: Sampled(JointPD(10.0, 2.0), 1e-3, effort_limit=[0.05, 0.02]),
    }
    given = laws[kind]()
    text = supple.c_code(given, model)
    library = compiled(text, tmp_path)
    library.law_reset()
    own = given.law if isinstance(given, Sampled) else given
    measured, _ = own.of_measurements(model)
    for place, name in enumerate(measured):
        assert f" * y[{place}] {name}\n" in text
    assert f"law_MEASURED = {len(measured)}" in text
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, qd = 0.1 * rng.normal(size=(2, model.size))
        wanted = 0.1 * rng.normal(size=(3, 2))
        known = dict(zip(model.coordinates, q, strict=True))
        known |= {f"d.{name}": v for name, v in zip(model.coordinates, qd, strict=True)}
        if kind == "strain":
            for gauge in own.gauges:
                known[gauge.names(model)[0]] = (gauge.row(model) @ q).item()
        y = np.array([known[name] for name in measured])
        expected = np.array(own.function(model)(q, qd, *wanted)).ravel()
        if kind == "clipped":
            expected = np.clip(expected, [-0.05, -0.02], [0.05, 0.02])
        np.testing.assert_allclose(
            step(library, y, wanted.ravel(), 2), expected, rtol=1e-9, atol=1e-12
        )


@needs_gcc
def test_decoupling_of_a_closed_loop_as_c(tmp_path):
    model = supple.build(supple.load("five-bar"), supple.AssumedModes(1))
    law = supple.Decoupling(100.0, 20.0)
    library = compiled(supple.c_code(law, model), tmp_path)
    expected = law.function(model)
    rng = np.random.default_rng(0)
    for _ in range(5):
        state = 1e-3 * rng.normal(size=(2, model.size))
        wanted = 1e-3 * rng.normal(size=(3, model.joints))
        ours = np.array(expected(*state, *wanted)).ravel()
        theirs = step(library, state.ravel(), wanted.ravel(), model.joints)
        np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-9)
