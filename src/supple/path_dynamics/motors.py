"""What motors take for themselves along a motion: rotors, damping and friction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..equations.chains.forces import coulomb
from ..robot import Robot

__all__ = ["motor_side"]

Array = NDArray[np.float64]


def motor_side(robot: Robot, x: Array, v: Array, a: Array) -> Array:
    """Return what rotors, damping and friction of the motors take, (B, motors).

    x, v, a (B, ..): joint coordinates with their rates, or the motion of a Delta's platform.
    """
    family = architecture_of(robot)
    _, rate, second = family.joint_motion(x, v, a)
    out = np.zeros(rate.shape)
    for k, (_, slides, motor, *_) in enumerate(family.drives):
        out[:, k] = motor.reflected_inertia * second[:, k] + motor.damping * rate[:, k]
        out[:, k] += coulomb(motor.friction, rate[:, k], slides)
    return out
