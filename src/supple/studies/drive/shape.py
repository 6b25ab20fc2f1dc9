"""How is this move made calm: a joint trajectory shaped for given frequencies, or for a robot's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import (
    also_called,
    brief,
    checked,
    number,
    one_of,
    reals,
    some,
    vector,
    whole_number,
)
from ...control.controllers import Controller
from ...control.matching import Leads, TrajectoryWarning, names_place, trajectory_for
from ...control.platform import leads_platform
from ...control.shapers import SHAPERS, Shaper, shaper
from ...control.shaping import Samples, residual_amplitude, schedule, shaped
from ...control.trajectories import Slowed, Trajectory, TrajectoryWithDetails, with_names
from ...control.trajectory_files import given_trajectory
from ...errors import SuppleError
from ...files.joint_trajectories import JointTrajectory
from ...robot import Robot
from ..kinematics.forward import forward

__all__ = ["ShapedMove", "scheduled", "shape"]

Array = NDArray[np.float64]
USUAL_RATE = 1000.0  # samples per second of a Trajectory
SAME_TIME_FRACTION = 0.01  # of the typical gap: samples closer than that are one
SHORT_GAP = 0.1  # of the gaps of the answer: shorter ones are reported
MOST_STUBS = 2  # short gaps that are not worth a word
MIN_SAMPLES_PER_PERIOD = 10  # samples to a period: fewer are way-points
RESAMPLED_PER_PERIOD = 50  # samples to a period that way-points are given
MUCH_SLOWER = 4.0  # times: a move that limits slow down so much may have other units
PLAYBACK_POINTS = 8  # times between two samples at which splines are looked at
MAX_PLAYBACK_POINTS = 2_000_000


def _joint_names(found: ShapedMove) -> tuple[str, ...]:
    """Names of the coordinates, or numbered ones."""
    return found.joint_names


@dataclass(frozen=True, eq=False)
class ShapedMove(TrajectoryWithDetails, Answer):
    """A joint trajectory before and after shaping; as a Trajectory it is the shaped one.

    From `supple.shape`.

    Attributes
    ----------
    before, after : Samples
        The two moves, sampled at `rate`.
    kind : str
        Kind of shaper.
    rate : float
        Samples per second.
    slowed : float
        Factor by which the move was stretched before shaping, to respect the limits.
    frequency_hz, damping_ratio : ndarray
        Design values (modes,); where they change along the path, at its end; for a band its two
        ends and its middle.
    shaper : Shaper or None
        The impulses; None where they change along the path.
    residual_before, residual_after : ndarray
        Predicted vibration (modes, joints) that each joint's command leaves in each mode, in units
        of the joint. With a robot, for the frequency as it changes along the path. Computed for
        playback by straight lines and by cubic splines at rest at both ends; the larger value
        counts.
    tip_before, tip_after : ndarray or None
        The same as displacement of the robot's tip at the end of the move, (modes, joints), m.
    """

    before: Samples
    after: Samples
    kind: str
    rate: float
    slowed: float
    frequency_hz: Array
    damping_ratio: Array
    shaper: Shaper | None
    residual_before: Array
    residual_after: Array
    tip_before: Array | None = None
    tip_after: Array | None = None

    labels: ClassVar = {"joint": _joint_names}
    dims: ClassVar = {
        "frequency_hz": ("mode",),
        "damping_ratio": ("mode",),
        "residual_before": ("mode", "joint"),
        "residual_after": ("mode", "joint"),
    }
    table_rows: ClassVar = ("mode",)

    @property
    def trajectory(self) -> Samples:
        """The shaped move."""
        return self.after

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Of its coordinates; numbered where they have none."""
        return self.after.names or tuple(f"joint{k + 1}" for k in range(self.after.size))

    @property
    def time_added(self) -> float:
        """How much longer the move takes, s."""
        return self.after.duration - self.before.duration

    def peaks(self, which: str = "after") -> tuple[Array, Array]:
        """Return the largest speed and acceleration of each joint, (joints,) each."""
        move: Samples = getattr(self, which)
        v = np.diff(move.positions, axis=0) * self.rate
        a = np.diff(v, axis=0) * self.rate
        return np.abs(v).max(axis=0), np.abs(a).max(axis=0, initial=0.0)


