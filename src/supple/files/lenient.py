"""Inertias that no body has, in the data of a robot file: a note each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RobotWarning
from ..robot.body import inertia_fault
from ..values import in_si

__all__ = ["judge_inertias", "without_negative"]

Array = NDArray[np.float64]


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
    tensor = _tensor(found.get("inertia"))
    if tensor is None:
        return found
    mass = found.get("mass", 0.0)
    problem = inertia_fault(tensor, mass if isinstance(mass, int | float) else 0.0)
    is_negative = bool(np.linalg.eigvalsh(tensor)[0] < 0)
    if problem is None or (is_negative and not lenient):
        return found
    if is_negative:
        lifted = without_negative(tensor)
        rows = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        found["inertia"] = [float(lifted[row]) for row in rows]
    how = "taken with zero instead" if is_negative else "taken as it is"
    warnings.warn(f"{place}.inertia: {problem}; {how}", RobotWarning, stacklevel=4)
    return found


def _tensor(inertia: Any) -> Array | None:
    """The (3, 3) inertia of three or six numbers, or None."""
    try:
        values = np.asarray(in_si("inertia", inertia), float)
    except (TypeError, ValueError):
        return None
    if values.shape not in ((3,), (6,)) or not np.isfinite(values).all():
        return None
    xx, yy, zz, xy, xz, yz = (*values.tolist(), 0.0, 0.0, 0.0)[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
