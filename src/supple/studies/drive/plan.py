"""Which move is best: rest to rest in the least time, or the gentlest in a given one.

The move begins and ends in equilibrium, bending included, so that nothing is left to ring. It is
found by collocation (`collocation`); robots with many coordinates are planned by smooth
splines of their joints instead (`spline_moves`), which fast modes follow. Both take steps that each
begin from a motion that exists:

1. the quintic of the joints, its bending quasi-static, with the efforts of inverse dynamics;
2. the least effort in that time without limits; where it keeps all limits it is the answer;
3. else the least effort within the limits in a longer time, then the fastest move from there;
4. the plan is replayed by an integrator, and found again on twice as many pieces until both agree.
"""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.kinds import architecture_of
from ...arguments import brief, checked, number, reals, whole_number
from ...control.shaping import Samples
from ...control.trajectories import LAWS, TrajectoryWithDetails
from ...equations.chains.link_fields import link_deflection
from ...equations.closed.coupled import ClosedFunctions
from ...equations.equilibrium import slopes_at_rest, standing, static_state
from ...equations.model import Model
from ...errors import SuppleError
from ...integration.inputs import EffortSamples, Table
from ..motion.simulate import simulate
from .collocation import (
    OUT_OF_TIME,
    CollocatedMotion,
    Collocation,
    PointEquations,
    Solution,
    SolverLimits,
    Transcription,
    point_places,
    without_limits,
)
from .plan_trial import PlanTrial, bent_form, deflection_forms, plan_trial, stress_rows
from .shooting import Shooting
from .spline_moves import MoveLimits, OutOfTimeError, SplineMove, SplineProgramme

__all__ = ["Plan", "plan"]

Array = NDArray[np.float64]
RESIDUAL_BOUND = 0.01  # a plan whose replay is further off is refused
RESIDUAL_WANTED = 1e-3  # pieces are made shorter until the replay is so near
PHASE_OF_A_PIECE = 0.8  # rad that the fastest resolved mode turns in a piece, at most
MOST_UNKNOWNS = 14_000  # coordinates times pieces that are tried
KEPT = 1e-6  # by which part limits may be passed
REPLAY_SAMPLES = 200
MOST_MORE_PERIODS = 2  # by which intervals of smooth efforts are made longer
SHORTEST_DURATION = 1e-6  # s
DRIFT = 20.0  # a part of the duration in which speed left at the end counts as error
AFFORDABLE = 2000  # coordinates times pieces with which modes are resolved at first
MANY_COORDINATES = 10  # from which states are eliminated
LEAST_CONTROLS = 12  # intervals of smooth efforts
MOST_CONTROLS = 80  # the same, unless more pieces are asked for
SAMPLES_OF_AN_INTERVAL = 8  # of smooth efforts, which are linear between these
SMALL_PART = 1 / 16  # of a move, in which the equations are nearly linear
HOPELESS = 0.5  # a residual that no correction of the end will mend
CORRECTIONS = 3  # of the end of the move by what its replay missed
COLLOCATION_SHARE = 0.4  # of the time of a search, after which splines are tried
MANY_FOR_COLLOCATION = 12  # coordinates of models that are planned by splines
LEAST_SAMPLES = 400  # of a move by splines
MOST_SPLINE_STEPS = 60
FEW_STEPS = 10  # from a motion that is nearly the answer
TIGHTENINGS = 2  # of efforts that pass their limits between the Gauss points
SMALL_EXCESS = 1e-3  # of efforts, which are cut off
AIM_WANTED = 1e-4  # a residual that is aimed for by corrections of a move by splines
LARGEST_BEND = 1.0  # of a link over its length, by loads on a small part of the move
SMOOTHNESS = (1.0, 1.4, 2.0)  # of splines of the joints, tried until fast modes are calm
STOP_MARGIN = 2e-3  # of the travel, by which joints stay away from their stops


class TooShortError(SuppleError):
    """Even the fastest move takes longer."""


@dataclass(frozen=True, eq=False)
class Plan(TrajectoryWithDetails):
    """A planned rest-to-rest move; as a Trajectory it is the motion of the joints.

    From `supple.plan`.

    Attributes
    ----------
    model : Model
        The model of the plan.
    t : ndarray
        Times (N + 1,), s.
    q, qd : ndarray
        States at these times (N + 1, size).
    efforts : ndarray
        Efforts (N + 1, joints), linear in between, N m or N.
    objective : str
        "time" or "effort".
    iterations : int
        Iterations of the solver.
    limits : mapping
        Limits of the plan: effort and speed, (joints,) each, infinite where there is none;
        deflection, m, and stress, Pa, None where there is none.
    residual : float
        Difference between a simulation of the efforts on the same Model and the plan: the largest
        joint error during the move plus the drift in a twentieth of the duration by the final
        speed, relative to the travel of the joint that moves most.
    rest : ndarray
        Efforts (joints,) that hold the arm after the move.
    """

    model: Model
    t: Array
    q: Array
    qd: Array
    efforts: Array
    objective: str
    iterations: int
    limits: Mapping[str, Any]
    residual: float
    rest: Array

    @cached_property
    def tau(self) -> EffortSamples:
        """Efforts (N + 1, joints) at t, linear between; `simulate` takes them as they are."""
        return EffortSamples.at(self.t, self.efforts, self.rest)

    @cached_property
    def effort(self) -> float:
        """The integral of the sum of squared efforts over the move, N^2 m^2 s (or N^2 s)."""
        before = self.efforts[:-1]
        after = self.efforts[1:]
        squares = (before**2 + before * after + after**2).sum(axis=1) / 3
        return float(np.diff(self.t) @ squares)

    @cached_property
    def trajectory(self) -> Samples:
        """The joints' motion as a Trajectory, for a controller."""
        names = tuple(name for name, _ in architecture_of(self.model.robot).motors)
        return Samples(self.t, self.q[:, : self.model.joints], names=names)

    def tried(self, finer: Model | None = None) -> PlanTrial:
        """Simulate the move on a finer Model, with its joints controlled to follow it.

        The planned efforts are applied, plus a PD controller as fast as the lowest mode.

        Parameters
        ----------
        finer : Model, optional
            The same robot with more modes or elements. Default: two assumed modes per link more
            than this Model has.

        Returns
        -------
        PlanTrial
        """
        return plan_trial(self.model, self.trajectory, self.tau, self.limits, finer)


