"""Names of links that other tools keep for themselves or choke on, in every exporter."""

import ast
import shutil
import subprocess
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import supple
from supple.exporters.registry import EXPORTERS

FILES = {"fmu": "arm.fmu", "mujoco": "arm.xml", "sdf": "arm.sdf"}

# Both names, the formats that refuse them, and words of the refusal.
GROUND = ("mujoco", "exudyn", "simscape", "urdf", "sdf")
REFUSED = {
    "ground": (("base", "link2"), GROUND, "'base': that is the ground"),
    "the world": (("world", "link2"), ("mujoco", "exudyn", "sdf"), "'world'"),
    "the model of SDF": (("__model__", "link2"), ("sdf",), "'__model__'"),
    "written alike": (("a\x00b", "a\x1bb"), ("mujoco", "exudyn", "urdf", "sdf"), "alike, 'a_b'"),
    "written alike in a URDF": (("a$", "a_"), ("urdf", "sdf"), "alike, 'a_'"),
    "a segment's name": (("a", "a:1"), ("mujoco", "exudyn"), "'a:1'"),
    "a closure's name": (("closure:0", "b"), ("mujoco", "exudyn"), "'closure:0'"),
}
HARMLESS = {
    "quotes": ("a\"b'c`d", "\"'"),
    "comment ends": ("*/int_x;/*", "--><!--"),
    "leading dashes": ("--out", "-"),
    "leading digits": ("1link", "2"),
    "umlauts": ("größerÄÖÜß", "漢字"),
    "one identifier for two": ("a-b", "a_b"),
    "one word in two cases": ("Link", "link"),
    "words of C, Python and MATLAB": ("class", "import"),
    "functions of the C itself": ("main", "sin"),
    "shell and format signs": ("$(id)%n{x}", "#;|&&"),
    "backslashes and trigraphs": ("a\\", "??/"),
    "markup": ("<b>&amp;", "]]>"),
    "generated words": ("tip", "base_link"),
    "the outer body of MuJoCo": ("worldbody", "tip_joint"),
    "signs that do not print": ("a\x00b", "c\x1bd"),
    "paths": ("/etc/passwd", "C:\\con"),
    "very long": ("x" * 300, "x" * 299 + "y"),
}


def renamed(first: str, second: str) -> supple.Robot:
    robot = supple.load("de-luca-two-link")
    data = robot.model_dump(mode="json", exclude_defaults=True)
    data["architecture"] = robot.architecture
    data["links"][0]["name"] = first
    data["links"][1]["name"] = second
    return type(robot).model_validate(data)


def exported(robot: supple.Robot, to: str, folder: Path) -> supple.Export:
    return supple.export(robot, to, folder / FILES.get(to, "folder"))


def check_files(to: str, robot: supple.Robot, out: supple.Export) -> None:
    """Read what was written with the tool it is for, where that is installed."""
    plain = supple.load("de-luca-two-link")
    for path in out.files:
        assert path.parent == out.files[0].parent
        assert path.name.isascii()
        assert len(path.name) < 80
    if to == "c":
        if shutil.which("gcc"):
            flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-trigraphs"]
            for unit in out.files:
                if unit.suffix == ".c":
                    command = ["gcc", *flags, "-fsyntax-only", unit.name]
                    subprocess.run(command, cwd=unit.parent, check=True)
    elif to == "fmu":
        fmpy_validation = pytest.importorskip("fmpy.validation")
        assert fmpy_validation.validate_fmu(str(out.files[0])) == []
    elif to == "mujoco":
        mujoco = pytest.importorskip("mujoco")
        model = mujoco.MjModel.from_xml_path(str(out.files[0]))
        assert model.nu == 2
    elif to == "exudyn":
        ast.parse(out.files[0].read_text())
    elif to == "urdf":
        assert supple.load(*out.files) == robot
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = supple.load(out.files[0])
        position = supple.forward(alone, [0.3, 0.2]).position
        assert position == pytest.approx(supple.forward(plain, [0.3, 0.2]).position, abs=1e-12)
    elif to == "sdf":
        model = ElementTree.parse(out.files[0]).getroot().find("model")
        assert model is not None
        names = [child.get("name", "") for child in model]
        assert len(set(names)) == len(names)
        assert not any(name.startswith("__") for name in names)
    elif to in ("simscape", "matlab"):
        io = pytest.importorskip("scipy.io")
        for path in out.files:
            if path.suffix == ".mat":
                io.loadmat(path)


