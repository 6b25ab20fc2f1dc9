"""Plant: a Model at rest as the linear system that controllers are designed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import listed, reals, shown
from ..equations.equilibrium import static_state
from ..equations.model import Model
from ..errors import SuppleError
from ..outputs.measuring import evaluator, slopes
from ..outputs.output import Output

__all__ = ["Plant", "as_measures", "plant", "weight"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Plant:
    """x' = A x + B tau, y = C x + D tau about rest, x = [q, qd], all as deviations.

    Attributes:
        q, tau, y: where it rests.  X, U: state and effort at rest for each reference of the
        joints, (2 N, joints) and (joints, joints).  measures: the outputs y.
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
    found = [given] if isinstance(given, Output) else listed("measures", given)
    for output in found:
        if not isinstance(output, Output):
            raise SuppleError(
                f"measures holds {shown(output)}: give outputs, such as supple.Encoder('link1')"
            )
        output.check(model)
        if not output.smooth:
            raise SuppleError(f"{type(output).__name__} has no slope: measure Strain or Moment")
    if not found:
        raise SuppleError("measures is empty: give outputs, such as supple.Encoder('link1')")
    return tuple(found)


def plant(model: Model, theta: ArrayLike, measures: Sequence[Output]) -> Plant:
    """Return a model at rest at theta, bent by its weight, with what is measured of it."""
    if not model.joints:
        raise SuppleError(
            f"{model.robot.name} has no joint that moves: there is nothing to control"
        )
    q = static_state(model, theta)
    n, k, still = model.size, model.joints, np.zeros(model.size)
    tau = model.inverse_dynamics(q, still, still)[:k]
    dq, dqd, dtau = model.derivatives(q, still, tau)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [dq, dqd]])
    B = np.vstack([np.zeros((n, k)), dtau])
    C, D, y = [], [], []
    for output in measures:
        by_q, by_qd, by_qdd, _ = slopes(model, output, (q, still, tau))
        C.append(np.hstack([by_q + by_qdd @ dq, by_qd + by_qdd @ dqd]))
        D.append(by_qdd @ dtau)
        y.append(evaluator(model, output)(q, still, still, np.zeros(6))[0])
    # rest at another reference: dq q + dtau u = 0 with theta = r
    unknown = np.hstack([dq[:, k:], dtau])
    found = np.linalg.solve(unknown, -dq[:, :k])
    X = np.vstack([np.eye(k), found[: n - k], np.zeros((n, k))])
    rest = (X, np.asarray(found[n - k :], float), q, tau, np.concatenate(y))
    return Plant(A, B, np.vstack(C), np.vstack(D), *rest, tuple(measures))


def weight(name: str, given: ArrayLike, size: int) -> Array:
    """Return a weight or covariance as a matrix: one value, the diagonal, or the whole."""
    value = reals(name, given)
    if value.shape not in ((), (size,), (size, size)) or not np.isfinite(value).all():
        raise SuppleError(f"{name} has shape {value.shape}: give one value, {size}, or a matrix")
    return np.diag(np.broadcast_to(value, (size,))) if value.ndim < 2 else value
