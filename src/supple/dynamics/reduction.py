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

__all__ = ["Forms", "Joint", "reduced"]

Array = NDArray[np.float64]
Forms = tuple[Array, Array, Array, Array]  # M, C, K (B, m, z, z) and F (B, m, z) of a group


@dataclass(frozen=True)
class Joint:
    """What joins the branches.

    Attributes:
        follow: Phi (B, Nf, motors + N).  pairs: rows l, r (B, motors + N), l' r + r' l goes to K.
        gyroscopic, centrifugal: whether the rates of Phi count in C and in K.
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
            return [(C, value)] + [(2 * M, first)] * self.gyroscopic
        return [(K, value)] + [(C, first), (M, second)] * self.centrifugal


def reduced(groups: Sequence[Group], forms: Sequence[Forms], joint: Joint, tip: Array) -> Matrices:
    """Return M, C, K, F over y from those of the groups over z."""
    B = len(tip)
    d, N = (groups[-1].all(kind).stop for kind in (0, 1))
    loose = [_loose_rows(groups, forms, joint, k) for k in range(3)]
    square = [np.empty((B, N, N)) for _ in range(3)]
    drive = [np.empty((B, d, N)) for _ in range(3)]
    F, push = np.zeros((B, N)), np.zeros((B, d))
    for group, form in zip(groups, forms, strict=True):
        for kind, outs, total in ((0, drive, push), (1, square, F)):
            _rows(group, form, kind, joint, loose, outs)
            own = slice(0, group.motors) if kind == 0 else group.y
            place = group.all(kind)
            total[:, place] = form[3][..., own].reshape(total[:, place].shape)
    both = zip(groups, forms, strict=True)
    load = np.concatenate([form[3][..., g.f].reshape(B, g.count * g.loose) for g, form in both], 1)
    felt = (load[:, None, :] @ joint.follow.value)[:, 0]
    M, C, K = square
    moved, turned, held = drive
    return Matrices(M, C, K, F + felt[:, d:], tip, (moved, turned, held, push + felt[:, :d]))


def _loose_rows(groups: Sequence[Group], forms: Sequence[Forms], joint: Joint, k: int) -> Array:
    """Rows f of (2 M N' + C N) and the like, (B, Nf, d + N)."""
    out = np.zeros(joint.follow.shape)
    d = groups[-1].all(0).stop
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
    return out


def _rows(
    group: Group,
    form: Forms,
    kind: int,
    joint: Joint,
    loose: Sequence[Array],
    outs: Sequence[Array],
) -> None:
    """Rows of a group's motors (kind 0) or y (1), columns y of all, of M, C and K."""
    B, m, N = len(outs[0]), group.count, outs[0].shape[2]
    d = joint.follow.shape[2] - N
    own = slice(0, group.motors) if kind == 0 else group.y
    size, place = own.stop - own.start, group.all(kind)
    if not size:
        return
    columns = slice(place.start + d * kind, place.stop + d * kind)

    def lifted(rows: Array) -> Array:
        """Rows over all, (B, r, d + N), as (B, m, size, r) over this group's own."""
        return rows[:, :, columns].reshape(B, rows.shape[1], m, size).transpose(0, 2, 3, 1)

    reached = lifted(joint.follow.value)
    for k, out in enumerate(outs):
        left, right = [reached], [_for_each(loose[k][:, :, d:], m)]
        for matrix, phi in joint.terms(form, k):
            left.append(matrix[..., own, group.f])
            right.append(phi[:, group.all(2), d:].reshape(B, m, group.loose, N))
        if k == 2 and joint.pairs[0]:
            for one, two in (joint.pairs, joint.pairs[::-1]):
                left.append(lifted(np.stack(one, axis=1)))
                right.append(_for_each(np.stack(two, axis=1)[:, :, d:], m))
        rows = out[:, place].reshape(B, m, size, N)  # a view: one axis is split
        np.matmul(np.concatenate(left, axis=-1), np.concatenate(right, axis=-2), out=rows)
        for b in range(m):
            rows[:, b, :, group.own(1, b)] += form[k][:, b, own, group.y]


def _for_each(rows: Array, m: int) -> Array:
    """(B, r, N) once for each of m branches, (B, m, r, N)."""
    return np.broadcast_to(rows[:, None], (len(rows), m, *rows.shape[1:]))
