"""Stable inversion against closed forms, a Fourier inverse and a finer model."""

import re

import numpy as np
import pytest

import supple
from supple.studies.drive.invert import _nearest, _Rows, chord_matrix

LINK = {
    "name": "link1",
    "length": 1.0,
    "mass_per_length": 1.0,
    "bending_stiffness": 1.0,
    "theory": "euler-bernoulli",
    "joint": {"type": "revolute"},
}


def arm(**changes: object) -> supple.SerialRobot:
    return supple.SerialRobot(name="one", planar=True, links=[{**LINK, **changes}])


def test_zeros_of_a_pinned_link_in_closed_form() -> None:
    """s = +-2 x^2 sqrt(EI / rho A L^4), tan x + tanh x = 0: 11.18664; approached as modes grow."""
    path = supple.PointToPoint([0.0], [1e-3], 1.0, "quintic")
    errors = []
    for count in (2, 4, 8):
        model = supple.build(arm(), supple.AssumedModes(count))
        found = supple.invert(model, path, window=(-0.01, 1.01))
        errors.append(abs(found.decay - 11.1866427))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 1e-4


def test_against_a_fourier_inverse() -> None:
    """tau(s) = y(s) / G(s) on the imaginary axis, G of the linear model: another route."""
    model = supple.build(arm(), supple.AssumedModes(3))
    path = supple.PointToPoint([0.0], [1e-3], 1.0, "septic")
    found = supple.invert(model, path, window=(-1.5, 2.5))
    n = model.size
    M = model.mass_matrix(np.zeros(n))
    K = model.stiffness
    c = np.concatenate([[1.0], chord_matrix(model)[0]])
    T, N = 40.0, 2**15  # long enough for the slowest zero, fine enough for the fastest
    t = (np.arange(N) - N // 2) * (T / N)
    a = path(t)[2][:, 0]
    w = 2 * np.pi * np.fft.fftfreq(N, T / N)
    forced = np.array(
        [c @ np.linalg.solve(-(v**2) * M + K, np.eye(n)[0]) * -(v**2) if v else 0.0 for v in w]
    )
    forced[0] = 1 / M[0, 0]  # at zero frequency it turns as a whole
    tau = np.fft.ifft(np.fft.fft(a) / forced).real
    inside = (t > -0.8) & (t < 1.8)
    ours = np.interp(t[inside], found.t, found.tau[:, 0])
    assert ours == pytest.approx(tau[inside], abs=2e-4 * np.abs(tau).max())


def test_preparation_decays_at_the_slowest_zero_and_the_path_is_kept() -> None:
    model = supple.build(arm(), supple.AssumedModes(4))
    path = supple.PointToPoint([0.0], [0.5], 1.0, "quintic")
    found = supple.invert(model, path)
    assert np.diff(found.t).max() <= 1e-3 + 1e-12
    assert found.tau.shape == (len(found.t), 1)
    before = (found.t > -0.9) & (found.t < -0.3)
    slope = np.polyfit(found.t[before], np.log(np.abs(found.tau[before, 0])), 1)[0]
    assert slope == pytest.approx(found.decay, rel=1e-3)
    u = model.deflection_at(found.q, "link1", 1.0)[:, 1]
    assert found.theta[:, 0] + u / 1.0 == pytest.approx(path(found.t)[0][:, 0], abs=1e-12)


def test_the_whole_motion_satisfies_the_equations() -> None:
    """Accelerations by differences of the velocities, put into the equations of motion."""
    links = [{**LINK, "name": name, "bending_stiffness": 20.0} for name in ("link1", "link2")]
    two = supple.SerialRobot(name="two", planar=True, links=links)
    model = supple.build(two, supple.AssumedModes(1), damping=0.05)
    path = supple.PointToPoint([0.0, 0.3], [0.5, 0.1], 1.0, "quintic")
    found = supple.invert(model, path)
    qdd = np.gradient(found.qd, found.t, axis=0, edge_order=2)
    left = model.inverse_dynamics(found.q, found.qd, qdd)
    k = model.joints
    inside = slice(50, -50)
    assert left[inside, :k] == pytest.approx(found.tau[inside], abs=2e-3 * np.abs(found.tau).max())
    assert np.abs(left[inside, k:]).max() < 2e-3 * np.abs(left).max()


def test_a_fast_path_is_reached_from_slower_ones() -> None:
    """Newton's method from the unbent arm runs away here: it raised a LinAlgError."""
    sizes = (("link1", 1.0, 1.0, 20.0), ("link2", 0.8, 0.8, 15.0))
    words = ("name", "length", "mass_per_length", "bending_stiffness")
    links = [{**LINK, **dict(zip(words, each, strict=True))} for each in sizes]
    two = supple.SerialRobot(name="two", planar=True, links=links)
    model = supple.build(two, supple.AssumedModes(1), damping=0.05)
    path = supple.PointToPoint([0.0, 0.5], [0.6, 0.9], 1.0)
    found = supple.invert(model, path, window=(-2.0, 3.0))
    u = [model.deflection_at(found.q, name, 1.0)[:, 1] / L for name, L, *_ in sizes]
    assert found.theta + np.stack(u, axis=1) == pytest.approx(path(found.t)[0], abs=1e-9)
    faster = supple.PointToPoint([0.0, 0.5], [0.6, 0.9], 0.3)
    with pytest.raises(supple.SuppleError, match="too fast for this arm"):
        supple.invert(model, faster, window=(0, 0.4))


def test_the_tip_follows_twenty_times_better_than_computed_torque() -> None:
    """A quintic of 1 s, inverted on two modes, its efforts alone on four; rigid computed torque."""
    robot = arm(bending_stiffness=5.0)
    path = supple.PointToPoint([0.0], [0.5], 1.0, "quintic")
    coarse, fine = (supple.build(robot, supple.AssumedModes(count)) for count in (2, 4))
    found = supple.invert(coarse, path)
    later = found.t - found.t[0]
    ours = supple.simulate(fine, tau=(later, found.tau), duration=float(later[-1]), dt=1e-3)
    law = supple.ComputedTorque(position_gain=100, velocity_gain=20)
    theirs = supple.simulate(fine, controller=law, trajectory=path, duration=1.5, dt=1e-3)
    C = chord_matrix(fine)
    error = []
    for run, shift in ((ours, found.t[0]), (theirs, 0.0)):
        chord = run.q[:, :1] + run.q[:, 1:] @ C.T
        error.append(np.abs(chord - path(run.t + shift)[0]).max())
    assert error[0] < error[1] / 20
    assert error[0] < 1e-3  # of the 0.5 rad that it moves


def test_an_inertia_at_the_tip_is_refused() -> None:
    """A rotary inertia at the tip brings zeros on the imaginary axis."""
    model = supple.build(arm(tip={"inertia": 0.05}), supple.AssumedModes(4))
    path = supple.PointToPoint([0.0], [1.0], 1.0)
    with pytest.raises(supple.SuppleError, match="imaginary axis"):
        supple.invert(model, path)


@pytest.mark.parametrize(
    ("path", "window", "word"),
    [
        (supple.PointToPoint([0.0, 1.0], [1.0, 2.0], 1.0), None, "trajectory has 2 coordinates"),
        (supple.PointToPoint([0.0], [1.0], 1.0), (0.1, 2.0), "window"),
        (supple.PointToPoint([0.0], [1.0], 1.0), (-1.0, 0.5), "window"),
        (supple.PointToPoint([0.0], [1.0], 1.0), (-1e9, 1e9), "at most 200000"),
        (supple.PointToPoint([0.0], [1.0], 1.0), (-1.0,), "window"),
        ([0.0, 1.0], None, "Trajectory"),
        (supple.PointToPoint([0.0], [1.0], 1.0, "linear"), None, "velocity jumps at 0 s"),
    ],
)
def test_bad_input(path: object, window: object, word: str) -> None:
    model = supple.build(arm(), supple.AssumedModes(2))
    with pytest.raises(supple.SuppleError, match=word):
        supple.invert(model, path, window=window)


def test_the_tip_follows_a_line_in_space_in_an_open_loop_run():
    """The efforts found, put into a simulation, lead the tip along the line: another route."""
    arm = supple.load("de-luca-two-link")
    stiff = arm.with_({f"links.link{k}.bending_stiffness": 200.0 for k in (1, 2)})
    model = supple.build(stiff, supple.AssumedModes(1), damping=0.05)
    ends = [supple.forward(stiff, theta).position[:2] for theta in ([0.3, 0.9], [0.5, 1.1])]
    line = supple.PointToPoint(*ends, 1.0)
    found = supple.invert(model, line, window=(-0.05, 1.1), output="tip")
    assert found.error < 1e-12
    efforts = supple.Table(found.t - found.t[0], found.tau)
    run = supple.simulate(model, tau=efforts, q0=found.q[0], qd0=found.qd[0], duration=1.1, dt=2e-3)
    wanted = line(run.t + found.t[0])[0]
    assert np.abs(run.tip[:, :2] - wanted).max() < 1e-6
    way = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    gone = run.tip[:, :2] - ends[0]
    aside = gone[:, 0] * way[1] - gone[:, 1] * way[0]
    assert np.abs(aside).max() < 1e-6  # it stays on the straight line


TOO_FAST = supple.PointToPoint([0, 0], [0.5, 0], 1.0)  # [DeLuca1991]: its first period is 0.7 s


def soft_arm(modes: int = 1, damping: float = 0.02) -> supple.Model:
    return supple.build("de-luca-two-link", supple.AssumedModes(modes), damping=damping)


@pytest.mark.parametrize("modes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_refusal_names_the_duration_in_which_the_path_is_followed(modes):
    model = soft_arm(modes)
    with pytest.raises(
        supple.SuppleError, match=r"duration of .* s\), or ask for nearest"
    ) as refusal:
        supple.invert(model, TOO_FAST, window=(-0.2, 4.0))
    duration = float(re.search(r"duration of ([\d.]+) s", str(refusal.value)).group(1))
    for times, met in ((1.03, True), (0.9, False)):
        T = times * duration
        path = supple.PointToPoint([0, 0], [0.5, 0], T)
        if met:
            assert supple.invert(model, path, window=(-0.2 * T, 4 * T)).error < 1e-12
        else:
            with pytest.raises(supple.SuppleError, match="too fast"):
                supple.invert(model, path, window=(-0.2 * T, 4 * T))


@pytest.mark.parametrize("output", ["chord", pytest.param("tip", marks=pytest.mark.slow)])
def test_the_nearest_motion_to_a_path_that_is_too_fast_runs_in_a_simulation(output):
    """It rests at both ends, its efforts lead a run along it, and it errs as it says."""
    model = soft_arm()
    path = TOO_FAST
    if output == "tip":
        ends = [supple.forward(model.robot, at).position[:2] for at in ([0.3, 0.9], [0.7, 1.2])]
        path = supple.PointToPoint(*ends, 1.0)
    with pytest.warns(supple.SmallRangeWarning, match="bend by up to 0"):
        near = supple.invert(model, path, window=(-0.5, 2.5), output=output, nearest=True)
    assert near.weight > 0
    assert near.error < (2e-3 if output == "tip" else 0.06)
    assert np.abs(near.qd[[0, -1]]).max() < 1e-9
    run = supple.simulate(
        model, tau=supple.Table(near.t - near.t[0], near.tau), q0=near.q[0], duration=3.0, dt=2e-3
    )
    wanted = path(run.t + near.t[0])[0]
    found = run.q[:, :2] + run.q[:, 2:] @ chord_matrix(model).T
    if output == "tip":
        found = run.tip[:, :2]
    assert np.abs(found - wanted).max() == pytest.approx(near.error, rel=3e-3)
    assert np.abs(run.qd[-1]).max() < 1e-4
    assert "nearest" in str(near)


def test_the_nearest_motion_becomes_the_exact_inverse_where_there_is_one():
    """Of a path that both can follow: two methods that share nothing but the model."""
    model = soft_arm(damping=0.05)
    path = supple.PointToPoint([0.0, 0.3], [0.2, 0.4], 2.0, "septic")
    exact = supple.invert(model, path, window=(-20.0, 15.0))
    near = _nearest(_Rows(model), path, (-4.0, 6.0))
    inside = (near.t > -1) & (near.t < 3)
    ours = np.interp(near.t[inside], exact.t, exact.tau[:, 0])
    assert near.error < 1e-3
    assert near.tau[inside, 0] == pytest.approx(ours, abs=0.02 * np.abs(ours).max())


def test_an_arm_without_damping_has_a_nearest_motion():
    model = soft_arm(damping=0.0)
    path = supple.PointToPoint([0, 0], [0.3, 0.2], 3.0)
    with pytest.raises(supple.SuppleError, match=r"imaginary axis .* or ask for nearest=True"):
        supple.invert(model, path)
    near = supple.invert(model, path, nearest=True)
    assert near.error < 1e-3
    assert near.t[0] == -3.0  # the default window: the path's duration before and after it


def test_a_window_that_leaves_no_time_to_come_to_rest_is_told():
    with pytest.raises(supple.SuppleError, match="no motion near this path was found"):
        supple.invert(soft_arm(2), TOO_FAST, window=(0, 1.0), nearest=True)


def test_the_cause_of_imaginary_zeros_is_the_one_that_is_there():
    arm = supple.load("de-luca-two-link")
    path = supple.PointToPoint([0, 0], [0.5, 0], 4.0)
    for inertia, words in ((0.0005, "rotary inertia at the tip"), (0.0, "links beyond link1")):
        model = supple.build(arm.with_("payload.inertia", inertia), supple.AssumedModes(2))
        with pytest.raises(supple.SuppleError, match=words):
            supple.invert(model, path)


def test_paths_of_the_tip_need_as_many_joints():
    one = supple.build(supple.load("industrial-3"), supple.AssumedModes(1), damping=0.05)
    with pytest.raises(supple.SuppleError, match="2 coordinates, the arm 3 joints"):
        supple.invert(one, supple.PointToPoint([3, 1], [3, 1.1], 1.0), output="tip")
    with pytest.raises(supple.SuppleError, match="output is 'hand'"):
        supple.invert(one, supple.PointToPoint([3, 1, 0], [3, 1.1, 0], 1.0), output="hand")


@pytest.mark.parametrize("nearest", [False, True])
def test_a_path_that_begins_out_of_reach_says_where_and_how_far(nearest):
    path = supple.PointToPoint([5, 0], [5, 1], 2.0)
    with pytest.raises(supple.SuppleError, match=r"begins at \[5.0, 0.0\] m.*by 4 m"):
        supple.invert(soft_arm(), path, output="tip", nearest=nearest)


def test_the_default_window_of_a_nearest_motion_is_short_under_gravity_too():
    """It was 80 s around a move of 0.6 s: the slow fall of the arm counted as a mode."""
    robot = arm(length=0.5, bending_stiffness=20.0, tip={"mass": 0.3, "inertia": 0.002})
    model = supple.build(robot.with_("gravity", [0, -9.81, 0]), supple.AssumedModes(2))
    near = supple.invert(model, supple.PointToPoint([0.0], [0.8], 0.6), nearest=True)
    assert (near.t[0], near.t[-1]) == pytest.approx((-0.6, 1.2))
    assert near.error < 1e-6  # a rotary inertia at the tip: no bounded inverse, but one from rest
    efforts = supple.Table(near.t - near.t[0], near.tau)
    run = supple.simulate(model, tau=efforts, q0=near.q[0], duration=1.8, dt=1e-3, method="gauss")
    assert run.q[-1] == pytest.approx(near.q[-1], abs=1e-7)
