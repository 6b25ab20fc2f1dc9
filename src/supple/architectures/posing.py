"""Poses of a mechanism's tip: configurations that put it somewhere.

Newton's method on all coordinates, closures and place of the tip together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from .assembling import newton, refusal_reasons, solve_closures
from .closing import Loop
from .tree import SHUT, Tree, place_links

__all__ = ["configurations_of_tip", "configurations_of_tip_motion", "inverse"]

Array = NDArray[np.float64]
STEP = 1e-3  # rad or m, of differences along a motion
LEAP = 0.5  # largest step of Newton's method: radians, or parts of the mechanism's size


def inverse(m: Tree, position: ArrayLike) -> tuple[Array, NDArray[np.object_]]:
    """Return whole configurations whose tip is at positions (B, 2) or (B, 3), and why not (B,).

    Newton's method on all coordinates from `start`, closures and place of the tip together.
    """
    k = 2 if m.form.planar else 3
    if len(m.driven) != k:
        raise SuppleError(
            f"position has {k} coordinates and {m.form.name} {len(m.driven)} "
            f"motor{'' if len(m.driven) == 1 else 's'}: position is for "
            "mechanisms that have as many motors; give theta"
        )
    try:
        P = np.atleast_2d(np.asarray(position, float))
    except (TypeError, ValueError):
        P = np.empty((0, 0))
    if P.ndim != 2 or P.shape[1] not in (k, 3) or (P.shape[1] == 3 and k == 2 and P[:, 2].any()):
        raise SuppleError(f"position must be {k} numbers of the tip, or an array (B, {k})")
    P = P[:, :k]
    reason = np.full(len(P), "", object)
    reason[~np.isfinite(P).all(axis=1)] = "position holds a value that is not finite: give numbers"
    x = np.repeat(m.start[None], len(P), axis=0)
    good = np.flatnonzero(reason == "")
    x[good], far = configurations_of_tip(m, P[good], None, m.start)
    for b in good[far > 1e3 * SHUT * m.size]:
        reason[b] = f"position {P[b].tolist()} is out of reach of {m.form.name}: try one nearer"
    good = good[far <= 1e3 * SHUT * m.size]
    if len(good):
        x[good] = newton(m, x[good])[0]
        reason[good] = refusal_reasons(m, x[good])
    return x, reason


def configurations_of_tip(m: Tree, P: Array, R: Array | None, start: Array) -> tuple[Array, Array]:
    """Return whole configurations whose tip is at P (B, 2 or 3), turned as R (B, 3, 3), if given.

    Newton's method on all coordinates from a whole configuration, closures and tip together, the
    shortest step where there are more motors than needed; and how far it missed, (B,), m.
    """
    x = np.repeat(solve_closures(m, start[None])[0] if m.loops else start[None], len(P), axis=0)
    last, active = np.full(len(P), np.inf), np.arange(len(P))  # each by itself, as in `newton`
    for _ in range(60):
        g, J = _with_tip(m, x[active], P[active], None if R is None else R[active])
        size = np.abs(g).max(axis=1, initial=0.0)
        settled = (size <= SHUT) & ((size >= 0.5 * last[active]) | (size <= 1e-15))
        last[active] = size
        step = -np.einsum("bzr,br->bz", np.linalg.pinv(J, rcond=1e-8), g)
        step /= np.maximum(np.abs(step).max(axis=1, keepdims=True) / LEAP, 1.0)
        x[active[~settled]] += step[~settled]
        active = active[~settled]
        if not len(active):
            break
    return x, np.abs(_with_tip(m, x, P, R)[0]).max(axis=1, initial=0.0) * m.size


def configurations_of_tip_motion(
    m: Tree, near: Array, place: Array, rate: Array, second: Array
) -> tuple[Array, ...]:
    """Return whole configurations x, x', x'' (B, ..) whose tip moves as asked, (B, 2 or 3) each.

    Newton's method from `near` (B, ..); rows of closures and tip, r(x) = [g, p(x) - P] = 0, give
    J x' = [0, P'] and J x'' = [0, P''] - (dJ/dt) x', the last by differences of fourth order.
    """
    x, missed = near.copy(), np.inf
    for _ in range(20):
        r, J = _with_tip(m, x, place, None)
        x = x - np.einsum("bzr,br->bz", np.linalg.pinv(J, rcond=1e-10), r)
        last, missed = missed, float(np.abs(r).max(initial=0.0))
        if missed <= SHUT and missed >= last / 2:
            break
    J = _with_tip(m, x, place, None)[1]
    back, k = np.linalg.pinv(J, rcond=1e-10), place.shape[1]

    def solved(asked: Array, drift: Array | float) -> Array:
        rows = np.zeros(J.shape[:2])
        rows[:, -k:] = asked / m.size
        return np.asarray(np.einsum("bzr,br->bz", back, rows - drift))

    xd = solved(rate, 0.0)
    # a step so short that a motor turns by STEP at most
    h = STEP / np.maximum(np.abs(xd).max(axis=1), 1e-30)[:, None]
    one, two = (
        _with_tip(m, x + s * h * xd, place, None)[1] - _with_tip(m, x - s * h * xd, place, None)[1]
        for s in (1, 2)
    )
    slope = (8 * one - two) / (12 * h[..., None])
    return x, xd, solved(second, np.einsum("brz,bz->br", slope, xd))


def _with_tip(m: Tree, x: Array, P: Array, R: Array | None) -> tuple[Array, Array]:
    """Openings of the closures, and how far the tip is from P and R, with their derivatives."""
    g, J = m.openings(x)
    n, tip, k = len(m.joints.coordinates), m.form.tip_index, P.shape[1]
    moved = place_links(m, x)
    axes, at = moved.frame(tip, None, np.eye(3), np.zeros(3))
    tied = np.eye(3)[:, 2:] if m.form.planar else np.eye(3)
    none, zero = np.zeros((3, 0)), np.zeros(3)
    pose = Loop(
        "tip",
        (-1, tip),
        (None, None),
        np.zeros((2, 3, 3)),
        np.zeros((2, 3)),
        np.eye(3)[:, :k],
        "none" if R is None else "fixed",
        none if R is None else tied,
        zero,
        zero,
        False,
        None,
        False,
    )
    turned = np.broadcast_to(np.eye(3), (len(x), 3, 3)) if R is None else R
    place = np.concatenate([P, np.zeros((len(P), 3 - k))], axis=1)
    base = np.broadcast_to(np.eye(3), (len(x), 3, 3))
    near = pose.opening(base if R is None else turned, place, axes, at)
    rows = np.zeros((len(x), pose.rows, x.shape[1]))
    rows[:, :, :n] = near.G_b @ moved.jacobian(tip, None, at)
    scale = np.where(np.arange(pose.rows) < k, m.size, 1.0)
    return (
        np.concatenate([g, near.g / scale], axis=1),
        np.concatenate([J, rows / scale[:, None]], axis=1),
    )
