"""DeltaRobot: three legs from a base to a platform."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import model_validator

from ..values import Angle, Before, NonNegative, Size, as_tuple, faults
from .body import Body, Description, Inertia, check_inertia
from .joint import LegJoint, Motor
from .link import LowerLink, UpperLink
from .robot import Robot

__all__ = ["DeltaRobot", "Platform"]


class Platform(Description):
    """The moving plate of a Delta: a disc of this mass unless its inertia is given."""

    radius: Size
    thickness: Size
    mass: NonNegative
    inertia: Inertia | None = None

    @model_validator(mode="after")
    def _physical(self) -> Self:
        if self.inertia is not None:
            check_inertia(self.inertia, self.mass)
        return self

    @property
    def body(self) -> Body:
        """The platform about its centre: I_z = m r^2 / 2, I_x = I_y = m (3 r^2 + h^2) / 12."""
        if self.inertia is not None:
            return Body(mass=self.mass, inertia=self.inertia)
        side = self.mass * (3 * self.radius**2 + self.thickness**2) / 12
        return Body(mass=self.mass, inertia=(side, side, self.mass * self.radius**2 / 2))


class DeltaRobot(Robot):
    """A Delta robot: three legs from a base to a platform; z points down as in [Kuo2016]."""

    architecture: Literal["delta"] = "delta"
    base_radius: Size
    platform: Platform
    upper: UpperLink
    lower: LowerLink
    motor: Motor = Motor.model_construct()
    elbow: LegJoint = LegJoint.model_construct()
    wrist: LegJoint = LegJoint.model_construct()
    angles: Annotated[tuple[Angle, Angle, Angle], Before(as_tuple)] = (
        0.0,
        2 * math.pi / 3,
        4 * math.pi / 3,
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        parts = {"upper": self.upper, "lower": self.lower}
        problems: list[tuple[tuple[str | int, ...], str]] = [
            ((key,), text) for key, part in parts.items() for text in self._beam_problems(part)
        ]
        problems += [
            ((key,), text) for key in ("elbow", "wrist") for text in self._leg_joint_problems(key)
        ]
        if problems:
            raise faults(problems)
        return self

    def _leg_joint_problems(self, key: str) -> list[str]:
        """What is wrong with the springs of elbows or wrists, a sentence each."""
        joint: LegJoint = getattr(self, key)
        if self.lower.rods == "twist" and joint != LegJoint():
            return [
                f"{key} is not for rods: twist, whose joints are constant-velocity ones without "
                "springs; use rods: single or parallelogram, or describe a mechanism"
            ]
        ball = key == "wrist" and self.lower.rods == "parallelogram"
        kind, count = ("spherical", 3) if ball else ("universal", 2)
        found = []
        for word in ("stiffness", "damping", "friction", "rest"):
            given = getattr(joint, word)
            if given is not None and len(given) not in (1, count):
                found.append(
                    f"{word} has {len(given)} values: the {key} is a {kind} joint with {count} "
                    f"coordinates; give one value, or {count}"
                )
        return found
