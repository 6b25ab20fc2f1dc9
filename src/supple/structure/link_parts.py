"""What a link brings to a Structure: beam, masses and released degrees of freedom of its joint.

A link that carries something along its length, a joint or a closure, is cut there: its parts are
segments one after the other, the first with the link's name, the others with the place they begin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..answers.held import still
from ..architectures.closing import Loop, alike
from ..architectures.joint_tree import JointCoordinate, TreeMotion
from ..architectures.tree import Tree
from ..beams.theory import AnyBeam, Beam
from ..beams.varying import VaryingBeam, beam_of
from ..kernels.spatial import axis_rotation, body_mass, rpy_rotation, turn
from ..robot import Body, JointedLink, MechanismRobot, SerialRobot, cached_for_robot
from .parts import PLANAR, Joints, Release, Segment, motor_is_free
from .supports import hub_before, sprung

__all__ = [
    "FixedParts",
    "LinkParts",
    "axis_releases",
    "end_masses",
    "fixed_parts",
    "joint_releases",
    "link_beam",
    "root_mass",
    "section_axes",
    "slides_freely",
]

Array = NDArray[np.float64]
FREE = still(tuple(Release(row) for row in np.eye(6)))  # what a free joint lets go
PLACING = ("name", "joint", "parent", "at")  # what a link is told that its beam does not know


@dataclass(frozen=True)
class LinkParts:
    """A link as it is cut where something hangs on it.

    Attributes:
        places: where it is cut, from its root, ascending; its end is not among them.  first: index
        of its first segment.  tips: (parts, 6, 6), masses on the parts' ends, segment axes.
        own: its coordinates.
    """

    places: tuple[float, ...]
    first: int
    R_LS: Array
    beam: AnyBeam
    tips: Array
    own: tuple[int, ...]

    def segment(self, at: float | None) -> int:
        """Return the segment that ends at a place, or at the link's end."""
        return self.first + (self.places.index(at) if at in self.places else len(self.places))


@dataclass(frozen=True)
class FixedParts:
    """What does not change with the pose of a robot.

    Attributes:
        R_LS: (links, 3, 3).  turned: whether one of them is.  roots: (1, n, 6, 6), root masses of
        links that do not slide.  loops: closures alike.  segments: of links that do not change.
    """

    parts: tuple[LinkParts, ...]
    R_LS: Array
    turned: bool
    roots: Array
    loops: list[tuple[list[int], Loop]]
    segments: dict[tuple[int, Joints], tuple[Segment, ...]]


def fixed_parts(m: Tree) -> FixedParts:
    """Return what does not change with the pose of a robot, made once."""
    return cached_for_robot(m.form, "fixed", _make_fixed_parts, m)


def _make_fixed_parts(m: Tree) -> FixedParts:
    robot = m.form
    places: list[set[float]] = [set() for _ in robot.links]
    hung = [(j, robot.links[i].at) for i, j in enumerate(m.joints.parents)]
    hung += [(j, s) for loop in m.loops for j, s in zip(loop.ends, loop.at, strict=True)]
    for j, s in hung:  # the end is not a place, but of a link that slides nothing else is its end
        link = robot.links[j]
        if j >= 0 and s is not None and (link.joint.type == "prismatic" or s < (link.length or 0)):
            places[j].add(s)
    own: list[list[int]] = [[] for _ in robot.links]
    for k, c in enumerate(m.joints.coordinates):
        own[c.link].append(k)
    tip, each_up = robot.tip_index, zip(m.joints.parents, robot.links, strict=True)
    through = [(j, other) for j, other in each_up if other.joint.type == "prismatic"]
    parts: list[LinkParts] = []
    roots: list[Array] = []
    known: dict[tuple[int, ...], tuple[Array, AnyBeam, Array, Array]] = {}
    for i, (link, each) in enumerate(zip(robot.links, places, strict=True)):
        cut, slides = sorted(each), link.joint.type == "prismatic"
        hubs = [other for j, other in through if j == i]
        # legs of a Delta are copies of one: their parts are the very same, and so is what they make
        of = [id(part) for word, part in vars(link).items() if word not in PLACING]
        key = (id(link.joint.hub), *of) if not (cut or hubs or slides or i == tip) else (i,)
        if key not in known:
            R_LS, beam = section_axes(robot, link), link_beam(robot, link)
            # (6, 6) on the parts' ends, link axes: bodies, hubs of sliding links
            tips = np.zeros((len(cut) + 1, 6, 6))
            for mass in end_masses(link, robot.payload if i == tip else None):
                tips[-1] += mass
            for other in hubs:
                tips[cut.index(other.at) if other.at in cut else -1] += hub_before(other)
            tips = np.array([turn(mass, R_LS) if mass.any() else mass for mass in tips])
            masses = np.zeros_like(tips)
            if not slides:  # a link of no length has all of its mass on its end
                at_root = masses if beam.L or cut else tips
                at_root[0] += root_mass(link, beam, np.zeros(1), R_LS)[0]
            known[key] = R_LS, beam, tips, masses
        R_LS, beam, tips, masses = known[key]
        parts.append(LinkParts(tuple(cut), len(roots), R_LS, beam, tips, tuple(own[i])))
        roots += [*masses]
    axes, first = np.array([part.R_LS for part in parts]), np.array([roots])
    turned = bool((np.eye(3) != axes).any())
    return FixedParts(tuple(parts), axes, turned, first, alike(m.loops), {})


