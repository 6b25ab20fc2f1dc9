"""Where is the tip: its place and attitude at a configuration, rigid or with its sag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import checked
from ...kernels.spatial import vector_rotation
from ...robot import Robot
from ...structure import structure_of
from ..configuration import where
from ..statics import statics

__all__ = ["Pose", "forward"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pose(Answer):
    """Position and attitude of the tip in one pose or in many (leading axis B).

    From `supple.forward`.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates, (joints,) or (B, joints).
    position : ndarray
        Position of the tip (3,), base axes, m.
    rotation : ndarray
        Axes of the tip in base axes, (3, 3): those of the last link, or of a Delta's platform.
    sag : bool
        Whether the static deflection is included.
    valid, reason : bool and str, or ndarray
        Whether a pose of a batch has an answer, and why not. Its rows are NaN.
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


@checked
def forward(
    robot: Robot,
    theta: ArrayLike | None = None,
    *,
    position: ArrayLike | None = None,
    sag: bool = False,
) -> Pose:
    """Position and attitude of the tip at given joint coordinates.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    theta : array_like, optional
        Joint coordinates, (joints,) or (B, joints) for many poses, rad or m. Default: zero.
    position : array_like, optional
        Instead, position of a Delta's platform, (3,) or (B, 3), m.
    sag : bool
        Include the static deflection under the robot's own weight, as `statics` computes it.

    Returns
    -------
    Pose

    Notes
    -----
    With `sag` the tip is at p + u with axes exp([phi]) R, where u and phi are the displacement and
    the rotation of the tip.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> supple.forward(robot, [0, 0.785, 0.785]).position.round(3)
    array([2.562, 2.56 , 0.   ])
    """
    configuration = where(robot, theta, position)
    structure = structure_of(robot, configuration.at)
    tip = structure.tip
    p = structure.p[:, tip] + structure.L[:, tip, None] * structure.R[:, tip, :, 0]
    R = structure.R[:, tip] @ structure.segments[tip].R_LS.T
    place = configuration.fill_batch(p)
    axes = configuration.fill_batch(R)
    valid = configuration.take(configuration.good)
    reason = configuration.take(configuration.reason)
    if sag:
        bent = statics(robot, theta, position=position)
        place = place + bent.tip_displacement
        axes = vector_rotation(bent.tip_rotation) @ axes
        valid = bent.valid
        reason = bent.reason
    return Pose(robot, configuration.take(configuration.theta), place, axes, sag, valid, reason)
