"""The errata's reading of the RRP arm, (q1, 0.1, 0, -90), (q2, 0.3, 0, 90), (0, q3, 0, 0)."""

import casadi as ca
import numpy as np


def parabolic(a, b, T, tb, t):
    """Linear segment with parabolic blends: position, velocity, acceleration."""
    V = (b - a) / (T - tb)
    if t < tb:
        return a + V * t**2 / (2 * tb), V * t / tb, V / tb
    if t < T - tb:
        return a + V * (t - tb / 2), V, 0.0 * V
    return b - V * (T - t) ** 2 / (2 * tb), V * (T - t) / tb, -V / tb


def dh(theta, d, alpha):
    c, s, ca_, sa = ca.cos(theta), ca.sin(theta), np.cos(alpha), np.sin(alpha)
    T = ca.SX.eye(4)
    T[0, :3], T[1, :3] = ca.horzcat(c, -s * ca_, s * sa), ca.horzcat(s, c * ca_, -c * sa)
    T[2, :3], T[2, 3] = ca.horzcat(0, sa, ca_), d
    return T


def root_function():
    """q, qd, qdd (2,) to omega, alpha, a of the hub in axes (z3, x3, y3): link x, y, z."""
    q, qd, qdd = (ca.SX.sym(n, 2) for n in ("q", "qd", "qdd"))
    T = dh(q[0], 0.1, -np.pi / 2) @ dh(q[1], 0.3, np.pi / 2)
    R = ca.horzcat(T[:3, 2], T[:3, 0], T[:3, 1])

    def dt(x):
        return ca.jtimes(x, ca.vertcat(q, qd), ca.vertcat(qd, qdd))

    p = T[:3, 3]
    W = R.T @ ca.reshape(dt(ca.vec(R)), 3, 3)
    omega = ca.vertcat(W[2, 1], W[0, 2], W[1, 0])
    return ca.Function("root", [q, qd, qdd], [omega, dt(omega), R.T @ dt(dt(p))])


def motion(extend=True, duration=1.0, blend=0.1):
    """t to (l, U, U_t, (omega, alpha, a)) on the paper's path."""
    root = root_function()
    start, end = np.array([0.0, 0.0, 0.3]), np.array([np.pi, -np.pi / 2, 1.0])
    if not extend:
        start[2], end[2] = 1.0, 0.3

    def at(t):
        q, qd, qdd = parabolic(start, end, duration, blend, t)
        parts = [np.array(x).ravel() for x in root(q[:2], qd[:2], qdd[:2])]
        return q[2], qd[2], qdd[2], tuple(parts)

    return at
