"""Which command makes the platform follow: a path corrected for what the links give way.

A robot whose motors follow a command c has its tip at c + u(c). Wanted is c + u(c) = p. Where the
loads are those of the tip's own motion, u is nearly the bending under them, K^-1 F(p, p', p''), so
c = p - u_s(p) is a first answer (for one mode it is exact: c = p + p''/w^2), and an error e that is
left is corrected by the same rule, c <- c - (e - K^-1 F_a e''), F_a = dF/dp''. Errors are taken
below a cut-off: what is faster would ask for accelerations that no motor has.

Joints follow from the tip by the least change that moves it so, J^+ e. Towards a singular pose,
such as an arm that is stretched out, the singular values of J are damped (see `_damped_inverse`):
the tip is corrected where it can be led, and nowhere else.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import also_called, checked, number, whole_number
from ...control.matching import TrajectoryWarning, coordinate_names, trajectory_for
from ...control.shaping import Samples
from ...control.trajectories import Trajectory, TrajectoryWithDetails
from ...errors import SuppleError
from ...path_dynamics.assembled_path import assembled_path
from ...path_dynamics.elements_on_path import elements_on_path
from ...path_dynamics.small_motion import SmallMotion
from ...robot import Robot
from ..motion.follow import follow
from ..small_range import SmallRangeWarning
from ..vibration.modes import modes
from .settle import CorrectionWarning

__all__ = ["Compensation", "compensate"]

Array = NDArray[np.float64]
POSES_TRIED = 101  # along a path, to see whether a platform reaches it
SAMPLES_PER_PERIOD = 150  # samples of the command to a period of the lowest mode
CUTOFF_RATIO = 3.0  # times the lowest frequency: the cut-off unless one is given
DAMPED_BELOW = 0.1  # of the largest singular value along the path: smaller ones are damped


@dataclass(frozen=True, eq=False)
class Compensation(TrajectoryWithDetails, Answer):
    """A path corrected so that the tip or platform follows it; as a Trajectory, the command.

    From `supple.compensate`.

    Attributes
    ----------
    robot : Robot
        The robot.
    path : Trajectory
        The requested path.
    command : Samples
        The corrected path, for the motors.
    t : ndarray
        Times (T,), s, up to the end of the observation after the stop.
    before, after : ndarray
        Tip minus path without and with the correction, (T, 3), base axes, m.
    frequency_hz : float
        Errors below this frequency were corrected, Hz.
    rounds : int
        Number of correction rounds.
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
    def trajectory(self) -> Samples:
        """The corrected path, for the motors or the platform."""
        return self.command

    def goals(self) -> tuple[Array, Array]:
        """Return where the path begins and ends; the command does so with the sag taken off."""
        return self.path.goals()

    @property
    def gain(self) -> float:
        """By which factor the largest deviation became smaller."""
        most = [float(np.linalg.norm(x, axis=1).max()) for x in (self.before, self.after)]
        return most[0] / most[1] if most[1] else 1.0


@also_called(path="trajectory")
@checked
def compensate(
    robot: Robot,
    trajectory: Trajectory | str | ArrayLike,
    *,
    rate: float | None = None,
    rounds: Annotated[int, whole_number(1, 20)] = 2,
    elements: Annotated[int, whole_number(1, 50)] = 1,
    cutoff_hz: Annotated[float, number(0, above=True, unit="in Hz")] | None = None,
    after: Annotated[float, number(0, 1e6, unit="of seconds to watch after the stop")] = 0.0,
    damping: Annotated[float, number(0, 0.9)] | None = None,
) -> Compensation:
    """Correct a path so that the tip of the flexible robot follows it, sag included.

    Parameters
    ----------
    robot : Robot
        A Delta (path of its platform), or an arm or mechanism (path of its joints). With more
        motors than the tip has coordinates the joints change as little as possible; with fewer,
        and in singular poses, the tip is corrected in the directions in which it can move.
    trajectory : Trajectory, str or array_like
        Path of a Delta's platform or of the joints that the tip of a rigid robot would follow: a
        Trajectory, the name of a file, or samples with their `rate`. Smooth ones (septic) can be
        followed best.
    rate : float, optional
        Samples per second, if samples are given.
    rounds : int
        Number of correction rounds; the best command of all is returned, the path itself included.
    elements : int
        Finite elements per link, as for `follow`.
    cutoff_hz : float, optional
        Errors are corrected up to this frequency, Hz. Default: three times the lowest mode.
    after : float
        Seconds to observe after the stop.
    damping : float, optional
        As for `follow`.

    Returns
    -------
    Compensation
        The corrected command, a Trajectory, and the tip error before and after.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("de-luca-two-link")
    >>> path = supple.PointToPoint([0.2, 0.8], [0.7, 1.1], 3.0)
    >>> found = supple.compensate(robot, path, rounds=1)
    >>> bool(abs(found.after).max() < 0.2 * abs(found.before).max())
    True
    """
    path = trajectory_for(robot, trajectory, rate=rate, leads="coordinates")
    if path.periodic:
        raise SuppleError("trajectory repeats: compensate one that begins and ends")
    lead = _TipDeviation(robot, path, elements, after, damping)
    cutoff_hz = CUTOFF_RATIO * lead.lowest if cutoff_hz is None else cutoff_hz
    before = lead.error(path)
    plain = path(lead.t)[0]
    best = Samples(lead.t, plain, names=lead.names)
    kept_correction = before
    least = float(np.linalg.norm(before, axis=1).max())
    command = lead.subtract_deviation(plain, lead.bending(None))
    for k in range(rounds):
        try:
            found = lead.error(command)
        except SuppleError:  # this command makes the links bend without limit: the path is better
            break
        most = float(np.linalg.norm(found, axis=1).max())
        if most < least:
            best = command
            least = most
            kept_correction = found
        if k + 1 < rounds:
            smooth = lead.low_pass(found[: len(lead.t)], cutoff_hz)
            command = lead.subtract_deviation(
                command.positions, smooth - lead.bending(smooth), -1.0
            )
    if kept_correction is before and least > 0:
        warnings.warn(
            f"no correction brings the tip of {robot.name} nearer to this path: the command is the "
            f"path itself; give it more time (the lowest mode has {lead.lowest:.3g} Hz) or a "
            "smoother law, such as septic",
            CorrectionWarning,
            stacklevel=3,
        )
    t = np.linspace(0.0, lead.t[-1] + after, len(before))
    return Compensation(robot, path, best, t, before, kept_correction, cutoff_hz, rounds)


