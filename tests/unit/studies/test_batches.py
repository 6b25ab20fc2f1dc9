"""One bad pose of a batch is a row of NaN with its reason; its neighbours never notice."""

from __future__ import annotations

import math

import numpy as np
import pytest

import supple

FLAT = [0.0, 0.0, 0.5 * math.sqrt(1 - 0.9**2)]  # rods of 0.5 m lie in one plane there
GOOD = [0.05, 0.02, 0.4]
FAR = [0.0, 0.0, 5.0]


def delta():
    return supple.load("kuo-delta").with_("lower.length", 0.5)


def same_rows(many, alone, rows, keys):
    for key in keys:
        for b, one in zip(rows, alone, strict=True):
            assert np.array_equal(getattr(many, key)[b], getattr(one, key)), (key, b)


@pytest.mark.parametrize("ask", [supple.modes, supple.statics, supple.forward])
def test_a_singular_delta_pose_is_a_row_of_nan_and_raises_alone(ask):
    poses = [FLAT, GOOD, FAR, [math.nan, 0, 0.4], [0, 0, 0.4]]
    many = ask(delta(), position=poses)
    assert many.valid.tolist() == [False, True, False, False, True]
    words = ("one plane", "", "out of reach", "not finite", "")
    assert all(word in reason for word, reason in zip(words, many.reason, strict=True))
    assert [not reason for reason in many.reason] == many.valid.tolist()
    keys = {supple.modes: "omega", supple.statics: "tip_displacement", supple.forward: "position"}
    key = keys[ask]
    assert np.isnan(getattr(many, key)[~many.valid]).all()
    same_rows(many, [ask(delta(), position=poses[b]) for b in (1, 4)], (1, 4), [key])
    for pose in (FLAT, FAR):
        with pytest.raises(supple.SuppleError):
            ask(delta(), position=pose)


def test_rigid_modes_are_counted_pose_by_pose_and_at_gives_each_pose():
    many = supple.modes(delta(), position=[FLAT, GOOD, [0, 0, 0.4]], count=4, joints="free")
    assert many.rigid_modes.tolist() == [0, 3, 3]
    assert many.certified
    one = many.at(-1)
    assert one.rigid_modes == 3
    assert np.array_equal(one.omega, many.omega[2])
    assert np.allclose(one.structure.p[0, -1], [0, 0, 0.4])
    with pytest.raises(supple.SuppleError, match="one plane"):
        many.at(0)


def test_a_batch_without_a_good_pose_is_all_nan():
    many = supple.modes(delta(), position=[FAR, FAR], count=3)
    assert not many.valid.any()
    assert many.omega.shape == (2, 3)
    assert not many.certified
    assert np.isnan(supple.statics(delta(), position=[FAR]).compliance).all()


def test_serial_poses_are_judged_one_by_one():
    robot = supple.load("theodore-rrp")
    many = supple.modes(robot, [[0, 0, 0.5], [0, 0, -1.0], [0, math.inf, 0.5]], count=3)
    assert many.valid.tolist() == [True, False, False]
    assert "free length" in many.reason[1]
    assert "not finite" in many.reason[2]
    same_rows(many, [supple.modes(robot, [0, 0, 0.5], count=3)], (0,), ["omega", "width"])
    assert not supple.modes(robot, [[0, 0, -0.5], [0, 0, 5.0]], count=3).valid.any()


@pytest.mark.parametrize("sag", [False, True])
def test_the_place_of_the_tip_keeps_its_row(sag):
    """Rows without an answer were left out, so that later ones stood at other poses' places."""
    robot = supple.load("theodore-rrp")
    good = [0.3, 0.2, 0.5]
    many = supple.forward(robot, [[0, 0, -1.0], good, [0, math.nan, 0.5]], sag=sag)
    alone = supple.forward(robot, good, sag=sag)
    assert many.position.shape == (3, 3)
    assert many.valid.tolist() == [False, True, False]
    assert "free length" in many.reason[0]
    same_rows(many, [alone], (1,), ["position", "rotation", "theta"])
    assert np.isnan(many.rotation[~many.valid]).all()
    assert alone.valid
    none = supple.forward(robot, [[0, 0, -1.0]], sag=sag)
    assert np.isnan(none.position).all()


