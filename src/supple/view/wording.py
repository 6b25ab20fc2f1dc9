"""Numbers as one reads them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..robot import Robot

__all__ = ["motors_of", "tidy"]


def motors_of(robot: Robot) -> tuple[list[str], list[bool]]:
    """Return the names of a robot's motors, and whether each one slides its link."""
    links = getattr(robot, "moving", None)
    if links is None:
        return [f"motor {k + 1}" for k in range(3)], [False] * 3
    return [link.name for link in links], [link.joint.type == "prismatic" for link in links]


def tidy(values: Iterable[float], count: int) -> list[str]:
    """Return numbers with `count` digits, those that are rounding of the largest as zero."""
    given = list(values)
    least = 1e-12 * max(map(abs, given), default=0.0)
    return [f"{value:.{count}g}" if abs(value) > least else "0" for value in given]
