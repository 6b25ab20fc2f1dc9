"""Modes about the rest of a robot under its weight: pendulum modes, and links that carry load.

The exact modes are those of the undeformed, unloaded robot, where a load that hangs in a joint has
no stiffness at all. Here the robot sags with its motors held and what hangs freely hangs; small
motion x about that rest q obeys M(q) x'' + K(q) x = 0, K the second derivative of the potential of
bending, springs and weight, by shape functions on every link.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import lower
from ...beams.basis import AssumedModes, Basis, FiniteElements
from ...equations.build import build
from ...equations.equilibrium import (
    UnstableRestWarning,
    standing,
    static_state,
    stiffness_at,
    total_stiffness,
)
from ...equations.model import Model
from ...errors import SuppleError
from ...kernels.threads import one_thread
from ...robot import Robot, cached_for_robot
from ..motion.fields import fields_at
from .shapes import ENERGIES, Shapes

__all__ = ["WeightedModes", "weighted_modes"]

Array = NDArray[np.float64]
SHAPES_PER_LINK = 6  # assumed modes in every deformation of a link, unless elements are asked for
RIGID = 1e-9  # of the terms that it is the sum of: a stiffness below is rounding
SHIFT = 1.0  # (rad/s)^2, added to K so that motions without stiffness do no harm
STEP = 1e-4  # of a mode's largest displacement, m or rad: the step of its fields
KINDS = {"xy": "bending x-y", "xz": "bending x-z", "axial": "axial", "torsion": "torsion"}
SWING = 0.5  # of a mode's potential energy in the weight: above, it is a swing


@dataclass(frozen=True)
class WeightedModes:
    """Modes of one configuration at rest under its weight.

    Attributes
    ----------
    omega
        (count,), rad/s.
    rigid
        Motions without stiffness beside them.
    model
        The equations of motion.
    q
        (N,), the rest.
    vectors
        (N, count), motions of q, modal mass one.
    """

    omega: Array
    rigid: int
    model: Model
    q: Array
    vectors: Array

    @cached_property
    def weight_share(self) -> Array:
        """(count,) part of each mode's potential energy that lies in its weight."""
        elastic = stiffness_at(self.model, self.q)
        energy = np.einsum("im,ij,jm->m", self.vectors, elastic, self.vectors)
        share: Array = 1 - energy / self.omega**2
        return share

    @cached_property
    def swings(self) -> tuple[str, ...]:
        """Which joint swings, a sentence a mode; "" where most energy is strain energy."""
        return tuple(
            f"swing {round(100 * share)} %, most in {self._swinging(mode)}" if share > SWING else ""
            for mode, share in enumerate(self.weight_share)
        )

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """What each mode is: the swing of a joint, or where most of its strain energy sits."""
        shapes = self.shapes(2)
        return tuple(shapes.kind(mode) for mode in range(len(self.omega)))

    def _swinging(self, mode: int) -> str:
        """The link whose joint turns most in a mode: a passive one, or one on its spring."""
        k = self.model.joints
        names = self.model.coordinates[k:]
        turns = np.abs(self.vectors[k:, mode])
        passive = [j for j, name in enumerate(names) if name.startswith("passive.")]
        places = passive or list(range(len(names)))
        name = names[max(places, key=lambda j: turns[j])].partition(".")[2]
        return name.partition(".")[0]

    def shapes(self, points: int) -> Shapes:
        """Return the mode shapes at `points` stations a link, on the robot as it stands at rest."""
        size = np.abs(self.vectors).max(axis=0)
        steps = STEP / np.where(size > 0, size, 1.0)
        count = len(self.omega)
        # The rest, then every mode's step forward and back
        moved = (self.vectors * steps).T
        states = np.concatenate([self.q[None], self.q + moved, self.q - moved])
        drawn = fields_at(self.model, states, points)
        stations = np.linspace(0, 1, points)[:, None] * np.eye(3)[0]
        along = drawn.L[..., None, None] * stations
        place = drawn.p[:, :, None] + np.einsum(
            "tnij,tnpj->tnpi", drawn.R, along + drawn.motion[..., :3]
        )
        h = steps[:, None, None, None]
        velocity = (place[1 : 1 + count] - place[1 + count :]) / (2 * h)
        spin = drawn.R[1 : 1 + count] @ drawn.R[1 + count :].swapaxes(-1, -2)
        root_turn = np.stack(
            [
                spin[..., 2, 1] - spin[..., 1, 2],
                spin[..., 0, 2] - spin[..., 2, 0],
                spin[..., 1, 0] - spin[..., 0, 1],
            ],
            axis=-1,
        ) / (4 * h[..., 0])
        bend_turn = (drawn.motion[1 : 1 + count] - drawn.motion[1 + count :])[..., 3:] / (2 * h)
        R = drawn.R[0]
        displacement = np.einsum("nji,mnpj->mnpi", R, velocity)
        rotation = np.einsum("nji,mnj->mni", R, root_turn)[:, :, None] + bend_turn
        there = drawn.energy[1 : 1 + count] + drawn.energy[1 + count :] - 2 * drawn.energy[:1]
        density = np.maximum(there, 0.0) / (2 * h[..., 0] ** 2)

        # Sign: of all displacements of link ends the largest is positive
        ends = velocity[:, :, -1].reshape(count, -1)[:, ::-1]
        largest = np.abs(ends).max(axis=1, keepdims=True)
        first = np.argmax(np.abs(ends) >= (1 - 1e-6) * largest, axis=1)
        sign = np.where(ends[np.arange(count), first] < 0, -1.0, 1.0)[:, None, None, None]
        return Shapes(
            drawn.names,
            along[0, ..., 0],
            place[0],
            R,
            sign * displacement,
            sign * rotation,
            self._strain_shares(drawn.names),
            density,
            np.full(count, np.nan),
            lower(self.model.robot).planar,
            self.swings,
        )

    def _strain_shares(self, links: Sequence[str]) -> Array:
        """(modes, n, 7): parts of the strain energy by link and kind, see `ENERGIES`."""
        K = stiffness_at(self.model, self.q)
        energy = self.vectors * (K @ self.vectors)
        share = np.zeros((len(self.omega), len(links), len(ENERGIES)))
        for row, name in enumerate(self.model.coordinates):
            word, _, rest = name.partition(".")
            link, _, kind = rest.rpartition(".") if word == "eta" else (rest, "", "")
            column = KINDS.get(kind.rstrip("0123456789"), "bending x-y") if kind else "joint"
            owner = links.index(link) if link in links else 0
            share[:, owner, ENERGIES.index(column)] += energy[row]
        share = np.maximum(share, 0.0)
        total = share.sum(axis=(1, 2), keepdims=True)
        return np.asarray(share / np.where(total > 0, total, 1.0))


