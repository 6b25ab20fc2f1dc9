"""A mechanism at its configurations as a Structure: a tree of beams, passive joints, closures.

A link that carries something along its length, a joint or a closure, is cut there: its parts are
segments one after the other, the first with the link's name, the others with the place they begin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.assembling import Mechanism, mechanism_of, placed, resolve
from ..architectures.tree import TreeMotion
from ..beams.theory import AnyBeam, Beam
from ..beams.varying import VaryingBeam
from ..errors import SuppleError
from ..kernels.spatial import cross_matrix, rpy_rotation, turn
from ..robot import MechanismRobot
from .parts import Closure, Joints, Release, Segment, Structure
from .rows import independent
from .serial import end_masses, link_beam, root_mass, section_axes
from .supports import hub_before, sprung

__all__ = ["mechanism_structure"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Cuts:
    """Where a link is cut: places from its root; `ends` says which segment ends at each of them.

    Attributes:
        places: where something hangs, ascending; the link's end is not among them.  first: index
        of the link's first segment.
    """

    places: tuple[float, ...]
    first: int

    def segment(self, at: float | None) -> int:
        """Return the segment that ends at a place, or at the link's end."""
        here = len(self.places) if at is None else self.places.index(at)
        return self.first + here


def mechanism_structure(
    robot: MechanismRobot, at: ArrayLike | None, joints: Joints = "locked"
) -> Structure:
    """Return a mechanism at theta (B, motors), or at whole configurations (B, n + rods).

    Passive joints are let go, with their springs; motors are locked, sprung or let go; a driven
    rod that is let go holds nothing.
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
    cuts, R, p, L, segments, roots = _cut(robot, m), [], [], [], [], []
    for i, link in enumerate(robot.links):
        R_LS, beam = section_axes(robot, link), link_beam(robot, link)
        free = moved.at.L[:, i]
        mass = root_mass(link, beam, free, R_LS)
        if link.joint.type == "prismatic" and beam.rigid:
            beam = Beam(beam.L, 0.0)  # all of its mass is at the root: it may stand below zero
        borders = [np.zeros_like(free), *(np.full_like(free, s) for s in cuts[i].places), free]
        for k, (a, b) in enumerate(pairwise(borders)):
            part = beam if len(borders) == 2 else _part(link.name, beam, a, b, free)
            parent = cuts[i].first + k - 1
            if k == 0:
                j = m.tree.parents[i]
                parent = -1 if j < 0 else cuts[j].segment(_place(robot, j, link.at))
            name = link.name if k == 0 else f"{link.name}@{cuts[i].places[k - 1]:g}"
            releases = _releases(m, moved, i, joints, R_LS) if k == 0 else ()
            carried = _carried(robot, m, i, cuts[i], k)
            tip = turn(np.sum(carried, axis=0), R_LS) if carried else np.zeros((6, 6))
            segments.append(Segment(name, parent, part, releases, R_LS, tip))
            R.append(moved.at.R[:, i] @ R_LS)
            p.append(moved.at.p[:, i] + a[:, None] * moved.at.R[:, i, :, 0])
            L.append(b - a)
            roots.append(mass if k == 0 else np.zeros((1, 6, 6)))
    whole = Structure(
        tuple(segments),
        np.stack(R, axis=1),
        np.stack(p, axis=1),
        np.stack(L, axis=1),
        np.stack(np.broadcast_arrays(*roots), axis=1),
        robot.planar,
        robot.gravity,
        (),
        cuts[robot.tip_index].segment(None),
    )
    return _closed(robot, m, x, moved, cuts, whole, joints)


def _part(name: str, beam: AnyBeam, a: Array, b: Array, free: Array) -> AnyBeam:
    """The beam between a and b metres from the joint of a link, `free` of it outside, (B,) each.

    What is cut off at the root itself has no length and is rigid.
    """
    if not (b - a).any():
        return Beam(0.0, 0.0)
    if not isinstance(beam, VaryingBeam):
        return beam.outside(float((b - a).max()))
    inner = beam.L - free
    if (inner != inner[0]).any():
        raise SuppleError(
            f"{name} has stations, slides and carries a joint along it: ask for one pose at a time"
        )
    return beam.part(float(inner[0] + a[0]), float(inner[0] + b[0]))


def _place(robot: MechanismRobot, i: int, at: float | None) -> float | None:
    """A place along a link, None for its end; of a link that slides the end is never a place."""
    link = robot.links[i]
    ends = link.joint.type != "prismatic" and at is not None and at >= (link.length or 0.0)
    return None if ends else at


def _cut(robot: MechanismRobot, m: Mechanism) -> list[_Cuts]:
    """Where every link is cut, and its first segment."""
    places: list[set[float]] = [set() for _ in robot.links]
    hung = [(j, robot.links[i].at) for i, j in enumerate(m.tree.parents)]
    hung += [(j, s) for loop in m.loops for j, s in zip(loop.ends, loop.at, strict=True)]
    for j, s in hung:
        if j >= 0 and (at := _place(robot, j, s)) is not None:
            places[j].add(at)
    cuts, first = [], 0
    for each in places:
        cuts.append(_Cuts(tuple(sorted(each)), first))
        first += len(each) + 1
    return cuts


def _carried(robot: MechanismRobot, m: Mechanism, i: int, cuts: _Cuts, k: int) -> list[Array]:
    """Masses (6, 6) on the end of part k of link i, link axes: bodies, hubs of sliding links."""
    masses = []
    if k == len(cuts.places):
        masses = end_masses(robot.links[i], robot.payload if i == robot.tip_index else None)
    for j, link in enumerate(robot.links):
        if m.tree.parents[j] == i and link.joint.type == "prismatic":
            here = cuts.segment(_place(robot, i, link.at)) == cuts.first + k
            masses += [hub_before(link)] if here else []
    return masses


def _releases(
    m: Mechanism, moved: TreeMotion, i: int, joints: Joints, R_LS: Array
) -> tuple[Release, ...]:
    """What a joint lets go: passive ones themselves, with their springs; motors as in an arm.

    What its bearing lets go follows; last, on a beam that slides without it, what brings it back.
    """
    joint, turns, j = m.robot.links[i].joint, [], m.tree.parents[i]
    stays: tuple[Release, ...] = ()
    if j >= 0 and m.robot.links[i].at is not None and _slides(m.robot, j, joints):
        along = np.einsum("bji,bj->bi", moved.at.R[:, i] @ R_LS, moved.at.R[:, j, :, 0])
        back = np.concatenate([along, np.zeros_like(along)], axis=-1)
        stays = (Release(back, follows=(m.robot.links[j].name, -1.0)),)
    mounted = (moved.at.R[:, j] if j >= 0 else np.eye(3)) @ rpy_rotation(joint.mount.rpy)
    into = np.swapaxes(moved.at.R[:, i] @ R_LS, 1, 2) @ mounted
    bearing = sprung(joint.bearing, m.robot.planar, into)
    own = [(k, c) for k, c in enumerate(m.tree.coordinates) if c.link == i]
    if joint.type == "free":
        rows = np.eye(6)[[0, 1, 5] if m.robot.planar else range(6)]
        return tuple(Release(row) for row in rows) + stays
    if len(own) == 3 and (joint.stiffness is None or len(joint.stiffness) == 1):
        spring = joint.stiffness[0] if joint.stiffness else 0.0  # alike in all directions
        return tuple(Release(row, spring) for row in np.eye(6)[3:]) + bearing + stays
    for k, c in own:
        if len(own) == 1:
            axis: Array = R_LS.T @ c.axis
        else:  # carried by the turns that follow it
            axis = np.einsum("bji,bj->bi", moved.at.R[:, i] @ R_LS, moved.w[:, k])
        zero = np.zeros_like(axis)
        parts = [axis, zero] if c.kind == "slide" else [zero, axis]
        direction = np.concatenate(parts, axis=-1)
        stiffness, J = c.stiffness, joint.reflected_inertia
        if joint.mimic is not None:
            led = (joint.mimic.joint, joint.mimic.multiplier)
            turns += [] if joints == "locked" else [Release(direction, follows=led)]
        elif not c.driven:
            turns.append(Release(direction, stiffness or 0.0))
        elif joints == "locked":
            turns += [] if stiffness is None else [Release(direction, stiffness)]
        elif stiffness is not None and _leads(m.robot, i):  # others follow its motor
            turns += [Release(direction, 0.0, J), Release(direction, stiffness)]
        elif stiffness is None or J == 0:
            turns.append(Release(direction, 0.0, J if stiffness is None else 0.0))
        else:
            turns.append(Release(direction, stiffness, J, series=True))
    return tuple(turns) + bearing + stays


def _leads(robot: MechanismRobot, i: int) -> bool:
    """Whether other joints follow that of a link."""
    followed = [other.joint.mimic.joint for other in robot.links if other.joint.mimic is not None]
    return robot.links[i].name in followed


def _slides(robot: MechanismRobot, i: int, joints: Joints) -> bool:
    """Whether a link slides, let go or passive."""
    joint = robot.links[i].joint
    passive = not joint.driven and joint.mimic is None
    return joint.type == "prismatic" and (joints == "free" or passive)


def _closed(
    robot: MechanismRobot,
    m: Mechanism,
    x: Array,
    moved: TreeMotion,
    cuts: list[_Cuts],
    whole: Structure,
    joints: Joints,
) -> Structure:
    """The structure with its closures; rows that repeat what others hold are left out."""
    tied_to = {(i, s) for loop in m.loops for i, s in zip(loop.ends, loop.at, strict=True)}
    for i, (link, cut) in enumerate(zip(robot.links, cuts, strict=True)):
        sprung = link.joint.driven and link.joint.stiffness is not None and joints == "free"
        props = [s for s in cut.places if (i, s) in tied_to]
        if _slides(robot, i, joints) and (props or (cut.places and sprung)):
            what = "a closure" if props else "something, its motor sprung,"
            raise SuppleError(
                f"links.{link.name} slides and carries {what} {(props or cut.places)[0]:g} m from "
                "its joint: that is for a locked motor; hang it on the link's end instead"
            )
    closures, rods, rod = [], [], len(m.tree.coordinates)
    for c, loop in enumerate(m.loops):
        length = x[:, rod] if loop.motor else np.full(len(x), loop.length or 0.0)
        rod += loop.motor
        opened, rows, ends = loop.open(moved, length), [], []
        for k, G in enumerate((opened.G_a, opened.G_b)):
            i, at = loop.ends[k], loop.at[k]
            if i < 0:  # the base frame, which moves where the robot has a foundation
                moment = G[..., :3] @ cross_matrix(loop.frames(moved, k)[1])
                row = np.concatenate([G[..., :3], G[..., 3:] - moment], axis=-1)
                ends.append(-1)
                rows.append(row if robot.foundation is not None else np.zeros_like(row))
                continue
            j = cuts[i].segment(_place(robot, i, at))
            R = whole.R[:, j]
            end = whole.p[:, j] + whole.L[:, j, None] * R[:, :, 0]
            offset = np.einsum("bji,bj->bi", R, loop.frames(moved, k)[1] - end)
            v, w = G[..., :3] @ R, G[..., 3:] @ R
            ends.append(j)
            rows.append(np.concatenate([v, w - v @ cross_matrix(offset)], axis=-1))
        tied = Closure(ends[0], ends[1], rows[0], rows[1])
        if loop.motor and joints == "free":
            rods.append((robot.closure_name(c), tied))
        else:
            closures.append(tied)
    closed = replace(whole, closures=tuple(closures), rods=tuple(rods))
    held = m.openings(x)[1][:, :, m.tree.passive]
    if not held.shape[1] or (np.linalg.matrix_rank(held, tol=1e-8) == held.shape[1]).all():
        return closed
    return independent(closed)
