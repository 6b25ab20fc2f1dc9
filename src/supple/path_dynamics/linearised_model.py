"""LedModel: any Model linearised about a prescribed motion of its joints.

With theta(t) given and y = [eps, eta], the Model's own equations r(q, q', q'') = 0 at y = 0 give
    M = dr/dy'',   C = dr/dy',   K = dr/dy,   F = -r,
of which the joints' rows are the efforts. So links that slide, loops, any basis, stiffening and
the Model's own damping come in as the Model has them, convective terms and all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.kinds import architecture_of
from ..beams.basis import FiniteElements
from ..equations.build import build
from ..equations.chains.chain import check_lengths
from ..equations.equilibrium import stiffness_at
from ..equations.evaluate import Evaluator, is_small, slope
from ..equations.model import Model
from ..errors import SuppleError
from ..robot import Robot, remembered
from ..structure import has_motion
from .small_motion import Matrices, SmallMotion, State

__all__ = ["LedModel", "led_elements"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LedModel(SmallMotion):
    """A Model whose joints follow a motion; y = [eps, eta] are all its other coordinates."""

    model: Model

    @property
    def robot(self) -> Any:  # type: ignore[override]
        """The robot of the Model."""
        return self.model.robot

    @property
    def size(self) -> int:
        """Length of y."""
        return self.model.size - self.model.joints

    @property
    def names(self) -> tuple[str, ...]:
        """Links in order."""
        return tuple(link.name for link in self.model.chain.links)

    def matrices(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> Matrices:
        """Return M, C, K, F at the instants of a motion, (B, joints or x, y, z) each."""
        x, v, a = np.atleast_2d(x, v, a)
        k = self.model.joints
        if x.shape[1] != k:
            raise SuppleError(f"the path has {x.shape[1]} coordinates: the robot has {k} motors")
        x, v, a = architecture_of(self.robot).joint_motion(x, v, a)
        check_lengths(self.model.chain, np.pad(x, ((0, 0), (0, self.size))))
        made: Evaluator = self.model.functions.derived("led", lambda: _made(self.model))
        found = made(x, v, a)
        M, C, K, r, tip = found[:5]
        if len(found) > 5:  # place and rotation of the tip per unit y, base axes: [w] = dR R'
            dR, R = found[5:]
            each = dR.reshape(len(dR), 3, 3, -1).transpose(0, 3, 2, 1)  # columns of R in turn
            W = each @ R.swapaxes(1, 2)[:, None]
            spin = np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=1)
            tip = np.concatenate([tip, spin], axis=1)
        if not np.isfinite(r).all():
            raise SuppleError(self.model.functions.not_finite.format(name=self.robot.name))
        F = -r.reshape(len(x), -1)
        drive = (M[:, :k], C[:, :k], K[:, :k], F[:, :k])
        return Matrices(M[:, k:], C[:, k:], K[:, k:], F[:, k:], tip, drive)

    def elastic(self, x: Array) -> Array:
        """Return the (N, N) elastic stiffness at one instant x of a motion."""
        q = np.concatenate([self._joints(x)[0], np.zeros(self.size)])
        k = self.model.joints
        return stiffness_at(self.model, q)[k:, k:]

    def torques(self, motion: State, found: Matrices, state: State) -> tuple[Array, Array]:
        """Return the joint efforts, rotors, damping and friction included, and the rigid ones."""
        return found.torque(*state), -found.drive[3]

    def section(self, link: str, fraction: float, x: Array) -> Array:
        """Return how a section moves per unit y, (1 or B, 6, N), link axes."""
        model, k = self.model, self.model.joints
        q = np.pad(self._joints(x), ((0, 0), (0, self.size)))
        tree, z = model.functions.spread(q)
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
            return np.asarray(turned @ self._tied(own, q)[..., k:])
        out = np.zeros((len(field), 6, self.size))
        out[..., chain.eta[i].start - k : chain.eta[i].stop - k] = turned
        return out

    def _joints(self, x: Array) -> Array:
        """(B, joints) where the joints are at instants x (B, ..) of a motion."""
        x = np.atleast_2d(x)
        return architecture_of(self.robot).joint_motion(x, 0 * x, 0 * x)[0]

    def _tied(self, names: list[str], q: Array) -> Array:
        """(1 or B, m, model.size): coordinates of the tree, by name, per unit q."""
        functions, kept = self.model.functions, list(self.model.coordinates)
        if all(name in kept for name in names):
            return np.eye(len(kept))[None, [kept.index(name) for name in names]]
        made: Evaluator = functions.derived(
            "tied", lambda: Evaluator(slope(functions.expression("followers"), 0), True)
        )
        loops: Any = functions
        followers = list(loops.loops.named)
        rows, B = made(q)[0], np.eye(len(kept))
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
    robot: Robot, elements: int, order: str, damping: float | None = None
) -> LedModel | None:
    """Return a robot with elements on its links as a LedModel, where it needs one.

    None of robots whose motion `moving_structure` knows and no link of which slides.
    """
    slides = any(slides for _, slides in architecture_of(robot).motors())
    if has_motion(robot) and not slides:
        return None
    model = remembered(
        robot,
        ("led elements", elements, order, damping),
        lambda: build(robot, FiniteElements(elements, order), stiffening=True, damping=damping),
    )
    loose = [name for name in model.coordinates if name.startswith("passive.")]
    if loose:
        raise SuppleError(
            f"{loose[0].removeprefix('passive.')} swings freely, held by no loop: its motion is "
            "not a small one about a path; simulate the robot instead"
        )
    return LedModel(model)


def _made(model: Model) -> Evaluator:
    """Make (theta, theta', theta'') to M, C, K (N, m), r (N,) and the tip's motion (6, m).

    Of loops, which solve equations inside, and of equations too large for one expression: its
    derivatives dp (3, m), dR (9, m) and R.
    """
    import casadi as ca

    k, n = model.joints, model.size
    m = n - k
    force = model.functions.expression("inverse_dynamics")
    tip = model.functions.expression("tip")
    if not is_small(force):
        led = [ca.MX.sym(name, k) for name in ("x", "v", "a")]
        state = [ca.vertcat(part, ca.MX.zeros(m)) for part in led]
        whole = ca.MX.sym("q", n)
        axes = ca.Function("axes", [whole], [ca.vec(tip(whole)[1])])
        parts = [
            model.functions.expression("mass_matrix")(state[0])[:, k:],
            slope(force, 1)(*state)[:, k:],
            slope(force, 0)(*state)[:, k:],
            force(*state),
            slope(tip, 0)(state[0])[:, k:],
            slope(axes, 0)(state[0])[:, k:],
            tip(state[0])[1],
        ]
        return Evaluator(ca.Function("led", led, [ca.densify(x) for x in parts]), (0, 1, 2, 4, 5))
    given = [ca.SX.sym(name, k) for name in ("x", "v", "a")]
    y = [ca.SX.sym(name, m) for name in ("y", "yd", "ydd")]
    q, qd, qdd = (ca.vertcat(one, two) for one, two in zip(given, y, strict=True))
    r = force(q, qd, qdd)
    p, R = tip(q)
    outputs = [ca.jacobian(r, y[2]), ca.jacobian(r, y[1]), ca.jacobian(r, y[0]), r]
    turns = [ca.SX.zeros(3, 0)]  # rotation of the axes R per unit y, base axes: [w] = dR R'
    for j in range(m):
        W = ca.reshape(ca.jacobian(ca.vec(R), y[0][j]), 3, 3) @ R.T
        turns.append(ca.vertcat(W[2, 1], W[0, 2], W[1, 0]))
    outputs.append(ca.vertcat(ca.jacobian(p, y[0]), ca.horzcat(*turns)))
    rest = [ca.SX.zeros(m) for _ in y]
    still = ca.substitute(outputs, y, rest)
    return Evaluator(
        ca.Function("led", given, ca.cse([ca.densify(x) for x in still])), (0, 1, 2, 4)
    )
