"""Which efforts make the tip follow: stable inversion of the non-minimum-phase part of an arm.

The output of joint i is its chord angle y_i = theta_i + v_i(L_i)/L_i, from the joint to the end of
its link. With theta = y - C eta the elastic rows of the equations of motion,

    (M_ff - M_fr C) eta'' + n_f(y - C eta, eta, rates) + M_fr y'' = 0,

are unstable as an initial value problem: efforts that act on the root move the end by a wave. They
have one bounded solution, which begins before the path does and ends after it. It is found on the
whole window at once, by Hermite-Simpson collocation (order 4) and Newton's method, with conditions
at both ends: no part of the state along directions that would grow towards the outside.

Where there is none, as for paths that are too fast, `nearest=True` gives the motion that comes
nearest (`nearest_motion`).

Source: [Devasia1996] for the bounded solution; [Bayo1987] for arms.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import also_called, brief, one_of, reals, switch
from ...control.matching import trajectory_for
from ...control.shaping import Samples
from ...control.trajectories import Trajectory, TrajectoryWithDetails
from ...control.trajectory_files import given_trajectory
from ...equations.equilibrium import static_state, total_stiffness
from ...equations.evaluate import Evaluator
from ...equations.model import Model
from ...errors import SuppleError
from ..small_range import SMALL, SmallRangeWarning, too_large
from .nearest_motion import StateEquations, nearest_motion, nodes_of

__all__ = ["Inversion", "chord_matrix", "invert"]

Array = NDArray[np.float64]
MAX_STEP = 1e-3  # s, at most
FINEST_SPEED = 0.02  # relative steps of the speed by which a path is approached
COARSE_STEPS = 200  # of a path, on which its inverse is looked for first
SLOWEST_SPEED = 0.01  # of the path's own, below which no inverse is looked for
MAX_SAMPLES = 200_000  # samples


@dataclass(frozen=True, eq=False)
class Inversion(TrajectoryWithDetails, Answer):
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
        Chord angles (N, joints), rad.
    q, qd : ndarray
        Full motion (N, size).
    zeros : ndarray of complex
        Zeros (2 m,) from efforts to chord angles where the path begins, 1/s.
    decay : float
        Real part of the slowest zero, 1/s: how fast the effort before the path dies out backwards
        in time.
    output : str
        What follows the path: ``chord`` angles, or the ``tip`` in space.
    weight : float
        0 where the path is followed exactly. Of a nearest motion the weight of the efforts beside
        the error, see Notes of `invert`.
    error : float
        Largest distance of the output from the path, rad or m; rounding where `weight` is 0.
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
    output: str = "chord"
    weight: float = 0.0
    error: float = 0.0

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


def chord_matrix(model: Model) -> Array:
    """Return C, (joints, N - joints): chord angles are theta + C eta, n.(x x u(L))/L per link."""
    k = model.joints
    n = model.size
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
    output: str = "chord",
    nearest: bool = False,
) -> Inversion:
    """Bounded efforts with which the chord angles or the tip of a serial arm follow a path exactly.

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
    output : {"chord", "tip"}
        What follows the path: the chord angles, or the tip in space. Then the path holds as many
        coordinates of the tip as there are joints, (x, y) or (x, y, z), m.
    nearest : bool
        Where no exact inverse is found, because the path is too fast or the arm has zeros on the
        imaginary axis, return the nearest motion instead of refusing: from rest to rest within
        the window (default then: the path's duration, at least one period of the lowest mode with
        the joints held, before and after it).

    Returns
    -------
    Inversion
        Efforts and joint motion, which begin before the path and end after it.

    Raises
    ------
    SuppleError
        If the arm has zeros on the imaginary axis, for which no bounded inverse exists; or if the
        path is too fast, with the shortest duration in which the same path is followed.

    Warns
    -----
    SmallRangeWarning
        If a link of a nearest motion bends by more than a tenth of its length.

    Notes
    -----
    The nearest motion makes 1/T int |y - y_d|^2 / d^2 + weight |tau - tau_r|^2 / p^2 dt least, y
    the output, d the extent of the path, tau_r the efforts of the unbent arm along it and p the
    largest of them. `weight` is the smallest one down to which the error fell.

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
        raise SuppleError(f"model is {brief(model)}: give a Model, supple.build(robot, basis)")
    chain = model.chain
    if not architecture_of(model.robot).open_chain or chain.sprung or chain.supports:
        raise SuppleError(
            "invert is for serial arms whose joints have no springs and no bearings: correct the "
            "path of any other robot by supple.compensate or supple.settled"
        )
    one_of("chord", "tip")("output", output)
    switch("nearest", nearest)
    path = _path(model, trajectory, rate, output)
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
    rows: _Rows = _TipRows(model, path) if output == "tip" else _Rows(model)
    try:
        return _inverted(rows, path, window, slower=not nearest)
    except _NoInverseError as problem:
        if not nearest:
            raise SuppleError(f"{problem}, or ask for nearest=True") from None
    return _nearest(rows, path, window)


