"""Linearisation at bent states, slow pairs, strain of rolled links, deflection under stiffening."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import supple
from supple import AssumedModes, FiniteElements

BEAM = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 100.0}


def planar(*links: dict, **more: object) -> supple.SerialRobot:
    named = [{"name": f"link{k}", **link} for k, link in enumerate(links, 1)]
    return supple.SerialRobot.model_validate(
        {"name": "arm", "planar": True, "gravity": [0, -9.81, 0], "links": named, **more}
    )


def test_without_an_effort_the_joints_are_held() -> None:
    """At a bent state the links accelerate; the joints must not."""
    model = supple.build(supple.load("de-luca-two-link"), AssumedModes(2))
    q = np.array([0.1, 0.4, 0.02, -0.01, 0.03, 0.01])
    qd = np.array([0.3, -0.2, 0.1, 0.0, 0.2, 0.1])
    lin = supple.linearize(model, q, qd)
    qdd = model.forward_dynamics(q, qd, lin.tau)
    assert np.abs(qdd[:2]).max() < 1e-9 * np.abs(qdd).max()
    assert np.abs(qdd[2:]).max() > 1.0


def test_slow_pairs_count_beside_fast_ones() -> None:
    """Two oscillators nine decades apart and a free joint: two pairs."""
    dq = np.diag([-1e-6, -1e12, 0.0])
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [dq, np.zeros((3, 3))]])
    names = tuple("abc")
    found = supple.StateSpace(
        A, np.zeros((6, 1)), np.zeros((1, 6)), np.zeros((1, 1)), names * 2, ("u",), ("y",),
        np.zeros(3), np.zeros(3), np.zeros(1),
    )  # fmt: skip
    assert found.frequencies == pytest.approx([1e-3, 1e6], rel=1e-9)
    assert found.damping_ratios == pytest.approx([0, 0], abs=1e-6)


def test_a_slow_pendulum_of_a_stiff_beam_is_found() -> None:
    """A rod of 1 m hangs: sqrt(3 g / 2 L), the beam a hundred million times as fast."""
    stiff = {**BEAM, "bending_stiffness": 1e14}
    model = supple.build(planar(stiff), FiniteElements(2))
    found = supple.linearize(model, [-np.pi / 2]).frequencies
    assert found[-1] > 1e7 * found[0]
    assert found[0] == pytest.approx(np.sqrt(1.5 * 9.81), rel=1e-6)


@pytest.mark.parametrize("name", ["de-luca-two-link", "industrial-3"])
def test_free_joints_are_no_pairs(name: str) -> None:
    """Without gravity every joint is a double zero: as many pairs as elastic coordinates."""
    model = supple.build(supple.load(name), AssumedModes(2))
    at = np.linspace(0.2, 0.7, model.joints)
    found = supple.linearize(model, np.concatenate([at, np.zeros(model.size - model.joints)]))
    assert len(found.frequencies) == model.size - model.joints
    exact = supple.modes(model.robot, at, count=1, joints="free").omega[0]
    assert found.frequencies[0] >= exact * (1 - 1e-9)  # assumed modes bound from above


@pytest.mark.parametrize("roll", [0.0, 0.4, np.pi / 2])
def test_strain_of_a_rolled_link(roll: float) -> None:
    """The gauge sits on the link's -y: a uniform round bar feels the same whatever its roll."""
    link = {
        "name": "bar", "roll": roll, "length": 1.0, "mass_per_length": 1.0,
        "bending_stiffness": 100.0, "polar_inertia_per_length": 1e-3,
    }  # fmt: skip
    robot = supple.SerialRobot.model_validate(
        {"name": "bar", "gravity": [0, -9.81, 0], "links": [link]}
    )
    model = supple.build(robot, AssumedModes(6))
    lin = supple.linearize(model, [0.0], outputs=[supple.Strain("bar", 0.0, 0.01)])
    strain = float(lin.C[0] @ np.concatenate([lin.q, np.zeros(model.size)]))
    # Root moment of a cantilever under its weight, m g L^2 / 2, sagging along -y; its first six
    # modes carry sum 8 sigma_k / beta_k^3 of it, with cos(beta) cosh(beta) = -1.
    guesses = [1.875, 4.694, *(math.pi * (k - 0.5) for k in range(3, 7))]
    beta = np.array(
        [brentq(lambda b: math.cos(b) + 1 / math.cosh(b), g - 0.1, g + 0.1) for g in guesses]
    )
    sigma = (np.sinh(beta) - np.sin(beta)) / (np.cosh(beta) + np.cos(beta))
    part = float((8 * sigma / beta**3).sum())
    assert strain == pytest.approx(-part * 0.01 * 9.81 / 2 / 100.0, rel=1e-6)
    y, z = (-0.01 * np.cos(roll), 0.01 * np.sin(roll))  # the same place in the section's axes
    own = supple.linearize(model, [0.0], outputs=[supple.Strain("bar", 0.0, (y, z))])
    assert pytest.approx(lin.C, abs=1e-12) == own.C


