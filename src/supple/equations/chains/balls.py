"""Springs, damping and friction of ball joints that are alike in all directions.

The joint turns by Q = R R0' from where it is unloaded, R = Rz(yaw) Ry(pitch) Rx(roll), about the
vector t = phi n. The spring's energy is k |t|^2 / 2, its moment k t, damping's d w, and friction's
f(|w|) w / |w| by the law of all joints, all of them whatever the attitude.

On a bearing that turns, with nothing between, the two springs are in series: y' e / 2 with
e = t - G' u, y = (1 / k + S)^-1 e, and u, G and S as in `sprung_turns`. Its moment is then
y + t x y / 2 + g t x (t x y), g = (1 - (phi / 2) cot(phi / 2)) / phi^2, since t turns with phi.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.scalars import (
    Matrix,
    Scalar,
    Vector,
    add,
    axis_rotation,
    cos,
    cross,
    dot,
    matmul,
    matvec,
    mul,
    negate,
    scale,
    sin,
    sub,
    total,
    transpose,
    vadd,
)
from ...robot.joint import MechanismJoint, unit
from ..evaluate import casadi
from .sprung_turns import BearingCoupling, SprungTurns
from .supports import Support

__all__ = ["Ball", "joint_springs"]

Array = NDArray[np.float64]

SERIES = (1.0, 2 / 3, 8 / 15, 16 / 35, 128 / 315, 256 / 693, 1024 / 3003)  # phi / sin phi
DROPS = (*(a - b for a, b in pairwise(SERIES)), 0.0)
SMALL_TURN = 1e-3  # sin^2(phi / 2) below which it is used: the next term is 1e-22


class Ball(NamedTuple):
    """One joint.

    Attributes
    ----------
    turns
        Places of roll, pitch and yaw in q.
    stiffness, damping, friction
        N m/rad, N m s/rad and N m.
    rest
        Roll, pitch and yaw where the spring is unloaded.
    moves
        Places of its bearing's displacements.
    bearing
        What it feels of that, where it turns.
    """

    turns: tuple[int, int, int]
    stiffness: float
    damping: float
    friction: float
    rest: tuple[float, float, float]
    moves: tuple[int, ...] = ()
    bearing: BearingCoupling | None = None

    @property
    def places(self) -> tuple[int, ...]:
        """Places in q of all that it holds."""
        return (*self.turns, *self.moves)

    def _spring_torque(self, q: Vector, t: Vector) -> tuple[Vector, Vector]:
        """e and y, mounted axes."""
        if self.bearing is None:
            return t, scale(self.stiffness, t)
        if self.moves:
            G = transpose(self.bearing.G)
            t = vadd(t, negate(matvec(G, [q[k] for k in self.moves])))
        flexible = np.eye(3) / self.stiffness + np.array(self.bearing.S)
        return t, matvec(np.linalg.inv(flexible).tolist(), t)

    def spring_energy(self, q: Vector) -> Scalar:
        """Return the energy of its spring."""
        if not self.stiffness:
            return 0.0
        e, y = self._spring_torque(q, _rotation_vector(self, [q[k] for k in self.turns])[0])
        return mul(0.5, dot(e, y))

    def spring_forces(self, q: Vector) -> list[tuple[int, Scalar]]:
        """Return place and force of the spring on coordinates, dV/dq."""
        if not self.stiffness:
            return []
        angles = [q[k] for k in self.turns]
        t, g = _rotation_vector(self, angles)
        moment = y = self._spring_torque(q, t)[1]
        pulls: Vector = []
        if self.bearing is not None:
            turned = cross(t, y)
            moment = vadd(y, scale(0.5, turned), scale(g, cross(t, turned)))
            pulls = negate(matvec(self.bearing.G, y)) if self.moves else []
        own = [(k, dot(a, moment)) for k, a in zip(self.turns, _axes(angles), strict=True)]
        return own + list(zip(self.moves, pulls, strict=True))

    def lost(
        self, q: Vector, qd: Vector, rub: Callable[[float, Scalar], Scalar]
    ) -> list[tuple[int, Scalar]]:
        """Return place and force of damping and friction on coordinates; rub: friction's law."""
        if not (self.damping or self.friction):
            return []
        axes = _axes([q[k] for k in self.turns])
        spin = vadd(*(scale(qd[k], axis) for k, axis in zip(self.turns, axes, strict=True)))
        factor: Scalar = self.damping
        if self.friction:
            square = add(dot(spin, spin), 1e-30)
            speed = math.sqrt(square) if isinstance(square, float) else casadi().sqrt(square)
            factor = add(factor, rub(self.friction, speed) / speed)
        return [(k, mul(factor, dot(a, spin))) for k, a in zip(self.turns, axes, strict=True)]

    def tangent(self) -> list[Vector]:
        """Return the stiffness over its places where it is unloaded."""
        J = np.array(_axes(list(self.rest)), float).T
        if not self.stiffness:
            return np.zeros((len(self.places),) * 2).tolist()
        flexible = np.eye(3) / self.stiffness
        if self.bearing is not None:
            flexible = flexible + np.array(self.bearing.S)
            J = np.hstack([J, -np.reshape(self.bearing.G, (-1, 3)).T])
        stiff: list[Vector] = (J.T @ np.linalg.solve(flexible, J)).tolist()
        return stiff


