"""The Coriolis matrix by Christoffel symbols: bias = C qd, and M' - 2 C is skew-symmetric."""

import casadi
import numpy as np
import pytest

import supple

ROBOTS = (
    *("di-castri-two-link", "industrial-3", "de-luca-two-link", "theodore-rrp", "two-arms"),
    *("four-bar", "five-bar", "kuo-delta", "scara-parallel"),
)


def assembled(model: supple.Model) -> np.ndarray:
    """A state near where the robot can be built."""
    slides = model.robot.name == "theodore-rrp"
    start = {"theta0": [0.2, 0.3, 0.8]} if slides else {}
    run = supple.simulate(model, duration=1e-3, samples=2, **start)
    return run.q[0]


@pytest.mark.parametrize("name", ROBOTS)
def test_the_rate_of_mass_less_twice_coriolis_is_skew(name: str) -> None:
    robot = supple.load(name)
    model = supple.build(robot, supple.AssumedModes(1))
    rng = np.random.default_rng(1)
    q = assembled(model) + 1e-3 * rng.standard_normal(model.size)
    qd = rng.standard_normal(model.size)
    C = model.coriolis(q, qd)
    bias = model.bias(q, qd)
    assert C @ qd == pytest.approx(bias, abs=1e-12 * np.abs(C).max() * np.abs(qd).max() * len(qd))

    # The rate of M along qd by CasADi's directional derivative, an exact second route
    mass = model.functions["mass_matrix"]
    symbol = (
        casadi.SX.sym("q", model.size)
        if mass.is_a("SXFunction")
        else casadi.MX.sym("q", model.size)
    )
    value = mass(symbol)
    rate = casadi.Function(
        "rate", [symbol], [casadi.jtimes(casadi.vec(value), symbol, casadi.DM(qd))]
    )
    M_rate = np.array(rate(q)).reshape(model.size, model.size)
    skew = M_rate - 2 * C
    scale = np.abs(M_rate).max() + 2 * np.abs(C).max()
    assert np.abs(skew + skew.T).max() <= 1e-12 * scale


def test_the_same_of_a_hexapod_in_coordinates_of_equal_inertia() -> None:
    """A platform hangs on one rod by a ball joint, and counts 130,000 kg m2 in its torsion.

    The loops take all of that away but 0.6 kg m2, so that in the coordinates as they are rounding
    alone is 1e-11 of M'. Each coordinate is measured by the root of its inertia in the tree, which
    makes rates and entries comparable.
    """
    model = supple.build(supple.load("hexapod"), supple.AssumedModes(1))
    start = assembled(model)
    loops = model.functions.loops
    symbol = casadi.MX.sym("q", model.size)
    along = casadi.MX.sym("v", model.size)
    value = casadi.vec(model.functions["mass_matrix"](symbol))
    rate = casadi.Function("rate", [symbol, along], [casadi.jtimes(value, symbol, along)])
    rng = np.random.default_rng(1)
    for _ in range(3):
        q = start + 1e-3 * rng.standard_normal(model.size)
        tree = np.concatenate([q, model.functions.followers(q)])[loops.order]
        inertia = np.diag(np.array(model.functions.tree("mass")(tree)))[list(loops.independent)]
        qd = rng.standard_normal(model.size) / np.sqrt(inertia)
        unit = np.sqrt(np.outer(inertia, inertia))
        C = model.coriolis(q, qd) / unit
        M_rate = np.array(rate(q, qd)).reshape(model.size, model.size) / unit
        skew = M_rate - 2 * C
        assert np.abs(skew + skew.T).max() <= 1e-12 * np.abs(M_rate).max()


def test_many_states_are_the_single_ones() -> None:
    model = supple.build(supple.load("industrial-3"), supple.AssumedModes(1))
    rng = np.random.default_rng(2)
    q, qd = rng.standard_normal((2, 4, model.size))
    many = model.coriolis(q, qd)
    assert many.shape == (4, model.size, model.size)
    for i in range(4):
        assert many[i] == pytest.approx(model.coriolis(q[i], qd[i]), abs=1e-9)


def test_wrong_sizes_are_sentences() -> None:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match="qd has shape"):
        model.coriolis(np.zeros(model.size), [0.0])
