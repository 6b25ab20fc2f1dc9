"""Mobility against textbook counts, and forces of closures against Newton's law of one link."""

import numpy as np
import pytest

import supple


@pytest.mark.parametrize(
    ("name", "links", "joints", "freedoms", "space"),
    [
        ("four-bar", 4, 4, 4, 3),  # four pins in the plane
        ("five-bar", 5, 5, 5, 3),
        ("hexapod", 14, 18, 6 * (1 + 2 + 3), 6),  # slide, universal joint and ball of every leg
        ("kuo-delta", 8, 9, 3 * (1 + 2 + 2), 6),  # motor and two universal joints of every leg
        ("industrial-3", 4, 3, 3, 3),
    ],
)
def test_kutzbach_by_hand(name, links, joints, freedoms, space):
    """space (n - 1 - j) + sum f, n links with the ground."""
    found = supple.mobility(supple.load(name))
    assert found.kutzbach == space * (links - 1 - joints) + freedoms
    assert found.freedom == found.kutzbach == found.motors
    assert found.with_motors_held == 0


def test_a_planar_loop_in_space_moves_although_the_count_says_not():
    """The textbook example: 6 (4 - 1 - 4) + 4 = -2, and it turns all the same."""
    found = supple.mobility(supple.load("four-bar").with_("planar", False))
    assert (found.kutzbach, found.freedom) == (-2, 1)
    assert sum(found.repeated.values()) == 3
    assert found.sentence == "1 (Kutzbach's count: -2); 3 closure rows repeat others"


def test_one_pose_only():
    with pytest.raises(supple.SuppleError, match="one pose"):
        supple.mobility(supple.load("five-bar"), [[1.0, 2.0], [1.1, 2.0]])


def test_closure_force_keeps_newtons_law_of_one_link():
    """Reaction at its joint, closure force and weight make m a of a rigid rod, at every sample."""
    robot = supple.load("five-bar").with_(
        {f"links.{name}.theory": "rigid" for name in ("left", "left2", "right", "right2")}
    )
    model = supple.build(robot)
    outputs = {
        "pin": supple.ClosureForce("tool"),
        "joint": supple.Reaction("right2"),
        "middle": supple.Place("right2", 0.5, rate=2),
    }
    run = supple.simulate(model, tau=[0.6, -0.4], duration=0.1, outputs=outputs)
    right2 = robot.links[3]
    section = robot.section(right2)
    material = robot.material(right2)
    mass = material.density * section.constants()[0] * right2.length
    turn = run.theta[:, 1]  # of link right, on whose end the joint is mounted
    force = run.outputs["joint"]
    x = np.cos(turn) * force[:, 0] - np.sin(turn) * force[:, 1]
    y = np.sin(turn) * force[:, 0] + np.cos(turn) * force[:, 1]
    total = np.stack([x, y], axis=1) + run.outputs["pin"][:, :2]
    total += mass * np.array(robot.gravity)[:2]
    right = mass * run.outputs["middle"][:, :2]
    assert np.abs(right).max() > 0.01
    assert np.abs(total - right).max() < 1e-9 * np.abs(force).max()
    assert np.abs(run.outputs["pin"][:, 3:]).max() < 1e-12  # a pin carries no moment


def test_closure_force_of_a_delta_in_three_legs():
    """At rest on the axis the three wrists carry the platform's weight in equal parts."""
    robot = supple.load("kuo-delta")
    rigid = robot.with_({"upper.theory": "rigid", "lower.theory": "rigid"})
    model = supple.build(rigid)
    theta = supple.inverse(robot, [0, 0, 0.5]).theta
    outputs = {f"{k}": supple.ClosureForce(f"wrist-lower{k}") for k in (1, 2, 3)}
    hold = supple.Decoupling()
    run = supple.simulate(
        model, theta0=theta, controller=hold, trajectory=theta, duration=0.01, outputs=outputs
    )
    down = [run.outputs[key][0, 2] for key in outputs]
    assert np.ptp(down) < 1e-9
    platform = robot.platform.body.mass
    assert abs(sum(down)) == pytest.approx(platform * 9.81, rel=1e-9)


def test_what_has_no_closure_is_told():
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match="has no closures"):
        supple.simulate(model, duration=0.01, outputs={"x": supple.ClosureForce("tool")})
    bar = supple.build(supple.load("five-bar"), supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match="the closures of five-bar are tool"):
        supple.simulate(bar, duration=0.01, outputs={"x": supple.ClosureForce("tol")})
