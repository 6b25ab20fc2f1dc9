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
CHUNK = 1_000_000  # entries of one matrix over the steps computed together: fits in a cache
# Rows up to which LAPACK stays on one thread; on a busy machine its threads wait for one another
SINGLE_THREAD_ROWS = 96


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
        """Return q_1, q'_1 and a_1 after a step h, without the shares of q''_1."""
        next_a = (self.alpha_f * acceleration - self.alpha_m * a) / (1 - self.alpha_m)
        next_q = q + h * v + h**2 * ((0.5 - self.beta) * a + self.beta * next_a)
        next_v = v + h * ((1 - self.gamma) * a + self.gamma * next_a)
        return next_q, next_v, next_a


def newmark(beta: float = 0.25, gamma: float = 0.5) -> Scheme:
    """Return Newmark's method; by default the average acceleration, which damps nothing."""
    return Scheme(0.0, 0.0, beta, gamma)


def generalised_alpha(rho: float = 0.8) -> Scheme:
    """Return generalised-alpha whose spectral radius at high frequencies is rho, 0 to 1."""
    alpha_m = (2 * rho - 1) / (rho + 1)
    alpha_f = rho / (rho + 1)
    beta = (1 - alpha_m + alpha_f) ** 2 / 4
    gamma = 0.5 - alpha_m + alpha_f
    return Scheme(alpha_m, alpha_f, beta, gamma)


def step_through(
    system: System, t: Array, q: Array, v: Array, scheme: Scheme
) -> tuple[Array, Array, Array]:
    """Return q, q', q'' at the evenly spaced times t, (T, N) each, from q, v (N,) at t[0].

    With q, v (N, m), m motions are integrated at once; only the first of them is loaded.
    """
    h = t[1] - t[0]
    shape = q.shape
    history = np.empty((3, len(t), *shape))

    # Acceleration at the first instant, from the equations of motion
    M, C, K, F = (matrices[0] for matrices in system(t[:1]))
    acceleration = solver(M[None])(0, _load(F, shape) - C @ v - K @ q)
    a = acceleration
    history[:, 0] = q, v, acceleration

    q_share, v_share = scheme.shares(h)
    chunk = max(8, CHUNK // max(1, len(q) ** 2))
    for first in range(1, len(t), chunk):
        M, C, K, F = system(t[first : first + chunk])
        effective_mass = q_share * K
        effective_mass += v_share * C
        effective_mass += M
        solve = solver(effective_mass)
        for k in range(len(F)):
            q, v, a = scheme.predict(h, q, v, acceleration, a)
            acceleration = solve(k, _load(F[k], shape) - C[k] @ v - K[k] @ q)
            q = q + q_share * acceleration
            v = v + v_share * acceleration
            a = a + scheme.weight * acceleration
            history[:, first + k] = q, v, acceleration
    return history[0], history[1], history[2]


def solver(A: Array) -> Callable[[int, Array], Array]:
    """Return a function solve(k, b), x with A[k] x = b, for nearly positive matrices (B, N, N).

    Large ones are split in blocks [P Q; R S]: x_2 = (S - R P^-1 Q)^-1 (b_2 - R P^-1 b_1).
    """
    N = A.shape[1]
    if N <= SINGLE_THREAD_ROWS:
        return lambda k, b: np.linalg.solve(A[k], b)
    if N <= SINGLE_THREAD_ROWS + SINGLE_THREAD_ROWS // 4:
        return partial(_solve_bordered, A)
    n = N // 2
    P_inverse = _inverse(A[:, :n, :n])
    R = A[:, n:, :n]
    P_inverse_Q = P_inverse @ A[:, :n, n:]
    schur_inverse = _inverse(A[:, n:, n:] - R @ P_inverse_Q)

    def solve(k: int, b: Array) -> Array:
        first = P_inverse[k] @ b[:n]
        second = schur_inverse[k] @ (b[n:] - R[k] @ first)
        return np.concatenate([first - P_inverse_Q[k] @ second, second])

    return solve


def _solve_bordered(matrices: Array, k: int, b: Array) -> Array:
    """x with A x = b, A the k-th matrix: as many unknowns as one thread takes, then the rest."""
    n = SINGLE_THREAD_ROWS
    A = matrices[k]
    border = len(A) - n

    # P^-1 (Q, b_1) of the blocks [P Q; R S]
    right = np.concatenate([A[:n, n:], b[:n].reshape(n, -1)], axis=1)
    solved = np.linalg.solve(A[:n, :n], right)
    P_inverse_Q = solved[:, :border]
    first = solved[:, border:].reshape(b[:n].shape)

    R = A[n:, :n]
    second = np.linalg.solve(A[n:, n:] - R @ P_inverse_Q, b[n:] - R @ first)
    return np.concatenate([first - P_inverse_Q @ second, second])


def _inverse(A: Array) -> Array:
    """Inverses (B, N, N), by halves as far as LAPACK would use threads."""
    N = A.shape[1]
    if N <= SINGLE_THREAD_ROWS:
        return np.asarray(np.linalg.inv(A))
    n = N // 2
    P_inverse = _inverse(A[:, :n, :n])
    right = P_inverse @ A[:, :n, n:]
    left = A[:, n:, :n] @ P_inverse
    schur_inverse = _inverse(A[:, n:, n:] - A[:, n:, :n] @ right)
    inverse = np.empty_like(A)
    inverse[:, :n, :n] = P_inverse + right @ schur_inverse @ left
    inverse[:, :n, n:] = -right @ schur_inverse
    inverse[:, n:, :n] = -schur_inverse @ left
    inverse[:, n:, n:] = schur_inverse
    return inverse


def _load(F: Array, shape: tuple[int, ...]) -> Array:
    """The load of one motion, or of several motions of which only the first is loaded."""
    if len(shape) == 1:
        return F
    load = np.zeros(shape)
    load[:, 0] = F
    return load


def periodic_start(system: System, t: Array, scheme: Scheme) -> tuple[Array, Array]:
    """Return q, v (N,) at t[0] of the motion that repeats after t[-1] - t[0], by shooting.

    The map over one period is linear, x_1 = Phi x_0 + p; the start solves (I - Phi) x = p. One run
    from it gives the remaining gap, by which it is corrected once.
    """
    N = system(t[:1])[3].shape[1]
    # The loaded motion from rest gives p, the free ones from unit states give the columns of Phi
    start = np.zeros((2 * N, 2 * N + 1))
    start[:, 1:] = np.eye(2 * N)
    q, v, _ = step_through(system, t, start[:N], start[N:], scheme)
    end = np.concatenate([q[-1], v[-1]])
    I_minus_Phi = np.eye(2 * N) - end[:, 1:]
    x = np.linalg.solve(I_minus_Phi, end[:, 0])

    q, v, _ = step_through(system, t, x[:N], x[N:], scheme)
    gap = np.concatenate([q[-1], v[-1]]) - x
    x = x + np.linalg.solve(I_minus_Phi, gap)
    return x[:N], x[N:]
