"""Elastic motion along a path: starts, damping, residual vibration, warnings; workspace maps."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.linalg import eigh

import supple
from pictures import shows
from supple.kernels.newmark import generalised_alpha
from supple.studies.motion.fields import path_fields

STEEL = "materials.steel."
STIFF = supple.load("kuo-delta").with_(
    {f"{STEEL}young_modulus": 210e11, f"{STEEL}shear_modulus": 80e11}
)
SLOW = supple.PointToPoint((0.0, 0.0, 0.5), (0.05, 0.02, 0.55), 20.0)


def test_a_slow_motion_stays_at_its_sag() -> None:
    found = supple.follow(STIFF, SLOW, elements=1, step=0.2, scheme=generalised_alpha(0.0))
    for k in (0, 50, 100):
        sag = supple.statics(STIFF, position=found.wanted[k])
        assert found.moved[k, :3] == pytest.approx(
            sag.tip_displacement, abs=2e-3 * found.moved[0, 2]
        )


def test_from_zero_the_weight_is_overshot_twice() -> None:
    """A held robot let go from its unloaded shape swings to twice its sag, mode by mode."""
    hold = supple.Hold((0.0, 0.0, 0.5), 0.1)
    found = supple.follow(STIFF, hold, elements=1, dt=2e-4, start="rest")
    sag = supple.statics(STIFF, position=[0, 0, 0.5]).tip_displacement[2]
    assert found.moved[0] == pytest.approx(np.zeros(6), abs=0)
    assert found.moved[:, 2].max() == pytest.approx(2 * sag, rel=0.02)  # higher modes carry 1 %


@pytest.mark.parametrize("motor", [{}, {"motor.stiffness": 300.0}], ids=["clamped", "sprung"])
def test_bearings_and_foundations_are_no_motors(motor: dict) -> None:
    """Stiff ones change nothing: a spring k gives way as 1 / k, 1e-9 m/N beside rods' 1e-4."""
    soft = {"motor.bearing": {"translation": [1e9, None, 1e9], "rotation": [1e8, None, None]}}
    soft["foundation"] = {"translation": [1e9] * 3, "rotation": [1e8] * 3, "mass": 5.0}
    path = supple.PointToPoint((0.0, 0.0, 0.5), (0.05, 0.02, 0.55), 0.3)
    bare = STIFF.with_(motor)
    robots = (bare, bare.with_(soft))
    want, found = (supple.follow(r, path, elements=1, dt=5e-3) for r in robots)
    assert found.torque.shape == (61, 3)
    np.testing.assert_allclose(found.torque, want.torque, atol=1e-4 * np.abs(want.torque).max())
    np.testing.assert_allclose(
        found.rigid_torque, want.rigid_torque, atol=1e-9 * np.abs(want.torque).max()
    )


@pytest.mark.parametrize(
    "damping", [{"modal_damping": 0.05}, {"damping": supple.Rayleigh(0.05)}], ids=["modal", "two"]
)
def test_damping_ratio_is_seen_in_the_decay(damping: dict) -> None:
    """Each mode k of a held Delta goes to its share of the sag as an oscillator of its ratio does.

    y_k = F_k / w_k^2 (1 - exp(-z w t) (cos wd t + z w / wd sin wd t)), wd imaginary beyond z = 1.
    Gauss's steps (Pade's exp, z^5 / 720 off) turn it by (w h)^4 / 720 of w t at most, and w t
    exp(-z w t) is 1 / (e z) at most; a mode that is not stepped through is off by twice its share.
    """
    hold = supple.Hold((0.0, 0.0, 0.5), 0.4)
    light = supple.Loads(preload=False)
    found = supple.follow(STIFF, hold, elements=1, dt=2e-4, start="rest", loads=light, **damping)
    still = found.model.matrices(*hold(np.zeros(1)))
    squares, shapes = eigh(still.K[0], still.M[0])
    w = np.sqrt(squares)
    t = found.t[:, None]
    zeta = np.full_like(w, 0.05)
    if "damping" in damping:  # alpha / 2 w + beta w / 2, that ratio at the lowest two
        zeta = 0.05 * (w[0] * w[1] / w + w) / (w[0] + w[1])
    turn = w * np.sqrt(1 - zeta**2 + 0j)
    left = (  # exponents together: each of a fast and overdamped one alone is beyond all numbers
        (1 - 1j * zeta * w / turn) / 2 * np.exp((1j * turn - zeta * w) * t)
        + (1 + 1j * zeta * w / turn) / 2 * np.exp((-1j * turn - zeta * w) * t)
    ).real
    share = (still.tip[0] @ shapes) * (shapes.T @ still.F[0]) / squares
    lost = np.minimum(2.0, (w * found.step) ** 4 / (720 * np.e * zeta))
    bound = (np.abs(share) @ lost).max()
    assert bound < 1e-3 * np.abs(found.moved).max()
    assert found.moved == pytest.approx((1 - left) @ share.T, abs=bound)