def typical_gap(times: Array) -> float:
    """Return the gap between samples that counts: a tenth of the time lies in shorter ones.

    Weighted by time, so that any number of tiny gaps between the real ones does not matter.
    """
    gaps = np.sort(np.diff(times))
    time_in_shorter = np.cumsum(gaps)
    tenth = 0.1 * time_in_shorter[-1]
    return float(gaps[np.searchsorted(time_in_shorter, tenth)])


def without_stubs(move: Samples) -> Samples:
    """Return samples without those that nearly coincide with the one before them.

    They are nearer than SAME_TIME_FRACTION of the typical gap. The first and the last sample stay.
    """
    closest = SAME_TIME_FRACTION * typical_gap(move.t)
    if not (np.diff(move.t) < closest).any():
        return move
    rows_left = [0]
    for index, time in enumerate(move.t[1:-1].tolist(), start=1):
        if time - move.t[rows_left[-1]] >= closest:
            rows_left.append(index)
    last = len(move.t) - 1
    if len(rows_left) > 1 and move.t[last] - move.t[rows_left[-1]] < closest:
        rows_left.pop()
    rows_left.append(last)
    velocities = move.velocities
    return replace(
        move,
        t=move.t[rows_left],
        positions=move.positions[rows_left],
        velocities=None if velocities is None else velocities[rows_left],
    )


def usual_rate(move: Trajectory, highest_hz: float) -> float:
    """Return the samples per second of a shaped move: those of its samples where they are enough.

    Samples at uneven times get the rate of their typical gap. Way-points, with fewer than
    MIN_SAMPLES_PER_PERIOD samples to a period of the highest mode that is shaped for, are joined by
    splines and get a whole multiple of theirs, RESAMPLED_PER_PERIOD to a period. Of a Trajectory
    1000.
    """
    if not isinstance(move, Samples):
        return USUAL_RATE
    times = without_stubs(move).t
    gaps = np.diff(times)
    even = np.ptp(gaps) <= 1e-4 * gaps.mean() + 8 * np.spacing(move.begin + move.duration)
    own = 1 / (float(gaps.mean()) if even else typical_gap(times))
    if own < MIN_SAMPLES_PER_PERIOD * highest_hz:
        own = own * float(np.ceil(RESAMPLED_PER_PERIOD * highest_hz / own))
    all_gaps = np.diff(move.t)
    short_gaps = int((all_gaps < SHORT_GAP / own).sum())
    if short_gaps > MOST_STUBS:
        warnings.warn(
            f"the samples are {all_gaps.min():.3g} to {all_gaps.max():.3g} s apart: they are "
            f"resampled by splines at {own:.4g} Hz; give another rate if that is not meant",
            TrajectoryWarning,
            stacklevel=4,
        )
    return own


def resample(move: Trajectory, rate: float, slowed: float = 1.0) -> Samples:
    """Return a move, `slowed` times as slow, at even times.

    Even samples are kept as they are; others are taken from cubic splines, through the velocities
    if there are any, else at rest at both ends. It begins when the move does.
    """
    begin = 0.0
    header: Mapping[str, Any] = {}
    if isinstance(move, Samples):
        begin = move.begin
        header = move.header
        gaps = np.diff(move.t)
        even = np.ptp(gaps) <= 1e-4 * gaps.mean() + 8 * np.spacing(begin + move.duration)
        if even and slowed == 1 and abs(rate * gaps.mean() - 1) < 1e-6:
            t = np.arange(len(move.t)) / rate
            return replace(move, t=t, velocities=None, begin=begin)
        move = without_stubs(move)
    line: Trajectory = Slowed(move, slowed) if slowed > 1 else move
    if line.duration * rate > 2e7:
        raise SuppleError(
            f"{line.duration:g} s at {rate:g} Hz are {line.duration * rate:.1e} samples: at "
            "most 2e7, give a lower rate, or higher limits if they made it so long"
        )
    t = np.arange(int(np.ceil(line.duration * rate - 1e-9)) + 1) / rate
    return Samples(t, line(t)[0], names=move.names, begin=begin, header=header)


