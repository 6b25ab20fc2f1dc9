"""Rest-to-rest moves of robots whose bending is faster than the move.

Time is measured as s = t / T, from 0 to 1. All coordinates are quintic splines: the joints on a few
intervals, the modes of bending with joints held on finer ones. The equations of motion

    r(q, q', q'') = [tau; 0]

give the efforts of the joints at once. Their other rows, one for each mode, vanish in the mean
(Galerkin): weighted by the splines of that mode. Fast modes follow from the motion of the joints,
as their loads ask for. A slow mode, of few periods in the move, has two more rows: a motion of the
joints that leaves it at rest at the end is special. Efforts rise smoothly from rest, so that fast
modes are not struck.

The unknowns of the search are then the splines of the joints and of the slow modes, and
u = 1 / T^2, by which the forces of inertia are proportional. Each step solves a quadratic programme
(DAQP) with exact slopes; every motion on the way satisfies the equations.

Source: [Biegler2010] for direct transcription and for the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.linalg import eigh, lu_factor, lu_solve

from ...architectures.kinds import architecture_of
from ...equations.closed.coupled import ClosedFunctions
from ...equations.equilibrium import slopes_at_rest
from ...equations.evaluate import Evaluator, slope
from ...equations.model import Model
from ...errors import SuppleError

__all__ = ["MoveLimits", "OutOfTimeError", "SplineMove", "SplineProgramme"]

Array = NDArray[np.float64]
DEGREE = 5
POINTS = 3  # of Gauss, in an interval
FIXED = 3  # coefficients at each end of a spline whose value, slope and curvature are those of rest
FIXED_SMOOTH = 5  # the same for two derivatives more: efforts begin with value, slope and curvature
SLOW_PERIODS = 16.0  # modes of fewer periods in the move are slow
MOST_JOINT_INTERVALS = 48
LEAST_INTERVALS = 24
INTERVALS_OF_A_PERIOD = 3  # of slow modes
FASTER_BY = 2.0  # frequencies of fast modes over those of slow ones
MOST_SLOW_UNKNOWNS = 200  # of modes that are resolved in order to divide them so
TIME_SMOOTHING = 1e-3  # weight of squared efforts beside the duration
CONVERGED = 2e-4  # relative gain that ends a search
KEPT = 5e-4  # by which part a limit may be passed at the end of a search
SETTLING_STEPS = 8
SETTLED = 1e-8  # last change of the coordinates over the travel of the joints
LARGEST_STEP = 2.0  # of the joints, over their travel
HALVINGS = 8
MOST_DAMPING = 1e3


class OutOfTimeError(SuppleError):
    """The time of the search is over."""


@dataclass(frozen=True)
class MoveLimits:
    """Limits of a move, infinite where there are none.

    Attributes
    ----------
    effort, speed
        (joints,) each.
    low, high
        (joints,) of joint coordinates.
    bounded
        Quadratic forms of q that stay below one, as [A (r, n), B (r, n, n)] each: the sum of (A q +
        q' B q)^2.
    """

    effort: Array
    speed: Array
    low: Array
    high: Array
    bounded: tuple[tuple[Array, Array], ...] = ()

    def without(self) -> MoveLimits:
        """Return no limits at all."""
        wide = np.full(len(self.effort), np.inf)
        return MoveLimits(wide, wide, -wide, wide)


def _dividing_periods(periods: Array) -> float:
    """Return how many periods in the move divide slow modes from fast ones.

    Splines that are fine enough for the slow modes must not be able to swing as the fast ones do:
    these would resonate with them instead of following their loads. So modes are divided where
    the next one is faster by FASTER_BY, if few have to be resolved for that.
    """
    ordered = np.sort(periods)
    slow = int((ordered < SLOW_PERIODS).sum())
    while 0 < slow < len(ordered) and ordered[slow] < FASTER_BY * ordered[slow - 1]:
        slow += 1
        if slow * INTERVALS_OF_A_PERIOD * ordered[slow - 1] > MOST_SLOW_UNKNOWNS:
            return SLOW_PERIODS
    return float(ordered[slow]) if slow < len(ordered) else np.inf


class SplineBasis:
    """Quintic B-splines on equal intervals of [0, 1], and their Gauss points."""

    def __init__(self, intervals: int) -> None:
        self.intervals = intervals
        self.count = intervals + DEGREE
        inner = np.linspace(0.0, 1.0, intervals + 1)
        self.knots = np.concatenate([np.zeros(DEGREE), inner, np.ones(DEGREE)])
        nodes, weights = np.polynomial.legendre.leggauss(POINTS)
        self.places = ((np.arange(intervals)[:, None] + (nodes + 1) / 2) / intervals).ravel()
        self.weights = np.tile(weights / 2 / intervals, intervals)

    def at(self, s: Array, order: int = 0) -> Array:
        """Return the splines, or a derivative of them, at places: (places, count)."""
        splines = BSpline(self.knots, np.eye(self.count), DEGREE)
        return np.asarray(splines.derivative(order)(s) if order else splines(s))

    @cached_property
    def at_points(self) -> tuple[Array, Array, Array]:
        """Splines, slopes and curvatures at the Gauss points."""
        return self.at(self.places), self.at(self.places, 1), self.at(self.places, 2)

    @cached_property
    def centres(self) -> Array:
        """(count,) where each coefficient has most weight, after Greville."""
        return np.array([self.knots[i + 1 : i + DEGREE + 1].mean() for i in range(self.count)])

    def refinement(self, coarse: SplineBasis) -> Array:
        """Return (count, coarse.count): the same splines by coefficients of this finer basis."""
        places = self.centres
        return np.asarray(np.linalg.solve(self.at(places), coarse.at(places)))


@dataclass(frozen=True)
class SplineMove:
    """A motion by its coefficients (count, n) of q on so many intervals, and its duration, s."""

    coefficients: Array
    duration: float

    @property
    def intervals(self) -> int:
        """Of all splines."""
        return len(self.coefficients) - DEGREE

    def at(self, s: Array) -> tuple[Array, Array, Array]:
        """Return q, qd and qdd at places s, (places, n) each."""
        basis = SplineBasis(self.intervals)
        T = self.duration
        q, qd, qdd = (basis.at(s, order) @ self.coefficients / T**order for order in range(3))
        return q, qd, qdd


class MotionForces:
    """r(q, qd, qdd) of a Model and its slopes, for many states along one motion.

    Loops are closed from where they were at the same place of the motion before.
    """

    def __init__(self, model: Model) -> None:
        import casadi as ca

        self.model = model
        functions = model.functions
        self.loops = functions if isinstance(functions, ClosedFunctions) else None
        needs_guess = self.loops is not None
        self._value = functions.evaluator("inverse_dynamics", near=needs_guess)
        if "slopes" in functions.names:
            self._slopes: Any = functions.evaluator("slopes", near=needs_guess)
            self._outputs = (6, 0, 1, 2)
        else:

            def make() -> Evaluator:
                force = functions.core("inverse_dynamics")
                mass = functions.core("mass_matrix")
                kind: Any = ca.SX if force.is_a("SXFunction") else ca.MX
                x = [kind.sym("x", force.numel_in(i)) for i in range(force.n_in())]
                outputs = [force(*x), slope(force, 0)(*x), slope(force, 1)(*x), mass(x[0], *x[3:])]
                function = ca.Function("forces", x, [ca.densify(part) for part in outputs])
                return Evaluator(function, (1, 2, 3))

            self._slopes = functions.cached("slopes of forces", make)
            self._outputs = (0, 1, 2, 3)
        self._dependent: dict[int, Array] = {}

    def forget(self) -> None:
        """Close loops anew the next time, from the pose without bending."""
        self._dependent.clear()

    def _near(self, q: Array) -> tuple[Array, ...]:
        """What follows from loops at states (T, n), if there are any."""
        if self.loops is None:
            return ()
        before = self._dependent.get(len(q))
        if before is None:
            branch = architecture_of(self.model.robot).branch(q[:, : self.model.joints])
            if branch.x.shape[1] > 0 and branch.reached == len(q):
                before = self.loops.loops.unbent_dependent(branch.x)
        self._dependent[len(q)] = self.loops.followers(q, before)
        return (self._dependent[len(q)],)

    def value(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return r (T, n) at states (T, n)."""
        found = np.asarray(self._value(q, qd, qdd, *self._near(q))[0])
        if not np.isfinite(found).all():
            raise SuppleError("the motion leaves what the robot can reach")
        return found

    def slopes(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array, Array]:
        """Return r (T, n) and its slopes by q, qd and qdd, (T, n, n) each."""
        found = self._slopes(q, qd, qdd, *self._near(q))
        r, by_q, by_qd, by_qdd = (np.asarray(found[i]) for i in self._outputs)
        return r, by_q, by_qd, by_qdd


@dataclass
class _Linear:
    """Slopes of a motion by the scaled unknowns (m of them), fast modes eliminated.

    Attributes
    ----------
    tau, by_tau
        Efforts (P, joints) at the Gauss points, (P, joints, m).
    slow, by_slow
        Rows of slow modes (R,), (R, m).
    fast_factors
        LU of the rows of fast modes by their coefficients.
    by_fast
        (F, m) coefficients of fast modes.
    slow_by_fast
        (R, F).
    least_change
        Q (m - 1, R), R (R, R) of by_slow', to meet the slow rows by the least change.
    """

    tau: Array
    by_tau: Array
    slow: Array
    by_slow: Array
    fast_factors: Any
    by_fast: Array
    slow_by_fast: Array
    least_change: tuple[Array, Array]


class SplineProgramme:
    """The search for one move: which unknowns there are, and what follows from them.

    Attributes
    ----------
    y
        (count, n) coefficients of [joints, slow modes, fast modes], q = `shapes` y.
    pace
        u = 1 / T^2.
    """

    def __init__(
        self,
        model: Model,
        ends: list[Array],
        duration: float,
        limits: MoveLimits,
        refinement: int = 1,
        joint_intervals: int | None = None,
        smoothness: float = 1.0,
        check_time: Callable[[], None] = lambda: None,
    ) -> None:
        self.model = model
        self.limits = limits
        self.ends = ends
        self.check_time = check_time
        self.forces = MotionForces(model)
        self.iterations = 0
        k = self.joints = model.joints
        n = self.size = model.size

        # Modes with joints held: slow ones are unknowns, fast ones follow
        frequencies, modes = self._held_modes()
        periods = frequencies * duration / (2 * np.pi)
        slow = periods < _dividing_periods(periods)
        order = np.concatenate([np.flatnonzero(slow), np.flatnonzero(~slow)]).astype(int)
        self.shapes = np.eye(n)
        self.shapes[k:, k:] = modes[:, order]
        self.to_modes = np.linalg.inv(self.shapes)
        self.slow_count = int(slow.sum())
        self.lead = k + self.slow_count
        self.fast_count = n - self.lead
        self.slow_periods = float(periods[slow].max(initial=0.0))

        # Splines of the joints, and finer ones of all modes where slow ones need them
        needed = INTERVALS_OF_A_PERIOD * self.slow_periods
        if joint_intervals is None:
            wanted = float(periods[~slow].min(initial=MOST_JOINT_INTERVALS))
            wanted = float(np.clip(wanted, SLOW_PERIODS, MOST_JOINT_INTERVALS))
            wanted /= smoothness
            parts = max(1, round(needed / wanted))
            joint_intervals = int(np.ceil(max(needed, wanted) / parts))
        parts = int(np.ceil(needed / joint_intervals)) or 1
        self.joint_basis = SplineBasis(joint_intervals)
        self.basis = SplineBasis(joint_intervals * parts * refinement)
        self.inner = slice(FIXED, self.basis.count - FIXED)
        self.inner_count = self.basis.count - 2 * FIXED
        self.fixed = FIXED_SMOOTH if self.fast_count else FIXED
        self._set_unknowns()

        self.pace = 1 / duration**2
        self.y = self._smooth_guess()

    def _held_modes(self) -> tuple[Array, Array]:
        """Frequencies (rad/s) with joints held at the end, and shapes (n - k, n - k)."""
        k = self.joints
        if self.size == k:
            return np.zeros(0), np.zeros((0, 0))
        q = self.ends[1]
        K = slopes_at_rest(self.model, q)[0][k:, k:]
        M = self.model.mass_matrix(q)[k:, k:]
        squares, shapes = eigh((K + K.T) / 2, (M + M.T) / 2)
        return np.sqrt(np.abs(squares)), shapes

    def _set_unknowns(self) -> None:
        """Which coefficients the unknowns are: of coarse splines of the joints, of slow modes."""
        k = self.joints
        refine = self.basis.refinement(self.joint_basis)[:, self.fixed : -self.fixed]
        free = refine.shape[1]
        slow_unknowns = self.inner_count * self.slow_count
        spread = np.zeros((self.basis.count, self.lead, free * k + slow_unknowns))
        for joint in range(k):
            spread[:, joint, np.arange(free) * k + joint] = refine
        places = np.arange(FIXED, FIXED + self.inner_count)
        for mode in range(self.slow_count):
            columns = free * k + np.arange(self.inner_count) * self.slow_count + mode
            spread[places, k + mode, columns] = 1.0
        # (inner * lead, m - 1): coefficients by unknowns
        self.spread = spread[self.inner].reshape(self.inner_count * self.lead, -1)

        start, end = (self.to_modes @ q for q in self.ends)
        self.travel = float(np.abs(end - start)[:k].max())
        largest = np.abs(self.shapes[:, k : self.lead]).max(axis=0, initial=1e-300)
        of_modes = np.tile(self.travel / largest, self.inner_count)
        self.scale = np.concatenate([np.full(free * k, self.travel), of_modes, [1.0]])

    def _smooth_guess(self) -> Array:
        """The quintic between the ends, the joints smoother still at theirs."""
        k = self.joints
        start, end = (self.to_modes @ q for q in self.ends)

        def blend(basis: SplineBasis, fixed: int) -> Array:
            s = basis.centres
            share = 10 * s**3 - 15 * s**4 + 6 * s**5
            share[:fixed] = 0.0
            share[-fixed:] = 1.0
            return np.asarray(start + np.outer(share, end - start))

        y = blend(self.basis, FIXED)
        coarse = blend(self.joint_basis, self.fixed)
        y[:, :k] = self.basis.refinement(self.joint_basis) @ coarse[:, :k]
        return y

    # ------------------------------------------------------------------ motions

    @property
    def move(self) -> SplineMove:
        """The motion found so far."""
        return SplineMove(self.y @ self.shapes.T, float(self.pace**-0.5))

    def begin_with(self, move: SplineMove) -> None:
        """Begin the search with a motion found on fewer intervals or at another pace."""
        finer = self.basis.refinement(SplineBasis(move.intervals))
        self.y = finer @ move.coefficients @ self.to_modes.T
        self.pace = 1 / move.duration**2

    def aim_beside(self, error: Array) -> None:
        """Let the move end beside rest by so much, q and dq/ds (2, n)."""
        end = np.array([1.0])
        rows = np.stack([self.basis.at(end, order)[0, -FIXED:] for order in range(3)])
        coefficients = np.linalg.solve(rows, np.stack([error[0], error[1], 0 * error[0]]))
        self.y[-FIXED:] = (self.ends[1] + coefficients) @ self.to_modes.T

    def settle(self) -> bool:
        """Satisfy the equations by the least change of the motion; whether that was found."""
        for _ in range(SETTLING_STEPS):
            self.check_time()
            linear = self._linearise(self.y, self.pace)
            settled = self._settle(self.y, self.pace, linear)
            if settled is not None:
                self.y = settled[0]
                return True
            # too far for slopes of one place: one step, then slopes anew
            y, size = self._newton_step(self.y, self.pace, linear)[:2]
            if not np.isfinite(size):
                return False
            part = min(1.0, LARGEST_STEP / max(size, 1e-300))
            self.y = self.y + part * (y - self.y)
        return False

    def _kinematics(self, y: Array, pace: float) -> tuple[Array, Array, Array]:
        """q, qd and qdd at the Gauss points."""
        values, slopes, curvatures = self.basis.at_points
        q = y @ self.shapes.T
        return values @ q, np.sqrt(pace) * (slopes @ q), pace * (curvatures @ q)

    def _tests(self) -> tuple[Array, Array]:
        """Weighted splines (P, ..) by which the rows of fast and of slow modes are summed."""
        weighted = self.basis.at_points[0] * self.basis.weights[:, None]
        return weighted[:, self.inner], weighted[:, FIXED - 1 : self.basis.count - FIXED + 1]

    def _linearise(self, y: Array, pace: float) -> _Linear:
        """Slopes of efforts and of slow rows by the scaled unknowns."""
        k = self.joints
        lead = self.lead
        n = self.size
        q, qd, qdd = self._kinematics(y, pace)
        r, by_q, by_qd, by_qdd = self.forces.slopes(q, qd, qdd)
        r = r @ self.shapes
        by_q, by_qd, by_qdd = (self.shapes.T @ by @ self.shapes for by in (by_q, by_qd, by_qdd))
        values, slopes, curvatures = (part[:, self.inner] for part in self.basis.at_points)
        slopes = np.sqrt(pace) * slopes
        curvatures = pace * curvatures
        joints = slice(0, k)
        slow = slice(k, lead)
        fast = slice(lead, n)

        def by_coefficients(rows: slice, columns: slice) -> Array:
            """(P, rows, inner * columns)."""
            found = by_q[:, rows, None, columns] * values[:, None, :, None]
            found = found + by_qd[:, rows, None, columns] * slopes[:, None, :, None]
            found = found + by_qdd[:, rows, None, columns] * curvatures[:, None, :, None]
            width = self.inner_count * (columns.stop - columns.start)
            return np.asarray(found.reshape(len(q), found.shape[1], width))

        # by u, relative to it: velocities change by one half, accelerations by one
        rates = qd @ self.to_modes.T
        accelerations = qdd @ self.to_modes.T
        by_pace = np.einsum("prc,pc->pr", by_qd, rates) / 2
        by_pace += np.einsum("prc,pc->pr", by_qdd, accelerations)

        def by_unknowns(rows: slice) -> Array:
            """(P, rows, m)."""
            own = by_coefficients(rows, slice(0, lead)) @ self.spread
            found = np.concatenate([own, by_pace[:, rows, None]], axis=2)
            return np.asarray(found * self.scale)

        test_fast, test_slow = self._tests()
        m = len(self.scale)
        tau = r[:, joints].copy()
        by_tau = by_unknowns(joints)
        slow_rows = (test_slow.T @ r[:, slow]).ravel()
        by_slow = np.tensordot(test_slow, by_unknowns(slow), axes=(0, 0)).reshape(-1, m)
        factors = None
        by_fast = np.zeros((0, m))
        slow_by_fast = np.zeros((len(slow_rows), 0))
        if self.fast_count:
            own = np.tensordot(test_fast, by_coefficients(fast, fast), axes=(0, 0))
            by_lead = np.tensordot(test_fast, by_unknowns(fast), axes=(0, 0)).reshape(-1, m)
            factors = lu_factor(own.reshape(len(by_lead), len(by_lead)))
            by_fast = -lu_solve(factors, by_lead)
            by_tau = by_tau + by_coefficients(joints, fast) @ by_fast
            slow_by_fast = np.tensordot(test_slow, by_coefficients(slow, fast), axes=(0, 0))
            slow_by_fast = slow_by_fast.reshape(len(slow_rows), len(by_lead))
            by_slow = by_slow + slow_by_fast @ by_fast
        directions, triangle = np.linalg.qr(by_slow[:, :-1].T)
        return _Linear(
            tau, by_tau, slow_rows, by_slow, factors, by_fast, slow_by_fast, (directions, triangle)
        )

    def _changed(self, y: Array, linear: _Linear, x: Array) -> Array:
        """Coefficients after a change of the scaled unknowns; fast modes follow linearly."""
        changed = y.copy()
        own = (self.spread @ (x * self.scale)[:-1]).reshape(self.inner_count, self.lead)
        changed[self.inner, : self.lead] += own
        if self.fast_count:
            changed[self.inner, self.lead :] += (linear.by_fast @ x).reshape(self.inner_count, -1)
        return changed

    def _settle(self, y: Array, pace: float, linear: _Linear) -> tuple[Array, Array] | None:
        """Coefficients that satisfy the equations, and efforts; None if they are not found nearby.

        Newton's method with the slopes of a motion nearby: fast modes follow their loads, the slow
        rows are met by the least change of the unknowns. A small change that does not fall is no
        answer: efforts depend on the curvature of all coordinates, and are off by much more.
        """
        before = np.inf
        for step in range(SETTLING_STEPS):
            y, size, tau = self._newton_step(y, pace, linear)
            if not np.isfinite(size):
                return None
            if size < SETTLED:
                return y, tau
            if step > 2 and size > 0.5 * before:
                return None
            before = size
        return None

    def _newton_step(self, y: Array, pace: float, linear: _Linear) -> tuple[Array, float, Array]:
        """Coefficients nearer to a motion, the size of the step over the travel, and efforts."""
        test_fast, test_slow = self._tests()
        r = self.forces.value(*self._kinematics(y, pace)) @ self.shapes
        y = y.copy()
        size = 0.0
        slow_rows = (test_slow.T @ r[:, self.joints : self.lead]).ravel()
        if self.fast_count:
            fast = -lu_solve(linear.fast_factors, (test_fast.T @ r[:, self.lead :]).ravel())
            slow_rows = slow_rows + linear.slow_by_fast @ fast
            fast = fast.reshape(self.inner_count, -1)
            y[self.inner, self.lead :] += fast
            size = float(np.abs(self.shapes[:, self.lead :] @ fast.T).max()) / self.travel
        if self.slow_count:
            directions, triangle = linear.least_change
            x = np.append(-directions @ np.linalg.solve(triangle.T, slow_rows), 0.0)
            y = self._changed(y, linear, x)
            size = max(size, float(np.abs(x).max()))
        return y, size, r[:, : self.joints]

    # ------------------------------------------------------------------ limits

    def _limit_rows(self, y: Array, pace: float, tau: Array) -> tuple[Array, Array, Array]:
        """What is limited, and its bounds: values, low and high, each over its typical size."""
        limits = self.limits
        values: list[Array] = []
        low: list[Array] = []
        high: list[Array] = []

        def add(value: Array, least: float, most: float) -> None:
            values.append(value)
            low.append(np.full(len(value), least))
            high.append(np.full(len(value), most))

        q, qd, _ = self._kinematics(y, pace)
        for joint in np.flatnonzero(np.isfinite(limits.effort)):
            add(tau[:, joint] / limits.effort[joint], -1.0, 1.0)
        for joint in np.flatnonzero(np.isfinite(limits.speed)):
            add(qd[:, joint] / limits.speed[joint], -1.0, 1.0)
        for joint in np.flatnonzero(np.isfinite(limits.low) | np.isfinite(limits.high)):
            span = self.travel
            add(q[:, joint] / span, limits.low[joint] / span, limits.high[joint] / span)
        for linear, quadratic in limits.bounded:
            bend = q @ linear.T + np.einsum("ti,rij,tj->tr", q, quadratic, q)
            add((bend**2).sum(axis=1), -np.inf, 1.0)
        if not values:
            return np.zeros(0), np.zeros(0), np.zeros(0)
        return np.concatenate(values), np.concatenate(low), np.concatenate(high)

    def _limit_slopes(self, y: Array, pace: float, linear: _Linear) -> Array:
        """Slopes of `_limit_rows` by the scaled unknowns."""
        limits = self.limits
        q, qd, _ = self._kinematics(y, pace)
        k = self.joints
        lead = self.lead
        m = len(self.scale)
        rows: list[Array] = []

        def coordinate(index: int, order: int) -> Array:
            """(P, m): slopes of a coordinate of q or of qd."""
            at = self.basis.at_points[order][:, self.inner] * pace ** (order / 2)
            by_lead = np.kron(at, self.shapes[index, :lead][None]) @ self.spread
            found = np.concatenate([by_lead, np.zeros((len(at), 1))], axis=1) * self.scale
            if self.fast_count:
                found = found + np.kron(at, self.shapes[index, lead:][None]) @ linear.by_fast
            if order:
                found[:, -1] += qd[:, index] / 2
            return np.asarray(found)

        for joint in np.flatnonzero(np.isfinite(limits.effort)):
            rows.append(linear.by_tau[:, joint] / limits.effort[joint])
        for joint in np.flatnonzero(np.isfinite(limits.speed)):
            rows.append(coordinate(int(joint), 1) / limits.speed[joint])
        for joint in np.flatnonzero(np.isfinite(limits.low[:k]) | np.isfinite(limits.high[:k])):
            rows.append(coordinate(int(joint), 0) / self.travel)
        for by_q, by_qq in limits.bounded:
            bend = q @ by_q.T + np.einsum("ti,rij,tj->tr", q, by_qq, q)
            by_state = by_q + 2 * np.einsum("rij,tj->tri", by_qq, q)
            gradient = 2 * np.einsum("tr,tri->ti", bend, by_state)
            found = np.zeros((len(q), m))
            for index in np.flatnonzero(np.abs(gradient).any(axis=0)):
                found += gradient[:, index, None] * coordinate(int(index), 0)
            rows.append(found)
        return np.concatenate(rows) if rows else np.zeros((0, m))

    @staticmethod
    def _violation(values: Array, low: Array, high: Array) -> float:
        """By how much the worst limit is passed, over its size."""
        return float(np.maximum(values - high, low - values).max(initial=0.0))

    @property
    def violation(self) -> float:
        """By how much the worst limit is passed by the motion found so far."""
        tau = self.forces.value(*self._kinematics(self.y, self.pace))[:, : self.joints]
        return self._violation(*self._limit_rows(self.y, self.pace, tau))

    # ------------------------------------------------------------------ the search

    def search(self, free_duration: bool, iterations: int) -> bool:
        """Search for the least effort, or the fastest move, from the motion found so far.

        Returns whether the motion found keeps all limits. Steps are taken in full, or shortened
        until a merit falls: the cost and a penalty on the worst limit passed.
        """
        if not self.settle():
            return False
        penalty = 2.0
        damping = 0.1 if free_duration else 0.0
        idle = 0
        for _ in range(iterations):
            try:
                self.check_time()
            except OutOfTimeError:
                if self.violation < KEPT:
                    return True
                raise
            self.iterations += 1
            linear = self._linearise(self.y, self.pace)
            step = _Step(self, linear, free_duration, penalty, damping)
            gained = self._line_search(step)
            if gained is None:
                if damping > MOST_DAMPING:
                    break
                damping = max(16 * damping, 0.1)
                continue
            part, gain, violation = gained
            if step.slack < 1e-6:
                penalty = max(penalty, 1.5 * step.multipliers)
            if part < 0.5:
                damping = max(4 * damping, 0.05)
            elif part == 1.0:
                damping = damping / 4
            idle = idle + 1 if gain < CONVERGED else 0
            if (step.predicted_gain < CONVERGED and violation < KEPT) or idle > 2:
                break
        return self.violation < KEPT

    def _line_search(self, step: _Step) -> tuple[float, float, float] | None:
        """Move along a step: the part of it taken, the gain, and the violation; None without."""
        part = min(1.0, LARGEST_STEP / float(np.abs(step.x[:-1]).max(initial=1e-300)))
        for _ in range(HALVINGS):
            pace = self.pace * (1 + part * step.x[-1])
            try:
                y = self._changed(self.y, step.linear, part * step.x)
                settled = self._settle(y, pace, step.linear)
            except SuppleError:
                self.check_time()
                self.forces.forget()
                settled = None
            if settled is not None:
                y, tau = settled
                violation = self._violation(*self._limit_rows(y, pace, tau))
                gain = step.merit - step.merit_of(tau, pace, violation)
                if gain >= 1e-4 * part * step.predicted_gain - 1e-12:
                    self.y = y
                    self.pace = pace
                    return part, gain, violation
            part /= 2
        return None


class _Step:
    """One quadratic programme: the step x that it finds, and what it promises."""

    def __init__(
        self,
        programme: SplineProgramme,
        linear: _Linear,
        free_duration: bool,
        penalty: float,
        damping: float,
    ) -> None:
        self.linear = linear
        self.free_duration = free_duration
        self.penalty = penalty
        self.pace = programme.pace
        m = len(programme.scale)
        tau = linear.tau
        weights = np.sqrt(programme.basis.weights)[:, None]
        size = max(float(np.linalg.norm(tau * weights)), 1e-300)
        self.weights = weights / (programme.limits.effort if free_duration else size)
        self.share = TIME_SMOOTHING if free_duration else 1.0

        # Squared efforts by Gauss and Newton; changes of efforts are damped
        slopes = (linear.by_tau * self.weights[:, :, None]).reshape(-1, m)
        values = (tau * self.weights).ravel()
        curvature = self.share * slopes.T @ slopes
        gradient = self.share * slopes.T @ values
        changes = (linear.by_tau * (weights / size)[:, :, None]).reshape(-1, m)
        proximity = changes.T @ changes
        proximity += 1e-6 * np.trace(proximity) / m * np.eye(m)
        curvature += damping * proximity
        curvature += 1e-8 * max(np.trace(curvature) / m, 1e-6) * np.eye(m)
        if free_duration:  # T / T0 = (u / u0)^(-1/2)
            gradient[-1] -= 0.5
            curvature[-1, -1] += 0.75

        # Rows: slow modes, limits with one slack, how far u may change, the slack
        limits, low, high = programme._limit_rows(programme.y, programme.pace, tau)
        by_limits = programme._limit_slopes(programme.y, programme.pace, linear)
        has_low = np.isfinite(low)
        has_high = np.isfinite(high)
        rows = np.zeros((len(linear.slow) + int(has_high.sum()) + int(has_low.sum()) + 2, m + 1))
        least = np.full(len(rows), -1e20)
        most = np.full(len(rows), 1e20)
        at = len(linear.slow)
        rows[:at, :m] = linear.by_slow
        least[:at] = -linear.slow
        most[:at] = -linear.slow
        upper = slice(at, at + int(has_high.sum()))
        rows[upper, :m] = by_limits[has_high]
        rows[upper, m] = -1.0
        most[upper] = (high - limits)[has_high]
        lower = slice(upper.stop, upper.stop + int(has_low.sum()))
        rows[lower, :m] = by_limits[has_low]
        rows[lower, m] = 1.0
        least[lower] = (low - limits)[has_low]
        rows[-2, m - 1] = 1.0
        change = float(np.clip(0.5 / max(programme.slow_periods, 1e-9), 0.03, 0.6))
        least[-2] = -change if free_duration else 0.0
        most[-2] = 1.5 * change if free_duration else 0.0
        rows[-1, m] = 1.0
        least[-1] = 0.0

        H = np.zeros((m + 1, m + 1))
        H[:m, :m] = curvature
        H[m, m] = 1e-2
        gradients = np.append(gradient, penalty)
        found, multipliers = _solve_quadratic(H, gradients, rows, least, most, equations=at)
        self.x = found[:m]
        self.slack = float(max(found[m], 0.0))
        self.multipliers = float(np.abs(multipliers[:-2]).sum())
        before = programme._violation(limits, low, high)
        self.merit = self.merit_of(tau, programme.pace, before)
        drop = -(gradient @ self.x) - 0.5 * self.x @ curvature @ self.x
        self.predicted_gain = float(drop) + penalty * (before - self.slack)

    def merit_of(self, tau: Array, pace: float, violation: float) -> float:
        """Return the cost of a motion and the penalty on the worst limit that it passes."""
        cost = self.share / 2 * float(((tau * self.weights) ** 2).sum())
        if self.free_duration:
            cost += float(np.sqrt(self.pace / pace))
        return cost + self.penalty * violation


def _solve_quadratic(
    H: Array, gradient: Array, rows: Array, low: Array, high: Array, equations: int
) -> tuple[Array, Array]:
    """Return x of the least x' H x / 2 + g' x with low <= A x <= high, and multipliers.

    The first rows are `equations`; they are met by a change in their row space, and the quadratic
    programme is that of what is free beside it. Multipliers are those of the other rows.
    """
    import casadi as ca

    basis, triangle = np.linalg.qr(rows[:equations].T, mode="complete")
    within = basis[:, :equations]
    free = basis[:, equations:]
    met = within @ np.linalg.solve(triangle[:equations].T, low[:equations])
    bounded = rows[equations:]
    matrices = {"h": free.T @ H @ free, "a": bounded @ free}
    shapes = {name: ca.Sparsity.dense(*matrix.shape) for name, matrix in matrices.items()}
    vectors = {"g": free.T @ (gradient + H @ met)}
    vectors |= {"lba": low[equations:] - bounded @ met, "uba": high[equations:] - bounded @ met}
    for name in ("daqp", "qrqp"):
        quiet = {"print_iter": False, "print_header": False} if name == "qrqp" else {}
        solver = ca.conic("step", name, shapes, {"error_on_fail": False, **quiet})
        found = solver(**matrices, **vectors)
        if solver.stats()["success"]:
            x = met + free @ np.array(found["x"]).ravel()
            return x, np.array(found["lam_a"]).ravel()
    raise SuppleError("no step that improves the move was found")
