"""Plant: a Model at rest as the linear system that controllers are designed on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import as_list, brief, reals
from ..equations.equilibrium import standing, static_state
from ..equations.model import Model
from ..errors import SuppleError
from ..outputs.measuring import evaluator, slopes
from ..outputs.output import Output

__all__ = [
    "Plant",
    "as_measures",
    "at_rest",
    "plant",
    "riccati",
    "solve_riccati_by_doubling",
    "weight",
]

Array = NDArray[np.float64]
ROUNDING = 1e-12  # of the fastest pole: what is damped less than this is not damped


@dataclass(frozen=True)
class Plant:
    """x' = A x + B tau, y = C x + D tau about rest, x = [q, qd], all as deviations.

    Attributes
    ----------
    q, tau, y
        Where it rests.
    X, U
        State and effort at rest for each reference of the joints, (2 N, joints) and (joints,
        joints).
    measures
        The outputs y.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    X: Array
    U: Array
    q: Array
    tau: Array
    y: Array
    measures: tuple[Output, ...]


def as_measures(given: Any, model: Model) -> tuple[Output, ...]:
    """Return what is measured as a tuple, checked; None: every joint by an encoder."""
    if given is None:
        from ..outputs.kinds import Encoder

        return tuple(Encoder(name) for name in model.chain.motors)
    found = [given] if isinstance(given, Output) else as_list("measures", given)
    for output in found:
        if not isinstance(output, Output):
            raise SuppleError(
                f"measures holds {brief(output)}: give outputs, such as supple.Encoder('link1')"
            )
        output.check(model)
        if not output.smooth:
            raise SuppleError(f"{type(output).__name__} has no slope: measure Strain or Moment")
    if not found:
        raise SuppleError("measures is empty: give outputs, such as supple.Encoder('link1')")
    return tuple(found)


