"""Controllers: from a state and the motion wanted to joint efforts.

A law is written in CasADi expressions of one state, so that a closed loop steps as fast as an open
one, can be linearised, and can be exported; `Law.efforts` calls it with arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import Immutable
from ..architectures.kinds import architecture_of
from ..arguments import as_given, checked, checks_of, instance, optional, reals, some
from ..beams.basis import AssumedModes
from ..equations.build import build
from ..equations.closed.coupled import near_symbols
from ..equations.evaluate import Evaluator
from ..equations.model import Model
from ..errors import SuppleError
from .plant import at_rest, riccati, weight

__all__ = [
    "CONTROLLERS",
    "LQR",
    "Clipped",
    "ComputedTorque",
    "Controller",
    "Decoupling",
    "ExpressionLaw",
    "FeedForward",
    "GravityPD",
    "JointPD",
    "ReferenceMotion",
    "StatefulController",
    "gain_by_joint",
    "lqr",
    "solve_positive_definite",
]

Array = NDArray[np.float64]
Gain = float | Sequence[float]
Expression = Any


@dataclass(frozen=True)
class ReferenceMotion:
    """The motion wanted at one time: joint coordinates, rates and accelerations, expressions."""

    r: Expression
    rd: Expression
    rdd: Expression


class Controller(Immutable, ABC):
    """Base class of controllers.

    Notes
    -----
    A kind of controller implements:

    1. ``effort(model, q, qd, wanted)`` returns the joint efforts (joints,) as expressions of the
       state and of the desired motion.
    2. ``acceleration(model, q, qd, wanted)`` may return qdd of the closed loop and the efforts,
       if the controller gives them at less cost than the forward dynamics; None otherwise.
    3. ``check(model)`` raises a SuppleError if the controller does not fit the model.
    4. ``of_measurements(model)`` may return it as a function of what sensors show, where it needs
       something else than single coordinates.
    """

    @abstractmethod
    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        """Return the joint efforts."""

    def acceleration(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
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
            q = symbol("q", model.size)
            qd = symbol("qd", model.size)
            r, rd, rdd = (symbol(word, model.joints) for word in ("r", "rd", "rdd"))
            tau = self.effort(model, q, qd, ReferenceMotion(r, rd, rdd))
            inputs = [q, qd, r, rd, rdd, *model.functions.guess_symbols]
            return ca.Function("law", inputs, ca.cse([ca.densify(tau)]))

        self.check(model)
        return model.functions.cached(("law", self), make)

    def of_measurements(self, model: Model) -> tuple[list[str], Any]:
        """Return what it measures, and the law as a CasADi function (y, r, rd, rdd) -> tau of that.

        Measured are the coordinates and rates on which the efforts depend.
        """
        import casadi as ca

        law = self.function(model)
        names: list[str] = []
        needed: list[tuple[int, int]] = []  # input q or qd, and the place in it
        for i, prefix in enumerate(("", "d.")):
            columns = ca.Sparsity(law.jac_sparsity(0, i)).get_col()
            for k in sorted(set(columns)):
                names.append(prefix + model.coordinates[k])
                needed.append((i, k))
        y = ca.MX.sym("y", len(names))
        wanted = [ca.MX.sym(word, model.joints) for word in ("r", "rd", "rdd")]
        state = [[ca.MX(0)] * model.size, [ca.MX(0)] * model.size]
        for place, (i, k) in enumerate(needed):
            state[i][k] = y[place]
        tau = law(ca.vertcat(*state[0]), ca.vertcat(*state[1]), *wanted)
        return names, ca.Function("law", [y, *wanted], [ca.densify(tau)])

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
            model = near_symbols(model)[0]
            given = [*given, near]
        found = self.function(model).map(len(state[0]))(*(x.T for x in given))
        return np.array(found).T


checks_of(Controller)(instance(Controller, "a Controller, such as supple.JointPD(100, 20)"))


class StatefulController(Controller):
    """Base class of controllers with states z of their own, which start at zero.

    Notes
    -----
    A kind of controller with states implements, instead of `effort`:

    1. ``states(model)`` returns the number of its states.
    2. ``loop(model, (q, qd, z), wanted)`` returns qdd, the efforts and dz/dt as expressions.
    """

    @abstractmethod
    def states(self, model: Model) -> int:
        """Return the number of its states."""

    @abstractmethod
    def loop(
        self,
        model: Model,
        state: tuple[Expression, Expression, Expression],
        wanted: ReferenceMotion,
    ) -> tuple[Expression, Expression, Expression]:
        """Return qdd, the efforts and z' at a state q, qd, z, in continuous time."""

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        """Refuse: efforts depend on states of its own."""
        raise SuppleError(
            f"{type(self).__name__} has states of its own: simulate runs it, not a law without "
            "memory"
        )

    def efforts_along(
        self,
        model: Model,
        state: tuple[Array, Array, Array],
        wanted: Sequence[Array],
        near: Array | None = None,
    ) -> Array:
        """Return the efforts (n, joints) at states q, qd, z (n, .) for motions wanted (n, joints).

        `near` (n, w): about where the followers of loops are.
        """
        guess = [] if near is None else [near]
        model = model if near is None else near_symbols(model)[0]

        def make() -> Evaluator:
            import casadi as ca

            symbol = model.functions.symbol
            n = model.size
            x = [symbol(w, s) for w, s in zip("qvz", (n, n, self.states(model)), strict=True)]
            motion = [symbol(word, model.joints) for word in ("r", "rd", "rdd")]
            tau = self.loop(model, (x[0], x[1], x[2]), ReferenceMotion(*motion))[1]
            inputs = [*x, *motion, *model.functions.guess_symbols]
            return Evaluator(ca.Function("efforts", inputs, [ca.densify(tau)]))

        found: Evaluator = model.functions.cached(("efforts of law", self), make)
        return found(*state, *wanted, *guess)[0]


