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

from ..answers.immutable import Immutable
from ..architectures.kinds import architecture_of
from ..beams.basis import AssumedModes, Basis, FiniteElements
from ..beams.fixed.elements import mesh
from ..beams.fixed.on_beam import OnBeam
from ..beams.invariants import invariants
from ..beams.shapes import PLANES
from ..beams.sliding.following import FollowingModes
from ..beams.theory import Beam
from ..robot import Robot
from ..structure.link_parts import link_beam
from .chains.chain import Chain, distal_loads
from .locked import LockedPose, forms, locked_pose, mode_ratios, on_link, own_parts

__all__ = ["LIMIT", "Accuracy", "ModelWarning", "accuracy", "sliding_error", "twisting_pose"]

Array = NDArray[np.float64]
SLIDING_LOOKS = (0.3, 0.5, 0.7, 1.0)  # of the whole length: where shapes that slide are compared
SLIDING_ELEMENTS = 8
LIMIT = 0.05  # beyond it `build` warns
FEW = 5  # frequencies told


class ModelWarning(UserWarning):
    """A Model is far from the exact beams, because its basis lacks a deformation that matters."""


@dataclass(frozen=True)
class Accuracy(Immutable):
    """Comparison of a Model with the exact beams in one pose, joints locked.

    From ``model.check()``.

    Attributes
    ----------
    robot : str
        Name of the robot.
    theta : tuple of float
        Joint coordinates.
    static : float
        Largest relative error of the tip's displacement, under gravity and under unit forces.
    modal : float
        Relative error of the lowest frequency.
    frequency_hz, exact_hz : tuple of float
        Lowest frequencies of the Model and of the exact beams, Hz.
    damping_ratios : tuple of float
        Damping ratios that these modes of the whole robot get from the links' damping.
    remedy : str
        Basis to use instead; empty if none is needed.
    """

    robot: str
    theta: tuple[float, ...]
    static: float
    modal: float
    frequency_hz: tuple[float, ...]
    exact_hz: tuple[float, ...]
    damping_ratios: tuple[float, ...] = ()
    remedy: str = ""

    @property
    def good(self) -> bool:
        """Whether both errors stay within five per cent."""
        return max(self.static, self.modal) <= LIMIT

    @property
    def sentence(self) -> str:
        """Both errors and what helps, in one sentence."""
        pose = ", ".join(f"{x:.3g}" for x in self.theta)
        text = (
            f"{self.robot} at [{pose}]: its statics miss those of the exact beams by "
            f"{self.static:.1%}, its lowest frequency by {self.modal:.1%}"
        )
        if any(self.damping_ratios):
            ratios = ", ".join(f"{x:.3g}" for x in self.damping_ratios)
            text += f"; its lowest modes get damping ratios {ratios}"
        return f"{text}; try {self.remedy}" if self.remedy else text


@dataclass(frozen=True)
class _Linear:
    """Statics and frequencies of a structure with functions on its links."""

    sag: Array
    pushed: Array
    omega: Array


def accuracy(
    robot: Robot, basis: Basis, chain: Chain, D: Array, theta: ArrayLike | None = None
) -> Accuracy | None:
    """Return a Model beside the exact beams at theta, by default where its basis was made.

    None where nothing bends, where something is loose, and where `locked_pose` has no answer.
    """
    pose = locked_pose(robot, basis, chain, theta)
    if pose is None:
        return None
    exact = [mesh(segment.beam, 2, "quintic", L) for segment, L in pose.each]
    if not any(part.size for part in exact):
        return None
    right, ours = (_solve_linear_model(pose, parts) for parts in (exact, own_parts(pose, chain)))
    if right is None or ours is None:
        return None
    static, modal = _errors(ours, right)
    remedy = _remedy(robot, pose, basis, chain, right) if max(static, modal) > LIMIT else ""
    few = min(FEW, len(ours.omega), len(right.omega))
    hertz = [tuple((x.omega[:few] / (2 * np.pi)).tolist()) for x in (ours, right)]
    ratios: tuple[float, ...] = ()
    passive = sum(link.freedoms * link.passive for link in chain.links)
    elastic_untied = replace(chain, followers=()).size - chain.size <= passive - sum(
        map(len, chain.passive)
    )
    if (
        len(ours.omega) and np.isfinite(D).all() and elastic_untied
    ):  # no loop ties elastic coordinates
        ratios = tuple(mode_ratios(pose, chain, D)[:few].tolist())
    theta = tuple(pose.theta.tolist())
    return Accuracy(robot.name, theta, static, modal, hertz[0], hertz[1], ratios, remedy)


