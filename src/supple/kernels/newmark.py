"""Time stepping of M(t) q'' + C(t) q' + K(t) q = F(t): Newmark and generalised-alpha.

With the auxiliary acceleration a,
    (1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) q''_1 + alpha_f q''_0,
    q_1 = q_0 + h q'_0 + h^2 ((1/2 - beta) a_0 + beta a_1),
    q'_1 = q'_0 + h ((1 - gamma) a_0 + gamma a_1),
and the equations hold at every step, so that second order is kept where M changes in time.
Newmark's method is alpha_m = alpha_f = 0. Source: [Chung1993], in the form of [Arnold2007].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scheme", "generalised_alpha", "newmark", "periodic_start", "solver", "step_through"]

Array = NDArray[np.float64]
System = Callable[[Array], tuple[Array, Array, Array, Array]]
CHUNK = 1_000_000  # numbers of one matrix in the steps worked out together: what a cache holds
SINGLE_THREAD_ROWS = (
    96  # rows up to which LAPACK stays on one thread; on a busy machine threads wait for ever
)


@dataclass(frozen=True)
class Scheme:
    """alpha_m, alpha_f, beta, gamma of one method of the family."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float

    @property
    def weight(self) -> float:
        """(1 - alpha_f) / (1 - alpha_m): share of q''_1 in a_1."""
        return (1 - self.alpha_f) / (1 - self.alpha_m)

    def shares(self, h: float) -> tuple[float, float]:
        """Return the shares of q''_1 in q_1 and q'_1 after a step h."""
        return self.beta * h**2 * self.weight, self.gamma * h * self.weight

    def predict(
        self, h: float, q: Array, v: Array, acceleration: Array, a: Array
    ) -> tuple[Array, Array, Array]:
        """Return q_1, q'_1 and a_1 after a step h but for the shares of q''_1."""
        rest = (self.alpha_f * acceleration - self.alpha_m * a) / (1 - self.alpha_m)
        return (
            q + h * v + h**2 * ((0.5 - self.beta) * a + self.beta * rest),
            v + h * ((1 - self.gamma) * a + self.gamma * rest),
            rest,
        )


def newmark(beta: float = 0.25, gamma: float = 0.5) -> Scheme:
    """Return Newmark's method; by default the average acceleration, which damps nothing."""
    return Scheme(0.0, 0.0, beta, gamma)


def generalised_alpha(rho: float = 0.8) -> Scheme:
    """Return generalised-alpha that leaves the share rho of the highest modes a step, 0..1."""
    alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    return Scheme(alpha_m, alpha_f, (1 - alpha_m + alpha_f) ** 2 / 4, 0.5 - alpha_m + alpha_f)


def step_through(
    system: System, t: Array, q: Array, v: Array, scheme: Scheme
) -> tuple[Array, Array, Array]:
    """Return q, q', q'' at the evenly spaced times t, (T, N) each, from q, v (N,) at t[0].

    With q, v (N, m) that many motions are followed at once, of which the first alone is loaded.
    """
    h, shape = t[1] - t[0], q.shape
    out = np.empty((3, len(t), *shape))
    M, C, K, F = (part[0] for part in system(t[:1]))
    acceleration = solver(M[None])(0, _load(F, shape) - C @ v - K @ q)
    a = acceleration
    out[:, 0] = q, v, acceleration
    b, c = scheme.shares(h)
    chunk = max(8, CHUNK // max(1, len(q) ** 2))
    for first in range(1, len(t), chunk):
        M, C, K, F = system(t[first : first + chunk])
        A = b * K
        A += c * C
        A += M
        solved = solver(A)
        for k in range(len(F)):
            q, v, a = scheme.predict(h, q, v, acceleration, a)
            acceleration = solved(k, _load(F[k], shape) - C[k] @ v - K[k] @ q)
            q, v, a = q + b * acceleration, v + c * acceleration, a + scheme.weight * acceleration
            out[:, first + k] = q, v, acceleration
    return out[0], out[1], out[2]


def solver(A: Array) -> Callable[[int, Array], Array]:
    """Return x = solved(k, b) with A[k] x = b, for matrices (B, N, N) near positive ones.

    Large ones are taken in two parts, [P Q; R S]: x_2 = (S - R P^-1 Q)^-1 (b_2 - R P^-1 b_1).
    """
    N = A.shape[1]
    if N <= SINGLE_THREAD_ROWS:
        return lambda k, b: np.linalg.solve(A[k], b)
    if N <= SINGLE_THREAD_ROWS + SINGLE_THREAD_ROWS // 4:
        return partial(_solve_bordered, A)
    n = N // 2
    P_inverse = _inverse(A[:, :n, :n])
    R = A[:, n:, :n]
    over = P_inverse @ A[:, :n, n:]
    S_inverse = _inverse(A[:, n:, n:] - R @ over)

    def solved(k: int, b: Array) -> Array:
        first = P_inverse[k] @ b[:n]
        second = S_inverse[k] @ (b[n:] - R[k] @ first)
        return np.concatenate([first - over[k] @ second, second])

    return solved


def _solve_bordered(matrices: Array, k: int, b: Array) -> Array:
    """x with A x = b, A the k-th, all but the last few unknowns by LAPACK."""
    n, A = SINGLE_THREAD_ROWS, matrices[k]
    right = np.concatenate([A[:n, n:], b[:n].reshape(n, -1)], axis=1)
    over = np.linalg.solve(A[:n, :n], right)
    few = len(A) - n
    X, first = over[:, :few], over[:, few:].reshape(b[:n].shape)
    second = np.linalg.solve(A[n:, n:] - A[n:, :n] @ X, b[n:] - A[n:, :n] @ first)
    return np.concatenate([first - X @ second, second])


def _inverse(A: Array) -> Array:
    """Inverses (B, N, N), by halves as far as LAPACK would use threads."""
    N = A.shape[1]
    if N <= SINGLE_THREAD_ROWS:
        return np.asarray(np.linalg.inv(A))
    n = N // 2
    P = _inverse(A[:, :n, :n])
    over, under = P @ A[:, :n, n:], A[:, n:, :n] @ P
    S = _inverse(A[:, n:, n:] - A[:, n:, :n] @ over)
    out = np.empty_like(A)
    out[:, :n, :n], out[:, :n, n:] = P + over @ S @ under, -over @ S
    out[:, n:, :n], out[:, n:, n:] = -S @ under, S
    return out


def _load(F: Array, shape: tuple[int, ...]) -> Array:
    if len(shape) == 1:
        return F
    load = np.zeros(shape)
    load[:, 0] = F
    return load


def periodic_start(system: System, t: Array, scheme: Scheme) -> tuple[Array, Array]:
    """Return q, v (N,) at t[0] of the motion that repeats after t[-1] - t[0], by shooting.

    The map over one period is linear, x_1 = Phi x_0 + p; the start solves (I - Phi) x = p, and is
    mended once by what one run from it leaves.
    """
    N = system(t[:1])[3].shape[1]
    start = np.zeros((2 * N, 2 * N + 1))
    start[:, 1:] = np.eye(2 * N)
    q, v, _ = step_through(system, t, start[:N], start[N:], scheme)
    end = np.concatenate([q[-1], v[-1]])
    around = np.eye(2 * N) - end[:, 1:]
    x = np.linalg.solve(around, end[:, 0])
    q, v, _ = step_through(system, t, x[:N], x[N:], scheme)
    x = x + np.linalg.solve(around, np.concatenate([q[-1], v[-1]]) - x)
    return x[:N], x[N:]
