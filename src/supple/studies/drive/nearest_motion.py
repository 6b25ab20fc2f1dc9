"""The motion whose output comes nearest to a path that no bounded effort follows exactly.

A regularised inverse: of all motions of the Model from rest to rest the one that makes

    1/T int |y - y_d|^2 / d^2 + weight |tau - tau_r|^2 / p^2 dt

least, y the output (chord angles or place of the tip), y_d the path, d its extent, tau_r the
efforts of the unbent arm along it and p the largest of them. As the weight goes to zero this is
the exact inverse where there is one. The equations of motion are met by Hermite-Simpson
collocation with efforts linear between the nodes, and both together by the Gauss-Newton method,
a sparse linear system a step. Weights fall until nothing is gained or the method leaves its range.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...control.trajectories import Trajectory
from ...equations.evaluate import Evaluator
from ...equations.model import Model

__all__ = ["NearestMotion", "StateEquations", "nearest_motion", "nodes_of"]

Array = NDArray[np.float64]
FIRST_WEIGHT = 1.0
WEIGHT_RATIO = 10.0**-0.5  # of two weights in a row
SMALLEST_WEIGHT = 1e-8
LEAST_GAIN = 0.01  # of the mean error: a smaller gain ends the search
MAX_ITERATIONS = 40  # of one weight
CONVERGED = 1e-9  # relative change of the state
NODES_PER_PATH = 200  # at least
MAX_NODES = 4000


@dataclass(frozen=True)
class NearestMotion:
    """A motion from rest to rest near a path.

    Attributes
    ----------
    t
        Nodes (N,), s.
    state
        (N, 2n), q then qd.
    rate
        (N, 2n), its derivative.
    tau
        Efforts (N, joints), linear between the nodes.
    weight
        Of the efforts.
    """

    t: Array
    state: Array
    rate: Array
    tau: Array
    weight: float

    def at(self, t: Array) -> tuple[Array, Array]:
        """Return states (M, 2n) and efforts (M, joints) at times within the window."""
        from scipy.interpolate import CubicHermiteSpline

        tau = np.stack([np.interp(t, self.t, column) for column in self.tau.T], axis=1)
        return np.asarray(CubicHermiteSpline(self.t, self.state, self.rate)(t)), tau


class StateEquations:
    """z' = f(z, tau) of a Model, z = [q, qd], and an output y(q), with their derivatives."""

    def __init__(self, model: Model, output: Any) -> None:
        """output: CasADi expression of the output, given the symbol of q."""
        import casadi as ca

        n = model.size
        z = model.functions.symbol("z", 2 * n)
        a = model.functions.symbol("a", n)
        q = model.functions.symbol("q", n)
        force = model.functions.expression("inverse_dynamics")(z[:n], z[n:], a)
        at_rest = [ca.densify(force), ca.densify(ca.jacobian(force, a))]
        self._force = Evaluator(ca.Function("force", [z, a], ca.cse(at_rest)))
        by_state = ca.densify(ca.jacobian(force, z))
        self._by_state = Evaluator(ca.Function("by_state", [z, a], ca.cse([by_state])))
        y = output(q)
        found = [ca.densify(y), ca.densify(ca.jacobian(y, q))]
        self._output = Evaluator(ca.Function("output", [q], ca.cse(found)))
        self.size = n
        self.joints = model.joints

    def rate(self, z: Array, tau: Array) -> tuple[Array, Array, Array]:
        """Return f (B, 2n), df/dz (B, 2n, 2n) and df/dtau (B, 2n, joints)."""
        n = self.size
        k = self.joints
        count = len(z)
        force, M = self._force(z, np.zeros((count, n)))
        M = M.reshape(count, n, n)
        free = -force.reshape(count, n)
        free[:, :k] += tau
        inverse = np.linalg.inv(M)
        acceleration = (inverse @ free[..., None])[..., 0]
        by_state = self._by_state(z, acceleration)[0].reshape(count, n, 2 * n)
        velocity = np.broadcast_to(np.eye(n, 2 * n, n), (count, n, 2 * n))
        by_z = np.concatenate([velocity, -inverse @ by_state], axis=1)
        by_tau = np.concatenate([np.zeros((count, n, k)), inverse[:, :, :k]], axis=1)
        return np.hstack([z[:, n:], acceleration]), by_z, by_tau

    def output(self, z: Array) -> tuple[Array, Array]:
        """Return y (B, joints) and dy/dq (B, joints, n)."""
        n = self.size
        k = self.joints
        count = len(z)
        y, by_q = self._output(z[:, :n])
        return y.reshape(count, k), by_q.reshape(count, k, n)


