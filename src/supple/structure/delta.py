"""A Delta at its positions as a Structure: three legs from the ground, a free platform, closures.

Each leg hangs from the ground by its motor: upper arm, joint B, lower rod. The platform is a rigid
body let go in all six directions. The joints at D close the loops: what the joint carries is what
rod and platform share.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import delta
from ..architectures.delta_motion import motion, moving_links
from ..architectures.frames import Frames
from ..beams.theory import AnyBeam, Beam
from ..beams.varying import beam_of
from ..errors import SuppleError
from ..kernels.jets import Jet, concatenate, cross, jet_of, rotation_jet
from ..kernels.spatial import axis_rotation, body_mass, cross_matrix, turn
from ..robot import DeltaRobot, Elastic
from .moving import MovingClosure, MovingStructure
from .parts import Closure, Joints, Release, Segment, Structure
from .supports import sprung

__all__ = ["delta_structure", "moving_delta"]

Array = NDArray[np.float64]
ROTATION = np.eye(6)[3:]


def delta_structure(robot: DeltaRobot, position: ArrayLike | None, joints: Joints) -> Structure:
    """Return the Delta with its platform at (3,) or (B, 3) positions."""
    if position is None:
        raise SuppleError(f"position is missing: say where the platform of {robot.name} is")
    at = delta.place(robot, position)
    upper, lower = beam_of(robot, robot.upper), beam_of(robot, robot.lower)
    segments, R, p, closures = [], [], [], []
    for leg in range(3):
        name = leg + 1
        # What the motor's bearing lets go: springs in leg axes, releases in the arm's
        into_arm = np.swapaxes(at.R_upper[:, leg], 1, 2) @ at.R_leg[leg]
        bearing = sprung(robot.motor.bearing, False, into_arm)
        # The motor turns the upper arm about the leg's y: clamped, sprung, or let go
        k, J, about = robot.motor.stiffness, robot.motor.reflected_inertia, ROTATION[1]
        if joints == "locked":
            motor = () if k is None else (Release(about, k),)
        elif k is None or J == 0:
            motor = (Release(about, 0.0, J if k is None else 0.0),)
        else:
            motor = (Release(about, k, J, series=True),)
        releases = motor + bearing
        segments.append(_segment(f"upper{name}", -1, upper, releases, robot.upper))
        R.append(at.R_upper[:, leg])
        p.append(at.A[:, leg])
        elbow = len(segments) - 1
        for tag, side in _sides(robot):
            releases = _elbow(robot, at, leg)
            segments.append(_segment(f"lower{name}{tag}", elbow, lower, releases, robot.lower))
            R.append(at.R_lower[:, leg])
            p.append(at.B[:, leg] + side * at.R_leg[leg, :, 1])
            rows_a, rows_b = _wrist(robot, leg, side, at.R_lower[:, leg])
            rows_b = np.broadcast_to(rows_b, rows_a.shape)
            closures.append(Closure(len(segments) - 1, -1, rows_a, rows_b))
    free = tuple(Release(direction) for direction in np.eye(6))
    bodies = [robot.platform.body] + ([robot.payload] if robot.payload is not None else [])
    masses = [body_mass(b.mass, b.com, b.tensor()) for b in bodies]
    total: Array = np.sum(masses, axis=0)
    segments.append(Segment("platform", -1, Beam(0.0, 0.0), free, np.eye(3), total))
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


def moving_delta(
    robot: DeltaRobot,
    position: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    joints: Joints = "locked",
) -> MovingStructure:
    """Return the Delta at the instants of a motion of its platform, (B, 3) each."""
    moved = motion(robot, position, velocity, acceleration)
    structure = delta_structure(robot, moved.at.position, joints)
    upper, lower = moving_links(robot, moved)
    rods = len(_sides(robot))
    B, zero = structure.size, np.zeros((structure.size, 1, 3))
    order = [(kind, leg) for leg in range(3) for kind in (upper, *(lower,) * rods)]
    w, dw, v, a = (
        [getattr(kind, key)[:, leg, None] for kind, leg in order] for key in ("w", "dw", "v", "a")
    )
    frames = Frames(
        structure.R,
        structure.p,
        np.concatenate([*w, zero], axis=1),
        np.concatenate([*dw, zero], axis=1),
        np.concatenate([*v, moved.velocity[:, None]], axis=1),
        np.concatenate([*a, moved.acceleration[:, None]], axis=1),
    )
    turning = [rotation_jet(lower.R[:, i], lower.w[:, i], lower.dw[:, i]) for i in range(3)]
    places = [(leg, side) for leg in range(3) for _, side in _sides(robot)]
    closures = []
    for c, (leg, side) in zip(structure.closures, places, strict=True):
        one, two = _wrist(robot, leg, side, turning[leg])
        pins = None
        if robot.lower.rods == "single":
            tangent = np.broadcast_to(delta.leg_axes(robot)[leg, :, 1], (B, 3))
            pins = (lower.R[:, leg, :, 2], tangent)
        full = jet_of(two).map(lambda part: np.broadcast_to(part, (B, *part.shape[1:])))
        rows = (jet_of(one), full)
        closures.append(MovingClosure(c.a, c.b, *rows, _anchor(robot, leg, side), pins))
    return MovingStructure(structure, frames, tuple(closures))


def _anchor(robot: DeltaRobot, leg: int, side: float) -> Array:
    """D seen from the platform's centre, (3,)."""
    axes = delta.leg_axes(robot)[leg]
    return np.asarray(robot.platform.radius * axes[:, 0] + side * axes[:, 1])


