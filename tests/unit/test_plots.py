"""Figures: drawn, labelled with units, saved, and never blocking."""

import time

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
    assert [title.split()[1] for title in titles] == [f"{k}:" for k in range(1, 8)]
    moved = [np.concatenate([line.get_xydata()[:, :2].ravel() for line in ax.lines])
             for ax in figure.axes]  # fmt: skip
    assert all(np.isfinite(m).all() for m in moved)
    assert np.ptp([np.abs(m).sum() for m in moved]) > 0  # seven different shapes


def test_frequencies_along_a_joint(tmp_path):
    theta = np.zeros((31, 3))
    theta[:, 1] = np.linspace(0, 3, 31)
    figure = supple.modes(ARM, theta, count=5).plot(tmp_path / "f.svg")
    (ax,) = figure.axes
    assert ax.get_xlabel() == "joint of link2 (°)"
    assert ax.get_ylabel() == "natural frequency (Hz)"
    assert len(ax.lines) == 5


def test_frequencies_along_a_quantity_of_ones_own(tmp_path):
    found = supple.modes(ARM, np.outer(np.linspace(0, 1, 7), [0, 1, 0]), count=3)
    reach = np.linspace(4.5, 3.9, 7)
    (ax,) = found.plot(tmp_path / "reach.png", x=reach, label="reach (m)").axes
    assert ax.get_xlabel() == "reach (m)"
    assert all(np.array_equal(line.get_xdata(), reach) for line in ax.lines)
    assert np.array_equal(ax.lines[2].get_ydata(), found.frequency_hz[:, 2])
    with pytest.raises(supple.SuppleError, match=r"x is .*give 7 finite numbers"):
        found.plot(tmp_path / "reach.png", x=reach[1:])
    with pytest.raises(supple.SuppleError, match="along many configurations"):
        supple.modes(ARM, [0, 0, 0], count=3).plot(x=[1.0])


def test_an_unknown_option_is_told_in_a_sentence():
    with pytest.raises(supple.SuppleError, match="takes no 'colour': it takes path, points, x"):
        supple.modes(ARM, [0, 0, 0], count=2).plot(colour="red")


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
    assert list(data.joint.values) == ["upper1", "upper2", "upper3"]


def test_to_xarray():
    data = supple.modes(ARM, np.zeros((4, 3)), count=3).to_xarray()
    assert data.frequency_hz.dims == ("configuration", "mode")
    assert data.attrs["certified"] == 1
    assert list(data.joint.values) == ["link1", "link2", "link3"]


LONG = """
supple: 1
name: Gelenkarm für sehr große Lasten, überarbeitete Ausführung B mit verlängertem Ausleger
architecture: serial
planar: true
gravity: [0, -9.81, 0]
links:
  - {name: Oberarm-mit-einem-wirklich-sehr-langen-Namen, joint: {}, length: 1.0e-4,
     material: &m {young_modulus: 160e9, poisson_ratio: 0.22, density: 2330},
     section: &s {shape: rectangle, depth: 1.0e-6, width: 5.0e-6}}
  - {name: b, joint: {}, length: 1.0e-4, section: *s, material: *m}
"""


def cut_off(path):
    """Whether ink reaches the left or right edge of a picture."""
    import matplotlib.image

    picture = matplotlib.image.imread(path)[..., :3]
    return bool((picture[:, :2] < 0.95).any() or (picture[:, -2:] < 0.95).any())


def test_long_names_stay_inside_and_small_arms_have_small_units(tmp_path):
    """Headings ran out of the figure, and ticks of 0.00005 m over one another."""
    robot = supple.loads(LONG)
    sweep = np.column_stack([np.zeros(3), np.linspace(0, 1, 3)])
    (ax,) = supple.modes(robot, [0, 1.0], count=1).plot(tmp_path / "one.png").axes
    supple.modes(robot, [0, 1.0], count=6).plot(tmp_path / "six.png")
    supple.modes(robot, sweep, count=2).plot(tmp_path / "sweep.png")
    supple.statics(robot, [0, 1.0]).plot(tmp_path / "sag.png")
    supple.workspace(robot, points=4).plot(tmp_path / "map.png", bound=1e5)
    assert [path.stem for path in tmp_path.iterdir() if cut_off(path)] == []
    assert ax.get_xlabel() == "x (µm)"
    assert "60" in [label.get_text() for label in ax.get_xticklabels()]


