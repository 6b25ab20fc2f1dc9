"""How does it move: a Model under efforts, from a state on, as a Response."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from os import PathLike
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.kinds import architecture_of
from ...arguments import (
    LARGEST_FLOAT,
    checked,
    instance,
    number,
    reals,
)
from ...arguments import brief as shown_value
from ...budget import afford, count_of
from ...control.controllers import Controller, StatefulController
from ...control.sampled import Sampled
from ...control.trajectories import Trajectory
from ...equations.chains.chain import check_lengths
from ...equations.equilibrium import assembled_pose, standing, static_state
from ...equations.loaded import loaded_model
from ...equations.model import Model
from ...errors import SuppleError
from ...integration.closed_loop import Reference, check_path, wanted_motion
from ...integration.dead_points import has_dead_points, run_past_dead_points
from ...integration.feed_forward import with_feed_forward
from ...integration.inputs import (
    EffortSamples,
    Feedback,
    Input,
    MemoryWarning,
    Table,
    as_input,
    as_wrench,
)
from ...integration.plan import Chunk, RunPlan, SimulationWarning, StoppedError, start_angles
from ...integration.progress import with_progress
from ...integration.refined_grid import fastest_turning, refine_grid
from ...integration.sampled import SampledDrive
from ...integration.spectrum import Spectrum, look
from ...integration.states import begin, state_map
from ...integration.steppers.registry import STEPPERS, choose
from ...integration.steppers.rk4 import stable_step
from ...integration.steppers.stepper import Stepper
from ...integration.time_functions import as_time_function
from ...kernels.threads import one_thread
from ...link_loads import Load, a_list_of_loads
from ...outputs.measuring import named_outputs
from ...outputs.output import Output
from .past_limits import warn_past_limits
from .response import OPEN, Response, with_outputs

__all__ = ["SimulationWarning", "simulate", "static_state"]

Array = NDArray[np.float64]
EVERY = 1e-3  # s between the samples of a run that asks for none
SHORTEST = 1e-12  # s of a run
MOST_SAMPLES = 100_000_000
HUGE = 1e9  # a coordinate beyond this has left every meaning
LATE = 0.05  # rad of vibration at the end of a run, of a step that was given
CLOSED = 3e-4  # of the energy exchanged: a balance more open than this halves a step of our own
MOST_STEPS = 3e8  # of one run: some minutes to an hour
TRIES = 5
LEAST_PART = 0.02  # of a step: what the next one has at least, however open the balance was
LEAST_LOOKS = 100  # for dead points in a run
LOOK_PHASE = 0.9  # rad of the joints' motion between two looks for dead points
LONGER = 1.3  # times the step that the motion asks for: a longer one is made again
RIGID_STEP = 0.5  # of the usual step, of robots that do not vibrate: their steps cost little
MUCH_SHORTER = 0.3  # of the same: half of such a step need not be tried
SAME = 1e-3  # of a motion: what half the step may change in one that does not vibrate
NOT_SAME = 1e-2  # the same, beyond which it is told
TOLERANCE = 1e-9  # relative, of adams, bdf, gauss and magnus


@checked
def simulate(
    model: Model,
    tau: Any = None,
    q0: ArrayLike | Literal["static"] | None = None,
    qd0: ArrayLike | None = None,
    duration: float | None = None,
    *,
    controller: Controller | Sampled | Callable[..., ArrayLike] | None = None,
    trajectory: Trajectory | str | ArrayLike | None = None,
    path: Trajectory | str | ArrayLike | None = None,
    rate: float | None = None,
    position: ArrayLike | None = None,
    theta0: ArrayLike | None = None,
    dt: float | None = None,
    samples: int | None = None,
    step: float | None = None,
    method: Annotated[str, instance(str, "the name of a method, or None")] | None = None,
    wrench: Any = None,
    tolerance: Annotated[float, number(0, 0.1, above=True)] | None = None,
    limits: bool = True,
    progress: bool | None = None,
    compiled: bool = False,
    outputs: Mapping[str, Output] | None = None,
    loads: Annotated[Sequence[Load], a_list_of_loads] = (),
) -> Response:
    """Simulate the motion of a model under efforts, a controller, or along a path.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    tau : optional
        Joint efforts, N m or N: an array (joints,), (times, values), an input such as `Step`, a CSV
        file, or a function ``f(t)`` or ``f(t, q, qd)``. Beside a controller they are added to its
        efforts (feed-forward). Default: zero.
    q0, qd0 : array_like, optional
        Initial state (size,). ``q0="static"`` starts from the static deflection with joints at
        `theta0`. Default: undeformed and at rest, or on the trajectory.
    duration : float, optional
        Seconds. Default: that of the trajectory, else 1.
    controller : Controller, Sampled or callable, optional
        A function has the form ``f(t, q, qd, (r, rd, rdd))``.
    trajectory : Trajectory, str or array_like, optional
        Desired joint motion for the controller: a Trajectory, the name of a file, samples
        (N, joints) with their `rate`, or joint coordinates to hold. Named coordinates are matched
        with the robot's, in any order.
    path : Trajectory, str or array_like, optional
        For a Delta: desired motion of the platform instead of the motors.
    rate : float, optional
        Samples per second of the trajectory, if samples are given.
    position : array_like, optional
        Initial position (3,) of a Delta's platform, m.
    theta0 : array_like, optional
        Initial joint coordinates (joints,). Default: zero, or the assembled pose.
    dt : float, optional
        Time between rows of the answer, s. Default: 1 ms. It does not set the integration step.
    samples : int, optional
        Number of rows, instead of `dt`.
    step : float, optional
        Integration step, s, for fixed-step methods. Default: from the poles and from the rates that
        the motion excites.
    method : str, optional
        ``rk4``, ``adams``, ``bdf``, ``generalised-alpha``, ``gauss``, ``magnus`` or ``auto``.
    wrench : optional
        Force and moment (6,) on the tip, base axes, N and N m: an array, (times, values), an input
        or a CSV file.
    tolerance : float, optional
        Relative error of a step of ``adams`` and ``bdf``, by default 1e-9; ``gauss`` and ``magnus``
        take shorter steps for a finer one. Methods of fixed steps shorten theirs until the power
        balance closes to it (by default 3e-4), as a part of the energy exchanged; five tries.
    limits : bool
        End the simulation when a joint reaches its limit.
    progress : bool, optional
        Show a progress bar. Default: only if stderr is a terminal.
    compiled : bool
        Integrate in generated C code.
    outputs : mapping, optional
        Outputs and sensors to record, by name.
    loads : sequence, optional
        Constant loads anywhere on links, `PointLoad` and `DistributedLoad`; their potential counts
        as gravitational energy.

    Returns
    -------
    Response
        Times, states, efforts, energy and outputs.

    Warns
    -----
    SimulationWarning
        If the power balance is open by more than 1e-3 of the exchanged energy, efforts or speeds
        exceed the joints' limits (they are not enforced), or the simulation ends early.

    Notes
    -----
    The integration restarts wherever an input switches.

    References
    ----------
    [Chung1993], [Arnold2007] for generalised-alpha, [Hairer2006] for gauss, [Blanes2009] for
    magnus.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    >>> run = supple.simulate(model, tau=[0.1, 0.0], duration=0.2)
    >>> run.q.shape, run.method
    ((201, 6), 'rk4')
    """
    model = loaded_model(model, loads)
    measured = named_outputs(outputs, model)
    wanted = wanted_motion(model, controller, trajectory, path, rate)
    theta0 = start_angles(model, position, theta0)
    law = controller if isinstance(controller, Controller) else None
    if duration is None and isinstance(tau, EffortSamples) and tau.times is not None:
        duration = float(tau.times[-1])  # a plan's efforts, for as long as the plan takes
    duration, every = _timing(model, wanted, (duration, dt, samples), step)
    load = as_wrench(wrench, duration)
    if wanted is not None:
        check_path(model, wanted, duration)
    move = wanted
    if controller is not None and tau is not None and wanted is not None:
        ahead = _efforts(model, tau, None, None, (duration, every))
        controller, wanted = with_feed_forward(controller, wanted, ahead, duration)
        law = controller if isinstance(controller, Controller) else None
        tau = None
    model, x0 = _start(model, q0, qd0, theta0, move)
    drive = (
        SampledDrive(controller, model, wanted, load) if isinstance(controller, Sampled) else None
    )
    efforts = _efforts(model, tau, drive or controller, wanted, (duration, every))
    grid, starts = _grid(duration, every, efforts, load)
    plan = RunPlan(model, grid, starts, efforts, load, tolerance or TOLERANCE, compiled, law, drive)
    found = _run_with_balance(plan, x0, (method, step, tolerance), limits, progress)
    if drive is not None and found.complete:
        for sentence in drive.warnings(model.chain.motors):
            warnings.warn(sentence, SimulationWarning, stacklevel=3)
    found = warn_past_limits(_warn_open_balance(found, step, tolerance))
    found = with_outputs(found, measured, load)
    return found if move is None else replace(found, reference=move.at(found.t)[0])


@one_thread
def _run_with_balance(
    plan: RunPlan,
    x0: Array,
    asked: tuple[str | None, float | None, float | None],
    limits: bool,
    progress: bool | None,
) -> Response:
    """The run as asked for, or by a step of its own, halved until its balance closes."""
    method, step, tolerance = asked
    if method not in (None, "auto", *STEPPERS):
        raise SuppleError(f"method is '{method}': it must be auto, {', '.join(STEPPERS)}")
    x0 = np.append(x0, np.zeros(plan.memory))
    spectrum = look(plan, x0)
    stepper = choose(plan, x0, spectrum) if method in (None, "auto") else STEPPERS[str(method)]
    if method not in (None, "auto") and (fault := stepper.refusal(plan, x0)):
        instead = choose(plan, x0, spectrum).name
        raise SuppleError(f"method {method} {fault}: use {instead}, or leave the method out")
    if step is not None:
        if stepper.name == "rk4" and step > (largest := stable_step(spectrum.poles)):
            digits = 10.0 ** (math.floor(math.log10(largest)) - 2)
            allowed = math.floor(largest / digits) * digits
            raise SuppleError(
                f"step is {step:g} s: beyond rk4's stability limit for this model; the largest "
                f"admissible step is {allowed:.3g} s (leave it out and it is chosen from the "
                "motion, use fewer modes, or method bdf)"
            )
        found = _run(plan, x0, stepper, step, limits, progress, spectrum)
        _warn_of_lateness(found, stepper, spectrum)
        return found
    plan = replace(plan, fastest=spectrum.fastest, energy=spectrum.energy, course=spectrum.course)
    return _by_own_steps(plan, x0, stepper, spectrum, tolerance, limits, progress)


def _by_own_steps(
    plan: RunPlan,
    x0: Array,
    stepper: Stepper,
    spectrum: Spectrum,
    tolerance: float | None,
    limits: bool,
    progress: bool | None,
) -> Response:
    """Run with a step chosen from the motion, and again with shorter ones until the run is good.

    A run is good when its power balance closes, when the joints did not turn faster than the step
    was made for, and, of robots that do not vibrate, when half the step leads to the same motion.
    """
    step = _own_step(plan, stepper, spectrum)
    given = tolerance is not None and not math.isfinite(step)
    closed = CLOSED  # part of the energy exchanged by which the power balance may stay open
    if tolerance is not None:
        closed = min(CLOSED, 1e3 * tolerance if isinstance(plan.tau, Feedback) else tolerance)
    once = plan.drive is not None or given or not plan.model.reading.balances_energy
    rigid = math.isfinite(step) and not once and _does_not_vibrate(plan, spectrum)
    before: Response | None = None  # the run with twice this step
    for left in reversed(range(1 if once else TRIES)):  # as printed, it stays open anyway
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _run(plan, x0, stepper, step, limits, progress, spectrum)
        blew = "blew up" in found.message
        if not left or "stopped" in found.message:
            break
        if blew and left == TRIES - 2:
            break  # a quarter of the step did not help
        spectrum = _with_turning(spectrum, found)
        needed = _own_step(plan, stepper, spectrum)
        slow_enough = not math.isfinite(step) or step <= LONGER * needed
        closes = not blew and found.openness <= closed
        much_shorter = step <= MUCH_SHORTER * _own_step(plan, stepper, spectrum, samples=False)
        if closes and slow_enough and (not rigid or much_shorter):
            break
        if closes and slow_enough and before is not None:
            off = _difference(before, found) / (2.0 ** (stepper.order or 1) - 1)
            if off <= SAME:
                break
        if any(item.category is MemoryWarning for item in caught) or not _steady(plan, found):
            break
        before = found if closes and slow_enough else None
        shorter = step / 4 if blew else step / 2
        law = isinstance(plan.tau, Feedback)
        if slow_enough and not (blew or closes or law) and closed < CLOSED:
            # What a step loses falls with its length to the power order + 1: at once to the
            # tolerance, with some margin, and not by halves
            power = 1 / ((stepper.order or 1) + 1)
            needed_part = 0.8 * (closed / found.openness) ** power
            shorter = step * max(LEAST_PART, min(0.5, needed_part))
        step = shorter if slow_enough else min(shorter, needed)
        plan = replace(plan, tolerance=plan.tolerance / 10)  # of those without a step
    for item in caught:
        warnings.warn_explicit(item.message, item.category, item.filename, item.lineno)
    if rigid and before is not None and not left:
        off = _difference(before, found) / (2.0 ** (stepper.order or 1) - 1)
        if off > NOT_SAME:
            warnings.warn(
                f"this motion is sensitive to its steps: twice "
                f"{step:.3g} s change it by {off:.2g} of its range; give a smaller step",
                SimulationWarning,
                stacklevel=4,
            )
    return found


def _own_step(plan: RunPlan, stepper: Stepper, spectrum: Spectrum, samples: bool = True) -> float:
    """Step of a method for a plan, at most the longest stretch between two `samples`."""
    step = stepper.own_step(plan, spectrum)
    if not math.isfinite(step):
        return step
    if _does_not_vibrate(plan, spectrum):
        step *= RIGID_STEP
    if not samples:
        return step
    step = min(step, float(np.diff(plan.grid).max()))
    run = float(plan.grid[-1] - plan.grid[0])
    advice = "are efforts, loads, gravity and stiffnesses in SI units? Else give a shorter duration"
    count_of(run, step, MOST_STEPS, f"a run of {run:g} s in steps of {step:.2g} s", advice)
    return step


def _does_not_vibrate(plan: RunPlan, spectrum: Spectrum) -> bool:
    """Whether nothing but the joints' own motion decides the steps of a run under given efforts."""
    law = plan.controller is not None or isinstance(plan.tau, Feedback)
    return not law and len(spectrum.swings) == 1


