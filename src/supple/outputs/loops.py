"""Loops: outputs of a robot whose tree is closed into loops, its closures as forces on the tree.

With the tree's coordinates z of a motion q, followers w among them, the closures c(z) = 0 pull with
dc/dz' lambda, and since no motor acts on followers, lambda = (dc/dw)'^-1 f_w of all other forces f.
Of rows that repeat, those left out of the equations pull nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..equations.chains.chain import Chain
from ..equations.chains.chain_equations import Laws
from ..equations.closed.closures import closure_ends, rows_between
from ..equations.closed.coupled import ClosedFunctions
from ..equations.closed.loops import Loops
from ..equations.evaluate import casadi
from ..kernels.scalars import Vector, cross, negate, transpose, vadd
from ..robot import MechanismRobot
from .output import Expression, Motion, Output

__all__ = ["Tree", "closed_function", "pull_beyond"]


@dataclass(frozen=True)
class Tree:
    """What outputs ask of a Model, of the tree of a robot with loops: coordinates are z."""

    robot: MechanismRobot
    chain: Chain
    laws: Laws
    rows: tuple[int, ...]

    @property
    def size(self) -> int:
        """Length of z."""
        return self.chain.size


def closed_function(functions: ClosedFunctions, loops: Loops, output: Output) -> Any:
    """Return an output of a robot with loops as a CasADi function (q, qd, qdd, wrench) -> (k,)."""
    ca = casadi()
    tree = Tree(loops.robot, loops.laws.chain, loops.laws, loops.rows)
    z, v, a = (ca.SX.sym(word, tree.size) for word in "zva")
    load, pull = ca.SX.sym("F", 6), ca.SX.sym("l", len(loops.rows))
    values = ca.densify(output.expression(tree, Motion(z, v, a, load, pull)))  # type: ignore[arg-type]
    inner = ca.Function("tree", [z, v, a, load, pull], ca.cse([values]))
    sizes = [len(loops.kept)] * 3 + [6, len(loops.followers)]
    q, qd, qdd, wrench, near = (loops.symbol(w, k) for w, k in zip("qvawn", sizes, strict=True))
    at, pulls = functions.closing((q, qd, qdd), wrench, near)
    core = ca.Function(
        "core", [q, qd, qdd, wrench, near], [inner(at.z, at.zd, at.zdd, wrench, pulls)]
    )
    x = [ca.MX.sym(word, size) for word, size in zip("qvaw", sizes[:4], strict=True)]
    start = functions.derived("start", loops.start)
    return ca.Function("output", x, [core(*x, ca.stop_diff(start(x[0]), 1))])


def pull_beyond(
    tree: Tree, motion: Motion, i: int, x: float, about: Vector
) -> tuple[Expression, Expression]:
    """Return force and moment about a point, base axes, of the closures on all beyond a section.

    That is beyond x metres along link i; x below zero: its root and hub among it.
    """
    ca = casadi()
    robot, force, moment = tree.robot, [0.0] * 3, [0.0] * 3
    q = motion.lists()[0]
    every = closure_ends(robot, tree.laws, q)
    at = 0
    pulls = dict(zip(tree.rows, ca.vertsplit(motion.closing), strict=True))
    for k, (loop, ends, length) in enumerate(every):
        given = [ca.SX.sym(f"d{k}", 6), ca.SX.sym(f"e{k}", 6)]
        shifted = [_shifted(end, ca.vertsplit(d)) for end, d in zip(ends, given, strict=True)]
        rows = rows_between(loop, shifted[0], shifted[1], length)
        own = ca.vertcat(*(pulls.get(at + r, 0.0) for r in range(len(rows))))
        at += len(rows)
        work = ca.dot(ca.vertcat(*rows), own)
        for (p, _), j, place, d in zip(ends, loop.ends, loop.at, given, strict=True):
            if not _beyond(robot, i, x, j, place):
                continue
            slope = ca.gradient(work, d)
            slope = ca.substitute(slope, ca.vertcat(*given), ca.DM.zeros(12))
            W = ca.vertsplit(ca.densify(slope))
            arm = vadd(p, negate(about))
            force = vadd(force, W[:3])
            moment = vadd(moment, vadd(W[3:], cross(arm, W[:3])))
    return force, moment


def _shifted(end: Any, d: Vector) -> Any:
    """A frame moved by d[:3] and turned by small d[3:], base axes."""
    p, R = end
    columns = transpose(R)
    return vadd(p, d[:3]), transpose([vadd(c, cross(d[3:], c)) for c in columns])


def _beyond(robot: MechanismRobot, i: int, x: float, j: int, at: float | None) -> bool:
    """Whether place `at` (None: the end) of link j lies beyond x of link i, or hangs there."""
    while j >= 0 and j != i:
        at, j = robot.links[j].at, robot.parents[j]
    return j == i and (at is None or at >= x * (1 - 1e-12))
