"""Leaps: steps of M(t) q'' + C(t) q' + K(t) q = F(t) that may be far longer than its fast periods.

The quasi-static part s(t) = K^-1 F of the coordinates with stiffness is subtracted: u = q - s has
only the loads F - M s'' - C s' - K s, which hardly excite the fast modes. Within a step the
equations of u are taken at its middle, the mean of two Gauss points, and a matrix exponential
integrates every mode of them. So the length of a step follows how the equations change, not how
fast the fastest mode is. The error is of second order in that change; where fast modes turn into
one another it is not small, and the caller compares steps of two lengths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["PLACES", "Leaps", "exponentials"]

Array = NDArray[np.float64]
_S = math.sqrt(3) / 6
_STEP_END_GAP = 1e-7  # inside the ends of a step, where loads may jump
# Fractions of a step at which the equations are evaluated: its ends and two Gauss points
PLACES = np.array([_STEP_END_GAP, 0.5 - _S, 0.5 + _S, 1 - _STEP_END_GAP])
# From values at PLACES to first and second derivatives there, of the cubic through them
_FIT = np.linalg.inv(np.vander(PLACES, 4, increasing=True))
_FIRST = np.stack([0 * PLACES, 0 * PLACES + 1, 2 * PLACES, 3 * PLACES**2], axis=1) @ _FIT
_SECOND = np.stack([0 * PLACES, 0 * PLACES, 0 * PLACES + 2, 6 * PLACES], axis=1) @ _FIT


@dataclass(frozen=True)
class Leaps:
    """S steps of lengths h (S,): M, C, K (S, 4, N, N) and F (S, 4, N) at PLACES.

    `held`: (N,) which coordinates have stiffness.
    """

    M: Array
    C: Array
    K: Array
    F: Array
    h: Array
    held: NDArray[np.bool_]

    @cached_property
    def transfer(self) -> tuple[Array, Array]:
        """Phi (S, 2N, 2N) and g (S, 2N) with x_1 = Phi x_0 + g, x = (q, v)."""
        S, _, N = self.F.shape
        h = self.h[:, None, None]

        # Quasi-static part s and its derivatives
        s = np.zeros_like(self.F)
        K_held = self.K[..., self.held, :][..., self.held]
        F_held = self.F[..., self.held, None]
        s[..., self.held] = np.linalg.solve(K_held, F_held)[..., 0]
        sd = (_FIRST @ s) / h
        sdd = (_SECOND @ s) / h**2

        # h u'' = A_u u + A_v u' + load: matrices are means of the Gauss points, k = 1 and 2
        A = np.zeros((S, 2 * N + 2, 2 * N + 2))
        loads = []
        for k in (1, 2):
            M = self.M[:, k]
            C = self.C[:, k]
            K = self.K[:, k]
            inertia_force = (M @ sdd[:, k, :, None])[..., 0]
            damping_force = (C @ sd[:, k, :, None])[..., 0]
            stiffness_force = (K @ s[:, k, :, None])[..., 0]
            remaining_load = self.F[:, k] - (inertia_force + damping_force + stiffness_force)
            right = np.concatenate([-K, -C, remaining_load[..., None]], axis=2)
            solved = np.linalg.solve(M, right)
            A[:, N : 2 * N, : 2 * N] += h / 2 * solved[..., :-1]
            loads.append(h[:, 0] * solved[..., -1])

        # The load is a straight line f_0 + f_1 x through the Gauss points; x' = 1 / h is appended
        # to the state
        rise = (loads[1] - loads[0]) / (2 * _S)
        A[:, N : 2 * N, -2] = rise
        A[:, N : 2 * N, -1] = (loads[0] + loads[1] - rise) / 2
        A[:, np.arange(N), N + np.arange(N)] = h[:, 0]
        A[:, -2, -1] = 1.0

        # Back from u to q: subtract s at the start, add it at the end
        exponential = exponentials(A, N)
        Phi = exponential[:, : 2 * N, : 2 * N]
        start = np.concatenate([s[:, 0], sd[:, 0]], axis=1)
        end = np.concatenate([s[:, 3], sd[:, 3]], axis=1)
        return Phi, exponential[:, : 2 * N, -1] + end - (Phi @ start[..., None])[..., 0]


def exponentials(A: Array, m: int) -> Array:
    """Return exp of many small matrices (n, k, k): Taylor's series after scaling and balancing.

    The first m coordinates are displacements, the next m velocities; they are balanced by the ratio
    of their blocks, so that both weigh the same.
    """
    n, size, _ = A.shape
    lower = np.abs(A[:, m : 2 * m, :m]).sum(axis=(1, 2))
    upper = np.abs(A[:, :m, m : 2 * m]).sum(axis=(1, 2))
    balance = np.ones((n, size))
    balance[:, :m] = np.sqrt(lower / upper)[:, None]
    B = A * balance[:, :, None] / balance[:, None, :]
    norm = np.abs(B[:, : 2 * m, : 2 * m]).sum(axis=2).max()
    halvings = max(0, int(np.ceil(np.log2(norm))))
    # The exponential to degree 15 in six products, [PatersonStockmeyer1973]; the neglected terms
    # are below 1/16!
    B = B / 2**halvings
    powers = [np.eye(B.shape[1]), B, B @ B]
    powers.append(powers[2] @ B)
    fourth = powers[2] @ powers[2]
    out: Array = np.zeros_like(B)
    for block in (3, 2, 1, 0):  # Horner's rule in the fourth power
        for k, power in enumerate(powers):
            out = out + power / math.factorial(4 * block + k)
        if block:
            out = out @ fourth
    for _ in range(halvings):
        out = out @ out
    unbalanced: Array = out / balance[:, :, None] * balance[:, None, :]
    return unbalanced