@checked
def scheduled(
    robot: Robot,
    trajectory: Trajectory | str | ArrayLike,
    kind: Annotated[str, one_of(*SHAPERS)] = "zvd",
    modes: Annotated[int, whole_number(1, 100)] = 1,
    servo: Controller | None = None,
    damping_ratio: Annotated[float, number(0)] | None = None,
    *,
    platform: bool = False,
    rate: float | None = None,
) -> Trajectory:
    """Shape a joint trajectory for the modes of a robot as they change along the path.

    Parameters
    ----------
    robot : Robot
        Robot whose modes are used, with its motors locked (or on the springs of its joints).
    trajectory : Trajectory, str or array_like
        A Trajectory, the name of a file, or samples (N, joints) with their `rate`.
    kind : str
        Kind of shaper, as for `supple.shaper`.
    modes : int
        Number of lowest modes to shape for. Each mode is shaped in its own phase.
    servo : Controller, optional
        Controller that holds the motors, instead of locked ones.
    damping_ratio : float, optional
        Damping ratio of the design. Default: that of the robot.
    platform : bool
        The trajectory is that of a Delta's platform, not of its motors. Coordinates named x, y, z
        say so too.
    rate : float, optional
        Samples per second, if samples are given.

    Returns
    -------
    Trajectory

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> move = supple.PointToPoint([0, 0, 0], [0.5, 0.3, 0], 1.0)
    >>> round(supple.scheduled(robot, move, "zvd").duration, 3)
    1.204
    """
    trajectory = given_trajectory("trajectory", trajectory, rate)
    at_place = architecture_of(robot).asked_by == "position" and names_place(trajectory)
    platform = platform or at_place or leads_platform(trajectory)
    leads: Leads = "coordinates" if platform else "motors"
    trajectory = trajectory_for(robot, trajectory, leads=leads)
    motors = tuple(name for name, _ in architecture_of(robot).motors)
    trajectory = with_names(trajectory, ("x", "y", "z") if platform else motors)
    moved = trajectory
    for mode in range(modes):
        end = trajectory(np.array([trajectory.duration]))[0]
        ratio = held_frequencies(robot, end, modes, servo, platform)[1][0, mode]
        design = shaper(kind, 1.0, ratio if damping_ratio is None else damping_ratio)

        def omega_at(x: Array, mode: int = mode) -> Array:
            return held_frequencies(robot, x, modes, servo, platform)[0][:, mode]

        moved = schedule(moved, design, omega_at)
    return moved


def held_frequencies(
    robot: Robot, poses: Array, count: int, servo: Controller | None, platform: bool = False
) -> tuple[Array, Array]:
    """Return the frequencies and ratios of `servo.held_modes`, ratios bounded below one."""
    from .servo import held_modes

    omega, ratio = held_modes(robot, poses, count, servo, platform=platform)
    if not np.isfinite(omega).all():
        raise SuppleError("the path leaves what the robot can reach: no frequency there")
    return omega, np.clip(ratio, 0.0, 0.6)


ROUNDS = 40  # of slowing down


