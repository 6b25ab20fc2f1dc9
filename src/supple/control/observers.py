"""Observers and the regulators that use them: Kalman's filter, LQG, integral action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import Immutable
from ..arguments import checked, number, reals
from ..equations.model import Model
from ..errors import SuppleError
from ..outputs.output import Output
from .controllers import Weight
from .discrete import discretise_zero_order_hold
from .linear import LinearController
from .plant import Plant, as_measures, plant, riccati, weight

__all__ = ["Observer", "lqg", "observer"]

Array = NDArray[np.float64]
TRACKING = 3.0  # times as fast as they act are integrals led back where an effort is cut off


@dataclass(frozen=True, eq=False)
class Observer(Immutable):
    """Steady-state Kalman filter of a model about rest.

    From `supple.observer`.

    Attributes
    ----------
    A, B, C, D : ndarray
        Linear model; all quantities are deviations from rest.
    gain : ndarray
        Filter gain (states, outputs).
    covariance : ndarray
        Covariance of the error of [q, qd] after a sample, (2 N, 2 N).
    plant : Plant
        The system of the design.
    period : float or None
        Sampling period, s.
    delay : float
        Delay of the efforts, s.

    Notes
    -----
    In continuous time xh' = A xh + B tau + gain (y - C xh - D tau). From sample to sample
    xh_(k|k) = xh_(k|k-1) + gain (y_k - C xh_(k|k-1)) and xh_(k+1|k) = A xh_(k|k) + B tau_k, with
    delayed efforts among the states.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    gain: Array
    covariance: Array
    plant: Plant
    period: float | None = None
    delay: float = 0.0

    checks: ClassVar = dict.fromkeys(("A", "B", "C", "D", "gain", "covariance"), reals)

    def estimate(self, tau: ArrayLike, y: ArrayLike) -> Array:
        """Return [q, qd] (n, 2 N) from efforts commanded (n, joints) and outputs (n, outputs).

        Rows are samples, one period apart; the filter starts at rest.
        """
        if self.period is None:
            raise SuppleError("this Observer is continuous: give observer(.., period=) to estimate")
        commands = reals("tau", tau)
        measured = reals("y", y)
        if measured.ndim != 2 or measured.shape[1] != len(self.C):
            raise SuppleError(f"y has shape {measured.shape}: give a row of {len(self.C)} a sample")
        if commands.shape != (len(measured), self.B.shape[1]):
            raise SuppleError(
                f"tau has shape {commands.shape}: give ({len(measured)}, {self.B.shape[1]})"
            )
        z = np.zeros(len(self.A))
        rows = []
        at = self.plant
        for u, seen in zip(commands - at.tau, measured - at.y, strict=True):
            z = z + self.gain @ (seen - self.C @ z)
            rows.append(z[: len(at.A)])
            z = self.A @ z + self.B @ u
        found: Array = np.array(rows) + np.concatenate([at.q, np.zeros_like(at.q)])
        return found


Period = Annotated[float, number(1e-7, 10.0, give="seconds between two samples, 1e-7 to 10")]
Delay = Annotated[float, number(0, 100.0, give="seconds of delay, 0 to 100")]


