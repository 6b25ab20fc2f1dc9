"""Which efforts make the tip follow: stable inversion of the non-minimum-phase part of an arm.

The output of joint i is its chord angle y_i = theta_i + v_i(L_i)/L_i, from the joint to the end of
its link. With theta = y - C eta the elastic rows of the equations of motion,

    (M_ff - M_fr C) eta'' + n_f(y - C eta, eta, rates) + M_fr y'' = 0,

are unstable as an initial value problem: efforts that act on the root move the end by a wave. They
have one bounded solution, which begins before the path does and ends after it. It is found on the
whole window at once, by Hermite-Simpson collocation (order 4) and Newton's method, with conditions
at both ends: no part of the state along directions that would grow towards the outside.

Source: [Devasia1996] for the bounded solution; [Bayo1987] for arms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import also_called, reals, shown
from ...control.matching import trajectory_for
from ...control.shaping import Samples
from ...control.trajectories import Guided, Trajectory
from ...equations.equilibrium import static_state
from ...equations.evaluate import Evaluator
from ...equations.model import Model
from ...errors import SuppleError

__all__ = ["Inversion", "chord_matrix", "invert"]

Array = NDArray[np.float64]
STEP = 1e-3  # s, at most
MOST = 200_000  # samples


@dataclass(frozen=True, eq=False)
class Inversion(Guided, Answer):
    """Efforts and motion with which the chord angles of an arm follow a path.

    From `supple.invert`. As a Trajectory it is the motion of the joints; its time 0 is ``t[0]``.

    Attributes
    ----------
    model : Model
        The inverted model.
    t : ndarray
        Times (N,), s; the path begins at 0. Efforts act before it begins and after it ends.
    tau : ndarray
        Efforts (N, joints), N m.
    theta : ndarray
        Joint coordinates (N, joints), rad.
    chord : ndarray
        Chord angles (N, joints), rad: those of the path.
    q, qd : ndarray
        Full motion (N, size).
    zeros : ndarray of complex
        Zeros (2 m,) from efforts to chord angles where the path begins, 1/s.
    decay : float
        Real part of the slowest zero, 1/s: how fast the effort before the path dies out backwards
        in time.
    """

    model: Model
    t: Array
    tau: Array
    theta: Array
    chord: Array
    q: Array
    qd: Array
    zeros: NDArray[np.complex128]
    decay: float

    labels: ClassVar = {"t": "t", "coordinate": "model.coordinates"}
    dims: ClassVar = {
        "t": ("t",),
        "tau": ("t", "joint"),
        "theta": ("t", "joint"),
        "chord": ("t", "joint"),
        "q": ("t", "coordinate"),
        "qd": ("t", "coordinate"),
        "zeros": ("zero",),
    }
    table_rows: ClassVar = ("t",)
    units: ClassVar = {"t": "s", "zeros": "1/s"}

    @cached_property
    def trajectory(self) -> Samples:
        """The joints' motion as a Trajectory; its time 0 is `t[0]`."""
        names = tuple(name for name, _ in architecture_of(self.model.robot).motors)
        speeds = self.qd[:, : self.model.joints].copy()
        speeds[[0, -1]] = 0.0  # a trajectory stands still before and after, a window cuts it off
        return Samples(self.t, self.theta, speeds, names)

    def goals(self) -> tuple[Array, Array]:
        """Return where the chord angles begin and end; the joints do so with the sag taken off."""
        return self.chord[0], self.chord[-1]

    def __repr__(self) -> str:
        return (
            f"<Inversion of {self.model.robot.name}: {len(self.t)} samples from {self.t[0]:.4g} to "
            f"{self.t[-1]:.4g} s, slowest zero {self.decay:.4g} 1/s>"
        )


def chord_matrix(model: Model) -> Array:
    """Return C, (joints, N - joints): chord angles are theta + C eta, n.(x x u(L))/L per link."""
    k, n = model.joints, model.size
    C = np.zeros((k, n - k))
    row = 0
    robot: Any = model.robot
    for link in robot.links:
        if link.joint.type == "fixed":
            continue
        if link.joint.type != "revolute":
            raise SuppleError(f"{link.name} slides: chord angles are those of revolute joints")
        if link.joint.mimic is not None:
            raise SuppleError(f"{link.name} has no motor: chord angles are those of driven joints")
        if not link.rigid and link.length:
            for column in range(n - k):
                unit = np.zeros(n)
                unit[k + column] = 1.0
                moved = np.cross([1.0, 0.0, 0.0], model.deflection_at(unit, link.name, 1.0))
                C[row, column] = link.joint.direction @ moved / link.length
        row += 1
    return C