class _NoInverseError(SuppleError):
    """No bounded efforts were found with which the output follows the path exactly."""


def _path(
    model: Model, trajectory: Trajectory | str | ArrayLike, rate: float | None, output: str
) -> Trajectory:
    """Return the path wanted: of the joints' chords by their names, or of the tip as it is."""
    if output == "chord":
        return trajectory_for(model.robot, trajectory, rate=rate)
    path = given_trajectory("trajectory", trajectory, rate)
    dimensions = 2 if architecture_of(model.robot).planar else 3
    if path.size != model.joints or path.size != dimensions:
        raise SuppleError(
            f"the tip's path has {path.size} coordinates, the arm {model.joints} joints and its "
            f"tip {dimensions} coordinates: all three must be the same; use output='chord' for "
            "other arms"
        )
    return path


def _inverted(
    rows: _Rows, path: Trajectory, window: tuple[float, float] | None, slower: bool
) -> Inversion:
    """The bounded solution of the elastic rows under a path.

    slower: where it is not found, look for the path's fastest speed, so that the refusal names it.
    """
    ends = _rests(rows, path)
    zeros = [_zeros(rows, x) for x in ends]
    for found in zeros:
        size = np.abs(found)
        imaginary_zeros = size[np.abs(found.real) < 1e-6 * size]
        if len(imaginary_zeros) or (size < 1e-9).any():
            zeros_listed = (
                ", ".join(f"{w:.4g}" for w in sorted(set(np.round(imaginary_zeros, 6)))[:3]) or "0"
            )
            raise _NoInverseError(
                f"the arm has zeros on the imaginary axis ({zeros_listed} rad/s), "
                f"{_zero_cause(rows.model)}: no bounded effort makes it follow; add damping, such "
                "as supple.build(robot, basis, damping=0.02), or shape the move instead"
            )
    decay = _slowest(zeros)
    t = _grid(path, window, decay)
    x = rows.solve(path, t, ends, slower) if rows.count else np.zeros((len(t), 0))
    return rows.answer(path, t, x, zeros[0], decay)


def _rests(rows: _Rows, path: Trajectory) -> list[Array]:
    """States [eta, eta', y] at rest where the path begins and where it ends."""
    return [rows.state_at_rest(path(np.array([t]))[0][0]) for t in (0.0, path.duration)]


def _zeros(rows: _Rows, rest: Array) -> NDArray[np.complex128]:
    """Zeros from efforts to output at a state of rest, 1/s."""
    if not rows.count:
        return np.zeros(0, complex)
    return np.linalg.eigvals(rows.slopes(rest)).astype(complex)


def _slowest(zeros: list[NDArray[np.complex128]]) -> float:
    """Real part of the slowest zero, 1/s."""
    return float(min(np.abs(found.real).min(initial=np.inf) for found in zeros))


