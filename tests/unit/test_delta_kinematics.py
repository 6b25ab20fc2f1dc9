"""Rigid Delta: direct and inverse kinematics, rates, Jacobians, singular and unreachable poses."""

import numpy as np
import pytest

import supple
from supple.architectures import delta
from supple.architectures.delta_motion import jacobian, motion, moving_links
from supple.papers.cells import right_number

ROBOT = supple.load("kuo-delta")


def random_points(count: int, seed: int = 0) -> np.ndarray:
    """Reachable points of the working side: below the base by more than 0.2 m."""
    rng = np.random.default_rng(seed)
    P = rng.uniform((-0.5, -0.5, 0.2), (0.5, 0.5, 1.0), (4 * count, 3))
    return P[delta.reachable(ROBOT, P)][:count]


def test_direct_undoes_inverse_on_ten_thousand_points() -> None:
    P = random_points(10_000)
    assert len(P) == 10_000
    found = delta.direct(ROBOT, delta.inverse(ROBOT, P)[..., 0])
    # the condition of the inverse is below 1e3 away from the edge; rounding of 1e-16 times that
    assert np.abs(found - P).max() < 1e-12


def test_inverse_undoes_direct() -> None:
    P = random_points(10_000, seed=1)
    theta = delta.inverse(ROBOT, P)[..., 0]
    again = delta.inverse(ROBOT, delta.direct(ROBOT, theta))[..., 0]
    leg, _ = delta.singularity(ROBOT, P)
    assert np.abs((again - theta) * leg).max() < 1e-11


def test_both_direct_solutions_keep_the_rods_long() -> None:
    theta = delta.inverse(ROBOT, random_points(100))[..., 0]
    for P in np.moveaxis(delta.direct(ROBOT, theta, "all"), 1, 0):
        axes = delta.leg_axes(ROBOT)
        c = np.cos(theta)[..., None]
        s = np.sin(theta)[..., None]
        C = (0.05 + 0.5 * c) * axes[:, :, 0] - 0.5 * s * axes[:, :, 2]
        assert np.linalg.norm(P[:, None] - C, axis=-1) == pytest.approx(0.6, rel=1e-12)


def test_all_inverse_solutions_reach_the_point() -> None:
    P = random_points(50)
    every = delta.inverse(ROBOT, P, "all")
    assert every.shape == (50, 8, 3, 3)
    assert np.array_equal(every[:, 0], delta.inverse(ROBOT, P))
    r = 0.05
    L1 = 0.5
    L2 = 0.6
    phi1, phi2, phi3 = np.moveaxis(every, -1, 0)
    X = r + L1 * np.cos(phi1) + L2 * np.cos(phi1 + phi2) * np.cos(phi3)
    Z = -L1 * np.sin(phi1) - L2 * np.sin(phi1 + phi2) * np.cos(phi3)
    wanted = np.einsum("lij,bi->blj", delta.leg_axes(ROBOT), P)[:, None]
    assert np.allclose(np.stack([X, L2 * np.sin(phi3), Z], -1), wanted, rtol=0, atol=1e-14)


def test_angles_of_the_errata() -> None:
    phi1 = np.degrees(delta.inverse(ROBOT, [0.1, 0, 0.5])[0, :, 0])
    assert [f"{x:.3f}" for x in phi1] == right_number("Kuo2016", "angles")


