"""A control law closed around a linear plant, in continuous time or from sample to sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import brief
from ...control.controllers import Controller
from ...control.discrete import discretise_zero_order_hold
from ...control.linear import LinearController
from ...control.sampled import Sampled
from ...equations.evaluate import Evaluator, slope
from ...equations.model import Model
from ...errors import SuppleError
from ...outputs.output import Output
from ...outputs.sensor import Sensor
from .state_space import StateSpace

__all__ = ["LinearLaw", "closed_in_time", "closed_over_samples", "linear_law"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinearLaw:
    """A law close to a state, z' = A z + By y + Br r and u = C z + Dy y + Dr r.

    Where a computer runs it, the first equation gives z at the next sample.

    Attributes
    ----------
    A, By, Br, C, Dy, Dr : ndarray
        Matrices of its states z, of what it measures y and of the desired joint coordinates r.
    measures : tuple of Output or None
        What it measures; None: the whole state [q, qd].
    computer : Sampled or None
        Period, delay and lag with which it runs; None in continuous time.
    """

    A: Array
    By: Array
    Br: Array
    C: Array
    Dy: Array
    Dr: Array
    measures: tuple[Output, ...] | None
    computer: Sampled | None


def linear_law(controller: Any, model: Model, q: Array, qd: Array) -> LinearLaw:
    """Return a controller linearised at a state, within its limits."""
    computer = controller if isinstance(controller, Sampled) else None
    law: Any = controller.law if isinstance(controller, Sampled) else controller
    if computer is not None and not isinstance(law, Controller):
        raise SuppleError(
            f"the law of Sampled is {brief(law)}, a function whose slopes are not known: give a "
            "Controller, such as supple.JointPD(100, 10) or supple.lqg(model, theta)"
        )
    if not isinstance(law, Controller):
        raise SuppleError(
            f"controller is {brief(law)}: give a Controller, such as supple.JointPD(100, 10), "
            "alone or in supple.Sampled"
        )
    joints = model.joints
    if isinstance(law, LinearController):
        law.check(model)
        if computer is None and law.period is not None:
            computer = Sampled(law, law.period, law.delay or 0.0)
        if computer is not None:
            computer.check(model)
            law = law.sampled(computer.period)
        By, Br = np.split(law.B, [law.B.shape[1] - joints], axis=1)
        Dy, Dr = np.split(law.D, [law.D.shape[1] - joints], axis=1)
        return LinearLaw(law.A, By, Br, law.C, Dy, Dr, law.measures, computer)

    # A law without states: its slopes by q, qd and the desired joint coordinates
    if computer is not None:
        computer.check(model)
    function = law.function(model)
    slopes: list[Evaluator] = model.functions.cached(
        ("slopes of law", law), lambda: [Evaluator(slope(function, i), True) for i in range(3)]
    )
    at = (q, qd, q[:joints], qd[:joints], np.zeros(joints))
    by_q, by_qd, by_r = (each(*at)[0] for each in slopes)
    none = np.zeros((0, 0))
    states = 2 * model.size
    return LinearLaw(
        none,
        np.zeros((0, states)),
        np.zeros((0, joints)),
        np.zeros((joints, 0)),
        np.hstack([by_q, by_qd]),
        by_r,
        None,
        computer,
    )


def closed_in_time(
    plant: StateSpace, seen: tuple[Array, Array], law: LinearLaw, joints: Sequence[str]
) -> StateSpace:
    """Return a plant under a continuous law.

    The first inputs of the plant are the joint efforts; `seen` are C and D of what the law
    measures. Efforts given as input are added to those of the law; the last outputs are the efforts
    of the law, without these.
    """
    k = len(joints)
    C_seen, D_seen = seen
    if np.abs(law.Dy @ D_seen[:, :k]).max(initial=0.0) > 0:
        raise SuppleError(
            "this law answers to a measured acceleration at once, and the acceleration to the "
            "effort: run it in supple.Sampled, or filter the acceleration"
        )
    # u = C_u [x, z] + D_u [d, w, r], d efforts added to the law, w loads on the tip
    loads = plant.B.shape[1] - k
    no_effort = np.zeros((k, k))
    C_law = np.hstack([law.Dy @ C_seen, law.C])
    D_law = np.hstack([no_effort, law.Dy @ D_seen[:, k:], law.Dr])
    C_u = C_law
    D_u = D_law + np.hstack([np.eye(k), np.zeros((k, loads + k))])

    # Plant and law side by side, driven by u and the loads
    own = len(law.A)
    A_plant = np.hstack([plant.A, np.zeros((len(plant.A), own))])
    A_law = np.hstack([law.By @ C_seen, law.A])
    A = np.vstack([A_plant, A_law])
    B_u = np.vstack([plant.B[:, :k], law.By @ D_seen[:, :k]])
    B_loads = np.vstack([plant.B[:, k:], law.By @ D_seen[:, k:]])
    B_reference = np.vstack([np.zeros((len(plant.A), k)), law.Br])
    B = np.hstack([np.zeros((len(A), k)), B_loads, B_reference])
    C = np.hstack([plant.C, np.zeros((len(plant.C), own))])
    D = np.hstack([np.zeros((len(C), k)), plant.D[:, k:], np.zeros((len(C), k))])
    C_all = np.vstack([C + plant.D[:, :k] @ C_u, C_law])
    D_all = np.vstack([D + plant.D[:, :k] @ D_u, D_law])
    return replace(
        plant,
        A=A + B_u @ C_u,
        B=B + B_u @ D_u,
        C=C_all,
        D=D_all,
        states=(*plant.states, *(f"law.{i + 1}" for i in range(own))),
        inputs=(*plant.inputs, *(f"reference.{name}" for name in joints)),
        outputs=(*plant.outputs, *(f"effort.{name}" for name in joints)),
    )


def closed_over_samples(
    plant: StateSpace,
    seen: tuple[Array, Array],
    law: LinearLaw,
    model: Model,
) -> StateSpace:
    """Return a plant under a law that a computer runs, from sample to sample, exactly.

    At a sample the law reads what it measures, while the last effort that has arrived still acts;
    its own acts from the delay on until the next one. Loads are constant between samples.
    """
    assert law.computer is not None
    computer = law.computer
    joints = tuple(model.chain.motors)
    k = len(joints)
    period = computer.period
    n = len(plant.A)
    rows = len(plant.C)
    C = np.vstack([plant.C, seen[0]])
    D = np.vstack([plant.D, seen[1]])

    # Current loops: lag dtau/dt = command - tau, a state for each joint that has one
    A = plant.A
    B_u = plant.B[:, :k]
    B_w = plant.B[:, k:]
    D_u = D[:, :k]
    D_w = D[:, k:]
    lag = computer.by_joint("lag", model)
    slow = np.flatnonzero(np.zeros(k) if lag is None else lag)
    lags = np.zeros(len(slow)) if lag is None else lag[slow]
    motors = len(slow)
    through = np.diag([0.0 if i in slow else 1.0 for i in range(k)])
    A = np.block([[A, B_u[:, slow]], [np.zeros((motors, n)), -np.diag(1 / lags)]])
    B_u = np.vstack([B_u @ through, np.eye(k)[slow] / lags[:, None]])
    B_w = np.vstack([B_w, np.zeros((motors, B_w.shape[1]))])
    C = np.hstack([C, D_u[:, slow]])
    D_u = D_u @ through

    # From sample to sample, with the efforts that are under way among the states
    Phi, Gamma, depth = discretise_zero_order_hold(A, B_u, period, computer.delay)
    loaded = (
        discretise_zero_order_hold(A, B_w, period)[1] if B_w.shape[1] else np.zeros((len(A), 0))
    )
    by_load = np.zeros((len(Phi), B_w.shape[1]))
    by_load[: len(A)] = loaded[: len(A)]
    C = np.hstack([C, np.zeros((len(C), (depth - 1) * k)), D_u])
    C_out = C[:rows]
    C_seen = C[rows:]
    D_out = D_w[:rows]
    D_seen = D_w[rows:]

    # A sensor's low-pass runs at the samples: s = left s_before + (1 - left) y
    left = _low_pass(law, model, period)
    filtered = np.flatnonzero(left)
    f = len(filtered)
    pick = np.eye(len(C_seen))[filtered]  # (f, measured)
    share = np.diag(1 - left)
    seen_by_state = share @ C_seen
    seen_by_load = share @ D_seen
    seen_by_filter = pick.T * left[None, filtered] if f else np.zeros((len(C_seen), 0))

    # The states are [plant and efforts under way, law, filters]
    own = len(law.A)
    C_law = np.hstack([law.Dy @ seen_by_state, law.C, law.Dy @ seen_by_filter])
    D_law = np.hstack([np.zeros((k, k)), law.Dy @ seen_by_load, law.Dr])
    added = np.hstack([np.eye(k), np.zeros((k, B_w.shape[1] + k))])  # efforts given as input
    p = len(Phi)
    A_all = np.zeros((p + own + f, p + own + f))
    A_all[:p, :p] = Phi
    A_all[:p] += Gamma @ C_law
    A_all[p : p + own] = np.hstack([law.By @ seen_by_state, law.A, law.By @ seen_by_filter])
    A_all[p + own :] = np.hstack([pick @ seen_by_state, np.zeros((f, own)), pick @ seen_by_filter])
    nothing = np.zeros((p, k))
    B_all = np.vstack(
        [
            np.hstack([nothing, by_load, nothing]) + Gamma @ (D_law + added),
            np.hstack([np.zeros((own, k)), law.By @ seen_by_load, law.Br]),
            np.hstack([np.zeros((f, k)), pick @ seen_by_load, np.zeros((f, k))]),
        ]
    )
    C_all = np.vstack([np.hstack([C_out, np.zeros((rows, own + f))]), C_law])
    D_all = np.vstack([np.hstack([np.zeros((rows, k)), D_out, np.zeros((rows, k))]), D_law])
    under_way = [f"effort.{name}.{age + 1}" for age in range(depth) for name in joints]
    return replace(
        plant,
        A=A_all,
        B=B_all,
        C=C_all,
        D=D_all,
        states=(
            *plant.states,
            *(f"motor.{joints[i]}" for i in slow),
            *under_way,
            *(f"law.{i + 1}" for i in range(own)),
            *(f"filter.{i + 1}" for i in filtered),
        ),
        inputs=(*plant.inputs, *(f"reference.{name}" for name in joints)),
        outputs=(*plant.outputs, *(f"effort.{name}" for name in joints)),
        period=period,
    )


def _low_pass(law: LinearLaw, model: Model, period: float) -> Array:
    """Return what a period leaves of the last value of each measured quantity, zero: nothing."""
    if law.measures is None:
        return np.zeros(2 * model.size)
    left: list[float] = []
    for output in law.measures:
        each = 0.0
        if isinstance(output, Sensor) and output.bandwidth is not None:
            each = float(np.exp(-2 * np.pi * output.bandwidth * period))
        left += [each] * len(output.names(model))
    return np.array(left)