def _nearest(rows: _Rows, path: Trajectory, window: tuple[float, float] | None) -> Inversion:
    """The motion from rest to rest whose output comes nearest to the path."""
    model = rows.model
    k = rows.model.joints
    m = rows.count
    ends = _rests(rows, path)
    rests = [
        rows.motion(x[None, : 2 * m], np.zeros((1, m)), *_standing(x[2 * m :]))[0] for x in ends
    ]

    # periods with the joints held say how long, the fastest mode with free ones how finely
    M = model.mass_matrix(rests[0][0])
    K = total_stiffness(model, rests[0][0])
    clamped_frequencies = np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M[k:, k:], K[k:, k:]))))
    omega = np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, K))))
    if window is None:
        around = max(path.duration, 2 * np.pi / float(clamped_frequencies.min()))
        window = (-around, path.duration + around)
    t = nodes_of(path, _window(path, window), float(omega.max()))

    # the search begins with the sagging arm, which does not bend otherwise, along the path
    share = np.clip(t / path.duration, 0, 1)[:, None]
    x = (1 - share) * ends[0][: 2 * m] + share * ends[1][: 2 * m]
    q, qd, qdd = rows.motion(x, np.zeros((len(t), m)), *path(t))
    tau = model.inverse_dynamics(q, qd, qdd)[:, :k]

    states = (np.concatenate([rest[0], np.zeros(model.size)]) for rest in rests)
    equations = StateEquations(model, rows.output)
    found = nearest_motion(
        equations, path, t, (next(states), next(states)), (np.hstack([q, qd]), tau)
    )
    if found is None:
        raise SuppleError(
            "no motion near this path was found, the window is too short or the path too violent: "
            f"give it more time, or a wider window than {brief(window)}"
        )
    fine = _refined(t)
    state, tau = found.at(fine)
    output = equations.output(state)[0]
    error = float(np.abs(output - path(fine)[0]).max())
    q = state[:, : model.size]
    qd = state[:, model.size :]
    bent = _largest_bending(model, q)
    if bent > SMALL:
        instead = "give the path more time, or stiffen the links"
        sentence = too_large(model.robot.name, bent, instead)
        warnings.warn(sentence, SmallRangeWarning, stacklevel=4)
    zeros = [_zeros(rows, x) for x in ends]
    chord = q[:, :k] + q[:, k:] @ chord_matrix(model).T
    word = rows.word
    return Inversion(
        model,
        fine,
        tau,
        q[:, :k],
        chord,
        q,
        qd,
        zeros[0],
        _slowest(zeros),
        word,
        found.weight,
        error,
    )


def _standing(y: Array) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration (1, k) of an output that stands."""
    return y[None], np.zeros((1, len(y))), np.zeros((1, len(y)))


def _largest_bending(model: Model, q: Array) -> float:
    """Largest deflection of a link's end over its length."""
    robot: Any = model.robot
    ratios = [
        float(np.linalg.norm(model.deflection_at(q, link.name, 1.0), axis=-1).max()) / link.length
        for link in robot.links
        if not link.rigid and link.length
    ]
    return max(ratios, default=0.0)


def _refined(t: Array) -> Array:
    """Times at most MAX_STEP apart, those given among them."""
    parts = []
    for a, b in pairwise(t.tolist()):
        parts.append(np.linspace(a, b, int(np.ceil((b - a) / MAX_STEP - 1e-9)) + 1)[:-1])
    return np.concatenate([*parts, t[-1:]])


def _zero_cause(model: Model) -> str:
    """Say what brings zeros on the imaginary axis: rotary inertia that the links' ends carry."""
    links = [link for link in model.chain.links if link.inv.count]
    last = model.chain.links[-1]
    if np.abs(last.tip_mass[3:, 3:]).max() > 0:
        return "which a rotary inertia at the tip brings"
    if len(model.chain.links) > 1 and links and links[0] is not last:
        return f"which the links beyond {links[0].name} bring: its end carries them as an inertia"
    return "as its model has no damping"


