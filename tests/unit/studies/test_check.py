"""What an engineer looks at first: against closed forms, and the notes on what looks wrong."""

import re

import numpy as np
import pytest

import supple
from supple.outputs.stress import von_mises
from supple.sections import Rectangle

STEEL = {
    "young_modulus": 210e9,
    "poisson_ratio": 0.3,
    "density": 7850,
    "yield_strength": 235e6,
}


def boom(**changes):
    data = {
        "name": "boom",
        "gravity": [0, 0, -9.81],
        "links": [
            {
                "name": "arm",
                "length": 2.0,
                "material": STEEL,
                "section": {"shape": "box", "depth": 0.1, "width": 0.06, "wall": 0.004},
                "roll": "90deg",  # the depth stands upright
                "joint": {"axis": [0, 1, 0], "limits": [-1.5, 1.5]},
                "tip": {"mass": 12.0},
            }
        ],
    }
    return (
        supple.SerialRobot.model_validate(data).with_(changes)
        if changes
        else supple.SerialRobot.model_validate(data)
    )


def test_numbers_of_a_cantilever_in_closed_form():
    """M = W L + w L^2 / 2 at the root; sigma = M c / I; mass = rho A L + W."""
    robot = boom()
    seen = supple.check(robot)
    section = robot.links[0].section.constants()
    weight = 12 * 9.81
    load = 7850 * section.A * 9.81
    moment = weight * 2 + load * 2**2 / 2
    assert seen.mass == pytest.approx(7850 * section.A * 2 + 12)
    assert seen.reach == 2.0
    assert abs(seen.holding["arm"]) == pytest.approx(moment, rel=1e-12)
    stress, ratio = seen.stress["arm"]
    assert stress == pytest.approx(moment * 0.05 / section.I_z, rel=1e-9)
    assert ratio == pytest.approx(stress / 235e6)
    assert seen.sag == pytest.approx(-supple.statics(robot).tip_displacement[2])
    assert seen.frequency_hz == pytest.approx(supple.modes(robot, count=1).frequency_hz[0])
    assert [note for note in seen.notes if "Bredt" not in note] == []  # told of thick walls


def test_torsion_of_a_box_by_bredt():
    """A load beside the axis: T = m g a, tau = T / 2 A_m t, with bending by von Mises."""
    robot = boom().with_("links.arm.tip.com", [0, 0.3, 0])
    section = robot.links[0].section.constants()
    moment = 12 * 9.81 * 2 + 7850 * section.A * 9.81 * 2
    sigma = moment * 0.05 / section.I_z
    tau = 12 * 9.81 * 0.3 / (2 * 0.096 * 0.056 * 0.004)
    found = supple.check(robot).stress["arm"][0]
    assert found == pytest.approx((sigma**2 + 3 * tau**2) ** 0.5, rel=1e-9)


@pytest.mark.parametrize(("ratio", "beta"), [(1.0, 0.208), (2.0, 0.246), (10.0, 0.312)])
def test_torsion_of_a_rectangle_by_saint_venant(ratio, beta):
    """tau = T / beta a b^2 with the tabled beta, three digits, whichever side is the longer."""
    b = 0.02
    a = 0.02 * ratio
    for shape in (Rectangle(depth=a, width=b), Rectangle(depth=b, width=a)):
        twisted = von_mises(shape, np.array([0, 0, 0, 5.0, 0, 0]))
        assert twisted == pytest.approx(3**0.5 * 5.0 / (beta * a * b**2), rel=3e-3)
        bent = von_mises(shape, np.array([0, 0, 0, 0.0, 3.0, 0]))
        assert bent == pytest.approx(3.0 * shape.width / 2 / shape.constants().I_y, rel=1e-12)


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("links.arm.material.yield_strength", 240.0, "yield_strength is 240: .* 240 MPa"),
        ("links.arm.joint.mount.rpy", [0, 90, 0], "rpy is 0, 90, 0: .* 90 deg"),
        ("links.arm.material.young_modulus", 70.0, "young_modulus is 70: .* 70 GPa"),
        ("links.arm.material.density", 2.7, "density is 2.7: .* g/cm"),
        ("links.arm.length", 900.0, "length is 900: .* 900 mm"),
        ("links.arm.joint.limits", [-60, 60], "limits is -60, 60: it is in rad"),
        ("gravity", [0, 0, -9810], "gravity is 9810: it is in m/s"),
        ("gravity", [0, 0, 0], "gravity is zero"),
        ("links.arm.tip.mass", 2e4, "arm yields under the robot's own weight"),
        ("links.arm.joint.stiffness", 1e5, "arm has a spring but no rotor_inertia"),
    ],
)
def test_notes_on_what_looks_wrong(path, value, sentence):
    notes = supple.check(boom(**{path: value})).notes
    assert any(re.search(sentence, note) for note in notes), notes


def test_a_passed_limit_is_noted():
    notes = supple.check(boom(), [2.0]).notes
    assert "arm stands at 2, outside its limits -1.5 to 1.5" in notes


