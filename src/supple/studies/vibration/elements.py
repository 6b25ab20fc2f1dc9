"""How does it vibrate here, by shape functions on every link: the check of the exact modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...assembly import Coordinates, coordinates
from ...beams.fixed.elements import mesh
from ...beams.fixed.on_beam import OnBeam
from ...beams.theory import AnyBeam
from ...budget import afford
from ...errors import SuppleError
from ...kernels.eigen import natural_modes
from ...kernels.spatial import transport
from ...kernels.threads import one_thread
from ...structure import Structure

__all__ = ["ElementModes", "ScaledLink", "element_modes", "modes_on", "scale_to_unit_stiffness"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ElementModes:
    """Natural modes of one configuration by shape functions; everything is in segment axes.

    Attributes:
        omega: (count,), rad/s, elastic modes only.  rigid: number of zero ones beside them.
        vectors: (N, count), z' M z = 1, laid out by z.  z: the tree coordinates (`assembly`), with
        a column of its own for every motor let go behind its spring.  meshes: what each link has.

    Spring k of segment i twists by `vectors[z.releases[i]][k]`.
    """

    omega: Array
    vectors: Array
    rigid: int
    z: Coordinates
    meshes: tuple[OnBeam, ...]

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


@one_thread
def element_modes(
    structure: Structure, count: int, n: int | Sequence[int] = 8, order: str = "cubic"
) -> ElementModes:
    """Return the first `count` elastic modes of a structure's first configuration by elements.

    n elements on every link, or n[i] on link i; order "cubic" (axial and torsion linear, bending
    cubic) or "quintic" (cubic and quintic). Frequencies lie above the exact ones. What an element
    kind claims stands in `beams.elements.ELEMENTS`.
    """
    each = [n] * len(structure.segments) if isinstance(n, int) else list(n)
    if len(each) != len(structure.segments):
        raise SuppleError(f"{len(each)} numbers of elements: give one, or one for each segment")
    size = 3.0 * sum(max(0, k) for k in each)  # full matrices: 3,600 took 0.9 GB and 16 s
    told = f"modes by {sum(each):,} elements on {len(each)} links"
    afford(told, 7e-8 * size**2, 3e-10 * size**3, "give fewer elements")
    links = [
        _mesh_link(s.beam, k, order, float(L))
        for s, k, L in zip(structure.segments, each, structure.L[0], strict=True)
    ]
    return modes_on(structure, count, links)


def modes_on(structure: Structure, count: int, links: Sequence[ScaledLink]) -> ElementModes:
    """Return the first `count` elastic modes of a structure with these functions on its links."""
    y = coordinates(structure, [link.S for link in links], motors=True)
    # A root (rows, N) of the mass matrix over y: rows of each beam, body and rotor
    blocks = []
    for i, (segment, own) in enumerate(zip(structure.segments, links, strict=True)):
        beam = own.root[:, :6] @ y.root[i]
        beam[:, y.inner[i]] += own.root[:, 6:]
        bodies = ((structure.root_mass[0, i], y.root[i]), (segment.tip_mass, y.end[i]))
        blocks.append(beam)
        for M, motion in bodies:
            if M.any():  # a root r (6, 6) of a body's mass, M = r' r, from its scaled eigenvalues
                d = np.sqrt(np.diag(M))
                d[d == 0] = 1
                values, V = np.linalg.eigh(M / np.outer(d, d))
                root: Array = np.sqrt(np.maximum(values, 0))[:, None] * V.T * d
                blocks.append(root @ motion)
    blocks.append(np.zeros((y.size, y.size)))
    columns = [(column, structure.segments[i].releases[k]) for i, k, column in y.motors]
    for segment, part in zip(structure.segments, y.releases, strict=True):
        columns += [(part.start + k, r) for k, r in enumerate(segment.releases) if not r.series]
    for column, release in columns:
        blocks[-1][column, column] = np.sqrt(release.inertia)
    mass = np.concatenate(blocks)
    # K over y, closures still open: ones, and the springs on their releases. A motor let go behind
    # its spring has a column of its own: the release is then the twist of the spring, with k, and
    # the motor is held by nothing
    stiffness = np.zeros(y.size)
    for segment, releases, inner in zip(structure.segments, y.releases, y.inner, strict=True):
        stiffness[inner] = 1
        stiffness[releases] = [r.stiffness for r in segment.releases]
    try:
        found = natural_modes(np.diag(stiffness), mass, count, y.closure)
    except ArithmeticError as problem:
        raise SuppleError(f"{problem}: ask for fewer, or give each link more") from None
    vectors = found.vectors.copy()
    for link, part in zip(links, y.inner, strict=True):
        vectors[part] = link.B @ found.vectors[part]
    z = coordinates(structure, [link.part.end for link in links], motors=True)
    return ElementModes(found.omega, vectors, found.rigid, z, tuple(link.part for link in links))


@dataclass(frozen=True)
class ScaledLink:
    """A link's functions in coordinates y with K = 1 of which few move the end.

    What hangs on the end then meets these few only, and does not drown the small masses of the
    others in its rounding.

    Attributes:
        B: (m, m), w = B y.  S: (6, m), the end's motion per unit y.  root: (6 + m, 6 + m), a root
        of the mass over (u_root, y).
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
