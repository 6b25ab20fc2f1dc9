"""LedModel: any Model linearised about a prescribed motion of its joints.

With theta(t) given and y = [eps, eta], the Model's own equations r(q, q', q'') = 0 at y = 0 give
    M = dr/dy'',   C = dr/dy',   K = dr/dy,   F = -r,
of which the joints' rows are the efforts. So links that slide, loops, any basis, stiffening and
the Model's own damping come in as the Model has them, convective terms and all.

Passive coordinates p that no loop holds swing as far as they like: p(t) is first found as that of
the unbent robot, r_p(theta, p) = 0 (`Swung`), and y, which holds what bending adds to p, is small
about that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.kinds import architecture_of
from ..beams.basis import FiniteElements
from ..equations.build import build
from ..equations.chains.chain import check_lengths
from ..equations.equilibrium import stiffness_at
from ..equations.evaluate import AnyEvaluator, evaluator_on_tape, is_small, slope
from ..equations.model import Model
from ..errors import SuppleError
from ..robot import Robot, cached_for_robot
from ..structure import has_motion
from .equations_in_time import Path
from .small_motion import Matrices, SmallMotion, State

__all__ = ["PathModel", "SwingingPath", "led_elements"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PathModel(SmallMotion):
    """A Model whose joints follow a motion; y = [eps, passive, eta], all its other coordinates.

    A motion x is that of the joints, and of what swings freely beside them.
    """

    model: Model

    @property
    def robot(self) -> Any:  # type: ignore[override]
        """The robot of the Model."""
        return self.model.robot

    @property
    def linearised(self) -> PathModel:
        """These equations, which are those of a Model."""
        return self

    @property
    def size(self) -> int:
        """Length of y."""
        return self.model.size - self.model.joints

    @property
    def names(self) -> tuple[str, ...]:
        """Links in order."""
        return tuple(link.name for link in self.model.chain.links)

    @cached_property
    def loose(self) -> list[int]:
        """Places in y of the passive coordinates that no loop holds."""
        names = self.model.coordinates[self.model.joints :]
        return [k for k, name in enumerate(names) if name.startswith("passive.")]

    def states(self, motion: State, state: State | None = None) -> State:
        """Return q, q', q'' (B, N) of a motion and of y about it; without it, unbent."""
        x, v, a = np.atleast_2d(*motion)
        k, n = self.model.joints, x.shape[1] - len(self.loose)
        if n != k and (n < k or n != k + architecture_of(self.robot).branch(x[:1, :k]).x.shape[1]):
            given = n if n > k else x.shape[1]
            raise SuppleError(f"the path has {given} coordinates: the robot has {k} motors")
        joints = architecture_of(self.robot).joint_motion(x[:, :k], v[:, :k], a[:, :k])
        out = []
        for order, (led, own) in enumerate(zip(joints, (x, v, a), strict=True)):
            y = np.zeros((len(x), self.size)) if state is None else state[order].copy()
            y[:, self.loose] += own[:, n:]
            out.append(np.hstack([led, y]))
        return out[0], out[1], out[2]

    def dependent_guess(self, x: Array, q: Array) -> Array | None:
        """Return where the followers of loops are at q (B, N), on the branch of a motion x (B, ..).

        (B, W); None of a robot without.
        """
        functions: Any = self.model.functions
        if not functions.needs:
            return None
        beside = self._beside_motors(np.atleast_2d(x))
        return np.asarray(
            functions.followers(
                q, functions.loops.unbent_dependent(beside) if beside.shape[1] else None
            )
        )

    def _beside_motors(self, x: Array) -> Array:
        """What stands beside the motors in a motion, see `AssembledPath`."""
        return x[:, self.model.joints : x.shape[1] - len(self.loose)]

    def matrices(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> Matrices:
        """Return M, C, K, F at the instants of a motion, (B, joints or x, y, z) each."""
        k = self.model.joints
        q, qd, qdd = self.states((np.asarray(x), np.asarray(v), np.asarray(a)))
        check_lengths(self.model.chain, q)
        made: AnyEvaluator = self.model.functions.cached("led", _make_evaluator, self)
        led = [*range(k), *(k + place for place in self.loose)]
        near = self.dependent_guess(np.asarray(x), q)
        beside = [] if near is None else [near]
        found = made(q[:, led], qd[:, led], qdd[:, led], *beside)
        M, C, K, r, tip = found[:5]
        if len(found) > 5:  # place and rotation of the tip per unit y, base axes: [w] = dR R'
            dR, R = found[5:]
            each = dR.reshape(len(dR), 3, 3, -1).transpose(0, 3, 2, 1)  # columns of R in turn
            W = each @ R.swapaxes(1, 2)[:, None]
            spin = np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=1)
            tip = np.concatenate([tip, spin], axis=1)
        if not np.isfinite(r).all():
            raise SuppleError(self.model.functions.not_finite.format(name=self.robot.name))
        F = -r.reshape(len(q), -1)
        drive = (M[:, :k], C[:, :k], K[:, :k], F[:, :k])
        return Matrices(M[:, k:], C[:, k:], K[:, k:], F[:, k:], tip, drive)

    def forcing(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return F alone, (B, N): the forces that hold the unbent robot, turned round."""
        states = self.states((np.asarray(x), np.asarray(v), np.asarray(a)))
        return -self.evaluate("inverse_dynamics", np.asarray(x), *states)[:, self.model.joints :]

    def elastic(self, x: Array) -> Array:
        """Return the (N, N) elastic stiffness at one instant x of a motion."""
        k = self.model.joints
        q = self._unbent_states(x)
        return stiffness_at(self.model, q[0], self.dependent_guess(x, q))[k:, k:]

    def place(self, x: Array) -> Array:
        """Return where the unbent tip is, (B, 3), base axes."""
        return self.evaluate("tip", x, self._unbent_states(x))

    def evaluate(self, name: str, x: Array, *states: Array) -> Array:
        """Return what a function of the Model gives at states, on the branch of a motion x."""
        near, functions = self.dependent_guess(x, states[0]), self.model.functions
        if near is None:
            return functions.evaluator(name)(*states)[0]
        found = functions.evaluator(name, near=True)(*states, near)[0]
        if not np.isfinite(found).all():
            raise SuppleError(functions.not_finite.format(name=self.robot.name))
        return found

    def section(self, link: str, fraction: float, x: Array) -> Array:
        """Return how a section moves per unit y, (1 or B, 6, N), link axes."""
        model, k = self.model, self.model.joints
        q = self._unbent_states(x)
        near = self.dependent_guess(x, q)
        tree, z = model.functions.tree_coordinates(q, near)
        chain = tree or model.chain
        i = chain.index(link)
        part = chain.links[i]
        if part.slide is not None:
            # (B, 6, k) displacement and rotation of a link that slides at its lengths, segment axes
            lengths = z[:, chain.lengths_at[i]]
            field = np.asarray(part.slide.fields(lengths, fraction))
        elif part.shapes is not None:
            field = part.shapes.at(fraction * part.inv.length)
        else:
            field = np.zeros((1, 6, 0))
        turned = (part.R_SL.T @ field.reshape(len(field), 2, 3, -1)).reshape(field.shape)
        if tree is not None:  # elastic coordinates that loops tie to others follow these
            own = [chain.names[place] for place in range(chain.eta[i].start, chain.eta[i].stop)]
            return np.asarray(turned @ self._tree_slopes(own, q, near)[..., k:])
        out = np.zeros((len(field), 6, self.size))
        out[..., chain.eta[i].start - k : chain.eta[i].stop - k] = turned
        return out

    def _unbent_states(self, x: Array) -> Array:
        """(B, N): q unbent at instants x (B, ..) of a motion."""
        return self.states((x, 0 * x, 0 * x))[0]

    def _tree_slopes(self, names: list[str], q: Array, near: Array | None) -> Array:
        """(1 or B, m, model.size): coordinates of the tree, by name, per unit q."""
        functions, kept = self.model.functions, list(self.model.coordinates)
        if all(name in kept for name in names):
            return np.eye(len(kept))[None, [kept.index(name) for name in names]]
        loops: Any = functions
        followers = list(loops.loops.named)
        rows, B = loops.evaluator("led", near=True)(q, near)[0], np.eye(len(kept))
        each = [
            np.broadcast_to(B[kept.index(name)], (len(q), len(kept)))
            if name in kept
            else rows[:, followers.index(name)]
            for name in names
        ]
        return np.stack(each, axis=1)

    def length(self, link: str) -> float:
        """Return the length over which a link bends; of one that slides, the whole beam's."""
        part = self.model.chain.links[self.model.chain.index(link)]
        return float(part.inv.length) if part.inv.count else 0.0


def led_elements(
    robot: Robot, elements: int, order: str, damping: float | None = None, held: str = ""
) -> PathModel | None:
    """Return a robot with elements on its links as a LedModel, where it needs one.

    None of robots whose motion `moving_structure` knows and no link of which slides. `held` names
    who asks for a robot none of whose joints swings freely.
    """
    slides = any(slides for _, slides in architecture_of(robot).motors)
    if has_motion(robot) and not slides:
        return None
    model = cached_for_robot(
        robot,
        ("led elements", elements, order, damping),
        build,
        robot,
        FiniteElements(elements, order),
        stiffening=True,
        damping=damping,
    )
    led = PathModel(model)
    if held and led.loose:
        name = model.coordinates[model.joints + led.loose[0]].removeprefix("passive.")
        raise SuppleError(
            f"{name} swings freely, held by no loop: {held} is for robots whose motors hold every "
            "joint; shape the move for the swing instead, supple.shape(move, frequency_hz=..)"
        )
    return led


class SwingingPath:
    """A path of the motors with what swings freely beside them, the robot unbent.

    M_pp p'' = -r_p(theta, p) at p'' = 0, from rest at p0. It has no end of its own but `duration`:
    what swings goes on after the path has stopped.
    """

    periodic = False

    def __init__(self, led: PathModel, path: Path, total: float, p0: Array) -> None:
        from scipy.integrate import solve_ivp

        self.led, self.path, self.duration = led, path, total
        marks = [t for t in (*path.breaks, path.duration) if 0 < t < total]
        if path.periodic:
            turns = range(1 + int(total / path.duration))
            marks = [t + n * path.duration for n in turns for t in (*marks, path.duration)]
        self.breaks = self.seams = tuple(sorted({t for t in marks if 0 < t < total}))
        self.edges, self.parts = np.array([0.0, *self.breaks, total]), []
        at, m = np.concatenate([p0, 0 * p0]), len(p0)

        def rate(t: float, s: Array) -> Array:
            # a time at an edge counts to the part it ends or begins
            inside = min(max(t, a + 1e-9 * (b - a)), b - 1e-9 * (b - a))
            return np.concatenate(
                [s[m:], self._passive_accelerations(np.array([inside]), s[None])[0]]
            )

        for a, b in pairwise(self.edges.tolist()):
            found = solve_ivp(
                rate, (a, b), at, method="DOP853", rtol=1e-11, atol=1e-12, dense_output=True
            )
            if not found.success:
                raise SuppleError(f"{led.robot.name} swings beyond bounds: give a slower path")
            self.parts.append(found.sol)
            at = found.y[:, -1]

    def _passive_accelerations(self, t: Array, s: Array) -> Array:
        """p'' (B, m) at times (B,) and states s = [p, p'] (B, 2 m)."""
        led, m = self.led, len(self.led.loose)
        x, v, a = self.path(t)
        q, qd, qdd = led.states(
            (np.hstack([x, s[:, :m]]), np.hstack([v, s[:, m:]]), np.hstack([a, 0 * s[:, :m]]))
        )
        check_lengths(led.model.chain, q)
        rows = [led.model.joints + place for place in led.loose]
        many = [np.repeat(each, m + 1, axis=0) for each in (q, qd, qdd)]
        many[2].reshape(len(q), m + 1, -1)[:, 1:, rows] += np.eye(m)
        at = np.repeat(np.hstack([x, s[:, :m]]), m + 1, axis=0)
        force = led.evaluate("inverse_dynamics", at, *many)
        r = force.reshape(len(q), m + 1, -1)[..., rows]
        M = (r[:, 1:] - r[:, :1]).swapaxes(1, 2)
        return np.asarray(np.linalg.solve(M, -r[:, 0, :, None])[..., 0])

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return joints and what swings, with rates and accelerations, at times (B,)."""
        t = np.asarray(t, float)
        at = np.atleast_1d(t)
        which = np.clip(np.searchsorted(self.edges, at, side="right") - 1, 0, len(self.parts) - 1)
        s = np.empty((len(at), 2 * len(self.led.loose)))
        for k in np.unique(which):
            s[which == k] = self.parts[k](at[which == k]).T
        m = s.shape[1] // 2
        each = zip(
            self.path(at), (s[:, :m], s[:, m:], self._passive_accelerations(at, s)), strict=True
        )
        x, v, a = (np.hstack(pair) for pair in each)
        return (x, v, a) if t.ndim else (x[0], v[0], a[0])


def _make_evaluator(led_model: PathModel) -> AnyEvaluator:
    """Make a motion, its joints and what swings, to M, C, K (N, m), r (N,), the tip's (6, m).

    Of loops, which solve equations inside, and of equations too large for one expression: its
    derivatives dp (3, m), dR (9, m) and R.
    """
    import casadi as ca

    model = led_model.model
    k, n = model.joints, model.size
    m = n - k
    size, loose = k + len(led_model.loose), led_model.loose

    def beside(part: Any) -> Any:  # y where nothing bends: what swings at its places
        rows = [part[k + loose.index(j)] if j in loose else 0.0 for j in range(m)]
        return ca.densify(type(part)(ca.vertcat(*rows))) if rows else type(part).zeros(0)

    functions, led = model.functions, [ca.MX.sym(name, size) for name in ("x", "v", "a")]
    unbent = [ca.vertcat(part[:k, :], beside(part)) for part in led]
    near = [ca.MX.sym("w", functions.core("tip").size1_in(1))] if functions.needs else []
    if "slopes" in functions.names:
        K, C, M, p, dR, R, r = functions.core("slopes")(*unbent, *near)
        parts = [*(x[:, k:] for x in (M, C, K)), r, *(x[:, k:] for x in (p, dR)), R]
        made = ca.Function("led", [*led, *near], [ca.densify(x) for x in parts])
        return evaluator_on_tape(made, (0, 1, 2, 4, 5))
    force, tip = functions.core("inverse_dynamics"), functions.core("tip")
    if functions.iterates or not is_small(force):
        kind: Any = ca.SX if is_small(force) else ca.MX
        x = [kind.sym("x", part.numel()) for part in (*led, *near)]
        q, *w = ca.vertcat(x[0][:k, :], beside(x[0])), *x[3:]
        state = [q, *(ca.vertcat(part[:k, :], beside(part)) for part in x[1:3]), *w]
        whole = [kind.sym("q", n), *w]
        axes = ca.Function("axes", whole, [ca.vec(tip(*whole)[1])])
        parts = [
            functions.core("mass_matrix")(q, *w)[:, k:],
            slope(force, 1)(*state)[:, k:],
            slope(force, 0)(*state)[:, k:],
            force(*state),
            slope(tip, 0)(q, *w)[:, k:],
            slope(axes, 0)(q, *w)[:, k:],
            tip(q, *w)[1],
        ]
        dense = [ca.densify(part) for part in parts]
        made = ca.Function("led", x, dense)
        return evaluator_on_tape(made, (0, 1, 2, 4, 5))
    given = [ca.SX.sym(name, size) for name in ("x", "v", "a")]
    y = [ca.SX.sym(name, m) for name in ("y", "yd", "ydd")]
    q, qd, qdd = (ca.vertcat(one[:k, :], two) for one, two in zip(given, y, strict=True))
    r = force(q, qd, qdd)
    p, R = tip(q)
    outputs = [ca.jacobian(r, y[2]), ca.jacobian(r, y[1]), ca.jacobian(r, y[0]), r]
    turns = [ca.SX.zeros(3, 0)]  # rotation of the axes R per unit y, base axes: [w] = dR R'
    for j in range(m):
        W = ca.reshape(ca.jacobian(ca.vec(R), y[0][j]), 3, 3) @ R.T
        turns.append(ca.vertcat(W[2, 1], W[0, 2], W[1, 0]))
    outputs.append(ca.vertcat(ca.jacobian(p, y[0]), ca.horzcat(*turns)))
    still = ca.substitute(outputs, y, [beside(part) for part in given])
    made = ca.Function("led", given, [ca.densify(x) for x in still])
    return evaluator_on_tape(made, (0, 1, 2, 4))
