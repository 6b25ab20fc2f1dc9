"""`modal_damping`: the ratio asked for is that of the poles, whatever hangs where."""

import numpy as np
import pytest

import supple

BAR = {
    "mass_per_length": 2.0,
    "bending_stiffness": [300.0, 200.0],
    "torsional_stiffness": 150.0,
    "rotary_inertia_per_length": 1e-3,
}
BALL = {"type": "spherical", "stiffness": 40.0, "start": [0.1, 0.2, 0.3]}
HINGE = {"type": "revolute", "passive": True, "start": 0.4, "stiffness": 30.0}
CROSS = {"type": "universal", "stiffness": [25.0, 35.0], "start": [0.3, -0.2]}


def tree(first: dict[str, object], second: dict[str, object], planar: bool) -> supple.Robot:
    """Two links without a motor, the second along the first."""
    hub = {"mass": 0.1, "inertia": [0.02, 0.02, 0.02]}
    links = [
        {"name": "a", "joint": first | {"hub": hub}, "length": 1.0} | BAR,
        {"name": "b", "joint": second, "length": 0.6, "parent": "a", "at": 0.5} | BAR,
    ]
    return supple.MechanismRobot.model_validate({"name": "tree", "planar": planar, "links": links})


@pytest.mark.parametrize(
    ("first", "second", "planar"),
    [
        (HINGE, HINGE, True),
        ({"type": "spherical"}, CROSS, False),
        (BALL, CROSS, False),
        (BALL | {"stiffness": [40.0, 30.0, 20.0]}, CROSS, False),
    ],
    ids=["plane", "loose ball", "ball", "ball of three springs"],
)
def test_poles_of_passive_trees_have_the_ratio(first, second, planar) -> None:
    """Springs of joints take part; what is loose keeps its zeros."""
    model = supple.build(tree(first, second, planar), supple.AssumedModes(1), modal_damping=0.03)
    poles = np.linalg.eigvals(supple.linearize(model, model.chain.pose()).A)
    ring = poles[poles.imag > 1e-4 * np.abs(poles).max()]
    np.testing.assert_allclose(-ring.real / np.abs(ring), 0.03, rtol=1e-6)
    loose = 0 if "stiffness" in first else 3
    assert len(ring) == model.size - loose


@pytest.mark.parametrize("name", ["industrial-3", "two-arms"])
def test_links_damp_one_another_in_motion(name: str) -> None:
    """D of the forward dynamics is the Model's, also between links."""
    model = supple.build(supple.load(name), supple.AssumedModes(1), modal_damping=0.05)
    q, tau, h = np.array(model.chain.pose()), [0.0] * model.joints, 1e-3
    pushed = [
        model.forward_dynamics(q, h * e, tau) - model.forward_dynamics(q, -h * e, tau)
        for e in np.eye(model.size)
    ]
    found = -model.mass_matrix(q) @ np.array(pushed).T / (2 * h)
    np.testing.assert_allclose(found, model.damping, atol=1e-6 * np.abs(model.damping).max())


def test_check_of_links_that_carry_others_along_them() -> None:
    """Elements on the whole link against exact beams cut where something hangs."""
    robot = tree(HINGE, HINGE, True)
    found = supple.build(robot, supple.FiniteElements(4)).check()
    exact = supple.modes(robot, count=3).frequency_hz
    np.testing.assert_allclose(found.exact_hz[:3], exact, rtol=1e-6)
    off = np.array(found.frequency_hz[:3]) / exact - 1
    assert (off > -1e-9).all()
    assert off.max() < 3e-3
