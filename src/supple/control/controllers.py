"""Controllers: from a state and the motion wanted to joint efforts.

A law is written in CasADi expressions of one state, so that a closed loop steps as fast as an open
one, can be linearised, and can be exported; `Law.efforts` calls it with arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.held import Held
from ..architectures.kinds import architecture_of
from ..arguments import checked, reals, some
from ..beams.basis import AssumedModes
from ..equations.build import build
from ..equations.closed.coupled import near_symbols
from ..equations.model import Model, a_model
from ..errors import SuppleError
from .plant import at_rest, riccati, weight

__all__ = [
    "CONTROLLERS",
    "LQR",
    "ComputedTorque",
    "Controller",
    "Decoupling",
    "GravityPD",
    "JointPD",
    "Wanted",
    "lqr",
    "solved",
]

Array = NDArray[np.float64]
Gain = float | Sequence[float]
Expression = Any


@dataclass(frozen=True)
class Wanted:
    """The motion wanted at one time: joint coordinates, rates and accelerations, expressions."""

    r: Expression
    rd: Expression
    rdd: Expression


class Controller(Held, ABC):
    """A control law. A kind of controller has these duties:

    1. `effort(model, q, qd, wanted)` returns the joint efforts, (joints,), as expressions of a
       state and the motion wanted.
    2. `acceleration(model, q, qd, wanted)` may return qdd of the closed loop and the efforts, when
       the law gives them at less cost than the forward dynamics; None otherwise.
    3. `check(model)` raises a SuppleError when it does not fit the model.
    """

    @abstractmethod
    def effort(self, model: Model, q: Expression, qd: Expression, wanted: Wanted) -> Expression:
        """Return the joint efforts."""

    def acceleration(
        self, model: Model, q: Expression, qd: Expression, wanted: Wanted
    ) -> tuple[Expression, Expression] | None:
        """Return qdd of the closed loop and the efforts, or None."""
        return None

    def check(self, model: Model) -> None:
        """Raise a SuppleError when it does not fit the model."""

    def function(self, model: Model) -> Any:
        """Return the law as a CasADi function (q, qd, r, rd, rdd) -> tau.

        Of a model whose loops are looked for near symbols, these are its last input.
        """

        def make() -> Any:
            import casadi as ca

            symbol = model.functions.symbol
            q, qd = symbol("q", model.size), symbol("qd", model.size)
            r, rd, rdd = (symbol(word, model.joints) for word in ("r", "rd", "rdd"))
            tau = self.effort(model, q, qd, Wanted(r, rd, rdd))
            inputs = [q, qd, r, rd, rdd, *model.functions.beside]
            return ca.Function("law", inputs, ca.cse([ca.densify(tau)]))

        self.check(model)
        return model.functions.derived(("law", self), make)

    def efforts(
        self,
        model: Model,
        state: tuple[Array, Array],
        wanted: Sequence[Array],
        near: Array | None = None,
    ) -> Array:
        """Return the efforts (n, joints) at states (n, N) for motions wanted (n, joints) each.

        `near` (n, w): about where the followers of loops are.
        """
        given = [*state, *wanted]
        if near is not None:
            model, given = near_symbols(model)[0], [*given, near]
        found = self.function(model).map(len(state[0]))(*(x.T for x in given))
        return np.array(found).T


def _gain(name: str, value: Gain, joints: int) -> Array:
    given = reals(name, value)
    if given.shape not in ((), (joints,)) or not np.isfinite(given).all() or (given < 0).any():
        raise SuppleError(
            f"{name} is {value!r}: give one value, or one for each of {joints} joints, not negative"
        )
    return np.broadcast_to(given, (joints,)).astype(float)


@dataclass(frozen=True)
class Gains(Controller):
    """A law with a gain on the error of the joints and one on its rate."""

    position_gain: Gain
    velocity_gain: Gain

    checks: ClassVar = {"position_gain": some(0), "velocity_gain": some(0)}

    def check(self, model: Model) -> None:
        for name in ("position_gain", "velocity_gain"):
            _gain(name, getattr(self, name), model.joints)

    def joint_acceleration(
        self, model: Model, q: Expression, qd: Expression, wanted: Wanted
    ) -> Expression:
        """Return u = rdd - Gv de/dt - Gp e, [Theodore1997] (36)."""
        k = model.joints
        Gp = _gain("position_gain", self.position_gain, k)
        Gv = _gain("velocity_gain", self.velocity_gain, k)
        return wanted.rdd - Gv * (qd[:k] - wanted.rd) - Gp * (q[:k] - wanted.r)


@dataclass(frozen=True)
class JointPD(Gains):
    """tau = -Gp e - Gv de/dt on the joint error e = theta - r.

    Attributes:
        position_gain, velocity_gain: N m/rad and N m s/rad (N/m, N s/m of a slide), one or one a
        joint.
    """

    def effort(self, model: Model, q: Expression, qd: Expression, wanted: Wanted) -> Expression:
        k = model.joints
        Gp = _gain("position_gain", self.position_gain, k)
        Gv = _gain("velocity_gain", self.velocity_gain, k)
        return -Gp * (q[:k] - wanted.r) - Gv * (qd[:k] - wanted.rd)


@dataclass(frozen=True)
class GravityPD(Gains):
    """Joint PD, and the effort that holds the weight of the arm where it is: g(q) of the joints."""

    def effort(self, model: Model, q: Expression, qd: Expression, wanted: Wanted) -> Expression:
        hold = model.functions.expression("gravity")(q)[: model.joints]
        pd = JointPD(self.position_gain, self.velocity_gain)
        return pd.effort(model, q, qd, wanted) + hold


@dataclass(frozen=True)
class Decoupling(Gains):
    """Nonlinear decoupling of the joints: the error obeys e'' + Gv e' + Gp e = 0 exactly.

    tau = (M_rr - M_rf M_ff^-1 M_fr) u + n_r - M_rf M_ff^-1 n_f, n all forces but M qdd. Works for
    any model; it needs the elastic state as well as the joints'.

    Attributes:
        position_gain, velocity_gain: Gp in 1/s^2, Gv in 1/s, one or one per joint.

    Source: [Theodore1997], Eqs. (35)-(37), with gravity, damping and 1/2 q_f' (dK/dl) q_f in n_r.
    """

    position_gain: Gain = 100.0
    velocity_gain: Gain = 20.0

    def effort(self, model: Model, q: Expression, qd: Expression, wanted: Wanted) -> Expression:
        return self.acceleration(model, q, qd, wanted)[1]

    def acceleration(
        self, model: Model, q: Expression, qd: Expression, wanted: Wanted
    ) -> tuple[Expression, Expression]:
        """qdd_r = u, qdd_f = -M_ff^-1 (M_fr u + n_f), and the effort that makes it so."""
        import casadi as ca

        k, n = model.joints, model.size
        u = self.joint_acceleration(model, q, qd, wanted)
        unbent = ca.vertcat(u, ca.DM.zeros(n - k))
        rest = model.functions.expression("inverse_dynamics")(q, qd, unbent)
        if n == k:
            return u, rest
        M = model.functions.expression("mass_matrix")(q)
        bent = ca.vertcat(*solved(M[k:, k:], -rest[k:]))
        return ca.vertcat(u, bent), rest[:k] + ca.mtimes(M[:k, k:], bent)


def solved(A: Expression, b: Expression) -> list[Any]:
    """Return x with A x = b, A symmetric positive definite, expressions."""
    import casadi as ca

    from ..kernels.scalars import ldl, ldl_solve

    if isinstance(A, ca.MX):
        return list(ca.vertsplit(ca.solve(A, b, "lapackqr")))
    rows = [ca.horzsplit(row) for row in ca.vertsplit(ca.densify(A))]
    return ldl_solve(ldl([list(row) for row in rows]), ca.vertsplit(ca.densify(b)))


@dataclass(frozen=True)
class ComputedTorque(Gains):
    """Computed torque on the rigid model: what the arm would need if its links did not bend.

    tau = M(theta) u + h(theta, thetad) + g(theta) of the same robot with `theory: rigid`; it needs
    the joints' state only.
    """

    position_gain: Gain = 100.0
    velocity_gain: Gain = 20.0

    def check(self, model: Model) -> None:
        super().check(model)
        if model.chain.sprung:
            raise SuppleError("ComputedTorque is for arms without joint springs: use Decoupling")
        loose = [name for name in model.coordinates if name.startswith("passive.")]
        if loose:
            raise SuppleError(
                f"ComputedTorque is for robots whose motors hold every joint: "
                f"{loose[0].removeprefix('passive.')} swings freely; use Decoupling"
            )

    def effort(self, model: Model, q: Expression, qd: Expression, wanted: Wanted) -> Expression:
        k = model.joints
        stiff = model.functions.derived("rigid twin", rigid_model, model)
        u = self.joint_acceleration(model, q, qd, wanted)
        functions = stiff.functions.alongside(model.functions)
        return functions.expression("inverse_dynamics")(q[:k], qd[:k], u)


def rigid_model(model: Model) -> Model:
    """Return the Model of the same robot with every link, bearing and foundation rigid."""
    parts = architecture_of(model.robot).parts()
    changes: dict[str, Any] = {f"{part}.theory": "rigid" for part in parts}
    if model.chain.supports:
        joints = [f"{part}.joint" if part.startswith("links.") else "motor" for part in parts]
        changes |= {"foundation": None} | {f"{joint}.bearing": None for joint in joints}
    return build(model.robot.with_(changes), AssumedModes(1))


@dataclass(frozen=True, eq=False)
class LQR(Controller):
    """tau = tau0 - F [q - q_r, qd - qd_r], the linear-quadratic regulator about one state.

    `lqr` makes it. q_r holds the joints wanted and the elastic state of the operating point.
    """

    gain: Array
    q: Array
    tau: Array

    checks: ClassVar = {"gain": reals, "q": reals, "tau": reals}

    def check(self, model: Model) -> None:
        if self.gain.shape != (model.joints, 2 * model.size):
            raise SuppleError(
                f"this LQR has a gain of shape {self.gain.shape}: it was made for another model"
            )

    def effort(self, model: Model, q: Expression, qd: Expression, wanted: Wanted) -> Expression:
        import casadi as ca

        k, n = model.joints, model.size
        rest = ca.DM.zeros(n - k)
        error = ca.vertcat(
            q - ca.vertcat(wanted.r, ca.DM(self.q[k:])), qd - ca.vertcat(wanted.rd, rest)
        )
        return ca.DM(self.tau) - ca.mtimes(ca.DM(self.gain), error)


@checked(model=a_model, theta=reals)
def lqr(
    model: Model, theta: ArrayLike, state_weight: ArrayLike = 1.0, effort_weight: ArrayLike = 1.0
) -> LQR:
    """Return the LQR of a model linearised at rest at theta.

    Weights are one value, the diagonal, or the whole matrix, of [q, qd] and of tau.
    """
    q, tau, A, B = at_rest(model, theta)
    Q = weight("state_weight", state_weight, 2 * model.size)
    R = weight("effort_weight", effort_weight, model.joints)
    gain = np.linalg.solve(R, B.T @ riccati(A, B, Q, R, None, "LQR"))
    return LQR(np.asarray(gain, float), q, tau)


CONTROLLERS: dict[str, type[Controller]] = {
    "pd": JointPD,
    "gravity-pd": GravityPD,
    "decoupling": Decoupling,
    "computed-torque": ComputedTorque,
}
