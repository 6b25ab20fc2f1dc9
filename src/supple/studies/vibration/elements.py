"""How does it vibrate here, by shape functions on every link: the check of the exact modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...assembly import Coordinates, coordinates, joint_transforms
from ...beams.fixed.elements import mesh
from ...beams.fixed.on_beam import OnBeam
from ...beams.theory import AnyBeam
from ...budget import afford
from ...errors import SuppleError
from ...kernels.eigen import (
    MAX_DENSE_UNKNOWNS,
    MAX_FREQUENCY_RATIO,
    ElasticMotions,
    elastic_motions,
)
from ...kernels.spatial import transport
from ...kernels.threads import one_thread, single
from ...structure import Structure

__all__ = [
    "ElementModes",
    "ScaledLink",
    "element_modes",
    "element_modes_everywhere",
    "modes_on",
    "scale_to_unit_stiffness",
]

Array = NDArray[np.float64]
MAX_POSES_AT_ONCE = 256
MAX_ENTRIES_AT_ONCE = 2_000_000  # of the mass roots of these poses, each held about five times


@dataclass(frozen=True)
class ElementModes:
    """Natural modes of one configuration by shape functions; everything is in segment axes.

    Shapes are found when first asked for: frequencies alone take a fraction of their time.

    Attributes
    ----------
    omega
        (count,), rad/s, elastic modes only.
    rigid
        Number of zero ones beside them.
    batch, row
        The structure, and which of its configurations this is.
    links
        The shape functions of each link.
    """

    omega: Array
    rigid: int
    batch: Structure
    row: int
    links: tuple[ScaledLink, ...]

    @cached_property
    def structure(self) -> Structure:
        """The structure in this configuration."""
        return self.batch.at(self.row)

    @cached_property
    def meshes(self) -> tuple[OnBeam, ...]:
        """What each link has."""
        return tuple(link.part for link in self.links)

    @cached_property
    def z(self) -> Coordinates:
        """The tree coordinates, with a column of its own for every motor let go behind its spring.

        Spring k of segment i twists by `vectors[z.releases[i]][k]`.
        """
        ends = [link.part.end for link in self.links]
        return coordinates(self.structure, ends, motors=True)

    @cached_property
    def vectors(self) -> Array:
        """(N, count), z' M z = 1, laid out by `z`."""
        motions, inner = _elastic_motions(self.structure, self.links)
        with single():
            vectors = motions.modes(len(self.omega)).vectors
        for link, part in zip(self.links, inner, strict=True):
            vectors[part] = link.B @ vectors[part]
        return vectors

    def motion(self, i: int, x: ArrayLike) -> Array:
        """Return displacement and section rotation of segment i at x, (P, 6, count).

        u(x) = X(x) u_root + N(x) w.
        """
        x = np.atleast_1d(np.asarray(x, float))
        X = np.array([transport(value) for value in x])
        rigid: Array = X @ (self.z.root[i] @ self.vectors)
        return rigid + self.meshes[i].field(x) @ self.vectors[self.z.inner[i]]

    def resultants(self, i: int, x: ArrayLike) -> Array:
        """Return (N, Q_y, Q_z, T, M_y, M_z) of segment i at x, (P, 6, count)."""
        found: Array = self.meshes[i].resultants(x) @ self.vectors[self.z.inner[i]]
        return found

    def energies(self, i: int) -> Array:
        """Return the strain energies of segment i, (6, count): of N, Q_y, Q_z, T, M_y, M_z.

        int N^2 / 2 EA dx and so on, at Gauss points that make it exact; a mode's energies, those of
        its springs included, add up to omega^2 / 2.
        """
        x, weights = self.meshes[i].quadrature()
        yields = weights[:, None] / 2 * self.meshes[i].compliances(x)
        energy: Array = np.einsum("pc,pcj->cj", yields, self.resultants(i, x) ** 2)
        return energy


def element_modes(
    structure: Structure, count: int, n: int | Sequence[int] = 8, order: str = "cubic"
) -> ElementModes:
    """Return the first `count` elastic modes of a structure's first configuration by elements.

    See `element_modes_everywhere`.
    """
    return element_modes_everywhere(structure, count, n, order, range(1))[0]


