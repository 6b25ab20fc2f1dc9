"""Structure: a Robot at a Configuration as exact beams, rigid bodies, joints and closures.

The joints are locked, sprung or free; nothing moves yet. A Structure holds a batch of
configurations of one robot, so that ten thousand poses cost one set of arrays. The exact solver
(`kernels.roots`) and any basis (`assembly`) read the same Structure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numpy.typing import ArrayLike

from ..architectures.kinds import (
    DeltaKinematics,
    GeneralKinematics,
    SerialKinematics,
    lower,
    tree_at_assembly,
)
from ..architectures.tree import Kinematics, Tree
from ..arguments import checked
from ..errors import SuppleError
from ..robot import MechanismRobot, Robot
from ..robot.mechanism import BASE
from .cutting import cut_structure, short_pieces
from .delta import delta_structure, moving_delta
from .free_joints import carrying_nothing, sprung_modes
from .general import general_structure, knows_motion, moving_general
from .moving import MovingClosure, MovingStructure
from .parts import FREE_MOTORS, ClosureRows, Joints, Release, Segment, Structure, motor_is_free
from .rows import alike
from .serial import moving_serial, serial_structure
from .supports import FOUNDATION, add_foundation, founded_in_motion

__all__ = [
    "FOUNDATION",
    "FREE_MOTORS",
    "ClosureRows",
    "Joints",
    "MovingClosure",
    "MovingStructure",
    "Release",
    "Segment",
    "Structure",
    "alike",
    "as_mechanism",
    "carrying_nothing",
    "cut_structure",
    "has_motion",
    "motor_is_free",
    "moving_structure",
    "short_pieces",
    "sprung_modes",
    "structure_of",
]


class _Placing(NamedTuple):
    """How the structures of Trees of one kinematics are made: at rest and in motion."""

    at: Callable[..., Structure]
    moving: Callable[..., MovingStructure]
    knows_motion: Callable[[Tree], bool]


_PLACING: dict[type[Kinematics], _Placing] = {
    SerialKinematics: _Placing(serial_structure, moving_serial, lambda tree: True),
    DeltaKinematics: _Placing(
        delta_structure, moving_delta, lambda tree: tree.passive_joints_are_free
    ),
    GeneralKinematics: _Placing(general_structure, moving_general, knows_motion),
}


def _placing(tree: Tree) -> _Placing:
    return _PLACING.get(tree.plug_in, _PLACING[GeneralKinematics])


def structure_of(robot: Robot, at: ArrayLike | None = None, joints: Joints = "locked") -> Structure:
    """Return a robot at one configuration, or at many with a leading axis, as a Structure.

    `at` holds the joint coordinates of a serial arm, (joints,) or (B, joints), None for zeros; or
    the platform's position of a Delta, (3,) or (B, 3); or theta, or whole configurations, of a
    mechanism.
    """
    tree = lower(robot)
    return add_foundation(robot, _placing(tree).at(tree, at, joints))


@checked
def as_mechanism(robot: Robot, position: ArrayLike | None = None) -> MechanismRobot:
    """Describe an arm or a Delta as a mechanism: links, joints and closures.

    The mechanism has the same modes, statics and motion as the robot it comes from.

    Parameters
    ----------
    robot : Robot
        An arm becomes a tree without branches; the legs of a Delta are closed at the joints of a
        free platform; a mechanism is returned as it is.
    position : array_like, optional
        Position (3,), m, at which a Delta is assembled. Default: a usual one on its axis. The
        constant-velocity joints of ``rods: twist`` agree with the Delta's at this position only.

    Returns
    -------
    MechanismRobot

    Examples
    --------
    >>> import supple
    >>> supple.as_mechanism(supple.load("kuo-delta")).architecture
    'mechanism'
    """
    if isinstance(robot, MechanismRobot):
        return robot
    form = tree_at_assembly(robot, position).form
    if any(link.name == BASE for link in form.links):
        raise SuppleError(
            f"{robot.name} has a link named '{BASE}': that is the ground of a mechanism, give the "
            "link another name"
        )
    given = {key: getattr(form, key) for key in form.model_fields_set}
    return MechanismRobot.model_validate(given)


def has_motion(robot: Robot) -> bool:
    """Return whether `moving_structure` knows a robot: its family, and no joint follows another."""
    tree = lower(robot)
    coupled = any(drive.also for drive in tree.drives)
    return not coupled and _placing(tree).knows_motion(tree)


def moving_structure(
    robot: Robot, x: ArrayLike, v: ArrayLike, a: ArrayLike, joints: Joints = "locked"
) -> MovingStructure:
    """Return a robot at the instants of a prescribed rigid motion.

    x, v, a (B, ..): joint coordinates of a serial arm with their rates, or position, velocity and
    acceleration of a Delta's platform.
    """
    if not has_motion(robot):
        raise SuppleError(
            f"the equations of {robot.name} along a motion are those of a Model, since it is a "
            "mechanism or its passive joints have springs: ask supple.follow(robot, path)"
        )
    tree = lower(robot)
    return founded_in_motion(robot, _placing(tree).moving(tree, x, v, a, joints))
