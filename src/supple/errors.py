"""The one error users meet: a sentence that says what was given, what is allowed, what to try."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["PoseWarning", "RobotError", "RobotWarning", "SuppleError"]


class SuppleError(ValueError):
    """Invalid input, explained in one sentence; the command line exits with 2."""


class RobotError(SuppleError):
    """All faults of one robot description, one sentence each.

    Attributes
    ----------
    faults : tuple of str
        The sentences, in the order of the file.
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
    """Part of a robot description was lumped, ignored or assumed."""


class PoseWarning(RobotWarning):
    """The pose is so close to a singular one that manufacturing tolerances decide the answer."""
