"""Rest: the state of a Model that stands still under gravity with its joints held."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from .chains.chain import check_lengths
from .evaluate import Evaluator, slope
from .model import Model

__all__ = ["static_state", "stiffness_at", "total_stiffness"]

Array = NDArray[np.float64]


def static_state(model: Model, theta0: ArrayLike | None = None) -> Array:
    """Return q at rest under gravity with the joints held at theta0: dV/dq = 0 beyond theta."""
    k, n = model.joints, model.size
    at = None
    if theta0 is not None:
        try:
            at = np.asarray(theta0, float)
        except (TypeError, ValueError):
            raise SuppleError("theta0 is not an array of numbers") from None
        if at.shape != (k,):
            names = ", ".join(model.coordinates[:k][:12])
            raise SuppleError(f"theta0 has shape {at.shape}: give {k} numbers ({names})")
        if not np.isfinite(at).all():
            raise SuppleError("theta0 holds a value that is not finite")
    q = model.chain.pose(at)
    zero = np.zeros(n)
    for _ in range(50):
        force = model.inverse_dynamics(q, zero, zero)[k:]
        step = np.linalg.solve(total_stiffness(model, q)[k:, k:], -force)
        q[k:] += step
        if np.abs(step).max(initial=0.0) <= 1e-13 * (1 + np.abs(q[k:]).max(initial=0.0)):
            return q
    raise SuppleError("the static sag was not found: the arm may be too soft for its own weight")


def stiffness_at(model: Model, q: ArrayLike) -> Array:
    """Return K, (N, N) or (B, N, N), with links that slide at their lengths in q."""
    given = np.asarray(q, float)
    check_lengths(model.chain, given)
    return model.functions.evaluator("stiffness")(given)[0]


def total_stiffness(model: Model, q: Array) -> Array:
    """Return the second derivative (N, N) of the potential of bending, springs and gravity."""

    def make() -> Any:
        import casadi as ca

        x = model.functions.symbol("q", model.size)
        g = model.functions.expression("gravity")(x) + model.functions.expression("elastic")(x)
        return Evaluator(slope(ca.Function("hold", [x], [g]), 0), True)

    K: Array = model.functions.derived("gravity slope", make)(q)[0]
    return K