def path(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    c = np.cos
    s = np.sin
    return (
        np.array([0.1 * c(2 * t), 0.1 * s(2 * t) + 0.02 * t, 0.5 + 0.05 * s(3 * t)]),
        np.array([-0.2 * s(2 * t), 0.2 * c(2 * t) + 0.02, 0.15 * c(3 * t)]),
        np.array([-0.4 * c(2 * t), -0.4 * s(2 * t), -0.45 * s(3 * t)]),
    )


def test_rates_are_derivatives_of_the_angles() -> None:
    h = 1e-3
    t = 0.7
    phi = [delta.inverse(ROBOT, path(t + k * h)[0])[0] for k in range(-2, 3)]
    moved = motion(ROBOT, *path(t))
    first = (phi[0] - 8 * phi[1] + 8 * phi[3] - phi[4]) / (12 * h)
    second = (-phi[0] + 16 * phi[1] - 30 * phi[2] + 16 * phi[3] - phi[4]) / (12 * h**2)
    # error of the five-point rules: h^4 times a fifth or sixth derivative of about 1e2
    assert np.abs(first - moved.phid[0]).max() < 1e-9
    assert np.abs(second - moved.phidd[0]).max() < 1e-9
    assert jacobian(ROBOT, path(t)[0])[0] @ path(t)[1] == pytest.approx(
        moved.phid[0, :, 0], abs=1e-14
    )


def test_moving_frames_are_derivatives_of_the_placement() -> None:
    h = 1e-3
    t = 0.3
    links = [moving_links(ROBOT, motion(ROBOT, *path(t + k * h))) for k in range(-2, 3)]
    for k in (0, 1):
        frames = [link[k] for link in links]
        for value, rate in (("p", "v"), ("v", "a"), ("w", "dw")):
            x = [getattr(f, value)[0] for f in frames]
            slope = (x[0] - 8 * x[1] + 8 * x[3] - x[4]) / (12 * h)
            assert np.abs(slope - getattr(frames[2], rate)[0]).max() < 1e-8
        R = [f.R[0] for f in frames]
        spin = (R[0] - 8 * R[1] + 8 * R[3] - R[4]) / (12 * h) @ R[2].transpose(0, 2, 1)
        assert np.abs(spin[:, 2, 1] - frames[2].w[0, :, 0]).max() < 1e-9


@pytest.mark.parametrize("position", [[0, 0, 1.2], [1.0, 0, 0.3], [0, 0, 1.0989]])
def test_out_of_reach_is_a_sentence(position: list[float]) -> None:
    with pytest.raises(supple.SuppleError, match="out of reach of leg"):
        delta.inverse(ROBOT, position)
    assert not delta.reachable(ROBOT, position)


def test_stretched_leg_is_a_sentence() -> None:
    z = np.sqrt(1.1**2 - 0.05**2)  # on the axis all legs are straight there
    with pytest.raises(supple.SuppleError, match="singular: leg 1 is stretched or folded"):
        motion(ROBOT, [0, 0, z * (1 - 1e-15)], [0, 0, 1])


def test_rods_from_one_line_are_a_sentence() -> None:
    # r_A = r_B and arms straight up: the three points of which P is at L2 are one
    robot = ROBOT.with_({"base_radius": 0.1, "platform.radius": 0.1})
    with pytest.raises(supple.SuppleError, match="singular: the three rods"):
        delta.direct(robot, [np.pi / 2] * 3)


def test_elbows_too_far_apart_are_a_sentence() -> None:
    robot = ROBOT.with_("base_radius", 0.5)
    with pytest.raises(supple.SuppleError, match="cannot be assembled"):
        delta.direct(robot, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("bad", [[0, 0], [0, 0, np.nan], "up", [[0, 0, 0, 0]]])
def test_bad_input_is_a_sentence(bad: object) -> None:
    with pytest.raises(supple.SuppleError, match="three finite"):
        delta.inverse(ROBOT, bad)
    with pytest.raises(supple.SuppleError, match="three finite"):
        delta.direct(ROBOT, bad)


def test_motor_limits_bound_the_workspace() -> None:
    limited = ROBOT.with_("motor.limits", [-0.6, 0.2])
    P = random_points(500)
    phi1 = delta.inverse(ROBOT, P)[..., 0]
    inside = ((phi1 >= -0.6) & (phi1 <= 0.2)).all(axis=1)
    assert np.array_equal(delta.reachable(limited, P), inside)
    assert 0 < inside.sum() < len(P)


def test_modes_take_motor_angles() -> None:
    by_position = supple.modes(ROBOT, position=[0.1, 0, 0.5], count=3)
    by_angles = supple.modes(ROBOT, by_position.theta, count=3)
    assert by_angles.omega == pytest.approx(by_position.omega, rel=1e-10)
    assert by_angles.position == pytest.approx([0.1, 0, 0.5], abs=1e-14)
    with pytest.raises(supple.SuppleError, match="is a Delta"):
        supple.modes(ROBOT)
