"""Reading: how the equations are written, right or as a paper prints them.

The right ones are all that the core knows. What a paper prints is a `PaperReading`, plugged in from
`papers/` by name when it is first asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Literal

from ..answers.immutable import Immutable
from ..architectures.tree import Tree
from ..arguments import brief, one_of
from ..beams.sliding.shapes import Velocity
from ..errors import SuppleError
from .chains.chain import Chain
from .chains.forces import Equations

__all__ = [
    "BETAS",
    "DEFLECTIONS",
    "READINGS",
    "VELOCITIES",
    "Beta",
    "Deflection",
    "PaperReading",
    "Reading",
]

Deflection = Literal["rotation", "paper", "literal"]
Beta = Literal["newton", "integrated"]
DEFLECTIONS: tuple[Deflection, ...] = ("rotation", "paper", "literal")
VELOCITIES: tuple[Velocity, ...] = ("material", "paper")
BETAS: tuple[Beta, ...] = ("newton", "integrated")


class PaperReading(ABC):
    """How a paper writes the equations. Every one has these duties:

    1. `check(tree, chain, reading, stiffening)` refuses robots that the paper does not know.
    2. `equations(laws, reading)` returns the equations as the paper has them.
    3. `closed_form_mass(chain, links, q, qd, reading)` returns its mass matrix in symbols of sympy.
    4. `carries_roots`: whether a run carries the roots beta of links that slide beside its states;
       `balances_energy`: whether energy and work agree; `keeps_definite`: whether the mass matrix
       stays positive definite however far links bend.
    """

    carries_roots: ClassVar[bool] = False
    balances_energy: ClassVar[bool] = True
    keeps_definite: ClassVar[bool] = True

    @abstractmethod
    def check(self, tree: Tree, chain: Chain, reading: Reading, stiffening: bool) -> None:
        """Raise a SuppleError for a robot that the paper does not know."""

    @abstractmethod
    def equations(self, laws: Equations, reading: Reading) -> Equations:
        """Return the equations as the paper has them."""

    def closed_form_mass(
        self, chain: Chain, links: Any, q: Sequence[Any], qd: Sequence[Any], reading: Reading
    ) -> Any:
        """Return the mass matrix in symbols."""
        raise SuppleError("this reading has no closed form: leave velocity and beta out")


@dataclass(frozen=True)
class Reading(Immutable):
    """How the equations of motion are written: correctly (the defaults), or as a paper prints them.

    Parameters
    ----------
    deflection : {"rotation", "paper", "literal"}
        How a bent link rotates the next one: by the rotation R_z R_y R_x of its end section; or by
        E = [[1, -y'], [y', 1]] of [DeLuca1991] with the mass matrix truncated to first order
        (``paper``) or complete (``literal``). The last two are for planar arms only.
    velocity : {"material", "paper"}
        Velocity of sliding links: of the material, or as printed in [Theodore1997] Eq. (24).
    beta : {"newton", "integrated"}
        Roots of sliding links: by Newton's method at each length, or integrated by [Theodore1997]
        Eq. (11) beside the states, which drifts.
    """

    deflection: Deflection = "rotation"
    velocity: Velocity = "material"
    beta: Beta = "newton"

    def __post_init__(self) -> None:
        one_of(*DEFLECTIONS)("deflection", self.deflection)
        one_of(*VELOCITIES)("velocity", self.velocity)
        one_of(*BETAS)("beta", self.beta)

    @property
    def _title(self) -> str:
        return f"Reading({', '.join(vars(self).values())})"

    @property
    def plug_ins(self) -> list[PaperReading]:
        """What papers print, of all that is not read in the right way."""
        right = Reading()
        found = []
        for word, place in PLUG_INS.items():
            if getattr(self, word) != getattr(right, word):
                module, _, name = place.partition(":")
                found.append(getattr(import_module(f"supple.{module}"), name)())
        return found

    @property
    def carries_roots(self) -> bool:
        """Whether a run carries the roots beta of links that slide beside its states."""
        return any(paper.carries_roots for paper in self.plug_ins)

    @property
    def balances_energy(self) -> bool:
        """Whether energy and work agree."""
        return all(paper.balances_energy for paper in self.plug_ins)

    @property
    def keeps_definite(self) -> bool:
        """Whether the mass matrix stays positive definite however far links bend."""
        return all(paper.keeps_definite for paper in self.plug_ins)

    @property
    def right(self) -> bool:
        """Whether nothing is read as a paper prints it."""
        return self == Reading()

    @classmethod
    def of(cls, reading: Any, **given: Any) -> Reading:
        """Return a Reading from one, its name, or from what `build` was given word by word."""
        words = {key: value for key, value in given.items() if value is not None}
        if reading is None:
            return cls(**words)
        if words:
            raise SuppleError(
                f"reading and {', '.join(words)} are both given: a Reading holds them; give one"
            )
        if isinstance(reading, cls):
            return reading
        if isinstance(reading, str) and reading in READINGS:
            return READINGS[reading]
        raise SuppleError(
            f"reading is {brief(reading)}: give a Reading, or one of {', '.join(READINGS)}"
        )


# What is plugged in where a word is not read in the right way
PLUG_INS = {
    "deflection": "papers.de_luca_equations:DeLucaReading",
    "velocity": "papers.theodore_equations:PrintedVelocity",
    "beta": "papers.theodore_equations:IntegratedRoots",
}
READINGS: dict[str, Reading] = {
    "right": Reading(),
    "de-luca": Reading(deflection="paper"),
    "theodore": Reading(velocity="paper", beta="integrated"),
}
