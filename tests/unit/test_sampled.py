"""Sampled laws: when they read, when their efforts act, and the loop they close."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import supple
from supple import JointPD, Sampled, SuppleError, simulate
from supple.integration.sampled import timetable

ONE_LINK = """
supple: 1
name: one-link
architecture: serial
planar: true
links:
  - name: link1
    length: 1.0
    theory: euler-bernoulli
    mass_per_length: 1.0
    bending_stiffness: 10.0
    joint: {type: revolute, hub: {inertia: 0.1}}
    tip: {mass: 0.2}
"""


@pytest.fixture(scope="module")
def one_link() -> supple.Model:
    return supple.build(supple.loads(ONE_LINK), supple.AssumedModes(2))


@pytest.fixture(scope="module")
def rigid() -> supple.Model:
    return supple.build(supple.loads(ONE_LINK).with_("links.link1.theory", "rigid"))


def test_a_law_reads_at_its_samples_and_acts_after_its_delay(rigid):
    for period, delay, dt in ((0.01, 0.004, 1e-3), (0.01, 0.025, 1e-3), (0.013, 0.0, 0.002)):
        seen = []

        def law(t, q, qd, seen=seen):
            seen.append(t)
            return [np.sin(7 * t) + len(seen)]

        run = simulate(rigid, controller=Sampled(law, period, delay), duration=0.1, dt=dt)
        count = int(np.floor(0.1 / period + 1e-9)) + 1
        assert seen == [k * period for k in range(count)]
        answers = [np.sin(7 * k * period) + k + 1 for k in range(count)]
        number = np.floor((run.t - delay) / period + 1e-9).astype(int)
        wanted = [answers[k] if k >= 0 else 0.0 for k in number]
        np.testing.assert_allclose(run.tau[:, 0], wanted, rtol=1e-14)


def test_times_of_a_run_that_fall_together_are_one():
    times = timetable(Sampled(JointPD(1, 1), 0.1, 0.3), np.linspace(0, 1, 11))
    assert len(times.t) == 11
    assert times.reads.tolist() == list(range(11))
    assert times.acts.tolist() == [-1, -1, -1, *range(8)]
    assert times.answer.tolist() == list(range(11))


def test_a_rigid_link_moves_as_the_sampled_double_integrator(rigid):
    """q+ = q + T qd + T^2 tau / 2 J, qd+ = qd + T tau / J with a constant effort between."""
    J = float(rigid.mass_matrix([0.0])[0, 0])
    T = 0.01
    delay = 0.004
    x = np.array([0.3, -0.2])
    run = simulate(
        rigid, controller=Sampled(lambda t, q, qd: -4 * q - qd, T, delay), q0=x[:1], qd0=x[1:],
        duration=0.5, dt=T,
    )  # fmt: skip
    tau = 0.0
    rows = [x]
    for _ in range(50):
        answer = -4 * x[0] - x[1]
        for h, effort in ((delay, tau), (T - delay, answer)):
            x = np.array([x[0] + h * x[1] + h**2 * effort / (2 * J), x[1] + h * effort / J])
        tau = answer
        rows.append(x)
    np.testing.assert_allclose(np.hstack([run.q, run.qd]), rows, atol=1e-13)
    assert np.abs(run.balance).max() < 1e-13


def test_efforts_are_clipped_and_joints_rounded(rigid):
    seen = []

    def law(t, q, qd):
        seen.append(q[0])
        return [100 * q[0]]

    made = Sampled(law, 0.01, effort_limit=0.5, quantisation=0.01)
    with pytest.warns(supple.SimulationWarning, match="effort limit 0.5 in 100% of the samples"):
        run = simulate(rigid, controller=made, q0=[0.123], duration=0.2, dt=0.01)
    assert np.abs(run.tau).max() == 0.5
    np.testing.assert_allclose(np.array(seen) / 0.01, np.round(np.array(seen) / 0.01), atol=1e-9)
    np.testing.assert_allclose(seen, 0.01 * np.round(run.q[:, 0] / 0.01), atol=1e-12)


def test_the_limits_of_the_joints_are_the_default(rigid):
    robot = rigid.robot.with_("links.link1.joint.effort_limit", 0.3)
    limited = supple.build(robot)
    law = JointPD(50.0, 1.0)
    for given, most in ((None, 0.3), (0.7, 0.7)):
        made = Sampled(law, 0.01, effort_limit=given)
        options = {"controller": made, "trajectory": [0.0], "q0": [0.5], "duration": 0.05}
        if given is None:
            run = simulate(limited, **options)
        else:
            with pytest.warns(supple.SimulationWarning, match="reaches 0.7, its effort_limit is"):
                run = simulate(limited, **options)
        assert np.abs(run.tau).max() == most
    with pytest.warns(supple.SimulationWarning, match="effort_limit is 0.3"):
        simulate(limited, [1.0], duration=0.01)


def test_a_current_loop_lags_as_its_exponential(rigid):
    """tau = c_k + (tau_k - c_k) exp(-t / lag), and qd by its integral."""
    J = float(rigid.mass_matrix([0.0])[0, 0])
    lag = 3e-3
    T = 0.01
    commands = [1.0, -2.0, 0.5]
    run = simulate(
        rigid, controller=Sampled(lambda t, q, qd: [commands[round(t / T) % 3]], T, lag=lag),
        duration=0.03, dt=1e-3,
    )  # fmt: skip
    tau = 0.0
    speed = 0.0
    at = 0
    for c in commands:
        t = np.arange(10) * 1e-3
        np.testing.assert_allclose(
            run.tau[at : at + 10, 0], c + (tau - c) * np.exp(-t / lag), rtol=1e-12, atol=1e-14
        )
        speed += (c * T + (tau - c) * lag * (1 - np.exp(-T / lag))) / J
        tau = c + (tau - c) * np.exp(-T / lag)
        at = at + 10
        assert run.qd[at, 0] == pytest.approx(speed, rel=1e-7)


def test_generalised_alpha_follows_the_same_samples(one_link):
    made = Sampled(JointPD(6.0, 1.0), 5e-3, delay=2e-3, effort_limit=1.0)
    options = {"controller": made, "trajectory": [0.5], "q0": np.zeros(3), "duration": 0.06}
    a = simulate(one_link, **options)
    b = simulate(one_link, **options, method="generalised-alpha", step=2e-5)
    assert a.method == "rk4"
    assert np.abs(a.tau).max() == 1.0
    np.testing.assert_allclose(a.q, b.q, atol=2e-6)
    np.testing.assert_allclose(a.tau[1:-1], b.tau[1:-1], atol=2e-4)


def sampled_matrix(model: supple.Model, gain, period: float, delay: float):
    """x+ = Phi x of [state, efforts under way], of the linear model under a sampled law u = -G x.

    Between two samples the efforts of the last ceil(delay / period) + 1 answers act, each for its
    own part of the period; exponentials of [[A, B], [0, 0]] are exact.
    """
    found = supple.linearize(model, np.zeros(model.size))
    A = found.A
    B = found.B
    n, m = B.shape
    whole = int(delay // period)
    rest = delay % period

    def held(h):
        E = expm(h * np.block([[A, B], [np.zeros((m, n + m))]]))
        return E[:n, :n], E[:n, n:]

    (F1, G1), (F2, G2) = held(rest), held(period - rest)
    depth = whole + 1
    Phi = np.zeros((n + depth * m, n + depth * m))
    Phi[:n, :n] = F2 @ F1

    def share(age, G):
        if age == 0:
            Phi[:n, :n] += -G @ gain
        else:
            at = n + (age - 1) * m
            Phi[:n, at : at + m] += G

    share(whole + 1, F2 @ G1)
    share(whole, G2)
    Phi[n : n + m, :n] = -gain
    for k in range(1, depth):
        Phi[n + k * m : n + (k + 1) * m, n + (k - 1) * m : n + k * m] = np.eye(m)
    return Phi


@pytest.mark.parametrize("period", [2e-3, 8e-3])
def test_stability_is_lost_at_the_delay_of_the_sampled_linear_model(one_link, period):
    """Within 1 %: 0.99 of the critical delay decays, 1.01 of it grows, at the predicted rates.

    What is left of a motion along the critical mode alone: its left eigenvector times the state at
    the samples and the efforts under way.
    """
    kp = 20.0
    kd = 2.0
    gain = np.zeros((1, 6))
    gain[0, 0] = kp
    gain[0, 3] = kd

    def radius(delay):
        return np.abs(np.linalg.eigvals(sampled_matrix(one_link, gain, period, delay))).max()

    low = 0.0
    high = 0.05
    assert radius(low) < 1 < radius(high)
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if radius(middle) < 1 else (low, middle)
    for factor in (0.99, 1.01):
        Phi = sampled_matrix(one_link, gain, period, factor * low)
        values, vectors = np.linalg.eig(Phi.T)
        j = int(np.abs(values).argmax())
        made = Sampled(JointPD(kp, kd), period, delay=factor * low)
        run = simulate(
            one_link, controller=made, trajectory=[0.0], q0=[1e-5, 1e-6, 0], duration=4.0, dt=period
        )
        x = np.hstack([run.q, run.qd])
        answers = -x @ gain.T
        depth = len(Phi) - 6
        late = [np.roll(answers, k, axis=0) for k in range(1, depth + 1)]
        size = np.abs(np.hstack([x, *late]) @ vectors[:, j])
        rate = np.log(size[-1] / size[100]) / (run.t[-1] - run.t[100])
        assert np.sign(rate) == np.sign(factor - 1)
        assert rate == pytest.approx(np.log(np.abs(values[j])) / period, rel=0.02)


def test_what_a_sampled_law_cannot_be(one_link):
    pd = JointPD(1, 1)
    cases = [
        ({"law": 3, "period": 1e-3}, "law is 3"),
        ({"law": Sampled(pd, 1e-3), "period": 1e-3}, "sampled once"),
        ({"law": pd, "period": 0}, "period is 0"),
        ({"law": pd, "period": 1e-3, "delay": -1}, "delay is -1"),
        ({"law": pd, "period": 1e-3, "effort_limit": -2}, "effort_limit is -2"),
        ({"law": pd, "period": 1e-3, "quantisation": "a"}, "quantisation"),
        ({"law": pd, "period": 1e-3, "lag": np.nan}, "lag"),
    ]
    for words, sentence in cases:
        with pytest.raises(SuppleError, match=sentence):
            Sampled(**words)
    with pytest.raises(SuppleError, match="effort_limit has 2 entries"):
        simulate(one_link, controller=Sampled(pd, 1e-3, effort_limit=[1, 2]), trajectory=[0.0])
    with pytest.raises(SuppleError, match="a controller needs a trajectory"):
        simulate(one_link, controller=Sampled(pd, 1e-3))
    with pytest.raises(SuppleError, match="takes 1 arguments"):
        simulate(one_link, controller=Sampled(lambda t: [0.0], 1e-3))
    with pytest.raises(SuppleError, match="tau and controller are both given"):
        simulate(one_link, [0.0], controller=Sampled(lambda t, q, qd: [0.0], 1e-3))
    with pytest.raises(SuppleError, match="method adams takes no Python function"):
        simulate(one_link, controller=Sampled(pd, 1e-3), trajectory=[0.0], method="adams")
    with pytest.raises(SuppleError, match="it must give 1 finite numbers"):
        simulate(one_link, controller=Sampled(lambda t, q, qd: [1.0, 2.0], 1e-3))


def test_a_law_that_fails_in_mid_run_leaves_what_was_done(one_link):
    def law(t, q, qd):
        if t > 0.05:
            raise ValueError("no more")
        return [0.1]

    with pytest.warns(supple.SimulationWarning, match="failed at t = 0.06 s"):
        run = simulate(one_link, controller=Sampled(law, 0.02), duration=0.2)
    assert run.t[-1] == pytest.approx(0.06)
    assert run.tau.shape == (len(run.t), 1)
    assert not run.complete


@pytest.mark.parametrize("law", [supple.Decoupling(1e9, 1e5), supple.GravityPD(1e9, 1e5)])
def test_a_sampled_law_that_drives_a_delta_apart_says_that_the_motion_ran_away(law):
    """It said that "the effort function gave nan", of a function that nobody had written."""
    model = supple.build(supple.load("kuo-delta"), supple.AssumedModes(1))
    path = supple.ParabolicBlends([0.1] * 3, [0.3] * 3, duration=0.2, blend=0.05)
    sampled = Sampled(law, period=1e-3, effort_limit=50)
    with pytest.warns(supple.SimulationWarning, match="loops can no longer be closed"):
        run = simulate(model, controller=sampled, trajectory=path, duration=0.2)
    assert 0 < run.t[-1] < 0.2
    assert np.isfinite(run.q).all()
    assert "effort function" not in run.message
