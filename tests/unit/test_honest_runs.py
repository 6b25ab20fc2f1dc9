"""Runs that could mislead: default steps, Python functions, stale solvers, laws that remember."""

import os
import signal
import threading
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import supple
from supple import (
    AssumedModes,
    BangBang,
    Model,
    SimulationWarning,
    SuppleError,
    build,
    load,
    simulate,
)
from supple.integration.steppers.registry import STEPPERS
from supple.integration.time_functions import located_jumps


@pytest.fixture(scope="module")
def two() -> Model:
    return build(load("de-luca-two-link"), AssumedModes(2))


@pytest.fixture(scope="module")
def stiff() -> tuple[Model, np.ndarray]:
    """industrial-3 with a link bent by 0.1 mm, let go: 1417 to 2108 rad/s, undamped."""
    model = build(load("industrial-3"), AssumedModes(1))
    return model, np.r_[np.zeros(5), 1e-4]


def test_the_default_keeps_the_energy_of_an_undamped_arm(stiff):
    run = simulate(stiff[0], q0=stiff[1], duration=0.3)
    assert abs(run.energy[-1] / run.energy[0] - 1) < 1e-3
    assert run.step < 1e-4
    assert np.allclose(np.diff(run.t), 1e-3)


@pytest.mark.parametrize("form", ["function of time", "function of state", "controller"])
def test_a_python_function_keeps_it_too(stiff, form):
    (model, q0), zero = stiff, np.zeros(3)
    given = {
        "function of time": {"tau": lambda t: zero},
        "function of state": {"tau": lambda t, q, qd: zero},
        "controller": {"controller": lambda t, q, qd, r: zero, "trajectory": q0[:3]},
    }[form]
    run = simulate(model, q0=q0, duration=0.02, **given)
    tight = simulate(model, q0=q0, duration=0.02, method="adams", tolerance=1e-12)
    late = 3e-5  # rad, of the fastest mode under steps that follow the error
    if form == "function of time":
        assert run.method == "rk4"
        late = 2108 * 0.02 * (2108 * run.step) ** 4 / 120
    assert np.abs(run.q - tight.q).max() < 1.2 * late * np.abs(tight.q).max() + 1e-9
    assert abs(run.energy[-1] / run.energy[0] - 1) < 1e-4


def test_samples_are_not_steps(stiff):
    model, q0 = stiff
    few, many = (simulate(model, q0=q0, duration=0.02, samples=n) for n in (2, 200))
    assert (len(few.t), len(many.t)) == (3, 201)
    assert np.abs(few.q[-1] - many.q[-1]).max() < 1e-3 * np.abs(q0).max()
    with pytest.raises(SuppleError, match="dt and samples are both given"):
        simulate(model, q0=q0, duration=0.02, samples=2, dt=0.01)


def test_an_open_balance_is_told_relative_to_the_energy_exchanged(stiff):
    model, q0 = stiff
    with pytest.warns(
        SimulationWarning, match=r"open by .* of the energy exchanged: give a smaller"
    ):
        run = simulate(model, q0=q0, duration=0.1, step=5e-4)
    assert run.openness == pytest.approx(np.abs(run.balance).max() / run.exchanged)
    assert run.openness > 0.1
    assert np.abs(run.balance).max() < 1e-2  # J: small in itself, all of what there was
    with pytest.warns(SimulationWarning, match="give a smaller tolerance"):
        simulate(model, q0=q0, duration=0.1, method="bdf", tolerance=1e-4)


def test_a_function_that_jumps_is_noticed(two):
    wanted = simulate(two, BangBang(0.2, 0.1), duration=0.3, method="adams", tolerance=1e-12)

    def effort(t, *state):
        return [0.2 if t < 0.1 else -0.2 if t < 0.2 else 0.0] * 2

    for form in (lambda t: effort(t, None), lambda t, q, qd: effort(t)):
        run = simulate(two, form, duration=0.3)
        assert np.abs(run.q[-1] - wanted.q[-1]).max() < 1e-6  # 2.5e-3 rad when steps ran over it


def test_jumps_are_located_to_rounding():
    t = np.linspace(0, 1, 101)

    def f(t):
        return np.stack([np.where(t < 1 / 3, 0.0, 1.0) + np.sin(t), t >= 0.7], axis=1)

    assert located_jumps(f, t, f(t)) == pytest.approx([1 / 3, 0.7], abs=1e-13)
    assert located_jumps(lambda t: np.sin(40 * t)[:, None], t, np.sin(40 * t)[:, None]) == []