def _segment(
    name: str, parent: int, beam: AnyBeam, releases: tuple[Release, ...], link: Elastic
) -> Segment:
    R_LS = axis_rotation((1, 0, 0), link.roll)
    turned = []
    for r in releases:
        direction = r.toward(slice(None))
        turned.append(
            Release(
                np.concatenate([direction[..., :3] @ R_LS, direction[..., 3:] @ R_LS], axis=-1),
                r.stiffness,
                r.inertia,
                r.series,
            )
        )
    tip = link.tip
    mass = body_mass(tip.mass, tip.com, tip.tensor()) if tip is not None else np.zeros((6, 6))
    return Segment(name, parent, beam, tuple(turned), R_LS, turn(mass, R_LS))


def _sides(robot: DeltaRobot) -> tuple[tuple[str, float], ...]:
    """Rods of a leg and where they stand along the leg's y."""
    if robot.lower.rods != "parallelogram":
        return (("", 0.0),)
    half = (robot.lower.spacing or 0.0) / 2
    return (("a", -half), ("b", half))


def _elbow(robot: DeltaRobot, at: delta.DeltaPlacement, leg: int) -> tuple[Release, ...]:
    """What joint B lets go, rod axes: a universal joint about the arm's y and the rod's z.

    A rod on two spherical joints would spin freely about itself; here it spins as on a universal
    joint, as its frame does in the rigid motion.
    """
    if robot.lower.rods == "twist":
        return (Release(ROTATION[1]), Release(ROTATION[2]))
    arm_y = np.einsum("bji,j->bi", at.R_lower[:, leg], at.R_leg[leg, :, 1])
    return (Release(np.concatenate([np.zeros_like(arm_y), arm_y], axis=-1)), Release(ROTATION[2]))


def _wrist(robot: DeltaRobot, leg: int, side: float, R: Array | Jet) -> tuple[Any, Any]:
    """Rows that hold a rod's end to the platform at D: place, and the rotation the joint carries.

    R (B, 3, 3), link axes of the rod in base axes, as places or in motion.
    single: about tangent x rod z (a universal joint).  twist: about the rod itself.
    parallelogram: none (spherical joints).
    """
    axes, zero = delta.leg_axes(robot)[leg], np.zeros((1, 3, 3))
    rows_a = concatenate([R, zero], -1)
    rows_b = np.concatenate([-np.eye(3), cross_matrix(_anchor(robot, leg, side))], axis=1)[None]
    if robot.lower.rods == "parallelogram":
        return _rolled(rows_a, robot), rows_b
    carried = R[:, :, 0] if robot.lower.rods == "twist" else cross(axes[:, 1], R[:, :, 2])
    row = carried[:, None, :]
    about_a = concatenate([zero[:, :1], row @ R], -1)
    about_b = concatenate([zero[:, :1], -row], -1)
    return (
        _rolled(concatenate([rows_a, about_a], -2), robot),
        concatenate([rows_b, about_b], -2),
    )


def _rolled(rows: Any, robot: DeltaRobot) -> Any:
    """Rows over motions in rod axes, as rows over motions in section axes."""
    if not robot.lower.roll:
        return rows
    return rows @ np.kron(np.eye(2), axis_rotation((1, 0, 0), robot.lower.roll))
