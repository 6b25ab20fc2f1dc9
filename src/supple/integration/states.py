"""States of a run: x = [q, qd, work], and what is carried along beside them.

That is beta of links that slide where it is integrated, or the coordinates that follow from loops:
Newton's method starts near them in every evaluation, so that they only need to be about right.

The work of efforts and tip wrench, less what damping takes, is integrated beside the motion, so
that the power balance of a run can be checked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..architectures.coordinate_map import CoordinateMap, Slot
from ..equations.chain_functions import ChainFunctions
from ..equations.chains.sliders import beta_count, beta_rates, newton_beta
from ..equations.closed.coupled import ClosedFunctions
from ..equations.model import Model

__all__ = ["begin", "state_map", "symbols"]

Array = NDArray[np.float64]


def state_map(model: Model) -> CoordinateMap:
    """Return what each entry of x is: q, its rates, the work, and what is carried along beside.

    Entries beside the work are dependent coordinates, or the roots beta of links that slide; the
    map says which, so that no column has to be guessed from its place.
    """
    own = model.coordinate_map
    slots = [*own, *(replace(slot, rate=True) for slot in own), Slot("work", "J", "", "work")]
    if model.reading.carries_roots:
        for i in model.chain.sliding:
            link = model.chain.links[i]
            count = beta_count(replace(model.chain, links=(link,)))
            slots += [
                Slot(f"beta.{link.name}.{k + 1}", "1", link.name, "root") for k in range(count)
            ]
    return CoordinateMap.of([*slots, *model.dependent_map])


def begin(model: Model, q: Array, qd: Array) -> Array:
    """Return x at the start; beta and followers of loops start where they belong."""
    extra_states = np.zeros(0)
    if model.reading.carries_roots:
        extra_states = newton_beta(model.chain, q)
    elif isinstance(model.functions, ClosedFunctions):
        extra_states = model.functions.followers(q)
    return np.concatenate([q, qd, [0.0], extra_states])


def symbols(model: Model, written: bool = False) -> tuple[Any, Model, Any]:
    """Return x as symbols, the model whose expressions take what is beside it, and its rate.

    `written`: of loops as well they are expressions of scalars, however long.

    Source: [Theodore1997], Eq. (11), which the paper integrates with the equations of motion.
    """
    import casadi as ca

    n = model.size
    functions = model.functions
    if isinstance(functions, ClosedFunctions):
        count = len(functions.loops.followers)
        size = 2 * n + 1 + count
        x = ca.SX.sym("x", size) if written else functions.loops.symbol("x", size)
        at_guess = functions.with_guess(x[2 * n + 1 :])
        drift = at_guess.expression("drift")(x[:n], x[n : 2 * n])
        return x, replace(model, functions=at_guess), drift
    if not model.reading.carries_roots:
        return functions.symbol("x", 2 * n + 1), model, ca.DM(0, 1)
    x = ca.SX.sym("x", 2 * n + 1 + beta_count(model.chain))
    q, qd, beta = (ca.vertsplit(part) for part in (x[:n], x[n : 2 * n], x[2 * n + 1 :]))
    assert isinstance(functions, ChainFunctions)
    bound = replace(model, functions=functions.with_beta(ca.vertcat(*beta)))
    return x, bound, ca.vertcat(*beta_rates(model.chain, beta, q, qd))
