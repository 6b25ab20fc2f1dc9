"""Bad arguments in Python: a SuppleError whose one sentence names the argument and what to give."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import supple


@cache
def robot(name: str = "industrial-3") -> supple.Robot:
    return supple.load(name)


@cache
def model() -> supple.Model:
    return supple.build(robot("de-luca-two-link"), supple.AssumedModes(2))


ZERO = np.zeros(6)
ASKED: dict[str, tuple[Callable[[], Any], str]] = {
    "no robot": (
        lambda: supple.modes(3, [0, 0, 0]),  # type: ignore[arg-type]
        "robot is 3: give a Robot, the name of its file, such as 'arm.yaml', or a name that",
    ),
    "no robot to build": (
        lambda: supple.build({"links": []}, supple.AssumedModes(1)),  # type: ignore[arg-type]
        "give a Robot",
    ),
    "unknown name": (lambda: supple.load("industral-3"), "did you mean 'industrial-3'?"),
    "text for angles": (lambda: supple.modes(robot(), "abc"), "theta is not an array of numbers"),
    "too few angles": (lambda: supple.modes(robot(), [0, 0]), "theta has 2 entries: give 3"),
    "angle NaN": (lambda: supple.modes(robot(), [0, 0, np.nan]), "theta holds a value that is not"),
    "count zero": (lambda: supple.modes(robot(), [0, 0, 0], count=0), "count is 0"),
    "count broken": (lambda: supple.modes(robot(), [0, 0, 0], count=2.5), "count is 2.5"),  # type: ignore[arg-type]
    "count in quotes": (lambda: supple.modes(robot(), [0, 0, 0], count="3"), "count is '3'"),  # type: ignore[arg-type]
    "no assumed modes": (
        lambda: supple.modes(robot(), [0, 0, 0], method="assumed", elements=0),
        "elements is 0: by assumed modes give a whole number",
    ),
    "no file name": (lambda: supple.load(3), "source is 3: give the path"),  # type: ignore[arg-type]
    "no text": (lambda: supple.loads(3), "text is 3: give the text"),  # type: ignore[arg-type]
    "nothing to dump": (lambda: supple.dump(3), "robot is 3: give a Robot"),  # type: ignore[arg-type]
    "several states to linearise about": (
        lambda: supple.linearize(model(), np.zeros((2, 6))),
        "q has the shape (2, 6): a model is linearised about one state",
    ),
    "no state to linearise about": (
        lambda: supple.linearize(model(), np.zeros((0, 6))),
        "q has the shape (0, 6)",
    ),
    "several states for margins": (
        lambda: supple.margins(model(), supple.JointPD(10, 2), np.zeros((1, 6))),
        "q has the shape (1, 6)",
    ),
    "a line without corners": (
        lambda: supple.Line(model().robot, [0, 0.5], np.zeros((0, 2)), 0.1, 1.0),
        "points must be one or more places of the tip",
    ),
    "samples of no joint": (
        lambda: supple.filtered(np.zeros((2, 0)), 1000, "notch", 5.0),
        "samples: give positions (N,) or (N, joints)",
    ),
    "no stations": (lambda: supple.statics(robot(), [0, 0, 0], points=0), "points is 0"),
    "damping in a list": (
        lambda: supple.build(model().robot, supple.AssumedModes(2), damping=[0.1]),  # type: ignore[arg-type]
        "damping is [0.1]: give a ratio, a ModalDamping",
    ),
    "damping of one link only": (
        lambda: supple.build(
            model().robot, supple.AssumedModes(2), damping=supple.ModalDamping([0.1])
        ),
        "damping ratio [0.1]: give one value, one for each link",
    ),
    "damping of three modes": (
        lambda: supple.build(
            model().robot, supple.AssumedModes(2), damping=supple.ModalDamping([[0.1] * 3] * 2)
        ),
        "for each link one per mode (link 1 has 2)",
    ),
    "nothing to control": (
        lambda: supple.lqr(
            supple.build(
                robot().with_({f"links.link{k}.joint.type": "fixed" for k in (1, 2, 3)}),
                supple.AssumedModes(1),
            ),
            [],
        ),
        "industrial-3 has no joint that moves",
    ),
    "backward half": (lambda: supple.BangBang(1.0, half=-1), "half is -1: give a positive"),
    "no sweep": (lambda: supple.Chirp(1.0, sweep=0), "sweep is 0: give a positive"),
    "amplitude in words": (
        lambda: supple.simulate(model(), tau=supple.Step("a"), duration=0.01),  # type: ignore[arg-type]
        "amplitude is not an array of numbers but 'a'",
    ),
    "ragged points": (
        lambda: supple.WayPoints([[0, 0], [1]], 1, 1),
        "points must be two or more points of equally many",
    ),
    "one fault, not two": (
        lambda: robot("theodore-rrp").with_("links.link3.theory", "timoshenko"),
        "theory timoshenko needs shear_stiffness: give it, or use euler-bernoulli",
    ),
    "unknown method": (
        lambda: supple.modes(robot(), [0, 0, 0], method="exakt"),  # type: ignore[arg-type]
        "method is 'exakt': it must be one of exact, elements, assumed",
    ),
    "no place for a Delta": (lambda: supple.modes(robot("kuo-delta")), "position=[x, y, z]"),
    "place for an arm": (lambda: supple.modes(robot(), position=[1, 0, 0]), "position is for a"),
    "beyond the beam": (
        lambda: supple.modes(robot("theodore-rrp"), [0, 0, 5.0]),
        "the free length of link3 is 5 m: it must lie above 0 and at most at the beam's length 1.3",
    ),
    "box of an arm": (
        lambda: supple.workspace(robot(), x=(-0.1, 0.1)),
        "arms are mapped over joints=",
    ),
    "unknown link": (lambda: robot().with_("links.link9.length", 1), "unknown key 'link9'"),
    "unknown key": (lambda: robot().with_("links.link1.lenght", 1), "did you mean 'length'?"),
    "negative length": (lambda: robot().with_("links.link1.length", -1), "length is -1"),
    "no basis": (lambda: supple.build(robot("de-luca-two-link"), "modes"), "basis is 'modes'"),  # type: ignore[arg-type]
    "no mode": (
        lambda: supple.build(robot("de-luca-two-link"), supple.AssumedModes(0)),
        "link1 no mode",
    ),
    "unknown order": (
        lambda: supple.build(robot("de-luca-two-link"), supple.FiniteElements(2, order="septic")),  # type: ignore[arg-type]
        "order is 'septic': it must be one of cubic, quintic",
    ),
    "short state": (lambda: model().mass_matrix([0, 0]), "q has shape (2,)"),
    "state NaN": (lambda: model().mass_matrix(ZERO * np.nan), "q holds a value that is not finite"),
    "short efforts": (lambda: model().forward_dynamics(ZERO, ZERO, [1]), "tau has shape (1,)"),
    "negative time": (lambda: supple.simulate(model(), duration=-1), "duration is -1"),
    "efforts of three": (lambda: supple.simulate(model(), tau=[1, 2, 3]), "tau has shape (3,)"),
    "short start": (lambda: supple.simulate(model(), q0=[1, 2]), "q0 has shape (2,): give 6"),
    "unknown start": (lambda: supple.simulate(model(), q0="statik"), "q0 is 'statik'"),  # type: ignore[arg-type]
    "unknown stepper": (lambda: supple.simulate(model(), method="rk5"), "method is 'rk5'"),
    "no trajectory": (
        lambda: supple.simulate(model(), controller=supple.JointPD(10, 1)),
        "a controller needs a trajectory",
    ),
    "blends that overlap": (
        lambda: supple.ParabolicBlends([0, 0], [1, 1], duration=1.0, blend=0.6),
        "blend is 0.6 s",
    ),
    "ends of two lengths": (
        lambda: supple.ParabolicBlends([0, 0], [1], duration=1.0, blend=0.1),
        "end is (1.0,): give 2 finite numbers",
    ),
    "short point": (lambda: supple.linearize(model(), [0]), "q has shape (1,)"),
    "force of two": (lambda: supple.statics(robot(), [0, 0, 0], force=[1, 2]), "force is [1, 2]"),
    "unknown paper": (lambda: supple.reproduce("kuoo"), "give one of di-castri, de-luca"),
}


@pytest.mark.parametrize("case", ASKED)
def test_bad_argument(case: str) -> None:
    ask, sentence = ASKED[case]
    with pytest.raises(supple.SuppleError) as caught:
        ask()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_whole_numbers_of_numpy_are_numbers() -> None:
    """A count read out of an array is a count."""
    found = supple.modes(robot(), [0, 0, 0], count=np.int64(3))  # type: ignore[arg-type]
    assert found.omega.shape == (3,)


def test_a_rigid_robot_needs_no_basis() -> None:
    link = {"name": "a", "length": 1.0, "theory": "rigid", "mass_per_length": 2.0}
    model = supple.build(supple.SerialRobot(name="r", planar=True, links=[link]))
    assert model.size == 1
    with pytest.raises(supple.SuppleError, match="link1 bends"):
        supple.build(supple.load("industrial-3"))
