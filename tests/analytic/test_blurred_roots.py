"""Where rounding once blurred certified roots: close hinges, and decoupled roots met exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import supple
from analytic import many_digits, twin
from supple.kernels.roots import count_below
from supple.structure import structure_of

STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7800.0}


def link(name: str, length: float, **more: Any) -> dict[str, Any]:
    section = {"shape": "rectangle", "depth": 0.02, "width": 0.05, "shear_coefficient": 0.85}
    return {"name": name, "length": length, "material": STEEL, "section": section, **more}


@pytest.mark.parametrize("gap", [1e-3, 1e-6])
def test_free_hinges_close_together_in_the_plane(gap: float) -> None:
    """Forty digits: the roots were 3e-8 and 3e-5 off, in brackets of 2e-11."""
    links = [link("a", 0.8), link("gap", gap), link("b", 0.6)]
    robot = supple.SerialRobot(name="hinges", planar=True, links=links)
    theta = [0.3, 0.4, 0.5]
    found = supple.modes(robot, theta, 4, joints="free")
    assert found.certified
    arm = twin.pieces(robot, theta, "free")
    for w, width in zip(found.omega, found.width, strict=True):
        assert abs(float(w / twin.refine(arm, w)) - 1) < width / 2


@pytest.mark.slow
@pytest.mark.parametrize("gap", [1e-3, 1e-6])
def test_nearly_parallel_free_hinges_in_space_widen_their_brackets(gap: float) -> None:
    links = [
        link("a", 0.8),
        link("gap", gap, joint={"axis": [0, 1, 1]}, roll=0.3),
        link("b", 0.6, joint={"axis": [0, 1, 1.0001]}),
    ]
    robot = supple.SerialRobot(name="hinges", links=links)
    found = supple.modes(robot, [0.3, 0.4, 0.5], 2, joints="free")
    assert not found.certified
    for k, (w, width) in enumerate(zip(found.omega, found.width, strict=True)):
        ends = [many_digits.count_below(found.structure, w * (1 + s * width)) for s in (-1, 1)]
        assert ends == [found.rigid_modes + k, found.rigid_modes + k + 1]


def test_a_decoupled_root_met_exactly_is_counted() -> None:
    """The first axial frequency of a straight bar, and a few numbers on either side of it."""
    robot = supple.SerialRobot(
        name="bar", planar=True, links=[link("a", 1.0, joint={"stiffness": 1e4})]
    )
    tree = structure_of(robot, [0.0]).tree()
    m, EA = tree.beams[0, :2]
    omega = math.pi / 2 * math.sqrt(EA / m)
    for _ in range(20):
        omega = np.nextafter(omega, 0)
    seen = []
    for _ in range(41):
        J, f, _ = count_below(tree, np.array([omega]))
        assert J[0] >= 0
        assert np.isfinite(f[0])
        seen.append(int(J[0]))
        omega = np.nextafter(omega, np.inf)
    assert seen == sorted(seen)
    assert seen[-1] == seen[0] + 1
