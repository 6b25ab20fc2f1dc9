"""Sensor: an output as an instrument shows it, with noise, bandwidth and delay."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arguments import instance, number, optional, some, whole_number
from ..equations.model import Model
from ..errors import SuppleError
from .at_rest import Rest
from .output import Motion, Output

__all__ = ["Sensor"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sensor(Output):
    """An output with noise, bandwidth and delay.

    The output passes a first-order low-pass, is delayed, gets noise at every sample of the run, and
    is rounded last, as by an encoder.

    Parameters
    ----------
    output : Output
        Measured quantity.
    noise : float or tuple of float
        Standard deviation of each sample in units of the output, one value or one per component.
    seed : int, optional
        Seed of the noise. Default: from the name or place of the sensor in a run, so that several
        sensors have different noise and the same run has the same noise again.
    bandwidth : float, optional
        Frequency in Hz where the amplitude has dropped to 1/sqrt(2). Default: no low-pass.
    delay : float
        Delay, s; before it has passed, the sensor shows the initial value.

    Examples
    --------
    >>> import supple
    >>> gyro = supple.Sensor(supple.Gyroscope("link2"), noise=0.01, bandwidth=100.0)
    >>> gyro.bandwidth
    100.0
    """

    output: Output
    noise: float | tuple[float, ...] = 0.0
    seed: int | None = None
    bandwidth: float | None = None
    delay: float = 0.0

    checks: ClassVar = {
        "output": instance(Output, "an output, such as supple.Strain('link1', 0.0)"),
        "noise": some(0),
        "seed": optional(whole_number(0, 2**63 - 1)),
        "bandwidth": optional(number(0, above=True, unit="of hertz")),
        "delay": number(0, unit="of seconds"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.output, Sensor):
            raise SuppleError("a Sensor of a Sensor: give the output itself")

    @property
    def of_tree(self) -> bool:  # type: ignore[override]
        """Whether robots with loops are asked by their tree."""
        return self.output.of_tree

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        return self.output.entries

    def named(self, name: str) -> Sensor:
        """Return the same sensor with a seed, made from its name unless it was given one."""
        return self if self.seed is not None else replace(self, seed=zlib.crc32(name.encode()))

    def generator(self) -> np.random.Generator:
        """Return the random numbers of its noise, from their beginning."""
        return np.random.default_rng(0 if self.seed is None else self.seed)

    def names(self, model: Model) -> list[str]:
        return self.output.names(model)

    def check(self, model: Model) -> None:
        self.output.check(model)
        self._fits(len(self.output.names(model)))

    def _fits(self, count: int) -> None:
        """Raise unless there is one noise, or one for each value."""
        if np.ndim(self.noise) and np.size(self.noise) != count:
            raise SuppleError(
                f"noise has {np.size(self.noise)} entries: give one value, or one for each of the "
                f"{count} values of {type(self.output).__name__}"
            )

    def expression(self, model: Model, motion: Motion) -> Any:
        return self.output.expression(model, motion)

    def at_rest(self, rest: Rest) -> Array:
        values = self.output.at_rest(rest)
        self._fits(len(values))
        noise = self.generator().standard_normal(values.shape)
        return values + np.asarray(self.noise) * noise if np.any(self.noise) else values

    def read(self, values: Array) -> Array:
        return self.output.read(values)

    def over_time(self, t: Array, values: Array) -> Array:
        shown = values
        if self.bandwidth is not None:
            # y'/corner + y = x, x straight between its samples, at rest before them. Over a step h
            # of slope b: y1 = x1 - b/c + (y0 - x0 + b/c) exp(-c h)
            corner = 2 * np.pi * self.bandwidth
            shown = values.copy()
            for k in range(1, len(t)):
                h = t[k] - t[k - 1]
                lag = (values[k] - values[k - 1]) / (h * corner)
                before = shown[k - 1] - values[k - 1] + lag
                shown[k] = values[k] - lag + before * np.exp(-corner * h)
        if self.delay:
            then = t - self.delay
            shown = np.stack([np.interp(then, t, column) for column in shown.T], axis=1)
        if np.any(self.noise):
            noise = self.generator().standard_normal(shown.shape)
            shown = shown + np.asarray(self.noise) * noise
        return self.output.read(shown)
