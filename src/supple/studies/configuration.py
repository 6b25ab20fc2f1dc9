"""Where a question is asked: one configuration or many, of any architecture."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.base import warn_near
from ..architectures.kinds import architecture_of
from ..arguments import brief
from ..errors import RobotWarning, SuppleError
from ..robot import Robot
from ..structure import FREE_MOTORS

__all__ = ["RequestedPoses", "joint_names", "joint_states", "where"]

Array = NDArray[np.float64]
TWO_TURNS = 4 * np.pi  # rad: an angle beyond this is more likely one in degrees


@dataclass(frozen=True)
class RequestedPoses:
    """The configurations asked about.

    Attributes
    ----------
    at
        What `structure_of` takes, of the good configurations only.
    theta
        (B, joints), for a Delta its motor angles.
    position
        (B, 3) of a Delta's platform, else None.
    reason
        (B,), why a configuration is none, empty where it is one.
    good
        (B,), where it is one.
    single
        Whether one configuration was given without a leading axis.
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

    def fill_batch(self, good: Array | NDArray[np.int64], none: float = np.nan) -> Any:
        """Return answers of the good configurations as a batch of all, `none` elsewhere."""
        if len(good) == len(self.good):
            return self.take(good)
        batch = np.full((len(self.good), *good.shape[1:]), none, good.dtype)
        batch[self.good] = good
        return self.take(batch)


def where(
    robot: Robot, theta: ArrayLike | None, position: ArrayLike | None = None
) -> RequestedPoses:
    """Check and complete what was given: theta, or the position of a platform or a tip.

    Motor angles of a Delta mean the usual platform position of its direct kinematics. One bad
    configuration of a batch has its reason told; one that is asked alone raises it. Those near a
    singular one are answered with a warning.
    """
    found = architecture_of(robot).resolve(theta, position)
    given = position if theta is None else theta
    single = given is None or np.ndim(np.asarray(given)) == 1
    if single and found.reason[0]:
        raise SuppleError(found.reason[0])
    good = np.asarray(found.reason == "")
    warn_near(robot, found)
    if theta is not None:
        _warn_of_degrees(robot, found.theta)
    at = found.at if good.all() else found.at[good]
    return RequestedPoses(at, found.theta, found.position, found.reason, good, single)


def _warn_of_degrees(robot: Robot, theta: Array) -> None:
    """Warn of joint angles beyond two turns, which are more likely degrees."""
    if not (np.abs(theta) > TWO_TURNS).any():
        return
    for drive, angles in zip(architecture_of(robot).drives, theta.T, strict=True):
        largest = float(np.nanmax(np.abs(angles), initial=0.0))
        if not drive.slides and TWO_TURNS < largest < np.inf:
            warnings.warn(
                f"theta turns joint {drive.name} by {largest:g} rad, "
                f"{largest / (2 * np.pi):.3g} turns: angles are in radians; if these are degrees, "
                "give numpy.radians(theta), or 45deg on the command line",
                RobotWarning,
                stacklevel=4,
            )
            return


def joint_states(robot: Robot, joints: Any) -> str:
    """Return which motors are free, in the words that `structure_of` takes.

    Parameters
    ----------
    robot : Robot
        The robot whose motors are meant.
    joints : str, mapping or sequence
        "locked" or "free" for all motors; {link: "free" or "locked"}, where a motor that is left
        out is locked; or one word for each motor, in order.

    Returns
    -------
    str
        "locked", "free", or such as "free: link1, link3".
    """
    if isinstance(joints, str) and joints in ("locked", "free"):
        return joints
    names = [drive.name for drive in architecture_of(robot).drives]
    allowed = "locked, free, {link: word}, or one word for each motor"
    if isinstance(joints, str):
        if joints.startswith(FREE_MOTORS):  # as an answer holds it
            joints = dict.fromkeys(joints.removeprefix(FREE_MOTORS).split(", "), "free")
        else:
            raise SuppleError(f"joints is {brief(joints)}: it must be one of {allowed}")
    if isinstance(joints, Mapping):
        unknown = [name for name in joints if name not in names]
        if unknown:
            raise SuppleError(
                f"joints names {brief(unknown[0])}, which has no motor: {robot.name} has motors at "
                f"{', '.join(names) or 'no link'}"
            )
        words = [joints.get(name, "locked") for name in names]
    elif isinstance(joints, Sequence):
        words = list(joints)
        if len(words) != len(names):
            raise SuppleError(
                f"joints has {len(words)} words: {robot.name} has {len(names)} motors, "
                f"{', '.join(names)}"
            )
    else:
        raise SuppleError(f"joints is {brief(joints)}: it must be one of {allowed}")
    for name, word in zip(names, words, strict=True):
        if word not in ("locked", "free"):
            raise SuppleError(f"joints, {name} is {brief(word)}: it must be locked or free")
    free = [name for name, word in zip(names, words, strict=True) if word == "free"]
    if len(free) in (0, len(names)):
        return "free" if free else "locked"
    return FREE_MOTORS + ", ".join(free)


def joint_names(answer: Any) -> list[str]:
    """Return the names of the entries of theta, of an answer for a robot."""
    return [name for name, _ in architecture_of(answer.robot).motors]