def _with_turning(spectrum: Spectrum, found: Response) -> Spectrum:
    """Return the spectrum, made faster where the joints of a run turned faster than it says."""
    turning = float(found.notes.get("turning", 0.0))
    if not len(spectrum.swings) or turning <= spectrum.swings[-1, 0]:
        return spectrum
    swings = spectrum.swings.copy()
    swings[-1, 0] = turning
    if turning > spectrum.excited:  # then the joints' motion stands for all of the energy
        swings[-1, 2] = 1.0
    return replace(spectrum, swings=swings, excited=max(spectrum.excited, turning))


def _difference(before: Response, found: Response) -> float:
    """Largest difference of two runs at the samples of both, beside what the motion covers.

    Coordinates are measured by their range in the run and speeds by their largest value; joints
    that hardly move count by a thousandth of a radian or metre.
    """
    count = min(len(before.t), len(found.t))
    range_covered = np.maximum(np.ptp(found.q[:count], axis=0).max(), 1e-3)
    speed_reached = np.maximum(np.abs(found.qd[:count]).max(), 1e-3)
    by_place = np.abs(before.q[:count] - found.q[:count]).max() / range_covered
    by_speed = np.abs(before.qd[:count] - found.qd[:count]).max() / speed_reached
    return float(max(by_place, by_speed))