def _grid(path: Trajectory, window: tuple[float, float] | None, decay: float) -> Array:
    if window is None:
        ahead = min(max(14 / decay, 0.05), 20.0) if np.isfinite(decay) else 0.0
        window = (-ahead, path.duration + ahead)
    low, high = _window(path, window)
    marks = sorted({low, 0.0, *path.breaks, path.duration, high})
    return _refined(np.array([marks[0], *(b for a, b in pairwise(marks) if b - a > 1e-12)]))


def _window(path: Trajectory, window: tuple[float, float]) -> tuple[float, float]:
    """First and last time, judged."""
    edges = reals("window", window, "give its first and last time in seconds")
    if edges.shape != (2,) or not (
        np.isfinite(edges).all() and edges[0] <= 0 and edges[1] >= path.duration
    ):
        raise SuppleError(
            f"window is {brief(window)}: it must hold the path, from 0 to {path.duration:g} s"
        )
    low, high = edges.tolist()
    if (high - low) / MAX_STEP > MAX_SAMPLES:
        raise SuppleError(
            f"window {brief(window)} holds {(high - low) / MAX_STEP:.3g} samples: at most "
            f"{MAX_SAMPLES}"
        )
    return low, high


class _Rows:
    """The elastic rows with the joints expressed by chord angles, x = [eta, eta']."""

    word: ClassVar = "chord"  # what the output is

    def __init__(self, model: Model) -> None:
        import casadi as ca

        self.model = model
        self.C = chord_matrix(model)
        k = model.joints
        n = model.size
        self.count = m = n - k
        if not m:
            return
        sym = model.functions.symbol
        x = sym("x", 2 * m)
        a = sym("a", m)
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
        m = self.count
        B = len(x)
        G, W = self._force(x, np.zeros((B, m)), y, yd, ydd)
        G = G.reshape(B, m)
        W = W.reshape(B, m, m)
        if not (np.linalg.cond(W) < 1e13).all():
            raise _NoInverseError(
                "at a pose near the path the efforts do not reach the chord angles in finite "
                "proportion (a zero passes infinity): take another number of modes, or another path"
            )
        a = np.asarray(np.linalg.solve(W, -G[..., None])[..., 0], float)
        Gx = self._slope(x, a, y, yd, ydd)[0].reshape(B, m, 2 * m)
        J = np.concatenate(
            [np.broadcast_to(np.eye(m, 2 * m, m), (B, m, 2 * m)), -np.linalg.solve(W, Gx)], axis=1
        )
        return np.hstack([x[:, m:], a]), J

    def state_at_rest(self, y: Array) -> Array:
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
        m = self.count
        y = rest[None, 2 * self.count :]
        zeros = np.zeros_like(y)
        J: Array = self.rate(rest[None, : 2 * m], y, zeros, zeros)[1][0]
        return J

    def solve(self, path: Trajectory, t: Array, ends: list[Array], slower: bool) -> Array:
        """(N, 2m): the bounded solution on the grid; by slower paths where it is not found."""
        from scipy.linalg import schur

        m2 = 2 * self.count
        # rows that see what must vanish: at the start what decays with time, at the end what grows
        guards = []
        fastest = 0.0
        for rest, half in zip(ends, ("lhp", "rhp"), strict=True):
            slopes = self.slopes(rest)
            _, Z, stable_count = schur(slopes.T, sort=half)
            guards.append(Z[:, :stable_count].T)
            fastest = max(fastest, float(np.abs(np.linalg.eigvals(slopes)).max()))
        if sum(map(len, guards)) != m2:
            raise _NoInverseError(
                "the arm's zeros change sides along the path: no inverse is found there; take "
                "another path"
            )
        # a coarse grid first: it is much cheaper, and Newton's method begins near the answer then
        coarse = _thinned(t, path, min(0.5 / fastest, path.duration / COARSE_STEPS))
        x = self._newton_from(_between(ends, len(coarse), m2), path, coarse, 1.0, guards, ends)
        if x is None and slower:
            x = self._by_slower_paths(path, coarse, guards, ends)
        if x is None:
            raise _too_fast(0.0, path.duration)
        x = np.stack([np.interp(t, coarse, column) for column in x.T], axis=1)
        found = self._newton_from(x, path, t, 1.0, guards, ends)
        if found is None:
            raise _too_fast(1.0, path.duration)
        return found

    def _by_slower_paths(
        self, path: Trajectory, t: Array, guards: list[Array], ends: list[Array]
    ) -> Array:
        """The solution on a grid, approached by the same path in more time, window and all."""
        rest = _between(ends, len(t), 2 * self.count)
        m = self.count
        x = rest
        met = 0.0
        further = 0.5
        while met < 1:
            speed = min(met + further, 1.0)
            guess = rest
            if met > 0:  # what bends the links are inertia forces
                faster = speed / met
                powers = np.repeat([faster**2, faster**3], m)
                guess = rest + powers * (x - rest)
            found = self._newton_from(guess, path, t, speed, guards, ends)
            if found is not None:
                x = found
                met = speed
            elif further < max(FINEST_SPEED * met, SLOWEST_SPEED):
                raise _too_fast(met, path.duration)
            else:
                further /= 2
        return x

    def _newton_from(
        self,
        x: Array,
        path: Trajectory,
        t: Array,
        speed: float,
        guards: list[Array],
        ends: list[Array],
    ) -> Array | None:
        """Newton's method from x, None where it does not converge.

        speed: of the path, in parts of its own; t are its times at its own speed.
        """
        h = np.diff(t) / speed
        eye = np.eye(x.shape[1])
        H = h[:, None, None]
        nodes, middles = (
            (y, speed * yd, speed**2 * ydd) for y, yd, ydd in (path(t), path((t[:-1] + t[1:]) / 2))
        )
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
        rows = []
        columns = []
        values = []

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

    def motion(
        self, x: Array, etadd: Array, y: Array, yd: Array, ydd: Array
    ) -> tuple[Array, Array, Array]:
        """Return q, qd, qdd (B, n) of elastic states x and of the output's motion."""
        m = self.count
        q, qd, qdd = (
            np.hstack([output - part @ self.C.T, part])
            for output, part in ((y, x[:, :m]), (yd, x[:, m:]), (ydd, etadd))
        )
        return q, qd, qdd

    def output(self, q: Any) -> Any:
        """Return the CasADi expression of what follows the path."""
        import casadi as ca

        k = self.model.joints
        return q[:k] + ca.mtimes(ca.DM(self.C), q[k:])

    def answer(
        self, path: Trajectory, t: Array, x: Array, zeros: NDArray[np.complex128], decay: float
    ) -> Inversion:
        """Return the answer of a solution x on the times t."""
        m = self.count
        k = self.model.joints
        y, yd, ydd = path(t)
        etadd = self.rate(x, y, yd, ydd)[0][:, m:] if m else np.zeros((len(t), 0))
        q, qd, qdd = self.motion(x, etadd, y, yd, ydd)
        tau = self.model.inverse_dynamics(q, qd, qdd)[:, :k]
        error = float(np.abs(self.outputs(q) - y).max())
        chord = q[:, :k] + q[:, k:] @ chord_matrix(self.model).T
        return Inversion(
            self.model, t, tau, q[:, :k], chord, q, qd, zeros, decay, self.word, 0.0, error
        )

    def outputs(self, q: Array) -> Array:
        """(B, k): the output at configurations (B, n)."""
        k = self.model.joints
        return q[:, :k] + q[:, k:] @ self.C.T


