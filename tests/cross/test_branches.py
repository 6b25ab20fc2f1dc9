"""Loops stay on one branch along a run and along a path, wherever that leads.

Two ways lead to one theta: with its elbows on one side, or on the other. Motions here come by
places that a search from the start would assemble otherwise, so that what is looked for anew at
each instant leaps by a good part of the robot.
"""

import numpy as np
import pytest

import supple
from supple.architectures.kinds import architecture_of

# theta at both ends; between them, a search from the start finds the other branch for a while
MOVES = {
    "five-bar": ([1.27708989, 2.85872039], [0.13529862, 2.58460801]),
    "scara-parallel": ([1.12351644, 1.82029666, 0.1243567], [1.0353708, 2.54426441, 0.12067262]),
}


def move(name: str) -> supple.PointToPoint:
    return supple.PointToPoint(*MOVES[name], 1.0)


def steady(x: np.ndarray) -> bool:
    """Whether samples follow one another: no step is far from those before and after it."""
    step = np.linalg.norm(np.diff(x.reshape(len(x), -1), axis=0), axis=1)
    return bool(step.max() < 0.02 * np.ptp(x, axis=0).max())


def test_the_moves_pass_where_searches_from_the_start_leap() -> None:
    for name in MOVES:
        robot = supple.load(name)
        theta = move(name)(np.linspace(0, 1, 301))[0]
        leaping = supple.forward(robot, theta).position
        assert not steady(leaping)
        branch = architecture_of(robot).branch(theta)
        assert branch.reached == len(theta)
        assert steady(branch.x)
        assert np.abs(architecture_of(robot).openings(branch.x)[0]).max() < 1e-12


@pytest.fixture(scope="module")
def run() -> supple.Response:
    # without stiffening, whose shortening drawings leave out
    model = supple.build(supple.load("five-bar"), supple.AssumedModes(2), stiffening=False)
    outputs = {
        "tip": supple.Tip(),
        "strain": supple.Strain("left2", 0.5, 0.01),
        "reaction": supple.Reaction("left2"),
        "felt": supple.Accelerometer("left2", 1.0),
    }
    law = supple.Decoupling(400, 40)
    return supple.simulate(
        model, controller=law, trajectory=move("five-bar"), duration=1.0, dt=2e-4, outputs=outputs
    )


def test_what_a_run_measures_is_on_its_branch(run: supple.Response, tmp_path) -> None:
    assert steady(run.tip)
    np.testing.assert_array_equal(run.outputs["tip"][:, :3], run.tip)
    # the accelerometer is the second derivative of the tip, in the axes of the last section
    h = run.t[1]
    a = (run.tip[2:] - 2 * run.tip[1:-1] + run.tip[:-2]) / h**2
    felt = np.linalg.norm(run.outputs["felt"][1:-1], axis=1)
    gravity = np.array(run.model.robot.gravity)
    np.testing.assert_allclose(np.linalg.norm(a - gravity, axis=1), felt, atol=2e-2 * felt.max())
    # efforts: the work that they did is the energy gained, though they are found after the run
    power = (run.tau * run.qd[:, :2]).sum(axis=1)
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * h)])
    np.testing.assert_allclose(work, run.energy - run.energy[0], atol=1e-3 * np.ptp(run.energy))
    run.save(tmp_path / "run.nc")
    again = supple.load_response(tmp_path / "run.nc")
    np.testing.assert_allclose(again.tip, run.tip, atol=1e-12)


def test_drawings_of_a_run_are_on_its_branch(run: supple.Response) -> None:
    from supple.studies.motion.fields import fields

    drawn = fields(run, samples=200)
    i = drawn.names.index("left2")
    end = drawn.p[:, i] + np.einsum(
        "tij,tj->ti",
        drawn.R[:, i],
        drawn.motion[:, i, -1, :3] + drawn.L[:, i, None] * np.array([1.0, 0, 0]),
    )
    keep = np.unique(np.linspace(0, len(run.t) - 1, 200).astype(int))
    np.testing.assert_allclose(end, run.tip[keep], atol=1e-9)