def joint_releases(
    m: Tree, moved: TreeMotion, i: int, joints: Joints, link: LinkParts
) -> tuple[Release, ...]:
    """Return what a joint releases: a passive one itself with its spring, a motor as it is held.

    What its bearing lets go follows; last, on a beam that slides without it, what brings it back.
    """
    joint, R_LS, j = m.form.links[i].joint, link.R_LS, m.joints.parents[i]
    turns: list[Release] = []
    bearing: tuple[Release, ...] = ()
    stays: tuple[Release, ...] = ()
    if j >= 0 and m.form.links[i].at is not None and slides_freely(m.form, j, joints):
        along = np.einsum("bji,bj->bi", moved.at.R[:, i] @ R_LS, moved.at.R[:, j, :, 0])
        back = np.concatenate([along, np.zeros_like(along)], axis=-1)
        stays = (Release(back, follows=(m.form.links[j].name, -1.0)),)
    if joint.bearing is not None:
        mounted = (moved.at.R[:, j] if j >= 0 else np.eye(3)) @ rpy_rotation(joint.mount.rpy)
        into = np.swapaxes(moved.at.R[:, i] @ R_LS, 1, 2) @ mounted
        bearing = sprung(joint.bearing, m.form.planar, into)
    own = [m.joints.coordinates[k] for k in link.own]
    if joint.type == "free":
        return (tuple(FREE[k] for k in PLANAR) if m.form.planar else FREE) + stays
    if len(own) == 3 and (joint.stiffness is None or len(joint.stiffness) == 1):
        spring = joint.stiffness[0] if joint.stiffness else 0.0  # alike in all directions
        return tuple(Release(row, spring) for row in np.eye(6)[3:]) + bearing + stays
    for k, c in zip(link.own, own, strict=True):
        axis: Array = R_LS.T @ c.axis
        if any(other.order > c.order for other in own):  # carried by the turns that follow it
            axis = np.einsum("bji,bj->bi", moved.at.R[:, i] @ R_LS, moved.w[:, k])
        turns += axis_releases(m, c, axis, joints)
    return tuple(turns) + bearing + stays


def axis_releases(m: Tree, c: JointCoordinate, axis: Array, joints: Joints) -> list[Release]:
    """Return the released degrees of freedom of one joint coordinate along or about an axis.

    A passive one itself, with its spring. A motor's: its spring when locked; when free the motor
    and its spring in series, or one after the other where other joints follow the motor.
    """
    link = m.form.links[c.link]
    direction = np.zeros((*axis.shape[:-1], 6))
    direction[..., slice(3) if c.kind == "slide" else slice(3, 6)] = axis
    stiffness, rotor, mimic = c.stiffness, link.joint.reflected_inertia, link.joint.mimic
    if mimic is not None:
        led = (mimic.joint, mimic.multiplier)
        return [Release(direction, follows=led)] if motor_is_free(joints, mimic.joint) else []
    if not c.driven:
        return [Release(direction, stiffness or 0.0)]
    if not motor_is_free(joints, link.name):
        return [] if stiffness is None else [Release(direction, stiffness)]
    if stiffness is None:
        return [Release(direction, 0.0, rotor)]
    leads = any(
        other.joint.mimic is not None and other.joint.mimic.joint == link.name
        for other in m.form.links
    )
    if leads:
        return [Release(direction, 0.0, rotor), Release(direction, stiffness)]
    if not rotor:  # nothing between motor and spring: it turns freely
        return [Release(direction)]
    return [Release(direction, stiffness, rotor, series=True)]


def slides_freely(robot: MechanismRobot, i: int, joints: Joints) -> bool:
    """Return whether a link slides, let go or passive."""
    joint = robot.links[i].joint
    passive = not joint.driven and joint.mimic is None
    motor = robot.links[i].name if joint.mimic is None else joint.mimic.joint
    return joint.type == "prismatic" and (motor_is_free(joints, motor) or passive)


def section_axes(robot: MechanismRobot | SerialRobot, link: JointedLink) -> Array:
    """Segment axes in link axes: turned by roll about x; a planar arm swaps planes instead."""
    flat = robot.planar or link.roll == 0
    return np.eye(3) if flat else axis_rotation((1, 0, 0), link.roll)


def link_beam(robot: MechanismRobot | SerialRobot, link: JointedLink) -> AnyBeam:
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
        if isinstance(beam, Beam):
            return beam.rod(L - beam.L, out)
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
