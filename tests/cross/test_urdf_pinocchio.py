"""Two real arms as URDF: kinematics and rigid dynamics equal Pinocchio's of the same file."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import supple

pin = pytest.importorskip("pinocchio")
DATA = Path(__file__).parents[1] / "data"
ARMS = {"six-joints": "tool0", "seven-joints": "hand"}
TUBE = {"shape": "tube", "diameter": 0.08, "wall": 0.003}
ALUMINIUM = {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700}
BENDS = {
    "six-joints": {"upper_arm_link": [0, 0, 0.425], "forearm_link": [0, 0, 0.39225]},
    "seven-joints": {"link3": [0.0825, 0, 0], "link5": [0, 0, -0.2]},
}


def loaded(name, flexible=None):
    sidecar = {"tip": ARMS[name], "materials": {"al": ALUMINIUM}}
    sidecar["flexible"] = {
        link: {"to": to, "material": "al", "section": TUBE, "end": {"mass": 0.5}}
        for link, to in (flexible or {}).items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", supple.RobotWarning)
        return supple.load(DATA / f"{name}.urdf", sidecar)


def pinocchio_model(name):
    """Pinocchio's model of the same file, its fingers locked."""
    model = pin.buildModelFromUrdf(str(DATA / f"{name}.urdf"))
    fingers = [i for i in range(1, model.njoints) if "finger" in model.names[i]]
    if fingers:
        model = pin.buildReducedModel(model, fingers, pin.neutral(model))
    return model, model.createData()


def symmetric(upper_triangle):
    """Pinocchio computes the upper triangle of a mass matrix."""
    return np.triu(upper_triangle) + np.triu(upper_triangle, 1).T


@pytest.mark.parametrize("name", ARMS)
def test_forward_kinematics_and_rigid_dynamics(name):
    robot = loaded(name)
    model, data = pinocchio_model(name)
    ours = supple.build(robot, supple.AssumedModes(1))
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, v, a = rng.uniform(-2, 2, (3, model.nq))
        pin.framesForwardKinematics(model, data, q)
        there = data.oMf[model.getFrameId(ARMS[name])]
        pose = supple.forward(robot, q)
        assert np.abs(pose.position - there.translation).max() < 1e-10
        assert np.abs(pose.rotation - there.rotation).max() < 1e-10
        mass = symmetric(pin.crba(model, data, q))
        assert np.abs(ours.mass_matrix(q) - mass).max() < 1e-10
        effort = ours.mass_matrix(q) @ a + ours.bias(q, v) + ours.gravity(q)
        assert np.abs(effort - pin.rnea(model, data, q, v, a)).max() < 1e-10


@pytest.mark.parametrize("name", ARMS)
def test_links_declared_flexible_keep_the_kinematics(name):
    robot = loaded(name, BENDS[name])
    model, data = pinocchio_model(name)
    q = np.random.default_rng(6).uniform(-2, 2, model.nq)
    pin.framesForwardKinematics(model, data, q)
    there = data.oMf[model.getFrameId(ARMS[name])]
    pose = supple.forward(robot, q)
    assert np.abs(pose.position - there.translation).max() < 1e-10
    assert np.abs(pose.rotation - there.rotation).max() < 1e-10


@pytest.mark.slow
def test_two_flexible_links_build_simulate_and_show(tmp_path):
    name = "six-joints"
    robot = loaded(name, BENDS[name])
    theta = [0.0, -1.0, 1.2, 0.0, 0.3, 0.0]
    found = supple.modes(robot, theta, count=4)
    assert found.certified
    model = supple.build(robot, supple.AssumedModes(1))
    assert model.size >= 6 + 2 * 2
    run = supple.simulate(model, theta0=theta, q0="static", duration=0.02, tau=np.zeros(6))
    assert np.isfinite(run.tip).all()
    page = found.save_page(tmp_path / "arm.html", nearby=3)
    text = page.read_text()
    assert all(f"{hertz:.12g}"[:6] in text for hertz in found.frequency_hz)  # cut, not rounded


def mimicking(rng):
    """A URDF of five joints in space, one of them sliding; the fourth follows the first."""

    def random_vector():
        return " ".join(map(str, rng.uniform(-0.5, 0.5, 3)))

    text = '<robot name="five"><link name="l0"/>'
    for i, kind in enumerate(("continuous", "revolute", "prismatic", "revolute", "revolute")):
        A = rng.normal(0, 0.1, (3, 3))
        J = np.trace(A @ A.T) * np.eye(3) - A @ A.T  # an inertia that a body can have
        inertia = f'ixx="{J[0, 0]}" ixy="{J[0, 1]}" ixz="{J[0, 2]}" '
        inertia += f'iyy="{J[1, 1]}" iyz="{J[1, 2]}" izz="{J[2, 2]}"'
        place = random_vector()
        turn = random_vector()
        axis = random_vector()
        com = random_vector()
        text += f'<link name="l{i + 1}"><inertial><origin xyz="{com}" rpy="0.1 0.2 0.3"/>'
        text += f'<mass value="{rng.uniform(0.5, 3)}"/><inertia {inertia}/></inertial></link>'
        text += f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
        text += f'<origin xyz="{place}" rpy="{turn}"/><axis xyz="{axis}"/>'
        text += '<mimic joint="j0" multiplier="-1.6" offset="0.25"/>' if i == 3 else ""
        text += '<limit lower="-2" upper="2" effort="9" velocity="3"/></joint>'
    return f"{text}</robot>"


def test_a_mimic_joint_on_the_way_to_the_tip_equals_pinocchio(tmp_path):
    """Its own mimic joints, and G' f of its model with all joints free."""
    rng = np.random.default_rng(21)
    file = tmp_path / "five.urdf"
    file.write_text(mimicking(rng).replace("continuous", "revolute"))
    robot = supple.load(file)
    ours = supple.build(robot)
    full = pin.buildModelFromUrdf(str(file))
    own = pin.buildModelFromUrdf(str(file), mimic=True)
    assert ours.size == own.nv == 4
    G = np.zeros((5, 4))
    G[[0, 1, 2, 4], range(4)] = 1.0
    G[3, 0] = -1.6
    for _ in range(5):
        q, v, a = rng.uniform(0.1, 1, (3, 4))
        Q = G @ q + [0, 0, 0, 0.25, 0]
        data = full.createData()
        pin.framesForwardKinematics(full, data, Q)
        there = data.oMf[full.getFrameId("l5")]
        pose = supple.forward(robot, q)
        assert np.abs(pose.position - there.translation).max() < 1e-12
        assert np.abs(pose.rotation - there.rotation).max() < 1e-12
        effort = ours.mass_matrix(q) @ a + ours.bias(q, v) + ours.gravity(q)
        theirs = G.T @ pin.rnea(full, data, Q, G @ v, G @ a)
        assert np.abs(effort - theirs).max() < 1e-12 * np.abs(theirs).max()
        assert np.abs(effort - pin.rnea(own, own.createData(), q, v, a)).max() < 1e-11
        mass = symmetric(pin.crba(own, own.createData(), q))
        assert np.abs(ours.mass_matrix(q) - mass).max() < 1e-12
