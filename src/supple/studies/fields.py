"""Where every section of every link is during a motion: what a drawing needs of a Response."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..dynamics.chain import Chain, ChainLink
from ..dynamics.coupled_delta import DeltaFunctions
from ..kernels.spatial import axis_rotation
from .motion import Response

__all__ = ["Fields", "fields"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Fields:
    """Links in time: T instants, n links, P stations a link.

    Attributes:
        names: links.  t: (T,).  p: (T, n, 3), roots on the bent arm, base axes.  R: (T, n, 3, 3),
        link axes in base axes.  L: (T, n).  motion: (T, n, P, 6), elastic displacement and
        rotation of the sections, link axes.
    """

    names: tuple[str, ...]
    t: Array
    p: Array
    R: Array
    L: Array
    motion: Array


def fields(run: Response, samples: int = 400, points: int = 13) -> Fields:
    """Return the links of a Response at about `samples` instants, evenly chosen.

    A link's end turns the next one by R_z(psi_z) R_y(psi_y) R_x(phi), whatever the model's own
    reading of the deflection is. A Delta's platform is the last link, of length zero.
    """
    keep = np.unique(np.linspace(0, len(run.t) - 1, min(samples, len(run.t))).astype(int))
    chain, q, functions = run.model.chain, run.q[keep], run.model.functions
    names = tuple(link.name for link in chain.links)
    L = [link.inv.length for link in chain.links]
    if isinstance(functions, DeltaFunctions):
        p, R, motion = _legs(functions, q, points)
        p = np.concatenate([p, run.tip[keep, None]], axis=1)
        R = np.concatenate([R, run.tip_rotation[keep, None]], axis=1)
        motion = np.pad(motion, ((0, 0), (0, 1), (0, 0), (0, 0)))
        names, L = (*names, "platform"), [*L, 0.0]
    else:
        p, R, motion = _along(chain, q, points)
    return Fields(names, run.t[keep], p, R, np.broadcast_to(L, p.shape[:2]), motion)


def _legs(functions: DeltaFunctions, q: Array, points: int) -> tuple[Array, Array, Array]:
    """Roots, axes and motion of arms and rods, base axes, in the order of the model's links."""
    sides, out = len(functions.legs.chains), []
    for k, (axes, chain, x) in enumerate(functions.open_chains(q)):
        p, R, motion = _along(chain, x, points)
        wanted = [0, -1] if k % sides == 0 else [-1]  # an arm once, with its first rod
        out.append((p[:, wanted] @ axes.T, axes @ R[:, wanted], motion[:, wanted]))
    p, R, motion = (np.concatenate(parts, axis=1) for parts in zip(*out, strict=True))
    return p, R, motion


def _along(chain: Chain, q: Array, points: int) -> tuple[Array, Array, Array]:
    """Roots (T, n, 3), link axes (T, n, 3, 3) and motion (T, n, P, 6) along an open chain."""
    T, n = len(q), len(chain.links)
    p, R = np.empty((T, n, 3)), np.empty((T, n, 3, 3))
    motion = np.zeros((T, n, points, 6))
    end, turn = np.zeros((T, 3)), np.broadcast_to(np.eye(3), (T, 3, 3))
    for i, link in enumerate(chain.links):
        root = end + turn @ link.p_PM
        axes = turn @ link.R_PM @ _joint(chain, i, q)
        bent = _bent(link, q[:, chain.eta[i]], points)
        reach = bent[:, -1, :3] + np.array([link.inv.length, 0.0, 0.0])
        end = root + np.einsum("tij,tj->ti", axes, reach)
        turn = axes @ _turned(bent[:, -1, 3:])
        p[:, i], R[:, i] = root, axes @ link.R_SL
        motion[:, i] = np.concatenate([bent[..., :3] @ link.R_SL, bent[..., 3:] @ link.R_SL], -1)
    return p, R, motion


def _joint(chain: Chain, i: int, q: Array) -> Array:
    """(T, 3, 3) rotation of joint i: its motor and its spring."""
    axis = chain.links[i].axis
    if axis is None:
        return np.broadcast_to(np.eye(3), (len(q), 3, 3))
    angle = q[:, chain.theta[i]] + (q[:, chain.eps[i]] if i in chain.eps else 0.0)
    return axis_rotation(axis, angle)


def _bent(link: ChainLink, eta: Array, points: int) -> Array:
    """(T, P, 6) displacement and rotation along a link, segment axes."""
    if link.shapes is None:
        return np.zeros((len(eta), points, 6))
    x = np.linspace(0, link.inv.length, points)
    bent: Array = np.einsum("pck,tk->tpc", link.shapes.at(x), eta)
    return bent


def _turned(phi: Array) -> Array:
    """(T, 3, 3) rotations R_z R_y R_x of the end sections."""
    x, y, z = (axis_rotation(axis, phi[:, k]) for k, axis in enumerate(np.eye(3)))
    return z @ y @ x
