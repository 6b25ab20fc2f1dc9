"""A servo for a Delta's motors: rigid torques along a path, and joint PD about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..architectures.delta_motion import motion
from ..dynamics.rigid_delta import RigidDelta
from ..errors import SuppleError
from ..robot import DeltaRobot
from .trajectories import Trajectory

__all__ = ["PathServo"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PathServo:
    """tau = tau_rigid(t) + k_p (theta_d - theta) + k_d (theta_d' - theta').

    theta_d follows from the platform's path by inverse kinematics; tau_rigid is the torque that a
    rigid robot would need. Called as the law of `drive`: f(t, theta, theta') -> (3,).

    Attributes:
        feedforward: whether tau_rigid is part of it.
    """

    robot: DeltaRobot
    path: Trajectory
    position_gain: float
    velocity_gain: float
    feedforward: bool = True
    _last: dict[float, tuple[Array, Array, Array]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Check the gains."""
        if min(self.position_gain, self.velocity_gain) < 0:
            raise SuppleError("gains must not be negative: give N m/rad and N m s/rad")

    def __call__(self, t: float, theta: Array, thetad: Array) -> Array:
        """Return the motor torques (3,)."""
        angle, rate, tau = self._wanted(t)
        tau = tau + self.position_gain * (angle - theta) + self.velocity_gain * (rate - thetad)
        return np.asarray(tau)

    def _wanted(self, t: float) -> tuple[Array, Array, Array]:
        """Angles, rates and feedforward at t, kept while a step asks for them again."""
        if t not in self._last:
            self._last.clear()
            wanted = self.path(t)
            angle, rate, _ = (x[0] for x in motion(self.robot, *wanted).theta)
            tau = RigidDelta(self.robot).inverse_dynamics(*wanted)[0] * self.feedforward
            self._last[t] = angle, rate, tau
        return self._last[t]
