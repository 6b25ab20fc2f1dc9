"""Deflections in the frames of root, chord and rigid motion, of runs and of paths alike."""

import numpy as np
import pytest

import supple
from supple.studies.motion.fields import fields


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
    first = run.q[:, 0]
    second = run.q[:, 0] + run.q[:, 1]
    x = inner * np.cos(first) + outer * np.cos(second)
    y = inner * np.sin(first) + outer * np.sin(second)
    off = run.tip[:, :2] - np.stack([x, y], axis=1)
    c = np.cos(second)
    s = np.sin(second)
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


def test_elements_along_a_path_have_the_rigid_frame():
    """The end of an arm's last link in it is the tip's displacement, turned into the link."""
    robot = supple.load("industrial-3")
    path = supple.PointToPoint([0, 0, 0], [0.5, 0.3, -0.2], 2.0)
    run = supple.follow(robot, path, elements=1, dt=0.05)
    turn = run.wanted.sum(axis=1)
    c = np.cos(turn)
    s = np.sin(turn)
    x = run.moved[:, 0]
    y = run.moved[:, 1]
    in_link = np.stack([c * x + s * y, c * y - s * x, 0 * x], axis=1)
    found = run.deflection("link3", 1.0, frame="rigid")
    assert found == pytest.approx(in_link, abs=1e-12)
    assert np.abs(found).max() > 1e-3
    first = run.deflection("link1", 0.5, frame="rigid")  # its root does not move
    assert first == pytest.approx(run.deflection("link1", 0.5)[:, :3], abs=1e-14)


def test_the_rigid_frame_of_a_delta_by_both_methods():
    """Elements of [Kuo2016] and a Model linearised along the path see the same displacement."""
    # what is quadratic in displacements is small; torsion lets the platform turn most
    stiff = {"materials.steel.young_modulus": 2e14, "materials.steel.shear_modulus": 8e13}
    robot = supple.load("kuo-delta").with_(stiff)
    path = supple.CirclePath((0, 0, 0.6), 0.03, 0.8)
    options = {"dt": 0.02, "start": "static"}
    run = supple.follow(robot, path, elements=1, **options)
    model = supple.build(robot, supple.FiniteElements(1), stiffening=True)
    other = supple.follow(model, path, **options)
    drawn = fields(run, samples=1000, points=3)
    for link, fraction in (("upper2", 1.0), ("lower1", 0.5)):
        ours = run.deflection(link, fraction, frame="rigid")
        theirs = other.deflection(link, fraction, frame="rigid")
        assert np.abs(ours - theirs).max() < 2e-4 * np.abs(ours).max()
        motion = drawn.motion[:, drawn.names.index(link), round(2 * fraction), :3]
        assert motion == pytest.approx(ours, abs=1e-12)


def test_fields_of_a_run_and_of_a_path(runs):
    run, small = runs
    # The bent arm itself; along a path its tip is known to first order in the displacement
    for each, accuracy in ((run, 1e-12), (small, 0.05 * np.abs(small.moved).max())):
        drawn = fields(each, samples=50, points=5)
        assert drawn.motion.shape == (50, 2, 5, 6)
        bent = drawn.motion[:, 1, -1, :3] + [0.5, 0, 0]
        end = drawn.p[:, 1] + np.einsum("tij,tj->ti", drawn.R[:, 1], bent)
        at = np.unique(np.linspace(0, len(each.t) - 1, 50).astype(int))
        assert end == pytest.approx(each.tip[at], abs=accuracy)