def test_one_place_out_of_reach_does_not_refuse_its_neighbours():
    """A mechanism's inverse raised for the whole batch; so did one place that is not finite."""
    robot = supple.load("five-bar")
    near = [[0.1, 0.5], [0.12, 0.5]]
    many = supple.inverse(robot, position=[near[0], [9.0, 9.0], [math.nan, 0.5], near[1]])
    assert [one.reached for one in many] == [True, False, False, True]
    assert "is not reached by five-bar" in many[1].reason
    assert "finite" in many[2].reason
    assert np.isnan(many[1].theta).all()
    assert many[1].theta.shape == (2,)
    same_rows_of = [supple.inverse(robot, position=each).theta for each in near]
    assert np.array_equal([many[0].theta, many[3].theta], same_rows_of)
    with pytest.raises(supple.SuppleError, match="is not reached by five-bar"):
        supple.inverse(robot, position=[9.0, 9.0])
    with pytest.raises(supple.SuppleError, match="start"):
        supple.inverse(robot, position=near, start=[0.0])


def test_an_arm_without_joints_has_no_inverse():
    bar = {"name": "bar", "joint": {"type": "fixed"}, "length": 1.0, "theory": "rigid"}
    robot = supple.SerialRobot(name="post", links=[{**bar, "mass_per_length": 1.0}])
    with pytest.raises(supple.SuppleError, match="post has no joint that moves"):
        supple.inverse(robot, position=[1, 0, 0])


@pytest.mark.parametrize("inward", [(0,), (0, 1), (0, 1, 2)])
def test_motor_angles_with_elbows_in_are_answered_for_elbows_in(inward):
    """The platform stands where the angles put it, on the legs that the angles give.

    Origin: the same Delta as a placement of its own, leg by leg, from all eight ways of its
    inverse kinematics.
    """
    from supple.architectures import delta as kinematics

    robot = supple.load("kuo-delta")
    ways = kinematics.inverse(robot, [[0.05, 0.02, 0.6]], "all")[0]
    way = next(
        k for k in range(8) if [int(x) for x in f"{k:03b}"] == [i in inward for i in range(3)]
    )
    theta = ways[way, :, 0]
    position = kinematics.direct(robot, theta)[0]
    found = supple.modes(robot, theta, count=3)
    assert np.allclose(found.theta, theta)
    assert np.allclose(found.position, position)
    hips = kinematics.place(robot, [*position, *theta])
    L1 = robot.upper.length
    for leg in range(3):
        out = hips.R_leg[leg, :, 0] * math.cos(theta[leg]) - hips.R_leg[leg, :, 2] * math.sin(
            theta[leg]
        )
        elbow = robot.base_radius * hips.R_leg[leg, :, 0] + L1 * out
        assert np.allclose(found.structure.p[0, 2 * leg + 1], elbow, atol=1e-12)
    usual = supple.modes(robot, position=position, count=3)
    assert not np.allclose(found.omega, usual.omega, rtol=1e-4)
    sag = supple.statics(robot, theta)
    assert not np.allclose(
        sag.tip_displacement, supple.statics(robot, position=position).tip_displacement, rtol=1e-4
    )


def test_motor_angles_with_elbows_out_are_the_position():
    robot = supple.load("kuo-delta")
    usual = supple.modes(robot, position=[0.05, 0.02, 0.6], count=5)
    again = supple.modes(robot, usual.theta, count=5)
    assert np.allclose(again.omega, usual.omega, rtol=1e-9)


@pytest.mark.parametrize("ask", [supple.modes, supple.statics, supple.forward])
def test_a_pose_of_a_mechanism_that_is_no_number(ask):
    """It was an error of the linear algebra behind, for the whole batch."""
    robot = supple.load("five-bar")
    many = ask(robot, [[2.0, 1.0], [math.nan, 1.0], [2.0, math.inf]])
    assert many.valid.tolist() == [True, False, False]
    assert all("not finite" in reason for reason in many.reason[1:])
    placed = supple.modes(robot, position=[[0.1, 0.35], [3.0, 3.0]], count=1)
    assert np.isnan(placed.theta[1]).all()  # was where the search had given up


def test_a_driven_rod_has_a_length():
    """Of length zero it has no direction: it was answered."""
    boom = {"name": "boom", "joint": {"passive": True, "start": 0.5}, "length": 2.0}
    rod = {"name": "lift", "type": "distance", "motor": True, "length": 1.0}
    rod["ends"] = [{"link": "base", "mount": {"xyz": [0, -1, 0]}}, {"link": "boom", "at": 1.0}]
    boom |= {"mass_per_length": 1.0, "bending_stiffness": 100.0}
    whole = {"name": "crane", "planar": True, "links": [boom], "closures": [rod]}
    found = supple.modes(supple.MechanismRobot.model_validate(whole), [[1.2], [0.0], [-1.2]])
    assert found.valid.tolist() == [True, False, False]
    assert found.reason[1] == "the length of lift is 0 m: it must be above 0; try another theta"
