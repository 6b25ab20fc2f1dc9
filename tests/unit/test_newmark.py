"""Newmark and generalised-alpha on systems with known answers: order, energy, filtering."""

import numpy as np
import pytest

from supple.kernels.newmark import (
    generalised_alpha,
    newmark,
    periodic_start,
    solver,
    step_through,
)

SCHEMES = {"newmark": newmark(), "alpha": generalised_alpha(0.8), "strong": generalised_alpha(0.0)}


def growing(t: np.ndarray) -> tuple[np.ndarray, ...]:
    """(1 + t) q'' + q' + 4 (1 + t) q = F with q = sin(2 t): F = q' = 2 cos(2 t)."""
    M = (1 + t)[:, None, None] * np.eye(1)
    return M, np.broadcast_to(np.eye(1), M.shape), 4 * M, 2 * np.cos(2 * t)[:, None]


@pytest.mark.parametrize("name", SCHEMES)
def test_second_order_where_the_mass_changes(name: str) -> None:
    errors = []
    for n in (100, 200, 400):
        t = np.linspace(0, 2, n + 1)
        q, v, _ = step_through(growing, t, np.array([0.0]), np.array([2.0]), SCHEMES[name])
        errors.append(
            max(np.abs(q[:, 0] - np.sin(2 * t)).max(), np.abs(v[:, 0] - 2 * np.cos(2 * t)).max())
        )
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([2, 2], abs=0.1)


def oscillator(omega: float, zeta: float = 0.0, force: float = 0.0, at: float = 1.0):
    def system(t: np.ndarray) -> tuple[np.ndarray, ...]:
        one = np.broadcast_to(np.eye(1), (len(t), 1, 1))
        return one, 2 * zeta * omega * one, omega**2 * one, force * np.cos(at * t)[:, None]

    return system


def test_newmark_keeps_energy() -> None:
    t = np.linspace(0, 100, 2001)
    q, v, _ = step_through(oscillator(7.0), t, np.array([1.0]), np.array([0.0]), newmark())
    energy = v[:, 0] ** 2 + 49 * q[:, 0] ** 2
    assert energy == pytest.approx(49.0, rel=1e-10)  # average acceleration conserves it exactly


@pytest.mark.parametrize("rho", [0.3, 0.5, 0.9])
def test_high_modes_are_damped_by_rho(rho: float) -> None:
    """Far above 1/h the three roots of a step are one, -rho: q_k = (-rho)^k (a + b k + c k^2)."""
    t = np.arange(21.0)
    q, _, _ = step_through(
        oscillator(1e4), t, np.array([1.0]), np.array([0.0]), generalised_alpha(rho)
    )
    polynomial = q[1:, 0] / (-rho) ** t[1:]
    # 1/(omega h)^2 = 1e-8 from the limit, and rounding of (omega h)^2 = 1e8
    assert np.abs(np.diff(polynomial, 3)).max() < 1e-5 * np.abs(polynomial).max()


def test_periodic_start_is_the_steady_state() -> None:
    omega = 5.0
    zeta = 0.02
    at = 3.0
    t = np.linspace(0, 2 * np.pi / at, 2001)
    system = oscillator(omega, zeta, 1.0, at)
    q, v = periodic_start(system, t, newmark())
    steady = 1 / (omega**2 - at**2 + 2j * zeta * omega * at)
    # Newmark's error: (omega h)^2 / 12 of the stiffness, 2e-5 / 12 of it
    assert q[0] == pytest.approx(steady.real, rel=1e-5)
    assert v[0] == pytest.approx((1j * at * steady).real, rel=1e-4)
    end = step_through(system, t, q, v, newmark())
    assert end[0][-1] == pytest.approx(q, abs=1e-12)


@pytest.mark.parametrize("N", [40, 97, 110, 230])
def test_solver_by_halves(N: int) -> None:
    """Large matrices are taken in halves, down to a size at which LAPACK stays on one thread."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(2, N, N))
    A = A @ A.swapaxes(1, 2) + N * np.eye(N)
    A[:, 0, 1:] += 0.1  # near positive, not symmetric
    for b in (rng.normal(size=N), rng.normal(size=(N, 3))):
        found = solver(A)(1, b)
        assert np.abs(A[1] @ found - b).max() < 1e-12 * np.abs(b).max()
