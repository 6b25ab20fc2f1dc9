"""Tree coordinates of a Structure, and the quadratic forms of its links assembled on them.

The unknowns z of one configuration are, segment by segment, its releases and then its inner
coordinates w, by which its end moves relative to its root: u_end = X u_root + S w. With exact beams
w is the end's deformation d itself; with a basis w holds the coordinates of its shape functions.
Masses, stiffnesses and dynamic stiffnesses alike are forms over (u_root, w) of every link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .kernels.spatial import transport
from .structure import Structure
from .structure.parts import IN_PLANE

__all__ = [
    "Coordinates",
    "assemble",
    "closure_null_space",
    "coordinates",
    "exact_ends",
    "joint_transforms",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Coordinates:
    """Where the unknowns of one configuration sit and how they move every link.

    Attributes
    ----------
    root, end
        (n, 6, N) motion of each segment's root and end per unit z, segment axes.
    releases, inner
        Slices of z per segment.
    motors
        (segment, release, column) of the motors that are let go behind a spring: z of the spring's
        twist is the release itself.
    closure
        (c, N) rows with closure z = 0.
    """

    root: Array
    end: Array
    releases: tuple[slice, ...]
    inner: tuple[slice, ...]
    motors: tuple[tuple[int, int, int], ...]
    closure: Array

    @property
    def size(self) -> int:
        """Number of unknowns, N."""
        return int(self.root.shape[-1])

    @cached_property
    def free(self) -> Array:
        """(N, N - c) orthonormal basis of the motions that keep the closures shut."""
        return closure_null_space(self.closure, self.size)


def closure_null_space(closure: Array, size: int) -> Array:
    """Return an orthonormal basis (size, size - rank) of what the closure rows send to zero."""
    if not len(closure):
        return np.eye(size)
    _, values, Vt = np.linalg.svd(closure)
    basis: Array = Vt[int((values > 1e-10 * values[0]).sum()) :].T
    return basis


def exact_ends(structure: Structure) -> list[Array]:
    """Return S of every exact beam: the columns of the end deformations that it allows."""
    return [np.eye(6)[:, segment.beam.active()] for segment in structure.segments]


def coordinates(structure: Structure, ends: Sequence[Array], motors: bool = False) -> Coordinates:
    """Lay out z for the first configuration of a structure; ends[i] is S of segment i, (6, m_i).

    With `motors`, a motor let go behind its spring gets a column of its own after the releases of
    its segment (needed when masses and stiffnesses are assembled apart); without, its dynamic
    stiffness stands for it.
    """
    counts = [(len(s.releases), S.shape[1]) for s, S in zip(structure.segments, ends, strict=True)]
    extra = [
        [k for k, r in enumerate(s.releases) if motors and r.series] for s in structure.segments
    ]
    N = sum(a + b for a, b in counts) + sum(map(len, extra))
    n = len(counts)
    root = np.zeros((n, 6, N))
    end = np.zeros((n, 6, N))
    T = joint_transforms(structure, slice(1))[0]
    releases = []
    inner = []
    owners = []
    at = 0
    for i, segment in enumerate(structure.segments):
        if segment.parent >= 0:
            np.matmul(T[i], end[segment.parent], out=root[i])
        for k, release in enumerate(segment.releases):
            root[i][:, at + k] += release.toward(0)
        releases.append(slice(at, at + counts[i][0]))
        at += counts[i][0]
        for k in extra[i]:
            root[i][:, at] += segment.releases[k].toward(0)
            owners.append((i, k, at))
            at += 1
        inner.append(slice(at, at + counts[i][1]))
        end[i] = transport(structure.L[0, i]) @ root[i]
        end[i][:, inner[i]] += ends[i]
        at += counts[i][1]
    rows = [np.zeros((0, end.shape[-1]))]
    for c in structure.closures:
        row = np.zeros((c.rows_a.shape[1], end.shape[-1]))
        for which, tied in ((c.a, c.rows_a[0]), (c.b, c.rows_b[0])):
            if which >= 0:
                row += tied @ end[which]
        for which, taken in c.slides:
            row[:, releases[which].start] += taken[0]
        rows.append(row)
    if (ties := structure.known_numbers.ties).size:
        tied = np.zeros((ties.shape[1], end.shape[-1]))
        tied[:, [k for part in releases for k in range(part.start, part.stop)]] = ties.T
        rows.append(tied)
    closure = np.concatenate(rows)
    return Coordinates(root, end, tuple(releases), tuple(inner), tuple(owners), closure)


def joint_transforms(structure: Structure, rows: slice | NDArray[np.int64]) -> Array:
    """(B, n, 6, 6): motion of each parent's end to motion of the root, in some configurations.

    From the joints' coordinates alone where they are known so, else from where the segments are. In
    the plane nothing moves out of it, so that these rows and columns may be left zero.
    """
    if structure.hinges is None:
        return np.asarray(structure.T[rows])
    known = np.asarray(structure.hinges[rows])
    if not structure.planar:
        return known
    T = np.zeros((*known.shape[:2], 6, 6))
    T[IN_PLANE] = known
    return T


def assemble(
    structure: Structure,
    z: Coordinates,
    forms: Sequence[Array],
    bodies: float,
    springs: Sequence[Sequence[float]],
) -> Array:
    """Return the (N, N) symmetric form of the whole structure, closures still open.

    forms[i]: (6 + m_i, 6 + m_i) of link i over (u_root, w).  bodies: factor on the rigid masses (1
    for a mass matrix, 0 for a stiffness, -omega^2 for a dynamic stiffness).  springs[i][k]: the
    diagonal entry of release k of segment i.
    """
    A = np.zeros((z.size, z.size))
    root_mass = structure.root_mass[0]
    for i, (segment, form) in enumerate(zip(structure.segments, forms, strict=True)):
        J = z.root[i]
        w = z.inner[i]
        A += J.T @ ((form[:6, :6] + bodies * root_mass[i]) @ J)
        coupling = J.T @ form[:6, 6:]
        A[:, w] += coupling
        A[w, :] += coupling.T
        A[w, w] += form[6:, 6:]
        if bodies and segment.tip_mass.any():
            A += bodies * (z.end[i].T @ segment.tip_mass @ z.end[i])
        columns = np.arange(z.releases[i].start, z.releases[i].stop)
        A[columns, columns] += np.asarray(springs[i], float)
    return A
