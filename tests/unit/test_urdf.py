"""URDF in: chains, sidecars, what is lumped, and twenty hostile files that get a sentence each."""

import math
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.kernels.spatial import axis_rotation, rpy_rotation

DATA = Path(__file__).parents[1] / "data"
BODY = (
    '<inertial><origin xyz="0 0 0.1"/><mass value="1"/>'
    '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 0.3" rpy="0 0 0"/><axis xyz="0 1 0"/>{inside}</joint>'
    )


def urdf(*parts: str) -> str:
    return f'<robot name="arm">{"".join(parts)}</robot>'


LINKS = link("base") + link("one") + link("two") + link("tip")
JOINTS = joint("j1", "base", "one") + joint("j2", "one", "two") + joint("j3", "two", "tip", "fixed")
PLAIN = urdf(LINKS, JOINTS)


@pytest.fixture
def write(tmp_path):
    def written(text: str, name: str = "arm.urdf") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


def quiet(*given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", supple.RobotWarning)
        return supple.load(*given, **named)


def test_a_plain_chain(write):
    robot = supple.load(write(PLAIN))
    assert [part.name for part in robot.links] == ["one", "two", "tip"]
    assert len(robot.moving) == 2
    assert robot.gravity == (0, 0, -9.81)
    pose = supple.forward(robot, [math.pi / 2, 0])
    assert pose.position == pytest.approx([0.6, 0, 0.3], abs=1e-15)


def test_bodies_joints_and_dynamics_are_read(write):
    inside = '<limit lower="-1" upper="2" effort="5" velocity="1"/>'
    inside += '<dynamics damping="0.3" friction="0.2"/>'
    text = urdf(
        LINKS,
        joint("j1", "base", "one", inside=inside),
        JOINTS.replace(joint("j1", "base", "one"), ""),
    )
    one = supple.load(write(text)).links[0]
    assert one.joint.limits == (-1, 2)
    assert (one.joint.damping, one.joint.friction) == (0.3, 0.2)
    assert one.body.mass == 1
    assert one.body.com == (0, 0, 0.1)


def test_a_link_without_inertial_is_massless_with_a_warning(write):
    with pytest.warns(supple.RobotWarning, match="massless here: two"):
        robot = supple.load(write(PLAIN.replace(link("two"), link("two", ""))))
    assert robot.links[1].body is None


def test_side_branches_are_lumped_with_a_warning_that_names_them(write):
    camera = link("camera") + joint("jc", "two", "camera")
    with pytest.warns(supple.RobotWarning, match="side branches .*: camera"):
        robot = supple.load(write(urdf(LINKS, JOINTS, camera)), {"tip": "tip"})
    body = robot.links[1].body
    assert body.mass == 2
    # Two bodies of 1 kg at 0.1 and 0.4: centre at 0.25, each 0.15 away.
    assert body.com == pytest.approx((0, 0, 0.25))
    assert body.inertia[:3] == pytest.approx((0.02 + 2 * 0.15**2, 0.02 + 2 * 0.15**2, 0.02))


def test_a_mimic_joint_in_a_branch_has_no_coordinate(write):
    finger = link("finger") + joint("jf", "two", "finger", inside='<mimic joint="j1"/>')
    robot = quiet(write(urdf(LINKS, JOINTS, finger)), {"tip": "tip"})
    assert len(robot.moving) == 2


def test_a_sliding_joint_slides_along_its_axis(write):
    slide = joint(
        "j2", "one", "two", "prismatic", '<limit lower="-0.1" upper="0.5" effort="1" velocity="1"/>'
    )
    robot = supple.load(write(urdf(LINKS, JOINTS.replace(joint("j2", "one", "two"), slide))))
    pose = supple.forward(robot, [0.0, 0.2])
    assert pose.position == pytest.approx([0, 0.2, 0.9], abs=1e-15)
    assert pose.rotation == pytest.approx(np.eye(3), abs=1e-15)


SIDECAR = {
    "materials": {"al": {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700}},
    "flexible": {
        "two": {
            "to": [0, 0, 0.3],
            "material": "al",
            "section": {"shape": "box", "depth": 0.05, "width": 0.02, "wall": 0.002},
            "y": [0, 1, 0],
            "hub": {"mass": 0.4},
            "end": {"mass": 0.9, "com": [0, 0, 0.02], "inertia": [0.001, 0.002, 0.003]},
        }
    },
    "payload": {"mass": 3.0, "com": [0, 0, 0.05]},
}


def test_a_sidecar_makes_a_link_bend(write):
    with (
        pytest.warns(supple.RobotWarning, match="all gears are rigid"),
        pytest.warns(supple.RobotWarning, match="replace 1 kg of the URDF's inertial"),
    ):
        robot = supple.load(write(PLAIN), SIDECAR)
    two = robot.links[1]
    assert two.length == 0.3
    assert not two.rigid
    # Beam x is the URDF's z, beam y its y: R = [z, y, -x].
    assert two.tip.com == pytest.approx((0.02, 0, 0))
    assert two.tip.inertia[:3] == pytest.approx((0.003, 0.002, 0.001))
    assert two.joint.hub.mass == 0.4
    assert robot.payload.mass == 3
    sag = supple.statics(robot, [math.pi / 2, 0])
    assert sag.tip_displacement[2] < 0
    rigid = quiet(write(PLAIN))
    for theta in ([0.3, -0.4], [1.0, 2.0]):
        a = supple.forward(robot, theta)
        b = supple.forward(rigid, theta)
        assert a.position == pytest.approx(b.position, abs=1e-14)
        assert a.rotation == pytest.approx(b.rotation, abs=1e-14)


@pytest.mark.parametrize("start", [[0, 0, 0.05], [0.02, 0, 0.0], [0.0, 0.1, 0.02]])
def test_a_beam_off_the_axis_turns_with_its_joint(write, start):
    sidecar = {**SIDECAR, "flexible": {"two": {**SIDECAR["flexible"]["two"], "from": start}}}
    robot = quiet(write(PLAIN), sidecar)
    rigid = quiet(write(PLAIN))
    on_axis = start[0] == start[2] == 0
    assert ("two_root" in [part.name for part in robot.links]) is not on_axis
    for theta in ([0.3, -0.4], [1.0, 2.0]):
        a = supple.forward(robot, theta)
        b = supple.forward(rigid, theta)
        assert a.position == pytest.approx(b.position, abs=1e-14)
        assert a.rotation == pytest.approx(b.rotation, abs=1e-14)


def test_a_beam_at_the_tip_ends_there_in_urdf_axes(write):
    bends = {**SIDECAR["flexible"]["two"]}
    robot = quiet(write(PLAIN), {**SIDECAR, "tip": "two", "flexible": {"two": bends}})
    pose = supple.forward(robot, [0.2, 0.3])
    assert pose.rotation == pytest.approx(axis_rotation([0, 1, 0], 0.5), abs=1e-14)


def test_a_sidecar_file_may_stand_for_both(write):
    write(PLAIN)
    text = "supple: 1\nurdf: arm.urdf\nbase: base\ntip: tip\ngravity: [0, 0, -1.62]\n"
    robot = supple.load(write(text, "arm.sidecar.yaml"))
    assert robot.gravity[2] == -1.62
    same = supple.load(write(PLAIN), sidecar=write(text, "arm.sidecar.yaml"))
    assert same == robot


def test_mounts_of_every_attitude_survive_as_roll_pitch_yaw():
    from supple.files.urdf import _mount

    rng = np.random.default_rng(3)
    each = [*rng.uniform(-3, 3, (50, 3)), [0.3, math.pi / 2, 0.2], [0, -math.pi / 2, 1.1]]
    each += [[0.3, math.pi / 2 - 1e-9, 0.2]]
    for rpy in each:
        T = np.eye(4)
        T[:3, :3] = rpy_rotation(rpy)
        assert rpy_rotation(_mount(T)["rpy"]) == pytest.approx(T[:3, :3], abs=2e-15)


BOMB = (
    '<!DOCTYPE b [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<robot name="&b;"><link name="x"/></robot>'
)
NEGATIVE = BODY.replace('<mass value="1"/>', '<mass value="-1"/>')
HOSTILE = {
    "entity bomb": (BOMB, "document type"),
    "external entity": (
        '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot name="a"/>',
        "document type",
    ),
    "loop": (
        urdf(LINKS, JOINTS, joint("j4", "base", "two")),
        "'two' hangs from two joints, 'j2' and 'j4'",
    ),
    "cyclic": (
        urdf(link("a"), link("b"), joint("x", "a", "b"), joint("y", "b", "a")),
        "round in a circle",
    ),
    "own parent": (
        urdf(LINKS, JOINTS, link("c"), joint("x", "c", "c")),
        "'c' go round in a circle",
    ),
    "two trees": (urdf(LINKS, JOINTS, link("lost")), "'base', 'lost' hang from no joint"),
    "mimic of itself": (
        urdf(
            LINKS,
            JOINTS.replace(
                joint("j2", "one", "two"), joint("j2", "one", "two", inside='<mimic joint="j2"/>')
            ),
        ),
        "'j2' mimics itself",
    ),
    "mimic without a joint": (
        urdf(
            LINKS,
            JOINTS.replace(joint("j2", "one", "two"), joint("j2", "one", "two", inside="<mimic/>")),
        ),
        "joint 'j2': <mimic> names no joint",
    ),
    "mimic of nothing": (
        urdf(
            LINKS,
            JOINTS.replace(
                joint("j2", "one", "two"), joint("j2", "one", "two", inside='<mimic joint="j11"/>')
            ),
        ),
        "'j2' mimics 'j11', which is no joint; did you mean 'j1'?",
    ),
    "no such parent": (
        urdf(LINKS, JOINTS, link("x"), joint("q", "onne", "x")),
        "its parent 'onne' is no link; did you mean 'one'",
    ),
    "negative mass": (
        urdf(link("base"), link("one", NEGATIVE), joint("j", "base", "one")),
        "mass is -1 kg",
    ),
    "inertia of no body": (
        urdf(
            link("base"),
            link("one", BODY.replace('ixx="0.01"', 'ixx="0.5"')),
            joint("j", "base", "one"),
        ),
        "belong to no body",
    ),
    "negative inertia": (
        urdf(
            link("base"),
            link("one", BODY.replace('ixx="0.01"', 'ixx="-0.01"')),
            joint("j", "base", "one"),
        ),
        "no negative principal value",
    ),
    "half an inertia": (
        urdf(link("base"), link("one", BODY.replace('iyy="0.01" ', "")), joint("j", "base", "one")),
        "<inertia> has no iyy",
    ),
    "xacro": (
        '<robot name="a" xmlns:xacro="http://x"><xacro:macro name="m"/></robot>',
        "xacro file",
    ),
    "xacro values": (PLAIN.replace('value="1"', 'value="${mass}"', 1), "xacro file"),
    "not finite": (PLAIN.replace("0 0 0.3", "0 nan 0.3", 1), "xyz of <origin> is '0 nan 0.3'"),
    "huge numbers": (PLAIN.replace("0 0 0.3", "0 0 1e300", 1), "must be 3 finite numbers"),
    "two numbers": (PLAIN.replace("0 0 0.3", "0 0.3", 1), "must be 3 finite numbers"),
    "no axis": (PLAIN.replace("0 1 0", "0 0 0", 1), "axis is 0 0 0"),
    "floating": (PLAIN.replace('type="revolute"', 'type="floating"', 1), "'j1' is floating"),
    "unknown type": (PLAIN.replace('type="revolute"', 'type="ball"', 1), "type is 'ball'"),
    "names twice": (urdf(LINKS, link("one"), JOINTS), "name 'one' of a <link> is used twice"),
    "no child": (PLAIN.replace('<child link="one"/>', ""), "'j1' has no <child link"),
    "limits turned": (
        PLAIN.replace("</joint>", '<limit lower="1" upper="-1"/></joint>', 1),
        "the lower one must be below",
    ),
    "deep": ("<robot name='a'>" + "<link name='b'>" * 100, "nested deeper"),
    "cut short": (PLAIN[:-20], "this is not XML"),
    "another language": ("<sdf version='1.6'/>", "begins with <robot>"),
    "empty robot": ("<robot name='a'/>", "no link"),
    "one link": (urdf(link("base")), "no joint lies between"),
    "huge": (PLAIN + " " * 3_000_000, "larger than"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_get_a_sentence(write, name):
    text, sentence = HOSTILE[name]
    with pytest.raises(supple.SuppleError) as refusal:
        quiet(write(text))
    assert sentence in str(refusal.value)
    assert len(str(refusal.value).splitlines()) <= 2


@pytest.mark.parametrize(
    ("sidecar", "sentence"),
    [
        ({"flexible": {"tow": {}}}, "did you mean 'two'"),
        ({"base": "nowhere"}, "base 'nowhere' is no link of the URDF"),
        ({"base": "two", "tip": "one"}, "tip 'one' does not hang from base 'two'"),
        ({"flexible": {"two": {"length": 3}}}, "it follows from `from` and `to`"),
        ({"flexible": {"two": {"to": [0, 0, 0.3]}}}, "material and section are missing"),
        ({"flexibel": {}}, "did you mean 'flexible'"),
        ({"flexible": {"tip": {"material": "al", "section": "s"}}}, "to is missing"),
    ],
)
def test_faults_of_a_sidecar_are_told(write, sidecar, sentence):
    with pytest.raises(supple.SuppleError, match=sentence):
        quiet(write(PLAIN), sidecar)


def test_hundreds_of_joints_are_checked_in_seconds(write):
    """3,000 joints took over a minute: what each free joint carries was summed link by link."""
    parts = link("l0", "")
    n = 500
    for i in range(n):
        parts += link(f"l{i + 1}") + joint(f"j{i}", f"l{i}", f"l{i + 1}")
    robot = quiet(write(urdf(parts)))
    began = time.process_time()
    seen = supple.check(robot)
    assert time.process_time() - began < 5.0  # 0.8 s; 6 s before, growing with the cube
    assert seen.mass == pytest.approx(n)
    assert seen.reach == pytest.approx(0.3 * (n - 1))


def test_a_tip_on_the_first_joint_reaches_nowhere(write):
    flat = urdf(LINKS, JOINTS).replace('xyz="0 0 0.3"', 'xyz="0 0 0"')
    assert supple.check(quiet(write(flat))).reach == 0.0  # a metre was told, a length to measure by


def test_joint_names_are_kept_and_lead_trajectories(write, tmp_path):
    """ROS sorts joints by name and knows nothing of links: both names are understood."""
    inside = '<limit lower="-3" upper="3" effort="50" velocity="5"/>'
    swapped = joint("zulu", "base", "one", inside=inside) + joint("alpha", "one", "two")
    robot = quiet(write(urdf(LINKS, swapped, joint("j3", "two", "tip", "fixed"))))
    assert [part.joint.name for part in robot.moving] == ["zulu", "alpha"]
    again = supple.loads(supple.dump(robot))
    assert [part.joint.name for part in again.moving] == ["zulu", "alpha"]
    move = supple.PointToPoint([0.0, 0.5], [1.0, -0.5], 1.0)
    t = np.linspace(0, 1, 101)
    x = move(t)[0]
    message = tmp_path / "move.json"
    supple.Samples(t, x[:, ::-1], names=("alpha", "zulu")).save(message)
    model = supple.build(robot)
    law = supple.ComputedTorque(400.0, 40.0)
    given = [move, str(message), supple.Samples(t, x, names=("one", "two"))]
    runs = [supple.simulate(model, controller=law, trajectory=one, dt=0.05) for one in given]
    for run in runs[1:]:
        assert run.theta == pytest.approx(runs[0].theta, abs=1e-5)
    with pytest.raises(supple.SuppleError, match="arm has one, two, or zulu, alpha"):
        supple.simulate(
            model, controller=law, trajectory=supple.Samples(t, x, names=("zulu", "beta"))
        )
    with pytest.raises(
        supple.SuppleError, match=r"takes joint one from 0 to 57.* write 'one \[deg"
    ):
        supple.follow(robot, supple.Samples(t, np.degrees(x)))


def with_inertia(*values: float, mass: float = 1.0) -> str:
    keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    told = " ".join(f'{key}="{value!r}"' for key, value in zip(keys, values, strict=True))
    return f'<inertial><mass value="{mass}"/><inertia {told}/></inertial>'


FLAT = with_inertia(0.001, 0.002, 0.01, 0, 0, 0)  # 0.01 > 0.001 + 0.002
# Each is a body's but for rounding: three digits, a point on a scale of 1e-20, all ones
ROUNDED = {
    "three digits": with_inertia(0.000913, 0.167, 0.1693, 0, 0, 0),
    "nearly a point": with_inertia(-1.4e-20, 3e-20, 5e-20, 0, 0, 0),
    "about one axis": with_inertia(1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6),
    "a rod askew": with_inertia(1 / 3, 1 / 3, 1 / 3, -1 / 6, -1 / 6, -1 / 6),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_rounding_in_an_inertia_is_no_fault(write, name):
    """About thirty public URDFs were refused, one of them for -2.4e-35 kg m^2."""
    robot = supple.load(write(PLAIN.replace(link("two"), link("two", ROUNDED[name]))))
    assert supple.loads(supple.dump(robot)) == robot


def test_an_inertia_of_no_body_is_a_note_off_the_chain(write):
    camera = link("camera", FLAT) + joint("jc", "two", "camera")
    with pytest.warns(supple.RobotWarning) as notes:
        robot = supple.load(write(urdf(LINKS, JOINTS, camera)), {"tip": "tip"})
    assert any("off the chain and taken: camera" in str(note.message) for note in notes)
    # Taken as it is: 0.01 about z, that of `two` 0.01 as well, both on one axis
    assert robot.links[1].body.inertia[2] == pytest.approx(0.02)


def test_an_inertia_of_no_body_on_the_chain_is_taken_when_lenient(write):
    file = write(PLAIN.replace(link("two"), link("two", FLAT)))
    with pytest.raises(supple.RobotError, match=r"'two': .*0.001, 0.002, 0.01 .*--lenient"):
        supple.load(file)
    with pytest.warns(supple.RobotWarning, match="link two: .*belong to no body.*taken as it is"):
        robot = supple.load(file, lenient=True)
    assert robot.links[1].body.inertia[:3] == (0.001, 0.002, 0.01)
    assert supple.loads(supple.dump(robot)) == robot


def test_a_negative_inertia_is_taken_with_zero_when_lenient(write):
    file = write(PLAIN.replace(link("two"), link("two", with_inertia(-0.01, 0.1, 0.1, 0, 0, 0))))
    with pytest.warns(supple.RobotWarning, match=r"-0.01 kg m\^2; taken with zero instead"):
        robot = supple.load(file, lenient=True)
    assert robot.links[1].body.inertia[:3] == pytest.approx((0, 0.1, 0.1))


def test_an_inertia_without_mass_is_taken_with_a_note(write):
    file = write(PLAIN.replace(link("two"), link("two", BODY.replace('"1"', '"0"', 1))))
    with pytest.warns(supple.RobotWarning, match="two has an inertia but no mass"):
        robot = supple.load(file)
    assert robot.links[1].body.mass == 0
    assert robot.links[1].body.inertia[0] == 0.01


def test_limits_in_the_wrong_order_count_as_none_when_lenient(write):
    file = write(PLAIN.replace("</joint>", '<limit lower="1" upper="-1"/></joint>', 1))
    with pytest.warns(supple.RobotWarning, match="limits 1, -1.*taken as none"):
        robot = supple.load(file, lenient=True)
    assert robot.links[0].joint.limits is None


def test_a_finger_is_not_the_tip(write):
    """The frame that carries it is, or the tool's; of a hand alone it is a finger."""
    hand = link("hand") + link("left_finger") + link("tcp", "")
    joints = joint("j3", "two", "hand", "fixed") + joint("jf", "hand", "left_finger", "prismatic")
    arm = link("base") + link("one") + link("two")
    moving = joint("j1", "base", "one") + joint("j2", "one", "two")
    robot = quiet(write(urdf(arm, hand, moving, joints, joint("j5", "hand", "tcp", "fixed"))))
    assert len(robot.moving) == 2
    assert robot.source.endswith("to tcp")
    alone = quiet(write(urdf(link("palm") + link("thumb") + joint("j", "palm", "thumb"))))
    assert alone.source.endswith("to thumb")


def test_a_sidecar_gives_gears_their_stiffness(write):
    drives = {"j1": {"stiffness": "20 kNm/rad", "rotor_inertia": 0.4}, "two": {"stiffness": 1e4}}
    robot = supple.load(write(PLAIN), {"joints": drives})
    assert robot.links[0].joint.stiffness == 20e3
    assert robot.links[0].joint.rotor_inertia == 0.4
    assert robot.links[1].joint.stiffness == 1e4
    # Two springs and one degree of freedom each: the same as the robot file with these joints
    named = supple.load(write(PLAIN)).with_(
        {
            "links.one.joint.stiffness": 20e3,
            "links.one.joint.rotor_inertia": 0.4,
            "links.two.joint.stiffness": 1e4,
        }
    )
    assert supple.modes(robot, [0.1, 0.2], count=2).omega == pytest.approx(
        supple.modes(named, [0.1, 0.2], count=2).omega
    )
    with pytest.raises(supple.RobotError, match=r"joints.j4 is no joint .*they are j1, j2"):
        supple.load(write(PLAIN), {"joints": {"j4": {"stiffness": 1e4}}})


TUBE = {"material": "metal", "section": {"shape": "tube", "diameter": 0.08, "wall": 0.003}}


@pytest.mark.parametrize("link", ["upper_arm_link", "forearm_link", "wrist_1_link"])
def test_what_a_beam_does_not_weigh_is_kept_as_hub_and_end(link: str) -> None:
    """As a rigid body the link is what it was in the URDF: the same equations to rounding."""
    urdf = Path(__file__).parents[1] / "data" / "six-joints.urdf"
    told = {"tip": "tool0", "materials": {"metal": supple.material("aluminium")}}
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        plain = supple.load(urdf, {"tip": "tool0"})
        kept = supple.load(urdf, {**told, "flexible": {link: {**TUBE, "rest": "keep"}}})
        lost = supple.load(urdf, {**told, "flexible": {link: TUBE}})
    said = [str(note.message) for note in notes if f"link {link}" in str(note.message)]
    assert "hub " in said[0]
    assert " less" not in said[0]
    assert "kg less (`rest: keep`" in said[1]
    stiff = [robot.with_(f"links.{link}.theory", "rigid") for robot in (kept, lost)]
    before, after, without = (supple.build(robot) for robot in (plain, *stiff))
    rng = np.random.default_rng(1)
    for q in rng.normal(size=(3, 6)):
        np.testing.assert_allclose(after.mass_matrix(q), before.mass_matrix(q), atol=1e-13)
        np.testing.assert_allclose(after.gravity(q), before.gravity(q), atol=1e-12)
        assert np.abs(without.mass_matrix(q) - before.mass_matrix(q)).max() > 1e-4


def test_rest_beside_hub_or_end_is_a_fault() -> None:
    urdf = Path(__file__).parents[1] / "data" / "six-joints.urdf"
    bends = {"forearm_link": {**TUBE, "rest": "keep", "hub": {"mass": 1.0}}}
    with pytest.raises(supple.RobotError, match="rest is keep, and hub or end is given"):
        supple.load(
            urdf,
            {"materials": {"metal": supple.material("aluminium")}, "flexible": bends},
        )
