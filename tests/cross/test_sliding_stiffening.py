"""Axial load on links that slide: `build(stiffening=True)` against elements, rods and closed forms.

A bent beam keeps its length, so what pushes or pulls it along changes its stiffness. In both bases.
"""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import eigvalsh
from scipy.optimize import brentq
from scipy.special import jv

import supple
from cross.moving_boundary import SlidingBeam
from cross.slides import check_held, held_twin
from supple.beams.basis import AssumedModes, FiniteElements
from supple.equations.build import build
from supple.equations.equilibrium import stiffness_at, total_stiffness
from supple.errors import SuppleError
from supple.studies.motion.simulate import simulate

RRP = supple.load("theodore-rrp")
BASES = [AssumedModes(2), FiniteElements(2, "quintic", modes=1)]


def mast(EI=60.0, gravity=(0.0, 0.0, 0.0), length=1.3, payload=0.0828, **joint):
    """One link that slides along the base's x, mass 0.331 kg/m."""
    beam = {"length": length, "mass_per_length": 0.331, "bending_stiffness": EI}
    link = {"name": "mast", "joint": {"type": "prismatic", **joint}, **beam,
            "theory": "euler-bernoulli"}  # fmt: skip
    load = {"payload": {"mass": payload}} if payload else {}
    return supple.SerialRobot(name="mast", gravity=list(gravity), links=[link], **load)


@pytest.mark.parametrize("basis", BASES, ids=str)
@pytest.mark.parametrize("l", [0.3, 0.77])
def test_held_still_it_equals_the_stiffened_link_of_that_length(basis, l):
    heavy = RRP.with_("gravity", [1.0, -2.0, -9.0])
    slide, fixed = (build(one, basis, stiffening=True) for one in (heavy, held_twin(heavy, 2, l)))
    check_held(slide, fixed, "link3", 2, l)


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_bias_and_gravity_are_those_of_lagrange(basis):
    """h from M(q), g from the height of the masses: rates along l against positions."""
    model = build(RRP.with_("gravity", [1.0, -2.0, -9.0]), basis, stiffening=True)
    x = ca.SX.sym("x", model.size)
    v = ca.SX.sym("v", model.size)
    momentum = model.functions.expression("mass_matrix")(x) @ v
    lagrange = ca.jtimes(momentum, x, v) - ca.gradient(ca.dot(momentum, v), x) / 2
    height = ca.gradient(model.functions.expression("energies")(x, 0 * v)[2], x)
    both = ca.Function("h", [x, v], [lagrange, height])
    rng = np.random.default_rng(2)
    for _ in range(3):
        bent = rng.normal(size=model.size - 3) * 0.05
        q = np.r_[rng.normal(size=2), rng.uniform(0.2, 1.3), bent]
        qd = rng.normal(size=model.size)
        for ours, theirs in zip((model.bias(q, qd), model.gravity(q)), both(q, qd), strict=True):
            wanted = np.array(theirs).ravel()
            np.testing.assert_allclose(ours, wanted, atol=1e-11 * np.abs(wanted).max())


def places(model, q, from_far):
    """Material points (n, 3) of a mast, at distances from its far end, by a fine running sum."""
    l = q[0]
    n = 801
    s = np.linspace(0.0, l, n)
    v = np.array([model.deflection_at(q, "mast", x / l)[1:] for x in s])
    slope = np.gradient(v, s, axis=0, edge_order=2)
    half = (slope**2).sum(axis=1) / 2
    short = np.concatenate([[0.0], np.cumsum((half[1:] + half[:-1]) / 2 * np.diff(s))])
    out = np.stack([s - short, *v.T], axis=1)
    return np.array([[np.interp(l - d, s, column) for column in out.T] for d in from_far])


@pytest.mark.slow
@pytest.mark.parametrize("basis", BASES, ids=str)
def test_kinetic_energy_is_that_of_its_material_points(basis):
    """By differences of their places in time: the outer part by Gauss points, the rest rigid."""
    model = build(mast(payload=0.0), basis, stiffening=True)
    rng = np.random.default_rng(4)
    q = np.r_[0.6, rng.normal(size=model.size - 1) * 0.05]
    qd = np.r_[0.8, rng.normal(size=model.size - 1)]
    t, w = np.polynomial.legendre.leggauss(24)
    h, cut = 1e-5, 0.59  # nearer the hub the points are at rest but for the slide, to 1e-6
    far = (t + 1) / 2 * cut
    speed = (places(model, q + h * qd, far) - places(model, q - h * qd, far)) / (2 * h)
    outer = 0.331 / 2 * (w * cut / 2) @ (speed**2).sum(axis=1)
    inner = 0.331 / 2 * (1.3 - cut) * 0.8**2
    assert model.energies(q, qd)["kinetic"] == pytest.approx(outer + inner, rel=1e-4)