def _warn_of_lateness(found: Response, stepper: Stepper, spectrum: Spectrum) -> None:
    """Warn where a step that was given loses time, which a balance of energy does not tell."""
    run = float(found.t[-1] - found.t[0])
    step = float(found.step or 0.0)
    rate, late = spectrum.lateness(run, step, stepper.late, stepper.order or 1)
    if late > LATE and found.openness <= OPEN:
        warnings.warn(
            f"steps of {step:g} s keep the energy of this run but not its time: vibration of "
            f"{rate:.4g} rad/s is late by {late:.2g} rad at the end; give a smaller step, or "
            "leave it out: it is then chosen from the motion",
            SimulationWarning,
            stacklevel=5,
        )


def _steady(plan: RunPlan, found: Response) -> bool:
    """Whether a Python function gives again what it gave: one that remembers is never run twice."""
    if not isinstance(plan.tau, Feedback):
        return True
    places = np.unique(np.linspace(0, max(len(found.t) - 2, 0), 9).astype(int)).tolist()
    try:
        again = [plan.tau(float(found.t[k]), found.q[k], found.qd[k]) for k in places]
    except SuppleError:
        return False
    return np.array_equal(again, found.tau[places])


def _run(
    plan: RunPlan,
    x0: Array,
    stepper: Stepper,
    step: float,
    limits: bool,
    progress: bool | None,
    spectrum: Spectrum,
) -> Response:
    """One run, looked at about once a step, and its answer at the samples."""
    notes: dict[str, Any] = {"vibration": spectrum.energy}
    if has_dead_points(plan):
        # Equal steps are looked at one by one, and stay as long as they are. A method that meets a
        # tolerance is looked at as often as the joints' own motion asks for.
        spacing = step
        if not math.isfinite(step):
            turning = float(spectrum.swings[-1, 0]) if len(spectrum.swings) else 0.0
            spacing = float(plan.grid[-1] - plan.grid[0]) / LEAST_LOOKS
            spacing = min(spacing, LOOK_PHASE / turning) if turning > 0 else spacing
        fine, places = refine_grid(plan, spacing, every_step=True)
        chunks = run_past_dead_points(fine, stepper, x0, step, spectrum.excited, notes)
    else:
        fine, places = refine_grid(plan, step, every_step=len(spectrum.swings) <= 1)
        chunks = stepper.run(fine, x0, step)
    states, applied, message = _collect(fine, chunks, x0, limits, progress)
    notes["turning"] = fastest_turning(fine, states)
    if len(places) < len(fine.grid):  # the samples, and where it ended if that was early
        ended = len(states) - 1
        shown_at = places[places <= ended]
        if message and "blew up" not in message and shown_at[-1] < ended:
            shown_at = np.append(shown_at, ended)
        states = states[shown_at]
        applied = None if applied is None else applied[shown_at]
        plan = replace(plan, grid=fine.grid[shown_at], starts=(0,))
    return _response(plan, states, applied, (stepper.name, step, notes), message)


