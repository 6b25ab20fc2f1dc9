"""Kuo's Delta written out as a mechanism: modes and statics of the template, to 1e-10."""

import numpy as np
import pytest

import supple

KUO = supple.load("kuo-delta")
PAIRS = KUO.with_({"lower.rods": "parallelogram", "lower.spacing": 0.06})
PLACES = [(0.0, 0.0, 0.55), (0.1, -0.05, 0.6), (-0.12, 0.2, 0.7)]


@pytest.mark.parametrize("motor", [{}, {"motor.stiffness": 300.0, "motor.rotor_inertia": 0.02}])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("joints", ["locked", "free"])
def test_modes(place: tuple[float, ...], motor: dict[str, float], joints: str) -> None:
    robot = KUO.with_(motor) if motor else KUO
    written = supple.as_mechanism(robot, PLACES[0])
    want = supple.modes(robot, position=place, count=12, joints=joints)
    found = supple.modes(written, want.theta, count=12, joints=joints)
    assert found.rigid_modes == want.rigid_modes
    assert found.certified
    np.testing.assert_allclose(found.omega, want.omega, rtol=1e-10)


def test_modes_of_parallelograms() -> None:
    written = supple.as_mechanism(PAIRS, PLACES[0])
    want = supple.modes(PAIRS, position=PLACES[1], count=12)
    found = supple.modes(written, want.theta, count=12)
    assert found.certified
    np.testing.assert_allclose(found.omega, want.omega, rtol=1e-10)


@pytest.mark.parametrize("robot", [KUO, PAIRS], ids=["single", "parallelogram"])
@pytest.mark.parametrize("place", PLACES)
def test_statics(place: tuple[float, ...], robot: supple.DeltaRobot) -> None:
    load = {"force": [3.0, -2.0, 5.0], "moment": [0.1, 0.2, -0.3]}
    want = supple.statics(robot, position=place, **load)
    found = supple.statics(supple.as_mechanism(robot, PLACES[0]), want.theta, **load)
    for key in ("tip_displacement", "tip_rotation", "compliance"):
        value = getattr(want, key)
        np.testing.assert_allclose(getattr(found, key), value, atol=1e-10 * np.abs(value).max())


def test_constant_velocity_joints_where_they_are_straight() -> None:
    """There they are the template's; elsewhere that is read from the rigid robot."""
    twist = KUO.with_({"lower.rods": "twist"})
    for place in PLACES[:2]:
        written = supple.as_mechanism(twist, place)
        want = supple.modes(twist, position=place, count=8)
        found = supple.modes(written, want.theta, count=8)
        assert found.certified
        np.testing.assert_allclose(found.omega, want.omega, rtol=1e-10)
        load = {"force": [3.0, -2.0, 5.0]}
        one, two = (supple.statics(r, want.theta, **load) for r in (twist, written))
        np.testing.assert_allclose(two.tip_displacement, one.tip_displacement, rtol=1e-9)


def test_platform_is_where_it_was_asked() -> None:
    written = supple.as_mechanism(KUO, PLACES[0])
    want = supple.modes(KUO, position=PLACES, count=1)
    from_theta = supple.modes(written, want.theta, count=1)
    from_place = supple.modes(written, position=PLACES, count=1)
    np.testing.assert_allclose(from_place.theta, want.theta, atol=1e-9)
    np.testing.assert_allclose(from_theta.omega, from_place.omega, rtol=1e-8)


def test_what_cannot_be_written_out_is_told() -> None:
    with pytest.raises(supple.SuppleError, match="reach"):
        supple.as_mechanism(KUO, [0, 0, 5.0])
    arm = supple.as_mechanism(supple.load("industrial-3"))
    assert supple.as_mechanism(arm) is arm
    np.testing.assert_allclose(
        supple.modes(arm, [0.1, 0.2, 0.3], count=4).omega,
        supple.modes(supple.load("industrial-3"), [0.1, 0.2, 0.3], count=4).omega,
        rtol=1e-12,
    )