def test_residual_vibration_and_deflections() -> None:
    found = supple.follow(STIFF, supple.InvertedU(), step=2e-3, after=0.2)
    assert found.small
    assert found.residual().shape == (6,)
    assert (found.residual() <= np.ptp(found.moved, axis=0) / 2 + 1e-15).all()
    assert found.deflection("lower2", 0.0) == pytest.approx(np.zeros((len(found.t), 6)), abs=0)
    with pytest.raises(supple.SuppleError, match="no link 'rod'"):
        found.deflection("rod")


def test_periodic_start_repeats() -> None:
    found = supple.follow(
        STIFF, supple.CirclePath(), elements=1, step=5e-3, start="periodic", damping=0.02, periods=2
    )
    half = len(found.t) // 2
    assert found.moved[half] == pytest.approx(found.moved[0], abs=1e-9 * np.abs(found.moved).max())
    assert found.moved[-1] == pytest.approx(found.moved[0], abs=1e-9 * np.abs(found.moved).max())


def test_torques_of_a_stiff_robot_are_the_rigid_ones() -> None:
    """Slowly and stiffly: what the links bend changes the torques by deflection over length."""
    found = supple.follow(STIFF, SLOW, elements=1, step=0.2, scheme=generalised_alpha(0.0))
    assert found.torque == pytest.approx(found.rigid_torque, rel=2e-3)
    rigid = supple.RigidDelta(STIFF).inverse_dynamics(*SLOW(found.t))
    assert found.rigid_torque == pytest.approx(rigid, rel=1e-9)  # of `along.CLOSE`


def test_rotors_take_their_part() -> None:
    geared = STIFF.with_({"motor.rotor_inertia": 0.02, "motor.damping": 0.3, "motor.friction": 0.1})
    path = supple.InvertedU()
    found = supple.follow(geared, path, elements=1, step=4e-3)
    rigid = supple.RigidDelta(geared).inverse_dynamics(*path(found.t))
    assert found.rigid_torque == pytest.approx(rigid, rel=1e-9, abs=1e-9 * np.abs(rigid).max())


def test_sprung_motors_carry_the_same_torques() -> None:
    """A spring in series carries what the motor gives, and lets the platform sag further."""
    sprung = STIFF.with_("motor.stiffness", 5e3)
    found, clamped = (
        supple.follow(robot, SLOW, elements=1, step=0.2, scheme=generalised_alpha(0.0))
        for robot in (sprung, STIFF)
    )
    assert found.torque.shape == clamped.torque.shape
    assert found.rigid_torque == pytest.approx(clamped.rigid_torque, rel=1e-9)
    assert found.torque == pytest.approx(clamped.torque, rel=5e-3)
    assert found.moved[0, 2] > 1.5 * clamped.moved[0, 2]


def test_beyond_the_small_range_it_warns() -> None:
    robot = supple.load("kuo-delta")
    with pytest.warns(supple.SmallRangeWarning, match="the linear model is off"):
        found = supple.follow(robot, supple.InvertedU(), elements=1, step=4e-3)
    assert not found.small


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"step": -1.0}, "step is -1"),
        ({"start": "warm"}, "start is 'warm'"),
        ({"start": "periodic"}, "does not repeat"),
        ({"periods": 0}, "periods is 0"),
        ({"damping": -0.1}, "damping is -0.1"),
        ({"elements": 0}, "elements"),
    ],
)
def test_bad_input_is_a_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.follow(STIFF, supple.InvertedU(), **options)


def test_a_path_out_of_reach_is_a_sentence() -> None:
    far = supple.PointToPoint((0.0, 0.0, 0.5), (0.0, 0.0, 1.3), 1.0)
    with pytest.raises(supple.SuppleError, match="out of reach"):
        supple.follow(STIFF, far, elements=1, step=0.01)


