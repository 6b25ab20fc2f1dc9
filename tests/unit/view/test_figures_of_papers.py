"""Each figure of the four papers by one call: panels, curves and labels hold what they say."""

import matplotlib as mpl
import numpy as np
import pytest

import supple


@pytest.fixture(autouse=True)
def _agg():
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def run():
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    move = supple.PointToPoint((0, 0), (0.2, 0.1), 0.3)
    return supple.simulate(model, controller=supple.JointPD(20, 4), trajectory=move, duration=0.3)


@pytest.fixture(scope="module")
def followed():
    path = supple.PointToPoint((0, 0, 0), (0.02, 0.01, 0), 0.2)
    return supple.follow(supple.load("industrial-3"), path, elements=1)


def test_a_robot_is_drawn_where_forward_kinematics_puts_it(tmp_path):
    robot = supple.load("industrial-3")
    theta = np.array([[0.1, 0.5, -0.3], [0.0, -0.7, 1.1]])
    figure = robot.plot(theta, tmp_path / "arm.png")
    tips = supple.forward(robot, theta).position
    for ax, tip in zip(figure.axes, tips, strict=True):
        points = np.concatenate([line.get_xydata() for line in ax.lines])
        assert np.abs(points - tip[:2]).sum(axis=1).min() < 1e-12
        assert {text.get_text().strip() for text in ax.texts} == {"link1", "link2", "link3"}


@pytest.mark.parametrize("name", ["kuo-delta", "theodore-rrp", "five-bar", "hexapod", "two-arms"])
def test_every_family_is_drawn(name):
    assert supple.load(name).plot().get_suptitle() == name


def test_bad_poses_and_kinds_are_refused_in_a_sentence(run):
    with pytest.raises(supple.SuppleError, match="at most 12"):
        supple.load("industrial-3").plot(np.zeros((13, 3)))
    with pytest.raises(supple.SuppleError, match="out of reach"):
        supple.load("kuo-delta").plot(position=[3, 0, 0])
    with pytest.raises(supple.SuppleError, match="what is 'shape'"):
        run.model.plot("shape")
    with pytest.raises(supple.SuppleError, match="what is 'speed'"):
        run.plot(what="speed")


def test_shapes_of_the_links_are_those_of_the_model(run, tmp_path):
    figure = run.model.plot("shapes", tmp_path / "shapes.png")
    link = run.model.chain.links[1]
    drawn = figure.axes[1].lines[1].get_ydata()
    assert drawn[-1] * link.inv.length == pytest.approx(link.inv.N_end[1, 1], rel=1e-9)


def test_one_panel_per_coordinate(run):
    for what, values in (("coordinates", run.q), ("speeds", run.qd)):
        figure = run.plot(what=what)
        assert len(figure.axes) == run.model.size
        drawn = {ax.get_ylabel().split(" ")[0]: ax.lines[0].get_ydata() for ax in figure.axes}
        for k, name in enumerate(run.model.coordinates):
            assert np.array_equal(drawn[name], values[:, k])


def test_wanted_and_reached_stand_together(run):
    joint = run.plot(what="joints").axes[0]
    assert [line.get_label() for line in joint.lines] == ["wanted", "reached"]
    assert np.array_equal(joint.lines[0].get_ydata(), run.reference[:, 0])
    wanted, reached, _ = run.plot(what="path").axes[0].lines
    place = supple.forward(run.model.robot, run.reference).position
    assert np.allclose(wanted.get_xydata(), place[:, :2])
    assert np.allclose(reached.get_xydata(), run.tip[:, :2])


def test_deflections_tip_and_efforts(run):
    bent = run.plot(what="deflections", fraction=0.5)
    middle = 1e3 * run.deflection("link2", 0.5)[:, 1]
    assert any(np.array_equal(ax.lines[0].get_ydata(), middle) for ax in bent.axes)
    assert len(run.plot(what="tip").axes) == 2
    assert np.array_equal(run.plot(what="efforts").axes[1].lines[0].get_ydata(), run.tau[:, 1])


@pytest.mark.parametrize("what", ["deflections", "path", "efforts", "variations"])
def test_figures_along_a_path(followed, what, tmp_path):
    figure = followed.plot(tmp_path / "f.png", what=what)
    if what == "variations":
        assert [ax.get_ylabel() for ax in figure.axes] == ["x (mm)", "y (mm)", "about z (deg)"]
        assert np.allclose(figure.axes[1].lines[0].get_ydata(), 1e3 * followed.moved[:, 1])
    if what == "efforts":
        assert np.array_equal(figure.axes[0].lines[1].get_ydata(), followed.rigid_torque[:, 0])
    if what == "path":
        assert np.allclose(figure.axes[0].lines[1].get_xydata(), followed.tip[:, :2])
    if what == "deflections":
        assert [ax.get_ylabel() for ax in figure.axes] == ["stretch (µm)", "bending along y (mm)"]


def test_frequencies_over_an_angle_have_a_linear_axis():
    theta = np.outer(np.linspace(0, 1, 5), [0, 1, 0])
    found = supple.modes(supple.load("industrial-3"), theta, count=3)
    assert found.plot().axes[0].get_yscale() == "linear"
    assert found.plot(log=True).axes[0].get_yscale() == "log"
