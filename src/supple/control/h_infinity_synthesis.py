"""The H-infinity controller of a plant, by two Riccati equations.

    x' = A x + B1 w + B2 u,   z = [C1 x, u],   y = C2 x + v

with disturbances w and v. A controller u = K(s) y that makes the largest gain from (w, v) to z less
than gamma exists if and only if both equations

    A' X + X A + X (B1 B1'/gamma^2 - B2 B2') X + C1' C1 = 0
    A Y + Y A' + Y (C1' C1/gamma^2 - C2' C2) Y + B1 B1' = 0

have stabilising solutions X >= 0, Y >= 0 whose product has its eigenvalues below gamma^2. Then one
such controller is

    xk' = (A + B1 B1' X/gamma^2 + B2 F + Z L C2) xk - Z L y,   u = F xk,
    F = -B2' X,  L = -Y C2',  Z = (1 - Y X/gamma^2)^-1.

The least gamma is found by bisection.

Source: [Doyle1989], section III.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError

__all__ = ["HInfinityController", "h_infinity_controller"]

Array = NDArray[np.float64]
ABOVE_LEAST = 1.02  # the controller is made for this many times the least gamma, where it is tame
GAMMA_TOLERANCE = 1e-4
LARGEST_GAMMA = 1e9


class HInfinityController(NamedTuple):
    """xk' = A xk + B y, u = C xk; `gamma` bounds the gain of its loop, `least` is the infimum."""

    A: Array
    B: Array
    C: Array
    gamma: float
    least: float


def h_infinity_controller(
    A: Array, B1: Array, B2: Array, C1: Array, C2: Array
) -> HInfinityController:
    """Return the central controller slightly above the least gamma.

    Parameters
    ----------
    A, B1, B2, C1, C2 : array
        The plant as in the equations above: effort and noise are in units of their weights.
    """
    # Balance the states: lengths, angles and rates differ by orders of magnitude
    scale = _balancing_scale(A)
    A = A * scale / scale[:, None]
    B1 = B1 / scale[:, None]
    B2 = B2 / scale[:, None]
    C1 = C1 * scale
    C2 = C2 * scale

    high = 1.0
    while _solutions(A, B1, B2, C1, C2, high) is None:
        high *= 4
        if high > LARGEST_GAMMA:
            raise SuppleError("no controller keeps the gain of this loop finite")
    low = 0.0
    while high - low > GAMMA_TOLERANCE * high:
        middle = (low + high) / 2 if low else high / 4
        if _solutions(A, B1, B2, C1, C2, middle) is None:
            low = middle
        else:
            high = middle
        if high < 1e-12:
            break
    least = high
    gamma = ABOVE_LEAST * least
    found = _solutions(A, B1, B2, C1, C2, gamma)
    if found is None:
        raise SuppleError(
            "the equations of the controller cannot be solved: their rounding is too large"
        )
    X, Y = found
    F = -B2.T @ X
    L = -Y @ C2.T
    ZL = np.linalg.solve(np.eye(len(A)) - Y @ X / gamma**2, L)
    Ak = A + B1 @ B1.T @ X / gamma**2 + B2 @ F + ZL @ C2
    return HInfinityController(
        Ak * scale[:, None] / scale, -ZL * scale[:, None], F / scale, gamma, least
    )


def _balancing_scale(A: Array) -> Array:
    """A scale of each state with which rows and columns of A are alike in size."""
    from scipy.linalg import matrix_balance

    _, (scale, _) = matrix_balance(A, permute=False, separate=True)
    return np.asarray(scale, float)


def _solutions(
    A: Array, B1: Array, B2: Array, C1: Array, C2: Array, gamma: float
) -> tuple[Array, Array] | None:
    """X and Y, None where there is no controller for this gamma."""
    X = _stabilising(A, B1 @ B1.T / gamma**2 - B2 @ B2.T, C1.T @ C1)
    if X is None:
        return None
    Y = _stabilising(A.T, C1.T @ C1 / gamma**2 - C2.T @ C2, B1 @ B1.T)
    if Y is None:
        return None
    radius = float(np.abs(np.linalg.eigvals(X @ Y)).max())
    return (X, Y) if radius < gamma**2 * (1 - 1e-9) else None


def _stabilising(A: Array, R: Array, Q: Array) -> Array | None:
    """The stabilising solution X >= 0 of A' X + X A + X R X + Q = 0, None where there is none.

    The columns of [U1, U2] span the stable subspace of the Hamiltonian matrix; X = U2 U1^-1.
    """
    from scipy.linalg import schur

    n = len(A)
    hamiltonian = np.block([[A, R], [-Q, -A.T]])
    try:
        _, U, stable = schur(hamiltonian, output="real", sort="lhp")
    except np.linalg.LinAlgError:
        return None
    if stable != n:
        return None  # eigenvalues on the imaginary axis
    U1 = U[:n, :n]
    U2 = U[n:, :n]
    if np.linalg.cond(U1) > 1e13:
        return None
    X = np.linalg.solve(U1.T, U2.T).T
    X = (X + X.T) / 2
    size = float(np.abs(X).max(initial=0.0))
    if np.linalg.eigvalsh(X).min() < -1e-7 * max(size, 1e-300):
        return None
    return X
