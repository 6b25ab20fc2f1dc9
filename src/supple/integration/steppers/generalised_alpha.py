"""Generalised-alpha: implicit steps for a Model under efforts, a function or a Controller.

The equations hold at every step, in the accelerations themselves; Newton's matrix is kept from step
to step as long as it leads there quickly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...control.controllers import Decoupling, Wanted
from ...equations.evaluate import Evaluator, compiled, slope
from ...errors import SuppleError
from ...kernels.newmark import Scheme
from ...kernels.newmark import generalised_alpha as scheme_of
from ..closed_loop import Reference
from ..inputs import Feedback
from ..plan import Chunk, Plan, wrench_power
from ..sampled import timetable
from ..spectrum import Spectrum
from ..states import near_symbols
from .stepper import Stepper

__all__ = ["GeneralisedAlpha"]

Array = NDArray[np.float64]
RADIUS = 0.8  # left of the fastest modes in a step
PHASE = 0.035  # rad of the fastest rate excited in a step: 1 % of a rad is lost in 20 periods
FIRST, GROWTH = 0.05, 1.1  # rad of the fastest pole in the first step after a switch, and growth
PIECE = 16  # steps between two switches of the input
MOST = 30  # iterations of a step
QUICK = 6  # iterations after which the matrix is made anew for the next step
POSITION, VELOCITY = 1e-11, 1e-9  # corrections beside the largest entry, at which a step is done


class GeneralisedAlpha(Stepper):
    """Implicit steps that damp modes much faster than the step; RADIUS is left of them in a step.

    Residual r = M qdd + h + D qd + K q + g - tau at t + dt; the accelerations a of the scheme lag
    behind: (1 - am) a1 + am a0 = (1 - af) qdd1 + af qdd0. Under Decoupling started on its path the
    joints are led along it, which is what this law does. At every switch of the input qdd and a are
    made new, since they jump there, and where a pole is faster than a step of its own choice, steps
    begin short.

    Source: [Arnold2007], Eqs. (5)-(7).
    """

    name = "generalised-alpha"
    order = 2
    takes = frozenset({"data", "function", "controller", "wrench", "loops"})

    def own_step(self, plan: Plan, spectrum: Spectrum) -> float:
        """Return PHASE rad of the fastest rate excited."""
        edges = np.append(plan.grid[list(plan.starts)], plan.grid[-1])
        step = float(np.diff(edges).min()) / PIECE
        return min(step, PHASE / spectrum.excited) if spectrum.excited else step

    def run(self, plan: Plan, x: Array, step: float) -> Iterator[Chunk]:
        """Yield state after state."""
        n, scheme = plan.model.size, scheme_of(RADIUS)
        work = float(x[2 * n])
        system = _System(plan, x)
        q, qd = x[:n].copy(), x[n : 2 * n].copy()
        starts, times, applied = _jumps(plan), None, system.tau
        if plan.drive is not None:
            times = timetable(plan.drive.given, plan.grid)
            starts, plan = times.arrivals, replace(plan, grid=times.t)
        for k in range(len(plan.grid) - 1):
            start, end = plan.grid[k : k + 2].tolist()
            if plan.drive is not None and times is not None:
                plan.drive.begin(start, *times.due(k), (q, qd))
            if k in starts:
                graded = FIRST / plan.fastest if plan.fastest * step > 1 else step
                a = qdd = system.first(start + 1e-9 * step, min(graded, end - start), q, qd)
                before = system.power(q, qd)
            if times is None or times.answer[k] >= 0:
                applied = system.tau.copy()
            t = start
            while t < end:
                rest = end - t
                graded = min(step, graded * GROWTH)
                dt = rest / math.ceil(rest / graded - 1e-9)
                t = end if dt == rest else t + dt
                guess = scheme.predict(dt, q, qd, qdd, a)
                at = min(t, end - 1e-9 * dt)  # a hair inside: a switch acts from its own side
                system.lead(q, qd, dt)
                q, qd, qdd = system.step(at, dt, (guess[0], guess[1], qdd), scheme)
                a = guess[2] + scheme.weight * qdd
                after = system.power(q, qd)
                work, before = work + dt * (before + after) / 2, after
            here = np.concatenate([q, qd, [work], system.near])[None]
            given = isinstance(plan.tau, Feedback)
            place = k + 1 if times is None else int(times.answer[k + 1])
            if place > 0:
                yield Chunk(place, here, *((applied[None], system.tau.copy()) if given else ()))


def _jumps(plan: Plan) -> set[int]:
    """Places in the grid where an input jumps, the first among them; where it only bends, nothing
    that a step remembers is wrong.
    """
    if isinstance(plan.tau, Feedback):
        return set(plan.starts)
    at = plan.grid[list(plan.starts)]
    hair = 1e-9 * np.diff(plan.grid).min()
    before, after = plan.inputs(at - hair), plan.inputs(at + hair)
    scale = np.abs(plan.inputs(plan.grid)).max(axis=0, initial=0.0)
    jumps = (np.abs(after - before) > 1e-6 * scale).any(axis=1)
    return {0, *(place for place, jump in zip(plan.starts, jumps, strict=True) if jump)}


class _System:
    """The equations of a plan, and the matrix that solves them."""

    def __init__(self, plan: Plan, x: Array) -> None:
        self.plan, self.model = plan, plan.model
        self.k, self.tau = plan.model.joints, np.zeros(plan.model.joints)
        self.given_power = 0.0
        self.led = _on_path(plan, x)
        self.equations = plan.model.functions.derived(
            ("alpha", plan.controller, self.led, plan.width, plan.compiled),
            lambda: _Equations(plan, self.led),
        )
        self.near = x[2 * plan.model.size + 1 :].copy()
        self._inverse: Array | None = None
        self._dt = 0.0
        self._answer: list[Array] | None = None
        self._time, self._row = np.nan, np.zeros(0)

    def first(self, t: float, h: float, q: Array, qd: Array) -> Array:
        """qdd after a switch, as an implicit step feels it: modes faster than it are left out.

        Efforts that jump there would throw these modes about, and the first step with them.
        """
        u, qdd = self._inputs(t, q, qd), np.zeros_like(q)
        if self.led:
            qdd[: self.k] = u[2 * self.k :]
        exact = not self.model.functions.iterates
        A = self._matrix(t, (q, qd, qdd), u, (h**2, h), exact)
        qdd = qdd - A @ self._rest(q, qd, qdd, u)
        self._rest(q, qd, qdd, u)  # for the efforts
        return np.asarray(qdd)

    def lead(self, q: Array, qd: Array, dt: float) -> None:
        """Take the followers of loops from where they belong at q to about the end of a step."""
        if len(self.near):
            found, rate = self.equations.followers(q, qd, self.near)
            self.near = found + dt * rate

    def step(
        self, t: float, dt: float, start: tuple[Array, Array, Array], scheme: Scheme
    ) -> tuple[Array, Array, Array]:
        """q = q_0 + b qdd, qd = qd_0 + c qdd and qdd that satisfy the equations at one time."""
        q_0, qd_0, qdd = start
        b, c = scheme.shares(dt)
        if abs(dt - self._dt) > 1e-9 * dt:
            self._inverse = None
        for renewed in (0, 1, MOST):  # with the matrix at hand, with a new one, with new ones
            self._answer = self._answer if renewed == 0 else None
            found = self._iterated(t, dt, (q_0, qd_0, qdd.copy()), (b, c), renewed)
            if found is not None:
                return found
        hint = ", or keep away from singular poses" if self.model.functions.not_finite else ""
        raise SuppleError(f"a step did not converge at t = {t:g} s: try a smaller step{hint}")

    def _iterated(
        self,
        t: float,
        dt: float,
        start: tuple[Array, Array, Array],
        weights: tuple[float, float],
        renewed: int,
    ) -> tuple[Array, Array, Array] | None:
        (q_0, qd_0, qdd), (b, c), before = start, weights, np.inf
        for count in range(MOST):
            q, qd = q_0 + b * qdd, qd_0 + c * qdd
            u = self._inputs(t, q, qd)
            if self.led:
                k = self.k
                q[:k], qd[:k], qdd[:k] = u[:k], u[k : 2 * k], u[2 * k :]
            r = self._rest(q, qd, qdd, u)
            if count < renewed or self._inverse is None:
                exact = not self.model.functions.iterates or renewed == MOST
                self._inverse = self._matrix(t, (q, qd, qdd), u, (b, c), exact)
                self._dt = dt
            step = self._inverse @ -r
            size = float(np.abs(step).max())
            qdd = qdd + step
            small = b * size <= POSITION * (1e-3 + np.abs(q).max())
            if small and c * size <= VELOCITY * (1e-3 + np.abs(qd).max()):
                if count > QUICK:
                    self._inverse = None
                return q + b * step, qd + c * step, qdd
            if not np.isfinite(size) or (count > 2 and size > 2 * before):
                return None
            before = size
        return None

    def power(self, q: Array, qd: Array) -> float:
        """Power of efforts and wrench less what damping and friction take, after a step."""
        lost = self.model.functions.evaluator("dissipation")(q, qd)[0]
        return float(self.tau @ qd[: self.k] - qd @ lost) + self.given_power

    def _inputs(self, t: float, q: Array, qd: Array) -> Array:
        if not isinstance(self.plan.tau, Feedback):
            if t != self._time:
                self._time, self._row = t, self.plan.inputs(np.array([t]))[0]
            return self._row
        efforts = self.plan.tau(t, q, qd)
        if self.plan.wrench is None:
            return efforts
        return np.concatenate([efforts, self.plan.wrench.value(np.array([t]), 6)[0]])

    def _rest(self, q: Array, qd: Array, qdd: Array, u: Array) -> Array:
        """The residual; the efforts are kept."""
        r: Array
        r, self.tau, power = self.equations.residual(q, qd, qdd, u, self.near)
        self.given_power = float(power[0])
        return r

    def _matrix(
        self,
        t: float,
        state: tuple[Array, Array, Array],
        u: Array,
        weights: tuple[float, float],
        exact: bool,
    ) -> Array:
        """Inverse of d r / d qdd + c d r / d qd + b d r / d q.

        Where that is dear, of M + c D + b K with the answer of the law: gyroscopic and geometric
        terms are left to the iteration.
        """
        (q, qd, _), (b, c), k = state, weights, self.k
        if exact:
            M, C, K = (part(*state, u, self.near)[0] for part in self.equations.slopes)
            A = M + c * C + b * K
        else:
            A = self.model.mass_matrix(q) + c * self.model.damping + b * self.model.stiffness
            if self.equations.answer is not None:
                if self._answer is None:  # kept while it serves, like the matrix
                    self._answer = [part(q, qd, u, self.near)[0] for part in self.equations.answer]
                A[:k] += b * self._answer[0] + c * self._answer[1]
        if self.equations.free and not exact:
            A[:k] = 0.0
            A[:k, :k] = np.eye(k)
        if isinstance(self.plan.tau, Feedback) and self.plan.tau.of_state:
            A[:k, :k] -= self._felt(t, q, qd, u, b, c)
        return np.asarray(np.linalg.inv(A))

    def _felt(self, t: float, q: Array, qd: Array, u: Array, b: float, c: float) -> Array:
        """(k, k): how a function of the state answers to its joints, by differences."""
        out = np.zeros((self.k, self.k))
        for j, e in enumerate(1e-6 * np.eye(len(q))[: self.k]):
            out[:, j] = b * (self._inputs(t, q + e, qd) - u)[: self.k]
            out[:, j] += c * (self._inputs(t, q, qd + e) - u)[: self.k]
        return out / 1e-6


def _on_path(plan: Plan, x: Array) -> bool:
    """Whether a law that holds its joints to the path starts there."""
    if not isinstance(plan.controller, Decoupling) or not isinstance(plan.tau, Reference):
        return False
    k, n = plan.model.joints, plan.model.size
    r, rd, _ = plan.tau.trajectory(0.0)
    return bool(np.abs(x[:k] - r).max() < 1e-12 and np.abs(x[n : n + k] - rd).max() < 1e-12)


class _Equations:
    """Residual and efforts over (q, qd, qdd, inputs), and slopes.

    Attributes:
        free: whether the rows of the joints say their accelerations, not their efforts.
        residual: (r, tau, power of the wrench).  answer: slopes by q and qd of -tau of a law, None
        without one.
    """

    def __init__(self, plan: Plan, led: bool) -> None:
        import casadi as ca

        (model, near), law = near_symbols(plan.model), plan.controller
        n, k, symbol = model.size, model.joints, model.functions.symbol
        q, qd, qdd, x = (symbol(w, s) for w, s in zip("qvax", (n, n, n, plan.width), strict=True))
        u = x[: plan.driven]
        force = model.functions.expression("inverse_dynamics")(q, qd, qdd)
        self.free = isinstance(law, Decoupling)
        self.answer: list[Evaluator] | None = None
        if isinstance(law, Decoupling):
            wanted = Wanted(u[:k], u[k : 2 * k], u[2 * k :])
            second = wanted.rdd if led else law.joint_acceleration(model, q, qd, wanted)
            first, tau = qdd[:k, 0] - second, force[:k, 0]
        else:
            tau = u
            if law is not None:
                tau = law.effort(model, q, qd, Wanted(u[:k], u[k : 2 * k], u[2 * k :]))
                alone = ca.Function("answer", [q, qd, x, near], [ca.densify(-tau)])
                self.answer = [Evaluator(slope(alone, i), True) for i in (0, 1)]
            first = force[:k, 0] - tau  # a slice of one entry alone would be a row
        rows, power = ca.densify(ca.vertcat(first, force[k:, 0])), ca.DM.zeros(1)
        if plan.wrench is not None:
            power = wrench_power(model, q, qd, x[plan.driven :])
            rows = rows - ca.jtimes(power, qd, ca.DM.ones(1), True)
        self._rows = ca.Function("rows", [q, qd, qdd, x, near], [rows])
        whole = ca.Function("residual", [q, qd, qdd, x, near], [rows, ca.densify(tau), power])
        if near.numel():
            parts = [model.functions.expression(name) for name in ("followers", "drift")]
            found = [parts[0](q), parts[1](q, qd)]
            self.followers = Evaluator(ca.Function("followers", [q, qd, near], found))
        self.residual = Evaluator(compiled(whole) if plan.compiled else whole)

    @cached_property
    def slopes(self) -> list[Evaluator]:
        """Slopes of the residual by qdd, qd and q."""
        return [Evaluator(slope(self._rows, i), True) for i in (2, 1, 0)]