def _warn_open_balance(found: Response, step: float | None, tolerance: float | None) -> Response:
    """The same run, after a warning where its power balance stays open."""
    if found.openness <= OPEN or not found.model.reading.balances_energy:  # open at any step
        return found
    remedy = "give a smaller step, or leave it out: it is then chosen from the motion"
    if step is None:
        remedy = "give a smaller tolerance" if tolerance is not None else "give a smaller step"
    warnings.warn(
        f"the power balance of this run stays open by {found.openness:.1e} of the energy "
        f"exchanged: {remedy}, or use another method (it was {found.method})",
        SimulationWarning,
        stacklevel=4,
    )
    return found


def _timing(
    model: Model,
    wanted: Trajectory | None,
    given: tuple[float | None, float | None, int | None],
    step: float | None,
) -> tuple[float, float]:
    """Seconds of the run, and between two samples, from duration, dt and samples as given."""
    duration, dt, samples = given
    if duration is None:
        duration = 1.0 if wanted is None else wanted.duration
    if samples is not None and dt is not None:
        raise SuppleError(
            "dt and samples are both given: give the time between two samples or their number"
        )
    if samples is not None:
        if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < 1:
            raise SuppleError(f"samples is {shown_value(samples)}: give a positive whole number")
        if samples > MOST_SAMPLES:
            raise SuppleError(f"samples is {shown_value(samples)}: give at most {MOST_SAMPLES:,}")
        dt = duration / int(samples)
    elif dt is None:
        dt = EVERY
    for word, value in (("duration", duration), ("dt", dt), ("step", step)):
        if value is None:
            continue
        if not isinstance(value, int | float) or not 0 < value <= LARGEST_FLOAT:
            raise SuppleError(f"{word} is {shown_value(value)}: give a positive number")
    if duration < SHORTEST:
        raise SuppleError(f"duration is {duration:g} s: give at least {SHORTEST:g} s")
    if duration / dt > MOST_SAMPLES:
        raise SuppleError(f"{duration:g} s every {dt:g} s are more than 1e8 samples: use fewer")
    if step is not None and duration / step > MOST_STEPS:
        raise SuppleError(
            f"{duration:g} s in steps of {step:g} s are more than {MOST_STEPS:g} steps: give a "
            "longer step"
        )
    foreseen = f"a run of {duration:g} s every {dt:g} s"
    afford(foreseen, 1e-7 * duration / dt * model.size, 0.0, "give a shorter time, or a longer dt")
    return duration, dt


