"""Compensation: the command corrected so that the tip follows."""

import warnings

import numpy as np
import pytest

import supple

MOVE = supple.PointToPoint([0.2, 0.8], [0.6, 1.2], 3.0, "septic")


@pytest.mark.slow
def test_an_arm_follows_ten_times_better() -> None:
    """The joints are led; the tip's error is mapped back through the rigid arm."""
    robot = supple.load("de-luca-two-link")
    found = supple.compensate(robot, MOVE, rounds=1)
    assert found.gain > 10
    assert "de-luca" in repr(found)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", supple.SmallRangeWarning)
        run = supple.follow(robot, found.command, elements=2, dt=found.t[1])  # on a finer one
    off = np.linalg.norm(run.tip - supple.forward(robot, MOVE(run.t)[0]).position, axis=1)
    assert off.max() < 0.1 * np.linalg.norm(found.before, axis=1).max()


@pytest.mark.slow
def test_a_delta_on_its_inverted_u() -> None:
    found = supple.compensate(supple.load("kuo-delta"), supple.InvertedU(), rounds=1)
    assert found.gain > 10


@pytest.mark.parametrize(
    ("robot", "path", "word"),
    [
        ("five-bar", supple.PointToPoint([0.0], [1.0], 1.0), "trajectory has 1 coordinates"),
        ("kuo-delta", supple.CirclePath(), "trajectory repeats"),
        ("kuo-delta", [0.0], "Trajectory"),
    ],
)
def test_bad_input(robot: str, path: object, word: str) -> None:
    with pytest.raises(supple.SuppleError, match=word):
        supple.compensate(supple.load(robot), path)


@pytest.mark.parametrize(
    ("robot", "start", "end", "duration", "gain"),
    [
        ("de-luca-two-link", [0.0, 0.0], [-0.5, 0.4], 1.5, 5.0),  # stretched out at its start
        ("de-luca-two-link", [0.4, 0.4], [0.3, -0.6], 1.3, 2.0),  # and on its way
        ("industrial-3", [0.3, 0.5, 0.4], [0.6, 1.0, 0.0], 0.6, 100.0),  # three motors in a plane
        ("industrial-3", [0.0, 0.0, 0.0], [0.3, 0.3, 0.2], 0.9, 50.0),
    ],
)
def test_ordinary_moves_are_answered(
    robot: str, start: list[float], end: list[float], duration: float, gain: float
) -> None:
    """What `follow` answers is corrected, too: judged by a run on a finer model."""
    arm = supple.load(robot)
    move = supple.PointToPoint(start, end, duration)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = supple.compensate(arm, move)
        worst = []
        for command in (move, found):
            run = supple.follow(arm, command, elements=2, dt=found.t[1])
            wanted = supple.forward(arm, move(run.t)[0]).position
            worst.append(float(np.linalg.norm(run.tip - wanted, axis=1).max()))
    assert found.gain >= gain
    assert worst[1] <= 1.01 * worst[0] / min(gain, 5.0)


def test_a_move_that_is_too_fast_is_left_as_it_is() -> None:
    """Corrections make the links bend without limit: the path itself is the best command."""
    arm = supple.load("di-castri-two-link")
    move = supple.PointToPoint([0.0, 0.0], [0.58, 0.46], 0.93)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", supple.SmallRangeWarning)
        with pytest.warns(supple.CorrectionWarning, match="give it more time"):
            found = supple.compensate(arm, move)
    assert found.gain == 1.0
    np.testing.assert_allclose(found(0.4)[0], move(0.4)[0], atol=1e-5)


def test_motor_angles_of_a_delta_are_told_from_its_platform() -> None:
    """A path out of the platform's reach raised "cannot convert float NaN to integer"."""
    motors = supple.PointToPoint([0.3, 0.3, 0.3], [0.5, 0.4, 0.35], 1.0)
    with pytest.raises(supple.SuppleError, match=r"out of reach .* path of a Delta is that of its"):
        supple.compensate(supple.load("kuo-delta"), motors)
