"""Damping of the elastic motion about a rigid one: proportional, or a ratio for every mode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..answers.immutable import Immutable
from ..architectures.kinds import tree_at_assembly
from ..arguments import number, whole_number
from ..beams.basis import FiniteElements
from ..beams.invariants import end_mass
from ..equations.closed.loops import unbent_assembly
from ..equations.damping import file_ratio, modal_matrix
from .kineto_elastodynamics import Ked

__all__ = [
    "Law",
    "MotionDamping",
    "PathDamping",
    "Proportional",
    "Ratio",
    "Rayleigh",
    "link_damping",
]

Array = NDArray[np.float64]
Law = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class PathDamping(Immutable):
    """A law that can be stored and compared: share M(t) + still."""

    share: float
    still: Array

    def __call__(self, mass: Array) -> Array:
        """Return the damping matrices, (B, N, N) or (N, N)."""
        return self.share * mass + self.still if self.share else self.still


class MotionDamping(Immutable, ABC):
    """How the elastic motion is damped. A kind has one duty:

    1. `law(M, K)` takes mass and elastic stiffness at the start and returns the function from M(t),
       (B, N, N), to the damping matrices, (B, N, N) or (N, N).
    """

    @abstractmethod
    def law(self, M: Array, K: Array) -> Law:
        """Return the damping along the motion."""


@dataclass(frozen=True)
class Proportional(MotionDamping):
    """Proportional damping, C = alpha M(t) + beta K.

    Parameters
    ----------
    alpha, beta : float
        Coefficients, 1/s and s.

    References
    ----------
    [Kuo2016], after Eq. (44).
    """

    alpha: float = 0.0
    beta: float = 0.0

    checks: ClassVar = {"alpha": number(0), "beta": number(0)}

    def law(self, M: Array, K: Array) -> Law:
        """Return alpha M(t) + beta K."""
        return PathDamping(self.alpha, self.beta * K)


@dataclass(frozen=True)
class Rayleigh(MotionDamping):
    """Proportional damping with the same ratio at two modes of the start.

    Parameters
    ----------
    ratio : float
        Damping ratio zeta.
    first, second : int
        The two modes i and j, from 1.

    Notes
    -----
    alpha = 2 zeta w_i w_j / (w_i + w_j), beta = 2 zeta / (w_i + w_j); see `Proportional`.
    """

    ratio: float
    first: int = 1
    second: int = 2

    checks: ClassVar = {"ratio": number(0), "first": whole_number(1), "second": whole_number(1)}

    def law(self, M: Array, K: Array) -> Law:
        """Return the proportional law that has this ratio at the two modes."""
        from scipy.linalg import eigh

        last = max(self.first, self.second)
        w = np.sqrt(eigh(K, M, eigvals_only=True, subset_by_index=(0, last - 1)))
        a = w[self.first - 1]
        b = w[self.second - 1]
        beta = 2 * self.ratio / (a + b)
        return Proportional(beta * a * b, beta).law(M, K)


@dataclass(frozen=True)
class Ratio(MotionDamping):
    """The same damping ratio for every mode of the start, constant along the motion.

    Parameters
    ----------
    ratio : float
        Damping ratio zeta.

    Notes
    -----
    C = 2 zeta sum w_j (M phi_j) (M phi_j)'.
    """

    ratio: float

    checks: ClassVar = {"ratio": number(0)}

    def law(self, M: Array, K: Array) -> Law:
        """Return the constant matrix that has this ratio in every mode of the start."""
        from scipy.linalg import eigh

        squares, Phi = eigh(K, M)
        side = M @ Phi
        return PathDamping(0.0, 2 * self.ratio * (side * np.sqrt(squares)) @ side.T)


def link_damping(model: Ked, ratio: float | None) -> Law | None:
    """Return the damping of every link's own modes: a ratio for all, or the robot file's.

    Those modes are of the link clamped at its root with its end load, those of `equations.damping`
    for a Model of the robot. None where nothing is damped.
    """
    if ratio is not None:
        number(0)("damping", ratio)
    each = list(zip(model.names, model.meshes, model.inner, strict=True))
    ratios = [
        (file_ratio(model.robot, name) if ratio is None else ratio) if part.size else None
        for name, part, _ in each
    ]
    if not any(ratios):
        return None
    tree = tree_at_assembly(model.robot)
    names = [link.name for link in tree.form.links]
    loads = dict(zip(names, unbent_assembly(tree, FiniteElements(1))[1], strict=True))
    D = np.zeros((model.size, model.size))
    for (name, part, place), zeta in zip(each, ratios, strict=True):
        if zeta:
            M = part.mass[6:, 6:] + end_mass(loads[name], part.end)
            D[place, place] = modal_matrix(M, part.stiffness, np.full(part.size, zeta))
    return PathDamping(0.0, D)
