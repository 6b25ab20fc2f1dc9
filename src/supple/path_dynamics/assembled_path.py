"""AssembledPath: a path of the motors with where loops stand beside it, kept on one branch.

What loops determine depends on the way: two motions may come to one theta with elbows on different
sides. So the path is walked through once, by steps that follow the closures, and asked at any time
it says about where they are; who asks finds them from there by Newton's method.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.kinds import architecture_of
from ..errors import SuppleError
from ..robot import Robot
from .equations_in_time import Path

__all__ = ["AssembledPath", "assembled_path"]

Array = NDArray[np.float64]
FIRST = 9  # knots of a span between two breaks, to begin with
APART = 0.1  # rad or m that a motor moves from knot to knot
MOST = 4000  # knots


class AssembledPath:
    """A path x = [theta, beside], beside (B, w) as `Architecture.branch` has it, rates of it zero.

    Attributes:
        path: of the motors.  t, near: (K,) and (K, w), knots.
    """

    def __init__(self, path: Path, t: Array, near: Array) -> None:
        self.path, self.t, self.near = path, t, near
        self.periodic, self.duration, self.breaks = path.periodic, path.duration, path.breaks

    def beside(self, t: ArrayLike) -> Array:
        """Return about where loops stand at times (B,), (B, w)."""
        at = np.asarray(t, float)
        at = at % self.duration if self.periodic else at
        return np.stack([np.interp(at, self.t, x) for x in self.near.T], axis=-1)

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return the motion at times (B,), with where loops stand."""
        near = self.beside(t)
        x, v, a = (
            np.concatenate([part, beside], axis=-1)
            for part, beside in zip(self.path(t), (near, 0 * near, 0 * near), strict=True)
        )
        return x, v, a


def assembled_path(robot: Robot, path: Path) -> Path:
    """Return a path of the motors with where loops stand; as it is of robots without."""
    kind, joints = architecture_of(robot), path(np.zeros(1))[0].shape[1]
    if joints != len(kind.drives) or not kind.branch(path(np.zeros(1))[0])[0].shape[1]:
        return path
    edges = np.unique([0.0, *(t for t in path.breaks if 0 < t < path.duration), path.duration])
    spans = pairwise(edges.tolist())
    t = np.unique(np.concatenate([np.linspace(a, b, FIRST) for a, b in spans]))
    while len(t) < MOST:
        far = np.abs(np.diff(path(t)[0], axis=0)).max(axis=1) > APART
        if not far.any():
            break
        t = np.sort(np.concatenate([t, (t[:-1] + t[1:])[far] / 2]))
    theta = path(t)[0]
    near, reached = kind.branch(theta)
    if reached < len(t):
        at = np.round(theta[reached], 6).tolist()
        if not reached:
            raise SuppleError(kind.resolve(theta[:1], None).reason[0])
        raise SuppleError(
            f"the path meets a singular pose of {robot.name}, or leaves its reach, at theta {at} "
            f"after {t[reached]:.4g} s: lead it around there, or end before"
        )
    return AssembledPath(path, t, near)