def _efforts(
    model: Model,
    tau: Any,
    controller: Any,
    path: Trajectory | None,
    timing: tuple[float, float],
) -> Input | Feedback:
    """Joint efforts as given; under a Controller the motion wanted instead."""
    if isinstance(tau, str | PathLike):
        tau = Table.from_csv(tau)
    if isinstance(tau, Table):
        tau = tau.in_order(model.robot)
    if controller is None:
        return as_time_function(as_input(tau, model.joints, timing[0]), *timing)
    if tau is not None:
        raise SuppleError(
            "tau and controller are both given, and the law follows no trajectory: give one of "
            "them, or a trajectory as well"
        )
    if isinstance(controller, SampledDrive):
        return Feedback(controller.now, model.joints, of_state=False)
    assert path is not None
    if isinstance(controller, Controller):
        controller.check(model)
        return Reference(path)
    if callable(controller):
        law = controller
        return as_input(lambda t, q, qd: law(t, q, qd, path(t)), model.joints, timing[0])
    raise SuppleError(f"controller is {controller!r}: give a Controller or a function")


def _start(
    model: Model,
    q0: Any,
    qd0: ArrayLike | None,
    theta0: ArrayLike | None,
    path: Trajectory | None,
) -> tuple[Model, Array]:
    """The state at the start: on the path, unbent, unless another one is given.

    And the model with its loops as `forward` finds them there.
    """
    n = model.size
    given = q0 is not None and not isinstance(q0, str)
    at = _vector("q0", q0, n, model)[: model.joints] if given else theta0
    model = standing(model, path(0.0)[0] if path is not None and at is None else at)
    if path is not None:
        r, rd, _ = path(0.0)
        if theta0 is None:
            q0 = assembled_pose(model, r) if q0 is None else q0
            theta0 = r if isinstance(q0, str) else None
        qd0 = np.concatenate([rd, np.zeros(n - model.joints)]) if qd0 is None else qd0
    if isinstance(q0, str):
        if q0 != "static":
            raise SuppleError(f"q0 is '{q0}': give an array or 'static'")
        q = static_state(model, theta0)
    else:
        at = None if theta0 is None else _vector("theta0", theta0, model.joints, model)
        q = assembled_pose(model, at) if q0 is None else _vector("q0", q0, n, model).copy()
        if at is not None:
            q[: model.joints] = at
    qd = np.zeros(n) if qd0 is None else _vector("qd0", qd0, n, model)
    check_lengths(model.chain, q)
    return model, begin(model, q, qd)


