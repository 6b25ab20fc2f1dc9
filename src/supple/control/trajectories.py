"""Trajectories: the motion wanted, of joints or of a platform, with velocity and acceleration.

Time laws run from 0 to 1 over tau = 0..1: polynomials that start and stop with zero velocity
("cubic"), acceleration ("quintic") and jerk ("septic").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray

from ..answers.held import Held, kept
from ..arguments import checked, number, one_of, reals, shown, some, vector
from ..errors import SuppleError

__all__ = [
    "LAWS",
    "NAMED",
    "PATHS",
    "CirclePath",
    "Hold",
    "InvertedU",
    "ParabolicBlends",
    "PointToPoint",
    "Repeated",
    "Slowed",
    "Trajectory",
    "WayPoints",
    "a_trajectory",
    "scaled_to",
]

Array = NDArray[np.float64]
LAWS = {
    "linear": Polynomial([0, 1]),
    "cubic": Polynomial([0, 0, 3, -2]),
    "quintic": Polynomial([0, 0, 0, 10, -15, 6]),
    "septic": Polynomial([0, 0, 0, 0, 35, -84, 70, -20]),
}


class Trajectory(Held, ABC):
    """A motion wanted. Duties of a kind:

    1. `duration`, s: when it ends; after it (and before 0) the trajectory stands still, unless
       `periodic`, when it repeats with that period.
    2. `at(t)`: position, velocity and acceleration, (N, n) each, for times (N,) within 0..duration.
    3. `breaks`: times between 0 and duration where its acceleration jumps or its law changes; an
       integration restarts there. Between them it is a polynomial of degree 7 at most, unless
       `smooth` is True.
    """

    smooth: bool = False

    periodic: bool = False

    @property
    @abstractmethod
    def duration(self) -> float:
        """When it ends, s."""

    @abstractmethod
    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration within 0..duration."""

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times within 0..duration where the acceleration jumps or the law changes."""
        return ()

    @property
    def seams(self) -> tuple[float, ...]:
        """Breaks, and times where what is smooth is no longer one series, as of splines."""
        return self.breaks

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration, (n,) for one time, (N, n) for many."""
        given = reals("t", t, "give times in seconds")
        if not np.isfinite(given).all():
            raise SuppleError("t holds a value that is not finite: give times in seconds")
        times = np.atleast_1d(given)
        if self.periodic:
            times = times % self.duration
        told = self.at(np.clip(times, 0.0, self.duration))
        if not isinstance(told, tuple) or [np.ndim(each) for each in told] != [2, 2, 2]:
            raise SuppleError(
                f"at(t) of {type(self).__name__} gave {shown(told)}: it must give position, "
                "velocity and acceleration, (N, joints) each for times (N,)"
            )
        x, v, a = told
        still = (times < 0) | (times > self.duration)
        v, a = (np.where(still[:, None], 0.0, value) for value in (v, a))
        return (x, v, a) if given.ndim else (x[0], v[0], a[0])


def a_trajectory(name: str, value: Any) -> Trajectory:
    """Return a Trajectory, or raise a sentence that says how to get one."""
    if not isinstance(value, Trajectory):
        raise SuppleError(
            f"{name} is {shown(value)}: give a Trajectory, such as "
            "supple.PointToPoint(start, end, time=1.0)"
        )
    return value


_SECONDS = number(0, above=True, unit="of seconds")


def _vector(value: ArrayLike, name: str, size: int | None = None) -> Array:
    return np.array(vector(size)(name, value))


def _law(name: str) -> Polynomial:
    if name not in LAWS:
        raise SuppleError(f"law is '{name}': choose one of {', '.join(LAWS)}")
    return LAWS[name]


def blend(law: str, t: Array, start: float, stop: float) -> tuple[Array, Array, Array]:
    """Return s, s', s'' of a time law run from t = start (s = 0) to stop (s = 1), (N,) each."""
    s = _law(law)
    T = stop - start
    tau = np.clip((t - start) / T, 0.0, 1.0)
    inside = (t >= start) & (t <= stop)
    first, second = s.deriv(1)(tau) / T, s.deriv(2)(tau) / T**2
    return s(tau), np.where(inside, first, 0.0), np.where(inside, second, 0.0)


@dataclass(frozen=True)
class Hold(Trajectory):
    """Stand still at a point."""

    point: Sequence[float]
    time: float = 1.0

    checks: ClassVar = {"point": vector(), "time": _SECONDS}

    @property
    def duration(self) -> float:
        return self.time

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        x = np.tile(_vector(self.point, "point"), (len(t), 1))
        return x, np.zeros_like(x), np.zeros_like(x)


@dataclass(frozen=True)
class PointToPoint(Trajectory):
    """From start to end in a straight line, at rest at both, by a time law."""

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

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        a = _vector(self.start, "start")
        move = _vector(self.end, "end", len(a)) - a
        s, sd, sdd = blend(self.law, t, 0.0, self.time)
        return a + np.outer(s, move), np.outer(sd, move), np.outer(sdd, move)


