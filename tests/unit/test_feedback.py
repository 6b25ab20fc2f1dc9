"""Observers, LQG, integral action, strain feedback, resonant filters, H-infinity, and their C."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov, solve_discrete_are

import supple
from supple import Encoder, Sampled, Sensor, Strain, SuppleError, simulate
from supple.control.discrete import discretise_zero_order_hold
from supple.control.h_infinity_synthesis import h_infinity_controller
from supple.control.plant import at_rest, plant, solve_riccati_by_doubling

THETA = [0.0, 0.5]
ENCODERS = [Encoder("link1"), Encoder("link2")]
STRAINS = [Strain("link1"), Strain("link2")]
RATIO = 0.01  # of the arm's own modes, open loop
SERVO = ([4.0, 1.0], [1.0, 0.3])


@cache
def coarse() -> supple.Model:
    robot = supple.load("de-luca-two-link")
    return supple.build(robot, supple.AssumedModes(2), damping=RATIO)


@cache
def fine() -> supple.Model:
    robot = supple.load("de-luca-two-link")
    return supple.build(robot, supple.AssumedModes(4), damping=RATIO)


def weights(n: int) -> np.ndarray:
    return np.concatenate([np.full(n, 10.0), np.ones(n)])


@cache
def regulator(kind: str) -> supple.Controller:
    """Every law, designed on the coarse model."""
    model = coarse()
    n = coarse().size
    given = {"state_weight": weights(n), "effort_weight": 10.0, "effort_noise": 0.3}
    strains = {"measurement_noise": [1e-2, 1e-2, 0.1, 0.1]}
    made = {
        "strain": lambda: supple.strain_feedback(model, THETA, *SERVO),
        "resonant": lambda: supple.resonant_damping(model, THETA, *SERVO),
        "h-infinity": lambda: supple.h_infinity(model, THETA, *SERVO),
        "lqg": lambda: supple.lqg(model, THETA, [*ENCODERS, *STRAINS], **given, **strains),
        "lqg integral": lambda: supple.lqg(
            model, THETA, [*ENCODERS, *STRAINS], **given, **strains, integral=1.0
        ),
        "lqg acceleration": lambda: supple.lqg(
            model, THETA, [*ENCODERS, supple.Accelerometer("link2")], **given,
            measurement_noise=[1e-3, 1e-3, 0.02, 0.02, 0.02],
        ),
        "lqg sampled": lambda: supple.lqg(
            model, THETA, [*ENCODERS, *STRAINS], **given, **strains, integral=1.0,
            period=1e-3, delay=5e-4,
        ),
    }  # fmt: skip
    return made[kind]()


def loop(law: supple.Controller, model: supple.Model) -> np.ndarray:
    """Poles of the closed loop, 1/s, as the linear model of this Model predicts them."""
    if not isinstance(law, supple.LinearController):
        return supple.linearize(model, THETA, controller=law).eigenvalues
    at = plant(model, THETA, law.measures)
    if law.period is None:
        return np.linalg.eigvals(law.closed(at))
    values = np.linalg.eigvals(law.closed(at, law.period, 5e-4))
    return np.log(values[np.abs(values) > 1e-6].astype(complex)) / law.period


KINDS = [
    *("strain", "resonant", "h-infinity", "lqg", "lqg integral", "lqg acceleration"),
    "lqg sampled",
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_feedback_damps_the_first_mode_of_the_finer_model(kind):
    """At least three times its open-loop ratio, for every pole up to twice the locked frequency."""
    first = supple.modes(fine().robot, THETA, count=1).omega[0]
    values = loop(regulator(kind), fine())
    assert values.real.max() < 0
    near = values[np.abs(values) < 2 * first]
    assert len(near)
    assert (-near.real / np.abs(near)).min() > 3 * RATIO


@pytest.mark.slow
@pytest.mark.parametrize("law", ["strain_feedback", "resonant_damping", "h_infinity"])
def test_each_damper_of_a_stiff_servo_does_so_too(law):
    """A servo that hardly gives way damps nothing itself: 1.9 %; the laws three times 1 %."""
    servo = ([60.0, 20.0], [6.0, 2.0])
    first = supple.modes(fine().robot, THETA, count=1).omega[0]
    values = loop(getattr(supple, law)(coarse(), THETA, *servo), fine())
    assert values.real.max() < 0
    near = values[np.abs(values) < 2 * first]
    assert (-near.real / np.abs(near)).min() > 3 * RATIO


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["strain", "resonant", "lqg acceleration", "lqg sampled"])
def test_a_run_on_the_finer_model_dies_away_as_its_poles_say(kind):
    """From the same small start with the same law: the slowest pole bounds what is left."""
    law = regulator(kind)
    model = fine()
    period = getattr(law, "period", None)
    run = simulate(
        model, controller=law if period is None else Sampled(law, period, delay=5e-4),
        trajectory=THETA, q0=[0.02, 0.48, *np.full(model.size - 2, 1e-3)], duration=2.5, dt=5e-3,
    )  # fmt: skip
    assert run.complete
    slowest = -loop(law, model).real.max()
    error = np.abs(run.theta - THETA).max(axis=1)
    early = error[run.t < 0.25].max()
    late = error[run.t > 2.25].max()
    assert late < 2 * np.exp(-2 * slowest) * early


def test_doubling_solves_riccatis_equation():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5))
    B = rng.normal(size=(5, 2))
    Q = np.eye(5)
    R = np.diag([1.0, 2.0])
    np.testing.assert_allclose(
        solve_riccati_by_doubling(A, B, Q, R), solve_discrete_are(A, B, Q, R), rtol=1e-9
    )


def test_a_gain_solves_riccatis_equation_to_rounding():
    """Against Newton's steps with residuals in more digits; SciPy's own X gives 3.4e-8 here."""
    model = supple.build(supple.load("industrial-3"), supple.AssumedModes(2))
    law, (_, _, *system) = supple.lqr(model, [0, 0.5, 0.5]), at_rest(model, [0, 0.5, 0.5])
    A, B = (x.astype(np.longdouble) for x in system)
    K = law.gain.astype(np.longdouble)
    for _ in range(4):
        closed = np.asarray(A - B @ K, float)
        X = solve_continuous_lyapunov(closed.T, -np.asarray(np.eye(len(A)) + K.T @ K, float))
        for _ in range(4):  # this step itself to more digits
            short = (A - B @ K).T @ X + X @ (A - B @ K) + np.eye(len(A)) + K.T @ K
            X = X + solve_continuous_lyapunov(closed.T, -np.asarray(short, float))
        K = B.T @ X
    assert np.abs(law.gain - K).max() < 1e-9 * np.abs(K).max()


def test_held_efforts_are_those_of_a_run():
    """A rigid link: x+ of the delayed double integrator against simulate, delays up to 2.5 T."""
    robot = supple.load("de-luca-two-link")
    model = supple.build(robot.with_({f"links.{x}.theory": "rigid" for x in ("link1", "link2")}))
    at = plant(model, [0.0, 0.3], tuple(ENCODERS))
    T = 0.01
    efforts = np.random.default_rng(1).normal(size=(8, 2)) * 1e-6
    for delay in (0.0, 0.004, 0.01, 0.025):
        law = Sampled(lambda t, q, qd: efforts[round(t / T) % 8], T, delay)
        run = simulate(model, controller=law, q0=[0.0, 0.3], duration=0.06, dt=T)
        Phi, Gamma, _ = discretise_zero_order_hold(at.A, at.B, T, delay)
        x = np.zeros(len(Phi))
        for k in range(6):
            x = Phi @ x + Gamma @ efforts[k]
        found = np.concatenate([run.q[-1] - at.q, run.qd[-1]])
        np.testing.assert_allclose(found, x[:4], rtol=1e-5, atol=1e-14)


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
    joint: {type: revolute, damping: 0.5, hub: {inertia: 0.1}}
    tip: {mass: 0.2}
"""


