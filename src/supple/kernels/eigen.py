"""Lowest natural modes of K z = omega^2 M z with free motions and closures, well scaled.

A structure in tree coordinates has an almost diagonal K, whose factor is accurate whatever the
slenderness, while its masses spread over many decades: a heavy tool on a soft link beside a light
stiff one. So the mass is given by a root, M = B' B, whose rows are as large as the mass they stand
for, and the problem is turned over: with K = G' G, the largest singular values 1/omega of B G^-1
are found, by Jacobi's method after a QR decomposition with pivots, which keeps the small ones as
accurate as the large ones; reducing M to tridiagonal form would lose eps (omega_k / omega_1)^2.
Motions without stiffness are told by their exact zeros in K, not by a small eigenvalue.
Source: [Drmac2008].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NaturalModes", "natural_modes"]

Array = NDArray[np.float64]
RANK_TOLERANCE = 1e-10  # singular value below which closure rows say the same
MAX_DENSE_UNKNOWNS = 600  # unknowns up to which all modes are found together, to full accuracy


@dataclass(frozen=True)
class NaturalModes:
    """omega (count,), rad/s, ascending; vectors (N, count), z' M z = 1; number of rigid modes."""

    omega: Array
    vectors: Array
    rigid: int


def natural_modes(K: Array, B: Array, count: int, closure: Array | None = None) -> NaturalModes:
    """Return the first `count` elastic modes of K z = omega^2 B' B z with closure z = 0.

    K (N, N) is symmetric; rows and columns of exact zeros are motions that nothing holds, and it is
    positive definite on the others. B (rows, N) is any root of the mass matrix. closure (c, N) may
    be of any rank; what motions without stiffness do to it counts as nothing below RANK, so give
    its rows such units that these effects are of the order of one.

    Beyond DENSE unknowns only the wanted modes are found, at the cost of digits in the higher
    ones: their relative error is about eps (omega_k / omega_1)^2.
    """
    floating = np.diag(K) == 0
    # (N, r) motions on which K is the identity: z = D^-1 U^-1 y, K = D U' U D
    from scipy.linalg import cholesky, solve_triangular

    index = np.flatnonzero(~floating)
    stiff = np.zeros((len(K), len(index)))
    if len(index):
        d = np.sqrt(np.diag(K)[index])
        U = cholesky(K[np.ix_(index, index)] / np.outer(d, d))
        stiff[index] = solve_triangular(U, np.eye(len(index))) / d[:, None]
    # Motions that keep the closures shut: elastic ones with K = 1, and rigid ones. A_f f + A_y y =
    # 0: what the loose motions f can close they close, f = -A_f^+ A_y y; the rest of the rows
    # restricts y, and the null space of A_f is rigid
    loose = np.eye(len(K))[:, floating]
    if closure is None or not len(closure):
        elastic, rigid = stiff, loose
    else:
        A_f, A_y = closure @ loose, closure @ stiff
        W, values, Vt = np.linalg.svd(A_f)
        rank = int((values > RANK_TOLERANCE).sum())
        follow = -(Vt[:rank].T / values[:rank]) @ (W[:, :rank].T @ A_y)
        rest = W[:, rank:].T @ A_y
        rest /= np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), np.finfo(float).tiny)
        _, left, Yt = np.linalg.svd(rest)
        Y = Yt[int((left > RANK_TOLERANCE).sum()) :].T
        elastic, rigid = stiff @ Y + loose @ (follow @ Y), loose @ Vt[rank:].T
    elastic = _without_rigid(B, elastic, rigid)
    F = B @ elastic
    if count > F.shape[1]:
        raise ArithmeticError(f"{count} modes of a model with {F.shape[1]} elastic coordinates")
    # The `count` largest singular values of F, descending, and their right vectors
    from scipy.linalg.lapack import dgejsv

    if (
        max(MAX_DENSE_UNKNOWNS, 8 * count) < F.shape[1]
        and (found := _lanczos(F.T @ F, count)) is not None
    ):
        sigma, Y = np.sqrt(np.maximum(found[0], 0)), found[1]
    else:
        short = max(F.shape[1] - len(F), 0)
        values, _, V, work, _, info = dgejsv(
            np.pad(F, ((0, short), (0, 0))), joba=2, jobu=3, jobv=0
        )
        if info:
            raise ArithmeticError("Jacobi's method did not converge on the model's masses")
        sigma, Y = values[:count] * (work[0] / work[1]), V[:, :count]
    if sigma[-1] <= np.finfo(float).tiny:
        raise ArithmeticError(f"the model has fewer than {count} modes: the rest has no mass")
    return NaturalModes(1 / sigma, (elastic @ Y) / sigma, rigid.shape[1])


def _without_rigid(B: Array, elastic: Array, rigid: Array) -> Array:
    """Take the rigid motions out of the elastic ones, so that they are orthogonal in mass."""
    from scipy.linalg import qr, solve_triangular

    if not rigid.shape[1]:
        return elastic
    Q, R = qr(B @ rigid, mode="economic")
    size = np.abs(np.diag(R))
    if size.min() <= RANK_TOLERANCE * size.max():
        raise ArithmeticError("a motion that nothing holds carries no mass")
    out: Array = elastic - rigid @ solve_triangular(R, Q.T @ (B @ elastic))
    return out


def _lanczos(C: Array, count: int) -> tuple[Array, Array] | None:
    """The largest eigenvalues by Lanczos, descending; None unless what is left is checked smaller.

    A second run on what remains after the found ones are taken out catches a coincident root that
    the first one missed.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    start = np.random.default_rng(0).standard_normal((2, len(C)))
    values, vectors = eigsh(C, k=count, which="LA", v0=start[0], tol=0)

    def rest(y: Array) -> Array:
        out: Array = C @ y - vectors @ (values * (vectors.T @ y))
        return out

    operator = LinearOperator(C.shape, matvec=rest, dtype=C.dtype)
    missed = eigsh(operator, k=1, which="LA", v0=start[1], return_eigenvectors=False, tol=1e-6)
    if missed[0] > values[0] * (1 + 1e-6):
        return None
    order = np.argsort(-values)
    return values[order], vectors[:, order]
