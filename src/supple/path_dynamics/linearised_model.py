"""PathModel: any Model linearised about a prescribed motion of its joints.

With theta(t) given and y = [eps, eta], the Model's own equations r(q, q', q'') = 0 at y = 0 give
    M = dr/dy'',   C = dr/dy',   K = dr/dy,   F = -r,
of which the joints' rows are the efforts. So links that slide, loops, any basis, stiffening and
the Model's own damping come in as the Model has them, convective terms and all.

Passive coordinates p that no loop holds swing as far as they like: p(t) is first found as that of
the unbent robot, r_p(theta, p) = 0 (`SwingingPath`), and y, in which p is what bending adds, is
small about that.
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

__all__ = ["PathModel", "SwingingPath", "path_model_with_elements"]

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
        k = self.model.joints
        architecture = architecture_of(self.robot)

        # The motors come first, then perhaps what stands beside them, then what swings freely
        given = x.shape[1] - len(self.loose)
        if given != k and (given < k or given != k + architecture.branch(x[:1, :k]).x.shape[1]):
            count = given if given > k else x.shape[1]
            raise SuppleError(f"the path has {count} coordinates: the robot has {k} motors")
        joints = architecture.joint_motion(x[:, :k], v[:, :k], a[:, :k])
        out = []
        for order, (joint_part, part) in enumerate(zip(joints, (x, v, a), strict=True)):
            y = np.zeros((len(x), self.size)) if state is None else state[order].copy()
            y[:, self.loose] += part[:, given:]
            out.append(np.hstack([joint_part, y]))
        return out[0], out[1], out[2]

    def dependent_guess(self, x: Array, q: Array) -> Array | None:
        """Return where the followers of loops are at q (B, N), on the branch of a motion x (B, ..).

        (B, W); None of a robot without.
        """
        functions: Any = self.model.functions
        if not functions.needs:
            return None
        guess = self._beside_motors(np.atleast_2d(x))
        unbent = functions.loops.unbent_dependent(guess) if guess.shape[1] else None
        return np.asarray(functions.followers(q, unbent))

    def _beside_motors(self, x: Array) -> Array:
        """What stands beside the motors in a motion, see `AssembledPath`."""
        return x[:, self.model.joints : x.shape[1] - len(self.loose)]

    def matrices(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> Matrices:
        """Return M, C, K, F at the instants of a motion, (B, joints or x, y, z) each."""
        k = self.model.joints
        q, qd, qdd = self.states((np.asarray(x), np.asarray(v), np.asarray(a)))
        check_lengths(self.model.chain, q)
        evaluate: AnyEvaluator = self.model.functions.cached("along path", _make_evaluator, self)
        prescribed = [*range(k), *(k + place for place in self.loose)]
        guess = self.dependent_guess(np.asarray(x), q)
        guesses = [] if guess is None else [guess]
        found = evaluate(q[:, prescribed], qd[:, prescribed], qdd[:, prescribed], *guesses)
        M, C, K, r, tip = found[:5]
        if len(found) > 5:  # place and rotation of the tip per unit y, base axes: [w] = dR R'
            dR, R = found[5:]
            rotations = dR.reshape(len(dR), 3, 3, -1).transpose(0, 3, 2, 1)  # columns of R in turn
            W = rotations @ R.swapaxes(1, 2)[:, None]
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
        functions = self.model.functions
        guess = self.dependent_guess(x, states[0])
        if guess is None:
            return functions.evaluator(name)(*states)[0]
        found = functions.evaluator(name, near=True)(*states, guess)[0]
        if not np.isfinite(found).all():
            raise SuppleError(functions.not_finite.format(name=self.robot.name))
        return found

    def section(self, link: str, fraction: float, x: Array) -> Array:
        """Return how a section moves per unit y, (1 or B, 6, N), link axes."""
        model = self.model
        k = model.joints
        q = self._unbent_states(x)
        guess = self.dependent_guess(x, q)
        tree, z = model.functions.tree_coordinates(q, guess)
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
            return np.asarray(turned @ self._tree_slopes(own, q, guess)[..., k:])
        out = np.zeros((len(field), 6, self.size))
        out[..., chain.eta[i].start - k : chain.eta[i].stop - k] = turned
        return out

    def _unbent_states(self, x: Array) -> Array:
        """(B, N): q unbent at instants x (B, ..) of a motion."""
        return self.states((x, 0 * x, 0 * x))[0]

    def _tree_slopes(self, names: list[str], q: Array, near: Array | None) -> Array:
        """(1 or B, m, model.size): coordinates of the tree, by name, per unit q."""
        independent = list(self.model.coordinates)
        unit = np.eye(len(independent))
        if all(name in independent for name in names):
            return unit[None, [independent.index(name) for name in names]]
        functions: Any = self.model.functions
        dependent = list(functions.loops.named)
        dependent_slopes = functions.evaluator("led", near=True)(q, near)[0]
        rows = []
        for name in names:
            if name in independent:
                row = unit[independent.index(name)]
                rows.append(np.broadcast_to(row, (len(q), len(independent))))
            else:
                rows.append(dependent_slopes[:, dependent.index(name)])
        return np.stack(rows, axis=1)

    def length(self, link: str) -> float:
        """Return the length over which a link bends; of one that slides, the whole beam's."""
        part = self.model.chain.links[self.model.chain.index(link)]
        return float(part.inv.length) if part.inv.count else 0.0


