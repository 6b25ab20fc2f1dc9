"""The worst pose of a box: a search over joint coordinates, many poses at a time.

Frequencies of a thousand poses cost a few milliseconds when they are asked together, so the box is
filled with points first, its corners, edges and faces among them, and from the best of these
separate places a pattern search goes down: steps along every axis and along random directions, all
places and directions in one batch, halved where none leads lower.

That is a search and no proof; `stopband` proves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import reals
from ...errors import SuppleError
from .varied import Varied

__all__ = ["PoseBox", "fill_unit_cube", "lowest_places", "read_box"]

Array = NDArray[np.float64]
PLACES = 6  # separate places from which the search goes down
CORNER_DIMENSIONS = 10  # up to so many all corners are among the points
FIRST_STEP = 0.05  # of the box
LAST_STEP = 1e-8


def read_box(name: str, box: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return the edges of a box, checked: finite, the lower one first."""
    edges_by_key: dict[str, tuple[float, float]] = {}
    for key, given in box.items():
        edges = reals(f"{name} '{key}'", given).ravel()
        if len(edges) != 2 or not np.isfinite(edges).all() or not edges[0] < edges[1]:
            raise SuppleError(f"{name} '{key}' is {given!r:.60}: give (low, high)")
        edges_by_key[key] = (float(edges[0]), float(edges[1]))
    return edges_by_key


def fill_unit_cube(dimensions: int, count_base2: int, corners_of: int = CORNER_DIMENSIONS) -> Array:
    """Return points (n, dimensions) that fill the unit cube, its corners, edges and faces too.

    Half of the points are inside; the others are drawn from a larger cube and clipped, so that
    they lie on the boundary, where extremes often are. All corners are among them in up to
    `corners_of` dimensions.
    """
    from scipy.stats import qmc

    inside = qmc.Sobol(dimensions, seed=0).random_base2(count_base2)
    on_boundary = np.clip(1.5 * inside[: len(inside) // 2] - 0.25, 0.0, 1.0)
    middle = np.full((1, dimensions), 0.5)
    parts = [middle, inside, on_boundary]
    if dimensions <= corners_of:
        parts.append(np.array(list(product((0.0, 1.0), repeat=dimensions))))
    return np.vstack(parts)


def lowest_places(
    evaluate: Callable[[Array], Array],
    points: Array,
    places: int = PLACES,
    last_step: float = LAST_STEP,
) -> tuple[Array, Array]:
    """Return local minima in the unit cube, (k, d), and their values (k,), lowest first.

    Parameters
    ----------
    evaluate : callable
        Values (n,) of points (n, d); infinite where there is none.
    points : array
        (n, d) where to look first.
    places : int
        From how many separate points the search goes down.
    last_step : float
        Step at which it ends.
    """
    values = evaluate(points)
    dimensions = points.shape[1]

    # Starts: the best points that are not next to a better one
    apart = 0.5 * len(points) ** (-1 / dimensions)
    starts: list[int] = []
    for index in np.argsort(values, kind="stable").tolist():
        if not np.isfinite(values[index]) or len(starts) == places:
            break
        distances = np.abs(points[starts] - points[index]).max(axis=1, initial=0.0)
        if not starts or distances.min() > apart:
            starts.append(index)
    if not starts:
        return np.zeros((0, dimensions)), np.zeros(0)

    here = points[starts].copy()
    lowest = values[starts].copy()
    step = np.full(len(here), FIRST_STEP)
    rng = np.random.default_rng(0)
    while (step > last_step).any():
        active = np.flatnonzero(step > last_step)
        random_directions = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0]
        one_way = np.vstack([np.eye(dimensions), random_directions])
        directions = np.vstack([one_way, -one_way])  # (m, d)
        moved = here[active, None] + step[active, None, None] * directions
        tried = np.clip(moved, 0.0, 1.0)
        found = evaluate(tried.reshape(-1, dimensions)).reshape(len(active), -1)
        best = np.argmin(found, axis=1)
        rows = np.arange(len(active))
        better = found[rows, best] < lowest[active]
        here[active[better]] = tried[rows[better], best[better]]
        lowest[active[better]] = found[rows[better], best[better]]
        step[active[better]] *= 1.5
        step[active[~better]] *= 0.5
        np.minimum(step, 0.25, out=step)
    order = np.argsort(lowest, kind="stable")
    return here[order], lowest[order]


@dataclass(frozen=True)
class PoseBox:
    """A box of joint coordinates, or of positions, around one or several poses.

    Attributes
    ----------
    around
        (P, n), poses whose other coordinates hold; those named by the box are replaced.
    varied
        The robot, and the coordinates that vary.
    edges
        Of each coordinate, (low, high).
    """

    around: Array
    varied: Varied
    edges: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, varied: Varied, around: Array, edges: Mapping[str, tuple[float, float]]) -> PoseBox:
        """Check that the box is one of poses."""
        if varied.parameter_keys:
            raise SuppleError(
                f"over has '{varied.parameter_keys[0]}': it is a box of poses, as theta.link2"
            )
        return cls(np.atleast_2d(around), varied, edges)

    @property
    def columns(self) -> list[int]:
        """Which coordinates the box is of."""
        return self.varied.columns(tuple(self.edges))

    def poses(self, unit_points: Array, pose: Array) -> Array:
        """Return poses (n, joints): points of the unit cube laid into the box about one pose."""
        low, high = np.array(list(self.edges.values())).T
        placed = np.tile(pose, (len(unit_points), 1))
        placed[:, self.columns] = low + unit_points * (high - low)
        return placed

    def worst(self, evaluate: Callable[[Array], Array], count_base2: int = 11) -> Array:
        """Return the poses (k, joints) where a value is locally least, the least one first.

        Parameters
        ----------
        evaluate : callable
            Values (n,) of poses (n, joints); infinite where the robot cannot stand.
        count_base2 : int
            Two to this power points are looked at first.
        """
        points = fill_unit_cube(len(self.edges), count_base2)
        poses: list[Array] = []
        values: list[float] = []
        for pose in self.around:

            def at_points(unit_points: Array, about: Array = pose) -> Array:
                return evaluate(self.poses(unit_points, about))

            places, lowest = lowest_places(at_points, points)
            poses += list(self.poses(places, pose))
            values += lowest.tolist()
        if not poses:
            raise SuppleError("over: the robot can stand nowhere in this box: give another one")
        return np.array(poses)[np.argsort(values, kind="stable")]
