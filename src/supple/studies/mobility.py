"""In how many ways can it move: the count of Kutzbach, and what the closures really hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Answer
from ..architectures.kinds import architecture_of
from ..architectures.mobility import mobility as count_motions
from ..architectures.mobility import redundancy
from ..arguments import checked
from ..errors import SuppleError
from ..robot import Robot
from ..structure import as_mechanism
from .configuration import joint_names, where

__all__ = ["Mobility", "mobility"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Mobility(Answer):
    """Degrees of freedom of a robot with rigid links, at one pose.

    From `supple.mobility`.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates (joints,), rad or m.
    coordinates : int
        Joint coordinates of the tree, driven and passive, before it is closed.
    rows : int
        Constraint rows of the closures.
    kutzbach : int
        `coordinates` - `rows`: what the count of Kutzbach says, every row being taken as a
        constraint of its own.
    freedom : int
        `coordinates` less the rank of the rows: in how many ways it can really move here.
    motors : int
        Number of motors.
    with_motors_held : int
        Motions that are left when every motor stands still; 0 if the motors decide the pose.
    repeated : mapping
        For each closure the rows that repeat what joints and other closures hold already.
    """

    robot: Robot
    theta: Array
    coordinates: int
    rows: int
    kutzbach: int
    freedom: int
    motors: int
    with_motors_held: int
    repeated: Mapping[str, int]

    dims: ClassVar = {"theta": ("joint",)}
    units: ClassVar = {"theta": "rad or m"}
    labels: ClassVar = {"joint": joint_names}

    @property
    def sentence(self) -> str:
        """What the two counts say, in words."""
        words = f"{self.freedom} (Kutzbach's count: {self.kutzbach})"
        redundant = sum(self.repeated.values())
        if redundant:
            word = "row repeats" if redundant == 1 else "rows repeat"
            words += f"; {redundant} closure {word} others"
        if self.with_motors_held:
            words += f"; {self.with_motors_held} left with the motors held"
        return words


@checked
def mobility(
    robot: Robot, theta: ArrayLike | None = None, *, position: ArrayLike | None = None
) -> Mobility:
    """Degrees of freedom of a robot: Kutzbach's count beside the true rank.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism; its links are taken as rigid.
    theta : array_like, optional
        Joint coordinates (joints,), rad or m. Default: the usual pose.
    position : array_like, optional
        Instead, position (3,) of a Delta's platform, m.

    Returns
    -------
    Mobility
        The two differ where closures are redundant: overconstrained mechanisms move although the
        count says that they do not.

    Notes
    -----
    Kutzbach's count is that of the joint coordinates of the tree less the rows of its closures,
    which is 6 (n - 1 - j) + sum f in space and 3 (n - 1 - j) + sum f in the plane, n links with the
    ground, j joints of f freedoms each. The rank is that of the derivative of the closures by the
    joint coordinates, to 1e-8 of the robot's size.

    Examples
    --------
    >>> import supple
    >>> found = supple.mobility(supple.load("hexapod"))
    >>> found.freedom, found.kutzbach, found.with_motors_held
    (6, 6, 0)
    """
    tree = architecture_of(robot)
    if theta is None and position is None:
        place: dict[str, Any] = {"theta": None, "position": None, **tree.usual()}
        theta = place["theta"]
        position = place["position"]
    configuration = where(robot, theta, position)
    if not configuration.single:
        raise SuppleError("mobility is of one pose: give theta (joints,), or one position")
    pose = configuration.take(configuration.theta)
    x = configuration.at[0]
    if tree.asked_by == "position":  # by closed forms: the same loops as a mechanism's
        mechanism = as_mechanism(robot, configuration.take(configuration.position))
        tree = architecture_of(mechanism)
        x = where(mechanism, pose).at[0]
    motors = len(tree.motors)
    if tree.open_chain:  # nothing ties its joints, but those that follow others
        return Mobility(robot, pose, x.size, 0, x.size, x.size, motors, x.size - motors, {})
    rows = sum(loop.rows for loop in tree.loops)
    freedom, passive_columns = count_motions(tree, x)
    repeated = {name: count for name, _, count in redundancy(tree, x)}
    return Mobility(
        robot, pose, x.size, rows, x.size - rows, freedom, motors, passive_columns, repeated
    )
