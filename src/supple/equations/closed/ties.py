"""Ties: what the equations of a robot with loops are made from, whatever closes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..chains.chain import Chain
from ..evaluate import casadi

__all__ = ["Symbols", "Ties", "Tree"]

Array = NDArray[np.float64]
SMALL = 8, 16  # followers and coordinates up to which functions are written out
Tree = Literal["inverse", "loaded", "mass", "elastic", "lost", "energies", "tip", "stiffness"]


@dataclass(frozen=True)
class Symbols:
    """Coordinates z, the rows c that determine the followers, and all rows, SX expressions."""

    z: Any
    c: Any
    every: Any


class Ties(ABC):
    """Coordinates z of a tree, parted into free ones q and followers w, with closures c(z) = 0.

    A kind of ties has these duties:

    1. `name` of its robot; `motors`, how many lead q; `gravity`, (3,), base axes.
    2. `kept`, `followers`: places of q and w in z, `named`: names of w; `assembled`: (z,),
       coordinates of a pose with its loops closed.
    3. `symbols`: of all coordinates, and the closures in them.
    4. `tree(name)`: forces of the tree over z: inverse (z, zd, zdd, g), loaded (the same and a
       wrench), mass (z), elastic (z), lost (z, zd), energies (z, zd), tip (z): place and axes;
       stiffness (z) of springs and links, those that slide at their lengths.
    5. `start()`: q to about w, where nothing is known of it, as a CasADi function.
    6. `book(q, found)`: the Chain and its coordinates in which links are read, None where it is q;
       `found` gives w.
    """

    name: str
    motors: int
    gravity: Array
    kept: tuple[int, ...]
    followers: tuple[int, ...]
    named: tuple[str, ...]
    assembled: Array

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but symbols and functions, which are made again."""
        return {k: v for k, v in vars(self).items() if k not in ("symbols", "made")}

    @cached_property
    def made(self) -> dict[Any, Any]:
        """Functions made from it once, by what they are."""
        return {}

    @cached_property
    @abstractmethod
    def symbols(self) -> Symbols:
        """Symbols of all coordinates and the closures in them."""

    @abstractmethod
    def tree(self, name: Tree) -> Any:
        """Return forces, mass, energies or the tip of the tree as an SX function."""

    @abstractmethod
    def start(self) -> Any:
        """Return q to about w as a CasADi function."""

    @abstractmethod
    def book(self, q: Array, found: Callable[[Array], Array]) -> tuple[Chain | None, Array]:
        """Return the tree in which links are read and its coordinates at states (.., N)."""

    @property
    def small(self) -> bool:
        """Whether its functions are single expressions of scalars, not calls of parts."""
        return len(self.followers) <= SMALL[0] and len(self.kept) <= SMALL[1]

    def symbol(self, word: str, size: int) -> Any:
        """Return a symbol of the kind that its functions are written in."""
        ca = casadi()
        return (ca.SX if self.small else ca.MX).sym(word, size)

    @cached_property
    def order(self) -> list[int]:
        """Places of z in [q, w]."""
        return [int(k) for k in np.argsort([*self.kept, *self.followers])]