@also_called(path="trajectory")
def invert(
    model: Model,
    trajectory: Trajectory | str | ArrayLike,
    window: tuple[float, float] | None = None,
    *,
    rate: float | None = None,
) -> Inversion:
    """Bounded efforts with which the chord angles of a serial arm follow a path exactly.

    Parameters
    ----------
    model : Model
        Model of a serial arm with revolute joints.
    trajectory : Trajectory, str or array_like
        Path of the chord angles theta_i + v_i(L_i) / L_i, rad: a Trajectory, the name of a file, or
        samples (N, joints) with their `rate`.
    window : (float, float), optional
        First and last time, s; the path begins at 0. Default: as long before and after the path as
        the slowest zero needs to decay to 1e-6.
    rate : float, optional
        Samples per second, if samples are given.

    Returns
    -------
    Inversion
        Efforts and joint motion, which begin before the path and end after it.

    Raises
    ------
    SuppleError
        If the arm has zeros on the imaginary axis, for which no bounded inverse exists.

    References
    ----------
    [Bayo1987], [Devasia1996].

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("de-luca-two-link")
    >>> model = supple.build(robot, supple.AssumedModes(1), damping=0.05)
    >>> path = supple.PointToPoint([0.2, 0.8], [0.3, 0.9], 2.0)
    >>> found = supple.invert(model, path, window=(-1.0, 3.0))
    >>> found.tau.shape[1]
    2
    """
    if not isinstance(model, Model):
        raise SuppleError(f"model is {shown(model)}: give a Model, supple.build(robot, basis)")
    chain = model.chain
    if not architecture_of(model.robot).open_chain or chain.sprung or chain.supports:
        raise SuppleError(
            "invert is for serial arms whose joints have no springs and no bearings: correct the "
            "path of any other robot by supple.compensate or supple.settled"
        )
    path = trajectory_for(model.robot, trajectory, rate=rate)
    if path.periodic:
        raise SuppleError("trajectory repeats: give one of the chord angles that begins and ends")
    marks = np.array([0.0, *path.breaks, path.duration])
    hair = 1e-9 * path.duration
    jump = np.abs(path(marks + hair)[1] - path(marks - hair)[1])
    if (jump > 1e-6 * np.abs(path(np.linspace(0, path.duration, 200))[1]).max()).any():
        raise SuppleError(
            f"the path's velocity jumps at {marks[jump.max(axis=1).argmax()]:g} s: no bounded "
            "effort makes the arm follow; give a smooth one, such as a quintic"
        )
    rows = _Rows(model)
    ends = [rows.rest(path(np.array([t]))[0][0]) for t in (0.0, path.duration)]
    zeros = [
        np.linalg.eigvals(rows.slopes(x)).astype(complex) if rows.count else np.zeros(0, complex)
        for x in ends
    ]
    for found in zeros:
        size = np.abs(found)
        still = size[np.abs(found.real) < 1e-6 * size]
        if len(still) or (size < 1e-9).any():
            told = ", ".join(f"{w:.4g}" for w in sorted(set(np.round(still, 6)))[:3]) or "0"
            raise SuppleError(
                f"the arm has zeros on the imaginary axis ({told} rad/s), as a rotary inertia at "
                "the tip brings: no bounded effort makes it follow; add damping, or shape the move "
                "instead"
            )
    decay = float(min(np.abs(found.real).min(initial=np.inf) for found in zeros))
    t = _grid(path, window, decay)
    x = rows.solve(path, t, ends) if rows.count else np.zeros((len(t), 0))
    return rows.answer(path, t, x, zeros[0], decay)


