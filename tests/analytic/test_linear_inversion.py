"""Inputs by exact transfer functions against the inverted equations of motion and a finer run."""

import numpy as np
import pytest

import supple

EI = 20.0
MASS = 1.0
ZERO = 11.18664 * np.sqrt(EI / MASS)  # 2 x^2 with tan x + tanh x = 0: the slowest zero, L = 1


def arm(**tip: float) -> supple.SerialRobot:
    link = {"name": "link1", "length": 1.0, "mass_per_length": MASS, "bending_stiffness": EI}
    link |= {"theory": "euler-bernoulli", **({"tip": tip} if tip else {})}
    return supple.SerialRobot(name="arm", planar=True, links=[link])


PATH = supple.PointToPoint([0.0], [0.01], 0.5, "septic")
WINDOW = (-1.0, 1.5)


def test_tip_follows_and_preparation_decays_at_the_slowest_zero() -> None:
    robot = arm()
    found = supple.response(robot, [0.0], [10.0], ["tau.link1"], ["tip.y"])
    t, tau = found.efforts(PATH, WINDOW, cutoff_hz=60.0)
    # the same by the nonlinear equations of a Model, chord angle = tip / L
    plan = supple.invert(supple.build(robot, supple.AssumedModes(6)), PATH, WINDOW)
    other = np.interp(t, plan.t, plan.tau[:, 0])
    assert np.abs(tau[:, 0] - other).max() < 1e-4 * np.abs(tau).max()
    # backwards from its begin the torque falls as exp(ZERO t)
    early = (t > -0.15) & (t < -0.05)
    slope = np.polyfit(t[early], np.log(np.abs(tau[early, 0])), 1)[0]
    assert slope == pytest.approx(ZERO, rel=1e-3)
    # and a finer model that is given these torques has its tip on the path, but for what is not
    # linear: the square of the angle
    fine = supple.build(robot, supple.AssumedModes(9))
    table = supple.Table(t - t[0], tau)
    run = supple.simulate(fine, tau=table, duration=float(t[-1] - t[0]))
    wanted = PATH.at(np.clip(run.t + t[0], 0, 0.5))[0][:, 0]
    assert np.abs(run.tip[:, 1] - wanted).max() < 0.01**2 * 0.01


def test_what_cannot_be_followed_is_a_sentence() -> None:
    ringing = supple.response(arm(inertia=0.2, mass=0.1), [0.0], [10.0], ["tau.link1"], ["tip.y"])
    with pytest.raises(supple.SuppleError, match="do not die out within the window"):
        ringing.efforts(PATH, WINDOW, cutoff_hz=60.0)
    plain = supple.response(arm(), [0.0], [10.0], ["tau.link1"], ["tip.x", "tip.y"])
    with pytest.raises(supple.SuppleError, match="1 inputs and 2 outputs"):
        plain.efforts(PATH, WINDOW, cutoff_hz=60.0)
    for bad in ("x", (1.0, 0.0), (0.0, 1e9)):
        single = supple.response(arm(), [0.0], [10.0], ["tau.link1"], ["tip.y"])
        with pytest.raises(supple.SuppleError, match="window"):
            single.efforts(PATH, bad, cutoff_hz=60.0)