def test_a_planar_arm_that_hides_a_lower_mode():
    robot = supple.load("industrial-3").with_(
        {f"links.link{k}.section.width": 0.03 for k in (1, 2, 3)}
    )
    notes = supple.check(robot, [0, 0.7, 0.7]).notes
    assert any("hides a lower mode across its plane" in note for note in notes)
    assert not any("hides" in note for note in supple.check(supple.load("kuo-delta")).notes)


@pytest.mark.parametrize("name", ["industrial-3", "kuo-delta", "theodore-rrp", "de-luca-two-link"])
def test_every_family_is_checked(name):
    seen = supple.check(supple.load(name))
    assert seen.mass > 0
    assert seen.frequency_hz > 0
    assert seen.holding


@pytest.mark.parametrize(
    ("name", "path", "motor"),
    [("kuo-delta", "motor", "upper1"), ("four-bar", "links.crank.joint", "crank")],
)
def test_a_spring_without_rotor_is_told_for_every_family(name, path, motor):
    robot = supple.load(name).with_(f"{path}.stiffness", 1e3)
    note, *_ = [note for note in supple.check(robot).notes if "rotor_inertia" in note]
    assert note.startswith(f"{motor} has a spring")
    with pytest.raises(supple.SuppleError, match="rotor_inertia"):
        supple.build(robot, supple.AssumedModes(1))


def test_a_link_that_carries_another_midway_is_one_link():
    """two-arms: the column carries both arms below `at`, the left arm alone above it."""
    robot = supple.load("two-arms")
    theta = [link.joint.start[0] for link in robot.links]
    seen = supple.check(robot, theta)
    assert set(seen.stress) == {link.name for link in robot.links}
    left = seen.holding["left-upper"]
    right = seen.holding["right-upper"]
    places = {0.74: left - right, 0.75: left - right, 0.76: left, 1.0: left}  # at: 0.6 of 0.8 m
    outputs = {f"{f}": supple.Moment("column", f) for f in places}
    outputs |= {"stress": supple.Stress("column", 0.76)}
    bent = supple.statics(robot, theta, outputs=outputs).outputs
    for fraction, moment in places.items():
        assert bent[f"{fraction}"][2] == pytest.approx(moment, rel=1e-12)
    assert seen.stress["column"][0] == pytest.approx(float(bent["stress"]), rel=2e-3)
    # a tip force at zero frequency adds to the moments what it adds in statics
    for fraction in (0.3, 0.9):
        output = supple.Moment("column", fraction)
        pushed = supple.statics(robot, theta, force=[0, 1, 0], outputs={"m": output}).outputs["m"]
        still = supple.statics(robot, theta, outputs={"m": output}).outputs["m"]
        found = supple.response(
            robot, theta, [0.0], inputs=["force.y"], outputs=[output], joints="locked"
        )
        np.testing.assert_allclose(found.values[0, :, 0].real, pushed - still, atol=1e-12)


def test_a_link_may_have_an_at_in_its_name():
    robot = supple.load("industrial-3").with_("gravity", (0, -9.81, 0))
    renamed = supple.check(robot.with_("links.link2.name", "arm@2")).stress
    assert renamed["arm@2"] == supple.check(robot).stress["link2"]


def test_where_no_stress_can_be_had_a_note_says_why():
    notes = supple.check(supple.load("kuo-delta")).notes
    assert any(note.startswith("no stress in upper1") and "outline" in note for note in notes)


def crane() -> supple.MechanismRobot:
    """A boom on a hinge, held at 1.5 m of its 4 m by a cylinder from a place below."""
    boom = {"name": "boom", "joint": {"passive": True, "start": 0.5}, "length": 4.0}
    boom |= {"mass_per_length": 50.0, "bending_stiffness": 5e6, "tip": {"mass": 30.0}}
    rod = {"name": "cylinder", "type": "distance", "motor": True, "length": 1.4}
    rod["ends"] = [{"link": "base", "mount": {"xyz": [0.5, -1.0, 0]}}, {"link": "boom", "at": 1.5}]
    whole = {"name": "crane", "planar": True, "gravity": [0, -9.81, 0], "links": [boom]}
    return supple.MechanismRobot.model_validate(whole | {"closures": [rod]})


def test_a_cylinder_holds_its_boom() -> None:
    """Moments about the hinge: the cylinder's force was not told at all."""
    s = 1.7
    foot = np.array([0.5, -1.0])
    b = np.hypot(*foot)
    angle = np.arccos((b**2 + 1.5**2 - s**2) / (2 * b * 1.5)) + np.arctan2(-1.0, 0.5)
    at = 1.5 * np.array([np.cos(angle), np.sin(angle)])
    push = (at - foot) / s
    lever = at[0] * push[1] - at[1] * push[0]
    weight = 9.81 * (50 * 4 * 2 + 30 * 4) * np.cos(angle)
    seen = supple.check(crane(), [s])
    assert seen.holding == {"cylinder": pytest.approx(weight / lever, rel=1e-7)}