def _between(ends: list[Array], count: int, size: int) -> Array:
    """States (count, size) on the straight line from one rest to the other."""
    return np.linspace(ends[0][:size], ends[1][:size], count)


def _thinned(t: Array, path: Trajectory, step: float) -> Array:
    """Some of the times t, about a step apart, with the marks of the path among them."""
    marks = np.array([t[0], 0.0, *path.breaks, path.duration, t[-1]])
    every = max(1, int(step / MAX_STEP))
    chosen = np.zeros(len(t), bool)
    chosen[::every] = True
    chosen[np.searchsorted(t, marks - 1e-12)] = True
    return t[chosen]


def _too_fast(met: float, duration: float) -> _NoInverseError:
    """The refusal of a path of which a part of its speed was met."""
    sentence = f"not even {SLOWEST_SPEED:g} of this speed was met"
    if met > 0:
        sentence = f"{met:.2f} of this speed was met, that is a duration of {duration / met:.3g} s"
    return _NoInverseError(
        "the inversion was not found: the path is too fast for this arm; give it more time "
        f"({sentence})"
    )


class _TipRows(_Rows):
    """The elastic rows with the joints expressed by the place of the tip, x = [eta, eta'].

    theta follows from tip(theta, eta) = p by Newton's method, its rates from

        J_r theta' + J_f eta' = p',   J_r theta'' + J_f eta'' + (J q')' q' = p''.
    """

    word: ClassVar = "tip"

    def __init__(self, model: Model, path: Trajectory) -> None:
        import casadi as ca

        self.model = model
        k = model.joints
        n = model.size
        self.count = m = n - k
        self._guess: dict[int, Array] = {}
        self._start = self._joints_at(path(np.array([0.0]))[0][0])
        sym = model.functions.symbol
        theta = sym("theta", k)
        x = sym("x", 2 * m)
        a = sym("a", m)
        pd = sym("yd", k)
        pdd = sym("ydd", k)
        q = sym("q", n)
        qd = sym("qd", n)
        place = model.functions.expression("tip")(q)[0][:k]
        J = ca.jacobian(place, q)
        turning = ca.jtimes(ca.mtimes(J, qd), q, qd)
        jacobian = ca.Function("J", [q, qd], [J, turning])
        here = ca.vertcat(theta, x[:m])
        Jq, _ = jacobian(here, ca.DM.zeros(n))
        inverse = ca.inv(Jq[:, :k])
        rate = ca.mtimes(inverse, pd - ca.mtimes(Jq[:, k:], x[m:]))
        moving = ca.vertcat(rate, x[m:])
        _, bias = jacobian(here, moving)
        acceleration = ca.mtimes(inverse, pdd - bias - ca.mtimes(Jq[:, k:], a))
        rows = ca.vertcat(acceleration, a)
        G = model.functions.expression("inverse_dynamics")(here, moving, rows)[k:]
        given = [x, a, theta, pd, pdd]
        # theta changes with eta: dG/dx in all = G_x + G_theta theta_x, theta_x = -J_r^-1 J_f
        by_theta = ca.mtimes(ca.jacobian(G, theta), -ca.mtimes(inverse, Jq[:, k:]))
        total = ca.jacobian(G, x) + ca.horzcat(by_theta, ca.DM.zeros(m, m))
        dense = [ca.densify(G), ca.densify(ca.jacobian(G, a))]
        self._force = Evaluator(ca.Function("G", given, ca.cse(dense)))
        self._slope = Evaluator(ca.Function("Gx", given, ca.cse([ca.densify(total)])))
        motion = [ca.densify(moving), ca.densify(rows)]
        self._motion = Evaluator(ca.Function("motion", given, ca.cse(motion)))
        found = [ca.densify(place), ca.densify(J[:, :k])]
        self._tip = Evaluator(ca.Function("tip", [q], ca.cse(found)))

    def _joints_at(self, place: Array) -> Array:
        """Joint coordinates that put the rigid arm's tip at a place."""
        from ..kinematics.inverse import inverse

        joints = np.zeros(3)
        joints[: len(place)] = place
        found = inverse(self.model.robot, joints)
        if not found.reached:
            raise SuppleError(
                f"the path begins at {place.round(4).tolist()} m, which the tip of "
                f"{self.model.robot.name} does not reach: {found.reason or 'out of reach'}, by "
                f"{found.error:.3g} m"
            )
        return np.asarray(found.theta)

    def _joints(self, x: Array, place: Array) -> Array:
        """(B, k) joints that put the bent arm's tip at places (B, k), on the branch of the start.

        Newton's method for all times at once, begun by following the path in order.
        """
        k = self.model.joints
        m = self.count
        theta = self._guess.get(len(x))  # of the same grid, from the round before
        if theta is None:
            theta = self._followed(place)
        for _ in range(50):
            tip, J = self._tip(np.hstack([theta, x[:, :m]]))
            J = J.reshape(len(x), k, k)
            move = np.linalg.solve(J, (place - tip.reshape(len(x), k))[..., None])[..., 0]
            theta = theta + np.clip(move, -0.3, 0.3)
            if np.abs(move).max() < 1e-13:
                break
        self._guess[len(x)] = np.asarray(theta)
        return np.asarray(theta)

    def _followed(self, place: Array) -> Array:
        """Joints of the unbent arm along places (B, k), each begun from the one before."""
        k = self.model.joints
        theta = self._start
        unbent = np.zeros(self.count)
        out = np.empty((len(place), k))
        for i, wanted in enumerate(place):
            for _ in range(20):
                tip, J = self._tip(np.concatenate([theta, unbent])[None])
                move = np.linalg.solve(J.reshape(k, k), wanted - tip.ravel())
                theta = theta + np.clip(move, -0.3, 0.3)
                if np.abs(move).max() < 1e-12:
                    break
            else:
                raise SuppleError(
                    f"the path leaves what the tip reaches, near {wanted.round(4).tolist()} m"
                )
            out[i] = theta
        return out

    def rate(self, x: Array, y: Array, yd: Array, ydd: Array) -> tuple[Array, Array]:
        return super().rate(x, self._joints(x, y), yd, ydd)

    def state_at_rest(self, y: Array) -> Array:
        """X at rest with the tip at y: the sag, with the joints where it puts them."""
        k = self.model.joints
        theta = self._followed(np.linspace(self._start_place(), y, 50))[-1]
        for _ in range(50):
            q = static_state(self.model, theta)
            tip, J = self._tip(q[None])
            move = np.linalg.solve(J.reshape(k, k), y - tip.ravel())
            theta = theta + move
            if np.abs(move).max(initial=0.0) < 1e-13:
                break
        self._guess[1] = theta[None]
        return np.concatenate([q[k:], np.zeros(self.count), y])

    def _start_place(self) -> Array:
        q = np.concatenate([self._start, np.zeros(self.count)])
        return np.asarray(self._tip(q[None])[0]).ravel()

    def motion(
        self, x: Array, etadd: Array, y: Array, yd: Array, ydd: Array
    ) -> tuple[Array, Array, Array]:
        """Return q, qd, qdd (B, n) of elastic states x and of the tip's motion."""
        theta = self._joints(x, y)
        q = np.hstack([theta, x[:, : self.count]])
        qd, qdd = self._motion(x, etadd, theta, yd, ydd)
        return q, qd.reshape(q.shape), qdd.reshape(q.shape)

    def output(self, q: Any) -> Any:
        return self.model.functions.expression("tip")(q)[0][: self.model.joints]

    def outputs(self, q: Array) -> Array:
        return self._tip(q)[0].reshape(len(q), self.model.joints)
