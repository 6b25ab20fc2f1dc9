"""Numbers as one reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray

    from ..robot import Robot

__all__ = ["NO_MOTION_SHARE", "angles_in_degrees", "key_label", "motors_of", "tidy"]

DEGREES = 180 / math.pi  # deg per rad
ROUNDING_SHARE = 1e-12  # of the largest number of its kind: smaller ones are written as 0
NO_MOTION_SHARE = 1e-6  # of the largest motion: smaller ones come of the digits in a robot file


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


def angles_in_degrees(found: xarray.Dataset) -> xarray.Dataset:
    """Return a sweep whose angles run in degrees, as tables, pages and figures show them."""
    turned = {}
    for key in found.coords:
        if found[key].attrs.get("units") == "rad":
            turned[key] = found[key].copy(data=found[key].values * DEGREES)
            turned[key].attrs["units"] = "deg"
    return found.assign_coords(turned)


def tidy(
    values: Iterable[float], count: int, *, beside: float = 0.0, share: float = ROUNDING_SHARE
) -> list[str]:
    """Return numbers with `count` digits, those that are rounding of the largest as zero.

    Parameters
    ----------
    values : iterable of float
        Numbers of one kind.
    count : int
        Significant digits.
    beside : float
        Largest value of the same kind that is not among them.
    share : float
        Numbers below this share of the largest are written as 0.
    """
    given = list(values)
    least = share * max([beside, *map(abs, given)])
    return [f"{value:.{count}g}" if abs(value) > least else "0" for value in given]
