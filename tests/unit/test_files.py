"""Robot files: YAML 1.2, every fault at once with its place and line, the library, the schema."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple import library
from supple.errors import RobotError, SuppleError
from supple.faults import MEANINGS
from supple.files import dump, load, loads, schema
from supple.files.reading import read_yaml, resolve_scalar
from supple.files.robots import architectures
from supple.files.writing import write
from supple.robot import DeltaRobot, SerialRobot

# The example of the robot-file contract.
EXAMPLE = """\
supple: 1                      # format version
name: industrial-3
source: "[DiCastri2011] Table 8"
architecture: serial           # serial | delta
planar: true
gravity: [0, 0, 0]
materials:
  aluminium: {young_modulus: 70e9, poisson_ratio: 0.34, density: 2700}
sections:
  box: {shape: box, depth: 0.15, width: 0.20, wall: 0.01, shear_coefficient: 0.44}
links:
  - name: link1
    joint: {type: revolute}
    length: 1.5
    material: aluminium
    section: box
    theory: timoshenko
    tip: {mass: 10, inertia: 0.3}
payload: {mass: 2}
"""
BEAM = "length: 1, mass_per_length: 1, bending_stiffness: 1"


def faults_of(text: str) -> tuple[str, ...]:
    with pytest.raises(RobotError) as caught:
        loads(text)
    return caught.value.faults


def one_fault_of(text: str) -> str:
    (fault,) = faults_of(text)
    return fault


def test_the_example_of_the_contract() -> None:
    robot = loads(EXAMPLE)
    assert isinstance(robot, SerialRobot)
    link = robot.links[0]
    assert (link.theory, link.length, link.tip.mass) == ("timoshenko", 1.5, 10)
    assert robot.material(link).young_modulus == 70e9
    assert robot.section(link).shear(0.34) == (0.44, 0.44)
    assert robot.payload.mass == 2


@pytest.mark.parametrize(
    ("text", "value"),
    # YAML 1.2.2, section 10.3.2, tag resolution of the core schema, and what YAML 1.1 reads else.
    [
        ("70e9", 70e9),
        ("1e-3", 1e-3),
        (".5", 0.5),
        ("5.", 5.0),
        ("+12e03", 12000.0),
        ("-2E+05", -2e5),
        ("0", 0),
        ("-19", -19),
        ("0o17", 15),
        ("0x3A", 58),
        ("017", 17),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("0b1", "0b1"),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("off", "off"),
        ("~", None),
        ("null", None),
        ("", None),
        ("-.INF", -math.inf),
        ("2026-01-01", "2026-01-01"),
        ("45deg", "45deg"),
        ("9" * 30, float("9" * 30)),
    ],
)
def test_plain_scalars_by_the_core_schema(text: str, value: Any) -> None:
    found = resolve_scalar(text)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_read_as_such() -> None:
    assert math.isnan(resolve_scalar(".nan"))


def test_quotes_and_tags() -> None:
    data = read_yaml("a: '1'\nb: \"yes\"\nc: !!str 2\nd: !!float 3\n1: x\ne: ! 4\n").data
    assert data == {"a": "1", "b": "yes", "c": "2", "d": 3, "1": "x", "e": "4"}


def test_lines_of_places() -> None:
    lines = read_yaml("a: 1\nb:\n  - x: 1\n    y: 2\n  - {z: 3}\n").lines
    assert lines[("b", 0, "y")] == 4
    assert lines[("b", 1)] == lines[("b", 1, "z")] == 5


def test_aliases_stand_for_their_anchor() -> None:
    text = f"name: x\nlinks:\n - {{name: a, {BEAM}, tip: &t {{mass: 3}}}}\n"
    robot = loads(text + f" - {{name: b, {BEAM}, tip: *t}}\n")
    assert robot.links[0].tip == robot.links[1].tip


def test_degrees_where_an_angle_is_meant() -> None:
    text = f"name: x\nlinks:\n - {{name: a, {BEAM}, roll: 90deg, joint: {{limits: [-45deg, 1]}}}}\n"
    link = loads(text).links[0]
    assert link.roll == math.pi / 2
    assert link.joint.limits == (-math.pi / 4, 1)
    assert "'1deg' is given: it must be in m, or in what converts to it" in one_fault_of(
        text.replace("{name: a, length: 1", "{name: a, length: 1deg")
    )


FAULTY = """\
supple: 1
name: arm
planar: true
gravitiy: [0, 0, 0]
materials:
  al: {young_modulus: 70e9, density: 2700, poisson_ratio: 0.7}
