"""Slopes of the forces of loops by q and q', put together from those of limbs and closures.

With N = [1; B], forces f(z, z', z'') of the tree, lambda = c_w'^-1 f_w and H = sum lambda_i c_i,zz
the forces r = N' f on q change by
    r_q = N' [(f_z - H) N + f_z' z'_q + M z''_q],   r_q' = N' [f_z' N + M z''_q'],
where z'_q, z''_q and z''_q' are those of followers alone:
    c_w w'_q = -J N,   c_w w''_q = -(G N + 2 J z'_q),   c_w w''_q' = -2 J N,
with J = d(c_z z')/dz and G = d(c_z z'' + c_zz z' z')/dz. A limb is asked along its own coordinates
only, and nothing passes through Newton's method; one expression of it all would be far larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..evaluate import casadi, slope
from .followers import DependentCoordinates, TreeRates
from .loops import Loops
from .ties import TreeFunction

__all__ = ["force_slopes", "rest_slopes"]


class TreeForces(Protocol):
    """Functions of a tree with closures, as `ClosedFunctions` has them."""

    loops: Loops

    @property
    def at_rest(self) -> tuple[TreeFunction, ...]:
        """Forces that depend on where the tree is alone, besides its weight."""

    def tree(self, name: TreeFunction) -> Any:
        """Return one function of the tree."""


def force_slopes(forces: TreeForces, at: TreeRates, force: Any) -> list[Any]:
    """Return r_q, r_q' and r_q'' of all forces on the tree in a motion, and slopes of its tip.

    Of the tip p_q (3, N), its axes by q (9, N), column after column, and these themselves.
    """
    loops = forces.loops
    tree = forces.tree
    ca = casadi()
    here = _Pose(loops, at)
    lost = tree("lost")
    n = len(loops.independent)
    m = len(loops.followers)
    places = here.places
    moved = (at.z, at.zd, at.zdd, loops.gravity)
    by_z, by_zd = (
        here.blocks([limb.slopes(k, *moved) for limb in here.limbs]) + slope(lost, k)(at.z, at.zd)
        for k in (0, 1)
    )
    for name in forces.at_rest:
        by_z += slope(tree(name), 0)(at.z)
    M = tree("mass")(at.z)[places, places]
    zd = at.zd[places]
    zdd = at.zdd[places]
    N = here.N
    J = [part.rows(at, zd) for part in here.parts]
    G = [part.rows(at, zdd) + part.rows(at, zd, True) for part in here.parts]
    own = M[:, n:]
    slow = by_zd[places, places]
    wd = here.solve_dependent(here.times(J, N))
    turns = here.times(G, N) + 2 * here.times(J, ca.vertcat(ca.MX(n, n), wd))
    change = here.force_slopes(force, by_z) + ca.mtimes(slow[:, n:], wd)
    change += ca.mtimes(own, here.solve_dependent(turns))
    rate = ca.mtimes(slow, N) + 2 * ca.mtimes(own, wd)
    tip = tree("tip")
    z = ca.MX.sym("z", n + m)
    axes = ca.Function("axes", [z], [ca.vec(tip(z)[1])])
    return [
        *(ca.mtimes(N.T, x) for x in (change, rate, ca.mtimes(M, N))),
        *(ca.mtimes(slope(made, 0)(at.z), N[loops.order, :]) for made in (tip, axes)),
        tip(at.z)[1],
    ]


def rest_slopes(forces: TreeForces, at: TreeRates) -> list[Any]:
    """Return r_q and r_q' of a robot that stands still: of weight, bending, springs and damping."""
    loops = forces.loops
    tree = forces.tree
    ca = casadi()
    here = _Pose(loops, at)
    force = sum((tree(name)(at.z) for name in forces.at_rest), 0 * at.z)
    for limb in here.limbs:
        rows = ca.DM.eye(force.numel())[:, list(limb.places)]
        force += ca.mtimes(rows, limb.weight(at.z, loops.gravity))
    by_z = here.blocks([limb.weight(at.z, loops.gravity, True) for limb in here.limbs])
    for name in forces.at_rest:
        by_z += slope(tree(name), 0)(at.z)
    by_zd = slope(tree("lost"), 1)(at.z, 0 * at.z)[here.places, here.places]
    each = here.force_slopes(force, by_z), ca.mtimes(by_zd, here.N)
    return [ca.mtimes(here.N.T, x) for x in each]


