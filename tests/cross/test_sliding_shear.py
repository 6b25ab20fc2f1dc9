"""Links that slide and shear: exact modes, Lagrange's equations, energy, no shear as a limit."""

import numpy as np
import pytest
from scipy.linalg import eigh

import supple
from supple.beams.invariants import invariants
from supple.beams.shapes import EndLoad
from supple.beams.sliding.following import following_modes
from supple.equations.equilibrium import stiffness_at
from supple.structure.link_parts import link_beam

FAT = {
    "mass_per_length": 235.5,
    "bending_stiffness": [47.25e6, 5.25e6],
    "shear_stiffness": [2e9, 2e9],
    "rotary_inertia_per_length": 1.5,
    "torsional_stiffness": 1e7,
}
SOFT = FAT | {"axial_stiffness": 4e8}  # stretches too
STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}
TAPER = [
    {"at": at, "section": {"shape": "rectangle", "depth": depth, "width": 0.1}}
    for at, depth in ((0, 0.4), (1.2, 0.3), (1.2, 0.25), (2, 0.2))
]


def crane(boom: dict[str, object], **changes: object) -> supple.Robot:
    """A turning hub with a thick boom that slides through it; it does not stretch."""
    hub = {"name": "hub", "joint": {}, "length": 0.2, "theory": "rigid"}
    hub["body"] = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    own = {"name": "boom", "joint": {"type": "prismatic"}, "length": 2} | boom
    own["tip"] = {"mass": 100, "inertia": [1, 1, 2]}
    given = {"name": "crane", "planar": True, "links": [hub, own]} | changes
    return supple.SerialRobot.model_validate(given)


def held(model: supple.Model, l: float) -> np.ndarray:
    """Frequencies with the joints held."""
    q = np.zeros(model.size)
    q[1] = l
    own = slice(2, None)
    K = stiffness_at(model, q)[own, own]
    M = model.mass_matrix(q)[own, own]
    return np.sqrt(eigh(K, M, eigvals_only=True))


def test_elements_come_to_the_exact_beam_from_above() -> None:
    robot = crane(FAT)
    off = []
    bases = [supple.FiniteElements(n) for n in (2, 4)] + [supple.FiniteElements(1, "quintic")]
    models = [supple.build(robot, basis) for basis in bases]
    for l in (2.0, 0.6):
        exact = supple.modes(robot, [0, l], count=2).omega
        off.append([held(model, l)[:2] / exact - 1 for model in models])
    found = np.array(off)
    assert (found > -1e-9).all()
    assert (found[:, 1] < 0.35 * found[:, 0]).all()  # h^2
    assert found[:, 2, 0].max() < 1e-6
    assert found[:, 2].max() < 2e-3


@pytest.mark.parametrize(
    "robot", [crane(FAT), crane(FAT | {"theory": "euler-bernoulli"}, planar=False)]
)
def test_a_damping_ratio_is_that_of_the_free_part_at_every_length(robot: supple.Robot) -> None:
    """Without a tip body, 2 zeta omega m of the modes at that length, not at the whole one."""
    l = 0.5
    bare = robot.with_("links.boom.tip", None)
    model = supple.build(bare, supple.FiniteElements(2), damping=0.03)
    q = np.zeros(model.size)
    still = np.zeros(model.size)
    h = 1e-4
    q[1] = l
    M = model.mass_matrix(q)
    pulled = [model.forward_dynamics(q, h * e, [0, 0]) for e in np.eye(model.size)[2:]]
    D = -(M @ (np.array(pulled) - model.forward_dynamics(q, still, [0, 0])).T / h)[2:]
    omega2, V = eigh(stiffness_at(model, q)[2:, 2:], M[2:, 2:])
    np.testing.assert_allclose(np.diag(V.T @ D @ V) / (2 * np.sqrt(omega2)), 0.03, rtol=1e-5)


def test_assumed_modes_are_those_of_the_exact_beam_at_every_length() -> None:
    robot = crane(SOFT)
    model = supple.build(robot, supple.AssumedModes(1, axial=1))
    for l in (2.0, 1.3, 0.6, 0.1):
        found = held(model, l)
        exact = supple.modes(robot, [0, l], count=4).omega
        assert np.abs(found[:, None] / exact - 1).min(axis=1).max() < 1e-9


