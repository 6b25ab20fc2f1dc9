"""What does a change buy at rest: derivatives of the tip's motion under load by any parameter.

K(p) u = f(p) makes u an analytic function of every parameter and coordinate where K is regular, so
that differences of sixth order with steps h of a per cent leave h^6 u^(7) / 140, about 1e-12 u;
steps are shorter where that is not so (`sensitivities.difference`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import checked, listed, optional, reals, vector
from ...errors import SuppleError
from ...robot import Robot, a_robot
from ..statics import Statics, statics
from .sensitivities import difference
from .varied import Varied

__all__ = ["StaticSensitivities", "static_sensitivities"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StaticSensitivities(Answer):
    """How the tip moves at rest under load, and the derivatives of that.

    Attributes:
        robot, theta: what was asked about.
        moved: (6,) displacement and rotation of the tip, base axes, m and rad.
        derivatives: for each parameter (6,), per unit of the parameter.
    """

    robot: Robot
    theta: Array
    moved: Array
    derivatives: dict[str, Array]

    dims: ClassVar = {"moved": ("motion",)}
    table_rows: ClassVar = ("motion",)

    def __repr__(self) -> str:
        names = ", ".join(self.derivatives)
        return f"<StaticSensitivities of {self.robot.name}: the tip's motion by {names:.60}>"


@checked(
    robot=a_robot,
    theta=optional(reals),
    parameters=listed,
    force=vector(3),
    moment=vector(3),
    gravity=optional(vector(3)),
    position=optional(reals),
)
def static_sensitivities(
    robot: Robot,
    theta: ArrayLike | None = None,
    parameters: Sequence[str] = ("payload.mass",),
    *,
    force: ArrayLike = (0.0, 0.0, 0.0),
    moment: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike | None = None,
    position: ArrayLike | None = None,
) -> StaticSensitivities:
    """Return the derivatives of the tip's sag by parameters, loads as in `statics`.

    A parameter is a path of the robot file (`links.link1.section.wall`, `payload.mass`) or a
    coordinate (`theta.link2`, `position.x`); theta or position say where the robot stands.
    """
    if isinstance(parameters, str) or not all(isinstance(p, str) for p in parameters):
        raise SuppleError(f"parameters is {parameters!r:.60}: give a list of paths")
    asked = Varied.of(robot, tuple(parameters), theta, position)
    load: dict[str, Any] = {"force": force, "moment": moment, "gravity": gravity, "points": 2}
    here = _at(asked, {}, load)
    derivatives = {}
    for key in asked.keys:
        value = asked.value(key)
        moves = key in asked.coordinate_keys
        size = 1.0 if moves or value == 0 else abs(value)
        derivatives[key] = difference(
            key,
            lambda changed, key=key: _at(asked, {key: changed}, load).moved,  # type: ignore[misc]
            value,
            size,
            lambda around: np.array([sum(x[n] * x[2] for x in around) for n in (0, 1)]),
            1e-3 * float(np.abs(here.moved).max()) / size,
        )
    return StaticSensitivities(robot, np.asarray(here.theta), here.moved, derivatives)


def _at(asked: Varied, values: dict[str, float], load: dict[str, Any]) -> Statics:
    """The sag with parameters and coordinates changed."""
    columns = {key: np.array([value]) for key, value in values.items()}
    place = {key: at[0] for key, at in asked.placed(columns, 1).items()}
    return statics(asked.changed(values), **place, **load)
