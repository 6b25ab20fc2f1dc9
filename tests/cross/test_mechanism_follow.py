"""Elastic motion of mechanisms about a path: at rest the statics, in motion the coupled equations.

`follow` linearises the closed equations about the motion of the motors. At rest that is the sag of
`statics`, which knows no equations of motion; in motion it is what `simulate` finds with motors
that follow the path, up to the square of the deflections; of an arm written as a mechanism it is
what elements on the arm's moving frames give.
"""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from supple import (
    AssumedModes,
    Decoupling,
    FiniteElements,
    Ked,
    MechanismRobot,
    ParabolicBlends,
    PathResponse,
    PlatformPath,
    PointToPoint,
    Repeated,
    SuppleError,
    as_mechanism,
    build,
    compensate,
    follow,
    forward,
    load,
    settled,
    simulate,
    statics,
)
from supple.architectures.kinds import architecture_of
from supple.equations.equilibrium import static_state
from supple.path_dynamics.linearised_model import PathModel
from supple.studies.motion.fields import path_fields

FIVE = PointToPoint([2.0944, 1.0472], [1.8, 0.8], 0.4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("four-bar", PointToPoint([1.0], [1.3], 1.0)),
        ("five-bar", FIVE),
        ("two-arms", PointToPoint([0, 0.5, -1.2, 0.5, -1.2], [0.2, 0.6, -1.0, 0.4, -1.3], 1.0)),
    ],
)
def test_at_rest_it_sags_as_in_statics(name: str, path: PointToPoint) -> None:
    """With a thousandth of gravity, so that the weight's own softening is below 1e-6."""
    robot = load(name)
    robot = robot.with_("gravity", [1e-3 * g for g in robot.gravity])
    start = np.asarray(path.start)
    model = build(robot, FiniteElements(1), stiffening=True)  # exact at nodes under dead loads
    still = PathModel(model).matrices(start, 0 * start, 0 * start)
    sag = still.tip[0] @ np.linalg.solve(still.K[0], still.F[0])
    want = statics(robot, start).moved
    np.testing.assert_allclose(sag, want, atol=2e-6 * np.abs(want).max())


@pytest.mark.slow
def test_it_is_the_coupled_motion_of_small_deflections() -> None:
    robot = load("five-bar")
    model = build(robot, AssumedModes(1), damping=0.02)
    followed = follow(model, FIVE, dt=2e-3)
    run = simulate(
        model,
        controller=Decoupling(position_gain=4e4, velocity_gain=400),
        trajectory=FIVE,
        q0="static",
        theta0=FIVE.start,
        duration=0.4,
        dt=2e-3,
    )
    moved = run.tip - forward(robot, run.theta).position
    size = np.abs(followed.moved[:, :3]).max()
    np.testing.assert_allclose(moved, followed.moved[:, :3], atol=0.02 * size)
    np.testing.assert_allclose(
        run.deflection("left2", 0.5), followed.deflection("left2", 0.5)[:, :3], atol=2e-3 * 0.35
    )


@pytest.mark.slow
def test_an_arm_written_as_a_mechanism_shakes_as_the_arm() -> None:
    arm = load("industrial-3")
    data = arm.model_dump(exclude_unset=True) | {"architecture": "mechanism"}
    path = PointToPoint([0.0, 0.3, 0.2], [0.5, 0.8, -0.2], 0.6)
    one, two = (follow(robot, path) for robot in (arm, MechanismRobot.model_validate(data)))
    _same(one, two, 1e-10)


def _same(one: PathResponse, two: PathResponse, part: float) -> None:
    for word in ("moved", "torque", "rigid_torque", "tip"):
        a = getattr(one, word)
        b = getattr(two, word)
        np.testing.assert_allclose(b, a, rtol=0, atol=part * np.abs(a).max(), err_msg=word)


@pytest.mark.parametrize("rods", ["single", "parallelogram"])
def test_a_delta_written_as_a_mechanism_shakes_as_the_delta(rods: str) -> None:
    robot = load("kuo-delta")
    if rods != "single":
        robot = robot.with_({"lower.rods": rods, "lower.spacing": 0.08})
    path = PointToPoint([0, 0, 0.75], [0.02, 0, 0.74], 0.2)
    one = follow(robot, path, elements=1, damping=0.01, dt=5e-3)
    _same(
        one,
        follow(as_mechanism(robot), PlatformPath(robot, path), elements=1, damping=0.01, dt=5e-3),
        1e-10,
    )


