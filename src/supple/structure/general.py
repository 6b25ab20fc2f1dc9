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

    Passive joints are released, with their springs; motors are locked, sprung or free; a driven
    rod that is free constrains nothing. Redundant rows of closures are left out.
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
    if _rows_are_independent(m, x):
        return closed
    return independent(closed)


def _rows_are_independent(m: Tree, x: Array) -> bool:
    """Whether the passive joints alone can open every row of the closures, at all x (B, ..)."""
    _, jacobian = m.openings(x)
    passive_jacobian = jacobian[:, :, m.joints.passive]  # (B, rows, passive joints)
    _, rows, columns = passive_jacobian.shape
    if not rows:
        return True
    if rows > columns:
        return False

    # A small inverse proves full rank, which is much cheaper than singular values
    doubtful = np.ones(len(x), bool)
    if rows == columns:
        inverses, _ = well_conditioned_inverses(passive_jacobian)
        doubtful = ~(np.square(inverses).sum(axis=(1, 2)) < 1e15)  # no singular value below 1e-8
    rank = np.linalg.matrix_rank(passive_jacobian[doubtful], tol=1e-8)
    return bool((rank == rows).all())


def placed_structure(
    m: Tree, moved: TreeMotion, joints: Joints, ties: Sequence[ClosureRows] | None = None
) -> Structure:
    """Return a mechanism whose links have known places, with its closures if those are known."""
    robot = m.form
    fixed = fixed_parts(m)
    segments, roots = _all_segments(m, moved, joints)
    R, p, L = _segment_places(m, moved)
    placed = _Placed(segments, R, p, L, roots)

    closure_rows: list[ClosureRows] = []
    rods: list[tuple[str, ClosureRows]] = []
    if ties is None:
        ties = _place_closures(m, moved)
    for rows, loop in zip(ties, m.loops, strict=True):
        closure = replace(rows, slides=_sliding_ends(m, rows, loop, joints))
        free = loop.motor and motor_is_free(joints, loop.name)
        springs = _rod_releases(loop, free)
        if springs:
            closure_rows.append(placed.add_carriage(closure, loop, moved, springs))
        elif free:
            rods.append((loop.name, closure))
        else:
            closure_rows.append(closure)
    return Structure(
        tuple(segments),
        placed.R,
        placed.p,
        placed.L,
        placed.roots,
        robot.planar,
        robot.gravity,
        tuple(closure_rows),
        fixed.parts[robot.tip_index].segment(None),
        rods=tuple(rods),
    )


def _all_segments(m: Tree, moved: TreeMotion, joints: Joints) -> tuple[list[Segment], Array]:
    """The segments of all links, and the masses on their roots, (1 or B, segments, 6, 6)."""
    robot = m.form
    L = moved.at.L
    fixed = fixed_parts(m)
    roots = fixed.roots
    if any(link.joint.type == "prismatic" for link in robot.links):
        roots = np.repeat(roots, len(L), axis=0)

    segments: list[Segment] = []
    for i, (link, parts) in enumerate(zip(robot.links, fixed.parts, strict=True)):
        slides = link.joint.type == "prismatic"
        if slides:
            roots[:, parts.first] = root_mass(link, parts.beam, L[:, i], parts.R_LS)
        of_link = fixed.segments.get((i, joints))
        if of_link is None:
            of_link = tuple(_segments(m, moved, i, joints))
            # Cached where neither beam nor joint axes depend on the pose
            turning = any(np.ndim(release.direction) > 1 for release in of_link[0].releases)
            if not turning and not slides:
                fixed.segments[i, joints] = of_link
        segments += of_link
    return segments, roots


