"""What a link brings to a Structure: beam, masses and released degrees of freedom of its joint.

A link that carries something along its length, a joint or a closure, is cut there: its parts are
segments one after the other, the first with the link's name, the others with the place they begin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..answers.immutable import frozen
from ..architectures.closing import Loop, alike
from ..architectures.joint_tree import JointCoordinate, TreeMotion
from ..architectures.tree import Tree
from ..beams.theory import AnyBeam, Beam
from ..beams.varying import VaryingBeam, beam_of
from ..kernels.spatial import axis_rotation, body_mass, rpy_rotation, turn
from ..robot import Body, JointedLink, MechanismLink, MechanismRobot, SerialRobot, cached_for_robot
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
FREE = frozen(tuple(Release(row) for row in np.eye(6)))  # all six motions of a free joint
PLACING_FIELDS = ("name", "joint", "parent", "at")  # fields of a link that its beam does not use


@dataclass(frozen=True)
class LinkParts:
    """A link cut where joints or closures sit on it.

    Attributes
    ----------
    places
        Distances (m) of the cuts from its root, ascending, without its end.
    first
        Index of its first segment.
    R_LS
        (3, 3), segment axes in link axes.
    tips
        (parts, 6, 6), masses on the parts' ends, segment axes.
    own
        Indices of its joint's coordinates.
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
    """The parts of all links and what else does not change with the pose of a robot.

    Attributes
    ----------
    R_LS
        (links, 3, 3), segment axes in link axes.
    turned
        Whether one of these is not the identity.
    roots
        (1, segments, 6, 6), root masses of links that do not slide.
    loops
        Closures of the same kind, with their indices.
    segments
        Segments of links that do not change, filled when first needed.
    """

    parts: tuple[LinkParts, ...]
    R_LS: Array
    turned: bool
    roots: Array
    loops: list[tuple[list[int], Loop]]
    segments: dict[tuple[int, Joints], tuple[Segment, ...]]


def fixed_parts(m: Tree) -> FixedParts:
    """Return what does not change with the pose of a robot, computed once."""
    return cached_for_robot(m.form, "fixed", _make_fixed_parts, m)


def _make_fixed_parts(m: Tree) -> FixedParts:
    robot = m.form
    cut_places = _cut_places(m)
    coordinates_of: list[list[int]] = [[] for _ in robot.links]
    for k, coordinate in enumerate(m.joints.coordinates):
        coordinates_of[coordinate.link].append(k)
    sliders_on: list[list[MechanismLink]] = [[] for _ in robot.links]
    for carrier, link in zip(m.joints.parents, robot.links, strict=True):
        if carrier >= 0 and link.joint.type == "prismatic":
            sliders_on[carrier].append(link)

    parts: list[LinkParts] = []
    roots: list[Array] = []
    known: dict[tuple[int, ...], tuple[Array, AnyBeam, Array, Array]] = {}
    for i, (link, places) in enumerate(zip(robot.links, cut_places, strict=True)):
        slides = link.joint.type == "prismatic"
        is_tip = i == robot.tip_index
        carried_sliders = sliders_on[i]
        # The legs of a Delta are copies of one: links of the same objects share their parts
        if places or carried_sliders or slides or is_tip:
            key: tuple[int, ...] = (i,)
        else:
            fields = [id(value) for name, value in vars(link).items() if name not in PLACING_FIELDS]
            key = (id(link.joint.hub), *fields)
        if key not in known:
            payload = robot.payload if is_tip else None
            known[key] = _link_numbers(robot, link, places, carried_sliders, payload)
        R_LS, beam, tips, root_masses = known[key]
        own = tuple(coordinates_of[i])
        parts.append(LinkParts(tuple(places), len(roots), R_LS, beam, tips, own))
        roots += [*root_masses]

    axes = np.array([part.R_LS for part in parts])
    turned = bool((np.eye(3) != axes).any())
    return FixedParts(tuple(parts), axes, turned, np.array([roots]), alike(m.loops), {})


def _cut_places(m: Tree) -> list[list[float]]:
    """Distances from each link's root where joints or closures sit on it, ascending.

    The end of a link is not among them, but for a link that slides: it may end elsewhere.
    """
    links = m.form.links
    attached = [(j, links[i].at) for i, j in enumerate(m.joints.parents)]
    for loop in m.loops:
        attached += zip(loop.ends, loop.at, strict=True)
    places: list[set[float]] = [set() for _ in links]
    for j, place in attached:
        if j < 0 or place is None:
            continue
        if links[j].joint.type == "prismatic" or place < (links[j].length or 0):
            places[j].add(place)
    return [sorted(own) for own in places]


def _link_numbers(
    robot: MechanismRobot,
    link: JointedLink,
    places: list[float],
    carried_sliders: list[MechanismLink],
    payload: Body | None,
) -> tuple[Array, AnyBeam, Array, Array]:
    """Segment axes, beam, and masses on the ends and the roots of a link's parts, (parts, 6, 6)."""
    R_LS = section_axes(robot, link)
    beam = link_beam(robot, link)

    # Bodies and hubs of sliding links on the parts' ends
    tips = np.zeros((len(places) + 1, 6, 6))
    for mass in end_masses(link, payload):
        tips[-1] += mass
    for slider in carried_sliders:
        part = places.index(slider.at) if slider.at in places else -1
        tips[part] += hub_before(slider)
    if (np.eye(3) != R_LS).any():
        tips = np.array([turn(mass, R_LS) if mass.any() else mass for mass in tips])

    roots = np.zeros_like(tips)
    if link.joint.type != "prismatic":
        # a link of no length has all of its mass on its end
        bearer = roots if beam.L or places else tips
        bearer[0] += root_mass(link, beam, np.zeros(1), R_LS)[0]
    return R_LS, beam, tips, roots


