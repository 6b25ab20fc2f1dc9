"""An arm that came from a URDF, with links that bend by its sidecar, through every export."""

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.exporters.registry import EXPORTERS

LINK = """<link name="{name}"><inertial><origin xyz="0.2 0 0"/><mass value="{mass}"/>
<inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{kind}"><origin xyz="{x} 0 0"/><parent link="{parent}"/>
<child link="{child}"/><axis xyz="{axis}"/>
<limit lower="{low}" upper="{high}" effort="10" velocity="1"/></joint>"""
PARTS = [
    '<link name="base"/>',
    LINK.format(name="arm", mass=2),
    LINK.format(name="fore", mass=1),
    LINK.format(name="finger", mass=0.1),
    JOINT.format(
        name="j1", kind="revolute", x=0, parent="base", child="arm", axis="0 0 1", low=-2, high=2
    ),
    JOINT.format(
        name="j2", kind="revolute", x=0.4, parent="arm", child="fore", axis="0 1 0", low=-2, high=2
    ),
    JOINT.format(
        name="j3",
        kind="prismatic",
        x=0.4,
        parent="fore",
        child="finger",
        axis="0 1 0",
        low=0,
        high=0.04,
    ),
]
SIDECAR = """
supple: 1
tip: {tip}
materials: {{aluminium: {{young_modulus: 70e9, poisson_ratio: 0.33, density: 2700}}}}
flexible:
  arm: {{from: [0, 0, 0], to: [0.4, 0, 0], y: [0, 1, 0], material: aluminium, hub: {{mass: 0.4}},
        section: {{shape: tube, diameter: 0.04, wall: 0.002}},
        end: {{mass: 0.9, inertia: [0.001, 0.0012, 0.001]}}}}
  fore: {{from: [0, 0, 0], to: [0.4, 0, 0], y: [0, 0, 1], material: aluminium,
         section: {{shape: rectangle, depth: 0.02, width: 0.04}}}}
payload: {{mass: 1.0}}
"""


def elastic_import(folder: Path, tip: str) -> supple.Robot:
    urdf = folder / "import.urdf"
    urdf.write_text(f'<robot name="import">{"".join(PARTS)}</robot>')
    sidecar = folder / "import.sidecar.yaml"
    sidecar.write_text(SIDECAR.format(tip=tip))
    return supple.load(urdf, sidecar=sidecar)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tip", ["fore", "finger"])
@pytest.mark.parametrize("to", list(EXPORTERS))
def test_elastic_imports_leave_in_every_format(to: str, tip: str, tmp_path: Path) -> None:
    """The finger stands at the end of its stroke, beyond which no difference may step."""
    robot = elastic_import(tmp_path, tip)
    suffix = {"fmu": "out.fmu", "mujoco": "out.xml", "sdf": "out.sdf"}.get(to, "folder")
    options = {"jacobians": False} if to == "c" else {}
    out = supple.export(robot, to=to, path=tmp_path / suffix, **options)
    assert all(file.exists() for file in out.files)
    assert len(out.exact_hz) == 3
    if to == "sdf":  # rigid
        assert np.isnan(out.error)
    else:
        assert out.error < 5e-3
