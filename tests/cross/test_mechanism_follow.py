"""Elastic motion of mechanisms about a path: at rest the statics, in motion the coupled equations.

`follow` linearises the closed equations about the motion of the motors. At rest that is the sag of
`statics`, which knows no equations of motion; in motion it is what `simulate` finds with motors
that follow the path, up to the square of the deflections; of an arm written as a mechanism it is
what elements on the arm's moving frames give.
"""

from pathlib import Path

import numpy as np
import pytest

from supple import (
    AssumedModes,
    Decoupling,
    FiniteElements,
    MechanismRobot,
    PointToPoint,
    SuppleError,
    build,
    compensate,
    follow,
    forward,
    load,
    simulate,
    statics,
)
from supple.path_dynamics.linearised_model import LedModel
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
    still = LedModel(model).matrices(start, 0 * start, 0 * start)
    sag = still.tip[0] @ np.linalg.solve(still.K[0], still.F[0])
    want = statics(robot, start).moved
    np.testing.assert_allclose(sag, want, atol=2e-6 * np.abs(want).max())


@pytest.mark.slow
def test_it_is_the_coupled_motion_of_small_deflections() -> None:
    robot = load("five-bar")
    model = build(robot, AssumedModes(1), damping=0.02)
    led = follow(model, FIVE, dt=2e-3)
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
    size = np.abs(led.tip[:, :3]).max()
    np.testing.assert_allclose(moved, led.tip[:, :3], atol=0.02 * size)
    np.testing.assert_allclose(
        run.deflection("left2", 0.5), led.deflection("left2", 0.5)[:, :3], atol=2e-3 * 0.35
    )


@pytest.mark.slow
def test_an_arm_written_as_a_mechanism_shakes_as_the_arm() -> None:
    arm = load("industrial-3")
    data = arm.model_dump(exclude_unset=True) | {"architecture": "mechanism"}
    path = PointToPoint([0.0, 0.3, 0.2], [0.5, 0.8, -0.2], 0.6)
    one, two = (follow(robot, path) for robot in (arm, MechanismRobot.model_validate(data)))
    size = np.abs(one.tip).max(axis=0).max()
    np.testing.assert_allclose(two.tip, one.tip, atol=2e-3 * size)
    np.testing.assert_allclose(two.torque, one.torque, atol=2e-3 * np.abs(one.torque).max())


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


def test_what_swings_freely_is_refused() -> None:
    data = load("four-bar").model_dump(exclude_unset=True)
    pendulum = {"name": "pendulum", "parent": "base", "length": 0.1, "theory": "rigid"}
    pendulum |= {"joint": {"type": "revolute", "passive": True}, "mass_per_length": 1.0}
    data["links"] = [*data["links"], pendulum]
    robot = MechanismRobot.model_validate(data)
    with pytest.raises(SuppleError, match="pendulum swings freely"):
        follow(robot, PointToPoint([1.0], [1.3], 1.0))
