"""Output: something that can be measured of a Model in motion. The duties of every kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..answers.immutable import Immutable
from ..equations.model import Model
from .at_rest import Rest

__all__ = ["Motion", "Output"]

Array = NDArray[np.float64]
Expression = Any


@dataclass(frozen=True)
class Motion:
    """A state in motion, expressions: q, qd, qdd (N,) each; a wrench (6,) on the tip, or None.

    closing: how each closure row of a robot with loops pulls, or None.
    """

    q: Expression
    qd: Expression
    qdd: Expression
    wrench: Expression = None
    closing: Expression = None

    def lists(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Return q, qd and qdd entry by entry."""
        import casadi as ca

        return ca.vertsplit(self.q), ca.vertsplit(self.qd), ca.vertsplit(self.qdd)

    def load(self) -> list[Any] | None:
        """Return the wrench entry by entry."""
        import casadi as ca

        return None if self.wrench is None else ca.vertsplit(self.wrench)


class Output(Immutable, ABC):
    """Base class of measured quantities.

    Notes
    -----
    A kind of output implements:

    1. ``names(model)`` returns a name for each of its values.
    2. ``check(model)`` raises a SuppleError if the model has no such quantity.
    3. ``expression(model, motion)`` returns its values as a column of expressions.
    4. ``read(values)`` returns what an instrument shows for values (.., k), such as rounded ones.
    5. ``over_time(t, values)`` returns what it shows in a run, (n, k) at times t (n,).
    6. ``smooth``: whether it has derivatives, so that it can be linearised.
    7. ``entries`` returns what each of its values is, in words with the unit, for tables.
    8. ``at_rest(rest)`` returns its values (k,) at rest from the exact beams, without a model.
    """

    smooth: ClassVar[bool] = True
    of_tree: ClassVar[bool] = False  # whether robots with loops are asked by their tree

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """What each value is, such as "about x", and its unit; empty where a kind does not say."""
        return ()

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

    def named(self, name: str) -> Output:
        """Return the output as it is called in a run: of instruments with noise their own noise."""
        return self

    def read(self, values: Array) -> Array:
        """Return what an instrument shows."""
        return values

    def over_time(self, t: Array, values: Array) -> Array:
        """Return what it shows in a run."""
        return self.read(values)