def _vector(word: str, value: ArrayLike, size: int, model: Model) -> Array:
    array = reals(word, value)
    if array.shape != (size,):
        names = ", ".join(model.coordinates[:size][:12])
        raise SuppleError(f"{word} has shape {array.shape}: give {size} numbers ({names})")
    if not np.isfinite(array).all():
        raise SuppleError(f"{word} holds a value that is not finite")
    return array


def _grid(
    duration: float, dt: float, tau: Input | Feedback, wrench: Input | None
) -> tuple[Array, tuple[int, ...]]:
    """Times of the answer, every switch among them, and the places where integration restarts."""
    switches = {0.0}
    for given in (tau, wrench):
        if isinstance(given, Input):
            switches.update(given.switches(duration))
    edges = [*sorted(switches), duration]
    parts = []
    starts = []
    count = 0
    for a, b in pairwise(edges):
        steps = max(1, math.ceil((b - a) / dt - 1e-9))
        parts.append(a + (b - a) * np.arange(steps) / steps)
        starts.append(count)
        count += steps
    return np.concatenate([*parts, [duration]]), tuple(starts)


def _collect(
    plan: RunPlan, chunks: Iterator[Chunk], x0: Array, limits: bool, progress: bool | None
) -> tuple[Array, Array | None, str]:
    """All states until the end, a fault or Ctrl-C, efforts applied, and why it ended early."""
    states_kept = [x0[None]]
    applied = []
    message = ""
    last: Array | None = None
    try:
        for chunk in with_progress(chunks, plan.grid, progress):
            good, message = _cut_at_fault(
                plan, chunk.place, chunk.states, states_kept[-1][-1], limits
            )
            states_kept.append(good)
            if chunk.tau is not None:
                applied.append(chunk.tau[: len(good)])
                last = chunk.last
            if message:
                break
    except KeyboardInterrupt:
        message = f"stopped by the user at t = {plan.grid[sum(map(len, states_kept)) - 1]:g} s"
    except SuppleError as problem:
        if sum(map(len, states_kept)) == 1:
            raise
        message = str(problem)
    except StoppedError:
        reason = _reason(plan.model, states_kept[-1][-1])
        at = plan.grid[sum(map(len, states_kept)) - 1]
        message = f"the integrator gave up after t = {at:g} s: {reason}"
    if message:
        warnings.warn(message, SimulationWarning, stacklevel=4)
    if isinstance(plan.tau, Feedback) and last is None:  # not one step was made
        last = np.full(plan.model.joints, np.nan)
    tau = None if last is None else np.concatenate([*applied, last[None]])
    return np.concatenate(states_kept), tau, message


