"""Loops without a passive joint: springs of motors and bearings give way, and loops tie them.

Two arms whose ends meet: what is left of the springs' coordinates moves, the others follow.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.linalg import eigh

import supple

THETA = np.deg2rad([60.0, 120.0])
SOFT = {"translation": [1e6, 2e6, 3e6], "rotation": [1e4, 2e4, None]}
TURNED = {"link": "b", "mount": {"rpy": [0, 0, "-60deg"]}}
TUBE = {"material": {"young_modulus": 7e10, "poisson_ratio": 0.3, "density": 2700},
        "section": {"shape": "tube", "diameter": 0.05, "wall": 0.003}}  # fmt: skip


def arms(planar: bool, closure: str, *joints: dict, **beam) -> supple.Robot:
    """Two arms of 1 m, 4 kg each if rigid, on a base of 1 m, whose ends are tied."""
    beam = beam or {"theory": "rigid", "mass_per_length": 3}
    links = []
    for name, joint, angle in zip("ab", (joints * 2)[:2], THETA, strict=True):
        mount = {"xyz": [float(name == "b"), 0, 0]}
        given = {"type": "revolute", "rotor_inertia": 0.2, "start": angle, "mount": mount}
        links.append({"name": name, "parent": "base", "joint": given | joint, "length": 1.0,
                      "tip": {"mass": 1.0, "inertia": [0.01, 0.02, 0.03]}, **beam})  # fmt: skip
    tie = {"ends": ["a", TURNED if closure == "fixed" else "b"], "type": closure}
    return supple.loads(json.dumps({
        "supple": 1, "name": "tied", "architecture": "mechanism", "planar": planar,
        "gravity": [0, -9.81, 0], "links": links, "closures": [tie],
    }))  # fmt: skip


ROBOTS = {
    "bearings": arms(True, "revolute", {"bearing": SOFT | {"rotation": None}}),
    "springs": arms(True, "revolute", {"stiffness": 3e3},
                    {"stiffness": 2e3, "bearing": SOFT | {"rotation": None}}),
    "clamped": arms(True, "fixed", {"stiffness": 3e3, "bearing": SOFT}),
    "in space": arms(False, "fixed", {"stiffness": 3e3, "bearing": SOFT}),
    "ball": arms(False, "spherical", {"stiffness": 3e3, "bearing": SOFT | {"rotation": None}}),
}  # fmt: skip


def matrices(model: supple.Model) -> tuple[np.ndarray, ...]:
    """M, K and D of all but the motors, loops closed, where the robot is assembled."""
    q = model.chain.pose(THETA)
    n = model.size
    M = model.mass_matrix(q)
    K = model.functions.evaluator("stiffness")(q)[0]
    D = -M @ supple.linearize(model, q).A[n:, n:]
    return tuple(A[2:, 2:] for A in (M, K, D))


def test_arms_that_cannot_turn_swing_together():
    """Motors locked, no spring about them: both arms on all four springs, sqrt(k / m)."""
    robot = ROBOTS["bearings"]
    expected = np.sqrt(np.array([2e6, 4e6]) / 8.0)
    np.testing.assert_allclose(supple.modes(robot, THETA).omega, expected, rtol=1e-12)
    model = supple.build(robot)
    assert model.coordinates == ("theta.a", "theta.b", "bearing.b.x", "bearing.b.y")
    M, K, _ = matrices(model)
    np.testing.assert_allclose(np.sqrt(eigh(K, M, eigvals_only=True)), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_frequencies_are_the_exact_ones_and_damped_as_asked(name):
    robot = ROBOTS[name]
    M, K, D = matrices(supple.build(robot, modal_damping=0.03))
    exact = supple.modes(robot, THETA, count=20).omega  # no more than there are
    omega2, V = eigh(K, M)
    np.testing.assert_allclose(np.sqrt(omega2), exact, rtol=1e-9)
    np.testing.assert_allclose(np.einsum("ij,ik,kj->j", V, D, V) / (2 * exact), 0.03, rtol=1e-8)


@pytest.mark.parametrize("name", ["springs", "in space"])
def test_energy_is_kept_and_the_loop_stays_shut(name):
    model = supple.build(ROBOTS[name])
    run = supple.simulate(model, [5.0, -3.0], duration=0.1, method="adams", tolerance=1e-12)
    assert np.ptp(run.q, axis=0).max() > 1e-3
    assert run.openness < 1e-8
    assert np.abs(model.functions.evaluator("closure")(run.q[::20])[0]).max() < 1e-10


def test_motors_turn_against_each_other_where_springs_alone_give_way():
    """A triangle of rigid arms: its springs follow the motors, and nothing else moves."""
    robot = arms(True, "revolute", {"stiffness": 3e3})
    model = supple.build(robot)
    assert model.coordinates == ("theta.a", "theta.b")
    q = THETA + np.array([0.01, -0.02])
    np.testing.assert_allclose(model.mass_matrix(q), 0.2 * np.eye(2), atol=1e-12)
    found = model.forward_dynamics(q, np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(0.2 * found, [-30.0, 60.0], rtol=1e-9)
    with pytest.raises(supple.SuppleError, match="no mass that they let move"):
        supple.modes(robot, THETA)


def test_clamped_arms_that_bend():
    robot = arms(False, "fixed", {"stiffness": 3e3, "bearing": SOFT}, **TUBE)
    exact = supple.modes(robot, THETA, count=4).omega
    M, K, D = matrices(supple.build(robot, supple.AssumedModes(2), modal_damping=0.03))
    omega2, V = eigh(K, M)
    found = np.sqrt(omega2[:4])
    assert (found > exact * (1 - 1e-9)).all()
    np.testing.assert_allclose(found, exact, rtol=0.06)
    ratios = np.einsum("ij,ik,kj->j", V, D, V)[:4] / (2 * found)
    np.testing.assert_allclose(ratios, 0.03, rtol=1e-8)


def test_batches_count_springs_that_turn_with_the_pose():
    """Rigid links on a sprung universal joint: as many modes as springs, in every row."""
    robot = supple.loads(json.dumps({
        "supple": 1, "name": "rod", "architecture": "mechanism", "links": [
            {"name": "a", "length": 0.5, "theory": "rigid", "mass_per_length": 2},
            {"name": "b", "length": 0.4, "theory": "rigid", "mass_per_length": 2,
             "joint": {"type": "universal", "stiffness": 50, "start": [0.3, 0.2]}},
        ],
    }))  # fmt: skip
    many = supple.modes(robot, [[0.0], [0.4]], count=5).omega
    np.testing.assert_allclose(many, [supple.modes(robot, [t]).omega for t in (0.0, 0.4)])
    assert many.shape == (2, 2)