def sliding_error(chain: Chain) -> str:
    """Return a sentence where shapes of a link that slides miss a natural frequency by over 5 %.

    Shapes of stubby links that are not natural ones are compared with fine elements on the link,
    clamped with its end load, at some of its free lengths.
    """
    from scipy.linalg import eigh

    for link in chain.links:
        slide = link.slide
        if not isinstance(slide, FollowingModes) or not slide.simplified:
            continue
        worst = (0.0, 0, 0.0)  # error, number of the mode, free length
        for fraction in SLIDING_LOOKS:
            length = fraction * slide.beam.L
            free = slide.beam.outside(length)
            ours = invariants(free, slide.shapes_at(length), slide.end)
            fine = FiniteElements(SLIDING_ELEMENTS).shapes(0, free, slide.end)
            exact = invariants(free, fine, slide.end)
            for kind in PLANES:
                mine = [j for j, name in enumerate(slide.kinds) if name == kind]
                right = [j for j, name in enumerate(fine.kinds) if name == kind]
                if not mine or not right:
                    continue
                squares = []
                for part, at in ((ours, mine), (exact, right)):
                    pick = np.ix_(at, at)
                    squares.append(eigh(part.K[pick], part.modal_mass[pick], eigvals_only=True))
                count = min(map(len, squares))
                off = np.sqrt(squares[0][:count] / squares[1][:count]) - 1
                k = int(np.argmax(off))
                worst = max(worst, (float(off[k]), k + 1, length))
        if worst[0] > LIMIT:
            return (
                f"links.{link.name}: mode {worst[1]} of its assumed modes lies {worst[0]:.0%} "
                f"above the exact one where {worst[2]:.3g} m are free, since a link so stubby has "
                "no smooth natural shapes there; give more modes, of which the lower ones come "
                f"near, or FiniteElements({SLIDING_ELEMENTS})"
            )
    return ""


def twisting_pose(robot: Any, basis: Basis, chain: Chain) -> Array | None:
    """Return a pose where loads twist links that a basis was told not to twist; else None.

    All joints that turn are bent by a right angle, as far as their limits let them.
    """
    found = architecture_of(robot)
    if not isinstance(basis, AssumedModes) or basis.torsion is None or found.planar:
        return None
    names = [x.name for x in chain.links if x.shapes and "torsion" not in x.shapes.kinds]
    at: ArrayLike | None = basis.at
    if at is None:
        at = found.usual().get("theta") if found.outstretched is None else found.outstretched
    if at is None or not names:  # None: asked by a platform's position
        return None
    if not any(link_beam(robot, x).deforms.GJ for x in robot.links if x.name in names):
        return None
    theta = np.array(at, float)
    for k, drive in enumerate(found.drives):
        if not drive.slides:
            low, high = drive.made.limits or (-np.inf, np.inf)
            theta[k] = np.clip(theta[k] + np.pi / 2, low, high)
    return theta


def _solve_linear_model(pose: LockedPose, parts: Sequence[OnBeam]) -> _Linear | None:
    """Sag (3,), displacements under unit forces (3, 3) and frequencies; None if K is singular."""
    from scipy.linalg import eigh

    structure = pose.structure
    tip = pose.tip
    z, M, K = forms(structure, parts)
    free = z.free
    K = free.T @ K @ free
    M = free.T @ M @ free
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


def _remedy(robot: Any, pose: LockedPose, basis: Basis, chain: Chain, right: _Linear) -> str:
    """The first basis that brings the errors down, in words; else the best of those tried."""
    tried: list[tuple[float, str]] = []
    names = [link.name for link in chain.links]
    loads = distal_loads(pose.structure)
    # Bases with more shapes, the cheapest first
    candidates: list[tuple[Basis, str]] = []
    if isinstance(basis, FiniteElements):
        candidates = [(FiniteElements(n), f"FiniteElements({n})") for n in (1, 2, 4)]
    else:
        assert isinstance(basis, AssumedModes)
        most = basis.count if isinstance(basis.count, int) else max(basis.count)
        twist = "" if basis.torsion is None else ", torsion=1"
        for n in (most, most + 1, most + 2, most + 4):
            for axial in (0, 1):
                wider = replace(basis, count=n, torsion=None, axial=axial)
                called = f"AssumedModes({n}{twist}{', axial=1' if axial else ''})"
                called += ", whose links can stretch" if axial and basis.axial == 0 else ""
                candidates.append((wider, called))
        candidates.append((FiniteElements(2), "FiniteElements(2)"))
    shaped: list[tuple[tuple[Any, ...], Any]] = []  # of links that are alike but for rounding
    for other, words in candidates:
        parts: list[OnBeam] = []
        for k, (segment, L) in enumerate(pose.each):
            shapes = None
            name = pose.structure.links[k]
            if name in names and not segment.beam.rigid:
                i = names.index(name)
                pieces = pose.structure.pieces(name)
                beam = segment.beam.outside(L)
                load = other.end(i) or loads[pieces[-1]]
                if len(pieces) > 1 or i in chain.sliding:  # cut where something hangs on it
                    beam = link_beam(robot, robot.links[i])
                slides = i in chain.sliding
                at = tuple(pose.starts[p] for p in pieces[1:])
                if slides and isinstance(beam, Beam):  # they follow its length
                    beam = beam.outside(pose.length(name))
                    slides = False
                    at = ()
                size = [f"{x:.12g}" for x in (load.mass, *load.about, load.moment)]
                key = (beam, size, other.of_link(i), pose.length(name) if slides else at)
                shapes = next((known for like, known in shaped if like == key), None)
                if shapes is None:
                    shapes = (
                        other.sliding(i, beam, load).shapes_at(pose.length(name))
                        if slides
                        else other.carrying(i, beam, load, at)
                    )
                    shaped.append((key, shapes))
            parts.append(on_link(segment, L, shapes, pose.starts[k]))
        found = _solve_linear_model(pose, parts)
        if found is None:
            continue
        tried.append((max(_errors(found, right)), words))
        if tried[-1][0] <= LIMIT:
            return words
    return min(tried)[1] if tried else "finite elements"