def test_sampled_laws_feel_the_branch_of_the_run() -> None:
    """The zero-order hold is late by half a period, so that the error is of first order in it."""
    model = supple.build(supple.load("five-bar"), supple.AssumedModes(1))
    path = move("five-bar")
    law = supple.Decoupling(400, 40)
    laws = (law, supple.Sampled(law, period=4e-4), supple.Sampled(law, period=2e-4))
    whole, *sampled = (
        supple.simulate(model, controller=given, trajectory=path, duration=1.0).tip
        for given in laws
    )
    assert all(steady(tip) for tip in sampled)
    off = [np.abs(tip - whole).max() for tip in sampled]
    assert off[0] / off[1] == pytest.approx(2.0, rel=0.1)


def test_loops_begin_where_forward_finds_them() -> None:
    """Straight steps from the assembled pose lead past a singular one, to elbows the other way."""
    robot = supple.load("five-bar")
    theta = np.array([0.46471078, 2.57493328])
    model = supple.build(robot, supple.AssumedModes(4, axial=1))
    there = supple.forward(robot, theta).position
    straight = np.concatenate([theta, np.zeros(model.size - 2)])
    assert np.abs(model.tip(straight) - there).max() > 0.1
    run = supple.simulate(model, theta0=theta, duration=1e-3)
    np.testing.assert_allclose(run.tip[0], there, atol=1e-12)
    sag = supple.simulate(model, theta0=theta, q0="static", duration=1e-3).tip[0] - there
    found = supple.statics(robot, theta).tip_displacement
    np.testing.assert_allclose(sag, found, atol=0.02 * np.abs(found).max())
    A = supple.linearize(model, theta).A
    omega = np.unique(np.abs(np.linalg.eigvals(A).imag).round(3))
    free = supple.modes(robot, theta, joints="free", count=2).omega
    np.testing.assert_allclose(omega[omega > 1][:2], free, rtol=0.01)
    measures = [supple.Encoder("left"), supple.Encoder("right"), supple.Strain("left2", 0.3, 0.01)]
    law = supple.lqg(model, theta, measures, period=1e-3)
    held = supple.simulate(
        model,
        controller=supple.Sampled(law, period=1e-3),
        trajectory=theta,
        theta0=theta,
        q0="static",
        duration=0.015,  # fifteen periods; a torque of another branch moves the tip in the first
    )
    at_start = held.tip[:1].repeat(len(held.t), 0)
    np.testing.assert_allclose(held.tip, at_start, atol=1e-9)


@pytest.mark.parametrize("name", MOVES)
def test_paths_stay_on_their_branch(name: str) -> None:
    """Elements on moving frames, a linearised Model and a stiffly led run go the same way."""
    robot = supple.load(name)
    path = move(name)
    flat = name == "five-bar"
    basis = supple.FiniteElements(2) if flat else supple.AssumedModes(1)
    found = supple.follow(supple.build(robot, basis, stiffening=flat), path, dt=5e-3)
    assert steady(found.tip)
    branch = architecture_of(robot).branch(path(np.linspace(0, 1, 201))[0])
    ends = supple.forward(robot, path(0.0)[0]).position
    np.testing.assert_allclose(found.tip[0] - found.moved[0, :3], ends, atol=1e-9)
    m = architecture_of(robot)
    rigid = m.joints.place(branch.x[:, : len(m.joints.coordinates)])
    tip = rigid.frame(m.form.tip_index, None, np.eye(3), np.zeros(3))[1]
    np.testing.assert_allclose(found.tip - found.moved[:, :3], tip, atol=1e-9)
    if flat:
        other = supple.follow(robot, path, dt=5e-3)
        np.testing.assert_allclose(other.tip, found.tip, atol=1e-6)
        np.testing.assert_allclose(other.torque, found.torque, atol=1e-4 * np.ptp(found.torque))
        measured = supple.follow(robot, path, dt=5e-3, outputs={"tip": supple.Tip()})
        np.testing.assert_allclose(measured.outputs["tip"][:, :3], other.tip, atol=1e-4)
