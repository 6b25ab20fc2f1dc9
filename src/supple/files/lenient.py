"""Inertias that no body has, taken with a note each: what `lenient=True` does to a robot file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import RobotWarning
from ..robot.body import inertia_fault
from ..values import in_si

__all__ = ["accept_inertias", "without_negative"]

Array = NDArray[np.float64]


def without_negative(tensor: Array) -> Array:
    """Return an inertia with its negative principal values set to zero, the nearest one."""
    values, axes = np.linalg.eigh(tensor)
    if values[0] >= 0:
        return tensor
    lifted: Array = (axes * np.maximum(values, 0.0)) @ axes.T
    return lifted


def accept_inertias(data: Any, place: str = "") -> Any:
    """Return the data of a robot file in which every body with such an inertia is `lenient`.

    Negative principal values become zero. What is no inertia at all is left to be refused.
    """
    if isinstance(data, list):
        named = [
            part.get("name", i) if isinstance(part, Mapping) else i for i, part in enumerate(data)
        ]
        return [
            accept_inertias(part, f"{place}.{name}") for name, part in zip(named, data, strict=True)
        ]
    if not isinstance(data, Mapping):
        return data
    found = {
        key: accept_inertias(part, f"{place}.{key}" if place else str(key))
        for key, part in data.items()
    }
    tensor = _tensor(found.get("inertia"))
    if tensor is None:
        return found
    mass = found.get("mass", 0.0)
    problem = inertia_fault(tensor, mass if isinstance(mass, int | float) else 0.0)
    if problem is not None:
        lifted = without_negative(tensor)
        is_negative = lifted is not tensor
        how = "taken with zero instead" if is_negative else "taken as it is"
        warnings.warn(f"{place}.inertia: {problem}; {how}", RobotWarning, stacklevel=4)
        found["lenient"] = True
        if is_negative:
            rows = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
            found["inertia"] = [float(lifted[at]) for at in rows]
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
