"""How does it shake along a path: elastic motion about the prescribed rigid one, and torques."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..architectures.delta_motion import motion
from ..control.trajectories import Trajectory
from ..dynamics.ked import Ked, Loads, Matrices, ked
from ..dynamics.ked_damping import MotionDamping, motion_damping
from ..errors import SuppleError
from ..kernels.newmark import Scheme, newmark, periodic_start, solver, step_through
from ..robot import DeltaRobot, Joint, Motor, Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PathResponse", "SmallRangeWarning", "follow"]

Array = NDArray[np.float64]
Start = Literal["static", "zero", "periodic"]
SMALL = 0.1  # rad, or deflection over length: there 1 - cos is half a per cent


class SmallRangeWarning(UserWarning):
    """The elastic motion is larger than a linear model can be trusted with."""


@dataclass(frozen=True)
class PathResponse:
    """The elastic motion of a robot whose motors follow a path.

    Attributes:
        model: what moved.  path: the motion wanted.  t: (T,).  position: (T, n), what the path
        prescribes (a Delta's platform, or joints).  y, yd, ydd: (T, N), elastic coordinates.
        tip: (T, 6), displacement (m) and small rotation (rad) of platform or tip from the rigid
        motion, base axes.  torque: (T, motors), of the elastic robot.  rigid_torque: (T, motors).
        largest: the largest deflection over length or section rotation of any link.
    """

    model: Ked
    path: Trajectory
    t: Array
    position: Array
    y: Array
    yd: Array
    ydd: Array
    tip: Array
    torque: Array
    rigid_torque: Array
    largest: float
    notes: dict[str, Any] = field(default_factory=dict, repr=False)

    if TYPE_CHECKING:  # bound in answers.py

        def plot(self, path: Any = None, **options: Any) -> Figure: ...
        def show(self, host: str = ..., port: int = ...) -> Any: ...
        def save_page(self, path: Any) -> Any: ...

    @property
    def robot(self) -> Robot:
        """The robot that moved."""
        return self.model.robot

    @property
    def small(self) -> bool:
        """Whether the elastic motion stays where a linear model holds."""
        return self.largest <= SMALL

    @property
    def peak(self) -> Array:
        """(6,) the largest variation of place and attitude, with its sign."""
        rows = np.abs(self.tip).argmax(axis=0)
        return np.asarray(self.tip[rows, np.arange(6)])

    def residual(self) -> Array:
        """Return the vibration after the stop, (6,): half of peak to peak once the path ended."""
        if self.path.periodic:
            raise SuppleError("a path that repeats never stops: residual is for one that ends")
        after = self.tip[self.t >= self.path.duration - 1e-12]
        if len(after) < 2:
            raise SuppleError("nothing was computed after the stop: ask follow(..., after=0.5)")
        return np.asarray((after.max(axis=0) - after.min(axis=0)) / 2)

    def deflection(self, link: str, fraction: float = 1.0) -> Array:
        """Return how a link bends at a fraction of its length, (T, 6), link axes.

        Displacements (m) and section rotations (rad) relative to the link's root.
        """
        names = [s.name for s in self.model.structure.segments]
        if link not in names:
            raise SuppleError(f"there is no link '{link}': the links are {', '.join(names)}")
        i = names.index(link)
        part, R_LS = self.model.meshes[i], self.model.structure.segments[i].R_LS
        N = part.field([fraction * part.L])[0]
        moved = self.y[:, self.model.inner[i]] @ N.T
        return np.concatenate([moved[:, :3] @ R_LS.T, moved[:, 3:] @ R_LS.T], axis=1)


def follow(  # noqa: PLR0913 - every choice by keyword
    robot: Robot,
    path: Trajectory,
    *,
    elements: int = 2,
    order: str = "cubic",
    step: float = 1e-3,
    start: Start = "static",
    damping: MotionDamping | float | None = None,
    loads: Loads | None = None,
    scheme: Scheme | None = None,
    after: float = 0.0,
    periods: int = 1,
) -> PathResponse:
    """Return the elastic motion of a robot whose motors follow a path.

    The path leads a Delta's platform or a serial arm's joints, as if the robot were rigid. `start`:
    from the static sag, from zero, or on the periodic motion of a path that repeats. `damping`: a
    ratio for all modes, or Rayleigh, Proportional. `after`: seconds to watch after the stop;
    `periods`: how often a path that repeats is run. Warns when deflections leave the small range.
    """
    _check(path, step, start, periods)
    model = ked(robot, path(0.0)[0], elements, order, loads)
    total = path.duration * periods if path.periodic else path.duration + after
    t = np.linspace(0.0, total, max(2, round(total / step) + 1))
    run = _Run(model, path, motion_damping(damping))
    chosen = scheme or newmark()
    q, v = run.start(start, t, chosen, periods)
    found = run.response(t, q, v, chosen)
    if not found.small:
        warnings.warn(_too_large(found), SmallRangeWarning, stacklevel=2)
    return found


def _check(path: Trajectory, step: float, start: str, periods: int) -> None:
    if not isinstance(path, Trajectory):
        raise SuppleError(
            "path must be a Trajectory, such as supple.InvertedU() or supple.CirclePath()"
        )
    if not np.isfinite(step) or step <= 0 or step > path.duration:
        raise SuppleError(f"step is {step}: give seconds, above 0 and below the path's duration")
    if start not in get_args(Start):
        raise SuppleError(f"start is '{start}': it must be one of {', '.join(get_args(Start))}")
    if start == "periodic" and not path.periodic:
        raise SuppleError("start is 'periodic', but this path does not repeat: try 'static'")
    if periods < 1 or periods != int(periods):
        raise SuppleError(f"periods is {periods}: give a whole number of 1 or more")


class _Run:
    """M, C, K, F along the path with damping; keeps what the answer reads off."""

    def __init__(self, model: Ked, path: Trajectory, damping: MotionDamping | None) -> None:
        self.model, self.path = model, path
        self._first = model.matrices(*path(np.zeros(1)))
        self._law = None if damping is None else damping.law(self._first.M[0], model.stiffness)
        self._kept: list[Matrices] = []

    def __call__(self, t: Array) -> tuple[Array, Array, Array, Array]:
        found = self.model.matrices(*self.path(t))
        self._kept.append(found)
        C = found.C if self._law is None else found.C + self._law(found.M)
        return found.M, C, found.K, found.F

    def start(self, start: Start, t: Array, scheme: Scheme, periods: int) -> tuple[Array, Array]:
        """Elastic coordinates and velocities at the start, (N,) each."""
        zero = np.zeros(self.model.size)
        if start == "zero":
            return zero, zero
        if start == "static":
            return solver(self._first.K)(0, self._first.F[0]), zero
        steps = (len(t) - 1) // periods
        return periodic_start(self, t[: steps + 1], scheme)

    def response(self, t: Array, q: Array, v: Array, scheme: Scheme) -> PathResponse:
        """Step through the times and read the answer off."""
        self._kept.clear()
        y, yd, ydd = step_through(self, t, q, v, scheme)
        tip = np.concatenate([m.tip for m in self._kept])
        drive = [m.drive for m in self._kept]
        ends = np.cumsum([len(rows[3]) for rows in drive])[:-1]
        parts = zip(self._kept, *(np.split(x, ends) for x in (y, yd, ydd)), strict=True)
        torque = np.concatenate([m.torque(*state) for m, *state in parts])
        rigid = -np.concatenate([rows[3] for rows in drive])
        torque, rigid = self._with_springs(t, y, torque, rigid)
        motors = _motor_side(self.model.robot, *self.path(t))
        return PathResponse(
            self.model,
            self.path,
            t,
            self.path(t)[0],
            y,
            yd,
            ydd,
            np.einsum("tij,tj->ti", tip, y),
            torque + motors,
            rigid + motors,
            _largest(self.model, y),
        )

    def _with_springs(self, t: Array, y: Array, torque: Array, rigid: Array) -> tuple[Array, Array]:
        """Torques of all motors in the order of their links: a spring's is -k eps."""
        model = self.model
        if not model.springs:
            return torque, rigid
        wrench = model.root_wrenches(*self.path(t))
        columns = [(i, torque[:, k], rigid[:, k]) for k, (i, _) in enumerate(model.motors)]
        for column, (i, k) in enumerate(model.springs):
            release = model.structure.segments[i].releases[k]
            twist = -release.stiffness * y[:, column]
            columns.append((i, twist, wrench[:, i] @ release.toward(0)))
        columns.sort(key=lambda column: column[0])
        return (
            np.stack([flexible for _, flexible, _ in columns], axis=1),
            np.stack([stiff for _, _, stiff in columns], axis=1),
        )


def _motor_side(robot: Robot, x: Array, v: Array, a: Array) -> Array:
    """What rotors, damping and friction of the motors take, (T, motors)."""
    if isinstance(robot, DeltaRobot):
        _, rate, second = motion(robot, x, v, a).theta
        motors: list[Motor | Joint] = [robot.motor] * 3
    else:
        rate, second = v, a
        motors = [link.joint for link in getattr(robot, "moving", ())]
    out = np.zeros(rate.shape)
    for k, motor in enumerate(motors):
        out[:, k] = motor.rotor_inertia * second[:, k] + motor.damping * rate[:, k]
        out[:, k] += motor.friction * np.sign(rate[:, k])
    return out


def _largest(model: Ked, y: Array) -> float:
    """The largest deflection over length or section rotation at the end of any link."""
    found = [0.0]
    for part, inner in zip(model.meshes, model.inner, strict=True):
        if part.size:
            end = np.abs(y[:, inner] @ part.end.T).max(axis=0)
            found += [float(end[:3].max() / part.L), float(end[3:].max())]
    return max(found)


def _too_large(found: PathResponse) -> str:
    return (
        f"links of {found.robot.name} bend by up to {found.largest:.2g} (deflection over length, "
        f"or rad): beyond {SMALL} the linear model is off by more than a per cent; drive slower, "
        "stiffen the links, or simulate the coupled model"
    )
