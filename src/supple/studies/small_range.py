"""Where linear elastic answers hold: deflections beside lengths, and rotations of sections."""

from __future__ import annotations

__all__ = ["LOST", "SMALL", "SmallRangeWarning", "too_large"]

SMALL = 0.1  # rad, or deflection over length: there 1 - cos is half a per cent
LOST = 100.0  # the same, or m: far beyond what any link can do


class SmallRangeWarning(UserWarning):
    """The elastic motion is too large for a linear model."""


def too_large(name: str, largest: float, instead: str) -> str:
    """Return the sentence of links that bend too far, and what to do instead."""
    return (
        f"links of {name} bend by up to {largest:.2g} (deflection over length, or rad): beyond "
        f"{SMALL} the linear model is off by more than a per cent; {instead}"
    )
