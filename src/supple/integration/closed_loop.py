"""Closed loops: a Model under a Controller on a Trajectory, as one right-hand side."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import reals
from ..control.controllers import Controller, ReferenceMotion, StatefulController
from ..control.matching import place_path, trajectory_for
from ..control.platform import PlatformPath, leads_platform
from ..control.sampled import Sampled
from ..control.trajectories import Hold, Trajectory
from ..control.trajectory_files import given_trajectory
from ..equations.model import Model
from ..errors import SuppleError
from .inputs import Input, SimulationWarning
from .states import symbols

__all__ = ["Reference", "check_path", "closed_rate", "wanted_motion"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Reference(Input):
    """A trajectory as inputs: joint coordinates, rates and accelerations wanted, side by side."""

    trajectory: Trajectory

    def value(self, t: Array, width: int) -> Array:
        """Return [r, rd, rdd], (len(t), 3 joints)."""
        return np.concatenate(self.trajectory(t), axis=1)

    def switches(self, end: float) -> list[float]:
        """Return the trajectory's breaks and its end, in every period before `end`."""
        T = self.trajectory.duration
        edges = [*self.trajectory.breaks, T]
        if not self.trajectory.periodic:
            return [t for t in edges if 0 < t < end]
        rounds = range(math.ceil(end / T))
        return [k * T + t for k in rounds for t in edges if 0 < k * T + t < end]


def wanted_motion(
    model: Model, controller: Any, trajectory: Any, path: Any, rate: float | None = None
) -> Trajectory | None:
    """Return the motion wanted of the joints, None without a controller."""
    is_prescribed = trajectory is not None or path is not None
    if isinstance(controller, Sampled) and not is_prescribed and not controller.follows:
        return None
    if controller is None:
        if trajectory is not None or path is not None:
            raise SuppleError(
                "a trajectory or path needs a controller: give one, such as supple.Decoupling()"
            )
        return None
    if not model.joints:
        raise SuppleError(
            f"{model.robot.name} has no joint that moves: there is nothing to control"
        )
    if path is not None and trajectory is not None:
        raise SuppleError("trajectory and path are both given: lead the joints or the platform")
    if path is not None:
        place = given_trajectory("path", path, rate)
        if not leads_platform(place):  # x, y, z in any order, or without names
            place = place_path(model.robot, place, "path")
        return as_trajectory(PlatformPath(model.robot, place), model)
    return as_trajectory(trajectory, model, rate)


def as_trajectory(given: Any, model: Model, rate: float | None = None) -> Trajectory:
    """Return a motion of the joints in any of its forms, in the order of the robot's motors.

    Joint coordinates alone stand still.
    """
    if given is None:
        raise SuppleError("a controller needs a trajectory: give one, or joint coordinates to hold")
    words = "give a Trajectory, the name of a file with one, or joint coordinates to hold"
    numbers = not isinstance(given, Trajectory | str | PathLike | tuple)
    if numbers and rate is None and np.ndim(reals("trajectory", given, words)) <= 1:
        found: Trajectory = Hold(np.ravel(reals("trajectory", given, words)).tolist())
    else:
        found = trajectory_for(model.robot, given, rate=rate)
    if found(0.0)[0].shape != (model.joints,):
        raise SuppleError(
            f"the trajectory has {len(found(0.0)[0])} coordinates: the arm has "
            f"{model.joints} joints"
        )
    return found


