"""Reading: how the equations are written, right or as a paper prints them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...answers.held import Held
from ...arguments import one_of, shown
from ...beams.sliding.shapes import Velocity
from ...errors import SuppleError

__all__ = ["BETAS", "DEFLECTIONS", "READINGS", "VELOCITIES", "Beta", "Deflection", "Reading"]

Deflection = Literal["rotation", "paper", "literal"]
Beta = Literal["newton", "integrated"]
DEFLECTIONS: tuple[Deflection, ...] = ("rotation", "paper", "literal")
VELOCITIES: tuple[Velocity, ...] = ("material", "paper")
BETAS: tuple[Beta, ...] = ("newton", "integrated")


@dataclass(frozen=True)
class Reading(Held):
    """How the equations are written; what stands here unless given is right.

    Attributes:
        deflection: how a bent link turns the next one: `rotation` by R_z R_y R_x of its end
        section; `paper` and `literal` by E = [[1, -y'], [y', 1]], its mass matrix cut to first
        order or as it stands [DeLuca1991]; planar arms only.
        velocity: of links that slide, that of the `material`, or as the `paper` [Theodore1997]
        (24) prints it.
        beta: the roots of links that slide, by `newton` at each length, or `integrated` by (11)
        beside the states of a run, as that paper does, which drifts.
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
            f"reading is {shown(reading)}: give a Reading, or one of {', '.join(READINGS)}"
        )


READINGS: dict[str, Reading] = {
    "right": Reading(),
    "de-luca": Reading(deflection="paper"),
    "theodore": Reading(velocity="paper", beta="integrated"),
}
