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
    f, zeta = 3.1, 0.04
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
    assert found.residual_after.max() < 1e-12
    before, after = found.peaks("before"), found.peaks("after")
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
