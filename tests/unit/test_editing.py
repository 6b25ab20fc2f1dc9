"""Changed copies by dotted paths, and descriptions as minimal plain data."""

import pytest

from supple.editing import as_plain_data
from supple.errors import RobotError
from supple.files import load
from supple.robot import Body, Robot, SerialRobot
from supple.sections import Box, Circle


@pytest.fixture
def arm() -> Robot:
    return load("industrial-3")


def links(robot: Robot) -> dict[str, object]:
    assert isinstance(robot, SerialRobot)
    return {link.name: link for link in robot.links}


def test_a_path_through_a_shared_name_makes_a_private_copy(arm: Robot) -> None:
    changed = arm.with_("links.link2.section.depth", 0.3)
    assert changed.section(links(changed)["link2"]).depth == 0.3
    assert changed.section(links(changed)["link1"]).depth == 0.15
    assert changed.sections == arm.sections
    assert changed.with_("links.link2.section", "box") == arm


def test_the_shared_part_itself_can_be_changed(arm: Robot) -> None:
    changed = arm.with_("materials.aluminium.density", 3000)
    assert all(changed.material(link).density == 3000 for link in links(changed).values())
    assert arm.materials["aluminium"].density == 2700


def test_several_paths_at_once(arm: Robot) -> None:
    changed = arm.with_({"links.link1.length": 2, "links.link2.length": 3, "gravity": [0, -9.8, 0]})
    assert [link.length for link in links(changed).values()] == [2, 3, 1.5]
    assert changed.gravity == (0, -9.8, 0)


def test_absent_parts_are_made_on_the_way(arm: Robot) -> None:
    assert arm.with_("payload.mass", 2).payload == Body(mass=2)
    assert arm.with_("payload.com.1", 2).payload == Body(com=(0, 2, 0))
    changed = arm.with_({"links.link1.joint.hub.mass": 1, "links.link1.joint.stiffness": 1e4})
    assert links(changed)["link1"].joint.hub == Body(mass=1)
    assert links(changed)["link1"].joint.stiffness == 1e4


def test_links_by_number_and_lists_by_index(arm: Robot) -> None:
    changed = arm.with_({"links.0.length": 2, "gravity.2": -9.81})
    assert links(changed)["link1"].length == 2
    assert changed.gravity == (0, 0, -9.81)


def test_values_may_be_descriptions_or_be_taken_away(arm: Robot) -> None:
    changed = arm.with_({"links.link1.section": Circle(diameter=0.1), "links.link1.tip": None})
    assert changed.section(links(changed)["link1"]) == Circle(diameter=0.1)
    assert links(changed)["link1"].tip is None
    more = changed.with_("sections.new", Box(depth=1, width=1, wall=0.1))
    assert more.sections["new"] == Box(depth=1, width=1, wall=0.1)


def test_names_with_dots_are_found(arm: Robot) -> None:
    steel = {"young_modulus": 2e11, "density": 7800}
    named = arm.with_("materials", {**arm.materials, "steel 1.4301": steel})
    changed = named.with_("materials.steel 1.4301.density", 7900)
    assert changed.materials["steel 1.4301"].density == 7900


def test_delta_paths() -> None:
    delta = load("kuo-delta")
    changed = delta.with_({"upper.length": 0.4, "lower.section.area": 3e-5, "motor.stiffness": 10})
    assert (changed.upper.length, changed.motor.stiffness) == (0.4, 10)
    assert changed.section(changed.lower).area == 3e-5
    assert changed.section(changed.upper).area == 25e-6


def test_thickening_of_the_two_link_arm_as_documented() -> None:
    """Mass grows with f, EI with f^3. Source: [DiCastri2011], Tables 2-6."""
    arm = load("di-castri-two-link")
    f = 25
    thick = arm.with_(
        {"links.link1.section.depth": f * 0.61e-3, "links.link2.section.depth": f * 0.6e-3}
    )
    for before, after in zip(links(arm).values(), links(thick).values(), strict=True):
        A, I_z = arm.section(before).constants()[:2]
        assert thick.section(after).constants()[:2] == pytest.approx((f * A, f**3 * I_z))


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("link.link1.length", "unknown key 'link': did you mean 'links'?"),
        ("links.link9.length", "links: unknown key 'link9': did you mean 'link"),
        ("links.3.length", "links: unknown key '3': known here are link1, link2, link3"),
        (
            "links.link1.section.dpeth",
            "links.link1.section: unknown key 'dpeth': did you mean 'depth'",
        ),
        ("links.link1.length.x", "links.link1.length: this is a plain value and has no parts"),
        ("materials.steel.density", "materials: unknown key 'steel': known here are aluminium"),
        ("gravity.3", "gravity: unknown key '3'"),
        ("", "unknown key ''"),
    ],
)
def test_unknown_parts_of_a_path_are_named(arm: Robot, path: str, sentence: str) -> None:
    with pytest.raises(RobotError) as caught:
        arm.with_(path, 1)
    assert sentence in str(caught.value)
    assert f"(in the path '{path}')" in str(caught.value)


def test_a_change_is_validated_and_every_fault_told(arm: Robot) -> None:
    with pytest.raises(RobotError) as caught:
        arm.with_({"links.link1.length": -1, "links.link3.section": "tube"})
    assert len(caught.value.faults) == 2
    assert "links.link1: length is -1: it must be at least 0" in caught.value.faults[0]
    assert "links.link3: section 'tube' is not among sections: box" in caught.value.faults[1]


def test_dumped_leaves_defaults_out_and_numbers_short() -> None:
    data = as_plain_data(load("di-castri-two-link"))
    assert list(data) == [
        *("supple", "name", "source", "architecture", "planar", "materials", "sections", "links"),
    ]
    assert data["links"][0]["tip"] == {"mass": 0.61, "inertia": 1.5e-3}
    assert "joint" not in data["links"][0]
    assert data["sections"]["strip1"]["shear_coefficient"] == 0.85
    assert data["sections"]["strip1"]["shape"] == "rectangle"