def _cut_at_fault(
    plan: RunPlan, place: int, states: Array, before: Array, limits: bool
) -> tuple[Array, str]:
    """The states up to the first fault or limit, whichever comes first, and what it is."""
    good, message = _sound(plan, place, states, before)
    if not limits:
        return good, message
    model = plan.model
    allowed = [list(motor.limits or (-np.inf, np.inf)) for motor in model.motors]
    low, high = np.array(allowed).reshape(-1, 2).T
    beyond = (good[:, : len(low)] < low) | (good[:, : len(low)] > high)
    if not beyond.any():
        return good, message
    first = int(beyond.any(axis=1).argmax())
    k = int(beyond[first].argmax())
    limit = high[k] if good[first, k] > high[k] else low[k]
    name, slides = architecture_of(model.robot).motors[k]
    shown = f"{limit:g} m" if slides else f"{np.degrees(limit):.6g} deg"
    at = plan.grid[place + first]
    return good[: first + 1], f"joint {name} reached its limit of {shown} at t = {at:g} s"


def _sound(plan: RunPlan, place: int, states: Array, before: Array) -> tuple[Array, str]:
    """The states up to the first fault, and what it is."""
    n = plan.model.size
    with np.errstate(invalid="ignore"):
        bad = np.asarray(~(np.abs(states[:, : 2 * n]) < HUGE).all(axis=1))
    if not plan.model.reading.keeps_definite:
        finite_states = states[~bad]
        lowest = np.linalg.eigvalsh(plan.model.mass_matrix(finite_states[:, :n]))[:, 0]
        bad[np.flatnonzero(~bad)[lowest <= 0]] = True
    beyond = _slid_off(plan.model, states)
    if beyond is not None and not bad[: beyond[0] + 1].any():
        at = plan.grid[place + beyond[0]]
        return states[: beyond[0]], f"{beyond[1]} at t = {at:g} s"
    if bad.any():
        first = int(bad.argmax())
        last = states[first - 1] if first else before
        reason = _reason(plan.model, last)
        return states[:first], f"the motion blew up at t = {plan.grid[place + first]:g} s: {reason}"
    return states, ""


