"""Adaptive control: its regressor, the fall of its Lyapunov function, and convergence."""

import numpy as np
import pytest

import supple
from supple.control.adaptive import AdaptiveControl, _tracking_regressor

ARM = supple.load("de-luca-two-link")
LIGHT = ARM.with_({"payload.mass": 0.02, "payload.inertia": 1e-4})  # what the law believes
HEAVY = ARM.with_({"payload.mass": 0.3, "payload.inertia": 1.5e-3})  # what is on the arm
RIGID = HEAVY.with_({"links.link1.theory": "rigid", "links.link2.theory": "rigid"})
STIFF = HEAVY.with_({f"links.link{k}.bending_stiffness": 200.0 for k in (1, 2)})
MOVE = supple.Repeated(supple.PointToPoint([0, 0], [0.8, -0.6], 1.0))


def law(adaptation=100.0, **more):
    return AdaptiveControl(LIGHT, bandwidth=8, damping_gain=0.5, adaptation=adaptation, **more)


def errors(model, controller, duration=8.0):
    """Largest joint error in each period of 2 s."""
    run = supple.simulate(model, controller=controller, trajectory=MOVE, duration=duration)
    error = np.linalg.norm(run.theta - run.reference, axis=1)
    return [float(error[(run.t >= t) & (run.t < t + 2)].max()) for t in np.arange(0, duration, 2)]


def test_the_regressor_is_that_of_christoffels_matrix():
    model = supple.build(RIGID)
    _, pi, function = AdaptiveControl(RIGID).constants(model)
    rng = np.random.default_rng(5)
    for _ in range(3):
        theta, rate, v, a = rng.normal(size=(4, 2))
        Y = np.array(_tracking_regressor(function, *map(np.array, (theta, rate, v, a))))
        right = model.mass_matrix(theta) @ a + model.coriolis(theta, rate) @ v
        assert np.allclose(Y @ pi, right + model.gravity(theta), rtol=1e-10, atol=1e-12)


def test_the_lyapunov_function_falls_at_its_rate():
    """V + int s' K s dt is constant on a rigid arm, whatever the payload is."""
    model = supple.build(RIGID)
    controller = law()
    run = supple.simulate(
        model, controller=controller, trajectory=MOVE, duration=2.0, dt=5e-4, tolerance=1e-10
    )
    _, nominal, _ = controller.constants(model)
    names, right, _ = AdaptiveControl(RIGID).constants(model)
    gamma = controller.adaptation * controller._scale(nominal) ** 2
    found = controller.estimates(run, MOVE)
    wrong = np.stack([found[name] for name in names], axis=1) - right
    r, rd, _ = MOVE(run.t)
    s = run.qd - rd + 8 * (run.q - r)
    V = np.einsum("ti,tij,tj->t", s, model.mass_matrix(run.q), s) / 2
    V += (wrong**2 / gamma).sum(axis=1) / 2
    lost = 0.5 * (s**2).sum(axis=1)
    gone = np.concatenate([[0], np.cumsum((lost[1:] + lost[:-1]) / 2 * np.diff(run.t))])
    assert np.abs(V + gone - V[0]).max() < 1e-4 * V[0]
    assert gone[-1] > 0.01 * V[0]


def test_the_error_converges_with_a_wrong_payload_on_a_rigid_arm():
    without, with_ = (errors(supple.build(RIGID), law(rate)) for rate in (0.0, 100.0))
    assert without[-1] > 0.05
    assert with_[-1] < 0.1 * without[-1]
    assert with_[-1] < with_[0]


def test_the_error_converges_on_a_lightly_flexible_arm():
    model = supple.build(STIFF, supple.AssumedModes(1), damping=0.02)
    without, with_ = (errors(model, law(rate)) for rate in (0.0, 100.0))
    assert with_[-1] < 0.15 * without[-1]


def test_leakage_holds_the_estimates_back():
    model = supple.build(RIGID)
    free, held = (
        supple.simulate(model, controller=each, trajectory=MOVE, duration=2.0)
        for each in (law(), law(leakage=1.0))
    )
    moved = law().estimates(free, MOVE)["m_t2"][-1] - 0.02
    kept = law(leakage=1.0).estimates(held, MOVE)["m_t2"][-1] - 0.02
    assert abs(kept) < 0.5 * abs(moved)


def test_what_it_cannot_do_is_told():
    model = supple.build(STIFF, supple.AssumedModes(1))
    other = AdaptiveControl(supple.load("industrial-3"))
    with pytest.raises(supple.SuppleError, match="the same robot"):
        supple.simulate(model, controller=other, trajectory=MOVE, duration=0.1)
    with pytest.raises(supple.SuppleError, match="states of its own"):
        supple.linearize(model, controller=law())
    with pytest.raises(supple.SuppleError, match="bandwidth"):
        AdaptiveControl(ARM, bandwidth=-1)
    with pytest.raises(supple.SuppleError, match="a Robot"):
        AdaptiveControl("arm")