@pytest.mark.slow
def test_errors_of_an_observer_are_those_it_predicts():
    """200 seeded runs, disturbed at every sample; variances of all states within 10 %."""
    model = supple.build(supple.loads(ONE_LINK), supple.AssumedModes(1), damping=0.05)
    T = 0.02
    disturbance = 1e-4
    noise = [2e-6, 1e-5]
    measures = [Encoder("link1"), Strain("link1")]
    seen = supple.observer(model, [0.0], measures, disturbance, noise, period=T)
    count = 120
    warm = 40
    errors = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        w = disturbance * rng.standard_normal((count + 1, 1))
        sensors = {
            str(k): Sensor(output, noise=noise[k], seed=10_000 + 2 * seed + k)
            for k, output in enumerate(measures)
        }
        law = Sampled(lambda t, q, qd, w=w: w[round(t / T)], T)
        run = simulate(
            model, controller=law, duration=count * T, dt=T, outputs=sensors, method="rk4",
            step=T / 4,
        )  # fmt: skip
        y = np.stack([run.outputs["0"], run.outputs["1"]], axis=1)
        found = seen.estimate(np.zeros((len(y), 1)), y)  # it knows no disturbance
        errors.append((np.hstack([run.q, run.qd]) - found)[warm::8])
    variance = np.mean(np.concatenate(errors) ** 2, axis=0)
    np.testing.assert_allclose(variance, np.diag(seen.covariance), rtol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_delayed_sampled_lqg_is_stable_where_the_sampled_model_says_so(factor):
    """An LQG designed without delay, run with delay: it loses stability where predicted."""
    model = supple.build(supple.loads(ONE_LINK), supple.AssumedModes(2), damping=0.01)
    T = 5e-3
    law = supple.lqg(
        model, [0.0], [Encoder("link1"), Strain("link1")],
        state_weight=100.0, effort_weight=1.0, effort_noise=1.0,
        measurement_noise=[1e-3, 1e-2], period=T,
    )  # fmt: skip
    at = plant(model, [0.0], law.measures)

    def radius(delay: float) -> float:
        return float(np.abs(np.linalg.eigvals(law.closed(at, T, delay))).max())

    low = 0.0
    high = 0.5
    assert radius(low) < 1
    grid = np.linspace(0, high, 400)
    high = float(grid[np.argmax([radius(d) > 1 for d in grid])])
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if radius(middle) < 1 else (low, middle)
    with pytest.warns(supple.SimulationWarning, match="designed for efforts that come 0 s late"):
        run = simulate(
            model, controller=Sampled(law, T, delay=factor * low), trajectory=[0.0],
            q0=[1e-5, 1e-6, 0], duration=4.0, dt=T,
        )  # fmt: skip
    size = np.abs(run.q).max(axis=1)
    rate = np.log(size[-200:].max() / size[200:400].max()) / (run.t[-100] - run.t[300])
    assert np.sign(rate) == np.sign(np.log(radius(factor * low))) == np.sign(factor - 1)


def test_integral_action_leaves_no_error_under_a_constant_disturbance():
    """Joints come to their reference; without it they stay off by the disturbance."""
    model = coarse()
    off = {}
    for kind in ("lqg", "lqg integral"):
        law = regulator(kind)
        A = law.closed(plant(model, THETA, law.measures))
        at = plant(model, THETA, law.measures)
        push = np.concatenate([at.B @ [0.1, 0.05], np.zeros(len(law.A))])
        off[kind] = np.abs(np.linalg.solve(A, -push)[:2]).max()
    assert off["lqg integral"] < 1e-9
    assert off["lqg"] > 1e-3


@pytest.mark.slow
def test_sampled_laws_converge_to_the_continuous_one():
    """With half the period half the difference: a held effort is half a period late."""
    law = regulator("lqg")
    model = coarse()
    given = {"trajectory": THETA, "q0": [0.05, 0.45, 0, 0, 0, 0], "duration": 0.5}
    a = simulate(model, controller=law, **given)
    runs = [simulate(model, controller=Sampled(law, T), **given) for T in (1e-3, 5e-4)]
    off = [np.abs(run.theta - a.theta).max() for run in runs]
    assert off[0] / off[1] == pytest.approx(2.0, rel=0.1)
    assert off[1] < 5e-4 * np.abs(a.qd[:, :2]).max()
    assert a.openness < 1e-3


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.slow] * (k == "h-infinity")) for k in KINDS[1:]]
)
def test_a_law_as_c_gives_the_same_efforts(kind, tmp_path):
    law = regulator(kind)
    model = coarse()
    T = 1e-3
    drive = Sampled(law, T, effort_limit=0.05)
    compiled = ctypes.CDLL(built(supple.c_code(drive, model), tmp_path))
    sampled = law.sampled(T)
    z = np.zeros(len(sampled.A))
    k = 2
    rng = np.random.default_rng(0)
    compiled.law_reset()
    for _ in range(20):
        y = sampled.y0 + 0.01 * rng.normal(size=len(sampled.y0))
        r = np.array(THETA) + 0.01
        u = np.concatenate([y - sampled.y0, r - sampled.r0])
        wanted = sampled.tau0 + sampled.C @ z + sampled.D @ u
        tau = np.clip(wanted, -0.05, 0.05)
        z = sampled.A @ z + sampled.B @ u
        if sampled.anti_windup is not None:
            z = z + sampled.anti_windup @ (tau - wanted)
        out = np.zeros(k)
        pointers = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (y, r, out)]
        compiled.law_step(*pointers)
        np.testing.assert_allclose(out, tau, rtol=1e-9, atol=1e-13)


