"""Straight lines of the tip: on the line, at the speed, rates that are derivatives."""

from itertools import pairwise

import numpy as np
import pytest

import supple

START = np.radians([20.0, 50.0, 40.0])


def planar():
    return supple.load("industrial-3")


def six():
    """Six joints about different axes, none of their axes meeting."""
    axes = ([0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0])
    links = [
        {"name": f"l{i}", "length": 0.2 + 0.05 * i, "theory": "rigid", "joint": {"axis": axis}}
        for i, axis in enumerate(axes)
    ]
    return supple.SerialRobot(name="six", links=links)


def mimic():
    """A planar arm of two coordinates whose third joint follows the second."""
    follows = {"joint": "b", "multiplier": -0.5, "offset": 0.2}
    joints = ({}, {}, {"mimic": follows})
    links = [
        {"name": name, "length": length, "theory": "rigid", "joint": joint}
        for name, length, joint in zip("abc", (0.5, 0.4, 0.3), joints, strict=True)
    ]
    return supple.SerialRobot(name="mimic", planar=True, links=links)


CASES = {
    "planar": (planar(), START, [[-0.4, -0.5, 0], [0.3, -0.4, 0]]),
    "six": (six(), np.array([0.3, 0.5, 0.7, 0.4, 0.8, 0.2]), [[-0.1, 0.1, 0.05], [0.1, 0, 0.1]]),
}


def course(name):
    robot, start, steps = CASES[name]
    at = supple.forward(robot, start).position
    points = at + np.cumsum(steps, axis=0)
    return robot, at, points, supple.Line(robot, start, points, speed=0.4, acceleration=1.5)


@pytest.mark.parametrize("name", CASES)
def test_the_tip_is_on_the_lines_and_keeps_its_attitude(name):
    robot, at, points, line = course(name)
    t = np.linspace(0, line.duration, 201)
    theta, _, _ = line(t)
    poses = supple.forward(robot, theta)
    assert poses.position[0] == pytest.approx(at, abs=1e-9)
    assert poses.position[-1] == pytest.approx(points[-1], abs=1e-9)
    assert poses.position == pytest.approx(line.tip(t)[0], abs=1e-9)
    assert poses.rotation == pytest.approx(
        np.broadcast_to(poses.rotation[0], poses.rotation.shape), abs=1e-8
    )
    corners = np.vstack([at, points])
    along = np.diff(corners, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    off = [
        np.linalg.norm((p := poses.position - c) - np.outer(p @ d, d), axis=1)
        for c, d in zip(corners, along, strict=False)
    ]
    turn = np.linalg.norm(np.diff(along, axis=0)[0])
    passes = 1.5 * (0.4 * turn / 1.5) ** 2 / 8  # a tau^2 / 8
    assert np.min(off, axis=0).max() <= passes * (1 + 1e-9)
    nearest = np.linalg.norm(line.tip(np.linspace(0, line.duration, 20001))[0] - points[0], axis=1)
    assert nearest.min() == pytest.approx(passes, rel=1e-3)


@pytest.mark.parametrize("name", CASES)
def test_rates_are_derivatives_and_limits_hold(name):
    _, _, _, line = course(name)
    h = 1e-5
    breaks = np.array([0.0, *line.breaks, line.duration])
    t = np.concatenate([np.linspace(a, b, 7)[1:-1] for a, b in pairwise(breaks)])
    _, v, a = line(t)
    before = line(t - h)
    after = line(t + h)
    assert (after[0] - before[0]) / (2 * h) == pytest.approx(v, abs=1e-7)
    assert (after[1] - before[1]) / (2 * h) == pytest.approx(a, abs=1e-6)
    speed, pull = (np.linalg.norm(row, axis=1) for row in line.tip(t)[1:])
    assert speed.max() == pytest.approx(0.4, rel=1e-12)
    assert pull.max() == pytest.approx(1.5, rel=1e-12)
    assert line(0.0)[1] == pytest.approx(0.0, abs=1e-12)
    assert line(line.duration)[1] == pytest.approx(0.0, abs=1e-9)


def test_short_lines_are_slower():
    robot, start, _ = CASES["planar"]
    at = supple.forward(robot, start).position
    line = supple.Line(robot, start, at - np.array([0, 0.01, 0]), speed=5.0, acceleration=1.0)
    peak = np.linalg.norm(line.tip(np.linspace(0, line.duration, 1001))[1], axis=1).max()
    assert peak == pytest.approx(
        0.1, rel=1e-6
    )  # sqrt(a L): half the way to speed up, half to brake


def test_what_cannot_be_followed_is_told():
    robot, start, _ = CASES["planar"]
    with pytest.raises(supple.SuppleError, match="leaves what industrial-3 can reach"):
        supple.Line(robot, start, [9.0, 0.0], speed=1.0, acceleration=1.0)
    with pytest.raises(supple.SuppleError, match="points must be"):
        supple.Line(robot, start, [[1.0]], speed=1.0, acceleration=1.0)
    with pytest.raises(supple.SuppleError, match="lines are for serial arms"):
        supple.Line(supple.load("kuo-delta"), start, [0, 0, 0.5], speed=1.0, acceleration=1.0)
    links = [{"name": f"l{i}", "length": 1, "theory": "rigid"} for i in range(4)]
    four = supple.SerialRobot(name="four", planar=True, links=links)
    with pytest.raises(supple.SuppleError, match="has 4 joints"):
        supple.Line(four, [0.1, 0.2, 0.3, 0.4], [1, 1], speed=1.0, acceleration=1.0)


@pytest.mark.slow
def test_a_model_follows_a_line():
    robot, start, _ = CASES["planar"]
    at = supple.forward(robot, start).position
    line = supple.Line(robot, start, at - np.array([0.3, 0.2, 0]), speed=0.5, acceleration=2.0)
    model = supple.build(
        robot.with_({f"links.{link.name}.theory": "rigid" for link in robot.links})
    )
    controller = supple.ComputedTorque(position_gain=400, velocity_gain=40)
    run = supple.simulate(
        model, controller=controller, trajectory=line, q0=start, duration=line.duration
    )
    wanted = line.tip(run.t)[0]
    assert run.tip == pytest.approx(wanted, abs=2e-5)


def test_a_joint_that_follows_another_moves_the_tip_too():
    """Two coordinates lead the tip of three joints in the plane; it was a singular matrix."""
    robot = mimic()
    start = np.array([0.3, 0.9])
    first = supple.forward(robot, start).position
    line = supple.Line(
        robot, start, [first - np.array([0.1, 0.1, 0.0])], speed=0.4, acceleration=1.5
    )
    t = np.linspace(0.0, line.duration, 41)
    theta, speed, acceleration = line.at(t)
    tips = np.array([supple.forward(robot, row).position for row in theta])
    np.testing.assert_allclose(tips, line.tip(t)[0], atol=1e-10)
    step = 1e-5
    inner = t[5:-5:7]
    for rate, k in ((speed, 0), (acceleration, 1)):
        slope = (line.at(inner + step)[k] - line.at(inner - step)[k]) / (2 * step)
        away = [abs(inner - b).min() > step for b in line.breaks] if line.breaks else []
        assert all(away)
        np.testing.assert_allclose(rate[5:-5:7], slope, atol=1e-6)
