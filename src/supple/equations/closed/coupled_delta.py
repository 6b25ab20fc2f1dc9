"""The coupled Delta: flexible legs, platform and closures, rigid and elastic motion together.

Motors and elastic coordinates, q = [theta, eps, eta], are independent; the passive angles and the
platform's place and turns, w, follow from the closures c(q, w) = 0, solved by Newton inside every
evaluation, so that nothing drifts. With z = [q, w], z' = N q', N = [1; B], B = -c_w^-1 c_q,
    N' M N q'' + N' (f + M N' q') + D q' + K q = tau.
At D a rod's end meets the platform (3 rows). Single rods: its z stays square to the platform's
tangent (1). Twist: the rod does not turn about itself against arm and platform, seen from where
they stand in the rigid robot at the same theta (1 at B, 1 at D). So many rows as followers.
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
from ..evaluate import slope
from ..functions import LoopFunctions
from .delta_legs import DeltaLegs
from .delta_rigid import rigid_followers, rod_axes, turns
from .rigid_delta import delta_bodies, first_moment

__all__ = ["DeltaFunctions"]

Array = NDArray[np.float64]
CLOSED = 1e-13  # m and 1: closure error at which Newton stops
OPEN = 1e-10  # closure error at which the loops count as open


class DeltaFunctions(LoopFunctions):
    """The equations of a coupled Delta as CasADi functions.

    Args:
        legs: its chains.  K, D: (N, N).  friction: (3,), Coulomb's of the motors.
    """

    plain = ("derivatives",)

    def __init__(self, legs: DeltaLegs, K: Array, D: Array, friction: Array, compile_: bool):
        super().__init__(compile_)
        self.legs, self.K, self.D = legs, K, D
        self.friction = tuple(friction.tolist()) if friction.any() else ()
        self.names = tuple(_MAKERS)

    def ends(self) -> Array:
        """Return B (N, N) of `forward_dynamics_ends`: coordinates as they are."""
        return np.eye(self.legs.book.size)

    def symbol(self, word: str, size: int) -> Any:
        """Return an MX symbol: the functions hold a solver."""
        import casadi as ca

        return ca.MX.sym(word, size)

    def make(self, name: str) -> Any:
        """Return one function, its inputs by name."""
        import casadi as ca

        words, outputs = _MAKERS[name]
        n = self.legs.book.size
        sizes = {"q": n, "qd": n, "qdd": n, "tau": 3, "wrench": 6}
        x = {word: ca.MX.sym(word, sizes[word]) for word in words}
        dense = [ca.densify(out) for out in outputs(self, x)]
        names = [f"out{i}" for i in range(len(dense))]
        return ca.Function(name, list(x.values()), ca.cse(dense), list(words), names)

    # ------------------------------------------------------------------ what follows from q

    @cached_property
    def closures(self) -> dict[str, Any]:
        """c(q, w), its Jacobians c_q, c_w, and c'' at q'' = w'' = 0, as SX functions."""
        import casadi as ca

        q, w = (ca.SX.sym(word, size) for word, size in self._sizes)
        qd, wd = (ca.SX.sym(f"{word}d", size) for word, size in self._sizes)
        c = ca.vertcat(*_rows(self.legs, q, w))
        z, zd = ca.vertcat(q, w), ca.vertcat(qd, wd)
        second = ca.jtimes(ca.jtimes(c, z, zd), z, zd)
        J = [ca.jacobian(c, q), ca.jacobian(c, w)]
        return {
            "c": ca.Function("c", [q, w], ca.cse([c])),
            "J": ca.Function("J", [q, w], ca.cse(J)),
            "cdd": ca.Function("cdd", [q, w, qd, wd], ca.cse([second])),
            "follow": self._follow(q, w, c),
        }

    @property
    def _sizes(self) -> list[tuple[str, int]]:
        return [("q", self.legs.book.size), ("w", self.legs.followers)]

    def _follow(self, q: Any, w: Any, c: Any) -> Any:
        """w(q): Newton's method from where the rigid robot is; NaN where the loops stay open."""
        import casadi as ca

        options = {
            "abstol": CLOSED,
            "abstolStep": 1e-14,
            "max_iter": 40,
            "error_on_fail": False,
            "show_eval_warnings": False,
        }
        solver = ca.rootfinder("close", "fast_newton", {"x": w, "p": q, "g": c}, options)
        at = ca.MX.sym("q", q.numel())
        found = solver(rigid_followers(self.legs)(at[:3]), at)
        off = ca.norm_inf(ca.Function("off", [q, w], [c])(at, found))
        closed = ca.if_else(off < OPEN, found, ca.DM.nan(w.numel()))
        return ca.Function("follow", [at], [closed])

    def followed(self, q: Any) -> tuple[Any, Any, Any]:
        """w, c_q and c_w at q."""
        w = self.closures["follow"](q)
        return w, *self.closures["J"](q, w)

    def open_chains(self, q: Array) -> list[tuple[Array, Chain, Array]]:
        """Leg axes, chain and its coordinates (T, n) of every rod at states (T, N)."""
        z = np.concatenate([q, self.evaluator("followers")(q)[0]], axis=1)
        legs = self.legs
        return [(legs.axes[k], legs.chain(k), z[:, p]) for k, p in enumerate(_places(legs))]

    # ------------------------------------------------------------------ what moves, by chains

    @cached_property
    def inertia(self) -> dict[str, Any]:
        """Forces, mass, heights and tip of the chains and the platform over z, SX functions."""
        import casadi as ca

        sides = [_leg(laws_of(chain, np.zeros((chain.size,) * 2))) for chain in self.legs.chains]
        q, w = (ca.SX.sym(word, size) for word, size in self._sizes)
        z = ca.vertcat(q, w)
        zd, zdd = (ca.SX.sym(word, z.numel()) for word in ("zd", "zdd"))
        gravity = ca.SX.sym("g", 3)
        force, M, height = ca.SX(z.numel(), 1), ca.SX(z.numel(), z.numel()), ca.SX(0)
        for k, place in enumerate(_places(self.legs)):
            leg, g = sides[k % len(sides)], ca.mtimes(self.legs.axes[k].T, gravity)
            force[place] += leg["inverse"](z[place], zd[place], zdd[place], g)
            M[place, place] += leg["mass"](z[place])
            height += leg["height"](z[place], g)
        last = slice(z.numel() - 6, z.numel())
        body = _platform(delta_bodies(self.legs.robot).platform)
        force[last] += body["inverse"](z[last], zd[last], zdd[last], gravity)
        M[last, last] += body["mass"](z[last])
        height += body["height"](z[last], gravity)
        return {
            "inverse": ca.Function("f", [q, w, zd, zdd, gravity], ca.cse([force])),
            "mass": ca.Function("m", [q, w], ca.cse([M])),
            "height": ca.Function("v", [q, w, gravity], ca.cse([height])),
        }

    @cached_property
    def gravity(self) -> Array:
        """(3,) acceleration of gravity, base axes."""
        return np.asarray(self.legs.robot.gravity, float)

    def moved(self, q: Any, qd: Any, qdd: Any, gravity: Any, wrench: Any = None) -> Any:
        """N' (M z'' + h + g) on q, less a wrench on the platform."""
        import casadi as ca

        w, U, W = self.followed(q)
        zero = isinstance(qd, ca.DM)
        wd = ca.DM.zeros(w.numel()) if zero else -_solve(W, ca.mtimes(U, qd))
        push = ca.mtimes(U, qdd)
        push = push if zero else push + self.closures["cdd"](q, w, qd, wd)
        wdd = ca.DM.zeros(w.numel()) if zero and isinstance(qdd, ca.DM) else -_solve(W, push)
        force = self.inertia["inverse"](q, w, ca.vertcat(qd, wd), ca.vertcat(qdd, wdd), gravity)
        n = q.numel()
        rest = force[n:]
        if wrench is not None:
            J = turns(w[-3:])[1]
            felt = ca.vertcat(wrench[:3], ca.mtimes(J.T, wrench[3:]))
            rest = rest - ca.vertcat(ca.DM.zeros(w.numel() - 6), felt)
        return force[:n] - ca.mtimes(U.T, _solve(W.T, rest))

    def mass(self, q: Any) -> Any:
        """N' M N."""
        import casadi as ca

        w, U, W = self.followed(q)
        N = ca.vertcat(ca.DM.eye(q.numel()), -_solve(W, ca.densify(U)))
        return ca.mtimes(N.T, ca.mtimes(self.inertia["mass"](q, w), N))

    def lost(self, qd: Any) -> Any:
        """Damping and friction, D q' + f."""
        import casadi as ca

        out = ca.mtimes(ca.sparsify(ca.DM(self.D)), qd)
        if not self.friction:
            return out
        felt = [ca.MX(f) for f in rubbing(self.friction, ca.vertsplit(qd[:3]))]
        return out + ca.vertcat(*felt, ca.DM.zeros(qd.numel() - 3))

    def elastic(self, q: Any) -> Any:
        """K q."""
        import casadi as ca

        return ca.mtimes(ca.sparsify(ca.DM(self.K)), q)


