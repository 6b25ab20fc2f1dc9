"""Linear systems from sample to sample: what a held effort does in a period, and Tustin's rule."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["discretise_zero_order_hold"]

Array = NDArray[np.float64]


def discretise_zero_order_hold(
    A: Array, B: Array, period: float, delay: float = 0.0
) -> tuple[Array, Array, int]:
    """Return x+ = Phi x + Gamma u of x' = A x + B u under efforts that are held, and their depth.

    u_k acts from k T + delay until u_(k+1) does. The state is [x, u_(k-1), .., u_(k-depth)], with
    depth = floor(delay / T) + 1: efforts that are under way. At the sample itself the last of them
    acts. Exact, by exponentials of [[A, B], [0, 0]].
    """
    from scipy.linalg import expm

    n, m = B.shape
    full_periods = int(np.floor(delay / period + 1e-9))
    rest = max(delay - full_periods * period, 0.0)
    joined = np.block([[A, B], [np.zeros((m, n + m))]])
    first, second = (np.asarray(expm(h * joined)) for h in (rest, period - rest))
    depth = full_periods + 1
    Phi = np.zeros((n + depth * m, n + depth * m))
    Gamma = np.zeros((n + depth * m, m))
    Phi[:n, :n] = second[:n, :n] @ first[:n, :n]
    old = slice(n + full_periods * m, n + (full_periods + 1) * m)
    Phi[:n, old] += second[:n, :n] @ first[:n, n:]
    if full_periods:
        Phi[:n, n + (full_periods - 1) * m : n + full_periods * m] += second[:n, n:]
    else:
        Gamma[:n] = second[:n, n:]
    Gamma[n : n + m] = np.eye(m)
    Phi[n + m :, n:-m] = np.eye((depth - 1) * m)
    return Phi, Gamma, depth
