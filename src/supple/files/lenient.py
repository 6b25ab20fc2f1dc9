"""Inertias that no body has, in the data of a robot file: a note each."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import RobotWarning
from ..on_demand import ModuleOnDemand
from ..robot.body import inertia_fault, principal_inertias
from ..values import in_si

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
else:
    np = ModuleOnDemand("numpy")

__all__ = ["judge_inertias", "without_negative"]


def without_negative(tensor: Array) -> Array:
    """Return an inertia with its negative principal values set to zero, the nearest one."""
    values, axes = np.linalg.eigh(tensor)
    if values[0] >= 0:
        return tensor
    lifted: Array = (axes * np.maximum(values, 0.0)) @ axes.T
    return lifted


def judge_inertias(data: Any, lenient: bool, place: str = "") -> Any:
    """Note every inertia in a robot file's data that no body has; return the data.

    With `lenient` negative principal values, which are refused, become zero.
    """
    if isinstance(data, list):
        names = [
            part.get("name", k) if isinstance(part, Mapping) else k for k, part in enumerate(data)
        ]
        each = zip(names, data, strict=True)
        return [judge_inertias(part, lenient, f"{place}.{name}") for name, part in each]
    if not isinstance(data, Mapping):
        return data
    found = {
        key: judge_inertias(part, lenient, f"{place}.{key}" if place else str(key))
        for key, part in data.items()
    }
    inertia = _six_values(found.get("inertia"))
    if inertia is None:
        return found
    mass = found.get("mass", 0.0)
    problem = inertia_fault(inertia, mass if isinstance(mass, int | float) else 0.0)
    is_negative = principal_inertias(inertia)[0] < 0
    if problem is None or (is_negative and not lenient):
        return found
    if is_negative:
        xx, yy, zz, xy, xz, yz = inertia
        lifted = without_negative(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        rows = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        found["inertia"] = [float(lifted[row]) for row in rows]
    how = "taken with zero instead" if is_negative else "taken as it is"
    warnings.warn(f"{place}.inertia: {problem}; {how}", RobotWarning, stacklevel=4)
    return found


def _six_values(inertia: Any) -> Sequence[float] | None:
    """Three or six numbers as xx, yy, zz, xy, xz, yz, kg m^2; None where it is something else."""
    try:
        given = in_si("inertia", inertia)
        given = given.tolist() if hasattr(given, "tolist") else given
        values = [float(value) for value in given] if isinstance(given, list | tuple) else []
    except (TypeError, ValueError):
        return None
    if len(values) not in (3, 6) or not all(map(math.isfinite, values)):
        return None
    return (*values, 0.0, 0.0, 0.0)[:6]
