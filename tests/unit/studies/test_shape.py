"""Shaped trajectories and moves."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.control.shaping import Samples, residual_amplitude
from supple.files.joint_trajectories import (
    JointTrajectory,
    read_joint_trajectory,
    write_joint_trajectory,
)

MOVE = supple.ParabolicBlends([0.0, 0.2], [1.2, -0.6], 0.9, 0.2)


def test_a_shaped_trajectory_is_the_sum_of_delayed_ones() -> None:
    shaper = supple.shaper("zvd", 2.0, 0.1)
    found = supple.shaped(MOVE, shaper)
    t = np.linspace(-0.1, found.duration + 0.1, 400)
    wanted = sum(a * MOVE(t - d)[0] for d, a in zip(shaper.times, shaper.amplitudes, strict=True))
    assert found(t)[0] == pytest.approx(wanted, abs=1e-14)
    assert found.duration == pytest.approx(0.9 + shaper.duration)
    x, v, a = found(t)
    inside = (t > 0.01) & (t < found.duration - 0.01)
    assert np.gradient(x, t, axis=0)[inside] == pytest.approx(v[inside], abs=0.02)
    edges = np.array([0.0, *found.breaks, found.duration])
    for low, high in pairwise(edges):  # polynomials between breaks
        if high - low > 1e-6:
            middle = np.linspace(low, high, 9)[1:-1]
            assert np.ptp(found(middle)[2], axis=0) == pytest.approx([0, 0], abs=1e-9)
    assert a.shape == x.shape


def test_samples_agree_with_the_trajectory() -> None:
    rate = 2000.0
    t = np.arange(int(0.9 * rate) + 1) / rate
    shaper = supple.shaper("zv", 2.5)
    y = supple.shaped(MOVE(t)[0], shaper, rate=rate)
    exact = supple.shaped(MOVE, shaper)(np.arange(len(y)) / rate)[0]
    assert y == pytest.approx(exact, abs=1e-9)  # 0.2 s is a whole number of samples
    assert supple.shaped(MOVE(t)[0][:, 0], shaper, rate=rate) == pytest.approx(y[:, 0])


def test_the_residual_of_a_move_is_that_of_an_oscillator() -> None:
    from scipy.integrate import solve_ivp

    t = np.linspace(0, 0.9, 91)
    x = MOVE(t)[0][:, :1]
    f = 3.1
    zeta = 0.04
    w = 2 * np.pi * f
    state = np.zeros(2)
    speed = 0.0
    for k in range(len(t)):  # jumps of velocity at the samples, free between
        slope = (x[k + 1, 0] - x[k, 0]) / (t[k + 1] - t[k]) if k + 1 < len(t) else 0.0
        state = state - np.array([0.0, slope - speed])
        speed = slope
        if k + 1 < len(t):
            state = solve_ivp(
                lambda _, y: [y[1], -(w**2) * y[0] - 2 * zeta * w * y[1]],
                (t[k], t[k + 1]),
                state,
                rtol=1e-11,
                atol=1e-14,
            ).y[:, -1]
    w_d = w * np.sqrt(1 - zeta**2)
    amplitude = np.hypot(state[0], (state[1] + zeta * w * state[0]) / w_d)
    assert residual_amplitude(t, x, f, zeta)[0, 0] == pytest.approx(amplitude, rel=1e-8)


def test_shape_leaves_the_mode_at_rest() -> None:
    found = supple.shape(MOVE, "zvd", 3.0, 0.02, rate=500)
    assert found.residual_before.max() > 1e-3
    assert found.residual_after.max() < 1e-8 * found.residual_before.max()  # ends of a spline
    before = found.peaks("before")
    after = found.peaks("after")
    assert (after[0] <= before[0] + 1e-9).all()
    assert "zvd" in repr(found)


def test_limits_slow_the_move_down() -> None:
    found = supple.shape(MOVE, "zv", 3.0, speed_limit=0.5, acceleration_limit=2.0)
    speed, acceleration = found.peaks("after")
    assert speed.max() <= 0.5
    assert acceleration.max() <= 2.0
    assert found.slowed > 1
    with pytest.raises(supple.SuppleError, match="speed_limit is 0"):
        supple.shape(MOVE, "zv", 3.0, speed_limit=0.0)


ARM = supple.load("de-luca-two-link")


@pytest.mark.parametrize("kind", ["zv", "zvd"])
@pytest.mark.parametrize("by", [{"frequency_hz": 0.45}, {"robot": ARM}], ids=["fixed", "scheduled"])
def test_limits_are_kept_by_what_is_sent(kind: str, by: dict) -> None:
    """A schedule whose frequency falls plays a part of its move faster; splines overshoot."""
    move = supple.ParabolicBlends([0, 0], [0.9, 2.0], duration=3.4, blend=0.8)
    t = np.arange(341) * 0.01
    for given in (move, supple.Samples(t, move(t)[0])):
        found = supple.shape(given, kind, **by, speed_limit=0.5, acceleration_limit=[0.4, 0.4])
        speed, acceleration = found.peaks("after")
        assert speed.max() <= 0.5 * (1 + 1e-9)
        assert acceleration.max() <= 0.4 * (1 + 1e-9)
        used = max(speed.max() / 0.5, acceleration.max() / 0.4)
        assert used > 0.9  # and it is hardly slower than needed


def test_a_robots_own_limits_of_speed_are_kept() -> None:
    arm = ARM.with_("links.link2.joint.speed_limit", 0.2)
    move = supple.ParabolicBlends([0, 0], [0.9, 0.7], duration=3.4, blend=0.8)
    assert supple.shape(move, robot=arm).peaks()[0][1] <= 0.2
    assert supple.shape(move, robot=ARM).peaks()[0][1] > 0.22
    assert supple.shape(move, robot=arm, speed_limit=1.0).slowed == 1.0


def test_what_is_predicted_along_a_path_is_what_an_oscillator_keeps() -> None:
    """y'' + w(t)^2 y = -x'', w read on the way: `remains` told 380 % of a move that 3 % are of."""
    move = supple.ParabolicBlends([0, 0], [0.9, 2.0], duration=5.3, blend=1.2)
    found = supple.shape(move, "zv", robot=ARM, rate=100)

    def left(motion: JointTrajectory) -> float:
        omega = supple.modes(ARM, theta=motion.positions, count=1).omega[:, 0]
        v = np.diff(motion.positions[:, 1]) * 100
        y = np.zeros(2)
        for k, jump in enumerate(np.diff(np.concatenate([[0.0], v, [0.0]]))):
            y[1] -= jump
            if k + 1 < len(omega):
                w = (omega[k] + omega[k + 1]) / 2
                c = np.cos(w / 100)
                s = np.sin(w / 100)
                y = np.array([c * y[0] + s * y[1] / w, -s * w * y[0] + c * y[1]])
        return float(np.hypot(y[0], y[1] / omega[-1]))

    assert found.residual_before[0, 1] == pytest.approx(left(found.before), rel=0.02)
    assert found.residual_after[0, 1] == pytest.approx(left(found.after), rel=0.1)
    assert found.residual_after[0, 1] < 0.05 * found.residual_before[0, 1]


def test_the_frequency_is_followed_over_many_moves() -> None:
    """A polynomial through 41 points missed it by 2.7 % on these."""
    points = np.random.default_rng(1).uniform([0.0, -2.2], [1.0, 2.2], (21, 2))
    found = supple.scheduled(ARM, supple.WayPoints(points, 1.0, 1.0, pause=0.3))
    t = np.linspace(0, found.duration, 3001)
    real = supple.modes(ARM, theta=found(t)[0], count=1).omega[:, 0]
    assert np.ptp(real) > 0.1 * real.mean()
    assert np.abs(found.omega_at(t) / real - 1).max() < 3e-3


def test_a_band_and_a_move_that_begins_late() -> None:
    t = 17e8 + np.arange(0, 1.0005, 0.001)  # a clock's seconds: steps are even but for rounding
    x = np.minimum(np.arange(1001) / 700, 1.0)[:, None]
    found = supple.shape(JointTrajectory(("a",), t, x), "zvd", band=(6.0, 9.0))
    assert found.rate == pytest.approx(1000, rel=1e-6)
    assert found.after.begin == t[0]
    assert found.time_added == pytest.approx(1 / 7.5, abs=2e-3)
    assert found.frequency_hz.tolist() == [6.0, 7.5, 9.0]
    assert (found.residual_after < 0.06 * found.residual_before.max()).all()


def test_a_rate_too_low_for_a_robots_mode_is_told() -> None:
    move = supple.PointToPoint([0, 0], [0.9, 0.7], 20.0)
    with pytest.raises(supple.SuppleError, match="above twice the frequency"):
        supple.shape(move, robot=ARM, modes=2, rate=3.0)


def test_a_scheduled_move_leaves_a_mode_of_changing_frequency_at_rest() -> None:
    """y'' + w(t)^2 y = -x'': the frequency doubles along the path."""
    from scipy.integrate import solve_ivp

    from supple.control.shaping import schedule

    move = supple.PointToPoint([0.0], [1.0], 1.2, "quintic")

    def omega_at(x: np.ndarray) -> np.ndarray:
        return 2 * np.pi * 2.0 * (1 + 0.6 * x[:, 0])

    def left(trajectory: supple.Trajectory) -> float:
        def rate(t: float, y: np.ndarray) -> list[float]:
            x, _, a = trajectory(t)
            return [y[1], -(omega_at(x[None])[0] ** 2) * y[0] - a[0]]

        end = trajectory.duration
        marks = [0.0, *trajectory.breaks, end]
        y = np.zeros(2)
        for low, high in pairwise(marks):
            y = solve_ivp(rate, (low, high), y, rtol=1e-6, atol=1e-9).y[:, -1]
        return float(np.hypot(y[0], y[1] / omega_at(trajectory([end])[0])[0]))

    unit = supple.shaper("zvd", 1.0)
    fixed = supple.shaped(move, supple.shaper("zvd", 2.0))
    found = schedule(move, unit, omega_at)
    t = np.linspace(0, found.duration, 4001)
    x, v, _ = found(t)
    assert np.gradient(x, t, axis=0)[5:-5] == pytest.approx(v[5:-5], abs=2e-4)
    assert x[-1] == pytest.approx([1.0], abs=1e-12)
    assert left(found) < 0.1 * left(move)
    assert left(found) < 0.5 * left(fixed)


def test_files_come_back(tmp_path: Path) -> None:
    t = np.linspace(0, 1, 11)
    move = JointTrajectory(("a", "b"), t, np.column_stack([t**2, -t]), {"header": {"frame_id": ""}})
    for name in ("x.csv", "x.json", "x.yaml"):
        found = read_joint_trajectory(write_joint_trajectory(tmp_path / name, move))
        assert found.names == ("a", "b")
        assert found.t == pytest.approx(t, abs=1e-9)
        assert found.positions == pytest.approx(move.positions, abs=1e-15)


def test_a_moveit_message_is_understood(tmp_path: Path) -> None:
    points = [
        {"positions": [0.0], "time_from_start": {"secs": 0, "nsecs": 0}},
        {"positions": [1.0], "time_from_start": {"secs": 0, "nsecs": 500_000_000}},
    ]
    message = {"joint_trajectory": {"joint_names": ["j"], "points": points}}
    place = tmp_path / "m.json"
    place.write_text(json.dumps(message))
    assert read_joint_trajectory(place).t == pytest.approx([0, 0.5])


def test_points_with_velocities_are_read_and_written_with_them(tmp_path: Path) -> None:
    """Ten stretches of a quintic with its slopes: a cubic through both."""
    move = supple.PointToPoint([0.0, 1.0], [0.8, -0.3], 1.0, "quintic")
    t = np.linspace(0, 1, 11)
    names = ("positions", "velocities", "accelerations")
    points = [
        {
            "time_from_start": float(s),
            **{name: v.tolist() for name, v in zip(names, at, strict=True)},
        }
        for s, at in zip(t, zip(*move(t), strict=True), strict=True)
    ]
    place = tmp_path / "in.json"
    out = tmp_path / "out.json"
    place.write_text(json.dumps({"joint_names": ["a", "b"], "points": points}))
    found = supple.shape(read_joint_trajectory(place), "zvd", 7.2, rate=500)
    assert np.abs(found.before.positions - move(found.before.t)[0]).max() < 2e-4
    found.save(out)
    written = json.loads(out.read_text())["points"]
    rates = np.array([point["velocities"] for point in written])
    wanted = supple.shaped(move, found.shaper)(found.after.t)
    assert np.abs(rates - wanted[1]).max() < 0.02
    assert np.abs([point["accelerations"] for point in written] - wanted[2]).max() < 1.0
    assert rates[-1].tolist() == [0.0, 0.0]


def test_an_mcap_log(tmp_path: Path) -> None:
    from mcap.writer import Writer

    place = tmp_path / "x.mcap"
    with place.open("wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("trajectory_msgs/JointTrajectory", "jsonschema", b"{}")
        channel = writer.register_channel("/move", "json", schema)
        points = [{"positions": [float(k)], "time_from_start": float(k)} for k in range(3)]
        data = json.dumps({"joint_names": ["j"], "points": points}).encode()
        writer.add_message(channel, log_time=0, publish_time=0, data=data)
        writer.finish()
    assert read_joint_trajectory(place).positions[:, 0] == pytest.approx([0, 1, 2])
    place.write_bytes(b"nonsense")
    with pytest.raises(supple.SuppleError, match="MCAP"):
        read_joint_trajectory(place)


def test_uneven_samples_are_resampled() -> None:
    t = np.array([0.0, 0.1, 0.3, 0.6, 1.0])
    move = JointTrajectory(("a",), t, (t**2)[:, None])
    found = supple.shape(move, "zv", 2.0, rate=100)
    assert np.diff(found.after.t) == pytest.approx(0.01)
    spline = Samples(t, (t**2)[:, None])
    assert found.before.positions == pytest.approx(spline(found.before.t)[0])
