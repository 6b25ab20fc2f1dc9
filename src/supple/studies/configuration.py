"""Where a question is asked: one configuration or many, of any architecture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import delta, serial
from ..errors import SuppleError
from ..robot import DeltaRobot, Robot, SerialRobot, need_robot

__all__ = ["Where", "where"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Where:
    """The configurations asked about.

    Attributes:
        at: what `structure_of` takes, (B, joints) or (B, 3).  theta: (B, joints), for a Delta its
        motor angles.  position: (B, 3) of a Delta's platform, else None.  single: whether one
        configuration was given without a leading axis.
    """

    at: Array
    theta: Array
    position: Array | None
    single: bool

    def take(self, batch: Array) -> Array:
        """Return a batch of answers, or the only one where one was asked for."""
        answer: Array = batch[0] if self.single else batch
        return answer


def where(robot: Robot, theta: ArrayLike | None, position: ArrayLike | None = None) -> Where:
    """Check and complete what was given: theta of a serial arm, position or theta of a Delta.

    Motor angles of a Delta mean the usual platform position of its direct kinematics.
    """
    need_robot(robot)
    if isinstance(robot, SerialRobot):
        if position is not None:
            raise SuppleError(f"position is for a Delta: {robot.name} is a serial arm, give theta")
        angles = serial.configuration(robot, theta)
        return Where(angles, angles, None, theta is None or np.ndim(theta) == 1)
    if not isinstance(robot, DeltaRobot) or (theta is None) == (position is None):
        raise SuppleError(
            f"{robot.name} is a Delta: give position=[x, y, z] of its platform, or its three motor "
            "angles theta"
        )
    given: ArrayLike = delta.direct(robot, theta) if theta is not None else position  # type: ignore[assignment]
    placed = delta.place(robot, given)
    single = np.ndim(given if theta is None else theta) == 1
    return Where(placed.position, placed.phi[..., 0], placed.position, single)
