"""Joint, Mimic, MechanismJoint, Motor, LegJoint: what moves a link, and the joints of a Delta."""

from __future__ import annotations

from abc import ABC
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from ..on_demand import ModuleOnDemand
from ..values import Angle, Before, NonNegative, Number, Positive, Triple, as_tuple, fault
from .body import NO_MOUNT, Body, Description, Mount
from .denavit_hartenberg import DenavitHartenberg
from .springs import Bearing, Gear

if TYPE_CHECKING:
    import numpy as np
else:
    np = ModuleOnDemand("numpy")

__all__ = [
    "BaseJoint",
    "Joint",
    "LegJoint",
    "MechanismJoint",
    "Mimic",
    "Motor",
    "unit",
    "unit_values",
]


def unit(vector: Any) -> np.ndarray:
    """Return a direction (3,) scaled to length one, whatever its size."""
    found: np.ndarray = _unit(*vector)
    return found


@lru_cache(maxsize=256)
def _unit(*vector: float) -> np.ndarray:
    a: np.ndarray = np.array(vector, float)
    a = a / np.abs(a).max()  # else the square of a small number is zero
    a /= np.linalg.norm(a)
    a.setflags(write=False)
    return a


def unit_values(vector: Triple) -> Triple:
    """Return a direction scaled to length one, as plain numbers."""
    if sum(1 for value in vector if value) == 1:  # along an axis: nothing is rounded, no array made
        length = abs(sum(vector))
        x, y, z = (value / length for value in vector)
    else:
        x, y, z = unit(vector).tolist()
    return x, y, z


Range = Annotated[tuple[Angle, Angle], Before(as_tuple)]


class Driven(Description, ABC):
    """What a motor brings along: its rotor, or the motor behind a gear, and what carries it."""

    rotor_inertia: NonNegative = 0.0
    gear: Gear | None = None
    bearing: Bearing | None = None

    @model_validator(mode="after")
    def _one_inertia(self) -> Self:
        if self.gear is not None and self.rotor_inertia:
            raise fault(
                "gear and rotor_inertia are both given: rotor_inertia follows from the gear as "
                "ratio^2 motor_inertia, leave it out"
            )
        return self

    @property
    def reflected_inertia(self) -> float:
        """Inertia of the rotor on the joint side: as given, or ratio^2 motor_inertia of a gear."""
        return self.rotor_inertia if self.gear is None else self.gear.reflected_inertia

    def _of_motor(self) -> str | None:
        """The first key given that only a joint with a motor has."""
        keys = ("gear", "effort_limit", "speed_limit")
        return next((key for key in keys if getattr(self, key) is not None), None)


class BaseJoint(Driven, ABC):
    """What joints share in every architecture: axis, place, rotor, limits and hub.

    `effort_limit` (N m, N) and `speed_limit` (rad/s, m/s) are on the joint side, either way. `name`
    is its own name, as a URDF gives it: trajectories may call it so, or by the link that it moves.
    """

    type: str = "revolute"
    name: Annotated[str, Field(min_length=1)] | None = None
    axis: Triple | None = None
    mount: Mount = NO_MOUNT
    dh: DenavitHartenberg | None = None
    limits: Range | None = None
    effort_limit: Positive | None = None
    speed_limit: Positive | None = None
    hub: Body | None = None

    @model_validator(mode="after")
    def _axis_and_limits(self) -> Self:
        if self.dh is not None and self.type not in ("revolute", "fixed"):
            raise fault(
                f"dh is for revolute and fixed joints, not for a {self.type} one, whose beam "
                "slides along its own x: give mount"
            )
        given = "axis" if self.axis is not None else "mount" if self.mount != NO_MOUNT else None
        if self.dh is not None and given is not None:
            raise fault(f"{given} and dh are both given: dh says where the joint is, leave one out")
        if self.axis is not None and self.type == "prismatic":
            raise fault("axis is not for a prismatic joint: the beam slides along its own x")
        if self.axis is not None and not any(self.axis):
            raise fault("axis is [0, 0, 0]: give a direction, such as [0, 0, 1]")
        if self.limits is not None and self.limits[0] >= self.limits[1]:
            raise fault(
                f"limits {list(self.limits)}: the lower one must be below the upper one; "
                "write [lower, upper], such as [-90deg, 90deg]"
            )
        return self

    @property
    def direction(self) -> np.ndarray:
        """Unit vector of the axis, mounted axes, (3,): z unless given, x for a prismatic joint."""
        return unit(self.axis or self.default_axis)

    @property
    def default_axis(self) -> tuple[float, float, float]:
        """Axis where none is given, mounted axes: z, x for a prismatic joint."""
        return (1.0, 0.0, 0.0) if self.type == "prismatic" else (0.0, 0.0, 1.0)


class Mimic(Description):
    """What a joint without a coordinate of its own follows: multiplier theta + offset.

    `joint` names the link that the other joint moves; theta is that joint's entry, its motor side.
    """

    joint: Annotated[str, Field(min_length=1)]
    multiplier: Number = 1.0
    offset: Angle = 0.0


