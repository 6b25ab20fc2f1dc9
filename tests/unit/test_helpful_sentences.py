"""Mistakes that people make, and what they are told: the place, what is allowed, what to try."""

from __future__ import annotations

from pathlib import Path

import pytest

import supple
from supple import SuppleError

FOUR_BAR = """
supple: 1
name: four-bar
architecture: mechanism
planar: true
links:
  - {{name: crank, length: 0.1, mass_per_length: 1.0, bending_stiffness: 10.0, joint: {{type: revolute}}}}
  - {{name: coupler, parent: crank, length: 0.4, mass_per_length: 1.0, bending_stiffness: 10.0,
      joint: {{type: revolute, start: 0.5{coupler}}}}}
  - {{name: rocker, parent: base, length: {rocker_length}, mass_per_length: 1.0, bending_stiffness: 10.0,
      joint: {{type: revolute, start: 1.2{rocker}, mount: {{xyz: [0.4, 0, 0]}}}}}}
closures:
  - {{name: pin, type: revolute, ends: [coupler, rocker]}}
"""  # noqa: E501
PASSIVE = ", passive: true"

ARM = """
supple: 1
name: arm
architecture: serial
gravity: {gravity}
materials: {{steel: {{young_modulus: 210e9, poisson_ratio: 0.3, density: 7850}}}}
links:
  - name: beam
    length: {length}
    material: steel
    section: {{shape: tube, diameter: {diameter}, wall: 0.002}}
    joint: {{type: revolute, axis: [0, 1, 0], gear: {{ratio: 100, motor_inertia: {inertia}}}}}
payload: {{mass: 5}}
"""
USUAL = {"gravity": "[0, 0, -9.81]", "length": "1.2", "diameter": "0.1", "inertia": "2e-4"}


def four_bar(coupler: str = PASSIVE, rocker: str = PASSIVE, length: str = "0.3") -> supple.Robot:
    return supple.loads(FOUR_BAR.format(coupler=coupler, rocker=rocker, rocker_length=length))


def test_the_four_bar_is_right_when_nothing_is_wrong() -> None:
    assert supple.modes(four_bar(), [0.3], count=1).omega[0] > 0


def test_a_forgotten_passive_joint() -> None:
    robot = four_bar(rocker="")
    with pytest.raises(SuppleError, match="a joint without a motor is marked passive: true"):
        supple.modes(robot, [0.3])
    with pytest.raises(SuppleError, match="motors crank, rocker cannot be moved independently"):
        supple.modes(robot, [0.3, 1.2])


def test_a_wrong_length() -> None:
    for length in ("3.0", "0.003"):
        with pytest.raises(SuppleError) as caught:
            supple.check(four_bar(length=length))
        told = str(caught.value)
        assert "closure pin stays open" in told
        assert "check the lengths, mounts and start values of crank, coupler, rocker" in told


def test_an_angle_out_of_reach_names_one_that_is_not() -> None:
    """A rocker that is driven: it cannot turn all the way."""
    text = FOUR_BAR.format(coupler=PASSIVE, rocker="", rocker_length=0.3)
    text = text.replace("bending_stiffness: 10.0, joint: {type: revolute}}", "bending_stiffness: "
                        "10.0, joint: {type: revolute, passive: true}}")  # fmt: skip
    robot = supple.loads(text)
    with pytest.raises(SuppleError, match="try theta near") as caught:
        supple.modes(robot, [-0.5])
    near = float(str(caught.value).split("try theta near [")[1].split("]")[0])
    # there crank and coupler are in line: the end of what the rocker can do
    supple.modes(robot, [1.02 * near], count=1)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"length": "1,2"},
            r"links.beam: length is '1,2': write a point for the decimal comma, 1.2",
        ),
        ({"length": "1,2 m"}, "write a point for the decimal comma, 1.2 m"),
        ({"diameter": "0,1"}, r"links.beam.section: unknown key '1': is it the rest of a decimal"),
    ],
)
def test_a_decimal_comma(changes: dict[str, str], sentence: str) -> None:
    with pytest.raises(SuppleError, match=sentence):
        supple.loads(ARM.format(**(USUAL | changes)))


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"gravity": "[0, 0, 9.81]"}, "it points upwards, along +z; [0.0, 0.0, -9.81] is usual"),
        ({"length": "6", "diameter": "0.04"}, "mm, 12% of the reach 6 m"),
        (
            {"inertia": "1.5"},
            "motor_inertia is 1.5: it is in kg m^2; 1.5 may be meant as 1.5 kg cm^2",
        ),
    ],
)
def test_notes_of_a_check(changes: dict[str, str], note: str) -> None:
    usual = supple.check(supple.loads(ARM.format(**USUAL))).notes
    assert not any(note in each for each in usual)
    notes = supple.check(supple.loads(ARM.format(**(USUAL | changes)))).notes
    assert any(note in each for each in notes), notes


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (float("nan"), r"state_weight is nan: give finite numbers, one value, a list of 8"),
        ([1, 2, 3], r"state_weight has shape \(3,\): give one value, a list of 8"),
        (-1.0, "state_weight holds -1: give numbers that are not negative"),
    ],
)
def test_weights(given: object, sentence: str) -> None:
    model = supple.build("de-luca-two-link", supple.AssumedModes(1))  # type: ignore[arg-type]
    with pytest.raises(SuppleError, match=sentence):
        supple.lqr(model, [0, 0], state_weight=given)  # type: ignore[arg-type]


