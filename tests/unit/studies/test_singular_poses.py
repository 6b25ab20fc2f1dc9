"""A pose at a singular one is refused, one near it is answered with a warning; in batches too."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import supple
from supple.architectures.assembling import resolve
from supple.architectures.base import NEARLY_SINGULAR, SINGULAR
from supple.architectures.kinds import lower

ASKED = {
    "modes": supple.modes,
    "statics": supple.statics,
    "response": lambda robot, **pose: supple.response(robot, frequency_hz=[1.0], **pose),
    "elements": lambda robot, *at, **pose: supple.modes(robot, *at, method="elements", **pose),
}


def delta() -> supple.Robot:
    """Rods of 0.5 m lie in one plane where z is 0.5 sqrt(1 - 0.9^2) = 0.217945 m."""
    return supple.load("kuo-delta").with_("lower.length", 0.5)


def four_bar(driven: str) -> supple.Robot:
    """Crank 0.1, coupler 0.4, rocker 0.3 on a ground of 0.35 m, led by its crank or its rocker."""
    crank = math.radians(60)
    rocker = 0.0
    # closed by hand: the coupler's ends are crank's and rocker's, B and C, 0.4 m apart
    B = 0.1 * np.array([math.cos(crank), math.sin(crank)])
    d = np.array([0.35, 0.0]) - B
    reach = float(np.linalg.norm(d))
    along = (0.4**2 - 0.3**2 + reach**2) / (2 * reach)
    up = math.sqrt(0.4**2 - along**2)
    C = B + along * d / reach + up * np.array([-d[1], d[0]]) / reach
    coupler = math.atan2(C[1] - B[1], C[0] - B[0])
    rocker = math.atan2(C[1], C[0] - 0.35)
    bar = {"length": 0.1, "material": "steel", "section": "bar"}
    links = [
        {**bar, "name": "crank", "parent": "base", "joint": {"type": "revolute", "start": crank}},
        {
            **bar,
            "name": "coupler",
            "length": 0.4,
            "joint": {"type": "revolute", "passive": True, "start": coupler - crank},
        },
        {
            **bar,
            "name": "rocker",
            "length": 0.3,
            "parent": "base",
            "joint": {"type": "revolute", "mount": {"xyz": [0.35, 0, 0]}, "start": rocker},
        },
    ]
    for link in links:
        if link["name"] in {"crank", "rocker"} - {driven}:
            link["joint"]["passive"] = True
    return supple.MechanismRobot(
        name=f"four-bar by its {driven}",
        planar=True,
        materials={"steel": {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}},
        sections={"bar": {"shape": "rectangle", "depth": 8e-3, "width": 20e-3}},
        links=links,
        closures=[{"name": "pin", "ends": ["coupler", "rocker"], "type": "revolute"}],
        tip="coupler",
    )


def dead_point() -> float:
    """Angle of the rocker where crank and coupler are in line: |A C| = 0.5 m."""
    return math.pi - math.acos((0.35**2 + 0.3**2 - 0.5**2) / (2 * 0.35 * 0.3))


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("z", [0.2179, 0.21794494717703367, 0.218])
def test_a_delta_at_a_singular_pose_is_refused(ask, z):
    with pytest.raises(supple.SuppleError, match="singular"):
        ask(delta(), position=[0, 0, z])


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("z", [0.219, 0.22])
def test_a_delta_near_a_singular_pose_says_so(ask, z):
    with pytest.warns(supple.PoseWarning, match="near a singular pose"):
        ask(delta(), position=[0, 0, z])


def test_in_a_batch_a_singular_pose_is_nan_and_a_near_one_is_counted():
    poses = [[0, 0, 0.2179], [0, 0, 0.22], [0, 0, 0.4]]
    with pytest.warns(supple.PoseWarning, match="1 of 3 poses are"):
        many = supple.modes(delta(), position=poses)
    assert many.valid.tolist() == [False, True, True]
    assert np.isnan(many.omega[0]).all()
    assert "singular" in many.reason[0]
    alone = supple.modes(delta(), position=[0, 0, 0.4])
    assert np.array_equal(many.omega[2], alone.omega)


def test_the_first_frequency_of_a_delta_falls_with_its_clearance():
    """Motors locked, the rods hold the platform along their lengths: omega goes with clearance."""
    from supple.architectures.delta import singularity

    robot = delta()
    heights = np.array([0.2190, 0.2195, 0.2200])
    clear = singularity(robot, np.column_stack([0 * heights, 0 * heights, heights]))[1]
    with pytest.warns(supple.PoseWarning):
        omega = [supple.modes(robot, position=[0, 0, z], count=1).omega[0] for z in heights]
    assert np.diff(omega / clear) == pytest.approx(0, abs=NEARLY_SINGULAR * omega[0] / clear[0])


def test_a_four_bar_led_by_its_rocker_has_dead_points():
    """The rocker can turn to where crank and coupler are in line, and no farther."""
    robot = four_bar("rocker")
    at = dead_point()
    m = lower(robot)
    for off, word in ((1e-9, "singular"), (2e-7, "singular"), (1e-4, "near"), (0.1, "")):
        theta = [at + off]
        if word == "singular":
            with pytest.raises(supple.SuppleError, match="singular"):
                supple.modes(robot, theta)
            continue
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = supple.modes(robot, theta, count=2)
        assert [item.category for item in seen] == [supple.PoseWarning] * (word == "near")
        clear = m.clearance(resolve(lower(robot), theta)[0])[0]
        assert found.certified
        assert SINGULAR < clear < NEARLY_SINGULAR if word == "near" else clear > NEARLY_SINGULAR


def test_build_and_linearize_tell_of_singular_poses():
    robot = four_bar("rocker")
    at = dead_point()
    for off in (1e-9, 1e-6):
        with pytest.raises(supple.SuppleError, match="at its start: theta"):
            supple.build(robot.with_("links.rocker.joint.start", at + off), supple.AssumedModes(1))
    near = robot.with_("links.rocker.joint.start", at + 1e-3)
    with pytest.warns(supple.PoseWarning, match="near a singular pose"):
        model = supple.build(near, supple.AssumedModes(1))
    with pytest.warns(supple.PoseWarning, match="near a singular pose"):
        supple.linearize(model, [at + 1e-3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        supple.linearize(model, [at + 0.1])


def test_the_same_four_bar_led_by_its_crank_has_none_there():
    robot = four_bar("crank")
    many = supple.modes(robot, np.linspace(0, 2 * math.pi, 50)[:, None], count=1)
    assert many.valid.all()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_clearance_does_not_depend_on_units_of_length(scale):
    robot = supple.load("five-bar")
    m = lower(robot)
    changes = {f"links.{link.name}.length": scale * link.length for link in robot.links}
    changes["links.right.joint.mount.xyz"] = [0.2 * scale, 0, 0]
    other = lower(robot.with_(changes))
    x = resolve(lower(robot))[0]
    assert other.clearance(x) == pytest.approx(m.clearance(x), rel=1e-9)


@pytest.mark.parametrize("length", [1e-4, 1e-3, 0.01])
def test_a_short_crank_is_not_singular(length):
    """An eccentric of a tenth of a millimetre moves little, but holds as well as any."""
    robot = four_bar("crank").with_("links.crank.length", length)
    robot = robot.with_("links.rocker.joint.mount.xyz", [0.5, 0, 0])
    assert lower(robot).clearance(resolve(lower(robot))[0])[0] > 0.3
    assert supple.modes(robot, [math.radians(60)], count=1).certified


@pytest.mark.parametrize("off", [1e-2, 1e-3, 1e-5, 1e-8])
def test_a_gimbal_lock_of_a_ball_joint_is_no_singular_pose(off):
    """The same hexapod, the axes of its platform's ball turned so that its pitch is near 90 deg."""
    from scipy.spatial.transform import Rotation

    robot = supple.load("hexapod")
    m = lower(robot)
    x = resolve(lower(robot))[0]
    joint = robot.links[-1].joint
    spins = [k for k, c in enumerate(m.joints.coordinates) if c.link == len(robot.links) - 1]
    whole = Rotation.from_euler("xyz", joint.mount.rpy) * Rotation.from_euler("xyz", x[0, spins])
    start = [0.3, math.pi / 2 - off, 0.2]
    mount = (whole * Rotation.from_euler("xyz", start).inv()).as_euler("xyz")
    turned = robot.with_("links.platform.joint.mount.rpy", mount.tolist())
    turned = turned.with_("links.platform.joint.start", start)
    other = x.copy()
    other[0, spins] = start
    assert lower(turned).clearance(other) == pytest.approx(m.clearance(x), rel=1e-6)
    theta = x[0, m.driven]
    assert supple.modes(turned, theta, count=3).omega == pytest.approx(
        supple.modes(robot, theta, count=3).omega, rel=1e-6
    )
