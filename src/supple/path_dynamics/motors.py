"""What motors take for themselves along a motion: rotors, damping and friction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..architectures.delta_motion import motion
from ..equations.forces import coulomb
from ..robot import DeltaRobot, Joint, Motor, Robot

__all__ = ["motor_side"]

Array = NDArray[np.float64]


def motor_side(robot: Robot, x: Array, v: Array, a: Array) -> Array:
    """Return what rotors, damping and friction of the motors take, (B, motors).

    x, v, a (B, ..): joint coordinates with their rates, or the motion of a Delta's platform.
    """
    if isinstance(robot, DeltaRobot):
        _, rate, second = motion(robot, x, v, a).theta
        motors: list[Motor | Joint] = [robot.motor] * 3
    else:
        rate, second = v, a
        motors = [link.joint for link in getattr(robot, "moving", ())]
    out = np.zeros(rate.shape)
    for k, motor in enumerate(motors):
        out[:, k] = motor.reflected_inertia * second[:, k] + motor.damping * rate[:, k]
        out[:, k] += coulomb(motor.friction, rate[:, k], getattr(motor, "type", "") == "prismatic")
    return out
