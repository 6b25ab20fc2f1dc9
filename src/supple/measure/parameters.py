"""Free parameters of a fit: paths of the robot file, and gains, biases and delays of sensors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import brief
from ..errors import SuppleError
from ..robot import Robot
from ..studies.design.varied import Varied

__all__ = ["ParameterSet", "Setting"]

Array = NDArray[np.float64]
SENSOR_START = {"gain": 1.0, "bias": 0.0, "delay": 0.0}
MODAL = "damping_ratio"  # of every elastic mode of the whole robot
FACTOR = 3.0  # by which other starts differ from the first, at most


@dataclass(frozen=True)
class Setting:
    """A robot and sensors with certain values of the free parameters.

    Attributes
    ----------
    robot
        With its free and tied paths set.
    sensors
        `NAME.gain` and the like to value.
    modal_damping
        Of every elastic mode, None where it is no parameter. start: initial joint angles that are
        fitted, by name.
    """

    robot: Robot
    sensors: Mapping[str, float]
    modal_damping: float | None
    values: Mapping[str, float]

    def sensor(self, name: str, part: str) -> float:
        """Return gain, bias or delay of a sensor."""
        return float(self.sensors.get(f"{name}.{part}", SENSOR_START[part]))


@dataclass(frozen=True)
class ParameterSet:
    """The free parameters, and how numbers x of the optimiser become a robot.

    Positive ones are fitted by their logarithm, x = ln(p / start), others by (p - start) / scale.

    Attributes
    ----------
    robot
        Nominal.
    names
        Of the free parameters.
    start
        (p,) values.
    scale
        (p,).
    logarithmic
        (p,) which are fitted by their logarithm.
    low, high
        (p,) bounds of values.
    prior_mean, prior_std
        (p,), NaN where there is no prior.
    ties
        Path to (free name, factor).
    """

    robot: Robot
    names: tuple[str, ...]
    start: Array
    scale: Array
    logarithmic: NDArray[np.bool_]
    low: Array
    high: Array
    prior_mean: Array
    prior_std: Array
    ties: Mapping[str, tuple[str, float]]

    @classmethod
    def of(
        cls,
        robot: Robot,
        free: Sequence[str],
        *,
        start: Mapping[str, float] | None = None,
        bounds: Mapping[str, Any] | None = None,
        priors: Mapping[str, Any] | None = None,
        ties: Mapping[str, Any] | None = None,
        extra: Mapping[str, float] | None = None,
    ) -> ParameterSet:
        """Check names, start values, bounds, priors and ties; a fault is a sentence."""
        names = list(free)
        if not all(isinstance(name, str) for name in names):
            raise SuppleError(
                f"free is {brief(free)}: give paths of the robot file, such as ['payload.mass']"
            )
        if not names:
            raise SuppleError("free is empty: name at least one parameter, such as payload.mass")
        for name in names:
            if names.count(name) > 1:
                raise SuppleError(f"free names '{name}' twice")
        names += list(extra or {})
        given = dict(extra or {}) | dict(start or {})
        for label, table in (("start", start), ("bounds", bounds), ("priors", priors)):
            for key in table or {}:
                if key not in names:
                    raise SuppleError(
                        f"{label} is given for '{key}', which is not free: free are "
                        f"{', '.join(names):.160}"
                    )
        values: list[float] = []
        low: list[float] = []
        high: list[float] = []
        mean: list[float] = []
        std: list[float] = []
        for name in names:
            value = float(given[name]) if name in given else _start_value(robot, name)
            if not name.startswith(("sensor.", "theta0.")) and name != MODAL:
                robot.with_(name, value)  # a fault of the path or value is told here
            limits = (bounds or {}).get(name, (-math.inf, math.inf))
            try:
                lowest, highest = (float(x) for x in limits)
            except (TypeError, ValueError):
                raise SuppleError(
                    f"bounds of '{name}' are {brief(limits)}: give (low, high)"
                ) from None
            if not lowest < highest or not lowest <= value <= highest:
                raise SuppleError(
                    f"bounds of '{name}' are {lowest:g} to {highest:g}, and it starts at "
                    f"{value:g}: give low < high with the start between them"
                )
            prior = (priors or {}).get(name)
            if prior is None:
                prior_mean = prior_std = math.nan
            else:
                pair = prior if isinstance(prior, list | tuple) else (value, prior)
                try:
                    prior_mean, prior_std = (float(x) for x in pair)
                except (TypeError, ValueError):
                    prior_mean = prior_std = -1.0
                if not prior_std > 0:
                    raise SuppleError(
                        f"the prior of '{name}' is {brief(prior)}: give its standard deviation, "
                        "or (mean, standard deviation)"
                    )
            values.append(value)
            low.append(lowest)
            high.append(highest)
            mean.append(prior_mean)
            std.append(prior_std)
        at = np.array(values)
        positive = np.array([_positive(name) for name in names])
        logarithmic = (at > 0) & positive & ~(np.isfinite(low) & (np.array(low) < 0))
        scale = np.where(at != 0, np.abs(at), 1.0)
        for k, name in enumerate(names):
            if at[k] == 0:
                scale[k] = _usual_scale(name, std[k], high[k])
        tied: dict[str, tuple[str, float]] = {}
        for path, source in (ties or {}).items():
            name, factor = source if isinstance(source, list | tuple) else (source, 1.0)
            if name not in names:
                raise SuppleError(f"'{path}' is tied to '{name}', which is not free")
            if path in names:
                raise SuppleError(f"'{path}' is both free and tied: make it one of them")
            tied[path] = (str(name), float(factor))
            robot.with_(path, float(factor) * values[names.index(name)])
        return cls(
            robot,
            tuple(names),
            at,
            scale,
            logarithmic,
            np.array(low),
            np.array(high),
            np.array(mean),
            np.array(std),
            tied,
        )

    def values(self, x: Array) -> Array:
        """Return parameter values of the optimiser's numbers."""
        with np.errstate(over="ignore"):
            grown = self.start * np.exp(np.clip(x, -60, 60))
        return np.where(self.logarithmic, grown, self.start + x * self.scale)

    def coordinates(self, values: Array) -> Array:
        """Return the optimiser's numbers of parameter values."""
        ratio = np.maximum(values, 1e-300) / np.where(self.start > 0, self.start, 1.0)
        return np.where(self.logarithmic, np.log(ratio), (values - self.start) / self.scale)

    def slopes(self, x: Array) -> Array:
        """Return dp / dx, (p,)."""
        return np.where(self.logarithmic, self.values(x), self.scale)

    def limits(self) -> tuple[Array, Array]:
        """Return bounds of x; masses and the like that start at zero stay at or above it."""
        low = np.where(np.isfinite(self.low), self.low, -np.inf)
        for k, name in enumerate(self.names):
            if not self.logarithmic[k] and _positive(name) and not np.isfinite(low[k]):
                low[k] = 0.0
        with np.errstate(divide="ignore"):
            ratio_low = np.log(np.maximum(low, 0.0) / np.where(self.start > 0, self.start, 1.0))
            ratio_high = np.log(
                np.maximum(self.high, 1e-300) / np.where(self.start > 0, self.start, 1.0)
            )
        lower = np.where(
            self.logarithmic, np.maximum(ratio_low, -50.0), (low - self.start) / self.scale
        )
        upper = np.where(
            self.logarithmic, np.minimum(ratio_high, 50.0), (self.high - self.start) / self.scale
        )
        return lower, upper

    def setting(self, x: Array) -> Setting:
        """Return the robot and the sensors at the optimiser's numbers."""
        values = dict(zip(self.names, self.values(x).tolist(), strict=True))
        changes: dict[str, Any] = {}
        sensors: dict[str, float] = {}
        for name, value in values.items():
            if name.startswith("sensor."):
                sensors[name.removeprefix("sensor.")] = value
            elif name != MODAL and not name.startswith("theta0."):
                changes[name] = value
        for path, (name, factor) in self.ties.items():
            changes[path] = factor * values[name]
        robot = self.robot.with_(changes) if changes else self.robot
        return Setting(robot, sensors, values.get(MODAL), values)

    def other_starts(self, count: int, seed: int) -> list[Array]:
        """Return `count` further starts, spread over the bounds or a factor of three each way."""
        from scipy.stats import qmc

        low, high = self.limits()
        reach = math.log(FACTOR)
        low = np.maximum(np.where(np.isfinite(low), low, -reach), -reach)
        high = np.minimum(np.where(np.isfinite(high), high, reach), reach)
        spread = qmc.Halton(len(self.names), seed=seed).random(count)
        return [low + u * (high - low) for u in spread]


