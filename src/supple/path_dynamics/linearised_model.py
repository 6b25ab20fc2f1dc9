"""LedModel: any Model linearised about a prescribed motion of its joints.

With theta(t) given and y = [eps, eta], the Model's own equations r(q, q', q'') = 0 at y = 0 give
    M = dr/dy'',   C = dr/dy',   K = dr/dy,   F = -r,
of which the joints' rows are the efforts. So links that slide, any basis, stiffening and the
Model's own damping come in as the Model has them, convective terms and all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..equations.equilibrium import stiffness_at
from ..equations.evaluate import Evaluator
from ..equations.model import Model
from ..errors import SuppleError
from .small_motion import Matrices, SmallMotion, State

__all__ = ["LedModel"]

Array = NDArray[np.float64]
STEP = 1e-4  # of the length, over which slopes of links that slide are taken


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
        """Return M, C, K, F at the instants of a motion, (B, joints) each."""
        x, v, a = np.atleast_2d(x, v, a)
        k = self.model.joints
        if x.shape[1] != k:
            raise SuppleError(f"the path has {x.shape[1]} coordinates: the arm has {k} joints")
        self.model.chain.check_lengths(np.pad(x, ((0, 0), (0, self.size))))
        made: Evaluator = self.model.functions.derived("led", lambda: _made(self.model))
        M, C, K, r, tip = made(x, v, a)
        F = -r.reshape(len(x), -1)
        drive = (M[:, :k], C[:, :k], K[:, :k], F[:, :k])
        return Matrices(M[:, k:], C[:, k:], K[:, k:], F[:, k:], tip, drive)

    def elastic(self, x: Array) -> Array:
        """Return the (N, N) elastic stiffness at joint coordinates x (joints,)."""
        q = np.concatenate([x, np.zeros(self.size)])
        k = self.model.joints
        return stiffness_at(self.model, q)[k:, k:]

    def torques(self, motion: State, found: Matrices, state: State) -> tuple[Array, Array]:
        """Return the joint efforts, rotors, damping and friction included, and the rigid ones."""
        return found.torque(*state), -found.drive[3]

    def section(self, link: str, fraction: float, x: Array) -> Array:
        """Return how a section moves per unit y, (1 or B, 6, N), link axes.

        Slopes of a link that slides by differences along it, good to 1e-7 of the largest.
        """
        chain = self.model.chain
        i = chain.index(link)
        part = chain.links[i]
        own = slice(chain.eta[i].start - self.model.joints, chain.eta[i].stop - self.model.joints)
        if part.slide is not None:
            # (B, 6, k) displacement and rotation of a link that slides at its lengths, segment axes
            lengths = x[:, chain.theta[i]]
            middle = min(max(fraction, STEP), 1 - STEP)
            places = np.array([middle - STEP, middle, middle + STEP, fraction])
            each = np.asarray(part.slide.fields(lengths[:, None], places))
            low, mid, high, here = (each[:, k] for k in range(4))
            rise = (high - low) / 2 + (fraction - middle) / STEP * (high - 2 * mid + low)
            slope = rise / (STEP * lengths[:, None, None])
            turn = np.stack([-slope[:, 2], slope[:, 1]], axis=1)
            field = np.concatenate([here, turn], axis=1)
        elif part.shapes is not None:
            field = part.shapes.at(fraction * part.inv.length)
        else:
            field = np.zeros((1, 6, 0))
        out = np.zeros((len(field), 6, self.size))
        turned = part.R_SL.T @ field.reshape(len(field), 2, 3, -1)
        out[..., own] = turned.reshape(field.shape)
        return out

    def length(self, link: str) -> float:
        """Return the length over which a link bends; of one that slides, the whole beam's."""
        part = self.model.chain.links[self.model.chain.index(link)]
        return float(part.inv.length) if part.inv.count else 0.0


def _made(model: Model) -> Evaluator:
    """Make (theta, theta', theta'') to M, C, K (N, m), r (N,) and the tip's motion (6, m)."""
    import casadi as ca

    k, m = model.joints, model.size - model.joints
    given = [ca.SX.sym(name, k) for name in ("x", "v", "a")]
    y = [ca.SX.sym(name, m) for name in ("y", "yd", "ydd")]
    q, qd, qdd = (ca.vertcat(one, two) for one, two in zip(given, y, strict=True))
    r = model.functions.expression("inverse_dynamics")(q, qd, qdd)
    p, R = model.functions.expression("tip")(q)
    outputs = [ca.jacobian(r, y[2]), ca.jacobian(r, y[1]), ca.jacobian(r, y[0]), r]
    outputs.append(ca.vertcat(ca.jacobian(p, y[0]), _turning(R, y[0])))
    rest = [ca.SX.zeros(m) for _ in y]
    still = ca.substitute(outputs, y, rest)
    return Evaluator(
        ca.Function("led", given, ca.cse([ca.densify(x) for x in still])), (0, 1, 2, 4)
    )


def _turning(R: Any, y: Any) -> Any:
    """(3, m) rotation of the axes R (3, 3) per unit y, base axes: [w] = dR R'."""
    import casadi as ca

    columns = [ca.SX.zeros(3, 0)]
    for j in range(y.shape[0]):
        W = ca.reshape(ca.jacobian(ca.vec(R), y[j]), 3, 3) @ R.T
        columns.append(ca.vertcat(W[2, 1], W[0, 2], W[1, 0]))
    return ca.horzcat(*columns)
