"""LagrangeLaws: a sliding chain with the velocity of [Theodore1997] (24) as printed.

Printed velocities are not rates of material points, so the equations come the paper's own way: the
kinetic energy that (24) gives, put through Lagrange's equations (25), (26), beta being a state of
its own (11) that they do not differentiate. There is no other use for it than to compare; `Laws`
has the right motion.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from ..architectures.tree import Tree
from ..equations.chains.chain import Chain
from ..equations.chains.chain_equations import ChainEquations
from ..equations.chains.forces import Equations
from ..equations.chains.sliders import Slider, beta_count
from ..equations.reading import PaperReading, Reading
from ..errors import SuppleError
from ..kernels.scalars import Scalar, Vector, ldl, ldl_solve, sub, vadd

__all__ = ["IntegratedRoots", "LagrangeLaws", "PrintedVelocity"]


@dataclass(frozen=True)
class LagrangeLaws(Equations):
    """The same methods as `laws.Laws`, h by automatic differentiation of the mass matrix."""

    @cached_property
    def laws(self) -> ChainEquations:
        """The right laws of the same numbers."""
        return ChainEquations(
            self.chain, self.links, self.K, self.D, self.friction, self.rest, self.balls
        )

    def mass(self, q: Vector) -> list[Vector]:
        """M(q) of the printed velocities."""
        return self.laws.mass(q)

    def inverse(
        self, q: Vector, qd: Vector, qdd: Vector, gravity: bool, wrench: Vector | None = None
    ) -> Vector:
        """M qdd + h, plus g when `gravity`, less the generalised force of a tip wrench."""
        import casadi as ca

        moved = _matrix(self.mass(q)) @ ca.vertcat(*qdd)
        rest = self._rest(q, qd, gravity, wrench)
        return ca.vertsplit(moved + rest)

    def _rest(self, q: Vector, qd: Vector, gravity: bool, wrench: Vector | None) -> Any:
        """h(q, qd) = d(M qd)/dq qd - 1/2 d(qd' M qd)/dq, with gravity and a tip wrench as asked."""
        import casadi as ca

        n = self.chain.size
        x = ca.SX.sym("q", n)
        v = ca.SX.sym("v", n)
        held_symbols = ca.SX.sym("held", n)
        momentum = _matrix(self.laws.mass(ca.vertsplit(x), ca.vertsplit(held_symbols))) @ v
        rest = ca.jtimes(momentum, x, v) - ca.gradient(ca.dot(momentum, v), x) / 2
        if gravity and any(self.chain.gravity):
            rest += ca.gradient(self.laws.height(ca.vertsplit(x)), x)
        if wrench is not None:
            p, axes = self.laws.tip(ca.vertsplit(x))
            R = _matrix(axes)
            load = ca.SX(ca.vertcat(*wrench))
            force = ca.jtimes(ca.vertcat(*p), x, load[:3], True)
            for k in range(3):
                e = ca.SX.zeros(3)
                e[k] = 1
                turned = ca.skew(e) @ R
                # virtual work of the moment: 1/2 sum over axes of (e x R) : dR
                force += load[3 + k] * ca.jtimes(ca.vec(R), x, ca.vec(turned), True) / 2
            rest -= force
        Q = ca.vertcat(*q)
        return ca.substitute([rest], [x, v, held_symbols], [Q, ca.vertcat(*qd), Q])[0]

    def forward(self, q: Vector, qd: Vector, tau: Vector, wrench: Vector | None = None) -> Vector:
        """Accelerations under efforts tau, (joints,) or on every coordinate (N,)."""
        import casadi as ca

        pushed = list(tau) + [0.0] * (self.chain.size - len(tau))
        rest = ca.vertsplit(self._rest(q, qd, True, wrench))
        applied = vadd(self.laws.forces(q, qd), pushed)
        load = [sub(a, b) for a, b in zip(applied, rest, strict=True)]
        return ldl_solve(ldl(self.mass(q)), load)

    def energies(self, q: Vector, qd: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Kinetic, elastic and gravitational energy."""
        return self.laws.energies(q, qd)

    def tip(self, q: Vector) -> tuple[Vector, list[Vector]]:
        """Position (3,) and axes (3, 3) of the last end in base axes."""
        return self.laws.tip(q)


def _matrix(rows: list[Vector]) -> Any:
    import casadi as ca

    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


class PrintedVelocity(PaperReading):
    """The velocity of links that slide as [Theodore1997] (24) prints it."""

    balances_energy = False  # printed velocities are not rates of material points

    def check(self, tree: Tree, chain: Chain, reading: Reading, stiffening: bool) -> None:
        """Refuse geometric stiffening."""
        if stiffening:
            raise SuppleError("stiffening goes with velocity 'material', not with 'paper'")

    def equations(self, laws: Equations, reading: Reading) -> Equations:
        """Return Lagrange's equations of the printed velocities."""
        if not isinstance(laws, ChainEquations):  # another paper's
            return laws
        links = [
            replace(link, velocity="paper") if isinstance(link, Slider) else link
            for link in laws.links
        ]
        same = {part.name: getattr(laws, part.name) for part in fields(LagrangeLaws)}
        return LagrangeLaws(**same | {"links": links})


class IntegratedRoots(PaperReading):
    """The roots beta of links that slide as states of a run, [Theodore1997] (11)."""

    carries_roots = True

    def check(self, tree: Tree, chain: Chain, reading: Reading, stiffening: bool) -> None:
        """Refuse robots that have no beta."""
        if not beta_count(chain):
            raise SuppleError(
                "beta is 'integrated': only links that slide and bend in AssumedModes have a "
                "beta; leave it out"
            )

    def equations(self, laws: Equations, reading: Reading) -> Equations:
        """Return the same equations: a run carries beta along, see `integration.states`."""
        return laws
