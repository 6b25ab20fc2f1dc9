"""Where does a robot vibrate low: natural frequencies over its workspace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...architectures.base import Coordinate
from ...architectures.kinds import architecture_of
from ...arguments import as_list, checked, reals, whole_number
from ...errors import SuppleError
from ...robot import Robot
from .modes import Method, modes

__all__ = ["FrequencyMap", "JointMap", "WorkspaceMap", "workspace"]

Array = NDArray[np.float64]
Range = tuple[float, float] | float
MAX_GRID_POINTS = 5_000_000  # grid points at which memory, not time, is the limit
POSES_PER_BATCH = 4000  # poses asked at once, so that progress can be told


@dataclass(frozen=True)
class FrequencyMap(Answer, ABC):
    """Natural frequencies on a grid.

    Attributes
    ----------
    omega
        (.., count), rad/s, an axis of the grid each; NaN where the robot cannot be.
    """

    robot: Robot
    omega: Array

    units: ClassVar = {"omega": "rad/s"}
    asked_by: ClassVar[str] = "theta"  # the word by which its poses are given

    @property
    @abstractmethod
    def axes(self) -> dict[str, Array]:
        """The axes of the grid by name, in order."""

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """What its axes are."""
        return architecture_of(self.robot).coordinates()

    @property
    def table_rows(self) -> tuple[str, ...]:  # type: ignore[override]
        """A table has a row for each place of the grid."""
        return tuple(self.axes)

    @property
    def reachable(self) -> NDArray[np.bool_]:
        """Where the robot can be, shape of the grid."""
        return np.asarray(np.isfinite(self.omega[..., 0]))

    def below(self, bound: float) -> Array:
        """Return the grid points, (k, axes), whose lowest frequency is below a bound, rad/s."""
        with np.errstate(invalid="ignore"):
            low = self.omega[..., 0] < bound
        return self.points()[low]

    def share_below(self, bound: float) -> float:
        """Return which part of the reachable grid points is below a bound, rad/s."""
        return len(self.below(bound)) / max(1, int(self.reachable.sum()))

    @property
    def lowest(self) -> tuple[Array, float]:
        """The grid point with the lowest frequency, (axes,), and that frequency, rad/s."""
        return self._extreme(1.0)

    @property
    def highest(self) -> tuple[Array, float]:
        """The grid point whose lowest frequency is highest, (axes,), and that one, rad/s."""
        return self._extreme(-1.0)

    def _extreme(self, sign: float) -> tuple[Array, float]:
        if not self.reachable.any():
            raise SuppleError("no point of this map can be reached: choose another box")
        flat = np.where(self.reachable, sign * self.omega[..., 0], np.inf)
        place = np.unravel_index(int(flat.argmin()), flat.shape)
        return self.points()[place], float(self.omega[place][0])

    def points(self) -> Array:
        """Return the grid points, (.., axes)."""
        return np.stack(np.meshgrid(*self.axes.values(), indexing="ij"), axis=-1)


@dataclass(frozen=True)
class WorkspaceMap(FrequencyMap):
    """Natural frequencies on a grid of positions of a platform or a mechanism's tip.

    From `supple.workspace`.

    Attributes
    ----------
    robot : Robot
        The robot.
    omega : ndarray
        Natural frequencies (nx, ny, nz, count), rad/s. NaN where the position is out of reach,
        beyond the joint limits, or singular.
    x, y, z : ndarray
        Axes of the grid, m.
    """

    x: Array
    y: Array
    z: Array
    asked_by: ClassVar[str] = "position"

    @property
    def axes(self) -> dict[str, Array]:
        """x, y and z, m."""
        return {"x": self.x, "y": self.y, "z": self.z}

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """x, y and z of platform or tip."""
        kind = architecture_of(self.robot)
        if kind.asked_by == self.asked_by:
            return kind.coordinates()
        ends = {key: (float(axis[0]), float(axis[-1])) for key, axis in self.axes.items()}
        return tuple(Coordinate(f"tip {key}", "m", *ends[key], key=key) for key in ends)


@dataclass(frozen=True)
class JointMap(FrequencyMap):
    """Natural frequencies of an arm or mechanism on a grid of joint coordinates.

    From `supple.workspace`.

    Attributes
    ----------
    robot : Robot
        The robot.
    omega : ndarray
        Natural frequencies (n1, n2, .., count), rad/s.
    theta : tuple of ndarray
        Axes of the grid, one per joint, rad or m.
    """

    theta: tuple[Array, ...]

    @property
    def axes(self) -> dict[str, Array]:
        """Joint coordinates by the names of their links, rad or m."""
        names = [c.key for c in architecture_of(self.robot).coordinates()]
        return dict(zip(names, self.theta, strict=True))


@checked
def workspace(
    robot: Robot,
    x: Annotated[Range, reals] | None = None,
    y: Annotated[Range, reals] | None = None,
    z: Annotated[Range, reals] | None = None,
    points: Annotated[int, whole_number(2, MAX_GRID_POINTS)] = 25,
    count: Annotated[int, whole_number(1, 10_000)] = 1,
    method: Method = "exact",
    *,
    joints: Sequence[Range] | None = None,
    progress: bool | None = None,
) -> WorkspaceMap | JointMap:
    """Natural frequencies on a grid over the workspace.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    x, y, z : float or (low, high), optional
        Box of positions of a Delta's platform, m. Default: -0.3 to 0.3 in x and y, at z = 0.5. One
        value instead of a range gives a slice. Also for a mechanism that has as many motors as its
        tip has coordinates.
    points : int
        Grid points along each side.
    count : int
        Number of natural frequencies at each point.
    method : {"exact", "elements", "assumed"}
        How frequencies are computed, as by `modes`.
    joints : sequence of float or (low, high), optional
        Range, or one value, of each joint coordinate. Default: the joint limits; without limits a
        full turn, or a tenth to the whole of the length of a prismatic link.
    progress : bool, optional
        Show a progress bar. Default: only if stderr is a terminal and the grid is large.

    Returns
    -------
    JointMap or WorkspaceMap
        A map over joint coordinates, or over positions.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> found = supple.workspace(robot, points=5, joints=[0, (-1, 1), (-1, 1)])
    >>> found.omega.shape
    (1, 5, 5, 1)
    """
    architecture = architecture_of(robot)
    given = {word: side for word, side in zip("xyz", (x, y, z), strict=True) if side is not None}
    usual: dict[str, Range] = {"z": 0.0} if architecture.planar else {}
    if architecture.asked_by == "position":
        usual = {"x": (-0.3, 0.3), "y": (-0.3, 0.3), "z": 0.5}
    if architecture.asked_by == "position" or (given and architecture.takes_position):
        box = usual | given
        if missing := [word for word in "xyz" if word not in box]:
            are = "is" if len(missing) == 1 else "are"
            sentence = f"{' and '.join(missing)} of {robot.name} {are} missing: give"
            raise SuppleError(f"{sentence} a range (from, to), or one value")
        if joints is not None:
            raise SuppleError(f"{robot.name}: this map is over x, y and z, not joints")
        axes = [_axis(word, box[word], points) for word in "xyz"]
        found = _frequencies_on_grid(robot, "position", axes, count, method, progress)
        return WorkspaceMap(robot, found, *axes)
    each = architecture.coordinates()
    if not each:
        raise SuppleError(f"{robot.name} has no joint that moves: there is nothing to map")
    if given:
        raise SuppleError(
            f"{', '.join(given)} of {robot.name}: arms are mapped over joints=, as in "
            "joints=[(-1, 1), 0.5]; x, y and z are for platforms, and for the tip of a mechanism"
        )
    sides: list[Range] = [c.whole for c in each] if joints is None else as_list("joints", joints)
    if len(sides) != len(each):
        raise SuppleError(f"joints has {len(sides)} entries: {robot.name} has {len(each)}")
    named = zip((c.key for c in each), sides, strict=True)
    axes = [_axis(f"joints, {name}", side, points) for name, side in named]
    return JointMap(
        robot, _frequencies_on_grid(robot, "theta", axes, count, method, progress), tuple(axes)
    )


def _axis(word: str, side: Range, points: int) -> Array:
    """One side of the grid: a range, or one value."""
    ends = np.atleast_1d(reals(word, side, "give a range (from, to), or one value"))
    if ends.shape not in ((1,), (2,)) or not np.isfinite(ends).all():
        raise SuppleError(f"{word} is {side!r}: give a range (from, to), or one value")
    if len(ends) == 1 or ends[0] == ends[1]:
        return ends[:1]
    return np.linspace(ends[0], ends[1], points)


def _frequencies_on_grid(
    robot: Robot, word: str, axes: list[Array], count: int, method: Method, progress: bool | None
) -> Array:
    """omega (.., count) on the grid, its poses given by a word."""
    shape = tuple(len(axis) for axis in axes)
    total = int(np.prod([float(n) for n in shape]))
    if total > MAX_GRID_POINTS:
        raise SuppleError(
            f"the grid has {total:,} points: give fewer points, or hold a coordinate at one value"
        )
    flat = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    architecture = architecture_of(robot)
    inside = architecture.reachable(flat, word)
    omega = np.full((len(flat), count), np.nan)
    places = np.flatnonzero(inside)
    batches = [places[k : k + POSES_PER_BATCH] for k in range(0, len(places), POSES_PER_BATCH)]
    for batch in _with_progress(batches, len(places), progress):
        poses: dict[str, Any] = {word: flat[batch]}
        omega[batch] = modes(robot, count=count, method=method, **poses).omega
    return omega.reshape(*shape, count)


def _with_progress(batches: list[Any], total: int, progress: bool | None) -> Any:
    """The batches, with a progress bar on the way when one is wanted."""
    if not (len(batches) > 2 if progress is None else progress):
        yield from batches
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(transient=True, console=Console(stderr=True)) as bar:
        task = bar.add_task("poses", total=total)
        for batch in batches:
            yield batch
            bar.update(task, advance=len(batch))
