"""TipWrench: what a load on the tip that varies in time adds to the equations about a motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..equations.loaded import tip_loaded_model
from .linearised_model import PathModel
from .small_motion import Matrices, State

__all__ = ["TipWrench"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TipWrench:
    """A force and a moment on the tip of a PathModel, base axes.

    The equations are linear in a wrench: each of its components adds the difference that a unit of
    it makes, to the stiffness too, since the tip that carries it moves.

    Attributes
    ----------
    model
        Without the wrench.
    wrench
        Times (B,) to wrenches (B, 6).
    breaks
        Times at which it jumps or bends.
    acting
        Components that are not zero all the time.
    """

    model: PathModel
    wrench: Callable[[Array], Array]
    breaks: tuple[float, ...]
    acting: tuple[int, ...]

    def value(self, t: Array) -> Array:
        """Return the acting components at times (B,)."""
        return self.wrench(t)[:, list(self.acting)]

    @cached_property
    def _under_unit_loads(self) -> list[PathModel]:
        units = np.eye(6)
        return [PathModel(tip_loaded_model(self.model.model, units[k])) for k in self.acting]

    def unit_changes(self, found: Matrices, motion: State) -> list[Array]:
        """Return what a unit of each component adds to K, F and those rows of the motors."""
        before = [found.K, found.F, found.drive[2], found.drive[3]]
        if not self.acting:
            return [np.zeros((len(part), 0, *part.shape[1:])) for part in before]
        changes: list[list[Array]] = [[] for _ in before]
        for loaded in self._under_unit_loads:
            unit = loaded.matrices(*motion)
            after = [unit.K, unit.F, unit.drive[2], unit.drive[3]]
            for k in range(len(before)):
                changes[k].append(after[k] - before[k])
        return [np.stack(each, axis=1) for each in changes]
