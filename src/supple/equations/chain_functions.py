"""The equations of an open chain by name, as CasADi functions of scalar expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.scalars import vadd
from .chains.chain_equations import Laws
from .chains.forces import dissipation, elastic, stiffness
from .evaluate import is_small, slope
from .functions import Functions
from .readings.de_luca import PlanarLaws
from .readings.theodore import LagrangeLaws, with_beta

__all__ = ["AnyLaws", "ChainFunctions"]

Array = NDArray[np.float64]
AnyLaws = Laws | PlanarLaws | LagrangeLaws


class ChainFunctions(Functions):
    """The equations of an open chain as CasADi functions."""

    def __init__(self, laws: AnyLaws, compile_: bool) -> None:
        super().__init__(compile_)
        self._laws, self.names = laws, tuple(_MAKERS)
        self._beta: Any = None

    def make(self, name: str) -> Any:
        """Return one function in expressions of scalars; slopes of a large one by directions."""
        if name == "derivatives" and self._beta is None:
            forward = self.expression("forward_dynamics")
            if not is_small(forward):
                return _slopes(forward)
        return _function(name, self._laws, self._beta)

    @property
    def laws(self) -> AnyLaws:
        """The same equations in any scalars."""
        return self._laws

    def with_beta(self, beta: Any) -> Functions:
        """Return the expressions with beta of links that slide given, a column of symbols."""
        import casadi as ca

        assert not isinstance(self._laws, PlanarLaws)
        out = ChainFunctions(with_beta(self._laws, ca.vertsplit(beta)), False)
        out._beta = beta
        return out

    def ends(self) -> Array:
        """Return B (N, N): B q are the coordinates of `forward_dynamics_ends`."""
        B = np.eye(self._laws.chain.size)
        if isinstance(self._laws, Laws):
            for i, block in enumerate(self._laws.turned[1]):
                own = self._laws.chain.own(i)
                B[np.ix_(own, own)] = np.reshape(block, (len(block), len(block)))
        return B

    def ratios(self, i: int) -> list[float]:
        """Return the damping ratios of a link that slides."""
        return list(getattr(self._laws.links[i], "ratios", ()))


def _function(name: str, laws: AnyLaws, beta: Any = None) -> Any:
    """Make one CasADi function, common subexpressions shared, outputs dense.

    With `beta`, symbols that stand in the laws, it is bound to them.
    """
    import casadi as ca

    n, joints = laws.chain.size, len(laws.chain.joints)
    sizes = {"q": n, "qd": n, "qdd": n, "tau": joints, "wrench": 6}
    words, make = _MAKERS[name]
    symbols = {word: ca.SX.sym(word, sizes[word]) for word in words}
    outputs = make(laws, {word: ca.vertsplit(symbol) for word, symbol in symbols.items()})
    dense = [ca.densify(ca.SX(out)) for out in outputs]
    names = [f"out{i}" for i in range(len(dense))]
    if beta is None:
        return ca.Function(name, list(symbols.values()), ca.cse(dense), list(words), names)
    found = ca.Function(name, [*symbols.values(), beta], ca.cse(dense), [*words, "beta"], names)
    return lambda *given: found(*given, beta)


def _slopes(forward: Any) -> Any:
    """The Jacobians of forward dynamics by q, qd and tau, one direction after another."""
    import casadi as ca

    words = forward.name_in()
    x = [ca.MX.sym(word, forward.numel_in(i)) for i, word in enumerate(words)]
    outputs = [slope(forward, k)(*x) for k in range(len(x))]
    return ca.Function("derivatives", x, outputs, words, [f"out{i}" for i in range(len(x))])


Lists = Mapping[str, list[Any]]


def _column(values: list[Any]) -> Any:
    import casadi as ca

    return ca.vertcat(*values)


def _matrix(rows: list[list[Any]]) -> Any:
    import casadi as ca

    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


def _zero(laws: AnyLaws) -> list[Any]:
    return [0.0] * laws.chain.size


def _mass(laws: AnyLaws, x: Lists) -> list[Any]:
    return [_matrix(laws.mass(x["q"]))]


def _bias(laws: AnyLaws, x: Lists) -> list[Any]:
    return [_column(laws.inverse(x["q"], x["qd"], _zero(laws), gravity=False))]


def _gravity(laws: AnyLaws, x: Lists) -> list[Any]:
    return [_column(laws.inverse(x["q"], _zero(laws), _zero(laws), gravity=True))]


def _forward(laws: AnyLaws, x: Lists) -> list[Any]:
    return [_column(laws.forward(x["q"], x["qd"], x["tau"], x.get("wrench")))]


def _forward_ends(laws: AnyLaws, x: Lists) -> list[Any]:
    if isinstance(laws, Laws):
        return [_column(laws.forward_ends(x["q"], x["qd"], x["tau"]))]
    return _forward(laws, x)


def _inverse(laws: AnyLaws, x: Lists) -> list[Any]:
    import casadi as ca

    moved = _column(laws.inverse(x["q"], x["qd"], x["qdd"], gravity=True))
    forces = vadd(elastic(laws, x["q"]), dissipation(laws, x["q"], x["qd"]))
    return [ca.cse(moved + _column(forces))]


def _elastic(laws: AnyLaws, x: Lists) -> list[Any]:
    return [_column(elastic(laws, x["q"]))]


def _dissipation(laws: AnyLaws, x: Lists) -> list[Any]:
    return [_column(dissipation(laws, x["q"], x["qd"]))]


def _stiffness(laws: AnyLaws, x: Lists) -> list[Any]:
    return [_matrix(stiffness(laws, x["q"]))]


def _energies(laws: AnyLaws, x: Lists) -> list[Any]:
    return [_column(list(laws.energies(x["q"], x["qd"])))]


def _tip(laws: AnyLaws, x: Lists) -> list[Any]:
    p, R = laws.tip(x["q"])
    return [_column(p), _matrix(R)]


def _derivatives(laws: AnyLaws, x: Lists) -> list[Any]:
    import casadi as ca

    qdd = _forward(laws, x)[0]
    return [ca.jacobian(qdd, _column(x[word])) for word in ("q", "qd", "tau")]


_MAKERS: dict[str, tuple[tuple[str, ...], Callable[[AnyLaws, Lists], list[Any]]]] = {
    "mass_matrix": (("q",), _mass),
    "bias": (("q", "qd"), _bias),
    "gravity": (("q",), _gravity),
    "forward_dynamics": (("q", "qd", "tau"), _forward),
    "forward_dynamics_loaded": (("q", "qd", "tau", "wrench"), _forward),
    "forward_dynamics_ends": (("q", "qd", "tau"), _forward_ends),
    "inverse_dynamics": (("q", "qd", "qdd"), _inverse),
    "elastic": (("q",), _elastic),
    "dissipation": (("q", "qd"), _dissipation),
    "stiffness": (("q",), _stiffness),
    "energies": (("q", "qd"), _energies),
    "tip": (("q",), _tip),
    "derivatives": (("q", "qd", "tau"), _derivatives),
}
