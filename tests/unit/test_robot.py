"""The robot description: what may be said, what is derived, what is refused."""

import math

import numpy as np
import pytest
from pydantic import ValidationError

from supple import RobotError, SuppleError
from supple.robot import Body, DeltaRobot, Joint, Link, Material, Mount, Platform, SerialRobot

BEAM = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0}
STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7800}
BAR = {"shape": "circle", "diameter": 0.01}

REFUSED = (RobotError, ValidationError)  # as made in Python, as read from data


def arm(*links: dict[str, object], **rest: object) -> SerialRobot:
    return SerialRobot.model_validate({"name": "arm", "links": list(links), **rest})


def refused(sentence: str, *links: dict[str, object], **rest: object) -> None:
    with pytest.raises(REFUSED, match=sentence):
        arm(*links, **rest)


def test_descriptions_are_frozen_and_compare_by_value() -> None:
    robot = arm({"name": "a", **BEAM})
    assert robot == arm({"name": "a", **BEAM})
    with pytest.raises(SuppleError, match="name cannot be set"):
        robot.name = "other"


def test_shear_modulus_from_poisson_and_back() -> None:
    assert pytest.approx(1.0) == Material(young_modulus=2.6, density=1, poisson_ratio=0.3).G
    assert Material(young_modulus=2.6, density=1, shear_modulus=1).nu == pytest.approx(0.3)
    assert Material(young_modulus=2.6, density=1).G is None


def test_material_takes_one_of_poisson_and_shear_modulus() -> None:
    with pytest.raises(REFUSED, match="give one of them"):
        Material(young_modulus=1, density=1, poisson_ratio=0.3, shear_modulus=1)


def test_inertia_of_a_body_one_three_six_values() -> None:
    assert np.array_equal(Body(inertia=2).tensor(), np.diag([0, 0, 2]))
    assert np.array_equal(Body(inertia=2).tensor((0, 3, 0)), np.diag([0, 2, 0]))
    assert np.array_equal(Body(inertia=(1, 2, 3)).tensor(), np.diag([1, 2, 3]))
    six = Body(inertia=(4, 5, 6, 0.1, 0.2, 0.3)).tensor()
    assert np.array_equal(six, [[4, 0.1, 0.2], [0.1, 5, 0.3], [0.2, 0.3, 6]])


@pytest.mark.parametrize("inertia", [(1.0, 2.0), -1.0, (1, 1, -1), (1, 1, 1, 2, 0, 0)])
def test_impossible_inertia_is_refused(inertia: object) -> None:
    with pytest.raises(REFUSED, match="inertia"):
        Body.model_validate({"inertia": inertia})


def test_angles_in_degrees_and_radians() -> None:
    assert Mount.model_validate({"rpy": ["90deg", "1rad", 0.5]}).rpy == (math.pi / 2, 1.0, 0.5)
    with pytest.raises(REFUSED, match="no unit known here"):
        Mount.model_validate({"rpy": ["90 degrees", 0, 0]})


def test_numpy_values_are_plain_numbers() -> None:
    body = Body.model_validate({"mass": np.float64(2), "com": np.zeros(3), "inertia": np.ones(3)})
    assert body == Body(mass=2, inertia=(1, 1, 1))


def test_joint_axis_defaults() -> None:
    assert np.array_equal(Joint().direction, [0, 0, 1])
    assert np.array_equal(Joint(axis=(0, 2, 0)).direction, [0, 1, 0])
    assert np.array_equal(Joint(axis=(0, 1e-300, 0)).direction, [0, 1, 0])
    assert np.array_equal(Joint(type="prismatic").direction, [1, 0, 0])


@pytest.mark.parametrize(
    ("joint", "sentence"),
    [
        ({"type": "prismatic", "axis": [1, 0, 0]}, "slides along its own x"),
        ({"axis": [0, 0, 0]}, "give a direction"),
        ({"limits": [1, -1]}, "below the upper one"),
        ({"type": "fixed", "stiffness": 1}, "for revolute joints"),
        ({"stiffness": 0}, "greater than 0"),
        ({"stiffness": math.nan}, "finite number"),
        ({"typ": "fixed"}, "Extra inputs"),
    ],
)
def test_impossible_joints_are_refused(joint: dict[str, object], sentence: str) -> None:
    refused(sentence, {"name": "a", **BEAM, "joint": joint})


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"length": 1}, "material and section are missing"),
        ({"length": 1, "material": STEEL}, "section is missing"),
        ({"material": STEEL, "section": BAR}, "length is missing"),
        ({**BEAM, "length": 0}, "length is 0"),
        ({"length": 1, "bending_stiffness": 1}, "mass_per_length is missing"),
        ({"length": 1, "mass_per_length": 1}, "bending_stiffness is missing"),
        ({**BEAM, "material": STEEL, "section": BAR}, "not both"),
        ({**BEAM, "theory": "timoshenko"}, "needs shear_stiffness"),
        ({**BEAM, "body": {"mass": 1}}, "body is for rigid links"),
        ({"theory": "rigid", "body": {"mass": 1}, "mass_per_length": 1}, "give one of them"),
        ({"theory": "rigid", "joint": {"type": "prismatic"}}, "total length"),
        ({**BEAM, "mass_per_length": math.inf}, "finite number"),
        ({**BEAM, "theory": "timoshenk"}, "Input should be"),
        ({**BEAM, "name": "a.b"}, "String should match"),
    ],
)
def test_impossible_links_are_refused(link: dict[str, object], sentence: str) -> None:
    refused(sentence, {"name": "a", **link})


