"""Joints that are let go and carry no inertia: a sentence, never a certified wrong answer."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.kernels.spatial import transport
from supple.structure import structure_of
from supple.structure.free_joints import _released_mass_matrix

TUBE = {
    "material": {"young_modulus": 70e9, "poisson_ratio": 0.34, "density": 2700},
    "section": {"shape": "tube", "diameter": 0.08, "wall": 0.004},
}


def _wrist(**hub):
    """A tube, and a wrist of three thin rods: roll, pitch, roll. A payload on the axis."""
    rods = [
        {"name": name, "joint": {"axis": axis}, "theory": "rigid", "length": 0.1}
        for name, axis in (("w1", [1, 0, 0]), ("w2", [0, 1, 0]), ("w3", [1, 0, 0]))
    ]
    links = [{"name": "arm", "length": 0.6, **TUBE}]
    links += [rod | {"mass_per_length": 3} for rod in rods]
    robot = supple.SerialRobot(name="wrist", links=links, payload={"mass": 3})
    return robot.with_({f"links.{name}.joint.hub.inertia": J for name, J in hub.items()})


METHODS = ["exact", "elements", "assumed"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("pitch", "guilty"), [(0.5, "w3"), (0.0, "w1")])
def test_a_roll_axis_without_inertia_is_named(method, pitch, guilty):
    with pytest.raises(supple.SuppleError, match=f"joint of {guilty} is let go .* no inertia"):
        supple.modes(_wrist(), [0, 0, pitch, 0], 3, method, joints="free")


def test_coaxial_roll_axes_need_inertia_of_their_own_each():
    robot = _wrist(w3=1e-3)
    supple.modes(robot, [0, 0, 0.5, 0], joints="free")
    with pytest.raises(supple.SuppleError, match="joint of w1 is let go"):
        supple.modes(robot, [0, 0, 0, 0], joints="free")
    both = supple.modes(robot, [[0, 0, 0.5, 0], [0, 0, 0, 0]], joints="free")
    assert both.valid.tolist() == [True, False]
    assert "joint of w1 is let go" in both.reason[1]


def test_with_a_little_inertia_all_three_methods_agree():
    robot = _wrist(w1=1e-4, w3=1e-4)
    for pitch in (0.0, 0.5):
        exact, elements, assumed = (
            supple.modes(robot, [0, 0.3, pitch, 0], 4, method, joints="free") for method in METHODS
        )
        assert np.allclose(elements.omega, exact.omega, rtol=1e-3)
        assert np.allclose(assumed.omega, exact.omega, rtol=1e-4)
        assert exact.rigid_modes == elements.rigid_modes == 4


def test_locked_joints_need_no_inertia():
    assert supple.modes(_wrist(), [0, 0, 0.5, 0], 3).certified


BAR = {"mass_per_length": 0.8, "bending_stiffness": [800.0, 500.0], "torsional_stiffness": 200.0}


@pytest.mark.parametrize("rods", ["single", "twist", "parallelogram"])
def test_rods_without_mass_are_for_elements(rods):
    lower = {"length": 0.6, "rods": rods, "theory": "rigid"}
    delta = supple.DeltaRobot(
        name="light",
        base_radius=0.15,
        platform={"radius": 0.06, "thickness": 0.02, "mass": 0.4},
        upper={"length": 0.3, **BAR},
        lower=lower | ({"spacing": 0.08} if rods == "parallelogram" else {}),
    )
    here = {"position": [0.05, -0.03, 0.5], "count": 3}
    with pytest.raises(supple.SuppleError, match=r"lower1a? has no mass .* method elements"):
        supple.modes(delta, **here)
    light = supple.modes(delta.with_("lower.mass_per_length", 1e-7), **here)
    assert np.allclose(supple.modes(delta, method="elements", **here).omega, light.omega, rtol=1e-5)
    with pytest.raises(supple.SuppleError, match="platform has no mass or inertia"):
        supple.modes(delta.with_({"lower.mass_per_length": 0.1, "platform.mass": 0.0}), **here)


def test_what_free_joints_carry_is_the_sum_over_all_links():
    """Composite bodies against the plain sum of J' C J, each link's Jacobian by itself."""
    robot = supple.load("two-arms")
    structure = structure_of(robot, np.random.default_rng(4).uniform(-1, 1, (3, 5)), "free")
    n = len(structure.segments)
    each = structure.known_numbers.floating
    M = np.tile(np.diag([release.inertia for _, release in each]), (3, 1, 1))
    root = np.zeros((n, 3, 6, len(each)))
    for i, segment in enumerate(structure.segments):
        if segment.parent >= 0:
            end = transport(structure.L[:, segment.parent]) @ root[segment.parent]
            root[i] = structure.T[:, i] @ end
        for k, (owner, release) in enumerate(each):
            root[i, :, :, k] += release.toward(slice(None)) * (owner == i)
        X = transport(structure.L[:, i])
        C = structure.root_mass[:, i] + segment.beam.mass_matrix()
        C = C + np.swapaxes(X, 1, 2) @ segment.tip_mass @ X
        M = M + np.swapaxes(root[i], 1, 2) @ C @ root[i]
    assert _released_mass_matrix(structure, each)[0] == pytest.approx(M, rel=1e-12, abs=1e-13)
