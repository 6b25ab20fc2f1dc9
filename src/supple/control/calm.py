"""The fastest move that ends calm: a time law found by linear programming.

Along a straight line x(t) = start + s(t) (end - start) the acceleration s'' is piecewise linear on
N pieces. Speed, acceleration and jerk are bounded, and so is what is left in a mode of phase
p(t) = int w dt when the move ends,

    |int s'' exp((zeta + i sqrt(1 - zeta^2)) g (p(t) - p(T))) g w dt| <= left max|s''|,

at several g about 1: as much error of the frequency does no harm. All of this is linear in s'' (the
disc a polygon of sixteen sides), so the least residual of a duration is one linear programme, and
the least duration is found by bisection. `left` is a part of the bending under the largest
acceleration; a step of acceleration leaves 1, a bang-bang move up to 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..answers.immutable import Timed
from ..errors import SuppleError
from .trajectories import LAWS, Trajectory

__all__ = ["CalmMove", "Mode", "calmest", "left_by"]

Array = NDArray[np.float64]
PIECES = 64
SIDES = 16
PHASE_STEP = 0.4  # rad that the fastest mode turns between two edges of the quadrature
BAND_STEP = 0.3  # rad by which the phase of the whole move differs from one frequency to the next
MOST_FREQUENCIES = 41  # of a mode in a linear programme; what is left is judged at all of them
COARSE = 0.05  # of the shortest time: steps in which a longer duration is looked for, at least
GAUSS = np.array([-np.sqrt(0.6), 0.0, np.sqrt(0.6)]), np.array([5, 8, 5]) / 18


@dataclass(frozen=True, eq=False)
class CalmMove(Timed, Trajectory):
    """Straight move whose acceleration is piecewise linear, x = start + s(t) (end - start).

    From `supple.calm_move`.

    Attributes
    ----------
    start, end : ndarray
        Coordinates (n,), rad or m.
    t : ndarray
        Times (N + 1,), s.
    acceleration : ndarray
        Values of s'' at these times, (N + 1,), zero at both ends.
    left : float
        Largest residual vibration within the design band of frequencies, as a fraction of the
        bending under the largest acceleration.
    names : tuple of str
        Names of the coordinates, where known.
    """

    start: Array
    end: Array
    t: Array
    acceleration: Array
    left: float
    names: tuple[str, ...] = ()

    @property
    def breaks(self) -> tuple[float, ...]:
        jerk = np.diff(self.acceleration)
        return tuple(self.t[1:-1][np.abs(np.diff(jerk)) > 1e-6 * np.abs(jerk).max()].tolist())

    @cached_property
    def law(self) -> tuple[Array, Array]:
        """s and s' at the knots."""
        h = np.diff(self.t)
        a = self.acceleration
        v = np.concatenate([[0.0], np.cumsum(h * (a[:-1] + a[1:]) / 2)])
        moved = h * v[:-1] + h**2 * (2 * a[:-1] + a[1:]) / 6
        return np.concatenate([[0.0], np.cumsum(moved)]), v

    def along(self, t: Array) -> tuple[Array, Array]:
        """Return s and s'' at times (M,)."""
        s, _, acceleration = self._law_at(t)
        return s, acceleration

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        s, speed, acceleration = self._law_at(t)
        distance = self.end - self.start
        position = self.start + np.outer(s, distance)
        return position, np.outer(speed, distance), np.outer(acceleration, distance)

    def _law_at(self, t: Array) -> tuple[Array, Array, Array]:
        """s, s' and s'' at times (M,); between two knots the jerk is constant."""
        s_at_knots, v_at_knots = self.law
        last = len(self.t) - 2
        k = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, last)
        s = s_at_knots[k]
        v = v_at_knots[k]
        a = self.acceleration[k]
        jerk = (self.acceleration[k + 1] - a) / (self.t[k + 1] - self.t[k])
        d = t - self.t[k]
        return s + d * v + d**2 / 2 * a + d**3 / 6 * jerk, v + d * a + d**2 / 2 * jerk, a + d * jerk


@dataclass(frozen=True)
class Mode:
    """A mode to be left calm: circular frequency over s, (m,) at even s from 0 to 1, and ratio."""

    omega: Array
    damping_ratio: float = 0.0


