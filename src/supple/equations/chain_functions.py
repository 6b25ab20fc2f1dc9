"""The equations of an open chain by name, as CasADi functions of scalar expressions and as tapes.

A CasADi function is what can be differentiated and put together; numbers are asked from a tape,
recorded from the same laws in a sixth of the time and run in an eighth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.scalars import dot, matvec, sub, vadd
from ..kernels.tape import Recorder, Tape, record_function
from .chains.chain_equations import ChainEquations
from .chains.forces import Equations, dissipation, elastic, stiffness
from .chains.sliders import given_beta
from .evaluate import AnyEvaluator, TapeEvaluator, is_small, slope
from .functions import INPUTS, Functions

__all__ = ["MANY", "ChainFunctions"]

Array = NDArray[np.float64]
MANY = 40  # coordinates from which a mass matrix is put together from the forces of its columns


class ChainFunctions(Functions):
    """The equations of an open chain as CasADi functions."""

    def __init__(self, laws: Equations, compile_: bool) -> None:
        super().__init__(compile_)
        self._laws, self.names = laws, tuple(INPUTS)
        self._beta: Any = None

    def make(self, name: str) -> Any:
        """Return one function in expressions of scalars; slopes of a large one by directions."""
        if name == "derivatives" and self._beta is None:
            forward = self.expression("forward_dynamics")
            if not is_small(forward):  # its Jacobians, one direction after another
                import casadi as ca

                words = forward.name_in()
                x = [ca.MX.sym(word, forward.numel_in(i)) for i, word in enumerate(words)]
                outputs = [slope(forward, k)(*x) for k in range(len(x))]
                names = [f"out{i}" for i in range(len(x))]
                return ca.Function("derivatives", x, outputs, words, names)
        # Make one CasADi function, common subexpressions shared, outputs dense
        import casadi as ca

        words = INPUTS[name]
        symbols = {word: ca.SX.sym(word, _sizes(self._laws)[word]) for word in words}
        given = {word: ca.vertsplit(symbol) for word, symbol in symbols.items()}
        outputs = _outputs(name, self._laws, given)
        dense = [ca.densify(_expression(out)) for out in outputs]
        names = [f"out{i}" for i in range(len(dense))]
        if self._beta is None:
            return ca.Function(name, list(symbols.values()), ca.cse(dense), list(words), names)
        found = ca.Function(
            name, [*symbols.values(), self._beta], ca.cse(dense), [*words, "beta"], names
        )
        return lambda *given: found(*given, self._beta)

    @property
    def uses_tapes(self) -> bool:
        """Whether numbers come from tapes: not with springs of balls, or C asked for."""
        laws = self._laws
        plain = isinstance(laws, ChainEquations) and not laws.balls
        return plain and not self._compile and self._beta is None

    def evaluator(self, name: str, near: bool = False) -> AnyEvaluator:
        """Return the function of this name for arrays, as a tape where that is possible."""
        if near or not self.uses_tapes or name == "derivatives" or name not in self.names:
            return super().evaluator(name, near)
        if name not in self._made:
            n = self._laws.chain.size
            if name == "mass_matrix" and n >= MANY:
                self._made[name] = TapeEvaluator(*_tape("momentum", self._laws), unit=n)
            else:
                self._made[name] = TapeEvaluator(*_tape(name, self._laws))
        return self._made[name]

    def rate_in_ends(self, law: Any = None) -> Tape | None:
        """Return dx/dt of x = [B q, B qd, work] and efforts, where numbers come from tapes.

        With a law, a CasADi function (q, qd, r, rd, rdd) -> tau, the motion wanted stands in place
        of the efforts; None where a tape does not know what the law needs.
        """

        def make() -> Tape | None:
            laws = self._laws
            n = self._laws.chain.size
            joints = len(self._laws.chain.joints)
            assert isinstance(laws, ChainEquations)
            tape = Recorder(2 * n + 1 + (joints if law is None else 3 * joints))
            q = tape.inputs[:n]
            qd = tape.inputs[n : 2 * n]
            u = tape.inputs[2 * n + 1 :]
            A = np.linalg.inv(self.ends())
            tau: list[Any] | None = u
            if law is not None:
                plain = [matvec(A.tolist(), x) for x in (q, qd)]
                tau = record_function(law, [*plain[0], *plain[1], *u])
            if tau is None:
                return None
            D = A.T @ np.asarray(laws.D, float) @ A
            D[np.abs(D) <= 1e-15 * np.abs(D).max(initial=0.0)] = 0.0
            # B leaves the joints alone; outer pushes are known in q only
            lost = dissipation(replace(laws, D=D.tolist(), pushes=()), q, qd)
            power = sub(dot(tau, qd[:joints]), dot(qd, lost))
            if laws.pushes:
                pushed = laws.push_forces(matvec(A.tolist(), q))
                power = sub(power, dot(matvec(A.tolist(), qd), pushed))
            return tape.tape([*qd, *laws.forward_ends(q, qd, tau), power])

        found: Tape | None = self.cached(("rate in ends", law), make)
        return found

    def acceleration(self, q: Array, qd: Array, tau: Array) -> Array:
        """Return qdd at one state by `rate_in_ends`, to rounding that of `forward_dynamics`."""
        rate = self.rate_in_ends()
        B = self.ends()
        n = len(q)
        assert rate is not None
        found = rate(np.concatenate([B @ q, B @ qd, [0.0], tau]))
        return np.asarray(np.linalg.solve(B, found[n : 2 * n]), float)

    @property
    def laws(self) -> Equations:
        """The same equations in any scalars."""
        return self._laws

    def with_beta(self, beta: Any) -> Functions:
        """Return the expressions with beta of links that slide given, a column of symbols."""
        import casadi as ca

        laws = self._laws
        links = given_beta(laws.chain, laws.links, ca.vertsplit(beta))
        out = ChainFunctions(replace(laws, links=links), False)
        out._beta = beta
        return out

    def ends(self) -> Array:
        """Return B (N, N): B q are the coordinates of `forward_dynamics_ends`."""
        B = np.eye(self._laws.chain.size)
        if isinstance(self._laws, ChainEquations):
            for i, block in enumerate(self._laws.end_coordinate_links[1]):
                own = self._laws.chain.own(i)
                B[np.ix_(own, own)] = np.reshape(block, (len(block), len(block)))
        return B

    def ratios(self, i: int) -> list[float]:
        """Return the damping ratios of a link that slides."""
        return list(getattr(self._laws.links[i], "ratios", ()))


def _sizes(laws: Equations) -> dict[str, int]:
    n = laws.chain.size
    return {"q": n, "qd": n, "qdd": n, "tau": len(laws.chain.joints), "wrench": 6}


def _expression(values: Any) -> Any:
    """A vector or matrix of scalars as one CasADi expression."""
    import casadi as ca

    if not isinstance(values, list):
        return values
    matrix = values and isinstance(values[0], list)
    return ca.SX(ca.vertcat(*(ca.horzcat(*row) if matrix else row for row in values)))


def _tape(name: str, laws: Equations) -> tuple[Tape, list[int], list[tuple[int, ...]]]:
    """One function as a tape, with the widths of its inputs and the shapes of its outputs."""
    words = INPUTS.get(name, ("q", "qdd"))
    widths = [_sizes(laws)[word] for word in words]
    tape = Recorder(sum(widths))
    left = iter(tape.inputs)
    given = {w: [next(left) for _ in range(n)] for w, n in zip(words, widths, strict=True)}
    outputs = _outputs(name, laws, given)
    flat: list[Any] = []
    shapes: list[tuple[int, ...]] = []
    for out in outputs:
        matrix = bool(out) and isinstance(out[0], list)
        shapes.append((len(out), len(out[0])) if matrix else (len(out),))
        flat += [x for row in out for x in row] if matrix else out
    return tape.tape(flat), widths, shapes


def _outputs(name: str, laws: Equations, x: Mapping[str, list[Any]]) -> list[Any]:
    """What the function of this name gives; rates that are not among its inputs are zero.

    Momentum is M(q) qdd, linear in qdd: the force of an acceleration from rest, without weight.
    """
    q = x["q"]
    zero = [0.0] * laws.chain.size
    qd = x.get("qd", zero)
    if name == "mass_matrix":
        return [laws.mass(q)]
    if name in ("momentum", "bias", "gravity"):
        return [laws.inverse(q, qd, x.get("qdd", zero), gravity=name == "gravity")]
    if name == "forward_dynamics_ends" and isinstance(laws, ChainEquations):
        return [laws.forward_ends(q, qd, x["tau"])]
    if name.startswith("forward_dynamics"):
        return [laws.forward(q, qd, x["tau"], x.get("wrench"))]
    if name == "inverse_dynamics":
        moved = laws.inverse(q, qd, x["qdd"], gravity=True)
        return [vadd(moved, elastic(laws, q), dissipation(laws, q, qd))]
    if name == "elastic":
        return [elastic(laws, q)]
    if name == "dissipation":
        return [dissipation(laws, q, qd)]
    if name == "stiffness":
        return [stiffness(laws, q)]
    if name == "energies":
        return [list(laws.energies(q, qd))]
    if name == "tip":
        return list(laws.tip(q))
    import casadi as ca

    qdd = _expression(laws.forward(q, qd, x["tau"]))
    if not laws.chain.lengths_at:
        return [ca.jacobian(qdd, _expression(x[word])) for word in ("q", "qd", "tau")]
    # What follows from free lengths alone is told apart: its slopes are taken once
    lengths = ca.vertcat(*(q[place] for place in laws.chain.lengths_at.values()))
    own, names, values = ca.extract_parametric(qdd, lengths)
    by = [ca.jacobian(own, _expression(x[word])) for word in ("q", "qd", "tau")]
    along = ca.jacobian(ca.vertcat(*values), _expression(q))
    by[0] += ca.mtimes(ca.jacobian(own, ca.vertcat(*names)), along)
    return list(ca.substitute(by, names, values))
