"""The equations of a plan as a residual over (q, qd, qdd), which implicit steps drive to zero."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...control.controllers import Decoupling, ReferenceMotion
from ...equations.closed.coupled import near_symbols
from ...equations.evaluate import AnyEvaluator, Evaluator, TapeEvaluator, compile_function, slope
from ...kernels.tape import tape_of_function
from ..closed_loop import Reference
from ..inputs import Feedback
from ..plan import RunPlan, wrench_power

__all__ = ["System", "inverse"]

Array = NDArray[np.float64]
State = tuple[Array, Array, Array]
SMALL_CHANGE = 1e-6  # rad, m and their rates: of a state, to see how a Python function answers
LARGE_ANSWER = 1e-2  # of the efforts: an answer to so small a change that may be a jump


def inverse(A: Array) -> Array:
    """Return the inverse of a step's matrix; not a number where it has none: no step converges."""
    try:
        return np.asarray(np.linalg.inv(A))
    except np.linalg.LinAlgError:
        return np.full_like(A, np.nan)


class System:
    """The residual of a plan, what goes with it, and its slopes.

    Attributes
    ----------
    holds_path : bool
        Whether the joints are held to their path.
    tau, power
        Efforts, and the power of efforts and wrench less losses, at the last evaluation.
    near
        Guess of the dependent coordinates; `residual_at` brings it one Newton step nearer.
    """

    def __init__(self, plan: RunPlan, x: Array) -> None:
        self.plan = plan
        self.model = plan.model
        self.k, self.tau, self.power = plan.model.joints, np.zeros(plan.model.joints), 0.0
        self.holds_path = False  # unless a law that holds its joints to the path starts there
        if isinstance(plan.controller, Decoupling) and isinstance(plan.tau, Reference):
            k = self.k
            n = plan.model.size
            r, rd, _ = plan.tau.trajectory(0.0)
            off = max(np.abs(x[:k] - r).max(), np.abs(x[n : n + k] - rd).max())
            self.holds_path = bool(off < 1e-12)
        self.equations: _Equations = plan.model.functions.cached(
            ("residual", plan.controller, self.holds_path, plan.width, plan.compiled),
            _Equations,
            plan,
            self.holds_path,
        )
        self.near = x[2 * plan.model.size + 1 :].copy()
        self._answer: list[Array] | None = None
        self._time, self._row = np.nan, np.zeros(0)

    def inputs(self, t: float, q: Array, qd: Array) -> Array:
        """Inputs at a time; of a Python function those at a state."""
        if not isinstance(self.plan.tau, Feedback):
            if t != self._time:
                self._time, self._row = t, self.plan.inputs(np.array([t]))[0]
            return self._row
        efforts = self.plan.tau(t, q, qd)
        if self.plan.wrench is None:
            return efforts
        return np.concatenate([efforts, self.plan.wrench.value(np.array([t]), 6)[0]])

    def residual_at(self, q: Array, qd: Array, qdd: Array, u: Array) -> Array:
        """The residual; efforts, power and followers are kept."""
        r: Array
        r, self.tau, power, self.near = self.equations.residual(q, qd, qdd, u, self.near)
        self.power = float(power[0])
        return r

    def slopes(
        self, t: float, state: State, u: Array, exact: bool, anew: bool
    ) -> tuple[Array, Array, Array]:
        """d r / d qdd, d qd and d q: `exact` in symbols, else by differences, all in one call."""
        (q, qd, _), k = state, self.k
        if exact:
            M, C, K = (part(*state, u, self.near)[0] for part in self.equations.slopes)
        else:
            n = len(q)
            columns = np.tile(np.concatenate([*state, u, self.near]), (3 * n + 1, 1))
            steps = np.repeat([SMALL_CHANGE, SMALL_CHANGE, 1.0], n)  # linear in qdd
            columns[1:, : 3 * n] += np.diag(steps)
            parts = np.split(columns, np.cumsum([n] * 3 + [len(u)]), axis=1)
            forces = self.equations.residual(*parts)[0]
            slopes = (forces[1:] - forces[0]) / steps[:, None]
            K, C, M = (part.T.copy() for part in np.split(slopes, 3))
        if isinstance(self.plan.tau, Feedback) and self.plan.tau.of_state:
            by_q, by_qd = self._answer_of_function(t, q, qd)
            K[:k] -= by_q
            C[:k] -= by_qd
        return M, C, K

    def _answer_of_function(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        """Slopes of a Python function's efforts by q and qd, (joints, size) each.

        Where it jumps within the difference there is no slope, and none is used.
        """
        k = self.k
        n = len(q)
        base = self.inputs(t, q, qd)[:k]
        found = np.zeros((2, k, n))
        for j in range(n):
            for part in range(2):
                change = np.zeros((2, n))
                change[part, j] = SMALL_CHANGE
                answer = self.inputs(t, q + change[0], qd + change[1])[:k] - base
                if np.abs(answer).max() > LARGE_ANSWER * np.abs(base).max():
                    half = self.inputs(t, q + change[0] / 2, qd + change[1] / 2)[:k] - base
                    answer = np.where(np.abs(answer - 2 * half) > 0.5 * np.abs(answer), 0.0, answer)
                found[part, :, j] = answer / SMALL_CHANGE
        return found[0], found[1]


class _Equations:
    """Residual and efforts over (q, qd, qdd, inputs), and slopes.

    Attributes
    ----------
    free
        Whether the rows of the joints say their accelerations, not their efforts.
    residual
        (r, tau, power, followers).
    answer
        Slopes by q and qd of -tau of a law, None without one.
    """

    def __init__(self, plan: RunPlan, holds_path: bool) -> None:
        import casadi as ca

        (model, near), law = near_symbols(plan.model, 0), plan.controller
        n = model.size
        k = model.joints
        symbol = model.functions.symbol
        q, qd, qdd, x = (symbol(w, s) for w, s in zip("qvax", (n, n, n, plan.width), strict=True))
        u = x[: plan.driven]
        part = model.functions.expression
        if near.numel():
            force, lost, found = part("residual")(q, qd, qdd)
        else:
            force = part("inverse_dynamics")(q, qd, qdd)
            lost = 0.0
            found = near
            lost = ca.dot(qd, part("dissipation")(q, qd))
        self.free = isinstance(law, Decoupling)
        self.answer: list[Evaluator] | None = None
        if isinstance(law, Decoupling):
            wanted = ReferenceMotion(u[:k], u[k : 2 * k], u[2 * k :])
            second = wanted.rdd if holds_path else law.joint_acceleration(model, q, qd, wanted)
            first = qdd[:k, 0] - second
            tau = force[:k, 0]
        else:
            tau = u
            if law is not None:
                tau = law.effort(model, q, qd, ReferenceMotion(u[:k], u[k : 2 * k], u[2 * k :]))
                alone = ca.Function("answer", [q, qd, x, near], [ca.densify(-tau)])
                self.answer = [Evaluator(slope(alone, i), True) for i in (0, 1)]
            first = force[:k, 0] - tau  # a slice of one entry alone would be a row
        rows = ca.densify(ca.vertcat(first, force[k:, 0]))
        power = ca.DM.zeros(1)
        if plan.wrench is not None:
            power = wrench_power(model, q, qd, x[plan.driven :])
            rows = rows - ca.jtimes(power, qd, ca.DM.ones(1), True)
        power += ca.dot(tau, qd[:k, 0]) - lost
        inputs = [q, qd, qdd, x, near]
        self._rows = ca.Function("rows", inputs, [rows])
        residual = ca.Function("residual", inputs, [rows, ca.densify(tau), power, found])
        self.residual = _fast(residual, plan, near.numel())

    @cached_property
    def slopes(self) -> list[Evaluator]:
        """Slopes of the residual by qdd, qd and q."""
        return [Evaluator(slope(self._rows, i), True) for i in (2, 1, 0)]


def _fast(function: Any, plan: RunPlan, loops: int) -> AnyEvaluator:
    """The function as it is called fastest: that of loops on a tape, or compiled."""
    import casadi as ca

    if not loops or plan.compiled:
        return Evaluator(compile_function(function) if plan.compiled else function)
    written = function if function.is_a("SXFunction") else function.expand()
    tape = tape_of_function(written)  # where parts that were calls share their work
    if tape is None:
        x = [ca.SX.sym(name, function.numel_in(i)) for i, name in enumerate(function.name_in())]
        shared: Any = ca.cse(written.call(x))
        return Evaluator(ca.Function(function.name(), x, shared))
    shapes = [(function.numel_out(i),) for i in range(function.n_out())]
    return TapeEvaluator(tape, [function.numel_in(i) for i in range(function.n_in())], shapes)