def test_a_strain_needs_a_place() -> None:
    model = supple.build(planar(BEAM), AssumedModes(1))
    with pytest.raises(supple.SuppleError, match=r"give a distance, or \(y, z\)"):
        supple.linearize(model, [0.0], outputs=[supple.Strain("link1", 0.0, (1.0, 2.0, 3.0))])


def test_deflection_under_stiffening_has_the_shortening_of_the_tip() -> None:
    """One link: the tip is the joint's frame times the undeformed end plus the deflection."""
    model = supple.build(planar(BEAM), AssumedModes(3), stiffening=True)
    q = np.array([0.3, 0.02, -0.01, 0.005])
    c = np.cos(0.3)
    s = np.sin(0.3)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    end = np.array([1.0, 0, 0]) + model.deflection_at(q, "link1")
    assert R @ end == pytest.approx(model.tip(q), abs=1e-14)
    many = model.deflection_at(np.stack([q, 2 * q]), "link1", 0.5)
    assert many[0] == pytest.approx(model.deflection_at(q, "link1", 0.5), abs=1e-15)
    assert many[0, 0] < 0


@pytest.mark.parametrize("basis", [AssumedModes(2), FiniteElements(2)])
def test_so_has_that_of_a_slide(basis: supple.Basis) -> None:
    robot = supple.load("theodore-rrp")
    model = supple.build(robot, basis, stiffening=True)
    q = np.zeros(model.size)
    q[:3] = 0.4, -0.2, 0.7
    q[3:] = 0.02 * np.cos(np.arange(model.size - 3))
    plain = supple.build(robot, basis)
    moved = model.tip(q) - plain.tip(q)  # the shortening alone, along the link's own x
    deflections = model.deflection_at(q, "link3"), plain.deflection_at(q, "link3")
    short = deflections[0] - deflections[1]
    assert short[1:] == pytest.approx([0, 0], abs=1e-15)
    assert short[0] < 0
    assert abs(short[0]) == pytest.approx(np.linalg.norm(moved), rel=1e-6)


RIGID = {"length": 1.0, "theory": "rigid", "mass_per_length": 1.0}
SMALL = {
    "one coordinate": (planar(RIGID), AssumedModes(1)),
    "no joint, one mode": (planar({"joint": {"type": "fixed"}, **BEAM}), AssumedModes(1)),
    "no joint": (planar({"joint": {"type": "fixed"}, **BEAM}), AssumedModes(2)),
    "one sprung joint": (
        planar({**RIGID, "joint": {"stiffness": 50.0, "rotor_inertia": 0.1}}),
        AssumedModes(1),
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_models_answer(name: str) -> None:
    robot, basis = SMALL[name]
    model = supple.build(robot, basis)
    n = model.size
    k = model.joints
    q0 = np.full(n, 0.01)
    runs = [
        supple.simulate(model, q0=q0, duration=0.02, method=method, dt=1e-4)
        for method in ("rk4", "adams", "bdf", "generalised-alpha")
    ]
    for run in runs:
        assert run.q[-1] == pytest.approx(
            runs[1].q[-1], abs=1e-3 * np.abs(runs[1].q).max()
        )  # (w h)^2 / 12 w T of generalised-alpha is 2e-4
    sag = supple.simulate(model, q0="static", duration=0.01, tau=_holding(model))
    assert np.abs(sag.q[-1] - sag.q[0]).max() < 1e-6
    lin = supple.linearize(model, q0, outputs=["joints", "rates", "tip", "state"])
    assert lin.A.shape == (2 * n, 2 * n)
    assert lin.B.shape == (2 * n, k)
    path = supple.PointToPoint(np.zeros(k), np.ones(k), 0.2)
    for each in (model, robot):
        assert supple.follow(each, path).moved.shape == (201, 6)
    if k:
        gains = supple.lqr(model, np.zeros(k), 1.0, 1.0)
        held = supple.simulate(model, controller=gains, trajectory=np.zeros(k), duration=0.02)
        assert held.complete
    else:
        with pytest.raises(supple.SuppleError, match="no joint that moves"):
            supple.simulate(
                model, controller=supple.JointPD(1.0, 1.0), trajectory=np.zeros(0), duration=0.02
            )


def _holding(model: supple.Model) -> np.ndarray:
    zero = np.zeros(model.size)
    from supple.equations.equilibrium import static_state

    return np.asarray(model.inverse_dynamics(static_state(model), zero, zero)[: model.joints])


def test_a_pole_is_no_place_to_ask_for_the_transfer(tmp_path: Path) -> None:
    """numpy's LinAlgError until now, also from the picture of an arm without losses."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    lin = supple.linearize(model, np.zeros(model.size))
    with pytest.raises(supple.SuppleError, match=r"s = 0\+0j is a pole .* ask beside it"):
        lin.transfer(0)
    assert np.isfinite(lin.transfer(1e-3j)).all()
    lin.plot(tmp_path / "bode.png")
