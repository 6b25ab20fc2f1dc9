"""Springs under a joint and under the whole robot, as parts of a Structure.

A bearing adds releases to its link's root, after those of the joint itself. A foundation is a
segment of no length between the ground and the robot, and carries the foundation's body.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..architectures.frames import Frames
from ..architectures.kinds import lower
from ..beams.theory import Beam
from ..kernels.spatial import body_mass, motion_transform, rpy_rotation
from ..robot import JointedLink, Robot, Springs
from .moving import MovingStructure
from .parts import Release, Segment, Structure

__all__ = ["FOUNDATION", "add_foundation", "base_mass", "founded_in_motion", "hub_before", "sprung"]

Array = NDArray[np.float64]
FOUNDATION = "foundation"


def sprung(springs: Springs | None, planar: bool, R: Array) -> tuple[Release, ...]:
    """Return the motions that springs release, segment axes; R (3, 3) or (B, 3, 3) turns to them.

    A full stiffness K is split into uncoupled springs: with the unknowns scaled to a unit diagonal,
    K = V diag(k) V', a release along each column of V.
    """
    if springs is None:
        return ()
    directions, K = springs.soft(planar)  # (6, springs) and their stiffness matrix
    stiffnesses = np.diag(K)
    is_coupled = np.any(K - np.diag(stiffnesses))
    if is_coupled:
        scale = np.sqrt(stiffnesses)
        stiffnesses, V = np.linalg.eigh(K / np.outer(scale, scale))
        directions = directions @ (V / scale[:, None])
        length = np.abs(directions).max(axis=0)
        directions = directions / length
        stiffnesses = stiffnesses / length**2
    turned = np.concatenate([R @ directions[:3], R @ directions[3:]], axis=-2)
    return tuple(Release(turned[..., j], float(k)) for j, k in enumerate(stiffnesses))


def hub_before(link: JointedLink) -> Array:
    """(6, 6) mass of the hub a prismatic link slides through, about the previous end."""
    hub = link.joint.hub
    mount = link.joint.mount
    if hub is None:
        return np.zeros((6, 6))
    T = motion_transform(rpy_rotation(mount.rpy).T, np.asarray(mount.xyz))
    tensor = hub.tensor(tuple(link.joint.direction))
    mass: Array = T.T @ body_mass(hub.mass, hub.com, tensor) @ T
    return mass


def base_mass(robot: Robot) -> Array:
    """(6, 6) mass of the base: the foundation's body and hubs of links that slide on the base."""
    mass = np.zeros((6, 6))
    form = lower(robot).form
    if robot.foundation is not None:
        body = robot.foundation.body
        mass = body_mass(body.mass, body.com, body.tensor())
    for link, parent in zip(form.links, form.parents, strict=True):
        if link.joint.type == "prismatic" and parent < 0:
            mass = mass + hub_before(link)
    return mass


def add_foundation(robot: Robot, structure: Structure) -> Structure:
    """Return a structure that stands on its robot's foundation instead of on the ground."""
    if robot.foundation is None:
        return structure
    B = structure.size
    releases = sprung(robot.foundation, structure.planar, np.eye(3))
    base = Segment(FOUNDATION, -1, Beam(0.0, 0.0), releases, np.eye(3), base_mass(robot))

    # The base becomes segment 0, and all others move up by one
    above = tuple(replace(segment, parent=segment.parent + 1) for segment in structure.segments)
    renumbered = {i: i + 1 for i in range(-1, len(structure.segments))}
    root_mass = structure.root_mass
    base_axes = np.broadcast_to(np.eye(3), (B, 1, 3, 3))
    no_root_mass = np.zeros((len(root_mass), 1, 6, 6))
    return replace(
        structure,
        segments=(base, *above),
        hinges=None,
        R=np.concatenate([base_axes, structure.R], axis=1),
        p=np.concatenate([np.zeros((B, 1, 3)), structure.p], axis=1),
        L=np.concatenate([np.zeros((B, 1)), structure.L], axis=1),
        root_mass=np.concatenate([no_root_mass, root_mass], axis=1),
        closures=tuple(closure.renumber(renumbered) for closure in structure.closures),
        rods=tuple((name, closure.renumber(renumbered)) for name, closure in structure.rods),
        tip=structure.tip + (structure.tip >= 0),
    )


def founded_in_motion(robot: Robot, moving: MovingStructure) -> MovingStructure:
    """Return a moving structure on its robot's foundation, whose own prescribed motion is zero."""
    if robot.foundation is None:
        return moving
    structure = add_foundation(robot, moving.structure)
    at_rest = np.zeros((structure.size, 1, 3))
    frames = moving.frames
    rates = [
        np.concatenate([at_rest, rate], axis=1)
        for rate in (frames.w, frames.dw, frames.v, frames.a)
    ]
    closures = tuple(replace(c, a=c.a + 1, b=c.b + 1) for c in moving.closures)
    return MovingStructure(structure, Frames(structure.R, structure.p, *rates), closures)
