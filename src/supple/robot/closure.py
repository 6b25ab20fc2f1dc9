"""Closure: what ties two links of a mechanism into a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from ..on_demand import ModuleOnDemand
from ..values import Before, NonNegative, Positive, Size, Triple, as_tuple
from .body import NO_MOUNT, Description, Mount
from .joint import Axes, unit

if TYPE_CHECKING:
    import numpy as np
else:
    np = ModuleOnDemand("numpy")

__all__ = ["CLOSURES", "Closure", "ClosureEnd"]

CLOSURES = {"fixed": 6, "revolute": 5, "prismatic": 5, "cylindrical": 4, "universal": 4}
CLOSURES |= {"constant-velocity": 4, "spherical": 3, "slot": 2, "distance": 1}
WITH_AXIS = ("revolute", "prismatic", "cylindrical", "constant-velocity", "slot")
ALONG_X = ("prismatic", "constant-velocity")


def _as_closure_end(value: Any) -> Any:
    """Read a name as the end of that link."""
    return {"link": value} if isinstance(value, str) else value


class ClosureEnd(Description):
    """One end of a closure: the frame at a link's end, or `at` metres from the root, mounted."""

    link: Annotated[str, Field(min_length=1)]
    at: NonNegative | None = None
    mount: Mount = NO_MOUNT


NamedEnd = Annotated[ClosureEnd, Before(_as_closure_end, json_schema_input_type=str | ClosureEnd)]


class Closure(Description):
    """A joint between two links that closes a loop of a mechanism.

    Number of constraints: fixed 6; revolute and prismatic 5, cylindrical 4 (`axis` has the same
    components in both frames, default z, prismatic x); universal 4 (`axes: [a, b]`, a in the first
    frame and b in the second stay perpendicular, default y, z); constant-velocity 4 (shafts along
    `axis`, default x, meet and turn equally at any angle); spherical 3; slot 2 (the second point
    stays on the `axis` of the first frame); distance 1 (`length`, a massless rod; with `motor` an
    entry of theta). A rod may give way: `stiffness` (N/m, such as the oil column of a hydraulic
    cylinder) with `damping` (N s/m) acts between its length and the one that is given or driven;
    `rotor_inertia` (kg, reflected to the stroke) moves with a driven length.
    """

    ends: Annotated[tuple[NamedEnd, NamedEnd], Before(as_tuple)]
    type: Literal[
        "fixed",
        "revolute",
        "prismatic",
        "cylindrical",
        "universal",
        "constant-velocity",
        "spherical",
        "slot",
        "distance",
    ] = "revolute"
    name: Annotated[str, Field(min_length=1, pattern=r"^[^.\s]+$")] | None = None
    axis: Triple | None = None
    axes: Axes | None = None
    length: Size | None = None
    motor: Annotated[bool, Field(strict=True)] = False
    stiffness: Positive | None = None
    damping: NonNegative = 0.0
    rotor_inertia: NonNegative = 0.0

    def _problem(self) -> str | None:
        if self.axis is not None and self.type not in WITH_AXIS:
            return f"axis is for {', '.join(WITH_AXIS)} closures, not for a {self.type} one"
        if self.axis is not None and not any(self.axis):
            return "axis is [0, 0, 0]: give a direction, such as [0, 0, 1]"
        if self.axes is not None and self.type != "universal":
            return f"axes are for universal closures, not for a {self.type} one"
        if self.axes is not None and not all(map(any, self.axes)):
            return "axes hold [0, 0, 0]: give two directions, such as [[0, 1, 0], [0, 0, 1]]"
        if self.motor and self.type != "distance":
            return "motor is for distance closures: it drives the length of a cylinder"
        for word in ("stiffness", "damping", "rotor_inertia"):
            if getattr(self, word) and self.type != "distance":
                return (
                    f"{word} is for distance closures, not for a {self.type} one: put a spring "
                    "into the passive joint of a link, or write a distance closure"
                )
        if self.damping and self.stiffness is None:
            return "damping is for a rod with stiffness: give stiffness (N/m) too, or leave it out"
        if self.rotor_inertia and not self.motor:
            return "rotor_inertia is for a driven rod: give motor: true too, or leave it out"
        if self.length is not None and self.type != "distance":
            return f"length is for distance closures, not for a {self.type} one"
        if self.length is None and self.type == "distance" and not self.motor:
            return "length is missing: a distance closure is a rod of that many metres"
        return None

    @property
    def direction(self) -> np.ndarray:
        """Unit vector of `axis`, (3,): z unless given, x for a slide and for shafts."""
        return unit(self.axis or self.default_axis)

    @property
    def default_axis(self) -> tuple[float, float, float]:
        """Axis where none is given: z, x for a slide and for shafts."""
        return (1.0, 0.0, 0.0) if self.type in ALONG_X else (0.0, 0.0, 1.0)

    @property
    def directions(self) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors of `axes`, (3,) each: y of the first frame, z of the second unless given."""
        a, b = self.axes or ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        return unit(a), unit(b)
