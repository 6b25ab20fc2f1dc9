"""Shaped commands: a trajectory or samples convolved with a Shaper, fixed or scheduled over a path.

A fixed shaper gives y(t) = sum A_i x(t - t_i). Where the frequency changes along the path, delays
are measured in the phase p(t) = int w dt of the mode instead of in time:

    y(t) = sum A_i x(t_i*),    p(t) - p(t_i*) = w_0 t_i,

which leaves a mode of slowly changing frequency at rest as a fixed one would (the amplitude of such
a mode depends on its phase alone).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import Timed, frozen_property
from ..arguments import brief, reals
from ..errors import SuppleError
from .shapers import Shaper
from .trajectories import Motion, Trajectory

__all__ = ["Samples", "Scheduled", "Shaped", "residual_amplitude", "shaped"]

Array = NDArray[np.float64]
POINTS = 41  # at which a frequency is asked along a path
MOST = 2561  # the same along a path of many moves
CUBIC_POWERS = np.array([3.0, 2.0, 1.0, 0.0])
FITS = 2e-3  # of the frequency: what a polynomial through POINTS may miss


def _apart(times: Array, T: float) -> tuple[float, ...]:
    """Times within 0..T, rising, of those that coincide but for rounding one."""
    found = np.sort(times)
    new = np.diff(found, prepend=0.0) > 1e-9 * T
    return tuple(found[new & (found < T * (1 - 1e-9))].tolist())


@dataclass(frozen=True)
class Shaped(Trajectory):
    """y(t) = sum A_i x(t - t_i): a trajectory convolved with a shaper, longer by its duration."""

    unshaped: Trajectory
    shaper: Shaper

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of its coordinates."""
        return self.unshaped.names

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return self.unshaped.smooth

    @property
    def periodic(self) -> bool:  # type: ignore[override]
        return self.unshaped.periodic

    @property
    def duration(self) -> float:
        return self.unshaped.duration + (0.0 if self.periodic else self.shaper.duration)

    @property
    def breaks(self) -> tuple[float, ...]:
        return self._delayed_times(self.unshaped.breaks)

    @property
    def seams(self) -> tuple[float, ...]:
        return self._delayed_times(self.unshaped.seams)

    def _delayed_times(self, times: tuple[float, ...]) -> tuple[float, ...]:
        """Both ends of what is shaped and times between them, after every impulse."""
        T = self.duration
        once = np.array([0.0, *times, self.unshaped.duration])
        found = np.add.outer(self.shaper.times, once).ravel()
        return _apart(found % T if self.periodic else found, T)

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        x = 0.0
        v = 0.0
        a = 0.0
        for delay, share in zip(self.shaper.times, self.shaper.amplitudes, strict=True):
            moved = self.unshaped(t - delay)
            x = x + share * moved[0]
            v = v + share * moved[1]
            a = a + share * moved[2]
        return np.asarray(x), np.asarray(v), np.asarray(a)


