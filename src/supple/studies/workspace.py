"""Where does a Delta vibrate low: natural frequencies over its workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..architectures import delta
from ..errors import SuppleError
from ..robot import DeltaRobot, Robot
from .modes import Method, modes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["WorkspaceMap", "workspace"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WorkspaceMap:
    """Natural frequencies on a grid of platform positions.

    Attributes:
        x, y, z: axes of the grid, m.  omega: (nx, ny, nz, count), rad/s, NaN where the platform
        cannot be (out of reach, beyond the motors' limits, or singular).
    """

    robot: Robot
    x: Array
    y: Array
    z: Array
    omega: Array

    if TYPE_CHECKING:  # bound in answers.py

        def plot(self, path: Any = None, **options: Any) -> Figure: ...
        def show(self, host: str = ..., port: int = ...) -> Any: ...
        def save_page(self, path: Any) -> Any: ...

    @property
    def reachable(self) -> NDArray[np.bool_]:
        """(nx, ny, nz) where the platform can be."""
        return np.asarray(np.isfinite(self.omega[..., 0]))

    def below(self, bound: float) -> Array:
        """Return the positions, (k, 3), whose lowest frequency is below a bound, rad/s."""
        with np.errstate(invalid="ignore"):
            low = self.omega[..., 0] < bound
        return self._points()[low]

    def share_below(self, bound: float) -> float:
        """Return which part of the reachable grid points is below a bound, rad/s."""
        return len(self.below(bound)) / max(1, int(self.reachable.sum()))

    @property
    def lowest(self) -> tuple[Array, float]:
        """The grid point with the lowest frequency, (3,), and that frequency, rad/s."""
        flat = np.where(self.reachable, self.omega[..., 0], np.inf)
        place = np.unravel_index(int(flat.argmin()), flat.shape)
        return self._points()[place], float(flat[place])

    def _points(self) -> Array:
        return np.stack(np.meshgrid(self.x, self.y, self.z, indexing="ij"), axis=-1)


def workspace(
    robot: Robot,
    x: tuple[float, float] = (-0.3, 0.3),
    y: tuple[float, float] = (-0.3, 0.3),
    z: tuple[float, float] | float = 0.5,
    points: int = 25,
    count: int = 1,
    method: Method = "exact",
) -> WorkspaceMap:
    """Return natural frequencies of a Delta over a box of positions, `points` along each side.

    z may be one height: a horizontal slice.
    """
    if not isinstance(robot, DeltaRobot):
        raise SuppleError(f"{robot.name} is no Delta: a map over positions needs a platform")
    if points < 2:
        raise SuppleError(f"points is {points}: give 2 or more along each side")
    axes = [np.linspace(*side, points) for side in (x, y)]
    heights = np.array([float(z)]) if isinstance(z, int | float) else np.linspace(*z, points)
    P = np.stack(np.meshgrid(*axes, heights, indexing="ij"), axis=-1)
    flat = P.reshape(-1, 3)
    inside = delta.reachable(robot, flat)
    inside[inside] = _regular(robot, flat[inside])
    omega = np.full((len(flat), count), np.nan)
    if inside.any():
        omega[inside] = modes(robot, position=flat[inside], count=count, method=method).omega
    grid = omega.reshape(*P.shape[:-1], count)
    return WorkspaceMap(robot, axes[0], axes[1], heights, grid)


def _regular(robot: DeltaRobot, P: Array) -> NDArray[np.bool_]:
    if not len(P):
        return np.zeros(0, bool)
    leg, platform = delta.singularity(robot, P)
    clear = np.asarray((np.abs(leg) > delta.SINGULAR).all(axis=1))
    return np.asarray(clear & (np.abs(platform) > delta.SINGULAR))