def _grid(path: Trajectory, window: tuple[float, float] | None, decay: float) -> Array:
    if window is None:
        ahead = min(max(14 / decay, 0.05), 20.0) if np.isfinite(decay) else 0.0
        window = (-ahead, path.duration + ahead)
    edges = reals("window", window, "give its first and last time in seconds")
    if edges.shape != (2,) or not (
        np.isfinite(edges).all() and edges[0] <= 0 and edges[1] >= path.duration
    ):
        raise SuppleError(
            f"window is {shown(window)}: it must hold the path, from 0 to {path.duration:g} s"
        )
    low, high = edges.tolist()
    if (high - low) / STEP > MOST:
        raise SuppleError(
            f"window {shown(window)} holds {(high - low) / STEP:.3g} samples: at most {MOST}"
        )
    marks = sorted({low, 0.0, *path.breaks, path.duration, high})
    parts = []
    for a, b in pairwise(marks):
        if b - a > 1e-12:
            parts.append(np.linspace(a, b, max(1, int(np.ceil((b - a) / STEP - 1e-9))) + 1)[:-1])
    return np.concatenate([*parts, [marks[-1]]])


class _Rows:
    """The elastic rows with the joints expressed by chord angles, x = [eta, eta']."""

    def __init__(self, model: Model) -> None:
        import casadi as ca

        self.model, self.C = model, chord_matrix(model)
        k, n = model.joints, model.size
        self.count = m = n - k
        if not m:
            return
        sym = model.functions.symbol
        x, a = sym("x", 2 * m), sym("a", m)
        y, yd, ydd = (sym(word, k) for word in ("y", "yd", "ydd"))
        C = ca.DM(self.C)
        q, qd, qdd = (
            ca.vertcat(joint - ca.mtimes(C, part), part)
            for joint, part in ((y, x[:m]), (yd, x[m:]), (ydd, a))
        )
        G = model.functions.expression("inverse_dynamics")(q, qd, qdd)[k:]
        given = [x, a, y, yd, ydd]
        self._force = Evaluator(
            ca.Function("G", given, ca.cse([ca.densify(G), ca.densify(ca.jacobian(G, a))]))
        )
        self._slope = Evaluator(ca.Function("Gx", given, ca.cse([ca.densify(ca.jacobian(G, x))])))

    def rate(self, x: Array, y: Array, yd: Array, ydd: Array) -> tuple[Array, Array]:
        """f = [eta', eta''] (B, 2m) and df/dx (B, 2m, 2m): eta'' = a with G(x, a) = 0."""
        m, B = self.count, len(x)
        G, W = self._force(x, np.zeros((B, m)), y, yd, ydd)
        G, W = G.reshape(B, m), W.reshape(B, m, m)
        if not (np.linalg.cond(W) < 1e13).all():
            raise SuppleError(
                "at a pose near the path the efforts do not reach the chord angles in finite "
                "proportion (a zero passes infinity): take another number of modes, or another path"
            )
        a = np.asarray(np.linalg.solve(W, -G[..., None])[..., 0], float)
        Gx = self._slope(x, a, y, yd, ydd)[0].reshape(B, m, 2 * m)
        J = np.concatenate(
            [np.broadcast_to(np.eye(m, 2 * m, m), (B, m, 2 * m)), -np.linalg.solve(W, Gx)], axis=1
        )
        return np.hstack([x[:, m:], a]), J

    def rest(self, y: Array) -> Array:
        """X at rest with the chord at y: the sag, with the joints where it puts them."""
        theta = y.copy()
        for _ in range(30):
            q = static_state(self.model, theta)
            moved = y - self.C @ q[len(y) :] - theta
            theta = theta + moved
            if np.abs(moved).max(initial=0.0) < 1e-13:
                break
        return np.concatenate([q[len(y) :], np.zeros(self.count), y])

    def slopes(self, rest: Array) -> Array:
        """(2m, 2m): the elastic rows linearised at rest."""
        m, y = self.count, rest[None, 2 * self.count :]
        still = np.zeros_like(y)
        J: Array = self.rate(rest[None, : 2 * m], y, still, still)[1][0]
        return J

    def solve(self, path: Trajectory, t: Array, ends: list[Array]) -> Array:
        """(N, 2m): the bounded solution on the grid."""
        from scipy.linalg import schur

        m2, N = 2 * self.count, len(t)
        h = np.diff(t)
        nodes, middles = path(t), path((t[:-1] + t[1:]) / 2)
        # rows that see what must vanish: at the start what decays with time, at the end what grows
        guards = []
        for rest, half in zip(ends, ("lhp", "rhp"), strict=True):
            _, Z, kept = schur(self.slopes(rest).T, sort=half)
            guards.append(Z[:, :kept].T)
        if sum(map(len, guards)) != m2:
            raise SuppleError("the arm's zeros change sides along the path: it cannot be inverted")
        x, done, further = np.linspace(ends[0][:m2], ends[1][:m2], N), 0.0, 1.0
        while done < 1:
            # the path as fast as it is; where that is not found, from a slower one on
            speed = min(done + further, 1.0)
            along = [(y, speed * yd, speed**2 * ydd) for y, yd, ydd in (nodes, middles)]
            found = self._led(x, h, guards, ends, along)
            if found is not None:
                x, done = found, speed
            elif further < 1 / 30:
                raise SuppleError(
                    "the inversion was not found: the path is too fast for this arm; give it more "
                    f"time ({done:.2f} of this speed was met)"
                )
            else:
                further /= 2
        return x

    def _led(
        self, x: Array, h: Array, guards: list[Array], ends: list[Array], along: list[Any]
    ) -> Array | None:
        """Newton's method from x, None where it does not converge."""
        eye, H = np.eye(x.shape[1]), h[:, None, None]
        nodes, middles = along
        before = np.inf
        for _ in range(20):
            f, J = self.rate(x, *nodes)
            xm = (x[:-1] + x[1:]) / 2 + h[:, None] / 8 * (f[:-1] - f[1:])
            fm, Jm = self.rate(xm, *middles)
            defect = x[1:] - x[:-1] - h[:, None] / 6 * (f[:-1] + 4 * fm + f[1:])
            left = -eye - H / 6 * (J[:-1] + 4 * Jm @ (eye / 2 + H / 8 * J[:-1]))
            right = eye - H / 6 * (J[1:] + 4 * Jm @ (eye / 2 - H / 8 * J[1:]))
            step = self._newton(left, right, guards, x, ends, defect)
            x = x - step
            size = float(np.abs(step).max())
            if size <= 1e-10 * float(np.abs(x).max()) + 1e-14:
                return x
            if not size < 10 * before or not size < 1e3:  # it runs away
                break
            before = size
        return None

    @staticmethod
    def _newton(
        left: Array,
        right: Array,
        guards: list[Array],
        x: Array,
        ends: list[Array],
        defect: Array,
    ) -> Array:
        """The Newton step of the whole window: start rows, defects in order, end rows."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.linalg import splu

        N, m2 = x.shape
        g0, g1 = guards
        rows, columns, values = [], [], []

        def put(block: Array, row: int, column: int) -> None:
            r, c = np.indices(block.shape)
            rows.append((r + row).ravel())
            columns.append((c + column).ravel())
            values.append(block.ravel())

        put(g0, 0, 0)
        base = len(g0)
        r, c = np.indices((m2, m2))
        k = np.arange(N - 1)[:, None, None]
        for blocks, shift in ((left, 0), (right, m2)):
            rows.append((base + k * m2 + r).ravel())
            columns.append((k * m2 + c + shift).ravel())
            values.append(blocks.ravel())
        put(g1, base + (N - 1) * m2, (N - 1) * m2)
        matrix = coo_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
            shape=(N * m2, N * m2),
        ).tocsc()
        open_by = np.concatenate(
            [g0 @ (x[0] - ends[0][:m2]), defect.ravel(), g1 @ (x[-1] - ends[1][:m2])]
        )
        return np.asarray(splu(matrix).solve(open_by)).reshape(N, m2)

    def answer(
        self, path: Trajectory, t: Array, x: Array, zeros: NDArray[np.complex128], decay: float
    ) -> Inversion:
        """Return the answer of a solution x on the times t."""
        m = self.count
        y, yd, ydd = path(t)
        etadd = self.rate(x, y, yd, ydd)[0][:, m:] if m else np.zeros((len(t), 0))
        q, qd, qdd = (
            np.hstack([joint - part @ self.C.T, part])
            for joint, part in ((y, x[:, :m]), (yd, x[:, m:]), (ydd, etadd))
        )
        tau = self.model.inverse_dynamics(q, qd, qdd)[:, : self.model.joints]
        k = self.model.joints
        return Inversion(self.model, t, tau, q[:, :k], y, q, qd, zeros, decay)
