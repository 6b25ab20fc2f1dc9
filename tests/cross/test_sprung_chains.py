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
        other = run(sprung_chain(robot, n), lambda t: tau.value(np.array([t]), 2)[0], 0.4, dt,
                    round(2e-3 / dt))  # fmt: skip
        errors.append(np.linalg.norm(other - ours.tip[::10], axis=1).max() / deflection)
    assert errors[-1] < 2e-3, errors
    assert errors[0] / errors[1] > 3, errors
    assert errors[1] / errors[2] > 3, errors
