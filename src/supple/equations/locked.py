"""A robot with its motors locked, under the shapes of a Model: M and K of its elastic coordinates.

At one pose the links of a Model stand on the Structure that exact beams stand on, so that its
linear statics, modes and damping need no equation of motion. Passive joints follow from the loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.kinds import lower
from ..architectures.tree import place_links
from ..assembly import Coordinates, assemble, coordinates, kept_shut
from ..beams.basis import Basis
from ..beams.fixed.elements import mesh
from ..beams.fixed.on_beam import OnBeam, ShapesOnBeam
from ..robot import Robot
from ..structure import FOUNDATION, Segment, Structure, structure_of
from .chains.chain import Chain
from .damping import modal_matrix

__all__ = [
    "LockedPose",
    "forms",
    "locked_pose",
    "modal_damping",
    "mode_ratios",
    "on_link",
    "own_parts",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LockedPose:
    """Where a robot stands: joint coordinates, its Structure, and which segment is the tip.

    Attributes:
        turns: of every link whose joint has several passive coordinates, (6, freedoms), how these
        move it, segment axes.
    """

    theta: Array
    structure: Structure
    tip: int
    turns: dict[str, Array]

    @property
    def each(self) -> list[tuple[Segment, float]]:
        """The segments with their lengths."""
        pairs = zip(self.structure.segments, self.structure.L[0], strict=True)
        return [(segment, float(L)) for segment, L in pairs]

    def length(self, name: str) -> float:
        """Length of a link, of one that slides what is outside, m."""
        return float(sum(self.structure.L[0, p] for p in self.structure.pieces(name)))

    @property
    def starts(self) -> list[float]:
        """Where on its link every segment begins, m."""
        names, L = self.structure.links, self.structure.L[0]
        return [
            float(L[[j for j in range(i) if names[j] == names[i]]].sum()) for i in range(len(L))
        ]


def locked_pose(
    robot: Robot, basis: Basis, chain: Chain, theta: ArrayLike | None = None
) -> LockedPose | None:
    """Return a robot at theta, by default where its basis was made or where it usually stands.

    That is `at`; else with its joints at zero and links that slide out to their ends, and where
    loops decide at its start. None where it cannot stand.
    """
    found = lower(robot)
    if theta is None:
        theta = found.outstretched if basis.at is None else np.asarray(basis.at, float)
    asked: dict[str, Any] = {"theta": theta, "position": None}
    if theta is None:
        asked |= found.usual()
    where = found.resolve(**asked)
    if where.reason[0]:
        return None
    structure = structure_of(robot, where.at[:1])
    names = tuple(segment.name for segment in structure.segments)
    turns: dict[str, Array] = {}
    for i, link in enumerate(chain.links):
        if link.passive and link.freedoms > 1:
            moved = place_links(found, where.at[:1])
            own = [k for k, c in enumerate(found.joints.coordinates) if c.link == i]
            R = structure.R[0, names.index(link.name)]
            turns[link.name] = np.concatenate([moved.v[0, own] @ R, moved.w[0, own] @ R], axis=1).T
    hung = found.hangs(tuple(dict.fromkeys(structure.links))).tip
    tip = structure.pieces(list(dict.fromkeys(structure.links))[hung])[-1]
    return LockedPose(where.theta[0], structure, tip, turns)


def own_parts(pose: LockedPose, chain: Chain) -> list[OnBeam]:
    """Return the functions of a Model on the segments, of links that slide at their length."""
    shapes = {link.name: link.shapes for link in chain.links}
    for i in chain.sliding:
        name, slide = chain.links[i].name, chain.links[i].slide
        if slide is not None and slide.count:
            shapes[name] = slide.shapes_at(pose.length(name))
    every = zip(pose.each, pose.structure.links, pose.starts, strict=True)
    return [on_link(segment, L, shapes.get(name), at) for (segment, L), name, at in every]


def on_link(segment: Segment, L: float, shapes: Any, start: float = 0.0) -> OnBeam:
    """Return a link's shapes on a segment that begins at `start`; a rigid one has none."""
    if shapes is None or not L:
        return mesh(segment.beam.stiff(), 1, L=L)
    return ShapesOnBeam(segment.beam.outside(L), L, shapes, start)