def test_degrees_for_radians() -> None:
    with pytest.warns(supple.RobotWarning, match="joint link1 by 45 rad, 7.16 turns"):
        supple.modes("industrial-3", [45, 90, 0], count=1)  # type: ignore[arg-type]


def test_a_misspelt_file_names_its_neighbour(tmp_path: Path) -> None:
    file = tmp_path / "my-arm.yaml"
    supple.dump(supple.load("industrial-3"), file)
    with pytest.raises(SuppleError, match=r"did you mean '.*my-arm\.yaml'"):
        supple.load(tmp_path / "my-amr.yaml")


def test_a_tab() -> None:
    with pytest.raises(SuppleError, match="indent with spaces, not with tabs"):
        supple.loads("supple: 1\nlinks:\n\t- name: a\n")


def test_a_law_for_something_else_says_what_to_do() -> None:
    model = supple.build("de-luca-two-link", supple.AssumedModes(1))  # type: ignore[arg-type]
    finer = supple.build("de-luca-two-link", supple.AssumedModes(2))  # type: ignore[arg-type]
    with pytest.raises(SuppleError, match=r"design it for this one, supple\.lqr\(model, theta\)"):
        supple.linearize(finer, controller=supple.lqr(model, [0, 0]))
    law = supple.lqg(model, [0, 0], period=1e-3)
    with pytest.raises(SuppleError, match=r"or give Sampled\(law, 0\.001\)"):
        supple.linearize(model, controller=supple.Sampled(law, 2e-3))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("t;arm\n0;0\n1;0,5\n", r"with semicolons: separate columns by commas"),
        ("t,arm\n0,0\n1,x\n", r"moves\.csv: row 3 holds '1,x', which are not all numbers: give a"),
    ],
)
def test_a_trajectory_file_is_named_once(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "moves.csv").write_text(text)
    with pytest.raises(SuppleError, match=sentence) as refusal:
        supple.load_trajectory(tmp_path / "moves.csv")
    assert str(refusal.value).count("moves.csv") == 1


def test_a_misspelt_path_with_a_unit() -> None:
    """It was told that it "has no unit", which sent people to look for units."""
    from supple.cli.arguments import measure

    with pytest.raises(SuppleError, match="there is no key 'walls': did you mean 'wall'"):
        measure("2mm", "links.arm.section.walls", "--vary")


BEAM = """
name: arm
planar: true
gravity: [0, -9.81, 0]
materials: {steel: {young_modulus: 210e9, poisson_ratio: 0.3, density: 7850}}
links:
  - {name: upper, length: 1.0, material: steel, section: {shape: circle, diameter: 0.05}}
  - {name: fore, length: 0.8, material: steel, section: {shape: circle, diameter: 0.05}}
"""


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        ("length: 1.0", "mass: 3, length: 1.0", "a mass on the link's end stands in tip, such as"),
        ("length: 0.8", "parent: upper, length: 0.8", "it is for architecture: mechanism"),
        ("diameter: 0.05", "radius: 0.025", "give the diameter, twice the radius"),
        ("shape: circle", "shape: pipe", "did you mean 'tube'?"),
        ("young_modulus: 210e9", "E: 210e9", "unknown key 'E': did you mean 'young_modulus'?"),
        ("[0, -9.81, 0]", "-9.81", r"m/s\^2, such as \[0, 0, -9.81\]"),
        ("planar: true", "payload: 5", r"such as \{mass: 2\}"),
    ],
)
def test_common_words_and_misplaced_keys(right: str, wrong: str, sentence: str) -> None:
    with pytest.raises(supple.RobotError, match=sentence) as refused:
        supple.loads(BEAM.replace(right, wrong, 1))
    assert not any("not both" in fault for fault in refused.value.faults)


def test_a_list_item_without_its_dash() -> None:
    text = BEAM.replace(
        "  - {name: fore, length: 0.8,", "  - {name: fore, name: last, length: 0.8,"
    )
    with pytest.raises(supple.RobotError, match="given twice: keep one; a new item of a list"):
        supple.loads(text)


def test_gravity_across_the_plane_is_noted() -> None:
    robot = supple.loads(BEAM.replace("[0, -9.81, 0]", "[0, 0, -9.81]"))
    assert any("along z, across the plane" in note for note in supple.check(robot).notes)
    assert not any("across the plane of" in note for note in supple.check(supple.loads(BEAM)).notes)