@dataclass(frozen=True, eq=False)
class Scheduled(Trajectory):
    """A trajectory shaped for a mode whose frequency changes along it.

    Attributes
    ----------
    unshaped
        What is shaped.
    shaper
        Its impulses, in units of its own design frequency.
    times, omega
        (m,) the mode's circular frequency over time, from 0 to the end; held outside.
    """

    unshaped: Trajectory
    shaper: Shaper
    times: Array
    omega: Array
    smooth: bool = field(default=True, init=False)

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of its coordinates."""
        return self.unshaped.names

    def __post_init__(self) -> None:
        """Check the schedule."""
        super().__post_init__()
        if self.unshaped.periodic:
            raise SuppleError("a periodic trajectory cannot be scheduled: shape one period of it")
        if not (np.asarray(self.omega) > 0).all():
            raise SuppleError("the scheduled frequency must be positive along the whole path")

    @cached_property
    def _phase(self) -> tuple[Any, Any, Any]:
        """w, w' and p as functions of t >= 0: one polynomial, so that what follows is smooth.

        A spline where there are more points than a polynomial of a few terms goes through.
        """
        if len(self.times) > POINTS:
            from scipy.interpolate import CubicSpline

            spline = CubicSpline(self.times, self.omega)
            return spline, spline.derivative(), spline.antiderivative()
        w = Chebyshev.fit(self.times, self.omega, min(16, len(self.times) // 2))
        return w, w.deriv(), w.integ(lbnd=self.times[0])

    def omega_at(self, t: Array) -> Array:
        """The mode's circular frequency at times, rad/s."""
        return np.asarray(self._outside(t)[0])

    def _outside(self, t: Array) -> tuple[Array, Array, Array]:
        """w, w', p at any time: constant frequency before and after the schedule."""
        w, wd, p = self._phase
        first = self.times[0]
        last = self.times[-1]
        inside = np.clip(t, first, last)
        is_outside = (t < first) | (t > last)
        return (
            w(inside),
            np.where(is_outside, 0.0, wd(inside)),
            p(inside) + w(inside) * (t - inside),
        )

    def _when(self, phase: Array) -> Array:
        """The times at which the phase has these values: Newton from a table."""
        grid, known = self._table
        t = np.interp(phase, known, grid)
        ends = self._phase[0](grid[[0, -1]])
        t = np.where(phase < known[0], grid[0] + (phase - known[0]) / ends[0], t)
        t = np.where(phase > known[-1], grid[-1] + (phase - known[-1]) / ends[1], t)
        for _ in range(4):
            w, _, p = self._outside(t)
            t = t - (p - phase) / w
        return np.asarray(t)

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """Times and phases to begin with."""
        grid = np.linspace(self.times[0], self.times[-1], 20 * len(self.times))
        return grid, self._outside(grid)[2]

    @frozen_property
    def _delays(self) -> Array:
        """(n,) phases of the impulses."""
        return 2 * np.pi * self.shaper.frequency_hz * self.shaper.times

    @cached_property
    def duration(self) -> float:
        """When it ends, s."""
        end = self._outside(np.array([self.unshaped.duration]))[2]
        return float(self._when(end + self._delays[-1])[0])

    @property
    def breaks(self) -> tuple[float, ...]:
        once = np.array([0.0, *self.unshaped.breaks, self.unshaped.duration])
        phases = np.add.outer(self._delays, self._outside(once)[2]).ravel()
        return _apart(np.append(self._when(phases), self.times[-1]), self.duration)

    @property
    def seams(self) -> tuple[float, ...]:
        phases = np.add.outer(self._delays, self._outside(self.times)[2]).ravel()
        joints = self._when(phases) if len(self.times) > POINTS else np.empty(0)
        return _apart(np.concatenate([self.breaks, joints]), self.duration)

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        w, wd, p = self._outside(t)
        x = 0.0
        v = 0.0
        a = 0.0
        for delay, share in zip(self._delays, self.shaper.amplitudes, strict=True):
            then = self._when(p - delay)
            w_then, wd_then, _ = self._outside(then)
            r = w / w_then
            rd = (wd - r**2 * wd_then) / w_then
            x1, v1, a1 = self.unshaped(then)
            x = x + share * x1
            v = v + share * r[:, None] * v1
            a = a + share * (r[:, None] ** 2 * a1 + rd[:, None] * v1)
        return np.asarray(x), np.asarray(v), np.asarray(a)


