"""A robot with its motors locked, under the shapes of a Model: M and K of its elastic coordinates.

At one pose the links of a Model are put on the same Structure as exact beams, so that its linear
statics, modes and damping need no equation of motion. Passive joints follow from the loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.kinds import lower
from ..architectures.tree import place_links
from ..assembly import Coordinates, assemble, closure_null_space, coordinates
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
    """A pose of a robot with its motors locked.

    Attributes
    ----------
    theta
        Joint coordinates.
    structure
        Its Structure, one configuration.
    tip
        Index of the segment at the tip.
    turns
        For every link whose joint has several passive coordinates, the motion of its root per unit
        of each, (6, freedoms), segment axes.
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
        """Length of a link, m; of a sliding link the part outside."""
        return float(sum(self.structure.L[0, p] for p in self.structure.pieces(name)))

    @property
    def starts(self) -> list[float]:
        """Distance along its link at which every segment begins, m."""
        names = self.structure.links
        L = self.structure.L[0]
        starts = []
        for i, name in enumerate(names):
            earlier = [j for j in range(i) if names[j] == name]
            starts.append(float(L[earlier].sum()))
        return starts


def locked_pose(
    robot: Robot, basis: Basis, chain: Chain, theta: ArrayLike | None = None
) -> LockedPose | None:
    """Return a robot at theta, by default at the pose for which its basis was made.

    A basis without a pose: joints at zero and sliding links fully out; with loops, the robot's
    start. None where the robot cannot be assembled.
    """
    tree = lower(robot)
    if theta is None:
        theta = tree.outstretched if basis.at is None else np.asarray(basis.at, float)
    pose: dict[str, Any] = {"theta": theta, "position": None}
    if theta is None:
        pose |= tree.usual()
    resolved = tree.resolve(**pose)
    if resolved.reason[0]:
        return None
    configuration = resolved.at[:1]
    structure = structure_of(robot, configuration)

    # Joints with several passive coordinates: how each of these moves the link's root
    names = tuple(segment.name for segment in structure.segments)
    turns: dict[str, Array] = {}
    for i, link in enumerate(chain.links):
        if not (link.passive and link.freedoms > 1):
            continue
        moved = place_links(tree, configuration)
        own = [k for k, c in enumerate(tree.joints.coordinates) if c.link == i]
        R = structure.R[0, names.index(link.name)]
        displacements = moved.v[0, own] @ R
        rotations = moved.w[0, own] @ R
        turns[link.name] = np.concatenate([displacements, rotations], axis=1).T

    links = list(dict.fromkeys(structure.links))  # each name once
    tip_link = links[tree.hangs(tuple(links)).tip]
    tip = structure.pieces(tip_link)[-1]
    return LockedPose(resolved.theta[0], structure, tip, turns)


def own_parts(pose: LockedPose, chain: Chain) -> list[OnBeam]:
    """Return the shape functions of a Model on the segments; sliding links at their length."""
    shapes = {link.name: link.shapes for link in chain.links}
    for i in chain.sliding:
        link = chain.links[i]
        if link.slide is not None and link.slide.count:
            shapes[link.name] = link.slide.shapes_at(pose.length(link.name))

    parts = []
    for (segment, L), name, start in zip(pose.each, pose.structure.links, pose.starts, strict=True):
        parts.append(on_link(segment, L, shapes.get(name), start))
    return parts


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
    first_of_link: dict[str, int] = {}
    for i, part in enumerate(parts):
        name = structure.links[i]
        is_cut = structure.links.count(name) > 1
        if not (isinstance(part, ShapesOnBeam) and is_cut):
            continue
        first = first_of_link.setdefault(name, i)
        if first < i:
            same = np.zeros((part.size, z.size))
            same[:, z.inner[i]] += np.eye(part.size)
            same[:, z.inner[first]] -= np.eye(part.size)
            rows.append(same)
    z = replace(z, closure=np.concatenate(rows))

    springs = [[release.stiffness for release in s.releases] for s in structure.segments]
    no_springs = [[0.0] * len(s.releases) for s in structure.segments]
    stiffnesses = [np.pad(part.stiffness, ((6, 0), (6, 0))) for part in parts]
    K = assemble(structure, z, stiffnesses, 0.0, springs)
    M = assemble(structure, z, [part.mass for part in parts], 1.0, no_springs)
    return z, M, K


