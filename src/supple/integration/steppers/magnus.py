"""Magnus: the elastic motion of an arm whose joints are held to their path, in large steps.

Under Decoupling and started on the path the joints follow it exactly, [Theodore1997] (37)-(39),
and what is left is linear with coefficients that change slowly: x' = A(t) x + f(t). Exponentials of
its mean over a step carry every mode through, fast ones as well as slow ones, so that the step
follows the change of the coefficients and not the fastest frequency. The power of the efforts is
quadratic in x, p = y' P(t) y with y = [x, 1]. A, f and P are smooth between the breaks of the path:
they are asked for at a few Chebyshev points and read as series.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from ...control.controllers import Controller, Decoupling
from ...equations.evaluate import Evaluator
from ...equations.model import Model
from ...kernels.exponentials import exponentials
from ..closed_loop import Reference, closed_rate
from ..held_joints import flexible
from ..plan import Chunk, RunPlan
from .stepper import Stepper

__all__ = ["Magnus"]

Array = NDArray[np.float64]
ENTRIES = 400_000  # of the matrices carried in one go
Ask = Callable[[Array], tuple[Array, Array]]
GAUSS = (0.5 - np.sqrt(3) / 6, 0.5 + np.sqrt(3) / 6)


class Magnus(Stepper):
    """Exponential steps of fourth order."""

    name = "magnus"
    order = 4
    takes = frozenset({"controller"})

    def run(self, plan: RunPlan, x: Array, step: float) -> Iterator[Chunk]:
        """Yield piece after piece."""
        assert isinstance(plan.tau, Reference)
        assert plan.controller is not None
        model = plan.model
        path = plan.tau.trajectory
        k = model.joints
        n = model.size
        y = np.concatenate([x[k:n], x[n + k : 2 * n], [1.0]])
        work = float(x[2 * n])
        # Times, and steps a second that both the slowest and the fastest mode need there. The
        # method is of fourth order; 0.2 rad a step of the slowest mode, for the motion, and 3 of
        # the fastest, for the work, at 1e-9 make the tip of theodore-rrp as good as by adams at the
        # same tolerance, and let the power balance close as well
        system = flexible(model)
        times = np.linspace(plan.grid[0], plan.grid[-1], 17)
        omega = system.frequencies(np.array([system.state(r) for r in path(times)[0]]))
        factor = float(np.clip((plan.tolerance / 1e-9) ** 0.25, 0.1, 2.5))
        speeds = times, np.maximum(omega[:, 0] / (0.2 * factor), omega[:, -1] / (3.0 * factor))
        parts = _functions(model, plan.controller)[0]
        m = n - k

        def ask(t: Array) -> tuple[Array, Array]:
            """Times (n,) to rates (n, m (2 m + 1)) and power (n, (2 m + 1)^2)."""
            push, by_x, power, first, second = parts(*path(t))
            rates = np.concatenate([by_x, push.reshape(-1, m, 1)], axis=2)
            P = np.zeros((len(t), 2 * m + 1, 2 * m + 1))
            P[:, :-1, :-1], P[:, -1, -1] = second / 2, power.ravel()
            P[:, :-1, -1] = P[:, -1, :-1] = first.reshape(-1, 2 * m) / 2
            return rates.reshape(len(t), -1), P.reshape(len(t), -1)

        for a, b in pairwise([*plan.starts, len(plan.grid) - 1]):
            for forms in _forms(ask, m, plan.grid, a, b):
                grid = plan.grid[forms.first : forms.last + 1]
                if np.isfinite(step):  # steps in each interval of the grid
                    counts = np.ceil(np.diff(grid) / step - 1e-9).astype(np.int64)
                else:
                    rate = np.interp(grid, *speeds)
                    wanted = np.diff(grid) * np.maximum(rate[:-1], rate[1:])
                    counts = np.maximum(1, np.ceil(wanted)).astype(np.int64)
                # Runs of intervals with about as many steps each as fit in a few megabytes
                place = np.cumsum(counts) // max(16, ENTRIES // (2 * m + 1) ** 2)
                cuts = (np.flatnonzero(np.diff(place)) + 1).tolist()
                for i, j in pairwise([0, *cuts, len(counts)]):
                    found, y, work = _propagate(forms, grid[i : j + 1], counts[i:j], y, work)
                    r, rd, _ = path(grid[i + 1 : j + 1])
                    states = np.hstack([r, found[:, :m], rd, found[:, m : 2 * m], found[:, -1:]])
                    yield Chunk(forms.first + i + 1, states)

    def refusal(self, plan: RunPlan, x: Array) -> str:
        """Return what keeps a run from being made by exponentials, or nothing."""
        model = plan.model
        if model.functions.needs - self.takes:
            return super().refusal(plan, x)
        if not isinstance(plan.controller, Decoupling) or not isinstance(plan.tau, Reference):
            return "is for Decoupling along a trajectory"
        if model.size == model.joints:
            return "is for links that bend"
        if model.reading.carries_roots:
            return "does not integrate beta"
        path = plan.tau.trajectory
        k = model.joints
        n = model.size
        r, rd, _ = path(0.0)
        if np.abs([*(x[:k] - r), *(x[n : n + k] - rd)]).max(initial=0.0) > 1e-12:
            return "needs a start on the path"
        # Whether the elastic rows are linear and the power quadratic, at a state on the path
        parts, whole_function = _functions(model, plan.controller)
        at = path(0.37 * path.duration)
        x = np.random.default_rng(0).normal(size=2 * (model.size - model.joints)) * 1e-2
        push, by_x, power, first, second = parts(*at)
        rows, p = whole_function(x, *at)
        change = by_x @ x
        straight = np.abs(rows - push - change).max() <= 1e-9 * np.abs(change).max()
        terms = np.array([power.item(), first.ravel() @ x, x @ second @ x / 2])
        if not (straight and abs(p.item() - terms.sum()) <= 1e-9 * np.abs(terms).max()):
            return "needs elastic rows that are linear, as with a point mass on the last link"
        return ""


def _on_path(model: Model, controller: Controller) -> tuple[Evaluator, Evaluator]:
    """(r, rd, u) to push, its Jacobian, and the power's value, slope and Hessian, at x = 0.

    And (x, r, rd, u) to the accelerations and the power themselves, to see what was left out.
    """
    import casadi as ca

    n = model.size
    k = model.joints
    m = n - k
    x, (r, rd, u) = ca.SX.sym("x", 2 * m), (ca.SX.sym(word, k) for word in ("r", "rd", "u"))
    full = closed_rate(model, controller)(ca.vertcat(r, x[:m], rd, x[m:], 0), ca.vertcat(r, rd, u))
    each = full[n + k : 2 * n + 1]  # what depends on x: push and power
    own, names, values = ca.extract_parametric(each, ca.vertcat(r, rd, u))  # the path apart
    push = own[:m]
    power = own[m]
    second, first = ca.hessian(power, x)
    parts = [push, ca.jacobian(push, x), power, first, second]
    at_zero = ca.substitute(parts, [x, *names], [ca.SX.zeros(2 * m), *values])
    dense = [ca.densify(part) for part in ca.cse(at_zero)]
    whole_function = ca.Function(
        "whole", [x, r, rd, u], [ca.densify(each[:m]), ca.densify(each[m])]
    )
    return Evaluator(ca.Function("on_path", [r, rd, u], dense)), Evaluator(whole_function)


def _functions(model: Model, controller: Controller) -> tuple[Evaluator, Evaluator]:
    evaluators: tuple[Evaluator, Evaluator] = model.functions.cached(
        ("on path", controller), _on_path, model, controller
    )
    return evaluators


@dataclass(frozen=True, eq=False)
class _Forms:
    """A with f and P from one time to another as Chebyshev series, m elastic coordinates.

    Attributes
    ----------
    first, last
        Places in the grid.
    rates
        (degree + 1, m (2 m + 1)), accelerations by [x, 1].
    power
        (degree + 1, (2 m + 1)^2), P.
    """

    grid: Array
    first: int
    last: int
    m: int
    rates: Array
    power: Array

    @property
    def half(self) -> float:
        """Half of the time between both ends."""
        return float(self.grid[self.last] - self.grid[self.first]) / 2

    def terms(self, t: Array) -> Array:
        """Return Chebyshev's polynomials at times (n,), (n, degree + 1)."""
        s = (t - self.grid[self.first]) / self.half - 1
        return np.asarray(chebyshev.chebvander(s, len(self.power) - 1))

    def system(self, terms: Array, derivative: int = 0) -> Array:
        """Return [[0, 1, 0], [A, f], [0]] or a derivative of it, (n, 2 m + 1, 2 m + 1)."""
        n = len(terms)
        m = self.m
        out = np.zeros((n, 2 * m + 1, 2 * m + 1))
        out[:, m : 2 * m] = self._sum(terms, self.rates, derivative).reshape(n, m, 2 * m + 1)
        if not derivative:
            out[:, range(m), range(m, 2 * m)] = 1.0
        return out

    def form(self, terms: Array, derivative: int = 0) -> Array:
        """Return P or a derivative of it, (n, 2 m + 1, 2 m + 1)."""
        size = 2 * self.m + 1
        return self._sum(terms, self.power, derivative).reshape(len(terms), size, size)

    def _sum(self, terms: Array, series: Array, derivative: int) -> Array:
        c = chebyshev.chebder(series, derivative) if derivative else series
        # row by row: one large product would wake the threads of BLAS, at a higher price than this
        return np.asarray((terms[:, None, : len(c)] @ c)[:, 0] / self.half**derivative)


