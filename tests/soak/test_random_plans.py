"""Random moves of every library robot: planned or refused with the reason, replayed by SciPy."""

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
)


def replayed(found: supple.Plan) -> np.ndarray:
    """The state at the end by an independent integrator on forward dynamics."""
    model = found.model
    n = model.size
    tau = np.asarray(found.tau)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        efforts = [np.interp(t, found.t, column) for column in tau.T]
        return np.concatenate([y[n:], model.forward_dynamics(y[:n], y[n:], efforts)])

    start = np.concatenate([found.q[0], found.qd[0]])
    given = {"method": "Radau", "rtol": 1e-6, "atol": 1e-8}
    return np.asarray(solve_ivp(rate, (0.0, found.duration), start, **given).y[:, -1])


def random_move(name: str, seed: int) -> tuple[supple.Model, np.ndarray, np.ndarray, float]:
    """A model, two poses near its usual one, and a duration of a few of its periods."""
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


@pytest.mark.soak
@pytest.mark.parametrize("name", ROBOTS)
def test_random_moves(name: str) -> None:
    refused = 0
    for seed in range(100):
        model, start, end, duration = random_move(name, seed)
        rng = np.random.default_rng(1000 + seed)
        try:
            free = supple.plan(model, start, end, duration)
            limit = np.abs(np.asarray(free.tau)).max(axis=0) * rng.uniform(1.2, 5.0)
            found = supple.plan(model, start, end, duration, effort_limit=limit)
        except supple.SuppleError:
            refused += 1
            continue
        k = model.joints
        state = replayed(found)
        travel = np.ptp(found.q[:, :k], axis=0).max()
        assert np.abs(state[:k] - end).max() < 0.01 * travel
        assert (np.abs(found.tau) <= 1.01 * limit).all()
        assert found.residual <= 0.01
    print(f"{name}: 100 moves, {refused} refused")