@also_called(move="trajectory")
@checked
def shape(
    trajectory: Trajectory | str | ArrayLike,
    kind: Annotated[str, one_of(*SHAPERS)] = "zvd",
    frequency_hz: Annotated[float | Sequence[float], some(1e-6)] | None = None,
    damping_ratio: Annotated[float | Sequence[float], some(0)] | None = None,
    *,
    band: Annotated[tuple[float, float], vector(2)] | None = None,
    robot: Robot | None = None,
    modes: Annotated[int, whole_number(1, 100)] = 1,
    servo: Controller | None = None,
    rate: Annotated[float, number(1e-3, 1e7, unit="in Hz")] | None = None,
    speed_limit: float | Sequence[float] | None = None,
    acceleration_limit: float | Sequence[float] | None = None,
) -> ShapedMove:
    """Shape a move so that chosen modes are at rest when it ends.

    Parameters
    ----------
    trajectory : Trajectory, str or array_like
        The move: a Trajectory (sampled at `rate`, by default 1000 Hz), the name of a file (CSV, a
        ROS JointTrajectory, MCAP), or samples (N, joints) at `rate`. With a robot its coordinates
        are matched by their names, in any order.
    kind, frequency_hz, damping_ratio, band
        As for `supple.shaper`.
    robot : Robot, optional
        Instead of given frequencies, use the lowest modes of this robot along the path.
    modes : int
        Number of modes of the robot to shape for.
    servo : Controller, optional
        Controller that holds the robot's motors. Default: motors are locked.
    rate : float, optional
        Samples per second of the answer. Default: that of the samples, of their typical gap if
        they are uneven; for way-points with fewer than ten per period of the mode, a multiple of
        it with fifty per period.
    speed_limit, acceleration_limit : float or sequence, optional
        Limits of the coordinates, one value or one per coordinate. The move is stretched in time
        until the shaped move respects them. Default: the robot's own speed limits.

    Returns
    -------
    ShapedMove
        The shaped move as a Trajectory, and the predicted vibration before and after.

    Examples
    --------
    >>> import supple
    >>> move = supple.PointToPoint([0.0], [0.5], 1.0)
    >>> supple.shape(move, "zvd", frequency_hz=7.2, damping_ratio=0.02).duration
    1.139
    """
    if (frequency_hz is not None) + (band is not None) + (robot is not None) != 1:
        raise SuppleError("give frequency_hz, a band, or a robot to take the frequencies from")
    array = not isinstance(trajectory, Trajectory | str | PathLike | JointTrajectory | tuple)
    move = given_trajectory("trajectory", trajectory, rate if array else None)
    platform = False
    if robot is not None:
        platform = architecture_of(robot).asked_by == "position" and names_place(move)
        move = trajectory_for(robot, move, leads="coordinates" if platform else "motors")
        if not isinstance(move, Samples):
            motors = tuple(name for name, _ in architecture_of(robot).motors)
            move = with_names(move, ("x", "y", "z") if platform else motors)
    limits = [
        _limit("speed_limit", speed_limit, move, None if platform else robot),
        _limit("acceleration_limit", acceleration_limit, move),
    ]
    if robot is None:
        ratio = 0.0 if damping_ratio is None else damping_ratio
        design = shaper(kind, frequency_hz, ratio, band=band)
        f = np.linspace(*band, 3) if band else np.atleast_1d(np.asarray(frequency_hz, float))
        how: _FixedShaping | _ScheduledShaping = _FixedShaping(
            design, f, np.broadcast_to(ratio, f.shape)
        )
        highest = float(f.max())
    else:
        if isinstance(damping_ratio, Sequence):
            raise SuppleError("with a robot give one damping_ratio, or none to take its own")
        how = _ScheduledShaping(robot, kind, modes, servo, damping_ratio, platform)
        end = move.at(np.array([move.duration]))[0]
        highest = float(held_frequencies(robot, end, modes, servo, platform)[0].max()) / (2 * np.pi)
    chosen = usual_rate(move, highest) if rate is None else float(rate)
    found = _slow_down_to_limits(
        lambda slowed: how.shape(resample(move, chosen, slowed), chosen), limits
    )
    if found.slowed > MUCH_SLOWER:
        warnings.warn(
            f"the limits make the move {found.slowed:.3g} times as slow, {move.duration:.4g} s "
            f"become {found.before.duration:.4g} s: are its angles in degrees? They are taken as "
            "radians unless the header of a file says 'elbow [deg]'",
            TrajectoryWarning,
            stacklevel=3,
        )
    return found


def _slow_down_to_limits(
    make_move: Callable[[float], ShapedMove], limits: Sequence[Array]
) -> ShapedMove:
    """The move made by a factor of slowness, the least found that keeps limits, to 1 %."""
    best = None
    slowed = 1.0
    short = 1.0
    for _ in range(ROUNDS):
        found = make_move(slowed)
        over = [(peak / limit).max() for peak, limit in zip(found.peaks(), limits, strict=True)]
        needed = float(max(over[0], over[1] ** 0.5))
        if needed <= 1 + 1e-12:
            best = replace(found, slowed=slowed)
        else:
            short = max(short, slowed)
        if best is None:
            slowed *= needed * (1 + 1e-5)
        elif best.slowed <= 1.01 * short:
            return best
        else:
            slowed = (short + best.slowed) / 2
    raise SuppleError(
        f"slowed down {slowed:.3g} times the move still passes its limits {needed:.3g} times: give "
        "higher ones, or a smoother move"
    )


def _limit(name: str, given: Any, move: Trajectory, robot: Robot | None = None) -> Array:
    """A limit for each coordinate; without one that of the robot's motors, where they have it."""
    n = move.size
    if given is None:
        drives = () if robot is None else architecture_of(robot).drives
        own = [drive.made.speed_limit for drive in drives]
        return np.array([np.inf if x is None else float(x) for x in own] or [np.inf])
    limit = reals(name, given)
    if limit.shape not in ((), (n,)) or not (np.isfinite(limit) & (limit > 0)).all():
        raise SuppleError(
            f"{name} is {brief(given)}: it allows no move; give a positive number, or one for each "
            f"of {n} coordinates"
        )
    return np.asarray(limit, float)