def _turning_back(t, q, qd):
    """An effort that switches where the arm is, which nobody tells beforehand, and with time."""
    return [0.2 if q[0] < 0.005 else -0.2, 0.1 if t < 0.1234 else -0.1]


@pytest.mark.filterwarnings("ignore:steps of 0.001 s keep the energy")  # the longest is late
@pytest.mark.parametrize("given", [BangBang(0.1, 0.05), _turning_back])
def test_generalised_alpha_is_of_second_order_over_switches(two, given):
    """Accelerations are made new at a switch; before, halving the step halved the error."""
    exact = {"method": "adams", "tolerance": 1e-12} if given is not _turning_back else {}
    wanted = simulate(two, given, duration=0.15, **exact)
    off = []
    for step in (1e-3, 5e-4, 2.5e-4):
        run = simulate(two, given, duration=0.15, method="generalised-alpha", step=step)
        off.append(np.abs(run.q[-1] - wanted.q[-1]).max())
    assert STEPPERS["generalised-alpha"].order == 2
    assert np.log2(off[0] / off[1]) > 1.7
    assert np.log2(off[1] / off[2]) > 1.7


def test_a_law_that_chatters_is_told(two):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulate(two, lambda t, q, qd: -0.01 * np.sign(qd[:2] - 0.001), duration=0.01)
    assert any("the effort function jumps again" in str(each.message) for each in caught)


@pytest.mark.parametrize("method", [None, "generalised-alpha"])
def test_a_law_with_noise_ends_and_is_told(two, method):
    """Every halving of a step meets another jump: it was halved 2^24 times, for ever."""
    noise = np.random.default_rng(1).normal
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = simulate(two, lambda t, q, qd: noise(size=2), duration=0.005, method=method)
    assert any("the effort function jumps again" in str(each.message) for each in caught)
    assert run.complete
    assert run.tau.shape == (6, 2)
    assert run.step <= 1e-3  # samples are no further apart


@dataclass(frozen=True, eq=False, repr=False)
class Swing(supple.Trajectory):
    """A sine of one's own: no polynomial, and a repr that is an address."""

    amplitude: float
    pace: float = 60.0

    @property
    def duration(self) -> float:
        return 0.1

    def at(self, t):
        w = self.pace
        e = np.ones(2) * self.amplitude
        x = np.outer(1 - np.cos(w * t), e)
        v = np.outer(w * np.sin(w * t), e)
        return x, v, np.outer(w**2 * np.cos(w * t), e)


@pytest.mark.parametrize("method", ["adams", "bdf", "rk4", "generalised-alpha"])
def test_a_trajectory_of_ones_own_is_followed_as_it_is(two, method):
    """Two turns of a sine are far from a polynomial of degree 7."""
    law = supple.Decoupling()
    run = simulate(two, controller=law, trajectory=Swing(0.1), dt=5e-3, method=method, step=1e-3
                   if method == "generalised-alpha" else None)  # fmt: skip
    assert np.abs(run.theta - Swing(0.1)(run.t)[0]).max() < 1e-5


class Told(supple.Trajectory):
    """A motion whose rates are turned round, or none."""

    duration = 0.1

    def __init__(self, sign: float | None) -> None:
        self.sign = sign

    def at(self, t):
        if self.sign is None:
            return 0.1 * t**2
        each = 0.1 * t**2, self.sign * 0.2 * t, 0.2 + 0 * t
        return tuple(np.stack([part, part], axis=1) for part in each)


def test_rates_of_ones_own_trajectory_that_are_none_are_told(two):
    """Velocity of the wrong sign was followed without a word."""

    def driven(model, path):
        return simulate(model, controller=supple.JointPD(5.0, 0.5), trajectory=path)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        driven(two, Told(1.0))
    for ask in (supple.follow, driven):
        with pytest.warns(SimulationWarning, match="velocity of Told is not the rate of its pos"):
            ask(two, Told(-1.0))
        with pytest.raises(SuppleError, match=r"at.t. of Told gave .* it must give position, velo"):
            ask(two, Told(None))


def test_no_run_takes_the_solver_of_another(two):
    """Trajectories that were collected leave their address to the next one."""
    law = supple.JointPD(50.0, 5.0)
    ends = {}
    for k in range(6):
        run = simulate(two, controller=law, trajectory=Swing(0.01 * k), dt=0.05, method="adams")
        ends[k] = run.theta[-1, 0]
    assert ends[0] == pytest.approx(0.0, abs=1e-9)
    assert np.diff(list(ends.values())) == pytest.approx([ends[1]] * 5, rel=0.05)


