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
PLANAR = (0, 1, 5)  # u, v, psi_z of the six unknowns of a node
BENDING_PLANES = ((1, 5, 1.0), (2, 4, -1.0))  # deflection, rotation, and the sign of v' = sign psi


class ScipyArm:
    """Natural frequencies of an arm by `elements` equal elements per link, or one of `degree`."""

    def __init__(self, arm: PlainArm, elements: int = 0, degree: int = 0) -> None:
        self.arm = arm
        node_unknowns = np.array(PLANAR if arm.planar else range(6))
        d = len(node_unknowns)
        self.d = d

        # K and M of every link over all of its nodes, without the unknowns that stay zero
        pieces = degree or elements
        unknowns = (np.arange(pieces + 1)[:, None] * 6 + node_unknowns).ravel()
        link_matrices = spectral_link if degree else chain_link
        links = []
        for beam, (tip_mass, tip_inertia) in zip(arm.beams, arm.tips, strict=True):
            link = link_matrices(beam, pieces)[:, unknowns][:, :, unknowns]
            tip = np.diag([tip_mass] * 3 + [tip_inertia] * 3)
            link[1, -d:, -d:] += tip[np.ix_(node_unknowns, node_unknowns)]
            links.append(link)

        # Only what belongs to a link's first node turns with the pose.
        self.corners = [link[:, :d, :d] for link in links]
        self.columns = [link[:, d:, :d] for link in links]
        stiffnesses = [link[0, d:, d:] for link in links]
        masses = [link[1, d:, d:] for link in links]
        self.fixed = np.array([block_diag(*stiffnesses), block_diag(*masses)])
        self.size = self.fixed.shape[1]
        self.each = self.size // len(links)
        self.sparse = self._pattern() if self.size > DENSE else None

    def _pattern(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and column starts of the full matrices; they are the same at every pose."""
        K, M = self.matrices(np.ones(len(self.arm.beams)))
        filled = csc_matrix((abs(K) + abs(K.T) + abs(M) + abs(M.T)) > 0)
        columns = np.repeat(np.arange(self.size), np.diff(filled.indptr))
        return filled.indices, columns, filled.indptr

    def matrices(self, theta: np.ndarray) -> np.ndarray:
        """Return K and M at a pose, (2, N, N), lower triangles."""
        matrices = self.fixed.copy()
        rotations = self.arm.turns(theta).transpose(0, 2, 1)
        for i in range(1, len(rotations)):
            Q = rotations[i] if self.d == 3 else block_diag(rotations[i], rotations[i])
            start = i * self.each
            shared_node = slice(start - self.d, start)
            link = slice(start, start + self.each)
            matrices[:, link, shared_node] = self.columns[i] @ Q
            matrices[:, shared_node, shared_node] += Q.T @ self.corners[i] @ Q
        return matrices

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
        lower_triangle = (np.maximum(rows, columns), np.minimum(rows, columns))
        sparse_K = csc_matrix((K[lower_triangle], rows, starts), K.shape)
        sparse_M = csc_matrix((M[lower_triangle], rows, starts), M.shape)
        squares = eigsh(sparse_K, count, sparse_M, sigma=0, return_eigenvectors=False)
        return np.sqrt(np.sort(squares))

    def batch(self, thetas: np.ndarray) -> np.ndarray:
        """Return the frequencies of many poses, one after the other."""
        return np.array([self.omega(theta) for theta in thetas])


def chain_link(beam: Beam, elements: int) -> np.ndarray:
    """K and M of a link of equal elements over its nodes, (2, 6 (n + 1), 6 (n + 1))."""
    element = cubic_element(beam, beam.L / elements)
    link = np.zeros((2, 6 * (elements + 1), 6 * (elements + 1)))
    for k in range(elements):
        link[:, 6 * k : 6 * k + 12, 6 * k : 6 * k + 12] += element
    return link


def cubic_element(beam: Beam, l: float) -> np.ndarray:
    """K and M (2, 12, 12) of a two-node element, nodes (u, v, w, phi, psi_y, psi_z)."""
    element = np.zeros((2, 12, 12))

    # Stretch and twist: linear between the nodes
    for unknown, stiffness, inertia in ((0, beam.EA, beam.m), (3, beam.GJ, beam.rIp)):
        both_nodes = (unknown, unknown + 6)
        element[np.ix_((0, 1), both_nodes, both_nodes)] = [
            stiffness / l * np.array([[1, -1], [-1, 1]]),
            inertia * l / 6 * np.array([[2, 1], [1, 2]]),
        ]

    for plane, (deflection, rotation, sign) in enumerate(BENDING_PLANES):
        unknowns = (deflection, rotation, deflection + 6, rotation + 6)
        signs = np.outer((1, sign, 1, sign), (1, sign, 1, sign))
        element[np.ix_((0, 1), unknowns, unknowns)] = signs * _bending(beam, plane, l)
    return element


def _bending(beam: Beam, plane: int, l: float) -> np.ndarray:
    """K and M (2, 4, 4) over (v, psi, v, psi): the cubic that a static Timoshenko beam takes."""
    EI = beam.EI[plane]
    rI = beam.rI[plane]
    f = 12 * EI / (beam.kGA[plane] * l * l)  # shear over bending flexibility; 0: Euler-Bernoulli

    # Shapes of the deflection and of the rotation at four Gauss points
    points, weights = np.polynomial.legendre.leggauss(4)
    x = (points + 1) / 2
    weight = weights * l / 2
    deflection = [
        1 - 3 * x**2 + 2 * x**3 + f * (1 - x),
        l * (x - 2 * x**2 + x**3 + f / 2 * (x - x**2)),
        3 * x**2 - 2 * x**3 + f * x,
        l * (x**3 - x**2 + f / 2 * (x**2 - x)),
    ]
    rotation = [
        6 / l * (x**2 - x),
        1 - 4 * x + 3 * x**2 + f * (1 - x),
        6 / l * (x - x**2),
        3 * x**2 - 2 * x + f * x,
    ]
    V = np.array(deflection) / (1 + f)
    P = np.array(rotation) / (1 + f)

    coefficients = [
        [12, 6 * l, -12, 6 * l],
        [6 * l, (4 + f) * l**2, -6 * l, (2 - f) * l**2],
        [-12, -6 * l, 12, -6 * l],
        [6 * l, (2 - f) * l**2, -6 * l, (4 + f) * l**2],
    ]
    K = EI / (l**3 * (1 + f)) * np.array(coefficients)
    M = beam.m * (V * weight) @ V.T + rI * (P * weight) @ P.T
    return np.array([K, M])


def spectral_link(beam: Beam, degree: int) -> np.ndarray:
    """K and M of one element of high degree with nodes at Gauss-Lobatto points, as `chain_link`."""
    # Legendre polynomials that are 1 at one node and 0 at the others: values and slopes
    inner = np.sort(np.polynomial.legendre.Legendre.basis(degree).deriv().roots().real)
    nodes = np.concatenate([[-1.0], inner, [1.0]])
    fit = np.linalg.inv(np.polynomial.legendre.legvander(nodes, degree))
    points, weights = np.polynomial.legendre.leggauss(degree + 1)
    values = np.polynomial.legendre.legvander(points, degree) @ fit
    derivative = np.polynomial.legendre.legder(np.eye(degree + 1))
    lower_degrees = np.polynomial.legendre.legvander(points, degree - 1)
    slopes = lower_degrees @ derivative @ fit * (2 / beam.L)

    weight = weights * beam.L / 2
    values_values = (values.T * weight) @ values
    values_slopes = (values.T * weight) @ slopes
    slopes_slopes = (slopes.T * weight) @ slopes

    link = np.zeros((2, degree + 1, 6, degree + 1, 6))
    K, M = link
    inertias = (beam.m, beam.m, beam.m, beam.rIp, beam.rI[1], beam.rI[0])
    stiffnesses = (beam.EA, *beam.kGA, beam.GJ, beam.EI[1], beam.EI[0])
    for unknown in range(6):
        M[:, unknown, :, unknown] = inertias[unknown] * values_values
        K[:, unknown, :, unknown] = stiffnesses[unknown] * slopes_slopes

    # Shear strain v' - sign psi: its square couples deflection and rotation.
    for plane, (deflection, rotation, sign) in enumerate(BENDING_PLANES):
        shear = beam.kGA[plane]
        K[:, rotation, :, rotation] += shear * values_values
        K[:, rotation, :, deflection] = -sign * shear * values_slopes
        K[:, deflection, :, rotation] = -sign * shear * values_slopes.T
    return link.reshape(2, 6 * (degree + 1), 6 * (degree + 1))
