"""SmallMotion: elastic motion about a prescribed rigid one, M(t) y'' + C(t) y' + K(t) y = F(t)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from ..robot import Robot

__all__ = ["Matrices", "MovingLinks", "SmallMotion", "State", "elastic_modes"]

Array = NDArray[np.float64]
State = tuple[Array, Array, Array]  # a motion, or y, with its velocity and acceleration, (B, ..)


@dataclass(frozen=True)
class Matrices:
    """The equations at B instants, and what is read off with them.

    Attributes
    ----------
    M, C, K
        (B, N, N).
    F
        (B, N).
    tip
        (B, 6, N), motion of the last end per unit y, base axes.
    drive
        Rows of M, C, K, (B, motors, N), and of F, (B, motors): the torque of a motor is M y'' + C
        y' + K y - F there; -F alone is the torque of the rigid motion.
    """

    M: Array
    C: Array
    K: Array
    F: Array
    tip: Array
    drive: tuple[Array, Array, Array, Array]

    def torque(self, y: Array, yd: Array, ydd: Array) -> Array:
        """Return the torques of the motors that have rows, (B, motors), for y.. (B, N)."""
        M, C, K, F = self.drive
        parts = ((M, ydd), (C, yd), (K, y))
        return np.asarray(sum(np.einsum("bij,bj->bi", A, x) for A, x in parts) - F)


class MovingLinks(NamedTuple):
    """Links at B instants of a motion: n links, P places along each.

    Attributes
    ----------
    p
        (B, n, 3), roots, base axes.
    R
        (B, n, 3, 3), link axes in base axes.
    L
        (B, n).
    motion
        (B, n, P, 6), elastic displacement and rotation of the sections from the rigid motion, link
        axes.
    energy
        (B, n, P), strain energy per length, J/m.
    """

    p: Array
    R: Array
    L: Array
    motion: Array
    energy: Array


class SmallMotion(ABC):
    """A robot whose motors follow a motion while its links shake. A kind has these duties:

    1. `robot`, `size` (length of y) and `names` (of the links that can be asked).
    2. `matrices(x, v, a)`: the equations at B instants of the motion, (B, ..) each.
    3. `elastic(x)`: the (N, N) elastic stiffness at one instant, to which damping refers.
    4. `torques(motion, found, state)`: efforts of all motors, flexible and rigid, (B, motors).
    5. `section(link, fraction, x)`: motion of a section relative to its link's root per unit y,
       (1 or B, 6, N), link axes; x (B, ..) is where the motion is.
    6. `length(link)`: of a link, m; zero for one that cannot bend.
    7. `place(x)`: where the unbent tip or platform is, (B, 3), base axes.

    A motion x may have beside it what `AssembledPath` tells. Two kinds assemble the same equations:
    elements on moving frames (`Ked`), and the derivatives of a Model (`PathModel`), which knows
    what the first does not: links that slide, any basis, loads, outputs, joints that swing. A study
    asks `linearised` where it needs the Model, and else these duties. The first kind has one more:

    8. `draw_links(motion, y, points)` and `displaced(link, fraction, motion, y)`: what a Model
       otherwise tells of its links.
    """

    robot: Robot

    @property
    def linearised(self) -> Any:
        """These equations as a `PathModel`, which tells the states of a Model; None of others."""
        return None

    @property
    def loose(self) -> list[int]:
        """Places in y of the passive coordinates that no loop holds."""
        return []

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of y."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Links in order."""

    @abstractmethod
    def matrices(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> Matrices:
        """Return M, C, K, F at the instants of a motion."""

    def forcing(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return F alone, (B, N)."""
        return self.matrices(x, v, a).F

    @abstractmethod
    def elastic(self, x: Array) -> Array:
        """Return the elastic stiffness at one instant."""

    def torques(self, motion: State, found: Matrices, state: State) -> tuple[Array, Array]:
        """Return the efforts of all motors, (B, motors), and those of the rigid motion."""
        return found.torque(*state), -found.drive[3]

    @abstractmethod
    def section(self, link: str, fraction: float, x: Array) -> Array:
        """Return how a section moves per unit y."""

    @abstractmethod
    def length(self, link: str) -> float:
        """Return the length over which a link bends."""

    @abstractmethod
    def place(self, x: Array) -> Array:
        """Return where the unbent tip is."""

    def draw_links(self, motion: State, y: Array, points: int) -> MovingLinks:
        """Return where links are and how their sections move, at `points` places of each."""
        raise NotImplementedError

    def displaced(self, link: str, fraction: float, motion: State, y: Array) -> Array:
        """Return how far a section is from its rigid motion, (B, 6), axes of the rigid link."""
        raise NotImplementedError


def elastic_modes(M: Array, K: Array) -> tuple[Array, Array]:
    """Return 1 / omega^2, rising, and the modes Psi in columns, Psi' K Psi = 1.

    What no stiffness holds moves freely with them, so that it has no momentum.
    """
    from scipy.linalg import eigh

    free = np.abs(K).max(axis=0, initial=0.0) <= 1e-14 * np.abs(K).max(initial=0.0)
    if not free.any():
        periods2, Psi = eigh(M, K)
        return periods2, Psi
    along = -np.linalg.solve(M[np.ix_(free, free)], M[np.ix_(free, ~free)])
    periods2, shapes = eigh(
        M[np.ix_(~free, ~free)] + M[np.ix_(~free, free)] @ along, K[np.ix_(~free, ~free)]
    )
    Psi = np.zeros((len(M), len(periods2)))
    Psi[~free] = shapes
    Psi[free] = along @ shapes
    return periods2, Psi
