"""Experiment: measured values, and what a robot with certain parameters makes of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..parameters import Setting

__all__ = ["Experiment", "NoiseGroup"]

Array = NDArray[np.float64]


class NoiseGroup:
    """Values of one experiment that share a noise model.

    Attributes
    ----------
    name
        In words.
    rows
        Of the experiment's values.
    sigma
        (rows,) known standard deviations, or None where their size is estimated.
    weight
        (rows,) relative sizes of the noise where its size is estimated.
    mixed
        Whether the noise is constant plus proportional to the model's value, both shares estimated.
    """

    def __init__(
        self,
        name: str,
        rows: NDArray[np.int64],
        sigma: Array | None = None,
        weight: Array | None = None,
        mixed: bool = False,
    ) -> None:
        self.name = name
        self.rows = rows
        self.sigma = sigma
        self.weight = np.ones(len(rows)) if weight is None else weight
        self.mixed = mixed
        self.shares = (0.0, 0.0)  # of mixed noise: constant and relative variance, as estimated

    def modulus(self, predicted: Array) -> Array:
        """Return |H| at each of `rows`, which are real parts, then imaginary parts."""
        real, imaginary = np.split(predicted[self.rows], 2)
        return np.tile(np.hypot(real, imaginary), 2)


class Experiment(ABC):
    """A table of measured values under a model.

    A kind of experiment has these duties:

    1. `measured`: (n,) values in the space where noise is Gaussian (logarithms of frequencies).
    2. `predict(setting)`: (n,) what the model says of them; NaN where it has nothing to say.
    3. `groups`: NoiseGroups that together hold every row.
    4. `measured_values`, `values_of(predicted)`: the same in the units of the table.
    5. `labels()`: a word for each value.

    `assign` pairs measured values with computed ones where that is not known beforehand; most
    experiments have nothing to pair.
    """

    name: str
    kind: str
    measured: Array
    groups: list[NoiseGroup]
    notes: list[str]
    unit: str = ""
    pairing: bool = False

    @abstractmethod
    def predict(self, setting: Setting) -> Array:
        """Return what the model says, (n,)."""

    def assign(self, setting: Setting, sigma: float) -> float:
        """Pair values with computed ones, given the noise; return minus the log likelihood."""
        return 0.0

    def values_of(self, predicted: Array) -> Array:
        """Return predicted values in the units of the table."""
        return predicted

    @property
    def measured_values(self) -> Array:
        """Measured values in the units of the table."""
        return self.values_of(self.measured)

    def labels(self) -> list[str]:
        """Return a word for each value."""
        return [f"{self.name}, value {k + 1}" for k in range(len(self.measured))]

    def findings(self, setting: Setting) -> list[str]:
        """Return sentences about what was paired and what was not."""
        return []

    def blocks(self) -> NDArray[np.int64]:
        """Return the number of the block each value belongs to: they are held out together."""
        return np.arange(len(self.measured))

    def figure(self, setting: Setting) -> dict[str, Any]:
        """Return what a picture shows: x, and its label."""
        return {"x": np.arange(len(self.measured)) + 1.0, "label": "value"}
