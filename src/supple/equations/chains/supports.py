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
from ...robot.joint import unit
from ...structure.supports import base_mass
from .crosses import Cross, crossed
from .link_inertia import Numbers

__all__ = ["Support", "bearing_of", "foundation_of", "free_of", "support_numbers"]

Array = NDArray[np.float64]
AXES = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Support:
    """Springs that carry a link, or the whole robot.

    Attributes:
        columns: (6, m), displacement and small rotation per unit of its coordinates, mounted axes.
        cross: that of a universal joint, its turn the last coordinate, beyond the columns.
        K: (m, m).  names: (m,), x, .., rz, or 1, 2, .. where they mix.  R_MS: (3, 3), segment axes
        of what it carries, joint at zero, seen from mounted axes.  mass: (6, 6), its body.
    """

    columns: Array
    K: Array
    names: tuple[str, ...]
    R_MS: Array
    mass: Array
    cross: Cross | None = None

    @property
    def count(self) -> int:
        """Number of its coordinates, m."""
        return len(self.K)


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
    link: JointedLink, planar: bool, R_MS: Array, spring: float | None
) -> tuple[Support | None, float | None]:
    """Return a joint's bearing, and the joint's own spring with what is in series with it.

    R_MS: (3, 3), segment axes in mounted ones, joint at zero.  spring: the joint's, None without.
    With K the bearing's stiffness and a the joint's motion among its own,
    1 / k' = 1 / k + 1 / (a' K a); what is left is K-orthogonal to a. A passive joint without a
    spring carries nothing about its axis, and neither does the bearing.
    """
    bearing: Springs | None = link.joint.bearing
    if bearing is None:
        return None, spring
    columns, K = bearing.soft(planar)
    # (6, f) motions of a joint that its bearing makes as well, mounted axes
    joint, turns = link.joint, np.eye(6)[:, 3:]
    if joint.type == "fixed":
        shared = np.zeros((6, 0))
    else:
        if joint.type in ("prismatic", "revolute"):
            parts = [joint.direction, np.zeros(3)]
            own = np.concatenate(parts if joint.type == "prismatic" else parts[::-1])[:, None]
        else:
            own = turns[:, 2:] if planar else turns
        inside = np.abs(columns @ (columns.T @ own) - own).max(axis=0) < 1e-12
        shared = np.asarray(own[:, inside])
    A = columns.T @ shared
    if not A.shape[1]:
        return _support(columns, K, R_MS), spring
    passive, joint = not getattr(link.joint, "driven", True), link.joint
    where = f"links.{link.name}.joint.bearing"
    if spring is None and not passive and joint.reflected_inertia <= 0:
        what = "along its slide" if joint.type == "prismatic" else "about the joint's axis"
        raise SuppleError(
            f"{where} gives way {what}, with nothing between it and the joint: leave that spring "
            "null, or give the motor rotor_inertia or a gear"
        )
    if spring is None and not passive:
        return _support(columns, K, R_MS), spring
    if spring is not None and A.shape[1] == 1:
        spring = 1 / (1 / spring + 1 / float(A[:, 0] @ K @ A[:, 0]))
    elif spring is not None:
        raise SuppleError(
            f"{where} turns about what the {joint.type} joint turns about itself, against springs "
            "of its own: leave its rotation null, or the joint without stiffness"
        )
    elif joint.type == "universal" and not planar:
        return _under_universal(link, columns, K, R_MS), spring
    kept = np.ones(len(K), bool)
    kept[np.abs(A).argmax(axis=0)] = False
    rest = np.eye(len(K))[:, kept]
    rest -= A @ np.linalg.solve(A.T @ K @ A, A.T @ K @ rest)
    return _support(columns @ rest, rest.T @ K @ rest, R_MS), spring


def _under_universal(link: Any, columns: Array, K: Array, R_MS: Array) -> Support | None:
    """A bearing that turns under a universal joint without springs, see `crosses`."""
    first, second = (unit(turn.axis) for turn in link.joint.coordinates(False))
    moves, held, cross = crossed(columns, K, (first, second))
    S: Array = np.array(cross.S)
    plane = np.array([cross.n, cross.across])
    most = float(np.linalg.eigvalsh(plane @ S @ plane.T)[-1])
    if most <= 1e-12 * np.trace(S):  # it gives way about the joint's own first axis only
        return _support(moves, held[:-1, :-1], R_MS)
    if cross.parts(link.joint.start[0])[2] < 1e-6 * most:
        raise SuppleError(
            f"links.{link.name}.joint.bearing gives way only about axes that the universal joint "
            "turns about itself where it starts: give more of its rotation, or leave it null"
        )
    rows = np.abs(moves).argmax(axis=0)
    names = (*(AXES[k] for k in rows), "cross")
    return Support(moves, held, names, R_MS, np.zeros((6, 6)), cross)


def support_numbers(support: Support, like: Numbers) -> Numbers:
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
