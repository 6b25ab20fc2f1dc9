"""The errata's reading of the RRP arm, (q1, 0.1, 0, -90), (q2, 0.3, 0, 90), (0, q3, 0, 0)."""

import casadi as ca
import numpy as np


def parabolic(start, end, duration, blend, t):
    """Linear segment with parabolic blends: position, velocity, acceleration."""
    speed = (end - start) / (duration - blend)

    if t < blend:
        position = start + speed * t**2 / (2 * blend)
        return position, speed * t / blend, speed / blend

    if t < duration - blend:
        return start + speed * (t - blend / 2), speed, 0.0 * speed

    left = duration - t  # s until the arm stands still
    position = end - speed * left**2 / (2 * blend)
    return position, speed * left / blend, -speed / blend


def dh(theta, d, alpha):
    """Frame of a row (theta, d, a = 0, alpha) of a standard Denavit-Hartenberg table."""
    cos_theta = ca.cos(theta)
    sin_theta = ca.sin(theta)
    cos_alpha = np.cos(alpha)
    sin_alpha = np.sin(alpha)

    frame = ca.SX.eye(4)
    frame[0, :3] = ca.horzcat(cos_theta, -sin_theta * cos_alpha, sin_theta * sin_alpha)
    frame[1, :3] = ca.horzcat(sin_theta, cos_theta * cos_alpha, -cos_theta * sin_alpha)
    frame[2, :3] = ca.horzcat(0, sin_alpha, cos_alpha)
    frame[2, 3] = d
    return frame


def root_function():
    """q, qd, qdd (2,) to omega, alpha, a of the hub in axes (z3, x3, y3): link x, y, z."""
    q = ca.SX.sym("q", 2)
    qd = ca.SX.sym("qd", 2)
    qdd = ca.SX.sym("qdd", 2)
    frame = dh(q[0], 0.1, -np.pi / 2) @ dh(q[1], 0.3, np.pi / 2)
    R = ca.horzcat(frame[:3, 2], frame[:3, 0], frame[:3, 1])
    position = frame[:3, 3]

    def time_derivative(expression):
        return ca.jtimes(expression, ca.vertcat(q, qd), ca.vertcat(qd, qdd))

    # R^T dR/dt is the cross product matrix of omega in link axes.
    spin = R.T @ ca.reshape(time_derivative(ca.vec(R)), 3, 3)
    omega = ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
    alpha = time_derivative(omega)
    acceleration = R.T @ time_derivative(time_derivative(position))
    return ca.Function("root", [q, qd, qdd], [omega, alpha, acceleration])


def motion(extend=True, duration=1.0, blend=0.1):
    """t to (l, U, U_t, (omega, alpha, a)) on the paper's path."""
    root = root_function()
    start = np.array([0.0, 0.0, 0.3])
    end = np.array([np.pi, -np.pi / 2, 1.0])
    if not extend:
        start[2] = 1.0
        end[2] = 0.3

    def at(t):
        q, qd, qdd = parabolic(start, end, duration, blend, t)
        omega, alpha, acceleration = root(q[:2], qd[:2], qdd[:2])
        root_motion = tuple(np.array(part).ravel() for part in (omega, alpha, acceleration))
        return q[2], qd[2], qdd[2], root_motion

    return at