Duration = Annotated[
    float, number(0, 1e6, above=True, give="seconds, or none for the fastest move")
]
Metres = Annotated[float, number(0, above=True, give="metres above zero")]
Pascals = Annotated[float, number(0, above=True, give="pascals above zero")]


@checked
def plan(
    model: Model,
    start: ArrayLike,
    end: ArrayLike,
    duration: Duration | None = None,
    *,
    effort_limit: Annotated[float | Sequence[float], reals] | None = None,
    speed_limit: Annotated[float | Sequence[float], reals] | None = None,
    deflection_limit: Metres | None = None,
    stress_limit: Pascals | None = None,
    pieces: Annotated[int, whole_number(4, 1000)] = 60,
    iterations: Annotated[int, whole_number(1, 100_000)] = 500,
    search_time: Annotated[float, number(0, 1e6, above=True, give="seconds above zero")] = 60.0,
    progress: bool | None = None,
) -> Plan:
    """Plan a rest-to-rest move on the equations of motion.

    Parameters
    ----------
    model : Model
        Few modes are enough; check the move on a finer model with `Plan.tried`. Loops are allowed,
        and free coordinates are at rest at the end as well.
    start, end : array_like
        Joint coordinates (joints,), rad or m.
    duration : float, optional
        Seconds. Find the move of this duration with the least effort (the integral of the squared
        efforts of all joints). Default: the fastest move.
    effort_limit : float or sequence, optional
        One value or one per joint, N m or N. Default: the joints' own. The fastest move needs one.
    speed_limit : float or sequence, optional
        One value or one per joint, rad/s or m/s. Default: the joints' own.
    deflection_limit : float, optional
        Largest deflection of the end of every link relative to its root, m.
    stress_limit : float, optional
        Largest stress from bending and tension in the outer fibres at root, middle and end of every
        link that has a material and a section, Pa.
    pieces : int
        Smallest number of pieces of equal length, on which efforts change linearly; there are more
        where the frequencies of the Model require it.
    iterations : int
        Largest number of iterations of each call of IPOPT.
    search_time : float
        Processor time after which the search ends, s. A plan that is good already is returned,
        else it is refused with what to try.
    progress : bool, optional
        Show the time of the search. Default: only if stderr is a terminal.

    Returns
    -------
    Plan
        States, efforts and how well they agree (`residual`).

    Raises
    ------
    SuppleError
        If no move is found, or the simulated move differs from the plan by more than one per cent.

    Notes
    -----
    Models of fewer than 12 coordinates are planned by direct collocation, larger ones by splines
    of their joints. The efforts are simulated on the same Model, and pieces are shortened until
    the simulation agrees with the plan.

    References
    ----------
    [Biegler2010].

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> move = supple.plan(model, [0, 0], [0.5, 0.3], duration=1.0)
    >>> move.objective, move.residual < 0.01
    ('effort', True)
    """
    if not model.joints:
        raise SuppleError(f"no joint of {model.robot.name} moves: plan is for arms whose joints do")
    effort = _limit("effort_limit", effort_limit, model, "effort_limit")
    speed = _limit("speed_limit", speed_limit, model, "speed_limit")
    if duration is None and not np.isfinite(effort).all():
        raise SuppleError(
            "the fastest move needs effort_limit, without which there is none: give it, or a "
            "duration"
        )
    if duration is not None and duration < SHORTEST_DURATION:
        raise SuppleError(
            f"duration is {duration:g} s: no robot moves in less than {SHORTEST_DURATION:g} s, "
            "give seconds"
        )
    limits = {"effort": effort, "speed": speed, "deflection": deflection_limit}
    limits["stress"] = stress_limit
    with _shown_search(search_time, progress) as report:
        planner = _Planner(model, start, end, limits, pieces, iterations, search_time, report)
        return planner.make_plan(None if duration is None else float(duration))


@contextlib.contextmanager
def _shown_search(search_time: float, progress: bool | None) -> Iterator[Callable[[], None] | None]:
    """Give what to call after every iteration: it moves a bar on the error stream, if any."""
    if not (sys.stderr.isatty() if progress is None else progress):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    begun = time.thread_time()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("planning", total=search_time)
        yield lambda: bar.update(task, completed=time.thread_time() - begun)


def _limit(name: str, given: Any, model: Model, own: str) -> Array:
    """A limit for each joint: as given, else the robot's own, else infinite."""
    k = model.joints
    if given is None:
        found = [getattr(motor, own, None) for motor in model.motors]
        return np.array([np.inf if value is None else float(value) for value in found])
    limit = np.asarray(given, float)
    if limit.shape not in ((), (k,)) or not (limit > LEAST_LIMIT).all():
        sentence = f"{name} is {brief(given)}"
        raise SuppleError(f"{sentence}: give a positive value, or one for each of {k}")
    return np.broadcast_to(limit, (k,)).astype(float)


LEAST_LIMIT = 1e-100  # smaller ones cannot be computed with


@dataclass(frozen=True)
class _Grid:
    """How many pieces states have, and intervals efforts; the first is a multiple of the second.

    Efforts are linear on their intervals, or `smooth`: cubic B-splines.
    """

    pieces: int
    controls: int
    smooth: bool = False


@dataclass(frozen=True)
class _Replay:
    """What the efforts of a motion do: the residual, and the errors of q and qd T at the end."""

    residual: float
    end_error: Array


@dataclass(frozen=True)
class _Candidate:
    """A move as it may be returned.

    Attributes
    ----------
    t, q, qd, efforts
        At the times of the plan.
    q_at
        Coordinates of the move at places s = t / T.
    """

    t: Array
    q: Array
    qd: Array
    efforts: Array
    q_at: Callable[[Array], Array]

    @property
    def duration(self) -> float:
        """In seconds."""
        return float(self.t[-1])


