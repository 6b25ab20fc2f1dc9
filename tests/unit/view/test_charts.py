"""Charts: labelled with units, right numbers, bad input in a sentence."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import supple
from supple.view.figures.charts import plot_bode, plot_map, plot_root_locus, plot_time

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def grid(robot, n=9):
    a, b = np.meshgrid(np.linspace(-2, 2, n), np.linspace(-1, 1, n + 2))
    return supple.modes(robot, np.stack([0 * a, a, b], axis=-1).reshape(-1, 3), count=3)


def test_map_of_an_arm(tmp_path: Path) -> None:
    many = grid(supple.load("industrial-3"))
    figure = plot_map(many, 2, tmp_path / "map.png")
    ax = figure.axes[0]
    assert ax.get_xlabel() == "joint of link2 (deg)"
    assert ax.get_ylabel() == "joint of link3 (deg)"
    drawn = ax.collections[0].get_array()
    assert drawn.max() == pytest.approx(many.frequency_hz[:, 1].max())
    assert f"{many.frequency_hz[:, 1].min():.4g} Hz" in ax.get_title()


def test_map_of_a_delta_and_poses_in_any_order(tmp_path: Path) -> None:
    x, y = np.meshgrid(np.linspace(-0.2, 0.2, 5), np.linspace(-0.2, 0.2, 5))
    at = np.stack([x, y, 0 * x + 0.5], axis=-1).reshape(-1, 3)
    order = np.random.default_rng(1).permutation(len(at))
    robot = supple.load("kuo-delta")
    first = plot_map(supple.modes(robot, position=at, count=2))
    mixed = plot_map(supple.modes(robot, position=at[order], count=2))
    a, b = (figure.axes[0].collections[0].get_array() for figure in (first, mixed))
    np.testing.assert_allclose(a, b, rtol=1e-9)
    assert first.axes[0].get_xlabel() == "platform x (m)"


def test_map_needs_a_grid_and_a_mode() -> None:
    many = grid(supple.load("industrial-3"), 3)
    with pytest.raises(supple.SuppleError, match="there are 3"):
        plot_map(many, 4)
    with pytest.raises(supple.SuppleError, match="grid of poses"):
        plot_map(many.at(0))
    line = np.stack([0 * np.arange(5.0), np.arange(5.0) / 5, 0 * np.arange(5.0)], axis=-1)
    with pytest.raises(supple.SuppleError, match="exactly two coordinates"):
        plot_map(supple.modes(many.robot, line, count=1))


def test_time_panels(tmp_path: Path) -> None:
    t = np.linspace(0, 1, 50)
    panels = {"joints (rad)": {"link1": np.sin(t), "link2": np.cos(t)}, "torque (N m)": {"1": t}}
    figure = plot_time(t, panels, tmp_path / "time.pdf", "a run")
    assert [ax.get_ylabel() for ax in figure.axes] == list(panels)
    assert figure.axes[-1].get_xlabel() == "time (s)"
    with pytest.raises(supple.SuppleError, match="values for"):
        plot_time(t, {"x (m)": {"a": t[1:]}})
    with pytest.raises(supple.SuppleError, match="no panel"):
        plot_time(t, {})


def test_root_locus_follows_its_roots(tmp_path: Path) -> None:
    """An oscillator whose damping grows: roots -zeta w +- i w sqrt(1 - zeta^2), never mixed up."""
    ratios = np.linspace(0.02, 0.3, 20)
    omega = np.array([3.0, 11.0])
    roots = [
        np.concatenate([w * (-z + s * 1j * np.sqrt(1 - z * z)) for s in (1, -1)])
        for z, w in ((z, omega) for z in ratios)
    ]
    mixed = [np.random.default_rng(k).permutation(row) for k, row in enumerate(roots)]
    figure = plot_root_locus(mixed, ratios, "damping ratio", tmp_path / "locus.svg")
    ax = figure.axes[0]
    tracks = [line for line in ax.lines if len(line.get_xdata()) == 20]
    for line in tracks:
        radius = np.hypot(line.get_xdata(), line.get_ydata())
        np.testing.assert_allclose(radius, radius[0])
    assert ax.get_xlabel() == "real part (1/s)"
    with pytest.raises(supple.SuppleError, match="one for each"):
        plot_root_locus(mixed, ratios[1:])


def test_bode_of_an_oscillator(tmp_path: Path) -> None:
    omega = np.geomspace(0.1, 100, 400)
    response = 1 / (25 - omega**2 + 0.2j * omega)
    figure = plot_bode(omega, {"tip": response}, tmp_path / "bode.png", "m/N")
    magnitude, phase = (ax.lines[0] for ax in figure.axes)
    peak = magnitude.get_xdata()[np.argmax(magnitude.get_ydata())]
    assert 2 * np.pi * peak == pytest.approx(5, rel=0.02)
    assert phase.get_ydata()[-1] == pytest.approx(-180, abs=1)
    assert figure.axes[0].get_ylabel() == "magnitude (m/N)"
    with pytest.raises(supple.SuppleError, match="frequencies"):
        plot_bode(omega, {"tip": response[1:]})


def test_three_roots_are_not_a_colour(tmp_path: Path) -> None:
    """One row of three was taken for red, green and blue."""
    plot_root_locus([-1 + 2j, -1 - 2j, -5], path=tmp_path / "r.svg")


def test_phase_ticks_are_round_turns(tmp_path: Path) -> None:
    omega = np.geomspace(1, 1e4, 500)
    lag = np.exp(-0.01j * omega)  # a delay: sixteen turns
    figure = plot_bode(omega, {"delay": lag}, path=tmp_path / "b.svg")
    ticks = figure.axes[1].get_yticks()
    assert len(ticks) <= 8
    assert set(np.asarray(ticks) % 360) == {0.0}
    assert 0 in ticks


def test_nothing_to_draw_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(supple.SuppleError, match="panel 'tip \\(m\\)' has no curve"):
        plot_time([0, 1], {"tip (m)": {}}, path=tmp_path / "t.svg")
    with pytest.raises(supple.SuppleError, match="every response is zero"):
        plot_bode([1, 2], {"x": [0, 0]}, path=tmp_path / "b.svg")