def _solve(A: Any, b: Any) -> Any:
    import casadi as ca

    return ca.solve(ca.densify(A), b, "qr")  # it can be turned into C as well


def _places(legs: DeltaLegs) -> list[list[int]]:
    """Where the coordinates of each chain stand in z = [q, w]."""
    n, out = legs.book.size, []
    for k, own in enumerate(legs.own):
        start = n + legs.passive * k
        place = np.empty(legs.chains[0].size, int)
        place[legs.kept] = own
        place[1 : 1 + legs.passive] = np.arange(start, start + legs.passive)
        out.append(place.tolist())
    return out


def _leg(laws: Laws) -> dict[str, Any]:
    """Forces, mass, height of one chain, leg axes, as SX functions with gravity an input."""
    import casadi as ca

    n = laws.chain.size
    q, qd, qdd = (ca.SX.sym(word, n) for word in ("q", "qd", "qdd"))
    g = ca.SX.sym("g", 3)
    lists: list[Vector] = [ca.vertsplit(x) for x in (q, qd, qdd)]
    weight: Vector = ca.vertsplit(g)
    force = ca.vertcat(*laws.inverse(lists[0], lists[1], lists[2], weight))
    M = ca.vertcat(*(ca.horzcat(*row) for row in laws.mass(lists[0])))
    height = ca.SX(laws.height(lists[0], weight))
    return {
        "inverse": ca.Function("f", [q, qd, qdd, g], ca.cse([force])),
        "mass": ca.Function("m", [q], ca.cse([M])),
        "height": ca.Function("v", [q, g], ca.cse([height])),
    }