class _Planner:
    """One move of one Model, planned step by step."""

    def __init__(
        self,
        model: Model,
        start: ArrayLike,
        end: ArrayLike,
        limits: dict[str, Any],
        pieces: int,
        iterations: int,
        search_time: float = np.inf,
        report: Callable[[], None] | None = None,
    ) -> None:
        k = model.joints
        self.given_model = model
        self.model = standing(model, start)
        self.limits = limits
        self.least_pieces = pieces
        self.most_iterations = iterations
        self.iterations = 0
        self.search_time = search_time
        self.deadline = time.thread_time() + search_time
        self.report = report
        self._task: Collocation | None = None
        self.more_periods = 0  # of the slowest unresolved mode in an interval of the efforts
        self.early_end = ""  # why the last replay that did not reach its end stopped
        self.ends = [np.asarray(static_state(self.model, theta), float) for theta in (start, end)]
        if not np.abs(self.ends[1][:k] - self.ends[0][:k]).any():
            raise SuppleError("start and end are the same: there is no move to plan")

        zero = np.zeros(model.size)
        self.rest = np.array([self.model.inverse_dynamics(q, zero, zero)[:k] for q in self.ends])
        forms = [*deflection_forms(model, limits["deflection"])]
        forms += [
            (row[None], np.zeros((1, model.size, model.size)))
            for row in stress_rows(model, limits["stress"])
        ]
        self._check_rest(forms)

        allowed = [list(motor.limits or (-np.inf, np.inf)) for motor in model.motors]
        low, high = np.array(allowed, float).reshape(-1, 2).T
        for word, q in zip(("start", "end"), self.ends, strict=True):
            outside = (q[:k] < low) | (q[:k] > high)
            if outside.any():
                joint = int(outside.argmax())
                raise SuppleError(
                    f"the {word} of the move is outside the limits of joint "
                    f"{model.chain.motors[joint]}: {q[joint]:.4g}, allowed are {low[joint]:g} to "
                    f"{high[joint]:g}"
                )
        # a simulation that touches a stop ends there: stay away from it, but for start and end
        joint_ends = np.array(self.ends)[:, :k]
        margin = STOP_MARGIN * float(np.abs(joint_ends[1] - joint_ends[0]).max())
        inner_low = np.minimum(low + margin, joint_ends.min(axis=0))
        inner_high = np.maximum(high - margin, joint_ends.max(axis=0))
        self.starts_or_ends_at_stop = bool(
            (inner_low < low + margin / 2).any() or (inner_high > high - margin / 2).any()
        )
        self.move_limits = MoveLimits(
            limits["effort"], limits["speed"], inner_low, inner_high, tuple(forms)
        )
        self.bending_sizes = np.zeros(model.size)

    @cached_property
    def by_splines(self) -> bool:
        """Whether many coordinates make splines the better way."""
        return self.model.size >= MANY_FOR_COLLOCATION

    def _make_task(self) -> Collocation:
        """The move as it is given to collocation."""
        model = self.model
        limits = self.move_limits
        equations = model.functions.cached("plan equations", PointEquations, model)
        tree_ends = self._followers(np.array(self.ends))
        return Collocation(
            equations,
            np.concatenate([self.ends[0], tree_ends[0]]),
            np.concatenate([self.ends[1], tree_ends[1]]),
            limits.effort,
            limits.speed,
            limits.low,
            limits.high,
            limits.bounded,
            False,
            self.rest,
            np.eye(model.size),
            np.zeros(equations.total),
            np.zeros((2, model.size)),
        )

    @property
    def task(self) -> Collocation:
        """The move as it is given to collocation; made when it is first needed."""
        if self._task is None:
            self._task = self._make_task()
        return self._task

    @task.setter
    def task(self, task: Collocation) -> None:
        self._task = task

    # ------------------------------------------------------------------ what is known beforehand

    def _check_rest(self, forms: list[tuple[Array, Array]]) -> None:
        """Refuse ends at which the arm cannot even stand."""
        for word, q, effort in zip(("start", "end"), self.ends, self.rest, strict=True):
            share = np.abs(effort) / self.limits["effort"]
            if share.max() >= 1:
                raise SuppleError(
                    f"effort_limit cannot hold the arm at rest at the {word} of the move: joint "
                    f"{int(np.argmax(share)) + 1} needs {share.max():.3g} times as much"
                )
            bent = max((float(np.sqrt(bent_form(form, q[None])[0])) for form in forms), default=0.0)
            if bent >= 1:
                raise SuppleError(
                    f"the sag at the {word} of the move is {bent:.3g} times deflection_limit or "
                    "stress_limit already: raise it"
                )

    @cached_property
    def modes(self) -> tuple[Array, Array]:
        """Frequencies (rad/s) of the Model with free joints at the end, and its modes' rows.

        Row i gives the amplitude of mode i in a state: phi_i' M.
        """
        from scipy.linalg import eigh

        q = self.ends[1]
        K = slopes_at_rest(self.model, q)[0]
        M = self.model.mass_matrix(q)
        squares, shapes = eigh((K + K.T) / 2, (M + M.T) / 2)
        return np.sqrt(np.abs(squares)), shapes.T @ M

    def _followers(self, q: Array) -> Array:
        """(T, closures): what follows from loops along states (T, n)."""
        functions = self.model.functions
        if not isinstance(functions, ClosedFunctions):
            return np.zeros((len(q), 0))
        branch = architecture_of(self.model.robot).branch(q[:, : self.model.joints])
        is_assembled = branch.x.shape[1] > 0 and branch.reached == len(q)
        return functions.followers(
            q, functions.loops.unbent_dependent(branch.x) if is_assembled else None
        )

    def _choose_grid(self, duration: float) -> _Grid:
        """Pieces of states and of efforts from the frequencies of the Model.

        Modes that can be afforded are resolved, and brought to rest exactly. What is faster
        follows its loads quasi-statically as long as efforts are smooth: they are then cubic
        B-splines that begin and end at what holds the arm. An interval is as long as one or more
        periods of the slowest such mode: the spectrum of a B-spline, sinc^4(w h / 2), vanishes
        there and is below 1e-3 beyond.
        """
        frequencies, rows = self.modes
        total = self.task.equations.total
        # efforts have some intervals at least: modes that these would excite must be resolved
        turned = 2 * np.pi * LEAST_CONTROLS
        affordable = max(
            self.least_pieces, AFFORDABLE // total, int(np.ceil(turned / PHASE_OF_A_PIECE))
        )
        needed = np.ceil(duration * frequencies / PHASE_OF_A_PIECE).astype(int)
        fast = needed > affordable
        pieces = max(self.least_pieces, int(needed[~fast].max(initial=0)))
        self.task = replace(self.task, held_at_ends=bool(fast.any()), end_rows=rows[~fast])
        if not fast.any():
            return _Grid(pieces, pieces)
        slowest = float(frequencies[fast].min())
        periods = duration * slowest / (2 * np.pi)
        most = max(MOST_CONTROLS, self.least_pieces)
        periods_of_an_interval = np.ceil(periods / most) + self.more_periods
        controls = max(LEAST_CONTROLS, int(periods / periods_of_an_interval))
        return _Grid(controls * -(-pieces // controls), controls, smooth=True)

    # ------------------------------------------------------------------ motions to begin with

    def smooth_states(self, duration: float, pieces: int) -> tuple[Array, Array, Array]:
        """Return q, qd and qdd of the quintic of the joints with quasi-static bending."""
        law = LAWS["quintic"]
        s = np.linspace(0.0, 1.0, pieces + 1)
        travel = self.ends[1] - self.ends[0]
        q = self.ends[0] + np.outer(law(s), travel)
        qd = np.outer(law.deriv(1)(s), travel) / duration
        qdd = np.outer(law.deriv(2)(s), travel) / duration**2
        if self.model.size > self.model.joints:
            q, qd, qdd = self._bend_by_loads(q, qd, qdd, duration)
        return q, qd, qdd

    def _smooth_move(self, duration: float, grid: _Grid) -> CollocatedMotion:
        """The quintic of the joints with quasi-static bending and the efforts that it needs."""
        from scipy.interpolate import CubicSpline

        k = self.model.joints
        pieces = grid.pieces
        s = np.linspace(0.0, 1.0, pieces + 1)
        q, qd, qdd = self.smooth_states(duration, pieces)
        sizes = np.zeros(self.task.equations.total)
        sizes[: self.model.size] = self.bending_sizes
        self.task = replace(self.task, typical=sizes)
        z = np.concatenate([q, self._followers(q)], axis=1)
        spline = CubicSpline(s, z, bc_type="clamped")
        slope = spline(s, 1)
        tau = self.model.inverse_dynamics(q, qd, qdd)[:, :k]
        tau[[0, -1]] = self.rest
        if grid.smooth:  # coefficients belong to the middles of the B-splines
            middles = np.clip(np.arange(-1, grid.controls + 2) / grid.controls, 0.0, 1.0)
            tau = np.stack([np.interp(middles, s, column) for column in tau.T], axis=1)
        else:
            tau = tau[:: pieces // grid.controls]
        points = point_places(pieces)
        second = np.asarray(spline(points, 2)).reshape(pieces, 3, -1)
        pull = np.zeros((len(points), self.task.equations.closures))
        if self.task.equations.closures:
            pull = self._pulls(spline(points), spline(points, 1), spline(points, 2), duration)
        return CollocatedMotion(
            duration, z, slope, second, tau, pull.reshape(pieces, 3, -1), grid.smooth
        )

    def _guess(self, duration: float, grid: _Grid) -> CollocatedMotion:
        """The motion to begin with: of soft arms a small part of the move, made larger.

        Where modes move as slowly as the joints do, nothing is quasi-static. The least effort for a
        sixteenth of the way is nearly that of linear equations, which has one solution only.
        """
        resolved = len(self.task.end_rows) > self.model.joints
        if not resolved or self.task.equations.closures:
            return self._smooth_move(duration, grid)
        k = self.model.joints
        start, end = (q[:k] for q in self.ends)
        part = _Planner(
            self.given_model,
            start,
            start + SMALL_PART * (end - start),
            {"effort": np.full(k, np.inf), "speed": np.full(k, np.inf)}
            | {"deflection": None, "stress": None},
            self.least_pieces,
            self.most_iterations,
            self.search_time,
            self.report,
        )
        part.deadline = self.deadline
        part.task = replace(
            part.task, held_at_ends=self.task.held_at_ends, end_rows=self.task.end_rows
        )
        begin = part._smooth_move(duration, grid)
        found = part._solve(part.task, begin)
        self.iterations += found.iterations
        if not found.success:
            return self._smooth_move(duration, grid)
        small = found.motion
        z0 = small.z[0]
        rest = part.task.rest[0]
        return replace(
            small,
            z=z0 + (small.z - z0) / SMALL_PART,
            slope=small.slope / SMALL_PART,
            second=small.second / SMALL_PART,
            tau=rest + (small.tau - rest) / SMALL_PART,
        )

    def _bend_by_loads(
        self, q: Array, qd: Array, qdd: Array, duration: float
    ) -> tuple[Array, Array, Array]:
        """The same motion, bent by its own loads as far as that is found quickly."""
        from scipy.interpolate import CubicSpline

        k = self.model.joints
        s = np.linspace(0.0, duration, len(q))
        K = slopes_at_rest(self.model, self.ends[0])[0][k:, k:]
        best = (q, qd, qdd)
        least = np.abs(self.model.inverse_dynamics(*best)[:, k:]).max()
        for _ in range(2):
            force = self.model.inverse_dynamics(*best)[:, k:]
            bent = best[0].copy()
            more = np.linalg.lstsq(K, force.T, rcond=1e-12)[0].T
            bent[:, k:] -= more
            if best[0] is q:
                most = float(np.ptp(q[:, :k], axis=0).max())
                self.bending_sizes[k:] = np.minimum(np.abs(more).max(axis=0), most)
            bent[[0, -1]] = q[[0, -1]]
            spline = CubicSpline(s, bent, bc_type="clamped")
            try:
                trial = (bent, np.asarray(spline(s, 1)), np.asarray(spline(s, 2)))
                left = np.abs(self.model.inverse_dynamics(*trial)[1:-1, k:]).max()
            except SuppleError:  # loops that do not close
                break
            if not left < least:
                break
            best = trial
            least = left
        return best

    def _pulls(self, z: Array, first: Array, second: Array, duration: float) -> Array:
        """The forces of closures along a motion of the tree: no effort acts on followers."""
        equations = self.task.equations
        n = equations.size
        total = equations.total
        m = equations.closures
        function = equations.dynamics
        rows, columns = (np.array(part) for part in function.jacobian.sparsity_out(0).get_triplet())
        at_pull = 3 * total + equations.joints
        found = np.zeros((len(z), m))
        for p in range(len(z)):
            tail = np.zeros(equations.joints + m)
            point = np.concatenate([z[p], first[p], second[p], tail, [duration]])
            force = np.array(function.value(point)).ravel()
            by_point = np.zeros((total, function.inputs))
            by_point[rows, columns] = np.array(function.jacobian(point).nonzeros())
            by_pull = by_point[n:, at_pull : at_pull + m]
            found[p] = np.linalg.solve(by_pull, -force[n:])
        return found

    def unhurried_duration(self) -> float:
        """A duration in which the smooth move keeps the limits of effort and speed, if any does."""
        k = self.model.joints
        travel = np.abs(self.ends[1][:k] - self.ends[0][:k])
        inertia = np.diag(self.model.mass_matrix(self.ends[0]))[:k]
        spare = self.limits["effort"] - np.abs(self.rest).max(axis=0)
        guess = float((2 * np.sqrt(inertia * travel / spare)).max())
        guess = max(guess, float((travel / self.limits["speed"]).max()))
        before = np.inf
        for _ in range(40):
            q, qd, qdd = self.smooth_states(guess, 40)
            efforts = self.model.inverse_dynamics(q, qd, qdd)[:, :k]
            efforts[[0, -1]] = self.rest
            used = max(self.limit_usage(q, qd, efforts, per_joint=False).values(), default=0.0)
            if used < 0.9 or used > 0.999 * before:
                break
            before = used
            guess *= 1.15
        return guess

    # ------------------------------------------------------------------ limits

    def _limit_usage(self, motion: CollocatedMotion) -> dict[str, float]:
        """By which factor a motion uses each limit at most, by its name."""
        n = self.model.size
        z, slope = motion.at(point_places(motion.pieces))
        return self.limit_usage(z[:, :n], slope[:, :n] / motion.duration, self._efforts_of(motion))

    def limit_usage(
        self, q: Array, qd: Array, efforts: Array, per_joint: bool = True
    ) -> dict[str, float]:
        """Return by which factor each limit is used at most, by its name."""
        k = self.model.joints
        names = self.model.chain.motors
        found: dict[str, float] = {}
        for word, values in (("effort", efforts), ("speed", qd[:, :k])):
            share = np.abs(values).max(axis=0) / self.limits[word]
            for joint in np.flatnonzero(np.isfinite(self.limits[word])):
                name = f"{word} of {names[joint]}" if per_joint else word
                found[name] = max(found.get(name, 0.0), float(share[joint]))
        for form in self.move_limits.bounded:
            word = "deflection" if len(form[0]) > 1 or self.limits["stress"] is None else "stress"
            bent = float(np.sqrt(bent_form(form, q).max()))
            found[word] = max(found.get(word, 0.0), bent)
        if per_joint:
            low = self.move_limits.low
            high = self.move_limits.high
            for joint in np.flatnonzero(np.isfinite(low) & np.isfinite(high)):
                middle = (low[joint] + high[joint]) / 2
                half = (high[joint] - low[joint]) / 2
                if half > 0:
                    away = float(np.abs(q[:, joint] - middle).max())
                    found[f"limits of joint {names[joint]}"] = away / half
        return found

    def too_short(
        self, duration: float, fastest: float, used: Mapping[str, float]
    ) -> TooShortError:
        """Return what to raise where even the fastest move, which uses limits so far, is longer."""
        full = [word for word, share in used.items() if share > 0.99]
        in_the_way = " and ".join(full) if full else "no single limit"
        return TooShortError(
            f"no such move exists: {duration:g} s are too short for the limits"
            f"{self._limited_words()}; the fastest move found takes {fastest:.4g} s, and "
            f"{in_the_way} is in the way; give more time, effort or deflection"
        )

    # ------------------------------------------------------------------ solving

    def _solve(
        self, task: Collocation, guess: CollocatedMotion, free: bool = False, near: bool = False
    ) -> Solution:
        """Solve once, scaled by the guess, and count the steps."""
        limits = SolverLimits(self.most_iterations, self.deadline, near, self.report)
        if time.thread_time() > self.deadline:
            raise self._out_of_time(guess)
        many = task.equations.closures > 0 and task.equations.total >= MANY_COORDINATES
        form = Shooting if many else Transcription
        found = form(task, guess, free).solve(guess, limits)
        self.iterations += found.iterations
        if found.status == OUT_OF_TIME:
            raise self._out_of_time(guess)
        return found

    def check_time(self) -> None:
        """Raise if the time of the search is over."""
        if self.report is not None:
            self.report()
        if time.thread_time() > self.deadline:
            raise OutOfTimeError(
                f"no move was found in {self.search_time:g} s of search, with {self.model.size} "
                "coordinates: give more search_time, more time or effort for the move, or a model "
                "with fewer modes or rigid links"
            )

    def _out_of_time(self, motion: CollocatedMotion) -> OutOfTimeError:
        """What to raise when the time of the search is over."""
        return OutOfTimeError(
            f"no move was found in {self.search_time:g} s of search, with "
            f"{self.task.equations.total} coordinates on {motion.pieces} pieces and a duration of "
            f"{motion.duration:.4g} s: give more search_time, more time or effort for the move, "
            "fewer pieces, or a model with fewer modes or rigid links"
        )

    def _least_effort(self, guess: CollocatedMotion, near: bool = False) -> Solution:
        """The least effort in the duration of a guess: without limits if that keeps them."""
        free = self._solve(without_limits(self.task), guess, near=near)
        if free.success and self._keeps_limits(free.motion):
            return free
        begin = free.motion if free.success else guess
        found = self._solve(self.task, begin)
        if not found.success and free.success:
            again = self._solve(self.task, guess)
            return again if again.success else found
        return found

    def _keeps_limits(self, motion: CollocatedMotion) -> bool:
        """Whether a motion keeps all limits."""
        return max(self._limit_usage(motion).values(), default=0.0) <= 1 + KEPT

    def _fastest(self) -> Solution:
        """The fastest move: from the least effort in a time that is long enough for the limits."""
        first = self.unhurried_duration()
        found = None
        for stretch in (1.2, 1.8, 3.0, 6.0):
            duration = stretch * first
            grid = self._choose_grid(0.75 * first)
            found = self._least_effort(self._guess(duration, grid))
            if found.success:
                break
        assert found is not None
        if not found.success:
            raise self._refusal(found)
        fastest = self._solve(self.task, found.motion, free=True)
        if fastest.success:
            return fastest
        return self._shorten_by_bisection(found)

    def _shorten_by_bisection(self, found: Solution) -> Solution:
        """The shortest duration in which the least effort is found, by bisection."""
        long = found.motion.duration
        short = 0.0
        while long - short > 0.005 * long:
            middle = 0.85 * long if short == 0 else (short + long) / 2
            guess = replace(found.motion, duration=middle)
            trial = self._solve(self.task, guess)
            if trial.success:
                long = middle
                found = trial
            else:
                short = middle
        return found

    def make_plan(self, duration: float | None) -> Plan:
        """Return the plan, replayed on as many pieces as that needs, or say why there is none."""
        if self.by_splines:
            return self._plan_by_splines(duration)
        end_of_search = self.deadline
        self.deadline -= (1 - COLLOCATION_SHARE) * self.search_time
        try:
            return self._plan_by_collocation(duration)
        except TooShortError:
            raise
        except SuppleError as refusal:
            self.deadline = end_of_search
            try:
                return self._plan_by_splines(duration)
            except SuppleError:
                raise refusal from None

    def _plan_by_splines(self, duration: float | None) -> Plan:
        """The plan by splines of the joints."""
        move, residual = self._spline_move(duration)
        self._check_residual(residual, len(move.t) - 1, move.duration)
        return self._as_plan(move, "effort" if duration else "time", residual)

    def _plan_by_collocation(self, duration: float | None) -> Plan:
        """The plan by collocation, on as many pieces as its replay needs."""
        found, residual = self._refine(self._first_solution(duration), duration)
        if self.task.held_at_ends:
            # Modes that are not resolved ring too much: smoother efforts excite them less
            while residual > RESIDUAL_BOUND and self.more_periods < MOST_MORE_PERIODS:
                self.more_periods += 1
                found, residual = self._refine(self._first_solution(duration), duration)
        self._check_residual(residual, found.motion.pieces, found.motion.duration)
        move = self._candidate(found.motion)
        return self._as_plan(move, "effort" if duration else "time", residual)

    def _spline_move(self, duration: float | None) -> tuple[_Candidate, float]:
        """The move by splines, and how far its replay is off.

        Where fast modes ring so much that the move is missed, splines of the joints are smoother.
        """
        best: tuple[_Candidate, float] | None = None
        for smoothness in SMOOTHNESS:
            try:
                found = _BySplines(self, smoothness).best_move(duration)
            except SuppleError:
                if best is None:
                    raise
                break
            if best is None or found[1] < best[1]:
                best = found
            if best[1] <= RESIDUAL_BOUND:
                break
        assert best is not None
        return best

    def _check_residual(self, residual: float, pieces: int, duration: float) -> None:
        """Refuse efforts that do not make the move."""
        if np.isinf(residual):
            raise SuppleError(
                f"the efforts found on {pieces} pieces do not make the move: replayed on the same "
                f"model, {self.early_end}{self._softness(duration)}; give more time, more pieces, "
                "or a way that stays further from the joints' limits"
            )
        if not residual <= RESIDUAL_BOUND:
            raise SuppleError(
                f"the efforts found on {pieces} pieces do not make the move: replayed on the same "
                f"model they miss it by {100 * residual:.3g} % (1 % is allowed)"
                f"{self._softness(duration)}; give more pieces, a model with fewer modes, or more "
                "time"
            )

    def _first_solution(self, duration: float | None) -> Solution:
        """The move on the pieces that the frequencies ask for."""
        if duration is None:
            return self._fastest()
        guess = self._guess(duration, self._choose_grid(duration))
        if not np.isfinite(self.limits["effort"]).any():  # else these may be what is in the way
            self._check_bending(guess)
        found = self._least_effort(guess)
        return found if found.success else self._from_fastest(found, duration)

    def _refine(self, found: Solution, duration: float | None) -> tuple[Solution, float]:
        """The same move on twice as many pieces until its replay meets it, then aimed better."""
        total = self.task.equations.total
        replay = self._replay(found.motion)
        wanted = RESIDUAL_BOUND if found.motion.smooth else RESIDUAL_WANTED
        while replay.residual > wanted:
            pieces = 2 * found.motion.pieces
            if pieces * total > MOST_UNKNOWNS:
                break
            guess = found.motion.on(pieces)
            if not guess.smooth:
                guess = replace(guess, tau=guess.efforts_on(pieces))
            try:
                finer = self._solve(self.task, guess, duration is None, near=True)
            except OutOfTimeError:
                if replay.residual > RESIDUAL_BOUND:
                    raise
                break
            if not finer.success:
                break
            again = self._replay(finer.motion)
            better = again.residual < replay.residual
            gained = again.residual < 0.5 * replay.residual
            if better:
                found = finer
                replay = again
            if not gained and (found.motion.smooth or replay.residual > HOPELESS):
                break
        return self._correct_aim(found, replay, duration)

    def _correct_aim(
        self, found: Solution, replay: _Replay, duration: float | None
    ) -> tuple[Solution, float]:
        """The same move with efforts aimed beside its end by what their replay missed."""
        planned = found.motion
        aim = np.zeros((2, self.model.size))
        for _ in range(CORRECTIONS):
            if replay.residual < RESIDUAL_WANTED or not replay.residual < HOPELESS:
                break
            aim = aim - replay.end_error
            task = replace(self.task, aim=aim)
            try:
                trial = self._solve(task, found.motion, duration is None, near=True)
            except OutOfTimeError:
                if replay.residual > RESIDUAL_BOUND:
                    raise
                break
            if not trial.success:
                break
            states = replace(planned, duration=trial.motion.duration)
            again = self._replay(replace(states, tau=trial.motion.tau))
            if not again.residual < 0.8 * replay.residual:
                break
            found = replace(trial, motion=replace(states, tau=trial.motion.tau))
            replay = again
        return found, replay.residual

    def _from_fastest(self, failed: Solution, duration: float) -> Solution:
        """The least effort in a duration, from the fastest move; refused if that is longer."""
        if not np.isfinite(self.limits["effort"]).all():
            raise self._refusal(failed)
        fastest = self._fastest()
        if fastest.motion.duration > duration * (1 + 1e-6):
            used = self._limit_usage(fastest.motion)
            raise self.too_short(duration, fastest.motion.duration, used)
        guess = replace(fastest.motion, duration=duration)
        found = self._solve(self.task, guess)
        if not found.success:
            raise self._refusal(found)
        return found

    def _check_bending(self, guess: CollocatedMotion) -> None:
        """Refuse a duration in which links would have to bend by more than their lengths."""
        chain = self.model.chain
        q = guess.z[:, : self.model.size]
        name = ""
        most = 0.0
        for i, link in enumerate(chain.links):
            own = chain.own(i)
            if link.slide is not None or not link.inv.count or len(own) < link.inv.count:
                continue
            bent = link_deflection(link, q[:, own], 1.0, self.model.stiffening)
            share = float(np.linalg.norm(bent, axis=-1).max()) / float(link.inv.length)
            if share > most:
                most = share
                name = link.name
        if most > LARGEST_BEND:
            T = guess.duration
            raise TooShortError(
                f"{T:.4g} s are too short for link {name}: it would have to bend by about "
                f"{most:.2g} times its length{self._softness(T)}; give about "
                f"{T * np.sqrt(most / LARGEST_BEND):.2g} s or more, a shorter way, or stiffer links"
            )

    def _softness(self, duration: float) -> str:
        """What to add to a refusal of a move that is short for its soft links."""
        k = self.model.joints
        if self.model.size == k:
            return ""
        q = self.ends[1]
        K = slopes_at_rest(self.model, q)[0][k:, k:]
        M = self.model.mass_matrix(q)[k:, k:]
        slowest = float(np.linalg.eigvals(np.linalg.solve(M, K)).real.min())
        if slowest <= 0:
            return ""
        period = 2 * np.pi / np.sqrt(slowest)
        if duration > period / 2:
            return ""
        return (
            f": {duration:.4g} s are short for links that swing in {period:.3g} s with their "
            "joints held"
        )

    def _limited_words(self) -> str:
        """Which kinds of limits were given, in brackets."""
        limits_given = [
            word
            for word, limit in self.limits.items()
            if limit is not None and np.isfinite(np.asarray(limit, float)).any()
        ]
        return f" ({', '.join(limits_given)})" if limits_given else ""

    def _refusal(self, failed: Solution) -> SuppleError:
        """What to raise where no move was found: what is furthest beyond its limit without one."""
        T = failed.motion.duration
        status = failed.status.replace("_", " ").lower()
        smooth = self._smooth_move(T, self._choose_grid(T))
        free = self._solve(without_limits(self.task), smooth)
        return self.refusal(self._limit_usage(free.motion) if free.success else None, status, T)

    def refusal(self, used: Mapping[str, float] | None, why: str, duration: float) -> SuppleError:
        """Return what to raise where no move was found in a duration: which limit is passed most.

        `used`: how the least effort without limits uses them; None if there is none either.
        """
        if used is None:
            return SuppleError(
                f"no move was found, limits or not ({why}): the way between may be singular or "
                f"out of reach{self._softness(duration)}; try a nearer end, more time, other "
                "pieces, or more iterations"
            )
        if not used:
            return SuppleError(f"no move was found ({why}): try more time or more iterations")
        worst = max(used, key=lambda word: used[word])
        return SuppleError(
            f"no move was found under the limits{self._limited_words()}: without limits the "
            f"least effort in {duration:.4g} s needs {used[worst]:.3g} times the {worst}; give "
            "more of it, or more time"
        )

    # ------------------------------------------------------------------ the answer

    @staticmethod
    def _samples(motion: CollocatedMotion) -> int:
        """Between how many times efforts are linear, and states are given."""
        if not motion.smooth:
            return motion.pieces
        return motion.pieces * -(-SAMPLES_OF_AN_INTERVAL * motion.controls // motion.pieces)

    def _efforts_of(self, motion: CollocatedMotion) -> Array:
        """Efforts at the times of the plan."""
        return motion.efforts_on(self._samples(motion))

    def clipped(self, efforts: Array) -> Array:
        """Return efforts within their limits to the last digit."""
        return np.clip(efforts, -self.limits["effort"], self.limits["effort"])

    def _candidate(self, motion: CollocatedMotion) -> _Candidate:
        """A motion found by collocation, at the times of the plan."""
        n = self.model.size
        s = np.linspace(0.0, 1.0, self._samples(motion) + 1)
        z, slope = motion.at(s)
        return _Candidate(
            s * motion.duration,
            z[:, :n],
            slope[:, :n] / motion.duration,
            self.clipped(self._efforts_of(motion)),
            lambda places: motion.at(places)[0][:, :n],
        )

    def _replay(self, motion: CollocatedMotion) -> _Replay:
        return self.replay(self._candidate(motion))

    def replay(self, move: _Candidate) -> _Replay:
        """Return how far the motion under the efforts alone is from the plan, `Plan.residual`."""
        k = self.model.joints
        pieces = len(move.t) - 1
        samples = max(1, round(REPLAY_SAMPLES / pieces)) * pieces
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = simulate(
                self.given_model,
                tau=Table(move.t, move.efforts),
                q0=move.q[0],
                duration=move.duration,
                samples=samples,
                limits=not self.starts_or_ends_at_stop,
                progress=False,
            )
        if run.message.startswith("stopped by the user"):
            raise KeyboardInterrupt
        unknown = np.full((2, self.model.size), np.inf)
        if not run.t[-1] > (1 - 1e-9) * move.duration or not np.isfinite(run.q).all():
            self.early_end = run.message or f"the motion grows without bound after {run.t[-1]:g} s"
            return _Replay(np.inf, unknown)
        planned = move.q_at(np.minimum(run.t / move.duration, 1.0))
        travel = np.ptp(move.q[:, :k], axis=0)
        kinds = np.array(
            [getattr(motor, "type", "revolute") == "prismatic" for motor in self.model.motors]
        )
        worst = 0.0
        for kind in (False, True):
            own = kinds == kind
            if not own.any():
                continue
            stands = not travel[own].max() > 1e-9
            own_travel = travel.max() if stands else travel[own].max()
            off = np.abs(run.q - planned)[:, :k][:, own].max() / own_travel
            left = np.abs(run.qd[-1, :k])[own].max() * move.duration / DRIFT / own_travel
            worst = max(worst, float(off), float(left))
        speed_error = run.qd[-1] * move.duration
        return _Replay(worst, np.stack([run.q[-1] - self.ends[1], speed_error]))

    def _as_plan(self, move: _Candidate, objective: str, residual: float) -> Plan:
        return Plan(
            self.given_model,
            move.t,
            move.q,
            move.qd,
            move.efforts,
            objective,
            self.iterations,
            self.limits,
            residual,
            self.rest[1],
        )


class _BySplines:
    """Plan with smooth joints that fast modes follow."""

    def __init__(self, planner: _Planner, smoothness: float = 1.0) -> None:
        self.planner = planner
        self.smoothness = smoothness

    def _programme(
        self,
        duration: float,
        limits: MoveLimits,
        refinement: int = 1,
        joint_intervals: int | None = None,
    ) -> SplineProgramme:
        planner = self.planner
        planner.check_time()
        return SplineProgramme(
            planner.model,
            planner.ends,
            duration,
            limits,
            refinement,
            joint_intervals,
            self.smoothness,
            planner.check_time,
        )

    def _search(
        self, programme: SplineProgramme, free_duration: bool, most: int = MOST_SPLINE_STEPS
    ) -> bool:
        """Search and count the steps; whether the motion found keeps all limits."""
        before = programme.iterations
        try:
            return programme.search(free_duration, min(self.planner.most_iterations, most))
        except OutOfTimeError:
            raise
        except SuppleError:  # loops that do not close
            return False
        finally:
            self.planner.iterations += programme.iterations - before

    def _candidate(self, programme: SplineProgramme, move: SplineMove) -> _Candidate:
        """A motion with its efforts, sampled finely enough to be linear between."""
        planner = self.planner
        least = max(planner.least_pieces, SAMPLES_OF_AN_INTERVAL * move.intervals, LEAST_SAMPLES)
        samples = move.intervals * -(-least // move.intervals)
        s = np.linspace(0.0, 1.0, samples + 1)
        q, qd, qdd = move.at(s)
        efforts = programme.forces.value(q, qd, qdd)[:, : planner.model.joints]
        # chords of a curve have another mean than it by h^2 / 12 of its curvature
        efforts[1:-1] -= np.diff(efforts, 2, axis=0) / 12
        return _Candidate(s * move.duration, q, qd, efforts, lambda places: move.at(places)[0])

    def _usage(self, programme: SplineProgramme) -> dict[str, float]:
        """By which factor the motion found so far uses each limit at most, by its name."""
        found = self._candidate(programme, programme.move)
        return self.planner.limit_usage(found.q, found.qd, found.efforts)

    def _within_limits(
        self, programme: SplineProgramme, free_duration: bool
    ) -> tuple[SplineProgramme, _Candidate]:
        """The move with efforts and joints within limits between the Gauss points as well."""
        planner = self.planner
        found = self._candidate(programme, programme.move)
        for _ in range(TIGHTENINGS):
            used = np.abs(found.efforts).max(axis=0) / planner.limits["effort"]
            joints = found.q[:, : planner.model.joints]
            below = np.maximum(planner.move_limits.low - joints.min(axis=0), 0.0)
            above = np.maximum(joints.max(axis=0) - planner.move_limits.high, 0.0)
            passed = max(below.max(), above.max())
            if used.max() < 1 + SMALL_EXCESS and passed < STOP_MARGIN / 2 * programme.travel:
                break
            before = programme.move
            tighter = replace(
                programme.limits,
                effort=programme.limits.effort / np.maximum(used, 1.0),
                low=programme.limits.low + below,
                high=programme.limits.high - above,
            )
            programme.limits = tighter
            if not self._search(programme, free_duration, FEW_STEPS):
                programme.begin_with(before)
                break
            found = self._candidate(programme, programme.move)
        return programme, replace(found, efforts=planner.clipped(found.efforts))

    def best_move(self, duration: float | None) -> tuple[_Candidate, float]:
        """Return the move and how far its replay is off."""
        free_duration = duration is None
        programme = self._fastest() if duration is None else self._least_effort(duration)
        programme, found = self._within_limits(programme, free_duration)
        replay = self.planner.replay(found)
        for refinement in (2, 4):
            if replay.residual <= RESIDUAL_WANTED or not replay.residual < HOPELESS:
                break
            try:
                finer = self._programme(
                    found.duration,
                    programme.limits,
                    refinement,
                    programme.joint_basis.intervals,
                )
                finer.begin_with(programme.move)
                if not finer.settle():
                    break
                trial = self._candidate(finer, finer.move)
                trial = replace(trial, efforts=self.planner.clipped(trial.efforts))
            except SuppleError as problem:
                if isinstance(problem, OutOfTimeError) and replay.residual > RESIDUAL_BOUND:
                    raise
                break
            again = self.planner.replay(trial)
            if again.residual < replay.residual:
                programme = finer
                found = trial
                replay = again
        return self._correct_aim(programme, found, replay)

    def _correct_aim(
        self, programme: SplineProgramme, found: _Candidate, replay: _Replay
    ) -> tuple[_Candidate, float]:
        """The same move with efforts aimed beside its end by what their replay missed."""
        planned = found
        aim = np.zeros((2, self.planner.model.size))
        for _ in range(CORRECTIONS):
            if replay.residual < AIM_WANTED or not replay.residual < HOPELESS:
                break
            aim = aim - replay.end_error
            programme.aim_beside(aim)
            try:
                if not programme.settle():
                    break
                aimed = self._candidate(programme, programme.move).efforts
                trial = replace(planned, efforts=self.planner.clipped(aimed))
            except SuppleError:
                break
            again = self.planner.replay(trial)
            if not again.residual < 0.8 * replay.residual:
                break
            found = trial
            replay = again
        return found, replay.residual

    def _least_effort(self, duration: float) -> SplineProgramme:
        """The least effort in a duration: without limits if that keeps them."""
        planner = self.planner
        free = self._programme(duration, planner.move_limits.without())
        if not self._search(free, False):
            raise planner.refusal(None, "no motion near a straight one", duration)
        limited = self._programme(duration, planner.move_limits)
        limited.begin_with(free.move)
        if limited.violation < SMALL_EXCESS / 2 or self._search(limited, False):
            return limited
        if not np.isfinite(planner.limits["effort"]).all():
            raise planner.refusal(self._usage(free), "limits", duration)
        fastest = self._fastest()
        move = fastest.move
        if move.duration > duration * (1 + 1e-6):
            raise planner.too_short(duration, move.duration, self._usage(fastest))
        limited.begin_with(replace(move, duration=duration))
        if not self._search(limited, False):
            raise planner.refusal(self._usage(free), "limits", duration)
        return limited

    def _fastest(self) -> SplineProgramme:
        """The fastest move, from the smooth one in a time that is long enough for the limits."""
        planner = self.planner
        first = planner.unhurried_duration()
        for stretch in (1.0, 1.4, 2.0, 4.0, 8.0):
            programme = self._programme(stretch * first, planner.move_limits)
            if not self._search(programme, True):
                continue
            # modes are sorted into slow and fast by the duration: once more if that changed
            move = programme.move
            if move.duration < 0.7 * stretch * first:
                again = self._programme(move.duration, planner.move_limits)
                again.begin_with(move)
                if self._search(again, True) and again.move.duration < move.duration:
                    return again
            return programme
        free = self._programme(4 * first, planner.move_limits.without())
        succeeded = self._search(free, False)
        used = self._usage(free) if succeeded else None
        raise planner.refusal(used, "no motion near a straight one", 4 * first)
