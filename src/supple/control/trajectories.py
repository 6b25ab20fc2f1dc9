"""Trajectories: the motion wanted, of joints or of a platform, with velocity and acceleration.

Time laws run from 0 to 1 over tau = 0..1: polynomials that start and stop with zero velocity
("cubic"), acceleration ("quintic") and jerk ("septic").
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.polynomial import polyval
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Plotted
from ..answers.immutable import Immutable, frozen_property
from ..answers.registry import import_function
from ..arguments import brief, checked, checks_of, number, one_of, reals, some, vector
from ..errors import SuppleError
from ..kernels.polynomial_table import PolynomialTable, tabulate

__all__ = [
    "LAWS",
    "NAMED",
    "PATHS",
    "CirclePath",
    "Hold",
    "InvertedU",
    "Joined",
    "ParabolicBlends",
    "PointToPoint",
    "Reordered",
    "Repeated",
    "Slowed",
    "Trajectory",
    "TrajectoryWithDetails",
    "WayPoints",
    "a_trajectory",
    "in_order",
    "scaled_to",
    "with_names",
]

Array = NDArray[np.float64]
Motion = tuple[Array, Array, Array]  # position, velocity, acceleration
TABLE_ERROR = 1e-10  # of the largest value: what prepared polynomials may miss
MAX_SEAMS = 5000  # pieces that are prepared; more are evaluated one by one
PREPARED = ("_ends", "_evaluator")  # not pickled
MEETS = 1e-6  # of the larger of travel and 1: how far apart two moves may be where they are joined
LAWS = {
    "linear": Polynomial([0, 1]),
    "cubic": Polynomial([0, 0, 3, -2]),
    "quintic": Polynomial([0, 0, 0, 10, -15, 6]),
    "septic": Polynomial([0, 0, 0, 0, 35, -84, 70, -20]),
}
# coefficients of s, s' and s'' of each law, lowest power first
LAW_COEFFICIENTS = {
    name: [
        np.asarray(law.deriv(order).coef, float) if order else np.asarray(law.coef, float)
        for order in range(3)
    ]
    for name, law in LAWS.items()
}


class Trajectory(Immutable, Plotted, ABC):
    """Desired motion of joints, or of a platform. Every move is a Trajectory.

    ``trajectory.at(t)`` returns position, velocity and acceleration; ``plot`` draws it, ``save``
    writes it for other programs, and ``first + second`` is one move after another.

    Notes
    -----
    A kind of trajectory implements:

    1. ``duration``, s. After it (and before 0) the trajectory stands still, unless it is
       ``periodic`` and repeats with that period.
    2. ``motion(t)``: position, velocity and acceleration, (N, n) each, for times (N,) within
       0..duration. A kind of one's own may call this method ``at``.
    3. ``breaks``: times between 0 and duration where its acceleration jumps or its law changes;
       an integration restarts there. In between it is a polynomial of degree 7 at most, unless
       ``smooth`` is True.
    4. ``names`` of its coordinates, where known: those of the robot's motors (links, or joints of
       a URDF), or x, y, z of a platform. Named coordinates are matched in any order.

    Examples
    --------
    >>> import supple
    >>> move = supple.PointToPoint([0.0], [1.0], 2.0) + supple.Hold([1.0], 0.5)
    >>> position, velocity, acceleration = move.at(1.0)
    >>> move.duration, position
    (2.5, array([0.5]))
    """

    smooth: bool = False

    periodic: bool = False

    names: tuple[str, ...] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Take `at` of a kind made elsewhere as its `motion`."""
        super().__init_subclass__(**options)
        own = cls.__dict__.get("at")
        if own is not None:
            cls.motion = own  # type: ignore[method-assign]
            del cls.at

    @property
    @abstractmethod
    def duration(self) -> float:
        """When it ends, s."""

    @abstractmethod
    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration, (N, n) each, at (N,) within 0..duration."""

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times within 0..duration where the acceleration jumps or the law changes."""
        return ()

    @property
    def seams(self) -> tuple[float, ...]:
        """Breaks, and times where what is smooth is no longer one series, as of splines."""
        return self.breaks

    @property
    def size(self) -> int:
        """How many coordinates it has."""
        return len(self._ends[0][0])

    def goals(self) -> tuple[Array, Array]:
        """Return where the robot is meant to begin and to end, (n,) each: unless a kind corrects
        its command for sag, where the command itself does.
        """
        return self.at(0.0)[0], self.at(float(self.duration))[0]

    def at(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration at any times.

        Parameters
        ----------
        t : float or (N,)
            Times in seconds. Before 0 and after `duration` the trajectory stands still, unless it
            is periodic.

        Returns
        -------
        position, velocity, acceleration
            (n,) each for one time, (N, n) for many. One time costs a few microseconds: it is read
            from polynomials that are prepared at the first call, to 1e-10 of the largest values.
        """
        one: Any = t
        if isinstance(one, float) and math.isfinite(one):
            return self._at_once(one)
        return self._at_many(t)

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration, (n,) for one time, (N, n) for many."""
        return self.at(t)

    def _at_once(self, t: float) -> tuple[Array, Array, Array]:
        """One time: the ends as they are, between them by the prepared polynomials."""
        first, last, still, end = self._ends
        if self.periodic:
            t = t % end
        if t <= 0.0 or t >= end:
            x, v, a = first if t <= 0.0 else last
            if t in (0.0, end):
                return x.copy(), v.copy(), a.copy()
            return x.copy(), still.copy(), still.copy()
        evaluate = self._evaluator
        if evaluate is None:
            x, v, a = self._at_many(np.array([t]))
            return x[0], v[0], a[0]
        return evaluate(t)

    def _at_many(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Any times, by the kind's own formulas."""
        given = reals("t", t, "give times in seconds")
        if not np.isfinite(given).all():
            raise SuppleError("t holds a value that is not finite: give times in seconds")
        times = np.atleast_1d(given)
        if self.periodic:
            times = times % self.duration
        motion = self.motion(np.clip(times, 0.0, self.duration))
        if not isinstance(motion, tuple) or [np.ndim(each) for each in motion] != [2, 2, 2]:
            raise SuppleError(
                f"at(t) of {type(self).__name__} gave {brief(motion)}: it must give position, "
                "velocity and acceleration, (N, joints) each for times (N,)"
            )
        x, v, a = motion
        is_outside = (times < 0) | (times > self.duration)
        if is_outside.any():
            v, a = (np.where(is_outside[:, None], 0.0, value) for value in (v, a))
        return (x, v, a) if given.ndim else (x[0], v[0], a[0])

    @cached_property
    def _ends(self) -> tuple[Motion, Motion, Array, float]:
        """The motion at 0 and at the end, zeros as many as coordinates, and the duration."""
        end = float(self.duration)
        each = [read_only(part) for part in self._at_many(np.array([0.0, end]))]
        first, last = (tuple(part[k] for part in each) for k in (0, 1))
        return first, last, read_only(np.zeros(each[0].shape[1])), end

    @cached_property
    def _evaluator(self) -> Callable[[float], Motion] | None:
        """How one time is evaluated: polynomials on pieces, None where they do not fit."""
        end = float(self.duration)
        marks = [0.0, *(t for t in self.seams if 1e-9 * end < t < (1 - 1e-9) * end), end]
        edges = np.unique(marks)
        size = self.size

        def function(t: Array) -> Array:
            return np.concatenate(self._at_many(t), axis=1)

        if len(edges) > MAX_SEAMS:
            return None
        looked = function(np.linspace(0.0, end, 1001))
        largest = np.abs(looked).reshape(-1, 3, size).max(axis=(0, 2))
        scale = np.repeat(np.where(largest > 0, largest, 1.0), size)
        table = tabulate(function, edges.tolist(), scale, TABLE_ERROR)
        return None if table is None else PreparedMotion(table, size)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: not what can be prepared again."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in PREPARED}

    def __add__(self, after: Trajectory) -> Joined:
        """Return this move, and after it another one that begins where this ends."""
        return Joined((self, a_trajectory("the second trajectory", after)))

    def save(self, path: str | Path, rate: float = 1000.0) -> None:
        """Write it for other programs, by the ending of the name.

        Parameters
        ----------
        path : str
            .csv (t, then one column for each coordinate), .yaml or .json (a ROS JointTrajectory
            with positions, velocities and accelerations). `supple.load_trajectory` reads them.
        rate : float
            Samples per second; those of samples are kept as they are. The last sample is at or
            after the end.
        """
        import_function("control.trajectory_files:save_trajectory")(self, path, rate)


class PreparedMotion:
    """Position, velocity and acceleration at one time, from a table of polynomials."""

    __slots__ = ("double", "size", "table")

    def __init__(self, table: PolynomialTable, size: int) -> None:
        self.table = table
        self.size = size
        self.double = 2 * size

    def __call__(self, t: float) -> Motion:
        """Return the motion at one time, (n,) each."""
        row = self.table(t)
        return row[: self.size], row[self.size : self.double], row[self.double :]


@checks_of(Trajectory)
def a_trajectory(name: str, value: Any) -> Trajectory:
    """Return a Trajectory, or raise a sentence that says how to get one."""
    if not isinstance(value, Trajectory):
        raise SuppleError(
            f"{name} is {brief(value)}: give a Trajectory, such as "
            "supple.PointToPoint(start, end, time=1.0)"
        )
    return value


_SECONDS = number(0, above=True, unit="of seconds")


def _vector(value: ArrayLike, name: str, size: int | None = None) -> Array:
    return np.array(vector(size)(name, value))


def read_only(values: Array) -> Array:
    """Return an array that nobody can change."""
    values = np.array(values, float)
    values.setflags(write=False)
    return values


def _law(name: str) -> Polynomial:
    if name not in LAWS:
        raise SuppleError(f"law is '{name}': choose one of {', '.join(LAWS)}")
    return LAWS[name]


def blend(law: str, t: Array, start: float, stop: float) -> tuple[Array, Array, Array]:
    """Return s, s', s'' of a time law run from t = start (s = 0) to stop (s = 1), (N,) each."""
    _law(law)
    T = stop - start
    tau = np.clip((t - start) / T, 0.0, 1.0)
    inside = (t >= start) & (t <= stop)
    s, first, second = (np.asarray(polyval(tau, powers)) for powers in LAW_COEFFICIENTS[law])
    return s, np.where(inside, first / T, 0.0), np.where(inside, second / T**2, 0.0)


@dataclass(frozen=True)
class Hold(Trajectory):
    """Stand still at a point.

    Parameters
    ----------
    point : sequence of float
        Coordinates (n,), rad or m.
    time : float
        Duration, s.

    Examples
    --------
    >>> import supple
    >>> supple.Hold([0.5, 0.3], 2.0).at(1.0)[0]
    array([0.5, 0.3])
    """

    point: Sequence[float]
    time: float = 1.0

    checks: ClassVar = {"point": vector(), "time": _SECONDS}

    @property
    def duration(self) -> float:
        return self.time

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        x = np.tile(_vector(self.point, "point"), (len(t), 1))
        return x, np.zeros_like(x), np.zeros_like(x)


@dataclass(frozen=True)
class PointToPoint(Trajectory):
    """Straight rest-to-rest move by a time law.

    Parameters
    ----------
    start, end : sequence of float
        Coordinates (n,), rad or m.
    time : float
        Duration, s.
    law : {"septic", "quintic", "cubic"}
        Polynomial time law.

    Examples
    --------
    >>> import supple
    >>> move = supple.PointToPoint([0, 0], [0.9, 0.7], 1.0)
    >>> move.at(0.5)[0]
    array([0.45, 0.35])
    """

    start: Sequence[float]
    end: Sequence[float]
    time: float
    law: str = "septic"

    checks: ClassVar = {
        "start": vector(),
        "end": vector(),
        "time": _SECONDS,
        "law": one_of(*LAWS),
    }

    def __post_init__(self) -> None:
        """Check that both ends have as many coordinates."""
        super().__post_init__()
        _vector(self.end, "end", len(self.start))

    @property
    def duration(self) -> float:
        return self.time

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        a = _vector(self.start, "start")
        move = _vector(self.end, "end", len(a)) - a
        s, sd, sdd = blend(self.law, t, 0.0, self.time)
        return a + np.outer(s, move), np.outer(sd, move), np.outer(sdd, move)


@dataclass(frozen=True)
class CirclePath(Trajectory):
    """Constant speed on a horizontal circle, repeated.

    Parameters
    ----------
    centre : sequence of float
        Centre (3,), m.
    radius : float
        Radius, m.
    period : float
        Time per turn, s.

    References
    ----------
    [Kuo2016], section 5.3.

    Examples
    --------
    >>> import supple
    >>> supple.CirclePath(centre=(0, 0, 0.5), radius=0.1).at(0.0)[0]
    array([0.1, 0. , 0.5])
    """

    centre: Sequence[float] = (0.0, 0.0, 0.5)
    radius: float = 0.1
    period: float = 1.0
    periodic = True
    smooth = True
    names = ("x", "y", "z")

    checks: ClassVar = {"centre": vector(3), "radius": number(0), "period": _SECONDS}

    @property
    def duration(self) -> float:
        return self.period

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        w = 2 * np.pi / self.period
        c = np.cos(w * t)
        s = np.sin(w * t)
        zero = np.zeros_like(t)
        x = _vector(self.centre, "centre", 3) + self.radius * np.stack([c, s, zero], axis=1)
        v = w * self.radius * np.stack([-s, c, zero], axis=1)
        return x, v, -(w**2) * self.radius * np.stack([c, s, zero], axis=1)


@dataclass(frozen=True)
class InvertedU(Trajectory):
    """Pick-and-place move: z lifts and comes back while x and y move in between.

    Parameters
    ----------
    start : sequence of float
        Start position (3,), m.
    move : sequence of float
        Displacement in x and y, and height of the lift in z, m.
    times : sequence of float
        (t1, t2, t3, tf), s: x and y move from t1 to t3, z leaves until t2 and returns until tf.
    law : {"septic", "quintic", "cubic"}
        Polynomial time law of each part.

    References
    ----------
    [Kuo2016], section 5.4; the defaults are those of the paper.

    Examples
    --------
    >>> import supple
    >>> supple.InvertedU().duration
    0.8
    """

    start: Sequence[float] = (-0.08, -0.02, 0.5)
    move: Sequence[float] = (0.16, 0.04, 0.2)
    times: Sequence[float] = (0.2, 0.4, 0.6, 0.8)
    law: str = "septic"
    names = ("x", "y", "z")

    checks: ClassVar = {
        "start": vector(3),
        "move": vector(3),
        "times": vector(4),
        "law": one_of(*LAWS),
    }

    def __post_init__(self) -> None:
        """Check that the times follow one another."""
        super().__post_init__()
        times = _vector(self.times, "times", 4)
        if (np.diff([0.0, *times]) < 0).any() or times[1] <= 0 or times[0] == times[2]:
            raise SuppleError(f"times {list(self.times)}: give t1 <= t2 <= t3 <= tf, above zero")

    @property
    def duration(self) -> float:
        return float(self.times[3])

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(sorted({float(t) for t in self.times[:3]}))

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        t1, t2, t3, tf = self.times
        across = blend(self.law, t, t1, t3)
        out = blend(self.law, t, 0.0, t2)
        back = blend(self.law, t, t2, tf)
        move = _vector(self.move, "move", 3)
        first = _vector(self.start, "start", 3)
        each = []
        for k in range(3):
            z = out[k] - back[k] if k == 0 else np.where(t < t2, out[k], -back[k])
            each.append(np.stack([across[k], across[k], z], axis=1) * move)
        return first + each[0], each[1], each[2]


@dataclass(frozen=True)
class WayPoints(Trajectory):
    """From point to point, at rest at each, as fast as limits on every coordinate allow.

    Parameters
    ----------
    points : sequence of sequence of float
        Points (K, n), rad or m.
    velocity, acceleration : float or sequence
        Limits, one value or one per coordinate.
    law : {"septic", "quintic", "cubic"}
        Polynomial time law of each stretch.
    pause : float
        Rest at each point, s.

    Notes
    -----
    A stretch d takes max(abs(d) max s' / v, sqrt(abs(d) max abs(s'') / a)) over its coordinates.

    Examples
    --------
    >>> import supple
    >>> path = supple.WayPoints([[0, 0], [0.5, 0.2], [1, 0]], velocity=1.0, acceleration=5.0)
    >>> round(path.duration, 4)
    2.1875
    """

    points: Sequence[Sequence[float]]
    velocity: float | Sequence[float]
    acceleration: float | Sequence[float]
    law: str = "septic"
    pause: float = 0.0

    checks: ClassVar = {
        "velocity": some(0),
        "acceleration": some(0),
        "law": one_of(*LAWS),
        "pause": number(0, unit="of seconds"),
    }

    def __post_init__(self) -> None:
        """Check points and limits."""
        super().__post_init__()
        words = "points must be two or more points of equally many finite numbers"
        points = reals("points", self.points, words)
        if points.ndim != 2 or len(points) < 2 or not np.isfinite(points).all():
            raise SuppleError(words)
        object.__setattr__(self, "points", tuple(map(tuple, points.tolist())))
        for name in ("velocity", "acceleration"):
            limit = np.asarray(getattr(self, name), float)
            if not (limit > 0).all() or limit.shape not in ((), (points.shape[1],)):
                raise SuppleError(f"{name} is {getattr(self, name)!r}: give positive limits")
        _law(self.law)

    @frozen_property
    def stretches(self) -> Array:
        """(k,) duration of each stretch, without the pauses."""
        d = np.abs(np.diff(np.asarray(self.points, float), axis=0))
        v_max, a_max = peaks(self.law)
        by_speed = d * v_max / np.asarray(self.velocity)
        by_force = np.sqrt(d * a_max / np.asarray(self.acceleration))
        return np.asarray(np.maximum(by_speed, by_force).max(axis=1))

    @property
    def duration(self) -> float:
        return float(self.stretches.sum() + self.pause * len(self.stretches))

    @property
    def breaks(self) -> tuple[float, ...]:
        each = np.stack([self.stretches, np.full(len(self.stretches), self.pause)], axis=1)
        times = np.cumsum(each.ravel())
        return tuple(sorted({float(t) for t in times if 0 < t < self.duration}))

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        points = np.asarray(self.points, float)
        x = np.tile(points[0], (len(t), 1))
        start = 0.0
        v = np.zeros_like(x)
        a = np.zeros_like(x)
        for move, T in zip(np.diff(points, axis=0), self.stretches, strict=True):
            if T > 0:
                s, sd, sdd = blend(self.law, t, start, start + T)
                x = x + np.outer(s, move)
                v = v + np.outer(sd, move)
                a = a + np.outer(sdd, move)
            start += T + self.pause
        return x, v, a


@dataclass(frozen=True)
class ParabolicBlends(Trajectory):
    """Rest-to-rest move with constant velocity between two parabolic blends.

    Parameters
    ----------
    start, end : sequence of float
        Coordinates (n,), rad or m.
    duration : float
        Duration, s.
    blend : float
        Duration of each blend, s.

    References
    ----------
    [Theodore1997], section V, Fig. 4 (a blend of 0.1 s belongs to its 0.778 m/s).

    Examples
    --------
    >>> import supple
    >>> move = supple.ParabolicBlends([0.0], [0.9], duration=1.0, blend=0.1)
    >>> move.at(0.5)[1].round(6)
    array([1.])
    """

    start: Sequence[float]
    end: Sequence[float]
    duration: float = 1.0
    blend: float = 0.1

    checks: ClassVar = {
        "start": vector(),
        "end": vector(),
        "duration": _SECONDS,
        "blend": number(unit="of seconds"),
    }

    def __post_init__(self) -> None:
        """Check that both blends fit."""
        super().__post_init__()
        _vector(self.end, "end", len(_vector(self.start, "start")))
        if not 0 < 2 * self.blend <= self.duration:
            raise SuppleError(
                f"blend is {self.blend:g} s: two of them must fit into the duration "
                f"{self.duration:g} s, and it must be positive"
            )

    @classmethod
    def within(
        cls,
        start: Sequence[float],
        end: Sequence[float],
        velocity: float | Sequence[float],
        acceleration: float | Sequence[float],
    ) -> ParabolicBlends:
        """Return the fastest one under limits of each coordinate: a trapezoid of velocity."""
        d = np.abs(_vector(end, "end") - _vector(start, "start"))
        v, a = (
            _limits(name, x, len(d))
            for name, x in (("velocity", velocity), ("acceleration", acceleration))
        )
        blend = float(np.max([*(v / a)[d > 0], 0.0]))
        cruise = float(np.max([*(d / v)[d > 0], 0.0]))
        if cruise < blend or not cruise:  # a triangle: the limit of velocity is not reached
            blend = cruise = float(np.sqrt(np.max([*(d / a), 1e-12])))
        return cls(start, end, cruise + blend, blend)

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(sorted({self.blend, self.duration - self.blend}))

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        first = _vector(self.start, "start")
        move = _vector(self.end, "end") - first
        T = self.duration
        tb = self.blend
        V = 1 / (T - tb)
        rising = t < tb
        falling = t > T - tb
        s = np.where(rising, V * t**2 / (2 * tb), V * (t - tb / 2))
        s = np.where(falling, 1 - V * (T - t) ** 2 / (2 * tb), s)
        sd = np.where(rising, V * t / tb, np.where(falling, V * (T - t) / tb, V))
        sdd = np.where(rising, V / tb, np.where(falling, -V / tb, 0.0))
        return first + np.outer(s, move), np.outer(sd, move), np.outer(sdd, move)


@dataclass(frozen=True)
class Repeated(Trajectory):
    """A trajectory forward and back, over and over: its time is mirrored at the end.

    Parameters
    ----------
    there : Trajectory
        The forward move.

    Examples
    --------
    >>> import supple
    >>> supple.Repeated(supple.PointToPoint([0.0], [1.0], 3.0)).duration
    6.0
    """

    there: Trajectory
    periodic = True

    checks: ClassVar = {"there": a_trajectory}

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of its coordinates."""
        return self.there.names

    @property
    def duration(self) -> float:
        return 2 * self.there.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        T = self.there.duration
        once = self.there.breaks
        return (*once, T, *(2 * T - t for t in reversed(once)))

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        T = self.there.duration
        x, v, a = self.there.motion(np.where(t <= T, t, 2 * T - t))
        return x, np.where(t <= T, 1.0, -1.0)[:, None] * v, a


@dataclass(frozen=True)
class Slowed(Trajectory):
    """The same path, `factor` times as slow."""

    fast: Trajectory
    factor: float

    checks: ClassVar = {"fast": a_trajectory, "factor": number(0, above=True)}

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of its coordinates."""
        return self.fast.names

    @property
    def periodic(self) -> bool:  # type: ignore[override]
        return self.fast.periodic

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return self.fast.smooth

    @property
    def duration(self) -> float:
        return self.factor * self.fast.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(self.factor * t for t in self.fast.breaks)

    @property
    def seams(self) -> tuple[float, ...]:
        return tuple(self.factor * t for t in self.fast.seams)

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        x, v, a = self.fast.motion(t / self.factor)
        return x, v / self.factor, a / self.factor**2


@dataclass(frozen=True)
class Joined(Trajectory):
    """Moves one after another, each from where the one before it ends.

    Attributes
    ----------
    parts
        Two or more Trajectories that end. Named coordinates are matched by their names.
    """

    parts: tuple[Trajectory, ...]

    def __post_init__(self) -> None:
        """Check that every part begins where the last one ends; parts of parts are its own."""
        super().__post_init__()
        flat: list[Trajectory] = []
        for part in self.parts:
            flat += part.parts if isinstance(part, Joined) else [a_trajectory("parts", part)]
        named = [part.names for part in flat if part.names]
        for k, given in enumerate(flat):
            if given.periodic:
                raise SuppleError("a trajectory that repeats has no end: nothing can follow it")
            if k == 0:
                continue
            before = flat[k - 1]
            part = given
            if named and given.names and set(given.names) == set(named[0]):
                part = in_order(given, named[0])
                flat[k] = part
            if part.size != before.size:
                raise SuppleError(
                    f"the moves have {before.size} and {part.size} coordinates: join moves of one "
                    "robot"
                )
            ends = before.at(before.duration)[0]
            begins = part.at(0.0)[0]
            apart = np.abs(begins - ends)
            if apart.max(initial=0.0) > MEETS * max(1.0, float(np.abs(ends).max(initial=0.0))):
                j = int(np.argmax(apart))
                raise SuppleError(
                    f"the second move begins at {begins[j]:.6g} in coordinate {j + 1}, where the "
                    f"first one ends at {ends[j]:.6g}: let it begin there"
                )
        object.__setattr__(self, "parts", tuple(flat))

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of its coordinates."""
        return next((part.names for part in self.parts if part.names), ())

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return any(part.smooth for part in self.parts)

    @frozen_property
    def starts(self) -> Array:
        """(k + 1,) s, when each part begins, and the end."""
        return np.cumsum([0.0, *(part.duration for part in self.parts)])

    @property
    def duration(self) -> float:
        return float(self.starts[-1])

    @property
    def breaks(self) -> tuple[float, ...]:
        return self._all("breaks")

    @property
    def seams(self) -> tuple[float, ...]:
        return self._all("seams")

    def _all(self, word: str) -> tuple[float, ...]:
        """Times of every part, and where the parts meet."""
        found = []
        for start, part in zip(self.starts, self.parts, strict=False):
            found += [float(start), *(float(start + t) for t in getattr(part, word))]
        return tuple(found[1:])

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        which = np.clip(np.searchsorted(self.starts, t, "right") - 1, 0, len(self.parts) - 1)
        found = np.zeros((3, len(t), self.parts[0].size))
        for k, part in enumerate(self.parts):
            here = which == k
            if here.any():
                inside = np.clip(t[here] - self.starts[k], 0.0, part.duration)
                found[:, here] = part.motion(inside)
        return found[0], found[1], found[2]


@dataclass(frozen=True)
class Reordered(Trajectory):
    """The coordinates of a trajectory in another order, under other names where some are given.

    Attributes
    ----------
    given
        The Trajectory.
    order
        (n,) which of its coordinates comes where.
    """

    given: Trajectory
    order: tuple[int, ...]
    names: tuple[str, ...] = ()

    @property
    def periodic(self) -> bool:  # type: ignore[override]
        return self.given.periodic

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return self.given.smooth

    @property
    def duration(self) -> float:
        return self.given.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.given.breaks

    @property
    def seams(self) -> tuple[float, ...]:
        return self.given.seams

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        x, v, a = (part[:, list(self.order)] for part in self.given.motion(t))
        return x, v, a


def in_order(trajectory: Trajectory, names: tuple[str, ...]) -> Trajectory:
    """Return a trajectory with its named coordinates in the order of `names`."""
    if trajectory.names == names:
        return trajectory
    order = tuple(trajectory.names.index(name) for name in names)
    return Reordered(trajectory, order, names)


def with_names(trajectory: Trajectory, names: tuple[str, ...]) -> Trajectory:
    """Return a trajectory whose coordinates have names: its own, or these where it has none."""
    if trajectory.names or len(names) != trajectory.size:
        return trajectory
    return Reordered(trajectory, tuple(range(trajectory.size)), names)


class TrajectoryWithDetails(Trajectory):
    """What tells more about a move: its motion is that of `trajectory`, beside what else is known.

    The one duty of a kind is `trajectory`.
    """

    @property
    @abstractmethod
    def trajectory(self) -> Trajectory:
        """The motion of its coordinates."""

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of its coordinates."""
        return self.trajectory.names

    @property
    def periodic(self) -> bool:  # type: ignore[override]
        return self.trajectory.periodic

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return self.trajectory.smooth

    @property
    def duration(self) -> float:
        """When it ends, s."""
        return self.trajectory.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.trajectory.breaks

    @property
    def seams(self) -> tuple[float, ...]:
        return self.trajectory.seams

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        return self.trajectory.motion(t)


@checked
def scaled_to(
    trajectory: Trajectory, velocity: float | Sequence[float], acceleration: float | Sequence[float]
) -> Slowed:
    """Scale a trajectory in time so that it just meets its limits.

    Parameters
    ----------
    trajectory : Trajectory
        Trajectory to slow down or speed up.
    velocity, acceleration : float or sequence
        Limits, one value or one per coordinate.

    Returns
    -------
    Slowed
        A Trajectory in which one coordinate meets its limit and none exceeds it.

    Notes
    -----
    Peaks are searched at 2000 times and on both sides of every break.

    Examples
    --------
    >>> import supple
    >>> move = supple.PointToPoint([0.0], [1.0], 1.0)
    >>> round(supple.scaled_to(move, velocity=1.0, acceleration=10.0).duration, 3)
    2.187
    """
    T = trajectory.duration
    edges = np.array([0.0, *trajectory.breaks, T])
    t = np.concatenate([np.linspace(0, T, 2000), edges, edges + 1e-9 * T, edges - 1e-9 * T])
    _, v, a = trajectory.motion(np.clip(t, 0.0, T))
    n = v.shape[1]
    speed = (np.abs(v) / _limits("velocity", velocity, n)).max()
    force = (np.abs(a) / _limits("acceleration", acceleration, n)).max()
    factor = float(max(speed, np.sqrt(force)))
    if factor <= 0:
        raise SuppleError("the trajectory does not move: there is nothing to scale")
    return Slowed(trajectory, factor)


def _limits(name: str, value: float | Sequence[float], n: int) -> Array:
    limit = reals(name, value)
    if limit.shape not in ((), (n,)) or not (limit > 0).all():
        raise SuppleError(
            f"{name} is {value!r}: give one positive limit for all coordinates, or one for each "
            f"of the {n}"
        )
    return np.broadcast_to(limit, (n,)).astype(float)


def peaks(law: str) -> tuple[float, float]:
    """Return the largest s' and |s''| of a time law: at 0, 1, or where s'', s''' vanish."""
    found = []
    for order in (1, 2):
        s = _law(law).deriv(order)
        roots = s.deriv().roots() if s.degree() else np.array([])
        inside = [r.real for r in roots if abs(r.imag) < 1e-9 and 0 <= r.real <= 1]
        found.append(float(np.abs(s(np.array([0.0, 1.0, *inside]))).max()))
    return found[0], found[1]


PATHS: dict[str, type[Trajectory]] = {"circle": CirclePath, "inverted-u": InvertedU}

# Motions of published arms by name. Source: [Theodore1997], section V, Fig. 4.
NAMED: dict[str, Trajectory] = {
    "extension": ParabolicBlends((0.0, 0.0, 0.3), (np.pi, -np.pi / 2, 1.0), 1.0, 0.1),
    "retraction": ParabolicBlends((0.0, 0.0, 1.0), (np.pi, -np.pi / 2, 0.3), 1.0, 0.1),
}
