"""Outputs measured: of a state, over a run, their slopes; and outputs by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import shown
from ..equations.closed.coupled import ClosedFunctions
from ..equations.evaluate import Evaluator, slope
from ..equations.model import Model
from ..errors import SuppleError
from .loops import closed_function
from .output import Motion, Output

__all__ = ["evaluator", "function", "named_outputs", "read", "readings", "slopes"]

Array = NDArray[np.float64]


def function(model: Model, output: Output) -> Any:
    """Return an output as a CasADi function (q, qd, qdd, wrench) -> (k,)."""

    def make() -> Any:
        import casadi as ca

        functions = model.functions
        if output.of_tree and isinstance(functions, ClosedFunctions):
            return closed_function(functions, output)
        n, symbol = model.size, model.functions.symbol
        x = [symbol(word, size) for word, size in zip("qvaw", (n, n, n, 6), strict=True)]
        return ca.Function("output", x, ca.cse([ca.densify(output.expression(model, Motion(*x)))]))

    output.check(model)
    return model.functions.derived(("output", output), make)


def evaluator(model: Model, output: Output) -> Evaluator:
    """Return an output as a function of arrays q, qd, qdd and wrench, one state or many."""
    own = function(model, output)
    made: Evaluator = model.functions.derived(("output of arrays", output), Evaluator, own)
    return made


def slopes(model: Model, output: Output, at: tuple[Array, Array, Array]) -> list[Array]:
    """Return an output's slopes by q, qd, qdd and the wrench on the tip, at a state under tau."""
    made: list[Evaluator] = model.functions.derived(
        ("slopes of output", output),
        lambda: [Evaluator(slope(function(model, output), i), True) for i in range(4)],
    )
    motion = (*at[:2], model.forward_dynamics(*at), np.zeros(6))
    return [each(*motion)[0] for each in made]


def readings(
    model: Model,
    outputs: Mapping[str, Output],
    t: Array,
    state: tuple[Array, Array],
    loads: tuple[Array, Array | None],
) -> dict[str, Array]:
    """Return every output at the times (n,) of a run: (n,), or (n, k) where it has k values.

    `state` are q and qd, (n, N); `loads` efforts (n, joints), and the wrench (n, 6) or None.
    """
    (q, qd), (tau, wrench) = state, loads
    qdd = model.forward_dynamics(q, qd, tau, wrench)
    load = np.zeros((len(t), 6)) if wrench is None else wrench
    return read(model, outputs, t, (q, qd, qdd), load)


def read(
    model: Model,
    outputs: Mapping[str, Output],
    t: Array,
    motion: tuple[Array, Array, Array],
    load: Array,
) -> dict[str, Array]:
    """Return every output of a motion q, qd, qdd (n, N) under a wrench (n, 6) on the tip."""
    found = {}
    for name, output in outputs.items():
        values = evaluator(model, output)(*motion, load)[0].reshape(len(t), -1)
        values = output.over_time(t, values)
        found[name] = values[:, 0] if values.shape[1] == 1 else values
    return found


def named_outputs(given: Any, model: Model | None = None) -> dict[str, Output]:
    """Return outputs by name, checked against the model if there is one; None: none."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SuppleError(
            f"outputs is {shown(given)}: give a dict of outputs by name, such as "
            '{"root": supple.Strain("link1", 0.0)}'
        )
    for name, output in given.items():
        if not isinstance(name, str) or not name:
            raise SuppleError(f"outputs has the name {shown(name)}: give words")
        if not isinstance(output, Output):
            raise SuppleError(
                f"output '{name}' is {shown(output)}: give an output, such as supple.Tip() or "
                'supple.Strain("link1", 0.0)'
            )
        if model is not None:
            output.check(model)
    return dict(given)