def _elastic(pose: LockedPose, chain: Chain) -> tuple[Array, Array, Array, Array]:
    """M and K over y: the elastic coordinates [eps, eta], then free passive motions.

    These are the motions of passive joints that no loop constrains. Also returns y per unit q and
    q per unit y.
    """
    parts = own_parts(pose, chain)
    z, M, K = forms(pose.structure, parts)
    from_elastic, from_passive, determined = _tree_slopes(pose, chain, parts, z)
    elastic = np.flatnonzero(from_elastic.any(axis=0))
    n = len(elastic)

    # T: z per unit y. Passive entries of z follow so that the loops stay closed
    from_elastic = from_elastic[:, elastic]
    T = from_elastic.copy()
    free_motions = np.zeros((z.size, 0))
    if not determined.all():
        passive_closure = z.closure[:, ~determined]
        T[~determined] -= np.linalg.pinv(passive_closure) @ (z.closure @ T)
        null_space = closure_null_space(passive_closure, passive_closure.shape[1])
        free_motions = np.zeros((z.size, null_space.shape[1]))
        free_motions[~determined] = null_space
    T = np.hstack([T, free_motions])

    # Q: q per unit y. Passive coordinates of q from the motion that the elastic ones do not give
    passive_motion = T - np.pad(from_elastic, ((0, 0), (0, T.shape[1] - n)))
    Q: Array = np.delete(np.linalg.pinv(from_passive) @ passive_motion, chain.followers, axis=0)
    Q[elastic, range(n)] += 1.0

    # Y: y per unit q. Elastic coordinates are the same, free motions follow from the others
    Y = np.zeros(Q.shape[::-1])
    Y[range(n), elastic] = 1.0
    passive = np.setdiff1d(range(len(Q)), elastic)
    not_elastic = np.eye(len(Q))[passive] - Q[passive, :n] @ Y[:n]
    Y[n:] = np.linalg.pinv(Q[passive, n:]) @ not_elastic

    _share_between_springs_in_series(pose.structure, z, T)

    # Loops may constrain elastic coordinates too: only their null space moves
    opening = z.closure @ T
    if np.abs(opening).max(initial=0.0) > 1e-9 * np.abs(T).max(initial=0.0):
        N = closure_null_space(opening, T.shape[1])
        T = T @ N
        Y = N.T @ Y
        Q = Q @ N
    return T.T @ M @ T, T.T @ K @ T, Y, Q


def _share_between_springs_in_series(structure: Structure, z: Coordinates, T: Array) -> None:
    """Change z per unit y, `T`, where the springs of a joint and its bearing are in series.

    They share a motion so that their energy is least.
    """
    for i, segment in enumerate(structure.segments):
        releases = segment.releases
        if len(releases) < 2 or any(release.follows for release in releases):
            continue
        own = z.releases[i]
        directions = np.array([release.toward(0) for release in releases]).reshape(-1, 6).T
        size = np.sqrt(np.square(directions).sum(axis=1, keepdims=True))
        # combinations of the releases that do not move the segment
        idle = closure_null_space(directions / np.where(size > 0, size, 1.0), directions.shape[1])
        stiffness = np.diag([release.stiffness for release in releases])
        if idle.size:
            idle_force = idle.T @ stiffness @ T[own]
            T[own] -= idle @ np.linalg.solve(idle.T @ stiffness @ idle, idle_force)


