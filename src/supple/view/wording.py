"""Numbers as one reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray

    from ..robot import Robot

__all__ = ["key_label", "motors_of", "tidy"]


def motors_of(robot: Robot) -> tuple[list[str], list[bool]]:
    """Return the names of a robot's motors, and whether each one slides its link."""
    from ..architectures.kinds import architecture_of  # the command line prints numbers without it

    motors = architecture_of(robot).motors
    words = [re.sub(r"^motor(\d)", r"motor \1", name) for name, _ in motors]
    return words, [slides for _, slides in motors]


def key_label(found: xarray.Dataset | xarray.DataArray, key: str) -> str:
    """Return what a sweep runs over, with its unit."""
    unit = found[key].attrs.get("units", "")
    return f"{key} ({unit})" if unit else key


def tidy(values: Iterable[float], count: int) -> list[str]:
    """Return numbers with `count` digits, those that are rounding of the largest as zero."""
    given = list(values)
    least = 1e-12 * max(map(abs, given), default=0.0)
    return [f"{value:.{count}g}" if abs(value) > least else "0" for value in given]