def skip_without_engine(to: str) -> None:
    for engine in ("mujoco", "exudyn"):
        if to == engine:
            pytest.importorskip(engine)


@pytest.fixture(scope="module")
def plain_frequencies(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], np.ndarray]:
    """Frequencies (Hz) of the export whose links have ordinary names, one export per format."""
    robot = supple.load("de-luca-two-link")

    @cache
    def frequencies(to: str) -> np.ndarray:
        return exported(robot, to, tmp_path_factory.mktemp("plain")).frequency_hz

    return frequencies


@pytest.mark.parametrize("to", list(EXPORTERS))
@pytest.mark.parametrize("what", list(HARMLESS))
def test_a_name_changes_no_number(
    what: str, to: str, plain_frequencies: Callable[[str], np.ndarray], tmp_path: Path
) -> None:
    skip_without_engine(to)
    robot = renamed(*HARMLESS[what])
    out = exported(robot, to, tmp_path)
    assert np.array_equal(out.frequency_hz, plain_frequencies(to))
    check_files(to, robot, out)


@pytest.mark.parametrize("to", list(EXPORTERS))
@pytest.mark.parametrize("what", list(REFUSED))
def test_a_name_that_a_format_keeps_is_refused_in_one_sentence(
    what: str, to: str, tmp_path: Path
) -> None:
    skip_without_engine(to)
    names, refusing, words = REFUSED[what]
    robot = renamed(*names)
    if to not in refusing:
        check_files(to, robot, exported(robot, to, tmp_path))
        return
    with pytest.raises(supple.SuppleError) as refusal:
        exported(robot, to, tmp_path)
    sentence = str(refusal.value)
    assert words in sentence
    assert "another name" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("name", ["two words", "line\nend", "do.t", "tab\tbed", ""])
def test_spaces_and_line_ends_never_get_so_far(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        renamed(name, "link2")


HAND = """<robot name="hand">
  <link name="palm"/>
  {links}
  <joint name="first" type="revolute">
    <parent link="palm"/><child link="finger"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
  <joint name="second" type="revolute">
    <parent link="finger"/><child link="finger_joint"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
    <mimic joint="first" multiplier="0.5" offset="0.1"/>
  </joint>
</robot>"""
HAND_LINK = """<link name="{name}"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def test_a_mimic_joint_names_the_joint_that_leads_it(tmp_path: Path) -> None:
    """A link may be called as the joint of another one would be."""
    links = "".join(HAND_LINK.format(name=name) for name in ("finger", "finger_joint"))
    path = tmp_path / "hand.urdf"
    path.write_text(HAND.format(links=links))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = supple.load(path)
    out = supple.export(robot, "urdf", tmp_path / "again")
    root = ElementTree.parse(out.files[0]).getroot()
    joints = [joint.get("name") for joint in root.findall("joint")]
    mimics = [mimic.get("joint") for mimic in root.iter("mimic")]
    assert len(mimics) == 1
    assert mimics[0] in joints
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = supple.load(out.files[0])
    position = supple.forward(robot, [0.3]).position
    assert supple.forward(alone, [0.3]).position == pytest.approx(position, abs=1e-12)


def test_validate_skips_engines_that_keep_a_name() -> None:
    table = supple.validate(renamed("base", "link2"))
    assert len(table) == 0 or all(row.difference < 0.1 for row in table)
    assert any("that is the ground" in sentence for sentence in table.skipped)
