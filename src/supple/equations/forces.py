"""Forces that are no inertia: stiffness, damping and friction of a Chain, in any scalars.

They serve every kind of laws alike; a law has a chain, links, K, D and friction.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..kernels.scalars import Scalar, Vector, add, matvec, mul, tanh, vadd
from .chain import Chain
from .sliders import Slider

__all__ = [
    "CREEP",
    "HasForces",
    "dissipation",
    "elastic",
    "joint_side",
    "rubbing",
    "slider_forces",
    "sliders",
    "stiffness",
]

CREEP = 0.01  # rad/s, within which friction changes its sign


class HasForces(Protocol):
    """What the forces are made from."""

    @property
    def chain(self) -> Chain: ...
    @property
    def links(self) -> Any: ...
    @property
    def K(self) -> list[Vector]: ...
    @property
    def D(self) -> list[Vector]: ...
    @property
    def friction(self) -> tuple[float, ...]: ...


def rubbing(friction: tuple[float, ...], qd: Vector) -> Vector:
    """Coulomb's friction in the joints, smoothed: f tanh(speed / 0.01 rad/s)."""
    return [mul(f, tanh(mul(1 / CREEP, qd[k]))) if f else 0.0 for k, f in enumerate(friction)]


def joint_side(chain: Chain, x: Vector) -> tuple[Vector, list[Vector]]:
    """Return the joints' own coordinates theta + eps, one a link, and eta of every link.

    A link that slides has no joint to the recursions: its length comes first in its own eta.
    """
    s: Vector = []
    for i, link in enumerate(chain.links):
        value = x[chain.theta[i]] if i in chain.theta and link.slide is None else 0.0
        s.append(add(value, x[chain.eps[i]]) if i in chain.eps else value)
    return s, [[x[place] for place in chain.own(i)] for i in range(len(chain.links))]


def sliders(laws: HasForces, x: Vector) -> list[tuple[int, Slider, Vector]]:
    """Return place, slider and its [l, eta] (or their rates) in x, of every link that slides."""
    own = joint_side(laws.chain, x)[1]
    return [(i, link, own[i]) for i, link in enumerate(laws.links) if isinstance(link, Slider)]


def slider_forces(laws: HasForces, q: Vector, qd: Vector) -> list[tuple[int, Vector]]:
    """Return stiffness and damping on [l, eta] of every link that slides."""
    rates = [pd for _, _, pd in sliders(laws, qd)]
    return [(i, vadd(slider.elastic(p), slider.damping(p, pd)))
            for (i, slider, p), pd in zip(sliders(laws, q), rates, strict=True)]  # fmt: skip


def elastic(laws: HasForces, q: Vector) -> Vector:
    """Return dV/dq of springs and bending: K q, for a slider's length 1/2 eta' (dK/dl) eta."""
    out = matvec(laws.K, q)
    for i, slider, p in sliders(laws, q):
        _added(out, laws.chain.own(i), slider.elastic(p))
    return out


def dissipation(laws: HasForces, q: Vector, qd: Vector) -> Vector:
    """Return the force of damping and friction: D qd, and the sliders' own."""
    out = matvec(laws.D, qd)
    for k, torque in enumerate(rubbing(laws.friction, qd)):
        out[k] = add(out[k], torque)
    rates = [pd for _, _, pd in sliders(laws, qd)]
    for (i, slider, p), pd in zip(sliders(laws, q), rates, strict=True):
        _added(out, laws.chain.own(i), slider.damping(p, pd))
    return out


def stiffness(laws: HasForces, q: Vector) -> list[Vector]:
    """Return K, (N, N), with the blocks of sliders at their length."""
    K: list[list[Scalar]] = [list(row) for row in laws.K]
    for i, slider, p in sliders(laws, q):
        own = laws.chain.own(i)[1:]
        for a, row in zip(own, slider.stiffness(p[0]) if own else [], strict=True):
            for b, value in zip(own, row, strict=True):
                K[a][b] = value.value
    return K


def _added(out: Vector, places: list[int], values: Vector) -> None:
    for place, value in zip(places, values, strict=True):
        out[place] = add(out[place], value)
