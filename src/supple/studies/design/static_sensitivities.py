"""What does a change buy at rest: derivatives of the tip's motion under load by any parameter.

K(p) u = f(p) makes u an analytic function of every parameter and coordinate where K is regular, so
that differences of sixth order with steps h of a per cent leave h^6 u^(7) / 140, about 1e-12 u;
steps are shorter where that is not so (`sensitivities.difference`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import as_list, checked, vector
from ...errors import SuppleError
from ...robot import Robot
from ..statics import Statics, statics
from .sensitivities import difference
from .varied import Varied

__all__ = ["StaticSensitivities", "static_sensitivities"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StaticSensitivities(Answer):
    """Static displacement of the tip under load, and its derivatives.

    From `supple.static_sensitivities`.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates (joints,).
    moved : ndarray
        Displacement and rotation of the tip (6,), base axes, m and rad.
    derivatives : dict
        For each parameter an array (6,), per unit of the parameter.
    """

    robot: Robot
    theta: Array
    moved: Array
    derivatives: dict[str, Array]

    dims: ClassVar = {"moved": ("motion",)}
    table_rows: ClassVar = ("motion",)


@checked
def static_sensitivities(
    robot: Robot,
    theta: ArrayLike | None = None,
    parameters: Annotated[Sequence[str], as_list] = ("payload.mass",),
    *,
    force: Annotated[ArrayLike, vector(3)] = (0.0, 0.0, 0.0),
    moment: Annotated[ArrayLike, vector(3)] = (0.0, 0.0, 0.0),
    gravity: Annotated[ArrayLike, vector(3)] | None = None,
    position: ArrayLike | None = None,
) -> StaticSensitivities:
    """Derivatives of the static deflection of the tip with respect to parameters.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    theta : array_like, optional
        Joint coordinates (joints,), rad or m. Default: zero.
    parameters : sequence of str
        Paths of the robot file or coordinates, as in `sensitivities`.
    force, moment : array_like
        Load on the tip, (3,) each, base axes, N and N m.
    gravity : array_like, optional
        Acceleration (3,), base axes, m/s^2. Default: the robot's own.
    position : array_like, optional
        Instead of `theta`: position (3,) of a Delta's platform, m.

    Returns
    -------
    StaticSensitivities

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> found = supple.static_sensitivities(
    ...     robot, [0, 0.785, 0.785], ["payload.mass"], gravity=[0, -9.81, 0]
    ... )
    >>> (1e6 * found.derivatives["payload.mass"][:2]).round(2)  # micrometres per kg
    array([ 52.54, -35.07])
    """
    if isinstance(parameters, str) or not all(isinstance(p, str) for p in parameters):
        raise SuppleError(f"parameters is {parameters!r:.60}: give a list of paths")
    varied = Varied.of(robot, tuple(parameters), theta, position)
    load: dict[str, Any] = {"force": force, "moment": moment, "gravity": gravity, "points": 2}
    here = _at(varied, {}, load)
    derivatives = {}
    for key in varied.keys:
        value = varied.value(key)
        moves = key in varied.coordinate_keys
        size = 1.0 if moves or value == 0 else abs(value)
        derivatives[key] = difference(
            key,
            lambda changed, key=key: _at(varied, {key: changed}, load).moved,  # type: ignore[misc]
            value,
            size,
            lambda around: np.array([sum(x[n] * x[2] for x in around) for n in (0, 1)]),
            1e-3 * float(np.abs(here.moved).max()) / size,
        )
    return StaticSensitivities(robot, np.asarray(here.theta), here.moved, derivatives)


def _at(asked: Varied, values: dict[str, float], load: dict[str, Any]) -> Statics:
    """The sag with parameters and coordinates changed."""
    columns = {key: np.array([value]) for key, value in values.items()}
    place = {key: at[0] for key, at in asked.configurations_at(columns, 1).items()}
    return statics(asked.robot_at(values), **place, **load)
