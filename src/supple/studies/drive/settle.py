"""Which small correction lets a move end calm: what its own loads would leave is taken out.

A shaper calms what goes with the acceleration of a command. Loads that go with the square of its
speed, and those that change with the pose, are left; on a large fast move they are a tenth of all.
The elastic motion about the command, M y'' + C y' + K y = F, is linear, and a small correction
u(t) = sum c_k B_k(t) of the command changes F by F_a u'' + F_v u' (F_a, F_v: slopes of F). So
the vibration left in every mode of the robot at rest is r_0 + R c, and the correction is the
smallest one that makes it least, for frequencies a band lower and higher too. B_k are cubic
B-splines within the move: they begin and end at rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import also_called, checked, number, whole_number
from ...control.matching import trajectory_for
from ...control.trajectories import Trajectory
from ...errors import SuppleError
from ...path_dynamics.assembled_path import alike, assembled_path
from ...path_dynamics.elements_on_path import elements_on_path
from ...path_dynamics.small_motion import SmallMotion
from ...robot import Robot, cached_for_robot

__all__ = ["Corrected", "CorrectionWarning", "correction", "leaves", "raising", "settled"]

Array = NDArray[np.float64]
STEPS_PER_PERIOD = 60  # to a period of the lowest mode
KNOTS_PER_PERIOD = 6.0  # knots of the correction to a period
MAX_FREQUENCY_RATIO = 10.0  # times the lowest frequency: modes that are looked after
STEPS_PER_LOAD_SLOPE = 5  # steps from one slope of the loads to the next
WARN_SPEED_FACTOR = 1.5  # times the command's own: a speed or acceleration that is told of
SMALLEST_TRAVEL_SHARE = 0.1  # of the largest: coordinates that move less are held against this much
NARROW_BAND = 0.05  # a band of frequencies that its middle and its ends stand for
MIN_SINGULAR_VALUE_RATIO = 0.02  # of the largest singular value: what is corrected is above it


@dataclass(frozen=True, eq=False)
class Corrected(Trajectory):
    """A trajectory plus a small correction in cubic B-splines.

    From `supple.settled`.

    Attributes
    ----------
    first : Trajectory
        The trajectory that is corrected.
    shares : ndarray
        Coefficients (k, n) of the splines, which begin and end at rest within the move.
    """

    first: Trajectory
    shares: Array
    smooth: bool = field(default=True, init=False)

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of its coordinates."""
        return self.first.names

    @property
    def duration(self) -> float:
        return self.first.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        return self._and_own(self.first.breaks)

    @property
    def seams(self) -> tuple[float, ...]:
        return self._and_own(self.first.seams)

    def _and_own(self, times: tuple[float, ...]) -> tuple[float, ...]:
        """Times, and the knots of the splines."""
        inner = np.linspace(0.0, self.duration, len(self.shares) + 4)[1:-1]
        both = np.sort(np.concatenate([inner, times]))
        return tuple(both[np.diff(both, prepend=-1.0) > 1e-9 * self.duration].tolist())

    @cached_property
    def _spline(self) -> Any:
        return _spline(self.duration, self.shares)

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        x, v, a = (value + self._spline(t, k) for k, value in enumerate(self.first.motion(t)))
        return x, v, a


def _spline(T: float, shares: Array) -> Any:
    """The splines with shares (k, ..), each within 0..T, at rest at both ends of the move."""
    from scipy.interpolate import BSpline

    k = len(shares)
    knots = T / (k + 3) * np.arange(-3, k + 7)  # three more to both sides, with nothing on them
    return BSpline(knots, np.pad(shares, ((3, 3), (0, 0))), 3)


class CorrectionWarning(UserWarning):
    """A correction raises speed or acceleration of its command considerably, or does not help."""


@also_called(command="trajectory")
@checked
def settled(
    robot: Robot,
    trajectory: Trajectory | str | ArrayLike,
    *,
    rate: float | None = None,
    band: Annotated[float, number(0, 0.5)] = 0.05,
    rounds: Annotated[int, whole_number(1, 10)] = 2,
    elements: Annotated[int, whole_number(1, 50)] = 1,
    raised: Annotated[float, number(1)] = WARN_SPEED_FACTOR,
) -> Corrected:
    """Correct a command so that the inertia loads of its own motion leave the robot at rest.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism whose motors follow the command exactly.
    trajectory : Trajectory, str or array_like
        Rest-to-rest command of the motors, or of a Delta's platform: a Trajectory, the name of a
        file, or samples with their `rate`. Best shaped already, so that little is left to correct:
        a plain move that shakes needs several times its speed and acceleration.
    rate : float, optional
        Samples per second, if samples are given.
    band : float
        Relative uncertainty of the frequencies, both ways.
    rounds : int
        Number of correction rounds.
    elements : int
        Finite elements per link.
    raised : float
        Warn if the correction raises peak speed or acceleration by more than this factor.

    Returns
    -------
    Corrected
        The corrected command, a Trajectory.

    Warns
    -----
    CorrectionWarning
        See `raised`.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> move = supple.PointToPoint([0, 0, 0], [0.5, 0.3, 0], 1.0)
    >>> command = supple.shaped(move, supple.shaper("zvd", 5.0))
    >>> round(supple.settled(robot, command).duration, 3)
    1.2
    """
    command = trajectory_for(robot, trajectory, rate=rate, leads="coordinates")
    if command.periodic:
        raise SuppleError("trajectory repeats: give one that begins and ends at rest")
    found = correction(robot, command, band, rounds, elements)
    raised_values = [said for said in raising(command, found) if said[0] > raised]
    if raised_values:
        quantities = " and ".join(said for _, said in raised_values)
        warnings.warn(
            f"the correction raises the largest {quantities} of the "
            f"command (more than {raised:g} times): shape it first, by supple.scheduled, or give "
            "it more time",
            CorrectionWarning,
            stacklevel=3,
        )
    return found


