"""Leaps: steps of M(t) q'' + C(t) q' + K(t) q = F(t) that may be far longer than its fast periods.

The quasi-static part s(t) = K^-1 F, of the coordinates that are held, is taken off: u = q - s has
the loads F - M s'' - C s' - K s alone, which hardly touch what is fast. Within a step the equations
of u are those at its middle, the mean of two Gauss points, and exponentials carry every mode of
them through. So a step follows how the equations change, not how fast the fastest mode is; it is of
second order in that change, and where fast modes turn into one another it is not good enough:
whoever asks compares steps of two lengths.
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
PLACES = np.array(
    [_STEP_END_GAP, 0.5 - _S, 0.5 + _S, 1 - _STEP_END_GAP]
)  # of a step: where it is asked
# Values at PLACES to first and second derivatives there, of the cubic through them
_FIT = np.linalg.inv(np.vander(PLACES, 4, increasing=True))
_FIRST = np.stack([0 * PLACES, 0 * PLACES + 1, 2 * PLACES, 3 * PLACES**2], axis=1) @ _FIT
_SECOND = np.stack([0 * PLACES, 0 * PLACES, 0 * PLACES + 2, 6 * PLACES], axis=1) @ _FIT


@dataclass(frozen=True)
class Leaps:
    """S steps of lengths h (S,): M, C, K (S, 4, N, N) and F (S, 4, N) at PLACES.

    `held`: (N,) which coordinates a stiffness holds.
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
        (S, _, N), h = self.F.shape, self.h[:, None, None]
        still = np.zeros_like(self.F)
        K, F = self.K[..., self.held, :][..., self.held], self.F[..., self.held, None]
        still[..., self.held] = np.linalg.solve(K, F)[..., 0]
        first, second = (_FIRST @ still) / h, (_SECOND @ still) / h**2
        A, f = np.zeros((S, 2 * N + 2, 2 * N + 2)), []
        for k in (1, 2):
            M, C, K = self.M[:, k], self.C[:, k], self.K[:, k]
            parts = ((M, second), (C, first), (K, still))
            left = self.F[:, k] - sum((X @ x[:, k, :, None])[..., 0] for X, x in parts)
            found = np.linalg.solve(M, np.concatenate([-K, -C, left[..., None]], axis=2))
            A[:, N : 2 * N, : 2 * N] += h / 2 * found[..., :-1]
            f.append(h[:, 0] * found[..., -1])
        # loads on a straight line through the Gauss points: f_0 + f_1 s, with s' = 1 / h beside x
        rise = (f[1] - f[0]) / (2 * _S)
        A[:, N : 2 * N, -2], A[:, N : 2 * N, -1] = rise, (f[0] + f[1] - rise) / 2
        A[:, np.arange(N), N + np.arange(N)] = h[:, 0]
        A[:, -2, -1] = 1.0
        carried = exponentials(A, N)
        Phi = carried[:, : 2 * N, : 2 * N]
        before, after = (np.concatenate([still[:, k], first[:, k]], axis=1) for k in (0, 3))
        return Phi, carried[:, : 2 * N, -1] + after - (Phi @ before[..., None])[..., 0]


def exponentials(A: Array, m: int) -> Array:
    """Return exp of many small matrices (n, k, k): Taylor's series after scaling and balancing.

    The first m coordinates are displacements, the next m velocities; they are balanced by the ratio
    of their blocks, so that both weigh the same.
    """
    n, size, _ = A.shape
    lower = np.abs(A[:, m : 2 * m, :m]).sum(axis=(1, 2))
    upper = np.abs(A[:, :m, m : 2 * m]).sum(axis=(1, 2))
    d = np.ones((n, size))
    d[:, :m] = np.sqrt(lower / upper)[:, None]
    B = A * d[:, :, None] / d[:, None, :]
    norm = np.abs(B[:, : 2 * m, : 2 * m]).sum(axis=2).max()
    halvings = max(0, int(np.ceil(np.log2(norm))))
    # The exponential to degree 15 in six products, [PatersonStockmeyer1973]; what is left out is
    # below 1/16!
    B = B / 2**halvings
    powers = [np.eye(B.shape[1]), B, B @ B]
    powers.append(powers[2] @ B)
    fourth = powers[2] @ powers[2]
    out: Array = np.zeros_like(B)
    for block in (3, 2, 1, 0):  # Horner's rule in the fourth power
        for k, power in enumerate(powers):
            out = out + power / math.factorial(4 * block + k)
        out = out @ fourth if block else out
    for _ in range(halvings):
        out = out @ out
    balanced: Array = out / d[:, :, None] * d[:, None, :]
    return balanced