def _slid_off(model: Model, states: Array) -> tuple[int, str] | None:
    """The first state with a link that has slid off its beam, and which one."""
    off = [
        (int(beyond.argmax()), i)
        for i, place in model.chain.lengths_at.items()
        for low, high in [model.chain.stroke(i)]
        for free in [states[:, place]]
        for beyond in [(free < low) | (free > high)]
        if beyond.any()
    ]
    if not off:
        return None
    first, i = min(off)
    low, high = model.chain.stroke(i)
    span = f"{low:g} to {high:g} m" if np.isfinite(low) else f"at most {high:g} m"
    return first, f"{model.chain.links[i].name} slid off its beam, {span},"


def _reason(model: Model, x: Array) -> str:
    """Why a motion that was at x went wrong right after."""
    if model.functions.not_finite:
        return "its loops can no longer be closed: they run into a singular pose or out of reach"
    n = model.size
    lowest = np.linalg.eigvalsh(model.mass_matrix(x[:n]))[0]
    if lowest <= 0:
        return "the mass matrix is no longer positive definite"
    if not model.reading.keeps_definite:
        return (
            "the mass matrix turns indefinite at these deflections, as that of deflection "
            f"'{model.reading.deflection}' may; use deflection 'rotation'"
        )
    return "speeds grew beyond every bound; the inputs or the gains are too large, or dt is"


def _response(
    plan: RunPlan,
    states: Array,
    applied: Array | None,
    how: tuple[str, float, dict[str, Any]],
    message: str,
) -> Response:
    n = plan.model.size
    t = plan.grid[: len(states)]
    states, z = np.split(states, [states.shape[1] - plan.memory], axis=1)
    q = states[:, :n]
    qd = states[:, n : 2 * n]
    columns = state_map(plan.model)
    roots = columns.where("root")
    dependent = columns.dependent
    beta = states[:, roots] if len(roots) else None
    guess = states[:, dependent] if len(dependent) else None
    if applied is not None:
        tau = applied
    elif isinstance(plan.controller, StatefulController):
        wanted = np.split(plan.tau.value(t + 1e-12 * t[-1], 0), 3, axis=1)  # type: ignore[union-attr]
        tau = plan.controller.efforts_along(plan.model, (q, qd, z), wanted, guess)
    elif plan.controller is not None:
        wanted = np.split(plan.tau.value(t + 1e-12 * t[-1], 0), 3, axis=1)  # type: ignore[union-attr]
        tau = plan.controller.efforts(plan.model, (q, qd), wanted, guess)
    else:
        assert isinstance(plan.tau, Input)
        tau = plan.tau.value(t + 1e-12 * t[-1], plan.model.joints)
    method, step, notes = how
    return Response(
        plan.model,
        t,
        q,
        qd,
        tau,
        states[:, 2 * n],
        method,
        message,
        beta,
        step=step if math.isfinite(step) else None,
        near=guess,
        notes=notes,
    )
