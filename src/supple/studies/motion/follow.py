"""How does it shake along a path: elastic motion about the prescribed rigid one, and torques."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...arguments import checked, counts, instance, number, one_of, whole
from ...beams.basis import FiniteElements
from ...control.trajectories import Trajectory
from ...equations.model import Model, build
from ...errors import SuppleError
from ...kernels.newmark import Scheme, newmark, periodic_start, solver, step_through
from ...path_dynamics.damping import MotionDamping, motion_damping
from ...path_dynamics.ked import Loads, ked
from ...path_dynamics.linearised_model import LedModel
from ...path_dynamics.small_motion import Matrices, SmallMotion
from ...robot import Robot

__all__ = ["PathResponse", "SmallRangeWarning", "follow"]

Array = NDArray[np.float64]
Start = Literal["static", "zero", "periodic"]
MOST = 1e7  # steps of one run
SMALL = 0.1  # rad, or deflection over length: there 1 - cos is half a per cent


class SmallRangeWarning(UserWarning):
    """The elastic motion is larger than a linear model can be trusted with."""


@dataclass(frozen=True)
class PathResponse(Answer):
    """The elastic motion of a robot whose motors follow a path.

    Attributes:
        model: what moved.  path: the motion wanted.  t: (T,).  position: (T, n), what the path
        prescribes (a Delta's platform, or joints).  y, yd, ydd: (T, N), elastic coordinates.
        tip: (T, 6), displacement (m) and small rotation (rad) of platform or tip from the rigid
        motion, base axes.  torque: (T, motors), of the elastic robot.  rigid_torque: (T, motors).
        largest: the largest deflection over length or section rotation of any link.
    """

    model: SmallMotion
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

    @property
    def robot(self) -> Robot:
        """The robot that moved."""
        return self.model.robot

    @property
    def small(self) -> bool:
        """Whether the elastic motion stays where a linear model holds."""
        return self.largest <= SMALL

    @property
    def stopped(self) -> bool:
        """Whether something was computed after the path's end."""
        return not self.path.periodic and bool(self.t[-1] > self.path.duration)

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
        names = self.model.names
        if link not in names:
            raise SuppleError(f"there is no link '{link}': the links are {', '.join(names)}")
        if not 0 <= fraction <= 1:
            raise SuppleError(f"fraction is {fraction}: give a place from 0 (root) to 1 (end)")
        return np.asarray(_moved(self.model.section(link, fraction, self.position), self.y))


@checked(
    path=instance(Trajectory, "a Trajectory, such as supple.InvertedU()"),
    elements=counts(),
    order=one_of("cubic", "quintic"),
    step=number(0, above=True, unit="of seconds"),
    start=one_of(*get_args(Start)),
    after=number(0, unit="of seconds to watch after the stop"),
    periods=whole(1),
)
def follow(  # noqa: PLR0913 - every choice by keyword
    robot: Robot | Model,
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

    The path leads a Delta's platform or a serial arm's joints, as if the robot were rigid. A Model
    may be given instead: its own equations, basis and damping are then linearised about the
    motion; so they are for an arm with links that slide, with elements. `start`: from the static
    sag, from zero, or on the periodic motion of a path that repeats. `damping`: a ratio for all
    modes, or Rayleigh, Proportional. `after`: seconds to watch after the stop; `periods`: how often
    a path that repeats is run. Warns when deflections leave the small range.
    """
    _check(path, step, start, periods)
    model, law = _small_motion(robot, path, elements, order, damping, loads)
    if not 0 <= after < math.inf:
        raise SuppleError(
            f"after is {after!r}: give the seconds to watch after the stop, 0 or more"
        )
    total = path.duration * periods if path.periodic else path.duration + after
    if total / step > MOST:
        raise SuppleError(
            f"{total:g} s in steps of {step:g} s are more than {MOST:g} steps: use fewer"
        )
    t = np.linspace(0.0, total, max(2, round(total / step) + 1))
    run = _Run(model, path, law)
    chosen = scheme or newmark()
    q, v = run.start(start, t, chosen, periods)
    found = run.response(t, q, v, chosen)
    if not found.small:
        warnings.warn(_too_large(found), SmallRangeWarning, stacklevel=2)
    return found


def _small_motion(
    robot: Robot | Model,
    path: Trajectory,
    elements: int,
    order: str,
    damping: MotionDamping | float | None,
    loads: Loads | None,
) -> tuple[SmallMotion, MotionDamping | None]:
    """The equations about the path, and the damping that they do not have themselves."""
    if isinstance(robot, Model):
        if robot.functions.closed:
            raise SuppleError(
                f"this Model of {robot.robot.name} has loops: follow the robot itself, or simulate "
                "the Model with supple.Decoupling() on the path"
            )
        if damping is not None:
            raise SuppleError("damping is given with a Model: build the Model with it instead")
        _check_loads(loads, "a Model has all of its loads")
        return LedModel(robot), None
    sliding = [x.name for x in getattr(robot, "moving", ()) if x.joint.type == "prismatic"]
    if not sliding:
        return ked(robot, path(0.0)[0], elements, order, loads), motion_damping(damping)
    if isinstance(damping, MotionDamping):
        raise SuppleError(
            f"links.{sliding[0]} slides: give its damping as a ratio, since a matrix would change "
            "with its length"
        )
    _check_loads(loads, f"links.{sliding[0]} slides")
    basis = FiniteElements(elements, order)
    return LedModel(build(robot, basis, stiffening=True, damping=damping)), None


def _check_loads(loads: Loads | None, why: str) -> None:
    if loads is not None:
        raise SuppleError(f"loads cannot be switched here, since {why}: leave loads out")


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

    def __init__(self, model: SmallMotion, path: Trajectory, damping: MotionDamping | None) -> None:
        self.model, self.path = model, path
        self._first = model.matrices(*path(np.zeros(1)))
        K = model.elastic(path(0.0)[0])
        self._law = None if damping is None else damping.law(self._first.M[0], K)
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
        tip = np.concatenate([_moved(m.tip, part) for m, part in self._parts(y)])
        x, v, a = self.path(t)
        torques = [
            self.model.torques((xs, vs, accs), m, (ys, yds, ydds))
            for m, xs, vs, accs, ys, yds, ydds in self._parts(x, v, a, y, yd, ydd)
        ]
        torque, rigid = (np.concatenate(each) for each in zip(*torques, strict=True))
        return PathResponse(
            self.model, self.path, t, x, y, yd, ydd, tip, torque, rigid, _largest(self.model, x, y)
        )

    def _parts(self, *arrays: Array) -> Iterator[Any]:
        """What was kept, with the rows of arrays (T, ..) that belong to it."""
        ends = np.cumsum([len(m.F) for m in self._kept])[:-1]
        return zip(self._kept, *(np.split(x, ends) for x in arrays), strict=True)


def _moved(field: Array, y: Array) -> Array:
    """Motion (T, 6) from that per unit y, (1 or T, 6, N), and y (T, N)."""
    return np.asarray((field @ y[..., None])[..., 0])


def _largest(model: SmallMotion, x: Array, y: Array) -> float:
    """The largest deflection over length or section rotation at the end of any link."""
    found = [0.0]
    for link in model.names:
        if L := model.length(link):
            end = np.abs(_moved(model.section(link, 1.0, x), y))
            found += [float(end[:, :3].max() / L), float(np.nan_to_num(end[:, 3:]).max())]
    return max(found)


def _too_large(found: PathResponse) -> str:
    return (
        f"links of {found.robot.name} bend by up to {found.largest:.2g} (deflection over length, "
        f"or rad): beyond {SMALL} the linear model is off by more than a per cent; drive slower, "
        "stiffen the links, or simulate the coupled model"
    )