def _forms(ask: Ask, m: int, grid: Array, first: int, last: int) -> Iterator[_Forms]:
    """Series over intervals of the grid, as many at once as settle to rounding."""
    middle = (grid[first] + grid[last]) / 2
    half = (grid[last] - grid[first]) / 2
    for count in (16, 32, 64):
        s = chebyshev.chebpts1(count)
        V = chebyshev.chebvander(s, count - 1).T * (2 / count)
        V[0] /= 2
        rates, power = (V @ f for f in ask(middle + half * s))
        settled = _settles(rates, _kinds(m)[m : 2 * m]) and _settles(power, _kinds(m))
        if settled or (count == 64 and last == first + 1):
            yield _Forms(grid, first, last, m, rates, power)
            return
    cut = (first + last) // 2
    yield from _forms(ask, m, grid, first, cut)
    yield from _forms(ask, m, grid, cut, last)


def _kinds(m: int) -> NDArray[np.int64]:
    """(2 m + 1, 2 m + 1): which block an entry is in, of displacements, speeds, the constant."""
    kind = np.repeat([0, 1, 2], [m, m, 1])
    blocks: NDArray[np.int64] = 3 * kind[:, None] + kind
    return blocks


def _settles(c: Array, blocks: NDArray[np.int64]) -> bool:
    """Whether the last coefficients are rounding, against the largest of their block."""
    largest = np.zeros(9)
    flat = blocks.ravel()
    np.maximum.at(largest, flat, np.abs(c).max(axis=0))
    return bool((np.abs(c[-3:]).max(axis=0) <= 1e-12 * largest[flat]).all())


