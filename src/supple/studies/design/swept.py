"""The studies that a sweep knows by name: what each tells of a robot at many configurations.

Each takes the robot, theta or position (m, n) and options, and returns arrays (m, ...).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...answers.registry import import_function
from ...errors import SuppleError
from ...robot import Robot

__all__ = ["DIMS", "STUDIES", "UNITS"]

Array = NDArray[Any]


def _simulate(
    robot: Robot, place: Mapping[str, Any], *, basis: Any = None, **options: Any
) -> dict[str, Array]:
    """Runs from rest at each configuration; a `trajectory` may be a function of it."""
    from ..motion.simulate import simulate

    model = _model(robot, basis)
    rows = []
    path = options.pop("trajectory", None)
    for k in range(len(next(iter(place.values())))):
        start = {("theta0" if key == "theta" else key): value[k] for key, value in place.items()}
        if path is not None:
            spot = next(iter(start.values()))
            given = path(spot) if _of_pose(path) else path
            run = simulate(model, trajectory=given, **options)
        else:
            run = simulate(model, **start, **options)
        rows.append(
            {
                "tip": run.tip[-1],
                "tip_range": np.ptp(run.tip, axis=0),
                "peak_effort": np.abs(run.tau).max(axis=0),
                "energy": run.energy[-1],
                "openness": run.openness,
                "complete": run.complete,
            }
        )
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _stability(
    robot: Robot,
    place: Mapping[str, Any],
    *,
    trajectory: Any = None,
    basis: Any = None,
    **options: Any,
) -> dict[str, Array]:
    """What vibration does along a trajectory, which may be a function of the configuration."""
    from ..motion.stability import stability

    if trajectory is None:
        raise SuppleError(
            "the study stability needs a trajectory: give trajectory=, such as "
            "supple.ParabolicBlends(start, end, duration=1.0, blend=0.1)"
        )
    model = _model(robot, basis)
    rows = []
    spots = next(iter(place.values()))
    for spot in spots:
        path = trajectory(spot) if _of_pose(trajectory) else trajectory
        found = stability(model, path, **options)
        rows.append(
            {
                "largest_real_part": found.eigenvalues.real.max(),
                "lowest_omega": found.omega.min(),
                "peak_energy": found.energy.max(),
                "action_growth": found.action[-1] / max(found.action[0], 1e-300),
                "offsetting_ratio": found.offsetting_ratio.max(),
            }
        )
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _of_pose(path: Any) -> bool:
    from ...control.trajectories import Trajectory

    return callable(path) and not isinstance(path, Trajectory)


def _model(robot: Robot, basis: Any) -> Any:
    from ...beams.basis import AssumedModes, Basis
    from ...equations.build import build

    if basis is not None and not isinstance(basis, Basis):
        raise SuppleError(f"basis is {basis!r:.60}: give a basis, such as AssumedModes(2)")
    return build(robot, basis or AssumedModes(2))


def _arrays(
    study: str, keys: tuple[str, ...], robot: Robot, place: Mapping[str, Any], **options: Any
) -> dict[str, Array]:
    """Some arrays of a study that takes all configurations at once."""
    found = import_function(study)(robot, **place, **options)
    return {key: getattr(found, key) for key in keys}


SAG = ("tip_displacement", "tip_rotation", "compliance")
STUDIES: dict[str, Callable[..., dict[str, Array]]] = {
    "modes": partial(_arrays, "studies.vibration.modes:modes", ("omega", "width", "valid")),
    "statics": partial(_arrays, "studies.statics:statics", SAG),
    "simulate": _simulate,
    "stability": _stability,
}
DIMS = {
    "omega": ("mode",),
    "width": ("mode",),
    "tip_displacement": ("axis",),
    "tip_rotation": ("axis",),
    "compliance": ("row", "column"),
    "tip": ("axis",),
    "tip_range": ("axis",),
    "peak_effort": ("joint",),
}
UNITS = {
    "omega": "rad/s",
    "tip_displacement": "m",
    "tip_rotation": "rad",
    "tip": "m",
    "tip_range": "m",
    "peak_effort": "N m or N",
    "energy": "J",
    "peak_energy": "J",
    "lowest_omega": "rad/s",
    "largest_real_part": "1/s",
}