def built(text: str, folder: Path) -> str:
    """The C text as a library."""
    source = folder / "law.c"
    library = folder / "law.so"
    source.write_text(text)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
    return str(library)


def test_what_feedback_cannot_be():
    model = coarse()
    law = regulator("lqg sampled")
    cases = [
        (lambda: supple.lqg(model, THETA, STRAINS, integral=1.0), "Encoder on every joint"),
        (lambda: supple.lqg(model, THETA, []), "measures is empty"),
        (lambda: supple.lqg(model, THETA, ["tip"]), "measures holds 'tip'"),
        (lambda: supple.lqg(model, THETA, measurement_noise=0.0), "measurement_noise must be"),
        (lambda: supple.lqg(model, THETA, effort_weight=0.0), "effort_weight must be positive"),
        (lambda: supple.observer(model, THETA, delay=0.1), "delay goes with period"),
        (lambda: simulate(model, controller=law, trajectory=THETA), "from sample to sample"),
        (
            lambda: simulate(model, controller=Sampled(law, 2e-3), trajectory=THETA),
            "designed for a period",
        ),
        (
            lambda: simulate(fine(), controller=supple.lqr(model, THETA), trajectory=THETA),
            "another model",
        ),
        (lambda: supple.strain_feedback(model, THETA, 1, 1, [Strain("link1")]), "gauges are 1"),
        (lambda: supple.c_code(regulator("lqg"), model), "continuous"),
        (lambda: supple.c_code(regulator("lqg"), model, "a-b"), "a name that C allows"),
        (
            lambda: simulate(
                model, controller=regulator("lqg"), trajectory=THETA, method="generalised-alpha"
            ),
            "states of its own",
        ),
    ]
    for call, sentence in cases:
        with pytest.raises(SuppleError, match=sentence):
            call()


