"""Links that shear or twist but whose sections have no inertia in turning, in every basis."""

from __future__ import annotations

import numpy as np
import pytest

import supple

L = 0.8
GJ = 50.0
J = 0.02


def _shaft(**more):
    """One link that twists like a spring of GJ/L, with a disc on its end."""
    link = {"name": "a", "length": L, "mass_per_length": 1.0, "bending_stiffness": 1e6}
    link |= {"torsional_stiffness": GJ, "tip": {"inertia": [J, 0, 0]}} | more
    return supple.SerialRobot(name="shaft", links=[supple.Link(**link)])


@pytest.mark.parametrize("method", ["exact", "elements", "assumed"])
def test_a_shaft_without_polar_inertia_is_a_torsion_spring(method):
    found = supple.modes(_shaft(), count=1, method=method)
    assert found.omega[0] == pytest.approx(np.sqrt(GJ / (L * J)), rel=1e-12)


def test_the_shafts_twist_enters_no_mode_where_nothing_turns():
    robot = _shaft(tip=None)
    exact = supple.modes(robot, count=4)
    assert np.allclose(supple.modes(robot, count=4, method="assumed").omega, exact.omega, rtol=1e-3)


@pytest.mark.parametrize(
    "basis",
    [
        supple.AssumedModes(1, torsion=2),
        supple.FiniteElements(2),
        supple.FiniteElements(2, order="quintic"),
        supple.FiniteElements(2, order="quintic", modes=1),
    ],
)
def test_models_keep_one_coordinate_of_such_a_twist(basis):
    model = supple.build(_shaft(), basis, damping=0.01)
    assert sum("torsion" in name for name in model.coordinates) == 1
    found = supple.assumed_modes(model, [0.0], count=1)
    assert found.omega[0] == pytest.approx(np.sqrt(GJ / (L * J)), rel=1e-9)


@pytest.mark.parametrize("modes", [None, 3])
def test_shear_without_rotary_inertia_has_the_exact_frequencies(modes):
    shear = {"bending_stiffness": [400, 250], "shear_stiffness": [1e5, 2e5]}
    robot = _shaft(**shear, tip={"inertia": [J, J, J]}, joint={"rotor_inertia": J})
    model = supple.build(robot, supple.FiniteElements(4, order="quintic", modes=modes))
    found = supple.assumed_modes(model, [0.0], count=5)
    exact = supple.modes(robot, count=5)
    assert np.allclose(found.omega, exact.omega, rtol=1e-4 if modes is None else 1e-2)
    assert (found.omega > exact.omega * (1 - 1e-9)).all()


def test_torsion_without_any_inertia_is_refused_by_a_sentence():
    with pytest.raises(supple.SuppleError, match="link 1 has no inertia in torsion"):
        supple.build(_shaft(tip=None), supple.AssumedModes(1, torsion=1))


def test_modal_damping_is_the_ratio_of_every_mode():
    model = supple.build(_shaft(), supple.FiniteElements(2, order="quintic"), damping=0.03)
    K = model.stiffness[1:, 1:]
    D = model.damping[1:, 1:]
    M = model.mass_matrix(np.zeros(model.size))[1:, 1:]
    tip = [k for k, name in enumerate(model.coordinates[1:]) if "torsion" not in name]
    omega2, Phi = np.linalg.eig(np.linalg.solve(M, K)[np.ix_(tip, tip)])
    ratio = np.linalg.inv(Phi) @ np.linalg.solve(M, D)[np.ix_(tip, tip)] @ Phi
    assert np.allclose(np.diag(ratio), 2 * 0.03 * np.sqrt(omega2), rtol=1e-6)
