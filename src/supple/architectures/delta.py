"""Geometry of the Delta: three legs from the base to the platform, z down, closed forms.

In the axes of leg i (turned by its angle about z), with r = r_A - r_B:
    upper arm  R_y(phi1) from A = (r_A, 0, 0);  lower rod  R_y(phi1 + phi2) R_z(phi3) from its end B
    to D = P + (r_B, 0, 0), so that
    X = r + L1 cos(phi1) + L2 cos(phi12) cos(phi3),  Y = L2 sin(phi3),
    Z = -L1 sin(phi1) - L2 sin(phi12) cos(phi3).
Source: [Kuo2016], Eq. (4); its third row is missing and is derived here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..kernels.spatial import axis_rotation
from ..robot import DeltaRobot

__all__ = ["DeltaPlacement", "inverse", "place"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DeltaPlacement:
    """The undeformed Delta at B positions; the second axis of every array is the leg.

    Attributes:
        position: (B, 3), platform centre.  phi: (B, 3, 3), phi1, phi2, phi3 of each leg.
        R_leg: (3, 3, 3), leg axes in base axes.  R_upper, R_lower: (B, 3, 3, 3), link axes in base
        axes.  A, B: (B, 3, 3), hips and elbows, base axes.
    """

    position: Array
    phi: Array
    R_leg: Array
    R_upper: Array
    R_lower: Array
    A: Array
    B: Array


def inverse(robot: DeltaRobot, position: ArrayLike, elbow: str = "out") -> Array:
    """Return phi1, phi2, phi3 of the three legs, (B, 3, 3), for platform positions (B, 3).

    With d = (X - r, Y, Z) and K = (|d|^2 + L1^2 - L2^2) / 2 L1, phi1 solves
    d_x cos(phi1) - d_z sin(phi1) = K; of the two solutions the elbow that points outward is usual.
    """
    P = np.atleast_2d(np.asarray(position, float))
    if P.ndim != 2 or P.shape[1] != 3 or not np.isfinite(P).all():
        raise SuppleError("position must be three finite numbers x, y, z, or an array (B, 3)")
    L1, L2 = robot.upper.length or 0.0, robot.lower.length or 0.0
    angles = np.asarray(robot.angles)
    c, s = np.cos(angles), np.sin(angles)
    dx = P[:, :1] * c + P[:, 1:2] * s - (robot.base_radius - robot.platform.radius)
    dy = -P[:, :1] * s + P[:, 1:2] * c
    dz = np.broadcast_to(P[:, 2:], dx.shape)
    reach, K = np.hypot(dx, dz), (dx**2 + dy**2 + dz**2 + L1**2 - L2**2) / (2 * L1)
    out = ~(np.abs(K) <= reach) | ~(np.abs(dy) <= L2)
    if out.any():
        b = int(np.flatnonzero(out.any(axis=1))[0])
        legs = ", ".join(str(i + 1) for i in np.flatnonzero(out[b]))
        raise SuppleError(
            f"position {P[b].tolist()} is out of reach of leg {legs}: the legs span at most "
            f"{L1 + L2:g} m from their hips; try a point nearer to the axis"
        )
    middle, spread = -np.arctan2(dz, dx), np.arccos(K / reach)
    outward = np.cos(middle + spread) >= np.cos(middle - spread)
    phi1 = middle + np.where(outward == (elbow == "out"), spread, -spread)
    phi3 = np.arcsin(dy / L2)
    phi12 = np.arctan2(-(dz + L1 * np.sin(phi1)), dx - L1 * np.cos(phi1))
    phi1 = (phi1 + np.pi) % (2 * np.pi) - np.pi
    return np.stack([phi1, phi12 - phi1, phi3], axis=-1)


def place(robot: DeltaRobot, position: ArrayLike) -> DeltaPlacement:
    """Return where every part of the Delta is at platform positions (3,) or (B, 3)."""
    P = np.atleast_2d(np.asarray(position, float))
    phi = inverse(robot, P)
    R_leg = axis_rotation((0, 0, 1), np.asarray(robot.angles))
    R_upper = R_leg @ axis_rotation((0, 1, 0), phi[..., 0])
    R_lower = (
        R_leg
        @ axis_rotation((0, 1, 0), phi[..., 0] + phi[..., 1])
        @ axis_rotation((0, 0, 1), phi[..., 2])
    )
    A = np.broadcast_to(robot.base_radius * R_leg[:, :, 0], (len(P), 3, 3))
    B = A + (robot.upper.length or 0.0) * R_upper[..., 0]
    return DeltaPlacement(P, phi, R_leg, R_upper, R_lower, A, B)
