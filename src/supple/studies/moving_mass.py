"""The mass that a robot's joints move, part by part.

A foundation, and every link that fixed joints bolt to the base, stands still whatever the motors
do: it is no part of what an arm has to carry.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..robot import JointedLink, Robot
from ..structure import FOUNDATION, Structure

__all__ = ["bolted_segments", "moving_mass"]


def bolted_segments(robot: Robot, structure: Structure) -> NDArray[np.bool_]:
    """Return which segments stand still, (n,): no joint lies between them and the ground."""
    family = architecture_of(robot)
    bolted = np.zeros(len(structure.segments), bool)
    for i, segment in enumerate(structure.segments):
        if segment.name == FOUNDATION:
            bolted[i] = True
            continue
        link = family.part_of_segment(segment.name)
        is_fixed = isinstance(link, JointedLink) and link.joint.type == "fixed"
        on_the_ground = segment.parent < 0 or bool(bolted[segment.parent])
        bolted[i] = is_fixed and on_the_ground
    return bolted


def moving_mass(robot: Robot, structure: Structure, also: Collection[str] = ()) -> float:
    """Return the mass of beams, hubs, bodies, tips and payload that joints move, kg.

    Parameters
    ----------
    robot : Robot
        The robot of the structure.
    structure : Structure
        The robot at one configuration.
    also : collection of str
        Links that count although they are bolted to the base.
    """
    stands_still = bolted_segments(robot, structure)
    total = 0.0
    for i, segment in enumerate(structure.segments):
        if stands_still[i] and structure.links[i] not in also:
            continue
        total += segment.beam.outside(float(structure.L[0, i])).mass
        total += float(structure.root_mass[0, i, 0, 0])
        total += float(segment.tip_mass[0, 0])
    return total
