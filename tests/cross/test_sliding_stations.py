"""Links that slide and have stations: against uniform ones, exact modes, their power, statics."""

import numpy as np
import pytest
from scipy.linalg import eigh

import supple

STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}


def bar(depth: float, width: float = 0.03) -> dict[str, object]:
    """A rectangular section."""
    return {"shape": "rectangle", "depth": depth, "width": width}


def stations(*places: tuple[float, dict[str, object]]) -> dict[str, object]:
    """Sections at places along a link, m."""
    return {"stations": [{"at": at, "section": section} for at, section in places]}


JUMPS = stations((0, bar(0.06)), (1.2, bar(0.04)), (1.2, bar(0.035, 0.02)), (2, bar(0.02, 0.02)))


def crane(sections: dict[str, object], **changes: object) -> supple.Robot:
    """A turning hub with a boom that slides through it."""
    hub = {"name": "hub", "joint": {}, "length": 0.2, "theory": "rigid"}
    hub["body"] = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    boom = {"name": "boom", "joint": {"type": "prismatic"}, "length": 2, "material": "steel"}
    boom |= {"theory": "euler-bernoulli", "tip": {"mass": 1, "inertia": [0.01, 0.01, 0.02]}}
    given = {"name": "crane", "planar": True, "materials": {"steel": STEEL}}
    return supple.SerialRobot.model_validate(given | {"links": [hub, boom | sections]} | changes)


def state(model: supple.Model, l: float) -> tuple[np.ndarray, np.ndarray]:
    """A bent state in motion, high shapes and stretch as small as smooth motion has them."""
    rng = np.random.default_rng(1)
    order = np.arange(1.0, model.size + 1)
    order[[".axial" in name for name in model.coordinates]] *= 100
    q = 0.01 * rng.normal(size=model.size) / order**2
    qd = 0.1 * rng.normal(size=model.size) / order**2
    q[:2] = (0.3, l)
    qd[:2] = (1.1, -0.7)
    return q, qd


@pytest.mark.slow
@pytest.mark.parametrize("stiffening", [False, True])
@pytest.mark.parametrize("planar", [True, False])
def test_stations_all_alike_are_a_uniform_link(planar: bool, stiffening: bool) -> None:
    basis = supple.FiniteElements(1 if stiffening or not planar else 2)
    middle = [(1.0, bar(0.04))] if basis.count == 2 else []  # a station is a break of the elements
    alike = stations((0, bar(0.04)), *middle, (2.0, bar(0.04)))
    given = {"planar": planar, "gravity": [1.0, -9.81, 0.0]}
    plain = supple.build(crane({"section": bar(0.04)}, **given), basis, stiffening=stiffening)
    varied = supple.build(crane(alike, **given), basis, stiffening=stiffening)
    q, qd = state(plain, 1.1)
    for name, args in {
        "mass_matrix": (q,),
        "bias": (q, qd),
        "gravity": (q,),
        "energy": (q, qd),
        "forward_dynamics": (q, qd, [1.0, 2.0]),
        "tip": (q,),
    }.items():
        expected = getattr(plain, name)(*args)
        found = getattr(varied, name)(*args)
        atol = 1e-11 * np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=atol, err_msg=name)


@pytest.mark.slow
def test_with_a_locked_slide_it_is_the_exact_beam_at_every_length() -> None:
    """Tapered, no jump: elements converge to the exact modes as h^4, from above."""
    robot = crane(stations((0, bar(0.06)), (2, bar(0.02))))
    lengths = (2.0, 1.3, 0.6)
    errors = []
    for elements in (2, 4):
        model = supple.build(robot, supple.FiniteElements(elements))
        for l in lengths:
            exact = supple.modes(robot, [0, l], count=2).omega
            errors.append(_locked_frequencies(model, l)[:2] / exact - 1)
    coarse = np.array(errors[: len(lengths)])
    fine = np.array(errors[len(lengths) :])
    assert (coarse > -1e-8).all()
    assert (fine > -1e-8).all()
    assert (fine < 0.15 * coarse).all()


def _locked_frequencies(model: supple.Model, l: float) -> np.ndarray:
    """Frequencies, rad/s, of the elastic coordinates; stiffness by differences."""
    q = np.zeros(model.size)
    q[1] = l
    at_rest = np.zeros(model.size)
    no_effort = [0.0, 0.0]
    h = 1e-6
    columns = []  # of -M K over the elastic coordinates
    for unit in np.eye(model.size)[2:]:
        ahead = model.forward_dynamics(q + h * unit, at_rest, no_effort)
        behind = model.forward_dynamics(q - h * unit, at_rest, no_effort)
        columns.append((behind - ahead) / (2 * h))
    M = model.mass_matrix(q)
    K = M[2:] @ np.array(columns).T
    return np.sqrt(eigh((K + K.T) / 2, M[2:, 2:], eigvals_only=True))


@pytest.mark.slow
@pytest.mark.parametrize("basis", [supple.FiniteElements(4), supple.AssumedModes(2)])
def test_power_balances_as_a_jump_of_the_section_passes_the_hub(basis: supple.Basis) -> None:
    """dE/dt = tau' qd, the jump outside, inside, and at a break of the elements."""
    model = supple.build(crane(JUMPS, gravity=[0.0, -9.81, 0.0]), basis)
    tau = np.array([3.0, -2.0])
    h = 1e-6
    for l in (1.7, 0.81, 0.79, 0.4):
        q, qd = state(model, l)
        qdd = model.forward_dynamics(q, qd, tau)
        times = h * np.array([-2, -1, 1, 2])
        E = [model.energy(q + t * qd + t * t / 2 * qdd, qd + t * qdd) for t in times]
        rate = (E[0] - 8 * E[1] + 8 * E[2] - E[3]) / (12 * h)
        np.testing.assert_allclose(rate, tau @ qd[:2], rtol=1e-6)


@pytest.mark.slow
def test_rest_is_that_of_statics() -> None:
    """A tip force bends a tapered boom as the exact beam, four elements being good to h^4."""
    robot = crane(stations((0, bar(0.06)), (2, bar(0.02))), gravity=[0.0, -9.81, 0.0])
    model = supple.build(robot, supple.FiniteElements(4))
    q = np.zeros(model.size)
    q[1] = 1.4
    h = 1e-6
    slope = []
    for unit in np.eye(model.size)[2:]:
        difference = model.energy(q + h * unit, 0 * q) - model.energy(q - h * unit, 0 * q)
        slope.append(difference / (2 * h))
    elastic = range(2, model.size)
    K = np.empty((len(elastic), len(elastic)))
    for i in elastic:
        for j in elastic:
            K[i - 2, j - 2] = _second(model, q, i, j)
    q[2:] = -np.linalg.solve(K, slope)
    sag = (model.tip(q) - supple.forward(robot, [0, 1.4]).position)[1]
    exact = supple.statics(robot, [0, 1.4]).tip_displacement[1]
    np.testing.assert_allclose(sag, exact, rtol=2e-3)


def _second(model: supple.Model, q: np.ndarray, i: int, j: int, h: float = 1e-3) -> float:
    """A second derivative of the energy, which is quadratic."""
    at_rest = 0 * q
    a = np.eye(model.size)[i] * h
    b = np.eye(model.size)[j] * h
    same_signs = model.energy(q + a + b, at_rest) + model.energy(q - a - b, at_rest)
    opposite_signs = model.energy(q + a - b, at_rest) + model.energy(q - a + b, at_rest)
    return float(same_signs - opposite_signs) / (4 * h * h)
