"""Mechanisms in motion against exact beams: small motions of a Model have the exact frequencies."""

import numpy as np
import pytest
from numpy.typing import NDArray

from supple import (
    AssumedModes,
    FiniteElements,
    MechanismRobot,
    Model,
    build,
    linearize,
    load,
    modes,
)
from supple.kernels.spatial import rpy_rotation

Array = NDArray[np.float64]


def locked(model: Model) -> Array:
    """Natural frequencies with motors locked, from M and K of the closed mechanism."""
    from scipy.linalg import eigh

    q = model.chain.pose()
    k = model.joints
    K = model.functions.evaluator("stiffness")(q)[0]
    found: Array = np.sqrt(eigh(K[k:, k:], model.mass_matrix(q)[k:, k:], eigvals_only=True))
    return found


@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_locked_frequencies_fall_to_the_exact_ones(name: str) -> None:
    """Bending modes converge to inextensible links, quintic elements to 1e-5."""
    robot = load(name)
    robot = robot.with_({f"links.{link.name}.theory": "inextensible" for link in robot.links})
    exact = modes(robot, count=4).omega
    found = [locked(build(robot, AssumedModes(count)))[:4] for count in (2, 3)]
    errors = np.array([omega / exact - 1 for omega in found])
    assert (errors > 0).all()  # from above
    assert (errors[1:] < errors[:-1]).all()  # and falling
    fine = locked(build(robot, FiniteElements(2, order="quintic")))[:2]
    np.testing.assert_allclose(fine, exact[:2], rtol=1e-5)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["hexapod", "scara-parallel"])
def test_locked_frequencies_in_space_fall_to_the_exact_ones(name: str) -> None:
    robot = load(name)
    exact = modes(robot, count=8).omega
    bases = [AssumedModes(n, axial=n, torsion=n) for n in (1, 2)]
    coarse, fine = (locked(build(robot, basis))[:8] / exact - 1 for basis in bases)
    assert (fine > 0).all()  # from above
    assert (fine < 0.4 * coarse).all()  # and falling


def test_a_tree_in_space_has_the_exact_frequencies() -> None:
    robot = load("two-arms")
    exact = modes(robot, count=4).omega
    found = [locked(build(robot, FiniteElements(4, modes=count)))[:4] for count in (0, 1)]
    errors = np.array([omega / exact - 1 for omega in found])
    assert (errors > 0).all()
    assert (errors[1] < errors[0]).all()
    assert errors[1, 0] < 1e-3


@pytest.mark.slow
def test_a_loop_in_space_held_more_often_than_needed_has_the_exact_frequencies() -> None:
    """Rows beyond the joints tie elastic coordinates: no mode is lost or added."""
    robot = load("scara-parallel").with_("links.quill.theory", "rigid")
    exact = modes(robot, count=4).omega
    found = locked(build(robot, FiniteElements(4, modes=1)))[:4]
    assert (found > exact * (1 - 1e-9)).all()
    np.testing.assert_allclose(found, exact, rtol=1e-2)


def test_the_linearised_model_lets_its_motor_go() -> None:
    robot = load("four-bar").with_("gravity", [0, 0, 0])
    robot = robot.with_({f"links.{link.name}.theory": "inextensible" for link in robot.links})
    exact = modes(robot, count=2, joints="free").omega
    model = build(robot, AssumedModes(3))
    q = model.chain.pose()
    found = linearize(model, q, 0 * q, np.zeros(1)).frequencies
    elastic = found[found > 1e-3 * found[-1]][:2]
    np.testing.assert_allclose(elastic, exact, rtol=1e-3)


def test_a_ball_joint_with_one_spring_is_alike_in_all_directions() -> None:
    """A rigid body on a ball joint at an oblique attitude: w^2 = k / I, and w = d / I decays.

    Turned by phi about any axis the spring holds k phi^2 / 2, however far.
    """
    inertia = np.array([1.0, 2.0, 4.0])
    k = 100.0
    d = 0.5
    for start in ([0.0, 0.0, 0.0], [0.4, -0.7, 1.1]):
        joint = {"type": "spherical", "start": start, "stiffness": k, "damping": d}
        link = {"name": "ball", "theory": "rigid", "joint": joint}
        link["body"] = {"mass": 1, "inertia": inertia.tolist()}
        model = build(MechanismRobot.model_validate({"name": "a", "links": [link]}))
        q = model.chain.pose()
        lin = linearize(model, q, 0 * q, np.zeros(0))
        np.testing.assert_allclose(lin.frequencies, np.sqrt(k / inertia)[::-1], rtol=1e-9)
        decay = np.sort(-np.linalg.eigvals(lin.A).real)[::2]
        np.testing.assert_allclose(decay, np.sort(d / inertia / 2), rtol=1e-9)
        R0 = rpy_rotation(start)
        for angle, axis in ((0.01, [1, 0, 0]), (0.8, [0.6, 0.0, 0.8]), (2.5, [0.0, -0.6, 0.8])):
            turned = axis_turn(np.array(axis), angle) @ R0
            pitch = -np.arcsin(turned[2, 0])
            rpy = [np.arctan2(turned[2, 1], turned[2, 2]), pitch]
            there = np.array([*rpy, np.arctan2(turned[1, 0], turned[0, 0])])
            stored = model.energies(there, 0 * there)["elastic"]
            assert stored == pytest.approx(k * angle**2 / 2, rel=1e-9)


def axis_turn(n: Array, angle: float) -> Array:
    """Rodrigues' rotation about a unit vector."""
    N = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * N + (1 - np.cos(angle)) * N @ N)