def _segment_places(m: Tree, moved: TreeMotion) -> tuple[Array, Array, Array]:
    """Axes (B, segments, 3, 3), roots (B, segments, 3) and lengths (B, segments) of segments."""
    at = moved.at
    fixed = fixed_parts(m)
    R = at.R @ fixed.R_LS if fixed.turned else at.R
    links = m.form.links
    if fixed.roots.shape[1] == len(links):
        return R, at.p, at.L

    # Some links are cut: their segments begin and end at places along them
    link_of_segment = np.repeat(np.arange(len(links)), [len(parts.tips) for parts in fixed.parts])
    starts = np.concatenate([[0.0, *parts.places] for parts in fixed.parts])
    stops = np.concatenate([[*parts.places, np.nan] for parts in fixed.parts])
    R = R[:, link_of_segment]
    p = at.p[:, link_of_segment] + starts[:, None] * R[..., 0]
    link_lengths = at.L[:, link_of_segment]
    L = np.where(np.isnan(stops), link_lengths, stops) - starts
    return R, p, L


def _sliding_ends(
    m: Tree, rows: ClosureRows, loop: Loop, joints: Joints
) -> tuple[tuple[int, Array], ...]:
    """Segments that slide under an end of a closure, and what that does to the closure.

    A place along a sliding beam stays where it is while the beam slides: on the beam it moves back.
    """
    slides = []
    for i, place, own_rows in zip(loop.ends, loop.at, (rows.rows_a, rows.rows_b), strict=True):
        if i >= 0 and place is not None and slides_freely(m.form, i, joints):
            slides.append((fixed_parts(m).parts[i].first, -own_rows[..., 0]))
    return tuple(slides)


def _rod_releases(loop: Loop, free: bool) -> list[tuple[float, float, bool]]:
    """Springs of a rod: (stiffness, mass, whether these are in series); none if it is rigid."""
    if not free:
        return [] if loop.stiffness is None else [(loop.stiffness, 0.0, False)]
    if not loop.rotor:  # no inertia between motor and spring: the rod constrains nothing
        return []
    return [(loop.stiffness or 0.0, loop.rotor, loop.stiffness is not None)]


@dataclass
class _Placed:
    """Segments and their places, while the carriages of elastic rods are added."""

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
        B = len(self.L)
        a = tie.a
        if a >= 0:
            axes = self.R[:, a]
            place = self.p[:, a] + self.L[:, a, None] * axes[..., 0]
        else:
            axes = np.broadcast_to(np.eye(3), (B, 3, 3))
            place = np.zeros((B, 3))

        # Direction of the rod and its first end, in axes of the carriage
        first_end = loop.frames(moved, 0)[1]
        second_end = loop.frames(moved, 1)[1]
        rod = second_end - first_end
        rod = rod / np.linalg.norm(rod, axis=1, keepdims=True)
        toward = np.einsum("bji,bj->bi", axes, rod)
        arm = np.einsum("bji,bj->bi", axes, first_end - place)
        carriage_row = np.concatenate([-toward, np.cross(toward, arm)], axis=-1)[:, None]

        direction = np.concatenate([toward, np.zeros_like(toward)], axis=-1)
        releases = tuple(Release(direction, k, mass, series) for k, mass, series in springs)
        no_mass = np.zeros((6, 6))
        carriage = Segment(loop.name, a, Beam(0.0, 0.0), releases, np.eye(3), no_mass)
        self.segments.append(carriage)
        self.R = np.concatenate([self.R, axes[:, None]], axis=1)
        self.p = np.concatenate([self.p, place[:, None]], axis=1)
        self.L = np.concatenate([self.L, np.zeros((B, 1))], axis=1)
        no_root_mass = np.zeros((len(self.roots), 1, 6, 6))
        self.roots = np.concatenate([self.roots, no_root_mass], axis=1)
        return replace(tie, a=len(self.segments) - 1, rows_a=carriage_row)


