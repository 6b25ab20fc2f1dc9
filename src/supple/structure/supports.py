"""Springs under a joint and under the whole robot, as parts of a Structure.

A bearing adds releases to its link's root, after those of the joint itself. A foundation is a
segment of no length between the ground and all that stands on it, with its body.
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
    """Return the motions that springs let go, segment axes; R (3, 3) or (B, 3, 3) turns to them.

    A full stiffness K is split into springs that do not know one another: with the unknowns scaled
    to a unit diagonal, K = V diag(k) V', a release along each column of V.
    """
    if springs is None:
        return ()
    columns, K = springs.soft(planar)
    k = np.diag(K)
    if np.any(K - np.diag(k)):
        size = np.sqrt(k)
        k, V = np.linalg.eigh(K / np.outer(size, size))
        columns = columns @ (V / size[:, None])
        length = np.abs(columns).max(axis=0)
        columns, k = columns / length, k / length**2
    halves = (R @ columns[:3], R @ columns[3:])
    turned = np.concatenate(halves, axis=-2)
    return tuple(Release(turned[..., j], float(stiffness)) for j, stiffness in enumerate(k))


def hub_before(link: JointedLink) -> Array:
    """(6, 6) mass of the hub a prismatic link slides through, about the previous end."""
    hub, mount = link.joint.hub, link.joint.mount
    if hub is None:
        return np.zeros((6, 6))
    T = motion_transform(rpy_rotation(mount.rpy).T, np.asarray(mount.xyz))
    mass: Array = T.T @ body_mass(hub.mass, hub.com, hub.tensor(tuple(link.joint.direction))) @ T
    return mass


def base_mass(robot: Robot) -> Array:
    """(6, 6) what moves with the base: the foundation's body, hubs that slide on nothing else."""
    mass, form = np.zeros((6, 6)), lower(robot).form
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
    B, zero = structure.size, np.zeros((6, 6))
    releases = sprung(robot.foundation, structure.planar, np.eye(3))
    base = Segment(FOUNDATION, -1, Beam(0.0, 0.0), releases, np.eye(3), base_mass(robot))
    up = {i: i + 1 for i in range(-1, len(structure.segments))}
    above = tuple(replace(segment, parent=segment.parent + 1) for segment in structure.segments)
    root = structure.root_mass
    return replace(
        structure,
        segments=(base, *above),
        hinges=None,
        R=np.concatenate([np.broadcast_to(np.eye(3), (B, 1, 3, 3)), structure.R], axis=1),
        p=np.concatenate([np.zeros((B, 1, 3)), structure.p], axis=1),
        L=np.concatenate([np.zeros((B, 1)), structure.L], axis=1),
        root_mass=np.concatenate([np.broadcast_to(zero, (len(root), 1, 6, 6)), root], axis=1),
        closures=tuple(c.renumber(up) for c in structure.closures),
        rods=tuple((name, c.renumber(up)) for name, c in structure.rods),
        tip=structure.tip + (structure.tip >= 0),
    )


def founded_in_motion(robot: Robot, moving: MovingStructure) -> MovingStructure:
    """Return a moving structure on its robot's foundation, which stands still."""
    if robot.foundation is None:
        return moving
    structure, f = add_foundation(robot, moving.structure), moving.frames
    still = np.zeros((structure.size, 1, 3))
    rates = (np.concatenate([still, part], axis=1) for part in (f.w, f.dw, f.v, f.a))
    closures = tuple(replace(c, a=c.a + 1, b=c.b + 1) for c in moving.closures)
    return MovingStructure(structure, Frames(structure.R, structure.p, *rates), closures)
