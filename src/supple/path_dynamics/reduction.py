"""Reduction: matrices of branches over z = [motors, y, f] to those of the robot over y.

The loose motions follow, f = Phi(t) u with u = [motors, y], so z = N(t) u and
    M = N' M N,   C = N' (2 M N' + C N),   K = N' (M N'' + C N' + K N),
in which N' and N'' hold nothing but Phi' and Phi''. Branches meet in Phi alone, so that products
stay as small as one branch is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.jets import Jet
from .branches import Group
from .small_motion import Matrices

__all__ = ["Forms", "JointReduction", "reduce_to_independent"]

Array = NDArray[np.float64]
Forms = tuple[Array, Array, Array, Array]  # M, C, K (B, m, z, z) and F (B, m, z) of a group


@dataclass(frozen=True)
class JointReduction:
    """What joins the branches.

    Attributes
    ----------
    follow
        Phi (B, Nf, motors + N).
    pairs
        Rows l, r (B, motors + N), l' r + r' l goes to K.
    gyroscopic, centrifugal
        Whether the rates of Phi count in C and in K.
    """

    follow: Jet
    pairs: tuple[list[Array], list[Array]]
    gyroscopic: bool = True
    centrifugal: bool = True

    def terms(self, form: Forms, k: int) -> list[tuple[Array, Array]]:
        """Return (matrix, part of Phi) whose products make M, C or K (k = 0, 1, 2)."""
        M, C, K, _ = form
        value, first, second = self.follow.parts
        if k == 0:
            return [(M, value)]
        if k == 1:
            return [(C, value)] + [(M, 2 * first)] * self.gyroscopic
        return [(K, value)] + [(C, first), (M, second)] * self.centrifugal


def reduce_to_independent(
    groups: Sequence[Group], forms: Sequence[Forms], joint: JointReduction, tip: Array
) -> Matrices:
    """Return M, C, K, F over y from those of the groups over z."""
    B = len(tip)
    d, N = (groups[-1].all(kind).stop for kind in (0, 1))
    # Rows f of (2 M N' + C N) and the like, (B, Nf, d + N)
    loose = []
    for k in range(3):
        out = np.zeros(joint.follow.shape)
        for group, form in zip(groups, forms, strict=True):
            shape = (len(out), group.count, group.loose, out.shape[2])
            view = out[:, group.all(2)].reshape(shape)
            for matrix, phi in joint.terms(form, k):
                view += matrix[..., group.f, group.f] @ phi[:, group.all(2)].reshape(shape)
            for b in range(group.count):
                y = group.own(1, b)
                view[:, b, :, group.own(0, b)] += form[k][:, b, group.f, : group.motors]
                view[:, b, :, y.start + d : y.stop + d] += form[k][:, b, group.f, group.y]
            out[:, group.all(2)] = view.reshape(len(out), group.count * group.loose, out.shape[2])
        loose.append(out)
    square = [np.empty((B, N, N)) for _ in range(3)]
    drive = [np.empty((B, d, N)) for _ in range(3)]
    F = np.zeros((B, N))
    push = np.zeros((B, d))
    for group, form in zip(groups, forms, strict=True):
        _rows(group, form, joint, loose, (drive, square))
        for kind, total in ((0, push), (1, F)):
            place = group.all(kind)
            total[:, place] = form[3][..., group.part(kind)].reshape(total[:, place].shape)
    both = zip(groups, forms, strict=True)
    load = np.concatenate([form[3][..., g.f].reshape(B, g.count * g.loose) for g, form in both], 1)
    felt = (load[:, None, :] @ joint.follow.value)[:, 0]
    M, C, K = square
    moved, turned, held_part = drive
    return Matrices(M, C, K, F + felt[:, d:], tip, (moved, turned, held_part, push + felt[:, :d]))


def _rows(
    group: Group,
    form: Forms,
    joint: JointReduction,
    loose: Sequence[Array],
    outs: tuple[Sequence[Array], Sequence[Array]],
) -> None:
    """Rows of a group's motors (into outs[0]) and y (outs[1]), columns y of all, of M, C, K."""
    B = len(loose[0])
    m = group.count
    N = outs[1][0].shape[2]
    d = joint.follow.shape[2] - N

    def lifted(rows: Array, kind: int) -> Array:
        """Rows over all, (B, r, d + N), as (B, m, size, r) over this group's motors or y."""
        place = group.all(kind)
        own = rows[:, :, place.start + d * kind : place.stop + d * kind]
        return own.reshape(B, rows.shape[1], m, own.shape[2] // m).transpose(0, 2, 3, 1)

    for k in range(3):
        terms = joint.terms(form, k)
        pairs = joint.pairs if k == 2 else ([], [])
        both = [np.stack(rows, axis=1) for rows in pairs if rows]
        right = [_for_each(loose[k][:, :, d:], m)]
        right += [phi[:, group.all(2), d:].reshape(B, m, group.loose, N) for _, phi in terms]
        right += [_for_each(rows[:, :, d:], m) for rows in both[::-1]]
        right_matrix = np.concatenate(right, axis=-2)
        for kind in (0, 1):
            own, place = group.part(kind), group.all(kind)
            if own.start == own.stop:
                continue
            left = [lifted(joint.follow.value, kind)]
            left += [matrix[..., own, group.f] for matrix, _ in terms]
            left += [lifted(rows, kind) for rows in both]
            rows = outs[kind][k][:, place].reshape(B, m, own.stop - own.start, N)  # a view
            np.matmul(np.concatenate(left, axis=-1), right_matrix, out=rows)
            for b in range(m):
                rows[:, b, :, group.own(1, b)] += form[k][:, b, own, group.y]


def _for_each(rows: Array, m: int) -> Array:
    """(B, r, N) once for each of m branches, (B, m, r, N)."""
    return np.broadcast_to(rows[:, None], (len(rows), m, *rows.shape[1:]))
