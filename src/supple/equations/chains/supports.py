"""Support: a bearing or a foundation in the equations of motion.

To the recursions it is a link of no length and no joint whose elastic coordinates are the motions
of its springs: displacement N x, then the turn R_z R_y R_x by Psi x, and the energy x' K x / 2.
Springs in series with nothing between them are one: a joint's own spring takes in the bearing's
compliance about the joint's axis, and the bearing keeps the motions that do not work with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...robot import JointedLink, Robot, Springs
from ...robot.joint import TURNS, unit
from ...structure.supports import base_mass
from .link_inertia import LinkNumbers
from .sprung_turns import BearingCoupling, under

__all__ = ["Support", "bearing_of", "foundation_of", "free_of", "support_numbers"]

Array = NDArray[np.float64]
AXES = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Support:
    """Springs that carry a link, or the whole robot.

    Attributes
    ----------
    columns
        (6, m), displacement and small rotation per unit of its coordinates, mounted axes.
    K
        (m, m); one more than the columns where the cross of a universal joint turns as well.
    names
        (m,), x, .., rz, or 1, 2, .. where they mix.
    R_MS
        (3, 3), segment axes of what it carries, joint at zero, seen from mounted axes.
    mass
        (6, 6), its body.
    """

    columns: Array
    K: Array
    names: tuple[str, ...]
    R_MS: Array
    mass: Array

    @property
    def count(self) -> int:
        """Number of its coordinates, m."""
        return len(self.K)

    @property
    def is_universal_cross(self) -> bool:
        """Whether its last coordinate is the turn of a universal joint's cross."""
        return bool(self.count > self.columns.shape[1])


def _support(columns: Array, K: Array, R_MS: Array, mass: Array | None = None) -> Support | None:
    if not len(K):
        return None
    rows = np.abs(columns).argmax(axis=0)
    plain = np.array_equal(columns, np.eye(6)[:, rows])
    names = [AXES[k] for k in rows] if plain else [str(k + 1) for k in range(len(K))]
    return Support(columns, K, tuple(names), R_MS, np.zeros((6, 6)) if mass is None else mass)


def foundation_of(robot: Robot, planar: bool) -> Support | None:
    """Return a robot's foundation with all that stands on it, None where it is rigid."""
    if robot.foundation is None:
        return None
    return _support(*robot.foundation.soft(planar), np.eye(3), base_mass(robot))


def free_of(planar: bool, R_MS: Array) -> Support | None:
    """Return a free joint as a support that has no springs."""
    columns = np.eye(6)[:, [0, 1, 5] if planar else range(6)]
    return _support(columns, np.zeros((columns.shape[1],) * 2), R_MS)


def bearing_of(
    link: JointedLink, planar: bool, R_MS: Array, spring: float | None, carries: bool = False
) -> tuple[Support | None, float | None, BearingCoupling | None]:
    """Return a joint's bearing, the joint's spring with what is in series with it, and its turns.

    R_MS: (3, 3), segment axes in mounted ones, joint at zero.  spring: the joint's, None without.
    carries: whether something stands at a place along a link that slides, which its bearing moves.
    With K the bearing's stiffness and a the joint's motion among its own,
    1 / k' = 1 / k + 1 / (a' K a); what is left is K-orthogonal to a. A passive joint without a
    spring carries nothing about its axis, and neither does the bearing. Of joints that turn about
    several axes, on a bearing that turns, the last says what they feel of it: see `sprung_turns`.
    """
    bearing: Springs | None = link.joint.bearing
    if bearing is None:
        return None, spring, None
    joint, (columns, K) = link.joint, bearing.soft(planar)
    where = f"links.{link.name}.joint.bearing"
    support = _support(columns, K, R_MS)
    if joint.type in TURNS and not planar and columns[3:].any():
        resting_support, felt = _under_turns(link, columns, K, R_MS)
        return resting_support, spring, felt
    # (6,) the motion of a joint that its bearing may make as well, mounted axes
    parts = (joint.direction, np.zeros(3))
    own = np.concatenate(parts if joint.type == "prismatic" else parts[::-1])
    a = columns.T @ own
    is_mimic = getattr(joint, "mimic", None) is not None
    if joint.type == "fixed" or is_mimic or carries or np.abs(columns @ a - own).max() > 1e-12:
        return support, spring, None
    passive = not getattr(joint, "driven", True)
    if spring is None and not passive and joint.reflected_inertia <= 0:
        what = "along its slide" if joint.type == "prismatic" else "about the joint's axis"
        raise SuppleError(
            f"{where} gives way {what}, with nothing between it and the joint: leave that spring "
            "null, or give the motor rotor_inertia or a gear"
        )
    if spring is None and not passive:
        return support, spring, None
    if spring is not None:
        spring = 1 / (1 / spring + 1 / float(a @ K @ a)) if spring else 0.0
    rest = np.delete(np.eye(len(K)), np.abs(a).argmax(), axis=1)
    rest -= np.outer(a, a @ K @ rest) / (a @ K @ a)
    return _support(columns @ rest, rest.T @ K @ rest, R_MS), spring, None


def _under_turns(
    link: Any, columns: Array, K: Array, R_MS: Array
) -> tuple[Support | None, BearingCoupling]:
    """A bearing that turns under a universal or spherical joint, and what the joint feels of it."""
    moves, K0, felt = under(columns, K)
    resting_support = _support(moves, K0, R_MS)
    S: Array = np.array(felt.S)
    first, second, *more = (unit(turn.axis) for turn in link.joint.coordinates(False))
    if more:
        return resting_support, felt
    n = unit(tuple(np.cross(first, second)))
    plane = np.array([n, np.cross(first, n)])
    most = float(np.linalg.eigvalsh(plane @ S @ plane.T)[-1])
    if most <= 1e-12 * np.trace(S):  # it gives way about the joint's own first axis only
        return resting_support, felt
    q1 = link.joint.start[0]
    n = np.array([np.cos(q1), np.sin(q1)]) @ plane
    if n @ S @ n < 1e-6 * most:
        raise SuppleError(
            f"links.{link.name}.joint.bearing gives way only about axes that the universal joint "
            "turns about itself where it starts: give more of its rotation, or leave it null"
        )
    names = (*(AXES[k] for k in np.abs(moves).argmax(axis=0)), "cross")
    return Support(moves, np.pad(K0, (0, 1)), names, R_MS, np.zeros((6, 6))), felt


def support_numbers(support: Support, like: LinkNumbers) -> LinkNumbers:
    """Return a support as a link of the recursions, placed as `like` is, without its joint."""
    m = support.columns.shape[1]
    empty = [[0.0] * m for _ in range(3)]
    square = np.zeros((m, m)).tolist()
    return replace(
        like,
        axis=None,
        P=empty,
        X=empty,
        G=[[square for _ in range(3)] for _ in range(3)],
        JPsi=empty,
        PsiJPsi=square,
        N_end=support.columns[:3].tolist(),
        Psi_end=support.columns[3:].tolist(),
        tip_mass=support.mass.tolist(),
    )