@checked
def observer(
    model: Model,
    theta: ArrayLike,
    measures: Sequence[Output] | None = None,
    effort_noise: Weight = 1.0,
    measurement_noise: Weight = 1e-3,
    period: Period | None = None,
    delay: Delay = 0.0,
) -> Observer:
    """Steady-state Kalman filter of a model about rest at a pose.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    theta : array_like
        Joint coordinates (joints,) of the operating point, rad or m.
    measures : sequence of Output, optional
        Measured outputs. Default: an encoder on every joint.
    effort_noise, measurement_noise : array_like
        Standard deviations, one value or one each, of disturbances that act like efforts and of the
        outputs: per sample with a `period`, else of white noise per root of a second.
    period : float, optional
        Sampling period, s. Default: continuous time.
    delay : float
        Delay of the efforts, s, as in `Sampled`.

    Returns
    -------
    Observer

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> supple.observer(model, [0, 0]).gain.shape
    (8, 2)
    """
    at = plant(model, theta, as_measures(measures, model))
    W = weight("effort_noise", effort_noise, model.joints) ** 2
    V = weight("measurement_noise", measurement_noise, len(at.C)) ** 2
    _regular("measurement_noise", V)
    if period is None:
        if delay:
            raise SuppleError(
                "delay goes with period, a continuous observer has none: give period=1e-3 too, or "
                "leave delay out"
            )
        S = at.B @ W @ at.D.T
        P = riccati(at.A.T, at.C.T, at.B @ W @ at.B.T, at.D @ W @ at.D.T + V, S, "observer")
        L = np.linalg.solve(at.D @ W @ at.D.T + V, (P @ at.C.T + S).T).T
        return Observer(at.A, at.B, at.C, at.D, np.asarray(L, float), P, at)
    if delay > 100 * period:
        raise SuppleError(f"delay is {delay:g} s, more than 100 periods of {period:g} s: give less")
    Phi, Gamma, depth = discretise_zero_order_hold(at.A, at.B, period, delay)
    n, m = at.B.shape
    C = np.hstack([at.C, np.zeros((len(at.C), (depth - 1) * m)), at.D])
    Q = Gamma @ W @ Gamma.T
    P = riccati(Phi.T, C.T, Q, V, None, "observer", True)
    M = np.linalg.solve(C @ P @ C.T + V, C @ P).T
    after = (P - M @ C @ P)[:n, :n]
    return Observer(Phi, Gamma, C, np.zeros((len(C), m)), M, after, at, period, delay)


@checked
def lqg(
    model: Model,
    theta: ArrayLike,
    measures: Sequence[Output] | None = None,
    *,
    state_weight: Weight = 1.0,
    effort_weight: Weight = 1.0,
    effort_noise: Weight = 1.0,
    measurement_noise: Weight = 1e-3,
    integral: Annotated[float, number(0, 1e9, give="a weight from 0 to 1e9")] = 0.0,
    period: Period | None = None,
    delay: Delay = 0.0,
) -> LinearController:
    """Linear-quadratic regulator on the estimate of a Kalman filter, about rest at a pose.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    theta : array_like
        Joint coordinates (joints,) of the operating point, rad or m.
    measures : sequence of Output, optional
        Measured outputs. Default: an encoder on every joint.
    state_weight, effort_weight : array_like
        Weights of [q, qd] and of tau: one value, the diagonal, or the matrix.
    effort_noise, measurement_noise : array_like
        As for `observer`.
    integral : float
        Weight of the integral of each joint's error. If positive, the joints reach their reference
        under any constant disturbance.
    period : float, optional
        Sampling period, s. The design is then exact for efforts that are constant between samples:
        run it in `Sampled` with the same period and delay. Default: continuous time.
    delay : float
        Delay of the efforts, s.

    Returns
    -------
    LinearController
        Where `Sampled` saturates the efforts, observer and integrals take this into account, so
        that nothing winds up.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> law = supple.lqg(model, [0, 0], period=0.005)
    >>> law.C.shape[0]
    2
    """
    outputs = as_measures(measures, model)
    joints = None
    if integral:  # (joints, outputs): which outputs are the joints themselves
        names = [name for output in outputs for name in output.names(model)]
        wanted = [f"encoder.{name}" for name in model.chain.motors]
        for name in wanted:
            if name not in names:
                raise SuppleError(
                    f"integral action needs an Encoder on every joint: {name} is not among measures"
                )
        joints = np.array([[float(name == given) for given in names] for name in wanted])
    seen = observer(
        model, theta, outputs, effort_noise, measurement_noise, period=period, delay=delay
    )
    n = 2 * model.size
    k = model.joints
    A = seen.A
    B = seen.B
    s = len(seen.A)
    Q = np.zeros((s + k, s + k))
    Q[:n, :n] = weight("state_weight", state_weight, n)
    R = weight("effort_weight", effort_weight, k)
    _regular("effort_weight", R)
    Q[s:, s:] = integral**2 * np.eye(k)
    E = np.eye(k, s)  # the joints' part of the state
    more = k if integral else 0
    if period is None:
        Aw = np.block([[A, np.zeros((s, k))], [E, np.zeros((k, k))]])
    else:
        Aw = np.block([[A, np.zeros((s, k))], [period * E, np.eye(k)]])
    Bw = np.vstack([B, np.zeros((k, k))])
    used = s + more
    Aw = Aw[:used, :used]
    Bw = Bw[:used]
    Q = Q[:used, :used]
    if period is None:
        X = riccati(Aw, Bw, Q, R, None, "regulator")
        K = np.linalg.solve(R, Bw.T @ X)
    else:
        X = riccati(Aw, Bw, Q, R, None, "regulator", True)
        K = np.linalg.solve(R + Bw.T @ X @ Bw, Bw.T @ X @ Aw)
    joints = np.zeros((0, len(seen.C))) if joints is None else joints
    return _join_observer_and_gain(seen, np.asarray(K[:, :s]), np.asarray(K[:, s:]), joints, period)