@dataclass(frozen=True)
class _Closure:
    """The rows of one closure and the coordinates that they depend on, places in c and [q; w].

    `bend`: (q, w, d) to d(c_z d)/dz, `third`: (q, w, z') to d(c_zz z' z')/dz, `curve`: (q, w, y) to
    y' c_zz.
    """

    own: list[int]
    on: list[int]
    bend: Any
    third: Any
    curve: Any

    def rows(self, at: TreeRates, along: Any, third: bool = False) -> Any:
        """The matrix (rows, coordinates) of `bend` or `third` along a vector."""
        return (self.third if third else self.bend)(at.q, at.w, along[self.on])


def _closures(loops: Loops) -> list[_Closure]:
    """Every closure of loops, its second and third derivatives in symbols."""
    ca = casadi()
    n = len(loops.independent)
    m = len(loops.followers)
    q = ca.SX.sym("q", n)
    w = ca.SX.sym("w", m)
    c = DependentCoordinates(loops).closures["c"](q, w)
    both = ca.vertcat(q, w)
    touched = np.array(ca.DM(ca.jacobian_sparsity(c, both), 1.0)) != 0
    sizes = [len(rows) for rows in loops.symbolic_tree.rows]
    owner = np.repeat(np.arange(len(sizes)), sizes)[list(loops.rows)]
    out = []
    for closure in np.unique(owner):
        own = np.flatnonzero(owner == closure).tolist()
        on = np.flatnonzero(touched[own].any(axis=0)).tolist()
        x = both[on]
        part = c[own]
        y = ca.SX.sym("y", len(own))
        d = ca.SX.sym("d", len(on))
        moved = ca.jtimes(part, x, d)
        slopes = {
            "bend": ([q, w, d], ca.jacobian(moved, x)),
            "third": ([q, w, d], ca.jacobian(ca.jtimes(moved, x, d), x)),
            "curve": ([q, w, y], ca.hessian(ca.dot(y, part), x)[0]),
        }
        each = {name: ca.Function(name, given, [f]) for name, (given, f) in slopes.items()}
        out.append(_Closure(own, on, **each))
    return out


class _Pose:
    """What the closures do to slopes at a pose: N = dz/dq, z as [q; w], and matrices over rows."""

    def __init__(self, loops: Loops, at: TreeRates) -> None:
        self.loops = loops
        self.at = at
        self.places = [*loops.independent, *loops.followers]
        self.limbs = [limb for limb in loops.symbolic_tree.limbs if limb.places]
        if "closures by parts" not in loops.function_cache:
            loops.function_cache["closures by parts"] = _closures(loops)
        self.parts: list[_Closure] = loops.function_cache["closures by parts"]

    def blocks(self, each: list[Any]) -> Any:
        """Matrices (own, own) of limbs side by side, over z."""
        ca = casadi()
        limb_places = [k for limb in self.limbs for k in limb.places]
        rods = [k for k in range(len(self.places)) if k not in limb_places]
        order = np.argsort(limb_places + rods).tolist()
        return ca.diagcat(*each, ca.MX(len(rods), len(rods)))[order, order]

    @cached_property
    def N(self) -> Any:
        """(Z, N) dz/dq."""
        return casadi().vertcat(
            casadi().DM.eye(len(self.loops.independent)), self.solve_dependent(self.at.U)
        )

    def solve_dependent(self, b: Any) -> Any:
        """-c_w^-1 b of a matrix b."""
        solve = DependentCoordinates(self.loops).closures["solve"]
        each = solve.map("solve", "serial", len(self.loops.independent), [0], [])
        return -each(self.at.factors, casadi().densify(b))

    def times(self, matrices: list[Any], X: Any) -> Any:
        """A matrix over all rows, given by closure, times X."""
        ca = casadi()
        each = zip(self.parts, matrices, strict=True)
        found = ca.vertcat(*(ca.mtimes(A, X[part.on, :]) for part, A in each))
        return found[np.argsort([k for part in self.parts for k in part.own]).tolist(), :]

    def force_slopes(self, force: Any, by_z: Any) -> Any:
        """(f_z - H) N with H = sum lambda_i c_i,zz."""
        ca = casadi()
        at = self.at
        solved = DependentCoordinates(self.loops).closures
        felt = solved["turned"](at.factors, force[list(self.loops.followers)])
        out = ca.mtimes(by_z[self.places, self.places], self.N)
        for part in self.parts:
            H = part.curve(at.q, at.w, felt[part.own])
            rows = ca.DM.eye(len(self.places))[:, part.on]
            out -= ca.mtimes(rows, ca.mtimes(H, self.N[part.on, :]))
        return out
