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

import numpy as np

GAUSS = np.polynomial.legendre.leggauss(6)


def hermite(s, h):
    """Values, first and second derivatives (by eta) of the four cubic functions at s in 0..1."""
    N = np.array([1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3,
                  h * (s**3 - s**2)])  # fmt: skip
    D = np.array([-6 * s + 6 * s**2, h * (1 - 4 * s + 3 * s**2), 6 * s - 6 * s**2,
                  h * (3 * s**2 - 2 * s)]) / h  # fmt: skip
    DD = np.array([-6 + 12 * s, h * (-4 + 6 * s), 6 - 12 * s, h * (6 * s - 2)]) / h**2
    return N, D, DD


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

    def tables(self):
        """eta, weights, and N, N', N'' at the Gauss points, (P, 2 n) each, clamped at eta = 0."""
        h, (t, w) = 1 / self.n, GAUSS
        eta = []
        weight = []
        rows = []
        for k in range(self.n):
            for ti, wi in zip(t, w, strict=True):
                s = (ti + 1) / 2
                full = np.zeros((3, 2 * self.n + 2))
                full[:, 2 * k : 2 * k + 4] = hermite(s, h)
                rows.append(full[:, 2:])
                eta.append((k + s) * h)
                weight.append(wi * h / 2)
        N, D, DD = np.moveaxis(np.array(rows), 1, 0)
        return np.array(eta), np.array(weight), N, D, DD

    def matrices(self, l, U, Ud, root):
        """M, C, K, f of M qdd + C qd + K q = f, q = [v, w]; root: (omega, alpha, a), hub axes."""
        eta, g, N, D, DD = self._tables
        m = 2 * self.n
        w = g * l * self.rA
        mass = N.T @ (w[:, None] * N)
        e = eta[:, None]
        keep = 1.0 if self.convective else 0.0
        # Eulerian: v_t = N qd - eta N' U/l q; v_tt, v_xt, v_xx, v_x likewise
        vt_q = -e * D * U / l
        vtt_qd = -2 * e * D * U / l
        vtt_q = e**2 * DD * (U / l) ** 2 + 2 * e * D * (U / l) ** 2 - e * D * Ud / l
        vxt_qd = D / l
        vxt_q = -(D + e * DD) * U / l**2
        vx = D / l
        vxx = DD / l**2
        c1 = vtt_qd + keep * 2 * U * vxt_qd
        k1 = vtt_q + keep * (2 * U * vxt_q + U**2 * vxx + Ud * vx)
        rate_q = vt_q + keep * U * vx
        C1, K1, S = (N.T @ (w[:, None] * X) for X in (c1, k1, rate_q))
        if not self.convective:
            D1 = np.zeros(m)
            DD1 = np.zeros(m)
            D1[m - 4 :], DD1[m - 4 :] = hermite(1.0, 1 / self.n)[1:]
            at_tip = np.zeros(m)
            at_tip[m - 2] = self.payload
            C1 = C1 - np.outer(at_tip, 2 * D1 * U / l)
            K1 = K1 + np.outer(at_tip, (DD1 + 2 * D1) * (U / l) ** 2 - D1 * Ud / l)
        bend = DD.T @ ((g / l**3 * self.EI)[:, None] * DD)
        tip = np.zeros(m)
        tip[m - 2] = 1.0
        tip2 = self.payload * np.outer(tip, tip)
        omega, alpha, a = root
        W = np.array([[0, -omega[2], omega[1]], [omega[2], 0, -omega[0]], [-omega[1], omega[0], 0]])
        A = np.array([[0, -alpha[2], alpha[1]], [alpha[2], 0, -alpha[0]], [-alpha[1], alpha[0], 0]])
        spin = A + W @ W
        M, C, K = (np.zeros((2 * m, 2 * m)) for _ in range(3))
        f = np.zeros(2 * m)
        mean = N.T @ w
        first = N.T @ (w * eta * l)
        tension = self._tension(l, U, Ud, root, D) if self.axial else 0.0
        for i in range(2):
            here = slice(i * m, (i + 1) * m)
            M[here, here] = mass + tip2
            C[here, here] += C1
            K[here, here] += K1 + bend + tension
            f[here] -= (a[1 + i]) * (mean + self.payload * tip)
            f[here] -= spin[1 + i, 0] * (first + self.payload * l * tip)
            f[here] -= 2 * W[1 + i, 0] * U * (mean + self.payload * tip)
            for j in range(2):
                there = slice(j * m, (j + 1) * m)
                C[here, there] += 2 * W[1 + i, 1 + j] * (mass + tip2)
                K[here, there] += 2 * W[1 + i, 1 + j] * S + spin[1 + i, 1 + j] * (mass + tip2)
        return M, C, K, f

    def _tension(self, l, U, Ud, root, D):
        """int T v_x dv_x: T(x) holds back what lies beyond x, a_x = a + U_t - (wy^2 + wz^2) x."""
        omega, _, a = root
        eta, g, *_ = self._tables
        s2 = omega[1] ** 2 + omega[2] ** 2
        x = eta * l
        T = -(self.rA * ((a[0] + Ud) * (l - x) - s2 * (l**2 - x**2) / 2)
              + self.payload * (a[0] + Ud - s2 * l))  # fmt: skip
        return D.T @ ((g / l * T)[:, None] * D)

    def __post_init__(self):
        object.__setattr__(self, "_tables", self.tables())

    def run(self, motion, times, q0=None, qd0=None):
        """States (n, 4 n) of (v, w) coordinates by the three-stage Gauss method on `times`.

        motion(t) returns l, U, U_t and (omega, alpha, a) of the root in its own axes.
        """
        m = 4 * self.n
        x = np.concatenate([np.zeros(m) if q0 is None else q0, np.zeros(m) if qd0 is None else qd0])
        r = np.sqrt(15)
        a = np.array([[5 / 36, 2 / 9 - r / 15, 5 / 36 - r / 30],
                      [5 / 36 + r / 24, 2 / 9, 5 / 36 - r / 24],
                      [5 / 36 + r / 30, 2 / 9 + r / 15, 5 / 36]])  # fmt: skip
        b = np.array([5, 8, 5]) / 18
        c = np.array([0.5 - r / 10, 0.5, 0.5 + r / 10])
        out = [x]
        eye = np.eye(3 * 2 * m)
        for t, t1 in pairwise(times):
            h = t1 - t
            F, f = zip(*(self._system(motion(t + ci * h)) for ci in c), strict=True)
            big = eye - h * np.block([[a[i, j] * F[i] for j in range(3)] for i in range(3)])
            k = np.linalg.solve(big, np.concatenate([F[i] @ x + f[i] for i in range(3)]))
            x = x + h * (b @ k.reshape(3, -1))
            out.append(x)
        return np.array(out)

    def _system(self, given):
        M, C, K, f = self.matrices(*given)
        m = len(f)
        right = np.linalg.solve(M, np.column_stack([-K, -C, f]))
        A = np.zeros((2 * m, 2 * m))
        A[:m, m:] = np.eye(m)
        A[m:] = right[:, : 2 * m]
        return A, np.concatenate([np.zeros(m), right[:, -1]])

    def tip(self, states):
        """(n, 2) deflection of the tip along y and z."""
        m = 2 * self.n
        return states[:, [m - 2, 2 * m - 2]]
