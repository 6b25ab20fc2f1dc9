"""Springs, damping and friction of ball joints that are alike in all directions.

The joint turns by Q = R R0' from where it is unloaded, R = Rz(yaw) Ry(pitch) Rx(roll), about the
vector t = phi n. The spring's energy is k |t|^2 / 2, its moment k t, damping's d w, and friction's
f(|w|) w / |w| by the law of all joints, all of them whatever the attitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ...kernels.scalars import (
    Matrix,
    Scalar,
    Vector,
    add,
    axis_rotation,
    cos,
    dot,
    matmul,
    mul,
    scale,
    sin,
    sub,
    total,
    transpose,
    vadd,
)
from ..evaluate import casadi
from .crosses import Cross

__all__ = ["Ball", "held", "lost", "stored", "tangent"]

SERIES = (1.0, 2 / 3, 8 / 15, 16 / 35, 128 / 315, 256 / 693, 1024 / 3003)  # phi / sin phi
NEAR = 1e-3  # sin^2(phi / 2) below which it is used: the next term is 1e-22


class Ball(NamedTuple):
    """One joint.

    Attributes:
        places: of roll, pitch and yaw in q.  stiffness, N m/rad; damping, N m s/rad; friction,
        N m.  rest: roll, pitch and yaw where the spring is unloaded.
    """

    places: tuple[int, int, int]
    stiffness: float
    damping: float
    friction: float
    rest: tuple[float, float, float]


def _axes(angles: Vector) -> list[Vector]:
    """Axes of roll, pitch and yaw in mounted axes, per unit rate."""
    _, pitch, yaw = angles
    c, s = cos(yaw), sin(yaw)
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


def _turned(ball: Ball, angles: Vector) -> Vector:
    """t (3,), the rotation vector from rest, mounted axes."""
    Q = matmul(_attitude(angles), transpose(_attitude(list(ball.rest))))
    skew = [sub(Q[2][1], Q[1][2]), sub(Q[0][2], Q[2][0]), sub(Q[1][0], Q[0][1])]
    u = mul(0.25, sub(3.0, total([Q[0][0], Q[1][1], Q[2][2]])))  # sin^2(phi / 2)
    series: Scalar = 0.0
    for term in reversed(SERIES):
        series = add(mul(series, u), term)
    squared = dot(skew, skew)  # 4 sin^2 phi: near a half turn 1 - u has no digits left
    if isinstance(u, float):
        sine = math.sqrt(max(squared, 1e-60)) / 2
        return scale(0.5 * (series if u < NEAR else math.atan2(sine, 1 - 2 * u) / sine), skew)
    ca = casadi()
    sine = ca.sqrt(ca.fmax(squared, 1e-60)) / 2
    far = ca.atan2(sine, 1 - 2 * u) / sine
    return scale(0.5 * ca.if_else(u < NEAR, series, far), skew)


def stored(balls: tuple[Ball | Cross, ...], q: Vector) -> list[Scalar]:
    """Return the energy of each spring."""
    out = []
    for ball in balls:
        if isinstance(ball, Cross):
            out.append(ball.stored(q))
            continue
        t = _turned(ball, [q[k] for k in ball.places])
        out.append(mul(0.5 * ball.stiffness, dot(t, t)))
    return out


def held(balls: tuple[Ball | Cross, ...], q: Vector) -> list[tuple[int, Scalar]]:
    """Return place and force of the springs on coordinates, dV/dq."""
    out = []
    for ball in balls:
        if isinstance(ball, Cross):
            out += ball.held(q)
            continue
        angles = [q[k] for k in ball.places]
        t = scale(ball.stiffness, _turned(ball, angles)) if ball.stiffness else [0.0] * 3
        out += [(k, dot(axis, t)) for k, axis in zip(ball.places, _axes(angles), strict=True)]
    return out


def lost(
    balls: tuple[Ball | Cross, ...], q: Vector, qd: Vector, rub: Callable[[float, Scalar], Scalar]
) -> list[tuple[int, Scalar]]:
    """Return place and force of damping and friction on coordinates; rub: friction's law."""
    out = []
    for ball in balls:
        if isinstance(ball, Cross) or not (ball.damping or ball.friction):
            continue
        axes = _axes([q[k] for k in ball.places])
        spin = vadd(*(scale(qd[k], axis) for k, axis in zip(ball.places, axes, strict=True)))
        factor: Scalar = ball.damping
        if ball.friction:
            square = add(dot(spin, spin), 1e-30)
            speed = math.sqrt(square) if isinstance(square, float) else casadi().sqrt(square)
            factor = add(factor, rub(ball.friction, speed) / speed)
        out += [(k, mul(factor, dot(a, spin))) for k, a in zip(ball.places, axes, strict=True)]
    return out


def tangent(ball: Ball | Cross) -> list[Vector]:
    """Return the stiffness over roll, pitch and yaw, or over its places, where it is unloaded."""
    if isinstance(ball, Cross):
        return ball.tangent()
    axes = _axes(list(ball.rest))
    return [[mul(ball.stiffness, dot(a, b)) for b in axes] for a in axes]