def _propagate(
    forms: _Forms, grid: Array, counts: NDArray[np.int64], y: Array, work: float
) -> tuple[Array, Array, float]:
    """[x, work] at the ends of intervals (n, 2 m + 1), and both at the last one.

    With A at the two Gauss points of each step: exp(h (A1 + A2)/2 + sqrt(3) h^2 [A2, A1]/12).

    Source: [Blanes2009].
    """
    h = np.repeat(np.diff(grid) / counts, counts)
    start = np.repeat(grid[:-1], counts) + h * np.concatenate([np.arange(c) for c in counts])
    A1, A2 = (forms.system(forms.terms(start + c * h)) for c in GAUSS)
    H = h[:, None, None]
    mean = H * (A1 + A2) / 2 + np.sqrt(3) / 12 * H**2 * (A2 @ A1 - A1 @ A2)
    rows = [y]
    for step in exponentials(mean, (len(y) - 1) // 2):
        rows.append(step @ rows[-1])
    states = np.array(rows)
    # (n,) work of each step from the power p = y' P y and two rates of it at both ends. h (p0 +
    # p1)/2 + h^2 (p0' - p1')/10 + h^3 (p0'' + p1'')/120, exact to degree 5
    t = np.append(start, grid[-1])
    terms = forms.terms(t)
    A, Ad = (forms.system(terms, d) for d in range(2))
    P, Pd, Pdd = (forms.form(terms, d) for d in range(3))
    yd = _times(A, states)
    ydd = _times(A, yd) + _times(Ad, states)
    Py = _times(P, states)
    Pdy = _times(Pd, states)
    p = _dot(states, Py)
    pd = 2 * _dot(yd, Py) + _dot(states, Pdy)
    pdd = 2 * (_dot(ydd, Py) + _dot(yd, _times(P, yd))) + 4 * _dot(yd, Pdy)
    pdd = pdd + _dot(states, _times(Pdd, states))
    h = np.diff(t)
    inner = (pd[:-1] - pd[1:]) / 10 + h * (pdd[:-1] + pdd[1:]) / 120
    done = work + np.cumsum(h * ((p[:-1] + p[1:]) / 2 + h * inner))
    ends = np.cumsum(counts) - 1
    found = states[1:][ends]
    found[:, -1] = done[ends]
    return found, rows[-1], float(done[-1])


def _times(A: Array, x: Array) -> Array:
    return np.asarray((A @ x[..., None])[..., 0])


def _dot(x: Array, y: Array) -> Array:
    return np.asarray((x * y).sum(axis=1))