def weighted_modes(
    robot: Robot, thetas: Array, count: int, method: str, elements: int, order: str
) -> tuple[list[WeightedModes | None], list[str]]:
    """Return the first `count` modes under weight at each theta (B, motors), and why there is none.

    Motors are held. Methods are those of `modes`; for "exact", which knows no weight, six assumed
    modes in every deformation of a link.
    """
    basis: Basis = AssumedModes(SHAPES_PER_LINK, axial=2, torsion=3)
    if method == "elements":
        basis = FiniteElements(elements, order)
    elif method == "assumed":
        basis = AssumedModes(elements, axial=2, torsion=3)
    key = ("weighted modes", method, elements, order)
    model = cached_for_robot(robot, key, build, robot, basis, stiffening=True)
    found: list[WeightedModes | None] = []
    reasons: list[str] = []
    for theta in thetas:
        try:
            found.append(_modes_at_rest(model, theta, count))
            reasons.append("")
        except SuppleError as problem:
            found.append(None)
            reasons.append(str(problem))
    return found, reasons


@one_thread
def _modes_at_rest(model: Model, theta: Array, count: int) -> WeightedModes:
    """Return the modes of one configuration; refused where its rest is unstable."""
    from scipy.linalg import eigh

    at = standing(model, theta)
    k = at.joints
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableRestWarning)  # refused below
        q = static_state(at, theta)
    M = at.mass_matrix(q)[k:, k:]
    K = total_stiffness(at, q)[k:, k:]
    K = (K + K.T) / 2
    free = len(M)
    wanted = min(count + free, free)
    # The largest of M v = mu (K + s M) v are the lowest frequencies, and the accurate ones
    try:
        mu, vectors = eigh(M, K + SHIFT * M)
    except np.linalg.LinAlgError:
        raise SuppleError(_unstable(model)) from None
    mu = mu[::-1]
    vectors = vectors[:, ::-1]
    vectors = vectors / np.sqrt(np.einsum("im,ij,jm->m", vectors, M, vectors))
    square = np.einsum("im,ij,jm->m", vectors, K, vectors)
    terms = np.einsum("im,ij,jm->m", np.abs(vectors), np.abs(K), np.abs(vectors))
    rigid = np.abs(square) <= RIGID * terms
    if (square[~rigid] < 0).any():
        raise SuppleError(_unstable(model))
    elastic = np.flatnonzero(~rigid)[:wanted]
    if len(elastic) < count:
        raise SuppleError(
            f"{model.robot.name} has {len(elastic)} modes under its weight by this method: ask for "
            "fewer, or for method elements with more of them a link"
        )
    elastic = elastic[:count]
    omega = np.sqrt(1 / mu[elastic] - SHIFT)
    every = np.zeros((at.size, count))
    every[k:] = vectors[:, elastic]
    return WeightedModes(omega, int(rigid.sum()), at, q, every)


def _unstable(model: Model) -> str:
    return (
        f"{model.robot.name} is unstable at rest under its weight here, and has no modes about it: "
        "stiffen its links or springs, take load off, or leave gravity out"
    )
