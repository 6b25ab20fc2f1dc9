"""Robot files of mechanisms: what they say, and every fault as a sentence with its place."""

import numpy as np
import pytest

import supple
from mechanisms import random_mechanism
from supple.errors import RobotError
from supple.files import dump, load, loads
from supple.robot import MechanismRobot

LIBRARY = ("four-bar", "five-bar", "scara-parallel", "hexapod", "two-arms")

# The example of the robot-file contract.
FIVE_BAR = """\
supple: 1
name: five-bar
architecture: mechanism
planar: true
gravity: [0, -9.81, 0]
materials:
  steel: {young_modulus: 210e9, poisson_ratio: 0.3, density: 7850}
sections:
  bar: {shape: rectangle, depth: 8e-3, width: 20e-3}
links:
  - {name: left, parent: base, joint: {limits: [0, 180deg]}, length: 0.25, BEAM}
  - {name: left2, joint: {type: revolute, passive: true, start: -60deg}, length: 0.35, BEAM}
  - {name: right, parent: base, joint: {mount: {xyz: [0.2, 0, 0]}}, length: 0.25, BEAM}
  - {name: right2, joint: {type: revolute, passive: true, start: 60deg}, length: 0.35, BEAM}
closures:
  - {ends: [left2, right2], type: revolute}
tip: left2
payload: {mass: 0.5}
""".replace("BEAM", "material: steel, section: bar")


def one_fault(text: str) -> str:
    with pytest.raises(RobotError) as caught:
        loads(text)
    (sentence,) = caught.value.faults
    return sentence


def test_the_example_of_the_contract() -> None:
    robot = loads(FIVE_BAR)
    assert isinstance(robot, MechanismRobot)
    assert robot.parents == (-1, 0, -1, 2)
    assert robot.motors == ("left", "right")
    assert robot.tip_index == 1
    assert robot.links[1].joint.start == pytest.approx((np.radians(-60),))
    assert [end.link for end in robot.closures[0].ends] == ["left2", "right2"]
    assert loads(dump(robot)) == robot


@pytest.mark.parametrize("seed", range(20))
def test_random_mechanisms_survive_the_way_to_a_file_and_back(seed: int) -> None:
    robot = random_mechanism(seed)
    assert loads(dump(robot)) == robot


@pytest.mark.parametrize("name", LIBRARY)
def test_library(name: str) -> None:
    robot = load(name)
    assert isinstance(robot, MechanismRobot)
    assert loads(dump(robot)) == robot
    first = robot.links[0].name
    changed = robot.with_(f"links.{first}.joint.damping", 0.25)
    assert changed.links[0].joint.damping == (0.25,)


def test_a_wrong_parent_and_a_place_on_another_link() -> None:
    """The place was looked up with all parents at once: a KeyError."""
    text = dump(load("two-arms")).replace("parent: base", "parent: up", 1)
    with pytest.raises(RobotError, match="parent 'up' is not listed before this link: base"):
        loads(text)


