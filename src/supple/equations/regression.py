"""Equations of motion linear in named inertial constants, as one CasADi function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from .chains.chain_equations import ChainEquations, laws_of
from .chains.forces import Equations
from .chains.sliders import Slider
from .closed.coupled import ClosedFunctions, project_to_independent
from .model import Model
from .named_constants import NamedConstants, named_links

__all__ = ["regressor_function"]

Array = NDArray[np.float64]


def regressor_function(model: Model, gravity: bool) -> tuple[tuple[str, ...], Array, Any]:
    """Return names and values (p,) of the constants pi, and Y(q, qd, qdd) as a CasADi function.

    M qdd + h (+ g) = Y pi, Y (N, p).
    """
    functions = model.functions
    chain = model.chain
    if isinstance(functions, ClosedFunctions):
        chain = functions.loops.laws.chain
    if model.reading.velocity == "paper" or model.reading.beta == "integrated":
        raise SuppleError(
            "a regressor knows one reading of links that slide: leave velocity and beta out"
        )
    if chain.supports:
        raise SuppleError(
            "a regressor is for robots without bearings and foundation: leave them out"
        )
    import casadi as ca

    table = NamedConstants(ca.SX.sym)
    links = named_links(laws_of(chain, np.zeros((chain.size,) * 2)).links, table)
    rotors = {i: table.scalar(f"J_r{i + 1}", float(chain.links[i].rotor)) for i in chain.sprung}
    q, qd, qdd = (ca.SX.sym(word, chain.size) for word in ("q", "qd", "qdd"))
    a, b, c = (ca.vertsplit(x) for x in (q, qd, qdd))
    zero = [[0.0] * chain.size for _ in range(chain.size)]
    fixed = [link.fixed if isinstance(link, Slider) else link for link in links]
    reading = model.reading.deflection
    bodies = [(k.root_mass, k.tip_mass) for k in fixed]
    off = [x for pair in bodies for M in pair for x in (M[1][5], M[2][3])]
    if reading != "rotation" and not all(isinstance(x, float) for x in off):
        raise SuppleError(
            "a regressor of deflection 'paper' or 'literal' needs bodies centred on their points"
        )
    laws: Equations = ChainEquations(chain, links, zero, zero)
    for paper in model.reading.plug_ins:
        laws = paper.equations(laws, model.reading)
    efforts: Any = ca.vertcat(*laws.inverse(a, b, c, gravity=gravity))
    for i, symbol in rotors.items():
        place = chain.theta[i]
        efforts[place] += (symbol - chain.links[i].rotor) * qdd[place]
    pi = ca.vertcat(*table.symbols.values())
    Y = ca.densify(ca.jacobian(efforts, pi))
    function = ca.Function("regressor", [q, qd, qdd], ca.cse([Y]))
    if isinstance(functions, ClosedFunctions):
        function = project_to_independent(functions, function)
    return tuple(table.values), np.array([*table.values.values()]), function