def path_model_with_elements(
    robot: Robot, elements: int, order: str, damping: float | None = None, held: str = ""
) -> PathModel | None:
    """Return a robot with elements on its links as a PathModel, where it needs one.

    None of robots whose motion `moving_structure` knows and no link of which slides. `held` names
    who asks for a robot none of whose joints swings freely.
    """
    slides = any(slides for _, slides in architecture_of(robot).motors)
    if has_motion(robot) and not slides:
        return None
    model = cached_for_robot(
        robot,
        ("elements along path", elements, order, damping),
        build,
        robot,
        FiniteElements(elements, order),
        stiffening=True,
        damping=damping,
    )
    found = PathModel(model)
    if held and found.loose:
        name = model.coordinates[model.joints + found.loose[0]].removeprefix("passive.")
        raise SuppleError(
            f"{name} swings freely, held by no loop: {held} is for robots whose motors hold every "
            "joint; shape the move for the swing instead, supple.shape(move, frequency_hz=..)"
        )
    return found


class SwingingPath:
    """A path of the motors with what swings freely beside them, the robot unbent.

    M_pp p'' = -r_p(theta, p) at p'' = 0, from rest at p0. It has no end of its own but `duration`:
    what swings goes on after the path has stopped.
    """

    periodic = False

    def __init__(self, model: PathModel, path: Path, total: float, p0: Array) -> None:
        from scipy.integrate import solve_ivp

        self.model = model
        self.path = path
        self.duration = total
        # Times at which the path bends or ends, in every turn of a periodic one
        marks = [t for t in (*path.breaks, path.duration) if 0 < t < total]
        if path.periodic:
            turns = range(1 + int(total / path.duration))
            marks = [t + n * path.duration for n in turns for t in (*marks, path.duration)]
        self.breaks = tuple(sorted({t for t in marks if 0 < t < total}))
        self.seams = self.breaks
        self.edges = np.array([0.0, *self.breaks, total])
        self.parts = []

        m = len(p0)
        state = np.concatenate([p0, 0 * p0])

        def rate(t: float, s: Array) -> Array:
            # a time at an edge counts to the part it ends or begins
            inside = min(max(t, a + 1e-9 * (b - a)), b - 1e-9 * (b - a))
            accelerations = self._passive_accelerations(np.array([inside]), s[None])[0]
            return np.concatenate([s[m:], accelerations])

        for a, b in pairwise(self.edges.tolist()):
            found = solve_ivp(
                rate, (a, b), state, method="DOP853", rtol=1e-11, atol=1e-12, dense_output=True
            )
            if not found.success:
                raise SuppleError(f"{model.robot.name} swings beyond bounds: give a slower path")
            self.parts.append(found.sol)
            state = found.y[:, -1]

    def _passive_accelerations(self, t: Array, s: Array) -> Array:
        """p'' (B, m) at times (B,) and states s = [p, p'] (B, 2 m)."""
        model = self.model
        m = len(model.loose)
        x, v, a = self.path(t)
        positions = np.hstack([x, s[:, :m]])
        speeds = np.hstack([v, s[:, m:]])
        accelerations = np.hstack([a, 0 * s[:, :m]])
        q, qd, qdd = model.states((positions, speeds, accelerations))
        check_lengths(model.model.chain, q)

        # r_p at p'' = 0, and with a unit acceleration of each p: the columns of M_pp beside it
        rows = [model.model.joints + place for place in model.loose]
        many = [np.repeat(part, m + 1, axis=0) for part in (q, qd, qdd)]
        many[2].reshape(len(q), m + 1, -1)[:, 1:, rows] += np.eye(m)
        at = np.repeat(positions, m + 1, axis=0)
        force = model.evaluate("inverse_dynamics", at, *many)
        r = force.reshape(len(q), m + 1, -1)[..., rows]
        M = (r[:, 1:] - r[:, :1]).swapaxes(1, 2)
        return np.asarray(np.linalg.solve(M, -r[:, 0, :, None])[..., 0])

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return joints and what swings, with rates and accelerations, at times (B,)."""
        t = np.asarray(t, float)
        times = np.atleast_1d(t)
        part = np.searchsorted(self.edges, times, side="right") - 1
        part = np.clip(part, 0, len(self.parts) - 1)
        m = len(self.model.loose)
        s = np.empty((len(times), 2 * m))
        for k in np.unique(part):
            s[part == k] = self.parts[k](times[part == k]).T

        x, v, a = self.path(times)
        x = np.hstack([x, s[:, :m]])
        v = np.hstack([v, s[:, m:]])
        a = np.hstack([a, self._passive_accelerations(times, s)])
        return (x, v, a) if t.ndim else (x[0], v[0], a[0])


def _make_evaluator(path_model: PathModel) -> AnyEvaluator:
    """Make a motion, its joints and what swings, to M, C, K (N, m), r (N,), the tip's (6, m).

    Of loops, which solve equations inside, and of equations too large for one expression: its
    derivatives dp (3, m), dR (9, m) and R.
    """
    functions = path_model.model.functions
    if "slopes" in functions.names:
        return evaluator_on_tape(_by_slopes_of_loops(path_model), (0, 1, 2, 4, 5))
    if functions.iterates or not is_small(functions.core("inverse_dynamics")):
        return evaluator_on_tape(_by_single_slopes(path_model), (0, 1, 2, 4, 5))
    return evaluator_on_tape(_by_one_expression(path_model), (0, 1, 2, 4))


def _unbent_coordinates(path_model: PathModel, part: Any) -> Any:
    """q, q' or q'' where nothing bends, from that of the joints and of what swings."""
    import casadi as ca

    k = path_model.model.joints
    return ca.vertcat(part[:k, :], _unbent_part(path_model, part))