class Joint(BaseJoint):
    """Joint of a serial arm: type, axis, mount, drive and hub.

    With `stiffness` (N m/rad, in series) theta is the motor side and the link turns by theta + eps.
    With `mimic` it has neither motor nor coordinate and follows another joint.

    Examples
    --------
    >>> import supple
    >>> supple.Joint(type="revolute", stiffness=4e5, rotor_inertia=2.0).stiffness
    400000.0
    """

    type: Literal["revolute", "prismatic", "fixed"] = "revolute"
    stiffness: Positive | None = None
    damping: NonNegative = 0.0
    friction: NonNegative = 0.0
    mimic: Mimic | None = None

    @model_validator(mode="after")
    def _spring_turns(self) -> Self:
        if self.stiffness is not None and self.type != "revolute":
            raise fault(f"stiffness is for revolute joints, not for a {self.type} one")
        if self.type == "fixed" and (key := self._of_motor()) is not None:
            raise fault(f"{key} is for joints with a motor, not for a fixed one")
        if self.mimic is not None and self.type == "fixed":
            raise fault("mimic is for joints that move, not for a fixed one")
        rotor = "rotor_inertia" if self.rotor_inertia else None
        own = self._of_motor() or rotor or (None if self.stiffness is None else "stiffness")
        if self.mimic is not None and own is not None:
            raise fault(
                f"{own} is for joints with a motor: this one follows that of {self.mimic.joint}; "
                "give it there, or leave mimic out"
            )
        return self


def _several(value: Any) -> Any:
    """Read one value as a list of one."""
    value = as_tuple(value)
    return (value,) if isinstance(value, int | float | str) and value is not True else value


Amounts = Annotated[
    tuple[NonNegative, ...],
    Before(_several, json_schema_input_type=NonNegative | tuple[NonNegative, ...]),
]
Starts = Annotated[
    tuple[Angle, ...],
    Before(_several, json_schema_input_type=Angle | tuple[Angle, ...]),
]
Axes = Annotated[tuple[Triple, Triple], Before(as_tuple)]


class Turn(NamedTuple):
    """One coordinate of a joint.

    Attributes
    ----------
    word
        What follows the link's name in that of the coordinate.
    axis
        (3,), the frame's own axes before this turn.
    order
        Which of the joint's turns it is.
    shifts
        Whether the link moves along the axis, as a whole, and does not turn.
    """

    word: str
    axis: tuple[float, float, float]
    order: int = 0
    shifts: bool = False


X = (1.0, 0.0, 0.0)
Y = (0.0, 1.0, 0.0)
Z = (0.0, 0.0, 1.0)
# Joints that turn about several axes, passive all of them: their coordinates as they are listed.
TURNS: dict[str, tuple[Turn, ...]] = {
    "universal": (Turn(".1", Y, 0), Turn(".2", Z, 1)),
    "spherical": (Turn(".roll", X, 2), Turn(".pitch", Y, 1), Turn(".yaw", Z, 0)),
    "free": (
        *(
            Turn(word, axis, k, True)
            for k, (word, axis) in enumerate(((".x", X), (".y", Y), (".z", Z)))
        ),
        *(Turn(".roll", X, 5), Turn(".pitch", Y, 4), Turn(".yaw", Z, 3)),
    ),
}


HOLDING_KEYS = ("stiffness", "damping", "friction")


