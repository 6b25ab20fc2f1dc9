"""Outputs measured: of a state, over a run, their slopes; and outputs by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import brief
from ..equations.closed.coupled import ClosedFunctions, near_symbols
from ..equations.evaluate import Evaluator, slope
from ..equations.model import Model
from ..errors import SuppleError
from .loops import closed_function
from .output import Motion, Output

__all__ = [
    "accelerations",
    "evaluator",
    "function",
    "named_outputs",
    "read_outputs",
    "readings",
    "slopes",
]

Array = NDArray[np.float64]


def function(model: Model, output: Output, near: bool = False) -> Any:
    """Return an output as a CasADi function (q, qd, qdd, wrench) -> (k,).

    `near`: it takes as last input about where the followers of loops are.
    """

    def make() -> Any:
        import casadi as ca

        functions: Any = model.functions
        closed = isinstance(functions, ClosedFunctions)
        if closed and not near:
            core = function(model, output, near=True)
            x = [ca.MX.sym(word, core.size1_in(k)) for k, word in enumerate("qvaw")]
            start = functions.cached("start", functions.loops.start)
            return ca.Function("output", x, [core(*x, ca.stop_diff(start(x[0]), 1))])
        if closed and output.of_tree:
            return closed_function(functions, output)
        bound = near_symbols(model)[0] if closed else model
        n = model.size
        symbol = bound.functions.symbol
        x = [symbol(word, size) for word, size in zip("qvaw", (n, n, n, 6), strict=True)]
        found = ca.cse([ca.densify(output.expression(bound, Motion(*x)))])
        return ca.Function("output", [*x, *bound.functions.guess_symbols], found)

    output.check(model)
    return model.functions.cached(("output", output, near), make)


def evaluator(model: Model, output: Output, near: bool = False) -> Evaluator:
    """Return an output as a function of arrays q, qd, qdd and wrench, one state or many."""
    own = function(model, output, near)
    arrays_evaluator: Evaluator = model.functions.cached(
        ("output of arrays", output, near), Evaluator, own
    )
    return arrays_evaluator


def slopes(model: Model, output: Output, at: tuple[Array, Array, Array]) -> list[Array]:
    """Return an output's slopes by q, qd, qdd and the wrench on the tip, at a state under tau."""
    evaluators: list[Evaluator] = model.functions.cached(
        ("slopes of output", output),
        lambda: [Evaluator(slope(function(model, output), i), True) for i in range(4)],
    )
    motion = (*at[:2], model.forward_dynamics(*at), np.zeros(6))
    return [each(*motion)[0] for each in evaluators]


def readings(
    model: Model,
    outputs: Mapping[str, Output],
    t: Array,
    state: tuple[Array, Array],
    loads: tuple[Array, Array | None],
    near: Array | None = None,
) -> dict[str, Array]:
    """Return every output at the times (n,) of a run: (n,), or (n, k) where it has k values.

    `state` are q and qd, (n, N); `loads` efforts (n, joints), and the wrench (n, 6) or None;
    `near` (n, w) is about where the followers of loops are.
    """
    load = np.zeros((len(t), 6)) if loads[1] is None else loads[1]
    qdd = accelerations(model, state, loads, near)
    return read_outputs(model, outputs, t, (*state, qdd), load, near)


def accelerations(
    model: Model,
    state: tuple[Array, Array],
    loads: tuple[Array, Array | None],
    near: Array | None = None,
) -> Array:
    """Return qdd at states q, qd, one or many, under efforts and a wrench or None, near w."""
    if near is None:
        return model.forward_dynamics(*state, *loads)
    loaded = loads[1] is not None
    name = "forward_dynamics_loaded" if loaded else "forward_dynamics"
    x = (*state, *(loads if loaded else loads[:1]), near)
    return model.functions.evaluator(name, near=True)(*x)[0]


def read_outputs(
    model: Model,
    outputs: Mapping[str, Output],
    t: Array,
    motion: tuple[Array, Array, Array],
    load: Array,
    near: Array | None = None,
) -> dict[str, Array]:
    """Return every output of a motion q, qd, qdd (n, N) under a wrench (n, 6) on the tip."""
    found = {}
    guess = [] if near is None else [near]
    for name, output in outputs.items():
        evaluate = evaluator(model, output, near is not None)
        values = evaluate(*motion, load, *guess)[0].reshape(len(t), -1)
        values = output.named(name).over_time(t, values)
        found[name] = values[:, 0] if values.shape[1] == 1 else values
    return found


def named_outputs(given: Any, model: Model | None = None) -> dict[str, Output]:
    """Return outputs by name, checked against the model if there is one; None: none."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SuppleError(
            f"outputs is {brief(given)}: give a dict of outputs by name, such as "
            '{"root": supple.Strain("link1", 0.0)}'
        )
    for name, output in given.items():
        if not isinstance(name, str) or not name:
            raise SuppleError(f"outputs has the name {brief(name)}: give words")
        if not isinstance(output, Output):
            raise SuppleError(
                f"output '{name}' is {brief(output)}: give an output, such as supple.Tip() or "
                'supple.Strain("link1", 0.0)'
            )
        if model is not None:
            output.check(model)
    return dict(given)
