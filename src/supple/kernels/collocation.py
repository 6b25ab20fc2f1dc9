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

__all__ = ["NODES", "GaussSteps"]

Array = NDArray[np.float64]
_S = math.sqrt(3) / 6
NODES = np.array([0.5 - _S, 0.5 + _S])
_A = np.array([[0.25, 0.25 - _S], [0.25 + _S, 0.25]])
_B = np.array([0.5, 0.5])


@dataclass(frozen=True)
class GaussSteps:
    """S steps of lengths h (S,): M, C, K (S, 2, N, N) and F (S, 2, N) at their nodes."""

    M: Array
    C: Array
    K: Array
    F: Array
    h: Array

    @cached_property
    def _stages(self) -> Array:
        """(S, 2N, 2N) what multiplies the stage accelerations."""
        S, N = len(self.h), self.F.shape[-1]
        h, twice = self.h[:, None, None], _A @ _A
        A = np.empty((S, 2, N, 2, N))
        for i in range(2):
            for j in range(2):
                A[:, i, :, j] = (h * _A[i, j]) * self.C[:, i] + (h**2 * twice[i, j]) * self.K[:, i]
            A[:, i, :, i] += self.M[:, i]
        return A.reshape(S, 2 * N, 2 * N)

    def step(self, k: int, q: Array, v: Array) -> tuple[Array, Array]:
        """Return q, v (N,) after step k."""
        h, F = self.h[k], self.F[k]
        right = [F[i] - self.C[k, i] @ v - self.K[k, i] @ (q + NODES[i] * h * v) for i in range(2)]
        a = np.linalg.solve(self._stages[k], np.concatenate(right)).reshape(2, -1)
        return q + h * v + h**2 * (_B @ _A @ a), v + h * (_B @ a)

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
        stages = np.linalg.solve(self._stages, right).reshape(S, 2, N, 2 * N + 1)
        x = np.zeros((S, 2 * N, 2 * N + 1))
        x[:, np.arange(2 * N), np.arange(2 * N)] = 1.0
        x[:, np.arange(N), N + np.arange(N)] = h[:, 0]
        x[:, :N] += h**2 * np.einsum("j,sjnm->snm", _B @ _A, stages)
        x[:, N:] += h * np.einsum("j,sjnm->snm", _B, stages)
        return x[..., :-1], x[..., -1]
