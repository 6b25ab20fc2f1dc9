"""Loops: outputs of a robot whose tree is closed into loops, its closures as forces on the tree.

With the tree's coordinates z of a motion q, followers w among them, the closures c(z) = 0 pull with
dc/dz' lambda, and since no motor acts on followers, lambda = (dc/dw)'^-1 f_w of all other forces f.
Of rows that repeat, those left out of the equations pull nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..equations.chains.chain import Chain
from ..equations.chains.chain_equations import ChainEquations, section_frame
from ..equations.chains.tree import sections_of
from ..equations.closed.closures import ClosedPair, closure_ends, rows_between
from ..equations.closed.coupled import ClosedFunctions
from ..equations.closed.loops import Loops
from ..equations.evaluate import casadi
from ..kernels.scalars import Scalar, Vector, cross, dot, mul, negate, scale, transpose, vadd
from ..robot import MechanismRobot
from .output import Expression, Motion, Output

__all__ = [
    "ClosurePull",
    "OpenTree",
    "closed_function",
    "closure_pulls",
    "pull_beyond",
    "step_function",
]


@dataclass(frozen=True)
class OpenTree:
    """What outputs ask of a Model, of the tree of a robot with loops: coordinates are z."""

    loops: Loops

    @property
    def robot(self) -> MechanismRobot:
        """The mechanism."""
        return self.loops.robot

    @property
    def laws(self) -> ChainEquations:
        """Its equations over z."""
        return self.loops.laws

    @property
    def chain(self) -> Chain:
        """Its links."""
        return self.laws.chain

    @property
    def size(self) -> int:
        """Length of z."""
        return self.chain.size


def closed_function(functions: ClosedFunctions, output: Output) -> Any:
    """Return an output of a robot with loops as a CasADi function (q, qd, qdd, wrench, w) -> (k,).

    w: about where the followers are.
    """
    ca = casadi()
    loops = functions.loops
    rows = loops.symbols.c.numel()
    z, v, a = (ca.SX.sym(word, len(loops.order)) for word in "zva")
    load = ca.SX.sym("F", 6)
    pull = ca.SX.sym("l", rows)
    motion = Motion(z, v, a, load, pull)
    tree: Any = OpenTree(loops)
    found = output.expression(tree, motion)
    inner = ca.Function("tree", [z, v, a, load, pull], ca.cse([ca.densify(found)]))
    sizes = [len(loops.independent)] * 3 + [6, len(loops.followers)]
    q, qd, qdd, wrench, guess = (loops.symbol(w, k) for w, k in zip("qvawn", sizes, strict=True))
    at, pulls = functions.closing((q, qd, qdd), wrench, guess)
    found = [inner(at.z, at.zd, at.zdd, wrench, pulls)]
    return ca.Function("core", [q, qd, qdd, wrench, guess], found)


@dataclass(frozen=True)
class ClosurePull:
    """How one closure pulls on its two ends: the work of its rows over small motions of these."""

    tied: ClosedPair
    work: Any
    shifts: tuple[Any, Any]

    def wrench(self, end: int) -> list[Any]:
        """Force and moment (6,) on an end, 0 or 1, about its point, base axes."""
        ca = casadi()
        slope = ca.gradient(self.work, self.shifts[end])
        slope = ca.substitute(slope, ca.vertcat(*self.shifts), ca.DM.zeros(12))
        return list(ca.vertsplit(ca.densify(slope)))


def closure_pulls(tree: OpenTree, motion: Motion) -> list[ClosurePull]:
    """Return how every closure pulls, with the multipliers of its rows in `motion.closing`."""
    ca = casadi()
    q = motion.lists()[0]
    frames = tree.laws.frames(q)
    every = closure_ends(
        tree.robot,
        tree.chain,
        q,
        lambda i, k: section_frame(tree.chain, frames, i, k),
        tree.loops.unbent,
    )
    multipliers = dict(zip(tree.loops.rows, ca.vertsplit(motion.closing), strict=True))
    found = []
    first_row = 0
    for k, tied in enumerate(every):
        shifts = (ca.SX.sym(f"d{k}", 6), ca.SX.sym(f"e{k}", 6))
        shifted = []  # frames moved by d[:3] and turned by small d[3:], base axes
        for (p, R), symbols in zip(tied.ends, shifts, strict=True):
            d = ca.vertsplit(symbols)
            columns = [vadd(c, cross(d[3:], c)) for c in transpose(R)]
            shifted.append((vadd(p, d[:3]), transpose(columns)))
        rows = rows_between(replace(tied, ends=(shifted[0], shifted[1])))
        own = ca.vertcat(*(multipliers.get(first_row + r, 0.0) for r in range(len(rows))))
        first_row += len(rows)
        found.append(ClosurePull(tied, ca.dot(ca.vertcat(*rows), own), shifts))
    return found


def pull_beyond(
    tree: OpenTree, motion: Motion, i: int, x: Scalar, about: Vector
) -> tuple[Expression, Expression]:
    """Return force and moment about a point, base axes, of the closures on all beyond a section.

    That is beyond x metres along link i; x a number below zero: its root and hub among it.
    """
    robot = tree.robot
    force = [0.0] * 3
    moment = [0.0] * 3
    q = motion.lists()[0]
    for pulled in closure_pulls(tree, motion):
        loop = pulled.tied.loop
        ends = pulled.tied.ends
        for end, ((p, _), j, place) in enumerate(zip(ends, loop.ends, loop.at, strict=True)):
            # whether it lies beyond x of link i, or hangs there
            on = j
            at_ = place
            while on >= 0 and on != i:
                at_ = robot.links[on].at
                on = robot.parents[on]
            share = 1.0 if at_ is None else step_function(at_, x)
            if on != i or (isinstance(share, float) and not share):
                continue
            W = scale(share, pulled.wrench(end))
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
                along_edge = scale(mul(-1.0, dot(e, W[:3])), e)
                there = section_frame(tree.chain, frames, i, sections_of(robot)[i, at_])[0]
                force = vadd(force, along_edge)
                moment = vadd(moment, cross(vadd(there, negate(about)), along_edge))
    return force, moment


def step_function(place: Scalar, x: Scalar) -> Scalar:
    """Return 1 where a place lies at x or beyond, else 0, in any scalars."""
    beyond = place >= x * (1 - 1e-12)
    return float(beyond) if isinstance(beyond, bool) else casadi().if_else(beyond, 1.0, 0.0)
