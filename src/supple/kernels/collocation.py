"""Gauss's two-stage collocation of M(t) q'' + C(t) q' + K(t) q = F(t): fourth order, no damping.

With nodes c = 1/2 -+ sqrt(3)/6 and stage accelerations A_1, A_2 of a step h,
    M_i A_i + C_i (v + h sum a_ij A_j) + K_i (q + c_i h v + h^2 sum (a a)_ij A_j) = F_i,
    q_1 = q + h v + h^2 sum (b a)_j A_j,   v_1 = v + h sum b_j A_j.
An undamped oscillation keeps its amplitude and is (w h)^4 / 720 slow. Nothing is read at the ends
of a step, so that loads may jump there. Source: [Hairer2006], II.1.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["NODES", "GaussSteps", "LargeSteps"]

Array = NDArray[np.float64]
_S = math.sqrt(3) / 6
NODES = np.array([0.5 - _S, 0.5 + _S])
_A = np.array([[0.25, 0.25 - _S], [0.25 + _S, 0.25]])
_B = np.array([0.5, 0.5])
_TWICE = _A @ _A
_AHEAD = (1 + NODES - NODES[0]) / (NODES[1] - NODES[0])
_ON = np.stack([1 - _AHEAD, _AHEAD], axis=1)  # values at the nodes to those a step further on
ITERATION_TOLERANCE = (
    1e-13  # of the largest acceleration: the last change, of which a small part is left
)
STALLED_TOLERANCE = 1e-9  # the same where changes no longer become smaller: rounding alone is left
MAX_ITERATIONS = 12  # changes before the inverse is made anew
SLOW_ITERATIONS = 6  # changes after which it is made anew for the next step
MIN_STEPS_PER_INVERSE = 6  # steps that an inverse must serve: it costs three eliminations
STEPS_BEFORE_RETRY = 200  # steps by elimination before an inverse is tried again


@dataclass(frozen=True)
class GaussSteps:
    """S steps of lengths h (S,): M, C, K (S, 2, N, N) and F (S, 2, N) at their nodes."""

    M: Array
    C: Array
    K: Array
    F: Array
    h: Array

    def stages(self, which: slice = slice(None)) -> Array:
        """Return (S, 2N, 2N), what multiplies the stage accelerations, of these steps."""
        C, K, h = self.C[which], self.K[which], self.h[which, None, None]
        S, N = len(h), self.F.shape[-1]
        A = np.empty((S, 2, N, 2, N))
        for i in range(2):
            for j in range(2):
                A[:, i, :, j] = (h * _A[i, j]) * C[:, i] + (h**2 * _TWICE[i, j]) * K[:, i]
            A[:, i, :, i] += self.M[which][:, i]
        return A.reshape(S, 2 * N, 2 * N)

    @cached_property
    def all_steps(self) -> Array:
        """The same of all steps."""
        return self.stages()

    @cached_property
    def transfer(self) -> tuple[Array, Array]:
        """Phi (S, 2N, 2N) and g (S, 2N) with x_1 = Phi x_0 + g, x = (q, v)."""
        S, N = len(self.h), self.F.shape[-1]
        h = self.h[:, None, None]
        right = np.empty((S, 2 * N, 2 * N + 1))
        for i in range(2):
            rows = slice(i * N, (i + 1) * N)
            right[:, rows, :N] = -self.K[:, i]
            right[:, rows, N : 2 * N] = -self.C[:, i] - (NODES[i] * h) * self.K[:, i]
            right[:, rows, -1] = self.F[:, i]
        stages = np.linalg.solve(self.all_steps, right).reshape(S, 2, N, 2 * N + 1)
        x = np.zeros((S, 2 * N, 2 * N + 1))
        x[:, np.arange(2 * N), np.arange(2 * N)] = 1.0
        x[:, np.arange(N), N + np.arange(N)] = h[:, 0]
        x[:, :N] += h**2 * np.einsum("j,sjnm->snm", _B @ _A, stages)
        x[:, N:] += h * np.einsum("j,sjnm->snm", _B, stages)
        return x[..., :-1], x[..., -1]


class LargeSteps:
    """Steps of many unknowns, one after another.

    The inverse of an earlier step's matrix leads to the accelerations of those after it, whose
    matrices are nearly the same, in a few changes: no step needs an elimination of its own. Where
    matrices change too fast for that, steps are eliminated one by one.
    """

    def __init__(self) -> None:
        self._inverse: Array | None = None
        self._h = 0.0
        self._before: Array | None = None  # accelerations of the last step
        self._served = self._plain = 0  # steps of the inverse; steps left to elimination

    def step(self, made: GaussSteps, k: int, q: Array, v: Array) -> tuple[Array, Array]:
        """Return q, v (N,) after step k of those made."""
        h, M, C, K = made.h[k], made.M[k], made.C[k], made.K[k]
        if abs(h - self._h) > 1e-9 * h:
            self._inverse, self._before = None, None
        # those of the last step, as a straight line
        a = np.zeros((2, len(q))) if self._before is None else _ON @ self._before
        free = q + NODES[:, None] * h * v
        last, count = np.inf, 0
        if self._plain:
            right = made.F[k] - C @ v - (K @ free[..., None])[..., 0]
            a = np.linalg.solve(made.all_steps[k], right.ravel()).reshape(a.shape)
        while count < 2 * MAX_ITERATIONS and not self._plain:
            if count == MAX_ITERATIONS or self._inverse is None:
                self._inverse, self._h = np.linalg.inv(made.stages(slice(k, k + 1))[0]), h
            count += 1
            off = made.F[k] - (M @ a[..., None])[..., 0]
            off -= (C @ (v + h * (_A @ a))[..., None])[..., 0]
            off -= (K @ (free + h**2 * (_TWICE @ a))[..., None])[..., 0]
            change = (self._inverse @ off.ravel()).reshape(a.shape)
            a = a + change
            size, most = np.abs(change).max(), np.abs(a).max()
            if size <= ITERATION_TOLERANCE * most or last / 2 < size < STALLED_TOLERANCE * most:
                break
            last = size
        self._before, self._served, self._plain = a, self._served + 1, max(self._plain - 1, 0)
        if count > SLOW_ITERATIONS:
            self._plain = STEPS_BEFORE_RETRY if self._served < MIN_STEPS_PER_INVERSE else 0
            self._inverse, self._served = None, 0
        return q + h * v + h**2 * (_B @ _A @ a), v + h * (_B @ a)
