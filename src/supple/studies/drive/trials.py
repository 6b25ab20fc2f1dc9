"""One command tried on one robot: where its tip goes, and what its motors do meanwhile."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...control.controllers import Controller
from ...control.platform import PlatformPath
from ...control.shaping import Samples, Scheduled
from ...control.trajectories import Trajectory
from ...equations.model import Model
from ...robot import Robot
from ..kinematics.forward import forward
from ..motion.follow import StepWarning, follow
from ..motion.simulate import SimulationWarning, simulate
from ..small_range import SmallRangeWarning

__all__ = ["Trial", "driven", "trial_with_ideal_motors"]

Array = NDArray[np.float64]
STREAM_PERIOD = 1e-3  # s


@dataclass(frozen=True, eq=False)
class Trial:
    """A command tried.

    Attributes
    ----------
    t
        (T,) s.
    tip
        (T, 3) where the tip or platform was, m.
    wanted
        (T, 3) where a rigid robot on the command would have had it.
    effort, rate
        (T, motors).
    end
        s, when the command ends.
    notes
        What was warned of.
    bent
        The largest deflection over length or section rotation, where a linear model was used.
    """

    t: Array
    tip: Array
    wanted: Array
    effort: Array
    rate: Array
    end: float
    notes: tuple[str, ...] = ()
    bent: float = 0.0

    @property
    def goal(self) -> Array:
        """(3,) where the tip comes to rest: the middle of its last swings."""
        last = self.tip[self.t >= (self.end + self.t[-1]) / 2]
        return np.asarray((last.max(axis=0) + last.min(axis=0)) / 2)

    @property
    def distance(self) -> Array:
        """(T,) of the tip from where it comes to rest."""
        return np.asarray(np.linalg.norm(self.tip - self.goal, axis=1))

    @property
    def residual(self) -> float:
        """Half of peak to peak after the command has ended, m."""
        after = self.tip[self.t >= self.end - 1e-12]
        return float(np.linalg.norm(np.ptp(after, axis=0)) / 2)

    def settling(self, band: float) -> float:
        """When the tip has come within a band of its rest for good, s; infinite if it has not."""
        outside = np.flatnonzero(self.distance > band)
        if not len(outside):
            return 0.0
        last = int(outside[-1]) + 1
        quiet = 0.1 * (self.t[-1] - self.end)  # so long it must have been seen within
        return float(self.t[last]) if self.t[-1] - self.t[last - 1] > quiet else float("inf")

    @property
    def overshoot(self) -> float:
        """How far the tip passes its rest in the direction in which it arrives, m."""
        off = np.linalg.norm(self.wanted - self.wanted[-1], axis=1)
        length = np.linalg.norm(np.diff(self.wanted, axis=0), axis=1).sum()
        away = np.flatnonzero(off > 0.05 * length)
        if not len(away):
            return 0.0
        k = int(away[-1])
        along = (self.wanted[-1] - self.wanted[k]) / off[k]
        return float(max(((self.tip[k:] - self.goal) @ along).max(), 0.0))

    @property
    def tip_error(self) -> float:
        """The largest distance between tip and command, the sag at the end taken off, m."""
        sag = self.goal - self.wanted[-1]
        return float(np.linalg.norm(self.tip - self.wanted - sag, axis=1).max())

    @property
    def energy(self) -> float:
        """What the motors exchange, int sum |effort rate| dt, J."""
        power = np.abs(self.effort * self.rate).sum(axis=1)
        return float(np.trapezoid(power, self.t))


def _rigid_motion(
    robot: Robot, command: Trajectory, t: Array, platform: bool
) -> tuple[Array, Array]:
    """Where a rigid robot would have its tip, (T, 3), and the motors' rates, (T, motors)."""
    if platform:
        return command(t)[0], PlatformPath(robot, command)(t)[1]
    x, v, _ = command(t)
    return forward(robot, x).position, v


def trial_with_ideal_motors(
    robot: Robot,
    command: Trajectory,
    t: Array,
    platform: bool,
    elements: int,
    damping: float | None,
) -> Trial:
    """Return the trial of a robot whose motors do exactly what they are told."""
    after = float(t[-1]) - command.duration
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", StepWarning)
        warnings.simplefilter("ignore", SmallRangeWarning)
        run = follow(
            robot, command, elements=elements, dt=float(t[1]), after=after, damping=damping
        )
    wanted, rate = _rigid_motion(robot, command, run.t, platform)
    notes = tuple(str(item.message) for item in seen)
    return Trial(
        run.t,
        wanted + run.moved[:, :3],
        wanted,
        run.torque,
        rate,
        command.duration,
        notes,
        run.largest,
    )


def driven(
    model: Model, controller: Controller, command: Trajectory, t: Array, platform: bool
) -> Trial:
    """Return the trial of a Model under a controller that is given the command."""
    if isinstance(command, Scheduled):  # as a controller gets it: a sample every millisecond
        even = np.linspace(
            0.0, command.duration, max(20, round(command.duration / STREAM_PERIOD)) + 1
        )
        command = Samples(even, command(even)[0], names=command.names)
    lead: Any = {"path": command} if platform else {"trajectory": command}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", SimulationWarning)
        run = simulate(
            model, controller=controller, duration=float(t[-1]), dt=float(t[1]), q0="static", **lead
        )
    wanted, _ = _rigid_motion(model.robot, command, t, platform)
    tip, effort, rate = (
        np.stack([np.interp(t, run.t, column, right=np.nan) for column in values.T], axis=1)
        for values in (run.tip, run.tau, run.qd[:, : model.joints])
    )
    notes = tuple(str(item.message) for item in seen)
    return Trial(t, tip, wanted, effort, rate, command.duration, notes)
