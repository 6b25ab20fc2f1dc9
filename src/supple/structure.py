"""Structure: a Robot at a Configuration as exact beams, rigid bodies, joints and closures.

The joints are locked, sprung or free; nothing moves yet. A Structure holds a batch of
configurations of one robot, so that ten thousand poses cost one set of arrays. The exact solver
(`kernels.roots`) and any basis (`studies.modes`) read the same Structure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .architectures import serial
from .beams.dynamic_stiffness import numbers
from .beams.theory import Beam, beam_of, rod_mass
from .errors import SuppleError
from .kernels.roots import BeamTree
from .kernels.spatial import axis_rotation, body_mass, motion_transform, rpy_rotation, turn
from .robot import Link, Robot, SerialRobot

__all__ = ["Closure", "Joints", "Release", "Segment", "Structure", "structure_of"]

Array = NDArray[np.float64]
Joints = Literal["locked", "free"]
PLANAR = (0, 1, 5)


@dataclass(frozen=True)
class Release:
    """A motion let go at a segment's root: k - omega^2 J, or k and J in series.

    Attributes:
        direction: (6,) unit displacement or rotation, segment axes.  stiffness: N m/rad or N/m.
        inertia: of the rotor.  series: whether rotor and spring are in series (a motor let go).
    """

    direction: tuple[float, ...]
    stiffness: float = 0.0
    inertia: float = 0.0
    series: bool = False

    @property
    def floating(self) -> bool:
        """Whether nothing holds it at rest, so that it brings a rigid-body mode."""
        return self.stiffness == 0.0 or self.series


@dataclass(frozen=True)
class Segment:
    """One link of a Structure: releases at its root, a beam along x, bodies at root and end.

    Attributes:
        parent: index of the segment whose end carries it, -1 for the ground.  R_LS: (3, 3),
        segment axes (section axes, after `roll`) in link axes.  tip_mass: (6, 6), segment axes.
    """

    name: str
    parent: int
    beam: Beam
    releases: tuple[Release, ...]
    R_LS: Array
    tip_mass: Array


@dataclass(frozen=True)
class Closure:
    """Rows that tie the ends of two segments: rows_a u_a + rows_b u_b = 0, segment axes.

    Attributes:
        a, b: segments (-1: ground).  rows_a, rows_b: (B, r, 6).
    """

    a: int
    b: int
    rows_a: Array
    rows_b: Array


@dataclass(frozen=True)
class Structure:
    """Segments, and where they are in each of B configurations.

    Attributes:
        R: (B, n, 3, 3), segment axes in base axes.  p: (B, n, 3), segment roots.  L: (B, n),
        lengths.  root_mass: (1 or B, n, 6, 6), segment axes.  planar: motion in x-y only.
        gravity: (3,), base axes.
    """

    segments: tuple[Segment, ...]
    R: Array
    p: Array
    L: Array
    root_mass: Array
    planar: bool = False
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    closures: tuple[Closure, ...] = ()

    @property
    def size(self) -> int:
        """Number of configurations, B."""
        return len(self.p)

    @property
    def axes(self) -> tuple[int, ...]:
        """The coordinates of a motion that the structure uses: all six, or u, v, psi_z."""
        return PLANAR if self.planar else tuple(range(6))

    @property
    def rigid_modes(self) -> int:
        """Number of zero natural frequencies: the releases that nothing holds."""
        rows = sum(c.rows_a.shape[1] for c in self.closures)
        return sum(r.floating for s in self.segments for r in s.releases) - rows

    @cached_property
    def T(self) -> Array:
        """(B, n, 6, 6): motion of the parent's end (ground: base) to motion of the root."""
        T = np.empty((*self.L.shape, 6, 6))
        for i, segment in enumerate(self.segments):
            j = segment.parent
            R_A = self.R[:, j] if j >= 0 else np.broadcast_to(np.eye(3), (self.size, 3, 3))
            end = self.p[:, j] + self.L[:, j, None] * R_A[:, :, 0] if j >= 0 else np.zeros(3)
            R_AW = R_A.transpose(0, 2, 1)
            offset = np.einsum("bij,bj->bi", R_AW, self.p[:, i] - end)
            R_BA = self.R[:, i].transpose(0, 2, 1) @ R_A
            T[:, i] = motion_transform(R_BA, offset)
        return T

    def tree(self) -> BeamTree:
        """Return the arrays of the compiled kernel, restricted to the structure's axes."""
        keep = np.asarray(self.axes)
        square = np.ix_(keep, keep)
        releases = [r for s in self.segments for r in s.releases]
        counts = [len(s.releases) for s in self.segments]
        table = np.array(
            [(*(r.direction[i] for i in keep), r.stiffness, r.inertia, r.series) for r in releases]
        ).reshape(len(releases), len(keep) + 3)
        ends = [[getattr(c, k) for c in self.closures for _ in c.rows_a[0]] for k in "ab"]
        rows = [
            np.concatenate(
                [np.zeros((self.size, 0, len(keep)))]
                + [getattr(c, f"rows_{k}")[..., keep] for c in self.closures],
                axis=1,
            )
            for k in "ab"
        ]
        return BeamTree(
            parents=np.array([s.parent for s in self.segments], np.int32),
            beams=np.array([numbers(s.beam) for s in self.segments]),
            L=self.L,
            T=self.T[..., *square],
            root=self.root_mass[..., *square],
            tip=np.array([s.tip_mass[square] for s in self.segments]),
            start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            releases=table,
            ends=np.array(ends, np.int32).reshape(2, -1),
            rows=np.array(rows),
        )

    def at(self, b: int) -> Structure:
        """Return the structure of one configuration."""
        part = slice(b, b + 1)
        mass = self.root_mass[part] if len(self.root_mass) > 1 else self.root_mass
        closures = tuple(Closure(c.a, c.b, c.rows_a[part], c.rows_b[part]) for c in self.closures)
        return Structure(
            self.segments,
            self.R[part],
            self.p[part],
            self.L[part],
            mass,
            self.planar,
            self.gravity,
            closures,
        )


