"""Adaptive control of the joints: the inertial constants are estimated while the robot moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..arguments import instance, number, optional, some
from ..equations.build import build
from ..equations.evaluate import Evaluator
from ..equations.model import Model
from ..equations.regression import regressor_function
from ..errors import SuppleError
from ..robot import Robot
from .controllers import Expression, Gain, ReferenceMotion, StatefulController, gain_by_joint
from .trajectories import Trajectory

__all__ = ["AdaptiveControl"]

Array = NDArray[np.float64]
LEAST_SCALE = 0.05  # of the largest constant: the scale of constants that are smaller


@dataclass(frozen=True)
class AdaptiveControl(StatefulController):
    """Adaptive control of the joints on the regressor of the rigid robot [Slotine1987].

    The law starts from the constants of a nominal robot, which may carry a wrong payload, and
    corrects them from the tracking error. Only angles and speeds of the joints are measured.

    Parameters
    ----------
    robot : Robot
        Nominal robot; its links are taken as rigid. A constant that is zero here stays zero: give
        a payload to be corrected a small mass, not none.
    bandwidth : float or sequence
        Lambda, 1/s: how fast errors of position die out once s = de/dt + Lambda e is zero.
    damping_gain : float or sequence
        K, N m s/rad (N s/m for a prismatic joint): effort per s.
    adaptation : float
        Rate of adaptation, 1/J. 0 switches it off.
    leakage : float
        Pulls the estimates back to the nominal constants, J. A little of it keeps them bounded when
        unmodelled vibration or noise is in the error; none lets the error go to zero.

    Notes
    -----
    With e = theta - r, v = dr/dt - Lambda e, a = dv/dt and s = dtheta/dt - v

        tau = Y(theta, dtheta/dt, v, a) pi_hat - K s
        d pi_hat/dt = -Gamma (Y' s + leakage (pi_hat - pi_0) / scale^2)

    where Y pi = M a + C(theta, dtheta/dt) v + g and C is that of the Christoffel symbols, so that
    M' - 2 C is skew. For rigid links 1/2 s' M s + 1/2 (pi_hat - pi)' Gamma^-1 (pi_hat - pi) falls
    at the rate s' K s: e goes to zero whatever the payload is. Links that bend are not in this
    proof; if they are much faster than `bandwidth`, the error falls to what their bending leaves.
    Gamma = adaptation scale^2, where the scale of a constant is its nominal size, or 5 % of the
    largest constant if that is more.

    References
    ----------
    [Slotine1987]; the regressor of [DeLuca1991], section V.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("de-luca-two-link")
    >>> law = supple.AdaptiveControl(robot.with_("payload.mass", 0.05))
    >>> model = supple.build(robot, supple.AssumedModes(1))
    >>> move = supple.PointToPoint([0, 0], [0.1, 0.1], 0.2)
    >>> supple.simulate(model, controller=law, trajectory=move).tau.shape
    (201, 2)
    """

    robot: Robot
    bandwidth: Gain = 5.0
    damping_gain: Gain = 2.0
    adaptation: float = 1.0
    leakage: float = 0.0

    checks: ClassVar = {
        "robot": instance(Robot, "a Robot, such as supple.load('arm.yaml')"),
        "bandwidth": some(0),
        "damping_gain": some(0),
        "adaptation": number(0, unit="of 1/J"),
        "leakage": optional(number(0, unit="of J")),
    }

    def check(self, model: Model) -> None:
        for name in ("bandwidth", "damping_gain"):
            gain_by_joint(name, getattr(self, name), model.joints)
        own = [name for name, _ in architecture_of(self.robot).motors]
        other = list(model.chain.motors)
        if own != other:
            raise SuppleError(
                f"robot has the motors {', '.join(own)}, the model {', '.join(other)}: give the "
                "nominal description of the same robot"
            )
        if model.chain.sprung:
            raise SuppleError(
                "AdaptiveControl is for arms without joint springs: leave the stiffness out"
            )
        if self._rigid(model).size != model.joints:
            raise SuppleError(
                f"AdaptiveControl is for robots whose motors hold every joint: "
                f"{self.robot.name} has others"
            )

    def states(self, model: Model) -> int:
        return len(self.constants(model)[1])

    def loop(
        self,
        model: Model,
        state: tuple[Expression, Expression, Expression],
        wanted: ReferenceMotion,
    ) -> tuple[Expression, Expression, Expression]:
        """Return qdd, the efforts and the rate of z = (pi_hat - pi_0) / scale."""
        import casadi as ca

        q, qd, z = state
        k = model.joints
        _, nominal, function = self.constants(model)
        scale = self._scale(nominal)
        theta = q[:k]
        rate = qd[:k]
        Lambda = ca.DM(gain_by_joint("bandwidth", self.bandwidth, k))
        gain = ca.DM(gain_by_joint("damping_gain", self.damping_gain, k))
        v = wanted.rd - Lambda * (theta - wanted.r)
        a = wanted.rdd - Lambda * (rate - wanted.rd)
        s = rate - v
        Y = _tracking_regressor(function, theta, rate, v, a)
        tau = ca.mtimes(Y, ca.DM(nominal) + ca.DM(scale) * z) - gain * s
        qdd = model.functions.expression("forward_dynamics")(q, qd, tau)
        drive = ca.DM(scale) * ca.mtimes(Y.T, s)
        return qdd, tau, -self.adaptation * (drive + self.leakage * z)

    def estimates(self, run: Any, trajectory: Trajectory) -> dict[str, Array]:
        """Return the constants as a run estimated them, name to (n,), by its law along its samples.

        run: from `simulate` under this law.  trajectory: the motion that was wanted.
        """
        import casadi as ca

        k = run.model.joints
        names, nominal, function = self.constants(run.model)
        scale = self._scale(nominal)
        words = ("theta", "rate", "v", "a")
        x = [ca.SX.sym(word, k) for word in words]
        Y = Evaluator(ca.Function("Y", x, [ca.densify(_tracking_regressor(function, *x))]))
        r, rd, rdd = (np.asarray(part) for part in trajectory(run.t))
        Lambda = gain_by_joint("bandwidth", self.bandwidth, k)
        theta = run.q[:, :k]
        rate = run.qd[:, :k]
        v = rd - Lambda * (theta - r)
        a = rdd - Lambda * (rate - rd)
        rows = Y(theta, rate, v, a)[0].reshape(len(run.t), k, len(nominal))
        drive = -self.adaptation * scale * np.einsum("tkp,tk->tp", rows, rate - v)
        # z' = drive - adaptation leakage z between samples, by the trapezoidal rule
        h = np.diff(run.t)[:, None]
        lost = self.adaptation * self.leakage * h / 2
        z = np.zeros((len(run.t), len(nominal)))
        for i in range(len(h)):
            push = h[i] * (drive[i] + drive[i + 1]) / 2
            z[i + 1] = ((1 - lost[i]) * z[i] + push) / (1 + lost[i])
        return dict(zip(names, (nominal + scale * z).T, strict=True))

    def constants(self, model: Model) -> tuple[tuple[str, ...], Array, Any]:
        """Return names and nominal values of the constants, and the rigid robot's regressor."""
        found: tuple[tuple[str, ...], Array, Any] = model.functions.cached(
            ("constants of adaptive control", self.robot),
            lambda: regressor_function(self._rigid(model), True),
        )
        return found

    def _rigid(self, model: Model) -> Model:
        """Return the nominal robot with rigid links."""

        def make() -> Model:
            parts = architecture_of(self.robot).parts()
            return build(self.robot.with_({f"{part}.theory": "rigid" for part in parts}))

        found: Model = model.functions.cached(("nominal rigid robot", self.robot), make)
        return found

    @staticmethod
    def _scale(nominal: Array) -> Array:
        size = np.abs(nominal)
        return np.asarray(np.maximum(size, LEAST_SCALE * size.max()))


def _tracking_regressor(function: Any, theta: Any, rate: Any, v: Any, a: Any) -> Any:
    """Y with Y pi = M a + C(theta, rate) v + g, from the regressor of M qdd + h + g.

    h is quadratic in the rates and C of the Christoffel symbols is its symmetric bilinear form:
    4 C(theta, x) y = h(x + y) - h(x - y).
    """
    zero_rates = 0 * theta
    inertia_and_weight = function(theta, zero_rates, a)
    faster = function(theta, rate + v, zero_rates)
    slower = function(theta, rate - v, zero_rates)
    return inertia_and_weight + (faster - slower) / 4
