"""How sure is a frequency: its interval when parameters are known within tolerances.

Where a frequency rises or falls with every parameter over the whole box, its extremes are at two
corners. The derivatives at the middle say which; they are asked again at both corners, and where
one has changed its sign the frequency is looked for along the box's edges and faces as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import checked, instance, one_of, optional, reals, whole
from ...errors import SuppleError
from ...robot import Robot, a_robot
from ...structure import Joints
from ..vibration.modes import modes
from .sensitivities import sensitivities
from .varied import Varied

__all__ = ["Tolerances", "tolerances"]

Array = NDArray[np.float64]
LEVELS = 3  # of each parameter, where corners alone do not do
MOST = 7  # parameters whose whole grid is looked at


@dataclass(frozen=True, eq=False)
class Tolerances(Answer):
    """Intervals of natural frequencies.

    Attributes:
        robot: as described.  omega: (count,) rad/s as described.
        low, high: (count,) rad/s, computed at the corners of the box that make them least and
        largest.  spread: {path: (count,)}, what each parameter's tolerance does by itself to first
        order, rad/s, plus and minus.
        monotonic: (count,) whether the derivatives keep their signs from the middle to both
        corners; where not, low and high are the extremes over a grid of the box.
    """

    robot: Robot
    omega: Array
    low: Array
    high: Array
    spread: dict[str, Array]
    monotonic: NDArray[np.bool_]

    dims: ClassVar = {
        "omega": ("mode",),
        "low": ("mode",),
        "high": ("mode",),
        "frequency_hz": ("mode",),
        "monotonic": ("mode",),
    }
    table_rows: ClassVar = ("mode",)
    units: ClassVar = {"omega": "rad/s", "low": "rad/s", "high": "rad/s", "frequency_hz": "Hz"}

    @property
    def frequency_hz(self) -> Array:
        """Natural frequencies as described, Hz."""
        return np.asarray(self.omega / (2 * np.pi))

    def __repr__(self) -> str:
        parts = [
            f"{a / (2 * np.pi):.4g} to {b / (2 * np.pi):.4g}"
            for a, b in zip(self.low[:4], self.high[:4], strict=True)
        ]
        return f"<Tolerances of {self.robot.name}: {', '.join(parts)} Hz, {len(self.omega)} modes>"


@checked(
    robot=a_robot,
    within=instance(Mapping, "tolerances such as {'links.link1.section.wall': 1e-4}"),
    theta=optional(reals),
    count=whole(1, 1000),
    position=optional(reals),
    joints=one_of("locked", "free"),
)
def tolerances(
    robot: Robot,
    within: Mapping[str, float],
    theta: ArrayLike | None = None,
    count: int = 6,
    *,
    position: ArrayLike | None = None,
    joints: Joints = "locked",
) -> Tolerances:
    """Return the intervals of natural frequencies when parameters are known plus or minus.

    `within` has for each path of the robot file (`links.link1.section.wall`, `payload.mass`) or
    coordinate (`theta.link2`) how far it may be off, in its own unit.
    """
    for key, value in within.items():
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or not 0 < value < np.inf:
            raise SuppleError(f"within '{key}' is {value!r:.40}: give a positive number, its +-")
    if not within:
        raise SuppleError("within is empty: give tolerances, such as {'payload.mass': 0.1}")
    asked = Varied.of(robot, tuple(within), theta, position)
    middle = np.array([asked.value(key) for key in within])
    off = np.array([float(value) for value in within.values()])

    def at(values: Array) -> tuple[Robot, dict[str, Array]]:
        named = dict(zip(within, values.tolist(), strict=True))
        place = asked.placed({key: np.array([named[key]]) for key in named}, 1)
        return asked.changed(named), {key: spot[0] for key, spot in place.items()}

    def omega(values: Array) -> Array:
        one, place = at(values)
        return modes(one, **place, count=count, joints=joints).omega

    def slopes(values: Array) -> Array:
        one, place = at(values)
        found = sensitivities(one, **place, parameters=list(within), count=count, joints=joints)
        return np.array([found.derivatives[key] for key in within])

    here = slopes(middle)
    low, high = np.array(omega(middle)), np.array(omega(middle))
    signs = np.sign(here)
    monotonic = (signs != 0).all(axis=0)
    known: dict[bytes, tuple[Array, Array]] = {}
    for mode in range(len(low)):
        for end, pick in ((1.0, np.maximum), (-1.0, np.minimum)):
            corner = middle + end * signs[:, mode] * off
            if corner.tobytes() not in known:
                known[corner.tobytes()] = (omega(corner), np.sign(slopes(corner)))
            value, there = known[corner.tobytes()]
            side = high if end > 0 else low
            side[mode] = pick(side[mode], value[mode])
            monotonic[mode] &= bool((there[:, mode] == signs[:, mode]).all())
    if not monotonic.all():
        if len(off) > MOST:
            raise SuppleError(
                f"mode {1 + int(np.argmin(monotonic))} does not simply rise or fall with all "
                f"{len(off)} parameters: give at most {MOST}, or smaller tolerances"
            )
        for levels in product(np.linspace(-1, 1, LEVELS), repeat=len(off)):
            value = omega(middle + np.array(levels) * off)
            low, high = np.minimum(low, value), np.maximum(high, value)
    spread: dict[str, Any] = {
        key: np.abs(slope) * width for key, slope, width in zip(within, here, off, strict=True)
    }
    return Tolerances(robot, omega(middle), low, high, spread, monotonic)
