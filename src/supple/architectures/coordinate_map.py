"""CoordinateMap: what every slot of a vector is called, in which unit, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError

__all__ = ["CoordinateMap", "Meaning", "Slot"]

Meaning = Literal[
    "motor",  # an entry of theta: the motor side of a joint, or the length of a driven rod
    "spring",  # twist of a motor's spring, eps
    "bearing",  # motion of a bearing, or of the foundation
    "passive",  # a joint that no motor moves
    "mimic",  # a joint that follows another one
    "elastic",  # amplitude of a shape function of a link, eta
    "work",  # energy that efforts and loads have brought into a run, J
    "root",  # beta of a link that slides, where it is integrated beside a run
]


@dataclass(frozen=True)
class Slot:
    """One entry of a vector.

    Attributes
    ----------
    name : str
        Name of the coordinate, such as ``theta.link1`` or ``eta.link2.xy1``.
    unit : str
        Unit of the entry: rad, m, J, or 1 for an amplitude that has none.
    owner : str
        Name of the link, closure or foundation that it belongs to; empty for the whole robot.
    meaning : Meaning
        What the entry is.
    independent : bool
        Whether it moves on its own; a dependent one follows from closures or from another joint.
    rate : bool
        Whether the entry is the time derivative of the coordinate of this name.
    """

    name: str
    unit: str
    owner: str
    meaning: Meaning
    independent: bool = True
    rate: bool = False


@dataclass(frozen=True)
class CoordinateMap:
    """The slots of one vector, in order."""

    slots: tuple[Slot, ...]

    @classmethod
    def of(cls, slots: Iterable[Slot]) -> CoordinateMap:
        """Return the map of these slots."""
        return cls(tuple(slots))

    def __len__(self) -> int:
        return len(self.slots)

    def __iter__(self) -> Iterator[Slot]:
        return iter(self.slots)

    def __getitem__(self, place: int) -> Slot:
        return self.slots[place]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the slots."""
        return tuple(slot.name for slot in self.slots)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the slots."""
        return tuple(slot.unit for slot in self.slots)

    def where(self, *meanings: Meaning, independent: bool | None = None) -> NDArray[np.int64]:
        """Return the places of slots with one of these meanings, rates left out."""
        found = [
            place
            for place, slot in enumerate(self.slots)
            if slot.meaning in meanings
            and not slot.rate
            and (independent is None or slot.independent == independent)
        ]
        return np.array(found, np.int64)

    @property
    def dependent(self) -> NDArray[np.int64]:
        """Places of the slots that follow from others."""
        found = [place for place, slot in enumerate(self.slots) if not slot.independent]
        return np.array(found, np.int64)

    def owned_by(self, owner: str) -> NDArray[np.int64]:
        """Return the places of slots that belong to a link, a closure or the foundation."""
        return np.array([k for k, slot in enumerate(self.slots) if slot.owner == owner], np.int64)

    def place(self, name: str) -> int:
        """Return the place of the coordinate of this name, or say which names there are."""
        names = [slot.name for slot in self.slots if not slot.rate]
        if name not in names:
            raise SuppleError(f"there is no coordinate '{name}': there are {', '.join(names)}")
        return names.index(name)