def _positive(name: str) -> bool:
    """Whether a parameter is one that cannot be negative; coordinates and offsets may be."""
    last = name.rpartition(".")[2]
    if name.startswith("theta0.") or last in ("bias", "delay", "gain"):
        return last == "gain"
    free_sign = ("gravity", "com", "xyz", "rpy", "roll", "start", "rest")
    return not any(word in name.split(".") for word in free_sign)


def _usual_scale(name: str, prior_std: float, high: float) -> float:
    """A size for a parameter that starts at zero."""
    if np.isfinite(prior_std):
        return prior_std
    if np.isfinite(high) and high > 0:
        return high
    last = name.rpartition(".")[2]
    return {"delay": 1e-2, "bias": 1.0, "mass": 1.0}.get(last, 1.0)


def _start_value(robot: Robot, name: str) -> float:
    """What stands at a free parameter now."""
    head, _, rest = name.partition(".")
    if head == "sensor":
        sensor, _, part = rest.rpartition(".")
        if not sensor or part not in SENSOR_START:
            raise SuppleError(
                f"'{name}' is no parameter of a sensor: write sensor.COLUMN.gain, .bias or .delay"
            )
        return SENSOR_START[part]
    if name == MODAL:
        return 0.01
    if head in ("theta", "position"):
        raise SuppleError(f"'{name}' is a coordinate: the data say it; free are paths of the file")
    if rest.endswith("damping_ratio") or name.endswith(".damping_ratio"):
        try:
            found = Varied.of(robot, [name]).value(name)
        except SuppleError:
            found = 0.0
        return found or 0.01
    try:
        return Varied.of(robot, [name]).value(name)
    except SuppleError as problem:
        if "has no value" in str(problem):
            raise SuppleError(f"{problem}, or give start={{'{name}': ...}}") from None
        raise