def test_one_pose_of_a_batch_is_drawn(tmp_path):
    """A batch of one pose has nothing that runs: it was an IndexError."""
    (ax,) = supple.modes(ARM, np.zeros((1, 3)), count=3).plot(tmp_path / "f.png").axes
    assert [line.get_marker() for line in ax.lines] == ["o"] * 3
    assert supple.modes(ARM, np.zeros((1, 3)), count=3).save_page(tmp_path / "f.html").exists()


def test_saved_figures_are_let_go(tmp_path):
    """More than twenty open ones make Matplotlib warn, which is an error here."""
    import matplotlib.pyplot as plt

    found = supple.modes(ARM, np.zeros((2, 3)), count=1)
    for k in range(25):
        found.plot(tmp_path / f"{k % 2}.svg")
    assert plt.get_fignums() == []


def test_a_map_that_is_the_same_everywhere(tmp_path):
    robot = supple.load("theodore-rrp")
    flat = supple.workspace(robot, joints=[(-1, 1), (-1, 1), 0.7], points=4)
    figure = flat.plot(tmp_path / "flat.png")
    ticks = [label.get_text() for label in figure.axes[-1].get_yticklabels()]
    assert len(set(ticks)) == len(ticks)
    (ax,) = supple.workspace(robot, joints=[0, 0, 0.7], points=4).plot(tmp_path / "one.png").axes
    assert ax.lines[0].get_marker() == "o"


def test_a_map_over_a_decade_has_colours_in_equal_ratios(tmp_path):
    from matplotlib.colors import LogNorm

    found = supple.workspace(supple.load("theodore-rrp"), points=4)
    figure = found.plot(tmp_path / "wide.png")
    assert isinstance(figure.axes[0].collections[0].norm, LogNorm)


def test_a_motion_without_joints_has_no_empty_panels() -> None:
    robot = supple.load("di-castri-two-link")
    still = robot.with_({f"links.{link.name}.joint": {"type": "fixed"} for link in robot.links})
    run = supple.simulate(supple.build(still, supple.AssumedModes(1)), duration=0.01)
    figure = run.plot()
    assert not any("joints" in ax.get_ylabel() or "effort" in ax.get_ylabel() for ax in figure.axes)
    assert len(figure.axes) == 4


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_the_same_picture_has_the_same_bytes(ending, tmp_path):
    """They held the time of day, and in .svg names drawn at random."""
    found = supple.modes(ARM, [0.1, 0.2, 0.3], count=2)
    written = []
    for k in range(2):
        found.plot(tmp_path / f"{k}.{ending}")
        written.append((tmp_path / f"{k}.{ending}").read_bytes())
        time.sleep(1.1 * (k == 0))  # dates are told to the second
    assert written[0] == written[1]


def test_every_link_of_a_mechanism_has_its_panel(tmp_path):
    """Links of one part share a panel, as a Delta's; those of a five-bar are four parts."""
    model = supple.build(supple.load("five-bar"), supple.AssumedModes(1))
    figure = supple.simulate(model, tau=[0, 0], duration=2e-3, dt=1e-3).plot(tmp_path / "run.png")
    names = [ax.get_ylabel().partition(",")[0] for ax in figure.axes[:4]]
    assert names == ["left", "left2", "right", "right2"]
    assert len(figure.axes) == 8


@pytest.mark.parametrize("kind", ["bode", "nyquist", "step"])
def test_a_linear_model_is_drawn_with_its_own_numbers(kind, tmp_path):
    """Curves are those of transfer and step; paths on which nothing happens are left out."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1), damping=0.02)
    lin = supple.linearize(model, outputs=["tip"], controller=supple.JointPD(60, 6))
    f = np.array([0.1, 0.5, 2.0, 7.0])
    figure = lin.plot(tmp_path / "a.png", kind=kind, frequency_hz=f)
    ax = figure.axes[0]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["tip.y / reference.link1", "tip.y / reference.link2"]
    x, y = (np.asarray(part) for part in ax.lines[0].get_data())
    if kind == "step":
        np.testing.assert_allclose(y, lin.step(x)[:, 1, 0], rtol=1e-9, atol=1e-12)
        return
    G = lin.transfer(2j * np.pi * f)[:, 1, 0]
    np.testing.assert_allclose(y, np.abs(G) if kind == "bode" else G.imag, rtol=1e-12)
    with pytest.raises(supple.SuppleError, match="bode, nyquist or step"):
        lin.plot(tmp_path / "b.png", kind="root locus")
