"""Collocation with its states eliminated: the unknowns are efforts and the duration alone.

The equations of a Collocation determine all states from the efforts, piece after piece. A robot
with many coordinates and few motors is planned much faster if they are solved for inside: each
piece is a small dense system, and IPOPT sees some hundred unknowns instead of ten thousand.

With x = [z, z'] at the start of a piece, w = [z'' and lambda at its points] and p = [efforts, T]:

    F(x, w, p) = 0,    x_next = A x + B w,

whose slopes give dw = -F_w^-1 (F_x dx + F_p dp), all pieces in one forward sweep. Curvature is
exact as well: one backward sweep gives the multipliers of F.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .collocation import (
    SOLVED,
    CollocatedMotion,
    Collocation,
    PointDerivatives,
    Programme,
    Solution,
    SolverLimits,
    slot_weights,
    squared_spline,
)

__all__ = ["Shooting"]

Array = NDArray[np.float64]
NEWTON_STEPS = 12  # at most, for the states of given efforts
CONVERGED = 1e-6  # last step of Newton's method over the sizes of coordinates; it converges squared
FEASIBILITY_STEPS = 15  # from a guess to a motion that arrives
DIVERGED = 1e3  # the same, of states that are given up


class _Evaluated:
    """A `PointDerivatives` at many points at once, as dense arrays."""

    def __init__(self, function: PointDerivatives, points: int) -> None:
        self.inputs = function.inputs
        self.outputs = function.outputs
        self.points = points
        self._value = function.value.map(points)
        self._jacobian = function.jacobian.map(points)
        self._curvature = function.curvature.map(points)
        self._jacobian_places = _places(function.jacobian)
        self._curvature_places = _places(function.curvature)

    def value(self, at: Array) -> Array:
        """(points, outputs) at inputs (points, inputs)."""
        return np.asarray(self._value(at.T)).T

    def jacobian(self, at: Array) -> Array:
        """(points, outputs, inputs)."""
        found = np.zeros((self.points, self.outputs, self.inputs))
        rows, columns = self._jacobian_places
        found[:, rows, columns] = _nonzeros(self._jacobian(at.T), self.points)
        return found

    def curvature(self, at: Array, weights: Array) -> Array:
        """(points, inputs, inputs): second derivative of the weighted sum of outputs."""
        found = np.zeros((self.points, self.inputs, self.inputs))
        rows, columns = self._curvature_places
        values = _nonzeros(self._curvature(at.T, weights.T), self.points)
        found[:, rows, columns] = values
        found[:, columns, rows] = values
        return found


def _places(function: Any) -> tuple[Any, Any]:
    """Rows and columns of the entries of a function's only output."""
    rows, columns = function.sparsity_out(0).get_triplet()
    return np.array(rows, int), np.array(columns, int)


def _nonzeros(matrix: Any, points: int) -> Array:
    """(points, entries) of the outputs of all points, side by side."""
    return np.array(matrix.nonzeros()).reshape(points, -1)


@dataclass
class _Linearised:
    """Slopes of all pieces: F_w^-1 times those by the state and by the local efforts and T."""

    by_unknowns: Array  # F_w, (N, d, d)
    by_state: Array  # F_w^-1 F_x, (N, d, 2 total)
    by_local: Array  # F_w^-1 F_p, (N, d, w joints + 1)
    residual: Array  # F_w^-1 F, (N, d)


@dataclass
class _Sensitivity:
    """Slopes by all unknowns: of states (N + 1, 2 total, p) and of z'', lambda (N, d, p)."""

    state: Array
    unknowns: Array