def _refuse_out_of_reach(robot: Robot, path: Trajectory) -> None:
    """Refuse a path that a Delta's platform cannot follow, such as one of its motors."""
    t = np.linspace(0.0, path.duration, POSES_TRIED)
    reasons = architecture_of(robot).resolve(None, path(t)[0]).reason
    bad = np.flatnonzero(reasons != "")
    if bad.size:
        raise SuppleError(
            f"trajectory at t = {t[bad[0]]:.3g} s: {reasons[bad[0]]}; the path of a Delta is that "
            "of its platform (x, y, z in m): where motor angles are at hand, give "
            "supple.forward(robot, theta).position of their samples"
        )


class _TipDeviation:
    """A robot led along a path, and how its tip gives way."""

    def __init__(
        self, robot: Robot, path: Trajectory, elements: int, after: float, damping: float | None
    ) -> None:
        self.robot = robot
        self.after = after
        self.names = coordinate_names(robot)
        self.options: dict[str, Any] = {"elements": elements, "damping": damping}
        architecture = architecture_of(robot)
        self.platform = architecture.asked_by == "position"
        self.axes = slice(0, 2 if architecture.planar else 3)
        size = len(architecture.coordinates())
        if path(0.0)[0].shape != (size,):
            given = path(0.0)[0].size
            raise SuppleError(f"path has {given} coordinates: {robot.name} needs {size}")
        if self.platform:
            _refuse_out_of_reach(robot, path)
        x = path(np.array([path.duration]))[0]
        where: Any = {"position" if self.platform else "theta": x}
        self.lowest = float(np.ravel(modes(robot, **where, count=1).frequency_hz)[0])
        count = min(max(50, round(path.duration * self.lowest * SAMPLES_PER_PERIOD)), 20_000)
        self.t = np.linspace(0.0, path.duration, count + 1)
        self.x, self.v, self.a = assembled_path(robot, path)(self.t)  # where loops stand, too
        start = self.x[0, :size]
        self.model: SmallMotion = elements_on_path(
            robot, start, elements, damping=damping, held="compensate"
        )
        self.wanted = self.model.place(self.x)
        self.joints_per_metre: Array | None = None  # (T, n, m): joints that move the rigid tip so
        if not self.platform:
            h = 1e-6
            place = self.model.place
            columns = []
            for unit in h * np.eye(size, self.x.shape[1]):
                columns.append((place(self.x + unit) - place(self.x - unit)) / (2 * h))
            self.joints_per_metre = _damped_inverse(np.stack(columns, axis=2)[:, self.axes])

    def _joints(self, moved: Array) -> Array:
        """(T, n): the change of coordinates that moves the tip so, (T, 3)."""
        if self.joints_per_metre is None:
            return moved
        return np.asarray((self.joints_per_metre @ moved[:, self.axes, None])[..., 0])

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

    def subtract_deviation(self, positions: Array, moved: Array, sign: float = -1.0) -> Samples:
        """The command less what the tip moves."""
        return Samples(self.t, positions + sign * self._joints(moved), names=self.names)

    def error(self, command: Trajectory) -> Array:
        """(T', 3): tip less path, and past its end as long as it is watched."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallRangeWarning)
            warnings.simplefilter("ignore", TrajectoryWarning)  # a trial that turns joints too far
            run = follow(self.robot, command, dt=float(self.t[1]), after=self.after, **self.options)
        wanted = self.wanted
        later = np.repeat(wanted[-1:], len(run.t) - len(wanted), axis=0)
        return np.asarray(run.tip - np.concatenate([wanted, later]))

    def low_pass(self, error: Array, cutoff_hz: float) -> Array:
        """The error below a frequency, without delay (fourth order, there and back)."""
        from scipy.signal import butter, sosfiltfilt

        most = 0.4 / self.t[1]
        filtered = butter(4, min(cutoff_hz, most), output="sos", fs=1 / self.t[1])
        return np.asarray(sosfiltfilt(filtered, error, axis=0))


def _damped_inverse(J: Array) -> Array:
    """(T, n, m): pseudo-inverses of Jacobians (T, m, n), damped where these are nearly singular.

    A singular value s above s0 = DAMPED_BELOW times the largest of all is inverted as it is, one
    below as s / (s^2 + d^2), d = s0 (1 - (s / s0)^2)^2 / 2. That is smooth along a path, never
    above 1.6 / s0, and 0 where s is.
    """
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    s0 = DAMPED_BELOW * float(s.max())
    below = np.minimum(s / s0, 1.0)
    d = s0 / 2 * (1 - below**2) ** 2
    inverse = s / (s**2 + d**2)
    return np.asarray(np.swapaxes(Vt, 1, 2) @ (inverse[..., None] * np.swapaxes(U, 1, 2)))
