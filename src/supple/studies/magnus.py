"""Magnus: the elastic motion of an arm whose joints are held to their path, in large steps.

Under Decoupling and started on the path the joints follow it exactly, [Theodore1997] (37)-(39),
and what is left is linear with coefficients that change slowly: x' = A(t) x + f(t). Exponentials of
its mean over a step carry every mode through, fast ones as well as slow ones, so that the step
follows the change of the coefficients and not the fastest frequency.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..control.controllers import Decoupling
from ..control.trajectories import Trajectory
from ..errors import SuppleError
from .closed_loop import Reference
from .flexible import Flexible, exponentials, flexible
from .plan import Plan

__all__ = ["magnus"]

Array = NDArray[np.float64]
PHASE = 0.5  # rad of the slowest mode in one step


def magnus(plan: Plan, x: Array) -> Iterator[tuple[int, Array]]:
    """Exponential steps of fourth order; the work of the efforts is not followed (NaN)."""
    if not isinstance(plan.controller, Decoupling) or not isinstance(plan.tau, Reference):
        raise SuppleError("method magnus is for Decoupling along a trajectory: use adams or rk4")
    model, path = plan.model, plan.tau.trajectory
    if model.beta != "newton":
        raise SuppleError("method magnus does not integrate beta: use adams, bdf or rk4")
    system, k, n = flexible(model), model.joints, model.size
    _check_start(path, x, k, n)
    _check_linear(system, path)
    counts = _counts(system, path, plan.grid)
    start = np.repeat(plan.grid[:-1], counts)
    h = np.repeat(np.diff(plan.grid) / counts, counts)
    start = start + h * np.concatenate([np.arange(c) for c in counts])
    steps = _steps(system, path, start, h)
    bent = np.concatenate([x[k:n], x[n + k : 2 * n], [1.0]])
    rows = []
    for step in steps:
        bent = step @ bent
        rows.append(bent)
    found = np.array(rows)[np.cumsum(counts) - 1]
    r, rd, _ = path(plan.grid[1:])
    m = n - k
    work = np.full((len(found), 1), np.nan)
    yield 1, np.hstack([r, found[:, :m], rd, found[:, m : 2 * m], work])


def _check_start(path: Trajectory, x: Array, k: int, n: int) -> None:
    r, rd, _ = path(0.0)
    if np.abs(x[:k] - r).max() > 1e-12 or np.abs(x[n : n + k] - rd).max() > 1e-12:
        raise SuppleError("method magnus needs a start on the path: use adams for another start")


def _check_linear(system: Flexible, path: Trajectory) -> None:
    """Raise unless the elastic rows are linear in the elastic state, at a state on the path."""
    r, rd, u = path(0.37 * path.duration)
    m = system.model.size - system.model.joints
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, m)) * 1e-2
    zero = np.zeros(m)
    push, by_q, by_qd = system.rows(np.r_[r, zero], np.r_[rd, zero], u)
    other, *_ = system.rows(np.r_[r, a], np.r_[rd, b], u)
    change = by_q @ a + by_qd @ b
    if np.abs(other - push - change).max() > 1e-9 * np.abs(change).max():
        raise SuppleError("method magnus needs elastic rows that are linear, as with a point mass "
                          "on the last link: use adams")  # fmt: skip


def _counts(system: Flexible, path: Trajectory, grid: Array) -> NDArray[np.int64]:
    """Steps in each interval of the grid."""
    times = np.linspace(grid[0], grid[-1], 17)
    slow = system.frequencies(np.array([system.state(r) for r in path(times)[0]]))[:, 0]
    omega = np.interp(grid, times, slow)
    turned = np.diff(grid) * np.maximum(omega[:-1], omega[1:])
    counts: NDArray[np.int64] = np.maximum(1, np.ceil(turned / PHASE)).astype(np.int64)
    return counts


def _steps(system: Flexible, path: Trajectory, start: Array, h: Array) -> Array:
    """Transition matrices (n, 2 m + 1, 2 m + 1) of [q_f, q_f', 1] over each step."""
    c = np.sqrt(3) / 6
    A1, A2 = (_forced(system, path, start + h * (0.5 + s)) for s in (-c, c))
    H = h[:, None, None]
    mean = H * (A1 + A2) / 2 + np.sqrt(3) / 12 * H**2 * (A2 @ A1 - A1 @ A2)
    return exponentials(mean, (A1.shape[1] - 1) // 2)


def _forced(system: Flexible, path: Trajectory, t: Array) -> Array:
    """[[A, f], [0, 0]] on the path at times t."""
    r, rd, u = path(t)
    n, m = len(t), system.model.size - system.model.joints
    rest = np.zeros((n, m))
    push, by_q, by_qd = system.rows(np.hstack([r, rest]), np.hstack([rd, rest]), u)
    A = np.zeros((n, 2 * m + 1, 2 * m + 1))
    A[:, :m, m : 2 * m] = np.eye(m)
    A[:, m : 2 * m, :m], A[:, m : 2 * m, m : 2 * m] = by_q, by_qd
    A[:, m : 2 * m, -1] = push.reshape(n, m)
    return A
