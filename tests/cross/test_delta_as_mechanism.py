"""A Delta written out as a mechanism: its equations of motion against the template's."""

import numpy as np
import pytest

from supple import AssumedModes, DeltaRobot, Model, as_mechanism, build, load, simulate
from supple.architectures import delta

HOME = np.array([0.0, 0.0, 0.8])


def both(rods: str) -> tuple[DeltaRobot, Model, Model]:
    """Kuo's Delta, its model by the template, and that of the mechanism, shapes by default."""
    robot = load("kuo-delta")
    assert isinstance(robot, DeltaRobot)
    if rods == "parallelogram":
        robot = robot.with_({"lower.rods": rods, "lower.spacing": 0.06})
    twin = as_mechanism(robot, HOME)
    basis = AssumedModes(1)
    return robot, build(robot, basis), build(twin, basis)


@pytest.mark.parametrize("rods", ["single", "parallelogram"])
def test_a_delta_written_as_a_mechanism_moves_as_the_delta(rods: str) -> None:
    robot, old, new = both(rods)
    assert new.coordinates == old.coordinates
    rng = np.random.default_rng(1)
    q = 1e-4 * rng.normal(size=old.size)
    qd = 0.1 * rng.normal(size=old.size)
    q[:3] = delta.inverse(robot, [0.02, 0.03, 0.78])[0, :, 0]
    tau = rng.normal(size=3)
    given = {
        "tip": (q,),
        "mass_matrix": (q,),
        "bias": (q, qd),
        "gravity": (q,),
        "energy": (q, qd),
        "inverse_dynamics": (q, qd, qd),
        "forward_dynamics": (q, qd, tau),
    }
    for name, args in given.items():
        a, b = (getattr(model, name)(*args) for model in (old, new))
        np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-10 * np.abs(a).max(), err_msg=name)


@pytest.mark.soak
@pytest.mark.parametrize("rods", ["single", "parallelogram"])
def test_runs_of_the_delta_and_of_the_mechanism_are_the_same(rods: str) -> None:
    """Torques on bent legs, iterations of implicit steps far below what is compared."""
    robot, *models = both(rods)
    q = 1e-4 * np.random.default_rng(0).normal(size=models[0].size)
    q[:3] = delta.inverse(robot, [0.02, 0.03, 0.78])[0, :, 0]
    given = {"q0": q, "duration": 0.01, "limits": False, "method": "gauss", "tolerance": 1e-13}
    one, two = (simulate(model, [2.0, 1.0, 1.5], **given) for model in models)
    assert np.ptp(one.tip, axis=0).max() > 1e-4
    np.testing.assert_allclose(two.tip, one.tip, rtol=0, atol=1e-10)
    np.testing.assert_allclose(two.q, one.q, rtol=0, atol=1e-10)
