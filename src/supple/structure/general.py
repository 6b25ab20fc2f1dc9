"""Any Tree at its configurations as a Structure: beams, passive joints, closures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.assembling import newton, refusal_reasons, resolve, well_conditioned_inverses
from ..architectures.closing import Loop
from ..architectures.frames import Frames, tree_frames
from ..architectures.joint_tree import TreeMotion
from ..architectures.tree import Tree, place_links
from ..beams.theory import AnyBeam, Beam
from ..beams.varying import VaryingBeam
from ..errors import SuppleError
from ..kernels.jets import Jet, concatenate, rotation_jet
from ..kernels.spatial import cross_matrix
from .link_parts import fixed_parts, joint_releases, root_mass, slides_freely
from .moving import MovingClosure, MovingStructure
from .parts import ClosureRows, Joints, Release, Segment, Structure, motor_is_free
from .rows import independent

__all__ = [
    "general_structure",
    "knows_motion",
    "moving_general",
    "moving_placed",
    "placed_structure",
]

Array = NDArray[np.float64]


def general_structure(m: Tree, at: ArrayLike | None, joints: Joints = "locked") -> Structure:
    """Return a tree at theta (B, motors), or at whole configurations (B, n + rods).

    Passive joints are let go, with their springs; motors are locked, sprung or let go; a driven
    rod that is let go holds nothing. Rows of closures that repeat what others hold are left out.
    """
    # Whole configurations (B, n + rods): as given, or assembled at theta
    n = len(m.start)
    if at is not None and np.ndim(at) == 2 and np.shape(at)[1] == n:
        x = np.asarray(at, float)
    else:
        x, reason = resolve(m, at)
        for sentence in reason[reason != ""][:1]:
            raise SuppleError(sentence)
    moved = place_links(m, x)
    ties = _place_closures(m, moved, x[:, len(m.joints.coordinates) :])
    closed = placed_structure(m, moved, joints, ties)
    return closed if _rows_are_independent(m, x) else independent(closed)


def _rows_are_independent(m: Tree, x: Array) -> bool:
    """Whether the passive joints alone can open every row of the closures, at all x (B, ..)."""
    held = m.openings(x)[1][:, :, m.joints.passive]
    if not held.shape[1]:
        return True
    if held.shape[1] > held.shape[2]:
        return False
    doubtful = np.ones(len(x), bool)
    if held.shape[1] == held.shape[2]:
        inverses, _ = well_conditioned_inverses(held)
        doubtful = ~(np.square(inverses).sum(axis=(1, 2)) < 1e15)  # no singular value below 1e-8
    rank = np.linalg.matrix_rank(held[doubtful], tol=1e-8)
    return bool((rank == held.shape[1]).all())


def placed_structure(
    m: Tree, moved: TreeMotion, joints: Joints, ties: Sequence[ClosureRows] | None = None
) -> Structure:
    """Return a mechanism whose links stand somewhere, with its closures there if they are known."""
    robot, at, fixed = m.form, moved.at, fixed_parts(m)
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
    for c, loop in zip(_place_closures(m, moved) if ties is None else ties, m.loops, strict=True):
        # Places on a sliding beam stay where they are while it does: it moves back there
        back = tuple(
            (fixed.parts[i].first, -rows[..., 0])
            for i, s, rows in zip(loop.ends, loop.at, (c.rows_a, c.rows_b), strict=True)
            if i >= 0 and s is not None and slides_freely(robot, i, joints)
        )
        shut.append((replace(c, slides=back), loop))
    held: list[ClosureRows] = []
    rods: list[tuple[str, ClosureRows]] = []
    placed = _Placed(segments, R, p, L, roots)
    for c, loop in shut:
        free = loop.motor and motor_is_free(joints, loop.name)
        springs = _rod_releases(loop, free)
        if springs:
            held.append(placed.add_carriage(c, loop, moved, springs))
        elif free:
            rods.append((loop.name, c))
        else:
            held.append(c)
    return Structure(
        tuple(segments),
        placed.R,
        placed.p,
        placed.L,
        placed.roots,
        robot.planar,
        robot.gravity,
        tuple(held),
        fixed.parts[robot.tip_index].segment(None),
        rods=tuple(rods),
    )


def _rod_releases(loop: Loop, free: bool) -> list[tuple[float, float, bool]]:
    """Stiffness, mass and whether they are in series of what a rod gives way by; none: rigid."""
    if not free:
        return [] if loop.stiffness is None else [(loop.stiffness, 0.0, False)]
    if not loop.rotor:  # nothing between motor and spring: it holds nothing
        return []
    return [(loop.stiffness or 0.0, loop.rotor, loop.stiffness is not None)]


@dataclass
class _Placed:
    """Segments and where they are, while carriages of rods that give way are added to them."""

    segments: list[Segment]
    R: Array
    p: Array
    L: Array
    roots: Array

    def add_carriage(
        self,
        tie: ClosureRows,
        loop: Loop,
        moved: TreeMotion,
        springs: list[tuple[float, float, bool]],
    ) -> ClosureRows:
        """Put the first end of a rod on a massless carriage; return the rod's row from there.

        The carriage sits on the end of the segment that carried the rod, and slides along the rod
        against the springs.
        """
        B, a = len(self.L), tie.a
        if a >= 0:
            axes = self.R[:, a]
            place = self.p[:, a] + self.L[:, a, None] * axes[..., 0]
        else:
            axes, place = np.broadcast_to(np.eye(3), (B, 3, 3)), np.zeros((B, 3))
        ends = [loop.frames(moved, k)[1] for k in (0, 1)]
        along = ends[1] - ends[0]
        along = along / np.linalg.norm(along, axis=1, keepdims=True)
        toward = np.einsum("bji,bj->bi", axes, along)
        arm = np.einsum("bji,bj->bi", axes, ends[0] - place)
        row = np.concatenate([-toward, np.cross(toward, arm)], axis=-1)[:, None]  # of its end
        direction = np.concatenate([toward, np.zeros_like(toward)], axis=-1)
        releases = tuple(Release(direction, k, mass, series) for k, mass, series in springs)
        zero = np.zeros((6, 6))
        own = Segment(loop.name, a, Beam(0.0, 0.0), releases, np.eye(3), zero)
        self.segments.append(own)
        self.R = np.concatenate([self.R, axes[:, None]], axis=1)
        self.p = np.concatenate([self.p, place[:, None]], axis=1)
        self.L = np.concatenate([self.L, np.zeros((B, 1))], axis=1)
        none = np.zeros((len(self.roots), 1, 6, 6))
        self.roots = np.concatenate([self.roots, none], axis=1)
        return replace(tie, a=len(self.segments) - 1, rows_a=row)


def _segments(m: Tree, moved: TreeMotion, i: int, joints: Joints) -> Iterator[Segment]:
    """The segments of a link, one for each part."""
    robot, fixed, free, j = (
        m.form,
        fixed_parts(m),
        moved.at.L[:, i],
        m.joints.parents[i],
    )
    link, own, beam = robot.links[i], fixed.parts[i], fixed.parts[i].beam
    if link.joint.type == "prismatic" and beam.rigid:
        beam = Beam(beam.L, 0.0)  # all of its mass is at the root: it may stand below zero
    parent = -1 if j < 0 else fixed.parts[j].segment(link.at)
    releases, name = joint_releases(m, moved, i, joints, own), link.name
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


def moving_placed(m: Tree, moved: TreeMotion, frames: Frames, joints: Joints) -> MovingStructure:
    """Return a mechanism whose whole links are led along a motion; none slides."""
    ties: Any = _place_closures(m, _in_motion(moved, frames))
    still = [ClosureRows(c.a, c.b, c.rows_a.value, c.rows_b.value) for c in ties]
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


def knows_motion(m: Tree) -> bool:
    """Return whether `moving_general` knows a tree.

    Its links turn and are whole; passive joints have nothing of their own, and closures of ends,
    which hold places or keep pins square, determine them.
    """
    held = sum(loop.rows for loop in m.loops) == len(m.joints.passive) and not m.joints.mimics
    whole = all(at is None for at in m.joints.at)
    whole &= m.passive_joints_are_free
    for c in m.joints.coordinates:
        whole &= c.kind == "turn" if c.driven else c.kind != "slide"
    for loop in m.loops:
        whole &= loop.at == (None, None) and not loop.rod
        whole &= loop.turn in ("none", "square") or not loop.T.shape[1]
    return held and whole


def moving_general(
    m: Tree, theta: ArrayLike, rate: ArrayLike, second: ArrayLike, joints: Joints
) -> MovingStructure:
    """Return a tree at the instants of a motion of its motors, (B, motors) each.

    Beside theta, whole configurations may stand near which those looked for are, so that they stay
    on one branch. What is passive follows the closures g(x) = 0: J x' = 0 and J x'' + g'' = 0, g''
    their second derivative where passive coordinates do not accelerate.
    """
    theta, rate, second = (np.atleast_2d(part) for part in (theta, rate, second))
    k = len(m.driven)
    if theta.shape[1] == k:
        x, reason = resolve(m, theta)
    else:
        near = theta[:, k:].copy()
        near[:, m.driven] = theta[:, :k]
        x, shut = newton(m, near)
        reason = refusal_reasons(m, x)
        for b in np.flatnonzero(~shut)[:1]:
            told = (
                f"theta {np.round(theta[b, :k], 6).tolist()} cannot be assembled on the way there"
            )
            raise SuppleError(f"{told}: closure {m.worst(x[b])}; lead it elsewhere")
    for sentence in reason[reason != ""][:1]:
        raise SuppleError(sentence)
    moved, J = place_links(m, x), m.openings(x)[1]
    motors, z = m.joints.motors, m.joints.passive
    xd, xdd = np.zeros_like(x), np.zeros_like(x)
    xd[:, motors], xdd[:, motors] = rate[:, :k], second[:, :k]
    xd[:, z] = -np.linalg.solve(J[..., z], J @ xd[..., None])[..., 0]
    going, at, opening = _in_motion(moved, tree_frames(moved, xd, xdd)), 0, np.zeros(J.shape[:2])
    for loop in m.loops:
        places = np.arange(loop.rows) < loop.E.shape[1]
        opening[:, at : at + loop.rows] = loop.open(going).g.second / np.where(places, m.size, 1.0)
        at += loop.rows
    xdd[:, z] = -np.linalg.solve(J[..., z], opening[..., None])[..., 0]
    return moving_placed(m, moved, tree_frames(moved, xd, xdd), joints)


def _in_motion(moved: TreeMotion, frames: Frames) -> TreeMotion:
    """A tree whose places are Jets."""
    turning = rotation_jet(frames.R, frames.w, frames.dw)
    led: Any = {"R": turning, "p": Jet(frames.p, frames.v, frames.a)}
    return replace(moved, at=replace(moved.at, **led))


def _place_closures(m: Tree, moved: TreeMotion, lengths: Array | None = None) -> list[ClosureRows]:
    """The closures, driven rods at lengths (B, rods); of links in motion their rows are Jets."""
    fixed, found = fixed_parts(m), {}
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
            if each[0] < 0 and m.form.foundation is None:  # else the base frame moves
                v, w = np.zeros_like(v), np.zeros_like(w)
            ends.append([fixed.parts[j].segment(loop.at[k]) if j >= 0 else -1 for j in each])
            tied = concatenate([v, w], -1)
            rows.append(tied if len(which) > 1 else tied[:, None])
        for n, k in enumerate(which):
            found[k] = ClosureRows(ends[0][n], ends[1][n], rows[0][:, n], rows[1][:, n])
    return [found[k] for k in sorted(found)]
