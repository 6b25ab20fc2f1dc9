"""Joints by Denavit-Hartenberg rows: forward kinematics is the product of textbook matrices."""

from pathlib import Path

import numpy as np
import pytest

import supple
from cli.console import Console


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(monkeypatch, capsys)


def rotation_x(angle: float) -> np.ndarray:
    c = np.cos(angle)
    s = np.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def rotation_z(angle: float) -> np.ndarray:
    c = np.cos(angle)
    s = np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def shift(x: float, z: float) -> np.ndarray:
    found = np.eye(4)
    found[0, 3] = x
    found[2, 3] = z
    return found


def product(rows: list[dict], theta: np.ndarray) -> np.ndarray:
    """The textbook product of standard or modified matrices."""
    found = np.eye(4)
    for row, q in zip(rows, theta, strict=True):
        about_z = rotation_z(q + row["theta"])
        if row["convention"] == "standard":
            found = found @ about_z @ shift(0, row["d"]) @ shift(row["a"], 0)
            found = found @ rotation_x(row["alpha"])
        else:
            found = found @ rotation_x(row["alpha"]) @ shift(row["a"], 0)
            found = found @ about_z @ shift(0, row["d"])
    return found


def random_rows(seed: int, convention: str, joints: int = 6) -> list[dict]:
    rng = np.random.default_rng(seed)
    return [
        {
            "a": round(float(rng.uniform(0.1, 0.5)), 3),
            "d": float(rng.uniform(-0.3, 0.3)),
            "alpha": float(rng.choice([0, np.pi / 2, -np.pi / 2, rng.uniform(-3, 3)])),
            "theta": float(rng.choice([0, np.pi / 2, rng.uniform(-3, 3)])),
            "convention": convention,
        }
        for _ in range(joints)
    ]


def robot_of(rows: list[dict]) -> supple.Robot:
    links = [
        {
            "name": f"link{i}",
            "joint": {"type": "revolute", "dh": row},
            "theory": "rigid",
            "body": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]},
        }
        for i, row in enumerate(rows, 1)
    ]
    return supple.SerialRobot(name="rows", links=links)


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("seed", range(10))
def test_forward_kinematics_is_the_product_of_textbook_matrices(seed: int, convention: str) -> None:
    rows = random_rows(seed, convention)
    robot = robot_of(rows)
    theta = np.random.default_rng(100 + seed).uniform(-3, 3, 6)
    pose = supple.forward(robot, theta)
    expected = product(rows, theta)
    assert pose.position == pytest.approx(expected[:3, 3], abs=1e-12)
    assert pose.rotation == pytest.approx(expected[:3, :3], abs=1e-12)


def test_a_beam_shorter_than_its_row_is_continued_by_a_rigid_offset() -> None:
    rows = random_rows(3, "standard", 3)
    robot = robot_of(rows).with_("links.link1.length", rows[0]["a"] - 0.05)
    theta = np.array([0.3, -0.8, 1.1])
    pose = supple.forward(robot, theta)
    assert pose.position == pytest.approx(product(rows, theta)[:3, 3], abs=1e-12)


def test_rows_survive_files_and_can_be_changed_by_their_paths() -> None:
    rows = random_rows(5, "standard", 3)
    robot = robot_of(rows)
    assert supple.loads(supple.dump(robot)) == robot
    assert "mount" not in supple.dump(robot)
    changed = robot.with_("links.link2.joint.dh.a", 0.77)
    rows[1]["a"] = 0.77
    theta = np.array([0.3, -0.8, 1.1])
    assert supple.forward(changed, theta).position == pytest.approx(
        product(rows, theta)[:3, 3], abs=1e-12
    )


def test_a_planar_arm_by_rows_has_the_frequencies_of_the_same_arm_by_lengths() -> None:
    arm = supple.load("industrial-3")
    data = {f"links.{link.name}.joint.dh.a": link.length for link in arm.links}
    by_rows = arm.with_(data)
    theta = [0.1, 0.7, -0.4]
    assert supple.modes(by_rows, theta).omega == pytest.approx(
        supple.modes(arm, theta).omega, rel=1e-13
    )


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        ({"dh": {"a": 0.3}, "mount": {"xyz": [1, 0, 0]}}, "mount and dh are both given"),
        ({"dh": {"a": 0.3}, "axis": [0, 1, 0]}, "axis and dh are both given"),
        ({"type": "prismatic", "dh": {"a": 0.3}}, "dh is for revolute and fixed joints"),
        ({"dh": {"a": 0.3, "convention": "craig"}}, "standard, modified"),
        ({"dh": {"a": 0.3, "r": 2}}, "unknown key 'r'"),
    ],
)
def test_faults_are_sentences(joint: dict, words: str) -> None:
    with pytest.raises(supple.RobotError, match=words):
        supple.SerialRobot(
            name="one",
            links=[{"name": "l1", "joint": joint, "length": 0.3, "theory": "rigid"}],
        )


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_table_of_rows_is_imported(convention: str, tmp_path: Path, console: Console) -> None:
    table = tmp_path / "arm.csv"
    table.write_text(
        "name,a,d,alpha [deg],theta,mass\n"
        "base,0,0.3,90,0,4\nupper,0.4,0,0,0,3\nfore,0.3,0.1,0,0.2,2\n"
    )
    out = tmp_path / "arm.yaml"
    ran = console("import", "--dh", str(table), "--convention", convention, "--out", str(out))
    assert ran.code == 0, ran.err
    robot = supple.load(out)
    rows = [
        {"a": 0, "d": 0.3, "alpha": np.pi / 2, "theta": 0, "convention": convention},
        {"a": 0.4, "d": 0, "alpha": 0, "theta": 0, "convention": convention},
        {"a": 0.3, "d": 0.1, "alpha": 0, "theta": 0.2, "convention": convention},
    ]
    theta = np.array([0.4, -0.3, 0.9])
    assert supple.forward(robot, theta).position == pytest.approx(
        product(rows, theta)[:3, 3], abs=1e-12
    )


def test_check_notes_a_beam_that_runs_away_from_its_row() -> None:
    """The kinematics are right, but the beam is mirrored: 20.6 Hz instead of 30.3 on a UR5."""
    material = {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700}
    tube = {"shape": "tube", "diameter": 0.1, "wall": 0.003}
    row = {"a": -0.4, "d": 0, "alpha": 0, "theta": 0}
    link = {"name": "boom", "length": 0.4, "material": material, "section": tube}
    link["joint"] = {"type": "revolute", "dh": row}
    robot = supple.SerialRobot.model_validate({"name": "arm", "links": [link]})
    assert any("links.boom.joint.dh: a is -0.4" in note for note in supple.check(robot).notes)