def joint_releases(
    m: Tree, moved: TreeMotion, i: int, joints: Joints, link: LinkParts
) -> tuple[Release, ...]:
    """Return the motions that a joint releases, segment axes.

    A passive joint moves against its spring, a motor as `joints` requests. The motions of its
    bearing follow; last, on a beam that slides under it, the motion that keeps it in its place.
    """
    joint = m.form.links[i].joint
    carrier = m.joints.parents[i]
    carrier_slides = carrier >= 0 and slides_freely(m.form, carrier, joints)
    R_segment = moved.at.R[:, i] @ link.R_LS

    stays: tuple[Release, ...] = ()
    if carrier_slides and m.form.links[i].at is not None:
        along = np.einsum("bji,bj->bi", R_segment, moved.at.R[:, carrier, :, 0])
        back = np.concatenate([along, np.zeros_like(along)], axis=-1)
        stays = (Release(back, follows=(m.form.links[carrier].name, -1.0)),)

    bearing: tuple[Release, ...] = ()
    if joint.bearing is not None:
        R_carrier = moved.at.R[:, carrier] if carrier >= 0 else np.eye(3)
        R_mount = R_carrier @ rpy_rotation(joint.mount.rpy)
        bearing = sprung(joint.bearing, m.form.planar, np.swapaxes(R_segment, 1, 2) @ R_mount)

    if joint.type == "free":
        released = tuple(FREE[k] for k in PLANAR) if m.form.planar else FREE
        return released + stays

    coordinates = [m.joints.coordinates[k] for k in link.own]
    is_isotropic = joint.stiffness is None or len(joint.stiffness) == 1
    if len(coordinates) == 3 and is_isotropic:  # a ball joint, alike in all directions
        stiffness = joint.stiffness[0] if joint.stiffness else 0.0
        return tuple(Release(row, stiffness) for row in np.eye(6)[3:]) + bearing + stays

    turns: list[Release] = []
    for k, coordinate in zip(link.own, coordinates, strict=True):
        axis: Array = link.R_LS.T @ coordinate.axis
        if any(other.order > coordinate.order for other in coordinates):
            # later rotations of the same joint turn this axis
            axis = np.einsum("bji,bj->bi", R_segment, moved.w[:, k])
        turns += axis_releases(m, coordinate, axis, joints)
    return tuple(turns) + bearing + stays


def axis_releases(m: Tree, c: JointCoordinate, axis: Array, joints: Joints) -> list[Release]:
    """Return the released degrees of freedom of one joint coordinate along or about an axis.

    A passive one itself, with its spring. A motor's: its spring when locked; when free the motor
    and its spring in series, or one after the other where other joints follow the motor.
    """
    link = m.form.links[c.link]
    direction = np.zeros((*axis.shape[:-1], 6))
    direction[..., slice(3) if c.kind == "slide" else slice(3, 6)] = axis
    stiffness = c.stiffness
    rotor = link.joint.reflected_inertia
    mimic = link.joint.mimic
    if mimic is not None:
        if motor_is_free(joints, mimic.joint):
            return [Release(direction, follows=(mimic.joint, mimic.multiplier))]
        return []
    if not c.driven:
        return [Release(direction, stiffness or 0.0)]
    if not motor_is_free(joints, link.name):
        return [] if stiffness is None else [Release(direction, stiffness)]
    if stiffness is None:
        return [Release(direction, 0.0, rotor)]
    mimics = [other.joint.mimic for other in m.form.links if other.joint.mimic is not None]
    if any(other.joint == link.name for other in mimics):
        return [Release(direction, 0.0, rotor), Release(direction, stiffness)]
    if not rotor:  # nothing between motor and spring: it turns freely
        return [Release(direction)]
    return [Release(direction, stiffness, rotor, series=True)]


def slides_freely(robot: MechanismRobot, i: int, joints: Joints) -> bool:
    """Return whether a link slides and its joint is released: a free motor's or a passive one."""
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
    masses = []
    for body in (link.tip, payload):
        if body is not None:
            masses.append(body_mass(body.mass, body.com, body.tensor()))
    if link.body is not None and link.joint.type == "prismatic":
        x, y, z = link.body.com
        com = (x - (link.length or 0.0), y, z)
        masses.append(body_mass(link.body.mass, com, link.body.tensor()))
    return masses


def root_mass(link: JointedLink, beam: AnyBeam, L: Array, R_LS: Array) -> Array:
    """(1 or B, 6, 6) mass that moves with the root: hub, body, a sliding beam's part inside.

    Of a rigid sliding beam it is the whole.
    """
    joint = link.joint
    if joint.type == "prismatic":
        start = L - beam.L
        stop = L if beam.rigid else np.zeros_like(L)
        if isinstance(beam, Beam):
            return beam.rod(start, stop)
        rods = [beam.rod(float(a), float(b)) for a, b in zip(start, stop, strict=True)]
        return np.array(rods).reshape(-1, 6, 6)
    M = np.zeros((6, 6))
    if joint.hub is None and link.body is None:
        return M[None]
    if joint.hub is not None:
        axis = tuple(joint.direction)
        M += body_mass(joint.hub.mass, joint.hub.com, joint.hub.tensor(axis))
    if link.body is not None:
        M += body_mass(link.body.mass, link.body.com, link.body.tensor())
    return turn(M, R_LS)[None]
