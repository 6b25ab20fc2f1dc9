"""Damping of the elastic coordinates: kinds of it, each a matrix on eta of one link."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..answers.immutable import Immutable
from ..architectures.kinds import architecture_of
from ..arguments import brief, number
from ..beams.invariants import Invariants
from ..errors import SuppleError
from ..robot import Robot
from .chains.chain import Chain

__all__ = [
    "Damping",
    "GivenDamping",
    "ModalDamping",
    "RobotDamping",
    "StiffnessRoot",
    "damping_of",
    "file_ratio",
    "modal_matrix",
    "slide_ratios",
]

Array = NDArray[np.float64]


class Damping(Immutable, ABC):
    """How the links damp their own bending. A kind of damping has one duty:

    1. `matrix(i, inv, ratio)` returns the (k, k) damping matrix of link i; `ratio` is what the
       robot file says of that link, or None.
    """

    @abstractmethod
    def matrix(self, i: int, inv: Invariants, ratio: float | None) -> Array:
        """Return the damping matrix of one link."""


@dataclass(frozen=True)
class ModalDamping(Damping):
    """The same damping ratio for every mode of a link, clamped at its root with its end load.

    Parameters
    ----------
    ratio : float or sequence, optional
        One value, one per link, or for each link one per mode. Default: the robot file's.

    Notes
    -----
    D = 2 M^1/2 (M^-1/2 K M^-1/2)^1/2 zeta M^1/2 over the modes, therefore the same in every basis.
    """

    ratio: float | Sequence[float] | Sequence[Sequence[float]] | None = None

    def matrix(self, i: int, inv: Invariants, ratio: float | None) -> Array:
        """Return the matrix that has these ratios in the link's modes."""
        return modal_matrix(inv.modal_mass, inv.K, self.ratios(i, inv.count, ratio))

    def ratios(self, i: int, count: int, ratio: float | None) -> Array:
        """Return the (count,) ratios of link i; `ratio` is the robot file's."""
        given = self.ratio if self.ratio is not None else (ratio or 0.0)
        try:
            here = given if isinstance(given, int | float) else given[i]
            zeta = np.broadcast_to(np.asarray(here, float), (count,))
        except (IndexError, OverflowError, TypeError, ValueError):
            raise SuppleError(
                f"damping ratio {brief(given)}: give one value, one for each link, or for each "
                f"link one per mode (link {i + 1} has {count})"
            ) from None
        if not np.isfinite(zeta).all() or (zeta < 0).any():
            raise SuppleError(f"damping ratio {here}: give values that are not negative")
        return zeta


@dataclass(frozen=True)
class RobotDamping(Damping):
    """A damping ratio for every mode of the whole robot with its motors locked, where it is built.

    It belongs to no link: `equations.locked` makes its matrix. Links have none of their own.
    """

    ratio: float

    def __post_init__(self) -> None:
        """Check the ratio."""
        if not isinstance(self.ratio, int | float) or not 0 <= self.ratio < math.inf:
            raise SuppleError(f"modal_damping is {self.ratio!r}: give a ratio, such as 0.02")

    def matrix(self, i: int, inv: Invariants, ratio: float | None) -> Array:
        """Return nothing of link i alone."""
        return np.zeros_like(inv.K)


@dataclass(frozen=True)
class StiffnessRoot(Damping):
    """Damping matrix proportional to the matrix root of the stiffness, D = factor sqrt(K).

    Parameters
    ----------
    factor : float
        Default: 0.1, as in the paper.

    References
    ----------
    [DeLuca1991], section VII.
    """

    factor: float = 0.1

    checks: ClassVar = {"factor": number(0)}

    def matrix(self, i: int, inv: Invariants, ratio: float | None) -> Array:
        """Return factor times the symmetric root of the link's stiffness."""
        if not math.isfinite(self.factor) or self.factor < 0:
            raise SuppleError(f"damping factor {self.factor}: give a value that is not negative")
        value, vector = np.linalg.eigh(inv.K)
        D: Array = self.factor * (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T
        return D


@dataclass(frozen=True)
class GivenDamping(Damping):
    """Damping matrices as they are, one (k, k) a link."""

    blocks: Sequence[Sequence[Sequence[float]]]

    def matrix(self, i: int, inv: Invariants, ratio: float | None) -> Array:
        """Return the matrix given for link i."""
        D = np.asarray(self.blocks[i], float).reshape(-1, inv.count)
        if D.shape != (inv.count, inv.count):
            raise SuppleError(
                f"damping of link {i + 1} has shape {D.shape}: give {inv.count} rows and columns"
            )
        return D


def modal_matrix(M: Array, K: Array, zeta: Array) -> Array:
    """Return 2 M Phi diag(zeta omega) Phi' M = 2 K Psi diag(zeta / omega) Psi' K, zeta ascending.

    Phi are the modes of M and K with modal mass one, Psi = Phi / omega those with modal stiffness
    one. A motion without mass has 1 / omega = 0 and no damping, nor has one without stiffness:
    where there are such, K + sigma M, sigma about the lowest omega^2, stands for K.
    """
    from scipy.linalg import eigh

    d = np.sqrt(np.diag(K))
    sigma = 0.0
    sizes = np.where(d > 0, d, 1.0)
    if not d.all() or np.linalg.eigvalsh(K / np.outer(sizes, sizes))[0] < 1e-12:
        damped = (d > 0) & (np.diag(M) > 0)
        sigma = float((d[damped] ** 2 / np.diag(M)[damped]).min(initial=np.inf))
        if not np.isfinite(sigma):
            return np.zeros_like(K)
    shifted = K + sigma * M
    periods2, Psi = eigh(M, shifted)  # falling frequencies; 1 / (omega^2 + sigma)
    side = shifted @ Psi
    lost = np.sqrt(np.maximum(periods2, 0.0))
    if sigma:
        slow = 1 - sigma * periods2
        lost = np.where(slow > 1e-9, lost * np.sqrt(np.maximum(slow, 0.0)), 0.0)
    D: Array = 2 * (side * (zeta[::-1] * lost)) @ side.T
    return D


def file_ratio(robot: Robot, name: str) -> float | None:
    """Return the damping ratio that the robot file gives a link, itself or by its material."""
    described = architecture_of(robot).part_of_segment(name)
    if described is None:
        return None
    material = robot.material(described)
    if described.damping_ratio is None and material is not None:
        return material.damping_ratio
    return described.damping_ratio


def damping_of(given: Damping | float | None) -> Damping:
    """Return a damping ratio as ModalDamping; None means the ratios of the robot file."""
    if given is None or (isinstance(given, int | float) and not isinstance(given, bool)):
        return ModalDamping(given)
    if not isinstance(given, Damping):
        raise SuppleError(
            f"damping is {brief(given)}: give a ratio, a ModalDamping or a StiffnessRoot"
        )
    return given


def slide_ratios(robot: Robot, chain: Chain, law: Damping) -> list[list[float]]:
    """Return the damping ratios of every link's shapes; only ratios fit a link that slides."""
    out: list[list[float]] = []
    for i, link in enumerate(chain.links):
        if link.slide is None or not link.slide.count or isinstance(law, RobotDamping):
            out.append([])
        elif isinstance(law, GivenDamping) and np.ndim(law.blocks[i]) == 1:
            out.append([float(x) for x in law.blocks[i]])  # type: ignore[arg-type]
        elif isinstance(law, ModalDamping):
            out.append(law.ratios(i, link.slide.count, file_ratio(robot, link.name)).tolist())
        else:
            raise SuppleError(
                f"links.{link.name} slides: give its damping as a ratio, since a "
                "matrix would change with its length"
            )
    return out
