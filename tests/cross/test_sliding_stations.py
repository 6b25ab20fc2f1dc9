"""Links that slide and have stations: against uniform ones, exact modes, their power, statics."""

import numpy as np
import pytest
from scipy.linalg import eigh

import supple

STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}


def bar(depth: float, width: float = 0.03) -> dict[str, object]:
    return {"shape": "rectangle", "depth": depth, "width": width}


def stations(*each: tuple[float, dict[str, object]]) -> dict[str, object]:
    return {"stations": [{"at": at, "section": section} for at, section in each]}


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
    rng, k = np.random.default_rng(1), np.arange(1.0, model.size + 1)
    k[[".axial" in name for name in model.coordinates]] *= 100
    q, qd = 0.01 * rng.normal(size=model.size) / k**2, 0.1 * rng.normal(size=model.size) / k**2
    q[:2], qd[:2] = (0.3, l), (1.1, -0.7)
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
        a, b = (getattr(model, name)(*args) for model in (plain, varied))
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-11 * np.abs(a).max(), err_msg=name)


@pytest.mark.slow
def test_the_slide_held_is_the_exact_beam_wherever_it_stands() -> None:
    """Tapered, no jump: elements come to the exact modes as h^4, from above."""
    robot = crane(stations((0, bar(0.06)), (2, bar(0.02))))
    off = []
    for n in (2, 4):
        model = supple.build(robot, supple.FiniteElements(n))
        for l in (2.0, 1.3, 0.6):
            q, h = np.zeros(model.size), 1e-6
            q[1] = l
            M, still, none = model.mass_matrix(q), 0 * q, [0.0, 0.0]
            ahead, behind = (
                [model.forward_dynamics(q + s * h * e, still, none) for e in np.eye(model.size)[2:]]
                for s in (1, -1)
            )
            K = M[2:] @ (np.array(behind) - ahead).T / (2 * h)
            found = np.sqrt(eigh((K + K.T) / 2, M[2:, 2:], eigvals_only=True)[:2])
            off.append(found / supple.modes(robot, [0, l], count=2).omega - 1)
    assert (np.array(off) > -1e-8).all()
    assert (np.array(off[3:]) < 0.15 * np.array(off[:3])).all()


@pytest.mark.slow
@pytest.mark.parametrize("basis", [supple.FiniteElements(4), supple.AssumedModes(2)])
def test_power_balances_as_a_jump_of_the_section_passes_the_hub(basis: supple.Basis) -> None:
    """dE/dt = tau' qd, the jump outside, inside, and at a break of the elements."""
    model = supple.build(crane(JUMPS, gravity=[0.0, -9.81, 0.0]), basis)
    tau, h = np.array([3.0, -2.0]), 1e-6
    for l in (1.7, 0.81, 0.79, 0.4):
        q, qd = state(model, l)
        qdd = model.forward_dynamics(q, qd, tau)
        ts = h * np.array([-2, -1, 1, 2])
        E = [model.energy(q + t * qd + t * t / 2 * qdd, qd + t * qdd) for t in ts]
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
    slope = np.array(
        [
            (model.energy(q + h * e, 0 * q) - model.energy(q - h * e, 0 * q)) / (2 * h)
            for e in np.eye(model.size)[2:]
        ]
    )
    K = np.array(
        [[_second(model, q, i, j) for j in range(2, model.size)] for i in range(2, model.size)]
    )
    q[2:] = -np.linalg.solve(K, slope)
    sag = (model.tip(q) - supple.forward(robot, [0, 1.4]).position)[1]
    exact = supple.statics(robot, [0, 1.4]).tip_displacement[1]
    np.testing.assert_allclose(sag, exact, rtol=2e-3)


def _second(model: supple.Model, q: np.ndarray, i: int, j: int, h: float = 1e-3) -> float:
    """A second derivative of the energy, which is quadratic."""
    still, (a, b) = 0 * q, np.eye(model.size)[[i, j]] * h
    corners = [model.energy(q + s * a + t * b, still) * s * t for s in (1, -1) for t in (1, -1)]
    return float(sum(corners)) / (4 * h * h)
