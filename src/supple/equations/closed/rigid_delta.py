"""The Delta with rigid links: inverse and forward dynamics in the platform's coordinates.

Every link is a body with its full inertia (uniform rods with what their tips carry, rotary inertia
and spin included); its twist is J(P) P', so that with the loads f of all bodies
    sum J' f = J_theta' tau + F,    M(P) P'' + h(P, P') = J_theta' tau + F.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.immutable import Immutable
from ...architectures import delta
from ...architectures.delta_motion import DeltaMotion, jacobian, motion, moving_links
from ...architectures.frames import Frames
from ...arguments import instance
from ...beams.varying import beam_of
from ...errors import SuppleError
from ...kernels.spatial import axis_rotation, body_mass, turn
from ...robot import DeltaRobot, Elastic
from ..chains.forces import coulomb

__all__ = ["DeltaBodies", "RigidDelta", "delta_bodies"]

Array = NDArray[np.float64]
Masses = Literal["uniform", "paper"]


@dataclass(frozen=True)
class DeltaBodies:
    """(6, 6) masses, link axes, about the roots: one upper arm, the rods of one leg, platform."""

    upper: Array
    lower: Array
    platform: Array


def delta_bodies(robot: DeltaRobot, masses: Masses = "uniform") -> DeltaBodies:
    """Return the rigid bodies of a Delta.

    "uniform": uniform rods with their tips. "paper": the mass m2 of the rods of one leg at the
    elbow and again at the wrist. Source: [Kuo2016], Eq. (11); one uniform rod a leg is not that.
    """
    if masses not in ("uniform", "paper"):
        raise SuppleError(f"masses is '{masses}': it must be uniform or paper")
    rods = 2 if robot.lower.rods == "parallelogram" else 1
    upper = _link_mass(robot, robot.upper)
    lower = rods * _link_mass(robot, robot.lower)
    bodies = [robot.platform.body] + ([robot.payload] if robot.payload is not None else [])
    platform: Array = np.sum([body_mass(b.mass, b.com, b.tensor()) for b in bodies], axis=0)
    if masses == "uniform":
        return DeltaBodies(upper, lower, platform)
    m2 = lower[0, 0]
    L1 = robot.upper.length or 0.0
    elbow = body_mass(m2, (L1, 0.0, 0.0), np.zeros((3, 3)))
    wrists = np.diag([3 * m2] * 3 + [0.0] * 3)
    return DeltaBodies(upper + elbow, np.zeros((6, 6)), platform + wrists)


def _link_mass(robot: DeltaRobot, link: Elastic) -> Array:
    """(6, 6) of one beam and its tip about its root, link axes."""
    beam = beam_of(robot, link)
    mass = turn(beam.mass_matrix(), axis_rotation((1, 0, 0), link.roll).T)
    if link.tip is not None:
        place = np.array([beam.L, 0.0, 0.0]) + np.asarray(link.tip.com)
        mass = mass + body_mass(link.tip.mass, place, link.tip.tensor())
    return mass


@dataclass(frozen=True)
class RigidDelta(Immutable):
    """Rigid-body dynamics of a Delta.

    Positions, velocities and forces are (3,) or (B, 3), base axes.

    Parameters
    ----------
    robot : DeltaRobot
        The Delta.
    masses : {"uniform", "paper"}
        Uniform rods, or the lumped masses of [Kuo2016], Eq. (11).
    gravity : bool
        Include weight.
    """

    robot: DeltaRobot
    masses: Masses = "uniform"
    gravity: bool = True

    def __post_init__(self) -> None:
        """Refuse what is no Delta, and springs that these equations do not have."""
        instance(DeltaRobot, "a DeltaRobot, as load('kuo-delta')")("robot", self.robot)
        for key in ("elbow", "wrist"):
            if getattr(self.robot, key).acts:
                raise SuppleError(
                    f"{key} of {self.robot.name} has springs, damping or friction, which "
                    "RigidDelta does not have: set theory: rigid on upper and lower and build a "
                    "Model, supple.build(robot)"
                )

    @cached_property
    def bodies(self) -> DeltaBodies:
        """The masses of the links."""
        return delta_bodies(self.robot, self.masses)

    @property
    def weight(self) -> Array:
        """(3,) acceleration of gravity that acts."""
        return np.asarray(self.robot.gravity, float) * self.gravity

    def mass_matrix(self, position: ArrayLike) -> Array:
        """M (B, 3, 3) over the platform's coordinates: sum J' M J, rotors included."""
        P = delta.positions(position)
        M = np.broadcast_to(self.bodies.platform[:3, :3], (len(P), 3, 3)).copy()
        for twist, mass in zip(
            self._twists(P), (self.bodies.upper, self.bodies.lower), strict=True
        ):
            M += np.einsum("blik,ij,bljm->bkm", twist, mass, twist)
        J = jacobian(self.robot, P)
        return M + self.robot.motor.reflected_inertia * J.transpose(0, 2, 1) @ J

    def loads(self, moved: DeltaMotion) -> Array:
        """Inertia and weight of all parts as a force on the platform, (B, 3): M P'' + h."""
        out = (moved.acceleration - self.weight) @ self.bodies.platform[:3, :3].T
        links = moving_links(self.robot, moved)
        each = (self.bodies.upper, self.bodies.lower)
        for twist, link, mass in zip(self._twists(moved.at.position), links, each, strict=True):
            out = out + np.einsum("blik,bli->bk", twist, wrench(mass, link, self.weight))
        _, thetad, thetadd = moved.theta
        motor = self.robot.motor
        drive = motor.reflected_inertia * thetadd + motor.damping * thetad
        drive = drive + coulomb(motor.friction, thetad)
        J = jacobian(self.robot, moved.at.position)
        return np.asarray(out + np.einsum("bik,bi->bk", J, drive))

    def inverse_dynamics(
        self,
        position: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        force: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Array:
        """Return the motor torques (B, 3) of a motion under a force on the platform's centre.

        J_theta' tau = M P'' + h - F. Source: [Kuo2016], Eqs. (13)-(16), whose signs are mixed;
        with masses="paper" the same model, derived afresh.
        """
        moved = motion(self.robot, position, velocity, acceleration)
        J = jacobian(self.robot, moved.at.position)
        load = self.loads(moved) - np.asarray(force, float)
        return np.asarray(np.linalg.solve(J.transpose(0, 2, 1), load[..., None])[..., 0])

    def forward_dynamics(
        self,
        position: ArrayLike,
        velocity: ArrayLike,
        torque: ArrayLike,
        force: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Array:
        """Return the platform's acceleration (B, 3) under motor torques and a force on it."""
        moved = motion(self.robot, position, velocity)
        J = jacobian(self.robot, moved.at.position)
        drive = np.einsum("bik,bi->bk", J, np.atleast_2d(np.asarray(torque, float)))
        rest = drive + np.asarray(force, float) - self.loads(moved)
        M = self.mass_matrix(moved.at.position)
        return np.asarray(np.linalg.solve(M, rest[..., None])[..., 0])

    def energy(self, position: ArrayLike, velocity: ArrayLike) -> tuple[Array, Array]:
        """Return kinetic and potential energy, (B,) each; the base's centre has height zero."""
        P = delta.positions(position)
        Pd = np.broadcast_to(np.asarray(velocity, float), P.shape)
        kinetic = np.einsum("bi,bij,bj->b", Pd, self.mass_matrix(P), Pd) / 2
        at = delta.place(self.robot, P)
        moment = P * self.bodies.platform[0, 0] + first_moment(self.bodies.platform)
        for mass, R, root in (
            (self.bodies.upper, at.R_upper, at.A),
            (self.bodies.lower, at.R_lower, at.B),
        ):
            moment = moment + (mass[0, 0] * root + R @ first_moment(mass)).sum(axis=1)
        return kinetic, -moment @ self.weight

    def _twists(self, P: Array) -> tuple[Array, Array]:
        """Twists (v, w) of upper arms and rods per unit P', link axes, (B, 3 legs, 6, 3) each."""
        each = [moving_links(self.robot, motion(self.robot, P, e)) for e in np.eye(3)]
        upper, lower = (
            np.stack([np.concatenate(link[k].local()[2::-2], axis=-1) for link in each], axis=-1)
            for k in (0, 1)
        )
        return upper, lower


def first_moment(mass: Array) -> Array:
    """m c (3,) of a (6, 6) mass, read from its block m [c]."""
    return np.array([mass[5, 1], mass[3, 2], mass[4, 0]])


def wrench(mass: Array, frames: Frames, gravity: Array) -> Array:
    """Force and moment about the root that a moving body needs, (B, n, 6), frame axes.

    f = m a + w' x s + w x (w x s), n = s x a + I w' + w x I w, with a less gravity and s = m c.
    """
    w, dw, _, a = frames.local()
    a = a - np.einsum("...ji,j->...i", frames.R, gravity)
    m = mass[0, 0]
    s = first_moment(mass)
    inertia = mass[3:, 3:]
    force = m * a + np.cross(dw, s) + np.cross(w, np.cross(w, s))
    moment = np.cross(s, a) + dw @ inertia.T + np.cross(w, w @ inertia.T)
    return np.concatenate([force, moment], axis=-1)
