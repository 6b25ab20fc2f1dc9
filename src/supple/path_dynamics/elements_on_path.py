"""Finite elements on the links of a robot whose motors follow a path: the one door to them.

Both ways to assemble their equations give the same numbers (`tests/cross/test_ked_model.py`).
Elements on moving frames, `Ked`, need no expressions: they are there at once, and of a Delta they
cost half. The derivatives of a Model, `PathModel`, know every robot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..errors import SuppleError
from ..robot import Robot
from .damping import Law, MotionDamping, Ratio, link_damping
from .equations_in_time import Path
from .kineto_elastodynamics import Ked, Loads, ked
from .linearised_model import path_model_with_elements
from .small_motion import SmallMotion

__all__ = ["added_damping", "elements_on_path", "refuse_loads"]

Array = NDArray[np.float64]


def elements_on_path(
    robot: Robot,
    start: Array,
    elements: int,
    order: str = "cubic",
    *,
    damping: MotionDamping | float | None = None,
    modal_damping: float | None = None,
    loads: Loads | None = None,
    held: str = "",
) -> SmallMotion:
    """Return a robot with finite elements on its links, its motors on a path.

    start: a pose of the path, as `structure_of` takes it. `held` names who asks for a robot none of
    whose joints swings freely. A damping ratio is among the equations of a Model; of other kinds
    `added_damping` tells it.
    """
    ratio = None if isinstance(damping, MotionDamping) else damping
    path_model = path_model_with_elements(robot, elements, order, ratio, held)
    if path_model is None:
        return ked(robot, start, elements, order, loads)
    architecture = architecture_of(robot)
    sliding = [name for name, slides in architecture.motors if slides]
    why = f"links.{sliding[0]} slides" if sliding else f"{robot.name} is a mechanism"
    if not sliding and architecture.asked_by == "position":
        why = f"the passive joints of {robot.name} have springs, damping or friction"
    if isinstance(damping, MotionDamping) or modal_damping is not None:
        raise SuppleError(
            f"{why}: give its damping as a ratio of its links' own modes, damping=, since a matrix "
            "would change with its pose"
        )
    refuse_loads(loads, why)
    return path_model


def refuse_loads(loads: Loads | None, why: str) -> None:
    """Refuse to switch loads of the rigid motion where the equations have all of them."""
    if loads is not None:
        raise SuppleError(f"loads cannot be switched here, since {why}: leave loads out")


def added_damping(
    model: SmallMotion, path: Path, given: MotionDamping | float | None, modal: float | None
) -> Law | None:
    """Return the damping that the equations along a path do not have themselves."""
    if not isinstance(model, Ked):
        return None
    if modal is not None:
        given = Ratio(float(modal))
    if isinstance(given, MotionDamping):  # of all modes at the start
        x, v, a = path(np.zeros(1))
        return given.law(model.matrices(x, v, a).M[0], model.elastic(x[0]))
    return link_damping(model, given)
