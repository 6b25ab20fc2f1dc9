"""Steppers: how a Model is carried through time. Kinds: rk4, adams, bdf, generalised-alpha.

The state x is that of `states`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..equations.evaluate import Evaluator, compiled, symbol_kind, view
from ..equations.model import Model
from ..errors import SuppleError
from .closed_loop import Reference, substep_counts
from .generalised_alpha import generalised_alpha
from .inputs import Feedback, Input
from .magnus import magnus
from .plan import Chunk, Plan, rate, rubbed

__all__ = ["STEPPERS", "Chunk", "Plan", "rate", "stable_step"]

Array = NDArray[np.float64]
CHUNK = 1000  # steps between two looks at what came out


def _rk4_step(f: Any, width: int) -> Any:
    """One step of the classical Runge-Kutta method: x, [u(t), u(t + dt/2), u(t + dt), dt] to x."""
    import casadi as ca

    kind = symbol_kind(f)
    x, p = kind.sym("x", f.numel_in(0)), kind.sym("p", 3 * width + 1)
    a, b, c, dt = p[:width], p[width : 2 * width], p[2 * width : 3 * width], p[3 * width]
    half = dt / 2
    k1 = f(x, a)
    k2 = f(x + half * k1, b)
    k3 = f(x + half * k2, b)
    k4 = f(x + dt * k3, c)
    return ca.Function("step", [x, p], ca.cse([x + dt / 6 * (k1 + k4 + 2 * (k2 + k3))]))


def _rate_in_ends(model: Model) -> Any:
    """dx/dt = f(x, tau) with x = [B q, B qd, work], cheaper than `rate`; see `dynamics.ends`."""
    import casadi as ca

    n, joints = model.size, model.joints
    A = np.linalg.inv(model.functions.ends())
    x, tau = model.functions.symbol("x", 2 * n + 1), model.functions.symbol("u", joints)
    q, qd = x[:n], x[n : 2 * n]
    D = ca.sparsify(ca.DM(A.T @ model.damping @ A))
    power = ca.dot(tau, qd[:joints, 0]) - ca.dot(qd, ca.mtimes(D, qd)) - rubbed(model, qd)
    qdd = model.functions.expression("forward_dynamics_ends")(q, qd, tau)
    return ca.Function("rate", [x, tau], ca.cse([ca.vertcat(qd, qdd, power)]))


def rk4(plan: Plan, x: Array) -> Iterator[Chunk]:
    """Fixed steps of the classical fourth-order Runge-Kutta method, as in [DeLuca1991].

    It is carried out in end coordinates, a constant linear change that the method does not notice.
    """
    if isinstance(plan.tau, Feedback):
        yield from _rk4_feedback(plan, plan.tau, x)
        return
    model, width, n = plan.model, plan.width, plan.model.size
    plain = plan.wrench is None and plan.controller is None and not model.chain.sliding
    ends = plain and not model.functions.closed
    B = model.functions.ends() if ends else np.eye(n)

    def make() -> Accumulated:
        f = _rate_in_ends(model) if ends else plan.rate()
        step = _rk4_step(f, width)
        return Accumulated(compiled(step) if plan.compiled else step)

    step = model.functions.derived(("rk4", width, plan.compiled, plan.controller), make)
    T = np.eye(len(x))
    T[:n, :n] = T[n : 2 * n, n : 2 * n] = B
    back, x = np.linalg.inv(T).T, T @ x
    for start in range(0, len(plan.grid) - 1, CHUNK):
        grid = plan.grid[start : start + CHUNK + 1]
        dt = np.diff(grid)
        # a hair inside the step, so that a switch on the grid acts from its own side
        t = np.stack([grid[:-1] + 1e-9 * dt, grid[:-1] + dt / 2, grid[1:] - 1e-9 * dt], axis=1)
        u = plan.inputs(t.ravel()).reshape(len(dt), 3 * width)
        states = step.run(x, np.concatenate([u, dt[:, None]], axis=1))
        x = states[-1]
        yield start + 1, states @ back


class Accumulated:
    """A step function carried over many steps in one call."""

    def __init__(self, step: Any) -> None:
        self.step = step
        self._runs: dict[int, tuple[Any, ...]] = {}

    def run(self, x: Array, p: Array) -> Array:
        """Return the states (n, len(x)) after each of the n steps with parameters p (n, width)."""
        n = len(p)
        if n not in self._runs:
            if len(self._runs) > 4:
                self._runs.pop(next(iter(self._runs)))
            function = self.step.mapaccum(n)
            state, given, out = np.zeros(len(x)), np.zeros(p.shape), np.zeros((n, len(x)))
            buffer, call = function.buffer()
            for i, array in enumerate((state, given)):
                buffer.set_arg(i, view(array))
            buffer.set_res(0, view(out))
            self._runs[n] = (state, given, out, call, buffer, function)
        state, given, out, call, *_ = self._runs[n]
        state[:], given[:] = x, p
        call()
        result: Array = out.copy()
        return result


def substeps(plan: Plan, x: Array) -> Iterator[Chunk]:
    """Runge-Kutta steps as short as the fastest mode on the path needs, several to a sample.

    A link that slides is stiffest where it is shortest; a fixed step would be that short all along.
    """
    if plan.controller is None or not isinstance(plan.tau, Reference):
        raise SuppleError("method substeps needs a Controller and a trajectory: use rk4 or adams")
    counts = substep_counts(plan.model, plan.controller, plan.tau.trajectory, plan.grid)
    dt = np.repeat(np.diff(plan.grid) / counts, counts)
    start = np.concatenate([[plan.grid[0]], plan.grid[0] + np.cumsum(dt)[:-1]])
    ends = np.cumsum(counts)
    step = plan.model.functions.derived(
        ("rk4", plan.width, plan.compiled, plan.controller),
        lambda: _accumulated(_rk4_step(plan.rate(), plan.width), plan),
    )
    done = 0
    for a in range(0, len(dt), CHUNK):
        h = np.zeros(CHUNK)  # steps of length zero fill the last chunk: they change nothing
        h[: len(dt[a : a + CHUNK])] = dt[a : a + CHUNK]
        t0 = np.full(CHUNK, start[-1])
        t0[: len(start[a : a + CHUNK])] = start[a : a + CHUNK]
        t = np.stack([t0 + 1e-9 * h, t0 + h / 2, t0 + h * (1 - 1e-9)], axis=1)
        u = plan.inputs(t.ravel()).reshape(CHUNK, 3 * plan.width)
        states = step.run(x, np.concatenate([u, h[:, None]], axis=1))
        x = states[-1]
        here = ends[(ends > a) & (ends <= a + CHUNK)] - a - 1
        if len(here):
            yield done + 1, states[here]
            done += len(here)


def _accumulated(step: Any, plan: Plan) -> Accumulated:
    return Accumulated(compiled(step) if plan.compiled else step)


def _rk4_feedback(plan: Plan, law: Feedback, x: Array) -> Iterator[Chunk]:
    """Steps whose efforts a Python function gives, asked at every stage."""
    n, wrench = plan.model.size, plan.wrench
    f = plan.model.functions.derived(
        ("rate", plan.width), lambda: Evaluator(rate(plan.model, plan.width))
    )

    def slope(t: float, x: Array) -> Array:
        u = law(t, x[:n], x[n : 2 * n])
        if wrench is not None:
            u = np.concatenate([u, wrench.value(np.array([t]), 6)[0]])
        value: Array = f(x, u)[0]
        return value

    for k in range(len(plan.grid) - 1):
        t, dt = float(plan.grid[k]), float(plan.grid[k + 1] - plan.grid[k])
        k1 = slope(t, x)
        k2 = slope(t + dt / 2, x + dt / 2 * k1)
        k3 = slope(t + dt / 2, x + dt / 2 * k2)
        k4 = slope(t + dt, x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        yield k + 1, x[None]


def _cvodes(scheme: str) -> Callable[[Plan, Array], Iterator[Chunk]]:
    def run(plan: Plan, x: Array) -> Iterator[Chunk]:
        if isinstance(plan.tau, Feedback):
            raise SuppleError(f"method {scheme} takes efforts as data: a Python function needs "
                              "method rk4")  # fmt: skip
        ends = [*plan.starts[1:], len(plan.grid) - 1]
        for a, b in zip(plan.starts, ends, strict=True):
            states = _cvodes_segment(plan, scheme, plan.grid[a : b + 1], x)
            x = states[-1]
            yield a + 1, states

    run.__doc__ = f"SUNDIALS CVODES ({scheme}), restarted at every switch of the input."
    return run


def _cvodes_solver(plan: Plan, scheme: str, grid: Array) -> Any:
    """CVODES from the first time of a grid to all the others, inputs as parameters."""
    import casadi as ca

    width = plan.width
    rate_, symbol = plan.rate(), plan.model.functions.symbol
    x, s, p = symbol("x", rate_.numel_in(0)), symbol("s", 1), symbol("p", 2 * width + 1)
    ode = rate_(x, _segment_input(plan, p, s))
    iteration = "functional" if scheme == "adams" else "newton"
    options: Any = {
        "linear_multistep_method": scheme,
        "nonlinear_solver_iteration": iteration,
        "reltol": plan.tolerance,
        "abstol": plan.tolerance * 1e-2,
        "max_num_steps": 20_000 if plan.model.functions.closed else 10_000_000,
        "disable_internal_warnings": True,
    }
    problem = {"x": x, "t": s, "p": p, "ode": ode}
    steps = (grid[1:] - grid[0]).tolist()
    return ca.integrator("run", "cvodes", problem, 0.0, steps, options)


def _cvodes_segment(plan: Plan, scheme: str, grid: Array, x0: Array) -> Array:
    """States (n, .) at grid[1:], inputs smooth in between."""
    length = float(grid[-1] - grid[0])
    key = ("cvodes", scheme, plan.tolerance, plan.controller, repr((plan.tau, plan.wrench)),
           round(float(grid[0]), 12), len(grid), length)  # fmt: skip
    solver = plan.model.functions.derived(key, lambda: _cvodes_solver(plan, scheme, grid))
    edges = np.array([grid[0] + 1e-9 * length, grid[-1] - 1e-9 * length])
    first, last = plan.inputs(edges)
    given = np.concatenate([first, (last - first) / length, [grid[0]]])
    try:
        found = solver(x0=x0, p=given)
    except RuntimeError as problem_:
        raise _StoppedError(str(problem_)) from None
    states: Array = np.array(found["xf"]).T
    return states


class _StoppedError(Exception):
    """The integrator gave up."""


def _segment_input(plan: Plan, p: Any, s: Any) -> Any:
    """Inputs at s seconds after a restart: as expressions, else linear between its two ends."""
    import casadi as ca

    width, joints = plan.width, plan.driven
    out = ca.vertsplit(p[:width] + s * p[width : 2 * width])
    t = p[2 * width] + s
    for given, part in ((plan.tau, slice(0, joints)), (plan.wrench, slice(joints, width))):
        if isinstance(given, Input):
            expression = given.expression(t, part.stop - part.start)
            if expression is not None:
                out[part] = expression
    return ca.vertcat(*out)


STEPPERS: dict[str, Callable[[Plan, Array], Iterator[Chunk]]] = {
    "rk4": rk4,
    "substeps": substeps,
    "magnus": magnus,
    "adams": _cvodes("adams"),
    "bdf": _cvodes("bdf"),
    "generalised-alpha": generalised_alpha,
}


def stable_step(model: Model, q: Array) -> float:
    """Return the largest step at which rk4 does not amplify any mode of the model at q.

    |R(z)| <= 1 with R(z) = 1 + z + z^2/2 + z^3/6 + z^4/24, z = lambda dt; modes that grow by
    themselves are left out.
    """
    n = model.size
    dq, dqd, _ = model.derivatives(q, np.zeros(n), np.zeros(model.joints))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [dq, dqd]])
    values = np.linalg.eigvals(A)
    scale = np.abs(values).max()
    values = values[(values.real <= 1e-9 * scale) & (np.abs(values) > 1e-9 * scale)]
    if not len(values):
        return float("inf")
    z = values / np.abs(values)
    low, high = np.zeros(len(z)), np.full(len(z), 4.0)
    for _ in range(50):
        middle = (low + high) / 2
        stable = np.abs(_amplification(z * middle)) <= 1 + 1e-9
        low, high = np.where(stable, middle, low), np.where(stable, high, middle)
    return float((low / np.abs(values)).min())


def _amplification(z: Array) -> Array:
    return 1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4)))
