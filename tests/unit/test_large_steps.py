"""Steps of many unknowns by the inverse of an earlier one against an elimination for each."""

import numpy as np

from supple.kernels.collocation import GaussSteps, LargeSteps


def test_steps_by_an_earlier_inverse_are_those_of_an_elimination() -> None:
    """Stiff equations that change from step to step, a load that jumps, steps of two lengths."""
    random = np.random.default_rng(5)
    N, S = 12, 60
    V = np.linalg.qr(random.normal(size=(N, N)))[0]
    base, turn = V @ np.diag(np.geomspace(1.0, 1e10, N)) @ V.T, random.normal(size=(N, N))
    M, C, K = (np.empty((S, 2, N, N)) for _ in range(3))
    s = np.linspace(0.0, 1.0, 2 * S).reshape(S, 2, 1, 1)
    M[:] = np.eye(N) + 0.05 * s * (turn @ turn.T)
    C[:] = s * (turn - turn.T)
    K[:] = base * (1 + 0.3 * np.sin(3 * s))
    F = np.where(s[..., 0] < 0.5, 1.0, -2.0) * random.normal(size=N)
    h = np.where(np.arange(S) < 40, 1e-3, 5e-4)
    made = GaussSteps(M, C, K, F, h)
    Phi, g = made.transfer
    large, x, y = LargeSteps(), np.zeros(2 * N), np.zeros(2 * N)
    for k in range(S):
        x = Phi[k] @ x + g[k]
        y = np.concatenate(large.step(made, k, y[:N], y[N:]))
    assert np.abs(x[:N] - y[:N]).max() <= 1e-10 * np.abs(x[:N]).max()
    assert np.abs(x[N:] - y[N:]).max() <= 1e-10 * np.abs(x[N:]).max()