def forms(structure: Structure, parts: Sequence[OnBeam]) -> tuple[Coordinates, Array, Array]:
    """Return the coordinates z of a structure and M, K over them, closures still open.

    Segments of one link under its shapes have their coordinates in common: such rows follow those
    of the closures.
    """
    z = coordinates(structure, [part.end for part in parts])
    rows = [z.closure]
    first: dict[str, int] = {}
    for i, part in enumerate(parts):
        if isinstance(part, ShapesOnBeam) and structure.links.count(structure.links[i]) > 1:
            k = first.setdefault(structure.links[i], i)
            tied = np.zeros((part.size, z.size))
            tied[:, z.inner[i]] += np.eye(part.size)
            tied[:, z.inner[k]] -= np.eye(part.size)
            rows.append(tied[: part.size * (k < i)])
    z = replace(z, closure=np.concatenate(rows))
    springs = [[r.stiffness for r in s.releases] for s in structure.segments]
    still = [[0.0] * len(s.releases) for s in structure.segments]
    stiff = [np.pad(part.stiffness, ((6, 0), (6, 0))) for part in parts]
    K = assemble(structure, z, stiff, 0.0, springs)
    M = assemble(structure, z, [part.mass for part in parts], 1.0, still)
    return z, M, K


def _elastic(pose: LockedPose, chain: Chain) -> tuple[Array, Array, Array, Array]:
    """M and K over y, the elastic coordinates [eps, eta] in turn and then what is loose.

    That is what no loop holds of the passive joints. Last, y per unit q and q per unit y.
    """
    parts = own_parts(pose, chain)
    z, M, K = forms(pose.structure, parts)
    T, passive, kept = _tree_slopes(pose, chain, parts, z)
    places = np.flatnonzero(T.any(axis=0))
    T, loose = T[:, places], np.zeros((z.size, 0))
    given = T.copy()
    if not kept.all():
        rest = z.closure[:, ~kept]
        T[~kept] -= np.linalg.pinv(rest) @ (z.closure @ T)
        free = kept_shut(rest, rest.shape[1])
        loose = np.zeros((z.size, free.shape[1]))
        loose[~kept] = free
    T, n = np.hstack([T, loose]), len(places)
    turned = T - np.pad(given, ((0, 0), (0, T.shape[1] - n)))  # beyond what springs take back
    Q: Array = np.delete(np.linalg.pinv(passive) @ turned, chain.followers, axis=0)
    Q[places, range(n)] += 1.0
    # y from q: the elastic ones are themselves, whatever follows them; what is loose by the rest
    Y = np.zeros(Q.shape[::-1])
    Y[range(n), places] = 1.0
    turns = np.setdiff1d(range(len(Q)), places)
    others = np.eye(len(Q))[turns] - Q[turns, :n] @ Y[:n]
    Y[n:] = np.linalg.pinv(Q[turns, n:]) @ others
    for i, segment in enumerate(pose.structure.segments):
        if len(segment.releases) < 2 or any(r.follows for r in segment.releases):
            continue
        # springs in series, of joint and bearing, share a motion so that their energy is least
        own = z.releases[i]
        toward = np.array([r.toward(0) for r in segment.releases]).reshape(-1, 6).T
        size = np.sqrt(np.square(toward).sum(axis=1, keepdims=True))
        idle = kept_shut(toward / np.where(size > 0, size, 1.0), toward.shape[1])
        stiff = np.diag([r.stiffness for r in segment.releases])
        if idle.size:
            T[own] -= idle @ np.linalg.solve(idle.T @ stiff @ idle, idle.T @ stiff @ T[own])
    # loops that hold elastic coordinates: what is left of them moves
    open_ = z.closure @ T
    if np.abs(open_).max(initial=0.0) > 1e-9 * np.abs(T).max(initial=0.0):
        N = kept_shut(open_, T.shape[1])
        T, Y, Q = T @ N, N.T @ Y, Q @ N
    return T.T @ M @ T, T.T @ K @ T, Y, Q


