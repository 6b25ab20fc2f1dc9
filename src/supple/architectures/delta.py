"""Geometry of the Delta: three legs from the base to the platform, z down, closed forms.

In the axes of leg i (turned by its angle about z), with r = r_A - r_B:
    upper arm  R_y(phi1) from A = (r_A, 0, 0);  lower rod  R_y(phi1 + phi2) R_z(phi3) from its end B
    to D = P + (r_B, 0, 0), so that
    X = r + L1 cos(phi1) + L2 cos(phi12) cos(phi3),  Y = L2 sin(phi3),
    Z = -L1 sin(phi1) - L2 sin(phi12) cos(phi3).
Source: [Kuo2016], Eq. (4); its third row is missing and is derived here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..kernels.spatial import axis_rotation
from ..robot import DeltaRobot, cached_for_robot
from .base import SINGULAR, clearance

__all__ = [
    "DeltaPlacement",
    "check_regular",
    "direct",
    "inverse",
    "place",
    "reachable",
    "resolve",
    "rods_clearance",
    "singularity",
]

Array = NDArray[np.float64]
Reasons = NDArray[np.object_]
Elbow = Literal["out", "in", "all"]
ONE_LINE = 1e-6  # area between three points, beside the rod's square, at which they lie on one line


@dataclass(frozen=True)
class DeltaPlacement:
    """The undeformed Delta at B positions; the second axis of every array is the leg.

    Attributes
    ----------
    position
        (B, 3), platform centre.
    phi
        (B, 3, 3), phi1, phi2, phi3 of each leg.
    R_leg
        (3, 3, 3), leg axes in base axes.
    R_upper, R_lower
        (B, 3, 3, 3), link axes in base axes.
    A, B
        (B, 3, 3), hips and elbows, base axes.
    """

    position: Array
    phi: Array
    R_leg: Array
    R_upper: Array
    R_lower: Array
    A: Array
    B: Array


def inverse(robot: DeltaRobot, position: ArrayLike, elbow: Elbow = "out") -> Array:
    """Return phi1, phi2, phi3 of the three legs, (B, 3, 3), for platform positions (B, 3).

    With d = (X - r, Y, Z) and K = (|d|^2 + L1^2 - L2^2) / 2 L1, phi1 solves
    d_x cos(phi1) - d_z sin(phi1) = K; of the two solutions the elbow that points outward is usual.
    "all" returns (B, 8, 3, 3): out or in leg by leg, the usual one first.
    Source: [Kuo2016], Eqs. (7), (8) with the signs of n corrected.
    """
    if elbow not in get_args(Elbow):
        raise SuppleError(f"elbow is '{elbow}': it must be one of {', '.join(get_args(Elbow))}")
    P = positions(position)
    d = _from_hips(robot, P)
    out = ~_in_reach(robot, d)
    if out.any():
        raise SuppleError(_too_far(robot, P, out))
    L1, L2 = _lengths(robot)
    dx, _, dz = np.moveaxis(d, -1, 0)
    K = ((d**2).sum(axis=-1) + L1**2 - L2**2) / (2 * L1)
    middle = -np.arctan2(dz, dx)
    spread = np.arccos(K / np.hypot(dx, dz))
    plus = np.cos(middle + spread) >= np.cos(middle - spread)
    both = []
    legs = range(3)
    for outward in (True, False):
        phi1 = middle + np.where(plus == outward, spread, -spread)
        both.append(_remaining(robot, d, (phi1 + np.pi) % (2 * np.pi) - np.pi))
    if elbow != "all":
        return both[0] if elbow == "out" else both[1]
    each = [
        [both[k][:, i] for i, k in zip(legs, way, strict=True)] for way in product((0, 1), repeat=3)
    ]
    return np.stack([np.stack(way, axis=1) for way in each], axis=1)


def positions(
    given: ArrayLike | None,
    wanted: str = "position must be three finite numbers x, y, z, or an array (B, 3)",
    finite: bool = True,
) -> Array:
    """Return platform positions, or motor angles, as a (B, 3) array, checked."""
    try:
        table = np.atleast_2d(np.asarray(given, float))
    except (TypeError, ValueError):
        raise SuppleError(wanted) from None
    if table.ndim != 2 or table.shape[1] != 3 or (finite and not np.isfinite(table).all()):
        raise SuppleError(wanted)
    return table


def _lengths(robot: DeltaRobot) -> tuple[float, float]:
    return robot.upper.length or 0.0, robot.lower.length or 0.0


def leg_axes(robot: DeltaRobot) -> Array:
    """Return the axes of the three legs in base axes, (3, 3, 3): x outward, y tangent, z down."""
    angles = np.asarray(robot.angles)
    return cached_for_robot(robot, "leg axes", axis_rotation, (0, 0, 1), angles)


def _from_hips(robot: DeltaRobot, P: Array) -> Array:
    """d (B, 3 legs, 3), leg axes: the wrist D seen from the hip A."""
    d: Array = np.einsum("lij,bi->blj", leg_axes(robot), P)
    d[..., 0] -= robot.base_radius - robot.platform.radius
    return d


def _in_reach(robot: DeltaRobot, d: Array) -> NDArray[np.bool_]:
    """(B, 3): whether arm and rod can meet."""
    L1, L2 = _lengths(robot)
    reach = np.hypot(d[..., 0], d[..., 2])
    K = ((d**2).sum(axis=-1) + L1**2 - L2**2) / (2 * L1)
    inside: NDArray[np.bool_] = (np.abs(K) <= reach) & (np.abs(d[..., 1]) <= L2)
    return inside


def _too_far(robot: DeltaRobot, P: Array, out: NDArray[np.bool_]) -> str:
    b = int(np.flatnonzero(out.any(axis=1))[0])
    legs = ", ".join(str(i + 1) for i in np.flatnonzero(out[b]))
    L1, L2 = _lengths(robot)
    others = f" ({int(out.any(axis=1).sum())} of {len(P)} points are)" if len(P) > 1 else ""
    return (
        f"position {P[b].tolist()} is out of reach of leg {legs}{others}: wrist and hip must be "
        f"between {abs(L1 - L2):g} and {L1 + L2:g} m apart, and the rod's end within {L2:g} m of "
        "the arm's plane; try a point nearer to the middle of the workspace"
    )


def _remaining(robot: DeltaRobot, d: Array, phi1: Array) -> Array:
    """phi1, phi2, phi3 (B, 3, 3) at motor angles phi1 (B, 3) that reach the wrists d."""
    L1, L2 = _lengths(robot)
    dx, dy, dz = np.moveaxis(d, -1, 0)
    phi3 = np.arcsin(np.clip(dy / L2, -1, 1))
    phi12 = np.arctan2(-(dz + L1 * np.sin(phi1)), dx - L1 * np.cos(phi1))
    return np.stack([phi1, phi12 - phi1, phi3], axis=-1)


def direct(robot: DeltaRobot, theta: ArrayLike, which: Literal["usual", "all"] = "usual") -> Array:
    """Return platform positions (B, 3) for motor angles phi1 of the legs, (3,) or (B, 3).

    P is at L2 from the three points C_i = B_i - r_B e_i: on the line through the centre of their
    circle along its axis, at the height sqrt(L2^2 - R^2). Of the two solutions the lower one
    (larger z) is usual; "all" returns (B, 2, 3), the usual one first.
    Source: [Kuo2016], Eqs. (5), (6); their intersection is derived here.
    """
    wanted = "theta of a Delta must be three finite motor angles, or an array (B, 3)"
    both, reason = _platform_positions(robot, positions(theta, wanted))
    for sentence in reason[reason != ""][:1]:
        raise SuppleError(sentence)
    return both[:, 0] if which == "usual" else both


def _platform_positions(robot: DeltaRobot, given: Array) -> tuple[Array, Reasons]:
    """Both platform positions (B, 2, 3) at motor angles (B, 3), and why there are none (B,)."""
    # C (B, 3, 3), base axes: elbows moved inward by r_B, [Kuo2016], Eq. (6)
    (L1, L2), axes = _lengths(robot), leg_axes(robot)
    out = robot.base_radius - robot.platform.radius + L1 * np.cos(given)
    C = out[..., None] * axes[:, :, 0] - (L1 * np.sin(given))[..., None] * axes[:, :, 2]
    a = C[:, 1] - C[:, 0]
    b = C[:, 2] - C[:, 0]
    n = np.cross(a, b)
    area = np.linalg.norm(n, axis=-1)
    reason = np.full(len(given), "", object)
    for k in np.flatnonzero(area < ONE_LINE * L2**2):
        reason[k] = (
            f"theta {given[k].tolist()} is singular: the three rods hang from one line, so the "
            "platform may swing about it; try other motor angles"
        )
    a2 = (a * a).sum(-1, keepdims=True)
    b2 = (b * b).sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.cross(a2 * b - b2 * a, n) / (2 * area**2)[:, None]
        height2 = L2**2 - (middle**2).sum(-1)
        for k in np.flatnonzero((height2 < 0) & (reason == "")):
            reason[k] = (
                f"theta {given[k].tolist()} cannot be assembled: the elbows are so far apart that "
                f"rods of {L2:g} m do not meet at the platform; try angles nearer to each other"
            )
        up = n / area[:, None]
        down = np.where(up[:, 2:] >= 0, up, -up) * np.sqrt(height2)[:, None]
    centre = C[:, 0] + middle
    return np.stack([centre + down, centre - down], axis=1), reason


def resolve(
    robot: DeltaRobot, theta: ArrayLike | None = None, position: ArrayLike | None = None
) -> tuple[Array, Reasons]:
    """Return what `place` takes, (B, 6): position and motor angles; and why a pose has none, (B,).

    Motor angles mean the usual platform position of their direct kinematics, and the elbows that
    they were given for; a position means elbows out. The reason of a good pose is empty; a pose
    whose platform the motors cannot hold is not one.
    """
    if theta is not None:
        wanted = (
            "theta of a Delta must be three motor angles, or an array (B, 3); the place of its "
            "platform is given as position"
        )
        angles = positions(theta, wanted, finite=False)
        reason = _not_finite(angles, "theta")
        good = reason == ""
        P = np.full((len(angles), 3), np.nan)
        both, reason[good] = _platform_positions(robot, angles[good])
        P[good] = both[:, 0]
    else:
        wanted = "position must be three numbers x, y, z, or an array (B, 3)"
        P = positions(position, wanted, finite=False)
        reason = _not_finite(P, "position")
        angles = np.full((len(P), 3), np.nan)
        good = np.flatnonzero(reason == "")
        out = ~_in_reach(robot, _from_hips(robot, P[good]))
        for b, legs in zip(good[out.any(axis=1)], out[out.any(axis=1)], strict=True):
            reason[b] = _too_far(robot, P[b : b + 1], legs[None])
        good = reason == ""
        angles[good] = inverse(robot, P[good])[..., 0] if good.any() else angles[good]
    at = np.concatenate([P, angles], axis=1)
    good = np.flatnonzero(reason == "")
    if len(good):
        for b in good[rods_clearance(robot, at[good]) < SINGULAR]:
            reason[b] = _flat(P[b])
    return at, reason


def _not_finite(table: Array, word: str) -> Reasons:
    reason = np.full(len(table), "", object)
    for b in np.flatnonzero(~np.isfinite(table).all(axis=1)):
        reason[b] = f"{word} {table[b].tolist()} holds a value that is not finite: give numbers"
    return reason


def reachable(robot: DeltaRobot, position: ArrayLike) -> NDArray[np.bool_]:
    """Return whether positions (B, 3) are in the workspace: in reach and within motor limits."""
    P = positions(position)
    inside = np.asarray(_in_reach(robot, _from_hips(robot, P)).all(axis=1))
    if robot.motor.limits is not None and inside.any():
        phi1 = inverse(robot, P[inside])[..., 0]
        low, high = robot.motor.limits
        inside[inside] = ((phi1 >= low) & (phi1 <= high)).all(axis=1)
    return inside


def singularity(robot: DeltaRobot, position: ArrayLike) -> tuple[Array, Array]:
    """Return how far positions are from singular poses: (B, 3) legs, (B,) platform; 0 is singular.

    Leg: sin(phi2) cos(phi3); zero when the leg
    is stretched or folded, so that the motor cannot move the platform along the rod. Platform:
    `rods_clearance`.
    """
    placed = place(robot, position)
    leg = np.sin(placed.phi[..., 1]) * np.cos(placed.phi[..., 2])
    return leg, clearance(placed.R_lower[..., 0])[:, -1]


def rods_clearance(robot: DeltaRobot, at: Array) -> Array:
    """Return the clearance (B,) of the rods' unit vectors, at (B, 6) positions and motor angles.

    It is zero when they lie in one plane, so that the motors cannot hold the platform.
    """
    (L1, L2), rods = _lengths(robot), _from_hips(robot, at[:, :3])
    rods[..., 0] -= L1 * np.cos(at[:, 3:])
    rods[..., 2] += L1 * np.sin(at[:, 3:])
    return clearance(np.einsum("lij,blj->bli", leg_axes(robot), rods / L2))[:, -1]


def check_regular(robot: DeltaRobot, position: ArrayLike) -> None:
    """Raise a sentence if one of the positions is singular."""
    leg, platform = singularity(robot, position)
    P = positions(position)
    for b, i in np.argwhere(np.abs(leg) < SINGULAR)[:1]:
        raise SuppleError(
            f"position {P[b].tolist()} is singular: leg {i + 1} is stretched or folded, its motor "
            "cannot move the platform along the rod; stay clear of the workspace's edge"
        )
    for b in np.flatnonzero(platform < SINGULAR)[:1]:
        raise SuppleError(_flat(P[b]))


def _flat(P: Array) -> str:
    return (
        f"position {P.tolist()} is singular: the three rods lie in one plane or meet in one line, "
        "the motors cannot hold the platform; try a point farther down"
    )


def place(robot: DeltaRobot, at: ArrayLike) -> DeltaPlacement:
    """Return where every part of the Delta is at platform positions (3,) or (B, 3), elbows out.

    With six entries the last three are the motor angles, whose elbows may be in.
    """
    given = np.atleast_2d(np.asarray(at, float))
    if given.ndim == 2 and given.shape[1] == 6:
        P = positions(given[:, :3])
        phi = _remaining(robot, _from_hips(robot, P), given[:, 3:])
    else:
        P = positions(at)
        phi = inverse(robot, P)
    R_leg = leg_axes(robot)
    R_upper = R_leg @ axis_rotation((0, 1, 0), phi[..., 0])
    R_lower = (
        R_leg
        @ axis_rotation((0, 1, 0), phi[..., 0] + phi[..., 1])
        @ axis_rotation((0, 0, 1), phi[..., 2])
    )
    A = np.broadcast_to(robot.base_radius * R_leg[:, :, 0], (len(P), 3, 3))
    B = A + (robot.upper.length or 0.0) * R_upper[..., 0]
    return DeltaPlacement(P, phi, R_leg, R_upper, R_lower, A, B)
