"""Natural frequencies of a Model: the modes of its equations, undeformed and unloaded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import transport
from ..beams.basis import AssumedModes
from ..beams.invariants import gauss_points
from ..dynamics.model import Model, build
from ..dynamics.rest import stiffness_at
from ..errors import SuppleError
from ..robot import Robot
from ..structure import Joints, Structure

__all__ = ["AssumedPart", "AssumedResult", "assumed_modes", "assumed_part"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AssumedResult:
    """Elastic modes of a Model at one configuration.

    Attributes:
        omega: (count,), rad/s, rising.  vectors: (N, count), in the coordinates q, modal mass one.
        rigid_modes: how many zero frequencies there are beside them.
    """

    omega: Array
    vectors: Array
    rigid_modes: int


def assumed_modes(
    model: Model,
    theta: ArrayLike | None = None,
    joints: Joints = "locked",
    count: int | None = None,
) -> AssumedResult:
    """Return the elastic modes of a model at theta: K x = omega^2 M x.

    Free joints carry no force, so their motion follows from the elastic one and M is condensed:
    M_ee - M_et M_tt^-1 M_te. The zero modes drop out exactly, and small frequencies lose nothing.
    """
    from scipy.linalg import cho_factor, cho_solve, eigh

    if joints not in ("locked", "free"):
        raise SuppleError(f"joints is '{joints}': it must be locked or free")
    k, n = model.joints, model.size
    if n == k:
        raise SuppleError("the model has no elastic coordinate: no mode to find")
    q = np.zeros(n)
    if theta is not None:
        given = np.asarray(theta, float)
        if given.shape != (k,):
            raise SuppleError(f"theta has shape {given.shape}: give {k} joint coordinates")
        q[:k] = given
    M, K = model.mass_matrix(q), stiffness_at(model, q)
    follow = np.zeros((k, n - k))
    if joints == "free" and k:
        follow = -cho_solve(cho_factor(M[:k, :k]), M[:k, k:])
    elastic = M[k:, k:] + M[k:, :k] @ follow
    wanted = n - k if count is None else min(count, n - k)
    # M x = K x / omega^2: the lowest frequencies are the largest eigenvalues, the accurate ones
    last = (n - k - wanted, n - k - 1)
    value, vector = eigh((elastic + elastic.T) / 2, K[k:, k:], subset_by_index=last)
    omega: Array = 1 / np.sqrt(value[::-1])
    vector = vector[:, ::-1] * omega
    return AssumedResult(omega, np.vstack([follow @ vector, vector]), k if joints == "free" else 0)


@dataclass(frozen=True)
class AssumedPart:
    """Modes of a Model at one configuration, told as `elements.ElementModes` tells its own.

    Attributes:
        structure: of that configuration.  result: the modes.  omega: theirs, rad/s.
    """

    model: Model
    structure: Structure
    result: AssumedResult

    @property
    def omega(self) -> Array:
        """(count,), rad/s."""
        return self.result.omega

    def motion(self, i: int, x: ArrayLike) -> Array:
        """Return displacement and section rotation of segment i at x, (P, 6, count), its axes."""
        x = np.atleast_1d(np.asarray(x, float))
        shapes, X = self.model.chain.links[i].shapes, np.array([transport(value) for value in x])
        moved: Array = X @ self._root(i)
        return moved if shapes is None else moved + shapes.at(x) @ self._eta(i)

    def resultants(self, i: int, x: ArrayLike) -> Array:
        """Return (N, Q_y, Q_z, T, M_y, M_z) of segment i at x, (P, 6, count); 0 where excluded."""
        x = np.atleast_1d(np.asarray(x, float))
        shapes, moduli = self.model.chain.links[i].shapes, self._moduli(i)
        if shapes is None:
            return np.zeros((len(x), 6, len(self.omega)))
        value, strain = shapes.at(x), shapes.at(x, 1)
        strain[:, 1] -= value[:, 5]
        strain[:, 2] += value[:, 4]
        forces: Array = np.where(np.isfinite(moduli), moduli, 0.0)[:, None] * (
            strain @ self._eta(i)
        )
        return forces

    def energies(self, i: int) -> Array:
        """Return the strain energies of segment i, (6, count): of N, Q_y, Q_z, T, M_y, M_z."""
        shapes = self.model.chain.links[i].shapes
        if shapes is None:
            return np.zeros((6, len(self.omega)))
        x, w = gauss_points(shapes.breaks, shapes.degree + 2)
        energy: Array = np.einsum("g,gcm->cm", w / 2, self.resultants(i, x) ** 2)
        return energy / self._moduli(i)[:, None]

    def _moduli(self, i: int) -> Array:
        beam = self.structure.segments[i].beam
        return np.array((beam.EA, *beam.kGA, beam.GJ, beam.EI[1], beam.EI[0]))

    def twists(self, i: int) -> Array:
        """Return the angles of the springs of segment i, (releases, count)."""
        chain = self.model.chain
        place = chain.eps.get(i, chain.theta.get(i, 0))
        return self.result.vectors[[place] * len(self.structure.segments[i].releases)]

    def _eta(self, i: int) -> Array:
        part: Array = self.result.vectors[self.model.chain.eta[i]]
        return part

    def _root(self, i: int) -> Array:
        """Motion (6, count) of a root: the parent's end carried on, and the joint's turn."""
        chain, segment = self.model.chain, self.structure.segments[i]
        root = np.zeros((6, len(self.omega)))
        if segment.parent >= 0:
            end = self.motion(segment.parent, self.structure.L[0, segment.parent])[0]
            root = self.structure.T[0, i] @ end
        axis = chain.links[i].axis
        if axis is not None:
            turn = self.result.vectors[chain.theta[i]].copy()
            turn += self.result.vectors[chain.eps[i]] if i in chain.eps else 0.0
            root[3:] += np.outer(axis, turn)
        return root


def assumed_part(
    robot: Robot, structure: Structure, theta: Array, joints: Joints, count: int, modes: int
) -> AssumedPart:
    """Return modes of a robot at theta with so many assumed modes in every deformation it has."""
    model = build(robot, AssumedModes(modes, at=theta.tolist(), axial=modes, torsion=modes))
    return AssumedPart(model, structure, assumed_modes(model, theta, joints, count))