def test_gauges_of_a_cylinder_are_asked_for() -> None:
    """A motor that is no link has no root for a gauge; its regulator comes without a warning."""
    bar = {"length": 1.0, "mass_per_length": 5.0, "bending_stiffness": 4e3}
    links = [bar | {"name": "boom", "joint": {"type": "revolute", "passive": True, "start": 0.5}}]
    foot = {"link": "base", "mount": {"xyz": [0.8, 0.0, 0.0]}}
    rod = {"name": "ram", "type": "distance", "ends": [foot, "boom"], "motor": True, "length": 0.5}
    given = {"name": "lift", "planar": True, "links": links, "closures": [rod]}
    model = supple.build(supple.MechanismRobot.model_validate(given), supple.AssumedModes(1))
    with pytest.raises(SuppleError, match="ram is no link, so that no gauge sits at its root"):
        supple.strain_feedback(model, [0.5], 1e5, 1e4)
    law = supple.strain_feedback(model, [0.5], 1e5, 1e4, [Strain("boom", 0.2, 0.01)])
    assert len(law.strain_gain) == 1
    regulator = supple.lqr(model, [0.5])
    at = supple.linearize(model, regulator.q)
    assert np.linalg.eigvals(at.A - at.B @ regulator.gain).real.max() < 0


