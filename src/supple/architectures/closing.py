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

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..kernels.spatial import cross, cross_matrix, rpy_rotation
from ..robot import MechanismRobot
from .tree import TreeMotion

__all__ = ["Loop", "Opening", "loops_of"]

Array = NDArray[np.float64]
Turn = Literal["none", "fixed", "axis", "square"]


@dataclass(frozen=True)
class Opening:
    """How far a closure is open at B configurations.

    Attributes:
        g: (B, r), zero where it is shut.  G_a, G_b: (B, r, 6), its change per unit motion (velocity
        of the frame's origin, spin; base axes) of the first and the second frame.
    """

    g: Array
    G_a: Array
    G_b: Array


@dataclass(frozen=True)
class Loop:
    """One closure ready to be computed with.

    Attributes:
        name: as given, or closure1, ..  ends: index of the two links, -1 for the base.  at: where
        along them, None for the end.  R, p: (2, 3, 3), (2, 3), mounts.  E: (3, m), directions held,
        first frame's axes.  turn: what holds the attitude.  T: (3, k): components of the skew part,
        or directions square to a.  a, b: (3,), axes in the first and the second frame.
        length: of a rod, None if none.  motor: whether theta holds the length.
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

    @property
    def rows(self) -> int:
        """Number of rows."""
        turning = {"none": 0, "square": 1}.get(self.turn, self.T.shape[1])
        return 1 if self.rod else self.E.shape[1] + turning

    def frames(self, tree: TreeMotion, k: int) -> tuple[Array, Array]:
        """Return axes (B, 3, 3) and place (B, 3) of the first or the second frame."""
        return tree.frame(self.ends[k], self.at[k], self.R[k], self.p[k])

    def open(self, tree: TreeMotion, length: Array | None = None) -> Opening:
        """Return how far it is open; a rod's length (B,) as asked."""
        (R_a, p_a), (R_b, p_b) = self.frames(tree, 0), self.frames(tree, 1)
        R_a, R_b = np.broadcast_arrays(R_a, R_b)
        return self.opening(R_a, p_a, R_b, p_b, length)

    def opening(
        self, R_a: Array, p_a: Array, R_b: Array, p_b: Array, length: Array | None = None
    ) -> Opening:
        """Return how far two frames (B, 3, 3), (B, 3) are from being shut."""
        d = p_b - p_a
        if self.rod:
            size = np.linalg.norm(d, axis=-1)
            toward = (d / np.where(size > 0, size, 1.0)[:, None])[:, None]
            G = np.concatenate([toward, np.zeros_like(toward)], axis=-1)
            return Opening((size - length)[:, None], -G, G)
        held = (R_a @ self.E).swapaxes(1, 2)  # (B, m, 3)
        G_b = np.concatenate([held, np.zeros_like(held)], axis=-1)
        G_a = np.concatenate([-held, held @ cross_matrix(d)], axis=-1)
        # g (B, k) of the turn, and its rows W (B, k, 3) over the spin of b beside a
        if self.turn == "fixed":
            Q = R_a.swapaxes(1, 2) @ R_b
            skew = (
                np.stack(
                    [Q[:, 2, 1] - Q[:, 1, 2], Q[:, 0, 2] - Q[:, 2, 0], Q[:, 1, 0] - Q[:, 0, 1]],
                    axis=-1,
                )
                / 2
            )
            trace = np.trace(Q, axis1=1, axis2=2)[:, None, None]
            S = self.T.T @ (trace * np.eye(3) - Q.swapaxes(1, 2)).swapaxes(1, 2) / 2
            g, W = skew @ self.T, S @ R_a.swapaxes(1, 2)
        elif self.turn == "axis":
            b = R_b @ self.a
            across = (R_a @ self.T).swapaxes(1, 2)  # (B, k, 3)
            g = np.einsum("bki,bi->bk", across, b)
            W = np.asarray(cross(np.broadcast_to(b[:, None], across.shape), across))
        elif self.turn == "square":
            a, b = R_a @ self.a, R_b @ self.b
            g, W = (a * b).sum(-1)[:, None], cross(b, a)[:, None]
        else:
            g, W = np.zeros((len(R_a), 0)), np.zeros((len(R_a), 0, 3))
        about = np.concatenate([np.zeros_like(W), W], axis=-1)
        return Opening(
            np.concatenate([np.einsum("bmi,bi->bm", held, d), g], axis=1),
            np.concatenate([G_a, -about], axis=1),
            np.concatenate([G_b, about], axis=1),
        )


def loops_of(robot: MechanismRobot) -> tuple[Loop, ...]:
    """Return the closures of a mechanism."""
    found = []
    for i, closure in enumerate(robot.closures):
        a, b, axis = *closure.directions, closure.direction
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
            )
        )
    return tuple(found)