def nearest_motion(
    equations: StateEquations,
    path: Trajectory,
    t: Array,
    ends: tuple[Array, Array],
    unbent: tuple[Array, Array],
) -> NearestMotion | None:
    """Return the nearest motion found, None where not even the largest weight has one.

    t: nodes.  ends: states (2n,) at rest.  unbent: state (N, 2n) and efforts (N, joints) of the
    unbent arm along the path, from which the search begins.
    """
    problem = _LeastSquares(equations, path, t, ends, unbent[1])
    state, tau = unbent
    best: NearestMotion | None = None
    mean_error = np.inf
    weight = FIRST_WEIGHT
    while weight >= SMALLEST_WEIGHT:
        found = problem.solve(weight, state, tau)
        if found is None:
            break
        state, tau = found
        rate = equations.rate(state, tau)[0]
        error = problem.mean_error(state)
        gain = 1 - error / mean_error
        if gain > 0:
            best = NearestMotion(t, state, rate, tau, weight)
            mean_error = error
        if gain < LEAST_GAIN:
            break
        weight *= WEIGHT_RATIO
    return best


def nodes_of(path: Trajectory, window: tuple[float, float], fastest: float) -> Array:
    """Return the nodes of a window, the breaks of the path among them.

    fastest: circular frequency of the fastest mode, rad/s, resolved unless that takes MAX_NODES:
    then it follows its loads.
    """
    step = path.duration / NODES_PER_PATH
    if fastest > 0:
        step = min(step, 1 / fastest)
    step = max(step, (window[1] - window[0]) / MAX_NODES)
    marks = sorted({window[0], 0.0, *path.breaks, path.duration, window[1]})
    parts = []
    for a, b in pairwise(marks):
        if b - a > 1e-12:
            parts.append(np.linspace(a, b, int(np.ceil((b - a) / step - 1e-9)) + 1)[:-1])
    return np.concatenate([*parts, [marks[-1]]])


