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
        ("five-bar", supple.PointToPoint([0.0], [1.0], 1.0), "path has 1 coordinates"),
        ("industrial-3", supple.PointToPoint([0.0] * 3, [1.0] * 3, 1.0), "3 motors for 2"),
        ("kuo-delta", supple.CirclePath(), "path repeats"),
        ("kuo-delta", [0.0], "Trajectory"),
        (
            "de-luca-two-link",
            supple.PointToPoint([0.0, 0.0], [1.0, 0.0], 1.0),
            "singular pose",
        ),
    ],
)
def test_bad_input(robot: str, path: object, word: str) -> None:
    with pytest.raises(supple.SuppleError, match=word):
        supple.compensate(supple.load(robot), path)
