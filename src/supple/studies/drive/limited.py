"""How fast can it be under limits: jerk-limited moves, and paths under effort limits.

Both are found by libraries of the extra `motion`: the profiles of constant jerk by Ruckig, the
speed along a path by TOPP-RA. With theta = p(s) the efforts of an arm that does not bend are linear
in s'' and s'^2,

    tau = (M p') s'' + (M p'' + h(p, p')) s'^2 + g(p),

so that the fastest s'(s) is found by linear programmes along the path. Terms that are odd in the
speed (damping, friction) are taken from the motion found before, by repetition.

Source: [Berscheid2021] for the profiles, [Pham2018] for the speed along a path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.immutable import Timed, frozen_property
from ...architectures.kinds import architecture_of
from ...arguments import (
    also_called,
    brief,
    checked,
    number,
    reals,
    some,
    vector,
    whole_number,
)
from ...control.matching import trajectory_for
from ...control.shaping import Samples
from ...control.trajectories import Trajectory
from ...equations.model import Model
from ...errors import SuppleError

__all__ = ["JerkLimited", "PathTiming", "effort_limited", "jerk_limited"]

Array = NDArray[np.float64]
EXTRA = "needs the extra: pip install supple[motion]"
LARGEST_LIMIT = 1e30  # of a limit, as of any number in a robot file
PATH_KNOTS = 200  # through which the line of a Trajectory is led
ROUNDS = 30  # for terms that are odd in the speed


@dataclass(frozen=True, eq=False)
class JerkLimited(Timed, Trajectory):
    """Rest-to-rest move with constant jerk between knots.

    From `supple.jerk_limited`.

    Attributes
    ----------
    t : ndarray
        Knots (m,), s, from 0.
    x, v, a : ndarray
        Position, velocity and acceleration at the knots, (m, n).
    """

    t: Array
    x: Array
    v: Array
    a: Array

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(self.t[1:-1].tolist())

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        k = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2)
        d = (t - self.t[k])[:, None]
        x = self.x[k]
        v = self.v[k]
        a = self.a[k]
        jerk = (self.a[k + 1] - a) / np.diff(self.t)[k][:, None]
        return (
            x + d * (v + d * (a / 2 + d * jerk / 6)),
            v + d * (a + d * jerk / 2),
            a + d * jerk,
        )

    def __repr__(self) -> str:
        return f"<JerkLimited: {self.duration:.5g} s, {self.x.shape[1]} coordinates>"


@checked
def jerk_limited(
    start: Annotated[ArrayLike, vector()],
    end: Annotated[ArrayLike, vector()],
    speed_limit: Annotated[float | Sequence[float], some(0)],
    acceleration_limit: Annotated[float | Sequence[float], some(0)],
    jerk_limit: Annotated[float | Sequence[float], some(0)],
    duration: Annotated[float, number(0, 1e6, above=True, unit="of seconds")] | None = None,
) -> JerkLimited:
    """Fastest straight rest-to-rest move within limits of speed, acceleration and jerk.

    Parameters
    ----------
    start, end : array_like
        Coordinates (n,), rad or m.
    speed_limit, acceleration_limit, jerk_limit : float or sequence
        One value or one per coordinate, per s, s^2 and s^3.
    duration : float, optional
        Minimum duration, s. Default: the fastest.

    Returns
    -------
    JerkLimited
        A Trajectory.

    Notes
    -----
    Needs the extra `motion` (Ruckig, [Berscheid2021]). `calm_move` solves the same task and leaves
    the modes of a robot at rest.

    Examples
    --------
    >>> import supple
    >>> round(supple.jerk_limited([0, 0], [0.5, 0.3], 2.0, 10.0, 100.0).duration, 3)
    0.558
    """
    try:
        import ruckig
    except ImportError:
        raise SuppleError(f"a jerk-limited move {EXTRA}") from None
    a = np.asarray(start, float)
    b = np.asarray(end, float)
    if a.shape != b.shape:
        raise SuppleError(f"start has {a.size} coordinates and end {b.size}: give equally many")
    if (apart := float(np.abs(b - a).max(initial=0.0))) < 1e-100:
        raise SuppleError(f"start and end are {apart:g} apart: there is no move")
    limits = {
        "max_velocity": _each("speed_limit", speed_limit, a.size),
        "max_acceleration": _each("acceleration_limit", acceleration_limit, a.size),
        "max_jerk": _each("jerk_limit", jerk_limit, a.size),
    }
    moving = np.abs(b - a) > 1e-150  # a straight line: every limit as a limit of s, from 0 to 1
    ruckig_input = ruckig.InputParameter(1)
    ruckig_input.current_position = [0.0]
    ruckig_input.target_position = [1.0]
    for name, limit in limits.items():
        setattr(ruckig_input, name, [float((limit[moving] / np.abs(b - a)[moving]).min())])
    ruckig_input.minimum_duration = duration
    found = ruckig.Trajectory(1)
    try:
        ruckig_result = ruckig.Ruckig(1).calculate(ruckig_input, found)
    except ruckig.RuckigError as error:
        raise SuppleError(f"no such move: {' '.join(str(error).split())}") from None
    if ruckig_result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise SuppleError(f"no such move was found ({ruckig_result.name}): give other limits")
    if duration is not None and duration < found.duration * (1 - 1e-9):
        raise SuppleError(
            f"duration is {duration:.4g} s: the limits allow no move faster than "
            f"{found.duration:.4g} s"
        )
    t, s, sd, sdd = _knots(found)
    move = b - a
    return JerkLimited(t, a + np.outer(s, move), np.outer(sd, move), np.outer(sdd, move))


def _knots(found: Any) -> tuple[Array, Array, Array, Array]:
    """Times of a profile's changes of jerk, and s, s', s'' there."""
    times = np.cumsum([0.0, *found.profiles[0][0].t])
    t = times[np.append(True, np.diff(times) > 1e-12 * times[-1])]
    t[-1] = found.duration
    s, sd, sdd = (np.array(part)[:, 0] for part in zip(*map(found.at_time, t), strict=True))
    s[[0, -1]] = (0.0, 1.0)
    sd[[0, -1]] = 0.0
    sdd[[0, -1]] = 0.0
    return t, s, sd, sdd


def _each(name: str, value: Any, n: int) -> Array:
    limit = np.asarray(value, float)
    if limit.shape not in ((), (n,)) or not ((limit > 0) & (limit <= LARGEST_LIMIT)).all():
        raise SuppleError(
            f"{name} is {brief(value)}: give one positive limit (at most {LARGEST_LIMIT:g}) for "
            f"all coordinates, or one for each of the {n}"
        )
    return np.broadcast_to(limit, (n,)).astype(float)


@dataclass(frozen=True, eq=False)
class PathTiming(Trajectory):
    """Fastest motion along a joint path within effort limits, theta = p(s(t)).

    From `supple.effort_limited`.

    Attributes
    ----------
    model : Model
        Model whose efforts are limited.
    effort_limit : ndarray
        Limits (joints,), N m or N.
    knots, points : ndarray
        Lengths along the path (m,) and joint coordinates there (m, joints); the path is the cubic
        spline through them.
    s, speed : ndarray
        Lengths (N + 1,) and s' there; s'' is constant in between.
    """

    model: Model
    effort_limit: Array
    knots: Array
    points: Array
    s: Array
    speed: Array
    smooth = True

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of the motors."""
        return tuple(name for name, _ in architecture_of(self.model.robot).motors)

    @cached_property
    def line(self) -> Any:
        """The spline p(s)."""
        return _spline(self.knots, self.points)

    @frozen_property
    def times(self) -> Array:
        """(N + 1,) s, when the lengths `s` are passed."""
        return np.concatenate(
            [[0.0], np.cumsum(2 * np.diff(self.s) / (self.speed[1:] + self.speed[:-1]))]
        )

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(self.times[1:-1].tolist())

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        times = self.times
        v = self.speed
        k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
        d = t - times[k]
        push = ((v[1:] - v[:-1]) / np.diff(times))[k]
        s = np.clip(self.s[k] + d * (v[k] + d * push / 2), 0.0, self.s[-1])
        sd = np.maximum(v[k] + d * push, 0.0)[:, None]
        p, p1, p2 = (self.line(s, order) for order in range(3))
        return p, p1 * sd, p2 * sd**2 + p1 * push[:, None]

    def effort(self, t: ArrayLike) -> Array:
        """Return the efforts (N, joints) of the arm that does not bend, at times (N,)."""
        return _unbent(self.model, *self(np.atleast_1d(np.asarray(t, float))))

    def __repr__(self) -> str:
        return (
            f"<PathTiming of {self.model.robot.name}: {self.duration:.5g} s over "
            f"{self.s[-1]:.4g} of joint motion>"
        )


