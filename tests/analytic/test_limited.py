"""Moves under limits: jerk-limited times in closed form, effort limits met and active."""

import sys

import numpy as np
import pytest

import supple

pytest.importorskip("ruckig")
pytest.importorskip("toppra")


@pytest.mark.parametrize(
    ("way", "v", "a", "j", "time"),
    [
        # full speed and full acceleration: d/v + v/a + a/j
        (1.0, 1.0, 4.0, 40.0, 1.0 / 1.0 + 1.0 / 4.0 + 4.0 / 40.0),
        # full acceleration, not full speed: a (T/2 - a/j) T/2 = d
        (0.2, 5.0, 4.0, 40.0, 4.0 / 40.0 + np.sqrt((4.0 / 40.0) ** 2 + 4 * 0.2 / 4.0)),
        # neither: four ramps of jerk, T = (32 d/j)^(1/3)
        (0.01, 5.0, 40.0, 40.0, (32 * 0.01 / 40.0) ** (1 / 3)),
        # full speed, not full acceleration: d/v + 2 sqrt(v/j)
        (3.0, 0.5, 40.0, 8.0, 3.0 / 0.5 + 2 * np.sqrt(0.5 / 8.0)),
    ],
)
def test_least_times_of_jerk_limited_moves(
    way: float, v: float, a: float, j: float, time: float
) -> None:
    found = supple.jerk_limited([0.3], [0.3 + way], v, a, j)
    assert found.duration == pytest.approx(time, rel=1e-9)
    t = np.linspace(0.0, found.duration, 20001)
    x, speed, push = found(t)
    assert x[[0, -1], 0] == pytest.approx([0.3, 0.3 + way], abs=1e-12)
    assert np.abs(speed).max() <= v * (1 + 1e-9)
    assert np.abs(push).max() <= a * (1 + 1e-9)
    assert np.abs(np.diff(push[:, 0]) / t[1]).max() <= j * (1 + 1e-6)
    # position, velocity and acceleration belong together
    assert np.gradient(x[:, 0], t)[2:-2] == pytest.approx(speed[2:-2, 0], abs=2e-6)
    assert np.gradient(speed[:, 0], t)[2:-2] == pytest.approx(push[2:-2, 0], abs=1e-2 * a)


def test_the_line_is_straight_and_the_slowest_joint_decides() -> None:
    limits = ([1.0, 0.2, 1.0], [4.0, 4.0, 4.0], [40.0, 40.0, 40.0])
    found = supple.jerk_limited([0.0, 0.0, 1.0], [1.0, 0.5, 1.0], *limits)
    x, v, _ = found(np.linspace(0.0, found.duration, 500))
    assert x[:, 1] == pytest.approx(0.5 * x[:, 0], abs=1e-12)
    assert x[:, 2] == pytest.approx(np.ones(500), abs=1e-12)
    assert np.abs(v[:, 1]).max() == pytest.approx(0.2, rel=1e-9)
    slow = supple.jerk_limited([0.0, 0.0, 1.0], [1.0, 0.5, 1.0], *limits, duration=5.0)
    assert slow.duration == pytest.approx(5.0, rel=1e-6)


def rod() -> supple.Model:
    """A thin rigid rod of 3 kg and 1 m: inertia 1 about its joint."""
    link = {"name": "a", "length": 1.0, "theory": "rigid", "mass_per_length": 3.0}
    return supple.build(supple.SerialRobot(name="rod", planar=True, links=[link]))


def test_one_link_turns_bang_bang() -> None:
    """T = 2 sqrt(J angle / tau), full effort there and back."""
    found = supple.effort_limited(rod(), [[0.0], [1.0]], 2.0)
    assert found.duration == pytest.approx(2 * np.sqrt(1.0 / 2.0), rel=1e-6)
    t = np.linspace(0.0, found.duration, 1002)[1:-1]
    effort = found.effort(t)[:, 0]
    assert np.abs(effort).max() <= 2.0 * (1 + 1e-6)
    away = np.abs(t - found.duration / 2) > 0.02 * found.duration
    assert effort[away] == pytest.approx(2.0 * np.sign(found.duration / 2 - t[away]), rel=1e-3)


def test_a_damped_link_reaches_the_speed_of_its_closed_form() -> None:
    """J v' = tau - c v forwards, -tau - c v backwards, from rest to rest over one radian."""
    c = 1.5
    tau = 2.0
    link = {
        "name": "a",
        "length": 1.0,
        "theory": "rigid",
        "mass_per_length": 3.0,
        "joint": {"damping": c},
    }
    model = supple.build(supple.SerialRobot(name="rod", planar=True, links=[link]))
    found = supple.effort_limited(model, [[0.0], [1.0]], tau, pieces=400)
    top = tau / c

    def way(t1: float) -> tuple[float, float]:
        v1 = top * (1 - np.exp(-c * t1))
        t2 = np.log((v1 + top) / top) / c
        there = top * t1 - v1 / c
        back = (v1 + top) * (1 - np.exp(-c * t2)) / c - top * t2
        return there + back, t1 + t2

    low = 0.0
    high = 5.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if way(middle)[0] < 1.0 else (low, middle)
    assert found.duration == pytest.approx(way(high)[1], rel=2e-3)
    assert np.abs(found.effort(np.linspace(0, found.duration, 999))).max() <= tau * (1 + 5e-3)


