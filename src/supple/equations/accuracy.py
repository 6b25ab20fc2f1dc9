"""Accuracy: how far the shapes of a Model are from the exact beams, in its statics and modes.

A Model knows only the deformations that its basis gives it. At one pose, joints held, its links
stand on the same Structure as the exact beams do: once with the Model's shapes, once with elements
that are exact to 1e-5 there. What differs is told, and which basis would mend it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.kinds import architecture_of
from ..assembly import assemble, coordinates
from ..beams.basis import AssumedModes, Basis, FiniteElements
from ..beams.fixed.elements import mesh
from ..beams.fixed.on_beam import OnBeam, ShapesOnBeam
from ..robot import Robot, SerialRobot
from ..structure import Structure, structure_of
from .chain import Chain, distal_loads, outstretched

__all__ = ["LIMIT", "Accuracy", "ModelWarning", "accuracy"]

Array = NDArray[np.float64]
LIMIT = 0.05  # beyond it `build` warns
FEW = 5  # frequencies told


class ModelWarning(UserWarning):
    """A Model is far from the exact beams; its basis lacks a deformation that matters."""


@dataclass(frozen=True)
class Accuracy:
    """A Model beside the exact beams at one pose, joints held.

    Attributes:
        robot: its name.  theta: the pose.  static: the largest relative error of the tip's
        displacement, under gravity and under unit forces on the tip.  modal: that of the lowest
        frequency.  frequency_hz, exact_hz: the lowest ones of both.  remedy: the basis that mends
        it, empty where nothing is to be mended.
    """

    robot: str
    theta: tuple[float, ...]
    static: float
    modal: float
    frequency_hz: tuple[float, ...]
    exact_hz: tuple[float, ...]
    remedy: str = ""

    @property
    def good(self) -> bool:
        """Whether both errors stay within five per cent."""
        return max(self.static, self.modal) <= LIMIT

    def __str__(self) -> str:
        pose = ", ".join(f"{x:.3g}" for x in self.theta)
        told = (
            f"{self.robot} at [{pose}]: its statics miss those of the exact beams by "
            f"{self.static:.1%}, its lowest frequency by {self.modal:.1%}"
        )
        return f"{told}; try {self.remedy}" if self.remedy else told


@dataclass(frozen=True)
class _Linear:
    """Statics and frequencies of a structure with functions on its links."""

    sag: Array
    pushed: Array
    omega: Array


def accuracy(
    robot: Robot, basis: Basis, chain: Chain, theta: ArrayLike | None = None
) -> Accuracy | None:
    """Return a Model beside the exact beams at theta, by default where its basis was made.

    None where nothing bends, where something is loose there, where the robot cannot stand, and
    where a link carries others along its length.
    """
    found = architecture_of(robot)
    if theta is None and isinstance(robot, SerialRobot):
        theta = outstretched(robot) if basis.at is None else np.asarray(basis.at, float)
    asked: dict[str, Any] = {"theta": theta, "position": None}
    if theta is None:
        asked |= found.usual()
    where = found.resolve(**asked)
    if where.reason[0] or (chain.sliding and not _out(robot, where.theta[0])):
        return None
    structure = structure_of(robot, where.at[:1])
    if any("@" in segment.name for segment in structure.segments):
        return None
    tip = found.hangs(tuple(s.name for s in structure.segments))[1]
    shapes = {link.name: link.shapes for link in chain.links}
    exact = [mesh(s.beam, 2, "quintic", float(L)) for s, L in _each(structure)]
    if not any(part.size for part in exact):
        return None
    own = [_part(s, float(L), shapes.get(s.name)) for s, L in _each(structure)]
    right, ours = (_solved(structure, parts, tip) for parts in (exact, own))
    if right is None or ours is None:
        return None
    static, modal = _errors(ours, right)
    remedy = ""
    if max(static, modal) > LIMIT:
        remedy = _remedy(structure, basis, chain, tip, right)
    few = min(FEW, len(ours.omega), len(right.omega))
    hertz = [tuple((x.omega[:few] / (2 * np.pi)).tolist()) for x in (ours, right)]
    pose = tuple(where.theta[0].tolist())
    return Accuracy(robot.name, pose, static, modal, hertz[0], hertz[1], remedy)


def _out(robot: Robot, theta: Array) -> bool:
    """Whether links that slide are all the way out, where a Model keeps their shapes."""
    return isinstance(robot, SerialRobot) and bool(
        np.allclose(outstretched(robot), np.where(outstretched(robot) > 0, theta, 0.0))
    )


def _each(structure: Structure) -> list[tuple[Any, float]]:
    return list(zip(structure.segments, structure.L[0], strict=True))


def _part(segment: Any, L: float, shapes: Any) -> OnBeam:
    """The functions of a Model's link; a link that does not bend has none."""
    if shapes is None:
        return mesh(replace(segment.beam, EA=np.inf, EI=(np.inf, np.inf), GJ=np.inf), 1, L=L)
    return ShapesOnBeam(replace(segment.beam, L=L), L, shapes)


