"""A Delta on springs: its equations of motion against exact modes, statics and its power."""

import numpy as np
import pytest
from scipy.linalg import eigh

import supple

SPRINGS = {"translation": [2e5, 3e5, 5e5], "rotation": [2e3, 1.5e3, 4e3]}
BODY = {"mass": 8.0, "inertia": [0.2, 0.2, 0.3]}
STILL = {"gravity": [0, 0, 0], "motor.rotor_inertia": 0.01}


def on_springs(rods: str = "single", **changes: object) -> supple.Robot:
    robot = supple.load("kuo-delta").with_({"foundation": SPRINGS | BODY, **STILL, **changes})
    return robot.with_(
        {"lower.rods": rods} | ({"lower.spacing": 0.06} if rods == "parallelogram" else {})
    )


@pytest.mark.slow
@pytest.mark.parametrize("rods", ["single", "twist", "parallelogram"])
def test_the_modes_are_the_exact_ones(rods: str) -> None:
    """Motors locked, unbent: K of the model is its springs', M that of the assembled pose."""
    robot = on_springs(rods)
    model = supple.build(robot, supple.AssumedModes([2, 1], axial=1))
    assert [f"foundation.{k}" for k in ("x", "y", "z", "rx", "ry", "rz")] == [
        name for name in model.coordinates if name.startswith("foundation")
    ]
    q = model.chain.pose()
    M = model.mass_matrix(q)[3:, 3:]
    K = model.stiffness[3:, 3:]
    found = np.sqrt(eigh(K, M, eigvals_only=True)[:6])
    exact = supple.modes(robot, theta=q[:3], count=6).omega
    assert (found > exact * (1 - 1e-9)).all()  # a basis bounds from above
    linear = supple.assumed_modes(model, q[:3], count=6).omega  # the same shapes on the Structure
    np.testing.assert_allclose(found, linear, rtol=1e-9)
    np.testing.assert_allclose(found[:3], exact[:3], rtol=0.01)  # one mode per link does for these


@pytest.mark.slow
def test_power_balances_and_rest_is_that_of_statics() -> None:
    robot = on_springs(gravity=[0.3, -0.2, 0.5])
    model = supple.build(robot, supple.AssumedModes(1))
    q = model.chain.pose()
    rng = np.random.default_rng(2)
    theta = q[:3].copy()
    tau = np.array([0.3, -0.2, 0.1])
    q[3:] += 1e-3 * rng.normal(size=model.size - 3)
    qd = 0.1 * rng.normal(size=model.size)
    qdd = model.forward_dynamics(q, qd, tau)
    h = 1e-7

    def energy(t: float) -> np.ndarray:
        return model.energy(q + t * qd + t * t / 2 * qdd, qd + t * qdd)

    rate = (8 * (energy(h) - energy(-h)) - energy(2 * h) + energy(-2 * h)) / (12 * h)
    power = tau @ qd[:3] - qd @ model.damping @ qd
    np.testing.assert_allclose(rate, power, atol=1e-6)  # E is 20 J: rounding over h
    # at rest the springs of the base carry the weight: one mode of a link under a point load at its
    # end lacks at most 3 % of the links' own sag
    at = model.chain.pose()
    x = np.linalg.solve(model.stiffness[3:, 3:], -model.gravity(at)[3:])
    sag = model.tip(np.concatenate([theta, x])) - model.tip(at)
    np.testing.assert_allclose(sag, supple.statics(robot, theta=theta).tip_displacement, rtol=0.03)