@dataclass(frozen=True)
class CirclePath(Trajectory):
    """Constant speed on a horizontal circle, period after period. Source: [Kuo2016], 5.3."""

    centre: Sequence[float] = (0.0, 0.0, 0.5)
    radius: float = 0.1
    period: float = 1.0
    periodic = True
    smooth = True

    checks: ClassVar = {"centre": vector(3), "radius": number(0), "period": _SECONDS}

    @property
    def duration(self) -> float:
        return self.period

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        w = 2 * np.pi / self.period
        c, s, zero = np.cos(w * t), np.sin(w * t), np.zeros_like(t)
        x = _vector(self.centre, "centre", 3) + self.radius * np.stack([c, s, zero], axis=1)
        v = w * self.radius * np.stack([-s, c, zero], axis=1)
        return x, v, -(w**2) * self.radius * np.stack([c, s, zero], axis=1)


@dataclass(frozen=True)
class InvertedU(Trajectory):
    """Pick and place: z leaves by move[2] and comes back, x and y move in between.

    With times (t1, t2, t3, tf) from t0 = 0: x, y run from t1 to t3, z out until t2 and back until
    tf, each by its law. Defaults are the paper's. Source: [Kuo2016], 5.4.
    """

    start: Sequence[float] = (-0.08, -0.02, 0.5)
    move: Sequence[float] = (0.16, 0.04, 0.2)
    times: Sequence[float] = (0.2, 0.4, 0.6, 0.8)
    law: str = "septic"

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

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        t1, t2, t3, tf = self.times
        across = blend(self.law, t, t1, t3)
        out, back = blend(self.law, t, 0.0, t2), blend(self.law, t, t2, tf)
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

    A stretch of length d takes max(|d| max s' / v, sqrt(|d| max|s''| / a)) over its coordinates.

    Attributes:
        velocity, acceleration: limits, one value or one per coordinate.  pause: rest at points, s.
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

    @kept
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

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        points = np.asarray(self.points, float)
        x, start = np.tile(points[0], (len(t), 1)), 0.0
        v, a = np.zeros_like(x), np.zeros_like(x)
        for move, T in zip(np.diff(points, axis=0), self.stretches, strict=True):
            if T > 0:
                s, sd, sdd = blend(self.law, t, start, start + T)
                x, v, a = x + np.outer(s, move), v + np.outer(sd, move), a + np.outer(sdd, move)
            start += T + self.pause
        return x, v, a


@dataclass(frozen=True)
class ParabolicBlends(Trajectory):
    """From start to end with constant velocity, reached and left by parabolas of `blend` seconds.

    Source: [Theodore1997], section V, Fig. 4 (a blend of 0.1 s belongs to its 0.778 m/s).
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

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        first = _vector(self.start, "start")
        move, T, tb = _vector(self.end, "end") - first, self.duration, self.blend
        V = 1 / (T - tb)
        rising, falling = t < tb, t > T - tb
        s = np.where(rising, V * t**2 / (2 * tb), V * (t - tb / 2))
        s = np.where(falling, 1 - V * (T - t) ** 2 / (2 * tb), s)
        sd = np.where(rising, V * t / tb, np.where(falling, V * (T - t) / tb, V))
        sdd = np.where(rising, V / tb, np.where(falling, -V / tb, 0.0))
        return first + np.outer(s, move), np.outer(sd, move), np.outer(sdd, move)


@dataclass(frozen=True)
class Repeated(Trajectory):
    """A trajectory there and back again, over and over: its time mirrored at the end."""

    there: Trajectory
    periodic = True

    checks: ClassVar = {"there": a_trajectory}

    @property
    def duration(self) -> float:
        return 2 * self.there.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        T, once = self.there.duration, self.there.breaks
        return (*once, T, *(2 * T - t for t in reversed(once)))

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        T = self.there.duration
        x, v, a = self.there.at(np.where(t <= T, t, 2 * T - t))
        return x, np.where(t <= T, 1.0, -1.0)[:, None] * v, a


@dataclass(frozen=True)
class Slowed(Trajectory):
    """The same path, `factor` times as slow."""

    fast: Trajectory
    factor: float

    checks: ClassVar = {"fast": a_trajectory, "factor": number(0, above=True)}

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

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        x, v, a = self.fast.at(t / self.factor)
        return x, v / self.factor, a / self.factor**2


@checked(trajectory=a_trajectory)
def scaled_to(
    trajectory: Trajectory, velocity: float | Sequence[float], acceleration: float | Sequence[float]
) -> Slowed:
    """Return a trajectory scaled in time so that one coordinate just meets its limit, none passes.

    Peaks are looked for at 2000 times and on both sides of every break.
    """
    T = trajectory.duration
    edges = np.array([0.0, *trajectory.breaks, T])
    t = np.concatenate([np.linspace(0, T, 2000), edges, edges + 1e-9 * T, edges - 1e-9 * T])
    _, v, a = trajectory.at(np.clip(t, 0.0, T))
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
        raise SuppleError(f"{name} is {value!r}: give positive limits, one or one for each of {n}")
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
