"""A robot as other engines know them: bodies on joints in a tree, the beams between as numbers.

Every architecture is written out as a mechanism first, so that one reading serves arms, trees and
Deltas alike. Frames are those of the section at a link's root; a beam runs along their x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..beams.theory import AnyBeam
from ..equations.chains.chain import ChainLink
from ..equations.chains.tree import tree_chain
from ..kernels.spatial import motion_transform
from ..robot import Closure, MechanismJoint, MechanismRobot, Robot
from ..structure import as_mechanism
from ..structure.link_parts import link_beam

__all__ = [
    "BodyNumbers",
    "Skeleton",
    "SkeletonLink",
    "body_numbers",
    "physical_inertia",
    "skeleton_of",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BodyNumbers:
    """Mass (kg), mass centre (3,), and inertia about it (3, 3), in the axes of a frame."""

    mass: float
    centre: Array
    inertia: Array


def body_numbers(spatial_mass: Array) -> BodyNumbers:
    """Return a (6, 6) mass about a frame's origin, translations first, as a body."""
    mass = float(spatial_mass[0, 0])
    if mass <= 0:
        return BodyNumbers(0.0, np.zeros(3), np.array(spatial_mass[3:, 3:]))
    # the coupling block is -m [c]x
    coupling = spatial_mass[:3, 3:] / mass
    centre = np.array([coupling[1, 2], coupling[2, 0], coupling[0, 1]])
    offset = mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    inertia = spatial_mass[3:, 3:] - offset
    return BodyNumbers(mass, centre, np.asarray((inertia + inertia.T) / 2))


def physical_inertia(inertia: Array, least: float, planar: bool) -> tuple[Array, bool]:
    """Return an inertia that a rigid body can have, and whether motion in space notices.

    Robot files may give an inertia about one axis alone; other engines want two principal ones to
    exceed the third. In the plane nothing turns about x and y, and any values will do there.

    Parameters
    ----------
    inertia : ndarray
        (3, 3) about the mass centre, kg m^2.
    least : float
        Smallest principal inertia to give.
    planar : bool
        Whether the robot moves in the x-y plane.
    """
    if planar:
        about_z = max(float(inertia[2, 2]), least)
        return np.diag([about_z, about_z, about_z]), False
    values, axes = np.linalg.eigh(inertia)
    values = np.maximum(values, least)
    short = values[2] - values[0] - values[1]
    noticed = bool(short > 1e-6 * values[2])
    if short > 0:
        values[:2] += 0.5 * short * (1 + 1e-6)
    return np.asarray(axes @ np.diag(values) @ axes.T), noticed


@dataclass(frozen=True)
class SkeletonLink:
    """One link of a skeleton.

    Attributes
    ----------
    name : str
        Name in the robot file.
    joint : MechanismJoint
        Its joint as described: limits, damping, friction.
    parent : int
        Index of the link that carries it, -1 for the base.
    place : ndarray
        (3,) its joint, seen from the parent's root (from the base, where that is the parent).
    rotation : ndarray
        (3, 3) its axes at joint coordinate zero, seen from the parent's.
    kind : str
        fixed, turns, slides or free.
    axes : tuple of ndarray
        Axes about which the joint turns, in turn, own axes.
    order : tuple of int
        Which coordinate of the joint belongs to each axis.
    motor : int or None
        Place of its coordinate in theta; None: passive or fixed.
    beam : AnyBeam
        The beam, in the axes of the section.
    flexible : bool
        Whether it bends.
    root_mass, tip_mass : ndarray
        (6, 6) bodies at its root and at its end.
    chain_link : ChainLink
        The same in the numbers of the equations of motion.
    """

    name: str
    joint: MechanismJoint
    parent: int
    place: Array
    rotation: Array
    kind: Literal["fixed", "turns", "slides", "free"]
    axes: tuple[Array, ...]
    order: tuple[int, ...]
    motor: int | None
    beam: AnyBeam
    flexible: bool
    root_mass: Array
    tip_mass: Array
    chain_link: ChainLink

    @property
    def length(self) -> float:
        """Length of the beam, m."""
        return float(self.beam.L)

    def rigid_mass(self) -> Array:
        """(6, 6) of all that moves with a rigid link, about its root; of a slide, its inner end."""
        shift = motion_transform(np.eye(3), np.array([self.length, 0.0, 0.0]))
        on_the_end = shift.T @ self.tip_mass @ shift
        return np.asarray(self.root_mass + self.beam.rod(0.0, self.length) + on_the_end)


@dataclass(frozen=True)
class Skeleton:
    """The links of a robot and the closures between them."""

    robot: MechanismRobot
    links: tuple[SkeletonLink, ...]
    closures: tuple[Closure, ...]
    tip: int
    planar: bool
    gravity: Array

    @property
    def motors(self) -> list[SkeletonLink]:
        """Links whose joints have motors, in the order of theta."""
        return [link for link in self.links if link.motor is not None]


def skeleton_of(robot: Robot) -> Skeleton:
    """Return the skeleton of a robot of any architecture."""
    written = as_mechanism(robot)
    chain = tree_chain(architecture_of(written))
    links: list[SkeletonLink] = []
    motors = 0
    for i, (link, numbers) in enumerate(zip(written.links, chain.links, strict=True)):
        parent = written.parents[i]
        place = np.array(numbers.p_PM, float)
        if parent >= 0:
            along = written.links[parent].length if link.at is None else link.at
            place = place + np.array([float(along or 0.0), 0.0, 0.0])
        motor = None
        if link.joint.driven:
            motor = motors
            motors += 1
        axes = () if numbers.axis is None else (*numbers.leading, numbers.axis)
        kind: Literal["fixed", "turns", "slides", "free"] = "turns" if axes else "fixed"
        if link.joint.type == "prismatic":
            kind = "slides"
        elif link.joint.type == "free":
            kind = "free"
        beam = link_beam(written, link)
        links.append(
            SkeletonLink(
                name=link.name,
                joint=link.joint,
                parent=parent,
                place=place,
                rotation=np.array(numbers.R_PM, float),
                kind=kind,
                axes=tuple(np.array(axis, float) for axis in axes),
                order=numbers.order,
                motor=motor,
                beam=beam,
                flexible=not beam.rigid,
                root_mass=np.array(numbers.root_mass, float),
                tip_mass=np.array(numbers.tip_mass, float),
                chain_link=numbers,
            )
        )
    return Skeleton(
        written,
        tuple(links),
        tuple(written.closures),
        written.tip_index,
        written.planar,
        np.array(written.gravity, float),
    )
