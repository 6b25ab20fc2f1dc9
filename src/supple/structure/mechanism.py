"""A mechanism at its configurations as a Structure: a tree of beams, passive joints, closures.

A link that carries something along its length, a joint or a closure, is cut there: its parts are
segments one after the other, the first with the link's name, the others with the place they begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.held import still
from ..architectures.assembling import Mechanism, judged, mechanism_of, newton, placed, resolve
from ..architectures.closing import Loop, alike
from ..architectures.frames import Frames, tree_frames
from ..architectures.tree import TreeMotion
from ..beams.theory import AnyBeam, Beam
from ..beams.varying import VaryingBeam
from ..errors import SuppleError
from ..kernels.jets import Jet, concatenate, rotation_jet
from ..kernels.spatial import cross_matrix, rpy_rotation, turn
from ..robot import MechanismRobot, remembered
from .moving import MovingClosure, MovingStructure
from .parts import PLANAR, Closure, Joints, Release, Segment, Structure
from .rows import independent
from .serial import end_masses, link_beam, root_mass, section_axes
from .supports import hub_before, sprung

__all__ = ["leads", "led_mechanism", "mechanism_structure", "moving_mechanism", "placed_structure"]

Array = NDArray[np.float64]
FREE = still(tuple(Release(row) for row in np.eye(6)))  # what a free joint lets go
PLACING = ("name", "joint", "parent", "at")  # what a link is told that its beam does not know


@dataclass(frozen=True)
class _Parts:
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
class _Fixed:
    """What does not change with the pose of a mechanism.

    Attributes:
        R_LS: (links, 3, 3).  turned: whether one of them is.  roots: (1, n, 6, 6), root masses of
        links that do not slide.  loops: closures alike.  segments: of links that do not change.
    """

    parts: tuple[_Parts, ...]
    R_LS: Array
    turned: bool
    roots: Array
    loops: list[tuple[list[int], Loop]]
    segments: dict[tuple[int, Joints], tuple[Segment, ...]]


def mechanism_structure(
    robot: MechanismRobot, at: ArrayLike | None, joints: Joints = "locked"
) -> Structure:
    """Return a mechanism at theta (B, motors), or at whole configurations (B, n + rods).

    Passive joints are let go, with their springs; motors are locked, sprung or let go; a driven
    rod that is let go holds nothing. Rows of closures that repeat what others hold are left out.
    """
    m = mechanism_of(robot)
    # Whole configurations (B, n + rods): as given, or assembled at theta
    n = len(m.start)
    if at is not None and np.ndim(at) == 2 and np.shape(at)[1] == n:
        x = np.asarray(at, float)
    else:
        x, reason = resolve(m.robot, at)
        for sentence in reason[reason != ""][:1]:
            raise SuppleError(sentence)
    moved = placed(m, x)
    ties = _tied(m, moved, x[:, len(m.tree.coordinates) :])
    closed = placed_structure(m, moved, joints, ties)
    held = m.openings(x)[1][:, :, m.tree.passive]
    if not held.shape[1] or (np.linalg.matrix_rank(held, tol=1e-8) == held.shape[1]).all():
        return closed
    return independent(closed)


def placed_structure(
    m: Mechanism, moved: TreeMotion, joints: Joints, ties: Sequence[Closure] | None = None
) -> Structure:
    """Return a mechanism whose links stand somewhere, with its closures there if they are known."""
    robot, at, fixed = m.robot, moved.at, remembered(m.robot, "fixed", _made, m)
    R, p, L, roots = at.R @ fixed.R_LS if fixed.turned else at.R, at.p, at.L, fixed.roots
    if roots.shape[1] > len(robot.links):  # segments begin and end somewhere on their links
        links = np.repeat(np.arange(len(robot.links)), [len(own.tips) for own in fixed.parts])
        starts = np.concatenate([[0.0, *own.places] for own in fixed.parts])
        stops = np.concatenate([[*own.places, np.nan] for own in fixed.parts])
        R, p, L = R[:, links], at.p[:, links], at.L[:, links]
        p, L = p + starts[:, None] * R[..., 0], np.where(np.isnan(stops), L, stops) - starts
    if any(link.joint.type == "prismatic" for link in robot.links):
        roots = np.repeat(roots, len(L), axis=0)
    segments: list[Segment] = []
    for i, (link, own) in enumerate(zip(robot.links, fixed.parts, strict=True)):
        if link.joint.type == "prismatic":
            roots[:, own.first] = root_mass(link, own.beam, at.L[:, i], own.R_LS)
        made = fixed.segments.get((i, joints))
        if made is None:
            made = tuple(_segments(m, moved, i, joints))
            turning = any(np.ndim(r.direction) > 1 for r in made[0].releases)
            if not turning and link.joint.type != "prismatic":
                fixed.segments[i, joints] = made
        segments += made
    shut = []
    for c, loop in zip(_tied(m, moved) if ties is None else ties, m.loops, strict=True):
        # Places on a sliding beam stay where they are while it does: it moves back there
        back = tuple(
            (fixed.parts[i].first, -rows[..., 0])
            for i, s, rows in zip(loop.ends, loop.at, (c.rows_a, c.rows_b), strict=True)
            if i >= 0 and s is not None and _slides(robot, i, joints)
        )
        shut.append((replace(c, slides=back), loop))
    return Structure(
        tuple(segments),
        R,
        p,
        L,
        roots,
        robot.planar,
        robot.gravity,
        tuple(c for c, loop in shut if not (loop.motor and joints == "free")),
        fixed.parts[robot.tip_index].segment(None),
        rods=tuple((loop.name, c) for c, loop in shut if loop.motor and joints == "free"),
    )


def _segments(m: Mechanism, moved: TreeMotion, i: int, joints: Joints) -> Iterator[Segment]:
    """The segments of a link, one for each part."""
    robot, fixed, free, j = (
        m.robot,
        remembered(m.robot, "fixed", _made, m),
        moved.at.L[:, i],
        m.tree.parents[i],
    )
    link, own, beam = robot.links[i], fixed.parts[i], fixed.parts[i].beam
    if link.joint.type == "prismatic" and beam.rigid:
        beam = Beam(beam.L, 0.0)  # all of its mass is at the root: it may stand below zero
    parent = -1 if j < 0 else fixed.parts[j].segment(link.at)
    releases, name = _releases(m, moved, i, joints, own), link.name
    if not own.places:
        yield Segment(name, parent, beam, releases, own.R_LS, own.tips[0])
        return
    a = np.zeros_like(free)
    for k, tip in enumerate(own.tips):
        b = np.full_like(free, own.places[k]) if k < len(own.places) else free
        # The beam between a and b metres from the joint, `free` of the link outside, (B,) each
        inner = beam.L - free
        part: AnyBeam
        if not (b - a).any():  # what is cut off at the root itself has no length and is rigid
            part = Beam(0.0, 0.0)
        elif not isinstance(beam, VaryingBeam):
            part = beam.outside(float((b - a).max()))
        elif (inner != inner[0]).any():
            raise SuppleError(
                f"{link.name} has stations, slides and carries a joint along it: ask for one pose "
                "at a time"
            )
        else:
            part = beam.part(float(inner[0] + a[0]), float(inner[0] + b[0]))
        yield Segment(name, parent, part, releases, own.R_LS, tip)
        if k < len(own.places):
            name, parent, releases, a = f"{link.name}@{own.places[k]:g}", own.first + k, (), b


def moving_mechanism(
    m: Mechanism, moved: TreeMotion, frames: Frames, joints: Joints
) -> MovingStructure:
    """Return a mechanism whose whole links are led along a motion; none slides."""
    ties: Any = _tied(m, _in_motion(moved, frames))
    still = [Closure(c.a, c.b, c.rows_a.value, c.rows_b.value) for c in ties]
    structure, closures = placed_structure(m, moved, joints, still), []
    for loop, c in zip(m.loops, ties, strict=True):
        pins = None
        if loop.turn == "square":
            ends = enumerate((loop.a, loop.b))
            pins = np.array([loop.frames(moved, k)[0] @ axis for k, axis in ends])
        axes = np.array([structure.segments[i].R_LS if i >= 0 else np.eye(3) for i in (c.a, c.b)])
        offsets = np.einsum("kji,kj->ki", axes, loop.p)
        closures.append(MovingClosure(c.a, c.b, c.rows_a, c.rows_b, offsets, pins))
    return MovingStructure(structure, replace(frames, R=structure.R), tuple(closures))


def leads(robot: MechanismRobot) -> bool:
    """Return whether `led_mechanism` knows a mechanism.

    Its links turn and are whole; passive joints have nothing of their own, and closures of ends,
    which hold places or keep pins square, determine them.
    """
    m = mechanism_of(robot)
    held = sum(loop.rows for loop in m.loops) == len(m.tree.passive) and not m.tree.mimics
    whole = all(at is None for at in m.tree.at)
    for c in m.tree.coordinates:
        own = c.stiffness or c.damping or c.friction
        whole &= c.kind == "turn" if c.driven else c.kind != "slide" and not own
    for loop in m.loops:
        whole &= loop.at == (None, None) and not loop.rod
        whole &= loop.turn in ("none", "square") or not loop.T.shape[1]
    return held and whole


def led_mechanism(
    robot: MechanismRobot, theta: ArrayLike, rate: ArrayLike, second: ArrayLike, joints: Joints
) -> MovingStructure:
    """Return a mechanism at the instants of a motion of its motors, (B, motors) each.

    Beside theta, whole configurations may stand near which those looked for are, so that they stay
    on one branch. What is passive follows the closures g(x) = 0: J x' = 0 and J x'' + g'' = 0, g''
    their second derivative where passive coordinates do not accelerate.
    """
    m = mechanism_of(robot)
    theta, rate, second = (np.atleast_2d(part) for part in (theta, rate, second))
    k = m.motors
    if theta.shape[1] == k:
        x, reason = resolve(robot, theta)
    else:
        near = theta[:, k:].copy()
        near[:, m.driven] = theta[:, :k]
        x, shut = newton(m, near)
        reason = judged(m, x)
        for b in np.flatnonzero(~shut)[:1]:
            told = (
                f"theta {np.round(theta[b, :k], 6).tolist()} cannot be assembled on the way there"
            )
            raise SuppleError(f"{told}: closure {m.worst(x[b])}; lead it elsewhere")
    for sentence in reason[reason != ""][:1]:
        raise SuppleError(sentence)
    moved, J = placed(m, x), m.openings(x)[1]
    motors, z = m.tree.motors, m.tree.passive
    xd, xdd = np.zeros_like(x), np.zeros_like(x)
    xd[:, motors], xdd[:, motors] = rate[:, :k], second[:, :k]
    xd[:, z] = -np.linalg.solve(J[..., z], J @ xd[..., None])[..., 0]
    going, at, opening = _in_motion(moved, tree_frames(moved, xd, xdd)), 0, np.zeros(J.shape[:2])
    for loop in m.loops:
        places = np.arange(loop.rows) < loop.E.shape[1]
        opening[:, at : at + loop.rows] = loop.open(going).g.second / np.where(places, m.size, 1.0)
        at += loop.rows
    xdd[:, z] = -np.linalg.solve(J[..., z], opening[..., None])[..., 0]
    return moving_mechanism(m, moved, tree_frames(moved, xd, xdd), joints)


def _in_motion(moved: TreeMotion, frames: Frames) -> TreeMotion:
    """A tree whose places are Jets."""
    turning = rotation_jet(frames.R, frames.w, frames.dw)
    led: Any = {"R": turning, "p": Jet(frames.p, frames.v, frames.a)}
    return replace(moved, at=replace(moved.at, **led))


def _made(m: Mechanism) -> _Fixed:
    robot = m.robot
    places: list[set[float]] = [set() for _ in robot.links]
    hung = [(j, robot.links[i].at) for i, j in enumerate(m.tree.parents)]
    hung += [(j, s) for loop in m.loops for j, s in zip(loop.ends, loop.at, strict=True)]
    for j, s in hung:  # the end is not a place, but of a link that slides nothing else is its end
        link = robot.links[j]
        if j >= 0 and s is not None and (link.joint.type == "prismatic" or s < (link.length or 0)):
            places[j].add(s)
    own: list[list[int]] = [[] for _ in robot.links]
    for k, c in enumerate(m.tree.coordinates):
        own[c.link].append(k)
    tip, each_up = robot.tip_index, zip(m.tree.parents, robot.links, strict=True)
    through = [(j, other) for j, other in each_up if other.joint.type == "prismatic"]
    parts: list[_Parts] = []
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
        parts.append(_Parts(tuple(cut), len(roots), R_LS, beam, tips, tuple(own[i])))
        roots += [*masses]
    axes, first = np.array([part.R_LS for part in parts]), np.array([roots])
    turned = bool((np.eye(3) != axes).any())
    return _Fixed(tuple(parts), axes, turned, first, alike(m.loops), {})


def _releases(
    m: Mechanism, moved: TreeMotion, i: int, joints: Joints, link: _Parts
) -> tuple[Release, ...]:
    """What a joint lets go: passive ones themselves, with their springs; motors as in an arm.

    What its bearing lets go follows; last, on a beam that slides without it, what brings it back.
    """
    joint, turns, R_LS, j = m.robot.links[i].joint, [], link.R_LS, m.tree.parents[i]
    bearing: tuple[Release, ...] = ()
    stays: tuple[Release, ...] = ()
    if j >= 0 and m.robot.links[i].at is not None and _slides(m.robot, j, joints):
        along = np.einsum("bji,bj->bi", moved.at.R[:, i] @ R_LS, moved.at.R[:, j, :, 0])
        back = np.concatenate([along, np.zeros_like(along)], axis=-1)
        stays = (Release(back, follows=(m.robot.links[j].name, -1.0)),)
    if joint.bearing is not None:
        mounted = (moved.at.R[:, j] if j >= 0 else np.eye(3)) @ rpy_rotation(joint.mount.rpy)
        into = np.swapaxes(moved.at.R[:, i] @ R_LS, 1, 2) @ mounted
        bearing = sprung(joint.bearing, m.robot.planar, into)
    own = [m.tree.coordinates[k] for k in link.own]
    if joint.type == "free":
        return (tuple(FREE[k] for k in PLANAR) if m.robot.planar else FREE) + stays
    if len(own) == 3 and (joint.stiffness is None or len(joint.stiffness) == 1):
        spring = joint.stiffness[0] if joint.stiffness else 0.0  # alike in all directions
        return tuple(Release(row, spring) for row in np.eye(6)[3:]) + bearing + stays
    for k, c in zip(link.own, own, strict=True):
        axis: Array = R_LS.T @ c.axis
        if any(other.order > c.order for other in own):  # carried by the turns that follow it
            axis = np.einsum("bji,bj->bi", moved.at.R[:, i] @ R_LS, moved.w[:, k])
        direction = np.zeros((*axis.shape[:-1], 6))
        direction[..., slice(3) if c.kind == "slide" else slice(3, 6)] = axis
        stiffness, J = c.stiffness, joint.reflected_inertia
        if joint.mimic is not None:
            led = (joint.mimic.joint, joint.mimic.multiplier)
            turns += [] if joints == "locked" else [Release(direction, follows=led)]
        elif not c.driven:
            turns.append(Release(direction, stiffness or 0.0))
        elif joints == "locked":
            turns += [] if stiffness is None else [Release(direction, stiffness)]
        elif stiffness is not None and any(
            other.joint.mimic is not None and other.joint.mimic.joint == m.robot.links[i].name
            for other in m.robot.links
        ):  # its motor leads other joints
            turns += [Release(direction, 0.0, J), Release(direction, stiffness)]
        elif stiffness is None or J == 0:
            turns.append(Release(direction, 0.0, J if stiffness is None else 0.0))
        else:
            turns.append(Release(direction, stiffness, J, series=True))
    return tuple(turns) + bearing + stays


def _slides(robot: MechanismRobot, i: int, joints: Joints) -> bool:
    """Whether a link slides, let go or passive."""
    joint = robot.links[i].joint
    passive = not joint.driven and joint.mimic is None
    return joint.type == "prismatic" and (joints == "free" or passive)


def _tied(m: Mechanism, moved: TreeMotion, lengths: Array | None = None) -> list[Closure]:
    """The closures, driven rods at lengths (B, rods); of links in motion their rows are Jets."""
    fixed, found = remembered(m.robot, "fixed", _made, m), {}
    for which, loop in fixed.loops:
        length = np.array([loop.length or 0.0])
        if loop.motor and lengths is not None:
            length = lengths[:, m.rods.index(loop)]
        opened, rows, ends = loop.open(moved, length), [], []
        for k, G in enumerate((opened.G_a, opened.G_b)):
            i, place, v, w = loop.ends[k], loop.p[k], G[..., :3], G[..., 3:]
            each = np.atleast_1d(i).tolist()
            if each[0] >= 0:
                R = moved.at.R[:, i]
                if fixed.turned:
                    R = R @ fixed.R_LS[i]
                    place = np.einsum("...ji,...j->...i", fixed.R_LS[i], place)
                v, w = v @ R, w @ R
            if place.any():
                w = w - v @ cross_matrix(place)
            if each[0] < 0 and m.robot.foundation is None:  # else the base frame moves
                v, w = np.zeros_like(v), np.zeros_like(w)
            ends.append([fixed.parts[j].segment(loop.at[k]) if j >= 0 else -1 for j in each])
            tied = concatenate([v, w], -1)
            rows.append(tied if len(which) > 1 else tied[:, None])
        for n, k in enumerate(which):
            found[k] = Closure(ends[0][n], ends[1][n], rows[0][:, n], rows[1][:, n])
    return [found[k] for k in sorted(found)]
