"""States of a run: x = [q, qd, work], and beta of links that slide where it is integrated.

The work of efforts and tip wrench, less what damping takes, is integrated beside the motion, so
that the power balance of a run can be checked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..equations.chain_functions import ChainFunctions
from ..equations.model import Model
from ..equations.sliders import beta_count, beta_rates, newton_beta

__all__ = ["begin", "symbols"]

Array = NDArray[np.float64]


def begin(model: Model, q: Array, qd: Array) -> Array:
    """Return x at the start; beta starts at Newton's."""
    integrated = model.beta == "integrated"
    beta = newton_beta(model.chain, q) if integrated else np.zeros(0)
    return np.concatenate([q, qd, [0.0], beta])


def symbols(model: Model) -> tuple[Any, Model, Any]:
    """Return x as symbols, the model whose expressions take beta from it, and d beta/dt.

    Source: [Theodore1997], Eq. (11), which the paper integrates with the equations of motion.
    """
    import casadi as ca

    n = model.size
    if model.beta == "newton":
        return model.functions.symbol("x", 2 * n + 1), model, ca.DM(0, 1)
    x = ca.SX.sym("x", 2 * n + 1 + beta_count(model.chain))
    q, qd, beta = (ca.vertsplit(part) for part in (x[:n], x[n : 2 * n], x[2 * n + 1 :]))
    assert isinstance(model.functions, ChainFunctions)
    bound = replace(model, functions=model.functions.with_beta(ca.vertcat(*beta)))
    return x, bound, ca.vertcat(*beta_rates(model.chain, beta, q, qd))
