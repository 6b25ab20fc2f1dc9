"""The coupled Delta: flexible legs, platform and closures, rigid and elastic motion together.

Motors and elastic coordinates, q = [theta, eps, eta], are free; the passive angles and the
platform's place and turns, w, follow from the closures. At D a rod's end meets the platform (3
rows). Single rods: its z stays square to the platform's tangent (1). Twist: the rod does not turn
about itself against arm and platform, seen from where they stand in the rigid robot at the same
theta (1 at B, 1 at D). So many rows as followers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.scalars import Vector
from ..chains.chain import Chain
from ..chains.chain_equations import Laws, laws_of, rubbing
from ..evaluate import casadi
from .delta_legs import DeltaLegs
from .delta_rigid import rigid_followers, rod_axes, turns
from .followers import Followers
from .rigid_delta import delta_bodies, first_moment
from .ties import Symbols, Ties, Tree

__all__ = ["DeltaTies", "rod_ends", "rod_places", "rod_rows"]

Array = NDArray[np.float64]
ROUNDS = 3  # of Newton's method from the rigid robot to a bent one


class DeltaTies(Ties):
    """The legs of a Delta, tied to its platform; z = [q, w].

    Args:
        legs: its chains.  K, D: (N, N).  friction: (3,), Coulomb's of the motors.
    """

    def __init__(self, legs: DeltaLegs, K: Array, D: Array, friction: Array) -> None:
        n, m = legs.book.size, legs.followers
        self.legs, self.K, self.D = legs, K, D
        self.friction = tuple(friction.tolist()) if friction.any() else ()
        self.name, self.motors = legs.robot.name, 3
        self.gravity = np.asarray(legs.robot.gravity, float)
        self.kept, self.followers = tuple(range(n)), tuple(range(n, n + m))
        self.named = tuple(f"w{k + 1}" for k in range(m))
        self.stiffness = np.zeros((n + m, n + m))
        self.stiffness[:n, :n] = K
        at = legs.book.pose()
        self.assembled = np.concatenate([at, np.array(rigid_followers(legs)(at[:3])).ravel()])

    @cached_property
    def symbols(self) -> Symbols:
        """Symbols of all coordinates and the closures in them."""
        ca = casadi()
        q, w = ca.SX.sym("q", len(self.kept)), ca.SX.sym("w", len(self.followers))
        z = ca.vertcat(q, w)
        rows = rod_rows(self.legs, z, rod_ends(self.legs, z))
        c = ca.vertcat(*(row for own in rows for row in own))
        return Symbols(z, c, c)

    def book(self, q: Array, found: Callable[[Array], Array]) -> tuple[None, Array]:
        """Return q: arms and rods of all legs are read there."""
        return None, q

    def start(self) -> Any:
        """Return q to w, found from where the rigid robot is."""
        ca, part = casadi(), Followers(self).closures
        q = ca.MX.sym("q", len(self.kept))
        w = rigid_followers(self.legs)(q[:3])
        for _ in range(ROUNDS):
            there = part["factors"](q, w)
            for _ in range(2):
                w = w - part["solve"](there, part["c"](q, w))
        return ca.Function("start", [q], [w])

    def open_chains(self, q: Array, w: Array) -> list[tuple[Array, Chain, Array]]:
        """Leg axes, chain and its coordinates (T, n) of every rod at states (T, N)."""
        z, legs = np.concatenate([q, w], axis=1), self.legs
        return [(legs.axes[k], legs.chain(k), z[:, p]) for k, p in enumerate(rod_places(legs))]

    def tree(self, name: Tree) -> Any:
        """Return forces, mass, energies or the tip of legs and platform as an SX function."""
        ca, n, size = casadi(), len(self.kept), len(self.stiffness)
        z, zd, zdd = (ca.SX.sym(word, size) for word in ("z", "v", "a"))
        g, wrench = ca.SX.sym("g", 3), ca.SX.sym("F", 6)
        q, rest = z[:n], ca.SX.zeros(size - n)
        bent = ca.mtimes(ca.sparsify(ca.DM(self.K)), q)
        if name == "elastic":
            return ca.Function(name, [z], [ca.vertcat(bent, rest)])
        if name == "stiffness":
            return ca.Function(name, [z], [ca.sparsify(ca.DM(self.stiffness))])
        if name == "lost":
            felt = ca.mtimes(ca.sparsify(ca.DM(self.D)), zd[:n])
            rubs = [ca.SX(f) for f in rubbing(self.friction, ca.vertsplit(zd[:3]))]
            felt[: len(rubs)] += ca.vertcat(*rubs)
            return ca.Function(name, [z, zd], [ca.vertcat(felt, rest)])
        if name == "tip":
            return ca.Function(name, [z], [z[-6:-3], turns(z[-3:])[0]])
        if name == "mass":
            return ca.Function(name, [z], ca.cse([self._moved("mass", z)[0]]))
        if name == "energies":
            momentum = self._moved("inverse", z, ca.SX.zeros(size), zd, ca.SX.zeros(3))[0]
            height = self._moved("height", z, ca.SX(ca.DM(self.gravity)))[1]
            found = ca.vertcat(ca.dot(momentum, zd) / 2, ca.dot(q, bent) / 2, height)
            return ca.Function(name, [z, zd], ca.cse([found]))
        force = self._moved("inverse", z, zd, zdd, g)[0]
        if name == "inverse":
            return ca.Function(name, [z, zd, zdd, g], ca.cse([force]))
        felt = ca.vertcat(wrench[:3], ca.mtimes(turns(z[-3:])[1].T, wrench[3:]))
        force[size - 6 :] -= felt
        return ca.Function(name, [z, zd, zdd, g, wrench], ca.cse([force]))

    def _moved(self, what: str, z: Any, *given: Any) -> tuple[Any, Any]:
        """Forces or mass of legs and platform on z, and heights; `given` is zd, zdd, g or g."""
        ca, size = casadi(), z.numel()
        sides = [
            _leg(laws_of(chain, np.zeros((chain.size,) * 2)), what) for chain in self.legs.chains
        ]
        body = _platform(delta_bodies(self.legs.robot).platform)[what]
        chains = [
            (place, sides[k % len(sides)], ca.DM(self.legs.axes[k]))
            for k, place in enumerate(rod_places(self.legs))
        ]
        chains.append((list(range(size - 6, size)), body, ca.DM.eye(3)))
        out, height = ca.SX(size, size) if what == "mass" else ca.SX.zeros(size), ca.SX(0)
        for place, part, axes in chains:
            if what == "mass":
                out[place, place] += part(z[place])
            elif what == "inverse":
                zd, zdd, g = given
                own = (z[place], zd[place], zdd[place], ca.mtimes(axes.T, g))
                out[place] += part(*own)
            else:
                height += part(z[place], ca.mtimes(axes.T, given[0]))
        return out, height


def rod_places(legs: DeltaLegs) -> list[list[int]]:
    """Return where the coordinates of each chain stand in z = [q, w]."""
    n, out = legs.book.size, []
    for k, own in enumerate(legs.own):
        start = n + legs.passive * k
        place = np.empty(legs.chains[0].size, int)
        place[legs.kept] = own
        place[1 : 1 + legs.passive] = np.arange(start, start + legs.passive)
        out.append(place.tolist())
    return out


def _leg(laws: Laws, what: str) -> Any:
    """Forces, mass or height of one chain, leg axes, as an SX function with gravity an input."""
    import casadi as ca

    n = laws.chain.size
    q, qd, qdd = (ca.SX.sym(word, n) for word in ("q", "qd", "qdd"))
    g = ca.SX.sym("g", 3)
    lists: list[Vector] = [ca.vertsplit(x) for x in (q, qd, qdd)]
    weight: Vector = ca.vertsplit(g)
    if what == "mass":
        M = ca.vertcat(*(ca.horzcat(*row) for row in laws.mass(lists[0])))
        return ca.Function("m", [q], ca.cse([ca.sparsify(M)]))
    if what == "height":
        return ca.Function("v", [q, g], ca.cse([ca.SX(laws.height(lists[0], weight))]))
    force = ca.vertcat(*laws.inverse(lists[0], lists[1], lists[2], weight))
    return ca.Function("f", [q, qd, qdd, g], ca.cse([force]))


def rod_ends(legs: DeltaLegs, z: Any) -> list[tuple[Any, Any, Any]]:
    """Return of every rod what `_tip` does, at coordinates z = [q, w]."""
    tips = [_tip(laws_of(chain, np.zeros((chain.size,) * 2))) for chain in legs.chains]
    return [tips[k % len(tips)](z[place]) for k, place in enumerate(rod_places(legs))]


def rod_rows(legs: DeltaLegs, z: Any, ends: list[tuple[Any, Any, Any]]) -> list[list[Any]]:
    """Return the closure rows of every rod, where rods end so: place, axes, axes at the root."""
    import casadi as ca

    rods, P, R = legs.robot.lower.rods, z[-6:-3], turns(z[-3:])[0]
    rigid = rigid_followers(legs)(z[:3]) if rods == "twist" else None
    out = []
    for k, (p, axes, root) in enumerate(ends):
        A = ca.DM(legs.axes[k])
        rows = [ca.mtimes(A, p) - P - ca.mtimes(R, ca.mtimes(A, legs.anchor[k]))]
        if rods == "single":
            rows.append(ca.dot(ca.mtimes(A, axes[:, 2]), ca.mtimes(R, A[:, 1])))
        elif rigid is not None:
            first = legs.passive * k
            arm, rod = rod_axes(z[k], rigid[first], rigid[first + 1])
            rows.append(_twisted(ca.mtimes(arm.T, rod), root))
            rows.append(_twisted(rod, ca.mtimes(ca.mtimes(R, A).T, ca.mtimes(A, axes))))
        out.append(rows)
    assert legs.book.size + legs.followers == z.numel()
    return out


def _twisted(wanted: Any, found: Any) -> Any:
    """How far one rotation is turned about its own x against another."""
    import casadi as ca

    E = ca.mtimes(wanted.T, found)
    return (E[2, 1] - E[1, 2]) / 2


def _tip(laws: Laws) -> Any:
    """Place and axes of a chain's end, leg axes; its rod's root axes seen from the arm's end."""
    import casadi as ca

    q = ca.SX.sym("q", laws.chain.size)
    entries = ca.vertsplit(q)
    p, R = laws.tip(entries)
    matrix = [ca.vertcat(*(ca.horzcat(*row) for row in R))]
    frames, back = laws.frames(entries), laws.chain.links
    arm, rod = (ca.vertcat(*(ca.horzcat(*row) for row in frames[k][1])) for k in (0, -1))
    turn: Any = ca.vertcat(*(ca.horzcat(*row) for row in frames[0][2].turn))
    arm = ca.mtimes(ca.mtimes(arm, turn), back[0].R_SL)
    root = ca.mtimes(arm.T, ca.mtimes(rod, back[-1].R_SL))
    return ca.Function("tip", [q], ca.cse([ca.vertcat(*p), *matrix, root]))


