"""The sidecar of a URDF: what bends and how, where the chain begins and ends, what it carries."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from ..answers.immutable import FrozenTable
from ..robot import Body, Elastic, Material
from ..robot.body import Description
from ..robot.springs import Gear
from ..sections import Section
from ..values import NonNegative, Positive, Table, Triple

__all__ = ["FlexibleLink", "JointDrive", "Sidecar"]


class FlexibleLink(Elastic):
    """A link of the URDF as a beam from `from` to `to`, its depth along `y`, all in URDF axes.

    `hub` sits at `from`, `end` at `to`; together with the beam they replace the URDF's inertial.
    `to` is where the next joint sits, and `y` the link's y (its z for a beam along y), by default.
    With `rest: keep` what the beam does not weigh of the URDF's inertial becomes hub and end, so
    that mass, mass centre and, where it can be, inertia stay what they were.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    from_: Triple = Field(default=(0.0, 0.0, 0.0), alias="from")
    to: Triple | None = None
    y: Triple | None = None
    hub: Body | None = None
    end: Body | None = None
    rest: Literal["keep", "drop"] = "drop"

    def _problem(self) -> str | None:
        if self.length is not None:
            return "length is given: it follows from `from` and `to`, leave it out"
        if self.tip is not None:
            return "tip is given: the body on a beam's end is called end here"
        if self.roll:
            return "roll is given: say by y where the section's depth points"
        if self.rest == "keep" and (self.hub is not None or self.end is not None):
            return "rest is keep, and hub or end is given: the rest becomes them, leave one out"
        if self.to is not None and self.to == self.from_:
            return "from and to are the same point: a beam needs a length"
        return None


class JointDrive(Description):
    """What a URDF does not say of a joint: its gear's stiffness, and the motor's inertia.

    The same words as in the `joint` of a robot file; what is given replaces what the URDF says.
    """

    stiffness: Positive | None = None
    rotor_inertia: NonNegative | None = None
    gear: Gear | None = None
    damping: NonNegative | None = None
    friction: NonNegative | None = None
    effort_limit: Positive | None = None
    speed_limit: Positive | None = None

    def given(self) -> dict[str, Any]:
        """Return what was given, ready for the joint of a robot file."""
        return {key: value for key, value in dict(self).items() if value is not None}


class Sidecar(Description):
    """What a URDF cannot say.

    One that was exported with its URDF holds the whole robot file as `robot`, and by
    `urdf_sha256` the URDF that goes with it.
    """

    supple: int = Field(default=1, ge=1, le=1)
    urdf: str | None = None
    name: str | None = None
    base: str | None = None
    tip: str | None = None
    gravity: Triple = (0.0, 0.0, -9.81)
    materials: Table[Material] = Field(default_factory=FrozenTable)
    sections: Table[Section] = Field(default_factory=FrozenTable)
    flexible: dict[str, FlexibleLink] = Field(default_factory=dict)
    joints: dict[str, JointDrive] = Field(default_factory=dict)
    payload: Body | None = None
    robot: dict[str, Any] | None = None
    urdf_sha256: str | None = None