@one_thread
def element_modes_everywhere(
    structure: Structure,
    count: int,
    n: int | Sequence[int] = 8,
    order: str = "cubic",
    rows: Sequence[int] | None = None,
) -> list[ElementModes]:
    """Return the first `count` elastic modes of configurations of a structure by elements.

    rows: which configurations, default all. n elements on every link, or n[i] on link i; order
    "cubic" (axial and torsion linear, bending cubic) or "quintic" (cubic and quintic). Frequencies
    lie above the exact ones. What an element kind claims stands in `beams.elements.ELEMENTS`.
    """
    each = [n] * len(structure.segments) if isinstance(n, int) else list(n)
    if len(each) != len(structure.segments):
        raise SuppleError(f"{len(each)} numbers of elements: give one, or one for each segment")
    size = 3.0 * sum(max(0, k) for k in each)  # full matrices: 3,600 took 0.9 GB and 16 s
    work = f"modes by {sum(each):,} elements on {len(each)} links"
    afford(work, 7e-8 * size**2, 3e-10 * size**3, "give fewer elements")
    found: list[ElementModes] = []
    configurations = range(structure.size) if rows is None else rows
    # One pose's root of the mass has a few more rows than columns: about 6 for each element
    entries = (2 * size + 1) ** 2
    poses_at_once = max(1, min(MAX_POSES_AT_ONCE, int(MAX_ENTRIES_AT_ONCE / entries)))
    for first in range(0, len(configurations), poses_at_once):
        some = configurations[first : first + poses_at_once]
        same = bool((structure.L[some] == structure.L[some[0]]).all())
        for part in [some] if same else [[row] for row in some]:
            links = [
                _mesh_link(segment.beam, k, order, L)
                for segment, k, L in zip(
                    structure.segments, each, structure.L[part[0]].tolist(), strict=True
                )
            ]
            found += _modes_at(structure, count, links, part)
    return found


def _modes_at(
    structure: Structure, count: int, links: list[ScaledLink], rows: Sequence[int]
) -> list[ElementModes]:
    """Return modes of configurations whose links have these functions, all at once if possible."""
    every = _frequencies_at_once(structure, count, links, rows)
    found = []
    for row, omega in zip(rows, every, strict=True):
        if omega is None:
            found.append(modes_on(structure, count, links, row))
        else:
            found.append(ElementModes(omega, 0, structure, row, tuple(links)))
    return found


def _frequencies_at_once(
    structure: Structure, count: int, links: Sequence[ScaledLink], rows: Sequence[int]
) -> Sequence[Array | None]:
    """Return the frequencies of configurations, rad/s, all by one call of each matrix function.

    None where a configuration needs the general way: closures, motions that nothing holds, or
    frequencies too far apart; see `kernels.eigen`.
    """
    none: list[Array | None] = [None] * len(rows)
    releases = [release for segment in structure.segments for release in segment.releases]
    general = (
        structure.closures or structure.known_numbers.ties.size or structure.repeats is not None
    )
    if general or any(release.floating for release in releases):
        return none
    sizes = [link.S.shape[1] for link in links]
    N = len(releases) + sum(sizes)
    if not count <= N <= MAX_DENSE_UNKNOWNS:
        return none

    # Motions of every root and end over y, as `assembly.coordinates` lays it out, and a root of
    # the mass matrix: rows of each beam, body and rotor
    at = slice(None) if len(rows) == structure.size else np.asarray(rows)
    T = joint_transforms(structure, at)
    B = len(rows)
    stiffness = np.ones(N)
    ends: list[Array] = []
    blocks: list[Array] = []
    column = 0
    for i, (segment, link) in enumerate(zip(structure.segments, links, strict=True)):
        root = T[:, i] @ ends[segment.parent] if segment.parent >= 0 else np.zeros((B, 6, N))
        for release in segment.releases:
            root[:, :, column] += release.toward(at)
            stiffness[column] = release.stiffness
            if release.inertia:
                rotor = np.zeros((B, 1, N))
                rotor[:, 0, column] = np.sqrt(release.inertia)
                blocks.append(rotor)
            column += 1
        inner = slice(column, column + sizes[i])
        column += sizes[i]
        length = structure.L[rows[0], i]
        end = root.copy()
        end[:, 1] += length * root[:, 5]
        end[:, 2] -= length * root[:, 4]
        end[:, :, inner] += link.S
        ends.append(end)
        beam = link.root[:, :6] @ root
        beam[:, :, inner] += link.root[:, 6:]
        blocks.append(beam)
        hubs = structure.root_mass if len(structure.root_mass) == 1 else structure.root_mass[at]
        if (hubs[:, i] != hubs[:1, i]).any():
            return none
        for M, motion in ((hubs[0, i], root), (segment.tip_mass, end)):
            body = _body_root(M.tobytes())
            if body is not None:
                blocks.append(body @ motion)
    F = np.concatenate(blocks, axis=1) / np.sqrt(stiffness)
    try:
        triangle = np.linalg.qr(F, mode="r") if F.shape[1] > N else F
        sigma = np.linalg.svd(triangle, compute_uv=False)[:, :count]
    except np.linalg.LinAlgError:
        return none
    good = sigma[:, 0] <= MAX_FREQUENCY_RATIO * sigma[:, -1]
    return [1 / row if fine else None for row, fine in zip(sigma, good, strict=True)]