def raising(plain: Trajectory, command: Trajectory) -> list[tuple[float, str]]:
    """Return how many times the largest speed and acceleration of a move another has, in words.

    The coordinate that is raised most; of one that hardly moves beside the one that moves most.
    """
    each = []
    for move in (plain, command):
        t, _ = _grid(move, move.duration / 2000)
        each.append([np.abs(part).max(axis=0) for part in move(t)[1:]])
    found = []
    for word, before, after in zip(("speed", "acceleration"), *each, strict=True):
        least = np.maximum(before, SMALLEST_TRAVEL_SHARE * before.max() + 1e-300)
        k = int(np.argmax(after / least))
        times = float(after[k] / least[k])
        said = f"{word} of coordinate {k + 1} to {after[k]:.3g}, {times:.3g} times that"
        found.append((times, said))
    return found


def correction(
    robot: Robot, command: Trajectory, band: float = 0.05, rounds: int = 2, elements: int = 1
) -> Corrected:
    """Return what `settled` does, without a word on how much it raises.

    The best of all rounds, the command itself among them. It must be better by more than steps of
    half the length change: where little is left, a correction
    may take out no more than the error of the steps.
    """
    task = _Task(robot, command, band, elements)
    unchanged = np.zeros((task.count, len(command(0.0)[0])))
    shares = unchanged
    best = unchanged
    least = np.inf
    first = np.inf
    for k in range(rounds + 1):
        moved = Corrected(command, shares)
        left, slopes, largest = task.residual(moved, k < rounds)
        first = largest if k == 0 else first
        if largest < least:
            best = shares
            least = largest
        if slopes is not None:
            step = np.linalg.lstsq(slopes, -left, rcond=MIN_SINGULAR_VALUE_RATIO)[0]
            shares = shares + step.reshape(shares.shape)
    found = Corrected(command, best)
    if best is unchanged:
        return found
    finer = _Task(robot, command, band, elements, refinement=2)
    before = finer.residual(Corrected(command, unchanged), slopes=False)[2]
    after = finer.residual(found, slopes=False)[2]
    doubt = abs(before - first) + abs(after - least)  # by the length of the steps
    return found if after < before - doubt else Corrected(command, unchanged)


def leaves(
    robot: Robot, command: Trajectory, bands: Sequence[float] = (0.05,), elements: int = 1
) -> list[float]:
    """Return the largest vibration of the tip that a command leaves within each band, m.

    The sum over the modes of their amplitudes at the tip, frequencies off by the bands so far or
    not: the narrowest is given first.
    """
    task = _Task(robot, command, 0.0, elements)
    here = task.model.matrices(*task.led(task.t))

    def rings(factor: float) -> float:
        left = task.rung(here, here.F[..., None], factor)[:, 0]
        return float(np.hypot(*np.split(left, 2)).sum())

    each = []
    worst = rings(1.0)
    for b in bands:
        if b:
            worst = max(worst, rings((1 - b) ** 2), rings((1 + b) ** 2))
        each.append(worst)
    return each


def _grid(command: Trajectory, step: float) -> tuple[Array, Array]:
    """Times (B,) from break to break, and the steps (B,) that lead to them: 0 across a break."""
    T = command.duration
    edges = [0.0, *(t for t in command.breaks if 0.1 * step < t < T - 0.1 * step), T]
    times = []
    steps = []
    for a, b in pairwise(edges):
        if b - a > 0.1 * step:
            inside = np.linspace(a, b, 1 + max(1, round((b - a) / step)))
            steps.append(np.append(0.0, np.diff(inside)))
            inside[[0, -1]] += np.array([1, -1]) * 1e-6 * (b - a)
            times.append(inside)
    return np.concatenate(times), np.concatenate(steps)


