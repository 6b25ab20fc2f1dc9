"""Forces of a rigid motion inside a Structure, and the stiffness they bring.

Newton-Euler from the ends to the roots; the forces in the closures are those that leave the loose
motions f without load: Q_f + A_f' lambda = 0. With what every end carries, `second_order` gives the
stiffness of the links; here stands that of joints and closures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.jets import Jet, transpose
from ..kernels.spatial import cross, transport
from ..structure import MovingStructure
from .branches import Group
from .moving_beams import Rates
from .second_order import turning_form

__all__ = ["Carried", "Ends", "carried_loads", "joint_stiffness", "pin_pairs", "taken_off"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ends:
    """What closures take off the ends: (B, n, 6) and their forms (B, n, 3, 3), segment axes."""

    wrench: Array
    form: Array


@dataclass(frozen=True)
class Carried:
    """What the segments of one slot carry in the rigid motion, own axes.

    Attributes
    ----------
    root
        (B, m, 6), force and moment at the root.
    end
        (B, m, 6), beyond the end.
    form
        (B, m, 3, 3), X of `turning_form` of all that hangs on the end.
    """

    root: Array
    end: Array
    form: Array


def taken_off(moving: MovingStructure, force: Array) -> Ends:
    """Return what closures with these forces, (B, rows), take off the ends they tie."""
    B, n = moving.structure.L.shape
    wrench = np.zeros((B, n, 6))
    form = np.zeros((B, n, 3, 3))
    at = 0
    for closure in moving.closures:
        part = force[:, at : at + closure.rows_a.shape[1]]
        at += part.shape[1]
        tied = ((closure.a, closure.rows_a), (closure.b, closure.rows_b))
        for (i, rows), place in zip(tied, closure.offsets, strict=True):
            if i < 0:
                continue  # the ground
            given = np.einsum("bri,br->bi", rows.value, part)
            wrench[:, i] += given
            if place.any():
                form[:, i] += turning_form(given[:, :3], place)
    return Ends(wrench, form)


def carried_loads(
    group: Group, moving: MovingStructure, rates: Sequence[Rates], closed: Ends | None
) -> list[Carried]:
    """Return what each slot of a group carries."""
    tips = [slot.link.tip_load(*rate) for slot, rate in zip(group.slots, rates, strict=True)]
    ends = [wrench for wrench, _ in tips]
    forms = [form for _, form in tips]
    if closed is not None:
        for s in range(len(ends)):
            index = group.segments[:, s]
            ends[s] = ends[s] - closed.wrench[:, index]
            forms[s] = forms[s] - closed.form[:, index]
    out: list[Carried] = []
    for s in reversed(range(len(group.slots))):
        slot = group.slots[s]
        own = -slot.link.load(*rates[s])[..., :6]
        root = own + (ends[s] - tips[s][0]) @ transport(slot.mesh.L)
        out.append(Carried(root, ends[s], forms[s]))
        if (parent := slot.parent) >= 0:
            T = moving.structure.T[:, group.segments[:, s]]
            passed = np.einsum("...ij,...i->...j", T, root)
            ends[parent] = ends[parent] + passed
            # (.., 3) from a parent's end to a root, parent axes, read off T = [R, -R [offset]]
            S = -transpose(T[..., :3, :3]) @ T[..., :3, 3:]
            offset = np.stack([S[..., 2, 1], S[..., 0, 2], S[..., 1, 0]], axis=-1)
            forms[parent] = forms[parent] + turning_form(passed[..., :3], offset)
    return out[::-1]


def joint_stiffness(K: Array, group: Group, roots: Sequence[Jet], parts: Sequence[Carried]) -> None:
    """Add to K (B, m, z, z) what finite rotations of the joints' axes bring.

    A joint that turns by e_1 a_1, then e_2 a_2, after its parent's t: R = exp(t) exp(e_1 a_1)
    exp(e_2 a_2), whose second-order part theta x sum(e a) / 2 + sum e_k e_l a_k x a_l / 2 the
    moment at the root weights.
    """
    for slot, root, part in zip(group.slots, roots, parts, strict=True):
        if len(slot.turns) == 6:
            continue  # let go in all directions, a root carries nothing
        # (B, m, 3) the axis of a joint motion: how its own column turns the root
        axes = [root.value[..., 3:, turn.column] for turn in slot.turns]
        for k, turn in enumerate(slot.turns):
            pull = cross(axes[k], part.root[..., 3:])
            row = (pull[..., None, :] @ root.value[..., 3:, :])[..., 0, :]
            for after, axis in zip(slot.turns[k + 1 :], axes[k + 1 :], strict=True):
                row[..., after.column] -= (pull * axis).sum(axis=-1)
            K[..., turn.column, :] += row / 2
            K[..., :, turn.column] += row / 2


def pin_pairs(
    moving: MovingStructure, force: Array, turned: Sequence[Array]
) -> tuple[list[Array], list[Array]]:
    """Return rows l, r (B, N) whose l' r + r' l universal joints add to K.

    z.t to second order, z fixed in end a and t in end b: (t_a.z)(t_a.t) / 2 + (t_b.t)(t_b.z) / 2
    - (t_a.t)(t_b.z), weighted with the last row's force, which takes it off.  turned: rotation of
    a's and b's end, (B, 3, N), base axes, closure after closure.
    """
    left: list[Array] = []
    right: list[Array] = []
    at = -1
    for k, closure in enumerate(moving.closures):
        at += closure.rows_a.shape[1]
        if closure.pins is None:
            continue
        z, t = (pin[:, None, :] for pin in closure.pins)
        a_z, a_t, b_z, b_t = (
            (pin @ end)[:, 0] for end in turned[2 * k : 2 * k + 2] for pin in (z, t)
        )
        for factor, one, two in ((-0.5, a_z, a_t), (-0.5, b_t, b_z), (1.0, a_t, b_z)):
            left.append(factor * force[:, at, None] * one)
            right.append(two)
    return left, right
