"""How does it shake along a path: elastic motion about the prescribed rigid one, and torques."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import also_called, checked, counts, number, one_of, whole_number
from ...beams.basis import FiniteElements
from ...budget import afford, count_of
from ...control.matching import trajectory_for
from ...control.trajectories import Trajectory
from ...equations.build import build
from ...equations.equilibrium import assembled_pose, hanging
from ...equations.loaded import loaded_model, tip_loaded_model
from ...equations.model import Model
from ...errors import SuppleError
from ...integration.closed_loop import check_rates
from ...integration.inputs import Constant, Input, as_wrench
from ...kernels.newmark import Scheme, periodic_start, solver, step_through
from ...kernels.threads import one_thread
from ...link_loads import Load, a_list_of_loads
from ...outputs.measuring import named_outputs, read_outputs
from ...outputs.output import Output
from ...path_dynamics.assembled_path import assembled_path
from ...path_dynamics.damping import Law, MotionDamping
from ...path_dynamics.elements_on_path import added_damping, elements_on_path, refuse_loads
from ...path_dynamics.equations_in_time import MAX_MATRIX_UNKNOWNS as FEW
from ...path_dynamics.equations_in_time import EquationsAlongPath, Path, changes
from ...path_dynamics.kineto_elastodynamics import Loads
from ...path_dynamics.linearised_model import PathModel, SwingingPath
from ...path_dynamics.small_motion import Matrices, SmallMotion, elastic_modes
from ...path_dynamics.tip_wrench import TipWrench
from ...robot import Robot, a_robot
from ..small_range import LOST, SmallRangeWarning, too_large
from .path_response import PathResponse, apply_field

__all__ = ["SmallRangeWarning", "StepWarning", "follow"]

Array = NDArray[np.float64]
Start = Literal["static", "rest", "periodic"]
EVERY = 1e-3  # s between rows of the answer
PHASE = 0.03  # rad, what the steps may turn the highest mode that the path excites, until the end
CLOSE = 1e-2  # of the largest: what steps of half the length may change; the error is 1/15 of it
HALVINGS = 8
LOOKS = 201  # times at which a wrench is looked at for components that are zero throughout
MANY = 16  # steps from row to row: beyond them leaps are tried; of many unknowns 4 times as many
INSTEAD = "drive slower, stiffen the links, or simulate the coupled model"


class StepWarning(UserWarning):
    """The time steps are too long for the frequencies that the path excites."""


def _robot_or_model(name: str, given: Any) -> Robot | Model:
    return given if isinstance(given, Model) else a_robot(name, given)


@also_called(path="trajectory")
@one_thread
@checked
def follow(
    robot: Annotated[Robot | Model, _robot_or_model],
    trajectory: Trajectory | str | ArrayLike,
    *,
    rate: float | None = None,
    elements: Annotated[int, counts()] = 2,
    order: Annotated[str, one_of("cubic", "quintic")] = "cubic",
    dt: Annotated[float, number(0, above=True, unit="of seconds")] | None = None,
    step: Annotated[float, number(0, above=True, unit="of seconds")] | None = None,
    start: Start = "static",
    damping: MotionDamping | float | None = None,
    modal_damping: Annotated[float, number(0)] | None = None,
    loads: Loads | Sequence[Load] | None = None,
    wrench: Any = None,
    scheme: Scheme | None = None,
    after: Annotated[float, number(0, unit="of seconds to watch after the stop")] = 0.0,
    periods: Annotated[int, whole_number(1)] = 1,
    outputs: Mapping[str, Output] | None = None,
) -> PathResponse:
    """Elastic vibration of a robot whose motors follow a path exactly.

    The equations are linearised about the rigid motion, so the answer is fast and valid for small
    deflections.

    Parameters
    ----------
    robot : Robot or Model
        A Robot gets finite elements on its links. A Model is linearised with its own equations,
        basis and damping.
    trajectory : Trajectory, str or array_like
        Path of a Delta's platform, an arm's joints or a mechanism's motors: a Trajectory, the name
        of a file, or samples with their `rate`. Named coordinates are matched with the robot's, in
        any order; x, y, z are those of its tip.
    rate : float, optional
        Samples per second, if samples are given.
    elements : int
        Finite elements per link.
    order : {"cubic", "quintic"}
        Order of the elements.
    dt : float, optional
        Time between rows of the answer, s. Default: 1 ms.
    step : float, optional
        Fixed integration step, s. Default: chosen and halved until the answer converges.
    start : {"static", "rest", "periodic"}
        Initial state: static deflection under gravity in the first pose, undeformed, or on the
        periodic motion of a repeating path.
    damping : float, Rayleigh or Proportional, optional
        Damping ratio of each link's own modes, or a damping matrix. Default: the robot file's.
    modal_damping : float, optional
        Instead: damping ratio of the modes of the whole robot at the start.
    loads : sequence of PointLoad and DistributedLoad, or Loads, optional
        Constant loads anywhere on links, as in `simulate`. Or, as `Loads`, which effects of the
        rigid motion are included. Default: no load, all effects.
    wrench : optional
        Process force and moment (6,) on the tip along the path, base axes, N and N m, as in
        `simulate`: an array, (times, values), an input or a CSV file. On a repeating path it
        repeats with the path.
    scheme : optional
        Another integration method, with steps `step` or `dt`.
    after : float
        Seconds to observe after the stop.
    periods : int
        Number of periods of a repeating path.
    outputs : mapping, optional
        Outputs to record by name, as in `simulate`; they use the equations of a Model.

    Returns
    -------
    PathResponse

    Warns
    -----
    SmallRangeWarning
        If deflections are not small.

    Notes
    -----
    The steps are Gauss's of fourth order, as short as the frequencies that the path excites
    require. Matrix exponentials are used from row to row where they are as accurate with far fewer
    steps. Passive joints that nothing holds may move by any amount.

    References
    ----------
    [Kuo2016], [Hairer2006].

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> move = supple.PointToPoint([0, 0, 0], [0.5, 0.3, 0.0], 2.0)
    >>> found = supple.follow(robot, move, elements=1, dt=0.01)
    >>> round(1000 * float(abs(found.moved[:, :3]).max()), 2)  # mm
    6.76
    """
    described = robot.robot if isinstance(robot, Model) else robot
    path = trajectory_for(described, trajectory, rate=rate, leads="coordinates")
    dt = dt if dt is not None else (EVERY if step is None else step)
    _check(path, {"dt": dt} if step is None else {"step": step, "dt": dt}, start)
    named = named_outputs(outputs)
    total = path.duration * periods if path.periodic else path.duration + after
    process = as_wrench(wrench, path.duration if path.periodic else total)
    on_links = () if loads is None or isinstance(loads, Loads) else a_list_of_loads("loads", loads)
    loads = loads if isinstance(loads, Loads) else None
    if isinstance(robot, Robot) and (named or on_links or process is not None):
        robot = _output_model(robot, (elements, order), (damping, modal_damping), loads)
        loads = None
        damping = modal_damping = None
    if isinstance(robot, Model):
        robot = loaded_model(robot, on_links)
        if isinstance(process, Constant):
            robot = tip_loaded_model(robot, process.value(np.zeros(1), 6)[0])
    model, law = _small_motion(robot, path, elements, order, (damping, modal_damping), loads)
    linearised = model.linearised
    if linearised is not None:
        named = named_outputs(outputs, linearised.model)
    span = f"a motion of {total:g} s in steps of {dt:g} s"
    steps = count_of(total, dt, 1e8, span, "give a shorter time, or longer steps")
    afford(span, 8e-8 * steps * model.size, 0.0, "give a shorter time, or longer steps")
    t = np.linspace(0.0, total, max(2, round(total / dt) + 1))
    prescribed = assembled_path(model.robot, path)
    pushed = None
    if linearised is not None:
        prescribed = _swung(linearised, prescribed, total, start) or prescribed
        pushed = _tip_wrench(linearised, path, process, total)
    along = EquationsAlongPath(model, prescribed, total, law, pushed)
    found = _Run(along, path, t, start, periods).run_within_bounds(scheme, step)
    if not found.small:
        sentence = too_large(found.robot.name, found.largest, INSTEAD)
        warnings.warn(sentence, SmallRangeWarning, stacklevel=2)
    if named and linearised is not None:
        states = linearised.states(prescribed(t), (found.y, found.yd, found.ydd))
        # a constant wrench is among the loads of the Model already
        load = np.zeros((len(t), 6)) if pushed is None else pushed.wrench(t)
        guess = linearised.dependent_guess(found.led, states[0])
        measured = read_outputs(linearised.model, named, t, states, load, guess)
        return replace(found, outputs=measured)
    return found


def _tip_wrench(
    model: PathModel, path: Trajectory, process: Input | None, total: float
) -> TipWrench | None:
    """What a wrench that varies in time adds; a constant one is a load of the Model."""
    if process is None or isinstance(process, Constant):
        return None
    if model.loose:
        raise SuppleError(
            "wrench varies in time, and a joint of this robot swings freely: give a constant "
            "wrench, or simulate the coupled model"
        )
    end = path.duration if path.periodic else total

    def value(t: Array) -> Array:
        at = t % end if path.periodic else t
        return process.value(at + 1e-12 * end, 6)  # at a jump what follows it

    breaks = tuple(t for t in process.switches(end) if 0 < t < end)
    edges = np.array([0.0, *breaks, end])
    looked_at = np.unique(np.concatenate([edges, np.linspace(0.0, end, LOOKS)]))
    acting = np.flatnonzero(np.abs(value(looked_at)).max(axis=0) > 0)
    return TipWrench(model, value, breaks, tuple(acting.tolist()))


def _swung(model: PathModel, path: Path, total: float, start: str) -> SwingingPath | None:
    """The path with what swings freely beside it, None where nothing does."""
    if not model.loose:
        return None
    names = [model.model.coordinates[model.model.joints + k] for k in model.loose]
    if start == "periodic":
        raise SuppleError(
            f"start is 'periodic', but {names[0].removeprefix('passive.')} swings freely and need "
            "not repeat with the path: try 'static', with periods= to watch it"
        )
    q = assembled_pose(model.model, path(0.0)[0][: model.model.joints])
    q = hanging(model.model, q) if start == "static" else q
    return SwingingPath(model, path, total, q[model.model.joints :][model.loose])


def _output_model(
    robot: Robot,
    mesh: tuple[int, str],
    damping: tuple[MotionDamping | float | None, float | None],
    loads: Loads | None,
) -> Model:
    """The Model that outputs, loads and wrench need: elements, with the robot's damping."""
    if isinstance(damping[0], MotionDamping):
        raise SuppleError(
            "outputs, loads and wrench need a Model, whose damping is a ratio: give damping=0.01, "
            "or modal_damping="
        )
    refuse_loads(loads, "outputs and wrench need a Model, which has all of its loads")
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
        refuse_loads(loads, "a Model has all of its loads")
        return PathModel(robot), None
    start = path(0.0)[0]
    model = elements_on_path(
        robot, start, elements, order, damping=given, modal_damping=modal, loads=loads
    )
    return model, added_damping(model, path, given, modal)


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

    along: EquationsAlongPath
    path: Trajectory
    t: Array
    begin: Start
    periods: int

    def run_within_bounds(self, scheme: Scheme | None, step: float | None) -> PathResponse:
        """Step through, and refuse a motion beyond bounds."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.by_gauss(step) if scheme is None else self.by_scheme(scheme, step)
        lost = np.flatnonzero(~(np.abs(found.moved).max(axis=1) <= LOST))
        if not len(lost):
            return found
        raise SuppleError(
            f"the elastic motion of {found.robot.name} about this path grows without limit, beyond "
            f"{LOST:g} m or rad at t = {self.t[lost[0]]:.4g} s: lead the path away from singular "
            f"poses, or {INSTEAD}"
        )

    @property
    def _stop(self) -> float:
        """When the path ends, s; infinite of one that repeats."""
        return math.inf if self.path.periodic else self.path.duration

    def by_scheme(self, scheme: Scheme, step: float | None) -> PathResponse:
        """Step by Newmark's family, evenly."""
        h = self.t[1] - self.t[0]
        fine = 1 if step is None else max(1, math.ceil(h / step * (1 - 1e-9)))
        t = np.linspace(0.0, self.t[-1], fine * (len(self.t) - 1) + 1)
        if self.begin == "periodic":
            q, v = periodic_start(self.along.system, t[: (len(t) - 1) // self.periods + 1], scheme)
        else:
            q = self._initial_deflection()
            v = np.zeros(self.along.size)
        y, yd, ydd = (x[::fine] for x in step_through(self.along.system, t, q, v, scheme))
        return self._response(y, yd, ydd, h / fine)

    def by_gauss(self, step: float | None) -> PathResponse:
        """Step by collocation, as finely as the answer needs or as was asked.

        Where that needs far more steps than rows, by leaps from row to row if they are as good.
        """
        N = self.along.size
        every = self.t[1] - self.t[0]
        h = min(self._first_step(), every) if step is None else min(step, every)
        h = every / math.ceil(every / h * (1 - 1e-9))
        far = step is None and every > h * (MANY if N <= FEW else 4 * MANY)
        x = self._by_leaps(every) if far else None
        x, h = self._by_steps(step, h, every) if x is None else (x, every)
        y = x[:, :N]
        yd = x[:, N:]
        M, C, K, F = self.along.system(self.t)
        solved = solver(M)
        rest = F - np.einsum("tij,tj->ti", C, yd) - np.einsum("tij,tj->ti", K, y)
        ydd = np.array([solved(k, b) for k, b in enumerate(rest)])
        return self._response(y, yd, ydd, h)

    def _by_leaps(self, every: float) -> Array | None:
        """The states (T, 2N) by leaps from row to row; None where twice the length changes them.

        They are of second order, steps of fourth: so much less may change.
        """
        if self.begin == "periodic" or len(self.t) < 3:
            return None
        x = self.along.steps(self.t, every, self._state(every), leaps=True)
        coarse = self.along.steps(self.t[::2], 2 * every, x[0], leaps=True)
        return (
            x if changes(self.along, self.t[::2], x[::2], coarse, self._stop) <= CLOSE / 5 else None
        )

    def _by_steps(self, step: float | None, h: float, every: float) -> tuple[Array, float]:
        """The states (T, 2N) by Gauss's steps, halved until they stay, and how long these are."""
        x = self.along.steps(self.t, h, self._state(h))
        coarse = None
        for _ in range(HALVINGS):
            skip = 1 if 2 * h <= every * (1 + 1e-9) else 2
            if coarse is None:
                coarse = self.along.steps(self.t[::skip], 2 * h, x[0])
            off = changes(self.along, self.t[::skip], x[::skip], coarse, self._stop)
            lost = not np.abs(x[:, : self.along.size]).max(initial=0.0) <= LOST
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
                stacklevel=4,
            )
        return x, h

    def _first_step(self) -> float:
        """A step that turns the modes that count by PHASE until the end, to begin with.

        Collocation is (w h)^4 / 720 slow. A mode counts if its share of the tip's motion, were the
        load to jump, is two per cent of the largest.
        """
        if not self.along.size:
            return float(self.t[-1])
        loads = self.along(np.linspace(0.0, self.path.duration, 33))
        F = loads.F - self._matrices_at_rest().F if self.begin == "static" else loads.F
        periods2, Psi = elastic_modes(loads.M[0], self.along.model.elastic(self.along.path(0.0)[0]))
        if not len(periods2):  # nothing bends, and what swings does so in the path
            return float(self.t[-1])
        share = np.abs(F @ Psi).max(axis=0) * np.abs(loads.tip[:, :3] @ Psi).max(axis=(0, 1))
        seen = (share >= 0.02 * share.max()) & (periods2 > 1e-14 * periods2.max())
        w = 1 / math.sqrt(float(periods2[seen].min(initial=periods2.max())))
        return float(min(0.5, (720 * PHASE / (w * self.t[-1])) ** 0.25) / w)

    def _matrices_at_rest(self) -> Matrices:
        """The equations at the first pose, at rest."""
        return self.along.at_rest()

    def _initial_deflection(self) -> Array:
        """Elastic coordinates at the start: the sag under gravity, or none."""
        if self.begin == "rest":
            return np.zeros(self.along.size)
        at_rest = self._matrices_at_rest()
        return solver(at_rest.K)(0, at_rest.F[0])

    def _state(self, h: float) -> Array:
        """(2N,) y and y' at the start; of a motion that repeats, x = Phi x + g over a period."""
        N = self.along.size
        if self.begin != "periodic":
            return np.concatenate([self._initial_deflection(), np.zeros(N)])
        one = self.t[: (len(self.t) - 1) // self.periods + 1]
        ends = self.along.steps(one[[0, -1]], h, np.eye(2 * N, 2 * N + 1))[-1]
        return np.asarray(np.linalg.solve(np.eye(2 * N) - ends[:, :-1], ends[:, -1]))

    def _response(self, y: Array, yd: Array, ydd: Array, step: float) -> PathResponse:
        """Read the answer off."""
        model = self.along.model
        t = self.t
        x, v, a = self.along.path(t)
        k = self.path(0.0)[0].size
        dependent_count = x.shape[1] - k - len(model.loose)
        tips = []
        efforts = []
        many = max(8, 1_000_000 // max(1, self.along.size**2))
        for first in range(0, len(t), many):
            rows = slice(first, first + many)
            found = self.along(t[rows])
            tips.append(apply_field(found.tip, y[rows]))
            state = (y[rows], yd[rows], ydd[rows])
            efforts.append(model.torques((x[rows], v[rows], a[rows]), found, state))
        torque, rigid = (np.concatenate(each) for each in zip(*efforts, strict=True))
        # The largest deflection over length or section rotation at the end of any link, or turn
        # that these add to what swings
        bent = [0.0]
        if model.linearised is not None:
            full = model.linearised.model
            slides = [place - full.joints for place in full.chain.lengths_at.values()]
            bent += [float(np.abs(y[:, n]).max()) for n in model.loose if n not in slides]
        for link in model.names:
            if L := model.length(link):
                end = np.abs(apply_field(model.section(link, 1.0, x), y))
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
            passive=x[:, k + dependent_count :],
            beside=x[:, k : k + dependent_count],
        )