@dataclass(frozen=True, eq=False)
class Samples(Timed, Trajectory):
    """A trajectory through samples: cubic splines, at rest at both ends.

    Parameters
    ----------
    t : array_like
        Increasing times (N,), s. The trajectory's own time begins at 0; `begin` keeps the first of
        them.
    positions : array_like
        Coordinates at these times, (N, n) or (N,), rad or m.
    velocities : array_like, optional
        Velocities (N, n), where known: the splines match them too.
    names : sequence of str, optional
        Names of the coordinates: the robot's links or joints, in any order.
    begin : float
        First time of the original samples, s.
    header : mapping
        Other fields of a ROS message, kept for writing.

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> move = supple.Samples(t, np.column_stack([t**2 * (3 - 2 * t), 0 * t]))
    >>> move.at(0.5)[0].round(6)
    array([0.5, 0. ])
    """

    t: Array
    positions: Array
    velocities: Array | None = None
    names: tuple[str, ...] = ()
    begin: float = 0.0
    header: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    smooth: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the samples, and let their time begin at 0."""
        t = reals("t", self.t, "give rising times in seconds")
        positions = reals("positions", self.positions, "give coordinates (N, n), a row a time")
        if t.ndim != 1 or positions.ndim not in (1, 2) or len(t) != len(positions) or len(t) < 2:
            raise SuppleError(
                f"samples need times (N,) and positions (N, n), two or more of them: t has shape "
                f"{t.shape} and positions {positions.shape}"
            )
        positions = positions.reshape(len(t), -1)
        if not positions.shape[1]:
            raise SuppleError("positions hold no coordinate: give one column for each joint")
        velocities = self.velocities
        if velocities is not None:
            velocities = reals("velocities", velocities).reshape(len(t), -1)
            if velocities.shape != positions.shape:
                raise SuppleError(
                    f"velocities have shape {velocities.shape} and positions {positions.shape}: "
                    "give one for each"
                )
        together = (t, positions) if velocities is None else (t, positions, velocities)
        if not all(np.isfinite(part).all() for part in together):
            raise SuppleError("t and positions must be finite numbers")
        if (np.diff(t) <= 0).any():
            k = int(np.argmax(np.diff(t) <= 0))
            raise SuppleError(
                f"t does not rise from {t[k]:g} s to {t[k + 1]:g} s (sample {k + 2}): give rising "
                "times"
            )
        given: Any = self.names
        if isinstance(given, str) or not all(isinstance(name, str) for name in given):
            raise SuppleError(f"names is {brief(given)}: give the names of the coordinates")
        names = tuple(given)
        if names and len(names) != positions.shape[1]:
            raise SuppleError(
                f"{len(names)} names are given ({', '.join(names):.60}) for {positions.shape[1]} "
                "coordinates: give one for each"
            )
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise SuppleError(f"two coordinates are named {twice:.60}: every name stands once")
        object.__setattr__(self, "begin", self.begin + float(t[0]))
        object.__setattr__(self, "t", t - t[0])
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "velocities", velocities)
        object.__setattr__(self, "names", names)
        super().__post_init__()

    @property
    def seams(self) -> tuple[float, ...]:
        return tuple(self.t[1:-1].tolist())

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicHermiteSpline, CubicSpline

        if self.velocities is not None:
            return CubicHermiteSpline(self.t, self.positions, self.velocities)
        return CubicSpline(self.t, self.positions, bc_type="clamped")

    @cached_property
    def _evaluator(self) -> Callable[[float], Motion]:
        """One time from the coefficients of the spline."""
        return _SplineMotion(self.t.tolist(), np.moveaxis(self._spline.c, 0, 1).copy())

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the samples."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_spline"}

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        return self._spline(t), self._spline(t, 1), self._spline(t, 2)


class _SplineMotion:
    """Position, velocity and acceleration at one time, from the coefficients of cubic pieces."""

    __slots__ = ("coefficients", "double", "last", "size", "times")

    def __init__(self, times: list[float], coefficients: Array) -> None:
        # (pieces, 4, n), highest power first, to (pieces, 4, 3 n): the rates side by side with it
        cubic, square, linear, _ = np.moveaxis(coefficients, 1, 0)
        none = np.zeros_like(cubic)
        velocity = np.stack([none, 3 * cubic, 2 * square, linear], axis=1)
        acceleration = np.stack([none, none, 6 * cubic, 2 * square], axis=1)
        self.coefficients = list(np.concatenate([coefficients, velocity, acceleration], axis=2))
        self.times = times
        self.size = cubic.shape[1]
        self.double = 2 * self.size
        self.last = len(times) - 2

    def __call__(self, t: float) -> Motion:
        """Return the motion at one time, (n,) each."""
        k = min(max(bisect_right(self.times, t) - 1, 0), self.last)
        row = ((t - self.times[k]) ** CUBIC_POWERS) @ self.coefficients[k]
        return row[: self.size], row[self.size : self.double], row[self.double :]


@overload
def shaped(trajectory: Trajectory, shaper: Shaper) -> Shaped: ...
@overload
def shaped(trajectory: ArrayLike, shaper: Shaper, rate: float) -> Array: ...
def shaped(trajectory: Any, shaper: Shaper, rate: float | None = None) -> Any:
    """Convolve a trajectory, or samples of one, with a shaper.

    Parameters
    ----------
    trajectory : Trajectory or array_like
        A Trajectory, or positions (N,) or (N, joints) sampled at `rate`.
    shaper : Shaper
        From `supple.shaper`.
    rate : float, optional
        Samples per second, if samples are given.

    Returns
    -------
    Trajectory or ndarray
        Of the same sort as the input, longer by the duration of the shaper. Before the samples the
        first value applies, after them the last one, until the last impulse has ended.

    Examples
    --------
    >>> import supple
    >>> move = supple.PointToPoint([0, 0], [0.5, 0.3], 1.0)
    >>> round(supple.shaped(move, supple.shaper("zvd", 7.2, 0.02)).duration, 4)
    1.1389
    """
    if not isinstance(shaper, Shaper):
        raise SuppleError(f"shaper is {brief(shaper)}: give one made by supple.shaper('zvd', 7.2)")
    if isinstance(trajectory, Trajectory):
        if rate is not None:
            raise SuppleError("rate is for samples: a Trajectory needs none")
        return Shaped(trajectory, shaper)
    try:
        x = np.asarray(trajectory, float)
    except (OverflowError, TypeError, ValueError):
        x = np.empty(0)
    if x.ndim not in (1, 2) or len(x) < 2 or not np.isfinite(x).all():
        raise SuppleError("give a Trajectory, or samples (N,) or (N, joints) of finite numbers")
    if rate is None or not np.isfinite(rate) or rate <= 0:
        raise SuppleError("samples need their rate in Hz: shaped(samples, shaper, rate=1000)")
    c = shaper.discrete(rate)
    columns = x.reshape(len(x), -1)
    tail = np.repeat(columns[-1:], len(c) - 1, axis=0)
    moved = np.concatenate([columns, tail]) - columns[0]
    y = np.stack([np.convolve(column, c)[: len(moved)] for column in moved.T], axis=1)
    y[-1] = moved[-1]  # the sum of the coefficients is one but for rounding
    return (y + columns[0]).reshape(len(y), *x.shape[1:])


def residual_amplitude(
    t: Array, positions: Array, frequency_hz: ArrayLike, damping_ratio: ArrayLike
) -> Array:
    """Return the vibration that a command leaves in a mode, (modes, joints), units of the command.

    An oscillator y'' + 2 zeta w y' + w^2 y = -x'' on the command, positions (N, joints) joined by
    straight lines: x'' is a row of impulses, jumps of velocity dv_k at t_k, and the amplitude at
    the last sample is |sum dv_k exp(s (t_k - t_N))| / w_d with s = zeta w + i w_d. `frequency_hz`
    is (modes,), or (modes, N) where it changes slowly: then s (t_k - t_N) is the integral of s, and
    1/w_d is 1/sqrt(w_d(t_k) w_d(t_N)), as the action of a mode, energy over frequency, is kept.
    """
    v = np.diff(positions, axis=0) / np.diff(t)[:, None]
    at_rest = np.zeros((1, positions.shape[1]))
    jumps = np.diff(np.concatenate([at_rest, v, at_rest]), axis=0)
    along = np.asarray(frequency_hz, float)
    along = along if along.ndim == 2 else np.atleast_1d(along)[:, None]
    ratios = np.broadcast_to(np.asarray(damping_ratio, float), len(along))
    found = []
    for f, zeta in zip(along, ratios, strict=True):
        s = 2 * np.pi * f * complex(zeta, np.sqrt(1 - zeta**2))
        if len(f) == 1:
            turned = s * (t - t[-1])
        else:
            turned = np.concatenate([[0.0], np.cumsum((s[1:] + s[:-1]) / 2 * np.diff(t))])
            turned = turned - turned[-1]
        share = np.exp(turned) / np.sqrt(s.imag * s.imag[-1])
        found.append(np.abs(share @ jumps))
    return np.array(found)


def schedule(
    trajectory: Trajectory,
    shaper: Shaper,
    omega_at: Callable[[Array], Array],
    rounds: int = 3,
) -> Scheduled:
    """Return a trajectory shaped for a mode of circular frequency `omega_at(poses (m, n)) -> (m,)`.

    The frequency is taken along the shaped motion itself, found by repetition; at more points
    where the path has many moves.
    """
    moved: Trajectory = trajectory
    end = trajectory.duration
    points = POINTS
    for _ in range(rounds):
        while True:
            times = np.linspace(0.0, end, points)
            omega = omega_at(moved(times)[0])
            found = Scheduled(trajectory, shaper, times, omega)
            between = (times[1:] + times[:-1]) / 2
            missed = found.omega_at(between) / omega_at(moved(between)[0]) - 1
            if points >= MOST or float(np.abs(missed).max()) < FITS:
                break
            points = 2 * points - 1
        moved = found
        end = found.duration
    return found