class Shooting(Programme):
    """The nonlinear programme of a Collocation in its efforts and its duration."""

    def __init__(self, task: Collocation, near: CollocatedMotion, free_duration: bool) -> None:
        super().__init__(task, near, free_duration)
        eq = task.equations
        self.at_tau = np.arange(near.tau.size).reshape(near.tau.shape)
        self.at_duration = near.tau.size
        self.unknowns = near.tau.size + 1
        self.scale = np.append(np.tile(self.effort_scale, len(near.tau)), near.duration)
        self.sizes = self.coordinate_sizes(near)
        self.value, self.first, self.second = slot_weights(1 / self.N)
        self.acting, self.shares = self.effort_weights()
        self.dynamics = _Evaluated(eq.dynamics, 3 * self.N)
        self.closing = None if eq.closing is None else _Evaluated(eq.closing, 3 * self.N)
        self.local = self.acting.shape[1] * eq.joints + 1  # efforts that act in a piece, and T

        # the next state from the last one (A) and from z'' (B)
        one = np.eye(self.total)
        self.A = np.block([[one, self.value[2, 1] * one], [0 * one, one]])
        by_second = [np.kron(part[2, 2:], one) for part in (self.value, self.first)]
        self.B = np.pad(np.vstack(by_second), [(0, 0), (0, 3 * eq.closures)])

        self.motion = near  # solves the equations for its own efforts once `states` returned it
        self.solved: Array | None = None
        self.linearised: _Linearised | None = None
        self.sensitivity: _Sensitivity | None = None

    # ------------------------------------------------------------------ states of given efforts

    def inputs(self, motion: CollocatedMotion) -> Array:
        """(3 N, inputs): z, z', z'', tau, lambda and T at all points."""
        slots = np.concatenate(
            [motion.z[:-1, None], motion.slope[:-1, None], motion.second], axis=1
        )
        parts = [
            np.einsum("ps,nsz->npz", weight, slots)
            for weight in (self.value, self.first, self.second)
        ]
        tau = np.einsum("npc,ncj->npj", self.shares, motion.tau[self.acting])
        duration = np.full((self.N, 3, 1), motion.duration)
        return np.concatenate([*parts, tau, motion.pull, duration], axis=2).reshape(3 * self.N, -1)

    def _linearise(self, motion: CollocatedMotion) -> _Linearised:
        """Slopes of all pieces at a motion."""
        eq = self.task.equations
        N = self.N
        total = self.total
        m = eq.closures
        at = self.inputs(motion)
        value = self.dynamics.value(at).reshape(N, 3, total)
        slopes = self.dynamics.jacobian(at).reshape(N, 3, total, -1)
        if self.closing is not None:
            # accelerations move closures by 1 / N^2: rows of one size
            gap = N**2 * self.closing.value(at[:, :total]).reshape(N, 3, m)
            by_z = N**2 * self.closing.jacobian(at[:, :total]).reshape(N, 3, m, total)
            value = np.concatenate([value, gap], axis=2)
            more = np.zeros((N, 3, m, slopes.shape[3]))
            more[..., :total] = by_z
            slopes = np.concatenate([slopes, more], axis=2)
        by_z, by_first, by_second, by_tau, by_pull, by_T = np.split(
            slopes, np.cumsum([total, total, total, eq.joints, m]), axis=3
        )

        rows = total + m
        unknown = np.zeros((N, 3, rows, 3, rows))  # by z'' of the points, then by lambda
        state = np.zeros((N, 3, rows, 2, total))
        local = np.zeros((N, 3, rows, self.local))
        for p in range(3):
            for j in range(3):
                unknown[:, p, :, j, :total] = (
                    self.value[p, 2 + j] * by_z[:, p] + self.first[p, 2 + j] * by_first[:, p]
                )
            unknown[:, p, :, p, :total] += by_second[:, p]
            unknown[:, p, :, p, total:] = by_pull[:, p]
            state[:, p, :, 0] = by_z[:, p]
            state[:, p, :, 1] = self.value[p, 1] * by_z[:, p] + by_first[:, p]
            efforts = by_tau[:, p, :, None, :] * self.shares[:, p, None, :, None]
            local[:, p, :, :-1] = efforts.reshape(N, rows, -1)
            local[:, p, :, -1] = by_T[:, p, :, 0]
        d = 3 * rows
        parts = [unknown[..., :total].reshape(N, d, -1), unknown[..., total:].reshape(N, d, -1)]
        F_w = np.concatenate(parts, axis=2)
        right = np.concatenate(
            [state.reshape(N, d, -1), local.reshape(N, d, -1), value.reshape(N, d, 1)], axis=2
        )
        size = np.abs(F_w).max(axis=2, keepdims=True)
        found = np.linalg.solve(F_w / size, right / size)
        return _Linearised(
            F_w, found[:, :, : 2 * total], found[:, :, 2 * total : -1], found[:, :, -1]
        )

    def _changed(self, motion: CollocatedMotion, state: Array, unknowns: Array) -> CollocatedMotion:
        """A motion whose states (N + 1, 2 total) and unknowns (N, d) change by so much."""
        total = self.total
        second = unknowns[:, : 3 * total].reshape(self.N, 3, total)
        pull = unknowns[:, 3 * total :].reshape(self.N, 3, -1)
        return replace(
            motion,
            z=motion.z + state[:, :total],
            slope=motion.slope + state[:, total:],
            second=motion.second + second,
            pull=motion.pull + pull,
        )

    def states(self, p: Array) -> CollocatedMotion:
        """Return the motion that efforts and duration make; ArithmeticError if none is found."""
        if self.solved is not None and np.array_equal(p, self.solved):
            return self.motion
        motion = replace(
            self.motion,
            tau=p[self.at_tau],
            duration=float(p[self.at_duration]),
        )
        if self.solved is not None:
            known = self.slopes(self.solved)
            change = p - self.solved
            motion = self._changed(motion, known.state @ change, known.unknowns @ change)
        for _ in range(NEWTON_STEPS):
            linear = self._linearise(motion)
            state, step = self._newton_step(motion, linear)
            motion = self._changed(motion, state, step)
            size = np.abs(state / np.concatenate([self.sizes, 2 * self.sizes])).max()
            if not size < DIVERGED:
                break
            if size < CONVERGED:
                self.motion = motion
                self.solved = p.copy()
                self.linearised = linear
                self.sensitivity = None
                return motion
        raise ArithmeticError("the equations of motion were not solved for these efforts")

    def _newton_step(self, motion: CollocatedMotion, linear: _Linearised) -> tuple[Array, Array]:
        """By how much states (N + 1, 2 total) and unknowns (N, d) miss the equations."""
        parts = [motion.second.reshape(self.N, -1), motion.pull.reshape(self.N, -1)]
        unknowns = np.concatenate(parts, axis=1)
        begins = np.concatenate([motion.z, motion.slope], axis=1)
        gaps = begins[:-1] @ self.A.T + unknowns @ self.B.T - begins[1:]
        state = np.zeros(begins.shape)
        step = np.zeros(unknowns.shape)
        for i in range(self.N):
            step[i] = -(linear.by_state[i] @ state[i] + linear.residual[i])
            state[i + 1] = self.A @ state[i] + self.B @ step[i] + gaps[i]
        return state, step

    def slopes(self, p: Array) -> _Sensitivity:
        """Return the slopes of states and of z'', lambda by the efforts and T."""
        self.states(p)
        if self.sensitivity is None:
            assert self.linearised is not None
            self.sensitivity = self._swept(self.linearised)
        return self.sensitivity

    def _swept(self, linear: _Linearised) -> _Sensitivity:
        """Slopes by all efforts and T, from those of the pieces."""
        state = np.zeros((self.N + 1, 2 * self.total, self.unknowns))
        unknowns = np.zeros((self.N, linear.by_state.shape[1], self.unknowns))
        columns = self._local_columns()
        for i in range(self.N):
            # efforts act on what comes later only
            known = columns[i, -2] + 1
            unknowns[i, :, :known] = -(linear.by_state[i] @ state[i, :, :known])
            unknowns[i, :, -1] = -(linear.by_state[i] @ state[i, :, -1])
            unknowns[i][:, columns[i]] -= linear.by_local[i]
            state[i + 1] = self.A @ state[i] + self.B @ unknowns[i]
        return _Sensitivity(state, unknowns)

    def _local_columns(self) -> Any:
        """(N, local): which unknowns are the efforts that act in each piece, and T."""
        efforts = self.at_tau[self.acting].reshape(self.N, -1)
        return np.concatenate([efforts, np.full((self.N, 1), self.at_duration)], axis=1)

    def _input_slopes(self, p: Array) -> Array:
        """(3 N, inputs, p): slopes of the inputs of all points by the efforts and T."""
        found = self.slopes(p)
        N = self.N
        total = self.total
        m = self.task.equations.closures
        k = self.task.equations.joints
        second = found.unknowns[:, : 3 * total].reshape(N, 3, total, -1)
        z0 = found.state[:-1, :total]
        slope0 = found.state[:-1, total:]
        slopes = np.zeros((N, 3, self.dynamics.inputs, self.unknowns))
        for point in range(3):
            by_second = [
                np.tensordot(weight[point, 2:], second, axes=(0, 1))
                for weight in (self.value, self.first)
            ]
            slopes[:, point, :total] = z0 + self.value[point, 1] * slope0 + by_second[0]
            slopes[:, point, total : 2 * total] = slope0 + by_second[1]
        slopes[:, :, 2 * total : 3 * total] = second
        for joint in range(k):
            for c in range(self.acting.shape[1]):
                columns = self.at_tau[self.acting[:, c], joint]
                slopes[np.arange(N), :, 3 * total + joint, columns] = self.shares[:, :, c]
        slopes[:, :, 3 * total + k : -1] = found.unknowns[:, 3 * total :].reshape(N, 3, m, -1)
        slopes[:, :, -1, self.at_duration] = 1.0
        return slopes.reshape(3 * N, self.dynamics.inputs, -1)

    # ------------------------------------------------------------------ rows

    def _end_rows(self) -> tuple[Array, Array]:
        """Rows (2 r, 2 total) of the last state, scaled, and what they have to be."""
        task = self.task
        n = task.equations.size
        r = len(task.end_rows)
        rows = np.zeros((2 * r, 2 * self.total))
        rows[:r, :n] = task.end_rows
        rows[r:, self.total : self.total + n] = task.end_rows
        goal = np.concatenate(
            [task.end_rows @ (task.end[:n] + task.aim[0]), task.end_rows @ task.aim[1]]
        )
        size = np.abs(rows) @ np.concatenate([self.sizes, 2 * self.sizes])
        return rows / size[:, None], goal / size

    def rows(self, p: Array, with_slopes: bool) -> tuple[Array, Array | None]:
        """Return all rows, and their slopes by the efforts and T (rows, p).

        At rest at the end; |z'| - limit T of joints with a limit of speed; joints with limits;
        the squares of bending and stress.
        """
        motion = self.states(p)
        task = self.task
        k = task.equations.joints
        total = self.total
        last = np.concatenate([motion.z[-1], motion.slope[-1]])
        end_rows, _ = self._end_rows()
        values = [end_rows @ last]
        at = self.inputs(motion)
        slopes = []
        moved = np.zeros((0, 0, 0))
        if with_slopes:
            slopes.append(end_rows @ self.slopes(p).state[-1])
            if self._along():
                moved = self._input_slopes(p)
        for joint in np.flatnonzero(np.isfinite(task.speed)):
            size = 2 * self.sizes[joint]
            for sign in (1.0, -1.0):
                allowed = task.speed[joint] * at[:, -1]
                values.append((sign * at[:, total + joint] - allowed) / size)
                if with_slopes:
                    by_T = task.speed[joint] * moved[:, -1]
                    slopes.append((sign * moved[:, total + joint] - by_T) / size)
        for joint in np.flatnonzero(np.isfinite(task.low[:k]) | np.isfinite(task.high[:k])):
            values.append(at[:, joint] / self.sizes[joint])
            if with_slopes:
                slopes.append(moved[:, joint] / self.sizes[joint])
        n = task.equations.size
        for by_q, by_qq in task.bounded:
            q = at[:, :n]
            bend = q @ by_q.T + np.einsum("ti,rij,tj->tr", q, by_qq, q)
            values.append((bend**2).sum(axis=1))
            if with_slopes:
                by_state = by_q + 2 * np.einsum("rij,tj->tri", by_qq, q)
                gradient = 2 * np.einsum("tr,tri->ti", bend, by_state)
                slopes.append(np.einsum("ti,tip->tp", gradient, moved[:, :n]))
        return np.concatenate(values), np.concatenate(slopes) if with_slopes else None

    def _along(self) -> bool:
        """Whether something is limited all along the move."""
        task = self.task
        limited = np.concatenate([task.speed, task.low, task.high])
        return bool(task.bounded) or bool(np.isfinite(limited).any())

    def row_bounds(self) -> tuple[Array, Array]:
        """Return the bounds of all rows."""
        task = self.task
        k = task.equations.joints
        points = 3 * self.N
        _, goal = self._end_rows()
        low = [goal]
        high = [goal]
        for _ in np.flatnonzero(np.isfinite(task.speed)):
            low.append(np.full(2 * points, -np.inf))
            high.append(np.zeros(2 * points))
        for joint in np.flatnonzero(np.isfinite(task.low[:k]) | np.isfinite(task.high[:k])):
            low.append(np.full(points, task.low[joint] / self.sizes[joint]))
            high.append(np.full(points, task.high[joint] / self.sizes[joint]))
        for _ in task.bounded:
            low.append(np.full(points, -np.inf))
            high.append(np.ones(points))
        return np.concatenate(low), np.concatenate(high)

    def curvature(self, p: Array, multipliers: Array) -> Array:
        """Return the second derivative (p, p) of the rows' weighted sum."""
        motion = self.states(p)
        linear = self.linearised
        assert linear is not None
        task = self.task
        eq = task.equations
        N = self.N
        total = self.total
        m = eq.closures
        k = eq.joints
        n = eq.size
        points = 3 * N
        at = self.inputs(motion)

        # Slopes of the sum by the last state and by z, z' at the points
        end_rows, _ = self._end_rows()
        weights = np.split(multipliers, np.cumsum([len(end_rows)]))
        last = end_rows.T @ weights[0]
        rest = weights[1].reshape(-1, points)
        direct = np.zeros((points, 2 * total))
        own = np.zeros((points, n, n))
        row = 0
        for joint in np.flatnonzero(np.isfinite(task.speed)):
            direct[:, total + joint] += (rest[row] - rest[row + 1]) / (2 * self.sizes[joint])
            row += 2
        for joint in np.flatnonzero(np.isfinite(task.low[:k]) | np.isfinite(task.high[:k])):
            direct[:, joint] += rest[row] / self.sizes[joint]
            row += 1
        q = at[:, :n]
        for by_q, by_qq in task.bounded:
            bend = q @ by_q.T + np.einsum("ti,rij,tj->tr", q, by_qq, q)
            by_state = by_q + 2 * np.einsum("rij,tj->tri", by_qq, q)
            weight = rest[row]
            direct[:, :n] += 2 * weight[:, None] * np.einsum("tr,tri->ti", bend, by_state)
            squares = np.einsum("tri,trj->tij", by_state, by_state)
            bends = 2 * np.einsum("tr,rij->tij", bend, by_qq)
            own += 2 * weight[:, None, None] * (squares + bends)
            row += 1

        # Multipliers of F, backwards
        by_z = direct[:, :total].reshape(N, 3, total)
        by_first = direct[:, total:].reshape(N, 3, total)
        by_second = np.einsum("npz,pj->njz", by_z, self.value[:, 2:])
        by_second += np.einsum("npz,pj->njz", by_first, self.first[:, 2:])
        by_unknowns = np.pad(by_second.reshape(N, -1), [(0, 0), (0, 3 * m)])
        by_slope = np.einsum("npz,p->nz", by_z, self.value[:, 1]) + by_first.sum(axis=1)
        by_start = np.concatenate([by_z.sum(axis=1), by_slope], axis=1)
        later = last
        for i in reversed(range(N)):
            by_unknowns[i] += self.B.T @ later
            later = self.A.T @ later - linear.by_state[i].T @ by_unknowns[i] + by_start[i]
        transposed = linear.by_unknowns.transpose(0, 2, 1)
        pulls = -np.linalg.solve(transposed, by_unknowns[:, :, None])[:, :, 0]
        pulls = pulls.reshape(points, total + m)

        slopes = self._input_slopes(p)
        bent = self.dynamics.curvature(at, pulls[:, :total])
        if self.closing is not None:
            closures = N**2 * pulls[:, total:]
            bent[:, :total, :total] += self.closing.curvature(at[:, :total], closures)
        bent[:, :n, :n] += own
        each = np.matmul(bent, slopes).reshape(-1, self.unknowns)
        return np.asarray(slopes.reshape(-1, self.unknowns).T @ each)

    # ------------------------------------------------------------------ scaled unknowns

    def _efforts_at_rest(self) -> Array:
        """(coefficients, joints): efforts from which those of the fastest move are counted."""
        if not self.free_duration:
            return np.zeros(self.at_tau.shape)
        places = (np.arange(len(self.at_tau)) - 2) / max(1, len(self.at_tau) - 5)
        first, last = self.task.rest
        return np.asarray(first + np.outer(np.clip(places, 0.0, 1.0), last - first))

    def parameters(self, x: Array) -> tuple[Array, Array]:
        """Return the efforts and T of scaled unknowns, and their slopes (p, p).

        Where T is free, unknown efforts are those beyond rest times (T / T0)^2: another T then
        means nearly the same motion at another pace.
        """
        p = x * self.scale
        slopes = np.diag(self.scale)
        if self.free_duration:
            T0 = self.scale[-1]
            T = p[-1]
            ratio = (T0 / T) ** 2
            beyond = ratio * p[:-1]
            p = np.append(self._efforts_at_rest().ravel() + beyond, T)
            slopes[:-1] *= ratio
            slopes[:-1, -1] = -2 * beyond / T * T0
        return p, slopes

    def unknowns_of(self, motion: CollocatedMotion) -> Array:
        """Return the scaled unknowns of a motion."""
        ratio = (motion.duration / self.scale[-1]) ** 2 if self.free_duration else 1.0
        beyond = ratio * (motion.tau - self._efforts_at_rest())
        return np.append(beyond.ravel(), motion.duration) / self.scale

    def _all_rows(self, x: Array) -> Array:
        """The rows, then the efforts where they are no unknowns."""
        p, _ = self.parameters(x)
        values = self.rows(p, with_slopes=False)[0]
        if not self.free_duration:
            return values
        return np.append(values, p[:-1] / self.scale[:-1])

    def _all_slopes(self, x: Array) -> Array:
        """Slopes of all rows by the scaled unknowns."""
        p, by_x = self.parameters(x)
        slopes = self.rows(p, with_slopes=True)[1]
        assert slopes is not None
        slopes = slopes @ by_x
        if not self.free_duration:
            return slopes
        return np.concatenate([slopes, by_x[:-1] / self.scale[:-1, None]])

    def _all_curvature(self, x: Array, multipliers: Array) -> Array:
        """Second derivative of the weighted sum of all rows by the scaled unknowns."""
        p, by_x = self.parameters(x)
        efforts = len(p) - 1 if self.free_duration else 0
        count = len(multipliers) - efforts
        own = multipliers[:count]
        H = np.asarray(by_x.T @ self.curvature(p, own) @ by_x)
        if not self.free_duration:
            return H
        slopes = self.rows(p, with_slopes=True)[1]
        assert slopes is not None
        by_effort = (own @ slopes)[:-1] + multipliers[count:] / self.scale[:-1]
        T0 = self.scale[-1]
        T = p[-1]
        mixed = by_effort * np.diag(by_x)[:-1] * (-2 / T * T0)
        H[:-1, -1] += mixed
        H[-1, :-1] += mixed
        H[-1, -1] += by_effort @ (p[:-1] - self._efforts_at_rest().ravel()) * 6 * (T0 / T) ** 2
        return H

    def _bounds(self) -> tuple[Array, Array, Array, Array]:
        """Bounds of the scaled unknowns and of all rows."""
        low = np.full(self.unknowns, -np.inf)
        high = -low
        self.effort_bounds(low, high)
        low_rows, high_rows = self.row_bounds()
        if self.free_duration:
            low_efforts = low[:-1].copy()
            high_efforts = high[:-1].copy()
            low_rows = np.append(low_rows, low_efforts / self.scale[:-1])
            high_rows = np.append(high_rows, high_efforts / self.scale[:-1])
            fixed = low_efforts == high_efforts
            beyond = low_efforts - self._efforts_at_rest().ravel()
            low[:-1] = np.where(fixed, beyond, -np.inf)
            high[:-1] = np.where(fixed, beyond, np.inf)
            low_rows[-len(fixed) :][fixed] = -np.inf
            high_rows[-len(fixed) :][fixed] = np.inf
        return low / self.scale, high / self.scale, low_rows, high_rows

    # ------------------------------------------------------------------ the programme

    def _feasible(self, guess: CollocatedMotion) -> CollocatedMotion:
        """The least effort from a guess without limits, by Newton's method on linear equations.

        A guess seldom moves as its efforts would, least of all where the arm falls by itself.
        States and efforts that change together find a motion that arrives.
        """
        end_rows, goal = self._end_rows()
        low = np.full(self.unknowns, -np.inf)
        high = -low
        self.effort_bounds(low, high)
        free = np.flatnonzero(low[:-1] < high[:-1])
        weights = self._squared_efforts()[np.ix_(free, free)]
        motion = guess
        sizes = np.concatenate([self.sizes, 2 * self.sizes])
        for _ in range(FEASIBILITY_STEPS):
            linear = self._linearise(motion)
            state, unknowns = self._newton_step(motion, linear)
            slopes = self._swept(linear)
            by_effort = end_rows @ slopes.state[-1][:, free]
            last = np.concatenate([motion.z[-1], motion.slope[-1]])
            missed = goal - end_rows @ (last + state[-1])
            efforts = motion.tau.ravel()[free]
            m = len(goal)
            system = np.block([[weights, by_effort.T], [by_effort, np.zeros((m, m))]])
            right = np.concatenate([-weights @ efforts, missed])
            change = np.zeros(self.unknowns)
            change[free] = np.linalg.lstsq(system, right, rcond=1e-14)[0][: len(free)]
            state = state + slopes.state @ change
            unknowns = unknowns + slopes.unknowns @ change
            size = np.abs(state / sizes).max()
            if not np.isfinite(size):
                return guess
            part = min(1.0, 1 / size)
            motion = self._changed(motion, part * state, part * unknowns)
            motion = replace(motion, tau=motion.tau + part * change[:-1].reshape(motion.tau.shape))
            if size < 1e-3:
                break
        return motion

    def _squared_efforts(self) -> Array:
        """(p - 1, p - 1): the quadratic form of the integral of squared efforts."""
        width = 4 if self.smooth else 2
        overlap = squared_spline() if self.smooth else np.array([[2.0, 1.0], [1.0, 2.0]]) / 6
        knots = np.zeros((len(self.at_tau), len(self.at_tau)))
        for i in range(self.controls):
            knots[i : i + width, i : i + width] += overlap / self.controls
        return np.asarray(np.kron(knots, np.eye(self.at_tau.shape[1])), float)

    def solve(self, guess: CollocatedMotion, given: SolverLimits) -> Solution:
        """Return what IPOPT finds from a guess."""
        import casadi as ca

        low, high, low_rows, high_rows = self._bounds()
        self.solved = None
        self.motion = guess
        begin = np.clip(self.unknowns_of(guess), low, high)
        try:
            self.states(self.parameters(begin)[0])
        except (ArithmeticError, np.linalg.LinAlgError):
            self.motion = self._feasible(guess)
            begin = np.clip(self.unknowns_of(self.motion), low, high)

        x = ca.MX.sym("x", self.unknowns)
        parameter = ca.MX.sym("p", 0)
        cost_weight = ca.MX.sym("cost")
        weights = ca.MX.sym("weights", len(low_rows))
        cost, (rows, columns, values) = self.cost(x)
        cost_curvature = np.zeros((self.unknowns, self.unknowns))
        np.add.at(cost_curvature, (rows, columns), values)
        row_values = _called("rows", [self.unknowns], (len(low_rows), 1), self._all_rows)
        jacobian = _called(
            "slopes", [self.unknowns], (len(low_rows), self.unknowns), self._all_slopes
        )
        curvature = _called(
            "curvature",
            [self.unknowns, len(low_rows)],
            (self.unknowns, self.unknowns),
            self._all_curvature,
        )
        g = row_values(x)
        H = ca.triu(curvature(x, weights) + cost_weight * ca.DM(cost_curvature))
        found, status, iterations = self.run_ipopt(
            {"x": x, "f": cost, "g": g},
            {
                "jac_g": ca.Function("jac_g", [x, parameter], [g, jacobian(x)]),
                "hess_lag": ca.Function("hess_lag", [x, parameter, cost_weight, weights], [H]),
                "show_eval_warnings": False,
            },
            {"x0": begin, "lbx": low, "ubx": high, "lbg": low_rows, "ubg": high_rows},
            given,
        )
        success = status in SOLVED
        motion = guess
        try:
            motion = self.states(self.parameters(np.array(found["x"]).ravel())[0])
        except (ArithmeticError, np.linalg.LinAlgError):
            success = False
        return Solution(motion, success, status, iterations)


def _called(name: str, inputs: list[int], output: tuple[int, int], function: Any) -> Any:
    """Return a CasADi function that calls Python; NaN, which IPOPT steps back from, on failure."""
    import casadi as ca

    class Called(ca.Callback):
        """One output of dense vectors."""

        def __init__(self) -> None:
            ca.Callback.__init__(self)
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, i: int) -> Any:
            return ca.Sparsity.dense(inputs[i], 1)

        def get_sparsity_out(self, i: int) -> Any:
            return ca.Sparsity.dense(*output)

        def eval(self, arg: Any) -> list[Any]:
            try:
                found = function(*(np.array(value).ravel() for value in arg))
            except (ArithmeticError, np.linalg.LinAlgError):
                found = np.full(output, np.nan)
            return [ca.DM(np.asarray(found).reshape(output))]

    return Called()
