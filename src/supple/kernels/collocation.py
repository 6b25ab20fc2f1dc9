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
# From values at the nodes to those one step later, along a straight line
_EXTRAPOLATION = np.stack([1 - _AHEAD, _AHEAD], axis=1)
# Iterations end where the last correction is this part of the largest acceleration
ITERATION_TOLERANCE = 1e-13
# .. or where corrections of this size stop shrinking: only rounding is left
STALLED_TOLERANCE = 1e-9
MAX_ITERATIONS = 12  # corrections before the inverse is computed anew within a step
SLOW_ITERATIONS = 6  # corrections after which the next step computes a new inverse
MIN_STEPS_PER_INVERSE = 6  # steps that must share an inverse, which costs three eliminations
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
        """Return the matrices (S, 2N, 2N) of the stage accelerations, of the steps `which`."""
        M = self.M[which]
        C = self.C[which]
        K = self.K[which]
        h = self.h[which, None, None]
        S = len(h)
        N = self.F.shape[-1]
        A = np.empty((S, 2, N, 2, N))
        for i in range(2):
            for j in range(2):
                A[:, i, :, j] = (h * _A[i, j]) * C[:, i] + (h**2 * _TWICE[i, j]) * K[:, i]
            A[:, i, :, i] += M[:, i]
        return A.reshape(S, 2 * N, 2 * N)

    @cached_property
    def all_steps(self) -> Array:
        """The matrices of the stage accelerations of all steps."""
        return self.stages()

    @cached_property
    def transfer(self) -> tuple[Array, Array]:
        """Phi (S, 2N, 2N) and g (S, 2N) with x_1 = Phi x_0 + g, x = (q, v)."""
        S = len(self.h)
        N = self.F.shape[-1]
        h = self.h[:, None, None]

        # Stage accelerations over (q, v, 1)
        right = np.empty((S, 2 * N, 2 * N + 1))
        for i in range(2):
            rows = slice(i * N, (i + 1) * N)
            right[:, rows, :N] = -self.K[:, i]
            right[:, rows, N : 2 * N] = -self.C[:, i] - (NODES[i] * h) * self.K[:, i]
            right[:, rows, -1] = self.F[:, i]
        stages = np.linalg.solve(self.all_steps, right).reshape(S, 2, N, 2 * N + 1)

        # q_1 and v_1 over (q, v, 1)
        x = np.zeros((S, 2 * N, 2 * N + 1))
        x[:, np.arange(2 * N), np.arange(2 * N)] = 1.0
        x[:, np.arange(N), N + np.arange(N)] = h[:, 0]
        x[:, :N] += h**2 * np.einsum("j,sjnm->snm", _B @ _A, stages)
        x[:, N:] += h * np.einsum("j,sjnm->snm", _B, stages)
        return x[..., :-1], x[..., -1]


class LargeSteps:
    """Steps of many unknowns, one after another.

    The inverse of one step's matrix is reused for the next ones, whose matrices are nearly the
    same: a few corrections by the residual give their accelerations without an elimination. Where
    the matrices change too fast for that, every step is solved by elimination.
    """

    def __init__(self) -> None:
        self._inverse: Array | None = None
        self._inverse_step = 0.0  # length of the step that the inverse belongs to
        self._last_accelerations: Array | None = None
        self._steps_with_inverse = 0
        self._eliminations_left = 0

    def step(self, steps: GaussSteps, k: int, q: Array, v: Array) -> tuple[Array, Array]:
        """Return q, v (N,) after the k-th of these steps."""
        h = steps.h[k]
        M = steps.M[k]
        C = steps.C[k]
        K = steps.K[k]
        if abs(h - self._inverse_step) > 1e-9 * h:
            self._inverse = None
            self._last_accelerations = None

        # First guess: the accelerations of the last step along a straight line
        if self._last_accelerations is None:
            a = np.zeros((2, len(q)))
        else:
            a = _EXTRAPOLATION @ self._last_accelerations
        unaccelerated = q + NODES[:, None] * h * v

        count = 0
        if self._eliminations_left:
            right = steps.F[k] - C @ v - (K @ unaccelerated[..., None])[..., 0]
            a = np.linalg.solve(steps.all_steps[k], right.ravel()).reshape(a.shape)
        else:
            last_size = np.inf
            while count < 2 * MAX_ITERATIONS:
                if count == MAX_ITERATIONS or self._inverse is None:
                    self._inverse = np.linalg.inv(steps.stages(slice(k, k + 1))[0])
                    self._inverse_step = h
                count += 1
                residual = steps.F[k] - (M @ a[..., None])[..., 0]
                residual -= (C @ (v + h * (_A @ a))[..., None])[..., 0]
                residual -= (K @ (unaccelerated + h**2 * (_TWICE @ a))[..., None])[..., 0]
                correction = (self._inverse @ residual.ravel()).reshape(a.shape)
                a = a + correction

                size = np.abs(correction).max()
                largest = np.abs(a).max()
                converged = size <= ITERATION_TOLERANCE * largest
                stalled = last_size / 2 < size < STALLED_TOLERANCE * largest
                if converged or stalled:
                    break
                last_size = size

        self._last_accelerations = a
        self._steps_with_inverse += 1
        self._eliminations_left = max(self._eliminations_left - 1, 0)
        if count > SLOW_ITERATIONS:
            # An inverse that served too few steps did not pay for itself
            if self._steps_with_inverse < MIN_STEPS_PER_INVERSE:
                self._eliminations_left = STEPS_BEFORE_RETRY
            else:
                self._eliminations_left = 0
            self._inverse = None
            self._steps_with_inverse = 0
        return q + h * v + h**2 * (_B @ _A @ a), v + h * (_B @ a)
