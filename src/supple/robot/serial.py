"""SerialRobot: one open chain of links, planar or spatial."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ..values import as_tuple, faults
from .link import Link
from .robot import Robot

__all__ = ["SerialRobot"]


class SerialRobot(Robot):
    """One open chain of links, planar or spatial."""

    architecture: Literal["serial"] = "serial"
    planar: Annotated[bool, Field(strict=True)] = False
    links: Annotated[tuple[Link, ...], BeforeValidator(as_tuple), Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [link.name for link in self.links]
        problems: list[tuple[tuple[str | int, ...], str]] = [
            (("links", i, "name"), f"name '{link.name}' is used twice: names must differ")
            for i, link in enumerate(self.links)
            if link.name in names[:i]
        ]
        for i, link in enumerate(self.links):
            joint, found = link.joint, []
            if joint.type == "revolute" and math.hypot(*joint.direction[:2]) > 1e-12:
                axis = list(joint.axis or ())
                found.append(f"axis {axis} is not z: in a planar arm joints turn about z")
            if any(joint.mount.rpy[:2]) or joint.mount.xyz[2]:
                found.append(
                    "mount leaves the plane: in a planar arm only x, y and yaw may be given"
                )
            quarters = link.roll / (math.pi / 2)
            if abs(quarters - round(quarters)) > 1e-9:
                found.append(
                    f"roll is {link.roll:g} rad: a planar arm bends in its plane only if roll is a "
                    "multiple of 90deg; set planar: false for other values"
                )
            found = self._beam_problems(link) + (found if self.planar else [])
            problems += [(("links", i), sentence) for sentence in found]
        if problems:
            raise faults(problems)
        return self

    @property
    def moving(self) -> tuple[Link, ...]:
        """The links whose joint is not fixed, one entry of theta each."""
        return tuple(link for link in self.links if link.joint.type != "fixed")