def test_tau_is_what_was_applied(two):
    """A law that remembers is asked during the run only, and its answers are kept."""
    given: dict[float, list[np.ndarray]] = {}
    rng = np.random.default_rng(0)

    class Law:
        def __call__(self, t, q, qd):
            tau = 0.01 * (1 + 0.01 * rng.random(2))
            given.setdefault(t, []).append(tau)
            return tau

    with pytest.warns(SimulationWarning, match="does not give the same again"):
        run = simulate(two, Law(), duration=0.02)
    for t, tau in zip(run.t, run.tau, strict=True):
        assert any(np.array_equal(tau, each) for each in given[float(t)])
    assert max(given) == pytest.approx(0.02)


def test_generalised_alpha_tells_of_a_law_that_remembers(two, recwarn):
    """Its integral grows with every question, of which a step asks a few: rk4 says so too."""

    class Law:
        total = 0.0

        def __call__(self, t, q, qd):
            self.total += 1e-4 * (0.1 - q[0])
            return np.array([self.total, 0.0])

    with pytest.warns(SimulationWarning, match="does not give the same again"):
        simulate(two, Law(), duration=0.005, method="generalised-alpha")
    recwarn.clear()
    pure = simulate(two, lambda t, q, qd: -q[:2], duration=0.005, method="generalised-alpha")
    assert not recwarn.list
    assert pure.complete


def test_a_function_of_time_that_remembers_is_told(two):
    """It was taken for a function: asked before the run, and once more for run.tau."""
    asked = []

    def law(t):
        asked.append(t)
        return [1e-5 * len(asked), 0.0]

    with pytest.warns(SimulationWarning, match="does not give the same again"):
        run = simulate(two, law, duration=0.01)
    given = {t: 1e-5 * (k + 1) for k, t in enumerate(asked)}
    latest = [k for k, t in enumerate(asked) if t == run.t[-1]][-1]
    assert latest == len(asked) - 1  # nothing was asked after the run
    assert run.tau[-1, 0] == given[run.t[-1]]


def test_stiff_loops_go_to_bdf_and_tables_do_not_restart_for_ever(two):
    path = supple.PointToPoint((0, 0), (0.5, 0.3), 0.3)
    run = simulate(two, controller=supple.JointPD(3000.0, 300.0), trajectory=path)
    assert run.method == "bdf"
    t = np.linspace(0, 1, 500)
    table = simulate(two, (t, 0.1 * np.sin([6 * t, 9 * t]).T), duration=1.0)
    assert table.method == "rk4"
    assert table.openness < 1e-4


@pytest.mark.parametrize("of_state", [False, True])
def test_a_vibration_between_the_samples_is_seen(two, of_state, monkeypatch):
    """2001 Hz looked at every half millisecond is 1 Hz: 0.34 rad instead of 2e-4 in silence."""
    monkeypatch.setattr("supple.integration.time_functions.SCAN_POINTS", 40)
    monkeypatch.setattr("supple.integration.time_functions.MAX_SCAN_POINTS", 2560)

    def wave(t):
        return [np.sin(2 * np.pi * 2001 * t), 0.0]

    law = (lambda t, q, qd: wave(t)) if of_state else wave
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is exchanged is next to nothing: no balance of it
        run = simulate(two, law, duration=0.02)
    wanted = simulate(two, wave, duration=0.02, method="rk4", step=1e-5)
    assert np.abs(run.q - wanted.q).max() < 2e-3 * np.abs(wanted.q).max()


def test_an_input_that_is_zero_at_every_sample(two):
    """3 kHz seen every millisecond: its size was taken from the samples, and no piece was short
    enough for a polynomial to meet it; the run did not end."""
    given = {"tau": lambda t: [np.sin(6000 * np.pi * t), 0.0], "duration": 0.001}
    wanted = simulate(two, **given, method="rk4", step=1e-6)
    run = simulate(two, **given, method="adams")
    assert np.abs(run.q - wanted.q).max() < 1e-6 * np.abs(wanted.q).max()


def test_a_refusal_recommends_what_works(two):
    with pytest.raises(SuppleError, match=r"method magnus is for Decoupling .*: use rk4"):
        simulate(two, method="magnus", duration=0.1)


