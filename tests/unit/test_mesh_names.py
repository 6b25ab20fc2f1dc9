"""Meshes of imported robots are named as seen from the robot file, so that both move together."""

import shutil
from pathlib import Path

import pytest

import supple

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="../meshes/upper.stl"/></geometry></visual>
  </link>
  <joint name="shoulder" type="continuous">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
  </joint>
</robot>"""
TRIANGLE = """solid one
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid one
"""


def meshes(robot: supple.Robot) -> list[str]:
    """Return the meshes that are drawn with a robot's links."""
    return [visual.mesh for link in robot.links for visual in link.visuals if visual.mesh]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a URDF and its mesh in folders of their own."""
    whole = tmp_path / "project"
    for name in ("urdf", "meshes", "robots"):
        (whole / name).mkdir(parents=True)
    (whole / "urdf" / "arm.urdf").write_text(URDF)
    (whole / "meshes" / "upper.stl").write_text(TRIANGLE)
    return whole


def test_a_saved_robot_moves_with_its_meshes(project: Path, tmp_path: Path) -> None:
    robot = supple.load(project / "urdf" / "arm.urdf")
    text = supple.dump(robot, project / "robots" / "arm.yaml")
    assert "../meshes/upper.stl" in text
    assert str(tmp_path) not in text.replace("source", "")
    moved = tmp_path / "elsewhere"
    shutil.move(project, moved)
    (mesh,) = meshes(supple.load(moved / "robots" / "arm.yaml"))
    assert Path(mesh).resolve() == (moved / "meshes" / "upper.stl").resolve()


def test_the_folder_that_supple_runs_in_does_not_matter(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    supple.dump(supple.load(project / "urdf" / "arm.urdf"), project / "robots" / "arm.yaml")
    monkeypatch.chdir(project / "robots")
    (here,) = meshes(supple.load("arm.yaml"))
    monkeypatch.chdir(project)
    (there,) = meshes(supple.load("robots/arm.yaml"))
    assert Path(here).is_file()
    assert Path(here) == Path(there)


def test_text_without_a_file_keeps_whole_names(project: Path) -> None:
    robot = supple.load(project / "urdf" / "arm.urdf")
    assert supple.loads(supple.dump(robot)) == robot