def _segments(m: Tree, moved: TreeMotion, i: int, joints: Joints) -> Iterator[Segment]:
    """The segments of a link, one for each part."""
    fixed = fixed_parts(m)
    link = m.form.links[i]
    own = fixed.parts[i]
    beam = own.beam
    if link.joint.type == "prismatic" and beam.rigid:
        # all of its mass is at the root, so that its free length may be negative
        beam = Beam(beam.L, 0.0)
    carrier = m.joints.parents[i]
    parent = -1 if carrier < 0 else fixed.parts[carrier].segment(link.at)
    releases = joint_releases(m, moved, i, joints, own)
    if not own.places:
        yield Segment(link.name, parent, beam, releases, own.R_LS, own.tips[0])
        return

    free_length = moved.at.L[:, i]
    name = link.name
    start = np.zeros_like(free_length)
    for k, tip in enumerate(own.tips):
        is_last = k == len(own.places)
        stop = free_length if is_last else np.full_like(free_length, own.places[k])
        part = _part_of_beam(link.name, beam, free_length, start, stop)
        yield Segment(name, parent, part, releases, own.R_LS, tip)
        if not is_last:
            name = f"{link.name}@{own.places[k]:g}"
            parent = own.first + k
            releases = ()
            start = stop


def _part_of_beam(
    name: str, beam: AnyBeam, free_length: Array, start: Array, stop: Array
) -> AnyBeam:
    """The beam between two distances from its joint, (B,) each, `free_length` of it outside."""
    inside = beam.L - free_length
    if not (stop - start).any():  # a part cut off at the root itself has no length and is rigid
        return Beam(0.0, 0.0)
    if not isinstance(beam, VaryingBeam):
        return beam.outside(float((stop - start).max()))
    if (inside != inside[0]).any():
        raise SuppleError(
            f"{name} has stations, slides and carries a joint along it: ask for one pose at a time"
        )
    return beam.part(float(inside[0] + start[0]), float(inside[0] + stop[0]))


def moving_placed(m: Tree, moved: TreeMotion, frames: Frames, joints: Joints) -> MovingStructure:
    """Return a mechanism whose links follow a prescribed motion; none is cut, none slides."""
    moving_ties: Any = _place_closures(m, _in_motion(moved, frames))
    ties = [ClosureRows(c.a, c.b, c.rows_a.value, c.rows_b.value) for c in moving_ties]
    structure = placed_structure(m, moved, joints, ties)
    closures = []
    for loop, closure in zip(m.loops, moving_ties, strict=True):
        pins = None
        if loop.turn == "square":
            first_pin = loop.frames(moved, 0)[0] @ loop.a
            second_pin = loop.frames(moved, 1)[0] @ loop.b
            pins = np.array([first_pin, second_pin])
        axes = np.broadcast_to(np.eye(3), (2, 3, 3)).copy()
        for end, i in enumerate((closure.a, closure.b)):
            if i >= 0:
                axes[end] = structure.segments[i].R_LS
        offsets = np.einsum("kji,kj->ki", axes, loop.p)
        closures.append(
            MovingClosure(closure.a, closure.b, closure.rows_a, closure.rows_b, offsets, pins)
        )
    return MovingStructure(structure, replace(frames, R=structure.R), tuple(closures))


def knows_motion(m: Tree) -> bool:
    """Return whether `moving_general` can follow the motion of this tree.

    Its links turn and carry others at their ends only. Passive joints have no spring, bearing or
    mass, and closures of link ends, which fix places or keep pins square, determine them all.
    """
    rows = sum(loop.rows for loop in m.loops)
    if rows != len(m.joints.passive) or m.joints.mimics:
        return False
    if any(at is not None for at in m.joints.at) or not m.passive_joints_are_free:
        return False
    for coordinate in m.joints.coordinates:
        if coordinate.driven and coordinate.kind != "turn":
            return False
        if coordinate.kind == "slide":
            return False
    for loop in m.loops:
        if loop.at != (None, None) or loop.rod:
            return False
        if loop.turn not in ("none", "square") and loop.T.shape[1]:
            return False
    return True


