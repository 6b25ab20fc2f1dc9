"""Poses of a Model: assembled with its motors somewhere, and at rest under gravity there."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.assembling import resolve
from ..architectures.kinds import lower
from ..errors import SuppleError
from .chains.chain import check_lengths
from .closed.coupled import ClosedFunctions, led_from
from .evaluate import Evaluator, slope
from .functions import near_at, slope_of
from .model import Model

__all__ = [
    "UnstableRestWarning",
    "assembled_pose",
    "hanging",
    "slopes_at_rest",
    "standing",
    "static_state",
    "stiffness_at",
    "total_stiffness",
]

Array = NDArray[np.float64]
SAME_BRANCH_TOLERANCE = 1e-6  # rad or m: followers nearer than this are on one branch
UNSTABLE = 1e-9  # of the stiffness: a rest with less than its negative is unstable
FURTHEST = 0.3  # rad or m that a loose coordinate moves in a step towards rest


class UnstableRestWarning(UserWarning):
    """The equilibrium under gravity is unstable, as that of a buckled column."""


def assembled_pose(model: Model, theta: Array | None = None) -> Array:
    """Return q unbent with the motors at theta: the pose in which every other study finds it.

    Of loops that motors alone do not hold, passive joints are as near to their start as loops let
    them, and joints that hang stand where they hang; None: where the robot is assembled.
    """
    q = model.chain.pose(theta)
    functions = model.functions
    loose = [k for places in model.chain.passive for k in places]
    if lower(model.robot).joints.hanging.size and not isinstance(functions, ClosedFunctions):
        return _with_hanging_joints(model, q)
    if theta is None or not loose or not isinstance(functions, ClosedFunctions):
        return q
    loops = functions.loops
    tree = lower(loops.robot)
    x, reason = resolve(tree, theta)
    if reason[0]:
        raise SuppleError(reason[0])
    z = np.zeros(loops.laws.chain.size)
    z[[k for places in loops.laws.chain.passive for k in places]] = x[0, tree.joints.passive]
    q[loose] = z[list(loops.independent)][loose]
    return q


def _with_hanging_joints(model: Model, q: Array) -> Array:
    """Return q of an open tree with the joints that hang at rest, links unbent."""
    tree = lower(model.robot)
    x, reason = resolve(tree, q[: model.joints])
    if reason[0]:
        raise SuppleError(reason[0])
    columns = {c.name: k for k, c in enumerate(tree.joints.coordinates)}
    for k, name in enumerate(model.coordinates):
        column = columns.get(name.removeprefix("passive."))
        if name.startswith("passive.") and column is not None:
            q[k] = x[0, column]
    return q


def standing(model: Model, theta: ArrayLike | None) -> Model:
    """Return a Model whose loops at theta are those of the pose in which `forward` finds the robot.

    A Model leads its loops from where it is assembled, straight to what it is asked at; that ends
    in another branch where the way leads past a singular pose. They are led from theta then.
    """
    functions = model.functions
    if theta is None or not isinstance(functions, ClosedFunctions) or functions.loops.unbent:
        return model
    at = np.asarray(theta, float)
    if at.shape != (model.joints,):
        return model  # which has a sentence of its own
    branch = lower(functions.loops.robot).branch(at[None])
    if not branch.x.shape[1] or not branch.reached:
        return model
    q = assembled_pose(model, at)
    guess = functions.loops.unbent_dependent(branch.x)[0]
    there = functions.evaluator("followers")(q)[0]
    if np.abs(there - guess).max(initial=0.0) < SAME_BRANCH_TOLERANCE:
        return model
    return replace(model, functions=led_from(functions, branch.x[0]))


def static_state(model: Model, theta0: ArrayLike | None = None) -> Array:
    """Return q at rest under gravity with the joints held at theta0: dV/dq = 0 beyond theta."""
    k = model.joints
    n = model.size
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
    q = hanging(model, assembled_pose(model, at))
    zero = np.zeros(n)
    K = None
    last = np.inf
    loose = any(name.startswith("passive.") for name in model.coordinates)
    for _ in range(50):
        force = model.inverse_dynamics(q, zero, zero)[k:]
        K = total_stiffness(model, q) if K is None else K
        if loose:  # what the potential does not depend on, such as a pendulum in space, stays
            step = np.linalg.lstsq(K[k:, k:], -force, rcond=1e-14)[0]
        else:
            step = np.linalg.solve(K[k:, k:], -force)
        q[k:] += step
        size = float(np.abs(step).max(initial=0.0))
        if size <= 1e-13 * (1 + np.abs(q[k:]).max(initial=0.0)):
            _warn_if_unstable(model, K[k:, k:])
            return q
        if size > last / 20:  # else it leads on quickly enough as it is
            K = None
        last = size
    raise SuppleError("the static sag was not found: the arm may be too soft for its own weight")


def _warn_if_unstable(model: Model, K: Array) -> None:
    """Warn where the potential has no minimum at a rest: K (n, n) is its second derivative."""
    scale = np.sqrt(np.abs(np.diag(K)))
    if not len(K) or not scale.all():
        return
    if np.linalg.eigvalsh(K / np.outer(scale, scale))[0] < -UNSTABLE:
        warnings.warn(
            f"{model.robot.name}: this rest under gravity is unstable, its links are loaded beyond "
            "buckling; they leave it at the smallest push, and where they end is beyond small "
            "bending: stiffen them, take load off, or give q0 as an array",
            UnstableRestWarning,
            stacklevel=4,
        )


def hanging(model: Model, q: Array) -> Array:
    """Return q with what no motor and no loop holds at rest under gravity, all else as it is.

    Downhill by Newton's method, against a negative curvature too, so that it ends hanging and not
    on its head; what the potential does not depend on stays where it is.
    """
    loose = [k for k, name in enumerate(model.coordinates) if name.startswith("passive.")]
    q = q.copy()
    zero = np.zeros(model.size)
    for _ in range(200 if loose else 0):
        force = model.inverse_dynamics(q, zero, zero)
        K = total_stiffness(model, q)
        least = 1e-12 * max(float(np.abs(force).max()), float(np.abs(K[loose]).max()))
        curved, axes = np.linalg.eigh(K[np.ix_(loose, loose)])
        pull = axes.T @ force[loose]
        pull = np.where((np.abs(pull) <= least) & (np.abs(curved) <= least), 0.0, pull)
        tips = (curved < -least) & (np.abs(pull) < 1e-6 * np.abs(curved))
        pull = np.where(tips, 1e-3 * curved, pull)  # on its head, it falls to one side
        size = np.maximum(np.abs(curved), np.abs(pull) / FURTHEST)
        step = -axes @ np.divide(pull, size, out=np.zeros_like(pull), where=size > 0)
        q[loose] += step
        if np.abs(step).max() <= 1e-13 * (1 + np.abs(q[loose]).max()):
            break
    else:
        if loose:
            names = ", ".join(model.coordinates[k].removeprefix("passive.") for k in loose)
            raise SuppleError(
                f"{model.robot.name} finds no rest with its motors held: {names} would fall on; "
                "give its passive joints springs, or a start that is not static"
            )
    return q


def stiffness_at(model: Model, q: ArrayLike, near: Array | None = None) -> Array:
    """Return K, (N, N) or (B, N, N), with links that slide at their lengths in q.

    `near`: about where the followers of loops are.
    """
    given = np.asarray(q, float)
    check_lengths(model.chain, given)
    if near is None:
        return model.functions.evaluator("stiffness")(given)[0]
    near = near.reshape(*given.shape[:-1], -1)
    return model.functions.evaluator("stiffness", near=True)(given, near)[0]


def slopes_at_rest(model: Model, q: Array) -> tuple[Array, Array]:
    """Return how forces change with q and with qd at rest, (N, N) each, those of inertia none."""
    functions = model.functions
    if "hold" in functions.names:  # loops put both together from their parts
        K, D = functions.evaluator("hold")(q)
        return K, D

    return total_stiffness(model, q), slope_of(functions, "dissipation", 1)(q, 0 * q)[0]


def total_stiffness(model: Model, q: Array) -> Array:
    """Return the second derivative (N, N) of the potential of bending, springs and gravity."""
    functions = model.functions
    if "hold" in functions.names:
        return slopes_at_rest(model, q)[0]

    def make() -> Any:
        import casadi as ca

        at = ca.MX.sym("q", model.size)
        guess = near_at(functions, at)  # found once, not for every direction
        gravity, elastic = (functions.core(name) for name in ("gravity", "elastic"))
        kind: Any = ca.SX if gravity.is_a("SXFunction") and elastic.is_a("SXFunction") else ca.MX
        x = [kind.sym("x", part.numel()) for part in (at, *guess)]
        by_q = slope(ca.Function("hold", x, [gravity(*x) + elastic(*x)]), 0)
        return Evaluator(ca.Function("slope", [at], [by_q(at, *guess)]) if guess else by_q, True)

    K: Array = functions.cached("gravity slope", make)(q)[0]
    return K