JOINT = "joint: {type: revolute, passive: true, start: -60deg}"
CLOSURE = "{ends: [left2, right2], type: revolute}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: left2,", "name: left2, parent: lefty,", "parent 'lefty' is not listed before"),
        ("name: left2,", "name: left2, parent: right,", "parent 'right' is not listed before"),
        ("name: left2,", "name: left2, at: 0.3,", "at is 0.3: it must be at most 0.25"),
        ("name: right,", "name: right, at: 0.1,", "at is for places along a link"),
        ("name: right,", "name: left,", "name 'left' is used twice"),
        (JOINT, "joint: {type: fixed, passive: true}", "passive is for joints that move"),
        (JOINT, "joint: {type: spherical, passive: false}", "passive is false: a spherical joint"),
        (JOINT, "joint: {type: universal, axis: [1, 0, 0]}", "axis is not for a universal joint"),
        (JOINT, "joint: {axes: [[1, 0, 0], [0, 1, 0]]}", "axes are for universal joints"),
        (JOINT, "joint: {type: universal, axes: [[1, 0, 0], [2, 0, 0]]}", "are parallel"),
        (JOINT, "joint: {passive: true, start: [0, 1]}", "start has 2 values"),
        (JOINT, "joint: {passive: true, rotor_inertia: 1}", "rotor_inertia is for joints with a"),
        (JOINT, "joint: {passive: true, rest: 1}", "rest goes with stiffness"),
        (JOINT, "joint: {rest: 1, stiffness: 2}", "rest is for the spring of a passive joint"),
        (JOINT, "joint: {passive: true, axis: [1, 0, 0]}", "axis [1.0, 0.0, 0.0] is not z"),
        (JOINT, "joint: {mount: {xyz: [0, 0, 1]}}", "mount leaves the plane"),
        (CLOSURE, "{ends: [left2, up]}", "ends name 'up', not among the links"),
        (CLOSURE, "{ends: [left2, left2]}", "ends are both on left2"),
        (CLOSURE, "{ends: [left2, {link: base, at: 1}]}", "at is for places along a link"),
        (CLOSURE, "{ends: [left2, {link: right2, at: 0.4}]}", "at is 0.4: it must be at most 0.35"),
        (CLOSURE, "{ends: [left2, right2], type: spherical, axis: [0, 0, 1]}", "axis is for"),
        (CLOSURE, "{ends: [left2, right2], axis: [1, 0, 1]}", "neither z nor in the plane"),
        (CLOSURE, "{ends: [left2, right2], type: distance}", "length is missing"),
        (CLOSURE, "{ends: [left2, right2], length: 1}", "length is for distance closures"),
        (CLOSURE, "{ends: [left2, right2], motor: true}", "motor is for distance closures"),
        (CLOSURE, "{ends: [left2, right2], type: hinge}", "type is 'hinge': it must be one of"),
        (CLOSURE, "{ends: [left2]}", "ends has 1 values: it must have 2"),
        (CLOSURE, "{ends: [left2, right2], axes: 1}", "axes is 1"),
        (CLOSURE, "{end: [left2, right2]}", "unknown key 'end': did you mean 'ends'?"),
        (CLOSURE, "{type: revolute}", "ends is missing"),
        ("tip: left2", "tip: left3", "tip 'left3' is not among the links"),
        ("tip: left2", "tip: {mass: 1}", "the robot's tip names a link"),
        ("name: left2,", "name: left2, tip: right2,", "a link's tip is a body"),
    ],
)
def test_faults(old: str, new: str, said: str) -> None:
    assert FIVE_BAR.count(old) == 1
    sentence = one_fault(FIVE_BAR.replace(old, new))
    assert said in sentence
    assert "(line " in sentence


def test_hub_of_a_ball_joint_needs_three_inertias() -> None:
    text = """\
    name: a
    architecture: mechanism
    links: [{name: ball, theory: rigid, joint: {type: spherical, hub: {mass: 1, inertia: 2}}}]
    """
    assert "needs three inertias" in one_fault(text)
    loads(text.replace("inertia: 2", "inertia: [1, 1, 1]"))


def test_a_serial_arm_is_told_what_closures_need() -> None:
    text = FIVE_BAR.replace("architecture: mechanism\n", "")
    assert "architecture: mechanism" in one_fault(text)


def test_every_kind_of_closure_is_read() -> None:
    for kind, rows in supple.robot.CLOSURES.items():
        extra = ", length: 1" if kind == "distance" else ""
        robot = loads(FIVE_BAR.replace("type: revolute}\ntip", f"type: {kind}{extra}}}\ntip"))
        assert robot.closures[0].type == kind
        assert 1 <= rows <= 6


@pytest.mark.parametrize(("passive", "start"), [(False, 1.5), (False, -0.2), (True, 1.5)])
def test_a_slide_that_starts_beside_its_beam_is_a_fault(passive: bool, start: float) -> None:
    """`modes` refused it, `build` took it."""
    link = {"name": "slide", "length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 100.0}
    joint = {"type": "prismatic", "start": start, "passive": passive}
    data = {"name": "s", "planar": True, "links": [{**link, "joint": joint}]}
    with pytest.raises(
        ValueError, match=f"start is {start:g}: it is the length outside, from 0 to 1"
    ):
        MechanismRobot.model_validate(data)
    joint["start"] = 0.7
    MechanismRobot.model_validate(data)
