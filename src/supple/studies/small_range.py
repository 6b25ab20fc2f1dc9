"""Where linear elastic answers hold: deflections beside lengths, and rotations of sections."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..architectures.base import Resolved
from ..architectures.kinds import architecture_of
from ..errors import SuppleError
from ..robot import Robot

__all__ = ["LOST", "SMALL", "SmallRangeWarning", "near_singular", "too_large"]

Array = NDArray[np.float64]
SMALL = 0.1  # rad, or deflection over length: there 1 - cos is half a per cent
LOST = 100.0  # the same, or m: far beyond what any link can do
JUMP = 0.5  # rad: by how much joints differ on the two sides of a jump, or more


def near_singular(robot: Robot, path: Callable[[Array], Array], duration: float) -> str:
    """Return where on a path of poses loops come nearest to a singular one; empty without loops.

    Refuses a path on which they cannot be closed, or jump: where two poses next to one another are
    assembled differently, however near they are.
    """
    kind, t = architecture_of(robot), np.linspace(0.0, duration, 129)
    if path(t[:1]).shape[1] != len(kind.coordinates()):
        return ""  # which has a sentence of its own
    found = _along(robot, path, t)
    if found.clearance is None or not found.at.shape[1]:
        return ""
    whole = t, found
    for _ in range(4):  # ever closer to the least clearance
        k = int(np.argmin(found.clearance))
        place = f"t = {t[k]:.4g} s, {kind.asked_by} {np.round(path(t[k : k + 1])[0], 4).tolist()}"
        told = (
            f"its loops are nearest to a singular pose at {place}, and hold it "
            f"{found.clearance[k]:.1g} times as well there as at best"
        )
        if found.clearance[k] > 0.1:
            break
        t = np.linspace(t[max(k - 1, 0)], t[min(k + 1, len(t) - 1)], 17)
        found = _along(robot, path, t)
    t, found = whole
    for _ in range(8):  # ever closer to where the joints turn fastest
        turned = np.abs((np.diff(found.at, axis=0) + np.pi) % (2 * np.pi) - np.pi).max(axis=1)
        k = int(np.argmax(turned))
        if turned[k] < JUMP:
            return told
        t = np.linspace(t[k], t[k + 1], 17)
        found = _along(robot, path, t)
    place = f"t = {t[0]:.4g} s, {kind.asked_by} {np.round(path(t[:1])[0], 4).tolist()}"
    raise SuppleError(
        f"{robot.name} would have to jump from one assembly to another at {place} of this path, "
        "since it passes close by a singular pose: lead the path farther from it, or stop before it"
    )


def _along(robot: Robot, path: Callable[[Array], Array], t: Array) -> Resolved:
    """The poses of a path at times t, refused where there is none."""
    x, kind = path(t), architecture_of(robot)
    theta, position = (x, None) if kind.asked_by == "theta" else (None, x)
    found = kind.resolve(theta, position)
    bad = np.flatnonzero(found.reason != "")
    if len(bad) and found.clearance is not None:
        raise SuppleError(f"at t = {t[bad[0]]:.4g} s of the path, {found.reason[bad[0]]}")
    return found


class SmallRangeWarning(UserWarning):
    """The elastic motion is larger than a linear model can be trusted with."""


def too_large(name: str, largest: float, instead: str) -> str:
    """Return the sentence of links that bend too far, and what to do instead."""
    return (
        f"links of {name} bend by up to {largest:.2g} (deflection over length, or rad): beyond "
        f"{SMALL} the linear model is off by more than a per cent; {instead}"
    )