def _spline(knots: Array, points: Array) -> Any:
    from scipy.interpolate import CubicSpline

    return CubicSpline(knots, points)


def _unbent(model: Model, x: Array, v: Array, a: Array) -> Array:
    """Efforts (N, joints) of a Model whose links stay straight."""
    k = model.joints
    wide = [np.pad(part, ((0, 0), (0, model.size - k))) for part in (x, v, a)]
    return np.asarray(model.inverse_dynamics(*wide))[:, :k]


def _line(model: Model, given: Any, rate: float | None) -> tuple[Array, Array]:
    """Lengths and joints of the knots of a path, of points or of a Trajectory."""
    joints = model.joints
    path = given
    if rate is not None or isinstance(given, Trajectory | str | PathLike):
        path = trajectory_for(model.robot, given, rate=rate)
    if isinstance(path, Samples) and isinstance(given, str | PathLike):
        path = path.positions  # way-points: their times do not matter
    if isinstance(path, Trajectory):
        if path.periodic:
            raise SuppleError("trajectory repeats: give one that begins and ends")
        x = path(np.linspace(0.0, path.duration, 10 * PATH_KNOTS + 1))[0]
    else:
        words = "give a Trajectory, or two or more points of joint coordinates"
        x = reals("trajectory", path, words)
        if x.ndim != 2 or len(x) < 2 or not np.isfinite(x).all():
            raise SuppleError(f"trajectory is {brief(path)}: {words}")
    if x.shape[1] != joints:
        raise SuppleError(f"trajectory has {x.shape[1]} coordinates: the arm has {joints} joints")
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
    new = np.append(True, np.diff(way) > 1e-9 * way[-1])
    if new.sum() < 2:
        raise SuppleError("trajectory does not move: there is nothing to time")
    way = way[new]
    x = x[new]
    if isinstance(path, Trajectory) or len(way) < 4:
        even = np.linspace(0.0, way[-1], min(PATH_KNOTS, max(4, len(way))) + 1)
        if isinstance(path, Trajectory):
            x = np.stack([np.interp(even, way, column) for column in x.T], axis=1)
        else:
            from scipy.interpolate import CubicSpline

            x = CubicSpline(way, x)(even)
        way = even
    return way, x


