"""Mode shapes against closed forms, against elements, and against what every mode must satisfy."""

import math

import numpy as np
import pytest

import supple
from supple.robot import SerialRobot

STEEL = {"young_modulus": 2.1e11, "poisson_ratio": 0.3, "density": 7800}
ARM = supple.load("industrial-3")
POSE = [0.2, 0.7, -1.1]


def cantilever(theory="euler-bernoulli", depth=0.01, width=0.02, **robot):
    link = {
        "name": "beam",
        "length": 1.0,
        "material": STEEL,
        "section": {"shape": "rectangle", "depth": depth, "width": width},
        "theory": theory,
    }
    return SerialRobot(name="cantilever", links=[link], **robot)


def test_cantilever_shape_is_the_textbook_one():
    """cosh - cos - sigma (sinh - sin), mass-normalised: its tip value is 2 / sqrt(m L)."""
    found = supple.modes(cantilever(planar=True), [0.0], count=3)
    shapes = found.shape(51)
    m = 7800 * 0.01 * 0.02
    for mode, a in enumerate((1.875104068711961, 4.694091132974174, 7.854757438237613)):
        sigma = (math.cosh(a) + math.cos(a)) / (math.sinh(a) + math.sin(a))
        s = a * shapes.x[0]
        exact = np.cosh(s) - np.cos(s) - sigma * (np.sinh(s) - np.sin(s))
        exact *= np.sign(exact[-1]) / math.sqrt(m)
        assert shapes.displacement[mode, 0, :, 1] == pytest.approx(exact, abs=1e-9)
        assert shapes.displacement[mode, 0, -1, 1] == pytest.approx(2 / math.sqrt(m), rel=1e-10)


@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli", "inextensible"])
@pytest.mark.parametrize("planar", [True, False])
def test_boundary_conditions_hold(theory, planar):
    robot = ARM.with_({f"links.link{i}.theory": theory for i in (1, 2, 3)}).with_("planar", planar)
    found = supple.modes(robot, POSE, count=12)
    assert found.certified
    assert found.shapes.residual.max() < 1e-10


def test_modes_are_orthogonal_and_of_unit_mass():
    """Integrals of m u_i u_j and of the rotary inertia, plus the bodies, over 2001 stations."""
    found = supple.modes(ARM, POSE, count=6)
    shapes = found.shape(2001)
    A, I_z, *_ = ARM.sections["box"].constants()
    weights = np.ones(2001)
    weights[1:-1:2] = 4
    weights[2:-1:2] = 2
    gram = np.zeros((6, 6))
    for i, link in enumerate(ARM.links):
        h = 1.5 / 2000 / 3
        u = shapes.displacement[:, i]
        psi = shapes.rotation[:, i, :, 2]
        gram += 2700 * A * h * np.einsum("p,apc,bpc->ab", weights, u, u)
        gram += 2700 * I_z * h * np.einsum("p,ap,bp->ab", weights, psi, psi)
        gram += link.tip.mass * np.einsum("ac,bc->ab", u[:, -1], u[:, -1])
        gram += link.tip.inertia[0] * np.outer(psi[:, -1], psi[:, -1])
    assert gram == pytest.approx(np.eye(6), abs=1e-9)


def test_links_meet():
    shapes = supple.modes(ARM, POSE, count=5).shapes
    moved = shapes.global_displacement
    assert moved[:, 0, 0] == pytest.approx(0, abs=1e-14)
    assert moved[:, 1, 0] == pytest.approx(moved[:, 0, -1], abs=1e-10)
    assert moved[:, 2, 0] == pytest.approx(moved[:, 1, -1], abs=1e-10)
    assert shapes.position[1, 0] == pytest.approx(shapes.position[0, -1])


def test_energy_shares_name_the_mode():
    robot = cantilever("timoshenko", depth=0.1, width=0.02)
    found = supple.modes(robot, [0.0], count=14)
    assert found.shapes.share.sum(axis=(1, 2)) == pytest.approx(1)
    kinds = [text.rsplit(" ", 2)[0] for text in found.kind]
    assert {"bending x-y", "bending x-z", "torsion", "axial"} <= set(kinds)
    axial = found.omega[kinds.index("axial")]
    assert axial == pytest.approx(math.pi / 2 * math.sqrt(2.1e11 / 7800), rel=1e-10)


def test_coincident_pair_is_split_by_plane():
    found = supple.modes(cantilever(depth=0.01, width=0.01), [0.3], count=4)
    assert found.omega[1] == pytest.approx(found.omega[0], rel=1e-11)
    assert found.kind[:2] == ["bending x-y 100 %", "bending x-z 100 %"]


