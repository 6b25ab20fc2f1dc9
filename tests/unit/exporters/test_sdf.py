"""SDF is the skeleton's other spelling: an own reader finds the tip and the masses again."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import supple
from hostile import hostile_robot


def pose_matrix(text: str) -> np.ndarray:
    x, y, z, roll, pitch, yaw = (float(word) for word in text.split())
    cr = np.cos(roll)
    sr = np.sin(roll)
    cp = np.cos(pitch)
    sp = np.sin(pitch)
    cy = np.cos(yaw)
    sy = np.sin(yaw)
    turn = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    turn = turn @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    turn = turn @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    found = np.eye(4)
    found[:3, :3] = turn
    found[:3, 3] = x, y, z
    return found


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    cross = np.cross(np.eye(3), axis)
    found = np.eye(4)
    found[:3, :3] += np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return found


def read_tip(text: str, theta: list[float]) -> tuple[np.ndarray, float]:
    """Place of the frame `tip` and mass of all links, by the rules of SDF 1.11."""
    model = ElementTree.fromstring(text).find("model")
    frames = {"__model__": np.eye(4)}
    left = list(theta)
    for joint in model.findall("joint"):
        pose = joint.find("pose")
        frame = frames[pose.get("relative_to")] @ pose_matrix(pose.text)
        axis = joint.find("axis/xyz")
        if axis is not None:
            direction = np.array([float(word) for word in axis.text.split()])
            if joint.get("type") == "prismatic":
                slide = np.eye(4)
                slide[:3, 3] = direction * left.pop(0)
                frame = frame @ slide
            else:
                frame = frame @ turned(direction, left.pop(0))
        frames[joint.find("child").text] = frame
    frame = model.find("frame")
    tip = frames[frame.get("attached_to")] @ pose_matrix(frame.find("pose").text)
    masses = [float(mass.text) for mass in model.iter("mass")]
    return tip[:3, 3], sum(masses)


@pytest.mark.parametrize(
    ("name", "theta"),
    [("industrial-3", [0.3, -0.5, 0.9]), ("theodore-rrp", [0.2, 0.4, 0.8])],
)
def test_tip_and_mass_are_those_of_the_robot(name: str, theta: list[float], tmp_path: Path) -> None:
    out = supple.export(name, to="sdf", path=tmp_path / "arm.sdf")
    tip, mass = read_tip(out.files[0].read_text(), theta)
    assert tip == pytest.approx(supple.forward(supple.load(name), theta).position, abs=1e-12)
    urdf = supple.export(name, to="urdf", path=tmp_path).files[0].read_text()
    of_urdf = sum(float(m.get("value")) for m in ElementTree.fromstring(urdf).iter("mass"))
    assert mass == pytest.approx(of_urdf, rel=1e-7)
    assert np.isnan(out.error)


def test_loops_are_refused_and_names_are_safe(tmp_path: Path) -> None:
    with pytest.raises(supple.SuppleError, match="has loops"):
        supple.export("four-bar", to="sdf", path=tmp_path / "loop.sdf")
    out = supple.export(hostile_robot(), to="sdf", path=tmp_path / "hostile.sdf")
    ElementTree.fromstring(out.files[0].read_text())


def test_a_raised_inertia_is_stated(tmp_path: Path) -> None:
    out = supple.export("theodore-rrp", to="sdf", path=tmp_path / "arm.sdf")
    assert any("link1, link2" in note for note in out.notes)
    assert "raised" in out.files[0].read_text()
