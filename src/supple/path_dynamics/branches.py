"""Branches of a Structure: trees of segments that hang from the ground, those alike together.

A branch has coordinates of its own, z = [motors, y, f]: motors without springs, springs and elastic
coordinates, and loose motions. The legs of a Delta are three branches alike; every array of theirs
is (B, 3, ..), so that they cost one set of operations. A serial arm is one branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..beams.fixed.elements import Mesh
from ..kernels.jets import Jet, jet_of
from ..kernels.spatial import transport
from ..structure import MovingStructure, Segment
from .moving_beams import CarriedLink

__all__ = ["BranchSegment", "Group", "SlotMotion", "groups_of"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SlotMotion:
    """One motion of a slot's joint: its column in z, and which release it is (None: a motor).

    Attributes
    ----------
    direction
        (6,), segment axes; None where it changes with the pose.
    stiffness
        Its spring.
    """

    column: int
    release: int | None
    direction: Array | None
    stiffness: float = 0.0


@dataclass(frozen=True)
class BranchSegment:
    """One segment of a branch.

    Attributes
    ----------
    parent
        Its slot, -1 for the ground.
    inner
        Its elastic coordinates in z.
    turns
        The motions of its joint, in their order.
    reach
        Columns of z that move its root.
    """

    parent: int
    mesh: Mesh
    link: CarriedLink
    inner: slice
    turns: tuple[SlotMotion, ...]
    reach: NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """m branches alike of k segments.

    Attributes
    ----------
    segments
        (m, k), which segments.
    slots
        k.
    motors, size, loose
        Numbers in z.
    starts
        Where the group's motors, y and f begin among all.
    """

    segments: NDArray[np.int64]
    slots: tuple[BranchSegment, ...]
    motors: int
    size: int
    loose: int
    starts: tuple[int, int, int]

    @property
    def count(self) -> int:
        """Number of branches, m."""
        return len(self.segments)

    @property
    def y(self) -> slice:
        """The springs and elastic coordinates in z."""
        return slice(self.motors, self.motors + self.size)

    @property
    def f(self) -> slice:
        """The loose motions in z."""
        return slice(self.motors + self.size, self.width)

    @property
    def width(self) -> int:
        """Length of z."""
        return self.motors + self.size + self.loose

    def part(self, kind: int) -> slice:
        """The motors (0), y (1) or f (2) in z."""
        return (slice(0, self.motors), self.y, self.f)[kind]

    def own(self, kind: int, branch: int) -> slice:
        """Where the motors (0), y (1) or f (2) of a branch stand among all."""
        size = (self.motors, self.size, self.loose)[kind]
        first = self.starts[kind] + branch * size
        return slice(first, first + size)

    def all(self, kind: int) -> slice:
        """Where those of all its branches stand."""
        return slice(self.starts[kind], self.own(kind, self.count - 1).stop)

    def motions(self, moving: MovingStructure) -> tuple[list[Jet], list[Jet]]:
        """How each slot's root and end move with z: Jets (B, m, 6, width), segment axes."""
        B = moving.structure.size
        roots: list[Jet] = []
        ends: list[Jet] = []
        for s, slot in enumerate(self.slots):
            index = self.segments[:, s]
            if slot.parent < 0:
                root = jet_of(np.zeros((B, self.count, 6, self.width)))
            else:
                root = moving.transforms(index) @ ends[slot.parent]
            for turn in slot.turns:
                # Add the direction of one joint motion to its column
                if turn.direction is not None:
                    root.value[..., turn.column] += turn.direction
                else:
                    assert turn.release is not None
                    each = [moving.release(int(i), turn.release).parts for i in index]
                    for target, parts in zip(root.parts, zip(*each, strict=True), strict=True):
                        target[..., turn.column] += np.stack(parts, axis=1)
            end = transport(slot.mesh.L) @ root
            end.value[..., slot.inner] += slot.mesh.end
            roots.append(root)
            ends.append(end)
        return roots, ends


def groups_of(
    segments: Sequence[Segment],
    meshes: Sequence[Mesh],
    links: Sequence[CarriedLink],
    motors: Sequence[tuple[int, Array]],
) -> tuple[Group, ...]:
    """Return the branches of a structure, those alike as one group."""
    driven = dict(motors)
    alike: dict[tuple[object, ...], list[list[int]]] = {}
    # Segments of each tree that hangs from the ground, parents first
    trees: list[list[int]] = []
    for i, segment in enumerate(segments):
        if segment.parent < 0:
            trees.append([i])
        else:
            next(tree for tree in trees if segment.parent in tree).append(i)
    for branch in trees:
        # What makes two branches alike, directions that change with the pose aside
        key: list[object] = []
        for i in branch:
            for r in segments[i].releases:
                d = r.toward(slice(None))
                key.append((r.stiffness, r.floating, None if d.ndim > 1 else d.tobytes()))
            parent = branch.index(segments[i].parent) if segments[i].parent >= 0 else -1
            axis = driven[i].tobytes() if i in driven else None
            key.append((id(links[i]), parent, axis))
        alike.setdefault(tuple(key), []).append(branch)
    out: list[Group] = []
    starts = (0, 0, 0)
    for found in alike.values():
        group = _group(found, segments, meshes, links, driven, starts)
        a, b, c = (group.all(kind).stop for kind in range(3))
        starts = (a, b, c)
        out.append(group)
    return tuple(out)


def _group(
    branches: list[list[int]],
    segments: Sequence[Segment],
    meshes: Sequence[Mesh],
    links: Sequence[CarriedLink],
    driven: dict[int, Array],
    starts: tuple[int, int, int],
) -> Group:
    first = branches[0]
    kinds: dict[str, list[tuple[int, int | None]]] = {"motor": [], "spring": [], "loose": []}
    for i in first:
        if i in driven:
            kinds["motor"].append((i, None))
        for k, release in enumerate(segments[i].releases):
            kinds["loose" if release.floating else "spring"].append((i, k))
    at = len(kinds["motor"]) + len(kinds["spring"])
    inner = {}
    for i in first:
        inner[i] = slice(at, at + meshes[i].size)
        at += meshes[i].size
    place = {key: k for k, key in enumerate(kinds["motor"] + kinds["spring"])}
    place |= {key: at + k for k, key in enumerate(kinds["loose"])}
    slots: list[BranchSegment] = []
    for i in first:
        parent = first.index(segments[i].parent) if segments[i].parent >= 0 else -1
        out = [SlotMotion(place[i, None], None, driven[i])] if i in driven else []
        for j, freed in enumerate(segments[i].releases):
            direction = freed.toward(slice(None))
            fixed = direction if direction.ndim == 1 else None
            out.append(SlotMotion(place[i, j], j, fixed, freed.stiffness))
        turns = tuple(out)
        columns = {turn.column for turn in turns}
        if parent >= 0:
            before = slots[parent]
            columns |= {*before.reach.tolist(), *range(before.inner.start, before.inner.stop)}
        reach = np.array(sorted(columns), np.int64)
        slots.append(BranchSegment(parent, meshes[i], links[i], inner[i], turns, reach))
    motors = len(kinds["motor"])
    size = at - motors
    loose = len(kinds["loose"])
    return Group(np.array(branches), tuple(slots), motors, size, loose, starts)
