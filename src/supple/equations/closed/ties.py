"""Ties: what followers of loops are found from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..evaluate import casadi

__all__ = ["ClosureEquations", "ClosureSymbols", "TreeFunction"]

SMALL = 8, 16  # followers and coordinates up to which functions are written out
TreeFunction = Literal[
    "inverse", "loaded", "mass", "elastic", "dead_loads", "lost", "energies", "tip", "stiffness"
]


@dataclass(frozen=True)
class ClosureSymbols:
    """Coordinates z, the rows c that determine the followers, and all rows, SX expressions."""

    z: Any
    c: Any
    every: Any


class ClosureEquations(ABC):
    """Coordinates z of a tree, parted into free ones q and followers w, with closures c(z) = 0.

    Attributes
    ----------
    independent, followers
        Places of q and w in z.
    """

    independent: tuple[int, ...]
    followers: tuple[int, ...]

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but symbols and functions, which are made again."""
        return {k: v for k, v in vars(self).items() if k not in ("symbols", "function_cache")}

    @cached_property
    def function_cache(self) -> dict[Any, Any]:
        """Functions made from it once, by what they are."""
        return {}

    @cached_property
    @abstractmethod
    def symbols(self) -> ClosureSymbols:
        """Symbols of all coordinates and the closures in them."""

    @property
    def small(self) -> bool:
        """Whether its functions are single expressions of scalars, not calls of parts."""
        return len(self.followers) <= SMALL[0] and len(self.independent) <= SMALL[1]

    def symbol(self, word: str, size: int) -> Any:
        """Return a symbol of the kind that its functions are written in."""
        ca = casadi()
        return (ca.SX if self.small else ca.MX).sym(word, size)

    @cached_property
    def order(self) -> list[int]:
        """Places of z in [q, w]."""
        return [int(k) for k in np.argsort([*self.independent, *self.followers])]
