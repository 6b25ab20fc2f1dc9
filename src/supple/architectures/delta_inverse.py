"""Inverse kinematics of the Delta under its limits, and the nearest place in reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..robot import DeltaRobot
from .delta import direct, leg_axes

__all__ = ["Nearest", "nearest"]

Array = NDArray[np.float64]
STARTS = (
    -0.3,
    -0.8,
    -1.3,
    0.3,
    0.8,
)  # motor angles, rad; those that cannot be assembled are left out


class Nearest(NamedTuple):
    """Tries for the nearest place in reach: theta (B, 3), position (B, 3), distance (B,) m."""

    theta: Array
    position: Array
    distance: Array


def nearest(robot: DeltaRobot, position: Array) -> Nearest:
    """Return the tries for the place in reach nearest to a position (3,).

    Least |P - P_d|^2 over platform P and motor angles phi, subject to the rods' lengths
    |P - C_i(phi_i)| = L2 and the limits of phi, by sequential quadratic programming.
    """
    from scipy.optimize import minimize

    L1, L2 = robot.upper.length or 0.0, robot.lower.length or 0.0
    axes, out = leg_axes(robot), robot.base_radius - robot.platform.radius
    size = L1 + L2

    def rods(x: Array) -> tuple[Array, Array]:
        c, s = np.cos(x[3:]), np.sin(x[3:])
        C = (out + L1 * c)[:, None] * axes[:, :, 0] - (L1 * s)[:, None] * axes[:, :, 2]
        turned = -(L1 * s)[:, None] * axes[:, :, 0] - (L1 * c)[:, None] * axes[:, :, 2]
        away = size * x[:3] - C
        slope = np.hstack([2 * size * away, np.diag(-2 * (away * turned).sum(axis=1))])
        return ((away**2).sum(axis=1) - L2**2) / size**2, slope / size**2

    goal = position / size
    low, high = robot.motor.limits or (-np.pi, np.pi)
    found = []
    for angle in {float(np.clip(a, low, high)) for a in STARTS}:
        start = np.full(3, angle)
        if np.hypot(out + L1 * np.cos(angle), 0) > L2:
            continue
        solved = minimize(
            lambda x: (((x[:3] - goal) ** 2).sum(), np.append(2 * (x[:3] - goal), np.zeros(3))),
            np.append(direct(robot, start)[0] / size, start),
            jac=True,
            method="SLSQP",
            bounds=[(None, None)] * 3 + [(low, high)] * 3,
            constraints={"type": "eq", "fun": lambda x: rods(x)[0], "jac": lambda x: rods(x)[1]},
            options={"ftol": 1e-15, "maxiter": 300},
        )
        if np.abs(rods(solved.x)[0]).max() < 1e-10:
            found.append(solved.x)
    places = np.array(found).reshape(-1, 6)
    P = size * places[:, :3]
    return Nearest(places[:, 3:], P, np.linalg.norm(P - position, axis=1))
