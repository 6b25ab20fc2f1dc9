"""forward and inverse: where the tip is, which joints put it there, and the nearest otherwise."""

import math

import numpy as np
import pytest

import supple
from supple.kernels.spatial import axis_rotation, rotation_vector, vector_rotation

RNG = np.random.default_rng(14)


def arm(*joints, lengths=None):
    """A rigid arm: one link for each (axis or None for a slide, mount rpy, limits)."""
    links = []
    for i, (axis, rpy, limits) in enumerate(joints):
        joint = {"mount": {"rpy": rpy}} | ({"limits": limits} if limits else {})
        joint |= {"type": "prismatic"} if axis is None else {"axis": axis}
        length = (lengths or [0.4] * len(joints))[i]
        links.append({"name": f"link{i + 1}", "joint": joint, "length": length, "theory": "rigid"})
    return supple.SerialRobot(name="arm", links=links)


Z = [0, 0, 1]
Y = [0, 1, 0]
SIX = arm(
    (Z, [0, -math.pi / 2, 0], [-2.9, 2.9]),
    ([0, 0.6, 0.8], [0, 1.2, 0], [-2.0, 2.0]),
    (Y, [0.2, 0.1, 0], None),
    ([1, 0, 0], [0, 0.4, 0], [-3, 3]),
    (Y, [0, 0, 0.3], [-2, 2]),
    ([1, 0, 0], [0, 0.7, 0], None),
    lengths=[0.2, 0.5, 0.4, 0.1, 0.2, 0.1],
)
SEVEN = arm(*[([1, 0, 0] if i % 2 else Y, [0, 0.3, 0.2], [-2.5, 2.5]) for i in range(7)])
SLIDING = arm((Z, [0, 0, 0], None), (Y, [0, 0, 0], [-1.2, 1.2]), (None, [0, 0, 0], [0.1, 0.4]))


def test_rotation_vectors_and_back():
    v = RNG.normal(size=(500, 3))
    v *= (np.linspace(0, math.pi * (1 - 1e-12), 500) / np.linalg.norm(v, axis=1))[:, None]
    assert np.abs(rotation_vector(vector_rotation(v)) - v).max() < 1e-14
    assert np.allclose(vector_rotation([0, 0, 0.3]), axis_rotation(Z, 0.3), atol=1e-16)


def test_forward_is_the_chain_written_out():
    robot = supple.load("industrial-3")
    theta = np.radians([10, 45, -30])
    angles = np.cumsum(theta)
    lengths = [link.length for link in robot.links]
    pose = supple.forward(robot, theta)
    assert pose.position[:2] == pytest.approx([lengths @ np.cos(angles), lengths @ np.sin(angles)])
    assert pose.rotation == pytest.approx(axis_rotation(Z, angles[-1]))
    many = supple.forward(robot, np.tile(theta, (4, 1)))
    assert many.position.shape == (4, 3)
    assert many.rotation.shape == (4, 3, 3)


def test_forward_does_not_turn_with_the_section():
    robot = supple.load("industrial-3").with_({"planar": False, "links.link3.roll": 0.4})
    same = supple.load("industrial-3")
    theta = [0.1, 0.2, 0.3]
    assert np.allclose(supple.forward(robot, theta).rotation, supple.forward(same, theta).rotation)


def test_forward_with_its_sag():
    robot = supple.load("industrial-3").with_("gravity", [0, -9.81, 0])
    theta = [0.1, 0.2, 0.3]
    sag = supple.statics(robot, theta)
    rigid = supple.forward(robot, theta)
    bent = supple.forward(robot, theta, sag=True)
    assert bent.position - rigid.position == pytest.approx(sag.tip_displacement, abs=1e-15)
    turned = rotation_vector(bent.rotation @ rigid.rotation.T)
    assert turned == pytest.approx(sag.tip_rotation, abs=1e-14)


def test_forward_of_a_delta_both_ways():
    robot = supple.load("kuo-delta")
    there = supple.forward(robot, position=[0.1, -0.05, 0.6])
    back = supple.forward(robot, there.theta)
    assert back.position == pytest.approx([0.1, -0.05, 0.6], abs=1e-14)
    assert np.array_equal(back.rotation, np.eye(3))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "count", "turned"),
    [(SIX, 400, True), (SEVEN, 200, True), (SLIDING, 200, False), (SIX, 200, False)],
)
def test_reachable_random_poses_are_solved(robot, count, turned):
    low, high = (
        np.array(side)
        for side in zip(*(k.joint.limits or (-3, 3) for k in robot.moving), strict=True)
    )
    theta = RNG.uniform(low, high, (count, len(low)))
    pose = supple.forward(robot, theta)
    found = supple.inverse(robot, pose.position, pose.rotation if turned else None)
    again = supple.forward(robot, np.array([each.theta for each in found]))
    assert np.abs(again.position - pose.position).max() < 1e-9
    if turned:
        assert np.abs(again.rotation - pose.rotation).max() < 1e-9
    assert all(each.reached and each.error < 1e-9 for each in found)
    assert all(
        ((each.solutions >= low) & (each.solutions <= high)).all()
        for each in found
        if not any(k.joint.limits is None for k in robot.moving)
    )


