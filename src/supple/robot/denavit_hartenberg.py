"""Denavit-Hartenberg parameters of a joint, and the mount and axis that they stand for.

Standard convention: A = Rz(theta) Tz(d) Tx(a) Rx(alpha), the joint turns about the z axis of the
frame before. Since Tx(a) and Rx(alpha) commute, the link's own frame is that of the convention, its
beam runs along the frame's x, and its end is the convention's origin when it is as long as `a`.

Modified convention (Craig): A = Rx(alpha) Tx(a) Rz(theta) Tz(d), where `a` and `alpha` belong to
the link before.
"""

from __future__ import annotations

from math import cos, sin
from typing import Literal, NamedTuple

from ..values import Angle, Coordinate
from .body import Description, Mount

__all__ = ["DenavitHartenberg", "JointPlacement", "placed_by_rows"]


class DenavitHartenberg(Description):
    """A row of a Denavit-Hartenberg table; `theta` is where the joint coordinate is zero."""

    a: Coordinate = 0.0
    d: Coordinate = 0.0
    alpha: Angle = 0.0
    theta: Angle = 0.0
    convention: Literal["standard", "modified"] = "standard"


class JointPlacement(NamedTuple):
    """Where a joint sits behind the end of the link before, and its axis in mounted axes."""

    mount: Mount
    axis: tuple[float, float, float] | None


def placed_by_rows(
    own: DenavitHartenberg, before: DenavitHartenberg | None, length_before: float | None
) -> JointPlacement:
    """Return mount and axis of a joint from its own row and that of the link before.

    Parameters
    ----------
    own : DenavitHartenberg
        Row of the joint.
    before : DenavitHartenberg or None
        Row of the link that carries it, None at the base or without one.
    length_before : float or None
        Length of the beam of the link that carries it, m; None at the base. A beam that is shorter
        than its `a` is continued by a rigid offset.
    """
    if own.convention == "standard":
        carried_by_row = before is not None and before.convention == "standard"
        offset = before.a - (length_before or 0.0) if before and carried_by_row else 0.0
        # Rz(q + theta) Tz(d) Rx(alpha) = Tz(d) R Rot(R^T z, q) with R = Rz(theta) Rx(alpha)
        mount = Mount(xyz=(offset, 0.0, own.d), rpy=(own.alpha, 0.0, own.theta))
        turned = (0.0, sin(own.alpha), cos(own.alpha))
        return JointPlacement(mount, None if own.alpha == 0 else turned)
    offset = own.a - (length_before or 0.0)
    xyz = (offset, -sin(own.alpha) * own.d, cos(own.alpha) * own.d)
    return JointPlacement(Mount(xyz=xyz, rpy=_roll_then_yaw(own.alpha, own.theta)), None)


def _roll_then_yaw(alpha: float, theta: float) -> tuple[float, float, float]:
    """Return roll, pitch, yaw of Rx(alpha) Rz(theta)."""
    from math import asin, atan2, hypot

    # Rows of Rx(alpha) Rz(theta); Rz(yaw) Ry(pitch) Rx(roll) has -sin(pitch) at (3, 1).
    r11 = cos(theta)
    r21 = cos(alpha) * sin(theta)
    r31 = sin(alpha) * sin(theta)
    r32 = sin(alpha) * cos(theta)
    r33 = cos(alpha)
    r12 = -sin(theta)
    r22 = cos(alpha) * cos(theta)
    if hypot(r11, r21) < 1e-12:  # gimbal lock: roll is free, take it as zero
        return 0.0, asin(max(-1.0, min(1.0, -r31))), atan2(-r12, r22)
    return atan2(r32, r33), atan2(-r31, hypot(r11, r21)), atan2(r21, r11)