def test_the_highest_of_many_modes_come_near() -> None:
    """They are made without rotary inertia, where series with it do not settle."""
    robot = crane(SOFT)
    end = EndLoad(100.0, [1.0, 1.0, 2.0])
    beam = link_beam(robot, robot.links[1])
    shapes = following_modes(beam, end, 6, 1, 0)
    assert shapes is not None
    for l in (2.0, 1.3, 0.6, 0.1):
        inv = invariants(beam.outside(l), shapes.shapes_at(l), end)
        found = np.sqrt(eigh(inv.K, inv.modal_mass, eigvals_only=True))
        exact = supple.modes(robot, [0, l], count=8).omega
        assert np.abs(found[:4, None] / exact - 1).min(axis=1).max() < 1e-9
        assert (found > exact[:7] * (1 - 1e-9)).all()
        families = shapes.families(l)[0]
        K = [[x.value for x in row] for row in families.stiffness]
        modulus = np.array([beam.EA if kind == "axial" else beam.EI[0] for kind in shapes.kinds])
        np.testing.assert_allclose(K * modulus, inv.K, rtol=1e-9, atol=1e-12 * inv.K.max())


@pytest.mark.parametrize(
    ("boom", "basis", "options"),
    [
        (FAT, supple.AssumedModes(2), {}),
        (SOFT, supple.AssumedModes(1, axial=1), {"stiffening": True}),
        (SOFT, supple.AssumedModes(1, axial=1), {"planar": False}),
        (SOFT, supple.FiniteElements(2), {"stiffening": True}),
        (FAT, supple.FiniteElements(1), {"planar": False}),
        ({"stations": TAPER, "material": STEEL}, supple.FiniteElements(2), {}),
        (FAT | {"theory": "euler-bernoulli"}, supple.AssumedModes(1), {"planar": False}),
    ],
    ids=["modes", "stretch", "all", "shortened", "space", "stations", "twist alone"],
)
def test_inertial_forces_are_those_of_lagrange(boom, basis, options) -> None:
    """bias = dM/dt qd - d(qd' M qd/2)/dq from the mass matrix alone: so energy is kept.

    Slopes jump at the hub (shear, twist) and from element to element: both count.
    """
    stiffening = options.pop("stiffening", False)
    model = supple.build(crane(boom, **options), basis, stiffening=stiffening)
    rng = np.random.default_rng(1)
    n = model.size
    h = 1e-3
    twist = np.array(["torsion" in name for name in model.coordinates])
    size = np.where(twist, 0.02, 1.0)
    q = 0.02 * rng.normal(size=n) * size
    qd = 0.3 * rng.normal(size=n) * size
    q[:2] = (0.3, 1.1)
    qd[:2] = (1.1, -0.7)

    def slope(f, e):
        ahead = f(q + h * e) - f(q - h * e)
        behind = f(q + 2 * h * e) - f(q - 2 * h * e)
        return (8 * ahead - behind) / (12 * h)

    turned = slope(model.mass_matrix, qd) @ qd
    pushed = [slope(lambda x: qd @ model.mass_matrix(x) @ qd / 2, e) for e in np.eye(n)]
    wanted = turned - pushed
    np.testing.assert_allclose(model.bias(q, qd), wanted, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.slow
def test_energy_is_balanced_as_it_extends_and_retracts() -> None:
    robot = crane(FAT, gravity=[0, -9.81, 0])
    model = supple.build(robot, supple.AssumedModes(2))
    q0 = np.zeros(model.size)
    q0[1] = 0.8

    def tau(t: float) -> np.ndarray:
        return np.array([3000.0, 9000 * np.cos(12 * t)])

    run = supple.simulate(model, tau=tau, q0=q0, duration=0.5, tolerance=1e-11)
    length = run.q[:, 1]
    assert length.max() > 0.85
    assert np.diff(length).max() > 0 > np.diff(length).min()
    size = np.abs(run.work).max() + np.ptp(run.energy)
    assert np.abs(run.balance).max() < 1e-8 * size


def test_without_shear_and_rotary_inertia_it_is_euler_bernoulli() -> None:
    """Shear strain falls as 1/kGA, and with it all that is different."""
    stiff = FAT | {"shear_stiffness": [1e16, 1e16], "rotary_inertia_per_length": 0.0}
    plain = {k: v for k, v in stiff.items() if k != "shear_stiffness"}
    basis = supple.FiniteElements(2)
    models = [supple.build(crane(boom), basis) for boom in (stiff, plain)]
    q = np.array([0.3, 0.9, 0.01, -0.02, 0.03, 0.01])
    qd = np.array([1.0, 0.8, -0.1, 0.2, 0.1, -0.3])
    for name, args in {"mass_matrix": (q,), "bias": (q, qd), "energy": (q, qd)}.items():
        a, b = (getattr(model, name)(*args) for model in models)
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7 * np.abs(b).max(), err_msg=name)
