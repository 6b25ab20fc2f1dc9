"""The symbolic dynamics: the Model's numbers, and a residual that vanishes along motions."""

import numpy as np
import pytest

import supple
from supple.equations.equilibrium import assembled_pose
from supple.exporters.c_functions import random_states


@pytest.mark.parametrize("name", ["de-luca-two-link", "four-bar"])
def test_functions_and_residual(name: str) -> None:
    model = supple.build(supple.load(name), supple.AssumedModes(2))
    functions = model.casadi()
    q, qd, _, tau = (part[0] for part in random_states(model, assembled_pose(model), 1))
    qdd = np.array(functions["forward_dynamics"](q, qd, tau)).ravel()
    assert qdd == pytest.approx(model.forward_dynamics(q, qd, tau), rel=1e-9)
    residual = np.array(functions["residual"](q, qd, qdd, tau)).ravel()
    assert np.abs(residual).max() < 1e-7 * max(
        1.0, np.abs(model.inverse_dynamics(q, qd, 0 * q)).max()
    )
    by_q = np.array(functions["jacobians"](q, qd, tau)[0])
    assert by_q == pytest.approx(model.derivatives(q, qd, tau)[0], rel=1e-9, abs=1e-6)
