"""The one error users meet: a sentence that says what was given, what is allowed, what to try."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["PoseWarning", "RobotError", "RobotWarning", "SuppleError"]


class SuppleError(ValueError):
    """Bad input, told in one sentence; the command line prints it and exits with code 2."""


class RobotError(SuppleError):
    """Every fault of one robot description, a sentence each.

    Attributes:
        faults: the sentences, in the order of the file.
    """

    def __init__(self, faults: Sequence[str], where: str = "") -> None:
        self.faults = tuple(faults)
        self.where = where
        prefix = f"{where}: " if where else ""
        super().__init__("\n".join(prefix + fault for fault in self.faults))

    def __reduce__(self) -> tuple[type[RobotError], tuple[tuple[str, ...], str]]:
        """Say how it is made again: of its faults, not of its text."""
        return type(self), (self.faults, self.where)


class RobotWarning(UserWarning):
    """What was read otherwise than written: lumped, left out or assumed; one sentence."""


class PoseWarning(RobotWarning):
    """An answer at a pose so near a singular one that how exactly a robot is made decides it."""
