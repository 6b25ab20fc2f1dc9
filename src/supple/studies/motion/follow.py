"""How does it shake along a path: elastic motion about the prescribed rigid one, and torques."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...answers.held import kept
from ...architectures.kinds import architecture_of
from ...arguments import Check, checked, counts, instance, number, one_of, optional, whole
from ...beams.basis import FiniteElements
from ...budget import afford, count_of
from ...control.trajectories import Trajectory
from ...equations.build import build
from ...equations.equilibrium import hanging
from ...equations.model import Model
from ...errors import SuppleError
from ...integration.closed_loop import check_rates
from ...kernels.newmark import Scheme, periodic_start, solver, step_through
from ...kernels.threads import one_thread
from ...outputs.measuring import named_outputs, read
from ...outputs.output import Output
from ...path_dynamics.assembled_path import assembled_path
from ...path_dynamics.damping import Law, MotionDamping, Ratio, link_damping
from ...path_dynamics.equations_in_time import Along, Path
from ...path_dynamics.kineto_elastodynamics import Loads, ked
from ...path_dynamics.linearised_model import LedModel, Swung, led_elements
from ...path_dynamics.small_motion import Matrices, SmallMotion, elastic_modes
from ...robot import Robot
from ..small_range import LOST, SMALL, SmallRangeWarning, too_large

__all__ = ["PathResponse", "SmallRangeWarning", "StepWarning", "follow"]

Array = NDArray[np.float64]
Start = Literal["static", "rest", "periodic"]
EVERY = 1e-3  # s between rows of the answer
PHASE = 0.03  # rad, what the steps may turn the highest mode that the path excites, until the end
CLOSE = 1e-2  # of the largest: what steps of half the length may change; the error is 1/15 of it
HALVINGS = 8
INSTEAD = "drive slower, stiffen the links, or simulate the coupled model"


class StepWarning(UserWarning):
    """The steps in time are longer than the frequencies that the path excites allow."""


@dataclass(frozen=True)
class PathResponse(Answer):
    """The elastic motion of a robot whose motors follow a path.

    Attributes:
        model: what moved.  path: the motion wanted.  t: (T,).  wanted: (T, n), what the path
        prescribes (a Delta's platform, or joints).  passive: (T, m), joints that nothing holds, of
        the unbent robot, see `swing`.  y, yd, ydd: (T, N), elastic coordinates.
        moved: (T, 6), displacement (m) and small rotation (rad) of platform or tip from the rigid
        motion, base axes.  torque: (T, motors), of the elastic robot.  rigid_torque: (T, motors).
        largest: the largest deflection over length or section rotation of any link.
        law: damping that the equations do not have themselves.
        step: the longest step of the integration, s, which is not the time between rows.
        outputs: what was measured, by name, (T,) or (T, k).
        beside: (T, w), about where loops stand, which are kept on one branch along the path.
    """

    model: SmallMotion
    path: Trajectory
    t: Array
    wanted: Array
    y: Array
    yd: Array
    ydd: Array
    moved: Array
    torque: Array
    rigid_torque: Array
    largest: float
    step: float
    law: Law | None = field(default=None, repr=False, compare=False)
    notes: dict[str, Any] = field(default_factory=dict, repr=False)
    outputs: dict[str, Array] = field(default_factory=dict)
    passive: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    beside: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    @property
    def swing(self) -> Array:
        """(T, m) passive coordinates that no motor and no loop holds, as the links bend."""
        loose = self.model.loose if isinstance(self.model, LedModel) else []
        return np.asarray(self.passive + self.y[:, loose]) if loose else np.zeros((len(self.t), 0))

    @property
    def led(self) -> Array:
        """(T, ..) the motion that y is small about: the path, where loops stand, what swings."""
        parts = (self.wanted, self.beside, self.passive)
        return np.hstack([part for part in parts if part.size or part is self.wanted])

    @property
    def robot(self) -> Robot:
        """The robot that moved."""
        return self.model.robot

    @kept
    def tip(self) -> Array:
        """(T, 3) where the tip or platform is, base axes, as of a Response."""
        return np.asarray(self.model.place(self.led) + self.moved[:, :3])

    @property
    def small(self) -> bool:
        """Whether the elastic motion stays where a linear model holds."""
        return self.largest <= SMALL

    @property
    def stopped(self) -> bool:
        """Whether something was computed after the path's end."""
        return not self.path.periodic and bool(self.t[-1] > self.path.duration)

    @property
    def damping_ratios(self) -> Array:
        """What the robot's modes really get of its damping at the start, rising, motors led."""
        x = self.led[:1]
        still = self.model.matrices(x, 0 * x, 0 * x)
        C = still.C[0] if self.law is None else (still.C + self.law(still.M))[0]
        periods2, Psi = elastic_modes(still.M[0], self.model.elastic(x[0]))
        used = periods2 > 1e-14 * periods2.max(initial=0.0)
        lost = np.einsum("ij,ik,kj->j", Psi, C, Psi)[used]
        return np.asarray((lost / (2 * np.sqrt(periods2[used])))[::-1])

    @property
    def peak(self) -> Array:
        """(6,) the largest variation of place and attitude, with its sign."""
        rows = np.abs(self.moved).argmax(axis=0)
        return np.asarray(self.moved[rows, np.arange(6)])

    def residual(self) -> Array:
        """Return the vibration after the stop, (6,): half of peak to peak once the path ended."""
        if self.path.periodic:
            raise SuppleError("a path that repeats never stops: residual is for one that ends")
        after = self.moved[self.t >= self.path.duration - 1e-12]
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
        return np.asarray(_moved(self.model.section(link, fraction, self.led), self.y))


ARGUMENTS: dict[str, Check] = {
    "path": instance(Trajectory, "a Trajectory, such as supple.InvertedU()"),
    "elements": counts(),
    "order": one_of("cubic", "quintic"),
    "dt": optional(number(0, above=True, unit="of seconds")),
    "step": optional(number(0, above=True, unit="of seconds")),
    "modal_damping": optional(number(0)),
    "start": one_of(*get_args(Start)),
    "after": number(0, unit="of seconds to watch after the stop"),
    "periods": whole(1),
}


@one_thread
@checked(**ARGUMENTS)
def follow(  # noqa: PLR0913 - every choice by keyword
    robot: Robot | Model,
    path: Trajectory,
    *,
    elements: int = 2,
    order: str = "cubic",
    dt: float | None = None,
    step: float | None = None,
    start: Start = "static",
    damping: MotionDamping | float | None = None,
    modal_damping: float | None = None,
    loads: Loads | None = None,
    scheme: Scheme | None = None,
    after: float = 0.0,
    periods: int = 1,
    outputs: Mapping[str, Output] | None = None,
) -> PathResponse:
    """Return the elastic motion of a robot whose motors follow a path, sampled every `dt` (1 ms).

    The path leads a Delta's platform, an arm's joints or a mechanism's motors, as if the robot
    were rigid. A Model may be given instead: its own equations, basis and damping are then
    linearised about the motion; so they are for mechanisms and links that slide, with elements.
    `start`: `static`, the sag under gravity at the first pose, without inertia loads; `rest`,
    unbent; `periodic`, on the motion that repeats with a path that does. `damping`: a ratio of
    each link's own modes, by default the robot file's, or a Rayleigh or Proportional;
    `modal_damping`: a ratio of the whole robot's modes at the start. `after`: seconds to watch
    after the stop; `periods`: how often a path that repeats is run. Warns of deflections that are
    not small. `outputs` are measured by name, as in `simulate`, then by the equations of a Model.
    Joints that nothing holds swing as far as they like.

    Steps are Gauss's of fourth order (`kernels.collocation`), as short as the frequencies that the
    path excites need, and halved until the answer stays; `step` fixes them instead, and
    `scheme` takes another method of steps `step`, by default `dt`.
    """
    dt = dt if dt is not None else (EVERY if step is None else step)
    _check(path, {"dt": dt} if step is None else {"step": step, "dt": dt}, start)
    named = named_outputs(outputs)
    if named and isinstance(robot, Robot):
        robot, loads = _modelled(robot, (elements, order), (damping, modal_damping), loads), None
        damping = modal_damping = None
    model, law = _small_motion(robot, path, elements, order, (damping, modal_damping), loads)
    named = named_outputs(outputs, model.model) if isinstance(model, LedModel) else named
    total = path.duration * periods if path.periodic else path.duration + after
    span = f"a motion of {total:g} s in steps of {dt:g} s"
    steps = count_of(total, dt, 1e8, span, "give a shorter time, or longer steps")
    afford(span, 8e-8 * steps * model.size, 0.0, "give a shorter time, or longer steps")
    t = np.linspace(0.0, total, max(2, round(total / dt) + 1))
    led = assembled_path(model.robot, path)
    swung = _swung(model, led, total, start)
    run = _Run(Along(model, swung or led, total, law), path, t, start, periods)
    found = run.bounded(scheme, step)
    if not found.small:
        told = too_large(found.robot.name, found.largest, INSTEAD)
        warnings.warn(told, SmallRangeWarning, stacklevel=2)
    if named and isinstance(model, LedModel):
        states = model.states((swung or led)(t), (found.y, found.yd, found.ydd))
        load, near = np.zeros((len(t), 6)), model.near(found.led, states[0])
        return replace(found, outputs=read(model.model, named, t, states, load, near))
    return found


def _swung(model: SmallMotion, path: Path, total: float, start: str) -> Swung | None:
    """The path with what swings freely beside it, None where nothing does."""
    if not isinstance(model, LedModel) or not model.loose:
        return None
    names = [model.model.coordinates[model.model.joints + k] for k in model.loose]
    if start == "periodic":
        raise SuppleError(
            f"start is 'periodic', but {names[0].removeprefix('passive.')} swings freely and need "
            "not repeat with the path: try 'static', with periods= to watch it"
        )
    q = model.model.chain.pose(path(0.0)[0][: model.model.joints])
    q = hanging(model.model, q) if start == "static" else q
    return Swung(model, path, total, q[model.model.joints :][model.loose])


def _modelled(
    robot: Robot,
    mesh: tuple[int, str],
    damping: tuple[MotionDamping | float | None, float | None],
    loads: Loads | None,
) -> Model:
    """The Model that outputs are measured of: elements, with the robot's damping."""
    if isinstance(damping[0], MotionDamping):
        raise SuppleError(
            "outputs are measured of a Model, whose damping is a ratio: give damping=0.01, or "
            "modal_damping="
        )
    _check_loads(loads, "outputs are measured of a Model, which has all of its loads")
    return build(
        robot,
        FiniteElements(*mesh),
        stiffening=True,
        damping=damping[0],
        modal_damping=damping[1],
    )


def _small_motion(
    robot: Robot | Model,
    path: Trajectory,
    elements: int,
    order: str,
    damping: tuple[MotionDamping | float | None, float | None],
    loads: Loads | None,
) -> tuple[SmallMotion, Law | None]:
    """The equations about the path, and the damping that they do not have themselves."""
    given, modal = damping
    if given is not None and modal is not None:
        raise SuppleError(
            "damping and modal_damping are both given: damping is the ratio of each link's own "
            "modes, modal_damping that of the whole robot's; give one of them"
        )
    if isinstance(robot, Model):
        if given is not None or modal is not None:
            raise SuppleError("damping is given with a Model: build the Model with it instead")
        _check_loads(loads, "a Model has all of its loads")
        return LedModel(robot), None
    ratio = None if isinstance(given, MotionDamping) else given
    led = led_elements(robot, elements, order, ratio)
    if led is None:
        model = ked(robot, path(0.0)[0], elements, order, loads)
        if modal is not None:
            given = Ratio(float(modal))
        if isinstance(given, MotionDamping):  # of all modes at the start
            x, v, a = path(np.zeros(1))
            return model, given.law(model.matrices(x, v, a).M[0], model.elastic(x[0]))
        return model, link_damping(model, given)
    sliding = [name for name, slides in architecture_of(robot).motors() if slides]
    why = f"links.{sliding[0]} slides" if sliding else f"{robot.name} is a mechanism"
    if isinstance(given, MotionDamping) or modal is not None:
        raise SuppleError(
            f"{why}: give its damping as a ratio of its links' own modes, damping=, since a matrix "
            "would change with its pose"
        )
    _check_loads(loads, why)
    return led, None


def _check_loads(loads: Loads | None, why: str) -> None:
    if loads is not None:
        raise SuppleError(f"loads cannot be switched here, since {why}: leave loads out")


def _check(path: Trajectory, times: dict[str, float], start: str) -> None:
    check_rates(path)
    for word, value in times.items():
        if not np.isfinite(value) or value <= 0 or value > path.duration:
            raise SuppleError(
                f"{word} is {value}: give seconds, above 0 and below the path's duration"
            )
    if start == "periodic" and not path.periodic:
        raise SuppleError("start is 'periodic', but this path does not repeat: try 'static'")


@dataclass(frozen=True)
class _Run:
    """A robot along a path: from its start through the times of the answer."""

    along: Along
    path: Trajectory
    t: Array
    begin: Start
    periods: int

    def bounded(self, scheme: Scheme | None, step: float | None) -> PathResponse:
        """Step through, and refuse a motion beyond bounds."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.by_gauss(step) if scheme is None else self.by_scheme(scheme, step)
        lost = np.flatnonzero(~(np.abs(found.moved).max(axis=1) <= LOST))
        if not len(lost):
            return found
        raise SuppleError(
            f"the elastic motion of {found.robot.name} about this path grows without limit, beyond "
            f"{LOST:g} m or rad at t = {self.t[lost[0]]:.4g} s: lead the path farther from singular "
            f"poses, or {INSTEAD}"
        )

    def by_scheme(self, scheme: Scheme, step: float | None) -> PathResponse:
        """Step by Newmark's family, evenly."""
        h = self.t[1] - self.t[0]
        fine = 1 if step is None else max(1, math.ceil(h / step * (1 - 1e-9)))
        t = np.linspace(0.0, self.t[-1], fine * (len(self.t) - 1) + 1)
        if self.begin == "periodic":
            q, v = periodic_start(self.along.system, t[: (len(t) - 1) // self.periods + 1], scheme)
        else:
            q, v = self._held(), np.zeros(self.along.size)
        y, yd, ydd = (x[::fine] for x in step_through(self.along.system, t, q, v, scheme))
        return self._response(y, yd, ydd, h / fine)

    def by_gauss(self, step: float | None) -> PathResponse:
        """Step by collocation, as finely as the answer needs or as was asked."""
        N, every = self.along.size, self.t[1] - self.t[0]
        h = min(self._first_step(), every) if step is None else min(step, every)
        h = every / math.ceil(every / h * (1 - 1e-9))
        x, coarse = self.along.steps(self.t, h, self._state(h)), None
        for _ in range(HALVINGS):
            skip = 1 if 2 * h <= every * (1 + 1e-9) else 2
            if coarse is None:
                coarse = self.along.steps(self.t[::skip], 2 * h, x[0])
            # How much twice the step changes the motion, or what is left after the stop. Of half
            # of peak to peak, displacements and rotations each; what is left counts where it is
            # more than 1e-4 of the motion.
            t = self.t[::skip]
            tips = self.along.tips(t)
            one, two = (_moved(tips, y) for y in (x[::skip, :N], coarse[:, :N]))
            rows = [slice(None)]
            if not self.path.periodic and t[-1] > self.path.duration:
                rows.append(slice(int(np.searchsorted(t, self.path.duration)), None))
            off = 0.0
            for part in (slice(0, 3), slice(3, 6)):
                least = 1e-4 * np.ptp(one[:, part], axis=0).max(initial=0.0) / 2
                # rounding, of the other part too
                least += 1e-9 * np.abs(one).max(initial=0.0) + 1e-30
                for row in rows:
                    size = np.ptp(one[row, part], axis=0).max(initial=0.0) / 2
                    change = np.abs(one[row, part] - two[row, part]).max(initial=0.0)
                    off = max(off, float(change / max(size, least)))
            lost = not np.abs(one).max(initial=0.0) <= LOST
            if off <= CLOSE or step is not None or lost:
                break
            h /= 2
            coarse = None if self.begin == "periodic" else x  # the same steps from the same start
            x = self.along.steps(self.t, h, self._state(h))
        if off > (CLOSE if step is None else 15 * CLOSE) and not lost:
            warnings.warn(
                f"steps of {h:.2g} s are too long for the frequencies of this motion: steps twice "
                f"as long change it by {off:.0%}; "
                + ("leave step out to have it chosen" if step else "give a smoother path"),
                StepWarning,
                stacklevel=3,
            )
        y, yd = x[:, :N], x[:, N:]
        M, C, K, F = self.along.system(self.t)
        solved = solver(M)
        rest = F - np.einsum("tij,tj->ti", C, yd) - np.einsum("tij,tj->ti", K, y)
        ydd = np.array([solved(k, b) for k, b in enumerate(rest)])
        return self._response(y, yd, ydd, h)

    def _first_step(self) -> float:
        """A step that turns the modes that count by PHASE until the end, to begin with.

        Collocation is (w h)^4 / 720 slow. A mode counts if its share of the tip's motion, were the
        load to jump, is two per cent of the largest.
        """
        if not self.along.size:
            return float(self.t[-1])
        loads = self.along(np.linspace(0.0, self.path.duration, 33))
        F = loads.F - self._still().F if self.begin == "static" else loads.F
        periods2, Psi = elastic_modes(loads.M[0], self.along.model.elastic(self.along.path(0.0)[0]))
        if not len(periods2):  # nothing bends, and what swings does so in the path
            return float(self.t[-1])
        share = np.abs(F @ Psi).max(axis=0) * np.abs(loads.tip[:, :3] @ Psi).max(axis=(0, 1))
        seen = (share >= 0.02 * share.max()) & (periods2 > 1e-14 * periods2.max())
        w = 1 / math.sqrt(float(periods2[seen].min(initial=periods2.max())))
        return float(min(0.5, (720 * PHASE / (w * self.t[-1])) ** 0.25) / w)

    def _still(self) -> Matrices:
        """The equations at the first pose, at rest."""
        x, v, a = self.along.path(np.zeros(1))
        return self.along.model.matrices(x, 0 * v, 0 * a)

    def _held(self) -> Array:
        """Elastic coordinates at the start: the sag under gravity, or none."""
        if self.begin == "rest":
            return np.zeros(self.along.size)
        still = self._still()
        return solver(still.K)(0, still.F[0])

    def _state(self, h: float) -> Array:
        """(2N,) y and y' at the start; of a motion that repeats, x = Phi x + g over a period."""
        N = self.along.size
        if self.begin != "periodic":
            return np.concatenate([self._held(), np.zeros(N)])
        one = self.t[: (len(self.t) - 1) // self.periods + 1]
        ends = self.along.steps(one[[0, -1]], h, np.eye(2 * N, 2 * N + 1))[-1]
        return np.asarray(np.linalg.solve(np.eye(2 * N) - ends[:, :-1], ends[:, -1]))

    def _response(self, y: Array, yd: Array, ydd: Array, step: float) -> PathResponse:
        """Read the answer off."""
        model, t, swung = self.along.model, self.t, isinstance(self.along.path, Swung)
        x, v, a = self.along.path(t)
        k = self.path(0.0)[0].size
        swings = len(model.loose) if isinstance(model, LedModel) else 0
        beside = x.shape[1] - k - swings
        tips, efforts = [], []
        many = max(8, 1_000_000 // max(1, self.along.size**2))
        for first in range(0, len(t), many):
            rows = slice(first, first + many)
            found = self.along(t[rows])
            tips.append(_moved(found.tip, y[rows]))
            state = (y[rows], yd[rows], ydd[rows])
            efforts.append(model.torques((x[rows], v[rows], a[rows]), found, state))
        torque, rigid = (np.concatenate(each) for each in zip(*efforts, strict=True))
        # The largest deflection over length or section rotation at the end of any link, or turn
        # that these add to what swings
        bent = [0.0]
        if swung and isinstance(model, LedModel):
            slides = [place - model.model.joints for place in model.model.chain.lengths_at.values()]
            bent += [float(np.abs(y[:, n]).max()) for n in model.loose if n not in slides]
        for link in model.names:
            if L := model.length(link):
                end = np.abs(_moved(model.section(link, 1.0, x), y))
                bent += [float(end[:, :3].max() / L), float(np.nan_to_num(end[:, 3:]).max())]
        return PathResponse(
            model,
            self.path,
            t,
            x[:, :k],
            y,
            yd,
            ydd,
            np.concatenate(tips),
            torque,
            rigid,
            max(bent),
            step,
            self.along.law,
            passive=x[:, k + beside :],
            beside=x[:, k : k + beside],
        )


def _moved(field: Array, y: Array) -> Array:
    """Motion (T, 6) from that per unit y, (1 or T, 6, N), and y (T, N)."""
    return np.asarray((field @ y[..., None])[..., 0])
