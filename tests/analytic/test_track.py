"""Branches of natural frequencies: closed-form veerings, crossings, and a finer walk."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar

import supple

HUBS = """
supple: 1
name: coupled
architecture: serial
planar: true
links:
  - name: a
    joint: {type: revolute, stiffness: 1e4, hub: {mass: 1, inertia: 100}}
    length: 1
    mass_per_length: 1e-9
    theory: rigid
  - name: b
    joint: {type: revolute, stiffness: 1, hub: {mass: 1e-9, inertia: 0.01}}
    length: 1
    mass_per_length: 1e-9
    theory: rigid
"""


def two_hubs(k: float) -> np.ndarray:
    """omega of a small hub on a spring k on a large one on 1e4, by their absolute turns."""
    return np.sqrt(eigh([[1e4 + k, -k], [-k, k]], np.diag([100.0, 0.01]), eigvals_only=True))


def test_the_veering_of_two_weakly_coupled_oscillators_is_that_of_the_closed_form() -> None:
    """Uncoupled they would cross at k = 1; coupled they keep about sqrt(0.01 / 100) of omega."""
    values = np.linspace(0.5, 1.6, 12)
    found = supple.track(supple.loads(HUBS), {"links.b.joint.stiffness": values}, 2)
    np.testing.assert_allclose(found.omega, [two_hubs(k) for k in values], rtol=1e-6)
    exact = minimize_scalar(
        lambda k: np.ptp(two_hubs(k)), bounds=(0.5, 1.6), method="bounded", options={"xatol": 1e-9}
    )
    (veering,) = found.veerings
    assert not veering.crossing
    assert veering.branches == (1, 2)
    assert veering.at == pytest.approx(exact.x, rel=1e-4)
    assert veering.gap_hz == pytest.approx(exact.fun / (2 * np.pi), rel=1e-5)
    assert (found.number == [1, 2]).all()


def spatial() -> supple.Robot:
    """A straight arm of flat bars: bending in and out of its plane do not know of each other."""
    link = """
  - name: {name}
    joint: {{type: revolute}}
    length: 0.5
    material: {{young_modulus: 70e9, poisson_ratio: 0.3, density: 2700}}
    section: {{shape: rectangle, depth: 0.02, width: 0.015}}"""
    head = "supple: 1\nname: flat\narchitecture: serial\nlinks:"
    return supple.loads(head + "".join(link.format(name=name) for name in ("one", "two")))


@pytest.mark.slow
def test_planes_cross_and_keep_their_kind() -> None:
    """In-plane modes stay in the plane through every crossing: displacement along z is none."""
    values = np.linspace(0.0, 2.6, 14)
    robot = spatial()
    found = supple.track(robot, {"theta.two": values}, 5)
    assert any(v.crossing for v in found.veerings)
    for x, row in zip(values, found.number, strict=True):
        shapes = supple.modes(robot, [0.0, x], count=9).shapes
        across = np.abs(shapes.global_displacement[..., 2]).max(axis=(1, 2))
        along = np.abs(shapes.global_displacement[..., :2]).max(axis=(1, 2, 3))
        flat = (across < along)[row - 1]
        if x == 0.0:
            first = flat
        assert (flat == first).all(), x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "key"), [("de-luca-two-link", "theta.link2"), ("industrial-3", "theta.link3")]
)
def test_a_finer_walk_finds_the_same_branches(name: str, key: str) -> None:
    """Ten times as many values, of which every tenth is compared; a half turn, as it is even."""
    robot = supple.load(name)
    coarse = supple.track(robot, {key: np.linspace(0, np.pi, 10)}, 5)
    fine = supple.track(robot, {key: np.linspace(0, np.pi, 91)}, 5)
    np.testing.assert_array_equal(fine.number[::10], coarse.number)
    np.testing.assert_allclose(fine.omega[::10], coarse.omega, rtol=1e-9)
    assert coarse.certified


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("de-luca-two-link", "theta.link2"),
        ("di-castri-two-link", "theta.link2"),
        ("industrial-3", "theta.link2"),
        ("industrial-3", "theta.link3"),
    ],
)
def test_no_branch_swaps_over_a_whole_turn(name: str, key: str) -> None:
    """A ten times finer walk over 360 degrees agrees everywhere, and comes back to where it began.

    The arm is the same after a whole turn, so that its branches may be exchanged but not changed.
    """
    robot = supple.load(name)
    coarse = supple.track(robot, {key: np.linspace(-np.pi, np.pi, 37)}, 6)
    fine = supple.track(robot, {key: np.linspace(-np.pi, np.pi, 361)}, 6)
    np.testing.assert_array_equal(fine.number[::10], coarse.number)
    np.testing.assert_allclose(fine.omega[::10], coarse.omega, rtol=1e-9)
    np.testing.assert_allclose(np.sort(coarse.omega[-1]), np.sort(coarse.omega[0]), rtol=1e-8)
    assert coarse.certified
    assert fine.certified


def test_bad_questions_get_a_sentence() -> None:
    robot = supple.load("industrial-3")
    with pytest.raises(supple.SuppleError, match="over has 2 keys"):
        supple.track(robot, {"theta.link1": [0, 1], "theta.link2": [0, 1]})
    with pytest.raises(supple.SuppleError, match="two or more finite numbers"):
        supple.track(robot, {"theta.link2": [0, 1, 1]})
    with pytest.raises(supple.SuppleError, match="no coordinate"):
        supple.track(robot, {"theta.elbow": [0, 1]})