def _join_observer_and_gain(
    seen: Observer, K: Array, Ki: Array, joints: Array, period: float | None
) -> LinearController:
    """The law u = F r - K xh - Ki xi on an observer; xi' = theta - r as encoders show it."""
    plant_at_rest = seen.plant
    states = len(seen.A)
    efforts = seen.B.shape[1]
    integrals = Ki.shape[1]
    L = seen.gain

    # At rest under a reference, efforts that are still on their way through the delay are at rest
    delayed = (states - len(plant_at_rest.X)) // efforts
    rest = np.vstack([plant_at_rest.X, np.tile(plant_at_rest.U, (delayed, 1))])
    F = plant_at_rest.U + K @ rest

    # The estimate is xh = look x + direct y; the observer runs as x' = inner x + own u + feed y
    if period is None:
        look = np.eye(states)
        direct = np.zeros_like(L)
        inner = seen.A - L @ seen.C
        own = seen.B - L @ seen.D
        feed = L
        step = 1.0
        feedthrough = 0.0
    else:
        look = np.eye(states) - L @ seen.C
        direct = L
        inner = seen.A @ look
        own = seen.B
        feed = seen.A @ L
        step = period
        feedthrough = 1.0

    # States of the controller: those of the observer, then the integrals; inputs: y, then r
    C = np.hstack([-K @ look, -Ki])
    D = np.hstack([-K @ direct, F])
    A = np.block(
        [
            [inner, np.zeros((states, integrals))],
            [np.zeros((integrals, states)), feedthrough * np.eye(integrals)],
        ]
    )
    B = np.block(
        [
            [feed, np.zeros((states, efforts))],
            [step * joints, -step * np.eye(efforts)[:integrals]],
        ]
    )
    A[:states] += own @ C
    B[:states] += own @ D
    law = LinearController.about(plant_at_rest, A, B, C, D, period)

    # Where an effort is cut off at its limit the observer is given the effort that acts, not the
    # one that was wanted, and the integrals return to values for which the law asks for just that,
    # within a part of their reset time
    anti_windup = np.vstack([own, np.zeros((integrals, efforts))])
    if integrals:
        reset_time = float(np.linalg.norm(K[:, :efforts]) / np.linalg.norm(Ki))  # s
        rate_back = TRACKING / reset_time
        share = rate_back if period is None else min(1.0, rate_back * period)
        anti_windup[states:] = -share * np.linalg.pinv(Ki)
    delay = None if period is None else seen.delay
    return replace(law, anti_windup=anti_windup, delay=delay)


def _regular(name: str, matrix: Array) -> None:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise SuppleError(f"{name} must be positive: every entry counts") from None
