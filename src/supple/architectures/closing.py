"""Closures of a mechanism: how far each is open, and how that changes with small motions.

With the frames (R_a, p_a), (R_b, p_b) of its two ends, d = R_a' (p_b - p_a), Q = R_a' R_b:
    place   E' d = 0, E the directions that the closure holds (first frame's axes)
    turn    fixed, prismatic: the skew part of Q; revolute, cylindrical: T' Q a, T square to a;
            universal: a . Q b; constant-velocity: the skew part of Q along a, zero where Q turns
            about an axis square to both shafts, so that these turn alike
    rod     |d| - length
In a planar mechanism only rows with a part in x, y and the turn about z are left.
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

    Attributes:
        g: (B, r), zero where it is shut.  G_a, G_b: (B, r, 6), its change per unit motion (velocity
        of the frame's origin, spin; base axes) of the first and the second frame.
    """

    g: Either
    G_a: Either
    G_b: Either


@dataclass(frozen=True)
class Loop:
    """One closure ready to be computed with.

    Attributes:
        name: as given, or closure1, ..  ends: index of the two links, -1 for the base.  at: where
        along them, None for the end.  R, p: (2, 3, 3), (2, 3), mounts.  E: (3, m), directions held,
        first frame's axes.  turn: what holds the attitude.  T: (3, k): components of the skew part,
        or directions square to a.  a, b: (3,), axes in the first and the second frame.
        length: of a rod, None if none.  motor: whether theta holds the length.  straight: whether
        the first frame is turned as the second one is, wherever that stands.  stiffness: of a rod
        that gives way, N/m.  rotor: what moves with a driven length, kg.
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
        return self.frames(tree, 1)[0] if self.straight and k == 0 else axes, place

    def open(self, tree: TreeMotion, length: Array | None = None) -> ClosureError:
        """Return how far it is open; a rod's length (B,) as asked."""
        return self.opening(*self.frames(tree, 0), *self.frames(tree, 1), length)

    def opening(
        self, R_a: Either, p_a: Either, R_b: Either, p_b: Either, length: Array | None = None
    ) -> ClosureError:
        """Return how far two frames (B, 3, 3), (B, 3), at rest or moving, are from being shut."""
        d = p_b - p_a
        if self.rod:
            size = np.linalg.norm(d, axis=-1)
            toward = (d / np.where(size > 0, size, 1.0)[:, None])[:, None]
            G = np.concatenate([toward, np.zeros_like(toward)], axis=-1)
            return ClosureError((size - length)[:, None], -G, G)
        held = transpose(R_a @ self.E)  # (B, m, 3)
        g = held @ d[..., None]
        G_b = concatenate([held, np.zeros(held.shape)], -1)
        G_a = concatenate([-held, held @ crossing(d)], -1)
        if self.turn == "none":
            return ClosureError(g[..., 0], G_a, G_b)
        # h (B, k, 1) of the turn, and its rows W (B, k, 3) over the spin of b beside a
        if self.turn == "fixed":
            Q, some = transpose(R_a) @ R_b, 0.5 * self.T.T
            skew = Q - transpose(Q)
            thrice = [skew[..., 2:, 1:2], skew[..., :1, 2:], skew[..., 1:2, :1]]
            trace = Q[..., :1, :1] + Q[..., 1:2, 1:2] + Q[..., 2:, 2:]
            h = some @ concatenate(thrice, -2)
            W = some @ (trace * np.eye(3) - Q) @ transpose(R_a)
        elif self.turn == "axis":
            b = R_b @ self.a
            across = transpose(R_a @ self.T)  # (B, k, 3)
            h, W = across @ b[..., None], cross(b[..., None, :], across)
        else:
            a, b = R_a @ self.a, R_b @ self.b
            h, W = a[..., None, :] @ b[..., None], cross(b, a)[..., None, :]
        about = concatenate([np.zeros(W.shape), W], -1)
        return ClosureError(
            concatenate([g, h], -2)[..., 0],
            concatenate([G_a, -about], -2),
            concatenate([G_b, about], -2),
        )


def alike(loops: Sequence[Loop]) -> list[tuple[list[int], Loop]]:
    """Return loops of links' ends in groups of one kind: which they are, and all of them as one.

    Its ends are arrays of links, and everything of it has one more axis, (B, loops, ..).
    """
    kinds: dict[Any, list[int]] = {}
    for k, loop in enumerate(loops):
        ours = (loop.E, loop.T, loop.a, loop.b)
        kind: Any = (loop.turn, loop.straight, *(part.tobytes() for part in ours))
        if loop.rod or min(loop.ends) < 0 or loop.at != (None, None):
            kind = k
        kinds.setdefault(kind, []).append(k)
    found = []
    for each in kinds.values():
        own = [loops[k] for k in each]
        ends: Any = tuple(np.array([loop.ends[k] for loop in own]) for k in (0, 1))
        R, p = (
            np.stack(part, axis=1) for part in ([loop.R for loop in own], [loop.p for loop in own])
        )
        found.append((each, replace(own[0], ends=ends, R=R, p=p) if len(own) > 1 else own[0]))
    return found


def loops_of(robot: MechanismRobot) -> tuple[Loop, ...]:
    """Return the closures of a mechanism."""
    found = []
    for i, closure in enumerate(robot.closures):
        a, b, axis = *closure.directions, closure.direction
        across = np.zeros((3, 0))
        if closure.type in ("revolute", "prismatic", "cylindrical", "slot"):
            # (3, 2) directions square to an axis and to one another; of one in the plane, z is one
            seed = np.array([0.0, 0.0, 1.0]) if abs(axis[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
            first = np.cross(seed, axis)
            first /= np.linalg.norm(first)
            across = np.stack([first, np.cross(axis, first)], axis=-1)
        E, turn, T = np.eye(3), "none", np.zeros((3, 0))
        if closure.type in ("fixed", "prismatic"):
            turn, T = "fixed", np.eye(3)
        elif closure.type in ("revolute", "cylindrical"):
            turn, T = "axis", across
        elif closure.type == "universal":
            turn = "square"
        elif closure.type == "constant-velocity":
            turn, T = "fixed", axis[:, None]
        if closure.type in ("prismatic", "cylindrical", "slot"):
            E = across
        if robot.planar:
            E = E[:, np.abs(E[2]) < 1e-9]
            if turn == "fixed":  # the turn about z is left
                T = T[:, np.abs(T[2]) > 1e-9]
            elif turn == "axis":  # of an axis in the plane, the turn about z is left
                T = T[:, np.abs(T[2]) < 1e-9] if abs(axis[2]) < 1e-9 else T[:, :0]
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
