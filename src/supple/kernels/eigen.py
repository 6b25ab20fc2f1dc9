"""Lowest natural modes of K z = omega^2 M z with free motions and closures, well scaled.

A structure in tree coordinates has an almost diagonal K, whose factor is accurate whatever the
slenderness, while its masses spread over many decades. So the problem is turned over: with
K = G' G, the largest eigenvalues mu = 1/omega^2 of C = G^-T M G^-1 are found. C is graded, a heavy
tool on a soft link beside a light stiff one; Jacobi's method on its Cholesky factor keeps the small
mu as accurate as the large ones, where reduction to tridiagonal form would lose
eps (omega_k / omega_1)^2. Motions without stiffness are told by their exact zeros in K, not by a
small eigenvalue. Source: [Drmac2008].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NaturalModes", "natural_modes"]

Array = NDArray[np.float64]
RANK = 1e-10  # relative singular value below which closure rows say the same
DENSE = 600  # unknowns up to which all modes are found together, to full accuracy


@dataclass(frozen=True)
class NaturalModes:
    """omega (count,), rad/s, ascending; vectors (N, count), z' M z = 1; number of rigid modes."""

    omega: Array
    vectors: Array
    rigid: int


def natural_modes(K: Array, M: Array, count: int, closure: Array | None = None) -> NaturalModes:
    """Return the first `count` elastic modes of K z = omega^2 M z with closure z = 0.

    K (N, N) is symmetric; rows and columns of exact zeros are motions that nothing holds, and it is
    positive definite on the others. M (N, N) is positive semidefinite, closure (c, N) of any rank.
    """
    floating = np.diag(K) == 0
    held = _stiff_motions(K, floating)
    loose = _loose_motions(M, floating)
    elastic, rigid = _closed(loose, held, closure)
    elastic = _without_rigid(M, elastic, rigid)
    C = elastic.T @ (M @ elastic)
    if count > len(C):
        raise ArithmeticError(f"{count} modes of a model with {len(C)} elastic coordinates")
    mu, Y = _largest((C + C.T) / 2, count)
    if mu[-1] <= np.finfo(float).tiny:
        raise ArithmeticError(f"the model has fewer than {count} modes: the rest has no mass")
    return NaturalModes(1 / np.sqrt(mu), (elastic @ Y) / np.sqrt(mu), rigid.shape[1])


def _stiff_motions(K: Array, floating: NDArray[np.bool_]) -> Array:
    """(N, r) motions on which K is the identity: z = D^-1 U^-1 y, K = D U' U D."""
    from scipy.linalg import cholesky, solve_triangular

    index = np.flatnonzero(~floating)
    out = np.zeros((len(K), len(index)))
    if len(index):
        d = np.sqrt(np.diag(K)[index])
        U = cholesky(K[np.ix_(index, index)] / np.outer(d, d))
        out[index] = solve_triangular(U, np.eye(len(index))) / d[:, None]
    return out


def _loose_motions(M: Array, floating: NDArray[np.bool_]) -> Array:
    """(N, f) motions without stiffness, scaled to unit mass where they have one."""
    index = np.flatnonzero(floating)
    mass = np.diag(M)[index]
    out = np.zeros((len(M), len(index)))
    out[index, np.arange(len(index))] = 1 / np.sqrt(np.where(mass > 0, mass, 1.0))
    return out


def _closed(loose: Array, held: Array, closure: Array | None) -> tuple[Array, Array]:
    """Motions that keep the closures shut: elastic ones with K = 1, and rigid ones.

    A_f f + A_y y = 0: what the loose motions f can close they close, f = -A_f^+ A_y y; the rest
    of the rows restricts y, and the null space of A_f is rigid.
    """
    if closure is None or not len(closure):
        return held, loose
    A_f, A_y = closure @ loose, closure @ held
    size = np.linalg.norm(np.hstack([A_f, A_y]), axis=1, keepdims=True)
    A_f, A_y = A_f / size, A_y / size
    U, values, Vt = np.linalg.svd(A_f)
    rank = _rank(values)
    follow = -(Vt[:rank].T / values[:rank]) @ (U[:, :rank].T @ A_y)
    _, left, Yt = np.linalg.svd(U[:, rank:].T @ A_y)
    Y = Yt[_rank(left) :].T
    return held @ Y + loose @ (follow @ Y), loose @ Vt[rank:].T


def _rank(values: Array) -> int:
    return int((values > RANK * values[0]).sum()) if len(values) and values[0] > 0 else 0


def _without_rigid(M: Array, elastic: Array, rigid: Array) -> Array:
    """Take the rigid motions out of the elastic ones, so that they are orthogonal in mass."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    if not rigid.shape[1]:
        return elastic
    MZ = M @ rigid
    try:
        factor = cho_factor(rigid.T @ MZ)
    except LinAlgError:
        raise ArithmeticError("a motion that nothing holds carries no mass") from None
    out: Array = elastic - rigid @ cho_solve(factor, MZ.T @ elastic)
    return out


def _largest(C: Array, count: int) -> tuple[Array, Array]:
    """The `count` largest eigenvalues of C, descending, and their vectors."""
    if max(DENSE, 8 * count) < len(C) and (found := _lanczos(C, count)) is not None:
        return found
    F = _factor(C)
    values, V = _jacobi(F)
    return values[:count] ** 2, V[:, :count]


def _factor(C: Array) -> Array:
    """F (N, N) with C = F' F, by Cholesky with pivots on C scaled to a unit diagonal.

    Massless directions end as rows of zeros.
    """
    from scipy.linalg.lapack import dpstrf

    d = np.sqrt(np.maximum(np.diag(C), 0))
    s = np.where(d > 0, d, 1.0)
    U, pivots, rank, _ = dpstrf(C / np.outer(s, s), tol=len(C) * np.finfo(float).eps)
    U = np.triu(U)
    U[rank:] = 0
    F = np.empty_like(C)
    F[:, pivots - 1] = U
    return F * d


def _jacobi(F: Array) -> tuple[Array, Array]:
    """Singular values of F, descending, and right singular vectors, graded columns respected."""
    from scipy.linalg.lapack import dgejsv

    values, _, V, work, _, info = dgejsv(F, joba=0, jobu=3, jobv=0)
    if info:
        raise ArithmeticError("Jacobi's method did not converge on the model's masses")
    return values * (work[0] / work[1]), V


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