class _Task:
    """What a command leaves in the modes of a robot, and how that changes with a correction."""

    def __init__(
        self,
        robot: Robot,
        command: Trajectory,
        band: float,
        elements: int,
        refinement: int = 1,
    ) -> None:
        from scipy.linalg import eigh

        ends = command(np.array([0.0, command.duration]))[0]
        self.model: SmallMotion = cached_for_robot(
            robot,
            ("settle", elements),
            lambda: elements_on_path(robot, ends[0], elements, held="settled"),
        )
        self.T, self.led = command.duration, assembled_path(robot, command)
        x, v, a = self.led(np.array([0.0, self.T]))
        self.rest = self.model.matrices(x, 0 * v, 0 * a)
        lowest = float(np.sqrt(eigh(self.rest.K[1], self.rest.M[1], eigvals_only=True)[0]))
        if not np.isfinite(lowest):
            raise SuppleError(
                f"trajectory ends where {robot.name} cannot stand: give one that it can reach"
            )
        self.heard = MAX_FREQUENCY_RATIO * lowest
        periods = self.T * lowest / (2 * np.pi)
        steps = refinement * max(60, min(4000, round(periods * STEPS_PER_PERIOD)))
        self.t, self.h = _grid(command, self.T / steps)
        self.count = max(4, min(60, round(periods * KNOTS_PER_PERIOD) - 3))
        offs = [0.0] if band == 0 else [0.0, -band, band]
        if band > NARROW_BAND:  # what is calm at both ends and in the middle may ring in between
            offs += [-band / 2, band / 2]
        self.factors = [(1 + off) ** 2 for off in offs]

    def residual(self, command: Trajectory, slopes: bool) -> tuple[Array, Array | None, float]:
        """r (m,) in metres of the tip, its slopes (m, coefficients) if asked for, and the most.

        The most is the sum of the modes' amplitudes where it is largest within the band.
        """
        here = self.model.matrices(*alike(self.led, command)(self.t))
        F = here.F[..., None]
        if slopes:
            F = np.concatenate([F, self._loads(command)], axis=2)
        rows = [self.rung(here, F, factor) for factor in self.factors]
        found = np.concatenate(rows)
        largest = max(float(np.hypot(*np.split(row[:, 0], 2)).sum()) for row in rows)
        return found[:, 0], found[:, 1:] if slopes else None, largest

    def _loads(self, command: Trajectory) -> Array:
        """(T, N, coefficients): the loads of each spline in each coordinate.

        The slopes of the loads depend on where the robot is and how fast, and are smooth: found
        at every `SKIPPED`th time, and between those on straight lines.
        """
        some = np.append(self.t[:-1:STEPS_PER_LOAD_SLOPE], self.t[-1])
        x, v, a = alike(self.led, command)(some)
        h = max(float(np.abs(v).max()), 1e-9)
        B = _spline(self.T, np.eye(self.count))
        B1 = B(self.t, 1)
        B2 = B(self.t, 2)
        F = self.model.forcing(x, v, a)
        after = np.clip(np.searchsorted(some, self.t), 1, len(some) - 1)
        part = ((self.t - some[after - 1]) / (some[after] - some[after - 1]))[:, None]
        parts = []
        for unit in np.eye(command(0.0)[0].size, x.shape[1]):
            by_a = self.model.forcing(x, v, a + unit) - F
            ahead, behind = (self.model.forcing(x, v + s * h * unit, a) for s in (1, -1))
            slopes = np.stack([by_a, (ahead - behind) / (2 * h)])
            by_a, by_v = slopes[:, after - 1] * (1 - part) + slopes[:, after] * part
            parts.append(by_a[:, :, None] * B2[:, None, :] + by_v[:, :, None] * B1[:, None, :])
        return np.stack(parts, axis=3).reshape(len(self.t), F.shape[1], -1)

    def rung(self, here: Any, F: Array, factor: float) -> Array:
        """(2 m, columns) left at the end, cosines, then sines; stiffness times a factor, m."""
        from scipy.linalg import eigh

        K = factor * here.K
        M = here.M
        C = here.C
        h = self.h[:, None, None]
        y = np.zeros(F.shape[1:])
        y[:, 0] = np.linalg.solve(factor * self.rest.K[0], self.rest.F[0])
        v = np.zeros_like(y)
        acc = np.zeros_like(y)
        A = M + h / 2 * C + h**2 / 4 * K
        for k, h in enumerate(self.h):
            y = y + h * v + h**2 / 4 * acc
            v = v + h / 2 * acc
            acc = np.linalg.solve(A[k], F[k] - C[k] @ v - K[k] @ y)
            y = y + h**2 / 4 * acc
            v = v + h / 2 * acc
        stiffness = factor * self.rest.K[1]
        M = self.rest.M[1]
        y[:, 0] -= np.linalg.solve(stiffness, self.rest.F[1])
        w2, V = eigh((stiffness + stiffness.T) / 2, M)
        w = np.sqrt(np.abs(w2))
        is_heard = w <= self.heard
        V = V[:, is_heard]
        w = w[is_heard]
        size = np.linalg.norm(self.rest.tip[1, :3] @ V, axis=0)[:, None]
        return np.concatenate([size * (V.T @ M @ y), size / w[:, None] * (V.T @ M @ v)])
