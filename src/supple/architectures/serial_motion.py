"""Motion of the rigid serial arm: every link root as a moving frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..robot import SerialRobot
from .frames import Frames
from .serial import configuration, place

__all__ = ["moving_links"]

Array = NDArray[np.float64]


def moving_links(
    robot: SerialRobot, theta: ArrayLike, thetad: ArrayLike, thetadd: ArrayLike
) -> Frames:
    """Return the link roots in motion, (B, n, ..), for joint rates (joints,) or (B, joints).

    w_i = w_(i-1) + theta' z, w_i' = w_(i-1)' + theta'' z + w_(i-1) x theta' z, z the joint's axis.
    """
    for link in robot.links:
        if link.joint.type == "prismatic":
            raise SuppleError(
                f"links.{link.name} slides: elements on moving frames are for revolute and fixed "
                "joints; follow() takes such an arm, through its Model"
            )
    given = configuration(robot, theta)
    rates = [
        robot.spread(np.broadcast_to(np.asarray(x, float), given.shape), rate=True)
        for x in (thetad, thetadd)
    ]
    placed = place(robot, given)
    w, dw, v, a = (np.zeros_like(placed.p) for _ in range(4))
    zero = np.zeros((len(given), 3))
    before, column = (zero, zero, zero, zero, zero), 0
    for i, link in enumerate(robot.links):
        w_p, dw_p, v_p, a_p, p_p = before
        arm = placed.p[:, i] - p_p
        v[:, i] = v_p + np.cross(w_p, arm)
        a[:, i] = a_p + np.cross(dw_p, arm) + np.cross(w_p, np.cross(w_p, arm))
        w[:, i], dw[:, i] = w_p, dw_p
        if link.joint.type == "revolute":
            z = placed.R[:, i] @ link.joint.direction
            spin = rates[0][:, column, None] * z
            w[:, i] += spin
            dw[:, i] += rates[1][:, column, None] * z + np.cross(w_p, spin)
            column += 1
        before = (w[:, i], dw[:, i], v[:, i], a[:, i], placed.p[:, i])
    return Frames(placed.R, placed.p, w, dw, v, a)
