"""Elastic motion of a Model whose joints follow a prescribed motion.

    M_ff q_f'' = -(n_f + M_fr u),   u the joint accelerations

are the elastic rows of the equations, [Theodore1997] (39).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control.controllers import solve_positive_definite
from ..control.trajectories import Trajectory
from ..equations.evaluate import Evaluator
from ..equations.functions import need_open
from ..equations.model import Model
from ..kernels.exponentials import exponentials

__all__ = ["Flexible", "HeldModes", "flexible"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HeldModes:
    """Frequencies (m,) with the joints locked, and mass-normalised shapes (m, m) in columns."""

    omega: Array
    shapes: Array


@dataclass(frozen=True, eq=False)
class Flexible:
    """The elastic rows of one model, compiled once.

    Attributes
    ----------
    model
        The model.
    rows
        Function of (q, qd, u): q_f'' and its Jacobians by q_f and q_f'.
    masses
        Function of (q, qd): M_ff, K_ff and their rates along qd.
    """

    model: Model
    rows: Evaluator
    masses: Evaluator

    def state(self, theta: Array) -> Array:
        """Return q with the joints at theta, unbent."""
        return np.concatenate([theta, np.zeros(self.model.size - self.model.joints)])

    def parts(self, x: Array) -> Array:
        """Return the elastic entries of q or qd, (.., m)."""
        return x[..., self.model.joints :]

    def matrices(self, q: Array, qd: Array, u: Array) -> Array:
        """Return the frozen system matrices (n, 2 m, 2 m) of [q_f, q_f']."""
        _, by_q, by_qd = self.rows(q, qd, u)
        n, m, _ = by_q.shape
        A = np.zeros((n, 2 * m, 2 * m))
        A[:, :m, m:] = np.eye(m)
        A[:, m:, :m] = by_q
        A[:, m:, m:] = by_qd
        return A

    def blocks(self, q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
        """Return M_ff, K_ff and their rates, (n, m, m) each."""
        M, K, Md, Kd = self.masses(q, qd)
        return M, K, Md, Kd

    def modes(self, q: Array) -> HeldModes:
        """Return the modes at one state, joints locked."""
        from scipy.linalg import eigh

        M, K, *_ = self.masses(q, np.zeros_like(q))
        value, vector = eigh(K, M)
        return HeldModes(np.sqrt(value), vector)

    def frequencies(self, q: Array) -> Array:
        """Return natural frequencies (n, m), joints locked."""
        return np.array([self.modes(x).omega for x in q])

    def modal_energies(self, q: Array, eta: Array, etad: Array) -> Array:
        """Return the energies (n, m) of each mode at elastic states (n, m)."""
        energies = []
        for state, position, velocity in zip(q, eta, etad, strict=True):
            modes = self.modes(state)
            M, *_ = self.masses(state, np.zeros_like(state))
            c = modes.shapes.T @ M @ position
            cd = modes.shapes.T @ M @ velocity
            energies.append((cd**2 + (modes.omega * c) ** 2) / 2)
        return np.array(energies)

    def quasi_static(self, q: Array, qd: Array, u: Array) -> Array:
        """Return the elastic state (n, m) at which q_f'' vanishes, q_f' being zero."""
        m = self.model.size - self.model.joints
        unbent_q = q.copy()
        unbent_qd = qd.copy()
        unbent_q[:, -m:] = 0.0
        unbent_qd[:, -m:] = 0.0
        acceleration, by_q, _ = self.rows(unbent_q, unbent_qd, u)
        found = np.linalg.solve(by_q, -acceleration.reshape(len(q), m)[..., None])
        return np.asarray(found[..., 0], np.float64)

    def forced(self, path: Trajectory, step: float) -> tuple[Array, Array]:
        """Return times (n,) and the elastic motion q_f (n, m) that a path of the joints forces.

        The joints follow the path exactly; the elastic rows are linear in q_f, which is small.
        Gauss' implicit method of two stages (order 4), steps no longer than `step` and none over a
        break of the path. The robot starts at rest and unbent.
        """
        m = self.model.size - self.model.joints
        root = np.sqrt(3) / 6
        weights = np.array([[0.25, 0.25 - root], [0.25 + root, 0.25]])
        identity = np.eye(2 * m)
        x = np.zeros(2 * m)
        times = [0.0]
        states = [x]
        edges = [0.0, *(t for t in path.breaks if 0 < t < path.duration), path.duration]
        for start, stop in pairwise(edges):
            count = int(np.ceil((stop - start) / step - 1e-9))
            h = (stop - start) / count
            begins = start + h * np.arange(count)
            stages = [self._linear(path, begins + h * (0.5 + sign * root)) for sign in (-1, 1)]
            # The two stages' slopes K solve (I - h a A) K = A x + f.
            left = np.zeros((count, 4 * m, 4 * m))
            for i, (A, _) in enumerate(stages):
                for j in range(2):
                    rows = slice(2 * m * i, 2 * m * (i + 1))
                    columns = slice(2 * m * j, 2 * m * (j + 1))
                    left[:, rows, columns] = (i == j) * identity - h * weights[i, j] * A
            inverse = np.linalg.inv(left)
            for k in range(count):
                slopes = inverse[k] @ np.concatenate([A[k] @ x + f[k] for A, f in stages])
                x = x + h / 2 * (slopes[: 2 * m] + slopes[2 * m :])
                times.append(start + h * (k + 1))
                states.append(x)
        return np.array(times), np.array(states)[:, :m]

    def _linear(self, path: Trajectory, t: Array) -> tuple[Array, Array]:
        """A (n, 2m, 2m) and f (n, 2m) of x' = A x + f, x = [q_f, q_f'], at times of a path."""
        theta, rate, acceleration = path(t)
        m = self.model.size - self.model.joints
        unbent = np.zeros((len(t), m))
        q = np.hstack([theta, unbent])
        qd = np.hstack([rate, unbent])
        push = np.zeros((len(t), 2 * m))
        push[:, m:] = self.rows(q, qd, acceleration)[0].reshape(len(t), m)
        return self.matrices(q, qd, acceleration), push

    def transition(self, path: Trajectory, end: float, phase: float = 0.4) -> Array:
        """Return the transition matrix (2 m, 2 m) of the free elastic motion from 0 to `end`.

        Magnus' method of fourth order: exp(h (A1 + A2)/2 + sqrt(3) h^2 [A2, A1]/12), A at the two
        Gauss points of each step; steps of `phase` rad of the fastest mode, none over a break.
        """
        # Times between which the fastest mode turns by `phase` at most, with all breaks
        edges = [0.0, *(t for t in path.breaks if 0 < t < end), end]
        parts = []
        for start, stop in pairwise(edges):
            t = np.linspace(start, stop, 33)
            theta, *_ = path(t)
            fastest = self.frequencies(np.array([self.state(angles) for angles in theta]))[:, -1]
            increments = (fastest[1:] + fastest[:-1]) / 2 * np.diff(t)
            turned = np.concatenate([[0.0], np.cumsum(increments)])
            steps = int(np.ceil(turned[-1] / phase))
            wanted = np.linspace(0.0, turned[-1], steps + 1)
            parts.append(np.interp(wanted, turned, t)[:-1])
        grid = np.concatenate([*parts, [end]])

        # System matrices (n, 2 m, 2 m) on the path, unbent, at the Gauss points of the steps
        h = np.diff(grid)[:, None, None]
        root = np.sqrt(3) / 6
        unbent = np.zeros((len(h), self.model.size - self.model.joints))
        at_nodes = []
        for node in (0.5 - root, 0.5 + root):
            theta, rate, acceleration = path(grid[:-1] + np.diff(grid) * node)
            q = np.hstack([theta, unbent])
            qd = np.hstack([rate, unbent])
            at_nodes.append(self.matrices(q, qd, acceleration))
        A1, A2 = at_nodes
        mean = h * (A1 + A2) / 2 + np.sqrt(3) / 12 * h**2 * (A2 @ A1 - A1 @ A2)
        X = np.eye(mean.shape[1])
        for step in exponentials(mean, mean.shape[1] // 2):
            X = step @ X
        return X


def flexible(model: Model) -> Flexible:
    """Return the elastic rows of a model."""
    advice = (
        "magnus, stability and floquet are for trees; simulate it, by generalised-alpha for long"
    )
    need_open(model.functions, model.robot.name, advice)
    found: Flexible = model.functions.cached("flexible", _make_flexible, model)
    return found


def _make_flexible(model: Model) -> Flexible:
    import casadi as ca

    n = model.size
    k = model.joints
    q = ca.SX.sym("q", n)
    qd = ca.SX.sym("qd", n)
    u = ca.SX.sym("u", k)
    M = model.functions.expression("mass_matrix")(q)[k:, k:]
    K = model.functions.expression("stiffness")(q)[k:, k:]

    # q_f'' = -M_ff^-1 (n_f + M_fr u): inverse dynamics without elastic accelerations
    qdd = ca.vertcat(u, ca.SX.zeros(n - k))
    forces = model.functions.expression("inverse_dynamics")(q, qd, qdd)
    acceleration = ca.vertcat(*solve_positive_definite(M, -forces[k:]))

    # Terms of the joints alone are computed once, outside the Jacobians
    inner, names, values = ca.extract_parametric(acceleration, ca.vertcat(q[:k], qd[:k], u))
    jacobians = [ca.jacobian(inner, q[k:]), ca.jacobian(inner, qd[k:])]
    jacobians = ca.substitute(jacobians, names, values)
    outputs = [ca.densify(x) for x in (acceleration, *jacobians)]
    rows = ca.Function("rows", [q, qd, u], ca.cse(outputs))

    matrices: list[Any] = [M, K]
    for X in (M, K):
        matrices.append(ca.reshape(ca.jtimes(ca.vec(X), q, qd), n - k, n - k))
    masses = ca.Function("masses", [q, qd], ca.cse([ca.densify(X) for X in matrices]))
    return Flexible(model, Evaluator(rows), Evaluator(masses))
