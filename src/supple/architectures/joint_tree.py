"""Geometry of a tree of links: where every link is at its joint coordinates, and how it moves.

All joint coordinates q (B, n) are listed link by link, motors and passive ones alike:
root = place on the parent . Trans(xyz) . Rz Ry Rx . turns; a beam runs along its +x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import axis_rotation, cross, rpy_rotation
from ..robot import MechanismRobot
from ..robot.joint import unit
from .serial import Placement

__all__ = ["JointCoordinate", "JointTree", "TreeMotion", "joint_tree_of"]

Array = NDArray[np.float64]
Kind = Literal["turn", "slide", "shift"]


class JointCoordinate(NamedTuple):
    """One joint coordinate of a tree.

    Attributes
    ----------
    name
        The link's, with .1, .2 or .roll, .pitch, .yaw where its joint has several.
    link
        Its index.
    kind
        Turn, slide (of its beam through its joint), or shift (of all of it, of a free joint).
    axis
        (3,), the frame's own axes before this turn.
    order
        Which of the joint's turns it is; yaw, pitch and roll are turned in this order and listed in
        the other.
    driven
        Whether a motor moves it.
    start
        Where it is assembled.
    stiffness, damping, friction
        Of this coordinate.
    rest
        Where its spring is unloaded.
    hangs
        Whether it stands where the weight beyond it hangs, and begins to look at `start`.
    """

    name: str
    link: int
    kind: Kind
    axis: Array
    order: int
    driven: bool
    start: float
    stiffness: float | None
    damping: float
    friction: float
    rest: float | None
    hangs: bool = False


@dataclass(frozen=True)
class JointTree:
    """The links of a mechanism without its closures.

    Attributes
    ----------
    coordinates
        In the order of q.
    parents
        Index of the link that carries each, -1 for the base.
    at
        Where along the parent, metres, None for its end.
    R, p
        (n, 3, 3) and (n, 3), mounts.
    length
        (n,), of the beams.
    moves
        (n, 2, columns) bool, which coordinates move a link's root frame (its own turns included),
        and its end.
    mimics
        Columns of coordinates that follow others, theirs, multiplier and offset.
    """

    coordinates: tuple[JointCoordinate, ...]
    parents: tuple[int, ...]
    at: tuple[float | None, ...]
    R: Array
    p: Array
    length: Array
    moves: NDArray[np.bool_]
    mimics: tuple[tuple[int, int, float, float], ...] = ()

    @property
    def motors(self) -> NDArray[np.int64]:
        """Columns of q that motors drive."""
        return np.array([k for k, c in enumerate(self.coordinates) if c.driven], int)

    @property
    def passive(self) -> NDArray[np.int64]:
        """Columns of q that follow from the loops, or are free."""
        return np.array([k for k, c in enumerate(self.coordinates) if not c.driven], int)

    @property
    def hanging(self) -> NDArray[np.int64]:
        """Columns of q that stand where the weight beyond them hangs."""
        return np.array([k for k, c in enumerate(self.coordinates) if c.hangs], int)

    @property
    def start(self) -> Array:
        """(n,) where the mechanism is assembled."""
        x = np.array([c.start for c in self.coordinates])
        for k, j, times, offset in self.mimics:
            x[k] = times * x[j] + offset
        return x

    def place(self, q: Array) -> TreeMotion:
        """Return every link at joint coordinates q (B, n), with the axes of its coordinates."""
        batch = len(q)
        links = len(self.parents)
        R = np.empty((batch, links, 3, 3))
        p = np.empty((batch, links, 3))
        lengths = np.empty((batch, links))
        turning_axes = np.zeros((batch, q.shape[1], 3))
        sliding_axes = np.zeros((batch, q.shape[1], 3))

        for i, parent in enumerate(self.parents):
            # Where the link begins: at a place on its parent, or at its parent's end
            if parent < 0:
                R_root = np.eye(3)
                p_root = np.zeros(3)
            else:
                R_root = R[:, parent]
                station = self.at[i]
                distance = lengths[:, parent, None] if station is None else station
                p_root = p[:, parent] + distance * R_root[:, :, 0]
            p[:, i] = p_root + R_root @ self.p[i]
            R[:, i] = R_root @ self.R[i]
            lengths[:, i] = self.length[i]

            # Its joint's coordinates, one after the other
            own = [k for k, c in enumerate(self.coordinates) if c.link == i]
            for k in sorted(own, key=lambda k: self.coordinates[k].order):
                coordinate = self.coordinates[k]
                axis = R[:, i] @ coordinate.axis
                if coordinate.kind == "slide":
                    sliding_axes[:, k] = axis
                    lengths[:, i] = q[:, k]
                elif coordinate.kind == "shift":
                    sliding_axes[:, k] = axis
                    p[:, i] += q[:, k, None] * axis
                else:
                    turning_axes[:, k] = axis
                    R[:, i] = R[:, i] @ axis_rotation(coordinate.axis, q[:, k])
        return TreeMotion(self, Placement(R, p, lengths), turning_axes, sliding_axes)


@dataclass(frozen=True)
class TreeMotion:
    """A tree at B configurations.

    Attributes
    ----------
    at
        Where the links are.
    w, v
        (B, n, 3), axis of every turn and direction of every slide, base axes.
    """

    tree: JointTree
    at: Placement
    w: Array
    v: Array

    def frame(self, i: Any, s: float | None, R: Array, xyz: Array) -> tuple[Array, Array]:
        """Return axes (B, 3, 3) and place (B, 3) of a frame on link i (-1: base), after a mount.

        It sits s metres from the root, None for the end. Of many links (m,): (B, m, ..).
        """
        if isinstance(i, int) and i < 0:
            B = len(self.w)
            return np.broadcast_to(R, (B, 3, 3)), np.broadcast_to(xyz, (B, 3))
        axes = self.at.R[:, i]
        along = self.at.L[:, i, None] if s is None else s
        mounted = (axes @ xyz[..., None])[..., 0]
        return axes @ R, self.at.p[:, i] + along * axes[..., 0] + mounted

    def jacobian(self, i: int, s: float | None, point: Array) -> Array:
        """Return (B, 6, n): velocity of a point (B, 3) of link i and its spin, base axes."""
        B, n = self.w.shape[:2]
        J = np.zeros((B, 6, n))
        columns, motion = self.moving_columns(i, s, point)
        J[:, :, columns] = motion
        return J

    def moving_columns(
        self, i: int, s: float | None, point: Array
    ) -> tuple[NDArray[np.int64], Array]:
        """Return which columns of `jacobian` are not zero, (k,), and these, (B, 6, k)."""
        if i < 0:
            return np.zeros(0, int), np.zeros((len(self.w), 6, 0))
        columns = np.flatnonzero(self.tree.moves[i, int(s is None)])
        origin = self.at.p[:, [self.tree.coordinates[k].link for k in columns]]
        spin = self.w[:, columns]
        motion = np.empty((len(spin), 6, len(columns)))
        motion[:, :3] = (cross(spin, point[:, None] - origin) + self.v[:, columns]).swapaxes(1, 2)
        motion[:, 3:] = spin.swapaxes(1, 2)
        return columns, motion


def joint_tree_of(robot: MechanismRobot) -> JointTree:
    """Return the tree of a mechanism's links."""
    coordinates = []
    for i, link in enumerate(robot.links):
        joint = link.joint
        turns = joint.coordinates(robot.planar)
        # one value for all of the joint's coordinates, or one for each
        springs = [joint.stiffness, joint.damping, joint.friction, joint.rest]
        given = [joint.start, *springs, (joint.hangs,)]
        each: Any = [
            (v if v and len(v) == len(turns) else (v or (None,)) * len(turns)) for v in given
        ]
        for (word, axis, order, shifts), *values in zip(turns, *each, strict=True):
            kind: Kind = "slide" if joint.type == "prismatic" else "shift" if shifts else "turn"
            coordinates.append(
                JointCoordinate(link.name + word, i, kind, unit(axis), order, joint.driven, *values)
            )
    n = len(robot.links)
    parents = robot.parents
    own = {robot.links[c.link].name: k for k, c in enumerate(coordinates)}
    mimics = [(link.name, link.joint.mimic) for link in robot.links]
    moved = np.array([c.link for c in coordinates], int) == np.arange(n)[:, None]
    turning = moved & np.array([c.kind != "slide" for c in coordinates], bool)
    moves = np.zeros((n, 2, len(coordinates)), bool)
    for i, j in enumerate(parents):
        if j >= 0:
            moves[i] = moves[j, int(robot.links[i].at is None)]
        moves[i, 0] |= turning[i]
        moves[i, 1] |= moved[i]
    return JointTree(
        tuple(coordinates),
        parents,
        tuple(link.at for link in robot.links),
        np.array([rpy_rotation(link.joint.mount.rpy) for link in robot.links]),
        np.array([link.joint.mount.xyz for link in robot.links], float),
        np.array([link.length or 0.0 for link in robot.links]),
        moves,
        tuple((own[a], own[m.joint], m.multiplier, m.offset) for a, m in mimics if m is not None),
    )