def calmest(
    start: Array,
    end: Array,
    modes: list[Mode],
    limits: tuple[float, float, float],
    *,
    left: float = 0.02,
    band: float = 0.1,
    duration: float | None = None,
) -> CalmMove:
    """Return the fastest move within `left`, or the calmest of a given duration.

    Parameters
    ----------
    start, end
        (n,) coordinates.
    modes
        To be left calm; their frequencies are followed along the move.
    limits
        The largest s', s'' and s''', 1/s, 1/s^2 and 1/s^3.
    left
        As in `CalmMove`.
    band
        By which part frequencies may be off, to both sides.
    duration
        s.
    """
    V, A, J = limits
    least = _least_time(V, A, J)
    if duration is not None:
        if duration < least:
            raise SuppleError(
                f"duration is {duration:.4g} s: the limits allow no move faster than {least:.4g} s"
            )
        only = _iterate_frequencies(start, end, modes, limits, duration, band)
        if not np.isfinite(only.left):
            raise SuppleError(
                f"duration is {duration:.4g} s: no move found that keeps the limits; give more time"
            )
        return only
    slowest = 2 * np.pi / min(float(mode.omega.min()) for mode in modes)
    low = least
    high = least + 2 * slowest
    best = _iterate_frequencies(start, end, modes, limits, high, band)
    longer = max(
        slowest, COARSE * least
    )  # pieces of a stiff arm's move are longer than its periods
    while best.left > left:
        low = high
        high = high + longer
        if high > least + 2 * slowest + 12 * longer:
            raise SuppleError(_too_much_left(best, low, limits))
        best = _iterate_frequencies(start, end, modes, limits, high, band, best)
    while high - low > 3e-3 * high:
        middle = (low + high) / 2
        found = _iterate_frequencies(start, end, modes, limits, middle, band, best)
        if found.left <= left:
            high = middle
            best = found
        else:
            low = middle
    return best


def _too_much_left(best: CalmMove, duration: float, limits: tuple[float, float, float]) -> str:
    """Why no move was found: limits that pieces cannot keep, or too much vibration."""
    if not np.isfinite(best.left):
        rise = limits[1] / limits[2]
        return (
            f"no move of up to {duration:.4g} s keeps the limits: acceleration may rise within "
            f"{rise:.3g} s, which {PIECES} pieces of the move do not resolve; give a lower "
            "jerk_limit"
        )
    return (
        f"no move within {duration:.4g} s leaves less than {best.left:.2g} of the bending: "
        "allow more to be left, a narrower band, or higher limits"
    )


def _residual_bound(move: CalmMove, modes: list[Mode], band: float, largest: float) -> float:
    """What a move leaves at most within the band, a part of the bending under `largest` s''.

    The integral over the move by Gauss's rule on intervals in which no mode turns by more than
    PHASE_STEP, for frequencies so near that none between leaves 1.2 % more.
    """
    from scipy.interpolate import CubicSpline

    nodes, weights = GAUSS
    T = move.duration
    worst = 0.0
    for mode in modes:
        fastest = float(mode.omega.max()) * (1 + band)
        count = PIECES * max(4, int(np.ceil(T / PIECES * fastest / PHASE_STEP)))
        edges = np.linspace(0.0, T, count + 1)
        step = T / count
        t = (edges[:-1, None] + step / 2 * (1 + nodes)).ravel()
        places = np.linspace(0.0, 1.0, len(mode.omega))
        omega = CubicSpline(edges, np.interp(move.along(edges)[0], places, mode.omega))
        phase = omega.antiderivative()
        left_to_go = phase(t) - phase(T)
        load = move.along(t)[1] * omega(t) * np.tile(weights, count) * step
        turned = band * float(phase(T))
        frequencies = [1.0]
        if band:
            frequencies = np.linspace(
                1 - band, 1 + band, max(5, int(np.ceil(2 * turned / BAND_STEP)) + 1)
            ).tolist()
        rate = mode.damping_ratio + 1j * np.sqrt(1 - mode.damping_ratio**2)
        for g in frequencies:
            worst = max(worst, float(abs(g * np.exp(rate * g * left_to_go) @ load)))
    between = 1 / np.cos(BAND_STEP / 2) if band else 1.0
    return worst * between / largest


def left_by(
    trajectory: Trajectory, start: Array, end: Array, modes: list[Mode], band: float
) -> float:
    """Return what a straight move leaves of modes, as `CalmMove.left` measures it.

    A part of the bending under a unit of s'': divide it by the largest s'' to compare.
    """
    along = (end - start) / float((end - start) @ (end - start))
    turned = max(float(mode.omega.max()) for mode in modes) * trajectory.duration
    t = np.linspace(0.0, trajectory.duration, max(4001, 4 * int(turned) + 1))
    x, _, a = trajectory(t)
    s = np.clip((x - start) @ along, 0.0, 1.0)
    rows = _residuals(t, [_phase(mode, t, s) for mode in modes], band)
    return float(max(abs(row @ (a @ along)) for row in rows))


def _least_time(V: float, A: float, J: float) -> float:
    """The shortest rest to rest move over s = 0..1 under the three limits."""
    rise = A / J
    if A * rise >= V:  # full acceleration is not reached on the way to full speed
        rise = np.sqrt(V / J)
        top = V
        ramp = 2 * rise
    else:
        ramp = V / A + rise
        top = V
    if top * ramp <= 1:
        return float(2 * ramp + (1 - top * ramp) / top)
    # full speed is not reached: half of the way in one ramp of length r with peak speed 1/r
    low = 0.0
    high = float(ramp)
    for _ in range(80):
        r = (low + high) / 2
        peak = J * r**2 / 4 if r <= 2 * A / J else A * (r - A / J)
        low, high = (r, high) if peak * r < 1 else (low, r)
    return 2 * high


