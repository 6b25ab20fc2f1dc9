"""Rest-to-rest moves by collocation on the implicit equations of motion.

Time is measured as s = t / T, from 0 to 1, on N equal pieces. Every coordinate z of the tree, and
its slope z' = dz/ds, is a cubic on each piece, efforts are linear from end to end or cubic
B-splines, and the equations

    M z'' / T^2 + h(z, z' / T) + .. - B tau - C(z)' lambda = 0

are met at the three Radau points of every piece (Radau IIA, order 5). The method is L-stable: modes
that are faster than the pieces follow their loads quasi-statically, and do not ring at a false
frequency. No mass matrix is inverted and no closure is solved inside: loops enter by the forces
lambda of their closures and by c = 0, both at every point. First and second derivatives are exact:
those of one point, spread over the pieces by constant matrices.

Source: [Biegler2010] for direct collocation.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...equations.closed.coupled import ClosedFunctions
from ...equations.model import Model

__all__ = [
    "NODES",
    "OUT_OF_TIME",
    "SOLVED",
    "CollocatedMotion",
    "Collocation",
    "PointDerivatives",
    "PointEquations",
    "Programme",
    "Solution",
    "SolverLimits",
    "Transcription",
    "point_places",
    "slot_weights",
    "spline_weights",
    "squared_spline",
    "without_limits",
]

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
NODES = np.array([0.0, (4 - np.sqrt(6)) / 10, (4 + np.sqrt(6)) / 10, 1.0])  # start, Radau's points
SLOTS = 5  # unknowns that a value inside a piece depends on: z, z' at its start, z'' at its points
TIME_SMOOTHING = (
    2e-4  # weight of squared efforts beside the duration: joints that do not matter stay calm
)
TOLERANCE = 1e-8  # of IPOPT, on scaled equations
SOLVED = ("Solve_Succeeded", "Solved_To_Acceptable_Level")  # IPOPT's words for a solution
OUT_OF_TIME = "out of time"


def _lagrange(fraction: Array) -> tuple[Array, Array]:
    """Return weights (.., 4) of values at the NODES for the value and the slope at fractions."""
    x = np.asarray(fraction, float)
    value = np.ones((*x.shape, 4))
    slope = np.zeros((*x.shape, 4))
    for i in range(4):
        others = [j for j in range(4) if j != i]
        size = np.prod([NODES[i] - NODES[j] for j in others])
        value[..., i] = np.prod([x - NODES[j] for j in others], axis=0) / size
        for left_out in others:
            rest = [j for j in others if j != left_out]
            slope[..., i] += np.prod([x - NODES[j] for j in rest], axis=0) / size
    return value, slope


def _radau() -> Array:
    """Return the matrix (3, 3) of Radau IIA: integrals of the quadratics from 0 to the points."""
    powers = np.vander(NODES[1:], 3, increasing=True)  # values of 1, x, x^2 at the points
    order = np.arange(1, 4)
    integrals = NODES[1:, None] ** order / order
    return np.asarray(integrals @ np.linalg.inv(powers))


def spline_weights(fraction: Array) -> Array:
    """Return weights (.., 4) of the coefficients of a uniform cubic B-spline inside an interval."""
    x = np.asarray(fraction, float)
    weights = [(1 - x) ** 3, 3 * x**3 - 6 * x**2 + 4, -3 * x**3 + 3 * x**2 + 3 * x + 1, x**3]
    return np.asarray(np.stack(weights, axis=-1) / 6)


def slot_weights(step: float) -> tuple[Array, Array, Array]:
    """Return weights (3, SLOTS) of (z0, z'0, z''1, z''2, z''3) for z, z', z'' at the points."""
    A = step * _radau()
    value = np.hstack([np.ones((3, 1)), step * NODES[1:, None], A @ A])
    first = np.hstack([np.zeros((3, 1)), np.ones((3, 1)), A])
    second = np.hstack([np.zeros((3, 2)), np.eye(3)])
    return value, first, second


class PointEquations:
    """The equations of motion of a Model at one instant, as CasADi functions.

    Attributes
    ----------
    size
        n, of q.
    joints
        k, efforts.
    closures
        m, rows of the loops; the tree has n + m coordinates z = [q, followers].
    dynamics
        Of [z, z', z'', tau, lambda, T], (n + m) forces.
    closing
        Of z, m: c; None without loops.
    """

    def __init__(self, model: Model) -> None:
        import casadi as ca

        functions = model.functions
        self.size = model.size
        self.joints = model.joints
        loops = functions.loops if isinstance(functions, ClosedFunctions) else None
        self.closures = 0 if loops is None else len(loops.followers)
        self.total = self.size + self.closures

        z = ca.SX.sym("z", self.total)
        first = ca.SX.sym("z1", self.total)
        second = ca.SX.sym("z2", self.total)
        tau = ca.SX.sym("tau", self.joints)
        pull = ca.SX.sym("pull", self.closures)
        duration = ca.SX.sym("T")
        velocity = first / duration
        acceleration = second / duration**2
        effort = ca.vertcat(tau, ca.SX.zeros(self.total - self.joints))
        self.closing: PointDerivatives | None = None

        if loops is None:
            force = functions.expression("inverse_dynamics")(z, velocity, acceleration)
        else:
            assert isinstance(functions, ClosedFunctions)
            tree = [part[loops.order] for part in (z, velocity, acceleration)]
            force = functions.tree("inverse")(*tree, loops.gravity)
            for name in functions.at_rest:
                force = force + functions.tree(name)(tree[0])
            force = force + functions.tree("lost")(*tree[:2])
            force = force[[*loops.independent, *loops.followers]]
            q = z[: self.size]
            w = z[self.size :]
            by_z = ca.horzcat(
                functions.solved.closures["U"](q, w), functions.solved.closures["W"](q, w)
            )
            force = force - ca.mtimes(by_z.T, pull)
            gap = functions.solved.closures["c"](q, w)
            self.closing = PointDerivatives(z, gap)
        point = ca.vertcat(z, first, second, tau, pull, duration)
        self.dynamics = PointDerivatives(point, force - effort)


class PointDerivatives:
    """An expression of scalars as functions of its symbols: value, Jacobian, curvature."""

    def __init__(self, symbols: Any, rows: Any) -> None:
        import casadi as ca

        self.inputs: int = symbols.numel()
        self.outputs: int = rows.numel()
        weights = ca.SX.sym("weights", self.outputs)
        jacobian = ca.jacobian(rows, symbols)
        curvature = ca.triu(ca.hessian(ca.dot(weights, rows), symbols)[0])
        self.value = ca.Function("value", [symbols], [ca.densify(rows)])
        self.jacobian = ca.Function("jacobian", [symbols], [jacobian])
        self.curvature = ca.Function("curvature", [symbols, weights], [curvature])


@dataclass(frozen=True)
class CollocatedMotion:
    """A motion on N pieces.

    Attributes
    ----------
    duration
        T, s.
    z, slope
        (N + 1, total) coordinates and dz/ds at the ends of pieces.
    second
        (N, 3, total) d2z/ds2 at the points.
    tau
        (N_u + 1, joints), linear between, or the coefficients (N_u + 3, joints) of cubic B-splines;
        N is a multiple of N_u.
    pull
        (N, 3, closures) at the points.
    smooth
        Whether efforts are B-splines.
    """

    duration: float
    z: Array
    slope: Array
    second: Array
    tau: Array
    pull: Array
    smooth: bool = False

    @property
    def controls(self) -> int:
        """N_u, intervals of the efforts."""
        return len(self.tau) - (3 if self.smooth else 1)

    @property
    def pieces(self) -> int:
        """N."""
        return len(self.z) - 1

    def _nodes(self) -> tuple[Array, Array]:
        """z and dz/ds at the start and the points of each piece, (N, 4, total) each."""
        value, first, _ = slot_weights(1 / self.pieces)
        unknowns = np.concatenate([self.z[:-1, None], self.slope[:-1, None], self.second], axis=1)
        z = np.concatenate([self.z[:-1, None], np.einsum("ps,nsz->npz", value, unknowns)], axis=1)
        slope = np.einsum("ps,nsz->npz", first, unknowns)
        return z, np.concatenate([self.slope[:-1, None], slope], axis=1)

    def at(self, s: Array) -> tuple[Array, Array]:
        """Return z and dz/ds at places s (M,)."""
        N = self.pieces
        piece = np.minimum((s * N).astype(int), N - 1)
        weights = _lagrange(s * N - piece)[0]
        z, slope = self._nodes()
        return (
            np.einsum("mc,mcz->mz", weights, z[piece]),
            np.einsum("mc,mcz->mz", weights, slope[piece]),
        )

    def on(self, pieces: int) -> CollocatedMotion:
        """Return the same motion on another number of pieces."""
        N = self.pieces
        z, slope = self.at(np.linspace(0.0, 1.0, pieces + 1))
        new_points = point_places(pieces)
        piece = np.minimum((new_points * N).astype(int), N - 1)
        weights = N * _lagrange(new_points * N - piece)[1]
        second = np.einsum("mc,mcz->mz", weights, self._nodes()[1][piece])
        points = point_places(N)
        pull = np.zeros((3 * pieces, self.pull.shape[2]))
        for k, column in enumerate(self.pull.reshape(3 * N, -1).T):
            pull[:, k] = np.interp(new_points, points, column)
        return replace(
            self,
            z=z,
            slope=slope,
            second=second.reshape(pieces, 3, -1),
            pull=pull.reshape(pieces, 3, -1),
        )

    def efforts_on(self, pieces: int) -> Array:
        """Return the efforts (pieces + 1, joints) at the ends of so many pieces, linear between."""
        new = np.linspace(0.0, 1.0, pieces + 1)
        if self.smooth:
            interval = np.minimum((new * self.controls).astype(int), self.controls - 1)
            weights = spline_weights(new * self.controls - interval)
            coefficients = self.tau[interval[:, None] + np.arange(4)]
            efforts = np.asarray(np.einsum("mc,mcj->mj", weights, coefficients))
            # chords of a curve have another mean than it by h^2 / 12 of its curvature
            efforts[1:-1] -= np.diff(efforts, 2, axis=0) / 12
            return efforts
        old = np.linspace(0.0, 1.0, len(self.tau))
        return np.stack([np.interp(new, old, column) for column in self.tau.T], axis=1)


def point_places(pieces: int) -> Array:
    """Return s of the points of all pieces, (3 N,)."""
    each = np.arange(pieces)[:, None] + NODES[1:]
    return np.asarray(each.ravel() / pieces)


@dataclass(frozen=True)
class Collocation:
    """What is asked of a move, whatever the number of pieces.

    Attributes
    ----------
    equations
        Of the Model.
    start, end
        (total,) coordinates of the tree at rest.
    effort, speed
        (joints,) limits, infinite where there is none.
    low, high
        (joints,) limits of the joint coordinates.
    bounded
        Quadratic forms of q that stay below one, as [A (r, n), B (r, n, n)] each: the sum of (A q +
        q' B q)^2.
    held_at_ends
        Whether efforts begin and end at what holds the arm, smoothly.
    rest
        Efforts there, (2, joints).
    end_rows
        (r, n) rows of q - end, and of q', that vanish at the end: amplitudes of modes, but for
        those that are faster than the pieces and follow their loads.
    typical
        (total,) sizes of the coordinates, at least.
    aim
        (2, n) by which q and q' at the end are to differ from rest there: what corrects the errors
        of a replay.
    """

    equations: PointEquations
    start: Array
    end: Array
    effort: Array
    speed: Array
    low: Array
    high: Array
    bounded: tuple[tuple[Array, Array], ...]
    held_at_ends: bool
    rest: Array
    end_rows: Array
    typical: Array
    aim: Array


@dataclass(frozen=True)
class Solution:
    """What IPOPT found: the motion, whether it is one, its status in words, and its iterations."""

    motion: CollocatedMotion
    success: bool
    status: str
    iterations: int


@dataclass(frozen=True)
class SolverLimits:
    """How long IPOPT may search.

    Attributes
    ----------
    iterations
        At most.
    deadline
        Of time.thread_time(), s.
    near_solution
        Whether the guess is nearly the answer.
    report
        Called after each iteration.
    """

    iterations: int
    deadline: float = np.inf
    near_solution: bool = False
    report: Callable[[], None] | None = None


@dataclass(frozen=True)
class _Group:
    """Rows of one kind, met at many points: how the inputs of a point follow from the unknowns.

    Attributes
    ----------
    function
        Of one point.
    place, weight
        (points, inputs, SLOTS) unknowns and their weights.
    scale
        (outputs,) of rows.
    low, high
        (outputs,) of scaled rows.
    """

    function: PointDerivatives
    place: Integers
    weight: Array
    scale: Array
    low: Array
    high: Array


def _sparse_sum(
    shape: tuple[int, int], rows: Integers, columns: Integers, parts: Any
) -> tuple[Any, Any]:
    """Return a sparsity and the matrix that sums entries which fall on one place into it.

    `parts`: (source, weight) of every entry: its place among the values of all points.
    """
    import casadi as ca
    from scipy import sparse

    source, weight, count = parts
    at = columns.astype(np.int64) * shape[0] + rows
    place, which = np.unique(at, return_inverse=True)
    pattern = ca.Sparsity.triplet(*shape, (place % shape[0]).tolist(), (place // shape[0]).tolist())
    add = sparse.csc_matrix((weight, (which, source)), shape=(len(place), count))
    add.sum_duplicates()
    layout = ca.Sparsity(len(place), count, add.indptr.tolist(), add.indices.tolist())
    return pattern, ca.DM(layout, add.data)


class Programme:
    """What every nonlinear programme of a Collocation has: efforts, a duration, a cost, IPOPT.

    Attributes
    ----------
    at_tau
        (coefficients, joints) places of the efforts among the unknowns.
    at_duration
        Place of the duration.
    scale
        (unknowns,) typical sizes.
    """

    at_tau: Integers
    at_duration: int
    unknowns: int
    scale: Array

    def __init__(self, task: Collocation, near: CollocatedMotion, free_duration: bool) -> None:
        self.task = task
        self.N = near.pieces
        self.smooth = near.smooth
        self.controls = near.controls
        self.free_duration = free_duration
        self.total = task.equations.total
        self.effort_scale = np.maximum(np.abs(near.tau).max(axis=0), 1e-12)
        self.effort_scale = np.maximum(self.effort_scale, 1e-3 * self.effort_scale.max())

    def coordinate_sizes(self, near: CollocatedMotion) -> Array:
        """Return typical sizes of the coordinates (total,), from a motion nearby."""
        joints = self.task.equations.joints
        travel = np.ptp(near.z, axis=0)
        fast = np.abs(near.slope).max(axis=0)
        each = np.maximum(travel, fast / 4)
        typical = each[:joints].max(initial=1e-9)
        least = np.full(self.total, 1e-9 * typical)
        least[:joints] = 1e-3 * typical
        return np.asarray(np.maximum(np.maximum(each, least), self.task.typical))

    def effort_weights(self) -> tuple[Integers, Array]:
        """Return which efforts act at every point, (N, w), and by which weight, (N, 3, w)."""
        pieces_of_control = self.N // self.controls
        control = np.arange(self.N) // pieces_of_control
        width = 4 if self.smooth else 2
        after = (np.arange(self.N) % pieces_of_control)[:, None] + NODES[1:]
        after = after / pieces_of_control
        share = spline_weights(after) if self.smooth else np.stack([1 - after, after], axis=2)
        return control[:, None] + np.arange(width), share

    def effort_bounds(self, low: Array, high: Array) -> None:
        """Write the bounds of efforts and of the duration, not yet scaled."""
        task = self.task
        low[self.at_tau] = -task.effort
        high[self.at_tau] = task.effort
        if task.held_at_ends:
            # three equal coefficients: value, slope and curvature of a B-spline are those of rest
            ends = 3 if self.smooth else 1
            for knots, effort in ((self.at_tau[:ends], 0), (self.at_tau[-ends:], 1)):
                low[knots] = task.rest[effort]
                high[knots] = task.rest[effort]
        T = self.scale[self.at_duration]
        low[self.at_duration] = 0.02 * T if self.free_duration else T
        high[self.at_duration] = 20 * T if self.free_duration else T

    def cost(self, x: Any) -> tuple[Any, tuple[Integers, Integers, Array]]:
        """The cost, and the entries of its constant curvature (upper triangle).

        The integral of the squared efforts, exact between the ends of pieces, over T times the
        square of their scale; for the fastest move the duration and a little of it.
        """
        import casadi as ca

        # in raw units, all joints by the same weight
        square = (self.effort_scale / np.linalg.norm(self.effort_scale)) ** 2
        if self.free_duration:
            limit = np.where(np.isfinite(self.task.effort), self.task.effort, self.effort_scale)
            square = (self.effort_scale / limit) ** 2 / len(limit)
        factor = (TIME_SMOOTHING if self.free_duration else 1.0) / self.controls
        overlap = squared_spline() if self.smooth else np.array([[2.0, 1.0], [1.0, 2.0]]) / 6
        cost = ca.MX(0)
        rows = []
        columns = []
        values = []
        for i in range(len(overlap)):
            for j in range(i, len(overlap)):
                a = self.at_tau[i : i + self.controls].ravel()
                b = self.at_tau[j : j + self.controls].ravel()
                each = factor * np.tile(square, self.controls) * overlap[i, j] * (1 + (i != j))
                cost = cost + ca.dot(ca.DM(each), x[a.tolist()] * x[b.tolist()])
                rows.append(a)
                columns.append(b)
                values.append(each * (1 + (i == j)))
        if self.free_duration:
            cost = cost + x[int(self.at_duration)]
        return cost, (np.concatenate(rows), np.concatenate(columns), np.concatenate(values))

    def run_ipopt(
        self,
        problem: dict[str, Any],
        derivatives: dict[str, Any],
        arguments: dict[str, Any],
        given: SolverLimits,
    ) -> tuple[Any, str, int]:
        """Return what IPOPT finds, its status in words and its iterations."""
        import casadi as ca

        interrupted: list[bool] = []
        options = {
            "ipopt": {
                "print_level": 0,
                "max_iter": given.iterations,
                "tol": TOLERANCE,
                "acceptable_tol": 1e-6,
                "acceptable_iter": 10,
                "sb": "yes",
                "nlp_scaling_method": "none",
                "mu_strategy": "adaptive"
                if self.free_duration and not given.near_solution
                else "monotone",
                "mu_init": 1e-4 if given.near_solution else 1e-2,
                "bound_relax_factor": 1e-9,
                # multipliers that fit a guess cost a factorisation without structure
                "constr_mult_init_max": 0.0,
                # stiff links and loops: a weak pivot test takes rounding for negative curvature
                "mumps_pivtol": 0.1,
                "mumps_scaling": 8,
            },
            "print_time": False,
            "no_nlp_grad": True,
            "iteration_callback": _stop_when(
                interrupted, given, self.unknowns, problem["g"].numel()
            ),
        }
        solver = ca.nlpsol("plan", "ipopt", problem, options | derivatives)
        with _noting_interrupts(interrupted):
            found = solver(**arguments)
        stats = solver.stats()
        status = str(stats["return_status"])
        if interrupted:
            raise KeyboardInterrupt
        if status == "User_Requested_Stop":
            status = OUT_OF_TIME
        return found, status, int(stats["iter_count"])


class Transcription(Programme):
    """The nonlinear programme of a Collocation on N pieces, scaled by a motion nearby."""

    def __init__(self, task: Collocation, near: CollocatedMotion, free_duration: bool) -> None:
        super().__init__(task, near, free_duration)
        eq = task.equations
        N = self.N

        # Places of the unknowns: z and z' of all ends, z'', efforts, pulls, duration
        sizes = [(N + 1, self.total), (N + 1, self.total), (N, 3, self.total)]
        sizes += [(len(near.tau), eq.joints), (N, 3, eq.closures)]
        starts = np.cumsum([0, *(int(np.prod(size)) for size in sizes)])
        places = [
            start + np.arange(int(np.prod(size))).reshape(size)
            for start, size in zip(starts[:-1], sizes, strict=True)
        ]
        self.at_z, self.at_slope, self.at_second, self.at_tau, self.at_pull = places
        self.at_duration = int(starts[-1])
        self.unknowns = self.at_duration + 1
        self.scale = self._unknown_scales(near)
        self.groups = self._groups(near)

    # ------------------------------------------------------------------ scales

    def _unknown_scales(self, near: CollocatedMotion) -> Array:
        """Typical sizes of the unknowns, from a motion nearby."""
        eq = self.task.equations
        scale = np.ones(self.unknowns)
        each = self.coordinate_sizes(near)
        scale[self.at_z] = each
        scale[self.at_slope] = 2 * each
        scale[self.at_second] = 6 * each
        scale[self.at_tau] = self.effort_scale
        if eq.closures:
            pull = np.abs(near.pull).max(axis=(0, 1))
            scale[self.at_pull] = np.maximum(pull, 1e-2 * max(pull.max(), 1e-9))
        scale[self.at_duration] = near.duration
        return scale

    def pack(self, motion: CollocatedMotion) -> Array:
        """Return the scaled unknowns of a motion."""
        found = np.zeros(self.unknowns)
        found[self.at_z] = motion.z
        found[self.at_slope] = motion.slope
        found[self.at_second] = motion.second
        found[self.at_tau] = motion.tau
        found[self.at_pull] = motion.pull
        found[self.at_duration] = motion.duration
        return np.asarray(found / self.scale)

    def unpack(self, x: Array) -> CollocatedMotion:
        """Return the motion of scaled unknowns."""
        found = x * self.scale
        return CollocatedMotion(
            float(found[self.at_duration]),
            found[self.at_z],
            found[self.at_slope],
            found[self.at_second],
            found[self.at_tau],
            found[self.at_pull],
            self.smooth,
        )

    # ------------------------------------------------------------------ groups of rows

    def _slots(self, columns: Any = slice(None)) -> Integers:
        """(N, coordinates, SLOTS): places of z, z' at the start of pieces, and of z'' at points."""
        parts = (self.at_z[:-1], self.at_slope[:-1], *self.at_second.transpose(1, 0, 2))
        return np.stack([part[:, columns] for part in parts], axis=2)

    def _groups(self, near: CollocatedMotion) -> list[_Group]:
        """All rows: equations of motion, slopes, closures, speeds and bending."""
        import casadi as ca

        eq = self.task.equations
        N = self.N
        slots = self._slots()
        value, first, second = slot_weights(1 / N)
        groups = []

        # Equations of motion at every point
        acting, shares = self.effort_weights()
        knots = self.at_tau[acting].transpose(0, 2, 1)
        ends = np.full((N, 1, 1), self.at_duration)
        places = []
        weights = []
        for point in range(3):
            place = [slots, slots, slots, _pad_slots(knots)]
            weight = [np.broadcast_to(each[point], slots.shape) for each in (value, first, second)]
            weight.append(_pad_slots(np.broadcast_to(shares[:, point, None, :], knots.shape)))
            place.append(_pad_slots(self.at_pull[:, point, :, None]))
            weight.append(_pad_slots(np.ones((N, eq.closures, 1))))
            place.append(_pad_slots(ends))
            weight.append(_pad_slots(np.ones(ends.shape)))
            places.append(np.concatenate(place, axis=1))
            weights.append(np.concatenate(weight, axis=1))
        dynamics = (np.concatenate(places), np.concatenate(weights))
        groups.append(self._group(eq.dynamics, *dynamics, near, (0.0, 0.0)))

        # What a piece ends with begins the next
        next_value = ca.SX.sym("next")
        own_value = ca.SX.sym("own")
        function = PointDerivatives(ca.vertcat(next_value, own_value), next_value - own_value)
        own_slots = slots.reshape(-1, 1, SLOTS)
        for nexts, last in ((self.at_z[1:], value[2]), (self.at_slope[1:], first[2])):
            place = [_pad_slots(nexts.reshape(-1, 1, 1)), own_slots]
            weight = [_pad_slots(np.ones((own_slots.shape[0], 1, 1)))]
            weight.append(np.broadcast_to(last, own_slots.shape))
            both = (np.concatenate(place, axis=1), np.concatenate(weight, axis=1))
            groups.append(self._group(function, *both, near, (0.0, 0.0), each_point=True))

        # Loops are shut at every point; accelerations move them by 1 / N^2
        if eq.closing is not None:
            place_all, weight_all = self._at_points(value)
            group = self._group(eq.closing, place_all, weight_all, near, (0.0, 0.0))
            groups.append(replace(group, scale=group.scale / N**2))

        # At rest at the end, mode by mode
        q = ca.SX.sym("q", eq.size)
        function = PointDerivatives(q, ca.mtimes(ca.DM(self.task.end_rows), q))
        goal = self.task.end_rows @ (self.task.end[: eq.size] + self.task.aim[0])
        speed_goal = self.task.end_rows @ self.task.aim[1]
        for last, wanted in ((self.at_z[N], goal), (self.at_slope[N], speed_goal)):
            place_end = _pad_slots(last[None, : eq.size, None])
            weight_end = _pad_slots(np.ones((1, eq.size, 1)))
            group = self._group(function, place_end, weight_end, near, (0.0, 0.0))
            exact = wanted / group.scale
            groups.append(replace(group, low=exact, high=exact))

        # Speeds at every point: |z'| <= limit T
        for joint in np.flatnonzero(np.isfinite(self.task.speed)):
            slope = ca.SX.sym("slope")
            duration = ca.SX.sym("T")
            limit = float(self.task.speed[joint])
            rows = ca.vertcat(slope - limit * duration, -slope - limit * duration)
            function = PointDerivatives(ca.vertcat(slope, duration), rows)
            own = self._slots([joint])
            place = [np.concatenate([own, _pad_slots(ends)], axis=1)] * 3
            ones = _pad_slots(np.ones(ends.shape))
            weight = [
                np.concatenate([np.broadcast_to(first[point], own.shape), ones], axis=1)
                for point in range(3)
            ]
            speeds = (np.concatenate(place), np.concatenate(weight))
            groups.append(self._group(function, *speeds, near, (-np.inf, 0.0)))

        # Deflection and stress at every point
        for by_q, by_qq in self.task.bounded:
            moving = np.flatnonzero(np.abs(by_q).any(axis=0) | np.abs(by_qq).any(axis=(0, 1)))
            q = ca.SX.sym("q", len(moving))
            rows = ca.SX(0)
            for row, form in zip(by_q[:, moving], by_qq[:, moving][:, :, moving], strict=True):
                bend = ca.dot(ca.DM(row), q)
                if form.any():
                    bend = bend + ca.dot(q, ca.mtimes(ca.DM(form), q))
                rows = rows + bend**2
            function = PointDerivatives(q, rows)
            bent = self._at_points(value, moving)
            below = np.array([-np.inf])
            groups.append(_Group(function, *bent, np.ones(1), below, np.ones(1)))
        return groups

    def _at_points(self, weights: Array, columns: Any = slice(None)) -> tuple[Integers, Array]:
        """Places and weights (3 N, coordinates, SLOTS) of values at every point."""
        slots = self._slots(columns)
        each = [np.broadcast_to(weights[point], slots.shape) for point in range(3)]
        return np.concatenate([slots] * 3), np.concatenate(each)

    def _group(
        self,
        function: PointDerivatives,
        place: Integers,
        weight: Array,
        near: CollocatedMotion,
        bounds: tuple[float, float],
        each_point: bool = False,
    ) -> _Group:
        """A group whose rows are scaled so that their largest scaled slope nearby is one."""
        x = self.pack(near) * self.scale
        points = (weight * x[place]).sum(axis=2)
        # slopes of a smooth motion are small differences of large numbers: typical sizes instead
        sizes = (np.abs(weight) * self.scale[place]).sum(axis=2)
        if function is self.task.equations.dynamics:
            each = self.scale[self.at_z[0]]
            sizes[:, : 3 * self.total] = np.concatenate([each, 2 * each, 6 * each])
        rows, columns = (
            np.array(part, int) for part in function.jacobian.sparsity_out(0).get_triplet()
        )
        some = np.unique(np.linspace(0, len(points) - 1, min(len(points), 12)).astype(int))
        scale = np.zeros(function.outputs)
        for p in some:
            slopes = np.abs(np.array(function.jacobian(points[p]).nonzeros()))
            np.maximum.at(scale, rows, slopes * sizes[p, columns])
        scale = np.maximum(scale, 1e-12 * max(scale.max(), 1e-300))
        if each_point:  # linear rows of one kind whose unknowns differ in size
            scale = np.ones(function.outputs)
            weight = weight / self.scale[place[:, :1, :1]]
        ones = np.ones(function.outputs)
        return _Group(function, place, weight, scale, bounds[0] * ones, bounds[1] * ones)

    # ------------------------------------------------------------------ the programme

    def _points(self, group: _Group, x: Any) -> Any:
        """(inputs, points): the inputs of all points from the scaled unknowns, an expression."""
        import casadi as ca
        from scipy import sparse

        points, inputs, _ = group.place.shape
        rows = np.repeat(np.arange(points * inputs), SLOTS)
        values = (group.weight * self.scale[group.place]).ravel()
        used = values != 0
        spread = sparse.csc_matrix(
            (values[used], (rows[used], group.place.ravel()[used])),
            shape=(points * inputs, self.unknowns),
        )
        starts = spread.indptr.tolist()
        layout = ca.Sparsity(points * inputs, self.unknowns, starts, spread.indices.tolist())
        return ca.reshape(ca.mtimes(ca.DM(layout, spread.data), x), inputs, points)

    def solve(self, guess: CollocatedMotion, given: SolverLimits) -> Solution:
        """Return what IPOPT finds from a guess."""
        import casadi as ca

        x = ca.MX.sym("x", self.unknowns)
        parameter = ca.MX.sym("p", 0)
        cost_weight = ca.MX.sym("cost")
        points = [self._points(group, x) for group in self.groups]
        values = [
            ca.vec(group.function.value.map(at.size2())(at) / ca.DM(group.scale))
            for group, at in zip(self.groups, points, strict=True)
        ]
        g = ca.vertcat(*values)
        cost, cost_entries = self.cost(x)
        weights = ca.MX.sym("weights", g.numel())
        low, high = self._bounds()
        low_rows = np.concatenate([np.tile(group.low, len(group.place)) for group in self.groups])
        high_rows = np.concatenate([np.tile(group.high, len(group.place)) for group in self.groups])
        found, status, iterations = self.run_ipopt(
            {"x": x, "f": cost, "g": g},
            {
                "jac_g": self._jacobian(x, parameter, points, g),
                "hess_lag": self._curvature(
                    x, parameter, points, cost_weight, weights, cost_entries
                ),
            },
            {
                "x0": np.clip(self.pack(guess), low, high),
                "lbx": low,
                "ubx": high,
                "lbg": low_rows,
                "ubg": high_rows,
            },
            given,
        )
        motion = self.unpack(np.array(found["x"]).ravel())
        return Solution(motion, status in SOLVED, status, iterations)

    def _bounds(self) -> tuple[Array, Array]:
        """Bounds of the scaled unknowns."""
        task = self.task
        k = task.equations.joints
        high = np.full(self.unknowns, np.inf)
        low = -high
        low[self.at_z[:, :k]] = task.low
        high[self.at_z[:, :k]] = task.high
        low[self.at_z[0]] = task.start
        high[self.at_z[0]] = task.start
        low[self.at_slope[0]] = 0.0
        high[self.at_slope[0]] = 0.0
        self.effort_bounds(low, high)
        return low / self.scale, high / self.scale

    def _jacobian(self, x: Any, parameter: Any, points: list[Any], g: Any) -> Any:
        """The slopes of all rows as a CasADi function."""
        import casadi as ca

        rows: list[Integers] = []
        columns: list[Integers] = []
        sources: list[Integers] = []
        weights: list[Array] = []
        values: list[Any] = []
        first_row = 0
        first_value = 0
        for group, at in zip(self.groups, points, strict=True):
            function = group.function
            r, c = (
                np.array(part, np.int64) for part in function.jacobian.sparsity_out(0).get_triplet()
            )
            P = len(group.place)
            values.append(ca.vec(function.jacobian.map(P)(at).nz[:]))
            shape = (P, len(r), SLOTS)
            row = first_row + function.outputs * np.arange(P)[:, None] + r
            source = first_value + len(r) * np.arange(P)[:, None] + np.arange(len(r))
            weight = group.weight[:, c] * self.scale[group.place[:, c]] / group.scale[r][:, None]
            used = weight.ravel() != 0
            rows.append(np.broadcast_to(row[:, :, None], shape).ravel()[used])
            columns.append(group.place[:, c].ravel()[used])
            sources.append(np.broadcast_to(source[:, :, None], shape).ravel()[used])
            weights.append(weight.ravel()[used])
            first_row += function.outputs * P
            first_value += len(r) * P
        pattern, add = _sparse_sum(
            (first_row, self.unknowns),
            np.concatenate(rows),
            np.concatenate(columns),
            (np.concatenate(sources), np.concatenate(weights), first_value),
        )
        J = ca.MX(pattern, ca.mtimes(add, ca.vertcat(*values)))
        return ca.Function("jac_g", [x, parameter], [g, J])

    def _curvature(
        self,
        x: Any,
        parameter: Any,
        points: list[Any],
        cost_weight: Any,
        multipliers: Any,
        cost_entries: tuple[Integers, Integers, Array],
    ) -> Any:
        """The upper triangle of the Lagrangian's second derivative as a CasADi function."""
        import casadi as ca

        rows: list[Integers] = []
        columns: list[Integers] = []
        sources: list[Integers] = []
        weights: list[Array] = []
        values: list[Any] = []
        first_row = 0
        first_value = 0
        for group, at in zip(self.groups, points, strict=True):
            function = group.function
            r, c = (
                np.array(part, np.int64)
                for part in function.curvature.sparsity_out(0).get_triplet()
            )
            P = len(group.place)
            own = multipliers[first_row : first_row + function.outputs * P]
            first_row += function.outputs * P
            if not len(r):
                continue
            pulled = ca.reshape(own, function.outputs, P) / ca.DM(group.scale)
            values.append(ca.vec(function.curvature.map(P)(at, pulled).nz[:]))
            shape = (P, len(r), SLOTS, SLOTS)
            scaled = group.weight * self.scale[group.place]
            weight = scaled[:, r][:, :, :, None] * scaled[:, c][:, :, None, :]
            row = np.broadcast_to(group.place[:, r][:, :, :, None], shape)
            column = np.broadcast_to(group.place[:, c][:, :, None, :], shape)
            source = first_value + len(r) * np.arange(P)[:, None] + np.arange(len(r))
            source = np.broadcast_to(source[:, :, None, None], shape)
            off_diagonal = np.broadcast_to((r != c)[None, :, None, None], shape)
            upper = (row <= column) & (weight != 0)
            lower = (row >= column) & off_diagonal & (weight != 0)  # entry (c, r) of the symmetric
            for chosen, i, j in ((upper, row, column), (lower, column, row)):
                rows.append(i[chosen])
                columns.append(j[chosen])
                sources.append(source[chosen])
                weights.append(weight[chosen])
            first_value += len(r) * P
        cost_rows, cost_columns, cost_values = cost_entries
        values.append(cost_weight)
        rows.append(cost_rows)
        columns.append(cost_columns)
        sources.append(np.full(len(cost_rows), first_value))
        weights.append(cost_values)
        pattern, add = _sparse_sum(
            (self.unknowns, self.unknowns),
            np.concatenate(rows),
            np.concatenate(columns),
            (np.concatenate(sources), np.concatenate(weights), first_value + 1),
        )
        H = ca.MX(pattern, ca.mtimes(add, ca.vertcat(*values)))
        return ca.Function("hess_lag", [x, parameter, cost_weight, multipliers], [H])


@contextlib.contextmanager
def _noting_interrupts(interrupted: list[bool]) -> Iterator[None]:
    """Append to a list when Ctrl-C is pressed, instead of raising.

    A KeyboardInterrupt raised while IPOPT evaluates the rows counts there as a point that cannot be
    evaluated, and the search goes on. Only the main thread receives signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop_when(interrupted: list[bool], given: SolverLimits, unknowns: int, rows: int) -> Any:
    """Return a CasADi callback that ends IPOPT once Ctrl-C was pressed or its time is over."""
    import casadi as ca

    sizes = {"x": unknowns, "g": rows, "f": 1, "lam_x": unknowns, "lam_g": rows}

    class StopSearch(ca.Callback):
        """Reads nothing of the iterate; returns one when the search should end."""

        def __init__(self) -> None:
            ca.Callback.__init__(self)
            self.construct("stop_search", {})

        def get_n_in(self) -> int:
            return int(ca.nlpsol_n_out())

        def get_n_out(self) -> int:
            return 1

        def get_name_in(self, i: int) -> str:
            return str(ca.nlpsol_out(i))

        def get_name_out(self, i: int) -> str:
            return "stop"

        def get_sparsity_in(self, i: int) -> Any:
            return ca.Sparsity.dense(sizes.get(ca.nlpsol_out(i), 0), 1)

        def eval(self, arg: Sequence[Any]) -> list[Any]:
            if given.report is not None:
                given.report()
            return [1 if interrupted or time.thread_time() > given.deadline else 0]

    return StopSearch()


def squared_spline() -> Array:
    """Return (4, 4) integrals over an interval of products of its cubic B-splines."""
    nodes, weights = np.polynomial.legendre.leggauss(4)
    values = spline_weights((nodes + 1) / 2)
    return np.asarray(np.einsum("p,pi,pj->ij", weights / 2, values, values))


def _pad_slots(values: Any) -> Any:
    """(.., SLOTS) of fewer: zeros behind."""
    missing = SLOTS - values.shape[-1]
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)])


def without_limits(task: Collocation) -> Collocation:
    """Return the same move without limits of effort, speed, bending and joints."""
    wide = np.full(task.equations.joints, np.inf)
    return replace(task, effort=wide, speed=wide, low=-wide, high=wide, bounded=())