def structure_of(
    robot: Robot, theta: ArrayLike | None = None, joints: Joints = "locked"
) -> Structure:
    """Return a robot at one configuration, (joints,), or many, (B, joints), as a Structure."""
    if isinstance(robot, SerialRobot):
        return _serial(robot, theta, joints)
    raise SuppleError(f"{robot.name} is a {type(robot).__name__}: only serial arms are known here")


def _serial(robot: SerialRobot, theta: ArrayLike | None, joints: Joints) -> Structure:
    placement = serial.place(robot, theta)
    segments, roots, R = [], [], placement.R.copy()
    for i, link in enumerate(robot.links):
        R_LS = _section_axes(robot, link)
        R[:, i] = R[:, i] @ R_LS
        last = robot.payload if i == len(robot.links) - 1 else None
        masses = [body_mass(b.mass, b.com, b.tensor()) for b in (link.tip, last) if b is not None]
        following = robot.links[i + 1] if i + 1 < len(robot.links) else None
        if following is not None and following.joint.type == "prismatic":
            masses.append(_hub_before(following))
        tip = turn(sum(masses, np.zeros((6, 6))), R_LS)
        beam = _planar_beam(robot, link) if robot.planar else beam_of(robot, link)
        releases = tuple(_turned(r, R_LS) for r in _releases(link, joints))
        segments.append(Segment(link.name, i - 1, beam, releases, R_LS, tip))
        roots.append(_root_mass(link, beam, placement.L[:, i], R_LS))
    root = np.stack(np.broadcast_arrays(*roots), axis=1)
    return Structure(
        tuple(segments), R, placement.p, placement.L, root, robot.planar, robot.gravity
    )


def _section_axes(robot: SerialRobot, link: Link) -> Array:
    """Segment axes in link axes: turned by roll about x; a planar arm swaps planes instead."""
    return np.eye(3) if robot.planar else axis_rotation((1, 0, 0), link.roll)


def _planar_beam(robot: SerialRobot, link: Link) -> Beam:
    """The beam as the plane sees it: bending in x-y only, planes swapped by a quarter turn."""
    beam = beam_of(robot, link)
    quarters = link.roll / (math.pi / 2)
    if abs(quarters - round(quarters)) > 1e-9:
        raise SuppleError(
            f"links.{link.name}.roll is {link.roll:g} rad: a planar arm bends in its plane only "
            "if roll is a multiple of 90deg; set planar: false for other values"
        )
    i = round(quarters) % 2
    return Beam(beam.L, beam.m, beam.EA, (beam.EI[i], math.inf), (beam.kGA[i], math.inf),
                math.inf, (beam.rI[i], 0.0), 0.0)  # fmt: skip


def _turned(release: Release, R_LS: Array) -> Release:
    d = np.asarray(release.direction)
    turned = np.concatenate([R_LS.T @ d[:3], R_LS.T @ d[3:]])
    return Release(tuple(turned), release.stiffness, release.inertia, release.series)


def _releases(link: Link, joints: Joints) -> list[Release]:
    """What a joint lets go: nothing when locked, its spring, or itself when free."""
    joint = link.joint
    zero, a = (0.0, 0.0, 0.0), tuple(joint.direction)
    direction = (*a, *zero) if joint.type == "prismatic" else (*zero, *a)
    k, J = joint.stiffness, joint.rotor_inertia
    if joint.type == "fixed":
        return []
    if joints == "locked":
        return [] if k is None else [Release(direction, k)]
    if k is None:
        return [Release(direction, 0.0, J)]
    return [Release(direction, k, J, series=True)] if J > 0 else [Release(direction)]


def _hub_before(link: Link) -> Array:
    """(6, 6) mass of the hub a prismatic link slides through, about the previous end."""
    hub, mount = link.joint.hub, link.joint.mount
    if hub is None:
        return np.zeros((6, 6))
    T = motion_transform(rpy_rotation(mount.rpy).T, np.asarray(mount.xyz))
    mass: Array = T.T @ body_mass(hub.mass, hub.com, hub.tensor(tuple(link.joint.direction))) @ T
    return mass


def _root_mass(link: Link, beam: Beam, L: Array, R_LS: Array) -> Array:
    """(1 or B, 6, 6) what moves with the root: hub, body, and a prismatic beam's part inside."""
    joint = link.joint
    if joint.type == "prismatic":
        inside = [rod_mass(beam.m, beam.rI, beam.rIp, x - beam.L, 0.0) for x in L]
        return np.array(inside)
    M = np.zeros((6, 6))
    if joint.hub is not None:
        axis = tuple(joint.direction)
        M += body_mass(joint.hub.mass, joint.hub.com, joint.hub.tensor(axis))
    if link.body is not None:
        M += body_mass(link.body.mass, link.body.com, link.body.tensor())
    return turn(M, R_LS)[None]