def _iterate_frequencies(
    start: Array,
    end: Array,
    modes: list[Mode],
    limits: tuple[float, float, float],
    T: float,
    band: float,
    near: CalmMove | None = None,
) -> CalmMove:
    """The calmest move of T seconds: frequencies are taken along it, found by repetition."""
    even = np.linspace(0.0, T, PIECES + 1)
    s = LAWS["quintic"](even / T) if near is None else near.law[0]
    changes = any(np.ptp(mode.omega) > 1e-3 * mode.omega.min() for mode in modes)
    for _ in range((3 if near is None else 2) if changes else 1):
        a, rest = _programme(even, [_phase(mode, even, s) for mode in modes], limits, band)
        found = CalmMove(start, end, even, a, rest)
        s = found.law[0]
    if np.isfinite(found.left):
        found = replace(found, left=_residual_bound(found, modes, band, limits[1]))
    return found


def _phase(mode: Mode, t: Array, s: Array) -> tuple[Callable[[Array], Array], Any, float]:
    """Phase and frequency of a mode as functions of time, along s(t)."""
    from scipy.interpolate import CubicSpline

    places = np.linspace(0.0, 1.0, len(mode.omega))
    w = CubicSpline(t, np.interp(np.clip(s, 0, 1), places, mode.omega))
    return w.antiderivative(), w, mode.damping_ratio


def _programme(
    t: Array, phases: list[Any], limits: tuple[float, float, float], band: float
) -> tuple[Array, float]:
    """s'' at the knots with the least largest residual, and that residual."""
    from scipy.optimize import linprog

    V, A, J = limits
    N = len(t) - 1
    h = t[1] - t[0]
    to_v = np.tril(np.ones((N, N)))  # s' at the knots 1..N, from pieces' means
    mean = (np.eye(N, N + 1) + np.eye(N, N + 1, 1)) / 2
    v = h * to_v @ mean
    moved = h * np.vstack([np.zeros(N + 1), v[:-1]]) + h**2 / 6 * (
        2 * np.eye(N, N + 1) + np.eye(N, N + 1, 1)
    )
    rows = []
    bounds = []
    for row in _residuals(t, phases, band):
        for k in range(SIDES):
            angle = 2 * np.pi * (k + 0.5) / SIDES
            side = np.cos(angle) * row.real + np.sin(angle) * row.imag
            rows.append(np.append(side[1:-1], -A * np.cos(np.pi / SIDES)))
            bounds.append(0.0)
    for sign in (1, -1):
        # s' is a parabola in each piece, below the highest of its control points
        for speed in (v, v - h / 2 * np.eye(N, N + 1, 1)):
            rows += list(np.hstack([sign * speed[:, 1:-1], np.zeros((N, 1))]))
            bounds += [V] * N
        jumps = sign * np.diff(np.eye(N + 1), axis=0)[:, 1:-1]
        rows += list(np.hstack([jumps, np.zeros((N, 1))]))
        bounds += [J * h] * N
    equal = np.array([np.append(v[-1, 1:-1], 0.0), np.append(moved.sum(axis=0)[1:-1], 0.0)])
    found = linprog(
        np.append(np.zeros(N - 1), 1.0),
        A_ub=np.array(rows),
        b_ub=np.array(bounds),
        A_eq=equal,
        b_eq=[0.0, 1.0],
        bounds=[(-A, A)] * (N - 1) + [(0, None)],
        method="highs",
    )
    if not found.success:
        return np.zeros(N + 1), np.inf
    return np.concatenate([[0.0], found.x[:-1], [0.0]]), float(found.x[-1])


def _residuals(t: Array, phases: list[Any], band: float) -> list[NDArray[np.complex128]]:
    """Rows over s'' at the knots: the vibration left in a mode, over that of a unit of s''."""
    N = len(t) - 1
    h = t[1] - t[0]
    nodes, weights = GAUSS
    found = []
    for phase, omega, zeta in phases:
        turned = float(phase(t[-1]) - phase(t[0]))
        parts = max(1, int(np.ceil(2 * turned / N / PHASE_STEP)))  # of each piece
        inside = ((np.arange(parts)[:, None] + (1 + nodes) / 2) / parts).ravel()
        at = (t[:-1, None] + h * inside).ravel()
        share = np.tile(inside, N)  # of the knot after
        piece = np.repeat(np.arange(N), len(inside))
        each_weight = np.tile(weights, parts * N) * h / parts
        p = phase(at)
        w = omega(at)
        last = phase(t[-1])
        count = min(MOST_FREQUENCIES, max(5, int(np.ceil(4 * band * turned)) + 1))
        for g in np.linspace(1 - band, 1 + band, count if band else 1):
            value = np.exp((zeta + 1j * np.sqrt(1 - zeta**2)) * g * (p - last))
            value = value * g * w * each_weight
            row = np.zeros(N + 1, complex)
            np.add.at(row, piece, value * (1 - share))
            np.add.at(row, piece + 1, value * share)
            found.append(row)
    return found