sections:
  box: {shape: box, depth: 0.1, width: 0.1, wal: 0.01}
  rod: {shape: rood, diameter: 1}
links:
  - name: link1
    length: -1.5
    material: al
    section: box
    joint: {axis: [1, 0, 0]}
  - name: link2
    lenght: 1.5
    material: aluminium
    section: bx
  - length: 1
    theory: timoshenk
    mass_per_length: .nan
    tip: {mass: heavy, inertia: [1, 2]}
  - {name: link1, length: 1, mass_per_length: 1}
"""


def test_every_fault_of_a_file_at_once() -> None:
    """Faults of values, of parts and of the robot as a whole, in the order of the file."""
    expected = [
        "unknown key 'gravitiy': did you mean 'gravity'? (line 4)",
        "materials.al: poisson_ratio is 0.7: it must be at most 0.5",
        "sections.box: unknown key 'wal': did you mean 'wall'? (line 8)",
        "sections: rod has shape 'rood': it must be one of rectangle, box, circle, tube, general",
        "links.link1: axis [1.0, 0.0, 0.0] is not z",
        "links.link1: length is -1.5: it must be at least 0",
        "links.link2: unknown key 'lenght': did you mean 'length'? (line 17)",
        "links.link2: material 'aluminium' is not among materials: al (line 18)",
        "links.link2: section 'bx' is not among sections: box, rod; did you mean 'box'?",
        "links.2: name is missing",
        "links.2: bending_stiffness is missing",
        "links.2: theory is 'timoshenk': it must be one of timoshenko, euler-bernoulli",
        "links.2: mass_per_length is nan: it must be a finite number",
        "links.2.tip: mass is 'heavy': it must be a number, alone or with a unit",
        "links.2.tip: inertia has 2 values: give 1, 3 or 6 of them",
        "links.link1: bending_stiffness is missing",
        "links.link1.name: name 'link1' is used twice",
    ]
    found = faults_of(FAULTY)
    for sentence in expected:
        assert [fault for fault in found if fault.startswith(sentence)], sentence
    assert len(found) == len(expected), "\n".join(found)
    numbers = [int(fault.rpartition("(line ")[2].rstrip(")")) for fault in found]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(("given", "word"), [("1e-300", "small"), ("1e300", "large")])
def test_numbers_that_overflow_are_refused(given: str, word: str) -> None:
    text = f"name: x\nlinks:\n - {{name: a, {BEAM}}}\n".replace(
        "a, length: 1", f"a, length: {given}"
    )
    assert f"too {word} to compute with" in one_fault_of(text)


def test_faults_stay_on_one_short_line() -> None:
    found = faults_of(
        'name: x\nlinks: []\n"a\\nb": 1\nmaterials:\n  "c\\nd": 5\n' + f"{'k' * 3000}: 1\n"
    )
    assert all("\n" not in fault and len(fault) < 600 for fault in found)


def test_faults_of_a_delta() -> None:
    found = faults_of(
        "name: d\narchitecture: delta\nbase_radius: 0.1\n"
        "upper: {length: 1, material: st, section: b}\n"
        "lower: {length: -1, material: st, section: b, rods: singel}\n"
        "platform: {radius: 1, mass: 1}\n"
    )
    text = "\n".join(found)
    for part in (
        "upper: material 'st'",
        "lower: material 'st'",
        "upper: section 'b'",
        "did you mean 'single'",
    ):
        assert part in text
    assert "platform: thickness is missing" in text
    assert "lower: length is -1" in text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file is empty"),
        ("# a comment only\n", "the file is empty"),
        ("- 1\n- 2\n", "this is a list, not a robot"),
        ("hello", "this is only 'hello', not a robot"),
        ("a: [1, 2", "this is not YAML"),
        ("a:\n\tb: 1", "this is not YAML"),
        ("name: \x01", "this is not YAML"),
        ("a: 1\n---\nb: 1\n", "more than one document"),
        ("supple: 2\nname: x\n", "supple is 2: this release reads format version 1"),
        ("supple: true\nname: x\n", "supple is true"),
        ("architecture: serail\n", "architecture is 'serail'"),
        ("name: d\nupper: {}\nlower: {}\n", "add architecture: delta"),
        ("a: &a [*a]", "the alias *a stands for nothing"),
        ("a: *b", "the alias *b stands for nothing"),
        ("? [a, b]\n: 1", "keys must be texts"),
        ("a: !!python/name:os.system x", "is not known: leave it out"),
        ("<<: {a: 1}", "merging by << is not in YAML 1.2"),
        ("[" * 100_000, "nested deeper than 30 levels"),
        ("a: " + "{a: " * 10_000, "nested deeper than 30 levels"),
        ("".join(f"k{i}: 1\n" for i in range(50_000)), "more than 20,000 values"),
    ],
)
def test_files_that_are_no_robot_get_one_sentence(text: str, sentence: str) -> None:
    assert sentence in one_fault_of(text)


def test_alias_bomb_gets_one_sentence() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    assert "more than 20,000 values" in one_fault_of("\n".join(lines))


def test_keys_given_twice_are_faults() -> None:
    found = faults_of(f"name: x\nname: y\nlinks:\n - {{name: a, {BEAM}, length: 2}}\n")
    assert found == (
        "key 'name' is given twice: keep one (line 2)",
        "links.a: key 'length' is given twice: keep one (line 4)",
    )


def test_long_lists_of_faults_are_cut() -> None:
    found = faults_of("name: x\nlinks:\n" + " - {}\n" * 1000)
    assert len(found) == 51
    assert "more faults: mend the ones above first" in found[-1]


def test_unreadable_files_get_one_sentence(tmp_path: Path) -> None:
    def told(name: str, raw: bytes) -> str:
        path = tmp_path / name
        path.write_bytes(raw)
        with pytest.raises(SuppleError) as caught:
            load(path)
        assert str(path) in str(caught.value)
        return str(caught.value)

    assert "binary" in told("binary.yaml", bytes(range(256)))
    assert "not UTF-8 text (line 2)" in told("latin.yaml", b"name: x\nsource: \xe9\n")
    assert "larger than 1 MB" in told("large.yaml", b"#" * 1_000_001)
    with pytest.raises(SuppleError, match="is a directory"):
        load(tmp_path)
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(SuppleError, match="cannot be read"):
            load(name)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.encode())
    assert load(path) == loads(EXAMPLE)


def test_a_missing_file_gets_the_nearest_library_name() -> None:
    with pytest.raises(SuppleError, match="did you mean 'industrial-3'"):
        load("industral-3.yaml")
    with pytest.raises(SuppleError, match="the library holds de-luca-two-link, "):
        load("nothing-like-it.yaml")


def test_a_file_wins_over_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kuo-delta").write_text(EXAMPLE)
    monkeypatch.chdir(tmp_path)
    assert load("kuo-delta") == loads(EXAMPLE)
    assert load("theodore-rrp").name == "theodore-rrp"


def test_dump_writes_a_file_that_loads_as_the_same_robot(tmp_path: Path) -> None:
    robot = loads(EXAMPLE)
    text = dump(robot, tmp_path / "arm.yaml")
    assert (tmp_path / "arm.yaml").read_text() == text
    assert load(tmp_path / "arm.yaml") == robot
    with pytest.raises(SuppleError, match="cannot write"):
        dump(robot, tmp_path / "nowhere" / "arm.yaml")


@pytest.mark.parametrize(
    "value",
    [
        "yes",
        "70e9",
        "45deg",
        " a",
        "a: b",
        "# x",
        'q"\\',
        "é…\U0001f916",
        "\x7f\x85\u2028\ufeff",
        "",
        "-",
    ],
)
def test_texts_survive_writing(value: str) -> None:
    assert read_yaml(write({"name": value, value or "empty": {"a": [value]}})).data["name"] == value


def test_very_long_keys_survive_writing() -> None:
    data = {"materials": {"k" * 2000: {"density": 1.0}, "é" * 700: {"density": 2.0}}}
    assert read_yaml(write(data)).data == data


@pytest.mark.parametrize("value", [1e-300, 1 / 3, 70e9, 1e22, -0.0, 5e-324, 123456789.125, 0.1])
def test_numbers_survive_writing_with_every_digit(value: float) -> None:
    found = read_yaml(write({"a": value})).data["a"]
    assert found == value
    assert math.copysign(1, found) == math.copysign(1, value)


def test_numbers_are_numbers_for_readers_of_yaml_1_1() -> None:
    import yaml

    assert yaml.safe_load(write({"a": 1e-5, "b": 7e22, "c": 2700.0})) == {
        "a": 1e-5,
        "b": 7e22,
        "c": 2700,
    }


@pytest.mark.parametrize("name", library.names())
def test_library_robots_load_and_survive(name: str) -> None:
    robot = load(name)
    assert robot.name == name
    assert robot.source.startswith(("[", "example"))  # a published robot, or one made up
    assert loads(dump(robot)) == robot


def test_the_library_holds_the_published_robots() -> None:
    wanted = {"di-castri-two-link", "industrial-3", "de-luca-two-link", "theodore-rrp", "kuo-delta"}
    assert wanted <= set(library.names())


def test_two_link_arm_has_the_printed_mass_and_stiffness() -> None:
    """Source: [DiCastri2011], Table 1."""
    robot = load("di-castri-two-link")
    assert isinstance(robot, SerialRobot)
    for link, mass, stiffness in zip(robot.links, (0.121, 0.129), (0.203, 0.193), strict=True):
        A, I_z = robot.section(link).constants()[:2]
        assert robot.material(link).density * A * link.length == pytest.approx(mass, rel=1e-14)
        assert robot.material(link).young_modulus * I_z == pytest.approx(stiffness, rel=1e-14)
    assert [link.tip.mass for link in robot.links] == [0.61, 0.224]
    assert [link.tip.inertia for link in robot.links] == [(1.5e-3,), (1.3e-4,)]


def test_de_luca_arm_has_the_printed_end_load() -> None:
    """M_L1 and J_L1 of [DeLuca1991], eq. (28), at theta_2 = 0 with J_o = m l^2 / 3."""
    robot = load("de-luca-two-link")
    assert isinstance(robot, SerialRobot)
    second = robot.links[1]
    payload = robot.payload
    hub = second.joint.hub
    mass = second.mass_per_length * second.length
    assert hub.mass + mass + payload.mass == pytest.approx(1.2)
    own = mass * second.length**2 / 3
    tip = payload.inertia[0] + payload.mass * second.length**2
    assert hub.inertia[0] + own + tip == pytest.approx(0.133833, abs=5e-7)


@pytest.mark.parametrize("q", [(0.0, 0.0, 0.3), (0.7, -1.1, 0.9), (-2.0, 2.5, 1.0)])
def test_theodore_arm_follows_its_denavit_hartenberg_table(q: tuple[float, float, float]) -> None:
    """Rows (q1, 0.1, 0, -90deg), (q2, 0.3, 0, 90deg), (0, q3, 0, 0); x, y, z of link 3: z, x, y."""
    from supple.architectures.serial import place

    def row(theta: float, d: float, alpha: float) -> np.ndarray:
        c = math.cos(theta)
        s = math.sin(theta)
        ca = math.cos(alpha)
        sa = math.sin(alpha)
        return np.array(
            [[c, -s * ca, s * sa, 0], [s, c * ca, -c * sa, 0], [0, sa, ca, d], [0, 0, 0, 1]]
        )

    first = row(q[0], 0.1, -math.pi / 2)
    second = first @ row(q[1], 0.3, math.pi / 2)
    third = second @ row(0.0, q[2], 0.0)
    robot = load("theodore-rrp")
    assert isinstance(robot, SerialRobot)
    placed = place(robot, q)
    np.testing.assert_allclose(placed.p[0, 1], first[:3, 3], atol=1e-15)
    np.testing.assert_allclose(placed.p[0, 2], second[:3, 3], atol=1e-15)
    np.testing.assert_allclose(placed.tip[0], third[:3, 3], atol=1e-15)
    np.testing.assert_allclose(placed.R[0, 2], third[:3, [2, 0, 1]], atol=1e-15)


def test_kuo_delta_is_as_printed() -> None:
    """Source: [Kuo2016], Table 1, with the polar moment as torsion constant."""
    robot = load("kuo-delta")
    assert isinstance(robot, DeltaRobot)
    a = 5e-3
    expected = (a**2, a**4 / 12, a**4 / 12, a**4 / 6, a**4 / 6)
    assert robot.section(robot.upper).constants() == pytest.approx(expected, rel=1e-14)
    assert (robot.upper.length, robot.lower.length, robot.lower.rods) == (0.5, 0.6, "single")


def test_schema_takes_library_files_and_refuses_faulty_ones() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    checker = jsonschema.Draft202012Validator(schema())
    for name in library.names():
        checker.validate(read_yaml(library.path(name).read_text(encoding="utf-8")).data)
    example = read_yaml(EXAMPLE).data
    example["links"][0]["tip"]["inertia"] = [1, 2, 3]
    example["links"][0]["roll"] = "45deg"
    checker.validate(example)
    for wrong in ({"lenght": 1}, {"length": -1}, {"theory": "thick"}, {"section": {"shape": "x"}}):
        faulty = {**example, "links": [{**example["links"][0], **wrong}]}
        assert not checker.is_valid(faulty), wrong


def test_every_key_of_the_schema_has_a_meaning() -> None:
    found = schema()
    keys = {key for part in found["$defs"].values() for key in part.get("properties", ())}
    assert keys == set(MEANINGS)
    text = str(found)
    assert not any(f"'{bound}':" in text for bound in ("gt", "ge", "lt", "le"))


def test_architectures_are_known_by_their_own_word() -> None:
    for word, model in architectures().items():
        assert model.model_fields["architecture"].default == word


PLATE = """
links:
  - {name: a, length: 1, theory: rigid, mass_per_length: 2, tip: {mass: 1, inertia: [%s]}}
