"""Lowest natural modes of K z = omega^2 M z with free motions and closures, well scaled.

A structure in tree coordinates has a diagonal K, whose factor is exact whatever the slenderness,
while its masses spread over many decades: a heavy tool on a soft link beside a light stiff one. So
the mass is given by a root, M = B' B, whose rows are as large as the mass they stand for, and the
problem is turned over: with K = G' G, the largest singular values 1/omega of B G^-1 are found.
Jacobi's method after a QR decomposition with pivots keeps the small ones as accurate as the large
ones; reducing M to tridiagonal form would lose eps (omega_k / omega_1)^2. Frequencies alone, the
most frequent request, are found by bidiagonalisation where that loses little, eps omega_k /
omega_1: it takes a fifth of the time. Motions without stiffness are recognised by their exact zeros
in K, not by a small eigenvalue. Source: [Drmac2008].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ElasticMotions", "NaturalModes", "elastic_motions"]

Array = NDArray[np.float64]
RANK_TOLERANCE = 1e-10  # singular value below which closure rows say the same
MAX_DENSE_UNKNOWNS = 600  # unknowns up to which all modes are found together, to full accuracy
MAX_FREQUENCY_RATIO = 300.0  # omega_count / omega_1 up to which bidiagonalisation is accurate


@dataclass(frozen=True)
class NaturalModes:
    """omega (count,), rad/s, ascending; vectors (N, count), z' M z = 1."""

    omega: Array
    vectors: Array


def elastic_motions(stiffness: Array, B: Array, closure: Array | None = None) -> ElasticMotions:
    """Return the motions of K z = omega^2 B' B z with closure z = 0 on which K is the identity.

    K is diagonal, stiffness (N,); its exact zeros are motions that nothing holds, all others are
    positive. B (rows, N) is any root of the mass matrix. closure (c, N) may be of any rank; what
    motions without stiffness do to it counts as nothing below RANK, so give its rows such units
    that these effects are of the order of one.
    """
    sprung = np.flatnonzero(stiffness)
    scale = 1 / np.sqrt(stiffness[sprung])
    if len(sprung) == len(stiffness) and (closure is None or not len(closure)):
        return ElasticMotions(B * scale, scale, 0)
    # Motions that keep the closures shut: elastic ones with K = 1, and rigid ones. A_f f + A_y y =
    # 0: what the loose motions f can close they close, f = -A_f^+ A_y y; the rest of the rows
    # restricts y, and the null space of A_f is rigid
    stiff = np.zeros((len(stiffness), len(sprung)))
    stiff[sprung, np.arange(len(sprung))] = scale
    loose = np.eye(len(stiffness))[:, stiffness == 0]
    if closure is None or not len(closure):
        elastic = stiff
        rigid = loose
    else:
        A_f = closure @ loose
        A_y = closure @ stiff
        W, values, Vt = np.linalg.svd(A_f)
        rank = int((values > RANK_TOLERANCE).sum())
        follow = -(Vt[:rank].T / values[:rank]) @ (W[:, :rank].T @ A_y)
        rest = W[:, rank:].T @ A_y
        rest /= np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), np.finfo(float).tiny)
        _, left, Yt = np.linalg.svd(rest)
        Y = Yt[int((left > RANK_TOLERANCE).sum()) :].T
        elastic = stiff @ Y + loose @ (follow @ Y)
        rigid = loose @ Vt[rank:].T
    elastic = _without_rigid(B, elastic, rigid)
    return ElasticMotions(B @ elastic, elastic, rigid.shape[1])


@dataclass(frozen=True)
class ElasticMotions:
    """Motions z = elastic y on which the stiffness is the identity, orthogonal to rigid ones.

    Beyond MAX_DENSE_UNKNOWNS only the wanted modes are found, at the cost of digits in the higher
    ones: their relative error is about eps (omega_k / omega_1)^2.

    Attributes
    ----------
    F : ndarray
        Root of the mass over y, (rows, n): its singular values are 1/omega.
    elastic : ndarray
        (N, n), or (N,) where every coordinate is elastic and none is tied: a diagonal then.
    rigid : int
        Number of rigid-body modes beside them.
    """

    F: Array
    elastic: Array
    rigid: int

    def frequencies(self, count: int) -> Array:
        """Return the first `count` natural frequencies, rad/s, ascending."""
        if self._few_of_many(count):
            return self.modes(count).omega
        self._need(count)
        rows, columns = self.F.shape
        # As many rows as columns have the same singular values, and half the work
        short = self.F if rows <= columns else np.linalg.qr(self.F, mode="r")
        try:
            sigma = np.linalg.svd(short, compute_uv=False)[:count]
        except np.linalg.LinAlgError:
            return self.modes(count).omega
        if len(sigma) < count or not sigma[0] <= MAX_FREQUENCY_RATIO * sigma[-1]:
            return self.modes(count).omega
        found: Array = 1 / sigma
        return found

    def modes(self, count: int) -> NaturalModes:
        """Return the first `count` natural modes, low and high ones to all digits."""
        self._need(count)
        found = _lanczos(self.F.T @ self.F, count) if self._few_of_many(count) else None
        if found is not None:
            sigma = np.sqrt(np.maximum(found[0], 0))
            Y = found[1]
        else:
            from scipy.linalg.lapack import dgejsv

            short = max(self.F.shape[1] - len(self.F), 0)
            values, _, V, work, _, info = dgejsv(
                np.pad(self.F, ((0, short), (0, 0))), joba=2, jobu=3, jobv=0
            )
            if info:
                raise ArithmeticError("Jacobi's method did not converge on the model's masses")
            sigma = values[:count] * (work[0] / work[1])
            Y = V[:, :count]
        if sigma[-1] <= np.finfo(float).tiny:
            raise ArithmeticError(f"the model has fewer than {count} modes: the rest has no mass")
        z = self.elastic[:, None] * Y if self.elastic.ndim == 1 else self.elastic @ Y
        return NaturalModes(1 / sigma, z / sigma)

    def _need(self, count: int) -> None:
        """Raise an error unless there are so many elastic coordinates."""
        if count > self.F.shape[1]:
            rows = self.F.shape[1]
            raise ArithmeticError(f"{count} modes of a model with {rows} elastic coordinates")

    def _few_of_many(self, count: int) -> bool:
        """Whether so many unknowns are better searched for the wanted modes alone."""
        return bool(max(MAX_DENSE_UNKNOWNS, 8 * count) < self.F.shape[1])


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

    def remainder(y: Array) -> Array:
        out: Array = C @ y - vectors @ (values * (vectors.T @ y))
        return out

    operator = LinearOperator(C.shape, matvec=remainder, dtype=C.dtype)
    missed = eigsh(operator, k=1, which="LA", v0=start[1], return_eigenvectors=False, tol=1e-6)
    if missed[0] > values[0] * (1 + 1e-6):
        return None
    order = np.argsort(-values)
    return values[order], vectors[:, order]
