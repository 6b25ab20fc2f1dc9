"""Loops: outputs of a robot whose tree is closed into loops, its closures as forces on the tree.

With the tree's coordinates z of a motion q, followers w among them, the closures c(z) = 0 pull with
dc/dz' lambda, and since no motor acts on followers, lambda = (dc/dw)'^-1 f_w of all other forces f.
Of rows that repeat, those left out of the equations pull nothing. A Delta's tree is its legs: each
is a chain of its own whose end the closures pull.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..equations.chains.chain import Chain
from ..equations.chains.chain_equations import Laws, laws_of, section_frame
from ..equations.chains.tree import sections_of
from ..equations.closed.closures import closure_ends, rows_between
from ..equations.closed.coupled import ClosedFunctions
from ..equations.closed.coupled_delta import DeltaTies, rod_ends, rod_places, rod_rows
from ..equations.closed.delta_legs import leg_robot
from ..equations.closed.loops import Loops
from ..equations.evaluate import casadi
from ..kernels.scalars import (
    Matrix,
    Scalar,
    Vector,
    cross,
    dot,
    mul,
    negate,
    scale,
    transpose,
    vadd,
)
from ..robot import MechanismRobot, SerialRobot
from .output import Expression, Motion, Output
from .sensor import Sensor

__all__ = ["Leg", "Tree", "closed_function", "pull_beyond", "within"]


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


@dataclass(frozen=True)
class Leg:
    """What outputs ask of a Model, of one rod of a Delta with the arm it hangs on, leg axes.

    Attributes:
        axes: (3, 3), of the leg in base axes.  beside: the other rod of a parallelogram on an
        image of the arm that has no mass, and how it moves; its wrench is what its end feels.
    """

    robot: SerialRobot
    laws: Laws
    axes: Matrix
    beside: tuple[Leg, Motion] | None = None

    @property
    def chain(self) -> Chain:
        """The chain of motor, arm, joint B and rod."""
        return self.laws.chain

    @property
    def size(self) -> int:
        """Length of its coordinates."""
        return self.chain.size


def closed_function(functions: ClosedFunctions, output: Output) -> Any:
    """Return an output of a robot with loops as a CasADi function (q, qd, qdd, wrench) -> (k,)."""
    ca, loops = casadi(), functions.loops
    rows = loops.symbols.c.numel()
    z, v, a = (ca.SX.sym(word, len(loops.order)) for word in "zva")
    load, pull = ca.SX.sym("F", 6), ca.SX.sym("l", rows)
    motion = Motion(z, v, a, load, pull)
    if isinstance(loops, DeltaTies):
        found = _of_leg(loops, output, motion)
    else:
        assert isinstance(loops, Loops)
        tree: Any = Tree(loops.robot, loops.laws.chain, loops.laws, loops.rows)
        found = output.expression(tree, motion)
    inner = ca.Function("tree", [z, v, a, load, pull], ca.cse([ca.densify(found)]))
    sizes = [len(loops.kept)] * 3 + [6, len(loops.followers)]
    q, qd, qdd, wrench, near = (loops.symbol(w, k) for w, k in zip("qvawn", sizes, strict=True))
    at, pulls = functions.closing((q, qd, qdd), wrench, near)
    core = ca.Function(
        "core", [q, qd, qdd, wrench, near], [inner(at.z, at.zd, at.zdd, wrench, pulls)]
    )
    x = [ca.MX.sym(word, size) for word, size in zip("qvaw", sizes[:4], strict=True)]
    start = functions.derived("start", loops.start)
    return ca.Function("output", x, [core(*x, ca.stop_diff(start(x[0]), 1))])


def _of_leg(ties: DeltaTies, output: Output, motion: Motion) -> Expression:
    """An output of a Delta, read in the leg of its link; closures pull at the ends of rods."""
    ca, legs = casadi(), ties.legs
    sides, places = len(legs.chains), rod_places(legs)
    asked: Any = output.output if isinstance(output, Sensor) else output
    word = "link" if hasattr(asked, "link") else "joint"
    leg, part = divmod(legs.book.index(getattr(asked, word)), 1 + sides)  # arm, rod or rods
    first = sides * leg
    ends = rod_ends(legs, motion.q)
    robot, none = leg_robot(legs.robot), np.zeros((legs.chains[0].size,) * 2)

    def moved(k: int, beside: Any = None) -> tuple[Leg, Motion]:
        d, (p, axes, root) = ca.SX.sym("d", 6), ends[k]
        rolled = ca.horzcat(*(c + ca.cross(d[3:], c) for c in ca.horzsplit(axes)))
        shifted = [*ends[:k], (p + d[:3], rolled, root), *ends[k + 1 :]]
        rows = rod_rows(legs, motion.q, shifted)
        at = sum(row.numel() for rod in rows[:k] for row in rod)
        mine = ca.vertcat(*rows[k])
        work = ca.dot(mine, motion.closing[at : at + mine.numel()])
        felt = ca.densify(ca.substitute(ca.gradient(work, d), d, ca.DM.zeros(6)))
        A = legs.axes[k]
        chain = replace(legs.chain(k), gravity=tuple((A.T @ ties.gravity).tolist()))
        q, qd, qdd = (part[places[k]] for part in (motion.q, motion.qd, motion.qdd))
        return Leg(robot, laws_of(chain, none), A.tolist(), beside), Motion(q, qd, qdd, felt)

    both = part == 0 and sides > 1
    read, moving = moved(first + max(part - 1, 0), moved(first + 1) if both else None)
    link = read.chain.links[-1 if part else 0]
    return replace(asked, **{word: link.name}).expression(read, moving)


def pull_beyond(
    tree: Tree, motion: Motion, i: int, x: Scalar, about: Vector
) -> tuple[Expression, Expression]:
    """Return force and moment about a point, base axes, of the closures on all beyond a section.

    That is beyond x metres along link i; x a number below zero: its root and hub among it.
    """
    ca = casadi()
    robot, force, moment = tree.robot, [0.0] * 3, [0.0] * 3
    q = motion.lists()[0]
    every = closure_ends(robot, tree.laws, q)
    at = 0
    pulls = dict(zip(tree.rows, ca.vertsplit(motion.closing), strict=True))
    for k, (loop, ends, length) in enumerate(every):
        given = [ca.SX.sym(f"d{k}", 6), ca.SX.sym(f"e{k}", 6)]
        shifted = []  # frames moved by d[:3] and turned by small d[3:], base axes
        for (p, R), symbols in zip(ends, given, strict=True):
            d = ca.vertsplit(symbols)
            columns = [vadd(c, cross(d[3:], c)) for c in transpose(R)]
            shifted.append((vadd(p, d[:3]), transpose(columns)))
        rows = rows_between(loop, shifted[0], shifted[1], length)
        own = ca.vertcat(*(pulls.get(at + r, 0.0) for r in range(len(rows))))
        at += len(rows)
        work = ca.dot(ca.vertcat(*rows), own)
        for (p, _), j, place, d in zip(ends, loop.ends, loop.at, given, strict=True):
            # whether it lies beyond x of link i, or hangs there
            on, at_ = j, place
            while on >= 0 and on != i:
                at_, on = robot.links[on].at, robot.parents[on]
            share = 1.0 if at_ is None else within(at_, x)
            if on != i or (isinstance(share, float) and not share):
                continue
            slope = ca.gradient(work, d)
            slope = ca.substitute(slope, ca.vertcat(*given), ca.DM.zeros(12))
            W = scale(share, ca.vertsplit(ca.densify(slope)))
            arm = vadd(p, negate(about))
            force = vadd(force, W[:3])
            moment = vadd(moment, vadd(W[3:], cross(arm, W[:3])))
            if (
                at_ is not None
                and tree.chain.links[i].slide is not None
                and not isinstance(x, float)
            ):
                # along the beam, which slides through, it is the hub that holds
                frames = tree.laws.frames(q)
                e = [row[0] for row in frames[i][1]]
                held = scale(mul(-1.0, dot(e, W[:3])), e)
                there = section_frame(tree.chain, frames, i, sections_of(robot)[i, at_])[0]
                force = vadd(force, held)
                moment = vadd(moment, cross(vadd(there, negate(about)), held))
    return force, moment


def within(place: Scalar, x: Scalar) -> Scalar:
    """Return 1 where a place lies at x or beyond, else 0, in any scalars."""
    beyond = place >= x * (1 - 1e-12)
    return float(beyond) if isinstance(beyond, bool) else casadi().if_else(beyond, 1.0, 0.0)
