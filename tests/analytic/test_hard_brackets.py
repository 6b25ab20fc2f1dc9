"""Certified brackets of arms that are hard for doubles hold their root, or widen honestly.

Each end of a bracket is judged in forty digits: J below the lower end is at most k - 1, J at the
upper end at least k, zero modes counted along.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mpf

import supple
from analytic import many_digits
from mechanisms import random_mechanism

STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7800.0}
SECTION = {"shape": "rectangle", "depth": 0.02, "width": 0.05, "shear_coefficient": 0.85}


def link(name: str, length: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "length": length, "material": STEEL, "section": SECTION, **more}


def judged(
    robot: supple.Robot, theta: Any, joints: str, count: int = 3, digits: int = 40
) -> np.ndarray:
    """Widths of the brackets, after each was found to hold its root."""
    found = supple.modes(robot, theta, count, joints=joints)
    structure = found.structure
    for k, (w, width) in enumerate(zip(found.omega, found.width, strict=True), 1):
        if not np.isfinite(width):
            assert not found.certified
            continue
        low, high = (mpf(float(w)) * (1 + side * mpf(float(width)) / 2) for side in (-1, 1))
        zeros = int(found.rigid_modes)
        assert many_digits.count_below(structure, low, digits) <= zeros + k - 1, (k, w, width)
        assert many_digits.count_below(structure, high, digits) >= zeros + k, (k, w, width)
    return found.width


def wrist() -> supple.SerialRobot:
    """A beam with a free wrist of three axes; its first and third fall together at angle 0."""
    tool = {"mass": 2.0, "com": [0.05, 0.01, 0.0], "inertia": [0.01, 0.02, 0.03]}
    hub = {"mass": 0.5, "inertia": [1e-3, 1e-3, 1e-3]}
    axes = ([1.0, 0, 0], [0, 1.0, 0], [1.0, 0, 0])
    links = [link("arm", 0.8)]
    links += [
        {"name": f"wrist{i}", "length": 0.04, "theory": "rigid", "mass_per_length": 0.5,
         "joint": {"axis": axis, "hub": hub}}
        for i, axis in enumerate(axes, 1)
    ]  # fmt: skip
    links[-1]["tip"] = tool
    return supple.SerialRobot(name="wrist", links=links)


@pytest.mark.slow
@pytest.mark.parametrize("angle", [1e-3, 1e-6, 0.0])
def test_a_free_wrist_near_gimbal_lock(angle: float) -> None:
    """Two of its hinges fall together: the roots were 1.7e-8 off in brackets of 2e-11."""
    assert (judged(wrist(), [0.3, 0.2, angle, 0.4], "free") < 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize("gap", [1e-3, 1e-6])
def test_free_hinges_close_together_in_space(gap: float) -> None:
    """Hinges about z and nearly z, a millimetre and a micrometre apart."""
    links = [link("a", 0.8), link("gap", gap), link("b", 0.6, joint={"axis": [0.02, 0.01, 1.0]})]
    robot = supple.SerialRobot(name="hinges", links=links)
    assert (judged(robot, [0.3, 0.4, 0.5], "free", 2) < 1e-6).all()


@pytest.mark.parametrize("joints", ["locked", "free"])
@pytest.mark.parametrize("mass", [1e3, 1e9])
def test_heavy_offset_bodies(mass: float, joints: str) -> None:
    """1e9 kg at 0.1 m beside a beam's end: 1e-7 off before."""
    tip = {"mass": mass, "com": [0.0, 0.1, 0.0], "inertia": 1e-3 * mass}
    robot = supple.SerialRobot(
        name="heavy", planar=True, links=[link("a", 0.5), link("b", 0.7, tip=tip)]
    )
    assert (judged(robot, [0.2, 0.9], joints) < 1e-9).all()


@pytest.mark.parametrize("factor", [1.0, 1e-6, 1e-12, 1e-20])
def test_soft_shear(factor: float) -> None:
    """Times 1e-20: nonsense before. Far below bending it is a shear beam, (2 k - 1) pi / 2 L c."""
    soft = {
        "name": "a", "length": 0.5, "theory": "timoshenko", "mass_per_length": 7.8,
        "bending_stiffness": 7000.0, "axial_stiffness": 2.1e8, "torsional_stiffness": 2700.0,
        "shear_stiffness": 6.9e7 * factor, "rotary_inertia_per_length": 2.6e-4,
    }  # fmt: skip
    robot = supple.SerialRobot(name="soft", planar=True, links=[soft])
    assert (judged(robot, [0.0], "locked", digits=60) < 1e-9).all()
    if factor <= 1e-12:  # k G A L^2 / E I: what bending still adds
        waves = np.pi / (2 * 0.5) * np.sqrt(6.9e7 * factor / 7.8) * np.array([1, 3, 5])
        assert supple.modes(robot, [0.0], 3).omega == pytest.approx(waves, rel=1e4 * factor + 1e-9)


@pytest.mark.filterwarnings("ignore::supple.errors.PoseWarning")
@pytest.mark.parametrize("seed", [12, 14])
def test_closures_of_very_different_stiffness(seed: int) -> None:
    """Slides and slots among the closures: mode 4 of mechanism 12 was 8e-10 off in 2e-11."""
    robot = random_mechanism(seed)
    widths = judged(robot, None, "locked", 5)
    assert (widths < 1e-9).all()


@pytest.mark.parametrize("planar", [True, False])
def test_a_clamped_beam_closed_by_forces(planar: bool) -> None:
    """A closure clamps the far end of a beam: the guard of closures leaves narrow brackets."""
    clamp = {"link": "base", "mount": {"xyz": [0.8, 0, 0]}}
    beam = link("beam", 0.8, parent="base", joint={"type": "fixed"})
    closure = {"name": "clamp", "type": "fixed", "ends": [{"link": "beam"}, clamp]}
    robot = supple.MechanismRobot(name="clamped", planar=planar, links=[beam], closures=[closure])
    assert (judged(robot, None, "locked", 6) < 2.1e-11).all()


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::supple.errors.PoseWarning")
@pytest.mark.parametrize("part", range(10))
def test_three_hundred_mechanisms(part: int) -> None:
    for seed in range(30 * part, 30 * (part + 1)):
        judged(random_mechanism(seed), None, "locked", 5)