def _tree_slopes(
    pose: LockedPose, chain: Chain, parts: Sequence[OnBeam], z: Coordinates
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """(z, N): z per unit of the elastic coordinates of q, and per unit of the tree's passive ones.

    Last, (z,), which entries of z the elastic coordinates determine.
    """
    names = [link.name for link in chain.links]
    if chain.foundation is not None:
        names.append(FOUNDATION)  # as link -1
    from_elastic = np.zeros((z.size, chain.size))
    determined = np.zeros(z.size, bool)
    # without its followers: loops may constrain one coordinate of a joint and not another
    tree = replace(chain, followers=())
    from_passive = np.zeros((z.size, tree.size))

    for i, name in enumerate(pose.structure.links):
        releases = z.releases[i]
        inner = z.inner[i]
        if name in chain.rod_eps:  # the carriage of an elastic rod
            from_elastic[releases.start, chain.rod_eps[name]] = 1.0
            determined[releases] = True
        if name not in names:
            continue
        segment = pose.structure.segments[i]
        k = names.index(name)
        if k == len(chain.links):
            k = -1  # the foundation
        if k >= 0 and parts[i].size:
            from_elastic[range(inner.start, inner.stop), chain.eta[k]] = np.eye(parts[i].size)
        determined[inner] = True
        if segment.name != name:  # a further piece of its link, without a joint
            continue

        # Releases of the segment: passive ones of its joint first, then springs
        passive_count = 0
        if k >= 0 and chain.links[k].passive and chain.links[k].mimic is None:
            passive_count = chain.links[k].freedoms
        own = [chain.eps[k]] if k in chain.eps else []
        if k in chain.supports:
            own += list(chain.supports[k][1])
        if own:
            rows = range(releases.start, releases.stop)
            from_elastic[np.ix_(rows, own)] = _spring_releases(
                chain, pose.structure, i, k, passive_count
            )
        for n, release in enumerate(segment.releases[passive_count:]):
            determined[releases.start + passive_count + n] |= release.stiffness > 0
        if passive_count:
            directions = [release.toward(0) for release in segment.releases[:passive_count]]
            toward = np.array(directions).T
            moved = np.linalg.lstsq(toward, pose.turns.get(name, toward), rcond=None)[0]
            rows = range(releases.start, releases.start + passive_count)
            from_passive[np.ix_(rows, tree.passive[k])] = moved
    return from_elastic, from_passive, determined


def _spring_releases(chain: Chain, structure: Structure, i: int, k: int, first: int) -> Array:
    """(r, m) releases of segment i, passive ones first, per unit of spring and support in q.

    Where springs are in series the releases share a motion so that their energy is least:
    D z = E w with z = C D' (D C D')^+ E w, C their compliances. Where the cross of a universal
    joint turns, the joint and its bearing do so together.
    """
    if k not in chain.supports:
        return np.vstack([np.zeros((first, 1)), np.eye(1)])
    segment = structure.segments[i]
    support = chain.supports[k][0]
    springs = segment.releases[first:]
    D = np.array([release.toward(0) for release in springs]).T
    compliance = np.array([1 / release.stiffness for release in springs])

    # E: motion of the segment per unit of spring and support
    E = support.columns
    if k >= 0:
        parent_axes = structure.R[0, segment.parent] if segment.parent >= 0 else np.eye(3)
        mounted = parent_axes @ chain.links[k].R_PM @ support.R_MS.T
        E = np.kron(np.eye(2), structure.R[0, i].T @ mounted) @ E
    if k in chain.eps:
        about = np.concatenate([np.zeros(3), np.asarray(chain.links[k].axis)])
        E = np.column_stack([about, E])
    if support.is_universal_cross:
        passive = np.array([release.toward(0) for release in segment.releases[:first]]).T
        cross_normal = np.cross(passive[3:, 0], passive[3:, 1])
        cross_normal = cross_normal / np.linalg.norm(cross_normal)
        E = np.column_stack([E, np.concatenate([np.zeros(3), cross_normal])])
        moved: Array = np.linalg.lstsq(np.hstack([passive, D]), E, rcond=None)[0]
        return moved

    # Rows are scaled, as displacements and rotations have different units
    size = np.sqrt(np.einsum("ij,j,ij->i", D, compliance, D))
    size = np.where(size > 0, size, 1.0)[:, None]
    stiffness = np.linalg.pinv((D * compliance) @ D.T / (size * size.T), rcond=1e-12)
    shared: Array = compliance[:, None] * ((D / size).T @ (stiffness @ (E / size)))
    return np.vstack([np.zeros((first, E.shape[1])), shared])


def modal_damping(pose: LockedPose, chain: Chain, ratio: float) -> Array:
    """Return D (N, N) over q: one ratio for every mode of the whole robot, motors locked.

    D = 2 zeta sum omega_j (M phi_j)(M phi_j)' at this pose, constant along a motion; free passive
    motions have omega = 0 and no damping.
    """
    M, K, Y, _ = _elastic(pose, chain)
    D: Array = Y.T @ modal_matrix(M, K, np.full(len(K), ratio)) @ Y
    return D


def mode_ratios(pose: LockedPose, chain: Chain, D: Array) -> Array:
    """Return phi' D phi / 2 omega of the whole robot's modes, rising, motors locked."""
    from scipy.linalg import eigh

    M, K, _, Q = _elastic(pose, chain)
    # M psi = K psi / omega^2: motions without mass have 1 / omega^2 = 0 and are left out
    inverse_omega2, Psi = eigh(M, K)
    used = inverse_omega2 > 1e-14 * inverse_omega2.max(initial=0.0)
    modal = np.einsum("ij,ik,kj->j", Psi, Q.T @ D @ Q, Psi)
    ratios = modal[used] / (2 * np.sqrt(inverse_omega2[used]))
    return np.asarray(ratios[::-1])