def moving_general(
    m: Tree, theta: ArrayLike, rate: ArrayLike, second: ArrayLike, joints: Joints
) -> MovingStructure:
    """Return a tree at the instants of a motion of its motors, (B, motors) each.

    Whole configurations may follow theta in its columns: the pose nearest to them is found, so
    that all instants stay on one branch. Passive coordinates follow the closures g(x) = 0:
    J x' = 0 and J x'' + g'' = 0, g'' their second derivative at zero passive acceleration.
    """
    theta, rate, second = (np.atleast_2d(part) for part in (theta, rate, second))
    k = len(m.driven)
    if theta.shape[1] == k:
        x, reason = resolve(m, theta)
    else:
        guess = theta[:, k:].copy()
        guess[:, m.driven] = theta[:, :k]
        x, shut = newton(m, guess)
        reason = refusal_reasons(m, x)
        if not shut.all():
            b = int(np.flatnonzero(~shut)[0])
            angles = np.round(theta[b, :k], 6).tolist()
            raise SuppleError(
                f"theta {angles} cannot be assembled on the way there: closure {m.worst(x[b])}; "
                "choose another path"
            )
    for sentence in reason[reason != ""][:1]:
        raise SuppleError(sentence)

    moved = place_links(m, x)
    _, J = m.openings(x)
    motors = m.joints.motors
    passive = m.joints.passive
    xd = np.zeros_like(x)
    xdd = np.zeros_like(x)
    xd[:, motors] = rate[:, :k]
    xdd[:, motors] = second[:, :k]
    xd[:, passive] = -np.linalg.solve(J[..., passive], J @ xd[..., None])[..., 0]

    # g'' where the passive coordinates do not accelerate
    going = _in_motion(moved, tree_frames(moved, xd, xdd))
    opening = np.zeros(J.shape[:2])
    first_row = 0
    for loop in m.loops:
        is_place = np.arange(loop.rows) < loop.E.shape[1]
        scale = np.where(is_place, m.size, 1.0)
        rows = slice(first_row, first_row + loop.rows)
        opening[:, rows] = loop.open(going).g.second / scale
        first_row += loop.rows
    xdd[:, passive] = -np.linalg.solve(J[..., passive], opening[..., None])[..., 0]
    return moving_placed(m, moved, tree_frames(moved, xd, xdd), joints)


def _in_motion(moved: TreeMotion, frames: Frames) -> TreeMotion:
    """The same tree with Jets (value, rate, second derivative) as its axes and places."""
    axes: Any = rotation_jet(frames.R, frames.w, frames.dw)
    places: Any = Jet(frames.p, frames.v, frames.a)
    return replace(moved, at=replace(moved.at, R=axes, p=places))


def _place_closures(m: Tree, moved: TreeMotion, lengths: Array | None = None) -> list[ClosureRows]:
    """The closures, driven rods at lengths (B, rods); of links in motion their rows are Jets."""
    fixed = fixed_parts(m)
    found = {}
    for which, loop in fixed.loops:  # closures of the same kind at once
        length = np.array([loop.length or 0.0])
        if loop.motor and lengths is not None:
            length = lengths[:, m.rods.index(loop)]
        opened = loop.open(moved, length)

        # Rows over the motion of the section that each end sits on, segment axes
        rows = []
        ends = []
        for end, G in enumerate((opened.G_a, opened.G_b)):
            i = loop.ends[end]
            place = loop.p[end]
            on_displacement = G[..., :3]
            on_rotation = G[..., 3:]
            links = np.atleast_1d(i).tolist()
            on_ground = links[0] < 0
            if not on_ground:
                R = moved.at.R[:, i]
                if fixed.turned:
                    R = R @ fixed.R_LS[i]
                    place = np.einsum("...ji,...j->...i", fixed.R_LS[i], place)
                on_displacement = on_displacement @ R
                on_rotation = on_rotation @ R
            if place.any():
                on_rotation = on_rotation - on_displacement @ cross_matrix(place)
            if on_ground and m.form.foundation is None:  # with a foundation the base moves
                on_displacement = np.zeros_like(on_displacement)
                on_rotation = np.zeros_like(on_rotation)
            segments = [fixed.parts[j].segment(loop.at[end]) if j >= 0 else -1 for j in links]
            ends.append(segments)
            end_rows = concatenate([on_displacement, on_rotation], -1)
            rows.append(end_rows if len(which) > 1 else end_rows[:, None])

        for n, k in enumerate(which):
            found[k] = ClosureRows(ends[0][n], ends[1][n], rows[0][:, n], rows[1][:, n])
    return [found[k] for k in sorted(found)]
