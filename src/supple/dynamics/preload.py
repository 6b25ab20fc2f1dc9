"""Forces of a rigid motion inside a Structure, and the stiffness they bring.

Newton-Euler from the ends to the roots; the forces in the closures are those that leave the loose
motions f without load: Q_f + A_f' lambda = 0. With what every end carries, `second_order` gives the
stiffness of the links; `joint_stiffness` adds that of joints and closures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..assembly import transport
from ..kernels.jets import Jet, transposed
from ..structure import MovingClosure, MovingStructure
from .moving_beams import CarriedLink, Rates
from .second_order import turning_form

__all__ = ["Carried", "Motions", "Turn", "carried", "joint_stiffness"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Motions:
    """How the links move with y at B instants: u_root and u_end of each segment, (B, 6, N) Jets.

    Attributes:
        loose: motion of each root per unit of the loose coordinates f, (B, 6, Nf), own axes.
        closing: A_f (B, c, Nf) of A_f f + A_y y = 0, or None without closures.
        turns: the joint motions of every root in their order.
    """

    root: tuple[Jet, ...]
    end: tuple[Jet, ...]
    loose: tuple[Jet, ...]
    closing: Jet | None
    turns: tuple[tuple[Turn, ...], ...]


@dataclass(frozen=True)
class Turn:
    """One motion of a joint: its axis (3,) or (B, 3), own axes, and how much, (B, N), per unit y.

    The axis of a displacement is zero.
    """

    axis: Array
    much: Array


@dataclass(frozen=True)
class Carried:
    """What one segment carries in the rigid motion, own axes, (B, ..).

    Attributes:
        root: (B, 6), force and moment at its root.  end: (B, 6), beyond its end.
        form: (B, 3, 3), X of `turning_form` of all that hangs on the end.
    """

    root: Array
    end: Array
    form: Array


def carried(
    links: Sequence[CarriedLink], moving: MovingStructure, motions: Motions, rates: Sequence[Rates]
) -> tuple[list[Carried], list[Array]]:
    """Return what each segment carries, and the force of each closure's rows, (B, r)."""
    own = [-link.load(*rate)[:, :6] for link, rate in zip(links, rates, strict=True)]
    tips = [link.tip_load(*rate) for link, rate in zip(links, rates, strict=True)]
    ends = [wrench.copy() for wrench, _ in tips]
    forms = [form.copy() for _, form in tips]
    forces: list[Array] = []
    if motions.closing is not None:
        pairs = zip(motions.loose, own, strict=True)
        Q = np.sum([np.einsum("bif,bi->bf", f.value, -w) for f, w in pairs], axis=0)
        force = np.linalg.solve(transposed(motions.closing.value), -Q[..., None])[..., 0]
        rows = np.cumsum([c.rows_a.shape[1] for c in moving.closures])[:-1]
        forces = np.split(force, rows, axis=1)
        for closure, part in zip(moving.closures, forces, strict=True):
            _take_off(closure, part, ends, forms)
    out: list[Carried | None] = [None] * len(links)
    for i in reversed(range(len(links))):
        X = transport(float(moving.structure.L[0, i]))
        root = own[i] + (ends[i] - tips[i][0]) @ X
        out[i] = Carried(root, ends[i], forms[i])
        if (j := moving.structure.segments[i].parent) >= 0:
            T = moving.structure.T[:, i]
            ends[j] += np.einsum("bij,bi->bj", T, root)
            force = np.einsum("bij,bi->bj", T[:, :3, :3], root[:, :3])
            forms[j] += turning_form(force, _offset(T))
    return [part for part in out if part is not None], forces


def _offset(T: Array) -> Array:
    """(B, 3) from a parent's end to a root, parent axes, read off T = [R, -R [offset]]."""
    S = -transposed(T[:, :3, :3]) @ T[:, :3, 3:]
    return np.stack([S[:, 2, 1], S[:, 0, 2], S[:, 1, 0]], axis=1)


def _take_off(closure: MovingClosure, force: Array, ends: list[Array], forms: list[Array]) -> None:
    """Take what a closure gives to its ends off what they carry."""
    for i, rows, at in (
        (closure.a, closure.rows_a, np.zeros(3)),
        (closure.b, closure.rows_b, closure.offset),
    ):
        wrench = np.einsum("bri,br->bi", rows.value, force)
        ends[i] -= wrench
        forms[i] -= turning_form(wrench[:, :3], at)


def joint_stiffness(
    moving: MovingStructure, motions: Motions, parts: Sequence[Carried], forces: Sequence[Array]
) -> Array:
    """Return what joints and closures add to K, (B, N, N): the finite rotations of their axes.

    A joint that turns by e_1 a_1, then e_2 a_2, after its parent's t: R = exp(t) exp(e_1 a_1)
    exp(e_2 a_2), whose second-order part theta x sum(e a) / 2 + sum e_k e_l a_k x a_l / 2 the
    moment at the root weights.
    """
    left, right = [], []
    for turns, root, part in zip(motions.turns, motions.root, parts, strict=True):
        if len(turns) == 6:
            continue  # let go in all directions, a root carries nothing
        for k, turn in enumerate(turns):
            pull = np.cross(turn.axis, part.root[:, 3:])
            row = np.einsum("bi,bij->bj", pull, root.value[:, 3:])
            for after in turns[k + 1 :]:
                row -= (pull * after.axis).sum(axis=1, keepdims=True) * after.much
            left.append(np.broadcast_to(turn.much / 2, row.shape))
            right.append(row)
    for closure, force in zip(moving.closures, forces, strict=True):
        _pins(closure, force, moving, motions, left, right)
    if not left:
        return np.zeros(())
    product = transposed(np.stack(left, axis=1)) @ np.stack(right, axis=1)
    return np.asarray(product + transposed(product))


def _pins(
    closure: MovingClosure,
    force: Array,
    moving: MovingStructure,
    motions: Motions,
    left: list[Array],
    right: list[Array],
) -> None:
    """Add a universal joint's z.t = 0 to second order, z fixed in end a and t in end b.

    (t_a.z)(t_a.t) / 2 + (t_b.t)(t_b.z) / 2 - (t_a.t)(t_b.z), the last row's force its weight.
    """
    if closure.pins is None:
        return

    def about(i: int, pin: Array) -> Array:
        own = np.einsum("bji,bj->bi", moving.structure.R[:, i], pin)
        return np.asarray(np.einsum("bi,bij->bj", own, motions.end[i].value[:, 3:]))

    z, t = closure.pins
    a_z, a_t, b_z, b_t = (about(i, pin) for i in (closure.a, closure.b) for pin in (z, t))
    weight = force[:, -1:]
    for factor, one, two in ((0.5, a_z, a_t), (0.5, b_t, b_z), (-1.0, a_t, b_z)):
        left.append(factor * weight * one)
        right.append(two)