class _LeastSquares:
    """The minimum for one weight, by Gauss-Newton steps on the collocated equations of motion."""

    def __init__(
        self,
        equations: StateEquations,
        path: Trajectory,
        t: Array,
        ends: tuple[Array, Array],
        reference: Array,
    ) -> None:
        self.equations = equations
        self.ends = ends
        self.reference = reference
        self.wanted = path(t)[0]
        self.step = np.diff(t)
        self.time_weights = np.zeros(len(t))  # of the trapezoidal rule, over the path's duration
        self.time_weights[:-1] += self.step / 2 / path.duration
        self.time_weights[1:] += self.step / 2 / path.duration
        self.extent = float(np.linalg.norm(self.wanted - self.wanted[0], axis=1).max()) or 1.0
        self.peak = float(np.abs(reference).max()) or 1.0

    def mean_error(self, state: Array) -> float:
        """Root mean square of the output's distance from the path."""
        error = self.equations.output(state)[0] - self.wanted
        return float(np.sqrt(self.time_weights @ (error**2).sum(axis=1)))

    def solve(self, weight: float, state: Array, tau: Array) -> tuple[Array, Array] | None:
        """Return states and efforts at the minimum, None where the steps do not converge."""
        from scipy.sparse.linalg import splu

        columns = state.shape[1] + tau.shape[1]
        before = np.inf
        for _ in range(MAX_ITERATIONS):
            matrix, right = self._linear_system(weight, state, tau)
            try:
                move = splu(matrix).solve(right)[: len(state) * columns]
            except RuntimeError:  # exactly singular
                return None
            move = move.reshape(len(state), columns)
            state = state + move[:, : state.shape[1]]
            tau = tau + move[:, state.shape[1] :]
            size = float(np.abs(move[:, : state.shape[1]]).max())
            if size <= CONVERGED * float(np.abs(state).max()):
                return state, tau
            if not size < 10 * before or not size < 1e4:  # it runs away
                return None
            before = size
        return None

    def _linear_system(self, weight: float, state: Array, tau: Array) -> tuple[Any, Array]:
        """Return matrix and right side of a step: of states and efforts, then of multipliers."""
        from scipy.sparse import coo_matrix

        equations = self.equations
        n2 = state.shape[1]
        k = tau.shape[1]
        N = len(state)
        n = n2 // 2
        columns = n2 + k

        # quadratic form of the errors and of the efforts, node by node
        y, by_q = equations.output(state)
        per_error = self.time_weights / self.extent**2
        per_effort = weight * self.time_weights / self.peak**2
        curvature = np.zeros((N, columns, columns))
        curvature[:, :n, :n] = per_error[:, None, None] * (np.swapaxes(by_q, 1, 2) @ by_q)
        curvature[:, n2:, n2:] = per_effort[:, None, None] * np.eye(k)
        gradient = np.zeros((N, columns))
        gradient[:, :n] = per_error[:, None] * np.einsum("ijn,ij->in", by_q, y - self.wanted)
        gradient[:, n2:] = per_effort[:, None] * (tau - self.reference)

        defect, by_nodes = self._defects(state, tau)
        # the arm rests at both ends, with the efforts that hold it there
        start = np.concatenate([state[0] - self.ends[0], tau[0] - self.reference[0]])
        end = np.concatenate([state[-1] - self.ends[1], tau[-1] - self.reference[-1]])

        blocks = _Blocks()
        node = np.arange(N) * columns
        blocks.add(curvature, node, node)
        first = N * columns
        rows = first + columns + np.arange(N - 1) * n2
        last = first + columns + (N - 1) * n2
        blocks.add_both(by_nodes, rows, node[:-1])
        blocks.add_both(np.eye(columns)[None], np.array([first]), node[:1])
        blocks.add_both(np.eye(columns)[None], np.array([last]), node[-1:])
        size = last + columns
        entries = (np.concatenate(blocks.values), blocks.places())
        matrix = coo_matrix(entries, shape=(size, size)).tocsc()
        right = -np.concatenate([gradient.ravel(), start, defect.ravel(), end])
        return matrix, right

    def _defects(self, state: Array, tau: Array) -> tuple[Array, Array]:
        """Return what the equations of motion leave over (N - 1, 2n), and its derivatives.

        They are by [state, tau] of the two nodes of an interval, (N - 1, 2n, 2 (2n + joints)).
        """
        h = self.step[:, None]
        H = self.step[:, None, None]
        eye = np.eye(state.shape[1])
        f, A, B = self.equations.rate(state, tau)
        middle = (state[:-1] + state[1:]) / 2 + h / 8 * (f[:-1] - f[1:])
        fm, Am, Bm = self.equations.rate(middle, (tau[:-1] + tau[1:]) / 2)
        defect = state[1:] - state[:-1] - h / 6 * (f[:-1] + 4 * fm + f[1:])
        left = -eye - H / 6 * (A[:-1] + 4 * Am @ (eye / 2 + H / 8 * A[:-1]))
        right = eye - H / 6 * (A[1:] + 4 * Am @ (eye / 2 - H / 8 * A[1:]))
        left_effort = -H / 6 * (B[:-1] + 4 * (Am @ (H / 8 * B[:-1]) + Bm / 2))
        right_effort = -H / 6 * (B[1:] + 4 * (Bm / 2 - Am @ (H / 8 * B[1:])))
        return defect, np.concatenate([left, left_effort, right, right_effort], axis=2)


class _Blocks:
    """Dense blocks of a sparse matrix, collected."""

    def __init__(self) -> None:
        self.rows: list[NDArray[np.int64]] = []
        self.columns: list[NDArray[np.int64]] = []
        self.values: list[Array] = []

    def add(self, blocks: Array, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
        """Add blocks (B, r, c) whose first entries stand at rows and columns (B,)."""
        i, j = np.indices(blocks.shape[1:])
        self.rows.append((rows[:, None, None] + i).ravel())
        self.columns.append((columns[:, None, None] + j).ravel())
        self.values.append(blocks.ravel())

    def add_both(self, blocks: Array, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
        """Add blocks and their transposes on the other side of the diagonal."""
        self.add(blocks, rows, columns)
        self.add(np.swapaxes(blocks, 1, 2), columns, rows)

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows and columns of all values."""
        return np.concatenate(self.rows), np.concatenate(self.columns)
