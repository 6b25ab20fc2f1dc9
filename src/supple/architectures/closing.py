"""Closures of a mechanism: how far each is open, and how that changes with small motions.

With the frames (R_a, p_a), (R_b, p_b) of its two ends, d = R_a' (p_b - p_a), Q = R_a' R_b:
    place   E' d = 0, E the constrained directions (first frame's axes)
    turn    fixed, prismatic: the skew part of Q; revolute, cylindrical: T' Q a, T perpendicular to
            a; universal: a . Q b; constant-velocity: the skew part of Q along a, zero where Q turns
            about an axis perpendicular to both shafts, so that these turn by the same angle
    rod     |d| - length
In a planar mechanism only rows with a part in x, y and the turn about z remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..kernels.jets import Either, concatenate, cross, crossing, transpose
from ..kernels.spatial import rpy_rotation
from ..robot import MechanismRobot
from .joint_tree import TreeMotion

__all__ = ["ClosureError", "Loop", "alike", "loops_of"]

Array = NDArray[np.float64]
Turn = Literal["none", "fixed", "axis", "square"]


@dataclass(frozen=True)
class ClosureError:
    """How far a closure is open at B configurations, or at B instants of a motion (Jets).

    Attributes
    ----------
    g
        (B, r), zero where it is closed.
    G_a, G_b
        (B, r, 6), its change per unit motion (velocity of the frame's origin, angular velocity;
        base axes) of the first and the second frame.
    """

    g: Either
    G_a: Either
    G_b: Either


@dataclass(frozen=True)
class Loop:
    """One closure ready to be computed with.

    Attributes
    ----------
    name
        Its own, or closure1, closure2, ..
    ends
        Indices of the two links, -1 for the base.
    at
        Distances along them, m, None for the end.
    R, p
        (2, 3, 3) and (2, 3), mounts of the two frames.
    E
        (3, m), constrained directions, axes of the first frame.
    turn
        How the attitude is constrained.
    T
        (3, k), components of the skew part, or directions perpendicular to a.
    a, b
        (3,), axes in the first and in the second frame.
    rod
        Whether it keeps a distance.
    length
        Of a rod, m, else None.
    motor
        Whether theta contains the length.
    straight
        Whether the first frame always has the attitude of the second one.
    stiffness
        Of an elastic rod, N/m.
    rotor
        Mass that moves with a driven length, kg.
    """

    name: str
    ends: tuple[int, int]
    at: tuple[float | None, float | None]
    R: Array
    p: Array
    E: Array
    turn: Turn
    T: Array
    a: Array
    b: Array
    rod: bool
    length: float | None
    motor: bool
    straight: bool = False
    stiffness: float | None = None
    rotor: float = 0.0

    @property
    def rows(self) -> int:
        """Number of rows."""
        turning = {"none": 0, "square": 1}.get(self.turn, self.T.shape[1])
        return 1 if self.rod else self.E.shape[1] + turning

    def frames(self, tree: TreeMotion, k: int) -> tuple[Array, Array]:
        """Return axes (B, 3, 3) and place (B, 3) of the first or the second frame."""
        axes, place = tree.frame(self.ends[k], self.at[k], self.R[k], self.p[k])
        if self.straight and k == 0:
            axes, _ = self.frames(tree, 1)
        return axes, place

    def open(self, tree: TreeMotion, length: Array | None = None) -> ClosureError:
        """Return how far it is open; of a rod, from a length (B,)."""
        return self.opening(*self.frames(tree, 0), *self.frames(tree, 1), length)

    def opening(
        self, R_a: Either, p_a: Either, R_b: Either, p_b: Either, length: Array | None = None
    ) -> ClosureError:
        """Return how far the closure is open with frames (B, 3, 3), (B, 3), at rest or moving."""
        d = p_b - p_a
        if self.rod:
            size = np.linalg.norm(d, axis=-1)
            direction = (d / np.where(size > 0, size, 1.0)[:, None])[:, None]
            G = np.concatenate([direction, np.zeros_like(direction)], axis=-1)
            return ClosureError((size - length)[:, None], -G, G)
        axes_of_a = transpose(R_a @ self.E)  # (B, m, 3)
        g = axes_of_a @ d[..., None]
        G_b = concatenate([axes_of_a, np.zeros(axes_of_a.shape)], -1)
        G_a = concatenate([-axes_of_a, axes_of_a @ crossing(d)], -1)
        if self.turn == "none":
            return ClosureError(g[..., 0], G_a, G_b)
        # h (B, k, 1) of the turn, and its rows W (B, k, 3) over the angular velocity of b less a's
        if self.turn == "fixed":
            Q = transpose(R_a) @ R_b
            half_T = 0.5 * self.T.T
            skew = Q - transpose(Q)
            components = [skew[..., 2:, 1:2], skew[..., :1, 2:], skew[..., 1:2, :1]]
            trace = Q[..., :1, :1] + Q[..., 1:2, 1:2] + Q[..., 2:, 2:]
            h = half_T @ concatenate(components, -2)
            W = half_T @ (trace * np.eye(3) - Q) @ transpose(R_a)
        elif self.turn == "axis":
            axis = R_b @ self.a
            across = transpose(R_a @ self.T)  # (B, k, 3)
            h = across @ axis[..., None]
            W = cross(axis[..., None, :], across)
        else:  # "square"
            a = R_a @ self.a
            b = R_b @ self.b
            h = a[..., None, :] @ b[..., None]
            W = cross(b, a)[..., None, :]
        about = concatenate([np.zeros(W.shape), W], -1)
        return ClosureError(
            concatenate([g, h], -2)[..., 0],
            concatenate([G_a, -about], -2),
            concatenate([G_b, about], -2),
        )


def alike(loops: Sequence[Loop]) -> list[tuple[list[int], Loop]]:
    """Return loops in groups of one kind: their indices, and all of a group as one Loop.

    The ends of that Loop are arrays of links, and its results have one more axis, (B, loops, ..).
    Only closures between the ends of links are grouped.
    """
    kinds: dict[Any, list[int]] = {}
    for k, loop in enumerate(loops):
        constants = (loop.E, loop.T, loop.a, loop.b)
        kind: Any = (loop.turn, loop.straight, *(array.tobytes() for array in constants))
        if loop.rod or min(loop.ends) < 0 or loop.at != (None, None):
            kind = k
        kinds.setdefault(kind, []).append(k)
    found = []
    for indices in kinds.values():
        group = [loops[k] for k in indices]
        if len(group) == 1:
            found.append((indices, group[0]))
            continue
        first_ends = np.array([loop.ends[0] for loop in group])
        second_ends = np.array([loop.ends[1] for loop in group])
        ends: Any = (first_ends, second_ends)
        R = np.stack([loop.R for loop in group], axis=1)
        p = np.stack([loop.p for loop in group], axis=1)
        found.append((indices, replace(group[0], ends=ends, R=R, p=p)))
    return found


def loops_of(robot: MechanismRobot) -> tuple[Loop, ...]:
    """Return the closures of a mechanism."""
    found = []
    for i, closure in enumerate(robot.closures):
        a, b = closure.directions
        axis = closure.direction
        across = np.zeros((3, 0))
        if closure.type in ("revolute", "prismatic", "cylindrical", "slot"):
            # (3, 2) perpendicular to the axis and to one another; for an axis in the plane one is z
            seed = np.array([0.0, 0.0, 1.0]) if abs(axis[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
            first = np.cross(seed, axis)
            first /= np.linalg.norm(first)
            across = np.stack([first, np.cross(axis, first)], axis=-1)
        # Constrained directions and attitude of a closure in space
        E = np.eye(3)
        turn = "none"
        T = np.zeros((3, 0))
        if closure.type in ("fixed", "prismatic"):
            turn = "fixed"
            T = np.eye(3)
        elif closure.type in ("revolute", "cylindrical"):
            turn = "axis"
            T = across
        elif closure.type == "universal":
            turn = "square"
        elif closure.type == "constant-velocity":
            turn = "fixed"
            T = axis[:, None]
        if closure.type in ("prismatic", "cylindrical", "slot"):
            E = across
        # In the plane only x, y and the turn about z remain
        if robot.planar:
            E = E[:, np.abs(E[2]) < 1e-9]
            if turn == "fixed":
                T = T[:, np.abs(T[2]) > 1e-9]
            elif turn == "axis":
                axis_in_plane = abs(axis[2]) < 1e-9
                T = T[:, np.abs(T[2]) < 1e-9] if axis_in_plane else T[:, :0]
            elif turn == "square" and (abs(a[2]) > 1e-9 or abs(b[2]) > 1e-9):
                turn = "none"
        found.append(
            Loop(
                robot.closure_name(i),
                (robot.end_index(closure.ends[0]), robot.end_index(closure.ends[1])),
                (closure.ends[0].at, closure.ends[1].at),
                np.array([rpy_rotation(end.mount.rpy) for end in closure.ends]),
                np.array([end.mount.xyz for end in closure.ends], float),
                E,
                turn,  # type: ignore[arg-type]
                T,
                axis if turn != "square" else a,
                b,
                closure.type == "distance",
                closure.length,
                closure.motor,
                stiffness=closure.stiffness,
                rotor=closure.rotor_inertia,
            )
        )
    return tuple(found)