def test_planar_arms_in_closed_form_find_both_elbows():
    robot = supple.load("industrial-3")
    for theta in RNG.uniform(-3, 3, (50, 3)):
        pose = supple.forward(robot, theta)
        found = supple.inverse(robot, pose.position, pose.rotation, start=theta)
        assert found.method == "closed form"
        assert found.theta == pytest.approx(theta, abs=1e-7)
        again = supple.forward(robot, found.solutions)
        assert len(found.solutions) == 2
        assert np.abs(again.position - pose.position).max() < 1e-12
        assert np.abs(again.rotation - pose.rotation).max() < 1e-12


def test_two_parallel_joints_anywhere_in_space():
    robot = arm(([0, 0.6, 0.8], [0.3, 0.2, 0.1], None), ([0, -0.6, -0.8], [0, 0, 0], [-2, 2]))
    for theta in RNG.uniform(-2, 2, (20, 2)):
        pose = supple.forward(robot, theta)
        found = supple.inverse(robot, pose.position)
        assert found.method == "closed form"
        assert np.abs(supple.forward(robot, found.theta).position - pose.position).max() < 1e-12


def test_positions_in_the_plane_and_angles_alone():
    robot = supple.load("industrial-3")
    found = supple.inverse(robot, [1.0, 2.0], rotation=1.2)
    pose = supple.forward(robot, found.theta)
    assert pose.position == pytest.approx([1, 2, 0], abs=1e-12)
    assert rotation_vector(pose.rotation) == pytest.approx([0, 0, 1.2], abs=1e-12)


def test_out_of_reach_is_told_with_the_nearest():
    robot = supple.load("industrial-3")
    reach = sum(link.length for link in robot.links)
    goal = np.array([3.0, 4.0, 0.0]) * 2
    found = supple.inverse(robot, goal)
    assert not found.reached
    assert len(found.solutions) == 0
    assert found.position_error == pytest.approx(10 - reach, rel=1e-9)
    assert supple.forward(robot, found.theta).position == pytest.approx(reach / 10 * goal, abs=1e-6)
    assert "out of reach" in str(found)
    assert len(found.tries) == len(found.try_errors) > 10


def test_limits_hold_and_make_the_nearest():
    robot = arm((Z, [0, 0, 0], [-0.5, 0.5]), (Z, [0, 0, 0], [0.2, 2.0]), lengths=[1.0, 1.0])
    found = supple.inverse(robot, [-1.9, 0.1, 0.0])
    # The farthest back it can go: both joints at their upper limits.
    assert found.theta == pytest.approx([0.5, 2.0], abs=1e-9)
    inside = supple.inverse(robot, supple.forward(robot, [0.3, 1.5]).position)
    assert inside.solutions == pytest.approx(np.array([[0.3, 1.5]]), abs=1e-9)


def test_delta_gives_its_eight_and_the_nearest_below():
    robot = supple.load("kuo-delta")
    found = supple.inverse(robot, [0.1, -0.05, 0.6])
    assert found.method == "closed form"
    assert len(found.solutions) == 8
    assert supple.forward(robot, found.theta).position == pytest.approx([0.1, -0.05, 0.6], abs=1e-9)
    # Straight below, the legs are stretched: z = sqrt((L1 + L2)^2 - (r_A - r_B)^2).
    lowest = math.sqrt(1.1**2 - (robot.base_radius - robot.platform.radius) ** 2)
    below = supple.inverse(robot, [0, 0, 2.0])
    assert not below.reached
    assert below.error == pytest.approx(2.0 - lowest, abs=1e-7)


def test_delta_solves_random_places():
    robot = supple.load("kuo-delta").with_("motor.limits", [-1.5, 0.5])
    places = RNG.uniform([-0.3, -0.3, 0.4], [0.3, 0.3, 0.8], (200, 3))
    found = [each for each in supple.inverse(robot, places) if each.reached]
    assert len(found) > 100
    for each in found:
        assert ((each.solutions >= -1.5) & (each.solutions <= 0.5)).all()
        assert supple.forward(robot, each.theta).position == pytest.approx(each.position, abs=1e-9)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"position": [1, 2]}, "position is .*: give 3 finite numbers"),
        ({"position": [1, 2, math.nan]}, "give 3 finite numbers"),
        ({"position": [1, 2, 0], "rotation": np.ones((3, 3))}, "rotation is not one"),
        ({"position": [1, 2, 0], "start": [1, 2]}, "start is .*: give 6 finite numbers"),
    ],
)
def test_bad_questions_are_told(given, sentence):
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.inverse(SIX, **given)


def test_a_delta_does_not_turn():
    with pytest.raises(supple.SuppleError, match="does not turn"):
        supple.inverse(supple.load("kuo-delta"), [0, 0, 0.6], rotation=[0, 0, 0])
