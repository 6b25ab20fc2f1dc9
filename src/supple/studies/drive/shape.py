"""How is this move made calm: a joint trajectory shaped for given frequencies, or for a robot's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...arguments import Check, checked, instance, number, one_of, optional, some, switch, whole
from ...control.controllers import Controller
from ...control.shapers import SHAPERS, Shaper, shaper
from ...control.shaping import Samples, residual_amplitude, schedule, shaped
from ...control.trajectories import Trajectory, a_trajectory
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
        end.
        shaper: the impulses, None where they are scheduled over the path.
        residual_before, residual_after: (modes, joints) predicted vibration that each joint's
        command leaves in each mode, in units of the joint.
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

    dims: ClassVar = {
        "frequency_hz": ("mode",),
        "damping_ratio": ("mode",),
        "residual_before": ("mode", "joint"),
        "residual_after": ("mode", "joint"),
    }
    table_rows: ClassVar = ("mode",)

    def labels(self) -> dict[str, Any]:
        """Return the joints."""
        return {"joint": list(self.before.names)}

    @property
    def time_added(self) -> float:
        """How much longer the move takes, s."""
        return float(self.after.t[-1] - self.before.t[-1])

    def peaks(self, which: str = "after") -> tuple[Array, Array]:
        """Return the largest speed and acceleration of each joint, (joints,) each."""
        move: JointTrajectory = getattr(self, which)
        v = np.diff(move.positions, axis=0) * self.rate
        a = np.diff(v, axis=0) * self.rate
        return np.abs(v).max(axis=0), np.abs(a).max(axis=0, initial=0.0)

    def __repr__(self) -> str:
        f = ", ".join(f"{x:.4g}" for x in self.frequency_hz)
        return (
            f"<ShapedMove {self.kind} for {f} Hz: {self.before.t[-1]:.4g} s and "
            f"{self.time_added:.4g} s more, {len(self.before.names)} joints>"
        )


def sampled(move: JointTrajectory, rate: float | None) -> tuple[JointTrajectory, float]:
    """Return a move on even samples from t = 0, and their rate in Hz.

    Even samples are kept as they are; others, and another rate asked for, are taken from cubic
    splines at rest at both ends.
    """
    steps = np.diff(move.t)
    even = np.ptp(steps) <= 1e-4 * steps.mean()
    own = 1 / float(steps.mean())
    if even and (rate is None or abs(rate - own) < 1e-6 * own):
        t = np.arange(len(move.t)) / own
        return JointTrajectory(move.names, t, move.positions, move.header), own
    chosen = rate or 1 / float(steps.min())
    if not np.isfinite(chosen) or chosen <= 0:
        raise SuppleError(f"rate is {rate!r}: give samples per second, such as 1000")
    span = float(move.t[-1] - move.t[0])
    if span * chosen > 2e7:
        raise SuppleError(
            f"{span:g} s at {chosen:g} Hz are {span * chosen:.1e} samples: at most "
            "2e7, give a lower rate, or higher limits if they made it so long"
        )
    t = np.arange(int(np.ceil(span * chosen - 1e-9)) + 1) / chosen
    spline = Samples(move.t - move.t[0], move.positions)
    return JointTrajectory(move.names, t, spline(t)[0], move.header), chosen


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
    "robot": optional(a_robot),
    "modes": whole(1, 100),
    "rate": optional(number(1e-3, 1e7, unit="in Hz")),
    "speed_limit": optional(number(0, above=True)),
    "acceleration_limit": optional(number(0, above=True)),
}


@checked(**ARGUMENTS)
def shape(  # noqa: PLR0913 - every option of the command
    move: JointTrajectory | Trajectory,
    kind: str = "zvd",
    frequency_hz: float | Sequence[float] | None = None,
    damping_ratio: float | Sequence[float] | None = None,
    *,
    robot: Robot | None = None,
    modes: int = 1,
    servo: Controller | None = None,
    rate: float | None = None,
    speed_limit: float | None = None,
    acceleration_limit: float | None = None,
) -> ShapedMove:
    """Return a move shaped so that chosen modes are at rest when it ends.

    Args:
        move: samples, or a Trajectory (sampled at `rate`, 1000 Hz unless given).
        kind, frequency_hz, damping_ratio: as for `supple.shaper`.
        robot: take the frequencies from this robot's `modes` lowest modes along the path instead,
        its motors held, by `servo` if one is given.
        rate: samples per second of the answer; that of the samples unless given.
        speed_limit, acceleration_limit: the move is stretched in time before it is shaped where it
        would pass them; shaping itself adds nothing to either.
    """
    if (robot is None) == (frequency_hz is None):
        raise SuppleError("give frequency_hz, or a robot to take the frequencies from")
    if isinstance(move, Trajectory):
        rate = rate or 1000.0
        t = np.arange(int(np.ceil(move.duration * rate - 1e-9)) + 1) / rate
        x = move(t)[0]
        move = JointTrajectory(tuple(f"joint{i + 1}" for i in range(x.shape[1])), t, x)
    even, rate = sampled(move, rate)
    even, slowed = _within(even, rate, speed_limit, acceleration_limit)
    if robot is None:
        ratio = 0.0 if damping_ratio is None else damping_ratio
        design: Shaper | None = shaper(kind, frequency_hz, ratio)
        assert design is not None
        y = shaped(even.positions, design, rate)
        f = np.atleast_1d(np.asarray(frequency_hz, float))
        z = np.broadcast_to(np.asarray(ratio, float), f.shape)
    else:
        y, f, z = _for_robot(robot, even, kind, modes, servo, damping_ratio)
        design = None
    t = np.arange(len(y)) / rate
    after = JointTrajectory(even.names, t, y, even.header)
    return ShapedMove(
        even,
        after,
        kind,
        rate,
        slowed,
        f,
        np.array(z),
        design,
        residual_amplitude(even.t, even.positions, f, z),
        residual_amplitude(t, y, f, z),
    )


def _for_robot(
    robot: Robot, even: JointTrajectory, kind: str, modes: int, servo: Any, damping_ratio: Any
) -> tuple[Array, Array, Array]:
    """The positions shaped for a robot's modes along the path, and those modes at its end."""
    if damping_ratio is not None and np.ndim(damping_ratio):
        raise SuppleError("with a robot give one damping_ratio, or none to take the robot's own")
    joints = held(robot, even.positions[-1:], modes, servo)
    spline = Samples(even.t, even.positions)
    found = scheduled(robot, spline, kind, modes, servo, damping_ratio)
    rate = 1 / (even.t[1] - even.t[0])
    t = np.arange(int(np.ceil(found.duration * rate - 1e-9)) + 1) / rate
    z = joints[1][0] if damping_ratio is None else np.full(modes, float(damping_ratio))
    return found(t)[0], joints[0][0] / (2 * np.pi), z


def _within(
    move: JointTrajectory, rate: float, speed: float | None, acceleration: float | None
) -> tuple[JointTrajectory, float]:
    """The move stretched in time so that it keeps the limits, and the factor."""
    factor = 1.0
    for name, limit, order in (
        ("speed_limit", speed, 1),
        ("acceleration_limit", acceleration, 2),
    ):
        if limit is None:
            continue
        if not np.isfinite(limit) or limit <= 0:
            raise SuppleError(f"{name} is {limit!r}: it allows no move; give a positive number")
        peak = float(np.abs(np.diff(move.positions, order, axis=0)).max(initial=0.0)) * rate**order
        factor = max(factor, (peak / limit) ** (1 / order))
    if factor <= 1.0:
        return move, 1.0
    factor *= 1 + 1e-3  # the spline through the samples may rise a little above them
    stretched = JointTrajectory(move.names, move.t * factor, move.positions, move.header)
    return sampled(stretched, rate)[0], factor