@pytest.fixture
def minded():
    """SIGINT raises, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("method", ["rk4", "adams", "bdf", "generalised-alpha"])
def test_ctrl_c_keeps_what_was_computed(two, method, minded):
    """A real signal, in the middle of a run of 3,000 s."""
    q0 = np.r_[0, 0, 0.01, 0.01, 0.01, 0.01]
    simulate(two, q0=q0, duration=0.1, method=method)  # made once
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.warns(SimulationWarning, match="stopped by the user"):
        run = simulate(two, q0=q0, duration=3000.0, dt=0.01, method=method)
    assert "stopped by the user" in run.message
    assert not run.complete
    assert 1 < len(run.t) < 300_000
    assert np.isfinite(run.q).all()
    assert len(run.tau) == len(run.t)


@pytest.mark.parametrize(
    ("method", "step", "dt"),
    [("gauss", 1 / 105, 1 / 105), ("generalised-alpha", 1e-4, 0.0025)],
)
def test_a_step_that_loses_time_and_no_energy_is_told(method, step, dt):
    """A cantilever of 100 Hz for a second: the balance closes, and the vibration is late."""
    beam = {"mass_per_length": 1.0, "bending_stiffness": (200 * np.pi / 3.516015) ** 2}
    link = {"name": "one", "length": 1.0, **beam, "joint": {"type": "fixed"}}
    model = build(supple.SerialRobot(name="bar", planar=True, links=[link]), AssumedModes(1))
    with pytest.warns(SimulationWarning, match="keep the energy of this run but not its time"):
        run = simulate(model, q0=[1e-4], duration=1.0, dt=dt, method=method, step=step)
    assert run.openness < 1e-3
    off = np.abs(run.q[-8:, 0] - 1e-4 * np.cos(200 * np.pi * run.t[-8:])).max()  # in quadrature
    assert off > 0.05 * 1e-4
    simulate(model, q0=[1e-4], duration=0.05, method=method, step=step / 4)


@pytest.mark.parametrize("method", ["rk4", "generalised-alpha"])
def test_efforts_that_blow_up_end_in_a_sentence(method, two):
    """generalised-alpha ended in a LinAlgError, rk4 blamed a function that was given NaN."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            told = simulate(
                two, tau=lambda t, q, qd: 1e9 * qd[:2] + 1, duration=1.0, method=method
            ).message
        except SuppleError as problem:
            told = str(problem)
    assert "speeds grew" in told or "did not converge" in told
    assert all(issubclass(w.category, SimulationWarning) for w in caught), [
        str(w.message) for w in caught
    ]


def test_a_tolerance_counts_where_a_python_function_is_asked_in_equal_steps(two):
    """It was passed over: the same run with and without it."""
    qd0 = np.array([0, 0, 0, 0.5, 0, 0.3])

    calls = []

    def efforts(t, q, qd):
        calls.append(t)
        return [0.1 * np.sin(5 * t), 0.0]

    plain = simulate(two, tau=efforts, qd0=qd0, duration=0.5)
    asked = len(calls)
    close = simulate(two, tau=efforts, qd0=qd0, duration=0.5, tolerance=1e-12)
    assert max(plain.openness, close.openness) < 1e-9
    assert len(calls) - asked > 1.3 * asked  # shorter steps


@pytest.mark.parametrize(("gains", "most"), [((50.0, 5.0), 4000), ((3000.0, 300.0), 6000)])
def test_a_python_law_is_asked_little_and_moves_as_the_same_law_of_ours(gains, most):
    """152,614 calls for half a second of this arm, for the sake of modes that nothing excites."""
    model = build(load("industrial-3"), AssumedModes(2))
    path = supple.PointToPoint([0, 0, 0], [0.1, 0.1, 0.1], 0.1)
    calls = []

    def law(t, q, qd, wanted):
        calls.append(t)
        return gains[0] * (wanted[0] - q[:3]) + gains[1] * (wanted[1] - qd[:3])

    own = simulate(model, controller=law, trajectory=path)
    ours = simulate(model, controller=supple.JointPD(*gains), trajectory=path, method="rk4")
    assert len(calls) < most
    assert np.abs(own.q - ours.q).max() < 1e-6 * np.abs(ours.q).max()
    assert np.abs(own.q - ours.q)[:, 3:].max() < 1e-3 * np.abs(ours.q[:, 3:]).max()


def test_a_python_law_of_the_deflections_is_followed(two):
    """Its slopes by elastic coordinates are in the matrix of a step, or no step would converge."""
    gain = np.array([[8.0, 2.0, 300.0, 0, 0, 0], [0, 3.0, 0, 0, 200.0, 0]])
    run = simulate(two, lambda t, q, qd: -gain @ q - 0.05 * gain @ qd, q0=[0.1, 0.1, 0, 0, 0, 0],
                   duration=0.1)  # fmt: skip
    wanted = simulate(two, lambda t, q, qd: -gain @ q - 0.05 * gain @ qd, method="rk4",
                      q0=[0.1, 0.1, 0, 0, 0, 0], duration=0.1)  # fmt: skip
    assert (np.abs(run.q - wanted.q) < 1e-6 * np.abs(wanted.q).max(axis=0)).all()
