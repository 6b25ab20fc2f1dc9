"""Forces that are no inertia: stiffness, damping and friction of a Chain, in any scalars.

All kinds of equations share them; each has a chain, links, K, D and friction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from ...kernels.scalars import Scalar, Vector, add, dot, matvec, mul, sub, tanh, total, vadd
from .balls import Ball
from .chain import Chain
from .sliders import Slider
from .sprung_turns import SprungTurns

__all__ = [
    "HasForces",
    "coulomb",
    "damped_rates",
    "dissipation",
    "elastic",
    "held_together",
    "joint_side",
    "rubbing",
    "slider_forces",
    "sliders",
    "spring_extension",
    "stiffness",
    "strain",
]

# Friction changes its sign smoothly within this speed
CREEP_TURNING = 0.01  # rad/s
CREEP_SLIDING = 0.001  # m/s


@dataclass(frozen=True)
class HasForces:
    """The numbers that forces are computed from, in all kinds of equations.

    Attributes
    ----------
    chain
        The numbers of all links and joints.
    links
        The same as lists, in which entries may be symbols.
    K, D
        Stiffness and damping, nested lists (N, N).
    friction
        Coulomb friction of theta, eps and passive coordinates, N m; empty for none.
    rest
        (N,), unloaded coordinates of the springs; empty for zero.
    balls
        Springs of ball joints, and of joints in series with those of their bearings.
    """

    chain: Chain
    links: Any
    K: list[Vector]
    D: list[Vector]
    friction: tuple[float, ...] = ()
    rest: tuple[float, ...] = ()
    balls: tuple[Ball | SprungTurns, ...] = ()

    def push_forces(self, q: Vector) -> Vector:
        """Return the forces (N,) that balance outer loads without potential: there are none."""
        return [0.0] * self.chain.size


@dataclass(frozen=True)
class Equations(HasForces, ABC):
    """Equations of motion of one Chain in any scalars: the right ones, `Laws`, or a paper's."""

    @abstractmethod
    def mass(self, q: Vector) -> list[Vector]:
        """Return M(q), nested list (N, N)."""

    @abstractmethod
    def inverse(
        self, q: Vector, qd: Vector, qdd: Vector, gravity: Any, wrench: Vector | None = None
    ) -> Vector:
        """Return M qdd + h, plus g when `gravity`, less the generalised force of a tip wrench."""

    @abstractmethod
    def forward(self, q: Vector, qd: Vector, tau: Vector, wrench: Vector | None = None) -> Vector:
        """Return the accelerations under efforts tau, (joints,)."""

    @abstractmethod
    def energies(self, q: Vector, qd: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Return kinetic, elastic and gravitational energy."""

    @abstractmethod
    def tip(self, q: Vector) -> tuple[Vector, list[Vector]]:
        """Return position (3,) and axes (3, 3) of the tip in base axes."""


def coulomb(friction: float, speed: Scalar, slides: bool = False) -> Scalar:
    """Coulomb's friction of a joint, smoothed: f tanh(v / 0.01 rad/s), of a slide 0.001 m/s.

    All equations use it, in any scalars.
    """
    creep = CREEP_SLIDING if slides else CREEP_TURNING
    return mul(friction, tanh(mul(1 / creep, speed)))


def rubbing(friction: tuple[float, ...], qd: Vector, chain: Chain | None = None) -> Vector:
    """Return the friction on every coordinate that has one; the chain says which of them slide."""
    slides = set() if chain is None else set(chain.lengths_at.values())
    return [coulomb(f, qd[k], k in slides) if f else 0.0 for k, f in enumerate(friction)]


def joint_side(chain: Chain, x: Vector) -> tuple[Vector, list[Vector]]:
    """Return the joints' own coordinates, theta + eps or a passive one, and eta, one per body.

    Bodies are the links; a link with a universal or spherical joint follows one body for each
    leading turn, a link on a bearing follows one for the bearing. In the recursions a link that
    slides has no joint: its length is the first of its eta.
    """
    joint_coordinates: Vector = []
    elastic_coordinates: list[Vector] = []
    for n, (i, turn) in enumerate(chain.bodies):
        turning = [x[place] for place in chain.turning_coordinates(i, turn)]
        joint_coordinates.append(total(turning))
        elastic_coordinates.append([x[place] for place in chain.elastic_coordinates(n)])
    return joint_coordinates, elastic_coordinates


def sliders(laws: HasForces, x: Vector) -> list[tuple[int, Slider, Vector]]:
    """Return place, slider and its [l, eta] (or their rates) in x, of every link that slides."""
    return [
        (i, link, [x[place] for place in laws.chain.own(i)])
        for i, link in enumerate(laws.links)
        if isinstance(link, Slider)
    ]


def slider_forces(
    laws: HasForces, q: Vector, qd: Vector, D: list[Vector]
) -> list[tuple[int, Vector]]:
    """Return stiffness and damping on [l, eta] of every link that slides; D in coordinates q."""
    forces = []
    speeds = damped_rates(laws, q, qd)
    for (i, slider, p), (_, _, pd) in zip(sliders(laws, q), sliders(laws, qd), strict=True):
        force = vadd(slider.elastic(p), slider.damping(p, pd))
        if slider.damped_at is not None:
            damping = matvec(D[laws.chain.eta[i]], speeds)
            force = vadd(force, _pulled_back(slider, p, damping))
        forces.append((i, force))
    return forces


def damped_rates(laws: HasForces, q: Vector, qd: Vector) -> Vector:
    """Return the rates that D acts on: qd, for links that slide d/dt (s eta) of `Slider.scales`."""
    out = list(qd)
    for i, slider, p in sliders(laws, q):
        length, *own = laws.chain.own(i)
        if slider.damped_at is not None:
            for place, (s, slope) in zip(own, slider.scales(p), strict=True):
                out[place] = add(mul(s, qd[place]), mul(slope, qd[length]))
    return out


def _pulled_back(slider: Slider, p: Vector, force: Vector) -> Vector:
    """A force on s eta as one on [l, eta]."""
    s, slopes = zip(*slider.scales(p), strict=True)
    return [dot(list(slopes), force), *(mul(a, f) for a, f in zip(s, force, strict=True))]


def elastic(laws: HasForces, q: Vector) -> Vector:
    """Return dV/dq of springs and bending: K (q - rest), for a slider 1/2 eta' (dK/dl) eta too."""
    out = matvec(laws.K, spring_extension(laws, q))
    for i, slider, p in sliders(laws, q):
        _add_at(out, laws.chain.own(i), slider.elastic(p))
    for ball in laws.balls:
        for place, force in ball.spring_forces(q):
            out[place] = add(out[place], force)
    return out


def strain(laws: HasForces, q: Vector) -> Scalar:
    """Return the energy of springs and bending."""
    x = spring_extension(laws, q)
    energies = [mul(0.5, dot(x, matvec(laws.K, x)))]
    energies += [slider.energy(p) for _, slider, p in sliders(laws, q)]
    energies += [ball.spring_energy(q) for ball in laws.balls]
    return total(energies)


def spring_extension(laws: HasForces, q: Vector) -> Vector:
    """Return the coordinates measured from where their springs are unloaded."""
    if not any(laws.rest):
        return q
    return [sub(x, rest) for x, rest in zip(q, laws.rest, strict=True)]


def dissipation(laws: HasForces, q: Vector, qd: Vector) -> Vector:
    """Return the forces without potential: D qd, friction, the sliders' own, less outer pushes."""
    out = matvec(laws.D, damped_rates(laws, q, qd))
    for k, torque in enumerate(rubbing(laws.friction, qd, laws.chain)):
        out[k] = add(out[k], torque)
    for (i, slider, p), (_, _, pd) in zip(sliders(laws, q), sliders(laws, qd), strict=True):
        own = laws.chain.own(i)
        if slider.damped_at is not None:
            first, *force = _pulled_back(slider, p, [out[place] for place in own[1:]])
            out[own[0]] = add(out[own[0]], first)
            for place, value in zip(own[1:], force, strict=True):
                out[place] = value
        _add_at(out, own, slider.damping(p, pd))
    for ball in laws.balls:
        for place, lost in ball.lost(q, qd, coulomb):
            out[place] = add(out[place], lost)
    return vadd(out, laws.push_forces(q))


def stiffness(laws: HasForces, q: Vector) -> list[Vector]:
    """Return K, (N, N), with the blocks of sliders at their length."""
    K = held_together(laws)
    for i, slider, p in sliders(laws, q):
        own = laws.chain.own(i)[1:]
        for a, row in zip(own, slider.stiffness(p[0]) if own else [], strict=True):
            for b, value in zip(own, row, strict=True):
                K[a][b] = value.value
    return K


def held_together(laws: HasForces) -> list[Vector]:
    """Return K, (N, N), with the springs of ball joints at their unloaded angles."""
    K: list[list[Scalar]] = [list(row) for row in laws.K]
    for ball in laws.balls:
        for a, row in zip(ball.places, ball.tangent(), strict=True):
            for b, value in zip(ball.places, row, strict=True):
                K[a][b] = add(K[a][b], value)
    return K


def _add_at(out: Vector, places: list[int], values: Vector) -> None:
    """Add values to the entries of a vector at some places."""
    for place, value in zip(places, values, strict=True):
        out[place] = add(out[place], value)
