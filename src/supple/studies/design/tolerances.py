"""How sure is a frequency: its interval when parameters are known within tolerances.

Where a frequency rises or falls with every parameter over the whole box, its extremes are at two
corners. The derivatives at the middle say which; they are asked again at both corners, and where
one has changed its sign an extreme is searched for, from the best corner, edge or face of the box
by their derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer, Natural
from ...arguments import checked, instance, one_of, optional, reals, whole
from ...errors import SuppleError
from ...robot import Robot, a_robot
from ...structure import Joints
from ..vibration.modes import modes
from .sensitivities import sensitivities
from .varied import Varied

__all__ = ["Tolerances", "tolerances"]

Array = NDArray[np.float64]
MOST = 6  # parameters of which every corner, edge and face is looked at


@dataclass(frozen=True, eq=False)
class Tolerances(Natural, Answer):
    """Intervals of natural frequencies.

    Attributes:
        robot: as described.  omega: (count,) rad/s as described.
        low, high: (count,) rad/s, computed at the corners of the box that make them least and
        largest.  spread: {path: (count,)}, what each parameter's tolerance does by itself to first
        order, rad/s, plus and minus.
        monotonic: (count,) whether the derivatives keep their signs from the middle to both
        corners; where not, low and high were searched for and may be local extremes.
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
        if not good or not 0 < value <= 1e30:
            raise SuppleError(
                f"within '{key}' is {value!r:.40}: give a positive number up to 1e30, its +-"
            )
    if not within:
        raise SuppleError("within is empty: give tolerances, such as {'payload.mass': 0.1}")
    box = _Box(Varied.of(robot, tuple(within), theta, position), dict(within), count, joints)
    none = np.zeros(len(within))
    here, omega = box.slopes(none), box.omega(none)
    low, high = np.array(omega), np.array(omega)
    signs = np.sign(here)
    monotonic = (signs != 0).all(axis=0)
    known: dict[bytes, tuple[Array, Array]] = {}
    for mode in range(len(low)):
        for end, side, pick in ((1.0, high, np.maximum), (-1.0, low, np.minimum)):
            corner = end * signs[:, mode]
            if corner.tobytes() not in known:
                known[corner.tobytes()] = (box.omega(corner), np.sign(box.slopes(corner)))
            found, there = known[corner.tobytes()]
            side[mode] = pick(side[mode], found[mode])
            monotonic[mode] &= bool((there[:, mode] == signs[:, mode]).all())
    if not monotonic.all():
        _search(box, monotonic, low, high)
    spread = {key: np.abs(slope) for key, slope in zip(within, here, strict=True)}
    return Tolerances(robot, omega, low, high, spread, monotonic)


@dataclass(frozen=True)
class _Box:
    """What may be off; x (n,) is each parameter's part of its tolerance, from -1 to 1."""

    varied: Varied
    within: dict[str, float]
    count: int
    joints: Joints

    def at(self, x: Array) -> tuple[Robot, dict[str, Any]]:
        """The robot there, and where it stands."""
        named = {
            key: self.varied.value(key) + part * off
            for (key, off), part in zip(self.within.items(), x.tolist(), strict=True)
        }
        place = self.varied.placed({key: np.array([value]) for key, value in named.items()}, 1)
        return self.varied.changed(named), {key: spot[0] for key, spot in place.items()}

    def omega(self, x: Array) -> Array:
        """Natural frequencies there, (count,) rad/s."""
        robot, place = self.at(x)
        return modes(robot, **place, count=self.count, joints=self.joints).omega

    def slopes(self, x: Array) -> Array:
        """Their derivatives by x, (n, count)."""
        robot, place = self.at(x)
        found = sensitivities(
            robot, **place, parameters=list(self.within), count=self.count, joints=self.joints
        )
        return np.array([found.derivatives[key] * off for key, off in self.within.items()])


def _search(box: _Box, monotonic: NDArray[np.bool_], low: Array, high: Array) -> None:
    """Look for the extremes of frequencies that turn within the box, and write them down."""
    from scipy.optimize import minimize

    n = len(box.within)
    if n > MOST:
        raise SuppleError(
            f"mode {1 + int(np.argmin(monotonic))} does not simply rise or fall with all "
            f"{n} parameters: give at most {MOST}, or smaller tolerances"
        )
    grid = np.array(list(product((-1.0, 0.0, 1.0), repeat=n)))
    values = np.array([box.omega(x) for x in grid])
    low[:] = np.minimum(low, values.min(axis=0))
    high[:] = np.maximum(high, values.max(axis=0))
    for mode in np.flatnonzero(~monotonic).tolist():
        for side, sign in ((low, 1.0), (high, -1.0)):

            def goal(x: Array, k: int = mode, s: float = sign) -> tuple[float, Array]:
                return s * float(box.omega(x)[k]), s * box.slopes(x)[:, k]

            best = grid[np.argmin(sign * values[:, mode])]
            found = minimize(goal, 0.98 * best, jac=True, bounds=[(-1, 1)] * n)
            side[mode] = sign * min(sign * side[mode], found.fun)
