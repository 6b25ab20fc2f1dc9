"""How does it move: a Model under efforts, from a state on, as a Response."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import Check, checked, instance, number, optional, reals, switch
from ...budget import afford
from ...control.controllers import Controller
from ...control.linear import LinearController
from ...control.sampled import Sampled
from ...control.trajectories import Trajectory
from ...equations.chains.chain import check_lengths
from ...equations.equilibrium import assembled_pose, standing, static_state
from ...equations.model import Model, a_model
from ...errors import SuppleError
from ...integration.closed_loop import Reference, check_path, wanted_motion
from ...integration.inputs import Feedback, Input, MemoryWarning, as_input, as_wrench
from ...integration.plan import Chunk, Plan, SimulationWarning, StoppedError, start_angles
from ...integration.progress import shown
from ...integration.sampled import Drive
from ...integration.spectrum import Spectrum, look
from ...integration.states import begin
from ...integration.steppers.registry import STEPPERS, choose
from ...integration.steppers.rk4 import stable_step
from ...integration.steppers.stepper import Stepper
from ...integration.time_functions import as_time_function
from ...kernels.threads import one_thread
from ...outputs.measuring import named_outputs
from ...outputs.output import Output
from .past_limits import limits_told
from .response import OPEN, Response, with_outputs

__all__ = ["SimulationWarning", "simulate", "static_state"]

Array = NDArray[np.float64]
EVERY = 1e-3  # s between the samples of a run that asks for none
SHORTEST = 1e-12  # s of a run
HUGE = 1e9  # a coordinate beyond this has left every meaning
LATE = 0.05  # rad of vibration at the end of a run, of a step that was given
CLOSED = 3e-4  # of the energy exchanged: a balance more open than this halves a step of our own
TRIES = 5
TOLERANCE = 1e-9  # relative, of adams, bdf, gauss and magnus


ARGUMENTS: dict[str, Check] = {
    "model": a_model,
    "qd0": optional(reals),
    "position": optional(reals),
    "theta0": optional(reals),
    "method": optional(instance(str, "the name of a method, or None")),
    "tolerance": optional(number(0, 0.1, above=True)),
    "limits": switch,
    "progress": optional(switch),
    "compiled": switch,
}


@checked(**ARGUMENTS)
def simulate(  # noqa: PLR0913 - every choice by keyword
    model: Model,
    tau: Any = None,
    q0: ArrayLike | Literal["static"] | None = None,
    qd0: ArrayLike | None = None,
    duration: float | None = None,
    *,
    controller: Controller | Sampled | Callable[..., ArrayLike] | None = None,
    trajectory: Trajectory | ArrayLike | None = None,
    path: Trajectory | None = None,
    position: ArrayLike | None = None,
    theta0: ArrayLike | None = None,
    dt: float | None = None,
    samples: int | None = None,
    step: float | None = None,
    method: str | None = None,
    wrench: Any = None,
    tolerance: float | None = None,
    limits: bool = True,
    progress: bool | None = None,
    compiled: bool = False,
    outputs: Mapping[str, Output] | None = None,
) -> Response:
    """Return the motion of a model over `duration` seconds (default 1), sampled every `dt` (1 ms).

    `tau` are joint efforts: None, an array, (times, values), an Input, or a function f(t) or
    f(t, q, qd). `wrench` is a force and moment on the tip, base axes, in the same forms but the
    last. `q0="static"` starts from the sag under gravity with joints held at `theta0`. A joint at
    its limit ends the run unless `limits` is False.

    With a `controller` the joints follow a `trajectory` (or joint coordinates to hold), for its
    duration unless another is given, starting on it. A controller is a Controller or a function
    f(t, q, qd, (r, rd, rdd)), or either of them Sampled. For a Delta `path` leads the platform
    instead of the motors, and `position` says where it starts.

    `dt` (or the number of `samples`) says where the answer is wanted, not how it is integrated.
    Methods are rk4, adams, bdf, generalised-alpha, gauss and magnus, or `auto`. Adams and bdf keep
    the error of a step within a relative `tolerance` (1e-9); the others take their `step` from
    poles and the rates that the motion excites, gauss and magnus shorter at a finer `tolerance`.
    Integration restarts where an input switches. `compiled` steps in generated C.

    `outputs` are measured by name. A power balance that stays open by 1e-3 of the energy exchanged
    warns, and so do efforts and speeds beyond limits (told, not kept) and a run that ends early.
    """
    measured = named_outputs(outputs, model)
    wanted = wanted_motion(model, controller, trajectory, path)
    theta0 = start_angles(model, position, theta0)
    law = controller if isinstance(controller, Controller) else None
    duration, every = _timing(model, wanted, (duration, dt, samples), step)
    load = as_wrench(wrench, duration)
    if wanted is not None:
        check_path(model, wanted, duration)
    model, x0 = _start(model, q0, qd0, theta0, wanted)
    drive = Drive(controller, model, wanted, load) if isinstance(controller, Sampled) else None
    efforts = _efforts(model, tau, drive or controller, wanted, (duration, every))
    grid, starts = _grid(duration, every, efforts, load)
    plan = Plan(model, grid, starts, efforts, load, tolerance or TOLERANCE, compiled, law, drive)
    found = _carried(plan, x0, (method, step, tolerance), limits, progress)
    return with_outputs(limits_told(_warned(found, step, tolerance)), measured, load)


@one_thread
def _carried(
    plan: Plan,
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
        found = _run(plan, x0, stepper, step, limits, progress, spectrum.energy)
        _warn_of_lateness(found, stepper, spectrum)
        return found
    step = stepper.own_step(plan, spectrum)
    step = min(step, float(np.diff(plan.grid).max())) if math.isfinite(step) else step
    plan = replace(plan, fastest=spectrum.fastest, energy=spectrum.energy, course=spectrum.course)
    given = tolerance is not None and not math.isfinite(step)
    once = plan.drive is not None or given or plan.model.reading.velocity == "paper"
    for left in reversed(range(1 if once else TRIES)):  # as printed, it stays open anyway
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _run(plan, x0, stepper, step, limits, progress, spectrum.energy)
        blew = "blew up" in found.message
        if not left or "stopped" in found.message or not (blew or found.openness > CLOSED):
            break
        if blew and left == TRIES - 2:
            break  # a quarter of the step did not help
        if any(item.category is MemoryWarning for item in caught) or not _steady(plan, found):
            break
        step /= 4 if blew else 2
        plan = replace(plan, tolerance=plan.tolerance / 10)  # of those without a step
    for item in caught:
        warnings.warn_explicit(item.message, item.category, item.filename, item.lineno)
    return found


def _warn_of_lateness(found: Response, stepper: Stepper, spectrum: Spectrum) -> None:
    """Warn where a step that was given loses time, which a balance of energy does not tell."""
    run, step = float(found.t[-1] - found.t[0]), float(found.step or 0.0)
    rate, late = spectrum.lateness(run, step, stepper.late, stepper.order or 1)
    if late > LATE and found.openness <= OPEN:
        warnings.warn(
            f"steps of {step:g} s keep the energy of this run but not its time: vibration of "
            f"{rate:.4g} rad/s is late by {late:.2g} rad at the end; give a smaller step, or "
            "leave it out: it is then chosen from the motion",
            SimulationWarning,
            stacklevel=5,
        )


def _steady(plan: Plan, found: Response) -> bool:
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
    plan: Plan,
    x0: Array,
    stepper: Stepper,
    step: float,
    limits: bool,
    progress: bool | None,
    energy: float,
) -> Response:
    """One run, and its answer."""
    states, applied, message = _collect(plan, stepper.run(plan, x0, step), x0, limits, progress)
    return _response(plan, states, applied, (stepper.name, step, energy), message)


def _warned(found: Response, step: float | None, tolerance: float | None) -> Response:
    """The same run, after a warning where its power balance stays open."""
    if found.openness <= OPEN or found.model.reading.velocity == "paper":  # open at any step
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
            raise SuppleError(f"samples is {samples!r}: give a positive whole number")
        dt = duration / int(samples)
    elif dt is None:
        dt = EVERY
    for word, value in (("duration", duration), ("dt", dt), ("step", step)):
        if value is None:
            continue
        if not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise SuppleError(f"{word} is {value}: give a positive number")
    if duration < SHORTEST:
        raise SuppleError(f"duration is {duration:g} s: give at least {SHORTEST:g} s")
    if duration / dt > 1e8:
        raise SuppleError(f"{duration:g} s every {dt:g} s are more than 1e8 samples: use fewer")
    told = f"a run of {duration:g} s every {dt:g} s"
    afford(told, 1e-7 * duration / dt * model.size, 0.0, "give a shorter time, or a longer dt")
    return duration, dt


def _efforts(
    model: Model,
    tau: Any,
    controller: Any,
    path: Trajectory | None,
    timing: tuple[float, float],
) -> Input | Feedback:
    """Joint efforts as given; under a Controller the motion wanted instead."""
    if controller is None:
        return as_time_function(as_input(tau, model.joints, timing[0]), *timing)
    if tau is not None:
        raise SuppleError("tau and controller are both given: give one of them")
    if isinstance(controller, Drive):
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
    parts, starts, count = [], [], 0
    for a, b in pairwise(edges):
        steps = max(1, math.ceil((b - a) / dt - 1e-9))
        parts.append(a + (b - a) * np.arange(steps) / steps)
        starts.append(count)
        count += steps
    return np.concatenate([*parts, [duration]]), tuple(starts)


def _collect(
    plan: Plan, chunks: Iterator[Chunk], x0: Array, limits: bool, progress: bool | None
) -> tuple[Array, Array | None, str]:
    """All states until the end, a fault or Ctrl-C, efforts applied, and why it ended early."""
    kept, applied, message = [x0[None]], [], ""
    last: Array | None = None
    try:
        for chunk in shown(chunks, plan.grid, progress):
            good, message = _checked(plan, chunk.place, chunk.states, kept[-1][-1], limits)
            kept.append(good)
            if chunk.tau is not None:
                applied.append(chunk.tau[: len(good)])
                last = chunk.last
            if message:
                break
    except KeyboardInterrupt:
        message = f"stopped by the user at t = {plan.grid[sum(map(len, kept)) - 1]:g} s"
    except SuppleError as problem:
        if sum(map(len, kept)) == 1:
            raise
        message = str(problem)
    except StoppedError:
        reason = _reason(plan.model, kept[-1][-1])
        at = plan.grid[sum(map(len, kept)) - 1]
        message = f"the integrator gave up after t = {at:g} s: {reason}"
    if message:
        warnings.warn(message, SimulationWarning, stacklevel=4)
    if isinstance(plan.tau, Feedback) and last is None:  # not one step was made
        last = np.full(plan.model.joints, np.nan)
    tau = None if last is None else np.concatenate([*applied, last[None]])
    return np.concatenate(kept), tau, message


def _checked(
    plan: Plan, place: int, states: Array, before: Array, limits: bool
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
    name, at = model.chain.motors[k], plan.grid[place + first]
    return good[: first + 1], f"joint {name} reached its limit {allowed[k]} at t = {at:g} s"


def _sound(plan: Plan, place: int, states: Array, before: Array) -> tuple[Array, str]:
    """The states up to the first fault, and what it is."""
    n = plan.model.size
    with np.errstate(invalid="ignore"):
        bad = np.asarray(~(np.abs(states[:, : 2 * n]) < HUGE).all(axis=1))
    if plan.model.reading.deflection != "rotation":
        whole = states[~bad]
        lowest = np.linalg.eigvalsh(plan.model.mass_matrix(whole[:, :n]))[:, 0]
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
    if model.reading.deflection != "rotation":
        return (
            "the mass matrix turns indefinite at these deflections, as that of deflection "
            f"'{model.reading.deflection}' may; use deflection 'rotation'"
        )
    return "speeds grew beyond every bound; the inputs or the gains are too large, or dt is"


def _response(
    plan: Plan, states: Array, applied: Array | None, how: tuple[str, float, float], message: str
) -> Response:
    n, t = plan.model.size, plan.grid[: len(states)]
    states, z = np.split(states, [states.shape[1] - plan.memory], axis=1)
    q, qd = states[:, :n], states[:, n : 2 * n]
    beta = states[:, 2 * n + 1 :] if plan.model.reading.beta == "integrated" else None
    near = None if beta is not None or states.shape[1] == 2 * n + 1 else states[:, 2 * n + 1 :]
    if applied is not None:
        tau = applied
    elif isinstance(plan.controller, LinearController):
        r = plan.tau.value(t + 1e-12 * t[-1], 0)[:, : plan.model.joints]  # type: ignore[union-attr]
        tau = plan.controller.efforts_along(plan.model, (q, qd, z), r, near)
    elif plan.controller is not None:
        wanted = np.split(plan.tau.value(t + 1e-12 * t[-1], 0), 3, axis=1)  # type: ignore[union-attr]
        tau = plan.controller.efforts(plan.model, (q, qd), wanted, near)
    else:
        assert isinstance(plan.tau, Input)
        tau = plan.tau.value(t + 1e-12 * t[-1], plan.model.joints)
    method, step, energy = how
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
        near=near,
        notes={"vibration": energy},
    )
