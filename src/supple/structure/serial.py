"""A serial arm at its configurations as a Structure: one chain, joints locked, sprung or free."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import serial
from ..architectures.serial_motion import moving_links
from ..beams.theory import AnyBeam, Beam
from ..beams.varying import VaryingBeam, beam_of
from ..kernels.spatial import (
    axis_rotation,
    body_mass,
    cross_matrix,
    motion_transform,
    rpy_rotation,
    turn,
)
from ..robot import Body, JointedLink, Link, MechanismRobot, SerialRobot, remembered
from .moving import MovingStructure
from .parts import PLANAR, Joints, Release, Segment, SegmentNumbers, Structure
from .supports import hub_before, sprung

__all__ = [
    "end_masses",
    "link_beam",
    "moving_serial",
    "root_mass",
    "section_axes",
    "serial_structure",
]

Array = NDArray[np.float64]
Listed = SerialRobot | MechanismRobot


def serial_structure(robot: SerialRobot, theta: ArrayLike | None, joints: Joints) -> Structure:
    """Return a serial arm at theta, (joints,) or (B, joints), None for zeros."""
    given = serial.configuration(robot, theta)
    fixed = remembered(robot, ("segments", joints), _Fixed.of, robot, joints)
    placed, given = _Placed(robot, given.copy(), fixed), robot.spread(given)
    L, root = fixed.lengths(given), fixed.root
    if fixed.sliding:
        root = np.repeat(root, len(L), axis=0)
        for i, _ in fixed.sliding:
            link, R_LS = robot.links[i], fixed.segments[i].R_LS
            root[:, i] = root_mass(link, link_beam(robot, link), L[:, i], R_LS)
    segments = fixed.segments
    if fixed.bearings:  # these turn with the pose
        R = placed.placement.R
        held = []
        for i, (link, s) in enumerate(zip(robot.links, segments, strict=True)):
            into = s.R_LS.T  # mounted axes are the link's own, unless it turns
            if link.joint.type == "revolute":
                mounted = (R[:, i - 1] if i else np.eye(3)) @ rpy_rotation(link.joint.mount.rpy)
                into = np.swapaxes(R[:, i] @ s.R_LS, 1, 2) @ mounted
            springs = sprung(link.joint.bearing, robot.planar, into)
            held.append(replace(s, releases=s.releases + springs))
        segments = tuple(held)
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
class _Placed:
    """Where the links of an arm are, found when it is asked for: frequencies do not need it."""

    robot: SerialRobot
    theta: Array
    fixed: _Fixed

    @cached_property
    def placement(self) -> serial.Placement:
        """Link axes."""
        return serial.place(self.robot, self.theta)

    def R(self) -> Array:
        """(B, n, 3, 3) segment axes."""
        R, R_LS = self.placement.R, self.fixed.R_LS
        return R @ R_LS if self.fixed.turned else R

    def p(self) -> Array:
        """(B, n, 3) roots."""
        return self.placement.p


@dataclass(frozen=True)
class _Fixed:
    """What does not change with the pose of an arm.

    Attributes:
        R_LS: (n, 3, 3) of the segments.  turned: whether one of them is.  root: (1, n, 6, 6), root
        masses.  sliding: links whose length and root mass change, each with its entry of theta.
        bearings: whether a joint has springs that turn with the pose.  L: (n,), lengths.
        steps: (3, n, a, a), over a joint at angle q: steps[0] + sin q steps[1] + (1 - cos q)
        steps[2].  columns: the joint that turns each link, -1 where none does.
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
    def of(cls, robot: SerialRobot, joints: Joints) -> _Fixed:
        """Return that of an arm."""
        # The links as segments, without their poses
        listed = []
        for k, link in enumerate(robot.links):
            R_LS = section_axes(robot, link)
            last = robot.payload if k == len(robot.links) - 1 else None
            masses = end_masses(link, last)
            following = robot.links[k + 1] if k + 1 < len(robot.links) else None
            if following is not None and following.joint.type == "prismatic":
                masses.append(hub_before(following))
            tip = turn(np.sum(masses, axis=0), R_LS) if masses else np.zeros((6, 6))
            beam: AnyBeam = link_beam(robot, link)
            releases = []
            for r in _releases(robot, link, joints):
                d = r.toward(0)
                releases.append(
                    replace(r, direction=np.concatenate([R_LS.T @ d[:3], R_LS.T @ d[3:]]))
                )
            if link.joint.type == "prismatic" and beam.rigid:
                beam = Beam(beam.L, 0.0)  # all of its mass is at the root: it may stand below zero
            listed.append(Segment(link.name, k - 1, beam, tuple(releases), R_LS, tip))
        segments = tuple(listed)
        moving = [link.name for link in robot.jointed]
        sliding = {
            i: moving.index(link.name)
            for i, link in enumerate(robot.links)
            if link.joint.type == "prismatic"
        }
        roots = np.zeros((1, len(segments), 6, 6))
        for i, link in enumerate(robot.links):
            if i not in sliding:
                beam = segments[i].beam
                roots[:, i] = root_mass(link, beam, np.zeros(1), segments[i].R_LS)
        axes = tuple(PLANAR) if robot.planar else tuple(range(6))
        R_LS = np.stack([segment.R_LS for segment in segments])
        numbers = SegmentNumbers.of(segments, axes)
        steps = np.ascontiguousarray(_steps(robot, R_LS)[:, :, axes][..., axes])
        L = np.array([link.length or 0.0 for link in robot.links])
        for array in (roots, R_LS, steps, L, *vars(numbers).values()):
            if isinstance(array, np.ndarray):
                array.setflags(write=False)
        turning = [link.name if link.joint.type == "revolute" else "" for link in robot.links]
        columns = np.array([moving.index(name) if name else -1 for name in turning])
        turned = bool((np.eye(3) != R_LS).any())
        slides = tuple(sliding.items())
        bearings = any(link.joint.bearing is not None for link in robot.links)
        return cls(segments, R_LS, turned, roots, slides, bearings, L, numbers, steps, columns)