def test_serial_arms_follow_joint_paths() -> None:
    """One link swung in its plane, at small bends, as the quasi-static beam has it.

    Clamped-free beam under root acceleration: the tip lags by alpha m L^5 11/120 EI.
    """
    link = {
        "name": "arm",
        "length": 1.0,
        "mass_per_length": 1.0,
        "bending_stiffness": 1e4,
        "polar_inertia_per_length": 0.0,
    }
    robot = supple.SerialRobot(name="arm", links=[link])
    found = supple.follow(
        robot, supple.PointToPoint((0.0,), (1.0,), 4.0), elements=2, step=1e-2,
        scheme=generalised_alpha(0.0),
    )  # fmt: skip
    theta, _, alpha = found.path(found.t)
    lag = -alpha[:, 0] * 11 / 120 / 1e4
    across = -np.sin(theta[:, 0]) * found.moved[:, 0] + np.cos(theta[:, 0]) * found.moved[:, 1]
    assert across == pytest.approx(lag, abs=2e-3 * np.abs(lag).max())
    assert found.torque[:, 0] == pytest.approx(alpha[:, 0] / 3, abs=2e-3 * np.abs(alpha).max())


SLIDER = supple.load("theodore-rrp")
REACH = supple.PointToPoint((0.0, 0.0, 0.3), (0.5, -0.3, 0.8), 0.5)


def test_an_arm_with_a_slide_goes_through_its_model() -> None:
    found = supple.follow(SLIDER, REACH, elements=1, step=5e-3, damping=0.01)
    model = supple.build(SLIDER, supple.FiniteElements(1), stiffening=True, damping=0.01)
    again = supple.follow(model, REACH, step=5e-3)
    assert np.array_equal(found.y, again.y)
    assert found.small
    turn = found.deflection("link3", 0.5)[:, 5]
    both = (found.deflection("link3", 0.5 + s)[:, 1] for s in (0.01, -0.01))
    slope = np.subtract(*both) / (0.02 * found.wanted[:, 2])
    assert turn == pytest.approx(slope, abs=1e-3 * np.abs(slope).max())
    drawn = path_fields(found, samples=20, points=3)
    moved = (drawn.R[:, -1] @ drawn.motion[:, -1, -1, :3, None])[..., 0]
    rows = np.searchsorted(found.t, drawn.t - 1e-9)
    assert moved == pytest.approx(found.moved[rows, :3], abs=1e-3 * np.abs(moved).max())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"damping": supple.Rayleigh(0.02)}, "link3 slides: give its damping as a ratio"),
        ({"loads": supple.Loads(gravity=False)}, "loads cannot be switched"),
    ],
)
def test_what_a_slide_does_not_take_is_a_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.follow(SLIDER, REACH, **options)


def test_a_model_is_followed_as_it_was_built() -> None:
    model = supple.build(SLIDER, supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match="build the Model with it"):
        supple.follow(model, REACH, damping=0.01)
    with pytest.raises(supple.SuppleError, match="2 coordinates: theodore-rrp needs 3"):
        supple.follow(model, supple.PointToPoint((0.0, 0.0), (1.0, 1.0), 1.0))
    with pytest.raises(supple.SuppleError, match=r"free length of link3 is 1\.5"):
        supple.follow(model, supple.PointToPoint((0.0, 0.0, 0.3), (0.0, 0.0, 1.5), 1.0))


def test_workspace_map() -> None:
    robot = supple.load("kuo-delta")
    found = supple.workspace(robot, (-0.2, 0.2), (-0.2, 0.2), (0.4, 1.2), points=5)
    assert found.omega.shape == (5, 5, 5, 1)
    assert found.reachable[:, :, 0].all()
    assert not found.reachable[:, :, -1].any()
    place, omega = found.lowest
    assert supple.modes(robot, position=place, count=1).omega[0] == pytest.approx(omega, rel=1e-12)
    assert found.share_below(omega * 0.999) == 0
    assert found.share_below(1e9) == 1
    own = supple.modes(robot, position=found.points().reshape(-1, 3), count=1).omega[:, 0]
    own = own[np.isfinite(own)]
    for bound in np.quantile(own, [0.2, 0.7]):
        assert found.share_below(bound) == np.count_nonzero(own < bound) / len(own)
        assert len(found.below(bound)) == np.count_nonzero(own < bound)


