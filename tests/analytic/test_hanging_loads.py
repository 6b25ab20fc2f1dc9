"""Loads that hang: where they start, and the pendulum modes that weight gives them."""

import numpy as np
import pytest

import supple

g = 9.81
STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}


def pendulum(links: list[dict[str, object]], **more: object) -> supple.Robot:
    """Return a planar mechanism whose gravity is along -y."""
    return supple.MechanismRobot.model_validate(
        {"name": "pendulum", "planar": True, "gravity": [0, -g, 0], "links": links, **more}
    )


def body(mass: float, at: float, inertia: float = 0.0) -> dict[str, object]:
    """Return a body on a link's x axis."""
    return {"mass": mass, "com": [at, 0, 0], "inertia": inertia}


def rod(name: str, mass: float, at: float, inertia: float, length: float) -> dict[str, object]:
    """Return a rigid link on a passive joint that hangs."""
    return {
        "name": name,
        "joint": {"type": "revolute", "passive": True, "hangs": True},
        "theory": "rigid",
        "length": length,
        "body": body(mass, at, inertia),
    }


def crane(theory: str = "timoshenko", **load_joint: object) -> supple.Robot:
    """Return a slewing column, a boom that bends, and a load on a universal joint."""
    section = {"shape": "box", "depth": 0.3, "width": 0.2, "wall": 0.008}
    return supple.MechanismRobot.model_validate(
        {
            "name": "crane",
            "gravity": [0, 0, -g],
            "links": [
                {"name": "column", "length": 0.5, "theory": "rigid", "body": body(10, 0.0)},
                {
                    "name": "boom",
                    "joint": {"type": "revolute", "axis": [0, -1, 0]},
                    "length": 8.0,
                    "material": STEEL,
                    "section": section,
                    "theory": theory,
                },
                {
                    "name": "load",
                    "joint": {"type": "universal", **load_joint},
                    "length": 3.0,
                    "theory": "rigid",
                    "body": body(800, 3.0),
                },
            ],
        }
    )


def test_mathematical_and_compound_pendulum() -> None:
    robot = pendulum([rod("bob", 2.0, 1.5, 0.0, 1.5)])
    found = supple.modes(robot, [], count=1, gravity=True)
    assert found.omega == pytest.approx([np.sqrt(g / 1.5)], rel=1e-12)
    assert found.kind == ["swing 100 %, most in bob"]
    assert found.gravity
    assert not found.certified
    robot = pendulum([rod("bar", 2.0, 0.7, 0.3, 1.4)])
    expected = np.sqrt(2.0 * g * 0.7 / (0.3 + 2.0 * 0.7**2))
    assert supple.modes(robot, [], count=1, gravity=True).omega == pytest.approx([expected])


def test_double_pendulum() -> None:
    m1 = 2.0
    m2 = 3.0
    l1 = 0.8
    l2 = 1.1
    robot = pendulum([rod("one", m1, l1, 0.0, l1), rod("two", m2, l2, 0.0, l2)])
    # M x'' + K x = 0 in absolute angles, both masses at the ends of massless rods
    M = np.array([[(m1 + m2) * l1**2, m2 * l1 * l2], [m2 * l1 * l2, m2 * l2**2]])
    K = np.diag([(m1 + m2) * g * l1, m2 * g * l2])
    expected = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K))))
    assert supple.modes(robot, [], count=2, gravity=True).omega == pytest.approx(expected)


def test_rigid_arm_swings_its_load_about_two_axes() -> None:
    robot = crane("rigid", hangs=True)
    found = supple.modes(robot, [0.3, 0.5], count=2, gravity=True)
    assert found.omega == pytest.approx(np.sqrt(g / 3.0) * np.ones(2), rel=1e-9)
    assert found.rigid_modes == 0


def test_hanging_joints_stand_below_at_every_pose() -> None:
    robot = crane(hangs=True)
    thetas = np.random.default_rng(3).uniform(-1.2, 1.2, (20, 2))
    model = supple.build(robot, supple.AssumedModes(1))
    for theta in thetas:
        boom = crane("rigid").with_("tip", "boom")
        expected = supple.forward(boom, theta).position - [0, 0, 3.0]
        assert supple.forward(robot, theta).position == pytest.approx(expected, abs=1e-9)
        run = supple.simulate(model, theta0=theta, tau=[0.0, 0.0], duration=1e-3)
        assert run.tip[0] == pytest.approx(expected, abs=1e-9)


def test_two_joints_hang_one_below_the_other_and_leave_their_head() -> None:
    links = [rod("one", 2.0, 0.4, 0.0, 0.8), rod("two", 3.0, 1.1, 0.0, 1.1)]
    links[0]["joint"] |= {"start": "90deg"}  # type: ignore[operator]
    robot = pendulum(links)
    assert supple.forward(robot, []).position == pytest.approx([0, -1.9, 0], abs=1e-9)


