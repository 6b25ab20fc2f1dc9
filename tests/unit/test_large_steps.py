"""Steps of many unknowns by the inverse of an earlier one against an elimination for each."""

import numpy as np

from supple.kernels.collocation import NODES, GaussSteps, LargeSteps

EXTENDED = np.longdouble
SQRT3_6 = np.sqrt(EXTENDED(3)) / 6
BUTCHER = np.array([[0.25, 0.25 - SQRT3_6], [0.25 + SQRT3_6, 0.25]], EXTENDED)
BUTCHER_TWICE = BUTCHER @ BUTCHER


def step_by_elimination(
    steps: GaussSteps, k: int, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Step k in extended precision: elimination, refined by residuals of the stage equations.

    In double precision the elimination itself is off by 1.2e-10 of the velocities after sixty
    steps, more or less on different processors.
    """
    h = EXTENDED(steps.h[k])
    nodes = np.array([0.5 - SQRT3_6, 0.5 + SQRT3_6], EXTENDED)
    assert np.abs(nodes - NODES).max() <= 1e-15
    accelerations = np.zeros((2, len(q)), EXTENDED)
    for _ in range(4):
        velocities = v + h * (BUTCHER @ accelerations)
        positions = q + h * nodes[:, None] * v + h**2 * (BUTCHER_TWICE @ accelerations)
        residual = np.empty_like(accelerations)
        for i in range(2):
            residual[i] = steps.F[k, i] - steps.M[k, i].astype(EXTENDED) @ accelerations[i]
            residual[i] -= steps.C[k, i].astype(EXTENDED) @ velocities[i]
            residual[i] -= steps.K[k, i].astype(EXTENDED) @ positions[i]
        correction = np.linalg.solve(steps.all_steps[k], residual.ravel().astype(float))
        accelerations = accelerations + correction.reshape(2, -1)
    mean = accelerations.mean(axis=0)
    weighted = BUTCHER.mean(axis=0) @ accelerations
    return q + h * v + h**2 * weighted, v + h * mean


def test_steps_by_an_earlier_inverse_are_those_of_an_elimination() -> None:
    """Stiff equations that change from step to step, a load that jumps, steps of two lengths."""
    random = np.random.default_rng(5)
    N = 12
    S = 60
    V = np.linalg.qr(random.normal(size=(N, N)))[0]
    base = V @ np.diag(np.geomspace(1.0, 1e10, N)) @ V.T
    turn = random.normal(size=(N, N))
    s = np.linspace(0.0, 1.0, 2 * S).reshape(S, 2, 1, 1)  # from the first instant to the last
    M = np.eye(N) + 0.05 * s * (turn @ turn.T)
    C = s * (turn - turn.T)
    K = base * (1 + 0.3 * np.sin(3 * s))
    F = np.where(s[..., 0] < 0.5, 1.0, -2.0) * random.normal(size=N)
    h = np.where(np.arange(S) < 40, 1e-3, 5e-4)
    steps = GaussSteps(M, C, K, F, h)

    large_steps = LargeSteps()
    q = v = np.zeros(N)
    q_reference = v_reference = np.zeros(N, EXTENDED)
    for k in range(S):
        q, v = large_steps.step(steps, k, q, v)
        q_reference, v_reference = step_by_elimination(steps, k, q_reference, v_reference)
    assert np.abs(q - q_reference).max() <= 1e-10 * np.abs(q_reference).max()
    assert np.abs(v - v_reference).max() <= 1e-10 * np.abs(v_reference).max()