def gain_by_joint(name: str, value: Gain, joints: int) -> Array:
    """Return a gain as one value per joint, (joints,), none negative."""
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
            gain_by_joint(name, getattr(self, name), model.joints)

    def joint_acceleration(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        """Return u = rdd - Gv de/dt - Gp e, [Theodore1997] (36)."""
        k = model.joints
        Gp = gain_by_joint("position_gain", self.position_gain, k)
        Gv = gain_by_joint("velocity_gain", self.velocity_gain, k)
        return wanted.rdd - Gv * (qd[:k] - wanted.rd) - Gp * (q[:k] - wanted.r)


@dataclass(frozen=True)
class JointPD(Gains):
    """Proportional-derivative control of the joints, tau = -Gp e - Gv de/dt with e = theta - r.

    Parameters
    ----------
    position_gain, velocity_gain : float or sequence
        N m/rad and N m s/rad (N/m and N s/m for a prismatic joint), one value or one per joint.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> move = supple.PointToPoint([0, 0], [0.1, 0.1], 0.2)
    >>> run = supple.simulate(model, controller=supple.JointPD(10, 2), trajectory=move)
    >>> run.q.shape
    (201, 4)
    """

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        k = model.joints
        Gp = gain_by_joint("position_gain", self.position_gain, k)
        Gv = gain_by_joint("velocity_gain", self.velocity_gain, k)
        return -Gp * (q[:k] - wanted.r) - Gv * (qd[:k] - wanted.rd)


@dataclass(frozen=True)
class GravityPD(Gains):
    """Joint PD plus the joint efforts g(q) that balance the weight of the arm in its present state.

    Parameters
    ----------
    position_gain, velocity_gain : float or sequence
        As for `JointPD`.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> law = supple.GravityPD(position_gain=10, velocity_gain=2)
    >>> supple.simulate(model, controller=law, trajectory=[0.1, 0.1], duration=0.1).tau.shape
    (101, 2)
    """

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        hold = model.functions.expression("gravity")(q)[: model.joints]
        pd = JointPD(self.position_gain, self.velocity_gain)
        return pd.effort(model, q, qd, wanted) + hold


@dataclass(frozen=True)
class Decoupling(Gains):
    """Nonlinear decoupling of the joints: the error obeys e'' + Gv e' + Gp e = 0 exactly.

    Parameters
    ----------
    position_gain, velocity_gain : float or sequence
        Gp in 1/s^2 and Gv in 1/s, one value or one per joint.

    Notes
    -----
    tau = (M_rr - M_rf M_ff^-1 M_fr) u + n_r - M_rf M_ff^-1 n_f, where n are all forces but M qdd.
    It works for any model; the elastic state is needed as well as that of the joints.

    References
    ----------
    [Theodore1997], Eqs. (35)-(37), with gravity, damping and 1/2 q_f' (dK/dl) q_f in n_r.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> move = supple.PointToPoint([0, 0], [0.1, 0.1], 0.2)
    >>> run = supple.simulate(model, controller=supple.Decoupling(100, 20), trajectory=move)
    >>> run.q[-1, :2].round(4)
    array([0.1, 0.1])
    """

    position_gain: Gain = 100.0
    velocity_gain: Gain = 20.0

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        return self.acceleration(model, q, qd, wanted)[1]

    def acceleration(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> tuple[Expression, Expression]:
        """qdd_r = u, qdd_f = -M_ff^-1 (M_fr u + n_f), and the effort that makes it so."""
        import casadi as ca

        k = model.joints
        n = model.size
        u = self.joint_acceleration(model, q, qd, wanted)
        unbent = ca.vertcat(u, ca.DM.zeros(n - k))
        rest = model.functions.expression("inverse_dynamics")(q, qd, unbent)
        if n == k:
            return u, rest
        M = model.functions.expression("mass_matrix")(q)
        bent = ca.vertcat(*solve_positive_definite(M[k:, k:], -rest[k:]))
        return ca.vertcat(u, bent), rest[:k] + ca.mtimes(M[:k, k:], bent)


def solve_positive_definite(A: Expression, b: Expression) -> list[Any]:
    """Return x with A x = b, A symmetric positive definite, expressions."""
    import casadi as ca

    from ..kernels.scalars import ldl, ldl_solve

    if isinstance(A, ca.MX):
        return list(ca.vertsplit(ca.solve(A, b, "qr")))
    rows = [ca.horzsplit(row) for row in ca.vertsplit(ca.densify(A))]
    return ldl_solve(ldl([list(row) for row in rows]), ca.vertsplit(ca.densify(b)))


@dataclass(frozen=True)
class ComputedTorque(Gains):
    """Computed torque on the rigid model: efforts of the same arm if its links did not bend.

    Parameters
    ----------
    position_gain, velocity_gain : float or sequence
        Gp in 1/s^2 and Gv in 1/s, one value or one per joint.

    Notes
    -----
    tau = M(theta) u + h(theta, thetad) + g(theta) of the same robot with rigid links. Only the
    state of the joints is needed.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> move = supple.PointToPoint([0, 0], [0.1, 0.1], 0.2)
    >>> supple.simulate(model, controller=supple.ComputedTorque(), trajectory=move).tau.shape
    (201, 2)
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

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        k = model.joints
        stiff = model.functions.cached("rigid twin", rigid_model, model)
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


@dataclass(frozen=True)
class Clipped(Controller):
    """A controller whose efforts are saturated at limits.

    Parameters
    ----------
    law : Controller
        The controller. `Sampled` has limits of its own.
    effort_limit : float or sequence, optional
        Largest effort in both directions, N m or N, one value or one per joint. Default: those of
        the robot's joints, where they have one.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> law = supple.Clipped(supple.JointPD(100, 2), effort_limit=0.5)
    >>> start = [0, 0, 0, 0]
    >>> run = supple.simulate(model, q0=start, controller=law, trajectory=[0.2, 0.1], duration=0.1)
    >>> bool(abs(run.tau).max() <= 0.5)
    True
    """

    law: Controller
    effort_limit: Gain | None = None

    checks: ClassVar = {
        "law": instance(Controller, "a Controller, such as supple.JointPD(100, 20)"),
        "effort_limit": optional(some(0)),
    }

    def limits(self, model: Model) -> Array:
        """Return the limit of each joint, (joints,), infinite where there is none."""
        if self.effort_limit is not None:
            return gain_by_joint("effort_limit", self.effort_limit, model.joints)
        own = [motor.effort_limit for motor in model.motors]
        return np.array([np.inf if value is None else float(value) for value in own])

    def check(self, model: Model) -> None:
        self.law.check(model)
        if not isinstance(self.law, Controller) or hasattr(self.law, "loop"):
            raise SuppleError(
                "a law with states of its own is clipped by Sampled, which tells it what was cut "
                "off: Sampled(law, period, effort_limit=..)"
            )
        if not np.isfinite(self.limits(model)).any():
            raise SuppleError("effort_limit: the robot names none for its joints, so give it")

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        import casadi as ca

        limits = self.limits(model)
        efforts = ca.vertsplit(ca.densify(self.law.effort(model, q, qd, wanted)))
        cut = [
            effort if np.isinf(limit) else ca.fmin(ca.fmax(effort, -limit), limit)
            for effort, limit in zip(efforts, limits, strict=True)
        ]
        return ca.vertcat(*cut)


@dataclass(frozen=True)
class FeedForward(Controller):
    """A law and efforts that are known beforehand: `wanted.rdd` holds these, not an acceleration.

    `simulate(tau=.., controller=..)` makes it, see `integration.feed_forward`.
    """

    law: Controller

    def check(self, model: Model) -> None:
        self.law.check(model)
        inner: Any = self.law
        while isinstance(inner, Clipped):
            inner = inner.law
        if isinstance(inner, Decoupling | ComputedTorque):
            raise SuppleError(
                f"tau is given with {type(inner).__name__}, which finds its own feed-forward from "
                "the trajectory's acceleration: leave tau out, or give JointPD, GravityPD or LQR"
            )
        if hasattr(inner, "loop"):
            raise SuppleError(
                "tau beside a law with states of its own is not offered: give JointPD, GravityPD, "
                "LQR or a function"
            )

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        without_acceleration = ReferenceMotion(wanted.r, wanted.rd, 0 * wanted.rdd)
        if isinstance(self.law, Clipped):  # what reaches the motors is cut off, not the law alone
            inner = Clipped(FeedForward(self.law.law), self.law.effort_limit)
            return inner.effort(model, q, qd, wanted)
        return self.law.effort(model, q, qd, without_acceleration) + wanted.rdd


@dataclass(frozen=True, eq=False)
class ExpressionLaw(Controller):
    """A law of your own, written once in expressions, that runs as fast as the laws of supple.

    Use it as a decorator. A plain Python function is called at every stage of every step; this one
    is called once, with symbols, and what it returns is compiled into the equations of the run. It
    can be linearised, sampled and exported as well.

    Parameters
    ----------
    formula : callable
        ``f(q, qd, r, rd, rdd)`` returns the efforts (joints,), N m or N: a CasADi expression, or a
        list of one for each joint. q and qd (size,) are the state, r, rd and rdd (joints,) the
        desired motion; indexing and arithmetic work as on arrays, other functions are those of
        CasADi (``casadi.sin``, ``casadi.if_else``). A CasADi function of these inputs will do.

    Examples
    --------
    >>> import supple
    >>> @supple.ExpressionLaw
    ... def law(q, qd, r, rd, rdd):
    ...     return 10 * (r - q[:2]) + 2 * (rd - qd[:2])
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> move = supple.PointToPoint([0, 0], [0.1, 0.1], 0.2)
    >>> supple.simulate(model, controller=law, trajectory=move).tau.shape
    (201, 2)
    """

    formula: Callable[..., Any]

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        """Return the joint efforts, as the function gives them for symbols."""
        import casadi as ca

        try:
            given = self.formula(q, qd, wanted.r, wanted.rd, wanted.rdd)
            efforts = ca.vertcat(*given) if isinstance(given, list | tuple) else given
            count = int(ca.densify(efforts).numel())
        except Exception as problem:
            raise SuppleError(
                f"the law cannot be written in expressions: {type(problem).__name__}: {problem}; "
                "use the functions of casadi, or give the function itself as the controller"
            ) from problem
        if count != model.joints:
            raise SuppleError(
                f"the law gives {count} efforts: it must give one for each of {model.joints} joints"
            )
        return ca.reshape(efforts, count, 1)

    def check(self, model: Model) -> None:
        """Write it once, so that what is wrong with it is said before a run."""
        symbol = model.functions.symbol
        wanted = ReferenceMotion(*(symbol(word, model.joints) for word in ("r", "rd", "rdd")))
        self.effort(model, symbol("q", model.size), symbol("qd", model.size), wanted)


@dataclass(frozen=True, eq=False)
class LQR(Controller):
    """Linear-quadratic regulator about one state, tau = tau0 - F [q - q_r, qd - qd_r].

    From `supple.lqr`. The reference q_r consists of the desired joint coordinates and the elastic
    state of the operating point.

    Attributes
    ----------
    gain : ndarray
        F, (joints, 2 size).
    q : ndarray
        Operating point (size,).
    tau : ndarray
        Efforts tau0 there, (joints,), N m or N.
    """

    gain: Array
    q: Array
    tau: Array

    checks: ClassVar = {"gain": reals, "q": reals, "tau": reals}

    def check(self, model: Model) -> None:
        if self.gain.shape != (model.joints, 2 * model.size):
            raise SuppleError(
                f"this LQR has a gain of shape {self.gain.shape}, the model needs "
                f"({model.joints}, {2 * model.size}): it was made for another model; design it for "
                "this one, supple.lqr(model, theta)"
            )

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        import casadi as ca

        k = model.joints
        n = model.size
        rest = ca.DM.zeros(n - k)
        error = ca.vertcat(
            q - ca.vertcat(wanted.r, ca.DM(self.q[k:])), qd - ca.vertcat(wanted.rd, rest)
        )
        return ca.DM(self.tau) - ca.mtimes(ca.DM(self.gain), error)


Weight = Annotated[ArrayLike, as_given]  # checked with the size of the model


@checked
def lqr(
    model: Model, theta: ArrayLike, state_weight: Weight = 1.0, effort_weight: Weight = 1.0
) -> LQR:
    """Linear-quadratic regulator of a model about rest at a pose.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    theta : array_like
        Joint coordinates (joints,) of the operating point, rad or m.
    state_weight, effort_weight : array_like
        Weights of [q, qd] and of tau: one value, the diagonal, or the whole matrix.

    Returns
    -------
    LQR
        A controller with `gain` (joints, 2 size).

    References
    ----------
    [Kleinman1968] for the refinement of the Riccati equation's solution.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> supple.lqr(model, [0, 0]).gain.shape
    (2, 8)
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
