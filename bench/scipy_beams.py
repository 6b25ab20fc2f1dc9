"""The first peer: beam finite elements in NumPy and SciPy, as a careful engineer would write them.

Unknowns are the absolute displacements and rotations of the nodes, those of a link in its own axes.
So a link's matrices never change; a pose only turns the node that it shares with the link before.
Two kinds of link: equal elements with the locking-free cubic shapes of static Timoshenko beams and
consistent masses with rotary inertia, or one spectral element of high degree, which is the peer to
beat when many digits are wanted.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, eigh
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import eigsh

from supple.beams.theory import Beam

from .arms import PlainArm

__all__ = ["ScipyArm"]

DENSE = 250  # unknowns above which shift-invert Lanczos on sparse matrices is faster
PLANAR = (0, 1, 5)


class ScipyArm:
    """Natural frequencies of an arm by `elements` equal elements per link, or one of `degree`."""

    def __init__(self, arm: PlainArm, elements: int = 0, degree: int = 0) -> None:
        self.arm = arm
        self.d = 3 if arm.planar else 6
        keep = np.array(PLANAR if arm.planar else range(6))
        nodes = degree or elements
        rows = (np.arange(nodes + 1)[:, None] * 6 + keep).ravel()
        make = spectral_link if degree else chain_link
        links = [make(beam, nodes)[:, rows][:, :, rows] for beam in arm.beams]
        for link, (mass, inertia) in zip(links, arm.tips, strict=True):
            link[1, -self.d :, -self.d :] += np.diag([mass] * 3 + [inertia] * 3)[np.ix_(keep, keep)]
        d = self.d
        self.corners = [link[:, :d, :d] for link in links]
        self.columns = [link[:, d:, :d] for link in links]
        self.fixed = np.array([block_diag(*(link[k, d:, d:] for link in links)) for k in (0, 1)])
        self.size = self.fixed.shape[1]
        self.each = self.size // len(links)
        self.sparse = self._pattern() if self.size > DENSE else None

    def _pattern(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and column starts of the full matrices; they are the same at every pose."""
        K, M = self.matrices(np.ones(len(self.arm.beams)))
        filled = csc_matrix((abs(K) + abs(K.T) + abs(M) + abs(M.T)) > 0)
        return (
            filled.indices,
            np.repeat(np.arange(self.size), np.diff(filled.indptr)),
            filled.indptr,
        )

    def matrices(self, theta: np.ndarray) -> np.ndarray:
        """Return K and M at a pose, (2, N, N), lower triangles."""
        A = self.fixed.copy()
        d = self.d
        for i, turn in enumerate(self.arm.turns(theta).transpose(0, 2, 1)):
            if i == 0:
                continue
            Q = turn if d == 3 else block_diag(turn, turn)
            node = slice(i * self.each - d, i * self.each)
            link = slice(i * self.each, (i + 1) * self.each)
            A[:, link, node] = self.columns[i] @ Q
            A[:, node, node] += Q.T @ self.corners[i] @ Q
        return A

    def omega(self, theta: np.ndarray, count: int = 10) -> np.ndarray:
        """Return the lowest natural frequencies: the largest mu = 1/omega^2 of M z = mu K z.

        Turned over, the low modes are the accurate ones. All eigenvalues are as cheap as ten.
        """
        K, M = self.matrices(theta)
        if self.sparse is None:
            mu = eigh(
                M, K, eigvals_only=True, overwrite_a=True, overwrite_b=True, check_finite=False
            )
            return 1 / np.sqrt(mu[: -count - 1 : -1])
        rows, columns, starts = self.sparse
        low = np.maximum(rows, columns), np.minimum(rows, columns)
        K, M = (csc_matrix((A[low], rows, starts), A.shape) for A in (K, M))
        return np.sqrt(np.sort(eigsh(K, count, M, sigma=0, return_eigenvectors=False)))

    def batch(self, thetas: np.ndarray) -> np.ndarray:
        """Return the frequencies of many poses, one after the other."""
        return np.array([self.omega(theta) for theta in thetas])


def chain_link(beam: Beam, elements: int) -> np.ndarray:
    """K and M of a link of equal elements over its nodes, (2, 6 (n + 1), 6 (n + 1))."""
    element = cubic_element(beam, beam.L / elements)
    A = np.zeros((2, 6 * (elements + 1), 6 * (elements + 1)))
    for k in range(elements):
        A[:, 6 * k : 6 * k + 12, 6 * k : 6 * k + 12] += element
    return A


