"""Where a question is asked: one configuration or many, of any architecture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.base import warn_near
from ..architectures.kinds import architecture_of
from ..errors import SuppleError
from ..robot import Robot, need_robot

__all__ = ["Where", "joint_names", "where"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Where:
    """The configurations asked about.

    Attributes:
        at: what `structure_of` takes, of the good configurations only.  theta: (B, joints), for a
        Delta its motor angles.  position: (B, 3) of a Delta's platform, else None.  reason: (B,),
        why a configuration is none, empty where it is one.  good: (B,), where it is one.
        single: whether one configuration was given without a leading axis.
    """

    at: Array
    theta: Array
    position: Array | None
    reason: NDArray[np.object_]
    good: NDArray[np.bool_]
    single: bool

    def take(self, batch: Any) -> Any:
        """Return a batch of answers, or the only one where one was asked for."""
        return batch[0] if self.single else batch

    def spread(self, good: Array | NDArray[np.int64], none: float = np.nan) -> Any:
        """Return answers of the good configurations as a batch of all, `none` elsewhere."""
        if len(good) == len(self.good):
            return self.take(good)
        batch = np.full((len(self.good), *good.shape[1:]), none, good.dtype)
        batch[self.good] = good
        return self.take(batch)


def where(robot: Robot, theta: ArrayLike | None, position: ArrayLike | None = None) -> Where:
    """Check and complete what was given: theta, or the position of a platform or a tip.

    Motor angles of a Delta mean the usual platform position of its direct kinematics. One bad
    configuration of a batch has its reason told; one that is asked alone raises it. Those near a
    singular one are answered with a warning.
    """
    need_robot(robot)
    found = architecture_of(robot).resolve(theta, position)
    given = position if theta is None else theta
    single = given is None or np.ndim(np.asarray(given)) == 1
    if single and found.reason[0]:
        raise SuppleError(found.reason[0])
    good = np.asarray(found.reason == "")
    warn_near(robot, found)
    at = found.at if good.all() else found.at[good]
    return Where(at, found.theta, found.position, found.reason, good, single)


def joint_names(answer: Any) -> list[str]:
    """Return the names of the entries of theta, of an answer for a robot."""
    return [name for name, _ in architecture_of(answer.robot).motors]