def test_rigid_links_need_nothing_else() -> None:
    for extra in ({}, {"body": {"mass": 1}}, {"length": 1, "mass_per_length": 2}):
        assert arm({"name": "a", "theory": "rigid", **extra}).links[0].rigid


def test_references_and_names_are_checked() -> None:
    link = {"name": "a", "length": 1, "material": "steel", "section": "bar"}
    tables = {"materials": {"steel": STEEL}, "sections": {"bar": BAR}}
    robot = arm(link, **tables)
    assert robot.material(robot.links[0]) == Material(**STEEL)
    assert robot.section(robot.links[0]) == robot.sections["bar"]
    refused("material 'steel' is not among materials: none is given", link)
    refused("section 'rod' is not among sections: bar", {**link, "section": "rod"}, **tables)
    refused("name 'a' is used twice", link, link, **tables)


def test_timoshenko_needs_a_shear_modulus() -> None:
    soft = {"young_modulus": 1, "density": 1}
    link = {"name": "a", "length": 1, "material": soft, "section": BAR, "theory": "timoshenko"}
    refused("needs poisson_ratio or shear_modulus", link)


def test_planar_arms_stay_in_the_plane() -> None:
    refused("is not z", {"name": "a", **BEAM, "joint": {"axis": [1, 0, 0]}}, planar=True)
    for mount in ({"xyz": [0, 0, 1]}, {"rpy": ["90deg", 0, 0]}):
        refused("leaves the plane", {"name": "a", **BEAM, "joint": {"mount": mount}}, planar=True)
    turned = {"joint": {"axis": [0, 0, -2], "mount": {"xyz": [1, 2, 0], "rpy": [0, 0, 1]}}}
    assert arm({"name": "a", **BEAM, **turned}, planar=True).planar
    refused("valid boolean", {"name": "a", **BEAM}, planar="yes")


def test_theta_has_one_entry_per_joint_that_moves() -> None:
    fixed = {"name": "b", **BEAM, "joint": {"type": "fixed"}}
    robot = arm({"name": "a", **BEAM}, fixed, {"name": "c", **BEAM, "joint": {"type": "prismatic"}})
    assert [link.name for link in robot.moving] == ["a", "c"]


def test_one_stiffness_counts_in_both_planes() -> None:
    link = Link.model_validate({"name": "a", **BEAM, "bending_stiffness": 2})
    assert link.bending_stiffness == (2, 2)
    link = Link.model_validate({"name": "a", **BEAM, "bending_stiffness": [2, 3]})
    assert link.bending_stiffness == (2, 3)


def test_platform_is_a_disc_unless_its_inertia_is_given() -> None:
    disc = Platform(radius=0.1, thickness=0.06, mass=2).body
    assert disc.inertia == pytest.approx((2 * (3 * 0.01 + 0.0036) / 12,) * 2 + (0.01,))
    assert Platform(radius=1, thickness=1, mass=2, inertia=(1, 2, 3)).body.inertia == (1, 2, 3)


def test_delta_needs_spacing_for_parallelograms_only() -> None:
    def delta(**lower: object) -> DeltaRobot:
        return DeltaRobot.model_validate(
            {
                "name": "d",
                "base_radius": 0.1,
                "platform": {"radius": 0.05, "thickness": 0.01, "mass": 1},
                "upper": BEAM,
                "lower": {**BEAM, **lower},
            }
        )

    assert delta().angles == pytest.approx((0, 2 * math.pi / 3, 4 * math.pi / 3))
    assert delta(rods="parallelogram", spacing=0.1).lower.spacing == 0.1
    for wrong in ({"rods": "parallelogram"}, {"spacing": 0.1}):
        with pytest.raises(REFUSED, match="spacing"):
            delta(**wrong)


def test_stations_with_a_length_between_them_agree() -> None:
    """A file that loads can be computed: the faults are told when it is read, jumps are allowed."""
    tube = {"shape": "tube", "diameter": 0.02, "wall": 0.001}
    whole = {"name": "a", "length": 2.0, "material": STEEL}
    places = [{"at": 0, "section": BAR}, {"at": 2.0, "section": tube}]
    refused("a shape may change at a jump only", whole | {"stations": places})
    jump = [{"at": 1.0, "section": BAR}, {"at": 1.0, "section": tube}]
    arm(whole | {"stations": [places[0], *jump, places[1]]})
    own = {"mass_per_length": 1.0, "bending_stiffness": 1.0}
    stiff = [{"at": 0, **own, "axial_stiffness": 9.0}, {"at": 2.0, **own}]
    refused("do not give the same values", {"name": "a", "length": 2.0, "stations": stiff})