def _solved(structure: Structure, parts: Sequence[OnBeam], tip: int) -> _Linear | None:
    """Sag (3,), displacements under unit forces (3, 3) and frequencies; None if K is singular."""
    from scipy.linalg import eigh

    z = coordinates(structure, [part.end for part in parts])
    springs = [[r.stiffness for r in s.releases] for s in structure.segments]
    still = [[0.0] * len(s.releases) for s in structure.segments]
    stiff = [np.pad(part.stiffness, ((6, 0), (6, 0))) for part in parts]
    K = assemble(structure, z, stiff, 0.0, springs)
    M = assemble(structure, z, [part.mass for part in parts], 1.0, still)
    free = z.free
    K, M = free.T @ K @ free, free.T @ M @ free
    d = np.sqrt(np.diag(K))
    if not len(K) or not d.all() or np.linalg.eigvalsh(K / np.outer(d, d))[0] < 1e-12:
        return None
    weight = np.zeros(z.size)
    for i, (segment, part) in enumerate(zip(structure.segments, parts, strict=True)):
        pull = np.concatenate([structure.R[0, i].T @ np.asarray(structure.gravity), np.zeros(3)])
        load = part.mass[:, :6] @ pull
        load[:6] += structure.root_mass[0, i] @ pull
        weight += z.root[i].T @ load[:6] + z.end[i].T @ (segment.tip_mass @ pull)
        weight[z.inner[i]] += load[6:]
    J = structure.R[0, tip] @ z.end[tip][:3] @ free
    solved = np.linalg.solve(K, np.concatenate([(free.T @ weight)[:, None], J.T], axis=1))
    moved = J @ solved
    periods2 = eigh(M, K, eigvals_only=True)[::-1]
    omega = 1 / np.sqrt(periods2[periods2 > 1e-14 * periods2[0]])
    return _Linear(moved[:, 0], moved[:, 1:], omega)


def _errors(ours: _Linear, right: _Linear) -> tuple[float, float]:
    """Relative errors of displacements and of the lowest frequency.

    Forces count where they move the tip by a twentieth of what the softest does.
    """
    sizes = np.linalg.norm(right.pushed, axis=0)
    off = np.linalg.norm(ours.pushed - right.pushed, axis=0)
    count = sizes > 0.05 * sizes.max()
    static = float((off[count] / sizes[count]).max(initial=0.0))
    if (sag := float(np.linalg.norm(right.sag))) > 0:
        static = max(static, float(np.linalg.norm(ours.sag - right.sag)) / sag)
    if not len(ours.omega):
        return static, 1.0
    return static, abs(float(ours.omega[0] / right.omega[0]) - 1)


def _remedy(structure: Structure, basis: Basis, chain: Chain, tip: int, right: _Linear) -> str:
    """The first basis that brings the errors down, in words; else the best of those tried."""
    tried: list[tuple[float, str]] = []
    names = [link.name for link in chain.links]
    loads = dict(zip((s.name for s in structure.segments), distal_loads(structure), strict=True))
    for other, words in _candidates(basis):
        parts = []
        for segment, L in _each(structure):
            beam = replace(segment.beam, L=float(L))
            i = names.index(segment.name) if segment.name in names else -1
            shapes = None
            if i >= 0 and not beam.rigid:
                end = other.end(i)
                shapes = other.shapes(i, beam, loads[segment.name] if end is None else end)
            parts.append(_part(segment, float(L), shapes))
        found = _solved(structure, parts, tip)
        if found is None:
            continue
        tried.append((max(_errors(found, right)), words))
        if tried[-1][0] <= LIMIT:
            return words
    return min(tried)[1] if tried else "finite elements"


def _candidates(basis: Basis) -> list[tuple[Basis, str]]:
    """Bases with more shapes, the cheapest first."""
    if isinstance(basis, FiniteElements):
        return [(FiniteElements(n), f"FiniteElements({n})") for n in (1, 2, 4)]
    assert isinstance(basis, AssumedModes)
    most = basis.count if isinstance(basis.count, int) else max(basis.count)
    twist = "" if basis.torsion is None else ", torsion=1"
    out: list[tuple[Basis, str]] = []
    for n in (most, most + 1, most + 2, most + 4):
        for axial in (0, 1):
            other = replace(basis, count=n, torsion=None, axial=axial)
            out.append((other, f"AssumedModes({n}{twist}{', axial=1' if axial else ''})"))
    return [*out, (FiniteElements(2), "FiniteElements(2)")]
