"""Geometry of one open chain: where every link's root is, for one or many configurations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..kernels.spatial import axis_rotation, rpy_rotation
from ..robot import Link, SerialRobot, cached_for_robot
from .base import rows_of_angles

__all__ = ["Placement", "configuration", "place", "resolve"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Placement:
    """The undeformed arm: root frames and free lengths, base axes.

    Attributes
    ----------
    R
        (B, n, 3, 3), link axes in base axes.
    p
        (B, n, 3), link roots.
    L
        (B, n), length between root and end (the part outside for a prismatic link).
    """

    R: Array
    p: Array
    L: Array

    @property
    def tip(self) -> Array:
        """(B, 3) end of the last link."""
        end: Array = self.p[:, -1] + self.L[:, -1, None] * self.R[:, -1, :, 0]
        return end


def configuration(robot: SerialRobot, theta: ArrayLike | None) -> Array:
    """Return theta as a (B, joints) array, checked; None means all joints at zero.

    A prismatic joint whose beam bends has no zero position, so it must be given.
    """
    given, reason = resolve(robot, theta)
    for sentence in filter(None, reason):
        raise SuppleError(sentence)
    return given


def resolve(robot: SerialRobot, theta: ArrayLike | None) -> tuple[Array, NDArray[np.object_]]:
    """Return theta as a (B, joints) array, and why a pose is none, (B,), empty where it is one."""
    moving, wanted = cached_for_robot(robot, "moving", _moving, robot)
    if theta is None:
        if any(link.joint.type == "prismatic" and not link.rigid for link in moving):
            raise SuppleError(f"theta is missing: give {wanted}")
        theta = np.zeros(len(moving))
    given = rows_of_angles(theta, len(moving), wanted)
    reason = np.full(len(given), "", object)
    if not np.isfinite(given).all():
        reason[~np.isfinite(given).all(axis=1)] = (
            "theta holds a value that is not finite: give plain numbers in radians"
        )
    for j, link in enumerate(robot.jointed):
        if link.joint.type != "prismatic":
            continue
        total = link.length or 0.0
        free = robot.joint_coordinates(given)[:, j]
        least = "" if link.rigid else "above 0 and "  # a rigid carriage may stand anywhere
        for b in np.flatnonzero((free > total) | ((free <= 0) & (not link.rigid))):
            reason[b] = (
                f"the free length of {link.name} is {free[b]:g} m: it must lie {least}at most at "
                f"the beam's length {total:g} m; give its joint coordinate"
            )
    return given, reason


def _moving(robot: SerialRobot) -> tuple[tuple[Link, ...], str]:
    """The links whose joints move, and their coordinates in words."""
    links = robot.moving
    names = ", ".join(
        f"{link.name} ({'m outside' if link.joint.type == 'prismatic' else 'rad'})"
        for link in links
    )
    return links, f"{len(links)} joint coordinates: {names}" if names else "none, no joint moves"


@dataclass(frozen=True)
class _MountedLink:
    """What `place` needs of a link: mount and length."""

    type: str
    xyz: Array
    R: Array
    length: float


def _mounts(robot: SerialRobot) -> tuple[list[_MountedLink], Array]:
    """What `place` needs of every link, and the axes of those joints that turn or slide, (n, 3)."""
    mounts = [
        _MountedLink(joint.type, np.asarray(mount.xyz), rpy_rotation(mount.rpy), link.length or 0.0)
        for link in robot.links
        for joint, mount in [(link.joint, link.joint.mount)]
    ]
    return mounts, np.array([link.joint.direction for link in robot.jointed]).reshape(-1, 3)


def place(robot: SerialRobot, theta: ArrayLike | None) -> Placement:
    """Return the root frame of every link at the configurations theta, (joints,) or (B, joints).

    root = previous end . Trans(xyz) . Rz Ry Rx . Rot(axis, theta); a beam runs along its +x.
    """
    given = configuration(robot, theta)
    mounts, axes = cached_for_robot(robot, "mounts", _mounts, robot)
    B = len(given)
    n = len(mounts)
    R = np.empty((B, n, 3, 3))
    p = np.empty((B, n, 3))
    L = np.empty((B, n))
    # the base: the same in every configuration
    R_end = np.eye(3)
    p_end = np.zeros(3)
    given = robot.joint_coordinates(given)
    turned = axis_rotation(axes, given)  # of slides too, which do not use it
    column = 0
    for i, link in enumerate(mounts):
        p[:, i] = p_end + R_end @ link.xyz
        R[:, i] = R_end @ link.R
        L[:, i] = link.length
        if link.type == "revolute":
            R[:, i] = R[:, i] @ turned[:, column]
        elif link.type == "prismatic":
            L[:, i] = given[:, column]
        column += link.type != "fixed"
        R_end = R[:, i]
        p_end = p[:, i] + L[:, i, None] * R_end[:, :, 0]
    return Placement(R, p, L)
