"""Figures of trajectories: position, velocity and acceleration of every coordinate over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import architecture_of
from ...control.matching import names_place
from ...control.trajectories import Trajectory, TrajectoryWithDetails
from ..style import COLOURS, finish, house_style, wrap_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_trajectory", "units_of"]

Array = NDArray[np.float64]
MAX_LINES = 8  # coordinates drawn; more would not be read
POINTS = 1200


def units_of(trajectory: Trajectory) -> tuple[str, Array]:
    """Return the unit of its coordinates as a figure writes it, and the factors from SI to it.

    Angles are drawn in degrees; of a trajectory that knows no robot, in radians, or metres.
    """
    factors = np.ones(trajectory.size)
    if names_place(trajectory):
        return "m", factors
    model = getattr(trajectory, "model", None)
    robot = getattr(trajectory, "robot", None) or getattr(model, "robot", None)
    if robot is None:
        return "rad or m", factors
    slides = np.array([slides for _, slides in architecture_of(robot).motors], bool)
    if slides.all() or len(slides) != trajectory.size:
        return "m" if slides.all() else "rad or m", factors
    factors[~slides] = np.degrees(1.0)
    return "deg, m where it slides" if slides.any() else "deg", factors


def plot_trajectory(
    found: Trajectory, path: str | Path | None = None, title: str | None = None
) -> Figure:
    """Draw position, velocity and acceleration over time, one panel each."""
    import matplotlib.pyplot as plt

    end = found.duration
    edges = np.array([0.0, *found.breaks, end])
    hair = 1e-9 * end
    t = np.concatenate([np.linspace(0.0, end, POINTS), edges - hair, edges + hair])
    t = np.unique(np.clip(t, 0.0, end))
    motion = found.at(t)
    names = found.names or tuple(f"coordinate {k + 1}" for k in range(found.size))
    unit, factors = units_of(found)
    rates = [unit, per_time(unit, "s"), per_time(unit, "s²")]
    labels = ("position", "velocity", "acceleration")
    with house_style():
        figure, axes = plt.subplots(3, 1, figsize=(7.2, 6.4), sharex=True, layout="constrained")
        for ax, values, label, per in zip(axes, motion, labels, rates, strict=True):
            for j, name in enumerate(names[:MAX_LINES]):
                ax.plot(
                    t,
                    factors[j] * values[:, j],
                    color=COLOURS[j % len(COLOURS)],
                    lw=1.4,
                    label=name,
                )
            ax.set_ylabel(f"{label} ({per})")
        axes[0].legend(loc="best", fontsize=8, ncols=2)
        axes[-1].set(xlabel="time (s)", xlim=(0.0, end))
        if not title:
            trajectory = found.trajectory if isinstance(found, TrajectoryWithDetails) else found
            word = type(found).__name__
            title = f"{word}: {trajectory.duration:.4g} s, {found.size} coordinates"
            if found.periodic:
                title += ", over and over"
            if found.size > MAX_LINES:
                title += f" ({MAX_LINES} of them drawn)"
        figure.suptitle(wrap_text(title, 7.0, 10), fontsize=10)
    return finish(figure, path)


def per_time(unit: str, time: str) -> str:
    """Return the unit of a rate: `rad/s or m/s` of `rad or m`."""
    if unit in ("deg", "m"):
        return f"{unit}/{time}"
    turning = "deg" if unit.startswith("deg") else "rad"
    return f"{turning}/{time} or m/{time}"