def test_load_below_a_flexible_boom_equals_the_linearised_model() -> None:
    robot = crane()
    found = supple.modes(robot, [0.0, 0.5], count=4, gravity=True)
    model = supple.build(robot, supple.AssumedModes(4, axial=1), stiffening=True)
    rest = supple.linearize(model, [0.0, 0.5])
    k = model.joints
    n = model.size
    held = np.setdiff1d(np.arange(n), np.arange(k))
    # Motors held: rows and columns of the other coordinates of q'' = A q, from M and K at rest
    q = np.asarray(rest.q)
    M = model.mass_matrix(q)[np.ix_(held, held)]
    K = -(model.mass_matrix(q) @ rest.A[n:, :n])[np.ix_(held, held)]
    omega = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))[:4]
    assert found.omega == pytest.approx(omega, rel=1e-4)
    # The load is a mass in the boom's vertical motion: 1.48 Hz, and not 3.7 as when it stood out
    hung = supple.modes(crane(hangs=True), [0.0, 0.5], count=1).frequency_hz[0]
    assert found.frequency_hz[2] == pytest.approx(hung, rel=0.02)


@pytest.mark.parametrize(("part", "stands"), [(0.999, True), (1.001, False)])
def test_column_buckles_under_its_own_weight(part: float, stands: bool) -> None:
    EI = 20.0
    L = 3.0
    weight = 7.837347 * EI / L**3 * part  # N/m, Greenhill's column
    link = {
        "name": "column",
        "joint": {"type": "revolute"},
        "length": L,
        "mass_per_length": weight / g,
        "bending_stiffness": EI,
    }
    robot = pendulum([link])
    up = [np.pi / 2]
    if stands:
        free = supple.modes(robot, up, count=1).omega[0]
        assert supple.modes(robot, up, count=1, gravity=True).omega[0] < 0.05 * free
    else:
        with pytest.raises(supple.SuppleError, match="unstable at rest under its weight"):
            supple.modes(robot, up, count=1, gravity=True)


def test_batches_and_answers_of_one_pose_agree() -> None:
    robot = crane()
    poses = np.array([[0.0, 0.5], [0.2, -0.3], [0.0, 1.0]])
    many = supple.modes(robot, poses, count=3, gravity=True)
    for row, pose in enumerate(poses):
        one = supple.modes(robot, pose, count=3, gravity=True)
        assert many.omega[row] == pytest.approx(one.omega, rel=1e-12)
        assert many.at(row).kind == one.kind


def test_shapes_move_what_swings_and_stand_at_the_rest() -> None:
    found = supple.modes(crane(), [0.0, 0.5], count=3, gravity=True)
    shapes = found.shape(5)
    load = shapes.names.index("load")
    # The load hangs straight down from the boom that sags
    along = shapes.position[load, -1] - shapes.position[load, 0]
    assert along == pytest.approx([0, 0, -3.0], abs=1e-6)
    ends = np.linalg.norm(shapes.global_displacement[:, :, -1], axis=-1)
    assert (ends[:2].argmax(axis=1) == load).all()
    # Swings: mass one, and nearly all of the motion is the load's
    assert ends[0, load] == pytest.approx(1 / np.sqrt(800), rel=0.02)
    assert [kind.split()[0] for kind in found.kind] == ["swing", "swing", "bending"]


def test_modes_at_zero_name_the_option() -> None:
    found = supple.modes(crane(), [0.0, 0.5], count=1)
    assert found.rigid_modes == 2
    assert "gravity=True lists what hangs and swings" in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        ({"type": "revolute", "hangs": True}, "hangs is for joints without a motor"),
        ({"type": "prismatic", "passive": True, "hangs": True}, "passive revolute, universal"),
        (
            {"type": "revolute", "passive": True, "hangs": True, "stiffness": 3.0},
            "hangs is for joints without a spring",
        ),
    ],
)
def test_joints_that_cannot_hang(joint: dict[str, object], words: str) -> None:
    link = {"name": "a", "joint": joint, "length": 1.0, "theory": "rigid", "body": body(1, 0.5)}
    with pytest.raises(ValueError, match=words):
        pendulum([link])


def test_a_joint_in_a_loop_does_not_hang() -> None:
    robot = supple.load("four-bar")
    with pytest.raises(ValueError, match="hangs is for joints that no closure holds"):
        robot.with_("links.coupler.joint.hangs", True)


def test_gravity_is_asked_of_robots_that_have_it_with_motors_held() -> None:
    with pytest.raises(supple.SuppleError, match="has no gravity: give the robot one"):
        supple.modes(crane().with_("gravity", [0, 0, 0]), [0, 0.5], gravity=True)
    with pytest.raises(supple.SuppleError, match="motors hold their joints"):
        supple.modes(crane(), [0, 0.5], joints="free", gravity=True)


def test_check_names_a_load_that_would_swing_away() -> None:
    sentence = "links.load.joint: it is passive, no loop holds it, and its load does not hang"
    assert any(note.startswith(sentence) for note in supple.check(crane(), [0, 0.5]).notes)
    notes = supple.check(crane(hangs=True), [0, 0.5]).notes
    assert not any("hang" in note for note in notes)
