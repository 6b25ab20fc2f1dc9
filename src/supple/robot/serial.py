"""SerialRobot: one open chain of links, planar or spatial."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ..on_demand import ModuleOnDemand
from ..values import Before, as_tuple, faults
from .joint import Mimic
from .link import Link
from .memory import cached_for_robot
from .robot import Robot

if TYPE_CHECKING:
    import numpy as np
else:
    np = ModuleOnDemand("numpy")

__all__ = ["SerialRobot"]


class SerialRobot(Robot):
    """A serial arm: one open chain of links, planar or spatial."""

    architecture: Literal["serial"] = "serial"
    planar: Annotated[bool, Field(strict=True)] = False
    links: Annotated[tuple[Link, ...], Before(as_tuple), Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._place_joints_by_rows(self.links, range(-1, len(self.links) - 1))
        names = [link.name for link in self.links]
        joints = {link.name: link.joint for link in self.links}
        problems: list[tuple[tuple[str | int, ...], str]] = [
            (("links", i, "name"), f"name '{link.name}' is used twice: names must differ")
            for i, link in enumerate(self.links)
            if link.name in names[:i]
        ]
        for i, link in enumerate(self.links):
            found = self._beam_problems(link)
            found += link.out_of_plane("arm") if self.planar else []
            problems += [(("links", i), sentence) for sentence in found]
            if (mimic := link.joint.mimic) is None:
                continue
            other = joints.get(mimic.joint)
            if other is None or other.type == "fixed" or other.mimic is not None:
                known = [n for n, j in joints.items() if j.type != "fixed" and j.mimic is None]
                word = "is no link" if other is None else "has no coordinate of its own"
                allowed = f"joints that have one are those of {', '.join(known)}" if known else ""
                problem_sentence = (
                    f"mimic follows '{mimic.joint}', which {word}: {allowed or 'none has'}"
                )
                problems.append((("links", i, "joint"), problem_sentence))
        for i, link in enumerate(self.links if not problems else ()):
            if (span := self.limits(link)) is not None and span[0] >= span[1]:
                problem_sentence = (
                    "limits of this joint and of those that follow it have nothing in common"
                )
                problems.append((("links", i, "joint"), problem_sentence))
        if problems:
            raise faults(problems)
        return self

    @property
    def jointed(self) -> tuple[Link, ...]:
        """The links whose joint moves, mimic ones among them."""
        return tuple(link for link in self.links if link.joint.type != "fixed")

    @property
    def moving(self) -> tuple[Link, ...]:
        """The links whose joint has a coordinate, one entry of theta each."""
        return tuple(link for link in self.jointed if link.joint.mimic is None)

    @property
    def coupling(self) -> tuple[np.ndarray, np.ndarray] | None:
        """G (jointed, moving), c (jointed,): joint coordinates G theta + c; None: theta itself."""

        def compute() -> tuple[np.ndarray, np.ndarray] | None:
            jointed = self.jointed
            moving = [link.name for link in self.moving]
            if len(moving) == len(jointed):
                return None
            rules = [link.joint.mimic or Mimic(joint=link.name) for link in jointed]
            G = np.zeros((len(jointed), len(moving)))
            for row, rule in enumerate(rules):
                G[row, moving.index(rule.joint)] = rule.multiplier
            return G, np.array([rule.offset for rule in rules])

        return cached_for_robot(self, "coupling", compute)

    def joint_coordinates(self, theta: Any, rate: bool = False) -> Any:
        """Return the coordinates (.., jointed) of all joints at theta (.., moving), or rates."""
        if self.coupling is None:
            return theta
        G, c = self.coupling
        return theta @ G.T + (0.0 if rate else c)

    def limits(self, link: Link) -> tuple[float, float] | None:
        """Return the limits of a joint's coordinate, those of joints that follow it among them."""
        if self.coupling is None:
            return link.joint.limits
        low, high = link.joint.limits or (-math.inf, math.inf)
        for other in self.jointed:
            mimic = other.joint.mimic
            own = other.joint.limits
            if mimic is None or mimic.joint != link.name or own is None or not mimic.multiplier:
                continue
            ends = sorted((end - mimic.offset) / mimic.multiplier for end in own)
            low = max(low, ends[0])
            high = min(high, ends[1])
        return None if math.isinf(low) else (low, high)