class MechanismJoint(BaseJoint):
    """Joint of a mechanism, driven by a motor or passive.

    `stiffness`, `damping`, `friction`, `start` and `rest` are one value, or one per coordinate. A
    universal joint turns about `axes` (mounted axes, default y then z, the second one rotated by
    the first), a spherical joint by roll, pitch and yaw: R = Rz(yaw) Ry(pitch) Rx(roll). A free
    joint has x, y and z along mounted axes, then roll, pitch and yaw; in the plane x, y, yaw. With
    `mimic` it has neither motor nor coordinate and follows the motor of another joint. A passive
    joint that `hangs` stands where the weight beyond it hangs at rest, at every pose anew, links
    unbent; `start` is then where the search for it begins.
    """

    type: Literal["revolute", "prismatic", "fixed", "universal", "spherical", "free"] = "revolute"
    axes: Axes | None = None
    passive: Annotated[bool, Field(strict=True)] | None = None
    start: Starts = (0.0,)
    hangs: Annotated[bool, Field(strict=True)] = False
    rest: Starts | None = None
    stiffness: Amounts | None = None
    damping: Amounts = (0.0,)
    friction: Amounts = (0.0,)
    mimic: Mimic | None = None

    @property
    def driven(self) -> bool:
        """Whether a motor moves it, one entry of theta."""
        own = not self.passive and self.mimic is None
        return self.type in ("revolute", "prismatic") and own

    def coordinates(self, planar: bool) -> tuple[Turn, ...]:
        """Return the coordinates of the joint; in the plane one, about z, of a free one x and y."""
        if self.type == "fixed":
            return ()
        if self.type == "free":
            x, y, *_, yaw = TURNS["free"]
            return (x, y, yaw) if planar else TURNS["free"]
        if self.type not in TURNS or planar:
            return (
                Turn("", Z if self.type in TURNS else unit_values(self.axis or self.default_axis)),
            )
        turns = TURNS[self.type]
        if self.axes is None:
            return turns
        return tuple(turn._replace(axis=axis) for turn, axis in zip(turns, self.axes, strict=True))

    def _of_motor(self) -> str | None:
        if self.rotor_inertia:
            return "rotor_inertia"
        many = self.type in TURNS
        return "limits" if self.limits is not None and many else super()._of_motor()

    def _problem(self) -> str | None:
        """The first contradiction, as a sentence."""
        many = self.type in TURNS
        if self.passive is False and many:
            return f"passive is false: a {self.type} joint has no motor, leave the key out"
        if self.passive and self.type == "fixed":
            return "passive is for joints that move, not for a fixed one"
        if self.axis is not None and many:
            other = "give axes, two directions" if self.type == "universal" else "leave it out"
            return f"axis is not for a {self.type} joint: {other}"
        if self.axes is not None and self.type != "universal":
            return f"axes are for universal joints: a {self.type} one has axis"
        if self.axes is not None and not all(map(any, self.axes)):
            return "axes hold [0, 0, 0]: give two directions, such as [[0, 1, 0], [0, 0, 1]]"
        if self.axes is not None and abs(unit(self.axes[0]) @ unit(self.axes[1])) > 1 - 1e-12:
            return f"axes {[list(a) for a in self.axes]} are parallel: a universal joint needs two"
        meaningless = {"fixed": ("stiffness", "rest"), "free": (*HOLDING_KEYS, "bearing")}.get(
            self.type, ()
        )
        if given_anyway := [
            word for word in meaningless if getattr(self, word) not in (None, (0.0,))
        ]:
            free = f"{given_anyway[0]} is not for a free joint, which holds nothing: leave it out"
            fixed = "stiffness and rest are for joints that move, not for a fixed one"
            return free if self.type == "free" else fixed
        if self.mimic is not None and (many or self.type == "fixed" or self.passive is not None):
            return "mimic is for revolute and prismatic joints without the key passive"
        if self.mimic is not None and self.stiffness is not None:
            return "stiffness is not for a joint that follows another: leave it or mimic out"
        return self._hanging_problem() or self._spring_problem()

    def _hanging_problem(self) -> str | None:
        """Why a joint cannot hang, as a sentence."""
        if not self.hangs:
            return None
        if self.driven:
            return "hangs is for joints without a motor: add passive: true, or leave hangs out"
        if self.type not in ("revolute", "universal", "spherical") or self.mimic is not None:
            kind = self.type if self.mimic is None else "mimic"
            return (
                f"hangs is for passive revolute, universal and spherical joints, not for a {kind} "
                "one: leave it out"
            )
        if self.stiffness is not None:
            return (
                "hangs is for joints without a spring, this one has stiffness: leave hangs out, "
                "and begin at rest with q0: static"
            )
        return None

    def _spring_problem(self) -> str | None:
        """The first contradiction of springs and motors, as a sentence."""
        if self.driven:
            if self.rest is not None:
                return "rest is for the spring of a passive joint: this one has a motor"
            if self.stiffness is not None and (self.type != "revolute" or 0 in self.stiffness):
                return "stiffness of a motor's joint is for revolute ones, and must be positive"
        elif (key := self._of_motor()) is not None:
            kind = "passive or fixed" if self.mimic is None else "mimic"
            return f"{key} is for joints with a motor, not for a {kind} one"
        if self.rest is not None and self.stiffness is None:
            return "rest goes with stiffness: it is where the joint's spring is unloaded"
        return None


class Motor(Driven):
    """The three equal motors of a Delta; without stiffness they hold the upper arms rigidly.

    Its `bearing` is in the axes of the leg: x outwards, y the motor's axis.
    """

    stiffness: Positive | None = None
    damping: NonNegative = 0.0
    friction: NonNegative = 0.0
    limits: Range | None = None
    effort_limit: Positive | None = None
    speed_limit: Positive | None = None


class LegJoint(Description):
    """Springs, damping and friction of the passive joints of a Delta, alike in its three legs.

    Each is one value, or one per coordinate. `elbow` joints are universal: about y of the upper
    arm, then about z of the rod. `wrist` joints, at the platform, are universal (`rods: single`):
    about z of the rod, then about y of the leg; or spherical (`rods: parallelogram`): roll, pitch
    and yaw from the rod to the platform, where one stiffness is alike in all directions. Springs
    are unloaded at `rest`; without it, where the platform stands at its usual position.
    """

    stiffness: Amounts | None = None
    damping: Amounts = (0.0,)
    friction: Amounts = (0.0,)
    rest: Starts | None = None

    def _problem(self) -> str | None:
        if self.rest is not None and self.stiffness is None:
            return "rest goes with stiffness: it is where the joint's spring is unloaded"
        return None

    @property
    def acts(self) -> bool:
        """Whether the joint exerts any moment of its own."""
        return any(any(getattr(self, key) or ()) for key in HOLDING_KEYS)
