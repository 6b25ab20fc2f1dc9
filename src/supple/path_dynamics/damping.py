"""Damping of the elastic motion about a rigid one: proportional, or a ratio for every mode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..answers.held import Held
from ..arguments import number, whole

__all__ = ["MotionDamping", "Proportional", "Ratio", "Rayleigh", "motion_damping"]

Array = NDArray[np.float64]
Law = Callable[[Array], Array]


class MotionDamping(Held, ABC):
    """How the elastic motion is damped. A kind has one duty:

    1. `law(M, K)` takes mass and elastic stiffness at the start and returns the function from M(t),
       (B, N, N), to the damping matrices, (B, N, N) or (N, N).
    """

    @abstractmethod
    def law(self, M: Array, K: Array) -> Law:
        """Return the damping along the motion."""


@dataclass(frozen=True)
class Proportional(MotionDamping):
    """C = alpha M(t) + beta K, 1/s and s. Source: [Kuo2016], after Eq. (44)."""

    alpha: float = 0.0
    beta: float = 0.0

    checks: ClassVar = {"alpha": number(0), "beta": number(0)}

    def law(self, M: Array, K: Array) -> Law:
        """Return alpha M(t) + beta K."""
        still = self.beta * K
        return lambda mass: self.alpha * mass + still if self.alpha else still


@dataclass(frozen=True)
class Rayleigh(MotionDamping):
    """Proportional damping with one ratio at two modes of the start, counted from 1.

    alpha = 2 zeta w_i w_j / (w_i + w_j), beta = 2 zeta / (w_i + w_j).
    """

    ratio: float
    first: int = 1
    second: int = 2

    checks: ClassVar = {"ratio": number(0), "first": whole(1), "second": whole(1)}

    def law(self, M: Array, K: Array) -> Law:
        """Return the proportional law that has this ratio at the two modes."""
        from scipy.linalg import eigh

        last = max(self.first, self.second)
        w = np.sqrt(eigh(K, M, eigvals_only=True, subset_by_index=(0, last - 1)))
        a, b = w[self.first - 1], w[self.second - 1]
        beta = 2 * self.ratio / (a + b)
        return Proportional(beta * a * b, beta).law(M, K)


@dataclass(frozen=True)
class Ratio(MotionDamping):
    """One ratio for every mode of the start: C = 2 zeta sum w_j (M phi_j)(M phi_j)', kept along."""

    ratio: float

    checks: ClassVar = {"ratio": number(0)}

    def law(self, M: Array, K: Array) -> Law:
        """Return the constant matrix that has this ratio in every mode of the start."""
        from scipy.linalg import eigh

        squares, Phi = eigh(K, M)
        side = M @ Phi
        C = 2 * self.ratio * (side * np.sqrt(squares)) @ side.T
        return lambda mass: C


def motion_damping(given: MotionDamping | float | None) -> MotionDamping | None:
    """Return a damping from what was given: None is none, a number a ratio for every mode."""
    if given is None or isinstance(given, MotionDamping):
        return given
    return Ratio(number(0)("damping", given))
