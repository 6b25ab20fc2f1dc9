"""How does it vibrate here, by finite elements: the independent check of the exact modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import Coordinates, assemble, coordinates, transport
from ..beams.elements import Mesh, mesh
from ..errors import SuppleError
from ..kernels.eigen import natural_modes
from ..structure import Structure

__all__ = ["ElementModes", "element_matrices", "element_modes"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ElementModes:
    """Natural modes of one configuration by finite elements; everything is in segment axes.

    Attributes:
        omega: (count,), rad/s, elastic modes only.  rigid: number of zero ones beside them.
        vectors: (N, count), z' M z = 1, laid out by z.  z: the tree coordinates (`assembly`), with
        a column of its own for every motor let go behind its spring.  meshes: one per segment.

    Spring k of segment i twists by `vectors[z.releases[i]][k]`.
    """

    omega: Array
    vectors: Array
    rigid: int
    z: Coordinates
    meshes: tuple[Mesh, ...]

    def motion(self, i: int, x: ArrayLike) -> Array:
        """Return displacement and section rotation of segment i at x, (P, 6, count).

        u(x) = X(x) u_root + N(x) w.
        """
        x = np.atleast_1d(np.asarray(x, float))
        X = np.array([transport(value) for value in x])
        rigid: Array = X @ (self.z.root[i] @ self.vectors)
        return rigid + self.meshes[i].field(x) @ self._inner(i)

    def resultants(self, i: int, x: ArrayLike) -> Array:
        """Return (N, Q_y, Q_z, T, M_y, M_z) of segment i at x, (P, 6, count)."""
        return self.meshes[i].resultants(x) @ self._inner(i)

    def energies(self, i: int) -> Array:
        """Return the strain energies of segment i, (6, count): of N, Q_y, Q_z, T, M_y, M_z.

        int N^2 / 2 EA dx and so on, at Gauss points that make it exact; a mode's energies, those of
        its springs included, add up to omega^2 / 2.
        """
        x, weights = self.meshes[i].quadrature()
        energy: Array = np.einsum("p,pcj->cj", weights / 2, self.resultants(i, x) ** 2)
        return energy * self.meshes[i].compliances[:, None]

    def _inner(self, i: int) -> Array:
        part: Array = self.vectors[self.z.inner[i]]
        return part


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
    lengths = structure.L[0]
    meshes = tuple(
        mesh(s.beam, k, order, L) for s, k, L in zip(structure.segments, each, lengths, strict=True)
    )
    z = coordinates(structure, [part.end for part in meshes], motors=True)
    M, K = element_matrices(structure, z, meshes)
    try:
        found = natural_modes(K, M, count, z.closure)
    except ArithmeticError as problem:
        raise SuppleError(f"elements: {problem}") from None
    return ElementModes(found.omega, found.vectors, found.rigid, z, meshes)


def element_matrices(
    structure: Structure, z: Coordinates, meshes: Sequence[Mesh]
) -> tuple[Array, Array]:
    """Return M and K (N, N) over z, closures still open.

    A spring without its motor, or a rotor without a spring in series, sits on its release: k, J. A
    motor let go behind its spring has a column of its own: the release is then the twist of the
    spring, with k, and the motor carries J.
    """
    free = [np.zeros((6 + part.size, 6 + part.size)) for part in meshes]
    for form, part in zip(free, meshes, strict=True):
        form[6:, 6:] = part.stiffness
    releases = [s.releases for s in structure.segments]
    springs = [[r.stiffness for r in some] for some in releases]
    rotors = [[0.0 if r.series else r.inertia for r in some] for some in releases]
    K = assemble(structure, z, free, 0.0, springs)
    M = assemble(structure, z, [part.mass for part in meshes], 1.0, rotors)
    for i, k, column in z.motors:
        M[column, column] += releases[i][k].inertia
    return M, K
