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
    platform = motion(robot, position, velocity, acceleration)
    upper, lower = moving_links(robot, platform)
    links_of_leg = [upper, *[lower] * len(rod_sides(robot))]
    at_rest = np.zeros(3)
    w = _leg_by_leg([link.w for link in links_of_leg], at_rest)
    dw = _leg_by_leg([link.dw for link in links_of_leg], at_rest)
    v = _leg_by_leg([link.v for link in links_of_leg], platform.velocity)
    a = _leg_by_leg([link.a for link in links_of_leg], platform.acceleration)

    moved = _place_legs(m, platform.at)
    frames = Frames(moved.at.R, moved.at.p, w, dw, v, a)
    return moving_placed(m, moved, frames, joints)


def _place_legs(m: Tree, at: delta.DeltaPlacement) -> TreeMotion:
    """The links of a Delta placed by its legs and its platform."""
    robot = cast("DeltaRobot", m.robot)
    lengths = m.joints.length
    leg_y = at.R_leg[:, :, 1]
    rod_z = at.R_lower[..., 2]
    hinge = np.broadcast_to(leg_y, at.A.shape)  # axis of the motor and of the elbow

    # Axes and root of every link of a leg, and the axes about which its joints turn
    axes = [at.R_upper]
    roots = [at.A]
    turns_of_leg = [hinge]
    for _, side in rod_sides(robot):
        elbow = at.B + side * leg_y
        axes.append(at.R_lower)
        roots.append(elbow)
        turns_of_leg += [hinge, rod_z]
        if robot.wrist.acts:
            rod_end = elbow + (robot.lower.length or 0.0) * at.R_lower[..., 0]
            axes.append(np.broadcast_to(at.R_leg, at.R_lower.shape))
            roots.append(rod_end)
            if robot.lower.rods == "parallelogram":  # a ball joint
                outward = np.broadcast_to(at.R_leg[:, :, 0], at.A.shape)
                turns_of_leg += [outward, hinge, rod_z]
            else:
                turns_of_leg += [rod_z, hinge]

    R = _leg_by_leg(axes, np.eye(3))
    p = _leg_by_leg(roots, at.position)
    L = np.broadcast_to(lengths, (len(p), len(lengths)))

    # Unit rates of the joints: rotations of the legs, all six motions of the platform
    turns = _leg_by_leg(turns_of_leg, np.zeros(3))[:, :-1]
    platform_motions = np.broadcast_to(np.eye(6), (len(p), 6, 6))
    w = np.concatenate([turns, platform_motions[..., 3:]], axis=1)
    v = np.concatenate([np.zeros_like(turns), platform_motions[..., :3]], axis=1)
    return TreeMotion(m.joints, Placement(R, p, L), w, v)


def _leg_by_leg(legs: Sequence[Array], platform: Array) -> Array:
    """Values (B, 3 n + 1, ..) of all links: the n of each leg in turn, then the platform.

    legs: for each of a leg's n links the values of the three legs, (B, 3, ..).
    """
    stacked = np.stack(legs, axis=2)
    in_turn = stacked.reshape(len(stacked), 3 * len(legs), *stacked.shape[3:])
    last = np.broadcast_to(platform, (len(in_turn), *in_turn.shape[2:]))[:, None]
    return np.concatenate([in_turn, last], axis=1)
