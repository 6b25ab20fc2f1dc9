"""How does a flexible Delta move under its motors: rigid and elastic motion together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import delta
from ..architectures.delta_motion import motion
from ..control.trajectories import Trajectory
from ..dynamics.coupled_delta import CoupledDelta, Follower, Terms
from ..errors import SuppleError
from ..kernels.newmark import Scheme, generalised_alpha

__all__ = ["DeltaResponse", "drive"]

Array = NDArray[np.float64]
Torque = Callable[[float, Array, Array], ArrayLike]
ITERATIONS = 40
CONVERGED = 1e-11  # correction of a coordinate over the largest, at which a step is done


@dataclass(frozen=True)
class DeltaResponse:
    """The motion of a coupled Delta.

    Attributes:
        model: what moved.  t: (T,).  u, ud, udd: (T, N), [theta, (eps), eta ..] and rates.
        torque: (T, 3), of the motors.  position: (T, 3) and R: (T, 3, 3), of the platform.
        velocity: (T, 6), of the platform, (linear, angular).  closure: (T,), largest error of the
        closures, m or 1.  message: empty, or why it ended early.
    """

    model: CoupledDelta
    t: Array
    u: Array
    ud: Array
    udd: Array
    torque: Array
    position: Array
    R: Array
    velocity: Array
    closure: Array
    message: str = ""

    @property
    def theta(self) -> Array:
        """(T, 3) motor angles."""
        return self.u[:, :3]

    @property
    def rotation(self) -> Array:
        """(T, 3) small rotation of the platform, rad: the axial part of R."""
        R = self.R
        axial = [R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]]
        return np.stack(axial, axis=1) / 2

    def energy(self) -> Array:
        """Return kinetic, elastic and gravitational energy, (T,), J."""
        rows = zip(self.u, self.ud, self._followers(), strict=True)
        return np.array([self.model.energy(u, ud, near) for u, ud, near in rows])

    def _followers(self) -> list[Follower]:
        near, out = self.model.guess(self.u[0, :3]), []
        for u in self.u:
            near, _ = self.model.place(u, near)
            out.append(near)
        return out


def drive(  # noqa: PLR0913 - every choice by keyword
    model: CoupledDelta,
    *,
    torque: Torque | ArrayLike | None = None,
    path: Trajectory | None = None,
    position: ArrayLike | None = None,
    start: Literal["static", "zero"] | ArrayLike = "static",
    velocity: ArrayLike | None = None,
    duration: float | None = None,
    step: float = 1e-3,
    scheme: Scheme | None = None,
) -> DeltaResponse:
    """Return the motion of a coupled Delta, by generalised-alpha with closures shut at every step.

    Either `torque`, three numbers or f(t, theta, theta'), from the platform's `position` on; or
    `path`: the motors follow the rigid motion of the platform along it, whatever torque that takes.
    `start`: elastic coordinates at the sag, at zero, or given as u (N,) with velocity u'.
    """
    law = _Law(model, torque, path)
    u, near = law.begin(position, start)
    v = np.zeros(model.size) if velocity is None else np.asarray(velocity, float)
    total = duration if duration is not None else (path.duration if path is not None else 1.0)
    if not total > 0 or not step > 0:
        raise SuppleError(f"duration {total} and step {step} must be positive")
    t = np.linspace(0.0, total, max(2, round(total / step) + 1))
    return _stepped(law, t, u, law.at(0.0, v), near, scheme or generalised_alpha(0.9))


class _Law:
    """What the motors do: a torque, or a motion that they follow."""

    def __init__(self, model: CoupledDelta, torque: object, path: Trajectory | None) -> None:
        if (torque is None) == (path is None):
            raise SuppleError("give either torque or path: what do the motors do?")
        self.model, self.path = model, path
        constant = None if callable(torque) or torque is None else np.asarray(torque, float)
        if constant is not None and constant.shape != (3,):
            raise SuppleError("torque must be three numbers or a function f(t, theta, thetad)")
        self._torque: Torque | None = torque if callable(torque) else None
        self._constant = constant
        self.free = slice(3, None) if path is not None else slice(None)

    def begin(self, position: ArrayLike | None, start: object) -> tuple[Array, Follower]:
        """u at the start and what follows from it."""
        P = self.path(0.0)[0] if self.path is not None else position
        u = np.zeros(self.model.size)
        if isinstance(start, str):
            if P is None:
                raise SuppleError("position is missing: say where the platform starts")
            u[:3] = delta.inverse(self.model.robot, P)[0, :, 0]
        else:
            u = np.array(start, float)
        near = self.model.guess(u[:3])
        if isinstance(start, str) and start == "static":
            u = _sagged(self.model, u, near)
        return u, self.model.place(u, near)[0]

    def prescribed(self, t: float) -> tuple[Array, Array, Array] | None:
        """Motor angles with their rates at t, or None when torques act."""
        if self.path is None:
            return None
        moved = motion(self.model.robot, *self.path(t))
        theta, rate, second = (x[0] for x in moved.theta)
        return theta, rate, second

    def at(self, t: float, v: Array) -> Array:
        """v with the rates of motors that are led."""
        led = self.prescribed(t)
        out = v.copy()
        if led is not None:
            out[:3] = led[1]
        return out

    def push(self, t: float, u: Array, v: Array) -> Array:
        """Torques on the motors, (3,)."""
        if self._torque is not None:
            return np.asarray(self._torque(t, u[:3], v[:3]), float)
        return np.zeros(3) if self._constant is None else self._constant

    def slope(self, t: float, u: Array, v: Array, b: float, c: float) -> Array:
        """(3, 3): b times the torques' derivative by theta and c times that by theta', about."""
        out = np.zeros((3, 3))
        if self._torque is None:
            return out
        here = self.push(t, u, v)
        for k, e in enumerate(1e-6 * np.eye(len(u))[:3]):
            out[:, k] = b * (self.push(t, u + e, v) - here) + c * (self.push(t, u, v + e) - here)
        return out / 1e-6


def _sagged(model: CoupledDelta, u: Array, near: Follower) -> Array:
    """Elastic coordinates at rest under gravity, motors held: K eta + f(eta) = 0 by Newton."""
    zero, inverse = np.zeros_like(u), np.linalg.inv(model.stiffness[3:, 3:])
    for _ in range(200):
        found = model.terms(u, zero, near)
        change = inverse @ -found.force[3:]
        u = u.copy()
        u[3:] += change
        near = found.follower
        if np.abs(change).max(initial=0.0) < 1e-13 * (1 + np.abs(u[3:]).max(initial=0.0)):
            return u
    raise SuppleError("the static sag was not found: the robot is too soft for its own weight")


def _stepped(
    law: _Law, t: Array, u: Array, v: Array, near: Follower, scheme: Scheme
) -> DeltaResponse:
    model, h, w = law.model, t[1] - t[0], scheme.weight
    found = model.terms(u, v, near)
    acceleration = _first_acceleration(law, found, u, v)
    a = acceleration
    rows = [_row(law, 0.0, found, u, v, acceleration)]
    message = ""
    for time in t[1:]:
        rest = (scheme.alpha_f * acceleration - scheme.alpha_m * a) / (1 - scheme.alpha_m)
        u_0 = u + h * v + h**2 * ((0.5 - scheme.beta) * a + scheme.beta * rest)
        v_0 = v + h * ((1 - scheme.gamma) * a + scheme.gamma * rest)
        try:
            found, u, v, acceleration = _solved(
                law, time, (u_0, v_0, acceleration), (scheme.beta * h**2 * w, scheme.gamma * h * w),
                found.follower,
            )  # fmt: skip
        except SuppleError as problem:
            message = f"stopped at t = {time:g} s: {problem}"
            break
        a = rest + w * acceleration
        rows.append(_row(law, time, found, u, v, acceleration))
    names = ("u", "ud", "udd", "torque", "position", "R", "velocity", "closure")
    columns = {name: np.array([row[k] for row in rows]) for k, name in enumerate(names)}
    return DeltaResponse(model, t[: len(rows)], message=message, **columns)


def _first_acceleration(law: _Law, found: Terms, u: Array, v: Array) -> Array:
    push = -found.force
    led = law.prescribed(0.0)
    if led is None:
        push[:3] += law.push(0.0, u, v)
        return np.asarray(np.linalg.solve(found.M, push))
    out = np.zeros_like(u)
    out[:3] = led[2]
    out[3:] = np.linalg.solve(found.M[3:, 3:], push[3:] - found.M[3:, :3] @ led[2])
    return out


def _solved(
    law: _Law,
    t: float,
    guess: tuple[Array, Array, Array],
    weights: tuple[float, float],
    near: Follower,
) -> tuple[Terms, Array, Array, Array]:
    """The state at t that satisfies the equations: u = u_0 + b u'', u' = v_0 + c u''."""
    (u_0, v_0, second), (b, c), free = guess, weights, law.free
    led, factor, second = law.prescribed(t), None, second.copy()
    for _ in range(ITERATIONS):
        u, v = u_0 + b * second, v_0 + c * second
        if led is not None:
            u[:3], v[:3], second[:3] = led
        found = law.model.terms(u, v, near)
        near = found.follower
        residual = found.M @ second + found.force
        residual[:3] -= law.push(t, u, v)
        if factor is None:
            A = found.M + c * law.model.damping + b * law.model.stiffness
            A[:3, :3] -= law.slope(t, u, v, b, c)
            factor = np.linalg.inv(A[free, free])
        change = factor @ -residual[free]
        second[free] += change
        if b * np.abs(change).max() <= CONVERGED * (np.abs(u).max() + 1e-3):
            return found, u, v, second
    raise SuppleError("a step did not converge: try a smaller step")


def _row(
    law: _Law, t: float, found: Terms, u: Array, v: Array, second: Array
) -> tuple[object, ...]:
    torque = law.push(t, u, v) if law.path is None else law.model.torques(found, second)
    place = found.follower
    return u, v, second, torque, place.position, place.R, (found.B @ v)[6:], found.closure