def test_rows_that_repeat_are_among_the_notes():
    """A planar four-bar in space: two of five rows of its pin say something new."""
    found = supple.check(supple.load("four-bar").with_("planar", False))
    assert any("3 of the 5 rows of pin repeat" in note for note in found.notes)
    assert not supple.check(supple.load("four-bar")).notes


PEDESTAL = """
supple: 1
name: on a pedestal
architecture: serial
gravity: [0, 0, -9.81]
foundation: {translation: [2e8, 2e8, 5e8], mass: 500, inertia: [10, 10, 10]}
links:
  - name: pedestal
    joint: {type: fixed}
    length: 0.5
    theory: rigid
    mass_per_length: 80
  - name: arm
    joint: {type: revolute, axis: [0, 1, 0], hub: {mass: 3, inertia: [0.1, 0.1, 0.1]}}
    length: 1.0
    theory: rigid
    mass_per_length: 7
    tip: {mass: 2, inertia: [0.01, 0.01, 0.01]}
payload: {mass: 5}
"""


def test_what_stands_still_is_no_mass_that_moves() -> None:
    """Neither the foundation (500 kg) nor the pedestal that is bolted to it (40 kg)."""
    from supple.studies.design.optimise import mass_of

    robot = supple.loads(PEDESTAL)
    assert supple.check(robot).mass == pytest.approx(3 + 7 + 2 + 5)
    assert mass_of(robot, [0.0]) == pytest.approx(3 + 7 + 2)
    assert mass_of(robot, [0.0], ["pedestal"]) == pytest.approx(40 + 3 + 7 + 2)


@pytest.mark.parametrize(
    ("young_modulus", "meant"),
    [(68_900, "68900 MPa"), (70, "70 GPa"), (210_000, "210000 MPa"), (7e14, None)],
)
def test_the_unit_that_is_named_makes_it_a_usual_number(
    young_modulus: float, meant: str | None
) -> None:
    material = {"young_modulus": young_modulus, "poisson_ratio": 0.33, "density": 2700}
    section = {"shape": "box", "depth": 0.1, "width": 0.1, "wall": 0.01}
    link = {"name": "a", "length": 1.0, "material": material, "section": section}
    robot = supple.SerialRobot(name="one", planar=True, links=[link])
    (note,) = [text for text in supple.check(robot).notes if "young_modulus" in text]
    if meant is None:
        assert "meant" not in note
    else:
        assert note.endswith(f"may be meant as {meant}")


def test_the_worst_pose_is_the_arm_stretched_level():
    """Of two links under gravity along -y: the sag is largest with both level, either way."""
    robot = supple.load("de-luca-two-link").with_("gravity", (0, -9.81, 0))
    level = supple.check(robot, [0.0, 0.0])
    worst = supple.check(robot, worst=True)
    assert worst.sag == pytest.approx(level.sag, rel=1e-2)
    assert worst.sag <= level.sag * (1 + 1e-9)
    upright = supple.check(robot, [1.2, 0.0])
    assert upright.sag < 0.6 * worst.sag
    with pytest.raises(supple.SuppleError, match="leave theta and position out"):
        supple.check(robot, [0, 0], worst=True)


def test_without_gravity_the_worst_pose_has_the_lowest_frequency():
    robot = supple.load("industrial-3")
    worst = supple.check(robot, worst=True)
    assert worst.frequency_hz <= supple.check(robot, [0, 0.785, 0.785]).frequency_hz
    assert worst.frequency_hz <= supple.check(robot, worst=False).frequency_hz * (1 + 1e-9)


def test_an_arm_is_checked_at_its_worst_pose_unless_one_is_given() -> None:
    """A boom that stands upright at zero sags most at the end of its range, nearly level."""
    lying = boom(**{"links.arm.joint.mount.rpy": [0, -1.5707963267948966, 0]})
    area = lying.links[0].section.constants().A
    pressed = (12 * 2 + 7850 * area * 2**2 / 2) * 9.81 / (210e9 * area)  # along its axis, m
    assert supple.check(lying, worst=False).sag == pytest.approx(pressed, rel=1e-9)
    seen = supple.check(lying)
    assert seen.searched
    assert abs(seen.theta[0]) == pytest.approx(1.5)  # its limit: 4 degrees above level
    expected = supple.statics(lying, [1.5]).tip_displacement
    assert seen.sag == pytest.approx(np.linalg.norm(expected), rel=1e-9)
    assert not supple.check(lying, [1.0]).searched
    assert "at the worst pose found, " in str(seen)


@pytest.mark.parametrize("name", ["kuo-delta", "four-bar", "five-bar"])
def test_robots_with_loops_stand_at_their_usual_pose(name: str) -> None:
    robot = supple.load(name)
    usual = supple.check(robot)
    worst = supple.check(robot, worst=True)
    assert not usual.searched
    assert worst.searched
    assert usual.sag <= worst.sag  # that of the Delta is singular: a note says so
    assert bool(worst.mobility) != any("singular" in note for note in worst.notes)