def _steps(robot: SerialRobot, R_LS: Array) -> Array:
    """(3, n, 6, 6): `motion_transform` over each joint, which is linear in 1, sin q and 1 - cos q.

    Rot(a, q)' = 1 - sin q [a] + (1 - cos q) [a]^2, between the mount and the axes of the segments.
    """
    parts = np.zeros((3, len(robot.links), 6, 6))
    before = np.eye(3)
    for i, link in enumerate(robot.links):
        mount = link.joint.mount
        K = (
            cross_matrix(link.joint.direction)
            if link.joint.type == "revolute"
            else np.zeros((3, 3))
        )
        offset = before.T @ np.asarray(mount.xyz, float)
        for k, turn_back in enumerate((np.eye(3), -K, K @ K)):
            R_BA = R_LS[i].T @ turn_back @ rpy_rotation(mount.rpy).T @ before
            parts[k, i] = motion_transform(R_BA, offset)
        before = R_LS[i]
    return parts


def moving_serial(
    robot: SerialRobot,
    theta: ArrayLike,
    thetad: ArrayLike,
    thetadd: ArrayLike,
    joints: Joints = "locked",
) -> MovingStructure:
    """Return a serial arm at the instants of a motion of its joints, (B, joints) each."""
    structure = serial_structure(robot, theta, joints)
    links = moving_links(robot, theta, thetad, thetadd)
    return MovingStructure(structure, replace(links, R=structure.R))


def section_axes(robot: Listed, link: JointedLink) -> Array:
    """Segment axes in link axes: turned by roll about x; a planar arm swaps planes instead."""
    flat = robot.planar or link.roll == 0
    return np.eye(3) if flat else axis_rotation((1, 0, 0), link.roll)


def link_beam(robot: Listed, link: JointedLink) -> AnyBeam:
    """Return a link's beam; in the plane it bends in x-y only, and quarter turns swap planes."""
    i = round(link.roll / (math.pi / 2)) % 2
    beam = beam_of(robot, link)
    if not robot.planar:
        return beam
    if isinstance(beam, VaryingBeam):
        return beam.in_plane(i)
    assert isinstance(beam, Beam)
    return Beam(
        beam.L,
        beam.m,
        beam.EA,
        (beam.EI[i], math.inf),
        (beam.kGA[i], math.inf),
        math.inf,
        (beam.rI[i], 0.0),
        0.0,
    )


def _releases(robot: SerialRobot, link: Link, joints: Joints) -> list[Release]:
    """What a joint lets go: nothing when locked, its spring, or itself when free."""
    joint, mimic = link.joint, link.joint.mimic
    zero, a = (0.0, 0.0, 0.0), tuple(joint.direction)
    direction = (*a, *zero) if joint.type == "prismatic" else (*zero, *a)
    k, J = joint.stiffness, joint.reflected_inertia
    if joint.type == "fixed":
        return []
    if joints == "locked":
        return [] if k is None else [Release(direction, k)]
    if mimic is not None:
        return [Release(direction, follows=(mimic.joint, mimic.multiplier))]
    if k is None:
        return [Release(direction, 0.0, J)]
    if any(other.joint.mimic and other.joint.mimic.joint == link.name for other in robot.links):
        # others follow its motor, which turns by itself before the spring does
        return [Release(direction, 0.0, J), Release(direction, k)]
    return [Release(direction, k, J, series=True)] if J > 0 else [Release(direction)]


def end_masses(link: JointedLink, payload: Body | None) -> list[Array]:
    """Return the bodies on a link's end, (6, 6) each, link axes.

    The body of a link that slides is among them: it is measured from the beam's inner end, which
    moves with it.
    """
    masses = [body_mass(b.mass, b.com, b.tensor()) for b in (link.tip, payload) if b is not None]
    if link.body is not None and link.joint.type == "prismatic":
        x, y, z = link.body.com
        com = (x - (link.length or 0.0), y, z)
        masses.append(body_mass(link.body.mass, com, link.body.tensor()))
    return masses


def root_mass(link: JointedLink, beam: AnyBeam, L: Array, R_LS: Array) -> Array:
    """(1 or B, 6, 6) what moves with the root: hub, body, a prismatic beam's part inside.

    Of a rigid prismatic beam it is the whole.
    """
    joint = link.joint
    if joint.type == "prismatic":
        out = L if beam.rigid else np.zeros_like(L)
        rods = zip(L - beam.L, out, strict=True)
        return np.array([beam.rod(float(a), float(b)) for a, b in rods]).reshape(-1, 6, 6)
    M = np.zeros((6, 6))
    if joint.hub is None and link.body is None:
        return M[None]
    if joint.hub is not None:
        axis = tuple(joint.direction)
        M += body_mass(joint.hub.mass, joint.hub.com, joint.hub.tensor(axis))
    if link.body is not None:
        M += body_mass(link.body.mass, link.body.com, link.body.tensor())
    return turn(M, R_LS)[None]
