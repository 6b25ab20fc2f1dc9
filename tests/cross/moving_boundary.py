"""A stand-alone finite-element model of a beam sliding out of a hub that moves in space.

The independent reference for links that slide: written from the partial differential equation in
space coordinates (Eulerian rates at fixed x, all convective terms of [Theodore1997] (1), total
derivatives at the moving tip), Hermite cubic elements whose nodes move with x = eta l(t), root
motion prescribed. It shares no line with supple. Deflections (v, w) along the root's y and z.

    rho A [a_root + alpha x r + omega x (omega x r) + 2 omega x r' + r''] + EI v'''' - (T v')' = 0
    r'' : v_tt + 2 U v_xt + U^2 v_xx + U_t v_x,    r' : v_t + U v_x,    U = dl/dt
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

GAUSS = np.polynomial.legendre.leggauss(6)

# The three-stage Gauss method, of order six: y' = f is met at `GAUSS_STAGES` of every step.
ROOT_15 = np.sqrt(15)
GAUSS_MATRIX = np.array(
    [
        [5 / 36, 2 / 9 - ROOT_15 / 15, 5 / 36 - ROOT_15 / 30],
        [5 / 36 + ROOT_15 / 24, 2 / 9, 5 / 36 - ROOT_15 / 24],
        [5 / 36 + ROOT_15 / 30, 2 / 9 + ROOT_15 / 15, 5 / 36],
    ]
)
GAUSS_WEIGHTS = np.array([5, 8, 5]) / 18
GAUSS_STAGES = np.array([0.5 - ROOT_15 / 10, 0.5, 0.5 + ROOT_15 / 10])


class ShapeTables(NamedTuple):
    """The shapes at all Gauss points; (P, 2 n), clamped at eta = 0."""

    eta: np.ndarray  # places of the points over the free length
    weight: np.ndarray  # of the integral over eta
    values: np.ndarray
    slopes: np.ndarray  # by eta
    curvatures: np.ndarray  # by eta, twice


def hermite(s, h):
    """Values, first and second derivatives (by eta) of the four cubic functions at s in 0..1."""
    values = [
        1 - 3 * s**2 + 2 * s**3,
        h * (s - 2 * s**2 + s**3),
        3 * s**2 - 2 * s**3,
        h * (s**3 - s**2),
    ]
    slopes = [
        -6 * s + 6 * s**2,
        h * (1 - 4 * s + 3 * s**2),
        6 * s - 6 * s**2,
        h * (3 * s**2 - 2 * s),
    ]
    curvatures = [-6 + 12 * s, h * (-4 + 6 * s), 6 - 12 * s, h * (6 * s - 2)]
    return np.array(values), np.array(slopes) / h, np.array(curvatures) / h**2


def cross_matrix(vector):
    """The matrix whose product with a vector is the cross product."""
    x, y, z = vector
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@dataclass(frozen=True)
class SlidingBeam:
    """rA, EI, payload: kg/m, N m^2, kg.  n: elements.  axial: tension from the motion stiffens.
    convective: keep the terms in U. False is the paper's (1), (2) after they are dropped: no U in
    the field equation, and partial instead of total time derivatives at the moving tip."""

    rA: float
    EI: float
    payload: float
    n: int = 8
    axial: bool = False
    convective: bool = True

    def __post_init__(self):
        object.__setattr__(self, "_tables", self.tables())

    def tables(self):
        h = 1 / self.n
        points, point_weights = GAUSS
        eta = []
        weight = []
        rows = []
        for element in range(self.n):
            for point, point_weight in zip(points, point_weights, strict=True):
                s = (point + 1) / 2
                all_nodes = np.zeros((3, 2 * self.n + 2))
                all_nodes[:, 2 * element : 2 * element + 4] = hermite(s, h)
                rows.append(all_nodes[:, 2:])
                eta.append((element + s) * h)
                weight.append(point_weight * h / 2)
        values, slopes, curvatures = np.moveaxis(np.array(rows), 1, 0)
        return ShapeTables(np.array(eta), np.array(weight), values, slopes, curvatures)

    def matrices(self, l, U, Ud, root):
        """M, C, K, f of M qdd + C qd + K q = f, q = [v, w]; root: (omega, alpha, a), hub axes."""
        eta, g, N, _, DD = self._tables
        size = 2 * self.n  # coordinates of one plane
        w = g * l * self.rA
        e = eta[:, None]

        tip = np.zeros(size)
        tip[size - 2] = 1.0
        tip_mass = self.payload * np.outer(tip, tip)
        mass = N.T @ (w[:, None] * N)
        bending = DD.T @ ((g / l**3 * self.EI)[:, None] * DD)
        tension = self._tension(l, U, Ud, root) if self.axial else 0.0
        eulerian_damping, eulerian_stiffness, rate_q = self._eulerian_terms(l, U, Ud, e, w)

        # Rotation of the hub: 2 omega x r' and (alpha x + omega x omega x) r
        omega, alpha, a = root
        W = cross_matrix(omega)
        spin = cross_matrix(alpha) + W @ W

        M = np.zeros((2 * size, 2 * size))
        C = np.zeros((2 * size, 2 * size))
        K = np.zeros((2 * size, 2 * size))
        f = np.zeros(2 * size)
        mean = N.T @ w
        first_moment = N.T @ (w * eta * l)
        for i in range(2):
            here = slice(i * size, (i + 1) * size)
            M[here, here] = mass + tip_mass
            C[here, here] += eulerian_damping
            K[here, here] += eulerian_stiffness + bending + tension

            f[here] -= (a[1 + i]) * (mean + self.payload * tip)
            f[here] -= spin[1 + i, 0] * (first_moment + self.payload * l * tip)
            f[here] -= 2 * W[1 + i, 0] * U * (mean + self.payload * tip)

            for j in range(2):
                there = slice(j * size, (j + 1) * size)
                coriolis = 2 * W[1 + i, 1 + j]
                C[here, there] += coriolis * (mass + tip_mass)
                K[here, there] += coriolis * rate_q + spin[1 + i, 1 + j] * (mass + tip_mass)
        return M, C, K, f

    def _eulerian_terms(self, l, U, Ud, e, w):
        """What moving nodes add: terms of r'' with qd and with q, and of r' with q."""
        _, _, N, D, DD = self._tables
        convective = 1.0 if self.convective else 0.0

        # At fixed x: v_t = N qd - eta N' U/l q; v_tt, v_xt, v_xx, v_x likewise
        vt_q = -e * D * U / l
        vtt_qd = -2 * e * D * U / l
        vtt_q = e**2 * DD * (U / l) ** 2 + 2 * e * D * (U / l) ** 2 - e * D * Ud / l
        vxt_qd = D / l
        vxt_q = -(D + e * DD) * U / l**2
        vx = D / l
        vxx = DD / l**2

        acceleration_qd = vtt_qd + convective * 2 * U * vxt_qd
        acceleration_q = vtt_q + convective * (2 * U * vxt_q + U**2 * vxx + Ud * vx)
        velocity_q = vt_q + convective * U * vx
        damping = N.T @ (w[:, None] * acceleration_qd)
        stiffness = N.T @ (w[:, None] * acceleration_q)
        rate_q = N.T @ (w[:, None] * velocity_q)
        if self.convective:
            return damping, stiffness, rate_q

        # The payload feels the partial derivative at the tip, which the moving nodes are not
        size = 2 * self.n
        slopes = np.zeros(size)
        curvatures = np.zeros(size)
        _, slopes[size - 4 :], curvatures[size - 4 :] = hermite(1.0, 1 / self.n)
        at_tip = np.zeros(size)
        at_tip[size - 2] = self.payload
        tip_acceleration_q = (curvatures + 2 * slopes) * (U / l) ** 2 - slopes * Ud / l
        damping = damping - np.outer(at_tip, 2 * slopes * U / l)
        stiffness = stiffness + np.outer(at_tip, tip_acceleration_q)
        return damping, stiffness, rate_q

    def _tension(self, l, U, Ud, root):
        """int T v_x dv_x: T(x) holds back what lies beyond x, a_x = a + U_t - (wy^2 + wz^2) x."""
        omega, _, a = root
        eta, g, _, D, _ = self._tables
        s2 = omega[1] ** 2 + omega[2] ** 2
        x = eta * l
        beam = self.rA * ((a[0] + Ud) * (l - x) - s2 * (l**2 - x**2) / 2)
        payload = self.payload * (a[0] + Ud - s2 * l)
        T = -(beam + payload)
        return D.T @ ((g / l * T)[:, None] * D)

    def run(self, motion, times, q0=None, qd0=None):
        """States (n, 4 n) of (v, w) coordinates by the three-stage Gauss method on `times`.

        motion(t) returns l, U, U_t and (omega, alpha, a) of the root in its own axes.
        """
        at_rest = np.zeros(4 * self.n)
        q = at_rest if q0 is None else q0
        qd = at_rest if qd0 is None else qd0
        state = np.concatenate([q, qd])
        states = [state]
        for t, next_t in pairwise(times):
            h = next_t - t
            stages = [self._system(motion(t + c * h)) for c in GAUSS_STAGES]
            states.append(gauss_step(stages, states[-1], h))
        return np.array(states)

    def _system(self, root_motion):
        """A and b of x' = A x + b for the state x = [q, qd]."""
        M, C, K, f = self.matrices(*root_motion)
        m = len(f)
        right = np.linalg.solve(M, np.column_stack([-K, -C, f]))
        A = np.zeros((2 * m, 2 * m))
        A[:m, m:] = np.eye(m)
        A[m:] = right[:, : 2 * m]
        b = np.concatenate([np.zeros(m), right[:, -1]])
        return A, b

    def tip(self, states):
        """(n, 2) deflection of the tip along y and z."""
        m = 2 * self.n
        return states[:, [m - 2, 2 * m - 2]]


def gauss_step(stages, state, h):
    """The state after a step h of x' = A x + b, given A and b at the three stages."""
    matrices = [matrix for matrix, _ in stages]
    rates = [matrix @ state + constant for matrix, constant in stages]
    blocks = []
    for i in range(3):
        blocks.append([GAUSS_MATRIX[i, j] * matrices[i] for j in range(3)])
    implicit = np.eye(3 * len(state)) - h * np.block(blocks)
    slopes = np.linalg.solve(implicit, np.concatenate(rates))
    return state + h * (GAUSS_WEIGHTS @ slopes.reshape(3, -1))
