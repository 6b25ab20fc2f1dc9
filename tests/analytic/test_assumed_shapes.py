"""Assumed shapes: closed forms of cantilevers, end conditions, normalisation, every kind."""

import numpy as np
import pytest
from scipy.optimize import brentq

import supple
from supple import EndLoad
from supple.beams.fixed.assumed import assumed_shapes
from supple.beams.invariants import Invariants, invariants
from supple.beams.theory import Beam

INF = np.inf


def found(beam: Beam, end: EndLoad, *counts: int) -> Invariants:
    return invariants(beam, assumed_shapes(beam, end, *counts), end)


def frequencies(inv: Invariants) -> np.ndarray:
    return np.sqrt(np.diag(inv.K) / np.diag(inv.modal_mass))


@pytest.mark.parametrize("count", [1, 2, 6, 20])
def test_cantilever(count: int) -> None:
    """cos b cosh b = -1; with unit modal mass every tip deflects by +-2 (mass 1)."""
    inv = found(Beam(1.0, 1.0, EI=(1.0, INF)), EndLoad(), count)
    centres = (np.arange(count) + 0.5) * np.pi
    beta = [brentq(lambda b: np.cos(b) + 1 / np.cosh(b), c - 1, c + 1, xtol=1e-14) for c in centres]
    assert frequencies(inv) == pytest.approx(np.square(beta), rel=1e-12)
    assert np.abs(inv.N_end[1]) == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("load", [EndLoad(1.2, 0.13), EndLoad(1e6, 1e5), EndLoad(2.0, 1.0, 0.9)])
@pytest.mark.parametrize("kGA", [INF, 50.0])
def test_end_conditions_and_normalisation(load: EndLoad, kGA: float) -> None:
    """(16): EI psi' = omega^2 (J psi + MD v), -Q = omega^2 (M v + MD psi) at the end."""
    beam = Beam(0.7, 0.5, EI=(1.0, INF), kGA=(kGA, INF), rI=(0.0 if kGA == INF else 1e-3, 0.0))
    shapes = assumed_shapes(beam, load, 3)
    inv = invariants(beam, shapes, load)
    assert inv.modal_mass == pytest.approx(0.35 * np.eye(3), abs=1e-9)
    assert (inv.P[1] > 0).all()
    w2 = frequencies(inv) ** 2
    value = shapes.at(0.7)[0]
    slope = shapes.at(0.7, 1)[0]
    v = value[1]
    psi = value[5]
    moment = w2 * (load.about[2] * psi + load.moment * v)
    assert slope[5] == pytest.approx(moment, rel=1e-6, abs=1e-6 * np.abs(moment).max())
    force = w2 * (load.mass * v + load.moment * psi)
    shear = kGA * (slope[1] - psi) if kGA < INF else -shapes.at(0.7, 3)[0, 1]
    assert shear == pytest.approx(force, rel=1e-5, abs=1e-6 * np.abs(force).max())


def test_stretch_and_twist() -> None:
    """omega = (k - 1/2) pi c / L of free rods; one end mass M: x tan x = m L / M."""
    beam = Beam(2.0, 3.0, EA=12.0, EI=(1.0, 1.0), GJ=0.5, rIp=0.02)
    inv = found(beam, EndLoad(), 1, 3, 2)
    w = frequencies(inv)[2:]
    k = np.arange(1, 4) - 0.5
    assert w[:3] == pytest.approx(k * np.pi * np.sqrt(12 / 3) / 2, rel=1e-11)
    assert w[3:] == pytest.approx(k[:2] * np.pi * np.sqrt(0.5 / 0.02) / 2, rel=1e-11)
    loaded = found(beam, EndLoad(mass=6.0), 1, 1)
    x = frequencies(loaded)[2] * 2 / np.sqrt(12 / 3)
    assert x * np.tan(x) == pytest.approx(1.0, rel=1e-10)


def test_planes_carry_their_own_sign() -> None:
    """psi_z = v', psi_y = -w' without shear."""
    beam = Beam(1.0, 1.0, EI=(1.0, 2.0))
    shapes = assumed_shapes(beam, EndLoad(0.3, 0.1), 2)
    x = np.linspace(0, 1, 9)
    value = shapes.at(x)
    slope = shapes.at(x, 1)
    assert np.allclose(value[:, 5], slope[:, 1])
    assert np.allclose(value[:, 4], -slope[:, 2])
    assert shapes.kinds == ("xy", "xy", "xz", "xz")


@pytest.mark.parametrize(
    "basis",
    [
        supple.AssumedModes(2, torsion=1, axial=1),
        supple.FiniteElements(2),
        supple.FiniteElements(3, order="quintic", modes=2),
    ],
)
def test_a_damping_ratio_is_that_of_the_loaded_link_in_every_basis(basis) -> None:
    link = {"name": "a", "joint": {"type": "fixed"}, "length": 1.0, "damping_ratio": 0.02}
    link |= {"material": {"young_modulus": 7e10, "poisson_ratio": 0.3, "density": 2700}}
    link |= {"section": {"shape": "tube", "diameter": 0.03, "wall": 0.002}}
    robot = supple.SerialRobot(name="mast", links=[link | {"tip": {"mass": 0.4}}])
    found = supple.linearize(supple.build(robot, basis))
    assert np.allclose(found.damping_ratios, 0.02, rtol=1e-6)


def test_legs_of_a_delta_damp_alike_in_every_basis() -> None:
    robot = supple.load("kuo-delta")
    ratios = []
    for basis in (supple.AssumedModes(3, axial=1, torsion=1), supple.FiniteElements(4)):
        model = supple.build(robot, basis, damping=0.02)
        here = [k for k, name in enumerate(model.coordinates) if name.startswith("eta.upper1.xz")]
        D, K = (matrix[np.ix_(here, here)] for matrix in (model.damping, model.stiffness))
        load = np.linalg.solve(K, D)  # D K^-1 has 2 zeta / omega, the lowest mode first
        ratios.append(np.sort(np.linalg.eigvals(load).real)[::-1][0])
    assert np.isclose(*ratios, rtol=1e-3)
