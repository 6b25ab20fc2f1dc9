"""A platform's path as the motion of its motors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..architectures.delta_motion import motion
from ..architectures.kinds import architecture_of
from ..errors import SuppleError
from ..robot import DeltaRobot, Robot, need_robot
from .trajectories import CirclePath, InvertedU, Trajectory

__all__ = ["PlatformPath", "leads_platform"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PlatformPath(Trajectory):
    """Motor angles of a rigid Delta whose platform follows a path, in base axes and metres.

    Attributes:
        robot: the Delta.  path: CirclePath, InvertedU, WayPoints, PointToPoint, ... of x, y, z.
    """

    robot: Robot
    path: Trajectory
    smooth = True

    def __post_init__(self) -> None:
        """Check that it is a path in space for a Delta."""
        super().__post_init__()
        need_robot(self.robot)
        if architecture_of(self.robot).asked_by != "position":
            raise SuppleError(
                "path leads a Delta's platform: lead the joints of this robot with a trajectory"
            )
        if not isinstance(self.path, Trajectory) or self.path(0.0)[0].shape != (3,):
            raise SuppleError("path must be a Trajectory of x, y, z, such as supple.InvertedU()")

    @property
    def periodic(self) -> bool:  # type: ignore[override]
        """Whether the path repeats."""
        return self.path.periodic

    @property
    def duration(self) -> float:
        return self.path.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.path.breaks

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        return motion(cast("DeltaRobot", self.robot), *self.path.at(t)).theta


def leads_platform(trajectory: object) -> bool:
    """Whether a trajectory can be that of a platform only."""
    return isinstance(trajectory, CirclePath | InvertedU)
