"""Geometric stiffening: spinning beams against a power series, and Kane's spin-up."""

from functools import cache

import numpy as np
import pytest

from spinning import first_flapwise
from supple import AssumedModes, Model, SerialRobot, build

# The beam of [Kane1987]: a spin-up to 4 rad/s in 15 s.
LENGTH = 8.0
E = 6.8952e10
I = 8.2189e-9
A = 7.2968e-5
RHO = 2.7667e3
UNIT = np.sqrt(E * I / (RHO * A * LENGTH**4))


def beam(planar: bool = False) -> SerialRobot:
    link = {
        "name": "beam",
        "joint": {"hub": {"inertia": 1.0}},
        "length": LENGTH,
        "mass_per_length": RHO * A,
        "bending_stiffness": E * I,
        "theory": "euler-bernoulli",
    }
    return SerialRobot.model_validate({"name": "spinning", "planar": planar, "links": [link]})


@cache
def stiffened(count: int) -> Model:
    return build(beam(), AssumedModes(count), stiffening=True)


def stiffness_at(model: Model, spin: float) -> np.ndarray:
    """Derivative of the elastic forces with eta at a steady spin."""
    zero = np.zeros(model.size)
    qd = np.zeros(model.size)
    step = 1e-5
    qd[0] = spin
    columns = [
        (model.inverse_dynamics(step * e, qd, zero) - model.inverse_dynamics(-step * e, qd, zero))
        / (2 * step)
        for e in np.eye(model.size)
    ]
    return np.array(columns).T


def plane(model: Model, kind: str) -> list[int]:
    return [k for k, name in enumerate(model.coordinates) if f".{kind}" in name]


def first(model: Model, spin: float, kind: str) -> complex:
    part = np.ix_(plane(model, kind), plane(model, kind))
    M = model.mass_matrix(np.zeros(model.size))[part]
    value = np.linalg.eigvals(np.linalg.solve(M, stiffness_at(model, spin)[part])).real.min()
    return complex(np.sqrt(complex(value))) / UNIT


@pytest.mark.parametrize("spin", [1.0, 4.0])
def test_centrifugal_stiffness_is_the_tension_on_the_slopes(spin: float) -> None:
    """K_G = spin^2 int m (L^2 - x^2)/2 phi' phi' dx, less spin^2 M in the plane of rotation."""
    model = stiffened(4)
    link = model.chain.links[0]
    t, w = np.polynomial.legendre.leggauss(60)
    x = LENGTH * (t + 1) / 2
    slope = link.shapes.at(x, 1)[:, 1, :4]
    tension = RHO * A * (LENGTH**2 - x**2) / 2 * w * LENGTH / 2
    K_G = spin**2 * np.einsum("g,gj,gk->jk", tension, slope, slope)
    K = stiffness_at(model, spin)
    xy = plane(model, "xy")
    xz = plane(model, "xz")
    own = np.array(link.inv.K)
    scale = np.abs(K_G).max()
    assert np.abs(K[np.ix_(xz, xz)] - own[4:, 4:] - K_G).max() < 1e-8 * scale
    M = model.mass_matrix(np.zeros(model.size))[np.ix_(xy, xy)]
    assert np.abs(K[np.ix_(xy, xy)] - own[:4, :4] - K_G + spin**2 * M).max() < 1e-8 * scale


@pytest.mark.parametrize("ratio", [1, 2, 3, 4, 5, 6])
def test_first_flapwise_and_chordwise_frequency(ratio: int) -> None:
    """Flapwise from above, faster than count^-4; chordwise^2 = flapwise^2 - spin^2."""
    above = []
    for count in (4, 8):
        model = stiffened(count)
        flap = first(model, ratio * UNIT, "xz").real
        above.append(flap / first_flapwise(ratio) - 1)
        assert abs(first(model, ratio * UNIT, "xy") ** 2 - flap**2 + ratio**2) < 1e-6
    assert 0 < above[1] < above[0] / 2**4
    assert above[1] < 1e-5


def test_without_stiffening_a_spinning_beam_falsely_softens() -> None:
    model = build(beam(), AssumedModes(6))
    assert first(model, 3 * UNIT, "xz") == pytest.approx(3.5160, abs=1e-4)
    assert first(model, 3 * UNIT, "xy") == pytest.approx(np.sqrt(3.516015**2 - 9), abs=1e-4)
    assert first(model, 4 * UNIT, "xy").imag > 0  # grows without bound


def spin_up(model: Model, until: float = 20.0, dt: float = 0.01) -> np.ndarray:
    """Tip deflection under the prescribed rate 4 (t/15 - sin(2 pi t/15)/2 pi), then 4 rad/s."""
    n = model.size
    k = 1
    inverse = model.functions.evaluator("inverse_dynamics")
    M = model.functions.evaluator("mass_matrix")

    def rates(t: float) -> tuple[float, float]:
        if t >= 15:
            return 4.0, 0.0
        s = 2 * np.pi * t / 15
        return 4 * (t / 15 - np.sin(s) / (2 * np.pi)), 4 / 15 * (1 - np.cos(s))

    def slope(t: float, x: np.ndarray) -> np.ndarray:
        rate, accel = rates(t)
        q, qd, qdd = np.zeros((3, n))
        q[k:] = x[: n - k]
        qd[k:] = x[n - k :]
        qd[0] = rate
        qdd[0] = accel
        force = inverse(q, qd, qdd)[0][k:]
        return np.concatenate([x[n - k :], np.linalg.solve(M(q)[0][k:, k:], -force)])

    x = np.zeros(2 * (n - k))
    out = []
    tip = model.chain.links[0].inv.N_end[1, : n - k]
    for i in range(round(until / dt)):
        t = i * dt
        k1 = slope(t, x)
        k2 = slope(t + dt / 2, x + dt / 2 * k1)
        k3 = slope(t + dt / 2, x + dt / 2 * k2)
        k4 = slope(t + dt, x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(tip @ x[: n - k])
        if abs(out[-1]) > 100:
            break
    return np.array(out)


def test_spin_up_of_kane_ryan_and_banerjee() -> None:
    """The tip lags, then comes back and stays; without stiffening it diverges."""
    lag = spin_up(build(beam(planar=True), AssumedModes(2), stiffening=True))
    more = spin_up(build(beam(planar=True), AssumedModes(3), stiffening=True))
    assert lag.min() == pytest.approx(more.min(), rel=5e-3)
    assert -0.7 < lag.min() < -0.4
    assert np.abs(lag[1600:]).max() < 0.05 * abs(lag.min())
    assert np.abs(spin_up(build(beam(planar=True), AssumedModes(2)))).max() > 100
