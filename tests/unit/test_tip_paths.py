"""Paths and maps of the tip: of mechanisms and arms with as many motors as it has coordinates."""

import numpy as np
import pytest

import supple

FIVE = supple.load("five-bar")
PATH = supple.PointToPoint([0.0, 0.35], [0.2, 0.4], 0.5)


def test_the_tip_is_on_the_path_and_rates_are_derivatives() -> None:
    led = supple.PlatformPath(FIVE, PATH)
    t = np.linspace(0, 0.5, 101)
    tip = supple.forward(FIVE, led(t)[0]).position
    np.testing.assert_allclose(tip[:, :2], PATH(t)[0], atol=1e-12)
    inside = np.linspace(0.02, 0.48, 15)
    h = 1e-5
    before, here, after = (led(inside + s * h) for s in (-1, 0, 1))
    for k in (0, 1):  # differences are right to h^2 and rounding / h
        slope = (after[k] - before[k]) / (2 * h)
        np.testing.assert_allclose(slope, here[k + 1], atol=1e-7 * np.abs(here[k + 1]).max())


def test_of_a_delta_and_of_its_mechanism_they_are_one() -> None:
    robot = supple.load("kuo-delta")
    path = supple.InvertedU()
    t = np.linspace(0, path.duration, 21)
    one, two = (supple.PlatformPath(r, path)(t) for r in (robot, supple.as_mechanism(robot)))
    for closed, solved in zip(one, two, strict=True):
        np.testing.assert_allclose(solved, closed, atol=1e-10 * np.abs(closed).max())


def test_of_an_arm_they_are_its_inverse() -> None:
    arm = supple.load("de-luca-two-link")
    ends = supple.forward(arm, [[0.3, 0.8], [0.5, 1.0]]).position[:, :2]
    path = supple.PointToPoint(*ends, 1.0)
    t = np.linspace(0, 1, 21)
    tip = supple.forward(arm, supple.PlatformPath(arm, path)(t)[0]).position
    np.testing.assert_allclose(tip[:, :2], path(t)[0], atol=1e-12)


def test_motions_follow_them() -> None:
    model = supple.build(FIVE, supple.AssumedModes(1))
    run = supple.simulate(model, controller=supple.Decoupling(2500, 100), path=PATH)
    bent = supple.statics(FIVE, supple.PlatformPath(FIVE, PATH)(0.5)[0]).tip_displacement
    # it arrives but for its sag, about which it still rings by a part of that
    assert np.linalg.norm(run.tip[-1, :2] - PATH(0.5)[0]) < 2 * np.linalg.norm(bent)
    found = supple.follow(FIVE, supple.PlatformPath(FIVE, PATH), dt=0.01)
    rigid = found.tip - found.moved[:, :3]
    np.testing.assert_allclose(rigid[:, :2], PATH(found.t)[0], atol=1e-9)


@pytest.mark.parametrize(
    ("robot", "path", "sentence"),
    [
        ("four-bar", PATH, "four-bar has 1 motor for 2 coordinates of its tip"),
        ("five-bar", supple.InvertedU(), "path must be a Trajectory of x, y, such as"),
        ("five-bar", supple.PointToPoint([0, 0.35], [2.0, 0.4], 0.5), "leaves what five-bar can"),
        ("five-bar", supple.PointToPoint([5, 0.35], [0, 0.4], 0.5), "path begins at .* elsewhere"),
        ("kuo-delta", PATH, "path must be a Trajectory of x, y, z"),
    ],
)
def test_what_cannot_be_led_is_told(robot: str, path: supple.Trajectory, sentence: str) -> None:
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.PlatformPath(supple.load(robot), path)


def test_maps_of_a_mechanism_over_its_tip(tmp_path) -> None:
    found = supple.workspace(FIVE, x=(0.0, 0.2), y=(0.3, 0.9), points=5)
    assert found.omega.shape == (5, 5, 1, 1)
    assert 5 < found.reachable.sum() < 25
    for i, j in np.argwhere(found.reachable[..., 0]):
        alone = supple.modes(FIVE, position=[found.x[i], found.y[j]], count=1).omega[0]
        assert found.omega[i, j, 0, 0] == alone
    assert [c.name for c in found.coordinates] == ["tip x", "tip y", "tip z"]
    found.save_page(tmp_path / "map.html")
    assert "tip x" in (tmp_path / "map.html").read_text(encoding="utf-8")
    with pytest.raises(supple.SuppleError, match="y of five-bar is missing"):
        supple.workspace(FIVE, x=0.1)
    with pytest.raises(supple.SuppleError, match="is over x, y and z, not joints"):
        supple.workspace(FIVE, x=0.1, y=0.3, joints=[0, 1])


def test_a_tree_is_asked_by_the_place_of_its_tip() -> None:
    """An open tree has no closure to shut (it ended in an error of NumPy)."""
    tree = supple.as_mechanism(supple.load("de-luca-two-link"))
    place = supple.forward(tree, [0.3, 0.8]).position[:2]
    asked = supple.modes(tree, position=place, count=2)
    assert supple.forward(tree, position=place).position[:2] == pytest.approx(place, abs=1e-12)
    at = supple.modes(tree, asked.theta, count=2)
    np.testing.assert_allclose(asked.omega, at.omega, rtol=1e-12)
