"""Sizes judged before they are computed: what an answer would take, told or refused.

Estimates come from measured runs, each with the law by which its algorithm grows; they are good to
a factor of about three. The bound on memory is 4 GB, or what SUPPLE_MEMORY_GB says.
"""

from __future__ import annotations

import math
import os
import warnings

from .errors import SuppleError

__all__ = ["SizeWarning", "afford", "count_of"]

MEMORY_GB = 4.0
LONG = 20.0  # s from which the time is told beforehand


class SizeWarning(UserWarning):
    """A computation will take long or need much memory; the message says how much."""


def afford(what: str, gigabytes: float, seconds: float, advice: str) -> None:
    """Refuse what would take more memory than is allowed; warn of what takes long.

    `what` says what is asked for, with its size; `advice` what to try.
    """
    try:
        most = float(os.environ.get("SUPPLE_MEMORY_GB", MEMORY_GB))
    except ValueError:
        most = MEMORY_GB
    if not gigabytes <= most:
        raise SuppleError(
            f"{what} would take about {gigabytes:,.0f} GB of memory, more than the {most:g} GB "
            f"that are allowed: {advice}, or set SUPPLE_MEMORY_GB"
        )
    if seconds > LONG:
        foreseen = f"{seconds / 60:.2g} minutes" if seconds > 100 else f"{seconds:.0f} s"
        warnings.warn(f"{what} will take about {foreseen}", SizeWarning, stacklevel=3)


def count_of(total: float, step: float, most: float, what: str, advice: str) -> int:
    """Return how many steps make a total, refused beyond `most` before anything is made of it."""
    count = total / step if step else math.inf
    if not count <= most:
        shown = "infinitely many" if not math.isfinite(count) else f"{count:.3g}"
        raise SuppleError(
            f"{what} would be {shown} steps, at most {most:.0e} are computed: {advice}"
        )
    return math.ceil(count)
