"""A serial arm at its configurations as a Structure: one chain, joints locked, sprung or free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import serial
from ..architectures.frames import tree_frames
from ..architectures.tree import Tree
from ..beams.theory import Beam
from ..errors import SuppleError
from ..kernels.spatial import cross_matrix, motion_transform, rpy_rotation
from ..robot import SerialRobot, cached_for_robot
from .link_parts import axis_releases, fixed_parts, root_mass
from .moving import MovingStructure
from .parts import PLANAR, Joints, Release, Segment, SegmentNumbers, Structure
from .supports import sprung

__all__ = ["moving_serial", "serial_structure"]

Array = NDArray[np.float64]


def serial_structure(tree: Tree, theta: ArrayLike | None, joints: Joints) -> Structure:
    """Return a serial arm at theta, (joints,) or (B, joints), None for zeros."""
    robot = cast("SerialRobot", tree.robot)
    given = serial.configuration(robot, theta)
    fixed = cached_for_robot(robot, ("segments", joints), _FixedArmParts.of, tree, joints)
    placed = _SerialPlacement(robot, given.copy(), fixed)
    given = robot.joint_coordinates(given)
    L = fixed.lengths(given)
    root = fixed.root
    if fixed.sliding:
        root = np.repeat(root, len(L), axis=0)
        for i, _ in fixed.sliding:
            own = fixed_parts(tree).parts[i]
            root[:, i] = root_mass(robot.links[i], own.beam, L[:, i], own.R_LS)
    segments = fixed.segments
    if fixed.bearings:  # these turn with the pose
        R = placed.placement.R
        held_ends = []
        for i, (link, s) in enumerate(zip(robot.links, segments, strict=True)):
            into = s.R_LS.T  # mounted axes are the link's own, unless it turns
            if link.joint.type == "revolute":
                mounted = (R[:, i - 1] if i else np.eye(3)) @ rpy_rotation(link.joint.mount.rpy)
                into = np.swapaxes(R[:, i] @ s.R_LS, 1, 2) @ mounted
            springs = sprung(link.joint.bearing, robot.planar, into)
            held_ends.append(replace(s, releases=s.releases + springs))
        segments = tuple(held_ends)
    return Structure(
        segments,
        placed.R,  # type: ignore[arg-type]
        placed.p,  # type: ignore[arg-type]
        L,
        root,
        robot.planar,
        robot.gravity,
        numbers=fixed.numbers,
        hinges=fixed.hinges(given),
    )


@dataclass(frozen=True)
class _SerialPlacement:
    """Where the links of an arm are, found when it is asked for: frequencies do not need it."""

    robot: SerialRobot
    theta: Array
    fixed: _FixedArmParts

    @cached_property
    def placement(self) -> serial.Placement:
        """Link axes."""
        return serial.place(self.robot, self.theta)

    def R(self) -> Array:
        """(B, n, 3, 3) segment axes."""
        R = self.placement.R
        R_LS = self.fixed.R_LS
        return R @ R_LS if self.fixed.turned else R

    def p(self) -> Array:
        """(B, n, 3) roots."""
        return self.placement.p


@dataclass(frozen=True)
class _FixedArmParts:
    """What does not change with the pose of an arm.

    Attributes
    ----------
    R_LS
        (n, 3, 3) of the segments.
    turned
        Whether one of them is.
    root
        (1, n, 6, 6), root masses.
    sliding
        Links whose length and root mass change, each with its entry of theta.
    bearings
        Whether a joint has springs that turn with the pose.
    L
        (n,), lengths.
    steps
        (3, n, a, a), over a joint at angle q: steps[0] + sin q steps[1] + (1 - cos q) steps[2].
    columns
        The joint that turns each link, -1 where none does.
    """

    segments: tuple[Segment, ...]
    R_LS: Array
    turned: bool
    root: Array
    sliding: tuple[tuple[int, int], ...]
    bearings: bool
    L: Array
    numbers: SegmentNumbers
    steps: Array
    columns: NDArray[np.int64]

    def lengths(self, theta: Array) -> Array:
        """Return the lengths at theta (B, joints), (B, n)."""
        L = np.empty((len(theta), len(self.L)))
        L[:] = self.L
        for i, column in self.sliding:
            L[:, i] = theta[:, column]
        return L

    def hinges(self, theta: Array) -> Array:
        """Return the steps over the joints at theta (B, joints), (B, n, a, a)."""
        # a joint that does not turn has no steps[1] and steps[2], whatever angle is taken there
        q = (theta[:, self.columns] if theta.size else np.zeros((len(theta), 1)))[..., None, None]
        back = np.sin(0.5 * q)
        T: Array = np.sin(q) * self.steps[1]
        T += self.steps[0]
        T += 2 * (back * back) * self.steps[2]
        return T

    @classmethod
    def of(cls, tree: Tree, joints: Joints) -> _FixedArmParts:
        """Return that of an arm."""
        fixed = fixed_parts(tree)

        # The links as segments, without their poses
        listed = []
        for k, (link, own) in enumerate(zip(tree.form.links, fixed.parts, strict=True)):
            beam = own.beam
            releases: list[Release] = []
            for j in own.own:
                c = tree.joints.coordinates[j]
                releases += axis_releases(tree, c, own.R_LS.T @ c.axis, joints)
            if link.joint.type == "prismatic" and beam.rigid:
                beam = Beam(beam.L, 0.0)  # all of its mass is at the root: it may stand below zero
            listed.append(Segment(link.name, k - 1, beam, tuple(releases), own.R_LS, own.tips[0]))
        segments = tuple(listed)

        # How the motion of one link's end moves the next one's root, as a function of the joint
        axes = tuple(PLANAR) if tree.planar else tuple(range(6))
        numbers = SegmentNumbers.of(segments, axes)
        steps = np.ascontiguousarray(_steps(tree, fixed.R_LS)[:, :, axes][..., axes])
        columns = np.full(len(segments), -1)
        sliding = []
        for j, c in enumerate(tree.joints.coordinates):
            if c.kind == "slide":
                sliding.append((c.link, j))
            else:
                columns[c.link] = j
        bearings = any(link.joint.bearing is not None for link in tree.form.links)
        for array in (steps, *vars(numbers).values()):
            if isinstance(array, np.ndarray):
                array.setflags(write=False)
        return cls(
            segments,
            fixed.R_LS,
            fixed.turned,
            fixed.roots,
            tuple(sliding),
            bearings,
            tree.joints.length,
            numbers,
            steps,
            columns,
        )


def _steps(tree: Tree, R_LS: Array) -> Array:
    """(3, n, 6, 6): `motion_transform` over each joint, which is linear in 1, sin q and 1 - cos q.

    Rot(a, q)' = 1 - sin q [a] + (1 - cos q) [a]^2, between the mount and the axes of the segments.
    """
    joints = tree.joints
    crossed = np.zeros((len(joints.length), 3, 3))  # [a] of joints that turn
    for c in joints.coordinates:
        if c.kind == "turn":
            crossed[c.link] = cross_matrix(c.axis)
    turn_back = np.stack([np.broadcast_to(np.eye(3), crossed.shape), -crossed, crossed @ crossed])
    before = np.concatenate([np.eye(3)[None], R_LS[:-1]])  # axes of the link that carries each
    offsets = (before.swapaxes(1, 2) @ joints.p[:, :, None])[..., 0]
    R_BA = R_LS.swapaxes(1, 2) @ turn_back @ (joints.R.swapaxes(1, 2) @ before)
    return motion_transform(R_BA, offsets)


def moving_serial(
    tree: Tree,
    theta: ArrayLike,
    thetad: ArrayLike,
    thetadd: ArrayLike,
    joints: Joints = "locked",
) -> MovingStructure:
    """Return a serial arm at the instants of a motion of its joints, (B, joints) each."""
    for link in tree.form.links:
        if link.joint.type == "prismatic":
            raise SuppleError(
                f"links.{link.name} slides: elements on moving frames are for revolute and fixed "
                "joints; follow() takes such an arm, through its Model"
            )
    structure = serial_structure(tree, theta, joints)
    at = serial.configuration(cast("SerialRobot", tree.robot), theta)
    rates = (np.broadcast_to(np.asarray(part, float), at.shape) for part in (thetad, thetadd))
    frames = tree_frames(tree.joints.place(at), *rates)
    return MovingStructure(structure, replace(frames, R=structure.R))
