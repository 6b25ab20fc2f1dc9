"""Deflections in the frames of root, chord and rigid motion, of runs and of paths alike."""

import numpy as np
import pytest

import supple


@pytest.fixture(scope="module")
def runs():
    robot = supple.load("de-luca-two-link")
    model = supple.build(robot, supple.AssumedModes(2), damping=0.01)
    path = supple.PointToPoint([0, 0], [0.2, -0.3], 1.0)
    hold = supple.JointPD(50.0, 5.0)
    return supple.simulate(model, controller=hold, trajectory=path), supple.follow(model, path)


def test_the_rigid_frame_of_a_run_is_the_closed_form(runs):
    run, _ = runs
    inner, outer = (link.length for link in run.model.robot.links)
    first, second = run.q[:, 0], run.q[:, 0] + run.q[:, 1]
    x = inner * np.cos(first) + outer * np.cos(second)
    y = inner * np.sin(first) + outer * np.sin(second)
    off = run.tip[:, :2] - np.stack([x, y], axis=1)
    c, s = np.cos(second), np.sin(second)
    in_link = np.stack([c * off[:, 0] + s * off[:, 1], c * off[:, 1] - s * off[:, 0]], axis=1)
    found = run.deflection("link2", 1.0, frame="rigid")
    assert found[:, :2] == pytest.approx(in_link, abs=1e-13)
    assert run.deflection("link1", 0.5, "rigid") == pytest.approx(run.deflection("link1", 0.5))
    assert np.ptp(first) > 0.1


def test_paths_have_the_same_frames(runs):
    _, small = runs
    ends = small.deflection("link2", 1.0, frame="chord")
    assert np.abs(ends[:, :3]).max() < 1e-15
    middle = small.deflection("link2", 0.5)[:, 1] - 0.5 * small.deflection("link2", 1.0)[:, 1]
    assert small.deflection("link2", 0.5, frame="chord")[:, 1] == pytest.approx(middle, abs=1e-15)
    rigid = small.deflection("link1", 1.0, frame="rigid")
    size = np.abs(rigid).max()
    assert np.abs(rigid - small.deflection("link1", 1.0)[:, :3]).max() < 1e-9 + 1e-6 * size
    with pytest.raises(supple.SuppleError, match="frame"):
        small.deflection("link1", 1.0, frame="there")
