"""Generalised-alpha: implicit steps for a Model under efforts, a function or a Controller.

The equations hold at every step, in the accelerations themselves; Newton's matrix is kept from step
to step as long as it leads there quickly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...kernels.newmark import Scheme
from ...kernels.newmark import generalised_alpha as scheme_of
from ..inputs import Feedback
from ..plan import Chunk, Plan
from ..sampled import timetable
from ..spectrum import Spectrum
from .residual import System
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
        step = plan.piece / PIECE
        return min(step, PHASE / spectrum.excited) if spectrum.excited else step

    def run(self, plan: Plan, x: Array, step: float) -> Iterator[Chunk]:
        """Yield state after state."""
        n, scheme = plan.model.size, scheme_of(RADIUS)
        work = float(x[2 * n])
        system = _Steps(plan, x)
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
                before = system.power
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
                q, qd, qdd = system.step(at, dt, (guess[0], guess[1], qdd), scheme)
                a = guess[2] + scheme.weight * qdd
                after = system.power
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


class _Steps(System):
    """Steps of a plan, and the matrix that solves them."""

    def __init__(self, plan: Plan, x: Array) -> None:
        super().__init__(plan, x)
        self._inverse: Array | None = None
        self._dt = 0.0

    def first(self, t: float, h: float, q: Array, qd: Array) -> Array:
        """qdd after a switch, as an implicit step feels it: modes faster than it are left out.

        Efforts that jump there would throw these modes about, and the first step with them.
        """
        u, qdd = self.inputs(t, q, qd), np.zeros_like(q)
        if self.led:
            qdd[: self.k] = u[2 * self.k :]
        exact = not self.model.functions.iterates
        A = self._matrix(t, (q, qd, qdd), u, (h**2, h), exact)
        qdd = qdd - A @ self.rest(q, qd, qdd, u)
        self.rest(q, qd, qdd, u)  # for the efforts
        return np.asarray(qdd)

    def step(
        self, t: float, dt: float, start: tuple[Array, Array, Array], scheme: Scheme
    ) -> tuple[Array, Array, Array]:
        """q = q_0 + b qdd, qd = qd_0 + c qdd and qdd that satisfy the equations at one time."""
        q_0, qd_0, qdd = start
        b, c = scheme.shares(dt)
        if abs(dt - self._dt) > 1e-9 * dt:
            self._inverse = None
        for renewed in (0, 1, MOST):  # with the matrix at hand, with a new one, with new ones
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
            u = self.inputs(t, q, qd)
            if self.led:
                k = self.k
                q[:k], qd[:k], qdd[:k] = u[:k], u[k : 2 * k], u[2 * k :]
            r = self.rest(q, qd, qdd, u)
            if count < renewed or self._inverse is None:
                exact = not self.model.functions.iterates or renewed == MOST
                self._inverse = self._matrix(t, (q, qd, qdd), u, (b, c), exact, renewed > 0)
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

    def _matrix(
        self,
        t: float,
        state: tuple[Array, Array, Array],
        u: Array,
        weights: tuple[float, float],
        exact: bool,
        anew: bool = False,
    ) -> Array:
        """Inverse of d r / d qdd + c d r / d qd + b d r / d q."""
        M, C, K = self.slopes(t, state, u, exact, anew)
        return np.asarray(np.linalg.inv(M + weights[1] * C + weights[0] * K))
