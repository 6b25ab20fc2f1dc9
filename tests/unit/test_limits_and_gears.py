"""Gears, efforts and speeds: what follows from the file, and what a run tells of its limits."""

from __future__ import annotations

import numpy as np
import pytest

import supple

LINK = "{name: arm, theory: rigid, length: 1, mass_per_length: 3, joint: "
HEAD = f"name: a\nplanar: true\nlinks:\n  - {LINK}"


def robot(joint: str) -> supple.Robot:
    return supple.loads(HEAD + joint + "}\n")


def test_a_gear_reflects_its_motor() -> None:
    """rotor_inertia = ratio^2 motor_inertia, in the equations and in free modes alike."""
    geared = robot("{stiffness: 1e3, gear: {ratio: 50, motor_inertia: 2e-4, efficiency: 0.8}}")
    plain = robot("{stiffness: 1e3, rotor_inertia: 0.5}")
    assert geared.links[0].joint.reflected_inertia == pytest.approx(0.5, rel=1e-15)
    M = [supple.build(each).mass_matrix([0.0, 0.0]) for each in (geared, plain)]
    np.testing.assert_allclose(*M, rtol=1e-15)
    free = [supple.modes(each, joints="free").omega for each in (geared, plain)]
    np.testing.assert_allclose(*free, rtol=1e-14)
    J = 3 / 3  # of the rod, about its end
    np.testing.assert_allclose(free[0], np.sqrt(1e3 * (1 / J + 1 / 0.5)), rtol=1e-11)
    assert supple.loads(supple.dump(geared)) == geared


def test_the_motor_gives_more_than_arrives_and_gets_less_than_is_sent_back() -> None:
    """4 N m and then -4 N m on J = 1.5 through a gear of 50 that loses a fifth either way."""
    made = supple.build(robot("{gear: {ratio: 50, motor_inertia: 2e-4, efficiency: 0.8}}"))
    run = supple.simulate(made, tau=lambda t, *_: [4.0 if t < 0.5 else -4.0], duration=0.9)
    driving = run.t < 0.5
    np.testing.assert_allclose(run.motor_effort[driving, 0], 4 / (50 * 0.8), rtol=1e-14)
    np.testing.assert_allclose(run.motor_effort[~driving, 0], -4 * 0.8 / 50, rtol=1e-14)
    np.testing.assert_array_equal(run.tau[driving, 0], 4.0)  # the motion is the joint side's


def test_a_run_tells_which_limit_is_passed_when_and_by_how_much() -> None:
    """theta'' = tau / J with J = 1: 4 N m of 3 from the start, 2 rad/s are passed at 0.5 s."""
    made = supple.build(robot("{effort_limit: 3, speed_limit: 2 rad/s}"))
    with pytest.warns(supple.SimulationWarning) as told:
        run = supple.simulate(made, tau=[4.0], duration=1.0)
    words = [str(w.message) for w in told]
    assert len(words) == 2
    assert (
        "the effort of joint arm reaches 4, its effort_limit is 3 N m: passed from t = 0 s"
        in words[0]
    )
    assert "by up to 1 N m (33.3%)" in words[0]
    told = "the speed of joint arm reaches 4, its speed_limit is 2 rad/s: passed from t = 0.501 s"
    assert told in words[1]
    assert run.qd[-1, 0] == pytest.approx(4.0)
    supple.simulate(made, tau=[3.0], duration=0.6)  # on its limits: no word


@pytest.mark.parametrize(
    ("joint", "sentence"),
    [
        (
            "{gear: {ratio: 3, motor_inertia: 1}, rotor_inertia: 2}",
            "gear and rotor_inertia are both",
        ),
        ("{gear: {motor_inertia: 1}}", "ratio is missing"),
        (
            "{gear: {ratio: 3, motor_inertia: 1, efficiency: 1.2}}",
            "efficiency is 1.2: it must be at",
        ),
        ("{effort_limit: 0}", "effort_limit is 0: it must be greater than 0"),
        ("{speed_limit: 3 m}", "speed_limit.*'3 m' is given: it must be in rad/s"),
        ("{type: fixed, effort_limit: 3}", "effort_limit is for joints with a motor"),
        ("{bearing: {translation: [1, 2]}}", "translation has 2 values: it must have 3"),
        ("{bearing: {rotation: [1, -2, 3]}}", "rotation holds -2: it must be greater than 0"),
        ("{bearing: {matrix: [[1, 2], [3, 4]]}}", "matrix has 2 rows: it must have 6"),
        ("{bearing: {matrix: 4, rotation: [1, 1, 1]}}", "matrix has no list"),
        ("{bearing: {spring: 3}}", "unknown key 'spring'"),
    ],
)
def test_a_wrong_value_is_told_by_its_key(joint: str, sentence: str) -> None:
    with pytest.raises(supple.RobotError, match=sentence):
        robot(joint)


def test_a_matrix_must_hold_every_motion() -> None:
    K = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert supple.Bearing(matrix=K).soft(True)[1].tolist() == np.diag([1.0, 2.0, 6.0]).tolist()
    for change, sentence in (((4, 4), "not positive definite"), ((0, 1), "not symmetric")):
        bad = K.copy()
        bad[change] = -1.0
        with pytest.raises(supple.RobotError, match=sentence):
            supple.Bearing(matrix=bad)
    with pytest.raises(supple.RobotError, match="matrix and rotation are both given"):
        supple.Bearing(matrix=K, rotation=[1, 1, 1])
    with pytest.raises(supple.RobotError, match="'foundation' is kept"):
        supple.loads("name: a\nlinks: [{name: foundation, theory: rigid, length: 1}]")


def test_check_tells_the_motors_share_and_a_limit_that_is_passed() -> None:
    """A bar of 2 kg/m and 1 m held level: 2 * 9.81 / 2 N m at the joint, by hand."""
    robot = supple.loads(
        "supple: 1\nname: bar\narchitecture: serial\nplanar: true\ngravity: [0, -9.81, 0]\n"
        "links:\n  - {name: one, length: 1, mass_per_length: 2, bending_stiffness: 5e4,\n"
        "     joint: {type: revolute, effort_limit: 9,\n"
        "             gear: {ratio: 50, motor_inertia: 1e-4, efficiency: 0.8}}}\n"
    )
    told = " ".join(supple.check(robot).notes)
    assert "one needs 9.81 N m to hold the robot here, its effort_limit is 9" in told
    assert f"gives {9.81 / (50 * 0.8):.4g} N m" in told
