"""What does it look like close by: a Model linearised at a state, as a StateSpace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.base import warn_near
from ...architectures.kinds import architecture_of
from ...arguments import as_list, brief, checked
from ...control.controllers import Controller
from ...control.sampled import Sampled
from ...equations.equilibrium import assembled_pose, standing, static_state
from ...equations.functions import slope_of
from ...equations.loaded import loaded_model
from ...equations.model import Model
from ...errors import SuppleError
from ...link_loads import PointLoad, unit_load
from ...outputs.kinds import Tip
from ...outputs.measuring import evaluator
from ...outputs.measuring import slopes as slopes_of
from ...outputs.output import Output
from ...outputs.sensor import Sensor
from .feedback_loop import closed_in_time, closed_over_samples, linear_law
from .state_space import StateSpace

__all__ = ["StateSpace", "linearize"]

Array = NDArray[np.float64]
TIP_LOADS = ("tip force", "tip moment")
INPUTS = ("tau", *TIP_LOADS, "reference")
WORDS = "joints, rates, tip, state or an output such as supple.Strain('link1', 0.0)"


@checked
def linearize(
    model: Model,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    outputs: Sequence[str | Output] = ("joints",),
    inputs: Sequence[str] | None = None,
    controller: Controller | Sampled | None = None,
) -> StateSpace:
    """Linear state-space model about a state, open loop or under a controller.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    q : array_like, optional
        State (size,) to linearise about. Default: zero, or the assembled and unbent pose of a
        mechanism. Joint coordinates alone, (joints,), mean the static deflection in that pose.
    qd : array_like, optional
        Velocities (size,). Default: zero.
    tau : array_like, optional
        Efforts (joints,), N m or N. Default: those that keep the joints from accelerating.
    outputs : sequence of str or Output
        ``"joints"``, ``"rates"`` (of the joints), ``"tip"`` (position), ``"state"``, or any Output.
        Under a controller also ``"efforts"``: what it commands. The bandwidth of a `Sensor` adds a
        state.
    inputs : sequence of str, optional
        ``"tau"``, ``"tip force"``, ``"tip moment"`` (base axes), ``"force.LINK@0.5.y"`` and
        ``"moment.LINK@0.5.z"`` (load on a section of a link, base axes) and, under a controller,
        ``"reference"``: the desired joint coordinates. Default: tau, or the reference under a
        controller. Efforts are then added to those of the controller.
    controller : Controller or Sampled, optional
        Close the loop with this controller, within its limits of effort. With states of its own
        (`lqg`, `h_infinity`) these follow those of the robot. In `Sampled`, or designed for a
        period, the answer is the exact model from sample to sample: delay, current loops and
        low-passed sensors are among its states, and loads on the tip are constant between samples.

    Returns
    -------
    StateSpace
        `A`, `B`, `C`, `D` and the names of states, inputs and outputs.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    >>> linear = supple.linearize(model)
    >>> linear.A.shape, linear.B.shape
    ((12, 12), (12, 2))
    >>> law = supple.lqg(model, [0, 0], period=2e-3, delay=1e-3)
    >>> loop = supple.linearize(model, [0, 0], controller=law)
    >>> loop.period, loop.stable
    (0.002, True)
    """
    state = assembled_pose(model) if q is None else _one_row("q", q)
    model = standing(model, state.ravel()[: model.joints])
    if q is not None and state.shape == (model.joints,) and model.joints != model.size:
        state = static_state(model, state)
    kind = architecture_of(model.robot)
    if not kind.open_chain:
        warn_near(model.robot, kind.resolve(state[: len(kind.drives)], None), 4)
    speed = np.zeros(model.size) if qd is None else _one_row("qd", qd)
    if tau is None:  # joints do not accelerate: qdd = a + P tau, so that tau = -P_jj^-1 a_j
        k = model.joints
        P = np.linalg.solve(model.mass_matrix(state), np.eye(model.size)[:, :k])
        effort = np.zeros(k)
        for _ in range(2):  # again for the digits that stiff links cost P
            effort -= np.linalg.solve(P[:k], model.forward_dynamics(state, speed, effort)[:k])
    else:
        effort = _one_row("tau", tau)
    requested_outputs = _as_list("outputs", outputs, str | Output, WORDS)
    requested_inputs = _inputs(inputs, controller)
    law = None if controller is None else linear_law(controller, model, state, speed)

    # Accelerations by state, velocity and every load: efforts first, then the other inputs
    loads = ["tau"]
    loads += [word for word in requested_inputs if word not in ("tau", "reference")]
    n = model.size
    at = (state, speed, effort)
    dq, dqd, dtau = model.derivatives(*at)
    dload = dtau
    loaded: dict[str, Model] = {}  # the Model under each unit load on a link
    if len(loads) > 1:
        by_wrench = slope_of(model.functions, "forward_dynamics_loaded", 3)
        by_force, by_moment = np.split(by_wrench(*at, np.zeros(6))[0], 2, axis=1)  # (N, 3) each
        columns_of_loads = [dtau]
        for word in loads[1:]:
            if word in TIP_LOADS:
                columns_of_loads.append(by_force if word == "tip force" else by_moment)
            else:
                loaded[word] = loaded_model(model, [_unit_load(model, word)])
                columns_of_loads.append(_by_unit_load(model, loaded[word], at))
        dload = np.hstack(columns_of_loads)

    # Requested outputs of the plant, then those that the law measures
    of_plant = [output for output in requested_outputs if not _is_efforts(output, law)]
    measured: list[Any] = []
    if law is not None:
        measured = ["state"] if law.measures is None else list(law.measures)
    all_outputs = [*of_plant, *measured]
    rows = [_rows(model, at, output, (dq, dqd, dload), loads, loaded) for output in all_outputs]
    C = np.vstack([row[0] for row in rows])
    D = np.vstack([row[1] for row in rows])
    A = np.block([[np.zeros((n, n)), np.eye(n)], [dq, dqd]])
    B = np.vstack([np.zeros_like(dload), dload])
    states = (*model.coordinates, *(f"d.{name}" for name in model.coordinates))
    entries = tuple(name for word in loads for name in _entries(model, word))
    names = tuple(name for row in rows for name in row[2])
    plant = StateSpace(A, B, C, D, states, entries, names, *at)

    # Low-pass filters of sensors are states; those read by a computer are states of its samples
    sampled = law is not None and law.computer is not None
    low_passed = [*of_plant, *(["state"] * len(measured) if sampled else measured)]
    plant = _add_sensor_states(plant, low_passed, [len(row[0]) for row in rows])
    count = sum(len(row[0]) for row in rows[: len(of_plant)])
    measured_rows = (plant.C[count:], plant.D[count:])
    found = replace(plant, C=plant.C[:count], D=plant.D[:count], outputs=plant.outputs[:count])
    if law is not None and sampled:
        found = closed_over_samples(found, measured_rows, law, model)
    elif law is not None:
        found = closed_in_time(found, measured_rows, law, model.chain.motors)

    # Inputs and outputs in the order of the request
    columns: list[int] = []
    for word in requested_inputs:
        columns += [found.inputs.index(name) for name in _entries(model, word)]
    lines: list[int] = []
    place = 0
    for output in requested_outputs:
        if _is_efforts(output, law):
            lines += range(count, count + model.joints)
        else:
            size = len(rows[of_plant.index(output)][0])
            lines += range(place, place + size)
            place += size
    return replace(
        found,
        B=found.B[:, columns],
        C=found.C[lines],
        D=found.D[np.ix_(lines, columns)],
        inputs=tuple(found.inputs[k] for k in columns),
        outputs=tuple(found.outputs[k] for k in lines),
    )


def _is_efforts(output: Any, law: Any) -> bool:
    """Whether an output is the word for the efforts of the law."""
    if not isinstance(output, str) or output != "efforts":
        return False
    if law is None:
        raise SuppleError("output 'efforts' is what a controller asks for: give controller=")
    return True


def _unit_load(model: Model, word: str) -> PointLoad:
    """The load that an input names, on a link that the model has."""
    load = unit_load(word)
    assert load is not None
    names = [link.name for link in model.chain.links]
    if load.link not in names:
        raise SuppleError(f"input is '{word}': the links are {', '.join(names)}")
    return load


def _by_unit_load(model: Model, loaded: Model, at: tuple[Array, Array, Array]) -> Array:
    """Accelerations (N, 1) by a unit load; forces are linear in it."""
    state, speed, _ = at
    without_load = model.inverse_dynamics(state, speed, 0 * state)
    with_load = loaded.inverse_dynamics(state, speed, 0 * state)
    force = without_load - with_load
    return np.asarray(np.linalg.solve(model.mass_matrix(state), force)[:, None])


def _as_list(name: str, given: Any, one: Any, words: str) -> list[Any]:
    found = [given] if isinstance(given, one) else as_list(name, given)
    if not found:
        raise SuppleError(f"{name} is empty: give {words}")
    return found


def _one_row(name: str, given: ArrayLike) -> Array:
    """Return one row of numbers, or raise where several are given."""
    array = np.asarray(given, float)
    if array.ndim != 1:
        raise SuppleError(
            f"{name} has the shape {array.shape}: a model is linearised about one state, give one "
            "row of numbers, and ask once for each of several"
        )
    return array


def _inputs(given: Any, controller: Any) -> list[str]:
    """The words of the inputs, checked."""
    if given is None:
        return ["tau"] if controller is None else ["reference"]
    allowed = INPUTS if controller is not None else INPUTS[:-1]
    found = _as_list("inputs", given, str, ", ".join(allowed))
    for word in found:
        if isinstance(word, str) and unit_load(word) is not None:
            continue
        if not isinstance(word, str) or word not in allowed:
            is_reference = isinstance(word, str) and word == "reference"
            hint = ": it needs a controller" if is_reference else ""
            raise SuppleError(
                f"input {brief(word)} is not known{hint}: give some of {', '.join(allowed)}, or a "
                "load on a section such as force.LINK@0.5.y"
            )
    if len(set(found)) < len(found):
        raise SuppleError(f"inputs {found} name one twice: name each once")
    return found


def _entries(model: Model, word: str) -> list[str]:
    """Names of the entries of an input."""
    if word in ("tau", "reference"):
        return [f"{word}.{name}" for name in model.chain.motors]
    if word not in TIP_LOADS:
        return [word]
    return [f"{word.removeprefix('tip ')}.{axis}" for axis in "xyz"]


def _rows(
    model: Model,
    at: tuple[Array, Array, Array],
    output: Any,
    slopes: tuple[Array, Array, Array],
    loads: list[str],
    loaded: dict[str, Model],
) -> tuple[Array, Array, list[str]]:
    """Rows of C and D of an output, and their names; `slopes` are qdd by q, qd and the loads.

    `loaded`: the model under each load on a link, which outputs such as Moment also feel directly.
    """
    n = model.size
    k = model.joints
    unit = np.eye(2 * n)
    names = model.chain.motors
    known = {
        "joints": (unit[:k], [f"theta.{name}" for name in names]),
        "rates": (unit[n : n + k], [f"d.theta.{name}" for name in names]),
        "state": (unit, [*model.coordinates, *(f"d.{name}" for name in model.coordinates)]),
    }
    if isinstance(output, str) and output in known:
        rows, words = known[output]
        return rows, np.zeros((len(rows), slopes[2].shape[1])), words
    output = Tip() if isinstance(output, str) and output == "tip" else output
    if not isinstance(output, Output):
        raise SuppleError(f"output {brief(output)} is not known: give {WORDS}")
    if not output.smooth:
        raise SuppleError(
            f"{type(output).__name__} has no slope at rest: linearize Strain or Moment instead"
        )
    by_q, by_qd, by_qdd, by_wrench = slopes_of(model, output, at)
    dq, dqd, push = slopes
    direct = by_qdd @ push
    place = k
    for word in loads[1:]:
        if word in TIP_LOADS:
            part = by_wrench[:, :3] if word == "tip force" else by_wrench[:, 3:]
        else:
            motion = (*at[:2], model.forward_dynamics(*at), np.zeros(6))
            without, under = (evaluator(each, output)(*motion)[0] for each in (model, loaded[word]))
            part = (under - without).reshape(-1, 1)
        direct[:, place : place + part.shape[1]] += part
        place += part.shape[1]
    return np.hstack([by_q + by_qdd @ dq, by_qd + by_qdd @ dqd]), direct, output.names(model)


def _add_sensor_states(found: StateSpace, outputs: list[Any], counts: list[int]) -> StateSpace:
    """The same with a state for each value of a Sensor with bandwidth: x' = c (y - x)."""
    corners = np.zeros(len(found.C))
    row = 0
    for output, count in zip(outputs, counts, strict=True):
        if isinstance(output, Sensor):
            if output.delay:
                raise SuppleError(
                    "a Sensor with delay is not linearised: leave the delay out, or give it to "
                    "Sampled, whose sampled model has it exactly"
                )
            corners[row : row + count] = 2 * np.pi * (output.bandwidth or 0.0)
        row += count
    at = np.flatnonzero(corners)
    if not len(at):
        return found
    c = corners[at]
    n = len(found.A)
    m = len(at)
    C = np.hstack([found.C, np.zeros((len(found.C), m))])
    D = found.D.copy()
    C[at] = np.hstack([np.zeros((m, n)), np.eye(m)])
    D[at] = 0.0
    return replace(
        found,
        A=np.block([[found.A, np.zeros((n, m))], [c[:, None] * found.C[at], -np.diag(c)]]),
        B=np.vstack([found.B, c[:, None] * found.D[at]]),
        C=C,
        D=D,
        states=(*found.states, *(f"sensor.{found.outputs[k]}" for k in at)),
    )
