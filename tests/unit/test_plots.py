"""Figures: drawn, labelled with units, saved, and never blocking."""

import matplotlib as mpl
import numpy as np
import pytest

import supple

ARM = supple.load("industrial-3")


@pytest.fixture(autouse=True)
def _agg():
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.mark.parametrize("planar", [True, False])
def test_mode_grid(tmp_path, planar):
    found = supple.modes(ARM.with_("planar", planar), [0, 0.8, 0.8], count=7)
    figure = found.plot(tmp_path / "modes.png")
    titles = [ax.get_title() for ax in figure.axes]
    assert len(titles) == 7
    assert titles[0].startswith(f"mode 1: {found.frequency_hz[0]:.4g} Hz")
    assert "certified" in figure.get_suptitle()
    assert (tmp_path / "modes.png").stat().st_size > 10_000


def test_frequencies_along_a_joint(tmp_path):
    theta = np.zeros((31, 3))
    theta[:, 1] = np.linspace(0, 3, 31)
    figure = supple.modes(ARM, theta, count=5).plot(tmp_path / "f.svg")
    (ax,) = figure.axes
    assert ax.get_xlabel() == "joint of link2 (°)"
    assert ax.get_ylabel() == "natural frequency (Hz)"
    assert len(ax.lines) == 5


def test_sag(tmp_path):
    robot = ARM.with_({"planar": False, "gravity": [0, 0, -9.81]})
    figure = supple.statics(robot, [0, 0.8, 0.8]).plot(tmp_path / "sag.pdf")
    assert "mm" in figure.axes[0].get_title()


def test_delta_grid(tmp_path):
    """Base and platform are drawn, and z points down as the robot's does."""
    found = supple.modes(supple.load("kuo-delta"), position=[0.1, 0, 0.5], count=3)
    figure = found.plot(tmp_path / "delta.png")
    assert len(figure.axes) == 3
    for ax in figure.axes:
        assert len(ax.collections) == 2
        assert ax.zaxis_inverted()
    assert "platform at (0.1, 0, 0.5) m" in figure.get_suptitle()


def test_a_sliding_joint_is_told_in_metres(tmp_path):
    found = supple.modes(supple.load("theodore-rrp"), [0.3, 0.8, 1.0], count=2)
    assert "45.84°, 1 m" in found.plot(tmp_path / "rrp.png").get_suptitle()


def test_unknown_ending_and_unwritable_place(tmp_path):
    found = supple.modes(ARM, [0, 0, 0], count=2)
    with pytest.raises(supple.SuppleError, match=r"\.png"):
        found.plot(tmp_path / "modes.xyz")
    with pytest.raises(supple.SuppleError, match="cannot write"):
        found.plot(tmp_path / "absent" / "modes.png")


def test_delta_to_xarray():
    data = supple.modes(supple.load("kuo-delta"), position=[[0, 0, 0.5]] * 2, count=2).to_xarray()
    assert data.position.dims == ("configuration", "axis")
    assert list(data.joint.values) == ["motor1", "motor2", "motor3"]


def test_to_xarray():
    data = supple.modes(ARM, np.zeros((4, 3)), count=3).to_xarray()
    assert data.frequency_hz.dims == ("configuration", "mode")
    assert data.attrs["certified"] == 1
    assert list(data.joint.values) == ["link1", "link2", "link3"]