@also_called(path="trajectory")
@checked
def effort_limited(
    model: Model,
    trajectory: Trajectory | str | ArrayLike,
    effort_limit: Annotated[float | Sequence[float], some(0)] | None = None,
    *,
    speed_limit: Annotated[float | Sequence[float], some(0)] | None = None,
    acceleration_limit: Annotated[float | Sequence[float], some(0)] | None = None,
    pieces: Annotated[int, whole_number(10, 5000)] = 200,
    rate: float | None = None,
) -> PathTiming:
    """Fastest motion along a given joint path within effort limits, at rest at both ends.

    Parameters
    ----------
    model : Model
        Model of a robot with or without loops. Efforts are those of its undeformed links, so any
        basis will do.
    trajectory : Trajectory, str or array_like
        Path whose shape is kept and whose timing is replaced: a Trajectory, the name of a file,
        samples with their `rate`; or joint coordinates (K, joints), joined by a cubic spline.
    effort_limit : float or sequence, optional
        One value or one per joint, N m or N. Default: the joints' own.
    speed_limit, acceleration_limit : float or sequence, optional
        Limits of the joints, one value or one per joint.
    pieces : int
        Number of pieces of the path, on each of which s'' is constant.
    rate : float, optional
        Samples per second, if samples are given.

    Returns
    -------
    PathTiming
        A Trajectory.

    Notes
    -----
    Needs the extra `motion` (TOPP-RA, [Pham2018]). The efforts are within their limits at both ends
    of each piece.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> path = supple.PointToPoint([0, 0], [0.5, 0.3], 1.0)
    >>> round(supple.effort_limited(model, path, effort_limit=1.0).duration, 2)
    1.2
    """
    n = model.joints
    loose = [name for name in model.coordinates if name.startswith("passive.")]
    if loose:
        raise SuppleError(
            f"{loose[0].removeprefix('passive.')} swings freely, so that efforts alone do not lead "
            "the robot along a path: plan the move with its swing instead, supple.plan"
        )
    if not n:
        raise SuppleError(f"no joint of {model.robot.name} moves: there is nothing to time")
    own = [motor.effort_limit for motor in model.motors]
    if effort_limit is None and any(value is None for value in own):
        raise SuppleError("effort_limit: the robot names none for every joint, so give it")
    effort = _each("effort_limit", own if effort_limit is None else effort_limit, n)
    knots, points = _line(model, trajectory, rate)
    line = _spline(knots, points)
    static_shares = np.abs(_unbent(model, line(knots), 0 * points, 0 * points)) / effort
    if static_shares.max() >= 1:
        worst = np.unravel_index(np.argmax(static_shares), static_shares.shape)
        raise SuppleError(
            f"effort_limit cannot hold the arm at {np.round(points[worst[0]], 4).tolist()}: joint "
            f"{worst[1] + 1} needs {static_shares.max():.3g} times as much"
        )
    bounds = {
        "speed": None if speed_limit is None else _each("speed_limit", speed_limit, n),
        "acceleration": None
        if acceleration_limit is None
        else _each("acceleration_limit", acceleration_limit, n),
    }
    s = knots[-1] * (1 - np.cos(np.linspace(0.0, np.pi, pieces + 1))) / 2  # as s grows with t^2
    terms = _Terms(model, line, s)
    guess = np.zeros(pieces + 1)
    for _ in range(ROUNDS):
        speed = _profile(knots, points, s, terms.at(guess), effort, bounds)
        if not terms.odd or np.abs(speed - guess).max() <= 1e-4 * speed.max():
            break
        guess = (guess + speed) / 2  # the mean: faster means more damping, and so slower
    return PathTiming(model, effort, knots, points, s, speed)