def _axes(angles: Vector) -> list[Vector]:
    """Axes of roll, pitch and yaw in mounted axes, per unit rate."""
    _, pitch, yaw = angles
    c = cos(yaw)
    s = sin(yaw)
    down = mul(-1.0, sin(pitch))
    return [
        [mul(c, cos(pitch)), mul(s, cos(pitch)), down],
        [mul(-1.0, s), c, 0.0],
        [0.0, 0.0, 1.0],
    ]


def _attitude(angles: Vector) -> Matrix:
    roll, pitch, yaw = angles
    turned = matmul(axis_rotation([0, 0, 1], yaw), axis_rotation([0, 1, 0], pitch))
    return matmul(turned, axis_rotation([1, 0, 0], roll))


def _rotation_vector(ball: Ball, angles: Vector) -> tuple[Vector, Scalar]:
    """t (3,), the rotation vector from rest, mounted axes, and g."""
    Q = matmul(_attitude(angles), transpose(_attitude(list(ball.rest))))
    skew = [sub(Q[2][1], Q[1][2]), sub(Q[0][2], Q[2][0]), sub(Q[1][0], Q[0][1])]
    u = mul(0.25, sub(3.0, total([Q[0][0], Q[1][1], Q[2][2]])))  # sin^2(phi / 2)
    series: Scalar = 0.0  # phi / sin phi
    rise: Scalar = 0.0  # (1 - (1 - u) phi / sin phi) / u
    for term, drop in zip(reversed(SERIES), reversed(DROPS), strict=True):
        series = add(mul(series, u), term)
        rise = add(mul(rise, u), drop)
    ca = math if isinstance(u, float) else casadi()
    squared = dot(skew, skew)  # 4 sin^2 phi: near a half turn 1 - u has no digits left
    sine = ca.sqrt((max if ca is math else ca.fmax)(squared, 1e-60)) / 2
    phi = ca.atan2(sine, 1 - 2 * u)
    small = series
    large = phi / sine
    bent = rise / (4 * series**2 * (1 - u)), (1 - large * (1 - u)) / phi**2
    if ca is math:
        return scale(0.5 * (small if u < SMALL_TURN else large), skew), bent[u >= SMALL_TURN]
    factor, g = (ca.if_else(u < SMALL_TURN, *pair) for pair in ((small, large), bent))
    return scale(0.5 * factor, skew), g


def joint_springs(
    joint: MechanismJoint,
    under: BearingCoupling | None,
    places: tuple[int, ...],
    bearing: tuple[Support, tuple[int, ...]] | None,
    K: Array,
    rest: Array,
) -> list[Ball | SprungTurns]:
    """Return what holds a joint that turns about several axes, beyond springs on its coordinates.

    That is what a ball joint has one value of for all directions, and springs in series with those
    of its `bearing`, given with its places; both are taken out of K. rest: where they are unloaded.
    """
    where = list(places)
    stiffness = [float(value) for value in np.diag(K)[where]]
    unloaded_at = [float(value) for value in rest[where]]
    axes = [unit(turn.axis) for turn in joint.coordinates(False)]  # of a ball the last one first

    # Coordinates of the bearing below, and of the cross of a universal joint in it
    moves: tuple[int, ...] = ()
    cross = -1
    if bearing is not None and under is not None:
        support, own = bearing
        moves = tuple(own[: support.columns.shape[1]])
        if support.is_universal_cross:
            cross = own[-1]

    springs: list[Ball | SprungTurns] = []
    if len(places) == 2:  # a universal joint: rigid about the third axis
        normal = unit(tuple(np.cross(axes[0], axes[1])))
        turns = (places[0], cross, places[1])
        axes = [axes[0], normal, axes[1]]
        stiffness = [stiffness[0], math.inf, stiffness[1]]
        unloaded_at = [unloaded_at[0], 0.0, unloaded_at[1]]
    else:  # a ball: one value counts for the whole turn, several for the angles
        roll, pitch, yaw = places
        turns = (yaw, pitch, roll)
        axes = axes[::-1]
        k, d, f = map(_single_value, (joint.stiffness, joint.damping, joint.friction))
        if k or d or f:
            start = (unloaded_at[0], unloaded_at[1], unloaded_at[2])
            in_series = (moves, under) if k else ((), None)
            springs.append(Ball((roll, pitch, yaw), k, d, f, start, *in_series))
        stiffness = stiffness[::-1]
        unloaded_at = unloaded_at[::-1]
        if k:
            stiffness = [0.0] * 3
            K[where, where] = 0.0

    has_springs = any(value and math.isfinite(value) for value in stiffness)
    if under is not None and (cross >= 0 or has_springs):
        K[where, where] = 0.0
        springs.append(
            SprungTurns(
                turns,
                moves,
                [axis.tolist() for axis in axes],
                (stiffness[0], stiffness[1], stiffness[2]),
                (unloaded_at[0], unloaded_at[1], unloaded_at[2]),
                under,
            )
        )
    return springs


def _single_value(values: tuple[float, ...] | None) -> float:
    """The value that counts for all directions of a ball joint, 0 where there is none."""
    return float(values[0]) if values is not None and len(values) == 1 else 0.0
