"""Output: something that can be measured of a Model in motion. The duties of every kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..answers.held import Held
from ..arguments import shown
from ..equations.evaluate import Evaluator, slope
from ..equations.model import Model
from ..errors import SuppleError
from .rest import Rest

__all__ = ["Motion", "Output", "evaluator", "function", "named_outputs", "readings", "slopes"]

Array = NDArray[np.float64]
Expression = Any


@dataclass(frozen=True)
class Motion:
    """A state in motion, expressions: q, qd, qdd (N,) each; a wrench (6,) on the tip, or None."""

    q: Expression
    qd: Expression
    qdd: Expression
    wrench: Expression = None

    def lists(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Return q, qd and qdd entry by entry."""
        import casadi as ca

        return ca.vertsplit(self.q), ca.vertsplit(self.qd), ca.vertsplit(self.qdd)

    def load(self) -> list[Any] | None:
        """Return the wrench entry by entry."""
        import casadi as ca

        return None if self.wrench is None else ca.vertsplit(self.wrench)


class Output(Held, ABC):
    """What is measured. A kind of output has these duties:

    1. `names(model)` returns a name for each of its values.
    2. `check(model)` raises a SuppleError when the model has no such thing.
    3. `expression(model, motion)` returns its values as a column of expressions.
    4. `read(values)` returns what an instrument shows of values (.., k): rounded ones.
    5. `over_time(t, values)` returns what it shows in a run, (n, k) at times t (n,).
    6. `smooth`: whether it has slopes, so that it can be linearised.
    7. `at_rest(rest)` returns its values (k,) at rest, from the exact beams: no model is needed.
    """

    smooth: ClassVar[bool] = True

    @abstractmethod
    def names(self, model: Model) -> list[str]:
        """Return a name for each value."""

    def check(self, model: Model) -> None:
        """Raise a SuppleError when the model has no such thing."""

    @abstractmethod
    def expression(self, model: Model, motion: Motion) -> Expression:
        """Return the values, a column."""

    @abstractmethod
    def at_rest(self, rest: Rest) -> Array:
        """Return the values at rest."""

    def read(self, values: Array) -> Array:
        """Return what an instrument shows."""
        return values

    def over_time(self, t: Array, values: Array) -> Array:
        """Return what it shows in a run."""
        return self.read(values)


def function(model: Model, output: Output) -> Any:
    """Return an output as a CasADi function (q, qd, qdd, wrench) -> (k,)."""

    def make() -> Any:
        import casadi as ca

        n, symbol = model.size, model.functions.symbol
        x = [symbol(word, size) for word, size in zip("qvaw", (n, n, n, 6), strict=True)]
        return ca.Function("output", x, ca.cse([ca.densify(output.expression(model, Motion(*x)))]))

    output.check(model)
    return model.functions.derived(("output", output), make)


def evaluator(model: Model, output: Output) -> Evaluator:
    """Return an output as a function of arrays q, qd, qdd and wrench, one state or many."""
    made: Evaluator = model.functions.derived(
        ("output of arrays", output), lambda: Evaluator(function(model, output))
    )
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
    found = {}
    for name, output in outputs.items():
        values = evaluator(model, output)(q, qd, qdd, load)[0].reshape(len(t), -1)
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