def _unbent_part(path_model: PathModel, part: Any) -> Any:
    """y, y' or y'' where nothing bends: what swings, at its places."""
    import casadi as ca

    k = path_model.model.joints
    loose = path_model.loose
    rows = [part[k + loose.index(j)] if j in loose else 0.0 for j in range(path_model.size)]
    return ca.densify(type(part)(ca.vertcat(*rows))) if rows else type(part).zeros(0)


def _prescribed_symbols(path_model: PathModel, kind: Any) -> tuple[list[Any], list[Any]]:
    """Symbols of a motion x, v, a, and of the guess of dependent coordinates, if there are any."""
    functions = path_model.model.functions
    size = path_model.model.joints + len(path_model.loose)
    motion = [kind.sym(name, size) for name in ("x", "v", "a")]
    guess = [kind.sym("w", functions.core("tip").size1_in(1))] if functions.needs else []
    return motion, guess


def _by_slopes_of_loops(path_model: PathModel) -> Any:
    """From the slopes that large robots with loops put together from their parts."""
    import casadi as ca

    k = path_model.model.joints
    motion, guess = _prescribed_symbols(path_model, ca.MX)
    unbent = [_unbent_coordinates(path_model, part) for part in motion]
    K, C, M, p, dR, R, r = path_model.model.functions.core("slopes")(*unbent, *guess)
    parts = [M[:, k:], C[:, k:], K[:, k:], r, p[:, k:], dR[:, k:], R]
    return ca.Function("along_path", [*motion, *guess], [ca.densify(part) for part in parts])


def _by_single_slopes(path_model: PathModel) -> Any:
    """From slopes of the forces and of the tip, each a function of its own."""
    import casadi as ca

    functions = path_model.model.functions
    k = path_model.model.joints
    force = functions.core("inverse_dynamics")
    tip = functions.core("tip")
    kind: Any = ca.SX if is_small(force) else ca.MX
    motion, guess = _prescribed_symbols(path_model, kind)
    unbent = [_unbent_coordinates(path_model, part) for part in motion]
    state = [*unbent, *guess]
    place = [unbent[0], *guess]
    symbols = [kind.sym("q", path_model.model.size), *guess]
    axes = ca.Function("axes", symbols, [ca.vec(tip(*symbols)[1])])
    parts = [
        functions.core("mass_matrix")(*place)[:, k:],
        slope(force, 1)(*state)[:, k:],
        slope(force, 0)(*state)[:, k:],
        force(*state),
        slope(tip, 0)(*place)[:, k:],
        slope(axes, 0)(*place)[:, k:],
        tip(*place)[1],
    ]
    return ca.Function("along_path", [*motion, *guess], [ca.densify(part) for part in parts])


def _by_one_expression(path_model: PathModel) -> Any:
    """From one expression of all coordinates, differentiated by y where nothing bends."""
    import casadi as ca

    functions = path_model.model.functions
    k = path_model.model.joints
    m = path_model.size
    motion, _ = _prescribed_symbols(path_model, ca.SX)
    elastic = [ca.SX.sym(name, m) for name in ("y", "yd", "ydd")]
    y, yd, ydd = elastic
    q, qd, qdd = (ca.vertcat(part[:k, :], own) for part, own in zip(motion, elastic, strict=True))
    r = functions.core("inverse_dynamics")(q, qd, qdd)
    p, R = functions.core("tip")(q)
    turns = [ca.SX.zeros(3, 0)]  # rotation of the axes R per unit y, base axes: [w] = dR R'
    for j in range(m):
        W = ca.reshape(ca.jacobian(ca.vec(R), y[j]), 3, 3) @ R.T
        turns.append(ca.vertcat(W[2, 1], W[0, 2], W[1, 0]))
    tip = ca.vertcat(ca.jacobian(p, y), ca.horzcat(*turns))
    outputs = [ca.jacobian(r, ydd), ca.jacobian(r, yd), ca.jacobian(r, y), r, tip]
    at_rest = [_unbent_part(path_model, part) for part in motion]
    unbent = ca.substitute(outputs, elastic, at_rest)
    return ca.Function("along_path", motion, [ca.densify(part) for part in unbent])
