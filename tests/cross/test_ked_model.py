"""Kineto-elasto matrices of serial arms beside the linearised Model: two programs, one motion.

The Model's residual M qdd + h + K q + g, differentiated at eta = 0 along the motion of the joints,
must give M, C, K, F of the kineto-elasto model, motor rows included.
"""

import numpy as np
import pytest

import supple
from supple.dynamics.ked import Loads, ked

THETA, RATE, SECOND = np.array([0.4, -0.7]), np.array([2.0, 3.0]), np.array([5.0, -4.0])
STEP = 1e-5


def arm(planar: bool) -> supple.SerialRobot:
    """Two links that keep their length; a heavy tip; weight."""
    beam = {
        "length": 0.6,
        "mass_per_length": 0.4,
        "bending_stiffness": [30.0, 40.0],
        "polar_inertia_per_length": 0.0,
    }
    second = [0, 0, 1] if planar else [0, 1, 0]
    links = [
        {"name": "a", "joint": {"axis": [0, 0, 1]}, **beam},
        {"name": "b", "joint": {"axis": second}, **beam, "tip": {"mass": 0.7}},
    ]
    gravity = (0.0, -9.81, 0.0) if planar else (0.0, 0.0, -9.81)
    return supple.SerialRobot(name="arm", links=links, gravity=gravity, planar=planar)


def linearised(model: supple.Model) -> dict[str, np.ndarray]:
    """M, C, K (N, elastic) and F (N,) of all rows, by differences; exact for M and F."""
    size = model.size - 2
    zero, unit = np.zeros(size), np.eye(size)

    def residual(eta: np.ndarray, etad: np.ndarray, etadd: np.ndarray) -> np.ndarray:
        q, qd, qdd = np.r_[THETA, eta], np.r_[RATE, etad], np.r_[SECOND, etadd]
        return model.inverse_dynamics(q, qd, qdd)

    here = residual(zero, zero, zero)
    h = STEP
    return {
        "M": np.array([residual(zero, zero, e) - here for e in unit]).T,
        "C": np.array([residual(zero, h * e, zero) - residual(zero, -h * e, zero) for e in unit]).T
        / (2 * h),
        "K": np.array([residual(h * e, zero, zero) - residual(-h * e, zero, zero) for e in unit]).T
        / (2 * h),
        "F": -here,
    }


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("elements", [1, 2])
def test_mass_gyroscopic_terms_and_loads(planar: bool, elements: int) -> None:
    wanted = linearised(supple.build(arm(planar), supple.FiniteElements(elements)))
    found = ked(arm(planar), THETA, elements, loads=Loads(preload=False)).matrices(
        THETA, RATE, SECOND
    )
    for k, name in ((0, "M"), (1, "C"), (3, "F")):
        ours = np.concatenate([found.drive[k][0], getattr(found, name)[0]])
        assert np.abs(ours - wanted[name]).max() < 1e-8 * np.abs(wanted[name]).max(), name


@pytest.mark.parametrize("elements", [1, 2])
def test_stiffness_with_axial_preload_in_the_plane(elements: int) -> None:
    """With the foreshortening of the Model, all of K: centrifugal, Euler and preload terms.

    In space a Model has terms of the preload's bending moments as well, which the kineto-elasto
    model leaves out (docs/theory/delta.md).
    """
    wanted = linearised(supple.build(arm(True), supple.FiniteElements(elements), stiffening=True))
    model = ked(arm(True), THETA, elements)
    found = model.matrices(THETA, RATE, SECOND)
    elastic = np.concatenate([np.zeros((2, model.size)), model.stiffness])
    ours = np.concatenate([found.drive[2][0], found.K[0]]) - elastic
    exact = wanted["K"] - elastic
    assert np.abs(ours - exact).max() < 1e-7 * np.abs(exact).max()
