"""Robots of other people's URDF files through every export."""

import sys
from pathlib import Path

import pytest

import supple
from supple.exporters.registry import EXPORTERS

pytestmark = pytest.mark.soak
FOLDER = Path("cmeel.prefix/share/example-robot-data/robots")
ROBOTS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "double-pendulum": "double_pendulum_description/urdf/double_pendulum.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
}


def urdf_file(name: str) -> Path:
    """Return the file in the package example-robot-data; skip where it is not installed."""
    for place in sys.path:
        file = Path(place) / FOLDER / ROBOTS[name]
        if file.exists():
            return file
    pytest.skip("example-robot-data is not installed")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("to", list(EXPORTERS))
@pytest.mark.parametrize("name", list(ROBOTS))
def test_a_foreign_robot_is_exported_or_refused(name: str, to: str, tmp_path: Path) -> None:
    robot = supple.load(urdf_file(name))
    suffix = {"fmu": "robot.fmu", "mujoco": "robot.xml", "sdf": "robot.sdf"}.get(to, "folder")
    if to == "simscape":  # all links are rigid
        with pytest.raises(supple.SuppleError, match="export it to urdf"):
            supple.export(robot, to=to, path=tmp_path / suffix)
        return
    out = supple.export(robot, to=to, path=tmp_path / suffix)
    assert all(file.exists() for file in out.files)