class _Terms:
    """tau = a s'' + b s'^2 + c along a path: the arm's efforts, its links unbent."""

    def __init__(self, model: Model, line: Any, s: Array) -> None:
        self.model, self.p = model, [line(s, order) for order in range(3)]
        p, p1, p2 = self.p
        zero = np.zeros_like(p)
        self.c = _unbent(model, p, zero, zero)
        self.a = _unbent(model, p, zero, p1) - self.c
        there, back = (_unbent(model, p, sign * p1, p2) for sign in (1, -1))
        self.b = (there + back) / 2 - self.c
        self.odd = bool(np.abs(there - back).max() > 1e-9 * np.abs(there).max())

    def at(self, speed: Array) -> tuple[Array, Array, Array]:
        """Return a, b, c with the odd terms of a speed (N,) in c."""
        p, p1, _ = self.p
        v = p1 * speed[:, None]
        there, back = (_unbent(self.model, p, sign * v, 0 * v) for sign in (1, -1))
        return self.a, self.b, self.c + (there - back) / 2


def _profile(
    knots: Array, points: Array, s: Array, terms: Any, effort: Array, bounds: dict[str, Any]
) -> Array:
    """s' (N + 1,) of the fastest motion."""
    try:
        from toppra import SplineInterpolator, algorithm, constraint
        from toppra.constraint import linear_constraint
    except ImportError:
        raise SuppleError(f"a path under effort limits {EXTRA}") from None
    eye = np.eye(len(effort))
    F, g = np.vstack([eye, -eye]), np.concatenate([effort, effort])

    class Efforts(constraint.LinearConstraint):  # type: ignore[misc]
        """|tau| within the limits, at both ends of a piece."""

        identical = True

        def __init__(self) -> None:
            super().__init__()
            self.identical = True

        def compute_constraint_params(self, path: Any, gridpoints: Array) -> Any:
            return linear_constraint.canlinear_colloc_to_interpolate(
                *terms, F, g, None, None, gridpoints, identical=True
            )

    limits = [Efforts()]
    if bounds["speed"] is not None:
        limits.append(constraint.JointVelocityConstraint(np.outer(bounds["speed"], [-1, 1])))
    if bounds["acceleration"] is not None:
        limits.append(
            constraint.JointAccelerationConstraint(
                np.outer(bounds["acceleration"], [-1, 1]),
                discretization_scheme=constraint.DiscretizationType.Interpolation,
            )
        )
    found = algorithm.TOPPRA(limits, SplineInterpolator(knots, points), gridpoints=s)
    speed = found.compute_parameterization(0, 0)[1]
    if speed is None or not np.isfinite(speed).all() or not (speed[1:-1] > 0).all():
        raise SuppleError(
            "no motion along the path keeps the limits: raise effort_limit, or give another path"
        )
    return np.asarray(speed, float)
