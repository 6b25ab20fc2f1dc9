"""Gauss's collocation for a Model: implicit steps of sixth order that damp nothing.

With nodes c, weights b and coefficients a of three stages, stage accelerations A_i satisfy
    r(q + c_i h v + h^2 sum (a a)_ij A_j, v + h sum a_ij A_j, A_i) = 0
and carry a step by q_1 = q + h v + h^2 sum (b a)_j A_j, v_1 = v + h sum b_j A_j. A mode that turns
by phi in a step keeps its amplitude and is phi^6 / 100800 slow; modes much faster than the step
stay as small as they are. Nothing is read at the ends of a step, so that inputs may jump there.

Source: [Hairer2006], II.1.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from ...errors import SuppleError
from ...kernels._tape import collocate
from ..plan import Chunk, Plan
from ..spectrum import Spectrum
from .residual import System, inverse
from .stepper import Stepper

__all__ = ["Gauss"]

Array = NDArray[np.float64]
STAGES = 3
PHASE = 0.9  # rad of the fastest rate excited in a step: 5e-6 of a rad is lost in one
USUAL = 1e-9  # tolerance that goes with it
BLOCK = 64  # samples whose inputs are read at once
PIECE = 4  # steps between two switches of the input
HALVINGS = 8
MOST = 14  # iterations of a step
QUICK = 7  # iterations after which the matrix is made anew for the next step


# c (s,), a (s, s), b (s,) of the collocation at Gauss's points in 0..1
_X, _WEIGHTS = legendre.leggauss(STAGES)
_POWERS = np.arange(1, STAGES + 1)
C, B = (1 + _X) / 2, _WEIGHTS / 2
A = C[:, None] ** _POWERS / _POWERS @ np.linalg.inv(np.vander(C, increasing=True))
TWICE = A @ A
TABLEAU = np.concatenate([C, A.ravel(), TWICE.ravel()])
THROUGH = np.linalg.inv(np.vander(C, increasing=True))  # coefficients of the polynomial of values
AHEAD = (1 + C)[:, None] ** np.arange(STAGES)  # powers at the nodes of a step as long, after it
ON = AHEAD @ THROUGH
PLACED = B @ A


class Gauss(Stepper):
    """Implicit steps of sixth order without damping; under Decoupling on its path joints are led.

    The matrix of Newton's method is kept from step to step as long as it leads there quickly.
    """

    name = "gauss"
    order = 2 * STAGES
    late = 1 / 100_800  # (s!)^2 / ((2 s)! (2 s + 1)!) of s = 3 stages
    takes = frozenset({"data", "controller", "wrench", "loops"})

    def own_step(self, plan: Plan, spectrum: Spectrum) -> float:
        """Return PHASE rad of the fastest rate excited, less where a finer tolerance is asked."""
        step = plan.piece / PIECE
        phase = PHASE * min(1.0, plan.tolerance / USUAL) ** (1 / self.order)
        return min(step, phase / spectrum.excited) if spectrum.excited else step

    def run(self, plan: Plan, x: Array, step: float) -> Iterator[Chunk]:
        """Yield state after state."""
        n, system = plan.model.size, _Steps(plan, x)
        q, qd, work = x[:n].copy(), x[n : 2 * n].copy(), float(x[2 * n])
        edges = [*plan.starts, len(plan.grid) - 1]
        for first, last in pairwise(edges):
            system.forget()
            for a in range(first, last, BLOCK):
                ends = plan.grid[a : min(a + BLOCK, last) + 1]
                counts = np.maximum(1, np.ceil(np.diff(ends) / step - 1e-9)).astype(int)
                h = np.repeat(np.diff(ends) / counts, counts)
                t = ends[0] + np.concatenate([[0.0], np.cumsum(h)[:-1]])
                at = t[:, None] + h[:, None] * np.append(C, 1 - 1e-9)
                u = plan.inputs(at.ravel()).reshape(len(t), STAGES + 1, -1)
                done, place = np.cumsum(counts) - 1, a
                for k in range(len(t)):
                    q, qd, power = system.step(float(t[k]), float(h[k]), (q, qd), u[k])
                    work += power
                    if k == done[0]:
                        done, place = done[1:], place + 1
                        yield Chunk(place, np.concatenate([q, qd, [work], system.near])[None])


class _Steps(System):
    """Steps of a plan, the matrix that solves them, and the accelerations of the last one."""

    def __init__(self, plan: Plan, x: Array) -> None:
        super().__init__(plan, x)
        self._inverse: Array | None = None
        self._h = self._last = 0.0
        self._before: Array | None = None
        self._cut = 0
        self._here = self.near.copy()
        self._nears = np.tile(self._here, (STAGES, 1))
        self._x, self._out, self._how = self.equations.residual.rows(STAGES)

    def forget(self) -> None:
        """Start anew: accelerations jump here."""
        self._before, self._nears, self._cut = None, np.tile(self._here, (STAGES, 1)), 0

    def step(
        self, t: float, h: float, start: tuple[Array, Array], u: Array, depth: int = 0
    ) -> tuple[Array, Array, float]:
        """q and qd after a step with inputs u (s + 1, .) at its nodes and end, and the work done.

        One that does not converge within MOST iterations is made in two halves, and so are those
        after it until the next switch.
        """
        if depth >= self._cut and abs(h - self._h) > 1e-9 * h:
            self._inverse = None
        for renewed in (0, 1) if depth >= self._cut else ():  # the matrix at hand, or a new one
            found = self._iterated(t, h, start, u, renewed)
            if found is not None:
                return found
        self._cut = max(self._cut, depth + 1)
        if depth == HALVINGS:
            hint = ", or keep away from singular poses" if self.model.functions.not_finite else ""
            raise SuppleError(f"a step did not converge at t = {t:g} s: try a smaller step{hint}")
        at, work = np.append(C, 1 - 1e-9) * h / 2, 0.0
        for begin in (t, t + h / 2):
            parts = self.plan.inputs(begin + at)
            *now, done = self.step(begin, h / 2, start, parts, depth + 1)
            start, work = (now[0], now[1]), work + done
        return *start, work

    def _iterated(
        self, t: float, h: float, start: tuple[Array, Array], u: Array, renewed: int
    ) -> tuple[Array, Array, float] | None:
        """The state after a step and the work done, or nothing where it does not converge."""
        (q, qd), n, k, width = start, len(start[0]), self.k, u.shape[1]
        acc, near = self._x[:, 2 * n : 3 * n], self._x[:, 3 * n + width :]
        self._x[:, 3 * n : 3 * n + width] = u[:-1]
        # accelerations and followers by the polynomials of the last step
        acc[:], near[:] = 0.0, self._here
        if self._before is not None:
            on = ON
            if h != self._last:
                on = (1 + C * h / self._last)[:, None] ** np.arange(STAGES) @ THROUGH
            acc[:], near[:] = on @ self._before, self._nears
        if self.led:
            self._x[:, :k], self._x[:, n : n + k] = u[:-1, :k], u[:-1, k : 2 * k]
            acc[:, :k] = u[:-1, 2 * k : 3 * k]
        if renewed or self._inverse is None:
            self._renew(t + h / 2, h, start, u[STAGES // 2], renewed)
        count = collocate(
            self._how,
            self._x,
            self._out,
            np.concatenate(start),
            TABLEAU,
            self._inverse,
            k if self.led else 0,
            width,
            near.shape[1],
            h,
            min(USUAL, self.plan.tolerance),  # of the largest displacement and speed, what is left
            MOST,
        )
        if not count:
            return None
        if count > QUICK:
            self._inverse = None
        return self._end(h, q, qd, acc.copy(), u[-1], near)

    def _renew(
        self, t: float, h: float, start: tuple[Array, Array], u: Array, renewed: int
    ) -> None:
        """Make the matrix of a step, its slopes at one state amid the step for all stages."""
        (q, qd), n, k, i = start, len(start[0]), self.k, STAGES // 2
        acc = self._x[:, 2 * n : 3 * n]
        state = (q + h * C[i] * qd + h**2 * TWICE[i] @ acc, qd + h * A[i] @ acc, acc[i])
        if self.led:
            state[0][:k], state[1][:k] = u[:k], u[k : 2 * k]
        self.near = self._x[i, 3 * n + len(u) :].copy()
        self.rest(*state, u)
        parts = self.slopes(t, state, u, not self.model.functions.iterates, renewed > 0)
        weights = np.eye(STAGES), h * A, h**2 * TWICE
        whole = sum(
            a[:, None, :, None] * part[:, None] for a, part in zip(weights, parts, strict=True)
        )
        self._inverse, self._h = inverse(np.reshape(whole, (STAGES * n, -1))), h

    def _end(
        self, h: float, q: Array, qd: Array, acc: Array, u: Array, near: Array
    ) -> tuple[Array, Array, float]:
        """The state after a step."""
        n, k = len(q), self.k
        self._before, self._last = acc, h
        end, speed = q + h * qd + h**2 * (PLACED @ acc), qd + h * (B @ acc)
        if self.led:
            end[:k], speed[:k] = u[:k], u[k : 2 * k]
        # followers of the next stages and of the end, by the polynomial through these
        through = THROUGH @ near
        self._nears = AHEAD @ through
        self.near = self._here = through.sum(axis=0)
        return end, speed, float(h * B @ self._out[:, n + k])