@pytest.mark.parametrize("basis", [AssumedModes(3), FiniteElements(2, "quintic", modes=2)], ids=str)
def test_pushed_out_hard_it_bends_as_moving_boundary_elements_with_axial_load(basis):
    """Root at rest, 280 m/s^2 along the beam out and back to rest, a small push across: linear.

    Without the axial load the tip is off by 16 % of the peak.
    """
    path = supple.ParabolicBlends([0.3], [1.0], 0.1, 0.05)
    across = 1e-3
    model = build(mast(gravity=(-3.0, -across, 0.0)), basis, stiffening=True)
    run = simulate(model, controller=supple.Decoupling(), trajectory=path, dt=2e-3, method="adams",
                   tolerance=1e-10, q0=np.r_[0.3, np.zeros(model.size - 1)])  # fmt: skip
    ours = run.deflection("mast")[:, 1]

    def motion(t):
        l, U, Ud = (float(x[0]) for x in path(t))
        return l, U, Ud, (np.zeros(3), np.zeros(3), np.array([3.0, across, 0.0]))

    tips = {}
    for axial in (True, False):
        beam = SlidingBeam(0.331, 60.0, 0.0828, 4, axial=axial)
        tips[axial] = beam.tip(beam.run(motion, np.linspace(0.0, 0.1, 401)))[::8, 0]
    peak = np.abs(tips[True]).max()
    assert np.abs(ours - tips[True]).max() < 5e-4 * peak
    assert np.abs(ours - tips[False]).max() > 0.15 * peak


@pytest.mark.parametrize(
    ("basis", "off"),
    [(AssumedModes(3), 2e-4), (FiniteElements(2, "quintic"), 1e-6)],
    ids=str,
)
def test_a_mast_pushed_up_buckles_under_its_own_weight_at_the_known_length(basis, off):
    """m g l^3 / EI = 7.837347, from the first zero of J_-1/3(2/3 sqrt(x)): [Greenhill1881].

    Bases are stiffer than the beam: they buckle later, never earlier.
    """
    upright = {"mount": {"rpy": [0, -np.pi / 2, 0]}}
    model = build(mast(100.0, (0, 0, -9.81), 12.0, 0.0, **upright), basis, stiffening=True)

    def lowest(l):
        q = np.r_[l, np.zeros(model.size - 1)]
        return eigvalsh(total_stiffness(model, q)[1:, 1:], model.mass_matrix(q)[1:, 1:])[0]

    l = brentq(lowest, 2.0, 11.0, xtol=1e-12)
    load = (1.5 * brentq(lambda x: jv(-1 / 3, x), 1.5, 2.2, xtol=1e-14)) ** 2
    assert load == pytest.approx(7.837347, abs=5e-7)
    known = (load * 100.0 / (0.331 * 9.81)) ** (1 / 3)
    assert 0 < l / known - 1 < off
    assert lowest(0.9 * l) > 0 > lowest(1.1 * l)
    unstiffened = build(mast(100.0, (0, 0, -9.81), 12.0, 0.0, **upright), basis)
    assert eigvalsh(stiffness_at(unstiffened, np.r_[11.0, np.zeros(model.size - 1)])[1:, 1:])[0] > 0


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_energy_balance_while_it_slides(basis):
    heavy = {"gravity": [1.0, -2.0, -9.0], "links.link3.damping_ratio": 0.01,
             "links.link3.bending_stiffness": 60.0}  # fmt: skip
    model = build(RRP.with_(heavy), basis, stiffening=True)
    q0 = np.zeros(model.size)
    q0[:3] = (0.2, 0.7, 0.5)
    q0[3:] = 3e-3
    run = simulate(model, [0.3, -0.2, 2.0], q0, duration=0.1, method="adams", tolerance=1e-11)
    assert np.abs(run.balance).max() < 1e-8 * np.abs(run.energies["kinetic"]).max()
    assert run.complete
    assert np.ptp(run.q[:, 2]) > 1e-2


def test_the_paper_reading_has_no_stiffening():
    with pytest.raises(SuppleError, match="velocity 'material'"):
        build(RRP, AssumedModes(1), stiffening=True, velocity="paper")