def cubic_element(beam: Beam, l: float) -> np.ndarray:
    """K and M (2, 12, 12) of a two-node element, nodes (u, v, w, phi, psi_y, psi_z)."""
    A = np.zeros((2, 12, 12))
    for dof, stiff, mass in ((0, beam.EA, beam.m), (3, beam.GJ, beam.rIp)):
        at = np.ix_((0, 1), (dof, dof + 6), (dof, dof + 6))
        A[at] = [
            stiff / l * np.array([[1, -1], [-1, 1]]),
            mass * l / 6 * np.array([[2, 1], [1, 2]]),
        ]
    for plane, (v, psi, sign) in enumerate(((1, 5, 1.0), (2, 4, -1.0))):
        dofs = (v, psi, v + 6, psi + 6)
        flip = np.outer((1, sign, 1, sign), (1, sign, 1, sign))
        A[np.ix_((0, 1), dofs, dofs)] = flip * _bending(beam, plane, l)
    return A


def _bending(beam: Beam, plane: int, l: float) -> np.ndarray:
    """K and M (2, 4, 4) over (v, psi, v, psi): the cubic that a static Timoshenko beam takes."""
    EI = beam.EI[plane]
    rI = beam.rI[plane]
    f = 12 * beam.EI[plane] / (beam.kGA[plane] * l * l)
    x, weight = np.polynomial.legendre.leggauss(4)
    x = (x + 1) / 2
    weight = weight * l / 2
    v = [1 - 3 * x**2 + 2 * x**3 + f * (1 - x), l * (x - 2 * x**2 + x**3 + f / 2 * (x - x**2)),
         3 * x**2 - 2 * x**3 + f * x, l * (x**3 - x**2 + f / 2 * (x**2 - x))]  # fmt: skip
    psi = [6 / l * (x**2 - x), 1 - 4 * x + 3 * x**2 + f * (1 - x),
           6 / l * (x - x**2), 3 * x**2 - 2 * x + f * x]  # fmt: skip
    V = np.array(v) / (1 + f)
    P = np.array(psi) / (1 + f)
    K = EI / (l**3 * (1 + f)) * np.array(
        [[12, 6 * l, -12, 6 * l], [6 * l, (4 + f) * l**2, -6 * l, (2 - f) * l**2],
         [-12, -6 * l, 12, -6 * l], [6 * l, (2 - f) * l**2, -6 * l, (4 + f) * l**2]]
    )  # fmt: skip
    return np.array([K, beam.m * (V * weight) @ V.T + rI * (P * weight) @ P.T])


def spectral_link(beam: Beam, degree: int) -> np.ndarray:
    """K and M of one element of high degree with nodes at Gauss-Lobatto points, as `chain_link`."""
    inner = np.sort(np.polynomial.legendre.Legendre.basis(degree).deriv().roots().real)
    nodes = np.concatenate([[-1.0], inner, [1.0]])
    x, weight = np.polynomial.legendre.leggauss(degree + 1)
    fit = np.linalg.inv(np.polynomial.legendre.legvander(nodes, degree))
    N = np.polynomial.legendre.legvander(x, degree) @ fit
    slopes = np.polynomial.legendre.legder(np.eye(degree + 1))
    D = np.polynomial.legendre.legvander(x, degree - 1) @ slopes @ fit * (2 / beam.L)
    weight = weight * beam.L / 2
    NN, ND, DD = ((a.T * weight) @ b for a, b in ((N, N), (N, D), (D, D)))
    A = np.zeros((2, degree + 1, 6, degree + 1, 6))
    K, M = A
    inertias = (beam.m, beam.m, beam.m, beam.rIp, beam.rI[1], beam.rI[0])
    stiffnesses = (beam.EA, *beam.kGA, beam.GJ, beam.EI[1], beam.EI[0])
    for dof in range(6):
        M[:, dof, :, dof] = inertias[dof] * NN
        K[:, dof, :, dof] = stiffnesses[dof] * DD
    for plane, (v, psi, sign) in enumerate(((1, 5, 1.0), (2, 4, -1.0))):
        shear = beam.kGA[plane]  # (v' - sign psi)^2
        K[:, psi, :, psi] += shear * NN
        K[:, psi, :, v] = -sign * shear * ND
        K[:, v, :, psi] = -sign * shear * ND.T
    return A.reshape(2, 6 * (degree + 1), 6 * (degree + 1))