@dataclass(frozen=True)
class _FixedShaping:
    """Shaped by the same impulses everywhere, for modes f (Hz) of ratios z."""

    design: Shaper
    f: Array
    z: Array

    def shape(self, even: Samples, rate: float) -> ShapedMove:
        """Return the move shaped, by convolution."""
        y = shaped(even.positions, self.design, rate)
        return _answer(even, y, rate, (self.design.kind, self.design), (self.f, self.z))


@dataclass(frozen=True)
class _ScheduledShaping:
    """Shaped for a robot's lowest modes along the path."""

    robot: Robot
    kind: str
    modes: int
    servo: Controller | None
    ratio: float | None
    platform: bool

    def shape(self, even: Samples, rate: float) -> ShapedMove:
        """Return the move shaped, delays in the phase of each mode."""
        end, ratios = held_frequencies(
            self.robot, even.positions[-1:], self.modes, self.servo, self.platform
        )
        z = ratios[0] if self.ratio is None else np.full(self.modes, float(self.ratio))
        line = Samples(even.t, even.positions)
        found = scheduled(
            self.robot,
            line,
            self.kind,
            self.modes,
            self.servo,
            self.ratio,
            platform=self.platform,
        )
        t = np.arange(int(np.ceil(found.duration * rate - 1e-9)) + 1) / rate
        f = end[0] / (2 * np.pi)
        if not rate > 2 * f.max():
            raise SuppleError(
                f"rate is {rate:g} Hz: it must be above twice the frequency {f.max():g} Hz that is "
                "shaped; ask for a higher one"
            )
        along = tuple(
            self.frequencies_along(motion, times) for motion, times in ((line, line.t), (found, t))
        )
        answer = _answer(even, found(t)[0], rate, (self.kind, None), (f, z), along)
        joints = even.positions.shape[1]
        lever = np.ones(joints) if self.platform else tip_motion(self.robot, even.positions[-1])
        return replace(
            answer,
            tip_before=lever * answer.residual_before,
            tip_after=lever * answer.residual_after,
        )

    def frequencies_along(self, motion: Trajectory, t: Array) -> Array:
        """Return the frequencies (modes, N) at times, by splines through some of them."""
        from scipy.interpolate import CubicSpline

        some = np.linspace(0.0, t[-1], min(len(t), 1281 if self.servo is None else 161))
        omega = held_frequencies(
            self.robot, motion(some)[0], self.modes, self.servo, self.platform
        )[0]
        return np.asarray(CubicSpline(some, omega / (2 * np.pi))(t).T)


def tip_motion(robot: Robot, theta: Array) -> Array:
    """Return how far the tip goes with each joint, (joints,), m per rad or m, the robot rigid."""
    step = 1e-6
    found = []
    for unit in step * np.eye(len(theta)):
        ahead = forward(robot, theta + unit).position
        behind = forward(robot, theta - unit).position
        found.append(float(np.linalg.norm(ahead - behind)) / (2 * step))
    return np.array(found)


def _residuals(move: Samples, frequency_hz: Array, damping_ratio: Array) -> Array:
    """What samples leave of modes (modes, joints), played back by lines or by splines.

    `frequency_hz`: (modes,), or (modes, N) where it changes along them.
    """
    by_lines = residual_amplitude(move.t, move.positions, frequency_hz, damping_ratio)
    between = max(1, min(PLAYBACK_POINTS, MAX_PLAYBACK_POINTS // len(move.t)))
    t = np.linspace(0.0, move.duration, between * (len(move.t) - 1) + 1)
    f = frequency_hz
    if f.ndim == 2:
        f = np.stack([np.interp(t, move.t, row) for row in f])
    by_splines = residual_amplitude(t, move(t)[0], f, damping_ratio)
    return np.maximum(by_lines, by_splines)


def _answer(
    even: Samples,
    y: Array,
    rate: float,
    by: tuple[str, Shaper | None],
    modes: tuple[Array, Array],
    along: tuple[Array, ...] | None = None,
) -> ShapedMove:
    """The answer, with what each command leaves of modes (f, z), or of f along the two motions."""
    f, z = modes
    after = replace(even, t=np.arange(len(y)) / rate, positions=y, begin=even.begin)
    left = [
        _residuals(move, own, z) for move, own in zip((even, after), along or (f, f), strict=True)
    ]
    return ShapedMove(even, after, by[0], rate, 1.0, f, np.array(z), by[1], left[0], left[1])
