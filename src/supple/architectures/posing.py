"""Poses of a mechanism's tip: configurations that put it somewhere.

Newton's method on all coordinates, closures and place of the tip together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from .assembling import newton, refusal_reasons, solve_closures
from .closing import Loop, Turn
from .tree import SHUT, Tree, place_links

__all__ = ["configurations_of_tip", "configurations_of_tip_motion", "inverse"]

Array = NDArray[np.float64]
DIFFERENCE_STEP = 1e-3  # rad or m, of differences along a motion
MAX_STEP = 0.5  # of Newton's method: radians, or parts of the mechanism's size


def inverse(m: Tree, position: ArrayLike) -> tuple[Array, NDArray[np.object_]]:
    """Return whole configurations whose tip is at positions (B, 2) or (B, 3), and why not (B,).

    Newton's method on all coordinates from `start`, closures and place of the tip together.
    """
    k = 2 if m.form.planar else 3
    if len(m.driven) != k:
        motors = "1 motor" if len(m.driven) == 1 else f"{len(m.driven)} motors"
        raise SuppleError(
            f"position has {k} coordinates and {m.form.name} {motors}: position is for "
            "mechanisms that have as many motors; give theta"
        )
    try:
        P = np.atleast_2d(np.asarray(position, float))
    except (TypeError, ValueError):
        P = np.empty((0, 0))
    has_shape = P.ndim == 2 and P.shape[1] in (k, 3)
    leaves_plane = has_shape and k == 2 and P.shape[1] == 3 and P[:, 2].any()
    if not has_shape or leaves_plane:
        raise SuppleError(f"position must be {k} numbers of the tip, or an array (B, {k})")
    P = P[:, :k]
    reason = np.full(len(P), "", object)
    reason[~np.isfinite(P).all(axis=1)] = "position holds a value that is not finite: give numbers"
    x = np.repeat(m.start[None], len(P), axis=0)
    good = np.flatnonzero(reason == "")
    x[good], distance = configurations_of_tip(m, P[good], None, m.start)
    missed = distance > 1e3 * SHUT * m.size
    for b in good[missed]:
        reason[b] = f"position {P[b].tolist()} is out of reach of {m.form.name}: try one nearer"
    good = good[~missed]
    if len(good):
        x[good] = newton(m, x[good])[0]
        reason[good] = refusal_reasons(m, x[good])
    return x, reason


def configurations_of_tip(m: Tree, P: Array, R: Array | None, start: Array) -> tuple[Array, Array]:
    """Return whole configurations whose tip is at P (B, 2 or 3), turned as R (B, 3, 3), if given.

    Newton's method on all coordinates from a whole configuration, closures and tip together, the
    shortest step where there are more motors than needed. Also returns by how far the tip missed,
    (B,), m.
    """
    first = solve_closures(m, start[None])[0] if m.loops else start[None]
    x = np.repeat(first, len(P), axis=0)
    last_size = np.full(len(P), np.inf)
    active = np.arange(len(P))  # configurations still iterated, each on its own as in `newton`
    for _ in range(60):
        g, J = _with_tip(m, x[active], P[active], None if R is None else R[active])
        size = np.abs(g).max(axis=1, initial=0.0)
        stopped_falling = (size >= 0.5 * last_size[active]) | (size <= 1e-15)
        settled = (size <= SHUT) & stopped_falling
        last_size[active] = size

        step = -np.einsum("bzr,br->bz", np.linalg.pinv(J, rcond=1e-8), g)
        step /= np.maximum(np.abs(step).max(axis=1, keepdims=True) / MAX_STEP, 1.0)
        active = active[~settled]
        x[active] += step[~settled]
        if not len(active):
            break
    residual, _ = _with_tip(m, x, P, R)
    return x, np.abs(residual).max(axis=1, initial=0.0) * m.size


def configurations_of_tip_motion(
    m: Tree, near: Array, place: Array, rate: Array, second: Array
) -> tuple[Array, ...]:
    """Return whole configurations x, x', x'' (B, ..) of a motion of the tip, (B, 2 or 3) each.

    Newton's method from `near` (B, ..); rows of closures and tip, r(x) = [g, p(x) - P] = 0, give
    J x' = [0, P'] and J x'' = [0, P''] - (dJ/dt) x', the last by differences of fourth order.
    """
    x = near.copy()
    residual_size = np.inf
    for _ in range(20):
        residual, J = _with_tip(m, x, place, None)
        x = x - np.einsum("bzr,br->bz", np.linalg.pinv(J, rcond=1e-10), residual)
        last_size = residual_size
        residual_size = float(np.abs(residual).max(initial=0.0))
        if residual_size <= SHUT and residual_size >= last_size / 2:
            break

    def jacobian(at: Array) -> Array:
        return _with_tip(m, at, place, None)[1]

    J = jacobian(x)
    J_inverse = np.linalg.pinv(J, rcond=1e-10)
    tip_rows = slice(-place.shape[1], None)

    rows = np.zeros(J.shape[:2])
    rows[:, tip_rows] = rate / m.size
    xd = np.einsum("bzr,br->bz", J_inverse, rows)

    # dJ/dt, by a step so short that no motor turns by more than DIFFERENCE_STEP
    h = DIFFERENCE_STEP / np.maximum(np.abs(xd).max(axis=1), 1e-30)[:, None]
    inner_difference = jacobian(x + h * xd) - jacobian(x - h * xd)
    outer_difference = jacobian(x + 2 * h * xd) - jacobian(x - 2 * h * xd)
    J_rate = (8 * inner_difference - outer_difference) / (12 * h[..., None])

    rows = np.zeros(J.shape[:2])
    rows[:, tip_rows] = second / m.size
    xdd = np.einsum("bzr,br->bz", J_inverse, rows - np.einsum("brz,bz->br", J_rate, xd))
    return x, np.asarray(xd), np.asarray(xdd)


def _with_tip(m: Tree, x: Array, P: Array, R: Array | None) -> tuple[Array, Array]:
    """Residuals of the closures and of the tip's pose, (B, rows), with their derivatives.

    The pose is a closure of the tip with the base, at P and, if given, turned as R.
    """
    g, J = m.openings(x)
    n = len(m.joints.coordinates)
    tip = m.form.tip_index
    k = P.shape[1]
    moved = place_links(m, x)
    tip_axes, tip_place = moved.frame(tip, None, np.eye(3), np.zeros(3))
    turn: Turn
    if R is None:
        turn = "none"
        turning_axes = np.zeros((3, 0))
    else:
        turn = "fixed"
        turning_axes = np.eye(3)[:, 2:] if m.form.planar else np.eye(3)
    zero = np.zeros(3)
    pose = Loop(
        name="tip",
        ends=(-1, tip),
        at=(None, None),
        R=np.zeros((2, 3, 3)),
        p=np.zeros((2, 3)),
        E=np.eye(3)[:, :k],
        turn=turn,
        T=turning_axes,
        a=zero,
        b=zero,
        rod=False,
        length=None,
        motor=False,
    )
    axes = np.broadcast_to(np.eye(3), (len(x), 3, 3)) if R is None else R
    place = np.concatenate([P, np.zeros((len(P), 3 - k))], axis=1)
    opened = pose.opening(axes, place, tip_axes, tip_place)
    rows = np.zeros((len(x), pose.rows, x.shape[1]))
    rows[:, :, :n] = opened.G_b @ moved.jacobian(tip, None, tip_place)
    scale = np.where(np.arange(pose.rows) < k, m.size, 1.0)
    return (
        np.concatenate([g, opened.g / scale], axis=1),
        np.concatenate([J, rows / scale[:, None]], axis=1),
    )
