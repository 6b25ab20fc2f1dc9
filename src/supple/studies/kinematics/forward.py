"""Where is the tip: its place and attitude at a configuration, rigid or with its sag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import checked, optional, reals, switch
from ...kernels.spatial import vector_rotation
from ...robot import Robot
from ...structure import structure_of
from ..configuration import where
from ..statics import statics

__all__ = ["Pose", "forward"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pose(Answer):
    """Place and attitude of the tip at one configuration, or many (a leading axis B).

    Attributes:
        robot, theta: as asked.  position: (3,), m, base axes.  rotation: (3, 3), axes of the tip in
        base axes: those of the last link, or of a Delta's platform.  sag: whether the arm sags.
        valid, reason: whether a configuration of a batch has an answer, (B,) bool, and why not,
        (B,) words; its rows are NaN. One that is asked alone raises instead.
    """

    robot: Robot
    theta: Array
    position: Array
    rotation: Array
    sag: bool
    valid: Any
    reason: Any

    dims: ClassVar = {
        "theta": ("joint",),
        "position": ("axis",),
        "rotation": ("axis", "own_axis"),
        "valid": (),
        "reason": (),
    }
    table_rows: ClassVar = ("axis",)
    units: ClassVar = {"position": "m"}


@checked(theta=optional(reals), position=optional(reals), sag=switch)
def forward(
    robot: Robot,
    theta: ArrayLike | None = None,
    *,
    position: ArrayLike | None = None,
    sag: bool = False,
) -> Pose:
    """Return where the tip is at joint coordinates theta, (joints,) or (B, joints).

    The undeformed robot, or with `sag` the one that gives way to its own weight (`statics`): then
    the tip is at p + u and its axes are exp([phi]) R, u and phi its displacement and rotation. A
    Delta takes motor angles, or the `position` of its platform.
    """
    asked = where(robot, theta, position)
    structure = structure_of(robot, asked.at)
    tip = structure.tip
    p = structure.p[:, tip] + structure.L[:, tip, None] * structure.R[:, tip, :, 0]
    R = structure.R[:, tip] @ structure.segments[tip].R_LS.T
    place, axes = asked.spread(p), asked.spread(R)
    valid, reason = asked.take(asked.good), asked.take(asked.reason)
    if sag:
        bent = statics(robot, theta, position=position)
        place = place + bent.tip_displacement
        axes = vector_rotation(bent.tip_rotation) @ axes
        valid, reason = bent.valid, bent.reason
    return Pose(robot, asked.take(asked.theta), place, axes, sag, valid, reason)