def _rows(legs: DeltaLegs, q: Any, w: Any) -> list[Any]:
    """The closures of all rods."""
    import casadi as ca

    rods, z = legs.robot.lower.rods, ca.vertcat(q, w)
    n, P, R = legs.book.size, w[-6:-3], turns(w[-3:])[0]
    rigid = rigid_followers(legs)(q[:3]) if rods == "twist" else None
    tips = [_tip(laws_of(chain, np.zeros((chain.size,) * 2))) for chain in legs.chains]
    out = []
    for k, place in enumerate(_places(legs)):
        p, axes, root = tips[k % len(tips)](z[place])
        A = ca.DM(legs.axes[k])
        out.append(ca.mtimes(A, p) - P - ca.mtimes(R, ca.mtimes(A, legs.anchor[k])))
        if rods == "single":
            out.append(ca.dot(ca.mtimes(A, axes[:, 2]), ca.mtimes(R, A[:, 1])))
        elif rigid is not None:
            first = legs.passive * k
            arm, rod = rod_axes(q[k], rigid[first], rigid[first + 1])
            out.append(_twisted(ca.mtimes(arm.T, rod), root))
            out.append(_twisted(rod, ca.mtimes(ca.mtimes(R, A).T, ca.mtimes(A, axes))))
    assert n + legs.followers == z.numel()
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


Outputs = dict[str, Any]


def _zero(f: DeltaFunctions) -> Any:
    import casadi as ca

    return ca.DM.zeros(f.legs.book.size)


def _mass(f: DeltaFunctions, x: Outputs) -> list[Any]:
    return [f.mass(x["q"])]