FOUNDED = {"translation": [1e5] * 3, "rotation": [1e3] * 3, "mass": 3.0, "inertia": [0.1] * 3}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "five-bar",
            {"payload.mass": 2.0, "links.left2.joint.hub": {"mass": 0.3, "inertia": 0.01}},
        ),
        ("five-bar", {"links.left.joint.stiffness": 500, "links.left.joint.rotor_inertia": 0.01}),
        ("five-bar", {"links.right.joint.bearing": {"translation": [1e5] * 3}}),
        ("four-bar", {"foundation": FOUNDED}),  # on which a closure stands too
    ],
)
def test_elements_on_its_moving_links_are_the_linearised_equations(
    name: str, changes: dict[str, object]
) -> None:
    """Two derivations: frames led along and their preload, and slopes of the coupled equations."""
    robot = load(name).with_(changes)
    start = np.array(architecture_of(robot).usual()["theta"])
    path = PointToPoint(start, start + 0.2, 0.2)
    model = build(robot, FiniteElements(1), stiffening=True, damping=0.02)
    one = follow(robot, path, elements=1, damping=0.02)
    assert isinstance(one.model, Ked)
    _same(one, follow(model, path), 1e-9)


@pytest.mark.slow
def test_its_page_draws_all_links(tmp_path: Path) -> None:
    run = follow(load("five-bar"), FIVE, elements=1, dt=0.01)
    drawn = path_fields(run, 5)
    assert drawn.names == ("left", "left2", "right", "right2")
    ends = drawn.p + drawn.L[..., None] * drawn.R[..., 0]
    np.testing.assert_allclose(ends[:, 1], ends[:, 3], atol=1e-12)  # where the rods are pinned
    assert run.save_page(tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.soak
def test_the_tip_of_a_five_bar_is_led_back_to_its_path() -> None:
    found = compensate(load("five-bar"), PointToPoint([2.0944, 1.0472], [1.9, 0.9], 0.5), rounds=1)
    assert found.gain > 5


def _crane(stiff: float = 1.0) -> MechanismRobot:
    """A five-bar with a load that hangs from its tip on a rod without bending."""
    data = load("five-bar").model_dump(exclude_unset=True)
    cable = {"name": "cable", "parent": "left2", "length": 0.2, "theory": "rigid"}
    cable |= {"joint": {"type": "revolute", "passive": True}, "mass_per_length": 0.1}
    data["links"] = [*data["links"], cable | {"tip": {"mass": 0.5}}]
    data["materials"]["steel"]["young_modulus"] = 210e9 * stiff
    return MechanismRobot.model_validate(data | {"tip": "cable", "payload": None})


@pytest.mark.slow
def test_a_load_that_swings_is_as_simulate_has_it() -> None:
    """Far from small, 0.9 rad; what bending adds is linear: off by its square."""
    path = PointToPoint([2.0944, 1.0472], [2.3944, 1.3472], 0.4)
    off = []
    for stiff in (0.1, 1.0):
        model = build(_crane(stiff), AssumedModes(1), stiffening=True)
        followed = follow(model, path, dt=5e-3, after=0.4)
        run = simulate(
            model,
            controller=Decoupling(),
            trajectory=path,
            q0="static",
            theta0=path.start,
            duration=0.8,
            dt=5e-3,
        )
        place = model.coordinates.index("passive.cable")
        swing = run.q[:, [place]]
        assert followed.swing[0] == pytest.approx(swing[0], abs=1e-6)  # from hanging
        assert np.ptp(swing) > 0.8
        off.append(float(np.abs(followed.swing - swing).max()))
    bends = np.abs(followed.torque - followed.rigid_torque).max()
    np.testing.assert_allclose(followed.torque[1:], run.tau[1:], atol=0.04 * bends)
    assert off[0] > 50 * off[1]  # ten times stiffer: a hundredth
    drawn = path_fields(followed, 5)
    ends = drawn.p + drawn.L[..., None] * drawn.R[..., 0]
    wide = np.arctan2(*(ends - drawn.p)[:, 4, 1::-1].T)
    down = np.asarray(wide) + np.pi / 2
    assert abs(down[0]) < 1e-9 < np.abs(down).max()


def test_a_pendulum_on_a_cart_is_that_of_the_textbook() -> None:
    """x'' sin p - g cos p = L p'' of a point mass, p from the horizontal; it starts hanging."""
    cart = {"name": "cart", "joint": {"type": "prismatic", "start": 0.5}, "length": 3.0}
    cable = {"name": "cable", "joint": {"passive": True}, "length": 1.0, "tip": {"mass": 1.0}}
    links = [link | {"theory": "rigid", "body": {"mass": 1.0}} for link in (cart, cable)]
    given = {"name": "crane", "planar": True, "gravity": [0, -9.81, 0], "links": links}
    robot = MechanismRobot.model_validate(given)
    path = PointToPoint([0.5], [1.5], 1.0)
    found = follow(build(robot), path, dt=0.02, after=0.5)
    exact = solve_ivp(
        lambda t, s: [
            s[1],
            path(np.array([t]))[2][0, 0] * (t < 1) * np.sin(s[0]) - 9.81 * np.cos(s[0]),
        ],
        (0, 1.5),
        [-np.pi / 2, 0],
        rtol=1e-10,
        atol=1e-11,
        max_step=0.01,
        t_eval=found.t,
    )
    np.testing.assert_allclose(found.swing[:, 0], exact.y[0], atol=2e-8)
    with pytest.raises(SuppleError, match="'periodic', but cable swings freely"):
        follow(build(robot), Repeated(path), start="periodic")
    with pytest.raises(SuppleError, match="cable swings freely, held by no loop: settled"):
        settled(robot, path)
    afloat = build(robot.with_("gravity", [0, 0, 0]))
    np.testing.assert_array_equal(static_state(afloat, [0.7]), [0.7, 0.0])
    falling = robot.with_("links.cable.joint.type", "prismatic")
    with pytest.raises(SuppleError, match=r"free length of cable|cable would fall on"):
        static_state(build(falling.with_("gravity", [9.81, 0, 0])), [0.7])


def test_a_robot_without_motors_falls() -> None:
    """A path of no motor: the pendulum falls and rings as `simulate` lets it, to second order."""
    link = {"name": "a", "length": 0.3, "mass_per_length": 1.0, "bending_stiffness": 20.0}
    data = {"name": "loose", "planar": True, "gravity": [0, -9.81, 0]}
    robot = MechanismRobot.model_validate(data | {"links": [link | {"joint": {"passive": True}}]})
    model = build(robot, FiniteElements(2))
    found = follow(model, PointToPoint([], [], 0.3), start="rest")
    run = simulate(model, duration=0.3, dt=1e-3)
    assert run.q[-1, 0] < -np.pi / 2  # it fell through where it hangs
    bent = np.abs(found.moved).max()  # 3e-4: its square, and the 1e-3 of it that steps are held to
    np.testing.assert_allclose(found.tip, run.tip, atol=1e-3 * bent)
    np.testing.assert_allclose(found.swing[:, 0], run.q[:, 0], atol=3e-3 * bent)


def _five_bar_path(end: tuple[float, float], duration: float = 1.0) -> ParabolicBlends:
    return ParabolicBlends(
        np.radians([120, 60]), np.radians(end), duration=duration, blend=duration / 4
    )


# The elbows of five-bar meet where 0.25 cos(left) = 0.2 + 0.25 cos(right) and both are as high:
# at left = acos(0.4), right = pi - left. There the rods turn about both pins at once.
MEETS = float(np.degrees(np.arccos(0.4)))


@pytest.mark.parametrize("as_model", [False, True])
@pytest.mark.parametrize("end", [(60, 120), (61, 120), (60, 121), (40, 150)])
def test_elbows_that_pass_each_other_are_one_sentence(end, as_model) -> None:
    """Answered with deflections of 1e290, on another assembly after the pose (61, 120)."""
    robot = load("five-bar")
    path = _five_bar_path(end)
    what = build(robot, AssumedModes(1)) if as_model else robot
    with pytest.raises(SuppleError, match="singular") as refusal:
        follow(what, path, step=1e-3)
    t = float(re.findall(r"t = ([0-9.]+) s", str(refusal.value))[-1])
    left, right = np.degrees(path(np.array([t]))[0][0])
    assert abs(left - MEETS) < 5
    assert abs(right - (180 - MEETS)) < 5


def test_paths_beside_a_singular_pose_are_answered() -> None:
    """The elbows stay 45 mm apart: one sixth of a crank, and rods that turn fast."""
    robot = load("five-bar")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = follow(robot, _five_bar_path((78, 102), 2.0))
    assert run.largest < 0.1
    # The same motion, by the equations of a Model
    model = build(robot, FiniteElements(2), stiffening=True)
    other = follow(model, _five_bar_path((78, 102), 2.0))
    assert np.allclose(run.rigid_torque, other.rigid_torque, atol=1e-8 * np.ptp(run.rigid_torque))
