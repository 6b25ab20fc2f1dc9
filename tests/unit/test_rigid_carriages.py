"""A rigid carriage at zero and below is the same carriage on a joint mounted further back."""

import numpy as np
import pytest

import supple
from supple import AssumedModes, FiniteElements
from supple.equations.equilibrium import static_state

BEAM = {
    "mass_per_length": 2.0,
    "bending_stiffness": [300.0, 200.0],
    "torsional_stiffness": 150.0,
    "polar_inertia_per_length": 1e-3,
    "axial_stiffness": 1e6,
}


def gantry(back: float) -> supple.Robot:
    """A bending column, a rigid carriage along its y, a bending arm; the joint stands `back`."""
    return supple.SerialRobot.model_validate(
        {
            "name": "gantry",
            "gravity": [0, 0, -9.81],
            "links": [
                {"name": "column", "length": 0.8, "joint": {"type": "revolute"}, **BEAM},
                {
                    "name": "carriage",
                    "joint": {
                        "type": "prismatic",
                        "mount": {"xyz": [0, -back, 0], "rpy": [0, 0, "90deg"]},
                    },
                    "length": 3.0,
                    "theory": "rigid",
                    "mass_per_length": 1.5,
                    "tip": {"mass": 0.4, "inertia": [1e-3, 2e-3, 2e-3]},
                },
                {"name": "arm", "length": 0.5, "joint": {"type": "revolute"}, **BEAM},
            ],
        }
    )


NEAR = gantry(0.0)
FAR = gantry(0.9)


@pytest.mark.parametrize("slide", [0.0, -0.3])
@pytest.mark.parametrize("method", ["exact", "elements"])
@pytest.mark.parametrize("joints", ["locked", "free"])
def test_modes(slide: float, method: str, joints: str) -> None:
    found, wanted = (
        supple.modes(robot, [0.4, at, 0.7], count=6, method=method, joints=joints).omega
        for robot, at in ((NEAR, slide), (FAR, slide + 0.9))
    )
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("slide", [0.0, -0.3])
def test_statics_and_motion(slide: float) -> None:
    sag, wanted = (
        supple.statics(robot, [0.4, at, 0.7]).tip_displacement
        for robot, at in ((NEAR, slide), (FAR, slide + 0.9))
    )
    assert sag == pytest.approx(wanted, rel=1e-9)
    near, far = (supple.build(robot, FiniteElements(1)) for robot in (NEAR, FAR))
    rng = np.random.default_rng(1)
    q = 0.1 * rng.normal(size=near.size)
    qd = rng.normal(size=near.size)
    tau = rng.normal(size=3)
    q[1] = slide
    there = q + 0.9 * np.eye(near.size)[1]
    assert near.forward_dynamics(q, qd, tau) == pytest.approx(
        far.forward_dynamics(there, qd, tau), rel=1e-9
    )
    assert near.tip(q) == pytest.approx(far.tip(there), abs=1e-14)
    q[:3] = (0.4, slide, 0.7)
    q[3:] = 0.0
    there = q + 0.9 * np.eye(near.size)[1]
    run, twin = (
        supple.simulate(m, tau=[0.0, 0.2, 0.0], q0=x, duration=0.05)
        for m, x in ((near, q), (far, there))
    )
    assert run.complete
    assert twin.complete
    assert run.tip[-1] == pytest.approx(twin.tip[-1], abs=1e-9)  # the same steps, but for rounding


def test_a_rigid_carriage_has_a_zero_and_ends_at_its_length() -> None:
    assert supple.modes(NEAR, count=2).omega == pytest.approx(
        supple.modes(NEAR, [0, 0, 0], count=2).omega
    )
    with pytest.raises(supple.SuppleError, match="at most at the beam's length 3 m"):
        supple.modes(NEAR, [0, 3.2, 0], count=2)
    model = supple.build(NEAR, AssumedModes(1))
    with pytest.raises(supple.SuppleError, match="at most at the beam's length 3 m"):
        model.tip(3.2 * np.eye(model.size)[1])


def test_its_weight_bends_what_carries_it() -> None:
    """Exact beams and elements agree where the sag is small enough to be linear."""
    light = NEAR.with_("gravity", [0, 0, -1e-3])
    model = supple.build(light, FiniteElements(1))
    sag = supple.statics(light, [0.4, -0.3, 0.7]).tip_displacement
    start = np.zeros(model.size)
    start[:3] = 0.4, -0.3, 0.7
    found = model.tip(static_state(model, start[:3])) - model.tip(start)
    assert found == pytest.approx(sag, abs=1e-4 * np.abs(sag).max())