@pytest.mark.parametrize("design", [supple.observer, supple.lqg])
@pytest.mark.parametrize(
    ("name", "theta", "output", "sentence"),
    [
        ("de-luca-two-link", [0.0, 0.0], supple.Strain("link1", 0.0, 1e-3), "not measured"),
        # along the straight arm the tip's place shows one of two joints: a pole of +1e-6 was given
        ("de-luca-two-link", [0.0, 0.0], supple.Tip(), "not measured"),
        ("kuo-delta", [0.3, 0.3, 0.3], supple.Tip(), "Hz that nothing damps is not measured"),
    ],
)
def test_what_cannot_be_observed_is_told_in_the_words_of_the_robot(
    design, name, theta, output, sentence
):
    """It quoted LAPACK: "Reordering of (A, B) failed"."""
    model = supple.build(supple.load(name), supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match=sentence) as problem:
        design(model, theta, [output])
    assert not re.search(r"\(A, B\)|finite solution|Schur|SVD", str(problem.value))


def test_the_h_infinity_controller_keeps_its_bound_and_is_the_least() -> None:
    """Gains of random loops lie below gamma; the least gamma is that of SLICOT's SB10AD.

    18.925335, 18.123517 and 13.735817 were computed by python-control 0.10.2 with slycot 0.7.1.
    """
    rng = np.random.default_rng(1)
    for n, least in ((4, 18.925335), (8, 18.123517), (12, 13.735817)):
        A = rng.normal(size=(n, n))
        if n > 4:
            A -= (np.linalg.eigvals(A).real.max() - 0.3) * np.eye(n)
        B1 = rng.normal(size=(n, 2))
        B2 = rng.normal(size=(n, 2))
        C1 = rng.normal(size=(3, n))
        C2 = rng.normal(size=(2, n))
        found = h_infinity_controller(A, B1, B2, C1, C2)
        assert found.least == pytest.approx(least, rel=2e-4)
        loop = np.block([[A, B2 @ found.C], [found.B @ C2, found.A]])
        assert np.linalg.eigvals(loop).real.max() < 0
        inputs = np.block([[B1, np.zeros((n, 2))], [np.zeros((n, 2)), found.B]])
        outputs = np.block([[C1, np.zeros((3, n))], [np.zeros((2, n)), found.C]])
        gains = [
            np.linalg.norm(outputs @ np.linalg.solve(1j * w * np.eye(2 * n) - loop, inputs), 2)
            for w in np.concatenate([[0.0], np.logspace(-3, 3, 2000)])
        ]
        assert max(gains) <= found.gamma * (1 + 1e-9)


def test_a_plant_that_cannot_be_stabilised_is_refused() -> None:
    one = np.ones((1, 1))
    none = np.zeros((1, 1))
    with pytest.raises(supple.SuppleError, match="finite"):
        h_infinity_controller(one, one, none, one, one)