def _platform(mass: Array) -> dict[str, Any]:
    """Forces, mass and height of a body over its place and turns, SX functions."""
    import casadi as ca

    x, v, a = (ca.SX.sym(word, 6) for word in ("x", "v", "a"))
    g = ca.SX.sym("g", 3)
    R, E = turns(x[3:])
    T = ca.diagcat(R, R)
    P = ca.mtimes(ca.mtimes(T, mass), T.T)
    spin = ca.mtimes(E, v[3:])
    change = ca.mtimes(E, a[3:]) + ca.jtimes(spin, x[3:], v[3:])
    s = ca.mtimes(R, first_moment(mass))
    bias = ca.vertcat(ca.cross(spin, ca.cross(spin, s)), ca.cross(spin, ca.mtimes(P[3:, 3:], spin)))
    weight = ca.vertcat(mass[0, 0] * g, ca.cross(s, g))
    J = ca.diagcat(ca.SX.eye(3), E)
    push = ca.mtimes(P, ca.vertcat(a[:3], change)) + bias - weight
    return {
        "inverse": ca.Function("f", [x, v, a, g], ca.cse([ca.mtimes(J.T, push)])),
        "mass": ca.Function("m", [x], ca.cse([ca.mtimes(ca.mtimes(J.T, P), J)])),
        "height": ca.Function("v", [x, g], [-ca.dot(g, mass[0, 0] * x[:3] + s)]),
    }
