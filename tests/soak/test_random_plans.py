"""Random moves of every library robot: planned or refused with the reason, replayed by SciPy.

Limits are 1.2 to 5 times what the robot needs if it does not bend. Even seeds ask for the least
effort in a duration, odd ones for the fastest move.
"""

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import supple
from supple.architectures.kinds import architecture_of

ROBOTS = (
    "de-luca-two-link",
    "di-castri-two-link",
    "industrial-3",
    "theodore-rrp",
    "five-bar",
    "four-bar",
    "scara-parallel",
    "two-arms",
    "kuo-delta",
    "hexapod",
)
SEEDS = 100


def replayed(found: supple.Plan) -> np.ndarray:
    """States (times, 2 n) of the whole move by an independent integrator on forward dynamics."""
    model = found.model
    n = model.size
    tau = np.asarray(found.tau)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        efforts = [np.interp(t, found.t, column) for column in tau.T]
        return np.concatenate([y[n:], model.forward_dynamics(y[:n], y[n:], efforts)])

    start = np.concatenate([found.q[0], found.qd[0]])
    given = {"method": "Radau", "rtol": 1e-6, "atol": 1e-8}
    return np.asarray(solve_ivp(rate, (0.0, found.duration), start, **given).y.T)


def random_move(name: str, seed: int) -> tuple[supple.Model, np.ndarray, np.ndarray, float]:
    """A model, two poses near its usual one, and a duration."""
    rng = np.random.default_rng(seed)
    robot = supple.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = supple.build(robot, supple.AssumedModes(1))
    kind = architecture_of(robot)
    usual = kind.usual()
    theta = np.ravel(kind.resolve(usual.get("theta"), usual.get("position")).theta)
    size = np.where([c.unit == "m" for c in kind.coordinates()], 0.05, 0.3)
    if kind.asked_by == "position":
        size = np.full(len(theta), 0.1)
    start = theta + size * rng.uniform(-0.3, 0.3, len(theta))
    end = theta + size * rng.uniform(-1.0, 1.0, len(theta))
    return model, start, end, float(rng.uniform(0.4, 1.2))


def rigid_need(
    model: supple.Model, start: np.ndarray, end: np.ndarray, duration: float
) -> np.ndarray:
    """Peak effort of every joint along a quintic whose links do not bend, (joints,)."""
    bending = np.zeros((201, model.size - model.joints))
    s = np.linspace(0.0, 1.0, 201)
    laws = (
        10 * s**3 - 15 * s**4 + 6 * s**5,
        (30 * s**2 - 60 * s**3 + 30 * s**4) / duration,
        (60 * s - 180 * s**2 + 120 * s**3) / duration**2,
    )
    travel = end - start
    q = start + np.outer(laws[0], travel)
    states = (q, np.outer(laws[1], travel), np.outer(laws[2], travel))
    whole = [np.concatenate([part, bending], axis=1) for part in states]
    efforts = model.inverse_dynamics(*whole)[:, : model.joints]
    return np.asarray(np.abs(efforts).max(axis=0))


def judge(found: supple.Plan, end: np.ndarray, limit: np.ndarray) -> None:
    """The goal, rest there and all limits, to one per cent."""
    k = found.model.joints
    n = found.model.size
    states = replayed(found)
    travel = np.ptp(found.q[:, :k], axis=0).max()
    assert np.abs(states[-1, :k] - end).max() < 0.01 * travel
    assert np.abs(states[-1, n : n + k]).max() < 0.01 * np.abs(found.qd[:, :k]).max()
    assert (np.abs(found.tau) <= 1.01 * limit).all()
    assert (np.abs(states[:, n : n + k]) <= 1.01 * found.limits["speed"]).all()
    for joint, motor in enumerate(found.model.motors):
        if motor.limits:
            assert states[:, joint].min() > motor.limits[0] - 0.01 * travel
            assert states[:, joint].max() < motor.limits[1] + 0.01 * travel
    assert found.residual <= 0.01


@pytest.mark.soak
@pytest.mark.parametrize("name", ROBOTS)
def test_random_moves(name: str) -> None:
    refused = 0
    for seed in range(SEEDS):
        model, start, end, duration = random_move(name, seed)
        factors = np.random.default_rng(1000 + seed).uniform(1.2, 5.0, model.joints)
        limit = factors * rigid_need(model, start, end, duration)
        asked = duration if seed % 2 == 0 else None
        try:
            found = supple.plan(model, start, end, asked, effort_limit=limit)
        except supple.SuppleError:
            refused += 1
            continue
        judge(found, end, limit)
        if seed % 5 == 0:  # a looser limit never costs more
            loose = supple.plan(model, start, end, asked, effort_limit=1.5 * limit)
            if asked:
                assert loose.effort < 1.001 * found.effort
            else:
                assert loose.duration < 1.001 * found.duration
    print(f"{name}: {SEEDS} moves, {refused} refused")
