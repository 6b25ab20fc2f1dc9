"""Plan: what is to be computed, and its right-hand side dx/dt = f(x, u)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.kinds import architecture_of
from ..control.controllers import Controller, StatefulController
from ..equations.model import Model
from ..errors import SuppleError
from .closed_loop import Reference, closed_rate
from .inputs import Feedback, Input, SimulationWarning, StoppedError
from .sampled import SampledDrive
from .states import symbols

__all__ = [
    "Chunk",
    "RunPlan",
    "SimulationWarning",
    "StoppedError",
    "rate",
    "start_angles",
    "wrench_power",
]

Array = NDArray[np.float64]
NEGLIGIBLE_STRETCHES = (
    1e-3  # of a motion: stretches between switches that decide no step, all together
)


@dataclass(frozen=True)
class RunPlan:
    """What is to be computed.

    Attributes
    ----------
    grid
        (n + 1,) times of the answer, switches among them: samples, not steps.
    starts
        Places in the grid where integration restarts.
    tau, wrench
        Efforts and tip wrench; wrench None: there is none.
    tolerance
        Relative, of methods that meet one.
    compiled
        Step in generated C.
    controller
        Then tau holds the motion wanted, a Reference.
    drive
        A sampled law in this run; then tau is a Feedback that stands for it.
    fastest
        Largest |pole|, rad/s, and energy: put into vibration, J, where they are known.
    course
        Times, and the part of the largest rate that the motion has there, where steps may follow
        it.
    """

    model: Model
    grid: Array
    starts: tuple[int, ...]
    tau: Input | Feedback
    wrench: Input | None
    tolerance: float
    compiled: bool = False
    controller: Controller | None = None
    drive: SampledDrive | None = None
    fastest: float = 0.0
    energy: float = 0.0
    course: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        if self.controller is not None and self.wrench is not None:
            raise SuppleError("a tip wrench under a Controller is not offered: use a function")

    @property
    def memory(self) -> int:
        """Number of states of its controller, the last ones of x."""
        law = self.controller
        return law.states(self.model) if isinstance(law, StatefulController) else 0

    @property
    def driven(self) -> int:
        """Number of inputs of the joints: efforts, or the motion wanted under a controller."""
        return (3 if self.controller is not None else 1) * self.model.joints

    @property
    def piece(self) -> float:
        """Shortest stretch between two switches, s; slivers are left out, and stepped over whole.

        Switches of delayed copies nearly meet (a shaper's delay beside a blend of the move): what
        lies between them is no motion of its own.
        """
        edges = self.grid[list(self.starts)]
        end = float(self.grid[-1])
        if isinstance(self.tau, Reference) and not self.tau.trajectory.periodic:
            end = min(end, self.tau.trajectory.duration)  # then it stands still
        lengths = np.sort(np.diff(np.append(edges[edges < end], end)))
        return float(lengths[np.cumsum(lengths) > NEGLIGIBLE_STRETCHES * lengths.sum()][0])

    @property
    def width(self) -> int:
        """Number of inputs: those of the joints, and six of a wrench."""
        return self.driven + (6 if self.wrench is not None else 0)

    def rate(self) -> Any:
        """Return dx/dt = f(x, u) as a CasADi SX function."""
        if self.controller is None:
            return rate(self.model, self.width)
        return closed_rate(self.model, self.controller)

    def inputs(self, t: Array) -> Array:
        """(len(t), width) inputs at times t."""
        assert isinstance(self.tau, Input)
        parts = [self.tau.value(t, self.driven)]
        if self.wrench is not None:
            parts.append(self.wrench.value(t, 6))
        return np.concatenate(parts, axis=1)


def start_angles(model: Model, position: ArrayLike | None, theta0: ArrayLike | None) -> Any:
    """Return theta0, or the motor angles of a Delta whose platform starts at `position`."""
    if position is None:
        return theta0
    if theta0 is not None:
        raise SuppleError("position is where a platform starts, instead of theta0: give one")
    found = architecture_of(model.robot).resolve(None, position)
    if found.reason[0]:
        raise SuppleError(found.reason[0])
    return found.theta[0]


class Chunk(NamedTuple):
    """States (n, .) from a place in the grid on.

    tau: (n, joints), efforts applied right after the place before each state, and last: (joints,)
    at the end, where a Python function gave them; None: they follow from inputs and states.
    """

    place: int
    states: Array
    tau: Array | None = None
    last: Array | None = None


def rate(model: Model, width: int, written: bool = False) -> Any:
    """Return dx/dt = f(x, u) as a CasADi function; u = tau, or tau and the tip wrench.

    `written`: as expressions of scalars, not shared where they are equal, for a tape.
    """
    import casadi as ca

    n = model.size
    joints = model.joints
    x, model, drift = symbols(model, written)
    part = model.functions.expression
    u = model.functions.symbol("u", width)
    q = x[:n]
    qd = x[n : 2 * n]
    tau = u[:joints]
    load = [u[joints:]] if width > joints else []
    ending = "_loaded" if load else ""
    if "rates" in model.functions.names:
        qdd, lost, drift = part(f"rates{ending}")(q, qd, tau, *load)
    else:
        qdd = part(f"forward_dynamics{ending}")(q, qd, tau, *load)
        lost = ca.dot(qd, part("dissipation")(q, qd))
    power = ca.dot(tau, qd[:joints, 0]) - lost
    if load:
        power += wrench_power(model, q, qd, load[0])
    found = [ca.vertcat(qd, qdd, power, drift)]
    return ca.Function("rate", [x, u], found if written else ca.cse(found))


def wrench_power(model: Model, q: Any, qd: Any, wrench: Any) -> Any:
    """Return the power of a tip wrench: force times velocity, moment times angular velocity."""
    # A model with loops looks for its dependent coordinates near a guess; others have none.
    guess = model.functions.guess_symbols

    def make() -> Any:
        import casadi as ca

        x, v = (model.functions.symbol(word, model.size) for word in ("q", "qd"))
        load = model.functions.symbol("wrench", 6)
        p, R = model.functions.expression("tip")(x)
        Rd = ca.reshape(ca.jtimes(ca.vec(R), x, v), 3, 3)
        W = ca.mtimes(Rd, R.T)
        spin = ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]) / 2
        power = ca.dot(load[:3], ca.jtimes(p, x, v)) + ca.dot(load[3:], spin)
        return ca.Function("wrench_power", [x, v, load, *guess], ca.cse([power]))

    return model.functions.cached("wrench power", make)(q, qd, wrench, *guess)
