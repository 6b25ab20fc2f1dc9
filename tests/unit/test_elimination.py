"""Elimination over scalars against numpy's own solver, zeros as structure and rows exchanged."""

import numpy as np
import pytest

from supple.kernels.elimination import factorise


@pytest.mark.parametrize("seed", range(8))
def test_sparse_systems_and_their_transposes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 9
    A = np.where(rng.uniform(size=(n, n)) < 0.4, rng.normal(size=(n, n)), 0.0)
    A[range(n), rng.permutation(n)] += 1.0
    A[0] *= 1e-9  # a pivot that must not be taken
    found = factorise(A.tolist(), lambda c, a, b: a if c else b, lambda a, b: abs(a) > abs(b))
    b = rng.normal(size=n)
    b[::3] = 0.0
    for solve, matrix in ((found.solve, A), (found.solve_transposed, A.T)):
        x = np.array(solve(b.tolist()))
        wanted = np.linalg.solve(matrix, b)
        assert np.allclose(x, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
