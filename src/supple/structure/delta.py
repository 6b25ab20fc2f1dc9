"""A Delta at its positions as a Structure: three legs from the ground, a free platform, closures.

Each leg hangs from the ground by its motor: upper arm, joint B, lower rod. The platform is a rigid
body let go in all six directions. The joints at D close the loops: what the joint carries is what
rod and platform share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import delta
from ..beams.theory import Beam, beam_of
from ..kernels.spatial import axis_rotation, body_mass, cross_matrix, turn
from ..robot import DeltaRobot, Elastic
from .parts import Closure, Joints, Release, Segment, Structure

__all__ = ["delta_structure"]

Array = NDArray[np.float64]
ROTATION = np.eye(6)[3:]


def delta_structure(robot: DeltaRobot, position: ArrayLike, joints: Joints) -> Structure:
    """Return the Delta with its platform at (3,) or (B, 3) positions."""
    at = delta.place(robot, position)
    upper, lower = beam_of(robot, robot.upper), beam_of(robot, robot.lower)
    segments, R, p, closures = [], [], [], []
    for leg in range(3):
        name = leg + 1
        releases = _motor(robot, joints)
        segments.append(_segment(f"upper{name}", -1, upper, releases, robot.upper))
        R.append(at.R_upper[:, leg])
        p.append(at.A[:, leg])
        elbow = len(segments) - 1
        for tag, side in _sides(robot):
            releases = _elbow(robot, at, leg)
            segments.append(_segment(f"lower{name}{tag}", elbow, lower, releases, robot.lower))
            R.append(at.R_lower[:, leg])
            p.append(at.B[:, leg] + side * at.R_leg[leg, :, 1])
            closures.append(_wrist(robot, at, leg, side, len(segments) - 1))
    free = tuple(Release(direction) for direction in np.eye(6))
    segments.append(Segment("platform", -1, Beam(0.0, 0.0), free, np.eye(3), _platform_mass(robot)))
    R.append(np.broadcast_to(np.eye(3), at.R_upper[:, 0].shape))
    p.append(at.position)
    closures = [Closure(c.a, len(segments) - 1, c.rows_a, c.rows_b) for c in closures]
    axes = [r @ s.R_LS for r, s in zip(R, segments, strict=True)]
    L = np.array([s.beam.L for s in segments])
    return Structure(
        tuple(segments),
        np.stack(axes, axis=1),
        np.stack(p, axis=1),
        np.broadcast_to(L, (len(at.position), len(segments))),
        np.zeros((1, len(segments), 6, 6)),
        gravity=robot.gravity,
        closures=tuple(closures),
    )


def _segment(
    name: str, parent: int, beam: Beam, releases: tuple[Release, ...], link: Elastic
) -> Segment:
    R_LS = axis_rotation((1, 0, 0), link.roll)
    turned = tuple(
        Release(_turned(r.toward(slice(None)), R_LS), r.stiffness, r.inertia, r.series)
        for r in releases
    )
    tip = link.tip
    mass = body_mass(tip.mass, tip.com, tip.tensor()) if tip is not None else np.zeros((6, 6))
    return Segment(name, parent, beam, turned, R_LS, turn(mass, R_LS))


def _turned(direction: Array, R_LS: Array) -> Array:
    return np.concatenate([direction[..., :3] @ R_LS, direction[..., 3:] @ R_LS], axis=-1)


def _motor(robot: DeltaRobot, joints: Joints) -> tuple[Release, ...]:
    """The motor turns the upper arm about the leg's y: clamped, sprung, or let go."""
    k, J, about = robot.motor.stiffness, robot.motor.rotor_inertia, ROTATION[1]
    if joints == "locked":
        return () if k is None else (Release(about, k),)
    if k is None or J == 0:
        return (Release(about, 0.0, J if k is None else 0.0),)
    return (Release(about, k, J, series=True),)


def _sides(robot: DeltaRobot) -> tuple[tuple[str, float], ...]:
    """Rods of a leg and where they stand along the leg's y."""
    if robot.lower.rods != "parallelogram":
        return (("", 0.0),)
    half = (robot.lower.spacing or 0.0) / 2
    return (("a", -half), ("b", half))


def _elbow(robot: DeltaRobot, at: delta.DeltaPlacement, leg: int) -> tuple[Release, ...]:
    """What joint B lets go, rod axes: a universal joint about the arm's y and the rod's z.

    A rod on two spherical joints would spin freely about itself; its spin is locked here.
    """
    if robot.lower.rods != "single":
        return (Release(ROTATION[1]), Release(ROTATION[2]))
    arm_y = np.einsum("bji,j->bi", at.R_lower[:, leg], at.R_leg[leg, :, 1])
    return (Release(np.concatenate([np.zeros_like(arm_y), arm_y], axis=-1)), Release(ROTATION[2]))


def _wrist(robot: DeltaRobot, at: delta.DeltaPlacement, leg: int, side: float, rod: int) -> Closure:
    """Rows that hold the rod's end to the platform at D: place, and the rotation the joint carries.

    single: about tangent x rod z (a universal joint).  twist: about the rod itself.
    parallelogram: none (spherical joints).
    """
    R = at.R_lower[:, leg]
    offset = robot.platform.radius * at.R_leg[leg, :, 0] + side * at.R_leg[leg, :, 1]
    B = len(R)
    rows_a, rows_b = np.zeros((B, 3, 6)), np.zeros((B, 3, 6))
    rows_a[:, :, :3] = R
    rows_b[:, :, :3] = -np.eye(3)
    rows_b[:, :, 3:] = cross_matrix(offset)
    if robot.lower.rods == "parallelogram":
        return Closure(rod, -1, _rolled(rows_a, robot), rows_b)
    carried = (
        R[:, :, 0] if robot.lower.rods == "twist" else np.cross(at.R_leg[leg, :, 1], R[:, :, 2])
    )
    about_a, about_b = np.zeros((B, 1, 6)), np.zeros((B, 1, 6))
    about_a[:, 0, 3:] = np.einsum("bji,bj->bi", R, carried)
    about_b[:, 0, 3:] = -carried
    return Closure(
        rod,
        -1,
        _rolled(np.concatenate([rows_a, about_a], axis=1), robot),
        np.concatenate([rows_b, about_b], axis=1),
    )


def _rolled(rows: Array, robot: DeltaRobot) -> Array:
    """Rows over motions in rod axes, as rows over motions in section axes."""
    return _turned(rows, axis_rotation((1, 0, 0), robot.lower.roll))


def _platform_mass(robot: DeltaRobot) -> Array:
    bodies = [robot.platform.body] + ([robot.payload] if robot.payload is not None else [])
    masses = [body_mass(b.mass, b.com, b.tensor()) for b in bodies]
    total: Array = np.sum(masses, axis=0)
    return total
