"""Bearings and foundations in the equations of motion."""

from __future__ import annotations

from ...errors import SuppleError
from ...robot import Motor, Robot

__all__ = ["check_supports"]


def check_supports(robot: Robot) -> None:
    """Raise a SuppleError where a robot stands on springs that the equations do not know."""
    motor = getattr(robot, "motor", Motor())
    joints = [motor, *(link.joint for link in getattr(robot, "links", ()))]
    for what in (
        "foundation" if robot.foundation else "",
        *("bearing" for j in joints if j.bearing),
    ):
        if what:
            raise SuppleError(f"{robot.name} has a {what}: build does not know it yet")
