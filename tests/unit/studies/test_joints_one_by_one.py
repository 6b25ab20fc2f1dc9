"""Motors that are free or locked one by one."""

import numpy as np
import pytest

import supple


@pytest.fixture(scope="module")
def arm() -> supple.Robot:
    return supple.load("industrial-3")


def test_words_for_all_motors_are_those_for_each(arm: supple.Robot) -> None:
    theta = [0.1, 0.5, -0.3]
    free = supple.modes(arm, theta, joints="free")
    one_by_one = supple.modes(
        arm, theta, joints={"link1": "free", "link2": "free", "link3": "free"}
    )
    listed = supple.modes(arm, theta, joints=["free"] * 3)
    assert one_by_one == free
    assert listed == free
    assert supple.modes(arm, theta, joints={}) == supple.modes(arm, theta)


@pytest.mark.parametrize("free", ["link1", "link2", "link3"])
def test_a_free_motor_is_a_joint_with_a_soft_spring(arm: supple.Robot, free: str) -> None:
    """The same question by another door: a spring of nearly nothing, and the mode it adds."""
    theta = [0.1, 0.5, -0.3]
    found = supple.modes(arm, theta, count=5, joints={free: "free"})
    soft = arm.with_(f"links.{free}.joint.stiffness", 1e-6)
    sprung = supple.modes(soft, theta, count=6)
    assert found.rigid_modes == 1
    assert sprung.omega[1:] == pytest.approx(found.omega, rel=1e-8)


def test_frequencies_lie_between_those_of_locked_and_free_motors(arm: supple.Robot) -> None:
    theta = [0.2, 0.9, 0.4]
    locked = supple.modes(arm, theta, count=4).omega
    some = supple.modes(arm, theta, count=4, joints=["locked", "free", "locked"])
    # Rayleigh: letting one motion go cannot raise a frequency, mode by mode, zero modes counted
    every = np.concatenate([np.zeros(some.rigid_modes), some.omega])
    assert (every[:4] <= locked * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", ["five-bar", "kuo-delta", "hexapod"])
def test_robots_with_loops(name: str) -> None:
    robot = supple.load(name)
    motor = {"five-bar": "left", "kuo-delta": "upper2", "hexapod": "rod1"}[name]
    at = {"position": [0.1, 0, 0.5]} if name == "kuo-delta" else {}
    found = supple.modes(robot, count=3, joints={motor: "free"}, **at)
    assert found.joints == f"free: {motor}"
    assert found.rigid_modes == 1
    elements = supple.modes(
        robot, count=3, joints={motor: "free"}, method="elements", elements=6, **at
    )
    assert elements.omega == pytest.approx(found.omega, rel=1e-3)


def test_responses_take_them_too(arm: supple.Robot) -> None:
    theta = [0.1, 0.5, -0.3]
    found = supple.response(
        arm,
        theta,
        [1.0, 3.0],
        inputs=["tau.link2"],
        outputs=["theta.link2"],
        joints={"link2": "free"},
    )
    assert found.joints == "free: link2"
    assert np.isfinite(found.values).all()
    with pytest.raises(supple.SuppleError, match=r"tau.link1 does nothing with this joint locked"):
        supple.response(arm, theta, [1.0], inputs=["tau.link1"], joints={"link2": "free"})


@pytest.mark.parametrize(
    ("joints", "words"),
    [
        ({"link9": "free"}, "link9.*has no motor.*link1, link2, link3"),
        ({"link1": "loose"}, "must be locked or free"),
        (["free"], "joints has 1 words.*3 motors"),
        ("open", "must be one of"),
        (3, "must be one of"),
    ],
)
def test_bad_words_are_sentences(arm: supple.Robot, joints: object, words: str) -> None:
    with pytest.raises(supple.SuppleError, match=words):
        supple.modes(arm, joints=joints)  # type: ignore[arg-type]
