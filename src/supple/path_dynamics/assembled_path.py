"""AssembledPath: a path of the motors with where loops stand beside it, kept on one branch.

What loops determine depends on the way: two motions may come to one theta with elbows on different
sides. So the path is walked through once, by steps that follow the closures, and asked at any time
it says about where they are; who asks finds them from there by Newton's method.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.base import Branch
from ..architectures.kinds import architecture_of
from ..errors import SuppleError
from ..robot import Robot
from .equations_in_time import Path

__all__ = ["AssembledPath", "alike", "assembled_path"]

Array = NDArray[np.float64]
FIRST_KNOTS = 9  # knots of a span between two breaks, to begin with
MAX_MOTOR_STEP = 0.1  # rad or m that a motor moves from knot to knot
MAX_KNOTS = 4000  # knots
SAFE_CLEARANCE = 0.1  # clearance of loops from where on the least is looked for
REFINEMENTS = 5  # times, each among knots four times as close


class AssembledPath:
    """A path x = [theta, beside], beside (B, w) as `Architecture.branch` has it, rates of it zero.

    Attributes
    ----------
    path
        Of the motors.
    t, near
        (K,) and (K, w), knots.
    """

    def __init__(self, path: Path, t: Array, near: Array) -> None:
        self.path = path
        self.t = t
        self.near = near
        self.periodic = path.periodic
        self.duration = path.duration
        self.breaks = path.breaks
        self.seams = path.seams

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return the motion at times (B,), with where loops stand."""
        at = np.asarray(t, float)
        at = at % self.duration if self.periodic else at
        guess = np.stack([np.interp(at, self.t, x) for x in self.near.T], axis=-1)
        x, v, a = (
            np.concatenate([part, guesses], axis=-1)
            for part, guesses in zip(self.path(t), (guess, 0 * guess, 0 * guess), strict=True)
        )
        return x, v, a


def alike(led: Path, command: Path) -> Path:
    """Return another path with where loops stand along one that is almost the same."""
    return AssembledPath(command, led.t, led.near) if isinstance(led, AssembledPath) else command


def assembled_path(robot: Robot, path: Path) -> Path:
    """Return a path of the motors with where loops stand; as it is of robots without.

    Its knots are near to each other in all coordinates, and nearer where loops come to a singular
    pose. A path that meets one is refused.
    """
    kind = architecture_of(robot)
    first = path(np.zeros(1))[0]
    if first.shape[1] != len(kind.drives) or not kind.branch(first).x.shape[1]:
        return path
    edges = np.unique([0.0, *(t for t in path.breaks if 0 < t < path.duration), path.duration])
    spans = pairwise(edges.tolist())
    t = np.unique(np.concatenate([np.linspace(a, b, FIRST_KNOTS) for a, b in spans]))
    branch = _follow_path(robot, path, t)
    while len(t) < MAX_KNOTS:
        change = np.diff(np.hstack([path(t)[0], branch.x]), axis=0)
        far = np.abs(change).max(axis=1) > MAX_MOTOR_STEP
        if not far.any():
            break
        t = np.sort(np.concatenate([t, (t[:-1] + t[1:])[far] / 2]))
        branch = _follow_path(robot, path, t)
    x = branch.x
    clear = branch.clearance
    for _ in range(REFINEMENTS):
        k = int(np.argmin(clear))
        if clear[k] > SAFE_CLEARANCE:
            break
        a = max(k - 1, 0)
        b = min(k + 1, len(t) - 1)
        within = np.linspace(t[a], t[b], FIRST_KNOTS)
        branch = _follow_path(robot, path, within, x[a])
        t = np.concatenate([t[:a], within, t[b + 1 :]])
        x = np.concatenate([x[:a], branch.x, x[b + 1 :]])
        clear = np.concatenate([clear[:a], branch.clearance, clear[b + 1 :]])
    return AssembledPath(path, t, x)


def _follow_path(robot: Robot, path: Path, t: Array, first: Array | None = None) -> Branch:
    """Where loops stand at times (K,) of a path, refused where they cannot be led."""
    kind = architecture_of(robot)
    theta = path(t)[0]
    branch = kind.branch(theta, first)
    if branch.reached == len(t):
        return branch
    if not branch.reached:
        raise SuppleError(kind.resolve(theta[:1], None).reason[0])
    raise SuppleError(
        f"the path meets a singular pose of {robot.name}, or leaves its reach, at t = "
        f"{t[branch.reached]:.4g} s, theta {np.round(theta[branch.reached], 6).tolist()}: lead it "
        "around there, or stop before"
    )
