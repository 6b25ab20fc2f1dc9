"""Which command makes the platform follow: a path corrected for what the links give way.

A robot whose motors follow a command c has its tip at c + u(c). Wanted is c + u(c) = p. Where the
loads are those of the tip's own motion, u is nearly the bending under them, K^-1 F(p, p', p''), so
c = p - u_s(p) is a first answer (for one mode it is exact: c = p + p''/w^2), and an error e that is
left is corrected by the same rule, c <- c - (e - K^-1 F_a e''), F_a = dF/dp''. Errors are taken
below a cut-off: what is faster would ask for accelerations that no motor has.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import Check, checked, instance, number, optional, whole
from ...control.shaping import Samples
from ...control.trajectories import Trajectory
from ...errors import SuppleError
from ...path_dynamics.assembled_path import assembled_path
from ...path_dynamics.kineto_elastodynamics import ked
from ...path_dynamics.linearised_model import led_elements
from ...path_dynamics.small_motion import SmallMotion
from ...robot import Robot, a_robot
from ..motion.follow import follow
from ..small_range import SmallRangeWarning
from ..vibration.modes import modes

__all__ = ["Compensation", "compensate"]

Array = NDArray[np.float64]
STEP = 150  # samples of the command to a period of the lowest mode
REACH = 3.0  # times the lowest frequency: the cut-off unless one is given


@dataclass(frozen=True, eq=False)
class Compensation(Answer):
    """A path corrected so that the tip or platform follows it.

    Attributes:
        robot, path: as asked.  command: the corrected path, a Trajectory for the motors.
        t: (T,) s, until `after` seconds past the end.
        before, after: (T, 3) m, tip less path without and with the correction, base axes.
        frequency_hz: below which errors were corrected.  rounds: how often.
    """

    robot: Robot
    path: Trajectory
    command: Samples
    t: Array
    before: Array
    after: Array
    frequency_hz: float
    rounds: int

    dims: ClassVar = {"t": ("t",), "before": ("t", "axis"), "after": ("t", "axis")}
    table_rows: ClassVar = ("t",)
    units: ClassVar = {"t": "s", "before": "m", "after": "m"}
    labels: ClassVar = {"t": "t", "axis": ("x", "y", "z")}

    @property
    def gain(self) -> float:
        """By which factor the largest deviation became smaller."""
        most = [float(np.linalg.norm(x, axis=1).max()) for x in (self.before, self.after)]
        return most[0] / most[1]

    def __repr__(self) -> str:
        most = [1e3 * float(np.linalg.norm(x, axis=1).max()) for x in (self.before, self.after)]
        return (
            f"<Compensation of {self.robot.name}: off its path by {most[0]:.3g} mm before, "
            f"{most[1]:.3g} mm after>"
        )


ARGUMENTS: dict[str, Check] = {
    "robot": a_robot,
    "path": instance(Trajectory, "a Trajectory, such as supple.InvertedU()"),
    "rounds": whole(1, 20),
    "elements": whole(1, 50),
    "cutoff_hz": optional(number(0, above=True, unit="in Hz")),
    "after": number(0, 1e6, unit="of seconds to watch after the stop"),
    "damping": optional(number(0, 0.9)),
}


@checked(**ARGUMENTS)
def compensate(
    robot: Robot,
    path: Trajectory,
    *,
    rounds: int = 2,
    elements: int = 1,
    cutoff_hz: float | None = None,
    after: float = 0.0,
    damping: float | None = None,
) -> Compensation:
    """Return a path corrected so that the tip of the robot follows it, sag included.

    Args:
        robot: a Delta, whose platform the path leads, or an arm or a mechanism with as many motors
        as the tip has coordinates (2 in a plane, 3 in space), whose joints it leads.
        path: that the tip of a rigid robot would follow; smooth ones (septic) can be met best.
        rounds: how often an error is corrected; the best command of all is kept.
        elements: to each link, as for `follow`.
        cutoff_hz: up to which frequency errors are corrected; three times the lowest mode unless
        given.
        after: s, to watch after the stop.
        damping: as for `follow`.
    """
    if path.periodic:
        raise SuppleError("path repeats: compensate one that begins and ends")
    lead = _Lead(robot, path, elements, after, damping)
    cutoff_hz = REACH * lead.lowest if cutoff_hz is None else cutoff_hz
    before = lead.error(path)
    command = lead.corrected(path(lead.t)[0], lead.bending(None))
    best, least = command, np.inf
    for k in range(rounds):
        found = lead.error(command)
        if (most := float(np.linalg.norm(found, axis=1).max())) < least:
            best, least, kept = command, most, found
        if k + 1 < rounds:
            smooth = lead.smoothed(found[: len(lead.t)], cutoff_hz)
            command = lead.corrected(command.positions, smooth - lead.bending(smooth), -1.0)
    t = np.linspace(0.0, lead.t[-1] + after, len(before))
    return Compensation(robot, path, best, t, before, kept, cutoff_hz, rounds)


class _Lead:
    """A robot led along a path, and how its tip gives way."""

    def __init__(
        self, robot: Robot, path: Trajectory, elements: int, after: float, damping: float | None
    ) -> None:
        self.robot, self.after = robot, after
        self.options: dict[str, Any] = {"elements": elements, "damping": damping}
        architecture = architecture_of(robot)
        self.platform = architecture.asked_by == "position"
        self.axes = slice(0, 2 if architecture.planar else 3)
        size = len(architecture.coordinates())
        if not self.platform and size != self.axes.stop:
            raise SuppleError(
                f"{robot.name} has {size} motors for {self.axes.stop} coordinates of its tip: "
                "compensate is for robots with as many of both"
            )
        if path(0.0)[0].shape != (size,):
            given = path(0.0)[0].size
            raise SuppleError(f"path has {given} coordinates: {robot.name} needs {size}")
        x = path(np.array([path.duration]))[0]
        where: Any = {"position" if self.platform else "theta": x}
        self.lowest = float(np.ravel(modes(robot, **where, count=1).frequency_hz)[0])
        count = min(max(50, round(path.duration * self.lowest * STEP)), 20_000)
        self.t = np.linspace(0.0, path.duration, count + 1)
        self.x, self.v, self.a = assembled_path(robot, path)(self.t)  # where loops stand, too
        led = led_elements(robot, elements, "cubic", damping, held="compensate")
        self.model: SmallMotion = ked(robot, self.x[0, :size], elements) if led is None else led
        self.wanted = self.model.place(self.x)
        self.slopes: Array | None = None
        if not self.platform:  # (T, m, m): how the rigid tip moves with the joints
            h, place, columns = 1e-6, self.model.place, []
            for unit in h * np.eye(size, self.x.shape[1]):
                columns.append((place(self.x + unit) - place(self.x - unit)) / (2 * h))
            J = np.stack(columns, axis=2)[:, self.axes]
            if not (np.linalg.cond(J) < 1e6).all():
                raise SuppleError(
                    "the path runs through a singular pose: the tip cannot be led there"
                )
            self.slopes = J

    def _joints(self, moved: Array) -> Array:
        """(T, n): the change of coordinates that moves the tip so, (T, 3)."""
        if self.slopes is None:
            return moved
        return np.asarray(np.linalg.solve(self.slopes, moved[:, self.axes, None])[..., 0])

    def bending(self, error: Array | None) -> Array:
        """(T, 3): the tip under the loads of the path, or of an error's acceleration alone."""
        a = self.a
        if error is not None:
            h = self.t[1]
            moved = self._joints(error)
            second = np.gradient(np.gradient(moved, h, axis=0), h, axis=0)
            a = self.a + np.pad(second, ((0, 0), (0, self.a.shape[1] - moved.shape[1])))
        here = self.model.matrices(self.x, self.v, a)
        F = here.F
        if error is not None:
            F = F - self.model.forcing(self.x, self.v, self.a)
        y = np.linalg.solve(np.broadcast_to(here.K, (len(F), *here.K.shape[1:])), F[..., None])
        return np.asarray((here.tip[:, :3] @ y)[..., 0])

    def corrected(self, positions: Array, moved: Array, sign: float = -1.0) -> Samples:
        """The command less what the tip moves."""
        return Samples(self.t, positions + sign * self._joints(moved))

    def error(self, command: Trajectory) -> Array:
        """(T', 3): tip less path, and past its end as long as it is watched."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallRangeWarning)
            run = follow(self.robot, command, dt=float(self.t[1]), after=self.after, **self.options)
        wanted = self.wanted
        later = np.repeat(wanted[-1:], len(run.t) - len(wanted), axis=0)
        return np.asarray(run.tip - np.concatenate([wanted, later]))

    def smoothed(self, error: Array, cutoff_hz: float) -> Array:
        """The error below a frequency, without delay (fourth order, there and back)."""
        from scipy.signal import butter, sosfiltfilt

        most = 0.4 / self.t[1]
        filtered = butter(4, min(cutoff_hz, most), output="sos", fs=1 / self.t[1])
        return np.asarray(sosfiltfilt(filtered, error, axis=0))
