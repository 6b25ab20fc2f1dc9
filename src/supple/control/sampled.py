"""Sampled: a control law as a computer carries it out, with its period, delay, limits and encoder.

At k T the law reads the state; what it answers, clipped, is commanded from k T + delay until the
next answer arrives, and zero before the first. A motor's current loop may follow the command with
a first-order lag.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import Immutable
from ..arguments import brief, number, optional, reals, some
from ..equations.model import Model
from ..errors import SuppleError
from .controllers import Controller

__all__ = ["Sampled"]

Array = NDArray[np.float64]
Law = Controller | Callable[..., ArrayLike]
SMALLEST = 1e-7  # s: a shorter period is a wrong unit


def _a_law(name: str, value: Any) -> Any:
    if isinstance(value, Sampled):
        raise SuppleError(f"{name} is a Sampled: one law is sampled once; give its own law")
    if isinstance(value, Controller) or (callable(value) and not isinstance(value, type)):
        return value
    raise SuppleError(
        f"{name} is {brief(value)}: give a Controller, such as supple.JointPD(100, 10), or a "
        "function f(t, q, qd) or f(t, q, qd, (r, rd, rdd))"
    )


@dataclass(frozen=True, eq=False)
class Sampled(Immutable):
    """A controller run by a computer: sampled, delayed, with constant efforts between samples.

    Parameters
    ----------
    law : Controller or callable
        A Controller, or a function ``f(t, q, qd)`` or ``f(t, q, qd, (r, rd, rdd))`` that returns
        efforts. A function may have memory: it is called exactly once per sample, in order of time.
    period : float
        Time between samples, s.
    delay : float
        Time from a sample until its effort acts, s; may exceed the period.
    effort_limit : float or sequence, optional
        Largest effort in both directions, N m or N, one value or one per joint. Default: those of
        the robot's joints, where they have one.
    quantisation : float or sequence, optional
        Step to which measured joint coordinates are rounded, rad or m. Rates are not rounded.
    lag : float or sequence
        Time constant of the motors' current loops, s: lag dtau/dt = command - tau.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> servo = supple.Sampled(supple.JointPD(10, 2), period=0.01, delay=0.002)
    >>> move = supple.PointToPoint([0, 0], [0.1, 0.1], 0.2)
    >>> supple.simulate(model, controller=servo, trajectory=move).tau.shape
    (201, 2)
    """

    law: Law
    period: float
    delay: float = 0.0
    effort_limit: float | Sequence[float] | None = None
    quantisation: float | Sequence[float] | None = None
    lag: float | Sequence[float] = 0.0

    checks: ClassVar = {
        "law": _a_law,
        "period": number(SMALLEST, give=f"seconds between two samples, {SMALLEST:g} at least"),
        "delay": number(0, unit="of seconds"),
        "effort_limit": optional(some(0)),
        "quantisation": optional(some(0)),
        "lag": some(0),
    }

    def check(self, model: Model) -> None:
        """Raise a SuppleError when it does not fit the model."""
        if isinstance(self.law, Controller):
            self.law.check(model)
        for name in ("effort_limit", "quantisation", "lag"):
            self.by_joint(name, model)

    def by_joint(self, name: str, model: Model) -> Array | None:
        """Return one of its values for each joint, (joints,); None where there is none."""
        value = getattr(self, name)
        if value is None and name == "effort_limit":
            own = [motor.effort_limit for motor in model.motors]
            return np.array([np.inf if x is None else x for x in own]) if any(own) else None
        if value is None:
            return None
        given = reals(name, value)
        if given.shape not in ((), (model.joints,)):
            raise SuppleError(
                f"{name} has {len(given)} entries: give one value, or one for each of "
                f"{model.joints} joints"
            )
        return np.broadcast_to(given, (model.joints,)).astype(float)

    @property
    def follows(self) -> bool | None:
        """Whether the law needs a motion to follow; None: it takes one where there is one."""
        if isinstance(self.law, Controller):
            return True
        try:
            words = list(inspect.signature(self.law).parameters.values())
        except (TypeError, ValueError):
            return False
        if any(word.kind is word.VAR_POSITIONAL for word in words):
            return None
        plain = [
            word
            for word in words
            if word.kind in (word.POSITIONAL_ONLY, word.POSITIONAL_OR_KEYWORD)
        ]
        if len(plain) < 3:
            raise SuppleError(
                f"the law takes {len(plain)} arguments: a sampled law is f(t, q, qd) or "
                "f(t, q, qd, (r, rd, rdd))"
            )
        if len(plain) == 3:
            return False
        return True if plain[3].default is plain[3].empty else None