def modes_on(
    structure: Structure, count: int, links: Sequence[ScaledLink], row: int = 0
) -> ElementModes:
    """Return the first `count` elastic modes of a structure with these functions on its links."""
    try:
        motions = _elastic_motions(structure.at(row), links)[0]
        omega = motions.frequencies(count)
    except ArithmeticError as problem:
        raise SuppleError(f"{problem}: ask for fewer, or give each link more") from None
    return ElementModes(omega, motions.rigid, structure, row, tuple(links))


def _elastic_motions(
    structure: Structure, links: Sequence[ScaledLink]
) -> tuple[ElasticMotions, tuple[slice, ...]]:
    """Return the motions of a structure on which K = 1, and where each link's coordinates are."""
    y = coordinates(structure, [link.S for link in links], motors=True)
    # A root (rows, N) of the mass matrix over y: rows of each beam, body and rotor
    blocks = []
    for i, (segment, own) in enumerate(zip(structure.segments, links, strict=True)):
        beam = own.root[:, :6] @ y.root[i]
        beam[:, y.inner[i]] += own.root[:, 6:]
        blocks.append(beam)
        for M, motion in ((structure.root_mass[0, i], y.root[i]), (segment.tip_mass, y.end[i])):
            root = _body_root(M.tobytes())
            if root is not None:
                blocks.append(root @ motion)
    # K over y, closures still open: ones, and the springs on their releases. A motor let go behind
    # its spring has a column of its own: the release is then the twist of the spring, with k, and
    # the motor is held by nothing
    stiffness = np.zeros(y.size)
    rotors = [(column, structure.segments[i].releases[k]) for i, k, column in y.motors]
    for segment, part, inner in zip(structure.segments, y.releases, y.inner, strict=True):
        stiffness[inner] = 1
        for k, release in enumerate(segment.releases):
            stiffness[part.start + k] = release.stiffness
            if not release.series:
                rotors.append((part.start + k, release))
    for column, release in rotors:
        if release.inertia:
            row = np.zeros((1, y.size))
            row[0, column] = np.sqrt(release.inertia)
            blocks.append(row)
    return elastic_motions(stiffness, np.concatenate(blocks), y.closure), y.inner


@lru_cache(maxsize=256)
def _body_root(mass: bytes) -> Array | None:
    """A root r (6, 6) of a body's mass M = r' r, given as its bytes; None where there is none."""
    M = np.frombuffer(mass).reshape(6, 6)
    if not M.any():
        return None
    d = np.sqrt(np.diag(M))
    d[d == 0] = 1
    values, V = np.linalg.eigh(M / np.outer(d, d))
    root: Array = np.sqrt(np.maximum(values, 0))[:, None] * V.T * d
    return root


@dataclass(frozen=True)
class ScaledLink:
    """A link's functions in coordinates y with K = 1 of which few move the end.

    What hangs on the end then meets these few only, and does not drown the small masses of the
    others in its rounding.

    Attributes
    ----------
    B
        (m, m), w = B y.
    S
        (6, m), the end's motion per unit y.
    root
        (6 + m, 6 + m), a root of the mass over (u_root, y).
    """

    part: OnBeam
    B: Array
    S: Array
    root: Array


@lru_cache(maxsize=256)
def _mesh_link(beam: AnyBeam, n: int, order: str, L: float) -> ScaledLink:
    """Mesh one link; links alike, and the same link in other poses, share their numbers."""
    return scale_to_unit_stiffness(mesh(beam, n, order, L))


def scale_to_unit_stiffness(part: OnBeam) -> ScaledLink:
    """Return functions in coordinates with K = 1 of which few move the end.

    B = G^-1 Q with K = G' G and (S G^-1)' = Q R, so S B = R'.
    """
    d = np.sqrt(np.diag(part.stiffness))
    G = np.linalg.cholesky(part.stiffness / np.outer(d, d)).T * d
    free = part.beam.active()
    inverse = np.linalg.inv(G)
    Q, R = np.linalg.qr((part.end[free] @ inverse).T, mode="complete")
    S = np.zeros((6, part.size))
    S[free] = R.T
    B = inverse @ Q
    # R (N, N) with R' R = B' B: as good a root as B, with fewer rows
    from scipy.linalg import qr

    root: Array = qr(part.mass_root, mode="r", check_finite=False)[0][: part.mass_root.shape[1]]
    return ScaledLink(part, B, S, np.hstack([root[:, :6], root[:, 6:] @ B]))
