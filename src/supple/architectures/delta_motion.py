"""Motion of the rigid Delta: rates of its angles, Jacobians, and every link as a moving frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..robot import DeltaRobot
from . import delta
from .delta import DeltaPlacement
from .frames import Frames

__all__ = ["DeltaMotion", "jacobian", "motion", "moving_links"]

Array = NDArray[np.float64]
Y = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class DeltaMotion:
    """The rigid Delta in motion at B instants.

    Attributes
    ----------
    at
        Where it is.
    velocity, acceleration
        (B, 3), of the platform.
    phid, phidd
        (B, 3 legs, 3), rates of phi1, phi2, phi3.
    """

    at: DeltaPlacement
    velocity: Array
    acceleration: Array
    phid: Array
    phidd: Array

    @property
    def theta(self) -> tuple[Array, Array, Array]:
        """Motor angles with their velocities and accelerations, (B, 3) each."""
        return self.at.phi[..., 0], self.phid[..., 0], self.phidd[..., 0]


def motion(
    robot: DeltaRobot,
    position: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike | None = None,
) -> DeltaMotion:
    """Return the rates of all angles for a platform that moves, (3,) or (B, 3) each.

    In leg axes, with the rod l = d - e(phi1), e = L1 (cos, 0, -sin), e' and e'' by phi1:
    l.l' = 0 gives phi1' = l.d' / l.e' and phi1'' = (l.d'' - l.e'' phi1'^2 + l'.l') / l.e';
    phi12 = atan2(-l_z, l_x) and sin(phi3) = l_y / L2 follow.
    Source: [Kuo2016], Eq. (5) differentiated (its step 3).
    """
    P = delta.positions(position)
    Pd = _like(P, velocity, "velocity")
    Pdd = _like(P, np.zeros(3) if acceleration is None else acceleration, "acceleration")
    delta.check_regular(robot, P)
    at = delta.place(robot, P)
    d1, d2 = (np.einsum("lij,bi->blj", at.R_leg, value) for value in (Pd, Pdd))
    l = np.einsum("lji,blj->bli", at.R_leg, (robot.lower.length or 0.0) * at.R_lower[..., 0])
    phi1 = at.phi[..., 0]
    L1 = robot.upper.length or 0.0
    zero = np.zeros_like(phi1)
    e1 = L1 * np.stack([-np.sin(phi1), zero, -np.cos(phi1)], axis=-1)
    e2 = L1 * np.stack([-np.cos(phi1), zero, np.sin(phi1)], axis=-1)
    lever = _dot(l, e1)
    phi1d = _dot(l, d1) / lever
    l1 = d1 - e1 * phi1d[..., None]
    phi1dd = (_dot(l, d2) - _dot(l, e2) * phi1d**2 + _dot(l1, l1)) / lever
    l2 = d2 - e1 * phi1dd[..., None] - e2 * (phi1d**2)[..., None]
    # phi12', phi3', phi12'', phi3'' from the rod's vector and its derivatives, leg axes
    rho2 = l[..., 0] ** 2 + l[..., 2] ** 2
    turn = l[..., 2] * l1[..., 0] - l[..., 0] * l1[..., 2]
    grow = l[..., 0] * l1[..., 0] + l[..., 2] * l1[..., 2]
    phi12d = turn / rho2
    phi12dd = (l[..., 2] * l2[..., 0] - l[..., 0] * l2[..., 2]) / rho2 - 2 * turn * grow / rho2**2
    phi3d = l1[..., 1] / np.sqrt(rho2)
    phi3dd = (l2[..., 1] + l[..., 1] * phi3d**2) / np.sqrt(rho2)
    rates = phi12d, phi3d, phi12dd, phi3dd
    return DeltaMotion(
        at,
        Pd,
        Pdd,
        np.stack([phi1d, rates[0] - phi1d, rates[1]], axis=-1),
        np.stack([phi1dd, rates[2] - phi1dd, rates[3]], axis=-1),
    )


def _dot(a: Array, b: Array) -> Array:
    product: Array = (a * b).sum(axis=-1)
    return product


def _like(P: Array, value: ArrayLike, name: str) -> Array:
    given = np.asarray(value, float)
    if given.shape[-1:] != (3,) or not np.isfinite(given).all():
        raise SuppleError(f"{name} must be three finite numbers, or an array (B, 3)")
    try:
        return np.broadcast_to(given, P.shape)
    except ValueError:
        raise SuppleError(f"{name} has shape {given.shape}, position {P.shape}") from None


def jacobian(robot: DeltaRobot, position: ArrayLike) -> Array:
    """Return J (B, 3, 3) with theta' = J P': row i is l_i / (l_i . e_i'), base axes."""
    at = delta.place(robot, position)
    delta.check_regular(robot, position)
    leg, _ = delta.singularity(robot, position)
    rows: Array = at.R_lower[..., 0] / ((robot.upper.length or 0.0) * leg)[..., None]
    return rows


def moving_links(robot: DeltaRobot, moved: DeltaMotion) -> tuple[Frames, Frames]:
    """Return upper arms and lower rods as moving frames, (B, 3 legs, ..), base axes.

    w_upper = phi1' y; w_lower = phi12' y + phi3' R_y(phi12) z, y the leg's tangent.
    """
    at = moved.at
    y = at.R_leg[:, :, 1]
    z = at.R_lower[..., 2]
    phid = moved.phid
    phidd = moved.phidd
    w1 = phid[..., :1] * y
    dw1 = phidd[..., :1] * y
    arm = (robot.upper.length or 0.0) * at.R_upper[..., 0]
    v_B = np.cross(w1, arm)
    a_B = np.cross(dw1, arm) + np.cross(w1, v_B)
    both = (phid[..., :1] + phid[..., 1:2]) * y
    both_d = (phidd[..., :1] + phidd[..., 1:2]) * y
    w2 = both + phid[..., 2:] * z
    dw2 = both_d + phidd[..., 2:] * z + np.cross(both, phid[..., 2:] * z)
    zero = np.zeros_like(w1)
    return (
        Frames(at.R_upper, at.A, w1, dw1, zero, zero),
        Frames(at.R_lower, at.B, w2, dw2, v_B, a_B),
    )
