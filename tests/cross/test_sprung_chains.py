"""A two-link arm as many short sprung rods in Pinocchio converges to ours; spin-up of a beam."""

import numpy as np
import pytest

from cross.chains import run, sprung_chain
from supple import AssumedModes, BangBang, SerialRobot, build, load, simulate

pytest.importorskip("pinocchio")


@pytest.mark.slow
def test_two_link_arm_converges_to_ours() -> None:
    """Tip within 0.2 % of the deflection, bang-bang, and the error falls as h^2."""
    robot = load("de-luca-two-link")
    assert isinstance(robot, SerialRobot)
    model = build(robot, AssumedModes(5), stiffening=True)
    tau = BangBang(0.05, 0.15)
    ours = simulate(model, tau, duration=0.4, dt=2e-4, method="rk4")
    straight = ours.q.copy()
    straight[:, model.joints :] = 0
    deflection = np.linalg.norm(ours.tip - model.tip(straight), axis=1).max()
    assert deflection > 2e-3
    errors = []
    for n, dt in ((4, 4e-4), (8, 2e-4), (16, 5e-5)):
        other = run(
            sprung_chain(robot, n),
            lambda t: tau.value(np.array([t]), 2)[0],
            0.4,
            dt,
            round(2e-3 / dt),
        )
        errors.append(np.linalg.norm(other - ours.tip[::10], axis=1).max() / deflection)
    assert errors[-1] < 2e-3, errors
    assert errors[0] / errors[1] > 3, errors
    assert errors[1] / errors[2] > 3, errors


@pytest.mark.slow
def test_spin_up_of_a_chain() -> None:
    """[Kane1987]: the largest lag of the tip of 12 sprung rods, geometry exact, is ours."""
    import pinocchio as pin

    from analytic.test_spinning_beams import beam, spin_up

    ours = spin_up(build(beam(planar=True), AssumedModes(3), stiffening=True), until=15.0)
    chain = sprung_chain(beam(planar=True), 12)
    n = chain.model.nv
    dt = 1.25e-3
    x = np.zeros(2 * (n - 1))
    lag = 0.0

    def slope(t: float, x: np.ndarray) -> np.ndarray:
        s = 2 * np.pi * t / 15
        rate = 4 * (t / 15 - np.sin(s) / (2 * np.pi))
        accel = 4 / 15 * (1 - np.cos(s))
        q = np.append(0.0, x[: n - 1])
        v = np.append(rate, x[n - 1 :])
        force = pin.rnea(chain.model, chain.data, q, v, np.append(accel, np.zeros(n - 1)))
        M = pin.crba(chain.model, chain.data, q)
        M = np.triu(M) + np.triu(M, 1).T
        accelerations = np.linalg.solve(M[1:, 1:], -(force + chain.stiffness * q)[1:])
        return np.concatenate([x[n - 1 :], accelerations])

    for i in range(round(15 / dt)):
        t = i * dt
        k1 = slope(t, x)
        k2 = slope(t + dt / 2, x + dt / 2 * k1)
        k3 = slope(t + dt / 2, x + dt / 2 * k2)
        k4 = slope(t + dt, x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if i % 8 == 0:
            lag = min(lag, chain.place(np.append(0.0, x[: n - 1]))[1])
    assert lag == pytest.approx(ours.min(), rel=0.01)
