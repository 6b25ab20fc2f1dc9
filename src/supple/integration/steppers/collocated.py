"""One step of Gauss's collocation: stage accelerations that satisfy the equations of a plan.

With nodes c, weights b and coefficients a of six stages, stage accelerations A_i satisfy
    r(q + c_i h v + h^2 sum (a a)_ij A_j, v + h sum a_ij A_j, A_i) = 0
and carry a step by q_1 = q + h v + h^2 sum (b a)_j A_j, v_1 = v + h sum b_j A_j.

Slopes M, D, K of r at one state amid the step serve all stages. With a = V diag(l) V^-1 the
equations of Newton's method then part into M + h l_k D + h^2 l_k^2 K, each as large as one stage;
those of conjugate l_k are conjugate, so that there is one complex matrix for two stages.

Source: [Hairer2006], II.1.3.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from ...errors import SuppleError
from ...kernels._tape import collocate
from ..plan import RunPlan
from .residual import System

__all__ = [
    "AHEAD",
    "LEARNED",
    "SPLIT",
    "STAGES",
    "TABLEAU",
    "THROUGH",
    "TWICE",
    "USUAL",
    "A",
    "B",
    "C",
    "CollocationSteps",
    "stage_inverses",
]

Array = NDArray[np.float64]
STAGES = 6  # an even number: eigenvalues of the method are pairs
USUAL = 1e-9  # tolerance of a step's equations, unless a finer one is asked
HALVINGS = 8
MOST = 14  # iterations of a step
QUICK = 7  # iterations after which the matrix is made anew for the next step
PATIENCE = 4  # halved steps before a whole one is tried again
LEARNED = (
    20  # pairs of vectors by which iterations better the matrix, before the first is forgotten
)


# c (s,), a (s, s), b (s,) of the collocation at Gauss's points in 0..1
_X, _WEIGHTS = legendre.leggauss(STAGES)
_POWERS = np.arange(1, STAGES + 1)
C = (1 + _X) / 2
B = _WEIGHTS / 2
A = C[:, None] ** _POWERS / _POWERS @ np.linalg.inv(np.vander(C, increasing=True))
TWICE = A @ A
TABLEAU = np.concatenate([C, A.ravel(), TWICE.ravel()])
_VALUES, _VECTORS = np.linalg.eig(A)
_PAIRS = np.flatnonzero(_VALUES.imag > 0)  # the other half is conjugate
EIGENVALUES = _VALUES[_PAIRS]
_TO = np.linalg.inv(_VECTORS)[_PAIRS]
_BACK = 2 * _VECTORS.T[_PAIRS]
SPLIT = np.ascontiguousarray(np.stack([_TO.real, _TO.imag, _BACK.real, _BACK.imag], axis=1))
THROUGH = np.linalg.inv(np.vander(C, increasing=True))  # coefficients of the polynomial of values
AHEAD = (1 + C)[:, None] ** np.arange(STAGES)  # powers at the nodes of a step as long, after it
PLACED = B @ A


def stage_inverses(M: Array, D: Array, K: Array, h: float) -> Array:
    """Return the inverses (pairs, 2, N, N) that solve all stages of a step of h, re and im.

    Not numbers where there are none: no step converges.
    """
    own = h * EIGENVALUES[:, None, None]
    try:
        found = np.linalg.inv(M + own * D + own**2 * K)
    except np.linalg.LinAlgError:
        found = np.full((len(own), *M.shape), np.nan + 0j)
    return np.ascontiguousarray(np.stack([found.real, found.imag], axis=1))


class CollocationSteps(System):
    """Steps of a plan, the matrix that solves them, and the accelerations of the last one."""

    def __init__(self, plan: RunPlan, x: Array) -> None:
        super().__init__(plan, x)
        self._inverse: Array | None = None
        self._parts: tuple[Array, Array, Array] | None = None  # d r / d qdd, d qd and d q
        self.mass = np.zeros((plan.model.size, plan.model.size))  # d r / d qdd, of late
        self._h = self._last = 0.0
        self._before: Array | None = None
        self._cut = self._halved = 0  # how often steps are halved, and how many of them were
        self._patience = PATIENCE
        # iterations that a matrix costs by being old
        self._excess = 0
        self._fewest = MOST
        self._here = self.near.copy()
        self._followers = self._constant_prediction()
        self._x, self._out, self._how = self.equations.residual.rows(STAGES)
        self._learned = np.zeros((LEARNED, 2 * STAGES * plan.model.size + 1))
        self._learned_count = np.zeros(1, np.int64)

    def forget(self) -> None:
        """Start anew: accelerations jump here."""
        self._before, self._followers = None, self._constant_prediction()
        self._cut = 0
        self._patience = PATIENCE

    def _constant_prediction(self) -> Array:
        """Coefficients of followers that stay where they are."""
        return np.vstack([self._here, np.zeros((STAGES - 1, len(self._here)))])

    def step(
        self, t: float, h: float, start: tuple[Array, Array], u: Array, depth: int = 0
    ) -> tuple[Array, Array, float]:
        """q and qd after a step with inputs u (s + 1, .) at its nodes and end, and the work done.

        One that does not converge within MOST iterations is made in two halves, and so are those
        after it, until they have converged for a while; each failure makes that twice as long.
        """
        if not depth and self._cut:
            self._halved += 1
            if self._halved > self._patience:
                self._halved = 0
                self._cut = self._cut - 1
        if depth >= self._cut and abs(h - self._h) > 1e-9 * h:
            self._inverse = self._parts = None
        for renewed in (0, 1) if depth >= self._cut else ():  # the matrix at hand, or a new one
            found = self._iterated(t, h, start, u, renewed)
            if found is not None:
                return found
        if depth >= self._cut:
            self._cut = depth + 1
            self._halved = 0
            self._patience = 2 * self._patience
        if depth == HALVINGS:
            hint = ", or keep away from singular poses" if self.model.functions.not_finite else ""
            raise SuppleError(f"a step did not converge at t = {t:g} s: try a smaller step{hint}")
        at = np.append(C, 1 - 1e-9) * h / 2
        work = 0.0
        for begin in (t, t + h / 2):
            parts = self.plan.inputs(begin + at)
            *now, done = self.step(begin, h / 2, start, parts, depth + 1)
            start = (now[0], now[1])
            work = work + done
        return *start, work

    def _iterated(
        self, t: float, h: float, start: tuple[Array, Array], u: Array, renewed: int
    ) -> tuple[Array, Array, float] | None:
        """The state after a step and the work done, or nothing where it does not converge."""
        (q, qd), n, k, width = start, len(start[0]), self.k, u.shape[1]
        acc = self._x[:, 2 * n : 3 * n]
        guess = self._x[:, 3 * n + width :]
        self._x[:, 3 * n : 3 * n + width] = u[:-1]
        # accelerations and followers by the polynomials of the last step
        acc[:] = 0.0
        guess[:] = self._here
        if self._before is not None:
            ahead = AHEAD
            if h != self._last:
                ahead = (1 + C * h / self._last)[:, None] ** np.arange(STAGES)
            acc[:] = ahead @ THROUGH @ self._before
            guess[:] = ahead @ self._followers
        if self.holds_path:
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
            SPLIT,
            self._inverse,
            self._learned,
            self._learned_count,
            k if self.holds_path else 0,
            width,
            guess.shape[1],
            h,
            min(USUAL, self.plan.tolerance),  # of the largest displacement and speed, what is left
            MOST,
        )
        if not count:
            return None
        # a new matrix costs about as much as an iteration for each coordinate
        self._fewest = min(self._fewest, count)
        self._excess += count - self._fewest
        if count > QUICK or self._excess > n:
            self._inverse = self._parts = None
        return self._end(h, q, qd, acc.copy(), u[-1], guess)

    def _renew(
        self, t: float, h: float, start: tuple[Array, Array], u: Array, renewed: int
    ) -> None:
        """Make the matrix of a step, its slopes at one state amid the step for all stages."""
        (q, qd), n, k, i = start, len(start[0]), self.k, STAGES // 2
        acc = self._x[:, 2 * n : 3 * n]
        state = (q + h * C[i] * qd + h**2 * TWICE[i] @ acc, qd + h * A[i] @ acc, acc[i])
        if self.holds_path:
            state[0][:k], state[1][:k] = u[:k], u[k : 2 * k]
        self.near = self._x[i, 3 * n + len(u) :].copy()
        if self._parts is None or renewed:
            self.residual_at(*state, u)
            exact = not self.model.functions.iterates
            self._parts = self.slopes(t, state, u, exact, renewed > 0)
            self.mass = self._parts[0]
        self._inverse = stage_inverses(*self._parts, h)
        self._h = h
        self._learned_count[0] = 0
        self._excess = 0
        self._fewest = MOST

    def _end(
        self, h: float, q: Array, qd: Array, acc: Array, u: Array, near: Array
    ) -> tuple[Array, Array, float]:
        """The state after a step."""
        n = len(q)
        k = self.k
        self._before = acc
        self._last = h
        end = q + h * qd + h**2 * (PLACED @ acc)
        speed = qd + h * (B @ acc)
        if self.holds_path:
            end[:k], speed[:k] = u[:k], u[k : 2 * k]
        # followers of the next stages and of the end, by the polynomial through these
        self._followers = THROUGH @ near
        self.near = self._here = self._followers.sum(axis=0)
        return end, speed, float(h * B @ self._out[:, n + k])
