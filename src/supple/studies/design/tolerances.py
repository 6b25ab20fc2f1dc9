"""How sure is a frequency: its interval when parameters are known within tolerances.

A frequency may turn anywhere in the box of tolerances, and it has corners where two frequencies
meet, so its least and largest value are searched for over the whole box: among points that fill it
(its corners and faces among them, and those corners to which the derivatives at the middle point),
along lines through it, and from the best of all these by the bound formulation,

    maximise t  under  omega_j(x) >= t,  j = k, k+1, k+2     (the largest value of omega_k),

which has no corners where omega_k meets its neighbours; the least value likewise from below.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer, Natural
from ...arguments import checked, instance, one_of, whole_number
from ...budget import afford
from ...errors import SuppleError
from ...kernels.threads import one_thread
from ...robot import Robot
from ...structure import Joints
from ..vibration.modes import modes
from .pose_box import fill_unit_cube, lowest_places
from .sensitivities import sensitivities
from .varied import Varied
from .workers import Progress

__all__ = ["Tolerances", "tolerances"]

Array = NDArray[np.float64]
ROUNDING = 1e-9  # relative: changes of a frequency below it are none
CLOSE_MODES = 0.01  # relative distance below which differences may mix two modes
CORNERS_OF = 6  # parameters up to which every corner of the box is looked at
NEIGHBOURS = 2  # modes next to one that may meet it at its extreme
DIFFERENCE_STEP = 1e-3  # of a tolerance
MOST_STARTS = 4  # separate places from which an extreme of a frequency that turns is looked for


@dataclass(frozen=True, eq=False)
class Tolerances(Natural, Answer):
    """Intervals of natural frequencies that follow from tolerances.

    From `supple.tolerances`.

    Attributes
    ----------
    robot : Robot
        Nominal robot.
    omega : ndarray
        Nominal natural frequencies (count,), rad/s.
    low, high : ndarray
        Smallest and largest frequency found in the box, (count,), rad/s. Each belongs to a robot
        that was computed.
    spread : dict
        For each path the first-order effect (count,) of its tolerance alone, plus or minus, rad/s.
    monotonic : ndarray of bool
        Whether the frequency only rises or only falls with every parameter at all examined points,
        (count,); its extremes are then at two corners of the box. Found by a search, not a proof.
    points : int
        Number of robots and poses examined.
    """

    robot: Robot
    omega: Array
    low: Array
    high: Array
    spread: dict[str, Array]
    monotonic: NDArray[np.bool_]
    points: int = 0

    dims: ClassVar = {
        "omega": ("mode",),
        "low": ("mode",),
        "high": ("mode",),
        "frequency_hz": ("mode",),
        "monotonic": ("mode",),
    }
    table_rows: ClassVar = ("mode",)
    units: ClassVar = {"omega": "rad/s", "low": "rad/s", "high": "rad/s", "frequency_hz": "Hz"}


Within = Annotated[
    Mapping[str, float],
    instance(Mapping, "tolerances such as {'links.link1.section.wall': 1e-4}"),
]


@checked
@one_thread
def tolerances(
    robot: Robot,
    within: Within,
    theta: ArrayLike | None = None,
    count: Annotated[int, whole_number(1, 1000)] = 6,
    *,
    position: ArrayLike | None = None,
    joints: Annotated[Joints, one_of("locked", "free")] = "locked",
    progress: bool | None = None,
) -> Tolerances:
    """Intervals of natural frequencies that follow from tolerances of parameters.

    Parameters
    ----------
    robot : Robot
        Nominal robot: the middle of the box of tolerances.
    within : mapping
        Tolerance (plus or minus) of each path of the robot file (``links.link1.section.wall``,
        ``payload.mass``) or coordinate (``theta.link2``), in its own unit. Several paths between
        commas vary together.
    theta, position : array_like, optional
        Pose of the robot: joint coordinates (joints,), or position (3,) of a Delta's platform.
        Default: zero.
    count : int
        Number of modes.
    joints : {"locked", "free"}
        Whether the motors hold the joints.
    progress : bool, optional
        Show a progress line. Default: only if stderr is a terminal.

    Returns
    -------
    Tolerances
        Smallest and largest value of every frequency, and the effect of each tolerance alone.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> found = supple.tolerances(robot, {"links.link1.section.wall": 0.0005}, count=1)
    >>> found.low < found.omega, found.omega < found.high
    (array([ True]), array([ True]))
    """
    for key, value in within.items():
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or not 0 < value <= 1e30:
            raise SuppleError(
                f"within '{key}' is {value!r:.40}: give a positive number up to 1e30, its +-"
            )
    if not within:
        raise SuppleError("within is empty: give tolerances, such as {'payload.mass': 0.1}")
    varied = Varied.of(robot, tuple(within), theta, position)
    box = _Box(varied, dict(within), count, joints)
    middle = np.zeros(len(within))
    slopes = box.exact_slopes(middle)
    meter = Progress(1, "robots", progress, announces=False)

    # Fill the box, and follow lines through it
    points = np.vstack([box.filling_points(), box.predicted_corners(slopes)])
    lines = box.lines(points)
    began = time.process_time()
    box.omega(points[:1])
    each = time.process_time() - began
    foreseen = len(
        np.unique(box.parameters_of(np.vstack([points, lines.reshape(-1, box.n)])), axis=0)
    )
    foreseen += count * 40 * box.n if varied.parameter_keys else 0
    meter.total = foreseen
    afford(
        f"tolerances of {box.n} parameters, about {foreseen:,} robots",
        0.0,
        each * foreseen,
        "give fewer parameters or modes",
    )
    box.meter = meter
    try:
        values = box.omega(points)
        along = box.omega(lines.reshape(-1, box.n)).reshape(*lines.shape[:-1], -1)
        monotonic = _never_turns(along)[:count]
        seen = np.vstack([points, lines.reshape(-1, box.n)])
        values = np.vstack([values, along.reshape(-1, values.shape[1])])
        low = np.empty(count)
        high = np.empty(count)
        for mode in range(count):
            turns = not bool(monotonic[mode])
            low[mode] = box.extreme(mode, -1.0, seen, values, turns)
            high[mode] = box.extreme(mode, 1.0, seen, values, turns)
    finally:
        meter.end()
    omega = box.omega(middle[None])[0, :count]
    spread = {
        key: np.where(np.abs(slope) > ROUNDING * omega, np.abs(slope), 0.0)
        for key, slope in zip(within, slopes, strict=True)
    }
    return Tolerances(robot, omega, low, high, spread, monotonic, box.asked)


def _never_turns(along: Array) -> NDArray[np.bool_]:
    """Which modes rise only, or fall only, with every parameter, (modes,).

    along: (parameters, lines, places, modes), frequencies along lines parallel to the axes.
    """
    change = np.diff(along, axis=2)
    rounding = ROUNDING * along[:, :, :-1]
    rises = (change > rounding).any(axis=(1, 2))  # (parameters, modes)
    falls = (change < -rounding).any(axis=(1, 2))
    return np.asarray(~(rises & falls).any(axis=0))


class _Box:
    """What may be off; x (n,) is each parameter's part of its tolerance, from -1 to 1."""

    def __init__(
        self, varied: Varied, within: dict[str, float], count: int, joints: Joints
    ) -> None:
        self.varied = varied
        self.within = within
        self.count = count
        self.joints: Joints = joints
        self.n = len(within)
        self.asked = 0
        self.meter = Progress(1, "robots", False)
        self.middle = np.array([varied.value(key) for key in within])
        self.off = np.array(list(within.values()))
        keys = list(within)
        self.parameters = [keys.index(key) for key in varied.parameter_keys]
        self.coordinates = [keys.index(key) for key in varied.coordinate_keys]

    def parameters_of(self, points: Array) -> Array:
        """The part of points that changes the robot itself, (N, p)."""
        return np.asarray(points[:, self.parameters])

    def omega(self, points: Array) -> Array:
        """Natural frequencies at points (N, n), (N, count + NEIGHBOURS) rad/s.

        Points that differ by the pose alone are asked together.
        """
        robots, which = np.unique(self.parameters_of(points), axis=0, return_inverse=True)
        found = np.full((len(points), self.count + NEIGHBOURS), np.nan)
        keys = list(self.within)
        for k in range(len(robots)):
            rows = np.flatnonzero(which.ravel() == k)
            values = self.middle + points[rows] * self.off
            robot = self.varied.robot_at(dict(zip(keys, values[0].tolist(), strict=True)))
            place: dict[str, Any] = self.varied.configurations_at(
                dict(zip(keys, values.T, strict=True)), len(rows)
            )
            if len(rows) == 1:  # asked alone, a pose that there is not is told with its reason
                place = {key: spot[0] for key, spot in place.items()}
            answer = modes(robot, **place, count=self.count + NEIGHBOURS, joints=self.joints)
            if not np.all(answer.valid):
                reason = next(text for text in np.ravel(answer.reason) if text)
                raise SuppleError(
                    f"within these tolerances there are poses without robot: {reason}"
                )
            omega = np.atleast_2d(answer.omega)
            found[rows, : omega.shape[1]] = omega
            self.meter.step(1)
        self.asked += len(points)
        return found

    def exact_slopes(self, x: Array) -> Array:
        """Derivatives of the first `count` frequencies by x, (n, count), from the stiffness."""
        keys = list(self.within)
        values = dict(zip(keys, (self.middle + x * self.off).tolist(), strict=True))
        place = self.varied.configurations_at({key: np.array([v]) for key, v in values.items()}, 1)
        found = sensitivities(
            self.varied.robot_at(values),
            **{key: spot[0] for key, spot in place.items()},
            parameters=keys,
            count=self.count,
            joints=self.joints,
        )
        return np.array([found.derivatives[key] * off for key, off in self.within.items()])

    def filling_points(self) -> Array:
        """Points (N, n) that fill the box; of every robot several poses, which cost little."""
        p = len(self.parameters)
        c = len(self.coordinates)
        if not p:
            return 2 * fill_unit_cube(c, 11) - 1
        robots = 2 * fill_unit_cube(p, 6, CORNERS_OF) - 1
        if not c:
            return robots
        poses = 2 * fill_unit_cube(c, 7) - 1
        points = np.empty((len(robots), len(poses), self.n))
        points[:, :, self.parameters] = robots[:, None]
        points[:, :, self.coordinates] = poses[None]
        return points.reshape(-1, self.n)

    def predicted_corners(self, slopes: Array) -> Array:
        """The corners (2 count, n) that are extreme if frequencies go on as they begin."""
        signs = np.sign(slopes).T
        signs[signs == 0] = 1.0
        return np.vstack([signs, -signs])

    def lines(self, points: Array) -> Array:
        """Points (n, lines, places, n) along lines parallel to every axis, through some points."""
        places = 9 if self.parameters else 33
        many = max(4, 24 // self.n) if self.parameters else 48
        through = np.vstack(
            [np.zeros((1, self.n)), points[-many // 2 :], points[:: len(points) // many + 1]]
        )
        lines = np.empty((self.n, len(through), places, self.n))
        for axis in range(self.n):
            lines[axis] = through[:, None]
            lines[axis, :, :, axis] = np.linspace(-1, 1, places)
        return lines

    def extreme(self, mode: int, side: float, points: Array, values: Array, turns: bool) -> float:
        """The largest (side 1) or least (side -1) value of one frequency, rad/s.

        It is looked for from a second place too where the frequency turns inside the box.
        """
        sampled = -side * values[:, mode]
        best = float(sampled.min())
        if not self.parameters:  # poses alone: many at a time, no derivatives needed

            def evaluate(unit: Array) -> Array:
                return -side * self.omega(2 * unit - 1)[:, mode]

            order = np.argsort(sampled, kind="stable")[:200]
            _, lowest = lowest_places(evaluate, (points[order] + 1) / 2, places=4)
            return -side * min(best, float(lowest.min()))
        starts = [points[int(np.argmin(sampled))]]
        wanted = MOST_STARTS if turns else 1
        for index in np.argsort(sampled, kind="stable")[:2000]:
            if len(starts) == wanted:
                break
            if min(np.abs(points[index] - other).max() for other in starts) > 0.4:
                starts.append(points[index])
        if turns:  # from a start the poses of its robot are searched first, which costs little
            starts = [self.best_pose(mode, side, start) for start in starts]
        for start in starts:
            value, place = self.descend(mode, side, start)
            if value < best:
                best = value
                starts[0] = place
        if turns:  # where modes meet derivatives mislead: steps that need none go on

            def evaluate_all(unit: Array) -> Array:
                return -side * self.omega(2 * unit - 1)[:, mode]

            _, lowest = lowest_places(evaluate_all, (starts[0][None] + 1) / 2, last_step=1e-5)
            best = min(best, float(lowest.min()))
        return -side * best

    def best_pose(self, mode: int, side: float, start: Array) -> Array:
        """The point with the parameters of a start whose pose is the most extreme one."""
        if not self.coordinates:
            return start

        def at_poses(unit: Array) -> Array:
            points = np.tile(start, (len(unit), 1))
            points[:, self.coordinates] = 2 * unit - 1
            return points

        def evaluate(unit: Array) -> Array:
            return np.asarray(-side * self.omega(at_poses(unit))[:, mode])

        filling = fill_unit_cube(len(self.coordinates), 9)
        own = (start[self.coordinates][None] + 1) / 2
        places, _ = lowest_places(evaluate, np.vstack([own, filling]), last_step=1e-5)
        return np.asarray(at_poses(places[:1])[0])

    def descend(self, mode: int, side: float, start: Array) -> tuple[float, Array]:
        """The least of -side omega_mode from a start, and where, by the bound formulation."""
        from scipy.optimize import minimize

        among = np.arange(mode, mode + NEIGHBOURS + 1)
        if side < 0:
            among = np.arange(max(0, mode - NEIGHBOURS), mode + 1)
        lowest = np.inf
        place = start
        cache: dict[bytes, Array] = {}

        def omega(x: Array) -> Array:
            nonlocal lowest, place
            if x.tobytes() not in cache:
                inside = np.clip(x, -1.0, 1.0)
                cache[x.tobytes()] = self.omega(inside[None])[0]
                value = -side * float(cache[x.tobytes()][mode])
                if value < lowest:
                    lowest = value
                    place = inside
            return cache[x.tobytes()]

        scale = float(omega(start)[mode])
        among = among[np.isfinite(omega(start)[among])]

        def room(z: Array) -> Array:
            return np.asarray(side * (omega(z[:-1])[among] / scale - z[-1]))

        def room_slopes(z: Array) -> Array:
            table = self.slopes(z[:-1], among, omega) / scale  # (n, rows)
            return np.asarray(side * np.column_stack([table.T, -np.ones(len(among))]))

        minimize(
            lambda z: -side * z[-1],
            np.append(start, 1.0),
            jac=lambda z: np.append(np.zeros(self.n), -side),
            bounds=[(-1, 1)] * self.n + [(None, None)],
            constraints={"type": "ineq", "fun": room, "jac": room_slopes},
            method="SLSQP",
            options={"ftol": 1e-10, "maxiter": 50},
        )
        return lowest, place

    def slopes(self, x: Array, among: NDArray[np.int64], omega: Any) -> Array:
        """Derivatives (n, rows) of some frequencies by x: differences, exact where modes meet."""
        here = omega(x)
        gaps = np.diff(here[: among[-1] + 2]) / here[1 : among[-1] + 2]
        gaps_around = gaps[max(0, among[0] - 1) :]
        if gaps_around.min(initial=1.0) < CLOSE_MODES:
            wide = _Box(self.varied, self.within, self.count + NEIGHBOURS, self.joints)
            return wide.exact_slopes(x)[:, among]
        table = np.empty((self.n, len(among)))
        for axis in range(self.n):
            step = np.zeros(self.n)
            step[axis] = DIFFERENCE_STEP if x[axis] < 0 else -DIFFERENCE_STEP
            once = self.omega(np.array([x + step, x + 2 * step]))
            table[axis] = (4 * once[0] - once[1] - 3 * here)[among] / (2 * step[axis])
        return table
