"""Stepper: how a Model is carried through time. The duties of every kind."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..inputs import Feedback
from ..plan import Chunk, RunPlan
from ..spectrum import Spectrum

__all__ = ["Stepper", "Takes"]

Array = NDArray[np.float64]
Takes = Literal["data", "function", "controller", "wrench", "beta", "loops", "memory"]


class Stepper(ABC):
    """A way to integrate a Plan from its start x. A kind of stepper has these duties:

    1. `name`, and `order`: of convergence in its step; None where a tolerance decides.
    2. `takes`: efforts as `data`, as a Python `function`, by a `controller`; a tip `wrench`; `beta`
       integrated beside the states; robots with `loops`.
    3. `own_step(plan, spectrum)`: the step it takes when none is asked for, from the rates that the
       motion has: at most 1e-3 of the energy is lost in 100 periods of the fastest mode excited,
       and the state after 20 of them is within 2 %. Samples of the answer are not steps.
    4. `run(plan, x, step)` yields chunks of states at the samples; inputs switch between steps, and
       whatever it remembers is made new there.
    5. `refusal(plan, x)` says what keeps it from a plan, or nothing.
    6. `late`: rad that a mode is late for each rad it turns, over the rad of a step to the power
       `order`; of methods that lose more time than energy, so that no balance tells; else zero.
    """

    name: ClassVar[str]
    order: ClassVar[int | None]
    takes: ClassVar[frozenset[Takes]]
    late: ClassVar[float] = 0.0

    def own_step(self, plan: RunPlan, spectrum: Spectrum) -> float:
        """Return the step for a motion of these rates, s; infinite where a tolerance decides."""
        return math.inf

    @abstractmethod
    def run(self, plan: RunPlan, x: Array, step: float) -> Iterator[Chunk]:
        """Yield the states at the samples, chunk after chunk."""

    def refusal(self, plan: RunPlan, x: Array) -> str:
        """Return what keeps this stepper from a plan, or nothing."""
        function = isinstance(plan.tau, Feedback)
        needs: dict[Takes, bool] = {
            "function": function,
            "controller": plan.controller is not None,
            "data": not function and plan.controller is None,
            "wrench": plan.wrench is not None,
            "memory": plan.memory > 0,
            "beta": plan.model.reading.carries_roots,
            **dict.fromkeys(plan.model.functions.needs, True),
        }
        for word, needed in needs.items():
            if needed and word not in self.takes:
                return _SENTENCES[word]
        return ""


_SENTENCES: dict[Takes, str] = {
    "function": "takes no Python function",
    "controller": "takes no Controller",
    "data": "needs a Controller and a trajectory",
    "wrench": "takes no tip wrench",
    "memory": "takes no law with states of its own",
    "beta": "does not integrate beta",
    "loops": "is not for robots with loops",
}