"""


def test_an_inertia_of_no_body_is_a_note(tmp_path):
    """It passed without a word."""
    place = tmp_path / "a.yaml"
    place.write_text("name: plate" + PLATE % "0.001, 0.002, 0.01")
    with pytest.warns(supple.RobotWarning, match=r"links.a.tip.inertia: .*0.01 belong to no body"):
        robot = supple.load(place)
    assert robot.links[0].tip.inertia == (0.001, 0.002, 0.01)


def test_a_negative_inertia_is_refused_or_zero_when_lenient(tmp_path):
    place = tmp_path / "a.yaml"
    place.write_text("name: plate" + PLATE % "-0.01, 0.1, 0.1")
    with pytest.raises(supple.RobotError, match="no negative principal value"):
        supple.load(place)
    with pytest.warns(supple.RobotWarning, match=r"links.a.tip.inertia: .*; taken with zero"):
        robot = supple.load(place, lenient=True)
    assert robot.links[0].tip.inertia[:3] == pytest.approx((0, 0.1, 0.1))


def test_what_is_not_a_body_at_all_is_refused_though_lenient(tmp_path):
    place = tmp_path / "a.yaml"
    place.write_text("name: plate" + PLATE % "0.1, 0.2")
    with pytest.raises(supple.RobotError, match="give 1, 3 or 6"):
        supple.load(place, lenient=True)