def check_rates(trajectory: Trajectory) -> None:
    """Warn where a Trajectory of one's own gives velocities or accelerations that are not rates."""
    if type(trajectory).__module__.startswith("supple."):
        return
    T = trajectory.duration
    t = T * (0.6180339887498949 * np.arange(1, 41) % 1.0)
    h = 1e-6 * T
    edges = np.asarray([0.0, *trajectory.breaks, T])
    t = t[np.abs(t[:, None] - edges).min(axis=1) > 2 * h]
    before, at, after = (trajectory(t + step) for step in (-h, 0.0, h))
    words = ("velocity", "position"), ("acceleration", "velocity")
    for k, (rate, of) in enumerate(words):
        slope = (after[k] - before[k]) / (2 * h)
        size = np.maximum(np.abs(slope), np.abs(at[k + 1])).max(axis=0, initial=0.0)
        least = 1e-7 * np.abs(at[k]).max(initial=0.0) / T  # rounding
        bad = (np.abs(slope - at[k + 1]) > 0.05 * size + least).any(axis=1)
        if bad.any():
            b = int(bad.argmax())
            j = int(np.abs(slope - at[k + 1])[b].argmax())
            warnings.warn(
                f"the {rate} of {type(trajectory).__name__} is not the rate of its {of}: at t = "
                f"{t[b]:g} s coordinate {j + 1} has {at[k + 1][b, j]:g}, and its {of} changes by "
                f"{slope[b, j]:g} a second",
                SimulationWarning,
                stacklevel=5,
            )
            return


def check_path(model: Model, trajectory: Trajectory, duration: float) -> None:
    """Raise a SuppleError when the motion wanted leaves a beam, a joint's limits or M regular."""
    check_rates(trajectory)
    # Joint coordinates (n, joints) along the trajectory, close enough to see its extremes
    edges = [t for t in trajectory.breaks if t < duration]
    theta: Array = trajectory(np.concatenate([np.linspace(0.0, duration, 400), edges]))[0]
    for k, i in enumerate(model.chain.joints):
        allowed = model.motors[k].limits
        link = model.chain.links[i]
        low = float(theta[:, k].min())
        high = float(theta[:, k].max())
        if link.slide is not None:
            least, most = model.chain.stroke(i)
            if low < least or high > most:
                span = f"between {least:g} m and" if np.isfinite(least) else "below"
                raise SuppleError(
                    f"the trajectory takes {link.name} from {low:g} to {high:g} m outside: it must "
                    f"stay {span} the beam's {most:g} m"
                )
        if allowed is not None and not (allowed[0] <= low and high <= allowed[1]):
            raise SuppleError(
                f"the trajectory takes joint {link.name} from {low:g} to {high:g}: "
                f"its limits are {list(allowed)}"
            )
    # Raise where the mass matrix has lost a joint: nothing that a law could divide by
    q = np.array([*(model.chain.pose(r) for r in theta[::8]), model.chain.pose()])
    if not model.chain.start:  # a pose with nothing special, to compare with
        chain = model.chain
        q[-1] = q[0]
        turning = [k for k, i in enumerate(chain.joints) if i not in chain.sliding]
        q[-1, turning] = 0.3 * (1 + np.arange(len(turning)))
    M = model.mass_matrix(q)
    usual = np.sqrt(np.diag(M[-1]))
    unit = M[:-1] / np.outer(usual, usual)
    if np.linalg.eigvalsh(unit).min() < 1e-12:
        raise SuppleError(
            "the trajectory runs through a singular pose: there a joint moves no mass, so no "
            "effort decides its acceleration; keep away from it or give the joint's hub inertia"
        )


def closed_rate(model: Model, controller: Controller) -> Any:
    """Return dx/dt = f(x, [r, rd, rdd]) of the closed loop as a CasADi SX function."""
    import casadi as ca

    n = model.size
    k = model.joints
    x, model, drift = symbols(model)
    u = model.functions.symbol("u", 3 * k)
    q = x[:n]
    qd = x[n : 2 * n]
    wanted = ReferenceMotion(u[:k], u[k : 2 * k], u[2 * k :])
    own = ca.DM(0, 1)
    z = ca.DM(0, 1)
    both: Any
    if isinstance(controller, StatefulController):
        z = model.functions.symbol("z", controller.states(model))
        *both, own = controller.loop(model, (q, qd, z), wanted)
    else:
        both = controller.acceleration(model, q, qd, wanted)
    if both is None:
        tau = controller.effort(model, q, qd, wanted)
        both = model.functions.expression("forward_dynamics")(q, qd, tau), tau
    lost = model.functions.expression("dissipation")(q, qd)
    power = ca.dot(both[1], qd[:k, 0]) - ca.dot(qd, lost)
    rates = ca.vertcat(qd, both[0], power, drift, own)
    return ca.Function("rate", [ca.vertcat(x, z), u], ca.cse([rates]))
