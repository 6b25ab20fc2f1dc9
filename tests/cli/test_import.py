"""`supple import` and `supple materials`."""

import json
import re
from pathlib import Path

import pytest

import supple

ARM = Path(__file__).parents[1] / "data" / "six-joints.urdf"


def test_import_writes_a_robot_file(console, tmp_path):
    out = tmp_path / "arm.yaml"
    tube = "forearm=tube:0.08,0.003:aluminium"
    ran = console("import", ARM, "--flexible", tube, "--tip", "tool0", "--out", out)
    assert ran.code == 0
    assert "links that bend: forearm_link" in ran.out
    assert "note: link forearm_link: its beam, hub and end replace 2.3 kg" in ran.err
    robot = supple.load(out)
    assert robot.links[2].section == supple.Tube(diameter=0.08, wall=0.003)
    assert robot.materials["aluminium"] == supple.material("aluminium")
    answer = json.loads(console("modes", out, "--count", 2, "--json").out)
    assert answer["certified"]


def test_units_and_other_shapes(console):
    answer = json.loads(
        console(
            "import", ARM, "--flexible", "upper_arm_link=box:100mm,60mm,3mm:steel", "--json"
        ).out
    )
    assert answer["flexible"] == ["upper_arm_link"]


def test_bad_words_are_told(console, tmp_path):
    for words, sentence in (
        (("--flexible", "forearm=tube"), "write LINK=SHAPE:SIZES:MATERIAL"),
        (("--flexible", "forearm=tube:0.08:steel"), "tube takes diameter, wall"),
        (("--flexible", "forearm=egg:0.08:steel"), "shape is tube, circle, box or rectangle"),
        (("--flexible", "forearm=tube:0.08,0.003:cheese"), "material is 'cheese': the table holds"),
        (("--flexible", "nose=tube:0.08,0.003:steel"), "is no link of the chain"),
        (("--sidecar", "x.yaml", "--tip", "tool0"), "--sidecar says it all"),
    ):
        ran = console("import", ARM, *words)
        assert ran.code == 2
        assert sentence in ran.err
        assert "Traceback" not in ran.err


def test_gears_get_their_stiffness(console):
    words = ("import", ARM, "--stiffness", "2e4", "--stiffness", "elbow_joint=10kNm/rad", "--json")
    robot = supple.loads(json.loads(console(*words, "--rotor-inertia", 0.3).out)["text"])
    stiffness = {link.joint.name: link.joint.stiffness for link in robot.moving}
    assert stiffness.pop("elbow_joint") == 10e3
    assert set(stiffness.values()) == {2e4}
    assert {link.joint.rotor_inertia for link in robot.moving} == {0.3}
    tube = ("--flexible", "forearm=tube:0.08,0.003:aluminium")
    assert "note: all gears are rigid" in console("import", ARM, *tube).err
    assert "all gears" not in console("import", ARM, *tube, "--stiffness", 2e4).err


def test_lenient_takes_an_inertia_of_no_body(console, tmp_path):
    text = ARM.read_text()
    broken = re.sub(r'ixx="[^"]*"', 'ixx="9"', text)
    (tmp_path / "broken.urdf").write_text(broken)
    ran = console("check", tmp_path / "broken.urdf")
    assert ran.code == 2
    assert "--lenient" in ran.err
    out = tmp_path / "arm.yaml"
    ran = console("import", tmp_path / "broken.urdf", "--lenient", "--out", out)
    assert ran.code == 0
    assert "belong to no body" in ran.err
    assert console("check", out).code == 0


def test_a_rigid_urdf_can_be_looked_at(console, tmp_path):
    """It was refused: nothing elastic. One looks first and chooses what bends then."""
    page = tmp_path / "arm.html"
    ran = console("view", ARM, "--save", page)
    assert ran.code == 0
    assert "shown without modes" in ran.err
    assert "shoulder_link" in page.read_text()


def test_check_reads_a_urdf(console):
    ran = console("check", ARM)
    assert ran.code == 0
    assert "six-like-ur5" in ran.out


def test_materials_have_sources(console):
    table = json.loads(console("materials", "--json").out)["materials"]
    assert all(each["source"] for each in table.values())
    assert all(supple.material(name).density == each["density"] for name, each in table.items())
    assert "aluminium-6061-t6" in console("materials").out


def test_carbon_fibre_is_a_laminate():
    """Quasi-isotropic T300/5208: E = 69.7 GPa, G = 26.9 GPa by Tsai and Hahn (1980)."""
    plate = supple.material("carbon-epoxy-quasi-isotropic")
    assert pytest.approx(69.7e9, rel=2e-3) == plate.E
    assert pytest.approx(26.9e9, rel=2e-3) == plate.G
    assert supple.material("carbon-epoxy-tube").E > 1.3 * plate.E