def _bias(f: DeltaFunctions, x: Outputs) -> list[Any]:
    return [f.moved(x["q"], x["qd"], _zero(f), np.zeros(3))]


def _gravity(f: DeltaFunctions, x: Outputs) -> list[Any]:
    return [f.moved(x["q"], _zero(f), _zero(f), f.gravity)]


def _inverse(f: DeltaFunctions, x: Outputs) -> list[Any]:
    moved = f.moved(x["q"], x["qd"], x["qdd"], f.gravity)
    return [moved + f.lost(x["qd"]) + f.elastic(x["q"])]


def _forward(f: DeltaFunctions, x: Outputs) -> list[Any]:
    import casadi as ca

    moved = f.moved(x["q"], x["qd"], _zero(f), f.gravity, x.get("wrench"))
    rest = moved + f.lost(x["qd"]) + f.elastic(x["q"])
    push = ca.vertcat(x["tau"], ca.DM.zeros(rest.numel() - 3)) - rest
    return [_solve(f.mass(x["q"]), push)]


def _elastic(f: DeltaFunctions, x: Outputs) -> list[Any]:
    return [f.elastic(x["q"])]


def _dissipation(f: DeltaFunctions, x: Outputs) -> list[Any]:
    return [f.lost(x["qd"])]


def _stiffness(f: DeltaFunctions, x: Outputs) -> list[Any]:
    import casadi as ca

    return [ca.MX(ca.DM(f.K))]


def _energies(f: DeltaFunctions, x: Outputs) -> list[Any]:
    import casadi as ca

    q, qd = x["q"], x["qd"]
    w, U, W = f.followed(q)
    zd = ca.vertcat(qd, -_solve(W, ca.mtimes(U, qd)))
    rest = ca.DM.zeros(zd.numel())
    momentum = f.inertia["inverse"](q, w, rest, zd, np.zeros(3))
    height = f.inertia["height"](q, w, f.gravity)
    return [ca.vertcat(ca.dot(momentum, zd) / 2, ca.dot(q, f.elastic(q)) / 2, height)]


def _tip_outputs(f: DeltaFunctions, x: Outputs) -> list[Any]:
    w = f.closures["follow"](x["q"])
    return [w[-6:-3], turns(w[-3:])[0]]


def _closure(f: DeltaFunctions, x: Outputs) -> list[Any]:
    return [f.closures["c"](x["q"], f.closures["follow"](x["q"]))]


def _followers(f: DeltaFunctions, x: Outputs) -> list[Any]:
    return [f.closures["follow"](x["q"])]


def _derivatives(f: DeltaFunctions, x: Outputs) -> list[Any]:
    """By the derivatives of the forces: dq'' = M^-1 (dtau - d(M q'' + ..)), q'' held."""
    import casadi as ca

    qdd = f.expression("forward_dynamics")(*x.values())
    state = (x["q"], x["qd"], qdd)
    by_q, by_qd = (slope(f.expression("inverse_dynamics"), k)(*state) for k in (0, 1))
    lead = ca.vertcat(ca.DM.eye(3), ca.DM.zeros(qdd.numel() - 3, 3))
    M = f.mass(x["q"])
    return [_solve(M, ca.densify(part)) for part in (-by_q, -by_qd, lead)]


_MAKERS: dict[str, tuple[tuple[str, ...], Callable[[DeltaFunctions, Outputs], list[Any]]]] = {
    "mass_matrix": (("q",), _mass),
    "bias": (("q", "qd"), _bias),
    "gravity": (("q",), _gravity),
    "forward_dynamics": (("q", "qd", "tau"), _forward),
    "forward_dynamics_loaded": (("q", "qd", "tau", "wrench"), _forward),
    "forward_dynamics_ends": (("q", "qd", "tau"), _forward),
    "inverse_dynamics": (("q", "qd", "qdd"), _inverse),
    "elastic": (("q",), _elastic),
    "dissipation": (("q", "qd"), _dissipation),
    "stiffness": (("q",), _stiffness),
    "energies": (("q", "qd"), _energies),
    "tip": (("q",), _tip_outputs),
    "closure": (("q",), _closure),
    "followers": (("q",), _followers),
    "derivatives": (("q", "qd", "tau"), _derivatives),
}
