"""SerialRobot: one open chain of links, planar or spatial."""

from __future__ import annotations

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
            found = self._beam_problems(link)
            found += link.out_of_plane("arm") if self.planar else []
            problems += [(("links", i), sentence) for sentence in found]
        if problems:
            raise faults(problems)
        return self

    @property
    def moving(self) -> tuple[Link, ...]:
        """The links whose joint is not fixed, one entry of theta each."""
        return tuple(link for link in self.links if link.joint.type != "fixed")
