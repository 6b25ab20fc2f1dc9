"""How is this move made calm: a joint trajectory shaped for given frequencies, or for a robot's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import (
    Check,
    checked,
    instance,
    number,
    one_of,
    optional,
    reals,
    shown,
    some,
    switch,
    vector,
    whole,
)
from ...control.controllers import Controller
from ...control.shapers import SHAPERS, Shaper, shaper
from ...control.shaping import Samples, residual_amplitude, schedule, shaped
from ...control.trajectories import Slowed, Trajectory, a_trajectory
from ...errors import SuppleError
from ...files.joint_trajectories import JointTrajectory
from ...robot import Robot, a_robot

__all__ = ["ShapedMove", "scheduled", "shape"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ShapedMove(Answer):
    """A joint trajectory before and after shaping.

    Attributes:
        before, after: the two moves, sampled at `rate` Hz.
        kind, rate, slowed: the shaper's name; samples per second; how much the move was stretched
        before shaping to keep the limits.
        frequency_hz, damping_ratio: (modes,) shaped for; where they change along the path, at its
        end; of a band its two ends and its middle.
        shaper: the impulses, None where they are scheduled over the path.
        residual_before, residual_after: (modes, joints) predicted vibration that each joint's
        command leaves in each mode, in units of the joint; along a path with a robot for the
        frequency as it changes there.
    """

    before: JointTrajectory
    after: JointTrajectory
    kind: str
    rate: float
    slowed: float
    frequency_hz: Array
    damping_ratio: Array
    shaper: Shaper | None
    residual_before: Array
    residual_after: Array

    labels: ClassVar = {"joint": "before.names"}
    dims: ClassVar = {
        "frequency_hz": ("mode",),
        "damping_ratio": ("mode",),
        "residual_before": ("mode", "joint"),
        "residual_after": ("mode", "joint"),
    }
    table_rows: ClassVar = ("mode",)

    @property
    def time_added(self) -> float:
        """How much longer the move takes, s."""
        return self.after.duration - self.before.duration

    def peaks(self, which: str = "after") -> tuple[Array, Array]:
        """Return the largest speed and acceleration of each joint, (joints,) each."""
        move: JointTrajectory = getattr(self, which)
        v = np.diff(move.positions, axis=0) * self.rate
        a = np.diff(v, axis=0) * self.rate
        return np.abs(v).max(axis=0), np.abs(a).max(axis=0, initial=0.0)

    def __repr__(self) -> str:
        f = ", ".join(f"{x:.4g}" for x in self.frequency_hz)
        return (
            f"<ShapedMove {self.kind} for {f} Hz: {self.before.duration:.4g} s and "
            f"{self.time_added:.4g} s more, {len(self.before.names)} joints>"
        )


def sampled(
    move: JointTrajectory | Trajectory, rate: float | None, slowed: float = 1.0
) -> tuple[JointTrajectory, float]:
    """Return a move, `slowed` times as slow, on even samples, and their rate in Hz.

    Even samples are kept as they are; others, and another rate asked for, are taken from cubic
    splines, through the velocities if there are any, else at rest at both ends. It begins when the
    move does.
    """
    if isinstance(move, Trajectory):
        chosen = rate or 1000.0
        line: Trajectory = Slowed(move, slowed) if slowed > 1 else move
        names = tuple(f"joint{i + 1}" for i in range(len(move(0.0)[0])))
        form = JointTrajectory(names, np.zeros(1), np.zeros((1, len(names))))
    else:
        steps, form = np.diff(move.t), replace(move, velocities=None)
        even = np.ptp(steps) <= 1e-4 * steps.mean() + 8 * np.spacing(np.abs(move.t).max())
        own = 1 / float(steps.mean())
        if even and slowed == 1 and (rate is None or abs(rate - own) < 1e-6 * own):
            return replace(form, t=move.t[0] + np.arange(len(move.t)) / own), own
        chosen = rate or (own if even else 1 / float(steps.min()))
        v = None if move.velocities is None else move.velocities / slowed
        line = Samples((move.t - move.t[0]) * slowed, move.positions, v)
    if not np.isfinite(chosen) or chosen <= 0:
        raise SuppleError(f"rate is {rate!r}: give samples per second, such as 1000")
    if line.duration * chosen > 2e7:
        raise SuppleError(
            f"{line.duration:g} s at {chosen:g} Hz are {line.duration * chosen:.1e} samples: at "
            "most 2e7, give a lower rate, or higher limits if they made it so long"
        )
    t = np.arange(int(np.ceil(line.duration * chosen - 1e-9)) + 1) / chosen
    return replace(form, t=form.t[0] + t, positions=line(t)[0]), chosen


@checked(
    robot=a_robot,
    trajectory=a_trajectory,
    kind=one_of(*SHAPERS),
    modes=whole(1, 100),
    servo=optional(instance(Controller, "a Controller, such as supple.JointPD(100, 20)")),
    damping_ratio=optional(number(0)),
    platform=switch,
)
def scheduled(
    robot: Robot,
    trajectory: Trajectory,
    kind: str = "zvd",
    modes: int = 1,
    servo: Controller | None = None,
    damping_ratio: float | None = None,
    *,
    platform: bool = False,
) -> Trajectory:
    """Return a joint trajectory shaped for the lowest modes of a robot, wherever it is on its path.

    Frequencies are those of the robot with its motors held: locked (or on the joints' springs), or
    by a `servo` Controller. Each mode is shaped in its own phase, see `control.shaping`.
    `platform`: the trajectory is that of a Delta's platform, not of its motors.
    """
    moved = trajectory
    for mode in range(modes):
        end = trajectory(np.array([trajectory.duration]))[0]
        ratio = held(robot, end, modes, servo, platform)[1][0, mode]
        design = shaper(kind, 1.0, ratio if damping_ratio is None else damping_ratio)

        def omega_at(x: Array, mode: int = mode) -> Array:
            return held(robot, x, modes, servo, platform)[0][:, mode]

        moved = schedule(moved, design, omega_at)
    return moved


def held(
    robot: Robot, poses: Array, count: int, servo: Controller | None, platform: bool = False
) -> tuple[Array, Array]:
    """Return the frequencies and ratios of `servo.held_modes`, ratios bounded below one."""
    from .servo import held_modes

    omega, ratio = held_modes(robot, poses, count, servo, platform=platform)
    if not np.isfinite(omega).all():
        raise SuppleError("the path leaves what the robot can reach: no frequency there")
    return omega, np.clip(ratio, 0.0, 0.6)


ARGUMENTS: dict[str, Check] = {
    "move": instance((JointTrajectory, Trajectory), "a Trajectory, or a JointTrajectory of a file"),
    "kind": one_of(*SHAPERS),
    "frequency_hz": optional(some(1e-6)),
    "damping_ratio": optional(some(0)),
    "band": optional(vector(2)),
    "robot": optional(a_robot),
    "modes": whole(1, 100),
    "rate": optional(number(1e-3, 1e7, unit="in Hz")),
}
ROUNDS = 40  # of slowing down


@checked(**ARGUMENTS)
def shape(  # noqa: PLR0913 - every option of the command
    move: JointTrajectory | Trajectory,
    kind: str = "zvd",
    frequency_hz: float | Sequence[float] | None = None,
    damping_ratio: float | Sequence[float] | None = None,
    *,
    band: tuple[float, float] | None = None,
    robot: Robot | None = None,
    modes: int = 1,
    servo: Controller | None = None,
    rate: float | None = None,
    speed_limit: float | Sequence[float] | None = None,
    acceleration_limit: float | Sequence[float] | None = None,
) -> ShapedMove:
    """Return a move shaped so that chosen modes are at rest when it ends.

    Args:
        move: samples, or a Trajectory (sampled at `rate`, 1000 Hz unless given).
        kind, frequency_hz, damping_ratio, band: as for `supple.shaper`.
        robot: take the frequencies from this robot's `modes` lowest modes along the path instead,
        its motors held, by `servo` if one is given.
        rate: samples per second of the answer; that of the samples unless given.
        speed_limit, acceleration_limit: of each coordinate, one value or one for each; the move is
        stretched in time until what is shaped keeps them. A robot's own limits of speed hold where
        none is given.
    """
    if (frequency_hz is not None) + (band is not None) + (robot is not None) != 1:
        raise SuppleError("give frequency_hz, a band, or a robot to take the frequencies from")
    first = sampled(move, rate)[0]
    if robot is not None and len(architecture_of(robot).drives) != len(first.names):
        motors = ", ".join(drive.name for drive in architecture_of(robot).drives)
        raise SuppleError(
            f"the move has {len(first.names)} coordinates ({', '.join(first.names):.60}): "
            f"{robot.name} needs one for each of its motors ({motors:.60})"
        )
    limits = [
        _limit("speed_limit", speed_limit, first, robot),
        _limit("acceleration_limit", acceleration_limit, first),
    ]
    if robot is None:
        ratio = 0.0 if damping_ratio is None else damping_ratio
        design = shaper(kind, frequency_hz, ratio, band=band)
        f = np.linspace(*band, 3) if band else np.atleast_1d(np.asarray(frequency_hz, float))
        how: _Fixed | _Led = _Fixed(design, f, np.broadcast_to(ratio, f.shape))
    else:
        if isinstance(damping_ratio, Sequence):
            raise SuppleError("with a robot give one damping_ratio, or none to take its own")
        how = _Led(robot, kind, modes, servo, damping_ratio)
    return _within(lambda slowed: how.made(*sampled(move, rate, slowed)), limits)


def _within(made: Callable[[float], ShapedMove], limits: Sequence[Array]) -> ShapedMove:
    """The move made by a factor of slowness, the least found that keeps limits, to 1 %."""
    best, slowed, short = None, 1.0, 1.0
    for _ in range(ROUNDS):
        found = made(slowed)
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


def _limit(name: str, given: Any, move: JointTrajectory, robot: Robot | None = None) -> Array:
    """A limit for each coordinate; without one that of the robot's motors, where they have it."""
    n = len(move.names)
    if given is None:
        drives = () if robot is None else architecture_of(robot).drives
        own = [drive.made.speed_limit for drive in drives]
        return np.array([np.inf if x is None else float(x) for x in own] or [np.inf])
    limit = reals(name, given)
    if limit.shape not in ((), (n,)) or not (np.isfinite(limit) & (limit > 0)).all():
        raise SuppleError(
            f"{name} is {shown(given)}: it allows no move; give a positive number, or one for each "
            f"of {n} coordinates"
        )
    return np.asarray(limit, float)


@dataclass(frozen=True)
class _Fixed:
    """Shaped by the same impulses everywhere, for modes f (Hz) of ratios z."""

    design: Shaper
    f: Array
    z: Array

    def made(self, even: JointTrajectory, rate: float) -> ShapedMove:
        """Return the move shaped, by convolution."""
        y = shaped(even.positions, self.design, rate)
        return _answer(even, y, rate, (self.design.kind, self.design), (self.f, self.z))


@dataclass(frozen=True)
class _Led:
    """Shaped for a robot's lowest modes along the path."""

    robot: Robot
    kind: str
    modes: int
    servo: Controller | None
    ratio: float | None

    def made(self, even: JointTrajectory, rate: float) -> ShapedMove:
        """Return the move shaped, delays in the phase of each mode."""
        end, ratios = held(self.robot, even.positions[-1:], self.modes, self.servo)
        z = ratios[0] if self.ratio is None else np.full(self.modes, float(self.ratio))
        line = Samples(even.t - even.t[0], even.positions)
        found = scheduled(self.robot, line, self.kind, self.modes, self.servo, self.ratio)
        t = np.arange(int(np.ceil(found.duration * rate - 1e-9)) + 1) / rate
        f = end[0] / (2 * np.pi)
        if not rate > 2 * f.max():
            raise SuppleError(
                f"rate is {rate:g} Hz: it must be above twice the frequency {f.max():g} Hz that is "
                "shaped; ask for a higher one"
            )
        along = tuple(self.along(motion, times) for motion, times in ((line, line.t), (found, t)))
        return _answer(even, found(t)[0], rate, (self.kind, None), (f, z), along)

    def along(self, motion: Trajectory, t: Array) -> Array:
        """Return the frequencies (modes, N) at times, by splines through some of them."""
        from scipy.interpolate import CubicSpline

        some = np.linspace(0.0, t[-1], min(len(t), 1281 if self.servo is None else 161))
        omega = held(self.robot, motion(some)[0], self.modes, self.servo)[0]
        return np.asarray(CubicSpline(some, omega / (2 * np.pi))(t).T)


def _answer(
    even: JointTrajectory,
    y: Array,
    rate: float,
    by: tuple[str, Shaper | None],
    modes: tuple[Array, Array],
    along: tuple[Array, ...] | None = None,
) -> ShapedMove:
    """The answer, with what each command leaves of modes (f, z), or of f along the two motions."""
    f, z = modes
    after = replace(even, t=even.t[0] + np.arange(len(y)) / rate, positions=y)
    left = [
        residual_amplitude(move.t, move.positions, own, z)
        for move, own in zip((even, after), along or (f, f), strict=True)
    ]
    return ShapedMove(even, after, by[0], rate, 1.0, f, np.array(z), by[1], left[0], left[1])