def _tree_slopes(
    pose: LockedPose, chain: Chain, parts: Sequence[OnBeam], z: Coordinates
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """(z, N) what z is per unit of the elastic coordinates of q, and of the tree's passive ones.

    Last, (z,), which of z the elastic ones are or bring along.
    """
    names = [link.name for link in chain.links]
    names += [""] if chain.foundation is None else [FOUNDATION]  # as link -1
    T, kept = np.zeros((z.size, chain.size)), np.zeros(z.size, bool)
    whole = replace(chain, followers=())  # loops may hold one coordinate of a joint and not another
    passive = np.zeros((z.size, whole.size))
    for i, name in enumerate(pose.structure.links):
        if name in chain.rod_eps:  # the carriage of a rod that gives way
            T[z.releases[i].start, chain.rod_eps[name]] = 1.0
            kept[z.releases[i]] = True
        if name not in names:
            continue
        segment, k = pose.structure.segments[i], names.index(name)
        k = -1 if k == len(chain.links) else k
        if k >= 0 and parts[i].size:
            T[range(z.inner[i].start, z.inner[i].stop), chain.eta[k]] = np.eye(parts[i].size)
        kept[z.inner[i]] = True
        if segment.name != name:  # a further piece of it
            continue
        own = [chain.eps[k]] if k in chain.eps else []
        own += list(chain.supports[k][1]) if k in chain.supports else []
        turns, first = 0, z.releases[i].start
        if k >= 0 and chain.links[k].passive and chain.links[k].mimic is None:
            turns = chain.links[k].freedoms
        if own:
            T[np.ix_(range(first, z.releases[i].stop), own)] = _given_way(
                chain, pose.structure, i, k, turns
            )
        for n, release in enumerate(segment.releases[turns:]):
            kept[first + turns + n] |= release.stiffness > 0
        if turns:
            toward = np.array([r.toward(0) for r in segment.releases[:turns]]).T
            moved = np.linalg.lstsq(toward, pose.turns.get(name, toward), rcond=None)[0]
            passive[np.ix_(range(first, first + turns), whole.passive[k])] = moved
    return T, passive, kept


def _given_way(chain: Chain, structure: Structure, i: int, k: int, first: int) -> Array:
    """(r, m) releases of segment i, passive ones first, per unit of spring and support in q.

    Where springs are in series the releases share a motion so that their energy is least:
    D z = E w with z = C D' (D C D')^+ E w, C their compliances. Where the cross of a universal
    joint turns, the joint and its bearing do so together.
    """
    if k not in chain.supports:
        return np.vstack([np.zeros((first, 1)), np.eye(1)])
    segment, support = structure.segments[i], chain.supports[k][0]
    D = np.array([r.toward(0) for r in segment.releases[first:]]).T
    compliance = np.array([1 / r.stiffness for r in segment.releases[first:]])
    E = support.columns
    if k >= 0:
        before = structure.R[0, segment.parent] if segment.parent >= 0 else np.eye(3)
        mounted = before @ chain.links[k].R_PM @ support.R_MS.T
        E = np.kron(np.eye(2), structure.R[0, i].T @ mounted) @ E
    if k in chain.eps:
        about = np.concatenate([np.zeros(3), np.asarray(chain.links[k].axis)])
        E = np.column_stack([about, E])
    if support.is_universal_cross:
        own = np.array([r.toward(0) for r in segment.releases[:first]]).T
        n = np.cross(own[3:, 0], own[3:, 1])
        E = np.column_stack([E, np.concatenate([np.zeros(3), n / np.linalg.norm(n)])])
        moved: Array = np.linalg.lstsq(np.hstack([own, D]), E, rcond=None)[0]
        return moved
    size = np.sqrt(np.einsum("ij,j,ij->i", D, compliance, D))
    size = np.where(size > 0, size, 1.0)[:, None]
    soft = np.linalg.pinv((D * compliance) @ D.T / (size * size.T), rcond=1e-12)
    shared: Array = compliance[:, None] * ((D / size).T @ (soft @ (E / size)))
    return np.vstack([np.zeros((first, E.shape[1])), shared])


def modal_damping(pose: LockedPose, chain: Chain, ratio: float) -> Array:
    """Return D (N, N) over q: one ratio for every mode of the whole robot, motors locked.

    D = 2 zeta sum omega_j (M phi_j)(M phi_j)' at this pose, kept along; what is loose has omega = 0
    and no damping.
    """
    M, K, Y, _ = _elastic(pose, chain)
    D: Array = Y.T @ modal_matrix(M, K, np.full(len(K), ratio)) @ Y
    return D


def mode_ratios(pose: LockedPose, chain: Chain, D: Array) -> Array:
    """Return phi' D phi / 2 omega of the whole robot's modes, rising, motors locked."""
    from scipy.linalg import eigh

    M, K, _, Q = _elastic(pose, chain)
    periods2, Psi = eigh(M, K)
    used = periods2 > 1e-14 * periods2.max(initial=0.0)
    lost = np.einsum("ij,ik,kj->j", Psi, Q.T @ D @ Q, Psi)
    return np.asarray((lost[used] / (2 * np.sqrt(periods2[used])))[::-1])
