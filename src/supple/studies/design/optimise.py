"""Which dimensions are best: the highest lowest frequency, or the least mass that reaches one.

The lowest of several frequencies has corners where two of them meet. The bound formulation has
none: over z = [dimensions x scaled to 0..1, bound t],

    maximise t  under  omega_k(x, pose) >= t                 (the lowest frequency, raised)
    minimise t  under  -t <= omega_k(x, pose)/target - 1 <= t     (a frequency in its place)
    minimise t  under  mass(x) <= t, omega_k(x, pose) >= lowest   (least mass for a frequency)

for the first few modes of every pose, with limits on mass, sag and stress and bounds on every
dimension. SciPy's SLSQP solves it, from the robot as it is and from the best of a sample of other
designs. Over a box of poses the set of poses is exchanged: it begins with the worst pose of the
box, and the worst pose of every new design joins it until none is worse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import checked, instance, number, one_of, reals
from ...errors import SuppleError
from ...kernels.threads import one_thread
from ...robot import Robot
from ...structure import structure_of
from ..check import stresses
from ..configuration import where
from ..moving_mass import moving_mass
from ..statics import statics
from ..vibration.modes import modes
from .pose_box import PoseBox, read_box
from .sensitivities import sensitivities
from .varied import Varied, tied_paths
from .workers import Progress

__all__ = ["Optimum", "mass_of", "optimise"]

Array = NDArray[np.float64]
MAX_EXCHANGES = 20  # of the set of poses
BOUNDED_MODES = 3  # of every pose that are kept above the bound: more than may meet at the lowest
LARGEST = 1e30  # of a number in a robot file
OTHER_STARTS = 2  # designs of a sample from which the search begins once more
DIFFERENCE_STEP = 1e-4  # of a scaled dimension
CLOSE_MODES = 0.01  # relative distance below which differences may mix two modes
SAME_FREQUENCY = 1e-6  # relative: a pose that is worse by less does not join
KEPT_LIMIT = 1e-5  # relative: by so much a limit may be passed, from rounding


@dataclass(frozen=True, eq=False)
class Optimum(Answer):
    """Best dimensions found by `supple.optimise`.

    Attributes
    ----------
    robot : Robot
        The robot with these dimensions.
    values : dict
        Values of the varied paths.
    lowest_hz, start_hz : float
        Lowest frequency over the poses, Hz, at the optimum and at the start. With `place`, the
        placed frequency where it is farthest from its target. Over a box of poses, those of the
        whole box, each at its own worst pose.
    mass, start_mass : float
        Mass in kg of everything the joints move (and of varied links), without payload.
    sag : float
        Largest deflection of the tip over the poses, m.
    stress : float
        Highest von Mises stress under gravity over the poses, Pa, of links whose section allows it;
        zero where none does.
    active : tuple of str
        The limits that are active, in words.
    kkt : float
        Norm of the gradient that the active limits do not balance, relative to the objective's own:
        zero at an optimum.
    elements_hz : float
        The same frequency computed by finite elements, Hz.
    evaluations : int
        Number of evaluations of the robot.
    poses : ndarray
        Poses (P, joints) of the design; `active` counts them from 1.
    worst : ndarray
        The decisive pose (joints,).
    goal : str
        "lowest", "place" or "mass".
    """

    robot: Robot
    values: dict[str, float]
    lowest_hz: float
    start_hz: float
    mass: float
    start_mass: float
    sag: float
    stress: float
    active: tuple[str, ...]
    kkt: float
    elements_hz: float
    evaluations: int
    poses: Array
    worst: Array
    goal: str = "lowest"

    @property
    def gain(self) -> float:
        """How much higher the lowest frequency is, as a fraction."""
        return self.lowest_hz / self.start_hz - 1


def mass_of(robot: Robot, theta: ArrayLike, also: Sequence[str] = ()) -> float:
    """Return the mass of what joints move, without the payload, kg; `also` names further links."""
    bare = robot.with_("payload", None) if robot.payload is not None else robot
    structure = structure_of(bare, np.atleast_2d(np.asarray(theta, float)))
    return moving_mass(bare, structure, also)


Dimensions = Annotated[
    Mapping[Any, tuple[float, float]],
    instance(Mapping, "ranges such as {'links.link1.section.wall': (0.004, 0.02)}"),
]
Box = Annotated[
    Mapping[str, tuple[float, float]],
    instance(Mapping, "ranges such as {'theta.link2': (-2, 2)}"),
]


@checked
@one_thread
def optimise(
    robot: Robot,
    vary: Dimensions,
    maximise: Annotated[str, one_of("lowest")] | None = None,
    *,
    minimise: Annotated[str, one_of("mass")] | None = None,
    at: ArrayLike | None = None,
    over: Box | None = None,
    place: Annotated[tuple[int, float], reals] | None = None,
    lowest: Annotated[float, number(0, LARGEST, above=True)] | None = None,
    mass: Annotated[float, number(0, above=True)] | None = None,
    sag: Annotated[float, number(0, above=True)] | None = None,
    stress: Annotated[float, number(0, above=True)] | None = None,
    tolerance: Annotated[float, number(0, 0.1, above=True)] = 1e-7,
    progress: bool | None = None,
) -> Optimum:
    """Find the dimensions with the highest lowest frequency, or the lightest stiff-enough design.

    Parameters
    ----------
    robot : Robot
        Where the search begins; its own values are clipped to the bounds.
    vary : mapping
        Paths of the robot file and their bounds, ``{"links.link1.section.wall": (low, high)}``.
        Several paths in a tuple, or in one text between commas, get one common value. A star stands
        for every entry, ``"links.boom.stations.*.section.wall"``.
    maximise : "lowest", optional
        Raise the lowest frequency over all poses. This is the default.
    minimise : "mass", optional
        Instead find the smallest mass whose lowest frequency over all poses is at least `lowest`.
    at : array_like, optional
        Poses, (joints,) or (P, joints); positions of a Delta's platform. Default: zero.
    over : mapping, optional
        A box of poses, ``{"theta.link2": (-2, 2)}``, around each pose of `at`; its coordinates
        replace those of `at`. The worst pose is found by about 3,000 points and a descent from the
        worst of them. This is a search, not a proof; `stopband` proves.
    place : (int, float), optional
        (mode, Hz): instead bring that mode of every pose as close as possible to a frequency.
    lowest : float, optional
        Required lowest frequency in Hz, with ``minimise="mass"``.
    mass : float, optional
        Largest mass in kg of everything the joints move, without payload. Links bolted to the base
        count if one of their own dimensions is varied; a foundation never counts.
    sag : float, optional
        Largest deflection of the tip under gravity in any pose, m.
    stress : float, optional
        Largest von Mises stress in any link under gravity in any pose, Pa.
    tolerance : float
        Relative tolerance of the frequency or mass.
    progress : bool, optional
        Show a progress line. Default: only if stderr is a terminal.

    Returns
    -------
    Optimum
        The robot with the best dimensions, and the limits that are active.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> best = supple.optimise(robot, {"links.link1.section.wall": (0.004, 0.02)}, mass=150.0)
    >>> round(best.start_hz, 3), round(best.lowest_hz, 3)
    (4.865, 5.539)
    """
    goal = _goal_of(maximise, minimise, place, lowest)
    limits = {"mass": mass, "sag": sag, "stress": stress}
    problem = _DesignProblem(robot, vary, at, over or {}, limits, goal)
    problem.progress = Progress(400, "designs", progress)
    try:
        best = problem.solve(tolerance)
    except _OutOfReachError:
        reach = _DesignProblem(robot, vary, at, over or {}, limits, _RaisedLowest())
        highest = reach.optimum(reach.solve(tolerance)).lowest_hz
        raise SuppleError(
            f"no design in these bounds reaches {lowest:g} Hz: the highest lowest frequency that "
            f"they have is {highest:.4g} Hz; widen the bounds or ask for less"
        ) from None
    finally:
        problem.progress.end()
    return problem.optimum(best)


class _OutOfReachError(SuppleError):
    """No design has the frequency that is required."""


# What is wanted of the frequencies -------------------------------------------------------------


class _Goal(ABC):
    """What is wanted of the frequencies omega (P, modes), rad/s, and the bound t."""

    name: str
    sign: float  # t is minimised (+1) or maximised (-1)
    modes: int = BOUNDED_MODES
    scale: float = 1.0  # rad/s, of t

    @abstractmethod
    def margin(self, omega: Array) -> Array:
        """How good each pose is, (..): the least of them decides."""

    @abstractmethod
    def rows(self, omega: Array, t: float) -> Array:
        """Constraints >= 0 of every pose, (P * rows per pose,)."""

    @abstractmethod
    def slopes(self, omega_slopes: Array) -> Array:
        """Their derivatives (rows per pose, n + 1) by [x, t]; of omega (modes, n) at one pose."""

    @abstractmethod
    def best_bound(self, omega: Array, mass_ratio: float) -> float:
        """The best t of a design."""

    def deciding(self, omega: Array) -> float:
        """The frequency that decides among poses, rad/s."""
        return float(omega[int(np.argmin(self.margin(omega)))].min())

    @property
    def numbers(self) -> Sequence[int]:
        """The number of the mode of each row of a pose."""
        return range(1, self.modes + 1)


class _RaisedLowest(_Goal):
    """Maximise t under omega_k / scale >= t."""

    name = "lowest"
    sign = -1.0

    def margin(self, omega: Array) -> Array:
        return np.asarray(omega.min(axis=-1) / self.scale)

    def rows(self, omega: Array, t: float) -> Array:
        return (omega / self.scale - t).ravel()

    def slopes(self, omega_slopes: Array) -> Array:
        return np.column_stack([omega_slopes / self.scale, -np.ones(len(omega_slopes))])

    def best_bound(self, omega: Array, mass_ratio: float) -> float:
        return float(self.margin(omega).min())


class _PlacedMode(_Goal):
    """Minimise t under -t <= omega_k / scale - 1 <= t."""

    name = "place"
    sign = 1.0

    def __init__(self, mode: int, hertz: float) -> None:
        self.modes = mode
        self.scale = 2 * np.pi * hertz

    def margin(self, omega: Array) -> Array:
        return np.asarray(-np.abs(omega[..., -1] / self.scale - 1))

    def rows(self, omega: Array, t: float) -> Array:
        off = omega[:, -1:] / self.scale - 1
        return (t + np.hstack([-off, off])).ravel()

    def slopes(self, omega_slopes: Array) -> Array:
        own = omega_slopes[-1] / self.scale
        return np.column_stack([np.array([-own, own]), np.ones(2)])

    def best_bound(self, omega: Array, mass_ratio: float) -> float:
        return float(-self.margin(omega).min())

    def deciding(self, omega: Array) -> float:
        return float(omega[int(np.argmin(self.margin(omega))), -1])

    @property
    def numbers(self) -> Sequence[int]:
        return (self.modes, self.modes)


class _LeastMass(_Goal):
    """Minimise t under mass <= t and omega_k >= scale."""

    name = "mass"
    sign = 1.0

    def __init__(self, hertz: float) -> None:
        self.scale = 2 * np.pi * hertz

    def margin(self, omega: Array) -> Array:
        return np.asarray(omega.min(axis=-1) / self.scale)

    def rows(self, omega: Array, t: float) -> Array:
        return (omega / self.scale - 1).ravel()

    def slopes(self, omega_slopes: Array) -> Array:
        return np.column_stack([omega_slopes / self.scale, np.zeros(len(omega_slopes))])

    def best_bound(self, omega: Array, mass_ratio: float) -> float:
        return mass_ratio


def _goal_of(maximise: Any, minimise: Any, place: Any, lowest: float | None) -> _Goal:
    """Return the one goal that was asked for."""
    asked = [maximise is not None, minimise is not None, place is not None]
    if sum(asked) > 1:
        raise SuppleError("maximise, minimise and place are three goals: give one of them")
    if (minimise is not None) != (lowest is not None):
        raise SuppleError(
            "least mass needs the frequency that is required, and only that goal takes one: "
            'give minimise="mass", lowest=12.0'
        )
    if lowest is not None:
        return _LeastMass(lowest)
    if place is None:
        return _RaisedLowest()
    wanted = np.ravel(place)
    if len(wanted) != 2 or wanted[0] not in range(1, 100) or not 0 < wanted[1] < LARGEST:
        raise SuppleError(f"place is {wanted.tolist()}: give (mode, Hz), such as (1, 12.0)")
    return _PlacedMode(int(wanted[0]), float(wanted[1]))


# The problem ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Measured:
    """What is known of one design: omega (P, modes), what is left of the limits, and its mass."""

    omega: Array
    limits: Array
    mass: float

    def flat(self) -> Array:
        """All of it in one row, for differences."""
        return np.concatenate([self.omega.ravel(), self.limits, [self.mass]])


@dataclass(frozen=True)
class _MeasuredSlopes:
    """Derivatives by the n scaled dimensions: omega (n, P, modes), limits (n, l), mass (n,)."""

    omega: Array
    limits: Array
    mass: Array


class _DesignProblem:
    """The design problem over z = [dimensions scaled to 0..1, t], at poses that may grow."""

    def __init__(
        self,
        robot: Robot,
        vary: Mapping[Any, Any],
        at: Any,
        over: Mapping[str, Any],
        limits: Mapping[str, float | None],
        goal: _Goal,
    ) -> None:
        if not vary:
            raise SuppleError("vary is empty: give paths and bounds, {'links.a.length': (1, 2)}")
        self.goal = goal
        self.evaluations = 0
        self.progress = Progress(400, "designs", False)
        self.limits = {name: limit for name, limit in limits.items() if limit is not None}
        joined = {key if isinstance(key, str) else ",".join(key): vary[key] for key in vary}
        self.keys = tuple(joined)
        self.low, self.high = _bounds(joined)

        # Poses: those given, or zero; with a box its worst one instead, found by `solve`
        self.coordinate = architecture_of(robot).asked_by
        poses = None if at is None else np.atleast_2d(np.asarray(at, float))
        place: dict[str, Any] = {} if poses is None else {self.coordinate: poses[0]}
        self.varied = Varied.of(robot, self.keys, **place)
        if self.varied.coordinate_keys:
            raise SuppleError(f"'{self.varied.coordinate_keys[0]}' is a pose: vary dimensions")
        if poses is None:
            own = self.varied.theta if self.coordinate == "theta" else self.varied.position
            poses = np.array([own])
        self.box: PoseBox | None = None
        if over:
            edges = read_box("over", over)
            around = Varied.of(robot, tuple(over), **{self.coordinate: poses[0]})
            self.box = PoseBox.of(around, poses, edges)
            middles = np.full((1, len(edges)), 0.5)
            poses = np.vstack([self.box.poses(middles, pose) for pose in poses])
        self.poses: Array = poses

        # Links bolted to the base count among the mass where they are themselves designed
        paths = [path.split(".") for key in self.keys for path in tied_paths(robot, key)]
        self.designed_links = [words[1] for words in paths if len(words) > 1]
        if "stress" in self.limits and not self.stress_at(robot, self.poses).any():
            raise SuppleError(
                f"stress is limited, but {robot.name} has no stress: it needs gravity, and links "
                "with a section"
            )
        self.mass_scale = 1.0
        self._last: tuple[bytes, _Measured] | None = None

    # What a design is ---------------------------------------------------------------------

    def values(self, x: Array) -> dict[str, float]:
        """The dimensions behind scaled ones."""
        scaled = self.low + np.clip(x, 0.0, 1.0) * (self.high - self.low)
        return dict(zip(self.keys, scaled.tolist(), strict=True))

    def robot(self, x: Array) -> Robot:
        """The robot with scaled dimensions x."""
        return self.varied.robot_at(self.values(x))

    def omega_at(self, robot: Robot, poses: Array, **method: Any) -> Array:
        """Natural frequencies of poses, (P, modes) rad/s."""
        place: dict[str, Any] = {self.coordinate: poses}
        return np.atleast_2d(modes(robot, **place, count=self.goal.modes, **method).omega)

    def sag_at(self, robot: Robot, poses: Array) -> Array:
        """How far the tip sags at poses, (P,) m."""
        place: dict[str, Any] = {self.coordinate: poses}
        moved = np.atleast_2d(statics(robot, **place).tip_displacement)
        return np.asarray(np.linalg.norm(moved, axis=-1))

    def stress_at(self, robot: Robot, poses: Array) -> Array:
        """Highest von Mises stress at poses, (P,) Pa."""
        highest = []
        for pose in poses:
            place: dict[str, Any] = {self.coordinate: pose}
            at = where(robot, place.get("theta"), place.get("position")).at
            each = stresses(robot, structure_of(robot, at), statics(robot, **place))
            highest.append(max((stress for stress, _ in each.values()), default=0.0))
        return np.array(highest)

    def mass_at(self, robot: Robot) -> float:
        """Mass of what joints move and of what is designed, without payload, kg."""
        return mass_of(robot, self.poses[0], self.designed_links)

    def measure(self, x: Array) -> _Measured:
        """Ask everything about one design that the goal and the limits need."""
        key = x.tobytes() + self.poses.tobytes()
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        self.evaluations += 1
        self.progress.step(1)
        robot = self.robot(x)
        mass = 0.0
        if "mass" in self.limits or self.goal.name == "mass":
            mass = self.mass_at(robot)
        left = [np.zeros(0)]
        if "mass" in self.limits:
            left.append(np.array([1 - mass / self.limits["mass"]]))
        if "sag" in self.limits:
            left.append(1 - self.sag_at(robot, self.poses) / self.limits["sag"])
        if "stress" in self.limits:
            left.append(1 - self.stress_at(robot, self.poses) / self.limits["stress"])
        found = _Measured(self.omega_at(robot, self.poses), np.concatenate(left), mass)
        self._last = (key, found)
        return found

    def measured_slopes(self, x: Array) -> _MeasuredSlopes:
        """Derivatives of `measure` by x, as differences of second order."""
        here = self.measure(x)
        flat = here.flat()
        h = DIFFERENCE_STEP
        columns = []
        for k in range(len(x)):
            step = np.zeros(len(x))
            step[k] = h
            if h <= x[k] <= 1 - h:
                both = self.measure(x + step).flat() - self.measure(x - step).flat()
                columns.append(both / (2 * h))
                continue
            inwards = step if x[k] < 0.5 else -step  # no value outside the bounds is asked for
            once = self.measure(x + inwards).flat()
            twice = self.measure(x + 2 * inwards).flat()
            columns.append((4 * once - twice - 3 * flat) / (2 * inwards[k]))
        self._last = (x.tobytes() + self.poses.tobytes(), here)
        table = np.array(columns)  # (n, all)
        size = here.omega.size
        omega = table[:, :size].reshape(len(x), *here.omega.shape)
        return _MeasuredSlopes(omega, table[:, size:-1], table[:, -1])

    # Constraints ----------------------------------------------------------------------------

    def constraints(self, z: Array) -> Array:
        """All constraints >= 0: frequencies of every pose, limits, and the mass that t bounds."""
        found = self.measure(z[:-1])
        parts = [self.goal.rows(found.omega, float(z[-1])), found.limits]
        if self.goal.name == "mass":
            parts.append(np.array([z[-1] - found.mass / self.mass_scale]))
        return np.concatenate(parts)

    def constraint_slopes(self, z: Array, exact: bool = False) -> Array:
        """Their derivatives (constraints, dimensions + 1).

        Differences of frequencies mix modes that nearly meet; there, and where `exact` ones are
        asked for, the derivatives come from the dynamic stiffness.
        """
        x = z[:-1]
        omega = self.measure(x).omega
        slopes = self.measured_slopes(x)
        gaps = np.diff(omega, axis=1) / omega[:, 1:]
        rows = []
        for p in range(len(self.poses)):
            own = slopes.omega[:, p].T  # (modes, n)
            if exact or self.goal.name == "place" or gaps[p].min(initial=1.0) < CLOSE_MODES:
                own = self.exact_omega_slopes(x, self.poses[p])
            rows.append(self.goal.slopes(own))
        limit_rows = slopes.limits.T
        rows.append(np.column_stack([limit_rows, np.zeros(len(limit_rows))]))
        if self.goal.name == "mass":
            rows.append(np.append(-slopes.mass / self.mass_scale, 1.0)[None])
        return np.vstack(rows)

    def exact_omega_slopes(self, x: Array, pose: Array) -> Array:
        """Derivatives of the frequencies of one pose by x, (modes, n)."""
        place: dict[str, Any] = {self.coordinate: pose}
        found = sensitivities(self.robot(x), parameters=self.keys, count=self.goal.modes, **place)
        by_dimension = np.array([found.derivatives[key] for key in self.keys])
        return (by_dimension * (self.high - self.low)[:, None]).T

    def names(self) -> list[str]:
        """What each row of the constraints is, in words."""
        told = []
        for p, pose in enumerate(self.poses):
            place = self.pose_words(pose)
            told += [f"mode {k} at pose {p + 1} ({place})" for k in self.goal.numbers]
        for name in self.limits:
            told += [name] if name == "mass" else [name] * len(self.poses)
        return told

    def pose_words(self, pose: Array) -> str:
        """A pose in words: degrees of joints that turn, metres of those that slide."""
        if self.coordinate == "position":
            each = [f"{axis} {value:.4g} m" for axis, value in zip("xyz", pose, strict=False)]
            return ", ".join(each)
        motors = architecture_of(self.varied.robot).motors
        told = []
        for (name, slides), value in zip(motors, pose.tolist(), strict=True):
            told.append(
                f"{name} {value:.4g} m" if slides else f"{name} {np.degrees(value):.4g} deg"
            )
        return ", ".join(told) or "no joint moves"

    # The search -----------------------------------------------------------------------------

    def solve(self, tolerance: float) -> Array:
        """Return the best z = [x, t]; `poses` then holds what it was designed for."""
        own = np.array([self.varied.value(key, mean=True) for key in self.keys])
        x = np.clip((own - self.low) / (self.high - self.low), 0.0, 1.0)
        start_robot = self.robot(x)
        if self.box is not None:
            self.poses = self.worst_poses(start_robot)[:1]
        if self.goal.name == "lowest":
            self.goal.scale = float(self.omega_at(start_robot, self.poses).min())
        self.start_omega = self.goal.deciding(self.omega_at(start_robot, self.poses))
        self.start_mass = self.mass_at(start_robot)
        self.mass_scale = max(self.start_mass, 1e-300)
        if not self.start_mass and self.goal.name == "mass":
            raise SuppleError("no part that moves has mass: there is none to be saved")

        # From the robot as it is, then from the best of other designs
        solutions: list[tuple[Array, Any]] = []
        for begin in [x, *self.other_starts(x)]:
            solutions.append(self.solve_from(begin, tolerance))

        best: Array | None = None
        refused = ""
        least_passed = np.inf
        for z, found in solutions:
            z[-1] = self.best_bound(z[:-1])
            passed = self.passed_limit(z)
            least_passed = min(least_passed, passed)
            if passed > KEPT_LIMIT:
                continue
            if not found.success and found.status != 8:  # 8: no step improves any more
                refused = refused or found.message.lower()
                continue
            if best is None or self.goal.sign * z[-1] < self.goal.sign * best[-1]:
                best = z
        if best is None:
            if not refused:
                if self.goal.name == "mass":
                    raise _OutOfReachError("no design has the frequency that is required")
                raise SuppleError(
                    f"no design in these bounds keeps the limits: {100 * least_passed:.3g} % over"
                )
            raise SuppleError(f"the search stopped before an optimum: {refused}")
        return best

    def passed_limit(self, z: Array) -> float:
        """By which part a limit, or the frequency that is required, is missed at most."""
        found = self.measure(z[:-1])
        rows = found.limits
        if self.goal.name == "mass":
            rows = np.append(rows, self.goal.rows(found.omega, 0.0))
        return float(-rows.min(initial=0.0))

    def solve_from(self, x: Array, tolerance: float) -> tuple[Array, Any]:
        """Return z and SciPy's result, from one design: solve, and let worse poses join."""
        from scipy.optimize import minimize

        direction = np.append(np.zeros(len(x)), self.goal.sign)
        for _ in range(MAX_EXCHANGES):
            begin = np.append(x, self.best_bound(x))
            found = minimize(
                lambda z: self.goal.sign * z[-1],
                begin,
                jac=lambda z: direction,
                bounds=[(0.0, 1.0)] * len(x) + [(None, None)],
                constraints={
                    "type": "ineq",
                    "fun": self.constraints,
                    "jac": self.constraint_slopes,
                },
                method="SLSQP",
                options={"ftol": tolerance, "maxiter": 200},
            )
            x = np.clip(found.x[:-1], 0.0, 1.0)
            if not self.let_worse_poses_join(x):
                break
        return np.append(x, self.best_bound(x)), found

    def best_bound(self, x: Array) -> float:
        """Return the best t of a design at the poses so far."""
        found = self.measure(x)
        return self.goal.best_bound(found.omega, found.mass / self.mass_scale)

    def other_starts(self, own: Array) -> list[Array]:
        """The best of a sample of designs, measured at the poses so far."""
        from scipy.stats import qmc

        dimensions = len(own)
        count = int(min(6, 3 + np.ceil(np.log2(dimensions + 1))))
        designs = qmc.Sobol(dimensions, seed=1).random_base2(count)
        ranked: list[tuple[float, Array]] = []
        for x in designs:
            try:
                z = np.append(x, self.best_bound(x))
                cost = self.goal.sign * z[-1] + 10 * max(0.0, self.passed_limit(z))
            except SuppleError:
                continue  # no robot has these dimensions together
            ranked.append((float(cost), x))
        ranked.sort(key=lambda one: one[0])
        chosen: list[Array] = []
        for _, x in ranked:
            if all(np.abs(x - other).max() > 0.25 for other in [own, *chosen]):
                chosen.append(x)
            if len(chosen) == OTHER_STARTS:
                break
        return chosen

    # The box of poses -----------------------------------------------------------------------

    def worst_poses(self, robot: Robot) -> Array:
        """Poses of the box where the goal is missed most, the worst first."""
        assert self.box is not None

        def margin(poses: Array) -> Array:
            place: dict[str, Any] = {self.coordinate: poses}
            found = modes(robot, count=self.goal.modes, **place)
            return np.where(found.valid, self.goal.margin(np.atleast_2d(found.omega)), np.inf)

        return self.box.worst(margin)

    def let_worse_poses_join(self, x: Array) -> bool:
        """Add poses of the box that are worse than those known; return whether there were any."""
        if self.box is None:
            return False
        robot = self.robot(x)
        known = float(self.goal.margin(self.omega_at(robot, self.poses)).min())
        joining: list[Array] = []
        for pose in self.worst_poses(robot)[:3]:
            margin = float(self.goal.margin(self.omega_at(robot, pose[None]))[0])
            apart = [np.abs(pose - other).max() > 1e-6 for other in [*self.poses, *joining]]
            if margin < known - SAME_FREQUENCY and all(apart):
                joining.append(pose)
        for name, evaluate in (("sag", self.sag_at), ("stress", self.stress_at)):
            if name in self.limits:
                limit = self.limits[name]

                def left(poses: Array, ask: Any = evaluate, most: float = limit) -> Array:
                    return np.asarray(1 - ask(robot, poses) / most)

                pose = self.box.worst(left, count_base2=7 if name == "sag" else 4)[0]
                if left(pose[None])[0] < min(0.0, float(left(self.poses).min())) - SAME_FREQUENCY:
                    joining.append(pose)
        if joining:
            self.poses = np.vstack([self.poses, *joining])
        return bool(joining)

    # The answer -----------------------------------------------------------------------------

    def optimum(self, z: Array) -> Optimum:
        """Return the answer at a solution."""
        from scipy.optimize import nnls

        x = z[:-1]
        robot = self.robot(x)
        if self.box is not None:  # what is told is the worst that was seen, whoever joined
            self.poses = np.vstack([self.poses, self.worst_poses(robot)[:1]])
            omega = self.omega_at(robot, self.poses)
            if self.goal.margin(omega)[-1] >= self.goal.margin(omega)[:-1].min() - 1e-12:
                self.poses = self.poses[:-1]
        z = np.append(x, self.best_bound(x))

        rows = self.constraints(z)
        slopes = self.constraint_slopes(z, exact=True)
        names = self.names()
        gradients: list[Array] = []
        active: list[str] = []
        for i, left in enumerate(rows):
            if left < KEPT_LIMIT:
                gradients.append(slopes[i])
                if i < len(names):
                    active.append(names[i])
        for k, key in enumerate(self.keys):
            for edge, inwards, word in ((0.0, 1.0, "lower"), (1.0, -1.0, "upper")):
                if abs(z[k] - edge) < 1e-6:
                    gradients.append(inwards * np.eye(len(z))[k])
                    active.append(f"{key} at its {word} bound")
        objective = np.append(np.zeros(len(x)), self.goal.sign)
        kkt = float(nnls(np.array(gradients).T, objective)[1]) if gradients else 1.0

        omega = self.omega_at(robot, self.poses)
        by_elements = self.omega_at(robot, self.poses, method="elements")
        pulls = any(robot.gravity)
        return Optimum(
            robot=robot,
            values=self.values(x),
            lowest_hz=self.goal.deciding(omega) / (2 * np.pi),
            start_hz=self.start_omega / (2 * np.pi),
            mass=self.mass_at(robot),
            start_mass=self.start_mass,
            sag=float(self.sag_at(robot, self.poses).max()) if pulls else 0.0,
            stress=float(self.stress_at(robot, self.poses).max()) if pulls else 0.0,
            active=tuple(dict.fromkeys(active)),
            kkt=kkt,
            elements_hz=self.goal.deciding(by_elements) / (2 * np.pi),
            evaluations=self.evaluations,
            poses=self.poses,
            worst=self.poses[int(np.argmin(self.goal.margin(omega)))],
            goal=self.goal.name,
        )


def _bounds(vary: Mapping[str, Any]) -> tuple[Array, Array]:
    """Return the lower and upper bounds of the dimensions, checked."""
    low = np.empty(len(vary))
    high = np.empty(len(vary))
    for k, (name, edges) in enumerate(vary.items()):
        try:
            low[k], high[k] = (float(edge) for edge in edges)
        except (TypeError, ValueError):
            raise SuppleError(f"vary '{name}' is {edges!r:.60}: give (low, high)") from None
        if not (np.isfinite([low[k], high[k]]).all() and low[k] < high[k]):
            raise SuppleError(f"vary '{name}' is {edges!r:.60}: give (low, high)")
        if max(abs(low[k]), abs(high[k])) > LARGEST:
            raise SuppleError(f"vary '{name}' goes beyond {LARGEST:g}, where no robot is")
    return low, high