def test_workspace_of_a_serial_arm() -> None:
    """Joint 1 turns the whole arm: nothing changes with it; the map is what modes says."""
    robot = supple.load("industrial-3")
    found = supple.workspace(robot, joints=[(0.0, 1.0), (-1.5, 1.5), 0.3], points=5)
    assert found.omega.shape == (5, 5, 1, 1)
    assert np.ptp(found.omega, axis=0).max() < 1e-9 * found.omega.max()
    place, omega = found.lowest
    assert supple.modes(robot, theta=place, count=1).omega[0] == pytest.approx(omega, rel=1e-12)
    assert found.highest[1] >= omega
    assert found.share_below(found.highest[1] * 1.001) == 1
    slider = supple.workspace(supple.load("theodore-rrp"), joints=[0, 0, (0.3, 1.3)], points=4)
    assert (np.diff(slider.omega[0, 0, :, 0]) < 0).all()  # the longer, the lower
    assert list(supple.workspace(slider.robot, points=2).axes) == ["link1", "link2", "link3"]


def test_answers_are_stored(tmp_path) -> None:
    import xarray

    found = supple.follow(STIFF, supple.InvertedU(), elements=1, dt=4e-3, after=0.1)
    found.save(tmp_path / "path.nc")
    with xarray.open_dataset(tmp_path / "path.nc") as data:
        assert data.displacement.values == pytest.approx(found.moved[:, :3], abs=0)
        assert data.residual.values == pytest.approx(found.residual(), abs=0)
        assert data.end_deflection.sel(link="upper1", motion="z").shape == found.t.shape
        assert data.attrs["small"] == 1
    frame = found.to_pandas()
    assert frame["torque.2"].to_numpy() == pytest.approx(found.torque[:, 1], abs=0)
    grid = supple.workspace(supple.load("kuo-delta"), points=3)
    assert grid.to_xarray().omega.sel(x=0.0, y=0.0).values == pytest.approx(grid.omega[1, 1])
    grid.save(tmp_path / "map.nc")
    with pytest.raises(supple.SuppleError, match=r"must end in \.nc"):
        grid.save(tmp_path / "map.csv")


def test_pictures(tmp_path) -> None:
    found = supple.follow(STIFF, supple.InvertedU(), elements=1, dt=4e-3, after=0.1)
    figure = found.plot(tmp_path / "path.png")
    for curve in found.moved.T:
        assert shows(figure, curve)
    grid = supple.workspace(supple.load("kuo-delta"), points=5)
    drawn = grid.plot(tmp_path / "map.png", bound=20.0)
    # colours reach from the lowest to the highest frequency of the heights drawn
    heights = [float(ax.get_title().split()[2]) for ax in drawn.axes[:-1]]
    nearest = [int(np.argmin(abs(grid.z - z))) for z in heights]
    values = grid.omega[:, :, nearest, 0] / (2 * np.pi)
    low, high = drawn.axes[-1].get_ylim()
    assert low <= np.nanmin(values) < np.nanmax(values) <= high
    arm = supple.workspace(supple.load("industrial-3"), points=7)
    arm.plot(tmp_path / "arm.png", bound=35.0)
    supple.workspace(arm.robot, joints=[0, (0, 1), 0], points=7).plot(tmp_path / "line.png")
    for name in ("path", "map", "arm", "line"):
        assert plt.imread(tmp_path / f"{name}.png").std() > 0  # not one colour alone


def test_a_path_of_a_deltas_model_is_drawn_as_that_of_the_delta() -> None:
    """Roots where the motors lead them, the platform as far off its path as the answer says."""
    robot = supple.load("kuo-delta").with_("gravity", [0, 0, 1.0])
    path = supple.PointToPoint((0.0, 0.0, 0.5), (0.05, 0.02, 0.55), 1.0)
    runs = [
        supple.follow(each, path, dt=0.5, **more)
        for each, more in (
            (robot, {"elements": 1}),
            (supple.build(robot, supple.AssumedModes(1)), {}),
        )
    ]
    want, found = (path_fields(run, 3) for run in runs)
    assert found.names == want.names
    np.testing.assert_allclose(found.p, want.p, atol=1e-12)
    np.testing.assert_allclose(found.R, want.R, atol=1e-12)
    moved = runs[1].moved[:, :3]
    np.testing.assert_allclose(found.motion[:, -1, 0, :3], moved, atol=2 * np.abs(moved).max() ** 2)