def test_sign_rule():
    for theta in (0.0, 1.0, 2.0, 3.0, -2.0):
        shapes = supple.modes(cantilever(planar=True), [theta], count=4).shapes
        ends = shapes.global_displacement[:, 0, -1]
        largest = ends[np.arange(4), np.abs(ends).argmax(axis=1)]
        assert (largest > 0).all()


def test_exact_and_element_shapes_agree():
    exact = supple.modes(ARM, POSE, count=6)
    mesh = supple.modes(ARM, POSE, count=6, method="elements", elements=16, order="quintic")
    assert mesh.omega == pytest.approx(exact.omega, rel=1e-9)
    size = np.abs(exact.shapes.displacement).max()
    assert np.abs(mesh.shapes.displacement - exact.shapes.displacement).max() < 1e-6 * size
    assert np.abs(mesh.shapes.share - exact.shapes.share).max() < 1e-6


def test_spring_share_tends_to_one_when_soft():
    soft = ARM.with_("links.link1.joint.stiffness", 10.0)
    found = supple.modes(soft, POSE, count=1)
    assert found.shapes.share[0, 0, 6] > 0.999
    assert found.kind[0].startswith("joint spring 100 %")


def test_free_joints_report_rigid_modes():
    found = supple.modes(ARM, POSE, count=4, joints="free")
    assert found.rigid_modes == 3
    assert found.omega.min() > 100
    assert found.shapes.residual.max() < 1e-9


def test_motor_behind_a_spring_is_a_mode_of_its_own():
    """A rigid link J on a spring k with a free rotor J_r: omega^2 = k (1/J + 1/J_r)."""
    J = 7800 * 4e-4 * 1.0 / 3 + 7800 * 0.02**4 / 12
    link = {
        "name": "bar",
        "length": 1.0,
        "material": STEEL,
        "section": {"shape": "rectangle", "depth": 0.02, "width": 0.02},
        "theory": "rigid",
        "joint": {"stiffness": 50.0, "rotor_inertia": 0.3},
    }
    robot = SerialRobot(name="spring", planar=True, links=[link])
    free = supple.modes(robot, [0.0], count=1, joints="free")
    assert free.rigid_modes == 1
    assert free.omega[0] == pytest.approx(math.sqrt(50 * (1 / J + 1 / 0.3)), rel=1e-11)
    held = supple.modes(robot, [0.0], count=1)
    assert held.omega[0] == pytest.approx(math.sqrt(50 / J), rel=1e-11)
    mesh = supple.modes(robot, [0.0], count=1, joints="free", method="elements")
    assert mesh.omega[0] == pytest.approx(free.omega[0], rel=1e-10)


def test_batch_equals_single_in_every_bit():
    theta = np.random.default_rng(3).uniform(-3, 3, (20, 3))
    batch = supple.modes(ARM, theta)
    for b in range(20):
        assert (supple.modes(ARM, theta[b]).omega == batch.omega[b]).all()
        assert (supple.modes(ARM, theta[b:]).omega[0] == batch.omega[b]).all()
    assert batch.omega.shape == (20, 10)
    assert batch.at(4).shapes.residual.max() < 1e-10


def test_prismatic_link_held_is_a_clamped_beam_with_a_rod_behind():
    """[Theodore1997] arm: its flexible part of 0.65 m with the payload is a clamped-mass beam."""
    robot = supple.load("theodore-rrp")
    found = supple.modes(robot, [0.4, -0.9, 0.65], count=4)
    link = robot.links[2]
    clamped = SerialRobot(
        name="clamped",
        links=[link.model_copy(update={"length": 0.65, "joint": supple.Joint(type="fixed")})],
        payload=robot.payload,
    )
    alone = supple.modes(clamped, [], count=4)
    assert found.omega == pytest.approx(alone.omega, rel=1e-11)


def test_rigid_links_on_springs_have_as_many_modes_as_springs():
    link = {"length": 0.5, "theory": "rigid", "mass_per_length": 2.0, "joint": {"stiffness": 100.0}}
    robot = SerialRobot(
        name="springs", planar=True, links=[{**link, "name": f"link{i}"} for i in range(3)]
    )
    exact = supple.modes(robot, [0, 0.1, 0.2])
    mesh = supple.modes(robot, [0, 0.1, 0.2], method="elements")
    assert exact.omega.shape == (3,)
    assert mesh.omega == pytest.approx(exact.omega, rel=1e-11)
