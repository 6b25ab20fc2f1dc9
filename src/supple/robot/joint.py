"""Joint, Motor: what moves a link, and what drives a Delta."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BeforeValidator, model_validator

from ..values import Angle, NonNegative, Positive, Triple, as_tuple, fault
from .body import Body, Description, Mount

__all__ = ["Joint", "Motor"]


class Joint(Description):
    """What moves a link: its type, axis, place, drive and hub.

    With `stiffness` (N m/rad, in series) theta is the motor side and the link turns by theta + eps.
    """

    type: Literal["revolute", "prismatic", "fixed"] = "revolute"
    axis: Triple | None = None
    mount: Mount = Mount()
    stiffness: Positive | None = None
    rotor_inertia: NonNegative = 0.0
    damping: NonNegative = 0.0
    friction: NonNegative = 0.0
    limits: Annotated[tuple[Angle, Angle], BeforeValidator(as_tuple)] | None = None
    hub: Body | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.axis is not None and self.type == "prismatic":
            raise fault("axis is not for a prismatic joint: the beam slides along its own x")
        if self.axis is not None and not any(self.axis):
            raise fault("axis is [0, 0, 0]: give a direction, such as [0, 0, 1]")
        if self.limits is not None and self.limits[0] >= self.limits[1]:
            raise fault(f"limits {list(self.limits)}: the lower one must be below the upper one")
        if self.stiffness is not None and self.type != "revolute":
            raise fault(f"stiffness is for revolute joints, not for a {self.type} one")
        return self

    @property
    def direction(self) -> np.ndarray:
        """Unit vector of the axis, mounted axes, (3,): z unless given, x for a prismatic joint."""
        default = (1.0, 0.0, 0.0) if self.type == "prismatic" else (0.0, 0.0, 1.0)
        a = np.asarray(self.axis or default)
        a = a / np.abs(a).max()  # else the square of a small number is zero
        return np.asarray(a / np.linalg.norm(a))


class Motor(Description):
    """The three motors of a Delta, alike; without stiffness they clamp."""

    stiffness: Positive | None = None
    rotor_inertia: NonNegative = 0.0
    damping: NonNegative = 0.0
    friction: NonNegative = 0.0
    limits: Annotated[tuple[Angle, Angle], BeforeValidator(as_tuple)] | None = None
