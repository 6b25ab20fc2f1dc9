"""URDF and sidecar: the same robot comes back, and the skeleton is its rigid twin."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import supple
from hostile import hostile_robot
from supple import library

DATA = Path(__file__).parents[2] / "data"
TREES = ["de-luca-two-link", "di-castri-two-link", "industrial-3", "theodore-rrp", "two-arms"]
LOOPS = [name for name in library.names() if name not in TREES]


def rigid(robot: supple.Robot) -> supple.Robot:
    return robot.with_({f"links.{link.name}.theory": "rigid" for link in robot.links})


@pytest.mark.parametrize("name", TREES)
def test_the_same_robot_comes_back(name: str, tmp_path: Path) -> None:
    robot = supple.load(name)
    out = supple.export(robot, "urdf", tmp_path)
    word = name.replace("-", "_")
    assert [path.name for path in out.files] == [f"{word}.urdf", f"{word}.supple.yaml"]
    assert supple.load(*out.files) == robot
    assert supple.load(out.files[1]) == robot
    assert out.error == 0.0
    assert np.array_equal(out.frequency_hz, out.exact_hz)


@pytest.mark.parametrize("name", ["six-joints", "seven-joints"])
def test_imports_come_back(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = supple.load(DATA / f"{name}.urdf")
    out = supple.export(robot, "urdf", tmp_path)
    assert supple.load(*out.files) == robot


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_refused_with_a_way_round(name: str, tmp_path: Path) -> None:
    with pytest.raises(supple.SuppleError, match="export it to mujoco, c or fmu"):
        supple.export(name, "urdf", tmp_path)


@pytest.mark.parametrize("name", TREES)
def test_the_skeleton_in_pinocchio(name: str, tmp_path: Path) -> None:
    """Masses, the tip and the inverse dynamics of the rigid robot, by another engine."""
    pinocchio = pytest.importorskip("pinocchio")
    robot = rigid(supple.load(name))
    out = supple.export(robot, "urdf", tmp_path)
    model = pinocchio.buildModelFromUrdf(str(out.files[0]))
    model.gravity.linear = np.asarray(robot.gravity)
    data = model.createData()
    ours = supple.build(robot)
    theta = np.linspace(0.3, 0.7, ours.joints)
    q = pinocchio.neutral(model)
    velocity = np.zeros(model.nv)
    for k, link in enumerate(link for link in robot.links if link.joint.type != "fixed"):
        number = model.getJointId(f"{link.name}_joint")
        place = model.joints[number].idx_q
        size = model.joints[number].nq
        q[place : place + size] = [np.cos(theta[k]), np.sin(theta[k])] if size == 2 else theta[k]
        velocity[model.joints[number].idx_v] = 0.2 * (k + 1)
    pinocchio.framesForwardKinematics(model, data, q)
    tip = data.oMf[model.getFrameId("tip")].translation
    assert tip == pytest.approx(supple.forward(robot, theta).position, abs=1e-12)
    if name == "theodore-rrp":  # inertias about one axis are raised in the URDF, and noted
        assert any("raised" in note for note in out.notes)
        return
    effort = pinocchio.rnea(model, data, q, velocity, 0.1 * velocity)
    rates = 0.2 * np.arange(1, ours.joints + 1)
    wanted = ours.inverse_dynamics(theta, rates, 0.1 * rates)
    order = []
    for link in robot.links:
        if link.joint.type != "fixed":
            order.append(model.joints[model.getJointId(f"{link.name}_joint")].idx_v)
    assert effort[order] == pytest.approx(wanted, rel=1e-10, abs=1e-10)


def test_a_changed_urdf_is_noticed(tmp_path: Path) -> None:
    out = supple.export("industrial-3", "urdf", tmp_path)
    text = out.files[0].read_text().replace("1.5", "1.6", 1)
    out.files[0].write_text(text)
    with pytest.raises(supple.RobotError, match="not the URDF that its sidecar"):
        supple.load(*out.files)


def test_hostile_names(tmp_path: Path) -> None:
    robot = hostile_robot()
    out = supple.export(robot, "urdf", tmp_path)
    assert supple.load(*out.files) == robot
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        supple.load(out.files[0])
