"""What an optimisation wants of the natural frequencies, in the bound formulation.

The lowest of several frequencies has corners where two of them meet. A bound t has none:

    maximise t  under  omega_k(x, pose) / scale >= t               (the lowest frequency, raised)
    minimise t  under  -t <= omega_k(x, pose) / scale - 1 <= t     (a frequency in its place)
    minimise t  under  mass(x) <= t, omega_k(x, pose) >= scale     (least mass for a frequency)

for the first few modes of every pose, x being the dimensions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError

__all__ = ["Goal", "LeastMass", "PlacedMode", "RaisedLowest", "goal_of"]

Array = NDArray[np.float64]
BOUNDED_MODES = 3  # of every pose that are kept above the bound: more than may meet at the lowest
LARGEST_FREQUENCY = 1e30  # Hz
MOST_MODES = 99  # number of the highest mode that can be placed


class Goal(ABC):
    """What is wanted of the frequencies omega (P, modes), rad/s, and the bound t."""

    name: str
    sign: float  # t is minimised (+1) or maximised (-1)
    modes: int = BOUNDED_MODES
    scale: float = 1.0  # rad/s, of t

    @abstractmethod
    def margin(self, omega: Array) -> Array:
        """How good each pose is, (..): the least of them decides."""

    @abstractmethod
    def constraints(self, omega: Array, t: float) -> Array:
        """Constraints >= 0 of every pose, (P * rows per pose,)."""

    @abstractmethod
    def constraint_slopes(self, omega_slopes: Array) -> Array:
        """Their derivatives (rows per pose, n + 1) by [x, t]; of omega (modes, n) at one pose."""

    @abstractmethod
    def best_bound(self, omega: Array, mass_ratio: float) -> float:
        """The best t of a design."""

    def deciding_frequency(self, omega: Array) -> float:
        """The frequency that decides among poses, rad/s."""
        worst_pose = int(np.argmin(self.margin(omega)))
        return float(omega[worst_pose].min())

    @property
    def mode_numbers(self) -> Sequence[int]:
        """The number of the mode of each row of a pose."""
        return range(1, self.modes + 1)


class RaisedLowest(Goal):
    """Maximise t under omega_k / scale >= t."""

    name = "lowest"
    sign = -1.0

    def margin(self, omega: Array) -> Array:
        return np.asarray(omega.min(axis=-1) / self.scale)

    def constraints(self, omega: Array, t: float) -> Array:
        return (omega / self.scale - t).ravel()

    def constraint_slopes(self, omega_slopes: Array) -> Array:
        by_bound = -np.ones(len(omega_slopes))
        return np.column_stack([omega_slopes / self.scale, by_bound])

    def best_bound(self, omega: Array, mass_ratio: float) -> float:
        return float(self.margin(omega).min())


class PlacedMode(Goal):
    """Minimise t under -t <= omega_k / scale - 1 <= t."""

    name = "place"
    sign = 1.0

    def __init__(self, mode: int, hertz: float) -> None:
        self.modes = mode
        self.scale = 2 * np.pi * hertz

    def margin(self, omega: Array) -> Array:
        return np.asarray(-np.abs(omega[..., -1] / self.scale - 1))

    def constraints(self, omega: Array, t: float) -> Array:
        relative_error = omega[:, -1:] / self.scale - 1
        both_sides = np.hstack([-relative_error, relative_error])
        return (t + both_sides).ravel()

    def constraint_slopes(self, omega_slopes: Array) -> Array:
        placed = omega_slopes[-1] / self.scale
        return np.column_stack([np.array([-placed, placed]), np.ones(2)])

    def best_bound(self, omega: Array, mass_ratio: float) -> float:
        return float(-self.margin(omega).min())

    def deciding_frequency(self, omega: Array) -> float:
        worst_pose = int(np.argmin(self.margin(omega)))
        return float(omega[worst_pose, -1])

    @property
    def mode_numbers(self) -> Sequence[int]:
        return (self.modes, self.modes)


class LeastMass(Goal):
    """Minimise t under mass <= t and omega_k >= scale; the row of the mass is the problem's."""

    name = "mass"
    sign = 1.0

    def __init__(self, hertz: float) -> None:
        self.scale = 2 * np.pi * hertz

    def margin(self, omega: Array) -> Array:
        return np.asarray(omega.min(axis=-1) / self.scale)

    def constraints(self, omega: Array, t: float) -> Array:
        return (omega / self.scale - 1).ravel()

    def constraint_slopes(self, omega_slopes: Array) -> Array:
        by_bound = np.zeros(len(omega_slopes))
        return np.column_stack([omega_slopes / self.scale, by_bound])

    def best_bound(self, omega: Array, mass_ratio: float) -> float:
        return mass_ratio


def goal_of(maximise: Any, minimise: Any, place: Any, lowest: float | None) -> Goal:
    """Return the one goal that the arguments of `optimise` name."""
    requested = [maximise is not None, minimise is not None, place is not None]
    if sum(requested) > 1:
        raise SuppleError("maximise, minimise and place are three goals: give one of them")
    if (minimise is not None) != (lowest is not None):
        raise SuppleError(
            "least mass needs the frequency that is required, and only that goal takes one: "
            'give minimise="mass", lowest=12.0'
        )

    if lowest is not None:
        return LeastMass(lowest)
    if place is None:
        return RaisedLowest()
    mode_and_hertz = np.ravel(place)
    is_pair = len(mode_and_hertz) == 2
    if (
        not is_pair
        or mode_and_hertz[0] not in range(1, MOST_MODES + 1)
        or not 0 < mode_and_hertz[1] < LARGEST_FREQUENCY
    ):
        raise SuppleError(f"place is {mode_and_hertz.tolist()}: give (mode, Hz), such as (1, 12.0)")
    return PlacedMode(int(mode_and_hertz[0]), float(mode_and_hertz[1]))
