"""Where an unbent robot is at motor angles, in symbols: what a Delta knows in closed form.

Newton's method of its closures starts there, and constant-velocity joints are read from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...architectures import delta
from ...architectures.closing import Loop
from ...architectures.forms import wrist_angles
from ...architectures.joint_tree import JointTree
from ...architectures.tree import Tree
from ...kernels.scalars import Matrix, Vector, axis_rotation, identity, matmul, transpose
from ...robot import DeltaRobot
from ..evaluate import casadi

__all__ = ["Unbent", "unbent_delta"]


@dataclass(frozen=True)
class Unbent:
    """The unbent pose of a mechanism.

    Attributes
    ----------
    tree
        Its geometry.
    passive
        Motor coordinates to all passive ones, a CasADi function.
    """

    tree: JointTree
    passive: Any

    def coordinates(self, theta: Any) -> Vector:
        """Return all joint coordinates, link by link, at motor coordinates, symbols."""
        ca = casadi()
        each = {True: iter(ca.vertsplit(theta)), False: iter(ca.vertsplit(self.passive(theta)))}
        return [next(each[c.driven]) for c in self.tree.coordinates]

    def relative_rotation(self, loop: Loop, x: Vector) -> Matrix:
        """Return the second frame of a closure seen from the first one's link, (3, 3)."""
        ways = []  # links of both ends up to the base, then less those that are in both
        for end in loop.ends:
            way = []
            i = end
            while i >= 0:
                way.append(i)
                i = self.tree.parents[i]
            ways.append(way)
        turned = []
        for way, other in (ways, ways[::-1]):
            R: Matrix = identity(3)
            for i in reversed([i for i in way if i not in other]):
                R = matmul(R, np.round(self.tree.R[i], 16).tolist())
                own = [(c.order, k) for k, c in enumerate(self.tree.coordinates) if c.link == i]
                for _, k in sorted(own):
                    c = self.tree.coordinates[k]
                    R = matmul(R, axis_rotation(c.axis.tolist(), x[k])) if c.kind == "turn" else R
            turned.append(R)
        seen = matmul(turned[1], np.round(loop.R[1], 16).tolist())
        return matmul(transpose(turned[0]), seen)


def unbent_delta(posed: Tree) -> Unbent:
    """Return the unbent pose of a Delta, whose joints start where it is assembled.

    The platform is on the axis of the circle through the elbows moved inward by r_B, at the height
    sqrt(L2^2 - R^2) below it; see `architectures.delta.direct`.
    """
    ca = casadi()
    robot = cast("DeltaRobot", posed.robot)
    theta = ca.SX.sym("theta", 3)
    tree = posed.joints
    L1 = robot.upper.length or 0.0
    L2 = robot.lower.length or 0.0
    r = robot.base_radius - robot.platform.radius
    axes = [ca.DM(R) for R in delta.leg_axes(robot)]
    elbows = [ca.vertcat(r + L1 * ca.cos(a), 0.0, -L1 * ca.sin(a)) for a in ca.vertsplit(theta)]
    C = [ca.mtimes(R, e) for R, e in zip(axes, elbows, strict=True)]
    # The lower point at L2 from three points; where there is none, the nearest to it
    a = C[1] - C[0]
    b = C[2] - C[0]
    n = ca.cross(a, b)
    area2 = ca.dot(n, n)
    middle = ca.cross(ca.dot(a, a) * b - ca.dot(b, b) * a, n) / (2 * area2)
    height2 = ca.fmax(L2**2 - ca.dot(middle, middle), 1e-6 * L2**2)
    P = C[0] + middle + ca.if_else(n[2] >= 0, n, -n) * ca.sqrt(height2 / area2)
    out: list[Any] = []
    rods = 2 if robot.lower.rods == "parallelogram" else 1
    spin = [0.0] if robot.lower.rods == "twist" else []
    for leg in range(3):
        rod = ca.mtimes(axes[leg].T, P) - elbows[leg]
        both = ca.atan2(-rod[2], rod[0])
        aside = ca.asin(rod[1] / L2)
        wrist = wrist_angles(robot, (theta[leg], both - theta[leg], aside))
        of_rod = [both - theta[leg], aside, *spin, *(wrist if robot.wrist.acts else ())]
        out += of_rod * rods
    found = ca.vertcat(*out, P, 0.0, 0.0, 0.0)
    assert found.numel() == len(tree.passive)
    return Unbent(tree, ca.Function("unbent", [theta], ca.cse([found])))
