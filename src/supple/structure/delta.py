"""A Delta as a Structure: that of its tree, whose links are placed in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import delta
from ..architectures.delta_motion import motion, moving_links
from ..architectures.forms import rod_sides
from ..architectures.frames import Frames
from ..architectures.joint_tree import TreeMotion
from ..architectures.serial import Placement
from ..architectures.tree import Tree
from ..errors import SuppleError
from ..robot import DeltaRobot
from .general import moving_placed, placed_structure
from .moving import MovingStructure
from .parts import Joints, Structure

__all__ = ["delta_structure", "moving_delta"]

Array = NDArray[np.float64]


def delta_structure(m: Tree, position: ArrayLike | None, joints: Joints) -> Structure:
    """Return the Delta with its platform at (3,) or (B, 3) positions."""
    robot = cast("DeltaRobot", m.robot)
    if position is None:
        raise SuppleError(f"position is missing: say where the platform of {robot.name} is")
    at = delta.place(robot, position)
    return placed_structure(m, _place_legs(m, at), joints)


def moving_delta(
    m: Tree,
    position: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    joints: Joints = "locked",
) -> MovingStructure:
    """Return the Delta at the instants of a motion of its platform, (B, 3) each."""
    robot = cast("DeltaRobot", m.robot)
    led = motion(robot, position, velocity, acceleration)
    (upper, lower), still = moving_links(robot, led), np.zeros(3)
    moved, rods = _place_legs(m, led.at), len(rod_sides(robot))
    platform = {"w": still, "dw": still, "v": led.velocity, "a": led.acceleration}
    rates = [
        _leg_by_leg([getattr(upper, key), *[getattr(lower, key)] * rods], own)
        for key, own in platform.items()
    ]
    return moving_placed(m, moved, Frames(moved.at.R, moved.at.p, *rates), joints)


def _place_legs(m: Tree, at: delta.DeltaPlacement) -> TreeMotion:
    """The links of a Delta where its legs and its platform stand."""
    robot = cast("DeltaRobot", m.robot)
    y, L = at.R_leg[:, :, 1], m.joints.length
    z, tangent = at.R_lower[..., 2], np.broadcast_to(y, at.A.shape)
    axes, roots, turns_of_leg = [at.R_upper], [at.A], [tangent]
    for _, side in rod_sides(robot):
        elbow = at.B + side * y
        axes.append(at.R_lower)
        roots.append(elbow)
        turns_of_leg += [tangent, z]
        if robot.wrist.acts:
            axes.append(np.broadcast_to(at.R_leg, at.R_lower.shape))
            roots.append(elbow + (robot.lower.length or 0.0) * at.R_lower[..., 0])
            outward = np.broadcast_to(at.R_leg[:, :, 0], at.A.shape)
            ball = robot.lower.rods == "parallelogram"
            turns_of_leg += [outward, tangent, z] if ball else [z, tangent]
    R = _leg_by_leg(axes, np.eye(3))
    p = _leg_by_leg(roots, at.position)
    turns = _leg_by_leg(turns_of_leg, np.zeros(3))
    free = np.broadcast_to(np.eye(6), (len(p), 6, 6))
    w = np.concatenate([turns[:, :-1], free[..., 3:]], axis=1)
    v = np.concatenate([np.zeros_like(turns[:, :-1]), free[..., :3]], axis=1)
    return TreeMotion(m.joints, Placement(R, p, np.broadcast_to(L, (len(p), len(L)))), w, v)


def _leg_by_leg(legs: Sequence[Array], platform: Array) -> Array:
    """Arrays (B, 3 legs, ..) of what a leg has one after the other, leg by leg, and the last."""
    each = np.stack(legs, axis=2)
    flat = each.reshape(len(each), 3 * len(legs), *each.shape[3:])
    last = np.broadcast_to(platform, (len(flat), *flat.shape[2:]))[:, None]
    return np.concatenate([flat, last], axis=1)