def test_a_rigid_arm_on_a_bent_path_keeps_its_limits_and_uses_them() -> None:
    robot = supple.load("de-luca-two-link")
    stiff = robot.with_({f"links.{link.name}.theory": "rigid" for link in robot.links})
    model = supple.build(stiff)
    limit = np.array([5.0, 2.0])
    points = [[0.0, 0.0], [0.3, 0.5], [0.9, 0.7], [1.0, 0.2]]
    found = supple.effort_limited(model, points, limit, pieces=800)
    t = np.linspace(0.0, found.duration, 4001)
    share = (np.abs(found.effort(t)) / limit).max(axis=1)
    assert share.max() <= 1 + 1e-3  # kept at both ends of each piece, nearly so in between
    assert np.mean(share > 0.97) > 0.98  # the fastest motion is at a limit, but at its switches
    x, v, _ = found(t)
    assert x[[0, -1]] == pytest.approx(np.array([points[0], points[-1]]), abs=1e-9)
    assert np.abs(v[[0, -1]]).max() < 1e-6
    for point in points:  # the path is kept
        assert np.linalg.norm(x - point, axis=1).min() < 2e-3
    # the same line from a Trajectory, whose own times do not matter
    slow = supple.PointToPoint((0.0, 0.0), (0.9, 0.7), 9.0)
    one = supple.effort_limited(model, slow, limit)
    other = supple.effort_limited(model, [[0.0, 0.0], [0.9, 0.7]], limit)
    assert one.duration == pytest.approx(other.duration, rel=1e-4)
    # lower limits of speed take their time, and are kept
    capped = supple.effort_limited(model, points, limit, speed_limit=0.5, acceleration_limit=3.0)
    _, v, a = capped(np.linspace(0.0, capped.duration, 4001))
    assert capped.duration > found.duration
    assert np.abs(v).max() <= 0.5 * (1 + 1e-3)
    assert np.abs(a).max() <= 3.0 * (1 + 1e-2)


def test_they_are_trajectories_like_others() -> None:
    model = rod()
    for move in (
        supple.jerk_limited([0.0], [1.0], 2.0, 4.0, 40.0),
        supple.effort_limited(model, [[0.0], [1.0]], 2.0),
    ):
        law = supple.Decoupling(position_gain=100, velocity_gain=20)
        run = supple.simulate(model, controller=law, trajectory=move, duration=move.duration)
        assert run.q[:, 0] == pytest.approx(move(run.t)[0][:, 0], abs=1e-5)
        later = supple.shaped(move, supple.shaper("zvd", 7.2))
        assert later.duration == pytest.approx(move.duration + 1 / 7.2)
        back = supple.Repeated(move)
        assert back(1.5 * move.duration)[0] == pytest.approx(move(move.duration / 2)[0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: supple.jerk_limited([0], [1, 2], 1, 1, 1), "equally many"),
        (lambda: supple.jerk_limited([0], [0], 1, 1, 1), "no move"),
        (lambda: supple.jerk_limited([0], [1], 0, 1, 1), "speed_limit"),
        (lambda: supple.jerk_limited([0, 0], [1, 1], 1, 1, [1, 2, 3]), "jerk_limit"),
        (lambda: supple.effort_limited(rod(), [[0], [1]]), "effort_limit"),
        (lambda: supple.effort_limited(rod(), [[0, 0], [1, 1]], 1.0), "1 joints"),
        (lambda: supple.effort_limited(rod(), [[0.5], [0.5]], 1.0), "does not move"),
        (lambda: supple.effort_limited(rod(), "line", 1.0), "cannot read line"),
        (lambda: supple.effort_limited("rod", [[0], [1]], 1.0), "model"),
    ],
)
def test_bad_input(call: object, words: str) -> None:
    with pytest.raises(supple.SuppleError, match=words):
        call()  # type: ignore[operator]


def test_an_effort_that_cannot_hold_the_arm_is_told() -> None:
    link = {"name": "a", "length": 1.0, "theory": "rigid", "mass_per_length": 3.0}
    robot = supple.SerialRobot(name="rod", planar=True, gravity=(0, -9.81, 0), links=[link])
    with pytest.raises(supple.SuppleError, match="cannot hold the arm"):
        supple.effort_limited(supple.build(robot), [[0.0], [1.0]], 2.0)


def test_without_the_extra_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ruckig", "toppra"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(supple.SuppleError, match=r"supple\[motion\]"):
        supple.jerk_limited([0.0], [1.0], 1.0, 1.0, 1.0)
    with pytest.raises(supple.SuppleError, match=r"supple\[motion\]"):
        supple.effort_limited(rod(), [[0.0], [1.0]], 1.0)