def at_rest(model: Model, theta: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Return q and tau of a model at rest at theta, bent by its weight, and A and B there."""
    if not model.joints:
        raise SuppleError(
            f"{model.robot.name} has no joint that moves: there is nothing to control"
        )
    model = standing(model, theta)
    q = static_state(model, theta)
    n = model.size
    k = model.joints
    zeros = np.zeros(model.size)
    tau = model.inverse_dynamics(q, zeros, zeros)[:k]
    dq, dqd, dtau = model.derivatives(q, zeros, tau)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [dq, dqd]])
    return q, tau, A, np.vstack([np.zeros((n, k)), dtau])


def plant(model: Model, theta: ArrayLike, measures: Sequence[Output]) -> Plant:
    """Return a model at rest at theta with what is measured of it."""
    model = standing(model, theta)
    q, tau, A, B = at_rest(model, theta)
    size = model.size
    joints = model.joints
    zero_rates = np.zeros(size)

    # Accelerations by coordinates, speeds and efforts
    dq, dqd = np.hsplit(A[size:], 2)
    dtau = B[size:]

    # Outputs: qdd is replaced by what it is under these states and efforts
    C = []
    D = []
    outputs_at_rest = []
    for output in measures:
        by_q, by_qd, by_qdd, _ = slopes(model, output, (q, zero_rates, tau))
        C.append(np.hstack([by_q + by_qdd @ dq, by_qd + by_qdd @ dqd]))
        D.append(by_qdd @ dtau)
        evaluate_output = evaluator(model, output)
        outputs_at_rest.append(evaluate_output(q, zero_rates, zero_rates, np.zeros(6))[0])

    # Rest at another reference r: dq q + dtau u = 0 with theta = r, for elastic q and u
    unknown = np.hstack([dq[:, joints:], dtau])
    solution = np.linalg.solve(unknown, -dq[:, :joints])
    elastic = solution[: size - joints]
    efforts = np.asarray(solution[size - joints :], float)
    state_at_rest = np.vstack([np.eye(joints), elastic, np.zeros((size, joints))])
    return Plant(
        A,
        B,
        np.vstack(C),
        np.vstack(D),
        state_at_rest,
        efforts,
        q,
        tau,
        np.concatenate(outputs_at_rest),
        tuple(measures),
    )


def weight(name: str, given: ArrayLike, size: int) -> Array:
    """Return a weight or covariance as a matrix: one value, the diagonal, or the whole."""
    value = reals(name, given)
    forms = f"one value, a list of {size} (the diagonal), or a matrix ({size}, {size})"
    if value.shape not in ((), (size,), (size, size)):
        raise SuppleError(f"{name} has shape {value.shape}: give {forms}")
    if not np.isfinite(value).all():
        raise SuppleError(f"{name} is {brief(given)}: give finite numbers, {forms}")
    diagonal = np.diagonal(value) if value.ndim == 2 else value
    if (diagonal < 0).any():
        raise SuppleError(f"{name} holds {diagonal.min():g}: give numbers that are not negative")
    return np.diag(np.broadcast_to(value, (size,))) if value.ndim < 2 else value


def riccati(
    A: Array, B: Array, Q: Array, R: Array, S: Array | None, what: str, sampled: bool = False
) -> Array:
    """Return the solution of Riccati's equation, or say in a sentence that `what` has none.

    SciPy's loses digits where modes are fast and hardly damped (1e-6 of a gain of a Delta); two of
    Newton's steps, A_c' D + D A_c = -residual, bring them back. Source: [Kleinman1968].
    """
    from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov

    try:
        if sampled:
            return solve_riccati_by_doubling(A, B, Q, R)
        try:
            X = np.asarray(solve_continuous_are(A, B, Q, R, s=S), float)
        except ValueError:  # its balanced pencil cannot always be sorted where the plain one can
            X = np.asarray(solve_continuous_are(A, B, Q, R, s=S, balanced=False), float)
        last = np.inf
        found = X
        for _ in range(3):
            F = X @ B if S is None else X @ B + S
            K = np.linalg.solve(R, F.T)
            left = F @ K - Q - A.T @ X - X @ A
            if not np.abs(left).max() < last:  # no better: modes that nothing damps, or rounding
                break
            found = X
            last = float(np.abs(left).max())
            with warnings.catch_warnings():  # of poles near the axis, where a step may not help
                warnings.simplefilter("ignore", RuntimeWarning)
                more = solve_continuous_lyapunov((A - B @ K).T, left)
            X = X + (more + more.T) / 2
        F = found @ B if S is None else found @ B + S
        poles = np.linalg.eigvals(A - B @ np.linalg.solve(R, F.T))
        if poles.real.max() <= -ROUNDING * np.abs(poles).max():
            return found
    except (np.linalg.LinAlgError, ValueError):
        pass
    raise SuppleError(f"no {what} with these weights: {_left_out(A, B, Q, what, sampled)}")


def _left_out(A: Array, B: Array, Q: Array, what: str, sampled: bool) -> str:
    """The slowest motion that nothing damps and that B or Q leaves out, in words (Hautus)."""
    words = ("measured", "moved by the noise of the efforts", "measure every joint")
    if what != "observer":
        words = ("moved by the motors", "weighed", "weigh every joint")
    if not all(np.isfinite(np.abs(X).sum()) for X in (A, B, Q)):
        return "they are too large to compute with; give others"
    values = np.linalg.eigvals(A)
    rates = np.log(values.astype(complex) + 1e-300) if sampled else values
    for s, rate in sorted(zip(values, rates, strict=True), key=lambda pair: abs(pair[1])):
        if rate.real < -1e-9 * abs(rate):
            continue
        for X, Y, word in ((A, B, words[0]), (A.T, Q, words[1])):
            size = np.abs(X).max() / max(np.abs(Y).max(), 1e-300)
            rows = np.hstack([X - s * np.eye(len(A)), Y * size])
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
            if np.linalg.svd(rows, compute_uv=False)[-1] < 1e-9:
                how = "a motion that nothing holds"
                if not sampled and abs(s) > 1e-3:
                    how = f"a vibration at {abs(s) / (2 * np.pi):.4g} Hz that nothing damps"
                return f"{how} is not {word}; {words[2]}, or build the Model with damping=0.01"
    return f"its motions cannot be told apart to rounding; {words[2]}, or give other weights"


def solve_riccati_by_doubling(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return X = A' X (1 + B R^-1 B' X)^-1 A + Q, by doubling the number of samples.

    It does not mind a singular A, as that of efforts under way is.

    A(2m) = A (1 + G H)^-1 A and so on carry m samples to 2 m: the structure-preserving doubling
    algorithm.
    """
    G = B @ np.linalg.solve(R, B.T)
    H = Q
    eye = np.eye(len(A))
    for _ in range(60):
        W = np.linalg.solve(eye + G @ H, A)
        V = np.linalg.solve(eye + G @ H, G)
        A, G, more = A @ W, G + A @ V @ A.T, A.T @ H @ W
        H = H + (more + more.T) / 2
        if not np.isfinite(H).all():
            break
        if np.abs(more).max() <= 1e-15 * np.abs(H).max():
            return H
    raise ValueError("what is seen or driven does not settle")
